// The executor: a loop over an array of instructions. Looking around for cancellation costs nothing
// between cheap instructions: their guessed costs are summed up, and every millisecond's worth is one
// look. Long kernels are run in slices of their units, with a look between slices.
#include "runtime/executor.h"

#include <string.h>

#include "plan/kept_operand.h"
#include "plan/late.h"
#include "plan/memory_report.h"
#include "runtime/branch_run.h"
#include "runtime/chain_run.h"
#include "runtime/joint_run.h"
#include "runtime/trace.h"
#include "tensor/variable_shape.h"

static const float BUDGET_NS = 1e6f;  // of guessed work between two looks around
static const float SLICE_NS = 2e6f;

typedef struct run {
  rheos__plan *plan;
  rheos__frame *frame;
  rheos__step *step;
  int64_t now_ns;             // of a traced step: when the instruction under way began
  const rheos__bound *bound;  // where the fetches go; NULL: into tensors of their own
} run;

// ---- Fetched values

// Has fetches computed right where the caller wants them. What is not placed has no data.
static void place_bound(const run *r, const rheos__stretch *stretch) {
  for (int32_t i = 0; i < stretch->num_heap_values; ++i) {
    r->frame->data[stretch->heap_values[i]] = NULL;
  }
  for (int32_t i = 0; i < r->plan->num_fetches; ++i) {
    int32_t at = r->plan->fetch_values[i] - stretch->first_value;
    if (at < 0 || at >= stretch->num_values) continue;
    const rheos__value *value = &stretch->values[at];
    if (value->kind != RHEOS__VALUE_HEAP || value->root != r->plan->fetch_values[i]) continue;
    if (r->frame->data[value->root] == NULL &&
        rheos__bound_takes(r->bound, i, (rheos_dtype)value->dtype, value->shape)) {
      r->frame->data[value->root] = r->bound->results[i]->data;
    }
  }
}

// Fresh tensors for the values that the caller gets.
static rheos_status *allocate_fetched(const run *r, const rheos__stretch *stretch) {
  rheos__frame *frame = r->frame;
  if (r->bound != NULL) place_bound(r, stretch);
  for (int32_t i = 0; i < stretch->num_heap_values; ++i) {
    int32_t index = stretch->heap_values[i];
    if (r->bound != NULL && frame->data[index] != NULL) continue;
    const rheos__value *value = &stretch->values[index - stretch->first_value];
    rheos_status *status =
        rheos_tensor_new((rheos_dtype)value->dtype, *value->shape, &frame->tensors[index]);
    if (status != NULL) {
      status = rheos__no_memory_take(status, stretch);
      return rheos__status_at_take(status, r->plan->graph, r->plan->origins[index].id);
    }
    frame->data[index] = frame->tensors[index]->data;
  }
  return NULL;
}

static void release_tensors(rheos__frame *frame, const rheos__stretch *stretch) {
  for (int32_t i = 0; i < stretch->num_tensor_values; ++i) {
    rheos_tensor **tensor = &frame->tensors[stretch->tensor_values[i]];
    if (*tensor == NULL) continue;
    rheos_tensor_unref(*tensor);
    *tensor = NULL;
  }
}

// ---- Instructions

typedef struct split_run {
  const rheos__instruction *instruction;
  const void *const *inputs;
  void *const *outputs;
  rheos__step *step;
  int64_t slice;  // units between two looks around
} split_run;

// Whether the step stops: looked up by its own thread, which the others believe.
static bool is_stopping(rheos__step *step) {
  if (rheos__pool_thread() == 0) return rheos__step_poll(step);
  return atomic_load_explicit(&step->stopped, memory_order_relaxed) != 0;
}

static rheos_status *run_slices(const split_run *split, void *scratch, int64_t first,
                                int64_t last) {
  const rheos__instruction *in = split->instruction;
  while (first < last) {
    const int64_t end = last - first > split->slice ? first + split->slice : last;
    RHEOS_TRY(in->run(in->state, split->inputs, split->outputs, scratch, first, end));
    if (end < in->num_units && is_stopping(split->step)) return rheos__step_error(split->step);
    first = end;
  }
  return NULL;
}

