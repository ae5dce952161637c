// Variables: TensorFlow 1's nodes NAME, NAME/Assign, NAME/read, of resource variables NAME/Assign,
// NAME/IsInitialized and NAME/Read, and the table in which code finds them again by name, by node
// or by number. The values live in sessions; a graph only knows the nodes.
#include "train/variables.h"

#include <rheos/control_context.h>
#include <rheos/front_end.h>

#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/options.h"
#include "graph/handles.h"
#include "graph/dependencies.h"

static const rheos_variable no_variable = {.graph = NULL};

// ---- The table of indices

static size_t find_entry(const rheos__index_table *table, const void *key, size_t size_bytes) {
  size_t mask = table->capacity - 1;
  size_t at = rheos__hash_bytes(0, key, size_bytes) & mask;
  while (table->entries[at].key != NULL) {
    const struct rheos__index_entry *entry = &table->entries[at];
    if (entry->size_bytes == size_bytes && memcmp(entry->key, key, size_bytes) == 0) break;
    at = (at + 1) & mask;
  }
  return at;
}

int32_t rheos__index_find(const rheos__index_table *table, const void *key, size_t size_bytes) {
  if (table->capacity == 0) return -1;
  size_t at = find_entry(table, key, size_bytes);
  return table->entries[at].key != NULL ? table->entries[at].value : -1;
}

static bool grow_table(rheos__index_table *table) {
  if (table->count * 2 < table->capacity) return true;
  rheos__index_table larger = {.capacity = table->capacity == 0 ? 16 : table->capacity * 2};
  larger.entries = rheos__alloc_array(larger.capacity, sizeof(larger.entries[0]));
  if (larger.entries == NULL) return false;
  for (size_t i = 0; i < table->capacity; i++) {
    struct rheos__index_entry *entry = &table->entries[i];
    if (entry->key == NULL) continue;
    larger.entries[find_entry(&larger, entry->key, entry->size_bytes)] = *entry;
  }
  larger.count = table->count;
  rheos__free(table->entries);
  *table = larger;
  return true;
}

bool rheos__index_set(rheos__index_table *table, const void *key, size_t size_bytes,
                      int32_t value) {
  if (!grow_table(table)) return false;
  struct rheos__index_entry *entry = &table->entries[find_entry(table, key, size_bytes)];
  if (entry->key == NULL) {
    entry->key = rheos__alloc(size_bytes + 1);
    if (entry->key == NULL) return false;
    memcpy(entry->key, key, size_bytes);
    entry->size_bytes = size_bytes;
    table->count++;
  }
  entry->value = value;
  return true;
}

static void free_table(rheos__index_table *table) {
  for (size_t i = 0; i < table->capacity; i++) rheos__free(table->entries[i].key);
  rheos__free(table->entries);
}

// ---- What a graph keeps

static void release_train(void *data) {
  rheos__train *train = data;
  free_table(&train->by_node);
  free_table(&train->by_name);
  free_table(&train->slots);
  free_table(&train->by_part);
  for (size_t i = 0; i < train->num_parts; i++) {
    rheos__free(train->parts[i].full_name);
    rheos__free(train->parts[i].shape_and_slice);
  }
  rheos__free(train->parts);
  rheos__free(train->variables);
  rheos__free(train);
}

rheos__train *rheos__train_of(rheos_graph *graph) {
  rheos__graph_slot *slot = rheos__graph_train_slot(graph);
  if (slot->data == NULL) {
    slot->data = rheos__alloc_zeroed(sizeof(rheos__train));
    if (slot->data != NULL) slot->release = release_train;
  }
  return slot->data;
}

int32_t rheos_graph_num_variables(rheos_graph *graph) {
  if (graph == NULL) return 0;
  rheos__graph_lock(graph);
  rheos__train *train = rheos__train_of(graph);
  int32_t count = train != NULL ? (int32_t)train->num_variables : 0;
  rheos__graph_unlock(graph);
  return count;
}

rheos_variable rheos_graph_variable(rheos_graph *graph, int32_t index) {
  if (graph == NULL) return (rheos_variable){0};
  rheos__graph_lock(graph);
  rheos__train *train = rheos__train_of(graph);
  bool found = train != NULL && index >= 0 && (size_t)index < train->num_variables;
  rheos_variable variable = found ? train->variables[index] : no_variable;
  rheos__graph_unlock(graph);
  return variable;
}

