// Finds the clusters in one walk over the instructions, then writes the instructions anew. Clusters
// are bounded, so both take constant time an instruction.
#include "device/fuse.h"

#include <assert.h>

#include "plan/segment/memory.h"

enum { MAX_MEMBERS = RHEOS__FUSED_MEMBERS };

typedef struct cluster {
  int64_t num_elements;
  int32_t first, last;  // members, linked by `next`
  int32_t reduction;    // the instruction that reduces one of them and ends the cluster, or -1
  int32_t num_members;
  int32_t num_inputs;  // from outside, those that stand twice counted twice
  int32_t num_writes;  // to variables, seen when it was begun
  bool closed;         // something outside reads its values, or it was merged into another one
  bool reads_tensors;  // such as those of variables: held for long, a write would have to copy
} cluster;

typedef struct fuser {
  rheos__segment *segment;
  const rheos__fusing *by;
  cluster *clusters;
  size_t num_clusters, cluster_capacity;
  int32_t *cluster_of;   // of each instruction, or -1
  int32_t *next;         // member of the same cluster, or -1
  int32_t *producers;    // instruction of each value of the segment, or -1
  int32_t *num_readers;  // operands that are this value
  int32_t num_writes;
  // The new arrays of the segment
  rheos__instruction *instructions;
  int32_t *operands, *input_values;
  size_t num_instructions, instruction_capacity;
  size_t num_operands, operand_capacity, input_value_capacity;
} fuser;

bool rheos__fuses(const rheos__plan *plan) {
  const rheos_rewrite_options *options = &plan->context.rewrites;
  return !options->disable_meta_optimizer && options->remapping != RHEOS_TOGGLE_OFF &&
         options->elementwise_fusion != RHEOS_TOGGLE_OFF;
}

static const rheos__elementwise *row_of(const fuser *f, int32_t index) {
  const rheos__instruction *in = &f->segment->instructions[index];
  if (in->kind != RHEOS__RUN || in->num_outputs != 1) return NULL;
  const rheos__elementwise *row = f->by->row_of(in);
  return row != NULL && !row->can_fail && row->num_elements > 0 ? row : NULL;
}

static const rheos__reduction *reduction_of(const fuser *f, int32_t index) {
  return f->by->reduction_of(&f->segment->instructions[index]);
}

static int32_t operand_of(const fuser *f, const rheos__instruction *in, int32_t k) {
  return f->segment->operands[in->first_operand + k];
}

// The instruction whose place the cluster takes.
static int32_t end_of(const cluster *c) { return c->reduction >= 0 ? c->reduction : c->last; }

static bool is_fused(const cluster *c) { return c->num_members > 1 || c->reduction >= 0; }

// The instruction of this segment that makes the value, or -1.
static int32_t producer_of(const fuser *f, int32_t value) {
  const int32_t index = value - f->segment->first_value;
  return index >= 0 ? f->producers[index] : -1;
}

// ---- Finding clusters

// The cluster that an operand comes from, or -1.
static int32_t source_of(const fuser *f, const rheos__instruction *in, int32_t k) {
  const int32_t producer = producer_of(f, operand_of(f, in, k));
  return producer >= 0 ? f->cluster_of[producer] : -1;
}

static bool may_join(const fuser *f, const cluster *c, const rheos__elementwise *row, int32_t k) {
  return !c->closed && !(c->reads_tensors && c->num_writes != f->num_writes) &&
         c->num_elements == row->num_elements && rheos__elementwise_is_full(row, k) &&
         c->num_members < f->by->max_rows && c->num_inputs + row->num_operands <= f->by->max_inputs;
}

// Moves the members of `from` into `into`, in order.
static void merge(fuser *f, int32_t into_id, int32_t from_id) {
  cluster *into = &f->clusters[into_id], *from = &f->clusters[from_id];
  assert(into_id != from_id && !from->closed && from->num_elements == into->num_elements);
  assert(into->num_members + from->num_members <= f->by->max_rows);
  int32_t a = into->first, b = from->first, *link = &into->first;
  while (a >= 0 || b >= 0) {
    const bool take_a = b < 0 || (a >= 0 && a < b);
    const int32_t taken = take_a ? a : b;
    *link = taken;
    link = &f->next[taken];
    f->cluster_of[taken] = into_id;
    if (take_a) {
      a = *link;
    } else {
      b = *link;
    }
  }
  if (from->last > into->last) into->last = from->last;
  if (from->num_writes < into->num_writes) into->num_writes = from->num_writes;
  into->num_members += from->num_members;
  into->num_inputs += from->num_inputs;
  into->reads_tensors |= from->reads_tensors;
  from->num_members = 0;
  from->closed = true;
}

