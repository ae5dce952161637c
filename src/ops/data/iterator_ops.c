// Iterators as objects behind handles: making them, getting elements, naming them by strings,
// saving them.
#include <pthread.h>
#include <time.h>

#include "ops/data/components.h"
#include "ops/data/dataset_spec.h"
#include "ops/data/handle_strings.h"
#include "ops/kit/op_util.h"
#include "resource/resource.h"

typedef struct iterator_object {
  rheos__variant variant;
  pthread_mutex_t mutex;        // of the iterator
  rheos__iterator *iterator;    // NULL: not initialized
  rheos__explain_since *since;  // from when it was initialized
  int32_t num_components;       // what it is declared to give; 0: not said
  rheos_dtype *types;
  rheos_shape *shapes;
} iterator_object;

static void free_object(rheos__variant *variant) {
  iterator_object *object = (iterator_object *)variant;
  rheos__iterator_tell(object->iterator, object->since);
  rheos__iterator_free(object->iterator);
  rheos__free(object->since);
  pthread_mutex_destroy(&object->mutex);
  rheos__free(object->types);
  rheos__free(object->shapes);
  rheos__free(object);
}

static const rheos__variant_kind object_kind = {.name = "Iterator", .free = free_object};

static rheos_status *object_of(const rheos_tensor *handle, const char *op, iterator_object **out) {
  return rheos__handle_object(handle, &object_kind, op, (rheos__variant **)out);
}

static rheos_status *new_object(const rheos__components *c, iterator_object **out) {
  iterator_object *object = rheos__alloc_zeroed(sizeof *object);
  const size_t count = (size_t)c->count;
  *out = NULL;
  if (object == NULL) return rheos__out_of_memory();
  atomic_init(&object->variant.references, 1);
  object->variant.kind = &object_kind;
  pthread_mutex_init(&object->mutex, NULL);
  object->num_components = c->count;
  object->types = rheos__alloc_array(count, sizeof *object->types);
  if (c->shapes != NULL) object->shapes = rheos__alloc_array(count, sizeof *object->shapes);
  if (object->types == NULL || (c->shapes != NULL && object->shapes == NULL)) {
    rheos__variant_unref(&object->variant);
    return rheos__out_of_memory();
  }
  for (size_t i = 0; i < count; ++i) object->types[i] = c->types[i];
  for (size_t i = 0; c->shapes != NULL && i < count; ++i) object->shapes[i] = c->shapes[i];
  *out = object;
  return NULL;
}

// Goes over the dataset from now on.
static rheos_status *set_dataset(iterator_object *object, rheos__dataset *dataset,
                                 rheos__step *step) {
  const rheos__components got = {dataset->num_components, dataset->types, dataset->shapes};
  const rheos__components wanted = {object->num_components, object->types, object->shapes};
  if (wanted.count > 0) RHEOS_TRY(rheos__components_check(&wanted, &got));
  rheos__iterator *iterator = NULL;
  rheos__explain_since *since = NULL;
  RHEOS_TRY(rheos__iterator_new_outer(dataset, step, &iterator));
  rheos_status *status = rheos__explain_since_new(iterator, &since);
  if (status != NULL) {
    rheos__iterator_free(iterator);
    return status;
  }
  pthread_mutex_lock(&object->mutex);
  rheos__iterator *before = object->iterator;
  rheos__explain_since *since_before = object->since;
  object->iterator = iterator;
  object->since = since;
  pthread_mutex_unlock(&object->mutex);
  rheos__iterator_tell(before, since_before);
  rheos__iterator_free(before);
  rheos__free(since_before);
  return NULL;
}

rheos_status *rheos__iterator_handle_explain(const rheos_tensor *handle, char **out_text) {
  iterator_object *object = NULL;
  *out_text = NULL;
  RHEOS_TRY(object_of(handle, "ExplainIterator", &object));
  pthread_mutex_lock(&object->mutex);
  rheos_status *status =
      object->iterator != NULL
          ? rheos__iterator_explain(object->iterator, object->since, out_text)
          : rheos_status_new(RHEOS_FAILED_PRECONDITION, "the iterator has not been initialized");
  pthread_mutex_unlock(&object->mutex);
  return status;
}

