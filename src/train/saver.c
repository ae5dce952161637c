// Savers: TensorFlow 1's "save/..." nodes. A saver is nothing but these nodes: who knows their
// names, in this process or another, can save and restore by feeding the file name.
#include <rheos/train.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "graph/handles.h"
#include "base/file.h"
#include "base/options.h"
#include "graph/dependencies.h"
#include "ops/kit/op_util.h"
#include "train/restoring.h"
#include "train/variables.h"

// A variable, or a part of a saveable, under the name it has in the checkpoint.
typedef struct saved {
  const char *name;
  char *own_name;               // to be freed
  const char *shape_and_slice;  // NULL: a whole
  const char *device;
  const rheos_variable *variable;  // NULL: what follows
  const rheos_saveable *saveable;
  size_t part;         // parts of a saveable are next to each other, in their order
  rheos_output value;  // to be saved
} saved;

typedef struct saver_build {
  rheos_scope *s;
  rheos_saver_options options;
  saved *items;
  size_t count, num_variables;
  rheos_output *inputs;  // count + 3
  const char **texts;    // count
  rheos_operation *operations;
  rheos_dtype *dtypes;
} saver_build;

// What items are sorted by: of a saveable its own name.
static const char *object_name(const saved *item) {
  return item->saveable != NULL ? item->saveable->name : item->name;
}

// Parts of a whole have one name, and stay in the order in which they were made.
static int compare_names(const void *a, const void *b) {
  const saved *one = a, *other = b;
  int order = strcmp(object_name(one), object_name(other));
  if (order != 0) return order;
  if (one->saveable != other->saveable) return one->saveable < other->saveable ? -1 : 1;
  if (one->saveable != NULL) return one->part < other->part ? -1 : 1;
  return one->variable->index < other->variable->index ? -1 : 1;
}

static int compare_devices(const void *a, const void *b) {
  const int order = strcmp(((const saved *)a)->device, ((const saved *)b)->device);
  return order != 0 ? order : compare_names(a, b);
}

// ---- Saveables

static rheos_status *check_table(const rheos_saveable *saveable) {
  const rheos_operation table = rheos_output_operation(saveable->table);
  if (rheos_operation_attr(table, "key_dtype").kind == RHEOS_ATTR_TYPE &&
      rheos_operation_attr(table, "value_dtype").kind == RHEOS_ATTR_TYPE) {
    return NULL;
  }
  return RHEOS_INVALID("'%s' is to be saved as a table, and %s is not the op of one",
                       saveable->name, rheos_operation_type(table));
}

// The node that gives a table's keys and values.
static rheos_operation export_table(rheos_scope *s, const rheos_saveable *saveable) {
  const rheos_operation table = rheos_output_operation(saveable->table);
  const bool is_reference = rheos_dtype_is_ref(rheos_output_dtype(saveable->table));
  const rheos_attr attrs[] = {
      rheos_attr_type("Tkeys", rheos_operation_attr(table, "key_dtype").type),
      rheos_attr_type("Tvalues", rheos_operation_attr(table, "value_dtype").type)};
  rheos_operation result = {NULL, 0};
  char *name = rheos__text_format("%s_lookup_table_export_values", saveable->name);
  rheos_push_colocation(s, table);
  rheos_push_name_scope(s, name != NULL ? name : "");
  if (name != NULL) {
    result = rheos__op_n(s, is_reference ? "LookupTableExport" : "LookupTableExportV2", NULL,
                         &saveable->table, 1, attrs, 2);
  } else {
    rheos_scope_fail_take(s, rheos__out_of_memory());
  }
  rheos_scope_pop(s);
  rheos_scope_pop(s);
  rheos__free(name);
  return result;
}

static rheos_operation import_table(rheos_scope *s, const rheos_saveable *saveable,
                                    const rheos_output *values) {
  const bool is_reference = rheos_dtype_is_ref(rheos_output_dtype(saveable->table));
  const rheos_output inputs[] = {saveable->table, values[0], values[1]};
  rheos_push_colocation(s, rheos_output_operation(saveable->table));
  const rheos_operation result = rheos__op_n(
      s, is_reference ? "LookupTableImport" : "LookupTableImportV2", NULL, inputs, 3, NULL, 0);
  rheos_scope_pop(s);
  return result;
}

