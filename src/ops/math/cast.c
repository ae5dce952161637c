// Cast: one loop for each pair of dtypes, made by crossing the list of dtypes with itself.
//
// What C leaves undefined, a float that does not fit the integer, is defined here as what an x86-64
// processor does: it converts to 32 bits (64 for int64, uint32 and uint64), answers with the least
// number where that does not fit, and keeps the low bits.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3")
#endif
#include <string.h>

#include "ops/kit/elementwise.h"
#include "ops/kit/op_util.h"

static inline int32_t to_int32(double v) {
  return v > -2147483649.0 && v < 2147483648.0 ? (int32_t)v : INT32_MIN;
}
static inline int64_t to_int64(double v) {
  return v >= -0x1p63 && v < 0x1p63 ? (int64_t)v : INT64_MIN;
}
static inline uint64_t to_uint64(double v) {
  const uint64_t bits = (uint64_t)to_int64(v);
  return bits >> 63 != 0 ? bits | (uint64_t)to_int64(v - 0x1p63) : bits;
}

// CONVERT_Z(v): v, of any type, to Z.
#define IS_FLOAT(v) \
  _Generic((v), float: 1, double: 1, float _Complex: 1, double _Complex: 1, default: 0)
#define CONVERT_float(v) (v)
#define CONVERT_double(v) (v)
#define CONVERT_half(v) (v)
#define CONVERT_bfloat16(v) (v)
#define CONVERT_int8(v) (IS_FLOAT(v) ? (int8_t)to_int32((double)(v)) : (int8_t)(v))
#define CONVERT_int16(v) (IS_FLOAT(v) ? (int16_t)to_int32((double)(v)) : (int16_t)(v))
#define CONVERT_int32(v) (IS_FLOAT(v) ? to_int32((double)(v)) : (int32_t)(v))
#define CONVERT_int64(v) (IS_FLOAT(v) ? to_int64((double)(v)) : (int64_t)(v))
#define CONVERT_uint8(v) (IS_FLOAT(v) ? (uint8_t)to_int32((double)(v)) : (uint8_t)(v))
#define CONVERT_uint16(v) (IS_FLOAT(v) ? (uint16_t)to_int32((double)(v)) : (uint16_t)(v))
#define CONVERT_uint32(v) (IS_FLOAT(v) ? (uint32_t)to_int64((double)(v)) : (uint32_t)(v))
#define CONVERT_uint64(v) (IS_FLOAT(v) ? to_uint64((double)(v)) : (uint64_t)(v))
#define CONVERT_boolean(v) ((double)(v) != 0)  // of complex numbers the real part
#define CONVERT_complex64(v) (v)
#define CONVERT_complex128(v) (v)

// Integers to 4 bits keep the lowest ones.
#define CONVERT_int4(v) ((int8_t)((uint8_t)((uint8_t)(v) << 4)) >> 4)
#define CONVERT_uint4(v) ((v) & 15)

// clang-format off
#define FOR_EACH_INTEGER(M, ...)                                                               \
  M(int8, __VA_ARGS__) M(int16, __VA_ARGS__) M(int32, __VA_ARGS__) M(int64, __VA_ARGS__)       \
  M(uint8, __VA_ARGS__) M(uint16, __VA_ARGS__) M(uint32, __VA_ARGS__) M(uint64, __VA_ARGS__)
#define FOR_EACH_DTYPE(M, ...)                                                                \
  M(float, __VA_ARGS__) M(double, __VA_ARGS__) M(half, __VA_ARGS__) M(bfloat16, __VA_ARGS__)   \
  M(int8, __VA_ARGS__) M(int16, __VA_ARGS__) M(int32, __VA_ARGS__) M(int64, __VA_ARGS__)       \
  M(uint8, __VA_ARGS__) M(uint16, __VA_ARGS__) M(uint32, __VA_ARGS__) M(uint64, __VA_ARGS__)   \
  M(boolean, __VA_ARGS__) M(complex64, __VA_ARGS__) M(complex128, __VA_ARGS__)
// clang-format on

#define CAST_LOOP(Z, S)                                                                 \
  static int S##_to_##Z(const void *const *in, void *out, int64_t n, unsigned repeated, \
                        double parameter) {                                             \
    (void)repeated, (void)parameter;                                                    \
    const rheos__stored_##S *xs = in[0];                                                \
    rheos__stored_##Z *zs = out;                                                        \
    for (int64_t i = 0; i < n; i++) {                                                   \
      const rheos__computed_##S x = RHEOS__LOAD_##S(xs[i]);                             \
      zs[i] = RHEOS__STORE_##Z(CONVERT_##Z(x));                                         \
    }                                                                                   \
    return 0;                                                                           \
  }
#define CAST_ENTRY(Z, S) [RHEOS__DTYPE_##S][RHEOS__DTYPE_##Z] = S##_to_##Z,

