// Savers: TensorFlow 1's "save/..." nodes. A saver is nothing but these nodes: who knows their
// names, in this process or another, can save and restore by feeding the file name.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "autodiff/dependencies.h"
#include "ops/op_util.h"
#include "train/variables.h"

// A variable under the name it has in the checkpoint.
typedef struct saved {
  const rheos_variable *variable;
  const char *name;
  char *own_name;  // to be freed
  const char *shape_and_slice;  // NULL: a whole
} saved;

typedef struct saver_build {
  rheos_scope *s;
  rheos_saver_options options;
  saved *items;
  size_t count;
  rheos_output *inputs;  // count + 3
  const char **texts;    // count
  rheos_operation *operations;
  rheos_dtype *dtypes;
} saver_build;

static const char *device_of(const saved *item) {
  return rheos_operation_device(rheos_output_operation(item->variable->handle));
}

// Parts of a whole have one name, and stay in the order in which they were made.
static int compare_names(const void *a, const void *b) {
  const saved *one = a, *other = b;
  int order = strcmp(one->name, other->name);
  if (order != 0) return order;
  return one->variable->index < other->variable->index ? -1 : 1;
}

static int compare_devices(const void *a, const void *b) {
  const int order = strcmp(device_of(a), device_of(b));
  return order != 0 ? order : compare_names(a, b);
}

static rheos_status *collect(saver_build *b, const rheos_variable *variables,
                             const char *const *names) {
  rheos_graph *graph = rheos_scope_graph(b->s);
  for (size_t i = 0; i < b->count; i++) {
    saved *item = &b->items[i];
    if (variables[i].graph != graph) return RHEOS_INVALID("variables[%zu] is not of this graph", i);
    item->variable = &variables[i];
    const char *whole;
    rheos_variable_slice(variables[i], &whole, &item->shape_and_slice);
    if (names == NULL) {
      item->own_name =
          whole != NULL
              ? rheos__strdup(whole)
              : rheos__node_name(graph, rheos__graph_node(graph, variables[i].handle.id));
      if (item->own_name == NULL) return rheos__out_of_memory();
    }
    item->name = names != NULL ? names[i] : item->own_name;
  }
  qsort(b->items, b->count, sizeof(saved), compare_names);
  for (size_t i = 1; i < b->count; i++) {
    if (strcmp(b->items[i].name, b->items[i - 1].name) != 0) continue;
    if (b->items[i].shape_and_slice != NULL) continue;
    return RHEOS_INVALID("At least two variables have the same name: %s", b->items[i].name);
  }
  if (b->options.sharded) qsort(b->items, b->count, sizeof(saved), compare_devices);
  return NULL;
}

// The file name can be fed at two places: at "filename", which has a default, and at "Const".
static rheos_output filename_nodes(rheos_scope *s, const char *default_name) {
  const rheos_output none = {NULL, 0, 0};
  rheos_shape scalar = RHEOS_SCALAR;
  rheos_attr attrs[] = {rheos_attr_shape("shape", &scalar)};
  rheos_push_name_scope(s, "filename");
  rheos_output input = rheos__const_string(s, default_name != NULL ? default_name : "model", "input");
  char *name = rheos__scope_node_name(s);
  rheos_output filename = none;
  if (name != NULL) {
    filename = rheos_operation_output(
        rheos__op_n(s, "PlaceholderWithDefault", name, &input, 1, attrs, 1), 0);
  }
  rheos__free(name);
  rheos_scope_pop(s);
  return rheos_operation_output(
      rheos__op_n(s, "PlaceholderWithDefault", "Const", &filename, 1, attrs, 1), 0);
}

