// The gradients of reductions, in TensorFlow's nodes.
#include "ops/math/reduction.h"

#include "ops/kit/array_util.h"
#include "ops/kit/op_util.h"

// TensorFlow's rheos__reduced_shape(): the shape with 1 for the reduced dimensions, in nodes.
static rheos_output kept_dims_of(rheos_scope *s, rheos_output dims, rheos_output axes) {
  axes = rheos__cast_to(s, axes, RHEOS_INT32);
  if (rheos_scope_status(s) != NULL) return axes;
  const rheos_shape of_dims = rheos_output_shape(dims);
  const rheos_output rank =
      rheos_shape_is_known(&of_dims)
          ? rheos__const_scalar(s, RHEOS_INT32, (double)of_dims.dims[0], "Size")
          : rheos__op_1(s, "Size", dims);
  axes = rheos__named_2(s, "FloorMod", "mod", rheos__py_add(s, axes, rank), rank);
  const rheos_output axes_shape = rheos__shape_of(s, axes, RHEOS_INT32);
  const rheos_output range = rheos__py_range(s, rank);
  rheos__node_scope inside;
  rheos__push_node_scope(s, "Fill", &inside);
  const rheos_output one = rheos__const_scalar(s, RHEOS_INT32, 1, "value");
  const rheos_output ones = rheos__named_2(s, "Fill", inside.name, axes_shape, one);
  rheos_scope_pop(s);
  const rheos_output inputs[] = {range, axes, dims, ones};
  const rheos_attr count = rheos_attr_int("N", 2);
  return rheos_operation_output(rheos__op_n(s, "DynamicStitch", NULL, inputs, 4, &count, 1), 0);
}

// x // max(y, 1)
static rheos_output safe_quotient(rheos_scope *s, rheos_output x, rheos_output y) {
  const rheos_output at_least_1 = rheos__op_with_number(s, "Maximum", "Maximum", y, 1);
  return rheos__named_2(s, "FloorDiv", "floordiv", x, at_least_1);
}

// Whether the axes are 0, 1, ..., rank - 1.
static bool names_all_in_order(const rheos_tensor *axes, int32_t rank) {
  if (axes->shape.rank != 1 || axes->num_elements != rank) return false;
  for (int32_t d = 0; d < rank; d++) {
    if (rheos__tensor_int_at(axes, d) != d) return false;
  }
  return true;
}

static rheos_output tiled_over_all(rheos__grad *g, rheos_output dy, const rheos_shape *shape) {
  rheos_scope *s = g->scope;
  rheos_shape ones = {.rank = shape->rank};
  int32_t dims[RHEOS_MAX_RANK];
  for (int32_t d = 0; d < shape->rank; d++) ones.dims[d] = 1, dims[d] = (int32_t)shape->dims[d];
  const rheos_output kept = rheos__reshape_to(s, dy, &ones);
  const rheos_output multiples = rheos_shape_is_known(shape)
                                     ? rheos__const_ints(s, dims, shape->rank, "Const")
                                     : rheos__shape_of(s, g->inputs[0], RHEOS_INT32);
  return rheos__op_2(s, "Tile", kept, multiples);
}

// TensorFlow works the factors out from nodes, once for a shape and axes, and leaves these there.
// Nothing reads them, but default seeds are counts of nodes.
static void leave_shape_nodes(rheos_scope *s, const rheos_shape *shape, const rheos_shape *kept,
                              const rheos_tensor *axes) {
  rheos_shape key = {.rank = (int32_t)axes->num_elements};
  int32_t dims[RHEOS_MAX_RANK], kept_dims[RHEOS_MAX_RANK], indices[RHEOS_MAX_RANK];
  if (axes->num_elements > RHEOS_MAX_RANK) return;
  for (int32_t i = 0; i < key.rank; i++) {
    indices[i] = (int32_t)rheos__tensor_int_at(axes, i);
    key.dims[i] = indices[i];
  }
  for (int32_t d = 0; d < shape->rank; d++) {
    dims[d] = (int32_t)shape->dims[d];
    kept_dims[d] = (int32_t)kept->dims[d];
  }
  bool first = false;
  rheos_status *status =
      rheos__graph_note_shapes(rheos_scope_graph(s), RHEOS__REDUCED_SHAPES, shape, &key, &first);
  if (status != NULL) rheos_scope_fail_take(s, status);
  if (!first) return;
  rheos__node_scope inside;
  rheos__push_node_scope(s, "Cast", &inside);
  const rheos_output of_shape = rheos__const_ints(s, dims, shape->rank, "x");
  rheos_scope_pop(s);
  rheos__push_node_scope(s, "Cast", &inside);
  const rheos_output of_axes = rheos__const_ints(s, indices, key.rank, "x");
  rheos_scope_pop(s);
  kept_dims_of(s, of_shape, of_axes);
  rheos__push_node_scope(s, "Maximum", &inside);
  const rheos_output of_kept = rheos__const_ints(s, kept_dims, shape->rank, "x");
  const rheos_output one = rheos__const_scalar(s, RHEOS_INT32, 1, "y");
  const rheos_output at_least_1 = rheos__named_2(s, "Maximum", inside.name, of_kept, one);
  rheos_scope_pop(s);
  rheos__push_node_scope(s, "floordiv", &inside);
  const rheos_output whole = rheos__const_ints(s, dims, shape->rank, "x");
  rheos__named_2(s, "FloorDiv", inside.name, whole, at_least_1);
  rheos_scope_pop(s);
}

