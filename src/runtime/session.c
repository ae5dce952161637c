// Sessions: a graph, the host that it runs on, and the plans made so far.
#include <string.h>

#include "base/large_blocks.h"
#include "base/options.h"
#include "runtime/bodies.h"
#include "runtime/executor.h"
#include "runtime/partial_run.h"
#include "runtime/plan_cache.h"
#include "runtime/session_plan.h"
#include "runtime/session_step.h"
#include "runtime/tasks.h"

enum { FEW = 16 };

struct rheos_session {
  rheos_graph *graph;
  rheos_host *host;
  rheos_session_options options;
  rheos__resources *own_resources;  // NULL: it shares the host's
  _Atomic int closed;
  rheos__bell closing;    // rings when it is closed
  rheos__waits waits;     // what its steps wait for
  pthread_mutex_t mutex;  // guards what follows
  pthread_cond_t idle;
  rheos__plan_cache plans;
  rheos__bodies *bodies;
  rheos__tasks *tasks;
  int32_t num_running;               // steps, and threads that plan
  rheos__partial_run *partial_runs;  // latest first
  int64_t last_handle;
  rheos_session_stats stats;
};

struct rheos_callable {
  rheos_session *session;
  rheos__edge *feeds, *fetches;
  int32_t *targets;
  int32_t num_feeds, num_fetches, num_targets;
  rheos__cached_plan *plan;  // renewed when the graph was changed; guarded by the session's mutex
  rheos__bound *bound;
};

// ---- Making and ending

static rheos_status *make_plan(void *argument, const rheos__signature_ids *ids,
                               rheos__plan **out_plan);

// What the session runs on, counted.
static rheos_status *find_host(const rheos_session_options *options, rheos_host **out_host) {
  if (options->host == NULL) {
    return rheos_host_new(&(rheos_host_options){.num_cpu_devices = options->num_cpu_devices,
                                                .num_threads = options->num_threads},
                          out_host);
  }
  *out_host = NULL;
  if (options->num_cpu_devices != 0 || options->num_threads != 0) {
    return RHEOS_INVALID("a session has the devices and threads of its host, and none of its own");
  }
  *out_host = rheos_host_ref(options->host);
  return NULL;
}

static void init_plans(rheos_session *session) {
  const int32_t max_plans = session->options.max_cached_plans;
  session->plans = (rheos__plan_cache){.make = make_plan,
                                       .argument = session,
                                       .mutex = &session->mutex,
                                       .closed = &session->closed,
                                       .max_plans = max_plans > 0 ? (size_t)max_plans : 0};
  rheos__plan_cache_init(&session->plans);
}

static rheos_status *find_resources(rheos_session *session) {
  if (session->options.host != NULL && session->options.shares_resources) return NULL;
  session->own_resources = rheos__resources_new();
  return session->own_resources != NULL ? NULL : rheos__out_of_memory();
}

static bool packs_operands(const rheos_rewrite_options *rewrites) {
  return !rewrites->disable_meta_optimizer && rewrites->layout_optimizer != RHEOS_TOGGLE_OFF;
}

// What the session's plans need to know of it.
static rheos__plan_context plan_context(const rheos_session *session) {
  const int32_t between_ops = session->options.num_threads_between_ops;
  int32_t threads = rheos_host_num_threads(session->host);
  if (between_ops > 0 && between_ops < threads) threads = between_ops;
  rheos__resources *own = session->own_resources;
  rheos__plan_context context = {.resources = own != NULL ? own : session->host->resources,
                                 .devices = session->host->devices,
                                 .num_devices = session->host->num_devices,
                                 .allow_soft_placement = session->options.allow_soft_placement,
                                 .log_device_placement = session->options.log_device_placement,
                                 .program_function = session->options.program_function,
                                 .program_argument = session->options.program_argument,
                                 .leaves_functions = session->options.leaves_functions,
                                 .bodies = session->bodies,
                                 .rewrites = session->options.rewrites,
                                 .num_threads = threads};
  if (packs_operands(&context.rewrites)) context.packings = session->host->packings;
  return context;
}

static rheos_status *make_bodies(rheos_session *session) {
  const rheos__plan_context context = plan_context(session);
  session->bodies = rheos__bodies_new(&context);
  session->tasks =
      rheos__tasks_new(session->host, &session->closed, &session->closing, &session->waits);
  return session->bodies != NULL && session->tasks != NULL ? NULL : rheos__out_of_memory();
}

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