// ---- Iterators that the session keeps by name

typedef struct named_iterator {
  rheos__resource base;
  pthread_mutex_t mutex;
  bool is_made;  // of a one-shot iterator: it has its dataset
  iterator_object *object;
} named_iterator;

static rheos_status *init_named(rheos__resource *resource, const void *argument) {
  named_iterator *named = (named_iterator *)resource;
  RHEOS_TRY(new_object(argument, &named->object));
  pthread_mutex_init(&named->mutex, NULL);
  return NULL;
}

static void deinit_named(rheos__resource *resource) {
  named_iterator *named = (named_iterator *)resource;
  if (named->object == NULL) return;
  rheos__variant_unref(&named->object->variant);
  pthread_mutex_destroy(&named->mutex);
}

static const rheos__resource_kind named_kind = {"iterator", sizeof(named_iterator), init_named,
                                                deinit_named};

typedef struct named_state {
  named_iterator *named;
  rheos__dataset_spec *spec;  // of a one-shot iterator: its function
} named_state;

static void release_named(void *state) {
  named_state *s = state;
  if (s->named != NULL) rheos__resource_unref(&s->named->base);
  rheos__dataset_spec_unref(s->spec);
}

static rheos_status *compute_named(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                   rheos_tensor **outputs) {
  (void)step, (void)inputs;
  iterator_object *object = ((named_state *)state)->named->object;
  return rheos__handle_tensor_take(rheos__variant_ref(&object->variant), &RHEOS_SCALAR,
                                   &outputs[0]);
}

static rheos_status *prepare_named(rheos__prepare *p) {
  named_state *state = RHEOS_NEW_STATE(p, named_state);
  rheos__components c;
  if (state == NULL) return rheos__out_of_memory();
  RHEOS_TRY(rheos__components_of(p->attrs, &c));
  RHEOS_TRY(rheos__named_resource(p, &named_kind, &c, (rheos__resource **)&state->named));
  p->release = release_named;
  p->compute = compute_named;
  const iterator_object *object = state->named->object;
  const rheos__components held = {object->num_components, object->types, object->shapes};
  rheos_status *status = held.count > 0 && c.count > 0 ? rheos__components_check(&held, &c) : NULL;
  if (status != NULL) release_named(state);
  return status;
}

#define ITERATOR(op, text)                                        \
  const rheos__op_def rheos__op_##op = {                          \
      .name = #op,                                                \
      .signature =                                                \
          "-> handle: resource; shared_name: string; container: " \
          "string" RHEOS_DATASET_TYPES,                           \
      .doc = text,                                                \
      .flags = RHEOS_OP_STATEFUL | RHEOS_OP_WANTS_NAME,           \
      .shape = rheos__shape_scalar,                               \
      .gradient = rheos__no_gradient,                             \
      .prepare = prepare_named,                                   \
  };
ITERATOR(Iterator, "The session's iterator of that name, over no dataset at first.")
ITERATOR(IteratorV2, "The session's iterator of that name, over no dataset at first.")

// ---- OneShotIterator

static rheos_status *make_one_shot(const named_state *s, rheos__step *step) {
  rheos__dataset *caller = NULL, *dataset = NULL;
  rheos_tensor *result = NULL;
  RHEOS_TRY(rheos__dataset_new(s->spec, NULL, &caller));
  rheos_status *status = rheos__dataset_call_take(caller, 0, NULL, 0, step, &result);
  if (status == NULL) status = rheos__dataset_of(result, "OneShotIterator", &dataset);
  if (status == NULL) status = set_dataset(s->named->object, dataset, step);
  rheos_tensor_unref(result);
  rheos__dataset_unref(caller);
  return status;
}

