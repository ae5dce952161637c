// A function's body: its message as a GraphDef, which the importer reads. Arguments become _Arg
// nodes, results _Retval nodes; "node:out:1", an output by name, becomes "node:3"; what stands for
// an attribute of the function gets the value that the caller gives it.
#include "format/graph/function_body.h"

#include <stdio.h>
#include <stdlib.h>

enum { MAX_ITEMS = 65536, MAX_FUNC_DEPTH = 16 };

// What an input may name: a node, or an argument.
typedef struct named {
  const char *name;
  const Tensorflow__NodeDef *node;  // NULL: an argument
  int32_t num_args;                 // of an argument that is a list; 1 of others
  bool is_list;
} named;

typedef struct maker {
  rheos_graph *graph;  // whose library it is
  const rheos_func *func;
  const Tensorflow__FunctionDef *def;
  rheos__arena *arena;
  named *names;  // sorted
  size_t num_names;
  Tensorflow__NodeDef **nodes;
  size_t num_nodes, node_capacity;
  int32_t num_args, num_results;
} maker;

// ---- Values of the function's attributes

static rheos_status *value_of(const maker *m, const char *name,
                              const Tensorflow__AttrValue **out_value) {
  for (size_t i = 0; i < m->func->num_attrs; i++) {
    if (strcmp(m->func->attrs[i].name, name) != 0) continue;
    Tensorflow__AttrValue *value;
    RHEOS_TRY(rheos__attr_to_proto(&m->func->attrs[i].value, m->arena, &value));
    *out_value = value;
    return NULL;
  }
  for (size_t i = 0; i < m->def->signature->n_attr; i++) {
    const Tensorflow__OpDef__AttrDef *attr = m->def->signature->attr[i];
    if (strcmp(attr->name, name) != 0 || attr->default_value == NULL) continue;
    *out_value = attr->default_value;
    return NULL;
  }
  return RHEOS_INVALID("Attr %s is not found", name);
}

// Puts values in the place of what stands for them, in functions as attributes too.
static rheos_status *fill_in(const maker *m, Tensorflow__AttrValue **value, int depth) {
  if (depth > MAX_FUNC_DEPTH) return RHEOS_INVALID("functions as attributes lie too deep");
  Tensorflow__AttrValue *v = *value;
  if (v == NULL) return NULL;
  if (v->value_case == TENSORFLOW__ATTR_VALUE__VALUE_PLACEHOLDER) {
    const Tensorflow__AttrValue *given;
    RHEOS_TRY(value_of(m, v->placeholder, &given));
    *value = (Tensorflow__AttrValue *)(uintptr_t)given;
    return NULL;
  }
  const bool is_func = v->value_case == TENSORFLOW__ATTR_VALUE__VALUE_FUNC;
  const bool is_list = v->value_case == TENSORFLOW__ATTR_VALUE__VALUE_LIST;
  const size_t count = is_func ? 1 : is_list ? v->list->n_func : 0;
  for (size_t i = 0; i < count; i++) {
    Tensorflow__NameAttrList *func = is_func ? v->func : v->list->func[i];
    for (size_t k = 0; k < func->n_attr; k++) {
      RHEOS_TRY(fill_in(m, &func->attr[k]->value, depth + 1));
    }
  }
  return NULL;
}

// ---- Arguments and results

// The dtypes of an argument or result of the function: several if it is a list.
static rheos_status *types_of(const maker *m, const Tensorflow__OpDef__ArgDef *arg,
                              int64_t **out_types, size_t *out_count, bool *out_is_list) {
  const Tensorflow__AttrValue *value;
  *out_is_list = arg->type_list_attr[0] != '\0' || arg->number_attr[0] != '\0';
  if (arg->type_list_attr[0] != '\0') {
    RHEOS_TRY(value_of(m, arg->type_list_attr, &value));
    if (value->value_case != TENSORFLOW__ATTR_VALUE__VALUE_LIST ||
        value->list->n_type > MAX_ITEMS) {
      return RHEOS_INVALID("Attr %s is no list of types", arg->type_list_attr);
    }
    *out_count = value->list->n_type;
    *out_types = rheos__arena_alloc(m->arena, (*out_count + 1) * sizeof **out_types);
    if (*out_types == NULL) return rheos__out_of_memory();
    for (size_t i = 0; i < *out_count; i++) (*out_types)[i] = (int64_t)value->list->type[i];
    return NULL;
  }
  int64_t type = (int64_t)arg->type;
  if (arg->type_attr[0] != '\0') {
    RHEOS_TRY(value_of(m, arg->type_attr, &value));
    if (value->value_case != TENSORFLOW__ATTR_VALUE__VALUE_TYPE) {
      return RHEOS_INVALID("Attr %s is no type", arg->type_attr);
    }
    type = (int64_t)value->type;
  }
  *out_count = 1;
  if (arg->number_attr[0] != '\0') {
    RHEOS_TRY(value_of(m, arg->number_attr, &value));
    if (value->value_case != TENSORFLOW__ATTR_VALUE__VALUE_I || value->i < 0 ||
        value->i > MAX_ITEMS) {
      return RHEOS_INVALID("Attr %s is no number of arguments", arg->number_attr);
    }
    *out_count = (size_t)value->i;
  }
  *out_types = rheos__arena_alloc(m->arena, (*out_count + 1) * sizeof **out_types);
  if (*out_types == NULL) return rheos__out_of_memory();
  for (size_t i = 0; i < *out_count; i++) (*out_types)[i] = type;
  return NULL;
}

