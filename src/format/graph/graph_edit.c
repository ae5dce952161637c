// Graphs that are changed as messages, so that what nothing here knows comes through: parts of
// graphs, graphs without nodes for training, attributes without their defaults.
#include "format/graph/graph_edit.h"

#include <rheos/graph_util.h>
#include <stdlib.h>

// ---- Reading, finding, writing

static int compare_names(const void *a, const void *b) {
  const rheos__named_node *one = a, *other = b;
  const int order = strcmp(one->name, other->name);
  if (order != 0) return order;
  return one->node < other->node ? -1 : 1;
}

rheos_status *rheos__graph_edit_init(rheos__graph_edit *edit, const void *bytes,
                                     size_t size_bytes) {
  *edit = (rheos__graph_edit){.def = NULL};
  rheos__arena_init(&edit->arena);
  RHEOS_TRY(RHEOS_PROTO_UNPACK(graph_def, bytes, size_bytes, &edit->arena, &edit->def));
  const size_t count = edit->def->n_node;
  if (count > INT32_MAX / 4) return RHEOS_INVALID("%zu nodes are too many", count);
  edit->by_name = rheos__arena_alloc(&edit->arena, count * sizeof *edit->by_name);
  if (edit->by_name == NULL) return rheos__out_of_memory();
  for (size_t i = 0; i < count; i++) {
    edit->by_name[i] = (rheos__named_node){edit->def->node[i]->name, (int32_t)i};
  }
  if (count > 1) qsort(edit->by_name, count, sizeof *edit->by_name, compare_names);
  edit->num_names = count;
  return NULL;
}

void rheos__graph_edit_deinit(rheos__graph_edit *edit) { rheos__arena_deinit(&edit->arena); }

rheos_status *rheos__graph_edit_bytes(const rheos__graph_edit *edit, void **out_bytes,
                                      size_t *out_size_bytes) {
  rheos__buffer buffer = {0};
  rheos__proto_pack(&edit->def->base, &buffer);
  rheos_status *status = buffer.failed ? rheos__out_of_memory() : NULL;
  if (status == NULL && buffer.size_bytes > INT32_MAX) {
    status = RHEOS_INVALID("the graph has %zu bytes, and no message may have more than 2 GB",
                           buffer.size_bytes);
  }
  if (status != NULL) {
    rheos__buffer_deinit(&buffer);
    return status;
  }
  *out_bytes = buffer.data;
  *out_size_bytes = buffer.size_bytes;
  return NULL;
}

// The order of the first `name_bytes` of a name, which may hold NULs, and a whole one.
static int compare_part(const char *name, size_t name_bytes, const char *whole) {
  const size_t whole_bytes = strlen(whole);
  const int order = memcmp(name, whole, name_bytes < whole_bytes ? name_bytes : whole_bytes);
  if (order != 0) return order;
  return name_bytes < whole_bytes ? -1 : name_bytes > whole_bytes;
}

static int32_t find_name(const rheos__graph_edit *edit, const char *input, size_t name_bytes) {
  size_t first = 0, last = edit->num_names;
  while (first < last) {
    const size_t middle = first + (last - first) / 2;
    if (compare_part(input, name_bytes, edit->by_name[middle].name) > 0) {
      first = middle + 1;
    } else {
      last = middle;
    }
  }
  if (first == edit->num_names) return -1;
  const rheos__named_node *found = &edit->by_name[first];
  return compare_part(input, name_bytes, found->name) == 0 ? found->node : -1;
}

int32_t rheos__graph_edit_find(const rheos__graph_edit *edit, const char *input) {
  if (input[0] == '^') input++;
  return find_name(edit, input, strcspn(input, ":"));
}

Tensorflow__AttrValue *rheos__node_def_attr(const Tensorflow__NodeDef *def, const char *name) {
  for (size_t i = 0; i < def->n_attr; i++) {
    if (strcmp(def->attr[i]->key, name) == 0) return def->attr[i]->value;
  }
  return NULL;
}

// Calls that start with nothing and end with a message's bytes.
typedef rheos_status *(*change)(rheos__graph_edit *edit, const char *const *names, size_t count);