// The constants that SaveV2 and RestoreV2 both take, then room for what follows.
static void bundle_inputs(saver_build *b, rheos_output filename, const char *slices_name) {
  for (size_t i = 0; i < b->count; i++) b->texts[i] = b->items[i].name;
  b->inputs[0] = filename;
  b->inputs[1] = rheos__const_strings(b->s, b->texts, (int64_t)b->count, "tensor_names");
  for (size_t i = 0; i < b->count; i++) {
    const char *slice = b->items[i].shape_and_slice;
    b->texts[i] = slice != NULL ? slice : "";
  }
  b->inputs[2] = rheos__const_strings(b->s, b->texts, (int64_t)b->count, slices_name);
}

static rheos_output save_nodes(saver_build *b, rheos_output filename) {
  rheos_scope *s = b->s;
  const bool v1 = b->options.write_v1;
  rheos_push_name_scope(s, v1 ? "save" : "SaveV2");
  bundle_inputs(b, filename, v1 ? "shapes_and_slices" : "shape_and_slices");
  for (size_t i = 0; i < b->count; i++) {
    const rheos_variable *variable = b->items[i].variable;
    bool is_value = rheos_variable_is_resource(*variable) || b->items[i].shape_and_slice != NULL;
    b->inputs[3 + i] = is_value ? variable->value : variable->handle;
  }
  char *name = rheos__scope_node_name(s);
  rheos_operation save = {NULL, 0};
  rheos_attr attr = rheos_attr_types(v1 ? "T" : "dtypes", b->dtypes, (int32_t)b->count);
  const char *op = v1 ? "SaveSlices" : "SaveV2";
  if (name != NULL) save = rheos__op_n(s, op, name, b->inputs, b->count + 3, &attr, 1);
  rheos__free(name);
  rheos_scope_pop(s);
  if (rheos_scope_status(s) != NULL) return filename;
  return rheos__with_dependency(s, save, filename);
}

static rheos_operation restore_op(saver_build *b, rheos_output filename) {
  rheos_scope *s = b->s;
  rheos_push_device(s, "/cpu:0");
  rheos_push_name_scope(s, "RestoreV2");
  bundle_inputs(b, filename, "shape_and_slices");
  char *name = rheos__scope_node_name(s);
  rheos_operation restore = {NULL, 0};
  rheos_attr attr = rheos_attr_types("dtypes", b->dtypes, (int32_t)b->count);
  if (name != NULL) restore = rheos__op_n(s, "RestoreV2", name, b->inputs, 3, &attr, 1);
  rheos__free(name);
  rheos_scope_pop(s);
  rheos_scope_pop(s);
  return restore;
}

// The value in the variable's shape.
static rheos_output reshaped(rheos_scope *s, const rheos_variable *variable, rheos_output value) {
  const rheos_output like =
      rheos_variable_is_resource(*variable) ? variable->value : variable->handle;
  const rheos_shape shape = rheos_output_shape(like);
  if (rheos_shape_is_known(&shape)) return rheos__reshape_to(s, value, &shape);
  return rheos__op_2(s, "Reshape", value, rheos__shape_node(s, like));
}

static rheos_operation restore_resource(rheos_scope *s, rheos_output handle, rheos_output value) {
  rheos_push_device(s, rheos_operation_device(rheos_output_operation(handle)));
  rheos_output inputs[] = {handle, rheos__op_1(s, "Identity", value)};
  rheos_scope_pop(s);
  return rheos__op_n(s, "AssignVariableOp", NULL, inputs, 2, NULL, 0);
}

// The assignments of all items, as one operation.
static rheos_operation restore_items(saver_build *b, rheos_output filename, const char *name) {
  rheos_scope *s = b->s;
  rheos_operation restore = restore_op(b, filename);
  for (size_t i = 0; i < b->count && rheos_scope_status(s) == NULL; i++) {
    rheos_output handle = b->items[i].variable->handle;
    rheos_shape shape = rheos_output_shape(handle);
    rheos_output inputs[] = {handle, rheos_operation_output(restore, (int32_t)i)};
    if (b->options.reshape) inputs[1] = reshaped(s, b->items[i].variable, inputs[1]);
    if (rheos_variable_is_resource(*b->items[i].variable)) {
      b->operations[i] = restore_resource(s, handle, inputs[1]);
      continue;
    }
    rheos_attr validate = rheos_attr_bool("validate_shape", rheos_shape_is_known(&shape));
    rheos_push_colocation(s, rheos_output_operation(handle));
    b->operations[i] = rheos__op_n(s, "Assign", NULL, inputs, 2, &validate, 1);
    rheos_scope_pop(s);
  }
  return rheos_group(s, b->operations, b->count, name);
}