// Puts instruction `index` into cluster `id`, its last member so far.
static void append(fuser *f, int32_t id, int32_t index) {
  cluster *c = &f->clusters[id];
  assert(index > c->last && c->num_members < f->by->max_rows && !c->closed);
  f->next[c->last] = index;
  c->last = index;
  c->num_members++;
  f->cluster_of[index] = id;
}

// Into the cluster of a full operand, or one of its own; those of further operands are merged.
static rheos_status *add_member(fuser *f, int32_t index, const rheos__elementwise *row) {
  const rheos__instruction *in = &f->segment->instructions[index];
  int32_t id = -1;
  for (int32_t k = 0; k < in->num_inputs && id < 0; ++k) {
    const int32_t from = source_of(f, in, k);
    if (from >= 0 && may_join(f, &f->clusters[from], row, k)) id = from;
  }
  if (id >= 0) {
    append(f, id, index);
  } else {
    if (!RHEOS_RESERVE(f->clusters, f->cluster_capacity, f->num_clusters + 1)) {
      return rheos__out_of_memory();
    }
    id = (int32_t)f->num_clusters++;
    f->clusters[id] = (cluster){.num_elements = row->num_elements,
                                .first = index,
                                .last = index,
                                .reduction = -1,
                                .num_members = 1,
                                .num_writes = f->num_writes};
    f->cluster_of[index] = id;
  }
  for (int32_t k = 0; k < in->num_inputs; ++k) {
    cluster *c = &f->clusters[id];
    const int32_t from = source_of(f, in, k);
    if (from == id) continue;
    if (from >= 0 && may_join(f, &f->clusters[from], row, k) &&
        c->num_members + f->clusters[from].num_members <= f->by->max_rows &&
        c->num_inputs + f->clusters[from].num_inputs + row->num_operands <= f->by->max_inputs) {
      merge(f, id, from);
      continue;
    }
    if (from >= 0) f->clusters[from].closed = true;
    c->num_inputs++;
    const rheos__value *value = rheos__find_value(f->segment, operand_of(f, in, k));
    if (value->kind == RHEOS__VALUE_TENSOR) c->reads_tensors = true;
  }
  return NULL;
}

// A reduction of what a cluster computes ends it, if nothing else has.
static void add_reduction(fuser *f, int32_t index) {
  const rheos__reduction *r = reduction_of(f, index);
  if (r == NULL) return;
  const int32_t producer = producer_of(f, operand_of(f, &f->segment->instructions[index], 0));
  const int32_t id = producer >= 0 ? f->cluster_of[producer] : -1;
  if (id < 0) return;
  cluster *c = &f->clusters[id];
  if (c->closed || (c->reads_tensors && c->num_writes != f->num_writes) ||
      r->count * r->num_outputs != c->num_elements ||
      row_of(f, producer)->out_bytes != r->in_bytes) {
    return;
  }
  assert(c->reduction < 0 && index > c->last);
  c->reduction = index;
  f->cluster_of[index] = id;
}

static void close_sources(fuser *f, const rheos__instruction *in) {
  for (int32_t k = 0; k < in->num_inputs; ++k) {
    const int32_t from = source_of(f, in, k);
    if (from >= 0) f->clusters[from].closed = true;
  }
}

static rheos_status *find_clusters(fuser *f) {
  const rheos__segment *segment = f->segment;
  for (int32_t i = 0; i < segment->num_values; ++i) f->producers[i] = -1;
  for (int32_t i = 0; i < segment->num_instructions; ++i) {
    const rheos__instruction *in = &segment->instructions[i];
    f->cluster_of[i] = f->next[i] = -1;
    for (int32_t k = 0; k < in->num_inputs; ++k) {
      const int32_t value = operand_of(f, in, k) - segment->first_value;
      if (value >= 0) ++f->num_readers[value];
    }
    for (int32_t k = 0; k < in->num_outputs; ++k) {
      f->producers[in->first_value + k - segment->first_value] = i;
    }
    const rheos__elementwise *row = row_of(f, i);
    if (row != NULL) {
      RHEOS_TRY(add_member(f, i, row));
      continue;
    }
    if (in->kind == RHEOS__WATCH) continue;  // it comes behind the cluster
    add_reduction(f, i);
    close_sources(f, in);
    const rheos__entry *entry = &segment->plan->entries[in->entry];
    if (rheos__entry_writes(entry)) ++f->num_writes;
  }
  return NULL;
}

// ---- Making instructions of them

