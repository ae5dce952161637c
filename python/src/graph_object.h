// Inside the extension: adding nodes to a graph object, and its methods that other files define.
#ifndef RHEOS_PYTHON_GRAPH_OBJECT_H
#define RHEOS_PYTHON_GRAPH_OBJECT_H

#include "core.h"

// rheos_op() and rheos_constant(), and what the program's device functions say of the operation;
// none with an exception.
rheos_operation graph_add(graph_object *graph, rheos_scope *scope, const rheos_op_args *args);
rheos_output graph_add_constant_take(graph_object *graph, rheos_scope *scope, rheos_tensor *tensor,
                                     const char *name);

// Around what adds operations: afterwards the program's device functions are asked for the device
// of each, if there are any and nothing around it asks them. `is_one`: it is what the program
// itself adds, not a part of something larger. -1 with an exception; an error of the scope stays
// there.
int32_t graph_begin_adding(graph_object *graph, rheos_scope *scope);
int graph_end_adding(graph_object *graph, rheos_scope *scope, int32_t first, bool is_one);

// Numbers, strings, NumPy values and lists without tensors: what becomes a constant right away.
bool is_plain_value(PyObject *value);

// A constant node for a plain value: of `dtype` if given, else of `preferred` if it can be, else of
// what the value suggests. None with an exception.
rheos_output constant_for(graph_object *graph, PyObject *value, rheos_dtype dtype,
                          rheos_dtype preferred, const char *name);

// An array of outputs from a sequence of tensors, variables and None; for PyMem_Free().
int flat_outputs(PyObject *sequence, rheos_output **out_outputs, size_t *out_count);

// After a push: raises the scope's error, if there is one, and undoes the push then; else None.
PyObject *graph_pushed(graph_object *graph, rheos_scope *scope);

// control_flow.c
PyObject *graph_push_context(PyObject *self, PyObject *number);
PyObject *graph_current_context(PyObject *self, PyObject *unused);
PyObject *graph_context_of(PyObject *self, PyObject *id);
PyObject *graph_set_context_of(PyObject *self, PyObject *args);
PyObject *graph_is_fetchable(PyObject *self, PyObject *id);
PyObject *graph_is_feedable(PyObject *self, PyObject *id);
PyObject *graph_cond_begin(PyObject *self, PyObject *pred);
PyObject *graph_cond_result(PyObject *self, PyObject *value);
PyObject *graph_cond_merge(PyObject *self, PyObject *args);
PyObject *graph_while_begin(PyObject *self, PyObject *args);
PyObject *graph_while_body(PyObject *self, PyObject *condition);
PyObject *graph_while_end(PyObject *self, PyObject *next_values);
PyObject *graph_describe_context(PyObject *self, PyObject *number);
PyObject *graph_context_values(PyObject *self, PyObject *number);
PyObject *graph_restore_context(PyObject *self, PyObject *args);

// function_object.c
void graph_free_function(graph_object *graph);
PyObject *graph_begin_function(PyObject *self, PyObject *args);
PyObject *graph_stand_in(PyObject *self, PyObject *args);
PyObject *graph_adopt_argument(PyObject *self, PyObject *args);
PyObject *graph_add_result(PyObject *self, PyObject *args);
PyObject *graph_add_control_output(PyObject *self, PyObject *args);
PyObject *graph_control_outputs(PyObject *self, PyObject *unused);
PyObject *graph_read_outside(PyObject *self, PyObject *value);
PyObject *graph_order_effects(PyObject *self, PyObject *number);
PyObject *graph_rename_function(PyObject *self, PyObject *name);
PyObject *graph_finish_function(PyObject *self, PyObject *unused);
PyObject *graph_function_name(PyObject *self, PyObject *unused);
PyObject *graph_is_stateful(PyObject *self, PyObject *unused);
PyObject *graph_set_function_gradient(PyObject *self, PyObject *args);
PyObject *graph_infer_call(PyObject *self, PyObject *id);
PyObject *graph_remove_function(PyObject *self, PyObject *name);
PyObject *graph_remove_functions(PyObject *self, PyObject *names);
PyObject *graph_sweep_functions(PyObject *self, PyObject *unused);

// training.c
PyObject *graph_gradients(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *graph_variable_new(PyObject *self, PyObject *args);
PyObject *graph_fill_read(PyObject *self, PyObject *args);
PyObject *graph_set_slice(PyObject *self, PyObject *args);
PyObject *graph_slice_of(PyObject *self, PyObject *variable);
PyObject *graph_find_variable(PyObject *self, PyObject *args);
PyObject *graph_share_variable(PyObject *self, PyObject *args);
PyObject *graph_apply_gradients(PyObject *self, PyObject *args, PyObject *kwargs);
PyObject *graph_optimizer_make_slots(PyObject *self, PyObject *args);
PyObject *graph_optimizer_prepare(PyObject *self, PyObject *options);
PyObject *graph_optimizer_update(PyObject *self, PyObject *args);
PyObject *graph_optimizer_finish(PyObject *self, PyObject *args);
PyObject *graph_optimizer_set_slot(PyObject *self, PyObject *args);
PyObject *graph_optimizer_slot(PyObject *self, PyObject *args);
PyObject *optimizer_parts(PyObject *module, PyObject *options);
PyObject *graph_fill_variable(PyObject *self, PyObject *args);
PyObject *graph_variable_from_nodes(PyObject *self, PyObject *args);
PyObject *graph_num_variables(PyObject *self, PyObject *unused);
PyObject *graph_saver_new(PyObject *self, PyObject *args);
PyObject *graph_restore_check(PyObject *self, PyObject *args);
int training_init_types(PyObject *module);

// files.c
PyObject *graph_to_graph_def(PyObject *self, PyObject *args);
PyObject *graph_write(PyObject *self, PyObject *args);
PyObject *read_graph_def(PyObject *module, PyObject *args);
PyObject *graph_node_def(PyObject *self, PyObject *arg);
PyObject *graph_import_graph_def(PyObject *self, PyObject *args);
PyObject *write_checkpoint_state(PyObject *module, PyObject *args);
PyObject *read_checkpoint_state(PyObject *module, PyObject *args);
int files_init_types(PyObject *module);

// checkpoint_object.c
int checkpoint_init_types(PyObject *module);

#endif  // RHEOS_PYTHON_GRAPH_OBJECT_H
