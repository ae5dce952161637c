// StringNGrams: the runs of so many strings in a row, in each row of a ragged tensor.
#include "base/numbers.h"
#include "ops/kit/array_util.h"
#include "ops/kit/string_util.h"

typedef struct ngrams_state {
  rheos_string separator, left_pad, right_pad;
  const int64_t *widths;
  int32_t num_widths;
  int64_t pad_width;
  bool keep_short;
  rheos_dtype splits_dtype;
} ngrams_state;

// Strings that an op may join in all; widths and padding are attributes, and can ask for anything.
static const int64_t MAX_TOKENS = INT64_C(1) << 31;

// The padding on each side of a row: no n-gram consists of padding alone.
static int64_t padding_of(const ngrams_state *s, int64_t width) {
  return s->pad_width >= 0 && s->pad_width < width ? s->pad_width : width - 1;
}

static int64_t count_of(const ngrams_state *s, int64_t length, int64_t width) {
  return rheos__max(0, length + 2 * padding_of(s, width) - width + 1);
}

// ---- One n-gram

static void add(rheos__text *text, const rheos_string *string) {
  rheos__text_add(text, string->size_bytes > 0 ? string->data : "", string->size_bytes);
}

// The n-gram of number `index` out of `count` in a row with so much padding.
static void join(const ngrams_state *s, const rheos_string *row, int64_t width, int64_t padding,
                 int64_t index, int64_t count, rheos__text *text) {
  const int64_t left = rheos__max(0, padding - index),
                right = rheos__max(0, padding - (count - 1 - index));
  const int64_t tokens = width - left - right, first = left > 0 ? 0 : index - padding;
  text->size = 0;
  for (int64_t i = 0; i < width; i++) {
    if (i > 0) add(text, &s->separator);
    if (i < left) {
      add(text, &s->left_pad);
    } else if (i < left + tokens) {
      add(text, &row[first + i - left]);
    } else {
      add(text, &s->right_pad);
    }
  }
}

typedef struct output {
  rheos_tensor *ngrams;
  int64_t place;
  rheos__text text;
} output;

static rheos_status *put_ngrams(const ngrams_state *s, const rheos_string *row, int64_t width,
                                int64_t padding, int64_t count, output *out) {
  for (int64_t i = 0; i < count; i++) {
    join(s, row, width, padding, i, count, &out->text);
    RHEOS_TRY(rheos__set_text(out->ngrams, out->place++, &out->text));
  }
  return NULL;
}

static rheos_status *put_row(const ngrams_state *s, const rheos_string *row, int64_t length,
                             output *out) {
  const int64_t before = out->place;
  for (int32_t w = 0; w < s->num_widths; w++) {
    const int64_t width = s->widths[w];
    RHEOS_TRY(put_ngrams(s, row, width, padding_of(s, width), count_of(s, length, width), out));
  }
  if (!s->keep_short || length == 0 || out->place > before) return NULL;
  return put_ngrams(s, row, length + 2 * s->pad_width, s->pad_width, 1, out);
}

// ---- The op

static rheos_status *check_splits(const rheos_tensor *splits, int64_t num_strings) {
  const int64_t count = splits->num_elements;
  if (count == 0) return NULL;
  int64_t previous = rheos__tensor_int_at(splits, 0);
  if (previous != 0) {
    return RHEOS_INVALID("First split value must be 0, got %lld", (long long)previous);
  }
  for (int64_t i = 1; i < count; i++) {
    const int64_t split = rheos__tensor_int_at(splits, i);
    if (split < previous || split > num_strings) {
      return RHEOS_INVALID("Invalid split value %lld, must be in [%lld, %lld]", (long long)split,
                           (long long)previous, (long long)num_strings);
    }
    previous = split;
  }
  if (previous == num_strings) return NULL;
  return RHEOS_INVALID("Last split value must be data size. Expected %lld, got %lld",
                       (long long)num_strings, (long long)previous);
}

// The number of n-grams of a row; what they join in all is added up.
static rheos_status *count_row(const ngrams_state *s, int64_t length, int64_t *tokens,
                               int64_t *out_count) {
  *out_count = 0;
  bool fits = true;
  for (int32_t w = 0; w < s->num_widths && fits; w++) {
    const int64_t count = count_of(s, length, s->widths[w]);
    int64_t joined;
    fits = !__builtin_mul_overflow(count, s->widths[w], &joined) && joined <= MAX_TOKENS;
    if (!fits) break;
    *out_count += count;
    *tokens += joined;
    fits = *tokens <= MAX_TOKENS;
  }
  if (fits && s->keep_short && length > 0 && *out_count == 0) {
    if (s->pad_width < 0) {
      return RHEOS_INVALID(
          "Pad width should be >= 0 when preserve_short_sequences is True and "
          "ngram_widths are not provided, got %lld",
          (long long)s->pad_width);
    }
    *out_count = 1;
    *tokens += length + 2 * s->pad_width;
    fits = *tokens <= MAX_TOKENS;
  }
  if (fits) return NULL;
  return rheos_status_new(RHEOS_RESOURCE_EXHAUSTED, "the n-grams join more than %lld strings",
                          (long long)MAX_TOKENS);
}

