// The spectral ops: transforms over the last one, two or three dimensions, of complex numbers or
// between real numbers and the half of a spectrum that tells the other. All are computed in double.
#include <string.h>

#include "ops/kit/array_grad.h"
#include "ops/kit/array_util.h"
#include "ops/kit/elements.h"
#include "ops/kit/polling.h"
#include "ops/linalg/linalg_grad.h"
#include "ops/signal/fft_plan.h"

enum { MAX_DIMS = 3 };

// What kind of numbers go in and come out.
typedef enum fft_kind { COMPLEX_TO_COMPLEX, REAL_TO_HALF, HALF_TO_REAL } fft_kind;

typedef struct fft_op {
  int32_t dims;
  fft_kind kind;
  bool inverse;
} fft_op;

static fft_op op_of(const rheos__op_def *op) {
  const fft_op *family = op->family;
  return *family;
}

// ---- Shapes

static rheos_status *shape_complex(rheos__infer *c) {
  RHEOS_TRY(rheos__infer_rank_at_least(c, 0, op_of(c->op).dims));
  return rheos__shape_unchanged(c);
}

static rheos_status *shape_real(rheos__infer *c) {
  const fft_op op = op_of(c->op);
  const rheos_shape *in = &c->input_shapes[0];
  rheos_shape lengths;
  RHEOS_TRY(rheos__infer_rank_at_least(c, 0, op.dims));
  RHEOS_TRY(rheos__infer_rank(c, 1, 1, &lengths));
  if (lengths.dims[0] >= 0 && lengths.dims[0] != op.dims) {
    return RHEOS_INVALID("fft_length must have %d elements, got %lld", (int)op.dims,
                         (long long)lengths.dims[0]);
  }
  int64_t values[MAX_DIMS];
  int32_t count;
  const bool known = rheos__infer_ints(c, 1, values, MAX_DIMS, &count);
  for (int32_t i = 0; known && i < count; ++i) {
    if (values[i] < 0) {
      return RHEOS_INVALID("fft_length[%d] must be at least 0, got %lld", (int)i,
                           (long long)values[i]);
    }
  }
  if (in->rank < 0) return NULL;
  rheos_shape *out = &c->output_shapes[0];
  *out = *in;
  for (int32_t i = 0; i < op.dims; ++i) {
    const bool is_last = i == op.dims - 1 && op.kind == REAL_TO_HALF;
    const int64_t length = known ? values[i] : -1;
    out->dims[in->rank - op.dims + i] = length <= 0 || !is_last ? length : length / 2 + 1;
  }
  return NULL;
}

// ---- The kernel: a unit is one transform over all its dimensions

typedef struct fft_state {
  fft_op op;
  rheos_dtype from, to;
  int64_t count;  // of transforms
  // Dimensions of one transform, outermost first (unused ones are 1): of the input and output, and
  // of the whole in between.
  int64_t in[MAX_DIMS], out[MAX_DIMS], whole[MAX_DIMS];
  int64_t in_size, out_size, whole_size;
  rheos__fft_plan *plans[MAX_DIMS];  // NULL for length 1
  int64_t line_size, work_size;
} fft_state;

// Numbers moved between two polls: they are converted one by one.
enum { POLLED_NUMBERS = 1 << 20 };

// Transforms `whole` along dimension d. False if the step is to stop, as of all that follow.
static bool transform_along(const fft_state *s, int32_t d, double complex *whole,
                            double complex *line, double complex *work) {
  const int64_t n = s->whole[d];
  if (s->plans[d] == NULL) return true;
  int64_t step = 1, since = 0;
  for (int32_t i = d + 1; i < MAX_DIMS; ++i) step *= s->whole[i];
  for (int64_t start = 0; start < s->whole_size; start += n * step) {
    for (int64_t i = start; i < start + step; ++i) {
      if (rheos__stops_after(&since, n, POLLED_NUMBERS)) return false;
      if (step == 1) {
        if (!rheos__fft_run(s->plans[d], s->op.inverse, whole + i, work)) return false;
        continue;
      }
      for (int64_t k = 0; k < n; ++k) line[k] = whole[i + k * step];
      if (!rheos__fft_run(s->plans[d], s->op.inverse, line, work)) return false;
      for (int64_t k = 0; k < n; ++k) whole[i + k * step] = line[k];
    }
  }
  return true;
}