rheos_variable rheos_variable_of(rheos_output output) {
  if (output.graph == NULL || output.index != 0) return no_variable;
  rheos__graph_lock(output.graph);
  rheos__train *train = rheos__train_of(output.graph);
  int32_t index =
      train != NULL ? rheos__index_find(&train->by_node, &output.id, sizeof(output.id)) : -1;
  rheos_variable variable = index >= 0 ? train->variables[index] : no_variable;
  rheos__graph_unlock(output.graph);
  return variable;
}

bool rheos_variable_is_resource(rheos_variable variable) {
  return variable.graph != NULL && rheos_output_dtype(variable.handle) == RHEOS_RESOURCE;
}

rheos_dtype rheos_variable_dtype(rheos_variable variable) {
  return rheos_dtype_base(rheos_output_dtype(variable.value));
}

rheos_shape rheos_variable_static_shape(rheos_variable variable) {
  return rheos_output_shape(rheos_variable_is_resource(variable) ? variable.value
                                                                 : variable.handle);
}

void rheos_graph_use_resource_variables(rheos_graph *graph, bool use) {
  if (graph == NULL) return;
  rheos__graph_lock(graph);
  rheos__train *train = rheos__train_of(graph);
  if (train != NULL) train->use_resource = use;
  rheos__graph_unlock(graph);
}

// ---- Parts of a whole

static bool add_part(rheos__train *train, rheos_variable variable, const char *full_name,
                     const char *shape_and_slice) {
  struct rheos__part part = {rheos__strdup(full_name), rheos__strdup(shape_and_slice)};
  if (part.full_name == NULL || part.shape_and_slice == NULL || train == NULL ||
      train->num_parts >= INT32_MAX ||
      !RHEOS_RESERVE(train->parts, train->parts_capacity, train->num_parts + 1) ||
      !rheos__index_set(&train->by_part, &variable.handle.id, sizeof(int32_t),
                        (int32_t)train->num_parts)) {
    rheos__free(part.full_name);
    rheos__free(part.shape_and_slice);
    return false;
  }
  train->parts[train->num_parts++] = part;
  return true;
}

void rheos_variable_set_slice(rheos_scope *s, rheos_variable variable, const char *full_name,
                              const char *shape_and_slice) {
  if (!rheos__scope_goes_on(s, rheos__check_variables(rheos_scope_graph(s), &variable, 1)) ||
      !rheos__scope_goes_on(s, RHEOS_LIST_STATUS(full_name, 1)) ||
      !rheos__scope_goes_on(s, RHEOS_LIST_STATUS(shape_and_slice, 1))) {
    return;
  }
  rheos__graph_lock(variable.graph);
  if (!add_part(rheos__train_of(variable.graph), variable, full_name, shape_and_slice)) {
    rheos_scope_fail_take(s, rheos__out_of_memory());
  }
  rheos__graph_unlock(variable.graph);
}

bool rheos_variable_slice(rheos_variable variable, const char **out_full_name,
                          const char **out_shape_and_slice) {
  if (out_full_name == NULL || out_shape_and_slice == NULL) return false;
  *out_full_name = *out_shape_and_slice = NULL;
  if (variable.graph == NULL) return false;
  rheos__graph_lock(variable.graph);
  rheos__train *train = rheos__train_of(variable.graph);
  int32_t index =
      train != NULL ? rheos__index_find(&train->by_part, &variable.handle.id, sizeof(int32_t)) : -1;
  if (index >= 0) {
    *out_full_name = train->parts[index].full_name;
    *out_shape_and_slice = train->parts[index].shape_and_slice;
  }
  rheos__graph_unlock(variable.graph);
  return index >= 0;
}

static bool record(rheos__train *train, rheos_variable *variable) {
  if (train == NULL || train->num_variables >= INT32_MAX) return false;
  variable->index = (int32_t)train->num_variables;
  if (!RHEOS_RESERVE(train->variables, train->variables_capacity, train->num_variables + 1) ||
      !rheos__index_set(&train->by_node, &variable->handle.id, sizeof(int32_t), variable->index) ||
      !rheos__index_set(&train->by_node, &variable->value.id, sizeof(int32_t), variable->index)) {
    return false;
  }
  train->variables[train->num_variables++] = *variable;
  return true;
}

