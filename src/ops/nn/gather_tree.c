// GatherTree: the beams of a search, followed from their ends to their starts.
#include "graph/build.h"
#include "ops/kit/array_util.h"
#include "ops/kit/op_util.h"

static rheos_status *shape_gather_tree(rheos__infer *c) {
  rheos_shape steps, parents, lengths, end;
  RHEOS_TRY(rheos__infer_rank(c, 0, 3, &steps));
  RHEOS_TRY(rheos__infer_rank(c, 1, 3, &parents));
  RHEOS_TRY(rheos__infer_rank(c, 2, 1, &lengths));
  RHEOS_TRY(rheos__infer_rank(c, 3, 0, &end));
  RHEOS_TRY(rheos__shape_merge(&steps, &parents, &c->output_shapes[0]));
  int64_t *batch = &c->output_shapes[0].dims[1];
  const int64_t count = lengths.dims[0];
  if (*batch >= 0 && count >= 0 && *batch != count) {
    return RHEOS_INVALID("expected a length for each of %lld elements of the batch, got %lld",
                         (long long)*batch, (long long)count);
  }
  if (*batch < 0) *batch = count;
  return NULL;
}

// One beam of one element of the batch: its ids up to the first end, then ends.
// The ids, parents and beams are (time, batch, width); `place` is where the beam is at time 0.
typedef struct tree {
  const int32_t *ids, *parents;
  int32_t *beams;
  int64_t stride, width;  // from one time to the next; how many beams there are
  int32_t end;
} tree;

static rheos_status *follow(const tree *t, int64_t place, int64_t beam, int64_t time) {
  int64_t at = beam;
  for (int64_t level = time - 1; level >= 0; --level) {
    const int64_t from = level * t->stride + place;
    t->beams[from + beam] = t->ids[from + at];
    const int32_t parent = t->parents[from + at];
    if (level > 0 && (parent < 0 || parent >= t->width)) {
      return RHEOS_INVALID("Saw invalid parent id %d at (batch, time, beam) == (%lld, %lld, %lld)",
                           (int)parent, (long long)(place / t->width), (long long)level - 1,
                           (long long)beam);
    }
    at = parent;
  }
  bool ended = false;
  for (int64_t level = 0; level < time; ++level) {
    int32_t *id = &t->beams[level * t->stride + place + beam];
    if (ended) *id = t->end;
    ended = *id == t->end;
  }
  return NULL;
}

static rheos_status *run_gather_tree(const void *state, const void *const *inputs,
                                     void *const *outputs, void *scratch, int64_t first_unit,
                                     int64_t last_unit) {
  (void)scratch;
  const rheos__operands *o = state;
  const rheos_shape *shape = &o->input_shapes[0];
  const int64_t time = shape->dims[0], width = shape->dims[2];
  const int32_t *lengths = inputs[2];
  const tree t = {.ids = inputs[0],
                  .parents = inputs[1],
                  .beams = outputs[0],
                  .stride = shape->dims[1] * width,
                  .width = width,
                  .end = *(const int32_t *)inputs[3]};
  for (int64_t b = first_unit; b < last_unit; ++b) {
    for (int64_t level = 0; level < time; ++level) {
      for (int64_t k = 0; k < width; ++k) t.beams[level * t.stride + b * width + k] = t.end;
    }
    const int64_t length = lengths[b] < time ? lengths[b] : time;
    for (int64_t k = 0; k < width; ++k) RHEOS_TRY(follow(&t, b * width, k, length));
  }
  return NULL;
}

static rheos_status *prepare_gather_tree(rheos__prepare *p) {
  return rheos__answer_run_operands(p, run_gather_tree, p->input_shapes[0].dims[1]);
}

const rheos__op_def rheos__op_GatherTree = {
    .name = "GatherTree",
    .signature =
        "step_ids: T, parent_ids: T, max_sequence_lengths: int32, end_token: T -> beams: T; "
        "T: {int32}",
    .doc =
        "The whole beams of a search, from the ids of its steps (time, batch, beams) and the beams "
        "that they go on from; `end_token` after the first one.",
    .shape = shape_gather_tree,
    .gradient = rheos__no_gradient,
    .prepare = prepare_gather_tree,
};
