// The graphs that gradients, optimizers and savers build are TensorFlow 1.15.5's, node for node.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <rheos/rheos.h>
#include <stdio.h>
#include <string.h>

#include "train/graph_text.h"

typedef struct fixture {
  rheos_graph *graph;
  rheos_scope *s;
} fixture;

static fixture begin(void) {
  fixture f = {.graph = rheos_graph_new()};
  f.s = rheos_scope_new(f.graph);
  assert_non_null(f.s);
  return f;
}

static void end(fixture *f, const char *name) {
  rheos_status *status = rheos_scope_finish(f->s);
  if (status != NULL) fprintf(stderr, "%s: %s\n", name, rheos_status_message(status));
  assert_null(status);
  assert_int_equal(graph_text_differences(f->graph, name), 0);
  rheos_scope_free(f->s);
  rheos_graph_unref(f->graph);
}

static rheos_output op(rheos_scope *s, const char *type, const char *name,
                       const rheos_output *inputs, size_t num_inputs) {
  rheos_op_args args = {.type = type, .name = name, .inputs = inputs, .num_inputs = num_inputs};
  return rheos_operation_output(rheos_op(s, &args), 0);
}
#define OP(s, type, name, ...)                           \
  op((s), (type), (name), (rheos_output[]){__VA_ARGS__}, \
     sizeof((rheos_output[]){__VA_ARGS__}) / sizeof(rheos_output))

static rheos_output placeholder(rheos_scope *s, rheos_dtype dtype, rheos_shape shape,
                                const char *name) {
  rheos_attr attrs[] = {rheos_attr_type("dtype", dtype), rheos_attr_shape("shape", &shape)};
  rheos_op_args args = {.type = "Placeholder", .name = name, .attrs = attrs, .num_attrs = 2};
  return rheos_operation_output(rheos_op(s, &args), 0);
}

static rheos_output int_vector(rheos_scope *s, int32_t count, const int32_t *values,
                               const char *name) {
  rheos_tensor *tensor = NULL;
  rheos_status *status = rheos_tensor_from_values(RHEOS_INT32, RHEOS_SHAPE(count), values, &tensor);
  assert_null(status);
  rheos_output constant = rheos_constant(s, tensor, name);
  rheos_tensor_unref(tensor);
  return constant;
}

// tf.reduce_*(x, axis=[0, 1, ...], name=name)
static rheos_output reduce(rheos_scope *s, const char *type, const char *name, rheos_output x,
                           int32_t rank) {
  const int32_t axes[] = {0, 1, 2, 3};
  char axes_name[64];
  snprintf(axes_name, sizeof(axes_name), "%s/reduction_indices", name);
  rheos_output indices = int_vector(s, rank, axes, axes_name);
  return OP(s, type, name, x, indices);
}

static rheos_output gather(rheos_scope *s, const char *name, rheos_output x, rheos_output ids) {
  char axis_name[64];
  snprintf(axis_name, sizeof(axis_name), "%s/axis", name);
  rheos_output axis = rheos_constant_int(s, 0, axis_name);
  return OP(s, "GatherV2", name, x, ids, axis);
}

static void test_linear_regression(void **state) {
  (void)state;
  fixture f = begin();
  rheos_scope *s = f.s;
  rheos_initializer zero = rheos_constant_initializer(0);
  rheos_output m = rheos_get_variable(s, "m", RHEOS_FLOAT, RHEOS_SCALAR, zero);
  rheos_output b = rheos_get_variable(s, "b", RHEOS_FLOAT, RHEOS_SCALAR, zero);
  rheos_global_variables_initializer(s);
  rheos_output x = placeholder(s, RHEOS_FLOAT, RHEOS_UNKNOWN_SHAPE, NULL);
  rheos_output y = placeholder(s, RHEOS_FLOAT, RHEOS_UNKNOWN_SHAPE, NULL);
  rheos_output guess = OP(s, "AddV2", "add", OP(s, "Mul", "mul", m, x), b);
  rheos_output loss = OP(s, "Square", NULL, OP(s, "Sub", "sub", y, guess));
  rheos_minimize(s, rheos_gradient_descent(1e-3), loss);
  end(&f, "linear_regression");
}

