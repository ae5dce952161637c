// Fused ops against the ops that they stand for, one after the other: the same bits, at sizes that
// no block divides, with any number of threads; and what they refuse.
#include <math.h>
#include <stdio.h>

#include "graph/op_def.h"
#include "ops/array_fixture.h"

static const char *const activations[] = {
    "", "Relu", "Relu6", "Elu", "LeakyRelu", "Tanh", "Sigmoid", "GeluExact", "GeluApproximate"};
enum { NUM_ACTIVATIONS = sizeof activations / sizeof activations[0] };

// add(), with a name that nodes may have.
static rheos_output add_fused(fixture *f, const char *type, const rheos_output *inputs,
                              size_t num_inputs, const rheos_attr *attrs, size_t num_attrs) {
  return rheos_operation_output(rheos_op(f->scope, &(rheos_op_args){.type = type,
                                                                    .name = type + 1,
                                                                    .inputs = inputs,
                                                                    .num_inputs = num_inputs,
                                                                    .attrs = attrs,
                                                                    .num_attrs = num_attrs}),
                                0);
}

static rheos_output op_1(fixture *f, const char *type, rheos_output x, const rheos_attr *attr) {
  return rheos_operation_output(add(f, type, &x, 1, attr, attr != NULL), 0);
}
static rheos_output op_2(fixture *f, const char *type, rheos_output x, rheos_output y) {
  return rheos_operation_output(add(f, type, (const rheos_output[]){x, y}, 2, NULL, 0), 0);
}

// As tf.nn.gelu builds it.
static rheos_output gelu(fixture *f, rheos_output x, bool approximate) {
  rheos_output inside;
  if (approximate) {
    const rheos_output cube = op_2(f, "Pow", x, float_scalar(f, 3));
    const rheos_output sum = op_2(f, "AddV2", x, op_2(f, "Mul", float_scalar(f, 0.044715f), cube));
    inside = op_1(f, "Tanh", op_2(f, "Mul", float_scalar(f, 0.7978845608028654f), sum), NULL);
  } else {
    inside = op_1(f, "Erf", op_2(f, "RealDiv", x, float_scalar(f, 1.4142135623730951f)), NULL);
  }
  return op_2(f, "Mul", op_2(f, "Mul", float_scalar(f, 0.5f), x),
              op_2(f, "AddV2", float_scalar(f, 1), inside));
}

static rheos_output activated(fixture *f, const char *name, rheos_output x) {
  const rheos_attr alpha = rheos_attr_float("alpha", 0.3f);
  if (name[0] == '\0') return x;
  if (strncmp(name, "Gelu", 4) == 0) return gelu(f, x, strcmp(name, "GeluApproximate") == 0);
  return op_1(f, name, x, strcmp(name, "LeakyRelu") == 0 ? &alpha : NULL);
}

// fused_ops: `first` and the activation, where they are some.
static rheos_attr fused_ops(const char *first, const char *activation, rheos_string ops[2]) {
  int32_t count = 0;
  if (first[0] != '\0') ops[count++] = (rheos_string){(char *)(uintptr_t)first, strlen(first)};
  if (activation[0] != '\0') {
    ops[count++] = (rheos_string){(char *)(uintptr_t)activation, strlen(activation)};
  }
  return (rheos_attr){"fused_ops",
                      {.kind = RHEOS_ATTR_LIST_STRING, .count = count, .strings = ops}};
}

static void expect_same_bits(fixture *f, rheos_output expected, rheos_output actual,
                             const char *what) {
  for (int threads = 1; threads <= 8; threads = threads < 3 ? threads + 1 : threads + 5) {
    rheos_session *session = NULL;
    rheos_session_options options = {.num_threads = threads,
                                     .rewrites.constant_folding = RHEOS_TOGGLE_OFF};
    check(rheos_session_new(f->graph, &options, &session));
    rheos_fetch fetches[] = {{expected, NULL}, {actual, NULL}};
    check(rheos_session_run(session, NULL, 0, fetches, 2, NULL, 0, NULL));
    const size_t size = rheos_tensor_size_bytes(fetches[0].value);
    assert_int_equal(size, rheos_tensor_size_bytes(fetches[1].value));
    if (memcmp(rheos_tensor_data(fetches[0].value), rheos_tensor_data(fetches[1].value), size) !=
        0) {
      fail_msg("%s: other bits with %d threads", what, threads);
    }
    rheos_tensor_unref(fetches[0].value);
    rheos_tensor_unref(fetches[1].value);
    rheos_session_free(session);
  }
}

// ---- Products

