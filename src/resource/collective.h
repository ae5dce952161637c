// Collectives: what several devices do together with a tensor of each, such as its sum.
//
// Devices that do so are the *members* of a *group*, which a number names, its key. A group is
// whole once as many devices have joined it as it is to have, and then stays as it is. Members have
// ranks, by the names of their devices. What a group does together is an *instance*, which has a
// key too; a member that comes again under the same key takes part in the next *round* of the
// instance, so loops and functions may use a key again and again. A round is over for all when its
// last member has come, whose thread combines what all have brought: in the order of ranks, so the
// bits do not depend on who comes when.
//
// Whoever waits does so by an attempt on the instance (waitable.h). A member that leaves before the
// round is over, since its step is to stop, ends it for the others, and so does one that brings
// what does not go with theirs. A round that has failed stays until each of its members has come
// and was told. What is wrong about a group, such as its size, ends all that it waits for, now and
// later. So nobody waits for a member that has failed.
#ifndef RHEOS_SRC_RESOURCE_COLLECTIVE_H
#define RHEOS_SRC_RESOURCE_COLLECTIVE_H

#include "resource/waitable.h"

// Groups, which last: of a session, an eager context, or a server.
typedef struct rheos__collectives rheos__collectives;
// Instances: of a step, or of all steps of an eager context, whose operations are steps each.
typedef struct rheos__instances rheos__instances;

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
  int32_t max_subdivisions;  // of a tensor on its way between processes; as the op has it
  rheos_tensor *input;       // may be kept; NULL: none
  // Sets the outputs of all, on the thread of the last member and for its step.
  rheos__combine_fn combine;
};

// Counted; of so many devices, which all groups are of. NULL when memory is short.
rheos__collectives *rheos__collectives_new(int32_t num_devices);
rheos__collectives *rheos__collectives_ref(rheos__collectives *collectives);
void rheos__collectives_unref(rheos__collectives *collectives);

// Counted, of the step of that number, which only groups beyond the process know. NULL when memory
// is short.
rheos__instances *rheos__instances_new(rheos__collectives *collectives, int64_t step_id);
rheos__instances *rheos__instances_ref(rheos__instances *instances);
void rheos__instances_unref(rheos__instances *instances);

// Brings the member's tensor to the round that it is to take part in, which combines all if it is
// the last, and makes an attempt to take its answer: one output, or none where the member gets
// none.
rheos_status *rheos__collective_join(rheos__instances *instances, const rheos__collective *what,
                                     rheos__step *step, rheos__attempt **out_attempt);

// ---- Groups beyond the process

// A member's part in a collective, of which other members may be anywhere. Counted.
typedef struct rheos__membership {
  _Atomic int32_t references;
  rheos__collective what;  // whose device is its own, and whose input is counted
  int64_t step_id;
  // Guarded by the attempt's resource:
  bool is_over;
  rheos_status *failed;
  rheos_tensor *output;
  rheos__waitable *on;  // counted
} rheos__membership;

void rheos__membership_unref(rheos__membership *membership);
// Ends the part, with a failure or an output (or neither), which it takes; once. No lock is held.
void rheos__membership_end_take(rheos__membership *membership, rheos_status *failed,
                                rheos_tensor *output);

// What takes part in them.
typedef struct rheos__collective_door {
  // Begins a part, with a reference of the callee's; it ends at any time, by any thread.
  void (*begin)(void *argument, rheos__membership *membership);
  // The member's step is to stop before the part has ended: what the others of the collective wait
  // for of it will not come.
  void (*leave)(void *argument, rheos__membership *membership);
  void *argument;
} rheos__collective_door;
// From now on all go through the door, which has to last as long; before anybody takes part.
void rheos__collectives_open(rheos__collectives *collectives, const rheos__collective_door *door);
// Nobody is let through any more: they fail.
void rheos__collectives_close(rheos__collectives *collectives);

// ---- Of who knows other members

// A member, by which the order of ranks is told: the rank that it asks for (-1: none), then its
// device's name.
typedef struct rheos__named_rank {
  char *device;
  int32_t rank;
} rheos__named_rank;

// The order of two of them: for qsort().
int rheos__compare_ranks(const void *a, const void *b);

#endif  // RHEOS_SRC_RESOURCE_COLLECTIVE_H
