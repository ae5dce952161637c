// What is known beforehand of short vectors of integers: mostly shapes that programs take apart and
// put together again. Follows the graph backwards a few steps; the depth and the number of nodes
// looked at are bounded, and where a bound strikes, nothing is known.
#include "graph/graph.h"

#include <string.h>

#include "graph/computed_value.h"
#include "graph/graph_impl.h"

enum { MAX_ELEMENTS = RHEOS_MAX_RANK, MAX_DEPTH = 16, MAX_NODES = 128, MAX_COMPUTED = 8 };

// A scalar or a vector.
typedef struct known_ints {
  bool is_scalar;
  int32_t count;
  bool known[MAX_ELEMENTS];
  int64_t values[MAX_ELEMENTS];
} known_ints;

typedef struct evaluation {
  const rheos_graph *graph;
  int32_t depth, num_nodes;
  bool whole_shapes;  // a shape of which only a part is known counts as not known
  bool is_computing;  // the kernels of ops ask for the values that they need
  bool no_memory;     // for a value that is computed
  int32_t num_computed;
} evaluation;

static bool evaluate(evaluation *e, rheos__edge edge, known_ints *out);

static const rheos_shape *shape_of(const evaluation *e, rheos__edge edge) {
  return rheos__graph_node(e->graph, edge.id)->outputs[edge.index].shape;
}

// As many elements as the static shape says, none of them known; false if it does not say.
static bool nothing_known(const rheos_shape *shape, known_ints *out) {
  *out = (known_ints){.is_scalar = shape->rank == 0, .count = 1};
  if (shape->rank == 0) return true;
  if (shape->rank != 1 || shape->dims[0] < 0 || shape->dims[0] > MAX_ELEMENTS) return false;
  out->count = (int32_t)shape->dims[0];
  return true;
}

static bool all_known(const known_ints *ints) {
  for (int32_t i = 0; i < ints->count; i++) {
    if (!ints->known[i]) return false;
  }
  return true;
}

static bool from_tensor(const rheos_tensor *tensor, known_ints *out) {
  if (!rheos_dtype_is_integer(tensor->dtype) || !nothing_known(&tensor->shape, out)) return false;
  for (int32_t i = 0; i < out->count; i++) {
    out->known[i] = true;
    out->values[i] = rheos__tensor_int_at(tensor, i);
  }
  return true;
}

static bool from_shape(const rheos_shape *shape, known_ints *out) {
  if (shape->rank < 0) return false;
  *out = (known_ints){.count = shape->rank};
  for (int32_t i = 0; i < shape->rank; i++) {
    out->known[i] = shape->dims[i] >= 0;
    out->values[i] = shape->dims[i];
  }
  return true;
}

static bool from_scalar(int64_t value, known_ints *out) {
  *out = (known_ints){.is_scalar = true, .count = 1, .known = {value >= 0}, .values = {value}};
  return true;
}

// ---- One function an op

static bool eval_shape(evaluation *e, const rheos__node *node, int32_t output, known_ints *out) {
  const rheos_shape *shape = shape_of(e, node->edges[output]);  // output is 0 but for ShapeN
  return (!e->whole_shapes || rheos_shape_is_known(shape)) && from_shape(shape, out);
}

static bool eval_rank(evaluation *e, const rheos__node *node, int32_t output, known_ints *out) {
  return from_scalar(shape_of(e, node->edges[output])->rank, out);
}

static bool eval_size(evaluation *e, const rheos__node *node, int32_t output, known_ints *out) {
  return from_scalar(rheos_shape_num_elements(shape_of(e, node->edges[output])), out);
}

static bool eval_same(evaluation *e, const rheos__node *node, int32_t output, known_ints *out) {
  return rheos_dtype_is_integer(node->outputs[output].dtype) && evaluate(e, node->edges[0], out);
}

static bool eval_expand(evaluation *e, const rheos__node *node, int32_t output, known_ints *out) {
  if (!evaluate(e, node->edges[output], out) || !out->is_scalar) return false;
  out->is_scalar = false;
  return true;
}