FOR_EACH_DTYPE(CAST_LOOP, float)
FOR_EACH_DTYPE(CAST_LOOP, double)
FOR_EACH_DTYPE(CAST_LOOP, half)
FOR_EACH_DTYPE(CAST_LOOP, bfloat16)
FOR_EACH_DTYPE(CAST_LOOP, int8)
FOR_EACH_DTYPE(CAST_LOOP, int16)
FOR_EACH_DTYPE(CAST_LOOP, int32)
FOR_EACH_DTYPE(CAST_LOOP, int64)
FOR_EACH_DTYPE(CAST_LOOP, uint8)
FOR_EACH_DTYPE(CAST_LOOP, uint16)
FOR_EACH_DTYPE(CAST_LOOP, uint32)
FOR_EACH_DTYPE(CAST_LOOP, uint64)
FOR_EACH_DTYPE(CAST_LOOP, boolean)
FOR_EACH_DTYPE(CAST_LOOP, complex64)
FOR_EACH_DTYPE(CAST_LOOP, complex128)

static const rheos__loop loops[RHEOS__NUM_DTYPES][RHEOS__NUM_DTYPES] = {
    FOR_EACH_DTYPE(CAST_ENTRY, float) FOR_EACH_DTYPE(CAST_ENTRY, double) FOR_EACH_DTYPE(
        CAST_ENTRY, half) FOR_EACH_DTYPE(CAST_ENTRY, bfloat16) FOR_EACH_DTYPE(CAST_ENTRY, int8)
        FOR_EACH_DTYPE(CAST_ENTRY, int16) FOR_EACH_DTYPE(CAST_ENTRY, int32) FOR_EACH_DTYPE(
            CAST_ENTRY, int64) FOR_EACH_DTYPE(CAST_ENTRY, uint8) FOR_EACH_DTYPE(CAST_ENTRY, uint16)
            FOR_EACH_DTYPE(CAST_ENTRY, uint32) FOR_EACH_DTYPE(CAST_ENTRY, uint64)
                FOR_EACH_DTYPE(CAST_ENTRY, boolean) FOR_EACH_DTYPE(CAST_ENTRY, complex64)
                    FOR_EACH_DTYPE(CAST_ENTRY, complex128)};

// ---- As text: from floats, and from whole numbers

#define CAST_FORMULA(S, Z, text) {S##_to_##Z, text, 1, {RHEOS__DTYPE_##S}, RHEOS__DTYPE_##Z},
#define CAST_FORMULAS(S, M) \
  M(S, float, "x") M(S, double, "x") M(S, half, "x") M(S, bfloat16, "x") M(S, boolean, "x != 0")
// clang-format off
#define FROM_FLOAT(S, ...)                                                                      \
  CAST_FORMULAS(S, CAST_FORMULA)                                                                \
  CAST_FORMULA(S, int8, "(int8_t)to_int32(x)") CAST_FORMULA(S, int16, "(int16_t)to_int32(x)")   \
  CAST_FORMULA(S, uint8, "(uint8_t)to_int32(x)")                                                \
  CAST_FORMULA(S, uint16, "(uint16_t)to_int32(x)")                                              \
  CAST_FORMULA(S, uint32, "(uint32_t)to_int64(x)")                                              \
  CAST_FORMULA(S, int32, "to_int32(x)") CAST_FORMULA(S, int64, "to_int64(x)")
#define FROM_WHOLE(S, ...)                                                                      \
  CAST_FORMULAS(S, CAST_FORMULA)                                                                \
  CAST_FORMULA(S, int8, "(int8_t)x") CAST_FORMULA(S, int16, "(int16_t)x")                       \
  CAST_FORMULA(S, int32, "(int32_t)x") CAST_FORMULA(S, int64, "(int64_t)x")                     \
  CAST_FORMULA(S, uint8, "(uint8_t)x") CAST_FORMULA(S, uint16, "(uint16_t)x")                   \
  CAST_FORMULA(S, uint32, "(uint32_t)x") CAST_FORMULA(S, uint64, "(uint64_t)x")
// clang-format on
RHEOS__FORMULAS(cast, RHEOS__FLOATS(FROM_FLOAT, ) RHEOS__INTEGERS(FROM_WHOLE, )
                          RHEOS__BOOLS(FROM_WHOLE, ));

#define FOUR_BITS_LOOP(S, Z, stored)                                                    \
  static int S##_to_##Z(const void *const *in, void *out, int64_t n, unsigned repeated, \
                        double parameter) {                                             \
    (void)repeated, (void)parameter;                                                    \
    const rheos__stored_##S *xs = in[0];                                                \
    stored *zs = out;                                                                   \
    for (int64_t i = 0; i < n; i++) zs[i] = (stored)CONVERT_##Z(xs[i]);                 \
    return 0;                                                                           \
  }
#define FOUR_BITS_ENTRY(S, Z) [RHEOS__DTYPE_##S] = S##_to_##Z,
FOR_EACH_INTEGER(FOUR_BITS_LOOP, int4, int8_t)
FOR_EACH_INTEGER(FOUR_BITS_LOOP, uint4, uint8_t)
static const rheos__loop to_int4[RHEOS__NUM_DTYPES] = {FOR_EACH_INTEGER(FOUR_BITS_ENTRY, int4)};
static const rheos__loop to_uint4[RHEOS__NUM_DTYPES] = {FOR_EACH_INTEGER(FOUR_BITS_ENTRY, uint4)};

