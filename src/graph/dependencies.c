// Groups and gates, with the nodes and names that TensorFlow gives them: one NoOp where all members
// are on one device, else one for each device under a common one.
#include "graph/dependencies.h"

#include <stdlib.h>
#include <string.h>

#include "graph/handles.h"

char *rheos__scope_node_name(rheos_scope *s) {
  size_t length = rheos_scope_name(s, NULL, 0);
  char *name = rheos__alloc(length + 2);
  if (name == NULL) {
    rheos_scope_fail_take(s, rheos__out_of_memory());
    return NULL;
  }
  rheos_scope_name(s, name, length + 1);
  name[length] = '/';
  name[length + 1] = '\0';
  return name;
}

// A member of a group and where it runs.
typedef struct member {
  rheos_operation operation;
  const char *device;
  size_t order;
} member;

static int compare_members(const void *a, const void *b) {
  const member *x = a, *y = b;
  int by_device = strcmp(x->device, y->device);
  if (by_device != 0) return by_device;
  return x->order < y->order ? -1 : x->order > y->order;
}

// A NoOp on `device` after `count` operations.
static rheos_operation no_op(rheos_scope *s, const char *name, const char *device,
                             const rheos_operation *after, size_t count) {
  if (device != NULL) rheos_push_device(s, device);
  rheos_operation operation = rheos_op(
      s, &(rheos_op_args){
             .type = "NoOp", .name = name, .control_inputs = after, .num_control_inputs = count});
  if (device != NULL) rheos_scope_pop(s);
  return operation;
}

// Members sorted by device; `firsts` has room for one operation for each. Two levels of NoOps.
static rheos_operation group_by_device(rheos_scope *s, const member *members,
                                       rheos_operation *operations, rheos_operation *firsts,
                                       size_t count, const char *name) {
  rheos_push_name_scope(s, name);
  char *own_name = rheos__scope_node_name(s);
  size_t num_devices = 0;
  for (size_t first = 0, last; first < count; first = last) {
    for (last = first; last < count; last++) {
      if (strcmp(members[last].device, members[first].device) != 0) break;
      operations[last] = members[last].operation;
    }
    firsts[num_devices++] = no_op(s, NULL, members[first].device, operations + first, last - first);
  }
  rheos_operation root = no_op(s, own_name, NULL, firsts, num_devices);
  rheos__free(own_name);
  rheos_scope_pop(s);
  return root;
}

rheos_operation rheos_group(rheos_scope *s, const rheos_operation *operations, size_t count,
                            const char *name) {
  const rheos_operation none = {NULL, 0};
  if (rheos_scope_status(s) != NULL) return none;
  if (!rheos__scope_goes_on(s, RHEOS_LIST_STATUS(operations, count))) return none;
  if (name == NULL) name = "group_deps";
  if (count == 0) return no_op(s, name, NULL, NULL, 0);
  member *members = rheos__alloc_array(count, sizeof(member));
  rheos_operation *sorted = rheos__alloc_array(count, 2 * sizeof(rheos_operation));
  rheos_operation result = none;
  if (members == NULL || sorted == NULL) {
    rheos_scope_fail_take(s, rheos__out_of_memory());
  } else {
    bool one_device = true;
    for (size_t i = 0; i < count; i++) {
      members[i] = (member){operations[i], rheos_operation_device(operations[i]), i};
      if (strcmp(members[i].device, members[0].device) != 0) one_device = false;
    }
    if (one_device) {
      result = no_op(s, name, members[0].device, operations, count);
    } else {
      qsort(members, count, sizeof(member), compare_members);
      result = group_by_device(s, members, sorted, sorted + count, count, name);
    }
  }
  rheos__free(sorted);
  rheos__free(members);
  return result;
}

rheos_output rheos__with_dependency(rheos_scope *s, rheos_operation after, rheos_output output) {
  rheos_push_colocation(s, rheos_output_operation(output));
  rheos_push_control_dependencies(s, &after, 1);
  rheos_operation identity = rheos__op_n(s, "Identity", "control_dependency", &output, 1, NULL, 0);
  rheos_scope_pop(s);
  rheos_scope_pop(s);
  return rheos_operation_output(identity, 0);
}

static int compare_ids(const void *a, const void *b) {
  const rheos_operation *x = a, *y = b;
  return (x->id > y->id) - (x->id < y->id);
}

void rheos__gate_gradients(rheos_scope *s, rheos_gradient *gradients, int32_t count) {
  rheos_operation *gates = rheos__alloc_array((size_t)count, sizeof(rheos_operation));
  if (gates == NULL) {
    rheos_scope_fail_take(s, rheos__out_of_memory());
    return;
  }
  size_t num_gates = 0;
  for (int32_t i = 0; i < count; i++) {
    if (!rheos__is_some(gradients[i].values)) continue;
    gates[num_gates++] = rheos_output_operation(gradients[i].values);
  }
  // In order of creation, each once.
  qsort(gates, num_gates, sizeof(rheos_operation), compare_ids);
  size_t num_unique = 0;
  for (size_t i = 0; i < num_gates; i++) {
    if (i == 0 || gates[i].id != gates[i - 1].id) gates[num_unique++] = gates[i];
  }
  rheos_push_device(s, NULL);
  rheos_push_name_scope(s, "tuple");
  rheos_operation gate = rheos_group(s, gates, num_unique, NULL);
  for (int32_t i = 0; i < count && rheos_scope_status(s) == NULL; i++) {
    if (!rheos__is_some(gradients[i].values)) continue;
    gradients[i].values = rheos__with_dependency(s, gate, gradients[i].values);
  }
  rheos_scope_pop(s);
  rheos_scope_pop(s);
  rheos__free(gates);
}
