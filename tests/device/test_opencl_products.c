// Products of matrices on graphics cards: of all sizes that kernels treat differently, transposed,
// in batches that are broadcast; what is computed of small whole numbers is exact, and rounded sums
// are the same each time. By our own kernels, or with RHEOS_OPENCL_BLAS=on by CLBlast, whose first
// use takes PoCL a minute. Skipped where there is no device.
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <rheos/rheos.h>

#include "device/opencl/card.h"
#include "device/opencl/opencl.h"

static void check(rheos_status *status) {
  if (status != NULL) fail_msg("%s", rheos_status_message(status));
}

typedef struct sizes {
  int64_t m, n, k;
} sizes;

static rheos_tensor *numbers(const rheos_shape *shape, bool whole) {
  rheos_tensor *result = NULL;
  check(rheos_tensor_new(RHEOS_FLOAT, *shape, &result));
  float *values = rheos_tensor_data(result);
  for (int64_t i = 0; i < rheos_tensor_num_elements(result); i++) {
    const float number = (float)((i * 7 + i / 11) % 5 - 2);
    values[i] = whole ? number : number * 0.3f + 0.01f;
  }
  return result;
}

static rheos_shape matrices(const int64_t *batch, int32_t rank, int64_t rows, int64_t columns) {
  rheos_shape shape = {.rank = rank + 2};
  for (int32_t d = 0; d < rank; d++) shape.dims[d] = batch[d];
  shape.dims[rank] = rows;
  shape.dims[rank + 1] = columns;
  return shape;
}

static rheos_tensor *product(const char *device, rheos_dtype dtype, rheos_tensor *a,
                             rheos_tensor *b, bool transpose_a, bool transpose_b) {
  rheos_graph *graph = rheos_graph_new();
  rheos_scope *s = rheos_scope_new(graph);
  rheos_push_device(s, device);
  const rheos_output x = rheos_placeholder(s, RHEOS_FLOAT), y = rheos_placeholder(s, RHEOS_FLOAT);
  const rheos_output left = rheos_cast(s, x, dtype), right = rheos_cast(s, y, dtype);
  const rheos_output z =
      rheos_tensor_shape(a)->rank == 2
          ? rheos_matmul(s, left, right, .transpose_a = transpose_a, .transpose_b = transpose_b)
          : rheos_batch_matmul_v2(s, left, right, .adj_x = transpose_a, .adj_y = transpose_b);
  check(rheos_scope_finish(s));
  rheos_session *session = NULL;
  check(rheos_session_new(graph, NULL, &session));
  const rheos_feed feeds[] = {{x, a}, {y, b}};
  rheos_fetch fetch = {z, NULL};
  check(rheos_session_run(session, feeds, 2, &fetch, 1, NULL, 0, NULL));
  rheos_session_free(session);
  rheos_scope_free(s);
  rheos_graph_unref(graph);
  return fetch.value;
}

static void assert_same(const rheos_tensor *a, const rheos_tensor *b) {
  assert_true(rheos_shape_equal(rheos_tensor_shape(a), rheos_tensor_shape(b)));
  assert_memory_equal(rheos_tensor_data(a), rheos_tensor_data(b), rheos_tensor_size_bytes(a));
}

static void try_product(rheos_dtype dtype, const sizes *z, const int64_t *a_batch,
                        const int64_t *b_batch, int32_t rank, int form) {
  const bool a_turned = (form & 1) != 0, b_turned = (form & 2) != 0;
  const rheos_shape a_shape =
      matrices(a_batch, rank, a_turned ? z->k : z->m, a_turned ? z->m : z->k);
  const rheos_shape b_shape =
      matrices(b_batch, rank, b_turned ? z->n : z->k, b_turned ? z->k : z->n);
  for (int whole = 0; whole < 2; whole++) {
    rheos_tensor *a = numbers(&a_shape, whole), *b = numbers(&b_shape, whole);
    rheos_tensor *first = product("/device:GPU:0", dtype, a, b, a_turned, b_turned);
    rheos_tensor *second =
        product(whole ? "/device:CPU:0" : "/device:GPU:0", dtype, a, b, a_turned, b_turned);
    assert_same(first, second);
    rheos_tensor_unref(first);
    rheos_tensor_unref(second);
    rheos_tensor_unref(a);
    rheos_tensor_unref(b);
  }
}

// As a card with few units has large tiles, and one with many has parts of the depth.
static void test_sizes(void **unused) {
  (void)unused;
  static const int32_t units[] = {1, 2, 64};
  const int32_t own_units = rheos__card_at(0)->num_units;
  static const sizes all[] = {{1, 1, 1},    {1, 7, 33},     {5, 1, 400},    {17, 33, 65},
                              {96, 96, 96}, {64, 64, 64},   {65, 127, 40},  {130, 70, 257},
                              {8, 8, 5000}, {40, 33, 6000}, {2, 3, 100000}, {300, 20, 16}};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    for (int form = 0; form < 16; form++) {
      rheos__opencl_want_blocks(0, form >= 12);
      if (form < 12) rheos__card_at(0)->num_units = units[form / 4];
      try_product(RHEOS_FLOAT, &all[i], NULL, NULL, 0, form & 3);
    }
  }
  rheos__card_at(0)->num_units = own_units;
}

