// Tensors. A small one is a single allocation, because most tensors are scalars and short vectors.
// references 0 marks a view in somebody else's storage: it is never counted.
#include "tensor/tensor.h"

#include <assert.h>
#include <string.h>

#include "base/small_blocks.h"
#include "tensor/variant.h"

// Kept apart from what every tensor goes through.
#if defined(__GNUC__)
#define SELDOM __attribute__((noinline))
#else
#define SELDOM
#endif

enum { ALIGNMENT = 64, SMALL_BYTES = 4096, CLASS_BYTES = 64 };

// Why there is no size.
static rheos_status *no_size(rheos_dtype dtype, const rheos_shape *shape) {
  if (rheos_dtype_size(dtype) == 0 || rheos_dtype_is_ref(dtype)) {
    return RHEOS_INVALID("a tensor cannot have dtype %s (%d)", rheos_dtype_name(dtype), (int)dtype);
  }
  if (shape->rank > RHEOS_MAX_RANK) {
    return RHEOS_INVALID("rank %d is more than the maximum of %d", shape->rank, RHEOS_MAX_RANK);
  }
  rheos__shape_text text;
  if (!rheos_shape_is_known(shape)) {
    return RHEOS_INVALID("a tensor needs a fully known shape, got %s",
                         rheos__shape_text_of(shape, &text));
  }
  return RHEOS_INVALID("shape %s of %s is too large: its bytes cannot be counted",
                       rheos__shape_text_of(shape, &text), rheos_dtype_name(dtype));
}

// Every tensor goes through here. False: there is no size.
static inline bool count_bytes(rheos_dtype dtype, const rheos_shape *shape,
                               int64_t *out_num_elements, size_t *out_size_bytes) {
  const size_t element_bytes = rheos__dtype_size(dtype);
  if (element_bytes == 0 || (uint32_t)shape->rank > RHEOS_MAX_RANK) return false;
  bool overflow = false, empty = false;
  int64_t count = 1;
  for (int32_t i = 0; i < shape->rank; i++) {
    if (shape->dims[i] < 0) return false;
    empty |= shape->dims[i] == 0;
    overflow |= __builtin_mul_overflow(count, shape->dims[i], &count);
  }
  if (empty) count = 0, overflow = false;
  *out_num_elements = count;
  return !overflow && rheos__mul_size((size_t)count, element_bytes, out_size_bytes) &&
         *out_size_bytes <= PTRDIFF_MAX / 2;
}

rheos_status *rheos__shape_size(rheos_dtype dtype, const rheos_shape *shape,
                                int64_t *out_num_elements, size_t *out_size_bytes) {
  if (count_bytes(dtype, shape, out_num_elements, out_size_bytes)) return NULL;
  *out_num_elements = 0;
  *out_size_bytes = 0;
  return no_size(dtype, shape);
}

static void *align_up(void *address) {
  return (void *)(((uintptr_t)address + ALIGNMENT - 1) & ~(uintptr_t)(ALIGNMENT - 1));
}

// Dimension by dimension, which `volatile` keeps the compiler from changing: often they have just
// been written one by one, and the processor waits where such are read several at once.
static inline void set_shape(rheos_shape *to, const rheos_shape *shape) {
  const volatile int64_t *dims = shape->dims;
  const int32_t rank = shape->rank;
  *to = (rheos_shape){.rank = rank};
  for (int32_t i = 0; i < rank; i++) to->dims[i] = dims[i];
}

static inline void set_header(rheos_tensor *tensor, rheos_dtype dtype, const rheos_shape *shape,
                              int64_t num_elements, size_t size_bytes) {
  assert(num_elements >= 0 && (num_elements > 0 || size_bytes == 0));
  atomic_init(&tensor->references, 1);
  tensor->dtype = dtype;
  set_shape(&tensor->shape, shape);
  tensor->num_elements = num_elements;
  tensor->size_bytes = size_bytes;
  tensor->memory = NULL;
  tensor->release = NULL;
  tensor->release_argument = NULL;
  tensor->allocation = NULL;
  tensor->string_block = NULL;
  tensor->listed = RHEOS__LISTED_AS_USUAL;
  atomic_init(&tensor->content, 0);
  atomic_init(&tensor->mirror, NULL);
}

