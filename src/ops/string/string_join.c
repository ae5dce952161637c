// Strings put together: element by element, along dimensions, and by segments.
#include <string.h>

#include "ops/kit/array_util.h"
#include "ops/kit/op_util.h"
#include "ops/kit/polling.h"
#include "ops/kit/string_util.h"

enum { STRINGS_BETWEEN_POLLS = 1 << 14 };

static void add(rheos__text *text, const rheos_string *string) {
  rheos__text_add(text, string->data, string->size_bytes);
}

static void add_separator(rheos__text *text, const rheos_attr_value *separator) {
  rheos__text_add(text, separator->s.data, separator->s.size_bytes);
}

// ---- StringJoin

// Scalars go with every shape; the others have one.
static rheos_status *joined_shape(const rheos_shape *shapes, int32_t count,
                                  rheos_shape *out_shape) {
  rheos_shape shape = RHEOS_SCALAR;
  bool unknown = false, some = false;
  for (int32_t i = 0; i < count; i++) {
    if (shapes[i].rank < 0) unknown = true;
    if (shapes[i].rank <= 0) continue;
    rheos_shape merged = shapes[i];
    if (some) RHEOS_TRY(rheos__shape_merge(&shape, &shapes[i], &merged));
    shape = merged;
    some = true;
  }
  // An unknown one is a scalar, or has the shape of those that are not.
  *out_shape = unknown && !some ? RHEOS_UNKNOWN_SHAPE : shape;
  return NULL;
}

static rheos_status *shape_join(rheos__infer *c) {
  return joined_shape(c->input_shapes, c->num_inputs, &c->output_shapes[0]);
}

typedef struct join_state {
  int32_t num_inputs;
  rheos_shape shape;
  const rheos_attr_value *separator;
} join_state;

static rheos_status *compute_join(void *argument, rheos__step *step, rheos_tensor *const *inputs,
                                  rheos_tensor **outputs) {
  (void)step;
  const join_state *state = argument;
  RHEOS_TRY(rheos__tensor_new(RHEOS_STRING, &state->shape, &outputs[0]));
  rheos__text text = {0};
  rheos_status *status = NULL;
  for (int64_t i = 0; status == NULL && i < outputs[0]->num_elements; i++) {
    text.size = 0;
    for (int32_t k = 0; k < state->num_inputs; k++) {
      const rheos_string *strings = inputs[k]->data;
      if (k > 0) add_separator(&text, state->separator);
      add(&text, &strings[inputs[k]->shape.rank == 0 ? 0 : i]);
    }
    status = rheos__set_text(outputs[0], i, &text);
  }
  rheos__text_deinit(&text);
  return status;
}

static rheos_status *prepare_join(rheos__prepare *p) {
  join_state *state = RHEOS_NEW_STATE(p, join_state);
  if (state == NULL) return rheos__out_of_memory();
  state->num_inputs = p->num_inputs;
  state->separator = rheos__attrs_find(p->attrs, "separator");
  p->compute = compute_join;
  return joined_shape(p->input_shapes, p->num_inputs, &state->shape);
}

// ---- ReduceJoin

// The dimensions of `indices` as positions, the fastest last: that is the first of them. A status
// for one that is out of range or there twice.
static rheos_status *reduced_dims(const rheos_tensor *indices, int32_t rank, int32_t *out_dims,
                                  bool *out_reduced) {
  memset(out_reduced, 0, RHEOS_MAX_RANK * sizeof *out_reduced);
  for (int64_t i = 0; i < indices->num_elements; i++) {
    const int64_t dim = rheos__tensor_int_at(indices, i);
    if (dim < -rank || dim >= rank) {
      return rheos_status_new(RHEOS_OUT_OF_RANGE,
                              "Invalid reduction dimension %lld for input with %d dimension(s)",
                              (long long)dim, (int)rank);
    }
    const int32_t position = (int32_t)(dim < 0 ? dim + rank : dim);
    if (out_reduced[position]) {
      return RHEOS_INVALID("Duplicate reduction dimension %lld", (long long)dim);
    }
    out_reduced[position] = true;
    out_dims[indices->num_elements - 1 - i] = position;
  }
  return NULL;
}