// Constants where the shape and the axes are known.
static rheos_output tiled_by_constants(rheos__grad *g, rheos_output dy, const rheos_shape *shape,
                                       const rheos_tensor *axes, const bool *reduced) {
  const rheos_shape kept = rheos__reduced_shape(shape, reduced, true);
  leave_shape_nodes(g->scope, shape, &kept, axes);
  rheos_shape multiples = kept;
  for (int32_t d = 0; d < shape->rank; d++) multiples.dims[d] = reduced[d] ? shape->dims[d] : 1;
  return rheos__tile_by(g->scope, rheos__reshape_to(g->scope, dy, &kept), &multiples);
}

// The axes, if they are a constant or nodes that come to one, as a range up to the rank does.
static rheos_status *find_axes(rheos_output axes, rheos_tensor **out_axes) {
  rheos_tensor *constant = rheos__constant_value(axes);
  *out_axes = NULL;
  if (constant != NULL) {
    *out_axes = rheos_tensor_ref(constant);
    return NULL;
  }
  rheos_shape known;
  const rheos__edge edge = {axes.id, axes.index};
  bool no_memory = false;
  const bool is_known = rheos__partial_value(axes.graph, edge, &known, &no_memory);
  if (no_memory) return rheos__out_of_memory();
  if (!is_known || !rheos_shape_is_known(&known)) return NULL;
  int32_t values[RHEOS_MAX_RANK];
  for (int32_t i = 0; i < known.rank; i++) values[i] = (int32_t)known.dims[i];
  return rheos_tensor_from_values(RHEOS_INT32, RHEOS_SHAPE(known.rank), values, out_axes);
}

static bool grad_of_known_axes(rheos__grad *g, rheos_output dy, const rheos_tensor *axes,
                               rheos_output *out_grad) {
  const rheos_shape shape = rheos_output_shape(g->inputs[0]);
  bool reduced[RHEOS_MAX_RANK];
  if (shape.rank < 0) return false;
  if (names_all_in_order(axes, shape.rank)) {
    *out_grad = tiled_over_all(g, dy, &shape);
    return true;
  }
  rheos_status *status = rheos__reduction_axes(axes, shape.rank, reduced);
  const bool known = status == NULL && rheos_shape_is_known(&shape);
  rheos_status_free(status);
  if (known) *out_grad = tiled_by_constants(g, dy, &shape, axes, reduced);
  return known;
}

// What arrives, repeated along the reduced dimensions.
static rheos_output sum_grad(rheos__grad *g, rheos_output dy) {
  rheos_scope *s = g->scope;
  rheos_tensor *axes;
  rheos_output grad = {0};
  rheos_status *status = find_axes(g->inputs[1], &axes);
  if (status != NULL) {
    rheos_scope_fail_take(s, status);
    return grad;
  }
  const bool done = axes != NULL && grad_of_known_axes(g, dy, axes, &grad);
  rheos_tensor_unref(axes);
  if (done) return grad;
  const rheos_output dims = rheos__shape_of(s, g->inputs[0], RHEOS_INT32);
  const rheos_output kept = kept_dims_of(s, dims, g->inputs[1]);
  const rheos_output multiples = safe_quotient(s, dims, kept);
  return rheos__op_2(s, "Tile", rheos__op_2(s, "Reshape", dy, kept), multiples);
}

void rheos__grad_sum(rheos__grad *g) {
  rheos__grad_set(g, 0, sum_grad(g, rheos__grad_dense(g, 0)));
}

