// A shape that depends on values can be inferred, and a kernel prepared with these values, only where
// they can be read. So inputs come to the host, the CPU's kernel runs, and outputs go back.
#include "plan/staged_node.h"

#include "plan/copies.h"

// ---- Inputs

static bool is_constant(const rheos__segment *segment, const rheos__instruction *in,
                        int32_t input) {
  const int32_t value = segment->input_values[in->first_operand + input];
  return rheos__find_value(segment, value)->kind == RHEOS__VALUE_CONSTANT;
}

rheos_status *rheos__stage_inputs(const rheos__segment *segment, const rheos__instruction *in,
                                  rheos_tensor *const *inputs, rheos_tensor ***out_staged) {
  rheos_tensor **staged = rheos__alloc_array((size_t)in->num_inputs + 1, sizeof *staged);
  *out_staged = staged;
  if (staged == NULL) return rheos__out_of_memory();
  for (int32_t i = 0; i < in->num_inputs; ++i) {
    if (inputs[i] == NULL) continue;
    if (is_constant(segment, in, i)) {
      staged[i] = rheos_tensor_ref(inputs[i]);
      continue;
    }
    RHEOS_TRY(rheos_tensor_new(inputs[i]->dtype, inputs[i]->shape, &staged[i]));
    RHEOS_TRY(rheos__copy_to_host(segment->device, staged[i]->data, inputs[i]->data,
                                  inputs[i]->size_bytes));
  }
  return NULL;
}

void rheos__unstage_inputs(rheos_tensor **staged, int32_t num_inputs) {
  for (int32_t i = 0; staged != NULL && i < num_inputs; ++i) rheos_tensor_unref(staged[i]);
  rheos__free(staged);
}

// ---- Results

// What a tensor of a device's memory frees.
typedef struct device_block {
  const rheos__device *device;
  void *data;
} device_block;

static void free_block(void *argument) {
  device_block *block = argument;
  block->device->kind->free(block->device, block->data);
  rheos__free(block);
}

static rheos_status *tensor_on(const rheos__device *device, const rheos_tensor *of,
                               rheos_tensor **out_tensor) {
  device_block *block = rheos__alloc_zeroed(sizeof *block);
  if (block == NULL) return rheos__out_of_memory();
  block->device = device;
  block->data = device->kind->allocate(device, of->size_bytes);
  rheos_status *status = block->data == NULL ? rheos__out_of_memory() : NULL;
  if (status == NULL) {
    status = rheos__copy_from_host(device, block->data, of->data, of->size_bytes);
  }
  if (status == NULL) {
    status = rheos_tensor_borrow(of->dtype, of->shape, block->data, free_block, block, out_tensor);
  }
  if (status != NULL) free_block(block);
  return status;
}

rheos_status *rheos__stage_results(const rheos__device *device, rheos_tensor **results,
                                   int32_t num_results) {
  for (int32_t i = 0; i < num_results; ++i) {
    if (results[i] == NULL) continue;
    rheos_tensor *placed = NULL;
    RHEOS_TRY(tensor_on(device, results[i], &placed));
    rheos_tensor_unref(results[i]);
    results[i] = placed;
  }
  return NULL;
}
