// From a signature to an order of work: prune, level, sort, number the values. Nothing here depends
// on shapes, and nothing recurses, so a chain of a million nodes is ordinary.
#include "plan/plan.h"

#include <assert.h>
#include <string.h>

#include "base/hash.h"
#include "graph/op_tally.h"
#include "plan/copies.h"
#include "plan/effects.h"
#include "plan/flow.h"
#include "plan/place.h"
#include "plan/prepare.h"
#include "plan/raise.h"
#include "plan/rewrite.h"
#include "plan/segment.h"
#include "resource/variable_shape.h"

enum { MARK_ON_STACK = -1, MARK_DONE = -2 };
enum { CALL_STAYS = -1, CALL_ONLY_READS = -2 };

// Of nodes of bodies, for each plan.
enum { MAX_INLINED_NODES = 1 << 16 };

typedef struct mark {  // of a node
  int32_t state;       // 0 not seen, MARK_ON_STACK, MARK_DONE, else 1 + its entry
  int32_t
      call;  // 0 not looked at, CALL_STAYS, CALL_ONLY_READS, else 1 + the inlined call that it is
} mark;

typedef struct source {  // where an operand comes from
  int32_t draft;         // the producer, or -1 for a feed
  int32_t index;         // its output, or the feed
} source;

typedef struct read_slot {
  rheos__edge edge;
  int32_t level;
  int32_t draft;  // -1: empty
} read_slot;

// With control flow there are more passes: one meets it, one finds the frames, one makes entries.
// RAISED, if control flow can be raised, makes entries of a straight plan.
typedef enum pass { WITHOUT_FLOW, FIND_FRAMES, RAISED, WITH_FRAMES } pass;

typedef struct builder {
  rheos__plan *plan;
  mark *marks;  // of nodes, then of structures or of what is inlined
  size_t mark_capacity;
  int32_t num_nodes;
  bool *is_target;  // by node
  struct visit {
    int32_t id, next;
  } *stack;
  size_t stack_capacity, stack_count;
  // Entries before the final order is known: their operands name producers, their waits name drafts.
  rheos__entry *drafts;
  size_t draft_capacity, num_drafts;
  source *sources;
  size_t source_capacity, num_sources;
  int32_t *waits;  // drafts
  size_t wait_capacity, num_waits;
  read_slot *reads;  // open addressing, a power of two
  size_t num_read_slots, num_reads;
  pass pass;
  bool has_flow;        // the needed nodes have control flow, or it is to be run as if they had
  int32_t num_waiting;  // of the needed nodes, those that may have to wait
  rheos__flow_frames frames;
  int32_t *order;  // needed nodes, as FIND_FRAMES has met them
  size_t order_capacity, num_order;
  rheos__raised raised;  // their marks lie behind those of the nodes
  bool has_cycle;        // met while raised: the plan stays on tokens
  int32_t *later;  // nodes from which loops go back: needed as soon as where they go back to is
  size_t later_capacity, num_later;
  struct way_back {  // an operand whose producer comes later
    size_t source;
    rheos__edge edge;
  } *ways_back;
  size_t way_back_capacity, num_ways_back;
} builder;

static void builder_deinit(builder *b) {
  rheos__free(b->marks);
  rheos__free(b->is_target);
  rheos__free(b->stack);
  rheos__free(b->drafts);
  rheos__free(b->sources);
  rheos__free(b->waits);
  rheos__free(b->reads);
  rheos__free(b->later);
  rheos__free(b->order);
  rheos__raised_deinit(&b->raised);
  rheos__free(b->ways_back);
  rheos__flow_frames_deinit(&b->frames);
}

// Feeds are few: a scan beats a table.
int32_t rheos__plan_feed_of(const rheos__plan *plan, rheos__edge edge) {
  for (int32_t i = 0; i < plan->num_feeds; ++i) {
    const rheos__edge *feed = &plan->feeds[i];
    if (feed->id == edge.id && (feed->index == edge.index || edge.index < 0)) return i;
  }
  return -1;
}

static int32_t feed_of(const builder *b, rheos__edge edge) {
  return rheos__plan_feed_of(b->plan, edge);
}

static void mark_done(builder *b) {
  const rheos__plan_context *context = &b->plan->context;
  for (int32_t i = 0; i < context->num_done; ++i) b->marks[context->done[i]].state = MARK_DONE;
}

// Whether nothing has to run for the edge.
static bool is_there(const builder *b, rheos__edge edge) {
  return feed_of(b, edge) >= 0 || b->marks[edge.id].state == MARK_DONE;
}

static const rheos__node *node_at(const builder *b, int32_t id) {
  return rheos__plan_node(b->plan, id);
}

// `id` may be that of a structure.
static rheos_status *push(builder *b, int32_t id) {
  if (!RHEOS_RESERVE(b->stack, b->stack_capacity, b->stack_count + 1))
    return rheos__out_of_memory();
  b->stack[b->stack_count++] = (struct visit){id, 0};
  b->marks[id].state = MARK_ON_STACK;
  return NULL;
}

// ---- What is inlined

static const rheos__inlined_call *call_around(const builder *b, int32_t id) {
  return rheos__inlined_call_of(b->plan->inlined, id);
}

// The call that the node is, if it is inlined.
static const rheos__inlined_call *inlined_at(const builder *b, int32_t id) {
  const int32_t call = b->marks[id].call;
  return call > 0 ? &b->plan->inlined->calls[call - 1] : NULL;
}

static int32_t beginning_of(const rheos__inlined_call *call) {
  return call->first + call->num_nodes;
}

// An edge of a body as one of the plan.
static rheos__edge edge_inside(const rheos__inlined_call *call, rheos__edge edge) {
  return (rheos__edge){call != NULL ? edge.id + call->first : edge.id, edge.index};
}

static rheos_status *add_later(builder *b, int32_t id) {
  if (!RHEOS_RESERVE(b->later, b->later_capacity, b->num_later + 1)) return rheos__out_of_memory();
  b->later[b->num_later++] = id;
  return NULL;
}

