// What is printed of the plan that a session would run, for tests that compare it.
#ifndef RHEOS_TESTS_PLAN_PRINTED_H
#define RHEOS_TESTS_PLAN_PRINTED_H

#include "runtime/session/session_plan.h"

// Checks the parts of the print of the plan and of its first segment that `parts` names in their
// order, such as "entries instructions" (print.h), and what follows after the segment as "then".
// How a kernel shares its work and what memory it needs is left out: another processor has others.
void expect_printed(rheos_session *session, const rheos__step_ends *ends, const rheos_shape *shapes,
                    const char *parts, const char *expected);

#endif  // RHEOS_TESTS_PLAN_PRINTED_H