// Elements are pointers to counted values.
static bool holds_counted(rheos_dtype dtype) {
  return dtype == RHEOS_VARIANT || dtype == RHEOS_RESOURCE;
}

// Elements that own memory start out empty.
static bool starts_zeroed(rheos_dtype dtype) {
  return dtype == RHEOS_STRING || holds_counted(dtype);
}

SELDOM static rheos_status *no_memory_in(const rheos__memory *memory, rheos_dtype dtype,
                                         const rheos_shape *shape, size_t size_bytes) {
  rheos__shape_text text;
  return rheos_status_new(RHEOS_RESOURCE_EXHAUSTED,
                          "OOM when allocating tensor with shape %s and type %s (%zu bytes)%s%s",
                          rheos__shape_text_of(shape, &text), rheos_dtype_name(dtype), size_bytes,
                          memory != NULL ? " on " : "", memory != NULL ? memory->device : "");
}

SELDOM static rheos_status *no_memory_for(rheos_dtype dtype, const rheos_shape *shape,
                                          size_t size_bytes) {
  return no_memory_in(NULL, dtype, shape, size_bytes);
}

// A tensor and up to so many bytes of data in one block of a size that others have too.
enum { MOST_OF_CLASS = CLASS_BYTES * RHEOS__SMALL_CLASSES };

static int32_t class_of(size_t size_bytes) {
  return size_bytes > 0 ? (int32_t)((size_bytes - 1) / CLASS_BYTES) : 0;
}

static inline rheos_tensor *new_of_class(int32_t small_class) {
  assert(small_class >= 0 && small_class < RHEOS__SMALL_CLASSES);
  const size_t data_bytes = (size_t)(small_class + 1) * CLASS_BYTES;
  return rheos__small_alloc(small_class, sizeof(rheos_tensor) + ALIGNMENT + data_bytes);
}

static bool is_of_class(const rheos_tensor *tensor) {
  return tensor->release == NULL && tensor->allocation == NULL &&
         tensor->size_bytes <= MOST_OF_CLASS;
}

rheos_status *rheos_tensor_new(rheos_dtype dtype, rheos_shape shape, rheos_tensor **out_tensor) {
  RHEOS_OUT(out_tensor);
  return rheos__tensor_new(dtype, &shape, out_tensor);
}

// Bytes of a tensor of few elements; SIZE_MAX if it may have many, or no size.
static inline size_t small_size(rheos_dtype dtype, const rheos_shape *shape,
                                int64_t *out_num_elements) {
  const size_t element_bytes = rheos__dtype_size(dtype);
  uint64_t count = 1, bits = 0;
  if ((uint32_t)shape->rank > 4 || element_bytes == 0) return SIZE_MAX;
  for (int32_t i = 0; i < shape->rank; i++) {
    count *= (uint64_t)shape->dims[i];
    bits |= (uint64_t)shape->dims[i];
  }
  *out_num_elements = (int64_t)count;
  return bits <= MOST_OF_CLASS ? count * element_bytes : SIZE_MAX;  // 4 dimensions cannot overflow
}

// Of any size.
SELDOM static rheos_status *new_tensor(rheos_dtype dtype, const rheos_shape *shape,
                                       rheos_tensor **out_tensor) {
  int64_t num_elements;
  size_t size_bytes;
  if (!count_bytes(dtype, shape, &num_elements, &size_bytes)) return no_size(dtype, shape);
  const bool small = size_bytes <= SMALL_BYTES;
  rheos_tensor *tensor = size_bytes <= MOST_OF_CLASS
                             ? new_of_class(class_of(size_bytes))
                             : rheos__alloc(sizeof *tensor + (small ? ALIGNMENT + size_bytes : 0));
  if (tensor == NULL) return no_memory_for(dtype, shape, size_bytes);
  set_header(tensor, dtype, shape, num_elements, size_bytes);
  if (small) {
    tensor->data = align_up(tensor + 1);
  } else {
    tensor->data = tensor->allocation = rheos__alloc_aligned(size_bytes);
    if (tensor->data == NULL) {
      rheos__free(tensor);
      return no_memory_for(dtype, shape, size_bytes);
    }
  }
  assert((uintptr_t)tensor->data % ALIGNMENT == 0);
  if (starts_zeroed(dtype)) memset(tensor->data, 0, size_bytes);
  *out_tensor = tensor;
  return NULL;
}