// What a call is given and waits for runs for its effects, though its body may not read it.
static rheos_status *add_inputs_later(builder *b, int32_t id) {
  const rheos__inlined_call *around = call_around(b, id);
  const rheos__node *node = node_at(b, id);
  for (int32_t i = 0; i < node->num_inputs + node->num_control_inputs; ++i) {
    const rheos__edge edge = edge_inside(around, node->edges[i]);
    const bool is_argument =
        around != NULL && rheos__argument_at(around->function, edge.id - around->first) >= 0;
    if (is_argument || is_there(b, edge)) continue;
    RHEOS_TRY(add_later(b, edge.id));
  }
  return NULL;
}

static rheos_status *inline_call(builder *b, int32_t id, const rheos__function *function) {
  rheos__inlined *inlined = b->plan->inlined;
  const rheos__inlined_call *call = rheos__inlined_add(inlined, id, function);
  const size_t count = call != NULL ? (size_t)inlined->end : 0;
  if (call == NULL || !RHEOS_RESERVE(b->marks, b->mark_capacity, count)) {
    return rheos__out_of_memory();
  }
  memset(b->marks + call->first, 0, (count - (size_t)call->first) * sizeof *b->marks);
  b->marks[id].call = (int32_t)inlined->num_calls;
  for (int32_t i = 0; i < function->num_targets; ++i) {
    RHEOS_TRY(add_later(b, call->first + function->targets[i]));
  }
  return add_inputs_later(b, id);
}

static bool inlines(const rheos__plan *plan) {
  return !plan->context.rewrites.disable_meta_optimizer &&
         plan->context.rewrites.function_optimization != RHEOS_TOGGLE_OFF &&
         plan->inlined->end - plan->inlined->first < MAX_INLINED_NODES;
}

static bool find_reference(const builder *b, rheos__edge edge, rheos__edge *out_reference);

// Whether it is given the value of a reference, which is read when it is called.
static bool reads_references(const builder *b, const rheos__node *node) {
  rheos__edge reference;
  for (int32_t i = 0; i < node->num_inputs; ++i) {
    if (find_reference(b, node->edges[i], &reference)) return true;
  }
  return false;
}

// Looks, once, at whether a node is a call that is inlined. A target is not: it runs though nobody takes
// what it gives.
static rheos_status *look_at_call(builder *b, int32_t id) {
  const rheos__node *node = node_at(b, id);
  if (b->pass != WITHOUT_FLOW || b->marks[id].call != 0 ||
      (node->signature->op->flags & RHEOS_OP_IS_CALL) == 0) {
    return NULL;
  }
  const rheos__inlined_call *around = call_around(b, id);
  if (around != NULL && id == beginning_of(around)) return NULL;
  rheos_graph *graph = around != NULL ? around->function->graph : b->plan->graph;
  const rheos__function *function = rheos__inlinable(b->plan, graph, node);
  if (function == NULL || (around == NULL && reads_references(b, node))) {
    b->marks[id].call = CALL_STAYS;
  } else if (!inlines(b->plan) || (around == NULL && b->is_target[id])) {
    b->marks[id].call = CALL_ONLY_READS;
  } else {
    return inline_call(b, id, function);
  }
  return NULL;
}

// What gives the value of a data edge: of an argument of an inlined body what the call was given, of an
// inlined call what its body gives, of a reference that a node gave before what that one took.
static rheos_status *resolve(builder *b, rheos__edge *edge) {
  while (edge->index >= 0) {
    const rheos__node *node = node_at(b, edge->id);
    const rheos__inlined_call *around = call_around(b, edge->id);
    const unsigned moves = RHEOS_OP_ARG | RHEOS_OP_PLACEHOLDER | RHEOS_OP_IS_CALL;
    const unsigned flags = node->signature->op->flags & moves;
    const bool is_done = b->marks[edge->id].state == MARK_DONE;
    if ((flags == 0 && !is_done) || feed_of(b, *edge) >= 0) return NULL;
    if (is_done) {
      assert(rheos_dtype_is_ref(node->outputs[edge->index].dtype) && node->num_inputs > 0);
      *edge = node->edges[0];
      continue;
    }
    if (around != NULL && (flags & RHEOS_OP_IS_CALL) == 0) {
      const int32_t index = rheos__argument_at(around->function, edge->id - around->first);
      assert(index >= 0);
      *edge = edge_inside(call_around(b, around->id), node_at(b, around->id)->edges[index]);
      continue;
    }
    RHEOS_TRY(look_at_call(b, edge->id));
    const rheos__inlined_call *call = inlined_at(b, edge->id);
    if (call == NULL) return NULL;
    *edge = edge_inside(call, call->function->results[edge->index]);
  }
  return look_at_call(b, edge->id);
}

typedef enum part { PART_NODE, PART_BEGINNING, PART_END } part;

// What of a call the id stands for; PART_NODE for other nodes.
static part part_of(const builder *b, int32_t id) {
  const rheos__inlined_call *around = call_around(b, id);
  if (around != NULL && id == beginning_of(around)) return PART_BEGINNING;
  return b->marks[id].call > 0 ? PART_END : PART_NODE;
}

// The inputs of a node, its control inputs behind the others; what a part of a call waits for.
static int32_t num_edges(const builder *b, int32_t id) {
  const part of = part_of(b, id);
  if (of == PART_END) {
    const rheos__function *function = inlined_at(b, id)->function;
    return 1 + function->num_results + function->num_targets;
  }
  const rheos__node *node = node_at(b, id);
  const int32_t count = node->num_inputs + node->num_control_inputs;
  const rheos__inlined_call *around = call_around(b, id);
  if (of == PART_BEGINNING) return count + (call_around(b, around->id) != NULL);
  return count + (around != NULL && (node->signature->op->flags & RHEOS_OP_STATEFUL) != 0);
}

