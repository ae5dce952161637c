#include "device/opencl/softmax.h"

#include "device/opencl/source.h"
#include "ops/nn/softmax.h"

#include "opencl/softmax.inc"

static void add_rows(rheos__launch *launch, const rheos__softmax_rows *r,
                     const rheos__cl_dtype *dtype, int32_t num_inputs) {
  const bool is_loss = r->kind == RHEOS__DENSE_LOSS || r->kind == RHEOS__SPARSE_LOSS;
  const int32_t out = num_inputs;
  // Of a loss the first output are the losses.
  const rheos__stage_operand operands[] = {
      {0, 0}, {is_loss ? 1 : 0, 0}, {is_loss ? out + 1 : out, 0}, {out, 0}};
  const rheos__grid grid = {1, {(size_t)r->count * RHEOS__GROUP}, {RHEOS__GROUP, 1, 1}};
  rheos__text text = {0};
  rheos__cl_add_prelude(&text);
  rheos__cl_add_macros(&text, dtype);
  rheos__cl_add(&text, "#define KIND %d\n#define LABEL %s\n", (int)r->kind,
                r->wide_labels ? "long" : "int");
  rheos__cl_add_group(&text, dtype->computed);
  rheos__text_add_string(&text, rheos__cl_softmax);
  rheos__launch_add_text(launch, &text, "rows", operands, 4, &grid);
  const bool is_plain = !is_loss;
  const int64_t numbers[] = {r->n, is_plain ? r->n : r->logit_row, is_plain ? 1 : r->logit_step,
                             r->label_row, r->label_step};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
    rheos__launch_set_number(launch, numbers[i]);
  }
}

rheos_status *rheos__cl_prepare_softmax(rheos__prepare *p) {
  rheos__card *card = rheos__card_of(p->device);
  RHEOS_TRY(rheos__prepare_reference(p));
  const rheos__cl_dtype *dtype = rheos__cl_dtype_of(card, p->output_dtypes[0]);
  if (p->alias_input >= 0) return NULL;
  if (dtype == NULL || card->max_group < RHEOS__GROUP) {
    p->decline_reason = "the device has no softmax of this dtype";
    return NULL;
  }
  const rheos__softmax_rows *r = p->state;
  rheos__launch *launch = rheos__launch_begin(card, p->arena, p->num_inputs, 1);
  if (launch == NULL) return rheos__out_of_memory();
  if (r->count > 0 && r->n > 0) add_rows(launch, r, dtype, p->num_inputs);
  return rheos__launch_end(launch, p, 0);
}