rheos_status *rheos__tensor_new(rheos_dtype dtype, const rheos_shape *shape,
                                rheos_tensor **out_tensor) {
  *out_tensor = NULL;
  int64_t num_elements = 0;
  const size_t size_bytes = small_size(dtype, shape, &num_elements);
  // The way of most tensors, kept short.
  if (size_bytes <= MOST_OF_CLASS && !starts_zeroed(dtype)) {
    rheos_tensor *tensor = new_of_class(class_of(size_bytes));
    if (tensor == NULL) return no_memory_for(dtype, shape, size_bytes);
    set_header(tensor, dtype, shape, num_elements, size_bytes);
    tensor->data = align_up(tensor + 1);
    *out_tensor = tensor;
    return NULL;
  }
  return new_tensor(dtype, shape, out_tensor);
}

rheos_status *rheos_tensor_filled(const rheos_tensor *values, rheos_shape shape,
                                  rheos_tensor **out_tensor) {
  RHEOS_OUT(out_tensor);
  RHEOS_NEED(values);
  RHEOS_TRY(rheos__tensor_to_host(&values));
  const int64_t given = values->num_elements, count = rheos_shape_num_elements(&shape);
  if (count >= 0 && (given > count || (given == 0 && count > 0))) {
    return RHEOS_INVALID("%lld elements cannot fill a tensor of %lld", (long long)given,
                         (long long)count);
  }
  rheos_tensor *tensor;
  RHEOS_TRY(rheos_tensor_new(values->dtype, shape, &tensor));
  assert(given <= count && count == tensor->num_elements);
  rheos_status *status = rheos__copy_elements(values->dtype, tensor->data, values->data, given);
  const size_t element_bytes = rheos_dtype_size(values->dtype);
  char *data = tensor->data;
  for (int64_t i = given; i < count && status == NULL; i++) {
    char *to = data + (size_t)i * element_bytes;
    status = rheos__copy_elements(values->dtype, to, to - element_bytes, 1);
  }
  if (status != NULL) {
    rheos_tensor_unref(tensor);
    return status;
  }
  if (given < count) tensor->listed = 1 + given;
  *out_tensor = tensor;
  return NULL;
}

// Borrowed data with nothing to release.
static void release_nothing(void *argument) { (void)argument; }

// The base of a tensor that shares another's bytes.
static void release_base(void *argument) { rheos_tensor_unref(argument); }

// Of an element: complex ones are two numbers.
static size_t alignment_of(rheos_dtype dtype) {
  const bool is_complex = rheos_dtype_is_complex(dtype);
  return is_complex ? rheos_dtype_size(dtype) / 2 : rheos_dtype_size(dtype);
}

rheos_status *rheos_tensor_borrow(rheos_dtype dtype, rheos_shape shape, void *data,
                                  void (*release)(void *argument), void *argument,
                                  rheos_tensor **out_tensor) {
  RHEOS_OUT(out_tensor);
  if (starts_zeroed(dtype)) {
    return RHEOS_INVALID("a tensor of dtype %s cannot borrow its data", rheos_dtype_name(dtype));
  }
  int64_t num_elements;
  size_t size_bytes;
  RHEOS_TRY(rheos__shape_size(dtype, &shape, &num_elements, &size_bytes));
  if (data == NULL && size_bytes > 0) return RHEOS_INVALID("the data of a tensor is NULL");
  const size_t alignment = alignment_of(dtype);
  if ((uintptr_t)data % alignment != 0) {
    return RHEOS_INVALID("the data of a tensor of dtype %s must lie at a multiple of %zu bytes",
                         rheos_dtype_name(dtype), alignment);
  }
  rheos_tensor *tensor = rheos__alloc(sizeof *tensor);
  if (tensor == NULL) return rheos__out_of_memory();
  set_header(tensor, dtype, &shape, num_elements, size_bytes);
  tensor->data = data;
  tensor->release = release != NULL ? release : release_nothing;
  tensor->release_argument = argument;
  *out_tensor = tensor;
  return NULL;
}

void rheos__release_place(void *block) { rheos_tensor_unref(block); }

