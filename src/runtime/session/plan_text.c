// The plan of a step as text and as JSON, for programs that look at plans.
#include <rheos/session.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "codec/json_text.h"
#include "plan/entries/effects.h"
#include "plan/entries/inline.h"
#include "plan/segment/packed_operand.h"
#include "plan/show/print.h"
#include "plan/rules/rewrite.h"
#include "plan/show/show.h"
#include "runtime/session/planned.h"

// ---- As text

static rheos_status *add_segments(const rheos__plan *plan, rheos__text *text) {
  if (plan->flow == NULL && plan->roots == NULL) {
    rheos__text_add_string(text, "its shapes are known when it runs\n");
  }
  if (plan->flow != NULL) {
    rheos__text_add_string(text, "on tokens: an entry is prepared when its inputs are there\n");
  }
  for (const rheos__segment *root = plan->roots; root != NULL; root = root->next) {
    for (const rheos__segment *at = root; at != NULL; at = at->children) {
      RHEOS_TRY(rheos__segment_print(at, text));
    }
  }
  return NULL;
}

static void add_spaces(rheos__text *text, int count) {
  for (int i = 0; i < count; i++) rheos__text_add_string(text, " ");
}

// Each line behind as many spaces.
static void add_lines(rheos__text *text, const rheos__text *lines, int indent) {
  for (const char *line = lines->data, *end = line + lines->size; line < end;) {
    const char *next = memchr(line, '\n', (size_t)(end - line));
    next = next != NULL ? next + 1 : end;
    add_spaces(text, indent);
    rheos__text_add(text, line, (size_t)(next - line));
    line = next;
  }
}

static rheos_status *add_plan(rheos__text *text, const rheos__plan *plan, int indent) {
  rheos__text own = {0};
  rheos_status *status = rheos__plan_print(plan, &own);
  if (status == NULL) status = add_segments(plan, &own);
  if (status == NULL && own.failed) status = rheos__out_of_memory();
  if (status == NULL && own.size > 0) add_lines(text, &own, indent);
  rheos__text_deinit(&own);
  return status;
}

static rheos_status *add_body(void *argument, const rheos__called *called) {
  rheos__text *text = argument;
  add_spaces(text, 2 * (int)called->depth);
  rheos__text_add_string(text, "body of ");
  RHEOS_TRY(rheos__called_print(called, text));
  if (called->plan == NULL) {
    rheos__text_add_string(text, " (");
    rheos__text_add_string(text, rheos_status_message(called->problem));
    rheos__text_add_string(text, ")");
  }
  rheos__text_add_string(text, called->is_again ? " (as above)\n" : "\n");
  if (called->plan == NULL || called->is_again) return NULL;
  return add_plan(text, called->plan, 2 * (int)called->depth + 2);
}

static rheos_status *write_text(const rheos__planned *planned, rheos__text *text) {
  const rheos__plan *plan = planned->plan;
  RHEOS_TRY(add_plan(text, plan, 0));
  return rheos__visit_called(plan, add_body, text);
}

// ---- As JSON

static void print_text_or_null(rheos__json_text *j, const char *key, const char *text) {
  rheos__json_add_text(j, key, text != NULL && text[0] != '\0' ? text : NULL);
}

static void print_numbers(rheos__json_text *j, const char *key, const int32_t *numbers,
                          int32_t count) {
  rheos__json_begin(j, key, '[');
  for (int32_t i = 0; i < count; i++) rheos__json_add_int(j, NULL, numbers[i]);
  rheos__json_end(j, ']');
}

static void print_range(rheos__json_text *j, const char *key, int32_t first, int32_t count) {
  rheos__json_begin(j, key, '[');
  for (int32_t i = 0; i < count; i++) rheos__json_add_int(j, NULL, first + i);
  rheos__json_end(j, ']');
}

// "waits": entries; "joins": what several are waited for by.
static void print_waits(rheos__json_text *j, const rheos__plan *plan, int32_t first,
                        int32_t count) {
  for (int pass = 0; pass < 2; pass++) {
    rheos__json_begin(j, pass == 0 ? "waits" : "joins", '[');
    for (int32_t i = 0; i < count; i++) {
      const int32_t wait = plan->waits[first + i];
      if ((wait < 0) == (pass == 1)) rheos__json_add_int(j, NULL, wait >= 0 ? wait : ~wait);
    }
    rheos__json_end(j, ']');
  }
}

typedef struct entry_printer {
  const rheos__plan *plan;
  rheos__json_text *j;
} entry_printer;

// What a fused op does behind its product, "BiasAdd", "Relu"; nothing of other ops.
static void print_fused_ops(rheos__json_text *j, const rheos__attrs *attrs) {
  const rheos_attr_value *ops = rheos__attrs_find(attrs, "fused_ops");
  if (ops == NULL || ops->kind != RHEOS_ATTR_LIST_STRING) return;
  rheos__json_begin(j, "fused_ops", '[');
  for (int32_t i = 0; i < ops->count; i++) rheos__json_add_text(j, NULL, ops->strings[i].data);
  rheos__json_end(j, ']');
}

