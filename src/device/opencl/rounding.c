#include "device/opencl/rounding.h"

#include "base/numbers.h"
#include "device/opencl/move.h"
#include "device/opencl/source.h"
#include "ops/kit/array_util.h"
#include "ops/kit/elements.h"
#include "ops/quantized/quantize_dequantize.h"

#include "opencl/quantize_formulas.inc"
#include "opencl/rounding.inc"

// Elements of a piece at least, and groups of a kernel at most where it has pieces.
enum { PIECE = 4096, MAX_PIECES = 256 };

// As rounding.cl has it.
typedef struct card_rounding {
  cl_long outer, slices, inner;
} card_rounding;

typedef struct rounding_work {
  rheos__launch *launch;
  const rheos__rounding *s;
  const rheos__cl_dtype *dtype;
  size_t size;  // of a number
} rounding_work;

static void add_kernel(rounding_work *w, const char *name, const rheos__stage_operand *operands,
                       int32_t count, const rheos__grid *grid) {
  const rheos__slices *slices = &w->s->slices;
  const card_rounding k = {slices->outer, slices->count, slices->inner};
  const char *type = w->dtype->computed;
  rheos__text text = {0};
  rheos__cl_add_prelude(&text);
  rheos__cl_add_macros(&text, w->dtype);
  rheos__cl_add(&text,
                "#define LARGEST %s\n#define GROUP %d\n#define GRID_OF rheos__grid_of_%s\n"
                "#define ON_GRID rheos__on_grid_%s\n",
                w->s->dtype == RHEOS_FLOAT ? "FLT_MAX" : "DBL_MAX", (int)RHEOS__GROUP, type, type);
  rheos__text_add_string(&text, rheos__cl_quantize_formulas);
  rheos__text_add_string(&text, rheos__cl_rounding);
  rheos__launch_add_text(w->launch, &text, name, operands, count, grid);
  rheos__launch_set(w->launch, &k, sizeof k);
}

static void set_real(rounding_work *w, double number) {
  const cl_float single = (cl_float)number;
  const bool is_single = w->s->dtype == RHEOS_FLOAT;
  rheos__launch_set(w->launch, is_single ? (const void *)&single : &number, w->size);
}
static void set_int(rounding_work *w, cl_int number) {
  rheos__launch_set(w->launch, &number, sizeof number);
}

static rheos__grid elements_of(const rheos__prepare *p) {
  return (rheos__grid){1, {(size_t)rheos_shape_num_elements(&p->output_shapes[0])}, {0}};
}

// The ranges of the numbers themselves, at the beginning of the scratch; returns its size.
static size_t add_measured(rounding_work *w) {
  const rheos__slices *s = &w->s->slices;
  const int64_t count = s->outer * s->inner;
  const int64_t pieces = rheos__max(1, rheos__min(count / PIECE, MAX_PIECES / s->count));
  const size_t ranges = 2 * (size_t)s->count * w->size, groups = (size_t)(s->count * pieces);
  const rheos__stage_operand in_pieces = {RHEOS__SCRATCH, ranges};
  const rheos__stage_operand measured[] = {{0, 0}, in_pieces};
  const rheos__stage_operand joined[] = {in_pieces, {RHEOS__SCRATCH, 0}};
  const rheos__grid all = {1, {groups * RHEOS__GROUP}, {RHEOS__GROUP, 1, 1}};
  const rheos__grid each = {1, {(size_t)s->count}, {0}};
  add_kernel(w, "measured", measured, 2, &all);
  rheos__launch_set_number(w->launch, pieces);
  add_kernel(w, "joined", joined, 2, &each);
  rheos__launch_set_number(w->launch, pieces);
  return ranges + 2 * groups * w->size;
}