static rheos__edge raw_edge(const builder *b, int32_t id, int32_t i) {
  const part of = part_of(b, id);
  const rheos__inlined_call *around = call_around(b, id);
  if (of == PART_END) {
    const rheos__inlined_call *call = inlined_at(b, id);
    const rheos__function *function = call->function;
    if (i == 0) return (rheos__edge){beginning_of(call), -1};
    if (i <= function->num_results) return edge_inside(call, function->results[i - 1]);
    return (rheos__edge){call->first + function->targets[i - 1 - function->num_results], -1};
  }
  const rheos__node *node = node_at(b, id);
  if (of == PART_BEGINNING) around = call_around(b, around->id);
  if (i < node->num_inputs + node->num_control_inputs) return edge_inside(around, node->edges[i]);
  return (rheos__edge){beginning_of(around), -1};
}

// What the inputs are by now. Where only a wait is left of one, its index is -1.
static rheos_status *edge_at(builder *b, int32_t id, int32_t i, rheos__edge *out_edge) {
  *out_edge = raw_edge(b, id, i);
  RHEOS_TRY(resolve(b, out_edge));
  if (part_of(b, id) != PART_NODE && !is_there(b, *out_edge)) out_edge->index = -1;
  return NULL;
}

// What is visited for a node: itself, or the structure that took it, which has a number behind all nodes.
static int32_t visited_for(const builder *b, int32_t id) {
  if (b->pass != RAISED || id >= b->num_nodes || b->raised.of_node[id] == 0) return id;
  return b->num_nodes + b->raised.of_node[id] - 1;
}

static rheos__structure *structure_at(const builder *b, int32_t visited) {
  return b->pass == RAISED && visited >= b->num_nodes ? b->raised.structures[visited - b->num_nodes]
                                                      : NULL;
}

static int32_t draft_number(const builder *b, int32_t id) {
  return b->marks[visited_for(b, id)].state - 1;
}

static const rheos__entry *draft_of(const builder *b, int32_t id) {
  return &b->drafts[draft_number(b, id)];
}

static source source_of(const builder *b, rheos__edge edge) {
  const bool is_raised = visited_for(b, edge.id) != edge.id;
  return (source){draft_number(b, edge.id), is_raised ? b->raised.output_of[edge.id] : edge.index};
}

static bool grow_reads(builder *b) {
  size_t larger = b->num_read_slots != 0 ? b->num_read_slots * 2 : 64;
  read_slot *slots = rheos__alloc_array(larger, sizeof *slots);
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
static rheos_status *add_draft(builder *b, const rheos__entry *d) {
  enum { MANY = 1 << 16 };
  size_t least = b->num_drafts + 1;
  if (least > MANY && least < (size_t)b->num_nodes) least = (size_t)b->num_nodes;
  if (!RHEOS_RESERVE(b->drafts, b->draft_capacity, least)) return rheos__out_of_memory();
  b->drafts[b->num_drafts++] = *d;
  return NULL;
}

static rheos_status *add_source(builder *b, source s) {
  if (!RHEOS_RESERVE(b->sources, b->source_capacity, b->num_sources + 1)) {
    return rheos__out_of_memory();
  }
  b->sources[b->num_sources++] = s;
  return NULL;
}

static rheos_status *add_wait(builder *b, int32_t awaited) {
  if (!RHEOS_RESERVE(b->waits, b->wait_capacity, b->num_waits + 1)) return rheos__out_of_memory();
  b->waits[b->num_waits++] = awaited;
  return NULL;
}

// The entry that reads the value behind the reference `edge` for consumers of `level`; made, before
// its first consumer, if there is none yet.
static rheos_status *find_read(builder *b, rheos__edge edge, int32_t level, source *out_source) {
  if (b->num_reads * 2 >= b->num_read_slots && !grow_reads(b)) return rheos__out_of_memory();
  size_t at = rheos__hash_mix((uint64_t)edge.id, (uint64_t)level) & (b->num_read_slots - 1);
  for (; b->reads[at].draft >= 0; at = (at + 1) & (b->num_read_slots - 1)) {
    const read_slot *slot = &b->reads[at];
    if (slot->edge.id == edge.id && slot->edge.index == edge.index && slot->level == level) {
      *out_source = (source){slot->draft, 0};
      return NULL;
    }
  }
  const rheos__node *node = node_at(b, edge.id);
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
  RHEOS_TRY(add_source(b, (source){b->marks[edge.id].state - 1, edge.index}));
  b->reads[at] = (read_slot){edge, level, (int32_t)b->num_drafts};
  ++b->num_reads;
  *out_source = (source){(int32_t)b->num_drafts, 0};
  return add_draft(b, &read);
}

// If `edge` is a reference, or the plain read node of one, gives that reference.
static bool find_reference(const builder *b, rheos__edge edge, rheos__edge *out_reference) {
  if (call_around(b, edge.id) != NULL) return false;  // bodies that are inlined have none
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
    if (is_there(b, edge)) return false;
    node = rheos__graph_node(b->plan->graph, edge.id);
    if (rheos_dtype_is_ref(node->outputs[edge.index].dtype)) {
      *out_reference = edge;
      return true;
    }
  }
  return false;
}

// The source of an ordinary input or fetch of level `level`.
static rheos_status *find_value(builder *b, rheos__edge edge, int32_t level, source *out_source) {
  int32_t feed = feed_of(b, edge);
  if (feed >= 0) {
    *out_source = (source){-1, feed};
    return NULL;
  }
  rheos__edge reference;
  if (find_reference(b, edge, &reference)) {
    // With control flow the consumer reads, when it runs.
    if (b->pass != WITH_FRAMES) return find_read(b, reference, level, out_source);
    edge = reference;
  }
  *out_source = source_of(b, edge);
  return NULL;
}

// ---- Control flow

static rheos__flow_role role_of(const rheos__node *node) { return node->signature->op->flow; }

static bool is_way_back(const builder *b, const rheos__node *node, int32_t input) {
  return (b->pass == FIND_FRAMES || b->pass == WITH_FRAMES) &&
         rheos__flow_is_way_back(b->plan->graph, node, input);
}

