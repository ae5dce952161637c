// Bodies and the calls of them. A site keeps its last call, so that the next one finds the
// way that this one took; calls that a site has no room for wait with the body.
#include "runtime/call/bodies.h"

#include <assert.h>
#include <stdatomic.h>
#include <string.h>

#include "base/text.h"
#include "graph/calls.h"
#include "graph/library.h"
#include "runtime/run/bring.h"
#include "runtime/run/run.h"

// Calls inside calls; each takes some kilobytes of the stack.
enum { MAX_DEPTH = 512, MAX_INFERRED_DEPTH = 32 };

typedef struct body {
  struct body *next, *before;
  rheos__bodies *bodies;
  const rheos__function *function;
  rheos_graph *graph;             // owned: that of a function of a library, else NULL
  const rheos__graph_part *part;  // that the function is the part of; NULL: it is of a library
  pthread_mutex_t mutex;
  rheos__plan *plan;  // made by the first call; the mutex guards that
  rheos__resources
      *state;  // what its nodes keep under their names; NULL: another has it, see below
  rheos__resource
      *of_call;  // owned: the state that the one call has which this is the body of; or NULL
  rheos__site_call *idle;  // this and what follows by the mutex of all bodies
  rheos__site *sites;
  bool is_forgotten;  // who calls it goes on; new sites get another one
} body;

// What the nodes of a function keep for one of the calls of it, kept where the caller's nodes have
// theirs: as if the body stood in the call's place, calls of one function do not share random
// numbers.
typedef struct call_state {
  rheos__resource base;
  rheos__resources *own;
} call_state;

static rheos_status *init_call_state(rheos__resource *resource, const void *argument) {
  (void)argument;
  call_state *state = (call_state *)resource;
  state->own = rheos__resources_new();
  return state->own == NULL ? rheos__out_of_memory() : NULL;
}

static void deinit_call_state(rheos__resource *resource) {
  rheos__resources_free(((call_state *)resource)->own);
}

static const rheos__resource_kind call_state_kind = {
    .name = "state of a call",
    .size_bytes = sizeof(call_state),
    .init = init_call_state,
    .deinit = deinit_call_state,
};

struct rheos__site_call {
  rheos__site_call *next;
  body *of;
  rheos__call call;
  rheos__step *step;  // that it is in now
};

struct rheos__site {
  rheos__site *next, *before;
  body *of;
  _Atomic(rheos__site_call *) idle;
};

struct rheos__bodies {
  _Atomic int32_t references;
  pthread_mutex_t mutex;
  _Atomic bool is_closed;  // the session has ended: nothing is called any more
  rheos__plan_context context;
  body *first;
  rheos__bodies *whole;   // the home's, of which these are those on a device; NULL: they are it
  rheos__bodies *others;  // on devices, each with the next; of the home's, whose mutex guards it
  char *device;           // the context's default device; NULL: none
};

// ---- All of them

rheos__bodies *rheos__bodies_new(const rheos__plan_context *context) {
  rheos__bodies *bodies = rheos__alloc_zeroed(sizeof *bodies);
  if (bodies == NULL) return NULL;
  atomic_init(&bodies->references, 1);
  pthread_mutex_init(&bodies->mutex, NULL);
  bodies->context = *context;
  bodies->context.bodies = bodies;
  return bodies;
}

static rheos__bodies *new_on(rheos__bodies *whole, const char *device) {
  rheos__bodies *bodies = rheos__bodies_new(&whole->context);
  if (bodies == NULL) return NULL;
  bodies->device = rheos__strdup(device);
  if (bodies->device == NULL) {
    rheos__bodies_unref(bodies);
    return NULL;
  }
  bodies->context.default_device = bodies->device;
  bodies->whole = whole;
  bodies->others = whole->others;
  whole->others = bodies;
  return bodies;
}

rheos__bodies *rheos__bodies_on(rheos__bodies *bodies, const char *device) {
  rheos__bodies *whole = bodies->whole != NULL ? bodies->whole : bodies;
  pthread_mutex_lock(&whole->mutex);
  rheos__bodies *found = whole->others;
  while (found != NULL && strcmp(found->device, device) != 0) found = found->others;
  if (found == NULL) found = new_on(whole, device);
  pthread_mutex_unlock(&whole->mutex);
  return found != NULL ? found : bodies;
}

