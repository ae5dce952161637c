// Nodes of ops that are not known: they are told of all at once, or kept with a signature that is
// guessed from who takes what from them.
#include "format/graph/graph_import.h"

#include "graph/op_tally.h"

static rheos_status *not_registered(const rheos__op_tally *missing) {
  char text[2048];
  rheos__op_tally_text(missing, text, sizeof text);
  return RHEOS_NOTFOUND("Op type not registered %s", text);
}

static bool is_function(const rheos__import *im, const char *op) {
  const Tensorflow__FunctionDefLibrary *library = im->def->library;
  for (size_t i = 0; library != NULL && i < library->n_function; i++) {
    const Tensorflow__OpDef *signature = library->function[i]->signature;
    if (signature != NULL && strcmp(signature->name, op) == 0) return true;
  }
  return false;
}

// Whether nothing tells what the node's inputs and outputs are.
bool rheos__import_is_unknown(const rheos__import *im, int32_t node) {
  const char *op = im->def->node[node]->op;
  return rheos__graph_signature(im->graph, op) == NULL && !is_function(im, op);
}

// All ops that are missing, in one message.
rheos_status *rheos__import_check_ops(rheos__import *im, bool *out_any_unknown) {
  rheos__op_tally missing = {0};
  rheos_status *status = NULL;
  for (int32_t i = 0; i < im->num_nodes && status == NULL; i++) {
    if (rheos__import_is_unknown(im, i)) {
      status = rheos__op_tally_add(&missing, im->def->node[i]->op, im->def->node[i]->name);
    }
  }
  *out_any_unknown = missing.count > 0;
  if (status == NULL && missing.count > 0 && !im->keep_unknown_ops) {
    status = not_registered(&missing);
  }
  rheos__op_tally_deinit(&missing);
  return status;
}

// Notes who takes what from nodes of unknown ops.
rheos_status *rheos__import_find_uses(rheos__import *im) {
  size_t num_inputs = 0;
  for (int32_t i = 0; i < im->num_nodes; i++) num_inputs += im->def->node[i]->n_input;
  im->uses = rheos__arena_alloc(&im->arena, (num_inputs + 1) * sizeof *im->uses);
  im->first_uses = rheos__arena_alloc(&im->arena, (size_t)im->num_nodes * sizeof *im->first_uses);
  if (im->uses == NULL || im->first_uses == NULL) return rheos__out_of_memory();
  for (int32_t i = 0; i < im->num_nodes; i++) im->first_uses[i] = -1;
  int32_t count = 0;
  for (int32_t i = 0; i < im->num_nodes; i++) {
    for (size_t k = 0; k < im->def->node[i]->n_input; k++) {
      const rheos__import_source from = im->sources[i][k];
      if (from.node < 0 || from.index < 0 || !rheos__import_is_unknown(im, from.node)) continue;
      im->uses[count] = (rheos__import_use){i, (int32_t)k, from.index, im->first_uses[from.node]};
      im->first_uses[from.node] = count++;
    }
  }
  return NULL;
}

// ---- Their signatures

static rheos_dtype type_in(const Tensorflow__AttrValue *value, int64_t index) {
  int64_t number = 0;
  if (value != NULL && value->value_case == TENSORFLOW__ATTR_VALUE__VALUE_TYPE) {
    number = value->type;
  } else if (value != NULL && value->value_case == TENSORFLOW__ATTR_VALUE__VALUE_LIST &&
             index < (int64_t)value->list->n_type) {
    number = value->list->type[index];
  }
  return number > 0 && number <= RHEOS_UINT4 ? (rheos_dtype)number : RHEOS_INVALID_DTYPE;
}

// How many inputs an argument of a node takes, by its attributes; -1: they do not say.
static int64_t length_of(const rheos__signature *signature, const rheos__arg *arg,
                         const Tensorflow__NodeDef *def) {
  if (arg->number_attr < 0 && arg->type_list_attr < 0) return 1;
  const int16_t attr = arg->number_attr >= 0 ? arg->number_attr : arg->type_list_attr;
  const Tensorflow__AttrValue *value = rheos__import_attr_named(def, signature->attrs[attr].name);
  if (value == NULL) return -1;
  if (value->value_case == TENSORFLOW__ATTR_VALUE__VALUE_I) return value->i;
  return value->value_case == TENSORFLOW__ATTR_VALUE__VALUE_LIST ? (int64_t)value->list->n_type
                                                                 : -1;
}

