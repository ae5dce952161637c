// Metrics: counters, gauges and samplers with cells by labels. A metric is its handle alone: nobody
// collects them, so two of one name are two.
#include "handles.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

typedef struct buckets {
  int count;  // of limits; one more bucket takes what is above
  double limits[];
} buckets;

typedef struct cell cell;

// Behind all handles of metrics.
typedef struct metric {
  pthread_mutex_t lock;
  cell *cells;
  buckets *buckets;  // of samplers, its own
} metric;

// Behind all handles of cells: each uses what its kind has.
struct cell {
  metric *owner;
  cell *next;
  int64_t number;
  char *text;
  double min, max, sum, sum_squares;
  int64_t *counts;  // one for each bucket
  size_t labels_bytes;
  char labels[];  // one after the other, each with its NUL
};

// ---- Metrics and cells

static void *new_metric(const char *name, const buckets *from, bool is_sampler, TF_Status *status) {
  capi_succeed(status);
  if (!capi_need(name, "the metric's name", status) ||
      (is_sampler && !capi_need(from, "the buckets", status))) {
    return NULL;
  }
  metric *m = calloc(1, sizeof *m);
  size_t bytes = from == NULL ? 0 : sizeof *from + (size_t)from->count * sizeof *from->limits;
  if (m != NULL && is_sampler) m->buckets = malloc(bytes);
  if (m == NULL || (is_sampler && m->buckets == NULL)) {
    free(m);
    capi_fail_for_memory(status);
    return NULL;
  }
  if (is_sampler) memcpy(m->buckets, from, bytes);
  pthread_mutex_init(&m->lock, NULL);
  return m;
}

static void delete_metric(void *handle) {
  metric *m = handle;
  if (m == NULL) return;
  while (m->cells != NULL) {
    cell *next = m->cells->next;
    free(m->cells->text);
    free(m->cells->counts);
    free(m->cells);
    m->cells = next;
  }
  free(m->buckets);
  pthread_mutex_destroy(&m->lock);
  free(m);
}

static cell *new_cell(metric *m, const char *labels, size_t labels_bytes) {
  cell *c = calloc(1, sizeof *c + labels_bytes);
  if (c == NULL) return NULL;
  if (m->buckets != NULL) {
    c->counts = calloc((size_t)m->buckets->count + 1, sizeof *c->counts);
    if (c->counts == NULL) {
      free(c);
      return NULL;
    }
  }
  c->owner = m;
  c->labels_bytes = labels_bytes;
  if (labels_bytes > 0) memcpy(c->labels, labels, labels_bytes);
  c->next = m->cells;
  m->cells = c;
  return c;
}

// The cell of these labels, which the metric owns; NULL when memory is short.
static void *get_cell(void *handle, const char *const *values, int count) {
  metric *m = handle;
  char *labels = NULL;
  size_t bytes = 0;
  if (m == NULL) return NULL;
  for (int i = 0; i < count; i++) {
    if (values[i] == NULL) return NULL;
    bytes += strlen(values[i]) + 1;
  }
  labels = malloc(bytes + 1);
  if (labels == NULL) return NULL;
  char *at = labels;
  for (int i = 0; i < count; i++) at = stpcpy(at, values[i]) + 1;
  pthread_mutex_lock(&m->lock);
  cell *found = m->cells;
  while (found != NULL &&
         (found->labels_bytes != bytes || memcmp(found->labels, labels, bytes) != 0)) {
    found = found->next;
  }
  if (found == NULL) found = new_cell(m, labels, bytes);
  pthread_mutex_unlock(&m->lock);
  free(labels);
  return found;
}

// ---- Handles by kind and number of labels

#define LABELS_0
#define LABELS_1 , const char *label1
#define LABELS_2 , const char *label1, const char *label2
#define LABELS_3 , const char *label1, const char *label2, const char *label3
#define LABELS_4 , const char *label1, const char *label2, const char *label3, const char *label4
#define VALUES_0 NULL
#define VALUES_1 ((const char *const[]){label1})
#define VALUES_2 ((const char *const[]){label1, label2})
#define VALUES_3 ((const char *const[]){label1, label2, label3})
#define VALUES_4 ((const char *const[]){label1, label2, label3, label4})