// ---- Shards: one for each device that has variables

// The items of the shard that begins at `first`.
static saver_build shard_at(const saver_build *b, size_t first) {
  saver_build shard = *b;
  size_t end = first;
  while (end < b->count && strcmp(device_of(&b->items[end]), device_of(&b->items[first])) == 0) end++;
  shard.items += first;
  shard.operations += first;
  shard.dtypes += first;
  shard.count = end - first;
  return shard;
}

static int32_t count_shards(const saver_build *b) {
  int32_t count = 0;
  for (size_t i = 0; i < b->count; i += shard_at(b, i).count) count++;
  return count;
}

// Files are for the processor: the device's machine, but its first CPU.
static void push_cpu_of(rheos_scope *s, const char *device) {
  rheos_push_device(s, device);
  rheos_push_device(s, "/device:CPU:0");
}

static void pop_cpu(rheos_scope *s) {
  rheos_scope_pop(s);
  rheos_scope_pop(s);
}

static rheos_output sharded_filename(rheos_scope *s, rheos_output base, int32_t shard,
                                     rheos_output num_shards) {
  rheos_push_name_scope(s, "ShardedFilename");
  const rheos_output inputs[] = {base, rheos__const_scalar(s, RHEOS_INT32, shard, "shard"), num_shards};
  rheos_output output = base;
  char *name = rheos__scope_node_name(s);
  if (name != NULL) {
    output = rheos_operation_output(rheos__op_n(s, "ShardedFilename", name, inputs, 3, NULL, 0), 0);
  }
  rheos__free(name);
  rheos_scope_pop(s);
  return output;
}

// FILENAME_temp_RANDOM/part: shards are written there, and become one checkpoint in the end.
static rheos_output temporary_prefix(rheos_scope *s, rheos_output filename) {
  unsigned char bytes[16];
  char text[sizeof "_temp_/part" + 2 * sizeof bytes] = "_temp_";
  if (getentropy(bytes, sizeof bytes) != 0) {
    rheos_scope_fail_take(s, rheos_status_new(RHEOS_INTERNAL, "the system has no random bytes"));
    return filename;
  }
  for (size_t i = 0; i < sizeof bytes; i++) sprintf(text + 6 + 2 * i, "%02x", bytes[i]);
  strcat(text, "/part");
  const rheos_output parts[] = {filename, rheos__const_string(s, text, "StringJoin/inputs_1")};
  return rheos_operation_output(rheos__op_n(s, "StringJoin", "StringJoin", parts, 2, NULL, 0), 0);
}

// One checkpoint of the shards that were written under `names` by `saves`.
static rheos_output merge_shards(saver_build *b, rheos_output filename, const rheos_output *names,
                                 const rheos_operation *saves, size_t count) {
  rheos_scope *s = b->s;
  rheos_push_control_dependencies(s, saves, count);
  push_cpu_of(s, device_of(&b->items[b->count - 1]));
  rheos_operation pack = rheos__op_n(s, "Pack", "MergeV2Checkpoints/checkpoint_prefixes", names,
                                     count, NULL, 0);
  const rheos_output inputs[] = {rheos_operation_output(pack, 0), filename};
  rheos_operation merge =
      rheos__op_n(s, "MergeV2Checkpoints", "MergeV2Checkpoints", inputs, 2, NULL, 0);
  rheos_push_control_dependencies(s, &merge, 1);
  rheos_output result = rheos__op_1(s, "Identity", filename);
  rheos_scope_pop(s);
  pop_cpu(s);
  rheos_scope_pop(s);
  return result;
}

