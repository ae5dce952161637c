// Conditional accumulators of dense gradients, and what those of slices share. See accumulator.h.
#include "ops/data_flow/accumulator.h"

#include <string.h>

#include "ops/data_flow/queue_util.h"
#include "ops/kit/elementwise.h"
#include "ops/kit/op_util.h"

// ---- The resource

static rheos_status *init_accumulator(rheos__resource *resource, const void *argument) {
  rheos__accumulator *a = (rheos__accumulator *)resource;
  const rheos__accumulator *like = argument;
  a->dtype = like->dtype;
  a->shape = like->shape;
  a->is_sum = like->is_sum;
  rheos__waitable_init(&a->waitable);
  return NULL;
}

static void deinit_accumulator(rheos__resource *resource) {
  rheos__accumulator *a = (rheos__accumulator *)resource;
  rheos_tensor_unref(a->sum);
  rheos__free(a->indices);
  rheos__free(a->row_counts);
  rheos__waitable_deinit(&a->waitable);
}

const rheos__resource_kind rheos__accumulator_kind = {"accumulator", sizeof(rheos__accumulator),
                                                      init_accumulator, deinit_accumulator};
const rheos__resource_kind rheos__slice_accumulator_kind = {
    "accumulator of slices", sizeof(rheos__accumulator), init_accumulator, deinit_accumulator};

// ---- Arithmetic, done as TensorFlow does it: sums are rounded to the dtype one by one

#define ADD_LOOP(T)                                                                  \
  case RHEOS__DTYPE_##T: {                                                           \
    rheos__stored_##T *restrict sum = to;                                            \
    const rheos__stored_##T *restrict more = from;                                   \
    for (int64_t i = 0; i < count; ++i) {                                            \
      sum[i] = RHEOS__STORE_##T(RHEOS__LOAD_##T(sum[i]) + RHEOS__LOAD_##T(more[i])); \
    }                                                                                \
    return;                                                                          \
  }
#define DIVIDE_LOOP(T)                                                                \
  case RHEOS__DTYPE_##T: {                                                            \
    rheos__stored_##T *values = to;                                                   \
    const rheos__stored_##T by = RHEOS__STORE_##T(divisor);                           \
    for (int64_t i = 0; i < count; ++i) {                                             \
      values[i] = RHEOS__STORE_##T(RHEOS__LOAD_##T(values[i]) / RHEOS__LOAD_##T(by)); \
    }                                                                                 \
    return;                                                                           \
  }

void rheos__add_elements(rheos_dtype dtype, void *to, const void *from, int64_t count) {
  switch (dtype) {
    ADD_LOOP(half)
    ADD_LOOP(float)
    ADD_LOOP(double)
    default: return;
  }
}

void rheos__divide_elements(rheos_dtype dtype, void *to, int64_t divisor, int64_t count) {
  switch (dtype) {
    DIVIDE_LOOP(half)
    DIVIDE_LOOP(float)
    DIVIDE_LOOP(double)
    default: return;
  }
}

// ---- Making one

static rheos_status *check_same(const rheos__accumulator *has, const rheos__accumulator *wants) {
  rheos_shape common;
  rheos_status *status = rheos__shape_merge(&has->shape, &wants->shape, &common);
  const bool fits = status == NULL;
  rheos_status_free(status);
  if (fits && has->dtype == wants->dtype) return NULL;
  return RHEOS_INVALID("Shared conditional accumulator '%s' has another type or shape",
                       has->waitable.base.name);
}

static void unref_accumulator(void *state) { rheos__resource_unref(*(rheos__resource **)state); }

rheos_status *rheos__prepare_accumulator(rheos__prepare *p) {
  const rheos__resource_kind *kind = p->op->family;
  rheos__accumulator like = {.dtype = rheos__attr_type(p->attrs, "dtype"),
                             .shape = rheos__attr_shape(p->attrs, "shape")};
  like.is_sum = strcmp(rheos__attr_string(p->attrs, "reduction_type"), "SUM") == 0;
  if (like.dtype != RHEOS_HALF && like.dtype != RHEOS_FLOAT && like.dtype != RHEOS_DOUBLE) {
    return rheos__no_kernel(p, like.dtype);
  }
  rheos__resource **state = RHEOS_NEW_STATE(p, rheos__resource *);
  if (state == NULL) return rheos__out_of_memory();
  RHEOS_TRY(rheos__named_resource(p, kind, &like, state));
  rheos_status *status = check_same((const rheos__accumulator *)*state, &like);
  if (status != NULL) {
    unref_accumulator(state);
    return status;
  }
  p->release = unref_accumulator;
  p->output_resource = *state;
  return NULL;
}

