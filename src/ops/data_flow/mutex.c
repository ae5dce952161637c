// Mutexes as ops. A lock is a variant: who consumes it opens the mutex, and so does the end of the
// last tensor that holds it, so that a step that fails in between locks nobody out.
#include "ops/data_flow/queue_util.h"
#include "ops/kit/op_util.h"
#include "tensor/variant.h"

typedef struct mutex {
  rheos__waitable waitable;
  bool is_locked;
} mutex;

static rheos_status *init_mutex(rheos__resource *resource, const void *argument) {
  (void)argument;
  rheos__waitable_init((rheos__waitable *)resource);
  return NULL;
}

static void deinit_mutex(rheos__resource *resource) {
  rheos__waitable_deinit((rheos__waitable *)resource);
}

static const rheos__resource_kind mutex_kind = {"mutex", sizeof(mutex), init_mutex, deinit_mutex};

static void unlock(mutex *m) {
  pthread_mutex_lock(&m->waitable.mutex);
  m->is_locked = false;
  rheos__waitable_serve(&m->waitable);
  pthread_mutex_unlock(&m->waitable.mutex);
}

// ---- The lock

typedef struct lock {
  rheos__variant variant;
  mutex *held;  // counted
  _Atomic bool is_open;
} lock;

static void open_lock(lock *l) {
  if (!atomic_exchange(&l->is_open, true)) unlock(l->held);
}

static void free_lock(rheos__variant *variant) {
  lock *l = (lock *)variant;
  open_lock(l);
  rheos__resource_unref(&l->held->waitable.base);
  rheos__free(l);
}

static const rheos__variant_kind lock_kind = {.name = "mutex lock", .free = free_lock};

// ---- MutexV2

static void unref_mutex(void *state) { rheos__resource_unref(*(rheos__resource **)state); }

static rheos_status *prepare_mutex(rheos__prepare *p) {
  rheos__resource **state = RHEOS_NEW_STATE(p, rheos__resource *);
  if (state == NULL) return rheos__out_of_memory();
  RHEOS_TRY(rheos__named_resource(p, &mutex_kind, NULL, state));
  p->release = unref_mutex;
  p->output_resource = *state;
  return NULL;
}

const rheos__op_def rheos__op_MutexV2 = {
    .name = "MutexV2",
    .signature = "-> resource: resource; container: string = \"\"; shared_name: string = \"\"",
    .doc = "A mutex, which `MutexLock` locks.",
    .flags = RHEOS_OP_STATEFUL,
    .shape = rheos__shape_scalar,
    .gradient = rheos__no_gradient,
    .prepare = prepare_mutex,
};

// ---- MutexLock

typedef struct locking {
  rheos__attempt attempt;
  lock *lock;  // made beforehand, open; given away with the answer
} locking;

static rheos__tried run_locking(rheos__attempt *attempt) {
  mutex *m = (mutex *)attempt->on;
  if (m->is_locked) return RHEOS__TRIED_IN_VAIN;
  m->is_locked = true;
  atomic_store(&((locking *)attempt)->lock->is_open, false);
  return RHEOS__TRIED_DONE;
}

static rheos_status *finish_locking(rheos__attempt *attempt, rheos__step *step,
                                    rheos_tensor **outputs) {
  (void)step;
  locking *l = (locking *)attempt;
  lock *given = l->lock;
  l->lock = NULL;
  return rheos__variant_tensor_take(&given->variant, &outputs[0]);
}

static void deinit_locking(rheos__attempt *attempt) {
  locking *l = (locking *)attempt;
  if (l->lock != NULL) rheos__variant_unref(&l->lock->variant);
}

static const rheos__attempt_kind locking_kind = {
    .what = "the lock", .run = run_locking, .finish = finish_locking, .deinit = deinit_locking};

static rheos_status *compute_lock(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                  rheos_tensor **outputs) {
  (void)inputs;
  mutex *m = state;
  locking *attempt = rheos__alloc_zeroed(sizeof *attempt);
  lock *new_lock = rheos__alloc_zeroed(sizeof *new_lock);
  if (attempt == NULL || new_lock == NULL) {
    rheos__free(attempt);
    rheos__free(new_lock);
    return rheos__out_of_memory();
  }
  atomic_init(&new_lock->variant.references, 1);
  new_lock->variant.kind = &lock_kind;
  new_lock->held = (mutex *)rheos__resource_ref(&m->waitable.base);
  atomic_init(&new_lock->is_open, true);
  attempt->lock = new_lock;
  rheos__attempt_init(&attempt->attempt, &locking_kind, &m->waitable, RHEOS__TAKES);
  return rheos__step_attempt_take(step, &attempt->attempt, outputs);
}

static rheos_status *prepare_lock(rheos__prepare *p) {
  rheos__resource *resource = p->input_resources[0];
  if (resource == NULL) return RHEOS_INVALID("input 0 is not a mutex");
  if (resource->kind != &mutex_kind) {
    return RHEOS_INVALID("%s is a %s, not a mutex", resource->name, resource->kind->name);
  }
  p->state = resource;
  p->compute = compute_lock;
  return NULL;
}

const rheos__op_def rheos__op_MutexLock = {
    .name = "MutexLock",
    .signature = "mutex: resource -> mutex_lock: variant",
    .doc =
        "Locks `mutex`, waiting until it can; it is open again when `mutex_lock` is consumed or "
        "gone.",
    .flags = RHEOS_OP_STATEFUL | RHEOS_OP_WAITS | RHEOS_OP_TAKES_VARIANTS,
    .shape = rheos__shape_scalar,
    .gradient = rheos__no_gradient,
    .prepare = prepare_lock,
};

// ---- ConsumeMutexLock

static rheos_status *compute_consume(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                     rheos_tensor **outputs) {
  (void)state, (void)step, (void)outputs;
  lock *l = NULL;
  RHEOS_TRY(rheos__variant_of(inputs[0], &lock_kind, "ConsumeMutexLock", (rheos__variant **)&l));
  open_lock(l);
  return NULL;
}

static rheos_status *shape_consume(rheos__infer *c) {
  rheos_shape scalar;
  return rheos__infer_rank(c, 0, 0, &scalar);
}

const rheos__op_def rheos__op_ConsumeMutexLock = {
    .name = "ConsumeMutexLock",
    .signature = "mutex_lock: variant ->",
    .doc = "Opens the mutex that `mutex_lock` has locked.",
    .flags = RHEOS_OP_STATEFUL | RHEOS_OP_TAKES_VARIANTS,
    .shape = shape_consume,
    .gradient = rheos__no_gradient,
    .compute = compute_consume,
};