rheos_status *rheos_session_new_sized(rheos_graph *graph, const rheos_session_options *options,
                                      size_t options_bytes, rheos_session **out_session) {
  RHEOS_OUT(out_session);
  RHEOS_NEED(graph);
  rheos_session_options known;
  RHEOS_TRY(RHEOS_READ_OPTIONS(rheos_session_options, options, options_bytes, &known));
  RHEOS_TRY(check_toggles(&known.rewrites));
  if (graph == NULL) return RHEOS_INVALID("a session needs a graph");
  if (known.target != NULL && known.target[0] != '\0') {
    return rheos_status_new(RHEOS_UNIMPLEMENTED, "sessions on a server ('%s') are not there yet",
                            known.target);
  }
  rheos_session *session = rheos__alloc_zeroed(sizeof *session);
  if (session == NULL) return rheos__out_of_memory();
  rheos__waits_init(&session->waits);
  pthread_mutex_init(&session->mutex, NULL);
  pthread_cond_init(&session->idle, NULL);
  session->graph = rheos_graph_ref(graph);
  session->options = known;
  session->options.target = NULL;  // the caller's string
  init_plans(session);
  rheos_status *status = find_host(&session->options, &session->host);
  if (status == NULL) status = find_resources(session);
  if (status == NULL) status = make_bodies(session);
  if (status != NULL) {
    rheos_session_free(session);
    return status;
  }
  *out_session = session;
  return NULL;
}

static void forget_partial_runs(rheos_session *session) {
  pthread_mutex_lock(&session->mutex);
  rheos__partial_run *run = session->partial_runs;
  session->partial_runs = NULL;
  pthread_mutex_unlock(&session->mutex);
  while (run != NULL) {
    rheos__partial_run *next = run->next;
    rheos__partial_run_unref(run);
    run = next;
  }
}

void rheos_session_close(rheos_session *session) {
  if (session == NULL) return;
  atomic_store(&session->closed, 1);
  rheos__bell_ring(&session->closing);
  pthread_mutex_lock(&session->mutex);
  while (session->num_running > 0 && !rheos__pool_is_forked(session->host->pool)) {
    pthread_cond_wait(&session->idle, &session->mutex);
  }
  pthread_mutex_unlock(&session->mutex);
  rheos__tasks_close(session->tasks);
  forget_partial_runs(session);
  rheos__plan_cache_clear(&session->plans);
  rheos__bodies_clear(session->bodies);
  rheos__resources_clear(session->own_resources);
  rheos__large_trim();
}

rheos_status *rheos_session_waiting(rheos_session *session, char **out_text) {
  RHEOS_OUT(out_text);
  RHEOS_NEED(session);
  return rheos__waits_tell(&session->waits, rheos__clock_ns(), out_text);
}

void rheos_session_free(rheos_session *session) {
  if (session == NULL) return;
  rheos_session_close(session);
  rheos__bell_deinit(&session->closing);
  rheos__waits_deinit(&session->waits);
  rheos__plan_cache_deinit(&session->plans);
  rheos__bodies_unref(session->bodies);
  rheos__tasks_unref(session->tasks);
  rheos__resources_free(session->own_resources);
  rheos_host_unref(session->host);
  rheos_graph_unref(session->graph);
  pthread_cond_destroy(&session->idle);
  pthread_mutex_destroy(&session->mutex);
  rheos__free(session);
}

rheos_graph *rheos_session_graph(const rheos_session *session) {
  return session != NULL ? session->graph : NULL;
}

int32_t rheos_session_num_devices(const rheos_session *session) {
  return session != NULL ? rheos_host_num_devices(session->host) : 0;
}

const char *rheos_session_device(const rheos_session *session, int32_t index) {
  return session != NULL ? rheos_host_device(session->host, index) : NULL;
}

// ---- Signatures

// `what` and `index` say which in the caller's list it is.
static rheos_status *check_output(const rheos_session *session, rheos_output output,
                                  const char *what, size_t index) {
  if (output.graph == NULL) {
    return RHEOS_INVALID("%s[%zu] is no tensor (an error was made before)", what, index);
  }
  if (output.graph != session->graph) {
    char name[128];
    rheos_operation_name(rheos_output_operation(output), name, sizeof name);
    return RHEOS_INVALID("%s[%zu], '%s:%d', is not an element of this session's graph", what, index,
                         name, (int)output.index);
  }
  if (output.id < 0 || output.id >= rheos_graph_num_operations(session->graph) ||
      output.index < 0 ||
      output.index >= rheos__graph_node(session->graph, output.id)->num_outputs) {
    return RHEOS_INVALID("%s[%zu] does not exist in the graph: node %d, output %d", what, index,
                         (int)output.id, (int)output.index);
  }
  return NULL;
}

