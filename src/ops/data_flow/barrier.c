// Barriers: components of elements come one by one under the key of their element; what is complete
// goes into a queue by priority, the keys that came first first. As TensorFlow's, elements that
// came in one insertion have one priority.
#include <string.h>

#include "base/hash.h"
#include "ops/data_flow/queue_util.h"
#include "ops/kit/op_util.h"

// An element of which something is missing; the tuple's first two components are its priority and
// key.
typedef struct incomplete {
  struct incomplete *next;  // of its bucket
  rheos__tuple tuple;
  uint64_t hash;
} incomplete;

typedef struct barrier {
  rheos__queue ready;  // closed when nothing more can come into it
  bool is_closed, is_cancelled;
  int64_t next_priority;
  incomplete **buckets;
  int64_t num_buckets, num_incomplete;  // the buckets are a power of 2
} barrier;

static rheos_status *init_barrier(rheos__resource *resource, const void *argument) {
  barrier *b = (barrier *)resource;
  b->next_priority = INT64_MIN;
  return rheos__queue_kind.init(resource, argument);
}

static void forget_incomplete(barrier *b) {
  for (int64_t i = 0; i < b->num_buckets; ++i) {
    for (incomplete *element = b->buckets[i], *next; element != NULL; element = next) {
      next = element->next;
      rheos__tuple_free(&b->ready, element->tuple);
      rheos__free(element);
    }
    b->buckets[i] = NULL;
  }
  b->num_incomplete = 0;
}

static void deinit_barrier(rheos__resource *resource) {
  barrier *b = (barrier *)resource;
  forget_incomplete(b);
  rheos__free(b->buckets);
  rheos__queue_kind.deinit(resource);
}

static const rheos__resource_kind barrier_kind = {"barrier", sizeof(barrier), init_barrier,
                                                  deinit_barrier};

static const char *name_of(const barrier *b) { return b->ready.waitable.base.name; }

// ---- Elements that are not complete

static const rheos_string *key_of(const incomplete *element) { return element->tuple[1]->data; }

static incomplete **find(barrier *b, uint64_t hash, const rheos_string *key) {
  incomplete **at = &b->buckets[hash & (uint64_t)(b->num_buckets - 1)];
  while (*at != NULL && !((*at)->hash == hash && rheos__string_equal(key_of(*at), key))) {
    at = &(*at)->next;
  }
  return at;
}

static bool grow(barrier *b) {
  if (b->num_incomplete < b->num_buckets) return true;
  const int64_t larger = b->num_buckets > 0 ? b->num_buckets * 2 : 16;
  incomplete **buckets = rheos__alloc_array((size_t)larger, sizeof *buckets);
  if (buckets == NULL) return false;
  for (int64_t i = 0; i < b->num_buckets; ++i) {
    for (incomplete *element = b->buckets[i], *next; element != NULL; element = next) {
      incomplete **bucket = &buckets[element->hash & (uint64_t)(larger - 1)];
      next = element->next;
      element->next = *bucket;
      *bucket = element;
    }
  }
  rheos__free(b->buckets);
  b->buckets = buckets;
  b->num_buckets = larger;
  return true;
}

static rheos_status *begin_element(barrier *b, const rheos_string *key, incomplete **out_element) {
  incomplete *element = rheos__alloc_zeroed(sizeof *element);
  if (element != NULL) element->tuple = rheos__tuple_new(&b->ready);
  if (element == NULL || element->tuple == NULL) {
    rheos__free(element);
    return rheos__out_of_memory();
  }
  rheos_status *status =
      rheos_tensor_from_values(RHEOS_INT64, RHEOS_SCALAR, &b->next_priority, &element->tuple[0]);
  if (status == NULL) {
    status = rheos__tensor_new(RHEOS_STRING, &RHEOS_SCALAR, &element->tuple[1]);
  }
  if (status == NULL) {
    status = rheos_tensor_set_string(element->tuple[1], 0, key->data, key->size_bytes);
  }
  if (status != NULL) {
    rheos__tuple_free(&b->ready, element->tuple);
    rheos__free(element);
    return status;
  }
  *out_element = element;
  return NULL;
}

static bool is_complete(const barrier *b, const incomplete *element) {
  for (int32_t i = 0; i < b->ready.spec.num_components; ++i) {
    if (element->tuple[i] == NULL) return false;
  }
  return true;
}

// ---- Insertions, under the mutex