static size_t num_parts(const rheos_saveable *saveable) {
  return saveable->table.graph != NULL ? 2 : saveable->num_parts;
}

static rheos_status *add_table(rheos_scope *s, const rheos_saveable *saveable, saved *items) {
  static const char *const suffixes[] = {"keys", "values"};
  if (saveable->table.graph != rheos_scope_graph(s)) {
    return RHEOS_INVALID("the table '%s' is not of this graph", saveable->name);
  }
  RHEOS_TRY(check_table(saveable));
  const rheos_operation exported = export_table(s, saveable);
  if (exported.graph == NULL) return NULL;  // the scope has the error
  for (size_t i = 0; i < 2; i++) {
    items[i] = (saved){.saveable = saveable,
                       .part = i,
                       .value = rheos_operation_output(exported, (int32_t)i),
                       .device = rheos_operation_device(rheos_output_operation(saveable->table))};
    items[i].own_name = rheos__text_format("%s-%s", saveable->name, suffixes[i]);
    if (items[i].own_name == NULL) return rheos__out_of_memory();
    items[i].name = items[i].own_name;
  }
  return NULL;
}

static rheos_status *add_saveable(rheos_scope *s, const rheos_saveable *saveable, saved *items) {
  if (saveable->table.graph != NULL) return add_table(s, saveable, items);
  if (saveable->restore == NULL) {
    return RHEOS_INVALID("nothing says how '%s' is restored", saveable->name);
  }
  for (size_t i = 0; i < saveable->num_parts; i++) {
    const rheos_saveable_part *part = &saveable->parts[i];
    if (part->tensor.graph != rheos_scope_graph(s)) {
      return RHEOS_INVALID("'%s' is not a tensor of this graph", part->name);
    }
    const rheos_output first = saveable->parts[0].tensor;
    items[i] = (saved){.name = part->name,
                       .shape_and_slice = part->shape_and_slice,
                       .saveable = saveable,
                       .part = i,
                       .value = part->tensor,
                       .device = rheos_operation_device(rheos_output_operation(first))};
  }
  return NULL;
}

// ---- All items

