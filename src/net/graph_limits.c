#include "net/graph_limits.h"

#include "format/message/protobuf.h"
#include "graph.pb-c.h"
#include "graph/op_def.h"

// ---- Files

// The nodes of the graph, or of one function.
typedef struct node_list {
  Tensorflow__NodeDef *const *nodes;
  size_t count;
} node_list;

static bool is_empty(const Tensorflow__TensorProto *tensor) {
  if (tensor->tensor_content.len > 0) return false;
  for (size_t i = 0; i < tensor->n_string_val; i++) {
    if (tensor->string_val[i].len > 0) return false;
  }
  return true;
}

static const Tensorflow__AttrValue *find_attr(const Tensorflow__NodeDef *node, const char *name) {
  for (size_t i = 0; i < node->n_attr; i++) {
    if (strcmp(node->attr[i]->key, name) == 0) return node->attr[i]->value;
  }
  return NULL;
}

// Whether an attribute, NULL: one that has its default, names no file.
static bool attr_names_none(const Tensorflow__AttrValue *value, const char *name) {
  static const char scheme[] = "file://";
  if (value == NULL) return true;
  if (value->value_case != TENSORFLOW__ATTR_VALUE__VALUE_S) return false;
  if (strcmp(name, "output_stream") != 0) return value->s.len == 0;
  return value->s.len < strlen(scheme) || memcmp(value->s.data, scheme, strlen(scheme)) != 0;
}

// Whether an input is a constant that names no file.
static bool input_names_none(const node_list *list, const char *input) {
  for (size_t i = 0; i < list->count; i++) {
    const Tensorflow__NodeDef *node = list->nodes[i];
    const size_t size = strlen(node->name);
    if (strncmp(node->name, input, size) != 0 || (input[size] != '\0' && input[size] != ':')) {
      continue;
    }
    const Tensorflow__AttrValue *value = find_attr(node, "value");
    return strcmp(node->op, "Const") == 0 && value != NULL &&
           value->value_case == TENSORFLOW__ATTR_VALUE__VALUE_TENSOR && is_empty(value->tensor);
  }
  return false;
}

static bool names_none(const node_list *list, const Tensorflow__NodeDef *node,
                       const rheos__signature *signature) {
  const char *name = signature->op->file_argument;
  if (name == NULL) return false;
  const int32_t num_inputs = rheos_op_def_num_inputs(signature);
  for (int32_t i = 0; i < num_inputs; i++) {
    if (strcmp(rheos_op_def_input(signature, i).name, name) != 0) continue;
    return (size_t)i < node->n_input && input_names_none(list, node->input[i]);
  }
  return attr_names_none(find_attr(node, name), name);
}

static rheos_status *check_node(const node_list *list, const Tensorflow__NodeDef *node,
                                const char *function) {
  const rheos__signature *signature = rheos__signature_by_name(node->op);
  const unsigned flags = signature != NULL ? signature->op->flags : 0;
  const bool calls = (flags & RHEOS_OP_CALLS_PROGRAM) != 0;
  if (!calls && ((flags & RHEOS_OP_USES_FILES) == 0 || names_none(list, node, signature))) {
    return NULL;
  }
  return rheos_status_new(
      RHEOS_PERMISSION_DENIED,
      "%s%s%snode '%s' (%s) %s, which the server does not let others do: that needs --allow-files "
      "(allows_files of rheos_server_options)",
      function != NULL ? "function '" : "", function != NULL ? function : "",
      function != NULL ? "', " : "", node->name, node->op,
      calls ? "calls a function of the program" : "uses files");
}

static rheos_status *check_files(const Tensorflow__GraphDef *def) {
  const node_list nodes = {def->node, def->n_node};
  for (size_t i = 0; i < nodes.count; i++) RHEOS_TRY(check_node(&nodes, nodes.nodes[i], NULL));
  for (size_t f = 0; def->library != NULL && f < def->library->n_function; f++) {
    const Tensorflow__FunctionDef *function = def->library->function[f];
    const char *name = function->signature != NULL ? function->signature->name : "";
    const node_list body = {function->node_def, function->n_node_def};
    for (size_t i = 0; i < body.count; i++) RHEOS_TRY(check_node(&body, body.nodes[i], name));
  }
  return NULL;
}

// ---- Sizes

static rheos_status *check_nodes(const rheos__graph_limits *limits, int64_t num_nodes,
                                 const Tensorflow__GraphDef *def) {
  int64_t count = num_nodes + (int64_t)def->n_node;
  for (size_t f = 0; def->library != NULL && f < def->library->n_function; f++) {
    count += (int64_t)def->library->function[f]->n_node_def;
  }
  if (limits->max_nodes == 0 || count <= limits->max_nodes) return NULL;
  return rheos_status_new(RHEOS_RESOURCE_EXHAUSTED,
                          "a graph of %lld nodes is more than the %lld that the server takes "
                          "(--max-graph-nodes)",
                          (long long)count, (long long)limits->max_nodes);
}

static rheos_status *check_parsed(const rheos__graph_limits *limits, int64_t num_nodes,
                                  const void *graph_def, size_t size_bytes, rheos__arena *arena) {
  Tensorflow__GraphDef *def;
  RHEOS_TRY(RHEOS_PROTO_UNPACK(graph_def, graph_def, size_bytes, arena, &def));
  RHEOS_TRY(check_nodes(limits, num_nodes, def));
  return limits->refuses_files ? check_files(def) : NULL;
}

rheos_status *rheos__graph_limits_check(const rheos__graph_limits *limits, int64_t num_nodes,
                                        const void *graph_def, size_t size_bytes) {
  rheos__arena arena;
  if (limits->max_bytes > 0 && (uint64_t)size_bytes > (uint64_t)limits->max_bytes) {
    return rheos_status_new(RHEOS_RESOURCE_EXHAUSTED,
                            "a graph of %zu bytes is more than the %lld that the server takes "
                            "(--max-graph-bytes)",
                            size_bytes, (long long)limits->max_bytes);
  }
  if (limits->max_nodes == 0 && !limits->refuses_files) return NULL;
  rheos__arena_init(&arena);
  rheos_status *status = check_parsed(limits, num_nodes, graph_def, size_bytes, &arena);
  rheos__arena_deinit(&arena);
  return status;
}
