// Shapes and tensors to protobuf and back. Which list of a TensorProto holds a dtype's elements,
// and how, is said once for each direction, by rows.
#include "format/message/tensor_proto.h"

#include <rheos/format.h>

// A few bytes can stand for a large tensor, by repeating the last value.
static const size_t MAX_REPEATED_BYTES = (size_t)1 << 30;

rheos_status *rheos__dtype_from_proto(int64_t number, rheos_dtype *out_dtype) {
  *out_dtype = RHEOS_INVALID_DTYPE;
  if (number <= 0 || number > RHEOS_UINT4) {
    return RHEOS_INVALID("dtype %lld is not known", (long long)number);
  }
  *out_dtype = (rheos_dtype)number;
  return NULL;
}

rheos_status *rheos__shape_from_proto(const Tensorflow__TensorShapeProto *proto,
                                      rheos_shape *out_shape) {
  *out_shape = RHEOS_SCALAR;
  if (proto == NULL) return NULL;
  if (proto->unknown_rank) {
    *out_shape = RHEOS_UNKNOWN_SHAPE;
    return NULL;
  }
  if (proto->n_dim > RHEOS_MAX_RANK) {
    return RHEOS_INVALID("a shape of %zu dimensions, at most %d are supported", proto->n_dim,
                         RHEOS_MAX_RANK);
  }
  for (size_t i = 0; i < proto->n_dim; i++) {
    if (proto->dim[i]->size < -1) {
      return RHEOS_INVALID("dimension %zu of a shape is %lld", i, (long long)proto->dim[i]->size);
    }
    out_shape->dims[i] = proto->dim[i]->size;
  }
  out_shape->rank = (int32_t)proto->n_dim;
  return NULL;
}

rheos_status *rheos__shape_to_proto(const rheos_shape *shape, rheos__arena *arena,
                                    Tensorflow__TensorShapeProto **out_proto) {
  *out_proto = NULL;
  size_t rank = shape->rank > 0 ? (size_t)shape->rank : 0;
  Tensorflow__TensorShapeProto *proto = rheos__arena_alloc(arena, sizeof *proto);
  Tensorflow__TensorShapeProto__Dim *dims = rheos__arena_alloc(arena, rank * sizeof *dims);
  Tensorflow__TensorShapeProto__Dim **list = rheos__arena_alloc(arena, rank * sizeof *list);
  if (proto == NULL || dims == NULL || list == NULL) return rheos__out_of_memory();
  tensorflow__tensor_shape_proto__init(proto);
  proto->unknown_rank = shape->rank < 0;
  proto->n_dim = rank;
  proto->dim = list;
  for (size_t i = 0; i < rank; i++) {
    tensorflow__tensor_shape_proto__dim__init(&dims[i]);
    dims[i].size = shape->dims[i];
    list[i] = &dims[i];
  }
  *out_proto = proto;
  return NULL;
}

// ---- Elements

// DTYPE, C type of an element, list, C type of the list's elements
#define PLAIN_ROWS(ROW)                               \
  ROW(RHEOS_FLOAT, float, float_val, float)           \
  ROW(RHEOS_DOUBLE, double, double_val, double)       \
  ROW(RHEOS_INT32, int32_t, int_val, int32_t)         \
  ROW(RHEOS_UINT8, uint8_t, int_val, int32_t)         \
  ROW(RHEOS_INT16, int16_t, int_val, int32_t)         \
  ROW(RHEOS_INT8, int8_t, int_val, int32_t)           \
  ROW(RHEOS_INT64, int64_t, int64_val, int64_t)       \
  ROW(RHEOS_BOOL, bool, bool_val, protobuf_c_boolean) \
  ROW(RHEOS_QINT8, int8_t, int_val, int32_t)          \
  ROW(RHEOS_QUINT8, uint8_t, int_val, int32_t)        \
  ROW(RHEOS_QINT32, int32_t, int_val, int32_t)        \
  ROW(RHEOS_BFLOAT16, uint16_t, half_val, int32_t)    \
  ROW(RHEOS_QINT16, int16_t, int_val, int32_t)        \
  ROW(RHEOS_QUINT16, uint16_t, int_val, int32_t)      \
  ROW(RHEOS_UINT16, uint16_t, int_val, int32_t)       \
  ROW(RHEOS_HALF, uint16_t, half_val, int32_t)        \
  ROW(RHEOS_UINT32, uint32_t, uint32_val, uint32_t)   \
  ROW(RHEOS_UINT64, uint64_t, uint64_val, uint64_t)   \
  ROW(RHEOS_INT4, int8_t, int_val, int32_t)           \
  ROW(RHEOS_UINT4, uint8_t, int_val, int32_t)