static rheos_status *compute_one_shot(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                      rheos_tensor **outputs) {
  const named_state *s = state;
  pthread_mutex_lock(&s->named->mutex);
  if (!s->named->is_made) {  // later it may be in use for long
    pthread_mutex_lock(&s->named->object->mutex);
    s->named->is_made = s->named->object->iterator != NULL;
    pthread_mutex_unlock(&s->named->object->mutex);
  }
  rheos_status *status = s->named->is_made ? NULL : make_one_shot(s, step);
  if (status == NULL) s->named->is_made = true;
  pthread_mutex_unlock(&s->named->mutex);
  return status != NULL ? status : compute_named(state, step, inputs, outputs);
}

static const rheos__dataset_kind caller_kind = {.name = "OneShotIterator"};

static rheos_status *prepare_one_shot(rheos__prepare *p) {
  RHEOS_TRY(prepare_named(p));
  named_state *state = p->state;
  rheos_status *status = rheos__dataset_spec_new(p, &caller_kind, &state->spec);
  if (status != NULL) release_named(state);
  p->compute = compute_one_shot;
  return status;
}

const rheos__op_def rheos__op_OneShotIterator = {
    .name = "OneShotIterator",
    .signature = "-> handle: resource; dataset_factory: func" RHEOS_DATASET_TYPES
                 "; container: string = \"\"; shared_name: string = \"\"",
    .doc = "The session's iterator of that name, over the dataset that `dataset_factory` makes.",
    .flags = RHEOS_OP_STATEFUL | RHEOS_OP_WANTS_NAME,
    .shape = rheos__shape_scalar,
    .gradient = rheos__no_gradient,
    .prepare = prepare_one_shot,
};

// ---- Iterators without a name

static rheos_status *compute_anonymous(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                       rheos_tensor **outputs) {
  (void)step, (void)inputs;
  iterator_object *object = NULL;
  RHEOS_TRY(new_object(state, &object));
  return rheos__handle_tensor_take(&object->variant, &RHEOS_SCALAR, &outputs[0]);
}

static rheos_status *compute_anonymous_2(void *state, rheos__step *step,
                                         rheos_tensor *const *inputs, rheos_tensor **outputs) {
  (void)step, (void)inputs;
  iterator_object *object = NULL;
  RHEOS_TRY(new_object(state, &object));
  rheos__variant *again = rheos__variant_ref(&object->variant);
  rheos_status *status = rheos__handle_tensor_take(&object->variant, &RHEOS_SCALAR, &outputs[0]);
  if (status != NULL) {
    rheos__variant_unref(again);
    return status;
  }
  return rheos__variant_tensor_take(again, &outputs[1]);
}

static rheos_status *prepare_anonymous(rheos__prepare *p) {
  rheos__components *c = RHEOS_NEW_STATE(p, rheos__components);
  if (c == NULL) return rheos__out_of_memory();
  p->compute = p->num_outputs == 2 ? compute_anonymous_2 : compute_anonymous;
  return rheos__components_of(p->attrs, c);
}

#define ANONYMOUS(op, outputs)                                        \
  const rheos__op_def rheos__op_##op = {                              \
      .name = #op,                                                    \
      .signature = "-> handle: resource" outputs RHEOS_DATASET_TYPES, \
      .doc = "A new iterator, over no dataset at first.",             \
      .flags = RHEOS_OP_STATEFUL | RHEOS_OP_TAKES_VARIANTS,           \
      .shape = rheos__shape_scalar,                                   \
      .gradient = rheos__no_gradient,                                 \
      .prepare = prepare_anonymous,                                   \
  };
ANONYMOUS(AnonymousIterator, "")
ANONYMOUS(AnonymousIteratorV2, ", deleter: variant")
ANONYMOUS(AnonymousIteratorV3, "")

