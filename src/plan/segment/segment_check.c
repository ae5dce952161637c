// The invariants of a segment, as assertions: after each pass what all of them keep, and once
// memory is placed that no two values have the same bytes at the same time. Memory comes from the C
// library: a check must not be what a test of failing allocations meets.
#include "plan/segment/segment.h"

#include <assert.h>
#include <stdlib.h>

#include "plan/segment/packed_operand.h"
#include "plan/segment/update_group.h"

#ifdef NDEBUG
void rheos__segment_check(const rheos__segment *segment) { (void)segment; }
void rheos__segment_check_memory(const rheos__segment *segment) { (void)segment; }
#else

enum { MAX_PLACES = 1 << 12 };  // of larger segments the bytes are not compared

typedef struct checker {
  const rheos__segment *segment;
  int32_t *makers;  // by own value: the instruction that gives it, -1: none
} checker;

static int32_t own_index(const rheos__segment *segment, int32_t value) {
  const int32_t index = value - segment->first_value;
  return index >= 0 && index < segment->num_values ? index : -1;
}

// Whether an instruction must have made it: a feed that was given away is a tensor of the step.
static bool is_made(const rheos__value *value) {
  return value->kind == RHEOS__VALUE_ARENA || value->kind == RHEOS__VALUE_HEAP ||
         (value->kind == RHEOS__VALUE_TENSOR && !value->given);
}

// ---- Values and instructions

static void check_value(const checker *c, int32_t index) {
  const rheos__segment *segment = c->segment;
  const rheos__value *value = &segment->values[index - segment->first_value];
  assert(value->root >= 0 && value->root <= index);
  const rheos__value *root = rheos__find_value(segment, value->root);
  assert(root->root == value->root);
  assert(value->kind != RHEOS__VALUE_FEED || value->root < segment->plan->num_feeds);
  assert(!value->given || index < segment->plan->num_feeds);
  if (value->kind == RHEOS__VALUE_HEAP && value->over > 0) {
    assert(value->fetched);
    assert(rheos__find_value(segment, value->over - 1)->given);
  }
  if (value->kind == RHEOS__VALUE_CONSTANT) {
    assert(value->root == index && value->constant != NULL);
    assert(rheos_shape_equal(value->shape, &value->constant->shape));
  }
  if (value->kind == RHEOS__VALUE_ARENA) {
    assert(value->shape != NULL && rheos_shape_is_known(value->shape));
  }
  const int32_t maker = c->makers[index - segment->first_value];
  if (value->root != index) assert(maker < 0);  // nothing runs for what has another's bytes
  if (value->root == index && is_made(value)) assert(maker >= 0);
}

static void check_outputs(checker *c, int32_t index) {
  const rheos__segment *segment = c->segment;
  const rheos__instruction *in = &segment->instructions[index];
  for (int32_t k = 0; k < in->num_outputs; ++k) {
    const int32_t own = own_index(segment, in->first_value + k);
    assert(own >= 0 && c->makers[own] < 0);
    c->makers[own] = index;
    const rheos__value *value = &segment->values[own];
    switch ((rheos__instruction_kind)in->kind) {
      case RHEOS__HOLD:
      case RHEOS__COPY:
      case RHEOS__RUN:
        assert(value->kind == RHEOS__VALUE_ARENA || value->kind == RHEOS__VALUE_HEAP ||
               value->kind == RHEOS__VALUE_NONE);
        break;
      case RHEOS__BRING:
      case RHEOS__READ: assert(value->kind == RHEOS__VALUE_TENSOR); break;
      case RHEOS__WATCH: break;  // it has none
      case RHEOS__COMPUTE:
      case RHEOS__DYNAMIC:
        assert(value->kind == RHEOS__VALUE_TENSOR || value->kind == RHEOS__VALUE_NONE);
        break;
    }
  }
}

