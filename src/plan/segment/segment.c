// Specialisation: walks the entries in order with known shapes, folds what is constant, prepares a
// kernel for the rest, and stops at the first entry that needs a shape which has to be waited for.
#include "plan/segment/segment.h"

#include <assert.h>
#include <string.h>
#include <time.h>

#include "graph/calls.h"
#include "plan/segment/branches.h"
#include "plan/segment/copies.h"
#include "plan/entries/place.h"
#include "plan/segment/update_group.h"
#include "plan/segment/packed_operand.h"
#include "plan/segment/memory.h"
#include "plan/entries/prepare.h"
#include "plan/segment/row_chain.h"
#include "resource/variable_shape.h"

// A loop whose state grows goes through as many segments as it has trips, every time: as many as a
// decoder makes are kept while they are small, for planning costs more than a step of it.
enum { FEW_SIBLINGS = 16, MAX_SIBLINGS = 512, SIBLINGS_BYTES = 1 << 26, FOLDED_BYTES = 1 << 16 };

typedef struct specializer {
  rheos__plan *plan;
  rheos__segment *segment;
  rheos__step *step;
  const rheos__value **path;  // by value: where it is described, for the values known so far
  rheos__arena scratch;       // for one node at a time
  rheos__written written;
  const rheos__entry *asked;  // whose kernel is prepared
  bool has_device;            // an entry has said what the segment's device is
  size_t value_capacity, instruction_capacity, operand_capacity, input_value_capacity;
  size_t num_values, num_operands;
} specializer;

static const rheos__value *value_at(const specializer *z, int32_t value) {
  const rheos__segment *segment = z->segment;
  return value >= segment->first_value ? &segment->values[value - segment->first_value]
                                       : z->path[value];
}

static int32_t root_of(const specializer *z, int32_t value) { return value_at(z, value)->root; }

// A pointer to the shape that lives as long as the segment; neighbours mostly share one.
static const rheos_shape *keep_shape(specializer *z, const rheos_shape *shape,
                                     const rheos_shape *candidate) {
  static const rheos_shape scalar = {.rank = 0};
  if (shape->rank == 0) return &scalar;
  if (candidate != NULL && rheos_shape_equal(shape, candidate)) return candidate;
  return rheos__arena_copy(&z->segment->arena, shape, sizeof *shape);
}

static rheos_status *add_value(specializer *z, rheos_dtype dtype, rheos__value_kind kind,
                               const rheos_shape *shape, rheos__value **out_value) {
  rheos__segment *segment = z->segment;
  if (!RHEOS_RESERVE(segment->values, z->value_capacity, z->num_values + 1)) {
    return rheos__out_of_memory();
  }
  int32_t index = segment->first_value + (int32_t)z->num_values++;
  assert(index < z->plan->num_values);
  segment->num_values = (int32_t)z->num_values;
  rheos__value *value = &segment->values[index - segment->first_value];
  *value = (rheos__value){.shape = shape,
                          .root = index,
                          .last_instruction = -1,
                          .kind = (uint8_t)kind,
                          .dtype = (uint8_t)dtype};
  if (out_value != NULL) *out_value = value;
  return NULL;
}

// A new instruction for the entry, its operands filled in.
static rheos_status *add_instruction(specializer *z, int32_t entry_index,
                                     rheos__instruction_kind kind,
                                     rheos__instruction **out_instruction) {
  rheos__segment *segment = z->segment;
  const rheos__entry *entry = &z->plan->entries[entry_index];
  size_t num_operands = z->num_operands + (size_t)entry->num_inputs;
  if (!RHEOS_RESERVE(segment->instructions, z->instruction_capacity,
                     (size_t)segment->num_instructions + 1) ||
      !RHEOS_RESERVE(segment->operands, z->operand_capacity, num_operands) ||
      !RHEOS_RESERVE(segment->input_values, z->input_value_capacity, num_operands)) {
    return rheos__out_of_memory();
  }
  rheos__instruction *instruction = &segment->instructions[segment->num_instructions++];
  *instruction = (rheos__instruction){.kind = (uint8_t)kind,
                                      .entry = entry_index,
                                      .num_inputs = entry->num_inputs,
                                      .num_outputs = entry->num_outputs,
                                      .first_operand = (int32_t)z->num_operands,
                                      .first_value = entry->first_value,
                                      .reuse_input = -1,
                                      .num_units = 1,
                                      .cost_ns = (float)RHEOS__NS_OVERHEAD};
  for (int32_t i = 0; i < entry->num_inputs; ++i) {
    int32_t value = z->plan->operands[entry->first_operand + i];
    segment->input_values[z->num_operands] = value;
    segment->operands[z->num_operands++] = root_of(z, value);
  }
  *out_instruction = instruction;
  return NULL;
}

rheos_status *rheos__segment_add_release(rheos__segment *segment, void (*release)(void *),
                                         void *state) {
  if (release == NULL) return NULL;
  if (!RHEOS_RESERVE(segment->kernel_releases, segment->kernel_release_capacity,
                     segment->num_kernel_releases + 1)) {
    release(state);
    return rheos__out_of_memory();
  }
  segment->kernel_releases[segment->num_kernel_releases++] = (rheos__release){release, state};
  return NULL;
}

static bool has_flag(const rheos__entry *entry, unsigned flag) {
  return (entry->signature->op->flags & flag) != 0;
}

