// Rules about shapes, dtypes, sizes and devices of values.
#include "lint/lint.h"

#include <stdio.h>

// ---- Broadcasts by mistake

static bool is_made_to_broadcast(const rheos__lint_graph *g, rheos__edge edge) {
  static const char *const ops[] = {"ExpandDims", "StridedSlice", "Reshape", "Transpose", NULL};
  return rheos__lint_is_one(g, edge.id, ops);
}

// Whether one is [n] and the other [n, 1], with a known n that is not 1, or with none known.
static bool is_vector_and_column(const rheos_shape *vector, const rheos_shape *column) {
  return vector->rank == 1 && column->rank == 2 && column->dims[1] == 1 &&
         vector->dims[0] == column->dims[0] && vector->dims[0] != 1;
}

enum { MOST_CONSUMERS = 1000 };

// Whether a reduction takes both axes: it gives a scalar.
static bool reduces_all(const rheos__lint_graph *g, int32_t id) {
  static const char *const ops[] = {"Mean", "Sum", NULL};
  return rheos__lint_is_one(g, id, ops) && rheos__lint_shape(g, (rheos__edge){id, 0})->rank == 0;
}

// Whether what follows from a matrix of differences, one by one, is reduced to one number.
// `*budget` is how many more consumers are looked at.
static bool is_reduced(const rheos__lint_graph *g, int32_t id, int depth, int *budget) {
  static const char *const one_by_one[] = {
      "Square",   "Abs",  "Mul", "Add",     "AddV2",   "Sub",    "Neg",      "Cast",
      "Identity", "Sqrt", "Pow", "RealDiv", "Minimum", "Select", "SelectV2", NULL};
  for (int32_t u = g->first_use[id]; u < g->first_use[id + 1]; u++) {
    const int32_t user = g->uses[u].id;
    if ((*budget)-- <= 0) return false;
    if (g->uses[u].input < 0) continue;
    if (reduces_all(g, user)) return true;
    if (depth > 0 && rheos__lint_is_one(g, user, one_by_one) &&
        is_reduced(g, user, depth - 1, budget)) {
      return true;
    }
  }
  return false;
}

void rheos__lint_outer_broadcast(rheos__lint_findings *found, const rheos__lint_graph *g) {
  static const char *const ops[] = {"Sub", "SquaredDifference", "Equal", "NotEqual", NULL};
  for (int32_t id = 0; id < g->num_nodes; id++) {
    if (!rheos__lint_is_one(g, id, ops)) continue;
    const rheos__edge a = rheos__lint_input(g, id, 0), b = rheos__lint_input(g, id, 1);
    const rheos_shape *x = rheos__lint_shape(g, a), *y = rheos__lint_shape(g, b);
    const bool a_is_vector = is_vector_and_column(x, y);
    if (!a_is_vector && !is_vector_and_column(y, x)) continue;
    const rheos__edge column = a_is_vector ? b : a;
    int budget = MOST_CONSUMERS;
    if (is_made_to_broadcast(g, column) || !is_reduced(g, id, 4, &budget)) continue;
    char one[64], other[64];
    rheos_shape_format(x, one, sizeof one);
    rheos_shape_format(y, other, sizeof other);
    rheos__lint_tell(found, g, id,
                     "'%s' takes shapes %s and %s, which makes a square of each "
                     "with each",
                     rheos__lint_name(found, g, id), one, other);
  }
}

// ---- float64

static bool is_large_enough(const rheos_shape *shape) { return shape->rank != 0; }

// What a program gave in float64: an array of NumPy mostly.
static bool is_given_double(const rheos__lint_graph *g, rheos__edge edge) {
  static const char *const given[] = {"Placeholder", "Const", NULL};
  return rheos__lint_is_one(g, edge.id, given) && rheos__lint_dtype(g, edge) == RHEOS_DOUBLE &&
         is_large_enough(rheos__lint_shape(g, edge));
}

void rheos__lint_accidental_float64(rheos__lint_findings *found, const rheos__lint_graph *g) {
  for (int32_t id = 0; id < g->num_nodes; id++) {
    if (!rheos__lint_is(g, id, "Cast")) continue;
    const rheos__edge of = rheos__lint_behind(g, rheos__lint_input(g, id, 0), true);
    if (rheos__lint_dtype(g, (rheos__edge){id, 0}) != RHEOS_FLOAT || !is_given_double(g, of)) {
      continue;
    }
    rheos__lint_tell(found, g, of.id, "'%s' is float64 and is cast to float32 by '%s'",
                     rheos__lint_name(found, g, of.id), rheos__lint_name(found, g, id));
  }
}

// ---- Data in the graph

static size_t bytes_of_constant(const rheos__lint_graph *g, int32_t id) {
  if (!rheos__lint_is(g, id, "Const")) return 0;
  const rheos_attr_value *value = rheos__attrs_find(g->nodes[id]->attrs, "value");
  if (value == NULL || value->kind != RHEOS_ATTR_TENSOR) return 0;
  return rheos_tensor_size_bytes(value->tensor);
}

enum { MEDIUM_BYTES = 1 << 20, LARGE_BYTES = 10 << 20, LARGE_SUM_BYTES = 64 << 20 };