rheos_status *rheos__tensor_place(rheos_tensor *block, const rheos_shape *shape,
                                  size_t offset_bytes, rheos_tensor **out_tensor) {
  int64_t num_elements;
  size_t size_bytes;
  *out_tensor = NULL;
  RHEOS_TRY(rheos__shape_size(block->dtype, shape, &num_elements, &size_bytes));
  assert(!starts_zeroed(block->dtype) && offset_bytes + size_bytes <= block->size_bytes);
  rheos_tensor *tensor = rheos__alloc(sizeof *tensor);
  if (tensor == NULL) return rheos__out_of_memory();
  set_header(tensor, block->dtype, shape, num_elements, size_bytes);
  tensor->data = (char *)block->data + offset_bytes;
  tensor->memory = block->memory;
  tensor->release = rheos__release_place;
  tensor->release_argument = rheos_tensor_ref(block);
  *out_tensor = tensor;
  return NULL;
}

void rheos__tensor_init_view(rheos_tensor *tensor, rheos_dtype dtype, const rheos_shape *shape,
                             void *data) {
  uint64_t count = 1;  // large dimensions beside one of 0 pass any bound on the way
  for (int32_t i = 0; i < shape->rank; i++) count *= (uint64_t)shape->dims[i];
  set_header(tensor, dtype, shape, (int64_t)count, count * rheos__dtype_size(dtype));
  atomic_init(&tensor->references, 0);
  tensor->data = data;
}

bool rheos__tensor_can_keep(const rheos_tensor *tensor) {
  if (tensor->release == release_base) tensor = tensor->release_argument;
  // What a caller lent may change once the call is over.
  return (tensor->release == NULL || tensor->release == rheos__release_mapping) &&
         atomic_load_explicit(&tensor->references, memory_order_relaxed) != 0;
}

rheos_status *rheos__tensor_keep(rheos_tensor *tensor, rheos_tensor **out_tensor) {
  if (!rheos__tensor_can_keep(tensor)) return rheos_tensor_copy(tensor, out_tensor);
  *out_tensor = rheos_tensor_ref(tensor);
  return NULL;
}

static rheos_status *share_bytes(rheos_tensor *base, rheos_dtype dtype, const rheos_shape *shape,
                                 int64_t num_elements, rheos_tensor **out_tensor) {
  if (base->release == release_base) base = base->release_argument;
  rheos_tensor *tensor = rheos__alloc(sizeof *tensor);
  if (tensor == NULL) return rheos__out_of_memory();
  set_header(tensor, dtype, shape, num_elements, base->size_bytes);
  tensor->data = base->data;
  tensor->memory = base->memory;
  tensor->release = release_base;
  tensor->release_argument = rheos_tensor_ref(base);
  assert(base->release != release_base);  // one step to whose bytes they are
  *out_tensor = tensor;
  return NULL;
}

rheos_status *rheos_tensor_reshaped(rheos_tensor *tensor, rheos_shape shape,
                                    rheos_tensor **out_tensor) {
  RHEOS_OUT(out_tensor);
  RHEOS_NEED(tensor);
  int64_t num_elements;
  size_t size_bytes;
  RHEOS_TRY(rheos__shape_size(tensor->dtype, &shape, &num_elements, &size_bytes));
  if (num_elements != tensor->num_elements) {
    rheos__shape_text from, to;
    return RHEOS_INVALID(
        "cannot reshape a tensor with %lld elements from %s to %s", (long long)tensor->num_elements,
        rheos__shape_text_of(&tensor->shape, &from), rheos__shape_text_of(&shape, &to));
  }
  return rheos__tensor_seen_as(tensor, tensor->dtype, shape, out_tensor);
}

rheos_status *rheos__tensor_seen_as(rheos_tensor *tensor, rheos_dtype dtype, rheos_shape shape,
                                    rheos_tensor **out_tensor) {
  *out_tensor = NULL;
  int64_t num_elements;
  size_t size_bytes;
  RHEOS_TRY(rheos__shape_size(dtype, &shape, &num_elements, &size_bytes));
  if (size_bytes != tensor->size_bytes) {
    return RHEOS_INVALID("%zu bytes cannot be seen as %zu", tensor->size_bytes, size_bytes);
  }
  if (atomic_load_explicit(&tensor->references, memory_order_relaxed) != 0) {
    return share_bytes(tensor, dtype, &shape, num_elements, out_tensor);
  }
  RHEOS_TRY(rheos_tensor_copy(tensor, out_tensor));  // a view's bytes may go away
  (*out_tensor)->dtype = dtype;
  (*out_tensor)->shape = shape;
  (*out_tensor)->num_elements = num_elements;
  return NULL;
}