// The pattern that names all files of the first kind.
static rheos_output shard_pattern(rheos_scope *s, rheos_output filename, rheos_output num_shards,
                                  const rheos_operation *saves, size_t count) {
  rheos_push_control_dependencies(s, saves, count);
  const rheos_output inputs[] = {filename, num_shards};
  rheos_operation pattern = rheos__op_n(s, "ShardedFilespec", NULL, inputs, 2, NULL, 0);
  rheos_scope_pop(s);
  return rheos_operation_output(pattern, 0);
}

static rheos_output save_shards(saver_build *b, rheos_output filename) {
  rheos_scope *s = b->s;
  const int32_t count = count_shards(b);
  rheos_output base = b->options.write_v1 ? filename : temporary_prefix(s, filename);
  rheos_output result = filename;
  rheos_output num_shards = rheos__const_scalar(s, RHEOS_INT32, count, "num_shards");
  rheos_output *names = rheos__alloc_array((size_t)count, sizeof *names);
  rheos_operation *saves = rheos__alloc_array((size_t)count, sizeof *saves);
  if (names == NULL || saves == NULL) rheos_scope_fail_take(s, rheos__out_of_memory());
  int32_t shard = 0;
  for (size_t i = 0; i < b->count && rheos_scope_status(s) == NULL; shard++) {
    saver_build part = shard_at(b, i);
    if (b->options.write_v1) rheos_push_device(s, device_of(part.items));
    else push_cpu_of(s, device_of(part.items));
    names[shard] = sharded_filename(s, base, shard, num_shards);
    saves[shard] = rheos_output_operation(save_nodes(&part, names[shard]));
    if (b->options.write_v1) rheos_scope_pop(s);
    else pop_cpu(s);
    i += part.count;
  }
  if (rheos_scope_status(s) == NULL) {
    result = b->options.write_v1
                 ? shard_pattern(s, filename, num_shards, saves, (size_t)count)
                 : merge_shards(b, filename, names, saves, (size_t)count);
  }
  rheos__free(names);
  rheos__free(saves);
  return result;
}

static rheos_operation restore_shards(saver_build *b, rheos_output filename) {
  rheos_scope *s = b->s;
  rheos_operation *restores = rheos__alloc_array((size_t)count_shards(b), sizeof *restores);
  if (restores == NULL) rheos_scope_fail_take(s, rheos__out_of_memory());
  size_t shard = 0;
  for (size_t i = 0; i < b->count && rheos_scope_status(s) == NULL; shard++) {
    saver_build part = shard_at(b, i);
    rheos_push_device(s, device_of(part.items));
    restores[shard] = restore_items(&part, filename, "restore_shard");
    rheos_scope_pop(s);
    i += part.count;
  }
  rheos_operation all = {NULL, 0};
  if (rheos_scope_status(s) == NULL) all = rheos_group(s, restores, shard, "restore_all");
  rheos__free(restores);
  return all;
}

// ---- All of it

static bool init_build(saver_build *b) {
  b->items = rheos__alloc_array(b->count, sizeof(saved));
  b->inputs = rheos__alloc_array(b->count + 3, sizeof(rheos_output));
  b->texts = rheos__alloc_array(b->count, sizeof(char *));
  b->operations = rheos__alloc_array(b->count, sizeof(rheos_operation));
  b->dtypes = rheos__alloc_array(b->count, sizeof(rheos_dtype));
  return b->items != NULL && b->inputs != NULL && b->texts != NULL && b->operations != NULL &&
         b->dtypes != NULL;
}

static void deinit_build(saver_build *b) {
  for (size_t i = 0; i < b->count && b->items != NULL; i++) rheos__free(b->items[i].own_name);
  rheos__free(b->items);
  rheos__free(b->inputs);
  rheos__free(b->texts);
  rheos__free(b->operations);
  rheos__free(b->dtypes);
}

