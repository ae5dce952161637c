// Pictures of many sizes on a graphics card: what PoCL makes of a processor gives the CPU's bits.
// Skipped where there is no device.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "device/card_trial.h"
#include "device/opencl/opencl.h"

typedef struct sizes {
  int32_t batch, in[2], out[2], channels;
} sizes;

static const sizes of_pictures[] = {
    {0, {3, 4}, {2, 2}, 3},      {1, {1, 1}, {1, 1}, 1},   {1, {1, 1}, {5, 7}, 2},
    {2, {5, 3}, {1, 1}, 1},      {1, {2, 33}, {31, 3}, 3}, {3, {17, 9}, {17, 9}, 1},
    {1, {64, 65}, {13, 130}, 2}, {2, {7, 1}, {29, 4}, 5},
};
enum { NUM_SIZES = sizeof of_pictures / sizeof *of_pictures };

typedef struct resizing {
  const char *op;
  bool is_gradient, takes_size;  // of the gradients one takes a size, the others the picture
  bool has_centers;
  rheos_dtype dtype;
} resizing;

static void try_resize(const resizing *r, const sizes *s, bool align, bool center) {
  card_trial t = {.op = r->op, .num_outputs = 1};
  const rheos_shape small = RHEOS_SHAPE(s->batch, s->in[0], s->in[1], s->channels);
  const rheos_shape large = RHEOS_SHAPE(s->batch, s->out[0], s->out[1], s->channels);
  const bool grad_is_float = r->is_gradient && !r->takes_size;
  card_trial_add(&t, card_trial_numbers(grad_is_float ? RHEOS_FLOAT : r->dtype,
                                        r->is_gradient ? large : small, 7));
  if (r->takes_size) {
    card_trial_add(&t, card_trial_ints(r->is_gradient ? s->in : s->out, 2));
  } else {
    card_trial_add(&t, card_trial_numbers(r->dtype, small, 11));
  }
  card_trial_add_attr(&t, rheos_attr_bool("align_corners", align));
  if (r->has_centers) card_trial_add_attr(&t, rheos_attr_bool("half_pixel_centers", center));
  card_trial_check(&t);
}

static void test_resizes_of_all_sizes(void **unused) {
  (void)unused;
  static const resizing all[] = {
      {"ResizeNearestNeighbor", false, true, true, RHEOS_HALF},
      {"ResizeBilinear", false, true, true, RHEOS_FLOAT},
      {"ResizeBilinear", false, true, true, RHEOS_BFLOAT16},
      {"ResizeBicubic", false, true, true, RHEOS_FLOAT},
      {"ResizeArea", false, true, false, RHEOS_DOUBLE},
      {"ResizeNearestNeighborGrad", true, true, true, RHEOS_FLOAT},
      {"ResizeNearestNeighborGrad", true, true, true, RHEOS_HALF},
      {"ResizeBilinearGrad", true, false, true, RHEOS_FLOAT},
      {"ResizeBilinearGrad", true, false, true, RHEOS_BFLOAT16},
      {"ResizeBicubicGrad", true, false, true, RHEOS_FLOAT},
      {"ResizeBicubicGrad", true, false, true, RHEOS_DOUBLE},
  };
  for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
    for (int mode = 0; mode < 2 + all[k].has_centers; mode++) {
      for (int i = 0; i < NUM_SIZES; i++) {
        try_resize(&all[k], &of_pictures[i], mode == 1, mode == 2);
      }
    }
  }
}

// ---- What only moves

static void try_blocks(const int64_t *in, const int32_t *block, const int32_t *paddings) {
  card_trial t = {.op = "SpaceToBatchND", .num_outputs = 1};
  card_trial_add(&t, card_trial_numbers(RHEOS_FLOAT, RHEOS_SHAPE(in[0], in[1], in[2], in[3]), 3));
  card_trial_add(&t, card_trial_ints(block, 2));
  rheos_tensor *table = NULL;
  assert_null(rheos_tensor_from_values(RHEOS_INT32, RHEOS_SHAPE(2, 2), paddings, &table));
  card_trial_add(&t, table);
  card_trial_check(&t);
}

static void try_unblocks(const int64_t *in, const int32_t *block, const int32_t *crops) {
  card_trial t = {.op = "BatchToSpaceND", .num_outputs = 1};
  card_trial_add(&t, card_trial_numbers(RHEOS_HALF, RHEOS_SHAPE(in[0], in[1], in[2], in[3]), 3));
  card_trial_add(&t, card_trial_ints(block, 2));
  rheos_tensor *table = NULL;
  assert_null(rheos_tensor_from_values(RHEOS_INT32, RHEOS_SHAPE(2, 2), crops, &table));
  card_trial_add(&t, table);
  card_trial_check(&t);
}

static void try_roll(const int64_t *in, int32_t shift, int32_t other) {
  const int32_t shifts[] = {shift, other, shift}, axes[] = {1, -1, 1};
  card_trial t = {.op = "Roll", .num_outputs = 1};
  card_trial_add(&t, card_trial_numbers(RHEOS_DOUBLE, RHEOS_SHAPE(in[0], in[1], in[2], in[3]), 5));
  card_trial_add(&t, card_trial_ints(shifts, 3));
  card_trial_add(&t, card_trial_ints(axes, 3));
  card_trial_check(&t);
}

static void test_moves_of_all_sizes(void **unused) {
  (void)unused;
  static const int64_t spaces[][4] = {{0, 4, 6, 2}, {1, 1, 3, 1}, {3, 5, 12, 2}, {2, 0, 6, 3}};
  static const int32_t frames[][4] = {{0, 0, 0, 0}, {2, 1, 3, 3}, {1, 2, 0, 6}, {3, 0, 0, 0}};
  static const int32_t shifts[] = {0, 1, -7, 1000000007};
  for (int i = 0; i < 4; i++) {
    const int32_t rows = frames[i][0] + frames[i][1] + (int32_t)spaces[i][1];
    const int32_t block[] = {rows % 3 == 0 ? 3 : rows % 2 == 0 ? 2 : 1, 3};
    try_blocks(spaces[i], block, frames[i]);
    const int64_t deep[] = {6 * spaces[i][0], spaces[i][1], spaces[i][2], spaces[i][3]};
    const int32_t six[] = {2, 3}, crops[] = {spaces[i][1] > 0, 0, 1, 4};
    try_unblocks(deep, six, crops);
    for (int k = 0; k < 4; k++) try_roll(spaces[i], shifts[k], shifts[3 - k]);
  }
}

int main(void) {
  setenv("RHEOS_OPENCL", "cpu", 1);
  if (rheos__opencl_count() == 0) return 77;
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_resizes_of_all_sizes),
                                     cmocka_unit_test(test_moves_of_all_sizes)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
