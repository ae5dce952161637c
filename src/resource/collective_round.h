// A round of a collective: what its members have brought, from the first one's coming on. Who has a
// round guards it.
#ifndef RHEOS_SRC_RESOURCE_COLLECTIVE_ROUND_H
#define RHEOS_SRC_RESOURCE_COLLECTIVE_ROUND_H

#include "resource/collective_member.h"

typedef enum rheos__round_state {
  RHEOS__GATHERING,  // members are to come
  RHEOS__COMBINING,  // all have
  RHEOS__OVER,
} rheos__round_state;

typedef struct rheos__round {
  struct rheos__round *next;
  rheos__round_state state;
  rheos__collective what;       // of the first member: what all have to agree on
  int32_t num_come, num_users;  // members that have come; who may look at it
  rheos_code failed;            // RHEOS_OK: it has not
  char *why;
  rheos__named_rank *members;           // that have come; by rank once they are combined
  rheos__contribution contributions[];  // theirs
} rheos__round;

// Of as many members as the first one says; NULL when memory is short.
rheos__round *rheos__round_new(const rheos__collective *what);
void rheos__round_free(rheos__round *r);

// Where a device's contribution is; -1: it has not come.
int32_t rheos__round_place_of(const rheos__round *r, const char *device);
// Takes what a member brings, which uses the round then. The round has failed where that does not
// go with what others brought. An error: the member has not come. A round's size is the one of its
// first member, whose group may have another one.
rheos_status *rheos__round_come_to(rheos__round *r, const rheos__collective *what);
// All members have come: puts them into the order of their ranks. False: the round has failed.
bool rheos__round_begin_combining(rheos__round *r);

// Unless it has.
void rheos__round_fail(rheos__round *r, rheos_code code, const char *why);
void rheos__round_fail_take(rheos__round *r, rheos_status *status);
// NULL: it has not.
rheos_status *rheos__round_failure(const rheos__round *r);
// Whether all members have come, or one has failed, so that nobody waits for others any more.
bool rheos__round_is_decided(const rheos__round *r);

#endif  // RHEOS_SRC_RESOURCE_COLLECTIVE_ROUND_H
