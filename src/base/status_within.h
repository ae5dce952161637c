// The place of an error that lies in another place.
#ifndef RHEOS_SRC_BASE_STATUS_WITHIN_H
#define RHEOS_SRC_BASE_STATUS_WITHIN_H

#include <rheos/base.h>

// Of a status that names a node: adds " in the body of" (the role) and the node of the loop or
// conditional that it lies in, with its line (`file` NULL: not known). Takes `status` and returns
// the error to go on with.
RHEOS_MUST_USE rheos_status *rheos__status_within_take(rheos_status *status, const char *role,
                                                       const char *node, const char *file,
                                                       int line);

#endif  // RHEOS_SRC_BASE_STATUS_WITHIN_H
