// Going over functions is iterative: those that a changed one calls wait in a queue.
#include "format/graph/freeze_functions.h"

#include <assert.h>
#include <stdlib.h>

#include "format/graph/freeze_nodes.h"
#include "format/message/tensor_proto.h"
#include "graph/op_tally.h"

typedef Tensorflow__FunctionDef function_def;

// ---- Which functions a node calls

// How the ops that call functions by attributes hand their inputs on.
static const struct calling_op {
  const char *op, *types;
  size_t first_argument;
  bool is_loop;
} calling_ops[] = {
    {"PartitionedCall", "Tin", 0, false},
    {"StatefulPartitionedCall", "Tin", 0, false},
    {"While", "T", 0, true},
    {"StatelessWhile", "T", 0, true},
    {"If", "Tin", 1, false},
    {"StatelessIf", "Tin", 1, false},
    {"Case", "Tin", 1, false},
    {"StatelessCase", "Tin", 1, false},
};

static const struct calling_op *calling_op(const char *op) {
  for (size_t i = 0; i < sizeof calling_ops / sizeof *calling_ops; i++) {
    if (strcmp(op, calling_ops[i].op) == 0) return &calling_ops[i];
  }
  return NULL;
}

static int compare_names(const void *a, const void *b) {
  return strcmp(((const rheos__named_node *)a)->name, ((const rheos__named_node *)b)->name);
}

static int32_t find(const rheos__frozen_functions *f, const char *name) {
  const rheos__named_node key = {name, 0};
  const rheos__named_node *found =
      f->count > 0 ? bsearch(&key, f->by_name, f->count, sizeof key, compare_names) : NULL;
  return found != NULL ? found->node : -1;
}

static function_def *function_at(const rheos__frozen_functions *f, int32_t index) {
  return f->def->library->function[index];
}

rheos_status *rheos__frozen_functions_init(rheos__frozen_functions *f, rheos__graph_edit *edit) {
  *f = (rheos__frozen_functions){.def = edit->def, .arena = &edit->arena};
  const Tensorflow__FunctionDefLibrary *library = edit->def->library;
  const size_t count = library != NULL ? library->n_function : 0;
  f->by_name = rheos__alloc_array(count, sizeof *f->by_name);
  f->dtypes = rheos__alloc_array(count, sizeof(void *));
  f->queue = rheos__alloc_array(count, sizeof *f->queue);
  if (f->by_name == NULL || f->dtypes == NULL || f->queue == NULL) return rheos__out_of_memory();
  for (size_t i = 0; i < count; i++) {
    const Tensorflow__OpDef *signature = library->function[i]->signature;
    if (signature != NULL)
      f->by_name[f->count++] = (rheos__named_node){signature->name, (int32_t)i};
  }
  if (f->count > 0) qsort(f->by_name, f->count, sizeof *f->by_name, compare_names);
  return NULL;
}

void rheos__frozen_functions_deinit(rheos__frozen_functions *f) {
  rheos__free(f->by_name);
  rheos__free(f->dtypes);
  rheos__free(f->queue);
}

bool rheos__can_give_value(const rheos__frozen_functions *f, const Tensorflow__NodeDef *node,
                           size_t input) {
  const struct calling_op *op = calling_op(node->op);
  return op != NULL ? input >= op->first_argument : find(f, node->op) >= 0;
}

// ---- Calls