static rheos_status *check_target(const rheos_session *session, rheos_operation target,
                                  size_t index) {
  if (target.graph == NULL) {
    return RHEOS_INVALID("targets[%zu] is no operation (an error was made before)", index);
  }
  if (target.graph != session->graph) {
    char name[128];
    rheos_operation_name(target, name, sizeof name);
    return RHEOS_INVALID("targets[%zu], '%s', is not an element of this session's graph", index,
                         name);
  }
  if (target.id < 0 || target.id >= rheos_graph_num_operations(session->graph)) {
    return RHEOS_INVALID("targets[%zu] does not exist in the graph: node %d", index,
                         (int)target.id);
  }
  return NULL;
}

static rheos__edge edge_of(rheos_output output) { return (rheos__edge){output.id, output.index}; }

// Two feeds for one tensor would leave open which one counts.
static rheos_status *check_feeds_differ(const rheos_session *session,
                                        const rheos__signature_ids *s) {
  for (int32_t i = 0; i < s->num_feeds; ++i) {
    for (int32_t k = 0; k < i; ++k) {
      if (s->feeds[i].id == s->feeds[k].id && s->feeds[i].index == s->feeds[k].index) {
        return rheos__status_at_take(RHEOS_INVALID("the tensor is fed twice"), session->graph,
                                     s->feeds[i].id);
      }
    }
  }
  return NULL;
}

static rheos_status *make_plan(void *argument, const rheos__signature_ids *ids,
                               rheos__plan **out_plan) {
  rheos_session *session = argument;
  RHEOS_TRY(check_feeds_differ(session, ids));
  rheos__plan_context context = plan_context(session);
  context.done = ids->done;
  context.num_done = ids->num_done;
  return rheos__plan_new(session->graph, &context, ids->feeds, ids->num_feeds, ids->fetches,
                         ids->num_fetches, ids->targets, ids->num_targets, out_plan);
}

// ---- Running

static rheos_status *check_feed(const rheos_session *session, rheos__edge edge,
                                const rheos_tensor *value) {
  const rheos__node_output *output =
      &rheos__graph_node(session->graph, edge.id)->outputs[edge.index];
  rheos_status *status = NULL;
  if (value == NULL) {
    status = RHEOS_INVALID("the fed value is NULL");
  } else if (value->dtype != rheos_dtype_base(output->dtype)) {
    status = RHEOS_INVALID("Cannot feed a value of dtype %s for a tensor of dtype %s",
                           rheos_dtype_name(value->dtype),
                           rheos_dtype_name(rheos_dtype_base(output->dtype)));
  } else if (!rheos_shape_compatible(output->shape, &value->shape)) {
    rheos__shape_text fed, expected;
    status = RHEOS_INVALID("Cannot feed a value of shape %s for a tensor of shape %s",
                           rheos__shape_text_of(&value->shape, &fed),
                           rheos__shape_text_of(output->shape, &expected));
  }
  return status != NULL ? rheos__status_at_take(status, session->graph, edge.id) : NULL;
}

static rheos_status *closed_error(void) {
  return rheos_status_new(RHEOS_FAILED_PRECONDITION, "Attempted to use a closed Session.");
}

// The plan is entered already (num_running counts it).
static rheos_status *run_plan(rheos_session *session, rheos__cached_plan *cached,
                              rheos_tensor *const *values, const rheos__bound *bound,
                              rheos_tensor **out_values, const rheos_run_options *options) {
  rheos__plan *plan = cached->plan;
  for (int32_t i = 0; bound == NULL && i < plan->num_fetches; ++i) out_values[i] = NULL;
  for (int32_t i = 0; i < plan->num_feeds; ++i) {
    RHEOS_TRY(check_feed(session, plan->feeds[i], values[i]));
  }
  rheos__step step;
  rheos__step_init(&step, session->host, options, &session->closed);
  step.session_bell = &session->closing;
  step.waits = &session->waits;
  step.tasks = session->tasks;
  if (options != NULL && options->cancellation != NULL && rheos__step_poll(&step)) {
    return rheos__step_error(&step);
  }
  double cost_ns;
  rheos_status *status = rheos__execute(plan, values, bound, &step, out_values, &cost_ns);
  rheos__step_deinit(&step);
  if (status == NULL) {  // how long a step takes that waits is not known
    const int64_t known_ns = step.may_wait || step.is_listening ? 0 : (int64_t)cost_ns;
    atomic_store_explicit(&cached->cost_ns, known_ns, memory_order_relaxed);
  }
  return status;
}