static void test_dtypes(void **unused) {
  (void)unused;
  static const rheos_dtype dtypes[] = {RHEOS_DOUBLE, RHEOS_HALF, RHEOS_BFLOAT16, RHEOS_INT32,
                                       RHEOS_INT64};
  static const sizes all[] = {{17, 33, 600}, {140, 66, 40}};
  for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++) {
    for (size_t k = 0; k < 4; k++) {
      rheos__opencl_want_blocks(0, k == 3);
      try_product(dtypes[i], &all[k / 2], NULL, NULL, 0, 0);
    }
  }
}

static void test_batches(void **unused) {
  (void)unused;
  static const sizes all[] = {{20, 18, 33}, {3, 70, 17}, {66, 64, 65}};
  static const int64_t two[] = {2, 3}, one[] = {1, 1}, left[] = {2, 1}, right[] = {1, 3};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    rheos__opencl_want_blocks(0, i == 1);
    for (int form = 0; form < 4; form += 3) {
      try_product(RHEOS_FLOAT, &all[i], two, two, 2, form);
      try_product(RHEOS_FLOAT, &all[i], two, one, 2, form);
      try_product(RHEOS_FLOAT, &all[i], left, right, 2, form);
      try_product(RHEOS_FLOAT, &all[i], two, right, 2, form);
    }
  }
}

static rheos_tensor *einsum(const char *device, const char *equation, rheos_tensor *a,
                            rheos_tensor *b) {
  rheos_graph *graph = rheos_graph_new();
  rheos_scope *s = rheos_scope_new(graph);
  rheos_push_device(s, device);
  const rheos_output inputs[] = {rheos_placeholder(s, RHEOS_FLOAT),
                                 rheos_placeholder(s, RHEOS_FLOAT)};
  const rheos_output z = rheos_einsum(s, inputs, 2, equation);
  check(rheos_scope_finish(s));
  rheos_session *session = NULL;
  check(rheos_session_new(graph, NULL, &session));
  const rheos_feed feeds[] = {{inputs[0], a}, {inputs[1], b}};
  rheos_fetch fetch = {z, NULL};
  check(rheos_session_run(session, feeds, 2, &fetch, 1, NULL, 0, NULL));
  rheos_session_free(session);
  rheos_scope_free(s);
  rheos_graph_unref(graph);
  return fetch.value;
}

// On a card of many units, which makes deep sums in parts, and on a processor.
static void try_equations(const char *const *equations, size_t count, const rheos_shape *shape) {
  const int32_t own_units = rheos__card_at(0)->num_units;
  rheos_tensor *a = numbers(shape, true);
  for (size_t i = 0; i < 2 * count; i++) {
    const char *equation = equations[i / 2];
    rheos__opencl_want_blocks(0, i % 2 == 1);
    rheos__card_at(0)->num_units = i % 2 == 1 ? own_units : 64;
    rheos_tensor *first = einsum("/device:GPU:0", equation, a, a);
    rheos_tensor *second = einsum("/device:CPU:0", equation, a, a);
    assert_same(first, second);
    rheos_tensor_unref(first);
    rheos_tensor_unref(second);
  }
  rheos__card_at(0)->num_units = own_units;
  rheos_tensor_unref(a);
}

// Matrices where they are and gathered, in either order, with sums of one operand alone.
static void test_equations(void **unused) {
  (void)unused;
  static const char *const of_two[] = {"ab,bc->ac", "ba,bc->ac", "ab,cb->ac", "ab,bc->ca",
                                       "ba,cb->ca", "ab,bc->a",  "ab,cd->da", "ab,ab->a",
                                       "ab,bb->ab", "ab,bc->abc"};
  static const char *const of_three[] = {"abc,abd->cd", "acb,dcb->ad", "abc,adc->bd",
                                         "abc,dbc->bda", "bac,bdc->abd"};
  const rheos_shape square = {.rank = 2, .dims = {70, 70}};
  const rheos_shape cube = {.rank = 3, .dims = {36, 36, 36}};
  try_equations(of_two, sizeof of_two / sizeof *of_two, &square);
  try_equations(of_three, sizeof of_three / sizeof *of_three, &cube);
}

int main(void) {
  setenv("RHEOS_OPENCL", "cpu", 1);
  if (rheos__opencl_count() == 0) return 77;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_sizes),
      cmocka_unit_test(test_dtypes),
      cmocka_unit_test(test_batches),
      cmocka_unit_test(test_equations),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