static void test_perceptron(void **state) {
  (void)state;
  fixture f = begin();
  rheos_scope *s = f.s;
  rheos_graph_set_seed(f.graph, true, 7);
  rheos_output x = placeholder(s, RHEOS_FLOAT, RHEOS_SHAPE(-1, 4), "x");
  rheos_output y = placeholder(s, RHEOS_FLOAT, RHEOS_SHAPE(-1, 3), "y");
  rheos_output w1 = rheos_get_variable(s, "w1", RHEOS_FLOAT, RHEOS_SHAPE(4, 5),
                                       (rheos_initializer){.kind = RHEOS_INIT_DEFAULT});
  rheos_output b1 = rheos_get_variable(s, "b1", RHEOS_FLOAT, RHEOS_SHAPE(5), rheos_zeros());
  rheos_output w2 = rheos_get_variable(s, "w2", RHEOS_FLOAT, RHEOS_SHAPE(5, 3),
                                       rheos_truncated_normal_initializer(0, 0.1));
  rheos_output b2 = rheos_get_variable(s, "b2", RHEOS_FLOAT, RHEOS_SHAPE(3), rheos_ones());
  rheos_variable step =
      rheos_get_variable_record(s, "step", RHEOS_INT64, RHEOS_SCALAR, rheos_zeros(), false);
  rheos_output first = OP(s, "AddV2", "add", OP(s, "MatMul", NULL, x, w1), b1);
  rheos_output hidden = OP(s, "Relu", NULL, first);
  rheos_output logits = OP(s, "AddV2", "add", OP(s, "MatMul", NULL, hidden, w2), b2);
  rheos_output each = OP(s, "SoftmaxCrossEntropyWithLogits", "xent", logits, y);
  rheos_output loss = reduce(s, "Mean", "loss", each, 1);
  rheos_minimize_with(s, rheos_adam(0.01), loss, &(rheos_minimize_options){.global_step = &step});
  rheos_minimize(s, rheos_momentum(0.01, 0.9), loss);
  rheos_minimize(s, rheos_adagrad(0.01), loss);
  rheos_saver_new(s, NULL, NULL, 0, NULL);
  end(&f, "perceptron");
}

static void test_embedding(void **state) {
  (void)state;
  fixture f = begin();
  rheos_scope *s = f.s;
  rheos_initializer normal = rheos_random_normal_initializer(0, 1);
  normal.has_seed = true;
  normal.seed = 3;
  rheos_output table = rheos_get_variable(s, "table", RHEOS_FLOAT, RHEOS_SHAPE(10, 4), normal);
  rheos_output ids = placeholder(s, RHEOS_INT32, RHEOS_SHAPE(2, 3), "ids");
  rheos_output first = gather(s, "first", table, ids);
  rheos_output second = gather(s, "second", table, ids);
  rheos_output loss = reduce(s, "Sum", "loss", OP(s, "Mul", "mul", first, second), 3);
  rheos_optimizer nesterov = rheos_momentum(0.1, 0.9);
  nesterov.use_nesterov = true;
  rheos_minimize(s, rheos_gradient_descent(0.1), loss);
  rheos_minimize(s, nesterov, loss);
  rheos_minimize(s, rheos_adagrad(0.1), loss);
  rheos_minimize(s, rheos_adam(0.1), loss);
  end(&f, "embedding");
}

static void test_dense_and_sparse(void **state) {
  (void)state;
  fixture f = begin();
  rheos_scope *s = f.s;
  rheos_output table = rheos_get_variable(s, "table", RHEOS_DOUBLE, RHEOS_SHAPE(10, 4),
                                          (rheos_initializer){.kind = RHEOS_INIT_DEFAULT});
  rheos_output ids = placeholder(s, RHEOS_INT64, RHEOS_SHAPE(2), "ids");
  rheos_output rows = reduce(s, "Sum", "rows_sum", gather(s, "rows", table, ids), 2);
  rheos_output whole = reduce(s, "Sum", "whole_sum", OP(s, "Square", NULL, table), 2);
  rheos_output loss = OP(s, "AddV2", "add", rows, whole);
  rheos_minimize(s, rheos_adam(0.1), loss);
  rheos_minimize(s, rheos_adagrad(0.1), loss);
  end(&f, "dense_and_sparse");
}

