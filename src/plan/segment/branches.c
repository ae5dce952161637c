// Wide graphs: several chains of instructions that do not need each other, each of them too small,
// or too much of one piece, to be split over the threads, run side by side. A group of branches is
// looked for from where the graph forks: what follows is joined into branches along its operands;
// where branches come together, the instruction waits until all of them are done, and so does what
// needs it.
//
// The order of the plan stays that of a step on one thread, of errors, and of traces. Only the
// memory plan has to know: nothing that a group frees is used again before the group is over.
#include "plan/segment/branches.h"

#include <assert.h>

enum {
  LENGTH = 256,  // instructions looked at from one fork on
  AFTER = -1,    // waits for the branches
  OUTSIDE = -2,  // before the group, a read, or nothing to run
};

static const double HAND_OVER_NS = 10000;     // threads may be asleep
static const double LEAST_BRANCH_NS = 20000;  // smaller ones go with others
static const double LEAST_GAIN_NS = 30000;
static const double MOST_OF_THE_TIME = 0.85;  // that may be left for it to pay
static const double MOST_BYTES = 64 << 20;    // kept alive by a group, to the end of it

typedef struct branch {
  int32_t parent;   // itself, or what it was joined with
  double cost_ns;   // on one thread
  double split_ns;  // with the threads inside its instructions
} branch;

typedef struct finder {
  rheos__segment *segment;
  int32_t num_threads;
  int32_t *makers;       // by value: the instruction after which it is there, or -1
  int32_t *num_readers;  // by value
  // Of the group that is looked for
  int32_t first, last;  // the last one in a branch
  branch branches[LENGTH];
  int32_t num_branches;
  int32_t branch_of[LENGTH];
  double after_ns, bytes, branches_ns;
} finder;

static const rheos__instruction *at(const finder *f, int32_t index) {
  return &f->segment->instructions[index];
}

static bool is_read(const finder *f, const rheos__instruction *in) {
  if (in->kind == RHEOS__READ) return true;
  return in->kind == RHEOS__COMPUTE &&
         (f->segment->plan->entries[in->entry].signature->op->flags & RHEOS_OP_READS_VARIABLE) != 0;
}

// Whether it may run at another time than its turn: it touches only the buffers it is given.
static bool is_free(const finder *f, const rheos__instruction *in) {
  if (in->kind == RHEOS__HOLD) return true;
  return in->kind == RHEOS__RUN && !f->segment->plan->entries[in->entry].has_effects &&
         in->num_inputs <= RHEOS__BRANCH_OPERANDS && in->num_outputs <= RHEOS__BRANCH_OPERANDS;
}

static int32_t own_index(const rheos__segment *segment, int32_t value) {
  const int32_t index = value - segment->first_value;
  return index >= 0 && index < segment->num_values ? index : -1;
}

// A fused loop writes what was held for it, so that is there after the loop.
static void find_makers(finder *f) {
  const rheos__segment *segment = f->segment;
  for (int32_t i = 0; i < segment->num_values; i++) f->makers[i] = -1;
  for (int32_t i = 0; i < segment->num_instructions; i++) {
    const rheos__instruction *in = at(f, i);
    for (int32_t k = 0; k < in->num_inputs; k++) {
      const int32_t value = own_index(segment, segment->operands[in->first_operand + k]);
      if (value < 0) continue;
      f->num_readers[value]++;
      if (f->makers[value] >= 0 && at(f, f->makers[value])->kind == RHEOS__HOLD) {
        f->makers[value] = i;
      }
    }
    for (int32_t k = 0; k < in->num_outputs; k++) {
      f->makers[own_index(segment, in->first_value + k)] = i;
    }
  }
}

// ---- A group

static int32_t root_of(finder *f, int32_t b) {
  while (f->branches[b].parent != b) {
    f->branches[b].parent = f->branches[f->branches[b].parent].parent;
    b = f->branches[b].parent;
  }
  return b;
}

// The earlier one stays.
static int32_t join(finder *f, int32_t a, int32_t b) {
  if (a == b) return a;
  const int32_t into = a < b ? a : b, from = a < b ? b : a;
  assert(f->branches[into].parent == into && f->branches[from].parent == from);
  f->branches[from].parent = into;
  f->branches[into].cost_ns += f->branches[from].cost_ns;
  f->branches[into].split_ns += f->branches[from].split_ns;
  return into;
}

