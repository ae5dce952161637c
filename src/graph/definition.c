// Definitions of ops as programs ask for them: <rheos/op_def.h>.
#include <rheos/op_def.h>

#include "graph/graph.h"

int32_t rheos_num_ops(void) { return rheos__op_table_size; }

const char *rheos_op_type(int32_t index) {
  return index >= 0 && index < rheos__op_table_size ? rheos__op_table[index]->name : NULL;
}

const char *rheos_op_signature(const char *type) {
  if (type == NULL) return NULL;
  const rheos__signature *signature = rheos__signature_by_name(type);
  return signature != NULL ? signature->op->signature : NULL;
}

const rheos_op_def *rheos_op_def_find(rheos_graph *graph, const char *type) {
  if (type == NULL) return NULL;
  if (graph == NULL) return rheos__signature_by_name(type);
  rheos__graph_lock(graph);
  const rheos__signature *signature = rheos__graph_signature(graph, type);
  rheos__graph_unlock(graph);
  return signature;
}

const rheos_op_def *rheos_operation_op_def(rheos_operation operation) {
  if (operation.id < 0 || operation.id >= rheos_graph_num_operations(operation.graph)) return NULL;
  return rheos__graph_node(operation.graph, operation.id)->signature;
}

const char *rheos_op_def_type(const rheos_op_def *op) { return op != NULL ? op->op->name : ""; }

const char *rheos_op_def_description(const rheos_op_def *op) {
  return op != NULL && op->op->doc != NULL ? op->op->doc : "";
}

static bool has_flag(const rheos_op_def *op, unsigned flag) {
  return op != NULL && (op->op->flags & flag) != 0;
}

bool rheos_op_def_is_stateful(const rheos_op_def *op) { return has_flag(op, RHEOS_OP_STATEFUL); }

bool rheos_op_def_is_commutative(const rheos_op_def *op) {
  return has_flag(op, RHEOS_OP_COMMUTATIVE);
}

bool rheos_op_def_is_aggregate(const rheos_op_def *op) { return has_flag(op, RHEOS_OP_AGGREGATE); }

bool rheos_op_def_allows_uninitialized_input(const rheos_op_def *op) {
  return has_flag(op, RHEOS_OP_TAKES_UNINITIALIZED);
}

// ---- Arguments and attributes

static const char *attr_name(const rheos_op_def *op, int16_t index) {
  return index >= 0 ? op->attrs[index].name : NULL;
}

static rheos_op_argument argument(const rheos_op_def *op, const rheos__arg *args, int32_t count,
                                  int32_t index) {
  if (index < 0 || index >= count) return (rheos_op_argument){0};
  const rheos__arg *arg = &args[index];
  return (rheos_op_argument){
      .name = arg->name,
      .dtype = arg->type_attr < 0 && arg->type_list_attr < 0 ? arg->dtype : RHEOS_INVALID_DTYPE,
      .type_attr = attr_name(op, arg->type_attr),
      .number_attr = attr_name(op, arg->number_attr),
      .type_list_attr = attr_name(op, arg->type_list_attr),
      .is_ref = arg->is_ref,
  };
}

int32_t rheos_op_def_num_inputs(const rheos_op_def *op) { return op != NULL ? op->num_inputs : 0; }

rheos_op_argument rheos_op_def_input(const rheos_op_def *op, int32_t index) {
  return argument(op, op != NULL ? op->inputs : NULL, rheos_op_def_num_inputs(op), index);
}

int32_t rheos_op_def_num_outputs(const rheos_op_def *op) {
  return op != NULL ? op->num_outputs : 0;
}

rheos_op_argument rheos_op_def_output(const rheos_op_def *op, int32_t index) {
  return argument(op, op != NULL ? op->outputs : NULL, rheos_op_def_num_outputs(op), index);
}

int32_t rheos_op_def_num_attrs(const rheos_op_def *op) { return op != NULL ? op->num_attrs : 0; }

rheos_op_attr rheos_op_def_attr(const rheos_op_def *op, int32_t index) {
  if (index < 0 || index >= rheos_op_def_num_attrs(op)) return (rheos_op_attr){0};
  const rheos__attr_def *attr = &op->attrs[index];
  return (rheos_op_attr){
      .name = attr->name,
      .kind = attr->kind,
      .default_value = attr->has_default ? attr->default_value : (rheos_attr_value){0},
      .has_minimum = attr->has_minimum,
      .minimum = attr->minimum,
      .allowed_types = attr->allowed_types,
      .allowed_strings = attr->allowed_strings,
  };
}
