// Regions: planned when they first run, then run through calls that remember their way.
#include "runtime/eager/region.h"

#include <rheos/front_end.h>
#include <string.h>

#include "base/hash.h"
#include "base/options.h"
#include "graph/handles.h"
#include "runtime/threads/pool.h"
#include "runtime/run/run.h"

enum { FEW = 16, MAX_BUCKETED = 1024 };

// ---- Life

static rheos_dtype dtype_at(const rheos_graph *graph, rheos__edge edge) {
  return rheos_dtype_base(rheos__graph_node(graph, edge.id)->outputs[edge.index].dtype);
}

static const rheos_shape *shape_at(const rheos_graph *graph, rheos__edge edge) {
  return rheos__graph_node(graph, edge.id)->outputs[edge.index].shape;
}

static rheos_status *copy_ids(rheos_region *r, const rheos__edge *feeds, const rheos__edge *fetches,
                              const int32_t *targets) {
  r->feeds = rheos__alloc_array((size_t)r->num_feeds + 1, sizeof *r->feeds);
  r->fetches = rheos__alloc_array((size_t)r->num_fetches + 1, sizeof *r->fetches);
  r->targets = rheos__alloc_array((size_t)r->num_targets + 1, sizeof *r->targets);
  r->inputs = rheos__alloc_array((size_t)r->num_feeds + 1, sizeof *r->inputs);
  if (r->feeds == NULL || r->fetches == NULL || r->targets == NULL || r->inputs == NULL) {
    return rheos__out_of_memory();
  }
  if (r->num_feeds > 0) memcpy(r->feeds, feeds, (size_t)r->num_feeds * sizeof *feeds);
  if (r->num_fetches > 0) memcpy(r->fetches, fetches, (size_t)r->num_fetches * sizeof *fetches);
  if (r->num_targets > 0) memcpy(r->targets, targets, (size_t)r->num_targets * sizeof *targets);
  for (int32_t i = 0; i < r->num_feeds; ++i) {
    r->inputs[i] = (rheos__region_input){
        .dtype = dtype_at(r->graph, r->feeds[i]),
        .scalars_fit = rheos_shape_compatible(shape_at(r->graph, r->feeds[i]), &RHEOS_SCALAR),
    };
    if (r->inputs[i].dtype == RHEOS_RESOURCE) r->takes_cells = true;
  }
  return NULL;
}

rheos_status *rheos__region_new(rheos_eager *eager, rheos_graph *graph, const rheos__edge *feeds,
                                int32_t num_feeds, const rheos__edge *fetches, int32_t num_fetches,
                                const int32_t *targets, int32_t num_targets,
                                rheos_region **out_region) {
  *out_region = NULL;
  rheos_region *r = rheos__alloc_zeroed(sizeof *r);
  if (r == NULL) return rheos__out_of_memory();
  atomic_init(&r->references, 1);
  pthread_mutex_init(&r->mutex, NULL);
  r->eager = rheos__eager_ref(eager);
  r->graph = rheos_graph_ref(graph);
  r->node = -1;
  r->num_feeds = num_feeds;
  r->num_fetches = num_fetches;
  r->num_targets = num_targets;
  rheos_status *status = copy_ids(r, feeds, fetches, targets);
  if (status != NULL) {
    rheos_region_unref(r);
    return status;
  }
  *out_region = r;
  return NULL;
}

rheos_region *rheos_region_ref(rheos_region *region) {
  if (region != NULL) atomic_fetch_add_explicit(&region->references, 1, memory_order_relaxed);
  return region;
}

static void free_calls(rheos__region_call *calls) {
  while (calls != NULL) {
    rheos__region_call *next = calls->next;
    rheos__call_drop(&calls->call);
    rheos__free(calls);
    calls = next;
  }
}

static void free_gradients(rheos__region_gradient *gradients) {
  while (gradients != NULL) {
    rheos__region_gradient *next = gradients->next;
    rheos_region_unref(gradients->region);
    rheos__free(gradients->mask);
    rheos__free(gradients->inputs);
    rheos__free(gradients->grads);
    rheos__free(gradients);
    gradients = next;
  }
}

