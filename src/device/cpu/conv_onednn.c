// Convolutions of two and three dimensions, depthwise or in groups, in either layout. The batch is
// cut into equal parts whose size depends on the shapes alone, one call each, so that any number of
// threads gives the same bits. The filter's gradient is a sum over the batch: parts of it are
// summed up in order.
#include "device/cpu/conv_onednn.h"

#include <string.h>

#include "device/cpu/onednn.h"
#include "ops/kit/array_util.h"
#include "ops/nn/conv.h"

enum { SMALL_FLOPS = 2048, MAX_PARTS = 16 };

// Of the result, in a part: the filter is put into the library's order for each, which costs as
// much as some hundred of them.
enum { LEAST_PART_POSITIONS = 768, LEAST_PARTS = 2 };

// Of a filter's gradient: each part costs a filter of memory and its sum.
enum { MAX_SUMS = 4, SUM_POSITIONS = 512, SUM_BYTES = 1 << 26, SUM_UNIT = 16384 };

typedef struct conv_state {
  rheos__dnnl_conv *conv;
  int32_t image, filter, result;    // inputs; -1: the output
  int64_t image_step, result_step;  // elements from part to part
} conv_state;

static void release_conv(void *state) { rheos__dnnl_conv_free(((conv_state *)state)->conv); }

static float *operand(const void *const *inputs, void *const *outputs, int32_t index) {
  return index < 0 ? (float *)outputs[0] : (float *)(uintptr_t)inputs[index];
}

static rheos_status *run_conv(const void *state, const void *const *inputs, void *const *outputs,
                              void *scratch, int64_t first_unit, int64_t last_unit) {
  const conv_state *s = state;
  return rheos__dnnl_conv_run(s->conv,
                              operand(inputs, outputs, s->image) + first_unit * s->image_step,
                              operand(inputs, outputs, s->filter),
                              operand(inputs, outputs, s->result) + first_unit * s->result_step,
                              s->image_step, s->result_step, last_unit - first_unit, scratch);
}

// ---- The filter's gradient in parts

typedef struct filter_state {
  conv_state conv;  // first, for release_conv()
  int64_t num_parts, filter_elements;
  size_t scratch_bytes;
  rheos_shape shape;  // of the filter
} filter_state;

typedef struct filter_work {
  const filter_state *state;
  const float *image, *result;
  float *sum, *parts;  // the first part goes to `sum`, the others to `parts`
} filter_work;

static rheos_status *run_filter_parts(void *argument, int64_t first, int64_t last) {
  const filter_work *w = argument;
  const filter_state *s = w->state;
  void *scratch = rheos__alloc_aligned(s->scratch_bytes);
  if (scratch == NULL) return rheos__out_of_memory();
  rheos_status *status = NULL;
  for (int64_t i = first; i < last && status == NULL; i++) {
    float *to = i == 0 ? w->sum : w->parts + (i - 1) * s->filter_elements;
    status = rheos__dnnl_conv_run(
        s->conv.conv, (float *)(uintptr_t)w->image + i * s->conv.image_step, to,
        (float *)(uintptr_t)w->result + i * s->conv.result_step, 0, 0, 1, scratch);
  }
  rheos__free_aligned(scratch);
  return status;
}

static rheos_status *sum_filter_parts(void *argument, int64_t first, int64_t last) {
  const filter_work *w = argument;
  const filter_state *s = w->state;
  const rheos__add_fn add = rheos__add_of(RHEOS_FLOAT);
  for (int64_t unit = first; unit < last; unit++) {
    const int64_t at = unit * SUM_UNIT, left = s->filter_elements - at;
    for (int64_t i = 0; i + 1 < s->num_parts; i++) {
      add(w->sum + at, w->parts + i * s->filter_elements + at, left < SUM_UNIT ? left : SUM_UNIT);
    }
  }
  return NULL;
}

static rheos_status *compute_filter(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                    rheos_tensor **outputs) {
  const filter_state *s = state;
  RHEOS_TRY(rheos__tensor_new(RHEOS_FLOAT, &s->shape, &outputs[0]));
  const size_t bytes = (size_t)((s->num_parts - 1) * s->filter_elements) * sizeof(float);
  filter_work w = {s, inputs[s->conv.image]->data, inputs[s->conv.result]->data, outputs[0]->data,
                   rheos__alloc_aligned(bytes)};
  if (w.parts == NULL) return rheos__out_of_memory();
  const int64_t units = (s->filter_elements + SUM_UNIT - 1) / SUM_UNIT;
  const int64_t adds = s->num_parts * s->filter_elements;
  rheos_status *status = rheos__step_parallel(step, s->num_parts, INT64_MAX, run_filter_parts, &w);
  if (status == NULL) status = rheos__step_parallel(step, units, adds, sum_filter_parts, &w);
  rheos__free_aligned(w.parts);
  return status;
}

static int64_t positions_of(const rheos__conv *c) {
  int64_t positions = c->batch;
  for (int d = 0; d < RHEOS__WINDOW_DIMS; d++) positions *= c->windows.dims[d].out;
  return positions;
}

static int64_t image_parts(const rheos__conv *c) {
  const int64_t parts = positions_of(c) / LEAST_PART_POSITIONS;
  return parts < LEAST_PARTS ? LEAST_PARTS : parts > MAX_PARTS ? MAX_PARTS : parts;
}

static int64_t filter_parts(const rheos__conv *c, int64_t filter_elements) {
  const int64_t by_work = positions_of(c) / SUM_POSITIONS;
  const int64_t by_memory = SUM_BYTES / (filter_elements * (int64_t)sizeof(float));
  int64_t parts = by_work < by_memory ? by_work : by_memory;
  if (parts > MAX_SUMS) parts = MAX_SUMS;
  return parts < 1 ? 1 : parts;
}

// ---- Preparing

// The smallest part of the batch that leaves at most `most`.
static int64_t part_of(int64_t batch, int64_t most) {
  int64_t part = (batch + most - 1) / most;
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
  filter_state *f = RHEOS_NEW_STATE(p, filter_state);
  if (f == NULL) return rheos__out_of_memory();
  conv_state *s = &f->conv;
  *s = *operands;
  int64_t most = image_parts(c);
  if (pass == RHEOS__DNNL_BACKWARD_FILTER) {
    f->shape = p->output_shapes[0];
    f->filter_elements = rheos_shape_num_elements(&f->shape);
    most = filter_parts(c, f->filter_elements);
  }
  const int64_t part = part_of(c->batch, most);
  const rheos__dnnl_conv_shape shape = describe(c, part);
  RHEOS_TRY(rheos__dnnl_conv_new(pass, &shape, &s->conv));
  if (s->conv == NULL) {
    p->decline_reason = "oneDNN has no fast kernel for it";
    return NULL;
  }
  s->image_step = part * c->in.batch;
  s->result_step = part * c->out.batch;
  p->release = release_conv;
  f->num_parts = c->batch / part;
  f->scratch_bytes = rheos__dnnl_conv_scratch_bytes(s->conv);
  if (pass == RHEOS__DNNL_BACKWARD_FILTER && f->num_parts > 1) {
    p->compute = compute_filter;
    return NULL;
  }
  p->num_units = f->num_parts;
  if (pass == RHEOS__DNNL_FORWARD) p->unit_elements = s->result_step;
  p->scratch_bytes = f->scratch_bytes;
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
