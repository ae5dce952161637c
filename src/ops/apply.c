// Optimizer updates of variables and their slots, dense and by rows, for references and handles.
//
// A row of the table is a name, its cells, the names of its numbers in the order of the op's inputs,
// and a formula. In a formula `var`, `s1` and `s2` are an element of each cell, `g` is the element of
// the gradient, `h` are the numbers, `f` is the op's flag (use_nesterov, update_slots).
// Sources: Adagrad: Duchi et al. 2011; Adadelta: Zeiler 2012; Adam: Kingma and Ba 2015; RMSProp:
// Hinton's lecture 6e; all in the form of TensorFlow's CPU kernels.
#pragma GCC optimize("O3")
#include <string.h>
#include <tgmath.h>

#include "graph/build.h"
#include "ops/elementwise.h"
#include "ops/variable_util.h"

enum { MAX_NUMBERS = 6, FLOPS_PER_ELEMENT = 16 };

// `h` are the numbers as double; they are rounded to the variable's type first, as their tensors were.
typedef void (*apply_loop)(void *const *cells, const void *grad, const double *h, bool flag,
                           int64_t n);

#define GRADIENT_DESCENT var -= h[0] * g;

#define MOMENTUM                   \
  s1 = s1 * h[1] + g;              \
  var -= f ? g * h[0] + s1 * h[1] * h[0] : s1 * h[0];

#define ADAGRAD         \
  if (f) s1 += g * g;   \
  var -= g * h[0] / sqrt(s1);

#define ADADELTA                                       \
  s1 = s1 * h[1] + g * g * (1 - h[1]);                 \
  const C update = sqrt(s2 + h[2]) / sqrt(s1 + h[2]) * g; \
  var -= update * h[0];                                \
  s2 = s2 * h[1] + update * update * (1 - h[1]);

#define RMSPROP                          \
  s1 += (g * g - s1) * (1 - h[1]);       \
  s2 = s2 * h[2] + g * h[0] / sqrt(s1 + h[3]); \
  var -= s2;

// h: beta1_power, beta2_power, lr, beta1, beta2, epsilon
#define ADAM                                                   \
  const C alpha = h[2] * sqrt(1 - h[1]) / (1 - h[0]);          \
  s1 += (g - s1) * (1 - h[3]);                                 \
  s2 += (g * g - s2) * (1 - h[4]);                             \
  var -= (f ? g * (1 - h[3]) + h[3] * s1 : s1) * alpha / (sqrt(s2) + h[5]);

// ROW(name, number of cells, flag attribute or NULL, loops, formula)
#define ROWS(ROW)                                                        \
  ROW(GradientDescent, 1, NULL, RHEOS__WIDE, GRADIENT_DESCENT)           \
  ROW(Momentum, 2, "use_nesterov", RHEOS__WIDE, MOMENTUM)                \
  ROW(Adagrad, 2, "update_slots", RHEOS__WIDE, ADAGRAD)                  \
  ROW(Adadelta, 3, NULL, RHEOS__WIDE, ADADELTA)                          \
  ROW(RMSProp, 3, NULL, RHEOS__WIDE, RMSPROP)                            \
  ROW(Adam, 3, "use_nesterov", RHEOS__WIDE, ADAM)

#define LOOP(S, name, count, qualifier, formula)                                             \
  qualifier static void apply_##name##_##S(void *const *cells, const void *grad,             \
                                           const double *numbers, bool flag, int64_t n) {    \
    typedef rheos__computed_##S C;                                                           \
    rheos__stored_##S *vars = cells[0], *s1s = cells[1], *s2s = cells[2];                    \
    const rheos__stored_##S *gs = grad;                                                      \
    C h[MAX_NUMBERS];                                                                        \
    for (int i = 0; i < MAX_NUMBERS; ++i) h[i] = (C)numbers[i];                              \
    const bool f = flag;                                                                     \
    (void)f;                                                                                 \
    RHEOS__INDEPENDENT for (int64_t i = 0; i < n; ++i) {                                     \
      C var = RHEOS__LOAD_##S(vars[i]);                                                      \
      C s1 = (count) > 1 ? RHEOS__LOAD_##S(s1s[i]) : 0;                                      \
      C s2 = (count) > 2 ? RHEOS__LOAD_##S(s2s[i]) : 0;                                      \
      const C g = RHEOS__LOAD_##S(gs[i]);                                                    \
      formula                                                                                \
      vars[i] = RHEOS__STORE_##S(var);                                                       \
      if ((count) > 1) s1s[i] = RHEOS__STORE_##S(s1);                                        \
      if ((count) > 2) s2s[i] = RHEOS__STORE_##S(s2);                                        \
    }                                                                                        \
  }