static rheos_status *print_entry(void *argument, const rheos__shown *shown) {
  const entry_printer *p = argument;
  rheos__json_text *j = p->j;
  const rheos__plan *plan = p->plan;
  const rheos__entry *entry = &plan->entries[shown->entry];
  rheos__json_begin(j, NULL, '{');
  rheos__json_add_int(j, "entry", shown->entry);
  rheos__json_add_text(j, "name", shown->name);
  const bool has_op = entry->kind != RHEOS__ENTRY_READ && entry->kind != RHEOS__ENTRY_WATCH;
  print_text_or_null(j, "op", has_op ? shown->op : NULL);
  print_numbers(j, "operands", plan->operands + entry->first_operand, entry->num_inputs);
  print_range(j, "values", entry->first_value, entry->num_outputs);
  print_text_or_null(j, "rule", rheos__rule_name(entry));
  print_fused_ops(j, shown->attrs);
  rheos__json_add_int(j, "level", entry->level);
  print_waits(j, plan, entry->first_wait, entry->num_waits);
  rheos__json_begin(j, "effects", '[');
  int32_t num_effects;
  const rheos__effect *effects = rheos__effects_of(plan, shown->entry, &num_effects);
  for (int32_t i = 0; i < num_effects; i++) {
    const rheos__effect *effect = &effects[i];
    rheos__json_begin(j, NULL, '{');
    rheos__json_add_text(j, "kind", rheos__effect_kind_name(effect));
    if (effect->value >= 0) {
      rheos__json_add_int(j, "cell", effect->value);
    } else {
      rheos__json_add_null(j, "cell");
    }
    rheos__json_end(j, '}');
  }
  rheos__json_end(j, ']');
  print_text_or_null(j, "device", shown->device);
  rheos__json_end(j, '}');
  return NULL;
}

static rheos_status *print_plan(rheos__json_text *j, const rheos__plan *plan) {
  rheos__json_begin(j, "entries", '[');
  entry_printer p = {plan, j};
  RHEOS_TRY(rheos__plan_show(plan, print_entry, &p));
  rheos__json_end(j, ']');
  rheos__json_begin(j, "waited_together", '[');
  for (int32_t i = 0; i < plan->num_joins; i++) {
    rheos__json_begin(j, NULL, '{');
    print_waits(j, plan, plan->joins[i].first_wait, plan->joins[i].num_waits);
    rheos__json_end(j, '}');
  }
  rheos__json_end(j, ']');
  print_numbers(j, "fetches", plan->fetch_values, plan->num_fetches);
  return NULL;
}

static rheos_status *print_value(rheos__json_text *j, const rheos__segment *segment,
                                 int32_t index) {
  const rheos__value *value = rheos__find_value(segment, index);
  rheos__arena arena;
  rheos__arena_init(&arena);
  const char *name = rheos__value_name(segment->plan, index, &arena);
  if (name != NULL) {
    rheos__json_begin(j, NULL, '{');
    rheos__json_add_int(j, "value", index);
    rheos__json_add_text(j, "name", name);
    rheos__json_add_type(j, (rheos_dtype)value->dtype, value->shape);
    rheos__json_add_text(j, "lies", rheos__value_kind_name(value));
    rheos__json_add_int(j, "bytes_of", value->root);
    if (value->kind == RHEOS__VALUE_ARENA && value->root == index) {
      rheos__json_add_unsigned(j, "offset", value->offset);
    } else {
      rheos__json_add_null(j, "offset");
    }
    print_text_or_null(j, "made_by", rheos__value_made_by(segment, index));
    rheos__json_end(j, '}');
  }
  rheos__arena_deinit(&arena);
  return name != NULL ? NULL : rheos__out_of_memory();
}

static void print_instruction(rheos__json_text *j, const rheos__segment *segment, int32_t index,
                              const int32_t *runners) {
  const rheos__instruction *in = &segment->instructions[index];
  rheos__json_begin(j, NULL, '{');
  rheos__json_add_text(j, "kind", rheos__instruction_kind_name(in));
  rheos__json_begin(j, "runs", '[');  // entries
  for (int32_t i = segment->first_entry; i < segment->end_entry; i++) {
    if (in->kind != RHEOS__HOLD && runners[i - segment->first_entry] == index) {
      rheos__json_add_int(j, NULL, i);
    }
  }
  rheos__json_end(j, ']');
  print_numbers(j, "operands", segment->input_values + in->first_operand, in->num_inputs);
  print_range(j, "values", in->first_value, in->num_outputs);
  print_text_or_null(j, "made_by", rheos__instruction_made_by(in));
  rheos__json_add_int(j, "units", in->num_units);
  rheos__json_add_bool(j, "parallel", in->parallel);
  rheos__json_add_int(j, "branch", in->branch);
  if (in->packed_operand > 0) {
    rheos__json_add_int(j, "packed_operand", segment->packed_operands[in->packed_operand - 1].root);
  } else {
    rheos__json_add_null(j, "packed_operand");
  }
  rheos__json_add_unsigned(j, "scratch_bytes", in->scratch_bytes);
  rheos__json_end(j, '}');
}

