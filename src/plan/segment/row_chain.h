// Chains of layers that threads go through side by side, each with its own rows of the batch.
#ifndef RHEOS_SRC_PLAN_SEGMENT_ROW_CHAIN_H
#define RHEOS_SRC_PLAN_SEGMENT_ROW_CHAIN_H

#include "plan/segment/segment.h"

// Of an instruction in a chain, at most.
enum { RHEOS__ROW_CHAIN_INPUTS = 16 };

// Adds them to the sections of the segment. After rheos__place_memory().
rheos_status *rheos__find_row_chains(rheos__segment *segment);

#endif  // RHEOS_SRC_PLAN_SEGMENT_ROW_CHAIN_H
