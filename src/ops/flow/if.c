// Conditionals: If, StatelessIf, Case, StatelessCase; ToBool, by which they choose.
#include "ops/flow/call.h"
#include "ops/kit/op_util.h"

typedef struct choice_state {
  rheos__call_args args;
  bool by_index;  // input 0 is a number; else a condition, of which sites[0] is the true side
  int32_t num_sites;
  rheos__site *sites[];
} choice_state;

static rheos_status *choose(const choice_state *choice, const rheos_tensor *selector,
                            int32_t *out_side) {
  if (!choice->by_index) {
    bool holds = false;
    RHEOS_TRY(rheos__is_true(selector, &holds));
    *out_side = holds ? 0 : 1;
    return NULL;
  }
  const int32_t index = *(const int32_t *)selector->data;
  *out_side = index >= 0 && index < choice->num_sites ? index : choice->num_sites - 1;
  return NULL;
}

static rheos_status *compute_choice(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                    rheos_tensor **outputs) {
  const choice_state *choice = state;
  int32_t side = 0;
  RHEOS_TRY(choose(choice, inputs[0], &side));
  return rheos__call_once(choice->sites[side], &choice->args, step, inputs, outputs);
}

static void release_choice(void *state) {
  const choice_state *choice = state;
  for (int32_t i = 0; i < choice->num_sites; ++i) rheos__site_free(choice->sites[i]);
}

static rheos_status *prepare_choice(rheos__prepare *p, const rheos_func *const *funcs,
                                    int32_t count, bool by_index) {
  choice_state *choice =
      rheos__arena_alloc_zeroed(p->arena, sizeof *choice + (size_t)count * sizeof *choice->sites);
  if (choice == NULL) return rheos__out_of_memory();
  choice->by_index = by_index;
  p->state = choice;
  p->compute = compute_choice;
  p->release = release_choice;
  rheos_status *status = rheos__call_args_init(p, 1, &choice->args);
  for (int32_t i = 0; i < count && status == NULL; ++i) {
    status = rheos__call_site(p, funcs[i], &choice->args, NULL, 0, &choice->sites[i]);
    if (status == NULL) choice->num_sites = i + 1;
  }
  if (status == NULL) status = rheos__infer_called(p, &choice->args, choice->sites, count);
  if (status != NULL) release_choice(choice);
  return status;
}

// A conditional of version 1's nodes, which has the false side first.
static rheos_status *prepare_raised(rheos__prepare *p) {
  if (p->structure == NULL) return RHEOS_INVALID("it is made by plans only");
  if (p->input_shapes[0].rank != 0) {
    return RHEOS_INVALID("The second input must be a scalar, but it has shape %s",
                         rheos__shape_text_of(&p->input_shapes[0], &(rheos__shape_text){{0}}));
  }
  choice_state *choice =
      rheos__arena_alloc_zeroed(p->arena, sizeof *choice + 2 * sizeof *choice->sites);
  if (choice == NULL) return rheos__out_of_memory();
  p->state = choice;
  p->compute = compute_choice;
  p->release = release_choice;
  choice->num_sites = 2;
  rheos_status *status = rheos__call_args_init(p, 1, &choice->args);
  for (int32_t i = 0; i < 2 && status == NULL; ++i) {
    status = rheos__site_new_of_part(p, &p->structure->parts[1 - i], &choice->sites[i]);
  }
  if (status == NULL) status = rheos__infer_called(p, &choice->args, choice->sites, 2);
  if (status != NULL) release_choice(choice);
  return status;
}

static rheos_status *prepare_if(rheos__prepare *p) {
  const rheos_func *funcs[] = {rheos__attrs_find(p->attrs, "then_branch")->func,
                               rheos__attrs_find(p->attrs, "else_branch")->func};
  return prepare_choice(p, funcs, 2, false);
}

