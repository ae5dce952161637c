// Common subexpressions: entries that compute the same from the same values become one.
#ifndef RHEOS_SRC_PLAN_RULES_MERGE_H
#define RHEOS_SRC_PLAN_RULES_MERGE_H

#include "plan/rules/rewrite.h"

typedef struct rheos__merger {
  int32_t *slots;  // entries, -1: empty; a power of two, at most half full
  size_t num_slots;
} rheos__merger;

rheos_status *rheos__merger_init(rheos__merger *merger, const rheos__plan *plan);
void rheos__merger_deinit(rheos__merger *merger);

// Drops the entry if one before it is the same, else remembers it.
rheos_status *rheos__merge(rheos__merger *merger, rheos__rewriter *r, int32_t index);

#endif  // RHEOS_SRC_PLAN_RULES_MERGE_H
