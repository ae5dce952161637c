// What a call gives, from a copy of the function's body on what the call is given: shapes are
// inferred as its nodes are added, those of calls in it likewise. Nothing of the copy stays.
#include <rheos/function.h>

#include "autodiff/function_split.h"
#include "graph/build.h"
#include "graph/graph_impl.h"
#include "graph/handles.h"
#include "ops/kit/array_util.h"

enum { MAX_CALLS = 8, MAX_NODES = 20000, MAX_ELEMENTS = 64 };  // in each other; in all; of a value

typedef struct inference {
  int32_t depth, num_nodes;
} inference;

static void infer(inference *in, rheos_graph *graph, int32_t id);

// ---- Whether the call tells more than the body knows

static bool tells_more_of_shape(const rheos_shape *outside, const rheos_shape *inside) {
  if (outside->rank < 0) return false;
  if (inside->rank < 0) return true;
  for (int32_t d = 0; d < outside->rank && d < inside->rank; d++) {
    if (outside->dims[d] >= 0 && inside->dims[d] < 0) return true;
  }
  return false;
}

// The value of an input, small integers: counted. NULL: it is not known.
static rheos_tensor *known_value(const rheos_graph *graph, rheos__edge edge) {
  rheos_tensor *value = rheos__const_value(graph, edge);
  if (value != NULL) {
    return value->num_elements <= MAX_ELEMENTS && value->dtype != RHEOS_STRING
               ? rheos_tensor_ref(value)
               : NULL;
  }
  const rheos__node_output *output = &rheos__graph_node(graph, edge.id)->outputs[edge.index];
  int64_t values[MAX_ELEMENTS];
  int32_t count = 0;
  if ((output->dtype != RHEOS_INT32 && output->dtype != RHEOS_INT64) ||
      !rheos_shape_is_known(output->shape) ||
      !rheos__whole_value(graph, edge, values, MAX_ELEMENTS, &count) ||
      rheos_shape_num_elements(output->shape) != count) {
    return NULL;
  }
  rheos_status_free(rheos__tensor_new(output->dtype, output->shape, &value));
  for (int32_t i = 0; value != NULL && i < count; i++) {
    rheos__set_int(output->dtype, value->data, i, values[i]);
  }
  return value;
}

static bool tells_more(const rheos_graph *graph, const rheos__node *call,
                       const rheos__function *f) {
  for (int32_t i = 0; i < f->num_args; i++) {
    const rheos__edge edge = call->edges[i];
    const rheos__edge arg = f->args[i];
    const rheos_shape *shape = rheos__graph_node(graph, edge.id)->outputs[edge.index].shape;
    if (tells_more_of_shape(shape, rheos__graph_node(f->graph, arg.id)->outputs[arg.index].shape)) {
      return true;
    }
    rheos_tensor *value = known_value(graph, edge);
    rheos_tensor_unref(value);
    if (value != NULL) return true;
  }
  return false;
}

static bool are_results_known(const rheos__node *call) {
  for (int32_t i = 0; i < call->num_outputs; i++) {
    if (!rheos_shape_is_known(call->outputs[i].shape)) return false;
  }
  return true;
}

// ---- The copy

// Marks what results are made of.
static bool mark_wanted(const rheos__function *f, bool *wanted) {
  for (int32_t i = 0; i < f->num_results; i++) wanted[f->results[i].id] = true;
  return rheos__mark_inputs(f->graph, wanted, false);
}

static void infer_copied(void *argument, rheos_graph *graph, int32_t id) {
  infer(argument, graph, id);
}

static void put_args(rheos__copier *c, rheos_function *work, const rheos__function *f,
                     rheos_graph *graph, const rheos__node *call) {
  rheos_scope *inside = rheos_function_scope(work);
  for (int32_t i = 0; i < f->num_args; i++) {
    const rheos_output outside = {graph, call->edges[i].id, call->edges[i].index};
    rheos_tensor *value = known_value(graph, call->edges[i]);
    const rheos_output arg = value != NULL ? rheos_constant(inside, value, NULL)
                                           : rheos_function_stand_in(work, NULL, outside);
    rheos_tensor_unref(value);
    rheos__copier_put(c, f->args[i], arg);
  }
}

static void learn_results(const rheos__copier *c, const rheos__function *f, rheos_graph *graph,
                          int32_t id) {
  for (int32_t i = 0; i < f->num_results; i++) {
    const rheos_output inside = rheos__copier_at(c, f->results[i]);
    if (inside.graph == NULL) continue;
    const rheos_shape shape = rheos_output_shape(inside);
    rheos_status_free(rheos_output_set_shape((rheos_output){graph, id, i}, shape));
  }
}

// What is wrong in the body the step says that runs it.
static void infer_by_copy(inference *in, rheos_function *work, const rheos__function *f,
                          rheos_graph *graph, int32_t id) {
  rheos_scope *inside = rheos_function_scope(work);
  rheos__copier c;
  rheos_scope_fail_take(inside, rheos__copier_init(&c, f->graph, inside));
  bool *wanted = rheos__alloc_zeroed((size_t)c.num_nodes + 1);
  if (rheos_scope_status(inside) == NULL && wanted != NULL && mark_wanted(f, wanted)) {
    c.copied = infer_copied;
    c.argument = in;
    put_args(&c, work, f, graph, rheos__graph_node(graph, id));
    rheos__copy_nodes(&c, wanted);
    if (rheos_scope_status(inside) == NULL) learn_results(&c, f, graph, id);
  }
  rheos__free(wanted);
  rheos__copier_deinit(&c);
}

static const rheos__function *function_of(rheos_graph *graph, const rheos__node *call) {
  const rheos_attr_value *func = rheos__attrs_find(call->attrs, "f");
  const rheos__function *f = NULL;
  if (func == NULL || func->kind != RHEOS_ATTR_FUNC) return NULL;
  rheos_status_free(rheos__graph_function(graph, func->func, &f));
  const bool fits =
      f != NULL && f->num_args == call->num_inputs && f->num_results == call->num_outputs;
  return fits ? f : NULL;
}

static void infer(inference *in, rheos_graph *graph, int32_t id) {
  const rheos__node *call = rheos__graph_node(graph, id);
  if ((call->signature->op->flags & RHEOS_OP_IS_CALL) == 0 || are_results_known(call)) return;
  const rheos__function *f = function_of(graph, call);
  if (f == NULL || in->depth >= MAX_CALLS || !tells_more(graph, call, f)) return;
  in->num_nodes += rheos_graph_num_operations(f->graph);
  rheos_scope *scope = in->num_nodes <= MAX_NODES ? rheos_scope_new(graph) : NULL;
  rheos_function *work = scope != NULL ? rheos_function_begin(scope, f->name, NULL) : NULL;
  in->depth++;
  if (work != NULL) infer_by_copy(in, work, f, graph, id);
  in->depth--;
  rheos_function_free(work);
  rheos_scope_free(scope);
}

rheos_status *rheos_function_infer_call(rheos_operation call) {
  RHEOS_TRY(rheos__check_operation(call.graph, call, "the call"));
  infer(&(inference){0}, call.graph, call.id);
  return NULL;
}
