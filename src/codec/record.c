// Framed records. A length is checked against its own checksum, and memory is asked for as the
// bytes come: a length that lies costs nothing.
#include "codec/record.h"

#include <assert.h>

#include "base/crc32c.h"

enum { HEADER_BYTES = 12, FOOTER_BYTES = 4, FIRST_BYTES = 1 << 20 };

// ---- Writing

rheos_status *rheos__record_put(rheos__put_bytes put, void *argument, const void *data,
                                size_t size_bytes) {
  char header[HEADER_BYTES], footer[FOOTER_BYTES];
  uint64_t length = size_bytes;
  memcpy(header, &length, 8);
  uint32_t crc = rheos__crc32c_mask(rheos__crc32c(0, header, 8));
  memcpy(header + 8, &crc, 4);
  crc = rheos__crc32c_mask(rheos__crc32c(0, data, size_bytes));
  memcpy(footer, &crc, 4);
  RHEOS_TRY(put(argument, header, HEADER_BYTES));
  RHEOS_TRY(put(argument, data, size_bytes));
  return put(argument, footer, FOOTER_BYTES);
}

static rheos_status *put_in_file(void *file, const void *data, size_t size_bytes) {
  return rheos__file_writer_write(file, data, size_bytes);
}

rheos_status *rheos__record_write(rheos__file_writer *file, const void *data, size_t size_bytes) {
  return rheos__record_put(put_in_file, file, data, size_bytes);
}

// ---- Reading

static rheos_status *truncated(const char *path, uint64_t offset) {
  return rheos_status_new(RHEOS_DATA_LOSS, "'%s': truncated record at %llu", path,
                          (unsigned long long)offset);
}

static rheos_status *corrupted(const char *path, uint64_t offset) {
  return rheos_status_new(RHEOS_DATA_LOSS, "'%s': corrupted record at %llu", path,
                          (unsigned long long)offset);
}

// The bytes and the checksum behind them; false in *out_all where there are fewer.
static rheos_status *read_body(rheos__get_bytes get, void *argument, size_t size_bytes,
                               rheos__buffer *buffer, bool *out_all) {
  *out_all = false;
  while (buffer->size_bytes < size_bytes) {
    const size_t left = size_bytes - buffer->size_bytes;
    const size_t most = buffer->size_bytes < FIRST_BYTES ? FIRST_BYTES : buffer->size_bytes;
    const size_t some = left < most ? left : most;
    char *to = rheos__buffer_extend(buffer, some);
    size_t read;
    if (to == NULL) return rheos__out_of_memory();
    RHEOS_TRY(get(argument, to, some, &read));
    assert(read <= some);
    if (read < some) return NULL;
  }
  assert(buffer->size_bytes == size_bytes);
  *out_all = true;
  return NULL;
}

static rheos_status *read_length(rheos__get_bytes get, void *argument, const char *path,
                                 uint64_t offset, uint64_t *out_length) {
  char header[HEADER_BYTES];
  size_t read;
  RHEOS_TRY(get(argument, header, HEADER_BYTES, &read));
  if (read == 0) return rheos_status_new(RHEOS_OUT_OF_RANGE, "'%s' has no more records", path);
  if (read < HEADER_BYTES) return truncated(path, offset);
  if (!rheos__crc32c_holds(rheos__load_32(header + 8), rheos__crc32c(0, header, 8))) {
    return corrupted(path, offset);
  }
  *out_length = rheos__load_64(header);
  return NULL;
}

rheos_status *rheos__record_get(rheos__get_bytes get, void *argument, const char *path,
                                uint64_t *offset, rheos__buffer *buffer) {
  uint64_t length = 0;
  bool all = false;
  buffer->size_bytes = 0;
  RHEOS_TRY(read_length(get, argument, path, *offset, &length));
  if (length > SIZE_MAX / 2) return truncated(path, *offset);
  RHEOS_TRY(read_body(get, argument, (size_t)length + FOOTER_BYTES, buffer, &all));
  if (!all) return truncated(path, *offset);
  buffer->size_bytes = (size_t)length;
  const uint32_t crc = rheos__load_32(buffer->data + length);
  if (!rheos__crc32c_holds(crc, rheos__crc32c(0, buffer->data, (size_t)length))) {
    return corrupted(path, *offset + HEADER_BYTES);
  }
  *offset += HEADER_BYTES + length + FOOTER_BYTES;
  return NULL;
}

typedef struct place {
  rheos__file *file;
  uint64_t offset;
} place;

static rheos_status *get_from_file(void *argument, void *data, size_t size_bytes,
                                   size_t *out_read) {
  place *p = argument;
  const uint64_t left = rheos__file_size(p->file) - p->offset;
  *out_read = size_bytes < left ? size_bytes : (size_t)left;
  RHEOS_TRY(rheos__file_read_at(p->file, p->offset, data, *out_read));
  p->offset += *out_read;
  return NULL;
}

rheos_status *rheos__record_read(rheos__file *file, uint64_t *offset, rheos__buffer *buffer) {
  place p = {file, *offset};
  return rheos__record_get(get_from_file, &p, rheos__file_path(file), offset, buffer);
}
