// Iterators whose elements go to several devices in turn: element number i is that of shard i
// modulo their number. All devices share one memory here, so an element stays where it was made;
// what a shard is ahead of the others is kept for them.
#include <pthread.h>
#include <string.h>

#include "ops/data/components.h"
#include "ops/data/handle_strings.h"
#include "ops/kit/op_util.h"
#include "resource/resource.h"

// What is kept for a shard: elements one after the other, the first at `first`.
typedef struct waiting {
  rheos_tensor **tensors;
  size_t count, first, capacity;  // in tensors
} waiting;

typedef struct multi_iterator {
  rheos__variant variant;
  int32_t num_shards, num_components;
  rheos_dtype *types;
  rheos_shape *shapes;
  pthread_mutex_t mutex;      // guards what follows
  rheos__iterator *iterator;  // NULL: not initialized
  int64_t incarnation;        // how often it was
  int32_t turn;               // the shard that gets the next element
  waiting *shards;
} multi_iterator;

static void drop_waiting(multi_iterator *m) {
  for (int32_t i = 0; m->shards != NULL && i < m->num_shards; ++i) {
    waiting *w = &m->shards[i];
    for (size_t k = w->first; k < w->count; ++k) rheos_tensor_unref(w->tensors[k]);
    rheos__free(w->tensors);
    *w = (waiting){0};
  }
}

static void free_multi(rheos__variant *variant) {
  multi_iterator *m = (multi_iterator *)variant;
  rheos__iterator_free(m->iterator);
  drop_waiting(m);
  pthread_mutex_destroy(&m->mutex);
  rheos__free(m->shards);
  rheos__free(m->types);
  rheos__free(m->shapes);
  rheos__free(m);
}

static const rheos__variant_kind multi_kind = {.name = "MultiDeviceIterator", .free = free_multi};

static rheos_status *multi_of(const rheos_tensor *handle, const char *op, multi_iterator **out) {
  return rheos__handle_object(handle, &multi_kind, op, (rheos__variant **)out);
}

typedef struct declared {
  rheos__components components;
  int32_t num_shards;
} declared;

static rheos_status *declared_of(const rheos__attrs *attrs, declared *out) {
  out->num_shards = rheos__attrs_find(attrs, "devices")->count;
  return rheos__components_of(attrs, &out->components);
}

static rheos_status *new_multi(const declared *wanted, multi_iterator **out) {
  const size_t count = (size_t)wanted->components.count;
  multi_iterator *m = rheos__alloc_zeroed(sizeof *m);
  *out = NULL;
  if (m == NULL) return rheos__out_of_memory();
  atomic_init(&m->variant.references, 1);
  m->variant.kind = &multi_kind;
  pthread_mutex_init(&m->mutex, NULL);
  m->num_shards = wanted->num_shards;
  m->num_components = wanted->components.count;
  m->types = rheos__alloc_array(count, sizeof *m->types);
  m->shapes = rheos__alloc_array(count, sizeof *m->shapes);
  m->shards = rheos__alloc_array((size_t)m->num_shards, sizeof *m->shards);
  if (m->types == NULL || m->shapes == NULL || m->shards == NULL) {
    rheos__variant_unref(&m->variant);
    return rheos__out_of_memory();
  }
  for (size_t i = 0; i < count; ++i) {
    const rheos_shape *shapes = wanted->components.shapes;
    m->types[i] = wanted->components.types[i];
    m->shapes[i] = shapes != NULL ? shapes[i] : RHEOS_UNKNOWN_SHAPE;
  }
  *out = m;
  return NULL;
}

// ---- Those that the session keeps by name

typedef struct named_multi {
  rheos__resource base;
  multi_iterator *multi;
} named_multi;

static rheos_status *init_named(rheos__resource *resource, const void *argument) {
  return new_multi(argument, &((named_multi *)resource)->multi);
}

