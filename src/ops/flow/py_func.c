// Functions of the program itself as ops: the session's options say how they are called. Where a
// step has something else to do it has another thread call the function, which may wait for that.
#include <string.h>

#include "ops/kit/op_util.h"
#include "ops/kit/polling.h"
#include "resource/waitable.h"

typedef struct call_state {
  rheos_program_function function;
  void *argument;
  bool may_be_left;
  int32_t num_inputs, num_outputs;
  const rheos_dtype *output_dtypes;
  const char *token, *node_name;
} call_state;

static rheos_status *check_outputs(const call_state *call, rheos_tensor *const *outputs) {
  for (int32_t i = 0; i < call->num_outputs; i++) {
    if (outputs[i] == NULL) {
      return RHEOS_INVALID("the function %s gave no output %d", call->token, (int)i);
    }
    if (outputs[i]->dtype == call->output_dtypes[i]) continue;
    return RHEOS_INVALID("%d-th value returned by %s is %s, but expects %s", (int)i, call->token,
                         rheos_dtype_name(outputs[i]->dtype),
                         rheos_dtype_name(call->output_dtypes[i]));
  }
  return NULL;
}

static rheos_status *call_here(const call_state *call, rheos_tensor *const *inputs,
                               rheos_tensor **outputs) {
  RHEOS_TRY(call->function(call->argument, call->token, inputs, (size_t)call->num_inputs, outputs,
                           (size_t)call->num_outputs));
  return check_outputs(call, outputs);
}

// ---- On another thread, which needs nothing of the step

typedef struct call_beside {
  rheos__waitable base;  // what follows is guarded by its mutex once the thread runs
  call_state call;
  void *memory;                     // of what `call` points to, and of the arrays
  rheos_tensor **inputs, **values;  // in one
  rheos_status *status;
  bool has_returned;
} call_beside;

static rheos_status *copy_call(call_beside *c, const call_state *call) {
  const size_t num_values = (size_t)call->num_inputs + (size_t)call->num_outputs;
  const size_t values_size = num_values * sizeof *c->inputs;
  const size_t dtypes_size = (size_t)call->num_outputs * sizeof *call->output_dtypes;
  const size_t token_size = strlen(call->token) + 1;
  char *memory = rheos__alloc_zeroed(values_size + dtypes_size + token_size);
  if (memory == NULL) return rheos__out_of_memory();
  c->memory = memory;
  c->call = *call;
  c->inputs = (rheos_tensor **)(void *)memory;
  c->values = c->inputs + call->num_inputs;
  c->call.output_dtypes = (rheos_dtype *)(void *)(memory + values_size);
  c->call.token = memory + values_size + dtypes_size;
  c->call.node_name = c->base.base.name;
  if (dtypes_size > 0) memcpy(memory + values_size, call->output_dtypes, dtypes_size);
  memcpy(memory + values_size + dtypes_size, call->token, token_size);
  return NULL;
}

static rheos_status *init_beside(rheos__resource *resource, const void *call) {
  call_beside *c = (call_beside *)resource;
  RHEOS_TRY(copy_call(c, call));
  rheos__waitable_init(&c->base);
  return NULL;
}

static void deinit_beside(rheos__resource *resource) {
  call_beside *c = (call_beside *)resource;
  const int32_t count = c->call.num_inputs + c->call.num_outputs;
  for (int32_t i = 0; i < count; ++i) rheos_tensor_unref(c->inputs[i]);
  rheos__free(c->memory);
  rheos_status_free(c->status);
  rheos__waitable_deinit(&c->base);
}

static const rheos__resource_kind beside_kind = {.name = "function",
                                                 .size_bytes = sizeof(call_beside),
                                                 .init = init_beside,
                                                 .deinit = deinit_beside};

static void run_beside(void *argument) {
  call_beside *c = argument;
  rheos_status *status = call_here(&c->call, c->inputs, c->values);
  pthread_mutex_lock(&c->base.mutex);
  c->status = status;
  c->has_returned = true;
  rheos__waitable_serve(&c->base);
  pthread_mutex_unlock(&c->base.mutex);
  rheos__resource_unref(&c->base.base);
}

static rheos__tried try_return(rheos__attempt *attempt) {
  call_beside *c = (call_beside *)attempt->on;
  if (!c->has_returned) return RHEOS__TRIED_IN_VAIN;
  attempt->status = c->status;
  c->status = NULL;
  return RHEOS__TRIED_DONE;
}

