// Variables that start with values of a checkpoint: their initializers become assignments of what
// RestoreV2 reads, as TensorFlow's init_from_checkpoint makes them.
#include <rheos/train.h>

#include <stdlib.h>
#include <string.h>

#include "graph/handles.h"
#include "base/file.h"
#include "format/checkpoint/checkpoint_name.h"
#include "graph/dependencies.h"
#include "ops/kit/op_util.h"
#include "train/restoring.h"
#include "train/variables.h"
#include "train/vocabulary.h"

// A variable by the name that savers know it by: the parts of a whole have one name.
typedef struct named {
  char *name;
  rheos_variable variable;
} named;

// What a variable shall start with.
typedef struct start {
  char *from;  // in the checkpoint
  const named *to;
  bool is_part;                        // of what is in the checkpoint
  const rheos_vocabulary *vocabulary;  // or NULL
  int32_t *positions;                  // of its entries
} start;

typedef struct starts {
  rheos_scope *scope;
  const char *checkpoint;
  named *variables;  // of the graph, sorted by name
  size_t num_variables;
  named *given;  // by the caller
  size_t num_given;
  start *items;
  size_t count, capacity;
  const rheos_checkpoint_assignment *assignments;
  size_t num_assignments;
} starts;

// ---- The graph's variables

static rheos_status *name_variable(rheos_variable variable, named *out_named) {
  const char *whole, *slice;
  rheos_graph *graph = variable.graph;
  out_named->variable = variable;
  out_named->name = rheos_variable_slice(variable, &whole, &slice)
                        ? rheos__strdup(whole)
                        : rheos__node_name(graph, rheos__graph_node(graph, variable.handle.id));
  return out_named->name != NULL ? NULL : rheos__out_of_memory();
}

static int compare_named(const void *a, const void *b) {
  const named *one = a, *other = b;
  const int order = strcmp(one->name, other->name);
  if (order != 0) return order;
  return (one->variable.index > other->variable.index) -
         (one->variable.index < other->variable.index);
}

static rheos_status *find_variables(starts *s) {
  static const char *const keys[] = {"variables", "local_variables"};
  rheos_graph *graph = rheos_scope_graph(s->scope);
  const int32_t most = rheos_graph_num_variables(graph);
  s->variables = rheos__alloc_array((size_t)most, sizeof *s->variables);
  bool *is_in = rheos__alloc_array((size_t)most, sizeof *is_in);
  rheos_status *status = s->variables != NULL && is_in != NULL ? NULL : rheos__out_of_memory();
  for (int k = 0; k < 2 && status == NULL; k++) {
    rheos_variable *found;
    const size_t count = rheos_graph_collect_variables(graph, keys[k], &found);
    if (found == NULL) status = rheos__out_of_memory();
    for (size_t i = 0; i < count && status == NULL; i++) {
      if (found[i].index >= most || is_in[found[i].index]) continue;
      is_in[found[i].index] = true;
      status = name_variable(found[i], &s->variables[s->num_variables]);
      if (status == NULL) s->num_variables++;
    }
    rheos__free(found);
  }
  rheos__free(is_in);
  if (status == NULL && s->num_variables > 1) {
    qsort(s->variables, s->num_variables, sizeof *s->variables, compare_named);
  }
  return status;
}

// ---- What starts with what

static rheos_status *add_start(starts *s, const char *scope, const char *rest, const named *to,
                               const rheos_vocabulary *vocabulary) {
  if (!RHEOS_RESERVE(s->items, s->capacity, s->count + 1)) return rheos__out_of_memory();
  char *from = rheos__text_format("%s%s", scope, rest);
  if (from == NULL) return rheos__out_of_memory();
  const char *whole, *slice;
  const bool is_part = rheos_variable_slice(to->variable, &whole, &slice);
  s->items[s->count++] = (start){from, to, is_part, vocabulary, NULL};
  return NULL;
}

static rheos_status *add_given(starts *s, const rheos_checkpoint_assignment *a) {
  for (size_t i = 0; i < a->num_variables; i++) {
    if (a->variables[i].graph != rheos_scope_graph(s->scope)) {
      return RHEOS_INVALID("a variable for '%s' is not of this graph", a->from);
    }
    named *to = &s->given[s->num_given];
    RHEOS_TRY(name_variable(a->variables[i], to));
    s->num_given++;
    if (strcmp(to->name, to[-(ptrdiff_t)i].name) != 0) {
      return RHEOS_INVALID("Slices must all be from the same tensor: %s != %s",
                           to[-(ptrdiff_t)i].name, to->name);
    }
    RHEOS_TRY(add_start(s, a->from, "", to, a->vocabulary));
  }
  return NULL;
}

static bool is_scope(const char *name) {
  const size_t length = strlen(name);
  return length > 0 && name[length - 1] == '/';
}

