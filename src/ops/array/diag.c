// Matrices by their diagonals.
#include <string.h>

#include "graph/build.h"
#include "ops/kit/array_util.h"
#include "ops/kit/op_util.h"

#define DIAG_TYPES "{bfloat16, half, float, double, int32, int64, complex64, complex128}"

// ---- MatrixBandPart

static rheos_status *shape_band(rheos__infer *c) {
  static const char *const names[] = {"input", "num_lower", "num_upper"};
  const rheos_shape *in = &c->input_shapes[0];
  rheos__shape_text text;
  if (in->rank == 0 || in->rank == 1) {
    return RHEOS_INVALID("input must be at least 2-dim, received shape: %s",
                         rheos__shape_text_of(in, &text));
  }
  for (int32_t i = 1; i < 3; ++i) {
    if (c->input_shapes[i].rank <= 0) continue;
    return RHEOS_INVALID("%s must be scalar, got shape %s", names[i],
                         rheos__shape_text_of(&c->input_shapes[i], &text));
  }
  c->output_shapes[0] = *in;
  return NULL;
}

static rheos_status *run_band(const void *state, const void *const *inputs, void *const *outputs,
                              void *scratch, int64_t first_unit, int64_t last_unit) {
  (void)scratch;
  static const char zero[16];
  const rheos__operands *o = state;
  const rheos_shape *shape = &o->input_shapes[0];
  rheos_dtype dtype = o->output_dtypes[0];
  int64_t rows = shape->dims[shape->rank - 2], columns = shape->dims[shape->rank - 1];
  int64_t lower = rheos__operand_int(o, inputs, 1, 0), upper = rheos__operand_int(o, inputs, 2, 0);
  int64_t size = (int64_t)rheos_dtype_size(dtype);
  if (lower > rows) {
    return RHEOS_INVALID(
        "num_lower must be negative or less or equal to number of rows (%lld) got: %lld",
        (long long)rows, (long long)lower);
  }
  if (upper > columns) {
    return RHEOS_INVALID(
        "num_upper must be negative or less or equal to number of columns (%lld) got: %lld",
        (long long)columns, (long long)upper);
  }
  if (last_unit > o->numbers[0]) last_unit = o->numbers[0];
  for (int64_t unit = first_unit; unit < last_unit; ++unit) {
    int64_t row = unit % rows;
    int64_t first = lower < 0 || row < lower ? 0 : row - lower;
    int64_t last = upper < 0 || row + upper + 1 > columns ? columns : row + upper + 1;
    if (first > columns) first = columns;
    if (last < first) last = first;
    char *out = (char *)outputs[0] + unit * columns * size;
    const char *in = (const char *)inputs[0] + unit * columns * size;
    if (out != in) {
      RHEOS_TRY(rheos__copy_elements(dtype, out + first * size, in + first * size, last - first));
    }
    if (dtype == RHEOS_STRING) continue;  // empty already
    RHEOS_TRY(rheos__fill_elements(dtype, out, zero, first));
    RHEOS_TRY(rheos__fill_elements(dtype, out + last * size, zero, columns - last));
  }
  return NULL;
}

static rheos_status *prepare_band(rheos__prepare *p) {
  const rheos_shape *shape = &p->input_shapes[0];
  if (p->input_dtypes[0] != RHEOS_STRING) p->reuse_input = 0;
  rheos__operands *o = rheos__keep_operands(p);
  if (o == NULL) return rheos__out_of_memory();
  bool empty = rheos_shape_num_elements(shape) == 0;
  o->numbers[0] = empty ? 0 : rheos__shape_product(shape, 0, shape->rank - 1);
  p->state = o;
  return rheos__answer_run(p, run_band, o->numbers[0]);
}

static void gradient_band(rheos__grad *g) {
  rheos_output grad = rheos__grad_dense(g, 0);
  rheos__grad_set(g, 0, rheos__op_3(g->scope, "MatrixBandPart", grad, g->inputs[1], g->inputs[2]));
}

const rheos__op_def rheos__op_MatrixBandPart = {
    .name = "MatrixBandPart",
    .signature =
        "input: T, num_lower: Tindex, num_upper: Tindex -> band: T; T: type; "
        "Tindex: {int32, int64} = int64",
    .doc =
        "`input` with zeros outside of `num_lower` diagonals below the main one and `num_upper` "
        "above; negative: all.",
    .shape = shape_band,
    .gradient = gradient_band,
    .prepare = prepare_band,
};

