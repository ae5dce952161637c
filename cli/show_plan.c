// `rheos show --plan`: what a step would run, entry by entry and instruction by instruction.
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "plan/effects.h"
#include "plan/memory_report.h"
#include "plan/packed_operand.h"
#include "plan/print.h"
#include "plan/rewrite.h"
#include "plan/show.h"
#include "plan_view.h"

// ---- As text

// Each line behind as many spaces.
static void print_lines(const rheos__text *text, int indent) {
  for (const char *line = text->data, *end = line + text->size; line < end;) {
    const char *next = memchr(line, '\n', (size_t)(end - line));
    next = next != NULL ? next + 1 : end;
    printf("%*s%.*s", indent, "", (int)(next - line), line);
    line = next;
  }
}

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

static rheos_status *print_called_plan(const rheos__plan *plan, int indent) {
  rheos__text text = {0};
  rheos_status *status = rheos__plan_print(plan, &text);
  if (status == NULL) status = add_segments(plan, &text);
  if (status == NULL) print_lines(&text, indent);
  rheos__text_deinit(&text);
  return status;
}

static rheos_status *print_body(void *argument, const rheos__called *called) {
  (void)argument;
  char *name = plan_view_called(called);
  printf("%*sbody of ", 2 * (int)called->depth, "");
  show_name(name);
  free(name);
  if (called->plan == NULL) printf(" (%s)\n", rheos_status_message(called->problem));
  if (called->is_again) puts(" (as above)");
  if (called->plan == NULL || called->is_again) return NULL;
  putchar('\n');
  return print_called_plan(called->plan, 2 * (int)called->depth + 2);
}

static rheos_status *print_text(const plan_view *v) {
  RHEOS_TRY(print_called_plan(v->plan, 0));
  RHEOS_TRY(rheos__visit_called(v->plan, print_body, NULL));
  if (v->has_guesses) puts("dimensions that nobody told are 1: --feed-shape");
  return NULL;
}

// ---- As JSON

static void print_text_or_null(json *j, const char *key, const char *text) {
  if (text == NULL || text[0] == '\0') {
    json_null(j, key);
  } else {
    json_text(j, key, text);
  }
}

static void print_numbers(json *j, const char *key, const int32_t *numbers, int32_t count) {
  json_begin(j, key, '[');
  for (int32_t i = 0; i < count; i++) json_int(j, NULL, numbers[i]);
  json_end(j, ']');
}

static void print_range(json *j, const char *key, int32_t first, int32_t count) {
  json_begin(j, key, '[');
  for (int32_t i = 0; i < count; i++) json_int(j, NULL, first + i);
  json_end(j, ']');
}

// "waits": entries; "joins": what several are waited for by.
static void print_waits(json *j, const rheos__plan *plan, int32_t first, int32_t count) {
  for (int pass = 0; pass < 2; pass++) {
    json_begin(j, pass == 0 ? "waits" : "joins", '[');
    for (int32_t i = 0; i < count; i++) {
      const int32_t wait = plan->waits[first + i];
      if ((wait < 0) == (pass == 1)) json_int(j, NULL, wait >= 0 ? wait : ~wait);
    }
    json_end(j, ']');
  }
}

typedef struct entry_printer {
  const rheos__plan *plan;
  json *j;
} entry_printer;

static rheos_status *print_entry(void *argument, const rheos__shown *shown) {
  const entry_printer *p = argument;
  json *j = p->j;
  const rheos__plan *plan = p->plan;
  const rheos__entry *entry = &plan->entries[shown->entry];
  json_begin(j, NULL, '{');
  json_int(j, "entry", shown->entry);
  json_text(j, "name", shown->name);
  print_text_or_null(j, "op", entry->kind == RHEOS__ENTRY_READ ? NULL : shown->op);
  print_numbers(j, "operands", plan->operands + entry->first_operand, entry->num_inputs);
  print_range(j, "values", entry->first_value, entry->num_outputs);
  print_text_or_null(j, "rule", rheos__rule_name(entry));
  json_int(j, "level", entry->level);
  print_waits(j, plan, entry->first_wait, entry->num_waits);
  json_begin(j, "effects", '[');
  int32_t num_effects;
  const rheos__effect *effects = rheos__effects_of(plan, shown->entry, &num_effects);
  for (int32_t i = 0; i < num_effects; i++) {
    const rheos__effect *effect = &effects[i];
    json_begin(j, NULL, '{');
    json_text(j, "kind", rheos__effect_kind_name(effect));
    if (effect->value >= 0) {
      json_int(j, "cell", effect->value);
    } else {
      json_null(j, "cell");
    }
    json_end(j, '}');
  }
  json_end(j, ']');
  print_text_or_null(j, "device", shown->device);
  json_end(j, '}');
  return NULL;
}

static rheos_status *print_plan(json *j, const rheos__plan *plan) {
  json_begin(j, "entries", '[');
  entry_printer p = {plan, j};
  RHEOS_TRY(rheos__plan_show(plan, print_entry, &p));
  json_end(j, ']');
  json_begin(j, "waited_together", '[');
  for (int32_t i = 0; i < plan->num_joins; i++) {
    json_begin(j, NULL, '{');
    print_waits(j, plan, plan->joins[i].first_wait, plan->joins[i].num_waits);
    json_end(j, '}');
  }
  json_end(j, ']');
  print_numbers(j, "fetches", plan->fetch_values, plan->num_fetches);
  return NULL;
}

