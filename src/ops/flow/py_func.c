// Functions of the program itself as ops: the session's options say how they are called.
#include <string.h>

#include "ops/kit/op_util.h"

typedef struct call_state {
  rheos_program_function function;
  void *argument;
  int32_t num_inputs, num_outputs;
  const rheos_dtype *output_dtypes;
  char token[];
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

static rheos_status *compute_call(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                  rheos_tensor **outputs) {
  (void)step;
  const call_state *call = state;
  if (call->function == NULL) {
    return rheos_status_new(RHEOS_UNIMPLEMENTED, "the program has no function %s to call",
                            call->token);
  }
  RHEOS_TRY(call->function(call->argument, call->token, inputs, (size_t)call->num_inputs, outputs,
                           (size_t)call->num_outputs));
  return check_outputs(call, outputs);
}

static rheos_status *prepare_call(rheos__prepare *p) {
  const char *token = rheos__attr_string(p->attrs, "token");
  const size_t length = strlen(token);
  call_state *call = rheos__arena_alloc_zeroed(p->arena, sizeof *call + length + 1);
  const size_t dtypes_size = (size_t)p->num_outputs * sizeof(rheos_dtype);
  rheos_dtype *dtypes = rheos__arena_alloc(p->arena, dtypes_size + 1);
  if (call == NULL || dtypes == NULL) return rheos__out_of_memory();
  if (dtypes_size > 0) memcpy(dtypes, p->output_dtypes, dtypes_size);
  memcpy(call->token, token, length + 1);
  call->function = p->program_function;
  call->argument = p->program_argument;
  call->num_inputs = p->num_inputs;
  call->num_outputs = p->num_outputs;
  call->output_dtypes = dtypes;
  p->state = call;
  p->compute = compute_call;
  return NULL;
}

#define CALL_SIGNATURE                                          \
  "input: Tin -> output: Tout; token: string; Tin: list(type) " \
  ">= 0; Tout: list(type) >= 0"

#define OP(op, text)                     \
  const rheos__op_def rheos__op_##op = { \
      .name = #op,                       \
      .signature = CALL_SIGNATURE,       \
      .doc = text,                       \
      .flags = RHEOS_OP_STATEFUL,        \
      .shape = rheos__shape_none,        \
      .gradient = rheos__no_gradient,    \
      .prepare = prepare_call,           \
  };
OP(PyFunc, "Calls the program's function `token` with `input`, in every step that needs `output`.")
OP(PyFuncStateless, "PyFunc for a function that gives the same `output` for the same `input`.")
