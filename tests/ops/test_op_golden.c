// Every recorded answer: values, shapes known beforehand, error codes, and the same bits with 1, 2
// and 8 threads. Usage: test_op_golden [op]; RHEOS_BITS=FILE: also writes checksums of the answers
// to FILE, a line each, in the same order on every processor (tools/check-processors compares
// them).
#include <complex.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/crc32c.h"
#include "ops/op_harness.h"

static const char *const mode_names[] = {"as recorded", "unknown shapes", "constant"};

// ---- Singular vectors and eigenvectors: columns that are defined up to a sign (a phase)

static bool is_up_to_phase(const op_case *c, int output) {
  const char *op = strncmp(c->op, "Batch", 5) == 0 ? c->op + 5 : c->op;
  if (strcmp(op, "Svd") == 0) return output == 1 || output == 2;
  return strcmp(op, "SelfAdjointEigV2") == 0 && output == 1;
}

static double complex number_at(const rheos_tensor *tensor, int64_t index) {
  const void *data = rheos_tensor_data(tensor);
  switch (rheos_tensor_dtype(tensor)) {
    case RHEOS_COMPLEX64: return ((const float complex *)data)[index];
    case RHEOS_COMPLEX128: return ((const double complex *)data)[index];
    default: return op_number_at(tensor, index);
  }
}

static void set_number(rheos_tensor *tensor, int64_t index, double complex value) {
  void *data = rheos_tensor_data(tensor);
  switch (rheos_tensor_dtype(tensor)) {
    case RHEOS_FLOAT: ((float *)data)[index] = (float)creal(value); break;
    case RHEOS_DOUBLE: ((double *)data)[index] = creal(value); break;
    case RHEOS_COMPLEX64: ((float complex *)data)[index] = (float complex)value; break;
    default: ((double complex *)data)[index] = value; break;
  }
}

// A copy of `actual` whose columns are turned to those of `expected`; NULL if shapes differ.
static rheos_tensor *turned_to(const rheos_tensor *expected, const rheos_tensor *actual) {
  const rheos_shape *shape = rheos_tensor_shape(actual);
  rheos_tensor *copy = NULL;
  if (!rheos_shape_equal(shape, rheos_tensor_shape(expected)) || shape->rank < 2) return NULL;
  rheos_status_free(rheos_tensor_copy(actual, &copy));
  const int64_t rows = shape->dims[shape->rank - 2], columns = shape->dims[shape->rank - 1];
  const int64_t count = rheos_tensor_num_elements(actual);
  for (int64_t column = 0; copy && column < (rows > 0 ? count / rows : 0); column++) {
    const int64_t first = column / columns * rows * columns + column % columns;
    double complex along = 0;
    for (int64_t i = 0; i < rows; i++) {
      const int64_t at = first + i * columns;
      along += conj(number_at(actual, at)) * number_at(expected, at);
    }
    if (!(cabs(along) > 0)) continue;
    for (int64_t i = 0; i < rows; i++) {
      const int64_t at = first + i * columns;
      set_number(copy, at, number_at(actual, at) * along / cabs(along));
    }
  }
  return copy;
}

static bool answers_agree(const op_case *c, int output, const rheos_tensor *actual, char *message,
                          size_t size_bytes) {
  const rheos_tensor *expected = c->outputs[output].tensor;
  op_tolerance near = op_tolerance_of(c, rheos_tensor_dtype(expected));
  rheos_tensor *turned = is_up_to_phase(c, output) ? turned_to(expected, actual) : NULL;
  bool agree = op_tensors_agree(expected, turned ? turned : actual, near, message, size_bytes);
  rheos_tensor_unref(turned);
  return agree;
}

static void check_answer(const op_case *c, const op_result *result, build_mode mode) {
  char message[300];
  if (result->num_outputs != c->num_outputs) {
    op_wrong(c, "%d outputs, expected %d", result->num_outputs, c->num_outputs);
    return;
  }
  for (int i = 0; i < c->num_outputs; i++) {
    if (!answers_agree(c, i, result->outputs[i], message, sizeof message)) {
      op_wrong(c, "(%s) output %d: %s", mode_names[mode], i, message);
    }
  }
  for (int i = 0; i < c->num_after && i < result->num_after; i++) {
    if (!c->after[i] || !result->after[i]) {
      if (c->after[i] || result->after[i]) op_wrong(c, "variable %d: wrongly (un)set", i);
      continue;
    }
    op_tolerance near = op_tolerance_of(c, rheos_tensor_dtype(c->after[i]));
    if (!op_tensors_agree(c->after[i], result->after[i], near, message, sizeof message)) {
      op_wrong(c, "(%s) variable %d: %s", mode_names[mode], i, message);
    }
  }
}

static FILE *bits;  // what RHEOS_BITS names

// Of numbers with fractions; which NaN comes out of two depends on the order of their addition.
static uint32_t checksum_of_numbers(const rheos_tensor *tensor) {
  uint32_t crc = 0;
  for (int64_t i = 0; i < rheos_tensor_num_elements(tensor); i++) {
    const double complex number = number_at(tensor, i);
    double parts[] = {creal(number), cimag(number)};
    for (int k = 0; k < 2; k++) {
      if (isnan(parts[k])) parts[k] = NAN;
    }
    crc = rheos__crc32c(crc, parts, sizeof parts);
  }
  return crc;
}

