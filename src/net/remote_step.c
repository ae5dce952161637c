#include "net/remote_step.h"

#include <stdio.h>

#include "graph/graph.h"
#include "master.pb-c.h"
#include "net/ids.h"
#include "runtime/step/trace.h"

static char *name_of(const rheos_graph *graph, rheos__edge edge, rheos__arena *arena) {
  char *name = rheos__node_name(graph, rheos__graph_node(graph, edge.id));
  if (name == NULL) return NULL;
  const size_t room = strlen(name) + 16;
  char *full = rheos__arena_alloc(arena, room);
  if (full != NULL && edge.index >= 0) snprintf(full, room, "%s:%d", name, (int)edge.index);
  if (full != NULL && edge.index < 0) snprintf(full, room, "%s", name);
  rheos__free(name);
  return full;
}

static bool name_all(const rheos_graph *graph, const rheos__edge *edges, int32_t count,
                     rheos__arena *arena, char ***out_names) {
  char **names = *out_names = rheos__arena_alloc(arena, ((size_t)count + 1) * sizeof *names);
  for (int32_t i = 0; names != NULL && i < count; i++) {
    names[i] = name_of(graph, edges[i], arena);
    if (names[i] == NULL) return false;
  }
  return names != NULL;
}

static bool name_targets(const rheos_graph *graph, const int32_t *targets, int32_t count,
                         rheos__arena *arena, char ***out_names) {
  char **names = *out_names = rheos__arena_alloc(arena, ((size_t)count + 1) * sizeof *names);
  for (int32_t i = 0; names != NULL && i < count; i++) {
    names[i] = name_of(graph, (rheos__edge){targets[i], -1}, arena);
    if (names[i] == NULL) return false;
  }
  return names != NULL;
}

static rheos_tensor *find_named(const rheos__received *reply, const char *name) {
  for (size_t i = 0; i < reply->num_tensors; i++) {
    if (strcmp(reply->names[i], name) == 0) return reply->tensors[i];
  }
  return NULL;
}

static rheos_status *take_results(const rheos__remote_server *server, const rheos__received *reply,
                                  char *const *fetches, int32_t count, rheos_tensor **out_values) {
  const Tensorflow__RunStepResponse *r = (const void *)reply->message;
  if (r->status_code != 0) {
    return rheos__remote_error(server, (rheos_code)r->status_code, r->status_error_message);
  }
  for (int32_t i = 0; i < count; i++) {
    rheos_tensor *value = find_named(reply, fetches[i]);
    if (value == NULL) {
      return rheos_status_new(RHEOS_INTERNAL, "the server gave no value for %s", fetches[i]);
    }
    out_values[i] = rheos_tensor_ref(value);
  }
  return NULL;
}

rheos_status *rheos__remote_names(const rheos_session *session, const rheos__signature_ids *ids,
                                  rheos__arena *arena, rheos__step_names *names) {
  const rheos_graph *graph = session->graph;
  const bool are_named =
      name_all(graph, ids->feeds, ids->num_feeds, arena, &names->feeds) &&
      name_all(graph, ids->fetches, ids->num_fetches, arena, &names->fetches) &&
      name_targets(graph, ids->targets, ids->num_targets, arena, &names->targets);
  names->asked = names->fetches;
  names->num_asked = (size_t)ids->num_fetches;
  return are_named ? NULL : rheos__out_of_memory();
}

static void ask_for_trace(const rheos_trace *trace, Tensorflow__RunOptions *options) {
  if ((trace->what & RHEOS_TRACE_STEPS) != 0) {
    options->trace_level = TENSORFLOW__RUN_OPTIONS__TRACE_LEVEL__FULL_TRACE;
  }
  options->output_partition_graphs = (trace->what & RHEOS_TRACE_PARTITION_GRAPHS) != 0;
}

