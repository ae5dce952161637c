// Datasets of what is in files: lines, records, records of one length; and of names of files.
#include "codec/record.h"
#include "ops/data/dataset.h"
#include "ops/data/file_source.h"

// ---- Files one after the other

typedef enum content { LINES, RECORDS, FIXED } content;

typedef struct files_data {
  rheos_compression compression;
  int64_t header, record, footer;
  content content;
} files_data;

typedef struct files {
  rheos__iterator base;
  int64_t at[3];  // the file, how many elements of it were given, whether it failed: what is saved
  rheos__source source;
  uint64_t offset;  // of the next record, for messages
  uint64_t left;    // bytes of records before the footer, of an uncompressed file
  rheos__buffer buffer;
} files;

static rheos_status *init_files(rheos__dataset *d) {
  if (d->args[0] == NULL || d->args[0]->shape.rank > 1) {
    return RHEOS_INVALID("`filenames` must be a scalar or a vector.");
  }
  return NULL;
}

static rheos_status *init_lines(rheos__dataset *d) {
  ((files_data *)d->data)->content = LINES;
  RHEOS_TRY(init_files(d));
  return rheos__dataset_compression(d, 1, &((files_data *)d->data)->compression);
}

static rheos_status *init_records(rheos__dataset *d) {
  ((files_data *)d->data)->content = RECORDS;
  RHEOS_TRY(init_files(d));
  if (d->num_args > 3 && d->args[3]->num_elements > 0) {
    return rheos_status_new(RHEOS_UNIMPLEMENTED, "byte_offsets of records are not supported");
  }
  return rheos__dataset_compression(d, 1, &((files_data *)d->data)->compression);
}

static rheos_status *init_fixed(rheos__dataset *d) {
  files_data *data = d->data;
  data->content = FIXED;
  RHEOS_TRY(init_files(d));
  RHEOS_TRY(rheos__dataset_int(d, 1, "header_bytes", &data->header));
  RHEOS_TRY(rheos__dataset_int(d, 2, "record_bytes", &data->record));
  RHEOS_TRY(rheos__dataset_int(d, 3, "footer_bytes", &data->footer));
  if (data->header < 0) return RHEOS_INVALID("header_bytes must be >= 0");
  if (data->record <= 0) return RHEOS_INVALID("record_bytes must be > 0");
  if (data->footer < 0) return RHEOS_INVALID("footer_bytes must be >= 0");
  return d->num_args > 5 ? rheos__dataset_compression(d, 5, &data->compression) : NULL;
}

static void finish_files(rheos__iterator *iterator) {
  files *it = (files *)iterator;
  rheos__source_close(&it->source);
  rheos__buffer_deinit(&it->buffer);
}

static rheos_status *begin_fixed(files *it, const files_data *data) {
  const char *path = rheos__file_path(it->source.file);
  const uint64_t size = rheos__file_size(it->source.file);
  size_t skipped = 0;
  if (data->compression == RHEOS_NO_COMPRESSION) {
    const uint64_t around = (uint64_t)data->header + (uint64_t)data->footer;
    if (size < around || (size - around) % (uint64_t)data->record != 0) {
      return RHEOS_INVALID(
          "Excess bytes of file: %s is %llu bytes, header and footer %llu, and the rest is no "
          "multiple of the record's %lld bytes",
          path, (unsigned long long)size, (unsigned long long)around, (long long)data->record);
    }
    it->left = size - around;
  }
  return rheos__source_get(&it->source, NULL, (size_t)data->header, &skipped);
}

static rheos_status *open_next(files *it, const files_data *data) {
  const rheos_tensor *names = it->base.dataset->args[0];
  RHEOS_TRY(rheos__source_open(&it->source, (const rheos_string *)names->data + it->at[0],
                               data->compression));
  it->offset = 0;
  rheos__buffer_deinit(&it->buffer);
  return data->content == FIXED ? begin_fixed(it, data) : NULL;
}

static rheos_status *read_line(files *it, bool *out_end) {
  rheos__source *s = &it->source;
  it->buffer.size_bytes = 0;
  for (bool any = false;; any = true) {
    if (s->at == s->size) RHEOS_TRY(rheos__source_refill(s));
    if (s->size == 0) {
      *out_end = !any;
      break;
    }
    const char *from = s->bytes + s->at;
    const char *end = memchr(from, '\n', s->size - s->at);
    rheos__buffer_put(&it->buffer, from, end != NULL ? (size_t)(end - from) : s->size - s->at);
    s->at = end != NULL ? (size_t)(end - s->bytes) + 1 : s->size;
    if (end == NULL) continue;
    const size_t size = it->buffer.size_bytes;
    if (size > 0 && it->buffer.data[size - 1] == '\r') --it->buffer.size_bytes;
    break;
  }
  return it->buffer.failed ? rheos__out_of_memory() : NULL;
}

