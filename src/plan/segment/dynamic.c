// Dynamic instructions. Whether a kernel depends on values is found out by asking: where the shape
// function says the same with the inputs' values and without, the kernel is prepared without them,
// as those of other instructions are, and stays good for the segment. Else it is prepared with a
// copy of the values, and stays good while the inputs hold the same bytes. In a plan with control
// flow all nodes are prepared so, and what was prepared stays good while inputs have the same
// shapes and cells too.
#include "plan/segment/dynamic.h"

#include <assert.h>
#include <string.h>

#include "plan/entries/place.h"
#include "plan/entries/prepare.h"
#include "plan/segment/staged_node.h"

enum { MAX_KEY_BYTES = 1024, WITHOUT_SEGMENT = -1 };

// What is run, and on what.
typedef struct dynamic_node {
  const rheos__plan *plan;
  int32_t entry;
  // With what the segment knows beforehand; NULL in a plan with control flow.
  const rheos__segment *segment;
  const rheos__instruction *in;
  const rheos__device *device;
  rheos__memory *memory;        // of results; NULL: the device's
  rheos_tensor *const *inputs;  // in the host's memory; on another device some have no bytes
  rheos_tensor *const *taken;   // where the kernel runs
  rheos__resource *const *cells;
} dynamic_node;

struct rheos__dynamic {
  int64_t serial;  // of the segment that it was prepared for; 0: none; WITHOUT_SEGMENT
  bool any_values;
  bool keeps;          // the values fit into the key
  bool stays_on_host;  // the device has no kernel for it
  rheos__arena arena;  // the arrays of the prepare, the kernel's state, the key
  rheos__prepare p;
  rheos__prepare_arrays arrays;  // of `p`
  rheos_tensor *copies;          // of the inputs, over the key; by input
};

static void forget(rheos__dynamic *dynamic) {
  if (dynamic->p.release != NULL) dynamic->p.release(dynamic->p.state);
  dynamic->p.release = NULL;
  dynamic->serial = 0;
}

void rheos__dynamics_free(rheos__workspace *workspace) {
  for (int32_t i = 0; workspace->dynamics != NULL && i < workspace->num_entries; ++i) {
    if (workspace->dynamics[i] == NULL) continue;
    forget(workspace->dynamics[i]);
    rheos__arena_deinit(&workspace->dynamics[i]->arena);
    rheos__free(workspace->dynamics[i]);
  }
  rheos__free(workspace->dynamics);
}

static rheos__dynamic *dynamic_of(rheos__workspace *workspace, int32_t entry) {
  if (workspace->dynamics == NULL) {
    workspace->dynamics =
        rheos__alloc_array((size_t)workspace->num_entries, sizeof *workspace->dynamics);
    if (workspace->dynamics == NULL) return NULL;
  }
  assert(entry >= 0 && entry < workspace->num_entries);
  if (workspace->dynamics[entry] == NULL) {
    workspace->dynamics[entry] = rheos__alloc_zeroed(sizeof **workspace->dynamics);
  }
  return workspace->dynamics[entry];
}

// Whether it has bytes that the host can read.
static bool has_bytes(const rheos_tensor *input) {
  return input != NULL && input->memory == NULL && (input->data != NULL || input->size_bytes == 0);
}

// ---- Preparing

// Copies of what the inputs hold, as far as they have bytes; false where they are too large, or not
// plain.
static bool copy_values(rheos__dynamic *dynamic, rheos_tensor *const *inputs, int32_t count) {
  size_t bytes = 0;
  for (int32_t i = 0; i < count; ++i) {
    if (!has_bytes(inputs[i])) continue;
    const rheos_dtype dtype = inputs[i]->dtype;
    if (dtype == RHEOS_STRING || dtype == RHEOS_VARIANT || dtype == RHEOS_RESOURCE ||
        inputs[i]->size_bytes > MAX_KEY_BYTES - bytes) {
      return false;
    }
    bytes += inputs[i]->size_bytes;
  }
  dynamic->copies =
      rheos__arena_alloc(&dynamic->arena, ((size_t)count + 1) * sizeof *dynamic->copies);
  if (dynamic->copies == NULL) return false;
  for (int32_t i = 0; i < count; ++i) {
    if (!has_bytes(inputs[i])) continue;
    void *copy = rheos__arena_copy(&dynamic->arena, inputs[i]->data, inputs[i]->size_bytes);
    if (copy == NULL) return false;
    rheos__tensor_init_view(&dynamic->copies[i], inputs[i]->dtype, &inputs[i]->shape, copy);
  }
  return true;
}

