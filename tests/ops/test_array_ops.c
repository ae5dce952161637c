// Array ops, beside the recorded answers: strings, several units of work, messages of errors that
// only show when values are there, and the nodes that gradients are made of.
#include "ops/array_fixture.h"

#include <stdio.h>

#define IN(...) ((const rheos_output[]){__VA_ARGS__})
#define WORDS(...) ((const char *const[]){__VA_ARGS__})
#define INTS(...) ((const int32_t[]){__VA_ARGS__})

// ---- Strings, which own memory

static void expect_words(fixture *f, rheos_operation op, int32_t index, rheos_shape shape,
                         const char *const *expected) {
  rheos_tensor *out = NULL;
  check(run_output(f, op, index, NULL, &out));
  expect_strings(out, shape, expected);
}

static rheos_output six_words(fixture *f) {
  return strings(f, RHEOS_SHAPE(2, 3), WORDS("a", "bb", "", "d", "ee", "f"));
}

static void test_strings__are_moved(void **state) {
  fixture *f = *state;
  rheos_output x = six_words(f);
  expect_words(f, add(f, "Transpose", IN(x, ints(f, RHEOS_SHAPE(2), INTS(1, 0))), 2, NULL, 0), 0,
               RHEOS_SHAPE(3, 2), WORDS("a", "d", "bb", "ee", "", "f"));
  expect_words(f, add(f, "Reshape", IN(x, ints(f, RHEOS_SHAPE(1), INTS(-1))), 2, NULL, 0), 0,
               RHEOS_SHAPE(6), WORDS("a", "bb", "", "d", "ee", "f"));
  expect_words(f, add(f, "ConcatV2", IN(x, x, int_scalar(f, 1)), 3, NULL, 0), 0, RHEOS_SHAPE(2, 6),
               WORDS("a", "bb", "", "a", "bb", "", "d", "ee", "f", "d", "ee", "f"));
  rheos_attr three = rheos_attr_int("num_split", 3);
  expect_words(f, add(f, "Split", IN(int_scalar(f, 1), x), 2, &three, 1), 1, RHEOS_SHAPE(2, 1),
               WORDS("bb", "ee"));
  rheos_attr two = rheos_attr_int("num", 2);
  expect_words(f, add(f, "Unpack", IN(x), 1, &two, 1), 1, RHEOS_SHAPE(3), WORDS("d", "ee", "f"));
  expect_words(f,
               add(f, "Slice",
                   IN(x, ints(f, RHEOS_SHAPE(2), INTS(0, 1)), ints(f, RHEOS_SHAPE(2), INTS(-1, 2))),
                   3, NULL, 0),
               0, RHEOS_SHAPE(2, 2), WORDS("bb", "", "ee", "f"));
  expect_words(f, add(f, "ReverseV2", IN(x, ints(f, RHEOS_SHAPE(1), INTS(1))), 2, NULL, 0), 0,
               RHEOS_SHAPE(2, 3), WORDS("", "bb", "a", "f", "ee", "d"));
}

static void test_strings__are_gathered_and_repeated(void **state) {
  fixture *f = *state;
  rheos_output x = six_words(f);
  expect_words(
      f,
      add(f, "GatherV2", IN(x, ints(f, RHEOS_SHAPE(2), INTS(2, 0)), int_scalar(f, 1)), 3, NULL, 0),
      0, RHEOS_SHAPE(2, 2), WORDS("", "a", "f", "d"));
  expect_words(f, add(f, "GatherNd", IN(x, ints(f, RHEOS_SHAPE(1, 2), INTS(1, 1))), 2, NULL, 0), 0,
               RHEOS_SHAPE(1), WORDS("ee"));
  rheos_output word = strings(f, RHEOS_SCALAR, WORDS("xyz"));
  expect_words(f, add(f, "Fill", IN(ints(f, RHEOS_SHAPE(1), INTS(2)), word), 2, NULL, 0), 0,
               RHEOS_SHAPE(2), WORDS("xyz", "xyz"));
  rheos_output pair = strings(f, RHEOS_SHAPE(2), WORDS("p", "q"));
  expect_words(f, add(f, "Tile", IN(pair, ints(f, RHEOS_SHAPE(1), INTS(2))), 2, NULL, 0), 0,
               RHEOS_SHAPE(4), WORDS("p", "q", "p", "q"));
  expect_words(f,
               add(f, "PadV2", IN(pair, ints(f, RHEOS_SHAPE(1, 2), INTS(1, 1)), word), 3, NULL, 0),
               0, RHEOS_SHAPE(4), WORDS("xyz", "p", "q", "xyz"));
  expect_words(f, add(f, "ZerosLike", IN(pair), 1, NULL, 0), 0, RHEOS_SHAPE(2), WORDS("", ""));
}

