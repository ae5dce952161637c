// Tensors: values of a dtype and a shape, in row-major order, in one counted buffer.
#ifndef RHEOS_TENSOR_H
#define RHEOS_TENSOR_H

#include <rheos/base.h>

#ifdef __cplusplus
extern "C" {
#endif

// ---- Element types, with TensorFlow's numbers

typedef enum rheos_dtype {
  RHEOS_INVALID_DTYPE = 0,
  RHEOS_FLOAT = 1,
  RHEOS_DOUBLE = 2,
  RHEOS_INT32 = 3,
  RHEOS_UINT8 = 4,
  RHEOS_INT16 = 5,
  RHEOS_INT8 = 6,
  RHEOS_STRING = 7,
  RHEOS_COMPLEX64 = 8,
  RHEOS_INT64 = 9,
  RHEOS_BOOL = 10,
  RHEOS_QINT8 = 11,
  RHEOS_QUINT8 = 12,
  RHEOS_QINT32 = 13,
  RHEOS_BFLOAT16 = 14,
  RHEOS_QINT16 = 15,
  RHEOS_QUINT16 = 16,
  RHEOS_UINT16 = 17,
  RHEOS_COMPLEX128 = 18,
  RHEOS_HALF = 19,
  RHEOS_RESOURCE = 20,
  RHEOS_VARIANT = 21,
  RHEOS_UINT32 = 22,
  RHEOS_UINT64 = 23,
  RHEOS_INT4 = 29,   // an element is a byte: -8 to 7
  RHEOS_UINT4 = 30,  // 0 to 15
  RHEOS_REF = 100,   // added to a dtype: a reference to a variable of that dtype
} rheos_dtype;

// Bytes of one element; 0 for an invalid dtype. A string element is a rheos_string. Elements that
// are resources or variants are made by ops alone: do not write to them.
RHEOS_API size_t rheos_dtype_size(rheos_dtype dtype);

// TensorFlow's name: "float", "int32", "string", ..., with "_ref" for references.
RHEOS_API const char *rheos_dtype_name(rheos_dtype dtype);

// The dtype of a name, as rheos_dtype_name() gives it or as Python says it ("float32", "float64",
// "float16"); RHEOS_INVALID_DTYPE for another.
RHEOS_API rheos_dtype rheos_dtype_from_name(const char *name);

RHEOS_API bool rheos_dtype_is_ref(rheos_dtype dtype);
RHEOS_API rheos_dtype rheos_dtype_base(rheos_dtype dtype);  // without the reference
RHEOS_API bool rheos_dtype_is_floating(rheos_dtype dtype);  // half, bfloat16, float, double
RHEOS_API bool rheos_dtype_is_complex(rheos_dtype dtype);
RHEOS_API bool rheos_dtype_is_integer(rheos_dtype dtype);  // signed or unsigned, not quantized

// Elements of RHEOS_HALF and RHEOS_BFLOAT16 are these bits. A float is rounded to the nearest,
// halfway to
// the even one; NaN stays NaN.
RHEOS_API float rheos_half_to_float(uint16_t half);
RHEOS_API uint16_t rheos_float_to_half(float value);
RHEOS_API float rheos_bfloat16_to_float(uint16_t bfloat16);
RHEOS_API uint16_t rheos_float_to_bfloat16(float value);

// ---- Shapes

#define RHEOS_MAX_RANK 8

// Dimensions of a value, outermost first. rank -1: nothing is known; a dimension of -1: not known.
typedef struct rheos_shape {
  int32_t rank;
  int64_t dims[RHEOS_MAX_RANK];  // the first `rank` count
} rheos_shape;

// RHEOS_SHAPE(2, 3): a shape of one to eight dimensions.
#ifdef __cplusplus
}  // templates have no C linkage
template <typename... Dims>
inline rheos_shape rheos_shape_of(Dims... dims) {
  static_assert(sizeof...(dims) <= RHEOS_MAX_RANK, "a shape has at most eight dimensions");
  return rheos_shape{static_cast<int32_t>(sizeof...(dims)), {static_cast<int64_t>(dims)...}};
}
extern "C" {
#define RHEOS_SCALAR (rheos_shape{0, {}})
#define RHEOS_UNKNOWN_SHAPE (rheos_shape{-1, {}})
#define RHEOS_SHAPE(...) (rheos_shape_of(__VA_ARGS__))
#else
#define RHEOS_SCALAR ((rheos_shape){.rank = 0})
#define RHEOS_UNKNOWN_SHAPE ((rheos_shape){.rank = -1})
#define RHEOS_SHAPE(...)                                                                \
  ((rheos_shape){.rank = (int32_t)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), \
                 .dims = {__VA_ARGS__}})