static void check_operand(const checker *c, int32_t index, int32_t k) {
  const rheos__segment *segment = c->segment;
  const rheos__instruction *in = &segment->instructions[index];
  int32_t operand = segment->operands[in->first_operand + k];
  const int32_t input = segment->input_values[in->first_operand + k];
  if (operand >= segment->plan->num_values) {
    assert(operand - segment->plan->num_values == in->packed_operand - 1);
    assert(segment->packed_operands[in->packed_operand - 1].request.input == k);
    operand = segment->packed_operands[in->packed_operand - 1].root;
  }
  assert(rheos__find_value(segment, input)->root == operand);
  const int32_t own = own_index(segment, operand);
  if (own < 0) {
    assert(operand < segment->first_value);  // of a segment before
    return;
  }
  const rheos__value *value = &segment->values[own];
  assert(value->root == operand);
  if (value->kind == RHEOS__VALUE_NONE) assert(value->shape == NULL);  // not within a loop
  if (is_made(value)) assert(c->makers[own] >= 0 && c->makers[own] < index);
}

static void check_instruction(checker *c, int32_t index) {
  const rheos__segment *segment = c->segment;
  const rheos__instruction *in = &segment->instructions[index];
  assert(in->entry >= segment->first_entry && in->entry < segment->end_entry);
  assert(in->kind <= RHEOS__WATCH);
  assert(in->kind != RHEOS__WATCH || (in->num_inputs == 1 && in->num_outputs == 0));
  assert(in->kind != RHEOS__RUN || in->run != NULL);
  assert(in->kind != RHEOS__COMPUTE || in->compute != NULL);
  assert(in->kind != RHEOS__READ ||
         (in->state != NULL && in->num_inputs == 1 && in->num_outputs == 1));
  assert(in->kind != RHEOS__HOLD || in->num_inputs == 0);
  assert(in->reuse_input >= -1 && in->reuse_input < in->num_inputs);
  assert(in->num_units >= 1 && in->cost_ns >= 0);
  assert(in->packed_operand >= 0 && in->packed_operand <= segment->num_packed_operands);
  assert(!in->parallel || in->num_units > 1);
  for (int32_t k = 0; k < in->num_inputs; ++k) check_operand(c, index, k);
  check_outputs(c, index);
}

// ---- Sections

static void check_rows(const rheos__segment *segment, const rheos__section *section) {
  for (int32_t i = section->first; i < section->end; ++i) {
    const rheos__instruction *in = &segment->instructions[i];
    assert(in->branch == 0);
    assert(in->kind != RHEOS__RUN || in->num_units == section->rows.num_units);
  }
}

static void check_branches(const rheos__segment *segment, const rheos__section *section) {
  const int32_t *starts = section->branches.starts;
  assert(section->branches.num_branches > 1 && starts[0] == 0);
  for (int32_t b = 0; b < section->branches.num_branches; ++b) {
    assert(starts[b] < starts[b + 1]);
    for (int32_t k = starts[b]; k < starts[b + 1]; ++k) {
      const int32_t member = section->branches.members[k];
      assert(member >= section->first && member < section->end);
      assert(k == starts[b] || section->branches.members[k - 1] < member);
      assert(segment->instructions[member].branch == b + 1);
    }
  }
}

static void check_updates(const rheos__segment *segment, const rheos__section *section) {
  assert(section->end - section->first > 1);
  assert(section->end - section->first <= RHEOS__MAX_UPDATE_GROUP);
  for (int32_t i = section->first; i < section->end; ++i) {
    const rheos__instruction *in = &segment->instructions[i];
    assert(in->kind == RHEOS__COMPUTE && in->grouped == section->updates.update);
  }
}

static void check_sections(const rheos__segment *segment) {
  for (int32_t i = 0; i < segment->num_sections; ++i) {
    const rheos__section *section = &segment->sections[i];
    assert(section->first >= 0 && section->first < section->end);
    assert(section->end <= segment->num_instructions);
    assert(i == 0 || segment->sections[i - 1].end <= section->first);
    switch ((rheos__section_kind)section->kind) {
      case RHEOS__SECTION_ROWS: check_rows(segment, section); break;
      case RHEOS__SECTION_BRANCHES: check_branches(segment, section); break;
      case RHEOS__SECTION_UPDATES: check_updates(segment, section); break;
    }
  }
}

// ---- Place in the tree

