// Goes through the plan of a program entry by entry, each prepared with the inputs that it finds;
// the op itself is the last one, whose kernel is kept.
#include "one_kernel.h"

#include <string.h>

#define BENCH_CLOCK CLOCK_THREAD_CPUTIME_ID
#include "bench.h"
#include "plan/plan_text.h"
#include "plan/entries/prepare.h"
#include "runtime/step/step.h"

// The values of one plan.
typedef struct walk {
  rheos__plan *plan;
  rheos_tensor **tensors;   // by value, counted
  rheos__resource **cells;  // by value, borrowed from the kernels
  bool *is_constant;        // by value
  rheos__prepare *kernels;  // by entry
} walk;

struct one_kernel {
  rheos__resources *resources;
  rheos__step step;
  rheos__arena arena;
  walk *walks;  // of the initializers and first nodes, then of the op
  int num_walks;
  const rheos__prepare *kernel;
  rheos_tensor **inputs;
  rheos_tensor *
      *outputs;  // of a kernel that returns tensors: as it returned them once, to know shapes
  const void **in;
  void **out;
  void *scratch;
};

static void walk_free(walk *w) {
  if (!w->plan) return;
  for (int32_t i = 0; w->kernels && i < w->plan->num_entries; i++) {
    if (w->kernels[i].release) w->kernels[i].release(w->kernels[i].state);
  }
  for (int32_t i = 0; w->tensors && i < w->plan->num_values; i++) rheos_tensor_unref(w->tensors[i]);
  rheos__free(w->tensors);
  rheos__free(w->cells);
  rheos__free(w->is_constant);
  rheos__free(w->kernels);
  rheos__plan_free(w->plan);
}

void one_kernel_free(one_kernel *k) {
  if (!k) return;
  for (int i = k->num_walks - 1; i >= 0; i--) walk_free(&k->walks[i]);
  rheos__free(k->walks);
  rheos__free_aligned(k->scratch);
  rheos__arena_deinit(&k->arena);
  rheos__resources_free(k->resources);
  rheos__free(k);
}

// What the entry's inputs are; `all`: also the values that a plan would not know beforehand.
static void fill_inputs(const walk *w, const rheos__entry *entry, bool all,
                        const rheos__prepare_arrays *arrays) {
  for (int32_t i = 0; i < entry->num_inputs; i++) {
    const int32_t value = w->plan->operands[entry->first_operand + i];
    rheos_tensor *tensor = w->tensors[value];
    arrays->input_resources[i] = w->cells[value];
    if (!tensor) continue;
    arrays->input_dtypes[i] = tensor->dtype;
    arrays->input_shapes[i] = tensor->shape;
    arrays->input_values[i] = all || w->is_constant[value] ? tensor : NULL;
  }
}

static bool any_shape_unknown(const rheos__prepare *p) {
  for (int32_t i = 0; i < p->num_outputs; i++) {
    if (p->output_dtypes[i] != RHEOS_RESOURCE && !rheos_shape_is_known(&p->output_shapes[i])) {
      return true;
    }
  }
  return false;
}

static rheos_status *call(one_kernel *k, const rheos__prepare *p) {
  if (p->compute) return p->compute(p->state, &k->step, k->inputs, k->outputs);
  return p->run(p->state, k->in, k->out, k->scratch, 0, p->num_units > 1 ? p->num_units : 1);
}

