// Datasets that give the elements of others as they are, or all but a few: options,
// ignore_errors, unique; and wrapped variants.
#include "base/hash.h"
#include "ops/data/dataset.h"
#include "ops/kit/op_util.h"

// ---- The same elements
//
// What these ask for (threads, buffers, rewriting) changes no element and no order.

static rheos_status *next_same(rheos__iterator *iterator, rheos__step *step, rheos_tensor **element,
                               bool *out_end) {
  return rheos__iterator_next(iterator->input, step, element, out_end);
}

static const rheos__dataset_kind same_kind = {.name = "PassThrough",
                                              .opens_input = true,
                                              .like_input = true,
                                              .next = next_same,
                                              .at = rheos__dataset_at_input};

#define T RHEOS_DATASET_TYPES
#define METADATA "; metadata: string = \"\""
#define SAME(op, more_inputs, attrs)                                           \
  RHEOS_DATASET_OP(op, same_kind, "input_dataset: variant" more_inputs, attrs, \
                   "The elements of `input_dataset`.")
SAME(AssertNextDataset, ", transformations: string", T)
SAME(AssertPrevDataset, ", transformations: string", T)
SAME(AutoShardDataset, ", num_workers: int64, index: int64",
     "; auto_shard_policy: int = 0" T "; num_replicas: int = 0")
SAME(ExperimentalAssertNextDataset, ", transformations: string", T)
SAME(ExperimentalAutoShardDataset, ", num_workers: int64, index: int64",
     "; auto_shard_policy: int = 0" T)
SAME(ExperimentalMaxIntraOpParallelismDataset, ", max_intra_op_parallelism: int64", T)
SAME(ExperimentalNonSerializableDataset, "", T)
SAME(ExperimentalPrivateThreadPoolDataset, ", num_threads: int64", T)
SAME(FinalizeDataset, "", "; has_captured_ref: bool = false" T)
SAME(MaxIntraOpParallelismDataset, ", max_intra_op_parallelism: int64", T)
SAME(ModelDataset, "", "; algorithm: int = 0; cpu_budget: int = 0; ram_budget: int = 0" T)
SAME(NonSerializableDataset, "", T)
SAME(OptimizeDataset, ", optimizations: string", T "; optimization_configs: list(string) = []")
SAME(OptimizeDatasetV2,
     ", optimizations_enabled: string, optimizations_disabled: string, optimizations_default: "
     "string",
     T "; optimization_configs: list(string) = []")
SAME(OptionsDataset, "", "; serialized_options: string" T METADATA)
SAME(PrivateThreadPoolDataset, ", num_threads: int64", T)
SAME(RewriteDataset, ", rewrite_name: string", T)
SAME(ThreadPoolDataset, ", thread_pool: resource", T)
SAME(ExperimentalThreadPoolDataset, ", thread_pool: resource", T)

// ---- ChooseFastest: of inputs that give the same elements TensorFlow measures which one to go
// over

static int64_t cardinality_first(const rheos__dataset *d) {
  return rheos__dataset_cardinality(d->inputs[0]);
}

static rheos_status *init_fastest(rheos__dataset *d) {
  for (int32_t i = 0; i < d->num_inputs; ++i) {
    RHEOS_TRY(rheos__dataset_same_types(d, d->inputs[i]));
    if (rheos__dataset_cardinality(d->inputs[i]) == cardinality_first(d)) continue;
    return RHEOS_INVALID(
        "ChooseFastestDataset needs inputs of one cardinality, but input %d has %lld, not %lld",
        (int)i, (long long)rheos__dataset_cardinality(d->inputs[i]),
        (long long)cardinality_first(d));
  }
  return NULL;
}

static const rheos__dataset_kind fastest_kind = {.name = "ChooseFastest",
                                                 .opens_input = true,
                                                 .init = init_fastest,
                                                 .next = next_same,
                                                 .cardinality = cardinality_first};
#define FASTEST(op)                                                 \
  RHEOS_DATASET_OP(op, fastest_kind, "input_datasets: N * variant", \
                   "; N: int >= 2; num_experiments: int" T,         \
                   "The elements of the first of several datasets that give the same.")
FASTEST(ChooseFastestDataset)
FASTEST(ExperimentalChooseFastestDataset)

// ---- AssertCardinality

typedef struct asserted {
  rheos__iterator base;
  int64_t done;
} asserted;

static rheos_status *init_asserted(rheos__dataset *d) {
  return rheos__dataset_int(d, 1, "cardinality", d->data);
}