bool rheos__region_is_shared(rheos_region *r) {
  if (r == NULL) return false;
  if (atomic_load_explicit(&r->references, memory_order_acquire) > 1) return true;
  pthread_mutex_lock(&r->mutex);
  rheos_region *recorded = r->recorded;
  const rheos__region_gradient *gradient = r->gradients;
  pthread_mutex_unlock(&r->mutex);
  bool is_shared = rheos__region_is_shared(recorded);
  for (; gradient != NULL && !is_shared; gradient = gradient->next) {
    is_shared = rheos__region_is_shared(gradient->region);
  }
  return is_shared;
}

void rheos_region_unref(rheos_region *r) {
  if (r == NULL) return;
  if (atomic_fetch_sub_explicit(&r->references, 1, memory_order_acq_rel) != 1) return;
  free_gradients(r->gradients);
  rheos_region_unref(r->recorded);
  rheos_region_unref(r->watched);
  free_calls(atomic_load(&r->idle));
  free_calls(r->calls);
  for (int i = 0; r->buckets != NULL && i < RHEOS__REGION_BUCKETS; ++i) free_calls(r->buckets[i]);
  rheos__free(r->buckets);
  rheos__plan_free(r->plan);
  rheos__region_watch_deinit(r);
  rheos__resources_free(r->state);
  rheos__free(r->inputs);
  rheos__free(r->feeds);
  rheos__free(r->fetches);
  rheos__free(r->targets);
  rheos_graph_unref(r->graph);
  rheos__eager_unref(r->eager);
  pthread_mutex_destroy(&r->mutex);
  rheos__free(r);
}

rheos_dtype rheos__region_input_dtype(const rheos_region *region, int32_t index) {
  return region->inputs[index].dtype;
}

rheos_dtype rheos__region_output_dtype(const rheos_region *region, int32_t index) {
  return dtype_at(region->graph, region->fetches[index]);
}

int32_t rheos_region_num_inputs(const rheos_region *region) {
  return region != NULL ? region->num_feeds : 0;
}

int32_t rheos_region_num_outputs(const rheos_region *region) {
  return region != NULL ? region->num_fetches : 0;
}

int64_t rheos_region_cost_ns(const rheos_region *region) {
  return region != NULL ? atomic_load_explicit(&region->cost_ns, memory_order_relaxed) : 0;
}

rheos_attr_value rheos_region_attr(const rheos_region *region, const char *name) {
  if (region == NULL || name == NULL || region->node < 0) return (rheos_attr_value){0};
  return rheos_operation_attr((rheos_operation){region->graph, region->node}, name);
}

// ---- Calls

static bool has_state(const rheos_region *r) {
  return (rheos__graph_node(r->graph, r->node)->signature->op->flags & RHEOS_OP_STATEFUL) != 0;
}

// With the region's mutex held. One that watches another has what that one keeps.
static rheos_status *need_state(rheos_region *r, rheos__resources **out_state) {
  rheos_region *keeper = r->watches != NULL ? r->watches : r;
  if (keeper != r) pthread_mutex_lock(&keeper->mutex);
  if (keeper->state == NULL) keeper->state = rheos__resources_new();
  *out_state = keeper->state;
  if (keeper != r) pthread_mutex_unlock(&keeper->mutex);
  return *out_state != NULL ? NULL : rheos__out_of_memory();
}

// The plan, made by the first who wants it. With the region's mutex held.
static rheos_status *need_plan(rheos_region *r) {
  if (r->plan != NULL) return NULL;
  rheos__plan_context context = r->eager->home.context;
  if (r->node >= 0 && has_state(r)) RHEOS_TRY(need_state(r, &context.node_resources));
  if (r->watches != NULL) rheos__region_watch_context(r, &context);
  return rheos__plan_new(r->graph, &context, r->feeds, r->num_feeds, r->fetches, r->num_fetches,
                         r->targets, r->num_targets, &r->plan);
}