typedef struct insertion {
  barrier *barrier;
  int32_t component;  // of the tuple
  const rheos_tensor *keys, *values;
  bool has_new;
} insertion;

static rheos_status *new_key_error(const barrier *b, const rheos_string *key, int64_t row) {
  return rheos_status_new(RHEOS_CANCELLED,
                          "Barrier %s is closed, but attempted to insert a brand new key: %.*s.  "
                          "Pending enqueues cancelled: %d.  Insertion index: %lld.  Number of "
                          "incomplete keys: %lld.",
                          name_of(b), (int)key->size_bytes, key->size_bytes > 0 ? key->data : "",
                          (int)b->is_cancelled, (long long)row, (long long)b->num_incomplete);
}

static rheos_status *element_for(insertion *in, int64_t row, incomplete ***out_at) {
  barrier *b = in->barrier;
  const rheos_string *key = (const rheos_string *)in->keys->data + row;
  if (!grow(b)) return rheos__out_of_memory();
  const uint64_t hash = rheos__hash_bytes(0, key->data, key->size_bytes);
  incomplete **at = find(b, hash, key);
  *out_at = at;
  if (*at != NULL) return NULL;
  if (b->is_closed) return new_key_error(b, key, row);
  RHEOS_TRY(begin_element(b, key, at));
  (*at)->hash = hash;
  ++b->num_incomplete;
  in->has_new = true;
  return NULL;
}

static rheos_status *insert_row(insertion *in, int64_t row) {
  barrier *b = in->barrier;
  incomplete **at = NULL;
  RHEOS_TRY(element_for(in, row, &at));
  incomplete *element = *at;
  if (element->tuple[in->component] != NULL) {
    const rheos_string *key = key_of(element);
    return RHEOS_INVALID("Key %.*s already has a value for component %d in barrier %s",
                         (int)key->size_bytes, key->size_bytes > 0 ? key->data : "",
                         (int)in->component - 2, name_of(b));
  }
  RHEOS_TRY(rheos__copy_row(in->values, row, &element->tuple[in->component]));
  if (!is_complete(b, element)) return NULL;
  if (!rheos__queue_put(&b->ready, element->tuple)) return rheos__out_of_memory();
  *at = element->next;
  rheos__free(element);
  --b->num_incomplete;
  return NULL;
}

static rheos_status *insert_rows(insertion *in) {
  barrier *b = in->barrier;
  const int64_t count = in->keys->num_elements;
  if (b->is_closed && (b->is_cancelled || (count > 0 && b->num_incomplete == 0))) {
    return rheos_status_new(RHEOS_CANCELLED,
                            "Barrier %s is closed.  Pending enqueues cancelled: %d.  Number of new "
                            "insertions: %lld.  Number of incomplete keys: %lld.",
                            name_of(b), (int)b->is_cancelled, (long long)count,
                            (long long)b->num_incomplete);
  }
  for (int64_t row = 0; row < count; ++row) RHEOS_TRY(insert_row(in, row));
  if (in->has_new) ++b->next_priority;
  return NULL;
}

// What elements hold may be told by the first one.
static rheos_status *check_values(barrier *b, int32_t component, const rheos_tensor *values) {
  rheos_shape *expected = (rheos_shape *)(uintptr_t)&b->ready.spec.shapes[component];
  rheos_shape shape = {.rank = values->shape.rank - 1};
  memcpy(shape.dims, values->shape.dims + 1, (size_t)shape.rank * sizeof *shape.dims);
  rheos__shape_text wants, is;
  if (!rheos_shape_compatible(expected, &shape)) {
    return RHEOS_INVALID("Shape mismatch in tuple component %d. Expected %s, got %s",
                         (int)component, rheos__shape_text_of(expected, &wants),
                         rheos__shape_text_of(&shape, &is));
  }
  *expected = shape;
  return NULL;
}

static rheos_status *check_inputs(const rheos_tensor *keys, const rheos_tensor *values) {
  rheos__shape_text key_text, value_text;
  if (keys->shape.rank != 1) {
    return RHEOS_INVALID("Input keys should be vector but received shape: %s",
                         rheos__shape_text_of(&keys->shape, &key_text));
  }
  if (values->shape.rank < 1 || values->shape.dims[0] != keys->num_elements) {
    return RHEOS_INVALID("keys of shape %s need values of as many rows, got shape %s",
                         rheos__shape_text_of(&keys->shape, &key_text),
                         rheos__shape_text_of(&values->shape, &value_text));
  }
  if (values->num_elements == 0 && keys->num_elements > 0) {
    return RHEOS_INVALID("Tensors with no elements are not supported: received shape %s",
                         rheos__shape_text_of(&values->shape, &value_text));
  }
  return NULL;
}

