// Tiles are as long as the first-level cache allows, so that calling the rows costs little beside
// what they do, and whole runs of a broadcast dimension where these are short.
#include "device/cpu/fused_loop.h"

#include <assert.h>
#include <string.h>

#include "base/arena_share.h"
#include "base/numbers.h"

enum { CACHE_BYTES = 24 << 10, MIN_TILE = 128, MAX_TILE = 1024, TILE_STEP = 128 };

void rheos__fused_init(rheos__fused_builder *b, int64_t num_elements) {
  *b = (rheos__fused_builder){.num_elements = num_elements, .max_bytes = 1};
  memset(b->producers, 0xff, sizeof b->producers);
}

void rheos__fused_add_operand(rheos__fused_builder *b, int64_t step) {
  assert(b->num_members == 0 && b->num_operands < RHEOS__FUSED_OPERANDS && step >= 0);
  b->steps[b->num_operands++] = step;
}

// The slot behind a place, or -1.
static int32_t slot_of(const rheos__fused_builder *b, int32_t place) {
  return place > b->num_operands ? place - b->num_operands - 1 : -1;
}

// A slot for the row's result: that of an operand which nobody reads later and whose elements are
// as long, or one that was free before.
static int32_t choose_slot(rheos__fused_builder *b, const rheos__elementwise *row,
                           const int32_t *inputs) {
  for (int32_t k = 0; k < row->num_operands; k++) {
    const int32_t slot = slot_of(b, inputs[k]);
    if (slot >= 0 && b->readers_left[slot] == 0 && b->element_bytes[slot] == row->out_bytes) {
      return slot;
    }
  }
  for (int32_t slot = 0; slot < b->num_slots; slot++) {
    bool is_read = b->readers_left[slot] > 0;
    for (int32_t k = 0; k < row->num_operands; k++) is_read |= slot_of(b, inputs[k]) == slot;
    if (!is_read) return slot;
  }
  assert(b->num_slots < RHEOS__FUSED_MEMBERS);
  return b->num_slots++;
}

int32_t rheos__fused_add_member(rheos__fused_builder *b, const rheos__elementwise *row,
                                const rheos__fused_kind *kind, const int32_t *inputs, int32_t out,
                                int32_t num_readers) {
  assert(b->num_members < RHEOS__FUSED_MEMBERS && row->num_operands <= RHEOS__MAX_OPERANDS);
  const int32_t index = b->num_members++;
  rheos__fused_member *member = &b->members[index];
  b->kinds[index] = *kind;
  b->num_readers[index] = out == RHEOS__IN_SLOT ? num_readers : 0;
  member->row = row;
  member->flat = row->rank <= 1;
  member->num_in = (uint8_t)row->num_operands;
  for (int32_t k = 0; k < row->num_operands; k++) {
    member->in[k] = (uint8_t)inputs[k];
    b->sources[index][k] = b->producers[inputs[k]];
    const int32_t slot = slot_of(b, inputs[k]);
    assert(slot < b->num_slots);
    if (slot >= 0) b->readers_left[slot]--;
    assert(slot < 0 || b->readers_left[slot] >= 0);
  }
  if (out == RHEOS__TO_OUTPUT) {
    out = b->num_operands;
    b->steps[out] = row->out_bytes;
  } else if (out == RHEOS__IN_SLOT) {
    const int32_t slot = choose_slot(b, row, inputs);
    b->readers_left[slot] = num_readers;
    b->element_bytes[slot] = row->out_bytes;
    if (row->out_bytes > b->max_bytes) b->max_bytes = row->out_bytes;
    out = b->num_operands + 1 + slot;
  }
  member->out = (uint8_t)out;
  b->producers[out] = index;
  return out;
}

static int64_t tile_of(const rheos__fused_builder *b) {
  int64_t bytes = b->num_slots * b->max_bytes;
  for (int32_t k = 0; k <= b->num_operands; k++) bytes += b->steps[k];
  int64_t tile = CACHE_BYTES / bytes / TILE_STEP * TILE_STEP;
  tile = tile < MIN_TILE ? MIN_TILE : rheos__min(tile, MAX_TILE);
  for (int32_t m = 0; m < b->num_members; m++) {
    const rheos__elementwise *row = b->members[m].row;
    const int64_t inner = row->rank > 1 ? row->dims[row->rank - 1] : 1;
    if (inner > 1 && inner <= tile) return tile / inner * inner;
  }
  return tile;
}

// ---- Runs of members on vector registers

