// Parts of tensors: Slice, and StridedSlice with all the masks of Python's indexing.
#include "ops/array/slice.h"

#include "graph/build.h"
#include "ops/kit/array_grad.h"
#include "ops/kit/array_util.h"
#include "ops/kit/op_util.h"
#include "ops/kit/variable_util.h"

// ---- Slice

// Both vectors must have an element for each dimension.
static rheos_status *shape_slice(rheos__infer *c) {
  const rheos_shape *in = &c->input_shapes[0];
  rheos_shape begin_shape, size_shape, vector;
  RHEOS_TRY(rheos__infer_rank(c, 1, 1, &begin_shape));
  RHEOS_TRY(rheos__infer_rank(c, 2, 1, &size_shape));
  RHEOS_TRY(rheos__shape_merge(&begin_shape, &size_shape, &vector));
  if (in->rank >= 0 && vector.dims[0] >= 0 && in->rank != vector.dims[0]) {
    return RHEOS_INVALID(
        "Expected begin and size arguments to be 1-D tensors of size %d, but got %lld instead.",
        in->rank, (long long)vector.dims[0]);
  }
  int32_t rank = in->rank >= 0 ? in->rank : (int32_t)vector.dims[0];
  if (rank < 0) return NULL;
  rheos_shape *out = &c->output_shapes[0];
  if (rank > RHEOS_MAX_RANK) return NULL;
  *out = rheos__shape_of_rank(rank);
  int64_t begin[RHEOS_MAX_RANK], known_sizes[RHEOS_MAX_RANK];
  int32_t count = -1, num_sizes = -1;
  bool begin_known = rheos__infer_ints(c, 1, begin, RHEOS_MAX_RANK, &count);
  bool size_known = rheos__infer_ints(c, 2, known_sizes, RHEOS_MAX_RANK, &num_sizes);
  rheos_shape begins = RHEOS_UNKNOWN_SHAPE, sizes;
  if (!begin_known) RHEOS_TRY(rheos__infer_shape_value(c, 1, &begins));
  RHEOS_TRY(rheos__infer_shape_value(c, 2, &sizes));
  if (sizes.rank != rank || (begin_known && count != rank)) return NULL;
  for (int32_t d = 0; d < rank; ++d) {
    int64_t dim = in->rank >= 0 ? in->dims[d] : -1, size = sizes.dims[d];
    int64_t from = begin_known ? begin[d] : begins.rank == rank ? begins.dims[d] : -1;
    bool from_known = begin_known || from >= 0;
    if (from_known && dim >= 0 && (from < 0 || from > dim)) {
      return RHEOS_INVALID("Expected begin[%d] in [0, %lld], but got %lld", d, (long long)dim,
                           (long long)from);
    }
    if (size >= 0 && from_known && dim >= 0 && size > dim - from) {
      return RHEOS_INVALID("Expected size[%d] in [0, %lld], but got %lld", d,
                           (long long)(dim - from), (long long)size);
    }
    // -1 among known sizes means the rest; else it is just not known.
    bool rest = size < 0 && size_known && from_known && dim >= 0;
    out->dims[d] = rest ? dim - from : size;
  }
  return NULL;
}

static rheos_status *make_slice(const rheos__operands *o, const void *const *inputs,
                                rheos__copy *out_copy) {
  const rheos_shape *in = &o->input_shapes[0], *out = &o->output_shapes[0];
  int64_t in_steps[RHEOS_MAX_RANK], out_steps[RHEOS_MAX_RANK];
  rheos__row_major_steps(in, in_steps);
  rheos__row_major_steps(out, out_steps);
  rheos__copy_init(out_copy, o->output_dtypes[0]);
  for (int32_t d = 0; d < in->rank; ++d) {
    int64_t begin = rheos__operand_int(o, inputs, 1, d);
    int64_t size = rheos__operand_int(o, inputs, 2, d);
    if (begin < 0 || begin > in->dims[d]) {
      return RHEOS_INVALID("Expected begin[%d] in [0, %lld], but got %lld", d,
                           (long long)in->dims[d], (long long)begin);
    }
    if (size == -1) size = in->dims[d] - begin;
    if (size < 0 || size > in->dims[d] - begin || size != out->dims[d]) {
      return RHEOS_INVALID("Expected size[%d] in [0, %lld], but got %lld", d,
                           (long long)(in->dims[d] - begin), (long long)size);
    }
    out_copy->in_start += begin * in_steps[d];
    rheos__copy_add(out_copy, size, in_steps[d], out_steps[d]);
  }
  return NULL;
}

