// Workspaces: the pointers and memory of one running step, kept for the next.
#include "plan/segment/segment.h"

#include <assert.h>

#include "plan/entries/flow.h"
#include "plan/segment/dynamic.h"
#include "plan/entries/place.h"
#include "plan/segment/memory_report.h"

static void free_memory(rheos__binding *binding) {
  rheos__memory_free(binding->home, binding->memory);
  binding->memory = NULL;
  binding->memory_bytes = 0;
}

rheos__workspace *rheos__workspace_new(const rheos__plan *plan) {
  rheos__workspace *workspace = rheos__alloc_zeroed(sizeof *workspace);
  if (workspace == NULL) return NULL;
  workspace->num_entries = plan->num_entries;
  size_t values = (size_t)plan->num_values, operands = (size_t)plan->max_operands + 1;
  workspace->data = rheos__alloc_array(values, sizeof *workspace->data);
  workspace->tensors = rheos__alloc_array(values, sizeof *workspace->tensors);
  workspace->inputs = rheos__alloc_array(operands, sizeof *workspace->inputs);
  workspace->outputs = rheos__alloc_array(operands, sizeof *workspace->outputs);
  workspace->results = rheos__alloc_array(operands, sizeof *workspace->results);
  if (plan->flow != NULL) workspace->flow = rheos__flow_state_new(plan);
  if ((plan->flow != NULL && workspace->flow == NULL) || workspace->data == NULL ||
      workspace->tensors == NULL || workspace->inputs == NULL || workspace->outputs == NULL ||
      workspace->results == NULL) {
    rheos__workspaces_free(workspace);
    return NULL;
  }
  return workspace;
}

void rheos__workspaces_free(rheos__workspace *workspaces) {
  while (workspaces != NULL) {
    rheos__workspace *workspace = workspaces;
    workspaces = workspace->next;
    for (size_t i = 0; i < workspace->num_bindings; ++i) {
      free_memory(&workspace->bindings[i]);
      rheos__free(workspace->bindings[i].arguments);
      rheos__free(workspace->bindings[i].tensors);
      rheos__free(workspace->bindings[i].cells);
    }
    rheos__free(workspace->bindings);
    rheos__free(workspace->data);
    rheos__free(workspace->tensors);
    rheos__free((void *)workspace->inputs);
    rheos__free(workspace->outputs);
    rheos__free(workspace->results);
    rheos__free(workspace->packed_tensors);
    rheos__free(workspace->packed);
    rheos__free(workspace->group_room);
    rheos__dynamics_free(workspace);
    rheos__flow_state_free(workspace->flow);
    rheos__free(workspace);
  }
}

// ---- Binding

// The memory of a device from which a constant is taken, which was placed there; NULL: it is taken
// as it is.
static rheos__memory *placed_in(const rheos__segment *segment, const rheos__instruction *in,
                                int32_t input) {
  const rheos__plan *plan = segment->plan;
  const rheos__entry *entry = &plan->entries[in->entry];
  if (in->kind != RHEOS__COMPUTE || (entry->signature->op->flags & RHEOS_OP_READS_SHAPES) != 0) {
    return NULL;
  }
  if (!rheos__is_on_host(segment->device)) {
    return rheos__device_of_input(plan, entry, input) != 0 ? segment->device->memory : NULL;
  }
  const bool keeps =
      entry->kept_on > 0 && rheos__device_of_input(plan, entry, input) == entry->kept_on;
  return keeps ? plan->context.devices[entry->kept_on]->memory : NULL;
}

// A feed that only bodies take, in whatever memory it lies, is handed on itself.
static bool takes_any(const rheos__segment *segment, int32_t feed) {
  return rheos__feed_home(segment->plan, feed) == RHEOS__ANYWHERE;
}

