// Copies that are large enough to go past the caches, against one element after the other.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "ops/kit/array_util.h"
#include "ops/kit/stream.h"

// Runs `copy` in three ranges and holds the result against nested loops.
static void check(const rheos__copy *copy, int64_t in_elements) {
  const int64_t size = (int64_t)rheos_dtype_size(copy->dtype);
  const int64_t out_elements = copy->num_elements + 16;
  assert_true(copy->num_elements * size >= RHEOS__STREAM_FROM);
  char *in = rheos__alloc_aligned((size_t)(in_elements * size));
  char *out = rheos__alloc_aligned((size_t)(out_elements * size));
  assert_non_null(in);
  assert_non_null(out);
  for (int64_t i = 0; i < in_elements * size; i++) {
    in[i] = (char)((uint64_t)i * UINT64_C(0x9e3779b97f4a7c15) >> 56);
  }
  memset(out, 'x', (size_t)(out_elements * size));
  const int64_t ends[] = {0, copy->num_elements / 3, copy->num_elements / 3 * 2 + 5,
                          copy->num_elements};
  for (int i = 0; i < 3; i++) {
    assert_null(rheos__copy_run(copy, in, out, ends[i], ends[i + 1]));
  }
  int64_t index[RHEOS__COPY_RANK] = {0};
  for (int64_t n = 0; n < copy->num_elements; n++) {
    int64_t from = copy->in_start, to = copy->out_start;
    for (int32_t d = 0; d < copy->rank; d++) {
      from += index[d] * copy->in_steps[d];
      to += index[d] * copy->out_steps[d];
    }
    if (memcmp(out + to * size, in + from * size, (size_t)size) != 0) {
      fail_msg("element %lld of %s", (long long)n, rheos_dtype_name(copy->dtype));
    }
    for (int32_t d = copy->rank - 1; d >= 0 && ++index[d] == copy->dims[d]; d--) index[d] = 0;
  }
  const char *behind = out + (copy->out_start + copy->num_elements) * size;
  for (int64_t i = 0; i < size; i++) assert_true(behind[i] == 'x');
  rheos__free_aligned(in);
  rheos__free_aligned(out);
}

static int64_t elements_of(rheos_dtype dtype) {
  return RHEOS__STREAM_FROM / (int64_t)rheos_dtype_size(dtype);
}

static const rheos_dtype dtypes[] = {RHEOS_INT8, RHEOS_HALF, RHEOS_FLOAT, RHEOS_DOUBLE,
                                     RHEOS_COMPLEX128};
enum { NUM_DTYPES = sizeof dtypes / sizeof *dtypes };

static void test_strided_copy__transposes(void **state) {
  (void)state;
  const int64_t widths[] = {512, 1000, 37};  // of the result: whole lines, parts of lines, short
  for (int i = 0; i < 3 * NUM_DTYPES; i++) {
    rheos__copy copy;
    rheos__copy_init(&copy, dtypes[i / 3]);
    const int64_t columns = widths[i % 3], rows = elements_of(copy.dtype) / columns + 3;
    rheos__copy_add(&copy, rows, 1, columns);
    rheos__copy_add(&copy, columns, rows, 1);
    check(&copy, rows * columns);
  }
}

static void test_strided_copy__reverses_rows(void **state) {
  (void)state;
  const int64_t widths[] = {512, 1001, 3};
  for (int i = 0; i < 3 * NUM_DTYPES; i++) {
    rheos__copy copy;
    rheos__copy_init(&copy, dtypes[i / 3]);
    const int64_t columns = widths[i % 3], rows = elements_of(copy.dtype) / columns + 3;
    copy.in_start = columns - 1;
    rheos__copy_add(&copy, rows, columns, columns);
    rheos__copy_add(&copy, columns, -1, 1);
    check(&copy, rows * columns);
  }
}

static void test_strided_copy__takes_slices(void **state) {
  (void)state;
  for (int i = 0; i < NUM_DTYPES; i++) {
    rheos__copy copy;
    rheos__copy_init(&copy, dtypes[i]);
    const int64_t columns = 1003, rows = elements_of(copy.dtype) / columns + 3;
    copy.in_start = 5;
    copy.out_start = 1;
    rheos__copy_add(&copy, rows, columns + 11, columns);
    rheos__copy_add(&copy, columns, 1, 1);
    check(&copy, rows * (columns + 11));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_strided_copy__transposes),
      cmocka_unit_test(test_strided_copy__reverses_rows),
      cmocka_unit_test(test_strided_copy__takes_slices),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
