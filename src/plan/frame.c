// Frames: the pointers and memory of one running step, kept for the next.
#include "plan/late.h"
#include "plan/memory_report.h"

rheos__frame *rheos__frame_new(const rheos__plan *plan) {
  rheos__frame *frame = rheos__alloc_zeroed(sizeof *frame);
  if (frame == NULL) return NULL;
  frame->num_entries = plan->num_entries;
  size_t values = (size_t)plan->num_values, operands = (size_t)plan->max_operands + 1;
  frame->data = rheos__alloc_array(values, sizeof *frame->data);
  frame->tensors = rheos__alloc_array(values, sizeof *frame->tensors);
  frame->inputs = rheos__alloc_array(operands, sizeof *frame->inputs);
  frame->outputs = rheos__alloc_array(operands, sizeof *frame->outputs);
  frame->results = rheos__alloc_array(operands, sizeof *frame->results);
  if (frame->data == NULL || frame->tensors == NULL || frame->inputs == NULL ||
      frame->outputs == NULL || frame->results == NULL) {
    rheos__frames_free(frame);
    return NULL;
  }
  return frame;
}

void rheos__frames_free(rheos__frame *frames) {
  while (frames != NULL) {
    rheos__frame *frame = frames;
    frames = frame->next;
    for (size_t i = 0; i < frame->num_bindings; ++i) {
      rheos__free_aligned(frame->bindings[i].memory);
      rheos__free(frame->bindings[i].taken);
      rheos__free(frame->bindings[i].tensors);
      rheos__free(frame->bindings[i].cells);
    }
    rheos__free(frame->bindings);
    rheos__free(frame->data);
    rheos__free(frame->tensors);
    rheos__free((void *)frame->inputs);
    rheos__free(frame->outputs);
    rheos__free(frame->results);
    rheos__free(frame->forms);
    rheos__free(frame->formed);
    rheos__free(frame->joint_room);
    rheos__lates_free(frame);
    rheos__free(frame);
  }
}

// ---- Binding

static void bind_input(rheos__binding *binding, const rheos__frame *frame,
                       const rheos__stretch *stretch, int32_t position, int32_t at) {
  const int32_t index = stretch->input_values[position], root = stretch->operands[position];
  const rheos__value *value = rheos__find_value(stretch, index);
  rheos__taken *taken = &binding->taken[at];
  *taken = (rheos__taken){.root = root};
  binding->tensors[at] = NULL;
  binding->cells[at] = value->resource;
  switch ((rheos__value_kind)value->kind) {
    case RHEOS__VALUE_NONE: taken->stays = true; return;
    case RHEOS__VALUE_CONSTANT:
      taken->stays = true;
      binding->tensors[at] = value->constant;
      return;
    case RHEOS__VALUE_ARENA:
      taken->stays = true;
      binding->tensors[at] = &taken->view;
      break;
    case RHEOS__VALUE_FEED:  // the caller's: nobody may keep it
      break;
    case RHEOS__VALUE_HEAP:
    case RHEOS__VALUE_TENSOR: taken->passes = index == root; break;
  }
  if (value->shape == NULL) return;  // what passes without one is there
  rheos__tensor_init_view(&taken->view, (rheos_dtype)value->dtype, value->shape, frame->data[root]);
}

static bool bind_inputs(rheos__binding *binding, const rheos__frame *frame,
                        const rheos__stretch *stretch) {
  const size_t count = (size_t)stretch->num_taken;
  if (!RHEOS_GROW(binding->taken, binding->taken_capacity, count) ||
      !RHEOS_GROW(binding->tensors, binding->tensor_capacity, count) ||
      !RHEOS_GROW(binding->cells, binding->cell_capacity, count)) {
    return false;
  }
  for (int32_t i = 0; i < stretch->num_instructions; ++i) {
    const rheos__instruction *in = &stretch->instructions[i];
    if (!rheos__takes_tensors(in)) continue;
    for (int32_t k = 0; k < in->num_inputs; ++k) {
      bind_input(binding, frame, stretch, in->first_operand + k, in->first_taken + k);
    }
  }
  return true;
}

// The memory of a binding, as large as the stretch needs.
static rheos_status *bind_memory(rheos__binding *binding, const rheos__stretch *stretch) {
  if (binding->memory_bytes >= stretch->memory_bytes) return NULL;
  rheos__free_aligned(binding->memory);
  binding->memory_bytes = 0;
  binding->memory = rheos__alloc_aligned(stretch->memory_bytes);
  if (binding->memory == NULL) return rheos__no_memory_for(stretch);
  binding->memory_bytes = stretch->memory_bytes;
  return NULL;
}

rheos_status *rheos__frame_bind(rheos__frame *frame, const rheos__stretch *stretch) {
  const size_t depth = (size_t)stretch->depth;
  if (depth < frame->num_bindings && frame->bindings[depth].serial == stretch->serial) return NULL;
  if (!RHEOS_GROW(frame->bindings, frame->binding_capacity, depth + 1)) {
    return rheos__out_of_memory();
  }
  while (frame->num_bindings <= depth) frame->bindings[frame->num_bindings++] = (rheos__binding){0};
  for (size_t i = depth; i < frame->num_bindings; ++i) frame->bindings[i].serial = 0;
  rheos__binding *binding = &frame->bindings[depth];
  RHEOS_TRY(bind_memory(binding, stretch));
  for (int32_t i = 0; i < stretch->num_values; ++i) {
    const rheos__value *value = &stretch->values[i];
    void **data = &frame->data[stretch->first_value + i];
    if (value->kind == RHEOS__VALUE_CONSTANT) *data = value->constant->data;
    if (value->kind == RHEOS__VALUE_ARENA) *data = binding->memory + value->offset;
  }
  if (!bind_inputs(binding, frame, stretch)) return rheos__out_of_memory();
  binding->serial = stretch->serial;
  return NULL;
}