static void test_strings__are_sorted_out(void **state) {
  fixture *f = *state;
  rheos_output x = strings(f, RHEOS_SHAPE(4), WORDS("b", "a", "", "b"));
  rheos_operation unique = add(f, "Unique", IN(x), 1, NULL, 0);
  expect_words(f, unique, 0, RHEOS_SHAPE(3), WORDS("b", "a", ""));
  rheos_tensor *out = NULL;
  check(run_output(f, unique, 1, NULL, &out));
  expect_ints(out, RHEOS_SHAPE(4), INTS(0, 1, 2, 0));
  rheos_output y = strings(f, RHEOS_SHAPE(1), WORDS("b"));
  expect_words(f, add(f, "ListDiff", IN(x, y), 2, NULL, 0), 0, RHEOS_SHAPE(2), WORDS("a", ""));
  rheos_attr two = rheos_attr_int("num_partitions", 2);
  rheos_output partitions = ints(f, RHEOS_SHAPE(4), INTS(1, 0, 1, 0));
  expect_words(f, add(f, "DynamicPartition", IN(x, partitions), 2, &two, 1), 1, RHEOS_SHAPE(2),
               WORDS("b", ""));
}

// ---- Work in several units gives what one loop gives

enum { ROWS = 300, COLUMNS = 257 };

static rheos_output large(fixture *f, fed *values) {
  static int32_t numbers[ROWS * COLUMNS];
  for (int32_t i = 0; i < ROWS * COLUMNS; ++i) numbers[i] = i;
  return feed(f, values, RHEOS_INT32, RHEOS_SHAPE(ROWS, COLUMNS), numbers);
}

static void test_transpose__of_a_large_matrix(void **state) {
  fixture *f = *state;
  fed values = {.count = 0};
  rheos_output x = large(f, &values);
  rheos_tensor *out = NULL;
  rheos_output perm = ints(f, RHEOS_SHAPE(2), INTS(1, 0));
  check(run_output(f, add(f, "Transpose", IN(x, perm), 2, NULL, 0), 0, &values, &out));
  assert_shape(out, RHEOS_SHAPE(COLUMNS, ROWS));
  const int32_t *data = rheos_tensor_data(out);
  for (int32_t i = 0; i < COLUMNS; ++i) {
    for (int32_t j = 0; j < ROWS; ++j) assert_int_equal(data[i * ROWS + j], j * COLUMNS + i);
  }
  rheos_tensor_unref(out);
  free_feeds(&values);
}

static void test_concat_and_split__of_large_matrices(void **state) {
  fixture *f = *state;
  fed values = {.count = 0};
  rheos_output x = large(f, &values);
  rheos_output joined =
      rheos_operation_output(add(f, "ConcatV2", IN(x, x, int_scalar(f, 1)), 3, NULL, 0), 0);
  rheos_attr two = rheos_attr_int("num_split", 2);
  rheos_operation split = add(f, "Split", IN(int_scalar(f, 1), joined), 2, &two, 1);
  for (int32_t part = 0; part < 2; ++part) {
    rheos_tensor *out = NULL;
    check(run_output(f, split, part, &values, &out));
    expect_ints(out, RHEOS_SHAPE(ROWS, COLUMNS), rheos_tensor_data(values.feeds[0].value));
  }
  free_feeds(&values);
}

