// Values of constant parts of a graph. Nodes, depth and elements are bounded: this runs while a
// program adds nodes, and what is beyond the bounds is computed by the step that needs it.
#include "graph/computed_value.h"

#include <string.h>

#include "graph/graph_impl.h"

enum { MAX_DEPTH = 24, MAX_NODES = 64, MAX_INPUTS = 16, MAX_OUTPUTS = 16, MAX_ELEMENTS = 4096 };

typedef struct computation {
  const rheos_graph *graph;
  rheos__known_value known;
  void *argument;
  int32_t depth, num_nodes;
  bool no_memory;
} computation;

static bool is_small(const rheos_shape *shape) {
  return rheos_shape_is_known(shape) && rheos_shape_num_elements(shape) <= MAX_ELEMENTS;
}

static bool has_bytes(rheos_dtype dtype) {
  return !rheos_dtype_is_ref(dtype) && dtype != RHEOS_STRING && dtype != RHEOS_RESOURCE &&
         dtype != RHEOS_VARIANT;
}

// Whether the op's kernel needs nothing but the values of the inputs.
static bool is_pure(const rheos_graph *graph, const rheos__node *node) {
  const rheos__op_def *op = node->signature->op;
  const unsigned never = RHEOS_OP_STATEFUL | RHEOS_OP_WRITES | RHEOS_OP_WAITS | RHEOS_OP_ASSERTS |
                         RHEOS_OP_READS_VARIABLE | RHEOS_OP_PLACEHOLDER | RHEOS_OP_REMOVED |
                         RHEOS_OP_CALLS | RHEOS_OP_IS_CALL | RHEOS_OP_WANTS_NAME | RHEOS_OP_ARG |
                         RHEOS_OP_RETVAL;
  if ((op->flags & never) != 0 || op->flow != RHEOS__FLOW_NONE || op->shape == NULL) return false;
  if (op->prepare == NULL || node->num_inputs == 0) return false;
  if (node->num_inputs > MAX_INPUTS || node->num_outputs > MAX_OUTPUTS) return false;
  for (int32_t i = 0; i < node->num_outputs; i++) {
    if (!has_bytes(node->outputs[i].dtype)) return false;
  }
  for (int32_t i = 0; i < node->num_inputs; i++) {
    const rheos__edge edge = node->edges[i];
    if (!has_bytes(rheos__graph_node(graph, edge.id)->outputs[edge.index].dtype)) return false;
  }
  return true;
}

// ---- One node

typedef struct operands {
  rheos_tensor *inputs[MAX_INPUTS], *outputs[MAX_OUTPUTS];
  rheos_dtype input_dtypes[MAX_INPUTS], output_dtypes[MAX_OUTPUTS];
  rheos_shape input_shapes[MAX_INPUTS], output_shapes[MAX_OUTPUTS];
  const rheos_shape *handle_shapes[MAX_INPUTS];
  rheos__resource *resources[MAX_INPUTS];
} operands;

static rheos_status *infer_shapes(const rheos__prepare *p, operands *o) {
  rheos__infer infer = {.op = p->op,
                        .attrs = p->attrs,
                        .num_inputs = p->num_inputs,
                        .num_outputs = p->num_outputs,
                        .input_dtypes = p->input_dtypes,
                        .input_shapes = p->input_shapes,
                        .input_values = p->input_values,
                        .handle_shapes = p->handle_shapes,
                        .output_dtypes = p->output_dtypes,
                        .output_shapes = o->output_shapes};
  return p->op->shape(&infer);
}

static rheos_status *run_units(const rheos__prepare *p, operands *o) {
  const void *in[MAX_INPUTS];
  void *out[MAX_OUTPUTS];
  for (int32_t i = 0; i < p->num_inputs; i++) in[i] = o->inputs[i]->data;
  for (int32_t i = 0; i < p->num_outputs; i++) {
    RHEOS_TRY(rheos_tensor_new(p->output_dtypes[i], p->output_shapes[i], &o->outputs[i]));
    out[i] = o->outputs[i]->data;
  }
  void *scratch = NULL;
  if (p->scratch_bytes > 0) {
    scratch = rheos__alloc_aligned(p->scratch_bytes);
    if (scratch == NULL) return rheos__out_of_memory();
  }
  const int64_t units = p->num_units > 1 ? p->num_units : 1;
  rheos_status *status = p->run(p->state, in, out, scratch, 0, units);
  rheos__free_aligned(scratch);
  return status;
}

