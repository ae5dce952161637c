// What a restore wants, read off the graph: the names and shapes that its nodes ask the checkpoint
// for. So it can be told of any saver, an imported one too, all that does not fit.
#include "train/restoring.h"

#include <string.h>

#include "format/checkpoint/tensor_slice.h"
#include "ops/kit/op_util.h"

typedef rheos__wants wants;

static bool is_type(rheos_operation operation, const char *type) {
  return strcmp(rheos_operation_type(operation), type) == 0;
}

// The RestoreV2 whose output the value is, through what may lie between.
static rheos_output restored(rheos_output value, bool *out_reshapes) {
  *out_reshapes = false;
  for (;;) {
    const rheos_operation operation = rheos_output_operation(value);
    const bool reshapes = is_type(operation, "Reshape");
    if (!reshapes && !is_type(operation, "Identity")) return value;
    *out_reshapes |= reshapes;
    value = rheos_operation_input(operation, 0);
  }
}

// The string that a vector of constants has there; NULL if it is no constant or shorter.
static const rheos_string *string_at(rheos_output constants, int32_t index) {
  const rheos_tensor *tensor = rheos__constant_value(constants);
  if (tensor == NULL || tensor->dtype != RHEOS_STRING || index >= tensor->num_elements) return NULL;
  return (const rheos_string *)tensor->data + index;
}

// What values the variable takes.
static rheos_shape variable_shape(rheos_operation assign) {
  const rheos_output variable = rheos_operation_input(assign, 0);
  const rheos_operation operation = rheos_output_operation(variable);
  if (is_type(operation, "VarHandleOp")) {
    const rheos_attr_value shape = rheos_operation_attr(operation, "shape");
    return shape.kind == RHEOS_ATTR_SHAPE ? *shape.shape : RHEOS_UNKNOWN_SHAPE;
  }
  const rheos_attr_value validate = rheos_operation_attr(assign, "validate_shape");
  const bool takes_any = validate.kind == RHEOS_ATTR_BOOL && !validate.b;
  return is_type(assign, "Assign") && !takes_any ? rheos_output_shape(variable)
                                                 : RHEOS_UNKNOWN_SHAPE;
}

rheos_shape rheos__whole_shape(const rheos_string *text) {
  rheos_shape shape, part;
  rheos__slice slice;
  rheos_status *status = rheos__slice_parse(text, &shape, &slice, &part);
  if (status != NULL) shape = RHEOS_UNKNOWN_SHAPE;
  rheos_status_free(status);
  return shape;
}

static rheos_status *add_restore(wants *w, rheos_operation restore) {
  for (size_t i = 0; i < w->num_restores; i++) {
    if (w->restores[i].id == restore.id) return NULL;
  }
  if (!RHEOS_RESERVE(w->restores, w->restores_capacity, w->num_restores + 1)) {
    return rheos__out_of_memory();
  }
  w->restores[w->num_restores++] = restore;
  return NULL;
}

// What an operation takes of a RestoreV2 as that input; a variable wants its own shape.
static rheos_status *add_wanted(wants *w, rheos_operation operation, int32_t input,
                                bool is_assignment) {
  rheos_wanted_tensor item = {0};
  const rheos_output value = restored(rheos_operation_input(operation, input), &item.reshapes);
  const rheos_operation restore = rheos_output_operation(value);
  if (!is_type(restore, "RestoreV2")) return NULL;
  RHEOS_TRY(add_restore(w, restore));
  const rheos_string *name = string_at(rheos_operation_input(restore, 1), value.index);
  const rheos_string *part = string_at(rheos_operation_input(restore, 2), value.index);
  if (name == NULL) return NULL;
  item.name = name->size_bytes > 0 ? name->data : "";
  item.name_bytes = name->size_bytes;
  item.dtype = rheos_output_dtype(value);
  item.shape = RHEOS_UNKNOWN_SHAPE;
  if (part != NULL && part->size_bytes > 0)
    item.shape = rheos__whole_shape(part);
  else if (is_assignment)
    item.shape = variable_shape(operation);
  if (!RHEOS_RESERVE(w->items, w->capacity, w->count + 1)) return rheos__out_of_memory();
  w->items[w->count++] = item;
  return NULL;
}

static rheos_status *add_operation(wants *w, rheos_operation operation) {
  if (is_type(operation, "Assign") || is_type(operation, "AssignVariableOp")) {
    return add_wanted(w, operation, 1, true);
  }
  for (int32_t i = 0; i < rheos_operation_num_inputs(operation); i++) {
    RHEOS_TRY(add_wanted(w, operation, i, false));
  }
  return NULL;
}

static rheos_status *add_todo(wants *w, rheos_operation operation) {
  if (!RHEOS_RESERVE(w->todo, w->todo_capacity, w->num_todo + 1)) return rheos__out_of_memory();
  w->todo[w->num_todo++] = operation;
  return NULL;
}

// A saver's restore is groups (NoOp) of assignments, and of what takes tables and the like back.
rheos_status *rheos__wants_collect(wants *w, rheos_operation restore) {
  const size_t most = (size_t)rheos_graph_num_operations(restore.graph);
  RHEOS_TRY(add_todo(w, restore));
  for (size_t seen = 0; w->num_todo > 0 && seen < most; seen++) {
    const rheos_operation operation = w->todo[--w->num_todo];
    if (!is_type(operation, "NoOp")) {
      RHEOS_TRY(add_operation(w, operation));
      continue;
    }
    // The last first, as they are taken from the end.
    for (int32_t i = rheos_operation_num_control_inputs(operation) - 1; i >= 0; i--) {
      RHEOS_TRY(add_todo(w, rheos_operation_control_input(operation, i)));
    }
  }
  return NULL;
}

void rheos__wants_deinit(wants *w) {
  rheos__free(w->items);
  rheos__free(w->restores);
  rheos__free(w->todo);
}

rheos_status *rheos_restore_check(rheos_operation restore, const char *checkpoint) {
  RHEOS_NEED(checkpoint);
  rheos_checkpoint_reader *reader;
  wants w = {0};
  RHEOS_TRY(rheos_checkpoint_reader_open(checkpoint, &reader));
  rheos_status *status = rheos__wants_collect(&w, restore);
  if (status == NULL) status = rheos_checkpoint_reader_check(reader, checkpoint, w.items, w.count);
  rheos__wants_deinit(&w);
  rheos_checkpoint_reader_free(reader);
  return status;
}