// ---- Diag, MatrixDiag: a vector on the diagonal of zeros

// Matrices of `size` by `size`, one for each of `batch` vectors.
// The diagonals of `batch` square matrices of `size` rows.
static void set_diagonals(rheos__copy *copy, rheos_dtype dtype, int64_t batch, int64_t size) {
  rheos__copy_init(copy, dtype);
  rheos__copy_add(copy, batch, size, size * size);
  rheos__copy_add(copy, size, 1, size + 1);
}

static rheos_status *shape_diag(rheos__infer *c) {
  const rheos_shape *in = &c->input_shapes[0];
  RHEOS_TRY(rheos__infer_rank_at_least(c, 0, 1));
  if (in->rank < 0) return NULL;
  c->output_shapes[0] = *in;
  return rheos__shape_append_range(&c->output_shapes[0], in, 0, in->rank);
}

static rheos_status *make_diag(const rheos__operands *o, const void *const *inputs,
                               rheos__copy *out_copy) {
  (void)inputs;
  set_diagonals(out_copy, o->output_dtypes[0], 1, rheos_shape_num_elements(&o->input_shapes[0]));
  return NULL;
}

static rheos_status *prepare_diag(rheos__prepare *p) {
  return rheos__answer_spread(p, -1, 0, make_diag);
}

static void gradient_diag(rheos__grad *g) {
  rheos__grad_set(g, 0, rheos__op_1(g->scope, "DiagPart", rheos__grad_dense(g, 0)));
}

const rheos__op_def rheos__op_Diag = {
    .name = "Diag",
    .signature = "diagonal: T -> output: T; T: " DIAG_TYPES,
    .doc = "Zeros of twice as many dimensions with `diagonal` on their diagonal.",
    .shape = shape_diag,
    .gradient = gradient_diag,
    .prepare = prepare_diag,
};

static rheos_status *shape_matrix_diag(rheos__infer *c) {
  const rheos_shape *in = &c->input_shapes[0];
  RHEOS_TRY(rheos__infer_rank_at_least(c, 0, 1));
  if (in->rank < 0) return NULL;
  c->output_shapes[0] = *in;
  return rheos__shape_append(&c->output_shapes[0], in->dims[in->rank - 1]);
}

static rheos_status *make_matrix_diag(const rheos__operands *o, const void *const *inputs,
                                      rheos__copy *out_copy) {
  (void)inputs;
  const rheos_shape *in = &o->input_shapes[0];
  set_diagonals(out_copy, o->output_dtypes[0], rheos__shape_product(in, 0, in->rank - 1),
                in->dims[in->rank - 1]);
  return NULL;
}

static rheos_status *prepare_matrix_diag(rheos__prepare *p) {
  return rheos__answer_spread(p, -1, 0, make_matrix_diag);
}

static void gradient_matrix_diag(rheos__grad *g) {
  rheos_output grad = rheos__grad_dense(g, 0);
  rheos_operation part = rheos__op_n(g->scope, "MatrixDiagPart", "diag_part", &grad, 1, NULL, 0);
  if (part.graph != NULL) rheos__grad_set(g, 0, rheos_operation_output(part, 0));
}

const rheos__op_def rheos__op_MatrixDiag = {
    .name = "MatrixDiag",
    .signature = "diagonal: T -> output: T; T: type",
    .doc = "Square matrices of zeros with the innermost dimension of `diagonal` on their diagonal.",
    .shape = shape_matrix_diag,
    .gradient = gradient_matrix_diag,
    .prepare = prepare_matrix_diag,
};

// ---- DiagPart, MatrixDiagPart: what is on the diagonal

static rheos_status *shape_diag_part(rheos__infer *c) {
  const rheos_shape *in = &c->input_shapes[0];
  rheos__shape_text text;
  if (in->rank < 0) return NULL;
  if (in->rank == 0 || in->rank % 2 != 0) {
    return RHEOS_INVALID("The rank of the tensor should be even and positive, got shape %s",
                         rheos__shape_text_of(in, &text));
  }
  int32_t half = in->rank / 2;
  c->output_shapes[0] = rheos__shape_of_rank(half);
  for (int32_t d = 0; d < half; ++d) {
    int64_t a = in->dims[d], b = in->dims[half + d];
    if (a >= 0 && b >= 0 && a != b) {
      return RHEOS_INVALID("Invalid shape %s: dimensions %d and %d do not match.",
                           rheos__shape_text_of(in, &text), d, half + d);
    }
    c->output_shapes[0].dims[d] = a >= 0 ? a : b;
  }
  return NULL;
}