static rheos_status *add_to_collections(rheos_variable variable, const rheos__new_variable *args) {
  if (args->no_collections) return NULL;
  const rheos_item item = {
      .kind = RHEOS_ITEM_VARIABLE, .id = variable.handle.id, .index = variable.index};
  RHEOS_TRY(rheos_graph_add_to_collection(
      variable.graph,
      args->is_local ? RHEOS_COLLECTION_LOCAL_VARIABLES : RHEOS_COLLECTION_GLOBAL_VARIABLES, item));
  if (!variable.trainable) return NULL;
  return rheos_graph_add_to_collection(variable.graph, RHEOS_COLLECTION_TRAINABLE_VARIABLES, item);
}

// ---- The nodes

// `name` ends in "/". A resource is shared under the node's name.
static rheos_output variable_node(rheos_scope *s, const rheos__new_variable *args,
                                  const char *name) {
  rheos_shape shape = args->any_shape ? RHEOS_UNKNOWN_SHAPE : args->shape;
  rheos_attr attrs[] = {
      rheos_attr_shape("shape", &shape),
      rheos_attr_type("dtype", args->dtype),
      {"shared_name",
       {.kind = RHEOS_ATTR_STRING, .s = rheos__borrow_string(name, strlen(name) - 1)}},
  };
  const char *type = args->use_resource ? "VarHandleOp" : "VariableV2";
  size_t num_attrs = args->use_resource ? 3 : 2;
  return rheos_operation_output(rheos__op_n(s, type, name, NULL, 0, attrs, num_attrs), 0);
}

static rheos_output initial_value(rheos_scope *s, const rheos__new_variable *args) {
  if (args->initializer == NULL) return args->initial_value;
  rheos_push_name_scope(s, "Initializer");
  if (args->own_class) rheos_push_device(s, NULL);
  rheos_output value = rheos__initial_value(s, args->initializer, args->dtype, &args->shape);
  if (args->own_class) rheos_scope_pop(s);
  rheos_scope_pop(s);
  return value;
}

// VariableV2 and its first value, both marked as belonging together if that is wanted.
static void begin_nodes(rheos_scope *s, const rheos__new_variable *args, rheos_variable *variable) {
  char *name = rheos__scope_node_name(s);
  size_t length = name != NULL ? strlen(name) - 1 : 0;
  char *location = name != NULL ? rheos__alloc(length + sizeof("loc:@")) : NULL;
  if (location == NULL) {
    rheos__free(name);
    rheos_scope_fail_take(s, rheos__out_of_memory());
    return;
  }
  memcpy(location, "loc:@", 5);
  memcpy(location + 5, name, length);
  rheos_string text = {location, length + 5};
  rheos_attr class = {"_class", {.kind = RHEOS_ATTR_LIST_STRING, .count = 1, .strings = &text}};
  if (args->own_class) rheos_push_attr(s, class);
  variable->initial_value = initial_value(s, args);
  variable->handle = variable_node(s, args, name);
  if (args->own_class) rheos_scope_pop(s);
  rheos__free(location);
  rheos__free(name);
}

static rheos_output read_node(rheos_scope *s, rheos_output handle, rheos_dtype dtype) {
  rheos_attr attr = rheos_attr_type("dtype", dtype);
  rheos_push_device(s, rheos_operation_device(rheos_output_operation(handle)));
  rheos_output value =
      rheos_operation_output(rheos__op_n(s, "ReadVariableOp", NULL, &handle, 1, &attr, 1), 0);
  rheos_scope_pop(s);
  return value;
}

// A copy that all readers share. A device without parts is where the scope is.
static rheos_output cached_value(rheos_scope *s, rheos_output value, const char *device,
                                 const char *name) {
  if (device[0] != '\0') rheos_push_device(s, device);
  rheos_output copy =
      rheos_operation_output(rheos__op_n(s, "Identity", name, &value, 1, NULL, 0), 0);
  if (device[0] != '\0') rheos_scope_pop(s);
  return copy;
}

static void finish_resource(rheos_scope *s, const rheos__new_variable *args,
                            rheos_variable *variable) {
  rheos_push_name_scope(s, "IsInitialized");
  rheos__op_1(s, "VarIsInitializedOp", variable->handle);
  rheos_scope_pop(s);
  rheos_output assign[] = {variable->handle, variable->initial_value};
  rheos_push_colocation(s, (rheos_operation){NULL, 0});
  rheos_push_device(s, rheos_operation_device(rheos_output_operation(variable->handle)));
  variable->initializer = rheos__op_n(s, "AssignVariableOp", "Assign", assign, 2, NULL, 0);
  rheos_scope_pop(s);
  rheos_scope_pop(s);
  rheos_push_name_scope(s, "Read");
  variable->value = read_node(s, variable->handle, args->dtype);
  if (args->caching_device != NULL) {
    variable->cached = cached_value(s, variable->value, args->caching_device, NULL);
  }
  rheos_scope_pop(s);
}

