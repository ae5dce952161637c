// Queues as ops: making them, putting tensors in, taking them out. Each op exists twice: for
// handles that are references (TensorFlow's first version) and for resources. The queues themselves
// are in queue.c.
#include <assert.h>
#include <string.h>

#include "ops/data_flow/queue_util.h"
#include "ops/kit/array_util.h"
#include "ops/kit/op_util.h"

// ---- Making a queue

enum { MAX_COMPONENTS = RHEOS__MAX_SIGNATURE_ITEMS * 4 };

static void unref_queue(void *state) { rheos__resource_unref(*(rheos__resource **)state); }

// The components as the attributes tell them; a queue by priority has one more, its priorities.
static rheos_status *read_components(rheos__prepare *p, rheos__queue_spec *spec) {
  const rheos_attr_value *types = rheos__attrs_find(p->attrs, "component_types");
  const rheos_attr_value *shapes = rheos__attrs_find(p->attrs, "shapes");
  const int32_t more = spec->order == RHEOS__QUEUE_PRIORITY ? 1 : 0;
  if (shapes->count > 0 && shapes->count != types->count) {
    return RHEOS_INVALID("Different number of component types and shapes: %d and %d",
                         (int)types->count, (int)shapes->count);
  }
  spec->num_components = types->count + more;
  const bool has_shapes = shapes->count > 0 || (more > 0 && types->count == 0);
  spec->num_shapes = has_shapes ? spec->num_components : 0;
  const size_t count = (size_t)spec->num_components;
  rheos_dtype *dtypes = rheos__arena_alloc_zeroed(p->arena, count * sizeof *dtypes);
  rheos_shape *known = rheos__arena_alloc_zeroed(p->arena, count * sizeof *known);
  if (dtypes == NULL || known == NULL) return rheos__out_of_memory();
  dtypes[0] = RHEOS_INT64;
  known[0] = RHEOS_SCALAR;
  for (int32_t i = 0; i < types->count; ++i) dtypes[i + more] = types->types[i];
  for (int32_t i = 0; i < shapes->count; ++i) {
    known[i + more] = shapes->shapes[i];
    if (spec->order == RHEOS__QUEUE_PADDING || rheos_shape_is_known(&shapes->shapes[i])) continue;
    rheos__shape_text text;
    return RHEOS_INVALID("%s needs shapes that are fully defined, got %s", p->op->name,
                         rheos__shape_text_of(&shapes->shapes[i], &text));
  }
  spec->dtypes = dtypes;
  spec->shapes = known;
  return NULL;
}

static rheos_status *read_spec(rheos__prepare *p, rheos__queue_spec *spec) {
  *spec = (rheos__queue_spec){.order = *(const rheos__queue_order *)p->op->family,
                              .capacity = rheos__attr_int(p->attrs, "capacity")};
  if (spec->capacity < 0) spec->capacity = -1;
  RHEOS_TRY(read_components(p, spec));
  if (spec->order != RHEOS__QUEUE_SHUFFLE) return NULL;
  spec->min_after_dequeue = rheos__attr_int(p->attrs, "min_after_dequeue");
  spec->seed = rheos__attr_int(p->attrs, "seed");
  spec->seed2 = rheos__attr_int(p->attrs, "seed2");
  if (spec->min_after_dequeue < 0) {
    return RHEOS_INVALID("min_after_dequeue %lld must be >= 0", (long long)spec->min_after_dequeue);
  }
  if (spec->capacity >= 0 && spec->min_after_dequeue >= spec->capacity) {
    return RHEOS_INVALID("min_after_dequeue %lld must be < capacity %lld",
                         (long long)spec->min_after_dequeue, (long long)spec->capacity);
  }
  return NULL;
}

