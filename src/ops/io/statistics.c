// Statistics of pipelines: how long elements take and how large they are, in histograms that an
// aggregator keeps and gives as a Summary message. SetStatsAggregatorDataset tells the datasets
// that measure below it, but for those inside of functions, where their values go.
#include <pthread.h>
#include <stdio.h>

#include "base/file.h"
#include "ops/data/dataset.h"
#include "ops/io/summary.h"
#include "ops/kit/op_util.h"
#include "resource/resource.h"

// ---- Aggregators

typedef struct named_histogram {
  char *name;
  rheos__running_histogram *histogram;
} named_histogram;

typedef struct aggregator {
  rheos__variant variant;
  pthread_mutex_t mutex;
  named_histogram *items;
  size_t count, capacity;
} aggregator;

static void free_aggregator(rheos__variant *variant) {
  aggregator *a = (aggregator *)variant;
  for (size_t i = 0; i < a->count; ++i) {
    rheos__free(a->items[i].name);
    rheos__free(a->items[i].histogram);
  }
  rheos__free(a->items);
  pthread_mutex_destroy(&a->mutex);
  rheos__free(a);
}

static const rheos__variant_kind aggregator_kind = {.name = "StatsAggregator",
                                                    .free = free_aggregator};

static rheos_status *aggregator_of(const rheos_tensor *handle, const char *op, aggregator **out) {
  return rheos__handle_object(handle, &aggregator_kind, op, (rheos__variant **)out);
}

static rheos_status *new_aggregator(aggregator **out) {
  aggregator *a = rheos__alloc_zeroed(sizeof *a);
  *out = a;
  if (a == NULL) return rheos__out_of_memory();
  atomic_init(&a->variant.references, 1);
  a->variant.kind = &aggregator_kind;
  pthread_mutex_init(&a->mutex, NULL);
  return NULL;
}

// The histogram of that name, made when it is first asked for; NULL: no memory.
static rheos__running_histogram *histogram_of(aggregator *a, const char *name) {
  for (size_t i = 0; i < a->count; ++i) {
    if (strcmp(a->items[i].name, name) == 0) return a->items[i].histogram;
  }
  if (!RHEOS_RESERVE(a->items, a->capacity, a->count + 1)) return NULL;
  named_histogram *item = &a->items[a->count];
  *item = (named_histogram){rheos__strndup(name, strlen(name)), rheos__running_histogram_new()};
  if (item->name == NULL || item->histogram == NULL) {
    rheos__free(item->name);
    rheos__free(item->histogram);
    return NULL;
  }
  ++a->count;
  return item->histogram;
}

static void add_value(aggregator *a, const char *name, double value) {
  pthread_mutex_lock(&a->mutex);
  rheos__running_histogram *histogram = histogram_of(a, name);
  if (histogram != NULL) rheos__running_histogram_add(histogram, value);
  pthread_mutex_unlock(&a->mutex);
}

// ---- Their handles: of version 1 the session's, by name

typedef struct named_aggregator {
  rheos__resource base;
  aggregator *aggregator;
} named_aggregator;

static rheos_status *init_named(rheos__resource *resource, const void *argument) {
  (void)argument;
  return new_aggregator(&((named_aggregator *)resource)->aggregator);
}

static void deinit_named(rheos__resource *resource) {
  aggregator *a = ((named_aggregator *)resource)->aggregator;
  if (a != NULL) rheos__variant_unref(&a->variant);
}

static const rheos__resource_kind named_kind = {"statistics aggregator", sizeof(named_aggregator),
                                                init_named, deinit_named};

static void release_named(void *state) {
  rheos__resource_unref(&(*(named_aggregator **)state)->base);
}

static rheos_status *compute_handle(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                    rheos_tensor **outputs) {
  (void)step, (void)inputs;
  aggregator *a = (*(named_aggregator **)state)->aggregator;
  return rheos__handle_tensor_take(rheos__variant_ref(&a->variant), &RHEOS_SCALAR, &outputs[0]);
}

static rheos_status *prepare_handle(rheos__prepare *p) {
  named_aggregator **named = RHEOS_NEW_STATE(p, named_aggregator *);
  if (named == NULL) return rheos__out_of_memory();
  RHEOS_TRY(rheos__named_resource(p, &named_kind, NULL, (rheos__resource **)named));
  p->release = release_named;
  p->compute = compute_handle;
  return NULL;
}

#define HANDLE(op)                                                                              \
  const rheos__op_def rheos__op_##op = {                                                        \
      .name = #op,                                                                              \
      .signature = "-> handle: resource; container: string = \"\"; shared_name: string = \"\"", \
      .doc = "The session's statistics of that name.",                                          \
      .flags = RHEOS_OP_STATEFUL | RHEOS_OP_WANTS_NAME,                                         \
      .shape = rheos__shape_scalar,                                                             \
      .gradient = rheos__no_gradient,                                                           \
      .prepare = prepare_handle,                                                                \
  };
