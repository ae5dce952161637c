// Arrays of tensors by TensorFlow 1's ops of version 3, with the names that its Python gives them.
#include <rheos/array.h>

#include "base/options.h"
#include "graph/build.h"
#include "graph/handles.h"

static const rheos_array no_array = {{NULL, 0, 0}, {NULL, 0, 0}, RHEOS_INVALID_DTYPE};
static const rheos_output none = {NULL, 0, 0};

static rheos_status *check_array(rheos_array array) {
  return rheos__is_some(array.handle) && rheos__is_some(array.flow)
             ? NULL
             : RHEOS_INVALID("an array of tensors that is none");
}

// A node of `type` in a name scope, as TensorFlow has one around each.
static rheos_operation add_node(rheos_scope *s, const char *scope_name, const char *type,
                                const rheos_output *inputs, size_t num_inputs,
                                const rheos_attr *attrs, size_t num_attrs) {
  rheos_push_name_scope(s, scope_name);
  const rheos_operation made = rheos__op_n(s, type, NULL, inputs, num_inputs, attrs, num_attrs);
  rheos_scope_pop(s);
  return made;
}

static rheos_output output_of(rheos_operation operation, int32_t index) {
  return operation.graph != NULL ? rheos_operation_output(operation, index) : none;
}

rheos_array rheos_array_new_sized(rheos_scope *s, rheos_dtype dtype, rheos_output size,
                                  const rheos_array_options *options, size_t options_bytes) {
  rheos_array_options o;
  if (!rheos__scope_goes_on(s,
                            RHEOS_READ_OPTIONS(rheos_array_options, options, options_bytes, &o))) {
    return no_array;
  }
  rheos_attr attrs[5];
  size_t count = 0;
  attrs[count++] = rheos_attr_type("dtype", dtype);
  if (o.element_shape != NULL) attrs[count++] = rheos_attr_shape("element_shape", o.element_shape);
  attrs[count++] = rheos_attr_bool("dynamic_size", o.dynamic_size);
  attrs[count++] = rheos_attr_bool("clear_after_read", !o.not_cleared_after_read);
  attrs[count++] = rheos_attr_bool("identical_element_shapes", o.identical_element_shapes);
  const rheos_operation made = rheos__op_n(
      s, "TensorArrayV3", o.name != NULL ? o.name : "TensorArray", &size, 1, attrs, count);
  if (made.graph == NULL) return no_array;
  return (rheos_array){output_of(made, 0), output_of(made, 1), dtype};
}

// The array after an op whose output is the flow.
static rheos_array changed(rheos_scope *s, rheos_array array, const char *scope_name,
                           const char *type, const rheos_output *inputs, size_t num_inputs) {
  if (!rheos__scope_goes_on(s, check_array(array))) return no_array;
  const rheos_attr dtype = rheos_attr_type("T", array.dtype);
  array.flow = output_of(add_node(s, scope_name, type, inputs, num_inputs, &dtype, 1), 0);
  return rheos__is_some(array.flow) ? array : no_array;
}

// Output 0 of an op that looks at the array.
static rheos_output looked_up(rheos_scope *s, rheos_array array, const char *scope_name,
                              const char *type, const rheos_output *inputs, size_t num_inputs) {
  if (!rheos__scope_goes_on(s, check_array(array))) return none;
  const rheos_attr dtype = rheos_attr_type("dtype", array.dtype);
  return output_of(add_node(s, scope_name, type, inputs, num_inputs, &dtype, 1), 0);
}

rheos_array rheos_array_write(rheos_scope *s, rheos_array array, rheos_output index,
                              rheos_output value) {
  const rheos_output inputs[] = {array.handle, index, value, array.flow};
  return changed(s, array, "TensorArrayWrite", "TensorArrayWriteV3", inputs, 4);
}

rheos_output rheos_array_read(rheos_scope *s, rheos_array array, rheos_output index) {
  const rheos_output inputs[] = {array.handle, index, array.flow};
  return looked_up(s, array, "TensorArrayRead", "TensorArrayReadV3", inputs, 3);
}

rheos_output rheos_array_size(rheos_scope *s, rheos_array array) {
  if (!rheos__scope_goes_on(s, check_array(array))) return none;
  const rheos_output inputs[] = {array.handle, array.flow};
  return output_of(add_node(s, "TensorArraySize", "TensorArraySizeV3", inputs, 2, NULL, 0), 0);
}

