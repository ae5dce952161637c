// Columns of examples: their descriptions, and making tensors of their cells.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3")  // rows of indices are vectors
#endif

#include "ops/io/parse_columns.h"

#include <stdlib.h>

#include "ops/kit/array_util.h"
#include "ops/kit/elementwise.h"

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

int32_t rheos__columns_find(const rheos__columns *columns, rheos__wire key) {
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

// ---- Tensors of cells

rheos_status *rheos__columns_batch_shape(const rheos__columns *columns, const rheos_shape *inner,
                                         rheos_shape *out_shape) {
  *out_shape = RHEOS_SCALAR;
  if (!columns->single) RHEOS_TRY(rheos__shape_append(out_shape, columns->batch));
  return rheos__shape_append_range(out_shape, inner, 0, inner->rank);
}

// Strings were borrowed from the messages, and from the standbys.
static rheos_status *own_values(rheos_tensor *values) {
  return values->dtype == RHEOS_STRING ? rheos__tensor_own_strings(values) : NULL;
}

// Puts the values of a cell into the elements [first, first + capacity).
static inline void put_cell(const rheos__column *column, const rheos__cell *cell, rheos_tensor *to,
                            int64_t first, int64_t capacity) {
  const rheos__wire list = cell->list;
  int64_t count = cell->count < capacity ? cell->count : capacity;
  if (count <= 0) return;
  if (!cell->packed) {
    rheos__feature_values(column->dtype, list, to, first, capacity, &count);
  } else if (column->dtype == RHEOS_STRING) {
    ((rheos_string *)to->data)[first] = rheos__borrow_string(list.at, rheos__wire_size(list));
  } else if (column->dtype == RHEOS_INT64) {
    rheos__packed_ints(list, (int64_t *)to->data + first, capacity);
  } else {
    rheos__copy_floats((float *)to->data + first, list.at, (size_t)count);
  }
}

typedef struct extent {
  int64_t total, most;  // values of all cells, and of the one with most
} extent;

static extent extent_of(const rheos__column *column) {
  extent e = {0, 0};
  for (size_t i = 0; i < column->num_cells; i++) {
    const int64_t count = column->cells[i].count;
    e.total += count;
    if (count > e.most) e.most = count;
  }
  return e;
}

// The values of all cells, one after the other.
static rheos_status *make_values(const rheos__column *column, int64_t total,
                                 rheos_tensor **out_values) {
  RHEOS_TRY(rheos__tensor_new(column->dtype, &RHEOS_SHAPE(total), out_values));
  int64_t first = 0;
  for (size_t i = 0; i < column->num_cells; i++) {
    const rheos__cell *cell = &column->cells[i];
    put_cell(column, cell, *out_values, first, cell->count);
    first += cell->count;
  }
  return own_values(*out_values);
}

static int64_t most_steps(const rheos__columns *columns, const rheos__column *column) {
  int64_t most = 0;
  for (int64_t i = 0; i < columns->batch; i++) {
    if (column->steps[i] > most) most = column->steps[i];
  }
  return most;
}

// The pairs (cell, place in the list) of all values; the steps of a single example count as its
// cells do. Two pairs are a vector, as these are most of the bytes that parsing writes.
RHEOS__WIDE
static void put_pairs(const rheos__cell *cells, size_t num_cells, int64_t *to) {
  typedef int64_t pairs __attribute__((vector_size(4 * sizeof(int64_t))));
  for (size_t c = 0; c < num_cells; c++) {
    const int64_t cell = (int64_t)c, count = cells[c].count;
    pairs next = {cell, 0, cell, 1};
    for (int64_t i = 0; i + 2 <= count; i += 2, to += 4) {
      memcpy(to, &next, sizeof next);
      next += (pairs){0, 2, 0, 2};
    }
    if (count % 2 == 0) continue;
    *to++ = cell;
    *to++ = count - 1;
  }
}

// A row of indices for each value: (example,) (step,) place in the list.
static rheos_status *make_indices(const rheos__column *column, int64_t rank, int64_t total,
                                  rheos_tensor **out_indices) {
  RHEOS_TRY(rheos__tensor_new(RHEOS_INT64, &RHEOS_SHAPE(total, rank), out_indices));
  int64_t *to = (*out_indices)->data, example = 0, step = 0;
  if (rank == 2) {
    put_pairs(column->cells, column->num_cells, to);
    return NULL;
  }
  for (size_t c = 0; c < column->num_cells; c++, step++) {
    const int64_t count = column->cells[c].count;
    if (rank == 1) {
      for (int64_t i = 0; i < count; i++) to[i] = i;
    } else {
      for (; step == column->steps[example]; step = 0) example++;
      for (int64_t i = 0; i < count; i++) {
        to[3 * i] = example;
        to[3 * i + 1] = step;
        to[3 * i + 2] = i;
      }
    }
    to += rank * count;
  }
  return NULL;
}

static rheos_status *make_sparse_shape(const rheos__columns *columns, const rheos__column *column,
                                       int64_t rank, int64_t most, rheos_tensor **out_shape) {
  RHEOS_TRY(rheos__tensor_new(RHEOS_INT64, &RHEOS_SHAPE(rank), out_shape));
  int64_t *to = (*out_shape)->data;
  if (!columns->single) *to++ = columns->batch;
  if (column->steps != NULL) *to++ = most_steps(columns, column);
  *to = most;
  return NULL;
}

rheos_status *rheos__columns_sparse(const rheos__columns *columns, rheos_tensor **outputs) {
  const int32_t ns = columns->group->num_sparse;
  for (int32_t i = 0; i < ns; i++) {
    const rheos__column *column = &columns->items[i];
    const int64_t rank = 1 + !columns->single + (column->steps != NULL);
    const extent e = extent_of(column);
    RHEOS_TRY(make_values(column, e.total, &outputs[ns + i]));
    RHEOS_TRY(make_indices(column, rank, e.total, &outputs[i]));
    RHEOS_TRY(make_sparse_shape(columns, column, rank, e.most, &outputs[2 * ns + i]));
  }
  return NULL;
}

// Rows of differing length, the rest of each filled with the standby.
static rheos_status *make_varying(const rheos__columns *columns, const rheos__column *column,
                                  rheos_tensor **out_tensor) {
  rheos_shape inner = column->shape, shape;
  const int64_t row = extent_of(column).most;
  inner.dims[0] = column->stride > 0 ? row / column->stride : 0;
  RHEOS_TRY(rheos__columns_batch_shape(columns, &inner, &shape));
  RHEOS_TRY(rheos__tensor_new(column->dtype, &shape, out_tensor));
  const size_t size = rheos_dtype_size(column->dtype);
  for (size_t i = 0; i < column->num_cells; i++) {
    const rheos__cell *cell = &column->cells[i];
    const int64_t first = (int64_t)i * row;
    put_cell(column, cell, *out_tensor, first, cell->count);
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
  RHEOS_TRY(rheos__columns_batch_shape(columns, &inner, &shape));
  RHEOS_TRY(rheos__tensor_new(column->dtype, &shape, out_tensor));
  rheos_tensor *tensor = *out_tensor;
  if (column->dtype != RHEOS_STRING && tensor->size_bytes > 0) {
    memset(tensor->data, 0, tensor->size_bytes);
  }
  const rheos__cell *cell = column->cells;
  for (int64_t example = 0; example < columns->batch; example++) {
    for (int64_t step = 0; step < column->steps[example]; step++, cell++) {
      put_cell(column, cell, tensor, (example * steps + step) * column->stride, column->stride);
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
  RHEOS_TRY(rheos__tensor_new(dtype, &RHEOS_SHAPE(num_rows + 1), out_tensor));
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
    RHEOS_TRY(make_values(column, extent_of(column).total, &outputs[i]));
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
