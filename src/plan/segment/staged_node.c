// A shape that depends on values can be inferred, and a kernel prepared with these values, only
// where they can be read. Where the device has a kernel for the shapes, no more than those values
// comes to the host. Else all inputs do, the CPU's kernel runs, and outputs go back.
#include "plan/segment/staged_node.h"

#include "plan/entries/place.h"

// Shapes depend on sizes, places and numbers of dimensions.
enum { MAX_SHAPE_BYTES = 1024 };

// ---- Inputs

static bool is_constant(const rheos__segment *segment, const rheos__instruction *in,
                        int32_t input) {
  const int32_t value = segment->input_values[in->first_operand + input];
  return rheos__find_value(segment, value)->kind == RHEOS__VALUE_CONSTANT;
}

static bool staged_init(rheos__staged *staged, int32_t num_inputs) {
  const size_t count = (size_t)num_inputs + 1;
  *staged = (rheos__staged){.on_host = rheos__alloc_array(count, sizeof *staged->on_host),
                            .views = rheos__alloc_array(count, 2 * sizeof *staged->views),
                            .on_device = rheos__alloc_array(count, sizeof *staged->on_device),
                            .num_inputs = num_inputs};
  return staged->on_host != NULL && staged->views != NULL && staged->on_device != NULL;
}

void rheos__staged_deinit(rheos__staged *staged) {
  for (int32_t i = 0; staged->on_host != NULL && i < staged->num_inputs; ++i) {
    const bool is_view = staged->on_host[i] == &staged->views[2 * i];
    if (!is_view) rheos_tensor_unref(staged->on_host[i]);
  }
  rheos__free((void *)staged->on_host);
  rheos__free(staged->views);
  rheos__free((void *)staged->on_device);
}

rheos_status *rheos__stage_inputs(const rheos__segment *segment, const rheos__instruction *in,
                                  rheos_tensor *const *inputs, rheos__staged *out_staged) {
  if (!staged_init(out_staged, in->num_inputs)) return rheos__out_of_memory();
  for (int32_t i = 0; i < in->num_inputs; ++i) {
    if (inputs[i] == NULL) continue;
    if (is_constant(segment, in, i)) {
      out_staged->on_host[i] = rheos_tensor_ref(inputs[i]);
      continue;
    }
    RHEOS_TRY(rheos__tensor_in(inputs[i], NULL, &out_staged->on_host[i]));
  }
  return NULL;
}

static bool may_tell_shapes(const rheos_tensor *input) {
  return (input->dtype == RHEOS_INT32 || input->dtype == RHEOS_INT64) &&
         input->size_bytes <= MAX_SHAPE_BYTES;
}

rheos_status *rheos__stage_shapes(const rheos__segment *segment, const rheos__instruction *in,
                                  const rheos__workspace *workspace, rheos_tensor *const *inputs,
                                  rheos__staged *out_staged) {
  if (!staged_init(out_staged, in->num_inputs)) return rheos__out_of_memory();
  for (int32_t i = 0; i < in->num_inputs; ++i) {
    rheos_tensor *input = inputs[i], *views = &out_staged->views[2 * i];
    if (input == NULL) continue;
    out_staged->on_device[i] = input;
    const bool stays =
        rheos__device_of_input(segment->plan, &segment->plan->entries[in->entry], i) == 0;
    if (is_constant(segment, in, i) && !stays) {
      const int32_t value = segment->input_values[in->first_operand + i];
      rheos__tensor_init_view(&views[1], input->dtype, &input->shape, workspace->data[value]);
      views[1].memory = segment->device->memory;
      out_staged->on_device[i] = &views[1];
      out_staged->on_host[i] = rheos_tensor_ref(input);
    } else if (stays || input->memory == NULL || may_tell_shapes(input)) {
      RHEOS_TRY(rheos__tensor_in(input, NULL, &out_staged->on_host[i]));
    } else {
      rheos__tensor_init_view(&views[0], input->dtype, &input->shape, NULL);
      out_staged->on_host[i] = &views[0];
    }
  }
  return NULL;
}

// ---- Results

rheos_status *rheos__stage_results(rheos__memory *memory, rheos_tensor **results,
                                   int32_t num_results) {
  for (int32_t i = 0; i < num_results; ++i) {
    if (results[i] == NULL) continue;
    rheos_tensor *placed = NULL;
    RHEOS_TRY(rheos__tensor_copy_to(results[i], memory, &placed));
    rheos_tensor_unref(results[i]);
    results[i] = placed;
  }
  return NULL;
}

rheos_status *rheos__bring_to_host_take(rheos_tensor **tensors, int32_t count) {
  rheos_status *status = NULL;
  for (int32_t i = 0; i < count; ++i) {
    rheos_tensor *there = tensors[i];
    if (there == NULL || there->memory == NULL) continue;
    tensors[i] = NULL;
    if (status == NULL) status = rheos__tensor_in(there, NULL, &tensors[i]);
    rheos_tensor_unref(there);
  }
  for (int32_t i = 0; status != NULL && i < count; ++i) {
    rheos_tensor_unref(tensors[i]);
    tensors[i] = NULL;
  }
  return status;
}