static rheos_status *finish_return(rheos__attempt *attempt, rheos__step *step,
                                   rheos_tensor **outputs) {
  (void)step;
  call_beside *c = (call_beside *)attempt->on;
  for (int32_t i = 0; i < c->call.num_outputs; ++i) {
    outputs[i] = c->values[i];
    c->values[i] = NULL;
  }
  return NULL;
}

#define RETURN_KIND(left)   \
  {.what = "the return",    \
   .run = try_return,       \
   .finish = finish_return, \
   .is_awaited = true,      \
   .may_be_left = (left)}
static const rheos__attempt_kind return_kinds[2] = {RETURN_KIND(false), RETURN_KIND(true)};

static rheos_status *new_beside(const call_state *call, rheos_tensor *const *inputs,
                                call_beside **out_beside) {
  rheos__resource *resource;
  RHEOS_TRY(rheos__resource_new(&beside_kind, call->node_name, call, &resource));
  call_beside *c = (call_beside *)resource;
  for (int32_t i = 0; i < call->num_inputs; ++i) {
    rheos_status *status = rheos__tensor_keep(inputs[i], &c->inputs[i]);
    if (status == NULL) continue;
    rheos__resource_unref(resource);
    return status;
  }
  *out_beside = c;
  return NULL;
}

static rheos_status *call_on_thread(const call_state *call, rheos__step *step,
                                    rheos_tensor *const *inputs, rheos_tensor **outputs) {
  call_beside *c;
  RHEOS_TRY(new_beside(call, inputs, &c));
  rheos__attempt *attempt = rheos__alloc_zeroed(sizeof *attempt);
  if (attempt == NULL) {
    rheos__resource_unref(&c->base.base);
    return rheos__out_of_memory();
  }
  rheos__attempt_init(attempt, &return_kinds[call->may_be_left], &c->base, RHEOS__TAKES);
  if (rheos__run_beside(run_beside, c)) return rheos__step_attempt_take(step, attempt, outputs);
  rheos__attempt_free(attempt);
  rheos__resource_unref(&c->base.base);
  return call_here(call, inputs, outputs);
}

// ---- The op

static rheos_status *compute_call(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                  rheos_tensor **outputs) {
  const call_state *call = state;
  if (call->function == NULL) {
    return rheos_status_new(RHEOS_UNIMPLEMENTED, "the program has no function %s to call",
                            call->token);
  }
  // Calls may take long, and nobody counts that.
  if (rheos__step_should_stop(step)) return rheos__stopped();
  if (!rheos__step_can_go_on(step)) return call_here(call, inputs, outputs);
  return call_on_thread(call, step, inputs, outputs);
}

static rheos_status *prepare_call(rheos__prepare *p) {
  const size_t dtypes_size = (size_t)p->num_outputs * sizeof(rheos_dtype);
  call_state *call = rheos__arena_alloc_zeroed(p->arena, sizeof *call);
  rheos_dtype *dtypes = rheos__arena_alloc(p->arena, dtypes_size + 1);
  char *token = rheos__arena_strdup(p->arena, rheos__attr_string(p->attrs, "token"));
  if (call == NULL || dtypes == NULL || token == NULL) return rheos__out_of_memory();
  if (dtypes_size > 0) memcpy(dtypes, p->output_dtypes, dtypes_size);
  *call = (call_state){.function = p->program_function,
                       .argument = p->program_argument,
                       .may_be_left = p->leaves_functions,
                       .num_inputs = p->num_inputs,
                       .num_outputs = p->num_outputs,
                       .output_dtypes = dtypes,
                       .token = token,
                       .node_name = p->node_name};
  p->state = call;
  p->compute = compute_call;
  return NULL;
}

#define CALL_SIGNATURE                                          \
  "input: Tin -> output: Tout; token: string; Tin: list(type) " \
  ">= 0; Tout: list(type) >= 0"

#define OP(op, text)                                       \
  const rheos__op_def rheos__op_##op = {                   \
      .name = #op,                                         \
      .signature = CALL_SIGNATURE,                         \
      .doc = text,                                         \
      .flags = RHEOS_OP_STATEFUL | RHEOS_OP_CALLS_PROGRAM, \
      .shape = rheos__shape_none,                          \
      .gradient = rheos__no_gradient,                      \
      .prepare = prepare_call,                             \
  };
OP(PyFunc, "Calls the program's function `token` with `input`, in every step that needs `output`.")
OP(PyFuncStateless, "PyFunc for a function that gives the same `output` for the same `input`.")