static void fill_inputs(const rheos__dynamic *dynamic, const dynamic_node *n) {
  const rheos__prepare_arrays *arrays = &dynamic->arrays;
  for (int32_t i = 0; i < dynamic->p.num_inputs; ++i) {
    arrays->input_resources[i] = n->cells[i];
    if (n->inputs[i] == NULL) continue;
    arrays->input_dtypes[i] = n->inputs[i]->dtype;
    arrays->input_shapes[i] = n->inputs[i]->shape;
  }
}

// The values that the segment itself knows.
static void give_constants(const rheos__dynamic *dynamic, const dynamic_node *n) {
  for (int32_t i = 0; i < dynamic->p.num_inputs; ++i) {
    dynamic->arrays.input_values[i] = NULL;
    if (n->segment == NULL) continue;
    const int32_t index = n->segment->input_values[n->in->first_operand + i];
    const rheos__value *value = rheos__find_value(n->segment, index);
    const bool constant = value->root == index && value->kind == RHEOS__VALUE_CONSTANT;
    if (constant) dynamic->arrays.input_values[i] = value->constant;
  }
}

static void give_values(const rheos__dynamic *dynamic, const dynamic_node *n) {
  for (int32_t i = 0; i < dynamic->p.num_inputs; ++i) {
    rheos_tensor *value = has_bytes(n->inputs[i]) ? n->inputs[i] : NULL;
    if (dynamic->keeps && value != NULL) value = &dynamic->copies[i];
    dynamic->arrays.input_values[i] = value;
  }
}

// What the shape function says with the values: also whether it says the same without.
static rheos_status *infer(rheos__dynamic *dynamic, const dynamic_node *n, bool *out_same) {
  const rheos__prepare *p = &dynamic->p;
  rheos_shape *shapes = dynamic->arrays.output_shapes;
  const size_t bytes = (size_t)p->num_outputs * sizeof *shapes;
  give_constants(dynamic, n);
  RHEOS_TRY(rheos__prepare_shapes(p, shapes));
  const rheos_shape *without = rheos__arena_copy(&dynamic->arena, shapes, bytes);
  if (without == NULL) return rheos__out_of_memory();
  for (int32_t i = 0; i < p->num_outputs; ++i) shapes[i] = RHEOS_UNKNOWN_SHAPE;
  give_values(dynamic, n);
  RHEOS_TRY(rheos__prepare_shapes(p, shapes));
  *out_same = true;
  for (int32_t i = 0; i < p->num_outputs; ++i) {
    *out_same = *out_same && rheos_shape_equal(&without[i], &shapes[i]);
  }
  return NULL;
}

static bool is_input(const dynamic_node *n, int32_t num_inputs, const rheos__resource *cell) {
  for (int32_t i = 0; i < num_inputs; ++i) {
    if (n->cells[i] == cell) return true;
  }
  return false;
}

// A cell that a kernel makes may be another one the next time, unless nothing but the node tells
// which.
static bool keeps_its_cells(const rheos__dynamic *dynamic, const dynamic_node *n) {
  const rheos__prepare *p = &dynamic->p;
  for (int32_t i = 0; i < p->num_outputs; ++i) {
    const rheos__resource *cell = rheos__prepared_cell(p, i);
    if (cell == NULL || is_input(n, p->num_inputs, cell)) continue;
    if (n->segment != NULL || p->num_inputs > 0) return false;
  }
  return true;
}

// Where a kernel that was prepared without values is right for any.
static bool is_for_any_values(const rheos__dynamic *dynamic, const dynamic_node *n) {
  const rheos__prepare *p = &dynamic->p;
  if (p->compute != NULL) return true;
  return n->segment == NULL && rheos__all_known(p->output_shapes, p->num_outputs);
}

// A variable or handle: nothing runs.
static bool only_names_a_cell(const rheos__prepare *p) {
  return p->output_resource != NULL && p->run == NULL && p->compute == NULL;
}