static rheos_status *add_instruction(fuser *f, const rheos__instruction *instruction) {
  if (!RHEOS_RESERVE(f->instructions, f->instruction_capacity, f->num_instructions + 1)) {
    return rheos__out_of_memory();
  }
  f->instructions[f->num_instructions++] = *instruction;
  return NULL;
}

static rheos_status *add_operand(fuser *f, int32_t root, int32_t input_value) {
  if (!RHEOS_RESERVE(f->operands, f->operand_capacity, f->num_operands + 1) ||
      !RHEOS_RESERVE(f->input_values, f->input_value_capacity, f->num_operands + 1)) {
    return rheos__out_of_memory();
  }
  f->operands[f->num_operands] = root;
  f->input_values[f->num_operands++] = input_value;
  return NULL;
}

// An instruction that is part of no cluster.
static rheos_status *keep(fuser *f, int32_t index) {
  rheos__instruction in = f->segment->instructions[index];
  const int32_t first = (int32_t)f->num_operands;
  for (int32_t k = 0; k < in.num_inputs; ++k) {
    RHEOS_TRY(
        add_operand(f, operand_of(f, &in, k), f->segment->input_values[in.first_operand + k]));
  }
  in.first_operand = first;
  return add_instruction(f, &in);
}

// A cluster being made into one instruction.
typedef struct fusion {
  int32_t members[MAX_MEMBERS];
  int32_t count;
  int32_t target;                          // the member that is the output, or is reduced
  const rheos__reduction *reduction;       // or NULL
  int32_t num_inner_readers[MAX_MEMBERS];  // of each member's output
  bool needed[MAX_MEMBERS];                // outside
  int32_t outputs[MAX_MEMBERS];            // operand, RHEOS__IN_SLOT or RHEOS__TO_OUTPUT
  int32_t first;                           // operand of the new instruction
  int32_t num_inputs;
  int32_t num_input_readers[RHEOS__FUSED_OPERANDS];  // of each input, inside
  rheos__fused_cluster whole;
} fusion;

static int32_t member_of(const fusion *u, int32_t instruction) {
  for (int32_t m = 0; instruction >= 0 && m < u->count; ++m) {
    if (u->members[m] == instruction) return m;
  }
  return -1;
}

static rheos__value *output_of(const fuser *f, int32_t index) {
  const rheos__segment *segment = f->segment;
  return &segment->values[segment->instructions[index].first_value - segment->first_value];
}

static void list_members(fuser *f, const cluster *c, fusion *u) {
  for (int32_t at = c->first; at >= 0; at = f->next[at]) {
    const rheos__instruction *in = &f->segment->instructions[at];
    for (int32_t k = 0; k < in->num_inputs; ++k) {
      const int32_t from = member_of(u, producer_of(f, operand_of(f, in, k)));
      if (from >= 0) ++u->num_inner_readers[from];
    }
    u->members[u->count++] = at;
  }
  assert(u->count == c->num_members);
  u->target = u->count - 1;
  if (c->reduction >= 0) {
    const rheos__instruction *in = &f->segment->instructions[c->reduction];
    u->reduction = reduction_of(f, c->reduction);
    u->target = member_of(u, producer_of(f, operand_of(f, in, 0)));
    assert(u->target >= 0);
    ++u->num_inner_readers[u->target];
  }
  for (int32_t m = 0; m < u->count; ++m) {
    const rheos__value *value = output_of(f, u->members[m]);
    const int32_t readers = f->num_readers[value - f->segment->values];
    u->needed[m] = value->escapes || readers != u->num_inner_readers[m];
  }
}

// The number of the input that is `value`, or -1.
static int32_t find_input(const fuser *f, const fusion *u, int32_t value) {
  for (int32_t k = 0; k < u->num_inputs; ++k) {
    if (f->operands[u->first + k] == value) return k;
  }
  return -1;
}

static rheos_status *list_inputs(fuser *f, fusion *u) {
  for (int32_t m = 0; m < u->count; ++m) {
    const rheos__instruction *in = &f->segment->instructions[u->members[m]];
    const rheos__elementwise *row = row_of(f, u->members[m]);
    for (int32_t k = 0; k < in->num_inputs; ++k) {
      const int32_t value = operand_of(f, in, k);
      if (member_of(u, producer_of(f, value)) >= 0) continue;
      int32_t at = find_input(f, u, value);
      if (at < 0) {
        RHEOS_TRY(add_operand(f, value, value));
        const bool full = rheos__elementwise_is_full(row, k);
        u->whole.steps[u->whole.num_operands++] = full ? row->element_bytes[k] : 0;
        at = u->num_inputs++;
      }
      ++u->num_input_readers[at];
    }
  }
  return NULL;
}

