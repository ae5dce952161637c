#include "ops/data/file_source.h"

#include <snappy-c.h>

enum { PIECE_BYTES = 1 << 16 };

void rheos__source_close(rheos__source *s) {
  rheos__file_close(s->file);
  rheos__inflater_free(s->inflater);
  rheos__free(s->raw);
  rheos__free(s->bytes);
  *s = (rheos__source){0};
}

rheos_status *rheos__source_open(rheos__source *s, const rheos_string *name,
                                 rheos_compression kind) {
  char *path = rheos__strndup(name->size_bytes > 0 ? name->data : "", name->size_bytes);
  if (path == NULL) return rheos__out_of_memory();
  *s = (rheos__source){0};
  rheos_status *status = rheos__file_open(path, &s->file);
  rheos__free(path);
  if (status == NULL && kind != RHEOS_NO_COMPRESSION) {
    status = rheos__inflater_new(kind, &s->inflater);
    s->raw = rheos__alloc(PIECE_BYTES);
  }
  s->bytes = rheos__alloc(PIECE_BYTES);
  if (status == NULL && (s->bytes == NULL || (s->inflater != NULL && s->raw == NULL))) {
    status = rheos__out_of_memory();
  }
  if (status != NULL) rheos__source_close(s);
  return status;
}

rheos_status *rheos__source_open_blocks(rheos__source *s, const rheos_string *path) {
  RHEOS_TRY(rheos__source_open(s, path, RHEOS_NO_COMPRESSION));
  s->has_blocks = true;
  return NULL;
}

static rheos_status *read_raw(rheos__source *s, char *to, size_t *out_size) {
  const uint64_t left = rheos__file_size(s->file) - s->offset;
  *out_size = left < PIECE_BYTES ? (size_t)left : PIECE_BYTES;
  if (*out_size > 0) RHEOS_TRY(rheos__file_read_at(s->file, s->offset, to, *out_size));
  s->offset += *out_size;
  return NULL;
}

// Snappy makes at most 64 bytes out of 3.
enum { MAX_EXPANSION = 22 };

static rheos_status *damaged_block(const rheos__source *s) {
  return rheos_status_new(RHEOS_DATA_LOSS, "%s: a compressed block is damaged",
                          rheos__file_path(s->file));
}

static rheos_status *unpack(rheos__source *s, const char *block, size_t block_bytes) {
  size_t size = 0;
  if (snappy_uncompressed_length(block, block_bytes, &size) != SNAPPY_OK ||
      size / MAX_EXPANSION > block_bytes) {
    return damaged_block(s);
  }
  char *bytes = rheos__alloc(size);
  if (bytes == NULL) return rheos__out_of_memory();
  rheos__free(s->bytes);
  s->bytes = bytes;
  if (snappy_uncompress(block, block_bytes, bytes, &size) != SNAPPY_OK) return damaged_block(s);
  s->size = size;
  return NULL;
}

// The next block that has any bytes.
static rheos_status *read_block(rheos__source *s) {
  while (s->size == 0 && s->offset < rheos__file_size(s->file)) {
    const uint64_t left = rheos__file_size(s->file) - s->offset;
    unsigned char head[4];
    if (left < sizeof head) return damaged_block(s);
    RHEOS_TRY(rheos__file_read_at(s->file, s->offset, head, sizeof head));
    const uint32_t size = (uint32_t)head[0] << 24 | (uint32_t)head[1] << 16 |
                          (uint32_t)head[2] << 8 | (uint32_t)head[3];
    if (size > left - sizeof head) return damaged_block(s);
    char *block = rheos__alloc(size);
    if (block == NULL) return rheos__out_of_memory();
    rheos_status *status = rheos__file_read_at(s->file, s->offset + sizeof head, block, size);
    if (status == NULL) status = unpack(s, block, size);
    rheos__free(block);
    if (status != NULL) return status;
    s->offset += sizeof head + size;
  }
  return NULL;
}

rheos_status *rheos__source_refill(rheos__source *s) {
  s->at = s->size = 0;
  if (s->has_blocks) return read_block(s);
  if (s->inflater == NULL) return read_raw(s, s->bytes, &s->size);
  while (s->size == 0) {
    if (s->raw_left == 0) {
      RHEOS_TRY(read_raw(s, s->raw, &s->raw_left));
      s->raw_at = s->raw;
      if (s->raw_left == 0) {
        return rheos__inflater_is_whole(s->inflater)
                   ? NULL
                   : rheos_status_new(RHEOS_DATA_LOSS, "%s: the compressed file is cut",
                                      rheos__file_path(s->file));
      }
    }
    RHEOS_TRY(rheos__inflater_run(s->inflater, &s->raw_at, &s->raw_left, s->bytes, PIECE_BYTES,
                                  &s->size));
  }
  return NULL;
}

rheos_status *rheos__source_get(void *argument, void *data, size_t size_bytes, size_t *out_read) {
  rheos__source *s = argument;
  *out_read = 0;
  while (*out_read < size_bytes) {
    if (s->at == s->size) RHEOS_TRY(rheos__source_refill(s));
    if (s->size == 0) return NULL;
    const size_t left = size_bytes - *out_read, here = s->size - s->at;
    const size_t count = left < here ? left : here;
    if (data != NULL) memcpy((char *)data + *out_read, s->bytes + s->at, count);
    s->at += count;
    *out_read += count;
  }
  return NULL;
}

rheos_status *rheos__dataset_compression(const rheos__dataset *d, int32_t arg,
                                         rheos_compression *out_compression) {
  const rheos_string *name;
  char text[16] = "";
  RHEOS_TRY(rheos__dataset_string(d, arg, "compression_type", &name));
  if (name->size_bytes < sizeof text && name->size_bytes > 0) {
    memcpy(text, name->data, name->size_bytes);
  }
  if (name->size_bytes < sizeof text && rheos__compression_of(text, out_compression)) return NULL;
  return RHEOS_INVALID("Unsupported compression_type.");
}
