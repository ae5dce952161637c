// Frames: the pointers and memory of one running step, kept for the next.
#include "plan/late.h"

rheos__frame *rheos__frame_new(const rheos__plan *plan) {
  rheos__frame *frame = rheos__alloc_zeroed(sizeof *frame);
  if (frame == NULL) return NULL;
  frame->num_entries = plan->num_entries;
  size_t values = (size_t)plan->num_values, operands = (size_t)plan->max_operands + 1;
  frame->data = rheos__alloc_array(values, sizeof *frame->data);
  frame->tensors = rheos__alloc_array(values, sizeof *frame->tensors);
  frame->inputs = rheos__alloc_array(operands, sizeof *frame->inputs);
  frame->outputs = rheos__alloc_array(operands, sizeof *frame->outputs);
  frame->views = rheos__alloc_array(operands, sizeof *frame->views);
  frame->view_pointers = rheos__alloc_array(operands, sizeof *frame->view_pointers);
  frame->results = rheos__alloc_array(operands, sizeof *frame->results);
  frame->cells = rheos__alloc_array(operands, sizeof *frame->cells);
  if (frame->data == NULL || frame->tensors == NULL || frame->inputs == NULL ||
      frame->outputs == NULL || frame->views == NULL || frame->view_pointers == NULL ||
      frame->results == NULL || frame->cells == NULL) {
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
    }
    rheos__free(frame->bindings);
    rheos__free(frame->data);
    rheos__free(frame->tensors);
    rheos__free((void *)frame->inputs);
    rheos__free(frame->outputs);
    rheos__free(frame->views);
    rheos__free(frame->view_pointers);
    rheos__free(frame->results);
    rheos__free(frame->cells);
    rheos__free(frame->forms);
    rheos__free(frame->formed);
    rheos__free(frame->joint_room);
    rheos__lates_free(frame);
    rheos__free(frame);
  }
}

rheos_tensor *rheos__operand_tensor(const rheos__frame *frame, const rheos__stretch *stretch,
                                    int32_t position, rheos_tensor *view) {
  const int32_t index = stretch->input_values[position], root = stretch->operands[position];
  const rheos__value *value = rheos__find_value(stretch, index);
  if (index == root && value->kind != RHEOS__VALUE_FEED && frame->tensors[root] != NULL) {
    return frame->tensors[root];  // a feed is the caller's: nobody may keep it
  }
  if (value->kind == RHEOS__VALUE_NONE) return NULL;
  if (value->kind == RHEOS__VALUE_CONSTANT) return value->constant;
  rheos__tensor_init_view(view, (rheos_dtype)value->dtype, value->shape, frame->data[root]);
  return view;
}
