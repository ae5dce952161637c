// Packed operands: which may be packed, and where they are. See packed_operand.h.
#include "plan/segment/packed_operand.h"

#include <assert.h>

#include "plan/entries/effects.h"

// ---- What stays

static bool find_written(rheos__written *w) {
  const rheos__plan *plan = w->plan;
  w->values = rheos__alloc_array((size_t)plan->num_values, sizeof *w->values);
  if (w->values == NULL) return false;
  for (int32_t i = 0; i < plan->num_effects; ++i) {
    const rheos__effect *effect = &plan->effects[i];
    assert(effect->value >= -1 && effect->value < plan->num_values);
    assert(effect->value >= 0 || effect->kind == RHEOS__EFFECT_STATE);
    if (effect->kind == RHEOS__EFFECT_WRITES) w->values[effect->value] = true;
  }
  return true;
}

void rheos__written_deinit(rheos__written *w) { rheos__free(w->values); }

// The cell that a value was read from, -1 if it was not.
static int32_t read_from(const rheos__plan *plan, int32_t value) {
  const int32_t producer = rheos__plan_producer(plan, value);
  if (producer < 0) return -1;
  const rheos__entry *entry = &plan->entries[producer];
  if (entry->num_inputs == 0 || rheos__is_moved(entry)) return -1;
  if (entry->kind != RHEOS__ENTRY_READ &&
      (entry->signature->op->flags & RHEOS_OP_READS_VARIABLE) == 0) {
    return -1;
  }
  return rheos__plan_cell(plan, plan->operands[entry->first_operand]);
}

bool rheos__operand_stays(const rheos__segment *segment, rheos__written *w, int32_t root) {
  const rheos__value *value = rheos__find_value(segment, root);
  if (value->kind == RHEOS__VALUE_CONSTANT) return true;
  if (value->kind != RHEOS__VALUE_TENSOR) return false;
  const int32_t from = read_from(segment->plan, root);
  if (from < 0) return false;
  const rheos__resource *cell = rheos__find_value(segment, from)->resource;
  if (cell == NULL || cell->kind != &rheos__variable_kind) return false;
  if (w->values == NULL && !find_written(w)) return false;
  return !w->values[from];
}

// ---- In a segment

rheos_status *rheos__pack_operand(rheos__segment *segment, const rheos__packing_request *request) {
  rheos__instruction *in = &segment->instructions[segment->num_instructions - 1];
  const rheos__plan *plan = segment->plan;
  assert(request->input >= 0 && request->input < in->num_inputs && in->packed_operand == 0);
  const int32_t root = segment->operands[in->first_operand + request->input];
  const rheos__value *value = rheos__find_value(segment, root);
  rheos__resource *cell = NULL;
  if (value->kind != RHEOS__VALUE_CONSTANT) {
    cell = rheos__find_value(segment, read_from(plan, root))->resource;
  }
  if (!RHEOS_RESERVE(segment->packed_operands, segment->packed_operand_capacity,
                     (size_t)segment->num_packed_operands + 1)) {
    return rheos__out_of_memory();
  }
  rheos__packing *packing = NULL;
  RHEOS_TRY(rheos__packings_get(plan->context.packings, cell, cell != NULL ? NULL : value->constant,
                                request, &packing));
  segment->packed_operands[segment->num_packed_operands++] =
      (rheos__packed_operand){.root = root, .request = *request, .packing = packing};
  in->packed_operand = segment->num_packed_operands;
  return NULL;
}

void rheos__place_packed_operands(rheos__segment *segment) {
  for (int32_t i = 0; segment->num_packed_operands > 0 && i < segment->num_instructions; ++i) {
    const rheos__instruction *in = &segment->instructions[i];
    if (in->packed_operand == 0) continue;
    const int32_t number = in->packed_operand - 1;
    const int32_t input = segment->packed_operands[number].request.input;
    assert(segment->operands[in->first_operand + input] == segment->packed_operands[number].root);
    segment->operands[in->first_operand + input] = segment->plan->num_values + number;
  }
}

static bool is_first(const rheos__segment *segment, int32_t number) {
  for (int32_t i = 0; i < number; ++i) {
    if (segment->packed_operands[i].packing == segment->packed_operands[number].packing)
      return false;
  }
  return true;
}

size_t rheos__packed_bytes(const rheos__segment *segment) {
  size_t bytes = 0;
  for (int32_t i = 0; i < segment->num_packed_operands; ++i) {
    if (is_first(segment, i)) bytes += segment->packed_operands[i].request.bytes;
  }
  return bytes;
}

void rheos__packed_operands_deinit(rheos__segment *segment) {
  for (int32_t i = 0; i < segment->num_packed_operands; ++i) {
    rheos__packing_unref(segment->packed_operands[i].packing);
  }
  rheos__free(segment->packed_operands);
}

// ---- In a step

static rheos_status *reserve(const rheos__segment *segment, rheos__workspace *workspace) {
  const size_t values = (size_t)segment->plan->num_values;
  const size_t count = (size_t)segment->num_packed_operands;
  if (workspace->num_packed >= count) return NULL;
  void **data = rheos__realloc(workspace->data, (values + count) * sizeof *data);
  if (data == NULL) return rheos__out_of_memory();
  workspace->data = data;
  rheos_tensor **tensors =
      rheos__realloc(workspace->packed_tensors, count * sizeof(rheos_tensor *));
  if (tensors == NULL) return rheos__out_of_memory();
  workspace->packed_tensors = tensors;
  rheos__packed *packed = rheos__realloc(workspace->packed, count * sizeof *packed);
  if (packed == NULL) return rheos__out_of_memory();
  workspace->packed = packed;
  for (; workspace->num_packed < count; ++workspace->num_packed)
    tensors[workspace->num_packed] = NULL;
  return NULL;
}

rheos_status *rheos__take_packed_operand(const rheos__segment *segment,
                                         const rheos__instruction *in,
                                         rheos__workspace *workspace) {
  RHEOS_TRY(reserve(segment, workspace));
  const int32_t number = in->packed_operand - 1;
  assert(number >= 0 && (size_t)number < workspace->num_packed);
  const rheos__packed_operand *kept = &segment->packed_operands[number];
  const rheos__value *value = rheos__find_value(segment, kept->root);
  rheos_tensor *from =
      value->kind == RHEOS__VALUE_CONSTANT ? value->constant : workspace->tensors[kept->root];
  rheos_tensor_unref(workspace->packed_tensors[number]);
  RHEOS_TRY(
      rheos__packing_take(kept->packing, &kept->request, from, &workspace->packed_tensors[number]));
  rheos__packed *packed = &workspace->packed[number];
  *packed = (rheos__packed){.plain = from->data};
  if (workspace->packed_tensors[number] != NULL)
    packed->packed = workspace->packed_tensors[number]->data;
  workspace->data[segment->plan->num_values + number] = packed;
  return NULL;
}

void rheos__release_packed_operands(rheos__workspace *workspace) {
  for (size_t i = 0; i < workspace->num_packed; ++i) {
    rheos_tensor_unref(workspace->packed_tensors[i]);
    workspace->packed_tensors[i] = NULL;
  }
}