// Whether a variable is left out of scopes.
static bool has_vocabulary(const starts *s, const named *variable) {
  for (size_t i = 0; i < s->num_assignments; i++) {
    const rheos_checkpoint_assignment *a = &s->assignments[i];
    if (a->vocabulary == NULL) continue;
    if (a->to != NULL && strcmp(a->to, variable->name) == 0) return true;
    for (size_t k = 0; a->to == NULL && k < a->num_variables; k++) {
      if (a->variables[k].index == variable->variable.index) return true;
    }
  }
  return false;
}

static rheos_status *add_scope(starts *s, const rheos_checkpoint_assignment *a) {
  if (!is_scope(a->from) || !is_scope(a->to)) {
    return RHEOS_INVALID(
        "Assignment map with scope only name %s should map to scope only %s. "
        "Should be 'scope/': 'other_scope/'.",
        a->to, a->from);
  }
  if (a->vocabulary != NULL) {
    return RHEOS_INVALID("'%s' is a scope, which cannot have a vocabulary", a->to);
  }
  const char *from = strcmp(a->from, "/") == 0 ? "" : a->from;
  const char *to = strcmp(a->to, "/") == 0 ? "" : a->to;
  const size_t length = strlen(to);
  for (size_t i = 0; i < s->num_variables; i++) {
    const named *variable = &s->variables[i];
    if (strncmp(variable->name, to, length) != 0 || has_vocabulary(s, variable)) continue;
    RHEOS_TRY(add_start(s, from, variable->name + length, variable, NULL));
  }
  return NULL;
}

static rheos_status *add_assignment(starts *s, const rheos_checkpoint_assignment *a) {
  if (a->from == NULL) return RHEOS_INVALID("an assignment names nothing in the checkpoint");
  if (a->to == NULL) return add_given(s, a);
  bool found = false;
  for (size_t i = 0; i < s->num_variables; i++) {
    if (strcmp(s->variables[i].name, a->to) != 0) continue;
    found = true;
    RHEOS_TRY(add_start(s, a->from, "", &s->variables[i], a->vocabulary));
  }
  return found ? NULL : add_scope(s, a);
}

// ---- Whether it fits

static rheos_status *check_fits(const starts *s) {
  rheos_wanted_tensor *wanted = rheos__alloc_array(s->count, sizeof *wanted);
  if (wanted == NULL) return rheos__out_of_memory();
  for (size_t i = 0; i < s->count; i++) {
    const rheos_variable variable = s->items[i].to->variable;
    const char *whole, *slice = NULL;
    const bool is_part = rheos_variable_slice(variable, &whole, &slice);
    const rheos_string part = rheos__borrow_string(slice, is_part ? strlen(slice) : 0);
    wanted[i] = (rheos_wanted_tensor){
        .name = s->items[i].from,
        .name_bytes = strlen(s->items[i].from),
        .dtype = rheos_variable_dtype(variable),
        .shape = is_part ? rheos__whole_shape(&part) : rheos_variable_static_shape(variable),
    };
    const rheos_vocabulary *vocabulary = s->items[i].vocabulary;
    if (vocabulary != NULL && vocabulary->axis >= 0 && vocabulary->axis < wanted[i].shape.rank) {
      wanted[i].shape.dims[vocabulary->axis] = -1;
    }
  }
  rheos_checkpoint_reader *reader;
  rheos_status *status = rheos_checkpoint_reader_open(s->checkpoint, &reader);
  if (status == NULL) {
    status = rheos_checkpoint_reader_check(reader, s->checkpoint, wanted, s->count);
    rheos_checkpoint_reader_free(reader);
  }
  rheos__free(wanted);
  return status;
}

static rheos_status *read_vocabularies(starts *s) {
  for (size_t i = 0; i < s->count; i++) {
    start *item = &s->items[i];
    if (item->vocabulary == NULL) continue;
    RHEOS_TRY(rheos__vocabulary_positions(item->vocabulary, item->to->variable, &item->positions));
  }
  return NULL;
}

// ---- New initializers

static rheos_output restored_value(rheos_scope *scope, const char *checkpoint, const char *name,
                                   const char *slice, rheos_dtype dtype) {
  rheos_operation restore = {NULL, 0};
  rheos_push_device(scope, "/cpu:0");
  rheos_push_name_scope(scope, "checkpoint_initializer");
  const rheos_output inputs[] = {rheos__const_string(scope, checkpoint, "prefix"),
                                 rheos__const_strings(scope, &name, 1, "tensor_names"),
                                 rheos__const_strings(scope, &slice, 1, "shape_and_slices")};
  const rheos_attr attr = rheos_attr_types("dtypes", &dtype, 1);
  char *node_name = rheos__scope_node_name(scope);
  if (node_name != NULL) restore = rheos__op_n(scope, "RestoreV2", node_name, inputs, 3, &attr, 1);
  rheos__free(node_name);
  rheos_scope_pop(scope);
  rheos_scope_pop(scope);
  return rheos_operation_output(restore, 0);
}