// The whole of the innermost dimension from its first half: the rest mirrors it.
static void mirror_lines(const fft_state *s, double complex *whole) {
  const int64_t n = s->whole[MAX_DIMS - 1], lines = n == 0 ? 0 : s->whole_size / n;
  for (int64_t i = 0; i < lines; ++i) {
    double complex *line = whole + i * n;
    line[0] = creal(line[0]);
    if (n % 2 == 0) line[n / 2] = creal(line[n / 2]);
    for (int64_t k = n / 2 + 1; k < n; ++k) line[k] = conj(line[n - k]);
  }
}

// Moves the numbers of one transform between a tensor with dimensions `dims` and the whole, as far
// as both reach.
static bool load_whole(const fft_state *s, const void *in, double complex *whole) {
  int64_t since = 0;
  for (int64_t a = 0; a < s->whole[0]; ++a) {
    for (int64_t b = 0; b < s->whole[1]; ++b) {
      double complex *line = whole + (a * s->whole[1] + b) * s->whole[2];
      const int64_t from = (a * s->in[1] + b) * s->in[2];
      const int64_t count = s->in[2] < s->whole[2] ? s->in[2] : s->whole[2];
      for (int64_t k = 0; k < count; ++k) {
        if (rheos__stops_after(&since, 1, POLLED_NUMBERS)) return false;
        line[k] = rheos__complex_at(s->from, in, from + k);
      }
    }
  }
  return true;
}

static bool store_whole(const fft_state *s, const double complex *whole, void *out) {
  const double scale = s->op.inverse ? 1 / (double)s->whole_size : 1;
  int64_t since = 0;
  for (int64_t a = 0; a < s->out[0]; ++a) {
    for (int64_t b = 0; b < s->out[1]; ++b) {
      const double complex *line = whole + (a * s->whole[1] + b) * s->whole[2];
      const int64_t to = (a * s->out[1] + b) * s->out[2];
      for (int64_t k = 0; k < s->out[2]; ++k) {
        if (rheos__stops_after(&since, 1, POLLED_NUMBERS)) return false;
        rheos__set_complex(s->to, out, to + k, line[k] * scale);
      }
    }
  }
  return true;
}

static bool run_one(const fft_state *s, const void *in, double complex *whole, void *out) {
  double complex *line = whole + s->whole_size, *work = line + s->line_size;
  if (!load_whole(s, in, whole)) return false;
  // The half of a spectrum is mirrored last, when the other dimensions are done.
  for (int32_t d = 0; d < MAX_DIMS - 1; ++d) {
    if (!transform_along(s, d, whole, line, work)) return false;
  }
  if (s->op.kind == HALF_TO_REAL) mirror_lines(s, whole);
  return transform_along(s, MAX_DIMS - 1, whole, line, work) && store_whole(s, whole, out);
}

static rheos_status *run_fft(const void *state, const void *const *inputs, void *const *outputs,
                             void *scratch, int64_t first, int64_t last) {
  const fft_state *s = state;
  const int64_t in_bytes = s->in_size * (int64_t)rheos_dtype_size(s->from);
  const int64_t out_bytes = s->out_size * (int64_t)rheos_dtype_size(s->to);
  if (last > s->count) last = s->count;
  for (int64_t unit = first; unit < last; ++unit) {
    if (!run_one(s, (const char *)inputs[0] + unit * in_bytes, scratch,
                 (char *)outputs[0] + unit * out_bytes)) {
      return rheos__stopped();
    }
  }
  return NULL;
}

