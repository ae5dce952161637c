// Parts of tensors in checkpoints: a box, by a start and a length for each dimension. Both kinds of
// checkpoints (bundle.h and checkpoint_v1.h) keep tensors that were saved in parts under keys made
// of a name and a box.
#ifndef RHEOS_SRC_FORMAT_CHECKPOINT_TENSOR_SLICE_H
#define RHEOS_SRC_FORMAT_CHECKPOINT_TENSOR_SLICE_H

#include "format/message/protobuf.h"
#include "tensor.pb-c.h"
#include "tensor/tensor.h"

enum { RHEOS__WHOLE_EXTENT = -1 };

typedef struct rheos__slice {
  int32_t rank;
  int64_t starts[RHEOS_MAX_RANK];
  int64_t lengths[RHEOS_MAX_RANK];  // RHEOS__WHOLE_EXTENT, with a start of 0: all of the dimension
} rheos__slice;

// All of a tensor of that rank.
rheos__slice rheos__slice_whole(int32_t rank);

// The text of a `shape_and_slices` entry: the shape of the whole tensor, then the box:
// "4 10 0,2:-" is two rows of four. The shape of the slice comes out too.
rheos_status *rheos__slice_parse(const rheos_string *text, rheos_shape *out_shape,
                                 rheos__slice *out_slice, rheos_shape *out_slice_shape);
// The box as text, "0,2:-".
typedef struct rheos__slice_text {
  char text[RHEOS_MAX_RANK * 44];
} rheos__slice_text;
const char *rheos__slice_text_of(const rheos__slice *slice, rheos__slice_text *buffer);

rheos_status *rheos__slice_from_proto(const Tensorflow__TensorSliceProto *proto,
                                      rheos__slice *out_slice);
// In the arena.
rheos_status *rheos__slice_to_proto(const rheos__slice *slice, rheos__arena *arena,
                                    Tensorflow__TensorSliceProto **out_proto);

// The shape of that box of a tensor; RHEOS_INTERNAL, as in TensorFlow, if it does not lie in it.
rheos_status *rheos__slice_shape(const rheos__slice *slice, const rheos_shape *shape,
                                 rheos_shape *out_shape);

// Appends the key of a slice. Keys of slices start with a zero byte, which names should not.
void rheos__slice_key(rheos__buffer *key, const char *name, size_t name_bytes,
                      const rheos__slice *slice);

// Whether `stored` slices (each of which lies in a tensor of `shape`) fill `wanted` without
// touching one another there. RHEOS_INTERNAL if they do touch.
rheos_status *rheos__slices_cover(const rheos_shape *shape, const rheos__slice *stored,
                                  size_t num_stored, const rheos__slice *wanted, bool *out_cover);
// Whether they have any element in common.
bool rheos__slices_meet(const rheos_shape *shape, const rheos__slice *a, const rheos__slice *b);
// Copies what both have in common from the tensor of one to the tensor of the other.
rheos_status *rheos__slice_copy(const rheos_shape *shape, const rheos__slice *from_slice,
                                const rheos_tensor *from, const rheos__slice *to_slice,
                                rheos_tensor *to);

#endif  // RHEOS_SRC_FORMAT_CHECKPOINT_TENSOR_SLICE_H