static rheos_status *print_value(json *j, const rheos__segment *segment, int32_t index) {
  static const rheos_shape unknown = {.rank = -1};
  const rheos__value *value = rheos__find_value(segment, index);
  rheos__arena arena;
  rheos__arena_init(&arena);
  const char *name = rheos__value_name(segment->plan, index, &arena);
  if (name != NULL) {
    json_begin(j, NULL, '{');
    json_int(j, "value", index);
    json_text(j, "name", name);
    show_json_type(j, (rheos_dtype)value->dtype, value->shape != NULL ? value->shape : &unknown);
    json_text(j, "lies", rheos__value_kind_name(value));
    json_int(j, "bytes_of", value->root);
    if (value->kind == RHEOS__VALUE_ARENA && value->root == index) {
      json_unsigned(j, "offset", value->offset);
    } else {
      json_null(j, "offset");
    }
    print_text_or_null(j, "made_by", rheos__value_made_by(segment, index));
    json_end(j, '}');
  }
  rheos__arena_deinit(&arena);
  return name != NULL ? NULL : rheos__out_of_memory();
}

static void print_instruction(json *j, const rheos__segment *segment, int32_t index,
                              const int32_t *runners) {
  const rheos__instruction *in = &segment->instructions[index];
  json_begin(j, NULL, '{');
  json_text(j, "kind", rheos__instruction_kind_name(in));
  json_begin(j, "runs", '[');  // entries
  for (int32_t i = segment->first_entry; i < segment->end_entry; i++) {
    if (in->kind != RHEOS__HOLD && runners[i - segment->first_entry] == index) {
      json_int(j, NULL, i);
    }
  }
  json_end(j, ']');
  print_numbers(j, "operands", segment->input_values + in->first_operand, in->num_inputs);
  print_range(j, "values", in->first_value, in->num_outputs);
  print_text_or_null(j, "made_by", rheos__instruction_made_by(in));
  json_int(j, "units", in->num_units);
  json_bool(j, "parallel", in->parallel);
  json_int(j, "branch", in->branch);
  if (in->packed_operand > 0) {
    json_int(j, "packed_operand", segment->packed_operands[in->packed_operand - 1].root);
  } else {
    json_null(j, "packed_operand");
  }
  json_unsigned(j, "scratch_bytes", in->scratch_bytes);
  json_end(j, '}');
}

static rheos_status *print_segment(json *j, const rheos__segment *segment) {
  int32_t *runners = rheos__segment_runners(segment);
  if (runners == NULL) return rheos__out_of_memory();
  json_begin(j, NULL, '{');
  json_int(j, "first_entry", segment->first_entry);
  json_int(j, "end_entry", segment->end_entry);
  rheos_status *status = NULL;
  json_begin(j, "values", '[');
  for (int32_t i = 0; status == NULL && i < segment->num_values; i++) {
    status = print_value(j, segment, segment->first_value + i);
  }
  json_end(j, ']');
  json_begin(j, "instructions", '[');
  for (int32_t i = 0; i < segment->num_instructions; i++) print_instruction(j, segment, i, runners);
  json_end(j, ']');
  json_begin(j, "sections", '[');
  for (int32_t i = 0; i < segment->num_sections; i++) {
    json_begin(j, NULL, '{');
    json_text(j, "kind", rheos__section_kind_name(&segment->sections[i]));
    json_int(j, "first", segment->sections[i].first);
    json_int(j, "end", segment->sections[i].end);
    json_end(j, '}');
  }
  json_end(j, ']');
  json_unsigned(j, "block_bytes", segment->memory_bytes);
  print_numbers(j, "waits_for_shapes_of", segment->dynamic_values, segment->num_dynamic_values);
  json_end(j, '}');
  rheos__free(runners);
  return status;
}

static rheos_status *print_segments(json *j, const rheos__plan *plan) {
  json_bool(j, "on_tokens", plan->flow != NULL);
  json_begin(j, "segments", '[');
  for (const rheos__segment *root = plan->roots; root != NULL; root = root->next) {
    for (const rheos__segment *at = root; at != NULL; at = at->children) {
      RHEOS_TRY(print_segment(j, at));
    }
  }
  json_end(j, ']');
  return NULL;
}

static rheos_status *print_called(void *argument, const rheos__called *called) {
  json *j = argument;
  json_begin(j, NULL, '{');
  plan_view_json_called(called, j);
  if (called->plan != NULL && !called->is_again) {
    RHEOS_TRY(print_plan(j, called->plan));
    RHEOS_TRY(print_segments(j, called->plan));
  }
  json_end(j, '}');
  return NULL;
}

static rheos_status *print_json(const plan_view *v, const source *s) {
  json j = {.out = stdout};
  show_json_head(&j, s);
  plan_view_json_feeds(v, &j);
  RHEOS_TRY(print_plan(&j, v->plan));
  RHEOS_TRY(print_segments(&j, v->plan));
  json_begin(&j, "bodies", '[');
  RHEOS_TRY(rheos__visit_called(v->plan, print_called, &j));
  json_end(&j, ']');
  json_end(&j, '}');
  return NULL;
}

int show_plan(const char *path, const source *s, const show_options *options) {
  plan_view v;
  int result = plan_view_open(path, options, &v);
  if (result != EXIT_SUCCESS) return result;
  rheos_status *status = options->json ? print_json(&v, s) : print_text(&v);
  if (status != NULL) result = command_fail_take(path, status);
  plan_view_close(&v);
  return result;
}