static rheos_status *check_lengths(const fft_state *s, int32_t rank) {
  for (int32_t d = MAX_DIMS - s->op.dims; d < MAX_DIMS; ++d) {
    const bool is_half = s->op.kind == HALF_TO_REAL && d == MAX_DIMS - 1 && s->whole[d] > 0;
    const int64_t needed = is_half ? s->whole[d] / 2 + 1 : s->whole[d];
    if (s->in[d] < needed) {
      return RHEOS_INVALID("Input dimension %d must have length of at least %lld but got: %lld",
                           (int)(rank - MAX_DIMS + d), (long long)needed, (long long)s->in[d]);
    }
  }
  return NULL;
}

// The last dimensions of a tensor, ones before them.
static int64_t last_dims(const rheos_shape *shape, int32_t dims, int64_t *out_dims) {
  int64_t size = 1;
  for (int32_t d = 0; d < MAX_DIMS; ++d) {
    out_dims[d] = d < MAX_DIMS - dims ? 1 : shape->dims[shape->rank - MAX_DIMS + d];
    size *= out_dims[d];
  }
  return size;
}

static rheos_status *make_plans(rheos__prepare *p, fft_state *s) {
  for (int32_t d = 0; d < MAX_DIMS; ++d) {
    if (s->whole[d] <= 1) continue;
    s->plans[d] = rheos__fft_plan_new(p->arena, s->whole[d]);
    if (s->plans[d] == NULL) return rheos__out_of_memory();  // or stopped
    const int64_t work = rheos__fft_work(s->plans[d]);
    if (work > s->work_size) s->work_size = work;
    if (s->whole[d] > s->line_size) s->line_size = s->whole[d];
  }
  p->scratch_bytes = (size_t)(s->whole_size + s->line_size + s->work_size) * sizeof(double complex);
  return NULL;
}

static rheos_status *prepare_fft(rheos__prepare *p) {
  fft_state *s = RHEOS_NEW_STATE(p, fft_state);
  if (s == NULL) return rheos__out_of_memory();
  s->op = op_of(p->op);
  s->from = p->input_dtypes[0];
  s->to = p->output_dtypes[0];
  if (rheos_dtype_size(s->from) * (s->op.kind == REAL_TO_HALF ? 2 : 1) !=
      rheos_dtype_size(s->to) * (s->op.kind == HALF_TO_REAL ? 2 : 1)) {
    return RHEOS_INVALID("Mismatched precisions: %s and %s", rheos_dtype_name(s->from),
                         rheos_dtype_name(s->to));
  }
  p->run = run_fft;
  const rheos_shape *in = &p->input_shapes[0], *out = &p->output_shapes[0];
  int64_t num_elements;
  size_t size_bytes;
  RHEOS_TRY(rheos__shape_size(s->to, out, &num_elements, &size_bytes));  // fits
  s->in_size = last_dims(in, s->op.dims, s->in);
  s->out_size = last_dims(out, s->op.dims, s->out);
  s->whole_size = last_dims(s->op.kind == REAL_TO_HALF ? in : out, s->op.dims, s->whole);
  if (s->op.kind == REAL_TO_HALF) {
    if (p->input_values[1] == NULL) return RHEOS_INVALID("fft_length is not known");
    for (int32_t d = 0; d < MAX_DIMS; ++d) {
      const int32_t at = d - (MAX_DIMS - s->op.dims);
      s->whole[d] = at < 0 ? 1 : rheos__tensor_int_at(p->input_values[1], at);
    }
  }
  RHEOS_TRY(check_lengths(s, in->rank));
  if (num_elements == 0) return NULL;
  if (s->op.kind == REAL_TO_HALF) {  // now no longer than the input
    s->whole_size = s->whole[0] * s->whole[1] * s->whole[2];
  }
  RHEOS_TRY(make_plans(p, s));
  s->count = rheos__shape_product(in, 0, in->rank - s->op.dims);
  p->num_units = s->count;
  int64_t bits = 1;
  while (bits < 40 && s->whole_size >> bits > 0) bits++;
  p->flops = rheos__flops((double)s->count * s->whole_size * 5 * bits);
  return NULL;
}

// ---- Gradients