static rheos_status *placeholder_error(const rheos__plan *plan, int32_t id) {
  const rheos__node *node = rheos__plan_node(plan, id);
  char *name = rheos__inlined_name(plan->inlined, plan->graph, id);
  if (name == NULL) return rheos__out_of_memory();
  const char *dtype = rheos_dtype_name(node->outputs[0].dtype);
  const rheos_attr_value *shape = rheos__attrs_find(node->attrs, "shape");
  rheos_status *status;
  if (shape == NULL || shape->kind != RHEOS_ATTR_SHAPE || shape->shape->rank <= 0) {
    status = RHEOS_INVALID("You must feed a value for placeholder tensor '%s' with dtype %s", name,
                           dtype);
  } else {
    rheos__shape_text text;
    status = RHEOS_INVALID(
        "You must feed a value for placeholder tensor '%s' with dtype %s and "
        "shape %s",
        name, dtype, rheos__shape_text_of(shape->shape, &text));
  }
  rheos__free(name);
  return status;
}

static rheos_status *keep_constant(specializer *z, rheos_tensor *constant) {
  rheos__value *value = NULL;
  RHEOS_TRY(add_value(z, constant->dtype, RHEOS__VALUE_CONSTANT, &constant->shape, &value));
  value->constant = rheos_tensor_ref(constant);
  return NULL;
}

static rheos_status *add_constant_node(specializer *z, const rheos__entry *entry) {
  const rheos_attr_value *attr = rheos__attrs_find(entry->attrs, "value");
  if (attr == NULL || attr->kind != RHEOS_ATTR_TENSOR) return RHEOS_INVALID("a Const has no value");
  return keep_constant(z, attr->tensor);
}

static rheos_status *add_read(specializer *z, int32_t entry_index) {
  const rheos__entry *entry = &z->plan->entries[entry_index];
  const rheos__node *node = rheos__plan_node(z->plan, entry->id);
  const rheos__node_output *output = &node->outputs[entry->read_index];
  rheos__resource *cell = value_at(z, z->plan->operands[entry->first_operand])->resource;
  if (cell == NULL || cell->kind != &rheos__variable_kind) {
    return RHEOS_INVALID("%s does not give a variable to read", node->signature->op->name);
  }
  rheos__instruction *instruction = NULL;
  RHEOS_TRY(add_instruction(z, entry_index, RHEOS__READ, &instruction));
  instruction->state = cell;
  const bool is_known = rheos_shape_is_known(output->shape) &&
                        !rheos__variable_has_any_shape((const rheos__variable_cell *)cell);
  return add_value(z, rheos_dtype_base(output->dtype), RHEOS__VALUE_TENSOR,
                   is_known ? output->shape : NULL, NULL);
}

static rheos__memory *memory_of_feed(const rheos__plan *plan, int32_t feed) {
  const int32_t home = rheos__feed_home(plan, feed);
  return home == RHEOS__ANYWHERE ? NULL : plan->context.devices[home]->memory;
}

rheos__memory *rheos__memory_of_root(const rheos__segment *segment, int32_t root) {
  if (root < segment->plan->num_feeds) return memory_of_feed(segment->plan, root);
  while (root < segment->first_value) segment = segment->parent;
  return segment->device->memory;
}

// Where a value of the plan lies.
static rheos__memory *memory_of_value(const specializer *z, int32_t value) {
  const int32_t producer = rheos__plan_producer(z->plan, value);
  if (producer < 0) return memory_of_feed(z->plan, value);
  if (rheos__is_anywhere(&z->plan->entries[producer])) return NULL;
  return rheos__entry_device(z->plan, &z->plan->entries[producer])->memory;
}

static rheos_status *add_bring(specializer *z, int32_t entry_index) {
  const int32_t source = z->plan->operands[z->plan->entries[entry_index].first_operand];
  const rheos__value *value = value_at(z, source);
  if (value->kind == RHEOS__VALUE_CONSTANT) return keep_constant(z, value->constant);
  const rheos_dtype dtype = (rheos_dtype)value->dtype;
  const rheos_shape *shape = keep_shape(z, value->shape, NULL);
  if (shape == NULL) return rheos__out_of_memory();
  rheos__instruction *instruction = NULL;
  RHEOS_TRY(add_instruction(z, entry_index, RHEOS__BRING, &instruction));
  return add_value(z, dtype, RHEOS__VALUE_TENSOR, shape, NULL);
}

// A constant stays one: segments of other devices put theirs into their own memory.
static rheos_status *add_copy(specializer *z, int32_t entry_index) {
  const rheos__entry *entry = &z->plan->entries[entry_index];
  const int32_t source = z->plan->operands[entry->first_operand];
  const rheos_dtype dtype = (rheos_dtype)value_at(z, source)->dtype;
  const rheos_shape *shape = value_at(z, source)->shape;
  if (value_at(z, source)->kind == RHEOS__VALUE_CONSTANT) {
    return keep_constant(z, value_at(z, source)->constant);
  }
  rheos__copying *copying = rheos__arena_alloc_zeroed(&z->segment->arena, sizeof *copying);
  if (copying == NULL) return rheos__out_of_memory();
  int64_t count;
  RHEOS_TRY(rheos__shape_size(dtype, shape, &count, &copying->size_bytes));
  copying->from = memory_of_value(z, source);
  copying->to = rheos__entry_device(z->plan, entry)->memory;
  rheos__instruction *instruction = NULL;
  RHEOS_TRY(add_instruction(z, entry_index, RHEOS__COPY, &instruction));
  instruction->state = copying;
  instruction->bytes = (float)copying->size_bytes;
  instruction->cost_ns += (float)(2 * RHEOS__NS_PER_BYTE * (double)copying->size_bytes);
  z->segment->cost_ns += (double)instruction->cost_ns;
  const rheos_shape *kept = keep_shape(z, shape, NULL);
  if (kept == NULL) return rheos__out_of_memory();
  return add_value(z, dtype, RHEOS__VALUE_ARENA, kept, NULL);
}

