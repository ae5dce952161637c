// A stage of a pipeline that runs ahead of its consumer: elements are pulled one after the other
// and worked on by any number of threads, and come out in their order. Whoever asks for an element
// that nobody has begun makes it himself, so a stage needs no thread to go on, and a fast one hands
// nothing over. Tasks on the session's threads fill the buffer while the consumer is away.
#ifndef RHEOS_SRC_OPS_DATA_STAGE_H
#define RHEOS_SRC_OPS_DATA_STAGE_H

#include "ops/data/dataset.h"

typedef struct rheos__stage rheos__stage;

typedef struct rheos__stage_options {
  int64_t buffer;       // elements at most; -1: as measured times and memory tell
  int64_t parallelism;  // calls of `work` at a time; -1: as many as there are threads
  bool any_order;       // elements come out as they are done
  bool one_by_one;      // no two calls of `work` at a time: it has effects, whose order is to stay
  // What is pulled becomes an element; it takes the tensors, also on failure. NULL: it is one.
  rheos_status *(*work)(const rheos__dataset *dataset, rheos_tensor **raw, rheos_tensor **element,
                        rheos__step *step);
} rheos__stage_options;

// Over the iterator's input, which stays the iterator's until the stage is left.
rheos_status *rheos__stage_new(rheos__iterator *iterator, const rheos__stage_options *options,
                               rheos__step *step, rheos__stage **out_stage);
// Ends what runs; where that takes longer, the input goes with the stage, and `iterator->input` is
// NULL.
void rheos__stage_leave(rheos__stage *stage, rheos__iterator *iterator);  // NULL: nothing
// Before the first element: every `size` of them will be put together, so they are made in blocks
// of so many.
void rheos__stage_will_batch(rheos__stage *stage, int64_t size);
rheos_status *rheos__stage_next(rheos__stage *stage, rheos__step *step, rheos_tensor **element,
                                bool *out_end);
// Waits until nothing runs, and nothing will before the next element is asked for.
rheos_status *rheos__stage_pause(rheos__stage *stage, rheos__step *step);
// What is in the buffer of a paused stage.
rheos_status *rheos__stage_transfer(rheos__stage *stage, rheos__saved_state *state);

struct rheos__stage_counts {
  int64_t buffered, capacity;  // elements
  int64_t bytes;               // of those that are done
  int64_t num_threads;         // that are at work on it
};
void rheos__stage_count(rheos__stage *stage, rheos__stage_counts *out_counts);

#endif  // RHEOS_SRC_OPS_DATA_STAGE_H
