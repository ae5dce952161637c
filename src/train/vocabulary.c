// Vocabularies are files of an entry a line. The positions are found once, as the graph is built;
// the graph gathers by them.
#include "train/vocabulary.h"

#include <string.h>

#include "base/file.h"
#include "base/hash.h"
#include "format/checkpoint/tensor_slice.h"
#include "ops/kit/op_util.h"
#include "train/variables.h"

static const size_t MAX_FILE_BYTES = (size_t)1 << 31;

// ---- Files

typedef struct entries {
  const char *path;
  char *data;
  rheos_string *items;  // in `data`
  size_t count;
} entries;

static void deinit_entries(entries *e) {
  rheos__free(e->data);
  rheos__free(e->items);
}

// Without carriage returns, which TensorFlow does not see.
static size_t drop_returns(char *data, size_t size_bytes) {
  size_t kept = 0;
  for (size_t i = 0; i < size_bytes; i++) {
    if (data[i] != '\r') data[kept++] = data[i];
  }
  return kept;
}

static size_t count_lines(const char *data, size_t size_bytes) {
  size_t count = 0;
  for (size_t i = 0; i < size_bytes; i++) count += data[i] == '\n';
  return count + (size_bytes > 0 && data[size_bytes - 1] != '\n');
}

// `most`: that many lines, 0: all.
static rheos_status *read_entries(const char *path, int64_t most, entries *out) {
  if (path == NULL) return RHEOS_INVALID("a vocabulary has no file");
  size_t size_bytes;
  out->path = path;
  RHEOS_TRY(rheos__file_read_all(path, MAX_FILE_BYTES, &out->data, &size_bytes));
  size_bytes = drop_returns(out->data, size_bytes);
  size_t count = count_lines(out->data, size_bytes);
  if (most > 0 && (uint64_t)most < count) count = (size_t)most;
  if (count > INT32_MAX / 4) return RHEOS_INVALID("'%s' has %zu entries, too many", path, count);
  out->items = rheos__alloc_array(count, sizeof *out->items);
  if (out->items == NULL) return rheos__out_of_memory();
  char *at = out->data, *end = out->data + size_bytes;
  for (; out->count < count; out->count++) {
    char *line_end = memchr(at, '\n', (size_t)(end - at));
    if (line_end == NULL) line_end = end;
    out->items[out->count] = (rheos_string){at, (size_t)(line_end - at)};
    at = line_end + 1;
  }
  return NULL;
}

// ---- The variable

// The box of the whole that a variable is; all of it if it is no part.
static rheos_status *box_of(rheos_variable variable, rheos__slice *out_box,
                            rheos_shape *out_whole) {
  const char *name, *text;
  *out_whole = rheos_variable_static_shape(variable);
  *out_box = rheos__slice_whole(out_whole->rank);
  if (!rheos_variable_slice(variable, &name, &text)) return NULL;
  const rheos_string part = rheos__borrow_string(text, strlen(text));
  rheos_shape shape;
  return rheos__slice_parse(&part, out_whole, out_box, &shape);
}

static rheos_status *check_extent(rheos_variable variable, const rheos_vocabulary *v) {
  rheos__slice box;
  rheos_shape whole;
  RHEOS_TRY(box_of(variable, &box, &whole));
  const int64_t count = v->new_size + v->num_oov_buckets;
  if (whole.rank > v->axis && whole.dims[v->axis] == count) return NULL;
  char *name = rheos__name_of_output(variable.handle);
  if (name == NULL) return rheos__out_of_memory();
  rheos_status *status =
      whole.rank > v->axis
          ? RHEOS_INVALID("Variable %s has %lld entries along axis %d, its vocabulary has %lld",
                          name, (long long)whole.dims[v->axis], v->axis, (long long)count)
          : RHEOS_INVALID("Variable %s has no axis %d for a vocabulary", name, v->axis);
  rheos__free(name);
  return status;
}

// ---- Positions

// Numbers of entries by their bytes: open addressing, -1: free.
typedef struct entry_index {
  int32_t *slots;
  size_t num_slots;  // a power of two
} entry_index;

static int32_t *slot_of(const entry_index *x, const entries *e, const rheos_string *entry) {
  size_t at = (size_t)rheos__hash_bytes(0, entry->data, entry->size_bytes);
  for (;; at++) {
    int32_t *slot = &x->slots[at & (x->num_slots - 1)];
    if (*slot < 0) return slot;
    const rheos_string *other = &e->items[*slot];
    if (other->size_bytes == entry->size_bytes &&
        (entry->size_bytes == 0 || memcmp(other->data, entry->data, entry->size_bytes) == 0)) {
      return slot;
    }
  }
}

static rheos_status *fill_index(entry_index *x, const entries *e) {
  x->num_slots = 16;
  while (x->num_slots < e->count * 2) x->num_slots *= 2;
  x->slots = rheos__alloc_array(x->num_slots, sizeof *x->slots);
  if (x->slots == NULL) return rheos__out_of_memory();
  for (size_t i = 0; i < x->num_slots; i++) x->slots[i] = -1;
  for (size_t i = 0; i < e->count; i++) {
    int32_t *slot = slot_of(x, e, &e->items[i]);
    if (*slot >= 0) {
      const size_t length = e->items[i].size_bytes < 100 ? e->items[i].size_bytes : 100;
      return rheos_status_new(RHEOS_FAILED_PRECONDITION,
                              "HashTable has different value for same key. Key %.*s has %d and "
                              "trying to add value %zu (in '%s')",
                              (int)length, e->items[i].data, *slot, i, e->path);
    }
    *slot = (int32_t)i;
  }
  return NULL;
}

