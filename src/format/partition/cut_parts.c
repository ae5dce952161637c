// The parts as GraphDefs. A node is written when it is met; an edge from another part becomes a
// send there and a receive here, once for each value and part, and a control edge a constant that
// is sent when what it comes from has run.
#include "format/partition/cut_impl.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "format/graph/graph_extras.h"
#include "resource/rendezvous.h"

enum { NODE_TAG = 1 << 3 | 2, MAX_ATTRS = 8 };

// A value of a node that was brought to a part.
typedef struct transfer {
  int32_t index, part;
  int32_t next;      // of the same node, -1: none
  const char *name;  // of the node that gives it there
} transfer;

typedef struct writer {
  rheos__cutter *c;
  rheos__buffer *buffers;  // by part
  transfer *transfers;
  size_t capacity, count;
  int32_t *first_of;   // by node: one more than the transfer's number
  int64_t num_edges;   // brought to other parts
  rheos__arena arena;  // of the node under way
} writer;

// A node that is made of texts.
typedef struct new_def {
  const char *name, *op;
  int32_t device;
  const char *inputs[2];
  rheos_attr attrs[MAX_ATTRS];
  size_t num_inputs, num_attrs;
} new_def;

static int32_t part_of_device(const rheos__cutter *c, int32_t device) {
  return c->cut->devices[device].part;
}
static int32_t part_of(const rheos__cutter *c, int32_t number) {
  return part_of_device(c, c->nodes[number].device);
}

// ---- Nodes

static const char *keep(writer *w, char *text) {
  const char *kept = text != NULL ? rheos__arena_strdup(&w->c->arena, text) : NULL;
  rheos__free(text);
  if (kept == NULL) w->c->failed = true;
  return kept != NULL ? kept : "";
}

static const char *input_text(writer *w, const char *name, int32_t index) {
  if (index == 0) return name;
  return index < 0 ? keep(w, rheos__text_format("^%s", name))
                   : keep(w, rheos__text_format("%s:%d", name, (int)index));
}

static void put_def(writer *w, int32_t part, const Tensorflow__NodeDef *def, const void *rest,
                    size_t rest_bytes) {
  rheos__buffer *buffer = &w->buffers[part];
  ++w->c->parts[part].num_nodes;
  rheos__buffer_put_varint(buffer, NODE_TAG);
  rheos__buffer_put_varint(buffer, protobuf_c_message_get_packed_size(&def->base) + rest_bytes);
  rheos__proto_pack(&def->base, buffer);
  rheos__buffer_put(buffer, rest, rest_bytes);
}

static int compare_attrs(const void *a, const void *b) {
  return strcmp(((const rheos_attr *)a)->name, ((const rheos_attr *)b)->name);
}

static rheos_status *attrs_to_proto(writer *w, rheos_attr *attrs, size_t count,
                                    Tensorflow__NodeDef *def) {
  qsort(attrs, count, sizeof *attrs, compare_attrs);
  Tensorflow__NodeDef__AttrEntry *entries = rheos__arena_alloc(&w->arena, count * sizeof *entries);
  def->attr = rheos__arena_alloc(&w->arena, count * sizeof *def->attr);
  if (entries == NULL || def->attr == NULL) return rheos__out_of_memory();
  for (size_t i = 0; i < count; ++i) {
    tensorflow__node_def__attr_entry__init(&entries[i]);
    entries[i].key = (char *)(uintptr_t)attrs[i].name;
    RHEOS_TRY(rheos__attr_to_proto(&attrs[i].value, &w->arena, &entries[i].value));
    def->attr[def->n_attr++] = &entries[i];
  }
  return NULL;
}

static rheos_status *put_new(writer *w, new_def *n) {
  Tensorflow__NodeDef def;
  tensorflow__node_def__init(&def);
  def.name = (char *)(uintptr_t)n->name;
  def.op = (char *)(uintptr_t)n->op;
  def.device = (char *)(uintptr_t)w->c->cut->devices[n->device].name;
  def.input = (char **)(uintptr_t)n->inputs;
  def.n_input = n->num_inputs;
  RHEOS_TRY(attrs_to_proto(w, n->attrs, n->num_attrs, &def));
  put_def(w, part_of_device(w->c, n->device), &def, NULL, 0);
  return NULL;
}

// ---- From one part to another

static void add_attr(new_def *n, rheos_attr attr) { n->attrs[n->num_attrs++] = attr; }

static rheos_attr text_attr(const char *name, const char *text) {
  return rheos_attr_string(name, text, strlen(text));
}

static void add_ends(const writer *w, new_def *n, int32_t from, int32_t to, const char *name) {
  const rheos__cut_device *devices = w->c->cut->devices;
  add_attr(n, rheos_attr_bool("client_terminated", false));  // TensorFlow 1 knows no defaults
  add_attr(n, text_attr("recv_device", devices[to].name));
  add_attr(n, text_attr("send_device", devices[from].name));
  add_attr(n, rheos_attr_int("send_device_incarnation", (int64_t)devices[from].incarnation));
  add_attr(n, text_attr("tensor_name", name));
}

