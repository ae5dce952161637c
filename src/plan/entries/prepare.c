// The steps from a node to a kernel, shared by specialisation and by nodes that run at once.
#include "plan/entries/prepare.h"

#include <assert.h>
#include <string.h>

#include "graph/calls.h"

bool rheos__all_known(const rheos_shape *shapes, int32_t count) {
  for (int32_t i = 0; i < count; ++i) {
    if (!rheos_shape_is_known(&shapes[i])) return false;
  }
  return true;
}

// Devices that share a memory share segments too, and kernels: one of them is asked for all.
static const char *name_of_place(const rheos__plan *plan, const rheos__entry *entry,
                                 const rheos__device *asked) {
  const rheos__device *placed = rheos__entry_device(plan, entry);
  return rheos__share_memory(placed, asked) ? placed->name : asked->name;
}

static bool has_memories(const rheos__plan_context *context) {
  for (int32_t i = 0; i < context->num_devices; ++i) {
    if (!rheos__is_on_host(context->devices[i])) return true;
  }
  return false;
}

// Whether its functions are those of a dataset, which are called on the host.
static bool is_of_datasets(const rheos__plan *plan, const rheos__entry *entry) {
  if ((entry->signature->op->flags & RHEOS_OP_TAKES_VARIANTS) != 0) return true;
  return entry->num_outputs > 0 && plan->dtypes[entry->first_value] == RHEOS_VARIANT;
}

// The bodies whose nodes are on the device that the call asks for, if they ask for none themselves.
static rheos__bodies *bodies_of(const rheos__plan *plan, const rheos__entry *entry) {
  rheos__bodies *bodies = plan->context.bodies;
  if (bodies == NULL || entry->structure != NULL ||
      (entry->signature->op->flags & RHEOS_OP_CALLS) == 0 || !has_memories(&plan->context)) {
    return bodies;
  }
  const char *device = rheos__plan_node(plan, entry->id)->device;
  if (is_of_datasets(plan, entry)) {
    device = plan->context.devices[0]->name;
  } else if (device[0] == '\0') {
    device = rheos__plan_default_device(plan, entry->id);
  }
  return device != NULL ? rheos__bodies_on(bodies, device) : bodies;
}

// Of the device that the node asks for, which no plan decides anew: a resource has one place.
static rheos_status *find_device_resources(const rheos__plan *plan, const rheos__node *node,
                                           rheos__resources **out_resources) {
  const rheos__plan_context *context = &plan->context;
  rheos__device_name asked;
  if (node->device[0] == '\0' || context->num_devices == 1 || context->resources == NULL) {
    return NULL;
  }
  RHEOS_TRY(rheos__device_name_parse(node->device, &asked));
  for (int32_t i = 0; i < context->num_devices; ++i) {
    if (!rheos__device_name_matches(&asked, &context->devices[i]->parsed_name)) continue;
    *out_resources = rheos__resources_of_device(context->resources, i);
    return *out_resources != NULL ? NULL : rheos__out_of_memory();
  }
  return NULL;
}