static rheos_status *prepare(rheos__dynamic *dynamic, const dynamic_node *n) {
  const rheos__entry *entry = &n->plan->entries[n->entry];
  forget(dynamic);
  rheos__arena_reset(&dynamic->arena);
  rheos__prepare *p = &dynamic->p;
  RHEOS_TRY(rheos__prepare_init(p, n->plan, entry, n->device, &dynamic->arena, &dynamic->arrays));
  if (n->memory != NULL) p->memory = n->memory;
  fill_inputs(dynamic, n);
  dynamic->keeps = copy_values(dynamic, n->inputs, p->num_inputs);
  bool same = false;
  RHEOS_TRY(infer(dynamic, n, &same));
  if (!rheos__is_on_host(n->device) && !rheos__all_known(p->output_shapes, p->num_outputs)) {
    return rheos_status_new(RHEOS_UNIMPLEMENTED, "the shapes depend on more than a few integers");
  }
  if (same) give_constants(dynamic, n);
  rheos_status *status = rheos__prepare_kernel(p);
  dynamic->any_values = status == NULL && same && is_for_any_values(dynamic, n);
  if (same && !dynamic->any_values) {  // the kernel has to know values after all
    if (status == NULL) forget(dynamic);
    rheos_status_free(status);
    rheos__prepare_clear(p);
    give_values(dynamic, n);
    status = rheos__prepare_kernel(p);
  }
  if (status != NULL) {
    p->release = NULL;
    return status;
  }
  RHEOS_TRY(rheos__check_handles(entry, p));
  if (p->alias_input < 0 && p->compute == NULL && !only_names_a_cell(p) &&
      !rheos__all_known(p->output_shapes, p->num_outputs)) {
    return rheos_status_new(RHEOS_INTERNAL, "the shape of an output of %s could not be inferred",
                            p->op->name);
  }
  if ((dynamic->any_values || dynamic->keeps) && keeps_its_cells(dynamic, n)) {
    assert(n->segment == NULL || n->segment->serial > 0);
    dynamic->serial = n->segment != NULL ? n->segment->serial : WITHOUT_SEGMENT;
  }
  return NULL;
}

// Inputs of a segment have the dtypes and shapes that they had before; others are compared.
static bool has_same_inputs(const rheos__dynamic *dynamic, const dynamic_node *n) {
  const rheos__prepare *p = &dynamic->p;
  for (int32_t i = 0; i < p->num_inputs; ++i) {
    const rheos_tensor *input = n->inputs[i];
    if (n->cells[i] != p->input_resources[i]) return false;
    if (input == NULL) continue;
    if (input->dtype != p->input_dtypes[i] ||
        !rheos_shape_equal(&input->shape, &p->input_shapes[i])) {
      return false;
    }
  }
  return true;
}

static bool is_prepared(const rheos__dynamic *dynamic, const dynamic_node *n) {
  if (n->segment != NULL ? dynamic->serial != n->segment->serial
                         : dynamic->serial != WITHOUT_SEGMENT || !has_same_inputs(dynamic, n)) {
    return false;
  }
  for (int32_t i = 0; !dynamic->any_values && i < dynamic->p.num_inputs; ++i) {
    const rheos_tensor *input = n->inputs[i];
    if (has_bytes(input) && input->size_bytes > 0 &&
        memcmp(input->data, dynamic->copies[i].data, input->size_bytes) != 0) {
      return false;
    }
  }
  return true;
}

static rheos_status *run_ready(const rheos__dynamic *dynamic, const dynamic_node *n,
                               rheos__workspace *workspace, rheos_tensor **results,
                               rheos__step *step) {
  if (only_names_a_cell(&dynamic->p)) return NULL;
  return rheos__run_prepared(&dynamic->p, n->taken, step, workspace->inputs, workspace->outputs,
                             results);
}

static rheos_status *run(rheos__dynamic *dynamic, const dynamic_node *n,
                         rheos__workspace *workspace, rheos_tensor **results, rheos__step *step) {
  if (!is_prepared(dynamic, n)) RHEOS_TRY(prepare(dynamic, n));
  return run_ready(dynamic, n, workspace, results, step);
}

static void drop_results(rheos_tensor **results, int32_t count) {
  for (int32_t i = 0; i < count; ++i) {
    rheos_tensor_unref(results[i]);
    results[i] = NULL;
  }
}

static dynamic_node node_of(const rheos__segment *segment, const rheos__instruction *in,
                            const rheos__workspace *workspace) {
  assert(in->kind == RHEOS__DYNAMIC &&
         in->num_inputs == segment->plan->entries[in->entry].num_inputs);
  return (dynamic_node){.plan = segment->plan,
                        .entry = in->entry,
                        .segment = segment,
                        .in = in,
                        .cells = rheos__take_cells(workspace, segment, in)};
}

// With inputs in the host's memory, where the results are too unless the node says otherwise.
static rheos_status *run_on_host(rheos__dynamic *dynamic, dynamic_node node,
                                 rheos_tensor *const *inputs, rheos__workspace *workspace,
                                 rheos__step *step) {
  node.device = node.plan->context.devices[0];
  node.inputs = node.taken = inputs;
  return run(dynamic, &node, workspace, workspace->results, step);
}

