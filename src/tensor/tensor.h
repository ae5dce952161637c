// Tensors inside the library.
#ifndef RHEOS_SRC_TENSOR_TENSOR_H
#define RHEOS_SRC_TENSOR_TENSOR_H

#include <rheos/tensor.h>
#include <string.h>
#include <stdatomic.h>

#include "base/alloc.h"
#include "base/status.h"
#include "tensor/memory.h"

enum { RHEOS__DTYPE_SIZES = 31 };

// A file can write equal tensors in several ways; `listed` remembers which, so that it is written
// that way again: one more than the number of values that were listed, the last one standing for
// the rest, or one of these.
enum { RHEOS__LISTED_AS_USUAL = 0, RHEOS__LISTED_AS_CONTENT = -1 };

// Invariant: shape is fully known; num_elements and size_bytes follow from it; data holds
// size_bytes, in `memory`. Strings, variants and handles lie in the host's. Small tensors are one
// allocation: the data follows the struct.
struct rheos_tensor {
  _Atomic int32_t references;
  rheos_dtype dtype;
  rheos_shape shape;
  int64_t num_elements;
  size_t size_bytes;
  void *data;
  rheos__memory *memory;  // that data lies in, kept by who owns the data; NULL: the host's
  void (*release)(void *argument);  // of borrowed data; NULL if the tensor owns its data
  void *release_argument;
  void *allocation;         // what to give back to `memory`, or NULL
  char *string_block;       // where strings lie that have no memory of their own, or NULL
  int64_t listed;           // how a file wrote it: see RHEOS__LISTED_*
  _Atomic int64_t content;  // see rheos__tensor_content(); 0: nobody has asked
  // A copy in another memory, kept for who asks for it again: see rheos__tensor_in(). NULL: there
  // is none.
  rheos_tensor *_Atomic mirror;
};

// rheos_tensor_new() of a shape by address, which is faster for small tensors.
rheos_status *rheos__tensor_new(rheos_dtype dtype, const rheos_shape *shape,
                                rheos_tensor **out_tensor);

// A tensor in the memory, which is the host's for NULL. Elsewhere only of plain numbers.
rheos_status *rheos__tensor_new_in(rheos__memory *memory, rheos_dtype dtype,
                                   const rheos_shape *shape, rheos_tensor **out_tensor);

// A deep copy in the memory.
rheos_status *rheos__tensor_copy_to(const rheos_tensor *tensor, rheos__memory *memory,
                                    rheos_tensor **out_tensor);

// The tensor in another memory: a reference where it lies there already, else a copy, which a
// tensor of the host's keeps until its bytes change, for all that share these. Good for what may be
// kept; of plain numbers.
rheos_status *rheos__tensor_in(rheos_tensor *tensor, rheos__memory *memory,
                               rheos_tensor **out_tensor);

// Puts the tensor in the host's memory in the place of `*tensor`: itself, or the copy that one of
// another memory keeps. NULL stays.
rheos_status *rheos__tensor_to_host(const rheos_tensor **tensor);

// A header in the caller's storage over bytes the caller keeps alive: for kernels. It has
// references 0 and must not be counted. `num_elements` and `size_bytes` are computed; the shape
// must be known. The bytes are the host's, unless `memory` is set.
void rheos__tensor_init_view(rheos_tensor *tensor, rheos_dtype dtype, const rheos_shape *shape,
                             void *data);

// A tensor whose bytes are the first ones of a file, mapped: pages are read when they are touched.
// Not for strings. RHEOS_OUT_OF_RANGE if the file is too small.
rheos_status *rheos__tensor_map(rheos_dtype dtype, rheos_shape shape, const char *path,
                                rheos_tensor **out_tensor);
// How the bytes of such a tensor are released.
void rheos__release_mapping(void *mapping);

// Whether the tensor may be kept by a reference after the call it was given to: it is no view, and
// its bytes are not lent by a caller who may change them afterwards. Otherwise copy it.
bool rheos__tensor_can_keep(const rheos_tensor *tensor);
// A reference to the tensor, or to a copy of it where it cannot be kept.
rheos_status *rheos__tensor_keep(rheos_tensor *tensor, rheos_tensor **out_tensor);

// The tensor's bytes under another shape and dtype of the same size: shared, or copied if the
// tensor is a view. Not for strings, unless the dtype stays.
rheos_status *rheos__tensor_seen_as(rheos_tensor *tensor, rheos_dtype dtype, rheos_shape shape,
                                    rheos_tensor **out_tensor);

// True if the caller holds the only reference.
static inline bool rheos__tensor_is_held_once(const rheos_tensor *tensor) {
  return atomic_load_explicit(&tensor->references, memory_order_acquire) == 1;
}
// True if the caller holds the only reference, the bytes are the tensor's own, and no copy of them
// is kept, so that it may write to them.
static inline bool rheos__tensor_is_exclusive(const rheos_tensor *tensor) {
  return tensor->release == NULL && rheos__tensor_is_held_once(tensor) &&
         atomic_load_explicit(&tensor->mirror, memory_order_relaxed) == NULL;
}

