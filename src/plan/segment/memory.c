// Offsets from lifetimes: walks the instructions in their order, takes a place for each output and
// gives it back after the last use.
#include "plan/segment/memory.h"

#include <assert.h>
#include <string.h>

#include "base/offset_allocator.h"

typedef struct placer {
  rheos__segment *segment;
  rheos__offset_allocator space;
  int32_t *places;                // by value: its place in the space
  const rheos__section *section;  // of branches: the one under way or next, NULL: none
  int32_t *held;                  // places that it frees, until it is over
  size_t num_held, held_capacity;
  size_t num_releases, release_capacity, num_heap, heap_capacity, num_tensors, tensor_capacity;
} placer;

static int32_t *place_of(placer *p, const rheos__value *value) {
  return &p->places[value - p->segment->values];
}

// NULL for values of other segments.
static rheos__value *own_value(const rheos__segment *segment, int32_t value) {
  if (value < segment->first_value || value >= segment->first_value + segment->num_values) {
    return NULL;
  }
  return &segment->values[value - segment->first_value];
}

static rheos_status *size_of(const rheos__value *value, size_t *out_bytes) {
  int64_t count;
  return rheos__shape_size((rheos_dtype)value->dtype, value->shape, &count, out_bytes);
}

static void find_last_uses(rheos__segment *segment) {
  for (int32_t i = 0; i < segment->num_instructions; ++i) {
    const rheos__instruction *in = &segment->instructions[i];
    for (int32_t k = 0; k < in->num_inputs; ++k) {
      rheos__value *value = own_value(segment, segment->operands[in->first_operand + k]);
      if (value != NULL) value->last_instruction = i;
    }
    for (int32_t k = 0; k < in->num_outputs; ++k) {
      own_value(segment, in->first_value + k)->last_instruction = i;
    }
  }
}

void rheos__find_escapes(rheos__segment *segment) {
  for (int32_t i = 0; i < segment->num_values; ++i) {
    int32_t last_use = segment->plan->last_uses[segment->first_value + i];
    rheos__value *root = own_value(segment, segment->values[i].root);
    if (root == NULL || last_use < segment->end_entry) continue;
    root->escapes = true;
    if (last_use == INT32_MAX) root->fetched = true;
  }
}

// Whether output 0 of the instruction may lie where its input `reuse_input` lies.
static rheos__value *reusable_input(const rheos__segment *segment, int32_t index, size_t bytes) {
  const rheos__instruction *in = &segment->instructions[index];
  if (in->reuse_input < 0) return NULL;
  assert(in->reuse_input < in->num_inputs && in->num_outputs > 0);
  int32_t root = segment->operands[in->first_operand + in->reuse_input];
  rheos__value *value = own_value(segment, root);
  if (value == NULL || value->kind != RHEOS__VALUE_ARENA || value->escapes ||
      value->last_instruction != index) {
    return NULL;
  }
  if (in->branch > 0 && !value->in_branch) return NULL;  // another thread may still read it
  for (int32_t k = 0; k < in->num_inputs; ++k) {         // read elsewhere by the same instruction
    if (k != in->reuse_input && segment->operands[in->first_operand + k] == root) return NULL;
  }
  size_t value_bytes;
  rheos_status *status = size_of(value, &value_bytes);
  if (status != NULL) {
    rheos_status_free(status);
    return NULL;
  }
  return value_bytes == bytes ? value : NULL;
}

static bool append(int32_t **items, size_t *count, size_t *capacity, int32_t item) {
  if (!RHEOS_RESERVE(*items, *capacity, *count + 1)) return false;
  (*items)[(*count)++] = item;
  return true;
}

static bool in_section(const placer *p, int32_t index) {
  return p->section != NULL && index >= p->section->first && index < p->section->end;
}

// Gives a place back, in a section when that is over: what comes later may be running already.
static rheos_status *give(placer *p, int32_t index, int32_t place) {
  if (!in_section(p, index)) {
    rheos__offset_allocator_give(&p->space, place);
    return NULL;
  }
  return append(&p->held, &p->num_held, &p->held_capacity, place) ? NULL : rheos__out_of_memory();
}

// Scratch space of its own for each branch.
static rheos_status *begin_section(placer *p) {
  const rheos__section *section = p->section;
  assert(section->kind == RHEOS__SECTION_BRANCHES && p->num_held == 0);  // the others come later
  for (int32_t b = 0; b < section->branches.num_branches; ++b) {
    size_t most = 0, offset = 0;
    for (int32_t k = section->branches.starts[b]; k < section->branches.starts[b + 1]; ++k) {
      const size_t bytes = p->segment->instructions[section->branches.members[k]].scratch_bytes;
      if (bytes > most) most = bytes;
    }
    if (most == 0) continue;
    int32_t place;
    if (!rheos__offset_allocator_take(&p->space, most, &offset, &place))
      return rheos__out_of_memory();
    for (int32_t k = section->branches.starts[b]; k < section->branches.starts[b + 1]; ++k) {
      p->segment->instructions[section->branches.members[k]].scratch_offset = offset;
    }
    RHEOS_TRY(give(p, section->first, place));
  }
  return NULL;
}

static void end_section(placer *p) {
  for (size_t i = 0; i < p->num_held; ++i) rheos__offset_allocator_give(&p->space, p->held[i]);
  p->num_held = 0;
  const rheos__segment *segment = p->segment;
  if (++p->section == segment->sections + segment->num_sections) p->section = NULL;
}

