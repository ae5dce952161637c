// Readers of files by kind. See reader.h. Keys and the bytes that belong to records are
// TensorFlow's: a line loses its end, a carriage return before it too; a key is "FILE:NUMBER".
#include "ops/io/reader.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "codec/compress.h"
#include "codec/record.h"
#include "ops/kit/string_util.h"

enum { CHUNK_BYTES = 1 << 16 };
static const size_t MAX_FILE_BYTES = (size_t)1 << 40;

static rheos_status *init_reader(rheos__resource *resource, const void *argument) {
  rheos__reader *reader = (rheos__reader *)resource;
  reader->spec = *(const rheos__reader_spec *)argument;
  rheos__waitable_init(&reader->waitable);
  return NULL;
}

static void deinit_reader(rheos__resource *resource) {
  rheos__reader *reader = (rheos__reader *)resource;
  rheos__reader_end_work(reader);
  rheos__buffer_deinit(&reader->last_work);
  rheos__waitable_deinit(&reader->waitable);
}

const rheos__resource_kind rheos__reader_kind = {"reader", sizeof(rheos__reader), init_reader,
                                                 deinit_reader};

void rheos__reader_end_work(rheos__reader *reader) {
  rheos__free(reader->work);
  rheos__file_close(reader->file);
  rheos__lmdb_close(reader->lmdb);
  rheos__buffer_deinit(&reader->content);
  rheos__buffer_deinit(&reader->chunk);
  reader->work = NULL;
  reader->file = NULL;
  reader->lmdb = NULL;
  reader->work_bytes = 0;
  reader->offset = reader->end = reader->chunk_offset = 0;
  reader->num_read = 0;
}

// ---- Bytes of the work, of a file or decompressed

static rheos_status *read_bytes(rheos__reader *reader, uint64_t offset, void *data,
                                size_t size_bytes) {
  if (reader->file != NULL) return rheos__file_read_at(reader->file, offset, data, size_bytes);
  if (size_bytes > 0) memcpy(data, reader->content.data + offset, size_bytes);
  return NULL;
}

static rheos_status *decompress(rheos__reader *reader, const char *path) {
  char *data = NULL;
  size_t size_bytes = 0;
  RHEOS_TRY(rheos__file_read_all(path, MAX_FILE_BYTES, &data, &size_bytes));
  rheos_status *status =
      rheos__decompress(reader->spec.compression, data, size_bytes, &reader->content);
  rheos__free(data);
  if (status == NULL && reader->content.failed) status = rheos__out_of_memory();
  reader->end = reader->content.size_bytes;
  return status;
}

static rheos_status *open_file(rheos__reader *reader, const rheos_string *work) {
  char *path = NULL;
  if (work->size_bytes == 0) return RHEOS_NOTFOUND("the name of a file is empty");
  RHEOS_TRY(rheos__string_path(work, &path));
  rheos_status *status = NULL;
  if (reader->spec.type == RHEOS__READS_PAIRS) {
    status = rheos__lmdb_open(path, &reader->lmdb);
  } else if (reader->spec.compression != RHEOS_NO_COMPRESSION) {
    status = decompress(reader, path);
  } else {
    status = rheos__file_open(path, &reader->file);
    if (status == NULL) reader->end = rheos__file_size(reader->file);
  }
  rheos__free(path);
  return status;
}

// ---- Lines

static rheos_status *fill_chunk(rheos__reader *reader) {
  const uint64_t left = reader->end - reader->offset;
  const size_t bytes = left < CHUNK_BYTES ? (size_t)left : CHUNK_BYTES;
  reader->chunk.size_bytes = 0;
  char *room = rheos__buffer_extend(&reader->chunk, bytes);
  if (room == NULL) return rheos__out_of_memory();
  reader->chunk_offset = reader->offset;
  rheos_status *status = read_bytes(reader, reader->offset, room, bytes);
  if (status != NULL) reader->chunk.size_bytes = 0;
  return status;
}

static rheos_status *next_line(rheos__reader *reader, rheos__buffer *line, bool *out_at_end) {
  *out_at_end = reader->offset == reader->end;
  while (reader->offset < reader->end) {
    uint64_t at = reader->offset - reader->chunk_offset;
    if (at >= reader->chunk.size_bytes) {
      RHEOS_TRY(fill_chunk(reader));
      at = 0;
    }
    const char *text = reader->chunk.data + at;
    const size_t held = reader->chunk.size_bytes - (size_t)at;
    const char *end = memchr(text, '\n', held);
    const size_t length = end != NULL ? (size_t)(end - text) : held;
    rheos__buffer_put(line, text, length);
    reader->offset += end != NULL ? length + 1 : length;
    if (end != NULL) break;
  }
  if (*out_at_end) return NULL;
  ++reader->num_read;
  if (line->size_bytes > 0 && line->data[line->size_bytes - 1] == '\r') --line->size_bytes;
  return line->failed ? rheos__out_of_memory() : NULL;
}

static rheos_status *skip_lines(rheos__reader *reader) {
  rheos__buffer line = {0};
  rheos_status *status = NULL;
  bool at_end = false;
  for (int64_t i = 0; status == NULL && !at_end && i < reader->spec.header_lines; ++i) {
    line.size_bytes = 0;
    status = next_line(reader, &line, &at_end);
  }
  rheos__buffer_deinit(&line);
  return status;
}

// ---- The rest