static rheos_status *compute_delete(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                    rheos_tensor **outputs) {
  (void)state, (void)step, (void)outputs;
  iterator_object *object = NULL;
  RHEOS_TRY(object_of(inputs[0], "DeleteIterator", &object));
  pthread_mutex_lock(&object->mutex);
  rheos__iterator *iterator = object->iterator;
  object->iterator = NULL;
  pthread_mutex_unlock(&object->mutex);
  rheos__iterator_free(iterator);
  return NULL;
}

const rheos__op_def rheos__op_DeleteIterator = {
    .name = "DeleteIterator",
    .signature = "handle: resource, deleter: variant ->",
    .doc = "Lets go of the dataset of an iterator.",
    .flags = RHEOS_OP_STATEFUL | RHEOS_OP_TAKES_VARIANTS,
    .shape = rheos__shape_none,
    .gradient = rheos__no_gradient,
    .compute = compute_delete,
};

static rheos_status *compute_make(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                  rheos_tensor **outputs) {
  (void)state, (void)outputs;
  iterator_object *object = NULL;
  rheos__dataset *dataset = NULL;
  RHEOS_TRY(rheos__dataset_of(inputs[0], "MakeIterator", &dataset));
  RHEOS_TRY(object_of(inputs[1], "MakeIterator", &object));
  return set_dataset(object, dataset, step);
}

const rheos__op_def rheos__op_MakeIterator = {
    .name = "MakeIterator",
    .signature = "dataset: variant, iterator: resource ->",
    .doc = "Makes `iterator` go over `dataset`, from its beginning.",
    .flags = RHEOS_OP_STATEFUL | RHEOS_OP_TAKES_VARIANTS,
    .shape = rheos__shape_none,
    .gradient = rheos__no_gradient,
    .compute = compute_make,
};

// ---- Getting elements

static rheos_status *next_of(iterator_object *object, const rheos__components *wanted,
                             rheos__step *step, rheos_tensor **element, bool *out_end) {
  rheos__iterator *iterator = object->iterator;
  if (iterator == NULL) {
    return rheos_status_new(
        RHEOS_FAILED_PRECONDITION,
        "GetNext() failed because the iterator has not been initialized. Ensure that you have run "
        "the initializer operation for this iterator before getting the next element.");
  }
  const rheos__components got = {iterator->dataset->num_components, iterator->dataset->types, NULL};
  RHEOS_TRY(rheos__components_check(wanted, &got));
  rheos__iterator_watch(iterator, step);
  rheos__call_states *before = rheos__iterator_enter(iterator, step);
  rheos_status *failure = rheos__iterator_next(iterator, step, element, out_end);
  rheos__iterator_leave(step, before);
  if (failure != NULL) return failure;
  for (int32_t i = 0; !*out_end && wanted->shapes != NULL && i < wanted->count; ++i) {
    if (rheos_shape_compatible(&wanted->shapes[i], &element[i]->shape)) continue;
    rheos__shape_text a, b;
    rheos_status *status = RHEOS_INVALID(
        "Component %d of the element has shape %s, which does not fit the shape %s that the "
        "iterator is declared to give.",
        (int)i, rheos__shape_text_of(&element[i]->shape, &b),
        rheos__shape_text_of(&wanted->shapes[i], &a));
    rheos__element_clear(element, wanted->count);
    return status;
  }
  return NULL;
}

enum { LOOK_NS = 10 * 1000 * 1000 };

// Another step may be in the iterator, for as long as its input takes.
static bool lock_before(pthread_mutex_t *mutex, int64_t wait_ns) {
  struct timespec until;
  clock_gettime(CLOCK_MONOTONIC, &until);
  const int64_t ns = until.tv_nsec + wait_ns;
  until.tv_sec += ns / 1000000000;
  until.tv_nsec = ns % 1000000000;
  return pthread_mutex_clocklock(mutex, CLOCK_MONOTONIC, &until) == 0;
}

