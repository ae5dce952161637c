// Checkpoints of the first kind (V1), which TensorFlow 0.x wrote and 1.x still writes on demand:
// one file, a table (table.h) that holds the tensors themselves. Under the empty key it lists all
// tensors with their slices; under the key of each slice (tensor_slice.h) lie its elements. Several
// such files can be shards of one checkpoint, named together by a pattern.
#ifndef RHEOS_SRC_FORMAT_CHECKPOINT_CHECKPOINT_V1_H
#define RHEOS_SRC_FORMAT_CHECKPOINT_CHECKPOINT_V1_H

#include "format/checkpoint/tensor_slice.h"

// ---- Writing

typedef struct rheos__v1_item {
  const char *name;
  size_t name_bytes;
  rheos_shape shape;  // of the whole tensor
  rheos__slice slice;
  const rheos_tensor *tensor;  // of the slice
} rheos__v1_item;

// Writes the file, in place of an old one only once it is complete. Sorts the items by name.
// RHEOS_INTERNAL for items of one name that differ in shape or dtype, as in TensorFlow;
// RHEOS_UNIMPLEMENTED for dtypes that these files do not hold.
rheos_status *rheos__v1_checkpoint_write(const char *path, rheos__v1_item *items, size_t count);

// ---- Reading

typedef struct rheos__v1_checkpoint rheos__v1_checkpoint;

typedef struct rheos__v1_entry {
  const char *name;  // NUL-terminated
  size_t name_bytes;
  rheos_dtype dtype;
  rheos_shape shape;
  size_t first_part, num_parts;  // internal: where its slices lie
} rheos__v1_entry;

// Opens all files that the pattern describes and reads what is in them; elements stay there.
// RHEOS_NOT_FOUND if there is none.
rheos_status *rheos__v1_checkpoint_open(const char *pattern, rheos__v1_checkpoint **out_checkpoint);
void rheos__v1_checkpoint_close(rheos__v1_checkpoint *checkpoint);
// Sorted by name.
size_t rheos__v1_checkpoint_count(const rheos__v1_checkpoint *checkpoint);
const rheos__v1_entry *rheos__v1_checkpoint_at(const rheos__v1_checkpoint *checkpoint,
                                               size_t index);
// NULL if there is none.
const rheos__v1_entry *rheos__v1_checkpoint_find(const rheos__v1_checkpoint *checkpoint,
                                                 const char *name, size_t name_bytes);
// Reads a slice, which must lie in the tensor. RHEOS_INVALID_ARGUMENT if the file has not all of
// it.
rheos_status *rheos__v1_checkpoint_read(rheos__v1_checkpoint *checkpoint,
                                        const rheos__v1_entry *entry, const rheos__slice *slice,
                                        rheos_tensor **out_tensor);

#endif  // RHEOS_SRC_FORMAT_CHECKPOINT_CHECKPOINT_V1_H
