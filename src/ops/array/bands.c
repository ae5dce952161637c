// Bands of matrices: the diagonals from k[0] to k[1], 0 the main one, positive ones above it. They
// are packed as rows, the uppermost first, padded to one length on the left or on the right.
#include "ops/array/bands.h"

#include <string.h>

#include "base/numbers.h"
#include "ops/array/band_formulas.h"
#include "ops/kit/array_util.h"
#include "ops/kit/op_util.h"

typedef struct band {
  int64_t lower, upper, rows, columns;
  bool upper_left, lower_left;  // whether diagonals above, and below, start at the left
} band;

static int64_t count_of(const band *b) { return b->upper - b->lower + 1; }

static int64_t longest_of(const band *b) {
  return rheos__min(b->rows + rheos__min(b->upper, 0), b->columns - rheos__max(b->lower, 0));
}

static int64_t length_of(const band *b, int64_t diagonal) {
  return diagonal_length(diagonal, b->rows, b->columns);
}

void rheos__band_align(const rheos__attrs *attrs, bool *out_upper_left, bool *out_lower_left) {
  const rheos_attr_value *value = rheos__attrs_find(attrs, "align");
  const char *align = value != NULL ? rheos__attr_string(attrs, "align") : "LEFT_LEFT";
  *out_upper_left = strncmp(align, "LEFT_", 5) == 0;
  *out_lower_left = strcmp(strchr(align, '_'), "_LEFT") == 0;
}

static rheos_status *read_k(const int64_t *k, int64_t count, band *b) {
  if (count < 1 || count > 2) {
    return RHEOS_INVALID(
        "diag_index must be a scalar or a vector with one or two elements, got %lld",
        (long long)count);
  }
  b->lower = k[0];
  b->upper = k[count - 1];
  if (b->lower <= b->upper) return NULL;
  return RHEOS_INVALID("lower_diag_index must not be larger than upper_diag_index: %lld > %lld",
                       (long long)b->lower, (long long)b->upper);
}

static rheos_status *check_in_matrix(const band *b) {
  const bool lower = b->lower == 0 || (-b->rows < b->lower && b->lower < b->columns);
  const bool upper = b->upper == 0 || (-b->rows < b->upper && b->upper < b->columns);
  if (lower && upper) return NULL;
  return RHEOS_INVALID("%s_diag_index is out of bound: %lld, not between %lld and %lld",
                       lower ? "upper" : "lower", (long long)(lower ? b->upper : b->lower),
                       (long long)-b->rows, (long long)b->columns);
}

// The value of k, if it is known.
static rheos_status *infer_k(const rheos__infer *c, int32_t input, band *b, bool *out_known) {
  const rheos_shape *shape = &c->input_shapes[input];
  rheos__shape_text text;
  int64_t k[3];
  int32_t count;
  *out_known = false;
  if (shape->rank > 1 || (shape->rank == 1 && (shape->dims[0] == 0 || shape->dims[0] > 2))) {
    return RHEOS_INVALID(
        "diag_index must be a scalar or a vector with one or two elements, got shape %s",
        rheos__shape_text_of(shape, &text));
  }
  if (!rheos__infer_ints(c, input, k, 3, &count)) return NULL;
  *out_known = true;
  return read_k(k, count, b);
}

static rheos_status *k_of(const rheos__operands *o, const void *const *inputs, int32_t input,
                          band *b) {
  int64_t k[2] = {0, 0};
  const int64_t count = rheos_shape_num_elements(&o->input_shapes[input]);
  for (int64_t i = 0; i < 2 && i < count; ++i) k[i] = rheos__operand_int(o, inputs, input, i);
  rheos__band_align(o->attrs, &b->upper_left, &b->lower_left);
  return read_k(k, count, b);
}

static void set_matrix(const rheos_shape *matrices, band *b) {
  b->rows = matrices->dims[matrices->rank - 2];
  b->columns = matrices->dims[matrices->rank - 1];
}

// Copies the diagonals of `batch` matrices to packed rows, or from there.
static rheos_status *copy_band(const band *b, rheos_dtype dtype, int64_t batch, bool to_matrix,
                               const void *in, void *out) {
  const int64_t matrix = b->rows * b->columns, longest = longest_of(b);
  const int64_t packed = count_of(b) * longest;
  for (int64_t d = b->upper; d >= b->lower; --d) {
    const int64_t length = length_of(b, d);
    if (length <= 0) continue;
    const int64_t in_matrix = first_row_of(d) * b->columns + first_column_of(d);
    const int64_t start =
        diagonal_start(d, b->rows, b->columns, longest, b->upper_left, b->lower_left);
    const int64_t in_packed = (b->upper - d) * longest + start;
    rheos__copy copy;
    rheos__copy_init(&copy, dtype);
    copy.in_start = to_matrix ? in_packed : in_matrix;
    copy.out_start = to_matrix ? in_matrix : in_packed;
    rheos__copy_add(&copy, batch, to_matrix ? packed : matrix, to_matrix ? matrix : packed);
    rheos__copy_add(&copy, length, to_matrix ? 1 : b->columns + 1, to_matrix ? b->columns + 1 : 1);
    RHEOS_TRY(rheos__copy_all(&copy, in, out));
  }
  return NULL;
}

