// Adding a node: what the caller gave is fitted to the signature, checked and completed, shapes are
// inferred, and only when nothing can fail any more is the name taken and the node published.
// All work space is on the stack unless the node is unusually large.
#include "graph/build.h"

#include <stdio.h>
#include <string.h>

#include "base/options.h"
#include "graph/graph_impl.h"
#include "graph/near_op.h"
#include "graph/node_build.h"

void *rheos__build_work(rheos__node_build *b, size_t count, size_t element_bytes) {
  size_t size_bytes;
  if (!rheos__mul_size(count, element_bytes, &size_bytes) || size_bytes > SIZE_MAX / 2) return NULL;
  size_t rounded = (size_bytes + 15) & ~(size_t)15;
  if (rounded <= RHEOS__BUILD_INLINE_BYTES - b->used) {
    void *memory = b->inline_bytes + b->used;
    b->used += rounded;
    return memory;
  }
  rheos__work_block *block = rheos__alloc(sizeof *block + rounded);
  if (block == NULL) return NULL;
  block->next = b->blocks;
  b->blocks = block;
  return block + 1;
}

static void free_work(rheos__node_build *b) {
  while (b->blocks != NULL) {
    rheos__work_block *next = b->blocks->next;
    rheos__free(b->blocks);
    b->blocks = next;
  }
}

static bool is_internal(const rheos__node_build *b) {
  return b->scope->takes_internal_names && b->name_length > 1 && b->name[0] == '_' &&
         rheos__name_is_valid(0, b->name + 1, b->name_length - 1);
}

static bool is_any_name(const char *text, size_t length) {
  if (length == 0 || text[0] == '^' || memchr(text, ':', length) != NULL) return false;
  for (size_t i = 0; i < length; i++) {
    if (text[i] == '/' && (i == 0 || i == length - 1 || text[i - 1] == '/')) return false;
  }
  return true;
}

static bool takes_name(const rheos__node_build *b) {
  return rheos__name_is_valid(b->parent, b->name, b->name_length) || is_internal(b) ||
         (b->scope->takes_any_name && is_any_name(b->name, b->name_length));
}

// The name the node gets, in the work space; the name asked for when memory is short.
static const char *final_name(rheos__node_build *b) {
  if (b->name == NULL) return "";
  const rheos__names *names = &b->graph->names;
  if (!takes_name(b)) return b->name;
  size_t length = b->name_length;
  if (!b->name_is_exact) {
    length = rheos__names_peek(names, b->parent, b->name, b->name_length, NULL, 0);
  }
  char *text = rheos__build_work(b, length + 1, 1);
  if (text == NULL) return b->name;
  if (b->name_is_exact) {
    memcpy(text, b->name, length);
    text[length] = '\0';
  } else {
    rheos__names_peek(names, b->parent, b->name, b->name_length, text, length + 1);
  }
  return text;
}

// ---- The name

static rheos_status *read_name(rheos__node_build *b) {
  if (b->args->name != NULL) b->name = b->args->name;
  b->name_length = strlen(b->name);
  b->parent = b->scope->now.name;
  if (b->name_length > 1 && b->name[b->name_length - 1] == '/') {
    b->name_is_exact = true;
    b->parent = 0;
    b->name_length--;
  }
  if (!takes_name(b)) {
    return RHEOS_INVALID("'%s' is not a valid node name", b->name);
  }
  if (!b->name_is_exact) return NULL;
  uint32_t entry = rheos__names_find(&b->graph->names, b->name, b->name_length);
  if (entry != 0 && b->graph->names.entries[entry].node >= 0) {
    return RHEOS_INVALID("Duplicate node name in graph: '%.*s'", (int)b->name_length, b->name);
  }
  return NULL;
}

// ---- Inputs

static void append_number(rheos__words *buffer, int64_t number) {
  char digits[24];
  snprintf(digits, sizeof digits, "%lld", (long long)number);
  rheos__words_add(buffer, digits);
}

// "(2, ?)"
static void append_python_shape(rheos__words *buffer, const rheos_shape *shape) {
  rheos__words_add(buffer, "(");
  for (int32_t i = 0; i < shape->rank; i++) {
    if (i > 0) rheos__words_add(buffer, ", ");
    if (shape->dims[i] < 0) rheos__words_add(buffer, "?");
    if (shape->dims[i] >= 0) append_number(buffer, shape->dims[i]);
  }
  rheos__words_add(buffer, shape->rank == 1 ? ",)" : ")");
}

