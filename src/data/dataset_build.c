// The operations that make datasets, added by a scope.
#include <rheos/dataset.h>

#include <stdio.h>
#include <string.h>

#include "graph/build.h"
#include "graph/graph.h"
#include "graph/handles.h"

// ---- What a dataset has

static const rheos_attr_value *attr_of(rheos_output dataset, const char *name,
                                       rheos_attr_kind kind) {
  rheos_status *status = rheos__check_output(dataset.graph, dataset, "dataset");
  if (status != NULL || dataset.index != 0) {
    rheos_status_free(status);
    return NULL;
  }
  const rheos__node *node = rheos__graph_node(dataset.graph, dataset.id);
  const rheos_attr_value *value = rheos__attrs_find(node->attrs, name);
  return value != NULL && value->kind == kind ? value : NULL;
}

// Sources that do not say it have strings.
static const rheos_dtype one_string = RHEOS_STRING;

static size_t components_of(rheos_output dataset, const rheos_dtype **out_dtypes,
                            const rheos_shape **out_shapes) {
  const rheos_attr_value *dtypes = attr_of(dataset, "output_types", RHEOS_ATTR_LIST_TYPE);
  if (dtypes == NULL) dtypes = attr_of(dataset, "Toutput_types", RHEOS_ATTR_LIST_TYPE);
  const rheos_attr_value *shapes = attr_of(dataset, "output_shapes", RHEOS_ATTR_LIST_SHAPE);
  *out_dtypes = dtypes != NULL ? dtypes->types : &one_string;
  *out_shapes = shapes != NULL ? shapes->shapes : &RHEOS_SCALAR;
  if (dtypes != NULL) return shapes != NULL ? (size_t)dtypes->count : 0;
  const bool is_files = attr_of(dataset, "metadata", RHEOS_ATTR_STRING) != NULL;
  return is_files && rheos_output_dtype(dataset) == RHEOS_VARIANT ? 1 : 0;
}

size_t rheos_dataset_num_components(rheos_output dataset) {
  const rheos_dtype *dtypes;
  const rheos_shape *shapes;
  return components_of(dataset, &dtypes, &shapes);
}

rheos_dtype rheos_dataset_dtype(rheos_output dataset, size_t component) {
  const rheos_dtype *dtypes;
  const rheos_shape *shapes;
  const size_t count = components_of(dataset, &dtypes, &shapes);
  return component < count ? dtypes[component] : RHEOS_INVALID_DTYPE;
}

rheos_shape rheos_dataset_shape(rheos_output dataset, size_t component) {
  const rheos_dtype *dtypes;
  const rheos_shape *shapes;
  const size_t count = components_of(dataset, &dtypes, &shapes);
  return component < count ? shapes[component] : RHEOS_UNKNOWN_SHAPE;
}

// ---- Adding

enum { MOST_ATTRS = 8, MOST_INPUTS = 8 };

static const rheos_output none = {0};

// An operation on its way: what it will be given.
typedef struct making {
  rheos_scope *scope;
  const char *type;
  const rheos_function *function;  // whose captures come behind the first input; NULL: none
  rheos_output inputs[MOST_INPUTS];
  int32_t num_inputs;
  rheos_attr attrs[MOST_ATTRS];
  int32_t num_attrs;
} making;

static void give(making *m, rheos_output input) { m->inputs[m->num_inputs++] = input; }
static void attr(making *m, const char *name, rheos_attr_value value) {
  m->attrs[m->num_attrs++] = (rheos_attr){name, value};
}

static void give_int(making *m, int64_t value) {
  rheos_tensor *tensor = NULL;
  rheos_status *status = rheos_tensor_new(RHEOS_INT64, RHEOS_SCALAR, &tensor);
  if (status == NULL) *(int64_t *)rheos_tensor_data(tensor) = value;
  give(m, rheos__scope_goes_on(m->scope, status) ? rheos_constant(m->scope, tensor, NULL) : none);
  rheos_tensor_unref(tensor);
}

static void give_bool(making *m, bool value) {
  give(m, rheos__const_scalar(m->scope, RHEOS_BOOL, value, NULL));
}

