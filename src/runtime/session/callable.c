// Callables of any kind of session: a signature, tensors that it may be bound to, and what the kind
// has of it.
#include <rheos/session.h>

#include <rheos/front_end.h>

#include "base/options.h"
#include "graph/node_mentions.h"
#include "runtime/session/session_kind.h"

static rheos_status *init(rheos_callable *callable, const rheos__step_ends *ends) {
  RHEOS_TRY(
      rheos__signature_ids_of(callable->session->graph, ends, &callable->ids, &callable->memory));
  return callable->kind->make_callable(callable);
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
  rheos_callable *callable = rheos__alloc_zeroed(session->kind->callable_bytes);
  if (callable == NULL) return rheos__out_of_memory();
  callable->kind = session->kind;
  callable->session = session;
  const rheos__step_ends ends = {feeds, num_feeds, fetches, num_fetches, targets, num_targets};
  rheos_status *status = init(callable, &ends);
  if (status != NULL) {
    rheos_callable_free(callable);
    return status;
  }
  *out_callable = callable;
  return NULL;
}

void rheos_callable_free(rheos_callable *callable) {
  if (callable == NULL) return;
  callable->kind->release_callable(callable);
  rheos__bound_free(callable->bound);
  rheos__free(callable->memory);
  rheos__free(callable);
}

// A list in which all are in the host's memory; NULL: they all were.
static rheos_status *bring_to_host(rheos_tensor *const *values, int32_t count,
                                   rheos_tensor ***out_brought) {
  int32_t first = 0;
  *out_brought = NULL;
  while (first < count && (values[first] == NULL || values[first]->memory == NULL)) ++first;
  if (first == count) return NULL;
  rheos_tensor **brought = rheos__alloc_array((size_t)count, sizeof *brought);
  if (brought == NULL) return rheos__out_of_memory();
  rheos_status *status = NULL;
  for (int32_t i = 0; i < count && status == NULL; ++i) {
    const rheos_tensor *value = values[i];
    status = rheos__tensor_to_host(&value);
    brought[i] = (rheos_tensor *)(uintptr_t)value;
  }
  if (status == NULL) {
    *out_brought = brought;
  } else {
    rheos__free(brought);
  }
  return status;
}

rheos_status *rheos_callable_run_sized(rheos_callable *callable, rheos_tensor *const *values,
                                       rheos_tensor **out_values, const rheos_run_options *options,
                                       size_t options_bytes) {
  RHEOS_NEED(callable);
  RHEOS_NEED_LIST(out_values, (size_t)callable->ids.num_fetches);
  for (int32_t i = 0; i < callable->ids.num_fetches; ++i) out_values[i] = NULL;
  RHEOS_NEED_LIST(values, (size_t)callable->ids.num_feeds);
  rheos_run_options known;
  if (options != NULL) {
    RHEOS_TRY(RHEOS_READ_OPTIONS(rheos_run_options, options, options_bytes, &known));
    options = &known;
  }
  rheos_tensor **brought;
  RHEOS_TRY(bring_to_host(values, callable->ids.num_feeds, &brought));
  rheos_status *status = callable->kind->run_callable(callable, brought != NULL ? brought : values,
                                                      out_values, options);
  rheos__free(brought);
  return status == NULL ? NULL : rheos__status_with_lines_take(status, callable->session->graph);
}

// ---- Bound to tensors

static rheos_status *running_error(void) {
  return rheos_status_new(RHEOS_FAILED_PRECONDITION,
                          "the bound callable is running, and has its tensors but once");
}

rheos_status *rheos_callable_bind(rheos_callable *callable, rheos_tensor *const *values,
                                  rheos_tensor *const *results) {
  RHEOS_NEED(callable);
  RHEOS_NEED_LIST(values, (size_t)callable->ids.num_feeds);
  RHEOS_NEED_LIST(results, (size_t)callable->ids.num_fetches);
  if (callable->bound != NULL && atomic_load(&callable->bound->is_running)) return running_error();
  rheos__bound_free(callable->bound);
  callable->bound = NULL;
  return rheos__bound_new(values, callable->ids.num_feeds, results, callable->ids.num_fetches,
                          &callable->bound);
}

// Results that come from elsewhere, copied to where they are bound to.
static rheos_status *run_and_copy(rheos_callable *callable, const rheos_run_options *options) {
  const int32_t count = callable->ids.num_fetches;
  rheos_tensor **results = rheos__alloc_array((size_t)count + 1, sizeof *results);
  if (results == NULL) return rheos__out_of_memory();
  rheos_status *status =
      callable->kind->run_callable(callable, callable->bound->values, results, options);
  const bool are_there = status == NULL;
  for (int32_t i = 0; are_there && i < count; ++i) {
    const rheos_tensor *result = results[i];
    if (status == NULL) {
      status = rheos__bound_store(callable->bound, i, result->dtype, &result->shape, result->data);
    }
    rheos_tensor_unref(results[i]);
  }
  rheos__free(results);
  return status;
}

rheos_status *rheos_callable_run_bound_sized(rheos_callable *callable,
                                             const rheos_run_options *options,
                                             size_t options_bytes) {
  RHEOS_NEED(callable);
  rheos__bound *bound = callable->bound;
  if (bound == NULL) {
    return rheos_status_new(RHEOS_FAILED_PRECONDITION, "the callable is not bound to tensors");
  }
  rheos_run_options known;
  if (options != NULL) {
    RHEOS_TRY(RHEOS_READ_OPTIONS(rheos_run_options, options, options_bytes, &known));
    options = &known;
  }
  if (atomic_exchange(&bound->is_running, true)) return running_error();
  rheos_status *status = callable->kind->run_bound != NULL
                             ? callable->kind->run_bound(callable, options)
                             : run_and_copy(callable, options);
  atomic_store(&bound->is_running, false);
  return status == NULL ? NULL : rheos__status_with_lines_take(status, callable->session->graph);
}

int64_t rheos_callable_cost_ns(const rheos_callable *callable) {
  if (callable == NULL || callable->kind->callable_cost_ns == NULL) return 0;
  return callable->kind->callable_cost_ns(callable);
}