// Tensor("x:0", shape=(2, ?), dtype=float32), as Python prints it.
static void describe_output(rheos_output output, rheos__words *buffer) {
  char name[128];
  rheos_operation_name(rheos_output_operation(output), name, sizeof name);
  rheos_shape shape = rheos_output_shape(output);
  rheos__words_add(buffer, "Tensor(\"");
  rheos__words_add(buffer, name);
  rheos__words_add(buffer, ":");
  append_number(buffer, output.index);
  rheos__words_add(buffer, "\", ");
  if (shape.rank >= 0) {
    rheos__words_add(buffer, "shape=");
    append_python_shape(buffer, &shape);
    rheos__words_add(buffer, ", ");
  }
  rheos__words_add(buffer, "dtype=");
  rheos__words_add(buffer, rheos__python_dtype(rheos_output_dtype(output)));
  rheos__words_add(buffer, ")");
}

static rheos_status *foreign_input(rheos__node_build *b, rheos_output foreign) {
  rheos__words theirs = {.length = 0}, ours = {.length = 0};
  describe_output(foreign, &theirs);
  for (size_t i = 0; i < b->args->num_inputs && ours.length == 0; i++) {
    if (b->args->inputs[i].graph == b->graph) describe_output(b->args->inputs[i], &ours);
  }
  if (ours.length == 0) {
    return RHEOS_INVALID("%s must be from the same graph as the operation '%s'", theirs.text,
                         final_name(b));
  }
  return RHEOS_INVALID("%s must be from the same graph as %s.", theirs.text, ours.text);
}

static rheos_status *read_inputs(rheos__node_build *b) {
  size_t count = b->args->num_inputs;
  if (count > RHEOS__MAX_NODE_OUTPUTS) return RHEOS_INVALID("%zu inputs are too many", count);
  b->num_inputs = (int32_t)count;
  b->inputs = rheos__build_work(b, count, sizeof *b->inputs);
  b->input_dtypes = rheos__build_work(b, count, sizeof *b->input_dtypes);
  if (b->inputs == NULL || b->input_dtypes == NULL) return rheos__out_of_memory();
  int32_t num_nodes = rheos_graph_num_operations(b->graph);
  for (size_t i = 0; i < count; i++) {
    rheos_output input = b->args->inputs[i];
    if (input.graph == NULL) return RHEOS_INVALID("input %zu is no tensor", i);
    if (input.graph != b->graph) return foreign_input(b, input);
    const rheos__node *node =
        input.id >= 0 && input.id < num_nodes ? rheos__graph_node(b->graph, input.id) : NULL;
    if (node == NULL || input.index < 0 || input.index >= node->num_outputs) {
      return RHEOS_INVALID("input %zu (operation %d, output %d) is not in the graph", i, input.id,
                           input.index);
    }
    b->inputs[i] = &node->outputs[input.index];
    b->input_dtypes[i] = node->outputs[input.index].dtype;
  }
  return NULL;
}

// ---- Attributes from the caller

static bool is_sound_type(rheos_dtype dtype) {
  return rheos_dtype_size(dtype) != 0 && !rheos_dtype_is_ref(dtype);
}

static bool is_sound_func(const rheos_func *func) {
  if (func == NULL || func->name.data == NULL) return false;
  for (size_t i = 0; i < func->num_attrs; i++) {
    if (func->attrs[i].name == NULL || !rheos__attr_value_is_sound(&func->attrs[i].value))
      return false;
  }
  return true;
}

static bool is_sound_text(rheos_string text) { return text.data != NULL || text.size_bytes == 0; }

