// Asking the leader of collectives, which may be this task itself, which devices a group is of and
// which of them is a source.
#ifndef RHEOS_SRC_NET_COLLECTIVE_LEADER_H
#define RHEOS_SRC_NET_COLLECTIVE_LEADER_H

#include "net/collective_groups.h"

// The group of a device of this task.
void rheos__leader_find_group(rheos__groups *groups, const rheos__collective *what,
                              rheos__group_fn told, void *argument);
// The rank of the source of an instance, -1 where it has none.
void rheos__leader_find_source(rheos__groups *groups, const rheos__collective *what,
                               rheos__source_fn told, void *argument);

#endif  // RHEOS_SRC_NET_COLLECTIVE_LEADER_H
