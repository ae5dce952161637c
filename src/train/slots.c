// Slots are found by (optimizer, identity, variable, slot name), packed into one key of the graph's
// table. The latest of a name is entered a second time without the identity, for those who only
// know the optimizer's name.
#include "train/slots.h"

#include <assert.h>
#include <rheos/front_end.h>
#include <stdio.h>
#include <string.h>

#include "graph/dependencies.h"
#include "graph/handles.h"

static const rheos_variable no_variable = {.graph = NULL};

// identity NULL: the latest of the name. The variable "none" has the index -1.
static char *slot_key(const char *optimizer_name, const int64_t *identity, rheos_variable variable,
                      const char *slot_name, size_t *out_size_bytes) {
  size_t name_size = strlen(optimizer_name) + 1, slot_size = strlen(slot_name) + 1;
  size_t size = name_size + slot_size + sizeof(int32_t) + 1 + sizeof(int64_t);
  char *key = rheos__alloc(size);
  if (key == NULL) return NULL;
  int32_t index = variable.graph != NULL ? variable.index : -1;
  int64_t number = identity != NULL ? *identity : 0;
  char *at = key;
  memcpy(at, optimizer_name, name_size);
  memcpy(at += name_size, slot_name, slot_size);
  memcpy(at += slot_size, &index, sizeof(index));
  *(at += sizeof(index)) = identity != NULL;
  memcpy(at + 1, &number, sizeof(number));
  assert(at + 1 + sizeof(number) == key + size);
  *out_size_bytes = size;
  return key;
}

// False when memory is short.
static bool find_slot(rheos_graph *graph, const char *optimizer_name, const int64_t *identity,
                      rheos_variable variable, const char *slot_name, rheos_variable *out_slot) {
  size_t size = 0;
  *out_slot = no_variable;
  if (graph == NULL || optimizer_name == NULL || slot_name == NULL) return true;
  char *key = slot_key(optimizer_name, identity, variable, slot_name, &size);
  if (key == NULL) return false;
  rheos__graph_lock(graph);
  rheos__train *train = rheos__train_of(graph);
  int32_t index = train != NULL ? rheos__index_find(&train->slots, key, size) : -1;
  if (index >= 0) *out_slot = train->variables[index];
  rheos__graph_unlock(graph);
  rheos__free(key);
  return train != NULL;
}

static bool enter_slot(rheos_graph *graph, const char *optimizer_name, const int64_t *identity,
                       rheos_variable variable, const char *slot_name, rheos_variable slot) {
  size_t size = 0;
  char *key = slot_key(optimizer_name, identity, variable, slot_name, &size);
  if (key == NULL) return false;
  rheos__graph_lock(graph);
  rheos__train *train = rheos__train_of(graph);
  bool done = train != NULL && rheos__index_set(&train->slots, key, size, slot.index);
  rheos__graph_unlock(graph);
  rheos__free(key);
  return done;
}

static void remember(rheos_scope *s, const rheos_optimizer *optimizer, rheos_variable variable,
                     const char *slot_name, rheos_variable slot) {
  const char *name = rheos__optimizer_name(optimizer);
  rheos_graph *graph = rheos_scope_graph(s);
  if (rheos_scope_status(s) != NULL) return;
  if (!enter_slot(graph, name, &optimizer->identity, variable, slot_name, slot) ||
      !enter_slot(graph, name, NULL, variable, slot_name, slot)) {
    rheos_scope_fail_take(s, rheos__out_of_memory());
  }
}

void rheos_optimizer_set_slot(rheos_scope *s, rheos_optimizer optimizer, rheos_variable variable,
                              const char *slot_name, rheos_variable slot) {
  if (rheos_scope_status(s) != NULL) return;
  if (rheos__optimizer_name(&optimizer) == NULL || slot_name == NULL ||
      slot.graph != rheos_scope_graph(s)) {
    rheos_scope_fail_take(s, RHEOS_INVALID("a slot has a name, an optimizer with a name, and a "
                                           "variable of this graph"));
    return;
  }
  remember(s, &optimizer, variable, slot_name, slot);
}

