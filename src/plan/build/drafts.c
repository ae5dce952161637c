// The entries of nodes and structures, before their order is known. See builder.h.
#include "plan/build/builder.h"

#include <assert.h>

#include "base/hash.h"
#include "plan/entries/prepare.h"

static int32_t draft_number(const rheos__builder *b, int32_t id) {
  return b->marks[rheos__builder_visited(b, id)].state - 1;
}

static const rheos__entry *draft_of(const rheos__builder *b, int32_t id) {
  return &b->drafts[draft_number(b, id)];
}

static rheos__source source_of(const rheos__builder *b, rheos__edge edge) {
  const rheos__structure *s = rheos__builder_structure(b, rheos__builder_visited(b, edge.id));
  if (s == NULL) return (rheos__source){draft_number(b, edge.id), edge.index};
  int32_t output = b->raised.output_of[edge.id];  // the first of the node
  assert(output >= 0);
  while (s->kind == RHEOS__STRETCH &&
         (s->outputs[output].id != edge.id || s->outputs[output].index != edge.index)) {
    ++output;
    assert(output < s->num_outputs);
  }
  return (rheos__source){draft_number(b, edge.id), output};
}

static bool grow_reads(rheos__builder *b) {
  size_t larger = b->num_read_slots != 0 ? b->num_read_slots * 2 : 64;
  rheos__read_slot *slots = rheos__alloc_array(larger, sizeof *slots);
  if (slots == NULL) return false;
  for (size_t i = 0; i < larger; ++i) slots[i].draft = -1;
  for (size_t i = 0; i < b->num_read_slots; ++i) {
    if (b->reads[i].draft < 0) continue;
    uint64_t hash = rheos__hash_mix((uint64_t)b->reads[i].edge.id, (uint64_t)b->reads[i].level);
    size_t at = hash & (larger - 1);
    while (slots[at].draft >= 0) at = (at + 1) & (larger - 1);
    slots[at] = b->reads[i];
  }
  rheos__free(b->reads);
  b->reads = slots;
  b->num_read_slots = larger;
  return true;
}

// Room for the whole graph once there are many: by doubling, twice the memory would be touched.
static rheos_status *add_draft(rheos__builder *b, const rheos__entry *d) {
  enum { MANY = 1 << 16 };
  size_t least = b->num_drafts + 1;
  if (least > MANY && least < (size_t)b->num_nodes) least = (size_t)b->num_nodes;
  if (!RHEOS_RESERVE(b->drafts, b->draft_capacity, least)) return rheos__out_of_memory();
  b->drafts[b->num_drafts++] = *d;
  return NULL;
}

static rheos_status *add_source(rheos__builder *b, rheos__source s) {
  if (!RHEOS_RESERVE(b->sources, b->source_capacity, b->num_sources + 1)) {
    return rheos__out_of_memory();
  }
  b->sources[b->num_sources++] = s;
  return NULL;
}

static rheos_status *add_wait(rheos__builder *b, int32_t awaited) {
  if (!RHEOS_RESERVE(b->waits, b->wait_capacity, b->num_waits + 1)) return rheos__out_of_memory();
  b->waits[b->num_waits++] = awaited;
  return NULL;
}

// The entry that reads the value behind the reference `edge` for consumers of `level`; made, before
// its first consumer, if there is none yet.
static rheos_status *find_read(rheos__builder *b, rheos__edge edge, int32_t level,
                               rheos__source *out_source) {
  if (b->num_reads * 2 >= b->num_read_slots && !grow_reads(b)) return rheos__out_of_memory();
  size_t at = rheos__hash_mix((uint64_t)edge.id, (uint64_t)level) & (b->num_read_slots - 1);
  for (; b->reads[at].draft >= 0; at = (at + 1) & (b->num_read_slots - 1)) {
    const rheos__read_slot *slot = &b->reads[at];
    if (slot->edge.id == edge.id && slot->edge.index == edge.index && slot->level == level) {
      *out_source = (rheos__source){slot->draft, 0};
      return NULL;
    }
  }
  const rheos__node *node = rheos__builder_node(b, edge.id);
  assert(b->marks[edge.id].state > 0);  // its node has an entry already
  rheos__entry read = {.signature = node->signature,
                       .attrs = node->attrs,
                       .id = edge.id,
                       .level = level,
                       .kind = RHEOS__ENTRY_READ,
                       .read_index = edge.index,
                       .first_operand = (int32_t)b->num_sources,
                       .num_inputs = 1,
                       .num_outputs = 1};
  RHEOS_TRY(add_source(b, (rheos__source){b->marks[edge.id].state - 1, edge.index}));
  b->reads[at] = (rheos__read_slot){edge, level, (int32_t)b->num_drafts};
  ++b->num_reads;
  *out_source = (rheos__source){(int32_t)b->num_drafts, 0};
  return add_draft(b, &read);
}