static rheos_status *prepare_slice(rheos__prepare *p) {
  return rheos__answer_copy(p, 0, make_slice);
}

// d input: the gradient, padded with zeros where nothing was taken.
static void gradient_slice(rheos__grad *g) {
  rheos_scope *s = g->scope;
  rheos_output grad = rheos__grad_dense(g, 0);
  rheos_output rank = rheos__rank_of(s, g->inputs[0]);
  rheos_output size = rheos__shape_of(s, g->outputs[0], RHEOS_INT32);
  rheos_output column = rheos__stack_number(s, "stack", rank, 1);
  rheos_output begin = g->inputs[1];
  if (rheos_scope_status(s) != NULL) return;
  if (rheos_output_dtype(begin) != RHEOS_INT32) begin = rheos__cast_to(s, begin, RHEOS_INT32);
  rheos_output before = rheos__op_2(s, "Reshape", begin, column);
  rheos_output shape = rheos__shape_of(s, g->inputs[0], RHEOS_INT32);
  rheos_output after = rheos__py_sub(s, rheos__py_sub(s, shape, size), begin);
  rheos_output pads[] = {before, rheos__op_2(s, "Reshape", after, column)};
  rheos_output paddings = rheos__concat(s, pads, 2, 1);
  rheos__grad_set(g, 0, rheos__op_2(s, "Pad", grad, paddings));
}

const rheos__op_def rheos__op_Slice = {
    .name = "Slice",
    .signature = "input: T, begin: Index, size: Index -> output: T; T: type; Index: {int32, int64}",
    .doc = "`size` elements of each dimension of `input` from `begin` on; -1: all the rest.",
    .shape = shape_slice,
    .gradient = gradient_slice,
    .prepare = prepare_slice,
};

// ---- StridedSlice: from a sparse specification with masks to one range for each dimension

typedef struct masks {
  int64_t begin, end, ellipsis, new_axis, shrink_axis;
} masks;

static masks masks_of(const rheos__attrs *attrs) {
  return (masks){rheos__attr_int(attrs, "begin_mask"), rheos__attr_int(attrs, "end_mask"),
                 rheos__attr_int(attrs, "ellipsis_mask"), rheos__attr_int(attrs, "new_axis_mask"),
                 rheos__attr_int(attrs, "shrink_axis_mask")};
}

enum { MAX_SPEC = 32 };  // entries of a specification: a mask has this many bits

// What is taken of each dimension of the input, and which dimensions the result has.
typedef struct ranges {
  int32_t rank;
  struct range {
    int64_t begin, stride, size;  // size -1: not known
    bool shrink;
  } dims[RHEOS_MAX_RANK];
  // Dimensions of the result: a dimension of the input, or -1 for a new one of size 1.
  int32_t out_rank;
  int32_t out_dims[RHEOS_MAX_RANK];
} ranges;

typedef struct spec {
  int32_t count;
  bool strides_known;
  bool begin_known[MAX_SPEC], end_known[MAX_SPEC];
  int64_t begin[MAX_SPEC], end[MAX_SPEC], strides[MAX_SPEC];
  masks masks;
} spec;

static bool bit(int64_t mask, int32_t i) { return (mask >> i & 1) != 0; }

static rheos_status *add_out_dim(ranges *r, int32_t dim) {
  if (r->out_rank >= RHEOS_MAX_RANK) {
    return rheos_status_new(RHEOS_UNIMPLEMENTED, "a shape of more than %d dimensions",
                            RHEOS_MAX_RANK);
  }
  r->out_dims[r->out_rank++] = dim;
  return NULL;
}

// A whole dimension, as an ellipsis or missing entries take it.
static rheos_status *take_all(ranges *r, const rheos_shape *in, int32_t d) {
  r->dims[d] = (struct range){0, 1, in->dims[d], false};
  return add_out_dim(r, d);
}

static int64_t clamp(int64_t value, int64_t low, int64_t high) {
  return value < low ? low : value > high ? high : value;
}

