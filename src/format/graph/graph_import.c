// GraphDef to graph. Nodes come in any order, so they are added by a walk along their inputs, with
// a stack of its own; a file already in order keeps it. Ops, names, inputs and cycles are checked
// before the first node is added. A loop's way back, from a NextIteration to a Merge, is put in
// place when all nodes are there.
#include <rheos/format.h>

#include <stdlib.h>

#include "base/options.h"
#include "format/graph/graph_import.h"
#include "graph/context_recovery.h"
#include "graph/handles.h"

// ---- The order

typedef struct visit {
  int32_t node;
  size_t next_input;
} visit;

enum { NOT_SEEN, ON_STACK, ORDERED };

// Goes on with the visit on top of the stack: pushes its next input that is not ordered yet, or
// orders the node itself.
static rheos_status *visit_step(rheos__import *im, char *states, visit *stack, int32_t *depth,
                                int32_t *num_ordered) {
  visit *top = &stack[*depth - 1];
  const Tensorflow__NodeDef *def = im->def->node[top->node];
  while (top->next_input < def->n_input) {
    const rheos__import_source from = im->sources[top->node][top->next_input++];
    if (rheos__import_is_way_back(im, def, &from)) {
      im->has_loops = true;
      continue;
    }
    if (from.node < 0 || states[from.node] == ORDERED) continue;
    if (states[from.node] == ON_STACK) {
      return RHEOS_INVALID(
          "Node '%s': its input '%s' depends on it, without a loop's NextIteration", def->name,
          im->def->node[from.node]->name);
    }
    states[from.node] = ON_STACK;
    stack[(*depth)++] = (visit){from.node, 0};
    return NULL;
  }
  states[top->node] = ORDERED;
  im->order[(*num_ordered)++] = top->node;
  (*depth)--;
  return NULL;
}

static rheos_status *find_order(rheos__import *im) {
  size_t count = (size_t)im->num_nodes;
  im->ids = rheos__arena_alloc(&im->arena, count * sizeof *im->ids);
  im->order = rheos__arena_alloc(&im->arena, count * sizeof *im->order);
  char *states = rheos__arena_alloc_zeroed(&im->arena, count);
  visit *stack = rheos__arena_alloc(&im->arena, count * sizeof *stack);
  if (im->ids == NULL || im->order == NULL || states == NULL || stack == NULL) {
    return rheos__out_of_memory();
  }
  for (size_t i = 0; i < count; i++) im->ids[i] = RHEOS__NOT_ADDED;
  int32_t num_ordered = 0;
  for (int32_t i = 0; i < im->num_nodes; i++) {
    if (states[i] != NOT_SEEN) continue;
    int32_t depth = 1;
    states[i] = ON_STACK;
    stack[0] = (visit){i, 0};
    while (depth > 0) RHEOS_TRY(visit_step(im, states, stack, &depth, &num_ordered));
  }
  return NULL;
}

// ---- The whole

static rheos_status *read_mappings(rheos__import *im) {
  im->mapping_refs = rheos__arena_alloc(&im->arena, im->num_mappings * sizeof *im->mapping_refs);
  if (im->mapping_refs == NULL) return rheos__out_of_memory();
  for (size_t i = 0; i < im->num_mappings; i++) {
    rheos_import_mapping *mapping = &im->input_map[i];
    mapping->was_used = mapping->was_found = false;
    if (mapping->from == NULL || !rheos__import_parse_input(mapping->from, &im->mapping_refs[i])) {
      return RHEOS_INVALID("'%s' in the input map is not a valid input",
                           mapping->from != NULL ? mapping->from : "");
    }
    if (mapping->to.graph != im->graph) {
      return RHEOS_INVALID("'%s' is mapped to a tensor of another graph", mapping->from);
    }
    const rheos_operation to = rheos_output_operation(mapping->to);
    RHEOS_TRY(rheos__check_operation(im->graph, to, mapping->from));
  }
  return NULL;
}

