// One node at once, outside the flow of a plan: to fold constants; and prepared kernels on tensors,
// for ops whose output shapes are only known when their inputs are there.
#include "plan/segment/segment.h"

#include <string.h>

#include "plan/entries/prepare.h"

static const int64_t SLICE_FLOPS = 20 * 1000 * 1000;  // between two looks whether to stop

typedef struct node_run {
  const rheos__prepare *prepare;
  const void **inputs;
  void **outputs;
  int64_t first;  // unit of the slice
} node_run;

static rheos_status *run_units(void *argument, int64_t first, int64_t last) {
  const node_run *r = argument;
  void *scratch = NULL;
  if (r->prepare->scratch_bytes > 0) {  // each range its own
    scratch = rheos__alloc_aligned(r->prepare->scratch_bytes);
    if (scratch == NULL) return rheos__out_of_memory();
  }
  rheos_status *status = r->prepare->run(r->prepare->state, r->inputs, r->outputs, scratch,
                                         r->first + first, r->first + last);
  rheos__free_aligned(scratch);
  return status;
}

static rheos_status *run_in_slices(node_run *r, rheos__step *step) {
  int64_t units = r->prepare->num_units > 1 ? r->prepare->num_units : 1;
  int64_t flops_per_unit = r->prepare->flops / units + 1;
  int64_t slice = SLICE_FLOPS / flops_per_unit + 1;
  for (; r->first < units; r->first += slice) {
    if (r->first > 0 && rheos__step_should_stop(step)) {
      return rheos_status_new(RHEOS_CANCELLED, "Step was cancelled.");
    }
    int64_t count = slice < units - r->first ? slice : units - r->first;
    RHEOS_TRY(rheos__step_parallel(step, count, count * flops_per_unit, run_units, r));
  }
  return NULL;
}

// On a device of its own memory, which is not split over threads.
static rheos_status *run_at_once(const rheos__prepare *p, const void **in, void **out) {
  void *scratch = NULL;
  if (p->scratch_bytes > 0) {
    scratch = rheos__memory_allocate(p->memory, p->scratch_bytes);
    if (scratch == NULL) return rheos__out_of_memory();
  }
  const int64_t units = p->num_units > 1 ? p->num_units : 1;
  rheos_status *status = p->run(p->state, in, out, scratch, 0, units);
  rheos__memory_free(p->memory, scratch);
  return status;
}

// Runs a prepared `run` kernel on fresh tensors.
static rheos_status *run_on_tensors(const rheos__prepare *p, rheos_tensor *const *inputs,
                                    rheos__step *step, const void **in, void **out,
                                    rheos_tensor **outputs) {
  for (int32_t i = 0; i < p->num_inputs; ++i) in[i] = inputs[i] != NULL ? inputs[i]->data : NULL;
  for (int32_t i = 0; i < p->num_outputs; ++i) {
    RHEOS_TRY(
        rheos__tensor_new_in(p->memory, p->output_dtypes[i], &p->output_shapes[i], &outputs[i]));
    out[i] = outputs[i]->data;
  }
  if (p->memory != NULL) return run_at_once(p, in, out);
  if (p->num_units <= 1 && p->scratch_bytes == 0) return p->run(p->state, in, out, NULL, 0, 1);
  return run_in_slices(&(node_run){.prepare = p, .inputs = in, .outputs = out}, step);
}

static rheos_status *pass_on(const rheos__prepare *p, rheos_tensor *input, rheos_tensor **output) {
  rheos_tensor *kept = NULL;
  if (rheos__tensor_can_keep(input)) {
    kept = rheos_tensor_ref(input);
  } else {
    RHEOS_TRY(rheos_tensor_copy(input, &kept));
  }
  if (kept->dtype == p->output_dtypes[0] && rheos_shape_equal(&kept->shape, &p->output_shapes[0])) {
    *output = kept;
    return NULL;
  }
  rheos_status *status =
      rheos__tensor_seen_as(kept, p->output_dtypes[0], p->output_shapes[0], output);
  rheos_tensor_unref(kept);
  return status;
}

rheos_status *rheos__run_prepared(const rheos__prepare *p, rheos_tensor *const *inputs,
                                  rheos__step *step, const void **in, void **out,
                                  rheos_tensor **outputs) {
  if (p->alias_input >= 0 && inputs[p->alias_input] == NULL) return NULL;  // a handle: no bytes
  if (p->alias_input >= 0) return pass_on(p, inputs[p->alias_input], &outputs[0]);
  if (p->compute != NULL) return p->compute(p->state, step, inputs, outputs);
  return run_on_tensors(p, inputs, step, in, out, outputs);
}

static rheos_status *prepare_and_run(const rheos__plan *plan, const rheos__entry *entry,
                                     rheos__arena *arena, rheos_tensor *const *inputs,
                                     rheos__resource *const *cells, rheos__step *step,
                                     rheos_tensor **outputs) {
  rheos__prepare p;
  rheos__prepare_arrays arrays;
  RHEOS_TRY(rheos__prepare_init(&p, plan, entry, plan->context.devices[0], arena, &arrays));
  for (int32_t i = 0; i < entry->num_inputs; ++i) {
    if (inputs[i] == NULL) continue;
    arrays.input_dtypes[i] = inputs[i]->dtype;
    arrays.input_shapes[i] = inputs[i]->shape;
    const bool has_bytes = inputs[i]->data != NULL || inputs[i]->size_bytes == 0;
    arrays.input_values[i] = has_bytes ? inputs[i] : NULL;
  }
  if (cells != NULL && entry->num_inputs > 0) {
    memcpy(arrays.input_resources, cells, (size_t)entry->num_inputs * sizeof *cells);
  }
  RHEOS_TRY(rheos__prepare_shapes(&p, arrays.output_shapes));
  RHEOS_TRY(rheos__prepare_kernel(&p));
  rheos_status *status = rheos__check_handles(entry, &p);
  if (status == NULL && p.alias_input < 0 && p.compute == NULL &&
      !rheos__all_known(p.output_shapes, p.num_outputs)) {
    status = rheos_status_new(RHEOS_INTERNAL, "the shape of an output of %s could not be inferred",
                              p.op->name);
  }
  const void **in = rheos__arena_alloc(arena, (size_t)p.num_inputs * sizeof *in);
  void **out = rheos__arena_alloc(arena, (size_t)p.num_outputs * sizeof *out);
  if (status == NULL && (in == NULL || out == NULL)) status = rheos__out_of_memory();
  if (status == NULL) status = rheos__run_prepared(&p, inputs, step, in, out, outputs);
  if (p.release != NULL) p.release(p.state);
  return status;
}

rheos_status *rheos__run_node(const rheos__plan *plan, const rheos__entry *entry,
                              rheos_tensor *const *inputs, rheos__resource *const *cells,
                              rheos__step *step, rheos_tensor **outputs) {
  for (int32_t i = 0; i < entry->num_outputs; ++i) outputs[i] = NULL;
  _Alignas(16) char room[2048];
  rheos__arena arena;
  rheos__arena_init_in(&arena, room, sizeof room);
  rheos_status *status = prepare_and_run(plan, entry, &arena, inputs, cells, step, outputs);
  rheos__arena_deinit(&arena);
  if (status == NULL) return NULL;
  for (int32_t i = 0; i < entry->num_outputs; ++i) {
    rheos_tensor_unref(outputs[i]);
    outputs[i] = NULL;
  }
  return rheos__plan_status_at_take(status, plan, entry->id);
}