static rheos_status *lock_iterator(iterator_object *object, rheos__step *step) {
  if (pthread_mutex_trylock(&object->mutex) == 0) return NULL;
  while (!lock_before(&object->mutex, LOOK_NS)) {
    if (!rheos__step_should_stop(step)) continue;
    return rheos_status_new(RHEOS_CANCELLED,
                            "the step was stopped while another one had the iterator");
  }
  return NULL;
}

static rheos_status *get_next(const rheos__components *wanted, rheos__step *step,
                              rheos_tensor *const *inputs, rheos_tensor **element, bool *out_end) {
  iterator_object *object = NULL;
  RHEOS_TRY(object_of(inputs[0], "IteratorGetNext", &object));
  rheos__variant_ref(&object->variant);
  rheos_status *status = lock_iterator(object, step);
  if (status == NULL) {
    status = next_of(object, wanted, step, element, out_end);
    pthread_mutex_unlock(&object->mutex);
  }
  rheos__variant_unref(&object->variant);
  return status;
}

static rheos_status *compute_next(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                  rheos_tensor **outputs) {
  bool end = false;
  RHEOS_TRY(get_next(state, step, inputs, outputs, &end));
  return end ? rheos_status_new(RHEOS_OUT_OF_RANGE, "End of sequence") : NULL;
}

static rheos_status *compute_next_optional(void *state, rheos__step *step,
                                           rheos_tensor *const *inputs, rheos_tensor **outputs) {
  const rheos__components *wanted = state;
  rheos_tensor **element = rheos__alloc_array((size_t)wanted->count, sizeof *element);
  bool end = false;
  if (element == NULL) return rheos__out_of_memory();
  rheos_status *status = get_next(wanted, step, inputs, element, &end);
  if (status == NULL) {
    status = rheos__optional_take(element, end ? -1 : wanted->count, &outputs[0]);
  }
  rheos__free(element);
  return status;
}

static rheos_status *prepare_with_components(rheos__prepare *p, rheos__compute_fn compute) {
  rheos__components *c = RHEOS_NEW_STATE(p, rheos__components);
  if (c == NULL) return rheos__out_of_memory();
  p->compute = compute;
  return rheos__components_of(p->attrs, c);
}

static rheos_status *prepare_next(rheos__prepare *p) {
  return prepare_with_components(p, compute_next);
}
static rheos_status *prepare_next_optional(rheos__prepare *p) {
  return prepare_with_components(p, compute_next_optional);
}

static rheos_status *shape_next(rheos__infer *c) {
  rheos__components declared;
  rheos_shape handle;
  RHEOS_TRY(rheos__infer_rank(c, 0, 0, &handle));
  RHEOS_TRY(rheos__components_of(c->attrs, &declared));
  for (int32_t i = 0; declared.shapes != NULL && i < declared.count; ++i) {
    c->output_shapes[i] = declared.shapes[i];
  }
  return NULL;
}

#define NEXT(op)                                                                         \
  const rheos__op_def rheos__op_##op = {                                                 \
      .name = #op,                                                                       \
      .signature = "iterator: resource -> components: output_types" RHEOS_DATASET_TYPES, \
      .doc = "The next element; RHEOS_OUT_OF_RANGE at the end.",                         \
      .flags = RHEOS_OP_STATEFUL | RHEOS_OP_TAKES_VARIANTS,                              \
      .shape = shape_next,                                                               \
      .gradient = rheos__no_gradient,                                                    \
      .prepare = prepare_next,                                                           \
  };
NEXT(IteratorGetNext)
NEXT(IteratorGetNextSync)

const rheos__op_def rheos__op_IteratorGetNextAsOptional = {
    .name = "IteratorGetNextAsOptional",
    .signature = "iterator: resource -> optional: variant" RHEOS_DATASET_TYPES,
    .doc = "The next element as an optional, at the end one without a value.",
    .flags = RHEOS_OP_STATEFUL | RHEOS_OP_TAKES_VARIANTS,
    .shape = rheos__shape_scalar,
    .gradient = rheos__no_gradient,
    .prepare = prepare_next_optional,
};