bool rheos__attr_value_is_sound(const rheos_attr_value *value) {
  if (value->kind == RHEOS_ATTR_TYPE) return is_sound_type(value->type);
  if (value->kind == RHEOS_ATTR_SHAPE) return rheos__shape_is_sound(value->shape);
  if (value->kind == RHEOS_ATTR_TENSOR) return value->tensor != NULL;
  if (value->kind == RHEOS_ATTR_STRING || value->kind == RHEOS_ATTR_PLACEHOLDER) {
    return is_sound_text(value->s);
  }
  if (value->kind == RHEOS_ATTR_FUNC) return is_sound_func(value->func);
  if (!rheos__attr_kind_is_list(value->kind)) {
    return value->kind > RHEOS_ATTR_NONE && value->kind <= RHEOS_ATTR_LIST_FUNC;
  }
  if (value->count < 0 || (value->count > 0 && value->ints == NULL)) return false;
  for (int32_t i = 0; i < value->count; i++) {
    if ((value->kind == RHEOS_ATTR_LIST_TYPE && !is_sound_type(value->types[i])) ||
        (value->kind == RHEOS_ATTR_LIST_SHAPE && !rheos__shape_is_sound(&value->shapes[i])) ||
        (value->kind == RHEOS_ATTR_LIST_STRING && !is_sound_text(value->strings[i])) ||
        (value->kind == RHEOS_ATTR_LIST_TENSOR && value->tensors[i] == NULL) ||
        (value->kind == RHEOS_ATTR_LIST_FUNC && !is_sound_func(&value->funcs[i]))) {
      return false;
    }
  }
  return true;
}

static rheos_status *set_attr(rheos__node_build *b, int32_t index, const rheos_attr_value *given) {
  const rheos__attr_def *def = &b->signature->attrs[index];
  rheos_attr_value value = *given;
  // An empty list fits a list of anything.
  if (rheos__attr_kind_is_list(value.kind) && value.count == 0 &&
      rheos__attr_kind_is_list(def->kind))
    value.kind = def->kind;
  if (value.kind != def->kind) {
    return RHEOS_INVALID("attribute '%s' of '%s' Op is a %s, got a %s", def->name,
                         rheos__op_name_of(b), rheos__attr_kind_name(def->kind),
                         rheos__attr_kind_name(value.kind));
  }
  b->values[index] = value;
  return NULL;
}

static rheos_status *read_attr(rheos__node_build *b, const rheos_attr *attr) {
  if (attr->name == NULL)
    return RHEOS_INVALID("an attribute of '%s' Op has no name", rheos__op_name_of(b));
  if (!rheos__attr_value_is_sound(&attr->value)) {
    return RHEOS_INVALID("attribute '%s' of '%s' Op has no valid value", attr->name,
                         rheos__op_name_of(b));
  }
  for (int32_t i = 0; i < b->signature->num_attrs; i++) {
    if (strcmp(b->signature->attrs[i].name, attr->name) == 0) return set_attr(b, i, &attr->value);
  }
  if (attr->name[0] == '_' || b->keeps_attrs) return NULL;  // see add_extra_attrs()
  return RHEOS_INVALID("'%s' Op has no attribute '%s'", rheos__op_name_of(b), attr->name);
}

static rheos_status *read_attrs(rheos__node_build *b) {
  size_t count = (size_t)b->signature->num_attrs;
  b->values = rheos__build_work(b, count, sizeof *b->values);
  b->told_by = rheos__build_work(b, count, sizeof *b->told_by);
  if (b->values == NULL || b->told_by == NULL) return rheos__out_of_memory();
  for (size_t i = 0; i < count; i++) {
    b->values[i].kind = RHEOS_ATTR_NONE;
    b->values[i].count = 0;
    b->told_by[i] = -1;
  }
  for (size_t i = 0; i < b->args->num_attrs; i++) RHEOS_TRY(read_attr(b, &b->args->attrs[i]));
  return NULL;
}

// ---- The final list of attributes

static rheos_attr *find_item(const rheos__node_build *b, const char *name) {
  for (int32_t i = 0; i < b->num_items; i++) {
    if (strcmp(b->items[i].name, name) == 0) return &b->items[i];
  }
  return NULL;
}

static bool has_item(const rheos__node_build *b, const char *name) {
  return find_item(b, name) != NULL;
}

// The scope's container, innermost first, in the attribute of an op that has one and says none.
static void settle_container(rheos__node_build *b) {
  rheos_attr *own = find_item(b, "container");
  if (own == NULL || own->value.kind != RHEOS_ATTR_STRING || own->value.s.size_bytes > 0) return;
  for (const rheos__scope_attr *link = b->scope->now.attrs; link != NULL; link = link->outer) {
    if (link->op_type != NULL || strcmp(link->attr.name, "container") != 0) continue;
    own->value = link->attr.value;
    return;
  }
}