static bool eval_pack(evaluation *e, const rheos__node *node, int32_t output, known_ints *out) {
  *out = (known_ints){.count = node->num_inputs};
  if (output != 0 || node->num_inputs > MAX_ELEMENTS) return false;
  for (int32_t i = 0; i < node->num_inputs; i++) {
    known_ints element;
    if (evaluate(e, node->edges[i], &element)) {
      if (!element.is_scalar) return false;
      out->known[i] = element.known[0];
      out->values[i] = element.values[0];
    } else if (node->outputs[0].shape->rank >= 0 && node->outputs[0].shape->rank != 1) {
      return false;  // else it is a scalar: the others tell, or that shapes are vectors
    }
  }
  return true;
}

static bool eval_concat(evaluation *e, const rheos__node *node, int32_t output, known_ints *out) {
  *out = (known_ints){0};
  if (output != 0) return false;
  for (int32_t i = 0; i + 1 < node->num_inputs; i++) {
    known_ints part;
    if (!evaluate(e, node->edges[i], &part) || part.is_scalar ||
        out->count + part.count > MAX_ELEMENTS) {
      return false;
    }
    for (int32_t k = 0; k < part.count; k++, out->count++) {
      out->known[out->count] = part.known[k];
      out->values[out->count] = part.values[k];
    }
  }
  return true;
}

// The value of a scalar, or of a vector of one element, that is known.
static bool eval_single(evaluation *e, rheos__edge edge, int64_t *out_value) {
  known_ints ints;
  if (!evaluate(e, edge, &ints) || ints.count != 1 || !ints.known[0]) return false;
  *out_value = ints.values[0];
  return true;
}

// Elements begin, begin + stride, ... before (or, going back, after) end.
static void take_range(const known_ints *from, int64_t begin, int64_t end, int64_t stride,
                       known_ints *out) {
  *out = (known_ints){0};
  for (int64_t i = begin; stride > 0 ? i < end : i > end; i += stride) {
    if (i < 0 || i >= from->count) continue;
    out->known[out->count] = from->known[i];
    out->values[out->count++] = from->values[i];
  }
}

static bool eval_slice(evaluation *e, const rheos__node *node, int32_t output, known_ints *out) {
  known_ints from;
  int64_t begin, size;
  if (output != 0 || !evaluate(e, node->edges[0], &from) || from.is_scalar ||
      !eval_single(e, node->edges[1], &begin) || !eval_single(e, node->edges[2], &size)) {
    return false;
  }
  if (size == -1) size = from.count - begin;
  if (begin < 0 || size < 0 || begin > from.count || size > from.count - begin) return false;
  take_range(&from, begin, begin + size, 1, out);
  return true;
}

static bool mask_bit(const rheos__node *node, const char *name) {
  const rheos_attr_value *value = rheos__attrs_find(node->attrs, name);
  return value != NULL && value->kind == RHEOS_ATTR_INT && (value->i & 1) != 0;
}

// A bound of a slice of `count` elements as Python reads it, for steps of either sign.
static int64_t clamp_bound(int64_t bound, int64_t count, bool backwards) {
  int64_t low = backwards ? -1 : 0, high = backwards ? count - 1 : count;
  if (bound < 0) bound += count;
  return bound < low ? low : bound > high ? high : bound;
}

static bool eval_strided_slice(evaluation *e, const rheos__node *node, int32_t output,
                               known_ints *out) {
  known_ints from;
  int64_t begin, end, stride;
  if (output != 0 || mask_bit(node, "ellipsis_mask") || mask_bit(node, "new_axis_mask") ||
      !evaluate(e, node->edges[0], &from) || from.is_scalar ||
      !eval_single(e, node->edges[1], &begin) || !eval_single(e, node->edges[2], &end) ||
      !eval_single(e, node->edges[3], &stride) || stride == 0 || stride < -MAX_ELEMENTS) {
    return false;
  }
  if (stride > MAX_ELEMENTS) stride = MAX_ELEMENTS;
  if (mask_bit(node, "shrink_axis_mask")) {
    if (begin < 0) begin += from.count;
    if (begin < 0 || begin >= from.count) return false;
    take_range(&from, begin, begin + 1, 1, out);
    out->is_scalar = true;
    return true;
  }
  bool backwards = stride < 0;
  begin = mask_bit(node, "begin_mask") ? (backwards ? from.count - 1 : 0)
                                       : clamp_bound(begin, from.count, backwards);
  end = mask_bit(node, "end_mask") ? (backwards ? -1 : from.count)
                                   : clamp_bound(end, from.count, backwards);
  take_range(&from, begin, end, stride, out);
  return true;
}