// Assign and read, where the variable is.
static void finish_nodes(rheos_scope *s, const rheos__new_variable *args,
                         rheos_variable *variable) {
  rheos_push_colocation(s, rheos_output_operation(variable->handle));
  rheos_output assign[] = {variable->handle, variable->initial_value};
  rheos_attr validate = rheos_attr_bool("validate_shape", !args->any_shape);
  variable->initializer = rheos__op_n(s, "Assign", NULL, assign, 2, &validate, 1);
  if (args->caching_device == NULL) {
    rheos_operation read = rheos__op_n(s, "Identity", "read", &variable->handle, 1, NULL, 0);
    variable->value = rheos_operation_output(read, 0);
  }
  rheos_scope_pop(s);
  if (args->caching_device != NULL) {
    variable->value = cached_value(s, variable->handle, args->caching_device, "read");
  }
}

// A variable is initialized outside of all branches and loops.
static void check_context(rheos_scope *s, rheos_output initial_value) {
  if (rheos_operation_control_context(rheos_output_operation(initial_value)) == NULL) return;
  char name[256];
  rheos_scope_name(s, name, sizeof name);
  rheos_scope_fail_take(
      s, RHEOS_INVALID("Initializer for variable %s/ is from inside a control-flow construct, such "
                       "as a loop or conditional. When creating a variable inside a loop or "
                       "conditional, use a lambda as the initializer.",
                       name));
}

rheos_variable rheos__make_variable(rheos_scope *s, const rheos__new_variable *args) {
  if (rheos_scope_status(s) != NULL) return no_variable;
  rheos_graph *graph = rheos_scope_graph(s);
  rheos_variable variable = {.graph = graph, .trainable = args->trainable};
  rheos__graph_lock(graph);
  rheos_push_control_dependencies(s, NULL, 0);
  rheos_push_name_scope(s, args->name);
  check_context(s, args->initial_value);
  begin_nodes(s, args, &variable);
  if (rheos_scope_status(s) == NULL) {
    (args->use_resource ? finish_resource : finish_nodes)(s, args, &variable);
  }
  rheos_scope_pop(s);
  rheos_scope_pop(s);
  if (rheos_scope_status(s) == NULL) {
    if (!record(rheos__train_of(graph), &variable)) {
      rheos_scope_fail_take(s, rheos__out_of_memory());
    } else {
      rheos_status *status = add_to_collections(variable, args);
      if (status != NULL) rheos_scope_fail_take(s, status);
    }
  }
  rheos__graph_unlock(graph);
  return rheos_scope_status(s) == NULL ? variable : no_variable;
}

static rheos_status *check_nodes(const rheos_graph *graph, const rheos_variable *nodes) {
  const rheos_output outputs[] = {nodes->handle, nodes->value};
  RHEOS_TRY(rheos__check_outputs(graph, outputs, 2, "a variable's nodes", false));
  const rheos_output others[] = {nodes->initial_value, nodes->cached};
  RHEOS_TRY(rheos__check_outputs(graph, others, 2, "a variable's values", true));
  if (nodes->initializer.graph != NULL) {
    RHEOS_TRY(rheos__check_operation(graph, nodes->initializer, "a variable's initializer"));
  }
  const rheos_dtype dtype = rheos_output_dtype(nodes->handle);
  if (dtype == RHEOS_RESOURCE || rheos_dtype_is_ref(dtype)) return NULL;
  return RHEOS_INVALID("a variable is a reference or a resource, not a %s",
                       rheos_dtype_name(dtype));
}

rheos_status *rheos__check_variables(const rheos_graph *graph, const rheos_variable *variables,
                                     size_t count) {
  RHEOS_NEED_LIST(variables, count);
  for (size_t i = 0; i < count; i++) {
    if (variables[i].graph != graph) return RHEOS_INVALID("variables[%zu] is not of this graph", i);
    RHEOS_TRY(check_nodes(graph, &variables[i]));
  }
  return NULL;
}