// The loss of two variables, one read by rows, in all optimizers.
static void add_all_kinds(rheos_scope *s, rheos_variable table, rheos_variable bias,
                          rheos_variable step) {
  rheos_output ids = placeholder(s, RHEOS_INT32, RHEOS_SHAPE(2), "ids");
  rheos_output rows;
  if (rheos_variable_is_resource(table)) {
    rheos_output inputs[] = {table.handle, ids};
    rheos_attr dtype = rheos_attr_type("dtype", rheos_variable_dtype(table));
    rheos_op_args args = {.type = "ResourceGather",
                          .name = "rows",
                          .inputs = inputs,
                          .num_inputs = 2,
                          .attrs = &dtype,
                          .num_attrs = 1};
    rows = OP(s, "Identity", NULL, rheos_operation_output(rheos_op(s, &args), 0));
  } else {
    rows = gather(s, "rows", table.value, ids);
  }
  rheos_push_name_scope(s, "mul");
  rheos_output factor = rheos_variable_read(s, bias);
  rheos_scope_pop(s);
  rheos_output loss = reduce(s, "Sum", "loss", OP(s, "Mul", "mul/", rows, factor), 2);
  rheos_optimizer centered = rheos_rmsprop(0.1), shrinking = rheos_ftrl(0.1);
  centered.centered = true;
  shrinking.l2_shrinkage_regularization_strength = 0.5;
  const rheos_optimizer kinds[] = {rheos_gradient_descent(0.1),
                                   rheos_momentum(0.1, 0.9),
                                   rheos_adagrad(0.1),
                                   rheos_adam(0.1),
                                   rheos_rmsprop(0.1),
                                   centered,
                                   rheos_adadelta(0.1),
                                   rheos_ftrl(0.1),
                                   shrinking,
                                   rheos_proximal_gradient_descent(0.1),
                                   rheos_proximal_adagrad(0.1),
                                   rheos_adagrad_da(0.1, step)};
  for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
    rheos_optimizer kind = kinds[i];
    bool casts = kind.kind == RHEOS_OPTIMIZER_ADAM || kind.kind == RHEOS_OPTIMIZER_ADAGRAD_DA;
    if (rheos_variable_dtype(table) == RHEOS_DOUBLE && !casts) continue;
    kind.identity = (int64_t)i;
    rheos_minimize_with(s, kind, loss, &(rheos_minimize_options){.global_step = &step});
  }
}

static rheos_variable step_variable(rheos_scope *s) {
  return rheos_get_variable_record(s, "step", RHEOS_INT64, RHEOS_SCALAR, rheos_zeros(), false);
}

static void test_reference_kinds(void **state) {
  (void)state;
  fixture f = begin();
  rheos_variable table =
      rheos_get_variable_record(f.s, "table", RHEOS_FLOAT, RHEOS_SHAPE(10, 4),
                                (rheos_initializer){.kind = RHEOS_INIT_DEFAULT}, true);
  rheos_variable bias =
      rheos_get_variable_record(f.s, "bias", RHEOS_FLOAT, RHEOS_SHAPE(4), rheos_zeros(), true);
  add_all_kinds(f.s, table, bias, step_variable(f.s));
  end(&f, "reference_kinds");
}

static void resource_kinds(rheos_scope *s, rheos_dtype dtype, rheos_variable *variables) {
  rheos_graph_use_resource_variables(rheos_scope_graph(s), true);
  variables[0] =
      rheos_get_variable_record(s, "table", dtype, RHEOS_SHAPE(10, 4), rheos_ones(), true);
  variables[1] = rheos_get_variable_record(s, "bias", dtype, RHEOS_SHAPE(4), rheos_zeros(), true);
  add_all_kinds(s, variables[0], variables[1], step_variable(s));
}

static void test_resource_kinds(void **state) {
  (void)state;
  fixture f = begin();
  rheos_variable variables[2];
  resource_kinds(f.s, RHEOS_FLOAT, variables);
  rheos_global_variables_initializer(f.s);
  rheos_saver_new(f.s, variables, NULL, 2, NULL);
  end(&f, "resource_kinds");
}

static void test_resource_doubles(void **state) {
  (void)state;
  fixture f = begin();
  rheos_variable variables[2];
  resource_kinds(f.s, RHEOS_DOUBLE, variables);
  end(&f, "resource_doubles");
}

static void test_second_order(void **state) {
  (void)state;
  fixture f = begin();
  rheos_scope *s = f.s;
  rheos_output x = placeholder(s, RHEOS_FLOAT, RHEOS_SCALAR, "x");
  rheos_output square = OP(s, "Mul", "mul", x, x);
  rheos_output product = OP(s, "Mul", "mul", OP(s, "Sin", NULL, x), x);
  rheos_output sum = OP(s, "AddV2", "add", square, product);
  rheos_output z = OP(s, "AddV2", "add", sum, OP(s, "Exp", NULL, x));
  rheos_gradient first, again;
  rheos_gradients(s, &z, 1, &x, 1, NULL, &first);
  rheos_gradients(s, &first.values, 1, &x, 1,
                  &(rheos_gradients_options){
                      .name = "again", .gate_gradients = true, .colocate_gradients_with_ops = true},
                  &again);
  end(&f, "second_order");
}