static void components_are(making *m, const rheos_dtype *dtypes, const rheos_shape *shapes,
                           size_t count) {
  attr(m, "output_types",
       (rheos_attr_value){.kind = RHEOS_ATTR_LIST_TYPE, .count = (int32_t)count, .types = dtypes});
  attr(
      m, "output_shapes",
      (rheos_attr_value){.kind = RHEOS_ATTR_LIST_SHAPE, .count = (int32_t)count, .shapes = shapes});
}

// Adds it, with the captures of its function between the first input and the others.
static rheos_output add(making *m) {
  const size_t captured = m->function != NULL ? rheos_function_num_captures(m->function) : 0;
  const size_t count = (size_t)m->num_inputs + captured;
  rheos_output *inputs = rheos__alloc_array(count, sizeof *inputs);
  rheos_dtype *types = rheos__alloc_array(captured, sizeof *types);
  if (inputs == NULL || types == NULL) {
    rheos__scope_goes_on(m->scope, rheos__out_of_memory());
  } else if (rheos__scope_goes_on(m->scope, NULL)) {
    size_t at = 0;
    for (int32_t i = 0; i < m->num_inputs; ++i) {
      inputs[at++] = m->inputs[i];
      for (size_t k = 0; i == 0 && k < captured; ++k) {
        inputs[at] = rheos_function_capture_at(m->function, k, NULL);
        types[k] = rheos_output_dtype(inputs[at++]);
      }
    }
    if (m->function != NULL) {
      attr(m, "Targuments",
           (rheos_attr_value){
               .kind = RHEOS_ATTR_LIST_TYPE, .count = (int32_t)captured, .types = types});
    }
    const rheos_operation made =
        rheos__op_n(m->scope, m->type, NULL, inputs, count, m->attrs, (size_t)m->num_attrs);
    rheos__free(inputs);
    rheos__free(types);
    return rheos_operation_output(made, 0);
  }
  rheos__free(inputs);
  rheos__free(types);
  return none;
}

// Whether to go on: the dataset is one of the scope's graph.
static bool takes(rheos_scope *scope, rheos_output dataset) {
  if (!rheos__scope_goes_on(scope, NULL)) return false;
  rheos_status *status = rheos__check_output(rheos_scope_graph(scope), dataset, "dataset");
  if (status == NULL && rheos_dataset_num_components(dataset) == 0) {
    status = RHEOS_INVALID("dataset is no dataset");
  }
  return rheos__scope_goes_on(scope, status);
}

static bool has(rheos_scope *scope, const void *thing, const char *what) {
  if (scope == NULL) return false;
  return rheos__scope_goes_on(scope, thing != NULL ? NULL : RHEOS_INVALID("%s is NULL", what));
}

// More components than any program has: what a count is that is no count.
enum { MOST_COMPONENTS = 1 << 16 };

static bool is_count(rheos_scope *scope, size_t count, const char *what) {
  if (count > 0 && count <= MOST_COMPONENTS) return rheos__scope_goes_on(scope, NULL);
  return rheos__scope_goes_on(
      scope, RHEOS_INVALID("%zu %s: there can be 1 to %d", count, what, MOST_COMPONENTS));
}

// Of an operation with the elements of another.
static making like(rheos_scope *scope, const char *type, rheos_output dataset) {
  making m = {.scope = scope, .type = type};
  const rheos_dtype *dtypes;
  const rheos_shape *shapes;
  const size_t count = components_of(dataset, &dtypes, &shapes);
  give(&m, dataset);
  components_are(&m, dtypes, shapes, count);
  return m;
}

// ---- Sources

