// What a plan on tokens begins with: ops that wait, so that a step waits for all of them at once.
//
// Of what can run, a step runs that first which is first in the plan's order. So what may wait, and
// takes nothing but constants, feeds and names of cells, goes to the front of that order. Effects
// keep theirs: it stays behind what stays and could meet it in a cell. What only sends goes right
// behind what it takes, since others wait for that, and so does a member of a collective.
#include "plan/build/builder.h"

#include <string.h>

#include "graph/effect_order.h"

enum { FRONT = 0, MOST_CELLS = 64 };

// Cells besides variables that what stays may touch, by the nodes that name them.
typedef struct touched {
  const rheos__node *namers[MOST_CELLS];
  int32_t count;
  bool may_be_any;
} touched;

typedef struct mover {
  const rheos__builder *b;
  // By draft: it goes behind all of a lower slot, and among those of its own keeps its place.
  int32_t *slots;
  touched *inside;  // by structure
  touched staying;
  bool has_effects;  // of what stays, something has
} mover;

static bool has_effects(unsigned flags) {
  return (flags & (RHEOS_OP_STATEFUL | RHEOS_OP_WRITES)) != 0;
}

// ---- Cells

// What names the cell that the edge is a reference or handle of, `*out_is_cell`; NULL: it is told
// by something else. Variables are none here.
static const rheos__node *find_namer(const rheos__builder *b, rheos__edge edge, bool *out_is_cell) {
  const rheos__node *node = rheos__builder_node(b, edge.id);
  *out_is_cell = edge.index >= 0 && rheos__node_gives_cell(node, edge.index);
  while (*out_is_cell && !rheos__builder_has(b, edge) && edge.index == 0) {
    if (rheos__node_names_cell(node)) {
      *out_is_cell = (node->signature->op->flags & RHEOS_OP_VARIABLE) == 0;
      return node;
    }
    if (node->num_inputs == 0 || !rheos__node_gives_cell(node, 0)) return NULL;
    edge = node->edges[0];
    node = rheos__builder_node(b, edge.id);
  }
  return NULL;
}

// Nodes with no shared name go by their own.
static bool may_be_same(const rheos__node *a, const rheos__node *b) {
  const char *name_a = rheos__attr_string(a->attrs, "shared_name");
  const char *name_b = rheos__attr_string(b->attrs, "shared_name");
  if (a == b) return true;
  if (name_a[0] == '\0' || name_b[0] == '\0') return name_a[0] != name_b[0];
  return strcmp(name_a, name_b) == 0;
}

static bool is_touched(const touched *t, const rheos__node *namer) {
  if (t->may_be_any || namer == NULL) return t->may_be_any || t->count > 0;
  for (int32_t i = 0; i < t->count; ++i) {
    if (may_be_same(t->namers[i], namer)) return true;
  }
  return false;
}

static void touch(touched *t, const rheos__node *namer) {
  if (namer == NULL || t->count == MOST_CELLS) {
    t->may_be_any = true;
  } else if (t->count == 0 || t->namers[t->count - 1] != namer) {
    t->namers[t->count++] = namer;
  }
}

// Whether the op has a cell of its own name, or calls what may touch any.
static bool may_touch_unseen(const rheos__node *node) {
  const unsigned flags = node->signature->op->flags;
  const unsigned calls = RHEOS_OP_CALLS | RHEOS_OP_CALLS_PROGRAM;
  if ((flags & calls) != 0 && has_effects(flags)) return true;
  return rheos__attrs_find(node->attrs, "shared_name") != NULL && !rheos__node_names_cell(node);
}

// Adds the cells that the node may touch: what it takes, and what it does not show.
static void add_cells(const rheos__builder *b, const rheos__node *node, touched *t) {
  if (may_touch_unseen(node)) touch(t, NULL);
  for (int32_t i = 0; i < node->num_inputs; ++i) {
    bool is_cell;
    const rheos__node *namer = find_namer(b, node->edges[i], &is_cell);
    if (is_cell) touch(t, namer);
  }
}

static void add_all(const touched *from, touched *to) {
  for (int32_t i = 0; i < from->count; ++i) touch(to, from->namers[i]);
  to->may_be_any = to->may_be_any || from->may_be_any;
}

static bool have_common(const touched *a, const touched *b) {
  if (a->may_be_any && is_touched(b, NULL)) return true;
  for (int32_t i = 0; i < a->count; ++i) {
    if (is_touched(b, a->namers[i])) return true;
  }
  return false;
}

static void look_into_structures(const mover *m) {
  const rheos__builder *b = m->b;
  for (size_t i = 0; b->raised.count > 0 && i < b->num_order; ++i) {
    const int32_t id = b->order[i], structure = b->raised.of_node[id] - 1;
    if (structure >= 0) add_cells(b, rheos__builder_node(b, id), &m->inside[structure]);
  }
}

static void note_staying(mover *m, const rheos__entry *d) {
  const rheos__builder *b = m->b;
  if (d->kind != RHEOS__ENTRY_NODE) return;
  m->has_effects = m->has_effects || has_effects(d->signature->op->flags);
  if (d->structure == NULL) {
    add_cells(b, rheos__builder_node(b, d->id), &m->staying);
  } else {
    add_all(&m->inside[b->raised.of_node[d->structure->node] - 1], &m->staying);
  }
}