static rheos_status *make_splits(const ngrams_state *s, const rheos_tensor *splits,
                                 int64_t num_strings, rheos_tensor *ngram_splits,
                                 int64_t *out_total) {
  int64_t tokens = 0, total = 0;
  rheos__set_int(s->splits_dtype, ngram_splits->data, 0, 0);
  for (int64_t i = 1; i < splits->num_elements; i++) {
    int64_t count;
    const int64_t length = rheos__tensor_int_at(splits, i) - rheos__tensor_int_at(splits, i - 1);
    RHEOS_TRY(count_row(s, length, &tokens, &count));
    total += num_strings > 0 ? count : 0;  // as in TensorFlow: rows of nothing, though padded
    rheos__set_int(s->splits_dtype, ngram_splits->data, i, total);
  }
  *out_total = total;
  if (s->splits_dtype == RHEOS_INT64 || total <= INT32_MAX) return NULL;
  return RHEOS_INVALID("%lld n-grams are too many for splits of int32", (long long)total);
}

static rheos_status *compute(void *argument, rheos__step *step, rheos_tensor *const *inputs,
                             rheos_tensor **outputs) {
  (void)step;
  const ngrams_state *s = argument;
  const rheos_tensor *data = inputs[0], *splits = inputs[1];
  RHEOS_TRY(check_splits(splits, data->num_elements));
  RHEOS_TRY(rheos__tensor_new(s->splits_dtype, &splits->shape, &outputs[1]));
  int64_t total = 0;
  if (splits->num_elements > 0) {
    RHEOS_TRY(make_splits(s, splits, data->num_elements, outputs[1], &total));
  }
  RHEOS_TRY(rheos__tensor_new(RHEOS_STRING, &RHEOS_SHAPE(total), &outputs[0]));
  output out = {.ngrams = outputs[0]};
  rheos_status *status = NULL;
  for (int64_t i = 1; status == NULL && total > 0 && i < splits->num_elements; i++) {
    const int64_t first = rheos__tensor_int_at(splits, i - 1);
    const int64_t length = rheos__tensor_int_at(splits, i) - first;
    const rheos_string *row = length > 0 ? (const rheos_string *)data->data + first : NULL;
    status = put_row(s, row, length, &out);
  }
  rheos__text_deinit(&out.text);
  return status;
}

static rheos_string string_attr(const rheos__attrs *attrs, const char *name) {
  return rheos__attrs_find(attrs, name)->s;
}

static rheos_status *prepare(rheos__prepare *p) {
  ngrams_state *s = RHEOS_NEW_STATE(p, ngrams_state);
  if (s == NULL) return rheos__out_of_memory();
  const rheos_attr_value *widths = rheos__attrs_find(p->attrs, "ngram_widths");
  s->separator = string_attr(p->attrs, "separator");
  s->left_pad = string_attr(p->attrs, "left_pad");
  s->right_pad = string_attr(p->attrs, "right_pad");
  s->widths = widths->ints;
  s->num_widths = widths->count;
  s->pad_width = rheos__attr_int(p->attrs, "pad_width");
  s->keep_short = rheos__attr_bool(p->attrs, "preserve_short_sequences");
  s->splits_dtype = p->output_dtypes[1];
  for (int32_t i = 0; i < s->num_widths; i++) {
    if (s->widths[i] >= 1 && s->widths[i] <= INT32_MAX) continue;
    return RHEOS_INVALID("ngram_widths[%d] is %lld, which is not between 1 and 2147483647", (int)i,
                         (long long)s->widths[i]);
  }
  if (s->pad_width > INT32_MAX) {
    return RHEOS_INVALID("pad_width %lld is too large", (long long)s->pad_width);
  }
  p->compute = compute;
  return NULL;
}

static rheos_status *shape(rheos__infer *c) {
  rheos_shape data;
  RHEOS_TRY(rheos__infer_rank(c, 0, 1, &data));
  RHEOS_TRY(rheos__infer_rank(c, 1, 1, &c->output_shapes[1]));
  c->output_shapes[0] = RHEOS_SHAPE(-1);
  return NULL;
}

const rheos__op_def rheos__op_StringNGrams = {
    .name = "StringNGrams",
    .signature =
        "data: string, data_splits: Tsplits -> ngrams: string, ngrams_splits: Tsplits; "
        "separator: string; ngram_widths: list(int) >= 0; left_pad: string; "
        "right_pad: string; pad_width: int; preserve_short_sequences: bool; "
        "Tsplits: index = int64",
    .doc = "Each row's n-grams, joined by `separator`, of every width in `ngram_widths`.",
    .shape = shape,
    .prepare = prepare,
};
