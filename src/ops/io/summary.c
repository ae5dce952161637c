// Summaries: what TensorBoard shows, as serialized Summary messages. Byte for byte as TensorFlow's
// kernels write them; the buckets of histograms are its buckets.
#include "ops/io/summary.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ops/kit/op_util.h"
#include "ops/kit/string_util.h"

static void put_tag(rheos__buffer *value, const rheos_string *tag) {
  if (tag->size_bytes > 0)
    rheos__wire_put_bytes(value, RHEOS__VALUE_TAG, tag->data, tag->size_bytes);
}

rheos_status *rheos__give_summary(rheos__buffer *message, rheos_tensor **out_tensor) {
  rheos_status *status = message->failed
                             ? rheos__out_of_memory()
                             : rheos__tensor_new(RHEOS_STRING, &RHEOS_SCALAR, out_tensor);
  if (status == NULL) {
    status = rheos_tensor_set_string(*out_tensor, 0, message->size_bytes > 0 ? message->data : "",
                                     message->size_bytes);
  }
  rheos__buffer_deinit(message);
  return status;
}

rheos_status *rheos__give_summary_value(rheos__buffer *value, rheos_tensor **out_tensor) {
  rheos__buffer summary = {0};
  rheos__wire_put_message(&summary, RHEOS__SUMMARY_VALUE, value);
  return rheos__give_summary(&summary, out_tensor);
}

void rheos__put_media_tag(rheos__buffer *value, const rheos_string *tag, const char *kind,
                          int64_t number, int64_t max_outputs) {
  rheos__buffer name = {0};
  char text[32] = "";
  if (max_outputs > 1) snprintf(text, sizeof text, "/%lld", (long long)number);
  rheos__buffer_put(&name, tag->data, tag->size_bytes);
  rheos__buffer_put(&name, kind, strlen(kind));
  rheos__buffer_put(&name, text, strlen(text));
  rheos__wire_put_message(value, RHEOS__VALUE_TAG, &name);
}

static double number_at(const rheos_tensor *tensor, int64_t i) {
  switch (tensor->dtype) {
    case RHEOS_FLOAT: return (double)((const float *)tensor->data)[i];
    case RHEOS_DOUBLE: return ((const double *)tensor->data)[i];
    case RHEOS_HALF: return (double)rheos__half_to_float(((const uint16_t *)tensor->data)[i]);
    case RHEOS_BFLOAT16:
      return (double)rheos__bfloat16_to_float(((const uint16_t *)tensor->data)[i]);
    case RHEOS_UINT64: return (double)((const uint64_t *)tensor->data)[i];
    default: return (double)rheos__tensor_int_at(tensor, i);
  }
}

#define REAL_NUMBERS \
  "{float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}"

// ---- ScalarSummary

static rheos_status *compute_scalar(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                    rheos_tensor **outputs) {
  (void)state, (void)step;
  const rheos_tensor *tags = inputs[0], *values = inputs[1];
  const rheos_string *tag = tags->data;
  const bool both_single = tags->shape.rank == 0 && values->num_elements == 1;
  if (!rheos_shape_equal(&tags->shape, &values->shape) && !both_single) {
    rheos__shape_text a, b;
    return RHEOS_INVALID("tags and values are not the same shape: %s != %s",
                         rheos__shape_text_of(&tags->shape, &a),
                         rheos__shape_text_of(&values->shape, &b));
  }
  rheos__buffer summary = {0};
  for (int64_t i = 0; i < tags->num_elements; i++) {
    rheos__buffer value = {0};
    put_tag(&value, &tag[i]);
    rheos__wire_put_float(&value, RHEOS__VALUE_SIMPLE, (float)number_at(values, i));
    rheos__wire_put_message(&summary, RHEOS__SUMMARY_VALUE, &value);
  }
  return rheos__give_summary(&summary, &outputs[0]);
}

const rheos__op_def rheos__op_ScalarSummary = {
    .name = "ScalarSummary",
    .signature = "tags: string, values: T -> summary: string; T: " REAL_NUMBERS,
    .doc = "A summary of numbers, each under its tag.",
    .shape = rheos__shape_scalar,
    .gradient = rheos__no_gradient,
    .compute = compute_scalar,
};

// ---- HistogramSummary

// Bounds grow by a tenth from 1e-12 to 1e20, on both sides of 0; the outermost are the largest
// double.
enum { MAX_SIDE = 1000 };
static const double FIRST_BOUND = 1e-12, LAST_BOUND = 1e20, GROWTH = 1.1;

typedef struct histogram {
  const char *node_name;
  int num_bounds;
  double bounds[2 * MAX_SIDE + 1];
} histogram;

