// Dynamic instructions. Whether a kernel depends on values is found out by asking: where the shape
// function says the same with the inputs' values and without, the kernel is prepared without them, as
// those of other instructions are, and stays good for the segment. Else it is prepared with a copy of
// the values, and stays good while the inputs hold the same bytes.
#include "plan/dynamic.h"

#include <assert.h>
#include <string.h>

#include "plan/prepare.h"
#include "plan/staged_node.h"

enum { MAX_KEY_BYTES = 1024 };

struct rheos__dynamic {
  int64_t serial;  // of the segment that it was prepared for; 0: none
  bool any_values;
  bool keeps;          // the values fit into the key
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

static bool has_bytes(const rheos_tensor *input) {
  return input != NULL && (input->data != NULL || input->size_bytes == 0);
}

// ---- Preparing

// Copies of what the inputs hold; false where they are too large, or no plain bytes.
static bool copy_values(rheos__dynamic *dynamic, rheos_tensor *const *inputs, int32_t count) {
  size_t bytes = 0;
  for (int32_t i = 0; i < count; ++i) {
    if (inputs[i] == NULL) continue;
    const rheos_dtype dtype = inputs[i]->dtype;
    if (!has_bytes(inputs[i]) || dtype == RHEOS_STRING || dtype == RHEOS_VARIANT ||
        dtype == RHEOS_RESOURCE || inputs[i]->size_bytes > MAX_KEY_BYTES - bytes) {
      return false;
    }
    bytes += inputs[i]->size_bytes;
  }
  dynamic->copies =
      rheos__arena_alloc(&dynamic->arena, ((size_t)count + 1) * sizeof *dynamic->copies);
  if (dynamic->copies == NULL) return false;
  for (int32_t i = 0; i < count; ++i) {
    if (inputs[i] == NULL) continue;
    void *copy = rheos__arena_copy(&dynamic->arena, inputs[i]->data, inputs[i]->size_bytes);
    if (copy == NULL) return false;
    rheos__tensor_init_view(&dynamic->copies[i], inputs[i]->dtype, &inputs[i]->shape, copy);
  }
  return true;
}

static void fill_inputs(const rheos__dynamic *dynamic, rheos_tensor *const *inputs,
                        rheos__resource *const *cells) {
  const rheos__prepare_arrays *arrays = &dynamic->arrays;
  for (int32_t i = 0; i < dynamic->p.num_inputs; ++i) {
    arrays->input_resources[i] = cells[i];
    if (inputs[i] == NULL) continue;
    arrays->input_dtypes[i] = inputs[i]->dtype;
    arrays->input_shapes[i] = inputs[i]->shape;
  }
}

// The values that the segment itself knows.
static void give_constants(const rheos__dynamic *dynamic, const rheos__segment *segment,
                           const rheos__instruction *in) {
  for (int32_t i = 0; i < dynamic->p.num_inputs; ++i) {
    const int32_t index = segment->input_values[in->first_operand + i];
    const rheos__value *value = rheos__find_value(segment, index);
    const bool constant = value->root == index && value->kind == RHEOS__VALUE_CONSTANT;
    dynamic->arrays.input_values[i] = constant ? value->constant : NULL;
  }
}

static void give_values(const rheos__dynamic *dynamic, rheos_tensor *const *inputs) {
  for (int32_t i = 0; i < dynamic->p.num_inputs; ++i) {
    rheos_tensor *value = has_bytes(inputs[i]) ? inputs[i] : NULL;
    if (dynamic->keeps && value != NULL) value = &dynamic->copies[i];
    dynamic->arrays.input_values[i] = value;
  }
}

// What the shape function says with the values: also whether it says the same without.
static rheos_status *infer(rheos__dynamic *dynamic, const rheos__segment *segment,
                           const rheos__instruction *in, rheos_tensor *const *inputs,
                           bool *out_same) {
  const rheos__prepare *p = &dynamic->p;
  rheos_shape *shapes = dynamic->arrays.output_shapes;
  const size_t bytes = (size_t)p->num_outputs * sizeof *shapes;
  give_constants(dynamic, segment, in);
  RHEOS_TRY(rheos__prepare_shapes(p, shapes));
  const rheos_shape *without = rheos__arena_copy(&dynamic->arena, shapes, bytes);
  if (without == NULL) return rheos__out_of_memory();
  for (int32_t i = 0; i < p->num_outputs; ++i) shapes[i] = RHEOS_UNKNOWN_SHAPE;
  give_values(dynamic, inputs);
  RHEOS_TRY(rheos__prepare_shapes(p, shapes));
  *out_same = true;
  for (int32_t i = 0; i < p->num_outputs; ++i) {
    *out_same = *out_same && rheos_shape_equal(&without[i], &shapes[i]);
  }
  return NULL;
}

static rheos_status *prepare(rheos__dynamic *dynamic, const rheos__segment *segment,
                             const rheos__instruction *in, rheos_tensor *const *inputs,
                             rheos__resource *const *cells) {
  const rheos__entry *entry = &segment->plan->entries[in->entry];
  assert(in->kind == RHEOS__DYNAMIC && in->num_inputs == entry->num_inputs);
  forget(dynamic);
  rheos__arena_reset(&dynamic->arena);
  rheos__prepare *p = &dynamic->p;
  RHEOS_TRY(rheos__prepare_init(p, segment->plan, entry, segment->plan->context.devices[0],
                                &dynamic->arena, &dynamic->arrays));
  fill_inputs(dynamic, inputs, cells);
  dynamic->keeps = copy_values(dynamic, inputs, p->num_inputs);
  bool same = false;
  RHEOS_TRY(infer(dynamic, segment, in, inputs, &same));
  if (same) give_constants(dynamic, segment, in);
  rheos_status *status = rheos__prepare_kernel(p);
  dynamic->any_values = status == NULL && same && p->compute != NULL;
  if (same && !dynamic->any_values) {  // the kernel has to know values after all
    if (status == NULL) forget(dynamic);
    rheos_status_free(status);
    rheos__prepare_clear(p);
    give_values(dynamic, inputs);
    status = rheos__prepare_kernel(p);
  }
  if (status != NULL) {
    p->release = NULL;
    return status;
  }
  RHEOS_TRY(rheos__check_handles(entry, p));
  if (p->alias_input < 0 && p->compute == NULL &&
      !rheos__all_known(p->output_shapes, p->num_outputs)) {
    return rheos_status_new(RHEOS_INTERNAL, "the shape of an output of %s could not be inferred",
                            p->op->name);
  }
  // A cell that a kernel makes may be another one the next time.
  if ((dynamic->any_values || dynamic->keeps) && p->output_resource == NULL) {
    assert(segment->serial > 0);
    dynamic->serial = segment->serial;
  }
  return NULL;
}

// Inputs of a segment have the dtypes and shapes that they had before.
static bool is_prepared(const rheos__dynamic *dynamic, const rheos__segment *segment,
                        rheos_tensor *const *inputs) {
  if (dynamic->serial != segment->serial) return false;
  for (int32_t i = 0; !dynamic->any_values && i < dynamic->p.num_inputs; ++i) {
    if (inputs[i] != NULL && inputs[i]->size_bytes > 0 &&
        memcmp(inputs[i]->data, dynamic->copies[i].data, inputs[i]->size_bytes) != 0) {
      return false;
    }
  }
  return true;
}

// With inputs in the host's memory, where the results are too.
static rheos_status *run_on_host(const rheos__segment *segment, const rheos__instruction *in,
                                 rheos_tensor *const *inputs, rheos__workspace *workspace,
                                 rheos__step *step) {
  rheos__dynamic *dynamic = dynamic_of(workspace, in->entry);
  if (dynamic == NULL) return rheos__out_of_memory();
  rheos_status *status = NULL;
  if (!is_prepared(dynamic, segment, inputs)) {
    status = prepare(dynamic, segment, in, inputs, rheos__take_cells(workspace, segment, in));
  }
  if (status == NULL) {
    status = rheos__run_prepared(&dynamic->p, inputs, step, workspace->inputs, workspace->outputs,
                                 workspace->results);
  }
  return status;
}

static rheos_status *run_staged(const rheos__segment *segment, const rheos__instruction *in,
                                rheos_tensor *const *inputs, rheos__workspace *workspace,
                                rheos__step *step) {
  rheos_tensor **staged = NULL;
  rheos_status *status = rheos__stage_inputs(segment, in, inputs, &staged);
  if (status == NULL) status = run_on_host(segment, in, staged, workspace, step);
  rheos__unstage_inputs(staged, in->num_inputs);
  if (status != NULL) return status;
  return rheos__stage_results(segment->device, workspace->results, in->num_outputs);
}

rheos_status *rheos__run_dynamic(const rheos__segment *segment, const rheos__instruction *in,
                                 rheos__workspace *workspace, rheos__step *step) {
  rheos_tensor *const *inputs = rheos__tensor_arguments(workspace, segment, in);
  for (int32_t i = 0; i < in->num_outputs; ++i) workspace->results[i] = NULL;
  const bool on_host = segment->device->kind->uses_host_memory;
  rheos_status *status = on_host ? run_on_host(segment, in, inputs, workspace, step)
                                 : run_staged(segment, in, inputs, workspace, step);
  if (status == NULL) return NULL;
  for (int32_t i = 0; i < in->num_outputs; ++i) {
    rheos_tensor_unref(workspace->results[i]);
    workspace->results[i] = NULL;
  }
  return status;
}
