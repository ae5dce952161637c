// Choosing boxes by score, none of which overlaps one chosen before: shared by the ops for one
// picture and for a batch of many classes.
#ifndef RHEOS_SRC_OPS_IMAGE_NON_MAX_SUPPRESSION_H
#define RHEOS_SRC_OPS_IMAGE_NON_MAX_SUPPRESSION_H

#include <stdbool.h>
#include <stdint.h>

typedef struct rheos__candidate {
  float score;
  int32_t box, begin;  // scores took the boxes chosen before `begin` into account
} rheos__candidate;

typedef struct rheos__suppressor {
  const float *boxes;  // (n, 4), or overlaps (n, n)
  int64_t n, most;
  bool overlaps;
  float threshold, score_threshold, sigma;
  rheos__candidate *heap;
  int64_t count;  // in the heap
  int32_t *chosen;
  float *scores;
  int64_t num_chosen;
} rheos__suppressor;

// A heap of candidates in storage of the caller's: the highest score first, of equal ones the first
// box.
void rheos__suppressor_push(rheos__suppressor *w, rheos__candidate c);
rheos__candidate rheos__suppressor_pop(rheos__suppressor *w);

// Takes candidates off the heap until `most` are chosen.
void rheos__suppressor_choose(rheos__suppressor *w);

#endif  // RHEOS_SRC_OPS_IMAGE_NON_MAX_SUPPRESSION_H
