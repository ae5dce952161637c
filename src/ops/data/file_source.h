// The bytes of a file one after the other, decompressed: what datasets of files read.
#ifndef RHEOS_SRC_OPS_DATA_FILE_SOURCE_H
#define RHEOS_SRC_OPS_DATA_FILE_SOURCE_H

#include "base/file.h"
#include "codec/compress.h"
#include "ops/data/dataset.h"

// Zeros while no file is open. `bytes` from `at` up to `size` are the next ones.
typedef struct rheos__source {
  rheos__file *file;  // NULL: none is open
  uint64_t offset;    // in the file
  rheos__inflater *inflater;
  char *raw, *bytes;  // as they are in the file, where that is compressed; as they are meant
  const char *raw_at;
  size_t raw_left, at, size;
  bool has_blocks;  // each compressed by snappy, behind its size
} rheos__source;

// A failure leaves nothing open.
rheos_status *rheos__source_open(rheos__source *source, const rheos_string *path,
                                 rheos_compression compression);
// Of a file of blocks that are compressed by snappy, as TensorFlow's streams write them.
rheos_status *rheos__source_open_blocks(rheos__source *source, const rheos_string *path);
void rheos__source_close(rheos__source *source);
// More bytes in place of those that are there; none at the end.
rheos_status *rheos__source_refill(rheos__source *source);
// Reads as many bytes as there are, up to `size_bytes`: a rheos__get_bytes whose argument is the
// source. NULL for `data` skips them.
rheos_status *rheos__source_get(void *source, void *data, size_t size_bytes, size_t *out_read);
// The next byte, or -1 at the end.
static inline rheos_status *rheos__source_peek(rheos__source *source, int *out_byte) {
  if (source->at == source->size) RHEOS_TRY(rheos__source_refill(source));
  *out_byte = source->at < source->size ? (unsigned char)source->bytes[source->at] : -1;
  return NULL;
}

// The op's input `compression_type`.
rheos_status *rheos__dataset_compression(const rheos__dataset *dataset, int32_t arg,
                                         rheos_compression *out_compression);

#endif  // RHEOS_SRC_OPS_DATA_FILE_SOURCE_H