static void deinit_named(rheos__resource *resource) {
  multi_iterator *m = ((named_multi *)resource)->multi;
  if (m != NULL) rheos__variant_unref(&m->variant);
}

static const rheos__resource_kind named_kind = {"multi device iterator", sizeof(named_multi),
                                                init_named, deinit_named};

static void release_named(void *state) { rheos__resource_unref(&(*(named_multi **)state)->base); }

static rheos_status *compute_named(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                   rheos_tensor **outputs) {
  (void)step, (void)inputs;
  multi_iterator *m = (*(named_multi **)state)->multi;
  return rheos__handle_tensor_take(rheos__variant_ref(&m->variant), &RHEOS_SCALAR, &outputs[0]);
}

static rheos_status *prepare_named(rheos__prepare *p) {
  named_multi **named = RHEOS_NEW_STATE(p, named_multi *);
  declared wanted;
  if (named == NULL) return rheos__out_of_memory();
  RHEOS_TRY(declared_of(p->attrs, &wanted));
  RHEOS_TRY(rheos__named_resource(p, &named_kind, &wanted, (rheos__resource **)named));
  p->release = release_named;
  p->compute = compute_named;
  return NULL;
}

#define DEVICES "devices: list(string) >= 1"
const rheos__op_def rheos__op_MultiDeviceIterator = {
    .name = "MultiDeviceIterator",
    .signature = "-> handle: resource; " DEVICES
                 "; shared_name: string; container: string" RHEOS_DATASET_TYPES,
    .doc = "The session's iterator of that name whose elements go to `devices` in turn.",
    .flags = RHEOS_OP_STATEFUL | RHEOS_OP_WANTS_NAME,
    .shape = rheos__shape_scalar,
    .gradient = rheos__no_gradient,
    .prepare = prepare_named,
};

// ---- Those without one

static rheos_status *compute_anonymous(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                       rheos_tensor **outputs) {
  (void)step, (void)inputs;
  multi_iterator *m = NULL;
  RHEOS_TRY(new_multi(state, &m));
  return rheos__handle_tensor_take(&m->variant, &RHEOS_SCALAR, &outputs[0]);
}

static rheos_status *compute_with_deleter(void *state, rheos__step *step,
                                          rheos_tensor *const *inputs, rheos_tensor **outputs) {
  (void)step, (void)inputs;
  multi_iterator *m = NULL;
  RHEOS_TRY(new_multi(state, &m));
  rheos__variant *again = rheos__variant_ref(&m->variant);
  rheos_status *status = rheos__handle_tensor_take(&m->variant, &RHEOS_SCALAR, &outputs[0]);
  if (status == NULL) return rheos__variant_tensor_take(again, &outputs[1]);
  rheos__variant_unref(again);
  return status;
}

static rheos_status *prepare_anonymous(rheos__prepare *p) {
  declared *wanted = RHEOS_NEW_STATE(p, declared);
  if (wanted == NULL) return rheos__out_of_memory();
  p->compute = p->num_outputs == 2 ? compute_with_deleter : compute_anonymous;
  return declared_of(p->attrs, wanted);
}

#define ANONYMOUS(op, outputs)                                                     \
  const rheos__op_def rheos__op_##op = {                                           \
      .name = #op,                                                                 \
      .signature = "-> handle: resource" outputs "; " DEVICES RHEOS_DATASET_TYPES, \
      .doc = "A new iterator whose elements go to `devices` in turn.",             \
      .flags = RHEOS_OP_STATEFUL | RHEOS_OP_TAKES_VARIANTS,                        \
      .shape = rheos__shape_scalar,                                                \
      .gradient = rheos__no_gradient,                                              \
      .prepare = prepare_anonymous,                                                \
  };
ANONYMOUS(AnonymousMultiDeviceIterator, ", deleter: variant")
ANONYMOUS(AnonymousMultiDeviceIteratorV3, "")