// By a kernel of the segment's device. `*out_done` is false where it has none.
static rheos_status *run_on_device(rheos__dynamic *dynamic, dynamic_node node,
                                   rheos_tensor *const *inputs, rheos__workspace *workspace,
                                   rheos__step *step, bool *out_done) {
  rheos__staged staged;
  *out_done = true;
  rheos_status *status = rheos__stage_shapes(node.segment, node.in, workspace, inputs, &staged);
  node.device = node.segment->device;
  node.inputs = staged.on_host;
  node.taken = staged.on_device;
  if (status == NULL && !is_prepared(dynamic, &node)) {
    status = prepare(dynamic, &node);
    *out_done = rheos_status_code(status) != RHEOS_UNIMPLEMENTED;
  }
  if (status == NULL) status = run_ready(dynamic, &node, workspace, workspace->results, step);
  rheos__staged_deinit(&staged);
  if (*out_done) return status;
  rheos_status_free(status);
  forget(dynamic);
  return NULL;
}

// By the CPU, on copies.
static rheos_status *run_staged(rheos__dynamic *dynamic, dynamic_node node,
                                rheos_tensor *const *inputs, rheos__workspace *workspace,
                                rheos__step *step) {
  rheos__staged staged;
  rheos_status *status = rheos__stage_inputs(node.segment, node.in, inputs, &staged);
  if (status == NULL) status = run_on_host(dynamic, node, staged.on_host, workspace, step);
  rheos__staged_deinit(&staged);
  if (status != NULL) return status;
  return rheos__stage_results(node.segment->device->memory, workspace->results,
                              node.in->num_outputs);
}

static rheos_status *run_anywhere(const rheos__segment *segment, const rheos__instruction *in,
                                  rheos_tensor *const *inputs, rheos__workspace *workspace,
                                  rheos__step *step) {
  rheos__dynamic *dynamic = dynamic_of(workspace, in->entry);
  if (dynamic == NULL) return rheos__out_of_memory();
  dynamic_node node = node_of(segment, in, workspace);
  // What reads a variable has no kernel on any device, and gives the value where the segment is.
  const bool reads = rheos__reads_variable(&segment->plan->entries[in->entry]);
  if (reads) node.memory = segment->device->memory;
  if (rheos__is_on_host(segment->device) || reads) {
    return run_on_host(dynamic, node, inputs, workspace, step);
  }
  if (!dynamic->stays_on_host) {
    bool is_done = false;
    RHEOS_TRY(run_on_device(dynamic, node, inputs, workspace, step, &is_done));
    if (is_done) return NULL;
    dynamic->stays_on_host = true;
  }
  return run_staged(dynamic, node, inputs, workspace, step);
}

rheos_status *rheos__run_dynamic(const rheos__segment *segment, const rheos__instruction *in,
                                 rheos__workspace *workspace, rheos__step *step) {
  rheos_tensor *const *inputs = rheos__tensor_arguments(workspace, segment, in);
  for (int32_t i = 0; i < in->num_outputs; ++i) workspace->results[i] = NULL;
  rheos_status *status = run_anywhere(segment, in, inputs, workspace, step);
  if (status != NULL) drop_results(workspace->results, in->num_outputs);
  return status;
}

rheos_status *rheos__run_flow_node(const rheos__plan *plan, int32_t entry,
                                   rheos_tensor *const *inputs, rheos__resource *const *cells,
                                   rheos__workspace *workspace, rheos_tensor **results,
                                   rheos__step *step, rheos__resource **out_cells) {
  const int32_t num_outputs = plan->entries[entry].num_outputs;
  for (int32_t i = 0; i < num_outputs; ++i) {
    results[i] = NULL;
    out_cells[i] = NULL;
  }
  rheos__dynamic *dynamic = dynamic_of(workspace, entry);
  if (dynamic == NULL) return rheos__out_of_memory();
  const dynamic_node node = {.plan = plan,
                             .entry = entry,
                             .device = plan->context.devices[0],
                             .inputs = inputs,
                             .taken = inputs,
                             .cells = cells};
  rheos_status *status = run(dynamic, &node, workspace, results, step);
  if (status == NULL && plan->is_mixed) status = rheos__bring_to_host_take(results, num_outputs);
  if (status != NULL) {
    drop_results(results, num_outputs);
    return status;
  }
  for (int32_t i = 0; i < num_outputs; ++i) out_cells[i] = rheos__prepared_cell(&dynamic->p, i);
  const int32_t alias = dynamic->p.alias_input;
  if (alias >= 0 && inputs[alias] == NULL) out_cells[0] = cells[alias];
  return NULL;
}
