// Checkpoints: TensorFlow's tensor bundles. `PREFIX.data-00000-of-00001` holds the tensors' bytes
// one after the other, `PREFIX.index` (a table, see table.h) says under each name where they are.
//
// A save over an old checkpoint must leave one that can be read, whenever it is cut off. Two files
// cannot be renamed at once, so a save goes:
//   1. write PREFIX.data-*.new and PREFIX.index.tmp, sync them
//   2. rename PREFIX.index.tmp to PREFIX.index.new: from here on the new checkpoint counts
//   3. rename each PREFIX.data-*.new to its place, then PREFIX.index.new to its
// A reader prefers PREFIX.index.new if it is there, and with it any PREFIX.data-*.new that is still
// there. The next save first finishes step 3 of one that was cut off. Without crashes the files are
// those TensorFlow writes, byte for byte.
#ifndef RHEOS_SRC_FORMAT_CHECKPOINT_BUNDLE_H
#define RHEOS_SRC_FORMAT_CHECKPOINT_BUNDLE_H

#include "base/file.h"
#include "format/checkpoint/tensor_slice.h"
#include "graph/op_def.h"
#include "tensor/tensor.h"

// ---- Writing: one shard

typedef struct rheos__bundle_writer rheos__bundle_writer;

// Makes the folder of `prefix` if it is missing.
rheos_status *rheos__bundle_writer_open(const char *prefix, rheos__bundle_writer **out_writer);
// The step on whose threads large tensors are written from now on, while it runs.
void rheos__bundle_writer_use(rheos__bundle_writer *writer, rheos__step *step);
// In any order of names; each once, none empty. Tensors lie in the data file in the order of calls.
rheos_status *rheos__bundle_writer_add(rheos__bundle_writer *writer, const char *name,
                                       size_t name_bytes, const rheos_tensor *tensor);
// A part of a tensor of `shape`, which has the slice's shape. All parts of a name have one shape
// and dtype.
rheos_status *rheos__bundle_writer_add_slice(rheos__bundle_writer *writer, const char *name,
                                             size_t name_bytes, const rheos_shape *shape,
                                             const rheos__slice *slice, const rheos_tensor *tensor);
// Puts the checkpoint in place. Frees the writer in any case; after a failure the old checkpoint,
// if there was one, is still there, or, if only the last renames failed, the new one.
rheos_status *rheos__bundle_writer_finish_take(rheos__bundle_writer *writer);
void rheos__bundle_writer_abandon(rheos__bundle_writer *writer);

// ---- Reading: any number of shards

typedef struct rheos__bundle rheos__bundle;

typedef struct rheos__bundle_entry {
  const char *name;  // not NUL-terminated if it holds NULs itself
  size_t name_bytes;
  rheos_dtype dtype;
  rheos_shape shape;
  int32_t shard;
  uint64_t offset, size_bytes;
  uint32_t crc;
  int32_t num_slices;  // of a tensor saved in parts, which are entries of their own
} rheos__bundle_entry;

// RHEOS_NOT_FOUND if there is no checkpoint of that prefix, RHEOS_DATA_LOSS if its index is
// damaged.
rheos_status *rheos__bundle_open(const char *prefix, rheos__bundle **out_bundle);
void rheos__bundle_close(rheos__bundle *bundle);
// Sorted by name.
size_t rheos__bundle_count(const rheos__bundle *bundle);
const rheos__bundle_entry *rheos__bundle_at(const rheos__bundle *bundle, size_t index);
// NULL if there is none.
const rheos__bundle_entry *rheos__bundle_find(const rheos__bundle *bundle, const char *name,
                                              size_t name_bytes);
// Reads and checks the tensor, of whose parts it is put together. One thread at a time.
rheos_status *rheos__bundle_read(rheos__bundle *bundle, const rheos__bundle_entry *entry,
                                 rheos_tensor **out_tensor);
// As rheos__bundle_read() of several entries, over the threads of the step, which may be NULL. All
// of them, or none after a failure.
rheos_status *rheos__bundle_read_all(rheos__bundle *bundle,
                                     const rheos__bundle_entry *const *entries, size_t count,
                                     rheos__step *step, rheos_tensor **out_tensors);
// The part of the tensor that the slice is. RHEOS_INVALID_ARGUMENT if parts are missing.
rheos_status *rheos__bundle_read_slice(rheos__bundle *bundle, const rheos__bundle_entry *entry,
                                       const rheos__slice *slice, rheos_tensor **out_tensor);
// Whether the entry is a part of a tensor.
static inline bool rheos__bundle_is_part(const rheos__bundle_entry *entry) {
  return entry->name_bytes > 0 && entry->name[0] == '\0';
}

// ---- Merging

// Makes one checkpoint of several: their data files become its shards, their indexes go away.
// RHEOS_INVALID_ARGUMENT if two hold the same name.
rheos_status *rheos__bundle_merge(const char *const *prefixes, size_t count,
                                  const char *destination);

#endif  // RHEOS_SRC_FORMAT_CHECKPOINT_BUNDLE_H