static rheos_status *collect(saver_build *b, const rheos_variable *variables,
                             const char *const *names) {
  rheos_graph *graph = rheos_scope_graph(b->s);
  for (size_t i = 0; i < b->num_variables; i++) {
    saved *item = &b->items[i];
    item->variable = &variables[i];
    const char *whole;
    rheos_variable_slice(variables[i], &whole, &item->shape_and_slice);
    if (names == NULL) {
      item->own_name =
          whole != NULL ? rheos__strdup(whole)
                        : rheos__node_name(graph, rheos__graph_node(graph, variables[i].handle.id));
      if (item->own_name == NULL) return rheos__out_of_memory();
    }
    item->name = names != NULL ? names[i] : item->own_name;
    item->device = rheos_operation_device(rheos_output_operation(variables[i].handle));
    const bool is_value = rheos_variable_is_resource(variables[i]) || item->shape_and_slice != NULL;
    item->value = is_value ? variables[i].value : variables[i].handle;
  }
  for (size_t i = 0, at = b->num_variables; i < b->options.num_saveables; i++) {
    RHEOS_TRY(add_saveable(b->s, &b->options.saveables[i], &b->items[at]));
    if (rheos_scope_status(b->s) != NULL) return NULL;
    at += num_parts(&b->options.saveables[i]);
  }
  qsort(b->items, b->count, sizeof(saved), compare_names);
  for (size_t i = 1; i < b->count; i++) {
    const saved *item = &b->items[i];
    if (strcmp(object_name(item), object_name(item - 1)) != 0) continue;
    if (item->saveable != NULL && item->saveable == (item - 1)->saveable) continue;
    if (item->saveable == NULL && (item - 1)->saveable == NULL && item->shape_and_slice != NULL) {
      continue;
    }
    return RHEOS_INVALID("At least two variables have the same name: %s", object_name(item));
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
  rheos_output input =
      rheos__const_string(s, default_name != NULL ? default_name : "model", "input");
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
  for (size_t i = 0; i < b->count; i++) b->inputs[3 + i] = b->items[i].value;
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

static rheos_operation restore_variable(const saver_build *b, const rheos_variable *variable,
                                        rheos_output value) {
  rheos_scope *s = b->s;
  if (b->options.reshape) value = reshaped(s, variable, value);
  if (rheos_variable_is_resource(*variable)) return restore_resource(s, variable->handle, value);
  const rheos_shape shape = rheos_output_shape(variable->handle);
  const rheos_output inputs[] = {variable->handle, value};
  rheos_attr validate = rheos_attr_bool("validate_shape", rheos_shape_is_known(&shape));
  rheos_push_colocation(s, rheos_output_operation(variable->handle));
  const rheos_operation assign = rheos__op_n(s, "Assign", NULL, inputs, 2, &validate, 1);
  rheos_scope_pop(s);
  return assign;
}

// From output `first` of the restoring node on there are the values of its parts.
static rheos_operation restore_saveable(saver_build *b, const rheos_saveable *saveable,
                                        rheos_operation restore, size_t first) {
  rheos_scope *s = b->s;
  const size_t count = num_parts(saveable);
  for (size_t i = 0; i < count; i++) {
    b->inputs[i] = rheos_operation_output(restore, (int32_t)(first + i));
  }
  rheos_operation result = {NULL, 0};
  char *name = rheos__text_format("%s_table_restore", saveable->name);
  if (name == NULL) rheos_scope_fail_take(s, rheos__out_of_memory());
  if (saveable->table.graph != NULL) {
    rheos_push_name_scope(s, name != NULL ? name : "");
    result = import_table(s, saveable, b->inputs);
    rheos_scope_pop(s);
  } else if (rheos_scope_status(s) == NULL) {
    result = saveable->restore(s, b->inputs, saveable->context);
  }
  rheos__free(name);
  if (rheos_scope_status(s) == NULL && result.graph != rheos_scope_graph(s)) {
    rheos_scope_fail_take(s, RHEOS_INVALID("restoring '%s' gave no operation", saveable->name));
  }
  return result;
}

// The assignments of all items, as one operation.
static rheos_operation restore_items(saver_build *b, rheos_output filename, const char *name) {
  rheos_scope *s = b->s;
  const rheos_operation restore = restore_op(b, filename);
  size_t count = 0;
  for (size_t i = 0; i < b->count && rheos_scope_status(s) == NULL;) {
    const saved *item = &b->items[i];
    if (item->variable != NULL) {
      const rheos_output value = rheos_operation_output(restore, (int32_t)i++);
      b->operations[count++] = restore_variable(b, item->variable, value);
    } else {
      b->operations[count++] = restore_saveable(b, item->saveable, restore, i);
      i += num_parts(item->saveable);
    }
  }
  return rheos_group(s, b->operations, count, name);
}

// ---- Shards: one for each device that has variables

// The items of the shard that begins at `first`.
static saver_build shard_at(const saver_build *b, size_t first) {
  saver_build shard = *b;
  size_t end = first;
  while (end < b->count && strcmp(b->items[end].device, b->items[first].device) == 0) end++;
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
  const rheos_output inputs[] = {base, rheos__const_scalar(s, RHEOS_INT32, shard, "shard"),
                                 num_shards};
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
  push_cpu_of(s, b->items[b->count - 1].device);
  rheos_operation pack =
      rheos__op_n(s, "Pack", "MergeV2Checkpoints/checkpoint_prefixes", names, count, NULL, 0);
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
    if (b->options.write_v1)
      rheos_push_device(s, part.items[0].device);
    else
      push_cpu_of(s, part.items[0].device);
    names[shard] = sharded_filename(s, base, shard, num_shards);
    saves[shard] = rheos_output_operation(save_nodes(&part, names[shard]));
    if (b->options.write_v1)
      rheos_scope_pop(s);
    else
      pop_cpu(s);
    i += part.count;
  }
  if (rheos_scope_status(s) == NULL) {
    result = b->options.write_v1 ? shard_pattern(s, filename, num_shards, saves, (size_t)count)
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
    rheos_push_device(s, part.items[0].device);
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
    b->dtypes[i] = rheos_dtype_base(rheos_output_dtype(b->items[i].value));
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

static rheos_status *check_saveables(const saver_build *b) {
  RHEOS_NEED_LIST(b->options.saveables, b->options.num_saveables);
  for (size_t i = 0; i < b->options.num_saveables; i++) {
    const rheos_saveable *saveable = &b->options.saveables[i];
    if (saveable->name == NULL) return RHEOS_INVALID("saveables[%zu] has no name", i);
    if (saveable->table.graph != NULL) {
      RHEOS_TRY(rheos__check_output(rheos_scope_graph(b->s), saveable->table, "the table"));
      continue;
    }
    RHEOS_NEED_LIST(saveable->parts, saveable->num_parts);
    if (saveable->restore == NULL) {
      return RHEOS_INVALID("there is nothing to restore '%s' with", saveable->name);
    }
    for (size_t k = 0; k < saveable->num_parts; k++) {
      if (saveable->parts[k].name == NULL) {
        return RHEOS_INVALID("parts[%zu] of '%s' has no name", k, saveable->name);
      }
      RHEOS_TRY(rheos__check_output(rheos_scope_graph(b->s), saveable->parts[k].tensor,
                                    saveable->parts[k].name));
    }
  }
  return NULL;
}

rheos_saver rheos_saver_new_with_sized(rheos_scope *s, const rheos_variable *variables,
                                       const char *const *names, size_t count,
                                       const rheos_saver_options *options, size_t options_bytes) {
  const rheos_saver no_saver = {.filename = {NULL, 0, 0}};
  saver_build b = {.s = s};
  rheos_scope_fail_take(
      s, RHEOS_READ_OPTIONS(rheos_saver_options, options, options_bytes, &b.options));
  if (rheos_scope_status(s) != NULL) return no_saver;
  rheos_variable *all = NULL;
  if (variables == NULL) {
    names = NULL;
    count = rheos_graph_collect_variables(rheos_scope_graph(s), RHEOS_COLLECTION_GLOBAL_VARIABLES,
                                          &all);
    variables = all;
  }
  rheos_status *status = rheos__check_variables(rheos_scope_graph(s), variables, count);
  if (status == NULL && names != NULL) status = rheos__check_texts(names, count, "names");
  if (status == NULL) status = check_saveables(&b);
  if (!rheos__scope_goes_on(s, status)) {
    rheos__free(all);
    return no_saver;
  }
  b.count = b.num_variables = count;
  for (size_t i = 0; i < b.options.num_saveables; i++) {
    b.count += num_parts(&b.options.saveables[i]);
  }
  rheos_saver saver = no_saver;
  if (variables == NULL || !init_build(&b)) {
    status = rheos__out_of_memory();
  } else if (b.count == 0) {
    status = RHEOS_INVALID("No variables to save");
  } else {
    status = collect(&b, variables, names);
  }
  if (status != NULL) {
    rheos_scope_fail_take(s, status);
  } else if (rheos_scope_status(s) == NULL) {
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
  RHEOS_TRY(rheos__prefix_tensor(prefix, &feed.value));
  rheos_status *status =
      rheos_session_run(session, &feed, 1, fetches, num_fetches, targets, num_targets, NULL);
  rheos_tensor_unref(feed.value);
  return status;
}

rheos_status *rheos_saver_save(rheos_saver saver, rheos_session *session, const char *prefix) {
  RHEOS_NEED(session, prefix);
  rheos_fetch path = {.output = saver.save_path};
  rheos_status *status = run_with_name(saver, session, prefix, &path, 1, NULL, 0);
  rheos_tensor_unref(path.value);
  return status;
}

rheos_status *rheos_saver_restore(rheos_saver saver, rheos_session *session, const char *prefix) {
  RHEOS_NEED(session, prefix);
  rheos_status *status = run_with_name(saver, session, prefix, NULL, 0, &saver.restore, 1);
  const rheos_code code = rheos_status_code(status);
  if (saver.restore.graph == NULL || (code != RHEOS_NOT_FOUND && code != RHEOS_INVALID_ARGUMENT)) {
    return status;
  }
  bool is_by_objects = false;
  if (code == RHEOS_NOT_FOUND) {
    rheos_status *by_objects = rheos__restore_by_objects(saver, session, prefix, &is_by_objects);
    if (is_by_objects) {
      rheos_status_free(status);
      return by_objects;
    }
    rheos_status_free(by_objects);
  }
  rheos_status *misfit = rheos_restore_check(saver.restore, prefix);
  if (rheos_status_code(misfit) != code) {
    rheos_status_free(misfit);
    return status;
  }
  rheos_status_free(status);
  return misfit;
}
