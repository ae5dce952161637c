// Compares what is wanted with what a checkpoint has. This runs only when a restore has failed;
// what it may cost is bounded all the same, as a checkpoint can hold a million names.
#include <rheos/format.h>

#include <stdio.h>

#include "codec/buffer.h"
#include "tensor/tensor.h"

enum {
  MOST_LISTED = 20,       // names in a list
  MOST_NAME_BYTES = 160,  // of each
  MOST_COMPARED = 128,    // bytes of names that are compared
  MOST_CELLS = 40000000,  // of all tables of distances
};

// The index of a name in the reader, -1 if it has none.
static int64_t find(const rheos_checkpoint_reader *reader, const char *name, size_t name_bytes) {
  size_t low = 0, high = rheos_checkpoint_reader_count(reader);
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    const char *there = rheos_checkpoint_reader_name(reader, middle);
    const size_t there_bytes = strlen(there);
    const size_t least = there_bytes < name_bytes ? there_bytes : name_bytes;
    int order = memcmp(there, name, least);
    if (order == 0) order = (there_bytes > name_bytes) - (there_bytes < name_bytes);
    if (order == 0) return (int64_t)middle;
    if (order < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return -1;
}

// ---- The nearest name

// How many bytes are inserted, deleted or changed between the two; `bound` if it is that or more.
static int distance(const char *a, size_t a_bytes, const char *b, size_t b_bytes, int bound) {
  int row[MOST_COMPARED + 1];
  for (size_t j = 0; j <= b_bytes; j++) row[j] = (int)j;
  for (size_t i = 1; i <= a_bytes; i++) {
    int diagonal = row[0], least = row[0] = (int)i;
    for (size_t j = 1; j <= b_bytes; j++) {
      const int changed = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      int best = row[j - 1] < row[j] ? row[j - 1] + 1 : row[j] + 1;
      if (changed < best) best = changed;
      row[j] = best;
      if (best < least) least = best;
    }
    if (least >= bound) return bound;
  }
  return row[b_bytes];
}

// Whether the longer one is the shorter one below some scopes.
static bool is_suffix(const char *a, size_t a_bytes, const char *b, size_t b_bytes) {
  if (a_bytes < b_bytes) return is_suffix(b, b_bytes, a, a_bytes);
  return a_bytes > b_bytes && b_bytes > 0 && a[a_bytes - b_bytes - 1] == '/' &&
         memcmp(a + a_bytes - b_bytes, b, b_bytes) == 0;
}

typedef struct comparison {
  const rheos_checkpoint_reader *reader;
  const rheos_wanted_tensor *wanted;
  size_t count;
  bool *is_wanted;  // by index in the reader
  int64_t cells;    // of tables that were filled
} comparison;

// The name that nobody asked for and is most like this one; -1 if none is like it.
static int64_t nearest(comparison *c, const rheos_wanted_tensor *w) {
  const size_t count = rheos_checkpoint_reader_count(c->reader);
  int best = (int)(w->name_bytes < MOST_COMPARED ? w->name_bytes : MOST_COMPARED) / 3 + 2;
  int64_t found = -1;
  for (size_t i = 0; i < count; i++) {
    const char *name = rheos_checkpoint_reader_name(c->reader, i);
    const size_t bytes = strlen(name);
    if (c->is_wanted[i]) continue;
    if (is_suffix(w->name, w->name_bytes, name, bytes)) return (int64_t)i;
    const int64_t longer = (int64_t)bytes - (int64_t)w->name_bytes;
    if (longer >= best || -longer >= best || bytes > MOST_COMPARED ||
        w->name_bytes > MOST_COMPARED || c->cells > MOST_CELLS) {
      continue;
    }
    c->cells += (int64_t)(bytes * w->name_bytes);
    const int d = distance(w->name, w->name_bytes, name, bytes, best);
    if (d < best) best = d, found = (int64_t)i;
  }
  return found;
}

// ---- What is wrong

typedef enum verdict { FITS, MISSING, OTHER_DTYPE, OTHER_SHAPE } verdict;

static verdict judge(const comparison *c, const rheos_wanted_tensor *w, int64_t *out_index) {
  const int64_t i = *out_index = find(c->reader, w->name, w->name_bytes);
  if (i < 0) return MISSING;
  const rheos_dtype dtype = rheos_checkpoint_reader_dtype(c->reader, (size_t)i);
  if (w->dtype != RHEOS_INVALID_DTYPE && w->dtype != dtype) return OTHER_DTYPE;
  const rheos_shape shape = rheos_checkpoint_reader_shape(c->reader, (size_t)i);
  const bool fits = w->reshapes && rheos_shape_is_known(&w->shape)
                        ? rheos_shape_num_elements(&w->shape) == rheos_shape_num_elements(&shape)
                        : rheos_shape_compatible(&w->shape, &shape);
  return fits ? FITS : OTHER_SHAPE;
}

static void put_name(rheos__buffer *text, const char *name, size_t bytes) {
  rheos__buffer_put(text, name, bytes < MOST_NAME_BYTES ? bytes : MOST_NAME_BYTES);
  if (bytes > MOST_NAME_BYTES) rheos__buffer_put_text(text, "...");
}

static void put_shape(rheos__buffer *text, const rheos_shape *shape) {
  rheos__shape_text buffer;
  rheos__buffer_put_text(text, rheos__shape_text_of(shape, &buffer));
}

static void put_wrong(comparison *c, const rheos_wanted_tensor *w, verdict what, int64_t index,
                      rheos__buffer *text) {
  put_name(text, w->name, w->name_bytes);
  if (what == MISSING) {
    const int64_t like = nearest(c, w);
    if (like < 0) return;
    const char *name = rheos_checkpoint_reader_name(c->reader, (size_t)like);
    rheos__buffer_put_text(text, " (nearest: ");
    put_name(text, name, strlen(name));
    rheos__buffer_put_text(text, ")");
    return;
  }
  rheos__buffer_put_text(text, " is ");
  if (what == OTHER_DTYPE) {
    rheos__buffer_put_text(text, rheos_dtype_name(w->dtype));
    rheos__buffer_put_text(text, ", there ");
    rheos__buffer_put_text(
        text, rheos_dtype_name(rheos_checkpoint_reader_dtype(c->reader, (size_t)index)));
    return;
  }
  const rheos_shape shape = rheos_checkpoint_reader_shape(c->reader, (size_t)index);
  put_shape(text, &w->shape);
  rheos__buffer_put_text(text, ", there ");
  put_shape(text, &shape);
}

// Ends a list that was cut.
static void put_rest(rheos__buffer *text, size_t total) {
  char rest[40];
  if (total <= MOST_LISTED) return;
  snprintf(rest, sizeof rest, " and %zu more", total - MOST_LISTED);
  rheos__buffer_put_text(text, rest);
}

// "; NUMBER TITLE: a, b"; nothing if there are none.
static void put_list(comparison *c, verdict what, const char *title, rheos__buffer *text) {
  size_t total = 0;
  rheos__buffer list = {0};
  for (size_t i = 0; i < c->count; i++) {
    int64_t index;
    if (judge(c, &c->wanted[i], &index) != what || total++ >= MOST_LISTED) continue;
    if (total > 1) rheos__buffer_put_text(&list, ", ");
    put_wrong(c, &c->wanted[i], what, index, &list);
  }
  if (total > 0) {
    char start[80];
    snprintf(start, sizeof start, "; %zu %s: ", total, title);
    rheos__buffer_put_text(text, start);
    rheos__buffer_put(text, list.data, list.size_bytes);
    put_rest(text, total);
  }
  text->failed |= list.failed;
  rheos__buffer_deinit(&list);
}

static void put_extra(const comparison *c, rheos__buffer *text) {
  size_t total = 0;
  for (size_t i = 0; i < rheos_checkpoint_reader_count(c->reader); i++) {
    if (c->is_wanted[i] || total++ >= MOST_LISTED) continue;
    const char *name = rheos_checkpoint_reader_name(c->reader, i);
    rheos__buffer_put_text(text, total == 1 ? "; not asked for: " : ", ");
    put_name(text, name, strlen(name));
  }
  put_rest(text, total);
}

// TensorFlow's words for the first one.
static void put_first(const comparison *c, verdict what, rheos__buffer *text) {
  for (size_t i = 0; i < c->count; i++) {
    const rheos_wanted_tensor *w = &c->wanted[i];
    int64_t index;
    if (judge(c, w, &index) != what) continue;
    if (what == MISSING) {
      rheos__buffer_put_text(text, "Key ");
      put_name(text, w->name, w->name_bytes);
      rheos__buffer_put_text(text, " not found in checkpoint");
    } else if (what == OTHER_DTYPE) {
      rheos__buffer_put_text(text, "tensor_name = ");
      put_name(text, w->name, w->name_bytes);
      rheos__buffer_put_text(text, "; expected dtype ");
      rheos__buffer_put_text(text, rheos_dtype_name(w->dtype));
      rheos__buffer_put_text(text, " does not equal original dtype ");
      rheos__buffer_put_text(
          text, rheos_dtype_name(rheos_checkpoint_reader_dtype(c->reader, (size_t)index)));
    } else {
      const rheos_shape shape = rheos_checkpoint_reader_shape(c->reader, (size_t)index);
      rheos__buffer_put_text(text, "Assign requires shapes of both tensors to match. lhs shape= ");
      put_shape(text, &w->shape);
      rheos__buffer_put_text(text, " rhs shape= ");
      put_shape(text, &shape);
    }
    return;
  }
}

static rheos_status *report(comparison *c, const char *checkpoint, verdict worst) {
  rheos__buffer text = {0};
  put_first(c, worst, &text);
  put_list(c, MISSING, "missing", &text);
  put_list(c, OTHER_DTYPE, "of another dtype", &text);
  put_list(c, OTHER_SHAPE, "of another shape", &text);
  put_extra(c, &text);
  rheos_status *status =
      text.failed ? rheos__out_of_memory()
                  : rheos_status_new(worst == MISSING ? RHEOS_NOT_FOUND : RHEOS_INVALID_ARGUMENT,
                                     "%.*s (checkpoint %.*s)", (int)text.size_bytes, text.data,
                                     2 * MOST_NAME_BYTES, checkpoint);
  rheos__buffer_deinit(&text);
  return status;
}

rheos_status *rheos_checkpoint_reader_check(const rheos_checkpoint_reader *reader,
                                            const char *checkpoint,
                                            const rheos_wanted_tensor *wanted, size_t count) {
  RHEOS_NEED(reader, checkpoint);
  RHEOS_NEED_LIST(wanted, count);
  for (size_t i = 0; i < count; i++) RHEOS_NEED_BYTES(wanted[i].name, wanted[i].name_bytes);
  comparison c = {.reader = reader, .wanted = wanted, .count = count};
  c.is_wanted = rheos__alloc_array(rheos_checkpoint_reader_count(reader), sizeof *c.is_wanted);
  if (c.is_wanted == NULL) return rheos__out_of_memory();
  verdict worst = FITS;
  for (size_t i = 0; i < count; i++) {
    int64_t index;
    const verdict what = judge(&c, &wanted[i], &index);
    if (what != FITS && (worst == FITS || what < worst)) worst = what;
    if (index >= 0) c.is_wanted[index] = true;
  }
  rheos_status *status = worst != FITS ? report(&c, checkpoint, worst) : NULL;
  rheos__free(c.is_wanted);
  return status;
}
