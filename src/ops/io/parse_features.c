// Finding the cells of columns in the bytes of examples. Those of a file are mostly alike: an entry
// that begins as one before did is taken as that was, and its values go to where they belong at
// once.
#include "ops/io/parse_columns.h"

#include "ops/kit/array_util.h"

// ---- One Feature

static rheos_status *fail(const rheos__columns *columns, const rheos__column *column,
                          int64_t example, int64_t step, rheos__parse_failure failure,
                          rheos_dtype dtype, int64_t count) {
  const rheos__parse_place place = {.columns = columns,
                                    .column = column,
                                    .example = example,
                                    .step = step,
                                    .dtype = dtype,
                                    .count = count};
  return rheos__parse_failed(&place, failure);
}

// A Feature or FeatureList of an example. If it is a single list that the scan knew by its first
// bytes, `single` tells it, else its dtype is RHEOS_INVALID_DTYPE.
typedef struct found {
  int64_t example;  // that it is of
  bool taken;       // its values are in the column already
  rheos__wire feature;
  rheos__single single;
} found;

static bool count_fits(const rheos__column *column, int64_t count) {
  const int64_t stride = column->stride;
  if (column->kind == RHEOS__COLUMN_DENSE) return count == stride;
  if (column->kind == RHEOS__COLUMN_VARYING) return (stride > 0 ? count % stride : count) == 0;
  return true;
}

static rheos_status *check_count(const rheos__columns *columns, const rheos__column *column,
                                 int64_t example, int64_t step, int64_t count) {
  if (count >= 0 && count_fits(column, count)) return NULL;
  const rheos__parse_failure failure = count < 0 ? RHEOS__FAILURE_UNPARSED
                                       : column->kind == RHEOS__COLUMN_DENSE
                                           ? RHEOS__FAILURE_COUNT
                                           : RHEOS__FAILURE_MULTIPLE;
  return fail(columns, column, example, step, failure, column->dtype, count);
}

// The cell of a Feature; its values go to `to` too, a dense row, unless that is NULL.
static rheos_status *read_feature(const rheos__columns *columns, const rheos__column *column,
                                  int64_t example, int64_t step, const found *f, rheos_tensor *to,
                                  int64_t first, rheos__cell *out_cell) {
  rheos_dtype dtype;
  rheos__parse_failure failure = RHEOS__FAILURE_UNSUPPORTED;
  const int64_t stride = column->stride;
  if (f->single.dtype == column->dtype) {
    *out_cell = (rheos__cell){.list = f->single.data, .packed = true};
    rheos__packed_values(column->dtype, f->single.data, to, first, stride, &out_cell->count);
    return check_count(columns, column, example, step, out_cell->count);
  }
  *out_cell = (rheos__cell){.list = rheos__wire_of(NULL, 0)};
  if (!rheos__feature_read(f->feature, &dtype, &out_cell->list)) {
    return fail(columns, column, example, step, failure, dtype, 0);
  }
  if (dtype == RHEOS_INVALID_DTYPE) {
    if (!rheos__column_is_dense(column)) return NULL;
    const bool one = columns->words == RHEOS__WORDS_CONTEXT || columns->words == RHEOS__WORDS_LIST;
    failure = one ? RHEOS__FAILURE_TYPE : RHEOS__FAILURE_COUNT;
    return fail(columns, column, example, step, failure, dtype, 0);
  }
  if (dtype != column->dtype) {
    return fail(columns, column, example, step, RHEOS__FAILURE_TYPE, dtype, 0);
  }
  rheos__feature_values(dtype, out_cell->list, to, first, stride, &out_cell->count);
  return check_count(columns, column, example, step, out_cell->count);
}

// ---- Features of many examples

// By the first and the last bytes, which overlap, where there are few.
static bool same_bytes(const char *a, const char *b, size_t size) {
  if (size > 16 || size < 4) return size == 0 || memcmp(a, b, size) == 0;
  if (size < 8) {
    return rheos__load_32(a) == rheos__load_32(b) &&
           rheos__load_32(a + size - 4) == rheos__load_32(b + size - 4);
  }
  return rheos__load_64(a) == rheos__load_64(b) &&
         rheos__load_64(a + size - 8) == rheos__load_64(b + size - 8);
}

static bool is_key(const rheos_string *a, rheos__wire key) {
  const size_t size = rheos__wire_size(key);
  return a->size_bytes == size && same_bytes(a->data, key.at, size);
}