static rheos_status *run_range(void *argument, int64_t first, int64_t last) {
  const split_run *split = argument;
  const size_t scratch_bytes = split->instruction->scratch_bytes;
  void *scratch = NULL;
  if (scratch_bytes > 0) {
    scratch = rheos__pool_take_scratch(scratch_bytes);
    if (scratch == NULL) return rheos__out_of_memory();
  }
  rheos_status *status = run_slices(split, scratch, first, last);
  if (scratch != NULL) rheos__pool_give_scratch(scratch);
  return status;
}

// A kernel that takes long: over the threads if that pays, with looks around in between.
static rheos_status *run_long(run *r, const rheos__instruction *in, void *scratch) {
  const double slices = (double)in->cost_ns / SLICE_NS;
  split_run split = {.instruction = in,
                     .inputs = r->frame->inputs,
                     .outputs = r->frame->outputs,
                     .step = r->step,
                     .slice = in->num_units};
  if (slices > 1) split.slice = (int64_t)((double)in->num_units / slices);
  if (split.slice < 1) split.slice = 1;
  if (!in->parallel) return run_slices(&split, scratch, 0, in->num_units);
  return rheos__pool_run(r->step->pool, in->num_units, run_range, &split);
}

static rheos_status *run_kernel(run *r, const rheos__stretch *stretch,
                                const rheos__instruction *in) {
  rheos__frame *frame = r->frame;
  if (__builtin_expect(in->kept_operand != 0, 0)) {
    RHEOS_TRY(rheos__take_kept_operand(stretch, in, frame));
  }
  const int32_t *operands = stretch->operands + in->first_operand;
  for (int32_t i = 0; i < in->num_inputs; ++i) frame->inputs[i] = frame->data[operands[i]];
  void **outputs = frame->data + in->first_value;  // outputs are roots, side by side
  void *scratch =
      in->scratch_bytes > 0 ? frame->bindings[stretch->depth].memory + in->scratch_offset : NULL;
  if (in->num_units == 1 || (!in->parallel && in->cost_ns < SLICE_NS)) {
    return in->run(in->state, frame->inputs, outputs, scratch, 0, in->num_units);
  }
  memcpy(frame->outputs, outputs, (size_t)in->num_outputs * sizeof *outputs);
  return run_long(r, in, scratch);
}

// Puts what a kernel returned in place, after a check of what was promised.
static rheos_status *keep_results(run *r, const rheos__stretch *stretch,
                                  const rheos__instruction *in) {
  rheos__frame *frame = r->frame;
  rheos_status *status = NULL;
  for (int32_t i = 0; i < in->num_outputs; ++i) {
    const rheos__value *value = &stretch->values[in->first_value + i - stretch->first_value];
    rheos_tensor *result = frame->results[i];
    if (value->kind == RHEOS__VALUE_NONE) {
      rheos_tensor_unref(result);
      continue;
    }
    if (status == NULL && result == NULL) {
      status = rheos_status_new(RHEOS_INTERNAL, "output %d was not computed", (int)i);
    } else if (status == NULL && value->shape != NULL &&
               !rheos_shape_equal(value->shape, &result->shape)) {
      rheos__shape_text expected, actual;
      status = rheos_status_new(RHEOS_INTERNAL, "output %d has shape %s, not %s as inferred",
                                (int)i, rheos__shape_text_of(&result->shape, &actual),
                                rheos__shape_text_of(value->shape, &expected));
    }
    frame->tensors[in->first_value + i] = result;
    frame->data[in->first_value + i] = result != NULL ? result->data : NULL;
  }
  return status;
}

static rheos_status *run_compute(run *r, const rheos__stretch *stretch,
                                 const rheos__instruction *in) {
  rheos__frame *frame = r->frame;
  rheos_tensor *const *inputs = rheos__take_tensors(frame, stretch, in);
  for (int32_t i = 0; i < in->num_outputs; ++i) frame->results[i] = NULL;
  rheos_status *status = in->compute(in->state, r->step, inputs, frame->results);
  if (status == NULL) return keep_results(r, stretch, in);
  for (int32_t i = 0; i < in->num_outputs; ++i) rheos_tensor_unref(frame->results[i]);
  return status;
}

