#include "device/opencl/norm.h"

#include "device/opencl/move.h"
#include "device/opencl/source.h"
#include "ops/nn/batch_norm.h"

#include "opencl/norm.inc"

// As norm.cl has it.
typedef struct card_norm {
  cl_long batch, channels, spatial, batch_step, channel_step, spatial_step;
} card_norm;

typedef struct norm_work {
  rheos__launch *launch;
  const rheos__norm *s;
  const rheos__cl_dtype *dtype;
  card_norm k;
  rheos__grid channels, elements;
} norm_work;

static void add(norm_work *w, const char *name, const int32_t *numbers, int32_t count,
                const rheos__grid *grid) {
  enum { MOST = 8 };
  rheos__stage_operand operands[MOST];
  rheos__text text = {0};
  for (int32_t i = 0; i < count; i++) operands[i] = (rheos__stage_operand){numbers[i], 0};
  rheos__cl_add_prelude(&text);
  rheos__cl_add_macros(&text, w->dtype);
  const bool is_short = w->k.batch * w->k.channels * w->k.spatial < INT32_MAX;
  rheos__cl_add(&text, "#define PARAM float\ntypedef %s place;\n", is_short ? "uint" : "ulong");
  rheos__cl_add_group(&text, "double");
  rheos__text_add_string(&text, rheos__cl_norm);
  rheos__launch_add_text(w->launch, &text, name, operands, count, grid);
}

static void set_norm(norm_work *w) { rheos__launch_set(w->launch, &w->k, sizeof w->k); }
static void set_float(norm_work *w, double number) {
  const cl_float value = (cl_float)number;
  rheos__launch_set(w->launch, &value, sizeof value);
}
static void set_int(norm_work *w, int32_t number) {
  rheos__launch_set(w->launch, &number, sizeof number);
}

// Declines what the card does not normalize.
static rheos_status *begin(rheos__prepare *p, int32_t num_stages, norm_work *w) {
  rheos__card *card = rheos__card_of(p->device);
  RHEOS_TRY(rheos__prepare_reference(p));
  const rheos__norm *s = p->state;
  *w = (norm_work){.s = s, .dtype = rheos__cl_dtype_of(card, s->dtype)};
  if (w->dtype == NULL || s->param_dtype != RHEOS_FLOAT || card->max_group < RHEOS__GROUP ||
      s->batch * s->spatial == 0) {
    p->decline_reason = "the device does not normalize numbers of these dtypes, or none";
    return NULL;
  }
  w->k = (card_norm){s->batch,      s->channels,     s->spatial,
                     s->batch_step, s->channel_step, s->spatial_step};
  w->channels = (rheos__grid){1, {(size_t)s->channels * RHEOS__GROUP}, {RHEOS__GROUP, 1, 1}};
  w->elements = (rheos__grid){1, {(size_t)(s->batch * s->channels * s->spatial)}, {0}};
  w->launch = rheos__launch_begin(card, p->arena, p->num_inputs, num_stages);
  return w->launch != NULL ? NULL : rheos__out_of_memory();
}

rheos_status *rheos__cl_prepare_batch_norm(rheos__prepare *p) {
  norm_work w;
  RHEOS_TRY(begin(p, 3, &w));
  if (p->decline_reason != NULL) return NULL;
  const rheos__norm *s = w.s;
  const int32_t out = p->num_inputs;
  // An empty running mean is not read, and another input takes its place.
  const int32_t mean = s->has_mean ? 3 : 1, variance = s->has_mean ? 4 : 1;
  if (s->is_training) {
    const int32_t operands[] = {0, mean, variance, out + 1, out + 2, out + 3, out + 4};
    add(&w, "moments", operands, 7, &w.channels);
    set_norm(&w);
    set_int(&w, s->has_mean);
    set_float(&w, s->factor);
  } else {
    const rheos__grid grid = {1, {(size_t)s->channels}, {0}};
    add(&w, "given", (const int32_t[]){3, 4, out + 1, out + 2, out + 3, out + 4}, 6, &grid);
    rheos__launch_set_number(w.launch, s->channels);
  }
  add(&w, "normalized", (const int32_t[]){0, 1, 2, out + 3, out + 4, out}, 6, &w.elements);
  set_norm(&w);
  set_float(&w, s->epsilon);
  if (p->num_outputs > 5) rheos__move_add_fill(w.launch, out + 5, 1, sizeof(float), 0);
  return rheos__launch_end(w.launch, p, 0);
}

rheos_status *rheos__cl_prepare_batch_norm_grad(rheos__prepare *p) {
  norm_work w;
  RHEOS_TRY(begin(p, 2, &w));
  if (p->decline_reason != NULL) return NULL;
  const rheos__norm *s = w.s;
  const int32_t out = p->num_inputs;
  const int32_t sums[] = {0, 1, 3, 4, out + 1, out + 2, RHEOS__SCRATCH};
  add(&w, "grad_sums", sums, 7, &w.channels);
  set_norm(&w);
  set_float(&w, s->epsilon);
  const int32_t whole[] = {0, 1, 2, 3, 4, RHEOS__SCRATCH, out};
  add(&w, "grad_x", whole, 7, &w.elements);
  set_norm(&w);
  set_float(&w, s->epsilon);
  set_int(&w, s->is_training);
  return rheos__launch_end(w.launch, p, (size_t)s->channels * 2 * sizeof(double));
}