static rheos_status *compute_delete(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                    rheos_tensor **outputs) {
  (void)state, (void)step, (void)outputs;
  multi_iterator *m = NULL;
  RHEOS_TRY(multi_of(inputs[0], "DeleteMultiDeviceIterator", &m));
  pthread_mutex_lock(&m->mutex);
  rheos__iterator *iterator = m->iterator;
  m->iterator = NULL;
  drop_waiting(m);
  pthread_mutex_unlock(&m->mutex);
  rheos__iterator_free(iterator);
  return NULL;
}

const rheos__op_def rheos__op_DeleteMultiDeviceIterator = {
    .name = "DeleteMultiDeviceIterator",
    .signature =
        "multi_device_iterator: resource, iterators: N * resource, deleter: variant ->; "
        "N: int >= 0",
    .doc = "Lets go of the dataset of an iterator.",
    .flags = RHEOS_OP_STATEFUL | RHEOS_OP_TAKES_VARIANTS,
    .shape = rheos__shape_none,
    .gradient = rheos__no_gradient,
    .compute = compute_delete,
};

// ---- Initializing

static rheos_status *compute_init(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                  rheos_tensor **outputs) {
  (void)state;
  rheos__dataset *d = NULL;
  multi_iterator *m = NULL;
  rheos__iterator *fresh = NULL;
  RHEOS_TRY(rheos__dataset_of(inputs[0], "MultiDeviceIteratorInit", &d));
  RHEOS_TRY(multi_of(inputs[1], "MultiDeviceIteratorInit", &m));
  if (inputs[2]->num_elements != 1) return RHEOS_INVALID("max_buffer_size must be a scalar");
  const rheos__components wanted = {m->num_components, m->types, m->shapes};
  const rheos__components got = {d->num_components, d->types, d->shapes};
  RHEOS_TRY(rheos__components_check(&wanted, &got));
  RHEOS_TRY(rheos__tensor_new(RHEOS_INT64, &RHEOS_SCALAR, &outputs[0]));
  RHEOS_TRY(rheos__iterator_new_outer(d, step, &fresh));
  pthread_mutex_lock(&m->mutex);
  rheos__iterator *before = m->iterator;
  m->iterator = fresh;
  m->turn = 0;
  drop_waiting(m);
  *(int64_t *)outputs[0]->data = ++m->incarnation;
  pthread_mutex_unlock(&m->mutex);
  rheos__iterator_free(before);
  return NULL;
}

const rheos__op_def rheos__op_MultiDeviceIteratorInit = {
    .name = "MultiDeviceIteratorInit",
    .signature =
        "dataset: variant, multi_device_iterator: resource, max_buffer_size: int64 -> "
        "incarnation_id: int64",
    .doc =
        "Makes the iterator go over `dataset` from its beginning; a number that its readers need.",
    .flags = RHEOS_OP_STATEFUL | RHEOS_OP_TAKES_VARIANTS,
    .shape = rheos__shape_scalar,
    .gradient = rheos__no_gradient,
    .compute = compute_init,
};

// ---- Getting elements

static bool take_kept(multi_iterator *m, waiting *w, rheos_tensor **element) {
  if (w->first == w->count) return false;
  for (int32_t i = 0; i < m->num_components; ++i) element[i] = w->tensors[w->first++];
  if (w->first == w->count) w->first = w->count = 0;
  return true;
}

static rheos_status *keep(multi_iterator *m, waiting *w, rheos_tensor **element) {
  const size_t n = (size_t)m->num_components;
  if (!RHEOS_RESERVE(w->tensors, w->capacity, w->count + n)) {
    rheos__element_clear(element, m->num_components);
    return rheos__out_of_memory();
  }
  for (size_t i = 0; i < n; ++i) w->tensors[w->count++] = element[i];
  memset(element, 0, n * sizeof *element);
  return NULL;
}