// The product of a vector of dimensions, as a node
static rheos_output product_of(rheos_scope *s, rheos_output dims) {
  const int32_t zero = 0;
  const rheos_output axes = rheos__const_ints(s, &zero, 1, "Const");
  return rheos__op_2(s, "Prod", dims, axes);
}

void rheos__grad_mean(rheos__grad *g) {
  rheos_scope *s = g->scope;
  const rheos_output sum = sum_grad(g, rheos__grad_dense(g, 0));
  if (rheos_scope_status(s) != NULL) return;
  const rheos_dtype dtype = rheos_output_dtype(sum);
  const rheos_shape in = rheos_output_shape(g->inputs[0]);
  const rheos_shape out = rheos_output_shape(g->outputs[0]);
  rheos_output factor;
  if (rheos_shape_is_known(&in) && rheos_shape_is_known(&out)) {
    const int64_t outputs = rheos_shape_num_elements(&out);
    const int64_t count = rheos_shape_num_elements(&in) / (outputs > 0 ? outputs : 1);
    factor = rheos__const_scalar(s, dtype, (double)count, "Const");
  } else {
    const rheos_output in_dims = rheos__shape_of(s, g->inputs[0], RHEOS_INT32);
    const rheos_output out_dims = rheos__shape_of(s, g->outputs[0], RHEOS_INT32);
    const rheos_output inputs = product_of(s, in_dims);
    factor = rheos__cast_to(s, safe_quotient(s, inputs, product_of(s, out_dims)), dtype);
  }
  rheos__grad_set(g, 0, rheos__py_div(s, sum, factor));
}

// Shared equally among the elements that are the extreme.
void rheos__grad_extreme(rheos__grad *g) {
  rheos_scope *s = g->scope;
  rheos_output dy = rheos__grad_dense(g, 0);
  if (rheos_scope_status(s) != NULL) return;
  const rheos_dtype dtype = rheos_output_dtype(dy);
  const rheos_output dims = rheos__shape_of(s, g->inputs[0], RHEOS_INT32);
  const rheos_output kept = kept_dims_of(s, dims, g->inputs[1]);
  const rheos_output y = rheos__op_2(s, "Reshape", g->outputs[0], kept);
  dy = rheos__op_2(s, "Reshape", dy, kept);
  const rheos_output equal = rheos__op_2(s, "Equal", y, g->inputs[0]);
  const rheos_output selected = rheos__cast_to(s, equal, dtype);
  const rheos_output sum = rheos__sum_over(s, selected, g->inputs[1], false);
  const rheos_output number = rheos__op_2(s, "Reshape", sum, kept);
  rheos__grad_set(g, 0, rheos__py_mul(s, rheos__py_div(s, selected, number), dy));
}

// Cumprod along dimension 0 without the element itself.
static rheos_output others(rheos_scope *s, rheos_output x, bool reverse) {
  rheos__node_scope inside;
  rheos__push_node_scope(s, "Cumprod", &inside);
  const rheos_output inputs[] = {x, rheos__const_scalar(s, RHEOS_INT32, 0, "axis")};
  const rheos_attr attrs[] = {rheos_attr_bool("exclusive", true),
                              rheos_attr_bool("reverse", reverse)};
  const rheos_operation node = rheos__op_n(s, "Cumprod", inside.name, inputs, 2, attrs, 2);
  rheos_scope_pop(s);
  return rheos_operation_output(node, 0);
}

static rheos_output gathered(rheos_scope *s, rheos_output dims, rheos_output indices) {
  rheos__node_scope inside;
  rheos__push_node_scope(s, "GatherV2", &inside);
  const rheos_output inputs[] = {dims, indices, rheos__const_scalar(s, RHEOS_INT32, 0, "axis")};
  const rheos_operation node = rheos__op_n(s, "GatherV2", inside.name, inputs, 3, NULL, 0);
  rheos_scope_pop(s);
  return rheos_operation_output(node, 0);
}

static rheos_output concatenated(rheos_scope *s, rheos_output a, rheos_output b) {
  rheos__node_scope inside;
  rheos__push_node_scope(s, "concat", &inside);
  const rheos_output inputs[] = {a, b, rheos__const_scalar(s, RHEOS_INT32, 0, "axis")};
  const rheos_attr count = rheos_attr_int("N", 2);
  const rheos_operation node = rheos__op_n(s, "ConcatV2", inside.name, inputs, 3, &count, 1);
  rheos_scope_pop(s);
  return rheos_operation_output(node, 0);
}

