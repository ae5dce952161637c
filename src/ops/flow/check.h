// What CheckNumerics finds.
#ifndef RHEOS_SRC_OPS_FLOW_CHECK_H
#define RHEOS_SRC_OPS_FLOW_CHECK_H

#include "graph/op_def.h"

enum { RHEOS__HAS_INF = 1, RHEOS__HAS_NAN = 2, RHEOS__HAS_MINUS_INF = 4 };

// The status of CheckNumerics or CheckNumericsV2 where elements have such flaws; NULL: none has
// one.
rheos_status *rheos__flaws_status(const rheos__op_def *op, const rheos__attrs *attrs,
                                  unsigned flaws);

#endif  // RHEOS_SRC_OPS_FLOW_CHECK_H
