// Runs one reference kernel by hand: what the executor does, with nothing between.
#ifndef RHEOS_TESTS_OPS_KERNEL_FIXTURE_H
#define RHEOS_TESTS_OPS_KERNEL_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "graph/op_def.h"

enum { KERNEL_MAX = 4, KERNEL_MAX_ATTRS = 6 };

// What is to be run; outputs are tensors the fixture owns.
typedef struct kernel {
  const char *op;
  const char *node_name;
  rheos_tensor *inputs[KERNEL_MAX];
  bool is_constant[KERNEL_MAX];  // known to shape functions and prepare
  rheos_attr attrs[KERNEL_MAX_ATTRS];
  rheos_dtype output_dtypes[KERNEL_MAX];
  rheos__resources *resources;
  // How to run it
  bool unit_by_unit;  // from the last to the first
  bool in_place;      // over the input that prepare allows
  // The answer
  rheos_tensor *outputs[KERNEL_MAX];
  rheos__prepare prepared;
} kernel;

// NULL, or the error of the shape function, of prepare or of the run.
rheos_status *kernel_run(kernel *k);
// Runs it, and fails the test if that fails.
void kernel_run_ok(kernel *k);
// Runs it, and fails the test unless the error is this one.
void kernel_run_fails(kernel *k, rheos_code code, const char *text);
// Frees the outputs; the inputs stay.
void kernel_clear(kernel *k);
void kernel_free_inputs(kernel *k);

// A tensor of values.
rheos_tensor *floats_of(rheos_shape shape, const float *values);
rheos_tensor *ints_of(rheos_shape shape, const int32_t *values);
// Numbers from -4 to 4 that look random, the same for the same seed.
rheos_tensor *noise_of(rheos_shape shape, uint32_t seed);

// Output `index` has these floats, bit for bit.
void assert_floats(const kernel *k, int index, const float *values, int64_t count);
void assert_same_tensor(const rheos_tensor *a, const rheos_tensor *b);

#endif  // RHEOS_TESTS_OPS_KERNEL_FIXTURE_H