static rheos_status *run_late(run *r, const rheos__stretch *stretch, const rheos__instruction *in) {
  RHEOS_TRY(rheos__run_late(stretch, in, r->frame, r->step));
  return keep_results(r, stretch, in);
}

static rheos_status *read_variable(run *r, const rheos__stretch *stretch,
                                   const rheos__instruction *in) {
  rheos__variable_cell *cell = in->state;
  rheos_tensor *value = rheos__variable_read(cell);
  if (value == NULL) return rheos__variable_uninitialized(cell);
  r->frame->tensors[in->first_value] = value;
  r->frame->data[in->first_value] = value->data;
  const rheos_shape *expected = stretch->values[in->first_value - stretch->first_value].shape;
  if (expected == NULL) {  // known in part
    const rheos__entry *entry = &r->plan->entries[in->entry];
    expected = rheos__graph_node(r->plan->graph, entry->id)->outputs[entry->read_index].shape;
    if (rheos_shape_compatible(expected, &value->shape)) return NULL;
    if (rheos__variable_has_any_shape(cell)) return NULL;
  } else if (rheos_shape_equal(expected, &value->shape)) {
    return NULL;
  }
  rheos__shape_text is, was;
  return rheos_status_new(RHEOS_FAILED_PRECONDITION,
                          "variable %s holds a value of shape %s, the graph says %s",
                          cell->base.name, rheos__shape_text_of(&value->shape, &is),
                          rheos__shape_text_of(expected, &was));
}

static rheos_status *run_instruction(run *r, const rheos__stretch *stretch,
                                     const rheos__instruction *in) {
  switch ((rheos__instruction_kind)in->kind) {
    case RHEOS__RUN: return run_kernel(r, stretch, in);
    case RHEOS__COMPUTE: return run_compute(r, stretch, in);
    case RHEOS__READ: return read_variable(r, stretch, in);
    case RHEOS__LATE: return run_late(r, stretch, in);
    case RHEOS__HOLD: return NULL;
  }
  return NULL;
}

// One instruction, its cost counted and its error completed.
static inline rheos_status *run_next(run *r, const rheos__stretch *stretch,
                                     const rheos__instruction *in) {
  r->step->budget_ns -= in->cost_ns;
  if (r->step->budget_ns < 0) {
    r->step->budget_ns = BUDGET_NS;
    if (rheos__step_poll(r->step)) return rheos__step_error(r->step);
  }
  rheos_status *status = run_instruction(r, stretch, in);
  if (__builtin_expect(status != NULL, 0)) {
    status = rheos__no_memory_take(status, stretch);
    return rheos__status_at_take(status, r->plan->graph, r->plan->entries[in->entry].id);
  }
  return NULL;
}

static inline void release_after(rheos__frame *frame, const rheos__stretch *stretch,
                                 const rheos__instruction *in) {
  for (int32_t k = 0; k < in->num_releases; ++k) {
    rheos_tensor **tensor = &frame->tensors[stretch->releases[in->first_release + k]];
    rheos_tensor_unref(*tensor);
    *tensor = NULL;
  }
}

// The same, noted in the trace if there is one.
static inline rheos_status *run_noted(run *r, const rheos__stretch *stretch,
                                      const rheos__instruction *in, rheos_trace *trace) {
  RHEOS_TRY(run_next(r, stretch, in));
  if (trace != NULL) {
    r->now_ns = rheos__trace_add(trace, stretch, in, r->frame->tensors, r->now_ns);
  }
  return NULL;
}

// The forms of operands that several threads will ask for. Their variables have been read.
static rheos_status *take_kept_operands(run *r, const rheos__stretch *stretch, int32_t first,
                                        int32_t end) {
  for (int32_t i = first; stretch->num_kept_operands > 0 && i < end; ++i) {
    const rheos__instruction *in = &stretch->instructions[i];
    if (in->kept_operand == 0) continue;
    rheos_status *status = rheos__take_kept_operand(stretch, in, r->frame);
    if (status != NULL) {
      return rheos__status_at_take(status, r->plan->graph, r->plan->entries[in->entry].id);
    }
  }
  return NULL;
}