static rheos_status *add_node(maker *m, Tensorflow__NodeDef *node) {
  if (m->num_nodes == m->node_capacity) {
    const size_t capacity = m->node_capacity * 2 + 16;
    Tensorflow__NodeDef **nodes = rheos__arena_alloc(m->arena, capacity * sizeof *nodes);
    if (nodes == NULL) return rheos__out_of_memory();
    if (m->num_nodes > 0) memcpy(nodes, m->nodes, m->num_nodes * sizeof *nodes);
    m->nodes = nodes;
    m->node_capacity = capacity;
  }
  m->nodes[m->num_nodes++] = node;
  return NULL;
}

// A node of op _Arg or _Retval, with room for `num_more` attributes.
static rheos_status *new_end(maker *m, const char *op, char *name, int64_t type, int64_t index,
                             size_t num_more, Tensorflow__NodeDef **out_node) {
  struct end {
    Tensorflow__NodeDef node;
    Tensorflow__NodeDef__AttrEntry entries[2];
    Tensorflow__AttrValue values[2];
  } *end = rheos__arena_alloc(m->arena, sizeof *end);
  Tensorflow__NodeDef__AttrEntry **attrs =
      rheos__arena_alloc(m->arena, (num_more + 2) * sizeof *attrs);
  if (end == NULL || attrs == NULL) return rheos__out_of_memory();
  tensorflow__node_def__init(&end->node);
  for (int i = 0; i < 2; i++) {
    tensorflow__node_def__attr_entry__init(&end->entries[i]);
    tensorflow__attr_value__init(&end->values[i]);
    end->entries[i].value = &end->values[i];
    attrs[i] = &end->entries[i];
  }
  end->entries[0].key = (char *)(uintptr_t)"T";
  end->values[0].value_case = TENSORFLOW__ATTR_VALUE__VALUE_TYPE;
  end->values[0].type = (Tensorflow__DataType)type;
  end->entries[1].key = (char *)(uintptr_t)"index";
  end->values[1].value_case = TENSORFLOW__ATTR_VALUE__VALUE_I;
  end->values[1].i = index;
  end->node.name = name;
  end->node.op = (char *)(uintptr_t)op;
  end->node.attr = attrs;
  end->node.n_attr = 2;
  *out_node = &end->node;
  return add_node(m, &end->node);
}

// "name", of a list "name_2".
static char *arg_node_name(const maker *m, const char *name, bool is_list, size_t item) {
  const size_t room = strlen(name) + 24;
  char *text = rheos__arena_alloc(m->arena, room);
  if (text == NULL) return NULL;
  if (is_list) {
    snprintf(text, room, "%s_%zu", name, item);
  } else {
    snprintf(text, room, "%s", name);
  }
  return text;
}

// Shapes and the like that the caller's program knew of an argument.
static void add_arg_attrs(const maker *m, size_t arg, Tensorflow__NodeDef *node) {
  for (size_t i = 0; i < m->def->n_arg_attr; i++) {
    const Tensorflow__FunctionDef__ArgAttrEntry *entry = m->def->arg_attr[i];
    if (entry->key != arg || entry->value == NULL) continue;
    for (size_t k = 0; k < entry->value->n_attr; k++) {
      node->attr[node->n_attr++] = (Tensorflow__NodeDef__AttrEntry *)entry->value->attr[k];
    }
    return;
  }
}