// Counts the caller in, so that the session is not closed under its feet; or fails and counts nothing.
// With the session's mutex held, like the next.
static rheos_status *enter(rheos_session *session) {
  if (atomic_load(&session->closed)) return closed_error();
  ++session->num_running;
  return NULL;
}

// Who closes the session says so first, and then waits.
static void leave(rheos_session *session) {
  if (--session->num_running == 0 && atomic_load(&session->closed)) {
    pthread_cond_broadcast(&session->idle);
  }
}

// With the session's mutex held, which is open while a plan is made.
static rheos_status *plan_callable(rheos_callable *callable, const rheos_run_options *options,
                                   rheos__cached_plan **out_plan) {
  rheos__signature_ids s = {.feeds = callable->feeds,
                            .fetches = callable->fetches,
                            .targets = callable->targets,
                            .num_feeds = callable->num_feeds,
                            .num_fetches = callable->num_fetches,
                            .num_targets = callable->num_targets};
  rheos__signature_ids_hash(&s);
  return rheos__plan_cache_get(&callable->session->plans, &s, options, out_plan);
}

// The callable's plan with a reference for the caller, made anew if the graph was changed; under the
// same mutex.
static rheos_status *current_plan(rheos_callable *callable, const rheos_run_options *options,
                                  rheos__cached_plan **out_plan) {
  if (!rheos__plan_is_current(callable->plan->plan)) {
    rheos__cached_plan *renewed = NULL;
    RHEOS_TRY(plan_callable(callable, options, &renewed));
    rheos__cached_plan_unref(callable->plan);
    callable->plan = renewed;
  }
  *out_plan = rheos__cached_plan_ref(callable->plan);
  return NULL;
}

// Counts a run in and finds its plan, of the callable or (that is NULL) by the signature; or fails and
// counts nothing.
static rheos_status *enter_run(rheos_session *session, rheos_callable *callable,
                               const rheos__signature_ids *s, const rheos_run_options *options,
                               rheos__cached_plan **out_plan) {
  pthread_mutex_lock(&session->mutex);
  rheos_status *status = enter(session);
  if (status == NULL) {
    status = callable != NULL ? current_plan(callable, options, out_plan)
                              : rheos__plan_cache_get(&session->plans, s, options, out_plan);
    if (status == NULL) {
      ++session->stats.num_runs;
    } else {
      leave(session);
    }
  }
  pthread_mutex_unlock(&session->mutex);
  return status;
}

static void leave_run(rheos_session *session) {
  pthread_mutex_lock(&session->mutex);
  leave(session);
  pthread_mutex_unlock(&session->mutex);
}

rheos_status *rheos__session_begin_step(rheos_session *session, const rheos_run_options *options,
                                        rheos__step *step, rheos__step **out_before) {
  pthread_mutex_lock(&session->mutex);
  rheos_status *status = enter(session);
  pthread_mutex_unlock(&session->mutex);
  if (status != NULL) return status;
  rheos__step_init(step, session->host, options, &session->closed);
  step->session_bell = &session->closing;
  step->waits = &session->waits;
  step->tasks = session->tasks;
  if (rheos__step_is_observed(step)) rheos__observe_step_begins(step);
  *out_before = rheos__pool_set_step(step);
  return NULL;
}

rheos_status *rheos__session_end_step_take(rheos_session *session, rheos__step *step,
                                           rheos__step *before, rheos_status *status) {
  rheos__pool_set_step(before);
  if (status != NULL && atomic_load(&step->stopped) != 0 && !step->has_told) {
    rheos_status_free(status);
    status = rheos__step_error(step);
  }
  if (rheos__step_is_observed(step)) rheos__observe_step_ended(step, status);
  rheos__step_deinit(step);
  leave_run(session);
  return status;
}

// The arrays of ids of a call, few of them on the stack.
typedef struct id_arrays {
  rheos__edge few_feeds[FEW], few_fetches[FEW];
  int32_t few_targets[FEW];
  rheos_tensor *few_values[FEW], *few_results[FEW];
  void *block;  // when they are many
  rheos__edge *feeds, *fetches;
  int32_t *targets;
  rheos_tensor **values, **results;
} id_arrays;

