// Rules about what is built again: constants, subgraphs, savers, initializers, layers.
#include "lint/lint.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/hash.h"

// Nodes by a hash of what they are, the same ones in a row, each row in order of creation.
typedef struct hashed {
  uint64_t hash;
  int32_t id;
} hashed;

static int compare_hashed(const void *a, const void *b) {
  const hashed *one = a, *other = b;
  if (one->hash != other->hash) return one->hash < other->hash ? -1 : 1;
  return (one->id > other->id) - (one->id < other->id);
}

static uint64_t hash_edges(const rheos__node *node, uint64_t hash, bool controls) {
  const int32_t count = node->num_inputs + (controls ? node->num_control_inputs : 0);
  for (int32_t i = 0; i < count; i++) {
    hash = rheos__hash_mix(hash, (uint64_t)node->edges[i].id);
    hash = rheos__hash_mix(hash, (uint64_t)node->edges[i].index + 2);
  }
  return hash;
}

// ---- Constants

enum { DUPLICATE_BYTES = 1 << 20 };

static const rheos_tensor *large_value(const rheos__lint_graph *g, int32_t id) {
  if (!rheos__lint_is(g, id, "Const")) return NULL;
  const rheos_attr_value *value = rheos__attrs_find(g->nodes[id]->attrs, "value");
  if (value == NULL || value->kind != RHEOS_ATTR_TENSOR) return NULL;
  const bool is_large = rheos_tensor_size_bytes(value->tensor) >= DUPLICATE_BYTES &&
                        rheos_tensor_dtype(value->tensor) != RHEOS_STRING;
  return is_large ? value->tensor : NULL;
}

static bool is_same_value(const rheos_tensor *a, const rheos_tensor *b) {
  return rheos_tensor_dtype(a) == rheos_tensor_dtype(b) &&
         rheos_shape_equal(rheos_tensor_shape(a), rheos_tensor_shape(b)) &&
         memcmp(rheos_tensor_data(a), rheos_tensor_data(b), rheos_tensor_size_bytes(a)) == 0;
}

void rheos__lint_duplicate_constant(rheos__lint_findings *found, const rheos__lint_graph *g) {
  size_t count = 0;
  hashed *all = rheos__lint_alloc(found, (size_t)g->num_nodes, sizeof *all);
  for (int32_t id = 0; all != NULL && id < g->num_nodes; id++) {
    const rheos_tensor *value = large_value(g, id);
    if (value == NULL) continue;
    const size_t size_bytes = rheos_tensor_size_bytes(value);
    all[count++] =
        (hashed){rheos__hash_bytes(size_bytes, rheos_tensor_data(value), size_bytes), id};
  }
  if (count > 1) qsort(all, count, sizeof *all, compare_hashed);
  for (size_t i = 1; i < count; i++) {
    if (all[i].hash != all[i - 1].hash) continue;
    const rheos_tensor *value = large_value(g, all[i].id);
    if (!is_same_value(value, large_value(g, all[i - 1].id))) continue;
    rheos__lint_tell(found, g, all[i].id, "the constant '%s' has the same %.1f MB as '%s'",
                     rheos__lint_name(found, g, all[i].id),
                     (double)rheos_tensor_size_bytes(value) / (1 << 20),
                     rheos__lint_name(found, g, all[i - 1].id));
  }
}

// ---- Subgraphs

enum { DUPLICATE_NODES = 20 };

static bool is_pure(const rheos__lint_graph *g, int32_t id) {
  const unsigned flags = g->nodes[id]->signature->op->flags;
  const unsigned impure = RHEOS_OP_STATEFUL | RHEOS_OP_WRITES | RHEOS_OP_PLACEHOLDER |
                          RHEOS_OP_VARIABLE | RHEOS_OP_ARG | RHEOS_OP_RETVAL |
                          RHEOS_OP_READS_VARIABLE;
  return (flags & impure) == 0 && g->nodes[id]->num_outputs > 0;
}