// What an entry that began with the same eight bytes was: mostly it is of the same key and, if it
// is usual, of the same size, so that all its bytes before the data are the same. The guess that
// comes first is what followed the entry before; but writers put maps in any order.
enum { LOG_GUESSES = 5, MAX_GUESSES = 1 << LOG_GUESSES, MAX_HEADER_BYTES = 64, NOT_KNOWN = -1 };

typedef struct guess {
  struct guess *next;   // for the entry behind this one
  size_t entry_bytes;   // all of it; SIZE_MAX: nothing is known
  size_t header_bytes;  // before the data
  size_t list_at, feature_at;
  rheos_dtype dtype;
  int32_t place;        // of the key in by_key
  int32_t num_columns;  // with that key, from there on
  bool is_plain;        // there is one column, and it takes what fits without a further look
  int64_t count;        // of values then, NOT_KNOWN for integers
  char header[MAX_HEADER_BYTES];
} guess;

typedef struct scan {
  const rheos__columns *columns;
  uint32_t field;
  int64_t example;
  found *found;  // for each column
  guess *first;  // for the first entry
  guess guesses[MAX_GUESSES];
} scan;

static rheos_status *start_scan(scan *s, const rheos__columns *columns, uint32_t field) {
  s->columns = columns;
  s->field = field;
  s->found = rheos__alloc_array((size_t)columns->count, sizeof *s->found);
  if (s->found == NULL) return rheos__out_of_memory();
  for (int32_t i = 0; i < columns->count; i++) s->found[i].example = NOT_KNOWN;
  s->first = s->guesses;
  for (int i = 0; i < MAX_GUESSES; i++) {
    s->guesses[i].next = s->guesses;
    s->guesses[i].entry_bytes = SIZE_MAX;
    s->guesses[i].place = 0;
  }
  return NULL;
}

static int32_t place_of_key(const rheos__columns *columns, rheos__wire key, guess *g) {
  if (g->place < columns->count && is_key(&columns->by_key[g->place].key, key)) return g->place;
  const int32_t place = rheos__columns_find(columns, key);
  if (place < columns->count) g->place = place;
  return place;
}

// Whether one column takes the values of such a list as they are, and how many they are.
static bool is_plain(const rheos__columns *columns, const guess *g, const rheos__single *single) {
  if (g->num_columns != 1) return false;
  const rheos__column *column = &columns->items[columns->by_key[g->place].column];
  return column->dtype == single->dtype && (g->count == NOT_KNOWN || count_fits(column, g->count));
}

// Remembers an entry that begins at `start`.
static void learn(const rheos__columns *columns, guess *g, int32_t place, int32_t num_columns,
                  const char *start, rheos__wire key, rheos__wire value, const char *end,
                  const rheos__single *single) {
  g->entry_bytes = SIZE_MAX;
  if (single->dtype == RHEOS_INVALID_DTYPE || value.end != end || key.at > value.at) return;
  const size_t header_bytes = (size_t)(single->data.at - start);
  if (header_bytes < sizeof(uint64_t) || header_bytes > MAX_HEADER_BYTES) return;
  g->place = place;
  g->num_columns = num_columns;
  g->header_bytes = header_bytes;
  g->entry_bytes = (size_t)(end - start);
  g->feature_at = (size_t)(value.at - start);
  g->list_at = (size_t)(single->list.at - start);
  g->dtype = single->dtype;
  g->count = NOT_KNOWN;
  if (g->dtype != RHEOS_INT64) rheos__packed_values(g->dtype, single->data, NULL, 0, 0, &g->count);
  g->is_plain = is_plain(columns, g, single);
  memcpy(g->header, start, header_bytes);
}

static void take_entry(scan *s, const char *start, rheos__wire key, rheos__wire value,
                       const char *end, guess *g) {
  const rheos__columns *columns = s->columns;
  const bool of_example =
      columns->words == RHEOS__WORDS_EXAMPLES || columns->words == RHEOS__WORDS_EXAMPLE;
  found f = {.example = s->example, .feature = value};
  if (s->field != RHEOS__SEQUENCE_FEATURE_LISTS && !rheos__single_read(value, &f.single)) {
    f.single.dtype = RHEOS_INVALID_DTYPE;
  }
  const int32_t place = place_of_key(columns, key, g);
  int32_t i = place;
  for (; i < columns->count && is_key(&columns->by_key[i].key, key); i++) {
    const int32_t column = columns->by_key[i].column;
    // In an Example, a Feature without a list counts as none, so that one before it counts.
    const bool none =
        of_example && value.at == value.end && rheos__column_is_dense(&columns->items[column]);
    if (!none) s->found[column] = f;
  }
  learn(columns, g, place, i - place, start, key, value, end, &f.single);
}

