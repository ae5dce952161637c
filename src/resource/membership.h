// Parts in collectives whose other members may be anywhere. What takes part in them knows tasks;
// here is the door to that, and how a step waits for what comes out.
#ifndef RHEOS_SRC_RESOURCE_MEMBERSHIP_H
#define RHEOS_SRC_RESOURCE_MEMBERSHIP_H

#include "base/alarm.h"
#include "resource/collective_member.h"

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

// A door that can be closed. Counted.
typedef struct rheos__doorway rheos__doorway;
rheos__doorway *rheos__doorway_new(const rheos__collective_door *door);  // NULL: memory is short
void rheos__doorway_unref(rheos__doorway *doorway);                      // NULL: nothing
void rheos__doorway_close(rheos__doorway *doorway);

// Begins the member's part in a collective of the step of that number, and makes an attempt to take
// its answer.
rheos_status *rheos__doorway_join(rheos__doorway *doorway, const rheos__collective *what,
                                  int64_t step_id, rheos__attempt **out_attempt);

#endif  // RHEOS_SRC_RESOURCE_MEMBERSHIP_H
