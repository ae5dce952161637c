// Names and numbers only: what is printed is read off the plan, which keeps nothing for it.
#include "plan/show/print.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "device/cpu/fused_reduction.h"
#include "plan/entries/effects.h"
#include "plan/segment/memory_report.h"
#include "plan/segment/packed_operand.h"
#include "plan/rules/rewrite.h"
#include "plan/show/show.h"

enum { LINE_BYTES = 256 };

// ---- Names

const char *rheos__effect_kind_name(const rheos__effect *effect) {
  switch ((rheos__effect_kind)effect->kind) {
    case RHEOS__EFFECT_READS: return "reads";
    case RHEOS__EFFECT_WRITES: return "writes";
    case RHEOS__EFFECT_STATE: return "state";
  }
  return "?";
}

const char *rheos__value_kind_name(const rheos__value *value) {
  switch ((rheos__value_kind)value->kind) {
    case RHEOS__VALUE_NONE: return value->shape != NULL ? "fused" : "handle";
    case RHEOS__VALUE_FEED: return "fed";
    case RHEOS__VALUE_CONSTANT: return "constant";
    case RHEOS__VALUE_ARENA: return "block";
    case RHEOS__VALUE_HEAP: return "result";
    case RHEOS__VALUE_TENSOR: return "tensor";
  }
  return "?";
}

const char *rheos__instruction_kind_name(const rheos__instruction *instruction) {
  switch ((rheos__instruction_kind)instruction->kind) {
    case RHEOS__RUN: return "run";
    case RHEOS__COMPUTE: return "compute";
    case RHEOS__READ: return "read";
    case RHEOS__DYNAMIC: return "dynamic";
    case RHEOS__COPY: return "copy";
    case RHEOS__BRING: return "bring";
    case RHEOS__HOLD: return "hold";
    case RHEOS__WATCH: return "watch";
  }
  return "?";
}

const char *rheos__section_kind_name(const rheos__section *section) {
  switch ((rheos__section_kind)section->kind) {
    case RHEOS__SECTION_ROWS: return "rows";
    case RHEOS__SECTION_BRANCHES: return "branches";
    case RHEOS__SECTION_UPDATES: return "updates";
  }
  return "?";
}

// ---- What passes have made

static const rheos__value *own_value(const rheos__segment *segment, int32_t value) {
  const int32_t index = value - segment->first_value;
  return index >= 0 && index < segment->num_values ? &segment->values[index] : NULL;
}

const char *rheos__value_made_by(const rheos__segment *segment, int32_t value) {
  const rheos__value *at = rheos__find_value(segment, value);
  const int32_t producer = rheos__plan_producer(segment->plan, value);
  if (producer < 0) return NULL;
  if (at->kind == RHEOS__VALUE_CONSTANT) {
    const bool is_const = segment->plan->entries[producer].signature->op == &rheos__op_Const;
    return is_const ? NULL : "constant_folding";
  }
  return at->kind == RHEOS__VALUE_NONE && at->shape != NULL ? "elementwise_fusion" : NULL;
}

const char *rheos__instruction_made_by(const rheos__instruction *in) {
  const bool is_fused =
      (in->kind == RHEOS__RUN &&
       (in->run == rheos__run_fused || in->run == rheos__run_fused_reduction)) ||
      (in->kind == RHEOS__COMPUTE && in->compute == rheos__compute_fused_reduction);
  return is_fused ? "elementwise_fusion" : NULL;
}

