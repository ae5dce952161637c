// Elementwise ops: one row each, and the machinery that turns rows into loops.
//
// A row is a name, a class of dtypes and a formula in x (and y), and says nothing about loops:
//   ROW(Square, NUMBERS, W(x) * W(x))
// A family file keeps its rows in one list macro and expands it three times: into typed loops
// (RHEOS__UNARY_LOOP, RHEOS__BINARY_LOOP), into a table of these loops by row and dtype, and, with
// the list of ops beside it, into op_defs. Nothing else names an op. The same list can be expanded
// into other forms of the formula: as text (#formula) for code compiled at run time.
//
// In a formula, `C` is the type computed in (float for half and bfloat16), W(x) is x in a type
// whose arithmetic wraps instead of overflowing, `parameter` is the op's number (an alpha),
// functions are those of <tgmath.h> and "ops/kit/vector_math.h", and `failed` may be set to 1 to
// make the step fail with the op's message.
//
// A loop takes whole vectors, or vectors and repeated scalars; rheos__prepare_elementwise() brings
// every broadcast down to that: adjacent dimensions that all operands step through alike are
// joined, so that most broadcasts become one call, and the others one call for each run of the
// innermost dimension. Loops are also what a fused loop calls, tile by tile.
#ifndef RHEOS_SRC_OPS_KIT_ELEMENTWISE_H
#define RHEOS_SRC_OPS_KIT_ELEMENTWISE_H

#include "graph/op_def.h"

// Computes n elements of `out` from the operands `in`. Bit k of `repeated`: operand k is one
// element, used for all; not every operand is. `out` may be one of the operands that are not
// repeated. Returns 1 if the data were not valid (division by zero), else 0.
typedef int (*rheos__loop)(const void *const *in, void *out, int64_t n, unsigned repeated,
                           double parameter);

// Elements in one unit of work: the same for any number of threads.
enum { RHEOS__UNIT_ELEMENTS = 16384 };

// Fills in `p` for `loop` over all inputs of the op, broadcast to output 0. `cost` is the
// arithmetic of one element (a transcendental about 10). `failure` is the message when the loop
// returns 1; NULL or "" if it never does.
// loop NULL: there is none for this dtype, which is the status.
rheos_status *rheos__prepare_elementwise(rheos__prepare *p, rheos__loop loop, int cost,
                                         double parameter, const char *failure);

// The loop that an elementwise op was prepared with, and the number that goes with it.
rheos__loop rheos__elementwise_loop(const rheos__prepare *p, double *out_parameter);

// ---- What rheos__prepare_elementwise() settles: the state of its kernels, for fused loops too

enum { RHEOS__MAX_OPERANDS = 3 };

typedef struct rheos__elementwise {
  rheos__loop loop;
  int64_t num_elements;
  double parameter;
  unsigned repeated;  // along the innermost dimension
  bool can_fail;
  const char *failure;
  // For units
  int32_t num_operands;
  int64_t element_bytes[RHEOS__MAX_OPERANDS], out_bytes;
  int32_t rank;
  // For broadcasts that are not flat (rank > 1), others leave them out: the joined dimensions,
  // outermost first, and how many bytes each operand moves along them
  int64_t dims[RHEOS_MAX_RANK];
  int64_t steps[RHEOS__MAX_OPERANDS][RHEOS_MAX_RANK];
} rheos__elementwise;

// The state of an elementwise kernel; NULL if `run` is another one.
const rheos__elementwise *rheos__elementwise_of(rheos__run_fn run, const void *state);

// The formula of a loop as text, for code that is compiled for another device: an expression of C
// in x, y and z, with the names of the section on dtypes below. What computes an element from
// nothing but elements at the same place, and does not fail, can be written so.
typedef struct rheos__formula {
  rheos__loop loop;
  const char *text;
  uint8_t num_operands;
  uint8_t dtypes[RHEOS__MAX_OPERANDS], out_dtype;  // as what the numbers are read and written
} rheos__formula;

// NULL if there is none.
const rheos__formula *rheos__formula_of(rheos__loop loop);

// The formulas of a family of ops.
typedef struct rheos__formulas {
  const rheos__formula *items;
  size_t count;
} rheos__formulas;

// Whether operand k has as many elements as the output.
bool rheos__elementwise_is_full(const rheos__elementwise *e, int32_t k);

// Computes `count` elements from number `begin` on. `out` and the operands that are full lie at
// element `begin`, the others at their start. Returns 1 if the data were not valid.
int rheos__elementwise_range(const rheos__elementwise *e, const void *const *in, void *out,
                             int64_t begin, int64_t count);

