#include "device/opencl/windows.h"

#include "opencl/windows.inc"

rheos__card_windows rheos__windows_for_card(const rheos__windows *windows, int64_t batch,
                                            const rheos__steps *in, const rheos__steps *out) {
  rheos__card_windows k = {.batch = (cl_int)batch,
                           .in_batch = (cl_int)in->batch,
                           .in_channel = (cl_int)in->channel,
                           .out_batch = (cl_int)out->batch,
                           .out_channel = (cl_int)out->channel};
  for (int d = 0; d < RHEOS__WINDOW_DIMS; d++) {
    const rheos__window *w = &windows->dims[d];
    k.in[d] = (cl_int)w->in;
    k.out[d] = (cl_int)w->out;
    k.taps[d] = (cl_int)w->kernel;
    k.stride[d] = (cl_int)w->stride;
    k.dilation[d] = (cl_int)w->dilation;
    k.before[d] = (cl_int)w->before;
    k.in_steps[d] = (cl_int)in->dims[d];
    k.out_steps[d] = (cl_int)out->dims[d];
  }
  return k;
}

void rheos__windows_add_text(rheos__text *text) { rheos__text_add_string(text, rheos__cl_windows); }