// Fills in what is known of the inputs. `out_constant`: all of them are constants;
// `out_cells`: some are references or handles.
static void fill_inputs(const specializer *z, const rheos__entry *entry,
                        const rheos__prepare_arrays *arrays, bool *out_constant, bool *out_cells) {
  *out_constant = true;
  *out_cells = false;
  for (int32_t i = 0; i < entry->num_inputs; ++i) {
    const rheos__value *value = value_at(z, z->plan->operands[entry->first_operand + i]);
    arrays->input_dtypes[i] = (rheos_dtype)value->dtype;
    if (value->kind == RHEOS__VALUE_NONE) {
      arrays->input_resources[i] = value->resource;
      *out_cells = true;
      rheos__edge origin = z->plan->origins[z->plan->operands[entry->first_operand + i]];
      arrays->input_shapes[i] = *rheos__plan_node(z->plan, origin.id)->outputs[origin.index].shape;
      *out_constant = false;
      continue;
    }
    arrays->input_shapes[i] = *value->shape;
    const rheos__value *root = value_at(z, value->root);
    if (value == root && root->kind == RHEOS__VALUE_CONSTANT) {
      arrays->input_values[i] = root->constant;
    } else {
      *out_constant = false;
    }
  }
}

static bool is_on_host(const specializer *z) { return rheos__is_on_host(z->segment->device); }

static bool folds_constants(const rheos__plan *plan) {
  const rheos_rewrite_options *rewrites = &plan->context.rewrites;
  return !rewrites->disable_meta_optimizer && rewrites->constant_folding != RHEOS_TOGGLE_OFF;
}

static bool cpu_has_kernel(const rheos__plan *plan, const rheos__entry *entry) {
  return rheos__device_has_kernel(plan->context.devices[0], entry->signature->op, entry->attrs);
}

static bool worth_folding(const rheos__prepare *p) {
  size_t in_bytes = 0, out_bytes = 0;
  for (int32_t i = 0; i < p->num_inputs; ++i) {
    if (p->input_values[i] != NULL) in_bytes += p->input_values[i]->size_bytes;
  }
  if (!rheos__all_known(p->output_shapes, p->num_outputs)) return true;
  for (int32_t i = 0; i < p->num_outputs; ++i) {
    int64_t count = rheos_shape_num_elements(&p->output_shapes[i]);
    size_t bytes;
    if (p->output_dtypes[i] == RHEOS_VARIANT) return false;
    if (count < 0 ||
        !rheos__mul_size((size_t)count, rheos_dtype_size(p->output_dtypes[i]), &bytes) ||
        !rheos__add_size(out_bytes, bytes, &out_bytes)) {
      return false;
    }
  }
  return out_bytes <= FOLDED_BYTES || out_bytes <= in_bytes;
}

// Runs the node now; its outputs are constants.
static rheos_status *fold(specializer *z, const rheos__entry *entry, const rheos__prepare *p) {
  size_t num_in = (size_t)p->num_inputs;
  rheos_tensor **inputs = rheos__arena_alloc_zeroed(&z->scratch, (num_in + 1) * sizeof *inputs);
  rheos_tensor *views = rheos__arena_alloc(&z->scratch, (num_in + 1) * sizeof *views);
  rheos_tensor **outputs =
      rheos__arena_alloc_zeroed(&z->scratch, (size_t)p->num_outputs * sizeof *outputs);
  if (inputs == NULL || views == NULL || outputs == NULL) return rheos__out_of_memory();
  for (int32_t i = 0; i < p->num_inputs; ++i) {
    inputs[i] = p->input_values[i];
    if (inputs[i] != NULL) continue;
    rheos__tensor_init_view(&views[i], p->input_dtypes[i], &p->input_shapes[i], NULL);
    inputs[i] = &views[i];
  }
  RHEOS_TRY(rheos__run_node(z->plan, entry, inputs, NULL, z->step, outputs));
  rheos_status *status = NULL;
  for (int32_t i = 0; i < p->num_outputs; ++i) {
    rheos__value *value = NULL;
    if (status == NULL) {
      status = add_value(z, p->output_dtypes[i], RHEOS__VALUE_CONSTANT, &outputs[i]->shape, &value);
    }
    if (status == NULL) {
      value->constant = outputs[i];
    } else {
      rheos_tensor_unref(outputs[i]);
    }
  }
  return status;
}

static double bytes_of(const rheos__prepare *p) {
  double bytes = (double)p->bytes;
  if (p->bytes == 0) {
    for (int32_t i = 0; i < p->num_inputs + p->num_outputs; ++i) {
      const rheos_shape *shape =
          i < p->num_inputs ? &p->input_shapes[i] : &p->output_shapes[i - p->num_inputs];
      rheos_dtype dtype =
          i < p->num_inputs ? p->input_dtypes[i] : p->output_dtypes[i - p->num_inputs];
      int64_t count = rheos_shape_num_elements(shape);
      if (count > 0) bytes += (double)count * (double)rheos_dtype_size(dtype);
    }
  }
  return bytes;
}