static void add_rounded(rounding_work *w, const rheos__prepare *p, int64_t bits) {
  const rheos__rounding *s = w->s;
  const rheos__whole_range whole = rheos__whole_range_of(s, bits);
  const rheos__grid grid = elements_of(p);
  const bool is_given = s->range_given && s->has_range_attrs;
  rheos__stage_operand operands[] = {{0, 0}, {0, 0}, {0, 0}, {p->num_inputs, 0}};
  if (!s->range_given) {
    operands[1].number = operands[2].number = RHEOS__SCRATCH;
    operands[2].offset_bytes = (size_t)s->slices.count * w->size;
  } else if (!is_given) {
    operands[1].number = 1;
    operands[2].number = 2;
  }
  add_kernel(w, "rounded", operands, 4, &grid);
  set_real(w, whole.lowest);
  set_real(w, whole.highest);
  set_real(w, s->lowest);
  set_real(w, s->highest);
  set_int(w, is_given);
  set_int(w, s->range_given);
  set_int(w, s->half_up);
}

// Declines what the card does not round.
static rheos_status *begin(rheos__prepare *p, rounding_work *w) {
  rheos__card *card = rheos__card_of(p->device);
  RHEOS_TRY(rheos__prepare_reference(p));
  *w = (rounding_work){.s = p->state};
  w->dtype = rheos__cl_dtype_of(card, w->s->dtype);
  w->size = rheos_dtype_size(w->s->dtype);
  if (w->dtype == NULL || card->max_group < RHEOS__GROUP) {
    p->decline_reason = "the device does not round numbers of this dtype";
    return NULL;
  }
  w->launch = rheos__launch_begin(card, p->arena, p->num_inputs, 3);
  return w->launch != NULL ? NULL : rheos__out_of_memory();
}

// The bits of a number; 0: it is known only when it runs, or none that there may be.
static int64_t bits_of(const rheos__prepare *p, const rheos__rounding *s) {
  if (s->num_bits != 0) return s->num_bits;
  if (p->input_values == NULL || p->input_values[3] == NULL) return 0;
  const int64_t bits = rheos__int_in(RHEOS_INT32, p->input_values[3]->data, 0);
  return bits > 0 && bits < (s->is_signed ? 62 : 63) ? bits : 0;
}

// Whether ranges are in order, as far as they are known: the CPU tells which one is not.
static bool has_ranges(const rheos__prepare *p, const rheos__rounding *s) {
  if (!s->range_given) return true;
  if (s->has_range_attrs) return s->lowest <= s->highest;
  if (p->input_values == NULL || p->input_values[1] == NULL || p->input_values[2] == NULL) {
    return true;
  }
  for (int64_t k = 0; k < s->slices.count; k++) {
    if (!(rheos__real_at(p->input_values[1], k) <= rheos__real_at(p->input_values[2], k))) {
      return false;
    }
  }
  return true;
}

rheos_status *rheos__cl_prepare_rounding(rheos__prepare *p) {
  rounding_work w;
  RHEOS_TRY(begin(p, &w));
  if (p->decline_reason != NULL) return NULL;
  const int64_t bits = bits_of(p, w.s);
  size_t scratch_bytes = 0;
  if (bits == 0 || !has_ranges(p, w.s)) {
    p->decline_reason = "it is known only when it runs how many bits there are, or no range";
    return NULL;
  }
  if (rheos_shape_num_elements(&p->output_shapes[0]) > 0) {
    if (!w.s->range_given) scratch_bytes = add_measured(&w);
    add_rounded(&w, p, bits);
  }
  return rheos__launch_end(w.launch, p, scratch_bytes);
}

rheos_status *rheos__cl_prepare_rounding_grad(rheos__prepare *p) {
  static const rheos__stage_operand operands[] = {{0, 0}, {1, 0}, {2, 0}, {3, 0}, {4, 0}};
  rounding_work w;
  RHEOS_TRY(begin(p, &w));
  if (p->decline_reason != NULL) return NULL;
  const rheos__grid grid = elements_of(p);
  if (grid.items[0] > 0) add_kernel(&w, "backward", operands, 5, &grid);
  for (int32_t i = 5; i < 7; i++) rheos__move_add_fill(w.launch, i, w.s->slices.count, w.size, 0);
  return rheos__launch_end(w.launch, p, 0);
}
