// Variables that are read on another device than theirs. Which value a read sees is decided by what
// it comes behind (plan/entries/plan.h); where what reads is in another part, it is decided where
// the value is sent. So what is read by a node that comes behind writes gets a read of its own,
// which waits for all that the node waits for of that kind. A variable that is fetched is read
// behind all that writes it.
#include "format/partition/cut_impl.h"

#include "base/file.h"
#include "plan/entries/prepare.h"

typedef struct reader {
  rheos__cutter *c;
  bool *is_behind;  // by node: it comes behind something that writes, or writes
} reader;

static bool writes(const rheos__cutter *c, int32_t number) {
  return number < c->num_graph_nodes &&
         (rheos__cut_graph_node(c, number)->signature->op->flags & RHEOS_OP_WRITES) != 0;
}

static void find_behind(const reader *r) {
  const rheos__cutter *c = r->c;
  for (int32_t i = 0; i < c->num_order; ++i) {
    const int32_t number = c->order[i];
    const rheos__cut_node *node = &c->nodes[number];
    bool is_behind = r->is_behind[number] || writes(c, number);
    for (size_t k = 0; !is_behind && k < node->num_edges; ++k) {
      is_behind = r->is_behind[node->edges[k].id];
    }
    r->is_behind[number] = is_behind;
  }
}

static bool crosses(const rheos__cutter *c, int32_t number, rheos__edge edge) {
  const rheos__cut_device *devices = c->cut->devices;
  return edge.index >= 0 &&
         devices[c->nodes[edge.id].device].part != devices[c->nodes[number].device].part;
}

static bool takes_reference(const rheos__cutter *c, int32_t number, int32_t input) {
  if (number >= c->num_graph_nodes) return false;
  const rheos__node *node = rheos__cut_graph_node(c, number);
  return rheos__arg_of_input(node->signature, node->attrs, input)->is_ref;
}

static rheos_status *cannot_send(rheos__cutter *c, int32_t number, rheos__edge edge,
                                 const char *what) {
  const rheos__cut_device *devices = c->cut->devices;
  return RHEOS_INVALID("%s of '%s' on %s cannot be sent to '%s' on %s", what,
                       rheos__cut_name_of(c, edge.id), devices[c->nodes[edge.id].device].name,
                       rheos__cut_name_of(c, number), devices[c->nodes[number].device].name);
}

// A read of the reference for one node.
static void add_read(const reader *r, int32_t number, size_t input) {
  rheos__cutter *c = r->c;
  const rheos__edge edge = c->nodes[number].edges[input];
  const int32_t read = rheos__cut_add(c, rheos__cut_new_name(c, "", rheos__cut_name_of(c, edge.id)),
                                      "Identity", RHEOS__FLOW_NONE, c->nodes[edge.id].device);
  if (c->failed) return;
  const rheos_dtype dtype = rheos_dtype_base(rheos__cut_dtype(c, edge));
  c->nodes[read].dtype = dtype;
  c->nodes[read].frame = c->nodes[number].frame;
  rheos__cut_set_attr(c, read, rheos_attr_type("T", dtype));
  rheos__cut_add_edge(c, read, edge);
  for (size_t k = 0; k < c->nodes[number].num_edges; ++k) {
    const int32_t from = c->nodes[number].edges[k].id;
    if (r->is_behind[from]) rheos__cut_add_edge(c, read, (rheos__edge){from, -1});
  }
  if (!c->failed) c->nodes[number].edges[input] = (rheos__edge){read, 0};
}

static bool is_any_behind(const reader *r, const rheos__cut_node *node, size_t but) {
  for (size_t k = 0; k < node->num_edges; ++k) {
    if (k != but && r->is_behind[node->edges[k].id]) return true;
  }
  return false;
}

