#include "device/opencl/fake_quant.h"

#include "base/numbers.h"
#include "device/opencl/move.h"
#include "device/opencl/source.h"
#include "ops/quantized/fake_quant.h"

#include "opencl/fake_quant.inc"
#include "opencl/quantize_formulas.inc"

// Rows of a piece at least, and groups of a kernel at most where it has pieces.
enum { PIECE = 4096, MAX_PIECES = 256 };

// As fake_quant.cl has it.
typedef struct card_fake_quant {
  cl_long count, channels;
  cl_int num_bits, narrow_range, has_range;
  cl_float lowest, highest;
} card_fake_quant;

static void add_kernel(rheos__launch *launch, const rheos__fake_quant *s, const char *name,
                       const int32_t *numbers, int32_t count, const rheos__grid *grid) {
  enum { MOST = 5 };
  const card_fake_quant k = {s->count,     s->channels, (cl_int)s->num_bits, s->narrow_range,
                             s->has_range, s->lowest,   s->highest};
  rheos__stage_operand operands[MOST];
  rheos__text text = {0};
  for (int32_t i = 0; i < count; i++) operands[i] = (rheos__stage_operand){numbers[i], 0};
  rheos__cl_add_prelude(&text);
  rheos__cl_add_group(&text, "double");
  rheos__text_add_string(&text, rheos__cl_quantize_formulas);
  rheos__text_add_string(&text, rheos__cl_fake_quant);
  rheos__launch_add_text(launch, &text, name, operands, count, grid);
  rheos__launch_set(launch, &k, sizeof k);
}

static int64_t pieces_of(const rheos__fake_quant *s) {
  const int64_t rows = s->count / s->channels;
  return rheos__max(1, rheos__min(rows / PIECE, MAX_PIECES / s->channels));
}

// The gradients for the ends of the ranges. Returns the bytes of scratch that it takes.
static size_t add_ends(rheos__launch *launch, const rheos__fake_quant *s) {
  const size_t channels = (size_t)s->channels;
  if (channels == 0) return 0;
  const int64_t pieces = pieces_of(s);
  const size_t groups = channels * (size_t)pieces;
  const rheos__grid all = {1, {groups * RHEOS__GROUP}, {RHEOS__GROUP, 1, 1}};
  const rheos__grid each = {1, {channels}, {0}};
  add_kernel(launch, s, "pieces", (const int32_t[]){0, 1, 2, 3, RHEOS__SCRATCH}, 5, &all);
  rheos__launch_set_number(launch, pieces);
  add_kernel(launch, s, "joined", (const int32_t[]){RHEOS__SCRATCH, 5, 6}, 3, &each);
  rheos__launch_set_number(launch, pieces);
  return groups * 2 * sizeof(cl_double);
}

rheos_status *rheos__cl_prepare_fake_quant(rheos__prepare *p) {
  rheos__card *card = rheos__card_of(p->device);
  RHEOS_TRY(rheos__prepare_reference(p));
  const rheos__fake_quant *s = p->state;
  rheos__launch *launch = rheos__launch_begin(card, p->arena, p->num_inputs, 3);
  if (launch == NULL) return rheos__out_of_memory();
  const rheos__grid grid = {1, {(size_t)s->count}, {0}};
  // Where the op has a range the numbers take the place of ranges that are not read.
  const int32_t first = s->is_gradient ? 2 : 1, out = p->num_inputs;
  const int32_t lowest = s->has_range ? 0 : first, highest = s->has_range ? 0 : first + 1;
  size_t scratch_bytes = 0;
  if (s->count > 0 && s->is_gradient) {
    add_kernel(launch, s, "backward", (const int32_t[]){0, 1, lowest, highest, out}, 5, &grid);
  } else if (s->count > 0) {
    add_kernel(launch, s, "forward", (const int32_t[]){0, lowest, highest, out}, 4, &grid);
  }
  if (s->is_gradient && !s->has_range) scratch_bytes = add_ends(launch, s);
  return rheos__launch_end(launch, p, scratch_bytes);
}