static void check_place(const rheos__segment *segment) {
  const rheos__segment *parent = segment->parent;
  assert(segment->first_entry <= segment->end_entry);
  assert(segment->end_entry <= segment->plan->num_entries);
  assert(segment->first_value + segment->num_values <= segment->plan->num_values);
  if (parent == NULL) {
    assert(segment->depth == 0 && segment->far_parent == segment);
    assert(segment->first_entry == 0 && segment->first_value == 0 && segment->num_refined == 0);
    assert(segment->num_key == segment->plan->num_feeds);
    return;
  }
  assert(segment->depth == parent->depth + 1 && segment->far_parent->depth < segment->depth);
  assert(segment->first_entry == parent->end_entry);
  assert(segment->first_value == parent->first_value + parent->num_values);
  assert(segment->num_key == parent->num_dynamic_values);
}

static bool find_makers(checker *c) {
  c->makers = calloc((size_t)c->segment->num_values + 1, sizeof *c->makers);
  if (c->makers == NULL) return false;
  for (int32_t i = 0; i < c->segment->num_values; ++i) c->makers[i] = -1;
  return true;
}

void rheos__segment_check(const rheos__segment *segment) {
  check_place(segment);
  checker c = {.segment = segment};
  if (!find_makers(&c)) return;  // memory is short: whoever needs it says so
  for (int32_t i = 0; i < segment->num_instructions; ++i) check_instruction(&c, i);
  for (int32_t i = 0; i < segment->num_values; ++i) check_value(&c, segment->first_value + i);
  check_sections(segment);
  free(c.makers);
}

// ---- Memory

// Bytes of the block that are in use from one instruction to another. Values of which one is
// written over the other have one place.
typedef struct place {
  size_t first, end;
  int32_t made, last;  // instructions
} place;

typedef struct lives {
  const rheos__segment *segment;
  int32_t *last_uses;  // by own value, of roots: the last instruction; INT32_MAX: used afterwards
  int32_t *places;     // by own value: in `items`, -1: none
  place *items;
  int32_t count;
} lives;

static void find_last_uses(lives *l) {
  const rheos__segment *segment = l->segment;
  const rheos__plan *plan = segment->plan;
  for (int32_t i = 0; i < segment->num_values; ++i) l->last_uses[i] = l->places[i] = -1;
  for (int32_t i = 0; i < segment->num_instructions; ++i) {
    const rheos__instruction *in = &segment->instructions[i];
    for (int32_t k = 0; k < in->num_inputs; ++k) {
      const int32_t input = segment->input_values[in->first_operand + k];
      const int32_t own = own_index(segment, rheos__find_value(segment, input)->root);
      if (own >= 0) l->last_uses[own] = i;
    }
    for (int32_t k = 0; k < in->num_outputs; ++k) {
      l->last_uses[own_index(segment, in->first_value + k)] = i;
    }
  }
  for (int32_t i = 0; i < segment->num_values; ++i) {
    const int32_t own = own_index(segment, segment->values[i].root);
    const bool later = plan->last_uses[segment->first_value + i] >= segment->end_entry;
    if (own >= 0 && later) l->last_uses[own] = INT32_MAX;
  }
}

// What a section of branches uses is in use until it is over.
static int32_t end_of_use(const rheos__segment *segment, int32_t last) {
  for (int32_t i = 0; i < segment->num_sections; ++i) {
    const rheos__section *section = &segment->sections[i];
    if (section->kind == RHEOS__SECTION_BRANCHES && last >= section->first && last < section->end) {
      return section->end - 1;
    }
  }
  return last;
}

static void add_place(lives *l, size_t offset, size_t bytes, int32_t made, int32_t last) {
  assert(offset <= l->segment->memory_bytes && bytes <= l->segment->memory_bytes - offset);
  l->items[l->count++] = (place){offset, offset + bytes, made, end_of_use(l->segment, last)};
}

// The place of the input that output 0 was written over, -1 if it has one of its own.
static int32_t place_taken_over(const lives *l, int32_t index, const rheos__value *output,
                                size_t bytes) {
  const rheos__instruction *in = &l->segment->instructions[index];
  if (in->reuse_input < 0) return -1;
  const int32_t input = l->segment->input_values[in->first_operand + in->reuse_input];
  const int32_t own = own_index(l->segment, rheos__find_value(l->segment, input)->root);
  if (own < 0 || l->places[own] < 0 || l->last_uses[own] != index) return -1;
  const place *at = &l->items[l->places[own]];
  return at->first == output->offset && at->end - at->first == bytes ? l->places[own] : -1;
}