static rheos_status *prepare_queue(rheos__prepare *p) {
  rheos__queue_spec spec;
  RHEOS_TRY(read_spec(p, &spec));
  rheos__resource **state = RHEOS_NEW_STATE(p, rheos__resource *);
  if (state == NULL) return rheos__out_of_memory();
  RHEOS_TRY(rheos__named_resource(p, &rheos__queue_kind, &spec, state));
  rheos_status *status =
      rheos__queue_check_same((rheos__queue *)*state, &spec, p->node_name, p->op->name);
  if (status != NULL) {
    unref_queue(state);
    return status;
  }
  p->release = unref_queue;
  p->output_resource = *state;
  return NULL;
}

rheos_status *rheos__shape_handle(rheos__infer *c) {
  if (!rheos_dtype_is_ref(c->output_dtypes[0])) return rheos__shape_scalar(c);
  c->output_shapes[0] = RHEOS_SHAPE(2);
  return NULL;
}

#define NAMING "container: string = \"\"; shared_name: string = \"\""
#define TYPES "component_types: list(type) >= 1; shapes: list(shape) >= 0 = []; "
#define CAPACITY "capacity: int = -1; "
#define SEEDS "min_after_dequeue: int = 0; seed: int = 0; seed2: int = 0; "
#define ANY_TYPES "component_types: list(type) >= 0 = []; shapes: list(shape) >= 0; "

#define QUEUE_OP(op_name, handle_type, ATTRS, text, ORDER)      \
  const rheos__op_def rheos__op_##op_name = {                   \
      .name = #op_name,                                         \
      .signature = "-> handle: " handle_type "; " ATTRS NAMING, \
      .doc = text,                                              \
      .flags = RHEOS_OP_STATEFUL,                               \
      .shape = rheos__shape_handle,                             \
      .gradient = rheos__no_gradient,                           \
      .prepare = prepare_queue,                                 \
      .family = &(const rheos__queue_order){ORDER},             \
  };
