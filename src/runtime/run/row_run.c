// A chain of layers is handed out once: as many parts as there are threads, each some units of
// every layer.
#include "runtime/run/section_run.h"

#include <assert.h>

#include "plan/segment/row_chain.h"

static rheos_status *run_units(const rheos__section_run *r, const rheos__instruction *in,
                               int64_t first, int64_t last) {
  assert(in->num_inputs <= RHEOS__ROW_CHAIN_INPUTS && in->num_outputs == 1);
  assert(first >= 0 && last <= in->num_units && in->scratch_bytes == 0);
  const void *inputs[RHEOS__ROW_CHAIN_INPUTS];
  const int32_t *operands = r->segment->operands + in->first_operand;
  for (int32_t i = 0; i < in->num_inputs; ++i) inputs[i] = r->workspace->data[operands[i]];
  return in->run(in->state, inputs, r->workspace->data + in->first_value, NULL, first, last);
}

static rheos_status *run_part(void *argument, int64_t first_part, int64_t last_part) {
  const rheos__section_run *r = argument;
  const rheos__plan *plan = r->segment->plan;
  const int64_t units = r->section->rows.num_units;
  assert(first_part < last_part && last_part <= r->num_parts && r->num_parts <= units);
  const int64_t first = first_part * units / r->num_parts, last = last_part * units / r->num_parts;
  int64_t now = rheos__section_start(r);
  for (int32_t i = r->section->first; i < r->section->end; ++i) {
    const rheos__instruction *in = &r->segment->instructions[i];
    if (in->kind != RHEOS__RUN) continue;
    rheos_status *status = run_units(r, in, first, last);
    if (status != NULL) {
      return rheos__plan_status_at_take(status, plan, plan->entries[in->entry].id);
    }
    now = rheos__section_mark(r, i, first_part, now);
  }
  return NULL;
}

rheos_status *rheos__run_rows(rheos__section_run *run) {
  return rheos__pool_run(run->step->pool, run->num_parts, run_part, run);
}
