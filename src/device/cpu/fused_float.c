// Eight vectors of sixteen numbers are worked on at a time: choosing an instruction then costs
// about as much as the arithmetic it stands for, and neighbouring blocks overlap.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3")
#endif
#include "device/cpu/fused_float.h"

#include <stddef.h>
#include <string.h>

#include "ops/kit/elementwise.h"

enum { LANES = 16, VECTORS = RHEOS__FLOAT_BLOCK / LANES };

typedef float vector __attribute__((vector_size(4 * LANES), aligned(4), may_alias));
typedef int32_t bits __attribute__((vector_size(4 * LANES), aligned(4), may_alias));

// In a formula x and y are vectors. A comparison has all bits set where it is true.
#define CHOOSE(test, a, b) ((vector)(((bits)(a) & (bits)(test)) | ((bits)(b) & ~(bits)(test))))

#define ONES 0x3f800000  // 1.0f

// ROW(enumerator, formula of x and y), in the words of ops/math/binary.c and ops/nn/activation.c
#define BINARY(ROW)                              \
  ROW(ADD, x + y)                                \
  ROW(SUB, x - y)                                \
  ROW(MUL, x *y)                                 \
  ROW(DIV, x / y)                                \
  ROW(MAXIMUM, CHOOSE((x > y) | (x != x), x, y)) \
  ROW(MINIMUM, CHOOSE((x < y) | (x != x), x, y)) \
  ROW(SQUARED_DIFFERENCE, (x - y) * (x - y))     \
  ROW(TANH_GRAD, y * (1.0f - x * x))             \
  ROW(SIGMOID_GRAD, y *x * (1.0f - x))           \
  ROW(RELU_GRAD, x *(vector)(ONES & (bits)(y > 0.0f)))
#define UNARY(ROW)                                 \
  ROW(NEG, -x)                                     \
  ROW(ABS, (vector)((bits)x & 0x7fffffff))         \
  ROW(SQUARE, x *x)                                \
  ROW(RELU, (vector)((bits)x & ~(bits)(x < 0.0f))) \
  ROW(RECIPROCAL, 1.0f / x)

rheos__simple rheos__simple_of(const char *op) {
  static const struct {
    const char *op;
    rheos__simple simple;
  } table[] = {
      {"Mul", RHEOS__SIMPLE_MUL},
      {"AddV2", RHEOS__SIMPLE_ADD},
      {"Add", RHEOS__SIMPLE_ADD},
      {"Sub", RHEOS__SIMPLE_SUB},
      {"AddN", RHEOS__SIMPLE_ADD},
      {"AccumulateNV2", RHEOS__SIMPLE_ADD},
      {"BiasAdd", RHEOS__SIMPLE_ADD},
      {"BiasAddV1", RHEOS__SIMPLE_ADD},
      {"RealDiv", RHEOS__SIMPLE_DIV},
      {"Div", RHEOS__SIMPLE_DIV},
      {"Maximum", RHEOS__SIMPLE_MAXIMUM},
      {"Minimum", RHEOS__SIMPLE_MINIMUM},
      {"SquaredDifference", RHEOS__SIMPLE_SQUARED_DIFFERENCE},
      {"TanhGrad", RHEOS__SIMPLE_TANH_GRAD},
      {"SigmoidGrad", RHEOS__SIMPLE_SIGMOID_GRAD},
      {"ReluGrad", RHEOS__SIMPLE_RELU_GRAD},
      {"Neg", RHEOS__SIMPLE_NEG},
      {"Abs", RHEOS__SIMPLE_ABS},
      {"Square", RHEOS__SIMPLE_SQUARE},
      {"Relu", RHEOS__SIMPLE_RELU},
      {"Reciprocal", RHEOS__SIMPLE_RECIPROCAL},
      {"Inv", RHEOS__SIMPLE_RECIPROCAL},
      {"DivNoNan", RHEOS__SIMPLE_DIV_NO_NAN},
      {"MulNoNan", RHEOS__SIMPLE_MUL_NO_NAN},
      {"Sqrt", RHEOS__SIMPLE_SQRT},
      {"Rsqrt", RHEOS__SIMPLE_RSQRT},
      {"Floor", RHEOS__SIMPLE_FLOOR},
      {"Ceil", RHEOS__SIMPLE_CEIL},
      {"Rint", RHEOS__SIMPLE_RINT},
      {"Round", RHEOS__SIMPLE_RINT},
      {"Sign", RHEOS__SIMPLE_SIGN},
      {"Relu6", RHEOS__SIMPLE_RELU6},
      {"LeakyRelu", RHEOS__SIMPLE_LEAKY_RELU},
      {"SqrtGrad", RHEOS__SIMPLE_SQRT_GRAD},
      {"RsqrtGrad", RHEOS__SIMPLE_RSQRT_GRAD},
      {"ReciprocalGrad", RHEOS__SIMPLE_RECIPROCAL_GRAD},
      {"InvGrad", RHEOS__SIMPLE_RECIPROCAL_GRAD},
      {"Greater", RHEOS__SIMPLE_GREATER},
      {"GreaterEqual", RHEOS__SIMPLE_GREATER_EQUAL},
      {"Less", RHEOS__SIMPLE_LESS},
      {"LessEqual", RHEOS__SIMPLE_LESS_EQUAL},
      {"Equal", RHEOS__SIMPLE_EQUAL},
      {"NotEqual", RHEOS__SIMPLE_NOT_EQUAL},
      {"LogicalAnd", RHEOS__SIMPLE_LOGICAL_AND},
      {"LogicalOr", RHEOS__SIMPLE_LOGICAL_OR},
      {"LogicalNot", RHEOS__SIMPLE_LOGICAL_NOT},
      {"Select", RHEOS__SIMPLE_SELECT},
      {"SelectV2", RHEOS__SIMPLE_SELECT},
      {"Cast", RHEOS__SIMPLE_CAST},
  };
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
    if (strcmp(table[i].op, op) == 0) return table[i].simple;
  }
  return RHEOS__NOT_SIMPLE;
}