bool rheos__builder_find_reference(const rheos__builder *b, rheos__edge edge,
                                   rheos__edge *out_reference) {
  if (rheos__builder_call_around(b, edge.id) != NULL)
    return false;  // bodies that are inlined have none
  const rheos__node *node = rheos__graph_node(b->plan->graph, edge.id);
  if (rheos_dtype_is_ref(node->outputs[edge.index].dtype)) {
    *out_reference = edge;
    return true;
  }
  // Identity of Identity of ... of a reference, without control inputs of its own
  for (int32_t depth = 0; depth < 4; ++depth) {
    if (node->num_inputs != 1 || node->num_control_inputs != 0 ||
        (node->signature->op->flags & RHEOS_OP_FORWARDS) == 0) {
      return false;
    }
    edge = node->edges[0];
    if (rheos__builder_has(b, edge)) return false;
    node = rheos__graph_node(b->plan->graph, edge.id);
    if (rheos_dtype_is_ref(node->outputs[edge.index].dtype)) {
      *out_reference = edge;
      return true;
    }
  }
  return false;
}

rheos_status *rheos__builder_find_value(rheos__builder *b, rheos__edge edge, int32_t level,
                                        rheos__source *out_source) {
  int32_t feed = rheos__plan_feed_of(b->plan, edge);
  if (feed >= 0) {
    *out_source = (rheos__source){-1, feed};
    return NULL;
  }
  rheos__edge reference;
  if (rheos__builder_find_reference(b, edge, &reference)) {
    // With control flow the consumer reads, when it runs.
    if (b->pass != RHEOS__WITH_FRAMES) return find_read(b, reference, level, out_source);
    edge = reference;
  }
  *out_source = source_of(b, edge);
  return NULL;
}

// The entry has no op: it only waits, as ControlTrigger does where nothing is dead.
static rheos_status *be_nothing(rheos__entry *d) {
  static const rheos__attrs no_attrs = {0};
  d->signature = rheos__signature_by_name("NoOp");
  d->attrs = &no_attrs;
  return d->signature != NULL ? NULL : rheos__out_of_memory();
}

// ---- Watches

// `level`: of what comes behind the source.
static rheos_status *add_watch(rheos__builder *b, int32_t number, rheos__source source,
                               int32_t level) {
  const rheos__watch *watch = &b->plan->context.watches->items[number];
  const rheos__node *node = rheos__graph_node(watch->graph, watch->edge.id);
  const rheos_dtype dtype = rheos_dtype_base(node->outputs[watch->edge.index].dtype);
  if (dtype == RHEOS_RESOURCE || dtype == RHEOS_VARIANT) return NULL;
  rheos__entry d = {.id = watch->edge.id,
                    .level = level,
                    .kind = RHEOS__ENTRY_WATCH,
                    .read_index = number,
                    .first_operand = (int32_t)b->num_sources,
                    .num_inputs = 1};
  RHEOS_TRY(be_nothing(&d));
  RHEOS_TRY(add_source(b, source));
  return add_draft(b, &d);
}

