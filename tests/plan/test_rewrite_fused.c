// Products and convolutions with what follows them, before and after.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "plan/plan_text.h"

typedef struct fixture {
  rheos_graph *graph;
  rheos_scope *s;
  rheos_output x, w, b;        // floats, [?, 6], [6, 5], [5]
  rheos_output image, filter;  // [?, 5, 5, 2], [3, 3, 2, 4]
  rheos_output shift;          // [4]
  rheos_output feeds[6];
} fixture;

static rheos_output feed(rheos_scope *s, rheos_shape shape, const char *name) {
  return rheos_placeholder(s, RHEOS_FLOAT, .shape = &shape, .name = name);
}

static int set_up(void **state) {
  fixture *f = malloc(sizeof *f);
  f->graph = rheos_graph_new();
  rheos_scope *s = f->s = rheos_scope_new(f->graph);
  f->feeds[0] = f->x = feed(s, RHEOS_SHAPE(-1, 6), "x");
  f->feeds[1] = f->w = feed(s, RHEOS_SHAPE(6, 5), "w");
  f->feeds[2] = f->b = feed(s, RHEOS_SHAPE(5), "b");
  f->feeds[3] = f->image = feed(s, RHEOS_SHAPE(-1, 5, 5, 2), "image");
  f->feeds[4] = f->filter = feed(s, RHEOS_SHAPE(3, 3, 2, 4), "filter");
  f->feeds[5] = f->shift = feed(s, RHEOS_SHAPE(4), "shift");
  *state = f;
  return 0;
}

static int tear_down(void **state) {
  fixture *f = *state;
  rheos_scope_free(f->s);
  rheos_graph_unref(f->graph);
  free(f);
  return 0;
}

static void check_one(fixture *f, rheos_output y, const char *expected) {
  check_plan(f->s, NULL, f->feeds, 6, &y, 1, expected);
}

static rheos_output layer(fixture *f) {
  return rheos_bias_add(f->s, rheos_matmul(f->s, f->x, f->w, .name = "product"), f->b,
                        .name = "layer");
}

static rheos_output conv(fixture *f) {
  static const int64_t strides[] = {1, 1, 1, 1};
  return rheos_conv2d(f->s, f->image, f->filter, .strides = strides, .num_strides = 4,
                      .padding = "SAME", .name = "conv");
}

// ---- Matrix products

static void test_rewrite_fused__a_bias(void **state) {
  fixture *f = *state;
  check_one(f, layer(f), "layer = _FusedMatMul(x, w, b; BiasAdd)\n");
}

static void test_rewrite_fused__a_sum_with_a_vector_is_a_bias(void **state) {
  fixture *f = *state;
  rheos_output y = rheos_add(f->s, rheos_matmul(f->s, f->x, f->w, .name = "product"), f->b);
  check_one(f, y, "Add = _FusedMatMul(x, w, b; BiasAdd)\n");
  y = rheos_add_v2(f->s, f->b, rheos_matmul(f->s, f->x, f->w, .name = "other"));
  check_one(f, y, "AddV2 = _FusedMatMul(x, w, b; BiasAdd)\n");
}

static void test_rewrite_fused__activations(void **state) {
  fixture *f = *state;
  check_one(f, rheos_relu(f->s, layer(f)), "Relu = _FusedMatMul(x, w, b; BiasAdd+Relu)\n");
  check_one(f, rheos_relu6(f->s, layer(f)), "Relu6 = _FusedMatMul(x, w, b; BiasAdd+Relu6)\n");
  check_one(f, rheos_elu(f->s, layer(f)), "Elu = _FusedMatMul(x, w, b; BiasAdd+Elu)\n");
  check_one(f, rheos_tanh(f->s, layer(f)), "Tanh = _FusedMatMul(x, w, b; BiasAdd+Tanh)\n");
  check_one(f, rheos_sigmoid(f->s, layer(f)), "Sigmoid = _FusedMatMul(x, w, b; BiasAdd+Sigmoid)\n");
  check_one(f, rheos_leaky_relu(f->s, layer(f), .alpha = rheos_float(0.3F)),
            "LeakyRelu = _FusedMatMul(x, w, b; BiasAdd+LeakyRelu)\n");
  check_one(f, rheos_relu(f->s, rheos_matmul(f->s, f->x, f->w, .name = "bare")),
            "Relu_1 = _FusedMatMul(x, w; Relu)\n");
}