static rheos_status *add_way_back(builder *b, rheos__edge edge) {
  if (!RHEOS_RESERVE(b->ways_back, b->way_back_capacity, b->num_ways_back + 1)) {
    return rheos__out_of_memory();
  }
  b->ways_back[b->num_ways_back++] = (struct way_back){b->num_sources, edge};
  return NULL;
}

static rheos__flow_frame *frame_of(const builder *b, int32_t id) {
  assert(b->pass == WITH_FRAMES && b->frames.of_node[id] > 0);
  return &b->frames.items[b->frames.of_node[id] - 1];
}

// What an Exit comes behind, though it does not wait for it: what leads to the next trip, one by one.
static int32_t next_before_exit(const builder *b, const rheos__node *node, int32_t id) {
  if (b->pass != WITH_FRAMES || role_of(node) != RHEOS__FLOW_EXIT) return -1;
  rheos__flow_frame *frame = frame_of(b, id);
  while (frame->num_visited < frame->num_next_iterations) {
    const int32_t next = frame->next_iterations[frame->num_visited++];
    if (b->marks[next].state == 0) return next;
  }
  return -1;
}

// Nodes behind a loop come behind the writes in it.
static void count_loop_levels(const builder *b, rheos__entry *d, const rheos__node *node) {
  if (b->pass != WITH_FRAMES) return;
  rheos__flow_frame *frame = frame_of(b, d->id);
  if (role_of(node) == RHEOS__FLOW_EXIT && frame->level > d->level) d->level = frame->level;
  if (role_of(node) == RHEOS__FLOW_NEXT_ITERATION && d->level > frame->level) {
    frame->level = d->level;
  }
}

// ---- What was raised

// Where nothing is dead, ControlTrigger only waits.
static rheos_status *be_nothing(rheos__entry *d) {
  static const rheos__attrs no_attrs = {0};
  d->signature = rheos__signature_by_name("NoOp");
  d->attrs = &no_attrs;
  return d->signature != NULL ? NULL : rheos__out_of_memory();
}

static rheos_dtype *dtypes_of(const builder *b, const rheos__edge *edges, int32_t count) {
  rheos_dtype *dtypes = rheos__arena_alloc(&b->plan->arena, ((size_t)count + 1) * sizeof *dtypes);
  for (int32_t i = 0; dtypes != NULL && i < count; ++i) {
    const rheos__node *node = rheos__graph_node(b->plan->graph, edges[i].id);
    dtypes[i] = rheos_dtype_base(node->outputs[edges[i].index].dtype);
  }
  return dtypes;
}

static const char *name_of_op(const rheos__structure *s) {
  if ((s->effects & RHEOS_OP_WRITES) != 0) return s->is_loop ? "_RaisedLoop" : "_RaisedConditional";
  if (s->effects != 0) return s->is_loop ? "_RaisedStatefulLoop" : "_RaisedStatefulConditional";
  return s->is_loop ? "_RaisedStatelessLoop" : "_RaisedStatelessConditional";
}

// The attributes of the op, all of which are lists of dtypes.
static rheos_status *make_attrs(const builder *b, const rheos__structure *s,
                                rheos__attrs **out_attrs) {
  const int32_t first = s->is_loop ? 0 : 1, num_in = s->num_inputs - first;
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

// What has to be visited before a structure: its inputs, then what it waits for.
static rheos__edge edge_of(const rheos__structure *s, int32_t i) {
  return i < s->num_inputs ? s->inputs[i] : (rheos__edge){s->waits[i - s->num_inputs], -1};
}

static rheos_status *finish_structure(builder *b, int32_t visited) {
  rheos__structure *s = structure_at(b, visited);
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
    const rheos__edge edge = edge_of(s, i);
    if (is_there(b, edge)) continue;
    const int32_t level = rheos__level_behind(draft_of(b, edge.id));
    if (level > d.level) d.level = level;
    if (i >= s->num_inputs) RHEOS_TRY(add_wait(b, draft_number(b, edge.id)));
  }
  d.num_waits = (int32_t)b->num_waits - d.first_wait;
  for (int pass = 0; pass < 2; ++pass) {  // reads first, as of a node
    d.first_operand = (int32_t)b->num_sources;
    for (int32_t i = 0; i < s->num_inputs; ++i) {
      source at;
      RHEOS_TRY(find_value(b, s->inputs[i], d.level, &at));
      if (pass == 1) RHEOS_TRY(add_source(b, at));
    }
  }
  b->marks[visited].state = 1 + (int32_t)b->num_drafts;
  s->next = b->plan->structures;
  b->plan->structures = s;
  return add_draft(b, &d);
}

// ---- Nodes

// What is inlined waits for nothing.
static bool may_wait(const builder *b, int32_t id) {
  if (part_of(b, id) != PART_NODE || call_around(b, id) != NULL) return false;
  return rheos__node_may_wait(b->plan->graph, node_at(b, id));
}

// Of a part of a call: it only waits.
static rheos_status *be_part(rheos__entry *d) {
  RHEOS_TRY(be_nothing(d));
  d->num_inputs = d->num_outputs = 0;
  return NULL;
}

