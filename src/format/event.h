// Records in files, as TensorFlow frames them (TFRecord):
//   length (64 bits), masked CRC32C of these 8 bytes, the bytes, masked CRC32C of the bytes
// Event files are such records of Event messages.
#ifndef RHEOS_SRC_FORMAT_EVENT_H
#define RHEOS_SRC_FORMAT_EVENT_H

#include "base/file.h"
#include "format/buffer.h"

rheos_status *rheos__record_write(rheos__file_writer *file, const void *data, size_t size_bytes);

// Reads the record at `*offset` into `buffer` (replaced), and moves the offset behind it.
// RHEOS_OUT_OF_RANGE at the end of the file, RHEOS_DATA_LOSS for a record that is damaged or cut.
rheos_status *rheos__record_read(rheos__file *file, uint64_t *offset, rheos__buffer *buffer);

#endif  // RHEOS_SRC_FORMAT_EVENT_H
