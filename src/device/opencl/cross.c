#include "device/opencl/cross.h"

#include "device/opencl/launch.h"
#include "device/opencl/source.h"

static const char source[] =
    "kernel void cross_product(global const char *ba, ulong oa, global const char *bb, ulong ob,\n"
    "                          global char *bc, ulong oc, long count) {\n"
    "  const ulong at = get_global_id(0);\n"
    "  if (at >= (ulong)count) return;\n"
    "  const ulong begin = at / 3 * 3, e = begin + (at + 1) % 3, f = begin + (at + 2) % 3;\n"
    "  global const STORED *a = (global const STORED *)(ba + oa);\n"
    "  global const STORED *b = (global const STORED *)(bb + ob);\n"
    "  const WRAPPING left = (WRAPPING)LOAD(a[e]) * (WRAPPING)LOAD(b[f]);\n"
    "  const WRAPPING right = (WRAPPING)LOAD(a[f]) * (WRAPPING)LOAD(b[e]);\n"
    "  ((global STORED *)(bc + oc))[at] = STORE(left - right);\n"
    "}\n";

rheos_status *rheos__cl_prepare_cross(rheos__prepare *p) {
  rheos__card *card = rheos__card_of(p->device);
  const rheos__cl_dtype *dtype = rheos__cl_dtype_of(card, p->output_dtypes[0]);
  RHEOS_TRY(p->op->prepare(p));
  rheos__launch *launch = rheos__launch_begin(card, p->arena, p->num_inputs, 1);
  if (launch == NULL) return rheos__out_of_memory();
  launch->cannot = dtype == NULL;
  const int64_t count = rheos_shape_num_elements(&p->output_shapes[0]);
  if (dtype != NULL && count > 0) {
    const rheos__stage_operand operands[] = {{0, 0}, {1, 0}, {2, 0}};
    const rheos__grid grid = {1, {(size_t)count}, {0}};
    rheos__text text = {0};
    rheos__cl_add_prelude(&text);
    rheos__cl_add_macros(&text, dtype);
    rheos__cl_add(&text, "#define WRAPPING %s\n", dtype->wrapping);
    rheos__text_add_string(&text, source);
    rheos__launch_add_text(launch, &text, "cross_product", operands, 3, &grid);
    rheos__launch_set_number(launch, count);
  }
  return rheos__launch_end(launch, p, 0);
}