static rheos_status *check_one_padding(const rheos__operands *o, int32_t input) {
  if (rheos_shape_num_elements(&o->input_shapes[input]) == 1) return NULL;
  return RHEOS_INVALID("padding_value must be a scalar");
}

// ---- Gradients

static rheos_output with_align(rheos__grad *g, const char *type, const rheos_output *inputs,
                               size_t num_inputs) {
  const bool has_align = rheos__attrs_find(g->attrs, "align") != NULL;
  const char *align = has_align ? rheos__attr_string(g->attrs, "align") : "LEFT_LEFT";
  const rheos_attr attr = rheos_attr_string("align", align, strlen(align));
  const rheos_operation node = rheos__op_n(g->scope, type, NULL, inputs, num_inputs, &attr, 1);
  return node.graph != NULL ? rheos_operation_output(node, 0) : (rheos_output){0};
}

static rheos_output part_of_grad(rheos__grad *g, rheos_output k) {
  const rheos_output grad = rheos__grad_dense(g, 0);
  const rheos_output zero =
      rheos__const_scalar(g->scope, rheos_output_dtype(grad), 0, "padding_value");
  return with_align(g, "MatrixDiagPartV3", (rheos_output[]){grad, k, zero}, 3);
}

// ---- MatrixDiagPartV2, MatrixDiagPartV3

static rheos_status *shape_part(rheos__infer *c) {
  const rheos_shape *in = &c->input_shapes[0];
  rheos_shape scalar;
  band b = {0};
  bool known;
  RHEOS_TRY(rheos__infer_rank_at_least(c, 0, 2));
  RHEOS_TRY(rheos__infer_rank(c, 2, 0, &scalar));
  RHEOS_TRY(infer_k(c, 1, &b, &known));
  if (in->rank < 0) return NULL;
  const bool one = c->input_shapes[1].rank == 0 ||
                   (c->input_shapes[1].rank == 1 && c->input_shapes[1].dims[0] == 1);
  rheos_shape out = *in;
  out.rank = in->rank - 1;
  out.dims[out.rank - 1] = -1;
  if (!known) {
    if (one) c->output_shapes[0] = out;
    return NULL;
  }
  set_matrix(in, &b);
  if (b.lower < b.upper) {
    out.rank++;
    out.dims[out.rank - 2] = count_of(&b);
    out.dims[out.rank - 1] = -1;
  }
  if (b.rows >= 0 && b.columns >= 0) {
    RHEOS_TRY(check_in_matrix(&b));
    out.dims[out.rank - 1] = rheos__max(longest_of(&b), 0);
  }
  c->output_shapes[0] = out;
  return NULL;
}

static rheos_status *run_part(const void *state, const void *const *inputs, void *const *outputs,
                              void *scratch, int64_t first, int64_t last) {
  (void)scratch, (void)first, (void)last;
  const rheos__operands *o = state;
  const rheos_shape *in = &o->input_shapes[0];
  const int64_t count = rheos_shape_num_elements(&o->output_shapes[0]);
  band b = {0};
  RHEOS_TRY(check_one_padding(o, 2));
  RHEOS_TRY(k_of(o, inputs, 1, &b));
  set_matrix(in, &b);
  RHEOS_TRY(check_in_matrix(&b));
  if (count == 0) return NULL;
  RHEOS_TRY(rheos__fill_elements(o->output_dtypes[0], outputs[0], inputs[2], count));
  return copy_band(&b, o->output_dtypes[0], rheos__shape_product(in, 0, in->rank - 2), false,
                   inputs[0], outputs[0]);
}

static rheos_status *prepare_part(rheos__prepare *p) {
  return rheos__answer_run_operands(p, run_part, 1);
}

static void gradient_part(rheos__grad *g) {
  const rheos_output inputs[] = {rheos__zeros_like(g->scope, g->inputs[0]), rheos__grad_dense(g, 0),
                                 g->inputs[1]};
  rheos__grad_set(g, 0, with_align(g, "MatrixSetDiagV3", inputs, 3));
}

// ---- MatrixDiagV2, MatrixDiagV3