static rheos_output node(rheos_scope *s, const char *type, rheos_output x, rheos_output lengths,
                         rheos_dtype real, rheos_dtype complex_numbers) {
  const rheos_output inputs[] = {x, lengths};
  const rheos_attr attrs[] = {rheos_attr_type("Treal", real),
                              rheos_attr_type("Tcomplex", complex_numbers)};
  return rheos__named_n(s, type, NULL, inputs, 2, attrs, 2);
}

// The last `dims` elements of the shape of x, and their product.
static rheos_output sizes_of(rheos_scope *s, rheos_output x, int32_t dims) {
  return rheos__vector_slice(s, rheos__shape_of(s, x, RHEOS_INT32),
                             (rheos__bound){.present = true, .number = -dims},
                             (rheos__bound){.present = false});
}

static rheos_output product_of(rheos_scope *s, rheos_output sizes, rheos_dtype dtype) {
  const int32_t zero = 0;
  const rheos_output all = rheos__op_2(s, "Prod", sizes, rheos__const_ints(s, &zero, 1, "Const"));
  return rheos__cast_to(s, all, dtype);
}

// x times complex numbers along its last dimension, or times one of them.
static rheos_output scaled(rheos_scope *s, rheos_output x, const char *equation,
                           rheos_output factors) {
  if (!rheos__is_some(x)) return x;
  const rheos_output inputs[] = {x, rheos__cast_to(s, factors, rheos_output_dtype(x))};
  const rheos_attr attr = rheos_attr_string("equation", equation, strlen(equation));
  return rheos__named_n(s, "Einsum", "mul", inputs, 2, &attr, 1);
}

// The transform and its inverse are each other's gradient but for the number of elements.
static void gradient_complex(rheos__grad *g) {
  rheos_scope *s = g->scope;
  const fft_op op = op_of(g->op);
  const rheos_output grad = rheos__grad_dense(g, 0);
  if (!rheos__is_some(grad)) return;
  const rheos_dtype dtype = rheos_output_dtype(grad);
  const rheos_dtype real = dtype == RHEOS_COMPLEX64 ? RHEOS_FLOAT : RHEOS_DOUBLE;
  rheos_output size = product_of(s, sizes_of(s, grad, op.dims), real);
  if (op.inverse) size = rheos__op_1(s, "Reciprocal", size);
  static const char *const others[2][MAX_DIMS] = {{"IFFT", "IFFT2D", "IFFT3D"},
                                                  {"FFT", "FFT2D", "FFT3D"}};
  const rheos_output back = rheos__op_1(s, others[op.inverse][op.dims - 1], grad);
  rheos__grad_set(g, 0, scaled(s, back, "...,->...", size));
}

// The last element of a vector, as a scalar and as a vector.
static rheos_output last_of(rheos_scope *s, rheos_output vector) {
  return rheos__vector_slice(s, vector, (rheos__bound){.present = true, .number = -1},
                             (rheos__bound){.present = false});
}
static rheos_output last_at(rheos_scope *s, rheos_output vector) {
  return rheos__gather(s, last_of(s, vector), rheos__const_scalar(s, RHEOS_INT32, 0, "Const"));
}

// 1 if `length` is even, else 0, as a scalar of `dtype`.
static rheos_output evenness(rheos_scope *s, rheos_output length, rheos_dtype dtype) {
  const rheos_output odd = rheos__op_with_number(s, "FloorMod", "mod", length, 2);
  return rheos__cast_to(s, rheos__op_of_number(s, "Sub", "sub", 1, odd), dtype);
}

static bool is_known_alike(rheos_output x, rheos_output y, int32_t dims) {
  const rheos_shape a = rheos_output_shape(x), b = rheos_output_shape(y);
  if (a.rank < dims || b.rank < dims) return false;
  for (int32_t k = 1; k <= dims; k++) {
    if (a.dims[a.rank - k] < 0 || a.dims[a.rank - k] != b.dims[b.rank - k]) return false;
  }
  return true;
}