static bool eval_gather(evaluation *e, const rheos__node *node, int32_t output, known_ints *out) {
  known_ints from, at;
  if (output != 0 || !evaluate(e, node->edges[0], &from) || from.is_scalar ||
      !evaluate(e, node->edges[1], &at) || !all_known(&at)) {
    return false;
  }
  *out = (known_ints){.is_scalar = at.is_scalar, .count = at.count};
  for (int32_t i = 0; i < at.count; i++) {
    if (at.values[i] < 0 || at.values[i] >= from.count) return false;
    out->known[i] = from.known[at.values[i]];
    out->values[i] = from.values[at.values[i]];
  }
  return true;
}

static bool eval_range(evaluation *e, const rheos__node *node, int32_t output, known_ints *out) {
  int64_t start, limit, delta;
  if (output != 0 || !eval_single(e, node->edges[0], &start) ||
      !eval_single(e, node->edges[1], &limit) || !eval_single(e, node->edges[2], &delta) ||
      delta == 0) {
    return false;
  }
  *out = (known_ints){0};
  for (int64_t v = start; delta > 0 ? v < limit : v > limit;) {
    if (out->count == MAX_ELEMENTS) return false;
    out->known[out->count] = true;
    out->values[out->count++] = v;
    if (__builtin_add_overflow(v, delta, &v)) return false;
  }
  return true;
}

static bool eval_fill(evaluation *e, const rheos__node *node, int32_t output, known_ints *out) {
  int64_t count, value;
  if (output != 0 || !eval_single(e, node->edges[0], &count) || count > MAX_ELEMENTS ||
      !eval_single(e, node->edges[1], &value)) {
    return false;
  }
  *out = (known_ints){.count = (int32_t)count};
  for (int32_t i = 0; i < count; i++) out->known[i] = true, out->values[i] = value;
  return true;
}

// The arithmetic of shapes; false where the result is not known (or is none).
static bool combine(char op, int64_t x, int64_t y, int64_t *out) {
  switch (op) {
    case '+': return !__builtin_add_overflow(x, y, out);
    case '-': return !__builtin_sub_overflow(x, y, out);
    case '*': return !__builtin_mul_overflow(x, y, out);
    case '/':  // of sizes: where rounding down and towards zero agree
      if (x < 0 || y <= 0) return false;
      *out = x / y;
      return true;
    case '%':  // of what is not negative: likewise
      if (x < 0 || y <= 0) return false;
      *out = x % y;
      return true;
    case '>': *out = x > y ? x : y; return true;
    default: *out = x < y ? x : y; return true;
  }
}

// Whether the axes are all of `rank` dimensions, each once.
static bool are_all_axes(const known_ints *axes, int32_t rank) {
  uint64_t seen = 0;
  if (!all_known(axes) || axes->count != rank) return false;
  for (int32_t i = 0; i < rank; i++) {
    int64_t axis = axes->values[i] < 0 ? axes->values[i] + rank : axes->values[i];
    if (axis < 0 || axis >= rank) return false;
    seen |= UINT64_C(1) << axis;
  }
  return seen == (UINT64_C(1) << rank) - 1;
}

