#include "device/opencl/resize.h"

#include <string.h>

#include "device/opencl/move.h"
#include "device/opencl/source.h"
#include "ops/image/resize.h"

#include "opencl/resize.inc"
#include "opencl/resize_formulas.inc"

// Pixels along a side that floats tell apart well.
enum { LONGEST = 1 << 20 };

// As resize.cl has it.
typedef struct card_resize {
  cl_int batch, in_height, in_width, out_height, out_width, channels;
  cl_float height_scale, width_scale, area;
} card_resize;

static card_resize resize_for_card(const rheos__resize *r) {
  return (card_resize){(cl_int)r->batch,
                       (cl_int)r->in_height,
                       (cl_int)r->in_width,
                       (cl_int)r->out_height,
                       (cl_int)r->out_width,
                       (cl_int)r->channels,
                       r->height_scale,
                       r->width_scale,
                       (float)(1.0 / (double)(r->height_scale * r->width_scale))};
}

static const char *kind_of(const char *op) {
  if (strncmp(op, "ResizeNearest", 13) == 0) return "NEAREST";
  if (strncmp(op, "ResizeBilinear", 14) == 0) return "BILINEAR";
  return strcmp(op, "ResizeArea") == 0 ? "AREA" : "BICUBIC";
}

static bool can_resize(const rheos__prepare *p, const rheos__resize *r) {
  const int64_t sides[] = {r->in_height, r->in_width, r->out_height, r->out_width};
  bool fits = rheos_shape_num_elements(&p->input_shapes[0]) < INT32_MAX &&
              rheos_shape_num_elements(&p->output_shapes[0]) < INT32_MAX;
  for (int k = 0; k < 4; k++) fits &= sides[k] <= LONGEST;
  return fits;
}

static void add_kernel(rheos__launch *launch, const rheos__prepare *p, const rheos__resize *r,
                       const rheos__cl_dtype *dtype, const char *name) {
  const int64_t count = rheos_shape_num_elements(&p->output_shapes[0]);
  const rheos__stage_operand operands[] = {{0, 0}, {p->num_inputs, 0}};
  const rheos__grid grid = {1, {(size_t)count}, {0}};
  const card_resize k = resize_for_card(r);
  const cl_int total = (cl_int)count;
  rheos__text text = {0};
  if (count == 0) return;
  rheos__cl_add_prelude(&text);
  rheos__cl_add_macros(&text, dtype);
  rheos__cl_add_types(&text, dtype);
  rheos__cl_add(&text, "\n#define %s 1\n#define HALF_PIXEL %d\n#define ALIGN_CORNERS %d\n",
                kind_of(p->op->name), r->half_pixel, r->align_corners);
  rheos__text_add_string(&text, rheos__cl_resize_formulas);
  rheos__text_add_string(&text, rheos__cl_resize);
  rheos__launch_add_text(launch, &text, name, operands, 2, &grid);
  rheos__launch_set(launch, &k, sizeof k);
  rheos__launch_set(launch, &total, sizeof total);
}

// `stored`: of what the kernel moves, which is not a float.
static rheos_status *answer(rheos__prepare *p, rheos_dtype stored, const char *name) {
  rheos__card *card = rheos__card_of(p->device);
  RHEOS_TRY(rheos__prepare_reference(p));
  const rheos__resize *r = p->state;
  const rheos__cl_dtype *dtype = rheos__cl_dtype_of(card, stored);
  if (dtype == NULL || !can_resize(p, r)) {
    p->decline_reason = "the device does not resize pictures of this dtype or size";
    return NULL;
  }
  rheos__launch *launch = rheos__launch_begin(card, p->arena, p->num_inputs, 1);
  if (launch == NULL) return rheos__out_of_memory();
  add_kernel(launch, p, r, dtype, name);
  return rheos__launch_end(launch, p, 0);
}

rheos_status *rheos__cl_prepare_resize(rheos__prepare *p) {
  return answer(p, p->input_dtypes[0], "forward");
}

rheos_status *rheos__cl_prepare_resize_grad(rheos__prepare *p) {
  return answer(p, p->output_dtypes[0], "backward");
}