static size_t num_arg_attrs(const maker *m, size_t arg) {
  for (size_t i = 0; i < m->def->n_arg_attr; i++) {
    const Tensorflow__FunctionDef__ArgAttrEntry *entry = m->def->arg_attr[i];
    if (entry->key == arg && entry->value != NULL) return entry->value->n_attr;
  }
  return 0;
}

static rheos_status *add_args(maker *m) {
  const Tensorflow__OpDef *signature = m->def->signature;
  for (size_t i = 0; i < signature->n_input_arg; i++) {
    const Tensorflow__OpDef__ArgDef *arg = signature->input_arg[i];
    int64_t *types;
    size_t count;
    bool is_list;
    RHEOS_TRY(types_of(m, arg, &types, &count, &is_list));
    m->names[m->num_names++] = (named){arg->name, NULL, (int32_t)count, is_list};
    for (size_t k = 0; k < count; k++) {
      char *name = arg_node_name(m, arg->name, is_list, k);
      Tensorflow__NodeDef *node;
      if (name == NULL) return rheos__out_of_memory();
      RHEOS_TRY(new_end(m, "_Arg", name, types[k], m->num_args++, num_arg_attrs(m, i), &node));
      if (!is_list) add_arg_attrs(m, i, node);
    }
  }
  return NULL;
}

// ---- Inputs

static int compare_names(const void *a, const void *b) {
  return strcmp(((const named *)a)->name, ((const named *)b)->name);
}

static const named *find_name(const maker *m, const char *text, size_t length) {
  size_t first = 0, last = m->num_names;
  while (first < last) {
    const size_t middle = first + (last - first) / 2;
    int order = strncmp(m->names[middle].name, text, length);
    if (order == 0 && m->names[middle].name[length] != '\0') order = 1;
    if (order == 0) return &m->names[middle];
    if (order < 0) {
      first = middle + 1;
    } else {
      last = middle;
    }
  }
  return NULL;
}

static const Tensorflow__AttrValue *attr_of(const Tensorflow__NodeDef *node, const char *name) {
  for (size_t i = 0; i < node->n_attr; i++) {
    if (strcmp(node->attr[i]->key, name) == 0) return node->attr[i]->value;
  }
  return NULL;
}

// How many outputs an output argument of a node's op stands for.
static rheos_status *count_outputs(const rheos__signature *signature, const rheos__arg *arg,
                                   const Tensorflow__NodeDef *node, int64_t *out_count) {
  *out_count = 1;
  const int16_t index = arg->number_attr >= 0 ? arg->number_attr : arg->type_list_attr;
  if (index < 0) return NULL;
  const rheos__attr_def *attr = &signature->attrs[index];
  const Tensorflow__AttrValue *value = attr_of(node, attr->name);
  *out_count = -1;
  if (value != NULL && value->value_case == TENSORFLOW__ATTR_VALUE__VALUE_I) *out_count = value->i;
  if (value != NULL && value->value_case == TENSORFLOW__ATTR_VALUE__VALUE_LIST) {
    *out_count = (int64_t)value->list->n_type;
  }
  if (value == NULL && attr->has_default) {
    *out_count = attr->kind == RHEOS_ATTR_INT ? attr->default_value.i : attr->default_value.count;
  }
  if (*out_count >= 0 && *out_count <= MAX_ITEMS) return NULL;
  return RHEOS_INVALID("Node '%s': attribute '%s' does not say how many outputs it has", node->name,
                       attr->name);
}

// The number of output `item` of the output argument `name` of a node.
static rheos_status *flat_output(const maker *m, const Tensorflow__NodeDef *node, const char *name,
                                 size_t name_bytes, int64_t item, int64_t *out_index,
                                 int64_t *out_count) {
  const rheos__signature *signature = rheos__graph_signature(m->graph, node->op);
  if (signature == NULL) {
    return rheos_status_new(RHEOS_NOT_FOUND, "Op type not registered '%s' in function %s", node->op,
                            m->def->signature->name);
  }
  int64_t first = 0;
  for (int32_t i = 0; i < signature->num_outputs; i++) {
    const rheos__arg *arg = &signature->outputs[i];
    int64_t count;
    RHEOS_TRY(count_outputs(signature, arg, node, &count));
    if (strncmp(arg->name, name, name_bytes) != 0 || arg->name[name_bytes] != '\0') {
      first += count;
      continue;
    }
    if (item < 0 || item > count || (item == count && count > 0)) break;
    *out_index = first + item;
    *out_count = count;
    return NULL;
  }
  return RHEOS_INVALID("Node '%s' has no output %.*s:%lld", node->name, (int)name_bytes, name,
                       (long long)item);
}