rheos_variable rheos_optimizer_slot(rheos_graph *graph, rheos_variable variable,
                                    const char *optimizer_name, const char *slot_name) {
  if (graph == NULL || optimizer_name == NULL || slot_name == NULL) return (rheos_variable){0};
  rheos_variable slot;
  find_slot(graph, optimizer_name, NULL, variable, slot_name, &slot);
  return slot;
}

rheos_variable rheos_optimizer_own_slot(rheos_graph *graph, rheos_optimizer optimizer,
                                        rheos_variable variable, const char *slot_name) {
  if (graph == NULL || slot_name == NULL) return (rheos_variable){0};
  const char *name = rheos__optimizer_name(&optimizer);
  if (name == NULL) return no_variable;
  rheos_variable slot;
  find_slot(graph, name, &optimizer.identity, variable, slot_name, &slot);
  return slot;
}

rheos_variable rheos__optimizer_find_slot(rheos_scope *s, const rheos_optimizer *optimizer,
                                          rheos_variable variable, const char *slot_name) {
  rheos_variable slot = no_variable;
  if (rheos_scope_status(s) != NULL) return slot;
  const char *name = rheos__optimizer_name(optimizer);
  if (!find_slot(rheos_scope_graph(s), name, &optimizer->identity, variable, slot_name, &slot)) {
    rheos_scope_fail_take(s, rheos__out_of_memory());
  }
  return slot;
}

// "SCOPE/PRIMARY/NAME", or the first of "..._1", "..._2" that no shared variable has yet.
static char *slot_variable_name(rheos_scope *s, const char *prefix, rheos_variable primary,
                                const char *name) {
  if (prefix == NULL) prefix = rheos__scope_variable_scope(s).prefix;
  rheos_graph *graph = primary.graph;
  char *primary_name = rheos__node_name(graph, rheos__graph_node(graph, primary.handle.id));
  size_t size =
      primary_name == NULL ? 0 : strlen(prefix) + strlen(primary_name) + strlen(name) + 16;
  char *full = primary_name != NULL ? rheos__alloc(size) : NULL;
  rheos__train *train = rheos__train_of(graph);
  if (full != NULL && train != NULL) {
    int length =
        snprintf(full, size, "%s%s%s/%s", prefix, prefix[0] != '\0' ? "/" : "", primary_name, name);
    assert(length > 0 && (size_t)length < size);
    for (int i = 1; rheos__index_find(&train->by_name, full, strlen(full)) >= 0; i++) {
      snprintf(full + length, size - (size_t)length, "_%d", i);
    }
  }
  rheos__free(primary_name);
  if (full == NULL || train == NULL) {
    rheos_scope_fail_take(s, rheos__out_of_memory());
    rheos__free(full);
    return NULL;
  }
  return full;
}

// Where the primary has no fixed shape, the slot gets the shape of its first value.
static rheos_output fill_like(rheos_scope *s, rheos_variable primary, rheos_dtype dtype,
                              double value) {
  rheos_output shape = rheos__op_1(s, "Shape", primary.initial_value);
  return rheos__op_2(s, "Fill", shape, rheos__const_scalar(s, dtype, value, "Const"));
}

static rheos_variable make_slot(rheos_scope *s, rheos_variable primary,
                                const rheos_initializer *initializer, const char *full_name) {
  rheos__new_variable args = {.name = full_name,
                              .dtype = rheos_variable_dtype(primary),
                              .shape = rheos_variable_static_shape(primary),
                              .use_resource = rheos_variable_is_resource(primary),
                              .initializer = initializer};
  rheos_push_name_scope(s, NULL);
  rheos_push_control_dependencies(s, NULL, 0);
  rheos_push_colocation(s, rheos_output_operation(primary.handle));
  if (initializer->kind == RHEOS_INIT_VALUE) {
    args.initializer = NULL;
    args.initial_value = initializer->value;
    args.dtype = rheos_dtype_base(rheos_output_dtype(initializer->value));
    args.shape = rheos_output_shape(initializer->value);
    args.any_shape = !rheos_shape_is_known(&args.shape);
  } else if (!rheos_shape_is_known(&args.shape)) {
    double value = initializer->kind == RHEOS_INIT_ONES       ? 1
                   : initializer->kind == RHEOS_INIT_CONSTANT ? initializer->a
                                                              : 0;
    args.initializer = NULL;
    args.initial_value = fill_like(s, primary, args.dtype, value);
    args.any_shape = true;
  }
  rheos_variable slot = rheos__make_variable(s, &args);
  rheos_scope_pop(s);
  rheos_scope_pop(s);
  rheos_scope_pop(s);
  return slot;
}

