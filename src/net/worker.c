#include "net/worker.h"

#include "base/alloc.h"
#include "net/graph_parts.h"
#include "runtime/session/direct_callable.h"
#include "runtime/step/host.h"

struct rheos__worker_session {
  char *handle, *master;
  uint64_t master_incarnation;
  rheos_host *host;                 // its own, or the worker's
  rheos__session_cluster *cluster;  // NULL: the server's
  rheos__worker_session *next;
  bool names_frames;
};

void rheos__worker_init(rheos__worker *worker, rheos_host *host, rheos__peers *peers,
                        int32_t own_task) {
  *worker = (rheos__worker){.host = host, .incarnation = rheos__random_id()};
  rheos__worker_steps_init(&worker->steps, peers, own_task);
  pthread_mutex_init(&worker->mutex, NULL);
  pthread_cond_init(&worker->none_runs, NULL);
}

// ---- Sessions

static rheos__worker_session **find_session(rheos__worker *worker, const char *handle) {
  rheos__worker_session **place = &worker->sessions;
  while (*place != NULL && strcmp((*place)->handle, handle) != 0) place = &(*place)->next;
  return place;
}

static void session_free(rheos__worker_session *session) {
  rheos__session_cluster_free(session->cluster);
  rheos_host_unref(session->host);
  rheos__free(session->handle);
  rheos__free(session->master);
  rheos__free(session);
}

// The host of a session: the worker's, with what the session has of its own.
static rheos_status *make_host(rheos__worker *worker, const rheos__session_from_master *from,
                               rheos__worker_session *session) {
  if (from->cluster != NULL) {
    RHEOS_TRY(rheos__session_cluster_new(worker->steps.peers, from->cluster, from->job, from->task,
                                         NULL, &session->cluster));
    const rheos__session_cluster *cluster = session->cluster;
    return rheos__host_as_task(
        worker->host, &cluster->peers.cluster.tasks[cluster->own_task].parsed, &session->host);
  }
  if (from->is_isolated) return rheos__host_apart(worker->host, &session->host);
  session->host = rheos_host_ref(worker->host);
  return NULL;
}

static rheos_status *session_new(rheos__worker *worker, const rheos__session_from_master *from,
                                 rheos__worker_session **out_session) {
  rheos__worker_session *session = rheos__alloc_zeroed(sizeof *session);
  if (session == NULL) return rheos__out_of_memory();
  session->handle = rheos__strdup(from->handle);
  session->master = rheos__strdup(from->master);
  session->master_incarnation = from->master_incarnation;
  session->names_frames = from->names_frames;
  rheos_status *status =
      session->handle != NULL && session->master != NULL ? NULL : rheos__out_of_memory();
  if (status == NULL) status = make_host(worker, from, session);
  if (status == NULL) {
    *out_session = session;
  } else {
    session_free(session);
  }
  return status;
}

// Takes a session of a master that was there before that one; NULL: there is none.
static rheos__worker_session *take_orphan(rheos__worker *worker, const char *master,
                                          uint64_t incarnation) {
  rheos__worker_session **place = &worker->sessions;
  while (*place != NULL &&
         (strcmp((*place)->master, master) != 0 || (*place)->master_incarnation == incarnation)) {
    place = &(*place)->next;
  }
  rheos__worker_session *session = *place;
  if (session != NULL) *place = session->next;
  return session;
}

// Lets go of the graphs of a session, and ends the steps in which they run by themselves, in
// several calls; other runs that are under way keep theirs.
static void drop_graphs(rheos__worker *worker, const char *session) {
  rheos__worker_graph *dropped = NULL;
  pthread_mutex_lock(&worker->mutex);
  for (rheos__worker_graph **place = &worker->graphs, *graph; (graph = *place) != NULL;) {
    if (strcmp(graph->of_session, session) == 0) {
      *place = graph->next;
      graph->next = dropped;
      dropped = graph;
    } else {
      place = &graph->next;
    }
  }
  pthread_mutex_unlock(&worker->mutex);
  rheos_status *over = rheos_status_new(RHEOS_ABORTED, "session %s is over", session);
  while (dropped != NULL) {
    rheos__worker_graph *graph = dropped;
    dropped = graph->next;
    rheos__worker_steps_end_running(&worker->steps, graph, over);
    rheos__worker_graph_unref(worker, graph);
  }
  rheos_status_free(over);
}

static void end_session(rheos__worker *worker, rheos__worker_session *session) {
  drop_graphs(worker, session->handle);
  rheos_status *over = rheos_status_new(RHEOS_ABORTED, "session %s is over", session->handle);
  rheos__worker_steps_end_of_session(&worker->steps, session->handle, over);
  if (session->cluster != NULL) {
    rheos__worker_steps_end_of(&worker->steps, session->cluster, over);
  }
  rheos_status_free(over);
  session_free(session);
}