static rheos_status *new_call(rheos_region *r, rheos__region_call **out_call) {
  RHEOS_TRY(need_plan(r));
  *out_call = rheos__alloc_zeroed(sizeof **out_call);
  if (*out_call == NULL) return rheos__out_of_memory();
  (*out_call)->call.plan = r->plan;
  return NULL;
}

static rheos_status *take_call(rheos_region *r, rheos__region_call **out_call) {
  *out_call = atomic_exchange_explicit(&r->idle, NULL, memory_order_acquire);
  if (*out_call != NULL) return NULL;
  rheos_status *status = NULL;
  pthread_mutex_lock(&r->mutex);
  if (r->calls != NULL) {
    *out_call = r->calls;
    r->calls = r->calls->next;
    (*out_call)->next = NULL;
  } else {
    status = new_call(r, out_call);
  }
  pthread_mutex_unlock(&r->mutex);
  return status;
}

static void give_call(rheos_region *r, rheos__region_call *call) {
  rheos__region_call *expected = NULL;
  if (atomic_compare_exchange_strong_explicit(&r->idle, &expected, call, memory_order_release,
                                              memory_order_relaxed)) {
    return;
  }
  pthread_mutex_lock(&r->mutex);
  call->next = r->calls;
  r->calls = call;
  pthread_mutex_unlock(&r->mutex);
}

// A sum, so that no cell waits for the one before it: functions take hundreds.
static uint64_t hash_cells(const rheos_region *r, rheos__resource *const *cells) {
  uint64_t hash = 0, factor = 0x9e3779b97f4a7c15u;
  for (int32_t i = 0; i < r->num_feeds; ++i, factor += 0xd1342543de82ef96u) {
    hash += (uint64_t)(uintptr_t)cells[i] * factor;
  }
  return rheos__hash_mix(0, hash);
}

static void free_call(rheos__region_call *call) {
  rheos__call_deinit(&call->call);
  rheos__free(call);
}

// Takes out the calls for cells that nobody else holds: their handles were dropped, so none will
// come again.
static rheos__region_call *take_gone(rheos_region *r) {
  rheos__region_call *gone = NULL;
  for (int32_t i = 0; i < RHEOS__REGION_BUCKETS; ++i) {
    for (rheos__region_call **link = &r->buckets[i]; *link != NULL;) {
      rheos__region_call *call = *link;
      if (call->call.path_length == 0 || !rheos__segment_is_of_the_gone(call->call.path[0])) {
        link = &call->next;
        continue;
      }
      *link = call->next;
      call->next = gone;
      gone = call;
      --r->num_bucketed;
    }
  }
  return gone;
}

static rheos_status *take_call_for(rheos_region *r, rheos__resource *const *cells,
                                   rheos__region_call **out_call) {
  const uint64_t hash = hash_cells(r, cells);
  rheos_status *status = NULL;
  rheos__region_call *gone = NULL;
  *out_call = NULL;
  pthread_mutex_lock(&r->mutex);
  if (r->buckets == NULL) {
    r->buckets = rheos__alloc_array(RHEOS__REGION_BUCKETS, sizeof *r->buckets);
    if (r->buckets == NULL) status = rheos__out_of_memory();
  }
  if (status == NULL) {
    rheos__region_call **link = &r->buckets[hash % RHEOS__REGION_BUCKETS];
    while (*link != NULL && (*link)->cells_hash != hash) link = &(*link)->next;
    if (*link != NULL) {
      *out_call = *link;
      *link = (*link)->next;
      --r->num_bucketed;
    } else {
      gone = take_gone(r);
      status = new_call(r, out_call);
    }
  }
  pthread_mutex_unlock(&r->mutex);
  while (gone != NULL) {
    rheos__region_call *next = gone->next;
    free_call(gone);
    gone = next;
  }
  if (status == NULL) (*out_call)->cells_hash = hash;
  return status;
}