// The first element of a range, or the one past its end, in a dimension of size `dim`.
static int64_t bound(int64_t value, bool masked, bool is_begin, int64_t stride, int64_t dim) {
  int64_t low = stride > 0 ? 0 : -1, high = stride > 0 ? dim : dim - 1;
  if (masked) return (stride > 0) == is_begin ? low : high;
  return clamp(value < 0 ? value + dim : value, low, high);
}

// A single element: the mask of `begin` has no say.
static rheos_status *take_one(const spec *s, int32_t i, int32_t d, int64_t dim, struct range *out) {
  if (s->strides_known && s->strides[i] <= 0) {
    return RHEOS_INVALID("only stride 1 allowed on non-range indexing.");
  }
  *out = (struct range){0, 1, 1, true};
  if (dim < 0 || !s->begin_known[i]) return NULL;
  out->begin = s->begin[i] < 0 ? s->begin[i] + dim : s->begin[i];
  if (out->begin < 0 || out->begin >= dim) {
    return RHEOS_INVALID("slice index %lld of dimension %d out of bounds.", (long long)out->begin,
                         d);
  }
  return NULL;
}

static struct range take_range(const spec *s, int32_t i, int64_t dim) {
  struct range range = {0, 1, -1, false};
  bool begin_masked = bit(s->masks.begin, i), end_masked = bit(s->masks.end, i);
  if (dim < 0 || !s->strides_known || !(begin_masked || s->begin_known[i]) ||
      !(end_masked || s->end_known[i])) {
    return range;
  }
  int64_t stride = s->strides[i];
  range.stride = stride;
  range.begin = bound(begin_masked ? 0 : s->begin[i], begin_masked, true, stride, dim);
  int64_t end = bound(end_masked ? 0 : s->end[i], end_masked, false, stride, dim);
  int64_t distance = stride > 0 ? end - range.begin : range.begin - end;
  uint64_t step = stride > 0 ? (uint64_t)stride : -(uint64_t)stride;
  range.size = distance <= 0 ? 0 : (int64_t)(((uint64_t)distance - 1) / step) + 1;
  return range;
}

// Entry i of the specification applied to dimension d.
static rheos_status *apply_entry(const spec *s, int32_t i, const rheos_shape *in, int32_t d,
                                 ranges *r) {
  if (s->strides_known && s->strides[i] == 0) {
    return RHEOS_INVALID("strides[%d] must be non-zero", i);
  }
  if (bit(s->masks.shrink_axis, i)) return take_one(s, i, d, in->dims[d], &r->dims[d]);
  r->dims[d] = take_range(s, i, in->dims[d]);
  return add_out_dim(r, d);
}

// How many entries stand for a dimension of the input each.
static int32_t count_dimensions(const spec *s) {
  int32_t count = 0;
  for (int32_t i = 0; i < s->count; ++i) {
    count += !bit(s->masks.ellipsis, i) && !bit(s->masks.new_axis, i);
  }
  return count;
}

static rheos_status *resolve(const spec *s, const rheos_shape *in, ranges *r) {
  *r = (ranges){.rank = in->rank};
  int32_t ellipses = 0;
  for (int32_t i = 0; i < s->count; ++i) ellipses += bit(s->masks.ellipsis, i);
  if (ellipses > 1) return RHEOS_INVALID("Multiple ellipses in slice spec not allowed");
  int32_t named = count_dimensions(s), d = 0;
  if (named > in->rank) {
    return RHEOS_INVALID("Index out of range using input dim %d; input has only %d dims", in->rank,
                         in->rank);
  }
  for (int32_t i = 0; i < s->count; ++i) {
    if (bit(s->masks.ellipsis, i)) {
      for (int32_t k = 0; k < in->rank - named; ++k, ++d) RHEOS_TRY(take_all(r, in, d));
    } else if (bit(s->masks.new_axis, i)) {
      RHEOS_TRY(add_out_dim(r, -1));
    } else {
      RHEOS_TRY(apply_entry(s, i, in, d++, r));
    }
  }
  for (; d < in->rank; ++d) RHEOS_TRY(take_all(r, in, d));
  return NULL;
}

static void result_shape(const ranges *r, rheos_shape *out) {
  *out = RHEOS_SCALAR;
  for (int32_t i = 0; i < r->out_rank; ++i) {
    int32_t d = r->out_dims[i];
    out->dims[out->rank++] = d < 0 ? 1 : r->dims[d].size;
  }
}