static rheos_status *id_arrays_init(id_arrays *a, size_t num_feeds, size_t num_fetches,
                                    size_t num_targets) {
  a->feeds = a->few_feeds;
  a->fetches = a->few_fetches;
  a->targets = a->few_targets;
  a->values = a->few_values;
  a->results = a->few_results;
  a->block = NULL;
  if (num_feeds <= FEW && num_fetches <= FEW && num_targets <= FEW) return NULL;
  if (num_feeds > INT32_MAX || num_fetches > INT32_MAX || num_targets > INT32_MAX) {
    return RHEOS_INVALID("%zu feeds, %zu fetches and %zu targets: at most %d of each", num_feeds,
                         num_fetches, num_targets, INT32_MAX);
  }
  size_t size = (num_feeds + num_fetches) * (sizeof(rheos__edge) + sizeof(rheos_tensor *)) +
                num_targets * sizeof(int32_t);
  char *block = rheos__alloc(size);
  if (block == NULL) return rheos__out_of_memory();
  a->block = block;
  a->values = (rheos_tensor **)block;
  a->results = a->values + num_feeds;
  a->feeds = (rheos__edge *)(a->results + num_fetches);
  a->fetches = a->feeds + num_feeds;
  a->targets = (int32_t *)(a->fetches + num_fetches);
  return NULL;
}

static rheos_status *fill_signature(const rheos_session *session, id_arrays *a,
                                    const rheos_feed *feeds, size_t num_feeds,
                                    const rheos_fetch *fetches, size_t num_fetches,
                                    const rheos_operation *targets, size_t num_targets,
                                    rheos__signature_ids *out_signature) {
  for (size_t i = 0; i < num_feeds; ++i) {
    RHEOS_TRY(check_output(session, feeds[i].output, "feeds", i));
    a->feeds[i] = edge_of(feeds[i].output);
    a->values[i] = feeds[i].value;
  }
  for (size_t i = 0; i < num_fetches; ++i) {
    RHEOS_TRY(check_output(session, fetches[i].output, "fetches", i));
    a->fetches[i] = edge_of(fetches[i].output);
  }
  for (size_t i = 0; i < num_targets; ++i) {
    RHEOS_TRY(check_target(session, targets[i], i));
    a->targets[i] = targets[i].id;
  }
  *out_signature = (rheos__signature_ids){.feeds = a->feeds,
                                          .fetches = a->fetches,
                                          .targets = a->targets,
                                          .num_feeds = (int32_t)num_feeds,
                                          .num_fetches = (int32_t)num_fetches,
                                          .num_targets = (int32_t)num_targets};
  rheos__signature_ids_hash(out_signature);
  return NULL;
}

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
  id_arrays a;
  RHEOS_TRY(id_arrays_init(&a, num_feeds, num_fetches, num_targets));
  rheos__signature_ids s;
  rheos__cached_plan *plan = NULL;
  rheos_status *status =
      fill_signature(session, &a, feeds, num_feeds, fetches, num_fetches, targets, num_targets, &s);
  if (status == NULL) status = enter_run(session, NULL, &s, options, &plan);
  if (status == NULL) {
    status = run_plan(session, plan, a.values, NULL, a.results, options);
    rheos__cached_plan_unref(plan);
    leave_run(session);
    for (size_t i = 0; i < num_fetches; ++i) fetches[i].value = a.results[i];
  }
  rheos__free(a.block);
  return status;
}

// ---- Runs in parts

rheos_status *rheos_session_partial_setup(rheos_session *session, const rheos_output *feeds,
                                          size_t num_feeds, const rheos_output *fetches,
                                          size_t num_fetches, const rheos_operation *targets,
                                          size_t num_targets, int64_t *out_handle) {
  RHEOS_OUT(out_handle);
  if (num_fetches == 0 && num_targets == 0) {
    return RHEOS_INVALID("Must specify at least one target to fetch or execute.");
  }
  rheos_callable *callable = NULL;  // checks the ids, and the plan of the whole, and keeps the ids
  RHEOS_TRY(rheos_callable_new(session, feeds, num_feeds, fetches, num_fetches, targets,
                               num_targets, &callable));
  const rheos__signature_ids ids = {.feeds = callable->feeds,
                                    .fetches = callable->fetches,
                                    .targets = callable->targets,
                                    .num_feeds = callable->num_feeds,
                                    .num_fetches = callable->num_fetches,
                                    .num_targets = callable->num_targets};
  pthread_mutex_lock(&session->mutex);
  const int64_t handle = ++session->last_handle;
  pthread_mutex_unlock(&session->mutex);
  rheos__partial_run *run = NULL;
  rheos_status *status = rheos__partial_run_new(session->graph, &ids, handle, &run);
  rheos_callable_free(callable);
  RHEOS_TRY(status);
  pthread_mutex_lock(&session->mutex);
  if (atomic_load(&session->closed)) {
    status = closed_error();
  } else {
    run->next = session->partial_runs;
    session->partial_runs = run;
    *out_handle = handle;
  }
  pthread_mutex_unlock(&session->mutex);
  if (status != NULL) rheos__partial_run_unref(run);
  return status;
}