typedef struct insert_state {
  barrier *barrier;
  int32_t component;
} insert_state;

static rheos_status *compute_insert(void *argument, rheos__step *step, rheos_tensor *const *inputs,
                                    rheos_tensor **outputs) {
  (void)step, (void)outputs;
  const insert_state *state = argument;
  barrier *b = state->barrier;
  insertion in = {b, state->component, inputs[1], inputs[2], false};
  RHEOS_TRY(check_inputs(in.keys, in.values));
  pthread_mutex_lock(&b->ready.waitable.mutex);
  rheos_status *status = NULL;
  if (in.keys->num_elements > 0) status = check_values(b, in.component, in.values);
  if (status == NULL) status = insert_rows(&in);
  if (b->is_closed && b->num_incomplete == 0) b->ready.is_closed = true;
  rheos__waitable_serve(&b->ready.waitable);
  pthread_mutex_unlock(&b->ready.waitable.mutex);
  return status;
}

// ---- Taking, closing, looking

// What cannot be had any more is refused at once. Of a closed barrier fewer may be given: what is
// ready.
static rheos_status *check_enough(barrier *b, int64_t wanted, bool allows_fewer,
                                  int64_t *out_most) {
  pthread_mutex_lock(&b->ready.waitable.mutex);
  const bool is_closed = b->is_closed;
  int64_t size = b->ready.size;
  if (allows_fewer && wanted > size) wanted = size;
  if (!allows_fewer) size += b->num_incomplete;
  pthread_mutex_unlock(&b->ready.waitable.mutex);
  *out_most = is_closed ? wanted : INT64_MAX;
  if (!is_closed || size >= (wanted > 1 ? wanted : 1)) return NULL;
  return rheos_status_new(
      RHEOS_OUT_OF_RANGE,
      "Barrier '%s' is closed and has insufficient elements (requested %lld, total size %lld)",
      name_of(b), (long long)wanted, (long long)size);
}

typedef struct take_state {
  barrier *barrier;
  bool allows_fewer;
} take_state;

static rheos_status *compute_take(void *argument, rheos__step *step, rheos_tensor *const *inputs,
                                  rheos_tensor **outputs) {
  const take_state *state = argument;
  int64_t most = INT64_MAX;
  if (inputs[1]->num_elements == 1) {
    RHEOS_TRY(check_enough(state->barrier, rheos__tensor_int_at(inputs[1], 0), state->allows_fewer,
                           &most));
  }
  return rheos__dequeue_many(&state->barrier->ready, step, inputs[1], most, state->allows_fewer,
                             outputs);
}

typedef struct close_state {
  barrier *barrier;
  bool cancels;
} close_state;

static rheos_status *compute_close(void *argument, rheos__step *step, rheos_tensor *const *inputs,
                                   rheos_tensor **outputs) {
  (void)step, (void)inputs, (void)outputs;
  const close_state *state = argument;
  barrier *b = state->barrier;
  rheos_status *status = NULL;
  pthread_mutex_lock(&b->ready.waitable.mutex);
  if (b->is_closed && (b->is_cancelled || !state->cancels)) {
    status = rheos_status_new(RHEOS_CANCELLED, "Barrier '%s' is already closed.", name_of(b));
  } else {
    b->is_closed = true;
    b->is_cancelled = state->cancels;
    if (b->is_cancelled) forget_incomplete(b);
    if (b->num_incomplete == 0) b->ready.is_closed = true;
    rheos__waitable_serve(&b->ready.waitable);
  }
  pthread_mutex_unlock(&b->ready.waitable.mutex);
  return status;
}

static rheos_status *give_size(barrier *b, const int64_t *size, rheos_tensor **output) {
  pthread_mutex_lock(&b->ready.waitable.mutex);
  const int32_t answer = *size < INT32_MAX ? (int32_t)*size : INT32_MAX;
  pthread_mutex_unlock(&b->ready.waitable.mutex);
  return rheos_tensor_from_values(RHEOS_INT32, RHEOS_SCALAR, &answer, output);
}