// What is needed outside becomes operands, but the output.
static rheos_status *list_outputs(fuser *f, fusion *u) {
  for (int32_t m = 0; m < u->count; ++m) {
    u->outputs[m] = m == u->target ? RHEOS__TO_OUTPUT : RHEOS__IN_SLOT;
    if (!u->needed[m] || (m == u->target && u->reduction == NULL)) continue;
    rheos__instruction held = f->segment->instructions[u->members[m]];
    u->outputs[m] = u->whole.num_operands;
    RHEOS_TRY(add_operand(f, held.first_value, held.first_value));
    u->whole.steps[u->whole.num_operands++] = row_of(f, u->members[m])->out_bytes;
    held.kind = RHEOS__HOLD;
    held.num_inputs = 0;
    held.reuse_input = -1;
    held.cost_ns = held.flops = held.bytes = 0;
    RHEOS_TRY(add_instruction(f, &held));
  }
  return NULL;
}

static void add_rows(fuser *f, fusion *u) {
  rheos__fused_cluster *whole = &u->whole;
  for (int32_t m = 0; m < u->count; ++m) {
    const rheos__instruction *in = &f->segment->instructions[u->members[m]];
    rheos__fused_row *row = &whole->rows[whole->num_rows++];
    *row = (rheos__fused_row){.row = row_of(f, u->members[m]),
                              .instruction = u->members[m],
                              .output = u->outputs[m],
                              .num_readers = u->num_inner_readers[m]};
    for (int32_t k = 0; k < in->num_inputs; ++k) {
      const int32_t value = operand_of(f, in, k);
      const int32_t from = member_of(u, producer_of(f, value));
      assert(from < m);  // members are in the order of their instructions
      row->inputs[k] = from >= 0 ? -1 - from : find_input(f, u, value);
      assert(from >= 0 || row->inputs[k] >= 0);
    }
    if (u->outputs[m] == RHEOS__TO_OUTPUT) whole->steps[whole->num_operands] = row->row->out_bytes;
  }
  whole->target = u->target;
  whole->reduction = u->reduction;
}

// An input that the output may be written over: as long, and read by nothing else.
static int32_t input_to_reuse(const fuser *f, const fusion *u) {
  const rheos__segment *segment = f->segment;
  for (int32_t k = 0; k < u->num_inputs; ++k) {
    const int32_t index = f->operands[u->first + k] - segment->first_value;
    if (index < 0 || u->whole.steps[k] != u->whole.steps[u->whole.num_operands]) continue;
    const rheos__value *value = &segment->values[index];
    if (value->kind == RHEOS__VALUE_ARENA && !value->escapes &&
        f->num_readers[index] == u->num_input_readers[k]) {
      return k;
    }
  }
  return -1;
}

// The arithmetic of the members, and what goes through memory once. `in` has that of a reduction.
static void set_cost(const fuser *f, const fusion *u, rheos__instruction *in) {
  double flops = u->reduction != NULL ? (double)in->flops : 0, bytes = 0;
  for (int32_t m = 0; m < u->count; ++m) {
    flops += (double)f->segment->instructions[u->members[m]].flops;
  }
  const int32_t num_full = u->whole.num_operands + (u->reduction == NULL);
  for (int32_t k = 0; k < num_full; ++k) {
    bytes += (double)u->whole.steps[k] * (double)u->whole.num_elements;
  }
  in->flops = (float)flops;
  in->bytes = (float)bytes;
  in->cost_ns =
      (float)(RHEOS__NS_OVERHEAD + RHEOS__NS_PER_BYTE * bytes + RHEOS__NS_PER_FLOP * flops);
}

// Values that only the cluster sees are none any more.
static void drop_inner_values(const fuser *f, const fusion *u) {
  for (int32_t m = 0; m < u->count; ++m) {
    const bool is_output = m == u->target && u->reduction == NULL;
    if (u->outputs[m] < 0 && !is_output) output_of(f, u->members[m])->kind = RHEOS__VALUE_NONE;
  }
}

// The instructions of a cluster that cannot be one, where that would have stood.
static rheos_status *keep_members(fuser *f, const cluster *c) {
  for (int32_t at = c->first; at >= 0; at = f->next[at]) RHEOS_TRY(keep(f, at));
  return c->reduction >= 0 ? keep(f, c->reduction) : NULL;
}