static void check_product(fixture *f, int64_t m, int64_t n, int64_t k, bool ta, bool tb,
                          const char *activation) {
  const rheos_output a = waves(f, 2, ta ? RHEOS_SHAPE(k, m) : RHEOS_SHAPE(m, k), 0.3f);
  const rheos_output b = waves(f, 2, tb ? RHEOS_SHAPE(n, k) : RHEOS_SHAPE(k, n), 1.1f);
  const rheos_output bias = waves(f, 2, RHEOS_SHAPE(n), 2.2f);
  rheos_string ops[2];
  const rheos_attr attrs[] = {
      rheos_attr_bool("transpose_a", ta), rheos_attr_bool("transpose_b", tb),
      rheos_attr_float("leakyrelu_alpha", 0.3f), fused_ops("BiasAdd", activation, ops)};
  const rheos_output product =
      rheos_operation_output(add(f, "MatMul", (const rheos_output[]){a, b}, 2, attrs, 2), 0);
  const rheos_output plain = activated(f, activation, op_2(f, "BiasAdd", product, bias));
  const rheos_output fused =
      add_fused(f, "_FusedMatMul", (const rheos_output[]){a, b, bias}, 3, attrs, 4);
  char what[128];
  snprintf(what, sizeof what, "%dx%dx%d%s%s %s", (int)m, (int)n, (int)k, ta ? " a^T" : "",
           tb ? " b^T" : "", activation);
  expect_same_bits(f, plain, fused, what);
}

static void test_fused_matmul__gives_the_bits_of_its_ops(void **state) {
  fixture *f = *state;
  static const int64_t sizes[][3] = {{1, 1, 1},     {3, 5, 7},       {20, 64, 64},  {20, 10, 64},
                                     {17, 65, 3},   {1, 300, 70},    {2, 3, 0},     {0, 3, 2},
                                     {65, 7, 17},   {130, 65, 33},   {5, 128, 200}, {300, 96, 64},
                                     {1, 1030, 33}, {300, 300, 101}, {2, 700, 130}};
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    for (int t = 0; t < 4; t++) {
      check_product(f, sizes[i][0], sizes[i][1], sizes[i][2], t & 1, t & 2,
                    activations[(i + (size_t)t) % NUM_ACTIVATIONS]);
    }
  }
  for (int k = 0; k < NUM_ACTIVATIONS; k++)
    check_product(f, 19, 37, 8, false, false, activations[k]);
}

// ---- Convolutions

static void check_conv(fixture *f, const char *format, int64_t batch, int64_t size, int64_t window,
                       int64_t in, int64_t out, bool norm, const char *activation) {
  const bool second = strcmp(format, "NCHW") == 0;
  const rheos_shape shape =
      second ? RHEOS_SHAPE(batch, in, size, size) : RHEOS_SHAPE(batch, size, size, in);
  static const int64_t ones[] = {1, 1, 1, 1};
  rheos_string ops[2];
  const rheos_attr attrs[] = {rheos_attr_ints("strides", ones, 4),
                              rheos_attr_string("padding", "SAME", 4),
                              rheos_attr_string("data_format", format, 4),
                              rheos_attr_int("num_host_args", 0),
                              rheos_attr_int("num_args", norm ? 4 : 1),
                              rheos_attr_float("epsilon", 0.01f),
                              rheos_attr_float("leakyrelu_alpha", 0.3f),
                              fused_ops(norm ? "FusedBatchNorm" : "BiasAdd", activation, ops)};
  rheos_output inputs[6] = {waves(f, 2, shape, 0.3f),
                            waves(f, 2, RHEOS_SHAPE(window, window, in, out), 1.1f)};
  for (int i = 2; i < 6; i++) inputs[i] = waves(f, 2, RHEOS_SHAPE(out), (float)i);
  inputs[5] = op_1(f, "Exp", inputs[5], NULL);  // a variance
  rheos_output plain = rheos_operation_output(add(f, "Conv2D", inputs, 2, attrs, 3), 0);
  if (norm) {
    const rheos_output args[] = {plain, inputs[2], inputs[3], inputs[4], inputs[5]};
    const rheos_attr normal[] = {attrs[2], attrs[5], rheos_attr_bool("is_training", false)};
    plain = rheos_operation_output(add(f, "FusedBatchNorm", args, 5, normal, 3), 0);
  } else {
    const rheos_output args[] = {plain, inputs[2]};
    plain = rheos_operation_output(add(f, "BiasAdd", args, 2, &attrs[2], 1), 0);
  }
  plain = activated(f, activation, plain);
  const rheos_output fused = add_fused(f, "_FusedConv2D", inputs, norm ? 6 : 3, attrs, 8);
  char what[128];
  snprintf(what, sizeof what, "%s %d images of %d by %d, %d to %d channels, %s %s", format,
           (int)batch, (int)size, (int)window, (int)in, (int)out, norm ? "norm" : "bias",
           activation);
  expect_same_bits(f, plain, fused, what);
}

