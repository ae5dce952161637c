// Runs by the names that the graph has.
#include <rheos/session.h>

#include "base/alloc.h"
#include "base/status.h"

static rheos_status *run(rheos_session *session, const rheos_named_tensor *feeds,
                         rheos_feed *found_feeds, size_t num_feeds, rheos_named_tensor *fetches,
                         rheos_fetch *found_fetches, size_t num_fetches,
                         const rheos_run_options *options, size_t options_bytes) {
  rheos_graph *graph = rheos_session_graph(session);
  for (size_t i = 0; i < num_feeds; i++) {
    RHEOS_TRY(rheos_graph_output(graph, feeds[i].name, &found_feeds[i].output));
    found_feeds[i].value = feeds[i].value;
  }
  for (size_t i = 0; i < num_fetches; i++) {
    RHEOS_TRY(rheos_graph_output(graph, fetches[i].name, &found_fetches[i].output));
  }
  RHEOS_TRY(rheos_session_run_sized(session, found_feeds, num_feeds, found_fetches, num_fetches,
                                    NULL, 0, options, options_bytes));
  for (size_t i = 0; i < num_fetches; i++) fetches[i].value = found_fetches[i].value;
  return NULL;
}

rheos_status *rheos_session_run_named_sized(rheos_session *session, const rheos_named_tensor *feeds,
                                            size_t num_feeds, rheos_named_tensor *fetches,
                                            size_t num_fetches, const rheos_run_options *options,
                                            size_t options_bytes) {
  RHEOS_NEED(session);
  RHEOS_NEED_LIST(feeds, num_feeds);
  RHEOS_NEED_LIST(fetches, num_fetches);
  for (size_t i = 0; i < num_fetches; i++) fetches[i].value = NULL;
  rheos_feed *found_feeds = rheos__alloc_array(num_feeds, sizeof *found_feeds);
  rheos_fetch *found_fetches = rheos__alloc_array(num_fetches, sizeof *found_fetches);
  rheos_status *status = found_feeds != NULL && found_fetches != NULL
                             ? run(session, feeds, found_feeds, num_feeds, fetches, found_fetches,
                                   num_fetches, options, options_bytes)
                             : rheos__out_of_memory();
  rheos__free(found_feeds);
  rheos__free(found_fetches);
  return status;
}
