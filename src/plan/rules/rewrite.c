// The walk over the entries, and what is left of them afterwards. See rewrite.h.
#include "plan/rules/rewrite.h"

#include <assert.h>
#include <pthread.h>
#include <string.h>

#include "graph/calls.h"
#include "plan/rules/merge.h"

enum { MAX_OPS = 4096, MAX_ROUNDS = 8 };

static const rheos__rule *const rule_tables[] = {rheos__plumbing_rules, rheos__arithmetic_rules,
                                                 rheos__transpose_rules, rheos__fused_rules};

// ---- Rules by op: made once for the process, constant afterwards

static struct {
  const rheos__rule *rules[MAX_OPS];  // of each op, grouped
  int32_t count;
  uint16_t first[MAX_OPS + 1];  // by the op's place in the table of signatures
} by_op;

static pthread_once_t once = PTHREAD_ONCE_INIT;

// -1 for ops that only one graph has.
static int32_t index_of(const rheos__signature *signature) {
  const uintptr_t first = (uintptr_t)rheos__signature_at(0), at = (uintptr_t)signature;
  const uintptr_t size = (uintptr_t)rheos__op_table_size * sizeof *signature;
  if (at < first || at >= first + size) return -1;
  return (int32_t)((at - first) / sizeof *signature);
}

static void sort_rules(void) {
  for (int32_t op = 0; op < rheos__op_table_size && op < MAX_OPS; ++op) {
    by_op.first[op] = (uint16_t)by_op.count;
    for (size_t t = 0; t < sizeof rule_tables / sizeof *rule_tables; ++t) {
      for (const rheos__rule *rule = rule_tables[t]; rule->op != NULL; ++rule) {
        if (rheos__signature_at(op)->op != rule->op || by_op.count == MAX_OPS) continue;
        by_op.rules[by_op.count++] = rule;
      }
    }
    by_op.first[op + 1] = (uint16_t)by_op.count;
  }
}

static bool is_on(const rheos__plan *plan, const rheos__rule *rule) {
  const rheos_rewrite_options *options = &plan->context.rewrites;
  rheos_toggle toggle = RHEOS_TOGGLE_OFF;
  switch ((rheos__rule_group)rule->group) {
    case RHEOS__RULES_ARITHMETIC: toggle = options->arithmetic_optimization; break;
    case RHEOS__RULES_DEPENDENCY: toggle = options->dependency_optimization; break;
    case RHEOS__RULES_REMAPPING: toggle = options->remapping; break;
  }
  return rule->aggressive ? toggle == RHEOS_TOGGLE_AGGRESSIVE : toggle != RHEOS_TOGGLE_OFF;
}

const char *rheos__rule_name(const rheos__entry *entry) {
  return entry->rule != 0 ? by_op.rules[entry->rule - 1]->name : NULL;
}

// ---- The walk

static rheos_status *apply_rules(rheos__rewriter *r, rheos__entry *entry) {
  for (int round = 0; round < MAX_ROUNDS; ++round) {
    const int32_t op = index_of(entry->signature);
    r->changed = false;
    for (int32_t i = op < 0 ? 0 : by_op.first[op]; op >= 0 && i < by_op.first[op + 1]; ++i) {
      if (!is_on(r->plan, by_op.rules[i])) continue;
      r->rule = (uint16_t)(i + 1);
      ++r->num_steps;
      RHEOS_TRY(by_op.rules[i]->apply(r, entry));
      if (entry->kind == RHEOS__ENTRY_DROPPED) return NULL;
      if (r->changed) break;  // another op may have other rules
    }
    if (!r->changed) return NULL;
  }
  return NULL;
}

// The input as it is by now: where its source was dropped, the entry waits for whom that one
// waited.
static rheos_status *take_input(rheos__rewriter *r, int32_t index, int32_t input) {
  const rheos__entry *entry = &r->plan->entries[index];
  int32_t *operand = &r->plan->operands[entry->first_operand + input];
  const int32_t value = rheos__rule_input(r, entry, input);
  assert(value < entry->first_value);
  if (value == *operand) return NULL;
  RHEOS_TRY(rheos__wait_through(&r->waits, index, r->producers[*operand]));
  *operand = value;
  return NULL;
}

