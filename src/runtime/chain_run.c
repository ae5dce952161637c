// A chain is handed out once: as many parts as there are threads, each some units of every layer.
#include "runtime/chain_run.h"

#include "plan/row_chain.h"

typedef struct chain_run {
  const rheos__segment *segment;
  const rheos__row_chain *chain;
  const rheos__workspace *workspace;
  int64_t num_parts;
  rheos__trace_mark *marks;  // may be NULL
} chain_run;

static rheos_status *run_units(const chain_run *r, const rheos__instruction *in, int64_t first,
                               int64_t last) {
  const void *inputs[RHEOS__ROW_CHAIN_INPUTS];
  const int32_t *operands = r->segment->operands + in->first_operand;
  for (int32_t i = 0; i < in->num_inputs; ++i) inputs[i] = r->workspace->data[operands[i]];
  return in->run(in->state, inputs, r->workspace->data + in->first_value, NULL, first, last);
}

static rheos_status *run_part(void *argument, int64_t first_part, int64_t last_part) {
  const chain_run *r = argument;
  const rheos__plan *plan = r->segment->plan;
  const int64_t units = r->chain->num_units;
  const int64_t first = first_part * units / r->num_parts, last = last_part * units / r->num_parts;
  int64_t now = r->marks != NULL ? rheos__clock_ns() : 0;
  for (int32_t i = r->chain->first; i < r->chain->end; ++i) {
    const rheos__instruction *in = &r->segment->instructions[i];
    if (in->kind != RHEOS__RUN) continue;
    rheos_status *status = run_units(r, in, first, last);
    if (status != NULL) {
      return rheos__status_at_take(status, plan->graph, plan->entries[in->entry].id);
    }
    if (r->marks == NULL) continue;
    rheos__trace_mark *mark = &r->marks[(i - r->chain->first) * r->num_parts + first_part];
    *mark = (rheos__trace_mark){rheos__pool_thread(), now, rheos__clock_ns()};
    now = mark->end_ns;
  }
  return NULL;
}

int64_t rheos__row_chain_parts(const rheos__row_chain *chain, const rheos__pool *pool) {
  const int64_t threads = rheos__pool_num_threads(pool);
  return threads < chain->num_units ? threads : chain->num_units;
}

rheos_status *rheos__run_row_chain(const rheos__segment *segment, const rheos__row_chain *chain,
                                   const rheos__workspace *workspace, rheos__pool *pool,
                                   rheos__trace_mark *marks) {
  chain_run r = {segment, chain, workspace, rheos__row_chain_parts(chain, pool), marks};
  return rheos__pool_run(pool, r.num_parts, run_part, &r);
}