// Of what a node is, with the first of their kind in the place of its inputs; 0 if something comes
// from behind it, as in loops, or it is not pure.
static uint64_t hash_copy(const rheos__lint_graph *g, const int32_t *first, int32_t id) {
  const rheos__node *node = g->nodes[id];
  uint64_t hash = rheos__hash_mix((uintptr_t)node->signature, node->attrs->hash);
  if (!is_pure(g, id)) return 0;
  for (int32_t i = 0; i < node->num_inputs + node->num_control_inputs; i++) {
    if (node->edges[i].id >= id) return 0;
    hash = rheos__hash_mix(hash, (uint64_t)first[node->edges[i].id]);
    hash = rheos__hash_mix(hash, (uint64_t)node->edges[i].index + 2);
  }
  return hash | 1;
}

static bool is_copy(const rheos__node *a, const rheos__node *b, const int32_t *first) {
  bool same = a->signature == b->signature && a->device == b->device && a->attrs == b->attrs &&
              a->num_inputs == b->num_inputs && a->num_control_inputs == b->num_control_inputs;
  for (int32_t i = 0; same && i < a->num_inputs + a->num_control_inputs; i++) {
    same = first[a->edges[i].id] == first[b->edges[i].id] && a->edges[i].index == b->edges[i].index;
  }
  return same;
}

static int32_t count_copied(const rheos__lint_graph *g, const int32_t *first, const int32_t *sizes,
                            int32_t id) {
  const rheos__node *node = g->nodes[id];
  int32_t count = 1;
  for (int32_t i = 0; i < node->num_inputs + node->num_control_inputs; i++) {
    const int32_t from = node->edges[i].id;
    if (first[from] != from && count < INT32_MAX - sizes[from]) count += sizes[from];
  }
  return count;
}

void rheos__lint_find_copies(rheos__lint_findings *found, const rheos__lint_graph *g,
                             int32_t *first, int32_t *sizes) {
  size_t num_slots = 16;
  while (num_slots < (size_t)g->num_nodes * 2) num_slots *= 2;
  int32_t *slots = rheos__lint_alloc(found, num_slots, sizeof *slots);  // ids and 1
  for (int32_t id = 0; slots != NULL && id < g->num_nodes; id++) {
    first[id] = id;
    const uint64_t hash = hash_copy(g, first, id);
    if (hash == 0) continue;
    size_t slot = hash & (num_slots - 1);
    while (slots[slot] != 0 && !is_copy(g->nodes[slots[slot] - 1], g->nodes[id], first)) {
      slot = (slot + 1) & (num_slots - 1);
    }
    if (slots[slot] == 0) {
      slots[slot] = id + 1;
    } else {
      first[id] = slots[slot] - 1;
      sizes[id] = count_copied(g, first, sizes, id);
    }
  }
}

// Where a copy ends: nothing that takes it is a copy as well.
static bool is_end_of_copy(const rheos__lint_graph *g, const int32_t *first, int32_t id) {
  if (first[id] == id) return false;
  for (int32_t u = g->first_use[id]; u < g->first_use[id + 1]; u++) {
    if (first[g->uses[u].id] != g->uses[u].id) return false;
  }
  return true;
}

// How many copies there are among a node and those before it; `seen` and `stack` have room for all
// nodes.
static int32_t count_copies(const rheos__lint_graph *g, const int32_t *first, int32_t id,
                            int32_t *seen, int32_t *stack) {
  int32_t count = 0, height = 0;
  const int32_t mark = id + 1;
  stack[height++] = id;
  seen[id] = mark;
  while (height > 0) {
    const rheos__node *node = g->nodes[stack[--height]];
    count++;
    for (int32_t i = 0; i < node->num_inputs + node->num_control_inputs; i++) {
      const int32_t from = node->edges[i].id;
      if (first[from] == from || seen[from] == mark) continue;
      seen[from] = mark;
      stack[height++] = from;
    }
  }
  return count;
}

enum { MOST_COUNTED = 200 };  // ends whose copies are counted one by one