static rheos_output reshaped_to_matrix(rheos_scope *s, rheos_output x, rheos_output rows,
                                       rheos_output columns) {
  rheos__node_scope inside;
  rheos__push_node_scope(s, "Reshape", &inside);
  const rheos_output sizes[] = {rows, columns};
  const rheos_attr count = rheos_attr_int("N", 2);
  const rheos_output dims =
      rheos_operation_output(rheos__op_n(s, "Pack", "shape", sizes, 2, &count, 1), 0);
  const rheos_output matrix = rheos__named_2(s, "Reshape", inside.name, x, dims);
  rheos_scope_pop(s);
  return matrix;
}

// What arrives times the product of the other elements, which is that of those before and those
// after: no division, so zeros do no harm. The reduced dimensions are brought to the front for it.
void rheos__grad_prod(rheos__grad *g) {
  rheos_scope *s = g->scope;
  const rheos_shape flat = RHEOS_SHAPE(-1);
  rheos_output dy = rheos__grad_dense(g, 0);
  if (rheos_scope_status(s) != NULL) return;
  const rheos_output dims = rheos__shape_of(s, g->inputs[0], RHEOS_INT32);
  const rheos_output axes = rheos__reshape_to(s, g->inputs[1], &flat);
  const rheos_output kept = kept_dims_of(s, dims, g->inputs[1]);
  const rheos_output multiples = safe_quotient(s, dims, kept);
  dy = rheos__op_2(s, "Tile", rheos__op_2(s, "Reshape", dy, kept), multiples);
  rheos_push_device(s, "/cpu:0");
  const rheos_shape shape = rheos_output_shape(g->inputs[0]);
  const rheos_output rank = shape.rank >= 0
                                ? rheos__const_scalar(s, RHEOS_INT32, shape.rank, "Rank")
                                : rheos__op_1(s, "Rank", g->inputs[0]);
  const rheos_output positive =
      rheos__named_2(s, "FloorMod", "mod",
                     rheos__py_add(s, axes, rheos__cast_to(s, rank, rheos_output_dtype(axes))),
                     rheos__cast_to(s, rank, rheos_output_dtype(axes)));
  const rheos_output reduced = rheos__cast_to(s, positive, RHEOS_INT32);
  const rheos_output kept_axes = rheos__op_2(s, "ListDiff", rheos__py_range(s, rank), reduced);
  const rheos_output order = concatenated(s, reduced, kept_axes);
  const rheos_output rows = product_of(s, gathered(s, dims, reduced));
  const rheos_output columns = product_of(s, gathered(s, dims, kept_axes));
  rheos_scope_pop(s);
  const rheos_output permuted = rheos__named_2(s, "Transpose", "transpose", g->inputs[0], order);
  const rheos_output permuted_dims = rheos__shape_of(s, permuted, RHEOS_INT32);
  const rheos_output matrix = reshaped_to_matrix(s, permuted, rows, columns);
  const rheos_output before = others(s, matrix, false);
  const rheos_output after = others(s, matrix, true);
  const rheos_output product = rheos__py_mul(s, rheos__conj(s, before), rheos__conj(s, after));
  const rheos_output y = rheos__op_2(s, "Reshape", product, permuted_dims);
  const rheos_output back = rheos__op_1(s, "InvertPermutation", order);
  const rheos_output z = rheos__py_mul(s, dy, rheos__named_2(s, "Transpose", "transpose", y, back));
  rheos__grad_set(g, 0, rheos__op_2(s, "Reshape", z, dims));
}

// x / (y / g), with y and g repeated along the reduced dimensions
void rheos__grad_euclidean_norm(rheos__grad *g) {
  rheos_scope *s = g->scope;
  rheos_output y = g->outputs[0], dy = rheos__grad_dense(g, 0);
  if (rheos_scope_status(s) != NULL) return;
  if (!rheos__attr_bool(g->attrs, "keep_dims")) {
    const rheos_output dims = rheos__shape_of(s, g->inputs[0], RHEOS_INT32);
    const rheos_output kept = kept_dims_of(s, dims, g->inputs[1]);
    y = rheos__op_2(s, "Reshape", y, kept);
    dy = rheos__op_2(s, "Reshape", dy, kept);
  }
  const rheos_output ratio = rheos__py_div(s, y, dy);
  rheos__grad_set(g, 0, rheos__py_div(s, g->inputs[0], ratio));
}

void rheos__grad_l2_loss(rheos__grad *g) {
  rheos__grad_set(g, 0, rheos__py_mul(g->scope, g->inputs[0], rheos__grad_dense(g, 0)));
}