// Attributes that are not the signature's: the caller's, then the scope's, then the colocation.
static rheos_status *add_extra_attrs(rheos__node_build *b) {
  for (size_t i = 0; i < b->args->num_attrs; i++) {
    rheos_attr attr = b->args->attrs[i];
    if (has_item(b, attr.name)) continue;
    attr.name = rheos__intern_text(b->graph, attr.name, strlen(attr.name));
    if (attr.name == NULL) return rheos__out_of_memory();
    b->items[b->num_items++] = attr;
  }
  // Like TensorFlow, colocation is stronger than a class that the scope gives.
  bool is_colocated = b->scope->now.num_colocation > 0;
  for (const rheos__scope_attr *link = b->scope->now.attrs; link != NULL; link = link->outer) {
    if (link->op_type != NULL && strcmp(link->op_type, b->args->type) != 0) continue;
    if (is_colocated && strcmp(link->attr.name, "_class") == 0) continue;
    if (link->attr.name[0] != '_') continue;  // a container
    if (!has_item(b, link->attr.name)) b->items[b->num_items++] = link->attr;
  }
  if (!is_colocated || has_item(b, "_class")) return NULL;
  rheos_attr *item = &b->items[b->num_items++];
  item->name = rheos__intern_text(b->graph, "_class", 6);
  if (item->name == NULL) return rheos__out_of_memory();
  item->value = (rheos_attr_value){.kind = RHEOS_ATTR_LIST_STRING,
                                   .count = b->scope->now.num_colocation,
                                   .strings = b->scope->now.colocation};
  return NULL;
}

static rheos_status *intern_attrs(rheos__node_build *b) {
  size_t count = (size_t)b->signature->num_attrs + b->args->num_attrs + 1;
  for (const rheos__scope_attr *link = b->scope->now.attrs; link != NULL; link = link->outer) {
    count++;
  }
  b->items = rheos__build_work(b, count, sizeof *b->items);
  if (b->items == NULL) return rheos__out_of_memory();
  b->num_items = b->signature->num_attrs;
  for (int32_t i = 0; i < b->num_items; i++) {
    b->items[i].name = b->signature->attrs[i].name;
    b->items[i].value = b->values[i];
  }
  if (b->scope->now.attrs != NULL) settle_container(b);
  RHEOS_TRY(add_extra_attrs(b));
  b->attrs = rheos__intern_attrs(b->graph, b->items, b->num_items);
  return b->attrs != NULL ? NULL : rheos__out_of_memory();
}

// ---- Outputs

static rheos_status *count_outputs(rheos__node_build *b) {
  int64_t count = 0;
  for (int32_t i = 0; i < b->signature->num_outputs; i++) {
    int64_t length = rheos__known_length(b, &b->signature->outputs[i]);
    if (length < 0 || length > RHEOS__MAX_NODE_OUTPUTS - count) {
      return RHEOS_INVALID("'%s' Op has too many outputs", rheos__op_name_of(b));
    }
    count += length;
  }
  b->num_outputs = (int32_t)count;
  return NULL;
}

static rheos_dtype output_dtype(const rheos__node_build *b, const rheos__arg *arg, int32_t index) {
  rheos_dtype dtype = arg->dtype;
  if (arg->type_attr >= 0) {
    const rheos_attr_value *value = &b->values[arg->type_attr];
    if (value->kind != RHEOS_ATTR_TYPE) return RHEOS_INVALID_DTYPE;  // inside a function
    dtype = value->type;
  }
  if (arg->type_list_attr >= 0) dtype = b->values[arg->type_list_attr].types[index];
  return arg->is_ref ? (rheos_dtype)((int)dtype + RHEOS_REF) : dtype;
}

static rheos_status *make_outputs(rheos__node_build *b) {
  RHEOS_TRY(count_outputs(b));
  b->output_dtypes = rheos__build_work(b, (size_t)b->num_outputs, sizeof *b->output_dtypes);
  b->output_shapes = rheos__build_work(b, (size_t)b->num_outputs, sizeof *b->output_shapes);
  if (b->output_dtypes == NULL || b->output_shapes == NULL) return rheos__out_of_memory();
  int32_t at = 0;
  for (int32_t i = 0; i < b->signature->num_outputs; i++) {
    const rheos__arg *arg = &b->signature->outputs[i];
    int32_t count = (int32_t)rheos__known_length(b, arg);
    for (int32_t k = 0; k < count; k++, at++) {
      b->output_dtypes[at] = output_dtype(b, arg, k);
      b->output_shapes[at].rank = -1;
    }
  }
  return NULL;
}