#pragma GCC diagnostic ignored "-Wunused-parameter"  // descriptions and labels' names

#define METRIC(kind, n)                                                                     \
  TFE_Monitoring##kind##n *TFE_MonitoringNew##kind##n(const char *name, TF_Status *status,  \
                                                      const char *description LABELS_##n) { \
    return new_metric(name, NULL, false, status);                                           \
  }                                                                                         \
  HANDLES(kind, n)
#define SAMPLER(n)                                                        \
  TFE_MonitoringSampler##n *TFE_MonitoringNewSampler##n(                  \
      const char *name, TFE_MonitoringBuckets *limits, TF_Status *status, \
      const char *description LABELS_##n) {                               \
    return new_metric(name, (const buckets *)limits, true, status);       \
  }                                                                       \
  HANDLES(Sampler, n)
#define HANDLES(kind, n)                                                                         \
  void TFE_MonitoringDelete##kind##n(TFE_Monitoring##kind##n *metric) { delete_metric(metric); } \
  TFE_Monitoring##kind##Cell *TFE_MonitoringGetCell##kind##n(                                    \
      TFE_Monitoring##kind##n *metric LABELS_##n) {                                              \
    return get_cell(metric, VALUES_##n, n);                                                      \
  }

METRIC(Counter, 0)
METRIC(Counter, 1)
METRIC(Counter, 2)
METRIC(IntGauge, 0)
METRIC(IntGauge, 1)
METRIC(IntGauge, 2)
METRIC(StringGauge, 0)
METRIC(StringGauge, 1)
METRIC(StringGauge, 2)
METRIC(StringGauge, 3)
METRIC(StringGauge, 4)
METRIC(BoolGauge, 0)
METRIC(BoolGauge, 1)
METRIC(BoolGauge, 2)
SAMPLER(0)
SAMPLER(1)
SAMPLER(2)

// Puts a copy into a buffer, whatever was in it: TensorFlow does not look, and programs give one
// that nobody has filled.
static void put(TF_Buffer *buf, const void *bytes, size_t size_bytes) {
  *buf = (TF_Buffer){0};
  capi_buffer_copy(buf, bytes, size_bytes, NULL);
}

// ---- Numbers

static void change(void *handle, int64_t value, bool is_added) {
  cell *c = handle;
  if (c == NULL) return;
  pthread_mutex_lock(&c->owner->lock);
  c->number = (int64_t)((is_added ? (uint64_t)c->number : 0) + (uint64_t)value);
  pthread_mutex_unlock(&c->owner->lock);
}

static int64_t number_of(void *handle) {
  cell *c = handle;
  if (c == NULL) return 0;
  pthread_mutex_lock(&c->owner->lock);
  int64_t number = c->number;
  pthread_mutex_unlock(&c->owner->lock);
  return number;
}

void TFE_MonitoringCounterCellIncrementBy(TFE_MonitoringCounterCell *cell, int64_t value) {
  change(cell, value, true);
}

int64_t TFE_MonitoringCounterCellValue(TFE_MonitoringCounterCell *cell) { return number_of(cell); }

void TFE_MonitoringIntGaugeCellSet(TFE_MonitoringIntGaugeCell *cell, int64_t value) {
  change(cell, value, false);
}

int64_t TFE_MonitoringIntGaugeCellValue(TFE_MonitoringIntGaugeCell *cell) {
  return number_of(cell);
}

void TFE_MonitoringBoolGaugeCellSet(TFE_MonitoringBoolGaugeCell *cell, bool value) {
  change(cell, value, false);
}

bool TFE_MonitoringBoolGaugeCellValue(TFE_MonitoringBoolGaugeCell *cell) {
  return number_of(cell) != 0;
}

// ---- Strings