// What comes behind `at` among `bodies` and, if they are a home's, those on devices: these may
// outlive it, and then are by themselves.
static rheos__bodies *next_of(rheos__bodies *bodies, rheos__bodies *at) {
  if (bodies->whole != NULL) return NULL;
  pthread_mutex_lock(&bodies->mutex);
  rheos__bodies *next = at->others;
  pthread_mutex_unlock(&bodies->mutex);
  return next;
}

bool rheos__bodies_are_called(rheos__bodies *bodies) {
  for (rheos__bodies *each = bodies; each != NULL; each = next_of(bodies, each)) {
    if (atomic_load(&each->references) > 1) return true;
  }
  return false;
}

static void free_call(rheos__site_call *call) {
  rheos__call_drop(&call->call);
  rheos__free(call);
}

// A call that nothing runs in, taken from its place; NULL if there is none.
static rheos__site_call *take_any_call(rheos__bodies *bodies) {
  for (body *b = bodies->first; b != NULL; b = b->next) {
    rheos__site_call *call = b->idle;
    if (call != NULL) {
      b->idle = call->next;
      return call;
    }
    for (rheos__site *site = b->sites; site != NULL; site = site->next) {
      call = atomic_exchange(&site->idle, NULL);
      if (call != NULL) return call;
    }
  }
  return NULL;
}

// Invocations first: their workspaces have kernels that borrow from segments of the plans.
static void clear_calls(rheos__bodies *bodies) {
  atomic_store(&bodies->is_closed, true);
  for (;;) {
    pthread_mutex_lock(&bodies->mutex);
    rheos__site_call *call = take_any_call(bodies);
    pthread_mutex_unlock(&bodies->mutex);
    if (call == NULL) break;
    free_call(call);
  }
}

// A plan takes the bodies of its parts with it.
static void clear_plans(rheos__bodies *bodies) {
  for (body *b = bodies->first; b != NULL;) {
    rheos__plan *plan = b->plan;
    b->plan = NULL;
    rheos__plan_free(plan);
    b = plan != NULL ? bodies->first : b->next;
  }
}

void rheos__bodies_clear(rheos__bodies *bodies) {
  if (bodies == NULL) return;
  for (rheos__bodies *each = bodies; each != NULL; each = next_of(bodies, each)) clear_calls(each);
  for (rheos__bodies *each = bodies; each != NULL; each = next_of(bodies, each)) clear_plans(each);
}

// The mutex is held.
static void unlink_body(body *b) {
  *(b->before != NULL ? &b->before->next : &b->bodies->first) = b->next;
  if (b->next != NULL) b->next->before = b->before;
}

// The body is in no list, and nothing runs in it.
static void free_body(body *b) {
  while (b->idle != NULL) {
    rheos__site_call *call = b->idle;
    b->idle = call->next;
    free_call(call);
  }
  rheos__plan_free(b->plan);
  rheos__resources_free(b->state);
  rheos__resource_unref(b->of_call);
  pthread_mutex_destroy(&b->mutex);
  rheos_graph_unref(b->graph);
  rheos__free(b);
}

static body *take_uncalled(rheos__bodies *bodies) {
  pthread_mutex_lock(&bodies->mutex);
  body *b = bodies->first;
  while (b != NULL &&
         (b->part != NULL || b->sites != NULL ||
          !(b->of_call != NULL || b->is_forgotten || atomic_load(&b->function->is_removed)))) {
    b = b->next;
  }
  if (b != NULL) unlink_body(b);
  pthread_mutex_unlock(&bodies->mutex);
  return b;
}

static body *take_any_uncalled(rheos__bodies *bodies) {
  body *b = NULL;
  for (rheos__bodies *each = bodies; each != NULL && b == NULL; each = next_of(bodies, each)) {
    b = take_uncalled(each);
  }
  return b;
}

void rheos__bodies_sweep(rheos__bodies *bodies) {
  // A plan that goes takes its sites along, so that there may be others then.
  for (body *b; (b = take_any_uncalled(bodies)) != NULL;) free_body(b);
}

void rheos__bodies_forget(rheos__bodies *bodies) {
  for (rheos__bodies *each = bodies; each != NULL; each = next_of(bodies, each)) {
    pthread_mutex_lock(&each->mutex);
    for (body *b = each->first; b != NULL; b = b->next) b->is_forgotten = b->part == NULL;
    pthread_mutex_unlock(&each->mutex);
  }
  rheos__bodies_sweep(bodies);
}