static bool partial_value(void *argument, int32_t input, rheos_shape *out_shape) {
  rheos__node_build *b = argument;
  rheos__edge edge = {b->args->inputs[input].id, b->args->inputs[input].index};
  return rheos__partial_value(b->graph, edge, out_shape, &b->no_memory);
}

static bool whole_value(void *argument, int32_t input, int64_t *values, int32_t capacity,
                        int32_t *out_count) {
  const rheos__node_build *b = argument;
  rheos__edge edge = {b->args->inputs[input].id, b->args->inputs[input].index};
  return rheos__whole_value(b->graph, edge, values, capacity, out_count);
}

// What TensorFlow adds to what a shape function says.
static rheos_status *with_shapes_take(rheos__node_build *b, rheos_status *status) {
  if (rheos_status_code(status) != RHEOS_INVALID_ARGUMENT) return status;
  rheos__words shapes = {.length = 0};
  for (int32_t i = 0; i < b->num_inputs; i++) {
    rheos__shape_text text;
    rheos__words_add_item(&shapes, rheos__shape_text_of(b->inputs[i]->shape, &text));
  }
  rheos_status *longer =
      RHEOS_INVALID("%s for '%s' (op: '%s') with input shapes: %s.", rheos_status_message(status),
                    final_name(b), rheos__op_name_of(b), shapes.length != 0 ? shapes.text : "none");
  rheos_status_free(status);
  return longer;
}

static rheos_status *infer_shapes(rheos__node_build *b) {
  rheos__shape_fn shape_fn = b->signature->op->shape;
  if (shape_fn == NULL) return NULL;
  rheos_shape *shapes = rheos__build_work(b, (size_t)b->num_inputs, sizeof *shapes);
  rheos_tensor **values = rheos__build_work(b, (size_t)b->num_inputs, sizeof *values);
  const rheos_shape **handles = rheos__build_work(b, (size_t)b->num_inputs, sizeof *handles);
  if (shapes == NULL || values == NULL || handles == NULL) return rheos__out_of_memory();
  for (int32_t i = 0; i < b->num_inputs; i++) {
    rheos__edge edge = {b->args->inputs[i].id, b->args->inputs[i].index};
    shapes[i] = *b->inputs[i]->shape;
    values[i] = rheos__const_value(b->graph, edge);
    handles[i] = NULL;
    if (b->input_dtypes[i] != RHEOS_RESOURCE && b->input_dtypes[i] != RHEOS_VARIANT) continue;
    rheos_shape *room = rheos__build_work(b, 1, sizeof *room);
    if (room == NULL) return rheos__out_of_memory();
    handles[i] = rheos__handle_shape(b->graph, edge, room);
  }
  rheos__infer infer = {.op = b->signature->op,
                        .attrs = b->attrs,
                        .num_inputs = b->num_inputs,
                        .num_outputs = b->num_outputs,
                        .input_dtypes = b->input_dtypes,
                        .input_shapes = shapes,
                        .input_values = values,
                        .handle_shapes = handles,
                        .output_dtypes = b->output_dtypes,
                        .output_shapes = b->output_shapes,
                        .partial = partial_value,
                        .whole = whole_value,
                        .partial_argument = b};
  rheos_status *status = shape_fn(&infer);
  if (b->no_memory) {
    rheos_status_free(status);
    return rheos__out_of_memory();
  }
  return status == NULL ? NULL : with_shapes_take(b, status);
}

// ---- What the node before came to

static bool follows_from_inputs(const rheos__node_build *b) {
  const rheos__shape_fn shape = b->signature->op->shape;
  return (shape == rheos__shape_broadcast_2 || shape == rheos__shape_unchanged) &&
         b->args->num_attrs == 0 && b->scope->now.attrs == NULL &&
         b->scope->now.num_colocation == 0 && b->num_inputs <= RHEOS__RECALLED_INPUTS;
}

static rheos__recalled *recalled_at(const rheos__node_build *b) {
  return &b->graph->recalled[(uintptr_t)b->signature / sizeof *b->signature % RHEOS__RECALLED];
}

static bool recall(rheos__node_build *b) {
  const rheos__recalled *at = recalled_at(b);
  if (at->signature != b->signature || at->num_inputs != b->num_inputs || !follows_from_inputs(b)) {
    return false;
  }
  for (int32_t i = 0; i < b->num_inputs; i++) {
    const rheos__node_output *now = b->inputs[i], *then = &at->inputs[i];
    if (now->shape != then->shape || now->dtype != then->dtype) return false;
  }
  b->attrs = at->attrs;
  b->recalled = &at->output;
  b->num_outputs = 1;
  return true;
}