// Runs the kernel once; `tensors` are the outputs.
static rheos_status *first_call(one_kernel *k, const walk *w, const rheos__entry *entry,
                                const rheos__prepare *p) {
  rheos_tensor **tensors = &w->tensors[entry->first_value];
  const size_t ins = (size_t)p->num_inputs + 1, outs = (size_t)p->num_outputs + 1;
  k->inputs = rheos__arena_alloc_zeroed(&k->arena, ins * sizeof *k->inputs);
  k->outputs = rheos__arena_alloc_zeroed(&k->arena, outs * sizeof *k->outputs);
  k->in = rheos__arena_alloc_zeroed(&k->arena, ins * sizeof *k->in);
  k->out = rheos__arena_alloc_zeroed(&k->arena, outs * sizeof *k->out);
  rheos__free_aligned(k->scratch);
  k->scratch = rheos__alloc_aligned(p->scratch_bytes + 1);
  if (!k->inputs || !k->outputs || !k->in || !k->out || !k->scratch) return rheos__out_of_memory();
  for (int32_t i = 0; i < p->num_inputs; i++) {
    k->inputs[i] = w->tensors[w->plan->operands[entry->first_operand + i]];
    k->in[i] = k->inputs[i] ? k->inputs[i]->data : NULL;
  }
  if (p->alias_input >= 0) {
    return rheos__tensor_seen_as(k->inputs[p->alias_input], p->output_dtypes[0],
                                 p->output_shapes[0], &tensors[0]);
  }
  for (int32_t i = 0; !p->compute && i < p->num_outputs; i++) {
    RHEOS_TRY(rheos_tensor_new(p->output_dtypes[i], p->output_shapes[i], &tensors[i]));
    k->out[i] = tensors[i]->data;
  }
  rheos_status *status = call(k, p);
  if (!status && p->compute) memcpy(tensors, k->outputs, (size_t)p->num_outputs * sizeof *tensors);
  return status;
}

static rheos_status *run_entry(one_kernel *k, walk *w, int32_t index) {
  const rheos__entry *entry = &w->plan->entries[index];
  rheos_tensor **tensors = &w->tensors[entry->first_value];
  if (entry->kind == RHEOS__ENTRY_READ) {
    rheos__resource *cell = w->cells[w->plan->operands[entry->first_operand]];
    tensors[0] = rheos__variable_read((rheos__variable_cell *)cell);
    return tensors[0] ? NULL : RHEOS_INVALID("a variable without a value");
  }
  if (strcmp(entry->signature->op->name, "Const") == 0) {
    tensors[0] = rheos_tensor_ref(rheos__attrs_find(entry->attrs, "value")->tensor);
    w->is_constant[entry->first_value] = true;
    return NULL;
  }
  rheos__prepare *p = &w->kernels[index];
  rheos__prepare_arrays arrays;
  RHEOS_TRY(
      rheos__prepare_init(p, w->plan, entry, w->plan->context.devices[0], &k->arena, &arrays));
  fill_inputs(w, entry, false, &arrays);
  RHEOS_TRY(rheos__prepare_shapes(p, arrays.output_shapes));
  if (any_shape_unknown(p)) {
    fill_inputs(w, entry, true, &arrays);
    RHEOS_TRY(rheos__prepare_shapes(p, arrays.output_shapes));
  }
  RHEOS_TRY(rheos__prepare_kernel(p));
  if (p->output_resource) w->cells[entry->first_value] = p->output_resource;
  if (p->output_resource && p->num_inputs == 0) return NULL;  // a variable or handle
  k->kernel = p;
  return first_call(k, w, entry, p);
}

static rheos_status *run_target(one_kernel *k, const op_program *program, walk *w, int32_t target) {
  rheos__edge feeds[CASE_MAX_INPUTS];
  for (size_t i = 0; i < program->num_feeds; i++) {
    feeds[i] = (rheos__edge){program->feeds[i].output.id, program->feeds[i].output.index};
  }
  const rheos__plan_context context = {.resources = k->resources,
                                       .devices = plan_devices(),
                                       .num_devices = 1,
                                       .rewrites = {.disable_meta_optimizer = true}};
  RHEOS_TRY(rheos__plan_new(program->graph, &context, feeds, (int32_t)program->num_feeds, NULL, 0,
                            &target, 1, &w->plan));
  const size_t values = (size_t)w->plan->num_values + 1;
  w->tensors = rheos__alloc_array(values, sizeof *w->tensors);
  w->cells = rheos__alloc_array(values, sizeof *w->cells);
  w->is_constant = rheos__alloc_array(values, sizeof *w->is_constant);
  w->kernels = rheos__alloc_array((size_t)w->plan->num_entries + 1, sizeof *w->kernels);
  if (!w->tensors || !w->cells || !w->is_constant || !w->kernels) return rheos__out_of_memory();
  for (size_t i = 0; i < program->num_feeds; i++) {
    w->tensors[i] = rheos_tensor_ref(program->feeds[i].value);
  }
  for (int32_t i = 0; i < w->plan->num_entries; i++) RHEOS_TRY(run_entry(k, w, i));
  return NULL;
}

