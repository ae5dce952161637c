// Groups of devices of several tasks. One task, the leader, is asked by all which devices a group
// is of, and which of them is the source of a broadcast; it answers once they have all asked. Each
// task remembers what it was told. How the leader is asked: collective_leader.h.
#ifndef RHEOS_SRC_NET_COLLECTIVE_GROUPS_H
#define RHEOS_SRC_NET_COLLECTIVE_GROUPS_H

#include <stdatomic.h>

#include "net/peers.h"
#include "resource/collective.h"
#include "worker.pb-c.h"

typedef struct rheos__group_member {
  rheos__named_rank named;
  uint64_t incarnation;
  int32_t task;
} rheos__group_member;

// Stays as it is once it is whole, until the groups go.
typedef struct rheos__task_group rheos__task_group;
struct rheos__task_group {
  int32_t key, size, count, num_tasks;
  rheos__group_member *members;  // by rank once it is whole
  rheos_code failed;             // RHEOS_OK: it has not
  char *why;
  struct group_waiter *waiters;
  rheos__task_group *next;
};

// A question to another task, whose answer is to come. Guarded by the groups' mutex.
typedef struct rheos__group_call {
  rheos__peer_call *call;  // NULL: it is being made
  struct rheos__group_call *before, *next;
} rheos__group_call;

typedef struct rheos__groups {
  rheos__peers *peers;
  int32_t own_task, leader;
  uint64_t incarnation;         // of this task's devices
  atomic_bool leader_is_there;  // it has answered
  pthread_mutex_t mutex;        // guards what follows
  rheos__task_group *groups;
  struct task_instance *instances;
  rheos__group_call *calls;
  bool has_ended;
} rheos__groups;

void rheos__groups_init(rheos__groups *groups, rheos__peers *peers, int32_t own_task,
                        int32_t leader, uint64_t incarnation);
// Ends what waits, now and later.
void rheos__groups_end(rheos__groups *groups);
void rheos__groups_deinit(rheos__groups *groups);

// What is found out is told once, by some thread, maybe before these return: a failure, which is
// the callee's, or what was asked for.
typedef void (*rheos__group_fn)(void *argument, rheos_status *failed,
                                const rheos__task_group *group);
typedef void (*rheos__source_fn)(void *argument, rheos_status *failed, int32_t source_rank);

// Who asks: a device, for a collective.
typedef struct rheos__group_asker {
  const rheos__collective *what;  // with its device
  uint64_t incarnation;
} rheos__group_asker;

// At the leader: adds the device to its group, and tells when that is whole.
void rheos__groups_add(rheos__groups *groups, const rheos__group_asker *asker, rheos__group_fn told,
                       void *argument);
// At the leader: the rank of the source of an instance, -1 where it has none.
void rheos__groups_add_to_instance(rheos__groups *groups, const rheos__collective *what,
                                   rheos__source_fn told, void *argument);

// The rank of a device; -1: it is no member.
int32_t rheos__group_rank(const rheos__task_group *group, const char *device);

// ---- What another task that is the leader told

// Keeps a group, unless it is known, and gives the one that is.
rheos_status *rheos__groups_keep(rheos__groups *groups,
                                 const Tensorflow__CompleteGroupResponse *reply,
                                 const rheos__task_group **out_group);
// NULL: it is not.
const rheos__task_group *rheos__groups_known(rheos__groups *groups, int32_t key);
rheos_status *rheos__groups_keep_source(rheos__groups *groups, const rheos__collective *what,
                                        int32_t source_rank);
bool rheos__groups_knows_source(rheos__groups *groups, const rheos__collective *what,
                                int32_t *out_source_rank);

// A call to the leader is listed before it is made, so that rheos__groups_end() can cancel it, and
// taken off when it has ended, which may be before it is kept.
void rheos__groups_begin_call(rheos__groups *groups, rheos__group_call *call);
void rheos__groups_keep_call(rheos__groups *groups, rheos__group_call *call,
                             rheos__peer_call *peer_call);
void rheos__groups_end_call(rheos__groups *groups, rheos__group_call *call);

#endif  // RHEOS_SRC_NET_COLLECTIVE_GROUPS_H