// All inputs of the node have drafts: makes its own.
static rheos_status *finish_node(builder *b, int32_t id) {
  const rheos__node *node = node_at(b, id);
  rheos__entry d = {.signature = node->signature,
                    .attrs = node->attrs,
                    .id = id,
                    .kind = RHEOS__ENTRY_NODE,
                    .num_inputs = node->num_inputs,
                    .num_outputs = node->num_outputs,
                    .first_wait = (int32_t)b->num_waits,
                    .only_reads = b->marks[id].call == CALL_ONLY_READS,
                    .may_wait = may_wait(b, id)};
  if (b->pass == RAISED && role_of(node) == RHEOS__FLOW_CONTROL_TRIGGER) RHEOS_TRY(be_nothing(&d));
  if (part_of(b, id) != PART_NODE) RHEOS_TRY(be_part(&d));
  const int32_t count = num_edges(b, id);
  for (int32_t i = 0; i < count; ++i) {
    rheos__edge edge;
    RHEOS_TRY(edge_at(b, id, i, &edge));
    if (is_there(b, edge) || is_way_back(b, node, i)) continue;
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
      RHEOS_TRY(edge_at(b, id, i, &edge));
      source s = {-1, 0};
      if (is_way_back(b, node, i) && feed_of(b, edge) < 0) {
        if (pass == 1) RHEOS_TRY(add_way_back(b, edge));
      } else if (rheos__arg_of_input(node->signature, node->attrs, i)->is_ref &&
                 feed_of(b, edge) < 0) {
        s = source_of(b, edge);
      } else {
        RHEOS_TRY(find_value(b, edge, d.level, &s));
      }
      if (pass == 1) RHEOS_TRY(add_source(b, s));
    }
  }
  assert(b->marks[id].state == MARK_ON_STACK &&
         b->num_sources - (size_t)d.first_operand == (size_t)d.num_inputs);
  b->marks[id].state = 1 + (int32_t)b->num_drafts;
  return add_draft(b, &d);
}

static bool can_run(const rheos__plan *plan, const rheos__node *node) {
  const rheos__plan_context *context = &plan->context;
  if (rheos__runs_by_itself(node->signature->op)) return true;  // on the CPU
  for (int32_t i = 0; i < context->num_devices; ++i) {
    if (context->devices[i]->kind->has_kernel(node->signature->op, node->attrs)) return true;
  }
  return false;
}

// All ops without a kernel that `root` needs, in one message.
static rheos_status *report_missing(builder *b, int32_t root) {
  const rheos_graph *graph = b->plan->graph;
  rheos__op_tally missing = {0};
  rheos_status *status = NULL;
  b->pass = WITH_FRAMES;  // bodies have no such ops: calls stay
  memset(b->marks, 0, (size_t)b->num_nodes * sizeof *b->marks);
  mark_done(b);
  b->stack_count = 0;
  status = push(b, root);
  while (status == NULL && b->stack_count > 0) {
    const int32_t id = b->stack[--b->stack_count].id;
    const rheos__node *node = rheos__graph_node(graph, id);
    if (!can_run(b->plan, node)) {
      char *name = rheos__node_name(graph, node);
      status = name != NULL ? rheos__op_tally_add(&missing, node->signature->op->name, name)
                            : rheos__out_of_memory();
      rheos__free(name);
    }
    for (int32_t i = 0; status == NULL && i < node->num_inputs + node->num_control_inputs; ++i) {
      rheos__edge edge = node->edges[i];
      status = resolve(b, &edge);
      if (status != NULL || is_there(b, edge) || b->marks[edge.id].state != 0) continue;
      status = push(b, edge.id);
    }
  }
  char text[2048];
  rheos__op_tally_text(&missing, text, sizeof text);
  rheos__op_tally_deinit(&missing);
  if (status != NULL) return status;
  status = rheos_status_new(RHEOS_UNIMPLEMENTED, "no kernel for %s", text);
  return rheos__status_at_take(status, graph, root);
}

// A node all of whose inputs have been visited.
static rheos_status *finish(builder *b, int32_t id) {
  if (structure_at(b, id) != NULL) return finish_structure(b, id);
  if (b->pass != FIND_FRAMES) return finish_node(b, id);
  RHEOS_TRY(rheos__flow_frames_add(&b->frames, b->plan, id));
  if (!RHEOS_RESERVE(b->order, b->order_capacity, b->num_order + 1)) return rheos__out_of_memory();
  b->order[b->num_order++] = id;
  b->marks[id].state = 1;
  return NULL;
}

// The next edge to visit of what is on top of the stack; `*out_any` is false if there is none left.
static rheos_status *next_edge(builder *b, struct visit *top, bool *out_any, rheos__edge *out_edge,
                               bool *out_back) {
  *out_back = false;
  const rheos__structure *s = structure_at(b, top->id);
  *out_any = top->next < (s != NULL ? s->num_inputs + s->num_waits : num_edges(b, top->id));
  if (!*out_any) return NULL;
  const int32_t i = top->next++;
  if (s != NULL) {
    *out_edge = edge_of(s, i);
    return NULL;
  }
  *out_back = is_way_back(b, node_at(b, top->id), i);
  return edge_at(b, top->id, i, out_edge);
}

// All that is before the top of the stack has been visited.
static rheos_status *leave(builder *b) {
  const int32_t id = b->stack[b->stack_count - 1].id;
  if (structure_at(b, id) == NULL) {
    const int32_t before = next_before_exit(b, node_at(b, id), id);
    if (before >= 0) return push(b, before);
  }
  RHEOS_TRY(finish(b, id));
  --b->stack_count;
  return NULL;
}

static rheos_status *visit_from(builder *b, int32_t root) {
  if (b->marks[visited_for(b, root)].state != 0) return NULL;
  RHEOS_TRY(push(b, visited_for(b, root)));
  while (b->stack_count > 0 && !b->has_cycle) {
    struct visit *top = &b->stack[b->stack_count - 1];
    if (structure_at(b, top->id) == NULL) {
      const rheos__node *node = node_at(b, top->id);
      const bool is_own = call_around(b, top->id) == NULL;  // those of bodies were looked at
      if (is_own && !can_run(b->plan, node)) {
        return report_missing(b, rheos__inlined_outermost(b->plan->inlined, root));
      }
      // One op that waits is run last of what does not need it; of several, each may wait for what the
      // others lead to.
      if (top->next == 0 && may_wait(b, top->id)) ++b->num_waiting;
      b->has_flow = b->has_flow || role_of(node) != RHEOS__FLOW_NONE || b->num_waiting > 1;
      if (b->has_flow && b->pass == WITHOUT_FLOW) return NULL;
    }
    rheos__edge edge;
    bool any, is_back;
    RHEOS_TRY(next_edge(b, top, &any, &edge, &is_back));
    if (!any) {
      RHEOS_TRY(leave(b));
      continue;
    }
    if (is_there(b, edge)) continue;
    if (is_back) {
      RHEOS_TRY(add_later(b, edge.id));
      continue;
    }
    const int32_t next = visited_for(b, edge.id);
    if (b->marks[next].state == MARK_ON_STACK) {
      b->has_cycle = true;  // of nodes, or of what was raised together
      if (b->pass == RAISED) return NULL;
      return rheos__plan_status_at_take(RHEOS_INVALID("the graph has a cycle through this node"),
                                        b->plan, edge.id);
    }
    if (b->marks[next].state == 0) RHEOS_TRY(push(b, next));
  }
  return NULL;
}