void rheos__bodies_unref(rheos__bodies *bodies) {
  if (bodies == NULL) return;
  if (atomic_fetch_sub_explicit(&bodies->references, 1, memory_order_acq_rel) > 1) return;
  while (bodies->whole == NULL && bodies->others != NULL) {
    rheos__bodies *other = bodies->others;
    bodies->others = other->others;
    rheos__bodies_unref(other);
  }
  while (bodies->first != NULL) {
    body *b = bodies->first;
    bodies->first = b->next;
    assert(b->plan == NULL && b->idle == NULL && b->sites == NULL);
    rheos__resources_free(b->state);
    rheos__resource_unref(b->of_call);
    pthread_mutex_destroy(&b->mutex);
    rheos_graph_unref(b->graph);
    rheos__free(b);
  }
  pthread_mutex_destroy(&bodies->mutex);
  rheos__free(bodies->device);
  rheos__free(bodies);
}

// ---- Sites

static rheos_status *check_types(const rheos__function *function, const rheos__site_types *types) {
  if (function->num_args != types->num_args || function->num_results != types->num_results) {
    return RHEOS_INVALID("function %s takes %d and gives %d, the call has %d and wants %d",
                         function->name, (int)function->num_args, (int)function->num_results,
                         (int)types->num_args, (int)types->num_results);
  }
  for (int32_t i = 0; i < types->num_args; ++i) {
    const rheos_dtype dtype = rheos__function_arg_dtype(function, i);
    if (dtype == types->args[i]) continue;
    return RHEOS_INVALID("argument %d of function %s is %s, the call has %s", (int)i,
                         function->name, rheos_dtype_name(dtype), rheos_dtype_name(types->args[i]));
  }
  for (int32_t i = 0; i < types->num_results; ++i) {
    const rheos_dtype dtype = rheos__function_result_dtype(function, i);
    if (types->results[i] == RHEOS_INVALID_DTYPE || dtype == types->results[i]) continue;
    return RHEOS_INVALID("result %d of function %s is %s, the call wants %s", (int)i,
                         function->name, rheos_dtype_name(dtype),
                         rheos_dtype_name(types->results[i]));
  }
  return NULL;
}

rheos_status *rheos__site_types_of(const rheos__prepare *p, const rheos_func *func,
                                   rheos_dtype **out_args, int32_t *out_num_args,
                                   rheos_dtype **out_results, int32_t *out_num_results) {
  const rheos__function *f;
  RHEOS_TRY(rheos__graph_function(p->graph, func, &f));
  rheos_dtype *args = rheos__alloc_array((size_t)f->num_args, sizeof *args);
  rheos_dtype *results = rheos__alloc_array((size_t)f->num_results, sizeof *results);
  if (args == NULL || results == NULL) {
    rheos__free(args);
    rheos__free(results);
    return rheos__out_of_memory();
  }
  for (int32_t i = 0; i < f->num_args; ++i) args[i] = rheos__function_arg_dtype(f, i);
  for (int32_t i = 0; i < f->num_results; ++i) results[i] = rheos__function_result_dtype(f, i);
  *out_args = args;
  *out_num_args = f->num_args;
  *out_results = results;
  *out_num_results = f->num_results;
  return NULL;
}

// The mutex is held.
static body *new_body(rheos__bodies *bodies, const rheos__function *function, bool is_part) {
  body *b = rheos__alloc_zeroed(sizeof *b);
  if (b == NULL) return NULL;
  b->bodies = bodies;
  b->function = function;
  // The library may lose the function before the session ends.
  if (!is_part) b->graph = rheos_graph_ref(function->graph);
  pthread_mutex_init(&b->mutex, NULL);
  b->next = bodies->first;
  if (b->next != NULL) b->next->before = b;
  bodies->first = b;
  return b;
}

static body *body_of(rheos__bodies *bodies, const rheos__function *function,
                     rheos__resource *of_call) {
  for (body *b = bodies->first; b != NULL; b = b->next) {
    if (b->function == function && b->of_call == of_call && !b->is_forgotten) return b;
  }
  body *b = new_body(bodies, function, false);
  if (b != NULL && of_call != NULL) b->of_call = rheos__resource_ref(of_call);
  return b;
}

static body *body_of_part(rheos__bodies *bodies, rheos__graph_part *part) {
  if (part->body == NULL) {
    part->body = new_body(bodies, &part->function, true);
    if (part->body != NULL) part->body->part = part;
  }
  return part->body;
}

