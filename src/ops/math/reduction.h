// Reductions as a plan sees them: which elements make which output, in which order they are added.
// So what is reduced can be computed on the way, piece by piece, and give the bits of the kernel by
// itself.
#ifndef RHEOS_SRC_OPS_MATH_REDUCTION_H
#define RHEOS_SRC_OPS_MATH_REDUCTION_H

#include "graph/op_def.h"

enum {
  RHEOS__REDUCED_LANES = 16,    // runs of fewer elements are added one by one
  RHEOS__REDUCED_BLOCK = 4096,  // elements whose lanes are joined before the next
  RHEOS__REDUCED_TILE = 2048,   // totals side by side, at most
  RHEOS__TOTAL_BYTES = 16,
};

// How one op reduces one dtype. Totals are of any type of at most RHEOS__TOTAL_BYTES.
typedef struct rheos__reducer {
  void (*start)(void *totals, int64_t n);
  void (*run)(void *total, const void *x, int64_t n);  // all of x into one total
  // One block of a run into its total: what `run` does from RHEOS__REDUCED_LANES elements on
  void (*block)(void *total, const void *x, int64_t n);
  // x[i + k * step] into totals[i], for each k < rows in turn
  void (*columns)(void *totals, const void *x, int64_t n, int64_t rows, int64_t step);
  void (*join)(void *totals, const void *others, int64_t n);
  void (*finish)(void *out, const void *totals, int64_t n, int64_t count);
  // As text, like rheos__formula: the type of totals, with which they start, a total `a`
  // with the next element x or with another total `b`, and what comes out of `a`, of `count`
  const char *total, *initial, *step, *joined, *result;
  uint8_t dtype;
} rheos__reducer;

// What to do, settled by shapes and axes.
typedef struct rheos__reduction {
  const rheos__reducer *by;
  int64_t count;  // elements that make one output
  int64_t num_outputs;
  int64_t in_bytes, out_bytes;  // of an element
  // The joined dimensions but the innermost, split into kept and reduced ones; steps in elements
  int32_t num_kept, num_reduced;
  int64_t kept_dims[RHEOS_MAX_RANK], kept_steps[RHEOS_MAX_RANK];
  int64_t reduced_dims[RHEOS_MAX_RANK], reduced_steps[RHEOS_MAX_RANK];
  int64_t inner;  // the innermost one
  bool inner_reduced;
  int64_t runs;       // combinations of the reduced dimensions but the innermost
  int64_t tile;       // columns in one go, if the innermost is kept
  int64_t num_items;  // outputs, or tiles
  int64_t unit_items;
  int64_t num_units;
  // Where there are few items of many elements, each is reduced in pieces: of so many runs, and of
  // so many elements of a run if it is longer than a piece
  int64_t num_pieces, piece_runs, piece_inner;
  // Of a kernel whose axes were known when it was prepared
  rheos_dtype out_dtype;
  rheos_shape out_shape;
} rheos__reduction;

// An item: `width` outputs from number `output` on, one or a tile; element `at` is the first.
typedef struct rheos__reduced_item {
  int64_t at, output, width;
} rheos__reduced_item;

// A part of what is added up for an item: of runs [first_run, last_run), `count` elements each,
// from element `start` on.
typedef struct rheos__reduced_span {
  int64_t first_run, last_run, start, count;
} rheos__reduced_span;

rheos__reduced_item rheos__reduction_item(const rheos__reduction *r, int64_t index);
rheos__reduced_span rheos__reduction_span(const rheos__reduction *r, int64_t piece);
// How many elements run `run` lies behind the first one.
int64_t rheos__reduction_offset(const rheos__reduction *r, int64_t run);
// Bytes that the totals of one item take.
size_t rheos__reduction_total_bytes(const rheos__reduction *r);
// Joins the totals of the pieces, in order, and finishes them. `totals`: piece after piece of item
// after item.
void rheos__reduction_join(const rheos__reduction *r, char *totals, char *out);

// The state of a kernel that reduces; NULL if it is another one.
const rheos__reduction *rheos__reduction_of(rheos__run_fn run, rheos__compute_fn compute,
                                            const void *state);

// Marks the dimensions that `axes` names in out_reduced (RHEOS_MAX_RANK of them); negative axes
// count from the end.
rheos_status *rheos__reduction_axes(const rheos_tensor *axes, int32_t rank, bool *out_reduced);
// The shape without the reduced dimensions, or with 1 in their place.
rheos_shape rheos__reduced_shape(const rheos_shape *shape, const bool *reduced, bool keep_dims);

// The gradients (reduction_grad.c)
void rheos__grad_sum(rheos__grad *g);
void rheos__grad_mean(rheos__grad *g);
void rheos__grad_extreme(rheos__grad *g);  // of the largest, and of the smallest
void rheos__grad_prod(rheos__grad *g);
void rheos__grad_euclidean_norm(rheos__grad *g);
void rheos__grad_l2_loss(rheos__grad *g);

#endif  // RHEOS_SRC_OPS_MATH_REDUCTION_H