static rheos_status *next_asserted(rheos__iterator *iterator, rheos__step *step,
                                   rheos_tensor **element, bool *out_end) {
  asserted *it = (asserted *)iterator;
  const int64_t wanted = *(const int64_t *)iterator->dataset->data;
  RHEOS_TRY(rheos__iterator_next(iterator->input, step, element, out_end));
  if (*out_end && wanted != it->done && wanted != RHEOS__CARDINALITY_UNKNOWN) {
    return rheos_status_new(RHEOS_FAILED_PRECONDITION,
                            "Input dataset was expected to contain %lld elements but contained "
                            "only %lld elements.",
                            (long long)wanted, (long long)it->done);
  }
  if (*out_end) return NULL;
  ++it->done;
  if (wanted < 0 || it->done <= wanted) return NULL;
  rheos__element_clear(element, iterator->dataset->num_components);
  return rheos_status_new(RHEOS_FAILED_PRECONDITION,
                          "Input dataset was expected to contain %lld elements but contained at "
                          "least %lld elements.",
                          (long long)wanted, (long long)it->done);
}

static rheos_status *transfer_asserted(rheos__iterator *iterator, rheos__saved_state *state,
                                       rheos__step *step) {
  (void)step;
  return rheos__state_ints(state, &((asserted *)iterator)->done, 1);
}

static int64_t cardinality_asserted(const rheos__dataset *d) { return *(const int64_t *)d->data; }

static const rheos__dataset_kind asserted_kind = {.name = "AssertCardinality",
                                                  .data_bytes = sizeof(int64_t),
                                                  .iterator_bytes = sizeof(asserted),
                                                  .opens_input = true,
                                                  .like_input = true,
                                                  .init = init_asserted,
                                                  .next = next_asserted,
                                                  .state = transfer_asserted,
                                                  .cardinality = cardinality_asserted,
                                                  .at = rheos__dataset_at_input};
RHEOS_DATASET_OP(AssertCardinalityDataset, asserted_kind,
                 "input_dataset: variant, cardinality: int64", T,
                 "The elements, of which there must be `cardinality`.")

// ---- IgnoreErrors

static rheos_status *next_ignoring(rheos__iterator *iterator, rheos__step *step,
                                   rheos_tensor **element, bool *out_end) {
  for (;;) {
    rheos_status *status = rheos__iterator_next(iterator->input, step, element, out_end);
    const rheos_code code = status != NULL ? rheos_status_code(status) : RHEOS_OK;
    if (status == NULL || code == RHEOS_CANCELLED || code == RHEOS_DEADLINE_EXCEEDED ||
        code == RHEOS_RESOURCE_EXHAUSTED || rheos__step_should_stop(step)) {
      return status;
    }
    rheos_status_free(status);
  }
}

static int64_t cardinality_unknown(const rheos__dataset *d) {
  (void)d;
  return RHEOS__CARDINALITY_UNKNOWN;
}

static const rheos__dataset_kind ignoring_kind = {.name = "IgnoreErrors",
                                                  .opens_input = true,
                                                  .like_input = true,
                                                  .next = next_ignoring,
                                                  .cardinality = cardinality_unknown};
#define IGNORE(op)                                                                               \
  RHEOS_DATASET_OP(op, ignoring_kind, "input_dataset: variant", T "; log_warning: bool = false", \
                   "The elements that can be computed.")
IGNORE(IgnoreErrorsDataset)
IGNORE(ExperimentalIgnoreErrorsDataset)

// ---- Unique

typedef struct seen {
  uint64_t hash;  // with `tensor` NULL the place is free
  rheos_tensor *tensor;
} seen;

typedef struct unique {
  rheos__iterator base;
  seen *places;  // open addressing; a power of two
  size_t num_places, count;
} unique;

static rheos_status *init_unique(rheos__dataset *d) {
  const rheos_dtype t = d->types[0];
  if (d->num_components == 1 && (t == RHEOS_INT32 || t == RHEOS_INT64 || t == RHEOS_STRING)) {
    return NULL;
  }
  return RHEOS_INVALID(
      "UniqueDataset only supports inputs with a single int32, int64, or string component.");
}

static void finish_unique(rheos__iterator *iterator) {
  unique *it = (unique *)iterator;
  for (size_t i = 0; i < it->num_places; ++i) rheos_tensor_unref(it->places[i].tensor);
  rheos__free(it->places);
}