static void test_rewrite_fused__gelu(void **state) {
  fixture *f = *state;
  rheos_scope *s = f->s;
  rheos_output x = layer(f), one = rheos_constant_float(s, 1, NULL),
               half = rheos_constant_float(s, 0.5F, NULL);
  rheos_output e =
      rheos_erf(s, rheos_realdiv(s, x, rheos_constant_float(s, 1.4142135623730951F, NULL)));
  rheos_output y = rheos_mul(s, rheos_mul(s, half, x), rheos_add_v2(s, one, e));
  check_one(f, y, "Mul_1 = _FusedMatMul(x, w, b; BiasAdd+GeluExact)\n");
  x = layer(f);
  rheos_output cube = rheos_mul(s, rheos_constant_float(s, 0.044715F, NULL),
                                rheos_pow(s, x, rheos_constant_float(s, 3, NULL)));
  rheos_output t =
      rheos_mul(s, rheos_constant_float(s, 0.7978845608028654F, NULL), rheos_add_v2(s, x, cube));
  y = rheos_mul(s, rheos_mul(s, half, x), rheos_add_v2(s, one, rheos_tanh(s, t)));
  check_one(f, y, "Mul_5 = _FusedMatMul(x, w, b; BiasAdd+GeluApproximate)\n");
}

// Products that the kernels cut by columns, or by rows and columns, and finish piece by piece.
static void test_rewrite_fused__large_products_in_pieces(void **state) {
  fixture *f = *state;
  static const int64_t sizes[][4] = {{32, 600, 512, 0}, {130, 300, 330, 0}, {70, 520, 300, 1}};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
    const int64_t rows = sizes[i][0], depth = sizes[i][1], columns = sizes[i][2];
    const bool turned = sizes[i][3] != 0;
    rheos_output feeds[3] = {
        feed(f->s, RHEOS_SHAPE(rows, depth), NULL),
        feed(f->s, turned ? RHEOS_SHAPE(columns, depth) : RHEOS_SHAPE(depth, columns), NULL),
        feed(f->s, RHEOS_SHAPE(columns), NULL)};
    rheos_output y = rheos_matmul(f->s, feeds[0], feeds[1], .transpose_b = turned);
    y = rheos_tanh(f->s, rheos_bias_add(f->s, y, feeds[2]));
    check_plan(f->s, NULL, feeds, 3, &y, 1, NULL);
  }
}

static void test_rewrite_fused__transposes_and_identities_in_between(void **state) {
  fixture *f = *state;
  rheos_output w = feed(f->s, RHEOS_SHAPE(5, 6), "v");
  rheos_output feeds[] = {f->x, w, f->b};
  rheos_output product = rheos_matmul(f->s, f->x, w, .transpose_b = true, .name = "product");
  rheos_output y = rheos_bias_add(f->s, rheos_identity(f->s, product), f->b);
  y = rheos_relu(f->s, rheos_stop_gradient(f->s, y));
  check_plan(f->s, NULL, feeds, 3, &y, 1,
             "Relu = _FusedMatMul(x, v, b; BiasAdd+Relu; transpose_b)\n");
}