// Strings of a block start at odd addresses, which no allocator gives: so they can be told from
// those with memory of their own, wherever they are overwritten.
static bool is_in_block(const rheos_string *string) { return ((uintptr_t)string->data & 1) != 0; }

static void free_string(rheos_string string) {
  if (!is_in_block(&string)) rheos__free(string.data);
}

static void free_strings(rheos_string *strings, int64_t count) {
  for (int64_t i = 0; i < count; i++) free_string(strings[i]);
}

// The bytes of a block that a string of this size takes: a NUL behind it, and an even number.
static size_t block_bytes(size_t size_bytes) { return (size_bytes + 2) & ~(size_t)1; }

// Whether a string is the same bytes in memory as the one before it, as where one stands for many.
static bool repeats(const rheos_string *string, rheos_string before) {
  return string->data == before.data && string->size_bytes == before.size_bytes;
}

rheos_status *rheos__tensor_own_strings(rheos_tensor *tensor) {
  rheos_string *strings = tensor->data, before = {NULL, 0};
  size_t total = 1;
  bool fits = true;
  for (int64_t i = 0; i < tensor->num_elements; i++) {
    const size_t size_bytes = strings[i].size_bytes;
    if (size_bytes == 0 || repeats(&strings[i], before)) continue;
    fits = fits && size_bytes < SIZE_MAX / 2 && total < SIZE_MAX / 2 - size_bytes;
    if (fits) total += block_bytes(size_bytes);
    before = strings[i];
  }
  char *block = fits && total > 1 ? rheos__alloc(total) : NULL, *at = block;
  rheos_string copy = {NULL, 0};
  tensor->string_block = block;
  before = (rheos_string){NULL, 0};
  for (int64_t i = 0; i < tensor->num_elements; i++) {
    const rheos_string borrowed = strings[i];
    strings[i] = (rheos_string){NULL, 0};
    if (block == NULL || borrowed.size_bytes == 0) continue;
    if (!repeats(&borrowed, before)) {
      before = borrowed;
      copy = (rheos_string){at + 1, borrowed.size_bytes};
      memcpy(at + 1, borrowed.data, borrowed.size_bytes);
      at[1 + borrowed.size_bytes] = '\0';
      at += block_bytes(borrowed.size_bytes);
    }
    strings[i] = copy;
  }
  assert(block == NULL || (size_t)(at - block) == total - 1);
  return block != NULL || total == 1 ? NULL : rheos__out_of_memory();
}

// Bytes with a NUL behind them, for the convenience of C; NULL data for the empty string.
static rheos_status *copy_string(rheos_string *to, const char *data, size_t size_bytes) {
  *to = (rheos_string){NULL, 0};
  if (size_bytes == 0) return NULL;
  to->data = rheos__strndup(data, size_bytes);
  if (to->data == NULL) return rheos__out_of_memory();
  to->size_bytes = size_bytes;
  return NULL;
}

static void copy_variants(rheos__variant **to, rheos__variant *const *from, int64_t count) {
  for (int64_t i = 0; i < count; i++) {
    rheos__variant *old = to[i];
    to[i] = rheos__variant_ref(from[i]);
    rheos__variant_unref(old);
  }
}

rheos_status *rheos__copy_elements(rheos_dtype dtype, void *to, const void *from, int64_t count) {
  if (holds_counted(dtype)) {
    copy_variants(to, from, count);
    return NULL;
  }
  if (dtype != RHEOS_STRING) {
    if (count > 0) memcpy(to, from, (size_t)count * rheos_dtype_size(dtype));
    return NULL;
  }
  const rheos_string *source = from;
  rheos_string *copies = to;
  for (int64_t i = 0; i < count; i++) {
    rheos_string old = copies[i];
    rheos_status *status = copy_string(&copies[i], source[i].data, source[i].size_bytes);
    free_string(old);
    if (status != NULL) return status;
  }
  return NULL;
}

