// Products by panels: right to rounding for sizes around those of tiles, panels, blocks and units,
// with either operand transposed, and the same bits whatever units are run together.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "device/cpu/panels.h"

static float *noise(int64_t count, float phase) {
  float *values = malloc((size_t)count * sizeof *values + 1);
  assert_non_null(values);
  for (int64_t i = 0; i < count; i++) values[i] = sinf(phase + 1.7f * (float)(i % 4099));
  return values;
}

typedef struct told {
  int64_t n;
  int *pieces;  // of each element: how often it was said to be complete
} told;

static void count_piece(const void *argument, int64_t first_row, int64_t last_row,
                        int64_t first_column, int64_t last_column) {
  const told *t = argument;
  for (int64_t i = first_row; i < last_row; i++) {
    for (int64_t j = first_column; j < last_column; j++) t->pieces[i * t->n + j]++;
  }
}

static void check_element(const rheos__panels *p, const float *a, const float *b, const float *c,
                          int64_t i, int64_t j) {
  double sum = 0, size = 1;
  for (int64_t k = 0; k < p->k; k++) {
    const double term =
        (double)a[i * p->a_row + k * p->a_column] * (double)b[k * p->b_row + j * p->b_column];
    sum += term;
    size += fabs(term);
  }
  if (!(fabs((double)c[i * p->n + j] - sum) <= (1e-6 + 3e-8 * (double)p->k) * size)) {
    fail_msg("%dx%dx%d: element %d, %d is %g, expected %g", (int)p->m, (int)p->n, (int)p->k, (int)i,
             (int)j, (double)c[i * p->n + j], sum);
  }
}

static void check(int64_t m, int64_t n, int64_t k, bool turned_a, bool turned_b) {
  float *a = noise(m * k, 0.3f), *b = noise(k * n, 1.1f);
  float *c = noise(m * n + 16, 0), *again = noise(m * n + 16, 0);
  told t = {n, calloc((size_t)(m * n), sizeof *t.pieces)};
  assert_non_null(t.pieces);
  rheos__panels p = {.m = m,
                     .n = n,
                     .k = k,
                     .a_row = turned_a ? 1 : k,
                     .a_column = turned_a ? m : 1,
                     .b_row = turned_b ? 1 : n,
                     .b_column = turned_b ? k : 1};
  rheos__panels_cut(&p);
  const int64_t units = p.column_units * p.row_units;
  assert_true((units - 1) / p.row_units * p.unit_columns < n);
  assert_true((p.row_units - 1) * p.unit_rows < m && p.row_units * p.unit_rows >= m);
  void *scratch = malloc(rheos__panels_scratch_bytes(&p));
  assert_non_null(scratch);
  rheos__panels_run(&p, a, b, c, 0, units, scratch, count_piece, &t);
  for (int64_t i = 0; i < m * n; i++) assert_int_equal(t.pieces[i], 1);
  // Every element where they are few, else each of the last rows and columns and some between
  const int64_t step = m * n * k > 1 << 20 ? 7 : 1;
  for (int64_t i = 0; i < m; i += i + step < m ? step : 1) {
    for (int64_t j = 0; j < n; j += j + step < n ? step : 1) check_element(&p, a, b, c, i, j);
  }
  for (int64_t first = 0, last; first < units; first = last) {
    last = first + 1 + first % 3 < units ? first + 1 + first % 3 : units;
    rheos__panels_run(&p, a, b, again, first, last, scratch, NULL, NULL);
  }
  assert_memory_equal(c, again, (size_t)(m * n + 16) * sizeof *c);  // and what is behind
  float *panels = malloc((size_t)(k * n) * sizeof *panels);
  assert_non_null(panels);
  rheos__panels_pack_all(&p, b, panels);
  p.is_packed = true;
  memset(again, 0, (size_t)(m * n) * sizeof *again);
  for (int64_t first = 0; first < units; first += 2) {
    const int64_t last = first + 2 < units ? first + 2 : units;
    rheos__panels_run(&p, a, panels, again, first, last, NULL, NULL, NULL);
  }
  assert_memory_equal(c, again, (size_t)(m * n + 16) * sizeof *c);
  free(panels);
  free(scratch);
  free(t.pieces);
  free(a);
  free(b);
  free(c);
  free(again);
}

static void test_panels__computes_products_of_every_size(void **state) {
  (void)state;
  static const int64_t rows[] = {1, 5, 6, 7, 64, 241, 400};
  static const int64_t depths[] = {1, 3, 64, 67, 256, 515, 1027};
  static const int64_t columns[] = {1, 3, 15, 16, 17, 63, 64, 65, 129, 256, 321};
  enum { ROWS = sizeof rows / sizeof *rows, DEPTHS = sizeof depths / sizeof *depths };
  for (size_t i = 0; i < sizeof columns / sizeof *columns * 7; i++) {
    check(rows[i % ROWS], columns[i / 7], depths[i / 3 % DEPTHS], i % 2, i % 5 > 0);
  }
  check(6, 1100, 5, false, true);     // more columns than units
  check(3300, 10, 3, true, false);    // more rows
  check(192, 800, 300, false, true);  // transposed by several panels, and not
  check(193, 800, 300, false, true);
  check(130, 1061, 259, true, true);
  check(250, 80, 2051, false, false);  // three blocks of rows of b
  check(20, 90, 1025, false, true);
  check(250, 300, 1100, true, false);  // strips of several blocks
  check(3300, 130, 64, true, false);
  check(65, 700, 70, true, true);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_panels__computes_products_of_every_size),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