// What was cut off at the ends of the last `dims` dimensions of `like` has no gradient: `grad` with
// zeros there.
static rheos_output padded_to(rheos_scope *s, rheos_output grad, rheos_output like, int32_t dims) {
  if (is_known_alike(grad, like, dims)) return grad;
  const rheos_output missing = rheos__op_2(s, "Sub", rheos__shape_of(s, like, RHEOS_INT32),
                                           rheos__shape_of(s, grad, RHEOS_INT32));
  const rheos_output paddings[] = {rheos__zeros_like(s, missing), missing};
  return rheos__op_2(s, "Pad", grad, rheos__stack(s, paddings, 2, 1));
}

// Over two dimensions, the outer one is an ordinary transform: its gradient comes first.
static rheos_output outer_gradient(rheos_scope *s, rheos_output grad) {
  const rheos_dtype dtype = rheos_output_dtype(grad);
  const rheos_dtype real = dtype == RHEOS_COMPLEX64 ? RHEOS_FLOAT : RHEOS_DOUBLE;
  static const char equation[] = "...ij->...ji";
  const rheos_attr attr = rheos_attr_string("equation", equation, sizeof equation - 1);
  const rheos_output turned = rheos__named_n(s, "Einsum", NULL, &grad, 1, &attr, 1);
  const rheos_output back = rheos__op_1(s, "IFFT", turned);
  const rheos_output size = product_of(s, sizes_of(s, turned, 1), real);
  const rheos_output sized = scaled(s, back, "...,->...", size);
  return rheos__named_n(s, "Einsum", NULL, &sized, 1, &attr, 1);
}

// A real number reaches each kept frequency once. The inverse transform counts those in the middle
// twice, so that half of it and of what it counts once is wanted.
static void gradient_rfft(rheos__grad *g) {
  rheos_scope *s = g->scope;
  const fft_op op = op_of(g->op);
  rheos_output grad = rheos__grad_dense(g, 0);
  if (!rheos__is_some(grad)) return;
  const rheos_dtype dtype = rheos_output_dtype(grad);
  const rheos_dtype real = rheos_output_dtype(g->inputs[0]);
  if (op.dims == 2) grad = outer_gradient(s, grad);
  const rheos_output lengths = last_of(s, g->inputs[1]), length = last_at(s, g->inputs[1]);
  const rheos_output size = rheos__cast_to(s, length, real);
  const rheos_output inner = rheos__py_mul(s, node(s, "IRFFT", grad, lengths, real, dtype), size);
  const rheos_output first = rheos__cast_to(s, rheos__columns(s, grad, 0, 1), real);
  const rheos_output last = rheos__cast_to(s, rheos__columns(s, grad, -1, 0), real);
  const rheos_output places = rheos__py_range(s, length);
  const rheos_output odd = rheos__op_with_number(s, "FloorMod", "mod", places, 2);
  const rheos_output signs = rheos__op_of_number(
      s, "Sub", "sub", 1, rheos__op_of_number(s, "Mul", "mul", 2, rheos__cast_to(s, odd, real)));
  const rheos_output even = evenness(s, length, real);
  const rheos_output nyquist = rheos__py_mul(s, rheos__py_mul(s, last, signs), even);
  const rheos_output sum = rheos__py_add(s, rheos__py_add(s, inner, first), nyquist);
  const rheos_output half = rheos__op_with_number(s, "Mul", "mul", sum, 0.5);
  rheos__grad_set(g, 0, padded_to(s, half, g->inputs[0], op.dims));
}