// ---- Strings that name iterators

typedef struct string_state {
  rheos__handle_strings *strings;
  rheos__components wanted;
} string_state;

static void release_string(void *state) {
  rheos__handle_strings_unref(((string_state *)state)->strings);
}

static rheos_status *compute_to_string(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                       rheos_tensor **outputs) {
  (void)step;
  iterator_object *object = NULL;
  RHEOS_TRY(object_of(inputs[0], "IteratorToStringHandle", &object));
  return rheos__handle_string_new(((string_state *)state)->strings, &object->variant, &outputs[0]);
}

static rheos_status *compute_from_string(void *state, rheos__step *step,
                                         rheos_tensor *const *inputs, rheos_tensor **outputs) {
  (void)step;
  const string_state *s = state;
  iterator_object *object = NULL;
  RHEOS_TRY(
      rheos__handle_string_find(s->strings, inputs[0], &object_kind, (rheos__variant **)&object));
  const rheos__components held = {object->num_components, object->types, object->shapes};
  rheos_status *status =
      s->wanted.count > 0 && held.count > 0 ? rheos__components_check(&s->wanted, &held) : NULL;
  if (status != NULL) {
    rheos__variant_unref(&object->variant);
    return status;
  }
  return rheos__handle_tensor_take(&object->variant, &RHEOS_SCALAR, &outputs[0]);
}

static rheos_status *prepare_string(rheos__prepare *p) {
  string_state *state = RHEOS_NEW_STATE(p, string_state);
  if (state == NULL) return rheos__out_of_memory();
  const bool makes_string = p->output_dtypes[0] == RHEOS_STRING;
  if (!makes_string) RHEOS_TRY(rheos__components_of(p->attrs, &state->wanted));
  RHEOS_TRY(rheos__handle_strings_get(p, &state->strings));
  p->release = release_string;
  p->compute = makes_string ? compute_to_string : compute_from_string;
  return NULL;
}

const rheos__op_def rheos__op_IteratorToStringHandle = {
    .name = "IteratorToStringHandle",
    .signature = "resource_handle: resource -> string_handle: string",
    .doc = "A string by which the session knows the iterator.",
    .flags = RHEOS_OP_STATEFUL,
    .shape = rheos__shape_scalar,
    .gradient = rheos__no_gradient,
    .prepare = prepare_string,
};

#define FROM_STRING(op)                                                        \
  const rheos__op_def rheos__op_##op = {                                       \
      .name = #op,                                                             \
      .signature =                                                             \
          "string_handle: string -> resource_handle: resource; output_types: " \
          "list(type) >= 0 = []; output_shapes: list(shape) >= 0 = []",        \
      .doc = "The iterator that the session knows by a string.",               \
      .flags = RHEOS_OP_STATEFUL,                                              \
      .shape = rheos__shape_scalar,                                            \
      .gradient = rheos__no_gradient,                                          \
      .prepare = prepare_string,                                               \
  };
FROM_STRING(IteratorFromStringHandle)
FROM_STRING(IteratorFromStringHandleV2)

// ---- Saving

static rheos_status *no_dataset(const char *op) {
  return rheos_status_new(RHEOS_FAILED_PRECONDITION,
                          "%s needs an iterator that has been initialized", op);
}

static rheos_status *transfer(rheos__iterator *iterator, rheos__saved_state *state,
                              rheos__step *step) {
  rheos__call_states *before = rheos__iterator_enter(iterator, step);
  rheos_status *status = rheos__iterator_transfer(iterator, state, step);
  rheos__iterator_leave(step, before);
  return status;
}

// TensorFlow's numbers of policies are 0 (warn), 1 (ignore) and this one.
enum { REFUSE_STATE = 2 };