// Of one of both.
static rheos_status *new_site(rheos__bodies *bodies, const rheos__function *function,
                              rheos__graph_part *part, rheos__resource *of_call,
                              rheos__site **out_site) {
  rheos__site *site = rheos__alloc_zeroed(sizeof *site);
  if (site == NULL) return rheos__out_of_memory();
  pthread_mutex_lock(&bodies->mutex);
  site->of = part != NULL ? body_of_part(bodies, part) : body_of(bodies, function, of_call);
  if (site->of != NULL) {
    site->next = site->of->sites;
    if (site->next != NULL) site->next->before = site;
    site->of->sites = site;
  }
  pthread_mutex_unlock(&bodies->mutex);
  if (site->of == NULL) {
    rheos__free(site);
    return rheos__out_of_memory();
  }
  atomic_fetch_add_explicit(&bodies->references, 1, memory_order_relaxed);
  *out_site = site;
  return NULL;
}

static rheos_status *check_has_bodies(const rheos__prepare *p) {
  if (p->bodies != NULL) return NULL;
  return rheos_status_new(RHEOS_UNIMPLEMENTED, "functions can only be called in a session");
}

// Whether nodes of a function may keep something under their names, those of functions that it
// calls too.
static bool keeps_state(const rheos_graph *graph) {
  const unsigned others = RHEOS_OP_READS_VARIABLE | RHEOS_OP_WRITES | RHEOS_OP_VARIABLE;
  const int32_t count = rheos_graph_num_operations(graph);
  for (int32_t id = 0; id < count; ++id) {
    const unsigned flags = rheos__graph_node(graph, id)->signature->op->flags;
    if ((flags & RHEOS_OP_STATEFUL) != 0 && (flags & others) == 0) return true;
  }
  return false;
}

// Of a node that calls a function; a node may call several. NULL where nothing is kept.
static rheos_status *state_of_call(const rheos__prepare *p, const rheos__function *function,
                                   rheos__resource **out_state) {
  rheos__resources *around = p->node_resources != NULL ? p->node_resources : p->resources;
  if (around == NULL || p->node_name == NULL) return NULL;
  rheos__text name = {0};
  rheos__text_add_string(&name, p->node_name);
  rheos__text_add_string(&name, ":");
  rheos__text_add(&name, function->name, strlen(function->name) + 1);
  rheos_status *const status =
      name.failed ? rheos__out_of_memory()
                  : rheos__resources_get(around, &call_state_kind, name.data, NULL, out_state);
  rheos__text_deinit(&name);
  return status;
}

rheos_status *rheos__site_new(const rheos__prepare *p, const rheos_func *func,
                              const rheos__site_types *types, rheos__site **out_site) {
  const rheos__function *function;
  *out_site = NULL;
  RHEOS_TRY(check_has_bodies(p));
  RHEOS_TRY(rheos__graph_function(p->graph, func, &function));
  RHEOS_TRY(check_types(function, types));
  rheos__resource *of_call = NULL;
  if (keeps_state(function->graph)) RHEOS_TRY(state_of_call(p, function, &of_call));
  rheos_status *const status = new_site(p->bodies, function, NULL, of_call, out_site);
  rheos__resource_unref(of_call);
  return status;
}

const rheos__function *rheos__site_function(const rheos__site *site) { return site->of->function; }

rheos__bodies *rheos__site_bodies_ref(const rheos__site *site) {
  atomic_fetch_add_explicit(&site->of->bodies->references, 1, memory_order_relaxed);
  return site->of->bodies;
}

rheos_status *rheos__site_new_like(const rheos__site *site, rheos__resources *around,
                                   rheos__site **out_site) {
  const rheos__function *function = site->of->function;
  rheos__resource *of_call = NULL;
  *out_site = NULL;
  RHEOS_TRY(rheos__resources_get(around, &call_state_kind, function->name, NULL, &of_call));
  rheos_status *const status = new_site(site->of->bodies, function, NULL, of_call, out_site);
  rheos__resource_unref(of_call);
  return status;
}

rheos_status *rheos__site_new_in(const rheos__site *site, rheos__bodies *bodies,
                                 rheos__site **out_site) {
  *out_site = NULL;
  return new_site(bodies, site->of->function, NULL, site->of->of_call, out_site);
}

