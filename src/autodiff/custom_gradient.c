// The gradient of a node that brings it along: a call of the function that its attributes name.
#include "autodiff/custom_gradient.h"

#include <string.h>

#include "autodiff/call_gradient.h"
#include "graph/library.h"

static const rheos_attr_value *attr_of(const rheos__attrs *attrs, const char *name,
                                       rheos_attr_kind kind) {
  const rheos_attr_value *value = rheos__attrs_find(attrs, name);
  return value != NULL && value->kind == kind ? value : NULL;
}

bool rheos__has_custom_gradient(const rheos__attrs *attrs) {
  return attr_of(attrs, "_custom_gradient", RHEOS_ATTR_FUNC) != NULL;
}

static bool all_within(const rheos_attr_value *numbers, int64_t least, int64_t end) {
  for (int32_t i = 0; i < numbers->count; i++) {
    if (numbers->ints[i] < least || numbers->ints[i] >= end) return false;
  }
  return true;
}

static bool fits(const rheos__grad *g, const rheos__function *f, const rheos_attr_value *args,
                 const rheos_attr_value *results) {
  return args != NULL && results != NULL && args->count == f->num_args &&
         results->count == f->num_results && all_within(args, -g->num_inputs, g->num_outputs) &&
         all_within(results, 0, g->num_inputs);
}

static bool is_stateful(const rheos__grad *g, const rheos__function *f) {
  const rheos__made_function *made =
      rheos__library_find_made(rheos__library_graph(g->operation.graph), f->name);
  return made != NULL ? made->is_stateful : true;  // of a file's function that is not noted
}

static rheos_operation call(rheos__grad *g, const rheos__function *f,
                            const rheos_attr_value *args) {
  rheos_output *inputs = rheos__alloc_array((size_t)f->num_args + 1, sizeof *inputs);
  rheos_dtype *types = rheos__alloc_array((size_t)f->num_results + 1, sizeof *types);
  rheos_operation made = {NULL, 0};
  if (inputs == NULL || types == NULL) {
    rheos_scope_fail_take(g->scope, rheos__out_of_memory());
  } else {
    for (int32_t i = 0; i < f->num_args; i++) {
      const int32_t from = (int32_t)args->ints[i];
      inputs[i] = from >= 0 ? rheos__grad_dense(g, from) : g->inputs[-1 - from];
    }
    for (int32_t i = 0; i < f->num_results; i++) types[i] = rheos__function_result_dtype(f, i);
    const rheos_func func = {.name = {(char *)(uintptr_t)f->name, strlen(f->name)}};
    const rheos_attr attrs[] = {rheos_attr_func("f", &func),
                                rheos_attr_types("Tout", types, f->num_results)};
    const char *type = is_stateful(g, f) ? "StatefulPartitionedCall" : "PartitionedCall";
    made = rheos__op_n(g->scope, type, NULL, inputs, (size_t)f->num_args, attrs, 2);
  }
  rheos__free(inputs);
  rheos__free(types);
  return made;
}

void rheos__custom_gradient(rheos__grad *g) {
  const rheos_attr_value *named = attr_of(g->attrs, "_custom_gradient", RHEOS_ATTR_FUNC);
  const rheos_attr_value *args = attr_of(g->attrs, "_custom_gradient_args", RHEOS_ATTR_LIST_INT);
  const rheos_attr_value *results =
      attr_of(g->attrs, "_custom_gradient_results", RHEOS_ATTR_LIST_INT);
  const rheos__function *f = rheos__function_of(g, named->func);
  if (f == NULL) return;
  if (!fits(g, f, args, results)) {
    rheos_scope_fail_take(g->scope,
                          RHEOS_INVALID("the gradient function %s does not fit its node", f->name));
    return;
  }
  if (f->num_results == 0) return;
  const rheos_operation made = call(g, f, args);
  for (int32_t i = 0; i < f->num_results && made.graph != NULL; i++) {
    rheos__grad_set(g, (int32_t)results->ints[i], rheos_operation_output(made, i));
  }
}
