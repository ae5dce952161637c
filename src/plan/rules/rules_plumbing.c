// Rules for operations that only pass their input on.
#include "plan/rules/rewrite.h"

static rheos_status *pass_input_on(rheos__rewriter *r, rheos__entry *entry) {
  return rheos__rule_pass_on(r, entry, rheos__rule_input(r, entry, 0));
}

const rheos__rule rheos__plumbing_rules[] = {
    {&rheos__op_Identity, "pass_input_on", pass_input_on, RHEOS__RULES_DEPENDENCY, false},
    {&rheos__op_PreventGradient, "pass_input_on", pass_input_on, RHEOS__RULES_DEPENDENCY, false},
    {&rheos__op_Snapshot, "pass_input_on", pass_input_on, RHEOS__RULES_DEPENDENCY, false},
    {&rheos__op_StopGradient, "pass_input_on", pass_input_on, RHEOS__RULES_DEPENDENCY, false},
    {0},
};
