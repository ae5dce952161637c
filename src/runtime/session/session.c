// What every kind of session has in common: what it is given is looked at here, and the rest is the
// kind's.
#include <rheos/session.h>

#include <string.h>

#include "base/options.h"
#include "graph/node_mentions.h"
#include "runtime/session/direct_session.h"
#include "runtime/session/session_kind.h"
#include "runtime/session/session_plan.h"

// Kinds of higher layers stand before the direct one, by constants that they define and
// tools/check-layers lists, as the table of all ops has it: nothing is registered while a program
// runs.
static const rheos__session_kind *const kinds[] = {&rheos__remote_session_kind,
                                                   &rheos__direct_session_kind};

// ---- Making and ending

// A newer program may set toggles that are not known here.
static rheos_status *check_toggles(const rheos_rewrite_options *rewrites) {
  for (size_t i = 0; i < sizeof rewrites->reserved_ / sizeof rewrites->reserved_[0]; ++i) {
    if (rewrites->reserved_[i] == RHEOS_TOGGLE_DEFAULT) continue;
    return rheos_status_new(RHEOS_FAILED_PRECONDITION,
                            "rheos_rewrite_options sets a toggle that Rheos " RHEOS_VERSION_STRING
                            " does not know: the program was built for a newer one");
  }
  return NULL;
}

const rheos__session_kind *rheos__find_session_kind(const rheos__session_kind *const *from,
                                                    size_t num_kinds, const char *target) {
  for (size_t i = 0; i < num_kinds; ++i) {
    if (from[i]->is_for(target != NULL ? target : "")) return from[i];
  }
  return NULL;
}

rheos_status *rheos__session_new_of_kind(const rheos__session_kind *kind, rheos_graph *graph,
                                         const rheos_session_options *options,
                                         rheos_session **out_session) {
  *out_session = NULL;
  rheos_session *session = rheos__alloc_zeroed(kind->session_bytes);
  if (session == NULL) return rheos__out_of_memory();
  session->kind = kind;
  session->graph = rheos_graph_ref(graph);
  rheos_status *status = kind->init(session, options);
  if (status != NULL) {
    rheos_session_free(session);
    return status;
  }
  *out_session = session;
  return NULL;
}

rheos_status *rheos_session_new_sized(rheos_graph *graph, const rheos_session_options *options,
                                      size_t options_bytes, rheos_session **out_session) {
  RHEOS_OUT(out_session);
  RHEOS_NEED(graph);
  rheos_session_options known;
  RHEOS_TRY(RHEOS_READ_OPTIONS(rheos_session_options, options, options_bytes, &known));
  RHEOS_TRY(check_toggles(&known.rewrites));
  const rheos__session_kind *kind =
      rheos__find_session_kind(kinds, sizeof kinds / sizeof kinds[0], known.target);
  if (kind == NULL) {
    return RHEOS_INVALID(
        "no kind of session is for the target '%s': it is to be \"\" or grpc://host:port",
        known.target);
  }
  return rheos__session_new_of_kind(kind, graph, &known, out_session);
}

void rheos_session_close(rheos_session *session) {
  if (session != NULL) session->kind->close(session);
}

void rheos_session_free(rheos_session *session) {
  if (session == NULL) return;
  session->kind->close(session);
  session->kind->deinit(session);
  rheos_graph_unref(session->graph);
  rheos__free(session);
}

// ---- What it is asked

rheos_graph *rheos_session_graph(const rheos_session *session) {
  return session != NULL ? session->graph : NULL;
}

rheos_status *rheos_session_list_devices(rheos_session *session,
                                         const rheos_device_attributes **out_devices,
                                         size_t *out_count) {
  RHEOS_OUT(out_devices);
  RHEOS_OUT(out_count);
  RHEOS_NEED(session);
  return session->kind->list_devices(session, out_devices, out_count);
}

// The list is kept in the session, which is otherwise as it was.
static size_t known_devices(const rheos_session *session, const rheos_device_attributes **out) {
  size_t count = 0;
  rheos_status *status =
      rheos_session_list_devices((rheos_session *)(uintptr_t)session, out, &count);
  rheos_status_free(status);
  return status == NULL ? count : 0;
}

int32_t rheos_session_num_devices(const rheos_session *session) {
  const rheos_device_attributes *devices;
  return session != NULL ? (int32_t)known_devices(session, &devices) : 0;
}

const char *rheos_session_device(const rheos_session *session, int32_t index) {
  const rheos_device_attributes *devices;
  if (session == NULL || index < 0) return NULL;
  return (size_t)index < known_devices(session, &devices) ? devices[index].name : NULL;
}

rheos_status *rheos_session_waiting(rheos_session *session, char **out_text) {
  RHEOS_OUT(out_text);
  RHEOS_NEED(session);
  return session->kind->waiting(session, out_text);
}

void rheos_session_get_stats_sized(const rheos_session *session, rheos_session_stats *out_stats,
                                   size_t stats_bytes) {
  if (session == NULL || out_stats == NULL) return;
  rheos_session_stats stats = {0};
  session->kind->get_stats((rheos_session *)(uintptr_t)session, &stats);
  memset(out_stats, 0, stats_bytes);
  memcpy(out_stats, &stats, stats_bytes < sizeof stats ? stats_bytes : sizeof stats);
}

