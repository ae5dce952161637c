// The error for an op that is not there, with the one that was meant.
#ifndef RHEOS_SRC_GRAPH_NEAR_OP_H
#define RHEOS_SRC_GRAPH_NEAR_OP_H

#include "base/status.h"

// The error for a type that no op has; names the one of the table that is most like it, if one is.
rheos_status *rheos__no_such_op(const char *type);

#endif  // RHEOS_SRC_GRAPH_NEAR_OP_H
