// Records, as TensorFlow frames them in files (TFRecord):
//   length (64 bits), masked CRC32C of these 8 bytes, the bytes, masked CRC32C of the bytes
// Event files are such records of Event messages.
#ifndef RHEOS_SRC_CODEC_RECORD_H
#define RHEOS_SRC_CODEC_RECORD_H

#include "base/file.h"
#include "codec/buffer.h"

// ---- Through functions that take and give bytes

typedef rheos_status *(*rheos__put_bytes)(void *argument, const void *data, size_t size_bytes);
rheos_status *rheos__record_put(rheos__put_bytes put, void *argument, const void *data,
                                size_t size_bytes);

// Reads as many bytes as there are, up to size_bytes.
typedef rheos_status *(*rheos__get_bytes)(void *argument, void *data, size_t size_bytes,
                                          size_t *out_read);
// Reads the next record into `buffer` (replaced). RHEOS_OUT_OF_RANGE where no bytes are left,
// RHEOS_DATA_LOSS for a record that is damaged or cut, naming the path and the place `offset`,
// which moves behind the record.
rheos_status *rheos__record_get(rheos__get_bytes get, void *argument, const char *path,
                                uint64_t *offset, rheos__buffer *buffer);

// ---- In files

rheos_status *rheos__record_write(rheos__file_writer *file, const void *data, size_t size_bytes);
// As rheos__record_get(), for the file's record at `*offset`.
rheos_status *rheos__record_read(rheos__file *file, uint64_t *offset, rheos__buffer *buffer);

#endif  // RHEOS_SRC_CODEC_RECORD_H
