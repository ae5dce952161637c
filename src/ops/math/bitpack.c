// CompareAndBitpack: eight comparisons in one byte, the first one in its highest bit.
#include "ops/kit/array_util.h"
#include "ops/kit/elementwise.h"
#include "ops/kit/op_util.h"

static rheos_status *shape_bitpack(rheos__infer *c) {
  rheos_shape scalar;
  RHEOS_TRY(rheos__infer_rank(c, 1, 0, &scalar));
  RHEOS_TRY(rheos__infer_rank_at_least(c, 0, 1));
  rheos_shape shape = c->input_shapes[0];
  if (shape.rank < 0) return NULL;
  int64_t *last = &shape.dims[shape.rank - 1];
  if (*last > 0 && *last % 8 != 0) {
    return RHEOS_INVALID("Inner dimension of input should be divisible by 8, got %lld",
                         (long long)*last);
  }
  if (*last > 0) *last /= 8;
  c->output_shapes[0] = shape;
  return NULL;
}

typedef void (*pack_fn)(const void *values, const void *threshold, uint8_t *out, int64_t first,
                        int64_t last);

#define PACK(S, unused)                                                                        \
  static void pack_##S(const void *values, const void *threshold, uint8_t *out, int64_t first, \
                       int64_t last) {                                                         \
    const rheos__stored_##S *x = (const rheos__stored_##S *)values + 8 * first;                \
    const rheos__computed_##S limit = RHEOS__LOAD_##S(*(const rheos__stored_##S *)threshold);  \
    for (int64_t i = first; i < last; i++, x += 8) {                                           \
      unsigned byte = 0;                                                                       \
      for (int k = 0; k < 8; k++) byte = byte << 1 | (RHEOS__LOAD_##S(x[k]) > limit);          \
      out[i] = (uint8_t)byte;                                                                  \
    }                                                                                          \
  }
#define DTYPES(M, ...) \
  RHEOS__REALS(M, __VA_ARGS__) M(half, __VA_ARGS__) RHEOS__SIGNED(M, __VA_ARGS__)
DTYPES(PACK, )

// Truth is packed as it is, whatever the threshold.
static void pack_boolean(const void *values, const void *threshold, uint8_t *out, int64_t first,
                         int64_t last) {
  const uint8_t *x = (const uint8_t *)values + 8 * first;
  (void)threshold;
  for (int64_t i = first; i < last; i++, x += 8) {
    unsigned byte = 0;
    for (int k = 0; k < 8; k++) byte = byte << 1 | (x[k] != 0);
    out[i] = (uint8_t)byte;
  }
}

#define PACK_ENTRY(S, unused) [RHEOS__DTYPE_##S] = pack_##S,
static const pack_fn pack_fns[RHEOS__NUM_DTYPES] = {DTYPES(PACK_ENTRY, ) PACK_ENTRY(boolean, )};

enum { UNIT = 4096 };  // bytes

typedef struct bitpack {
  pack_fn pack;
  int64_t count;
} bitpack;

static rheos_status *run_bitpack(const void *state, const void *const *inputs, void *const *outputs,
                                 void *scratch, int64_t first_unit, int64_t last_unit) {
  (void)scratch;
  const bitpack *s = state;
  const int64_t last = last_unit * UNIT < s->count ? last_unit * UNIT : s->count;
  s->pack(inputs[0], inputs[1], outputs[0], first_unit * UNIT, last);
  return NULL;
}

static rheos_status *prepare_bitpack(rheos__prepare *p) {
  bitpack *s = RHEOS_NEW_STATE(p, bitpack);
  if (s == NULL) return rheos__out_of_memory();
  s->pack = pack_fns[p->input_dtypes[0]];
  if (s->pack == NULL) return rheos__no_kernel(p, p->input_dtypes[0]);
  s->count = rheos_shape_num_elements(&p->output_shapes[0]);
  p->num_units = (s->count + UNIT - 1) / UNIT;
  p->flops = 16 * s->count;
  p->run = run_bitpack;
  return NULL;
}

const rheos__op_def rheos__op_CompareAndBitpack = {
    .name = "CompareAndBitpack",
    .signature =
        "input: T, threshold: T -> output: uint8; "
        "T: {bool, half, float, double, int8, int16, int32, int64}",
    .doc = "Whether each number is above `threshold`, eight along the last dimension in one byte.",
    .shape = shape_bitpack,
    .prepare = prepare_bitpack,
};