static void drop_dims(const rheos_shape *from, const bool *reduced, bool keep_dims,
                      rheos_shape *out_shape) {
  *out_shape = RHEOS_SCALAR;
  for (int32_t d = 0; d < from->rank; d++) {
    if (!reduced[d]) out_shape->dims[out_shape->rank++] = from->dims[d];
    if (reduced[d] && keep_dims) out_shape->dims[out_shape->rank++] = 1;
  }
}

static rheos_status *shape_reduce_join(rheos__infer *c) {
  const rheos_tensor *indices = rheos__infer_value(c, 1);
  if (c->input_shapes[1].rank > 1) return RHEOS_INVALID("reduction_indices must be a vector");
  const rheos_shape *in = &c->input_shapes[0];
  const bool keep_dims = rheos__attr_bool(c->attrs, "keep_dims");
  if (in->rank < 0) return NULL;
  if (indices == NULL) {
    if (keep_dims) c->output_shapes[0] = rheos__shape_of_rank(in->rank);
    return NULL;
  }
  int32_t dims[RHEOS_MAX_RANK];
  bool reduced[RHEOS_MAX_RANK];
  if (indices->num_elements > in->rank) {
    return RHEOS_INVALID("more reduction_indices than dimensions");
  }
  rheos_status *status = reduced_dims(indices, in->rank, dims, reduced);
  if (status != NULL && rheos_status_code(status) == RHEOS_OUT_OF_RANGE) {
    rheos_status *wrong = RHEOS_INVALID("%s", rheos_status_message(status));
    rheos_status_free(status);
    status = wrong;
  }
  if (status != NULL) return status;
  drop_dims(in, reduced, keep_dims, &c->output_shapes[0]);
  return NULL;
}

typedef struct reduce_join_state {
  bool keep_dims;
  const rheos_attr_value *separator;
} reduce_join_state;

// A walk over the elements of a shape in an order of its dimensions: where `index` leads.
static int64_t offset_of(int64_t index, const int32_t *dims, int32_t num_dims,
                         const rheos_shape *shape, const int64_t *steps) {
  int64_t offset = 0;
  for (int32_t k = num_dims - 1; k >= 0; k--) {
    offset += index % shape->dims[dims[k]] * steps[dims[k]];
    index /= shape->dims[dims[k]];
  }
  return offset;
}

static int64_t product_of(const int32_t *dims, int32_t num_dims, const rheos_shape *shape) {
  int64_t product = 1;  // of some dimensions of a tensor: cannot overflow unless one is 0
  for (int32_t k = 0; k < num_dims; k++) {
    if (shape->dims[dims[k]] == 0) return 0;
  }
  for (int32_t k = 0; k < num_dims; k++) product *= shape->dims[dims[k]];
  return product;
}

static rheos_status *reduce_join(const reduce_join_state *state, const rheos_tensor *input,
                                 const int32_t *dims, int32_t num_dims, const bool *reduced,
                                 rheos__text *text, rheos_tensor *output) {
  const rheos_shape *shape = &input->shape;
  const rheos_string *strings = input->data;
  int32_t kept[RHEOS_MAX_RANK], num_kept = 0;
  int64_t steps[RHEOS_MAX_RANK];
  rheos__row_major_steps(shape, steps);
  for (int32_t d = 0; d < shape->rank; d++) {
    if (!reduced[d]) kept[num_kept++] = d;
  }
  const int64_t count = product_of(dims, num_dims, shape);
  int64_t since = 0;
  for (int64_t i = 0; i < output->num_elements; i++) {
    text->size = 0;
    const int64_t start = offset_of(i, kept, num_kept, shape, steps);
    for (int64_t k = 0; k < count; k++) {
      if (rheos__stops_after(&since, 1, STRINGS_BETWEEN_POLLS)) return rheos__stopped();
      if (k > 0) add_separator(text, state->separator);
      add(text, &strings[start + offset_of(k, dims, num_dims, shape, steps)]);
    }
    RHEOS_TRY(rheos__set_text(output, i, text));
  }
  return NULL;
}

