// Queues of tuples of tensors: first in first out, padding, in random order, by priority. One kind
// of resource, so that their names are one name space, as TensorFlow's are.
#ifndef RHEOS_SRC_OPS_DATA_FLOW_QUEUE_H
#define RHEOS_SRC_OPS_DATA_FLOW_QUEUE_H

#include "graph/op_def.h"
#include "ops/kit/philox.h"
#include "resource/waitable.h"

typedef enum rheos__queue_order {
  RHEOS__QUEUE_FIFO,
  RHEOS__QUEUE_PADDING,
  RHEOS__QUEUE_SHUFFLE,
  RHEOS__QUEUE_PRIORITY,
} rheos__queue_order;

// What a queue is made for; the argument of a new one, which copies it.
typedef struct rheos__queue_spec {
  rheos__queue_order order;
  int64_t capacity;  // below 0: no limit
  int64_t min_after_dequeue, seed, seed2;
  int32_t num_components;
  int32_t num_shapes;  // 0: not told; else num_components
  const rheos_dtype *dtypes;
  const rheos_shape *shapes;  // of a padding queue they may be known in part
} rheos__queue_spec;

typedef rheos_tensor **rheos__tuple;  // num_components tensors; in one allocation

typedef struct rheos__queue {
  rheos__waitable waitable;
  rheos__queue_spec spec;
  rheos__philox_singles random;
  bool is_closed;
  // A ring: tuple i lies at (first + i) & (num_slots - 1). Of a queue by priority it is a heap, and
  // `first` is 0.
  rheos__tuple *slots;
  int64_t num_slots, first, size;
} rheos__queue;

extern const rheos__resource_kind rheos__queue_kind;

const char *rheos__queue_type(const rheos__queue_spec *spec);  // "FIFOQueue"
// Whether another op may share a queue; else a status that says what differs.
rheos_status *rheos__queue_check_same(const rheos__queue *queue, const rheos__queue_spec *wanted,
                                      const char *node_name, const char *op_name);

void rheos__tuple_free(const rheos__queue *queue, rheos__tuple tuple);
rheos__tuple rheos__tuple_new(const rheos__queue *queue);  // of NULLs; NULL when memory is short

// An attempt to put `count` tuples into the queue, which it takes with their array.
rheos_status *rheos__enqueue_new_take(rheos__queue *queue, rheos__tuple *tuples, int64_t count,
                                      rheos__attempt **out_attempt);

// An attempt to take tuples out of it: what finishes it finds them here, and they are freed with
// it.
typedef struct rheos__dequeue {
  rheos__attempt attempt;
  int64_t wanted;     // 1 at least
  bool is_batch;      // many at once: TensorFlow puts back what is too few
  bool allows_fewer;  // of a closed queue
  rheos__tuple *tuples;
  int64_t count;
  size_t capacity;
  void *state;  // for what finishes it
} rheos__dequeue;

typedef rheos_status *(*rheos__dequeue_finish)(rheos__dequeue *dequeue, rheos__step *step,
                                               rheos_tensor **outputs);
// `kind` is made by RHEOS__DEQUEUE_KIND().
rheos__dequeue *rheos__dequeue_new(rheos__queue *queue, const rheos__attempt_kind *kind);
rheos__tried rheos__dequeue_run(rheos__attempt *attempt);
void rheos__dequeue_give_back(rheos__attempt *attempt);
void rheos__dequeue_deinit(rheos__attempt *attempt);
#define RHEOS__DEQUEUE_KIND(FINISH)       \
  {.what = "an element",                  \
   .run = rheos__dequeue_run,             \
   .give_back = rheos__dequeue_give_back, \
   .finish = (FINISH),                    \
   .deinit = rheos__dequeue_deinit}

// With the mutex held: puts a tuple in, whatever the capacity; false when memory is short.
bool rheos__queue_put(rheos__queue *queue, rheos__tuple tuple);

// Closes the queue at once, and ends the attempts to put something in.
void rheos__queue_close_now(rheos__queue *queue);
// An attempt to close it when what stands in line to be put in is in. NULL when memory is short.
rheos__attempt *rheos__queue_close_new(rheos__queue *queue);

int64_t rheos__queue_size(rheos__queue *queue);
bool rheos__queue_is_closed(rheos__queue *queue);

#endif  // RHEOS_SRC_OPS_DATA_FLOW_QUEUE_H