static rheos_status *change_graph(const void *bytes, size_t size_bytes, change what,
                                  const char *const *names, size_t count, void **out_bytes,
                                  size_t *out_size_bytes) {
  *out_bytes = NULL;
  *out_size_bytes = 0;
  rheos__graph_edit edit;
  rheos_status *status = rheos__graph_edit_init(&edit, bytes, size_bytes);
  if (status == NULL) status = what(&edit, names, count);
  if (status == NULL) status = rheos__graph_edit_bytes(&edit, out_bytes, out_size_bytes);
  rheos__graph_edit_deinit(&edit);
  return status;
}

// ---- Parts

static rheos_status *not_in_graph(const rheos__graph_edit *edit, const char *const *outputs,
                                  size_t num_outputs) {
  rheos__buffer list = {0};
  for (size_t i = 0; i < num_outputs; i++) {
    if (rheos__graph_edit_find(edit, outputs[i]) >= 0) continue;
    rheos__buffer_put(&list, list.size_bytes > 0 ? ", '" : "'", list.size_bytes > 0 ? 3 : 1);
    rheos__buffer_put(&list, outputs[i], strlen(outputs[i]));
    rheos__buffer_put(&list, "'", 1);
  }
  if (list.size_bytes == 0 && !list.failed) return NULL;
  rheos__buffer_put(&list, "", 1);
  rheos_status *status =
      list.failed ? rheos__out_of_memory() : RHEOS_NOTFOUND("the graph has no node %s", list.data);
  rheos__buffer_deinit(&list);
  return status;
}

// Marks what the outputs need; the stack holds each node at most once.
static void mark_needed(const rheos__graph_edit *edit, const char *const *outputs,
                        size_t num_outputs, char *needed, int32_t *stack) {
  size_t depth = 0;
  for (size_t i = 0; i < num_outputs; i++) {
    const int32_t node = rheos__graph_edit_find(edit, outputs[i]);
    if (needed[node]) continue;
    needed[node] = 1;
    stack[depth++] = node;
  }
  while (depth > 0) {
    const Tensorflow__NodeDef *def = edit->def->node[stack[--depth]];
    for (size_t i = 0; i < def->n_input; i++) {
      const int32_t node = rheos__graph_edit_find(edit, def->input[i]);
      if (node < 0 || needed[node]) continue;
      needed[node] = 1;
      stack[depth++] = node;
    }
  }
}

// Whether the text names a node that goes: "loc:@name".
static bool is_with_missing(const rheos__graph_edit *edit, const char *needed,
                            const ProtobufCBinaryData *text) {
  static const char start[] = "loc:@";
  const size_t start_bytes = sizeof start - 1;
  if (text->len <= start_bytes || memcmp(text->data, start, start_bytes) != 0) return false;
  const int32_t node =
      find_name(edit, (const char *)text->data + start_bytes, text->len - start_bytes);
  return node < 0 || !needed[node];
}

// Colocations with nodes that are gone would keep the graph from being imported.
static void drop_colocations(const rheos__graph_edit *edit, const char *needed,
                             Tensorflow__NodeDef *def) {
  size_t kept_attrs = 0;
  for (size_t i = 0; i < def->n_attr; i++) {
    Tensorflow__AttrValue *value = def->attr[i]->value;
    if (strcmp(def->attr[i]->key, "_class") == 0 && value != NULL &&
        value->value_case == TENSORFLOW__ATTR_VALUE__VALUE_LIST) {
      size_t kept = 0;
      for (size_t k = 0; k < value->list->n_s; k++) {
        if (!is_with_missing(edit, needed, &value->list->s[k])) {
          value->list->s[kept++] = value->list->s[k];
        }
      }
      value->list->n_s = kept;
      if (kept == 0) continue;
    }
    def->attr[kept_attrs++] = def->attr[i];
  }
  def->n_attr = kept_attrs;
}

rheos_status *rheos__graph_edit_strip(rheos__graph_edit *edit, const char *const *outputs,
                                      size_t num_outputs) {
  RHEOS_TRY(not_in_graph(edit, outputs, num_outputs));
  const size_t count = edit->def->n_node;
  char *needed = rheos__arena_alloc_zeroed(&edit->arena, count);
  int32_t *stack = rheos__arena_alloc(&edit->arena, count * sizeof *stack);
  if (needed == NULL || stack == NULL) return rheos__out_of_memory();
  mark_needed(edit, outputs, num_outputs, needed, stack);
  size_t kept = 0;
  for (size_t i = 0; i < count; i++) {
    if (!needed[i]) continue;
    drop_colocations(edit, needed, edit->def->node[i]);
    edit->def->node[kept++] = edit->def->node[i];
  }
  edit->def->n_node = kept;
  edit->num_names = 0;
  return NULL;
}