// The variables of the chain are read first; then the layers, by rows.
static rheos_status *run_chain(run *r, const rheos__stretch *stretch, const rheos__row_chain *chain,
                               rheos_trace *trace) {
  r->step->budget_ns -= (float)chain->cost_ns;
  for (int32_t i = chain->first; i < chain->end; ++i) {
    const rheos__instruction *in = &stretch->instructions[i];
    if (in->kind != RHEOS__RUN) RHEOS_TRY(run_noted(r, stretch, in, trace));
  }
  RHEOS_TRY(take_kept_operands(r, stretch, chain->first, chain->end));
  const size_t parts = (size_t)rheos__row_chain_parts(chain, r->step->pool);
  rheos__trace_mark *marks = NULL;
  if (trace != NULL) {
    marks = rheos__trace_begin_marks(trace, (size_t)(chain->end - chain->first) * parts);
  }
  RHEOS_TRY(rheos__run_row_chain(stretch, chain, r->frame, r->step->pool, marks));
  for (int32_t i = chain->first; marks != NULL && i < chain->end; ++i) {
    if (stretch->instructions[i].kind != RHEOS__RUN) continue;
    rheos__trace_add_marks(trace, stretch, &stretch->instructions[i],
                           marks + (size_t)(i - chain->first) * parts, parts);
  }
  if (trace != NULL) r->now_ns = rheos__trace_end_marks(trace);
  for (int32_t i = chain->first; i < chain->end; ++i) {
    release_after(r->frame, stretch, &stretch->instructions[i]);
  }
  return NULL;
}

// What belongs to no branch, up to `end`: in its turn behind the branches.
static rheos_status *run_after_branches(run *r, const rheos__stretch *stretch, int32_t first,
                                        int32_t end, rheos_trace *trace) {
  for (int32_t i = first; i < end; ++i) {
    const rheos__instruction *in = &stretch->instructions[i];
    if (in->branch == 0) RHEOS_TRY(run_noted(r, stretch, in, trace));
  }
  return NULL;
}

// Reads come first, since nothing in the group writes; then the branches.
static rheos_status *run_group(run *r, const rheos__stretch *stretch,
                               const rheos__branch_group *group, rheos_trace *trace) {
  for (int32_t i = group->first; i < group->end; ++i) {
    const rheos__instruction *in = &stretch->instructions[i];
    if (in->branch == RHEOS__BEFORE_BRANCHES) RHEOS_TRY(run_noted(r, stretch, in, trace));
  }
  RHEOS_TRY(take_kept_operands(r, stretch, group->first, group->end));
  rheos__trace_mark *marks = NULL;
  if (trace != NULL) marks = rheos__trace_begin_marks(trace, (size_t)(group->end - group->first));
  r->step->budget_ns -= group->cost_ns;
  int32_t failed = INT32_MAX;
  rheos_status *status = rheos__run_branches(stretch, group, r->frame, r->step, marks, &failed);
  if (status == NULL && atomic_load(&r->step->stopped) != 0) return rheos__step_error(r->step);
  if (status != NULL) {  // what comes earlier in the plan would have failed first
    rheos_status *earlier = run_after_branches(r, stretch, group->first, failed, NULL);
    if (earlier == NULL) return status;
    rheos_status_free(status);
    return earlier;
  }
  for (int32_t i = group->first; marks != NULL && i < group->end; ++i) {
    if (stretch->instructions[i].branch <= 0) continue;
    rheos__trace_add_marks(trace, stretch, &stretch->instructions[i], &marks[i - group->first], 1);
  }
  if (trace != NULL) r->now_ns = rheos__trace_end_marks(trace);
  RHEOS_TRY(run_after_branches(r, stretch, group->first, group->end, trace));
  for (int32_t i = group->first; i < group->end; ++i) {
    release_after(r->frame, stretch, &stretch->instructions[i]);
  }
  return NULL;
}