static rheos_status *queue_function(rheos__frozen_functions *f, const char *name,
                                    Tensorflow__AttrValue *const *dtypes, size_t count) {
  const int32_t index = find(f, name);
  if (index < 0) return RHEOS_NOTFOUND("the library has no function '%s'", name);
  const Tensorflow__OpDef *signature = function_at(f, index)->signature;
  if (signature->n_input_arg != count) {
    return RHEOS_INVALID("function '%s' takes %zu arguments, a call gives %zu", name,
                         signature->n_input_arg, count);
  }
  if (f->dtypes[index] != NULL) {
    for (size_t i = 0; i < count; i++) {
      const Tensorflow__AttrValue *one = f->dtypes[index][i], *other = dtypes[i];
      if ((one == NULL) == (other == NULL) && (one == NULL || one->type == other->type)) continue;
      return rheos_status_new(RHEOS_UNIMPLEMENTED,
                              "calls of function '%s' give different variables that are frozen",
                              name);
    }
    return NULL;
  }
  f->dtypes[index] = rheos__arena_copy(f->arena, dtypes, (count + 1) * sizeof(void *));
  if (f->dtypes[index] == NULL) return rheos__out_of_memory();
  f->queue[f->queue_last++] = index;
  return NULL;
}

// A copy of a list of types or shapes in which those of the values are what they are.
static rheos_status *change_list(rheos__frozen_functions *f, Tensorflow__AttrValue **attr,
                                 Tensorflow__AttrValue *const *dtypes, size_t count) {
  if ((*attr)->value_case != TENSORFLOW__ATTR_VALUE__VALUE_LIST || (*attr)->list == NULL)
    return NULL;
  Tensorflow__AttrValue *copy = rheos__arena_copy(f->arena, *attr, sizeof *copy);
  Tensorflow__AttrValue__ListValue *list = rheos__arena_copy(f->arena, (*attr)->list, sizeof *list);
  if (copy == NULL || list == NULL) return rheos__out_of_memory();
  copy->list = list;
  if (list->n_type > 0) {
    list->type = rheos__arena_copy(f->arena, list->type, list->n_type * sizeof *list->type);
    if (list->type == NULL) return rheos__out_of_memory();
  }
  if (list->n_shape > 0) {
    list->shape = rheos__arena_copy(f->arena, list->shape, list->n_shape * sizeof *list->shape);
    if (list->shape == NULL) return rheos__out_of_memory();
  }
  const rheos_shape unknown = RHEOS_UNKNOWN_SHAPE;
  for (size_t i = 0; i < count; i++) {
    if (dtypes[i] == NULL) continue;
    if (i < list->n_type) list->type[i] = dtypes[i]->type;
    if (i < list->n_shape) {
      RHEOS_TRY(rheos__shape_to_proto(&unknown, f->arena, &list->shape[i]));
    }
  }
  *attr = copy;
  return NULL;
}

static rheos_status *queue_named(rheos__frozen_functions *f, const Tensorflow__AttrValue *attr,
                                 Tensorflow__AttrValue *const *dtypes, size_t count) {
  if (attr == NULL) return NULL;
  if (attr->value_case == TENSORFLOW__ATTR_VALUE__VALUE_FUNC && attr->func != NULL) {
    return queue_function(f, attr->func->name, dtypes, count);
  }
  if (attr->value_case != TENSORFLOW__ATTR_VALUE__VALUE_LIST || attr->list == NULL) return NULL;
  for (size_t i = 0; i < attr->list->n_func; i++) {
    RHEOS_TRY(queue_function(f, attr->list->func[i]->name, dtypes, count));
  }
  return NULL;
}

rheos_status *rheos__give_values(rheos__frozen_functions *f, Tensorflow__NodeDef *node,
                                 Tensorflow__AttrValue *const *dtypes, size_t num_inputs) {
  const struct calling_op *op = calling_op(node->op);
  if (op == NULL) return queue_function(f, node->op, dtypes, num_inputs);
  assert(num_inputs >= op->first_argument);
  dtypes += op->first_argument;
  const size_t count = num_inputs - op->first_argument;
  size_t kept = 0;
  for (size_t i = 0; i < node->n_attr; i++) {
    Tensorflow__NodeDef__AttrEntry *entry = node->attr[i];
    RHEOS_TRY(queue_named(f, entry->value, dtypes, count));
    const bool has_shapes = op->is_loop && strcmp(entry->key, "output_shapes") == 0;
    if (strcmp(entry->key, op->types) == 0 || has_shapes) {
      RHEOS_TRY(change_list(f, &entry->value, dtypes, count));
    }
    // Which inputs are resources that are only read: values are none.
    if (strcmp(entry->key, "_read_only_resource_inputs") != 0) node->attr[kept++] = entry;
  }
  node->n_attr = kept;
  return NULL;
}