static void test_gather__of_many_rows(void **state) {
  fixture *f = *state;
  fed values = {.count = 0};
  rheos_output x = large(f, &values);
  static int32_t rows[5000];
  for (int32_t i = 0; i < 5000; ++i) rows[i] = (i * 7) % ROWS;
  rheos_output indices = feed(f, &values, RHEOS_INT32, RHEOS_SHAPE(5000), rows);
  rheos_tensor *out = NULL;
  check(run_output(f, add(f, "GatherV2", IN(x, indices, int_scalar(f, 0)), 3, NULL, 0), 0, &values,
                   &out));
  assert_shape(out, RHEOS_SHAPE(5000, COLUMNS));
  const int32_t *data = rheos_tensor_data(out);
  for (int32_t i = 0; i < 5000; ++i) {
    for (int32_t j = 0; j < COLUMNS; j += 64) {
      assert_int_equal(data[i * COLUMNS + j], rows[i] * COLUMNS + j);
    }
  }
  rheos_tensor_unref(out);
  free_feeds(&values);
}

// ---- Errors that only values show

static void expect_late_error(fixture *f, const char *type, const rheos_output *inputs,
                              size_t count, fed *values, const char *message) {
  rheos_tensor *out = NULL;
  expect_error(run_output(f, add(f, type, inputs, count, NULL, 0), 0, values, &out),
               RHEOS_INVALID_ARGUMENT, message);
  free_feeds(values);
}

static void test_errors__name_the_index(void **state) {
  fixture *f = *state;
  fed v = {.count = 0};
  const float six[] = {0, 1, 2, 3, 4, 5};
  rheos_output x = floats(f, RHEOS_SHAPE(2, 3), six);
  rheos_output at = feed(f, &v, RHEOS_INT32, RHEOS_SHAPE(2, 2), INTS(0, -1, 1, 1));
  expect_late_error(f, "GatherV2", IN(x, at, int_scalar(f, 1)), 3, &v,
                    "indices[0,1] = -1 is not in [0, 3)");
  at = feed(f, &v, RHEOS_INT32, RHEOS_SCALAR, INTS(7));
  expect_late_error(f, "Gather", IN(x, at), 2, &v, "indices = 7 is not in [0, 2)");
  at = feed(f, &v, RHEOS_INT32, RHEOS_SHAPE(2, 2), INTS(0, 1, 1, 3));
  expect_late_error(f, "GatherNd", IN(x, at), 2, &v,
                    "indices[1] = [1, 3] does not index into param shape [2,3]");
  at = feed(f, &v, RHEOS_INT32, RHEOS_SHAPE(2, 1), INTS(0, 4));
  expect_late_error(f, "ScatterNd", IN(at, x, ints(f, RHEOS_SHAPE(2), INTS(4, 3))), 3, &v,
                    "indices[1] = [4] does not index into shape [4,3]");
  at = feed(f, &v, RHEOS_INT32, RHEOS_SHAPE(2), INTS(1, 3));
  expect_late_error(f, "UnsortedSegmentSum", IN(x, at, int_scalar(f, 3)), 3, &v,
                    "segment_ids[1] = 3 is out of range [0, 3)");
  at = feed(f, &v, RHEOS_INT32, RHEOS_SHAPE(2), INTS(0, -1));
  expect_late_error(f, "DynamicStitch", IN(at, x), 2, &v, "indices[1] is out of range");
}