static void add_output(lives *l, int32_t index, int32_t k) {
  const rheos__segment *segment = l->segment;
  const rheos__instruction *in = &segment->instructions[index];
  const int32_t own = own_index(segment, in->first_value + k);
  const rheos__value *value = &segment->values[own];
  if (value->kind != RHEOS__VALUE_ARENA) return;
  const size_t bytes =
      (size_t)rheos_shape_num_elements(value->shape) * rheos_dtype_size((rheos_dtype)value->dtype);
  if (bytes == 0) return;
  const int32_t over = k == 0 ? place_taken_over(l, index, value, bytes) : -1;
  if (over < 0) {
    l->places[own] = l->count;
    add_place(l, value->offset, bytes, index, l->last_uses[own]);
    return;
  }
  l->places[own] = over;
  place *at = &l->items[over];
  const int32_t last = end_of_use(segment, l->last_uses[own]);
  if (last > at->last) at->last = last;
}

// Members of a branch run one after another and share their scratch memory.
static void add_scratch(lives *l, int32_t index, const rheos__section *section) {
  const rheos__instruction *in = l->segment->instructions;
  if (in[index].scratch_bytes > 0 && in[index].branch <= 0) {
    add_place(l, in[index].scratch_offset, in[index].scratch_bytes, index, index);
  }
  if (section == NULL || section->kind != RHEOS__SECTION_BRANCHES) return;
  const int32_t *starts = section->branches.starts, *members = section->branches.members;
  for (int32_t b = 0; b < section->branches.num_branches; ++b) {
    size_t most = 0, offset = 0;
    for (int32_t k = starts[b]; k < starts[b + 1]; ++k) {
      if (in[members[k]].scratch_bytes <= most) continue;
      most = in[members[k]].scratch_bytes;
      offset = in[members[k]].scratch_offset;
    }
    if (most > 0) add_place(l, offset, most, index, index);
  }
}

static void check_places(const lives *l) {
  for (int32_t i = 0; i < l->count; ++i) {
    const place *a = &l->items[i];
    // In the order in which they are made: those after the last use need not be looked at.
    for (int32_t k = i + 1; k < l->count && l->items[k].made <= a->last; ++k) {
      const place *b = &l->items[k];
      assert(b->first >= a->end || a->first >= b->end);
    }
  }
}

// What is released is needed by nobody afterwards.
static void check_releases(const lives *l) {
  const rheos__segment *segment = l->segment;
  for (int32_t i = 0; i < segment->num_instructions; ++i) {
    const rheos__instruction *in = &segment->instructions[i];
    for (int32_t k = 0; k < in->num_releases; ++k) {
      const int32_t own = own_index(segment, segment->releases[in->first_release + k]);
      assert(own >= 0 && segment->values[own].kind == RHEOS__VALUE_TENSOR);
      assert(l->last_uses[own] == i);
    }
  }
}

static void check_memory(lives *l) {
  const rheos__segment *segment = l->segment;
  find_last_uses(l);
  check_releases(l);
  for (int32_t i = 0, at = 0; i < segment->num_instructions && l->count < MAX_PLACES; ++i) {
    const bool begins = at < segment->num_sections && segment->sections[at].first == i;
    add_scratch(l, i, begins ? &segment->sections[at++] : NULL);
    for (int32_t k = 0; k < segment->instructions[i].num_outputs; ++k) add_output(l, i, k);
  }
  check_places(l);
}

void rheos__segment_check_memory(const rheos__segment *segment) {
  const size_t values = (size_t)segment->num_values;
  const size_t most = values + (size_t)segment->num_instructions;
  lives l = {.segment = segment};
  l.last_uses = calloc(values + 1, sizeof *l.last_uses);
  l.places = calloc(values + 1, sizeof *l.places);
  l.items = calloc(most + 1, sizeof *l.items);
  if (l.last_uses != NULL && l.places != NULL && l.items != NULL) check_memory(&l);
  free(l.last_uses);
  free(l.places);
  free(l.items);
}

#endif  // NDEBUG