// Stable order by (level, writes last): a counting sort. order[k] is the draft at place k.
static rheos_status *sort_drafts(const builder *b, int32_t *order) {
  int32_t num_levels = 1;
  for (size_t i = 0; i < b->num_drafts; ++i) {
    if (b->drafts[i].level >= num_levels) num_levels = b->drafts[i].level + 1;
  }
  int32_t *starts =
      rheos__alloc_array((size_t)num_levels * RHEOS__PLACES_OF_LEVEL + 1, sizeof *starts);
  if (starts == NULL) return rheos__out_of_memory();
  for (size_t i = 0; i < b->num_drafts; ++i) {
    ++starts[rheos__place_in_order(&b->drafts[i]) + 1];
  }
  for (int32_t i = 0; i < num_levels * RHEOS__PLACES_OF_LEVEL; ++i) starts[i + 1] += starts[i];
  for (size_t i = 0; i < b->num_drafts; ++i) {
    order[starts[rheos__place_in_order(&b->drafts[i])]++] = (int32_t)i;
  }
  rheos__free(starts);
  return NULL;
}

static int32_t value_of(const builder *b, source s) {
  assert(s.draft < (int32_t)b->num_drafts);
  assert(s.index >= 0 &&
         s.index < (s.draft < 0 ? b->plan->num_feeds : b->drafts[s.draft].num_outputs));
  return s.draft < 0 ? s.index : b->drafts[s.draft].first_value + s.index;
}

// Which output of the graph each value is, and its dtype.
static rheos_status *describe_values(rheos__plan *plan) {
  plan->origins = rheos__alloc_array((size_t)plan->num_values, sizeof *plan->origins);
  plan->dtypes = rheos__alloc_array((size_t)plan->num_values, sizeof *plan->dtypes);
  if (plan->origins == NULL || plan->dtypes == NULL) return rheos__out_of_memory();
  for (int32_t i = 0; i < plan->num_feeds; ++i) {
    const rheos__node *node = rheos__graph_node(plan->graph, plan->feeds[i].id);
    assert(plan->feeds[i].index >= 0 && plan->feeds[i].index < node->num_outputs);
    plan->origins[i] = plan->feeds[i];
    plan->dtypes[i] = (uint8_t)rheos_dtype_base(node->outputs[plan->feeds[i].index].dtype);
  }
  for (int32_t i = 0; i < plan->num_entries; ++i) {
    const rheos__entry *entry = &plan->entries[i];
    const bool is_read = entry->kind == RHEOS__ENTRY_READ;
    for (int32_t k = 0; k < entry->num_outputs; ++k) {
      const rheos__edge origin = entry->structure != NULL
                                     ? entry->structure->outputs[k]
                                     : (rheos__edge){entry->id, is_read ? entry->read_index : k};
      const rheos__node *node = rheos__plan_node(plan, origin.id);
      assert(origin.index < node->num_outputs && entry->first_value + k < plan->num_values);
      const rheos_dtype dtype = node->outputs[origin.index].dtype;
      plan->origins[entry->first_value + k] = origin;
      plan->dtypes[entry->first_value + k] = (uint8_t)(is_read ? rheos_dtype_base(dtype) : dtype);
    }
  }
  return NULL;
}

// The waits, which name drafts, for the plan, where they name entries. `order` becomes the table from
// drafts to entries.
static rheos_status *take_waits(builder *b, int32_t *order) {
  rheos__plan *plan = b->plan;
  if (b->num_waits == 0) return NULL;
  int32_t *places = rheos__alloc_array(b->num_drafts, sizeof *places);
  if (places == NULL) return rheos__out_of_memory();
  for (size_t i = 0; i < b->num_drafts; ++i) {
    assert(order[i] >= 0 && (size_t)order[i] < b->num_drafts);
    places[order[i]] = (int32_t)i;
  }
  for (size_t i = 0; i < b->num_waits; ++i) b->waits[i] = places[b->waits[i]];
  rheos__free(places);
  plan->waits = b->waits;
  plan->num_waits = (int32_t)b->num_waits;
  b->waits = NULL;
  return NULL;
}

// Lays the drafts down in their order and numbers the values.
static rheos_status *lay_down(builder *b, const source *fetches) {
  rheos__plan *plan = b->plan;
  plan->num_entries = (int32_t)b->num_drafts;
  plan->entries = rheos__alloc_array(b->num_drafts, sizeof *plan->entries);
  plan->operands = rheos__alloc_array(b->num_sources, sizeof *plan->operands);
  plan->fetch_values = rheos__alloc_array((size_t)plan->num_fetches, sizeof *plan->fetch_values);
  int32_t *order = rheos__alloc_array(b->num_drafts, sizeof *order);
  if (plan->entries == NULL || plan->operands == NULL || plan->fetch_values == NULL ||
      order == NULL) {
    rheos__free(order);
    return rheos__out_of_memory();
  }
  rheos_status *status = sort_drafts(b, order);
  plan->num_values = plan->num_feeds;
  for (int32_t i = 0; status == NULL && i < plan->num_entries; ++i) {
    rheos__entry *d = &b->drafts[order[i]];
    d->first_value = plan->num_values;
    plan->num_values += d->num_outputs;
    plan->entries[i] = *d;
  }
  if (status == NULL) status = take_waits(b, order);
  rheos__free(order);
  RHEOS_TRY(status);
  for (size_t i = 0; i < b->num_sources; ++i) plan->operands[i] = value_of(b, b->sources[i]);
  for (int32_t i = 0; i < plan->num_fetches; ++i) plan->fetch_values[i] = value_of(b, fetches[i]);
  return describe_values(plan);
}