// "x" and "x:1" of the file.
static rheos_status *check_elements(rheos__import *im) {
  for (size_t i = 0; i < im->num_elements; i++) {
    rheos_import_element *element = &im->elements[i];
    rheos__input_ref ref;
    element->operation = (rheos_operation){NULL, 0};
    element->index = -1;
    const bool sound = element->name != NULL && element->name[0] != '^' &&
                       rheos__import_parse_input(element->name, &ref);
    if (sound && rheos__import_slot_of(im, ref.name, ref.name_bytes)->node >= 0) continue;
    if (sound && strchr(element->name, ':') != NULL && rheos__import_mapping_of(im, &ref) != NULL)
      continue;
    return RHEOS_INVALID("Requested return node '%s' not found in graph def",
                         element->name != NULL ? element->name : "");
  }
  return NULL;
}

// What the elements are, after all nodes were added.
static rheos_status *find_elements(rheos__import *im) {
  for (size_t i = 0; i < im->num_elements; i++) {
    rheos_import_element *element = &im->elements[i];
    const bool is_output = strchr(element->name, ':') != NULL;
    rheos__input_ref ref;
    rheos__import_parse_input(element->name, &ref);
    const rheos_import_mapping *mapping = is_output ? rheos__import_mapping_of(im, &ref) : NULL;
    const int32_t node = rheos__import_slot_of(im, ref.name, ref.name_bytes)->node;
    if (mapping != NULL) {
      element->operation = rheos_output_operation(mapping->to);
      element->index = mapping->to.index;
      continue;
    }
    element->operation = (rheos_operation){im->graph, im->ids[node]};
    element->index = is_output ? ref.index : -1;
    if (element->index < rheos_operation_num_outputs(element->operation)) continue;
    return RHEOS_INVALID("Invalid return output %d of node '%.*s', which has %d output(s)",
                         (int)ref.index, (int)ref.name_bytes, ref.name,
                         (int)rheos_operation_num_outputs(element->operation));
  }
  return NULL;
}

// Tells of each mapping whether the file has what it maps.
static void find_mapped(rheos__import *im) {
  for (size_t i = 0; i < im->num_mappings; i++) {
    const rheos__input_ref *ref = &im->mapping_refs[i];
    const int32_t node = rheos__import_slot_of(im, ref->name, ref->name_bytes)->node;
    if (node < 0) continue;
    const rheos_operation operation = {im->graph, im->ids[node]};
    im->input_map[i].was_found = ref->index < rheos_operation_num_outputs(operation);
  }
}

// Whether those who wrote the graph let it be read here.
static rheos_status *check_versions(const Tensorflow__VersionDef *versions) {
  if (versions->min_consumer > RHEOS__GRAPH_PRODUCER) {
    return RHEOS_INVALID(
        "GraphDef min consumer version %d above current version %d for TensorFlow 1.15.5.  "
        "Please upgrade TensorFlow.",
        versions->min_consumer, RHEOS__GRAPH_PRODUCER);
  }
  if (versions->producer < 0) {
    return RHEOS_INVALID(
        "GraphDef producer version %d below min producer 0 supported by TensorFlow 1.15.5.  "
        "Please regenerate your graph.",
        versions->producer);
  }
  for (size_t i = 0; i < versions->n_bad_consumers; i++) {
    if (versions->bad_consumers[i] != RHEOS__GRAPH_PRODUCER) continue;
    return RHEOS_INVALID("the graph is not for version %d of the graph format, which is this one",
                         RHEOS__GRAPH_PRODUCER);
  }
  return NULL;
}

static rheos_status *prepare(rheos__import *im, const void *bytes, size_t size_bytes) {
  RHEOS_TRY(rheos__graph_def_outline(bytes, size_bytes, &im->arena, &im->def, &im->node_bytes));
  if (im->def->n_node > INT32_MAX / 4) {
    return RHEOS_INVALID("%zu nodes are too many", im->def->n_node);
  }
  im->num_nodes = (int32_t)im->def->n_node;
  im->producer = im->def->versions != NULL ? im->def->versions->producer : im->def->version;
  if (im->def->versions != NULL) RHEOS_TRY(check_versions(im->def->versions));
  RHEOS_TRY(read_mappings(im));
  bool any_unknown;
  RHEOS_TRY(rheos__import_check_ops(im, &any_unknown));
  RHEOS_TRY(rheos__import_index_names(im));
  RHEOS_TRY(check_elements(im));
  if (im->uniquify_names) RHEOS_TRY(rheos__import_choose_names(im));
  RHEOS_TRY(rheos__import_resolve_inputs(im));
  if (any_unknown) RHEOS_TRY(rheos__import_find_uses(im));
  return find_order(im);
}