rheos_status *rheos__check_gradients(const rheos_graph *graph, const rheos_gradient *gradients,
                                     size_t count) {
  RHEOS_NEED_LIST(gradients, count);
  for (size_t i = 0; i < count; i++) {
    const rheos_output parts[] = {gradients[i].values, gradients[i].indices,
                                  gradients[i].dense_shape};
    RHEOS_TRY(rheos__check_outputs(graph, parts, 3, "the parts of a gradient", true));
  }
  return NULL;
}

rheos_variable rheos_variable_from_nodes(rheos_scope *s, rheos_variable nodes) {
  if (rheos_scope_status(s) != NULL) return no_variable;
  rheos_graph *graph = rheos_scope_graph(s);
  rheos_status *status = check_nodes(graph, &nodes);
  if (status != NULL) {
    rheos_scope_fail_take(s, status);
    return no_variable;
  }
  rheos__graph_lock(graph);
  rheos__train *train = rheos__train_of(graph);
  const rheos_variable known = rheos_variable_of(nodes.handle);
  nodes.graph = graph;
  if (train == NULL || (known.graph == NULL && !record(train, &nodes))) {
    rheos_scope_fail_take(s, rheos__out_of_memory());
    nodes = no_variable;
  }
  rheos__graph_unlock(graph);
  return known.graph != NULL ? known : nodes;
}

rheos_output rheos_variable_read(rheos_scope *s, rheos_variable variable) {
  if (!rheos_variable_is_resource(variable)) return variable.value;
  if (variable.cached.graph != NULL) return variable.cached;
  rheos_push_colocation(s, (rheos_operation){NULL, 0});
  rheos_output value = read_node(s, variable.handle, rheos_variable_dtype(variable));
  rheos_scope_pop(s);
  return value;
}

// The first op of each row is for references, the second for handles.
static rheos_operation assign_by(rheos_scope *s, const char *const types[2],
                                 rheos_variable variable, rheos_output value, bool whole) {
  rheos_status *status = rheos__check_variables(rheos_scope_graph(s), &variable, 1);
  if (!rheos__scope_goes_on(s, status)) return (rheos_operation){NULL, 0};
  const rheos_output inputs[] = {variable.handle, value};
  if (rheos_variable_is_resource(variable)) {
    return rheos__op_n(s, types[1], NULL, inputs, 2, NULL, 0);
  }
  const rheos_shape shape = rheos_output_shape(variable.handle);
  const rheos_attr validate = rheos_attr_bool("validate_shape", rheos_shape_is_known(&shape));
  return rheos__op_n(s, types[0], NULL, inputs, 2, &validate, whole ? 1 : 0);
}

rheos_operation rheos_variable_assign(rheos_scope *scope, rheos_variable variable,
                                      rheos_output value) {
  static const char *const types[] = {"Assign", "AssignVariableOp"};
  return assign_by(scope, types, variable, value, true);
}

rheos_operation rheos_variable_assign_add(rheos_scope *scope, rheos_variable variable,
                                          rheos_output value) {
  static const char *const types[] = {"AssignAdd", "AssignAddVariableOp"};
  return assign_by(scope, types, variable, value, false);
}

rheos_operation rheos_variable_assign_sub(rheos_scope *scope, rheos_variable variable,
                                          rheos_output value) {
  static const char *const types[] = {"AssignSub", "AssignSubVariableOp"};
  return assign_by(scope, types, variable, value, false);
}

// ---- A variable of its own

static bool take_shape(rheos_scope *s, rheos__new_variable *args, const rheos_shape *shape) {
  if (args->use_resource && !rheos_shape_compatible(&args->shape, shape)) {
    rheos__tuple_text is, wanted;
    rheos_scope_fail_take(
        s, RHEOS_INVALID("The initial value's shape (%s) is not compatible with the explicitly "
                         "supplied `shape` argument (%s).",
                         rheos__tuple_text_of(&args->shape, &is),
                         rheos__tuple_text_of(shape, &wanted)));
    return false;
  }
  args->shape = *shape;
  return true;
}