// Reads the specification from inputs first .. first + 2, all of length `count`.
static rheos_status *spec_count(int64_t count, spec *out) {
  if (count > MAX_SPEC) {
    return RHEOS_INVALID("a slice of more than %d entries, got %lld", MAX_SPEC, (long long)count);
  }
  out->count = (int32_t)count;
  return NULL;
}

// What is known of begin or end: all of it, or some entries that are not negative.
static void infer_bounds(const rheos__infer *c, int32_t input, int32_t count, int64_t *values,
                         bool *known) {
  int32_t length;
  rheos_shape partial = RHEOS_UNKNOWN_SHAPE;
  if (rheos__infer_ints(c, input, values, MAX_SPEC, &length)) {
    for (int32_t i = 0; i < length; ++i) known[i] = true;
  } else if (c->partial != NULL && c->partial(c->partial_argument, input, &partial)) {
    for (int32_t i = 0; i < partial.rank && i < count; ++i) {
      values[i] = partial.dims[i];
      known[i] = partial.dims[i] >= 0;
    }
  }
}

static rheos_status *infer_spec(const rheos__infer *c, int32_t first, spec *out, bool *out_exists) {
  rheos_shape vector = RHEOS_SHAPE(-1), one;
  for (int32_t i = first; i < first + 3; ++i) {
    RHEOS_TRY(rheos__infer_rank(c, i, 1, &one));
    rheos_shape before = vector;
    if (!rheos_shape_compatible(&before, &one)) {
      return RHEOS_INVALID("Expected begin, end, and strides to be 1D equal size tensors");
    }
    RHEOS_TRY(rheos__shape_merge(&before, &one, &vector));
  }
  *out_exists = vector.dims[0] >= 0;
  if (!*out_exists) return NULL;
  RHEOS_TRY(spec_count(vector.dims[0], out));
  out->masks = masks_of(c->attrs);
  bool known[MAX_SPEC] = {false};
  infer_bounds(c, first, out->count, out->begin, out->begin_known);
  infer_bounds(c, first + 1, out->count, out->end, out->end_known);
  infer_bounds(c, first + 2, out->count, out->strides, known);
  out->strides_known = true;
  for (int32_t i = 0; i < out->count; ++i) out->strides_known &= known[i];
  return NULL;
}

static rheos_status *run_spec(const rheos__operands *o, const void *const *inputs, int32_t first,
                              spec *out) {
  const rheos_shape *begin = &o->input_shapes[first];
  if (begin->rank != 1 || !rheos_shape_equal(begin, begin + 1) ||
      !rheos_shape_equal(begin, begin + 2)) {
    rheos__shape_text a, b, c;
    return RHEOS_INVALID(
        "Expected begin, end, and strides to be 1D equal size tensors, but got shapes %s, %s, and "
        "%s instead.",
        rheos__shape_text_of(begin, &a), rheos__shape_text_of(begin + 1, &b),
        rheos__shape_text_of(begin + 2, &c));
  }
  RHEOS_TRY(spec_count(begin->dims[0], out));
  out->masks = masks_of(o->attrs);
  out->strides_known = true;
  for (int32_t i = 0; i < out->count; ++i) {
    out->begin_known[i] = out->end_known[i] = true;
    out->begin[i] = rheos__operand_int(o, inputs, first, i);
    out->end[i] = rheos__operand_int(o, inputs, first + 1, i);
    out->strides[i] = rheos__operand_int(o, inputs, first + 2, i);
  }
  return NULL;
}

static rheos_status *shape_strided_slice(rheos__infer *c) {
  spec s = {0};
  bool exists = false;
  RHEOS_TRY(infer_spec(c, 1, &s, &exists));
  if (!exists || c->input_shapes[0].rank < 0) return NULL;
  ranges r;
  RHEOS_TRY(resolve(&s, &c->input_shapes[0], &r));
  result_shape(&r, &c->output_shapes[0]);
  return NULL;
}

// The steps in a small tensor whose shape is that of the slice.
static rheos_status *small_steps_of(const ranges *r, const rheos_shape *small, bool taking,
                                    int64_t *out_steps) {
  rheos_shape slice;
  result_shape(r, &slice);
  rheos__row_major_steps(small, out_steps);
  if (rheos_shape_equal(&slice, small)) return NULL;
  rheos__shape_text got, expected;
  if (taking) {
    return RHEOS_INVALID("the slice has shape %s where %s was expected",
                         rheos__shape_text_of(&slice, &got),
                         rheos__shape_text_of(small, &expected));
  }
  return RHEOS_INVALID("shape of dy was %s instead of %s", rheos__shape_text_of(small, &got),
                       rheos__shape_text_of(&slice, &expected));
}

