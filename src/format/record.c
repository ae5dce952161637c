// Framed records. A length is checked against its own checksum and the file before memory is asked
// for.
#include "base/crc32c.h"
#include "format/event.h"

enum { HEADER_BYTES = 12, FOOTER_BYTES = 4 };

rheos_status *rheos__record_write(rheos__file_writer *file, const void *data, size_t size_bytes) {
  char header[HEADER_BYTES], footer[FOOTER_BYTES];
  uint64_t length = size_bytes;
  memcpy(header, &length, 8);
  uint32_t crc = rheos__crc32c_mask(rheos__crc32c(0, header, 8));
  memcpy(header + 8, &crc, 4);
  crc = rheos__crc32c_mask(rheos__crc32c(0, data, size_bytes));
  memcpy(footer, &crc, 4);
  RHEOS_TRY(rheos__file_writer_write(file, header, HEADER_BYTES));
  RHEOS_TRY(rheos__file_writer_write(file, data, size_bytes));
  return rheos__file_writer_write(file, footer, FOOTER_BYTES);
}

static rheos_status *damaged(rheos__file *file, uint64_t offset, const char *what) {
  return rheos_status_new(RHEOS_DATA_LOSS, "'%s', record at byte %llu: %s", rheos__file_path(file),
                          (unsigned long long)offset, what);
}

rheos_status *rheos__record_read(rheos__file *file, uint64_t *offset, rheos__buffer *buffer) {
  buffer->size_bytes = 0;
  uint64_t left = rheos__file_size(file) - *offset;
  if (left == 0) {
    return rheos_status_new(RHEOS_OUT_OF_RANGE, "'%s' has no more records", rheos__file_path(file));
  }
  if (left < HEADER_BYTES + FOOTER_BYTES) return damaged(file, *offset, "it is cut short");
  char header[HEADER_BYTES];
  RHEOS_TRY(rheos__file_read_at(file, *offset, header, HEADER_BYTES));
  if (rheos__crc32c_unmask(rheos__load_32(header + 8)) != rheos__crc32c(0, header, 8)) {
    return damaged(file, *offset, "the checksum of its length does not match");
  }
  uint64_t length = rheos__load_64(header);
  if (length > left - HEADER_BYTES - FOOTER_BYTES) return damaged(file, *offset, "it is cut short");
  char *to = rheos__buffer_extend(buffer, (size_t)length + FOOTER_BYTES);
  if (to == NULL) return rheos__out_of_memory();
  RHEOS_TRY(rheos__file_read_at(file, *offset + HEADER_BYTES, to, (size_t)length + FOOTER_BYTES));
  buffer->size_bytes = (size_t)length;
  if (rheos__crc32c_unmask(rheos__load_32(to + length)) != rheos__crc32c(0, to, (size_t)length)) {
    return damaged(file, *offset, "its checksum does not match");
  }
  *offset += HEADER_BYTES + length + FOOTER_BYTES;
  return NULL;
}