// As in TensorFlow these are only cast to integers and from them.
static rheos__loop four_bits_loop(rheos_dtype from, rheos_dtype to) {
  from = from == RHEOS_INT4 ? RHEOS_INT8 : from == RHEOS_UINT4 ? RHEOS_UINT8 : from;
  if (!rheos_dtype_is_integer(from) || !rheos_dtype_is_integer(to)) return NULL;
  if (to == RHEOS_INT4) return to_int4[from];
  return to == RHEOS_UINT4 ? to_uint4[from] : loops[from][to];
}

static bool is_four_bits(rheos_dtype dtype) { return dtype == RHEOS_INT4 || dtype == RHEOS_UINT4; }

// With the attribute Truncate: the bits of a float that do not fit are cut off, not rounded.
static float without_low_bits(float value, uint32_t mask) {
  uint32_t bits;
  if (value != value) return value;
  memcpy(&bits, &value, sizeof bits);
  bits &= ~mask;
  memcpy(&value, &bits, sizeof bits);
  return value;
}

#define TRUNCATING_LOOP(Z, S, mask)                                                         \
  static int S##_cut_to_##Z(const void *const *in, void *out, int64_t n, unsigned repeated, \
                            double parameter) {                                             \
    (void)repeated, (void)parameter;                                                        \
    const S *xs = in[0];                                                                    \
    uint16_t *zs = out;                                                                     \
    for (int64_t i = 0; i < n; i++) {                                                       \
      zs[i] = RHEOS__STORE_##Z(without_low_bits((float)xs[i], mask));                       \
    }                                                                                       \
    return 0;                                                                               \
  }
TRUNCATING_LOOP(half, float, 0x1fffu)
TRUNCATING_LOOP(half, double, 0x1fffu)
TRUNCATING_LOOP(bfloat16, float, 0xffffu)

static int double_cut_to_float(const void *const *in, void *out, int64_t n, unsigned repeated,
                               double parameter) {
  (void)repeated, (void)parameter;
  const double *xs = in[0];
  float *zs = out;
  for (int64_t i = 0; i < n; i++) {
    uint64_t bits;
    double value = xs[i];
    memcpy(&bits, &value, sizeof bits);
    if (value == value) bits &= ~0x1fffffffull;
    memcpy(&value, &bits, sizeof bits);
    zs[i] = (float)value;
  }
  return 0;
}

static rheos__loop loop_of(rheos_dtype from, rheos_dtype to, bool truncate) {
  if (truncate && to == RHEOS_HALF && from == RHEOS_FLOAT) return float_cut_to_half;
  if (truncate && to == RHEOS_HALF && from == RHEOS_DOUBLE) return double_cut_to_half;
  if (truncate && to == RHEOS_BFLOAT16 && from == RHEOS_FLOAT) return float_cut_to_bfloat16;
  if (truncate && to == RHEOS_FLOAT && from == RHEOS_DOUBLE) return double_cut_to_float;
  from = rheos__stored_dtype(from);
  to = rheos__stored_dtype(to);
  if (is_four_bits(from) || is_four_bits(to)) return four_bits_loop(from, to);
  return loops[from][to];
}

static rheos_status *prepare_Cast(rheos__prepare *p) {
  const rheos_dtype from = p->input_dtypes[0], to = p->output_dtypes[0];
  if (from == to) {
    p->alias_input = 0;
    return NULL;
  }
  const rheos__loop loop = loop_of(from, to, rheos__attr_bool(p->attrs, "Truncate"));
  if (loop == NULL) {
    return rheos_status_new(RHEOS_UNIMPLEMENTED, "Cast %s to %s is not supported",
                            rheos_dtype_name(from), rheos_dtype_name(to));
  }
  return rheos__prepare_elementwise(p, loop, 1, 0, "");
}

static void grad_cast(rheos__grad *g) {
  const rheos_dtype from = rheos_dtype_base(rheos_output_dtype(g->inputs[0]));
  const rheos_dtype to = rheos_output_dtype(g->outputs[0]);
  const bool smooth_from = rheos_dtype_is_floating(from) || rheos_dtype_is_complex(from);
  const bool smooth_to = rheos_dtype_is_floating(to) || rheos_dtype_is_complex(to);
  if (!smooth_from || !smooth_to) return;
  rheos__grad_set(g, 0, rheos__cast_to(g->scope, rheos__grad_dense(g, 0), from));
}

const rheos__op_def rheos__op_Cast = {
    .name = "Cast",
    .signature = "x: SrcT -> y: DstT; SrcT: type; DstT: type; Truncate: bool = false",
    .doc = "`x` in another dtype; whole numbers keep their low bits, floats lose their fraction.",
    .shape = rheos__shape_unchanged,
    .gradient = grad_cast,
    .prepare = prepare_Cast,
};