// The loop of an op of two numbers for a dtype, for other ops that add or multiply elements; NULL
// if there is none.
typedef enum rheos__binary {
  RHEOS__ADD,
  RHEOS__SUB,
  RHEOS__MUL,
  RHEOS__DIV,  // whole numbers are rounded towards 0
  RHEOS__MAXIMUM,
  RHEOS__MINIMUM,
} rheos__binary;
rheos__loop rheos__binary_loop(rheos__binary kind, rheos_dtype dtype);

// The dtype that loops are chosen by: that of the last input.
static inline rheos_dtype rheos__loop_dtype(const rheos__prepare *p) {
  return p->input_dtypes[p->num_inputs - 1];
}

// Quantized numbers as the integers they are stored as; other dtypes as they are.
static inline rheos_dtype rheos__stored_dtype(rheos_dtype dtype) {
  switch (dtype) {
    case RHEOS_QINT8: return RHEOS_INT8;
    case RHEOS_QUINT8: return RHEOS_UINT8;
    case RHEOS_QINT16: return RHEOS_INT16;
    case RHEOS_QUINT16: return RHEOS_UINT16;
    case RHEOS_QINT32: return RHEOS_INT32;
    default: return dtype;
  }
}

// Number of dtypes that tables of loops have room for.
enum { RHEOS__NUM_DTYPES = RHEOS__DTYPE_SIZES };

// ---- Classes of dtypes: CLASS(M, ...) expands M(dtype, ...) for each
#define RHEOS__FLOATS(M, ...) \
  M(float, __VA_ARGS__) M(double, __VA_ARGS__) M(half, __VA_ARGS__) M(bfloat16, __VA_ARGS__)
#define RHEOS__REALS(M, ...) M(float, __VA_ARGS__) M(double, __VA_ARGS__)
#define RHEOS__SIGNED(M, ...) \
  M(int8, __VA_ARGS__) M(int16, __VA_ARGS__) M(int32, __VA_ARGS__) M(int64, __VA_ARGS__)
#define RHEOS__UNSIGNED(M, ...) \
  M(uint8, __VA_ARGS__) M(uint16, __VA_ARGS__) M(uint32, __VA_ARGS__) M(uint64, __VA_ARGS__)
#define RHEOS__INTEGERS(M, ...) RHEOS__SIGNED(M, __VA_ARGS__) RHEOS__UNSIGNED(M, __VA_ARGS__)
#define RHEOS__NUMBERS(M, ...) RHEOS__FLOATS(M, __VA_ARGS__) RHEOS__INTEGERS(M, __VA_ARGS__)
#define RHEOS__COMPLEXES(M, ...) M(complex64, __VA_ARGS__) M(complex128, __VA_ARGS__)
#define RHEOS__BOOLS(M, ...) M(boolean, __VA_ARGS__)
#define RHEOS__NUMBERS_AND_BOOLS(M, ...) RHEOS__NUMBERS(M, __VA_ARGS__) M(boolean, __VA_ARGS__)

// (`bool` is a macro in C17, so its loops are called `boolean`.)

// ---- What a loop has to know of a dtype: its enum, how it is stored, what it is computed in, the
// type whose arithmetic wraps, and how to go from one to the other.
#define RHEOS__DTYPE_float RHEOS_FLOAT
#define RHEOS__DTYPE_double RHEOS_DOUBLE
#define RHEOS__DTYPE_half RHEOS_HALF
#define RHEOS__DTYPE_bfloat16 RHEOS_BFLOAT16
#define RHEOS__DTYPE_int8 RHEOS_INT8
#define RHEOS__DTYPE_int16 RHEOS_INT16
#define RHEOS__DTYPE_int32 RHEOS_INT32
#define RHEOS__DTYPE_int64 RHEOS_INT64
#define RHEOS__DTYPE_uint8 RHEOS_UINT8
#define RHEOS__DTYPE_uint16 RHEOS_UINT16
#define RHEOS__DTYPE_uint32 RHEOS_UINT32
#define RHEOS__DTYPE_uint64 RHEOS_UINT64
#define RHEOS__DTYPE_boolean RHEOS_BOOL
#define RHEOS__DTYPE_complex64 RHEOS_COMPLEX64
#define RHEOS__DTYPE_complex128 RHEOS_COMPLEX128

