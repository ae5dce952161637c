#include "device/opencl/color.h"

#include <string.h>

#include "device/opencl/source.h"
#include "ops/kit/array_util.h"

#include "opencl/color.inc"
#include "opencl/color_formulas.inc"

// ---- Pixel by pixel

static const char *const pixels[][2] = {
    {"RGBToHSV", "to_hsv%s(in, out)"},
    {"HSVToRGB", "to_rgb%s(in, out)"},
    {"AdjustHue", "hue_pixel(in, amount, out)"},
    {"AdjustSaturation", "saturation_pixel(in, amount, out)"},
};

static const char *pixel_of(const char *op) {
  size_t i = 0;
  while (strcmp(pixels[i][0], op) != 0) i++;
  return pixels[i][1];
}

static void add_pixels(rheos__launch *launch, const rheos__prepare *p, const rheos__cl_dtype *dtype,
                       int64_t count) {
  const bool wide = p->output_dtypes[0] == RHEOS_DOUBLE;
  const rheos__stage_operand operands[] = {
      {0, 0}, {p->num_inputs > 1 ? 1 : 0, 0}, {p->num_inputs, 0}};
  const rheos__grid grid = {1, {(size_t)count}, {0}};
  rheos__text text = {0};
  rheos__cl_add_prelude(&text);
  rheos__cl_add_macros(&text, dtype);
  rheos__text_add_string(&text, rheos__cl_color_formulas);
  rheos__text_add_string(&text, "typedef COMPUTED C;\n#define PIXEL(in, amount, out) ");
  rheos__cl_add(&text, pixel_of(p->op->name), wide ? "_wide" : "");
  rheos__text_add_string(&text, "\n");
  rheos__text_add_string(&text, rheos__cl_color);
  rheos__launch_add_text(launch, &text, "pixels", operands, 3, &grid);
  rheos__launch_set_number(launch, count);
}

rheos_status *rheos__cl_prepare_color(rheos__prepare *p) {
  rheos__card *card = rheos__card_of(p->device);
  RHEOS_TRY(rheos__prepare_reference(p));
  const rheos__cl_dtype *dtype = rheos__cl_dtype_of(card, p->output_dtypes[0]);
  const int64_t count = rheos_shape_num_elements(&p->output_shapes[0]) / 3;
  rheos__launch *launch = rheos__launch_begin(card, p->arena, p->num_inputs, 1);
  if (launch == NULL) return rheos__out_of_memory();
  launch->cannot = dtype == NULL;
  if (count > 0 && dtype != NULL) add_pixels(launch, p, dtype, count);
  return rheos__launch_end(launch, p, 0);
}

// ---- Contrast

typedef struct contrast {
  int64_t pictures, pixels, channels;
} contrast;

static void add_contrast(rheos__launch *launch, const rheos__prepare *p,
                         const rheos__cl_dtype *dtype, const contrast *c) {
  const bool clips = p->num_inputs > 2;
  const int64_t each = c->pictures * c->channels, count = each * c->pixels;
  const rheos__stage_operand means[] = {{0, 0}, {RHEOS__SCRATCH, 0}};
  const rheos__stage_operand operands[] = {{0, 0},
                                           {RHEOS__SCRATCH, 0},
                                           {1, 0},
                                           {clips ? 2 : 1, 0},
                                           {clips ? 3 : 1, 0},
                                           {p->num_inputs, 0}};
  const rheos__grid groups = {1, {(size_t)each * RHEOS__GROUP}, {RHEOS__GROUP, 1, 1}};
  const rheos__grid grid = {1, {(size_t)count}, {0}};
  for (int stage = 0; stage < 2; stage++) {
    rheos__text text = {0};
    rheos__cl_add_prelude(&text);
    rheos__cl_add_macros(&text, dtype);
    rheos__cl_add(&text, "#define CLIPS %d\n", clips);
    rheos__cl_add_group(&text, "double");
    rheos__text_add_string(&text, rheos__cl_color);
    rheos__launch_add_text(launch, &text, stage == 0 ? "means" : "contrast",
                           stage == 0 ? means : operands, stage == 0 ? 2 : 6,
                           stage == 0 ? &groups : &grid);
    if (stage == 1) rheos__launch_set_number(launch, count);
    rheos__launch_set_number(launch, c->pixels);
    rheos__launch_set_number(launch, c->channels);
  }
}

rheos_status *rheos__cl_prepare_contrast(rheos__prepare *p) {
  rheos__card *card = rheos__card_of(p->device);
  const rheos_shape *shape = &p->input_shapes[0];
  RHEOS_TRY(rheos__prepare_reference(p));
  const rheos__cl_dtype *dtype = rheos__cl_dtype_of(card, p->input_dtypes[0]);
  const int32_t front = shape->rank - 3;
  const contrast c = {rheos__shape_product(shape, 0, front),
                      rheos__shape_product(shape, front, front + 2), shape->dims[front + 2]};
  rheos__launch *launch = rheos__launch_begin(card, p->arena, p->num_inputs, 2);
  if (launch == NULL) return rheos__out_of_memory();
  launch->cannot = dtype == NULL || card->max_group < RHEOS__GROUP;
  const bool any = rheos_shape_num_elements(shape) > 0;
  if (any && !launch->cannot) add_contrast(launch, p, dtype, &c);
  return rheos__launch_end(launch, p, any ? (size_t)(c.pictures * c.channels) * sizeof(float) : 0);
}
