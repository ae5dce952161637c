// What a member of a collective does, and what becomes of what all have brought (collective.h).
#ifndef RHEOS_SRC_RESOURCE_COLLECTIVE_MEMBER_H
#define RHEOS_SRC_RESOURCE_COLLECTIVE_MEMBER_H

#include "resource/waitable.h"

// TensorFlow's numbers, but for the first.
typedef enum rheos__collective_type {
  RHEOS__COLLECTIVE_MEETING = -1,  // each gets what it has brought, once all have come
  RHEOS__COLLECTIVE_REDUCE = 0,
  RHEOS__COLLECTIVE_BROADCAST = 1,
  RHEOS__COLLECTIVE_GATHER = 2,
  RHEOS__COLLECTIVE_PERMUTE = 3,
  RHEOS__COLLECTIVE_ALL_TO_ALL = 4,
  RHEOS__COLLECTIVE_REDUCE_SCATTER = 5,
} rheos__collective_type;

// What a member of a round has brought, in the order of ranks, and what it gets.
typedef struct rheos__contribution {
  rheos_tensor *input;   // counted; NULL: it only receives
  rheos_tensor *output;  // counted, by who combines
  bool is_source;        // of a broadcast
  int32_t by_name;       // its place in the order of devices' names, whatever the ranks are
} rheos__contribution;

typedef struct rheos__collective rheos__collective;
typedef rheos_status *(*rheos__combine_fn)(const rheos__collective *what, rheos__step *step,
                                           rheos__contribution *members);

// What a member does.
struct rheos__collective {
  rheos__collective_type type;
  int32_t group_key, group_size, instance_key;
  const char *device;    // the member's, in full
  uint64_t frame, trip;  // of a loop on tokens, where it is in one
  int32_t rank;          // -1: by the device's name
  rheos_dtype dtype;
  rheos_shape shape;  // that all members have to agree on
  bool is_source;
  // Of what is reduced: how two are merged, as the caller tells it; whether what comes out is
  // divided by the number of members.
  int32_t merge;
  bool divides;
  float timeout_s;           // how long it waits for the others; 0: for ever
  int32_t max_subdivisions;  // of a tensor on its way between processes; as the op has it
  rheos_tensor *input;       // may be kept; NULL: none
  // Sets the outputs of all, on the thread of the last member and for its step.
  rheos__combine_fn combine;
};

// ---- The order of ranks

// A member, by which the order is told: the rank that it asks for (-1: none), then its device's
// name.
typedef struct rheos__named_rank {
  char *device;
  int32_t rank;
} rheos__named_rank;

// The order of two of them: for qsort().
int rheos__compare_ranks(const void *a, const void *b);
// A number behind a colon counts as one, so task 10 comes after task 2.
int rheos__compare_devices(const char *a, const char *b);

// ---- What all members have to agree on

// Whether a member does what the first one does.
rheos_status *rheos__collective_check_fits(const rheos__collective *first,
                                           const rheos__collective *what);
// Errors: a broadcast has one source. These are two members' ranks.
rheos_status *rheos__collective_second_source(const rheos__collective *what, int32_t first,
                                              int32_t second);
rheos_status *rheos__collective_no_source(const rheos__collective *what);

#endif  // RHEOS_SRC_RESOURCE_COLLECTIVE_MEMBER_H
