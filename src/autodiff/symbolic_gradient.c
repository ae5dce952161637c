// The gradient of a function as a function: what SymbolicGradient calls. It is made when it is
// first asked for, which may be while a step runs, and kept beside the library, of which it is no
// part.
#include "graph/library.h"

#include <string.h>

#include "autodiff/accumulate.h"
#include "autodiff/call_gradient.h"
#include "autodiff/gradient_functions.h"

// Where the gradient of each result comes in: a Placeholder of its own where none is needed.
static bool list_args(rheos__split *s, rheos__function *made) {
  const int32_t num_args = s->of->num_args, num_results = s->of->num_results;
  made->args =
      rheos__graph_alloc(s->graph, (size_t)(num_args + num_results + 1) * sizeof *made->args);
  if (made->args == NULL) return false;
  for (int32_t i = 0; i < num_args; i++) {
    made->args[made->num_args++] =
        (rheos__edge){rheos_function_argument_at(s->work, (size_t)i).id, 0};
  }
  for (int32_t i = 0; i < num_results; i++) {
    rheos_output grad = s->grad_ys[i];
    if (!rheos__is_some(grad)) {
      grad = rheos_function_argument(s->work, NULL, rheos__split_dtype(s, s->results[i]),
                                     RHEOS_UNKNOWN_SHAPE);
    }
    made->args[made->num_args++] = (rheos__edge){grad.id, 0};
  }
  return true;
}

static bool list_results(rheos__split *s, rheos__function *made) {
  rheos_scope *inside = rheos_function_scope(s->work);
  made->results =
      rheos__graph_alloc(s->graph, (size_t)(s->of->num_args + 1) * sizeof *made->results);
  if (made->results == NULL) return false;
  for (int32_t i = 0; i < s->of->num_args; i++) {
    rheos_output grad = s->grads[i].values;
    if (rheos__function_arg_dtype(s->of, i) == RHEOS_RESOURCE) {
      rheos_scope_fail_take(
          inside, rheos_status_new(RHEOS_UNIMPLEMENTED,
                                   "argument %d is a handle, which SymbolicGradient has no "
                                   "gradient for",
                                   (int)i));
      return true;
    }
    if (!rheos__is_some(grad)) {
      grad = rheos__op_1(inside, "ZerosLike", rheos_function_argument_at(s->work, (size_t)i));
    }
    made->results[made->num_results++] = (rheos__edge){grad.id, grad.index};
  }
  return true;
}

static rheos__function *fill(rheos__split *s) {
  rheos__function *made = rheos__graph_alloc(s->graph, sizeof *made);
  if (made == NULL) return NULL;
  char *name = rheos__graph_alloc(s->graph, strlen(s->of->name) + 1);
  *made = (rheos__function){.name = name, .graph = s->graph};
  made->targets = rheos__graph_alloc(s->graph, sizeof *made->targets);
  if (name != NULL) memcpy(name, s->of->name, strlen(s->of->name));
  const bool whole =
      name != NULL && made->targets != NULL && list_args(s, made) && list_results(s, made);
  return whole ? made : NULL;
}

// In the memory of its own graph, of which one reference is the caller's.
static rheos_status *make(rheos_scope *scope, const rheos__function *function,
                          rheos__function **out_made) {
  bool *has_grad = rheos__alloc_array((size_t)function->num_results + 1, sizeof *has_grad);
  if (has_grad == NULL) return rheos__out_of_memory();
  for (int32_t i = 0; i < function->num_results; i++) {
    const rheos_dtype dtype = rheos__function_result_dtype(function, i);
    has_grad[i] = rheos_dtype_is_floating(dtype) || rheos_dtype_is_complex(dtype);
  }
  rheos__split s;
  if (rheos__split_init(&s, scope, function, has_grad, false, NULL)) {
    *out_made = fill(&s);
    rheos_scope_fail_take(scope, rheos_scope_finish(rheos_function_scope(s.work)));
    if (*out_made == NULL) rheos_scope_fail_take(scope, rheos__out_of_memory());
  }
  rheos_status *status = rheos_scope_finish(scope);
  if (status == NULL) rheos_graph_ref(s.graph);
  rheos__split_deinit(&s);
  rheos__free(has_grad);
  return status;
}

static rheos_status *make_and_keep(rheos_graph *library, const rheos__function *function,
                                   const rheos__function **out_function) {
  const rheos__function *known = rheos__find_symbolic(library, function);
  if (known != NULL) {
    *out_function = known;
    return NULL;
  }
  rheos_scope *scope = rheos_scope_new(library);
  if (scope == NULL) return rheos__out_of_memory();
  rheos__function *made = NULL;
  rheos_status *status = NULL;
  if (rheos__enter_gradient_of(scope, function)) {
    status = make(scope, function, &made);
    rheos__leave_gradient_of(library);
  } else {
    status = rheos_scope_finish(scope);
  }
  rheos_scope_free(scope);
  if (status == NULL) {
    *out_function = made;
    status = rheos__keep_symbolic_take(library, function, made);
  }
  return status;
}

rheos_status *rheos__symbolic_gradient(rheos_graph *graph, const rheos_func *func,
                                       const rheos__function **out_function) {
  rheos_graph *library = rheos__library_graph(graph);
  const rheos__function *function;
  *out_function = NULL;
  rheos__graph_lock(library);
  rheos_status *status = rheos__graph_function(graph, func, &function);
  if (status == NULL) {
    const char *said = rheos__library_gradient_of(library, function->name);
    rheos_func gradient = *func;
    if (said != NULL) {
      gradient.name = (rheos_string){(char *)(uintptr_t)said, strlen(said)};
      status = rheos__graph_function(library, &gradient, out_function);
    } else {
      status = make_and_keep(library, function, out_function);
    }
  }
  rheos__graph_unlock(library);
  return status;
}
