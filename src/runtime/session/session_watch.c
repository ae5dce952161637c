#include <rheos/watch.h>

#include "base/options.h"
#include "runtime/session/session_kind.h"
#include "runtime/step/watch_list.h"

rheos_status *rheos_session_watch_sized(rheos_session *session, const rheos_watch_options *options,
                                        size_t options_bytes, rheos_watch **out_watch) {
  rheos_watch_options known;
  RHEOS_OUT(out_watch);
  RHEOS_NEED(session, options);
  RHEOS_TRY(RHEOS_READ_OPTIONS(rheos_watch_options, options, options_bytes, &known));
  RHEOS_TRY(rheos__check_watch_options(&known));
  if (session->kind->watches == NULL) {
    return rheos_status_new(RHEOS_UNIMPLEMENTED,
                            "a %s session cannot be watched: its steps run in other processes, and "
                            "only what is fetched comes from there",
                            session->kind->name);
  }
  RHEOS_TRY(rheos__check_watched_names(session->graph, known.names));
  return rheos__watch_list_add(session->kind->watches(session), &known, out_watch);
}