rheos_status *rheos_graph_def_strip(const void *bytes, size_t size_bytes,
                                    const char *const *outputs, size_t num_outputs,
                                    void **out_bytes, size_t *out_size_bytes) {
  RHEOS_OUT(out_bytes);
  RHEOS_OUT(out_size_bytes);
  RHEOS_NEED_BYTES(bytes, size_bytes);
  RHEOS_NEED_TEXTS(outputs, num_outputs);
  return change_graph(bytes, size_bytes, rheos__graph_edit_strip, outputs, num_outputs, out_bytes,
                      out_size_bytes);
}

// ---- Nodes for training

static bool is_for_training(const Tensorflow__NodeDef *def) {
  if (strcmp(def->op, "Identity") != 0 && strcmp(def->op, "CheckNumerics") != 0) return false;
  return def->n_input == 1 && def->input[0][0] != '^';
}

static bool is_first_output(const char *input) {
  const char *colon = strchr(input, ':');
  return input[0] != '^' && (colon == NULL || strcmp(colon, ":0") == 0);
}

// The node that goes at this input, -1 if the input stays.
static int32_t going_node(const rheos__graph_edit *edit, const char *goes, const char *input) {
  const int32_t node = is_first_output(input) ? rheos__graph_edit_find(edit, input) : -1;
  return node >= 0 && goes[node] ? node : -1;
}

// What an input comes from, through the nodes that go; NULL if that never ends. The nodes on the
// way then name it themselves, so that no way is gone twice.
static char *source_of(const rheos__graph_edit *edit, const char *goes, char *input) {
  char *source = input;
  size_t steps = 0;
  for (int32_t node; (node = going_node(edit, goes, source)) >= 0; steps++) {
    if (steps > edit->def->n_node) return NULL;
    source = edit->def->node[node]->input[0];
  }
  for (int32_t node; (node = going_node(edit, goes, input)) >= 0;) {
    input = edit->def->node[node]->input[0];
    edit->def->node[node]->input[0] = source;
  }
  return source;
}

static void find_training_nodes(const rheos__graph_edit *edit, const char *const *names,
                                size_t count, char *goes) {
  for (size_t i = 0; i < edit->def->n_node; i++) goes[i] = is_for_training(edit->def->node[i]);
  for (size_t i = 0; i < edit->def->n_node; i++) {
    const Tensorflow__NodeDef *def = edit->def->node[i];
    for (size_t k = 0; k < def->n_input; k++) {
      if (def->input[k][0] != '^') continue;
      const int32_t node = rheos__graph_edit_find(edit, def->input[k]);
      if (node >= 0) goes[node] = 0;
    }
  }
  for (size_t i = 0; i < count; i++) {
    const int32_t node = rheos__graph_edit_find(edit, names[i]);
    if (node >= 0) goes[node] = 0;
  }
}

static rheos_status *remove_training_nodes(rheos__graph_edit *edit, const char *const *names,
                                           size_t count) {
  char *goes = rheos__arena_alloc(&edit->arena, edit->def->n_node);
  if (goes == NULL) return rheos__out_of_memory();
  find_training_nodes(edit, names, count, goes);
  for (size_t i = 0; i < edit->def->n_node; i++) {
    Tensorflow__NodeDef *def = edit->def->node[i];
    for (size_t k = 0; k < def->n_input && !goes[i]; k++) {
      def->input[k] = source_of(edit, goes, def->input[k]);
      if (def->input[k] == NULL) {
        return RHEOS_INVALID("Node '%s': its input %zu depends on itself", def->name, k);
      }
    }
  }
  size_t kept = 0;
  for (size_t i = 0; i < edit->def->n_node; i++) {
    if (!goes[i]) edit->def->node[kept++] = edit->def->node[i];
  }
  edit->def->n_node = kept;
  return NULL;
}

rheos_status *rheos_graph_def_remove_training_nodes(const void *bytes, size_t size_bytes,
                                                    const char *const *protected_nodes,
                                                    size_t num_protected_nodes, void **out_bytes,
                                                    size_t *out_size_bytes) {
  RHEOS_OUT(out_bytes);
  RHEOS_OUT(out_size_bytes);
  RHEOS_NEED_BYTES(bytes, size_bytes);
  RHEOS_NEED_TEXTS(protected_nodes, num_protected_nodes);
  return change_graph(bytes, size_bytes, remove_training_nodes, protected_nodes,
                      num_protected_nodes, out_bytes, out_size_bytes);
}