// Behind the node's entry. What a reference stands for is read when it is delivered.
static rheos_status *add_watches(rheos__builder *b, int32_t id, int32_t num_outputs) {
  const rheos__watches *watches = b->plan->context.watches;
  int32_t first, count;
  if (watches == NULL || rheos__builder_call_around(b, id) != NULL) return NULL;
  count = rheos__watches_of_node(watches, b->plan->graph, id, &first);
  for (int32_t i = first; i < first + count; ++i) {
    const int32_t number = watches->order[i];
    rheos__edge edge = watches->items[number].edge;
    if (edge.index >= num_outputs || rheos__plan_feed_of(b->plan, edge) >= 0) continue;
    const int32_t level = rheos__level_behind(draft_of(b, id));
    rheos__edge reference;
    if (rheos__builder_find_reference(b, edge, &reference)) edge = reference;
    if (rheos__builder_has(b, edge)) continue;
    RHEOS_TRY(add_watch(b, number, source_of(b, edge), level));
  }
  return NULL;
}

static rheos_status *add_watches_of_structure(rheos__builder *b, const rheos__structure *s) {
  if (s->kind == RHEOS__STRETCH) return NULL;  // its own plan has them
  for (int32_t i = 0; i < s->num_outputs; ++i) {
    const bool is_again = i > 0 && s->outputs[i].id == s->outputs[i - 1].id;
    if (!is_again) RHEOS_TRY(add_watches(b, s->outputs[i].id, 1));
  }
  return NULL;
}

rheos_status *rheos__builder_watch_feeds(rheos__builder *b) {
  const rheos__plan *plan = b->plan;
  const rheos__watches *watches = plan->context.watches;
  if (watches == NULL || plan->context.depth > 0) return NULL;
  for (int32_t i = 0; i < watches->count; ++i) {
    if (watches->items[i].graph != plan->graph) continue;
    const int32_t feed = rheos__plan_feed_of(plan, watches->items[i].edge);
    if (feed >= 0) RHEOS_TRY(add_watch(b, i, (rheos__source){-1, feed}, 0));
  }
  return NULL;
}

// ---- Control flow

bool rheos__builder_is_way_back(const rheos__builder *b, const rheos__node *node, int32_t input) {
  return (b->pass == RHEOS__FIND_FRAMES || b->pass == RHEOS__WITH_FRAMES) &&
         rheos__flow_is_way_back(b->plan->graph, node, input);
}

static rheos_status *add_way_back(rheos__builder *b, rheos__edge edge) {
  if (!RHEOS_RESERVE(b->ways_back, b->way_back_capacity, b->num_ways_back + 1)) {
    return rheos__out_of_memory();
  }
  b->ways_back[b->num_ways_back++] = (struct rheos__way_back){b->num_sources, edge};
  return NULL;
}

static rheos__flow_frame *frame_of(const rheos__builder *b, int32_t id) {
  assert(b->pass == RHEOS__WITH_FRAMES && b->frames.of_node[id] > 0);
  return &b->frames.items[b->frames.of_node[id] - 1];
}

int32_t rheos__builder_next_before_exit(const rheos__builder *b, const rheos__node *node,
                                        int32_t id) {
  if (b->pass != RHEOS__WITH_FRAMES || rheos__node_role(node) != RHEOS__FLOW_EXIT) return -1;
  rheos__flow_frame *frame = frame_of(b, id);
  while (frame->num_visited < frame->num_next_iterations) {
    const int32_t next = frame->next_iterations[frame->num_visited++];
    if (b->marks[next].state == 0) return next;
  }
  return -1;
}

// Nodes behind a loop come behind the writes in it.
static void count_loop_levels(const rheos__builder *b, rheos__entry *d, const rheos__node *node) {
  if (b->pass != RHEOS__WITH_FRAMES) return;
  rheos__flow_frame *frame = frame_of(b, d->id);
  if (rheos__node_role(node) == RHEOS__FLOW_EXIT && frame->level > d->level)
    d->level = frame->level;
  if (rheos__node_role(node) == RHEOS__FLOW_NEXT_ITERATION && d->level > frame->level) {
    frame->level = d->level;
  }
}

// ---- What was raised