static bool is_register_member(const rheos__fused_builder *b, int32_t m) {
  if (m >= b->num_members || !b->members[m].flat || b->members[m].num_in > 2) return false;
  const rheos__fused_kind *kind = &b->kinds[m];
  return kind->simple != RHEOS__NOT_SIMPLE && kind->simple <= RHEOS__LAST_IN_REGISTERS &&
         kind->out_dtype == RHEOS_FLOAT;
}

static void add_step(rheos__fused *f, int code, int32_t place) {
  f->register_steps[f->num_register_steps++] =
      (rheos__register_step){(uint8_t)code, (uint8_t)place};
}

// The steps of a member, when the registers hold what is at place `held` (-1: nothing).
static void add_register_steps(rheos__fused *f, const rheos__fused_member *m, rheos__simple simple,
                               int32_t held) {
  const unsigned repeated = m->row->repeated;
  const int32_t x = m->in[0], y = m->num_in > 1 ? m->in[1] : x;
  if (x != held && y != held) {
    add_step(f, repeated & 1 ? RHEOS__LOAD_NUMBER : RHEOS__LOAD_PLACE, x);
    held = x;
  }
  if (x == y) {
    add_step(f, rheos__register_code(simple, RHEOS__FORM_BOTH), x);
  } else if (x == held) {
    const bool number = (repeated & 2) != 0;
    add_step(f, rheos__register_code(simple, number ? RHEOS__FORM_NUMBER : RHEOS__FORM_PLACE), y);
  } else {
    const bool number = (repeated & 1) != 0;
    add_step(f,
             rheos__register_code(
                 simple, number ? RHEOS__FORM_REVERSED_NUMBER : RHEOS__FORM_REVERSED_PLACE),
             x);
  }
}

// Whether member m's result is needed by the next member only, which finds it in the registers.
static bool stays_in_registers(const rheos__fused_builder *b, int32_t m) {
  int32_t reads = 0;
  for (int32_t k = 0; k < b->members[m + 1].num_in; k++) {
    reads += b->members[m + 1].in[k] == b->members[m].out;
  }
  return reads > 0 && reads == b->num_readers[m];
}

// Members one after the other that can, two or more, become a part with steps.
static void make_parts(rheos__fused *f, const rheos__fused_builder *b) {
  for (int32_t m = 0; m < b->num_members;) {
    rheos__fused_part *part = &f->parts[f->num_parts++];
    *part = (rheos__fused_part){.first = (uint8_t)m, .first_step = (uint8_t)f->num_register_steps};
    if (!is_register_member(b, m) || !is_register_member(b, m + 1)) {
      part->end = (uint8_t)++m;
      continue;
    }
    int32_t held = -1;
    for (; is_register_member(b, m); m++) {
      add_register_steps(f, &b->members[m], b->kinds[m].simple, held);
      held = b->members[m].out;
      if (!is_register_member(b, m + 1) || !stays_in_registers(b, m)) {
        add_step(f, RHEOS__STORE_PLACE, held);
      }
    }
    part->end = (uint8_t)m;
    part->num_steps = (uint8_t)(f->num_register_steps - part->first_step);
  }
}

// ---- Groups of parts that can be compiled

// How operand k of a row is read, element by element; false if a compiled loop cannot.
static bool input_kind(const rheos__elementwise *row, int32_t k, uint8_t *out_kind) {
  if (row->rank <= 1) {
    *out_kind = row->repeated >> k & 1 ? RHEOS__LOOP_NUMBER : RHEOS__LOOP_EACH;
    return true;
  }
  const int64_t *steps = row->steps[k], bytes = row->element_bytes[k];
  if (row->rank != 2 || (steps[1] != 0 && steps[1] != bytes)) return false;
  const int64_t whole = steps[1] == 0 ? bytes : row->dims[1] * bytes;
  if (steps[0] != 0 && steps[0] != whole) return false;
  if (steps[0] == 0) {
    *out_kind = steps[1] == 0 ? RHEOS__LOOP_NUMBER : RHEOS__LOOP_ROW;
  } else {
    *out_kind = steps[1] == 0 ? RHEOS__LOOP_COLUMN : RHEOS__LOOP_EACH;
  }
  return true;
}

// The elements of a row, 0 where the member has none; -1 if it cannot be compiled.
static int64_t compilable(const rheos__fused_builder *b, int32_t m) {
  const rheos__elementwise *row = b->members[m].row;
  const rheos__fused_kind *kind = &b->kinds[m];
  uint8_t unused;
  if (!rheos__can_compile(kind->simple, kind->dtypes, row->num_operands, kind->out_dtype)) {
    return -1;
  }
  for (int32_t k = 0; k < row->num_operands; k++) {
    if (!input_kind(row, k, &unused)) return -1;
  }
  return row->rank > 1 ? row->dims[1] : 0;
}