// Updates that stand together: at once, or in their order where that fails.
static rheos_status *run_joint(run *r, const rheos__stretch *stretch, const rheos__joint_run *joint,
                               rheos_trace *trace) {
  const int32_t end = joint->first + joint->count;
  const bool done = rheos__run_joint(stretch, joint, r->frame, r->step, trace);
  if (done) r->step->budget_ns -= joint->cost_ns;
  if (done && trace != NULL) r->now_ns = rheos__trace_end_marks(trace);
  for (int32_t i = joint->first; i < end; ++i) {
    const rheos__instruction *in = &stretch->instructions[i];
    if (!done) RHEOS_TRY(run_noted(r, stretch, in, trace));
    release_after(r->frame, stretch, in);
  }
  return NULL;
}

// Compiled twice, with a trace and without.
static inline __attribute__((always_inline)) rheos_status *run_instructions(
    run *r, const rheos__stretch *stretch, rheos_trace *trace) {
  const rheos__row_chain *chain = stretch->row_chains;
  const rheos__row_chain *end_chains = chain != NULL ? chain + stretch->num_row_chains : NULL;
  if (rheos__pool_num_threads(r->step->pool) == 1) chain = end_chains;
  const rheos__branch_group *group = stretch->branch_groups;
  int32_t group_first = stretch->num_branch_groups > 0 ? group->first : -1;
  const rheos__joint_run *joint = stretch->joint_runs;
  int32_t joint_first = stretch->num_joint_runs > 0 ? joint->first : -1;
  for (int32_t i = 0; i < stretch->num_instructions; ++i) {
    const rheos__instruction *in = &stretch->instructions[i];
    if (chain != end_chains && i == chain->first) {
      RHEOS_TRY(run_chain(r, stretch, chain, trace));
      i = chain->end - 1;
      ++chain;
      continue;
    }
    if (i == group_first) {
      RHEOS_TRY(run_group(r, stretch, group, trace));
      i = group->end - 1;
      ++group;
      const bool any = group < stretch->branch_groups + stretch->num_branch_groups;
      group_first = any ? group->first : -1;
      continue;
    }
    if (i == joint_first) {
      RHEOS_TRY(run_joint(r, stretch, joint, trace));
      i += joint->count - 1;
      ++joint;
      const bool any = joint < stretch->joint_runs + stretch->num_joint_runs;
      joint_first = any ? joint->first : -1;
      continue;
    }
    RHEOS_TRY(run_noted(r, stretch, in, trace));
    release_after(r->frame, stretch, in);
  }
  return NULL;
}

static rheos_status *run_stretch(run *r, const rheos__stretch *stretch) {
  if (!rheos__step_is_traced(r->step)) return run_instructions(r, stretch, NULL);
  rheos_trace *trace = r->step->options->trace;
  r->now_ns = rheos__trace_enter(trace, stretch);
  rheos_status *status = run_instructions(r, stretch, trace);
  rheos__trace_leave();
  return status;
}

// ---- Fetches

// A tensor for the caller: the step's own where nobody else holds it, else a copy. A value that is
// fetched twice has gone to the caller already: `given` are the values so far.
static rheos_status *take_fetch(run *r, const rheos__stretch *last, int32_t fetch,
                                rheos_tensor **given) {
  int32_t index = r->plan->fetch_values[fetch];
  const rheos__value *value = rheos__find_value(last, index);
  if (value->kind == RHEOS__VALUE_NONE) {
    return rheos_status_new(RHEOS_UNIMPLEMENTED, "a resource handle cannot be fetched");
  }
  if (value->kind == RHEOS__VALUE_CONSTANT)
    return rheos_tensor_copy(value->constant, &given[fetch]);
  rheos_tensor **tensor = &r->frame->tensors[value->root];
  if (value->kind != RHEOS__VALUE_FEED && *tensor != NULL && rheos__tensor_is_exclusive(*tensor)) {
    if (value->shape != NULL) {  // of an alias: another shape, and after a Bitcast another dtype
      (*tensor)->shape = *value->shape;
      (*tensor)->num_elements = rheos_shape_num_elements(value->shape);
      (*tensor)->dtype = (rheos_dtype)value->dtype;
    }
    given[fetch] = *tensor;
    *tensor = NULL;
    return NULL;
  }
  const rheos_shape *shape = value->shape;
  if (shape == NULL && *tensor != NULL) shape = &(*tensor)->shape;
  for (int32_t i = 0; shape == NULL && i < fetch; ++i) {
    if (r->plan->fetch_values[i] == index) shape = &given[i]->shape;
  }
  rheos_tensor view;
  rheos__tensor_init_view(&view, (rheos_dtype)value->dtype, shape, r->frame->data[value->root]);
  return rheos_tensor_copy(&view, &given[fetch]);
}