static rheos_status *look_up(const rheos_vocabulary *v, const entries *now, const entries *before,
                             const entry_index *x, int32_t **out_positions) {
  if (now->count < (size_t)v->new_size) {
    return RHEOS_INVALID("'%s' has %zu entries, not %lld", now->path, now->count,
                         (long long)v->new_size);
  }
  const size_t count = now->count + (size_t)v->num_oov_buckets;
  int32_t *positions = rheos__alloc_array(count, sizeof *positions);
  if (positions == NULL) return rheos__out_of_memory();
  for (size_t i = 0; i < count; i++) {
    positions[i] = i < now->count ? *slot_of(x, before, &now->items[i]) : -1;
  }
  *out_positions = positions;
  return NULL;
}

rheos_status *rheos__vocabulary_positions(const rheos_vocabulary *v, rheos_variable variable,
                                          int32_t **out_positions) {
  *out_positions = NULL;
  if (v->axis != 0 && v->axis != 1) {
    return RHEOS_INVALID(
        "The only supported values for the axis argument are 0 and 1.  Provided "
        "axis: %d",
        v->axis);
  }
  if (v->new_size <= 0 || v->old_size < 0 || v->num_oov_buckets < 0 ||
      v->num_oov_buckets > INT32_MAX / 4) {
    return RHEOS_INVALID(
        "a vocabulary cannot have %lld entries, %lld before and %lld for unknown ones",
        (long long)v->new_size, (long long)v->old_size, (long long)v->num_oov_buckets);
  }
  RHEOS_TRY(check_extent(variable, v));
  entries now = {0}, before = {0};
  entry_index x = {0};
  rheos_status *status = read_entries(v->new_file, v->new_size, &now);
  if (status == NULL) status = read_entries(v->old_file, v->old_size, &before);
  if (status == NULL) status = fill_index(&x, &before);
  if (status == NULL) status = look_up(v, &now, &before, &x, out_positions);
  rheos__free(x.slots);
  deinit_entries(&now);
  deinit_entries(&before);
  return status;
}

// ---- Nodes

static rheos_output int_vector(rheos_scope *scope, const int64_t *values, int32_t count,
                               const char *name) {
  int32_t numbers[RHEOS_MAX_RANK];
  for (int32_t i = 0; i < count; i++) numbers[i] = (int32_t)values[i];
  return rheos__const_ints(scope, numbers, count, name);
}

// The part of `old` beside the axis of the vocabulary.
static rheos_output cut(rheos_scope *scope, rheos_output old, const rheos__slice *box,
                        int32_t axis) {
  int64_t starts[RHEOS_MAX_RANK], lengths[RHEOS_MAX_RANK];
  bool is_whole = true;
  for (int32_t i = 0; i < box->rank; i++) {
    starts[i] = i == axis ? 0 : box->starts[i];
    lengths[i] = i == axis || box->lengths[i] == RHEOS__WHOLE_EXTENT ? -1 : box->lengths[i];
    is_whole = is_whole && lengths[i] < 0;
  }
  if (is_whole) return old;
  return rheos__op_3(scope, "Slice", old, int_vector(scope, starts, box->rank, "begin"),
                     int_vector(scope, lengths, box->rank, "size"));
}

static rheos_output gather(rheos_scope *scope, rheos_output old, const int32_t *positions,
                           int64_t count, int32_t axis) {
  int32_t *known = rheos__alloc_array((size_t)count, sizeof *known);
  if (known == NULL) {
    rheos_scope_fail_take(scope, rheos__out_of_memory());
    return old;
  }
  for (int64_t i = 0; i < count; i++) known[i] = positions[i] < 0 ? 0 : positions[i];
  const rheos_output indices = rheos__const_ints(scope, known, count, "positions");
  rheos__free(known);
  return rheos__op_3(scope, "GatherV2", old, indices,
                     rheos__const_scalar(scope, RHEOS_INT32, axis, "axis"));
}

// True where the checkpoint has the entry.
static rheos_output mask(rheos_scope *scope, const int32_t *positions, int64_t count, int32_t axis,
                         int32_t rank) {
  rheos_shape shape = {.rank = rank};
  for (int32_t i = 0; i < rank; i++) shape.dims[i] = i == axis ? count : 1;
  rheos_tensor *tensor;
  rheos_output output = {NULL, 0, 0};
  rheos_status *status = rheos_tensor_new(RHEOS_BOOL, shape, &tensor);
  if (status != NULL) {
    rheos_scope_fail_take(scope, status);
    return output;
  }
  for (int64_t i = 0; i < count; i++) ((bool *)tensor->data)[i] = positions[i] >= 0;
  output = rheos_constant(scope, tensor, "is_known");
  rheos_tensor_unref(tensor);
  return output;
}

rheos_output rheos__vocabulary_value(rheos_scope *scope, const rheos_vocabulary *v,
                                     const int32_t *positions, rheos_output old,
                                     rheos_variable variable) {
  rheos__slice box;
  rheos_shape whole;
  rheos_status *status = box_of(variable, &box, &whole);
  if (status != NULL) {
    rheos_scope_fail_take(scope, status);
    return old;
  }
  const rheos_shape shape = rheos_variable_static_shape(variable);
  const int64_t length = shape.dims[v->axis];
  positions += box.starts[v->axis];
  const rheos_output taken =
      gather(scope, cut(scope, old, &box, v->axis), positions, length, v->axis);
  const rheos_initializer initializer =
      v->initializer.kind == RHEOS_INIT_DEFAULT ? rheos_zeros() : v->initializer;
  const rheos_output fresh =
      rheos__initial_value(scope, &initializer, rheos_variable_dtype(variable), &shape);
  return rheos__op_3(scope, "SelectV2", mask(scope, positions, length, v->axis, shape.rank), taken,
                     fresh);
}