static rheos_status *next_block(rheos__reader *reader, rheos__buffer *value, bool *out_at_end) {
  const rheos__reader_spec *spec = &reader->spec;
  const uint64_t bytes = (uint64_t)spec->record_bytes;
  *out_at_end = reader->offset > reader->end || reader->end - reader->offset < bytes;
  if (*out_at_end) return NULL;
  char *room = rheos__buffer_extend(value, (size_t)bytes);
  if (room == NULL) return rheos__out_of_memory();
  RHEOS_TRY(read_bytes(reader, reader->offset, room, (size_t)bytes));
  reader->offset += spec->hop_bytes > 0 ? (uint64_t)spec->hop_bytes : bytes;
  return NULL;
}

static rheos_status *get_content(void *argument, void *data, size_t size_bytes, size_t *out_read) {
  rheos__reader *reader = argument;
  const uint64_t left = reader->end - reader->chunk_offset;
  *out_read = left < size_bytes ? (size_t)left : size_bytes;
  RHEOS_TRY(read_bytes(reader, reader->chunk_offset, data, *out_read));
  reader->chunk_offset += *out_read;
  return NULL;
}

static rheos_status *next_record(rheos__reader *reader, rheos__buffer *value, bool *out_at_end) {
  const char *path = reader->work;
  reader->chunk_offset = reader->offset;
  *out_at_end = reader->offset == reader->end;
  if (*out_at_end) return NULL;
  return rheos__record_get(get_content, reader, path, &reader->offset, value);
}

static rheos_status *next_file(rheos__reader *reader, rheos__buffer *value, bool *out_at_end) {
  *out_at_end = reader->num_read > 0;
  if (*out_at_end) return NULL;
  char *room = rheos__buffer_extend(value, (size_t)reader->end);
  return room != NULL ? read_bytes(reader, 0, room, (size_t)reader->end) : rheos__out_of_memory();
}

// The header of blocks, and the footer, must be there.
static rheos_status *begin_blocks(rheos__reader *reader) {
  const uint64_t header = (uint64_t)reader->spec.header_bytes;
  const uint64_t footer = (uint64_t)reader->spec.footer_bytes;
  if (header > reader->end) {
    return rheos_status_new(RHEOS_OUT_OF_RANGE, "%s has %" PRIu64 " bytes, fewer than its header",
                            reader->work, reader->end);
  }
  reader->offset = header;
  reader->end -= footer < reader->end ? footer : reader->end;
  return NULL;
}

rheos_status *rheos__reader_begin(rheos__reader *reader, const rheos_string *work) {
  rheos__reader_end_work(reader);
  reader->work = rheos__alloc(work->size_bytes + 1);
  if (reader->work == NULL) return rheos__out_of_memory();
  if (work->size_bytes > 0) memcpy(reader->work, work->data, work->size_bytes);
  reader->work[work->size_bytes] = '\0';
  reader->work_bytes = work->size_bytes;
  reader->last_work.size_bytes = 0;
  rheos__buffer_put(&reader->last_work, work->data, work->size_bytes);
  rheos_status *status = NULL;
  if (reader->spec.type != RHEOS__READS_NAMES) status = open_file(reader, work);
  if (status == NULL && reader->spec.type == RHEOS__READS_LINES) status = skip_lines(reader);
  if (status == NULL && reader->spec.type == RHEOS__READS_BLOCKS) status = begin_blocks(reader);
  if (status != NULL) rheos__reader_end_work(reader);
  return status;
}

static rheos_status *next_value(rheos__reader *reader, rheos__buffer *key, rheos__buffer *value,
                                bool *out_at_end) {
  switch (reader->spec.type) {
    case RHEOS__READS_NAMES:
      *out_at_end = reader->num_read > 0;
      rheos__buffer_put(value, reader->work, reader->work_bytes);
      return NULL;
    case RHEOS__READS_FILES: return next_file(reader, value, out_at_end);
    case RHEOS__READS_LINES: return next_line(reader, value, out_at_end);
    case RHEOS__READS_BLOCKS: return next_block(reader, value, out_at_end);
    case RHEOS__READS_RECORDS: return next_record(reader, value, out_at_end);
    case RHEOS__READS_PAIRS: return rheos__lmdb_next(reader->lmdb, key, value, out_at_end);
  }
  return NULL;
}

rheos_status *rheos__reader_next(rheos__reader *reader, rheos__buffer *key, rheos__buffer *value,
                                 bool *out_at_end) {
  const rheos__reader_type type = reader->spec.type;
  const uint64_t before = reader->offset;
  RHEOS_TRY(next_value(reader, key, value, out_at_end));
  if (*out_at_end) return NULL;
  if (type == RHEOS__READS_PAIRS) {  // which have keys of their own
    ++reader->num_read;
    return NULL;
  }
  rheos__buffer_put(key, reader->work, reader->work_bytes);
  char number[32] = "";
  if (type == RHEOS__READS_LINES || type == RHEOS__READS_BLOCKS) {
    snprintf(number, sizeof number, ":%" PRId64, reader->num_read);
  } else if (type == RHEOS__READS_RECORDS) {
    snprintf(number, sizeof number, ":%" PRIu64, before);
  }
  rheos__buffer_put_text(key, number);
  if (type != RHEOS__READS_LINES) ++reader->num_read;
  return key->failed || value->failed ? rheos__out_of_memory() : NULL;
}
