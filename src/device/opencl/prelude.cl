// What every program begins with: names that formulas use.
#pragma OPENCL FP_CONTRACT OFF
#ifdef RHEOS_HAS_DOUBLE
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#else
#define double float
#endif

typedef char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long int64_t;
typedef uchar uint8_t;
typedef ushort uint16_t;
typedef uint uint32_t;
typedef ulong uint64_t;
#define INT32_MIN INT_MIN
#define INT64_MIN LONG_MIN
#define UINT64_MAX ULONG_MAX
#define NUMBER_OF_BITS(v) popcount(v)

#define floorf floor
#define ceilf ceil
#define roundf round
#define rintf rint
#define fabsf fabs
#define fminf fmin
#define fmaxf fmax
#define fmodf fmod

#define W(v) ((wrapping)(v))
#define WIDEN(v) ((ulong)(long)(v))
#define DISTANCE(x, y) (x > y ? (ulong)x - (ulong)y : (ulong)y - (ulong)x)
#define SELU_SCALE 1.0507009873554804934193349852946
#define SELU_SCALE_ALPHA 1.7580993408473768599402175208123

#define RHEOS__EXP(x) exp(x)
#define RHEOS__EXPM1(x) expm1(x)
#define RHEOS__LOG(x) log(x)
#define RHEOS__TANH(x) tanh(x)
#define RHEOS__ERF(x) erf(x)
#define RHEOS__SIGMOID(x) ((x < 0 ? exp(-fabs(x)) : 1) / (1 + exp(-fabs(x))))
#define RHEOS__SOFTPLUS(x) ((x > 0 ? x : 0) + log1p(exp(-fabs(x))))
#define FLOAT_FLOOR_REMAINDER(x, y) \
  (fmod(x, y) != 0 && (fmod(x, y) < 0) != (y < 0) ? fmod(x, y) + y : fmod(x, y))

// How far to shift: as far as asked, but not out of the number.
#define shift_of(y, bits) ((int)min(max((long)(y), 0L), (long)(bits) - 1))
#define unsigned_shift_of(y, bits) ((int)min((ulong)(y), (ulong)(bits) - 1))

// A float that does not fit a whole number becomes the least one.
#define to_int32(v) ((v) >= -2147483648.0f && (v) < 2147483648.0f ? (int)(v) : INT_MIN)
#define to_int64(v) \
  ((v) >= -9223372036854775808.0f && (v) < 9223372036854775808.0f ? (long)(v) : LONG_MIN)

// Half and bfloat16 are computed in float.
float half_to_float(ushort bits) {
  ushort kept = bits;
  return vload_half(0, (private const half *)&kept);
}
ushort float_to_half(float x) {
  ushort bits = 0;
  vstore_half_rte(x, 0, (private half *)&bits);
  return bits;
}
float bfloat16_to_float(ushort bits) { return as_float((uint)bits << 16); }
ushort float_to_bfloat16(float x) {
  const uint bits = as_uint(x);
  if (x != x) return (ushort)((bits >> 16) | 0x40);
  return (ushort)((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}