rheos_output rheos_array_gather(rheos_scope *s, rheos_array array, rheos_output indices) {
  const rheos_output inputs[] = {array.handle, indices, array.flow};
  return looked_up(s, array, "TensorArrayGather", "TensorArrayGatherV3", inputs, 3);
}

rheos_array rheos_array_scatter(rheos_scope *s, rheos_array array, rheos_output indices,
                                rheos_output value) {
  const rheos_output inputs[] = {array.handle, indices, value, array.flow};
  return changed(s, array, "TensorArrayScatter", "TensorArrayScatterV3", inputs, 4);
}

// 0, 1, ... below `count`.
static rheos_output all_below(rheos_scope *s, rheos_output count) {
  return rheos__op_3(s, "Range", rheos__const_scalar(s, RHEOS_INT32, 0, "range/start"), count,
                     rheos__const_scalar(s, RHEOS_INT32, 1, "range/delta"));
}

// How many rows the value has, an int32 scalar.
static rheos_output num_rows(rheos_scope *s, rheos_output value) {
  const rheos_output first = rheos__const_scalar(s, RHEOS_INT32, 0, "first");
  const rheos_output axis = rheos__const_scalar(s, RHEOS_INT32, 0, "axis");
  return rheos__op_3(s, "GatherV2", rheos__shape_of(s, value, RHEOS_INT32), first, axis);
}

rheos_output rheos_array_stack(rheos_scope *s, rheos_array array) {
  if (!rheos__scope_goes_on(s, check_array(array))) return none;
  rheos_push_name_scope(s, "TensorArrayStack");
  const rheos_output indices = all_below(s, rheos_array_size(s, array));
  const rheos_output rows = rheos_array_gather(s, array, indices);
  rheos_scope_pop(s);
  return rows;
}

rheos_array rheos_array_unstack(rheos_scope *s, rheos_array array, rheos_output value) {
  if (!rheos__scope_goes_on(s, check_array(array))) return no_array;
  rheos_push_name_scope(s, "TensorArrayUnstack");
  const rheos_array made = rheos_array_scatter(s, array, all_below(s, num_rows(s, value)), value);
  rheos_scope_pop(s);
  return made;
}

rheos_output rheos_array_concat(rheos_scope *s, rheos_array array) {
  const rheos_output inputs[] = {array.handle, array.flow};
  return looked_up(s, array, "TensorArrayConcat", "TensorArrayConcatV3", inputs, 2);
}

rheos_array rheos_array_split(rheos_scope *s, rheos_array array, rheos_output value,
                              rheos_output lengths) {
  const rheos_output inputs[] = {array.handle, value, lengths, array.flow};
  return changed(s, array, "TensorArraySplit", "TensorArraySplitV3", inputs, 4);
}

// ---- Over rows

typedef struct mapping {
  rheos_row_function function;
  void *argument;
  rheos_output count;
  rheos_array *elems, *results;
  size_t num_elems, num_results;
  rheos_output *rows, *made;
} mapping;

static rheos_output goes_on(rheos_scope *s, void *argument, const rheos_output *variables,
                            size_t num_variables) {
  (void)num_variables;
  return rheos__op_2(s, "Less", variables[0], ((const mapping *)argument)->count);
}

// variables: the row's number, the flows of the results.
static void map_row(rheos_scope *s, void *argument, const rheos_output *variables,
                    rheos_output *next, size_t num_variables) {
  const mapping *m = argument;
  (void)num_variables;
  for (size_t i = 0; i < m->num_elems; i++) {
    m->rows[i] = rheos_array_read(s, m->elems[i], variables[0]);
  }
  for (size_t i = 0; i < m->num_results; i++) m->made[i] = none;
  if (rheos_scope_status(s) == NULL) {
    m->function(s, m->argument, m->rows, m->num_elems, m->made, m->num_results);
  }
  next[0] = rheos__op_2(s, "Add", variables[0], rheos__const_scalar(s, RHEOS_INT32, 1, "one"));
  for (size_t i = 0; i < m->num_results; i++) {
    const rheos_array before = rheos_array_with_flow(m->results[i], variables[1 + i]);
    next[1 + i] = rheos_array_write(s, before, variables[0], m->made[i]).flow;
  }
}