// The end of the members from `first` on that can be one compiled loop.
static int32_t group_end(const rheos__fused_builder *b, int32_t first, int64_t *out_inner) {
  *out_inner = 0;
  for (int32_t m = first; m < b->num_members; m++) {
    const int64_t inner = compilable(b, m);
    if (inner < 0 || (inner > 0 && *out_inner > 0 && inner != *out_inner)) return m;
    if (inner > 0) *out_inner = inner;
  }
  return b->num_members;
}

// Whether anything but members [first, end) reads what member m makes.
static bool is_needed(const rheos__fused_builder *b, int32_t m, int32_t first, int32_t end) {
  int32_t reads = 0;
  for (int32_t i = first; i < end; i++) {
    for (int32_t k = 0; k < b->members[i].num_in; k++) reads += b->sources[i][k] == m;
  }
  return b->members[m].out <= b->num_operands || reads != b->num_readers[m];
}

static rheos__compiled_loop *loop_of(const rheos__fused_builder *b, int32_t first, int32_t end) {
  rheos__loop_program program;
  memset(&program, 0, sizeof program);
  program.num_steps = end - first;
  for (int32_t m = first; m < end; m++) {
    const rheos__fused_member *member = &b->members[m];
    rheos__loop_step *step = &program.steps[m - first];
    step->code = (uint8_t)b->kinds[m].simple;
    step->num_in = member->num_in;
    step->dtype = b->kinds[m].dtypes[member->num_in - 1];
    step->out_dtype = b->kinds[m].out_dtype;
    step->parameter = member->row->parameter;
    for (int32_t k = 0; k < member->num_in; k++) {
      const int32_t source = b->sources[m][k];
      rheos__loop_input *in = &step->in[k];
      (void)input_kind(member->row, k, &in->kind);
      in->from = member->in[k];
      if (source >= first) *in = (rheos__loop_input){RHEOS__LOOP_STEP, (uint8_t)(source - first)};
      program.has_rows |= in->kind == RHEOS__LOOP_ROW || in->kind == RHEOS__LOOP_COLUMN;
    }
    step->is_stored = is_needed(b, m, first, end);
    step->out = step->is_stored ? member->out : 0;
  }
  return rheos__compiled_loop_of(&program);
}

static bool is_without_slots(const rheos__fused_builder *b, const rheos__loop_program *p) {
  bool result = true;
  for (int32_t i = 0; i < p->num_steps; i++) result &= p->steps[i].out <= b->num_operands;
  return result;
}

// Parts and groups begin and end together: a member that can be on registers can be compiled.
static void make_groups(rheos__fused *f, const rheos__fused_builder *b) {
  for (int32_t part = 0; part < f->num_parts;) {
    const int32_t first = f->parts[part].first;
    int64_t inner;
    const int32_t end = group_end(b, first, &inner), first_part = part++;
    while (part < f->num_parts && f->parts[part].first < end) part++;
    rheos__compiled_loop *loop = end - first > 1 ? loop_of(b, first, end) : NULL;
    if (loop == NULL) continue;
    f->groups[f->num_groups++] =
        (rheos__fused_group){loop, inner, (uint8_t)first_part, (uint8_t)part};
    f->is_one_group = first == 0 && end == b->num_members && is_without_slots(b, &loop->program);
  }
}

const rheos__fused *rheos__fused_finish(const rheos__fused_builder *b, rheos__arena *arena) {
  const size_t member_bytes = (size_t)b->num_members * sizeof *b->members;
  union {
    rheos__fused fused;
    char room[sizeof(rheos__fused) + RHEOS__FUSED_MEMBERS * sizeof(rheos__fused_member)];
  } made;
  rheos__fused *f = &made.fused;
  memset(&made, 0, sizeof *f + member_bytes);
  f->num_elements = b->num_elements;
  f->tile_elements = tile_of(b);
  f->unit_elements = RHEOS__UNIT_ELEMENTS / f->tile_elements * f->tile_elements;
  f->num_units = (b->num_elements - 1) / f->unit_elements + 1;
  f->num_operands = b->num_operands;
  f->num_slots = b->num_slots;
  f->num_members = b->num_members;
  const int64_t longest = rheos__min(f->tile_elements, b->num_elements);
  f->slot_bytes = ((size_t)(longest * b->max_bytes) + 63) / 64 * 64;
  f->scratch_bytes = f->slot_bytes * (size_t)b->num_slots;
  memcpy(f->steps, b->steps, sizeof f->steps);
  memcpy(f->members, b->members, member_bytes);
  make_parts(f, b);
  if (b->compiles) make_groups(f, b);
  return rheos__arena_share(arena, f, sizeof *f + member_bytes);  // a long chain has equal parts
}