// ---- Entries

// The highest slot of what the entry takes and waits for.
static int32_t slot_behind_inputs(const mover *m, const rheos__entry *d) {
  const rheos__builder *b = m->b;
  int32_t slot = FRONT;
  for (int32_t i = 0; i < d->num_inputs; ++i) {
    const int32_t from = b->sources[d->first_operand + i].draft;
    if (from >= 0 && m->slots[from] > slot) slot = m->slots[from];
  }
  for (int32_t i = 0; i < d->num_waits; ++i) {
    const int32_t from = b->waits[d->first_wait + i];
    if (m->slots[from] > slot) slot = m->slots[from];
  }
  return slot;
}

// An entry that may wait without holding a stack.
static bool waits(const rheos__entry *d) {
  const unsigned flags = d->signature->op->flags;
  return (flags & RHEOS_OP_WAITS) != 0 || (d->may_wait && (flags & RHEOS_OP_CALLS_PROGRAM) != 0);
}

// Whether something that stays before it has to.
static bool is_held_back(const mover *m, const rheos__entry *d) {
  if ((d->signature->op->flags & RHEOS_OP_CALLS_PROGRAM) != 0) return m->has_effects;
  touched own = {.count = 0};
  add_cells(m->b, rheos__builder_node(m->b, d->id), &own);
  return have_common(&own, &m->staying);
}

static bool is_in_loop(const rheos__builder *b, const rheos__entry *d) {
  return b->frames.of_node[d->id] > 1;
}

// A constant, or what names a cell.
static bool is_given(const rheos__entry *d, const rheos__node *node) {
  return d->num_inputs == 0 && d->num_waits == 0 &&
         (rheos__node_names_cell(node) || rheos__node_is_pure(node));
}

static bool can_begin(const mover *m, const rheos__entry *d) {
  if (d->kind != RHEOS__ENTRY_NODE || d->structure != NULL || is_in_loop(m->b, d)) return false;
  if (is_given(d, rheos__builder_node(m->b, d->id))) return true;
  return waits(d) && d->level == 0 && slot_behind_inputs(m, d) == FRONT && !is_held_back(m, d);
}

static bool is_for_others(const rheos__builder *b, const rheos__entry *d) {
  if (d->kind != RHEOS__ENTRY_NODE || d->structure != NULL) return false;
  if (d->signature->op->run_dead != NULL) return true;
  return waits(d) && !is_in_loop(b, d) && rheos__meets_others(rheos__builder_node(b, d->id));
}

// What it takes is a value already, which no write could change.
static bool only_sends(const rheos__builder *b, const rheos__entry *d) {
  if (!is_for_others(b, d)) return false;
  for (int32_t i = 0; i < d->num_inputs; ++i) {
    const rheos__source *source = &b->sources[d->first_operand + i];
    if (source->draft < 0 || b->drafts[source->draft].structure != NULL) continue;
    const rheos__node *node = rheos__builder_node(b, b->drafts[source->draft].id);
    const rheos__flow_role role = rheos__node_role(node);
    if (role == RHEOS__FLOW_SWITCH || role == RHEOS__FLOW_ENTER ||
        rheos__node_gives_cell(node, source->index)) {
      return false;
    }
  }
  return true;
}

// ---- The whole

// Of the entry at the place.
static int32_t slot_of(mover *m, const rheos__entry *d, int32_t place) {
  if (can_begin(m, d)) return FRONT;
  if (only_sends(m->b, d)) return slot_behind_inputs(m, d);
  note_staying(m, d);
  return place + 1;
}

// A counting sort, which is stable.
static void sort_by_slots(const mover *m, int32_t *starts, const int32_t *before, int32_t *order) {
  const int32_t count = (int32_t)m->b->num_drafts;
  for (int32_t i = 0; i < count; ++i) ++starts[m->slots[i] + 1];
  for (int32_t i = 0; i <= count; ++i) starts[i + 1] += starts[i];
  for (int32_t i = 0; i < count; ++i) order[starts[m->slots[before[i]]]++] = before[i];
}

rheos_status *rheos__builder_move_early(const rheos__builder *b, int32_t *order) {
  const size_t count = b->num_drafts;
  mover m = {.b = b,
             .slots = rheos__alloc_array(count + 1, sizeof *m.slots),
             .inside = rheos__alloc_array((size_t)b->raised.count + 1, sizeof *m.inside)};
  int32_t *before = rheos__alloc_array(count + 1, sizeof *before);
  int32_t *starts = rheos__alloc_array(count + 2, sizeof *starts);
  rheos_status *status = NULL;
  if (m.slots == NULL || m.inside == NULL || before == NULL || starts == NULL) {
    status = rheos__out_of_memory();
  } else {
    memcpy(before, order, count * sizeof *order);
    look_into_structures(&m);
    for (size_t i = 0; i < count; ++i) {
      m.slots[order[i]] = slot_of(&m, &b->drafts[order[i]], (int32_t)i);
    }
    sort_by_slots(&m, starts, before, order);
  }
  rheos__free(m.slots);
  rheos__free(m.inside);
  rheos__free(before);
  rheos__free(starts);
  return status;
}