rheos_status *rheos__site_new_of_gradient(const rheos__prepare *p, const rheos_func *func,
                                          const rheos__site_types *types, rheos__site **out_site) {
  const rheos__function *function;
  *out_site = NULL;
  RHEOS_TRY(check_has_bodies(p));
  RHEOS_TRY(rheos__symbolic_gradient(p->graph, func, &function));
  RHEOS_TRY(check_types(function, types));
  return new_site(p->bodies, function, NULL, NULL, out_site);
}

rheos_status *rheos__site_new_of_part(const rheos__prepare *p, rheos__graph_part *part,
                                      rheos__site **out_site) {
  *out_site = NULL;
  return new_site(p->bodies, NULL, part, NULL, out_site);
}
static void keep_call(body *b, rheos__site_call *call) {
  pthread_mutex_lock(&b->bodies->mutex);
  call->next = b->idle;
  b->idle = call;
  pthread_mutex_unlock(&b->bodies->mutex);
}

void rheos__site_free(rheos__site *site) {
  if (site == NULL) return;
  rheos__bodies *bodies = site->of->bodies;
  rheos__site_call *call = atomic_exchange(&site->idle, NULL);
  if (call != NULL) keep_call(site->of, call);
  pthread_mutex_lock(&bodies->mutex);
  *(site->before != NULL ? &site->before->next : &site->of->sites) = site->next;
  if (site->next != NULL) site->next->before = site->before;
  pthread_mutex_unlock(&bodies->mutex);
  rheos__free(site);
  rheos__bodies_unref(bodies);
}

// ---- Plans

static rheos_status *make_plan(body *b) {
  const rheos__function *f = b->function;
  rheos__plan_context context = b->bodies->context;
  context.body = b->part != NULL ? b->part->role : f->name;
  if (b->part != NULL) {
    context.done = b->part->done;
    context.num_done = b->part->num_done;
    context.depth = b->part->depth;
    context.node_resources = b->part->node_resources;
  } else {
    if (b->of_call == NULL && b->state == NULL) b->state = rheos__resources_new();
    if (b->of_call == NULL && b->state == NULL) return rheos__out_of_memory();
    context.node_resources = b->of_call != NULL ? ((call_state *)b->of_call)->own : b->state;
  }
  return rheos__plan_new(f->graph, &context, f->args, f->num_args, f->results, f->num_results,
                         f->targets, f->num_targets, &b->plan);
}

static rheos_status *plan_of(body *b, rheos__plan **out_plan) {
  if (atomic_load(&b->bodies->is_closed)) {
    return rheos_status_new(RHEOS_CANCELLED, "the session that the function is of is closed");
  }
  pthread_mutex_lock(&b->mutex);
  rheos_status *status = b->plan == NULL ? make_plan(b) : NULL;
  *out_plan = b->plan;
  pthread_mutex_unlock(&b->mutex);
  return status;
}

static rheos_status *plan_of_either(rheos__bodies *bodies, const rheos__function *function,
                                    rheos__graph_part *part, const rheos__plan **out_plan) {
  pthread_mutex_lock(&bodies->mutex);
  body *b = part != NULL ? body_of_part(bodies, part) : body_of(bodies, function, NULL);
  pthread_mutex_unlock(&bodies->mutex);
  if (b == NULL) return rheos__out_of_memory();
  rheos__plan *plan = NULL;
  RHEOS_TRY(plan_of(b, &plan));
  *out_plan = plan;
  return NULL;
}

rheos_status *rheos__bodies_plan(rheos__bodies *bodies, const rheos__function *function,
                                 const rheos__plan **out_plan) {
  return plan_of_either(bodies, function, NULL, out_plan);
}

rheos_status *rheos__graph_part_plan(rheos__bodies *bodies, rheos__graph_part *part,
                                     const rheos__plan **out_plan) {
  return plan_of_either(bodies, NULL, part, out_plan);
}

void rheos__graph_part_forget(rheos__bodies *bodies, rheos__graph_part *part) {
  body *b = part->body;
  if (b == NULL) return;
  part->body = NULL;
  pthread_mutex_lock(&bodies->mutex);
  assert(b->sites == NULL);
  unlink_body(b);
  pthread_mutex_unlock(&bodies->mutex);
  free_body(b);
}

// ---- What results will be

// Bodies that a step is asking about, innermost first: one that calls itself does not know.
struct rheos__inferring {
  const body *of;
  const struct rheos__inferring *outer;
};

static bool is_asked_already(const rheos__step *step, const body *b) {
  int depth = 0;
  for (const struct rheos__inferring *at = step->inferring; at != NULL; at = at->outer) {
    if (at->of == b || ++depth >= MAX_INFERRED_DEPTH) return true;
  }
  return false;
}

