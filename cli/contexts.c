// Contexts go along edges: Enter and Switch lead into one, Exit and Merge out of it.
#include "contexts.h"

#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "hash.h"

typedef enum role { PLAIN, ENTER, EXIT, SWITCH, MERGE, NEXT_ITERATION, LOOP_COND } role;

// Reference forms have "Ref" before.
static role role_of(const Tensorflow__NodeDef *node) {
  static const char *const ops[] = {"",      "Enter",         "Exit",    "Switch",
                                    "Merge", "NextIteration", "LoopCond"};
  const char *op = strncmp(node->op, "Ref", 3) == 0 ? node->op + 3 : node->op;
  for (int i = 1; i < (int)(sizeof ops / sizeof *ops); i++) {
    if (strcmp(op, ops[i]) == 0) return (role)i;
  }
  return PLAIN;
}

typedef struct finder {
  contexts *c;
  const view *v;
  role *roles;
  int32_t *behind;   // by node: the context of its outputs
  int32_t *pending;  // by node: inputs to come
  int32_t *ready;
  int32_t num_ready;
  int32_t *slots;  // one more than the number of a context, by its hash
  size_t num_slots;
} finder;

static size_t hash_of(int32_t parent, bool is_loop, const char *name) {
  return hash_bytes((uint64_t)parent << 1 | is_loop, name, strlen(name));
}

static int32_t depth_of(const contexts *c, int32_t at) {
  return at >= 0 ? c->items[at].depth + 1 : 0;
}

// Open addressing, at most half full.
static void make_slots(finder *f) {
  const contexts *c = f->c;
  f->num_slots = 4 * c->capacity;
  free(f->slots);
  f->slots = command_alloc(f->num_slots * sizeof *f->slots);
  for (int32_t i = 0; i < c->count; i++) {
    size_t at = hash_of(c->items[i].parent, c->items[i].is_loop, c->items[i].name) % f->num_slots;
    while (f->slots[at] != 0) at = (at + 1) % f->num_slots;
    f->slots[at] = i + 1;
  }
}

static int32_t context_of(finder *f, int32_t parent, bool is_loop, const char *name) {
  contexts *c = f->c;
  if ((size_t)c->count == c->capacity) {
    c->capacity = 2 * c->capacity + 16;
    c->items = command_realloc(c->items, c->capacity * sizeof *c->items);
    make_slots(f);
  }
  size_t slot = hash_of(parent, is_loop, name) % f->num_slots;
  for (; f->slots[slot] != 0; slot = (slot + 1) % f->num_slots) {
    const context *at = &c->items[f->slots[slot] - 1];
    if (at->parent == parent && at->is_loop == is_loop && strcmp(at->name, name) == 0) {
      return f->slots[slot] - 1;
    }
  }
  c->items[c->count] = (context){parent, is_loop, depth_of(c, parent), name, 0};
  f->slots[slot] = ++c->count;
  return c->count - 1;
}

static bool is_way_back(const finder *f, int32_t node, view_edge edge) {
  return edge.node == VIEW_MISSING ||
         (f->roles[node] == MERGE && f->roles[edge.node] == NEXT_ITERATION);
}

// The innermost of those that the inputs come from.
static int32_t innermost_input(const finder *f, int32_t node, bool *out_takes_enter) {
  const view *v = f->v;
  int32_t inner = -1;
  *out_takes_enter = false;
  for (size_t at = v->first_edge[node]; at < v->first_edge[node + 1]; at++) {
    const view_edge edge = v->edges[at];
    if (is_way_back(f, node, edge)) continue;
    *out_takes_enter |= f->roles[edge.node] == ENTER;
    const int32_t from = f->behind[edge.node];
    if (depth_of(f->c, from) > depth_of(f->c, inner)) inner = from;
  }
  return inner;
}

static int32_t loop_around(const contexts *c, int32_t at) {
  while (at >= 0 && !c->items[at].is_loop) at = c->items[at].parent;
  return at;
}

static int32_t entered(finder *f, int32_t node, int32_t inside) {
  const Tensorflow__AttrValue *frame = view_attr(f->v->def->node[node], "frame_name");
  const bool has_name = frame != NULL && frame->value_case == TENSORFLOW__ATTR_VALUE__VALUE_S;
  char *name = has_name ? command_format("%.*s", (int)frame->s.len, (const char *)frame->s.data)
                        : command_format("?");
  const int32_t before = f->c->count;
  const int32_t context = context_of(f, inside, true, name);
  if (f->c->count == before) free(name);  // else the context's
  return context;
}