static void test_fused_conv__gives_the_bits_of_its_ops(void **state) {
  fixture *f = *state;
  for (int k = 0; k < NUM_ACTIVATIONS; k++) {
    check_conv(f, "NHWC", 3, 5, 3, 3, 7, k % 2 == 0, activations[k]);
  }
  static const char *const formats[] = {"NHWC", "NCHW"};
  for (int i = 0; i < 4; i++) {
    check_conv(f, formats[i % 2], 17, 7, 3, 5, 17, i < 2, "Relu");
    check_conv(f, formats[i % 2], 1, 1, 3, 1, 1, i < 2, "LeakyRelu");
    check_conv(f, formats[i % 2], 2, 9, 3, 16, 32, i < 2, "");
    check_conv(f, formats[i % 2], 0, 3, 3, 2, 2, i < 2, "Relu");
    check_conv(f, formats[i % 2], 2, 3, 3, 2, 130, i < 2, "Elu");
    check_conv(f, formats[i % 2], 1, 7, 3, 100, 70, i < 2, "Relu6");
    check_conv(f, formats[i % 2], 1, 2, 3, 300, 200, i < 2, "LeakyRelu");
    check_conv(f, formats[i % 2], 3, 11, 1, 70, 300, i < 2, "Tanh");
    check_conv(f, formats[i % 2], 1, 13, 1, 1100, 20, i < 2, "Relu");
  }
}

// ---- Refusals

static rheos_status *run_fused(fixture *f, const char *const *names, int32_t count,
                               const rheos_output *args, size_t num_args) {
  rheos_string ops[4];
  for (int32_t i = 0; i < count; i++) {
    ops[i] = (rheos_string){(char *)(uintptr_t)names[i], strlen(names[i])};
  }
  const rheos_attr attr = {"fused_ops",
                           {.kind = RHEOS_ATTR_LIST_STRING, .count = count, .strings = ops}};
  rheos_output inputs[8] = {waves(f, 2, RHEOS_SHAPE(2, 3), 1), waves(f, 2, RHEOS_SHAPE(3, 4), 1)};
  for (size_t i = 0; i < num_args; i++) inputs[2 + i] = args[i];
  rheos_tensor *value = NULL;
  const rheos_output fused = add_fused(f, "_FusedMatMul", inputs, 2 + num_args, &attr, 1);
  rheos_status *status = run_output(f, rheos_output_operation(fused), 0, NULL, &value);
  rheos_tensor_unref(value);
  return status;
}
#define OPS(...)                      \
  (const char *const[]){__VA_ARGS__}, \
      (int32_t)(sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

static void test_fused_matmul__refuses_what_does_not_fit(void **state) {
  fixture *f = *state;
  const rheos_output bias = waves(f, 2, RHEOS_SHAPE(4), 1),
                     side = waves(f, 2, RHEOS_SHAPE(2, 4), 1);
  const rheos_output three = waves(f, 2, RHEOS_SHAPE(3), 1),
                     row = waves(f, 2, RHEOS_SHAPE(1, 4), 1);
  check(run_fused(f, OPS("BiasAdd", "Add", "Relu"), (const rheos_output[]){bias, side}, 2));
  check(run_fused(f, OPS("Relu"), NULL, 0));
  check(run_fused(f, NULL, 0, NULL, 0));
  expect_error(run_fused(f, OPS("BiasAdd"), &three, 1), RHEOS_INVALID_ARGUMENT, "vector of 4");
  expect_error(run_fused(f, OPS("BiasAdd"), &row, 1), RHEOS_INVALID_ARGUMENT, "vector of 4");
  expect_error(run_fused(f, OPS("BiasAdd"), NULL, 0), RHEOS_INVALID_ARGUMENT, "take 1 arg");
  expect_error(run_fused(f, NULL, 0, &bias, 1), RHEOS_INVALID_ARGUMENT, "take 0");
  expect_error(run_fused(f, OPS("FusedBatchNorm"), &bias, 1), RHEOS_INVALID_ARGUMENT, "take 4");
  expect_error(run_fused(f, OPS("BiasAdd", "Add"), (const rheos_output[]){bias, row}, 2),
               RHEOS_INVALID_ARGUMENT, "the output's shape");
  expect_error(run_fused(f, OPS("Relu", "BiasAdd"), &bias, 1), RHEOS_UNIMPLEMENTED,
               "[Relu,BiasAdd]");
  expect_error(run_fused(f, OPS("BiasAdd", "Relu", "Relu"), &bias, 1), RHEOS_UNIMPLEMENTED,
               "[BiasAdd,Relu,Relu]");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_fused_matmul__gives_the_bits_of_its_ops, set_up,
                                      tear_down),
      cmocka_unit_test_setup_teardown(test_fused_conv__gives_the_bits_of_its_ops, set_up,
                                      tear_down),
      cmocka_unit_test_setup_teardown(test_fused_matmul__refuses_what_does_not_fit, set_up,
                                      tear_down),
  };
  return cmocka_run_group_tests_name("fused", tests, NULL, NULL);
}
