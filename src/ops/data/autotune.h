// What a stage chooses by itself where the program left its buffer or its parallelism open
// (AUTOTUNE). Two rules, each on what was measured since it last decided:
//
// The buffer is doubled when the consumer found it empty although it had been full meanwhile, which
// is what bursts do, and halved when over 16 times its size it was never less than half full. It
// stays between 2 and 1,024 elements, and at 2 while the stages of the session hold more than their
// budget.
//
// Of the threads as many work as the consumer needs: an element's time over the time in which the
// consumer uses one up, and a quarter more. All do while nothing is known, or when the consumer
// found nothing.
//
// Neither changes elements or their order, so results never depend on it.
#ifndef RHEOS_SRC_OPS_DATA_AUTOTUNE_H
#define RHEOS_SRC_OPS_DATA_AUTOTUNE_H

#include <stdbool.h>
#include <stdint.h>

enum { RHEOS__TUNER_FIRST = 2, RHEOS__TUNER_MOST = 1024 };

typedef struct rheos__tuner {
  bool is_open;    // the buffer's size is chosen here
  bool was_full;   // since the size was chosen
  int64_t limit;   // the size, in elements
  int64_t lowest;  // fill that the consumer met since then
  int64_t taken;   // elements since then
  int64_t hungry;  // elements to come before the consumer counts as fed again
  double each_ns;  // that the consumer takes for an element, smoothed; 0: not known
} rheos__tuner;

// `buffer` elements; -1: open.
void rheos__tuner_init(rheos__tuner *tuner, int64_t buffer);
// The consumer was away for `ns` with `count` elements, which it used up.
void rheos__tuner_used(rheos__tuner *tuner, double ns, int64_t count);
// The consumer came, found `fill` elements, and takes `taken`.
void rheos__tuner_fed(rheos__tuner *tuner, int64_t fill, int64_t taken);
// The consumer found nothing. `each_bytes`: of an element; `left_bytes`: of the budget.
void rheos__tuner_starved(rheos__tuner *tuner, int64_t each_bytes, int64_t left_bytes);
// The buffer is full.
void rheos__tuner_full(rheos__tuner *tuner);
// The budget is used up.
void rheos__tuner_spent(rheos__tuner *tuner);
// How many of `most` threads are to work, where an element takes `work_ns`.
int32_t rheos__tuner_threads(const rheos__tuner *tuner, double work_ns, int32_t most);

#endif  // RHEOS_SRC_OPS_DATA_AUTOTUNE_H
