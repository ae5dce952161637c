// The rewriter: once the entries of a plan are in order, rules put fewer and faster ones in their
// place. It works on the plan's own records and never on the graph, so what the user sees stays as
// it was written, and every entry keeps the node whose name and source line its errors carry.
//
// A rule is a row of a table (rules_*.c): the op that it starts from, the group whose option turns
// it off, and a function that looks at one entry and, if it finds its pattern, changes the plan
// through the functions below. Entries are visited once, in their order, so that what stands before
// an entry has been rewritten already. An op without rules costs one lookup.
//
// What a rule must keep: the bits of every result (unless it is `aggressive`), the errors (but
// those of what is not run as others only wait for it), and what has effects. Values that are
// fetched or fed are there still: a feed has no source, a fetch counts as a use. Nothing may depend
// on shapes but where the graph knows them for every step.
#ifndef RHEOS_SRC_PLAN_RULES_REWRITE_H
#define RHEOS_SRC_PLAN_RULES_REWRITE_H

#include "plan/entries/plan.h"
#include "plan/entries/wait_lists.h"

#define RHEOS_OP(op) extern const rheos__op_def rheos__op_##op;
#include "ops/ops.def"
#undef RHEOS_OP

// Applies the rules that the plan's options leave on. The plan's values are numbered and described.
// `targets`: the nodes that the program asked to run.
rheos_status *rheos__rewrite(rheos__plan *plan, const int32_t *targets, int32_t num_targets);

// The name of the rule that made an entry what it is; NULL for none.
const char *rheos__rule_name(const rheos__entry *entry);

// ---- For rules

typedef struct rheos__rewriter {
  rheos__plan *plan;
  int32_t *producers;  // by value: the entry that gives it, -1: a feed
  int32_t *num_uses;   // by value: how often it is an operand or fetched
  int32_t *instead;    // by value: the one that took its place, or itself
  size_t num_operands, operand_capacity;
  int32_t *stack;  // entries that lost their last use
  size_t stack_count, stack_capacity;
  const rheos__attrs **made;  // attributes that rules asked for
  size_t num_made, made_capacity;
  rheos__wait_lists waits;
  uint16_t rule;   // one more than the number of the one that is asked
  bool changed;    // by the rule just asked
  int16_t device;  // of the entry that rules are asked about
  bool any_dropped;
  int64_t num_steps;  // rules and merges tried, values followed, entries dropped
} rheos__rewriter;

typedef enum rheos__rule_group {
  RHEOS__RULES_ARITHMETIC,
  RHEOS__RULES_DEPENDENCY,
  RHEOS__RULES_REMAPPING,
} rheos__rule_group;

typedef struct rheos__rule {
  const rheos__op_def *op;
  const char *name;  // of the function
  rheos_status *(*apply)(rheos__rewriter *r, rheos__entry *entry);
  uint8_t group;
  bool aggressive;  // may change bits: only where the option asks for it
} rheos__rule;

// A table ends with a row of zeros.
extern const rheos__rule rheos__plumbing_rules[];
extern const rheos__rule rheos__arithmetic_rules[];
extern const rheos__rule rheos__transpose_rules[];
extern const rheos__rule rheos__fused_rules[];

// The value that input `input` of the entry takes by now.
int32_t rheos__rule_input(rheos__rewriter *r, const rheos__entry *entry, int32_t input);
// The entry whose output 0 the value is, if it runs that op (NULL: any) on the device of the entry
// that rules are asked about; else NULL.
rheos__entry *rheos__rule_source(const rheos__rewriter *r, int32_t value, const rheos__op_def *op);
// The tensor, if the value is a constant of the graph; else NULL.
const rheos_tensor *rheos__rule_constant(const rheos__rewriter *r, int32_t value);
// What the graph knows of its shape.
const rheos_shape *rheos__rule_shape(const rheos__rewriter *r, int32_t value);
rheos_dtype rheos__rule_dtype(const rheos__rewriter *r, int32_t value);
// Whether one operand of one entry is all that takes it.
bool rheos__rule_used_once(const rheos__rewriter *r, int32_t value);

// Whoever takes output 0 of the entry, its only one in use, takes `value` instead.
rheos_status *rheos__rule_pass_on(rheos__rewriter *r, rheos__entry *entry, int32_t value);
// Whoever takes an output of the entry takes the same output of `into`, which lies before it.
rheos_status *rheos__rule_merge(rheos__rewriter *r, rheos__entry *entry, const rheos__entry *into);
// Whether the entry's device has a kernel for an op with such attributes.
bool rheos__rule_can_become(const rheos__rewriter *r, const rheos__entry *entry,
                            const rheos__op_def *op, const rheos__attrs *attrs);
// The entry runs another op on other inputs, which lie before it. Its output 0 stays the value that
// it is; if the op has fewer outputs, the others must not be in use. Nothing changes where it
// cannot become it: a rule that changes more than one entry asks before.
rheos_status *rheos__rule_become(rheos__rewriter *r, rheos__entry *entry, const rheos__op_def *op,
                                 const rheos__attrs *attrs, const int32_t *inputs,
                                 int32_t num_inputs);
// If nobody takes an output of the entry and it has no effects, it goes, and with it what only it
// needed.
rheos_status *rheos__rule_drop_unused(rheos__rewriter *r, rheos__entry *entry);
// The op's attributes: those named in `items`, defaults for the others. What the values point to
// must live as long as the plan.
rheos_status *rheos__rule_attrs(rheos__rewriter *r, const rheos__op_def *op,
                                const rheos_attr *items, int32_t num_items,
                                const rheos__attrs **out_attrs);

#endif  // RHEOS_SRC_PLAN_RULES_REWRITE_H