// Rows of dtypes with two list elements for one of the tensor's.
#define COMPLEX_ROWS(ROW)                          \
  ROW(RHEOS_COMPLEX64, float, scomplex_val, float) \
  ROW(RHEOS_COMPLEX128, double, dcomplex_val, double)

size_t rheos__tensor_proto_length(const Tensorflow__TensorProto *proto, rheos_dtype dtype) {
  switch (dtype) {
#define ROW(dtype, type, list, list_type) \
  case dtype: return proto->n_##list;
    PLAIN_ROWS(ROW)
#undef ROW
#define ROW(dtype, type, list, list_type) \
  case dtype: return proto->n_##list / 2;
    COMPLEX_ROWS(ROW)
#undef ROW
    case RHEOS_STRING: return proto->n_string_val;
    default: return 0;
  }
}

// The one that stands for all that follow it is there once.
static rheos_status *fill_strings(const Tensorflow__TensorProto *proto, rheos_tensor *tensor) {
  const size_t given = proto->n_string_val;
  rheos_string *to = tensor->data;
  for (int64_t i = 0; i < tensor->num_elements && given > 0; i++) {
    const ProtobufCBinaryData *from = &proto->string_val[(size_t)i < given ? (size_t)i : given - 1];
    to[i] = (rheos_string){(char *)from->data, from->len};
  }
  return rheos__tensor_own_strings(tensor);
}

// Element i is the list's, or its last one where the list has ended.
static rheos_status *fill_from_list(const Tensorflow__TensorProto *proto, rheos_tensor *tensor) {
  size_t count = (size_t)tensor->num_elements;
  size_t given = rheos__tensor_proto_length(proto, tensor->dtype);
  if (given == 0) {
    if (tensor->dtype != RHEOS_STRING) memset(tensor->data, 0, tensor->size_bytes);
    return NULL;
  }
  switch (tensor->dtype) {
#define ROW(dtype, type, list, list_type)                   \
  case dtype: {                                             \
    type *to = tensor->data;                                \
    for (size_t i = 0; i < count; i++) {                    \
      to[i] = (type)proto->list[i < given ? i : given - 1]; \
    }                                                       \
    return NULL;                                            \
  }
    PLAIN_ROWS(ROW)
#undef ROW
#define ROW(dtype, type, list, list_type)                                                  \
  case dtype: {                                                                            \
    type *to = tensor->data;                                                               \
    for (size_t i = 0; i < count; i++) {                                                   \
      memcpy(to + 2 * i, proto->list + 2 * (i < given ? i : given - 1), 2 * sizeof(type)); \
    }                                                                                      \
    return NULL;                                                                           \
  }
    COMPLEX_ROWS(ROW)
#undef ROW
    default: return fill_strings(proto, tensor);
  }
}

// Strings in `tensor_content`: all lengths as varints, then all bytes.
static rheos_status *strings_from_content(const ProtobufCBinaryData *content,
                                          rheos_tensor *tensor) {
  const char *at = (const char *)content->data, *end = at + content->len;
  const char *bytes = at;
  uint64_t size_bytes;
  for (int64_t i = 0; i < tensor->num_elements; i++) {
    if (!rheos__read_varint(&bytes, end, &size_bytes)) {
      return RHEOS_INVALID("the content of a string tensor is cut short");
    }
  }
  rheos_string *to = tensor->data;
  for (int64_t i = 0; i < tensor->num_elements; i++) {
    rheos__read_varint(&at, end, &size_bytes);
    if (size_bytes > (size_t)(end - bytes)) {
      if (tensor->size_bytes > 0) memset(to, 0, tensor->size_bytes);  // they are borrowed still
      return RHEOS_INVALID("the content of a string tensor is cut short");
    }
    to[i] = rheos__borrow_string(bytes, (size_t)size_bytes);
    bytes += size_bytes;
  }
  return rheos__tensor_own_strings(tensor);
}

static rheos_status *fill_from_content(const Tensorflow__TensorProto *proto, rheos_tensor *tensor) {
  const ProtobufCBinaryData *content = &proto->tensor_content;
  if (tensor->dtype == RHEOS_STRING) return strings_from_content(content, tensor);
  memcpy(tensor->data, content->data, tensor->size_bytes);
  if (tensor->dtype == RHEOS_BOOL) {
    // A C bool must be 0 or 1.
    for (size_t i = 0; i < tensor->size_bytes; i++) {
      ((unsigned char *)tensor->data)[i] = content->data[i] != 0;
    }
  }
  return NULL;
}