#define QUEUE_OPS(op_name, ATTRS, text, ORDER)         \
  QUEUE_OP(op_name, "Ref(string)", ATTRS, text, ORDER) \
  QUEUE_OP(op_name##V2, "resource", ATTRS, text, ORDER)

QUEUE_OPS(FIFOQueue, TYPES CAPACITY, "A queue: first in, first out.", RHEOS__QUEUE_FIFO)
QUEUE_OPS(PaddingFIFOQueue, TYPES CAPACITY,
          "A queue whose elements are padded to one shape where many are taken at once.",
          RHEOS__QUEUE_PADDING)
QUEUE_OPS(RandomShuffleQueue, TYPES CAPACITY SEEDS,
          "A queue that gives its elements in random order.", RHEOS__QUEUE_SHUFFLE)
QUEUE_OPS(PriorityQueue, ANY_TYPES CAPACITY,
          "A queue that gives the element with the least first component first.",
          RHEOS__QUEUE_PRIORITY)

// ---- On a queue

rheos_status *rheos__queue_of(const rheos__prepare *p, int32_t input, rheos__queue **out_queue) {
  rheos__resource *resource = p->input_resources[input];
  *out_queue = NULL;
  if (resource == NULL) return RHEOS_INVALID("input %d is not a queue", (int)input);
  if (resource->kind != &rheos__queue_kind) {
    return RHEOS_INVALID("%s is a %s, not a queue", resource->name, resource->kind->name);
  }
  *out_queue = (rheos__queue *)resource;
  return NULL;
}

rheos_status *rheos__queue_check_dtypes(const rheos__queue *queue, const rheos_dtype *dtypes,
                                        int32_t count) {
  const rheos__queue_spec *spec = &queue->spec;
  if (count != spec->num_components) {
    return RHEOS_INVALID("Signature mismatch: the elements of %s '%s' have %d components, not %d",
                         rheos__queue_type(spec), queue->waitable.base.name,
                         (int)spec->num_components, (int)count);
  }
  for (int32_t i = 0; i < count; ++i) {
    if (dtypes[i] == spec->dtypes[i]) continue;
    return RHEOS_INVALID("Signature mismatch: component %d of %s '%s' is %s, not %s", (int)i,
                         rheos__queue_type(spec), queue->waitable.base.name,
                         rheos_dtype_name(spec->dtypes[i]), rheos_dtype_name(dtypes[i]));
  }
  return NULL;
}

// ---- Enqueue

static rheos_status *shape_mismatch(int32_t component, const rheos_shape *expected,
                                    const rheos_shape *actual) {
  rheos__shape_text is, wants;
  return RHEOS_INVALID("Shape mismatch in tuple component %d. Expected %s, got %s", (int)component,
                       rheos__shape_text_of(expected, &wants), rheos__shape_text_of(actual, &is));
}

static rheos_status *check_element(const rheos__queue *queue, rheos_tensor *const *components) {
  for (int32_t i = 0; i < queue->spec.num_shapes; ++i) {
    if (rheos_shape_compatible(&queue->spec.shapes[i], &components[i]->shape)) continue;
    return shape_mismatch(i, &queue->spec.shapes[i], &components[i]->shape);
  }
  // Only a queue that is told no shapes comes here with another one.
  if (queue->spec.order == RHEOS__QUEUE_PRIORITY && components[0]->shape.rank != 0) {
    return shape_mismatch(0, &RHEOS_SCALAR, &components[0]->shape);
  }
  return NULL;
}

static rheos_status *compute_enqueue(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                     rheos_tensor **outputs) {
  rheos__queue *queue = state;
  rheos_tensor *const *components = inputs + 1;
  RHEOS_TRY(check_element(queue, components));
  rheos__tuple tuple = rheos__tuple_new(queue);
  rheos__tuple *tuples = rheos__alloc_array(1, sizeof *tuples);
  rheos_status *status = tuple == NULL || tuples == NULL ? rheos__out_of_memory() : NULL;
  for (int32_t i = 0; status == NULL && i < queue->spec.num_components; ++i) {
    status = rheos__tensor_keep(components[i], &tuple[i]);
  }
  if (status != NULL) {
    rheos__tuple_free(queue, tuple);
    rheos__free(tuples);
    return status;
  }
  tuples[0] = tuple;
  rheos__attempt *attempt = NULL;
  RHEOS_TRY(rheos__enqueue_new_take(queue, tuples, 1, &attempt));
  return rheos__step_attempt_take(step, attempt, outputs);
}

static rheos_status *check_batch(const rheos__queue *queue, rheos_tensor *const *components,
                                 int64_t *out_count) {
  *out_count = 0;
  for (int32_t i = 0; i < queue->spec.num_components; ++i) {
    const rheos_shape *shape = &components[i]->shape;
    rheos__shape_text text;
    if (shape->rank < 1) {
      return RHEOS_INVALID("component %d has no dimension of elements, its shape is %s", (int)i,
                           rheos__shape_text_of(shape, &text));
    }
    if (i == 0) *out_count = shape->dims[0];
    rheos_shape expected = {.rank = 1, .dims = {*out_count}};
    if (queue->spec.num_shapes > 0) {
      RHEOS_TRY(rheos__shape_append_range(&expected, &queue->spec.shapes[i], 0,
                                          queue->spec.shapes[i].rank));
      if (!rheos_shape_compatible(&expected, shape)) return shape_mismatch(i, &expected, shape);
    } else if (shape->dims[0] != *out_count) {
      return RHEOS_INVALID(
          "All input tensors must have the same size in the 0th dimension. Component %d has %lld, "
          "and should have %lld",
          (int)i, (long long)shape->dims[0], (long long)*out_count);
    }
    if (i == 0 && queue->spec.order == RHEOS__QUEUE_PRIORITY && shape->rank != 1) {
      return shape_mismatch(0, &RHEOS_SHAPE(*out_count), shape);
    }
  }
  return NULL;
}

rheos_status *rheos__copy_row(const rheos_tensor *from, int64_t row, rheos_tensor **out_tensor) {
  rheos_shape shape = {.rank = from->shape.rank - 1};
  memcpy(shape.dims, from->shape.dims + 1, (size_t)shape.rank * sizeof *shape.dims);
  RHEOS_TRY(rheos__tensor_new(from->dtype, &shape, out_tensor));
  const int64_t count = (*out_tensor)->num_elements;
  const size_t row_bytes = (size_t)count * rheos__dtype_size(from->dtype);
  return rheos__copy_elements(from->dtype, (*out_tensor)->data,
                              (const char *)from->data + (size_t)row * row_bytes, count);
}

static rheos_status *split_rows(const rheos__queue *queue, rheos_tensor *const *components,
                                int64_t count, rheos__tuple *tuples) {
  for (int64_t row = 0; row < count; ++row) {
    tuples[row] = rheos__tuple_new(queue);
    if (tuples[row] == NULL) return rheos__out_of_memory();
    for (int32_t i = 0; i < queue->spec.num_components; ++i) {
      RHEOS_TRY(rheos__copy_row(components[i], row, &tuples[row][i]));
    }
  }
  return NULL;
}

static rheos_status *compute_enqueue_many(void *state, rheos__step *step,
                                          rheos_tensor *const *inputs, rheos_tensor **outputs) {
  rheos__queue *queue = state;
  int64_t count = 0;
  RHEOS_TRY(check_batch(queue, inputs + 1, &count));
  rheos__tuple *tuples = rheos__alloc_array((size_t)count + 1, sizeof *tuples);
  if (tuples == NULL) return rheos__out_of_memory();
  rheos_status *status = split_rows(queue, inputs + 1, count, tuples);
  if (status != NULL) {
    for (int64_t i = 0; i < count; ++i) rheos__tuple_free(queue, tuples[i]);
    rheos__free(tuples);
    return status;
  }
  rheos__attempt *attempt = NULL;
  RHEOS_TRY(rheos__enqueue_new_take(queue, tuples, count, &attempt));
  return rheos__step_attempt_take(step, attempt, outputs);
}

static rheos_status *prepare_enqueue(rheos__prepare *p) {
  rheos__queue *queue;
  RHEOS_TRY(rheos__queue_of(p, 0, &queue));
  RHEOS_TRY(rheos__queue_check_dtypes(queue, p->input_dtypes + 1, p->num_inputs - 1));
  p->state = queue;
  p->compute = p->op->compute;
  return NULL;
}

// ---- Dequeue

static rheos_status *give_element(rheos__dequeue *d, rheos__step *step, rheos_tensor **outputs) {
  (void)step;
  const rheos__queue *queue = (const rheos__queue *)d->attempt.on;
  assert(d->count == 1);
  for (int32_t i = 0; i < queue->spec.num_components; ++i) {
    outputs[i] = d->tuples[0][i];
    d->tuples[0][i] = NULL;
  }
  return NULL;
}

// The least shape that holds component `i` of all tuples; of none, the queue's own.
static rheos_shape shape_of_all(const rheos__queue *queue, const rheos__tuple *tuples,
                                int64_t count, int32_t i) {
  rheos_shape shape = count > 0 ? tuples[0][i]->shape : queue->spec.shapes[i];
  for (int32_t d = 0; d < shape.rank; ++d) {
    if (shape.dims[d] < 0) shape.dims[d] = 0;
  }
  for (int64_t k = 1; k < count; ++k) {
    for (int32_t d = 0; d < shape.rank; ++d) {
      const int64_t dim = tuples[k][i]->shape.dims[d];
      if (dim > shape.dims[d]) shape.dims[d] = dim;
    }
  }
  return shape;
}

// Copies one component into its row, whose steps are those of the padded shape.
static rheos_status *fill_row(const rheos_tensor *from, const rheos_shape *padded, void *row) {
  if (rheos_shape_equal(&from->shape, padded)) {
    return rheos__copy_elements(from->dtype, row, from->data, from->num_elements);
  }
  int64_t in_steps[RHEOS_MAX_RANK], out_steps[RHEOS_MAX_RANK];
  rheos__row_major_steps(&from->shape, in_steps);
  rheos__row_major_steps(padded, out_steps);
  rheos__copy copy;
  rheos__copy_init(&copy, from->dtype);
  for (int32_t d = 0; d < padded->rank; ++d) {
    rheos__copy_add(&copy, from->shape.dims[d], in_steps[d], out_steps[d]);
  }
  return rheos__copy_all(&copy, from->data, row);
}

static rheos_status *batch(const rheos__queue *queue, const rheos__tuple *tuples, int64_t count,
                           int32_t i, rheos_tensor **out_tensor) {
  const rheos_dtype dtype = queue->spec.dtypes[i];
  const rheos_shape inner = shape_of_all(queue, tuples, count, i);
  rheos_shape shape = {.rank = 1, .dims = {count}};
  RHEOS_TRY(rheos__shape_append_range(&shape, &inner, 0, inner.rank));
  RHEOS_TRY(rheos__tensor_new(dtype, &shape, out_tensor));
  if (count == 0 || (*out_tensor)->num_elements == 0) return NULL;
  const size_t row_bytes = (size_t)((*out_tensor)->num_elements / count) * rheos__dtype_size(dtype);
  const bool pads = queue->spec.order == RHEOS__QUEUE_PADDING;
  if (pads && dtype != RHEOS_STRING) memset((*out_tensor)->data, 0, (*out_tensor)->size_bytes);
  for (int64_t k = 0; k < count; ++k) {
    RHEOS_TRY(fill_row(tuples[k][i], &inner, (char *)(*out_tensor)->data + (size_t)k * row_bytes));
  }
  return NULL;
}

static rheos_status *give_batch(const rheos__queue *queue, const rheos__tuple *tuples,
                                int64_t count, rheos_tensor **outputs) {
  for (int32_t i = 0; i < queue->spec.num_components; ++i) {
    RHEOS_TRY(batch(queue, tuples, count, i, &outputs[i]));
  }
  return NULL;
}

static rheos_status *finish_one(rheos__attempt *attempt, rheos__step *step,
                                rheos_tensor **outputs) {
  return give_element((rheos__dequeue *)attempt, step, outputs);
}

static rheos_status *finish_many(rheos__attempt *attempt, rheos__step *step,
                                 rheos_tensor **outputs) {
  (void)step;
  const rheos__dequeue *d = (const rheos__dequeue *)attempt;
  return give_batch((const rheos__queue *)attempt->on, d->tuples, d->count, outputs);
}

static const rheos__attempt_kind dequeue_kind = RHEOS__DEQUEUE_KIND(finish_one);
static const rheos__attempt_kind dequeue_many_kind = RHEOS__DEQUEUE_KIND(finish_many);

static rheos_status *compute_dequeue(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                     rheos_tensor **outputs) {
  (void)inputs;
  rheos__dequeue *d = rheos__dequeue_new(state, &dequeue_kind);
  if (d == NULL) return rheos__out_of_memory();
  return rheos__step_attempt_take(step, &d->attempt, outputs);
}

static rheos_status *dequeue_count(rheos__queue *queue, rheos__step *step, int64_t wanted,
                                   bool allows_fewer, rheos_tensor **outputs) {
  if (wanted < 0) {
    return RHEOS_INVALID("%s requested %lld < 0 elements",
                         allows_fewer ? "DequeueUpTo" : "DequeueMany", (long long)wanted);
  }
  if (queue->spec.num_shapes == 0) {
    return RHEOS_INVALID(
        "%s's DequeueMany and DequeueUpTo require the components to have specified shapes.",
        rheos__queue_type(&queue->spec));
  }
  if (wanted == 0) return give_batch(queue, NULL, 0, outputs);
  rheos__dequeue *d = rheos__dequeue_new(queue, &dequeue_many_kind);
  if (d == NULL) return rheos__out_of_memory();
  d->wanted = wanted;
  d->allows_fewer = allows_fewer;
  return rheos__step_attempt_take(step, &d->attempt, outputs);
}

rheos_status *rheos__dequeue_many(rheos__queue *queue, rheos__step *step, const rheos_tensor *n,
                                  int64_t most, bool allows_fewer, rheos_tensor **outputs) {
  if (n->num_elements != 1) {
    rheos__shape_text text;
    return RHEOS_INVALID("n must be a scalar, got shape %s",
                         rheos__shape_text_of(&n->shape, &text));
  }
  const int64_t wanted = rheos__tensor_int_at(n, 0);
  return dequeue_count(queue, step, wanted < most ? wanted : most, allows_fewer, outputs);
}

static rheos_status *compute_dequeue_many(void *state, rheos__step *step,
                                          rheos_tensor *const *inputs, rheos_tensor **outputs) {
  return rheos__dequeue_many(state, step, inputs[1], INT64_MAX, false, outputs);
}

static rheos_status *compute_dequeue_up_to(void *state, rheos__step *step,
                                           rheos_tensor *const *inputs, rheos_tensor **outputs) {
  return rheos__dequeue_many(state, step, inputs[1], INT64_MAX, true, outputs);
}

static rheos_status *prepare_dequeue(rheos__prepare *p) {
  rheos__queue *queue;
  RHEOS_TRY(rheos__queue_of(p, 0, &queue));
  RHEOS_TRY(rheos__queue_check_dtypes(queue, p->output_dtypes, p->num_outputs));
  p->state = queue;
  p->compute = p->op->compute;
  return NULL;
}

static rheos_status *shape_many(rheos__infer *c) {
  rheos_shape scalar;
  RHEOS_TRY(rheos__infer_rank(c, 1, 0, &scalar));
  int64_t n;
  if (rheos__infer_int(c, 1, &n) && n < 0) {
    return RHEOS_INVALID("Input 'n' must be >= 0, but is %lld", (long long)n);
  }
  return NULL;
}

// ---- Close, size

typedef struct close_state {
  rheos__queue *queue;
  bool cancels;
} close_state;

static rheos_status *compute_close(void *argument, rheos__step *step, rheos_tensor *const *inputs,
                                   rheos_tensor **outputs) {
  (void)inputs;
  const close_state *state = argument;
  if (state->cancels) {
    rheos__queue_close_now(state->queue);
    return NULL;
  }
  rheos__attempt *attempt = rheos__queue_close_new(state->queue);
  if (attempt == NULL) return rheos__out_of_memory();
  return rheos__step_attempt_take(step, attempt, outputs);
}

static rheos_status *prepare_close(rheos__prepare *p) {
  close_state *state = RHEOS_NEW_STATE(p, close_state);
  if (state == NULL) return rheos__out_of_memory();
  RHEOS_TRY(rheos__queue_of(p, 0, &state->queue));
  state->cancels = rheos__attr_bool(p->attrs, "cancel_pending_enqueues");
  p->compute = p->op->compute;
  return NULL;
}

static rheos_status *compute_is_closed(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                       rheos_tensor **outputs) {
  (void)step, (void)inputs;
  const bool is_closed = rheos__queue_is_closed(state);
  return rheos_tensor_from_values(RHEOS_BOOL, RHEOS_SCALAR, &is_closed, &outputs[0]);
}

static rheos_status *compute_size(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                  rheos_tensor **outputs) {
  (void)step, (void)inputs;
  const int64_t size = rheos__queue_size(state);
  const int32_t answer = size < INT32_MAX ? (int32_t)size : INT32_MAX;
  return rheos_tensor_from_values(RHEOS_INT32, RHEOS_SCALAR, &answer, &outputs[0]);
}

static rheos_status *prepare_look(rheos__prepare *p) {
  rheos__queue *queue;
  RHEOS_TRY(rheos__queue_of(p, 0, &queue));
  p->state = queue;
  p->compute = p->op->compute;
  return NULL;
}

// An op for both kinds of handles.
#define ON_QUEUE(op_name, rest, text, flags_, shape_fn, prepare_fn, compute_fn)            \
  ON_QUEUE_1(op_name, "Ref(string)", rest, text, flags_, shape_fn, prepare_fn, compute_fn) \
  ON_QUEUE_1(op_name##V2, "resource", rest, text, flags_, shape_fn, prepare_fn, compute_fn)
#define ON_QUEUE_1(op_name, handle_type, rest, text, flags_, shape_fn, prepare_fn, compute_fn) \
  const rheos__op_def rheos__op_##op_name = {                                                  \
      .name = #op_name,                                                                        \
      .signature = "handle: " handle_type rest,                                                \
      .doc = text,                                                                             \
      .flags = RHEOS_OP_STATEFUL | (flags_),                                                   \
      .shape = shape_fn,                                                                       \
      .gradient = rheos__no_gradient,                                                          \
      .prepare = prepare_fn,                                                                   \
      .compute = compute_fn,                                                                   \
  };

#define PUTS ", components: Tcomponents ->; Tcomponents: list(type) >= 1; timeout_ms: int = -1"
#define GIVES \
  " -> components: component_types; component_types: list(type) >= 1; timeout_ms: int = -1"
enum { CHANGES_AND_WAITS = RHEOS_OP_WRITES | RHEOS_OP_WAITS };

ON_QUEUE(QueueEnqueue, PUTS, "Puts `components`, one element, into the queue when it has room.",
         CHANGES_AND_WAITS, rheos__shape_none, prepare_enqueue, compute_enqueue)
ON_QUEUE(QueueEnqueueMany, PUTS,
         "Puts the rows of `components` into the queue, one after the other, when it has room.",
         CHANGES_AND_WAITS, rheos__shape_none, prepare_enqueue, compute_enqueue_many)
ON_QUEUE(QueueDequeue, GIVES, "Takes an element out of the queue when there is one.",
         CHANGES_AND_WAITS, rheos__shape_none, prepare_dequeue, compute_dequeue)
ON_QUEUE(QueueDequeueMany, ", n: int32" GIVES,
         "Takes `n` elements out of the queue when they are there, as rows.", CHANGES_AND_WAITS,
         shape_many, prepare_dequeue, compute_dequeue_many)
ON_QUEUE(QueueDequeueUpTo, ", n: int32" GIVES,
         "QueueDequeueMany that gives what is left where the queue is closed with fewer than `n`.",
         CHANGES_AND_WAITS, shape_many, prepare_dequeue, compute_dequeue_up_to)
ON_QUEUE(QueueClose, " ->; cancel_pending_enqueues: bool = false",
         "Lets nothing more into the queue, once what waits to be put in is in.", CHANGES_AND_WAITS,
         rheos__shape_none, prepare_close, compute_close)
ON_QUEUE(QueueIsClosed, " -> is_closed: bool", "Whether the queue was closed.", 0,
         rheos__shape_scalar, prepare_look, compute_is_closed)
ON_QUEUE(QueueSize, " -> size: int32", "How many elements the queue holds.", 0, rheos__shape_scalar,
         prepare_look, compute_size)

// ---- A resource's queue for ops that take references

static rheos_status *compute_nothing(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                     rheos_tensor **outputs) {
  (void)state, (void)step, (void)inputs, (void)outputs;
  return NULL;
}

static rheos_status *prepare_fake(rheos__prepare *p) {
  rheos__queue *queue;
  RHEOS_TRY(rheos__queue_of(p, 0, &queue));
  p->compute = compute_nothing;
  p->output_resource = &queue->waitable.base;
  return NULL;
}

const rheos__op_def rheos__op_FakeQueue = {
    .name = "FakeQueue",
    .signature = "resource: resource -> handle: Ref(string)",
    .doc = "A reference to the queue behind the handle `resource`.",
    .flags = RHEOS_OP_STATEFUL,
    .shape = rheos__shape_handle,
    .gradient = rheos__no_gradient,
    .prepare = prepare_fake,
};
