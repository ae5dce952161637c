// Tensors as text in TensorFlow 1's format, which logs and tests of programs rely on.
#include "ops/kit/summarize.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ops/kit/polling.h"

enum { WRITTEN_BETWEEN_POLLS = 1 << 13 };

// The short form if it reads back as the same number, else one that always does.
static void add_float(rheos__text *text, float value) {
  char buffer[48];
  snprintf(buffer, sizeof buffer, "%.*g", FLT_DIG, (double)value);
  if (isfinite(value) && strtof(buffer, NULL) != value) {
    snprintf(buffer, sizeof buffer, "%.*g", FLT_DIG + 3, (double)value);
  }
  rheos__text_add_string(text, isnan(value) ? "nan" : buffer);
}

static void add_double(rheos__text *text, double value) {
  char buffer[48];
  snprintf(buffer, sizeof buffer, "%.*g", DBL_DIG, value);
  if (isfinite(value) && strtod(buffer, NULL) != value) {
    snprintf(buffer, sizeof buffer, "%.*g", DBL_DIG + 2, value);
  }
  rheos__text_add_string(text, isnan(value) ? "nan" : buffer);
}

// Bytes with C's escapes, others than printable ASCII in octal; those of UTF-8 may stay.
static void add_escaped(rheos__text *text, const rheos_string *string, bool keep_utf8) {
  for (size_t i = 0; i < string->size_bytes; ++i) {
    unsigned char c = (unsigned char)string->data[i];
    char buffer[8] = {(char)c};
    switch (c) {
      case '\n': strcpy(buffer, "\\n"); break;
      case '\r': strcpy(buffer, "\\r"); break;
      case '\t': strcpy(buffer, "\\t"); break;
      case '"': strcpy(buffer, "\\\""); break;
      case '\'': strcpy(buffer, "\\'"); break;
      case '\\': strcpy(buffer, "\\\\"); break;
      default:
        if (c < 0x20 || c == 0x7f || (c > 0x7f && !keep_utf8))
          snprintf(buffer, sizeof buffer, "\\%03o", (unsigned)c);
    }
    rheos__text_add_string(text, buffer);
  }
}

static void add_complex(rheos__text *text, const rheos_tensor *tensor, int64_t index) {
  rheos__text_add(text, "(", 1);
  if (tensor->dtype == RHEOS_COMPLEX64) {
    const float *parts = (const float *)tensor->data + 2 * index;
    add_float(text, parts[0]);
    rheos__text_add(text, ",", 1);
    add_float(text, parts[1]);
  } else {
    const double *parts = (const double *)tensor->data + 2 * index;
    add_double(text, parts[0]);
    rheos__text_add(text, ",", 1);
    add_double(text, parts[1]);
  }
  rheos__text_add(text, ")", 1);
}

static void add_element(rheos__text *text, const rheos_tensor *tensor, int64_t i) {
  char buffer[32];
  const void *data = tensor->data;
  switch (tensor->dtype) {
    case RHEOS_FLOAT: add_float(text, ((const float *)data)[i]); return;
    case RHEOS_DOUBLE: add_double(text, ((const double *)data)[i]); return;
    case RHEOS_HALF: add_float(text, rheos__half_to_float(((const uint16_t *)data)[i])); return;
    case RHEOS_BFLOAT16:
      add_float(text, rheos__bfloat16_to_float(((const uint16_t *)data)[i]));
      return;
    case RHEOS_COMPLEX64:
    case RHEOS_COMPLEX128: add_complex(text, tensor, i); return;
    case RHEOS_STRING: add_escaped(text, &((const rheos_string *)data)[i], false); return;
    case RHEOS_BOOL: rheos__text_add_string(text, ((const bool *)data)[i] ? "1" : "0"); return;
    case RHEOS_UINT64:
      snprintf(buffer, sizeof buffer, "%" PRIu64, ((const uint64_t *)data)[i]);
      break;
    case RHEOS_RESOURCE:
    case RHEOS_VARIANT: strcpy(buffer, "?"); break;
    default: snprintf(buffer, sizeof buffer, "%" PRId64, rheos__tensor_int_at(tensor, i));
  }
  rheos__text_add_string(text, buffer);
}