void rheos__worker_find_masters(rheos__worker *worker, bool *is_master) {
  const rheos__cluster *cluster = &worker->steps.peers->cluster;
  memset(is_master, 0, (size_t)cluster->num_tasks * sizeof *is_master);
  pthread_mutex_lock(&worker->mutex);
  for (const rheos__worker_session *s = worker->sessions; s != NULL; s = s->next) {
    const int32_t task = s->cluster == NULL ? rheos__cluster_task_of(cluster, s->master) : -1;
    if (task >= 0) is_master[task] = true;
  }
  pthread_mutex_unlock(&worker->mutex);
}

void rheos__worker_end_orphans(rheos__worker *worker, const char *master, uint64_t incarnation) {
  rheos__worker_session *session = NULL;
  if (master[0] == '\0') return;
  do {
    pthread_mutex_lock(&worker->mutex);
    session = take_orphan(worker, master, incarnation);
    pthread_mutex_unlock(&worker->mutex);
    if (session != NULL) end_session(worker, session);
  } while (session != NULL);
}

rheos_status *rheos__worker_create_session(rheos__worker *worker,
                                           const rheos__session_from_master *from) {
  rheos__worker_session *session = NULL;
  rheos__worker_end_orphans(worker, from->master, from->master_incarnation);
  RHEOS_TRY(session_new(worker, from, &session));
  pthread_mutex_lock(&worker->mutex);
  const bool exists = *find_session(worker, from->handle) != NULL;
  if (!exists) {
    session->next = worker->sessions;
    worker->sessions = session;
  }
  pthread_mutex_unlock(&worker->mutex);
  if (!exists) return NULL;
  session_free(session);
  return rheos_status_new(RHEOS_ALREADY_EXISTS, "the worker has a session %s", from->handle);
}

rheos_status *rheos__worker_delete_session(rheos__worker *worker, const char *handle) {
  pthread_mutex_lock(&worker->mutex);
  rheos__worker_session **place = find_session(worker, handle), *session = *place;
  if (session != NULL) *place = session->next;
  pthread_mutex_unlock(&worker->mutex);
  if (session != NULL) end_session(worker, session);
  return NULL;
}

static rheos_status *no_session(const char *handle) {
  return rheos_status_new(RHEOS_ABORTED,
                          "session %s is not found: the worker may have been started anew", handle);
}

// The host of a session, counted, and its own cluster if it has one, in use.
static rheos_status *host_of(rheos__worker *worker, const char *handle, rheos_host **out_host,
                             rheos__session_cluster **out_cluster) {
  pthread_mutex_lock(&worker->mutex);
  const rheos__worker_session *session = *find_session(worker, handle);
  *out_cluster = session != NULL ? rheos__session_cluster_use(session->cluster) : NULL;
  *out_host = session != NULL     ? rheos_host_ref(session->host)
              : handle[0] == '\0' ? rheos_host_ref(worker->host)
                                  : NULL;
  pthread_mutex_unlock(&worker->mutex);
  return *out_host != NULL ? NULL : no_session(handle);
}

// ---- Graphs

static void graph_free(rheos__worker_graph *graph) {
  rheos_callable_free(graph->callable);
  rheos_session_free(graph->session);
  rheos_graph_unref(graph->graph);
  rheos__session_cluster_leave(graph->cluster);
  rheos__free(graph->of_session);
  rheos__free(graph);
}

void rheos__worker_graph_unref(rheos__worker *worker, rheos__worker_graph *graph) {
  pthread_mutex_lock(&worker->mutex);
  const bool is_last = --graph->references == 0;
  pthread_mutex_unlock(&worker->mutex);
  if (is_last) graph_free(graph);
}

// Nodes from which nobody takes anything: running these runs all.
static size_t find_ends(rheos_graph *graph, bool *is_taken, rheos_operation *ends) {
  const int32_t count = rheos_graph_num_operations(graph);
  size_t num_ends = 0;
  for (int32_t i = 0; i < count; i++) {
    const rheos__node *node = rheos__graph_node(graph, i);
    for (int32_t k = 0; k < node->num_inputs + node->num_control_inputs; k++) {
      is_taken[node->edges[k].id] = true;
    }
  }
  for (int32_t i = 0; i < count; i++) {
    if (!is_taken[i]) ends[num_ends++] = (rheos_operation){graph, i};
  }
  return num_ends;
}

static rheos_status *make_callable(rheos__worker_graph *graph) {
  const size_t count = (size_t)rheos_graph_num_operations(graph->graph);
  bool *is_taken = rheos__alloc_zeroed(count + 1);
  rheos_operation *ends = rheos__alloc_array(count + 1, sizeof *ends);
  rheos_status *status = rheos__out_of_memory();
  if (is_taken != NULL && ends != NULL) {
    const size_t num_ends = find_ends(graph->graph, is_taken, ends);
    status = rheos_callable_new(graph->session, NULL, 0, NULL, 0, ends, num_ends, &graph->callable);
  }
  rheos__free(is_taken);
  rheos__free(ends);
  return status;
}