HANDLE(StatsAggregatorHandle)
HANDLE(StatsAggregatorHandleV2)
HANDLE(ExperimentalStatsAggregatorHandle)

// ---- What they say

static void put_all(const aggregator *a, rheos__buffer *summary) {
  for (size_t i = 0; i < a->count; ++i) {
    rheos__buffer value = {0};
    const char *name = a->items[i].name;
    rheos__wire_put_bytes(&value, RHEOS__VALUE_TAG, name, strlen(name));
    rheos__running_histogram_put(a->items[i].histogram, &value);
    rheos__wire_put_message(summary, RHEOS__SUMMARY_VALUE, &value);
  }
}

static rheos_status *compute_summary(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                     rheos_tensor **outputs) {
  (void)state, (void)step;
  aggregator *a = NULL;
  rheos__buffer summary = {0};
  RHEOS_TRY(aggregator_of(inputs[0], "StatsAggregatorSummary", &a));
  pthread_mutex_lock(&a->mutex);
  put_all(a, &summary);
  pthread_mutex_unlock(&a->mutex);
  return rheos__give_summary(&summary, &outputs[0]);
}

#define SUMMARY(op)                                                             \
  const rheos__op_def rheos__op_##op = {                                        \
      .name = #op,                                                              \
      .signature = "iterator: resource -> summary: string",                     \
      .doc = "A Summary message with a histogram for each name of statistics.", \
      .flags = RHEOS_OP_STATEFUL | RHEOS_OP_TAKES_VARIANTS,                     \
      .shape = rheos__shape_scalar,                                             \
      .gradient = rheos__no_gradient,                                           \
      .compute = compute_summary,                                               \
  };
SUMMARY(StatsAggregatorSummary)
SUMMARY(ExperimentalStatsAggregatorSummary)

static rheos_status *compute_set_writer(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                        rheos_tensor **outputs) {
  (void)state, (void)step, (void)inputs, (void)outputs;
  return rheos_status_new(RHEOS_UNIMPLEMENTED,
                          "statistics are not written to event files by themselves: write what "
                          "StatsAggregatorSummary gives");
}

const rheos__op_def rheos__op_StatsAggregatorSetSummaryWriter = {
    .name = "StatsAggregatorSetSummaryWriter",
    .signature = "stats_aggregator: resource, summary: resource ->",
    .doc = "Refused: statistics are written by programs, from what StatsAggregatorSummary gives.",
    .flags = RHEOS_OP_STATEFUL | RHEOS_OP_TAKES_VARIANTS,
    .shape = rheos__shape_none,
    .gradient = rheos__no_gradient,
    .compute = compute_set_writer,
};

// ---- Datasets that measure

// Where values go, set by SetStatsAggregatorDataset: the last one, if there are several.
typedef struct measured {
  pthread_mutex_t mutex;
  aggregator *aggregator;  // counted; NULL: nowhere
  char *name;
} measured;

static rheos_status *init_measured(rheos__dataset *d) {
  const rheos_string *tag;
  pthread_mutex_init(&((measured *)d->data)->mutex, NULL);
  return rheos__dataset_string(d, 1, "tag", &tag);
}

static void deinit_measured(rheos__dataset *d) {
  measured *m = d->data;
  if (m->aggregator != NULL) rheos__variant_unref(&m->aggregator->variant);
  rheos__free(m->name);
  pthread_mutex_destroy(&m->mutex);
}

static void tell(const rheos__dataset *d, double value) {
  measured *m = d->data;
  pthread_mutex_lock(&m->mutex);
  if (m->aggregator != NULL) add_value(m->aggregator, m->name, value);
  pthread_mutex_unlock(&m->mutex);
}

static rheos_status *next_latency(rheos__iterator *iterator, rheos__step *step,
                                  rheos_tensor **element, bool *out_end) {
  const int64_t start = rheos__now_ns();
  RHEOS_TRY(rheos__iterator_next(iterator->input, step, element, out_end));
  if (!*out_end) tell(iterator->dataset, (double)((rheos__now_ns() - start) / 1000));
  return NULL;
}

static double bytes_of(const rheos_tensor *tensor) {
  if (tensor->dtype != RHEOS_STRING) return (double)tensor->size_bytes;
  double bytes = 0;
  const rheos_string *texts = tensor->data;
  for (int64_t i = 0; i < tensor->num_elements; ++i) bytes += (double)texts[i].size_bytes;
  return bytes;
}

static rheos_status *next_bytes(rheos__iterator *iterator, rheos__step *step,
                                rheos_tensor **element, bool *out_end) {
  RHEOS_TRY(rheos__iterator_next(iterator->input, step, element, out_end));
  double bytes = 0;
  for (int32_t i = 0; !*out_end && i < iterator->dataset->num_components; ++i) {
    bytes += bytes_of(element[i]);
  }
  if (!*out_end) tell(iterator->dataset, bytes);
  return NULL;
}

