// Tensors. Their bytes are shared with Rheos's tensors as they are, but for strings: programs see
// and write TF_TStrings, which are read when the tensor is used.
#include "handles.h"

#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 64 };

// ---- Strings

void TF_StringInit(TF_TString *t) {
  if (t != NULL) TF_TString_Init(t);
}

void TF_StringCopy(TF_TString *dst, const char *src, size_t size) {
  if (dst != NULL && (src != NULL || size == 0)) TF_TString_Copy(dst, src, size);
}

void TF_StringAssignView(TF_TString *dst, const char *src, size_t size) {
  if (dst != NULL && (src != NULL || size == 0)) TF_TString_AssignView(dst, src, size);
}

const char *TF_StringGetDataPointer(const TF_TString *tstr) {
  return tstr == NULL ? NULL : TF_TString_GetDataPointer(tstr);
}

TF_TString_Type TF_StringGetType(const TF_TString *str) {
  return str == NULL ? TF_TSTR_SMALL : TF_TString_GetType(str);
}

size_t TF_StringGetSize(const TF_TString *tstr) {
  return tstr == NULL ? 0 : TF_TString_GetSize(tstr);
}

size_t TF_StringGetCapacity(const TF_TString *str) {
  return str == NULL ? 0 : TF_TString_GetCapacity(str);
}

void TF_StringDealloc(TF_TString *tstr) {
  if (tstr != NULL) TF_TString_Dealloc(tstr);
}

static void release_bytes(capi_bytes *bytes) {
  if (bytes == NULL || atomic_fetch_sub(&bytes->references, 1) > 1) return;
  if (bytes->deallocator != NULL) bytes->deallocator(bytes->data, bytes->length, bytes->argument);
  free(bytes);
}

// Elements that the tensor owns itself.
static void free_elements(void *data, size_t length, void *argument) {
  TF_TString *elements = data;
  for (size_t i = 0; i < length / sizeof *elements; i++) TF_TString_Dealloc(&elements[i]);
  (void)argument;
  free(data);
}

// What a program allocated by TF_AllocateTensor(): it empties the elements itself.
static void free_memory(void *data, size_t length, void *argument) {
  (void)length;
  (void)argument;
  free(data);
}

static capi_bytes *new_bytes(void *data, size_t length, void (*deallocator)(void *, size_t, void *),
                             void *argument) {
  capi_bytes *bytes = calloc(1, sizeof *bytes);
  if (bytes == NULL) return NULL;
  atomic_init(&bytes->references, 1);
  bytes->data = data;
  bytes->length = length;
  bytes->deallocator = deallocator;
  bytes->argument = argument;
  return bytes;
}

// ---- Types and shapes

size_t TF_DataTypeSize(TF_DataType dt) {
  switch (dt) {
    case TF_FLOAT8_E5M2:
    case TF_FLOAT8_E4M3FN:
    case TF_FLOAT8_E4M3FNUZ:
    case TF_FLOAT8_E4M3B11FNUZ:
    case TF_FLOAT8_E5M2FNUZ:
    case TF_INT2:
    case TF_UINT2:
    case TF_FLOAT4_E2M1FN: return 1;
    case TF_STRING:
    case TF_RESOURCE:
    case TF_VARIANT: return 0;  // nothing that could be copied as bytes
    default: return rheos_dtype_size((rheos_dtype)dt);
  }
}

static bool is_opaque(TF_DataType dtype) { return dtype == TF_RESOURCE || dtype == TF_VARIANT; }

bool capi_shape(const int64_t *dims, int num_dims, rheos_shape *out_shape) {
  *out_shape = RHEOS_UNKNOWN_SHAPE;
  if (num_dims < 0) return true;
  if (num_dims > RHEOS_MAX_RANK || (num_dims > 0 && dims == NULL)) return false;
  out_shape->rank = num_dims;
  for (int i = 0; i < num_dims; i++) {
    if (dims[i] < -1) return false;
    out_shape->dims[i] = dims[i];
  }
  return true;
}

// ---- Tensors

typedef struct released {
  void (*deallocator)(void *data, size_t length, void *argument);
  void *data;
  size_t length;
  void *argument;
} released;

static void release_data(void *argument) {
  released *r = argument;
  if (r->deallocator != NULL) r->deallocator(r->data, r->length, r->argument);
  free(r);
}

