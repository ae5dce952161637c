// The kernel of all optimizer updates. An op says by the names of its inputs what they are: cells
// first, then `grad` (or `delta`), `indices` for updates of rows, and numbers. Updates of rows are
// never left half done: a step that is to stop waits for them, some nanoseconds an element.
#include "ops/state/apply.h"

#include <complex.h>
#include <string.h>

#include "ops/kit/array_util.h"
#include "ops/kit/elementwise.h"

enum { FLOPS_PER_ELEMENT = 16 };

typedef enum apply_role { ROLE_CELL, ROLE_GRADIENT, ROLE_INDICES, ROLE_NUMBER } apply_role;

static apply_role role_of(const rheos__arg *input) {
  if (input->is_ref || input->dtype == RHEOS_RESOURCE) return ROLE_CELL;
  if (strcmp(input->name, "grad") == 0 || strcmp(input->name, "delta") == 0) return ROLE_GRADIENT;
  return strcmp(input->name, "indices") == 0 ? ROLE_INDICES : ROLE_NUMBER;
}

typedef struct apply_state {
  rheos__cells cells;
  rheos__apply_loop loop;
  bool flag;
  int32_t grad, indices;  // inputs; indices -1: dense
  int32_t num_numbers;
  int32_t numbers[RHEOS__MAX_NUMBERS];  // inputs
  const rheos__signature *limited;      // where TensorFlow looks at the numbers, else NULL
  bool may_be_zero;                     // the rate
  const char *formula;
} apply_state;

typedef struct apply_work {
  const apply_state *state;
  rheos_tensor *cells[RHEOS__MAX_CELLS];
  const rheos_tensor *grad, *indices;
  double _Complex h[RHEOS__MAX_NUMBERS];
} apply_work;

static double _Complex number_at(const rheos_tensor *tensor) {
  switch (tensor->dtype) {
    case RHEOS_FLOAT: return *(const float *)tensor->data;
    case RHEOS_DOUBLE: return *(const double *)tensor->data;
    case RHEOS_COMPLEX64: return *(const float _Complex *)tensor->data;
    case RHEOS_COMPLEX128: return *(const double _Complex *)tensor->data;
    case RHEOS_INT64: return (double)*(const int64_t *)tensor->data;
    case RHEOS_HALF: return rheos__half_to_float(*(const uint16_t *)tensor->data);
    default: return rheos__bfloat16_to_float(*(const uint16_t *)tensor->data);
  }
}