static rheos_status *walk(rheos__rewriter *r, rheos__merger *merger) {
  const rheos_rewrite_options *options = &r->plan->context.rewrites;
  const bool merges = options->common_subgraph_elimination != RHEOS_TOGGLE_OFF;
  const bool drops = options->dependency_optimization != RHEOS_TOGGLE_OFF;
  for (int32_t i = 0; i < r->plan->num_entries; ++i) {
    rheos__entry *entry = &r->plan->entries[i];
    // Dropped entries take their inputs too: who waited for one waits for whom its inputs waited.
    for (int32_t k = 0; k < entry->num_inputs; ++k) RHEOS_TRY(take_input(r, i, k));
    if (entry->kind != RHEOS__ENTRY_NODE) continue;
    if (drops && rheos__is_nothing(entry)) {  // the order of the entries keeps what waited for it
      entry->kind = RHEOS__ENTRY_DROPPED;
      r->any_dropped = true;
      continue;
    }
    r->device = entry->device;
    RHEOS_TRY(apply_rules(r, entry));
    if (merges && entry->kind == RHEOS__ENTRY_NODE) RHEOS_TRY(rheos__merge(merger, r, i));
  }
  return NULL;
}

// ---- What only others waited for

// Ops that are asked for because they may fail.
static bool is_check(const rheos__op_def *op) {
  static const rheos__op_def *const checks[] = {&rheos__op_CheckNumerics, &rheos__op_Placeholder,
                                                &rheos__op_PlaceholderV2};
  for (size_t i = 0; i < sizeof checks / sizeof *checks; ++i) {
    if (op == checks[i]) return true;
  }
  return false;
}

static bool is_asked_for(const rheos__entry *entry, const bool *is_target) {
  const rheos__structure *structure = entry->structure;
  for (int32_t i = 0; structure != NULL && i < structure->num_outputs; ++i) {
    if (is_target[structure->outputs[i].id]) return true;
  }
  return is_target[entry->id];
}

// Drops what computes something for nobody and is there only since others wait for it: the order of
// the entries keeps what those waited for in turn. Gradients have much of it, as an optimizer waits
// for the gradients of all inputs of an op. The `targets` were asked for and run.
static rheos_status *drop_waited_for(rheos__rewriter *r, const int32_t *targets,
                                     int32_t num_targets) {
  const rheos__plan *plan = r->plan;
  bool *is_target = rheos__alloc_array((size_t)rheos__plan_num_ids(plan), sizeof *is_target);
  if (is_target == NULL) return rheos__out_of_memory();
  for (int32_t i = 0; i < num_targets; ++i) is_target[targets[i]] = true;
  rheos_status *status = NULL;
  for (int32_t i = plan->num_entries; status == NULL && i-- > 0;) {
    rheos__entry *entry = &plan->entries[i];
    if (entry->kind == RHEOS__ENTRY_DROPPED || entry->num_outputs == 0 ||
        is_asked_for(entry, is_target) || is_check(entry->signature->op)) {
      continue;
    }
    status = rheos__rule_drop_unused(r, entry);
  }
  rheos__free(is_target);
  return status;
}

// ---- Before and after

static rheos_status *rewriter_init(rheos__rewriter *r, rheos__plan *plan) {
  *r = (rheos__rewriter){.plan = plan};
  const size_t count = (size_t)plan->num_values;
  r->producers = rheos__alloc_array(count, sizeof *r->producers);
  r->num_uses = rheos__alloc_array(count, sizeof *r->num_uses);
  r->instead = rheos__alloc_array(count, sizeof *r->instead);
  if (r->producers == NULL || r->num_uses == NULL || r->instead == NULL) {
    return rheos__out_of_memory();
  }
  for (int32_t i = 0; i < plan->num_values; ++i) r->instead[i] = i;
  for (int32_t i = 0; i < plan->num_feeds; ++i) r->producers[i] = -1;
  for (int32_t i = 0; i < plan->num_entries; ++i) {
    const rheos__entry *entry = &plan->entries[i];
    for (int32_t k = 0; k < entry->num_outputs; ++k) r->producers[entry->first_value + k] = i;
    for (int32_t k = 0; k < entry->num_inputs; ++k) {
      ++r->num_uses[plan->operands[entry->first_operand + k]];
    }
    r->num_operands += (size_t)entry->num_inputs;
  }
  r->operand_capacity = r->num_operands;
  for (int32_t i = 0; i < plan->num_fetches; ++i) ++r->num_uses[plan->fetch_values[i]];
  return rheos__wait_lists_init(&r->waits, plan);
}