// The matrices' size: what is -1 is as small as the diagonals allow, or square.
static rheos_status *size_matrix(const rheos_shape *diagonal, int64_t rows, int64_t columns,
                                 band *b) {
  const int64_t length = diagonal->dims[diagonal->rank - 1];
  int64_t least_rows, least_columns;
  RHEOS_TRY(rheos__dim_add(length, -rheos__min(b->upper, 0), &least_rows));
  RHEOS_TRY(rheos__dim_add(length, rheos__max(b->lower, 0), &least_columns));
  if (b->lower < b->upper &&
      (diagonal->rank < 2 || diagonal->dims[diagonal->rank - 2] != count_of(b))) {
    return RHEOS_INVALID(
        "The number of diagonals provided in the input does not match the "
        "lower_diag_index and upper_diag_index range.");
  }
  if (rows != -1 && rows < least_rows) return RHEOS_INVALID("The number of rows is too small.");
  if (columns != -1 && columns < least_columns) {
    return RHEOS_INVALID("The number of columns is too small.");
  }
  const int64_t square = rheos__max(least_rows, least_columns);
  b->rows = rows != -1 ? rows : columns == -1 ? square : least_rows;
  b->columns = columns != -1 ? columns : rows == -1 ? square : least_columns;
  if (b->rows == least_rows || b->columns == least_columns) return NULL;
  return RHEOS_INVALID(
      "The number of rows or columns is not consistent with the specified d_lower, "
      "d_upper, and diagonal.");
}

static rheos_status *shape_matrices(rheos__infer *c) {
  const rheos_shape *in = &c->input_shapes[0];
  rheos_shape scalar;
  band b = {0};
  bool known;
  int64_t rows, columns;
  RHEOS_TRY(rheos__infer_rank_at_least(c, 0, 1));
  for (int32_t i = 2; i < 5; ++i) RHEOS_TRY(rheos__infer_rank(c, i, 0, &scalar));
  RHEOS_TRY(infer_k(c, 1, &b, &known));
  if (in->rank < 0 || !known) return NULL;
  const int32_t packed = b.lower == b.upper ? 1 : 2;  // the last dimensions, which become two
  RHEOS_TRY(rheos__infer_rank_at_least(c, 0, packed));
  rheos_shape out = *in;
  out.rank = in->rank - packed;
  const bool sized = rheos__infer_int(c, 2, &rows) && rheos__infer_int(c, 3, &columns);
  if (sized && in->dims[in->rank - 1] >= 0 && (packed == 1 || in->dims[in->rank - 2] >= 0)) {
    RHEOS_TRY(size_matrix(in, rows, columns, &b));
  } else {
    b.rows = b.columns = -1;
  }
  RHEOS_TRY(rheos__shape_append(&out, b.rows));
  RHEOS_TRY(rheos__shape_append(&out, b.columns));
  c->output_shapes[0] = out;
  return NULL;
}

static rheos_status *run_matrices(const void *state, const void *const *inputs,
                                  void *const *outputs, void *scratch, int64_t first,
                                  int64_t last) {
  (void)scratch, (void)first, (void)last;
  const rheos__operands *o = state;
  const rheos_shape *out = &o->output_shapes[0];
  const int64_t count = rheos_shape_num_elements(out);
  band b = {0};
  RHEOS_TRY(check_one_padding(o, 4));
  RHEOS_TRY(k_of(o, inputs, 1, &b));
  set_matrix(out, &b);
  if (count == 0) return NULL;
  RHEOS_TRY(rheos__fill_elements(o->output_dtypes[0], outputs[0], inputs[4], count));
  return copy_band(&b, o->output_dtypes[0], rheos__shape_product(out, 0, out->rank - 2), true,
                   inputs[0], outputs[0]);
}

static rheos_status *prepare_matrices(rheos__prepare *p) {
  return rheos__answer_run_operands(p, run_matrices, 1);
}

static void gradient_matrices(rheos__grad *g) {
  rheos__grad_set(g, 0, part_of_grad(g, g->inputs[1]));
}

// ---- MatrixSetDiagV2, MatrixSetDiagV3

// The shape that the diagonals of matrices have.
static rheos_status *check_diagonals(const rheos_shape *in, const rheos_shape *diagonal,
                                     const band *b) {
  rheos_shape wanted = *in;
  rheos__shape_text first, second;
  wanted.rank = in->rank - 2;
  if (b->lower < b->upper) RHEOS_TRY(rheos__shape_append(&wanted, count_of(b)));
  const bool known = b->rows >= 0 && b->columns >= 0;
  RHEOS_TRY(rheos__shape_append(&wanted, known ? rheos__max(longest_of(b), 0) : -1));
  if (rheos_shape_compatible(&wanted, diagonal)) return NULL;
  return RHEOS_INVALID("diagonals %lld to %lld of input shape %s do not have the shape %s",
                       (long long)b->lower, (long long)b->upper, rheos__shape_text_of(in, &first),
                       rheos__shape_text_of(diagonal, &second));
}

