// Files of records, perhaps compressed as a whole: what TFRecordWriter writes and
// tf_record_iterator reads.
#include <rheos/format.h>

#include "base/options.h"
#include "codec/compress.h"
#include "codec/record.h"

enum { CHUNK_BYTES = 1 << 16 };

// ---- Writing

struct rheos_record_writer {
  rheos__file_writer *file;
  rheos__deflater *deflater;  // NULL: not compressed
};

rheos_status *rheos_record_writer_open(const char *path, rheos_compression compression, int level,
                                       rheos_record_writer **out_writer) {
  RHEOS_OUT(out_writer);
  RHEOS_NEED(path);
  const rheos_record_options options = {.compression = compression, .level = level};
  return rheos_record_writer_open_with(path, &options, out_writer);
}

rheos_status *rheos_record_writer_open_with_sized(const char *path,
                                                  const rheos_record_options *options,
                                                  size_t options_bytes,
                                                  rheos_record_writer **out_writer) {
  RHEOS_OUT(out_writer);
  RHEOS_NEED(path);
  rheos_record_options known;
  RHEOS_TRY(RHEOS_READ_OPTIONS(rheos_record_options, options, options_bytes, &known));
  rheos_record_writer *writer = rheos__alloc_zeroed(sizeof *writer);
  if (writer == NULL) return rheos__out_of_memory();
  rheos_status *status = NULL;
  if (known.compression != RHEOS_NO_COMPRESSION) {
    status = rheos__deflater_new_with(&known, &writer->deflater);
  }
  if (status == NULL) status = rheos__file_writer_open(path, &writer->file);
  if (status != NULL) {
    rheos__deflater_free(writer->deflater);
    rheos__free(writer);
    return status;
  }
  *out_writer = writer;
  return NULL;
}

static rheos_status *put_in_file(void *file, const void *data, size_t size_bytes) {
  return rheos__file_writer_write(file, data, size_bytes);
}

static rheos_status *put(void *argument, const void *data, size_t size_bytes) {
  rheos_record_writer *writer = argument;
  if (writer->deflater == NULL) return put_in_file(writer->file, data, size_bytes);
  return rheos__deflater_run(writer->deflater, data, size_bytes, RHEOS__DEFLATE_FULL, put_in_file,
                             writer->file);
}

rheos_status *rheos_record_writer_write(rheos_record_writer *writer, const void *data,
                                        size_t size_bytes) {
  RHEOS_NEED(writer);
  RHEOS_NEED_BYTES(data, size_bytes);
  return rheos__record_put(put, writer, data, size_bytes);
}

rheos_status *rheos_record_writer_flush(rheos_record_writer *writer) {
  RHEOS_NEED(writer);
  if (writer->deflater != NULL) {
    RHEOS_TRY(rheos__deflater_run(writer->deflater, NULL, 0, RHEOS__DEFLATE_FLUSH, put_in_file,
                                  writer->file));
  }
  return rheos__file_writer_flush(writer->file);
}

rheos_status *rheos_record_writer_close(rheos_record_writer *writer) {
  if (writer == NULL) return NULL;
  rheos_status *status = NULL;
  if (writer->deflater != NULL) {
    status = rheos__deflater_run(writer->deflater, NULL, 0, RHEOS__DEFLATE_END, put_in_file,
                                 writer->file);
  }
  if (status == NULL) {
    status = rheos__file_writer_close_take(writer->file);
  } else {
    rheos__file_writer_abandon(writer->file);
  }
  rheos__deflater_free(writer->deflater);
  rheos__free(writer);
  return status;
}

// ---- Reading

struct rheos_record_reader {
  rheos__file *file;
  uint64_t file_offset, record_offset;
  rheos__inflater *inflater;  // NULL: not compressed
  const char *at;             // what of the chunk is not used yet
  size_t left;
  rheos__buffer record;
  char chunk[CHUNK_BYTES];
};

rheos_status *rheos_record_reader_open(const char *path, rheos_compression compression,
                                       rheos_record_reader **out_reader) {
  RHEOS_OUT(out_reader);
  RHEOS_NEED(path);
  rheos_record_reader *reader = rheos__alloc_zeroed(sizeof *reader);
  if (reader == NULL) return rheos__out_of_memory();
  rheos_status *status = rheos__file_open(path, &reader->file);
  if (status == NULL && compression != RHEOS_NO_COMPRESSION) {
    status = rheos__inflater_new(compression, &reader->inflater);
  }
  if (status != NULL) {
    rheos_record_reader_close(reader);
    return status;
  }
  *out_reader = reader;
  return NULL;
}

void rheos_record_reader_close(rheos_record_reader *reader) {
  if (reader == NULL) return;
  rheos__file_close(reader->file);
  rheos__inflater_free(reader->inflater);
  rheos__buffer_deinit(&reader->record);
  rheos__free(reader);
}

// Fills the chunk, which is used up; it stays empty at the end of the file.
static rheos_status *next_chunk(rheos_record_reader *reader) {
  const uint64_t left = rheos__file_size(reader->file) - reader->file_offset;
  reader->at = reader->chunk;
  reader->left = left < CHUNK_BYTES ? (size_t)left : CHUNK_BYTES;
  RHEOS_TRY(rheos__file_read_at(reader->file, reader->file_offset, reader->chunk, reader->left));
  reader->file_offset += reader->left;
  return NULL;
}

static size_t take_plain(rheos_record_reader *reader, char *to, size_t size_bytes) {
  const size_t some = size_bytes < reader->left ? size_bytes : reader->left;
  if (some > 0) memcpy(to, reader->at, some);
  reader->at += some;
  reader->left -= some;
  return some;
}

static rheos_status *get(void *argument, void *data, size_t size_bytes, size_t *out_read) {
  rheos_record_reader *reader = argument;
  *out_read = 0;
  while (*out_read < size_bytes) {
    if (reader->left == 0) RHEOS_TRY(next_chunk(reader));
    char *to = (char *)data + *out_read;
    size_t made = 0, room = size_bytes - *out_read;
    const bool is_end = reader->left == 0;
    if (reader->inflater == NULL) {
      made = take_plain(reader, to, room);
    } else {
      RHEOS_TRY(rheos__inflater_run(reader->inflater, &reader->at, &reader->left, to, room, &made));
    }
    *out_read += made;
    if (is_end && made == 0) break;
  }
  const bool is_cut = *out_read == 0 && size_bytes > 0 && reader->inflater != NULL &&
                      !rheos__inflater_is_whole(reader->inflater);
  if (!is_cut) return NULL;
  return rheos_status_new(RHEOS_DATA_LOSS, "'%s' is cut short", rheos__file_path(reader->file));
}

rheos_status *rheos_record_reader_next(rheos_record_reader *reader, const void **out_data,
                                       size_t *out_size_bytes) {
  RHEOS_OUT(out_data);
  RHEOS_OUT(out_size_bytes);
  RHEOS_NEED(reader);
  RHEOS_TRY(rheos__record_get(get, reader, rheos__file_path(reader->file), &reader->record_offset,
                              &reader->record));
  *out_data = reader->record.data;
  *out_size_bytes = reader->record.size_bytes;
  return NULL;
}