static rheos_status *fill_graph(const rheos__worker *worker, rheos__worker_graph *graph,
                                const char *session, rheos_host *host, const void *graph_def,
                                size_t size_bytes) {
  const rheos_session_options options = {.host = host,
                                         .shares_resources = true,
                                         .allow_soft_placement = true,
                                         .program_function = worker->program_function,
                                         .program_argument = worker->program_argument,
                                         .leaves_functions = true};
  graph->graph = rheos_graph_new();
  graph->of_session = rheos__strdup(session);
  if (graph->graph == NULL || graph->of_session == NULL) return rheos__out_of_memory();
  RHEOS_TRY(rheos__add_to_graph(graph->graph, graph_def, size_bytes, NULL, 0));
  RHEOS_TRY(rheos_session_new(graph->graph, &options, &graph->session));
  return make_callable(graph);
}

// The session may have ended meanwhile.
static rheos_status *keep_graph(rheos__worker *worker, rheos__worker_graph *graph) {
  pthread_mutex_lock(&worker->mutex);
  const rheos__worker_session *session = *find_session(worker, graph->of_session);
  const bool is_wanted = graph->of_session[0] == '\0' || session != NULL;
  graph->names_frames = session != NULL && session->names_frames;
  if (is_wanted) {
    graph->references = 1;
    graph->next = worker->graphs;
    worker->graphs = graph;
  }
  pthread_mutex_unlock(&worker->mutex);
  return is_wanted ? NULL : no_session(graph->of_session);
}

rheos_status *rheos__worker_register(rheos__worker *worker, const char *session,
                                     const void *graph_def, size_t size_bytes,
                                     char out_handle[RHEOS__ID_BYTES]) {
  rheos_host *host;
  rheos__worker_graph *graph = rheos__alloc_zeroed(sizeof *graph);
  if (graph == NULL) return rheos__out_of_memory();
  rheos_status *status = host_of(worker, session, &host, &graph->cluster);
  if (status == NULL) status = fill_graph(worker, graph, session, host, graph_def, size_bytes);
  rheos_host_unref(host);
  rheos__id_text(rheos__random_id(), graph->handle);
  memcpy(out_handle, graph->handle, RHEOS__ID_BYTES);
  if (status == NULL) status = keep_graph(worker, graph);
  if (status != NULL) graph_free(graph);
  return status;
}

static rheos__worker_graph **find_graph(rheos__worker *worker, const char *handle) {
  rheos__worker_graph **place = &worker->graphs;
  while (*place != NULL && strcmp((*place)->handle, handle) != 0) place = &(*place)->next;
  return place;
}

static rheos_status *no_graph(const char *handle) {
  return rheos_status_new(RHEOS_ABORTED,
                          "graph %s is not found: the worker may have been started anew", handle);
}

rheos_status *rheos__worker_deregister(rheos__worker *worker, const char *handle) {
  pthread_mutex_lock(&worker->mutex);
  rheos__worker_graph **place = find_graph(worker, handle), *graph = *place;
  if (graph != NULL) *place = graph->next;
  pthread_mutex_unlock(&worker->mutex);
  if (graph == NULL) return no_graph(handle);
  rheos__worker_graph_unref(worker, graph);
  return NULL;
}

// ---- Steps

static rheos_status *get_graph(rheos__worker *worker, const char *handle,
                               rheos__worker_graph **out_graph) {
  pthread_mutex_lock(&worker->mutex);
  rheos__worker_graph *graph = *find_graph(worker, handle);
  if (graph != NULL) graph->references++;
  pthread_mutex_unlock(&worker->mutex);
  *out_graph = graph;
  return graph != NULL ? NULL : no_graph(handle);
}

typedef struct fetched {
  rheos_tensor *value;
  bool has_come;
} fetched;

static void take_fetched(void *argument, rheos_status *failed, rheos_tensor *value) {
  if (failed == NULL) *(fetched *)argument = (fetched){value, true};
  rheos_status_free(failed);
}

// What the part has sent to the caller: it is there, since all of the part has run.
static rheos_status *take_sent(rheos__worker_step *step, const char *key,
                               rheos_tensor **out_value) {
  fetched f = {NULL, false};
  RHEOS_TRY(rheos__rendezvous_receive_for(step->rendezvous, key, take_fetched, &f));
  if (!f.has_come) {  // nobody waits for it
    rheos_status *none = rheos_status_new(RHEOS_INTERNAL, "no tensor was sent as %s", key);
    rheos__rendezvous_abort(step->rendezvous, none);
    return none;
  }
  if (f.value == NULL) {
    return RHEOS_INVALID("The tensor returned for %s was not valid.", key);
  }
  *out_value = f.value;
  return NULL;
}