// The guess for the entry that begins there.
static guess *guess_of(scan *s, rheos__wire map) {
  if (rheos__wire_size(map) < sizeof(uint64_t)) return &s->guesses[0];
  return &s->guesses[rheos__load_64(map.at) * UINT64_C(0x9e3779b97f4a7c15) >> (64 - LOG_GUESSES)];
}

// Whether the entry begins with these bytes; the last eight of them may overlap others.
static inline bool same_header(const guess *g, const char *at) {
  const size_t last = g->header_bytes - sizeof(uint64_t);
  uint64_t differ = rheos__load_64(at + last) ^ rheos__load_64(g->header + last);
  for (size_t i = 0; i < last; i += sizeof(uint64_t)) {
    differ |= rheos__load_64(at + i) ^ rheos__load_64(g->header + i);
  }
  return differ == 0;
}

// The values of the row of a dense column. False if they do not fit.
static inline bool take_row(const guess *g, const rheos__column *column, int64_t example,
                            rheos__wire data) {
  const int64_t stride = column->stride, first = example * stride;
  if (g->dtype == RHEOS_STRING) {
    ((rheos_string *)column->dense->data)[first] =
        rheos__borrow_string(data.at, rheos__wire_size(data));
    return true;
  }
  if (g->dtype == RHEOS_FLOAT) {
    rheos__copy_floats((float *)column->dense->data + first, data.at, (size_t)stride);
    return true;
  }
  int64_t *const to = (int64_t *)column->dense->data + first;
  return (stride == 1 && rheos__packed_small_int(data, to)) ||
         rheos__packed_ints(data, to, stride) == stride;
}

// Gives the column of a plain entry its values. False if they are to be looked at after all.
static inline bool take_values(const scan *s, const guess *g, const rheos__column *column,
                               rheos__wire data) {
  if (column->kind == RHEOS__COLUMN_DENSE) return take_row(g, column, s->example, data);
  const int64_t count = g->count != NOT_KNOWN ? g->count : rheos__packed_ints(data, NULL, 0);
  if (count < 0 || !count_fits(column, count)) return false;
  column->cells[s->example] = (rheos__cell){.list = data, .count = count, .packed = true};
  return true;
}

// Takes the next entry if it is as guessed.
static inline bool take_guessed(scan *s, const guess *g, rheos__wire *map) {
  const char *at = map->at;
  if (rheos__wire_size(*map) < g->entry_bytes || !same_header(g, at)) return false;
  const char *const end = at + g->entry_bytes;
  const rheos__wire data = {at + g->header_bytes, end};
  map->at = end;
  for (int32_t i = g->place; i < g->place + g->num_columns; i++) {
    const int32_t column = s->columns->by_key[i].column;
    found *f = &s->found[column];
    f->example = s->example;
    f->taken = g->is_plain && take_values(s, g, &s->columns->items[column], data);
    if (f->taken) continue;
    f->feature = (rheos__wire){at + g->feature_at, end};
    f->single = (rheos__single){g->dtype, {at + g->list_at, end}, data};
  }
  return true;
}

static rheos_status *find_columns(scan *s, int64_t example) {
  const rheos__columns *columns = s->columns;
  const rheos_string *bytes = &columns->serialized[example];
  rheos__wire message = rheos__wire_of(bytes->data, bytes->size_bytes), map, key, value;
  bool sound = true;
  guess **next = &s->first;
  s->example = example;
  while (sound && message.at < message.end && rheos__map_next(&message, s->field, &map, &sound)) {
    while (map.at < map.end) {
      guess *g = *next;
      if (!take_guessed(s, g, &map)) {
        *next = g = guess_of(s, map);
        if (!take_guessed(s, g, &map)) {
          const char *const start = map.at;
          if (!rheos__entry_next(&map, &key, &value, &sound)) break;
          take_entry(s, start, key, value, map.at, g);
        }
      }
      next = &g->next;
    }
  }
  if (sound) return NULL;
  return fail(columns, NULL, example, 0, RHEOS__FAILURE_MALFORMED, RHEOS_INVALID_DTYPE, 0);
}

static rheos_status *take_standby(const rheos__columns *columns, rheos__column *column,
                                  int64_t example) {
  if (column->kind != RHEOS__COLUMN_DENSE) {
    column->cells[example] = (rheos__cell){.list = rheos__wire_of(NULL, 0)};
    return NULL;
  }
  if (column->standby == NULL || column->standby->num_elements == 0) {
    return fail(columns, column, example, 0, RHEOS__FAILURE_MISSING, RHEOS_INVALID_DTYPE, 0);
  }
  const size_t size = rheos_dtype_size(column->dtype);
  char *to = (char *)column->dense->data + (size_t)(example * column->stride) * size;
  if (column->stride > 0) memcpy(to, column->standby->data, (size_t)column->stride * size);
  return NULL;
}

