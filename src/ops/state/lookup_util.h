// What the ops on lookup tables share.
#ifndef RHEOS_SRC_OPS_STATE_LOOKUP_UTIL_H
#define RHEOS_SRC_OPS_STATE_LOOKUP_UTIL_H

#include "graph/op_def.h"
#include "resource/lookup_table.h"

// The table behind input 0, borrowed; a status if there is another kind of resource.
rheos_status *rheos__table_of(const rheos__prepare *p, rheos__table **out_table);

#endif  // RHEOS_SRC_OPS_STATE_LOOKUP_UTIL_H
