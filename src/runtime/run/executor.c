// The executor: a loop over an array of instructions. Polling for cancellation costs nothing
// between cheap instructions: their guessed costs are summed up, and every millisecond's worth is
// one look. Long kernels are run in slices of their units, with a look between slices.
#include "runtime/run/executor.h"

#include <assert.h>
#include <string.h>

#include "plan/segment/copies.h"
#include "plan/segment/dynamic.h"
#include "plan/segment/memory_report.h"
#include "plan/segment/packed_operand.h"
#include "plan/segment/staged_node.h"
#include "resource/variable_shape.h"
#include "runtime/run/bring.h"
#include "runtime/run/run.h"
#include "runtime/run/section_run.h"

static const float SLICE_NS = 2e6f;

typedef rheos__run run;

void rheos__release_tensors(rheos__workspace *workspace, const rheos__segment *segment) {
  for (int32_t i = 0; i < segment->num_tensor_values; ++i) {
    rheos_tensor **tensor = &workspace->tensors[segment->tensor_values[i]];
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
  int64_t slice;  // units between two polls
} split_run;

static rheos_status *run_slices(const split_run *split, void *scratch, int64_t first,
                                int64_t last) {
  const rheos__instruction *in = split->instruction;
  while (first < last) {
    const int64_t end = last - first > split->slice ? first + split->slice : last;
    RHEOS_TRY(in->run(in->state, split->inputs, split->outputs, scratch, first, end));
    if (end < in->num_units && rheos__is_stopping()) return rheos__step_error(split->step);
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

// A kernel that takes long: over the threads if that pays, polled in between.
static rheos_status *run_long(run *r, const rheos__instruction *in, void *scratch) {
  const double slices = (double)in->cost_ns / SLICE_NS;
  split_run split = {.instruction = in,
                     .inputs = r->workspace->inputs,
                     .outputs = r->workspace->outputs,
                     .step = r->step,
                     .slice = in->num_units};
  if (slices > 1) split.slice = (int64_t)((double)in->num_units / slices);
  if (split.slice < 1) split.slice = 1;
  if (!in->parallel) return run_slices(&split, scratch, 0, in->num_units);
  return rheos__pool_run(r->step->pool, in->num_units, run_range, &split);
}

static rheos_status *run_kernel(run *r, const rheos__segment *segment,
                                const rheos__instruction *in) {
  rheos__workspace *workspace = r->workspace;
  if (__builtin_expect(in->packed_operand != 0, 0)) {
    RHEOS_TRY(rheos__take_packed_operand(segment, in, workspace));
  }
  const int32_t *operands = segment->operands + in->first_operand;
  for (int32_t i = 0; i < in->num_inputs; ++i) workspace->inputs[i] = workspace->data[operands[i]];
  void **outputs = workspace->data + in->first_value;  // outputs are roots, side by side
  void *scratch = in->scratch_bytes > 0
                      ? workspace->bindings[segment->depth].memory + in->scratch_offset
                      : NULL;
  if (in->num_units == 1 || (!in->parallel && in->cost_ns < SLICE_NS)) {
    return in->run(in->state, workspace->inputs, outputs, scratch, 0, in->num_units);
  }
  memcpy(workspace->outputs, outputs, (size_t)in->num_outputs * sizeof *outputs);
  return run_long(r, in, scratch);
}

// Puts what a kernel returned in place, after a check of what was promised.
static rheos_status *keep_results(run *r, const rheos__segment *segment,
                                  const rheos__instruction *in) {
  rheos__workspace *workspace = r->workspace;
  rheos_status *status = NULL;
  for (int32_t i = 0; i < in->num_outputs; ++i) {
    const rheos__value *value = &segment->values[in->first_value + i - segment->first_value];
    rheos_tensor *result = workspace->results[i];
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
    workspace->tensors[in->first_value + i] = result;
    workspace->data[in->first_value + i] = result != NULL ? result->data : NULL;
  }
  return status;
}

static rheos_status *run_compute(run *r, const rheos__segment *segment,
                                 const rheos__instruction *in) {
  rheos__workspace *workspace = r->workspace;
  rheos_tensor *const *inputs = rheos__tensor_arguments(workspace, segment, in);
  for (int32_t i = 0; i < in->num_outputs; ++i) workspace->results[i] = NULL;
  rheos_status *status = in->compute(in->state, r->step, inputs, workspace->results);
  if (status == NULL) return keep_results(r, segment, in);
  for (int32_t i = 0; i < in->num_outputs; ++i) rheos_tensor_unref(workspace->results[i]);
  return status;
}

static rheos_status *run_dynamic(run *r, const rheos__segment *segment,
                                 const rheos__instruction *in) {
  RHEOS_TRY(rheos__run_dynamic(segment, in, r->workspace, r->step));
  return keep_results(r, segment, in);
}

static rheos_status *read_variable(run *r, const rheos__segment *segment,
                                   const rheos__instruction *in) {
  rheos__variable_cell *cell = in->state;
  rheos_tensor *value = NULL;
  RHEOS_TRY(rheos__variable_read_in(cell, segment->device->memory, &value));
  r->workspace->tensors[in->first_value] = value;
  r->workspace->data[in->first_value] = value->data;
  const rheos_shape *expected = segment->values[in->first_value - segment->first_value].shape;
  if (expected == NULL) {  // known in part
    const rheos__entry *entry = &r->plan->entries[in->entry];
    expected = rheos__plan_node(r->plan, entry->id)->outputs[entry->read_index].shape;
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

static rheos_status *run_copy(run *r, const rheos__segment *segment, const rheos__instruction *in) {
  const rheos__copying *copying = in->state;
  return rheos__memory_copy(copying->to, r->workspace->data[in->first_value], copying->from,
                            r->workspace->data[segment->operands[in->first_operand]],
                            copying->size_bytes);
}

static rheos_status *bring(run *r, const rheos__segment *segment, const rheos__instruction *in) {
  rheos_tensor **brought = &r->workspace->tensors[in->first_value];
  RHEOS_TRY(rheos__tensor_in(r->workspace->tensors[segment->operands[in->first_operand]],
                             segment->device->memory, brought));
  r->workspace->data[in->first_value] = (*brought)->data;
  return NULL;
}

static rheos_status *run_instruction(run *r, const rheos__segment *segment,
                                     const rheos__instruction *in) {
  switch ((rheos__instruction_kind)in->kind) {
    case RHEOS__RUN: return run_kernel(r, segment, in);
    case RHEOS__COMPUTE: return run_compute(r, segment, in);
    case RHEOS__READ: return read_variable(r, segment, in);
    case RHEOS__DYNAMIC: return run_dynamic(r, segment, in);
    case RHEOS__COPY: return run_copy(r, segment, in);
    case RHEOS__BRING: return bring(r, segment, in);
    case RHEOS__HOLD: return NULL;
    case RHEOS__WATCH: return NULL;  // nobody looks on
  }
  return NULL;
}

// One instruction, its cost counted and its error completed.
static inline rheos_status *run_next(run *r, const rheos__segment *segment,
                                     const rheos__instruction *in) {
  r->step->budget_ns -= in->cost_ns;
  if (r->step->budget_ns < 0) {
    r->step->budget_ns = RHEOS__STEP_BUDGET_NS;
    if (rheos__step_poll(r->step)) return rheos__step_error(r->step);
  }
  rheos_status *status = run_instruction(r, segment, in);
  if (__builtin_expect(status != NULL, 0)) {
    status = rheos__no_memory_take(status, segment);
    return rheos__plan_status_at_take(status, r->plan, r->plan->entries[in->entry].id);
  }
  return NULL;
}

static inline void release_after(rheos__workspace *workspace, const rheos__segment *segment,
                                 const rheos__instruction *in) {
  for (int32_t k = 0; k < in->num_releases; ++k) {
    rheos_tensor **tensor = &workspace->tensors[segment->releases[in->first_release + k]];
    rheos_tensor_unref(*tensor);
    *tensor = NULL;
  }
}

// ---- Observers

static rheos__observed observed(run *r, const rheos__instruction *in) {
  r->place->entry = in->entry;
  return (rheos__observed){.place = r->place, .instruction = in, .workspace = r->workspace};
}

static rheos_status *tell_begins(run *r, const rheos__observed *entry) {
  rheos_status *status = rheos__observe_entry_begins(r->step, entry);
  return rheos__plan_status_at_take(status, r->plan, r->plan->entries[entry->place->entry].id);
}

static rheos_status *tell_ended(run *r, rheos__observed *entry) {
  r->place->entry = entry->instruction->entry;
  entry->results = r->workspace->tensors + entry->instruction->first_value;
  rheos_status *status = rheos__observe_entry_ended(r->step, entry);
  return rheos__plan_status_at_take(status, r->plan, r->plan->entries[entry->place->entry].id);
}

// A reference's value is the one that is behind it now, if there is one.
static rheos_status *deliver_value(run *r, const rheos__segment *segment,
                                   const rheos__instruction *in) {
  const int32_t number = r->plan->entries[in->entry].read_index;
  const rheos__value *value = rheos__find_value(segment, segment->input_values[in->first_operand]);
  if (value->kind == RHEOS__VALUE_NONE) {
    if (value->resource == NULL || value->resource->kind != &rheos__variable_kind) return NULL;
    rheos_tensor *tensor = rheos__variable_read((rheos__variable_cell *)value->resource);
    rheos_status *status =
        tensor != NULL ? rheos__observe_value(r->step, number, tensor, true) : NULL;
    rheos_tensor_unref(tensor);
    return status;
  }
  if (value->kind == RHEOS__VALUE_CONSTANT) {
    return rheos__observe_value(r->step, number, value->constant, true);
  }
  const rheos__value *root = rheos__find_value(segment, value->root);
  rheos_tensor *tensor = r->workspace->tensors[value->root];
  const bool is_lent =
      root->kind == RHEOS__VALUE_FEED || root->given;  // the caller may write to it
  const bool is_own = tensor != NULL && !is_lent && tensor->dtype == (rheos_dtype)value->dtype &&
                      (value->shape == NULL || rheos_shape_equal(value->shape, &tensor->shape));
  if (is_own) return rheos__observe_value(r->step, number, tensor, false);
  rheos_tensor view;
  rheos__tensor_init_view(&view, (rheos_dtype)value->dtype,
                          value->shape != NULL ? value->shape : &tensor->shape,
                          r->workspace->data[value->root]);
  return rheos__observe_value(r->step, number, &view, false);
}

static rheos_status *deliver(run *r, const rheos__segment *segment, const rheos__instruction *in) {
  r->place->entry = in->entry;
  rheos_status *status = deliver_value(r, segment, in);
  return rheos__plan_status_at_take(status, r->plan, r->plan->entries[in->entry].id);
}

// One instruction, of which observers are told if there are any.
static inline rheos_status *run_told(run *r, const rheos__segment *segment,
                                     const rheos__instruction *in, bool is_observed) {
  if (!is_observed) return run_next(r, segment, in);
  if (in->kind == RHEOS__WATCH) return deliver(r, segment, in);
  rheos__observed entry = observed(r, in);
  RHEOS_TRY(tell_begins(r, &entry));
  RHEOS_TRY(run_next(r, segment, in));
  return tell_ended(r, &entry);
}

// The packed operands that several threads will ask for. Their variables have been read.
static rheos_status *take_packed_operands(run *r, const rheos__segment *segment, int32_t first,
                                          int32_t end) {
  for (int32_t i = first; segment->num_packed_operands > 0 && i < end; ++i) {
    const rheos__instruction *in = &segment->instructions[i];
    if (in->packed_operand == 0) continue;
    rheos_status *status = rheos__take_packed_operand(segment, in, r->workspace);
    if (status != NULL) {
      return rheos__plan_status_at_take(status, r->plan, r->plan->entries[in->entry].id);
    }
  }
  return NULL;
}

// ---- Sections

// The instructions of the section up to `end` that come before those that threads share, or after
// them.
typedef enum turn { BEFORE, AFTER } turn;
static rheos_status *run_others(run *r, const rheos__segment *segment,
                                const rheos__section *section, int32_t end, turn turn,
                                bool is_observed) {
  if (section->kind == RHEOS__SECTION_UPDATES) return NULL;  // all are shared
  for (int32_t i = section->first; i < end; ++i) {
    const rheos__instruction *in = &segment->instructions[i];
    if (rheos__section_shares(section, in)) continue;
    const bool is_before =
        section->kind == RHEOS__SECTION_ROWS || in->branch == RHEOS__BEFORE_BRANCHES;
    if (is_before == (turn == BEFORE)) RHEOS_TRY(run_told(r, segment, in, is_observed));
  }
  return NULL;
}

// An instruction that fails may have one before it, in the order of the plan, that comes after the
// branches: that one would have failed first.
static rheos_status *run_branches(run *r, const rheos__section_run *shared) {
  int32_t failed = INT32_MAX;
  rheos_status *status = rheos__run_branches(shared, &failed);
  if (status == NULL && atomic_load(&r->step->stopped) != 0) return rheos__step_error(r->step);
  if (status == NULL) return NULL;
  rheos_status *earlier = run_others(r, shared->segment, shared->section, failed, AFTER, false);
  if (earlier == NULL) return status;
  rheos_status_free(status);
  return earlier;
}

// What threads share. `*out_done` is false where the instructions are to be run one by one.
static rheos_status *run_shared(run *r, rheos__section_run *shared, bool *out_done) {
  *out_done = true;
  switch ((rheos__section_kind)shared->section->kind) {
    case RHEOS__SECTION_ROWS: return rheos__run_rows(shared);
    case RHEOS__SECTION_BRANCHES: return run_branches(r, shared);
    case RHEOS__SECTION_UPDATES: *out_done = rheos__run_updates(shared); return NULL;
  }
  return NULL;
}

// Room for when the threads are at which instruction, emptied.
static rheos_status *take_shares(run *r, rheos__section_run *shared, size_t count) {
  rheos__observers *all = r->step->observers;
  if (!RHEOS_RESERVE(all->shares, all->share_capacity, count)) return rheos__out_of_memory();
  memset(all->shares, 0, count * sizeof *all->shares);
  shared->shares = all->shares;
  return NULL;
}

// Both of each instruction that threads have shared, in the order of the plan.
static rheos_status *tell_shared(run *r, const rheos__section_run *shared) {
  const rheos__section *section = shared->section;
  const size_t parts = (size_t)shared->num_parts;
  for (int32_t i = section->first; i < section->end; ++i) {
    const rheos__instruction *in = &shared->segment->instructions[i];
    if (!rheos__section_shares(section, in)) continue;
    rheos__observed entry = observed(r, in);
    entry.shares = shared->shares + (size_t)(i - section->first) * parts;
    entry.num_shares = parts;
    RHEOS_TRY(tell_begins(r, &entry));
    RHEOS_TRY(tell_ended(r, &entry));
  }
  return NULL;
}

// As run_shared(), of which observers are told if there are any. What the pool tells rests
// meanwhile, since the shares tell more.
static rheos_status *run_shared_told(run *r, rheos__section_run *shared, bool is_observed,
                                     bool *out_done) {
  if (!is_observed) return run_shared(r, shared, out_done);
  const size_t num_instructions = (size_t)(shared->section->end - shared->section->first);
  RHEOS_TRY(take_shares(r, shared, num_instructions * (size_t)shared->num_parts));
  const rheos__pool_watch *watch = rheos__pool_set_watch(NULL);
  rheos_status *status = run_shared(r, shared, out_done);
  if (status == NULL && *out_done) status = tell_shared(r, shared);
  rheos__pool_set_watch(watch);
  return status;
}

static rheos_status *run_one_by_one(run *r, const rheos__segment *segment,
                                    const rheos__section *section, bool is_observed) {
  for (int32_t i = section->first; i < section->end; ++i) {
    const rheos__instruction *in = &segment->instructions[i];
    RHEOS_TRY(run_told(r, segment, in, is_observed));
    release_after(r->workspace, segment, in);
  }
  return NULL;
}

static rheos_status *run_section(run *r, const rheos__segment *segment,
                                 const rheos__section *section, bool is_observed) {
  const bool is_rows = section->kind == RHEOS__SECTION_ROWS;
  if ((is_rows && rheos__pool_num_threads(r->step->pool) == 1) ||
      (is_observed && r->step->observers->one_by_one)) {
    return run_one_by_one(r, segment, section, is_observed);
  }
  RHEOS_TRY(run_others(r, segment, section, section->end, BEFORE, is_observed));
  RHEOS_TRY(take_packed_operands(r, segment, section->first, section->end));
  rheos__section_run shared = {.segment = segment,
                               .section = section,
                               .workspace = r->workspace,
                               .step = r->step,
                               .num_parts = rheos__section_parts(section, r->step->pool)};
  bool done = true;
  RHEOS_TRY(run_shared_told(r, &shared, is_observed, &done));
  if (!done) return run_one_by_one(r, segment, section, is_observed);
  r->step->budget_ns -= (float)section->cost_ns;
  RHEOS_TRY(run_others(r, segment, section, section->end, AFTER, is_observed));
  for (int32_t i = section->first; i < section->end; ++i) {
    release_after(r->workspace, segment, &segment->instructions[i]);
  }
  return NULL;
}

// Compiled twice, with observers and without.
static inline __attribute__((always_inline)) rheos_status *run_instructions(
    run *r, const rheos__segment *segment, bool is_observed) {
  const rheos__section *section = segment->sections;
  const rheos__section *end_sections = section != NULL ? section + segment->num_sections : NULL;
  int32_t next = section != end_sections ? section->first : -1;
  for (int32_t i = 0; i < segment->num_instructions; ++i) {
    if (i == next) {
      RHEOS_TRY(run_section(r, segment, section, is_observed));
      i = section->end - 1;
      ++section;
      next = section != end_sections ? section->first : -1;
      continue;
    }
    const rheos__instruction *in = &segment->instructions[i];
    RHEOS_TRY(run_told(r, segment, in, is_observed));
    release_after(r->workspace, segment, in);
  }
  return NULL;
}

static __attribute__((noinline)) rheos_status *run_observed(run *r, const rheos__segment *segment) {
  rheos__place place = {
      .plan = r->plan, .segment = segment, .trip = r->call != NULL ? r->call->num_runs - 1 : 0};
  r->place = &place;
  rheos__observe_visit_begins(r->step, &place);
  rheos_status *status = run_instructions(r, segment, true);
  rheos__observe_visit_ended(r->step, &place);
  r->place = NULL;
  return status;
}

rheos_status *rheos__run_segment(run *r, const rheos__segment *segment) {
  return rheos__step_is_observed(r->step) ? run_observed(r, segment)
                                          : run_instructions(r, segment, false);
}

// ---- The whole

static rheos_status *run_all(run *r, rheos__segment *segment, rheos__segment **out_last,
                             double *out_cost_ns) {
  for (;;) {
    *out_last = segment;
    *out_cost_ns += segment->cost_ns;
    if (!rheos__workspace_is_bound(r->workspace, segment)) {
      RHEOS_TRY(rheos__workspace_bind(r->workspace, segment));
    }
    rheos_status *status = rheos__run_place_fetched(r, segment);
    if (status == NULL) status = rheos__run_segment(r, segment);
    if (status != NULL) return rheos__no_memory_take(status, segment);
    if (segment->end_entry == r->plan->num_entries) return NULL;
    RHEOS_TRY(rheos__run_enter_child(r, segment, &segment));
  }
}

static void drop_spares(const run *r) {
  for (int32_t i = 0; r->spares != NULL && i < r->plan->num_fetches; ++i) {
    rheos_tensor_unref(r->spares[i]);
    r->spares[i] = NULL;
  }
}

static void take_parameters(const run *r, const rheos__parameters *parameters) {
  for (int32_t i = 0; i < r->plan->num_feeds; ++i) {
    r->workspace->tensors[i] = parameters->tensors[i];
    r->workspace->data[i] = parameters->tensors[i] != NULL ? parameters->tensors[i]->data : NULL;
  }
}

static rheos_status *synchronize_take(const rheos__plan *plan, rheos_status *status) {
  for (int32_t i = 0; i < plan->context.num_devices; ++i) {
    const rheos__device *device = plan->context.devices[i];
    if (device->kind->synchronize == NULL) continue;
    rheos_status *late = device->kind->synchronize(device);
    if (status == NULL) {
      status = late;
    } else {
      rheos_status_free(late);
    }
  }
  return status;
}

static void flush(const rheos__plan *plan) {
  for (int32_t i = 0; i < plan->context.num_devices; ++i) {
    const rheos__device *device = plan->context.devices[i];
    if (device->kind->flush != NULL) device->kind->flush(device);
  }
}

// Of a run that gave work to devices with memories of their own, also after a failure. Nobody waits
// for values that stay where they are.
static rheos_status *leave_devices_take(const rheos__plan *plan, rheos_status *status) {
  if (!rheos__plan_hands_on(plan)) return synchronize_take(plan, status);
  flush(plan);
  return status;
}

// From the root to the values of the fetches; `*out_last` is the last segment that was entered.
static inline __attribute__((always_inline)) rheos_status *run_from(
    run *r, rheos__segment *root, const rheos__parameters *parameters, rheos_tensor **out_values,
    rheos__segment **out_last, double *out_cost_ns) {
  take_parameters(r, parameters);
  *out_last = root;
  rheos_status *status = run_all(r, root, out_last, out_cost_ns);
  if (r->plan->runs_elsewhere) status = leave_devices_take(r->plan, status);
  drop_spares(r);
  if (status == NULL) {
    status = r->bound != NULL ? rheos__run_store_fetches(r, *out_last)
                              : rheos__run_take_fetches(r, *out_last, out_values);
  }
  for (rheos__segment *at = *out_last; at != NULL; at = at->parent) {
    rheos__release_tensors(r->workspace, at);
  }
  rheos__release_packed_operands(r->workspace);
  return status;
}

// The way in that most steps take: the plan ran with this key last time, and the workspace is free.
static rheos__segment *enter_again(run *r, const rheos__parameters *parameters) {
  rheos__plan *plan = r->plan;
  const rheos__key key = {.tensors = parameters->tensors, .count = plan->num_feeds};
  pthread_mutex_lock(&plan->mutex);
  rheos__segment *root = plan->roots;
  rheos__workspace *workspace = plan->free_workspaces;
  if (root == NULL || workspace == NULL || !rheos__workspace_is_bound(workspace, root) ||
      !rheos__segment_is_for(root, &key)) {
    root = NULL;
  } else {
    plan->free_workspaces = workspace->next;
    r->workspace = workspace;
    ++root->num_running;
  }
  pthread_mutex_unlock(&plan->mutex);
  return root;
}

static rheos_status *execute_segments(run *r, const rheos__parameters *parameters,
                                      rheos_tensor **out_values, double *out_cost_ns) {
  rheos__segment *root = enter_again(r, parameters), *last = NULL;
  if (root == NULL) RHEOS_TRY(rheos__run_enter_root(r, parameters, &root));
  rheos_status *status = run_from(r, root, parameters, out_values, &last, out_cost_ns);
  rheos__run_leave(r, last);
  return status;
}

static rheos_status *execute_flow(run *r, const rheos__parameters *parameters,
                                  rheos_tensor **out_values, double *out_cost_ns) {
  RHEOS_TRY(rheos__run_take_workspace(r));
  rheos_status *status = rheos__run_flow(r, parameters, out_values, out_cost_ns);
  rheos__run_give_workspace(r);
  return status;
}

rheos_status *rheos__execute(rheos__plan *plan, rheos_tensor *const *feeds,
                             const rheos__bound *bound, rheos__step *step,
                             rheos_tensor **out_values, double *out_cost_ns) {
  for (int32_t i = 0; bound == NULL && i < plan->num_fetches; ++i) out_values[i] = NULL;
  *out_cost_ns = 0;
  const rheos__parameters parameters = {.tensors = feeds};
  run r = {.plan = plan, .step = step, .bound = bound};
  step->may_wait = step->may_wait || plan->may_wait;
  return plan->flow != NULL ? execute_flow(&r, &parameters, out_values, out_cost_ns)
                            : execute_segments(&r, &parameters, out_values, out_cost_ns);
}

// ---- Runs inside runs

static inline rheos_status *call_run(rheos__call *call, const rheos__parameters *parameters,
                                     rheos__step *step, rheos_tensor **values) {
  run r = {.plan = call->plan,
           .workspace = call->workspace,
           .step = step,
           .call = call,
           .spares = values};
  rheos__segment *root = NULL, *last = NULL;
  double cost_ns = 0;
  ++call->num_runs;
  step->may_wait = step->may_wait || call->plan->may_wait;
  if (call->plan->flow != NULL) {
    drop_spares(&r);
    rheos_status *status = execute_flow(&r, parameters, values, &cost_ns);
    rheos__drop_given(call->plan, parameters);
    return status;
  }
  rheos_status *status = rheos__run_enter_root(&r, parameters, &root);
  if (status != NULL) {
    rheos__drop_given(call->plan, parameters);
    drop_spares(&r);
    return status;
  }
  return run_from(&r, root, parameters, values, &last, &cost_ns);
}

// Where values may lie in different memories.
static __attribute__((noinline)) rheos_status *call_run_mixed(rheos__call *call,
                                                              const rheos__parameters *parameters,
                                                              rheos__step *step,
                                                              rheos_tensor **values) {
  rheos__parameters brought;
  rheos_status *status = rheos__bring_arguments(call, parameters, &brought);
  if (status != NULL) {
    drop_spares(&(run){.plan = call->plan, .spares = values});
    return status;
  }
  status = call_run(call, &brought, step, values);
  rheos__drop_arguments(call);
  if (status != NULL || parameters->any_memory) return status;
  return rheos__bring_to_host_take(values, call->plan->num_fetches);
}

rheos_status *rheos__call_run(rheos__call *call, const rheos__parameters *parameters,
                              rheos__step *step, rheos_tensor **values) {
  if (__builtin_expect(call->plan->is_mixed, 0)) {
    return call_run_mixed(call, parameters, step, values);
  }
  return call_run(call, parameters, step, values);
}