static double cost_of(const rheos__prepare *p, double bytes) {
  return RHEOS__NS_OVERHEAD + RHEOS__NS_PER_BYTE * bytes + RHEOS__NS_PER_FLOP * (double)p->flops;
}

static rheos_status *add_outputs(specializer *z, const rheos__entry *entry, const rheos__prepare *p,
                                 rheos__value_kind kind) {
  const uint8_t *dtypes = z->plan->dtypes + entry->first_value;
  const rheos_shape *candidate = NULL;
  if (p->num_inputs > 0) {
    candidate = value_at(z, z->plan->operands[entry->first_operand])->shape;
  }
  for (int32_t i = 0; i < p->num_outputs; ++i) {
    rheos__value *value = NULL;
    rheos__resource *cell = rheos__prepared_cell(p, i);
    if (rheos_dtype_is_ref((rheos_dtype)dtypes[i]) || cell != NULL) {
      RHEOS_TRY(add_value(z, p->output_dtypes[i], RHEOS__VALUE_NONE, NULL, &value));
      value->resource = cell;
      continue;
    }
    const rheos_shape *shape = NULL;
    if (rheos_shape_is_known(&p->output_shapes[i])) {
      shape = keep_shape(z, &p->output_shapes[i], candidate);
      if (shape == NULL) return rheos__out_of_memory();
      candidate = shape;
    }
    RHEOS_TRY(add_value(z, p->output_dtypes[i], kind, shape, NULL));
  }
  return NULL;
}

// Output 0 is another value's bytes.
static rheos_status *add_alias(specializer *z, const rheos__entry *entry, const rheos__prepare *p) {
  assert(p->alias_input >= 0 && p->alias_input < p->num_inputs && p->num_outputs == 1);
  int32_t of = z->plan->operands[entry->first_operand + p->alias_input];
  int32_t root = root_of(z, of);
  const rheos__value *root_value = value_at(z, root);
  if (root_value->kind == RHEOS__VALUE_CONSTANT) {  // keeps the value known to what follows
    rheos_tensor *constant = NULL;
    RHEOS_TRY(rheos__tensor_seen_as(root_value->constant, p->output_dtypes[0], p->output_shapes[0],
                                    &constant));
    rheos__value *value = NULL;
    rheos_status *status =
        add_value(z, p->output_dtypes[0], RHEOS__VALUE_CONSTANT, &constant->shape, &value);
    if (status != NULL) {
      rheos_tensor_unref(constant);
      return status;
    }
    value->constant = constant;
    return NULL;
  }
  const rheos_shape *shape = keep_shape(z, &p->output_shapes[0], value_at(z, of)->shape);
  if (shape == NULL) return rheos__out_of_memory();
  rheos__value *value = NULL;
  RHEOS_TRY(
      add_value(z, p->output_dtypes[0], (rheos__value_kind)value_at(z, root)->kind, shape, &value));
  value->root = root;
  value->resource = value_at(z, root)->resource;
  return NULL;
}

static rheos_status *add_kernel(specializer *z, int32_t entry_index, const rheos__prepare *p) {
  const rheos__entry *entry = &z->plan->entries[entry_index];
  if (p->alias_input >= 0) return add_alias(z, entry, p);
  rheos__instruction *instruction = NULL;
  RHEOS_TRY(add_instruction(z, entry_index, p->compute != NULL ? RHEOS__COMPUTE : RHEOS__RUN,
                            &instruction));
  if (p->compute != NULL) {
    instruction->compute = p->compute;
    instruction->grouped = p->grouped;
  } else {
    instruction->run = p->run;
    instruction->unit_elements = p->unit_elements;
  }
  instruction->state = p->state;
  instruction->num_units = p->num_units > 1 ? p->num_units : 1;
  instruction->scratch_bytes = p->scratch_bytes;
  instruction->reuse_input = p->reuse_input;
  const double bytes = bytes_of(p);
  instruction->cost_ns = (float)cost_of(p, bytes);
  instruction->flops = (float)p->flops;
  instruction->bytes = (float)bytes;
  instruction->parallel =
      instruction->num_units > 1 && is_on_host(z) && instruction->cost_ns > RHEOS__PARALLEL_NS;
  z->segment->cost_ns += instruction->cost_ns;
  return add_outputs(z, entry, p, p->compute != NULL ? RHEOS__VALUE_TENSOR : RHEOS__VALUE_ARENA);
}

static rheos_status *add_dynamic(specializer *z, int32_t entry_index, const rheos__prepare *p) {
  rheos__instruction *instruction = NULL;
  RHEOS_TRY(add_instruction(z, entry_index, RHEOS__DYNAMIC, &instruction));
  instruction->cost_ns = 1000;
  return add_outputs(z, &z->plan->entries[entry_index], p, RHEOS__VALUE_TENSOR);
}

static bool stays(void *argument, int32_t input) {
  specializer *z = argument;
  const int32_t root = root_of(z, z->plan->operands[z->asked->first_operand + input]);
  return rheos__operand_stays(z->segment, &z->written, root);
}

static bool has_nothing_to_run(const rheos__prepare *p) {
  // A variable or handle.
  return p->output_resource != NULL && p->num_inputs == 0 && p->compute == NULL;
}