static rheos_status *compute_ready(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                   rheos_tensor **outputs) {
  (void)step, (void)inputs;
  return give_size(state, &((const barrier *)state)->ready.size, &outputs[0]);
}

static rheos_status *compute_incomplete(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                        rheos_tensor **outputs) {
  (void)step, (void)inputs;
  return give_size(state, &((const barrier *)state)->num_incomplete, &outputs[0]);
}

// ---- Preparing

static rheos_status *read_spec(rheos__prepare *p, rheos__queue_spec *spec) {
  const rheos_attr_value *types = rheos__attrs_find(p->attrs, "component_types");
  const rheos_attr_value *shapes = rheos__attrs_find(p->attrs, "shapes");
  if (rheos__attr_int(p->attrs, "capacity") >= 0) {
    return RHEOS_INVALID(
        "Barrier only accepts capacity=-1.  Feed the inputs to your Barrier "
        "through a queue to enforce a limited capacity.");
  }
  if (shapes->count > 0 && shapes->count != types->count) {
    return RHEOS_INVALID("All of the component shapes must be specified or none: %d of %d are",
                         (int)shapes->count, (int)types->count);
  }
  const int32_t count = types->count + 2;
  rheos_dtype *dtypes = rheos__arena_alloc_zeroed(p->arena, (size_t)count * sizeof *dtypes);
  rheos_shape *known = rheos__arena_alloc_zeroed(p->arena, (size_t)count * sizeof *known);
  if (dtypes == NULL || known == NULL) return rheos__out_of_memory();
  dtypes[0] = RHEOS_INT64;
  dtypes[1] = RHEOS_STRING;
  known[0] = known[1] = RHEOS_SCALAR;
  for (int32_t i = 0; i < types->count; ++i) {
    dtypes[i + 2] = types->types[i];
    known[i + 2] = shapes->count > 0 ? shapes->shapes[i] : RHEOS_UNKNOWN_SHAPE;
  }
  *spec = (rheos__queue_spec){.order = RHEOS__QUEUE_PRIORITY,
                              .capacity = -1,
                              .num_components = count,
                              .num_shapes = count,
                              .dtypes = dtypes,
                              .shapes = known};
  return NULL;
}

static void unref_barrier(void *state) { rheos__resource_unref(*(rheos__resource **)state); }

static rheos_status *prepare_barrier(rheos__prepare *p) {
  rheos__queue_spec spec;
  RHEOS_TRY(read_spec(p, &spec));
  rheos__resource **state = RHEOS_NEW_STATE(p, rheos__resource *);
  if (state == NULL) return rheos__out_of_memory();
  RHEOS_TRY(rheos__named_resource(p, &barrier_kind, &spec, state));
  rheos_status *status =
      rheos__queue_check_dtypes((rheos__queue *)*state, spec.dtypes, spec.num_components);
  if (status != NULL) {
    unref_barrier(state);
    return status;
  }
  p->release = unref_barrier;
  p->output_resource = *state;
  return NULL;
}

static rheos_status *barrier_of(const rheos__prepare *p, barrier **out_barrier) {
  rheos__resource *resource = p->input_resources[0];
  if (resource == NULL) return RHEOS_INVALID("input 0 is not a barrier");
  if (resource->kind != &barrier_kind) {
    return RHEOS_INVALID("%s is a %s, not a barrier", resource->name, resource->kind->name);
  }
  *out_barrier = (barrier *)resource;
  return NULL;
}

static rheos_status *prepare_insert(rheos__prepare *p) {
  insert_state *state = RHEOS_NEW_STATE(p, insert_state);
  if (state == NULL) return rheos__out_of_memory();
  RHEOS_TRY(barrier_of(p, &state->barrier));
  const rheos__queue_spec *spec = &state->barrier->ready.spec;
  const int64_t component = rheos__attr_int(p->attrs, "component_index");
  if (component < 0 || component >= spec->num_components - 2) {
    return RHEOS_INVALID("The component ID is out of range %lld > num_components (= %d)",
                         (long long)component, (int)spec->num_components - 2);
  }
  state->component = (int32_t)component + 2;
  if (p->input_dtypes[2] != spec->dtypes[state->component]) {
    return RHEOS_INVALID("component %lld of barrier %s is %s, not %s", (long long)component,
                         name_of(state->barrier), rheos_dtype_name(spec->dtypes[state->component]),
                         rheos_dtype_name(p->input_dtypes[2]));
  }
  p->compute = p->op->compute;
  return NULL;
}