// A place in a larger tensor, which it keeps: what is computed there is in `block` without a copy.
// Who keeps tensors copies it, and only calls whose result it may become write to it. Not for
// strings and the like.
rheos_status *rheos__tensor_place(rheos_tensor *block, const rheos_shape *shape,
                                  size_t offset_bytes, rheos_tensor **out_tensor);
void rheos__release_place(void *block);
// The tensor that it is a place in; NULL: it is none.
static inline rheos_tensor *rheos__tensor_block(const rheos_tensor *tensor) {
  return tensor->release == rheos__release_place ? tensor->release_argument : NULL;
}
// Whether a result may be computed in a tensor that the caller has no use for, or in a place.
static inline bool rheos__tensor_is_spare(const rheos_tensor *tensor) {
  return (tensor->release == NULL || tensor->release == rheos__release_place) &&
         rheos__tensor_is_held_once(tensor) &&
         atomic_load_explicit(&tensor->mirror, memory_order_relaxed) == NULL;
}

// A number that stands for the bytes the tensor has now: no two tensors of the process have the
// same one, and whoever changes bytes in place calls rheos__tensor_changed().
int64_t rheos__tensor_content(rheos_tensor *tensor);
void rheos__tensor_drop_mirror(rheos_tensor *tensor);
static inline void rheos__tensor_changed(rheos_tensor *tensor) {
  atomic_store_explicit(&tensor->content, 0, memory_order_relaxed);
  if (atomic_load_explicit(&tensor->mirror, memory_order_relaxed) != NULL) {
    rheos__tensor_drop_mirror(tensor);
  }
}

// Bytes of an element of each dtype that is no reference; 0 where there is none of that number.
extern const uint8_t rheos__dtype_sizes[RHEOS__DTYPE_SIZES];
static inline size_t rheos__dtype_size(rheos_dtype dtype) {
  return (unsigned)dtype < RHEOS__DTYPE_SIZES ? rheos__dtype_sizes[dtype] : 0;
}

// Number of elements and bytes of a known shape; a status if the shape is not known, negative or
// too large.
rheos_status *rheos__shape_size(rheos_dtype dtype, const rheos_shape *shape,
                                int64_t *out_num_elements, size_t *out_size_bytes);

// For a tensor of strings that borrows the bytes of all its elements, which are set without more
// ado: gives it copies of them, in one piece of memory; neighbours that are the same bytes share a
// copy. After a failure it holds empty strings.
rheos_status *rheos__tensor_own_strings(rheos_tensor *tensor);

// Copies `count` string elements (deep) or variants and handles (shared), or bytes for other
// dtypes.
rheos_status *rheos__copy_elements(rheos_dtype dtype, void *to, const void *from, int64_t count);

// Copies `count` elements of a tensor from element `first` on to those of another of its dtype from
// element `to_first` on, in whatever memories they lie.
rheos_status *rheos__tensor_copy_part(const rheos_tensor *from, int64_t first, int64_t count,
                                      rheos_tensor *to, int64_t to_first);

// Element `index` of an integer tensor of any width as int64.
int64_t rheos__tensor_int_at(const rheos_tensor *tensor, int64_t index);

// Half-precision conversions, round to nearest even.
float rheos__half_to_float(uint16_t half);
uint16_t rheos__float_to_half(float value);
float rheos__bfloat16_to_float(uint16_t bits);
uint16_t rheos__float_to_bfloat16(float value);

// ---- Shape arithmetic for shape functions and kernels

// Whether the rank fits a shape and every dimension is a number or not known.
bool rheos__shape_is_sound(const rheos_shape *shape);

// The broadcast of two shapes, dimensions of -1 allowed; a status naming both if they do not fit.
rheos_status *rheos__shape_broadcast(const rheos_shape *a, const rheos_shape *b,
                                     rheos_shape *out_shape);
// The most that is known of both; a status if they contradict each other.
rheos_status *rheos__shape_merge(const rheos_shape *a, const rheos_shape *b,
                                 rheos_shape *out_shape);
// What two shapes that do not fit mean to an op, before why they do not: "`before` a`between` b:
// why". Takes `why` and gives it back so; NULL for NULL.
rheos_status *rheos__shape_unfit(rheos_status *why, const char *before, const rheos_shape *a,
                                 const char *between, const rheos_shape *b);
// What is known of both: dimensions in which they differ are unknown.
rheos_shape rheos__shape_common(const rheos_shape *a, const rheos_shape *b);
// "[2,3]" in a buffer of the caller, for messages.
typedef struct rheos__shape_text {
  char text[192];
} rheos__shape_text;
const char *rheos__shape_text_of(const rheos_shape *shape, rheos__shape_text *buffer);

// ---- Elements of string tensors

// Bytes that stay the caller's, as a string that is only read.
static inline rheos_string rheos__borrow_string(const char *data, size_t size_bytes) {
  return (rheos_string){(char *)(uintptr_t)data, size_bytes};
}

static inline bool rheos__string_equal(const rheos_string *a, const rheos_string *b) {
  return a->size_bytes == b->size_bytes &&
         (a->size_bytes == 0 || memcmp(a->data, b->data, a->size_bytes) == 0);
}

#endif  // RHEOS_SRC_TENSOR_TENSOR_H