// Counts the caller in, and the run for it, as enter_run() does.
static rheos_status *enter_partial_run(rheos_session *session, int64_t handle,
                                       rheos__partial_run **out_run) {
  pthread_mutex_lock(&session->mutex);
  rheos_status *status = enter(session);
  rheos__partial_run *run = session->partial_runs;
  while (run != NULL && run->handle != handle) run = run->next;
  if (status == NULL && run == NULL) {
    leave(session);
    status = RHEOS_INVALID("Must run 'setup' before performing partial runs!");
  }
  if (status == NULL) *out_run = rheos__partial_run_ref(run);
  pthread_mutex_unlock(&session->mutex);
  return status;
}

void rheos_session_partial_end(rheos_session *session, int64_t handle) {
  if (session == NULL) return;
  rheos__partial_run *found = NULL;
  pthread_mutex_lock(&session->mutex);
  for (rheos__partial_run **link = &session->partial_runs; *link != NULL; link = &(*link)->next) {
    if ((*link)->handle != handle) continue;
    found = *link;
    *link = found->next;
    break;
  }
  pthread_mutex_unlock(&session->mutex);
  rheos__partial_run_unref(found);
}

static rheos_status *run_part(rheos_session *session, rheos__part *part,
                              const rheos_run_options *options) {
  if (part->ids.num_fetches == 0 && part->ids.num_targets == 0) return NULL;
  rheos__cached_plan *plan = NULL;
  RHEOS_TRY(enter_run(session, NULL, &part->ids, options, &plan));
  rheos_status *status = run_plan(session, plan, part->values, NULL, part->results, options);
  rheos__cached_plan_unref(plan);
  leave_run(session);
  return status;
}

// With the run's mutex held. `*out_is_over`: the handle stands for nothing any more.
static rheos_status *run_next(rheos_session *session, rheos__partial_run *run,
                              const rheos__signature_ids *ids, rheos_tensor *const *values,
                              const rheos_run_options *options, rheos_tensor **out_values,
                              bool *out_is_over) {
  for (int32_t i = 0; i < ids->num_feeds; ++i) {
    RHEOS_TRY(check_feed(session, ids->feeds[i], values[i]));
  }
  rheos__part part;
  rheos_status *status = rheos__partial_run_begin(run, ids, values, &part);
  if (status == NULL) {
    status = run_part(session, &part, options);
    if (status == NULL) status = rheos__partial_run_finish(run, ids, &part);
    *out_is_over = status != NULL || rheos__partial_run_is_over(run);
  }
  for (int32_t i = 0; status == NULL && i < ids->num_fetches; ++i) {
    out_values[i] = rheos_tensor_ref(part.results[i]);
  }
  rheos__part_deinit(&part);
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
  id_arrays a;
  RHEOS_TRY(id_arrays_init(&a, num_feeds, num_fetches, 0));
  rheos__signature_ids ids;
  rheos__partial_run *run = NULL;
  rheos_status *status =
      fill_signature(session, &a, feeds, num_feeds, fetches, num_fetches, NULL, 0, &ids);
  if (status == NULL) status = enter_partial_run(session, handle, &run);
  if (status == NULL) {
    bool is_over = false;
    for (size_t i = 0; i < num_fetches; ++i) a.results[i] = NULL;
    pthread_mutex_lock(&run->mutex);
    status = run_next(session, run, &ids, a.values, options, a.results, &is_over);
    pthread_mutex_unlock(&run->mutex);
    if (is_over) rheos_session_partial_end(session, handle);
    rheos__partial_run_unref(run);
    leave_run(session);
    for (size_t i = 0; i < num_fetches; ++i) fetches[i].value = a.results[i];
  }
  rheos__free(a.block);
  return status;
}

// ---- Callables