// The walk over a tensor. Dimensions are few (at most RHEOS_MAX_RANK), so it recurses over them.
typedef struct summary {
  rheos__text *text;
  const rheos_tensor *tensor;
  int64_t limit, next, since_poll;
} summary;

static void add_row(summary *s, int64_t count, bool is_outermost) {
  for (int64_t i = 0; i < count; ++i) {
    if (s->next >= s->limit) {
      if (!is_outermost) rheos__text_add_string(s->text, "...");
      return;
    }
    if (rheos__stops_after(&s->since_poll, 1, WRITTEN_BETWEEN_POLLS)) {
      s->next = s->limit;  // the text is not for anyone
      return;
    }
    if (i > 0) rheos__text_add(s->text, " ", 1);
    add_element(s->text, s->tensor, s->next++);
  }
}

static void add_dimension(summary *s, int32_t d) {
  const rheos_shape *shape = &s->tensor->shape;
  if (d == shape->rank - 1) {
    add_row(s, shape->dims[d], d == 0);
    return;
  }
  for (int64_t i = 0; i < shape->dims[d] && s->next < s->limit; ++i) {
    rheos__text_add(s->text, "[", 1);
    add_dimension(s, d + 1);
    rheos__text_add(s->text, "]", 1);
  }
}

void rheos__summarize(rheos__text *text, const rheos_tensor *tensor, int64_t max_entries) {
  int64_t count = tensor->num_elements;
  int64_t limit = max_entries >= 0 && max_entries < count ? max_entries : count;
  summary s = {text, tensor, limit, 0, 0};
  if (tensor->shape.rank == 0) {
    if (limit > 0) add_element(text, tensor, 0);
  } else {
    add_dimension(&s, 0);
  }
  if (count > limit) rheos__text_add_string(text, "...");
}

// ---- The style of TensorFlow 2

static void add_element_v2(rheos__text *text, const rheos_tensor *tensor, int64_t i) {
  if (tensor->dtype != RHEOS_STRING) {
    add_element(text, tensor, i);
    return;
  }
  rheos__text_add(text, "\"", 1);
  add_escaped(text, &((const rheos_string *)tensor->data)[i], true);
  rheos__text_add(text, "\"", 1);
}

// What goes between the parts of dimension `d`: one line more for each dimension below.
static void add_gap(rheos__text *text, int32_t d, int32_t rank) {
  if (d == rank - 1) {
    rheos__text_add(text, " ", 1);
    return;
  }
  for (int32_t k = d + 1; k < rank; ++k) rheos__text_add(text, "\n", 1);
  for (int32_t k = 0; k <= d; ++k) rheos__text_add(text, " ", 1);
}

// Recurses over dimensions; `first` is the element the part starts with, `count` how many it has.
static void add_dimension_v2(rheos__text *text, const rheos_tensor *tensor, int64_t edge_items,
                             int32_t d, int64_t first, int64_t count) {
  const int32_t rank = tensor->shape.rank;
  if (d == rank) {
    add_element_v2(text, tensor, first);
    return;
  }
  const int64_t dim = tensor->shape.dims[d], part = dim > 0 ? count / dim : 0;
  const bool all = edge_items < 0 || dim / 2 < edge_items || dim <= 2 * edge_items;
  rheos__text_add(text, "[", 1);
  for (int64_t i = 0; i < dim && !text->failed; ++i) {
    if (!all && i == edge_items) {
      add_gap(text, d, rank);
      rheos__text_add(text, "...", 3);
      i = dim - edge_items;
      if (i == dim) break;
    }
    if (i % WRITTEN_BETWEEN_POLLS == WRITTEN_BETWEEN_POLLS - 1 && rheos__is_stopping()) {
      text->failed = true;  // the text is not for anyone
    }
    if (i > 0) add_gap(text, d, rank);
    add_dimension_v2(text, tensor, edge_items, d + 1, first + i * part, part);
  }
  rheos__text_add(text, "]", 1);
}

void rheos__summarize_v2(rheos__text *text, const rheos_tensor *tensor, int64_t edge_items) {
  if (tensor->shape.rank == 0 && edge_items == 0) {
    rheos__text_add(text, "...", 3);
    return;
  }
  add_dimension_v2(text, tensor, edge_items, 0, 0, tensor->num_elements);
}