static rheos_dtype *dtypes_of(const rheos__builder *b, const rheos__edge *edges, int32_t count) {
  rheos_dtype *dtypes = rheos__arena_alloc(&b->plan->arena, ((size_t)count + 1) * sizeof *dtypes);
  for (int32_t i = 0; dtypes != NULL && i < count; ++i) {
    const rheos__node *node = rheos__graph_node(b->plan->graph, edges[i].id);
    dtypes[i] = rheos_dtype_base(node->outputs[edges[i].index].dtype);
  }
  return dtypes;
}

static const char *name_of_op(const rheos__structure *s) {
  static const char *const names[][3] = {
      [RHEOS__CONDITIONAL] = {"_RaisedConditional", "_RaisedStatefulConditional",
                              "_RaisedStatelessConditional"},
      [RHEOS__LOOP] = {"_RaisedLoop", "_RaisedStatefulLoop", "_RaisedStatelessLoop"},
      [RHEOS__STRETCH] = {"_RaisedStretch", "_RaisedStatefulStretch", "_RaisedStatelessStretch"},
  };
  const int which = (s->effects & RHEOS_OP_WRITES) != 0 ? 0 : s->effects != 0 ? 1 : 2;
  return names[s->kind][which];
}

// The attributes of the op, all of which are lists of dtypes.
static rheos_status *make_attrs(const rheos__builder *b, const rheos__structure *s,
                                rheos__attrs **out_attrs) {
  const int32_t first = s->kind == RHEOS__CONDITIONAL ? 1 : 0, num_in = s->num_inputs - first;
  rheos__attrs *attrs =
      rheos__arena_alloc_zeroed(&b->plan->arena, sizeof *attrs + 2 * sizeof *attrs->items);
  rheos_dtype *in = dtypes_of(b, s->inputs + first, num_in);
  rheos_dtype *out = dtypes_of(b, s->outputs, s->num_outputs);
  if (attrs == NULL || in == NULL || out == NULL) return rheos__out_of_memory();
  attrs->count = 2;
  attrs->items[0] = rheos_attr_types("Tin", in, num_in);
  attrs->items[1] = rheos_attr_types("Tout", out, s->num_outputs);
  *out_attrs = attrs;
  return NULL;
}

rheos__edge rheos__structure_edge(const rheos__structure *s, int32_t i) {
  return i < s->num_inputs ? s->inputs[i] : (rheos__edge){s->waits[i - s->num_inputs], -1};
}

rheos_status *rheos__builder_finish_structure(rheos__builder *b, int32_t visited) {
  rheos__structure *s = rheos__builder_structure(b, visited);
  rheos__attrs *attrs = NULL;
  RHEOS_TRY(make_attrs(b, s, &attrs));
  rheos__entry d = {.signature = rheos__signature_by_name(name_of_op(s)),
                    .attrs = attrs,
                    .id = s->node,
                    .kind = RHEOS__ENTRY_NODE,
                    .num_inputs = s->num_inputs,
                    .num_outputs = s->num_outputs,
                    .first_wait = (int32_t)b->num_waits,
                    .structure = s};
  if (d.signature == NULL) return rheos__out_of_memory();
  for (int32_t i = 0; i < s->num_inputs + s->num_waits; ++i) {
    const rheos__edge edge = rheos__structure_edge(s, i);
    if (rheos__builder_has(b, edge)) continue;
    const int32_t level = rheos__level_behind(draft_of(b, edge.id));
    if (level > d.level) d.level = level;
    if (i >= s->num_inputs) RHEOS_TRY(add_wait(b, draft_number(b, edge.id)));
  }
  d.num_waits = (int32_t)b->num_waits - d.first_wait;
  for (int pass = 0; pass < 2; ++pass) {  // reads first, as of a node
    d.first_operand = (int32_t)b->num_sources;
    for (int32_t i = 0; i < s->num_inputs; ++i) {
      rheos__source at;
      RHEOS_TRY(rheos__builder_find_value(b, s->inputs[i], d.level, &at));
      if (pass == 1) RHEOS_TRY(add_source(b, at));
    }
  }
  b->marks[visited].state = 1 + (int32_t)b->num_drafts;
  s->next = b->plan->structures;
  b->plan->structures = s;
  RHEOS_TRY(add_draft(b, &d));
  return add_watches_of_structure(b, s);
}