static rheos_status *copy_ids(rheos_callable *callable, const rheos_output *feeds,
                              const rheos_output *fetches, const rheos_operation *targets) {
  callable->feeds = rheos__alloc_array((size_t)callable->num_feeds, sizeof *callable->feeds);
  callable->fetches = rheos__alloc_array((size_t)callable->num_fetches, sizeof *callable->fetches);
  callable->targets = rheos__alloc_array((size_t)callable->num_targets, sizeof *callable->targets);
  if (callable->feeds == NULL || callable->fetches == NULL || callable->targets == NULL) {
    return rheos__out_of_memory();
  }
  for (int32_t i = 0; i < callable->num_feeds; ++i) {
    RHEOS_TRY(check_output(callable->session, feeds[i], "feeds", i));
    callable->feeds[i] = edge_of(feeds[i]);
  }
  for (int32_t i = 0; i < callable->num_fetches; ++i) {
    RHEOS_TRY(check_output(callable->session, fetches[i], "fetches", i));
    callable->fetches[i] = edge_of(fetches[i]);
  }
  for (int32_t i = 0; i < callable->num_targets; ++i) {
    RHEOS_TRY(check_target(callable->session, targets[i], i));
    callable->targets[i] = targets[i].id;
  }
  return NULL;
}

static rheos_status *plan_first(rheos_callable *callable) {
  rheos_session *session = callable->session;
  pthread_mutex_lock(&session->mutex);
  rheos_status *status = enter(session);
  if (status == NULL) {
    status = plan_callable(callable, NULL, &callable->plan);
    leave(session);
  }
  pthread_mutex_unlock(&session->mutex);
  return status;
}

rheos_status *rheos_callable_new(rheos_session *session, const rheos_output *feeds,
                                 size_t num_feeds, const rheos_output *fetches, size_t num_fetches,
                                 const rheos_operation *targets, size_t num_targets,
                                 rheos_callable **out_callable) {
  RHEOS_OUT(out_callable);
  RHEOS_NEED(session);
  RHEOS_NEED_LIST(feeds, num_feeds);
  RHEOS_NEED_LIST(fetches, num_fetches);
  RHEOS_NEED_LIST(targets, num_targets);
  if (num_feeds > INT32_MAX || num_fetches > INT32_MAX || num_targets > INT32_MAX) {
    return RHEOS_INVALID("%zu feeds, %zu fetches and %zu targets: at most %d of each", num_feeds,
                         num_fetches, num_targets, INT32_MAX);
  }
  rheos_callable *callable = rheos__alloc_zeroed(sizeof *callable);
  if (callable == NULL) return rheos__out_of_memory();
  callable->session = session;
  callable->num_feeds = (int32_t)num_feeds;
  callable->num_fetches = (int32_t)num_fetches;
  callable->num_targets = (int32_t)num_targets;
  rheos_status *status = copy_ids(callable, feeds, fetches, targets);
  if (status == NULL) status = plan_first(callable);
  if (status != NULL) {
    rheos_callable_free(callable);
    return status;
  }
  *out_callable = callable;
  return NULL;
}

void rheos_callable_free(rheos_callable *callable) {
  if (callable == NULL) return;
  rheos__cached_plan_unref(callable->plan);
  rheos__bound_free(callable->bound);
  rheos__free(callable->feeds);
  rheos__free(callable->fetches);
  rheos__free(callable->targets);
  rheos__free(callable);
}

static rheos_status *running_error(void) {
  return rheos_status_new(RHEOS_FAILED_PRECONDITION,
                          "the bound callable is running, and has its tensors but once");
}

// `bound` or `out_values` is NULL.
static rheos_status *run_callable(rheos_callable *callable, rheos_tensor *const *values,
                                  const rheos__bound *bound, rheos_tensor **out_values,
                                  const rheos_run_options *options, size_t options_bytes) {
  rheos_run_options known;
  if (options != NULL) {
    RHEOS_TRY(RHEOS_READ_OPTIONS(rheos_run_options, options, options_bytes, &known));
    options = &known;
  }
  rheos_session *session = callable->session;
  rheos__cached_plan *plan = NULL;
  RHEOS_TRY(enter_run(session, callable, NULL, options, &plan));
  rheos_status *status = run_plan(session, plan, values, bound, out_values, options);
  rheos__cached_plan_unref(plan);
  leave_run(session);
  return status;
}

rheos_status *rheos_callable_run_sized(rheos_callable *callable, rheos_tensor *const *values,
                                       rheos_tensor **out_values, const rheos_run_options *options,
                                       size_t options_bytes) {
  RHEOS_NEED(callable);
  RHEOS_NEED_LIST(out_values, (size_t)callable->num_fetches);
  for (int32_t i = 0; i < callable->num_fetches; ++i) out_values[i] = NULL;
  RHEOS_NEED_LIST(values, (size_t)callable->num_feeds);
  return run_callable(callable, values, NULL, out_values, options, options_bytes);
}