// All elements of a constant reduced to a scalar: the lengths of sequences, for their maximum.
static bool eval_constant_reduction(evaluation *e, const rheos__node *node, char op,
                                    known_ints *out) {
  enum { MAX_CONSTANT = 65536 };
  const rheos_tensor *from = rheos__const_value(e->graph, node->edges[0]);
  const rheos_attr_value *keep_dims = rheos__attrs_find(node->attrs, "keep_dims");
  known_ints axes;
  if (from == NULL || !rheos_dtype_is_integer(from->dtype) || from->num_elements == 0 ||
      from->num_elements > MAX_CONSTANT || (keep_dims != NULL && keep_dims->b) ||
      !evaluate(e, node->edges[1], &axes) || !are_all_axes(&axes, from->shape.rank)) {
    return false;
  }
  int64_t total = rheos__tensor_int_at(from, 0);
  for (int64_t i = 1; i < from->num_elements; i++) {
    if (!combine(op, total, rheos__tensor_int_at(from, i), &total)) return false;
  }
  *out = (known_ints){.is_scalar = true, .count = 1, .known = {true}, .values = {total}};
  return true;
}

// A vector reduced to a scalar, or to a vector of one element.
static bool eval_reduction(evaluation *e, const rheos__node *node, char op, known_ints *out) {
  known_ints from;
  int64_t axis;
  if (eval_constant_reduction(e, node, op, out)) return true;
  if (!evaluate(e, node->edges[0], &from) || !all_known(&from) || from.is_scalar ||
      from.count == 0 || !eval_single(e, node->edges[1], &axis) || (axis != 0 && axis != -1)) {
    return false;
  }
  int64_t total = from.values[0];
  for (int32_t i = 1; i < from.count; i++) {
    if (!combine(op, total, from.values[i], &total)) return false;
  }
  const rheos_attr_value *keep_dims = rheos__attrs_find(node->attrs, "keep_dims");
  *out = (known_ints){.is_scalar = keep_dims == NULL || !keep_dims->b,
                      .count = 1,
                      .known = {true},
                      .values = {total}};
  return true;
}

static bool eval_binary(evaluation *e, const rheos__node *node, char op, known_ints *out) {
  known_ints a, b;
  if (!evaluate(e, node->edges[0], &a) || !evaluate(e, node->edges[1], &b)) return false;
  if (a.count != b.count && a.count != 1 && b.count != 1) return false;
  int32_t count = a.count == 1 ? b.count : a.count;
  *out = (known_ints){.is_scalar = a.is_scalar && b.is_scalar, .count = count};
  for (int32_t i = 0; i < count; i++) {
    int32_t i_a = a.count == 1 ? 0 : i, i_b = b.count == 1 ? 0 : i;
    out->known[i] =
        a.known[i_a] && b.known[i_b] && combine(op, a.values[i_a], b.values[i_b], &out->values[i]);
  }
  return true;
}

// Dimension `d` of `rank`, where leading ones are left out.
static int64_t broadcast_dim(const known_ints *shape, int32_t d, int32_t rank) {
  int32_t i = d - (rank - shape->count);
  return i < 0 ? 1 : shape->values[i];
}

// The axes that the gradient by an operand is summed over: all where it is 1, none if the operands
// have the same shape.
static bool eval_broadcast_axes(evaluation *e, const rheos__node *node, int32_t output,
                                known_ints *out) {
  known_ints own, other;
  if (!evaluate(e, node->edges[output], &own) || !all_known(&own) || own.is_scalar ||
      !evaluate(e, node->edges[1 - output], &other) || !all_known(&other) || other.is_scalar) {
    return false;
  }
  *out = (known_ints){0};
  int32_t rank = own.count > other.count ? own.count : other.count;
  bool same = own.count == other.count;
  for (int32_t d = 0; d < rank; d++) {
    int64_t x = broadcast_dim(&own, d, rank), y = broadcast_dim(&other, d, rank);
    if (x != y && x != 1 && y != 1) return false;  // fails when it runs
    same = same && x == y;
    if (x != 1) continue;
    out->known[out->count] = true;
    out->values[out->count++] = d;
  }
  if (same) out->count = 0;
  return true;
}

// The dense shapes of sparse tensors.
static bool eval_sparse_add(evaluation *e, const rheos__node *node, int32_t output,
                            known_ints *out) {
  return output == 2 && evaluate(e, node->edges[2], out) && !out->is_scalar;
}