static rheos_status *unknown_input(const maker *m, const char *text) {
  return RHEOS_INVALID("the function %s has nothing called '%s'", m->def->signature->name, text);
}

// What the importer calls output `index` of the node.
static rheos_status *output_text(const maker *m, const char *name, int64_t index, char **out_text) {
  const size_t room = strlen(name) + 24;
  *out_text = rheos__arena_alloc(m->arena, room);
  if (*out_text == NULL) return rheos__out_of_memory();
  snprintf(*out_text, room, "%s:%lld", name, (long long)index);
  return NULL;
}

// "x" or "x:1" of an argument, "node:out:1" or "node:out" of a node: as the importer reads it.
// `item` is added to the number within the output argument.
static rheos_status *translate(const maker *m, const char *text, int64_t item, char **out_text,
                               int64_t *out_count) {
  const size_t length = strcspn(text, ":");
  const named *source = find_name(m, text, length);
  if (source == NULL) return unknown_input(m, text);
  const char *rest = text + length;  // "", ":1", ":out", ":out:1"
  if (source->node == NULL) {
    if (rest[0] == ':') item += strtoll(rest + 1, NULL, 10);
    if (item < 0 || item >= source->num_args) return unknown_input(m, text);
    *out_count = source->num_args;
    char *name = arg_node_name(m, source->name, source->is_list, (size_t)item);
    return name != NULL ? output_text(m, name, 0, out_text) : rheos__out_of_memory();
  }
  int64_t index = item;
  *out_count = 1;
  if (rest[0] == ':' && (rest[1] < '0' || rest[1] > '9')) {
    const char *out = rest + 1;
    const size_t out_bytes = strcspn(out, ":");
    if (out[out_bytes] == ':') item += strtoll(out + out_bytes + 1, NULL, 10);
    RHEOS_TRY(flat_output(m, source->node, out, out_bytes, item, &index, out_count));
  } else if (rest[0] == ':') {
    index += strtoll(rest + 1, NULL, 10);
  }
  return output_text(m, source->name, index, out_text);
}

static rheos_status *add_nodes(maker *m) {
  for (size_t i = 0; i < m->def->n_node_def; i++) {
    Tensorflow__NodeDef *node = m->def->node_def[i];
    for (size_t k = 0; k < node->n_attr; k++) RHEOS_TRY(fill_in(m, &node->attr[k]->value, 0));
  }
  for (size_t i = 0; i < m->def->n_node_def; i++) {
    Tensorflow__NodeDef *node = m->def->node_def[i];
    for (size_t k = 0; k < node->n_input; k++) {
      int64_t count;
      if (node->input[k][0] == '^') {
        const named *source = find_name(m, node->input[k] + 1, strlen(node->input[k] + 1));
        if (source == NULL) return unknown_input(m, node->input[k]);
        continue;
      }
      RHEOS_TRY(translate(m, node->input[k], 0, &node->input[k], &count));
    }
    RHEOS_TRY(add_node(m, node));
  }
  return NULL;
}

// ---- Results

static const char *returned_as(const maker *m, const char *name) {
  for (size_t i = 0; i < m->def->n_ret; i++) {
    if (strcmp(m->def->ret[i]->key, name) == 0) return m->def->ret[i]->value;
  }
  return NULL;
}

// A name for the node of a result that nothing else has.
static char *result_name(const maker *m, const char *name, size_t item) {
  const size_t room = strlen(name) + 48;
  char *text = rheos__arena_alloc(m->arena, room);
  if (text == NULL) return NULL;
  int length = snprintf(text, room, "%s_%zu_RetVal", name, item);
  for (int i = 0; i < 16 && find_name(m, text, (size_t)length) != NULL; i++) {
    length = snprintf(text, room, "%s_%zu_RetVal_%d", name, item, i);
  }
  return text;
}

static rheos_status *add_results(maker *m) {
  const Tensorflow__OpDef *signature = m->def->signature;
  for (size_t i = 0; i < signature->n_output_arg; i++) {
    const Tensorflow__OpDef__ArgDef *arg = signature->output_arg[i];
    const char *from = returned_as(m, arg->name);
    if (from == NULL) {
      return RHEOS_INVALID("the function %s does not say what it returns as '%s'", signature->name,
                           arg->name);
    }
    int64_t *types;
    size_t count;
    bool is_list;
    RHEOS_TRY(types_of(m, arg, &types, &count, &is_list));
    for (size_t k = 0; k < count; k++) {
      char **input = rheos__arena_alloc(m->arena, sizeof *input);
      char *name = result_name(m, arg->name, k);
      Tensorflow__NodeDef *node;
      int64_t unused;
      if (input == NULL || name == NULL) return rheos__out_of_memory();
      RHEOS_TRY(translate(m, from, (int64_t)k, input, &unused));
      RHEOS_TRY(new_end(m, "_Retval", name, types[k], m->num_results++, 0, &node));
      node->input = input;
      node->n_input = 1;
    }
  }
  return NULL;
}