// What a control edge sends.
static rheos_status *put_signal(writer *w, const char *source, int32_t device,
                                const char **out_name) {
  rheos_tensor *empty = NULL;
  RHEOS_TRY(rheos_tensor_new(RHEOS_FLOAT, RHEOS_SHAPE(0), &empty));
  new_def signal = {
      .name = rheos__cut_new_name(w->c, "", keep(w, rheos__text_format("%s/ctrl", source))),
      .op = "Const",
      .device = device,
      .inputs = {input_text(w, source, -1)},
      .num_inputs = 1};
  add_attr(&signal, rheos_attr_type("dtype", RHEOS_FLOAT));
  add_attr(&signal, rheos_attr_tensor("value", empty));
  rheos_status *status = w->c->failed ? rheos__out_of_memory() : put_new(w, &signal);
  rheos_tensor_unref(empty);
  *out_name = signal.name;
  return status;
}

static rheos_status *put_identity(writer *w, const char *source, const char *received,
                                  int32_t device, const char **out_name) {
  new_def passed = {.name = rheos__cut_new_name(w->c, "", source),
                    .op = "Identity",
                    .device = device,
                    .inputs = {received},
                    .num_inputs = 1};
  add_attr(&passed, rheos_attr_type("T", RHEOS_FLOAT));
  *out_name = passed.name;
  return w->c->failed ? rheos__out_of_memory() : put_new(w, &passed);
}

static rheos_status *put_pair(writer *w, rheos__edge edge, int32_t to, const char **out_name) {
  rheos__cutter *c = w->c;
  const rheos__cut_node *taker = &c->nodes[to];
  const int32_t from_device = c->nodes[edge.id].device, to_device = taker->device;
  const bool is_control = edge.index < 0;
  const rheos_dtype dtype = is_control ? RHEOS_FLOAT : rheos_dtype_base(rheos__cut_dtype(c, edge));
  const char *source = rheos__cut_name_of(c, edge.id);
  const char *sent = input_text(w, source, is_control ? 0 : edge.index);
  const char *key = keep(w, rheos__text_format("edge_%lld_%s", (long long)w->num_edges++, source));
  if (c->failed) return rheos__out_of_memory();
  if (is_control) RHEOS_TRY(put_signal(w, source, from_device, &sent));
  new_def send = {.name = rheos__cut_new_name(c, "", source),
                  .op = "_Send",
                  .device = from_device,
                  .inputs = {sent},
                  .num_inputs = 1};
  add_attr(&send, rheos_attr_type("T", dtype));
  add_ends(w, &send, from_device, to_device, key);
  new_def receive = {
      .name = rheos__cut_new_name(c, "", source), .op = "_Recv", .device = to_device};
  add_attr(&receive, rheos_attr_type("tensor_type", dtype));
  add_ends(w, &receive, from_device, to_device, key);
  if (taker->control_merge >= 0) {
    receive.inputs[receive.num_inputs++] =
        input_text(w, rheos__cut_name_of(c, taker->control_merge), -1);
  }
  if (c->failed) return rheos__out_of_memory();
  RHEOS_TRY(put_new(w, &send));
  RHEOS_TRY(put_new(w, &receive));
  *out_name = receive.name;
  return is_control ? put_identity(w, source, receive.name, to_device, out_name) : NULL;
}

// The node that gives the edge's value in the part of the node `to`.
static rheos_status *bring(writer *w, rheos__edge edge, int32_t to, const char **out_name) {
  const int32_t part = part_of(w->c, to);
  for (int32_t at = w->first_of[edge.id] - 1; at >= 0; at = w->transfers[at].next) {
    const transfer *known = &w->transfers[at];
    if (known->index != edge.index || known->part != part) continue;
    *out_name = known->name;
    return NULL;
  }
  RHEOS_TRY(put_pair(w, edge, to, out_name));
  if (!RHEOS_RESERVE(w->transfers, w->capacity, w->count + 1)) return rheos__out_of_memory();
  w->transfers[w->count++] = (transfer){
      .index = edge.index, .part = part, .next = w->first_of[edge.id] - 1, .name = *out_name};
  w->first_of[edge.id] = (int32_t)w->count;
  return NULL;
}

// ---- The nodes of a part

static rheos_status *edge_text(writer *w, int32_t number, rheos__edge edge, const char **out_text) {
  rheos__cutter *c = w->c;
  if (part_of(c, edge.id) == part_of(c, number)) {
    *out_text = input_text(w, rheos__cut_name_of(c, edge.id), edge.index);
  } else {
    const char *name = NULL;
    RHEOS_TRY(bring(w, edge, number, &name));
    *out_text = input_text(w, name, edge.index < 0 ? -1 : 0);
  }
  return c->failed ? rheos__out_of_memory() : NULL;
}

