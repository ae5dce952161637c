// `rheos bench --pipeline`: goes over the datasets of a graph, and says which stage of each is
// slow.
#include "bench_pipeline.h"
#include "status.h"

#include <rheos/rheos.h>
#include <stdio.h>
#include <string.h>

// More datasets than anyone wants to look at.
enum { MOST_DATASETS = 16 };

typedef struct pipelines {
  rheos_output datasets[MOST_DATASETS];
  int32_t count;
} pipelines;

// Whether the op makes a dataset that it is fit to begin with: none has another use for variants of
// that name.
static bool makes_dataset(rheos_operation operation) {
  return strstr(rheos_operation_type(operation), "Dataset") != NULL &&
         rheos_operation_num_outputs(operation) == 1 &&
         rheos_output_dtype(rheos_operation_output(operation, 0)) == RHEOS_VARIANT;
}

static bool is_input_of_dataset(rheos_graph *graph, int32_t id, int32_t count) {
  for (int32_t k = id + 1; k < count; ++k) {
    const rheos_operation other = {graph, k};
    if (!makes_dataset(other)) continue;
    for (int32_t i = 0; i < rheos_operation_num_inputs(other); ++i) {
      if (rheos_operation_input(other, i).id == id) return true;
    }
  }
  return false;
}

// The dataset that the function of a one-shot iterator makes, by a call of it.
static rheos_output call_factory(rheos_scope *scope, rheos_operation iterator) {
  const rheos_attr_value factory = rheos_operation_attr(iterator, "dataset_factory");
  static const rheos_dtype variant = RHEOS_VARIANT;
  const rheos_attr attrs[] = {rheos_attr_types("Tin", NULL, 0),
                              rheos_attr_types("Tout", &variant, 1),
                              rheos_attr_func("f", factory.func)};
  const rheos_op_args args = {
      .type = "PartitionedCall", .attrs = attrs, .num_attrs = sizeof attrs / sizeof *attrs};
  return rheos_operation_output(rheos_op(scope, &args), 0);
}

// Finds the datasets that pipelines of the graph itself end with; a program's graph has them even
// where an iterator's function makes them again.
static void find(rheos_graph *graph, rheos_scope *scope, pipelines *p) {
  const int32_t count = rheos_graph_num_operations(graph);
  for (int32_t id = 0; id < count && p->count < MOST_DATASETS; ++id) {
    const rheos_operation operation = {graph, id};
    if (!makes_dataset(operation) || is_input_of_dataset(graph, id, count)) continue;
    p->datasets[p->count++] = rheos_operation_output(operation, 0);
  }
  const bool has_none = p->count == 0;
  for (int32_t id = 0; has_none && id < count && p->count < MOST_DATASETS; ++id) {
    const rheos_operation operation = {graph, id};
    if (strcmp(rheos_operation_type(operation), "OneShotIterator") != 0) continue;
    p->datasets[p->count++] = call_factory(scope, operation);
  }
}

static rheos_output scalar(rheos_scope *scope, rheos_dtype dtype, const void *value) {
  rheos_tensor *tensor = NULL;
  rheos_status_free(rheos_tensor_from_values(dtype, RHEOS_SCALAR, value, &tensor));
  const rheos_output output = rheos_constant(scope, tensor, NULL);
  rheos_tensor_unref(tensor);
  return output;
}

static rheos_status *explain(const runner *r, rheos_output explanation, bool is_first) {
  rheos_fetch fetch = {.output = explanation};
  TRY(rheos_session_run(r->session, NULL, 0, &fetch, 1, NULL, 0, NULL));
  const rheos_string *text = rheos_tensor_data(fetch.value);
  printf("%s%.*s\n", is_first ? "" : "\n", (int)text->size_bytes, text->data);
  rheos_tensor_unref(fetch.value);
  return NULL;
}

static rheos_status *explain_all(const runner *r, rheos_scope *scope, double seconds) {
  pipelines p = {.count = 0};
  rheos_output explanations[MOST_DATASETS];
  const int64_t all = -1;
  find(r->graph, scope, &p);
  if (p.count == 0) return INVALID("the graph has no dataset");
  for (int32_t i = 0; i < p.count; ++i) {
    explanations[i] = rheos_explain_dataset(scope, p.datasets[i], scalar(scope, RHEOS_INT64, &all),
                                            scalar(scope, RHEOS_DOUBLE, &seconds));
  }
  TRY(rheos_scope_finish(scope));
  for (int32_t i = 0; i < p.count; ++i) TRY(explain(r, explanations[i], i == 0));
  return NULL;
}

rheos_status *bench_pipelines(const runner *r, double seconds) {
  rheos_scope *scope = rheos_scope_new(r->graph);
  if (scope == NULL) return NO_MEMORY();
  rheos_status *status = explain_all(r, scope, seconds);
  rheos_scope_free(scope);
  return status;
}