static rheos_status *not_here(const rheos_session *session, const char *what) {
  return rheos_status_new(RHEOS_UNIMPLEMENTED, "a %s session has no %s in this process",
                          session->kind->name, what);
}

rheos_status *rheos__session_home(rheos_session *session, rheos__home **out_home) {
  *out_home = NULL;
  if (session->kind->home == NULL) return not_here(session, "steps");
  *out_home = session->kind->home(session);
  return NULL;
}

rheos_status *rheos__session_plan(rheos_session *session, const rheos__step_ends *ends,
                                  const rheos_shape *shapes, rheos__plan **out_plan,
                                  const rheos__segment **out_segment) {
  *out_plan = NULL;
  *out_segment = NULL;
  if (session->kind->make_plan == NULL) return not_here(session, "plans");
  return session->kind->make_plan(session, ends, shapes, out_plan, out_segment);
}

// ---- Running

rheos_status *rheos_session_run_sized(rheos_session *session, const rheos_feed *feeds,
                                      size_t num_feeds, rheos_fetch *fetches, size_t num_fetches,
                                      const rheos_operation *targets, size_t num_targets,
                                      const rheos_run_options *options, size_t options_bytes) {
  RHEOS_NEED(session);
  RHEOS_NEED_LIST(feeds, num_feeds);
  RHEOS_NEED_LIST(targets, num_targets);
  RHEOS_NEED_LIST(fetches, num_fetches);
  for (size_t i = 0; i < num_fetches; ++i) fetches[i].value = NULL;
  rheos_run_options known;
  if (options != NULL) {
    RHEOS_TRY(RHEOS_READ_OPTIONS(rheos_run_options, options, options_bytes, &known));
    options = &known;
  }
  rheos__run_signature s;
  RHEOS_TRY(rheos__run_signature_init(&s, session->graph, feeds, num_feeds, fetches, num_fetches,
                                      targets, num_targets));
  rheos_status *status = session->kind->run(session, &s.ids, s.values, s.results, options);
  if (status != NULL) status = rheos__status_with_lines_take(status, session->graph);
  for (size_t i = 0; status == NULL && i < num_fetches; ++i) fetches[i].value = s.results[i];
  rheos__run_signature_deinit(&s);
  return status;
}

// ---- Steps in parts

rheos_status *rheos_session_partial_setup(rheos_session *session, const rheos_output *feeds,
                                          size_t num_feeds, const rheos_output *fetches,
                                          size_t num_fetches, const rheos_operation *targets,
                                          size_t num_targets, int64_t *out_handle) {
  RHEOS_OUT(out_handle);
  if (num_fetches == 0 && num_targets == 0) {
    return RHEOS_INVALID("Must specify at least one target to fetch or execute.");
  }
  RHEOS_NEED(session);
  RHEOS_NEED_LIST(feeds, num_feeds);
  RHEOS_NEED_LIST(fetches, num_fetches);
  RHEOS_NEED_LIST(targets, num_targets);
  const rheos__step_ends ends = {feeds, num_feeds, fetches, num_fetches, targets, num_targets};
  rheos__signature_ids ids;
  void *memory;
  RHEOS_TRY(rheos__signature_ids_of(session->graph, &ends, &ids, &memory));
  rheos_status *status = session->kind->partial_setup(session, &ids, out_handle);
  if (status != NULL) status = rheos__status_with_lines_take(status, session->graph);
  rheos__free(memory);
  return status;
}

rheos_status *rheos_session_partial_run_sized(rheos_session *session, int64_t handle,
                                              const rheos_feed *feeds, size_t num_feeds,
                                              rheos_fetch *fetches, size_t num_fetches,
                                              const rheos_run_options *options,
                                              size_t options_bytes) {
  RHEOS_NEED(session);
  RHEOS_NEED_LIST(feeds, num_feeds);
  RHEOS_NEED_LIST(fetches, num_fetches);
  for (size_t i = 0; i < num_fetches; ++i) fetches[i].value = NULL;
  rheos_run_options known;
  if (options != NULL) {
    RHEOS_TRY(RHEOS_READ_OPTIONS(rheos_run_options, options, options_bytes, &known));
    options = &known;
  }
  rheos__run_signature s;
  RHEOS_TRY(rheos__run_signature_init(&s, session->graph, feeds, num_feeds, fetches, num_fetches,
                                      NULL, 0));
  rheos_status *status =
      session->kind->partial_run(session, handle, &s.ids, s.values, s.results, options);
  if (status != NULL) status = rheos__status_with_lines_take(status, session->graph);
  for (size_t i = 0; status == NULL && i < num_fetches; ++i) fetches[i].value = s.results[i];
  rheos__run_signature_deinit(&s);
  return status;
}

void rheos_session_partial_end(rheos_session *session, int64_t handle) {
  if (session != NULL) session->kind->partial_end(session, handle);
}
