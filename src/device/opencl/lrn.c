#include "device/opencl/lrn.h"

#include "device/opencl/source.h"

#include "opencl/lrn.inc"

// As lrn.cl has it.
typedef struct card_lrn {
  cl_long count, channels, reach;
  cl_float bias, alpha, beta;
} card_lrn;

static card_lrn lrn_for_card(const rheos__prepare *p) {
  const rheos_shape *out = &p->output_shapes[0];
  return (card_lrn){rheos_shape_num_elements(out),
                    out->dims[3],
                    rheos__attr_int(p->attrs, "depth_radius"),
                    rheos__attr_float(p->attrs, "bias"),
                    rheos__attr_float(p->attrs, "alpha"),
                    rheos__attr_float(p->attrs, "beta")};
}

static void add_kernel(rheos__launch *launch, const rheos__prepare *p, const char *name,
                       const int32_t *numbers, int32_t count) {
  enum { MOST = 4 };
  const rheos__cl_dtype *dtype = rheos__cl_dtype_of(launch->card, p->output_dtypes[0]);
  const card_lrn k = lrn_for_card(p);
  const rheos__grid grid = {1, {(size_t)k.count}, {0}};
  rheos__stage_operand operands[MOST];
  rheos__text text = {0};
  for (int32_t i = 0; i < count; i++) operands[i] = (rheos__stage_operand){numbers[i], 0};
  rheos__cl_add_prelude(&text);
  rheos__cl_add_macros(&text, dtype);
  rheos__text_add_string(&text, rheos__cl_lrn);
  rheos__launch_add_text(launch, &text, name, operands, count, &grid);
  rheos__launch_set(launch, &k, sizeof k);
}

// A launch for the op, whose shapes and numbers the reference kernel has checked.
static rheos_status *begin(rheos__prepare *p, rheos__launch **out_launch) {
  RHEOS_TRY(rheos__prepare_reference(p));
  *out_launch = rheos__launch_begin(rheos__card_of(p->device), p->arena, p->num_inputs, 2);
  return *out_launch != NULL ? NULL : rheos__out_of_memory();
}

rheos_status *rheos__cl_prepare_lrn(rheos__prepare *p) {
  rheos__launch *launch;
  RHEOS_TRY(begin(p, &launch));
  if (rheos_shape_num_elements(&p->output_shapes[0]) > 0) {
    add_kernel(launch, p, "forward", (const int32_t[]){0, 1}, 2);
  }
  return rheos__launch_end(launch, p, 0);
}

rheos_status *rheos__cl_prepare_lrn_grad(rheos__prepare *p) {
  const int64_t count = rheos_shape_num_elements(&p->output_shapes[0]);
  rheos__launch *launch;
  RHEOS_TRY(begin(p, &launch));
  if (count > 0) {
    add_kernel(launch, p, "terms", (const int32_t[]){0, 1, 2, RHEOS__SCRATCH}, 4);
    add_kernel(launch, p, "backward", (const int32_t[]){0, 1, RHEOS__SCRATCH, 3}, 4);
  }
  return rheos__launch_end(launch, p, (size_t)count * sizeof(float));
}
