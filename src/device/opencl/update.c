#include "device/opencl/update.h"

#include <stdio.h>

#include "device/opencl/loop.h"
#include "device/opencl/scatter.h"
#include "device/opencl/source.h"
#include "ops/state/apply.h"

#include "opencl/apply_formulas.inc"

// What a kernel that changes variables is made of; `inner` is the state of the op's own kernel.
typedef struct update {
  const rheos__launch *launch;
  const void *inner;
  rheos__apply_parts parts;
  rheos__cells cells;
  // Of updates of rows
  rheos__memory *memory;
  size_t scratch_bytes;
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

// ---- Optimizers: operands are the cells, the gradient, the numbers, then the indices

static const char *const slots[] = {"var", "s1", "s2", "s3"};

static void add_parameters(rheos__text *text, const rheos__apply_parts *parts) {
  rheos__text_add_string(text, "kernel void apply(");
  for (int32_t i = 0; i < parts->num_cells; i++) {
    rheos__cl_add(text, "global char *b%d, ulong o%d, ", (int)i, (int)i);
  }
  rheos__text_add_string(text, "global const char *bg, ulong og, ");
  for (int32_t i = 0; i < parts->num_numbers; i++) {
    rheos__cl_add(text, "global const char *bh%d, ulong oh%d, ", (int)i, (int)i);
  }
}

// Reads the numbers, and of each cell that `element`.
static void add_loads(rheos__text *text, const rheos__apply_parts *parts,
                      const rheos__cl_dtype *const *numbers) {
  rheos__text_add_string(
      text, "global const STORED *grad = (global const STORED *)(bg + og);\nC h[6];\n");
  for (int32_t i = 0; i < parts->num_numbers; i++) {
    rheos__cl_add(text, "h[%d] = (C)%s*(global const %s *)(bh%d + oh%d));\n", (int)i,
                  numbers[i]->load, numbers[i]->stored, (int)i, (int)i);
  }
  for (int32_t i = 0; i < parts->num_cells; i++) {
    rheos__cl_add(text, "C %s = LOAD(((global const STORED *)(b%d + o%d))[element]);\n", slots[i],
                  (int)i, (int)i);
  }
  rheos__cl_add(text, "const bool f = %d;\n", parts->flag);
}

static void add_stores(rheos__text *text, const rheos__apply_parts *parts) {
  for (int32_t i = 0; i < parts->num_cells; i++) {
    rheos__cl_add(text, "((global STORED *)(b%d + o%d))[element] = STORE(%s);\n", (int)i, (int)i,
                  slots[i]);
  }
  rheos__text_add_string(text, "}\n");
}

// A work-item for each element.
static void add_dense(rheos__text *text, const rheos__apply_parts *parts,
                      const rheos__cl_dtype *const *numbers) {
  rheos__text_add_string(text,
                         "long count) {\nconst ulong element = get_global_id(0);\n"
                         "if (element >= (ulong)count) return;\n");
  add_loads(text, parts, numbers);
  rheos__cl_add(text, "const C g = LOAD(grad[element]);\n%s\n", parts->formula);
  add_stores(text, parts);
}

// A work-item for each element of the rows of the gradient: the first of those that go to a row of
// the variable takes all of them in their order, with what is stored rounded after each.
static void add_by_rows(rheos__text *text, const rheos__apply_parts *parts,
                        const rheos__cl_dtype *const *numbers) {
  rheos__text_add_string(text,
                         "global const char *bk, ulong ok, long rows, long width) {\n"
                         "const ulong at = get_global_id(0), e = at % width;\n"
                         "if (at >= (ulong)(rows * width)) return;\n"
                         "global const ulong *keys = (global const ulong *)(bk + ok);\n"
                         "const long first = at / width;\n"
                         "const uint place = (uint)(keys[first] >> 32);\n"
                         "if (place == 0xffffffffu ||\n"
                         "    (first > 0 && (uint)(keys[first - 1] >> 32) == place)) return;\n"
                         "const ulong element = place * (ulong)width + e;\n");
  add_loads(text, parts, numbers);
  rheos__cl_add(text,
                "for (long i = first; i < rows && (uint)(keys[i] >> 32) == place; i++) {\n"
                "const C g = LOAD(grad[(uint)keys[i] * (ulong)width + e]);\n%s\n",
                parts->formula);
  for (int32_t i = 0; i < parts->num_cells; i++) {
    rheos__cl_add(text, "%s = LOAD(STORE(%s));\n", slots[i], slots[i]);
  }
  rheos__text_add_string(text, "}\n");
  add_stores(text, parts);
}

enum { MAX_OPERANDS = RHEOS__MAX_CELLS + 1 + RHEOS__MAX_NUMBERS + 1 };

// On rows, whose number the variable tells now.
static rheos_status *run_by_rows(const update *u, const rheos_tensor *variable,
                                 const void *const *operands) {
  uint64_t numbers[RHEOS_MAX_RANK + 1] = {(uint64_t)variable->shape.dims[0]};
  if (numbers[0] >= UINT32_MAX) {
    return rheos_status_new(RHEOS_UNIMPLEMENTED, "the variable has too many rows for the device");
  }
  void *scratch = rheos__memory_allocate(u->memory, u->scratch_bytes);
  if (scratch == NULL) return rheos__out_of_memory();
  rheos_status *status =
      rheos__launch_run_with(u->launch, operands, NULL, scratch, numbers, RHEOS_MAX_RANK + 1);
  rheos__memory_free(u->memory, scratch);
  return status;
}

static rheos_status *run_apply(void *argument, rheos_tensor *const *cells,
                               rheos_tensor *const *inputs) {
  const update *u = argument;
  const void *operands[MAX_OPERANDS];
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
  if (u->parts.indices >= 0) {
    operands[count++] = inputs[u->parts.indices]->data;
    return run_by_rows(u, cells[0], operands);
  }
  return rheos__launch_run(u->launch, operands, NULL, NULL, 0, 1);
}

static rheos_status *compute_apply(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                   rheos_tensor **outputs) {
  (void)step, (void)outputs;
  const update *u = state;
  return rheos__apply_by(u->inner, inputs, run_apply, state);
}

static void add_apply(update *u, rheos__launch *launch, const rheos__cl_dtype *dtype,
                      const rheos__cl_dtype *const *numbers, const rheos__placing *placing,
                      int64_t elements) {
  const rheos__apply_parts *parts = &u->parts;
  const bool by_rows = parts->indices >= 0;
  const int32_t count = parts->num_cells + 1 + parts->num_numbers;
  rheos__stage_operand operands[MAX_OPERANDS];
  rheos__text text = {0};
  rheos__cl_add_prelude(&text);
  rheos__cl_add_macros(&text, dtype);
  rheos__text_add_string(&text, rheos__cl_apply_formulas);
  rheos__text_add_string(&text, "typedef COMPUTED C;\n");
  add_parameters(&text, parts);
  (by_rows ? add_by_rows : add_dense)(&text, parts, numbers);
  for (int32_t i = 0; i < count; i++) operands[i] = (rheos__stage_operand){i, 0};
  operands[count] = placing->keys;
  const rheos__grid grid = {1, {(size_t)elements}, {0}};
  rheos__launch_add_text(launch, &text, "apply", operands, count + by_rows, &grid);
  rheos__launch_set_number(launch, by_rows ? placing->num_rows : elements);
  if (by_rows) rheos__launch_set_number(launch, elements / placing->num_rows);
}

rheos_status *rheos__cl_prepare_apply(rheos__prepare *p) {
  rheos__card *card = rheos__card_of(p->device);
  RHEOS_TRY(p->op->prepare(p));
  update *u = rheos__arena_alloc_zeroed(p->arena, sizeof *u);
  if (u == NULL) return rheos__out_of_memory();
  u->inner = p->state;
  u->parts = rheos__apply_parts_of(p->state);
  u->memory = p->memory;
  const int32_t count = u->parts.num_cells + 1 + u->parts.num_numbers;
  const int64_t elements = rheos_shape_num_elements(&p->input_shapes[u->parts.grad]);
  const bool by_rows = u->parts.indices >= 0;
  rheos__placing placing = {.indices = {count, 0}, .keys = {RHEOS__SCRATCH, 0}, .depth = 1};
  if (by_rows) {
    placing.index_dtype = p->input_dtypes[u->parts.indices];
    placing.num_rows = rheos_shape_num_elements(&p->input_shapes[u->parts.indices]);
    u->scratch_bytes = rheos__placing_bytes(&placing);
  }
  const rheos__cl_dtype *numbers[RHEOS__MAX_NUMBERS];
  const rheos__cl_dtype *dtype = rheos__cl_dtype_of(card, p->input_dtypes[u->parts.grad]);
  bool can = dtype != NULL && (!by_rows || rheos__placing_can(card, &placing));
  for (int32_t i = 0; i < u->parts.num_numbers; i++) {
    numbers[i] = rheos__cl_dtype_of(card, p->input_dtypes[u->parts.numbers[i]]);
    can &= numbers[i] != NULL;
  }
  if (!can) {
    p->decline_reason = "the device does not update variables of this dtype";
    return NULL;
  }
  rheos__launch *launch = rheos__launch_begin(card, p->arena, count + by_rows,
                                              by_rows ? rheos__placing_stages(&placing) + 1 : 1);
  if (launch == NULL) return rheos__out_of_memory();
  if (elements > 0 && by_rows) rheos__placing_add(launch, &placing);
  if (elements > 0) add_apply(u, launch, dtype, numbers, &placing, elements);
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
