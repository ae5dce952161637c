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

#include "resource/membership.h"

// Groups, which last: of a session, an eager context, or a server.
typedef struct rheos__collectives rheos__collectives;
// Instances: of a step, or of all steps of an eager context, whose operations are steps each.
typedef struct rheos__instances rheos__instances;

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

// From now on all go through the door (membership.h), which has to last until it is closed; before
// anybody takes part.
rheos_status *rheos__collectives_open(rheos__collectives *collectives,
                                      const rheos__collective_door *door);
// Nobody is let through any more: they fail. Waits for those who are in its functions.
void rheos__collectives_close(rheos__collectives *collectives);

#endif  // RHEOS_SRC_RESOURCE_COLLECTIVE_H