static bool eval_sparse_concat(evaluation *e, const rheos__node *node, int32_t output,
                               known_ints *out) {
  int32_t num_parts = node->num_inputs / 3;
  const rheos_attr_value *dim = rheos__attrs_find(node->attrs, "concat_dim");
  if (output != 2 || dim == NULL || !evaluate(e, node->edges[2 * num_parts], out)) return false;
  int64_t axis = dim->i < 0 ? dim->i + out->count : dim->i;
  if (out->is_scalar || axis < 0 || axis >= out->count) return false;
  for (int32_t i = 1; i < num_parts; i++) {
    known_ints part;
    if (!evaluate(e, node->edges[2 * num_parts + i], &part) || part.count != out->count) {
      return false;
    }
    out->known[axis] = out->known[axis] && part.known[axis] &&
                       combine('+', out->values[axis], part.values[axis], &out->values[axis]);
  }
  return true;
}

// The new shape, with the one size that is -1 worked out where that can be done.
static bool eval_sparse_reshape(evaluation *e, const rheos__node *node, int32_t output,
                                known_ints *out) {
  known_ints from;
  if (output != 1 || !evaluate(e, node->edges[2], out) || out->is_scalar) return false;
  int32_t place = -1;
  int64_t total = 1, rest = 1;
  for (int32_t i = 0; i < out->count; i++) {
    if (!out->known[i] || out->values[i] < -1 || (out->values[i] == -1 && place >= 0)) {
      return false;
    }
    if (out->values[i] == -1) {
      place = i;
    } else if (!combine('*', rest, out->values[i], &rest)) {
      return false;
    }
  }
  if (place < 0) return true;
  out->known[place] = false;
  if (!evaluate(e, node->edges[1], &from) || from.is_scalar || !all_known(&from)) return true;
  for (int32_t i = 0; i < from.count; i++) {
    if (from.values[i] < 0 || !combine('*', total, from.values[i], &total)) return true;
  }
  out->known[place] = rest > 0 && total % rest == 0;
  if (out->known[place]) out->values[place] = total / rest;
  return true;
}

#define EVAL_REDUCTION(name, op)                                                  \
  static bool eval_##name(evaluation *e, const rheos__node *node, int32_t output, \
                          known_ints *out) {                                      \
    return output == 0 && eval_reduction(e, node, op, out);                       \
  }

EVAL_REDUCTION(max, '>')
EVAL_REDUCTION(min, '<')
EVAL_REDUCTION(sum, '+')
EVAL_REDUCTION(prod, '*')

// ---- Dispatch

typedef bool (*eval_fn)(evaluation *e, const rheos__node *node, int32_t output, known_ints *out);

static const struct {
  const char *type;
  eval_fn eval;
  char binary;
} rules[] = {
    {"Shape", eval_shape, 0},
    {"ShapeN", eval_shape, 0},
    {"Rank", eval_rank, 0},
    {"Size", eval_size, 0},
    {"Identity", eval_same, 0},
    {"Cast", eval_same, 0},
    {"StopGradient", eval_same, 0},
    {"ExpandDims", eval_expand, 0},
    {"Pack", eval_pack, 0},
    {"ConcatV2", eval_concat, 0},
    {"Slice", eval_slice, 0},
    {"StridedSlice", eval_strided_slice, 0},
    {"GatherV2", eval_gather, 0},
    {"Range", eval_range, 0},
    {"Add", NULL, '+'},
    {"AddV2", NULL, '+'},
    {"Sub", NULL, '-'},
    {"Mul", NULL, '*'},
    {"FloorDiv", NULL, '/'},
    {"FloorMod", NULL, '%'},
    {"Mod", NULL, '%'},
    {"Maximum", NULL, '>'},
    {"Minimum", NULL, '<'},
    {"Fill", eval_fill, 0},
    {"Max", eval_max, 0},
    {"Min", eval_min, 0},
    {"Sum", eval_sum, 0},
    {"Prod", eval_prod, 0},
    {"SparseAdd", eval_sparse_add, 0},
    {"SparseConcat", eval_sparse_concat, 0},
    {"SparseReshape", eval_sparse_reshape, 0},
    {"BroadcastGradientArgs", eval_broadcast_axes, 0},
};