static rheos_status *look_at(const reader *r, int32_t number) {
  rheos__cutter *c = r->c;
  for (size_t k = 0; k < c->nodes[number].num_inputs && !c->failed; ++k) {
    const rheos__edge edge = c->nodes[number].edges[k];
    if (!crosses(c, number, edge)) continue;
    const rheos_dtype dtype = rheos__cut_dtype(c, edge);
    if (dtype == RHEOS_RESOURCE) return cannot_send(c, number, edge, "a resource");
    if (!rheos_dtype_is_ref(dtype)) continue;
    if (takes_reference(c, number, (int32_t)k)) return cannot_send(c, number, edge, "a reference");
    if (is_any_behind(r, &c->nodes[number], k)) add_read(r, number, k);
  }
  return NULL;
}

// ---- Fetched variables

// What names the variable that the edge is a reference to, or the value of by nothing but a read;
// -1: it is no such edge.
static int32_t variable_of(const rheos__cutter *c, rheos__edge edge, bool reads) {
  while (edge.id < c->num_graph_nodes) {
    const rheos__node *node = rheos__cut_graph_node(c, edge.id);
    const bool is_ref = edge.index >= 0 && rheos_dtype_is_ref(node->outputs[edge.index].dtype);
    const bool is_read = reads && (node->signature->op->flags & RHEOS_OP_FORWARDS) != 0 &&
                         node->num_inputs == 1 && node->num_control_inputs == 0;
    if (!is_ref && !is_read) return -1;
    if (node->num_inputs == 0) return is_ref ? edge.id : -1;
    edge = node->edges[0];
  }
  return -1;
}

// What can be waited for of a node, wherever it is: an Exit of the loop that it is in.
static void wait_for_loop(rheos__cutter *c, int32_t trigger, int32_t frame) {
  while (c->frames[frame].parent > 0) frame = c->frames[frame].parent;
  for (int32_t i = 0; i < c->num_order && !c->failed; ++i) {
    const int32_t number = c->order[i];
    if (c->nodes[number].role == RHEOS__FLOW_EXIT && c->nodes[number].frame == frame) {
      rheos__cut_add_edge(c, trigger, (rheos__edge){number, -1});
    }
  }
}

// The send of a fetch, which may be of a variable, comes behind all that writes it, dead or not.
static void look_at_fetch(rheos__cutter *c, int32_t send, int32_t num_order) {
  const int32_t variable = variable_of(c, c->nodes[send].edges[0], true);
  int32_t trigger = -1;
  for (int32_t i = 0; variable >= 0 && i < num_order && !c->failed; ++i) {
    const int32_t number = c->order[i];
    if (!writes(c, number) || c->nodes[number].num_inputs == 0) continue;
    if (variable_of(c, c->nodes[number].edges[0], false) != variable) continue;
    if (trigger < 0) {
      const char *name = rheos__cut_new_name(c, "", rheos__cut_name_of(c, variable));
      trigger = rheos__cut_add(c, name, "ControlTrigger", RHEOS__FLOW_CONTROL_TRIGGER,
                               c->nodes[send].device);
      rheos__cut_add_edge(c, send, (rheos__edge){trigger, -1});
    }
    if (c->failed) return;
    if (c->nodes[number].frame == 0) {
      rheos__cut_add_edge(c, trigger, (rheos__edge){number, -1});
    } else {
      wait_for_loop(c, trigger, c->nodes[number].frame);
    }
  }
}

rheos_status *rheos__cut_reads(rheos__cutter *c) {
  reader r = {.c = c, .is_behind = rheos__alloc_zeroed((size_t)c->num_nodes + 1)};
  if (r.is_behind == NULL) return rheos__out_of_memory();
  for (int trips = 0; trips < 2; ++trips) find_behind(&r);
  const int32_t num_order = c->num_order;
  rheos_status *status = NULL;
  for (int32_t i = 0; status == NULL && i < num_order; ++i) status = look_at(&r, c->order[i]);
  for (int32_t i = 0; status == NULL && !c->failed && i < num_order; ++i) {
    const int32_t number = c->order[i];
    const bool is_fetch = number >= c->num_graph_nodes && c->nodes[number].num_inputs == 1;
    if (is_fetch) look_at_fetch(c, number, num_order);
  }
  rheos__free(r.is_behind);
  if (status == NULL && c->failed) status = rheos__out_of_memory();
  return status;
}