static rheos_status *take_fetches(run *r, const rheos__stretch *last, rheos_tensor **out_values) {
  for (int32_t i = 0; i < r->plan->num_fetches; ++i) {
    rheos_status *status = take_fetch(r, last, i, out_values);
    if (status == NULL) continue;
    for (int32_t k = 0; k <= i; ++k) {
      rheos_tensor_unref(out_values[k]);
      out_values[k] = NULL;
    }
    status = rheos__no_memory_take(status, last);
    return rheos__status_at_take(status, r->plan->graph, r->plan->fetches[i].id);
  }
  return NULL;
}

// What the caller bound to the fetches gets their values. Feeds that are fetched come first: a value
// may be bound to the same bytes as a feed.
static rheos_status *store_fetches(run *r, const rheos__stretch *last) {
  for (int pass = 0; pass < 2; ++pass) {
    for (int32_t i = 0; i < r->plan->num_fetches; ++i) {
      const rheos__value *value = rheos__find_value(last, r->plan->fetch_values[i]);
      if ((value->kind == RHEOS__VALUE_FEED) != (pass == 0)) continue;
      rheos_status *status;
      const rheos_tensor *tensor =
          value->kind == RHEOS__VALUE_CONSTANT ? value->constant : r->frame->tensors[value->root];
      if (value->kind == RHEOS__VALUE_NONE) {
        status = rheos_status_new(RHEOS_UNIMPLEMENTED, "a resource handle cannot be fetched");
      } else {
        status = rheos__bound_store(
            r->bound, i, (rheos_dtype)value->dtype,
            value->shape != NULL ? value->shape : &tensor->shape,
            value->kind == RHEOS__VALUE_CONSTANT ? tensor->data : r->frame->data[value->root]);
      }
      if (status != NULL)
        return rheos__status_at_take(status, r->plan->graph, r->plan->fetches[i].id);
    }
  }
  return NULL;
}

// ---- The whole

// The stretch for these shapes, marked as running. The plan's mutex is held, but not while a stretch
// is made: that may take long, and ask the caller whether to stop, who may run this plan again.
static rheos_status *enter(run *r, rheos__stretch *parent, const rheos_shape *key, int32_t num_key,
                           rheos__stretch **out_stretch) {
  *out_stretch = rheos__stretch_find(r->plan, parent, key, num_key);
  if (*out_stretch == NULL) {
    rheos__stretch *made = NULL;
    pthread_mutex_unlock(&r->plan->mutex);
    rheos_status *status = rheos__stretch_new(r->plan, parent, key, num_key, r->step, &made);
    pthread_mutex_lock(&r->plan->mutex);
    RHEOS_TRY(status);
    *out_stretch = rheos__stretch_find(r->plan, parent, key, num_key);
    if (*out_stretch == NULL) {
      rheos__stretch_link(r->plan, made);
      *out_stretch = made;
    } else {
      rheos__stretches_free(made);  // another thread was faster
    }
  }
  ++(*out_stretch)->num_running;
  return NULL;
}

// The shapes of what came without one in a stretch, in `few` if they fit.
enum { FEW_SHAPES = 4 };
static rheos_status *next_key(run *r, const rheos__stretch *stretch, rheos_shape *few,
                              rheos_shape **out_key, int32_t *out_num_key) {
  const int32_t count = stretch->num_late_values;
  rheos_shape *key = few;
  if (count > FEW_SHAPES) {
    key = rheos__alloc_array((size_t)count, sizeof *key);
    if (key == NULL) return rheos__out_of_memory();
  }
  for (int32_t i = 0; i < count; ++i) {
    const rheos_tensor *tensor = r->frame->tensors[stretch->late_values[i]];
    key[i] = tensor != NULL ? tensor->shape : (rheos_shape){0};
  }
  *out_key = key;
  *out_num_key = count;
  return NULL;
}