#endif

RHEOS_API bool rheos_shape_is_known(const rheos_shape *shape);  // rank and every dimension
RHEOS_API bool rheos_shape_equal(const rheos_shape *a, const rheos_shape *b);
// Whether some fully known shape fits both.
RHEOS_API bool rheos_shape_compatible(const rheos_shape *a, const rheos_shape *b);
// Number of elements of a known shape; -1 if the shape is not known or the product overflows.
RHEOS_API int64_t rheos_shape_num_elements(const rheos_shape *shape);
// Writes TensorFlow's notation, "[2,?,3]" or "<unknown>"; returns the length it has or would have.
RHEOS_API size_t rheos_shape_format(const rheos_shape *shape, char *buffer, size_t size_bytes);

// ---- Tensors

typedef struct rheos_tensor rheos_tensor;

// An element of a string tensor: bytes that may hold NULs, owned by the tensor.
typedef struct rheos_string {
  char *data;  // not NUL-terminated
  size_t size_bytes;
} rheos_string;

// A tensor of a fully known shape, one reference. Its bytes are 64-byte aligned and uninitialised,
// except strings, which are empty. RHEOS_RESOURCE_EXHAUSTED if the memory cannot be had,
// RHEOS_INVALID_ARGUMENT if the shape is not known, negative or too large to count in bytes.
RHEOS_STATUS rheos_tensor_new(rheos_dtype dtype, rheos_shape shape, rheos_tensor **out_tensor);

// A tensor over the caller's bytes, which stay valid and unchanged until `release(argument)` is
// called (`release` may be NULL). The data must be aligned for its element type. After a failure,
// `release` has not been called. Not for strings.
RHEOS_STATUS rheos_tensor_borrow(rheos_dtype dtype, rheos_shape shape, void *data,
                                 void (*release)(void *argument), void *argument,
                                 rheos_tensor **out_tensor);

// A tensor of the same values under another shape of as many elements; shares the buffer.
RHEOS_STATUS rheos_tensor_reshaped(rheos_tensor *tensor, rheos_shape shape,
                                   rheos_tensor **out_tensor);

// A tensor of that shape and the dtype of `values`: their elements, and their last one again and
// again for what is missing. Graph files then hold no more than `values`, as for TensorFlow's
// constant(value, shape). RHEOS_INVALID_ARGUMENT if there are more elements than the shape has, or
// none for a shape that has some.
RHEOS_STATUS rheos_tensor_filled(const rheos_tensor *values, rheos_shape shape,
                                 rheos_tensor **out_tensor);

// A deep copy.
RHEOS_STATUS rheos_tensor_copy(const rheos_tensor *tensor, rheos_tensor **out_tensor);

RHEOS_API rheos_tensor *rheos_tensor_ref(rheos_tensor *tensor);  // returns its argument
RHEOS_API void rheos_tensor_unref(rheos_tensor *tensor);

RHEOS_API rheos_dtype rheos_tensor_dtype(const rheos_tensor *tensor);
RHEOS_API const rheos_shape *rheos_tensor_shape(const rheos_tensor *tensor);
RHEOS_API int64_t rheos_tensor_num_elements(const rheos_tensor *tensor);
RHEOS_API size_t rheos_tensor_size_bytes(const rheos_tensor *tensor);  // elements times their size
// The elements, in the host's memory. Of a tensor on another device they are a copy, which it keeps
// and which is only to be read: NULL if that cannot be had.
RHEOS_API void *rheos_tensor_data(const rheos_tensor *tensor);
// The full name of the device whose memory the tensor lies in, or "" for the host's. What a session
// gives lies in the host's.
RHEOS_API const char *rheos_tensor_device(const rheos_tensor *tensor);

// Copies bytes into element `index` of a string tensor.
RHEOS_STATUS rheos_tensor_set_string(rheos_tensor *tensor, int64_t index, const char *data,
                                     size_t size_bytes);

// Any shape in one call. The values, rheos_string for texts, are copied.
RHEOS_STATUS rheos_tensor_from_values(rheos_dtype dtype, rheos_shape shape, const void *values,
                                      rheos_tensor **out_tensor);

#ifdef __cplusplus
}
#endif

#endif  // RHEOS_TENSOR_H