static rheos_output of_components(rheos_scope *scope, const rheos_output *components,
                                  size_t num_components, bool slices) {
  if (!has(scope, components, "components")) return none;
  if (!is_count(scope, num_components, "components")) return none;
  rheos_status *status = rheos__check_outputs(rheos_scope_graph(scope), components, num_components,
                                              "components", false);
  if (!rheos__scope_goes_on(scope, status)) return none;
  rheos_shape *shapes = rheos__alloc_array(num_components, sizeof *shapes);
  rheos_dtype *dtypes = rheos__alloc_array(num_components, sizeof *dtypes);
  rheos_output made = none;
  if (shapes == NULL || dtypes == NULL) {
    rheos__scope_goes_on(scope, rheos__out_of_memory());
  } else {
    for (size_t i = 0; i < num_components; ++i) {
      rheos_shape shape = rheos_output_shape(components[i]);
      if (slices && shape.rank > 0) {
        --shape.rank;
        memmove(shape.dims, shape.dims + 1, (size_t)shape.rank * sizeof *shape.dims);
      }
      shapes[i] = shape;
      dtypes[i] = rheos_dtype_base(rheos_output_dtype(components[i]));
    }
    making m = {.scope = scope};
    components_are(&m, dtypes, shapes, num_components);
    m.attrs[0].name = "Toutput_types";
    made =
        rheos_operation_output(rheos__op_n(scope, slices ? "TensorSliceDataset" : "TensorDataset",
                                           NULL, components, num_components, m.attrs, 2),
                               0);
  }
  rheos__free(shapes);
  rheos__free(dtypes);
  return made;
}

rheos_output rheos_dataset_tensors(rheos_scope *scope, const rheos_output *components,
                                   size_t num_components) {
  return of_components(scope, components, num_components, false);
}

rheos_output rheos_dataset_slices(rheos_scope *scope, const rheos_output *components,
                                  size_t num_components) {
  return of_components(scope, components, num_components, true);
}

rheos_output rheos_dataset_range(rheos_scope *scope, int64_t start, int64_t stop, int64_t step) {
  if (!rheos__scope_goes_on(scope, NULL)) return none;
  making m = {.scope = scope, .type = "RangeDataset"};
  const rheos_dtype dtype = RHEOS_INT64;
  give_int(&m, start);
  give_int(&m, stop);
  give_int(&m, step);
  components_are(&m, &dtype, &RHEOS_SCALAR, 1);
  return add(&m);
}

static rheos_output of_files(rheos_scope *scope, const char *type, const char *const *paths,
                             size_t num_paths, const char *compression) {
  if (!has(scope, paths, "paths") || !is_count(scope, num_paths, "paths")) return none;
  rheos_status *status = NULL;
  for (size_t i = 0; i < num_paths && status == NULL; ++i) {
    if (paths[i] == NULL) status = RHEOS_INVALID("paths[%zu] is NULL", i);
  }
  if (!rheos__scope_goes_on(scope, status)) return none;
  making m = {.scope = scope, .type = type};
  give(&m, rheos__const_strings(scope, paths, (int64_t)num_paths, NULL));
  give(&m, rheos__const_string(scope, compression != NULL ? compression : "", NULL));
  give_int(&m, 0);
  return add(&m);
}

rheos_output rheos_dataset_records(rheos_scope *scope, const char *const *paths, size_t num_paths,
                                   const char *compression) {
  return of_files(scope, "TFRecordDataset", paths, num_paths, compression);
}

rheos_output rheos_dataset_lines(rheos_scope *scope, const char *const *paths, size_t num_paths,
                                 const char *compression) {
  return of_files(scope, "TextLineDataset", paths, num_paths, compression);
}

rheos_output rheos_dataset_program(rheos_scope *scope, const char *token, const rheos_dtype *dtypes,
                                   const rheos_shape *shapes, size_t num_components) {
  return rheos_dataset_map_program(scope, rheos_dataset_range(scope, 0, INT64_MAX, 1), token,
                                   dtypes, shapes, num_components, 1);
}

// ---- By functions

static bool function_fits(rheos_scope *scope, const rheos_function *function) {
  return has(scope, function, "function");
}

static making calling(rheos_scope *scope, const char *type, rheos_output dataset,
                      const rheos_function *function, const char *attr_name) {
  making m = {.scope = scope, .type = type, .function = function};
  give(&m, dataset);
  attr(&m, attr_name,
       (rheos_attr_value){.kind = RHEOS_ATTR_FUNC, .func = rheos_function_func(function)});
  return m;
}

