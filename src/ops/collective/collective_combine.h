// What members of a group make of what they have brought, where all of it lies in one process.
#ifndef RHEOS_SRC_OPS_COLLECTIVE_COLLECTIVE_COMBINE_H
#define RHEOS_SRC_OPS_COLLECTIVE_COLLECTIVE_COMBINE_H

#include "graph/op_def.h"
#include "resource/collective.h"

// The function for a type of collective, which sets what each member gets. What is reduced is
// merged in the order of ranks, element by element; members that get the same values share a
// tensor.
rheos__combine_fn rheos__combine_for(rheos__collective_type type);

// The merged values of `num_members` runs of `count` elements, in their order, and then divided if
// `what` says so. `out` may be the first of them.
void rheos__merge_runs(const rheos__collective *what, const void *const *runs, int32_t num_members,
                       void *out, int64_t count);
// Divides `count` values by the number of members.
void rheos__divide_run(const rheos__collective *what, int32_t num_members, void *values,
                       int64_t count);

#endif  // RHEOS_SRC_OPS_COLLECTIVE_COLLECTIVE_COMBINE_H