static int compare_ops(const void *a, const void *b) {
  return strcmp((*(Tensorflow__OpDef *const *)a)->name, (*(Tensorflow__OpDef *const *)b)->name);
}

static rheos_status *read_op_list(rheos__import *im, const rheos_import_options *options) {
  if (options->op_list_bytes == 0) return NULL;
  Tensorflow__OpList *list;
  RHEOS_TRY(
      RHEOS_PROTO_UNPACK(op_list, options->op_list, options->op_list_bytes, &im->arena, &list));
  im->ops = list->op;
  im->num_ops = list->n_op;
  if (im->num_ops > 1) qsort(im->ops, im->num_ops, sizeof *im->ops, compare_ops);
  return NULL;
}

// What a graph keeps beside its nodes.
static rheos_status *add_rest(const rheos__import *im, const void *bytes, size_t size_bytes) {
  RHEOS_TRY(rheos__graph_add_library(im->graph, im->def, bytes, size_bytes));
  if (im->def->versions != NULL) RHEOS_TRY(rheos__graph_add_versions(im->graph, im->def->versions));
  return rheos__graph_keep_fields(im->graph, im->def);
}

static rheos_status *check_lists(const void *bytes, size_t size_bytes,
                                 const rheos_import_options *options) {
  RHEOS_NEED_BYTES(bytes, size_bytes);
  RHEOS_NEED_LIST(options->input_map, options->num_mappings);
  RHEOS_NEED_LIST(options->elements, options->num_elements);
  RHEOS_NEED_BYTES(options->op_list, options->op_list_bytes);
  return NULL;
}

void rheos_import_graph_def_sized(rheos_scope *scope, const void *bytes, size_t size_bytes,
                                  const rheos_import_options *options, size_t options_bytes) {
  rheos_import_options known;
  rheos_scope_fail_take(scope,
                        RHEOS_READ_OPTIONS(rheos_import_options, options, options_bytes, &known));
  if (!rheos__scope_goes_on(scope, check_lists(bytes, size_bytes, &known))) return;
  rheos__import im = {.scope = scope,
                      .graph = rheos_scope_graph(scope),
                      .prefix = known.prefix != NULL ? known.prefix : "",
                      .input_map = known.input_map,
                      .num_mappings = known.num_mappings,
                      .keep_unknown_ops = known.keep_unknown_ops,
                      .clear_devices = known.clear_devices,
                      .colocated_devices = known.colocated_devices,
                      .any_colocation = known.any_colocation,
                      .uniquify_names = known.uniquify_names,
                      .elements = known.elements,
                      .num_elements = known.num_elements};
  im.last_colocation = &im.colocations;
  rheos__arena_init(&im.arena);
  rheos__arena_init(&im.scratch);
  rheos__graph_lock(im.graph);
  rheos_status *status = read_op_list(&im, &known);
  if (status == NULL) status = prepare(&im, bytes, size_bytes);
  if (status == NULL) status = add_rest(&im, bytes, size_bytes);
  if (status != NULL) rheos_scope_fail_take(scope, status);
  for (int32_t i = 0; i < im.num_nodes && rheos_scope_status(scope) == NULL; i++) {
    rheos__import_add_node(&im, im.order[i]);
  }
  if (im.has_loops && rheos_scope_status(scope) == NULL) {
    status = rheos__import_close_loops(&im);
    if (status != NULL) rheos_scope_fail_take(scope, status);
  }
  if (rheos_scope_status(scope) == NULL) {
    status = rheos__contexts_note_foreign(im.graph, im.ids, im.num_nodes);
    if (status != NULL) rheos_scope_fail_take(scope, status);
  }
  if (rheos_scope_status(scope) == NULL) {
    status = rheos__import_take_devices(&im);
    if (status != NULL) rheos_scope_fail_take(scope, status);
  }
  if (rheos_scope_status(scope) == NULL) {
    find_mapped(&im);
    status = find_elements(&im);
    if (status != NULL) rheos_scope_fail_take(scope, status);
  }
  rheos__graph_unlock(im.graph);
  rheos__arena_deinit(&im.scratch);
  rheos__arena_deinit(&im.arena);
}
