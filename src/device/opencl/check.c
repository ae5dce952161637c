#include "device/opencl/check.h"

#include "device/opencl/move.h"
#include "device/opencl/source.h"
#include "ops/flow/check.h"

// Elements of a work-item. Those of a group are side by side each time.
enum { EACH = 16 };

static const char check_source[] =
    "kernel void check(global const char *bx, ulong ox, global char *by, ulong oy,\n"
    "                  global char *bf, ulong of, long count) {\n"
    "  int found = 0;\n"
    "  for (long at = get_global_id(0); at < count; at += get_global_size(0)) {\n"
    "    const STORED bits = ((global const STORED *)(bx + ox))[at];\n"
    "    const COMPUTED x = LOAD(bits);\n"
    "    found |= x != x ? HAS_NAN : !isinf(x) ? 0 : x < 0 ? HAS_MINUS_INF : HAS_INF;\n"
    "    ((global STORED *)(by + oy))[at] = bits;\n"
    "  }\n"
    "  if (found != 0) atomic_or((global int *)(bf + of), found);\n"
    "}\n";

typedef struct numerics_check {
  rheos__launch *launch;
  const rheos__op_def *op;
  const rheos__attrs *attrs;
  rheos__memory *memory;
} numerics_check;

static rheos_status *run_check(const void *state, const void *const *inputs, void *const *outputs,
                               void *scratch, int64_t first_unit, int64_t last_unit) {
  const numerics_check *c = state;
  int32_t flaws = 0;
  if (c->launch->num_stages == 0) return NULL;
  RHEOS_TRY(rheos__launch_run(c->launch, inputs, outputs, scratch, first_unit, last_unit));
  RHEOS_TRY(rheos__memory_copy(NULL, &flaws, c->memory, scratch, sizeof flaws));
  return rheos__flaws_status(c->op, c->attrs, (unsigned)flaws);
}

static void release_check(void *state) {
  const numerics_check *c = state;
  rheos__launch_release(c->launch);
}

static void add_kernels(rheos__launch *launch, const rheos__cl_dtype *dtype, int64_t count) {
  const rheos__stage_operand operands[] = {{0, 0}, {1, 0}, {RHEOS__SCRATCH, 0}};
  const rheos__grid grid = {1, {(size_t)((count + EACH - 1) / EACH)}, {0}};
  rheos__text text = {0};
  rheos__cl_add_prelude(&text);
  rheos__cl_add_macros(&text, dtype);
  rheos__cl_add(&text, "enum { HAS_INF = %d, HAS_NAN = %d, HAS_MINUS_INF = %d };\n", RHEOS__HAS_INF,
                RHEOS__HAS_NAN, RHEOS__HAS_MINUS_INF);
  rheos__text_add_string(&text, check_source);
  rheos__move_add_fill(launch, RHEOS__SCRATCH, 1, sizeof(int32_t), 0);
  rheos__launch_add_text(launch, &text, "check", operands, 3, &grid);
  rheos__launch_set_number(launch, count);
}

rheos_status *rheos__cl_prepare_check_numerics(rheos__prepare *p) {
  rheos__card *card = rheos__card_of(p->device);
  const rheos__cl_dtype *dtype = rheos__cl_dtype_of(card, p->input_dtypes[0]);
  const int64_t count = rheos_shape_num_elements(&p->input_shapes[0]);
  numerics_check *c = rheos__arena_alloc_zeroed(p->arena, sizeof *c);
  rheos__launch *launch = rheos__launch_begin(card, p->arena, 1, 2);
  if (c == NULL || launch == NULL) return rheos__out_of_memory();
  launch->cannot = dtype == NULL;
  if (count > 0 && dtype != NULL) add_kernels(launch, dtype, count);
  RHEOS_TRY(rheos__launch_end(launch, p, sizeof(int32_t)));
  if (p->decline_reason != NULL) return NULL;
  *c = (numerics_check){launch, p->op, p->attrs, p->memory};
  p->run = run_check;
  p->reuse_input = 0;
  p->state = c;
  p->release = release_check;
  return NULL;
}
