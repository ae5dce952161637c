// Collectives whose keys are attributes: those of TensorFlow 1 (resource/collective.h).
#include "ops/collective/collective_kit.h"
#include "ops/kit/array_util.h"
#include "ops/kit/op_util.h"

static rheos_status *compute_with_input(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                        rheos_tensor **outputs) {
  return rheos__take_part(state, step, inputs[0], NULL, outputs);
}

static rheos_status *compute_without_input(void *state, rheos__step *step,
                                           rheos_tensor *const *inputs, rheos_tensor **outputs) {
  (void)inputs;
  const rheos__collective *what = state;
  return rheos__take_part(what, step, NULL, &what->shape, outputs);
}

static rheos_status *key_of(const rheos__prepare *p, const char *name, int32_t *out_key) {
  const int64_t value = rheos__attr_int(p->attrs, name);
  if (value < INT32_MIN || value > INT32_MAX) {
    return RHEOS_INVALID("%s is %lld, which is no int32", name, (long long)value);
  }
  *out_key = (int32_t)value;
  return NULL;
}

static rheos_status *prepare(rheos__prepare *p, rheos__collective_type type,
                             rheos__collective **out_what) {
  rheos__collective *what = *out_what = rheos__prepare_member(p, type);
  if (what == NULL) return rheos__out_of_memory();
  RHEOS_TRY(key_of(p, "group_size", &what->group_size));
  RHEOS_TRY(key_of(p, "group_key", &what->group_key));
  RHEOS_TRY(key_of(p, "instance_key", &what->instance_key));
  if (what->group_size <= 0) {
    return RHEOS_INVALID("group_size must be positive integer but got %d", (int)what->group_size);
  }
  p->compute = compute_with_input;
  return NULL;
}

#define KEYS "group_size: int; group_key: int; instance_key: int; "
#define HINTS "communication_hint: string = \"auto\"; timeout_seconds: float = 0.0"
#define FLAGS (RHEOS_OP_STATEFUL | RHEOS_OP_WAITS)

// ---- CollectiveReduce

static rheos_status *prepare_reduce(rheos__prepare *p) {
  rheos__collective *what;
  return prepare(p, RHEOS__COLLECTIVE_REDUCE, &what);
}

const rheos__op_def rheos__op_CollectiveReduce = {
    .name = "CollectiveReduce",
    .signature = "input: T -> data: T; T: {bfloat16, float, half, double, int32, int64}; " KEYS
                 "merge_op: {\"Min\", \"Max\", \"Mul\", \"Add\"}; final_op: {\"Id\", \"Div\"}; "
                 "subdiv_offsets: list(int); wait_for: list(int) = []; " HINTS,
    .doc = "The `input` of all members of a group, merged element by element.",
    .flags = FLAGS,
    .shape = rheos__shape_unchanged,
    .prepare = prepare_reduce,
};

// ---- CollectiveGather

static rheos_status *shape_gather(rheos__infer *c) {
  RHEOS_TRY(rheos__infer_rank_at_least(c, 0, 1));
  rheos_shape shape = c->input_shapes[0];
  if (shape.rank < 0) return NULL;
  if (shape.dims[0] >= 0 &&
      __builtin_mul_overflow(shape.dims[0], rheos__attr_int(c->attrs, "group_size"),
                             &shape.dims[0])) {
    return RHEOS_INVALID("what is gathered is too large");
  }
  if (shape.dims[0] < -1) shape.dims[0] = -1;
  c->output_shapes[0] = shape;
  return NULL;
}

static rheos_status *prepare_gather(rheos__prepare *p) {
  rheos__collective *what;
  return prepare(p, RHEOS__COLLECTIVE_GATHER, &what);
}

const rheos__op_def rheos__op_CollectiveGather = {
    .name = "CollectiveGather",
    .signature =
        "input: T -> data: T; T: {float, half, double, int32, int64}; " KEYS "shape: shape; " HINTS,
    .doc = "The `input` of all members of a group, one after the other along dimension 0.",
    .flags = FLAGS,
    .shape = shape_gather,
    .prepare = prepare_gather,
};

// ---- Broadcasts

#define BROADCAST "T: {bool, float, half, double, int32, int64}; " KEYS "shape: shape; " HINTS

static rheos_status *prepare_send(rheos__prepare *p) {
  rheos__collective *what;
  RHEOS_TRY(prepare(p, RHEOS__COLLECTIVE_BROADCAST, &what));
  const rheos_shape shape = rheos__attr_shape(p->attrs, "shape");
  if (!rheos_shape_compatible(&shape, &p->input_shapes[0])) {
    char texts[2][256];
    rheos_shape_format(&p->input_shapes[0], texts[0], sizeof texts[0]);
    rheos_shape_format(&shape, texts[1], sizeof texts[1]);
    return RHEOS_INVALID("Declared shape of op %s does not match shape of input %s", texts[1],
                         texts[0]);
  }
  what->is_source = true;
  return NULL;
}

static rheos_status *prepare_receive(rheos__prepare *p) {
  rheos__collective *what;
  RHEOS_TRY(prepare(p, RHEOS__COLLECTIVE_BROADCAST, &what));
  what->shape = rheos__attr_shape(p->attrs, "shape");
  if (!rheos_shape_is_known(&what->shape)) return RHEOS_INVALID("`shape` is not known in full");
  p->compute = compute_without_input;
  return NULL;
}

const rheos__op_def rheos__op_CollectiveBcastSend = {
    .name = "CollectiveBcastSend",
    .signature = "input: T -> data: T; " BROADCAST,
    .doc = "Gives `input` to all members of a group.",
    .flags = FLAGS,
    .shape = rheos__shape_of_attr,
    .prepare = prepare_send,
};

const rheos__op_def rheos__op_CollectiveBcastRecv = {
    .name = "CollectiveBcastRecv",
    .signature = "-> data: T; " BROADCAST,
    .doc = "What the member of the group that sends gives.",
    .flags = FLAGS,
    .shape = rheos__shape_of_attr,
    .prepare = prepare_receive,
};
