// The records of files of comma-separated values: fields may be in quotes and then hold ends of
// lines.
#include "ops/data/element.h"
#include "ops/data/file_source.h"
#include "ops/kit/string_util.h"

// What the op's inputs are.
enum {
  FILENAMES,
  COMPRESSION,
  BUFFER_SIZE,
  HEADER,
  DELIMITER,
  QUOTES,
  NA_VALUE,
  SELECTED,
  DEFAULTS,
};

typedef struct csv_data {
  rheos_compression compression;
  bool has_header, has_quotes;
  char delimiter;
  const rheos_string *na_value;
  const rheos_tensor *selected;  // rising numbers of fields; none: all that are not excluded
  const rheos_tensor *excluded;  // NULL: none
} csv_data;

typedef struct csv {
  rheos__iterator base;
  int64_t at[2];  // the file, how many records of it were begun: what is saved
  rheos__source source;
  rheos__text field;
  bool after_return;  // the last record ended with \\r, and \\n may follow
} csv;

static rheos_status *check_columns(const rheos_tensor *columns, const char *name) {
  const int64_t *numbers = columns->data;
  if (columns->shape.rank != 1) return RHEOS_INVALID("`%s` must be a vector.", name);
  for (int64_t i = 0; i < columns->num_elements; ++i) {
    if (numbers[i] < 0) return RHEOS_INVALID("%s should be non-negative indices", name);
    if (i > 0 && numbers[i] <= numbers[i - 1]) {
      return RHEOS_INVALID("%s should be strictly increasing indices", name);
    }
  }
  return NULL;
}

static rheos_status *init_columns(rheos__dataset *d, csv_data *data) {
  data->selected = d->args[SELECTED];
  RHEOS_TRY(check_columns(data->selected, "select_cols"));
  const int64_t count = data->selected->num_elements;
  if (count > 0 && count != d->num_components) {
    return RHEOS_INVALID("select_cols should match output size");
  }
  if (d->num_args == DEFAULTS + d->num_components) return NULL;
  data->excluded = d->args[DEFAULTS + d->num_components];
  return check_columns(data->excluded, "exclude_cols");
}

static rheos_status *init_csv(rheos__dataset *d) {
  csv_data *data = d->data;
  const rheos_string *delimiter;
  if (d->args[FILENAMES]->shape.rank > 1) {
    return RHEOS_INVALID("`filenames` must be a scalar or a vector.");
  }
  RHEOS_TRY(rheos__dataset_compression(d, COMPRESSION, &data->compression));
  RHEOS_TRY(rheos__dataset_bool(d, HEADER, "header", &data->has_header));
  RHEOS_TRY(rheos__dataset_string(d, DELIMITER, "field_delim", &delimiter));
  if (delimiter->size_bytes != 1) return RHEOS_INVALID("field_delim should be only 1 char");
  data->delimiter = delimiter->data[0];
  RHEOS_TRY(rheos__dataset_bool(d, QUOTES, "use_quote_delim", &data->has_quotes));
  RHEOS_TRY(rheos__dataset_string(d, NA_VALUE, "na_value", &data->na_value));
  for (int32_t i = 0; i < d->num_components; ++i) {
    const rheos_tensor *standby = d->args[DEFAULTS + i];
    if (standby->shape.rank > 1)
      return RHEOS_INVALID("Each record default should be at most rank 1");
    if (standby->num_elements > 1) {
      return RHEOS_INVALID("There should only be 1 default per field but field %d has %lld", (int)i,
                           (long long)standby->num_elements);
    }
    if (standby->dtype != d->types[i]) {
      return RHEOS_INVALID("Record default %d is %s, its field %s", (int)i,
                           rheos_dtype_name(standby->dtype), rheos_dtype_name(d->types[i]));
    }
  }
  return init_columns(d, data);
}

static void finish_csv(rheos__iterator *iterator) {
  csv *it = (csv *)iterator;
  rheos__source_close(&it->source);
  rheos__text_deinit(&it->field);
}

// ---- Fields

// How a field ended.
typedef enum ended { BY_DELIMITER, BY_LINE, BY_FILE } ended;

// Keeps the first error: a record is read to its end whatever is wrong with it.
static void note(rheos_status **first, rheos_status *status) {
  if (*first == NULL) {
    *first = status;
  } else {
    rheos_status_free(status);
  }
}

static bool is_end_of_line(int byte) { return byte == '\n' || byte == '\r'; }

// Steps over what ended a field.
static ended step_over(csv *it, int byte) {
  if (byte < 0) return BY_FILE;
  ++it->source.at;
  it->after_return = byte == '\r';
  return is_end_of_line(byte) ? BY_LINE : BY_DELIMITER;
}

