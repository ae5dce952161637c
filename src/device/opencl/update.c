#include "device/opencl/update.h"

#include <stdio.h>

#include "device/opencl/loop.h"
#include "device/opencl/source.h"
#include "ops/state/apply.h"

#include "opencl/apply_formulas.inc"

// What a kernel that changes variables is made of; `inner` is the state of the op's own kernel.
typedef struct update {
  const rheos__launch *launch;
  const void *inner;
  rheos__apply_parts parts;
  rheos__cells cells;
} update;

static void release_update(void *state) {
  const update *u = state;
  rheos__launch_release((void *)(uintptr_t)u->launch);
}

// The launch as the state of a kernel that takes tensors.
static rheos_status *answer(rheos__prepare *p, rheos__launch *launch, update *u,
                            rheos__compute_fn compute) {
  RHEOS_TRY(rheos__launch_end(launch, p, 0));
  if (p->decline_reason != NULL) return NULL;
  u->launch = launch;
  p->run = NULL;
  p->compute = compute;
  p->state = u;
  p->release = release_update;
  p->grouped = NULL;
  return NULL;
}

// ---- Optimizers: operands are the cells, the gradient, then the numbers

static const char *const slots[] = {"var", "s1", "s2", "s3"};

static void add_source(rheos__text *text, const rheos__apply_parts *parts,
                       const rheos__cl_dtype *dtype, const rheos__cl_dtype *const *numbers) {
  rheos__cl_add_prelude(text);
  rheos__cl_add_macros(text, dtype);
  rheos__text_add_string(text, rheos__cl_apply_formulas);
  rheos__text_add_string(text, "typedef COMPUTED C;\nkernel void apply(");
  for (int32_t i = 0; i < parts->num_cells; i++) {
    rheos__cl_add(text, "global char *b%d, ulong o%d, ", (int)i, (int)i);
  }
  rheos__text_add_string(text, "global const char *bg, ulong og, ");
  for (int32_t i = 0; i < parts->num_numbers; i++) {
    rheos__cl_add(text, "global const char *bh%d, ulong oh%d, ", (int)i, (int)i);
  }
  rheos__text_add_string(text,
                         "long count) {\nconst ulong at = get_global_id(0);\n"
                         "if (at >= (ulong)count) return;\nC h[6];\n");
  for (int32_t i = 0; i < parts->num_numbers; i++) {
    rheos__cl_add(text, "h[%d] = (C)%s*(global const %s *)(bh%d + oh%d));\n", (int)i,
                  numbers[i]->load, numbers[i]->stored, (int)i, (int)i);
  }
  for (int32_t i = 0; i < parts->num_cells; i++) {
    rheos__cl_add(text, "C %s = LOAD(((global const STORED *)(b%d + o%d))[at]);\n", slots[i],
                  (int)i, (int)i);
  }
  rheos__cl_add(text,
                "const C g = LOAD(((global const STORED *)(bg + og))[at]);\n"
                "const bool f = %d;\n%s\n",
                parts->flag, parts->formula);
  for (int32_t i = 0; i < parts->num_cells; i++) {
    rheos__cl_add(text, "((global STORED *)(b%d + o%d))[at] = STORE(%s);\n", (int)i, (int)i,
                  slots[i]);
  }
  rheos__text_add_string(text, "}\n");
}

static rheos_status *run_apply(void *argument, rheos_tensor *const *cells,
                               rheos_tensor *const *inputs) {
  const update *u = argument;
  const void *operands[RHEOS__MAX_CELLS + 1 + RHEOS__MAX_NUMBERS];
  int32_t count = 0;
  for (int32_t i = 0; i < u->parts.num_cells; i++) operands[count++] = cells[i]->data;
  operands[count++] = inputs[u->parts.grad]->data;
  for (int32_t i = 0; i < u->parts.num_numbers; i++) {
    const rheos_tensor *number = inputs[u->parts.numbers[i]];
    if (number->num_elements != 1) {
      return rheos_status_new(RHEOS_INVALID_ARGUMENT, "input %d is not a scalar",
                              (int)u->parts.numbers[i]);
    }
    operands[count++] = number->data;
  }
  return rheos__launch_run(u->launch, operands, NULL, NULL, 0, 1);
}

static rheos_status *compute_apply(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                   rheos_tensor **outputs) {
  (void)step, (void)outputs;
  const update *u = state;
  return rheos__apply_by(u->inner, inputs, run_apply, state);
}