static rheos_status *parse_example(scan *s, int64_t example) {
  RHEOS_TRY(find_columns(s, example));
  for (int32_t i = 0; i < s->columns->count; i++) {
    rheos__column *column = &s->columns->items[i];
    if (s->found[i].example != example) {
      RHEOS_TRY(take_standby(s->columns, column, example));
      continue;
    }
    if (s->found[i].taken) continue;
    rheos__cell cell;
    const int64_t first = column->kind == RHEOS__COLUMN_DENSE ? example * column->stride : 0;
    RHEOS_TRY(
        read_feature(s->columns, column, example, 0, &s->found[i], column->dense, first, &cell));
    if (column->cells != NULL) column->cells[example] = cell;
  }
  return NULL;
}

typedef struct job {
  const rheos__columns *columns;
  uint32_t field;
} job;

static rheos_status *parse_examples(void *argument, int64_t first, int64_t last) {
  const job *j = argument;
  scan s;
  rheos_status *status = start_scan(&s, j->columns, j->field);
  for (int64_t example = first; status == NULL && example < last; example++) {
    status = parse_example(&s, example);
  }
  rheos__free(s.found);
  return status;
}

rheos_status *rheos__columns_parse_features(rheos__columns *columns, uint32_t field,
                                            rheos__step *step) {
  for (int32_t i = 0; i < columns->count; i++) {
    rheos__column *column = &columns->items[i];
    if (column->kind == RHEOS__COLUMN_DENSE) {
      rheos_shape shape;
      RHEOS_TRY(rheos__columns_batch_shape(columns, &column->shape, &shape));
      RHEOS_TRY(rheos__tensor_new(column->dtype, &shape, &column->dense));
    } else {
      size_t size_bytes;  // each cell is set
      column->cells = rheos__mul_size((size_t)columns->batch, sizeof *column->cells, &size_bytes)
                          ? rheos__alloc(size_bytes)
                          : NULL;
      if (column->cells == NULL) return rheos__out_of_memory();
      column->num_cells = (size_t)columns->batch;
    }
  }
  double bytes = 0;
  for (int64_t i = 0; i < columns->batch; i++) bytes += (double)columns->serialized[i].size_bytes;
  job j = {.columns = columns, .field = field};
  return rheos__step_parallel(step, columns->batch, rheos__flops(bytes * 4), parse_examples, &j);
}

// ---- Feature lists

static rheos_status *parse_list(const rheos__columns *columns, rheos__column *column,
                                int64_t example, rheos__wire list) {
  bool sound;
  rheos__wire feature;
  int64_t step = 0;
  for (; rheos__feature_list_next(&list, &feature, &sound); step++) {
    if (!RHEOS_RESERVE(column->cells, column->capacity, column->num_cells + 1)) {
      return rheos__out_of_memory();
    }
    rheos__cell *cell = &column->cells[column->num_cells++];
    const found f = {.feature = feature};
    RHEOS_TRY(read_feature(columns, column, example, step, &f, NULL, 0, cell));
  }
  column->steps[example] = step;
  if (sound) return NULL;
  return fail(columns, column, example, step, RHEOS__FAILURE_UNPARSED, RHEOS_INVALID_DTYPE, 0);
}

static rheos_status *parse_lists(scan *s, int64_t example) {
  RHEOS_TRY(find_columns(s, example));
  for (int32_t i = 0; i < s->columns->count; i++) {
    rheos__column *column = &s->columns->items[i];
    if (s->found[i].example == example) {
      RHEOS_TRY(parse_list(s->columns, column, example, s->found[i].feature));
    } else if (rheos__column_is_dense(column) && !column->may_be_missing) {
      return fail(s->columns, column, example, 0, RHEOS__FAILURE_MISSING, RHEOS_INVALID_DTYPE, 0);
    }
  }
  return NULL;
}

rheos_status *rheos__columns_parse_lists(rheos__columns *columns) {
  for (int32_t i = 0; i < columns->count; i++) {
    rheos__column *column = &columns->items[i];
    column->steps = rheos__alloc_array((size_t)columns->batch, sizeof *column->steps);
    if (column->steps == NULL) return rheos__out_of_memory();
  }
  scan s;
  rheos_status *status = start_scan(&s, columns, RHEOS__SEQUENCE_FEATURE_LISTS);
  for (int64_t i = 0; status == NULL && i < columns->batch; i++) status = parse_lists(&s, i);
  rheos__free(s.found);
  return status;
}