typedef float rheos__stored_float, rheos__computed_float, rheos__wrapping_float;
typedef double rheos__stored_double, rheos__computed_double, rheos__wrapping_double;
typedef uint16_t rheos__stored_half, rheos__stored_bfloat16;
typedef float rheos__computed_half, rheos__wrapping_half;
typedef float rheos__computed_bfloat16, rheos__wrapping_bfloat16;
typedef int8_t rheos__stored_int8, rheos__computed_int8;
typedef int16_t rheos__stored_int16, rheos__computed_int16;
typedef int32_t rheos__stored_int32, rheos__computed_int32;
typedef int64_t rheos__stored_int64, rheos__computed_int64;
typedef uint8_t rheos__stored_uint8, rheos__computed_uint8;
typedef uint16_t rheos__stored_uint16, rheos__computed_uint16;
typedef uint32_t rheos__stored_uint32, rheos__computed_uint32;
typedef uint64_t rheos__stored_uint64, rheos__computed_uint64;
typedef uint32_t rheos__wrapping_int8, rheos__wrapping_int16, rheos__wrapping_int32;
typedef uint32_t rheos__wrapping_uint8, rheos__wrapping_uint16, rheos__wrapping_uint32;
typedef uint64_t rheos__wrapping_int64, rheos__wrapping_uint64;
typedef float _Complex rheos__stored_complex64, rheos__computed_complex64;
typedef float _Complex rheos__wrapping_complex64;
typedef double _Complex rheos__stored_complex128, rheos__computed_complex128;
typedef double _Complex rheos__wrapping_complex128;
typedef bool rheos__stored_boolean, rheos__computed_boolean, rheos__wrapping_boolean;

#define RHEOS__LOAD_float(v) (v)
#define RHEOS__LOAD_double(v) (v)
#define RHEOS__LOAD_half(v) rheos__half_to_float(v)
#define RHEOS__LOAD_bfloat16(v) rheos__bfloat16_to_float(v)
#define RHEOS__LOAD_int8(v) (v)
#define RHEOS__LOAD_int16(v) (v)
#define RHEOS__LOAD_int32(v) (v)
#define RHEOS__LOAD_int64(v) (v)
#define RHEOS__LOAD_uint8(v) (v)
#define RHEOS__LOAD_uint16(v) (v)
#define RHEOS__LOAD_uint32(v) (v)
#define RHEOS__LOAD_uint64(v) (v)
#define RHEOS__LOAD_boolean(v) (v)
#define RHEOS__LOAD_complex64(v) (v)
#define RHEOS__LOAD_complex128(v) (v)
#define RHEOS__STORE_float(v) ((float)(v))
#define RHEOS__STORE_double(v) ((double)(v))
#define RHEOS__STORE_half(v) rheos__float_to_half((float)(v))
#define RHEOS__STORE_bfloat16(v) rheos__float_to_bfloat16((float)(v))
#define RHEOS__STORE_int8(v) ((int8_t)(v))
#define RHEOS__STORE_int16(v) ((int16_t)(v))
#define RHEOS__STORE_int32(v) ((int32_t)(v))
#define RHEOS__STORE_int64(v) ((int64_t)(v))
#define RHEOS__STORE_uint8(v) ((uint8_t)(v))
#define RHEOS__STORE_uint16(v) ((uint16_t)(v))
#define RHEOS__STORE_uint32(v) ((uint32_t)(v))
#define RHEOS__STORE_uint64(v) ((uint64_t)(v))
#define RHEOS__STORE_boolean(v) ((bool)(v))
#define RHEOS__STORE_complex64(v) ((float _Complex)(v))
#define RHEOS__STORE_complex128(v) ((double _Complex)(v))

// ---- Loops
//
// An operand may be the output, element by element: no iteration depends on another.
#if defined(__GNUC__) && !defined(__clang__)
#define RHEOS__INDEPENDENT _Pragma("GCC ivdep")
#else
#define RHEOS__INDEPENDENT
#endif

// On an inner loop over lanes: the compiler would take it apart before it sees that the lanes are a
// vector.
#if defined(__GNUC__) && !defined(__clang__)
#define RHEOS__KEEP_LANES _Pragma("GCC unroll 1")
#else
#define RHEOS__KEEP_LANES
#endif

// Loops that gain from wider vectors: compiled twice, chosen when the program is loaded. Without
// contraction of multiply and add both give the same bits. Not under sanitizers, whose start-up
// does not go with functions chosen by the loader.
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && defined(__OPTIMIZE__)
#define RHEOS__WIDE __attribute__((target_clones("default", "arch=x86-64-v3")))
// Where arithmetic binds rather than memory, AVX-512 is worth a third copy.
#define RHEOS__WIDEST __attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))
#else
#define RHEOS__WIDE
#define RHEOS__WIDEST
#endif

#define W(v) ((rheos__wrapping)(v))

// Types of a loop over elements of dtype S.
#define RHEOS__LOOP_TYPES(S)                                           \
  typedef rheos__computed_##S C __attribute__((unused));               \
  typedef rheos__wrapping_##S rheos__wrapping __attribute__((unused)); \
  (void)repeated;                                                      \
  (void)parameter

