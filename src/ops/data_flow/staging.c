// Staging areas: tuples of tensors, first in first out. The ops have no handles: those of one name,
// or `shared_name`, are on one area.
#include "ops/data_flow/staging.h"

#include <string.h>

#include "ops/kit/op_util.h"

// ---- What both kinds share

void rheos__staged_free(rheos__staged *staged) {
  for (int32_t i = 0; i < staged->count; ++i) rheos_tensor_unref(staged->tensors[i]);
  rheos__free(staged->tensors);
  *staged = (rheos__staged){NULL, 0};
}

rheos_status *rheos__staged_keep(rheos_tensor *const *tensors, int32_t count,
                                 rheos__staged *out_staged) {
  rheos__staged staged = {rheos__alloc_array((size_t)count + 1, sizeof(rheos_tensor *)), count};
  *out_staged = (rheos__staged){NULL, 0};
  if (staged.tensors == NULL) return rheos__out_of_memory();
  for (int32_t i = 0; i < count; ++i) {
    rheos_status *status = rheos__tensor_keep(tensors[i], &staged.tensors[i]);
    if (status == NULL) continue;
    rheos__staged_free(&staged);
    return status;
  }
  *out_staged = staged;
  return NULL;
}

static int64_t bytes_of(const rheos_tensor *tensor) {
  int64_t bytes = (int64_t)tensor->size_bytes;
  if (tensor->dtype != RHEOS_STRING) return bytes;
  const rheos_string *strings = tensor->data;
  for (int64_t i = 0; i < tensor->num_elements; ++i) bytes += (int64_t)strings[i].size_bytes;
  return bytes;
}

int64_t rheos__staged_bytes(const rheos__staged *staged) {
  int64_t bytes = 0;
  for (int32_t i = 0; i < staged->count; ++i) {
    if (staged->tensors[i] != NULL) bytes += bytes_of(staged->tensors[i]);
  }
  return bytes;
}

rheos__staging_limits rheos__staging_limits_of(const rheos__prepare *p) {
  return (rheos__staging_limits){rheos__attr_int(p->attrs, "capacity"),
                                 rheos__attr_int(p->attrs, "memory_limit")};
}

rheos_status *rheos__staging_check_bytes(const rheos__staging_limits *limits, int64_t bytes) {
  if (rheos__staging_has_bytes(limits, 0, bytes)) return NULL;
  return rheos_status_new(RHEOS_RESOURCE_EXHAUSTED,
                          "Attempted to insert tensors with combined size of '%lld' bytes into "
                          "Staging Area with a memory limit of '%lld'.",
                          (long long)bytes, (long long)limits->memory_limit);
}

static void unref_area(void *state) { rheos__resource_unref(state); }

rheos_status *rheos__prepare_staging(rheos__prepare *p, const rheos__resource_kind *kind) {
  const rheos__staging_limits limits = rheos__staging_limits_of(p);
  rheos__resource *area = NULL;
  RHEOS_TRY(rheos__named_resource(p, kind, &limits, &area));
  p->state = area;
  p->release = unref_area;
  p->compute = p->op->compute;
  return NULL;
}

rheos_status *rheos__give_int32(int64_t value, rheos_tensor **output) {
  const int32_t answer = value < INT32_MAX ? (int32_t)value : INT32_MAX;
  return rheos_tensor_from_values(RHEOS_INT32, RHEOS_SCALAR, &answer, output);
}

// ---- The area: a ring, whose tuple i lies at (first + i) & (num_slots - 1)

typedef struct staging {
  rheos__waitable waitable;
  rheos__staging_limits limits;
  rheos__staged *slots;
  int64_t num_slots, first, size, bytes;
  rheos_dtype *dtypes;  // of every tuple; NULL until an op tells
  int32_t num_dtypes;
} staging;

static rheos__staged *slot(const staging *area, int64_t index) {
  return &area->slots[(area->first + index) & (area->num_slots - 1)];
}

static rheos_status *init_staging(rheos__resource *resource, const void *argument) {
  staging *area = (staging *)resource;
  area->limits = *(const rheos__staging_limits *)argument;
  rheos__waitable_init(&area->waitable);
  return NULL;
}

static void clear(staging *area) {
  for (int64_t i = 0; i < area->size; ++i) rheos__staged_free(slot(area, i));
  area->first = area->size = area->bytes = 0;
}

static void deinit_staging(rheos__resource *resource) {
  staging *area = (staging *)resource;
  clear(area);
  rheos__free(area->slots);
  rheos__free(area->dtypes);
  rheos__waitable_deinit(&area->waitable);
}

static const rheos__resource_kind staging_kind = {"staging area", sizeof(staging), init_staging,
                                                  deinit_staging};

