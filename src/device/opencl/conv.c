#include "device/opencl/conv.h"

#include "device/opencl/card_product.h"
#include "device/opencl/move.h"
#include "device/opencl/source.h"
#include "device/opencl/windows.h"
#include "ops/nn/conv.h"

#include "opencl/conv.inc"

// As conv.cl has it.
typedef struct card_conv {
  rheos__card_windows w;
  cl_int groups, group_in, group_out;
} card_conv;

static bool fits(int64_t number) { return number >= 0 && number < INT32_MAX; }

static card_conv conv_for_card(const rheos__conv *c) {
  return (card_conv){rheos__windows_for_card(&c->windows, c->batch, &c->in, &c->out),
                     (cl_int)c->groups, (cl_int)c->group_in, (cl_int)c->group_out};
}

static void set_conv(rheos__launch *launch, const void *more) {
  rheos__launch_set(launch, more, sizeof(card_conv));
}

static int64_t product_of(const cl_int *sizes) { return (int64_t)sizes[0] * sizes[1] * sizes[2]; }

static rheos_status *answer(rheos__prepare *p, const rheos__conv *c, const char *kind, int32_t a,
                            int32_t b) {
  rheos__card *card = rheos__card_of(p->device);
  const rheos__cl_dtype *dtype = rheos__cl_dtype_of(card, p->output_dtypes[0]);
  bool small = fits(rheos_shape_num_elements(&p->output_shapes[0]));
  for (int32_t i = 0; i < p->num_inputs; i++) {
    small &= fits(rheos_shape_num_elements(&p->input_shapes[i]));
  }
  if (dtype == NULL || !small) {
    p->decline_reason = "the device has no convolutions of this dtype or size";
    return NULL;
  }
  const card_conv k = conv_for_card(c);
  const int64_t windows = k.w.batch * product_of(k.w.out);
  const int64_t places = k.w.batch * product_of(k.w.in);
  const int64_t taps = product_of(k.w.taps);
  // A filter has its channels last whatever images have.
  rheos__sizes sizes = {.m = windows,
                        .n = k.group_out,
                        .k = taps * k.group_in,
                        .count = k.groups,
                        .takes_scratch = true,
                        .batch_inside = c->in.channel == 1 || kind[5] == 'W'};
  if (kind[5] == 'B') {
    sizes.m = places;
    sizes.n = k.group_in;
    sizes.k = taps * k.group_out;
  } else if (kind[5] == 'W') {
    sizes.m = taps * k.group_in;
    sizes.k = windows;
  }
  const int64_t count = rheos_shape_num_elements(&p->output_shapes[0]);
  rheos__launch *launch = rheos__launch_begin(card, p->arena, p->num_inputs, RHEOS__PRODUCT_STAGES);
  if (launch == NULL) return rheos__out_of_memory();
  size_t scratch_bytes = 0;
  if (count > 0 && sizes.k > 0) {
    rheos__text text = {0};
    const rheos__stage_operand operands[] = {{a, 0}, {b, 0}, {p->num_inputs, 0}};
    rheos__cl_add_prelude(&text);
    rheos__text_add_string(&text, "typedef uint place;\n");
    rheos__cl_add_macros(&text, dtype);
    rheos__cl_add(&text, "#define %s 1\n#define CHANNELS_LAST %d\n", kind, c->in.channel == 1);
    for (int d = 0; d < RHEOS__WINDOW_DIMS; d++) {
      rheos__cl_add(&text, "#define STRIDE_%d %d\n", d, (int)k.w.stride[d]);
    }
    rheos__windows_add_text(&text);
    rheos__text_add_string(&text, rheos__cl_conv);
    scratch_bytes =
        rheos__product_add_text(launch, &text, p->output_dtypes[0], operands, &sizes, set_conv, &k);
  } else {
    rheos__move_add_fill(launch, p->num_inputs, count, rheos_dtype_size(p->output_dtypes[0]), 0);
  }
  p->flops = rheos__conv_flops(c);
  return rheos__launch_end(launch, p, scratch_bytes);
}

rheos_status *rheos__cl_prepare_conv(rheos__prepare *p) {
  rheos__conv c;
  RHEOS_TRY(rheos__conv_of_forward(p, &c));
  return answer(p, &c, "CONV_FORWARD", 0, 1);
}

rheos_status *rheos__cl_prepare_conv_by_input(rheos__prepare *p) {
  rheos__conv c;
  RHEOS_TRY(rheos__conv_of_backprop_input(p, &c));
  return answer(p, &c, "CONV_BY_INPUT", 2, 1);
}

rheos_status *rheos__cl_prepare_conv_by_filter(rheos__prepare *p) {
  rheos__conv c;
  RHEOS_TRY(rheos__conv_of_backprop_filter(p, &c));
  return answer(p, &c, "CONV_WEIGHTS", 0, 2);
}