static void bind_input(rheos__binding *binding, const rheos__workspace *workspace,
                       const rheos__segment *segment, const rheos__instruction *in, int32_t i) {
  const int32_t position = in->first_operand + i, at = in->first_argument + i;
  const int32_t index = segment->input_values[position], root = segment->operands[position];
  const rheos__value *value = rheos__find_value(segment, index);
  // Where the bytes lie was decided after aliases of them were made.
  const rheos__value *bytes = rheos__find_value(segment, root);
  assert(at >= 0 && at < segment->num_tensor_arguments);
  rheos__tensor_argument *argument = &binding->arguments[at];
  rheos__memory *placed = NULL;
  *argument = (rheos__tensor_argument){.root = root};
  binding->tensors[at] = NULL;
  binding->cells[at] = value->resource;
  switch ((rheos__value_kind)bytes->kind) {
    case RHEOS__VALUE_NONE: argument->stays = true; return;
    case RHEOS__VALUE_CONSTANT:
      argument->stays = true;
      binding->tensors[at] = value->constant;
      placed = placed_in(segment, in, i);
      if (placed == NULL) return;
      binding->tensors[at] = &argument->view;
      break;
    case RHEOS__VALUE_ARENA:
      argument->stays = true;
      binding->tensors[at] = &argument->view;
      break;
    case RHEOS__VALUE_FEED:  // the caller's: nobody may keep it
      argument->passes = takes_any(segment, root);
      break;
    case RHEOS__VALUE_HEAP:
    case RHEOS__VALUE_TENSOR: argument->passes = index == root; break;
  }
  if (value->shape == NULL) return;  // what passes without one is there
  rheos__tensor_init_view(&argument->view, (rheos_dtype)value->dtype, value->shape,
                          workspace->data[root]);
  argument->view.memory = placed != NULL ? placed : rheos__memory_of_root(segment, root);
}

static bool bind_inputs(rheos__binding *binding, const rheos__workspace *workspace,
                        const rheos__segment *segment) {
  const size_t count = (size_t)segment->num_tensor_arguments;
  if (!RHEOS_RESERVE(binding->arguments, binding->argument_capacity, count) ||
      !RHEOS_RESERVE(binding->tensors, binding->tensor_capacity, count) ||
      !RHEOS_RESERVE(binding->cells, binding->cell_capacity, count)) {
    return false;
  }
  for (int32_t i = 0; i < segment->num_instructions; ++i) {
    const rheos__instruction *in = &segment->instructions[i];
    if (!rheos__takes_tensors(in)) continue;
    for (int32_t k = 0; k < in->num_inputs; ++k) {
      bind_input(binding, workspace, segment, in, k);
    }
  }
  return true;
}

// The memory of a binding, as large as the segment needs.
static rheos_status *bind_memory(rheos__binding *binding, const rheos__segment *segment) {
  rheos__memory *home = segment->device->memory;
  if (binding->home == home && binding->memory_bytes >= segment->memory_bytes) return NULL;
  free_memory(binding);
  binding->home = home;
  if (segment->memory_bytes == 0) return NULL;
  binding->memory = rheos__memory_allocate(home, segment->memory_bytes);
  if (binding->memory == NULL) return rheos__no_memory_for(segment);
  binding->memory_bytes = segment->memory_bytes;
  return NULL;
}

rheos_status *rheos__workspace_bind(rheos__workspace *workspace, const rheos__segment *segment) {
  const size_t depth = (size_t)segment->depth;
  if (rheos__workspace_is_bound(workspace, segment)) return NULL;
  if (!RHEOS_RESERVE(workspace->bindings, workspace->binding_capacity, depth + 1)) {
    return rheos__out_of_memory();
  }
  while (workspace->num_bindings <= depth)
    workspace->bindings[workspace->num_bindings++] = (rheos__binding){0};
  for (size_t i = depth; i < workspace->num_bindings; ++i) workspace->bindings[i].serial = 0;
  assert(depth == 0 || workspace->bindings[depth - 1].serial == segment->parent->serial);
  rheos__binding *binding = &workspace->bindings[depth];
  RHEOS_TRY(bind_memory(binding, segment));
  for (int32_t i = 0; i < segment->num_values; ++i) {
    const rheos__value *value = &segment->values[i];
    void **data = &workspace->data[segment->first_value + i];
    if (value->kind == RHEOS__VALUE_CONSTANT) *data = value->constant->data;
    assert(value->kind != RHEOS__VALUE_ARENA || value->root != segment->first_value + i ||
           value->offset <= binding->memory_bytes);
    if (value->kind == RHEOS__VALUE_ARENA) *data = binding->memory + value->offset;
  }
  for (int32_t i = 0; i < segment->num_placed_constants; ++i) {
    const rheos__placed_constant *placed = &segment->placed_constants[i];
    workspace->data[placed->value] = segment->constant_memory + placed->offset;
  }
  if (!bind_inputs(binding, workspace, segment)) return rheos__out_of_memory();
  binding->serial = segment->serial;
  return NULL;
}