// The size must be plausible before memory is asked for.
static rheos_status *check_size(const Tensorflow__TensorProto *proto, rheos_dtype dtype,
                                const rheos_shape *shape) {
  int64_t num_elements;
  size_t size_bytes;
  RHEOS_TRY(rheos__shape_size(dtype, shape, &num_elements, &size_bytes));
  size_t content = proto->tensor_content.len;
  rheos__shape_text text;
  bool fits = dtype == RHEOS_STRING ? (size_t)num_elements <= content : size_bytes == content;
  if (content > 0 && !fits) {
    return RHEOS_INVALID("a tensor of %s %s has %zu bytes of content", rheos_dtype_name(dtype),
                         rheos__shape_text_of(shape, &text), content);
  }
  if (content == 0 && (size_t)num_elements > rheos__tensor_proto_length(proto, dtype) &&
      size_bytes > MAX_REPEATED_BYTES) {
    return RHEOS_INVALID("a tensor of %s %s is too large to be given by %zu values",
                         rheos_dtype_name(dtype), rheos__shape_text_of(shape, &text),
                         rheos__tensor_proto_length(proto, dtype));
  }
  return NULL;
}

// The dtypes whose vectors TensorFlow writes as raw content.
static bool goes_to_content(const rheos_tensor *tensor) {
  switch (tensor->dtype) {
    case RHEOS_FLOAT:
    case RHEOS_DOUBLE:
    case RHEOS_INT32:
    case RHEOS_UINT8:
    case RHEOS_INT16:
    case RHEOS_INT8:
    case RHEOS_INT64:
    case RHEOS_QINT8:
    case RHEOS_QUINT8:
    case RHEOS_QINT32:
    case RHEOS_QINT16:
    case RHEOS_QUINT16:
    case RHEOS_UINT32:
    case RHEOS_UINT64: return tensor->num_elements > 1;
    default: return false;
  }
}

// Remembers the form of the message where it is not the one that is written by default.
static void note_form(const Tensorflow__TensorProto *proto, rheos_tensor *tensor) {
  if (tensor->num_elements == 0) return;
  const bool is_content = proto->tensor_content.len > 0;
  const size_t given = rheos__tensor_proto_length(proto, tensor->dtype);
  if (is_content) {
    if (tensor->dtype != RHEOS_STRING && !goes_to_content(tensor))
      tensor->listed = RHEOS__LISTED_AS_CONTENT;
  } else if (goes_to_content(tensor) || given < (size_t)tensor->num_elements) {
    const int64_t most = tensor->num_elements;
    tensor->listed = 1 + (given < (size_t)most ? (int64_t)given : most);
  }
}

rheos_status *rheos__tensor_from_proto(const Tensorflow__TensorProto *proto,
                                       rheos_tensor **out_tensor) {
  *out_tensor = NULL;
  rheos_dtype dtype;
  rheos_shape shape;
  RHEOS_TRY(rheos__dtype_from_proto(proto->dtype, &dtype));
  RHEOS_TRY(rheos__shape_from_proto(proto->tensor_shape, &shape));
  if (dtype == RHEOS_RESOURCE || dtype == RHEOS_VARIANT) {
    return RHEOS_INVALID("a tensor of dtype %s cannot be read from a message",
                         rheos_dtype_name(dtype));
  }
  RHEOS_TRY(check_size(proto, dtype, &shape));
  rheos_tensor *tensor;
  RHEOS_TRY(rheos_tensor_new(dtype, shape, &tensor));
  rheos_status *status = proto->tensor_content.len > 0 ? fill_from_content(proto, tensor)
                                                       : fill_from_list(proto, tensor);
  if (status != NULL) {
    rheos_tensor_unref(tensor);
    return status;
  }
  note_form(proto, tensor);
  *out_tensor = tensor;
  return NULL;
}

static rheos_status *strings_to_list(const rheos_tensor *tensor, rheos__arena *arena,
                                     Tensorflow__TensorProto *proto) {
  size_t count = (size_t)tensor->num_elements;
  const rheos_string *from = tensor->data;
  proto->string_val = rheos__arena_alloc(arena, count * sizeof *proto->string_val);
  if (proto->string_val == NULL) return rheos__out_of_memory();
  proto->n_string_val = count;
  for (size_t i = 0; i < count; i++) {
    proto->string_val[i] = (ProtobufCBinaryData){from[i].size_bytes, (uint8_t *)from[i].data};
  }
  return NULL;
}

