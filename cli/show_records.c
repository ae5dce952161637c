// Files of records: how many, how large, and, where they are Examples, which features they have. A
// file that is damaged is shown up to the damage.
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "progress.h"
#include "show.h"
#include "status.h"
#include "table.h"
#include "wire.h"

typedef enum record_form { PLAIN, EXAMPLE, SEQUENCE_EXAMPLE } record_form;

typedef struct summary {
  name_row sizes;       // of all records
  record_form form;     // of all records so far
  name_table features;  // the kind of each, in how many records, values in each
  name_table lists;     // feature lists of sequence examples: steps in each
} summary;

// ---- Examples: messages of features, a map of names to a list of bytes, floats or integers

static const char *const kinds[] = {"", "bytes", "float", "int64"};
enum { NO_KIND, BYTES_LIST, FLOAT_LIST, INT64_LIST };

// The values in a list, which are packed or come one by one.
static bool count_values(wire list, int kind, int64_t *out_count) {
  wire_field field;
  bool sound;
  *out_count = 0;
  while (wire_next(&list, &field, &sound)) {
    if (field.number != 1) return false;
    if (kind == BYTES_LIST || field.type != WIRE_BYTES) {
      if ((kind == BYTES_LIST) != (field.type == WIRE_BYTES)) return false;
      ++*out_count;
    } else if (kind == FLOAT_LIST) {
      *out_count += (int64_t)(wire_size(field.data) / 4);
    } else {
      for (const char *at = field.data.at; at < field.data.end; at++) *out_count += *at >= 0;
    }
  }
  return sound;
}

static bool read_feature(wire feature, int *out_kind, int64_t *out_count) {
  wire_field field;
  bool sound;
  *out_kind = NO_KIND;
  *out_count = 0;
  while (wire_next(&feature, &field, &sound)) {
    if (field.number > INT64_LIST || field.type != WIRE_BYTES) return false;
    *out_kind = (int)field.number;
    if (!count_values(field.data, *out_kind, out_count)) return false;
  }
  return sound;
}

// The features of a list of steps: their kind and how many values all of them have.
static bool read_list(wire list, int *out_kind, int64_t *out_steps) {
  wire_field field;
  bool sound;
  *out_kind = NO_KIND;
  *out_steps = 0;
  while (wire_next(&list, &field, &sound)) {
    int64_t count;
    if (field.number != 1 || field.type != WIRE_BYTES ||
        !read_feature(field.data, out_kind, &count)) {
      return false;
    }
    ++*out_steps;
  }
  return sound;
}

typedef bool (*read_value)(wire value, int *out_kind, int64_t *out_count);

static bool read_entry(wire entry, read_value read, name_table *table) {
  wire_field field;
  wire key = wire_of("", 0), value = key;
  bool sound;
  while (wire_next(&entry, &field, &sound)) {
    if (field.type != WIRE_BYTES || field.number > 2) return false;
    if (field.number == 1) key = field.data;
    if (field.number == 2) value = field.data;
  }
  int kind;
  int64_t count;
  if (!sound || !read(value, &kind, &count)) return false;
  if (table == NULL) return true;
  name_row *row = name_table_row(table, key.at, wire_size(key));
  name_row_note(row, count);
  if (kind != NO_KIND || row->kind == NULL) row->kind = kinds[kind];
  return true;
}

static bool read_map(wire map, read_value read, name_table *table) {
  wire_field field;
  bool sound;
  while (wire_next(&map, &field, &sound)) {
    if (field.number != 1 || field.type != WIRE_BYTES || !read_entry(field.data, read, table)) {
      return false;
    }
  }
  return sound;
}

// Reads a record as an Example or SequenceExample; notes what is in it unless `s` is NULL.
static record_form read_example(const void *data, size_t size_bytes, summary *s) {
  wire message = wire_of(data, size_bytes);
  wire_field field;
  record_form form = PLAIN;
  bool sound;
  while (wire_next(&message, &field, &sound)) {
    if (field.type != WIRE_BYTES || field.number > 2) return PLAIN;
    if (form != SEQUENCE_EXAMPLE) form = field.number == 2 ? SEQUENCE_EXAMPLE : EXAMPLE;
    const bool fits = field.number == 1
                          ? read_map(field.data, read_feature, s != NULL ? &s->features : NULL)
                          : read_map(field.data, read_list, s != NULL ? &s->lists : NULL);
    if (!fits) return PLAIN;
  }
  return sound ? form : PLAIN;
}

// ---- All records

