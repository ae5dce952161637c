// Columns of examples: finding their cells in the bytes, and making tensors of the cells.
#include "ops/parse_columns.h"

#include <stdlib.h>

#include "ops/array_util.h"

// ---- Columns

static int compare_bytes(const char *a, size_t a_size, const char *b, size_t b_size) {
  const size_t common = a_size < b_size ? a_size : b_size;
  const int order = common > 0 ? memcmp(a, b, common) : 0;
  return order != 0 ? order : (a_size > b_size) - (a_size < b_size);
}

static int compare_keys(const void *a, const void *b) {
  const rheos__key *x = a, *y = b;
  const int order = compare_bytes(x->key.data, x->key.size_bytes, y->key.data, y->key.size_bytes);
  return order != 0 ? order : (x->column > y->column) - (x->column < y->column);
}

// The first place in by_key that does not stand before the key.
static int32_t find_key(const rheos__columns *columns, rheos__wire key) {
  int32_t first = 0, behind = columns->count;
  while (first < behind) {
    const int32_t middle = first + (behind - first) / 2;
    const rheos_string *other = &columns->by_key[middle].key;
    if (compare_bytes(other->data, other->size_bytes, key.at, rheos__wire_size(key)) < 0) {
      first = middle + 1;
    } else {
      behind = middle;
    }
  }
  return first;
}

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

static rheos_status *check_standby(const rheos__column *column, int32_t index) {
  const rheos_tensor *standby = column->standby;
  rheos__shape_text shape, own;
  if (standby == NULL) return NULL;
  if (column->kind == RHEOS__COLUMN_VARYING) {
    if (standby->num_elements == 1) return NULL;
    return RHEOS_INVALID(
        "dense_shape[%d] is a variable length shape: %s, therefore def_value[%d] "
        "must contain a single element (the padding element).  But its shape is: "
        "%s",
        (int)index, rheos__shape_text_of(&column->shape, &shape), (int)index,
        rheos__shape_text_of(&standby->shape, &own));
  }
  if (standby->num_elements == 0 || rheos_shape_equal(&standby->shape, &column->shape)) return NULL;
  return RHEOS_INVALID("def_value[%d].shape() == %s is not compatible with dense_shapes_[%d] == %s",
                       (int)index, rheos__shape_text_of(&standby->shape, &own), (int)index,
                       rheos__shape_text_of(&column->shape, &shape));
}

static rheos_status *init_dense(rheos__column *column, const rheos_shape *shape,
                                const rheos_tensor *standby, int32_t index) {
  bool varies;
  RHEOS_TRY(rheos__dense_stride(shape, &varies, &column->stride));
  column->kind = varies ? RHEOS__COLUMN_VARYING : RHEOS__COLUMN_DENSE;
  column->shape = *shape;
  column->standby = standby;
  return check_standby(column, index);
}

rheos_status *rheos__columns_init(rheos__columns *columns, const rheos__column_group *group,
                                  const rheos_string *keys, rheos_tensor *const *standbys) {
  const int32_t ns = group->num_sparse, nd = group->num_dense;
  columns->group = group;
  columns->count = ns + nd + group->num_ragged;
  columns->items = rheos__alloc_array((size_t)columns->count, sizeof *columns->items);
  columns->by_key = rheos__alloc_array((size_t)columns->count, sizeof *columns->by_key);
  if (columns->items == NULL || columns->by_key == NULL) return rheos__out_of_memory();
  for (int32_t i = 0; i < columns->count; i++) {
    rheos__column *column = &columns->items[i];
    column->key = keys[i];
    columns->by_key[i] = (rheos__key){keys[i], i};
    if (i < ns) {
      column->kind = RHEOS__COLUMN_SPARSE;
      column->dtype = group->sparse_types[i];
    } else if (i < ns + nd) {
      const int32_t d = i - ns;
      column->dtype = group->dense_types[d];
      RHEOS_TRY(
          init_dense(column, &group->dense_shapes[d], standbys != NULL ? standbys[d] : NULL, d));
    } else {
      column->kind = RHEOS__COLUMN_RAGGED;
      column->dtype = group->ragged_types[i - ns - nd];
      column->split_dtype = group->split_types[i - ns - nd];
    }
  }
  qsort(columns->by_key, (size_t)columns->count, sizeof *columns->by_key, compare_keys);
  return NULL;
}