rheos_output rheos_dataset_map(rheos_scope *scope, rheos_output dataset,
                               const rheos_function *function, int64_t num_parallel) {
  if (!function_fits(scope, function) || !takes(scope, dataset)) return none;
  const bool is_parallel = num_parallel > 1 || num_parallel == RHEOS_DATASET_AUTOTUNE;
  const size_t count = rheos_function_num_results(function);
  rheos_dtype *dtypes = rheos__alloc_array(count, sizeof *dtypes);
  rheos_shape *shapes = rheos__alloc_array(count, sizeof *shapes);
  rheos_output made = none;
  if (dtypes == NULL || shapes == NULL) {
    rheos__scope_goes_on(scope, rheos__out_of_memory());
  } else {
    for (size_t i = 0; i < count; ++i) {
      const rheos_output result = rheos_function_result_at(function, i);
      dtypes[i] = rheos_output_dtype(result);
      shapes[i] = rheos_output_shape(result);
    }
    making m =
        calling(scope, is_parallel ? "ParallelMapDatasetV2" : "MapDataset", dataset, function, "f");
    components_are(&m, dtypes, shapes, count);
    if (is_parallel) give_int(&m, num_parallel);
    made = add(&m);
  }
  rheos__free(dtypes);
  rheos__free(shapes);
  return made;
}

// A function of the graph that calls one of the program with all components.
static rheos_function *calling_program(rheos_scope *scope, rheos_output dataset, const char *token,
                                       const rheos_dtype *dtypes, const rheos_shape *shapes,
                                       size_t num_components) {
  const size_t count = rheos_dataset_num_components(dataset);
  rheos_output *args = rheos__alloc_array(count, sizeof *args);
  char name[64];
  snprintf(name, sizeof name, "__rheos_program_%d",
           (int)rheos_graph_num_operations(rheos_scope_graph(scope)));
  rheos_function *f = args != NULL ? rheos_function_begin(scope, name, NULL) : NULL;
  if (args == NULL) rheos__scope_goes_on(scope, rheos__out_of_memory());
  if (f != NULL) {
    for (size_t i = 0; i < count; ++i) {
      args[i] = rheos_function_argument(f, NULL, rheos_dataset_dtype(dataset, i),
                                        rheos_dataset_shape(dataset, i));
    }
    const rheos_attr attrs[] = {
        {"token", {.kind = RHEOS_ATTR_STRING, .s = rheos__borrow_string(token, strlen(token))}},
        {"Tout",
         {.kind = RHEOS_ATTR_LIST_TYPE, .count = (int32_t)num_components, .types = dtypes}}};
    const rheos_operation call =
        rheos__op_n(rheos_function_scope(f), "PyFunc", NULL, args, count, attrs, 2);
    for (size_t i = 0; i < num_components; ++i) {
      const rheos_output result = rheos_operation_output(call, (int32_t)i);
      if (result.graph != NULL) {
        rheos__scope_goes_on(rheos_function_scope(f), rheos_output_set_shape(result, shapes[i]));
      }
      rheos_function_result(f, NULL, result);
    }
    if (!rheos_function_finish(f, scope)) {
      rheos_function_free(f);
      f = NULL;
    }
  }
  rheos__free(args);
  return f;
}

rheos_output rheos_dataset_map_program(rheos_scope *scope, rheos_output dataset, const char *token,
                                       const rheos_dtype *dtypes, const rheos_shape *shapes,
                                       size_t num_components, int64_t num_parallel) {
  if (!has(scope, token, "token") || !has(scope, dtypes, "dtypes") ||
      !has(scope, shapes, "shapes") || !is_count(scope, num_components, "components") ||
      !takes(scope, dataset)) {
    return none;
  }
  rheos_function *f = calling_program(scope, dataset, token, dtypes, shapes, num_components);
  const rheos_output made = f != NULL ? rheos_dataset_map(scope, dataset, f, num_parallel) : none;
  rheos_function_free(f);
  return made;
}

rheos_output rheos_dataset_filter(rheos_scope *scope, rheos_output dataset,
                                  const rheos_function *function) {
  if (!function_fits(scope, function) || !takes(scope, dataset)) return none;
  making m = like(scope, "FilterDataset", dataset);
  m.function = function;
  attr(&m, "predicate",
       (rheos_attr_value){.kind = RHEOS_ATTR_FUNC, .func = rheos_function_func(function)});
  return add(&m);
}