// The branch that the instruction belongs to, a new one if it needs none; AFTER where it needs
// several that are worth a thread each.
static int32_t find_branch(finder *f, int32_t index) {
  const rheos__instruction *in = at(f, index);
  int32_t roots[RHEOS__BRANCH_OPERANDS], num_roots = 0, num_large = 0;
  for (int32_t k = 0; k < in->num_inputs; k++) {
    const int32_t value = own_index(f->segment, f->segment->operands[in->first_operand + k]);
    const int32_t maker = value >= 0 ? f->makers[value] : -1;
    if (maker < f->first || maker == index || f->branch_of[maker - f->first] == OUTSIDE) continue;
    if (f->branch_of[maker - f->first] == AFTER) return AFTER;
    const int32_t root = root_of(f, f->branch_of[maker - f->first]);
    bool known = false;
    for (int32_t i = 0; i < num_roots; i++) known = known || roots[i] == root;
    if (known) continue;
    roots[num_roots++] = root;
    if (f->branches[root].cost_ns >= LEAST_BRANCH_NS) num_large++;
  }
  assert(num_roots <= RHEOS__BRANCH_OPERANDS);
  if (num_large > 1) return AFTER;
  assert(f->num_branches < LENGTH || num_roots > 0);
  int32_t found = num_roots > 0 ? roots[0] : f->num_branches;
  if (num_roots == 0) f->branches[f->num_branches++] = (branch){.parent = found};
  for (int32_t i = 1; i < num_roots; i++) found = join(f, found, roots[i]);
  return found;
}

static double split_cost(const finder *f, const rheos__instruction *in) {
  const double cost = (double)in->cost_ns;
  const int64_t parts = in->num_units < f->num_threads ? in->num_units : f->num_threads;
  return in->parallel ? cost / (double)parts : cost;
}

// What the outputs take, since nothing is used again within the group.
static double output_bytes(const finder *f, const rheos__instruction *in) {
  double bytes = (double)in->scratch_bytes;
  for (int32_t k = 0; k < in->num_outputs; k++) {
    const rheos__value *value = rheos__find_value(f->segment, in->first_value + k);
    if (value->kind != RHEOS__VALUE_ARENA) continue;
    bytes += (double)rheos_shape_num_elements(value->shape) *
             (double)rheos_dtype_size((rheos_dtype)value->dtype);
  }
  return bytes;
}

// From `first` on, as far as it goes.
static void grow(finder *f, int32_t first) {
  f->first = f->last = first;
  f->num_branches = 0;
  f->after_ns = f->bytes = f->branches_ns = 0;
  for (int32_t i = first; i < f->segment->num_instructions && i - first < LENGTH; i++) {
    const rheos__instruction *in = at(f, i);
    int32_t *branch_of = &f->branch_of[i - first];
    *branch_of = OUTSIDE;
    if (is_read(f, in)) continue;
    if (!is_free(f, in)) return;
    f->bytes += output_bytes(f, in);
    if (f->bytes > MOST_BYTES) return;
    if (in->kind == RHEOS__HOLD) continue;
    *branch_of = find_branch(f, i);
    if (*branch_of == AFTER) {
      f->after_ns += (double)in->cost_ns;
      if (f->after_ns > f->branches_ns / 2) return;
      continue;
    }
    f->branches[*branch_of].cost_ns += (double)in->cost_ns;
    f->branches[*branch_of].split_ns += split_cost(f, in);
    f->branches_ns += (double)in->cost_ns;
    f->last = i;
  }
}

// Numbers the branches from 1 on; small ones share a number. 0 if a group would not pay.
static int32_t number_branches(finder *f, int32_t *numbers) {
  double longest = 0, all = 0, split = 0, small_ns = 0;
  int32_t count = 0, small = 0;
  for (int32_t b = 0; b < f->num_branches; b++) {
    if (f->branches[b].parent != b) continue;
    const double cost = f->branches[b].cost_ns;
    const bool is_small = cost < LEAST_BRANCH_NS;
    if (is_small && small == 0) small = ++count;
    numbers[b] = is_small ? small : ++count;
    if (is_small) small_ns += cost;
    if (cost > longest) longest = cost;
    all += cost;
    split += f->branches[b].split_ns;
  }
  if (small_ns > longest) longest = small_ns;
  const double side_by_side =
      HAND_OVER_NS + (all / f->num_threads > longest ? all / f->num_threads : longest);
  const bool pays =
      split - side_by_side >= LEAST_GAIN_NS && side_by_side <= MOST_OF_THE_TIME * split;
  return pays && count > 1 && count <= RHEOS__MAX_BRANCHES ? count : 0;
}