// As tf.layers.dense does with three dimensions.
static void test_rewrite_fused__before_a_reshape(void **state) {
  fixture *f = *state;
  rheos_output x = feed(f->s, RHEOS_SHAPE(-1, 2, 6), "deep");
  rheos_output flat =
      rheos_reshape(f->s, x, int_vector(f->s, 2, (int32_t[]){-1, 6}), .name = "flat");
  rheos_output y = rheos_matmul(f->s, flat, f->w, .name = "product");
  y = rheos_reshape(f->s, y, int_vector(f->s, 3, (int32_t[]){-1, 2, 5}), .name = "back");
  rheos_output biased = rheos_bias_add(f->s, y, f->b), feeds[] = {x, f->w, f->b};
  y = rheos_relu(f->s, biased);
  check_plan(f->s, NULL, feeds, 3, &y, 1,
             "flat = Reshape(deep, Const)\n"
             "product = _FusedMatMul(flat, w, b; BiasAdd+Relu)\n"
             "Relu = Reshape(product, Const_1)\n");
  rheos_output fetches[] = {y, biased};
  check_plan(f->s, NULL, feeds, 3, fetches, 2,
             "flat = Reshape(deep, Const)\n"
             "product = _FusedMatMul(flat, w, b; BiasAdd)\n"
             "BiasAdd = Reshape(product, Const_1)\n"
             "Relu = Relu(BiasAdd)\n");
}

static void test_rewrite_fused__weights_in_variables(void **state) {
  fixture *f = *state;
  rheos_output w = rheos_get_variable(f->s, "weights", RHEOS_FLOAT, RHEOS_SHAPE(6, 5),
                                      rheos_constant_initializer(0.25));
  rheos_output b = rheos_get_variable(f->s, "biases", RHEOS_FLOAT, RHEOS_SHAPE(5),
                                      rheos_constant_initializer(0.5));
  rheos_output y = rheos_bias_add(f->s, rheos_matmul(f->s, f->x, w, .name = "product"), b);
  y = rheos_relu(f->s, y);
  check_plan_of(f->s, f->x, y,
                "weights = VariableV2()\nweights/_read_1 = Identity(weights)\n"
                "biases = VariableV2()\nbiases/_read_3 = Identity(biases)\n"
                "Relu = _FusedMatMul(x, weights/_read_1, biases/_read_3; BiasAdd+Relu)\n");
}

// ---- What stays apart

static void test_rewrite_fused__what_others_need_stays(void **state) {
  fixture *f = *state;
  rheos_output before = layer(f), y = rheos_relu(f->s, before, .name = "y");
  rheos_output fetches[] = {y, before};
  check_plan(f->s, NULL, f->feeds, 6, fetches, 2,
             "layer = _FusedMatMul(x, w, b; BiasAdd)\n"
             "y = Relu(layer)\n");
  rheos_output z = rheos_mul(f->s, before, y, .name = "z");
  check_one(f, z, "layer = _FusedMatMul(x, w, b; BiasAdd)\ny = Relu(layer)\nz = Mul(layer, y)\n");
}

static void test_rewrite_fused__a_fed_value_is_no_product(void **state) {
  fixture *f = *state;
  rheos_output product = feed(f->s, RHEOS_SHAPE(3, 5), "hidden");
  rheos_output in_between = rheos_identity(f->s, rheos_matmul(f->s, f->x, f->w), .name = "fed");
  rheos_output y =
      rheos_bias_add(f->s, rheos_add(f->s, in_between, product, .name = "sum"), f->b, .name = "y");
  rheos_output feeds[] = {in_between, product, f->b};
  check_plan(f->s, NULL, feeds, 3, &y, 1, "sum = Add(fed, hidden)\ny = BiasAdd(sum, b)\n");
}

static void test_rewrite_fused__a_bias_that_may_not_fit_stays(void **state) {
  fixture *f = *state;
  rheos_output any = rheos_placeholder(f->s, RHEOS_FLOAT, .shape = &RHEOS_SHAPE(-1), .name = "any");
  rheos_output y =
      rheos_bias_add(f->s, rheos_matmul(f->s, f->x, f->w, .name = "product"), any, .name = "y");
  char *text = plan_text(f->graph, NULL, (rheos_output[]){f->x, f->w, any}, 3, &y, 1);
  assert_string_equal(text, "product = MatMul(x, w)\ny = BiasAdd(product, any)\n");
  free(text);
}

static void test_rewrite_fused__the_option_turns_it_off(void **state) {
  fixture *f = *state;
  rheos_rewrite_options off = {.remapping = RHEOS_TOGGLE_OFF};
  rheos_output y = layer(f);
  check_plan(f->s, &off, f->feeds, 6, &y, 1,
             "product = MatMul(x, w)\nlayer = BiasAdd(product, b)\n");
}