// One block for all the arrays of a prepare.
rheos_status *rheos__prepare_init(rheos__prepare *p, const rheos__plan *plan,
                                  const rheos__entry *entry, const rheos__device *device,
                                  rheos__arena *arena, rheos__prepare_arrays *out_arrays) {
  size_t num_in = (size_t)entry->num_inputs, num_out = (size_t)entry->num_outputs;
  size_t size =
      (num_in + num_out) * (sizeof(rheos_shape) + sizeof(rheos_dtype)) +
      num_in * (sizeof(rheos_tensor *) + sizeof(rheos__resource *) + sizeof(rheos_shape *));
  char *block = rheos__arena_alloc(arena, size);
  if (block == NULL) return rheos__out_of_memory();
  rheos_shape *shapes = (rheos_shape *)block;
  rheos_tensor **values = (rheos_tensor **)(shapes + num_in + num_out);
  rheos__resource **resources = (rheos__resource **)(values + num_in);
  const rheos_shape **handles = (const rheos_shape **)(resources + num_in);
  rheos_dtype *dtypes = (rheos_dtype *)(handles + num_in);
  memset(values, 0, num_in * (sizeof *values + sizeof *resources + sizeof *handles));
  for (size_t i = 0; i < num_in + num_out; ++i) shapes[i].rank = -1;
  for (size_t i = 0; i < num_in; ++i) {
    const int32_t value = plan->operands[(size_t)entry->first_operand + i];
    dtypes[i] = rheos_dtype_base((rheos_dtype)plan->dtypes[value]);
    if (dtypes[i] == RHEOS_RESOURCE || dtypes[i] == RHEOS_VARIANT) {
      rheos_shape *room = rheos__arena_alloc(arena, sizeof *room);
      if (room == NULL) return rheos__out_of_memory();
      rheos__edge origin = plan->origins[value];
      const rheos_graph *place =
          rheos__inlined_place(plan->inlined, plan->graph, origin.id, &origin.id);
      handles[i] = rheos__handle_shape(place, origin, room);
    }
  }
  for (size_t i = 0; i < num_out; ++i) {
    dtypes[num_in + i] =
        rheos_dtype_base((rheos_dtype)plan->dtypes[(size_t)entry->first_value + i]);
  }
  int32_t local_id;
  *p = (rheos__prepare){.device = device,
                        .memory = device->memory,
                        .device_name = name_of_place(plan, entry, device),
                        .variants = device->kind->variants,
                        .op = entry->signature->op,
                        .attrs = entry->attrs,
                        .num_inputs = entry->num_inputs,
                        .num_outputs = entry->num_outputs,
                        .input_dtypes = dtypes,
                        .input_shapes = shapes,
                        .input_values = values,
                        .input_resources = resources,
                        .handle_shapes = handles,
                        .output_dtypes = dtypes + num_in,
                        .output_shapes = shapes + num_in,
                        .resources = plan->context.resources,
                        .node_resources = plan->context.node_resources,
                        .graph = (rheos_graph *)(uintptr_t)rheos__inlined_place(
                            plan->inlined, plan->graph, entry->id, &local_id),
                        .bodies = bodies_of(plan, entry),
                        .structure = entry->structure,
                        .program_function = plan->context.program_function,
                        .program_argument = plan->context.program_argument,
                        .leaves_functions = plan->context.leaves_functions,
                        .arena = arena,
                        .alias_input = -1,
                        .reuse_input = -1};
  *out_arrays = (rheos__prepare_arrays){.input_dtypes = dtypes,
                                        .input_shapes = shapes,
                                        .input_values = values,
                                        .input_resources = resources,
                                        .output_shapes = shapes + num_in};
  if ((p->op->flags & (RHEOS_OP_STATEFUL | RHEOS_OP_WANTS_NAME)) != 0) {  // others never ask
    char *name = rheos__inlined_name(plan->inlined, plan->graph, entry->id);
    p->node_name = name != NULL ? rheos__arena_strdup(arena, name) : NULL;
    rheos__free(name);
    if (p->node_name == NULL) return rheos__out_of_memory();
    RHEOS_TRY(find_device_resources(plan, rheos__plan_node(plan, entry->id), &p->device_resources));
  }
  return NULL;
}

rheos_status *rheos__prepare_shapes(const rheos__prepare *p, rheos_shape *output_shapes) {
  assert(output_shapes == p->output_shapes);
  if (p->op->shape == NULL) return NULL;
  rheos__infer infer = {.op = p->op,
                        .attrs = p->attrs,
                        .num_inputs = p->num_inputs,
                        .num_outputs = p->num_outputs,
                        .input_dtypes = p->input_dtypes,
                        .input_shapes = p->input_shapes,
                        .input_values = p->input_values,
                        .handle_shapes = p->handle_shapes,
                        .output_dtypes = p->output_dtypes,
                        .output_shapes = output_shapes};
  return p->op->shape(&infer);
}

void rheos__prepare_clear(rheos__prepare *p) {
  p->decline_reason = NULL;
  p->state = NULL;
  p->release = NULL;
  p->run = NULL;
  p->compute = NULL;
  p->grouped = NULL;
  p->scratch_bytes = 0;
  p->num_units = p->unit_elements = 0;
  p->alias_input = p->reuse_input = -1;
  p->flops = p->bytes = 0;
  p->output_resource = NULL;
  p->called_shapes = NULL;
  p->called_resources = NULL;
  p->packing = (rheos__packing_request){0};
}

// With dimensions like [2^40, 0] there may be many units of nothing: one still runs, and says what
// is wrong with the inputs.
static void leave_out_empty_units(rheos__prepare *p) {
  for (int32_t i = 0; i < p->num_outputs; ++i) {
    if (rheos_shape_num_elements(&p->output_shapes[i]) != 0) return;
  }
  if (p->num_outputs > 0 && p->num_units > 1) p->num_units = 1;
}