rheos_variable rheos_variable_new_sized(rheos_scope *s, rheos_output initial_value,
                                        const rheos_variable_options *options,
                                        size_t options_bytes) {
  rheos_variable_options known;
  rheos_scope_fail_take(s,
                        RHEOS_READ_OPTIONS(rheos_variable_options, options, options_bytes, &known));
  if (rheos_scope_status(s) != NULL) return no_variable;
  if (!rheos__scope_goes_on(s, rheos__check_output(rheos_scope_graph(s), initial_value,
                                                   "the initial value of a variable"))) {
    return no_variable;
  }
  rheos__new_variable args = {
      .name = known.name != NULL ? known.name : "Variable",
      .dtype = rheos_dtype_base(rheos_output_dtype(initial_value)),
      .shape = rheos_output_shape(initial_value),
      .initial_value = initial_value,
      .trainable = !known.not_trainable,
      .any_shape = known.any_shape && !known.use_resource,
      .is_local = known.is_local,
      .no_collections = known.no_collections,
      .use_resource = known.use_resource,
      .own_class = known.use_resource || known.own_class,
      .caching_device = known.caching_device,
  };
  if (known.shape != NULL && !take_shape(s, &args, known.shape)) return no_variable;
  if (!args.any_shape && !args.use_resource && known.shape == NULL &&
      !rheos_shape_is_known(&args.shape)) {
    char *text = rheos__output_text(initial_value);
    rheos_scope_fail_take(s, RHEOS_INVALID("initial_value must have a shape specified: %s",
                                           text != NULL ? text : "?"));
    rheos__free(text);
    return no_variable;
  }
  return rheos__make_variable(s, &args);
}

// ---- Shared variables

void rheos_push_variable_scope(rheos_scope *s, const char *name, rheos_reuse reuse) {
  rheos__variable_scope around = rheos__scope_variable_scope(s);
  if (name == NULL) name = "";
  // Re-using is inherited: an inner scope cannot take it back.
  if (reuse == RHEOS_REUSE_INHERIT || (reuse == RHEOS_REUSE_NO && around.reuse != 0)) {
    reuse = (rheos_reuse)around.reuse;
  }
  size_t size = strlen(around.prefix) + strlen(name) + 2;
  char *prefix = rheos__alloc(size);
  if (prefix == NULL) {
    rheos_scope_fail_take(s, rheos__out_of_memory());
    // Still one frame, for the pop to come.
    rheos__push_variable_frame(s, "", reuse);
    return;
  }
  strcpy(prefix, around.prefix);
  if (prefix[0] != '\0' && name[0] != '\0') strcat(prefix, "/");
  strcat(prefix, name);
  rheos__push_variable_frame(s, prefix, reuse);
  rheos__free(prefix);
  if (name[0] == '\0') return;
  rheos_push_name_scope(s, name);
  rheos__join_frames(s);
}

static rheos_status *exists_already(const char *name, rheos_variable variable) {
  const char *file = NULL;
  int32_t line = 0;
  rheos_operation_source(rheos_output_operation(variable.handle), &file, &line);
  char number[16] = "";
  if (file != NULL) snprintf(number, sizeof(number), ":%d", (int)line);
  return RHEOS_INVALID(
      "Variable %s already exists, disallowed. Did you mean to push its variable scope with "
      "RHEOS_REUSE_YES or RHEOS_REUSE_AUTO?%s%s%s",
      name, file != NULL ? " Originally defined at: " : "", file != NULL ? file : "", number);
}

static rheos_status *check_shared(const char *name, rheos_variable variable, rheos_dtype dtype,
                                  const rheos_shape *shape) {
  rheos_shape found = rheos_variable_static_shape(variable);
  if (!rheos_shape_compatible(shape, &found)) {
    rheos__tuple_text want_text, found_text;
    return RHEOS_INVALID("Trying to share variable %s, but specified shape %s and found shape %s.",
                         name, rheos__tuple_text_of(shape, &want_text),
                         rheos__tuple_text_of(&found, &found_text));
  }
  rheos_dtype found_dtype = rheos_variable_is_resource(variable)
                                ? rheos_variable_dtype(variable)
                                : rheos_output_dtype(variable.handle);
  if (dtype == RHEOS_INVALID_DTYPE || rheos_dtype_base(found_dtype) == rheos_dtype_base(dtype)) {
    return NULL;
  }
  return RHEOS_INVALID("Trying to share variable %s, but specified dtype %s and found dtype %s.",
                       name, rheos__python_dtype(dtype), rheos__python_dtype(found_dtype));
}