static rheos_status *prepare_take(rheos__prepare *p) {
  take_state *state = RHEOS_NEW_STATE(p, take_state);
  if (state == NULL) return rheos__out_of_memory();
  RHEOS_TRY(barrier_of(p, &state->barrier));
  state->allows_fewer = rheos__attr_bool(p->attrs, "allow_small_batch");
  if (rheos__attr_int(p->attrs, "timeout_ms") != -1) {
    return RHEOS_INVALID("Timeout not supported yet.");
  }
  RHEOS_TRY(rheos__queue_check_dtypes(&state->barrier->ready, p->output_dtypes, p->num_outputs));
  p->compute = p->op->compute;
  return NULL;
}

static rheos_status *prepare_close(rheos__prepare *p) {
  close_state *state = RHEOS_NEW_STATE(p, close_state);
  if (state == NULL) return rheos__out_of_memory();
  RHEOS_TRY(barrier_of(p, &state->barrier));
  state->cancels = rheos__attr_bool(p->attrs, "cancel_pending_enqueues");
  p->compute = p->op->compute;
  return NULL;
}

static rheos_status *prepare_look(rheos__prepare *p) {
  barrier *b = NULL;
  RHEOS_TRY(barrier_of(p, &b));
  p->state = b;
  p->compute = p->op->compute;
  return NULL;
}

static rheos_status *shape_insert(rheos__infer *c) {
  rheos_shape keys;
  return rheos__infer_rank(c, 1, 1, &keys);
}

static rheos_status *shape_take(rheos__infer *c) {
  rheos_shape scalar;
  RHEOS_TRY(rheos__infer_rank(c, 1, 0, &scalar));
  for (int32_t i = 0; i < c->num_outputs; ++i) c->output_shapes[i] = RHEOS_UNKNOWN_SHAPE;
  c->output_shapes[0] = c->output_shapes[1] = RHEOS_SHAPE(-1);
  return NULL;
}

const rheos__op_def rheos__op_Barrier = {
    .name = "Barrier",
    .signature =
        "-> handle: Ref(string); component_types: list(type) >= 1; "
        "shapes: list(shape) >= 0 = []; capacity: int = -1; "
        "container: string = \"\"; shared_name: string = \"\"",
    .doc = "Completes elements whose components come one by one, under keys.",
    .flags = RHEOS_OP_STATEFUL,
    .shape = rheos__shape_handle,
    .gradient = rheos__no_gradient,
    .prepare = prepare_barrier,
};

#define ON_BARRIER(op_name, rest, text, flags_, shape_fn, prepare_fn, compute_fn) \
  const rheos__op_def rheos__op_##op_name = {                                     \
      .name = #op_name,                                                           \
      .signature = "handle: Ref(string)" rest,                                    \
      .doc = text,                                                                \
      .flags = RHEOS_OP_STATEFUL | (flags_),                                      \
      .shape = shape_fn,                                                          \
      .gradient = rheos__no_gradient,                                             \
      .prepare = prepare_fn,                                                      \
      .compute = compute_fn,                                                      \
  };

ON_BARRIER(BarrierInsertMany, ", keys: string, values: T ->; T: type; component_index: int",
           "Gives elements, by their `keys`, one component: a row of `values` each.",
           RHEOS_OP_WRITES, shape_insert, prepare_insert, compute_insert)
ON_BARRIER(BarrierTakeMany,
           ", num_elements: int32 -> indices: int64, keys: string, values: component_types; "
           "component_types: list(type) >= 1; allow_small_batch: bool = false; "
           "wait_for_incomplete: bool = false; timeout_ms: int = -1",
           "Takes complete elements out when there are `num_elements`, as rows.",
           RHEOS_OP_WRITES | RHEOS_OP_WAITS, shape_take, prepare_take, compute_take)
ON_BARRIER(BarrierClose, " ->; cancel_pending_enqueues: bool = false",
           "Lets no new keys in; cancelled, forgets what is not complete.", RHEOS_OP_WRITES,
           rheos__shape_none, prepare_close, compute_close)
ON_BARRIER(BarrierReadySize, " -> size: int32", "How many elements are complete.", 0,
           rheos__shape_scalar, prepare_look, compute_ready)
ON_BARRIER(BarrierIncompleteSize, " -> size: int32", "How many elements are not complete.", 0,
           rheos__shape_scalar, prepare_look, compute_incomplete)