static void test_errors__name_the_size(void **state) {
  fixture *f = *state;
  fed v = {.count = 0};
  rheos_output x = floats(f, RHEOS_SHAPE(2, 3), (const float[]){0, 1, 2, 3, 4, 5});
  rheos_output fed_ints = feed(f, &v, RHEOS_INT32, RHEOS_SHAPE(2), INTS(4, 2));
  expect_late_error(f, "Reshape", IN(x, fed_ints), 2, &v,
                    "Input to reshape is a tensor with 6 values, but the requested shape has 8");
  fed_ints = feed(f, &v, RHEOS_INT32, RHEOS_SHAPE(2), INTS(0, 4));
  expect_late_error(f, "Slice", IN(x, fed_ints, ints(f, RHEOS_SHAPE(2), INTS(-1, 0))), 3, &v,
                    "Expected begin[1] in [0, 3], but got 4");
  fed_ints = feed(f, &v, RHEOS_INT32, RHEOS_SHAPE(2), INTS(2, 4));
  expect_late_error(f, "BroadcastTo", IN(x, fed_ints), 2, &v, "Incompatible shapes: [2,3]");
  fed_ints = feed(f, &v, RHEOS_INT32, RHEOS_SHAPE(3), INTS(2, 0, 2));
  expect_late_error(f, "InvertPermutation", IN(fed_ints), 1, &v, "2 is duplicated in the input.");
  fed_ints = feed(f, &v, RHEOS_INT32, RHEOS_SCALAR, INTS(0));
  expect_late_error(f, "Range", IN(int_scalar(f, 0), int_scalar(f, 5), fed_ints), 3, &v,
                    "Requires delta != 0: 0");
  rheos_output twos[] = {x, ints(f, RHEOS_SHAPE(1), INTS(2)), ints(f, RHEOS_SHAPE(1), INTS(3)),
                         ints(f, RHEOS_SHAPE(1), INTS(1))};
  rheos_attr shrink = rheos_attr_int("shrink_axis_mask", 1);
  add(f, "StridedSlice", twos, 4, &shrink, 1);
  expect_error(rheos_scope_finish(f->scope), RHEOS_INVALID_ARGUMENT,
               "slice index 2 of dimension 0 out of bounds.");
}

static void test_huge_sizes__are_refused(void **state) {
  fixture *f = *state;
  rheos_tensor *out = NULL;
  int64_t sizes[] = {INT64_C(1) << 40, INT64_C(1) << 40};
  rheos_output dims = constant(f, RHEOS_INT64, RHEOS_SHAPE(2), sizes);
  rheos_status *status =
      run_output(f, add(f, "Fill", IN(dims, float_scalar(f, 1)), 2, NULL, 0), 0, NULL, &out);
  assert_non_null(status);
  rheos_status_free(status);
  int64_t last[] = {INT64_C(1) << 60};
  rheos_output ids = constant(f, RHEOS_INT64, RHEOS_SHAPE(1), last);
  rheos_output data = floats(f, RHEOS_SHAPE(1), (const float[]){1});
  status = run_output(f, add(f, "SegmentSum", IN(data, ids), 2, NULL, 0), 0, NULL, &out);
  assert_non_null(status);
  rheos_status_free(status);
}

// ---- Ops without recorded answers

static void test_lin_space__ends_at_stop(void **state) {
  fixture *f = *state;
  rheos_tensor *out = NULL;
  rheos_output start = float_scalar(f, 0), stop = float_scalar(f, 1), num = int_scalar(f, 4);
  check(run_output(f, add(f, "LinSpace", IN(start, stop, num), 3, NULL, 0), 0, NULL, &out));
  expect_floats(out, RHEOS_SHAPE(4), (const float[]){0, 1.0f / 3, 2.0f / 3, 1});
  start = float_scalar(f, 3);
  num = int_scalar(f, 1);
  check(run_output(f, add(f, "LinSpace", IN(start, stop, num), 3, NULL, 0), 0, NULL, &out));
  expect_floats(out, RHEOS_SHAPE(1), (const float[]){3});
}

