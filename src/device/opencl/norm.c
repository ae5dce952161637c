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
  rheos__grid groups, channels, elements;  // a group for each channel, an item for each, all
  // Where channels are neighbours on a card: pieces of the elements, whose sums, two a channel, are
  // in scratch memory; behind them a number or two for each channel. 0: they are not.
  int64_t pieces;
  uint64_t behind_bytes;
} norm_work;

enum { ACROSS = 32, PIECE = 64, MOST_PIECES = 256, NUMBER_BYTES = 8 };

// Operands as numbered for stages; BEHIND: scratch memory behind the sums of pieces.
enum { BEHIND = -2 };
static void add(norm_work *w, const char *name, const int32_t *numbers, int32_t count,
                const rheos__grid *grid) {
  enum { MOST = 8 };
  rheos__stage_operand operands[MOST];
  rheos__text text = {0};
  for (int32_t i = 0; i < count; i++) {
    operands[i] = (rheos__stage_operand){numbers[i], 0};
    if (numbers[i] == BEHIND) {
      operands[i] = (rheos__stage_operand){RHEOS__SCRATCH, w->behind_bytes};
    }
  }
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

// Whether channels are neighbours, and summed up side by side; in how many pieces then.
static void find_pieces(const rheos__card *card, norm_work *w) {
  const card_norm *k = &w->k;
  const bool are_neighbours = k->channel_step == 1 && k->spatial_step == k->channels &&
                              (k->batch == 1 || k->batch_step == k->spatial * k->channels);
  if (card->wants_blocks || !are_neighbours || k->channels == 1) return;
  const int64_t wanted = (int64_t)card->num_units * 8 * ACROSS / k->channels;
  w->pieces = rheos__min(rheos__min(k->batch * k->spatial / PIECE, wanted), MOST_PIECES);
  if (w->pieces < 1) w->pieces = 1;
  w->behind_bytes = (uint64_t)(2 * w->pieces * k->channels) * NUMBER_BYTES;
}

// Two sums for each channel and piece: see channel_sums in norm.cl.
static void add_channel_sums(norm_work *w, int32_t x, int32_t dy, int32_t mean, int32_t what) {
  const int64_t groups = (w->k.channels + ACROSS - 1) / ACROSS * w->pieces;
  const rheos__grid grid = {1, {(size_t)groups * RHEOS__GROUP}, {RHEOS__GROUP, 1, 1}};
  add(w, "channel_sums", (const int32_t[]){x, dy, mean, RHEOS__SCRATCH}, 4, &grid);
  set_norm(w);
  rheos__launch_set_number(w->launch, w->pieces);
  set_int(w, what);
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
  w->groups = (rheos__grid){1, {(size_t)s->channels * RHEOS__GROUP}, {RHEOS__GROUP, 1, 1}};
  w->channels = (rheos__grid){1, {(size_t)s->channels}, {0}};
  w->elements = (rheos__grid){1, {(size_t)(s->batch * s->channels * s->spatial)}, {0}};
  find_pieces(card, w);
  w->launch = rheos__launch_begin(card, p->arena, p->num_inputs, num_stages);
  return w->launch != NULL ? NULL : rheos__out_of_memory();
}

static void add_moments(norm_work *w, int32_t mean, int32_t variance, int32_t out) {
  if (w->pieces > 0) {
    add_channel_sums(w, 0, 0, BEHIND, 0);
    add(w, "channel_means", (const int32_t[]){RHEOS__SCRATCH, BEHIND}, 2, &w->channels);
    set_norm(w);
    rheos__launch_set_number(w->launch, w->pieces);
    add_channel_sums(w, 0, 0, BEHIND, 1);
    const int32_t operands[] = {RHEOS__SCRATCH, BEHIND,  mean,    variance,
                                out + 1,        out + 2, out + 3, out + 4};
    add(w, "channel_moments", operands, 8, &w->channels);
  } else {
    const int32_t operands[] = {0, mean, variance, out + 1, out + 2, out + 3, out + 4};
    add(w, "moments", operands, 7, &w->groups);
  }
  set_norm(w);
  set_int(w, w->s->has_mean);
  set_float(w, w->s->factor);
  if (w->pieces > 0) rheos__launch_set_number(w->launch, w->pieces);
}

rheos_status *rheos__cl_prepare_batch_norm(rheos__prepare *p) {
  norm_work w;
  RHEOS_TRY(begin(p, 6, &w));
  if (p->decline_reason != NULL) return NULL;
  const rheos__norm *s = w.s;
  const int32_t out = p->num_inputs;
  // An empty running mean is not read, and another input takes its place.
  const int32_t mean = s->has_mean ? 3 : 1, variance = s->has_mean ? 4 : 1;
  if (s->is_training) {
    add_moments(&w, mean, variance, out);
  } else {
    add(&w, "given", (const int32_t[]){3, 4, out + 1, out + 2, out + 3, out + 4}, 6, &w.channels);
    rheos__launch_set_number(w.launch, s->channels);
  }
  add(&w, "normalized", (const int32_t[]){0, 1, 2, out + 3, out + 4, out}, 6, &w.elements);
  set_norm(&w);
  set_float(&w, s->epsilon);
  if (p->num_outputs > 5) rheos__move_add_fill(w.launch, out + 5, 1, sizeof(float), 0);
  const uint64_t means_bytes = w.pieces > 0 ? (uint64_t)s->channels * NUMBER_BYTES : 0;
  return rheos__launch_end(w.launch, p, (size_t)(w.behind_bytes + means_bytes));
}

static void add_grad_sums(norm_work *w, int32_t out) {
  if (w->pieces > 0) {
    add_channel_sums(w, 1, 0, 3, 2);
    const int32_t operands[] = {RHEOS__SCRATCH, 4, out + 1, out + 2, BEHIND};
    add(w, "channel_grads", operands, 5, &w->channels);
  } else {
    const int32_t operands[] = {0, 1, 3, 4, out + 1, out + 2, BEHIND};
    add(w, "grad_sums", operands, 7, &w->groups);
  }
  set_norm(w);
  set_float(w, w->s->epsilon);
  if (w->pieces > 0) rheos__launch_set_number(w->launch, w->pieces);
}

rheos_status *rheos__cl_prepare_batch_norm_grad(rheos__prepare *p) {
  norm_work w;
  RHEOS_TRY(begin(p, 3, &w));
  if (p->decline_reason != NULL) return NULL;
  const rheos__norm *s = w.s;
  const int32_t out = p->num_inputs;
  add_grad_sums(&w, out);
  const int32_t whole[] = {0, 1, 2, 3, 4, BEHIND, out};
  add(&w, "grad_x", whole, 7, &w.elements);
  set_norm(&w);
  set_float(&w, s->epsilon);
  set_int(&w, s->is_training);
  return rheos__launch_end(w.launch, p,
                           (size_t)w.behind_bytes + (size_t)s->channels * 2 * NUMBER_BYTES);
}