static void make_arrays(rheos_scope *s, mapping *m, const rheos_output *elems,
                        const rheos_dtype *dtypes) {
  m->count = num_rows(s, elems[0]);
  for (size_t i = 0; i < m->num_elems; i++) {
    const rheos_dtype dtype = rheos_dtype_base(rheos_output_dtype(elems[i]));
    m->elems[i] = rheos_array_new(s, dtype, m->count, NULL);
    m->elems[i] = rheos_array_unstack(s, m->elems[i], elems[i]);
  }
  for (size_t i = 0; i < m->num_results; i++) {
    const rheos_dtype dtype =
        dtypes != NULL ? dtypes[i] : rheos_dtype_base(rheos_output_dtype(elems[i]));
    m->results[i] = rheos_array_new(s, dtype, m->count, NULL);
  }
}

static void build_map(rheos_scope *s, mapping *m, const rheos_output *elems,
                      const rheos_dtype *dtypes, rheos_output *variables, rheos_output *outputs) {
  make_arrays(s, m, elems, dtypes);
  variables[0] = rheos__const_scalar(s, RHEOS_INT32, 0, "start");
  for (size_t i = 0; i < m->num_results; i++) variables[1 + i] = m->results[i].flow;
  if (rheos_scope_status(s) != NULL) return;
  rheos_output *after = variables + 1 + m->num_results;
  rheos_while_loop(s, goes_on, map_row, m, variables, 1 + m->num_results, NULL, after);
  for (size_t i = 0; i < m->num_results; i++) {
    outputs[i] = rheos_array_stack(s, rheos_array_with_flow(m->results[i], after[1 + i]));
  }
}

static rheos_status *check_map(rheos_row_function function, const rheos_output *elems,
                               size_t num_elems, const rheos_dtype *dtypes,
                               const rheos_output *outputs, size_t num_outputs) {
  RHEOS_TRY(RHEOS_LIST_STATUS(outputs, num_outputs));
  RHEOS_TRY(RHEOS_LIST_STATUS(elems, num_elems));
  if (function == NULL) return RHEOS_INVALID("the function over rows is NULL");
  if (num_elems == 0 || num_outputs == 0) {
    return RHEOS_INVALID("a map takes and gives at least one tensor, not %zu and %zu", num_elems,
                         num_outputs);
  }
  if (dtypes != NULL || num_elems == num_outputs) return NULL;
  return RHEOS_INVALID("a map of %zu to %zu tensors is to be told their dtypes", num_elems,
                       num_outputs);
}

void rheos_map(rheos_scope *s, rheos_row_function function, void *argument,
               const rheos_output *elems, size_t num_elems, const rheos_dtype *dtypes,
               const char *name, rheos_output *outputs, size_t num_outputs) {
  rheos_status *status = check_map(function, elems, num_elems, dtypes, outputs, num_outputs);
  if (rheos__is_list(outputs, num_outputs, sizeof *outputs)) {
    for (size_t i = 0; i < num_outputs; i++) outputs[i] = none;
  }
  if (!rheos__scope_goes_on(s, status)) return;
  mapping m = {.function = function,
               .argument = argument,
               .elems = rheos__alloc_array(num_elems, sizeof *m.elems),
               .results = rheos__alloc_array(num_outputs, sizeof *m.results),
               .num_elems = num_elems,
               .num_results = num_outputs,
               .rows = rheos__alloc_array(num_elems, sizeof *m.rows),
               .made = rheos__alloc_array(num_outputs, sizeof *m.made)};
  rheos_output *variables = rheos__alloc_array(num_outputs + 1, 2 * sizeof *variables);
  if (m.elems == NULL || m.results == NULL || m.rows == NULL || m.made == NULL ||
      variables == NULL) {
    rheos_scope_fail_take(s, rheos__out_of_memory());
  } else {
    rheos_push_name_scope(s, name != NULL ? name : "map");
    build_map(s, &m, elems, dtypes, variables, outputs);
    rheos_scope_pop(s);
  }
  for (size_t i = 0; rheos_scope_status(s) != NULL && i < num_outputs; i++) outputs[i] = none;
  rheos__free(m.elems);
  rheos__free(m.results);
  rheos__free(m.rows);
  rheos__free(m.made);
  rheos__free(variables);
}