// Whether an Assert comes before what does not fit: what the program says of its input tells more
// than the shapes, so the step runs up to there.
static bool program_checks_first(const specializer *z, const rheos_status *status) {
  if (rheos_status_code(status) != RHEOS_INVALID_ARGUMENT) return false;
  for (const rheos__segment *at = z->segment; at != NULL; at = at->parent) {
    for (int32_t i = 0; i < at->num_instructions; ++i) {
      const rheos__entry *entry = &z->plan->entries[at->instructions[i].entry];
      const bool inside =
          entry->structure != NULL && (entry->structure->effects & RHEOS_OP_ASSERTS) != 0;
      if (inside || has_flag(entry, RHEOS_OP_ASSERTS)) return true;
    }
  }
  return false;
}

// Shapes that only the graph knows, such as those of what a stack was given elsewhere.
static void take_shapes_of_graph(const specializer *z, const rheos__entry *entry,
                                 rheos_shape *shapes) {
  const rheos__node *node = rheos__plan_node(z->plan, entry->id);
  for (int32_t i = 0; i < entry->num_outputs; ++i) {
    const rheos_shape *told = node->outputs[i].shape;
    if (!rheos_shape_is_known(&shapes[i]) && rheos_shape_is_known(told)) shapes[i] = *told;
  }
}

static rheos_status *add_node(specializer *z, int32_t entry_index) {
  const rheos__entry *entry = &z->plan->entries[entry_index];
  const rheos__op_def *op = entry->signature->op;
  if (has_flag(entry, RHEOS_OP_CONSTANT)) return add_constant_node(z, entry);
  if (has_flag(entry, RHEOS_OP_PLACEHOLDER)) {
    return placeholder_error(z->plan, entry->id);
  }
  bool is_pure = (op->flags & (RHEOS_OP_STATEFUL | RHEOS_OP_WRITES)) == 0;
  if (rheos__is_nothing(entry)) return NULL;
  rheos__prepare p;
  rheos__prepare_arrays arrays;
  const bool wants_kernel = !rheos__is_anywhere(entry) && !rheos__reads_variable(entry);
  const rheos__device *device = wants_kernel ? z->segment->device : z->plan->context.devices[0];
  RHEOS_TRY(rheos__prepare_init(&p, z->plan, entry, device, &z->scratch, &arrays));
  p.memory = z->segment->device->memory;
  bool constant, cells;
  fill_inputs(z, entry, &arrays, &constant, &cells);
  rheos_status *status = rheos__prepare_shapes(&p, arrays.output_shapes);
  if (status != NULL && is_pure && !cells && program_checks_first(z, status)) {
    rheos_status_free(status);
    for (int32_t i = 0; i < entry->num_outputs; ++i) arrays.output_shapes[i] = RHEOS_UNKNOWN_SHAPE;
    return add_dynamic(z, entry_index, &p);
  }
  RHEOS_TRY(status);
  if (has_flag(entry, RHEOS_OP_SHAPES_OF_GRAPH))
    take_shapes_of_graph(z, entry, arrays.output_shapes);
  bool from_shapes = (op->flags & RHEOS_OP_READS_SHAPES) != 0;
  const bool calls = (op->flags & RHEOS_OP_CALLS) != 0;
  bool foldable = from_shapes || (constant && folds_constants(z->plan));
  // Folding is done on the CPU.
  if (z->plan->is_mixed && !cpu_has_kernel(z->plan, entry)) foldable = false;
  if (is_pure && !calls && !cells && foldable && worth_folding(&p)) {
    return fold(z, entry, &p);
  }
  bool any_plain_unknown = false;
  for (int32_t i = 0; i < entry->num_outputs; ++i) {
    const rheos_dtype dtype = (rheos_dtype)z->plan->dtypes[entry->first_value + i];
    if (!rheos_dtype_is_ref(dtype) && dtype != RHEOS_RESOURCE &&
        !rheos_shape_is_known(&p.output_shapes[i])) {
      any_plain_unknown = true;
    }
  }
  if (any_plain_unknown && !calls) return add_dynamic(z, entry_index, &p);
  p.arena = &z->segment->arena;
  z->asked = entry;
  p.stays = z->plan->context.packings != NULL && is_on_host(z) ? stays : NULL;
  p.stays_argument = z;
  p.step = z->step;
  p.is_finished = true;
  status = rheos__prepare_kernel(&p);
  if (rheos_status_code(status) == RHEOS_UNIMPLEMENTED && wants_kernel && !is_on_host(z) &&
      is_pure && !cells) {  // the CPU runs it, on copies
    rheos_status_free(status);
    return add_dynamic(z, entry_index, &p);
  }
  RHEOS_TRY(status);
  RHEOS_TRY(rheos__segment_add_release(z->segment, p.release, p.state));
  RHEOS_TRY(rheos__check_handles(entry, &p));
  if (p.called_shapes != NULL) p.output_shapes = p.called_shapes;
  if (has_nothing_to_run(&p)) return add_outputs(z, entry, &p, RHEOS__VALUE_NONE);
  RHEOS_TRY(add_kernel(z, entry_index, &p));
  return p.packing.bytes > 0 ? rheos__pack_operand(z->segment, &p.packing) : NULL;
}

// What is given away is the step's own tensor, as if an instruction had returned it.
static rheos_status *add_feed(specializer *z, int32_t feed) {
  const rheos__segment *segment = z->segment;
  const rheos__edge edge = z->plan->feeds[feed];
  const rheos_dtype dtype =
      rheos_dtype_base(rheos__plan_node(z->plan, edge.id)->outputs[edge.index].dtype);
  rheos__value *value = NULL;
  if (segment->key_cells != NULL && segment->key_cells[feed] != NULL) {
    RHEOS_TRY(add_value(z, dtype, RHEOS__VALUE_NONE, NULL, &value));
    value->resource = segment->key_cells[feed];
    return NULL;
  }
  const bool given = segment->key_given != NULL && segment->key_given[feed];
  RHEOS_TRY(add_value(z, dtype, given ? RHEOS__VALUE_TENSOR : RHEOS__VALUE_FEED,
                      &segment->key[feed], &value));
  value->given = given;
  return NULL;
}