static rheos_status *find_last_uses(rheos__plan *plan) {
  plan->last_uses = rheos__alloc_array((size_t)plan->num_values, sizeof *plan->last_uses);
  if (plan->last_uses == NULL) return rheos__out_of_memory();
  for (int32_t i = 0; i < plan->context.num_devices; ++i) {
    const int32_t operands = plan->context.devices[i]->kind->max_operands;
    if (operands > plan->max_operands) plan->max_operands = operands;
  }
  for (int32_t i = 0; i < plan->num_entries; ++i) {
    const rheos__entry *entry = &plan->entries[i];
    assert(entry->kind != RHEOS__ENTRY_DROPPED);
    int32_t operands = entry->num_inputs + entry->num_outputs;
    if (operands > plan->max_operands) plan->max_operands = operands;
    for (int32_t k = 0; k < entry->num_inputs; ++k) {
      plan->last_uses[plan->operands[entry->first_operand + k]] = i;
    }
  }
  for (int32_t i = 0; i < plan->num_fetches; ++i) {
    plan->last_uses[plan->fetch_values[i]] = INT32_MAX;
  }
  return NULL;
}

// The level after all writes: where a variable is read that is itself fetched.
static int32_t level_of_end(const builder *b) {
  int32_t end = 0;
  for (size_t i = 0; i < b->num_drafts; ++i) {
    int32_t level = rheos__level_behind(&b->drafts[i]);
    if (level > end) end = level;
  }
  return end;
}

// All that is needed, in one pass.
static rheos_status *visit_all(builder *b, const int32_t *targets, int32_t num_targets) {
  const rheos__plan *plan = b->plan;
  for (int32_t i = 0; i < plan->num_fetches; ++i) {
    rheos__edge edge = plan->fetches[i];
    RHEOS_TRY(resolve(b, &edge));
    if (!is_there(b, edge)) RHEOS_TRY(visit_from(b, edge.id));
  }
  for (int32_t i = 0; i < num_targets; ++i) {
    RHEOS_TRY(look_at_call(b, targets[i]));
    RHEOS_TRY(visit_from(b, targets[i]));
  }
  if (b->has_cycle) return NULL;
  while (b->num_later > 0) {
    const int32_t id = b->later[--b->num_later];
    RHEOS_TRY(look_at_call(b, id));
    RHEOS_TRY(visit_from(b, id));
  }
  return NULL;
}

static void begin_pass(builder *b, pass pass) {
  rheos__inlined_clear(b->plan->inlined);
  memset(b->marks, 0, (size_t)(b->num_nodes + b->raised.count) * sizeof *b->marks);
  b->pass = pass;
  b->stack_count = b->num_drafts = b->num_sources = b->num_waits = b->num_later = 0;
  for (size_t i = 0; i < b->num_read_slots; ++i) b->reads[i].draft = -1;
  b->num_reads = 0;
  mark_done(b);
}

// Tries to do without: `has_flow` is false where all of it was raised.
static rheos_status *visit_raised(builder *b, const int32_t *targets, int32_t num_targets) {
  RHEOS_TRY(rheos__raise(b->plan, &b->frames, b->order, (int32_t)b->num_order, targets, num_targets,
                         &b->raised));
  if (b->raised.count == 0) return NULL;
  if (!RHEOS_RESERVE(b->marks, b->mark_capacity, (size_t)(b->num_nodes + b->raised.count))) {
    return rheos__out_of_memory();
  }
  begin_pass(b, RAISED);
  RHEOS_TRY(visit_all(b, targets, num_targets));
  b->has_flow = b->has_cycle;
  b->has_cycle = false;
  if (b->has_flow) {
    b->plan->structures = NULL;
    rheos__raised_deinit(&b->raised);
  }
  return NULL;
}

// The passes of a plan with control flow, after one has met it.
static rheos_status *visit_flow(builder *b, const int32_t *targets, int32_t num_targets) {
  begin_pass(b, FIND_FRAMES);
  RHEOS_TRY(rheos__flow_frames_init(&b->frames, b->num_nodes));
  RHEOS_TRY(visit_all(b, targets, num_targets));
  for (int32_t i = 0; i < b->num_nodes; ++i) {
    if (b->frames.of_node[i] != 0) RHEOS_TRY(rheos__flow_frames_check(&b->frames, b->plan, i));
  }
  RHEOS_TRY(visit_raised(b, targets, num_targets));
  if (!b->has_flow) return NULL;
  begin_pass(b, WITH_FRAMES);
  RHEOS_TRY(visit_all(b, targets, num_targets));
  for (size_t i = 0; i < b->num_ways_back; ++i) {
    const struct way_back *way = &b->ways_back[i];
    b->sources[way->source] = (source){b->marks[way->edge.id].state - 1, way->edge.index};
  }
  return NULL;
}