static rheos_status *read_record(files *it, bool *out_end) {
  rheos_status *status = rheos__record_get(
      rheos__source_get, &it->source, rheos__file_path(it->source.file), &it->offset, &it->buffer);
  *out_end = status != NULL && rheos_status_code(status) == RHEOS_OUT_OF_RANGE;
  if (!*out_end) return status;
  rheos_status_free(status);
  return NULL;
}

// Of a compressed file the footer is what is there when a record and it no longer are: one footer
// is read ahead.
static rheos_status *read_fixed(files *it, const files_data *data, bool *out_end) {
  const bool is_plain = data->compression == RHEOS_NO_COMPRESSION;
  const size_t record = (size_t)data->record, ahead = is_plain ? 0 : (size_t)data->footer;
  const size_t kept = it->buffer.size_bytes > ahead ? ahead : it->buffer.size_bytes;
  size_t got = 0;
  *out_end = is_plain && it->left < record;
  if (*out_end) return NULL;
  if (kept > 0) {  // what was read ahead behind the last record
    memmove(it->buffer.data, it->buffer.data + it->buffer.size_bytes - kept, kept);
  }
  it->buffer.size_bytes = kept;
  const size_t wanted = record + ahead - kept;
  char *to = rheos__buffer_extend(&it->buffer, wanted);
  if (to == NULL) return rheos__out_of_memory();
  RHEOS_TRY(rheos__source_get(&it->source, to, wanted, &got));
  *out_end = got < wanted;
  if (is_plain && *out_end) {
    return rheos_status_new(RHEOS_DATA_LOSS, "%s has become shorter while it was read",
                            rheos__file_path(it->source.file));
  }
  if (*out_end && got > 0 && got < record) {
    return rheos_status_new(RHEOS_DATA_LOSS, "%s: excess bytes behind the last record",
                            rheos__file_path(it->source.file));
  }
  it->left -= is_plain ? record : 0;
  return NULL;
}

static rheos_status *read_content(files *it, const files_data *data, bool *out_end) {
  switch (data->content) {
    case LINES: return read_line(it, out_end);
    case RECORDS: return read_record(it, out_end);
    default: return read_fixed(it, data, out_end);
  }
}

static void next_file(files *it) {
  rheos__source_close(&it->source);
  rheos__buffer_deinit(&it->buffer);
  ++it->at[0];
  it->at[1] = 0;
}

static rheos_status *read_next(files *it, bool *out_end) {
  const rheos__dataset *d = it->base.dataset;
  const files_data *data = d->data;
  for (;;) {
    *out_end = it->at[0] < 0 || it->at[0] >= d->args[0]->num_elements;
    if (*out_end) return NULL;
    bool end = false;
    rheos_status *status = it->source.file == NULL ? open_next(it, data) : NULL;
    if (status != NULL) {  // asked again, it tries again
      rheos__source_close(&it->source);
      return status;
    }
    status = read_content(it, data, &end);
    if (status != NULL) {
      next_file(it);
      return status;
    }
    if (!end) {
      ++it->at[1];
      return NULL;
    }
    next_file(it);
  }
}

static rheos_status *next_of_files(rheos__iterator *iterator, rheos__step *step,
                                   rheos_tensor **element, bool *out_end) {
  (void)step;
  files *it = (files *)iterator;
  const files_data *data = iterator->dataset->data;
  RHEOS_TRY(read_next(it, out_end));
  if (*out_end) return NULL;
  RHEOS_TRY(rheos__tensor_new(RHEOS_STRING, &RHEOS_SCALAR, &element[0]));
  const size_t size = data->content == FIXED ? (size_t)data->record : it->buffer.size_bytes;
  rheos_status *status = rheos_tensor_set_string(element[0], 0, it->buffer.data, size);
  if (status != NULL) rheos__element_clear(element, 1);
  return status;
}

static rheos_status *transfer_files(rheos__iterator *iterator, rheos__saved_state *state,
                                    rheos__step *step) {
  files *it = (files *)iterator;
  int64_t at[3] = {it->at[0], it->at[1], 0};
  RHEOS_TRY(rheos__state_ints(state, at, 3));
  if (!state->is_restoring) return NULL;
  it->at[0] = at[0];
  it->at[1] = 0;
  while (it->at[1] < at[1]) {
    bool end = false;
    RHEOS_TRY(read_next(it, &end));
    if (end || it->at[0] != at[0]) {
      return rheos_status_new(RHEOS_DATA_LOSS,
                              "the file of a restored iterator has become shorter");
    }
    if (rheos__step_should_stop(step)) {
      return rheos_status_new(RHEOS_CANCELLED, "the step was stopped");
    }
  }
  return NULL;
}