// The oldest of its bucket goes where there are too many.
static void give_call_for(rheos_region *r, rheos__region_call *call) {
  rheos__region_call *dropped = NULL;
  pthread_mutex_lock(&r->mutex);
  rheos__region_call **bucket = &r->buckets[call->cells_hash % RHEOS__REGION_BUCKETS];
  call->next = *bucket;
  *bucket = call;
  if (++r->num_bucketed > MAX_BUCKETED && call->next != NULL) {
    rheos__region_call **last = &call->next;
    while ((*last)->next != NULL) last = &(*last)->next;
    dropped = *last;
    *last = NULL;
    --r->num_bucketed;
  }
  pthread_mutex_unlock(&r->mutex);
  if (dropped != NULL) free_call(dropped);
}

// ---- Running

// What comes of a handle among the results: a tensor that stands for its cell.
static rheos_status *hand_out_cells(const rheos_region *r, const rheos__region_call *call,
                                    rheos_tensor **outputs) {
  if (call->call.path_length == 0) return NULL;
  const rheos__segment *last = call->call.path[call->call.path_length - 1];
  for (int32_t i = 0; i < r->num_fetches; ++i) {
    if (outputs[i] != NULL) continue;
    const rheos__value *value = rheos__find_value(last, r->plan->fetch_values[i]);
    if (value->kind != RHEOS__VALUE_NONE || value->resource == NULL) {
      return rheos_status_new(RHEOS_UNIMPLEMENTED, "output %d means nothing outside of a step",
                              (int)i);
    }
    RHEOS_TRY(rheos__cell_handle_take(rheos__resource_ref(value->resource), &outputs[i]));
  }
  return NULL;
}

static rheos_status *own_outputs(const rheos_region *r, rheos_tensor **outputs) {
  for (int32_t i = 0; i < r->num_fetches; ++i) {
    rheos_tensor *tensor = outputs[i];
    outputs[i] = NULL;
    RHEOS_TRY(rheos__own_tensor_take(tensor, &outputs[i]));
  }
  return NULL;
}

__attribute__((noinline, cold)) static rheos_status *begin_observed(
    rheos__home *home, const rheos_run_options *options, const rheos__observer *observer,
    rheos__observers *room, rheos__step *step) {
  RHEOS_TRY(rheos__home_enter(home));
  rheos__step_init(step, home, options);
  rheos__step_observe(step, observer, room);
  rheos_status *status = rheos__step_begin(step);
  if (status != NULL) rheos__home_leave(home);
  return status;
}

static rheos_status *run_call(rheos_region *r, rheos__region_call *call,
                              const rheos__parameters *parameters, rheos_tensor **outputs,
                              const rheos_run_options *options, const rheos__observer *observer) {
  rheos__step step;
  rheos__observers room;
  rheos__home *home = &r->eager->home;
  RHEOS_TRY(__builtin_expect(observer == NULL, 1)
                ? rheos__home_begin_step(home, options, &step)
                : begin_observed(home, options, observer, &room, &step));
  rheos_status *status = rheos__call_run(&call->call, parameters, &step, outputs);
  status = rheos__home_end_step_take(&step, status);
  if (status == NULL) status = hand_out_cells(r, call, outputs);
  if (status == NULL) status = own_outputs(r, outputs);
  return status;
}

static void note_cost(rheos_region *r, const rheos__region_call *call) {
  double cost_ns = 0;
  for (int32_t i = 0; i < call->call.path_length; ++i) cost_ns += call->call.path[i]->cost_ns;
  const bool sleeps = r->may_sleep || r->plan->may_wait || r->plan->calls_program;
  const int64_t cost = sleeps ? -1 : (int64_t)cost_ns + 1;
  atomic_store_explicit(&r->cost_ns, cost, memory_order_relaxed);
}

// With tensors and cells for handles apart.
static rheos_status *run_with_cells(rheos_region *r, rheos_tensor *const *inputs,
                                    rheos_tensor **tensors, rheos__resource **cells,
                                    rheos_tensor **outputs, const rheos_run_options *options,
                                    const rheos__observer *observer) {
  for (int32_t i = 0; i < r->num_feeds; ++i) {
    cells[i] = rheos__cell_of(inputs[i]);
    tensors[i] = cells[i] == NULL ? inputs[i] : NULL;
  }
  rheos__region_call *call;
  RHEOS_TRY(take_call_for(r, cells, &call));
  const rheos__parameters parameters = {.tensors = tensors, .cells = cells, .any_memory = true};
  rheos_status *status = run_call(r, call, &parameters, outputs, options, observer);
  note_cost(r, call);
  give_call_for(r, call);
  return status;
}