rheos_status *rheos_callable_bind(rheos_callable *callable, rheos_tensor *const *values,
                                  rheos_tensor *const *results) {
  RHEOS_NEED(callable);
  RHEOS_NEED_LIST(values, (size_t)callable->num_feeds);
  RHEOS_NEED_LIST(results, (size_t)callable->num_fetches);
  if (callable->bound != NULL && atomic_load(&callable->bound->is_running)) return running_error();
  rheos__bound_free(callable->bound);
  callable->bound = NULL;
  return rheos__bound_new(values, callable->num_feeds, results, callable->num_fetches,
                          &callable->bound);
}

rheos_status *rheos_callable_run_bound_sized(rheos_callable *callable,
                                             const rheos_run_options *options,
                                             size_t options_bytes) {
  RHEOS_NEED(callable);
  rheos__bound *bound = callable->bound;
  if (bound == NULL) {
    return rheos_status_new(RHEOS_FAILED_PRECONDITION, "the callable is not bound to tensors");
  }
  if (atomic_exchange(&bound->is_running, true)) return running_error();
  rheos_status *status = run_callable(callable, bound->values, bound, NULL, options, options_bytes);
  atomic_store(&bound->is_running, false);
  return status;
}

int64_t rheos_callable_cost_ns(const rheos_callable *callable) {
  return callable != NULL ? atomic_load_explicit(&callable->plan->cost_ns, memory_order_relaxed)
                          : 0;
}

// ---- Looking at plans

static rheos_status *first_segment(rheos_session *session, rheos__plan *plan,
                                   const rheos_shape *shapes, const rheos__segment **out_segment) {
  rheos__step step;
  rheos__step_init(&step, session->host, NULL, &session->closed);
  rheos__segment *segment = NULL;
  RHEOS_TRY(rheos__segment_new(plan, NULL, shapes, plan->num_feeds, &step, &segment));
  pthread_mutex_lock(&plan->mutex);
  rheos__segment_link(plan, segment);
  pthread_mutex_unlock(&plan->mutex);
  *out_segment = segment;
  return NULL;
}

rheos_status *rheos__session_plan(rheos_session *session, const rheos__step_ends *ends,
                                  const rheos_shape *shapes, rheos__plan **out_plan,
                                  const rheos__segment **out_segment) {
  *out_plan = NULL;
  *out_segment = NULL;
  rheos_callable *ids = NULL;  // checks the ids and keeps them as a plan wants them
  RHEOS_TRY(rheos_callable_new(session, ends->feeds, ends->num_feeds, ends->fetches,
                               ends->num_fetches, ends->targets, ends->num_targets, &ids));
  rheos__plan_context context = ids->plan->plan->context;
  rheos_status *status =
      rheos__plan_new(session->graph, &context, ids->feeds, ids->num_feeds, ids->fetches,
                      ids->num_fetches, ids->targets, ids->num_targets, out_plan);
  if (status == NULL && (*out_plan)->flow == NULL) {
    status = first_segment(session, *out_plan, shapes, out_segment);
  }
  if (status != NULL) {
    rheos__plan_free(*out_plan);
    *out_plan = NULL;
  }
  rheos_callable_free(ids);
  return status;
}

// ---- What was done

static void add_segments(const rheos__segment *roots, rheos_session_stats *stats) {
  for (const rheos__segment *at = roots; at != NULL; at = at->next) {
    for (const rheos__segment *down = at; down != NULL; down = down->children) {
      stats->arena_bytes += (int64_t)down->memory_bytes;
      stats->num_instructions += down->num_instructions;
    }
  }
}

void rheos_session_get_stats_sized(const rheos_session *session, rheos_session_stats *out_stats,
                                   size_t stats_bytes) {
  if (session == NULL || out_stats == NULL) return;
  rheos_session *unlocked = (rheos_session *)(uintptr_t)session;
  pthread_mutex_lock(&unlocked->mutex);
  rheos_session_stats stats = session->stats;
  stats.num_plans = session->plans.num_made;
  for (size_t i = 0; i < session->plans.num_plans; ++i) {
    rheos__plan *plan = session->plans.plans[i]->plan;
    if (plan == NULL) continue;
    pthread_mutex_lock(&plan->mutex);
    stats.num_specializations += plan->num_specializations;
    add_segments(plan->roots, &stats);
    pthread_mutex_unlock(&plan->mutex);
  }
  pthread_mutex_unlock(&unlocked->mutex);
  memset(out_stats, 0, stats_bytes);
  memcpy(out_stats, &stats, stats_bytes < sizeof stats ? stats_bytes : sizeof stats);
}