#define FILES_KIND(variable, text, init_fn)                                      \
  static const rheos__dataset_kind variable = {.name = text,                     \
                                               .data_bytes = sizeof(files_data), \
                                               .iterator_bytes = sizeof(files),  \
                                               .init = init_fn,                  \
                                               .finish = finish_files,           \
                                               .next = next_of_files,            \
                                               .state = transfer_files}
FILES_KIND(lines_kind, "TextLine", init_lines);
FILES_KIND(records_kind, "TFRecord", init_records);
FILES_KIND(fixed_kind, "FixedLengthRecord", init_fixed);

#define METADATA "; metadata: string = \"\""
RHEOS_FILE_DATASET_OP(TextLineDataset, lines_kind,
                      "filenames: string, compression_type: string, buffer_size: int64", METADATA,
                      "The lines of files, without their ends.", NULL)
RHEOS_FILE_DATASET_OP(TFRecordDataset, records_kind,
                      "filenames: string, compression_type: string, buffer_size: int64", METADATA,
                      "The records of files.", NULL)
RHEOS_FILE_DATASET_OP(
    TFRecordDatasetV2, records_kind,
    "filenames: string, compression_type: string, buffer_size: int64, byte_offsets: "
    "int64",
    METADATA, "The records of files.", NULL)
#define FIXED_INPUTS                                                                   \
  "filenames: string, header_bytes: int64, record_bytes: int64, footer_bytes: int64, " \
  "buffer_size: int64"
RHEOS_FILE_DATASET_OP(FixedLengthRecordDataset, fixed_kind, FIXED_INPUTS, METADATA,
                      "The records of `record_bytes` each between header and footer of files.",
                      NULL)
RHEOS_FILE_DATASET_OP(FixedLengthRecordDatasetV2, fixed_kind,
                      FIXED_INPUTS ", compression_type: string", METADATA,
                      "The records of `record_bytes` each between header and footer of files.",
                      NULL)

// ---- MatchingFilesDataset

typedef struct matches {
  char **paths;
  size_t count;
  int64_t pattern;  // the next one to be looked for
  int64_t at;
} matches;

typedef struct matching {
  rheos__iterator base;
  matches m;
} matching;

static void finish_matching(rheos__iterator *iterator) {
  matches *m = &((matching *)iterator)->m;
  rheos__file_list_free(m->paths, m->count);
}

static rheos_status *next_matching(rheos__iterator *iterator, rheos__step *step,
                                   rheos_tensor **element, bool *out_end) {
  (void)step;
  matches *m = &((matching *)iterator)->m;
  const rheos_tensor *patterns = iterator->dataset->args[0];
  while (m->at >= (int64_t)m->count) {
    *out_end = m->pattern >= patterns->num_elements;
    if (*out_end) return NULL;
    const rheos_string *pattern = (const rheos_string *)patterns->data + m->pattern++;
    char *text = rheos__strndup(pattern->size_bytes > 0 ? pattern->data : "", pattern->size_bytes);
    if (text == NULL) return rheos__out_of_memory();
    rheos__file_list_free(m->paths, m->count);
    m->paths = NULL;
    m->count = 0;
    m->at = 0;
    rheos_status *status = rheos__file_match(text, &m->paths, &m->count);
    rheos__free(text);
    if (status != NULL) return status;
  }
  *out_end = false;
  const char *path = m->paths[m->at++];
  RHEOS_TRY(rheos__tensor_new(RHEOS_STRING, &RHEOS_SCALAR, &element[0]));
  rheos_status *status = rheos_tensor_set_string(element[0], 0, path, strlen(path));
  if (status != NULL) rheos__element_clear(element, 1);
  return status;
}

static const rheos__dataset_kind matching_kind = {.name = "MatchingFiles",
                                                  .iterator_bytes = sizeof(matching),
                                                  .init = init_files,
                                                  .finish = finish_matching,
                                                  .next = next_matching};
#define MATCHING(op)                                               \
  RHEOS_FILE_DATASET_OP(op, matching_kind, "patterns: string", "", \
                        "The names of the files that fit the patterns.", NULL)
MATCHING(MatchingFilesDataset)
MATCHING(ExperimentalMatchingFilesDataset)