static rheos_status *split_and_run(rheos_region *r, rheos_tensor *const *inputs,
                                   rheos_tensor **outputs, const rheos_run_options *options,
                                   const rheos__observer *observer) {
  rheos_tensor *few_tensors[FEW];
  rheos__resource *few_cells[FEW];
  if (r->num_feeds <= FEW) {
    return run_with_cells(r, inputs, few_tensors, few_cells, outputs, options, observer);
  }
  rheos_tensor **tensors = rheos__alloc_array((size_t)r->num_feeds, sizeof *tensors);
  rheos__resource **cells = rheos__alloc_array((size_t)r->num_feeds, sizeof *cells);
  rheos_status *status =
      tensors == NULL || cells == NULL
          ? rheos__out_of_memory()
          : run_with_cells(r, inputs, tensors, cells, outputs, options, observer);
  rheos__free(tensors);
  rheos__free(cells);
  return status;
}

static rheos_status *run_plain(rheos_region *r, rheos_tensor *const *inputs, rheos_tensor **outputs,
                               const rheos_run_options *options, const rheos__observer *observer) {
  rheos__region_call *call;
  RHEOS_TRY(take_call(r, &call));
  const rheos__parameters parameters = {.tensors = inputs, .any_memory = true};
  rheos_status *status = run_call(r, call, &parameters, outputs, options, observer);
  note_cost(r, call);
  give_call(r, call);
  return status;
}

// The cell of the variable that the handle stands for; NULL if there is none.
static rheos__variable_cell *variable_of(const rheos_tensor *handle) {
  rheos__resource *cell = rheos__cell_of(handle);
  return cell != NULL && cell->kind == &rheos__variable_kind ? (rheos__variable_cell *)cell : NULL;
}

// Reading takes no call: it is done more often than all else.
static rheos_status *read_variable(const rheos_region *r, rheos_tensor *handle,
                                   rheos_tensor **out_value) {
  rheos__variable_cell *cell = variable_of(handle);
  if (cell == NULL) {
    rheos__shape_text text;
    return RHEOS_INVALID("expected the handle of a variable, got a tensor of dtype %s and shape %s",
                         rheos_dtype_name(handle->dtype),
                         rheos__shape_text_of(&handle->shape, &text));
  }
  rheos_tensor *value = rheos__variable_read(cell);
  if (value == NULL) return rheos__variable_uninitialized(cell);
  const rheos_dtype wanted = rheos__region_output_dtype(r, 0);
  if (value->dtype != wanted) {
    rheos_status *status =
        RHEOS_INVALID("Trying to read variable with wrong dtype. Expected %s got %s",
                      rheos_dtype_name(wanted), rheos_dtype_name(value->dtype));
    rheos_tensor_unref(value);
    return status;
  }
  return rheos__own_tensor_take(value, out_value);
}

// Whether the values of a variable may be set without a call, which new variables would plan for.
static bool may_assign(const rheos_region *r, rheos_tensor *const *inputs) {
  if (!r->assigns_variable) return false;
  const rheos__variable_cell *cell = variable_of(inputs[0]);
  return cell != NULL && cell->dtype == inputs[1]->dtype;
}

rheos_status *rheos__region_run_observed(rheos_region *r, rheos_tensor *const *inputs,
                                         rheos_tensor **outputs, const rheos_run_options *options,
                                         const rheos__observer *observer) {
  rheos_status *status;
  if (r->reads_variable && observer == NULL) {
    status = read_variable(r, inputs[0], &outputs[0]);
  } else if (may_assign(r, inputs)) {
    status = rheos__variable_assign(variable_of(inputs[0]), inputs[1]);
  } else if (r->takes_cells) {
    status = split_and_run(r, inputs, outputs, options, observer);
  } else {
    status = run_plain(r, inputs, outputs, options, observer);
  }
  if (__builtin_expect(status == NULL, 1)) return NULL;
  for (int32_t i = 0; i < r->num_fetches; ++i) {
    rheos_tensor_unref(outputs[i]);
    outputs[i] = NULL;
  }
  return status;
}