static rheos_variable shared_variable(rheos_graph *graph, const char *name) {
  rheos__graph_lock(graph);
  rheos__train *train = rheos__train_of(graph);
  int32_t index = train != NULL ? rheos__index_find(&train->by_name, name, strlen(name)) : -1;
  rheos_variable variable = index >= 0 ? train->variables[index] : no_variable;
  rheos__graph_unlock(graph);
  return variable;
}

void rheos_find_variable(rheos_scope *s, const char *full_name, rheos_reuse reuse,
                         rheos_dtype dtype, rheos_shape shape, rheos_variable *out_variable) {
  if (out_variable != NULL) *out_variable = no_variable;
  if (!rheos__scope_goes_on(s, RHEOS_LIST_STATUS(out_variable, 1)) ||
      !rheos__scope_goes_on(s, RHEOS_LIST_STATUS(full_name, 1))) {
    return;
  }
  if (!rheos__shape_is_sound(&shape)) shape = RHEOS_UNKNOWN_SHAPE;
  if (reuse == RHEOS_REUSE_INHERIT) reuse = (rheos_reuse)rheos__scope_variable_scope(s).reuse;
  rheos_variable found = shared_variable(rheos_scope_graph(s), full_name);
  rheos_status *status = NULL;
  if (found.graph != NULL) {
    bool may_share = reuse == RHEOS_REUSE_YES || reuse == RHEOS_REUSE_AUTO;
    status = may_share ? check_shared(full_name, found, dtype, &shape)
                       : exists_already(full_name, found);
  } else if (reuse == RHEOS_REUSE_YES) {
    status = RHEOS_INVALID(
        "Variable %s does not exist, or was not created with rheos_get_variable(). Did you mean to "
        "push its variable scope with RHEOS_REUSE_AUTO?",
        full_name);
  }
  if (status != NULL) {
    rheos_scope_fail_take(s, status);
  } else {
    *out_variable = found;
  }
}

void rheos_share_variable(rheos_scope *s, const char *full_name, rheos_variable variable) {
  if (rheos_scope_status(s) != NULL || variable.graph == NULL) return;
  if (!rheos__scope_goes_on(s, RHEOS_LIST_STATUS(full_name, 1))) return;
  rheos__graph_lock(variable.graph);
  rheos__train *train = rheos__train_of(variable.graph);
  if (train == NULL ||
      !rheos__index_set(&train->by_name, full_name, strlen(full_name), variable.index)) {
    rheos_scope_fail_take(s, rheos__out_of_memory());
  }
  rheos__graph_unlock(variable.graph);
}

static rheos_variable new_shared(rheos_scope *s, const char *full_name, rheos_dtype dtype,
                                 rheos_shape shape, const rheos_initializer *initializer,
                                 bool trainable) {
  rheos__new_variable args = {
      .name = full_name, .dtype = dtype, .shape = shape, .trainable = trainable};
  rheos__train *train = rheos__train_of(rheos_scope_graph(s));
  args.use_resource = args.own_class = train != NULL && train->use_resource;
  if (initializer->kind == RHEOS_INIT_VALUE) {
    args.initial_value = initializer->value;
    args.dtype = rheos_dtype_base(rheos_output_dtype(initializer->value));
    args.shape = rheos_output_shape(initializer->value);
  } else {
    args.initializer = initializer;
    args.own_class = true;
  }
  if (!rheos_shape_is_known(&args.shape)) {
    rheos__tuple_text text;
    rheos_scope_fail_take(s, RHEOS_INVALID("Shape of a new variable (%s) must be fully defined, "
                                           "but instead was %s.",
                                           full_name, rheos__tuple_text_of(&args.shape, &text)));
    return no_variable;
  }
  rheos_push_name_scope(s, NULL);
  rheos_variable variable = rheos__make_variable(s, &args);
  rheos_scope_pop(s);
  return variable;
}