static rheos_status *run_all(run *r, rheos__stretch *stretch, rheos__stretch **out_last,
                             double *out_cost_ns) {
  for (;;) {
    *out_last = stretch;
    *out_cost_ns += stretch->cost_ns;
    RHEOS_TRY(rheos__frame_bind(r->frame, stretch));
    rheos_status *status = allocate_fetched(r, stretch);
    if (status == NULL) status = run_stretch(r, stretch);
    RHEOS_TRY(rheos__no_memory_take(status, stretch));
    if (stretch->end_entry == r->plan->num_entries) return NULL;
    rheos_shape few[FEW_SHAPES], *key = NULL;
    int32_t num_key = 0;
    RHEOS_TRY(next_key(r, stretch, few, &key, &num_key));
    rheos__stretch *child;
    pthread_mutex_lock(&r->plan->mutex);
    status = enter(r, stretch, key, num_key, &child);
    pthread_mutex_unlock(&r->plan->mutex);
    if (key != few) rheos__free(key);
    RHEOS_TRY(status);
    stretch = child;
  }
}

// A frame, best one that stands for the stretch already. The plan's mutex is held.
static rheos__frame *take_frame(rheos__plan *plan, const rheos__stretch *root) {
  rheos__frame **best = &plan->free_frames;
  for (rheos__frame **link = best; *link != NULL; link = &(*link)->next) {
    if ((*link)->num_bindings > 0 && (*link)->bindings[0].serial == root->serial) {
      best = link;
      break;
    }
  }
  rheos__frame *frame = *best;
  if (frame == NULL) return rheos__frame_new(plan);
  *best = frame->next;
  return frame;
}

rheos_status *rheos__execute(rheos__plan *plan, rheos_tensor *const *feeds,
                             const rheos__bound *bound, rheos__step *step,
                             rheos_tensor **out_values, double *out_cost_ns) {
  for (int32_t i = 0; bound == NULL && i < plan->num_fetches; ++i) out_values[i] = NULL;
  *out_cost_ns = 0;
  enum { FEW = 8 };
  rheos_shape few[FEW];
  rheos_shape *key = few;
  if (plan->num_feeds > FEW) {
    key = rheos__alloc_array((size_t)plan->num_feeds, sizeof *key);
    if (key == NULL) return rheos__out_of_memory();
  }
  for (int32_t i = 0; i < plan->num_feeds; ++i) key[i] = feeds[i]->shape;
  run r = {.plan = plan, .step = step, .bound = bound};
  step->budget_ns = BUDGET_NS;
  rheos__stretch *stretch = NULL;
  pthread_mutex_lock(&plan->mutex);
  rheos_status *status = enter(&r, NULL, key, plan->num_feeds, &stretch);
  if (status == NULL) r.frame = take_frame(plan, stretch);
  if (status == NULL && r.frame == NULL) {
    --stretch->num_running;
    status = rheos__out_of_memory();
  }
  pthread_mutex_unlock(&plan->mutex);
  if (key != few) rheos__free(key);
  RHEOS_TRY(status);
  for (int32_t i = 0; i < plan->num_feeds; ++i) {
    r.frame->tensors[i] = feeds[i];
    r.frame->data[i] = feeds[i]->data;
  }
  rheos__stretch *last = stretch;
  status = run_all(&r, stretch, &last, out_cost_ns);
  if (status == NULL) {
    status = bound != NULL ? store_fetches(&r, last) : take_fetches(&r, last, out_values);
  }
  if (status != NULL && atomic_load(&step->stopped) != 0) {  // whatever a stopped kernel said
    rheos_status_free(status);
    status = rheos__step_error(step);
  }
  for (rheos__stretch *at = last; at != NULL; at = at->parent) {
    release_tensors(r.frame, at);
  }
  rheos__release_kept_operands(r.frame);
  pthread_mutex_lock(&plan->mutex);
  for (rheos__stretch *at = last; at != NULL; at = at->parent) {
    --at->num_running;
  }
  r.frame->next = plan->free_frames;
  plan->free_frames = r.frame;
  pthread_mutex_unlock(&plan->mutex);
  return status;
}