rheos_status *rheos__cl_prepare_apply(rheos__prepare *p) {
  rheos__card *card = rheos__card_of(p->device);
  RHEOS_TRY(p->op->prepare(p));
  update *u = rheos__arena_alloc_zeroed(p->arena, sizeof *u);
  if (u == NULL) return rheos__out_of_memory();
  u->inner = p->state;
  u->parts = rheos__apply_parts_of(p->state);
  const rheos__cl_dtype *numbers[RHEOS__MAX_NUMBERS];
  const rheos__cl_dtype *dtype = rheos__cl_dtype_of(card, p->input_dtypes[u->parts.grad]);
  bool can = dtype != NULL && u->parts.indices < 0;
  for (int32_t i = 0; i < u->parts.num_numbers; i++) {
    numbers[i] = rheos__cl_dtype_of(card, p->input_dtypes[u->parts.numbers[i]]);
    can &= numbers[i] != NULL;
  }
  if (!can) {
    p->decline_reason = "the device does not update variables of this dtype, or by rows";
    return NULL;
  }
  const int32_t count = u->parts.num_cells + 1 + u->parts.num_numbers;
  rheos__launch *launch = rheos__launch_begin(card, p->arena, count, 1);
  if (launch == NULL) return rheos__out_of_memory();
  rheos__text text = {0};
  add_source(&text, &u->parts, dtype, numbers);
  rheos__stage_operand operands[RHEOS__MAX_CELLS + 1 + RHEOS__MAX_NUMBERS];
  for (int32_t i = 0; i < count; i++) operands[i] = (rheos__stage_operand){i, 0};
  const int64_t elements = rheos_shape_num_elements(&p->input_shapes[u->parts.grad]);
  const rheos__grid grid = {1, {(size_t)(elements > 0 ? elements : 1)}, {0}};
  rheos__launch_add_text(launch, &text, "apply", operands, count, &grid);
  rheos__launch_set_number(launch, elements);
  return answer(p, launch, u, compute_apply);
}

// ---- Additions

static rheos_status *compute_change(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                    rheos_tensor **outputs) {
  (void)step, (void)outputs;
  const update *u = state;
  rheos_tensor *values[RHEOS__MAX_CELLS];
  RHEOS_TRY(rheos__cells_begin_write(&u->cells, values));
  rheos_status *status = NULL;
  if (!rheos_shape_equal(&values[0]->shape, &inputs[1]->shape)) {
    rheos__shape_text left, right;
    status = rheos_status_new(RHEOS_INVALID_ARGUMENT, "the variable has shape %s, its change %s",
                              rheos__shape_text_of(&values[0]->shape, &left),
                              rheos__shape_text_of(&inputs[1]->shape, &right));
  } else if (values[0]->num_elements > 0) {
    const void *operands[] = {values[0]->data, inputs[1]->data};
    void *result[] = {values[0]->data};
    status = rheos__launch_run(u->launch, operands, result, NULL, 0, 1);
  }
  rheos__cells_end_write(&u->cells);
  return status;
}

static rheos_status *prepare_change(rheos__prepare *p, const char *name) {
  rheos__card *card = rheos__card_of(p->device);
  const rheos_dtype dtype = p->input_dtypes[1];
  const rheos__formula *formula =
      rheos__formula_of(rheos__binary_loop(name[0] == 'A' ? RHEOS__ADD : RHEOS__SUB, dtype));
  update *u = rheos__arena_alloc_zeroed(p->arena, sizeof *u);
  if (u == NULL) return rheos__out_of_memory();
  RHEOS_TRY(rheos__cells_of(p, 1, &u->cells));
  if (!rheos__loop_can(card, formula)) {
    p->decline_reason = "the device does not add numbers of this dtype";
    return NULL;
  }
  const int64_t count = rheos_shape_num_elements(&p->input_shapes[1]);
  rheos__card_loop loop = {.num_elements = count > 0 ? count : 1,
                           .num_operands = 3,
                           .num_members = 1,
                           .members = {{formula, 0, {-1, -2}, 2}}};
  for (int32_t i = 0; i < 3; i++) {
    loop.operands[i] = (rheos__loop_operand){i, (uint8_t)dtype, .is_output = i == 2};
  }
  rheos__launch *launch = rheos__launch_begin(card, p->arena, 2, 1);
  if (launch == NULL) return rheos__out_of_memory();
  rheos__loop_add(launch, &loop);
  rheos__pass_reference(p);
  return answer(p, launch, u, compute_change);
}

rheos_status *rheos__cl_prepare_assign_add(rheos__prepare *p) { return prepare_change(p, "Add"); }
rheos_status *rheos__cl_prepare_assign_sub(rheos__prepare *p) { return prepare_change(p, "Sub"); }