// Where dimension 0 of the slice would be among those of `small`, which may have more in front; a
// status unless `small` broadcasts to the slice: these are 1 and each of the others is 1 or the
// slice's.
static rheos_status *broadcast_offset(const rheos_shape *slice, const rheos_shape *small,
                                      int32_t *out_offset) {
  const int32_t offset = small->rank - slice->rank;
  bool fits = true;
  for (int32_t d = 0; d < small->rank && fits; ++d) {
    const int64_t dim = small->dims[d], wanted = d < offset ? 1 : slice->dims[d - offset];
    fits = dim < 0 || dim == 1 || wanted < 0 || dim == wanted;
  }
  *out_offset = offset;
  rheos__shape_text got, expected;
  return fits ? NULL
              : RHEOS_INVALID("a value of shape %s does not broadcast to the slice's shape %s",
                              rheos__shape_text_of(small, &got),
                              rheos__shape_text_of(slice, &expected));
}

// The steps, along the dimensions of the slice, in a small tensor that broadcasts to it.
static rheos_status *broadcast_steps_of(const rheos_shape *slice, const rheos_shape *small,
                                        int64_t *out_steps) {
  int32_t offset;
  int64_t steps[RHEOS_MAX_RANK];
  RHEOS_TRY(broadcast_offset(slice, small, &offset));
  rheos__row_major_steps(small, steps);
  for (int32_t d = 0; d < slice->rank; ++d) {
    const int32_t at = d + offset;
    out_steps[d] = at < 0 || small->dims[at] == 1 ? 0 : steps[at];
  }
  return NULL;
}

// The loops over the elements that are taken; `start` and `steps` in the large tensor,
// `small_steps` in the other.
static void loops_of(const ranges *r, const rheos_shape *large, const int64_t *small_steps,
                     rheos_dtype dtype, bool taking, rheos__copy *copy) {
  rheos_shape shape;
  result_shape(r, &shape);
  int64_t steps[RHEOS_MAX_RANK], start = 0;
  rheos__row_major_steps(large, steps);
  rheos__copy_init(copy, dtype);
  for (int32_t i = 0; i < shape.rank; ++i) {
    int32_t d = r->out_dims[i];
    if (d < 0) continue;
    if (shape.dims[i] == 0) {
      rheos__copy_add(copy, 0, 0, 0);
      return;
    }
    int64_t step = shape.dims[i] == 1 ? 0 : r->dims[d].stride * steps[d];
    rheos__copy_add(copy, shape.dims[i], taking ? step : small_steps[i],
                    taking ? small_steps[i] : step);
  }
  for (int32_t d = 0; d < r->rank; ++d) start += r->dims[d].begin * steps[d];
  *(taking ? &copy->in_start : &copy->out_start) = start;
}

static rheos_status *make_strided_slice(const rheos__operands *o, const void *const *inputs,
                                        rheos__copy *out_copy) {
  spec s = {0};
  ranges r;
  int64_t small_steps[RHEOS_MAX_RANK];
  RHEOS_TRY(run_spec(o, inputs, 1, &s));
  RHEOS_TRY(resolve(&s, &o->input_shapes[0], &r));
  RHEOS_TRY(small_steps_of(&r, &o->output_shapes[0], true, small_steps));
  loops_of(&r, &o->input_shapes[0], small_steps, o->output_dtypes[0], true, out_copy);
  return NULL;
}

static rheos_status *prepare_strided_slice(rheos__prepare *p) {
  return rheos__answer_copy(p, 0, make_strided_slice);
}

static const char *const mask_names[] = {"begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask",
                                         "shrink_axis_mask"};

static void same_masks(const rheos__attrs *attrs, rheos_attr *out_attrs) {
  for (int32_t i = 0; i < 5; ++i) {
    out_attrs[i] = rheos_attr_int(mask_names[i], rheos__attr_int(attrs, mask_names[i]));
  }
}