rheos_status *rheos__tensor_copy_part(const rheos_tensor *from, int64_t first, int64_t count,
                                      rheos_tensor *to, int64_t to_first) {
  const size_t size = rheos_dtype_size(from->dtype);
  const char *source = (const char *)from->data + (size_t)first * size;
  char *target = (char *)to->data + (size_t)to_first * size;
  assert(from->dtype == to->dtype && first + count <= from->num_elements &&
         to_first + count <= to->num_elements);
  if (count == 0) return NULL;
  if (from->memory == NULL && to->memory == NULL) {
    return rheos__copy_elements(from->dtype, target, source, count);
  }
  return rheos__memory_copy(to->memory, target, from->memory, source, (size_t)count * size);
}

static rheos_status *tensor_of(rheos_dtype dtype, const rheos_shape *shape, const void *values,
                               rheos_tensor **out_tensor) {
  RHEOS_TRY(rheos__tensor_new(dtype, shape, out_tensor));
  rheos_tensor *tensor = *out_tensor;
  if (holds_counted(dtype)) {
    copy_variants(tensor->data, values, tensor->num_elements);
    return NULL;
  }
  if (tensor->size_bytes > 0) memcpy(tensor->data, values, tensor->size_bytes);
  rheos_status *status = dtype == RHEOS_STRING ? rheos__tensor_own_strings(tensor) : NULL;
  if (status == NULL) return NULL;
  rheos_tensor_unref(tensor);
  *out_tensor = NULL;
  return status;
}

rheos_status *rheos_tensor_from_values(rheos_dtype dtype, rheos_shape shape, const void *values,
                                       rheos_tensor **out_tensor) {
  RHEOS_OUT(out_tensor);
  if (holds_counted(dtype)) {
    return RHEOS_INVALID("a tensor of dtype %s cannot be made of values", rheos_dtype_name(dtype));
  }
  if (values == NULL && rheos_shape_num_elements(&shape) != 0) {
    rheos__shape_text text;
    return RHEOS_INVALID("the values of a tensor are NULL: of dtype %s and shape %s",
                         rheos_dtype_name(dtype), rheos__shape_text_of(&shape, &text));
  }
  return tensor_of(dtype, &shape, values, out_tensor);
}

// ---- In memories that may not be the host's

rheos_status *rheos__tensor_new_in(rheos__memory *memory, rheos_dtype dtype,
                                   const rheos_shape *shape, rheos_tensor **out_tensor) {
  if (memory == NULL) return rheos__tensor_new(dtype, shape, out_tensor);
  *out_tensor = NULL;
  assert(!starts_zeroed(dtype));
  int64_t num_elements;
  size_t size_bytes;
  RHEOS_TRY(rheos__shape_size(dtype, shape, &num_elements, &size_bytes));
  rheos_tensor *tensor = rheos__alloc(sizeof *tensor);
  if (tensor == NULL) return no_memory_for(dtype, shape, size_bytes);
  set_header(tensor, dtype, shape, num_elements, size_bytes);
  tensor->data = tensor->allocation =
      rheos__memory_allocate(memory, size_bytes > 0 ? size_bytes : 1);
  if (tensor->data == NULL) {
    rheos__free(tensor);
    return no_memory_in(memory, dtype, shape, size_bytes);
  }
  tensor->memory = rheos__memory_ref(memory);
  *out_tensor = tensor;
  return NULL;
}

rheos_status *rheos__tensor_copy_to(const rheos_tensor *tensor, rheos__memory *memory,
                                    rheos_tensor **out_tensor) {
  *out_tensor = NULL;
  if (memory == NULL && tensor->memory == NULL) {
    return tensor_of(tensor->dtype, &tensor->shape, tensor->data, out_tensor);
  }
  rheos_tensor *copy = NULL;
  RHEOS_TRY(rheos__tensor_new_in(memory, tensor->dtype, &tensor->shape, &copy));
  rheos_status *status =
      rheos__memory_copy(memory, copy->data, tensor->memory, tensor->data, tensor->size_bytes);
  if (status != NULL) {
    rheos_tensor_unref(copy);
    return status;
  }
  *out_tensor = copy;
  return NULL;
}

void rheos__tensor_drop_mirror(rheos_tensor *tensor) {
  rheos_tensor_unref(atomic_exchange(&tensor->mirror, NULL));
}