static void rewriter_deinit(rheos__rewriter *r) {
  rheos__free(r->producers);
  rheos__free(r->num_uses);
  rheos__free(r->instead);
  rheos__free(r->stack);
  rheos__free((void *)r->made);
  rheos__wait_lists_deinit(&r->waits);
}

static int32_t final_value(const rheos__rewriter *r, int32_t value) {
  while (r->instead[value] != value) value = r->instead[value];
  return value;
}

static int32_t producer_of_operand(void *argument, int32_t operand) {
  const rheos__rewriter *r = argument;
  return r->producers[final_value(r, r->plan->operands[operand])];
}

// Closes the gaps that dropped entries left, and numbers the values anew: `producers` becomes the
// table from old to new.
static rheos_status *close_gaps(rheos__rewriter *r) {
  rheos__plan *plan = r->plan;
  RHEOS_TRY(rheos__wait_lists_store(&r->waits, plan, producer_of_operand, r));
  int32_t *operands = rheos__alloc_array(r->num_operands, sizeof *operands);
  if (operands == NULL) return rheos__out_of_memory();
  int32_t *renamed = r->producers;
  for (int32_t i = 0; i < plan->num_feeds; ++i) renamed[i] = i;
  int32_t num_entries = 0, num_values = plan->num_feeds, num_operands = 0;
  for (int32_t i = 0; i < plan->num_entries; ++i) {
    rheos__entry entry = plan->entries[i];
    if (entry.kind == RHEOS__ENTRY_DROPPED) continue;
    assert(num_entries <= i && num_values <= entry.first_value);
    for (int32_t k = 0; k < entry.num_inputs; ++k) {
      operands[num_operands + k] = renamed[final_value(r, plan->operands[entry.first_operand + k])];
    }
    for (int32_t k = 0; k < entry.num_outputs; ++k) {
      renamed[entry.first_value + k] = num_values + k;
      plan->origins[num_values + k] = plan->origins[entry.first_value + k];
      plan->dtypes[num_values + k] = plan->dtypes[entry.first_value + k];
    }
    entry.first_operand = num_operands;
    entry.first_value = num_values;
    num_operands += entry.num_inputs;
    num_values += entry.num_outputs;
    plan->entries[num_entries++] = entry;
  }
  for (int32_t i = 0; i < plan->num_fetches; ++i) {
    plan->fetch_values[i] = renamed[final_value(r, plan->fetch_values[i])];
  }
  rheos__free(plan->operands);
  plan->operands = operands;
  assert(num_entries <= plan->num_entries && num_values <= plan->num_values);
  assert((size_t)num_operands <= r->num_operands);
  plan->num_entries = num_entries;
  plan->num_values = num_values;
  return NULL;
}

rheos_status *rheos__rewrite(rheos__plan *plan, const int32_t *targets, int32_t num_targets) {
  if (plan->context.rewrites.disable_meta_optimizer) return NULL;
  pthread_once(&once, sort_rules);
  rheos__rewriter r;
  rheos__merger merger = {0};
  rheos_status *status = rewriter_init(&r, plan);
  if (status == NULL) status = rheos__merger_init(&merger, plan);
  if (status == NULL && plan->context.rewrites.dependency_optimization != RHEOS_TOGGLE_OFF) {
    status = drop_waited_for(&r, targets, num_targets);
  }
  if (status == NULL) status = walk(&r, &merger);
  if (status == NULL && r.any_dropped) status = close_gaps(&r);
  plan->num_rewrite_steps = r.num_steps;
  rheos__merger_deinit(&merger);
  rewriter_deinit(&r);
  return status;
}
