// Definitions of ops that files bring along: an OpDef message as a signature of the graph, and a
// guess for a node of which only the message itself is known.
#include "format/graph/graph_def.h"

#include <stdlib.h>

#include "format/message/tensor_proto.h"
#include "graph/library.h"

enum { MAX_ITEMS = 4096 };

// The op of a signature and the signature, made together.
typedef struct own_op {
  rheos__op_def op;
  rheos__signature signature;
} own_op;

static char *copy_text(rheos_graph *graph, const char *text) {
  const size_t size_bytes = strlen(text) + 1;
  char *copy = rheos__graph_alloc(graph, size_bytes);
  if (copy != NULL) memcpy(copy, text, size_bytes);
  return copy;
}

static own_op *new_op(rheos_graph *graph, const char *name, bool is_stateful) {
  own_op *own = rheos__graph_alloc(graph, sizeof *own);
  if (own == NULL) return NULL;
  own->op = (rheos__op_def){.name = copy_text(graph, name),
                            .signature = "",
                            .doc = "",
                            .flags = is_stateful ? RHEOS_OP_STATEFUL : 0};
  own->signature.op = &own->op;
  return own->op.name != NULL ? own : NULL;
}

// ---- From an OpDef

// "list(int)" and the like.
static bool kind_of(const char *type, rheos_attr_kind *out_kind) {
  static const struct {
    const char *single, *list;
    rheos_attr_kind kind, list_kind;
  } kinds[] = {{"string", "list(string)", RHEOS_ATTR_STRING, RHEOS_ATTR_LIST_STRING},
               {"int", "list(int)", RHEOS_ATTR_INT, RHEOS_ATTR_LIST_INT},
               {"float", "list(float)", RHEOS_ATTR_FLOAT, RHEOS_ATTR_LIST_FLOAT},
               {"bool", "list(bool)", RHEOS_ATTR_BOOL, RHEOS_ATTR_LIST_BOOL},
               {"type", "list(type)", RHEOS_ATTR_TYPE, RHEOS_ATTR_LIST_TYPE},
               {"shape", "list(shape)", RHEOS_ATTR_SHAPE, RHEOS_ATTR_LIST_SHAPE},
               {"tensor", "list(tensor)", RHEOS_ATTR_TENSOR, RHEOS_ATTR_LIST_TENSOR},
               {"func", "list(func)", RHEOS_ATTR_FUNC, RHEOS_ATTR_LIST_FUNC}};
  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
    if (strcmp(type, kinds[i].single) == 0) {
      *out_kind = kinds[i].kind;
      return true;
    }
    if (strcmp(type, kinds[i].list) == 0) {
      *out_kind = kinds[i].list_kind;
      return true;
    }
  }
  return false;
}

// A default that outlives the message. Tensors and lists are left out: then every node of a file
// has to say the value, as files do.
static rheos_status *read_default(rheos_graph *graph, const Tensorflow__AttrValue *proto,
                                  rheos__attr_def *out_attr) {
  rheos__arena arena;
  rheos__arena_init(&arena);
  rheos_attr_value value;
  rheos_status *status = rheos__attr_from_proto(proto, &arena, &value);
  if (status == NULL && value.kind == out_attr->kind) {
    if (value.kind == RHEOS_ATTR_STRING) {
      value.s.data = rheos__graph_alloc(graph, value.s.size_bytes + 1);
      if (value.s.data == NULL) status = rheos__out_of_memory();
      if (status == NULL) memcpy(value.s.data, proto->s.data, value.s.size_bytes);
      out_attr->has_default = status == NULL;
    } else {
      out_attr->has_default = value.kind == RHEOS_ATTR_INT || value.kind == RHEOS_ATTR_FLOAT ||
                              value.kind == RHEOS_ATTR_BOOL || value.kind == RHEOS_ATTR_TYPE;
    }
    if (out_attr->has_default) out_attr->default_value = value;
  }
  if (status == NULL) rheos__attr_release(&value);
  rheos__arena_deinit(&arena);
  return status;
}

static rheos_status *read_attr_def(rheos_graph *graph, const Tensorflow__OpDef__AttrDef *proto,
                                   rheos__attr_def *out_attr) {
  out_attr->name = copy_text(graph, proto->name);
  if (out_attr->name == NULL) return rheos__out_of_memory();
  if (!kind_of(proto->type, &out_attr->kind)) {
    return RHEOS_INVALID("attribute '%s' has the unknown type '%s'", proto->name, proto->type);
  }
  out_attr->has_minimum = proto->has_minimum;
  out_attr->minimum = proto->minimum;
  if (proto->allowed_values != NULL &&
      proto->allowed_values->value_case == TENSORFLOW__ATTR_VALUE__VALUE_LIST) {
    const Tensorflow__AttrValue__ListValue *list = proto->allowed_values->list;
    for (size_t i = 0; i < list->n_type; i++) {
      const int64_t type = list->type[i];
      if (type > 0 && type < 64) out_attr->allowed_types |= UINT64_C(1) << type;
    }
  }
  return proto->default_value != NULL ? read_default(graph, proto->default_value, out_attr) : NULL;
}

static int16_t attr_of(const Tensorflow__OpDef *proto, const char *name) {
  for (size_t i = 0; name[0] != '\0' && i < proto->n_attr; i++) {
    if (strcmp(proto->attr[i]->name, name) == 0) return (int16_t)i;
  }
  return -1;
}