// Of a program's bytes; these are released whatever comes of it.
static rheos_tensor *borrow(TF_DataType dtype, rheos_shape shape, released from) {
  size_t element = rheos_dtype_size((rheos_dtype)dtype);
  rheos_tensor *value = NULL;
  released *kept = NULL;
  rheos_status *status = NULL;
  if (from.length == 0 || (uintptr_t)from.data % (element > 16 ? 16 : element) != 0) {
    // Not as the elements want it, or none: a copy.
    status = rheos_tensor_new((rheos_dtype)dtype, shape, &value);
    if (status == NULL && rheos_tensor_size_bytes(value) > 0) {
      memcpy(rheos_tensor_data(value), from.data, rheos_tensor_size_bytes(value));
    }
  } else if ((kept = malloc(sizeof *kept)) != NULL) {
    *kept = from;
    status = rheos_tensor_borrow((rheos_dtype)dtype, shape, from.data, release_data, kept, &value);
    if (status == NULL) return value;
  }
  rheos_status_free(status);
  free(kept);
  if (from.deallocator != NULL) from.deallocator(from.data, from.length, from.argument);
  return value;
}

TF_Tensor *TF_NewTensor(TF_DataType dtype, const int64_t *dims, int num_dims, void *data,
                        size_t len, void (*deallocator)(void *data, size_t len, void *arg),
                        void *deallocator_arg) {
  rheos_shape shape;
  size_t size = dtype == TF_STRING ? sizeof(TF_TString) : TF_DataTypeSize(dtype);
  int64_t count = -1;
  TF_Tensor *tensor = NULL;
  if (num_dims >= 0 && capi_shape(dims, num_dims, &shape)) count = rheos_shape_num_elements(&shape);
  bool is_long_enough = size == 0 ? is_opaque(dtype) : (uint64_t)count <= len / size;
  if (count >= 0 && is_long_enough && (data != NULL || count == 0)) {
    tensor = calloc(1, sizeof *tensor);
  }
  if (tensor == NULL) {
    if (deallocator != NULL) deallocator(data, len, deallocator_arg);
    return NULL;
  }
  tensor->dtype = dtype;
  tensor->shape = shape;
  tensor->length = len;
  if (dtype == TF_STRING || is_opaque(dtype) || rheos_dtype_size((rheos_dtype)dtype) == 0) {
    tensor->bytes = new_bytes(data, len, deallocator, deallocator_arg);
    if (tensor->bytes == NULL && deallocator != NULL) deallocator(data, len, deallocator_arg);
  } else {
    tensor->value = borrow(dtype, shape, (released){deallocator, data, len, deallocator_arg});
  }
  if (tensor->value == NULL && tensor->bytes == NULL) {
    free(tensor);
    return NULL;
  }
  return tensor;
}

size_t TF_TensorDefaultAlignment(void) { return ALIGNMENT; }

// How long memory for texts is, though a program may count those bytes only that it writes.
static size_t bytes_of_texts(const int64_t *dims, int num_dims, size_t len) {
  rheos_shape shape;
  const bool is_shape = num_dims >= 0 && capi_shape(dims, num_dims, &shape);
  const int64_t count = is_shape ? rheos_shape_num_elements(&shape) : -1;
  if (count < 0 || (uint64_t)count > SIZE_MAX / 2 / sizeof(TF_TString)) return len;
  const size_t whole = (size_t)count * sizeof(TF_TString);
  return len > whole ? len : whole;
}

TF_Tensor *TF_AllocateTensor(TF_DataType dtype, const int64_t *dims, int num_dims, size_t len) {
  if (len > SIZE_MAX / 2) return NULL;
  const size_t asked = len;
  if (dtype == TF_STRING) len = bytes_of_texts(dims, num_dims, len);
  size_t rounded = (len + ALIGNMENT) & ~(size_t)(ALIGNMENT - 1);
  void *data = aligned_alloc(ALIGNMENT, rounded);
  if (data == NULL) return NULL;
  memset(data, 0, dtype == TF_STRING ? rounded : 0);
  TF_Tensor *tensor = TF_NewTensor(dtype, dims, num_dims, data, len, free_memory, NULL);
  if (tensor == NULL) return NULL;
  tensor->is_own = true;
  tensor->length = asked;
  return tensor;
}

void TF_DeleteTensor(TF_Tensor *tensor) {
  if (tensor == NULL) return;
  rheos_tensor_unref(tensor->value);
  release_bytes(tensor->bytes);
  free(tensor);
}

TF_Tensor *capi_tensor_share(const TF_Tensor *tensor) {
  TF_Tensor *share = malloc(sizeof *share);
  if (share == NULL) return NULL;
  *share = *tensor;
  rheos_tensor_ref(share->value);
  if (share->bytes != NULL) atomic_fetch_add(&share->bytes->references, 1);
  return share;
}