static void gradient_strided_slice(rheos__grad *g) {
  if (rheos_scope_status(g->scope) != NULL) return;
  rheos_attr attrs[5];
  same_masks(g->attrs, attrs);
  // Of int16 there are no shapes.
  const rheos_dtype given = rheos_dtype_base(rheos_output_dtype(g->inputs[1]));
  const rheos_dtype dtype = given == RHEOS_INT16 ? RHEOS_INT32 : given;
  rheos_output inputs[] = {rheos__shape_of(g->scope, g->inputs[0], dtype), g->inputs[1],
                           g->inputs[2], g->inputs[3], rheos__grad_dense(g, 0)};
  for (int k = 1; k < 4 && given != dtype; k++) {
    inputs[k] = rheos__cast_to(g->scope, inputs[k], dtype);
  }
  rheos__grad_set(g, 0, rheos__named_n(g->scope, "StridedSliceGrad", NULL, inputs, 5, attrs, 5));
}

#define STRIDED_SLICE_MASKS                                                                  \
  "begin_mask: int = 0; end_mask: int = 0; ellipsis_mask: int = 0; new_axis_mask: int = 0; " \
  "shrink_axis_mask: int = 0"

const rheos__op_def rheos__op_StridedSlice = {
    .name = "StridedSlice",
    .signature =
        "input: T, begin: Index, end: Index, strides: Index -> output: T; T: type; "
        "Index: {int16, int32, int64}; " STRIDED_SLICE_MASKS,
    .doc =
        "`input`[`begin`:`end`:`strides`, ...]; bits of the masks leave bounds out, put "
        "dimensions in and take them away.",
    .shape = shape_strided_slice,
    .gradient = gradient_strided_slice,
    .prepare = prepare_strided_slice,
};

// ---- StridedSliceGrad

static rheos_status *shape_strided_slice_grad(rheos__infer *c) {
  rheos_shape ignored, *out = &c->output_shapes[0];
  RHEOS_TRY(rheos__infer_rank(c, 0, 1, &ignored));
  RHEOS_TRY(rheos__infer_shape_value(c, 0, out));
  if (c->input_values == NULL || c->input_values[0] == NULL || rheos_shape_is_known(out)) {
    return NULL;
  }
  rheos__shape_text text;
  return RHEOS_INVALID("expected a fully known shape, got %s", rheos__shape_text_of(out, &text));
}

static rheos_status *make_strided_slice_grad(const rheos__operands *o, const void *const *inputs,
                                             rheos__copy *out_copy) {
  const rheos_shape *large = &o->output_shapes[0];
  int64_t small_steps[RHEOS_MAX_RANK];
  spec s = {0};
  ranges r;
  RHEOS_TRY(run_spec(o, inputs, 1, &s));
  RHEOS_TRY(resolve(&s, large, &r));
  RHEOS_TRY(small_steps_of(&r, &o->input_shapes[4], false, small_steps));
  loops_of(&r, large, small_steps, o->output_dtypes[0], false, out_copy);
  return NULL;
}

static rheos_status *prepare_strided_slice_grad(rheos__prepare *p) {
  return rheos__answer_spread(p, -1, 4, make_strided_slice_grad);
}

static void gradient_strided_slice_grad(rheos__grad *g) {
  rheos_attr attrs[5];
  same_masks(g->attrs, attrs);
  rheos_output inputs[] = {rheos__grad_dense(g, 0), g->inputs[1], g->inputs[2], g->inputs[3]};
  rheos__grad_set(g, 4, rheos__named_n(g->scope, "StridedSlice", NULL, inputs, 4, attrs, 5));
}

const rheos__op_def rheos__op_StridedSliceGrad = {
    .name = "StridedSliceGrad",
    .signature =
        "shape: Index, begin: Index, end: Index, strides: Index, dy: T -> output: T; "
        "T: type; Index: {int32, int64}; " STRIDED_SLICE_MASKS,
    .doc = "Zeros of `shape` with `dy` where StridedSlice would have taken it from.",
    .shape = shape_strided_slice_grad,
    .gradient = gradient_strided_slice_grad,
    .prepare = prepare_strided_slice_grad,
};

// ---- StridedSliceAssign: the slice of a variable

typedef struct assign_state {
  rheos__cells cells;
  const rheos__attrs *attrs;
} assign_state;