static rheos_status *no_kernel(const rheos__prepare *p, const char *reason) {
  const bool on_host = rheos__is_on_host(p->device);
  return rheos_status_new(RHEOS_UNIMPLEMENTED, "no kernel for %s%s%s%s%s", p->op->name,
                          on_host ? "" : " on ", on_host ? "" : p->device->kind->name,
                          reason != NULL ? ": " : "", reason != NULL ? reason : "");
}

static rheos_status *ask_kernels(rheos__prepare *p) {
  const char *reason = NULL;
  const rheos__prepare_fn *variants = p->variants(p->op);
  for (; variants != NULL && *variants != NULL; ++variants) {
    RHEOS_TRY((*variants)(p));
    if (p->decline_reason == NULL) return NULL;
    reason = p->decline_reason;
    rheos__prepare_clear(p);
  }
  if (!rheos__is_on_host(p->device)) return no_kernel(p, reason);
  if (!rheos__has_reference(p->op)) return no_kernel(p, NULL);
  RHEOS_TRY(rheos__prepare_reference(p));
  return p->decline_reason != NULL ? no_kernel(p, p->decline_reason) : NULL;
}

// Kernels that do not know of variants would copy pointers that are counted.
static rheos_status *check_variants(const rheos__prepare *p) {
  const unsigned harmless = RHEOS_OP_TAKES_VARIANTS | RHEOS_OP_READS_SHAPES | RHEOS_OP_CALLS;
  if ((p->op->flags & harmless) != 0 || p->alias_input >= 0) return NULL;
  bool any = false;
  for (int32_t i = 0; i < p->num_inputs; ++i) any = any || p->input_dtypes[i] == RHEOS_VARIANT;
  for (int32_t i = 0; i < p->num_outputs; ++i) any = any || p->output_dtypes[i] == RHEOS_VARIANT;
  if (!any) return NULL;
  return rheos_status_new(RHEOS_UNIMPLEMENTED, "%s of dtype variant is not supported", p->op->name);
}

rheos_status *rheos__prepare_kernel(rheos__prepare *p) {
  RHEOS_TRY(ask_kernels(p));
  rheos_status *status = check_variants(p);
  if (status != NULL) {
    if (p->release != NULL) p->release(p->state);
    return status;
  }
  leave_out_empty_units(p);
  return NULL;
}

const rheos__arg *rheos__arg_of_input(const rheos__signature *signature, const rheos__attrs *attrs,
                                      int32_t input) {
  int64_t first = 0;
  for (int32_t i = 0; i < signature->num_inputs; ++i) {
    const rheos__arg *arg = &signature->inputs[i];
    int64_t count = 1;
    if (arg->number_attr >= 0) count = attrs->items[arg->number_attr].value.i;
    if (arg->type_list_attr >= 0) count = attrs->items[arg->type_list_attr].value.count;
    if (input < first + count) return arg;
    first += count;
  }
  assert(!"an input beyond the signature");
  return NULL;
}

static bool is_passed_on(const rheos__prepare *p, int32_t input) {
  return p->called_resources != NULL && input < p->num_outputs &&
         p->input_resources[input] != NULL &&
         p->called_resources[input] == p->input_resources[input];
}

rheos_status *rheos__check_handles(const rheos__entry *entry, const rheos__prepare *p) {
  if ((p->op->flags & RHEOS_OP_CALLS) != 0) return NULL;  // who is called takes what it wants
  for (int32_t i = 0; i < p->num_inputs; ++i) {
    if (p->input_dtypes[i] != RHEOS_RESOURCE || i == p->alias_input) continue;
    if (is_passed_on(p, i)) continue;
    // A handle of a step's array or stack is a tensor; of a variable and the like, nothing but a
    // cell.
    if ((p->op->flags & RHEOS_OP_TAKES_VARIANTS) != 0 && p->input_resources[i] == NULL) continue;
    if (rheos__arg_of_input(entry->signature, entry->attrs, i)->dtype == RHEOS_RESOURCE) continue;
    return rheos_status_new(RHEOS_UNIMPLEMENTED, "input %d of %s is a handle, not a value", (int)i,
                            p->op->name);
  }
  return NULL;
}
