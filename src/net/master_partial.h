// Steps of a master that are fed and fetched in several calls. The graph is cut for the whole
// signature; each call runs all parts with what it feeds and fetches of theirs, and the parts go on
// between the calls.
#ifndef RHEOS_SRC_NET_MASTER_PARTIAL_H
#define RHEOS_SRC_NET_MASTER_PARTIAL_H

#include "net/master_session.h"

enum { RHEOS__PARTIAL_HANDLE_BYTES = 24 };

// For the names of `run`. Fails for what cannot be planned, and for what is both fed and fetched.
rheos_status *rheos__master_partial_setup(rheos__master_session *session,
                                          const rheos__master_run *run,
                                          char out_handle[RHEOS__PARTIAL_HANDLE_BYTES]);

// One call, which has no targets. RHEOS_INVALID_ARGUMENT for another handle, what was not named or
// was there before, and a fetch that needs what is not fed yet: then the step is as before. An
// error while it runs ends the step, and so does the last feed and fetch.
rheos_status *rheos__master_partial_run(rheos__master_session *session, const char *handle,
                                        const rheos__master_run *run);
void rheos__master_partials_end_all(rheos__master_session *session);

#endif  // RHEOS_SRC_NET_MASTER_PARTIAL_H