static rheos_status *build(builder *b, const int32_t *targets, int32_t num_targets) {
  rheos__plan *plan = b->plan;
  b->num_nodes = rheos_graph_num_operations(plan->graph);
  b->mark_capacity = (size_t)b->num_nodes;
  b->marks = rheos__alloc_array(b->mark_capacity, sizeof *b->marks);
  b->is_target = rheos__alloc_array((size_t)b->num_nodes, sizeof *b->is_target);
  plan->inlined = rheos__inlined_new(b->num_nodes);
  source *fetches = rheos__alloc_array((size_t)plan->num_fetches, sizeof *fetches);
  rheos_status *status = NULL;
  if (b->marks == NULL || b->is_target == NULL || plan->inlined == NULL || fetches == NULL) {
    status = rheos__out_of_memory();
  }
  for (int32_t i = 0; status == NULL && i < num_targets; ++i) b->is_target[targets[i]] = true;
  if (status == NULL) mark_done(b);
  if (status == NULL) status = visit_all(b, targets, num_targets);
  if (status == NULL && b->has_flow) status = visit_flow(b, targets, num_targets);
  plan->may_wait = b->num_waiting > 0;
  int32_t end = level_of_end(b);
  for (int32_t i = 0; status == NULL && i < plan->num_fetches; ++i) {
    rheos__edge edge = plan->fetches[i];
    status = resolve(b, &edge);
    if (status == NULL) status = find_value(b, edge, end, &fetches[i]);
  }
  if (status == NULL) status = lay_down(b, fetches);
  if (status == NULL && b->has_flow) status = rheos__flow_new(plan, &b->frames, &plan->flow);
  rheos__free(fetches);
  return status;
}

// What follows of a plan without control flow.
static rheos_status *make_straight(rheos__plan *plan, const int32_t *targets, int32_t num_targets) {
  rheos__plan_check(plan);
  RHEOS_TRY(rheos__rewrite(plan, targets, num_targets));
  RHEOS_TRY(rheos__insert_copies(plan));
  rheos__plan_check(plan);
  RHEOS_TRY(find_last_uses(plan));
  return rheos__find_effects(plan);
}

// What follows of one with control flow: all of it runs in the host's memory.
static rheos_status *make_flow(rheos__plan *plan) {
  for (int32_t i = 0; i < plan->num_entries; ++i) {
    rheos__entry *entry = &plan->entries[i];
    if (!rheos__entry_device(plan, entry)->kind->uses_host_memory) entry->device = 0;
  }
  plan->is_mixed = false;
  return find_last_uses(plan);
}

// Of all that a plan has looked at and that may change after it was made; it only grows.
static int64_t count_changes(const rheos_graph *graph, const rheos__resources *resources) {
  return rheos__graph_num_changes(graph) + rheos__num_variables_of_any_shape(resources);
}

bool rheos__plan_is_current(const rheos__plan *plan) {
  return plan->num_changes == count_changes(plan->graph, plan->context.resources);
}

rheos_status *rheos__plan_new(rheos_graph *graph, const rheos__plan_context *context,
                              const rheos__edge *feeds, int32_t num_feeds,
                              const rheos__edge *fetches, int32_t num_fetches,
                              const int32_t *targets, int32_t num_targets, rheos__plan **out_plan) {
  *out_plan = NULL;
  rheos__plan *plan = rheos__alloc_zeroed(sizeof *plan);
  if (plan == NULL) return rheos__out_of_memory();
  pthread_mutex_init(&plan->mutex, NULL);
  rheos__arena_init(&plan->arena);
  plan->graph = rheos_graph_ref(graph);
  plan->context = *context;
  plan->num_feeds = num_feeds;
  plan->num_fetches = num_fetches;
  plan->feeds = rheos__alloc_array((size_t)num_feeds, sizeof *feeds);
  plan->fetches = rheos__alloc_array((size_t)num_fetches, sizeof *fetches);
  rheos_status *status = NULL;
  rheos__graph_begin_reading(graph);
  plan->num_changes = count_changes(graph, context->resources);
  if (plan->feeds == NULL || plan->fetches == NULL) {
    status = rheos__out_of_memory();
  } else {
    if (num_feeds > 0) memcpy(plan->feeds, feeds, (size_t)num_feeds * sizeof *feeds);
    if (num_fetches > 0) memcpy(plan->fetches, fetches, (size_t)num_fetches * sizeof *fetches);
    builder b = {.plan = plan};
    status = build(&b, targets, num_targets);
    builder_deinit(&b);
    plan->context.done = NULL;
    plan->context.num_done = 0;
  }
  if (status == NULL) status = rheos__place(plan);
  if (status == NULL) {
    status = plan->flow != NULL ? make_flow(plan) : make_straight(plan, targets, num_targets);
  }
  rheos__graph_end_reading(graph);
  if (status != NULL) {
    rheos__plan_free(plan);
    return status;
  }
  *out_plan = plan;
  return NULL;
}

int32_t rheos__plan_producer(const rheos__plan *plan, int32_t value) {
  assert(value >= 0 && value < plan->num_values);
  if (value < plan->num_feeds) return -1;
  int32_t first = 0, end = plan->num_entries;
  while (end - first > 1) {  // entries are in the order of their values
    const int32_t middle = first + (end - first) / 2;
    if (plan->entries[middle].first_value <= value) {
      first = middle;
    } else {
      end = middle;
    }
  }
  while (plan->entries[first].num_outputs == 0) --first;  // shares its first value with the next
  assert(value - plan->entries[first].first_value < plan->entries[first].num_outputs);
  return first;
}

void rheos__plan_free(rheos__plan *plan) {
  if (plan == NULL) return;
  rheos__workspaces_free(
      plan->free_workspaces);  // first: kernels kept there borrow the segments' cells
  rheos__segments_free(plan->roots);
  for (rheos__structure *s = plan->structures; s != NULL; s = s->next) {
    for (int i = 0; i < 2; ++i) rheos__region_forget(plan->context.bodies, &s->regions[i]);
  }
  rheos__inlined_unref(plan->inlined);
  rheos_graph_unref(plan->graph);
  pthread_mutex_destroy(&plan->mutex);
  rheos__free(plan->feeds);
  rheos__free(plan->fetches);
  rheos__free(plan->fetch_values);
  rheos__free(plan->entries);
  rheos__free(plan->operands);
  rheos__free(plan->origins);
  rheos__free(plan->dtypes);
  rheos__free(plan->last_uses);
  rheos__free(plan->waits);
  rheos__free(plan->joins);
  rheos__free(plan->effects);
  rheos__flow_free(plan->flow);
  rheos__arena_deinit(&plan->arena);
  rheos__free(plan);
}
