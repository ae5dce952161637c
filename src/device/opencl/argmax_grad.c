#include "device/opencl/argmax_grad.h"

#include "device/opencl/move.h"
#include "device/opencl/scatter.h"
#include "device/opencl/source.h"
#include "ops/kit/variable_util.h"
#include "ops/nn/pool.h"

// Indices of one batch entry as places in the whole; -1: out of range.
static const char places_source[] =
    "kernel void places(global const char *bi, ulong oi, global char *bp, ulong op, long count,\n"
    "                   long image, long pooled_image) {\n"
    "  const long at = get_global_id(0);\n"
    "  if (at >= count) return;\n"
    "  const long index = ((global const INDEX *)(bi + oi))[at];\n"
    "  ((global long *)(bp + op))[at] =\n"
    "      index >= 0 && index < image ? at / pooled_image * image + index : -1;\n"
    "}\n";

static void add_places(rheos__launch *launch, const rheos__argmax_grad *s,
                       const rheos__stage_operand *places) {
  const rheos__stage_operand operands[] = {{2, 0}, *places};
  const rheos__grid grid = {1, {(size_t)s->pooled}, {0}};
  rheos__text text = {0};
  rheos__cl_add(&text, "#define INDEX %s\n", rheos__cl_integer_of(s->index_dtype));
  rheos__text_add_string(&text, places_source);
  rheos__launch_add_text(launch, &text, "places", operands, 2, &grid);
  rheos__launch_set_number(launch, s->pooled);
  rheos__launch_set_number(launch, s->image);
  rheos__launch_set_number(launch, s->pooled_image);
}

rheos_status *rheos__cl_prepare_argmax_grad(rheos__prepare *p) {
  rheos__card *card = rheos__card_of(p->device);
  const rheos_dtype dtype = p->output_dtypes[0];
  RHEOS_TRY(rheos__prepare_reference(p));
  const rheos__argmax_grad *s = p->state;
  rheos__placing placing = {.keys = {RHEOS__SCRATCH, 0},
                            .index_dtype = RHEOS_INT64,
                            .num_rows = s->pooled,
                            .depth = 1,
                            .dims = &s->elements,
                            .run = 1};
  const size_t keys_bytes = rheos__placing_bytes(&placing);
  placing.indices = (rheos__stage_operand){RHEOS__SCRATCH, keys_bytes};
  const rheos__joining joining = {.placing = &placing,
                                  .updates = {1, 0},
                                  .to = {p->num_inputs, 0},
                                  .dtype = dtype,
                                  .formula = rheos__change_formula(RHEOS__CHANGE_ADD, dtype),
                                  .lanes = 1,
                                  .from_row = 1,
                                  .from_each = 1};
  if (!rheos__placing_can(card, &placing) || rheos__cl_dtype_of(card, dtype) == NULL ||
      joining.formula == NULL) {
    p->decline_reason = "the device does not add numbers of this dtype, or so many";
    return NULL;
  }
  rheos__launch *launch =
      rheos__launch_begin(card, p->arena, p->num_inputs, rheos__placing_stages(&placing) + 3);
  if (launch == NULL) return rheos__out_of_memory();
  rheos__move_add_fill(launch, p->num_inputs, s->elements, rheos_dtype_size(dtype), 0);
  if (s->elements > 0 && s->pooled > 0) {
    add_places(launch, s, &placing.indices);
    rheos__placing_add(launch, &placing);
    rheos__joining_add(launch, &joining);
  }
  return rheos__launch_end(launch, p, keys_bytes + (size_t)s->pooled * sizeof(cl_long));
}