static void write_bits(const op_case *c, const char *what, int index, const rheos_tensor *tensor) {
  const rheos_dtype dtype = tensor ? rheos_tensor_dtype(tensor) : RHEOS_STRING;
  if (dtype == RHEOS_STRING || dtype == RHEOS_RESOURCE || dtype == RHEOS_VARIANT)
    return;  // pointers
  const uint32_t crc =
      rheos_dtype_is_floating(dtype) || rheos_dtype_is_complex(dtype)
          ? checksum_of_numbers(tensor)
          : rheos__crc32c(0, rheos_tensor_data(tensor), rheos_tensor_size_bytes(tensor));
  fprintf(bits, "%s %s %d %08x\n", c->op, what, index, crc);
}

static void write_all_bits(const op_case *c, const op_result *result) {
  for (int i = 0; i < result->num_outputs; i++) write_bits(c, "output", i, result->outputs[i]);
  for (int i = 0; i < result->num_after; i++) write_bits(c, "variable", i, result->after[i]);
}

static void check_mode(const op_case *c, build_mode mode) {
  op_result one, many;
  rheos_status *status = op_case_run(c, mode, 1, &one);
  if (status) {
    op_wrong(c, "(%s) %s", mode_names[mode], op_status_text(status));
    rheos_status_free(status);
    return;
  }
  check_answer(c, &one, mode);
  if (bits && mode == BUILD_AS_RECORDED) write_all_bits(c, &one);
  for (int threads = 2; threads <= 8; threads += 6) {
    status = op_case_run(c, mode, threads, &many);
    if (status || !op_results_identical(&one, &many)) {
      op_wrong(c, "(%s) other bits with %d threads: %s", mode_names[mode], threads,
               op_status_text(status));
    }
    rheos_status_free(status);
    op_result_free(&many);
    if (mode != BUILD_AS_RECORDED) break;
  }
  op_result_free(&one);
}

// What is known of a shape when the node is added is true, and no less than TensorFlow knows.
static void check_static_shapes(const op_case *c) {
  op_program program;
  rheos_status *status = op_program_build(&program, c, BUILD_AS_RECORDED);
  rheos_output outputs[CASE_MAX_OUTPUTS];
  int n = status ? 0 : op_value_outputs(program.op, outputs);
  for (int i = 0; i < n && i < c->num_outputs; i++) {
    rheos_shape inferred = rheos_output_shape(outputs[i]);
    const rheos_shape *known = &c->outputs[i].static_shape;
    char text[2][200];
    rheos_shape_format(&inferred, text[0], sizeof text[0]);
    rheos_shape_format(known, text[1], sizeof text[1]);
    if (!rheos_shape_compatible(&inferred, rheos_tensor_shape(c->outputs[i].tensor))) {
      op_wrong(c, "output %d: inferred shape %s is not the actual one", i, text[0]);
    }
    bool less = known->rank >= 0 && inferred.rank < 0;
    for (int32_t k = 0; !less && k < known->rank && k < inferred.rank; k++) {
      less = known->dims[k] >= 0 && inferred.dims[k] < 0;
    }
    if (less) op_wrong(c, "output %d: inferred shape %s, expected %s", i, text[0], text[1]);
  }
  rheos_status_free(status);
  op_program_free(&program);
}

// A variable without a value is one failure whatever finds it; in TensorFlow it depends on the op.
static rheos_code expected_error(const op_case *c) {
  for (int i = 0; i < c->num_inputs; i++) {
    if (c->inputs[i].kind == INPUT_UNSET) return RHEOS_FAILED_PRECONDITION;
  }
  return c->error;
}

static void check_error(const op_case *c) {
  op_result result;
  rheos_code expected = expected_error(c);
  rheos_status *status = op_case_run(c, BUILD_AS_RECORDED, 1, &result);
  if (rheos_status_code(status) != expected) {
    op_wrong(c, "expected %s, got %s", rheos_code_name(expected), op_status_text(status));
  }
  rheos_status_free(status);
  op_result_free(&result);
  status = op_case_run(c, BUILD_UNKNOWN_SHAPES, 1, &result);
  rheos_code code = rheos_status_code(status);
  if (code != expected && code != c->error_unknown_shapes) {
    op_wrong(c, "with unknown shapes expected %s, got %s", rheos_code_name(c->error_unknown_shapes),
             op_status_text(status));
  }
  rheos_status_free(status);
  op_result_free(&result);
}

static bool has_variable(const op_case *c) {
  return c->num_inputs > 0 &&
         (c->inputs[0].kind == INPUT_VARIABLE || c->inputs[0].kind == INPUT_UNSET);
}

static void check_cases(const op_cases *cases, size_t first, size_t end) {
  for (size_t i = first; i < end; i++) {
    const op_case *c = &cases->items[i];
    if (c->error != RHEOS_OK) {
      check_error(c);
      continue;
    }
    check_mode(c, BUILD_AS_RECORDED);
    check_mode(c, BUILD_UNKNOWN_SHAPES);
    if (!has_variable(c)) check_mode(c, BUILD_CONSTANT);
    check_static_shapes(c);
  }
}

int main(int argc, char **argv) {
  const char *path = getenv("RHEOS_BITS");
  bits = path ? fopen(path, "w") : NULL;
  const int failed = op_tests_run("op_golden", check_cases, NULL, argc, argv);
  if (bits) fclose(bits);
  return failed;
}