static void test_unused_outputs(void **state) {
  (void)state;
  fixture f = begin();
  rheos_scope *s = f.s;
  rheos_output x = placeholder(s, RHEOS_FLOAT, RHEOS_SHAPE(3), "x");
  rheos_constant_int(s, 3, "Const");
  rheos_output dim = rheos_constant_int(s, 0, "split/split_dim");
  rheos_attr parts = rheos_attr_int("num_split", 3);
  rheos_operation split = rheos_op(s, &(rheos_op_args){.type = "Split",
                                                       .name = "split",
                                                       .inputs = (rheos_output[]){dim, x},
                                                       .num_inputs = 2,
                                                       .attrs = &parts,
                                                       .num_attrs = 1});
  rheos_output a = rheos_operation_output(split, 0), b = rheos_operation_output(split, 1);
  rheos_output c = rheos_operation_output(split, 2);
  rheos_tensor *one = NULL;
  assert_null(rheos_tensor_from_values(RHEOS_FLOAT, RHEOS_SHAPE(1), &(float){1}, &one));
  rheos_output given[] = {rheos_constant(s, one, "given"), {NULL, 0, 0}};
  rheos_tensor_unref(one);
  rheos_gradient gradients[2];
  rheos_gradients(s, (rheos_output[]){a, c}, 2, &x, 1, &(rheos_gradients_options){.grad_ys = given},
                  gradients);
  rheos_output product = OP(s, "Mul", "mul", a, b);
  rheos_gradients(s, &product, 1, (rheos_output[]){x, b}, 2,
                  &(rheos_gradients_options){.stop_gradients = &b, .num_stop_gradients = 1},
                  gradients);
  assert_null(gradients[0].values.graph);
  assert_non_null(gradients[1].values.graph);
  end(&f, "unused_outputs");
}

static void test_scopes_and_devices(void **state) {
  (void)state;
  fixture f = begin();
  rheos_scope *s = f.s;
  rheos_operation outside = rheos_op(s, &(rheos_op_args){.type = "NoOp", .name = "outside"});
  rheos_push_device(s, "/cpu:0");
  rheos_output a = rheos_get_variable(s, "a", RHEOS_FLOAT, RHEOS_SHAPE(2), rheos_zeros());
  rheos_scope_pop(s);
  rheos_push_device(s, "/cpu:1");
  rheos_output b = rheos_get_variable(s, "b", RHEOS_FLOAT, RHEOS_SHAPE(2), rheos_zeros());
  rheos_scope_pop(s);
  rheos_push_control_dependencies(s, &outside, 1);
  rheos_push_name_scope(s, "names");
  rheos_push_variable_scope(s, "vars", RHEOS_REUSE_INHERIT);
  rheos_output c = rheos_get_variable(s, "c", RHEOS_FLOAT, RHEOS_SHAPE(2), rheos_zeros());
  rheos_output product = OP(s, "Mul", "mul", OP(s, "Mul", "mul", a, b), c);
  rheos_output loss = reduce(s, "Sum", "loss", product, 1);
  rheos_optimizer adam = rheos_adam(0.1);
  rheos_minimize(s, adam, loss);
  adam.identity = 1;
  rheos_minimize(s, adam, loss);
  rheos_scope_pop(s);
  rheos_scope_pop(s);
  rheos_scope_pop(s);
  rheos_global_variables_initializer(s);
  end(&f, "scopes_and_devices");
}

static void test_large_initializers(void **state) {
  (void)state;
  fixture f = begin();
  rheos_scope *s = f.s;
  rheos_initializer normal = rheos_random_normal_initializer(1, 2), standard = {.kind = 0};
  normal.has_seed = true;
  normal.seed = 5;
  rheos_graph_set_seed(f.graph, true, 11);
  rheos_get_variable(s, "zeros", RHEOS_DOUBLE, RHEOS_SHAPE(40, 40), rheos_zeros());
  rheos_get_variable(s, "ones", RHEOS_FLOAT, RHEOS_SHAPE(1000), rheos_ones());
  rheos_get_variable(s, "small", RHEOS_INT32, RHEOS_SHAPE(999), rheos_zeros());
  rheos_get_variable(s, "constant", RHEOS_INT32, RHEOS_SHAPE(2, 2), rheos_constant_initializer(3));
  rheos_get_variable(s, "uniform", RHEOS_DOUBLE, RHEOS_SHAPE(3),
                     rheos_random_uniform_initializer(-1, 2));
  rheos_get_variable(s, "normal", RHEOS_FLOAT, RHEOS_SHAPE(3), normal);
  rheos_get_variable(s, "glorot_normal", RHEOS_FLOAT, RHEOS_SHAPE(3, 4),
                     rheos_glorot_normal_initializer());
  rheos_get_variable(s, "glorot_uniform", RHEOS_FLOAT, RHEOS_SHAPE(3, 4, 5), standard);
  rheos_get_variable(s, "flag", RHEOS_BOOL, RHEOS_SHAPE(2), standard);
  end(&f, "large_initializers");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_linear_regression),  cmocka_unit_test(test_perceptron),
      cmocka_unit_test(test_embedding),          cmocka_unit_test(test_dense_and_sparse),
      cmocka_unit_test(test_reference_kinds),    cmocka_unit_test(test_resource_kinds),
      cmocka_unit_test(test_resource_doubles),   cmocka_unit_test(test_second_order),
      cmocka_unit_test(test_unused_outputs),     cmocka_unit_test(test_scopes_and_devices),
      cmocka_unit_test(test_large_initializers),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