rheos_status *rheos__tensor_to_lists(const rheos_tensor *tensor, rheos__arena *arena,
                                     Tensorflow__TensorProto *proto) {
  size_t count = (size_t)tensor->num_elements;
  switch (tensor->dtype) {
#define ROW(dtype, type, list, list_type)                          \
  case dtype: {                                                    \
    const type *from = tensor->data;                               \
    list_type *to = rheos__arena_alloc(arena, count * sizeof *to); \
    if (to == NULL) return rheos__out_of_memory();                 \
    for (size_t i = 0; i < count; i++) to[i] = (list_type)from[i]; \
    proto->n_##list = count;                                       \
    proto->list = to;                                              \
    return NULL;                                                   \
  }
    PLAIN_ROWS(ROW)
#undef ROW
#define ROW(dtype, type, list, list_type) \
  case dtype:                             \
    proto->n_##list = 2 * count;          \
    proto->list = tensor->data;           \
    return NULL;
    COMPLEX_ROWS(ROW)
#undef ROW
    case RHEOS_STRING: return strings_to_list(tensor, arena, proto);
    default:
      return RHEOS_INVALID("a tensor of dtype %s cannot be written to a message",
                           rheos_dtype_name(tensor->dtype));
  }
}

// Whether all elements from `first` on are the same as the one before, or 0 if there is none.
static bool rest_repeats(const rheos_tensor *tensor, int64_t first) {
  static const rheos_string zeros[2];
  if (first >= tensor->num_elements) return true;
  if (tensor->dtype == RHEOS_STRING) {
    const rheos_string *strings = tensor->data, *last = first > 0 ? &strings[first - 1] : zeros;
    for (int64_t i = first; i < tensor->num_elements; i++) {
      if (!rheos__string_equal(&strings[i], last)) return false;
    }
    return true;
  }
  const size_t element_bytes = rheos_dtype_size(tensor->dtype);
  const char *at = (const char *)tensor->data + (size_t)first * element_bytes;
  const size_t behind = (size_t)(tensor->num_elements - first - 1) * element_bytes;
  const void *last = first > 0 ? at - element_bytes : (const char *)zeros;
  // Each is the same as the next if the bytes are those that lie one element further on.
  return memcmp(at, last, element_bytes) == 0 && memcmp(at, at + element_bytes, behind) == 0;
}

// How many values go to the list, -1: they go to the content. As a file had it, as long as the
// elements are still those of the file.
static int64_t listed_values(const rheos_tensor *tensor) {
  if (tensor->listed == RHEOS__LISTED_AS_CONTENT) return -1;
  const int64_t given = tensor->listed - 1;
  if (given >= 0 && given <= tensor->num_elements && rest_repeats(tensor, given)) return given;
  return goes_to_content(tensor) ? -1 : tensor->num_elements;
}

rheos_status *rheos__tensor_to_proto(const rheos_tensor *tensor, rheos__arena *arena,
                                     Tensorflow__TensorProto **out_proto) {
  *out_proto = NULL;
  Tensorflow__TensorProto *proto = rheos__arena_alloc(arena, sizeof *proto);
  if (proto == NULL) return rheos__out_of_memory();
  RHEOS_TRY(rheos__tensor_to_host(&tensor));
  tensorflow__tensor_proto__init(proto);
  proto->dtype = (Tensorflow__DataType)tensor->dtype;
  RHEOS_TRY(rheos__shape_to_proto(&tensor->shape, arena, &proto->tensor_shape));
  const int64_t listed = listed_values(tensor);
  if (listed < 0) {
    proto->tensor_content = (ProtobufCBinaryData){tensor->size_bytes, tensor->data};
  } else {
    rheos_tensor head;
    rheos__tensor_init_view(&head, tensor->dtype, &RHEOS_SHAPE(listed), tensor->data);
    RHEOS_TRY(rheos__tensor_to_lists(&head, arena, proto));
  }
  *out_proto = proto;
  return NULL;
}

rheos_status *rheos_tensor_from_proto(const void *bytes, size_t size_bytes,
                                      rheos_tensor **out_tensor) {
  RHEOS_OUT(out_tensor);
  RHEOS_NEED_BYTES(bytes, size_bytes);
  rheos__arena arena;
  rheos__arena_init(&arena);
  Tensorflow__TensorProto *proto;
  rheos_status *status = RHEOS_PROTO_UNPACK(tensor_proto, bytes, size_bytes, &arena, &proto);
  if (status == NULL) status = rheos__tensor_from_proto(proto, out_tensor);
  rheos__arena_deinit(&arena);
  return status;
}