rheos_status *rheos__accumulator_of(const rheos__prepare *p, const rheos__resource_kind *kind,
                                    rheos__accumulator **out_accumulator) {
  rheos__resource *resource = p->input_resources[0];
  if (resource == NULL) return RHEOS_INVALID("input 0 is not an accumulator");
  if (resource->kind != kind &&
      (kind != NULL || (resource->kind != &rheos__accumulator_kind &&
                        resource->kind != &rheos__slice_accumulator_kind))) {
    return RHEOS_INVALID("%s is a %s, not an %s", resource->name, resource->kind->name,
                         kind != NULL ? kind->name : "accumulator");
  }
  *out_accumulator = (rheos__accumulator *)resource;
  const rheos_attr_value *dtype = rheos__attrs_find(p->attrs, "dtype");
  if (dtype == NULL || dtype->type == (*out_accumulator)->dtype) return NULL;
  return RHEOS_INVALID("the gradients of %s are %s, not %s", resource->name,
                       rheos_dtype_name((*out_accumulator)->dtype), rheos_dtype_name(dtype->type));
}

rheos_status *rheos__prepare_on_accumulator(rheos__prepare *p) {
  rheos__accumulator *a = NULL;
  RHEOS_TRY(rheos__accumulator_of(p, p->op->family, &a));
  p->state = a;
  p->compute = p->op->compute;
  return NULL;
}

// ---- Adding

rheos_status *rheos__accumulator_drops(const rheos__accumulator *a, const rheos_tensor *local_step,
                                       bool *out_drops) {
  if (local_step->shape.rank != 0) return RHEOS_INVALID("local_step must be a scalar");
  *out_drops = rheos__tensor_int_at(local_step, 0) < a->step;
  return NULL;
}

static rheos_status *check_shape(const rheos__accumulator *a, const rheos_tensor *gradient) {
  const rheos_shape *expected = a->count > 0 ? &a->sum->shape : &a->shape;
  rheos__shape_text wants, is;
  if (rheos_shape_compatible(expected, &gradient->shape)) return NULL;
  return RHEOS_INVALID("Shape mismatch: expected %s, got %s",
                       rheos__shape_text_of(expected, &wants),
                       rheos__shape_text_of(&gradient->shape, &is));
}

static rheos_status *add(rheos__accumulator *a, const rheos_tensor *gradient) {
  RHEOS_TRY(check_shape(a, gradient));
  if (a->count == 0) {
    rheos_tensor_unref(a->sum);
    a->sum = NULL;
    RHEOS_TRY(rheos__tensor_new(a->dtype, &gradient->shape, &a->sum));
    if (a->sum->size_bytes > 0) memcpy(a->sum->data, gradient->data, a->sum->size_bytes);
  } else {
    rheos__add_elements(a->dtype, a->sum->data, gradient->data, a->sum->num_elements);
  }
  ++a->count;
  return NULL;
}

static rheos_status *compute_apply(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                   rheos_tensor **outputs) {
  (void)step, (void)outputs;
  rheos__accumulator *a = state;
  pthread_mutex_lock(&a->waitable.mutex);
  bool drops = false;
  rheos_status *status = rheos__accumulator_drops(a, inputs[1], &drops);
  if (status == NULL && !drops) status = add(a, inputs[2]);
  rheos__waitable_serve(&a->waitable);
  pthread_mutex_unlock(&a->waitable.mutex);
  return status;
}

// ---- Taking

typedef struct taking {
  rheos__attempt attempt;
  int64_t required;
  rheos__accumulator_give give;
  rheos_tensor *outputs[3];
} taking;

static rheos__tried run_take(rheos__attempt *attempt) {
  taking *t = (taking *)attempt;
  rheos__accumulator *a = (rheos__accumulator *)attempt->on;
  if (a->count < t->required) return RHEOS__TRIED_IN_VAIN;
  attempt->status = t->give(a, t->outputs);
  a->count = 0;
  ++a->step;
  return RHEOS__TRIED_DONE;
}

static rheos_status *finish_take(rheos__attempt *attempt, rheos__step *step,
                                 rheos_tensor **outputs) {
  (void)step;
  taking *t = (taking *)attempt;
  for (int i = 0; i < 3 && t->outputs[i] != NULL; ++i) {
    outputs[i] = t->outputs[i];
    t->outputs[i] = NULL;
  }
  return NULL;
}

static void deinit_take(rheos__attempt *attempt) {
  const taking *t = (const taking *)attempt;
  for (int i = 0; i < 3; ++i) rheos_tensor_unref(t->outputs[i]);
}

static const rheos__attempt_kind take_kind = {
    .what = "enough gradients", .run = run_take, .finish = finish_take, .deinit = deinit_take};

rheos_status *rheos__accumulator_take(rheos__accumulator *a, rheos__step *step,
                                      const rheos_tensor *num_required,
                                      rheos__accumulator_give give, rheos_tensor **outputs) {
  if (num_required->shape.rank != 0) return RHEOS_INVALID("num_required must be a scalar");
  const int64_t required = rheos__tensor_int_at(num_required, 0);
  if (required <= 0) {
    return RHEOS_INVALID("Argument num_required must be positive, but was %lld",
                         (long long)required);
  }
  taking *t = rheos__alloc_zeroed(sizeof *t);
  if (t == NULL) return rheos__out_of_memory();
  rheos__attempt_init(&t->attempt, &take_kind, &a->waitable, RHEOS__TAKES);
  t->required = required;
  t->give = give;
  return rheos__step_attempt_take(step, &t->attempt, outputs);
}