// z[i] = formula of x[i]; from dtype S to dtype Z.
#define RHEOS__UNARY_LOOP_TO(S, Z, qualifier, name, formula)                                      \
  qualifier static int name##_##S(const void *const *in, void *out, int64_t n, unsigned repeated, \
                                  double parameter) {                                             \
    RHEOS__LOOP_TYPES(S);                                                                         \
    const rheos__stored_##S *xs = in[0];                                                          \
    rheos__stored_##Z *zs = out;                                                                  \
    int failed = 0;                                                                               \
    RHEOS__INDEPENDENT for (int64_t i = 0; i < n; i++) {                                          \
      const C x = RHEOS__LOAD_##S(xs[i]);                                                         \
      zs[i] = RHEOS__STORE_##Z(formula);                                                          \
    }                                                                                             \
    return failed;                                                                                \
  }

// z[i] = formula of x[i] and y[i], with either of them repeated.
#define RHEOS__BINARY_LOOP_TO(S, Z, qualifier, name, formula)                                     \
  qualifier static int name##_##S(const void *const *in, void *out, int64_t n, unsigned repeated, \
                                  double parameter) {                                             \
    RHEOS__LOOP_TYPES(S);                                                                         \
    const rheos__stored_##S *xs = in[0], *ys = in[1];                                             \
    rheos__stored_##Z *zs = out;                                                                  \
    int failed = 0;                                                                               \
    if (repeated == 0) {                                                                          \
      RHEOS__INDEPENDENT for (int64_t i = 0; i < n; i++) {                                        \
        const C x = RHEOS__LOAD_##S(xs[i]), y = RHEOS__LOAD_##S(ys[i]);                           \
        zs[i] = RHEOS__STORE_##Z(formula);                                                        \
      }                                                                                           \
    } else if (repeated == 2) {                                                                   \
      const C y = RHEOS__LOAD_##S(ys[0]);                                                         \
      RHEOS__INDEPENDENT for (int64_t i = 0; i < n; i++) {                                        \
        const C x = RHEOS__LOAD_##S(xs[i]);                                                       \
        zs[i] = RHEOS__STORE_##Z(formula);                                                        \
      }                                                                                           \
    } else {                                                                                      \
      const C x = RHEOS__LOAD_##S(xs[0]);                                                         \
      RHEOS__INDEPENDENT for (int64_t i = 0; i < n; i++) {                                        \
        const C y = RHEOS__LOAD_##S(ys[i]);                                                       \
        zs[i] = RHEOS__STORE_##Z(formula);                                                        \
      }                                                                                           \
    }                                                                                             \
    return failed;                                                                                \
  }

// The forms a class of dtypes takes as M: the dtype comes first.
#define RHEOS__UNARY_LOOP(S, qualifier, name, formula) \
  RHEOS__UNARY_LOOP_TO(S, S, qualifier, name, formula)
#define RHEOS__BINARY_LOOP(S, qualifier, name, formula) \
  RHEOS__BINARY_LOOP_TO(S, S, qualifier, name, formula)
#define RHEOS__UNARY_TEST(S, qualifier, name, formula) \
  RHEOS__UNARY_LOOP_TO(S, boolean, qualifier, name, formula)
#define RHEOS__BINARY_TEST(S, qualifier, name, formula) \
  RHEOS__BINARY_LOOP_TO(S, boolean, qualifier, name, formula)
// An entry of a table `rheos__loop loops[ROWS][RHEOS__NUM_DTYPES]`, rows numbered row_NAME.
#define RHEOS__LOOP_ENTRY(S, name) [row_##name][RHEOS__DTYPE_##S] = name##_##S,

// An entry of a table of rheos__formula; in a list of formulas the text is #formula.
#define RHEOS__UNARY_FORMULA_TO(S, Z, name, text) \
  {name##_##S, text, 1, {RHEOS__DTYPE_##S}, RHEOS__DTYPE_##Z},
#define RHEOS__UNARY_FORMULA(S, name, text) RHEOS__UNARY_FORMULA_TO(S, S, name, text)
#define RHEOS__BINARY_FORMULA_TO(S, Z, name, text) \
  {name##_##S, text, 2, {RHEOS__DTYPE_##S, RHEOS__DTYPE_##S}, RHEOS__DTYPE_##Z},
#define RHEOS__BINARY_FORMULA(S, name, text) RHEOS__BINARY_FORMULA_TO(S, S, name, text)
#define RHEOS__UNARY_TEST_FORMULA(S, name, text) RHEOS__UNARY_FORMULA_TO(S, boolean, name, text)
#define RHEOS__BINARY_TEST_FORMULA(S, name, text) RHEOS__BINARY_FORMULA_TO(S, boolean, name, text)
// The table that a family has of them; `family` is listed in formulas.c too.
#define RHEOS__FORMULAS(family, ...)                      \
  static const rheos__formula formulas[] = {__VA_ARGS__}; \
  const rheos__formulas rheos__##family##_formulas = {formulas, sizeof formulas / sizeof *formulas}

// Family files start with this, before any include: the loops are worth the compiler's full effort.
//   #pragma GCC optimize("O3")

#endif  // RHEOS_SRC_OPS_KIT_ELEMENTWISE_H