// The dtype that a node asks for as its input; RHEOS_INVALID_DTYPE if that is not known.
static rheos_dtype wanted_dtype(const rheos__import *im, const rheos__import_use *u,
                                const Tensorflow__NodeDef *def) {
  const rheos__signature *signature = rheos__graph_signature(im->graph, def->op);
  int64_t first = 0;
  for (int32_t i = 0; signature != NULL && i < signature->num_inputs; i++) {
    const rheos__arg *arg = &signature->inputs[i];
    const int64_t length = length_of(signature, arg, def);
    if (length < 0 || length > INT32_MAX) break;
    if (u->input >= first + length) {
      first += length;
      continue;
    }
    if (arg->type_attr >= 0 || arg->type_list_attr < 0) {
      const rheos_dtype base =
          arg->type_attr < 0
              ? arg->dtype
              : type_in(rheos__import_attr_named(def, signature->attrs[arg->type_attr].name), 0);
      const bool is_ref = arg->is_ref && base != RHEOS_INVALID_DTYPE;
      return is_ref ? (rheos_dtype)(base + RHEOS_REF) : base;
    }
    return type_in(rheos__import_attr_named(def, signature->attrs[arg->type_list_attr].name),
                   u->input - first);
  }
  return RHEOS_INVALID_DTYPE;
}

// What the node's own attributes say of an output, by the names that TensorFlow's ops use.
static rheos_dtype declared_dtype(const Tensorflow__NodeDef *def, int32_t index) {
  static const char *const names[] = {"output_types", "Tout",  "Toutputs", "component_types",
                                      "out_type",     "dtype", "T"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    const rheos_dtype dtype = type_in(rheos__import_attr_named(def, names[i]), index);
    if (dtype != RHEOS_INVALID_DTYPE) return dtype;
  }
  return RHEOS_INVALID_DTYPE;
}

// As many outputs as others take or as have shapes, of the dtypes that others ask for.
rheos_status *rheos__import_guess_signature(const rheos__import *im, int32_t node,
                                            rheos__new_node *n) {
  const Tensorflow__AttrValue__ListValue *shapes = rheos__import_written_shapes(n->def);
  int64_t num_outputs = shapes != NULL && shapes->n_shape > 0 ? (int64_t)shapes->n_shape : 1;
  for (int32_t i = im->first_uses[node]; i >= 0; i = im->uses[i].next) {
    if (im->uses[i].index >= num_outputs) num_outputs = (int64_t)im->uses[i].index + 1;
  }
  if (num_outputs > UINT16_MAX) {
    return RHEOS_INVALID("Node '%s': output %lld is taken from it", n->def->name,
                         (long long)num_outputs - 1);
  }
  rheos_dtype *outputs = rheos__arena_alloc(n->arena, (size_t)num_outputs * sizeof *outputs);
  rheos_dtype *inputs = rheos__arena_alloc(n->arena, n->num_inputs * sizeof *inputs);
  if (outputs == NULL || inputs == NULL) return rheos__out_of_memory();
  for (int32_t i = 0; i < num_outputs; i++) outputs[i] = RHEOS_INVALID_DTYPE;
  for (int32_t i = im->first_uses[node]; i >= 0; i = im->uses[i].next) {
    const Tensorflow__NodeDef *def;
    RHEOS_TRY(rheos__import_whole_node(im, im->uses[i].node, n->arena, &def));
    const rheos_dtype wanted = wanted_dtype(im, &im->uses[i], def);
    rheos_dtype *output = &outputs[im->uses[i].index];
    // A reference also serves those who want the value.
    if (wanted != RHEOS_INVALID_DTYPE && !rheos_dtype_is_ref(*output)) *output = wanted;
  }
  for (int32_t i = 0; i < num_outputs; i++) {
    if (outputs[i] == RHEOS_INVALID_DTYPE) outputs[i] = declared_dtype(n->def, i);
  }
  for (size_t i = 0; i < n->num_inputs; i++) inputs[i] = rheos_output_dtype(n->inputs[i]);
  return rheos__graph_guess_signature(im->graph, n->def->op, inputs, n->num_inputs, outputs,
                                      (size_t)num_outputs, &n->signature);
}