static uint64_t hash_tensor(const rheos_tensor *tensor) {
  if (tensor->dtype != RHEOS_STRING) return rheos__hash_bytes(0, tensor->data, tensor->size_bytes);
  uint64_t hash = 0;
  const rheos_string *strings = tensor->data;
  for (int64_t i = 0; i < tensor->num_elements; ++i) {
    hash = hash * 31 + rheos__hash_bytes(0, strings[i].data, strings[i].size_bytes);
  }
  return hash;
}

static bool is_same(const rheos_tensor *a, const rheos_tensor *b) {
  if (!rheos_shape_equal(&a->shape, &b->shape)) return false;
  if (a->dtype != RHEOS_STRING) return memcmp(a->data, b->data, a->size_bytes) == 0;
  const rheos_string *x = a->data, *y = b->data;
  for (int64_t i = 0; i < a->num_elements; ++i) {
    if (!rheos__string_equal(&x[i], &y[i])) return false;
  }
  return true;
}

static seen *place_of(seen *places, size_t count, uint64_t hash, const rheos_tensor *tensor) {
  size_t at = hash & (count - 1);
  while (places[at].tensor != NULL &&
         (places[at].hash != hash || !is_same(places[at].tensor, tensor))) {
    at = (at + 1) & (count - 1);
  }
  return &places[at];
}

static rheos_status *grow_unique(unique *it) {
  if (2 * it->count < it->num_places) return NULL;
  const size_t count = it->num_places > 0 ? 2 * it->num_places : 64;
  seen *places = rheos__alloc_array(count, sizeof *places);
  if (places == NULL) return rheos__out_of_memory();
  for (size_t i = 0; i < it->num_places; ++i) {
    const seen *s = &it->places[i];
    if (s->tensor != NULL) *place_of(places, count, s->hash, s->tensor) = *s;
  }
  rheos__free(it->places);
  it->places = places;
  it->num_places = count;
  return NULL;
}

// Whether the tensor is new; then it is remembered.
static rheos_status *remember(unique *it, rheos_tensor *tensor, bool *out_is_new) {
  RHEOS_TRY(grow_unique(it));
  const uint64_t hash = hash_tensor(tensor);
  seen *place = place_of(it->places, it->num_places, hash, tensor);
  *out_is_new = place->tensor == NULL;
  if (!*out_is_new) return NULL;
  *place = (seen){hash, rheos_tensor_ref(tensor)};
  ++it->count;
  return NULL;
}

static rheos_status *next_unique(rheos__iterator *iterator, rheos__step *step,
                                 rheos_tensor **element, bool *out_end) {
  for (;;) {
    bool is_new = false;
    RHEOS_TRY(rheos__iterator_next(iterator->input, step, element, out_end));
    if (*out_end) return NULL;
    rheos_status *status = remember((unique *)iterator, element[0], &is_new);
    if (status == NULL && is_new) return NULL;
    rheos__element_clear(element, 1);
    if (status != NULL) return status;
    if (rheos__step_should_stop(step)) {
      return rheos_status_new(RHEOS_CANCELLED, "the step was stopped");
    }
  }
}

static rheos_status *transfer_unique(rheos__iterator *iterator, rheos__saved_state *state,
                                     rheos__step *step) {
  (void)step;
  unique *it = (unique *)iterator;
  int64_t count = (int64_t)it->count;
  RHEOS_TRY(rheos__state_ints(state, &count, 1));
  for (size_t i = 0; !state->is_restoring && i < it->num_places; ++i) {
    if (it->places[i].tensor == NULL) continue;
    RHEOS_TRY(rheos__state_tensors(state, &it->places[i].tensor, 1));
  }
  for (int64_t i = 0; state->is_restoring && i < count; ++i) {
    rheos_tensor *tensor = NULL;
    bool is_new;
    RHEOS_TRY(rheos__state_tensors(state, &tensor, 1));
    if (tensor == NULL) return RHEOS_INVALID("the state is damaged");
    rheos_status *status = remember(it, tensor, &is_new);
    rheos_tensor_unref(tensor);
    if (status != NULL) return status;
  }
  return NULL;
}

static const rheos__dataset_kind unique_kind = {.name = "Unique",
                                                .iterator_bytes = sizeof(unique),
                                                .opens_input = true,
                                                .like_input = true,
                                                .init = init_unique,
                                                .finish = finish_unique,
                                                .next = next_unique,
                                                .state = transfer_unique,
                                                .cardinality = cardinality_unknown};