// Only memory of the library moves; the handle is as good as a new one.
TF_Tensor *TF_TensorMaybeMove(TF_Tensor *tensor) {
  return tensor != NULL && tensor->is_own ? tensor : NULL;
}

TF_DataType TF_TensorType(const TF_Tensor *tensor) {
  return tensor == NULL ? (TF_DataType)0 : tensor->dtype;
}

void TF_SetShape(TF_Tensor *tensor, const int64_t *dims, int num_dims) {
  rheos_shape shape;
  rheos_tensor *reshaped = NULL;
  if (tensor == NULL || num_dims < 0 || !capi_shape(dims, num_dims, &shape) ||
      rheos_shape_num_elements(&shape) != rheos_shape_num_elements(&tensor->shape)) {
    return;
  }
  if (tensor->value != NULL) {
    rheos_status *status = rheos_tensor_reshaped(tensor->value, shape, &reshaped);
    rheos_status_free(status);
    if (reshaped == NULL) return;
    rheos_tensor_unref(tensor->value);
    tensor->value = reshaped;
  }
  tensor->shape = shape;
}

int TF_NumDims(const TF_Tensor *tensor) { return tensor == NULL ? -1 : tensor->shape.rank; }

int64_t TF_Dim(const TF_Tensor *tensor, int dim_index) {
  if (tensor == NULL || dim_index < 0 || dim_index >= tensor->shape.rank) return -1;
  return tensor->shape.dims[dim_index];
}

int64_t TF_TensorElementCount(const TF_Tensor *tensor) {
  return tensor == NULL ? -1 : rheos_shape_num_elements(&tensor->shape);
}

size_t TF_TensorByteSize(const TF_Tensor *tensor) { return tensor == NULL ? 0 : tensor->length; }

void *TF_TensorData(const TF_Tensor *tensor) {
  if (tensor == NULL) return NULL;
  return tensor->value != NULL ? rheos_tensor_data(tensor->value) : tensor->bytes->data;
}

bool TF_TensorIsAligned(const TF_Tensor *tensor) {
  return (uintptr_t)TF_TensorData(tensor) % ALIGNMENT == 0;
}

void TF_TensorBitcastFrom(const TF_Tensor *from, TF_DataType type, TF_Tensor *to,
                          const int64_t *new_dims, int num_new_dims, TF_Status *status) {
  capi_succeed(status);
  if (!capi_need(from, "the tensor", status) || !capi_need(to, "the tensor to be set", status)) {
    return;
  }
  rheos_shape shape;
  rheos_tensor *value = NULL;
  size_t size = TF_DataTypeSize(type);
  int64_t count = -1;
  if (num_new_dims >= 0 && capi_shape(new_dims, num_new_dims, &shape)) {
    count = rheos_shape_num_elements(&shape);
  }
  if (count < 0) {
    capi_fail(status, TF_INVALID_ARGUMENT, "the new shape is none that a tensor can have");
    return;
  }
  if (from->value == NULL || type == TF_STRING || is_opaque(type) || is_opaque(from->dtype) ||
      size == 0 || (size_t)count > SIZE_MAX / size ||
      (size_t)count * size != rheos_tensor_size_bytes(from->value)) {
    capi_fail(status, TF_INVALID_ARGUMENT,
              "cannot take %zu bytes of type %d for %lld elements of type %d",
              TF_TensorByteSize(from), (int)from->dtype, (long long)count, (int)type);
    return;
  }
  // The bytes live as long as the tensor that they are of.
  rheos_tensor *held = rheos_tensor_ref(from->value);
  rheos_status *error = rheos_tensor_borrow((rheos_dtype)type, shape, rheos_tensor_data(held),
                                            (void (*)(void *))rheos_tensor_unref, held, &value);
  if (!capi_take(status, error)) {
    rheos_tensor_unref(held);
    return;
  }
  rheos_tensor_unref(to->value);
  release_bytes(to->bytes);
  *to = (TF_Tensor){.dtype = type, .shape = shape, .length = (size_t)count * size, .value = value};
}

void TF_TensorFromProto(const TF_Buffer *from, TF_Tensor *to, TF_Status *status) {
  capi_succeed(status);
  if (!capi_need(from, "the buffer", status) || !capi_need(to, "the tensor", status)) return;
  rheos_tensor *value = NULL;
  TF_Tensor *made = NULL;
  rheos_status *error = rheos_tensor_from_proto(from->data, from->length, &value);
  if (error == NULL) error = capi_tensor_of(value, &made);
  rheos_tensor_unref(value);
  if (!capi_take(status, error)) return;
  rheos_tensor_unref(to->value);
  release_bytes(to->bytes);
  *to = *made;
  free(made);
}

