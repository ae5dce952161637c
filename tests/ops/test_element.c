// Rows put together: where they were made in their places, nothing is copied, and what does not fit
// is as if there had been no places.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "graph/graph_fixture.h"

#include "ops/data/element.h"
#include "ops/data/row_blocks.h"

enum { ROWS = 6, WIDTH = 3 };
static const rheos_shape WIDE = {.rank = 1, .dims = {WIDTH}};

static void fill(rheos_tensor *row, float value) {
  for (int64_t i = 0; i < row->num_elements; ++i) ((float *)row->data)[i] = value;
}

static void assert_rows(const rheos_tensor *batch, int64_t rows) {
  assert_int_equal(batch->shape.dims[0], rows);
  for (int64_t i = 0; i < batch->num_elements; ++i) {
    assert_true(((const float *)batch->data)[i] == (float)(i / WIDTH));
  }
}

static void add_in_place(rheos__stack *stack, int count) {
  for (int i = 0; i < count; ++i) {
    rheos_tensor *row = rheos__stack_place(stack);
    assert_non_null(row);
    fill(row, (float)stack->count);
    assert_true(rheos__stack_adopt(stack, &row, ROWS));
    rheos_tensor_unref(row);
  }
}

static void test_element__rows_in_their_places_are_not_copied(void **state) {
  (void)state;
  rheos__stack stack = {0};
  assert_ok(rheos__stack_expect(&stack, RHEOS_FLOAT, &WIDE, ROWS, true));
  const void *memory = stack.tensor->data;
  add_in_place(&stack, ROWS);
  assert_null(rheos__stack_place(&stack));
  rheos_tensor *batch = NULL;
  assert_ok(rheos__stack_take(&stack, &batch));
  assert_ptr_equal(batch->data, memory);
  assert_true(rheos__tensor_is_exclusive(batch));
  assert_rows(batch, ROWS);
  rheos_tensor_unref(batch);
}

static void test_element__fewer_rows_than_expected(void **state) {
  (void)state;
  rheos__stack stack = {0};
  assert_ok(rheos__stack_expect(&stack, RHEOS_FLOAT, &WIDE, ROWS, true));
  add_in_place(&stack, 2);
  rheos_tensor *batch = NULL;
  assert_ok(rheos__stack_take(&stack, &batch));
  assert_rows(batch, 2);
  rheos_tensor_unref(batch);
}

static void test_element__a_place_that_somebody_keeps_stays(void **state) {
  (void)state;
  rheos__stack stack = {0};
  assert_ok(rheos__stack_expect(&stack, RHEOS_FLOAT, &WIDE, ROWS, true));
  rheos_tensor *row = rheos__stack_place(&stack), *kept = rheos_tensor_ref(row);
  fill(row, 0);
  assert_true(rheos__stack_adopt(&stack, &row, ROWS));
  rheos_tensor_unref(row);
  add_in_place(&stack, 1);
  assert_true(((const float *)kept->data)[0] == 0);
  rheos_tensor *batch = NULL;
  assert_ok(rheos__stack_take(&stack, &batch));
  rheos_tensor_unref(batch);
  assert_true(((const float *)kept->data)[WIDTH - 1] == 0);
  rheos_tensor_unref(kept);
}

static void test_element__rows_of_another_shape_than_expected(void **state) {
  (void)state;
  rheos__stack stack = {0};
  rheos_tensor *row;
  assert_ok(rheos__stack_expect(&stack, RHEOS_FLOAT, &RHEOS_SCALAR, ROWS, true));
  rheos_tensor *place = rheos__stack_place(&stack);
  rheos_tensor_unref(place);
  for (int i = 0; i < 2; ++i) {
    assert_ok(rheos_tensor_new(RHEOS_FLOAT, WIDE, &row));
    fill(row, (float)i);
    assert_false(rheos__stack_adopt(&stack, &row, ROWS));
    assert_ok(rheos__stack_add(&stack, row, ROWS, 0));
    rheos_tensor_unref(row);
  }
  assert_ok(rheos_tensor_new(RHEOS_FLOAT, RHEOS_SCALAR, &row));
  rheos_status *status = rheos__stack_add(&stack, row, ROWS, 0);
  assert_int_equal(rheos_status_code(status), RHEOS_INVALID_ARGUMENT);
  rheos_status_free(status);
  rheos_tensor_unref(row);
  rheos_tensor *batch = NULL;
  assert_ok(rheos__stack_take(&stack, &batch));
  assert_rows(batch, 2);
  rheos_tensor_unref(batch);
}

static void test_element__a_block_of_a_stage_becomes_the_batch(void **state) {
  (void)state;
  static const rheos_dtype FLOAT = RHEOS_FLOAT;
  rheos__row_blocks blocks;
  assert_ok(rheos__row_blocks_init(&blocks, ROWS, 1, &FLOAT, &WIDE));
  blocks.most_bytes = 1 << 20;
  rheos__stack stack = {0};
  const void *memory = NULL;
  for (int i = 0; i < ROWS; ++i) {
    rheos_tensor *row = NULL;
    rheos__row_blocks_place(&blocks, i, &row);
    assert_non_null(row);
    if (i == 0) memory = row->data;
    fill(row, (float)i);
    rheos__row_blocks_learn(&blocks, &row);
    assert_true(rheos__stack_adopt(&stack, &row, ROWS));
    rheos_tensor_unref(row);
  }
  rheos_tensor *batch = NULL;
  assert_ok(rheos__stack_take(&stack, &batch));
  assert_ptr_equal(batch->data, memory);
  assert_true(rheos__tensor_is_exclusive(batch));
  assert_rows(batch, ROWS);
  rheos_tensor_unref(batch);
  rheos__row_blocks_deinit(&blocks);
}

static void test_element__blocks_that_nobody_uses_end(void **state) {
  (void)state;
  static const rheos_dtype FLOAT = RHEOS_FLOAT;
  rheos__row_blocks blocks;
  assert_ok(rheos__row_blocks_init(&blocks, 100, 1, &FLOAT, &WIDE));
  blocks.most_bytes = 1 << 20;
  rheos_tensor *other, *place = NULL;
  assert_ok(rheos_tensor_new(RHEOS_FLOAT, WIDE, &other));
  for (int i = 0; i < 10; ++i) {
    rheos__row_blocks_place(&blocks, i, &place);
    rheos_tensor_unref(place);
    place = NULL;
    rheos__row_blocks_learn(&blocks, &other);
  }
  rheos__row_blocks_place(&blocks, 10, &place);
  assert_null(place);
  rheos_tensor_unref(other);
  rheos__row_blocks_deinit(&blocks);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_element__rows_in_their_places_are_not_copied),
      cmocka_unit_test(test_element__fewer_rows_than_expected),
      cmocka_unit_test(test_element__a_place_that_somebody_keeps_stays),
      cmocka_unit_test(test_element__rows_of_another_shape_than_expected),
      cmocka_unit_test(test_element__a_block_of_a_stage_becomes_the_batch),
      cmocka_unit_test(test_element__blocks_that_nobody_uses_end),
  };
  return cmocka_run_group_tests_name("element", tests, NULL, NULL);
}