static rheos_status *add_feeds(specializer *z) {
  for (int32_t i = 0; i < z->plan->num_feeds; ++i) RHEOS_TRY(add_feed(z, i));
  return NULL;
}

// Most plans are one segment, so the first one takes room for all at once.
static bool reserve(specializer *z) {
  rheos__segment *segment = z->segment;
  if (segment->parent != NULL) return true;
  return RHEOS_RESERVE(segment->values, z->value_capacity, (size_t)z->plan->num_values) &&
         RHEOS_RESERVE(segment->instructions, z->instruction_capacity,
                       (size_t)z->plan->num_entries);
}

// Whether an input's shape is one that a run has to tell.
static bool waits_for_shape(const specializer *z, int32_t entry_index) {
  const rheos__entry *entry = &z->plan->entries[entry_index];
  if (entry->kind == RHEOS__ENTRY_WATCH) return false;
  for (int32_t i = 0; i < entry->num_inputs; ++i) {
    const rheos__value *value = value_at(z, z->plan->operands[entry->first_operand + i]);
    if (value->kind != RHEOS__VALUE_NONE && value->shape == NULL) return true;
  }
  return false;
}

rheos_status *rheos__segment_add_section(rheos__segment *segment, const rheos__section *section) {
  assert(section->first >= 0 && section->first < section->end);
  assert(section->end <= segment->num_instructions);
  if (!RHEOS_RESERVE(segment->sections, segment->section_capacity,
                     (size_t)segment->num_sections + 1)) {
    return rheos__out_of_memory();
  }
  int32_t at = segment->num_sections++;
  for (; at > 0 && segment->sections[at - 1].first > section->first; --at) {
    segment->sections[at] = segment->sections[at - 1];
  }
  segment->sections[at] = *section;
  assert(at == 0 || segment->sections[at - 1].end <= section->first);
  assert(at + 1 == segment->num_sections || section->end <= segment->sections[at + 1].first);
  return NULL;
}

// Whether the entry runs on a device of another memory than the segment's; the first one that is
// bound to a device says which that is.
static bool leaves_device(specializer *z, int32_t entry_index) {
  const rheos__entry *entry = &z->plan->entries[entry_index];
  if (rheos__is_anywhere(entry)) return false;
  const rheos__device *device = rheos__entry_device(z->plan, entry);
  if (z->has_device) return !rheos__share_memory(z->segment->device, device);
  z->has_device = true;
  if (!rheos__is_on_host(device)) z->segment->device = device;
  return false;
}

static rheos_status *add_watch(specializer *z, int32_t entry_index) {
  rheos__instruction *instruction = NULL;
  return add_instruction(z, entry_index, RHEOS__WATCH, &instruction);
}

static rheos_status *add_entry(specializer *z, int32_t entry_index) {
  switch ((rheos__entry_kind)z->plan->entries[entry_index].kind) {
    case RHEOS__ENTRY_READ: return add_read(z, entry_index);
    case RHEOS__ENTRY_COPY: return add_copy(z, entry_index);
    case RHEOS__ENTRY_BRING: return add_bring(z, entry_index);
    case RHEOS__ENTRY_WATCH: return add_watch(z, entry_index);
    case RHEOS__ENTRY_NODE:
    case RHEOS__ENTRY_DROPPED: break;
  }
  return add_node(z, entry_index);
}

// What comes without a shape and is asked for later.
static rheos_status *list_dynamic_values(rheos__segment *segment) {
  size_t capacity = 0;
  for (int32_t i = 0; i < segment->num_values; ++i) {
    const rheos__value *value = &segment->values[i];
    if (value->kind == RHEOS__VALUE_NONE || value->shape != NULL || !value->escapes) continue;
    if (!RHEOS_RESERVE(segment->dynamic_values, capacity,
                       (size_t)segment->num_dynamic_values + 1)) {
      return rheos__out_of_memory();
    }
    segment->dynamic_values[segment->num_dynamic_values++] = segment->first_value + i;
  }
  return NULL;
}

// Gives each input that is taken as a tensor its place in the bindings.
static void number_tensor_arguments(rheos__segment *segment) {
  for (int32_t i = 0; i < segment->num_instructions; ++i) {
    rheos__instruction *in = &segment->instructions[i];
    if (!rheos__takes_tensors(in)) continue;
    in->first_argument = segment->num_tensor_arguments;
    segment->num_tensor_arguments += in->num_inputs;
  }
}