// Makes elements until the shard's turn has come; those before it are kept for theirs. A failure is
// that of the shard which asked: the turn stays.
static rheos_status *make_for(multi_iterator *m, int32_t shard, rheos__step *step,
                              rheos_tensor **element, bool *out_end) {
  rheos__iterator *iterator = m->iterator;
  for (*out_end = false; !*out_end;) {
    rheos__call_states *before = rheos__iterator_enter(iterator, step);
    rheos_status *status = rheos__iterator_next(iterator, step, element, out_end);
    rheos__iterator_leave(step, before);
    if (status != NULL || *out_end) return status;
    const int32_t turn = m->turn;
    m->turn = (turn + 1) % m->num_shards;
    if (turn == shard) return NULL;
    RHEOS_TRY(keep(m, &m->shards[turn], element));
    if (rheos__step_should_stop(step)) {
      return rheos_status_new(RHEOS_CANCELLED, "the step was stopped");
    }
  }
  return NULL;
}

static rheos_status *next_of(multi_iterator *m, int64_t shard, int64_t incarnation,
                             rheos__step *step, rheos_tensor **element) {
  if (m->iterator == NULL) {
    return rheos_status_new(RHEOS_FAILED_PRECONDITION,
                            "the iterator of several devices has not been initialized");
  }
  if (incarnation != m->incarnation) {
    return RHEOS_INVALID("Invalid incarnation id: Provided: %lld; Expected: %lld",
                         (long long)incarnation, (long long)m->incarnation);
  }
  if (shard < 0 || shard >= m->num_shards) {
    return RHEOS_INVALID("there is no shard %lld of %d", (long long)shard, (int)m->num_shards);
  }
  bool end = false;
  if (take_kept(m, &m->shards[shard], element)) return NULL;
  RHEOS_TRY(make_for(m, (int32_t)shard, step, element, &end));
  return end ? rheos_status_new(RHEOS_OUT_OF_RANGE, "End of sequence") : NULL;
}

static rheos_status *compute_next(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                  rheos_tensor **outputs) {
  multi_iterator *m = NULL;
  RHEOS_TRY(multi_of(inputs[0], "MultiDeviceIteratorGetNextFromShard", &m));
  if (inputs[1]->num_elements != 1 || inputs[2]->num_elements != 1) {
    return RHEOS_INVALID("shard_num and incarnation_id must be scalars");
  }
  const rheos__components have = {m->num_components, m->types, m->shapes};
  RHEOS_TRY(rheos__components_check(state, &have));
  pthread_mutex_lock(&m->mutex);
  rheos_status *status = next_of(m, rheos__tensor_int_at(inputs[1], 0),
                                 rheos__tensor_int_at(inputs[2], 0), step, outputs);
  pthread_mutex_unlock(&m->mutex);
  return status;
}

static rheos_status *prepare_next(rheos__prepare *p) {
  rheos__components *wanted = RHEOS_NEW_STATE(p, rheos__components);
  if (wanted == NULL) return rheos__out_of_memory();
  p->compute = compute_next;
  return rheos__components_of(p->attrs, wanted);
}

static rheos_status *shape_next(rheos__infer *c) {
  rheos__components wanted;
  rheos_shape scalar;
  for (int32_t i = 0; i < 3; ++i) RHEOS_TRY(rheos__infer_rank(c, i, 0, &scalar));
  RHEOS_TRY(rheos__components_of(c->attrs, &wanted));
  for (int32_t i = 0; wanted.shapes != NULL && i < wanted.count; ++i) {
    c->output_shapes[i] = wanted.shapes[i];
  }
  return NULL;
}

const rheos__op_def rheos__op_MultiDeviceIteratorGetNextFromShard = {
    .name = "MultiDeviceIteratorGetNextFromShard",
    .signature =
        "multi_device_iterator: resource, shard_num: int32, incarnation_id: int64 -> "
        "components: output_types" RHEOS_DATASET_TYPES,
    .doc = "The next element of a shard; RHEOS_OUT_OF_RANGE at the end.",
    .flags = RHEOS_OP_STATEFUL | RHEOS_OP_TAKES_VARIANTS,
    .shape = shape_next,
    .gradient = rheos__no_gradient,
    .prepare = prepare_next,
};