rheos_variable rheos_get_variable_record(rheos_scope *s, const char *name, rheos_dtype dtype,
                                         rheos_shape shape, rheos_initializer initializer,
                                         bool trainable) {
  if (rheos_scope_status(s) != NULL) return no_variable;
  const char *prefix = rheos__scope_variable_scope(s).prefix;
  if (name == NULL || name[0] == '\0') {
    rheos_scope_fail_take(s, RHEOS_INVALID("a variable needs a name"));
    return no_variable;
  }
  if (initializer.kind == RHEOS_INIT_VALUE && initializer.value.graph != rheos_scope_graph(s)) {
    rheos_scope_fail_take(s, RHEOS_INVALID("the initial value of variable %s is not a tensor of "
                                           "this graph",
                                           name));
    return no_variable;
  }
  if (!rheos__shape_is_sound(&shape)) {
    rheos_scope_fail_take(s, RHEOS_INVALID("the shape of variable %s has no valid rank or "
                                           "dimensions",
                                           name));
    return no_variable;
  }
  char *full_name = rheos__alloc(strlen(prefix) + strlen(name) + 2);
  if (full_name == NULL) {
    rheos_scope_fail_take(s, rheos__out_of_memory());
    return no_variable;
  }
  strcpy(full_name, prefix);
  if (prefix[0] != '\0') strcat(full_name, "/");
  strcat(full_name, name);
  rheos_variable variable = no_variable;
  // Nobody else shall make it between looking and making.
  rheos__graph_lock(rheos_scope_graph(s));
  rheos_find_variable(s, full_name, RHEOS_REUSE_INHERIT, dtype, shape, &variable);
  if (rheos_scope_status(s) == NULL && variable.graph == NULL) {
    variable = new_shared(s, full_name, dtype, shape, &initializer, trainable);
    rheos_share_variable(s, full_name, variable);
  }
  rheos__graph_unlock(rheos_scope_graph(s));
  rheos__free(full_name);
  return rheos_scope_status(s) == NULL ? variable : no_variable;
}

rheos_output rheos_get_variable(rheos_scope *s, const char *name, rheos_dtype dtype,
                                rheos_shape shape, rheos_initializer initializer) {
  return rheos_get_variable_record(s, name, dtype, shape, initializer, true).value;
}

// ---- Initialization

void rheos__variable_start_with(rheos_variable variable, rheos_output value,
                                rheos_operation initializer) {
  rheos_variable *held = &rheos__train_of(variable.graph)->variables[variable.index];
  held->initial_value = value;
  held->initializer = initializer;
}

rheos_operation rheos_variables_initializer(rheos_scope *s, const rheos_variable *variables,
                                            size_t count, const char *name) {
  const rheos_operation none = {NULL, 0};
  if (!rheos__scope_goes_on(s, RHEOS_LIST_STATUS(variables, count))) return none;
  rheos_operation *initializers = rheos__alloc_array(count, sizeof(rheos_operation));
  if (initializers == NULL) {
    rheos_scope_fail_take(s, rheos__out_of_memory());
    return none;
  }
  for (size_t i = 0; i < count; i++) {
    // As the graph has it now: rheos_init_from_checkpoint() may have changed it since.
    const rheos_variable now = rheos_variable_of(variables[i].handle);
    initializers[i] = now.graph != NULL ? now.initializer : variables[i].initializer;
  }
  rheos_operation group = rheos_group(s, initializers, count, name != NULL ? name : "init");
  rheos__free(initializers);
  return group;
}

size_t rheos_graph_collect_variables(rheos_graph *graph, const char *key,
                                     rheos_variable **out_variables) {
  if (graph == NULL || key == NULL || out_variables == NULL) return 0;
  *out_variables = NULL;
  rheos__graph_lock(graph);
  int32_t size = rheos_graph_collection_size(graph, key);
  rheos_variable *variables = rheos__alloc_array((size_t)size, sizeof(rheos_variable));
  size_t count = 0;
  for (int32_t i = 0; i < size && variables != NULL; i++) {
    rheos_item item = rheos_graph_collection_item(graph, key, i);
    if (item.kind == RHEOS_ITEM_VARIABLE) {
      variables[count++] = rheos_graph_variable(graph, item.index);
    }
  }
  rheos__graph_unlock(graph);
  *out_variables = variables;
  return count;
}

rheos_operation rheos_global_variables_initializer(rheos_scope *s) {
  const rheos_operation none = {NULL, 0};
  if (rheos_scope_status(s) != NULL) return none;
  rheos_variable *variables = NULL;
  size_t count = rheos_graph_collect_variables(rheos_scope_graph(s),
                                               RHEOS_COLLECTION_GLOBAL_VARIABLES, &variables);
  if (variables == NULL) {
    rheos_scope_fail_take(s, rheos__out_of_memory());
    return none;
  }
  rheos_operation init = rheos_variables_initializer(s, variables, count, "init");
  rheos__free(variables);
  return init;
}