static bool reserve(staging *area) {
  if (area->size < area->num_slots) return true;
  const int64_t larger = area->num_slots > 0 ? area->num_slots * 2 : 16;
  rheos__staged *slots = rheos__alloc_array((size_t)larger, sizeof *slots);
  if (slots == NULL) return false;
  for (int64_t i = 0; i < area->size; ++i) slots[i] = *slot(area, i);
  rheos__free(area->slots);
  area->slots = slots;
  area->num_slots = larger;
  area->first = 0;
  return true;
}

// ---- Attempts

typedef struct staging_attempt {
  rheos__attempt attempt;
  rheos__staged staged;  // to be put in, or taken
  int64_t bytes;         // of what is put in
  int64_t index;         // of what is looked at
} staging_attempt;

static rheos__tried run_put(rheos__attempt *attempt) {
  staging_attempt *a = (staging_attempt *)attempt;
  staging *area = (staging *)attempt->on;
  if (!rheos__staging_has_room(&area->limits, area->size) ||
      !rheos__staging_has_bytes(&area->limits, area->bytes, a->bytes)) {
    return RHEOS__TRIED_IN_VAIN;
  }
  if (!reserve(area)) {
    attempt->status = rheos__out_of_memory();
    return RHEOS__TRIED_DONE;
  }
  ++area->size;
  *slot(area, area->size - 1) = a->staged;
  area->bytes += a->bytes;
  a->staged = (rheos__staged){NULL, 0};
  return RHEOS__TRIED_DONE;
}

static rheos__tried run_take(rheos__attempt *attempt) {
  staging_attempt *a = (staging_attempt *)attempt;
  staging *area = (staging *)attempt->on;
  if (area->size == 0) return RHEOS__TRIED_IN_VAIN;
  a->staged = *slot(area, 0);
  area->bytes -= rheos__staged_bytes(&a->staged);
  area->first = (area->first + 1) & (area->num_slots - 1);
  --area->size;
  return RHEOS__TRIED_DONE;
}

static rheos__tried run_peek(rheos__attempt *attempt) {
  staging_attempt *a = (staging_attempt *)attempt;
  const staging *area = (const staging *)attempt->on;
  if (a->index >= area->size) return RHEOS__TRIED_IN_VAIN;
  const rheos__staged *held = slot(area, a->index);
  attempt->status = rheos__staged_keep(held->tensors, held->count, &a->staged);
  return RHEOS__TRIED_DONE;
}

static rheos_status *finish_take(rheos__attempt *attempt, rheos__step *step,
                                 rheos_tensor **outputs) {
  (void)step;
  const staging_attempt *a = (const staging_attempt *)attempt;
  for (int32_t i = 0; i < a->staged.count; ++i) {
    outputs[i] = a->staged.tensors[i];
    a->staged.tensors[i] = NULL;
  }
  return NULL;
}

static void deinit_attempt(rheos__attempt *attempt) {
  rheos__staged_free(&((staging_attempt *)attempt)->staged);
}

static const rheos__attempt_kind put_kind = {
    .what = "room", .run = run_put, .deinit = deinit_attempt};
static const rheos__attempt_kind take_kind = {
    .what = "a tuple", .run = run_take, .finish = finish_take, .deinit = deinit_attempt};
static const rheos__attempt_kind peek_kind = {.what = "that many tuples",
                                              .run = run_peek,
                                              .finish = finish_take,
                                              .deinit = deinit_attempt,
                                              .lets_pass = true};

static staging_attempt *attempt_new(staging *area, const rheos__attempt_kind *kind,
                                    rheos__side side) {
  staging_attempt *a = rheos__alloc_zeroed(sizeof *a);
  if (a != NULL) rheos__attempt_init(&a->attempt, kind, &area->waitable, side);
  return a;
}

// ---- Kernels

static rheos_status *compute_stage(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                   rheos_tensor **outputs) {
  staging *area = state;
  staging_attempt *a = attempt_new(area, &put_kind, RHEOS__PUTS);
  if (a == NULL) return rheos__out_of_memory();
  rheos_status *status = rheos__staged_keep(inputs, area->num_dtypes, &a->staged);
  a->bytes = rheos__staged_bytes(&a->staged);
  if (status == NULL) status = rheos__staging_check_bytes(&area->limits, a->bytes);
  if (status != NULL) {
    rheos__attempt_free(&a->attempt);
    return status;
  }
  return rheos__step_attempt_take(step, &a->attempt, outputs);
}

static rheos_status *compute_unstage(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                     rheos_tensor **outputs) {
  (void)inputs;
  staging_attempt *a = attempt_new(state, &take_kind, RHEOS__TAKES);
  if (a == NULL) return rheos__out_of_memory();
  return rheos__step_attempt_take(step, &a->attempt, outputs);
}