#define MEASURED_KIND(variable, text, next_fn)                                 \
  static const rheos__dataset_kind variable = {.name = text,                   \
                                               .data_bytes = sizeof(measured), \
                                               .opens_input = true,            \
                                               .like_input = true,             \
                                               .init = init_measured,          \
                                               .deinit = deinit_measured,      \
                                               .next = next_fn,                \
                                               .at = rheos__dataset_at_input}
MEASURED_KIND(latency_kind, "LatencyStats", next_latency);
MEASURED_KIND(bytes_kind, "BytesProducedStats", next_bytes);

#define MEASURE(op, kind, text) \
  RHEOS_DATASET_OP(op, kind, "input_dataset: variant, tag: string", RHEOS_DATASET_TYPES, text)
#define LATENCY "The elements; how long each took, in microseconds, is added to statistics."
#define BYTES "The elements; how many bytes each has is added to statistics."
MEASURE(BytesProducedStatsDataset, bytes_kind, BYTES)
MEASURE(ExperimentalBytesProducedStatsDataset, bytes_kind, BYTES)
MEASURE(ExperimentalLatencyStatsDataset, latency_kind, LATENCY)
MEASURE(LatencyStatsDataset, latency_kind, LATENCY)

// ---- SetStatsAggregatorDataset

static rheos_status *set_name(rheos__dataset *d, aggregator *a, const rheos_string *prefix) {
  measured *m = d->data;
  const rheos_string *tag = d->args[1]->data;
  char *name =
      rheos__text_format("%.*s%s%.*s", (int)prefix->size_bytes, prefix->data,
                         prefix->size_bytes > 0 ? "::" : "", (int)tag->size_bytes, tag->data);
  if (name == NULL) return rheos__out_of_memory();
  pthread_mutex_lock(&m->mutex);
  aggregator *before = m->aggregator;
  char *name_before = m->name;
  rheos__variant_ref(&a->variant);
  m->aggregator = a;
  m->name = name;
  pthread_mutex_unlock(&m->mutex);
  if (before != NULL) rheos__variant_unref(&before->variant);
  rheos__free(name_before);
  return NULL;
}

// Datasets that are gone through, of those that a dataset is made of; one that is there twice
// counts twice.
enum { MOST_DATASETS = 10000 };

static rheos_status *tell_inputs(const rheos__dataset *d, aggregator *a,
                                 const rheos_string *prefix) {
  rheos__dataset **todo = NULL;
  size_t count = 0, capacity = 0, done = 0;
  rheos_status *status = NULL;
  for (const rheos__dataset *at = d; status == NULL; at = todo[--count]) {
    if (!RHEOS_RESERVE(todo, capacity, count + (size_t)at->num_inputs)) {
      status = rheos__out_of_memory();
    }
    for (int32_t i = 0; status == NULL && i < at->num_inputs; ++i) {
      rheos__dataset *input = at->inputs[i];
      if (input->kind == &latency_kind || input->kind == &bytes_kind) {
        status = set_name(input, a, prefix);
      }
      todo[count++] = input;
    }
    if (count == 0 || ++done == MOST_DATASETS) break;
  }
  rheos__free(todo);
  return status;
}

static rheos_status *init_set(rheos__dataset *d) {
  const rheos_string *prefix, *counter_prefix;
  aggregator *a = NULL;
  RHEOS_TRY(rheos__dataset_string(d, 2, "tag", &prefix));
  RHEOS_TRY(rheos__dataset_string(d, 3, "counter_prefix", &counter_prefix));
  if (d->args[1] == NULL) return RHEOS_INVALID("stats_aggregator is no aggregator");
  RHEOS_TRY(aggregator_of(d->args[1], "SetStatsAggregatorDataset", &a));
  return tell_inputs(d, a, prefix);
}

static rheos_status *next_same(rheos__iterator *iterator, rheos__step *step, rheos_tensor **element,
                               bool *out_end) {
  return rheos__iterator_next(iterator->input, step, element, out_end);
}

static const rheos__dataset_kind set_kind = {.name = "SetStatsAggregator",
                                             .opens_input = true,
                                             .like_input = true,
                                             .init = init_set,
                                             .next = next_same,
                                             .at = rheos__dataset_at_input};
#define SET(op)                                                                        \
  RHEOS_DATASET_OP(op, set_kind,                                                       \
                   "input_dataset: variant, stats_aggregator: resource, tag: string, " \
                   "counter_prefix: string",                                           \
                   RHEOS_DATASET_TYPES, "The elements; statistics go to the aggregator.")
SET(SetStatsAggregatorDataset)
SET(ExperimentalSetStatsAggregatorDataset)
