// RandomShuffle and StatelessShuffle: rows in random order (Fisher and Yates).
#include "ops/kit/op_util.h"
#include "ops/kit/polling.h"
#include "ops/kit/random_fill.h"

enum { ROWS_BETWEEN_POLLS = 1 << 16 };  // each may be out of the cache

// False if the step is to stop.
static bool shuffle(rheos__philox philox, int64_t *order, int64_t n) {
  rheos__philox_singles singles = rheos__philox_singles_of(philox);
  for (int64_t i = 0; i < n; i++) order[i] = i;
  int64_t since = 0;
  for (int64_t i = 0; i < n - 1; i++) {
    if (rheos__stops_after(&since, 1, ROWS_BETWEEN_POLLS)) return false;
    const int64_t other = i + rheos__philox_next(&singles) % (uint32_t)(n - i);
    const int64_t kept = order[i];
    order[i] = order[other];
    order[other] = kept;
  }
  return true;
}

static rheos_status *copy_rows(const rheos_tensor *in, const int64_t *order, rheos_tensor *out) {
  const int64_t rows = in->shape.dims[0], row_elements = in->num_elements / rows;
  const int64_t row_bytes = row_elements * (int64_t)rheos_dtype_size(in->dtype);
  int64_t since = 0;
  for (int64_t i = 0; i < rows; i++) {
    if (rheos__stops_after(&since, 1 + row_bytes / 64, ROWS_BETWEEN_POLLS)) return rheos__stopped();
    RHEOS_TRY(rheos__copy_elements(in->dtype, (char *)out->data + i * row_bytes,
                                   (const char *)in->data + order[i] * row_bytes, row_elements));
  }
  return NULL;
}

typedef struct shuffle_state {
  rheos__generator *generator;  // NULL: a key, a counter and an algorithm follow the value
} shuffle_state;

static void release_state(void *state) {
  rheos__generator_unref(((shuffle_state *)state)->generator);
}

static rheos_status *compute_shuffle(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                     rheos_tensor **outputs) {
  const shuffle_state *s = state;
  const rheos_tensor *in = inputs[0];
  rheos__philox philox = {0};
  (void)step;
  if (s->generator == NULL) RHEOS_TRY(rheos__philox_of_key(inputs, 1, &philox));
  if (in->num_elements <= 1 || in->shape.dims[0] <= 1) {
    return rheos_tensor_copy(in, &outputs[0]);
  }
  const int64_t rows = in->shape.dims[0];
  RHEOS_TRY(rheos__tensor_new(in->dtype, &in->shape, &outputs[0]));
  int64_t *order = rheos__alloc_array((size_t)rows, sizeof *order);
  if (order == NULL) return rheos__out_of_memory();
  if (s->generator != NULL) {
    philox = rheos__generator_reserve(s->generator, (uint64_t)(rows - 1 + 3) / 4);
  }
  rheos_status *status =
      shuffle(philox, order, rows) ? copy_rows(in, order, outputs[0]) : rheos__stopped();
  rheos__free(order);
  return status;
}

static rheos_status *prepare_stateless(rheos__prepare *p) {
  if (RHEOS_NEW_STATE(p, shuffle_state) == NULL) return rheos__out_of_memory();
  p->compute = compute_shuffle;
  return NULL;
}

static rheos_status *prepare_stateful(rheos__prepare *p) {
  RHEOS_TRY(prepare_stateless(p));
  RHEOS_TRY(rheos__generator_of_node(p, &((shuffle_state *)p->state)->generator));
  p->release = release_state;
  return NULL;
}

const rheos__op_def rheos__op_RandomShuffle = {
    .name = "RandomShuffle",
    .signature = "value: T -> output: T; " RHEOS__RANDOM_SEEDS "T: type",
    .doc = "The rows of `value` in random order.",
    .flags = RHEOS_OP_STATEFUL,
    .shape = rheos__shape_unchanged,
    .gradient = rheos__no_gradient,
    .prepare = prepare_stateful,
};

const rheos__op_def rheos__op_StatelessShuffle = {
    .name = "StatelessShuffle",
    .signature = "value: T, key: uint64, counter: uint64, alg: int32 -> output: T; T: type",
    .doc = "The rows of `value` in random order: the same one for the same `key` and `counter`.",
    .shape = rheos__shape_unchanged,
    .prepare = prepare_stateless,
};
