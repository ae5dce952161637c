#include "device/opencl/crop.h"

#include "device/opencl/source.h"
#include "ops/image/crop_and_resize.h"

#include "opencl/crop.inc"
#include "opencl/resize_formulas.inc"

// As crop.cl has it.
typedef struct card_crop {
  cl_int batch, height, width, channels;
  cl_int count, crop_height, crop_width;
  cl_int nearest;
  cl_float outside;
} card_crop;

typedef struct crop_kernel {
  const char *name;
  int32_t num_operands;
  rheos_dtype dtype;  // of the pictures
  bool by_groups;     // one for each box; else a work-item for each element
} crop_kernel;

static card_crop crop_for_card(const rheos__crop *c) {
  return (card_crop){(cl_int)c->batch,      (cl_int)c->height, (cl_int)c->width,
                     (cl_int)c->channels,   (cl_int)c->count,  (cl_int)c->crop_height,
                     (cl_int)c->crop_width, c->nearest,        c->outside};
}

static bool is_small(const rheos__prepare *p) {
  bool small = rheos_shape_num_elements(&p->output_shapes[0]) < INT32_MAX;
  for (int32_t i = 0; i < p->num_inputs; i++) {
    small &= rheos_shape_num_elements(&p->input_shapes[i]) < INT32_MAX;
  }
  return small;
}

static void add_kernel(rheos__launch *launch, const rheos__prepare *p, const rheos__crop *c,
                       const rheos__cl_dtype *dtype, const crop_kernel *kernel) {
  enum { MOST = 5 };
  rheos__stage_operand operands[MOST] = {{0, 0}};
  const cl_int count = (cl_int)rheos_shape_num_elements(&p->output_shapes[0]);
  const card_crop k = crop_for_card(c);
  rheos__grid grid = {1, {(size_t)count}, {0}};
  rheos__text text = {0};
  if (count == 0) return;
  if (kernel->by_groups) {
    grid = (rheos__grid){1, {(size_t)c->count * RHEOS__GROUP}, {RHEOS__GROUP, 1, 1}};
  }
  for (int32_t i = 0; i < kernel->num_operands; i++) operands[i].number = i;
  operands[kernel->num_operands - 1].number = p->num_inputs;
  rheos__cl_add_prelude(&text);
  rheos__cl_add_macros(&text, dtype);
  rheos__cl_add_group(&text, "double");
  rheos__text_add_string(&text, rheos__cl_resize_formulas);
  rheos__text_add_string(&text, rheos__cl_crop);
  rheos__launch_add_text(launch, &text, kernel->name, operands, kernel->num_operands, &grid);
  rheos__launch_set(launch, &k, sizeof k);
  if (!kernel->by_groups) rheos__launch_set(launch, &count, sizeof count);
}

static rheos_status *answer(rheos__prepare *p, const crop_kernel *kernel) {
  rheos__card *card = rheos__card_of(p->device);
  RHEOS_TRY(rheos__prepare_reference(p));
  const rheos__crop *c = p->state;
  const rheos__cl_dtype *dtype = rheos__cl_dtype_of(card, kernel->dtype);
  if (dtype == NULL || !is_small(p) || card->max_group < RHEOS__GROUP) {
    p->decline_reason = "the device does not crop pictures of this dtype or size";
    return NULL;
  }
  rheos__launch *launch = rheos__launch_begin(card, p->arena, p->num_inputs, 1);
  if (launch == NULL) return rheos__out_of_memory();
  add_kernel(launch, p, c, dtype, kernel);
  return rheos__launch_end(launch, p, 0);
}

rheos_status *rheos__cl_prepare_crop(rheos__prepare *p) {
  return answer(p, &(crop_kernel){"forward", 4, p->input_dtypes[0], false});
}
rheos_status *rheos__cl_prepare_crop_grad_image(rheos__prepare *p) {
  return answer(p, &(crop_kernel){"to_image", 4, p->output_dtypes[0], false});
}
rheos_status *rheos__cl_prepare_crop_grad_boxes(rheos__prepare *p) {
  return answer(p, &(crop_kernel){"to_boxes", 5, p->input_dtypes[1], true});
}