// After a failure: strings are still borrowed.
static void drop_dense(rheos__column *column) {
  rheos_tensor *dense = column->dense;
  if (dense != NULL && dense->dtype == RHEOS_STRING && dense->size_bytes > 0) {
    memset(dense->data, 0, dense->size_bytes);
  }
  rheos_tensor_unref(dense);
}

void rheos__columns_deinit(rheos__columns *columns) {
  for (int32_t i = 0; columns->items != NULL && i < columns->count; i++) {
    rheos__free(columns->items[i].cells);
    rheos__free(columns->items[i].steps);
    drop_dense(&columns->items[i]);
  }
  rheos__free(columns->items);
  rheos__free(columns->by_key);
  columns->items = NULL;
  columns->by_key = NULL;
}

static bool is_dense(const rheos__column *column) {
  return column->kind == RHEOS__COLUMN_DENSE || column->kind == RHEOS__COLUMN_VARYING;
}

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
  rheos__wire feature;
  rheos__single single;
} found;

static rheos_status *check_count(const rheos__columns *columns, const rheos__column *column,
                                 int64_t example, int64_t step, int64_t count) {
  const int64_t stride = column->stride;
  rheos__parse_failure failure;
  if (count < 0) {
    failure = RHEOS__FAILURE_UNPARSED;
  } else if (column->kind == RHEOS__COLUMN_DENSE && count != stride) {
    failure = RHEOS__FAILURE_COUNT;
  } else if (column->kind == RHEOS__COLUMN_VARYING && (stride > 0 ? count % stride : count) != 0) {
    failure = RHEOS__FAILURE_MULTIPLE;
  } else {
    return NULL;
  }
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
    out_cell->list = f->single.list;
    rheos__single_values(&f->single, to, first, stride, &out_cell->count);
    return check_count(columns, column, example, step, out_cell->count);
  }
  *out_cell = (rheos__cell){.list = rheos__wire_of(NULL, 0)};
  if (!rheos__feature_read(f->feature, &dtype, &out_cell->list)) {
    return fail(columns, column, example, step, failure, dtype, 0);
  }
  if (dtype == RHEOS_INVALID_DTYPE) {
    if (!is_dense(column)) return NULL;
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

// What an entry that began with the same eight bytes was: mostly it is of the same key and, if it is
// usual, of the same size, so that all its bytes before the data are the same. Not what the entry at
// its place was: writers put maps in any order.
enum { LOG_GUESSES = 5, MAX_GUESSES = 1 << LOG_GUESSES, MAX_HEADER_BYTES = 64 };

typedef struct guess {
  int32_t place;         // of the key in by_key
  int32_t num_columns;   // with that key, from there on
  size_t header_bytes;   // before the data; 0: the entry was not usual
  size_t entry_bytes;    // all of it
  size_t feature_at, list_at;
  rheos_dtype dtype;
  char header[MAX_HEADER_BYTES];
} guess;

typedef struct scan {
  const rheos__columns *columns;
  uint32_t field;
  found *found;  // for each column; the feature's `at` is NULL where there is none
  guess guesses[MAX_GUESSES];
} scan;

static int32_t place_of_key(const rheos__columns *columns, rheos__wire key, guess *g) {
  if (g->place < columns->count && is_key(&columns->by_key[g->place].key, key)) return g->place;
  const int32_t place = find_key(columns, key);
  if (place < columns->count) g->place = place;
  return place;
}

// Remembers an entry that begins at `start`.
static void learn(guess *g, int32_t place, int32_t num_columns, const char *start, rheos__wire key,
                  rheos__wire value, const char *end, const rheos__single *single) {
  g->header_bytes = 0;
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
  memcpy(g->header, start, header_bytes);
}

static void take_entry(scan *s, const char *start, rheos__wire key, rheos__wire value,
                       const char *end, guess *g) {
  const rheos__columns *columns = s->columns;
  const bool of_example =
      columns->words == RHEOS__WORDS_EXAMPLES || columns->words == RHEOS__WORDS_EXAMPLE;
  found f = {.feature = value};
  if (s->field != RHEOS__SEQUENCE_FEATURE_LISTS && !rheos__single_read(value, &f.single)) {
    f.single.dtype = RHEOS_INVALID_DTYPE;
  }
  const int32_t place = place_of_key(columns, key, g);
  int32_t i = place;
  for (; i < columns->count && is_key(&columns->by_key[i].key, key); i++) {
    const int32_t column = columns->by_key[i].column;
    // In an Example, a Feature without a list counts as none, so that one before it counts.
    const bool none = of_example && value.at == value.end && is_dense(&columns->items[column]);
    if (!none) s->found[column] = f;
  }
  learn(g, place, i - place, start, key, value, end, &f.single);
}

// The guess for the entry that begins there.
static guess *guess_of(scan *s, rheos__wire map) {
  if (rheos__wire_size(map) < sizeof(uint64_t)) return &s->guesses[0];
  return &s->guesses[rheos__load_64(map.at) * UINT64_C(0x9e3779b97f4a7c15) >> (64 - LOG_GUESSES)];
}

// Whether the entry begins with these bytes; the last eight of them may overlap others.
static bool same_header(const guess *g, const char *at) {
  const size_t last = g->header_bytes - sizeof(uint64_t);
  for (size_t i = 0; i < last; i += sizeof(uint64_t)) {
    if (rheos__load_64(at + i) != rheos__load_64(g->header + i)) return false;
  }
  return rheos__load_64(at + last) == rheos__load_64(g->header + last);
}

// Takes the next entry if it is as guessed.
static bool take_guessed(scan *s, const guess *g, rheos__wire *map) {
  const char *at = map->at;
  if (g->header_bytes == 0 || rheos__wire_size(*map) < g->entry_bytes || !same_header(g, at)) {
    return false;
  }
  const char *const end = at + g->entry_bytes;
  map->at = end;
  for (int32_t i = g->place; i < g->place + g->num_columns; i++) {
    s->found[s->columns->by_key[i].column] =
        (found){{at + g->feature_at, end},
                {g->dtype, {at + g->list_at, end}, {at + g->header_bytes, end}}};
  }
  return true;
}

static rheos_status *find_columns(scan *s, int64_t example) {
  const rheos__columns *columns = s->columns;
  for (int32_t i = 0; i < columns->count; i++) s->found[i].feature.at = NULL;
  const rheos_string *bytes = &columns->serialized[example];
  rheos__wire message = rheos__wire_of(bytes->data, bytes->size_bytes), map, key, value;
  bool sound;
  while (rheos__map_next(&message, s->field, &map, &sound)) {
    for (;;) {
      guess *g = guess_of(s, map);
      if (take_guessed(s, g, &map)) continue;
      const char *const start = map.at;
      if (!rheos__entry_next(&map, &key, &value, &sound)) break;
      take_entry(s, start, key, value, map.at, g);
    }
    if (!sound) break;
  }
  if (sound) return NULL;
  return fail(columns, NULL, example, 0, RHEOS__FAILURE_MALFORMED, RHEOS_INVALID_DTYPE, 0);
}

static rheos_status *take_standby(const rheos__columns *columns, rheos__column *column,
                                  int64_t example) {
  if (column->kind != RHEOS__COLUMN_DENSE) return NULL;  // the cell is empty
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
    if (s->found[i].feature.at == NULL) {
      RHEOS_TRY(take_standby(s->columns, column, example));
      continue;
    }
    rheos__cell cell;
    const int64_t first = column->kind == RHEOS__COLUMN_DENSE ? example * column->stride : 0;
    RHEOS_TRY(
        read_feature(s->columns, column, example, 0, &s->found[i], column->dense, first, &cell));
    if (column->cells != NULL) column->cells[example] = cell;
  }
  return NULL;
}