// The tensor's mirror, borrowed: made in `memory` where there is none.
static rheos_status *find_mirror(rheos_tensor *tensor, rheos__memory *memory,
                                 rheos_tensor **out_mirror) {
  rheos_tensor *mirror = atomic_load_explicit(&tensor->mirror, memory_order_acquire), *copy = NULL;
  assert(atomic_load_explicit(&tensor->references, memory_order_relaxed) > 0);  // no view
  *out_mirror = mirror;
  if (mirror != NULL) return NULL;
  RHEOS_TRY(rheos__tensor_copy_to(tensor, memory, &copy));
  const bool is_first = atomic_compare_exchange_strong(&tensor->mirror, &mirror, copy);
  *out_mirror = is_first ? copy : mirror;
  if (!is_first) rheos_tensor_unref(copy);
  return NULL;
}

// Whose bytes these are, all of them: it keeps their copy for each that shares them.
static rheos_tensor *owner_of(rheos_tensor *tensor) {
  if (tensor->release != release_base) return tensor;
  rheos_tensor *base = tensor->release_argument;
  return base->data == tensor->data && base->size_bytes == tensor->size_bytes ? base : tensor;
}

rheos_status *rheos__tensor_in(rheos_tensor *tensor, rheos__memory *memory,
                               rheos_tensor **out_tensor) {
  *out_tensor = NULL;
  if (tensor->memory == memory) return rheos__tensor_keep(tensor, out_tensor);
  // What the host asks for is mostly fetched or saved once: two of each weight would be too many.
  if (memory == NULL || !rheos__tensor_can_keep(tensor)) {
    return rheos__tensor_copy_to(tensor, memory, out_tensor);
  }
  rheos_tensor *owner = owner_of(tensor), *mirror = NULL;
  RHEOS_TRY(find_mirror(owner, memory, &mirror));
  if (mirror->memory != memory) return rheos__tensor_copy_to(tensor, memory, out_tensor);
  if (tensor->dtype != owner->dtype || !rheos_shape_equal(&tensor->shape, &owner->shape)) {
    return share_bytes(mirror, tensor->dtype, &tensor->shape, tensor->num_elements, out_tensor);
  }
  *out_tensor = rheos_tensor_ref(mirror);
  return NULL;
}

rheos_status *rheos_tensor_copy(const rheos_tensor *tensor, rheos_tensor **out_tensor) {
  RHEOS_OUT(out_tensor);
  RHEOS_NEED(tensor);
  return rheos__tensor_copy_to(tensor, tensor->memory, out_tensor);
}

int64_t rheos__tensor_content(rheos_tensor *tensor) {
  static _Atomic int64_t last;
  int64_t content = atomic_load_explicit(&tensor->content, memory_order_relaxed);
  if (content != 0) return content;
  const int64_t fresh = atomic_fetch_add_explicit(&last, 1, memory_order_relaxed) + 1;
  // Another reader may have been faster: `content` is then its number.
  return atomic_compare_exchange_strong(&tensor->content, &content, fresh) ? fresh : content;
}

rheos_tensor *rheos_tensor_ref(rheos_tensor *tensor) {
  if (tensor == NULL) return NULL;
  int32_t before = atomic_fetch_add_explicit(&tensor->references, 1, memory_order_relaxed);
  assert(before > 0 && "a view cannot be kept");
  (void)before;
  return tensor;
}

void rheos_tensor_unref(rheos_tensor *tensor) {
  if (tensor == NULL) return;
  // Nobody but who holds the last reference can add one, so that is read and not counted.
  if (atomic_load_explicit(&tensor->references, memory_order_acquire) != 1 &&
      atomic_fetch_sub_explicit(&tensor->references, 1, memory_order_acq_rel) != 1) {
    return;
  }
  if (atomic_load_explicit(&tensor->mirror, memory_order_relaxed) != NULL) {
    rheos__tensor_drop_mirror(tensor);
  }
  if (tensor->release != NULL) {
    tensor->release(tensor->release_argument);
  } else if (tensor->dtype == RHEOS_STRING) {
    free_strings(tensor->data, tensor->num_elements);
    rheos__free(tensor->string_block);
  } else if (holds_counted(tensor->dtype)) {
    rheos__variant **variants = tensor->data;
    for (int64_t i = 0; i < tensor->num_elements; i++) rheos__variant_unref(variants[i]);
  }
  if (is_of_class(tensor)) {
    rheos__small_free(class_of(tensor->size_bytes), tensor);
    return;
  }
  rheos__memory_free(tensor->memory, tensor->allocation);
  if (tensor->memory != NULL && tensor->allocation != NULL) rheos__memory_unref(tensor->memory);
  rheos__free(tensor);
}