#define ROW_LOOPS(name, count, flag, qualifier, formula) \
  RHEOS__FLOATS(LOOP, name, count, qualifier, formula)
ROWS(ROW_LOOPS)

#define ROW_NUMBER(name, count, flag, qualifier, formula) row_##name,
enum { ROWS(ROW_NUMBER) NUM_ROWS };

#define ENTRY(S, name) [row_##name][RHEOS__DTYPE_##S] = apply_##name##_##S,
#define ROW_ENTRIES(name, count, flag, qualifier, formula) RHEOS__FLOATS(ENTRY, name)
static const apply_loop loops[NUM_ROWS][RHEOS__NUM_DTYPES] = {ROWS(ROW_ENTRIES)};

#define ROW_FLAG(name, count, flag, qualifier, formula) flag,
static const char *const flags[NUM_ROWS] = {ROWS(ROW_FLAG)};

// ---- The kernel

typedef struct apply_state {
  rheos__cells cells;
  apply_loop loop;
  bool flag;
  int32_t grad, indices;  // inputs; indices -1: dense
  int32_t num_numbers;
  int32_t numbers[MAX_NUMBERS];  // inputs
} apply_state;

typedef struct apply_work {
  const apply_state *state;
  rheos_tensor *cells[RHEOS__MAX_CELLS];
  const rheos_tensor *grad, *indices;
  double h[MAX_NUMBERS];
} apply_work;

static double number_at(const rheos_tensor *tensor) {
  switch (tensor->dtype) {
    case RHEOS_FLOAT:
      return *(const float *)tensor->data;
    case RHEOS_DOUBLE:
      return *(const double *)tensor->data;
    case RHEOS_HALF:
      return rheos__half_to_float(*(const uint16_t *)tensor->data);
    default:
      return rheos__bfloat16_to_float(*(const uint16_t *)tensor->data);
  }
}

static rheos_status *read_numbers(apply_work *work, rheos_tensor *const *inputs) {
  memset(work->h, 0, sizeof work->h);
  for (int32_t i = 0; i < work->state->num_numbers; ++i) {
    const rheos_tensor *number = inputs[work->state->numbers[i]];
    if (number->num_elements != 1) {
      rheos__shape_text text;
      return RHEOS_INVALID("input %d is not a scalar: shape %s", (int)work->state->numbers[i],
                           rheos__shape_text_of(&number->shape, &text));
    }
    work->h[i] = number_at(number);
  }
  return NULL;
}

static rheos_status *do_not_fit(const char *what, const rheos_shape *a, const rheos_shape *b) {
  rheos__shape_text left, right;
  return RHEOS_INVALID("var and %s do not have the same shape: %s %s", what,
                       rheos__shape_text_of(a, &left), rheos__shape_text_of(b, &right));
}

static rheos_status *check_shapes(const apply_work *work) {
  const rheos_shape *var = &work->cells[0]->shape;
  for (int32_t i = 0; i < work->state->cells.count; ++i) {
    if (work->cells[i]->dtype != work->cells[0]->dtype) return RHEOS_INVALID("a slot has another dtype");
    if (!rheos_shape_equal(var, &work->cells[i]->shape)) {
      return do_not_fit("its slot", var, &work->cells[i]->shape);
    }
  }
  if (work->indices == NULL) {
    return rheos_shape_equal(var, &work->grad->shape) ? NULL
                                                      : do_not_fit("grad", var, &work->grad->shape);
  }
  rheos_shape rows = *var;
  if (var->rank < 1) return RHEOS_INVALID("var must be at least 1 dimensional");
  if (work->indices->shape.rank != 1) return RHEOS_INVALID("indices must be one-dimensional");
  rows.dims[0] = work->indices->num_elements;
  if (!rheos_shape_equal(&rows, &work->grad->shape)) {
    return do_not_fit("rows of grad", &rows, &work->grad->shape);
  }
  return rheos__check_indices(work->indices, var->dims[0]);
}

static void apply_at(const apply_work *work, int64_t cell_at, int64_t grad_at, int64_t n) {
  size_t element_bytes = rheos_dtype_size(work->cells[0]->dtype);
  void *cells[RHEOS__MAX_CELLS] = {0};
  for (int32_t i = 0; i < work->state->cells.count; ++i) {
    cells[i] = (char *)work->cells[i]->data + (size_t)cell_at * element_bytes;
  }
  const char *grad = (const char *)work->grad->data + (size_t)grad_at * element_bytes;
  work->state->loop(cells, grad, work->h, work->state->flag, n);
}