// After the node is there.
static void keep_in_mind(const rheos__node_build *b, const rheos__node *node) {
  if (b->recalled != NULL || node->num_outputs != 1 || !follows_from_inputs(b)) return;
  rheos__recalled *at = recalled_at(b);
  at->signature = b->signature;
  at->num_inputs = b->num_inputs;
  for (int32_t i = 0; i < b->num_inputs; i++) at->inputs[i] = *b->inputs[i];
  at->attrs = b->attrs;
  at->output = node->outputs[0];
}

// ---- What the scope says

static rheos_status *read_controls(rheos__node_build *b) {
  size_t given = b->args->num_control_inputs;
  size_t most = rheos__scope_max_controls(b->scope) + given;
  if (most == 0) return NULL;
  b->controls = rheos__build_work(b, most, sizeof *b->controls);
  if (b->controls == NULL) return rheos__out_of_memory();
  b->num_controls =
      rheos__scope_controls(b->scope, b->args->inputs, b->args->num_inputs, b->controls);
  for (size_t i = 0; i < given; i++) {
    rheos_operation operation = b->args->control_inputs[i];
    if (operation.graph != b->graph || operation.id < 0 ||
        operation.id >= rheos_graph_num_operations(b->graph)) {
      return RHEOS_INVALID("control input %zu is not in the graph", i);
    }
    size_t k = 0;
    while (k < b->num_controls && b->controls[k] != operation.id) k++;
    if (k == b->num_controls) b->controls[b->num_controls++] = operation.id;
  }
  return NULL;
}

static rheos_status *read_device(rheos__node_build *b) {
  const char *beside = b->scope->now.colocation_device;
  b->device = beside != NULL ? beside : b->scope->now.device;
  if (b->args->device == NULL) return NULL;
  return rheos__merge_device(b->graph, b->device, b->args->device, &b->device);
}

// ---- The node

static rheos_status *fill_outputs(rheos__node_build *b, rheos__node_output *outputs) {
  if (b->recalled != NULL) {
    outputs[0] = *b->recalled;
    return NULL;
  }
  for (int32_t i = 0; i < b->num_outputs; i++) {
    outputs[i].dtype = b->output_dtypes[i];
    outputs[i].shape = rheos__intern_shape(b->graph, &b->output_shapes[i]);
    if (outputs[i].shape == NULL) return rheos__out_of_memory();
  }
  return NULL;
}

static void fill_edges(const rheos__node_build *b, rheos__edge *edges) {
  for (int32_t i = 0; i < b->num_inputs; i++) {
    edges[i] = (rheos__edge){b->args->inputs[i].id, b->args->inputs[i].index};
  }
  for (size_t i = 0; i < b->num_controls; i++) {
    edges[(size_t)b->num_inputs + i] = (rheos__edge){b->controls[i], -1};
  }
}

static rheos_status *take_name(rheos__node_build *b, uint32_t *out_entry) {
  rheos__names *names = &b->graph->names;
  return b->name_is_exact ? rheos__names_at(names, b->name, b->name_length, true, out_entry)
                          : rheos__names_take(names, b->parent, b->name, b->name_length, out_entry);
}

static rheos_status *add_node(rheos__node_build *b, int32_t *out_id) {
  size_t num_edges = (size_t)b->num_inputs + b->num_controls;
  size_t outputs_bytes = (size_t)b->num_outputs * sizeof(rheos__node_output);
  char *memory =
      rheos__arena_alloc(&b->graph->arena, outputs_bytes + num_edges * sizeof(rheos__edge));
  if (memory == NULL || !rheos__graph_reserve_node(b->graph) ||
      !rheos__scope_reserve_seen(b->scope)) {
    return rheos__out_of_memory();
  }
  rheos__node node = {.signature = b->signature,
                      .attrs = b->attrs,
                      .device = b->device,
                      .edges = (rheos__edge *)(void *)(memory + outputs_bytes),
                      .outputs = (rheos__node_output *)(void *)memory,
                      .source_file = b->scope->source_file_number,
                      .source_line = b->scope->source_line,
                      .num_inputs = b->num_inputs,
                      .num_control_inputs = (int32_t)b->num_controls,
                      .num_outputs = b->num_outputs};
  RHEOS_TRY(fill_outputs(b, node.outputs));
  fill_edges(b, node.edges);
  RHEOS_TRY(take_name(b, &node.name));  // the last thing that can fail
  *out_id = rheos__graph_publish(b->graph, &node);
  b->graph->names.entries[node.name].node = *out_id;
  keep_in_mind(b, &node);
  // TensorFlow lets no node of a file stand in for what the nodes after it have to wait for.
  if (!b->keeps_attrs) rheos__scope_record(b->scope, *out_id);
  return NULL;
}