static void test_rewrite_fused__training_keeps_what_gradients_read(void **state) {
  fixture *f = *state;
  rheos_output y = rheos_relu(f->s, layer(f));
  rheos_gradient gradient;
  rheos_gradients(f->s, &y, 1, &f->w, 1, NULL, &gradient);
  char *text = plan_text(f->graph, NULL, f->feeds, 6, &gradient.values, 1);
  assert_non_null(strstr(text, "Relu = _FusedMatMul(x, w, b; BiasAdd+Relu)\n"));
  free(text);
  check_one(f, gradient.values, NULL);
}

// ---- Convolutions

static void test_rewrite_fused__convolutions(void **state) {
  fixture *f = *state;
  rheos_output y = rheos_bias_add(f->s, conv(f), f->shift);
  check_one(f, y, "BiasAdd = _FusedConv2D(image, filter, shift; BiasAdd)\n");
  y = rheos_relu(f->s, rheos_add(f->s, conv(f), f->shift));
  check_one(f, y, "Relu = _FusedConv2D(image, filter, shift; BiasAdd+Relu)\n");
  check_one(f, rheos_relu(f->s, conv(f), .name = "y"),
            "conv_2 = Conv2D(image, filter)\ny = Relu(conv_2)\n");
}

static void test_rewrite_fused__normalization_by_given_statistics(void **state) {
  fixture *f = *state;
  rheos_output mean = feed(f->s, RHEOS_SHAPE(4), "mean");
  rheos_output variance = rheos_abs(f->s, mean, .name = "variance");
  rheos_fused_batch_norm_v3_outputs norm =
      rheos_fused_batch_norm_v3(f->s, conv(f), f->shift, f->shift, mean, variance,
                                .not_is_training = true, .epsilon = rheos_float(0.01F));
  rheos_output y = rheos_relu(f->s, norm.y);
  rheos_output feeds[] = {f->image, f->filter, f->shift, mean};
  check_plan(
      f->s, NULL, feeds, 4, &y, 1,
      "variance = Abs(mean)\n"
      "Relu = _FusedConv2D(image, filter, shift, shift, mean, variance; FusedBatchNorm+Relu)\n");
}

static void test_rewrite_fused__a_tensor_beside(void **state) {
  fixture *f = *state;
  rheos_output x = feed(f->s, RHEOS_SHAPE(3, 6), "known"),
               side = feed(f->s, RHEOS_SHAPE(3, 5), "side");
  rheos_output y = rheos_bias_add(f->s, rheos_matmul(f->s, x, f->w, .name = "product"), f->b);
  y = rheos_relu(f->s, rheos_add_v2(f->s, side, y));
  rheos_output feeds[] = {x, f->w, f->b, side};
  check_plan(f->s, NULL, feeds, 4, &y, 1,
             "Relu = _FusedMatMul(known, w, b, side; BiasAdd+Add+Relu)\n");
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
  const struct CMUnitTest tests[] = {
      TEST(test_rewrite_fused__a_bias),
      TEST(test_rewrite_fused__a_sum_with_a_vector_is_a_bias),
      TEST(test_rewrite_fused__activations),
      TEST(test_rewrite_fused__gelu),
      TEST(test_rewrite_fused__large_products_in_pieces),
      TEST(test_rewrite_fused__transposes_and_identities_in_between),
      TEST(test_rewrite_fused__before_a_reshape),
      TEST(test_rewrite_fused__weights_in_variables),
      TEST(test_rewrite_fused__what_others_need_stays),
      TEST(test_rewrite_fused__a_fed_value_is_no_product),
      TEST(test_rewrite_fused__a_bias_that_may_not_fit_stays),
      TEST(test_rewrite_fused__the_option_turns_it_off),
      TEST(test_rewrite_fused__training_keeps_what_gradients_read),
      TEST(test_rewrite_fused__convolutions),
      TEST(test_rewrite_fused__normalization_by_given_statistics),
      TEST(test_rewrite_fused__a_tensor_beside),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