static void test_diagonals__go_there_and_back(void **state) {
  fixture *f = *state;
  const float values[] = {1, 2, 3, 4};
  const float matrices[] = {1, 0, 0, 2, 3, 0, 0, 4};
  rheos_tensor *out = NULL;
  rheos_operation matrix =
      add(f, "MatrixDiag", IN(floats(f, RHEOS_SHAPE(2, 2), values)), 1, NULL, 0);
  check(run_output(f, matrix, 0, NULL, &out));
  expect_floats(out, RHEOS_SHAPE(2, 2, 2), matrices);
  rheos_output x = rheos_operation_output(matrix, 0);
  check(run_output(f, add(f, "MatrixDiagPart", IN(x), 1, NULL, 0), 0, NULL, &out));
  expect_floats(out, RHEOS_SHAPE(2, 2), values);
  rheos_operation diag = add(f, "Diag", IN(floats(f, RHEOS_SHAPE(2, 2), values)), 1, NULL, 0);
  x = rheos_operation_output(diag, 0);
  check(run_output(f, add(f, "DiagPart", IN(x), 1, NULL, 0), 0, NULL, &out));
  expect_floats(out, RHEOS_SHAPE(2, 2), values);
}

static void test_broadcast_args__broadcasts_shapes(void **state) {
  fixture *f = *state;
  rheos_tensor *out = NULL;
  rheos_output a = ints(f, RHEOS_SHAPE(3), INTS(2, 1, 3)), b = ints(f, RHEOS_SHAPE(2), INTS(4, 1));
  check(run_output(f, add(f, "BroadcastArgs", IN(a, b), 2, NULL, 0), 0, NULL, &out));
  expect_ints(out, RHEOS_SHAPE(3), INTS(2, 4, 3));
}

static void test_gather__with_batch_dims(void **state) {
  fixture *f = *state;
  rheos_output x = floats(f, RHEOS_SHAPE(2, 3), (const float[]){0, 1, 2, 3, 4, 5});
  rheos_output at = ints(f, RHEOS_SHAPE(2, 2), INTS(0, 2, 1, 1));
  rheos_attr one = rheos_attr_int("batch_dims", 1);
  rheos_tensor *out = NULL;
  check(run_output(f, add(f, "GatherV2", IN(x, at, int_scalar(f, 1)), 3, &one, 1), 0, NULL, &out));
  expect_floats(out, RHEOS_SHAPE(2, 2), (const float[]){0, 2, 4, 4});
}

// ---- Gradients are made of the nodes TensorFlow makes, under the same names

static void expect_nodes(fixture *f, rheos_output y, rheos_output x, const char *const *expected) {
  int32_t before = rheos_graph_num_operations(f->graph);
  rheos_gradient gradient;
  memset(&gradient, 0, sizeof gradient);
  rheos_gradients(f->scope, &y, 1, &x, 1, NULL, &gradient);
  check(rheos_scope_finish(f->scope));
  int32_t next = 0;
  for (int32_t id = before; id < rheos_graph_num_operations(f->graph); ++id) {
    rheos_operation op = {f->graph, id};
    char name[200], line[300];
    rheos_operation_name(op, name, sizeof name);
    const char *inside = strstr(name, "_grad/");
    if (inside == NULL) continue;
    snprintf(line, sizeof line, "%s %s", inside + strlen("_grad/"), rheos_operation_type(op));
    assert_non_null(expected[next]);
    assert_string_equal(line, expected[next++]);
  }
  assert_null(expected[next]);
}

static rheos_output matrix(fixture *f) {
  rheos_shape shape = RHEOS_SHAPE(2, 3);
  rheos_attr attrs[] = {rheos_attr_type("dtype", RHEOS_FLOAT), rheos_attr_shape("shape", &shape)};
  return rheos_operation_output(add(f, "Placeholder", NULL, 0, attrs, 2), 0);
}

static void test_gradient__of_slice(void **state) {
  fixture *f = *state;
  rheos_output x = matrix(f), begin = ints(f, RHEOS_SHAPE(2), INTS(0, 1));
  rheos_output size = ints(f, RHEOS_SHAPE(2), INTS(-1, 2));
  rheos_output y = rheos_operation_output(add(f, "Slice", IN(x, begin, size), 3, NULL, 0), 0);
  expect_nodes(f, y, x,
               WORDS("Rank Const", "Shape Const", "stack/1 Const", "stack Pack", "Reshape Reshape",
                     "Shape_1 Const", "sub Sub", "sub_1 Sub", "Reshape_1 Reshape",
                     "concat/axis Const", "concat ConcatV2", "Pad Pad", NULL));
}