static rheos_status *shape_set(rheos__infer *c) {
  const rheos_shape *in = &c->input_shapes[0];
  band b = {0};
  bool known;
  RHEOS_TRY(rheos__infer_rank_at_least(c, 0, 2));
  RHEOS_TRY(rheos__infer_rank_at_least(c, 1, 1));
  RHEOS_TRY(infer_k(c, 2, &b, &known));
  c->output_shapes[0] = *in;
  const int32_t rank = c->input_shapes[1].rank;
  if (in->rank >= 0 && rank >= 0 && rank != in->rank && rank != in->rank - 1) {
    return RHEOS_INVALID("diagonals of rank %d do not fit matrices of rank %d", rank, in->rank);
  }
  if (!known || in->rank < 0) return NULL;
  set_matrix(in, &b);
  if (b.rows >= 0 && b.columns >= 0) RHEOS_TRY(check_in_matrix(&b));
  return check_diagonals(in, &c->input_shapes[1], &b);
}

static rheos_status *run_set(const void *state, const void *const *inputs, void *const *outputs,
                             void *scratch, int64_t first, int64_t last) {
  (void)scratch, (void)first, (void)last;
  const rheos__operands *o = state;
  const rheos_shape *in = &o->input_shapes[0];
  band b = {0};
  RHEOS_TRY(k_of(o, inputs, 2, &b));
  set_matrix(in, &b);
  RHEOS_TRY(check_in_matrix(&b));
  RHEOS_TRY(check_diagonals(in, &o->input_shapes[1], &b));
  const int64_t count = rheos_shape_num_elements(in);
  if (count == 0) return NULL;
  if (outputs[0] != inputs[0]) {
    RHEOS_TRY(rheos__copy_elements(o->output_dtypes[0], outputs[0], inputs[0], count));
  }
  return copy_band(&b, o->output_dtypes[0], rheos__shape_product(in, 0, in->rank - 2), true,
                   inputs[1], outputs[0]);
}

static rheos_status *prepare_set(rheos__prepare *p) {
  if (p->input_dtypes[0] != RHEOS_STRING) p->reuse_input = 0;
  return rheos__answer_run_operands(p, run_set, 1);
}

static void gradient_set(rheos__grad *g) {
  const rheos_output inputs[] = {rheos__grad_dense(g, 0), rheos__zeros_like(g->scope, g->inputs[1]),
                                 g->inputs[2]};
  rheos__grad_set(g, 0, with_align(g, "MatrixSetDiagV3", inputs, 3));
  rheos__grad_set(g, 1, part_of_grad(g, g->inputs[2]));
}

// ---- Definitions

#define ALIGN                                                                    \
  "; align: {\"LEFT_RIGHT\", \"RIGHT_LEFT\", \"LEFT_LEFT\", \"RIGHT_RIGHT\"} = " \
  "\"RIGHT_LEFT\""
#define PART "input: T, k: int32, padding_value: T -> diagonal: T; T: type"
#define MATRICES                                                                             \
  "diagonal: T, k: int32, num_rows: int32, num_cols: int32, padding_value: T -> output: T; " \
  "T: type"
#define SET "input: T, diagonal: T, k: int32 -> output: T; T: type"
#define BAND(op, text, words, kind)                                  \
  const rheos__op_def rheos__op_##op = {.name = #op,                 \
                                        .signature = text,           \
                                        .doc = words,                \
                                        .shape = shape_##kind,       \
                                        .gradient = gradient_##kind, \
                                        .prepare = prepare_##kind};

BAND(MatrixDiagPartV2, PART,
     "The diagonals `k`[0] to `k`[1] of the matrices in `input`, padded on the right.", part)
BAND(MatrixDiagPartV3, PART ALIGN,
     "The diagonals `k`[0] to `k`[1] of the matrices in `input`, padded as `align` says.", part)
BAND(MatrixDiagV2, MATRICES,
     "Matrices with `diagonal` on their diagonals `k`[0] to `k`[1] and `padding_value` elsewhere.",
     matrices)
BAND(MatrixDiagV3, MATRICES ALIGN, "MatrixDiagV2 of diagonals that are padded as `align` says.",
     matrices)
BAND(MatrixSetDiagV2, SET,
     "`input` with `diagonal` on the diagonals `k`[0] to `k`[1] of its matrices.", set)
BAND(MatrixSetDiagV3, SET ALIGN, "MatrixSetDiagV2 of diagonals that are padded as `align` says.",
     set)
