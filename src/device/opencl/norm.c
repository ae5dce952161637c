#include "device/opencl/norm.h"

#include "base/numbers.h"
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
  int32_t lanes;   // channels of which a group makes sums
  int64_t pieces;  // that all elements of a channel are summed in
  rheos__grid parts, channels, elements;
} norm_work;

// The scratch: two sums of each channel, then those of the parts.
enum { PARTS = -2 };
static uint64_t sums_bytes(const rheos__norm *s) {
  return (uint64_t)s->channels * 2 * sizeof(double);
}

static void add(norm_work *w, const char *name, const int32_t *numbers, int32_t count,
                const rheos__grid *grid) {
  enum { MOST = 8 };
  rheos__stage_operand operands[MOST];
  rheos__text text = {0};
  for (int32_t i = 0; i < count; i++) {
    operands[i] = (rheos__stage_operand){numbers[i], 0};
    if (numbers[i] == PARTS) {
      operands[i] = (rheos__stage_operand){RHEOS__SCRATCH, sums_bytes(w->s)};
    }
  }
  rheos__cl_add_prelude(&text);
  rheos__cl_add_macros(&text, w->dtype);
  const bool is_short = w->s->batch * w->s->channels * w->s->spatial < INT32_MAX;
  rheos__cl_add(&text, "typedef %s place;\n#define PARAM float\n#define LANES %d\n",
                is_short ? "uint" : "ulong", (int)w->lanes);
  rheos__cl_add_group(&text, "double");
  rheos__text_add_string(&text, rheos__cl_norm);
  rheos__launch_add_text(w->launch, &text, name, operands, count, grid);
}

static size_t scratch_bytes(const norm_work *w) {
  return (size_t)sums_bytes(w->s) * (size_t)(w->pieces + 1);
}

static void set_norm(norm_work *w) { rheos__launch_set(w->launch, &w->k, sizeof w->k); }
static void set_float(norm_work *w, double number) {
  const cl_float value = (cl_float)number;
  rheos__launch_set(w->launch, &value, sizeof value);
}
static void set_int(norm_work *w, int32_t number) {
  rheos__launch_set(w->launch, &number, sizeof number);
}

// Where channels are neighbours in memory a group reads some of them side by side, else a channel's
// own neighbours. Groups enough for a large card, each with rows enough to be worth it.
static void settle_parts(norm_work *w) {
  enum { LANES = 32, LEAST_ROWS = 16, MOST_GROUPS = 1024, MOST_PIECES = 256 };
  const rheos__norm *s = w->s;
  w->lanes = s->channel_step == 1 ? LANES : 1;
  const int64_t tiles = (s->channels + w->lanes - 1) / w->lanes, rows = s->batch * s->spatial;
  int64_t most = rows / (RHEOS__GROUP / w->lanes * LEAST_ROWS);
  most = rheos__min(rheos__min(most, MOST_GROUPS / tiles), MOST_PIECES);
  const int64_t each = (rows + rheos__max(most, 1) - 1) / rheos__max(most, 1);
  w->pieces = (rows + each - 1) / each;  // none is empty
  w->parts = (rheos__grid){1, {(size_t)(tiles * w->pieces) * RHEOS__GROUP}, {RHEOS__GROUP, 1, 1}};
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
  settle_parts(w);
  w->channels = (rheos__grid){1, {(size_t)s->channels * RHEOS__GROUP}, {RHEOS__GROUP, 1, 1}};
  w->elements = (rheos__grid){1, {(size_t)(s->batch * s->channels * s->spatial)}, {0}};
  w->launch = rheos__launch_begin(card, p->arena, p->num_inputs, num_stages);
  return w->launch != NULL ? NULL : rheos__out_of_memory();
}

static void set_moments(norm_work *w) {
  set_norm(w);
  set_int(w, w->s->has_mean);
  set_float(w, w->s->factor);
  rheos__launch_set_number(w->launch, w->pieces);
}

static void add_moments(norm_work *w, int32_t mean, int32_t variance, int32_t out) {
  const int32_t parts[] = {0, mean, variance, out + 1, out + 2, out + 3, out + 4, PARTS};
  add(w, "moments", parts, 8, &w->parts);
  set_moments(w);
  if (w->pieces == 1) return;
  const int32_t joined[] = {PARTS, mean, variance, out + 1, out + 2, out + 3, out + 4};
  add(w, "join_moments", joined, 7, &w->channels);
  set_moments(w);
}

rheos_status *rheos__cl_prepare_batch_norm(rheos__prepare *p) {
  norm_work w;
  RHEOS_TRY(begin(p, 4, &w));
  if (p->decline_reason != NULL) return NULL;
  const rheos__norm *s = w.s;
  const int32_t out = p->num_inputs;
  // An empty running mean is not read, and another input takes its place.
  const int32_t mean = s->has_mean ? 3 : 1, variance = s->has_mean ? 4 : 1;
  if (s->is_training) {
    add_moments(&w, mean, variance, out);
  } else {
    const rheos__grid grid = {1, {(size_t)s->channels}, {0}};
    add(&w, "given", (const int32_t[]){3, 4, out + 1, out + 2, out + 3, out + 4}, 6, &grid);
    rheos__launch_set_number(w.launch, s->channels);
  }
  add(&w, "normalized", (const int32_t[]){0, 1, 2, out + 3, out + 4, out}, 6, &w.elements);
  set_norm(&w);
  set_float(&w, s->epsilon);
  if (p->num_outputs > 5) rheos__move_add_fill(w.launch, out + 5, 1, sizeof(float), 0);
  return rheos__launch_end(w.launch, p, scratch_bytes(&w));
}

static void set_sums(norm_work *w) {
  set_norm(w);
  set_float(w, w->s->epsilon);
  rheos__launch_set_number(w->launch, w->pieces);
}

rheos_status *rheos__cl_prepare_batch_norm_grad(rheos__prepare *p) {
  norm_work w;
  RHEOS_TRY(begin(p, 3, &w));
  if (p->decline_reason != NULL) return NULL;
  const rheos__norm *s = w.s;
  const int32_t out = p->num_inputs;
  const int32_t sums[] = {0, 1, 3, 4, out + 1, out + 2, RHEOS__SCRATCH, PARTS};
  add(&w, "grad_sums", sums, 8, &w.parts);
  set_sums(&w);
  if (w.pieces > 1) {
    const int32_t joined[] = {PARTS, 4, out + 1, out + 2, RHEOS__SCRATCH};
    add(&w, "join_sums", joined, 5, &w.channels);
    set_sums(&w);
  }
  const int32_t whole[] = {0, 1, 2, 3, 4, RHEOS__SCRATCH, out};
  add(&w, "grad_x", whole, 7, &w.elements);
  set_norm(&w);
  set_float(&w, s->epsilon);
  set_int(&w, s->is_training);
  return rheos__launch_end(w.launch, p, scratch_bytes(&w));
}