rheos_status *rheos__region_run_alone(rheos_region *r, rheos_tensor *const *inputs,
                                      rheos_tensor **outputs, const rheos_run_options *options) {
  if (__builtin_expect(rheos__is_watched(r->eager->watches), 0)) {
    return rheos__region_run_watched(r, inputs, outputs, options);
  }
  return rheos__region_run_observed(r, inputs, outputs, options, NULL);
}

static rheos_status *wrong_dtype(const rheos_region *r, int32_t i, const rheos_tensor *input) {
  return RHEOS_INVALID("input %d is %s, the region takes %s", (int)i,
                       rheos_dtype_name(input->dtype), rheos_dtype_name(r->inputs[i].dtype));
}

static rheos_status *check_shape(const rheos_region *r, int32_t i, const rheos_tensor *input) {
  const rheos_shape *shape = shape_at(r->graph, r->feeds[i]);
  if (rheos_shape_compatible(shape, &input->shape)) return NULL;
  rheos__shape_text is, want;
  return RHEOS_INVALID("input %d has shape %s, the region takes %s", (int)i,
                       rheos__shape_text_of(&input->shape, &is),
                       rheos__shape_text_of(shape, &want));
}

static rheos_status *check_inputs(const rheos_region *r, rheos_tensor *const *inputs) {
  for (int32_t i = 0; i < r->num_feeds; ++i) {
    if (inputs[i] == NULL) return RHEOS_INVALID("input %d is NULL", (int)i);
    const rheos__region_input *wanted = &r->inputs[i];
    if (inputs[i]->dtype != wanted->dtype) return wrong_dtype(r, i, inputs[i]);
    if (inputs[i]->shape.rank == 0 && wanted->scalars_fit) continue;
    RHEOS_TRY(check_shape(r, i, inputs[i]));
  }
  return NULL;
}

// The tapes get what the gradients need besides the outputs.
static rheos_status *run_recorded(rheos_region *r, rheos_tensor *const *inputs,
                                  rheos_tensor **outputs, const rheos_run_options *options) {
  rheos_region *recorded;
  RHEOS_TRY(rheos__region_recorded(r, &recorded));
  rheos_tensor **all = outputs;
  if (recorded != r) {
    all = rheos__alloc_array((size_t)recorded->num_fetches, sizeof *all);
    if (all == NULL) return rheos__out_of_memory();
  }
  rheos_status *status = rheos__region_run_alone(recorded, inputs, all, options);
  if (status == NULL) {
    status = rheos__tapes_remember(recorded, inputs, all);
    for (int32_t i = 0; i < recorded->num_fetches; ++i) {
      if (status != NULL || i >= r->num_fetches) {
        rheos_tensor_unref(all[i]);
        all[i] = NULL;
      }
    }
  }
  if (recorded != r) {
    memcpy(outputs, all, (size_t)r->num_fetches * sizeof *outputs);
    rheos__free(all);
  }
  return status;
}

rheos_status *rheos_region_run_sized(rheos_region *region, rheos_tensor *const *inputs,
                                     rheos_tensor **out_outputs, const rheos_run_options *options,
                                     size_t options_bytes) {
  RHEOS_NEED(region);
  RHEOS_NEED_LIST(out_outputs, (size_t)region->num_fetches);
  for (int32_t i = 0; i < region->num_fetches; ++i) out_outputs[i] = NULL;
  RHEOS_NEED_LIST(inputs, (size_t)region->num_feeds);
  rheos_run_options known;
  if (options != NULL) {
    RHEOS_TRY(RHEOS_READ_OPTIONS(rheos_run_options, options, options_bytes, &known));
    options = &known;
  }
  RHEOS_TRY(check_inputs(region, inputs));
  if (rheos__tapes_want(region->eager, inputs, region->num_feeds)) {
    return run_recorded(region, inputs, out_outputs, options);
  }
  return rheos__region_run_alone(region, inputs, out_outputs, options);
}
