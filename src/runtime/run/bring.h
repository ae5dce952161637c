// Arguments and results of bodies where values may lie in different memories.
#ifndef RHEOS_SRC_RUNTIME_RUN_BRING_H
#define RHEOS_SRC_RUNTIME_RUN_BRING_H

#include "runtime/run/executor.h"

// The argument where the body takes it; NULL where it is there already, or the body takes it
// anywhere.
rheos_status *rheos__bring_argument(const rheos__plan *plan, int32_t feed, rheos_tensor *tensor,
                                    rheos_tensor **out_brought);
// As rheos__bring_argument(), for many calls: where the body only hands the argument on, a tensor
// of the host's that may be kept, so that its copy elsewhere is kept with it.
rheos_status *rheos__bring_to_stay(const rheos__plan *plan, int32_t feed, rheos_tensor *tensor,
                                   rheos_tensor **out_brought);

// All arguments of a call, good until rheos__drop_arguments(), which follows the run. After a
// failure there are none, and what was given away is gone.
rheos_status *rheos__bring_arguments(rheos__call *call, const rheos__parameters *parameters,
                                     rheos__parameters *out_brought);
void rheos__drop_arguments(const rheos__call *call);

// Lets go of what is given to a run that does not begin.
void rheos__drop_given(const rheos__plan *plan, const rheos__parameters *parameters);

#endif  // RHEOS_SRC_RUNTIME_RUN_BRING_H