// `places` stand at element `begin`.
static void run_member(const rheos__fused_member *m, char *const *places, int64_t begin,
                       int64_t count) {
  const void *in[RHEOS__MAX_OPERANDS];
  for (int32_t k = 0; k < m->num_in; k++) in[k] = places[m->in[k]];
  const rheos__elementwise *row = m->row;
  if (m->flat) {
    row->loop(in, places[m->out], count, row->repeated, row->parameter);
  } else {
    rheos__elementwise_range(row, in, places[m->out], begin, count);
  }
}

// The elements from number `done` of the tile on, which fill no block of the registers.
static void run_rest(const rheos__fused_member *m, char *const *places, int64_t done,
                     int64_t count) {
  const rheos__elementwise *row = m->row;
  const void *in[RHEOS__MAX_OPERANDS];
  for (int32_t k = 0; k < m->num_in; k++) {
    in[k] = places[m->in[k]] + (row->repeated >> k & 1 ? 0 : done * row->element_bytes[k]);
  }
  row->loop(in, places[m->out] + done * row->out_bytes, count, row->repeated, row->parameter);
}

static void run_part(const rheos__fused *f, const rheos__fused_part *part, char *const *places,
                     int64_t begin, int64_t count) {
  const int64_t blocks = count / RHEOS__FLOAT_BLOCK, done = blocks * RHEOS__FLOAT_BLOCK;
  if (part->num_steps == 0) {
    run_member(&f->members[part->first], places, begin, count);
    return;
  }
  if (blocks > 0) {
    rheos__run_registers(f->register_steps + part->first_step, part->num_steps, places, blocks);
  }
  for (int32_t m = part->first; done < count && m < part->end; m++) {
    run_rest(&f->members[m], places, done, count - done);
  }
}

// `compiled`: the loops of the groups, NULL where there is none yet.
static void run_tile(const rheos__fused *f, const rheos__loop_fn *compiled, char *const *places,
                     int64_t begin, int64_t count) {
  int32_t group = 0;
  for (int32_t part = 0; part < f->num_parts;) {
    const rheos__fused_group *g = &f->groups[group];
    const bool begins = group < f->num_groups && g->first == part;
    if (begins && compiled[group++] != NULL) {
      compiled[group - 1](places, begin, count, g->inner);
      part = g->end;
    } else {
      run_part(f, &f->parts[part++], places, begin, count);
    }
  }
}

void rheos__fused_range(const rheos__fused *f, const void *const *inputs, void *out, void *scratch,
                        int64_t begin, int64_t count) {
  const int64_t end = begin + count;
  char *places[RHEOS__FUSED_OPERANDS + 1 + RHEOS__FUSED_MEMBERS];
  rheos__loop_fn compiled[RHEOS__FUSED_MEMBERS / 2];
  for (int32_t k = 0; k < f->num_operands; k++) {
    places[k] = (char *)(uintptr_t)inputs[k] + begin * f->steps[k];
  }
  places[f->num_operands] = out;
  for (int32_t s = 0; s < f->num_slots; s++) {
    places[f->num_operands + 1 + s] = (char *)scratch + (size_t)s * f->slot_bytes;
  }
  for (int32_t g = 0; g < f->num_groups; g++) {
    compiled[g] = rheos__compiled_loop_fn(f->groups[g].loop, count);
  }
  if (f->is_one_group && compiled[0] != NULL) {
    compiled[0](places, begin, count, f->groups[0].inner);
    return;
  }
  while (begin < end) {
    const int64_t n = rheos__min(f->tile_elements, end - begin);
    run_tile(f, compiled, places, begin, n);
    begin += n;
    for (int32_t k = 0; k <= f->num_operands; k++) places[k] += n * f->steps[k];
  }
}

rheos_status *rheos__run_fused(const void *state, const void *const *inputs, void *const *outputs,
                               void *scratch, int64_t first_unit, int64_t last_unit) {
  const rheos__fused *f = state;
  const int64_t begin = first_unit * f->unit_elements;
  const int64_t end = rheos__min(last_unit * f->unit_elements, f->num_elements);
  char *out = (char *)outputs[0] + begin * f->steps[f->num_operands];
  rheos__fused_range(f, inputs, out, scratch, begin, end - begin);
  return NULL;
}
