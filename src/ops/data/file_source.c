#include "ops/data/file_source.h"

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

static rheos_status *read_raw(rheos__source *s, char *to, size_t *out_size) {
  const uint64_t left = rheos__file_size(s->file) - s->offset;
  *out_size = left < PIECE_BYTES ? (size_t)left : PIECE_BYTES;
  if (*out_size > 0) RHEOS_TRY(rheos__file_read_at(s->file, s->offset, to, *out_size));
  s->offset += *out_size;
  return NULL;
}

rheos_status *rheos__source_refill(rheos__source *s) {
  s->at = s->size = 0;
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
