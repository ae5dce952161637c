// Sends and receives: edges of a graph that was cut. What is sent on one device is received on
// another under a key that both nodes tell (resource/rendezvous.h), in each trip of a loop under
// one of its own.
#include "resource/rendezvous.h"

#include "ops/kit/array_util.h"
#include "ops/kit/op_util.h"

static char *key_of(const rheos__attrs *attrs, const rheos__step *step) {
  const rheos__trip trip = rheos__step_trip(step);
  return rheos__rendezvous_key(rheos__attr_string(attrs, "send_device"),
                               (uint64_t)rheos__attr_int(attrs, "send_device_incarnation"),
                               rheos__attr_string(attrs, "recv_device"),
                               rheos__attr_string(attrs, "tensor_name"), trip.frame, trip.number);
}

// `value` may be NULL: dead.
static rheos_status *send(const rheos__attrs *attrs, rheos__step *step, rheos_tensor *value) {
  rheos__rendezvous *rendezvous = rheos__step_rendezvous(step);
  char *key = key_of(attrs, step);
  rheos_status *status = rendezvous == NULL || key == NULL
                             ? rheos__out_of_memory()
                             : rheos__rendezvous_send(rendezvous, key, value);
  rheos__free(key);
  return status;
}

static rheos_status *compute_send(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                  rheos_tensor **outputs) {
  (void)outputs;
  if (inputs[0] == NULL) return RHEOS_INVALID("a resource cannot be sent");
  rheos_tensor *kept = NULL;
  RHEOS_TRY(rheos__tensor_keep(inputs[0], &kept));
  rheos_status *status = send(*(const rheos__attrs **)state, step, kept);
  rheos_tensor_unref(kept);
  return status;
}

static rheos_status *send_dead(const rheos__attrs *attrs, rheos__step *step) {
  return send(attrs, step, NULL);
}

static rheos_status *compute_receive(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                     rheos_tensor **outputs) {
  (void)inputs;
  const rheos__attrs *attrs = *(const rheos__attrs **)state;
  rheos__rendezvous *rendezvous = rheos__step_rendezvous(step);
  char *key = key_of(attrs, step);
  rheos__attempt *attempt = NULL;
  rheos_status *status =
      rendezvous == NULL || key == NULL
          ? rheos__out_of_memory()
          : rheos__rendezvous_receive(rendezvous, key, rheos__attr_type(attrs, "tensor_type"),
                                      &attempt);
  rheos__free(key);
  if (status != NULL) return status;
  return rheos__step_attempt_take(step, attempt, outputs);
}

static rheos_status *prepare(rheos__prepare *p) {
  const rheos__attrs **state = RHEOS_NEW_STATE(p, const rheos__attrs *);
  if (state == NULL) return rheos__out_of_memory();
  *state = p->attrs;
  p->compute = p->op->compute;
  return NULL;
}

#define ENDS                                                                              \
  "tensor_name: string; send_device: string; send_device_incarnation: int; recv_device: " \
  "string; client_terminated: bool = false"

#define SEND_OP(op_name, text)                              \
  const rheos__op_def rheos__op_##op_name = {               \
      .name = #op_name,                                     \
      .signature = "tensor: T -> ; T: type; " ENDS,         \
      .doc = text,                                          \
      .flags = RHEOS_OP_STATEFUL | RHEOS_OP_TAKES_VARIANTS, \
      .shape = rheos__shape_none,                           \
      .gradient = rheos__no_gradient,                       \
      .prepare = prepare,                                   \
      .compute = compute_send,                              \
      .run_dead = send_dead,                                \
  };
#define RECEIVE_OP(op_name, text)                                                                \
  const rheos__op_def rheos__op_##op_name = {                                                    \
      .name = #op_name,                                                                          \
      .signature = "-> tensor: tensor_type; tensor_type: type; " ENDS,                           \
      .doc = text,                                                                               \
      .flags =                                                                                   \
          RHEOS_OP_STATEFUL | RHEOS_OP_WAITS | RHEOS_OP_MAY_GIVE_DEAD | RHEOS_OP_TAKES_VARIANTS, \
      .shape = rheos__shape_none,                                                                \
      .gradient = rheos__no_gradient,                                                            \
      .prepare = prepare,                                                                        \
      .compute = compute_receive,                                                                \
  };

SEND_OP(_Send, "Sends `tensor` to another device, where it is received by the same name.")
SEND_OP(_HostSend, "Sends `tensor`, which lies in the host's memory.")
RECEIVE_OP(_Recv, "What is sent from another device by the same name.")
RECEIVE_OP(_HostRecv, "What is sent from another device, in the host's memory.")