static void tell_constant(rheos__lint_findings *found, const rheos__lint_graph *g, int32_t id,
                          size_t size_bytes) {
  rheos__lint_tell(found, g, id, "the constant '%s' has %.1f MB, which each copy of the graph has",
                   rheos__lint_name(found, g, id), (double)size_bytes / (1 << 20));
}

// A graph without variables is frozen: there constants are where they belong. Functions of programs
// take arrays as constants, in each trace.
static bool may_be_frozen(const rheos__lint_graph *g) {
  if (g->function[0] == '\0') return !rheos__lint_has_variables(g);
  return g->num_nodes == 0 || g->nodes[0]->source_file == 0;
}

void rheos__lint_large_constant(rheos__lint_findings *found, const rheos__lint_graph *g) {
  size_t sum_bytes = 0, largest_bytes = 0;
  int32_t largest = -1;
  if (may_be_frozen(g)) return;
  for (int32_t id = 0; id < g->num_nodes; id++) {
    const size_t size_bytes = bytes_of_constant(g, id);
    if (size_bytes >= LARGE_BYTES) {
      tell_constant(found, g, id, size_bytes);
      continue;
    }
    sum_bytes += size_bytes;
    if (size_bytes > largest_bytes) largest = id;
    if (size_bytes > largest_bytes) largest_bytes = size_bytes;
  }
  if (sum_bytes < LARGE_SUM_BYTES) return;
  rheos__lint_tell(found, g, largest,
                   "constants of less than 10 MB come to %.1f MB, '%s' is the largest",
                   (double)sum_bytes / (1 << 20), rheos__lint_name(found, g, largest));
}

void rheos__lint_medium_constant(rheos__lint_findings *found, const rheos__lint_graph *g) {
  if (may_be_frozen(g)) return;
  for (int32_t id = 0; id < g->num_nodes; id++) {
    const size_t size_bytes = bytes_of_constant(g, id);
    if (size_bytes >= MEDIUM_BYTES && size_bytes < LARGE_BYTES) {
      tell_constant(found, g, id, size_bytes);
    }
  }
}

void rheos__lint_graph_near_limit(rheos__lint_findings *found, const rheos__lint_graph *g) {
  const size_t near_bytes = (size_t)3 << 29;
  size_t sum_bytes = 0;
  for (int32_t id = 0; id < g->num_nodes; id++) sum_bytes += bytes_of_constant(g, id);
  if (sum_bytes < near_bytes) return;
  rheos__lint_tell(found, g, -1,
                   "the graph has %.2f GB of constants, and a GraphDef may not have 2 GB",
                   (double)sum_bytes / (1 << 30));
}

// ---- Ranks that are not known

void rheos__lint_unknown_rank(rheos__lint_findings *found, const rheos__lint_graph *g) {
  for (int32_t id = 0; id < g->num_nodes; id++) {
    if (!rheos__lint_is(g, id, "Placeholder")) continue;
    const rheos__edge value = {id, 0};
    if (g->function[0] != '\0' || rheos__lint_shape(g, value)->rank >= 0) continue;
    if (rheos__lint_num_uses(g, id) == 0 || rheos__lint_dtype(g, value) != RHEOS_FLOAT) continue;
    rheos__lint_tell(found, g, id, "of the shape of '%s' not even the rank is known",
                     rheos__lint_name(found, g, id));
  }
}

// ---- Devices

enum { MOST_CROSSINGS = 3 };

// What leads to a node, by edges between two devices: the longest chain.
typedef struct crossings {
  const char *from;  // the device before the latest crossing; NULL: none
  int32_t count;
} crossings;

// The chain of `to` if it comes by an edge from `from`.
static crossings chain_over(const rheos__lint_graph *g, const crossings *chains, int32_t from,
                            int32_t to) {
  const char *here = g->nodes[to]->device, *there = g->nodes[from]->device;
  const crossings before = chains[from];
  if (here == there || here[0] == '\0' || there[0] == '\0') return before;
  const bool is_back = before.from == here;
  return (crossings){there, is_back ? before.count + 1 : 1};
}

void rheos__lint_device_ping_pong(rheos__lint_findings *found, const rheos__lint_graph *g) {
  crossings *chains = rheos__lint_alloc(found, (size_t)g->num_nodes, sizeof *chains);
  for (int32_t id = 0; chains != NULL && id < g->num_nodes; id++) {
    int32_t most = 0;
    for (int32_t i = 0; i < g->nodes[id]->num_inputs; i++) {
      const rheos__edge edge = rheos__lint_input(g, id, i);
      if (edge.id < 0 || edge.id >= id) continue;
      const crossings chain = chain_over(g, chains, edge.id, id);
      if (chain.count > chains[id].count) chains[id] = chain;
      if (chains[edge.id].count > most) most = chains[edge.id].count;
    }
    if (chains[id].count != MOST_CROSSINGS || most >= MOST_CROSSINGS) continue;
    rheos__lint_tell(
        found, g, id, "what '%s' takes has gone between '%s' and '%s' %d times on its way",
        rheos__lint_name(found, g, id), chains[id].from, g->nodes[id]->device, MOST_CROSSINGS);
  }
}