static rheos_status *parse_examples(void *argument, int64_t first, int64_t last) {
  scan s = *(const scan *)argument;
  s.found = rheos__alloc_array((size_t)s.columns->count, sizeof *s.found);
  if (s.found == NULL) return rheos__out_of_memory();
  rheos_status *status = NULL;
  for (int64_t example = first; status == NULL && example < last; example++) {
    status = parse_example(&s, example);
  }
  rheos__free(s.found);
  return status;
}

// [batch, inner...], or the inner shape alone where there is a single example.
static rheos_status *batch_shape(const rheos__columns *columns, const rheos_shape *inner,
                                 rheos_shape *out_shape) {
  *out_shape = RHEOS_SCALAR;
  if (!columns->single) RHEOS_TRY(rheos__shape_append(out_shape, columns->batch));
  return rheos__shape_append_range(out_shape, inner, 0, inner->rank);
}

rheos_status *rheos__columns_parse_features(rheos__columns *columns, uint32_t field,
                                            rheos__step *step) {
  for (int32_t i = 0; i < columns->count; i++) {
    rheos__column *column = &columns->items[i];
    if (column->kind == RHEOS__COLUMN_DENSE) {
      rheos_shape shape;
      RHEOS_TRY(batch_shape(columns, &column->shape, &shape));
      RHEOS_TRY(rheos_tensor_new(column->dtype, shape, &column->dense));
    } else {
      column->cells = rheos__alloc_array((size_t)columns->batch, sizeof *column->cells);
      if (column->cells == NULL) return rheos__out_of_memory();
      column->num_cells = (size_t)columns->batch;
    }
  }
  double bytes = 0;
  for (int64_t i = 0; i < columns->batch; i++) bytes += (double)columns->serialized[i].size_bytes;
  scan s = {.columns = columns, .field = field};
  return rheos__step_parallel(step, columns->batch, rheos__flops(bytes * 4), parse_examples, &s);
}