// What a fused loop computes is found from its end: a value that is only within the loop is read by
// nothing else, and a RHEOS__HOLD stands right before the loop that writes it.
int32_t *rheos__segment_runners(const rheos__segment *segment) {
  const rheos__plan *plan = segment->plan;
  const int32_t count = segment->end_entry - segment->first_entry;
  int32_t *runners = rheos__alloc_array((size_t)count, sizeof *runners);
  if (runners == NULL) return NULL;
  for (int32_t i = 0; i < count; ++i) runners[i] = -1;
  for (int32_t i = segment->num_instructions, loop = -1; i-- > 0;) {
    const rheos__instruction *in = &segment->instructions[i];
    if (in->kind != RHEOS__HOLD) loop = i;
    assert(loop >= i);  // a hold is followed by its loop
    assert(in->entry >= segment->first_entry && in->entry < segment->end_entry);
    runners[in->entry - segment->first_entry] = loop;
  }
  for (int32_t i = count; i-- > 0;) {
    const rheos__entry *entry = &plan->entries[segment->first_entry + i];
    for (int32_t k = 0; runners[i] >= 0 && k < entry->num_inputs; ++k) {
      const rheos__value *value =
          rheos__find_value(segment, plan->operands[entry->first_operand + k]);
      const rheos__value *root = own_value(segment, value->root);
      if (root == NULL || root->kind != RHEOS__VALUE_NONE || root->shape == NULL) continue;
      runners[rheos__plan_producer(plan, value->root) - segment->first_entry] = runners[i];
    }
  }
  return runners;
}

// ---- Printing