// ---- Nodes

bool rheos__builder_may_wait(const rheos__builder *b, int32_t id) {
  if (rheos__builder_part(b, id) != RHEOS__PART_NODE || rheos__builder_call_around(b, id) != NULL)
    return false;
  const unsigned holds = rheos__node_holds(b->plan->graph, rheos__builder_node(b, id));
  if ((holds & RHEOS__HELD_BY_WAITING) != 0) return true;
  return holds != 0 && b->pass == RHEOS__WITH_FRAMES && rheos__builder_is_held_twice(b);
}

// Of a part of a call: it only waits.
static rheos_status *be_part(rheos__entry *d) {
  RHEOS_TRY(be_nothing(d));
  d->num_inputs = d->num_outputs = 0;
  return NULL;
}

rheos_status *rheos__builder_finish_node(rheos__builder *b, int32_t id) {
  const rheos__node *node = rheos__builder_node(b, id);
  rheos__entry d = {.signature = node->signature,
                    .attrs = node->attrs,
                    .id = id,
                    .kind = RHEOS__ENTRY_NODE,
                    .num_inputs = node->num_inputs,
                    .num_outputs = node->num_outputs,
                    .first_wait = (int32_t)b->num_waits,
                    .only_reads = b->marks[id].call == RHEOS__CALL_ONLY_READS,
                    .may_wait = rheos__builder_may_wait(b, id)};
  const bool is_straight = b->pass == RHEOS__RAISED || b->pass == RHEOS__WITHOUT_FLOW;
  if (is_straight && rheos__node_role(node) == RHEOS__FLOW_CONTROL_TRIGGER)
    RHEOS_TRY(be_nothing(&d));
  if (rheos__builder_part(b, id) != RHEOS__PART_NODE) RHEOS_TRY(be_part(&d));
  const int32_t count = rheos__builder_num_edges(b, id);
  for (int32_t i = 0; i < count; ++i) {
    rheos__edge edge;
    RHEOS_TRY(rheos__builder_edge(b, id, i, &edge));
    if (rheos__builder_has(b, edge) || rheos__builder_is_way_back(b, node, i)) continue;
    int32_t level = rheos__level_behind(draft_of(b, edge.id));
    if (level > d.level) d.level = level;
    if (i >= d.num_inputs) RHEOS_TRY(add_wait(b, draft_number(b, edge.id)));
  }
  d.num_waits = (int32_t)b->num_waits - d.first_wait;
  count_loop_levels(b, &d, node);
  assert(d.num_waits >= 0 && d.num_waits <= count - d.num_inputs);
  // Reads come into being before the node's own operands are laid down in a row.
  for (int pass = 0; pass < 2; ++pass) {
    d.first_operand = (int32_t)b->num_sources;
    for (int32_t i = 0; i < d.num_inputs; ++i) {
      rheos__edge edge;
      RHEOS_TRY(rheos__builder_edge(b, id, i, &edge));
      rheos__source s = {-1, 0};
      if (rheos__builder_is_way_back(b, node, i) && rheos__plan_feed_of(b->plan, edge) < 0) {
        if (pass == 1) RHEOS_TRY(add_way_back(b, edge));
      } else if (rheos__arg_of_input(node->signature, node->attrs, i)->is_ref &&
                 rheos__plan_feed_of(b->plan, edge) < 0) {
        s = source_of(b, edge);
      } else {
        RHEOS_TRY(rheos__builder_find_value(b, edge, d.level, &s));
      }
      if (pass == 1) RHEOS_TRY(add_source(b, s));
    }
  }
  assert(b->marks[id].state == RHEOS__MARK_ON_STACK &&
         b->num_sources - (size_t)d.first_operand == (size_t)d.num_inputs);
  b->marks[id].state = 1 + (int32_t)b->num_drafts;
  RHEOS_TRY(add_draft(b, &d));
  return add_watches(b, id, d.num_outputs);
}