static rheos_status *save(const iterator_object *object, int64_t policy, rheos__saved_state *saved,
                          rheos__step *step) {
  if (object->iterator == NULL) return no_dataset("SerializeIterator");
  if (policy == REFUSE_STATE && object->iterator->dataset->has_state) {
    return rheos_status_new(RHEOS_FAILED_PRECONDITION,
                            "the iterator cannot be saved: a function of its pipeline has effects, "
                            "or state such as variables and random generators, which are not saved "
                            "with it (options().experimental_external_state_policy allows that)");
  }
  return transfer(object->iterator, saved, step);
}

static rheos_status *compute_serialize(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                       rheos_tensor **outputs) {
  iterator_object *object = NULL;
  RHEOS_TRY(object_of(inputs[0], "SerializeIterator", &object));
  rheos__saved_state saved = {0};
  pthread_mutex_lock(&object->mutex);
  rheos_status *status = save(object, *(const int64_t *)state, &saved, step);
  pthread_mutex_unlock(&object->mutex);
  if (status == NULL) return rheos__saved_state_tensor_take(&saved, &outputs[0]);
  rheos__saved_state_deinit(&saved);
  return status;
}

// A fresh iterator over the dataset takes the state; then it takes the place of the other one.
static rheos_status *restore(iterator_object *object, const rheos__saved_state *saved,
                             rheos__step *step, rheos__iterator **out_before) {
  rheos__iterator *iterator = NULL;
  if (object->iterator == NULL) return no_dataset("DeserializeIterator");
  RHEOS_TRY(rheos__iterator_new_outer(object->iterator->dataset, step, &iterator));
  rheos__saved_state state = *saved;
  state.is_restoring = true;
  state.at = 0;
  rheos_status *status = transfer(iterator, &state, step);
  if (status == NULL && state.at != state.count) {
    status = RHEOS_INVALID("the state of the iterator is that of another pipeline");
  }
  *out_before = iterator;
  if (status != NULL) return status;
  *out_before = object->iterator;
  object->iterator = iterator;
  return NULL;
}

static rheos_status *compute_deserialize(void *state, rheos__step *step,
                                         rheos_tensor *const *inputs, rheos_tensor **outputs) {
  (void)state, (void)outputs;
  iterator_object *object = NULL;
  const rheos__saved_state *saved = NULL;
  rheos__iterator *before = NULL;
  RHEOS_TRY(object_of(inputs[0], "DeserializeIterator", &object));
  RHEOS_TRY(rheos__saved_state_of(inputs[1], "DeserializeIterator", &saved));
  pthread_mutex_lock(&object->mutex);
  rheos_status *status = restore(object, saved, step, &before);
  pthread_mutex_unlock(&object->mutex);
  rheos__iterator_free(before);
  return status;
}

static rheos_status *prepare_serialize_iterator(rheos__prepare *p) {
  int64_t *policy = RHEOS_NEW_STATE(p, int64_t);
  if (policy == NULL) return rheos__out_of_memory();
  *policy = rheos__attr_int(p->attrs, "external_state_policy");
  p->compute = compute_serialize;
  return NULL;
}

const rheos__op_def rheos__op_SerializeIterator = {
    .name = "SerializeIterator",
    .signature = "resource_handle: resource -> serialized: variant; external_state_policy: int = 0",
    .doc = "Where the iterator is in its dataset.",
    .flags = RHEOS_OP_STATEFUL | RHEOS_OP_TAKES_VARIANTS,
    .shape = rheos__shape_scalar,
    .gradient = rheos__no_gradient,
    .prepare = prepare_serialize_iterator,
};

const rheos__op_def rheos__op_DeserializeIterator = {
    .name = "DeserializeIterator",
    .signature = "resource_handle: resource, serialized: variant ->",
    .doc = "Makes the iterator, over the same dataset, go on where another one was.",
    .flags = RHEOS_OP_STATEFUL | RHEOS_OP_TAKES_VARIANTS,
    .shape = rheos__shape_none,
    .gradient = rheos__no_gradient,
    .compute = compute_deserialize,
};