// ---- The whole

static rheos_status *index_names(maker *m) {
  const size_t count = m->def->signature->n_input_arg + m->def->n_node_def;
  m->names = rheos__arena_alloc(m->arena, (count + 1) * sizeof *m->names);
  if (m->names == NULL) return rheos__out_of_memory();
  RHEOS_TRY(add_args(m));
  for (size_t i = 0; i < m->def->n_node_def; i++) {
    m->names[m->num_names++] =
        (named){.name = m->def->node_def[i]->name, .node = m->def->node_def[i]};
  }
  qsort(m->names, m->num_names, sizeof *m->names, compare_names);
  return NULL;
}

static rheos_status *import(const maker *m, int32_t producer, rheos_graph *body) {
  Tensorflow__VersionDef versions;
  tensorflow__version_def__init(&versions);
  versions.producer = producer;
  Tensorflow__GraphDef def;
  tensorflow__graph_def__init(&def);
  def.versions = &versions;
  def.node = m->nodes;
  def.n_node = m->num_nodes;
  rheos__buffer buffer = {0};
  rheos__proto_pack(&def.base, &buffer);
  rheos_scope *scope = rheos_scope_new(body);
  rheos_status *status = NULL;
  if (buffer.failed || scope == NULL) {
    status = rheos__out_of_memory();
  } else {
    const rheos_import_options options = {.keep_unknown_ops = true, .any_colocation = true};
    rheos_import_graph_def(scope, buffer.data, buffer.size_bytes, &options);
    status = rheos_scope_finish(scope);
  }
  rheos_scope_free(scope);
  rheos__buffer_deinit(&buffer);
  return status;
}

// The nodes that the function names for control.
static rheos_status *list_controls(const maker *m, rheos__function *function) {
  const size_t count = m->def->n_control_ret;
  if (count == 0) return NULL;
  function->targets = rheos__graph_alloc(function->graph, count * sizeof *function->targets);
  if (function->targets == NULL) return rheos__out_of_memory();
  for (size_t i = 0; i < count; i++) {
    const char *name = m->def->control_ret[i]->value;
    const rheos_operation operation = rheos_graph_operation(function->graph, name);
    if (operation.graph == NULL) return unknown_input(m, name);
    function->targets[function->num_targets++] = operation.id;
  }
  return NULL;
}

static bool is_never_inlined(const Tensorflow__FunctionDef *def) {
  for (size_t i = 0; i < def->n_attr; i++) {
    if (strcmp(def->attr[i]->key, "_noinline") == 0) return def->attr[i]->value->b != 0;
  }
  return false;
}

static rheos_status *make(maker *m, int32_t producer, rheos__function *function) {
  function->is_never_inlined = is_never_inlined(m->def);
  RHEOS_TRY(index_names(m));
  RHEOS_TRY(add_nodes(m));
  RHEOS_TRY(add_results(m));
  RHEOS_TRY(import(m, producer, function->graph));
  return list_controls(m, function);
}

rheos_status *rheos__make_body_of_message(rheos_graph *graph, const rheos_func *func,
                                          rheos__function *function) {
  const rheos__graph_extras *extras = rheos__graph_format_slot(graph)->data;
  const rheos__extra *bytes = extras != NULL ? rheos__find_function(extras, function->name) : NULL;
  if (bytes == NULL) {
    return rheos_status_new(RHEOS_NOT_FOUND, "Function %s is not defined.", function->name);
  }
  rheos__arena arena;
  rheos__arena_init(&arena);
  Tensorflow__FunctionDef *def;
  rheos_status *status = RHEOS_PROTO_UNPACK(function_def, extras->functions.data + bytes->at,
                                            bytes->size_bytes, &arena, &def);
  if (status == NULL) {
    maker m = {.graph = graph, .func = func, .def = def, .arena = &arena};
    status = make(&m, extras->producer, function);
  }
  rheos__arena_deinit(&arena);
  if (status == NULL) return NULL;
  rheos_status *named = rheos_status_new(rheos_status_code(status), "Function %s: %s",
                                         function->name, rheos_status_message(status));
  rheos_status_free(status);
  return named;
}
