#include "device/opencl/conv.h"

#include "device/opencl/card_product.h"
#include "device/opencl/move.h"
#include "device/opencl/source.h"
#include "ops/nn/conv.h"

#include "opencl/conv.inc"

// As conv.cl has it.
typedef struct card_conv {
  cl_int batch, groups, group_in, group_out;
  cl_int in[3], out[3], taps[3], stride[3], dilation[3], before[3];
  cl_int in_batch, in_steps[3], in_channel, out_batch, out_steps[3], out_channel;
} card_conv;

static bool fits(int64_t number) { return number >= 0 && number < INT32_MAX; }

static card_conv conv_for_card(const rheos__conv *c) {
  card_conv k = {.batch = (cl_int)c->batch,
                 .groups = (cl_int)c->groups,
                 .group_in = (cl_int)c->group_in,
                 .group_out = (cl_int)c->group_out,
                 .in_batch = (cl_int)c->in.batch,
                 .in_channel = (cl_int)c->in.channel,
                 .out_batch = (cl_int)c->out.batch,
                 .out_channel = (cl_int)c->out.channel};
  for (int d = 0; d < 3; d++) {
    const rheos__window *w = &c->windows.dims[d];
    k.in[d] = (cl_int)w->in;
    k.out[d] = (cl_int)w->out;
    k.taps[d] = (cl_int)w->kernel;
    k.stride[d] = (cl_int)w->stride;
    k.dilation[d] = (cl_int)w->dilation;
    k.before[d] = (cl_int)w->before;
    k.in_steps[d] = (cl_int)c->in.dims[d];
    k.out_steps[d] = (cl_int)c->out.dims[d];
  }
  return k;
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
  const int64_t windows = k.batch * product_of(k.out), places = k.batch * product_of(k.in);
  const int64_t taps = product_of(k.taps);
  rheos__sizes sizes = {windows, k.group_out, taps * k.group_in, k.groups};
  if (kind[5] == 'B') sizes = (rheos__sizes){places, k.group_in, taps * k.group_out, k.groups};
  if (kind[5] == 'W') sizes = (rheos__sizes){taps * k.group_in, k.group_out, windows, k.groups};
  const int64_t count = rheos_shape_num_elements(&p->output_shapes[0]);
  rheos__launch *launch = rheos__launch_begin(card, p->arena, p->num_inputs, 1);
  if (launch == NULL) return rheos__out_of_memory();
  if (count > 0 && sizes.k > 0) {
    rheos__text text = {0};
    const rheos__stage_operand operands[] = {{a, 0}, {b, 0}, {p->num_inputs, 0}};
    rheos__cl_add_prelude(&text);
    rheos__cl_add_macros(&text, dtype);
    rheos__cl_add(&text, "#define %s 1\n", kind);
    rheos__product_add_arithmetic(&text, p->output_dtypes[0]);
    rheos__text_add_string(&text, rheos__cl_conv);
    rheos__product_add_text(launch, &text, operands, &sizes);
    rheos__launch_set(launch, &k, sizeof k);
  } else {
    rheos__move_add_fill(launch, p->num_inputs, count, rheos_dtype_size(p->output_dtypes[0]), 0);
  }
  p->flops = rheos__conv_flops(c);
  return rheos__launch_end(launch, p, 0);
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
