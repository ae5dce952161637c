// Collectives whose keys are inputs: those of TensorFlow 2 (resource/collective.h).
#include <string.h>

#include "ops/collective/collective_kit.h"
#include "ops/kit/array_util.h"
#include "ops/kit/op_util.h"

// The keys begin at input `first`.
static rheos_status *read_keys(rheos__collective *what, rheos_tensor *const *inputs,
                               int32_t first) {
  RHEOS_TRY(rheos__collective_scalar(inputs[first], "group_size", &what->group_size));
  RHEOS_TRY(rheos__collective_scalar(inputs[first + 1], "group_key", &what->group_key));
  return rheos__collective_scalar(inputs[first + 2], "instance_key", &what->instance_key);
}

static rheos_status *compute(void *state, rheos__step *step, rheos_tensor *const *inputs,
                             rheos_tensor **outputs) {
  rheos__collective what = *(const rheos__collective *)state;
  RHEOS_TRY(read_keys(&what, inputs, 1));
  return rheos__take_part(&what, step, inputs[0], NULL, outputs);
}

static rheos_status *prepare(rheos__prepare *p, rheos__collective_type type) {
  p->compute = compute;
  return rheos__prepare_member(p, type) != NULL ? NULL : rheos__out_of_memory();
}

static rheos_status *prepare_reduce(rheos__prepare *p) {
  return prepare(p, RHEOS__COLLECTIVE_REDUCE);
}

static rheos_status *prepare_gather(rheos__prepare *p) {
  return prepare(p, RHEOS__COLLECTIVE_GATHER);
}

static rheos_status *prepare_scatter(rheos__prepare *p) {
  return prepare(p, RHEOS__COLLECTIVE_REDUCE_SCATTER);
}

static rheos_status *prepare_all_to_all(rheos__prepare *p) {
  return prepare(p, RHEOS__COLLECTIVE_ALL_TO_ALL);
}

// How many members there are is not known before the step.
static rheos_status *shape_of_parts(rheos__infer *c) {
  RHEOS_TRY(rheos__infer_rank_at_least(c, 0, 1));
  c->output_shapes[0] = c->input_shapes[0];
  if (c->output_shapes[0].rank > 0) c->output_shapes[0].dims[0] = -1;
  return NULL;
}

#define KEYS "group_size: int32, group_key: int32, instance_key: int32"
#define TOKENS ", ordering_token: Nordering_token * resource"
#define NUMBERS "T: {bfloat16, float, half, double, int32, int64}"
#define REDUCED "merge_op: {\"Min\", \"Max\", \"Mul\", \"Add\"}; final_op: {\"Id\", \"Div\"}; "
#define HINTS "communication_hint: string = \"auto\"; timeout_seconds: float = 0.0"
#define STATELESS "; is_stateless: bool = false; Nordering_token: int >= 0 = 0"
#define SUBDIVISIONS "; max_subdivs_per_device: int = -1"
#define FLAGS (RHEOS_OP_STATEFUL | RHEOS_OP_WAITS)

const rheos__op_def rheos__op_CollectiveReduceV2 = {
    .name = "CollectiveReduceV2",
    .signature =
        "input: T, " KEYS TOKENS " -> data: T; " NUMBERS "; " REDUCED HINTS STATELESS SUBDIVISIONS,
    .doc = "The `input` of all members of a group, merged element by element.",
    .flags = FLAGS,
    .shape = rheos__shape_unchanged,
    .prepare = prepare_reduce,
};

const rheos__op_def rheos__op_CollectiveReduceScatterV2 = {
    .name = "CollectiveReduceScatterV2",
    .signature =
        "input: T, " KEYS TOKENS " -> data: T; " NUMBERS "; " REDUCED HINTS STATELESS SUBDIVISIONS,
    .doc = "A part for each member, along dimension 0, of the merged `input` of all.",
    .flags = FLAGS,
    .shape = shape_of_parts,
    .prepare = prepare_scatter,
};

const rheos__op_def rheos__op_CollectiveGatherV2 = {
    .name = "CollectiveGatherV2",
    .signature = "input: T, " KEYS TOKENS
                 " -> data: T; T: {float, half, double, int32, int64}; " HINTS STATELESS,
    .doc = "The `input` of all members of a group, one after the other along dimension 0.",
    .flags = FLAGS,
    .shape = shape_of_parts,
    .prepare = prepare_gather,
};

const rheos__op_def rheos__op_CollectiveAllToAllV2 = {
    .name = "CollectiveAllToAllV2",
    .signature = "input: T, " KEYS TOKENS " -> data: T; " NUMBERS "; " HINTS STATELESS,
    .doc = "Element i of `input` of each member, along dimension 0, for member i.",
    .flags = FLAGS,
    .shape = rheos__shape_unchanged,
    .prepare = prepare_all_to_all,
};