static rheos_status *compute_peek(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                  rheos_tensor **outputs) {
  if (inputs[0]->num_elements != 1) return RHEOS_INVALID("index must be a scalar");
  const int64_t index = rheos__tensor_int_at(inputs[0], 0);
  if (index < 0) return RHEOS_INVALID("index must be >= 0, got %lld", (long long)index);
  staging_attempt *a = attempt_new(state, &peek_kind, RHEOS__TAKES);
  if (a == NULL) return rheos__out_of_memory();
  a->index = index;
  return rheos__step_attempt_take(step, &a->attempt, outputs);
}

static rheos_status *compute_size(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                  rheos_tensor **outputs) {
  (void)step, (void)inputs;
  staging *area = state;
  pthread_mutex_lock(&area->waitable.mutex);
  const int64_t size = area->size;
  pthread_mutex_unlock(&area->waitable.mutex);
  return rheos__give_int32(size, &outputs[0]);
}

static rheos_status *compute_clear(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                   rheos_tensor **outputs) {
  (void)step, (void)inputs, (void)outputs;
  staging *area = state;
  pthread_mutex_lock(&area->waitable.mutex);
  clear(area);
  rheos__waitable_serve(&area->waitable);
  pthread_mutex_unlock(&area->waitable.mutex);
  return NULL;
}

// The first op that tells says of what dtypes the tuples of its area are; what gives or takes
// others is refused.
static rheos_status *agree(staging *area, const rheos_attr_value *types) {
  const size_t size_bytes = (size_t)types->count * sizeof *types->types;
  if (types->count == 0) return NULL;
  rheos_status *status = NULL;
  pthread_mutex_lock(&area->waitable.mutex);
  if (area->dtypes == NULL) {
    area->dtypes = rheos__alloc(size_bytes);
    if (area->dtypes == NULL) {
      status = rheos__out_of_memory();
    } else {
      memcpy(area->dtypes, types->types, size_bytes);
      area->num_dtypes = types->count;
    }
  } else if (area->num_dtypes != types->count ||
             memcmp(area->dtypes, types->types, size_bytes) != 0) {
    status = RHEOS_INVALID("the tuples of the staging area '%s' have other dtypes",
                           area->waitable.base.name);
  }
  pthread_mutex_unlock(&area->waitable.mutex);
  return status;
}

static rheos_status *prepare_stage(rheos__prepare *p) {
  RHEOS_TRY(rheos__prepare_staging(p, &staging_kind));
  rheos_status *status = agree(p->state, rheos__attrs_find(p->attrs, "dtypes"));
  if (status == NULL) return NULL;
  rheos__resource_unref(p->state);
  p->state = NULL;
  p->release = NULL;
  return status;
}

static rheos_status *shape_values(rheos__infer *c) {
  for (int32_t i = 0; i < c->num_outputs; ++i) c->output_shapes[i] = RHEOS_UNKNOWN_SHAPE;
  return NULL;
}

#define STAGE_OP(op_name, inputs_and_outputs, minimum, text, flags_, shape_fn, compute_fn) \
  const rheos__op_def rheos__op_##op_name = {                                              \
      .name = #op_name,                                                                    \
      .signature = inputs_and_outputs RHEOS__STAGING_LIMITS                                \
      "dtypes: list(type) >= " minimum RHEOS__STAGING_NAMING,                              \
      .doc = text,                                                                         \
      .flags = RHEOS_OP_STATEFUL | (flags_),                                               \
      .shape = shape_fn,                                                                   \
      .gradient = rheos__no_gradient,                                                      \
      .prepare = prepare_stage,                                                            \
      .compute = compute_fn,                                                               \
  };

STAGE_OP(Stage, "values: dtypes ->; ", "1", "Puts `values`, a tuple, into the area.",
         RHEOS_OP_WAITS, rheos__shape_none, compute_stage)
STAGE_OP(Unstage, "-> values: dtypes; ", "1", "Takes the first tuple out of the area.",
         RHEOS_OP_WAITS, shape_values, compute_unstage)
STAGE_OP(StagePeek, "index: int32 -> values: dtypes; ", "1",
         "The area's tuple number `index`, which stays there.", RHEOS_OP_WAITS, shape_values,
         compute_peek)
STAGE_OP(StageSize, "-> size: int32; ", "0", "How many tuples the area holds.", 0,
         rheos__shape_scalar, compute_size)
STAGE_OP(StageClear, "->; ", "0", "Removes all tuples from the area.", 0, rheos__shape_none,
         compute_clear)