// 1 for what the inverse transform counts once (the ends), 2 for the others.
static void gradient_irfft(rheos__grad *g) {
  rheos_scope *s = g->scope;
  const fft_op op = op_of(g->op);
  const rheos_output grad = rheos__grad_dense(g, 0), lengths = g->inputs[1];
  if (!rheos__is_some(grad)) return;
  const rheos_dtype real = rheos_output_dtype(grad);
  const rheos_dtype dtype = rheos_output_dtype(g->inputs[0]);
  const rheos_output size = product_of(s, sizes_of(s, grad, op.dims), real);
  const rheos_output forward =
      node(s, op.dims == 2 ? "RFFT2D" : "RFFT", grad, lengths, real, dtype);
  const rheos_output count = last_at(s, sizes_of(s, forward, 1));
  const rheos_output k = rheos__py_range(s, count);
  const rheos_output end = rheos__op_with_number(s, "Sub", "sub", count, 1);
  const rheos_output at_start = rheos__cast_to(
      s, rheos__op_2(s, "Equal", k, rheos__const_scalar(s, RHEOS_INT32, 0, "Const")), real);
  const rheos_output at_end = rheos__cast_to(s, rheos__op_2(s, "Equal", k, end), real);
  const rheos_output even = evenness(s, last_at(s, lengths), real);
  const rheos_output once = rheos__py_add(s, at_start, rheos__py_mul(s, at_end, even));
  const rheos_output mask = rheos__py_div(s, rheos__op_of_number(s, "Sub", "sub", 2, once), size);
  const rheos_output kept = scaled(s, forward, "...i,i->...i", mask);
  rheos__grad_set(g, 0, padded_to(s, kept, g->inputs[0], op.dims));
}

#define COMPLEX_OP(NAME, DIMS, INVERSE, DOC)                        \
  const rheos__op_def rheos__op_##NAME = {                          \
      .name = #NAME,                                                \
      .signature =                                                  \
          "input: Tcomplex -> output: Tcomplex; "                   \
          "Tcomplex: {complex64, complex128} = complex64",          \
      .doc = DOC,                                                   \
      .shape = shape_complex,                                       \
      .gradient = gradient_complex,                                 \
      .prepare = prepare_fft,                                       \
      .family = &(const fft_op){DIMS, COMPLEX_TO_COMPLEX, INVERSE}, \
  }

COMPLEX_OP(FFT, 1, false, "The discrete Fourier transform of the last dimension.");
COMPLEX_OP(FFT2D, 2, false, "The discrete Fourier transform of the last two dimensions.");
COMPLEX_OP(FFT3D, 3, false, "The discrete Fourier transform of the last three dimensions.");
COMPLEX_OP(IFFT, 1, true, "The inverse of FFT.");
COMPLEX_OP(IFFT2D, 2, true, "The inverse of FFT2D.");
COMPLEX_OP(IFFT3D, 3, true, "The inverse of FFT3D.");

#define REAL_OP(NAME, DIMS, KIND, IN, OUT, GRADIENT, DOC)             \
  const rheos__op_def rheos__op_##NAME = {                            \
      .name = #NAME,                                                  \
      .signature = "input: " IN ", fft_length: int32 -> output: " OUT \
                   "; Treal: {float, double} = float; "               \
                   "Tcomplex: {complex64, complex128} = complex64",   \
      .doc = DOC,                                                     \
      .shape = shape_real,                                            \
      .gradient = GRADIENT,                                           \
      .prepare = prepare_fft,                                         \
      .family = &(const fft_op){DIMS, KIND, KIND == HALF_TO_REAL},    \
  }

REAL_OP(RFFT, 1, REAL_TO_HALF, "Treal", "Tcomplex", gradient_rfft,
        "The first half (and the middle) of FFT of `fft_length` real numbers.");
REAL_OP(RFFT2D, 2, REAL_TO_HALF, "Treal", "Tcomplex", gradient_rfft,
        "FFT2D of real numbers, the first half of the last dimension.");
REAL_OP(RFFT3D, 3, REAL_TO_HALF, "Treal", "Tcomplex", NULL,
        "FFT3D of real numbers, the first half of the last dimension.");
REAL_OP(IRFFT, 1, HALF_TO_REAL, "Tcomplex", "Treal", gradient_irfft,
        "The `fft_length` real numbers that RFFT transforms to `input`.");
REAL_OP(IRFFT2D, 2, HALF_TO_REAL, "Tcomplex", "Treal", gradient_irfft,
        "The real numbers that RFFT2D transforms to `input`.");
REAL_OP(IRFFT3D, 3, HALF_TO_REAL, "Tcomplex", "Treal", NULL,
        "The real numbers that RFFT3D transforms to `input`.");