static rheos_status *specialize(specializer *z) {
  rheos__segment *segment = z->segment;
  rheos__plan *plan = z->plan;
  if (!reserve(z)) return rheos__out_of_memory();
  if (segment->parent == NULL) RHEOS_TRY(add_feeds(z));
  int32_t entry = segment->first_entry;
  for (; entry < plan->num_entries && !waits_for_shape(z, entry); ++entry) {
    if (plan->is_mixed && leaves_device(z, entry)) break;
    rheos_status *status = add_entry(z, entry);
    if (status != NULL) {
      return rheos__plan_status_at_take(status, plan, plan->entries[entry].id);
    }
    rheos__arena_reset(&z->scratch);
  }
  assert(segment->first_value + segment->num_values ==
         (entry < plan->num_entries ? plan->entries[entry].first_value : plan->num_values));
  segment->end_entry = entry;
  rheos__segment_check(segment);
  const rheos__device *device = segment->device;
  if (device->kind->finish != NULL) RHEOS_TRY(device->kind->finish(device, segment));
  rheos__segment_check(segment);
  if (is_on_host(z)) RHEOS_TRY(rheos__find_branches(segment, plan->context.num_threads));
  rheos__segment_check(segment);
  RHEOS_TRY(rheos__place_memory(segment));
  rheos__segment_check_memory(segment);
  if (is_on_host(z)) {
    RHEOS_TRY(rheos__find_row_chains(segment));
    RHEOS_TRY(rheos__find_update_groups(segment));
  } else {
    RHEOS_TRY(rheos__place_constants(segment));
  }
  rheos__place_packed_operands(segment);
  number_tensor_arguments(segment);
  rheos__segment_check(segment);
  rheos__segment_check_memory(segment);
  return list_dynamic_values(segment);
}

// The parent's dynamic values with the shapes of this key; the parent's own record stays unknown,
// as its other children have other shapes.
static rheos_status *refine(specializer *z, const rheos__segment *parent) {
  rheos__segment *segment = z->segment;
  assert(parent->num_dynamic_values == segment->num_key);
  if (parent->num_dynamic_values == 0) return NULL;
  const int32_t first = parent->dynamic_values[0];
  assert(first >= parent->first_value && first < segment->first_value);
  segment->num_refined = segment->first_value - first;
  segment->refined =
      rheos__arena_copy(&segment->arena, &parent->values[first - parent->first_value],
                        (size_t)segment->num_refined * sizeof *segment->refined);
  if (segment->refined == NULL) return rheos__out_of_memory();
  for (int32_t i = 0; i < parent->num_dynamic_values; ++i) {
    segment->refined[parent->dynamic_values[i] - first].shape = &segment->key[i];
  }
  return NULL;
}

// Where the values of the parents are described. Each segment refines its parent's dynamic values.
static rheos_status *trace_path(specializer *z) {
  z->path = rheos__alloc_array((size_t)z->plan->num_values, sizeof *z->path);
  if (z->path == NULL) return rheos__out_of_memory();
  for (const rheos__segment *at = z->segment->parent; at != NULL; at = at->parent) {
    for (int32_t i = 0; i < at->num_values; ++i) z->path[at->first_value + i] = &at->values[i];
  }
  RHEOS_TRY(refine(z, z->segment->parent));
  for (const rheos__segment *at = z->segment; at->parent != NULL; at = at->parent) {
    const int32_t first = at->first_value - at->num_refined;
    for (int32_t i = 0; i < at->num_refined; ++i) z->path[first + i] = &at->refined[i];
  }
  return NULL;
}

static void segment_free(rheos__segment *segment) {
  for (int32_t i = 0; i < segment->num_values; ++i) {
    if (segment->values[i].kind == RHEOS__VALUE_CONSTANT) {
      rheos_tensor_unref(segment->values[i].constant);
    }
  }
  // The last one first: drivers of OpenCL have their kernels in lists that begin with the newest.
  for (size_t i = segment->num_kernel_releases; i-- > 0;) {
    segment->kernel_releases[i].release(segment->kernel_releases[i].state);
  }
  rheos__packed_operands_deinit(segment);
  for (int32_t i = 0; segment->key_cells != NULL && i < segment->num_key; ++i) {
    if (segment->key_cells[i] != NULL) rheos__resource_forget(segment->key_cells[i]);
  }
  rheos__placed_constants_deinit(segment);
  rheos__arena_deinit(&segment->arena);
  rheos__free(segment->kernel_releases);
  rheos__free(segment->key);
  rheos__free(segment->dynamic_values);
  rheos__free(segment->values);
  rheos__free(segment->instructions);
  rheos__free(segment->operands);
  rheos__free(segment->input_values);
  rheos__free(segment->releases);
  rheos__free(segment->heap_values);
  rheos__free(segment->sections);
  rheos__free(segment->tensor_values);
  rheos__free(segment);
}

// Depth is bounded by the number of values whose shapes have to be waited for, so no recursion:
// children are spliced in front of what is left to free.
void rheos__segments_free(rheos__segment *segments) {
  while (segments != NULL) {
    rheos__segment *segment = segments;
    segments = segment->next;
    if (segment->children != NULL) {
      rheos__segment *last = segment->children;
      while (last->next != NULL) last = last->next;
      last->next = segments;
      segments = segment->children;
    }
    segment_free(segment);
  }
}

// From which value on the segment has descriptions: from the first of its parent's dynamic values
// on, whose shapes it knows.
static int32_t describes_from(const rheos__segment *segment) {
  return segment->first_value - segment->num_refined;
}

const rheos__value *rheos__find_value(const rheos__segment *segment, int32_t value) {
  if (value >= segment->first_value) return &segment->values[value - segment->first_value];
  while (value < describes_from(segment)) {
    const bool is_far = value < describes_from(segment->far_parent);
    segment = is_far ? segment->far_parent : segment->parent;
  }
  if (value >= segment->first_value) return &segment->values[value - segment->first_value];
  return &segment->refined[value - describes_from(segment)];
}

static rheos__segment **siblings(rheos__plan *plan, rheos__segment *parent) {
  return parent != NULL ? &parent->children : &plan->roots;
}

