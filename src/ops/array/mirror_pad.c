// MirrorPad: a tensor framed by its own mirror image, and MirrorPadGrad, which folds the frame
// back. Both walk over the framed tensor and know for each of its elements which inner one it
// shows.
#include <string.h>

#include "graph/build.h"
#include "ops/kit/array_util.h"
#include "ops/kit/op_util.h"

// The frame: sizes without it, how much comes before, steps through both tensors.
typedef struct frame {
  int32_t rank;
  int64_t dims[RHEOS_MAX_RANK], before[RHEOS_MAX_RANK], framed[RHEOS_MAX_RANK];
  int64_t steps[RHEOS_MAX_RANK];  // inside
  int64_t edge;                   // 0: the outermost element is not repeated, 1: it is
} frame;

static bool is_symmetric(const rheos__attrs *attrs) {
  return strcmp(rheos__attr_string(attrs, "mode"), "SYMMETRIC") == 0;
}

static rheos_status *check_mirror(int64_t dim, int64_t before, int64_t after, bool symmetric) {
  const int64_t most = symmetric ? dim : dim - 1;
  if (before < 0 || after < 0) {
    return RHEOS_INVALID("paddings must be non-negative: %lld %lld", (long long)before,
                         (long long)after);
  }
  if (before <= most && after <= most) return NULL;
  return RHEOS_INVALID("paddings must be %s the dimension size: %lld, %lld %s %lld",
                       symmetric ? "no greater than" : "less than", (long long)before,
                       (long long)after, symmetric ? "greater than" : "not less than",
                       (long long)dim);
}

// The frame around `inner`, if it makes `framed` of it.
static rheos_status *frame_of(const rheos__operands *o, const void *const *inputs,
                              const rheos_shape *inner, const rheos_shape *framed, frame *out) {
  const bool symmetric = is_symmetric(o->attrs);
  out->edge = symmetric;
  out->rank = inner->rank;
  rheos__row_major_steps(inner, out->steps);
  for (int32_t d = 0; d < inner->rank; ++d) {
    const int64_t before = rheos__operand_int(o, inputs, 1, 2 * d);
    const int64_t after = rheos__operand_int(o, inputs, 1, 2 * d + 1);
    RHEOS_TRY(check_mirror(inner->dims[d], before, after, symmetric));
    if (inner->dims[d] + before + after != framed->dims[d]) {
      return RHEOS_INVALID("paddings do not lead to the expected shape");
    }
    out->dims[d] = inner->dims[d];
    out->before[d] = before;
    out->framed[d] = framed->dims[d];
  }
  return NULL;
}

// Which inner coordinate is seen at `at` of dimension d.
static int64_t seen_at(const frame *f, int32_t d, int64_t at) {
  const int64_t i = at - f->before[d];
  if (i < 0) return -i - f->edge;
  if (i >= f->dims[d]) return 2 * f->dims[d] - 2 - i + f->edge;
  return i;
}

// Calls `visit` for each framed element with the inner one it shows.
typedef rheos_status *(*visit_fn)(const rheos__operands *o, const void *in, void *out,
                                  int64_t framed, int64_t inner);

static rheos_status *walk_frame(const frame *f, int64_t count, const rheos__operands *o,
                                const void *in, void *out, visit_fn visit) {
  int64_t index[RHEOS_MAX_RANK] = {0};
  int64_t inner = 0;
  for (int32_t d = 0; d < f->rank; ++d) inner += seen_at(f, d, 0) * f->steps[d];
  for (int64_t at = 0; at < count; ++at) {
    RHEOS_TRY(visit(o, in, out, at, inner));
    for (int32_t d = f->rank - 1; d >= 0; --d) {
      inner -= seen_at(f, d, index[d]) * f->steps[d];
      const bool goes_on = ++index[d] < f->framed[d];
      if (!goes_on) index[d] = 0;
      inner += seen_at(f, d, index[d]) * f->steps[d];
      if (goes_on) break;
    }
  }
  return NULL;
}

static rheos_status *copy_in(const rheos__operands *o, const void *in, void *out, int64_t framed,
                             int64_t inner) {
  const int64_t size = (int64_t)rheos_dtype_size(o->output_dtypes[0]);
  return rheos__copy_elements(o->output_dtypes[0], (char *)out + framed * size,
                              (const char *)in + inner * size, 1);
}

static rheos_status *run_mirror_pad(const void *state, const void *const *inputs,
                                    void *const *outputs, void *scratch, int64_t first_unit,
                                    int64_t last_unit) {
  (void)scratch, (void)first_unit, (void)last_unit;
  const rheos__operands *o = state;
  frame f;
  RHEOS_TRY(frame_of(o, inputs, &o->input_shapes[0], &o->output_shapes[0], &f));
  const int64_t count = rheos_shape_num_elements(&o->output_shapes[0]);
  return walk_frame(&f, count, o, inputs[0], outputs[0], copy_in);
}

