// What the writer and the reader of bundles share: file names, and how a save is finished.
#ifndef RHEOS_SRC_FORMAT_CHECKPOINT_BUNDLE_FILES_H
#define RHEOS_SRC_FORMAT_CHECKPOINT_BUNDLE_FILES_H

#include "base/file.h"
#include "bundle.pb-c.h"
#include "format/checkpoint/bundle.h"
#include "format/message/protobuf.h"

enum { RHEOS__MAX_SHARDS = 99999, RHEOS__BUNDLE_VERSION = 1 };

// Fresh strings; NULL when memory is short. `suffix` is "" or ".new", or ".tmp" for an index.
char *rheos__bundle_index_path(const char *prefix, const char *suffix);
char *rheos__bundle_data_path(const char *prefix, int32_t shard, int32_t num_shards,
                              const char *suffix);

struct rheos__bundle {
  char *prefix;
  bool is_pending;  // read from PREFIX.index.new: data files may still be called .new
  int32_t num_shards;
  rheos__file **shards;  // opened when first read
  rheos__bundle_entry *entries;
  ProtobufCBinaryData *values;  // of the entries, as in the file
  size_t count, capacity, values_capacity;
  size_t names_bytes, max_names_bytes;
  rheos__arena arena;  // names and values
};

// Removes, or brings to its end, what killed saves of the same series (the prefix without "-123")
// left in the folder of the prefix. What is somebody else's stays.
rheos_status *rheos__checkpoint_sweep(const char *prefix);

// Bytes of a tensor on their way: to be read from `from` or written to `to`.
typedef struct rheos__bundle_numbers {
  rheos__file *from;
  rheos__file_writer *to;  // room for them is reserved
  uint64_t offset;         // in the file
  char *bytes;
  size_t size_bytes;
  uint32_t crc;  // the answer: their checksum
} rheos__bundle_numbers;
// On the step's threads, or on the caller's where `step` is NULL.
rheos_status *rheos__bundle_read_numbers(rheos__bundle_numbers *numbers, size_t count,
                                         rheos__step *step);
rheos_status *rheos__bundle_write_numbers(rheos__bundle_numbers *numbers, size_t count,
                                          rheos__step *step);

// An entry of an index to be written.
typedef struct rheos__index_entry {
  const char *name;
  size_t name_bytes;
  const char *value;
  size_t value_bytes;
} rheos__index_entry;

// Sorts the entries, writes PREFIX.index.tmp and syncs it. RHEOS_INVALID_ARGUMENT for a name that
// comes twice.
rheos_status *rheos__bundle_write_index(const char *prefix, int32_t num_shards,
                                        rheos__index_entry *entries, size_t count);
// Steps 2 and 3 of a save. `*out_committed` tells whether the new checkpoint counts.
rheos_status *rheos__bundle_commit(const char *prefix, int32_t num_shards, bool *out_committed);
// Step 3 of a save that was cut off, if there is one.
rheos_status *rheos__bundle_finish_interrupted(const char *prefix);
// As rheos__bundle_open(), from one given index file.
rheos_status *rheos__bundle_open_index(const char *prefix, const char *index_path, bool is_pending,
                                       rheos__bundle **out_bundle);

#endif  // RHEOS_SRC_FORMAT_CHECKPOINT_BUNDLE_FILES_H