#define UNIQUE(op) \
  RHEOS_DATASET_OP(op, unique_kind, "input_dataset: variant", T METADATA, "Each element once.")
UNIQUE(UniqueDataset)
UNIQUE(ExperimentalUniqueDataset)

// ---- What stands for the memory of caches, and for threads

static void free_token(rheos__variant *variant) { rheos__free(variant); }
static const rheos__variant_kind token_kind = {.name = "MemoryCache", .free = free_token};

// The memory is the dataset's: the handle only stands for it.
static rheos_status *compute_token(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                   rheos_tensor **outputs) {
  (void)step, (void)inputs;
  rheos__variant *token = rheos__alloc_zeroed(sizeof *token);
  if (token == NULL) return rheos__out_of_memory();
  atomic_init(&token->references, 1);
  token->kind = &token_kind;
  rheos__variant *again = rheos__variant_ref(token);
  rheos_status *status = rheos__handle_tensor_take(token, &RHEOS_SCALAR, &outputs[0]);
  if (status != NULL || *(const int32_t *)state < 2) {
    rheos__variant_unref(again);
    return status;
  }
  return rheos__variant_tensor_take(again, &outputs[1]);
}

static rheos_status *prepare_token(rheos__prepare *p) {
  int32_t *num_outputs = RHEOS_NEW_STATE(p, int32_t);
  if (num_outputs == NULL) return rheos__out_of_memory();
  *num_outputs = p->num_outputs;
  p->compute = compute_token;
  return NULL;
}

#define TOKEN(op, outputs, text)                            \
  const rheos__op_def rheos__op_##op = {                    \
      .name = #op,                                          \
      .signature = "-> handle: resource" outputs,           \
      .doc = text,                                          \
      .flags = RHEOS_OP_STATEFUL | RHEOS_OP_TAKES_VARIANTS, \
      .shape = rheos__shape_scalar,                         \
      .gradient = rheos__no_gradient,                       \
      .prepare = prepare_token,                             \
  };
#define MEMORY "What stands for the memory of a cached dataset."
TOKEN(AnonymousMemoryCache, ", deleter: variant", MEMORY)
TOKEN(DummyMemoryCache, "", MEMORY)
#define THREADS                                                                              \
  "; num_threads: int; max_intra_op_parallelism: int = 1; display_name: string; container: " \
  "string "                                                                                  \
  "= \"\"; shared_name: string = \"\""
#define POOL "What stands for threads of a dataset's own; datasets run on the session's."
TOKEN(ThreadPoolHandle, THREADS, POOL)
TOKEN(ExperimentalThreadPoolHandle, THREADS, POOL)

static rheos_status *compute_nothing(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                     rheos_tensor **outputs) {
  (void)state, (void)step, (void)inputs, (void)outputs;
  return NULL;
}

#define DELETE(op)                                                                    \
  const rheos__op_def rheos__op_##op = {                                              \
      .name = #op,                                                                    \
      .signature = "handle: resource, deleter: variant ->",                           \
      .doc = "Nothing: what the handle stands for goes when nobody has it any more.", \
      .flags = RHEOS_OP_STATEFUL | RHEOS_OP_TAKES_VARIANTS,                           \
      .shape = rheos__shape_none,                                                     \
      .gradient = rheos__no_gradient,                                                 \
      .compute = compute_nothing,                                                     \
  };
DELETE(DeleteMemoryCache)
DELETE(DeleteRandomSeedGenerator)
DELETE(DeleteSeedGenerator)

// ---- Wrapped variants

static rheos_status *compute_same(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                  rheos_tensor **outputs) {
  (void)state, (void)step;
  if (inputs[0]->shape.rank != 0) {
    rheos__shape_text text;
    return RHEOS_INVALID("a dataset is a scalar, but the input has shape %s",
                         rheos__shape_text_of(&inputs[0]->shape, &text));
  }
  return rheos__tensor_keep(inputs[0], &outputs[0]);
}

#define WRAP(op)                                                      \
  const rheos__op_def rheos__op_##op = {                              \
      .name = #op,                                                    \
      .signature = "input_handle: variant -> output_handle: variant", \
      .doc = "The dataset `input_handle`.",                           \
      .flags = RHEOS_OP_TAKES_VARIANTS,                               \
      .shape = rheos__shape_scalar,                                   \
      .gradient = rheos__no_gradient,                                 \
      .compute = compute_same,                                        \
  };
WRAP(UnwrapDatasetVariant)
WRAP(WrapDatasetVariant)