rheos__segment *rheos__segment_find(rheos__plan *plan, rheos__segment *parent,
                                    const rheos__key *key) {
  rheos__segment **first = siblings(plan, parent);
  if (*first != NULL && rheos__segment_is_for(*first, key)) return *first;
  for (rheos__segment **link = first; *link != NULL; link = &(*link)->next) {
    rheos__segment *found = *link;
    if (!rheos__segment_is_for(found, key)) continue;
    *link = found->next;
    found->next = *first;
    *first = found;
    return found;
  }
  return NULL;
}

bool rheos__segment_is_of_the_gone(const rheos__segment *segment) {
  for (int32_t i = 0; segment->key_cells != NULL && i < segment->num_key; ++i) {
    const rheos__resource *cell = segment->key_cells[i];
    if (cell != NULL && rheos__resource_is_gone(cell)) return true;
  }
  return false;
}

// Frees those that no step is in and no step can come to.
static void free_the_gone(rheos__segment **link) {
  while (*link != NULL) {
    rheos__segment *segment = *link;
    if (segment->num_running == 0 && rheos__segment_is_of_the_gone(segment)) {
      *link = segment->next;
      segment->next = NULL;
      rheos__segments_free(segment);
    } else {
      link = &segment->next;
    }
  }
}

// Makes room among the siblings: frees the least recently used one that no step is in.
static void evict(rheos__segment **first) {
  free_the_gone(first);
  int32_t count = 0;
  size_t bytes = 0;
  rheos__segment **oldest = NULL;
  for (rheos__segment **link = first; *link != NULL; link = &(*link)->next, ++count) {
    if ((*link)->num_running == 0) oldest = link;  // latest first, so the last is the oldest
    bytes += (*link)->arena.total_bytes;
  }
  const bool is_crowded = count >= FEW_SIBLINGS && bytes >= SIBLINGS_BYTES;
  if (oldest == NULL || (count < MAX_SIBLINGS && !is_crowded)) return;
  rheos__segment *segment = *oldest;
  assert(segment->num_running == 0);
  *oldest = segment->next;
  segment->next = NULL;
  rheos__segments_free(segment);
}

// Keeps the key: the cells with references, so that no other cell comes to lie where one was.
static rheos_status *keep_key(rheos__segment *segment, const rheos__key *key) {
  const size_t count = (size_t)key->count;
  segment->key = rheos__alloc_array(count, sizeof *segment->key);
  if (segment->key == NULL) return rheos__out_of_memory();
  for (int32_t i = 0; i < key->count; ++i) segment->key[i] = *rheos__key_shape(key, i);
  segment->num_key = key->count;
  if (key->given != NULL) {
    segment->key_given = rheos__arena_copy(&segment->arena, key->given, count * sizeof *key->given);
    if (segment->key_given == NULL) return rheos__out_of_memory();
  }
  if (key->cells == NULL) return NULL;
  segment->key_cells = rheos__arena_copy(&segment->arena, key->cells, count * sizeof *key->cells);
  if (segment->key_cells == NULL) return rheos__out_of_memory();
  for (size_t i = 0; i < count; ++i) {
    if (key->cells[i] != NULL) rheos__resource_remember(key->cells[i]);
  }
  return NULL;
}

rheos_status *rheos__segment_new(rheos__plan *plan, rheos__segment *parent,
                                 const rheos_shape *shapes, int32_t num_shapes, rheos__step *step,
                                 rheos__segment **out_segment) {
  const rheos__key key = {.shapes = shapes, .count = num_shapes};
  return rheos__segment_new_for(plan, parent, &key, step, out_segment);
}

rheos_status *rheos__segment_new_for(rheos__plan *plan, rheos__segment *parent,
                                     const rheos__key *key, rheos__step *step,
                                     rheos__segment **out_segment) {
  *out_segment = NULL;
  rheos__segment *segment = rheos__alloc_zeroed(sizeof *segment);
  if (segment == NULL) return rheos__out_of_memory();
  rheos__arena_init(&segment->arena);
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  segment->made_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
  segment->plan = plan;
  segment->device = plan->context.devices[0];
  segment->parent = parent;
  segment->far_parent = segment;
  if (parent != NULL) {
    // Twice as far as the parent's where that went as far as the next: logarithmic ways for all.
    rheos__segment *far = parent->far_parent;
    const bool is_even = parent->depth - far->depth == far->depth - far->far_parent->depth;
    segment->far_parent = is_even ? far->far_parent : parent;
    segment->depth = parent->depth + 1;
    segment->first_entry = parent->end_entry;
    segment->first_value = parent->first_value + parent->num_values;
  }
  specializer z = {.plan = plan, .segment = segment, .step = step, .written = {.plan = plan}};
  rheos__arena_init(&z.scratch);
  rheos_status *status = keep_key(segment, key);
  if (status == NULL && parent != NULL) status = trace_path(&z);
  rheos__graph_begin_reading(plan->graph);
  if (status == NULL) status = specialize(&z);
  rheos__graph_end_reading(plan->graph);
  rheos__arena_deinit(&z.scratch);
  rheos__written_deinit(&z.written);
  rheos__free(z.path);
  if (status != NULL) {
    segment_free(segment);
    return status;
  }
  *out_segment = segment;
  return NULL;
}

void rheos__segment_link(rheos__plan *plan, rheos__segment *segment) {
  rheos__segment **first = siblings(plan, segment->parent);
  evict(first);
  assert(segment->plan == plan && segment->serial == 0 && segment->next == NULL);
  segment->serial = ++plan->num_specializations;
  segment->next = *first;
  *first = segment;
}