static rheos_status *keep_metadata(rheos_trace *trace, const rheos__received *reply) {
  const Tensorflow__RunStepResponse *r = (const void *)reply->message;
  rheos__buffer bytes = {0};
  if (r->metadata != NULL) rheos__proto_pack(&r->metadata->base, &bytes);
  rheos_status *status = bytes.failed ? rheos__out_of_memory()
                                      : rheos__trace_keep_told(trace, bytes.data, bytes.size_bytes);
  rheos__buffer_deinit(&bytes);
  return status;
}

rheos_status *rheos__remote_run_named(rheos__remote_session *session, const char *partial,
                                      const rheos__signature_ids *ids,
                                      const rheos__step_names *names, rheos_tensor *const *values,
                                      rheos_tensor **out_values, const rheos_run_options *options) {
  static const rheos__message_form form = {
      .descriptor = &tensorflow__run_step_response__descriptor, .tensors = 1, .are_named = true};
  const int64_t timeout_ms = options != NULL ? options->timeout_ms : 0;
  Tensorflow__RunStepRequest fields = TENSORFLOW__RUN_STEP_REQUEST__INIT;
  Tensorflow__RunOptions run_options = TENSORFLOW__RUN_OPTIONS__INIT;
  rheos__message request = {0};
  rheos__received reply;
  rheos_trace *trace = options != NULL ? options->trace : NULL;
  run_options.timeout_in_ms = timeout_ms;
  if (trace != NULL) ask_for_trace(trace, &run_options);
  fields.session_handle = session->handle;
  fields.options = &run_options;
  if (partial != NULL) fields.partial_run_handle = (char *)(uintptr_t)partial;
  fields.fetch = names->asked;
  fields.n_fetch = names->num_asked;
  fields.target = names->targets;
  fields.n_target = (size_t)ids->num_targets;
  fields.store_errors_in_response_body = true;
  fields.request_id = (int64_t)rheos__random_id();
  rheos__message_put(&request, &fields.base);
  for (int32_t i = 0; i < ids->num_feeds; i++) {
    rheos__message_put_named(&request, 2, names->feeds[i], values[i]);
  }
  rheos_status *status =
      rheos__remote_call(&session->server, RHEOS__RUN_STEP, &request,
                         rheos__remote_timeout_ms(options), options, &form, &reply);
  for (int32_t i = 0; i < ids->num_fetches; i++) out_values[i] = NULL;
  if (status == NULL) {
    status = take_results(&session->server, &reply, names->fetches, ids->num_fetches, out_values);
  }
  if (status == NULL && trace != NULL) status = keep_metadata(trace, &reply);
  for (int32_t i = 0; status != NULL && i < ids->num_fetches; i++) {
    rheos_tensor_unref(out_values[i]);
    out_values[i] = NULL;
  }
  rheos__received_deinit(&reply);
  rheos__message_deinit(&request);
  return status;
}

rheos_status *rheos__remote_check_feeds(const rheos_graph *graph, const rheos__signature_ids *ids,
                                        rheos_tensor *const *values) {
  for (int32_t i = 0; i < ids->num_feeds; i++) {
    RHEOS_TRY(rheos__check_feed(graph, ids->feeds[i], values[i], false));
  }
  return NULL;
}

rheos_status *rheos__remote_run(rheos_session *base, const rheos__signature_ids *ids,
                                rheos_tensor *const *values, rheos_tensor **out_values,
                                const rheos_run_options *options) {
  rheos__remote_session *session = rheos__remote(base);
  rheos__step_names names;
  rheos__arena arena;
  RHEOS_TRY(rheos__remote_check_feeds(base->graph, ids, values));
  RHEOS_TRY(rheos__remote_bring_up(session, options));
  rheos__arena_init(&arena);
  rheos_status *status = rheos__remote_names(base, ids, &arena, &names);
  if (status == NULL)
    status = rheos__remote_run_named(session, NULL, ids, &names, values, out_values, options);
  rheos__arena_deinit(&arena);
  return status;
}