static rheos_status *make_diag_part(const rheos__operands *o, const void *const *inputs,
                                    rheos__copy *out_copy) {
  (void)inputs;
  int64_t size = rheos_shape_num_elements(&o->output_shapes[0]);
  rheos__copy_init(out_copy, o->output_dtypes[0]);
  rheos__copy_add(out_copy, size, size + 1, 1);
  return NULL;
}

static rheos_status *prepare_diag_part(rheos__prepare *p) {
  return rheos__answer_copy(p, 0, make_diag_part);
}

static void gradient_diag_part(rheos__grad *g) {
  rheos__grad_set(g, 0, rheos__op_1(g->scope, "Diag", rheos__grad_dense(g, 0)));
}

const rheos__op_def rheos__op_DiagPart = {
    .name = "DiagPart",
    .signature = "input: T -> diagonal: T; T: " DIAG_TYPES,
    .doc = "The diagonal of `input`, which has an even number of dimensions.",
    .shape = shape_diag_part,
    .gradient = gradient_diag_part,
    .prepare = prepare_diag_part,
};

static rheos_status *shape_matrix_diag_part(rheos__infer *c) {
  const rheos_shape *in = &c->input_shapes[0];
  RHEOS_TRY(rheos__infer_rank_at_least(c, 0, 2));
  if (in->rank < 0) return NULL;
  int64_t rows = in->dims[in->rank - 2], columns = in->dims[in->rank - 1];
  c->output_shapes[0] = *in;
  c->output_shapes[0].rank--;
  c->output_shapes[0].dims[in->rank - 2] = rows < 0 || columns < 0 ? -1
                                           : rows < columns        ? rows
                                                                   : columns;
  return NULL;
}

static rheos_status *make_matrix_diag_part(const rheos__operands *o, const void *const *inputs,
                                           rheos__copy *out_copy) {
  (void)inputs;
  const rheos_shape *in = &o->input_shapes[0], *out = &o->output_shapes[0];
  int64_t columns = in->dims[in->rank - 1], matrix = in->dims[in->rank - 2] * columns;
  int64_t size = out->dims[out->rank - 1];
  rheos__copy_init(out_copy, o->output_dtypes[0]);
  rheos__copy_add(out_copy, rheos__shape_product(in, 0, in->rank - 2), matrix, size);
  rheos__copy_add(out_copy, size, columns + 1, 1);
  return NULL;
}

static rheos_status *prepare_matrix_diag_part(rheos__prepare *p) {
  return rheos__answer_copy(p, 0, make_matrix_diag_part);
}

static void gradient_matrix_diag_part(rheos__grad *g) {
  if (rheos_scope_status(g->scope) != NULL) return;
  rheos_shape shape = rheos_output_shape(g->inputs[0]);
  rheos_output grad = rheos__grad_dense(g, 0);
  if (shape.rank < 2 || shape.dims[shape.rank - 1] < 0 ||
      shape.dims[shape.rank - 1] != shape.dims[shape.rank - 2]) {  // not known to be square
    const rheos_output zeros = rheos__zeros_like(g->scope, g->inputs[0]);
    rheos__grad_set(g, 0, rheos__op_2(g->scope, "MatrixSetDiag", zeros, grad));
    return;
  }
  rheos_operation diag = rheos__op_n(g->scope, "MatrixDiag", "diag", &grad, 1, NULL, 0);
  if (diag.graph != NULL) rheos__grad_set(g, 0, rheos_operation_output(diag, 0));
}

const rheos__op_def rheos__op_MatrixDiagPart = {
    .name = "MatrixDiagPart",
    .signature = "input: T -> diagonal: T; T: type",
    .doc = "The diagonals of the matrices in the two innermost dimensions of `input`.",
    .shape = shape_matrix_diag_part,
    .gradient = gradient_matrix_diag_part,
    .prepare = prepare_matrix_diag_part,
};

// ---- MatrixSetDiag