// ---- Broadcasts

static rheos_status *prepare_send(rheos__prepare *p) {
  RHEOS_TRY(prepare(p, RHEOS__COLLECTIVE_BROADCAST));
  ((rheos__collective *)p->state)->is_source = true;
  return NULL;
}

static rheos_status *read_shape(const rheos_tensor *tensor, rheos_shape *out_shape) {
  const int64_t rank = rheos_tensor_num_elements(tensor);
  if (rheos_tensor_shape(tensor)->rank != 1) return RHEOS_INVALID("`shape` is not a vector");
  if (rank > RHEOS_MAX_RANK) return RHEOS_INVALID("`shape` has %lld dimensions", (long long)rank);
  *out_shape = rheos__shape_of_rank((int32_t)rank);
  for (int64_t i = 0; i < rank; ++i) {
    out_shape->dims[i] = rheos__int_in(rheos_tensor_dtype(tensor), rheos_tensor_data(tensor), i);
    if (out_shape->dims[i] < 0) {
      return RHEOS_INVALID("Dimension %lld must be >= 0", (long long)out_shape->dims[i]);
    }
  }
  return NULL;
}

static rheos_status *compute_receive(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                     rheos_tensor **outputs) {
  rheos__collective what = *(const rheos__collective *)state;
  rheos_shape shape;
  int64_t num_elements;
  size_t size_bytes;
  RHEOS_TRY(read_keys(&what, inputs, 0));
  RHEOS_TRY(read_shape(inputs[3], &shape));
  RHEOS_TRY(rheos__shape_size(what.dtype, &shape, &num_elements, &size_bytes));
  return rheos__take_part(&what, step, NULL, &shape, outputs);
}

static rheos_status *prepare_receive(rheos__prepare *p) {
  RHEOS_TRY(prepare(p, RHEOS__COLLECTIVE_BROADCAST));
  p->compute = compute_receive;
  return NULL;
}

static rheos_status *shape_receive(rheos__infer *c) {
  return rheos__infer_shape_value(c, 3, &c->output_shapes[0]);
}

#define BROADCAST "T: {bool, float, half, double, int32, int64}; "

const rheos__op_def rheos__op_CollectiveBcastSendV2 = {
    .name = "CollectiveBcastSendV2",
    .signature = "input: T, " KEYS " -> data: T; " BROADCAST HINTS,
    .doc = "Gives `input` to all members of a group.",
    .flags = FLAGS,
    .shape = rheos__shape_unchanged,
    .prepare = prepare_send,
};

const rheos__op_def rheos__op_CollectiveBcastRecvV2 = {
    .name = "CollectiveBcastRecvV2",
    .signature =
        KEYS ", shape: Tshape -> data: T; " BROADCAST "Tshape: {int32, int64} = int32; " HINTS,
    .doc = "What the member of the group that sends gives, of the shape `shape`.",
    .flags = FLAGS,
    .shape = shape_receive,
    .prepare = prepare_receive,
};

// ---- CollectiveAssignGroupV2

static rheos_status *scalar_output(int32_t value, rheos_tensor **out_tensor) {
  return rheos_tensor_from_values(RHEOS_INT32, (rheos_shape){0}, &value, out_tensor);
}

static rheos_status *compute_assign(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                    rheos_tensor **outputs) {
  (void)state, (void)step;
  const rheos_shape *shape = rheos_tensor_shape(inputs[0]);
  const int32_t *assigned = rheos_tensor_data(inputs[0]);
  int32_t device, base;
  if (shape->rank != 2) return RHEOS_INVALID("`group_assignment` is not a matrix");
  RHEOS_TRY(rheos__collective_scalar(inputs[1], "device_index", &device));
  RHEOS_TRY(rheos__collective_scalar(inputs[2], "base_key", &base));
  for (int64_t i = 0; i < rheos_tensor_num_elements(inputs[0]); ++i) {
    if (assigned[i] != device) continue;
    const uint32_t group = (uint32_t)(i / shape->dims[1]);
    RHEOS_TRY(scalar_output((int32_t)shape->dims[1], &outputs[0]));
    return scalar_output((int32_t)((uint32_t)base + group), &outputs[1]);
  }
  return RHEOS_INVALID("device_index %d is not found in group_assignment", (int)device);
}

const rheos__op_def rheos__op_CollectiveAssignGroupV2 = {
    .name = "CollectiveAssignGroupV2",
    .signature =
        "group_assignment: int32, device_index: int32, base_key: int32 -> group_size: "
        "int32, group_key: int32",
    .doc = "The size and key of the group of device `device_index`: a row of `group_assignment`.",
    .flags = RHEOS_OP_STATEFUL,
    .shape = rheos__shape_scalar,
    .compute = compute_assign,
};
