#include "device/cpu/fused_cluster.h"

#include <assert.h>

#include "device/cpu/fused_reduction.h"

static const rheos__elementwise *row_of(const rheos__instruction *in) {
  return rheos__elementwise_of(in->run, in->state);
}

static const rheos__reduction *reduction_of(const rheos__instruction *in) {
  const rheos__reduction *r = NULL;
  if (in->kind == RHEOS__RUN) r = rheos__reduction_of(in->run, NULL, in->state);
  if (in->kind == RHEOS__COMPUTE) r = rheos__reduction_of(NULL, in->compute, in->state);
  return r != NULL && rheos__reduction_can_fuse(r) ? r : NULL;
}

// Whether a cast between floats leaves bits off where others round.
static bool cuts_bits(const rheos__entry *entry) {
  const rheos_attr_value *truncate = rheos__attrs_find(entry->attrs, "Truncate");
  return truncate != NULL && truncate->b;
}

static void kind_of(const rheos__segment *segment, const rheos__fused_row *row,
                    rheos__fused_kind *out_kind) {
  const rheos__instruction *in = &segment->instructions[row->instruction];
  const rheos__entry *entry = &segment->plan->entries[in->entry];
  const rheos__value *out = &segment->values[in->first_value - segment->first_value];
  *out_kind = (rheos__fused_kind){.out_dtype = (uint8_t)out->dtype};
  if (!cuts_bits(entry)) out_kind->simple = rheos__simple_of(entry->signature->op->name);
  for (int32_t k = 0; k < in->num_inputs; ++k) {
    const int32_t value = segment->operands[in->first_operand + k];
    out_kind->dtypes[k] = (uint8_t)rheos__find_value(segment, value)->dtype;
  }
}

// Gives the place of the output, or of what is reduced.
static int32_t add_rows(const rheos__segment *segment, const rheos__fused_cluster *cluster,
                        rheos__fused_builder *loop) {
  int32_t places[RHEOS__FUSED_MEMBERS];
  for (int32_t k = 0; k < cluster->num_operands; ++k) {
    rheos__fused_add_operand(loop, cluster->steps[k]);
  }
  for (int32_t m = 0; m < cluster->num_rows; ++m) {
    const rheos__fused_row *row = &cluster->rows[m];
    int32_t inputs[RHEOS__MAX_OPERANDS];
    for (int32_t k = 0; k < row->row->num_operands; ++k) {
      const int32_t input = row->inputs[k];
      inputs[k] = input < 0 ? places[-1 - input] : input;
    }
    rheos__fused_kind kind;
    kind_of(segment, row, &kind);
    places[m] =
        rheos__fused_add_member(loop, row->row, &kind, inputs, row->output, row->num_readers);
  }
  return places[cluster->target];
}

static void make_loop(const rheos__fused *loop, rheos__instruction *in) {
  in->run = rheos__run_fused;
  in->state = (void *)(uintptr_t)loop;
  in->num_units = loop->num_units;
  in->scratch_bytes = loop->scratch_bytes;
}

// The kind of kernel stays, and with it what the output is.
static rheos_status *make_reduction(rheos__segment *segment, const rheos__reduction *reduction,
                                    const rheos__fused *loop, int32_t reduced,
                                    rheos__instruction *in) {
  rheos__fused_reduction *made = rheos__fused_reduction_new(
      reduction, loop, reduced, rheos__flops((double)in->flops), &segment->arena);
  if (made == NULL) return rheos__out_of_memory();
  if (in->kind == RHEOS__COMPUTE) {
    in->compute = rheos__compute_fused_reduction;
  } else {
    in->run = rheos__run_fused_reduction;
    in->scratch_bytes = made->scratch_bytes;
  }
  in->state = made;
  return NULL;
}

static rheos_status *make(rheos__segment *segment, const rheos__fused_cluster *cluster,
                          rheos__instruction *in, bool *out_made) {
  rheos__fused_builder loop;
  *out_made = true;
  rheos__fused_init(&loop, cluster->num_elements);
  loop.compiles = segment->plan->context.rewrites.compiled_loops != RHEOS_TOGGLE_OFF;
  const int32_t target = add_rows(segment, cluster, &loop);
  const rheos__fused *made = rheos__fused_finish(&loop, &segment->arena);
  if (made == NULL) return rheos__out_of_memory();
  if (cluster->reduction != NULL) {
    return make_reduction(segment, cluster->reduction, made, target, in);
  }
  make_loop(made, in);
  return NULL;
}

const rheos__fusing rheos__cpu_fusing = {.max_rows = RHEOS__FUSED_MEMBERS,
                                         .max_inputs = RHEOS__FUSED_OPERANDS - RHEOS__FUSED_MEMBERS,
                                         .row_of = row_of,
                                         .reduction_of = reduction_of,
                                         .make = make};