// ---- One function

typedef struct value {  // that a handle gave way to
  const char *name;     // of an argument or of a node that passes it on
  size_t length;
  Tensorflow__AttrValue *dtype;
} value;

typedef struct body {
  rheos__frozen_functions *f;
  function_def *def;
  value *values;
  size_t num_values;
  const char **reads;  // nodes whose output is called "output" now, and was "value"
  size_t num_reads;
  Tensorflow__NodeDef **nodes;
  size_t num_nodes;
  rheos__op_tally takers;
} body;

static size_t length_of_name(const char *input) { return strcspn(input, ":"); }

// What the input is if a handle gave way to it, else NULL.
static Tensorflow__AttrValue *value_behind(const body *b, const char *input) {
  const size_t length = length_of_name(input);
  for (size_t i = 0; i < b->num_values; i++) {
    const value *v = &b->values[i];
    if (v->length == length && memcmp(v->name, input, length) == 0) return v->dtype;
  }
  return NULL;
}

static void add_value(body *b, const char *name, Tensorflow__AttrValue *dtype) {
  b->values[b->num_values++] = (value){name, strlen(name), dtype};
}

static rheos_status *init_body(body *b) {
  const size_t most = b->def->n_node_def + b->def->signature->n_input_arg;
  b->values = rheos__alloc_array(most, sizeof *b->values);
  b->reads = rheos__alloc_array(b->def->n_node_def, sizeof *b->reads);
  b->nodes = rheos__arena_alloc(b->f->arena, 2 * b->def->n_node_def * sizeof *b->nodes);
  return b->values != NULL && b->reads != NULL && b->nodes != NULL ? NULL : rheos__out_of_memory();
}

static void deinit_body(body *b) {
  rheos__free(b->values);
  rheos__free(b->reads);
  rheos__op_tally_deinit(&b->takers);
}

// The arguments, and what passes them on; the nodes may stand in any order.
static void find_values(body *b, Tensorflow__AttrValue *const *dtypes) {
  const Tensorflow__OpDef *signature = b->def->signature;
  for (size_t i = 0; i < signature->n_input_arg; i++) {
    if (dtypes[i] != NULL) add_value(b, signature->input_arg[i]->name, dtypes[i]);
  }
  for (size_t before = 0; before < b->num_values;) {
    before = b->num_values;
    for (size_t i = 0; i < b->def->n_node_def; i++) {
      Tensorflow__NodeDef *node = b->def->node_def[i];
      if (!rheos__is_one_of(node->op, rheos__passing_ops) || node->n_input == 0) continue;
      if (value_behind(b, node->name) != NULL) continue;
      Tensorflow__AttrValue *dtype = value_behind(b, node->input[0]);
      if (dtype == NULL) continue;
      add_value(b, node->name, dtype);
      rheos__freeze_retype(node, dtype);
    }
  }
}

static rheos_status *convert_read(body *b, Tensorflow__NodeDef *node,
                                  Tensorflow__AttrValue *dtype) {
  Tensorflow__NodeDef *made, *axis = NULL;
  if (strcmp(node->op, "ReadVariableOp") == 0) {
    RHEOS_TRY(rheos__freeze_identity(b->f->arena, node, dtype, &made));
    b->reads[b->num_reads++] = node->name;
  } else {
    RHEOS_TRY(rheos__freeze_gather(b->f->arena, node, dtype, &made, &axis));
  }
  if (axis != NULL) {
    static const char output[] = ":output:0";
    const size_t length = strlen(axis->name);
    made->input[2] = rheos__arena_alloc(b->f->arena, length + sizeof output);
    if (made->input[2] == NULL) return rheos__out_of_memory();
    memcpy(made->input[2], axis->name, length);
    memcpy(made->input[2] + length, output, sizeof output);
    b->nodes[b->num_nodes++] = axis;
  }
  b->nodes[b->num_nodes++] = made;
  return NULL;
}