rheos_status *rheos__assigned_slice(const rheos__operands *o, const void *const *inputs,
                                    rheos__copy *out_copy) {
  const rheos_shape *variable = &o->input_shapes[0];
  int64_t small_steps[RHEOS_MAX_RANK];
  spec spec = {0};
  ranges r;
  rheos_shape slice;
  rheos__copy_init(out_copy, o->input_dtypes[4]);
  RHEOS_TRY(run_spec(o, inputs, 1, &spec));
  RHEOS_TRY(resolve(&spec, variable, &r));
  result_shape(&r, &slice);
  if (rheos_shape_num_elements(&slice) == 0) {  // whatever the value is
    rheos__copy_add(out_copy, 0, 0, 0);
    return NULL;
  }
  RHEOS_TRY(broadcast_steps_of(&slice, &o->input_shapes[4], small_steps));
  loops_of(&r, variable, small_steps, o->input_dtypes[4], false, out_copy);
  return NULL;
}

static rheos_status *assign_slice(const assign_state *s, rheos_tensor *variable,
                                  rheos_tensor *const *inputs) {
  rheos_dtype dtypes[5] = {variable->dtype};
  rheos_shape shapes[5] = {variable->shape};
  const void *data[5] = {variable->data};
  rheos__copy copy;
  for (int32_t i = 1; i < 5; ++i) {
    dtypes[i] = inputs[i]->dtype;
    shapes[i] = inputs[i]->shape;
    data[i] = inputs[i]->data;
  }
  const rheos__operands o = {
      .attrs = s->attrs, .num_inputs = 5, .input_dtypes = dtypes, .input_shapes = shapes};
  RHEOS_TRY(rheos__assigned_slice(&o, data, &copy));
  return rheos__copy_all(&copy, data[4], variable->data);
}

static rheos_status *compute_assign(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                    rheos_tensor **outputs) {
  (void)step, (void)outputs;
  const assign_state *s = state;
  rheos_tensor *values[RHEOS__MAX_CELLS];
  RHEOS_TRY(rheos__cells_begin_write(&s->cells, values));
  rheos_status *status = assign_slice(s, values[0], inputs);
  rheos__cells_end_write(&s->cells);
  return status;
}

static rheos_status *prepare_assign(rheos__prepare *p) {
  assign_state *s = RHEOS_NEW_STATE(p, assign_state);
  if (s == NULL) return rheos__out_of_memory();
  RHEOS_TRY(rheos__cells_of(p, 1, &s->cells));
  s->attrs = p->attrs;
  p->compute = compute_assign;
  rheos__pass_reference(p);
  return NULL;
}

static rheos_status *shape_assign(rheos__infer *c) {
  spec s = {0};
  bool exists = false;
  rheos_shape variable = rheos__infer_variable_shape(c, 0), slice;
  if (c->num_outputs > 0) c->output_shapes[0] = variable;
  RHEOS_TRY(infer_spec(c, 1, &s, &exists));
  if (!exists || variable.rank < 0) return NULL;
  ranges r;
  RHEOS_TRY(resolve(&s, &variable, &r));
  result_shape(&r, &slice);
  // Nothing is set where the slice is empty, whatever the value is.
  if (!rheos_shape_is_known(&slice) || rheos_shape_num_elements(&slice) == 0) return NULL;
  int32_t offset;
  return c->input_shapes[4].rank < 0 ? NULL
                                     : broadcast_offset(&slice, &c->input_shapes[4], &offset);
}

const rheos__op_def rheos__op_StridedSliceAssign = {
    .name = "StridedSliceAssign",
    .signature =
        "ref: Ref(T), begin: Index, end: Index, strides: Index, value: T -> "
        "output_ref: Ref(T); T: type; Index: index; " STRIDED_SLICE_MASKS,
    .doc = "Sets a slice of the variable to `value`, which broadcasts to the shape of the slice.",
    .flags = RHEOS_OP_STATEFUL | RHEOS_OP_WRITES,
    .shape = shape_assign,
    .gradient = rheos__no_gradient,
    .prepare = prepare_assign,
};

const rheos__op_def rheos__op_ResourceStridedSliceAssign = {
    .name = "ResourceStridedSliceAssign",
    .signature =
        "ref: resource, begin: Index, end: Index, strides: Index, value: T ->; T: type; "
        "Index: index; " STRIDED_SLICE_MASKS,
    .doc = "Sets a slice of the variable to `value`, which broadcasts to the shape of the slice.",
    .flags = RHEOS_OP_STATEFUL | RHEOS_OP_WRITES,
    .shape = shape_assign,
    .gradient = rheos__no_gradient,
    .prepare = prepare_assign,
};
