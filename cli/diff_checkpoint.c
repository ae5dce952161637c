// What differs between two checkpoints: tensors by name, and their values.
#include <math.h>
#include <rheos/train.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "diff.h"
#include "elements.h"
#include "show.h"
#include "status.h"

typedef struct sides {
  rheos_checkpoint_reader *a, *b;
  const diff_options *options;
  json *j;  // NULL: text
  int64_t num_same, num_changed, num_only_a, num_only_b;
} sides;

// How values of one dtype and shape differ.
typedef struct difference {
  int64_t count;   // of elements
  int64_t first;   // the first of them; -1: none
  double largest;  // distance of two numbers
  bool is_numeric;
} difference;

static size_t find(const rheos_checkpoint_reader *reader, const char *name) {
  const size_t count = rheos_checkpoint_reader_count(reader);
  size_t i = 0;
  while (i < count && strcmp(rheos_checkpoint_reader_name(reader, i), name) != 0) i++;
  return i;
}

static double value_of(const element *e) {
  switch (e->kind) {
    case ELEMENT_SIGNED: return (double)e->i;
    case ELEMENT_UNSIGNED:
    case ELEMENT_TRUTH: return (double)e->u;
    default: return e->re;
  }
}

static bool is_near(double a, double b, double tolerance) {
  if (a == b || (isnan(a) && isnan(b))) return true;
  const double size = fabs(a) > fabs(b) ? fabs(a) : fabs(b);
  return fabs(a - b) <= tolerance * size;
}

static bool are_bytes_equal(const rheos_string *a, const rheos_string *b) {
  return a->size_bytes == b->size_bytes &&
         (a->size_bytes == 0 || memcmp(a->data, b->data, a->size_bytes) == 0);
}

static difference compare_values(const rheos_tensor *a, const rheos_tensor *b, double tolerance) {
  difference d = {.first = -1, .is_numeric = true};
  const int64_t count = rheos_tensor_num_elements(a);
  for (int64_t i = 0; i < count; i++) {
    const element x = element_at(a, i), y = element_at(b, i);
    bool is_same;
    if (x.kind == ELEMENT_BYTES) {
      d.is_numeric = false;
      is_same = are_bytes_equal(&x.bytes, &y.bytes);
    } else {
      const double from = value_of(&x), to = value_of(&y);
      is_same = is_near(from, to, tolerance) &&
                (x.kind != ELEMENT_COMPLEX || is_near(x.im, y.im, tolerance));
      const double distance = hypot(from - to, x.im - y.im);
      if (!is_same && !(distance <= d.largest)) d.largest = distance;
    }
    if (is_same) continue;
    if (d.count++ == 0) d.first = i;
  }
  return d;
}

static void begin(const sides *s, char sign, const char *name) {
  if (s->j != NULL) {
    json_begin(s->j, NULL, '{');
    json_text(s->j, "name", name);
    if (sign != '~') json_text(s->j, "only_in", sign == '-' ? "a" : "b");
    return;
  }
  printf("%c ", sign);
  show_name(name);
}

static void tell_kind(const sides *s, const rheos_checkpoint_reader *reader, size_t i,
                      const char *key) {
  const rheos_shape shape = rheos_checkpoint_reader_shape(reader, i);
  const rheos_dtype dtype = rheos_checkpoint_reader_dtype(reader, i);
  if (s->j == NULL) {
    show_type(dtype, &shape);
    return;
  }
  if (key != NULL) json_begin(s->j, key, '{');
  show_json_type(s->j, dtype, &shape);
  if (key != NULL) json_end(s->j, '}');
}

static void tell_only(const sides *s, const rheos_checkpoint_reader *reader, size_t i, char sign) {
  begin(s, sign, rheos_checkpoint_reader_name(reader, i));
  if (s->j == NULL) fputs("  ", stdout);
  tell_kind(s, reader, i, NULL);
  if (s->j != NULL) {
    json_end(s->j, '}');
  } else {
    putchar('\n');
  }
}

static void tell_difference(const sides *s, const char *name, const difference *d,
                            const rheos_tensor *a, const rheos_tensor *b) {
  begin(s, '~', name);
  if (s->j != NULL) {
    json_int(s->j, "differing", d->count);
    json_int(s->j, "elements", rheos_tensor_num_elements(a));
    if (d->is_numeric) json_number(s->j, "largest", d->largest, false);
    json_int(s->j, "first", d->first);
    json_end(s->j, '}');
    return;
  }
  fputs(": ", stdout);
  show_grouped(d->count);
  fputs(" of ", stdout);
  show_grouped(rheos_tensor_num_elements(a));
  fputs(" elements differ", stdout);
  if (d->is_numeric) printf(", by %g at most", d->largest);
  printf("; element %lld: ", (long long)d->first);
  element_print(stdout, a, d->first);
  fputs(" -> ", stdout);
  element_print(stdout, b, d->first);
  putchar('\n');
}