// The given feed, one more than its value, whose bytes output 0 may take over; 0: none. Such an
// output is fetched: other values have no need of a tensor.
static int32_t given_input(const rheos__segment *segment, int32_t index, size_t bytes) {
  const rheos__instruction *in = &segment->instructions[index];
  if (in->reuse_input < 0 || in->branch > 0) return 0;
  const int32_t root = segment->operands[in->first_operand + in->reuse_input];
  const rheos__value *value = own_value(segment, root);
  if (value == NULL || !value->given || value->escapes || value->last_instruction != index) {
    return 0;
  }
  for (int32_t k = 0; k < in->num_inputs; ++k) {
    if (k != in->reuse_input && segment->operands[in->first_operand + k] == root) return 0;
  }
  size_t value_bytes = 0;
  rheos_status *status = size_of(value, &value_bytes);
  const bool fits = status == NULL && value_bytes == bytes;
  rheos_status_free(status);
  return fits ? root + 1 : 0;
}

static rheos_status *place_outputs(placer *p, int32_t index) {
  rheos__segment *segment = p->segment;
  rheos__instruction *in = &segment->instructions[index];
  for (int32_t k = 0; k < in->num_outputs; ++k) {
    rheos__value *value = own_value(segment, in->first_value + k);
    if (value->kind == RHEOS__VALUE_TENSOR ||
        (value->kind == RHEOS__VALUE_ARENA && value->fetched)) {
      if (!append(&segment->tensor_values, &p->num_tensors, &p->tensor_capacity,
                  in->first_value + k)) {
        return rheos__out_of_memory();
      }
    }
    if (value->kind != RHEOS__VALUE_ARENA) continue;
    size_t bytes;
    RHEOS_TRY(size_of(value, &bytes));
    if (value->fetched) {
      value->kind = RHEOS__VALUE_HEAP;
      value->over = k == 0 ? given_input(segment, index, bytes) : 0;
      if (!append(&segment->heap_values, &p->num_heap, &p->heap_capacity, in->first_value + k)) {
        return rheos__out_of_memory();
      }
      continue;
    }
    rheos__value *input = k == 0 ? reusable_input(segment, index, bytes) : NULL;
    if (input != NULL) {
      assert(input->kind == RHEOS__VALUE_ARENA && input != value);
      value->offset = input->offset;
      *place_of(p, value) = *place_of(p, input);
      input->escapes = true;  // the bytes are no longer its to give back
    } else if (!rheos__offset_allocator_take(&p->space, bytes, &value->offset,
                                             place_of(p, value))) {
      return rheos__out_of_memory();
    }
  }
  return NULL;
}

// What nobody needs after the instruction: bytes go back to the free lists, tensors to the list.
static rheos_status *retire(placer *p, int32_t index, int32_t root) {
  rheos__segment *segment = p->segment;
  rheos__value *value = own_value(segment, root);
  if (value == NULL || value->last_instruction != index || value->escapes) return NULL;
  if (value->kind == RHEOS__VALUE_ARENA) {
    RHEOS_TRY(give(p, index, *place_of(p, value)));
  } else if (value->kind == RHEOS__VALUE_TENSOR) {
    if (!append(&segment->releases, &p->num_releases, &p->release_capacity, root)) {
      return rheos__out_of_memory();
    }
    ++segment->instructions[index].num_releases;
  } else {
    return NULL;
  }
  value->last_instruction = -2;  // an operand that stands twice is retired once
  return NULL;
}

static rheos_status *list_given(placer *p) {
  rheos__segment *segment = p->segment;
  for (int32_t i = 0; segment->key_given != NULL && i < segment->num_key; ++i) {
    if (segment->values[i].given &&
        !append(&segment->tensor_values, &p->num_tensors, &p->tensor_capacity, i)) {
      return rheos__out_of_memory();
    }
  }
  return NULL;
}

static rheos_status *place_all(placer *p) {
  rheos__segment *segment = p->segment;
  RHEOS_TRY(list_given(p));
  for (int32_t i = 0; i < segment->num_instructions; ++i) {
    rheos__instruction *in = &segment->instructions[i];
    if (p->section != NULL && i == p->section->first) RHEOS_TRY(begin_section(p));
    RHEOS_TRY(place_outputs(p, i));
    if (in->scratch_bytes > 0 && in->branch <= 0) {
      int32_t place;
      if (!rheos__offset_allocator_take(&p->space, in->scratch_bytes, &in->scratch_offset,
                                        &place)) {
        return rheos__out_of_memory();
      }
      RHEOS_TRY(give(p, i, place));
    }
    in->first_release = (int32_t)p->num_releases;
    for (int32_t k = 0; k < in->num_inputs; ++k) {
      RHEOS_TRY(retire(p, i, segment->operands[in->first_operand + k]));
    }
    for (int32_t k = 0; k < in->num_outputs; ++k) RHEOS_TRY(retire(p, i, in->first_value + k));
    if (p->section != NULL && i == p->section->end - 1) end_section(p);
  }
  assert(p->num_held == 0 && p->section == NULL);
  segment->memory_bytes = p->space.end;
  segment->num_heap_values = (int32_t)p->num_heap;
  segment->num_tensor_values = (int32_t)p->num_tensors;
  return NULL;
}

rheos_status *rheos__place_memory(rheos__segment *segment) {
  find_last_uses(segment);
  rheos__find_escapes(segment);
  placer p = {.segment = segment};
  if (segment->num_sections > 0) p.section = segment->sections;  // of branches, so far
  p.places = rheos__alloc_array((size_t)segment->num_values, sizeof *p.places);
  if (p.places == NULL) return rheos__out_of_memory();
  rheos__offset_allocator_init(&p.space);
  rheos_status *status = place_all(&p);
  rheos__offset_allocator_deinit(&p.space);
  rheos__free(p.places);
  rheos__free(p.held);
  return status;
}