// ---- Strings

static void release_strings(void *state) {
  rheos__handle_strings_unref(*(rheos__handle_strings **)state);
}

static rheos_status *compute_to_string(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                       rheos_tensor **outputs) {
  (void)step;
  multi_iterator *m = NULL;
  RHEOS_TRY(multi_of(inputs[0], "MultiDeviceIteratorToStringHandle", &m));
  return rheos__handle_string_new(*(rheos__handle_strings **)state, &m->variant, &outputs[0]);
}

static rheos_status *compute_from_string(void *state, rheos__step *step,
                                         rheos_tensor *const *inputs, rheos_tensor **outputs) {
  (void)step;
  rheos__variant *object = NULL;
  RHEOS_TRY(
      rheos__handle_string_find(*(rheos__handle_strings **)state, inputs[0], &multi_kind, &object));
  return rheos__handle_tensor_take(object, &RHEOS_SCALAR, &outputs[0]);
}

static rheos_status *prepare_string(rheos__prepare *p) {
  rheos__handle_strings **strings = RHEOS_NEW_STATE(p, rheos__handle_strings *);
  if (strings == NULL) return rheos__out_of_memory();
  RHEOS_TRY(rheos__handle_strings_get(p, strings));
  p->release = release_strings;
  p->compute = p->output_dtypes[0] == RHEOS_STRING ? compute_to_string : compute_from_string;
  return NULL;
}

#define STRING_OP(op, text_signature, text)                 \
  const rheos__op_def rheos__op_##op = {                    \
      .name = #op,                                          \
      .signature = text_signature,                          \
      .doc = text,                                          \
      .flags = RHEOS_OP_STATEFUL | RHEOS_OP_TAKES_VARIANTS, \
      .shape = rheos__shape_scalar,                         \
      .gradient = rheos__no_gradient,                       \
      .prepare = prepare_string,                            \
  };
STRING_OP(MultiDeviceIteratorToStringHandle,
          "multi_device_iterator: resource -> string_handle: string",
          "A string by which the session knows the iterator.")
STRING_OP(MultiDeviceIteratorFromStringHandle,
          "string_handle: string -> multi_device_iterator: resource; output_types: list(type) >= 0 "
          "= []; output_shapes: list(shape) >= 0 = []",
          "The iterator that the session knows by a string.")

// ---- IteratorGetDevice

static rheos_status *compute_device(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                    rheos_tensor **outputs) {
  (void)step, (void)inputs;
  const char *device = state;
  RHEOS_TRY(rheos__tensor_new(RHEOS_STRING, &RHEOS_SCALAR, &outputs[0]));
  return rheos_tensor_set_string(outputs[0], 0, device, strlen(device));
}

static rheos_status *prepare_device(rheos__prepare *p) {
  p->state = rheos__arena_strdup(p->arena, p->device_name);
  if (p->state == NULL) return rheos__out_of_memory();
  p->compute = compute_device;
  return NULL;
}

#define DEVICE(op)                                                           \
  const rheos__op_def rheos__op_##op = {                                     \
      .name = #op,                                                           \
      .signature = "resource: resource -> device: string",                   \
      .doc = "The device that an iterator is on: all are on the processor.", \
      .flags = RHEOS_OP_STATEFUL | RHEOS_OP_TAKES_VARIANTS,                  \
      .shape = rheos__shape_scalar,                                          \
      .gradient = rheos__no_gradient,                                        \
      .prepare = prepare_device,                                             \
  };
DEVICE(IteratorGetDevice)
DEVICE(ExperimentalIteratorGetDevice)
