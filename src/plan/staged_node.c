// A shape that depends on values can be inferred, and a kernel prepared with these values, only where
// they can be read. So inputs come to the host, the CPU's kernel runs, and outputs go back.
#include "plan/staged_node.h"

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
    RHEOS_TRY(rheos__tensor_in(inputs[i], NULL, &staged[i]));
  }
  return NULL;
}

void rheos__unstage_inputs(rheos_tensor **staged, int32_t num_inputs) {
  for (int32_t i = 0; staged != NULL && i < num_inputs; ++i) rheos_tensor_unref(staged[i]);
  rheos__free(staged);
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