// lr is above 0, l1, l2 and l2_shrinkage not below it, lr_power not above.
static rheos_status *check_number(const apply_state *s, int32_t index, double value) {
  const char *name = s->limited->inputs[s->numbers[index]].name;
  if (strcmp(name, "lr") == 0) {
    if (value > 0 || (s->may_be_zero && value == 0)) return NULL;
    return RHEOS_INVALID("lr is not a positive scalar%s: %g",
                         s->may_be_zero ? " (or zero as multiply_linear_by_lr is set)" : "", value);
  }
  if (strcmp(name, "lr_power") == 0) {
    return value <= 0 ? NULL : RHEOS_INVALID("lr_power is not a non-positive scalar: %g", value);
  }
  if (name[0] != 'l' || value >= 0) return NULL;
  return RHEOS_INVALID("%s regularization strength is not a non-negative scalar: %g", name, value);
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
    if (work->state->limited != NULL) {
      RHEOS_TRY(check_number(work->state, i, creal(work->h[i])));
    }
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
    if (work->cells[i]->dtype != work->cells[0]->dtype) {
      return RHEOS_INVALID("a slot has another dtype");
    }
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
  if (rheos_shape_equal(&rows, &work->grad->shape)) return NULL;
  return do_not_fit("rows of grad", &rows, &work->grad->shape);
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

static void run_units(const apply_work *work, int64_t first, int64_t last) {
  int64_t from = first * RHEOS__UNIT_ELEMENTS, to = last * RHEOS__UNIT_ELEMENTS;
  if (to > work->grad->num_elements) to = work->grad->num_elements;
  apply_at(work, from, from, to - from);
}

static rheos_status *apply_units(void *argument, int64_t first, int64_t last) {
  run_units(argument, first, last);
  return NULL;
}

static int64_t units_of(int64_t elements) {
  return (elements + RHEOS__UNIT_ELEMENTS - 1) / RHEOS__UNIT_ELEMENTS;
}

static rheos_status *apply(apply_work *work, rheos__step *step) {
  RHEOS_TRY(check_shapes(work));
  if (work->indices != NULL) {
    RHEOS_TRY(rheos__check_indices(work->indices, work->cells[0]->shape.dims[0]));
  }
  int64_t n = work->grad->num_elements;
  if (n == 0) return NULL;
  if (work->indices == NULL) {
    return rheos__step_parallel_whole(step, units_of(n), n * FLOPS_PER_ELEMENT, apply_units, work);
  }
  int64_t width = n / work->indices->num_elements;
  for (int64_t i = 0; i < work->indices->num_elements; ++i) {  // in order: rows may repeat
    apply_at(work, rheos__tensor_int_at(work->indices, i) * width, i * width, width);
  }
  return NULL;
}

static rheos_status *take_inputs(const apply_state *s, rheos_tensor *const *inputs,
                                 apply_work *out_work) {
  out_work->state = s;
  out_work->grad = inputs[s->grad];
  out_work->indices = s->indices >= 0 ? inputs[s->indices] : NULL;
  return read_numbers(out_work, inputs);
}

static rheos_status *compute_apply(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                   rheos_tensor **outputs) {
  (void)outputs;
  const apply_state *s = state;
  apply_work work;
  RHEOS_TRY(take_inputs(s, inputs, &work));
  RHEOS_TRY(rheos__cells_begin_write(&s->cells, work.cells));
  rheos_status *status = apply(&work, step);
  rheos__cells_end_write(&s->cells);
  return status;
}

// ---- By another device

rheos__apply_parts rheos__apply_parts_of(const void *state) {
  const apply_state *s = state;
  rheos__apply_parts parts = {.formula = s->formula,
                              .flag = s->flag,
                              .num_cells = s->cells.count,
                              .num_numbers = s->num_numbers,
                              .grad = s->grad,
                              .indices = s->indices};
  memcpy(parts.numbers, s->numbers, sizeof parts.numbers);
  return parts;
}

rheos_status *rheos__apply_by(const void *state, rheos_tensor *const *inputs,
                              rheos_status *(*run)(void *argument, rheos_tensor *const *cells,
                                                   rheos_tensor *const *inputs),
                              void *argument) {
  const apply_state *s = state;
  apply_work work = {
      .state = s, .grad = inputs[s->grad], .indices = s->indices >= 0 ? inputs[s->indices] : NULL};
  RHEOS_TRY(rheos__cells_begin_write(&s->cells, work.cells));
  rheos_status *status = check_shapes(&work);
  if (status == NULL && work.grad->num_elements > 0) status = run(argument, work.cells, inputs);
  rheos__cells_end_write(&s->cells);
  return status;
}

// ---- Several updates at once

// A cell of one of them.
typedef struct joint_cell {
  rheos__variable_cell *cell;
  int32_t kernel, slot;
} joint_cell;

typedef struct joint_state {
  const apply_state **kernels;
  joint_cell *cells;  // of all kernels, by address: everybody locks in this order
  int32_t num_kernels, num_cells;
} joint_state;

// Sorts the cells of a kernel into the others. False, with nothing added, if it shares one with
// them.
static bool add_cells(joint_state *s, const apply_state *kernel) {
  for (int32_t slot = 0; slot < kernel->cells.count; ++slot) {
    for (int32_t i = 0; i < s->num_cells; ++i) {
      if (s->cells[i].cell == kernel->cells.items[slot]) return false;
    }
  }
  for (int32_t slot = 0; slot < kernel->cells.count; ++slot) {
    rheos__variable_cell *cell = kernel->cells.items[slot];
    int32_t at = s->num_cells++;
    for (; at > 0 && (uintptr_t)s->cells[at - 1].cell > (uintptr_t)cell; --at) {
      s->cells[at] = s->cells[at - 1];
    }
    s->cells[at] = (joint_cell){cell, s->num_kernels, slot};
  }
  s->kernels[s->num_kernels++] = kernel;
  return true;
}

static rheos_status *prepare_joint(void *const *states, int32_t count, rheos__arena *arena,
                                   void **out_state, int32_t *out_taken) {
  joint_state *s = rheos__arena_alloc_zeroed(arena, sizeof *s);
  if (s == NULL) return rheos__out_of_memory();
  s->kernels = rheos__arena_alloc(arena, (size_t)count * sizeof *s->kernels);
  s->cells = rheos__arena_alloc(arena, (size_t)count * RHEOS__MAX_CELLS * sizeof *s->cells);
  if (s->kernels == NULL || s->cells == NULL) return rheos__out_of_memory();
  while (s->num_kernels < count && add_cells(s, states[s->num_kernels])) continue;
  *out_state = s;
  *out_taken = s->num_kernels;
  return NULL;
}

static void end_writes(const joint_state *s, int32_t num_cells) {
  for (int32_t i = 0; i < num_cells; ++i) rheos__variable_end_write(s->cells[i].cell);
}

static bool is_fine(rheos_status *status) {
  rheos_status_free(status);
  return status == NULL;
}

static bool begin_joint(const void *state, rheos_tensor *const *const *inputs, void *works,
                        int64_t *out_units, int64_t *out_flops) {
  const joint_state *s = state;
  apply_work *work = works;
  for (int32_t i = 0; i < s->num_kernels; ++i) {
    if (!is_fine(take_inputs(s->kernels[i], inputs[i], &work[i]))) return false;
  }
  for (int32_t i = 0; i < s->num_cells; ++i) {
    const joint_cell *at = &s->cells[i];
    rheos_tensor **value = &work[at->kernel].cells[at->slot];
    rheos__memory *memory = s->kernels[at->kernel]->cells.memory;
    if (!is_fine(rheos__variable_begin_write(at->cell, memory, value))) {
      end_writes(s, i);
      return false;
    }
  }
  for (int32_t i = 0; i < s->num_kernels; ++i) {
    if (!is_fine(check_shapes(&work[i]))) {
      end_writes(s, s->num_cells);
      return false;
    }
    out_units[i] = units_of(work[i].grad->num_elements);
    out_flops[i] = work[i].grad->num_elements * FLOPS_PER_ELEMENT;
  }
  return true;
}

static void run_joint(const void *works, int32_t kernel, int64_t first_unit, int64_t last_unit) {
  run_units((const apply_work *)works + kernel, first_unit, last_unit);
}

static void end_joint(const void *state) {
  const joint_state *s = state;
  end_writes(s, s->num_cells);
}

static const rheos__grouped_update joint_updates = {.work_bytes = sizeof(apply_work),
                                                    .prepare = prepare_joint,
                                                    .begin = begin_joint,
                                                    .run = run_joint,
                                                    .end = end_joint};

// ---- Preparation

static void assign_roles(apply_state *s, const rheos__op_def *op, int32_t num_inputs) {
  const rheos__signature *signature = rheos__signature_by_name(op->name);
  s->grad = s->indices = -1;
  for (int32_t i = 0; i < num_inputs; ++i) {
    apply_role role = role_of(&signature->inputs[i]);
    if (role == ROLE_GRADIENT) s->grad = i;
    if (role == ROLE_INDICES) s->indices = i;
    if (role == ROLE_NUMBER) s->numbers[s->num_numbers++] = i;
  }
}

rheos_status *rheos__prepare_apply(rheos__prepare *p, int32_t num_cells, rheos__apply_loop loop,
                                   bool flag, rheos__apply_checks checks, const char *formula) {
  apply_state *s = RHEOS_NEW_STATE(p, apply_state);
  if (s == NULL) return rheos__out_of_memory();
  RHEOS_TRY(rheos__cells_of(p, num_cells, &s->cells));
  assign_roles(s, p->op, p->num_inputs);
  if (loop == NULL) {
    return rheos_status_new(RHEOS_UNIMPLEMENTED, "%s is not available for dtype %s", p->op->name,
                            rheos_dtype_name(p->input_dtypes[s->grad]));
  }
  s->loop = loop;
  s->flag = flag;
  s->formula = formula;
  if (checks == RHEOS__CHECKS_EVERYWHERE || (checks == RHEOS__CHECKS_IN_ROWS && s->indices >= 0)) {
    const rheos_attr_value *by_rate = rheos__attrs_find(p->attrs, "multiply_linear_by_lr");
    s->limited = rheos__signature_by_name(p->op->name);
    s->may_be_zero = by_rate != NULL && by_rate->b;
  }
  p->compute = compute_apply;
  if (s->indices < 0) p->grouped = &joint_updates;
  rheos__pass_reference(p);
  return NULL;
}

// A gradient for rows: the variable's shape, which it may tell, with as many rows as there are
// indices.
static rheos_status *infer_rows(rheos__infer *c, int32_t grad, int32_t indices,
                                rheos_shape *in_out_var) {
  rheos_shape vector, var = *in_out_var;
  RHEOS_TRY(rheos__infer_rank(c, indices, 1, &vector));
  RHEOS_TRY(rheos__infer_rank_at_least(c, grad, 1));
  if (var.rank == 0) return RHEOS_INVALID("var must be at least 1 dimensional");
  if (var.rank < 0) var = rheos__shape_of_rank(c->input_shapes[grad].rank);
  const int64_t rows = var.rank > 0 ? var.dims[0] : -1;
  if (var.rank > 0) var.dims[0] = vector.dims[0];
  RHEOS_TRY(rheos__shape_merge(&var, &c->input_shapes[grad], &var));
  if (var.rank > 0) var.dims[0] = rows;
  *in_out_var = var;
  return NULL;
}

rheos_status *rheos__shape_apply(rheos__infer *c) {
  const rheos__signature *signature = rheos__signature_by_name(c->op->name);
  rheos_shape var = RHEOS_UNKNOWN_SHAPE, scalar;
  int32_t grad = -1, indices = -1;
  for (int32_t i = 0; i < c->num_inputs; ++i) {
    apply_role role = role_of(&signature->inputs[i]);
    if (role == ROLE_CELL) {
      rheos_shape cell = rheos__infer_variable_shape(c, i);
      RHEOS_TRY(rheos__shape_merge(&var, &cell, &var));
    }
    if (role == ROLE_NUMBER) RHEOS_TRY(rheos__infer_rank(c, i, 0, &scalar));
    if (role == ROLE_GRADIENT) grad = i;
    if (role == ROLE_INDICES) indices = i;
  }
  if (indices >= 0) {
    RHEOS_TRY(infer_rows(c, grad, indices, &var));
  } else {
    RHEOS_TRY(rheos__shape_merge(&var, &c->input_shapes[grad], &var));
  }
  if (c->num_outputs > 0) c->output_shapes[0] = var;
  return NULL;
}