static rheos_status *give_dense(rheos__accumulator *a, rheos_tensor **outputs) {
  outputs[0] = a->sum;
  a->sum = NULL;
  if (!a->is_sum) {
    rheos__divide_elements(a->dtype, outputs[0]->data, a->count, outputs[0]->num_elements);
  }
  return NULL;
}

static rheos_status *compute_take(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                  rheos_tensor **outputs) {
  return rheos__accumulator_take(state, step, inputs[1], give_dense, outputs);
}

// ---- Looking, and its step

static rheos_status *compute_count(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                   rheos_tensor **outputs) {
  (void)step, (void)inputs;
  rheos__accumulator *a = state;
  pthread_mutex_lock(&a->waitable.mutex);
  const int32_t count = a->count < INT32_MAX ? (int32_t)a->count : INT32_MAX;
  pthread_mutex_unlock(&a->waitable.mutex);
  return rheos_tensor_from_values(RHEOS_INT32, RHEOS_SCALAR, &count, &outputs[0]);
}

static rheos_status *compute_set_step(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                      rheos_tensor **outputs) {
  (void)step, (void)outputs;
  rheos__accumulator *a = state;
  if (inputs[1]->shape.rank != 0) return RHEOS_INVALID("new_global_step must be a scalar");
  pthread_mutex_lock(&a->waitable.mutex);
  a->step = rheos__tensor_int_at(inputs[1], 0);
  pthread_mutex_unlock(&a->waitable.mutex);
  return NULL;
}

static rheos_status *shape_apply(rheos__infer *c) {
  rheos_shape scalar;
  return rheos__infer_rank(c, 1, 0, &scalar);
}

static rheos_status *shape_take(rheos__infer *c) {
  rheos_shape scalar;
  RHEOS_TRY(rheos__infer_rank(c, 1, 0, &scalar));
  c->output_shapes[0] = RHEOS_UNKNOWN_SHAPE;
  return NULL;
}

#define ACCUMULATOR(op_name, handle_type)                                                   \
  const rheos__op_def rheos__op_##op_name = {                                               \
      .name = #op_name,                                                                     \
      .signature = "-> handle: " handle_type "; " RHEOS__ACCUMULATED                        \
                   "; shape: shape; container: string = \"\"; shared_name: string = \"\"; " \
                   "reduction_type: {\"MEAN\", \"SUM\"} = \"MEAN\"",                        \
      .doc = "Adds up gradients, until enough are there to take their mean.",               \
      .flags = RHEOS_OP_STATEFUL,                                                           \
      .shape = rheos__shape_handle,                                                         \
      .gradient = rheos__no_gradient,                                                       \
      .prepare = rheos__prepare_accumulator,                                                \
      .family = &rheos__accumulator_kind,                                                   \
  };
ACCUMULATOR(ConditionalAccumulator, "Ref(string)")
ACCUMULATOR(ResourceConditionalAccumulator, "resource")

#define ON_1(op_name, handle_type, rest, text, flags_, KIND, shape_fn, compute_fn) \
  const rheos__op_def rheos__op_##op_name = {                                      \
      .name = #op_name,                                                            \
      .signature = "handle: " handle_type rest,                                    \
      .doc = text,                                                                 \
      .flags = RHEOS_OP_STATEFUL | (flags_),                                       \
      .shape = shape_fn,                                                           \
      .gradient = rheos__no_gradient,                                              \
      .prepare = rheos__prepare_on_accumulator,                                    \
      .compute = compute_fn,                                                       \
      .family = KIND,                                                              \
  };
#define ON_ACCUMULATOR(op_name, rest, text, flags_, KIND, shape_fn, compute_fn)             \
  ON_1(Accumulator##op_name, "Ref(string)", rest, text, flags_, KIND, shape_fn, compute_fn) \
  ON_1(ResourceAccumulator##op_name, "resource", rest, text, flags_, KIND, shape_fn, compute_fn)

ON_ACCUMULATOR(ApplyGradient, ", local_step: int64, gradient: dtype ->; " RHEOS__ACCUMULATED,
               "Adds `gradient`, unless it is of an older step than the accumulator's.",
               RHEOS_OP_WRITES, &rheos__accumulator_kind, shape_apply, compute_apply)
ON_ACCUMULATOR(TakeGradient, ", num_required: int32 -> average: dtype; " RHEOS__ACCUMULATED,
               "Takes the mean when there are `num_required` gradients, and begins anew.",
               RHEOS_OP_WRITES | RHEOS_OP_WAITS, &rheos__accumulator_kind, shape_take, compute_take)
ON_ACCUMULATOR(NumAccumulated, " -> num_accumulated: int32", "How many gradients were added.", 0,
               NULL, rheos__shape_scalar, compute_count)
ON_ACCUMULATOR(SetGlobalStep, ", new_global_step: int64 ->",
               "Says which step's gradients are not too old.", RHEOS_OP_WRITES, NULL, shape_apply,
               compute_set_step)