void rheos__site_infer(rheos__site *site, const rheos__prepare *p, const rheos_shape *shapes,
                       rheos__resource *const *cells, rheos_shape *out_shapes,
                       rheos__resource **out_cells) {
  body *b = site->of;
  for (int32_t i = 0; i < b->function->num_results; ++i) {
    out_shapes[i] = RHEOS_UNKNOWN_SHAPE;
    out_cells[i] = NULL;
  }
  rheos__step *step = p->step;
  if (step == NULL || is_asked_already(step, b)) return;
  const struct rheos__inferring inferring = {b, step->inferring};
  step->inferring = &inferring;
  rheos__plan *plan = NULL;
  rheos_status *status = plan_of(b, &plan);
  if (status == NULL) {
    const rheos__key key = {.shapes = shapes, .cells = cells, .count = plan->num_feeds};
    status = rheos__plan_describe(plan, &key, step, out_shapes, out_cells);
  }
  step->inferring = inferring.outer;
  rheos_status_free(status);  // a run meets it again, if it comes there
}

// ---- Calls

static rheos_status *new_call(body *b, rheos__site_call **out_call) {
  pthread_mutex_lock(&b->bodies->mutex);
  rheos__site_call *call = b->idle;
  if (call != NULL) b->idle = call->next;
  pthread_mutex_unlock(&b->bodies->mutex);
  if (call == NULL) {
    rheos__plan *plan;
    RHEOS_TRY(plan_of(b, &plan));
    call = rheos__alloc_zeroed(sizeof *call);
    if (call == NULL) return rheos__out_of_memory();
    call->of = b;
    call->call.plan = plan;
  }
  *out_call = call;
  return NULL;
}

rheos_status *rheos__site_enter(rheos__site *site, rheos__step *step, rheos__site_call **out_call) {
  *out_call = NULL;
  if (step->depth >= MAX_DEPTH) {
    return rheos_status_new(RHEOS_RESOURCE_EXHAUSTED,
                            "%s%s: calls lie more than %d deep in each other",
                            site->of->part != NULL ? "a loop or conditional" : "function ",
                            site->of->part != NULL ? "" : site->of->function->name, MAX_DEPTH);
  }
  *out_call = atomic_exchange_explicit(&site->idle, NULL, memory_order_acquire);
  if (*out_call == NULL) RHEOS_TRY(new_call(site->of, out_call));
  ++step->depth;
  (*out_call)->step = step;
  (*out_call)->call.num_runs = 0;
  return NULL;
}

void rheos__site_leave(rheos__site *site, rheos__site_call *call) {
  --call->step->depth;
  rheos__site_call *expected = NULL;
  if (atomic_compare_exchange_strong_explicit(&site->idle, &expected, call, memory_order_release,
                                              memory_order_relaxed)) {
    return;
  }
  keep_call(site->of, call);
}

rheos__call *rheos__site_call_of_plan(rheos__site_call *call) { return &call->call; }

bool rheos__site_call_is_mixed(const rheos__site_call *call) { return call->call.plan->is_mixed; }

rheos_status *rheos__loop_bring(const rheos__site_call *condition, const rheos__site_call *body,
                                int32_t argument, rheos_tensor *tensor,
                                rheos_tensor **out_brought) {
  const rheos__plan *plan = body->call.plan;
  *out_brought = NULL;
  if (condition != NULL && rheos__feed_home(plan, argument) == RHEOS__ANYWHERE) {
    RHEOS_TRY(rheos__bring_argument(condition->call.plan, argument, tensor, out_brought));
  }
  return *out_brought != NULL ? NULL : rheos__bring_to_stay(plan, argument, tensor, out_brought);
}

rheos_status *rheos__site_call_failed_take(const rheos__site_call *call, rheos_status *status) {
  const rheos__graph_part *part = call->of->part;
  if (part != NULL && part->node < 0) return status;  // a stretch
  if (part != NULL) {  // the graph's own nodes are named, and then the loop or conditional
    return rheos__status_within_node_take(status, part->role, part->function.graph, part->node);
  }
  return rheos__status_in_function_take(status, call->of->function->name);
}

rheos_status *rheos__site_call_run(rheos__site_call *call, const rheos__parameters *parameters,
                                   rheos__step *step, rheos_tensor **values) {
  return rheos__site_call_failed_take(call, rheos__call_run(&call->call, parameters, step, values));
}
