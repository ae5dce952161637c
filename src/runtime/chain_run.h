// Runs chains of layers over the threads; see plan/row_chain.c.
#ifndef RHEOS_SRC_RUNTIME_CHAIN_RUN_H
#define RHEOS_SRC_RUNTIME_CHAIN_RUN_H

#include "plan/segment.h"
#include "runtime/trace.h"

// Runs the instructions of the chain that are RHEOS__RUN, each thread all of them on rows of its own.
// What the others give is in the workspace. An error names its node. `marks`: for each instruction one
// of each thread's part, rheos__row_chain_parts() of them; NULL: there is no trace.
rheos_status *rheos__run_row_chain(const rheos__segment *segment, const rheos__row_chain *chain,
                                   const rheos__workspace *workspace, rheos__pool *pool,
                                   rheos__trace_mark *marks);
int64_t rheos__row_chain_parts(const rheos__row_chain *chain, const rheos__pool *pool);

#endif  // RHEOS_SRC_RUNTIME_CHAIN_RUN_H