static rheos_status *build_node(rheos__node_build *b, int32_t *out_id) {
  if (b->args->type == NULL) return RHEOS_INVALID("an operation has no type");
  RHEOS_NEED_LIST(b->args->inputs, b->args->num_inputs);
  RHEOS_NEED_LIST(b->args->attrs, b->args->num_attrs);
  RHEOS_NEED_LIST(b->args->control_inputs, b->args->num_control_inputs);
  RHEOS_TRY(read_name(b));
  if (b->signature == NULL) b->signature = rheos__graph_signature(b->graph, b->args->type);
  if (b->signature == NULL) return rheos__no_such_op(b->args->type);
  RHEOS_TRY(read_inputs(b));
  if (b->graph->contexts.count != 0) {
    int64_t wrong =
        rheos__context_wrong_input(b->scope, b->args->type, b->args->inputs, b->args->num_inputs);
    if (wrong >= 0) {
      return rheos__context_refuse_input(b->scope, final_name(b), b->args->inputs[wrong]);
    }
  }
  if (recall(b)) {
    RHEOS_TRY(read_controls(b));
    RHEOS_TRY(read_device(b));
    return add_node(b, out_id);
  }
  RHEOS_TRY(read_attrs(b));
  RHEOS_TRY(rheos__bind_inputs(b));
  RHEOS_TRY(rheos__complete_attrs(b));
  RHEOS_TRY(make_outputs(b));
  RHEOS_TRY(intern_attrs(b));
  RHEOS_TRY(read_controls(b));
  RHEOS_TRY(read_device(b));
  RHEOS_TRY(infer_shapes(b));
  return add_node(b, out_id);
}

static rheos_operation add_own_op(rheos_scope *scope, const rheos_op_args *args,
                                  const rheos__signature *signature, bool keeps_attrs) {
  rheos_operation none = {0};
  rheos__node_build b;  // the work space stays uninitialised
  memset(&b, 0, offsetof(rheos__node_build, inline_bytes));
  b.scope = scope;
  b.graph = scope->graph;
  b.args = args;
  b.signature = signature;
  b.keeps_attrs = keeps_attrs;
  b.name = args->type;
  int32_t id = -1;
  rheos__graph_lock(scope->graph);
  rheos_status *status = build_node(&b, &id);
  if (status != NULL) {
    status = rheos__status_at_node_take(status, final_name(&b), scope->source_file,
                                        (int)scope->source_line);
    rheos_scope_fail_take(scope, status);
  } else {
    rheos__context_add_node(scope, id);
  }
  rheos__graph_unlock(scope->graph);
  free_work(&b);
  return scope->status == NULL ? (rheos_operation){scope->graph, id} : none;
}

static rheos_operation add_op(rheos_scope *scope, const rheos_op_args *args,
                              const rheos__signature *signature, bool keeps_attrs) {
  const rheos_operation none = {0};
  if (rheos_scope_status(scope) != NULL) return none;
  if (!rheos__captures_inputs(scope, args)) {
    return add_own_op(scope, args, signature, keeps_attrs);
  }
  rheos_op_args inside = *args;
  rheos_output *inputs = rheos__capture_inputs(scope, args);
  inside.inputs = inputs;
  rheos_operation operation = none;
  if (scope->status == NULL) operation = add_own_op(scope, &inside, signature, keeps_attrs);
  rheos__free(inputs);
  return operation;
}

rheos_operation rheos_op_sized(rheos_scope *scope, const rheos_op_args *args, size_t args_bytes) {
  rheos_op_args known;
  rheos_scope_fail_take(scope, RHEOS_READ_OPTIONS(rheos_op_args, args, args_bytes, &known));
  return add_op(scope, &known, NULL, false);
}

rheos_operation rheos__op_of_file(rheos_scope *scope, const rheos_op_args *args,
                                  const rheos__signature *signature) {
  return add_op(scope, args, signature, true);
}
