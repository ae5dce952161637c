// Runs chains of layers over the threads; see plan/row_chain.c.
#ifndef RHEOS_SRC_RUNTIME_CHAIN_RUN_H
#define RHEOS_SRC_RUNTIME_CHAIN_RUN_H

#include "plan/stretch.h"
#include "runtime/pool.h"

// Runs the instructions of the chain that are RHEOS__RUN, each thread all of them on rows of its own.
// What the others give is in the frame. An error names its node.
rheos_status *rheos__run_row_chain(const rheos__stretch *stretch, const rheos__row_chain *chain,
                                   const rheos__frame *frame, rheos__pool *pool);

#endif  // RHEOS_SRC_RUNTIME_CHAIN_RUN_H
