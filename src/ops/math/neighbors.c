// NearestNeighbors: the centers nearest to each point, by the squares of the distances.
#include <math.h>
#include <stdlib.h>

#include "ops/kit/array_util.h"

static rheos_status *shape(rheos__infer *c) {
  rheos_shape points, centers, ignored;
  RHEOS_TRY(rheos__infer_rank(c, 0, 2, &points));
  RHEOS_TRY(rheos__infer_rank(c, 1, 2, &centers));
  RHEOS_TRY(rheos__infer_rank(c, 2, 0, &ignored));
  if (points.dims[1] >= 0 && centers.dims[1] >= 0 && points.dims[1] != centers.dims[1]) {
    return RHEOS_INVALID("points have %lld dimensions and centers %lld", (long long)points.dims[1],
                         (long long)centers.dims[1]);
  }
  int64_t k = -1;
  if (rheos__infer_int(c, 2, &k) && centers.dims[0] >= 0) {
    if (k > centers.dims[0]) k = centers.dims[0];
  } else {
    k = -1;
  }
  c->output_shapes[0] = c->output_shapes[1] = RHEOS_SHAPE(points.dims[0], k < 0 ? -1 : k);
  return NULL;
}

typedef struct neighbor {
  float distance;
  int64_t index;
} neighbor;

// Nearest first, equal ones by index, NaN behind all.
static int compare(const void *first, const void *second) {
  const neighbor *a = first, *b = second;
  if (isnan(a->distance) || isnan(b->distance)) {
    if (isnan(a->distance) != isnan(b->distance)) return isnan(a->distance) ? 1 : -1;
  } else if (a->distance != b->distance) {
    return a->distance < b->distance ? -1 : 1;
  }
  return a->index < b->index ? -1 : a->index > b->index;
}

// Keeps the `k` nearest so far in a heap whose root is the farthest of them.
static void sift(neighbor *heap, int64_t count, int64_t at) {
  for (;;) {
    int64_t child = 2 * at + 1;
    if (child >= count) return;
    if (child + 1 < count && compare(&heap[child + 1], &heap[child]) > 0) child++;
    if (compare(&heap[at], &heap[child]) >= 0) return;
    const neighbor swap = heap[at];
    heap[at] = heap[child], heap[child] = swap;
    at = child;
  }
}

typedef struct search {
  const float *points, *centers;
  int64_t num_centers, depth, k;
  int64_t *indices;
  float *distances;
} search;

static float distance_of(const float *a, const float *b, int64_t depth) {
  float sum = 0;
  for (int64_t i = 0; i < depth; i++) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return sum;
}

static rheos_status *search_points(void *argument, int64_t first, int64_t last) {
  const search *s = argument;
  neighbor *heap = rheos__alloc_array((size_t)s->k, sizeof *heap);
  if (heap == NULL) return rheos__out_of_memory();
  for (int64_t point = first; point < last; point++) {
    int64_t count = 0;
    for (int64_t center = 0; center < s->num_centers; center++) {
      const neighbor found = {
          distance_of(s->points + point * s->depth, s->centers + center * s->depth, s->depth),
          center};
      if (count < s->k) {
        heap[count++] = found;
        if (count == s->k) {
          for (int64_t i = count / 2; i >= 0; i--) sift(heap, count, i);
        }
      } else if (compare(&found, &heap[0]) < 0) {
        heap[0] = found;
        sift(heap, count, 0);
      }
    }
    qsort(heap, (size_t)count, sizeof *heap, compare);
    for (int64_t i = 0; i < s->k; i++) {
      s->indices[point * s->k + i] = heap[i].index;
      s->distances[point * s->k + i] = heap[i].distance;
    }
  }
  rheos__free(heap);
  return NULL;
}

static rheos_status *compute(void *state, rheos__step *step, rheos_tensor *const *inputs,
                             rheos_tensor **outputs) {
  (void)state;
  const rheos_tensor *points = inputs[0], *centers = inputs[1];
  int64_t k = *(const int64_t *)inputs[2]->data;
  if (k < 0) return RHEOS_INVALID("k is %lld, which is negative", (long long)k);
  const int64_t num_centers = centers->shape.dims[0], depth = points->shape.dims[1];
  if (k > num_centers) k = num_centers;
  const rheos_shape out = RHEOS_SHAPE(points->shape.dims[0], k);
  RHEOS_TRY(rheos__tensor_new(RHEOS_INT64, &out, &outputs[0]));
  RHEOS_TRY(rheos__tensor_new(RHEOS_FLOAT, &out, &outputs[1]));
  if (outputs[0]->num_elements == 0) return NULL;
  search s = {points->data,     centers->data,   num_centers, depth, k,
              outputs[0]->data, outputs[1]->data};
  const double flops = 3.0 * (double)out.dims[0] * (double)num_centers * ((double)depth + 4);
  return rheos__step_parallel(step, out.dims[0], rheos__flops(flops), search_points, &s);
}

const rheos__op_def rheos__op_NearestNeighbors = {
    .name = "NearestNeighbors",
    .signature =
        "points: float, centers: float, k: int64 -> nearest_center_indices: int64, "
        "nearest_center_distances: float",
    .doc = "The `k` of `centers` nearest to each of `points`, and the squares of their distances.",
    .shape = shape,
    .compute = compute,
};