static rheos_saver build_saver(saver_build *b) {
  rheos_saver saver = {.filename = {NULL, 0, 0}};
  for (size_t i = 0; i < b->count; i++) {
    b->dtypes[i] = rheos_variable_dtype(*b->items[i].variable);
  }
  rheos_push_name_scope(b->s, b->options.name != NULL ? b->options.name : "save");
  saver.filename = filename_nodes(b->s, b->options.filename);
  if (b->options.sharded) {
    saver.save_path = save_shards(b, saver.filename);
    saver.restore = restore_shards(b, saver.filename);
  } else {
    saver.save_path = save_nodes(b, saver.filename);
    saver.restore = restore_items(b, saver.filename, "restore_all");
  }
  rheos_scope_pop(b->s);
  return saver;
}

rheos_saver rheos_saver_new_with(rheos_scope *s, const rheos_variable *variables,
                                 const char *const *names, size_t count,
                                 const rheos_saver_options *options) {
  const rheos_saver no_saver = {.filename = {NULL, 0, 0}};
  if (rheos_scope_status(s) != NULL) return no_saver;
  rheos_variable *all = NULL;
  if (variables == NULL) {
    names = NULL;
    count = rheos_graph_collect_variables(rheos_scope_graph(s), RHEOS_COLLECTION_GLOBAL_VARIABLES,
                                          &all);
    variables = all;
  }
  saver_build b = {.s = s, .count = count};
  if (options != NULL) b.options = *options;
  rheos_saver saver = no_saver;
  rheos_status *status = NULL;
  if (variables == NULL || !init_build(&b)) {
    status = rheos__out_of_memory();
  } else if (count == 0) {
    status = RHEOS_INVALID("No variables to save");
  } else {
    status = collect(&b, variables, names);
  }
  if (status != NULL) {
    rheos_scope_fail_take(s, status);
  } else {
    saver = build_saver(&b);
  }
  deinit_build(&b);
  rheos__free(all);
  return rheos_scope_status(s) == NULL ? saver : no_saver;
}

rheos_saver rheos_saver_new(rheos_scope *s, const rheos_variable *variables,
                            const char *const *names, size_t count, const char *name) {
  return rheos_saver_new_with(s, variables, names, count, &(rheos_saver_options){.name = name});
}

// ---- Running them

static rheos_status *run_with_name(rheos_saver saver, rheos_session *session, const char *prefix,
                                   rheos_fetch *fetches, size_t num_fetches,
                                   const rheos_operation *targets, size_t num_targets) {
  if (saver.filename.graph == NULL) return RHEOS_INVALID("the saver is none: making it failed");
  rheos_feed feed = {.output = saver.filename};
  RHEOS_TRY(rheos_tensor_new(RHEOS_STRING, RHEOS_SCALAR, &feed.value));
  rheos_status *status = rheos_tensor_set_string(feed.value, 0, prefix, strlen(prefix));
  if (status == NULL) {
    status = rheos_session_run(session, &feed, 1, fetches, num_fetches, targets, num_targets, NULL);
  }
  rheos_tensor_unref(feed.value);
  return status;
}

rheos_status *rheos_saver_save(rheos_saver saver, rheos_session *session, const char *prefix) {
  rheos_fetch path = {.output = saver.save_path};
  rheos_status *status = run_with_name(saver, session, prefix, &path, 1, NULL, 0);
  rheos_tensor_unref(path.value);
  return status;
}

rheos_status *rheos_saver_restore(rheos_saver saver, rheos_session *session, const char *prefix) {
  rheos_status *status = run_with_name(saver, session, prefix, NULL, 0, &saver.restore, 1);
  const rheos_code code = rheos_status_code(status);
  if (saver.restore.graph == NULL || (code != RHEOS_NOT_FOUND && code != RHEOS_INVALID_ARGUMENT)) {
    return status;
  }
  rheos_status *misfit = rheos_restore_check(saver.restore, prefix);
  if (rheos_status_code(misfit) != code) {
    rheos_status_free(misfit);
    return status;
  }
  rheos_status_free(status);
  return misfit;
}