static rheos_status *prepare_mirror_pad(rheos__prepare *p) {
  return rheos__answer_run_operands(p, run_mirror_pad, 1);
}

static void grad_by(rheos__grad *g, const char *type) {
  const rheos_output inputs[] = {rheos__grad_dense(g, 0), g->inputs[1]};
  const char *mode = rheos__attr_string(g->attrs, "mode");
  const rheos_attr attr = rheos_attr_string("mode", mode, strlen(mode));
  const rheos_operation node = rheos__op_n(g->scope, type, NULL, inputs, 2, &attr, 1);
  if (node.graph != NULL) rheos__grad_set(g, 0, rheos_operation_output(node, 0));
}

static void gradient_mirror_pad(rheos__grad *g) { grad_by(g, "MirrorPadGrad"); }

const rheos__op_def rheos__op_MirrorPad = {
    .name = "MirrorPad",
    .signature =
        "input: T, paddings: Tpaddings -> output: T; T: type; "
        "Tpaddings: {int32, int64} = int32; mode: {\"REFLECT\", \"SYMMETRIC\"}",
    .doc =
        "`input` with `paddings`[i] rows of its mirror image before and after it in dimension i.",
    .shape = rheos__shape_pad,
    .gradient = gradient_mirror_pad,
    .prepare = prepare_mirror_pad,
};

// ---- MirrorPadGrad

static rheos_status *shape_mirror_pad_grad(rheos__infer *c) {
  const rheos_shape *in = &c->input_shapes[0];
  int64_t values[2 * RHEOS_MAX_RANK];
  int32_t count;
  RHEOS_TRY(rheos__shape_pad(c));  // the same demands on the paddings
  rheos_shape *out = &c->output_shapes[0];
  if (out->rank >= 0) *out = rheos__shape_of_rank(out->rank);
  if (in->rank < 0 || !rheos__infer_ints(c, 1, values, 2 * RHEOS_MAX_RANK, &count)) return NULL;
  for (int32_t d = 0; d < in->rank; ++d) {
    if (in->dims[d] < 0) continue;
    if (values[2 * d] > in->dims[d] || values[2 * d + 1] > in->dims[d] - values[2 * d]) {
      return RHEOS_INVALID("paddings of %lld and %lld are more than dimension %d of %lld",
                           (long long)values[2 * d], (long long)values[2 * d + 1], d,
                           (long long)in->dims[d]);
    }
    out->dims[d] = in->dims[d] - values[2 * d] - values[2 * d + 1];
  }
  return NULL;
}

static rheos_status *add_up(const rheos__operands *o, const void *in, void *out, int64_t framed,
                            int64_t inner) {
  const int64_t size = (int64_t)rheos_dtype_size(o->output_dtypes[0]);
  rheos__add_of(o->output_dtypes[0])((char *)out + inner * size, (const char *)in + framed * size,
                                     1);
  return NULL;
}

static rheos_status *run_mirror_pad_grad(const void *state, const void *const *inputs,
                                         void *const *outputs, void *scratch, int64_t first_unit,
                                         int64_t last_unit) {
  (void)scratch, (void)first_unit, (void)last_unit;
  static const char zero[16];
  const rheos__operands *o = state;
  const rheos_shape *out = &o->output_shapes[0];
  frame f;
  RHEOS_TRY(frame_of(o, inputs, out, &o->input_shapes[0], &f));
  RHEOS_TRY(
      rheos__fill_elements(o->output_dtypes[0], outputs[0], zero, rheos_shape_num_elements(out)));
  const int64_t count = rheos_shape_num_elements(&o->input_shapes[0]);
  return walk_frame(&f, count, o, inputs[0], outputs[0], add_up);
}

static rheos_status *prepare_mirror_pad_grad(rheos__prepare *p) {
  if (rheos__add_of(p->output_dtypes[0]) == NULL) return rheos__no_kernel(p, p->output_dtypes[0]);
  return rheos__answer_run_operands(p, run_mirror_pad_grad, 1);
}

static void gradient_mirror_pad_grad(rheos__grad *g) { grad_by(g, "MirrorPad"); }

const rheos__op_def rheos__op_MirrorPadGrad = {
    .name = "MirrorPadGrad",
    .signature =
        "input: T, paddings: Tpaddings -> output: T; T: type; "
        "Tpaddings: {int32, int64} = int32; mode: {\"REFLECT\", \"SYMMETRIC\"}",
    .doc = "The gradient of MirrorPad: the frame of `input` folded back and added.",
    .shape = shape_mirror_pad_grad,
    .gradient = gradient_mirror_pad_grad,
    .prepare = prepare_mirror_pad_grad,
};