void rheos__lint_duplicate_subgraph(rheos__lint_findings *found, const rheos__lint_graph *g) {
  int32_t *first = rheos__lint_alloc(found, (size_t)g->num_nodes, sizeof *first);
  int32_t *sizes = rheos__lint_alloc(found, (size_t)g->num_nodes, sizeof *sizes);
  int32_t *seen = rheos__lint_alloc(found, (size_t)g->num_nodes, sizeof *seen);
  int32_t *stack = rheos__lint_alloc(found, (size_t)g->num_nodes, sizeof *stack);
  if (found->is_short) return;
  rheos__lint_find_copies(found, g, first, sizes);
  int32_t num_counted = 0;
  for (int32_t id = 0; id < g->num_nodes && !found->is_short; id++) {
    if (!is_end_of_copy(g, first, id) || sizes[id] < DUPLICATE_NODES) continue;
    if (num_counted++ == MOST_COUNTED) break;
    sizes[id] = count_copies(g, first, id, seen, stack);
    if (sizes[id] < DUPLICATE_NODES) continue;
    rheos__lint_tell(found, g, id, "'%s' and %d nodes before it compute again what '%s' is",
                     rheos__lint_name(found, g, id), (int)sizes[id] - 1,
                     rheos__lint_name(found, g, first[id]));
  }
}

// ---- What is built in a loop: nodes of one kind with the same inputs, made by one line

// One loss after the other may be minimized, by an update of the variable each.
enum { TIMES_BUILT = 3, TIMES_TRAINED = 10 };

static bool is_same_line(const rheos__lint_graph *g, int32_t a, int32_t b) {
  const rheos__node *one = g->nodes[a], *other = g->nodes[b];
  return one->source_file == other->source_file && one->source_line == other->source_line;
}

typedef bool (*is_of_kind)(const rheos__lint_graph *g, int32_t id);
typedef uint64_t (*hash_of_kind)(const rheos__lint_graph *g, int32_t id);

// Tells of each kind that one line made so often.
static void tell_built_again(rheos__lint_findings *found, const rheos__lint_graph *g, size_t times,
                             is_of_kind is_it, hash_of_kind hash_of, const char *what) {
  size_t count = 0;
  hashed *all = rheos__lint_alloc(found, (size_t)g->num_nodes, sizeof *all);
  for (int32_t id = 0; all != NULL && id < g->num_nodes; id++) {
    if (!is_it(g, id)) continue;
    uint64_t hash = rheos__hash_mix(hash_of(g, id), (uintptr_t)g->nodes[id]->device);
    hash = rheos__hash_mix(hash, g->nodes[id]->source_file);
    all[count++] = (hashed){rheos__hash_mix(hash, g->nodes[id]->source_line), id};
  }
  if (count > 1) qsort(all, count, sizeof *all, compare_hashed);
  for (size_t i = 0, next; i < count; i = next) {
    next = i + 1;
    while (next < count && all[next].hash == all[i].hash &&
           is_same_line(g, all[i].id, all[next].id)) {
      next++;
    }
    if (next - i < times) continue;
    rheos__lint_tell(found, g, all[i].id, "%s was built %d times, as '%s', '%s' and so on", what,
                     (int)(next - i), rheos__lint_name(found, g, all[i].id),
                     rheos__lint_name(found, g, all[i + 1].id));
  }
}

static bool is_save(const rheos__lint_graph *g, int32_t id) {
  static const char *const ops[] = {"SaveV2", "SaveSlices", "Save", NULL};
  return rheos__lint_is_one(g, id, ops);
}

// What is saved; not under which name of a file.
static uint64_t hash_saved(const rheos__lint_graph *g, int32_t id) {
  const int32_t first = rheos__lint_is(g, id, "SaveV2") ? 3 : rheos__lint_is(g, id, "Save") ? 2 : 3;
  const rheos__node *node = g->nodes[id];
  uint64_t hash = 1;
  for (int32_t i = first; i < node->num_inputs; i++) {
    hash = rheos__hash_mix(hash, (uint64_t)node->edges[i].id);
  }
  return hash;
}

void rheos__lint_saver_in_loop(rheos__lint_findings *found, const rheos__lint_graph *g) {
  tell_built_again(found, g, TIMES_BUILT, is_save, hash_saved, "a saver of the same variables");
}

// A group of initializers: waits for nothing but assignments.
static bool is_initializer(const rheos__lint_graph *g, int32_t id) {
  static const char *const ops[] = {"Assign", "AssignVariableOp", NULL};
  const rheos__node *node = g->nodes[id];
  if (!rheos__lint_is(g, id, "NoOp") || node->num_control_inputs == 0) return false;
  for (int32_t i = 0; i < node->num_control_inputs; i++) {
    const int32_t from = node->edges[node->num_inputs + i].id;
    if (from >= g->num_nodes || !rheos__lint_is_one(g, from, ops)) return false;
  }
  return true;
}

