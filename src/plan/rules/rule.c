// What rules may ask of a plan, and how they change it. See rewrite.h.
#include "plan/rules/rewrite.h"

#include <assert.h>
#include <string.h>

#include "plan/entries/place.h"

enum { MAX_COMPARED = 64 };  // attributes made before, the latest

int32_t rheos__rule_input(rheos__rewriter *r, const rheos__entry *entry, int32_t input) {
  assert(input >= 0 && input < entry->num_inputs);
  const int32_t taken = r->plan->operands[entry->first_operand + input];
  int32_t value = r->instead[taken];
  if (value == taken || r->instead[value] == value) return value;
  for (; r->instead[value] != value; ++r->num_steps) value = r->instead[value];
  r->instead[taken] = value;  // a shorter way for the next
  return value;
}

rheos__entry *rheos__rule_source(const rheos__rewriter *r, int32_t value, const rheos__op_def *op) {
  assert(value >= 0 && value < r->plan->num_values && r->instead[value] == value);
  const int32_t producer = r->producers[value];
  if (producer < 0) return NULL;
  rheos__entry *entry = &r->plan->entries[producer];
  if (entry->kind != RHEOS__ENTRY_NODE || entry->first_value != value) return NULL;
  if (r->plan->is_mixed && !rheos__is_anywhere(entry) && entry->device != r->device) return NULL;
  return op == NULL || entry->signature->op == op ? entry : NULL;
}

const rheos_tensor *rheos__rule_constant(const rheos__rewriter *r, int32_t value) {
  const rheos__entry *source = rheos__rule_source(r, value, &rheos__op_Const);
  if (source == NULL) return NULL;
  const rheos_attr_value *attr = rheos__attrs_find(source->attrs, "value");
  return attr != NULL && attr->kind == RHEOS_ATTR_TENSOR ? attr->tensor : NULL;
}

const rheos_shape *rheos__rule_shape(const rheos__rewriter *r, int32_t value) {
  const rheos__edge origin = r->plan->origins[value];
  return rheos__plan_node(r->plan, origin.id)->outputs[origin.index].shape;
}

rheos_dtype rheos__rule_dtype(const rheos__rewriter *r, int32_t value) {
  return (rheos_dtype)r->plan->dtypes[value];
}

bool rheos__rule_used_once(const rheos__rewriter *r, int32_t value) {
  return r->num_uses[value] == 1;
}

// ---- Changes

// An entry that nobody takes anything of from the start is there because the program asked for it
// to run: what stands for it must run too, and fail where it would have failed.
static bool is_unused(const rheos__rewriter *r, const rheos__entry *entry) {
  for (int32_t i = 0; i < entry->num_outputs; ++i) {
    if (r->num_uses[entry->first_value + i] > 0) return false;
  }
  return true;
}

// What is computed for nobody any more may go, unless it has effects or can say that a variable has
// no value yet.
static bool may_go(const rheos__rewriter *r, const rheos__entry *entry) {
  if (entry->kind != RHEOS__ENTRY_NODE ||
      (entry->signature->op->flags & (RHEOS_OP_STATEFUL | RHEOS_OP_WRITES)) != 0) {
    return false;
  }
  return is_unused(r, entry);
}

static rheos_status *leave(rheos__rewriter *r, int32_t value) {
  assert(r->num_uses[value] > 0);
  if (--r->num_uses[value] > 0 || r->producers[value] < 0) return NULL;
  if (!RHEOS_RESERVE(r->stack, r->stack_capacity, r->stack_count + 1))
    return rheos__out_of_memory();
  r->stack[r->stack_count++] = r->producers[value];
  return NULL;
}

static rheos_status *drop(rheos__rewriter *r, rheos__entry *entry) {
  assert(entry->kind != RHEOS__ENTRY_DROPPED && is_unused(r, entry));
  entry->kind = RHEOS__ENTRY_DROPPED;
  r->any_dropped = true;
  ++r->num_steps;
  for (int32_t i = 0; i < entry->num_inputs; ++i) {
    RHEOS_TRY(leave(r, rheos__rule_input(r, entry, i)));
  }
  return NULL;
}

// Drops the entries on the stack that nobody needs, and those that only they needed. `heir`, -1 for
// none, is the entry that stands for them: it waits for whom they waited.
static rheos_status *drop_idle(rheos__rewriter *r, int32_t heir) {
  while (r->stack_count > 0) {
    const int32_t index = r->stack[--r->stack_count];
    if (!may_go(r, &r->plan->entries[index])) continue;
    RHEOS_TRY(rheos__wait_through(&r->waits, heir, index));
    RHEOS_TRY(drop(r, &r->plan->entries[index]));
  }
  return NULL;
}

static int32_t index_of(const rheos__rewriter *r, const rheos__entry *entry) {
  return (int32_t)(entry - r->plan->entries);
}

// What is left out between the entry and what takes its place: whom its inputs waited for.
static rheos_status *keep_waits(rheos__rewriter *r, const rheos__entry *entry) {
  for (int32_t i = 0; i < entry->num_inputs; ++i) {
    const int32_t input = rheos__rule_input(r, entry, i);
    RHEOS_TRY(rheos__wait_through(&r->waits, index_of(r, entry), r->producers[input]));
  }
  return NULL;
}

rheos_status *rheos__rule_drop_unused(rheos__rewriter *r, rheos__entry *entry) {
  if (!may_go(r, entry)) return NULL;
  RHEOS_TRY(drop(r, entry));
  return drop_idle(r, -1);
}