static bool evaluate_node(evaluation *e, rheos__edge edge, known_ints *out) {
  const rheos_tensor *constant = rheos__const_value(e->graph, edge);
  if (constant != NULL) return from_tensor(constant, out);
  const rheos__node *node = rheos__graph_node(e->graph, edge.id);
  for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
    if (strcmp(node->signature->op->name, rules[i].type) != 0) continue;
    return rules[i].eval != NULL ? rules[i].eval(e, node, edge.index, out)
                                 : eval_binary(e, node, rules[i].binary, out);
  }
  return false;
}

// A constant, or integers that are known by the rules.
static rheos_tensor *known_value(void *argument, rheos__edge edge) {
  evaluation *e = argument;
  rheos_tensor *constant = rheos__const_value(e->graph, edge);
  if (constant != NULL) return rheos_tensor_ref(constant);
  const rheos_dtype dtype = rheos__graph_node(e->graph, edge.id)->outputs[edge.index].dtype;
  known_ints ints;
  if (dtype != RHEOS_INT32 && dtype != RHEOS_INT64) return NULL;
  if (!evaluate(e, edge, &ints) || !all_known(&ints)) return NULL;
  const rheos_shape shape = ints.is_scalar ? RHEOS_SCALAR : RHEOS_SHAPE(ints.count);
  rheos_tensor *value = NULL;
  rheos_status *status = rheos_tensor_new(dtype, shape, &value);
  e->no_memory = e->no_memory || status != NULL;
  rheos_status_free(status);
  for (int32_t i = 0; value != NULL && i < ints.count; i++) {
    if (dtype == RHEOS_INT64) ((int64_t *)value->data)[i] = ints.values[i];
    if (dtype == RHEOS_INT32) ((int32_t *)value->data)[i] = (int32_t)ints.values[i];
  }
  return value;
}

// What the rules do not know may follow from constants all the same. Where whole values decide
// which nodes a program builds, TensorFlow goes by rules alone.
static bool compute(evaluation *e, rheos__edge edge, known_ints *out) {
  const rheos_dtype dtype = rheos__graph_node(e->graph, edge.id)->outputs[edge.index].dtype;
  if (e->is_computing || e->whole_shapes || e->num_computed >= MAX_COMPUTED ||
      !rheos_dtype_is_integer(dtype)) {
    return false;
  }
  evaluation inner = {.graph = e->graph, .is_computing = true};
  e->num_computed++;
  rheos_tensor *value = rheos__computed_value(e->graph, edge, known_value, &inner, &e->no_memory);
  e->no_memory = e->no_memory || inner.no_memory;
  const bool is_known = value != NULL && from_tensor(value, out);
  rheos_tensor_unref(value);
  return is_known;
}

static bool evaluate(evaluation *e, rheos__edge edge, known_ints *out) {
  if (e->depth < MAX_DEPTH && e->num_nodes < MAX_NODES) {
    e->num_nodes++;
    e->depth++;
    bool known = evaluate_node(e, edge, out);
    e->depth--;
    if (known && all_known(out)) return true;
    known_ints computed;
    if (compute(e, edge, &computed)) {
      *out = computed;
      return true;
    }
    if (known) return true;
  }
  return nothing_known(shape_of(e, edge), out);
}

bool rheos__partial_value(const rheos_graph *graph, rheos__edge edge, rheos_shape *out_shape,
                          bool *out_no_memory) {
  evaluation e = {.graph = graph};
  known_ints ints;
  const bool is_known = evaluate(&e, edge, &ints);
  *out_no_memory = *out_no_memory || e.no_memory;
  if (!is_known || ints.is_scalar) return false;
  rheos_shape shape = {.rank = ints.count};
  for (int32_t i = 0; i < ints.count; i++) {
    shape.dims[i] = ints.known[i] && ints.values[i] >= 0 ? ints.values[i] : -1;
  }
  *out_shape = shape;
  return true;
}

bool rheos__whole_value(const rheos_graph *graph, rheos__edge edge, int64_t *values,
                        int32_t capacity, int32_t *out_count) {
  // TensorFlow computes such values of whole shapes only: its programs build other nodes then.
  evaluation e = {.graph = graph, .whole_shapes = true};
  known_ints ints;
  if (!evaluate(&e, edge, &ints) || !all_known(&ints) || ints.count > capacity) return false;
  for (int32_t i = 0; i < ints.count; i++) values[i] = ints.values[i];
  *out_count = ints.count;
  return true;
}