static rheos_status *run_kernel(const rheos__prepare *p, operands *o) {
  if (p->decline_reason != NULL) return RHEOS_INVALID("%s", p->decline_reason);
  if (p->alias_input >= 0) {
    return rheos__tensor_seen_as(o->inputs[p->alias_input], p->output_dtypes[0],
                                 p->output_shapes[0], &o->outputs[0]);
  }
  if (p->run != NULL) return run_units(p, o);
  if (p->compute == NULL) return RHEOS_INVALID("no kernel");
  return p->compute(p->state, NULL, o->inputs, o->outputs);
}

static bool all_small(const operands *o, int32_t num_outputs) {
  for (int32_t i = 0; i < num_outputs; i++) {
    if (!is_small(&o->output_shapes[i])) return false;
  }
  return true;
}

// Runs the node on its inputs. What it says of wrong ones is said again by the step that runs it.
static bool run_node(computation *c, const rheos__node *node, operands *o) {
  for (int32_t i = 0; i < node->num_inputs; i++) {
    o->input_dtypes[i] = o->inputs[i]->dtype;
    o->input_shapes[i] = o->inputs[i]->shape;
  }
  for (int32_t i = 0; i < node->num_outputs; i++) {
    o->output_dtypes[i] = node->outputs[i].dtype;
    o->output_shapes[i] = RHEOS_UNKNOWN_SHAPE;
  }
  rheos__arena arena;
  rheos__arena_init(&arena);
  rheos__prepare p = {.op = node->signature->op,
                      .attrs = node->attrs,
                      .num_inputs = node->num_inputs,
                      .num_outputs = node->num_outputs,
                      .input_dtypes = o->input_dtypes,
                      .input_shapes = o->input_shapes,
                      .input_values = o->inputs,
                      .input_resources = o->resources,
                      .handle_shapes = o->handle_shapes,
                      .output_dtypes = o->output_dtypes,
                      .output_shapes = o->output_shapes,
                      .graph = (rheos_graph *)(uintptr_t)c->graph,
                      .arena = &arena,
                      .alias_input = -1,
                      .reuse_input = -1};
  rheos_status *status = infer_shapes(&p, o);
  const bool fits = status == NULL && all_small(o, node->num_outputs);
  if (fits) status = p.op->prepare(&p);
  if (fits && status == NULL) status = run_kernel(&p, o);
  if (p.release != NULL) p.release(p.state);
  rheos__arena_deinit(&arena);
  const bool has_run = fits && status == NULL;
  c->no_memory = c->no_memory || rheos_status_code(status) == RHEOS_RESOURCE_EXHAUSTED;
  rheos_status_free(status);
  return has_run;
}

// ---- The part of the graph

static rheos_tensor *compute(computation *c, rheos__edge edge);

static rheos_tensor *compute_node(computation *c, const rheos__node *node, int32_t output) {
  operands *o = rheos__alloc_zeroed(sizeof *o);
  c->no_memory = c->no_memory || o == NULL;
  if (o == NULL) return NULL;
  bool all_there = true;
  for (int32_t i = 0; all_there && i < node->num_inputs; i++) {
    o->inputs[i] = compute(c, node->edges[i]);
    all_there = o->inputs[i] != NULL;
  }
  rheos_tensor *value = NULL;
  if (all_there && run_node(c, node, o)) value = rheos_tensor_ref(o->outputs[output]);
  for (int32_t i = 0; i < node->num_inputs; i++) rheos_tensor_unref(o->inputs[i]);
  for (int32_t i = 0; i < node->num_outputs; i++) rheos_tensor_unref(o->outputs[i]);
  rheos__free(o);
  return value;
}

static rheos_tensor *compute(computation *c, rheos__edge edge) {
  const rheos__node *node = rheos__graph_node(c->graph, edge.id);
  rheos_tensor *value = c->known(c->argument, edge);
  if (value != NULL && value->num_elements <= MAX_ELEMENTS && has_bytes(value->dtype)) return value;
  rheos_tensor_unref(value);
  if (c->depth >= MAX_DEPTH || c->num_nodes >= MAX_NODES || !is_pure(c->graph, node)) return NULL;
  c->num_nodes++;
  c->depth++;
  value = compute_node(c, node, edge.index);
  c->depth--;
  return value;
}

rheos_tensor *rheos__computed_value(const rheos_graph *graph, rheos__edge edge,
                                    rheos__known_value known, void *argument, bool *out_no_memory) {
  computation c = {.graph = graph, .known = known, .argument = argument};
  rheos_tensor *value = compute(&c, edge);
  *out_no_memory = *out_no_memory || c.no_memory;
  return value;
}
