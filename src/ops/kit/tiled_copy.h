// Large copies that put all elements into another order: transposes of any number of dimensions.
// The loops are cut into tiles that have long runs in the source and in the result; a tile is read
// run by run into a buffer and written run by run from there.
#ifndef RHEOS_SRC_OPS_KIT_TILED_COPY_H
#define RHEOS_SRC_OPS_KIT_TILED_COPY_H

#include "ops/kit/array_util.h"

// The most elements of a run of the result and runs of a tile.
enum { RHEOS__TILED_RUN = 1024, RHEOS__TILED_RUNS = 1024 };

typedef struct rheos__tiled_loop {
  int64_t dim, in_step, out_step;  // bytes
  int64_t block;                   // how many of `dim` are in a tile; the last may have less
} rheos__tiled_loop;

// A tile reads `in_runs` runs of `in_run` elements and writes `out_runs` of `out_run`. The last
// tile of a loop has less: of elements where `in_run_cut` or `out_run_cut` is the loop, or of runs.
typedef struct rheos__tiled {
  int64_t size;  // bytes of an element
  int32_t rank;
  rheos__tiled_loop loops[RHEOS__COPY_RANK];  // in the order of the result, outermost first
  int64_t num_tiles;
  int64_t in_run, in_runs, out_run, out_runs;
  int32_t in_run_cut, in_runs_cut, out_run_cut, out_runs_cut;  // -1: none
  int64_t pitch;                           // bytes from run to run in the buffer
  int64_t piece;                           // so many elements of a run lie together there
  bool fours;                              // whether elements of four runs do
  int64_t in_offsets[RHEOS__TILED_RUNS];   // of runs from the tile's first element, bytes
  int64_t out_offsets[RHEOS__TILED_RUNS];  // the same
  int32_t starts[RHEOS__TILED_RUNS];       // where in the buffer a run of the result begins, bytes
  int32_t places[RHEOS__TILED_RUN];        // and its elements from there on, elements
} rheos__tiled;

// Fills in `out_tiled` for `copy`, whose elements have `size` bytes; false if the copy leaves
// elements out or repeats them, or if tiles of it would be of no use.
bool rheos__tiled_plan(const rheos__copy *copy, int64_t size, rheos__tiled *out_tiled);

// Bytes of memory that rheos__tiled_run() works in, which begins with a cache line.
size_t rheos__tiled_scratch_bytes(const rheos__tiled *t);

// Copies the tiles [first, last) and streams (stream.h) what is whole lines.
void rheos__tiled_run(const rheos__tiled *t, const void *in, void *out, void *scratch,
                      int64_t first, int64_t last);

#endif  // RHEOS_SRC_OPS_KIT_TILED_COPY_H