static rheos_status *read_plain(csv *it, const csv_data *data, ended *how, rheos_status **wrong) {
  for (;;) {
    int byte;
    RHEOS_TRY(rheos__source_peek(&it->source, &byte));
    if (byte < 0 || is_end_of_line(byte) || (char)byte == data->delimiter) {
      *how = step_over(it, byte);
      return NULL;
    }
    if (data->has_quotes && byte == '"') {
      note(wrong, RHEOS_INVALID("Unquoted fields cannot have quotes inside"));
    }
    const char *from = it->source.bytes + it->source.at;
    const size_t left = it->source.size - it->source.at;
    size_t count = 1;
    while (count < left && from[count] != data->delimiter && from[count] != '"' &&
           !is_end_of_line(from[count])) {
      ++count;
    }
    rheos__text_add(&it->field, from, count);
    it->source.at += count;
  }
}

static rheos_status *read_quoted(csv *it, const csv_data *data, ended *how, rheos_status **wrong) {
  ++it->source.at;  // the first quote
  for (;;) {
    int byte;
    RHEOS_TRY(rheos__source_peek(&it->source, &byte));
    if (byte < 0) {
      note(wrong, RHEOS_INVALID("Reached end of file without closing quoted field in record"));
      *how = BY_FILE;
      return NULL;
    }
    const char here = it->source.bytes[it->source.at++];
    if (here != '"') {
      rheos__text_add(&it->field, &here, 1);
      continue;
    }
    RHEOS_TRY(rheos__source_peek(&it->source, &byte));
    if (byte < 0 || is_end_of_line(byte) || (char)byte == data->delimiter) {
      *how = step_over(it, byte);
      return NULL;
    }
    if (byte == '"') {
      ++it->source.at;
    } else {
      note(wrong, RHEOS_INVALID("Quote inside a string has to be escaped by another quote"));
    }
    rheos__text_add(&it->field, &here, 1);
  }
}

static rheos_status *put_field(const csv *it, const csv_data *data, int32_t column,
                               rheos_tensor **element) {
  const rheos__dataset *d = it->base.dataset;
  const rheos__text *field = &it->field;
  const bool is_missing =
      field->size == 0 || (field->size == data->na_value->size_bytes &&
                           memcmp(field->data, data->na_value->data, field->size) == 0);
  const rheos_tensor *standby = d->args[DEFAULTS + column];
  if (is_missing && standby->num_elements == 0) {
    return RHEOS_INVALID("Field %d is required but missing in record!", (int)column);
  }
  RHEOS_TRY(rheos__tensor_new(d->types[column], &RHEOS_SCALAR, &element[column]));
  void *to = element[column]->data;
  if (is_missing) return rheos__copy_elements(d->types[column], to, standby->data, 1);
  if (d->types[column] == RHEOS_STRING) return rheos__set_text(element[column], 0, field);
  const rheos_string text = {field->data, field->size};
  if (rheos__parse_number(&text, d->types[column], to)) return NULL;
  return RHEOS_INVALID("Field %d in record is not a valid %s: %.*s", (int)column,
                       rheos_dtype_name(d->types[column]),
                       (int)(field->size < 200 ? field->size : 200), field->data);
}

// ---- Records

static bool is_next(const rheos_tensor *columns, int64_t at, int64_t number) {
  return at < columns->num_elements && ((const int64_t *)columns->data)[at] == number;
}

// Reads a record, of which `element`, NULL where it is skipped, gets the fields.
static rheos_status *read_fields(csv *it, const csv_data *data, rheos_tensor **element,
                                 rheos_status **wrong) {
  const rheos__dataset *d = it->base.dataset;
  const bool selects = data->selected->num_elements > 0;
  int64_t num_excluded = 0, count = 0;
  ended how = BY_DELIMITER;
  for (int64_t number = 0; how == BY_DELIMITER; ++number) {
    int byte;
    it->field.size = 0;
    RHEOS_TRY(rheos__source_peek(&it->source, &byte));
    if (data->has_quotes && byte == '"') {
      RHEOS_TRY(read_quoted(it, data, &how, wrong));
    } else {
      RHEOS_TRY(read_plain(it, data, &how, wrong));
    }
    if (it->field.failed) return rheos__out_of_memory();
    bool is_wanted = element != NULL && (!selects || is_next(data->selected, count, number));
    if (data->excluded != NULL && is_next(data->excluded, num_excluded, number)) {
      is_wanted = false;
      ++num_excluded;
    }
    if (!is_wanted) continue;
    if (count >= d->num_components) {
      note(wrong,
           RHEOS_INVALID("Expect %d fields but have more in record", (int)d->num_components));
    } else if (*wrong == NULL) {
      note(wrong, put_field(it, data, (int32_t)count, element));
    }
    ++count;
  }
  if (element != NULL && *wrong == NULL && count != d->num_components) {
    *wrong = RHEOS_INVALID("Expect %d fields but have %lld in record", (int)d->num_components,
                           (long long)count);
  }
  return NULL;
}