static void give_uses(rheos__rewriter *r, int32_t from, int32_t to) {
  assert(r->instead[from] == from && r->instead[to] == to);
  if (from == to) return;
  r->instead[from] = to;
  r->num_uses[to] += r->num_uses[from];
  r->num_uses[from] = 0;
}

rheos_status *rheos__rule_pass_on(rheos__rewriter *r, rheos__entry *entry, int32_t value) {
  r->changed = true;
  assert(entry->kind == RHEOS__ENTRY_NODE && r->producers[value] < index_of(r, entry));
  if (is_unused(r, entry)) ++r->num_uses[value];  // for good
  give_uses(r, entry->first_value, value);
  RHEOS_TRY(keep_waits(r, entry));
  RHEOS_TRY(drop(r, entry));
  return drop_idle(r, index_of(r, entry));
}

rheos_status *rheos__rule_merge(rheos__rewriter *r, rheos__entry *entry, const rheos__entry *into) {
  r->changed = true;
  assert(into < entry && into->kind == RHEOS__ENTRY_NODE);
  assert(into->signature == entry->signature && into->num_outputs == entry->num_outputs);
  if (is_unused(r, entry)) ++r->num_uses[into->first_value];
  for (int32_t i = 0; i < entry->num_outputs; ++i) {
    give_uses(r, entry->first_value + i, into->first_value + i);
  }
  RHEOS_TRY(drop(r, entry));
  return drop_idle(r, index_of(r, entry));
}

static bool reserve_operands(rheos__rewriter *r, size_t count) {
  return RHEOS_RESERVE(r->plan->operands, r->operand_capacity, r->num_operands + count);
}

bool rheos__rule_can_become(const rheos__rewriter *r, const rheos__entry *entry,
                            const rheos__op_def *op, const rheos__attrs *attrs) {
  const rheos__device *device = rheos__entry_device(r->plan, entry);
  return !r->plan->is_mixed || rheos__device_has_kernel(device, op, attrs);
}

rheos_status *rheos__rule_become(rheos__rewriter *r, rheos__entry *entry, const rheos__op_def *op,
                                 const rheos__attrs *attrs, const int32_t *inputs,
                                 int32_t num_inputs) {
  const rheos__signature *signature = rheos__signature_by_name(op->name);
  if (!rheos__rule_can_become(r, entry, op, attrs)) return NULL;
  if (signature == NULL || !reserve_operands(r, (size_t)num_inputs)) return rheos__out_of_memory();
  r->changed = true;
  const rheos__entry before = *entry;
  entry->signature = signature;
  entry->attrs = attrs;
  entry->num_inputs = num_inputs;
  if (entry->num_outputs > signature->num_outputs) entry->num_outputs = signature->num_outputs;
  entry->first_operand = (int32_t)r->num_operands;
  r->num_operands += (size_t)num_inputs;
  for (int32_t i = 0; i < num_inputs; ++i) {
    r->plan->operands[entry->first_operand + i] = inputs[i];
    assert(inputs[i] < entry->first_value && r->instead[inputs[i]] == inputs[i]);
    ++r->num_uses[inputs[i]];
  }
  entry->rule = r->rule;
  const int32_t index = index_of(r, entry);
  for (int32_t i = 0; i < before.num_inputs; ++i) {
    const int32_t input = rheos__rule_input(r, &before, i);
    RHEOS_TRY(rheos__wait_through(&r->waits, index, r->producers[input]));
    RHEOS_TRY(leave(r, input));
  }
  r->any_dropped = true;  // values may have gone
  return drop_idle(r, index);
}

// ---- Attributes

static const rheos_attr_value *find_item(const rheos_attr *items, int32_t num_items,
                                         const char *name) {
  for (int32_t i = 0; i < num_items; ++i) {
    if (strcmp(items[i].name, name) == 0) return &items[i].value;
  }
  return NULL;
}

static bool same_attrs(const rheos__attrs *a, const rheos__attrs *b) {
  if (a->count != b->count) return false;
  for (int32_t i = 0; i < a->count; ++i) {
    if (a->items[i].name != b->items[i].name ||
        !rheos__attr_value_equal(&a->items[i].value, &b->items[i].value)) {
      return false;
    }
  }
  return true;
}

rheos_status *rheos__rule_attrs(rheos__rewriter *r, const rheos__op_def *op,
                                const rheos_attr *items, int32_t num_items,
                                const rheos__attrs **out_attrs) {
  const rheos__signature *signature = rheos__signature_by_name(op->name);
  if (signature == NULL) return rheos__out_of_memory();
  rheos__attrs *attrs = rheos__arena_alloc_zeroed(
      &r->plan->arena, sizeof *attrs + (size_t)signature->num_attrs * sizeof *attrs->items);
  if (attrs == NULL) return rheos__out_of_memory();
  attrs->count = signature->num_attrs;
  for (int32_t i = 0; i < signature->num_attrs; ++i) {
    const rheos__attr_def *def = &signature->attrs[i];
    const rheos_attr_value *given = find_item(items, num_items, def->name);
    attrs->items[i] = (rheos_attr){def->name, given != NULL ? *given : def->default_value};
  }
  // Equal ones are one, as in a graph: what compares entries compares pointers.
  for (size_t i = r->num_made; i-- > 0 && i + MAX_COMPARED > r->num_made;) {
    if (same_attrs(attrs, r->made[i])) {
      *out_attrs = r->made[i];
      return NULL;
    }
  }
  if (!RHEOS_RESERVE(r->made, r->made_capacity, r->num_made + 1)) return rheos__out_of_memory();
  r->made[r->num_made++] = attrs;
  *out_attrs = attrs;
  return NULL;
}