// What the variable starts with, where its vocabulary has changed.
static rheos_output remapped_value(rheos_scope *scope, const char *checkpoint, const start *item) {
  const rheos_variable variable = item->to->variable;
  const rheos_output old =
      restored_value(scope, checkpoint, item->from, "", rheos_variable_dtype(variable));
  if (rheos_scope_status(scope) != NULL) return old;
  return rheos__vocabulary_value(scope, item->vocabulary, item->positions, old, variable);
}

static rheos_output first_value(rheos_scope *scope, const char *checkpoint, const start *item) {
  if (item->vocabulary != NULL) return remapped_value(scope, checkpoint, item);
  const rheos_variable variable = item->to->variable;
  const char *whole, *slice = "";
  if (item->is_part) rheos_variable_slice(variable, &whole, &slice);
  return restored_value(scope, checkpoint, item->from, slice, rheos_variable_dtype(variable));
}

static void start_with(rheos_scope *scope, const char *checkpoint, const start *item) {
  const rheos_variable variable = item->to->variable;
  const rheos_output value = first_value(scope, checkpoint, item);
  if (rheos_scope_status(scope) != NULL) return;
  rheos_status *status = rheos_output_set_shape(value, rheos_variable_static_shape(variable));
  if (status != NULL) {
    rheos_scope_fail_take(scope, status);
    return;
  }
  const bool is_resource = rheos_variable_is_resource(variable);
  const rheos_output inputs[] = {variable.handle,
                                 is_resource ? rheos__op_1(scope, "Identity", value) : value};
  const rheos_operation initializer =
      rheos__op_n(scope, is_resource ? "AssignVariableOp" : "Assign", NULL, inputs, 2, NULL, 0);
  if (rheos_scope_status(scope) != NULL) return;
  rheos__graph_lock(variable.graph);
  rheos__variable_start_with(variable, value, initializer);
  rheos__graph_unlock(variable.graph);
}

static void make_starts(starts *s) {
  rheos_push_name_scope(s->scope, NULL);
  for (size_t i = 0; i < s->count && rheos_scope_status(s->scope) == NULL; i++) {
    const rheos_variable variable = s->items[i].to->variable;
    rheos_push_device(s->scope, rheos_operation_device(rheos_output_operation(variable.handle)));
    start_with(s->scope, s->checkpoint, &s->items[i]);
    rheos_scope_pop(s->scope);
  }
  rheos_scope_pop(s->scope);
}

// ---- The whole

static void deinit(starts *s) {
  for (size_t i = 0; i < s->num_variables; i++) rheos__free(s->variables[i].name);
  for (size_t i = 0; i < s->num_given; i++) rheos__free(s->given[i].name);
  for (size_t i = 0; i < s->count; i++) {
    rheos__free(s->items[i].from);
    rheos__free(s->items[i].positions);
  }
  rheos__free(s->variables);
  rheos__free(s->given);
  rheos__free(s->items);
}

// Room for all at once: the starts point into it.
static rheos_status *make_room(starts *s, const rheos_checkpoint_assignment *assignments,
                               size_t count) {
  size_t total = 0;
  for (size_t i = 0; i < count; i++) {
    if (assignments[i].to == NULL) total += assignments[i].num_variables;
  }
  s->given = rheos__alloc_array(total, sizeof *s->given);
  return s->given != NULL ? NULL : rheos__out_of_memory();
}

static rheos_status *collect(starts *s, const rheos_checkpoint_assignment *assignments,
                             size_t count) {
  RHEOS_TRY(find_variables(s));
  RHEOS_TRY(make_room(s, assignments, count));
  for (size_t i = 0; i < count; i++) RHEOS_TRY(add_assignment(s, &assignments[i]));
  RHEOS_TRY(read_vocabularies(s));
  return check_fits(s);
}

void rheos_init_from_checkpoint(rheos_scope *scope, const char *checkpoint,
                                const rheos_checkpoint_assignment *assignments, size_t count) {
  if (!rheos__scope_goes_on(scope, RHEOS_LIST_STATUS(checkpoint, 1)) ||
      !rheos__scope_goes_on(scope, RHEOS_LIST_STATUS(assignments, count))) {
    return;
  }
  char *prefix;
  rheos_status *status = rheos__checkpoint_prefix(checkpoint, &prefix);
  starts s = {
      .scope = scope, .checkpoint = prefix, .assignments = assignments, .num_assignments = count};
  if (status == NULL) status = collect(&s, assignments, count);
  if (status != NULL) {
    rheos_scope_fail_take(scope, status);
  } else {
    make_starts(&s);
  }
  deinit(&s);
  rheos__free(prefix);
}