static rheos_status *prepare_case(rheos__prepare *p) {
  const rheos_attr_value *branches = rheos__attrs_find(p->attrs, "branches");
  if (p->input_shapes[0].rank != 0) {
    return RHEOS_INVALID("branch_index must be scalar, got shape %s",
                         rheos__shape_text_of(&p->input_shapes[0], &(rheos__shape_text){{0}}));
  }
  const rheos_func **funcs =
      rheos__arena_alloc(p->arena, ((size_t)branches->count + 1) * sizeof *funcs);
  if (funcs == NULL) return rheos__out_of_memory();
  for (int32_t i = 0; i < branches->count; ++i) funcs[i] = &branches->funcs[i];
  return prepare_choice(p, funcs, branches->count, true);
}

// What the program says of the outputs, until a plan knows.
static rheos_status *infer_told(rheos__infer *c) {
  const rheos_attr_value *told = rheos__attrs_find(c->attrs, "output_shapes");
  for (int32_t i = 0; i < c->num_outputs && i < told->count; ++i) {
    c->output_shapes[i] = told->shapes[i];
  }
  return NULL;
}

#define CHOICE(op, selector, funcs, more_flags, prepare_it, text)                 \
  const rheos__op_def rheos__op_##op = {                                          \
      .name = #op,                                                                \
      .signature = selector "Tin: list(type) >= 0; Tout: list(type) >= 0; " funcs \
                            "; output_shapes: list(shape) = []",                  \
      .doc = text,                                                                \
      .flags = RHEOS_OP_CALLS | RHEOS_OP_ANY_MEMORY | (more_flags),               \
      .shape = infer_told,                                                        \
      .gradient = rheos__gradient_branches,                                       \
      .prepare = prepare_it,                                                      \
  };
#define EFFECTS (RHEOS_OP_STATEFUL | RHEOS_OP_WRITES)
#define IF "then_branch: func; else_branch: func"
#define COND "cond: Tcond, input: Tin -> output: Tout; Tcond: type; "
CHOICE(If, COND, IF, EFFECTS, prepare_if,
       "The results of `then_branch` for `input` if `cond` holds, else of `else_branch`.")
CHOICE(StatelessIf, COND, IF, 0, prepare_if, "If, of functions that have no effects.")
#define CASE "branches: list(func) >= 1"
#define INDEX "branch_index: int32, input: Tin -> output: Tout; "
CHOICE(
    Case, INDEX, CASE, EFFECTS, prepare_case,
    "The results for `input` of the function `branch_index` of `branches`; out of range: the last.")
CHOICE(StatelessCase, INDEX, CASE, 0, prepare_case, "Case, of functions that have no effects.")

static rheos_status *run_to_bool(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                 rheos_tensor **outputs) {
  (void)state, (void)step;
  RHEOS_TRY(rheos__tensor_new(RHEOS_BOOL, &(rheos_shape){.rank = 0}, &outputs[0]));
  return rheos__is_true(inputs[0], outputs[0]->data);
}

static rheos_status *prepare_to_bool(rheos__prepare *p) {
  p->compute = run_to_bool;
  return NULL;
}

const rheos__op_def rheos__op_ToBool = {
    .name = "ToBool",
    .signature = "input: T -> output: bool; T: type",
    .doc = "Whether a scalar `input` is not 0 and no empty string, another one has any element.",
    .shape = rheos__shape_scalar,
    .gradient = rheos__no_gradient,
    .prepare = prepare_to_bool,
};

#define RAISED(op, more_flags, text) \
  RHEOS__RAISED(op, "cond: bool, ", more_flags, prepare_raised, text)
RAISED(_RaisedConditional, EFFECTS, "A conditional of version 1's nodes in the plan of a step.")
RAISED(_RaisedStatefulConditional, RHEOS_OP_STATEFUL,
       "_RaisedConditional, of nodes that write nothing.")
RAISED(_RaisedStatelessConditional, 0, "_RaisedConditional, of nodes that have no effects.")