static rheos_status *print_segment(rheos__json_text *j, const rheos__segment *segment) {
  int32_t *runners = rheos__segment_runners(segment);
  if (runners == NULL) return rheos__out_of_memory();
  rheos__json_begin(j, NULL, '{');
  rheos__json_add_int(j, "first_entry", segment->first_entry);
  rheos__json_add_int(j, "end_entry", segment->end_entry);
  rheos_status *status = NULL;
  rheos__json_begin(j, "values", '[');
  for (int32_t i = 0; status == NULL && i < segment->num_values; i++) {
    status = print_value(j, segment, segment->first_value + i);
  }
  rheos__json_end(j, ']');
  rheos__json_begin(j, "instructions", '[');
  for (int32_t i = 0; i < segment->num_instructions; i++) print_instruction(j, segment, i, runners);
  rheos__json_end(j, ']');
  rheos__json_begin(j, "sections", '[');
  for (int32_t i = 0; i < segment->num_sections; i++) {
    rheos__json_begin(j, NULL, '{');
    rheos__json_add_text(j, "kind", rheos__section_kind_name(&segment->sections[i]));
    rheos__json_add_int(j, "first", segment->sections[i].first);
    rheos__json_add_int(j, "end", segment->sections[i].end);
    rheos__json_end(j, '}');
  }
  rheos__json_end(j, ']');
  rheos__json_add_unsigned(j, "block_bytes", segment->memory_bytes);
  print_numbers(j, "waits_for_shapes_of", segment->dynamic_values, segment->num_dynamic_values);
  rheos__json_end(j, '}');
  rheos__free(runners);
  return status;
}

static rheos_status *print_segments(rheos__json_text *j, const rheos__plan *plan) {
  rheos__json_add_bool(j, "on_tokens", plan->flow != NULL);
  rheos__json_begin(j, "segments", '[');
  for (const rheos__segment *root = plan->roots; root != NULL; root = root->next) {
    for (const rheos__segment *at = root; at != NULL; at = at->children) {
      RHEOS_TRY(print_segment(j, at));
    }
  }
  rheos__json_end(j, ']');
  return NULL;
}

static rheos_status *print_called(void *argument, const rheos__called *called) {
  rheos__json_text *j = argument;
  rheos__json_begin(j, NULL, '{');
  RHEOS_TRY(rheos__called_print_json(called, j));
  if (called->plan != NULL && !called->is_again) {
    RHEOS_TRY(print_plan(j, called->plan));
    RHEOS_TRY(print_segments(j, called->plan));
  }
  rheos__json_end(j, '}');
  return NULL;
}

static rheos_status *write_json(const rheos__planned *planned, rheos__text *text) {
  const rheos__plan *plan = planned->plan;
  rheos__json_text j = {.text = *text};
  rheos__json_begin(&j, NULL, '{');
  rheos_status *status = print_plan(&j, plan);
  if (status == NULL) status = print_segments(&j, plan);
  rheos__json_begin(&j, "bodies", '[');
  if (status == NULL) status = rheos__visit_called(plan, print_called, &j);
  rheos__json_end(&j, ']');
  rheos__json_end(&j, '}');
  *text = j.text;
  return status;
}

// ---- What programs ask for

rheos_status *rheos_session_plan_text(rheos_session *session, const rheos_output *feeds,
                                      const rheos_shape *shapes, size_t num_feeds,
                                      const rheos_output *fetches, size_t num_fetches,
                                      const rheos_operation *targets, size_t num_targets,
                                      char **out_text) {
  RHEOS_OUT(out_text);
  RHEOS_NEED(session);
  const rheos__step_ends ends = {feeds, num_feeds, fetches, num_fetches, targets, num_targets};
  return rheos__planned_print(session, &ends, shapes, write_text, out_text);
}

rheos_status *rheos_session_plan_json(rheos_session *session, const rheos_output *feeds,
                                      const rheos_shape *shapes, size_t num_feeds,
                                      const rheos_output *fetches, size_t num_fetches,
                                      const rheos_operation *targets, size_t num_targets,
                                      char **out_text) {
  RHEOS_OUT(out_text);
  RHEOS_NEED(session);
  const rheos__step_ends ends = {feeds, num_feeds, fetches, num_fetches, targets, num_targets};
  return rheos__planned_print(session, &ends, shapes, write_json, out_text);
}
