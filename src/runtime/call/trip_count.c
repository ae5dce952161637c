// Trips of a loop that counts: its condition compares a variable with a number, the body adds a
// number to that variable, and all three numbers are known before it runs.
#include "runtime/call/called.h"

#include <string.h>

#include "graph/library.h"
#include "plan/segment/segment.h"

enum { UNKNOWN = -1, MOST_CONDITIONS = 64 };

typedef struct counter {
  const rheos__called *loop;
  const rheos__function *condition, *body;
} counter;

static const char *op_of(const rheos__node *node) { return node->signature->op->name; }

static bool is_op(const rheos__node *node, const char *const *names) {
  while (*names != NULL && strcmp(op_of(node), *names) != 0) ++names;
  return *names != NULL;
}

// What passes its input on, as far as a number is concerned.
static rheos__edge source_of(const rheos_graph *graph, rheos__edge edge) {
  static const char *const plain[] = {"Identity", "StopGradient", NULL};
  const rheos__node *node = rheos__graph_node(graph, edge.id);
  for (; is_op(node, plain); node = rheos__graph_node(graph, edge.id)) edge = node->edges[0];
  return edge;
}

static int32_t arg_of(const rheos__function *f, rheos__edge edge) {
  edge = source_of(f->graph, edge);
  for (int32_t i = 0; i < f->num_args; ++i) {
    if (f->args[i].id == edge.id && f->args[i].index == edge.index) return i;
  }
  return UNKNOWN;
}

// The integer scalar that the loop takes for that argument, as far as a plan knows it.
static bool value_before(const rheos__called *loop, int32_t arg, int64_t *out_value) {
  const rheos__plan *plan = loop->caller;
  const rheos__entry *entry = &plan->entries[loop->entry];
  if (arg < 0 || arg >= entry->num_inputs || plan->roots == NULL) return false;
  const int32_t index = plan->operands[entry->first_operand + arg];
  for (const rheos__segment *at = plan->roots; at != NULL; at = at->children) {
    if (index >= at->first_value + at->num_values) continue;
    const rheos__value *value = rheos__find_value(at, index);
    value = rheos__find_value(at, value->root);
    if (value->kind != RHEOS__VALUE_CONSTANT || value->constant->num_elements != 1) return false;
    const void *data = value->constant->data;
    switch (value->constant->dtype) {
      case RHEOS_INT32: *out_value = *(const int32_t *)data; return true;
      case RHEOS_INT64: *out_value = *(const int64_t *)data; return true;
      default: return false;
    }
  }
  return false;
}

static bool whole_number(const rheos__function *f, rheos__edge edge, int64_t *out_value) {
  int32_t count = 0;
  return rheos__whole_value(f->graph, source_of(f->graph, edge), out_value, 1, &count) &&
         count == 1;
}

static bool stays(const counter *c, int32_t arg) {
  return arg >= c->body->num_results || arg_of(c->body, c->body->results[arg]) == arg;
}

// A number of the condition that is the same on each trip.
static bool limit_of(const counter *c, rheos__edge edge, int64_t *out_value) {
  if (whole_number(c->condition, edge, out_value)) return true;
  const int32_t arg = arg_of(c->condition, edge);
  return arg >= 0 && stays(c, arg) && value_before(c->loop, arg, out_value);
}

// What the body adds to the variable.
static bool step_of(const counter *c, int32_t arg, int64_t *out_value) {
  static const char *const sums[] = {"Add", "AddV2", NULL};
  const rheos__function *f = c->body;
  if (arg >= f->num_results) return false;
  const rheos__node *node = rheos__graph_node(f->graph, source_of(f->graph, f->results[arg]).id);
  if (!is_op(node, sums)) return false;
  const int side = arg_of(f, node->edges[0]) == arg ? 1 : 0;
  return arg_of(f, node->edges[1 - side]) == arg && whole_number(f, node->edges[side], out_value);
}

// Of a comparison: until it fails.
static int64_t trips_of(const counter *c, const rheos__node *node) {
  static const char *const less[] = {"Less", "LessEqual", NULL};
  static const char *const greater[] = {"Greater", "GreaterEqual", NULL};
  int64_t first, limit, step, room;
  if (!is_op(node, less) && !is_op(node, greater)) return UNKNOWN;
  const int side = is_op(node, less) ? 0 : 1;  // of the variable that grows
  const int32_t arg = arg_of(c->condition, node->edges[side]);
  if (arg < 0 || !limit_of(c, node->edges[1 - side], &limit) ||
      !value_before(c->loop, arg, &first) || !step_of(c, arg, &step) || step <= 0) {
    return UNKNOWN;
  }
  const bool with_limit = strstr(op_of(node), "Equal") != NULL;
  if (__builtin_sub_overflow(limit, first, &room) ||
      __builtin_add_overflow(room, with_limit, &room)) {
    return UNKNOWN;
  }
  return room <= 0 ? 0 : 1 + (room - 1) / step;
}

int64_t rheos__known_trips(const rheos__called *loop, const rheos__function *condition,
                           const rheos__function *body) {
  const counter c = {loop, condition, body};
  rheos__edge todo[MOST_CONDITIONS];
  int32_t count = 0;
  int64_t trips = INT64_MAX;
  if (condition->num_results != 1) return UNKNOWN;
  todo[count++] = condition->results[0];
  while (count > 0) {
    const rheos__edge edge = source_of(condition->graph, todo[--count]);
    const rheos__node *node = rheos__graph_node(condition->graph, edge.id);
    if (strcmp(op_of(node), "LogicalAnd") == 0 && count + 2 <= MOST_CONDITIONS) {
      todo[count++] = node->edges[1];
      todo[count++] = node->edges[0];
      continue;
    }
    const int64_t own = trips_of(&c, node);
    if (own < 0) return UNKNOWN;
    if (own < trips) trips = own;
  }
  return trips;
}

int64_t rheos__known_trips_of_for(const rheos__called *loop) {
  int64_t start, limit, delta, room;
  if (!value_before(loop, 0, &start) || !value_before(loop, 1, &limit) ||
      !value_before(loop, 2, &delta) || delta == 0 || __builtin_sub_overflow(limit, start, &room)) {
    return UNKNOWN;
  }
  if ((room > 0) != (delta > 0) || room == 0) return 0;
  return room / delta + (room % delta != 0);
}
