// Calls of bodies where values may lie in different memories: arguments are brought to where the
// body takes them, results to the host's memory.
#include "runtime/run/bring.h"

rheos_status *rheos__bring_argument(const rheos__plan *plan, int32_t feed, rheos_tensor *tensor,
                                    rheos_tensor **out_brought) {
  const int32_t home = rheos__feed_home(plan, feed);
  *out_brought = NULL;
  if (home == RHEOS__ANYWHERE || tensor == NULL) return NULL;
  rheos__memory *memory = plan->context.devices[home]->memory;
  return tensor->memory == memory ? NULL : rheos__tensor_in(tensor, memory, out_brought);
}

rheos_status *rheos__bring_to_stay(const rheos__plan *plan, int32_t feed, rheos_tensor *tensor,
                                   rheos_tensor **out_brought) {
  RHEOS_TRY(rheos__bring_argument(plan, feed, tensor, out_brought));
  if (*out_brought != NULL || tensor == NULL || tensor->memory != NULL) return NULL;
  if (rheos__feed_home(plan, feed) != RHEOS__ANYWHERE || rheos__tensor_can_keep(tensor)) {
    return NULL;
  }
  return rheos_tensor_copy(tensor, out_brought);
}

// ---- All arguments of a call

struct rheos__brought {
  rheos_tensor **tensors;
  bool *given;  // they go to the run
  bool *owned;  // they are the call's, until the run is over
};

static rheos_status *reserve(rheos__call *call) {
  const size_t count = (size_t)call->plan->num_feeds;
  if (call->brought != NULL) return NULL;
  const size_t each = sizeof(rheos_tensor *) + 2 * sizeof(bool);
  rheos__brought *b = rheos__alloc_zeroed(sizeof *b + count * each);
  if (b == NULL) return rheos__out_of_memory();
  b->tensors = (rheos_tensor **)(b + 1);
  b->given = (bool *)(b->tensors + count);
  b->owned = b->given + count;
  call->brought = b;
  return NULL;
}

// What was given away goes as soon as it was brought: what is left is the run's, unless a mirror of
// somebody else's.
static rheos_status *bring(const rheos__plan *plan, const rheos__brought *b, int32_t feed) {
  rheos_tensor *tensor = b->tensors[feed], *brought = NULL;
  RHEOS_TRY(rheos__bring_argument(plan, feed, tensor, &brought));
  if (brought == NULL) return NULL;
  const bool given = b->given[feed];
  if (given) rheos_tensor_unref(tensor);
  b->tensors[feed] = brought;
  b->given[feed] = given && rheos__tensor_is_exclusive(brought);
  b->owned[feed] = !b->given[feed];
  return NULL;
}

void rheos__drop_given(const rheos__plan *plan, const rheos__parameters *parameters) {
  for (int32_t i = 0; parameters->given != NULL && i < plan->num_feeds; ++i) {
    if (parameters->given[i]) rheos_tensor_unref(parameters->tensors[i]);
  }
}

rheos_status *rheos__bring_arguments(rheos__call *call, const rheos__parameters *parameters,
                                     rheos__parameters *out_brought) {
  const rheos__plan *plan = call->plan;
  rheos_status *status = reserve(call);
  if (status != NULL) {
    rheos__drop_given(plan, parameters);
    return status;
  }
  const rheos__brought *b = call->brought;
  for (int32_t i = 0; i < plan->num_feeds; ++i) {
    b->tensors[i] = parameters->tensors[i];
    b->given[i] = parameters->given != NULL && parameters->given[i];
    b->owned[i] = false;
  }
  for (int32_t i = 0; status == NULL && i < plan->num_feeds; ++i) status = bring(plan, b, i);
  *out_brought = *parameters;
  out_brought->tensors = b->tensors;
  out_brought->given = parameters->given != NULL ? b->given : NULL;
  if (status == NULL) return NULL;
  rheos__drop_given(plan, out_brought);
  rheos__drop_arguments(call);
  return status;
}

void rheos__drop_arguments(const rheos__call *call) {
  for (int32_t i = 0; i < call->plan->num_feeds; ++i) {
    if (call->brought->owned[i]) rheos_tensor_unref(call->brought->tensors[i]);
    call->brought->owned[i] = false;
  }
}