static rheos_status *shape_set_diag(rheos__infer *c) {
  const rheos_shape *in = &c->input_shapes[0], *diagonal = &c->input_shapes[1];
  RHEOS_TRY(rheos__infer_rank_at_least(c, 0, 2));
  RHEOS_TRY(rheos__infer_rank_at_least(c, 1, 1));
  c->output_shapes[0] = *in;
  if (in->rank < 0) {
    if (diagonal->rank >= 0 && diagonal->rank < RHEOS_MAX_RANK) {
      c->output_shapes[0] = rheos__shape_of_rank(diagonal->rank + 1);
      for (int32_t d = 0; d < diagonal->rank - 1; ++d) {
        c->output_shapes[0].dims[d] = diagonal->dims[d];
      }
    }
    return NULL;
  }
  if (diagonal->rank < 0) return NULL;
  const int64_t rows = in->dims[in->rank - 2], columns = in->dims[in->rank - 1];
  rheos_shape wanted = *in;
  wanted.rank--;
  wanted.dims[in->rank - 2] = rows < 0 || columns < 0 ? -1 : rows < columns ? rows : columns;
  if (rheos_shape_compatible(&wanted, diagonal)) {
    for (int32_t d = 0; d < in->rank - 2; ++d) {
      if (in->dims[d] < 0) c->output_shapes[0].dims[d] = diagonal->dims[d];
    }
    return NULL;
  }
  rheos__shape_text a, b;
  return RHEOS_INVALID(
      "must have diagonal.shape == input.shape[:-2] + min(input.shape[-2:]), but "
      "received input shape: %s and diagonal shape: %s",
      rheos__shape_text_of(in, &a), rheos__shape_text_of(diagonal, &b));
}

static rheos_status *make_set_diag(const rheos__operands *o, const void *const *inputs,
                                   rheos__copy *out_copy) {
  (void)inputs;
  const rheos_shape *in = &o->input_shapes[0], *diagonal = &o->input_shapes[1];
  const int64_t columns = in->dims[in->rank - 1], matrix = in->dims[in->rank - 2] * columns;
  const int64_t size = diagonal->dims[diagonal->rank - 1];
  rheos__copy_init(out_copy, o->output_dtypes[0]);
  rheos__copy_add(out_copy, rheos__shape_product(in, 0, in->rank - 2), size, matrix);
  rheos__copy_add(out_copy, size, 1, columns + 1);
  return NULL;
}

static rheos_status *prepare_set_diag(rheos__prepare *p) {
  if (p->input_dtypes[0] != RHEOS_STRING) p->reuse_input = 0;
  return rheos__answer_spread(p, 0, 1, make_set_diag);
}

static void gradient_set_diag(rheos__grad *g) {
  rheos_scope *s = g->scope;
  const rheos_output grad = rheos__grad_dense(g, 0);
  const rheos_output zeros = rheos__op_1(s, "ZerosLike", g->inputs[1]);
  rheos__grad_set(g, 0, rheos__op_2(s, "MatrixSetDiag", grad, zeros));
  rheos__grad_set(g, 1, rheos__op_1(s, "MatrixDiagPart", grad));
}

const rheos__op_def rheos__op_MatrixSetDiag = {
    .name = "MatrixSetDiag",
    .signature = "input: T, diagonal: T -> output: T; T: type",
    .doc = "`input` with the innermost dimension of `diagonal` on the diagonals of its matrices.",
    .shape = shape_set_diag,
    .gradient = gradient_set_diag,
    .prepare = prepare_set_diag,
};

// ---- The old names

#define OLD_NAME(op, text, new_name, infer, kernel) \
  const rheos__op_def rheos__op_##op = {            \
      .name = #op,                                  \
      .signature = text,                            \
      .doc = "The old name of " new_name ".",       \
      .shape = infer,                               \
      .prepare = kernel,                            \
  }

OLD_NAME(BatchMatrixBandPart, "input: T, num_lower: int64, num_upper: int64 -> band: T; T: type",
         "MatrixBandPart", shape_band, prepare_band);
OLD_NAME(BatchMatrixDiag, "diagonal: T -> output: T; T: type", "MatrixDiag", shape_matrix_diag,
         prepare_matrix_diag);
OLD_NAME(BatchMatrixDiagPart, "input: T -> diagonal: T; T: type", "MatrixDiagPart",
         shape_matrix_diag_part, prepare_matrix_diag_part);
OLD_NAME(BatchMatrixSetDiag, "input: T, diagonal: T -> output: T; T: type", "MatrixSetDiag",
         shape_set_diag, prepare_set_diag);