// ---- Devices

static rheos_status *clear_devices(rheos__graph_edit *edit, const char *const *names,
                                   size_t count) {
  (void)names;
  (void)count;
  for (size_t i = 0; i < edit->def->n_node; i++) {
    edit->def->node[i]->device = (char *)(uintptr_t)protobuf_c_empty_string;
  }
  return NULL;
}

rheos_status *rheos_graph_def_clear_devices(const void *bytes, size_t size_bytes, void **out_bytes,
                                            size_t *out_size_bytes) {
  RHEOS_OUT(out_bytes);
  RHEOS_OUT(out_size_bytes);
  RHEOS_NEED_BYTES(bytes, size_bytes);
  return change_graph(bytes, size_bytes, clear_devices, NULL, 0, out_bytes, out_size_bytes);
}

// ---- Defaults

static bool is_function(const Tensorflow__GraphDef *def, const char *op) {
  for (size_t i = 0; def->library != NULL && i < def->library->n_function; i++) {
    const Tensorflow__OpDef *signature = def->library->function[i]->signature;
    if (signature != NULL && strcmp(signature->name, op) == 0) return true;
  }
  return false;
}

static bool is_empty_list(const rheos_attr_value *value) {
  return value->kind >= RHEOS_ATTR_LIST_STRING && value->count == 0;
}

// Whether the attribute holds what its op has for it anyway. A value that cannot be read is none.
static rheos_status *is_default(const rheos__attr_def *def, const Tensorflow__AttrValue *proto,
                                rheos__arena *arena, bool *out_is_default) {
  *out_is_default = false;
  if (!def->has_default || proto == NULL) return NULL;
  rheos_attr_value value;
  rheos_status *status = rheos__attr_from_proto(proto, arena, &value);
  if (status != NULL) {
    if (rheos_status_code(status) == RHEOS_RESOURCE_EXHAUSTED) return status;
    rheos_status_free(status);
    return NULL;
  }
  *out_is_default = rheos__attr_value_equal(&value, &def->default_value) ||
                    (is_empty_list(&value) && is_empty_list(&def->default_value));
  rheos__attr_release(&value);
  return NULL;
}

static rheos_status *strip_node(const Tensorflow__GraphDef *graph, Tensorflow__NodeDef *node,
                                rheos__arena *arena) {
  const rheos__signature *signature = rheos__signature_by_name(node->op);
  if (signature == NULL || is_function(graph, node->op)) return NULL;
  size_t kept = 0;
  for (size_t i = 0; i < node->n_attr; i++) {
    bool goes = false;
    for (int32_t k = 0; k < signature->num_attrs; k++) {
      if (strcmp(signature->attrs[k].name, node->attr[i]->key) != 0) continue;
      RHEOS_TRY(is_default(&signature->attrs[k], node->attr[i]->value, arena, &goes));
    }
    if (!goes) node->attr[kept++] = node->attr[i];
  }
  node->n_attr = kept;
  return NULL;
}

static rheos_status *strip_defaults(rheos__graph_edit *edit, const char *const *names,
                                    size_t count) {
  (void)names;
  (void)count;
  const Tensorflow__GraphDef *def = edit->def;
  for (size_t i = 0; i < def->n_node; i++) RHEOS_TRY(strip_node(def, def->node[i], &edit->arena));
  for (size_t i = 0; def->library != NULL && i < def->library->n_function; i++) {
    const Tensorflow__FunctionDef *function = def->library->function[i];
    for (size_t k = 0; k < function->n_node_def; k++) {
      RHEOS_TRY(strip_node(def, function->node_def[k], &edit->arena));
    }
  }
  return NULL;
}

rheos_status *rheos_graph_def_strip_default_attrs(const void *bytes, size_t size_bytes,
                                                  void **out_bytes, size_t *out_size_bytes) {
  RHEOS_OUT(out_bytes);
  RHEOS_OUT(out_size_bytes);
  RHEOS_NEED_BYTES(bytes, size_bytes);
  return change_graph(bytes, size_bytes, strip_defaults, NULL, 0, out_bytes, out_size_bytes);
}