void TFE_MonitoringStringGaugeCellSet(TFE_MonitoringStringGaugeCell *handle, const char *value) {
  cell *c = (cell *)handle;
  char *copy = value == NULL ? NULL : strdup(value);
  if (c == NULL || copy == NULL) {
    free(copy);
    return;
  }
  pthread_mutex_lock(&c->owner->lock);
  free(c->text);
  c->text = copy;
  pthread_mutex_unlock(&c->owner->lock);
}

void TFE_MonitoringStringGaugeCellValue(TFE_MonitoringStringGaugeCell *handle, TF_Buffer *buf) {
  cell *c = (cell *)handle;
  if (c == NULL || buf == NULL) return;
  pthread_mutex_lock(&c->owner->lock);
  const char *text = c->text == NULL ? "" : c->text;
  put(buf, text, strlen(text));
  pthread_mutex_unlock(&c->owner->lock);
}

// ---- Samplers

TFE_MonitoringBuckets *TFE_MonitoringNewExponentialBuckets(double scale, double growth_factor,
                                                           int bucket_count) {
  if (!(scale > 0) || !(growth_factor > 1) || bucket_count <= 0) return NULL;
  buckets *b = malloc(sizeof *b + (size_t)bucket_count * sizeof *b->limits);
  if (b == NULL) return NULL;
  b->count = bucket_count;
  for (int i = 0; i < bucket_count; i++, scale *= growth_factor) b->limits[i] = scale;
  return (TFE_MonitoringBuckets *)b;
}

void TFE_MonitoringDeleteBuckets(TFE_MonitoringBuckets *limits) { free(limits); }

void TFE_MonitoringSamplerCellAdd(TFE_MonitoringSamplerCell *handle, double value) {
  cell *c = (cell *)handle;
  if (c == NULL) return;
  const buckets *b = c->owner->buckets;
  pthread_mutex_lock(&c->owner->lock);
  int at = 0;
  while (at < b->count && value >= b->limits[at]) at++;
  if (c->number == 0 || value < c->min) c->min = value;
  if (c->number == 0 || value > c->max) c->max = value;
  c->counts[at]++;
  c->number++;
  c->sum += value;
  c->sum_squares += value * value;
  pthread_mutex_unlock(&c->owner->lock);
}

static void write_doubles(capi_message *message, int field, const double *values, size_t count) {
  capi_write_bytes(message, field, values, count * sizeof *values);
}

static void write_double(capi_message *message, int field, double value) {
  uint8_t key = (uint8_t)(field << 3 | 1);
  capi_write_fields(message, &key, 1);
  capi_write_fields(message, &value, sizeof value);
}

// A HistogramProto: fields 1 to 5 are the smallest, the largest, how many, their sum and the sum of
// squares, 6 and 7 the buckets' limits and counts.
void TFE_MonitoringSamplerCellValue(TFE_MonitoringSamplerCell *handle, TF_Buffer *buf) {
  cell *c = (cell *)handle;
  capi_message message = {0};
  if (c == NULL || buf == NULL) return;
  const buckets *b = c->owner->buckets;
  size_t count = (size_t)b->count + 1;
  double *all = malloc(2 * count * sizeof *all);
  if (all == NULL) return;
  memcpy(all, b->limits, (count - 1) * sizeof *all);
  all[count - 1] = DBL_MAX;
  pthread_mutex_lock(&c->owner->lock);
  for (size_t i = 0; i < count; i++) all[count + i] = (double)c->counts[i];
  write_double(&message, 1, c->min);
  write_double(&message, 2, c->max);
  write_double(&message, 3, (double)c->number);
  write_double(&message, 4, c->sum);
  write_double(&message, 5, c->sum_squares);
  pthread_mutex_unlock(&c->owner->lock);
  write_doubles(&message, 6, all, count);
  write_doubles(&message, 7, all + count, count);
  if (!message.failed) put(buf, message.bytes, message.size);
  free(message.bytes);
  free(all);
}