static void add(rheos__text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

// At most LINE_BYTES: for numbers and short names.
static void add(rheos__text *text, const char *format, ...) {
  char line[LINE_BYTES];
  va_list arguments;
  va_start(arguments, format);
  const int length = vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  assert(length >= 0 && length < LINE_BYTES);
  rheos__text_add(text, line, (size_t)length);
}

static void add_name(rheos__text *text, const char *name) {
  rheos__text_add_string(text, " ");
  rheos__text_add_string(text, name);
}

static void add_range(rheos__text *text, char letter, int32_t first, int32_t count) {
  for (int32_t i = 0; i < count; ++i)
    add(text, "%s%c%d", i > 0 ? ", " : "", letter, (int)(first + i));
}

static void add_waits(rheos__text *text, const rheos__plan *plan, int32_t first, int32_t count) {
  for (int32_t i = 0; i < count; ++i) {
    const int32_t wait = plan->waits[first + i];
    add(text, " %c%d", wait >= 0 ? 'e' : 'j', (int)(wait >= 0 ? wait : ~wait));
  }
}

static void add_outputs(rheos__text *text, int32_t first, int32_t count) {
  if (count > 0) rheos__text_add_string(text, " -> ");
  add_range(text, 'v', first, count);
}

static rheos_status *add_value(rheos__text *text, const rheos__plan *plan, int32_t value) {
  rheos__arena arena;
  rheos__arena_init(&arena);
  const char *name = rheos__value_name(plan, value, &arena);
  add(text, "  v%d", (int)value);
  if (name != NULL) add_name(text, name);
  add(text, " %s", rheos_dtype_name((rheos_dtype)plan->dtypes[value]));
  rheos__arena_deinit(&arena);
  return name != NULL ? NULL : rheos__out_of_memory();
}

typedef struct printer {
  const rheos__plan *plan;
  rheos__text *text;
} printer;

static void add_effects(const printer *p, int32_t entry) {
  int32_t count;
  const rheos__effect *effects = rheos__effects_of(p->plan, entry, &count);
  for (int32_t i = 0; i < count; ++i) {
    add(p->text, "; %s", rheos__effect_kind_name(&effects[i]));
    if (effects[i].value >= 0) add(p->text, " v%d", (int)effects[i].value);
  }
}

static const char *word_of(const rheos__entry *entry, const rheos__shown *shown) {
  if (entry->kind == RHEOS__ENTRY_COPY) return "(copy)";
  if (entry->kind == RHEOS__ENTRY_BRING) return "(bring)";
  if (entry->kind == RHEOS__ENTRY_WATCH) return "(watch)";
  return entry->kind == RHEOS__ENTRY_READ ? "(read)" : shown->op;
}

static rheos_status *add_entry(void *argument, const rheos__shown *shown) {
  const printer *p = argument;
  const rheos__entry *entry = &p->plan->entries[shown->entry];
  add(p->text, "  e%d", (int)shown->entry);
  add_name(p->text, shown->name);
  rheos__text_add_string(p->text, " = ");
  rheos__text_add_string(p->text, word_of(entry, shown));
  rheos__text_add_string(p->text, "(");
  for (int32_t i = 0; i < entry->num_inputs; ++i) {
    add(p->text, "%sv%d", i > 0 ? ", " : "", (int)p->plan->operands[entry->first_operand + i]);
  }
  rheos__text_add_string(p->text, ")");
  add_outputs(p->text, entry->first_value, entry->num_outputs);
  const char *rule = rheos__rule_name(entry);
  if (rule != NULL) add(p->text, "; by %s", rule);
  if (entry->level > 0) add(p->text, "; level %d", (int)entry->level);
  if (entry->num_waits > 0) rheos__text_add_string(p->text, "; waits for");
  add_waits(p->text, p->plan, entry->first_wait, entry->num_waits);
  add_effects(p, shown->entry);
  if (shown->device != NULL && shown->device[0] != '\0') {
    rheos__text_add_string(p->text, "; on");
    add_name(p->text, shown->device);
  }
  rheos__text_add_string(p->text, "\n");
  return NULL;
}

static rheos_status *finish(const rheos__text *text) {
  return text->failed ? rheos__out_of_memory() : NULL;
}

rheos_status *rheos__plan_print(const rheos__plan *plan, rheos__text *text) {
  add(text, "plan: entries %d, values %d\n", (int)plan->num_entries, (int)plan->num_values);
  if (plan->num_feeds > 0) rheos__text_add_string(text, "feeds\n");
  for (int32_t i = 0; i < plan->num_feeds; ++i) {
    RHEOS_TRY(add_value(text, plan, i));
    rheos__text_add_string(text, "\n");
  }
  rheos__text_add_string(text, "entries\n");
  printer p = {.plan = plan, .text = text};
  RHEOS_TRY(rheos__plan_show(plan, add_entry, &p));
  if (plan->num_joins > 0) rheos__text_add_string(text, "joins\n");
  for (int32_t i = 0; i < plan->num_joins; ++i) {
    add(text, "  j%d", (int)i);
    add_waits(text, plan, plan->joins[i].first_wait, plan->joins[i].num_waits);
    rheos__text_add_string(text, "\n");
  }
  if (plan->num_fetches > 0) rheos__text_add_string(text, "fetches\n");
  for (int32_t i = 0; i < plan->num_fetches; ++i) {
    RHEOS_TRY(add_value(text, plan, plan->fetch_values[i]));
    rheos__text_add_string(text, "\n");
  }
  return finish(text);
}

// ---- Segments

static void add_shape(rheos__text *text, const rheos_shape *shape) {
  rheos__shape_text shown;
  add(text, " %s", shape != NULL ? rheos__shape_text_of(shape, &shown) : "of a shape to come");
}

static rheos_status *add_segment_value(rheos__text *text, const rheos__segment *segment,
                                       int32_t index) {
  const rheos__value *value = rheos__find_value(segment, index);
  const rheos__value *root = rheos__find_value(segment, value->root);
  RHEOS_TRY(add_value(text, segment->plan, index));
  if (root->kind != RHEOS__VALUE_NONE || root->shape != NULL) add_shape(text, value->shape);
  if (root != value) {
    add(text, ": bytes of v%d\n", (int)value->root);
    return NULL;
  }
  add(text, ": %s", rheos__value_kind_name(value));
  if (value->kind == RHEOS__VALUE_ARENA) add(text, " at %zu", value->offset);
  const char *made_by = rheos__value_made_by(segment, index);
  if (made_by != NULL) add(text, "; by %s", made_by);
  if (value->fetched) rheos__text_add_string(text, "; fetched");
  rheos__text_add_string(text, "\n");
  return NULL;
}

static void add_run_entries(rheos__text *text, const rheos__segment *segment, int32_t index,
                            const int32_t *runners) {
  const char *made_by = rheos__instruction_made_by(&segment->instructions[index]);
  if (made_by == NULL) return;
  rheos__text_add_string(text, "; runs");
  for (int32_t i = segment->first_entry; i < segment->end_entry; ++i) {
    if (runners[i - segment->first_entry] == index) add(text, " e%d", (int)i);
  }
  add(text, ", by %s", made_by);
}

static void add_instruction(rheos__text *text, const rheos__segment *segment, int32_t index,
                            const int32_t *runners) {
  const rheos__instruction *in = &segment->instructions[index];
  add(text, "  i%d %s e%d", (int)index, rheos__instruction_kind_name(in), (int)in->entry);
  for (int32_t i = 0; i < in->num_inputs; ++i) {
    add(text, "%sv%d", i > 0 ? ", " : " of ", (int)segment->input_values[in->first_operand + i]);
  }
  add_outputs(text, in->first_value, in->num_outputs);
  add_run_entries(text, segment, index, runners);
  if (in->num_units > 1) add(text, "; units %lld", (long long)in->num_units);
  if (in->parallel) rheos__text_add_string(text, "; parallel");
  if (in->branch > 0) add(text, "; branch %d", (int)in->branch);
  if (in->branch == RHEOS__BEFORE_BRANCHES) rheos__text_add_string(text, "; before branches");
  if (in->packed_operand > 0) {
    const rheos__packed_operand *packed = &segment->packed_operands[in->packed_operand - 1];
    add(text, "; packed operand v%d", (int)packed->root);
  }
  if (in->scratch_bytes > 0) {
    add(text, "; scratch of %zu bytes at %zu", in->scratch_bytes, in->scratch_offset);
  }
  for (int32_t i = 0; i < in->num_releases; ++i) {
    add(text, "%s v%d", i > 0 ? "," : "; releases", (int)segment->releases[in->first_release + i]);
  }
  rheos__text_add_string(text, "\n");
}

static void add_section(rheos__text *text, const rheos__section *section) {
  add(text, "  %s i%d to i%d", rheos__section_kind_name(section), (int)section->first,
      (int)section->end - 1);
  if (section->kind == RHEOS__SECTION_ROWS) {
    add(text, "; units %lld", (long long)section->rows.num_units);
  }
  if (section->kind == RHEOS__SECTION_BRANCHES) {
    add(text, "; branches %d", (int)section->branches.num_branches);
  }
  rheos__text_add_string(text, "\n");
}

static void add_memory(rheos__text *text, const rheos__segment *segment) {
  rheos__memory_report report;
  rheos__memory_report_of(segment, &report);
  add(text, "memory: block %zu bytes, results %zu, made by kernels %zu, packed operands %zu\n",
      report.shared_bytes, report.fetched_bytes, report.kernel_bytes, report.packed_bytes);
}

rheos_status *rheos__segment_print(const rheos__segment *segment, rheos__text *text) {
  int32_t *runners = rheos__segment_runners(segment);
  if (runners == NULL) return rheos__out_of_memory();
  add(text, "segment: entries e%d to e%d, depth %d, for", (int)segment->first_entry,
      (int)segment->end_entry - 1, (int)segment->depth);
  for (int32_t i = 0; i < segment->num_key; ++i) add_shape(text, &segment->key[i]);
  rheos__text_add_string(text, segment->num_key > 0 ? "\nvalues\n" : " nothing\nvalues\n");
  rheos_status *status = NULL;
  for (int32_t i = 0; status == NULL && i < segment->num_values; ++i) {
    status = add_segment_value(text, segment, segment->first_value + i);
  }
  rheos__text_add_string(text, "instructions\n");
  for (int32_t i = 0; i < segment->num_instructions; ++i) {
    add_instruction(text, segment, i, runners);
  }
  rheos__free(runners);
  if (segment->num_sections > 0) rheos__text_add_string(text, "sections\n");
  for (int32_t i = 0; i < segment->num_sections; ++i) add_section(text, &segment->sections[i]);
  add_memory(text, segment);
  if (segment->end_entry < segment->plan->num_entries) {
    add(text, "then: from e%d on, when the shapes are known of", (int)segment->end_entry);
    for (int32_t i = 0; i < segment->num_dynamic_values; ++i) {
      add(text, "%s v%d", i > 0 ? "," : "", (int)segment->dynamic_values[i]);
    }
    rheos__text_add_string(text, "\n");
  }
  return status != NULL ? status : finish(text);
}