enum { MAX_HANDLE_STEPS = 16 };

// What the attributes of the node tell; NULL: nothing.
static const rheos_shape *told_by_attrs(const rheos__node *node) {
  static const char *const names[] = {"shape", "value_shape", "element_shape"};
  const bool is_variable = (node->signature->op->flags & RHEOS_OP_VARIABLE) != 0;
  for (size_t i = is_variable ? 0 : 1; i < sizeof names / sizeof *names; i++) {
    const rheos_attr_value *shape = rheos__attrs_find(node->attrs, names[i]);
    if (shape != NULL) return shape->kind == RHEOS_ATTR_SHAPE ? shape->shape : NULL;
  }
  return NULL;
}

// What the attribute of a function's argument tells of the handle that it is.
static const rheos_shape *told_of_argument(const rheos__node *node) {
  if ((node->signature->op->flags & RHEOS_OP_PLACEHOLDER) == 0) return NULL;
  const rheos_attr_value *shapes = rheos__attrs_find(node->attrs, "_handle_shapes");
  if (shapes == NULL || shapes->kind != RHEOS_ATTR_LIST_SHAPE || shapes->count < 1) return NULL;
  return &shapes->shapes[0];
}

// The number of the input that tells the shape of a list's elements; -1: there is none.
static int32_t element_shape_input(const rheos__node *node) {
  const rheos__signature *signature = node->signature;
  if ((signature->op->flags & RHEOS_OP_MAKES_LIST) == 0) return -1;
  for (int32_t i = 0; i < signature->num_inputs; i++) {
    if (strcmp(signature->inputs[i].name, "element_shape") == 0) return i;
  }
  return -1;
}

// A constant input as a shape in `room`.
static const rheos_shape *told_by_input(const rheos_graph *graph, rheos__edge edge,
                                        rheos_shape *room) {
  const rheos_tensor *value = rheos__const_value(graph, edge);
  if (value == NULL || value->shape.rank != 1 || value->num_elements > RHEOS_MAX_RANK) return NULL;
  *room = (rheos_shape){.rank = (int32_t)value->num_elements};
  for (int32_t i = 0; i < room->rank; i++) {
    room->dims[i] = rheos__tensor_int_at(value, i);
    if (room->dims[i] < -1) return NULL;
  }
  return room;
}

const rheos_shape *rheos__handle_shape(const rheos_graph *graph, rheos__edge edge,
                                       rheos_shape *room) {
  bool is_choice = false;  // of several, whose elements may differ
  for (int32_t step = 0; step < MAX_HANDLE_STEPS; step++) {
    const rheos__node *node = rheos__graph_node(graph, edge.id);
    const rheos_dtype dtype = node->outputs[edge.index].dtype;
    if (dtype != RHEOS_RESOURCE && (dtype != RHEOS_VARIANT || edge.index != 0)) return NULL;
    const int32_t told = element_shape_input(node);
    if (told >= 0) return told_by_input(graph, node->edges[told], room);
    const rheos_shape *shape = told_of_argument(node);
    if (shape != NULL) return is_choice ? NULL : shape;
    shape = dtype == RHEOS_RESOURCE ? told_by_attrs(node) : NULL;
    const unsigned flags = node->signature->op->flags;
    if (shape != NULL) return is_choice && (flags & RHEOS_OP_VARIABLE) == 0 ? NULL : shape;
    const rheos__flow_role flow = node->signature->op->flow;
    if ((flags & (RHEOS_OP_FORWARDS | RHEOS_OP_CHANGES_LIST)) == 0 && flow == RHEOS__FLOW_NONE) {
      return NULL;
    }
    is_choice = is_choice || flow == RHEOS__FLOW_MERGE || flow == RHEOS__FLOW_SELECT;
    if (is_choice && dtype == RHEOS_VARIANT) return NULL;
    edge = node->edges[flow == RHEOS__FLOW_SELECT ? 1 : 0];
  }
  return NULL;
}