static rheos_status *run_targets(one_kernel *k, const op_program *program) {
  const op_case *c = program->c;
  k->walks =
      rheos__alloc_array(program->num_initializers + (size_t)c->num_nodes + 1, sizeof *k->walks);
  if (!k->walks) return rheos__out_of_memory();
  for (size_t i = 0; i < program->num_initializers; i++) {
    RHEOS_TRY(run_target(k, program, &k->walks[k->num_walks++], program->initializers[i].id));
  }
  for (int i = 0; i < c->num_nodes; i++) {
    if (c->nodes[i].role != NODE_FIRST) continue;
    RHEOS_TRY(run_target(k, program, &k->walks[k->num_walks++], program->nodes[i].id));
  }
  k->kernel = NULL;
  return run_target(k, program, &k->walks[k->num_walks++], program->op.id);
}

rheos_status *one_kernel_new(const op_program *program, one_kernel **out_kernel) {
  one_kernel *k = rheos__alloc_zeroed(sizeof *k);
  *out_kernel = k;
  if (!k) return rheos__out_of_memory();
  rheos__arena_init(&k->arena);
  rheos__step_init(&k->step, NULL, NULL);
  k->resources = rheos__resources_new();
  if (!k->resources) return rheos__out_of_memory();
  return run_targets(k, program);
}

// ---- Timing

static void drop_outputs(one_kernel *k) {
  for (int32_t i = 0; i < k->kernel->num_outputs; i++) {
    rheos_tensor_unref(k->outputs[i]);
    k->outputs[i] = NULL;
  }
}

static rheos_status *call_kernel(void *argument) {
  one_kernel *k = argument;
  return call(k, k->kernel);
}

static rheos_status *call_and_drop(void *argument) {
  one_kernel *k = argument;
  rheos_status *status = call(k, k->kernel);
  if (!status) drop_outputs(k);
  return status;
}

// As many tensors as the kernel returned when it ran first.
static rheos_status *make_tensors(void *argument) {
  one_kernel *k = argument;
  const walk *w = &k->walks[k->num_walks - 1];
  rheos_tensor *const *like = &w->tensors[w->plan->entries[w->plan->num_entries - 1].first_value];
  for (int32_t i = 0; i < k->kernel->num_outputs; i++) {
    if (like[i]) RHEOS_TRY(rheos_tensor_new(like[i]->dtype, like[i]->shape, &k->outputs[i]));
  }
  drop_outputs(k);
  return NULL;
}

rheos_status *one_kernel_ns(one_kernel *k, double round_ns, double *out_ns) {
  *out_ns = 0;
  if (!k->kernel || k->kernel->alias_input >= 0) return NULL;  // nothing runs
  if (!k->kernel->compute) return least_ns(call_kernel, k, round_ns, out_ns);
  memset(k->outputs, 0, (size_t)k->kernel->num_outputs * sizeof *k->outputs);
  double making_ns = 0;
  RHEOS_TRY(least_ns(call_and_drop, k, round_ns, out_ns));
  if (k->kernel->num_outputs > 0) RHEOS_TRY(least_ns(make_tensors, k, round_ns, &making_ns));
  *out_ns = *out_ns > making_ns ? *out_ns - making_ns : 0;
  return NULL;
}