static rheos_status *apply_units(void *argument, int64_t first, int64_t last) {
  const apply_work *work = argument;
  int64_t from = first * RHEOS__UNIT_ELEMENTS, to = last * RHEOS__UNIT_ELEMENTS;
  if (to > work->grad->num_elements) to = work->grad->num_elements;
  apply_at(work, from, from, to - from);
  return NULL;
}

static rheos_status *apply(apply_work *work, rheos__step *step) {
  RHEOS_TRY(check_shapes(work));
  int64_t n = work->grad->num_elements;
  if (n == 0) return NULL;
  if (work->indices == NULL) {
    int64_t units = (n + RHEOS__UNIT_ELEMENTS - 1) / RHEOS__UNIT_ELEMENTS;
    return rheos__step_parallel(step, units, n * FLOPS_PER_ELEMENT, apply_units, work);
  }
  int64_t width = n / work->indices->num_elements;
  for (int64_t i = 0; i < work->indices->num_elements; ++i) {  // in order: rows may repeat
    apply_at(work, rheos__tensor_int_at(work->indices, i) * width, i * width, width);
  }
  return NULL;
}

static rheos_status *compute_apply(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                   rheos_tensor **outputs) {
  (void)outputs;
  const apply_state *s = state;
  apply_work work = {.state = s,
                     .grad = inputs[s->grad],
                     .indices = s->indices >= 0 ? inputs[s->indices] : NULL};
  RHEOS_TRY(read_numbers(&work, inputs));
  RHEOS_TRY(rheos__cells_begin_write(&s->cells, work.cells));
  rheos_status *status = apply(&work, step);
  rheos__cells_end_write(&s->cells);
  return status;
}

// Which input is what follows from the signature's names.
static void assign_roles(apply_state *s, const rheos__op_def *op, int32_t num_cells,
                         int32_t num_inputs) {
  const rheos__signature *signature = rheos__signature_by_name(op->name);
  s->grad = s->indices = -1;
  for (int32_t i = num_cells; i < num_inputs; ++i) {
    const char *name = signature->inputs[i].name;
    if (strcmp(name, "grad") == 0 || strcmp(name, "delta") == 0) {
      s->grad = i;
    } else if (strcmp(name, "indices") == 0) {
      s->indices = i;
    } else {
      s->numbers[s->num_numbers++] = i;
    }
  }
}

static rheos_status *prepare_apply(rheos__prepare *p, int row, int32_t num_cells) {
  apply_state *s = RHEOS_NEW_STATE(p, apply_state);
  if (s == NULL) return rheos__out_of_memory();
  RHEOS_TRY(rheos__cells_of(p, num_cells, &s->cells));
  assign_roles(s, p->op, num_cells, p->num_inputs);
  rheos_dtype dtype = p->input_dtypes[s->grad];
  s->loop = (int)dtype < RHEOS__NUM_DTYPES ? loops[row][dtype] : NULL;
  if (s->loop == NULL) {
    return rheos_status_new(RHEOS_UNIMPLEMENTED, "%s is not available for dtype %s", p->op->name,
                            rheos_dtype_name(dtype));
  }
  s->flag = flags[row] != NULL && rheos__attr_bool(p->attrs, flags[row]);
  p->compute = compute_apply;
  rheos__pass_reference(p);
  return NULL;
}

static rheos_status *shape_apply(rheos__infer *c) {
  if (c->num_outputs == 0) return NULL;
  c->output_shapes[0] = c->input_shapes[0];
  const rheos__signature *signature = rheos__signature_by_name(c->op->name);
  for (int32_t i = 1; i < c->num_inputs; ++i) {
    const char *name = signature->inputs[i].name;
    bool is_gradient = strcmp(name, "grad") == 0 || strcmp(name, "delta") == 0;
    if (signature->inputs[i].is_ref || (is_gradient && strncmp(c->op->name, "Sparse", 6) != 0)) {
      RHEOS_TRY(rheos__shape_merge(&c->output_shapes[0], &c->input_shapes[i], &c->output_shapes[0]));
    } else if (!is_gradient && strcmp(name, "indices") != 0) {
      rheos_shape scalar;
      RHEOS_TRY(rheos__infer_rank(c, i, 0, &scalar));
    }
  }
  return NULL;
}

#define NUMBER_TYPES                                                                     \
  "{float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, " \
  "bfloat16, uint16, complex128, half, uint32, uint64}"