// ---- Values of Rheos

// The bytes of an element that a program wrote.
static rheos_status *read_element(const capi_bytes *bytes, size_t index, const char **out_data,
                                  size_t *out_size) {
  const TF_TString *element = (const TF_TString *)bytes->data + index;
  TF_TString_Type type = TF_TString_GetType(element);
  *out_size = TF_TString_GetSize(element);
  *out_data = TF_TString_GetDataPointer(element);
  bool is_sound = *out_size == 0 || *out_data != NULL;
  if (type == TF_TSTR_SMALL) is_sound = *out_size <= TF_TString_SmallCapacity;
  if (type == TF_TSTR_LARGE) is_sound &= element->u.large.cap >= *out_size;
  if (type == TF_TSTR_OFFSET) {
    size_t left = bytes->length - index * sizeof *element;
    is_sound = element->u.offset.offset <= left && *out_size <= left - element->u.offset.offset;
  }
  if (is_sound) return NULL;
  return rheos_status_new(RHEOS_INVALID_ARGUMENT,
                          "element %zu of a string tensor is no TF_TString: type %d, %zu bytes",
                          index, (int)type, *out_size);
}

rheos_status *capi_tensor_value(const TF_Tensor *tensor, rheos_tensor **out_value) {
  *out_value = NULL;
  if (tensor == NULL) return rheos_status_new(RHEOS_INVALID_ARGUMENT, "a tensor is NULL");
  if (tensor->value != NULL) {
    *out_value = rheos_tensor_ref(tensor->value);
    return NULL;
  }
  if (tensor->dtype != TF_STRING) {
    return rheos_status_new(RHEOS_UNIMPLEMENTED,
                            "a tensor of type %d that a program made cannot be used",
                            (int)tensor->dtype);
  }
  rheos_tensor *value = NULL;
  rheos_status *status = rheos_tensor_new(RHEOS_STRING, tensor->shape, &value);
  int64_t count = rheos_shape_num_elements(&tensor->shape);
  for (int64_t i = 0; status == NULL && i < count; i++) {
    const char *data;
    size_t size;
    status = read_element(tensor->bytes, (size_t)i, &data, &size);
    if (status == NULL) status = rheos_tensor_set_string(value, i, data, size);
  }
  if (status != NULL) {
    rheos_tensor_unref(value);
  } else {
    *out_value = value;
  }
  return status;
}

// The strings of a value as programs see them.
static capi_bytes *strings_of(const rheos_tensor *value) {
  size_t count = (size_t)rheos_tensor_num_elements(value);
  const rheos_string *from = rheos_tensor_data(value);
  TF_TString *elements = calloc(count == 0 ? 1 : count, sizeof *elements);
  if (elements == NULL) return NULL;
  for (size_t i = 0; i < count; i++) {
    char *to = TF_TString_ResizeUninitialized(&elements[i], from[i].size_bytes);
    if (to == NULL) {
      free_elements(elements, i * sizeof *elements, NULL);
      return NULL;
    }
    if (from[i].size_bytes > 0) memcpy(to, from[i].data, from[i].size_bytes);
  }
  size_t length = count * sizeof *elements;
  capi_bytes *bytes = new_bytes(elements, length, free_elements, NULL);
  if (bytes == NULL) free_elements(elements, length, NULL);
  return bytes;
}

rheos_status *capi_tensor_of(rheos_tensor *value, TF_Tensor **out_tensor) {
  TF_Tensor *tensor = calloc(1, sizeof *tensor);
  *out_tensor = NULL;
  if (tensor != NULL) {
    tensor->dtype = (TF_DataType)rheos_tensor_dtype(value);
    tensor->shape = *rheos_tensor_shape(value);
    if (tensor->dtype == TF_STRING) {
      tensor->bytes = strings_of(value);
    } else {
      tensor->value = rheos_tensor_ref(value);
    }
    tensor->length = tensor->bytes != NULL ? tensor->bytes->length : rheos_tensor_size_bytes(value);
    if (tensor->value != NULL || tensor->bytes != NULL) {
      *out_tensor = tensor;
      return NULL;
    }
  }
  free(tensor);
  return rheos_status_new(RHEOS_RESOURCE_EXHAUSTED, "out of memory");
}
