// Entries are the same if op, attributes (interned, so a pointer), device and inputs are. What has
// state or effects, what depends on its node's name, and what takes a reference stays as it is.
#include "plan/rules/merge.h"

#include <string.h>

#include "base/hash.h"
#include "plan/entries/place.h"

rheos_status *rheos__merger_init(rheos__merger *merger, const rheos__plan *plan) {
  merger->num_slots = 16;
  while (merger->num_slots < (size_t)plan->num_entries * 2) merger->num_slots *= 2;
  merger->slots = rheos__alloc_array(merger->num_slots, sizeof *merger->slots);
  if (merger->slots == NULL) return rheos__out_of_memory();
  memset(merger->slots, 0xff, merger->num_slots * sizeof *merger->slots);
  return NULL;
}

void rheos__merger_deinit(rheos__merger *merger) { rheos__free(merger->slots); }

static bool may_merge(const rheos__plan *plan, const rheos__entry *entry) {
  const unsigned kept = RHEOS_OP_STATEFUL | RHEOS_OP_WRITES | RHEOS_OP_WANTS_NAME;
  if ((entry->signature->op->flags & kept) != 0 || entry->num_outputs == 0) return false;
  if (entry->num_inputs == 0 && entry->signature->op != &rheos__op_Const) return false;
  for (int32_t i = 0; i < entry->num_inputs; ++i) {
    const int32_t value = plan->operands[entry->first_operand + i];
    if (rheos_dtype_is_ref((rheos_dtype)plan->dtypes[value])) return false;
  }
  return true;
}

static uint64_t hash_of(const rheos__plan *plan, const rheos__entry *entry) {
  uint64_t hash =
      rheos__hash_mix((uint64_t)(uintptr_t)entry->signature, (uint64_t)(uintptr_t)entry->attrs);
  for (int32_t i = 0; i < entry->num_inputs; ++i) {
    hash = rheos__hash_mix(hash, (uint64_t)plan->operands[entry->first_operand + i]);
  }
  return rheos__hash_mix(hash, (uint64_t)entry->num_inputs);
}

// Where an entry may be. A few places near its latest operand come first: neighbours in the plan
// are neighbours in the table, which a hash alone would scatter over all of memory.
typedef struct probe {
  size_t near;
  uint64_t hash;
  size_t number;
} probe;

enum { NUM_NEAR = 8 };

static probe first_probe(const rheos__plan *plan, const rheos__entry *entry) {
  probe p = {.hash = hash_of(plan, entry), .number = entry->num_inputs > 0 ? 0 : NUM_NEAR};
  for (int32_t i = 0; i < entry->num_inputs; ++i) {
    const size_t value = (size_t)plan->operands[entry->first_operand + i];
    if (value > p.near) p.near = value;
  }
  return p;
}

static size_t place_of(const rheos__merger *merger, const probe *p) {
  const size_t start = p->number < NUM_NEAR ? p->near * 2 : (size_t)p->hash;
  return (start + p->number) & (merger->num_slots - 1);
}

static bool same(rheos__rewriter *r, const rheos__entry *a, const rheos__entry *b) {
  if (a->attrs != b->attrs || a->signature != b->signature || a->num_inputs != b->num_inputs ||
      a->num_outputs != b->num_outputs) {
    return false;
  }
  if (r->plan->is_mixed && a->device != b->device && !rheos__is_anywhere(a)) return false;
  for (int32_t i = 0; i < a->num_inputs; ++i) {
    if (rheos__rule_input(r, a, i) != rheos__rule_input(r, b, i)) return false;
  }
  return rheos__plan_node(r->plan, a->id)->device == rheos__plan_node(r->plan, b->id)->device;
}

rheos_status *rheos__merge(rheos__merger *merger, rheos__rewriter *r, int32_t index) {
  rheos__entry *entry = &r->plan->entries[index];
  if (!may_merge(r->plan, entry)) return NULL;
  // The first place on the way whose entry was dropped since: left as it is, each of a chain of ops
  // that cancel out two by two would go past all those before it, which are the same op on the same
  // value.
  int32_t *vacant = NULL;
  for (probe p = first_probe(r->plan, entry);; ++p.number) {
    int32_t *slot = &merger->slots[place_of(merger, &p)];
    ++r->num_steps;
    if (*slot < 0) {
      *(vacant != NULL ? vacant : slot) = index;
      return NULL;
    }
    rheos__entry *other = &r->plan->entries[*slot];
    if (other->kind != RHEOS__ENTRY_NODE) {
      if (vacant == NULL) vacant = slot;
    } else if (same(r, entry, other)) {
      return rheos__rule_merge(r, entry, other);
    }
  }
}