static rheos_status *fuse_cluster(fuser *f, const cluster *c) {
  fusion u = {.first = (int32_t)f->num_operands};
  const size_t instructions_before = f->num_instructions;
  bool made = true;
  u.whole.num_elements = c->num_elements;
  list_members(f, c, &u);
  RHEOS_TRY(list_inputs(f, &u));
  RHEOS_TRY(list_outputs(f, &u));
  add_rows(f, &u);
  rheos__instruction in = f->segment->instructions[end_of(c)];
  in.first_operand = u.first;
  in.num_inputs = u.whole.num_operands;
  assert(in.num_inputs <= RHEOS__FUSED_OPERANDS);
  assert((size_t)(u.first + in.num_inputs) == f->num_operands);
  in.reuse_input = u.reduction != NULL ? -1 : input_to_reuse(f, &u);
  set_cost(f, &u, &in);
  RHEOS_TRY(f->by->make(f->segment, &u.whole, &in, &made));
  if (!made) {
    f->num_instructions = instructions_before;
    f->num_operands = (size_t)u.first;
    return keep_members(f, c);
  }
  drop_inner_values(f, &u);
  in.parallel = in.num_units > 1 && in.cost_ns > RHEOS__PARALLEL_NS;
  return add_instruction(f, &in);
}

// The cluster, if it is fused, that a watch delivers a value of; else NULL.
static const cluster *watched_by(const fuser *f, int32_t index) {
  const rheos__instruction *in = &f->segment->instructions[index];
  const int32_t id = in->kind == RHEOS__WATCH ? source_of(f, in, 0) : -1;
  return id >= 0 && is_fused(&f->clusters[id]) ? &f->clusters[id] : NULL;
}

// Watches that came before the end of the cluster.
static rheos_status *keep_watches(fuser *f, const cluster *c) {
  for (int32_t i = c->first; i < end_of(c); ++i) {
    if (watched_by(f, i) == c) RHEOS_TRY(keep(f, i));
  }
  return NULL;
}

static rheos_status *rewrite(fuser *f) {
  rheos__segment *segment = f->segment;
  const bool any_watch = segment->plan->context.watches != NULL;
  for (int32_t i = 0; i < segment->num_instructions; ++i) {
    const int32_t id = f->cluster_of[i];
    const cluster *c = id >= 0 ? &f->clusters[id] : NULL;
    if (c == NULL || !is_fused(c)) {
      const cluster *watched = any_watch ? watched_by(f, i) : NULL;
      if (watched == NULL || i > end_of(watched)) RHEOS_TRY(keep(f, i));
    } else if (i == end_of(c)) {
      RHEOS_TRY(fuse_cluster(f, c));
      if (any_watch) RHEOS_TRY(keep_watches(f, c));
    }
  }
  return NULL;
}

static void take_over(fuser *f) {
  rheos__segment *segment = f->segment;
  rheos__free(segment->instructions);
  rheos__free(segment->operands);
  rheos__free(segment->input_values);
  segment->instructions = f->instructions;
  segment->num_instructions = (int32_t)f->num_instructions;
  segment->operands = f->operands;
  segment->input_values = f->input_values;
  f->instructions = NULL;
  f->operands = f->input_values = NULL;
  assert(segment->num_instructions > 0);
  segment->cost_ns = 0;
  for (int32_t i = 0; i < segment->num_instructions; ++i) {
    segment->cost_ns += (double)segment->instructions[i].cost_ns;
  }
}

static bool any_cluster(const fuser *f) {
  for (size_t i = 0; i < f->num_clusters; ++i) {
    if (is_fused(&f->clusters[i])) return true;
  }
  return false;
}

static rheos_status *fuse(fuser *f) {
  const size_t instructions = (size_t)f->segment->num_instructions;
  const size_t values = (size_t)f->segment->num_values;
  f->cluster_of = rheos__alloc_array(instructions, sizeof *f->cluster_of);
  f->next = rheos__alloc_array(instructions, sizeof *f->next);
  f->producers = rheos__alloc_array(values, sizeof *f->producers);
  f->num_readers = rheos__alloc_array(values, sizeof *f->num_readers);
  if (f->cluster_of == NULL || f->next == NULL || f->producers == NULL || f->num_readers == NULL) {
    return rheos__out_of_memory();
  }
  RHEOS_TRY(find_clusters(f));
  if (!any_cluster(f)) return NULL;
  rheos__find_escapes(f->segment);
  RHEOS_TRY(rewrite(f));
  take_over(f);
  return NULL;
}

rheos_status *rheos__fuse(rheos__segment *segment, const rheos__fusing *by) {
  fuser f = {.segment = segment, .by = by};
  rheos_status *status = fuse(&f);
  rheos__free(f.clusters);
  rheos__free(f.cluster_of);
  rheos__free(f.next);
  rheos__free(f.producers);
  rheos__free(f.num_readers);
  rheos__free(f.instructions);
  rheos__free(f.operands);
  rheos__free(f.input_values);
  return status;
}