static rheos_status *compute_reduce_join(void *argument, rheos__step *step,
                                         rheos_tensor *const *inputs, rheos_tensor **outputs) {
  (void)step;
  const reduce_join_state *state = argument;
  const int32_t rank = inputs[0]->shape.rank;
  int32_t dims[RHEOS_MAX_RANK];
  bool reduced[RHEOS_MAX_RANK];
  if (inputs[1]->num_elements > rank) {
    return RHEOS_INVALID("more reduction_indices than dimensions");
  }
  RHEOS_TRY(reduced_dims(inputs[1], rank, dims, reduced));
  rheos_shape shape;
  drop_dims(&inputs[0]->shape, reduced, state->keep_dims, &shape);
  RHEOS_TRY(rheos__tensor_new(RHEOS_STRING, &shape, &outputs[0]));
  rheos__text text = {0};
  rheos_status *status = reduce_join(state, inputs[0], dims, (int32_t)inputs[1]->num_elements,
                                     reduced, &text, outputs[0]);
  rheos__text_deinit(&text);
  return status;
}

static rheos_status *prepare_reduce_join(rheos__prepare *p) {
  reduce_join_state *state = RHEOS_NEW_STATE(p, reduce_join_state);
  if (state == NULL) return rheos__out_of_memory();
  state->keep_dims = rheos__attr_bool(p->attrs, "keep_dims");
  state->separator = rheos__attrs_find(p->attrs, "separator");
  p->compute = compute_reduce_join;
  return NULL;
}

// ---- UnsortedSegmentJoin

static rheos_status *shape_segment_join(rheos__infer *c) {
  rheos_shape unused;
  RHEOS_TRY(rheos__infer_rank(c, 2, 0, &unused));
  const rheos_shape *in = &c->input_shapes[0], *ids = &c->input_shapes[1];
  if (in->rank < 0 || ids->rank < 0) return NULL;
  if (ids->rank > in->rank) return RHEOS_INVALID("segment_ids have more dimensions than inputs");
  rheos_shape shape = RHEOS_SHAPE(-1);
  int64_t count;
  if (rheos__infer_int(c, 2, &count)) {
    if (count < 0) {
      return RHEOS_INVALID("Number of segments must be non-negative but got %lld",
                           (long long)count);
    }
    shape.dims[0] = count;
  }
  for (int32_t d = 0; d < ids->rank; d++) {
    if (ids->dims[d] < 0 || in->dims[d] < 0 || ids->dims[d] == in->dims[d]) continue;
    return RHEOS_INVALID("Segment dimension is %lld while input dimension is %lld in rank %d",
                         (long long)ids->dims[d], (long long)in->dims[d], (int)d);
  }
  RHEOS_TRY(rheos__shape_append_range(&shape, in, ids->rank, in->rank));
  c->output_shapes[0] = shape;
  return NULL;
}

static rheos_status *check_segments(const rheos_tensor *ids, int64_t num_segments) {
  if (num_segments < 0) {
    return RHEOS_INVALID("Number of segments must be non-negative but got %lld",
                         (long long)num_segments);
  }
  if (ids->shape.rank == 0) return RHEOS_INVALID("Segment_id cannot have rank 0");
  for (int64_t i = 0; i < ids->num_elements; i++) {
    const int64_t id = rheos__tensor_int_at(ids, i);
    if (id >= 0 && id < num_segments) continue;
    return RHEOS_INVALID(
        "segment_ids are not allowed to exceed num_segments or to have negative values.");
  }
  return NULL;
}