static rheos_status *take_all_sent(rheos__worker_step *step, const rheos__part_run *run) {
  for (size_t i = 0; i < run->num_recvs; i++) {
    RHEOS_TRY(take_sent(step, run->recv_keys[i], &run->received[i]));
  }
  return NULL;
}

static rheos_status *run_part(rheos__worker_graph *graph, rheos__worker_step *step,
                              const rheos__part_run *run) {
  rheos_run_options options = *run->options;
  options.cancellation = step->cancellation;
  for (size_t i = 0; i < run->num_sends; i++) {
    RHEOS_TRY(rheos__rendezvous_send(step->rendezvous, run->send_keys[i], run->sends[i]));
  }
  RHEOS_TRY(rheos__direct_run_part(graph->callable, NULL, NULL, &options, step->rendezvous));
  return take_all_sent(step, run);
}

static void drop(rheos_tensor **values, size_t count) {
  for (size_t i = 0; i < count; i++) {
    rheos_tensor_unref(values[i]);
    values[i] = NULL;
  }
}

void rheos__worker_clean_up(rheos__worker *worker, int64_t step) {
  rheos_status *over = rheos_status_new(RHEOS_ABORTED, "step %lld is over", (long long)step);
  rheos__worker_steps_end(&worker->steps, step, over);
  rheos_status_free(over);
}

// A step whose session ended while it ran: nobody cleans it up.
static void end_step_of_none(rheos__worker *worker, const rheos__worker_graph *graph,
                             int64_t step) {
  if (graph->of_session[0] == '\0') return;
  pthread_mutex_lock(&worker->mutex);
  const bool has_session = *find_session(worker, graph->of_session) != NULL;
  pthread_mutex_unlock(&worker->mutex);
  if (!has_session) rheos__worker_clean_up(worker, step);
}

rheos_status *rheos__worker_run(rheos__worker *worker, const rheos__part_run *run) {
  rheos__worker_graph *graph;
  rheos__worker_step *step;
  for (size_t i = 0; i < run->num_recvs; i++) run->received[i] = NULL;
  RHEOS_TRY(get_graph(worker, run->graph, &graph));
  rheos_status *status = rheos__worker_steps_get(&worker->steps, run->step, &step);
  if (status == NULL) {
    rheos__worker_step_join(step, graph->of_session, graph->cluster);
    if (graph->names_frames) rheos__rendezvous_name_frames(step->rendezvous);
    status = run->is_partial ? rheos__worker_run_partial(worker, graph, step, run)
                             : run_part(graph, step, run);
    if (status != NULL) {
      drop(run->received, run->num_recvs);
      rheos__worker_step_abort(step, status);
    }
    rheos__worker_step_unref(step);
    end_step_of_none(worker, graph, run->step);
  }
  rheos__worker_graph_unref(worker, graph);
  return status;
}

rheos_status *rheos__worker_reset(rheos__worker *worker, char *const *containers, size_t count) {
  rheos__resources *resources = worker->host->resources;
  if (count == 0) return rheos__resources_clear_container(resources, "");
  for (size_t i = 0; i < count; i++) {
    const char *name = strcmp(containers[i], "localhost") == 0 ? "" : containers[i];
    RHEOS_TRY(rheos__resources_clear_container(resources, name));
  }
  return NULL;
}

rheos__worker_counts rheos__worker_count(rheos__worker *worker) {
  rheos__worker_counts counts = {.steps = rheos__worker_steps_count(&worker->steps)};
  pthread_mutex_lock(&worker->mutex);
  for (rheos__worker_graph *g = worker->graphs; g != NULL; g = g->next) counts.graphs++;
  for (rheos__worker_session *s = worker->sessions; s != NULL; s = s->next) counts.sessions++;
  pthread_mutex_unlock(&worker->mutex);
  return counts;
}

void rheos__worker_deinit(rheos__worker *worker) {
  rheos_status *over = rheos_status_new(RHEOS_UNAVAILABLE, "the server was stopped");
  rheos__worker_steps_end_all(&worker->steps, over);
  rheos_status_free(over);
  rheos__worker_wait_for_begun(worker);
  while (worker->graphs != NULL) {
    rheos__worker_graph *graph = worker->graphs;
    worker->graphs = graph->next;
    graph_free(graph);
  }
  while (worker->sessions != NULL) {
    rheos__worker_session *session = worker->sessions;
    worker->sessions = session->next;
    session_free(session);
  }
  rheos__worker_steps_deinit(&worker->steps);
  pthread_cond_destroy(&worker->none_runs);
  pthread_mutex_destroy(&worker->mutex);
}