static rheos_status *read_args(rheos_graph *graph, const Tensorflow__OpDef *proto,
                               Tensorflow__OpDef__ArgDef *const *protos, size_t count,
                               const rheos__attr_def *attrs, const rheos__arg **out_args) {
  rheos__arg *args = rheos__graph_alloc(graph, count * sizeof *args);
  if (args == NULL) return rheos__out_of_memory();
  for (size_t i = 0; i < count; i++) {
    rheos__arg *arg = &args[i];
    arg->name = copy_text(graph, protos[i]->name);
    if (arg->name == NULL) return rheos__out_of_memory();
    arg->type_attr = attr_of(proto, protos[i]->type_attr);
    arg->number_attr = attr_of(proto, protos[i]->number_attr);
    arg->type_list_attr = attr_of(proto, protos[i]->type_list_attr);
    arg->is_ref = protos[i]->is_ref;
    const bool fits =
        (arg->type_attr < 0 || attrs[arg->type_attr].kind == RHEOS_ATTR_TYPE) &&
        (arg->number_attr < 0 || attrs[arg->number_attr].kind == RHEOS_ATTR_INT) &&
        (arg->type_list_attr < 0 || attrs[arg->type_list_attr].kind == RHEOS_ATTR_LIST_TYPE);
    if (!fits) return RHEOS_INVALID("argument '%s' names an attribute of a wrong type", arg->name);
    if (arg->type_attr >= 0 || arg->type_list_attr >= 0) continue;
    RHEOS_TRY(rheos__dtype_from_proto(protos[i]->type, &arg->dtype));
  }
  *out_args = args;
  return NULL;
}

static rheos_status *read_op(rheos_graph *graph, const Tensorflow__OpDef *proto,
                             rheos__signature *signature) {
  if (proto->n_attr > MAX_ITEMS || proto->n_input_arg > MAX_ITEMS ||
      proto->n_output_arg > MAX_ITEMS) {
    return RHEOS_INVALID("it has too many arguments");
  }
  rheos__attr_def *attrs = rheos__graph_alloc(graph, proto->n_attr * sizeof *attrs);
  if (attrs == NULL) return rheos__out_of_memory();
  for (size_t i = 0; i < proto->n_attr; i++) {
    RHEOS_TRY(read_attr_def(graph, proto->attr[i], &attrs[i]));
  }
  signature->attrs = attrs;
  signature->num_attrs = (int32_t)proto->n_attr;
  signature->num_inputs = (int32_t)proto->n_input_arg;
  signature->num_outputs = (int32_t)proto->n_output_arg;
  RHEOS_TRY(
      read_args(graph, proto, proto->input_arg, proto->n_input_arg, attrs, &signature->inputs));
  return read_args(graph, proto, proto->output_arg, proto->n_output_arg, attrs,
                   &signature->outputs);
}

static rheos_status *add_op(rheos_graph *graph, const Tensorflow__OpDef *proto, unsigned flags,
                            rheos__prepare_fn prepare) {
  own_op *own = new_op(graph, proto->name, proto->is_stateful);
  if (own == NULL) return rheos__out_of_memory();
  own->op.flags |= flags | (proto->is_commutative ? RHEOS_OP_COMMUTATIVE : 0) |
                   (proto->is_aggregate ? RHEOS_OP_AGGREGATE : 0) |
                   (proto->allows_uninitialized_input ? RHEOS_OP_TAKES_UNINITIALIZED : 0);
  own->op.prepare = prepare;
  if (prepare != NULL) {
    own->op.gradient = rheos__gradient_call_by_name;
    if (proto->is_stateful) own->op.flags |= RHEOS_OP_WRITES;  // whatever it is given
  }
  rheos_status *status = read_op(graph, proto, &own->signature);
  if (status == NULL) return rheos__graph_add_signature(graph, &own->signature);
  rheos_status *named = rheos_status_new(rheos_status_code(status), "the definition of '%s': %s",
                                         proto->name, rheos_status_message(status));
  rheos_status_free(status);
  return named;
}

rheos_status *rheos__graph_add_op_def(rheos_graph *graph, const Tensorflow__OpDef *proto) {
  return add_op(graph, proto, 0, NULL);
}

rheos_status *rheos__graph_add_function_op(rheos_graph *graph, const Tensorflow__OpDef *proto) {
  return add_op(graph, proto, RHEOS_OP_CALLS | RHEOS_OP_IS_CALL | RHEOS_OP_ANY_MEMORY,
                rheos__prepare_call_by_name);
}

// ---- A guess

rheos_status *rheos__graph_guess_signature(rheos_graph *graph, const char *type,
                                           const rheos_dtype *inputs, size_t num_inputs,
                                           const rheos_dtype *outputs, size_t num_outputs,
                                           const rheos__signature **out_signature) {
  own_op *own = new_op(graph, type, true);
  rheos__arg *args = rheos__graph_alloc(graph, (num_inputs + num_outputs) * sizeof *args);
  if (own == NULL || args == NULL) return rheos__out_of_memory();
  for (size_t i = 0; i < num_inputs + num_outputs; i++) {
    const bool is_input = i < num_inputs;
    const rheos_dtype dtype = is_input ? inputs[i] : outputs[i - num_inputs];
    args[i] = (rheos__arg){.name = is_input ? "input" : "output",
                           .dtype = rheos_dtype_base(dtype),
                           .is_ref = !is_input && rheos_dtype_is_ref(dtype),
                           .type_attr = -1,
                           .number_attr = -1,
                           .type_list_attr = -1};
  }
  own->signature.inputs = args;
  own->signature.num_inputs = (int32_t)num_inputs;
  own->signature.outputs = args + num_inputs;
  own->signature.num_outputs = (int32_t)num_outputs;
  *out_signature = &own->signature;
  return NULL;
}