static rheos_status *compare_tensor(sides *s, size_t i, size_t k) {
  const char *name = rheos_checkpoint_reader_name(s->a, i);
  const rheos_shape shape_a = rheos_checkpoint_reader_shape(s->a, i);
  const rheos_shape shape_b = rheos_checkpoint_reader_shape(s->b, k);
  if (rheos_checkpoint_reader_dtype(s->a, i) != rheos_checkpoint_reader_dtype(s->b, k) ||
      !rheos_shape_equal(&shape_a, &shape_b)) {
    begin(s, '~', name);
    if (s->j == NULL) fputs(": ", stdout);
    tell_kind(s, s->a, i, "a");
    if (s->j == NULL) fputs(" -> ", stdout);
    tell_kind(s, s->b, k, "b");
    if (s->j != NULL) {
      json_end(s->j, '}');
    } else {
      putchar('\n');
    }
    s->num_changed++;
    return NULL;
  }
  rheos_tensor *a = NULL, *b = NULL;
  rheos_status *status = rheos_checkpoint_reader_read(s->a, i, &a);
  if (status == NULL) status = rheos_checkpoint_reader_read(s->b, k, &b);
  if (status == NULL) {
    const difference d = compare_values(a, b, s->options->tolerance);
    if (d.count > 0) tell_difference(s, name, &d, a, b);
    ++*(d.count > 0 ? &s->num_changed : &s->num_same);
  }
  rheos_tensor_unref(a);
  rheos_tensor_unref(b);
  return status;
}

static rheos_status *compare(sides *s) {
  const size_t num_a = rheos_checkpoint_reader_count(s->a);
  const size_t num_b = rheos_checkpoint_reader_count(s->b);
  for (size_t i = 0; i < num_a; i++) {
    const size_t k = find(s->b, rheos_checkpoint_reader_name(s->a, i));
    if (k < num_b) {
      TRY(compare_tensor(s, i, k));
      continue;
    }
    tell_only(s, s->a, i, '-');
    s->num_only_a++;
  }
  for (size_t k = 0; k < num_b; k++) {
    if (find(s->a, rheos_checkpoint_reader_name(s->b, k)) < num_a) continue;
    tell_only(s, s->b, k, '+');
    s->num_only_b++;
  }
  return NULL;
}

static void tell_counts(const sides *s) {
  if (s->j == NULL) {
    printf("%lld tensors the same, %lld changed, %lld only in the first, %lld only in the second\n",
           (long long)s->num_same, (long long)s->num_changed, (long long)s->num_only_a,
           (long long)s->num_only_b);
    return;
  }
  json_begin(s->j, "counts", '{');
  json_int(s->j, "same", s->num_same);
  json_int(s->j, "changed", s->num_changed);
  json_int(s->j, "only_in_a", s->num_only_a);
  json_int(s->j, "only_in_b", s->num_only_b);
  json_end(s->j, '}');
}

rheos_status *diff_checkpoints(const source *a, const source *b, const diff_options *options,
                               diff_result *out) {
  json j = {.out = stdout};
  sides s = {.options = options, .j = options->json ? &j : NULL};
  out->failed = a->path;
  rheos_status *status = rheos_checkpoint_reader_open(a->path, &s.a);
  if (status == NULL) {
    out->failed = b->path;
    status = rheos_checkpoint_reader_open(b->path, &s.b);
  }
  if (status == NULL) {
    out->failed = NULL;
    if (s.j != NULL) {
      json_begin(s.j, NULL, '{');
      json_text(s.j, "kind", "checkpoints");
      json_begin(s.j, "tensors", '[');
    }
    status = compare(&s);
    if (s.j != NULL) json_end(s.j, ']');
    if (status == NULL) tell_counts(&s);
    if (s.j != NULL) json_end(s.j, '}');
  }
  out->differs = s.num_changed + s.num_only_a + s.num_only_b > 0;
  rheos_checkpoint_reader_free(s.a);
  rheos_checkpoint_reader_free(s.b);
  return status;
}
