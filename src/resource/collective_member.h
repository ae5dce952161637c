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

#endif  // RHEOS_SRC_RESOURCE_COLLECTIVE_MEMBER_H