// What tells the branch: of what comes from a switch of the same predicate, that.
static int32_t switched(finder *f, int32_t node, int32_t inside) {
  const view *v = f->v;
  const size_t first = v->first_edge[node];
  if (v->first_edge[node + 1] < first + 2 || v->edges[first + 1].node == VIEW_MISSING) {
    return inside;
  }
  int32_t predicate = v->edges[first + 1].node;
  // The conditional's own name for it, which is made behind a switch of the predicate itself.
  while (strcmp(v->def->node[predicate]->op, "Identity") == 0) {
    const size_t source = v->first_edge[predicate];
    if (source == v->first_edge[predicate + 1] || v->edges[source].node == VIEW_MISSING ||
        f->behind[predicate] != f->behind[v->edges[source].node]) {
      break;
    }
    predicate = v->edges[source].node;
  }
  if (f->roles[predicate] == LOOP_COND) return inside;
  const char *name = v->def->node[predicate]->name;
  for (int32_t at = inside; at >= 0 && !f->c->items[at].is_loop; at = f->c->items[at].parent) {
    if (strcmp(f->c->items[at].name, name) == 0) return at;
  }
  const int32_t before = f->c->count;
  char *copy = command_format("%s", name);
  const int32_t context = context_of(f, inside, false, copy);
  if (f->c->count == before) free(copy);
  return context;
}

static void place(finder *f, int32_t node) {
  contexts *c = f->c;
  bool takes_enter;
  int32_t own = innermost_input(f, node, &takes_enter), behind = own;
  switch (f->roles[node]) {
    case ENTER: behind = entered(f, node, own); break;
    case SWITCH: behind = switched(f, node, own); break;
    case EXIT:
      own = loop_around(c, own);
      behind = own >= 0 ? c->items[own].parent : -1;
      break;
    case MERGE:
      if (!takes_enter && own >= 0 && !c->items[own].is_loop) own = c->items[own].parent;
      behind = own;
      break;
    default: break;
  }
  c->of_node[node] = own;
  f->behind[node] = behind;
  if (own >= 0) c->items[own].num_nodes++;
}

static void make_ready(finder *f, int32_t node) { f->ready[f->num_ready++] = node; }

// In the order of the edges; what lies on a cycle without NextIteration is in no context.
static void place_all(finder *f) {
  const view *v = f->v;
  for (int32_t node = 0; node < v->num_nodes; node++) {
    for (size_t at = v->first_edge[node]; at < v->first_edge[node + 1]; at++) {
      f->pending[node] += !is_way_back(f, node, v->edges[at]);
    }
    if (f->pending[node] == 0) make_ready(f, node);
  }
  for (int32_t i = 0; i < f->num_ready; i++) {
    const int32_t node = f->ready[i];
    place(f, node);
    for (size_t at = v->first_use[node]; at < v->first_use[node + 1]; at++) {
      const int32_t user = v->uses[at].node;
      if (f->roles[user] == MERGE && f->roles[node] == NEXT_ITERATION) continue;
      if (--f->pending[user] == 0) make_ready(f, user);
    }
  }
}

void contexts_init(contexts *c, const view *v) {
  const size_t count = (size_t)v->num_nodes;
  *c = (contexts){.of_node = command_alloc(count * sizeof *c->of_node)};
  finder f = {.c = c,
              .v = v,
              .roles = command_alloc(count * sizeof *f.roles),
              .behind = command_alloc(count * sizeof *f.behind),
              .pending = command_alloc(count * sizeof *f.pending),
              .ready = command_alloc(count * sizeof *f.ready)};
  bool any = false;
  for (int32_t i = 0; i < v->num_nodes; i++) {
    f.roles[i] = role_of(v->def->node[i]);
    f.behind[i] = c->of_node[i] = -1;
    any |= f.roles[i] != PLAIN;
  }
  if (any) place_all(&f);
  free(f.roles);
  free(f.behind);
  free(f.pending);
  free(f.ready);
  free(f.slots);
}

void contexts_deinit(contexts *c) {
  for (int32_t i = 0; i < c->count; i++) free((char *)(uintptr_t)c->items[i].name);
  free(c->items);
  free(c->of_node);
}
