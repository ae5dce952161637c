// Variables of a graph out of a checkpoint.
#ifndef RHEOS_CLI_CHECKPOINT_H
#define RHEOS_CLI_CHECKPOINT_H

#include <rheos/session.h>
#include <rheos/train.h>

// Gives the graph's variables the values that the checkpoint has under their names.
// RHEOS_NOT_FOUND, naming them, for variables that it does not have. `path` names the checkpoint
// in any way.
rheos_status *checkpoint_restore(rheos_scope *scope, rheos_session *session, const char *path);
// By the saver's nodes, if it has any.
rheos_status *checkpoint_restore_with(rheos_scope *scope, rheos_session *session,
                                      const rheos_saver *saver, const char *path);

#endif  // RHEOS_CLI_CHECKPOINT_H
