// Collectives of a group that a resource stands for: the third form of TensorFlow's. A member has
// the rank that it asked for, and the instances are numbered, in the order in which it takes part.
#include <stdatomic.h>

#include "ops/collective/collective_kit.h"
#include "ops/kit/op_util.h"
#include "tensor/variant.h"

typedef struct communicator {
  rheos__variant variant;
  int32_t group_key, rank, size;
  _Atomic int32_t next_instance;
} communicator;

static void free_communicator(rheos__variant *variant) { rheos__free(variant); }

static const rheos__variant_kind communicator_kind = {.name = "CollectiveCommunicator",
                                                      .free = free_communicator};

// ---- CollectiveInitializeCommunicator

static rheos_status *read_rank(rheos_tensor *const *inputs, rheos__collective *what) {
  RHEOS_TRY(rheos__collective_scalar(inputs[0], "group_key", &what->group_key));
  RHEOS_TRY(rheos__collective_scalar(inputs[1], "rank", &what->rank));
  RHEOS_TRY(rheos__collective_scalar(inputs[2], "group_size", &what->group_size));
  if (what->group_size <= 0) {
    return RHEOS_INVALID("group_size must be positive integer but got %d", (int)what->group_size);
  }
  if (what->rank < 0) {
    return RHEOS_INVALID("rank must be non-negative integer but got %d", (int)what->rank);
  }
  if (what->rank < what->group_size) return NULL;
  return RHEOS_INVALID("rank must be less than group size but got %d >= %d", (int)what->rank,
                       (int)what->group_size);
}

static rheos_status *handle_new(const rheos__collective *what, rheos_tensor **out_handle) {
  communicator *c = rheos__alloc_zeroed(sizeof *c);
  if (c == NULL) return rheos__out_of_memory();
  *c = (communicator){.group_key = what->group_key, .rank = what->rank, .size = what->group_size};
  atomic_init(&c->variant.references, 1);
  c->variant.kind = &communicator_kind;
  return rheos__handle_tensor_take(&c->variant, &RHEOS_SCALAR, out_handle);
}

// The handle is there for each member when all have come.
static rheos_status *compute_initialize(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                        rheos_tensor **outputs) {
  rheos__collective what = *(const rheos__collective *)state;
  rheos_tensor *handle = NULL;
  RHEOS_TRY(read_rank(inputs, &what));
  RHEOS_TRY(handle_new(&what, &handle));
  what.instance_key = INT32_MIN;
  rheos_status *status = rheos__take_part(&what, step, handle, NULL, outputs);
  rheos_tensor_unref(handle);
  return status;
}

static rheos_status *prepare_initialize(rheos__prepare *p) {
  p->compute = compute_initialize;
  return rheos__prepare_member(p, RHEOS__COLLECTIVE_MEETING) != NULL ? NULL
                                                                     : rheos__out_of_memory();
}

const rheos__op_def rheos__op_CollectiveInitializeCommunicator = {
    .name = "CollectiveInitializeCommunicator",
    .signature =
        "group_key: int32, rank: int32, group_size: int32 -> communicator: resource; "
        "communication_hint: string = \"auto\"; timeout_seconds: float = 0.0",
    .doc = "A member of a group, by its `rank`, for collectives; waits until all are there.",
    .flags = RHEOS_OP_STATEFUL | RHEOS_OP_WAITS | RHEOS_OP_TAKES_VARIANTS,
    .shape = rheos__shape_scalar,
    .prepare = prepare_initialize,
};

// ---- CollectiveReduceV3, CollectiveAllToAllV3

static rheos_status *compute_by_communicator(void *state, rheos__step *step,
                                             rheos_tensor *const *inputs, rheos_tensor **outputs) {
  rheos__collective what = *(const rheos__collective *)state;
  rheos__variant *object = NULL;
  RHEOS_TRY(rheos__handle_object(inputs[1], &communicator_kind, "a collective", &object));
  if (rheos_tensor_num_elements(inputs[2]) != 0) {
    return rheos_status_new(RHEOS_UNIMPLEMENTED, "Group assignments are not supported yet.");
  }
  communicator *c = (communicator *)object;
  what.group_key = c->group_key;
  what.group_size = c->size;
  what.rank = c->rank;
  what.instance_key = atomic_fetch_add(&c->next_instance, 1);
  return rheos__take_part(&what, step, inputs[0], NULL, outputs);
}

static rheos_status *prepare(rheos__prepare *p, rheos__collective_type type) {
  p->compute = compute_by_communicator;
  return rheos__prepare_member(p, type) != NULL ? NULL : rheos__out_of_memory();
}

static rheos_status *prepare_reduce(rheos__prepare *p) {
  return prepare(p, RHEOS__COLLECTIVE_REDUCE);
}

static rheos_status *prepare_all_to_all(rheos__prepare *p) {
  return prepare(p, RHEOS__COLLECTIVE_ALL_TO_ALL);
}

#define TAKES                                                                                   \
  "input: T, communicator: resource, group_assignment: int32 -> data: T; T: {bfloat16, float, " \
  "half, double, int32, int64}; "
#define FLAGS (RHEOS_OP_STATEFUL | RHEOS_OP_WAITS | RHEOS_OP_TAKES_VARIANTS)

const rheos__op_def rheos__op_CollectiveReduceV3 = {
    .name = "CollectiveReduceV3",
    .signature =
        TAKES "reduction: {\"Min\", \"Max\", \"Mul\", \"Add\"}; timeout_seconds: float = 0.0",
    .doc = "The `input` of all members of the group of `communicator`, merged by elements.",
    .flags = FLAGS,
    .shape = rheos__shape_unchanged,
    .prepare = prepare_reduce,
};

const rheos__op_def rheos__op_CollectiveAllToAllV3 = {
    .name = "CollectiveAllToAllV3",
    .signature = TAKES "timeout_seconds: float = 0.0",
    .doc = "Element i of `input` of each member of the group of `communicator`, for member i.",
    .flags = FLAGS,
    .shape = rheos__shape_unchanged,
    .prepare = prepare_all_to_all,
};