// The slot of a part is the same part of a whole: the primary's, with what the slot's name adds. In
// a scope, whose name stands before the primary's once more, TensorFlow takes as many letters all
// the same.
static void follow_part(rheos_scope *s, rheos_variable primary, rheos_variable slot,
                        const char *slot_full) {
  const char *of, *shape_and_slice;
  if (!rheos_variable_slice(primary, &of, &shape_and_slice)) return;
  if (rheos_scope_status(s) != NULL) return;
  const size_t before = rheos_operation_name(rheos_output_operation(primary.handle), NULL, 0) + 1;
  assert(before <= strlen(slot_full));
  const char *added = slot_full + before;
  size_t length = strlen(of);
  char *whole = rheos__alloc(length + strlen(added) + 2);
  if (whole == NULL) {
    rheos_scope_fail_take(s, rheos__out_of_memory());
    return;
  }
  memcpy(whole, of, length);
  whole[length] = '/';
  strcpy(whole + length + 1, added);
  rheos_variable_set_slice(s, slot, whole, shape_and_slice);
  rheos__free(whole);
}

rheos_variable rheos_optimizer_make_slot(rheos_scope *s, rheos_optimizer optimizer,
                                         rheos_variable primary, const char *slot_name,
                                         rheos_initializer initializer, const char *name) {
  if (rheos_scope_status(s) != NULL) return no_variable;
  const char *optimizer_name = rheos__optimizer_name(&optimizer);
  bool is_value = initializer.kind == RHEOS_INIT_VALUE;
  if (optimizer_name == NULL || slot_name == NULL || primary.graph != rheos_scope_graph(s) ||
      (is_value && initializer.value.graph != primary.graph)) {
    rheos_scope_fail_take(s, RHEOS_INVALID("a slot has a name, an optimizer with a name, and a "
                                           "variable and an initial value of this graph"));
    return no_variable;
  }
  rheos_status *status = rheos__check_variables(rheos_scope_graph(s), &primary, 1);
  if (!rheos__scope_goes_on(s, status)) return no_variable;
  rheos_variable slot = rheos__optimizer_find_slot(s, &optimizer, primary, slot_name);
  if (slot.graph != NULL || rheos_scope_status(s) != NULL) return slot;
  rheos__graph_lock(primary.graph);
  char *full =
      slot_variable_name(s, optimizer.slot_scope, primary, name != NULL ? name : optimizer_name);
  if (full != NULL) {
    slot = make_slot(s, primary, &initializer, full);
    rheos_share_variable(s, full, slot);
    follow_part(s, primary, slot, full);
  }
  rheos__graph_unlock(primary.graph);
  rheos__free(full);
  remember(s, &optimizer, primary, slot_name, slot);
  return slot;
}

rheos_variable rheos__optimizer_make_scalar(rheos_scope *s, const rheos_optimizer *optimizer,
                                            const char *slot_name, double initial_value,
                                            rheos_variable beside) {
  if (rheos_scope_status(s) != NULL) return no_variable;
  rheos_variable slot = rheos__optimizer_find_slot(s, optimizer, no_variable, slot_name);
  if (slot.graph != NULL || rheos_scope_status(s) != NULL) return slot;
  rheos_push_control_dependencies(s, NULL, 0);
  rheos_push_colocation(s, rheos_output_operation(beside.handle));
  rheos_push_name_scope(s, slot_name);
  bool is_resource = rheos_variable_is_resource(beside);
  rheos_output value = rheos__const_scalar(
      s, RHEOS_FLOAT, initial_value, is_resource ? "Initializer/initial_value" : "initial_value");
  char *full = rheos__scope_node_name(s);
  if (full != NULL) {
    slot = rheos__make_variable(s, &(rheos__new_variable){.name = full,
                                                          .dtype = RHEOS_FLOAT,
                                                          .initial_value = value,
                                                          .use_resource = is_resource});
  }
  rheos__free(full);
  rheos_scope_pop(s);
  rheos_scope_pop(s);
  rheos_scope_pop(s);
  remember(s, optimizer, no_variable, slot_name, slot);
  return slot;
}