// A value from another device of the same part is not received here, but a worker that cuts its
// part by device does receive it: in a loop it finds by this what that receive waits for, as in
// parts from TensorFlow's masters.
static rheos_status *wait_for_trip(writer *w, int32_t number, int32_t num_received,
                                   const char **inputs, size_t *count) {
  const rheos__cut_node *node = &w->c->nodes[number];
  if (node->control_merge < 0 || node->num_far_inputs <= num_received) return NULL;
  inputs[(*count)++] = input_text(w, rheos__cut_name_of(w->c, node->control_merge), -1);
  return w->c->failed ? rheos__out_of_memory() : NULL;
}

// The name of a variable for those who look for mistakes: TensorFlow 1 refuses nodes that have it.
static void drop_debug_name(Tensorflow__NodeDef *def) {
  if (strcmp(def->op, "VarHandleOp") != 0) return;
  size_t count = 0;
  for (size_t i = 0; i < def->n_attr; ++i) {
    if (strcmp(def->attr[i]->key, "debug_name") != 0) def->attr[count++] = def->attr[i];
  }
  def->n_attr = count;
}

static rheos_status *write_node(writer *w, int32_t number) {
  rheos__cutter *c = w->c;
  size_t count = c->nodes[number].num_edges;
  const char **inputs = rheos__arena_alloc(&c->arena, (count + 1) * sizeof *inputs);
  if (inputs == NULL) return rheos__out_of_memory();
  const size_t num_brought = w->count;
  for (size_t i = 0; i < count; ++i) {
    RHEOS_TRY(edge_text(w, number, c->nodes[number].edges[i], &inputs[i]));
  }
  const int32_t num_received = (int32_t)(w->count - num_brought);
  RHEOS_TRY(wait_for_trip(w, number, num_received, inputs, &count));
  rheos__cut_node *node = &c->nodes[number];
  Tensorflow__NodeDef def;
  const void *rest = NULL;
  size_t rest_bytes = 0;
  if (number < c->num_graph_nodes) {
    RHEOS_TRY(rheos__node_to_proto(c->graph, number, &w->arena, &def));
    drop_debug_name(&def);
    const rheos__graph_extras *extras = rheos__graph_format_slot(c->graph)->data;
    rest = rheos__graph_node_fields(extras, number, &rest_bytes);
  } else {
    tensorflow__node_def__init(&def);
    def.name = (char *)(uintptr_t)node->name;
    def.op = (char *)(uintptr_t)node->op;
    RHEOS_TRY(attrs_to_proto(w, node->attrs, node->num_attrs, &def));
  }
  def.device = (char *)(uintptr_t)c->cut->devices[node->device].name;
  def.input = (char **)(uintptr_t)inputs;
  def.n_input = count;
  put_def(w, part_of(c, number), &def, rest, rest_bytes);
  return NULL;
}

static rheos_status *write_all(writer *w) {
  rheos__cutter *c = w->c;
  for (int32_t i = 0; i < c->num_order; ++i) {
    RHEOS_TRY(write_node(w, c->order[i]));
    rheos__arena_reset(&w->arena);
  }
  for (int32_t i = 0; i < c->cut->num_parts; ++i) {
    RHEOS_TRY(rheos__graph_put_rest(c->graph, &w->buffers[i]));
    if (w->buffers[i].failed) return rheos__out_of_memory();
    if (w->buffers[i].size_bytes > RHEOS__MAX_MESSAGE_BYTES) {
      return RHEOS_INVALID("the part of a graph that is for one task is larger than 2 GB");
    }
  }
  return NULL;
}

rheos_status *rheos__cut_write(rheos__cutter *c) {
  writer w = {.c = c};
  w.buffers = rheos__alloc_array((size_t)c->cut->num_parts, sizeof *w.buffers);
  w.first_of = rheos__alloc_array((size_t)c->num_nodes, sizeof *w.first_of);
  rheos__arena_init(&w.arena);
  rheos_status *status = w.buffers == NULL || w.first_of == NULL ? rheos__out_of_memory() : NULL;
  if (status == NULL) status = write_all(&w);
  for (int32_t i = 0; w.buffers != NULL && i < c->cut->num_parts; ++i) {
    if (status == NULL) {
      c->parts[i].graph_def = w.buffers[i].data;
      c->parts[i].size_bytes = w.buffers[i].size_bytes;
    } else {
      rheos__buffer_deinit(&w.buffers[i]);
    }
  }
  rheos__arena_deinit(&w.arena);
  rheos__free(w.buffers);
  rheos__free(w.transfers);
  rheos__free(w.first_of);
  return status;
}
