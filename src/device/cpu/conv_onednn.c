// Convolutions of two and three dimensions, depthwise or in groups, in either layout. The batch is
// cut into equal parts whose size depends on the shapes alone, one call each, so that any number of
// threads gives the same bits. The filter's gradient is a sum over the batch, and so one call.
#include "device/cpu/conv_onednn.h"

#include <string.h>

#include "device/cpu/onednn.h"
#include "ops/conv.h"

enum { SMALL_FLOPS = 2048, MAX_PARTS = 16 };

typedef struct conv_state {
  rheos__dnnl_conv *conv;
  int32_t image, filter, result;  // inputs; -1: the output
  int64_t image_step, result_step;  // elements from part to part
} conv_state;

static void release_conv(void *state) { rheos__dnnl_conv_free(((conv_state *)state)->conv); }

static float *operand(const void *const *inputs, void *const *outputs, int32_t index) {
  return index < 0 ? (float *)outputs[0] : (float *)(uintptr_t)inputs[index];
}

static rheos_status *run_conv(const void *state, const void *const *inputs, void *const *outputs,
                              void *scratch, int64_t first_unit, int64_t last_unit) {
  const conv_state *s = state;
  return rheos__dnnl_conv_run(
      s->conv, operand(inputs, outputs, s->image) + first_unit * s->image_step,
      operand(inputs, outputs, s->filter),
      operand(inputs, outputs, s->result) + first_unit * s->result_step, s->image_step,
      s->result_step, last_unit - first_unit, scratch);
}

// The smallest part of the batch that leaves at most MAX_PARTS.
static int64_t part_of(int64_t batch) {
  int64_t part = (batch + MAX_PARTS - 1) / MAX_PARTS;
  while (batch % part != 0) part++;
  return part;
}

static void describe_filter(const rheos__conv *c, int32_t spatial, rheos__dnnl_conv_shape *shape) {
  const rheos__window *w = c->windows.dims + RHEOS__WINDOW_DIMS - spatial;
  const int64_t out = c->groups * c->group_out;
  int at = 0;
  if (c->groups > 1) {
    shape->filter[at] = c->groups;
    shape->filter_strides[at++] = c->group_out;
  }
  shape->filter[at] = c->group_out;
  shape->filter_strides[at++] = 1;
  shape->filter[at] = c->group_in;
  shape->filter_strides[at++] = out;
  int64_t step = out * c->group_in;
  for (int32_t d = spatial - 1; d >= 0; d--) {
    shape->filter[at + d] = w[d].kernel;
    shape->filter_strides[at + d] = step;
    step *= w[d].kernel;
  }
  shape->filter_rank = at + spatial;
}

static rheos__dnnl_conv_shape describe(const rheos__conv *c, int64_t part) {
  const int32_t spatial = c->windows.layout.spatial, first = RHEOS__WINDOW_DIMS - spatial;
  rheos__dnnl_conv_shape s = {.rank = spatial + 2,
                              .image = {part, c->groups * c->group_in},
                              .image_strides = {c->in.batch, c->in.channel},
                              .result = {part, c->groups * c->group_out},
                              .result_strides = {c->out.batch, c->out.channel}};
  for (int32_t d = 0; d < spatial; d++) {
    const rheos__window *w = &c->windows.dims[first + d];
    s.image[2 + d] = w->in;
    s.image_strides[2 + d] = c->in.dims[first + d];
    s.result[2 + d] = w->out;
    s.result_strides[2 + d] = c->out.dims[first + d];
    s.strides[d] = w->stride;
    s.dilations[d] = w->dilation - 1;
    s.before[d] = w->before;
    const int64_t reach = (w->out - 1) * w->stride + (w->kernel - 1) * w->dilation + 1;
    s.after[d] = reach > w->in + w->before ? reach - w->in - w->before : 0;
  }
  describe_filter(c, spatial, &s);
  return s;
}

static bool is_empty(const rheos__prepare *p) {
  if (rheos_shape_num_elements(&p->output_shapes[0]) == 0) return true;
  for (int32_t i = 0; i < p->num_inputs; i++) {
    if (rheos_shape_num_elements(&p->input_shapes[i]) == 0) return true;
  }
  return false;
}

// Sizes that fit into oneDNN's 32-bit arithmetic.
static bool is_moderate(const rheos__conv *c) {
  for (int32_t d = 0; d < RHEOS__WINDOW_DIMS; d++) {
    const rheos__window *w = &c->windows.dims[d];
    const int64_t limit = 1 << 24;
    if (w->kernel > limit || w->stride > limit || w->dilation > limit || w->before > limit ||
        w->after > limit) {
      return false;
    }
    if (w->kernel * w->dilation > limit) return false;
  }
  return true;
}

static rheos_status *prepare(rheos__prepare *p, rheos__dnnl_pass pass, const rheos__conv *c,
                             const conv_state *operands) {
  p->flops = rheos__conv_flops(c);
  if (p->flops < SMALL_FLOPS || is_empty(p)) {
    p->decline_reason = "too small for a library call";
    return NULL;
  }
  if (!is_moderate(c)) {
    p->decline_reason = "windows too large for the library";
    return NULL;
  }
  conv_state *s = RHEOS_NEW_STATE(p, conv_state);
  if (s == NULL) return rheos__out_of_memory();
  *s = *operands;
  const int64_t part = pass == RHEOS__DNNL_BACKWARD_FILTER ? c->batch : part_of(c->batch);
  const rheos__dnnl_conv_shape shape = describe(c, part);
  RHEOS_TRY(rheos__dnnl_conv_new(pass, &shape, &s->conv));
  if (s->conv == NULL) {
    p->decline_reason = "oneDNN has no fast kernel for it";
    return NULL;
  }
  s->image_step = part * c->in.batch;
  s->result_step = part * c->out.batch;
  p->release = release_conv;
  p->num_units = c->batch / part;
  p->scratch_bytes = rheos__dnnl_conv_scratch_bytes(s->conv);
  p->run = run_conv;
  return NULL;
}

static bool is_float(rheos__prepare *p) {
  if (p->output_dtypes[0] == RHEOS_FLOAT) return true;
  p->decline_reason = "not float32";
  return false;
}

rheos_status *rheos__conv_prepare_onednn(rheos__prepare *p) {
  rheos__conv c;
  if (!is_float(p)) return NULL;
  RHEOS_TRY(rheos__conv_of_forward(p, &c));
  return prepare(p, RHEOS__DNNL_FORWARD, &c, &(conv_state){.image = 0, .filter = 1, .result = -1});
}

rheos_status *rheos__conv_prepare_onednn_by_input(rheos__prepare *p) {
  rheos__conv c;
  if (!is_float(p)) return NULL;
  RHEOS_TRY(rheos__conv_of_backprop_input(p, &c));
  return prepare(p, RHEOS__DNNL_BACKWARD_IMAGE, &c,
                 &(conv_state){.image = -1, .filter = 1, .result = 2});
}

rheos_status *rheos__conv_prepare_onednn_by_filter(rheos__prepare *p) {
  rheos__conv c;
  if (!is_float(p)) return NULL;
  RHEOS_TRY(rheos__conv_of_backprop_filter(p, &c));
  return prepare(p, RHEOS__DNNL_BACKWARD_FILTER, &c,
                 &(conv_state){.image = 0, .filter = -1, .result = 2});
}