rheos_dtype rheos_tensor_dtype(const rheos_tensor *tensor) {
  return tensor != NULL ? tensor->dtype : RHEOS_INVALID_DTYPE;
}

const rheos_shape *rheos_tensor_shape(const rheos_tensor *tensor) {
  return tensor != NULL ? &tensor->shape : NULL;
}

int64_t rheos_tensor_num_elements(const rheos_tensor *tensor) {
  return tensor != NULL ? tensor->num_elements : 0;
}

size_t rheos_tensor_size_bytes(const rheos_tensor *tensor) {
  return tensor != NULL ? tensor->size_bytes : 0;
}

// The mirror of a tensor elsewhere, or the mirror's where that is elsewhere too.
rheos_status *rheos__tensor_to_host(const rheos_tensor **tensor) {
  while (*tensor != NULL && (*tensor)->memory != NULL) {
    rheos_tensor *mirror;
    RHEOS_TRY(find_mirror((rheos_tensor *)(uintptr_t)*tensor, NULL, &mirror));
    *tensor = mirror;
  }
  return NULL;
}

SELDOM static void *mirrored_data(const rheos_tensor *tensor) {
  rheos_status *status = rheos__tensor_to_host(&tensor);
  rheos_status_free(status);
  return status == NULL ? tensor->data : NULL;
}

void *rheos_tensor_data(const rheos_tensor *tensor) {
  if (tensor == NULL) return NULL;
  if (__builtin_expect(tensor->memory == NULL, 1)) return tensor->data;
  return mirrored_data(tensor);
}

const char *rheos_tensor_device(const rheos_tensor *tensor) {
  return tensor != NULL && tensor->memory != NULL ? tensor->memory->device : "";
}

rheos_status *rheos_tensor_set_string(rheos_tensor *tensor, int64_t index, const char *data,
                                      size_t size_bytes) {
  RHEOS_NEED(tensor);
  RHEOS_NEED_BYTES(data, size_bytes);
  if (tensor->dtype != RHEOS_STRING) {
    return RHEOS_INVALID("expected a string tensor, got dtype %s", rheos_dtype_name(tensor->dtype));
  }
  if (index < 0 || index >= tensor->num_elements) {
    return rheos_status_new(RHEOS_OUT_OF_RANGE, "index %lld is not in [0, %lld)", (long long)index,
                            (long long)tensor->num_elements);
  }
  rheos_string *element = (rheos_string *)tensor->data + index;
  rheos_string copy;
  RHEOS_TRY(copy_string(&copy, data, size_bytes));
  free_string(*element);
  *element = copy;
  return NULL;
}

int64_t rheos__tensor_int_at(const rheos_tensor *tensor, int64_t index) {
  assert(index >= 0 && index < tensor->num_elements);
  const void *data = tensor->data;
  switch ((int)tensor->dtype) {
    case RHEOS_INT32:
    case RHEOS_QINT32: return ((const int32_t *)data)[index];
    case RHEOS_INT64:
    case RHEOS_UINT64: return ((const int64_t *)data)[index];
    case RHEOS_UINT32: return ((const uint32_t *)data)[index];
    case RHEOS_INT16:
    case RHEOS_QINT16: return ((const int16_t *)data)[index];
    case RHEOS_UINT16:
    case RHEOS_QUINT16: return ((const uint16_t *)data)[index];
    case RHEOS_INT8:
    case RHEOS_INT4:
    case RHEOS_QINT8: return ((const int8_t *)data)[index];
    case RHEOS_UINT8:
    case RHEOS_UINT4:
    case RHEOS_QUINT8:
    case RHEOS_BOOL: return ((const uint8_t *)data)[index];
    default: assert(false && "not an integer tensor"); return 0;
  }
}
