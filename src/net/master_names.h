// What a client asks for by names, kept for later runs.
#ifndef RHEOS_SRC_NET_MASTER_NAMES_H
#define RHEOS_SRC_NET_MASTER_NAMES_H

#include "net/master_session.h"

// Copies the names and the deadline of a run, into the arena; the rest is as it was.
rheos_status *rheos__master_copy_names(const rheos__master_run *from, rheos__arena *arena,
                                       rheos__master_run *run);

#endif  // RHEOS_SRC_NET_MASTER_NAMES_H