// The registers are named, since an array would be kept in memory: formula(register k, ...) for
// each.
#define ALL(X, Y, formula)  \
  ONE(r0, 0, X, Y, formula) \
  ONE(r1, 1, X, Y, formula) \
  ONE(r2, 2, X, Y, formula) \
  ONE(r3, 3, X, Y, formula) \
  ONE(r4, 4, X, Y, formula) \
  ONE(r5, 5, X, Y, formula) \
  ONE(r6, 6, X, Y, formula) \
  ONE(r7, 7, X, Y, formula)
#define ONE(r, k, X, Y, formula) \
  {                              \
    const vector x = X(r, k);    \
    const vector y = Y(r, k);    \
    (void)x, (void)y;            \
    r = formula;                 \
  }
#define IN_REGISTER(r, k) r
#define AT_PLACE(r, k) (((const vector *)place)[block * VECTORS + (k)])
#define THE_NUMBER(r, k) (*(const float *)place - (vector){0}) /* in every lane */
#define CASE(simple, form) case RHEOS__SIMPLE_##simple *RHEOS__NUM_FORMS + RHEOS__FORM_##form:
#define BINARY_CASES(simple, formula)                                        \
  CASE(simple, PLACE) ALL(IN_REGISTER, AT_PLACE, formula) break;             \
  CASE(simple, NUMBER) ALL(IN_REGISTER, THE_NUMBER, formula) break;          \
  CASE(simple, REVERSED_PLACE) ALL(AT_PLACE, IN_REGISTER, formula) break;    \
  CASE(simple, REVERSED_NUMBER) ALL(THE_NUMBER, IN_REGISTER, formula) break; \
  CASE(simple, BOTH) ALL(IN_REGISTER, IN_REGISTER, formula) break;
#define UNARY_CASES(simple, formula) \
  CASE(simple, BOTH) ALL(IN_REGISTER, IN_REGISTER, formula) break;

RHEOS__WIDEST void rheos__run_registers(const rheos__register_step *steps, int32_t num_steps,
                                        char *const *places, int64_t num_blocks) {
  vector r0 = {0}, r1 = r0, r2 = r0, r3 = r0, r4 = r0, r5 = r0, r6 = r0, r7 = r0;
  for (int64_t block = 0; block < num_blocks; block++) {
    for (int32_t i = 0; i < num_steps; i++) {
      char *place = places[steps[i].place];
      switch (steps[i].code) {
        case RHEOS__LOAD_PLACE: ALL(IN_REGISTER, AT_PLACE, y) break;
        case RHEOS__LOAD_NUMBER: ALL(IN_REGISTER, THE_NUMBER, y) break;
        case RHEOS__STORE_PLACE: {
          vector *to = (vector *)place + block * VECTORS;
          to[0] = r0, to[1] = r1, to[2] = r2, to[3] = r3;
          to[4] = r4, to[5] = r5, to[6] = r6, to[7] = r7;
          break;
        }
          BINARY(BINARY_CASES)
          UNARY(UNARY_CASES)
        default: break;
      }
    }
  }
}