static uint64_t hash_inputs(const rheos__lint_graph *g, int32_t id) {
  return hash_edges(g->nodes[id], 3, true);
}

void rheos__lint_initializer_in_loop(rheos__lint_findings *found, const rheos__lint_graph *g) {
  tell_built_again(found, g, TIMES_BUILT, is_initializer, hash_inputs,
                   "an initializer of the same variables");
}

static bool is_merged_summary(const rheos__lint_graph *g, int32_t id) {
  return rheos__lint_is(g, id, "MergeSummary");
}

void rheos__lint_summaries_in_loop(rheos__lint_findings *found, const rheos__lint_graph *g) {
  tell_built_again(found, g, TIMES_BUILT, is_merged_summary, hash_inputs,
                   "a merge of the same summaries");
}

// The variable that an optimizer updates.
static uint64_t hash_variable(const rheos__lint_graph *g, int32_t id) {
  return rheos__hash_mix(5, (uint64_t)rheos__lint_variable_of(g, rheos__lint_input(g, id, 0)) + 1);
}

static bool is_training_of_variable(const rheos__lint_graph *g, int32_t id) {
  return rheos__lint_is_training(g, id) &&
         rheos__lint_variable_of(g, rheos__lint_input(g, id, 0)) >= 0;
}

void rheos__lint_training_in_loop(rheos__lint_findings *found, const rheos__lint_graph *g) {
  tell_built_again(found, g, TIMES_TRAINED, is_training_of_variable, hash_variable,
                   "an optimizer's update of the same variable");
}

// ---- Layers whose variables were made twice

// The variable of that name, if it was made before and has the same shape; else -1.
static int32_t alike(const rheos__lint_graph *g, int32_t id, const char *name) {
  const rheos_operation found = rheos_graph_operation(g->graph, name);
  if (found.graph == NULL || found.id >= id || !rheos__lint_is_variable(g, found.id)) return -1;
  const rheos_attr_value *one = rheos__attrs_find(g->nodes[id]->attrs, "shape");
  const rheos_attr_value *two = rheos__attrs_find(g->nodes[found.id]->attrs, "shape");
  const bool same = one != NULL && two != NULL && one->kind == RHEOS_ATTR_SHAPE &&
                    two->kind == RHEOS_ATTR_SHAPE && rheos_shape_equal(one->shape, two->shape);
  return same ? found.id : -1;
}

// Of "net_1/a/kernel" the variable "net/a/kernel", whichever scope has the _1; -1 if there is none.
static int32_t original_of(const rheos__lint_graph *g, int32_t id, const char *name) {
  char other[512];
  int32_t original = -1;
  if (strlen(name) >= sizeof other) return -1;
  for (const char *at = strstr(name, "_1/"); at != NULL && original < 0;
       at = strstr(at + 1, "_1/")) {
    snprintf(other, sizeof other, "%.*s%s", (int)(at - name), name, at + 2);
    original = alike(g, id, other);
  }
  return original;
}

static bool is_trained(const rheos__lint_graph *g, int32_t variable) {
  for (int32_t u = g->first_use[variable]; u < g->first_use[variable + 1]; u++) {
    if (rheos__lint_is_training(g, g->uses[u].id) && g->uses[u].input == 0) return true;
  }
  return false;
}

void rheos__lint_copied_layer(rheos__lint_findings *found, const rheos__lint_graph *g) {
  for (int32_t id = 0; id < g->num_nodes; id++) {
    if (!rheos__lint_is_variable(g, id)) continue;
    const char *name = rheos__lint_name(found, g, id);
    const int32_t original = original_of(g, id, name);
    if (original < 0 || is_trained(g, id) == is_trained(g, original)) continue;
    rheos__lint_tell(found, g, id, "'%s' is a second variable like '%s', and only %s is trained",
                     name, rheos__lint_name(found, g, original),
                     is_trained(g, id) ? "the second" : "the first");
  }
}