static void note_record(summary *s, const void *data, size_t size_bytes) {
  const bool is_first = s->sizes.count == 0;
  name_row_note(&s->sizes, (int64_t)size_bytes);
  s->sizes.last += (double)size_bytes;
  if (!is_first && s->form == PLAIN) return;
  const record_form form = read_example(data, size_bytes, NULL);
  if (is_first || form == PLAIN || s->form == EXAMPLE) s->form = form;
  if (s->form != PLAIN) read_example(data, size_bytes, s);
}

static rheos_status *read_records(const source *source, summary *s) {
  rheos_record_reader *reader;
  TRY(rheos_record_reader_open(source->path, source->compression, &reader));
  const void *data;
  size_t size_bytes;
  rheos_status *status;
  progress_begin("reading records", 0);
  while ((status = rheos_record_reader_next(reader, &data, &size_bytes)) == NULL) {
    note_record(s, data, size_bytes);
    progress_set(s->sizes.count);
  }
  progress_end();
  rheos_record_reader_close(reader);
  if (rheos_status_code(status) != RHEOS_OUT_OF_RANGE) return status;
  rheos_status_free(status);
  return NULL;
}

static const char *form_name(record_form form) {
  static const char *const names[] = {"bytes", "Example", "SequenceExample"};
  return names[form];
}

static const char *compression_name(rheos_compression compression) {
  static const char *const names[] = {"none", "zlib", "gzip"};
  return names[compression];
}

// ---- What is said of them

static void print_range(const name_row *row) {
  show_grouped(row->least);
  if (row->most == row->least) return;
  fputs(" to ", stdout);
  show_grouped(row->most);
}

static void print_features(const char *title, const char *what, const name_table *table) {
  if (table->count > 0) puts(title);
  for (size_t i = 0; i < table->count; i++) {
    const name_row *row = &table->rows[i];
    fputs("  ", stdout);
    text_print(stdout, row->name, row->name_bytes);
    printf("  %s  in ", row->kind);
    show_grouped(row->count);
    fputs(row->count == 1 ? " record, " : " records, ", stdout);
    print_range(row);
    printf(" %s\n", what);
  }
}

static void print_records(const source *source, const summary *s) {
  fputs("records ", stdout);
  show_name(source->path);
  if (source->compression != RHEOS_NO_COMPRESSION) {
    printf(" (%s)", compression_name(source->compression));
  }
  fputs("\n  records: ", stdout);
  show_grouped(s->sizes.count);
  if (s->sizes.count > 0) {
    fputs("\n  bytes: ", stdout);
    show_grouped((int64_t)s->sizes.last);
    fputs(" in all, ", stdout);
    print_range(&s->sizes);
    printf(" each\n  content: %s", form_name(s->form));
  }
  putchar('\n');
  if (s->form == PLAIN) return;
  print_features("features", "values", &s->features);
  print_features("feature lists", "steps", &s->lists);
}

static void json_features(json *j, const char *key, const name_table *table) {
  json_begin(j, key, '{');
  for (size_t i = 0; i < table->count; i++) {
    const name_row *row = &table->rows[i];
    json_bytes_key(j, row->name, row->name_bytes);
    json_begin(j, NULL, '{');
    json_text(j, "type", row->kind);
    json_int(j, "records", row->count);
    json_int(j, "min_values", row->least);
    json_int(j, "max_values", row->most);
    json_end(j, '}');
  }
  json_end(j, '}');
}

static void json_records(const source *source, const summary *s, const rheos_status *status) {
  json j = {.out = stdout};
  show_json_head(&j, source);
  json_text(&j, "compression", compression_name(source->compression));
  json_int(&j, "records", s->sizes.count);
  json_int(&j, "bytes", (int64_t)s->sizes.last);
  json_text(&j, "content", form_name(s->form));
  if (s->form != PLAIN) json_features(&j, "features", &s->features);
  if (s->form == SEQUENCE_EXAMPLE) json_features(&j, "feature_lists", &s->lists);
  if (status != NULL) json_text(&j, "error", rheos_status_message(status));
  json_end(&j, '}');
}

int show_records(const source *source, const show_options *options) {
  summary s = {0};
  rheos_status *status = read_records(source, &s);
  if (options->json) {
    json_records(source, &s, status);
  } else {
    print_records(source, &s);
  }
  name_table_deinit(&s.features);
  name_table_deinit(&s.lists);
  return status == NULL ? EXIT_SUCCESS : command_fail_take(source->path, status);
}