// ---- Feature lists

static rheos_status *parse_list(const rheos__columns *columns, rheos__column *column,
                                int64_t example, rheos__wire list) {
  bool sound;
  rheos__wire feature;
  int64_t step = 0;
  for (; rheos__feature_list_next(&list, &feature, &sound); step++) {
    if (!RHEOS_GROW(column->cells, column->capacity, column->num_cells + 1)) {
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
    if (s->found[i].feature.at != NULL) {
      RHEOS_TRY(parse_list(s->columns, column, example, s->found[i].feature));
    } else if (is_dense(column) && !column->may_be_missing) {
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
  scan s = {.columns = columns, .field = RHEOS__SEQUENCE_FEATURE_LISTS};
  s.found = rheos__alloc_array((size_t)columns->count, sizeof *s.found);
  if (s.found == NULL) return rheos__out_of_memory();
  rheos_status *status = NULL;
  for (int64_t i = 0; status == NULL && i < columns->batch; i++) status = parse_lists(&s, i);
  rheos__free(s.found);
  return status;
}

// ---- Tensors of cells

// Strings were borrowed from the messages, and from the standbys.
static rheos_status *own_values(rheos_tensor *values) {
  return values->dtype == RHEOS_STRING ? rheos__tensor_own_strings(values) : NULL;
}

// The values of all cells, one after the other.
static rheos_status *make_values(const rheos__column *column, rheos_tensor **out_values) {
  int64_t total = 0, unused;
  for (size_t i = 0; i < column->num_cells; i++) total += column->cells[i].count;
  RHEOS_TRY(rheos_tensor_new(column->dtype, RHEOS_SHAPE(total), out_values));
  int64_t first = 0;
  for (size_t i = 0; i < column->num_cells; i++) {
    const rheos__cell *cell = &column->cells[i];
    rheos__feature_values(column->dtype, cell->list, *out_values, first, cell->count, &unused);
    first += cell->count;
  }
  return own_values(*out_values);
}

static int64_t most_values(const rheos__column *column) {
  int64_t most = 0;
  for (size_t i = 0; i < column->num_cells; i++) {
    if (column->cells[i].count > most) most = column->cells[i].count;
  }
  return most;
}

static int64_t most_steps(const rheos__columns *columns, const rheos__column *column) {
  int64_t most = 0;
  for (int64_t i = 0; i < columns->batch; i++) {
    if (column->steps[i] > most) most = column->steps[i];
  }
  return most;
}

// A row of indices for each value: (example,) (step,) place in the list.
static rheos_status *make_indices(const rheos__columns *columns, const rheos__column *column,
                                  int64_t rank, int64_t total, rheos_tensor **out_indices) {
  RHEOS_TRY(rheos_tensor_new(RHEOS_INT64, RHEOS_SHAPE(total, rank), out_indices));
  int64_t *to = (*out_indices)->data, example = 0, step = 0;
  for (size_t c = 0; c < column->num_cells; c++, step++) {
    while (column->steps != NULL && step == column->steps[example]) {
      example++;
      step = 0;
    }
    for (int64_t i = 0; i < column->cells[c].count; i++) {
      if (!columns->single) *to++ = column->steps != NULL ? example : (int64_t)c;
      if (column->steps != NULL) *to++ = step;
      *to++ = i;
    }
  }
  return NULL;
}

static rheos_status *make_sparse_shape(const rheos__columns *columns, const rheos__column *column,
                                       int64_t rank, rheos_tensor **out_shape) {
  RHEOS_TRY(rheos_tensor_new(RHEOS_INT64, RHEOS_SHAPE(rank), out_shape));
  int64_t *to = (*out_shape)->data;
  if (!columns->single) *to++ = columns->batch;
  if (column->steps != NULL) *to++ = most_steps(columns, column);
  *to = most_values(column);
  return NULL;
}

rheos_status *rheos__columns_sparse(const rheos__columns *columns, rheos_tensor **outputs) {
  const int32_t ns = columns->group->num_sparse;
  for (int32_t i = 0; i < ns; i++) {
    const rheos__column *column = &columns->items[i];
    const int64_t rank = 1 + !columns->single + (column->steps != NULL);
    RHEOS_TRY(make_values(column, &outputs[ns + i]));
    RHEOS_TRY(make_indices(columns, column, rank, outputs[ns + i]->num_elements, &outputs[i]));
    RHEOS_TRY(make_sparse_shape(columns, column, rank, &outputs[2 * ns + i]));
  }
  return NULL;
}

// Rows of differing length, the rest of each filled with the standby.
static rheos_status *make_varying(const rheos__columns *columns, const rheos__column *column,
                                  rheos_tensor **out_tensor) {
  rheos_shape inner = column->shape, shape;
  const int64_t row = most_values(column);
  inner.dims[0] = column->stride > 0 ? row / column->stride : 0;
  RHEOS_TRY(batch_shape(columns, &inner, &shape));
  RHEOS_TRY(rheos_tensor_new(column->dtype, shape, out_tensor));
  const size_t size = rheos_dtype_size(column->dtype);
  for (size_t i = 0; i < column->num_cells; i++) {
    const rheos__cell *cell = &column->cells[i];
    int64_t unused, first = (int64_t)i * row;
    rheos__feature_values(column->dtype, cell->list, *out_tensor, first, cell->count, &unused);
    if (column->standby == NULL) continue;
    char *to = (char *)(*out_tensor)->data + (size_t)first * size;
    for (int64_t k = cell->count; k < row; k++) {
      memcpy(to + (size_t)k * size, column->standby->data, size);
    }
  }
  return own_values(*out_tensor);
}

rheos_status *rheos__columns_dense(rheos__columns *columns, rheos_tensor **outputs) {
  for (int32_t i = 0; i < columns->group->num_dense; i++) {
    rheos__column *column = &columns->items[columns->group->num_sparse + i];
    if (column->kind == RHEOS__COLUMN_DENSE) {
      outputs[i] = column->dense;
      column->dense = NULL;
      RHEOS_TRY(own_values(outputs[i]));
    } else {
      RHEOS_TRY(make_varying(columns, column, &outputs[i]));
    }
  }
  return NULL;
}

static rheos_status *make_dense_list(const rheos__columns *columns, const rheos__column *column,
                                     rheos_tensor **out_tensor) {
  rheos_shape inner = RHEOS_SCALAR, shape;
  const int64_t steps = most_steps(columns, column);
  RHEOS_TRY(rheos__shape_append(&inner, steps));
  RHEOS_TRY(rheos__shape_append_range(&inner, &column->shape, 0, column->shape.rank));
  RHEOS_TRY(batch_shape(columns, &inner, &shape));
  RHEOS_TRY(rheos_tensor_new(column->dtype, shape, out_tensor));
  rheos_tensor *tensor = *out_tensor;
  if (column->dtype != RHEOS_STRING && tensor->size_bytes > 0) {
    memset(tensor->data, 0, tensor->size_bytes);
  }
  const rheos__cell *cell = column->cells;
  for (int64_t example = 0; example < columns->batch; example++) {
    for (int64_t step = 0; step < column->steps[example]; step++, cell++) {
      int64_t unused;
      rheos__feature_values(column->dtype, cell->list, tensor,
                            (example * steps + step) * column->stride, column->stride, &unused);
    }
  }
  return own_values(tensor);
}

rheos_status *rheos__columns_dense_lists(rheos__columns *columns, bool lengths,
                                         rheos_tensor **outputs) {
  const int32_t nd = columns->group->num_dense;
  for (int32_t i = 0; i < nd; i++) {
    const rheos__column *column = &columns->items[columns->group->num_sparse + i];
    RHEOS_TRY(make_dense_list(columns, column, &outputs[i]));
    if (!lengths) continue;
    const rheos_shape shape = columns->single ? RHEOS_SCALAR : RHEOS_SHAPE(columns->batch);
    RHEOS_TRY(rheos_tensor_from_values(RHEOS_INT64, shape, column->steps, &outputs[nd + i]));
  }
  return NULL;
}

// ---- Ragged ones

typedef struct splits {
  rheos_tensor *tensor;
  int64_t sum, place;
} splits;

static rheos_status *put_split(splits *s, int64_t length) {
  s->sum += length;
  if (s->tensor->dtype == RHEOS_INT32 && s->sum > INT32_MAX) {
    return RHEOS_INVALID("%lld ragged values are too many for splits of int32", (long long)s->sum);
  }
  rheos__set_int(s->tensor->dtype, s->tensor->data, s->place++, s->sum);
  return NULL;
}

// Where the rows begin, and behind the last.
static rheos_status *start_splits(rheos_dtype dtype, int64_t num_rows, splits *out_splits,
                                  rheos_tensor **out_tensor) {
  RHEOS_TRY(rheos_tensor_new(dtype, RHEOS_SHAPE(num_rows + 1), out_tensor));
  *out_splits = (splits){.tensor = *out_tensor};
  return put_split(out_splits, 0);
}

static rheos_status *make_cell_splits(const rheos__column *column, rheos_tensor **out_splits) {
  splits s;
  RHEOS_TRY(start_splits(column->split_dtype, (int64_t)column->num_cells, &s, out_splits));
  for (size_t i = 0; i < column->num_cells; i++) RHEOS_TRY(put_split(&s, column->cells[i].count));
  return NULL;
}

static rheos_status *make_step_splits(const rheos__columns *columns, const rheos__column *column,
                                      rheos_tensor **out_splits) {
  splits s;
  RHEOS_TRY(start_splits(column->split_dtype, columns->batch, &s, out_splits));
  for (int64_t i = 0; i < columns->batch; i++) RHEOS_TRY(put_split(&s, column->steps[i]));
  return NULL;
}

// The splits over the examples, where there is a single one, are a placeholder: empty, or a 0.
static rheos_status *make_no_splits(const rheos__columns *columns, const rheos__column *column,
                                    rheos_tensor **out_splits) {
  const bool empty = columns->words == RHEOS__WORDS_EXAMPLE;
  const int64_t zero = 0;
  return rheos_tensor_from_values(column->split_dtype, empty ? RHEOS_SHAPE(0) : RHEOS_SCALAR, &zero,
                                  out_splits);
}

rheos_status *rheos__columns_ragged(const rheos__columns *columns, rheos_tensor **outputs) {
  const int32_t nr = columns->group->num_ragged;
  for (int32_t i = 0; i < nr; i++) {
    const rheos__column *column = &columns->items[columns->count - nr + i];
    RHEOS_TRY(make_values(column, &outputs[i]));
    if (columns->single) RHEOS_TRY(make_no_splits(columns, column, &outputs[nr + i]));
    if (column->steps != NULL) {
      if (!columns->single) RHEOS_TRY(make_step_splits(columns, column, &outputs[nr + i]));
      RHEOS_TRY(make_cell_splits(column, &outputs[2 * nr + i]));
    } else if (!columns->single) {
      RHEOS_TRY(make_cell_splits(column, &outputs[nr + i]));
    }
  }
  return NULL;
}