static rheos_status *convert_call(body *b, Tensorflow__NodeDef *node) {
  size_t count = 0;
  while (count < node->n_input && node->input[count][0] != '^') count++;
  Tensorflow__AttrValue **dtypes = rheos__alloc_array(count + 1, sizeof *dtypes);
  if (dtypes == NULL) return rheos__out_of_memory();
  for (size_t i = 0; i < count; i++) dtypes[i] = value_behind(b, node->input[i]);
  rheos_status *status = rheos__give_values(b->f, node, dtypes, count);
  rheos__free(dtypes);
  return status;
}

static rheos_status *convert_node(body *b, Tensorflow__NodeDef *node) {
  bool takes = false, can_take = true;
  for (size_t i = 0; i < node->n_input && node->input[i][0] != '^'; i++) {
    if (value_behind(b, node->input[i]) == NULL) continue;
    takes = true;
    if (!rheos__can_give_value(b->f, node, i)) can_take = false;
  }
  Tensorflow__AttrValue *first = node->n_input > 0 ? value_behind(b, node->input[0]) : NULL;
  if (takes && first != NULL && rheos__is_one_of(node->op, rheos__reading_ops)) {
    return convert_read(b, node, first);
  }
  b->nodes[b->num_nodes++] = node;
  if (!takes || rheos__is_one_of(node->op, rheos__passing_ops)) return NULL;
  return can_take ? convert_call(b, node) : rheos__op_tally_add(&b->takers, node->op, node->name);
}

// "x:value:0" as "x:output:0".
static rheos_status *rename_read(const body *b, char **input) {
  const size_t length = length_of_name(*input);
  if (strncmp(*input + length, ":value", 6) != 0) return NULL;
  for (size_t i = 0; i < b->num_reads; i++) {
    if (strncmp(b->reads[i], *input, length) != 0 || b->reads[i][length] != '\0') continue;
    char *text = rheos__arena_alloc(b->f->arena, length + sizeof ":output:0");
    if (text == NULL) return rheos__out_of_memory();
    memcpy(text, *input, length);
    memcpy(text + length, ":output:0", sizeof ":output:0");
    *input = text;
    return NULL;
  }
  return NULL;
}

static rheos_status *rename_reads(const body *b) {
  for (size_t i = 0; i < b->num_nodes && b->num_reads > 0; i++) {
    for (size_t k = 0; k < b->nodes[i]->n_input; k++) {
      RHEOS_TRY(rename_read(b, &b->nodes[i]->input[k]));
    }
  }
  for (size_t i = 0; i < b->def->n_ret && b->num_reads > 0; i++) {
    RHEOS_TRY(rename_read(b, &b->def->ret[i]->value));
  }
  return NULL;
}

// Of a loop's body, what comes in goes out.
static void retype_results(const body *b) {
  const Tensorflow__OpDef *signature = b->def->signature;
  for (size_t i = 0; i < b->def->n_ret; i++) {
    const Tensorflow__AttrValue *dtype = value_behind(b, b->def->ret[i]->value);
    for (size_t k = 0; dtype != NULL && k < signature->n_output_arg; k++) {
      if (strcmp(signature->output_arg[k]->name, b->def->ret[i]->key) != 0) continue;
      signature->output_arg[k]->type = dtype->type;
      signature->output_arg[k]->n_handle_data = 0;
    }
  }
}