static void make_bounds(histogram *h) {
  double positive[MAX_SIDE];
  int side = 0;
  for (double bound = FIRST_BOUND; bound < LAST_BOUND && side < MAX_SIDE - 1; bound *= GROWTH) {
    positive[side++] = bound;
  }
  positive[side++] = DBL_MAX;
  h->num_bounds = 2 * side + 1;
  h->bounds[side] = 0;
  for (int i = 0; i < side; i++) {
    h->bounds[side + 1 + i] = positive[i];
    h->bounds[side - 1 - i] = -positive[i];
  }
}

// The first bound above the value: where it counts.
static int bucket_of(const histogram *h, double value) {
  int low = 0, high = h->num_bounds - 1;
  while (low < high) {
    const int middle = (low + high) / 2;
    if (h->bounds[middle] > value) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

typedef struct moments {
  double min, max, count, sum, sum_squares;
} moments;

static void put_moment(rheos__buffer *message, int field, double value) {
  if (value != 0 || signbit(value)) rheos__wire_put_double(message, field, value);
}

// Empty buckets in a row are one, up to the last one's bound.
static void put_buckets(const histogram *h, const double *buckets, rheos__buffer *message) {
  rheos__buffer limits = {0}, counts = {0};
  for (int i = 0; i < h->num_bounds; i++) {
    while (buckets[i] == 0 && i + 1 < h->num_bounds && buckets[i + 1] == 0) i++;
    rheos__buffer_put(&limits, &h->bounds[i], sizeof(double));
    rheos__buffer_put(&counts, &buckets[i], sizeof(double));
  }
  rheos__wire_put_message(message, 6, &limits);
  rheos__wire_put_message(message, 7, &counts);
}

static const moments NOTHING = {.min = DBL_MAX, .max = -DBL_MAX};

static void count_value(const histogram *h, double value, double *buckets, moments *m) {
  buckets[bucket_of(h, value)] += 1;
  if (value < m->min) m->min = value;
  if (value > m->max) m->max = value;
  m->count += 1;
  m->sum += value;
  m->sum_squares += value * value;
}

static rheos_status *count_values(const histogram *h, const rheos_tensor *values, double *buckets,
                                  moments *m) {
  *m = NOTHING;
  for (int64_t i = 0; i < values->num_elements; i++) {
    const double value = number_at(values, i);
    if (!isfinite(value)) {
      return RHEOS_INVALID("%s in summary histogram for: %s", isnan(value) ? "Nan" : "Infinity",
                           h->node_name);
    }
    count_value(h, value, buckets, m);
  }
  return NULL;
}

static void put_counted(const histogram *h, const double *buckets, const moments *m,
                        rheos__buffer *value) {
  rheos__buffer message = {0};
  const double numbers[] = {m->min, m->max, m->count, m->sum, m->sum_squares};
  for (int i = 0; i < 5; i++) put_moment(&message, i + 1, numbers[i]);
  put_buckets(h, buckets, &message);
  rheos__wire_put_message(value, RHEOS__VALUE_HISTOGRAM, &message);
}

static rheos_status *put_histogram(const histogram *h, const rheos_tensor *values,
                                   rheos__buffer *value) {
  double buckets[2 * MAX_SIDE + 1] = {0};
  moments m;
  RHEOS_TRY(count_values(h, values, buckets, &m));
  put_counted(h, buckets, &m, value);
  return NULL;
}

struct rheos__running_histogram {
  histogram bounds;
  moments moments;
  double buckets[2 * MAX_SIDE + 1];
};

rheos__running_histogram *rheos__running_histogram_new(void) {
  rheos__running_histogram *running = rheos__alloc_zeroed(sizeof *running);
  if (running == NULL) return NULL;
  make_bounds(&running->bounds);
  running->moments = NOTHING;
  return running;
}

void rheos__running_histogram_add(rheos__running_histogram *running, double value) {
  if (isfinite(value)) count_value(&running->bounds, value, running->buckets, &running->moments);
}

void rheos__running_histogram_put(const rheos__running_histogram *running, rheos__buffer *value) {
  put_counted(&running->bounds, running->buckets, &running->moments, value);
}

rheos_status *rheos__put_histogram(const char *name, const rheos_tensor *values,
                                   rheos__buffer *value) {
  histogram h = {.node_name = name};
  make_bounds(&h);
  return put_histogram(&h, values, value);
}

static rheos_status *compute_histogram(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                       rheos_tensor **outputs) {
  (void)step;
  const rheos_string *tag;
  RHEOS_TRY(rheos__string_scalar(inputs[0], "tag", &tag));
  rheos__buffer value = {0};
  put_tag(&value, tag);
  rheos_status *status = put_histogram(state, inputs[1], &value);
  if (status == NULL) return rheos__give_summary_value(&value, &outputs[0]);
  rheos__buffer_deinit(&value);
  return status;
}

static rheos_status *prepare_histogram(rheos__prepare *p) {
  histogram *h = RHEOS_NEW_STATE(p, histogram);
  if (h == NULL) return rheos__out_of_memory();
  h->node_name = rheos__arena_strdup(p->arena, p->node_name);
  if (h->node_name == NULL) return rheos__out_of_memory();
  make_bounds(h);
  p->compute = compute_histogram;
  return NULL;
}

const rheos__op_def rheos__op_HistogramSummary = {
    .name = "HistogramSummary",
    .signature = "tag: string, values: T -> summary: string; T: " REAL_NUMBERS " = float",
    .doc = "A summary of how the values are distributed.",
    .flags = RHEOS_OP_WANTS_NAME,
    .shape = rheos__shape_scalar,
    .gradient = rheos__no_gradient,
    .prepare = prepare_histogram,
};

// ---- MergeSummary

typedef struct merged {
  rheos_string *tags;
  size_t count, capacity;
  rheos__buffer summary;
} merged;

static rheos_status *not_a_summary(void) {
  return RHEOS_INVALID("Could not parse one of the summary inputs");
}

static rheos_status *tag_of(rheos__wire value, rheos_string *out_tag) {
  rheos__wire_field field;
  bool sound;
  *out_tag = (rheos_string){0};
  while (rheos__wire_next(&value, &field, &sound)) {
    if (field.number != RHEOS__VALUE_TAG || field.type != RHEOS__WIRE_BYTES) continue;
    *out_tag = rheos__borrow_string(field.data.at, rheos__wire_size(field.data));
  }
  return sound ? NULL : not_a_summary();
}

static rheos_status *merge_one(merged *m, const rheos_string *summary) {
  rheos__wire wire = rheos__wire_of(summary->data, summary->size_bytes);
  rheos__wire_field field;
  bool sound;
  while (rheos__wire_next(&wire, &field, &sound)) {
    if (field.number != RHEOS__SUMMARY_VALUE) continue;
    if (field.type != RHEOS__WIRE_BYTES) return not_a_summary();
    if (!RHEOS_RESERVE(m->tags, m->capacity, m->count + 1)) return rheos__out_of_memory();
    RHEOS_TRY(tag_of(field.data, &m->tags[m->count]));
    m->count++;
    rheos__wire_put_bytes(&m->summary, RHEOS__SUMMARY_VALUE, field.data.at,
                          rheos__wire_size(field.data));
  }
  return sound ? NULL : not_a_summary();
}

static int compare_tags(const void *a, const void *b) {
  const rheos_string *x = a, *y = b;
  if (x->size_bytes != y->size_bytes) return x->size_bytes < y->size_bytes ? -1 : 1;
  return x->size_bytes == 0 ? 0 : memcmp(x->data, y->data, x->size_bytes);
}

static rheos_status *check_tags(merged *m) {
  if (m->count > 1) qsort(m->tags, m->count, sizeof *m->tags, compare_tags);
  for (size_t i = 1; i < m->count; i++) {
    if (compare_tags(&m->tags[i - 1], &m->tags[i]) != 0) continue;
    return RHEOS_INVALID("Duplicate tag %.*s found in summary inputs", (int)m->tags[i].size_bytes,
                         m->tags[i].size_bytes > 0 ? m->tags[i].data : "");
  }
  return NULL;
}

typedef struct merge_state {
  int32_t num_inputs;
} merge_state;

static rheos_status *merge_all(merged *m, rheos_tensor *const *inputs, int32_t num_inputs) {
  for (int32_t k = 0; k < num_inputs; k++) {
    const rheos_string *summaries = inputs[k]->data;
    for (int64_t i = 0; i < inputs[k]->num_elements; i++) RHEOS_TRY(merge_one(m, &summaries[i]));
  }
  return check_tags(m);
}

static rheos_status *compute_merge(void *argument, rheos__step *step, rheos_tensor *const *inputs,
                                   rheos_tensor **outputs) {
  (void)step;
  const merge_state *state = argument;
  merged m = {0};
  rheos_status *status = merge_all(&m, inputs, state->num_inputs);
  rheos__free(m.tags);
  if (status == NULL) return rheos__give_summary(&m.summary, &outputs[0]);
  rheos__buffer_deinit(&m.summary);
  return status;
}

static rheos_status *prepare_merge(rheos__prepare *p) {
  merge_state *state = RHEOS_NEW_STATE(p, merge_state);
  if (state == NULL) return rheos__out_of_memory();
  state->num_inputs = p->num_inputs;
  p->compute = compute_merge;
  return NULL;
}

const rheos__op_def rheos__op_MergeSummary = {
    .name = "MergeSummary",
    .signature = "inputs: N * string -> summary: string; N: int >= 1",
    .doc = "One summary of all values in the `inputs`, whose tags differ.",
    .shape = rheos__shape_scalar,
    .gradient = rheos__no_gradient,
    .prepare = prepare_merge,
};

// ---- TensorSummary, TensorSummaryV2

typedef struct tensor_state {
  const char *node_name;
} tensor_state;

static void put_tensor(rheos__buffer *value, const rheos_tensor *tensor) {
  rheos__buffer message = {0};
  rheos__wire_put_tensor(&message, tensor);
  rheos__wire_put_message(value, RHEOS__VALUE_TENSOR, &message);
}

static rheos_status *compute_tensor(void *argument, rheos__step *step, rheos_tensor *const *inputs,
                                    rheos_tensor **outputs) {
  (void)step;
  const tensor_state *state = argument;
  rheos__buffer value = {0};
  rheos__wire_put_bytes(&value, RHEOS__VALUE_NODE_NAME, state->node_name, strlen(state->node_name));
  put_tensor(&value, inputs[0]);
  return rheos__give_summary_value(&value, &outputs[0]);
}

static rheos_status *compute_tensor_v2(void *argument, rheos__step *step,
                                       rheos_tensor *const *inputs, rheos_tensor **outputs) {
  (void)argument, (void)step;
  const rheos_string *tag, *metadata;
  RHEOS_TRY(rheos__string_scalar(inputs[0], "tag", &tag));
  RHEOS_TRY(rheos__string_scalar(inputs[2], "serialized_summary_metadata", &metadata));
  rheos__buffer value = {0};
  put_tag(&value, tag);
  put_tensor(&value, inputs[1]);
  rheos__wire_put_bytes(&value, RHEOS__VALUE_METADATA, metadata->data, metadata->size_bytes);
  return rheos__give_summary_value(&value, &outputs[0]);
}

static rheos_status *prepare_tensor(rheos__prepare *p) {
  const int data = p->num_inputs == 3;
  const rheos_dtype dtype = p->input_dtypes[data];
  if (dtype == RHEOS_RESOURCE || dtype == RHEOS_VARIANT) return rheos__no_kernel(p, dtype);
  tensor_state *state = RHEOS_NEW_STATE(p, tensor_state);
  if (state == NULL) return rheos__out_of_memory();
  if (!data) {
    state->node_name = rheos__arena_strdup(p->arena, p->node_name);
    if (state->node_name == NULL) return rheos__out_of_memory();
  }
  p->compute = data ? compute_tensor_v2 : compute_tensor;
  return NULL;
}

const rheos__op_def rheos__op_TensorSummary = {
    .name = "TensorSummary",
    .signature =
        "tensor: T -> summary: string; T: type; description: string = \"\"; "
        "labels: list(string) = []; display_name: string = \"\"",
    .doc = "A summary that holds a tensor, under the name of the node.",
    .flags = RHEOS_OP_WANTS_NAME,
    .shape = rheos__shape_scalar,
    .gradient = rheos__no_gradient,
    .prepare = prepare_tensor,
};

const rheos__op_def rheos__op_TensorSummaryV2 = {
    .name = "TensorSummaryV2",
    .signature =
        "tag: string, tensor: T, serialized_summary_metadata: string -> summary: string; "
        "T: type",
    .doc = "A summary that holds a tensor, with a SummaryMetadata message for those who show it.",
    .shape = rheos__shape_scalar,
    .gradient = rheos__no_gradient,
    .prepare = prepare_tensor,
};

// ---- Timestamp

static rheos_status *compute_timestamp(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                       rheos_tensor **outputs) {
  (void)state, (void)step, (void)inputs;
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  const double seconds = (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
  return rheos_tensor_from_values(RHEOS_DOUBLE, RHEOS_SCALAR, &seconds, &outputs[0]);
}

const rheos__op_def rheos__op_Timestamp = {
    .name = "Timestamp",
    .signature = "-> ts: double",
    .doc = "Seconds since 1970, when the op runs.",
    .flags = RHEOS_OP_STATEFUL,
    .shape = rheos__shape_scalar,
    .gradient = rheos__no_gradient,
    .compute = compute_timestamp,
};
