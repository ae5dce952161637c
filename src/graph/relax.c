// Shapes in loops, and behind nodes that take other inputs than before. The nodes of a loop are
// made before its way back is there, with shapes that hold in the first trip. Where other shapes
// come back, those of the Merge and of all that follows are inferred again, until nothing changes:
// less is known each time, so that comes to an end.
#include "graph/graph_impl.h"

typedef struct relaxation {
  rheos_graph *graph;
  int32_t first;  // node: those before it do not follow from the Merge
  bool *changed;  // by node from `first` on: its shapes have, in this pass or the one before
  bool any;       // has changed in this pass
} relaxation;

static bool is_within(const rheos_shape *inner, const rheos_shape *outer) {
  if (outer->rank < 0) return true;
  if (inner->rank != outer->rank) return false;
  for (int32_t i = 0; i < outer->rank; i++) {
    if (outer->dims[i] >= 0 && inner->dims[i] != outer->dims[i]) return false;
  }
  return true;
}

static bool partial_value(void *argument, int32_t input, rheos_shape *out_shape) {
  const relaxation *r = ((const void **)argument)[0];
  const rheos__node *node = ((const void **)argument)[1];
  bool *no_memory = ((void **)argument)[2];
  return rheos__partial_value(r->graph, node->edges[input], out_shape, no_memory);
}

static bool whole_value(void *argument, int32_t input, int64_t *values, int32_t capacity,
                        int32_t *out_count) {
  const relaxation *r = ((const void **)argument)[0];
  const rheos__node *node = ((const void **)argument)[1];
  return rheos__whole_value(r->graph, node->edges[input], values, capacity, out_count);
}

// Output shapes of a node by what is known of its inputs now; unknown where that is refused.
static rheos_status *infer(const relaxation *r, const rheos__node *node, rheos__arena *arena,
                           rheos_shape **out_shapes) {
  const size_t num_in = (size_t)node->num_inputs, num_out = (size_t)node->num_outputs;
  rheos_shape *in = rheos__arena_alloc(arena, num_in * sizeof *in);
  rheos_shape *out = rheos__arena_alloc(arena, num_out * sizeof *out);
  rheos_tensor **values = rheos__arena_alloc(arena, num_in * sizeof *values);
  const rheos_shape **handles = rheos__arena_alloc(arena, num_in * sizeof *handles);
  rheos_shape *rooms = rheos__arena_alloc(arena, num_in * sizeof *rooms);
  rheos_dtype *in_dtypes = rheos__arena_alloc(arena, num_in * sizeof *in_dtypes);
  rheos_dtype *out_dtypes = rheos__arena_alloc(arena, num_out * sizeof *out_dtypes);
  if (in == NULL || out == NULL || values == NULL || handles == NULL || rooms == NULL ||
      in_dtypes == NULL || out_dtypes == NULL) {
    return rheos__out_of_memory();
  }
  for (int32_t i = 0; i < node->num_inputs; i++) {
    const rheos__edge edge = node->edges[i];
    const rheos__node_output *from = &rheos__graph_node(r->graph, edge.id)->outputs[edge.index];
    in[i] = *from->shape;
    in_dtypes[i] = rheos_dtype_base(from->dtype);
    values[i] = rheos__const_value(r->graph, edge);
    handles[i] = rheos__handle_shape(r->graph, edge, &rooms[i]);
  }
  for (int32_t i = 0; i < node->num_outputs; i++) {
    out[i] = RHEOS_UNKNOWN_SHAPE;
    out_dtypes[i] = rheos_dtype_base(node->outputs[i].dtype);
  }
  bool no_memory = false;
  const void *argument[] = {r, node, &no_memory};
  rheos__infer c = {.op = node->signature->op,
                    .attrs = node->attrs,
                    .num_inputs = node->num_inputs,
                    .num_outputs = node->num_outputs,
                    .input_dtypes = in_dtypes,
                    .input_shapes = in,
                    .input_values = values,
                    .handle_shapes = handles,
                    .output_dtypes = out_dtypes,
                    .output_shapes = out,
                    .partial = partial_value,
                    .whole = whole_value,
                    .partial_argument = argument};
  *out_shapes = out;
  if (c.op->shape == NULL) return NULL;
  rheos_status *status = c.op->shape(&c);
  if (no_memory) {
    rheos_status_free(status);
    return rheos__out_of_memory();
  }
  if (rheos_status_code(status) == RHEOS_RESOURCE_EXHAUSTED) return status;
  for (int32_t i = 0; status != NULL && i < node->num_outputs; i++) out[i] = RHEOS_UNKNOWN_SHAPE;
  rheos_status_free(status);
  return NULL;
}

static rheos_status *infer_again(relaxation *r, int32_t id, rheos__arena *arena) {
  const rheos__node *node = rheos__graph_node(r->graph, id);
  rheos_shape *shapes = NULL;
  rheos__arena_reset(arena);
  RHEOS_TRY(infer(r, node, arena, &shapes));
  for (int32_t i = 0; i < node->num_outputs; i++) {
    rheos__node_output *output = &node->outputs[i];
    const rheos_shape common = rheos__shape_common(output->shape, &shapes[i]);
    if (rheos_shape_equal(&common, output->shape)) continue;
    const rheos_shape *interned = rheos__intern_shape(r->graph, &common);
    if (interned == NULL) return rheos__out_of_memory();
    __atomic_store_n(&output->shape, interned, __ATOMIC_RELEASE);
    r->changed[id - r->first] = r->any = true;
  }
  return NULL;
}

static bool follows_from_changed(const relaxation *r, const rheos__node *node) {
  for (int32_t i = 0; i < node->num_inputs; i++) {
    const int32_t from = node->edges[i].id;
    if (from >= r->first && r->changed[from - r->first]) return true;
  }
  return false;
}

rheos_status *rheos__graph_relax(rheos_graph *graph, int32_t id, int32_t input) {
  const rheos__node *merge = rheos__graph_node(graph, id);
  const rheos__edge next = merge->edges[input];
  if (is_within(rheos__graph_node(graph, next.id)->outputs[next.index].shape,
                merge->outputs[0].shape)) {
    return NULL;
  }
  return rheos__graph_relax_from(graph, id);
}

rheos_status *rheos__graph_relax_from(rheos_graph *graph, int32_t id) {
  const int32_t end = rheos_graph_num_operations(graph);
  relaxation r = {.graph = graph, .first = id, .any = true};
  r.changed = rheos__alloc_array((size_t)(end - id), sizeof *r.changed);
  if (r.changed == NULL) return rheos__out_of_memory();
  rheos__arena arena;
  rheos__arena_init(&arena);
  rheos_status *status = infer_again(&r, id, &arena);
  while (status == NULL && r.any) {
    r.any = false;
    for (int32_t i = id; status == NULL && i < end; i++) {
      if (follows_from_changed(&r, rheos__graph_node(graph, i))) {
        status = infer_again(&r, i, &arena);
      }
    }
  }
  rheos__arena_deinit(&arena);
  rheos__free(r.changed);
  return status;
}