static void retype_arguments(const body *b, Tensorflow__AttrValue *const *dtypes) {
  const Tensorflow__OpDef *signature = b->def->signature;
  for (size_t i = 0; i < signature->n_input_arg; i++) {
    if (dtypes[i] == NULL) continue;
    signature->input_arg[i]->type = dtypes[i]->type;
    signature->input_arg[i]->n_handle_data = 0;
  }
  size_t kept = 0;  // what is told of arguments: their shapes as handles
  for (size_t i = 0; i < b->def->n_arg_attr; i++) {
    const uint32_t index = b->def->arg_attr[i]->key;
    const bool is_value = index < signature->n_input_arg && dtypes[index] != NULL;
    if (!is_value) b->def->arg_attr[kept++] = b->def->arg_attr[i];
  }
  b->def->n_arg_attr = kept;
}

static rheos_status *convert_body(body *b, Tensorflow__AttrValue *const *dtypes) {
  find_values(b, dtypes);
  for (size_t i = 0; i < b->def->n_node_def; i++) {
    RHEOS_TRY(convert_node(b, b->def->node_def[i]));
  }
  if (b->takers.count > 0) {
    char text[2048];
    rheos__op_tally_text(&b->takers, text, sizeof text);
    return rheos_status_new(RHEOS_UNIMPLEMENTED,
                            "in function '%s' a variable cannot become a constant for %s",
                            b->def->signature->name, text);
  }
  RHEOS_TRY(rename_reads(b));
  retype_results(b);
  retype_arguments(b, dtypes);
  b->def->node_def = b->nodes;
  b->def->n_node_def = b->num_nodes;
  return NULL;
}

// ---- The whole

static void keep_function(rheos__frozen_functions *f, const char *name, bool *is_kept) {
  const int32_t index = find(f, name);
  if (index < 0 || is_kept[index]) return;
  is_kept[index] = true;
  f->queue[f->queue_last++] = index;
}

static void keep_called(rheos__frozen_functions *f, const Tensorflow__NodeDef *node,
                        bool *is_kept) {
  keep_function(f, node->op, is_kept);
  for (size_t i = 0; i < node->n_attr; i++) {
    const Tensorflow__AttrValue *attr = node->attr[i]->value;
    if (attr == NULL) continue;
    if (attr->value_case == TENSORFLOW__ATTR_VALUE__VALUE_FUNC && attr->func != NULL) {
      keep_function(f, attr->func->name, is_kept);
    }
    if (attr->value_case != TENSORFLOW__ATTR_VALUE__VALUE_LIST || attr->list == NULL) continue;
    for (size_t k = 0; k < attr->list->n_func; k++) {
      keep_function(f, attr->list->func[k]->name, is_kept);
    }
  }
}

static rheos_status *drop_others(rheos__frozen_functions *f) {
  Tensorflow__FunctionDefLibrary *library = f->def->library;
  bool *is_kept = rheos__alloc_array(library->n_function + 1, sizeof *is_kept);
  if (is_kept == NULL) return rheos__out_of_memory();
  f->queue_first = f->queue_last = 0;
  for (size_t i = 0; i < f->def->n_node; i++) keep_called(f, f->def->node[i], is_kept);
  while (f->queue_first < f->queue_last) {
    const function_def *def = function_at(f, f->queue[f->queue_first++]);
    for (size_t i = 0; i < def->n_node_def; i++) keep_called(f, def->node_def[i], is_kept);
  }
  size_t kept = 0;
  for (size_t i = 0; i < library->n_function; i++) {
    if (is_kept[i]) library->function[kept++] = library->function[i];
  }
  library->n_function = kept;
  library->n_gradient = 0;  // those of functions that took variables
  library->n_registered_gradients = 0;
  rheos__free(is_kept);
  return NULL;
}

rheos_status *rheos__frozen_functions_finish(rheos__frozen_functions *f) {
  if (f->queue_last == 0) return NULL;
  while (f->queue_first < f->queue_last) {
    const int32_t index = f->queue[f->queue_first++];
    body b = {.f = f, .def = function_at(f, index)};
    rheos_status *status = init_body(&b);
    if (status == NULL) status = convert_body(&b, f->dtypes[index]);
    deinit_body(&b);
    if (status != NULL) return status;
  }
  return drop_others(f);
}