#define OP_REF(op, row, count, cells, inputs, flag_attr, text)                                  \
  static rheos_status *prepare_##op(rheos__prepare *p) { return prepare_apply(p, row, count); } \
  const rheos__op_def rheos__op_##op = {                                                        \
      .name = #op,                                                                              \
      .signature = cells inputs " -> out: Ref(T); T: " NUMBER_TYPES                             \
                   "; use_locking: bool = false" flag_attr,                                     \
      .doc = text,                                                                              \
      .flags = RHEOS_OP_STATEFUL | RHEOS_OP_WRITES,                                             \
      .shape = shape_apply,                                                                     \
      .gradient = rheos__no_gradient,                                                           \
      .prepare = prepare_##op,                                                                  \
  };

#define OP_RESOURCE(op, row, count, cells, inputs, flag_attr, text)                             \
  static rheos_status *prepare_##op(rheos__prepare *p) { return prepare_apply(p, row, count); } \
  const rheos__op_def rheos__op_##op = {                                                        \
      .name = #op,                                                                              \
      .signature = cells inputs " ->; T: " NUMBER_TYPES "; use_locking: bool = false" flag_attr, \
      .doc = text,                                                                              \
      .flags = RHEOS_OP_STATEFUL | RHEOS_OP_WRITES,                                             \
      .shape = shape_apply,                                                                     \
      .gradient = rheos__no_gradient,                                                           \
      .prepare = prepare_##op,                                                                  \
  };

#define NESTEROV "; use_nesterov: bool = false"
#define UPDATE_SLOTS "; update_slots: bool = true"
#define ADAM_INPUTS \
  "beta1_power: T, beta2_power: T, lr: T, beta1: T, beta2: T, epsilon: T, grad: T"

OP_REF(ApplyGradientDescent, row_GradientDescent, 1, "var: Ref(T), ", "alpha: T, delta: T", "",
       "`var` -= `alpha` * `delta`.")
OP_REF(ApplyMomentum, row_Momentum, 2, "var: Ref(T), accum: Ref(T), ",
       "lr: T, grad: T, momentum: T", NESTEROV,
       "`accum` = `accum` * `momentum` + `grad`; `var` -= `lr` * `accum`.")
OP_REF(ApplyAdagrad, row_Adagrad, 2, "var: Ref(T), accum: Ref(T), ", "lr: T, grad: T",
       UPDATE_SLOTS, "`accum` += `grad`^2; `var` -= `lr` * `grad` / sqrt(`accum`).")
OP_REF(ApplyAdadelta, row_Adadelta, 3, "var: Ref(T), accum: Ref(T), accum_update: Ref(T), ",
       "lr: T, rho: T, epsilon: T, grad: T", "", "Adadelta's update of `var`.")
OP_REF(ApplyRMSProp, row_RMSProp, 3, "var: Ref(T), ms: Ref(T), mom: Ref(T), ",
       "lr: T, rho: T, momentum: T, epsilon: T, grad: T", "", "RMSProp's update of `var`.")
OP_REF(ApplyAdam, row_Adam, 3, "var: Ref(T), m: Ref(T), v: Ref(T), ", ADAM_INPUTS, NESTEROV,
       "Adam's update of `var`.")
OP_REF(SparseApplyMomentum, row_Momentum, 2, "var: Ref(T), accum: Ref(T), ",
       "lr: T, grad: T, indices: Tindices, momentum: T", "; Tindices: index" NESTEROV,
       "ApplyMomentum on the rows `indices`.")
OP_REF(SparseApplyAdagrad, row_Adagrad, 2, "var: Ref(T), accum: Ref(T), ",
       "lr: T, grad: T, indices: Tindices", "; Tindices: index" UPDATE_SLOTS,
       "ApplyAdagrad on the rows `indices`.")
OP_RESOURCE(ResourceApplyGradientDescent, row_GradientDescent, 1, "var: resource, ",
            "alpha: T, delta: T", "", "`var` -= `alpha` * `delta`.")
OP_RESOURCE(ResourceApplyMomentum, row_Momentum, 2, "var: resource, accum: resource, ",
            "lr: T, grad: T, momentum: T", NESTEROV,
            "`accum` = `accum` * `momentum` + `grad`; `var` -= `lr` * `accum`.")
OP_RESOURCE(ResourceApplyAdagrad, row_Adagrad, 2, "var: resource, accum: resource, ",
            "lr: T, grad: T", UPDATE_SLOTS,
            "`accum` += `grad`^2; `var` -= `lr` * `grad` / sqrt(`accum`).")
OP_RESOURCE(ResourceApplyRMSProp, row_RMSProp, 3, "var: resource, ms: resource, mom: resource, ",
            "lr: T, rho: T, momentum: T, epsilon: T, grad: T", "", "RMSProp's update of `var`.")
OP_RESOURCE(ResourceApplyAdam, row_Adam, 3, "var: resource, m: resource, v: resource, ",
            ADAM_INPUTS, NESTEROV, "Adam's update of `var`.")