static void test_gradient__of_concat(void **state) {
  fixture *f = *state;
  rheos_output x = matrix(f);
  rheos_output y = rheos_operation_output(
      add(f, "ConcatV2", IN(x, matrix(f), int_scalar(f, -1)), 3, NULL, 0), 0);
  expect_nodes(f, y, x,
               WORDS("Rank Const", "mod FloorMod", "Shape Const", "Shape_1 Const",
                     "ConcatOffset ConcatOffset", "Slice Slice", "Slice_1 Slice", NULL));
}

static void test_gradient__of_gather_is_its_rows(void **state) {
  fixture *f = *state;
  rheos_output x = matrix(f), at = ints(f, RHEOS_SHAPE(2), INTS(0, 1));
  rheos_output y =
      rheos_operation_output(add(f, "GatherV2", IN(x, at, int_scalar(f, 0)), 3, NULL, 0), 0);
  expect_nodes(
      f, y, x,
      WORDS("Shape Const", "Cast Cast", "Size Const", "ExpandDims/dim Const",
            "ExpandDims ExpandDims", "strided_slice/stack Const", "strided_slice/stack_1 Const",
            "strided_slice/stack_2 Const", "strided_slice StridedSlice", "concat/axis Const",
            "concat ConcatV2", "Reshape Reshape", "Reshape_1 Reshape", NULL));
  rheos_gradient gradient;
  memset(&gradient, 0, sizeof gradient);
  rheos_gradients(f->scope, &y, 1, &x, 1, NULL, &gradient);
  check(rheos_scope_finish(f->scope));
  assert_non_null(gradient.indices.graph);
  assert_non_null(gradient.dense_shape.graph);
}

// TensorFlow does it on GPUs only, so there are no recorded answers.
static void test_space_to_depth__with_the_channels_second(void **state) {
  fixture *f = *state;
  rheos_output x =
      strings(f, RHEOS_SHAPE(1, 2, 2, 2), WORDS("a", "b", "c", "d", "e", "f", "g", "h"));
  rheos_attr attrs[] = {rheos_attr_int("block_size", 2),
                        rheos_attr_string("data_format", "NCHW", 4)};
  rheos_operation deep = add(f, "SpaceToDepth", &x, 1, attrs, 2);
  expect_words(f, deep, 0, RHEOS_SHAPE(1, 8, 1, 1), WORDS("a", "e", "b", "f", "c", "g", "d", "h"));
  rheos_output channels = rheos_operation_output(deep, 0);
  expect_words(f, add(f, "DepthToSpace", &channels, 1, attrs, 2), 0, RHEOS_SHAPE(1, 2, 2, 2),
               WORDS("a", "b", "c", "d", "e", "f", "g", "h"));
  attrs[1] = rheos_attr_string("data_format", "NCHW_VECT_C", 11);
  add(f, "SpaceToDepth", &x, 1, attrs, 2);
  expect_error(rheos_scope_finish(f->scope), RHEOS_INVALID_ARGUMENT, "NCHW_VECT_C");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_strings__are_moved),
      TEST(test_strings__are_gathered_and_repeated),
      TEST(test_strings__are_sorted_out),
      TEST(test_transpose__of_a_large_matrix),
      TEST(test_concat_and_split__of_large_matrices),
      TEST(test_gather__of_many_rows),
      TEST(test_errors__name_the_index),
      TEST(test_errors__name_the_size),
      TEST(test_huge_sizes__are_refused),
      TEST(test_lin_space__ends_at_stop),
      TEST(test_diagonals__go_there_and_back),
      TEST(test_broadcast_args__broadcasts_shapes),
      TEST(test_gather__with_batch_dims),
      TEST(test_space_to_depth__with_the_channels_second),
      TEST(test_gradient__of_slice),
      TEST(test_gradient__of_concat),
      TEST(test_gradient__of_gather_is_its_rows),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