// A failure to read closes the file; a record that is wrong is behind the iterator.
static rheos_status *read_record(csv *it, rheos_tensor **element) {
  const csv_data *data = it->base.dataset->data;
  rheos_status *wrong = NULL;
  ++it->at[1];
  rheos_status *status = read_fields(it, data, element, &wrong);
  if (status != NULL) {
    rheos__source_close(&it->source);
    ++it->at[0];
    it->at[1] = 0;
    rheos_status_free(wrong);
    wrong = status;
  }
  if (wrong != NULL && element != NULL) {
    rheos__element_clear(element, it->base.dataset->num_components);
  }
  return wrong;
}

// The end of the line before, then whether a record follows.
static rheos_status *find_record(csv *it, bool *out_end) {
  int byte;
  RHEOS_TRY(rheos__source_peek(&it->source, &byte));
  if (it->after_return && byte == '\n') {
    ++it->source.at;
    RHEOS_TRY(rheos__source_peek(&it->source, &byte));
  }
  it->after_return = false;
  *out_end = byte < 0;
  return NULL;
}

static rheos_status *open_file(csv *it) {
  const rheos__dataset *d = it->base.dataset;
  const csv_data *data = d->data;
  bool is_empty = false;
  it->at[1] = 0;
  it->after_return = false;
  RHEOS_TRY(rheos__source_open(
      &it->source, (const rheos_string *)d->args[FILENAMES]->data + it->at[0], data->compression));
  if (!data->has_header) return NULL;
  RHEOS_TRY(find_record(it, &is_empty));
  if (is_empty) return NULL;
  rheos_status *wrong = NULL;
  rheos_status *status = read_fields(it, data, NULL, &wrong);
  rheos_status_free(wrong);
  return status;
}

static rheos_status *next_csv(rheos__iterator *iterator, rheos__step *step, rheos_tensor **element,
                              bool *out_end) {
  (void)step;
  csv *it = (csv *)iterator;
  const rheos__dataset *d = iterator->dataset;
  for (;;) {
    bool file_ends = false;
    *out_end = it->at[0] >= d->args[FILENAMES]->num_elements;
    if (*out_end) return NULL;
    rheos_status *status = it->source.file == NULL ? open_file(it) : NULL;
    if (status == NULL) status = find_record(it, &file_ends);
    if (status != NULL) {
      rheos__source_close(&it->source);
      return status;
    }
    if (!file_ends) return read_record(it, element);
    rheos__source_close(&it->source);
    ++it->at[0];
  }
}

static rheos_status *transfer_csv(rheos__iterator *iterator, rheos__saved_state *state,
                                  rheos__step *step) {
  csv *it = (csv *)iterator;
  int64_t at[2] = {it->at[0], it->source.file != NULL ? it->at[1] : 0};
  RHEOS_TRY(rheos__state_ints(state, at, 2));
  if (!state->is_restoring) return NULL;
  it->at[0] = at[0] < 0 ? 0 : at[0];
  if (at[1] <= 0 || it->at[0] >= iterator->dataset->args[FILENAMES]->num_elements) return NULL;
  RHEOS_TRY(open_file(it));
  for (int64_t i = 0; i < at[1]; ++i) {
    bool file_ends = false;
    RHEOS_TRY(find_record(it, &file_ends));
    if (file_ends) {
      return rheos_status_new(RHEOS_DATA_LOSS,
                              "the file of a restored iterator has become shorter");
    }
    rheos_status_free(read_record(it, NULL));
    if (rheos__step_should_stop(step)) {
      return rheos_status_new(RHEOS_CANCELLED, "the step was stopped");
    }
  }
  return NULL;
}

static const rheos__dataset_kind csv_kind = {.name = "CSV",
                                             .data_bytes = sizeof(csv_data),
                                             .iterator_bytes = sizeof(csv),
                                             .init = init_csv,
                                             .finish = finish_csv,
                                             .next = next_csv,
                                             .state = transfer_csv};

#define CSV_INPUTS                                                                               \
  "filenames: string, compression_type: string, buffer_size: int64, header: bool, field_delim: " \
  "string, use_quote_delim: bool, na_value: string, select_cols: int64, record_defaults: "       \
  "output_types"
#define CSV_ATTRS                                                                     \
  "; output_types: list({float, double, int32, int64, string}) >= 1; output_shapes: " \
  "list(shape) >= 1"
#define CSV_TEXT "The records of files of comma-separated values, a scalar for each field."
RHEOS_FILE_DATASET_OP(CSVDataset, csv_kind, CSV_INPUTS, CSV_ATTRS, CSV_TEXT, NULL)
RHEOS_FILE_DATASET_OP(CSVDatasetV2, csv_kind, CSV_INPUTS ", exclude_cols: int64", CSV_ATTRS,
                      CSV_TEXT, NULL)
RHEOS_FILE_DATASET_OP(ExperimentalCSVDataset, csv_kind, CSV_INPUTS, CSV_ATTRS, CSV_TEXT, NULL)