rheos_output rheos_dataset_interleave(rheos_scope *scope, rheos_output dataset,
                                      const rheos_function *function, int64_t cycle, int64_t block,
                                      int64_t num_parallel) {
  if (!function_fits(scope, function) || !takes(scope, dataset)) return none;
  const bool is_parallel = num_parallel > 1 || num_parallel == RHEOS_DATASET_AUTOTUNE;
  const rheos_output inner = rheos_function_result_at(function, 0);
  const rheos_dtype *dtypes;
  const rheos_shape *shapes;
  const size_t count = components_of(inner, &dtypes, &shapes);
  if (!rheos__scope_goes_on(
          scope, count > 0 ? NULL : RHEOS_INVALID("the function's result is no dataset"))) {
    return none;
  }
  making m = calling(scope, is_parallel ? "ParallelInterleaveDatasetV3" : "InterleaveDataset",
                     dataset, function, "f");
  give_int(&m, cycle);
  give_int(&m, block);
  if (is_parallel) give_int(&m, num_parallel);
  components_are(&m, dtypes, shapes, count);
  return add(&m);
}

// ---- Of all elements

rheos_output rheos_dataset_shuffle(rheos_scope *scope, rheos_output dataset, int64_t buffer,
                                   int64_t seed) {
  if (!takes(scope, dataset)) return none;
  making m = like(scope, "ShuffleDataset", dataset);
  give_int(&m, buffer);
  give_int(&m, seed);
  give_int(&m, seed != 0 ? seed : 0);
  return add(&m);
}

static rheos_output with_int(rheos_scope *scope, const char *type, rheos_output dataset,
                             int64_t value) {
  if (!takes(scope, dataset)) return none;
  making m = like(scope, type, dataset);
  give_int(&m, value);
  return add(&m);
}

rheos_output rheos_dataset_repeat(rheos_scope *scope, rheos_output dataset, int64_t count) {
  return with_int(scope, "RepeatDataset", dataset, count);
}

rheos_output rheos_dataset_take(rheos_scope *scope, rheos_output dataset, int64_t count) {
  return with_int(scope, "TakeDataset", dataset, count);
}

rheos_output rheos_dataset_skip(rheos_scope *scope, rheos_output dataset, int64_t count) {
  return with_int(scope, "SkipDataset", dataset, count);
}

rheos_output rheos_dataset_prefetch(rheos_scope *scope, rheos_output dataset, int64_t buffer) {
  return with_int(scope, "PrefetchDataset", dataset, buffer);
}

rheos_output rheos_dataset_cache(rheos_scope *scope, rheos_output dataset) {
  if (!takes(scope, dataset)) return none;
  making m = like(scope, "CacheDataset", dataset);
  give(&m, rheos__const_string(scope, "", NULL));
  return add(&m);
}

static rheos_shape batched(rheos_shape row, int64_t size) {
  rheos_shape shape = row;
  if (row.rank < 0 || row.rank >= RHEOS_MAX_RANK) return RHEOS_UNKNOWN_SHAPE;
  memmove(shape.dims + 1, row.dims, (size_t)row.rank * sizeof *row.dims);
  shape.dims[0] = size;
  ++shape.rank;
  return shape;
}

rheos_output rheos_dataset_batch(rheos_scope *scope, rheos_output dataset, int64_t size,
                                 bool drop_remainder) {
  if (!takes(scope, dataset)) return none;
  making m = like(scope, "BatchDatasetV2", dataset);
  const size_t count = rheos_dataset_num_components(dataset);
  rheos_shape *shapes = rheos__alloc_array(count, sizeof *shapes);
  rheos_output made = none;
  if (shapes == NULL) {
    rheos__scope_goes_on(scope, rheos__out_of_memory());
  } else {
    for (size_t i = 0; i < count; ++i) {
      shapes[i] = batched(rheos_dataset_shape(dataset, i), drop_remainder && size > 0 ? size : -1);
    }
    m.attrs[1].value.shapes = shapes;
    give_int(&m, size);
    give_bool(&m, drop_remainder);
    made = add(&m);
  }
  rheos__free(shapes);
  return made;
}