// The branch of the instruction, 0 for none.
static int32_t number_of(finder *f, const int32_t *numbers, int32_t index) {
  const int32_t b = f->branch_of[index - f->first];
  return b >= 0 ? numbers[root_of(f, b)] : 0;
}

// Values that come and go within one branch, where an instruction may write its output over them.
static void mark_values(finder *f, const int32_t *numbers) {
  rheos__segment *segment = f->segment;
  for (int32_t i = f->first; i <= f->last; i++) {
    const rheos__instruction *in = at(f, i);
    const int32_t number = number_of(f, numbers, i);
    for (int32_t k = 0; number > 0 && k < in->num_outputs; k++) {
      const int32_t value = own_index(segment, in->first_value + k);
      int32_t readers_here = 0;
      for (int32_t j = i + 1; j <= f->last && readers_here < f->num_readers[value]; j++) {
        const rheos__instruction *reader = at(f, j);
        for (int32_t o = 0; number_of(f, numbers, j) == number && o < reader->num_inputs; o++) {
          readers_here += segment->operands[reader->first_operand + o] == in->first_value + k;
        }
      }
      segment->values[value].in_branch = readers_here == f->num_readers[value];
    }
  }
}

static rheos_status *keep_group(finder *f, const int32_t *numbers, int32_t num_branches) {
  rheos__segment *segment = f->segment;
  const int32_t length = f->last + 1 - f->first;
  assert(length > 1 && length <= LENGTH && num_branches <= RHEOS__MAX_BRANCHES);
  const size_t bytes = (size_t)(num_branches + 1 + length) * sizeof(int32_t);
  int32_t *starts = rheos__arena_alloc(&segment->arena, bytes);
  if (starts == NULL) return rheos__out_of_memory();
  int32_t *members = starts + num_branches + 1;
  int32_t count = 0;
  for (int32_t number = 1; number <= num_branches; number++) {
    starts[number - 1] = count;
    for (int32_t i = f->first; i <= f->last; i++) {
      if (number_of(f, numbers, i) != number) continue;
      segment->instructions[i].branch = (int16_t)number;
      members[count++] = i;
    }
  }
  assert(count <= length);
  starts[num_branches] = count;
  for (int32_t i = f->first; i <= f->last; i++) {
    if (is_read(f, at(f, i))) segment->instructions[i].branch = RHEOS__BEFORE_BRANCHES;
  }
  mark_values(f, numbers);
  return rheos__segment_add_section(
      segment,
      &(rheos__section){
          .kind = RHEOS__SECTION_BRANCHES,
          .first = f->first,
          .end = f->last + 1,
          .cost_ns = f->branches_ns,
          .branches = {.num_branches = num_branches, .starts = starts, .members = members}});
}

// Whether a group may begin here: behind a fork, or behind what cannot be in one.
static bool may_begin(const finder *f, int32_t index) {
  const rheos__instruction *in = at(f, index);
  if (in->kind != RHEOS__RUN || !is_free(f, in)) return false;
  if (index == 0) return true;
  const rheos__instruction *before = at(f, index - 1);
  if (before->kind != RHEOS__RUN || !is_free(f, before)) return true;
  for (int32_t k = 0; k < before->num_outputs; k++) {
    if (f->num_readers[own_index(f->segment, before->first_value + k)] > 1) return true;
  }
  return false;
}

static rheos_status *find_all(finder *f) {
  const rheos__segment *segment = f->segment;
  f->makers = rheos__alloc_array((size_t)segment->num_values, sizeof *f->makers);
  f->num_readers = rheos__alloc_array((size_t)segment->num_values, sizeof *f->num_readers);
  if (f->makers == NULL || f->num_readers == NULL) return rheos__out_of_memory();
  find_makers(f);
  for (int32_t i = 0; i < segment->num_instructions; i++) {
    if (!may_begin(f, i)) continue;
    int32_t numbers[LENGTH];
    grow(f, i);
    const int32_t num_branches = number_branches(f, numbers);
    if (num_branches == 0) continue;
    RHEOS_TRY(keep_group(f, numbers, num_branches));
    i = f->last;
  }
  return NULL;
}

rheos_status *rheos__find_branches(rheos__segment *segment, int32_t num_threads) {
  if (num_threads < 2 || segment->cost_ns < LEAST_GAIN_NS) return NULL;
  finder *f = rheos__alloc_zeroed(sizeof *f);
  if (f == NULL) return rheos__out_of_memory();
  f->segment = segment;
  f->num_threads = num_threads;
  rheos_status *status = find_all(f);
  rheos__free(f->makers);
  rheos__free(f->num_readers);
  rheos__free(f);
  return status;
}