// The rows of each segment, linked in their order: first[segment], then next[row]; -1 ends.
static int64_t *link_rows(const rheos_tensor *ids, int64_t num_segments) {
  const size_t rows = (size_t)ids->num_elements;
  int64_t *first = rheos__alloc_array((size_t)num_segments + rows, sizeof *first);
  if (first == NULL) return NULL;
  int64_t *next = first + num_segments;
  for (int64_t s = 0; s < num_segments; s++) first[s] = -1;
  for (int64_t row = ids->num_elements - 1; row >= 0; row--) {
    const int64_t id = rheos__tensor_int_at(ids, row);
    next[row] = first[id];
    first[id] = row;
  }
  return first;
}

static rheos_status *join_segments(const rheos_attr_value *separator, const rheos_string *strings,
                                   const int64_t *first, int64_t num_segments, int64_t width,
                                   rheos_tensor *output) {
  const int64_t *next = first + num_segments;
  rheos__text text = {0};
  rheos_status *status = NULL;
  for (int64_t i = 0; status == NULL && i < output->num_elements; i++) {
    text.size = 0;
    for (int64_t row = first[i / width]; row >= 0; row = next[row]) {
      if (row != first[i / width]) add_separator(&text, separator);
      add(&text, &strings[row * width + i % width]);
    }
    status = rheos__set_text(output, i, &text);
  }
  rheos__text_deinit(&text);
  return status;
}

static rheos_status *compute_segment_join(void *argument, rheos__step *step,
                                          rheos_tensor *const *inputs, rheos_tensor **outputs) {
  (void)step;
  const rheos_attr_value *const *separator = argument;
  const int64_t num_segments = rheos__tensor_int_at(inputs[2], 0);
  RHEOS_TRY(check_segments(inputs[1], num_segments));
  rheos_shape shape = RHEOS_SHAPE(num_segments);
  const int32_t rank = inputs[1]->shape.rank;
  RHEOS_TRY(rheos__shape_append_range(&shape, &inputs[0]->shape, rank, inputs[0]->shape.rank));
  RHEOS_TRY(rheos__tensor_new(RHEOS_STRING, &shape, &outputs[0]));
  if (outputs[0]->num_elements == 0) return NULL;
  int64_t *first = link_rows(inputs[1], num_segments);
  if (first == NULL) return rheos__out_of_memory();
  rheos_status *status = join_segments(*separator, inputs[0]->data, first, num_segments,
                                       rheos__shape_product(&shape, 1, shape.rank), outputs[0]);
  rheos__free(first);
  return status;
}

static rheos_status *prepare_segment_join(rheos__prepare *p) {
  const rheos_attr_value **separator = RHEOS_NEW_STATE(p, const rheos_attr_value *);
  if (separator == NULL) return rheos__out_of_memory();
  *separator = rheos__attrs_find(p->attrs, "separator");
  p->compute = compute_segment_join;
  return NULL;
}

// ---- Definitions

const rheos__op_def rheos__op_ReduceJoin = {
    .name = "ReduceJoin",
    .signature =
        "inputs: string, reduction_indices: int32 -> output: string; "
        "keep_dims: bool = false; separator: string = \"\"",
    .doc =
        "Joins the strings along `reduction_indices`, the first of them fastest, with `separator` "
        "between them.",
    .shape = shape_reduce_join,
    .gradient = rheos__no_gradient,
    .prepare = prepare_reduce_join,
};

const rheos__op_def rheos__op_StringJoin = {
    .name = "StringJoin",
    .signature = "inputs: N * string -> output: string; N: int >= 0; separator: string = \"\"",
    .doc =
        "Joins the strings at the same place of each input, with `separator` between them; scalars "
        "are repeated.",
    .shape = shape_join,
    .gradient = rheos__no_gradient,
    .prepare = prepare_join,
};

const rheos__op_def rheos__op_UnsortedSegmentJoin = {
    .name = "UnsortedSegmentJoin",
    .signature =
        "inputs: string, segment_ids: Tindices, num_segments: Tnumsegments -> output: string; "
        "separator: string = \"\"; Tindices: index; Tnumsegments: index = int32",
    .doc = "Joins the strings of each segment in their order, with `separator` between them.",
    .shape = shape_segment_join,
    .prepare = prepare_segment_join,
};
