// Operands in forms of their own. See kept_operand.h.
#include "plan/kept_operand.h"

#include <string.h>

// ---- What stays

// References reach writers as the variable's own output, or through ops that pass them on; a way that
// is not seen here costs only time, since a form knows when the variable has changed.
static bool find_written(rheos__written *w) {
  const rheos__plan *plan = w->plan;
  w->values = rheos__alloc_array((size_t)plan->num_values, sizeof *w->values);
  if (w->values == NULL) return false;
  for (int32_t i = 0; i < plan->num_entries; ++i) {
    const rheos__entry *entry = &plan->entries[i];
    if (entry->kind != RHEOS__ENTRY_NODE || (entry->signature->op->flags & RHEOS_OP_WRITES) == 0) {
      continue;
    }
    for (int32_t k = 0; k < entry->num_inputs; ++k) {
      const int32_t value = plan->operands[entry->first_operand + k];
      const rheos_dtype dtype = (rheos_dtype)plan->dtypes[value];
      if (rheos_dtype_is_ref(dtype) || dtype == RHEOS_RESOURCE) w->values[value] = true;
    }
  }
  return true;
}

void rheos__written_deinit(rheos__written *w) { rheos__free(w->values); }

// The entry whose output the value is, NULL for a feed: entries are in the order of their values.
static const rheos__entry *entry_of(const rheos__plan *plan, int32_t value) {
  int32_t first = 0, end = plan->num_entries;
  if (value < plan->num_feeds) return NULL;
  while (end - first > 1) {
    const int32_t middle = first + (end - first) / 2;
    if (plan->entries[middle].first_value <= value) {
      first = middle;
    } else {
      end = middle;
    }
  }
  const rheos__entry *entry = &plan->entries[first];
  return value - entry->first_value < entry->num_outputs ? entry : NULL;
}

// The reference or handle that a value was read from, -1 if it was not.
static int32_t read_from(const rheos__plan *plan, int32_t value) {
  const rheos__entry *entry = entry_of(plan, value);
  if (entry == NULL || entry->num_inputs == 0) return -1;
  if (entry->kind != RHEOS__ENTRY_READ &&
      strcmp(entry->signature->op->name, "ReadVariableOp") != 0) {
    return -1;
  }
  return plan->operands[entry->first_operand];
}

bool rheos__operand_stays(const rheos__stretch *stretch, rheos__written *w, int32_t root) {
  const rheos__value *value = rheos__find_value(stretch, root);
  if (value->kind == RHEOS__VALUE_CONSTANT) return true;
  if (value->kind != RHEOS__VALUE_TENSOR) return false;
  const int32_t from = read_from(stretch->plan, root);
  if (from < 0) return false;
  const rheos__resource *cell = rheos__find_value(stretch, from)->resource;
  if (cell == NULL || cell->kind != &rheos__variable_kind) return false;
  if (w->values == NULL && !find_written(w)) return false;
  return !w->values[from];
}

// ---- In a stretch

rheos_status *rheos__keep_operand(rheos__stretch *stretch, const rheos__form_wish *wish) {
  rheos__instruction *in = &stretch->instructions[stretch->num_instructions - 1];
  const rheos__plan *plan = stretch->plan;
  const int32_t root = stretch->operands[in->first_operand + wish->input];
  const rheos__value *value = rheos__find_value(stretch, root);
  rheos__resource *cell = NULL;
  if (value->kind != RHEOS__VALUE_CONSTANT) {
    cell = rheos__find_value(stretch, read_from(plan, root))->resource;
  }
  if (!RHEOS_GROW(stretch->kept_operands, stretch->kept_operand_capacity,
                  (size_t)stretch->num_kept_operands + 1)) {
    return rheos__out_of_memory();
  }
  rheos__form *form = NULL;
  RHEOS_TRY(rheos__forms_get(plan->context.forms, cell, cell != NULL ? NULL : value->constant, wish,
                             &form));
  stretch->kept_operands[stretch->num_kept_operands++] =
      (rheos__kept_operand){.root = root, .wish = *wish, .form = form};
  in->kept_operand = stretch->num_kept_operands;
  return NULL;
}

void rheos__place_kept_operands(rheos__stretch *stretch) {
  for (int32_t i = 0; stretch->num_kept_operands > 0 && i < stretch->num_instructions; ++i) {
    const rheos__instruction *in = &stretch->instructions[i];
    if (in->kept_operand == 0) continue;
    const int32_t number = in->kept_operand - 1;
    const int32_t input = stretch->kept_operands[number].wish.input;
    stretch->operands[in->first_operand + input] = stretch->plan->num_values + number;
  }
}

static bool is_first(const rheos__stretch *stretch, int32_t number) {
  for (int32_t i = 0; i < number; ++i) {
    if (stretch->kept_operands[i].form == stretch->kept_operands[number].form) return false;
  }
  return true;
}

size_t rheos__kept_bytes(const rheos__stretch *stretch) {
  size_t bytes = 0;
  for (int32_t i = 0; i < stretch->num_kept_operands; ++i) {
    if (is_first(stretch, i)) bytes += stretch->kept_operands[i].wish.bytes;
  }
  return bytes;
}

void rheos__kept_operands_deinit(rheos__stretch *stretch) {
  for (int32_t i = 0; i < stretch->num_kept_operands; ++i) {
    rheos__form_unref(stretch->kept_operands[i].form);
  }
  rheos__free(stretch->kept_operands);
}

// ---- In a step

static rheos_status *reserve(const rheos__stretch *stretch, rheos__frame *frame) {
  const size_t values = (size_t)stretch->plan->num_values;
  const size_t count = (size_t)stretch->num_kept_operands;
  if (frame->num_forms >= count) return NULL;
  void **data = rheos__realloc(frame->data, (values + count) * sizeof *data);
  if (data == NULL) return rheos__out_of_memory();
  frame->data = data;
  rheos_tensor **forms = rheos__realloc(frame->forms, count * sizeof(rheos_tensor *));
  if (forms == NULL) return rheos__out_of_memory();
  frame->forms = forms;
  rheos__formed *formed = rheos__realloc(frame->formed, count * sizeof *formed);
  if (formed == NULL) return rheos__out_of_memory();
  frame->formed = formed;
  for (; frame->num_forms < count; ++frame->num_forms) forms[frame->num_forms] = NULL;
  return NULL;
}

rheos_status *rheos__take_kept_operand(const rheos__stretch *stretch, const rheos__instruction *in,
                                       rheos__frame *frame) {
  RHEOS_TRY(reserve(stretch, frame));
  const int32_t number = in->kept_operand - 1;
  const rheos__kept_operand *kept = &stretch->kept_operands[number];
  const rheos__value *value = rheos__find_value(stretch, kept->root);
  rheos_tensor *from =
      value->kind == RHEOS__VALUE_CONSTANT ? value->constant : frame->tensors[kept->root];
  rheos_tensor_unref(frame->forms[number]);
  RHEOS_TRY(rheos__form_take(kept->form, &kept->wish, from, &frame->forms[number]));
  rheos__formed *formed = &frame->formed[number];
  *formed = (rheos__formed){.plain = from->data};
  if (frame->forms[number] != NULL) formed->form = frame->forms[number]->data;
  frame->data[stretch->plan->num_values + number] = formed;
  return NULL;
}

void rheos__release_kept_operands(rheos__frame *frame) {
  for (size_t i = 0; i < frame->num_forms; ++i) {
    rheos_tensor_unref(frame->forms[i]);
    frame->forms[i] = NULL;
  }
}
