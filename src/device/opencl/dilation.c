#include "device/opencl/dilation.h"

#include "device/opencl/move.h"
#include "device/opencl/source.h"
#include "device/opencl/windows.h"
#include "ops/nn/dilation.h"

#include "opencl/dilation.inc"

// As dilation.cl has it.
typedef struct card_dilation {
  rheos__card_windows w;
  cl_int channels;
} card_dilation;

typedef struct dilation_work {
  rheos__launch *launch;
  const rheos__cl_dtype *dtype;
  rheos_dtype of;
  card_dilation k;
  cl_int windows;  // of a channel
} dilation_work;

static void add_kernel(dilation_work *w, const char *name, const int32_t *numbers,
                       int64_t num_items, bool by_groups, cl_int count) {
  const size_t items = (size_t)num_items;
  const rheos__grid each = {1, {items}, {0}};
  const rheos__grid groups = {1, {items * RHEOS__GROUP}, {RHEOS__GROUP, 1, 1}};
  rheos__stage_operand operands[3];
  rheos__text text = {0};
  if (num_items == 0) return;
  for (int i = 0; i < 3; i++) operands[i] = (rheos__stage_operand){numbers[i], 0};
  rheos__cl_add_prelude(&text);
  rheos__cl_add_macros(&text, w->dtype);
  rheos__cl_add_types(&text, w->dtype);
  rheos__cl_add(&text, "\n#define LEAST %s\n", rheos__cl_least_of(w->of, w->dtype));
  rheos__cl_add_group(&text, rheos_dtype_is_integer(w->of) ? "ulong" : "double");
  rheos__windows_add_text(&text);
  rheos__text_add_string(&text, rheos__cl_dilation);
  rheos__launch_add_text(w->launch, &text, name, operands, 3, by_groups ? &groups : &each);
  rheos__launch_set(w->launch, &w->k, sizeof w->k);
  rheos__launch_set(w->launch, &count, sizeof count);
}

// Declines what the card does not dilate.
static rheos_status *begin(rheos__prepare *p, dilation_work *w) {
  rheos__card *card = rheos__card_of(p->device);
  RHEOS_TRY(rheos__prepare_reference(p));
  const rheos__dilation *s = p->state;
  const rheos__window *dims = s->windows.dims;
  bool small = s->batch * dims[1].out * dims[2].out * s->channels < INT32_MAX;
  for (int32_t i = 0; i < p->num_inputs; i++) {
    small &= rheos_shape_num_elements(&p->input_shapes[i]) < INT32_MAX;
  }
  *w = (dilation_work){.dtype = rheos__cl_dtype_of(card, s->dtype), .of = s->dtype};
  if (w->dtype == NULL || !small || card->max_group < RHEOS__GROUP) {
    p->decline_reason = "the device does not dilate pictures of this dtype or size";
    return NULL;
  }
  w->k = (card_dilation){rheos__windows_for_card(&s->windows, s->batch, &s->in, &s->out),
                         (cl_int)s->channels};
  w->windows = (cl_int)(s->batch * dims[1].out * dims[2].out);
  w->launch = rheos__launch_begin(card, p->arena, p->num_inputs, 2);
  return w->launch != NULL ? NULL : rheos__out_of_memory();
}

rheos_status *rheos__cl_prepare_dilation(rheos__prepare *p) {
  dilation_work w;
  RHEOS_TRY(begin(p, &w));
  if (p->decline_reason != NULL) return NULL;
  const cl_int count = w.windows * w.k.channels;
  add_kernel(&w, "forward", (const int32_t[]){0, 1, 2}, count, false, count);
  return rheos__launch_end(w.launch, p, 0);
}

static rheos_status *backward(rheos__prepare *p, const char *name, bool by_filter) {
  dilation_work w;
  RHEOS_TRY(begin(p, &w));
  if (p->decline_reason != NULL) return NULL;
  const int64_t elements = rheos_shape_num_elements(&p->output_shapes[0]);
  const cl_int count = w.windows * w.k.channels;
  if (count == 0) {
    rheos__move_add_fill(w.launch, 3, elements, rheos_dtype_size(w.of), 0);
  } else {
    add_kernel(&w, "taps", (const int32_t[]){0, 1, RHEOS__SCRATCH}, count, false, count);
    add_kernel(&w, name, (const int32_t[]){RHEOS__SCRATCH, 2, 3}, elements, by_filter,
               by_filter ? w.windows : (cl_int)elements);
  }
  return rheos__launch_end(w.launch, p, (size_t)count * sizeof(cl_int));
}

rheos_status *rheos__cl_prepare_dilation_by_input(rheos__prepare *p) {
  return backward(p, "by_input", false);
}
rheos_status *rheos__cl_prepare_dilation_by_filter(rheos__prepare *p) {
  return backward(p, "by_filter", true);
}
