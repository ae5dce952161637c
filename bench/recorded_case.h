// Recorded cases of ops (tests/golden/ops) as programs that benchmarks run.
#ifndef RHEOS_BENCH_RECORDED_CASE_H
#define RHEOS_BENCH_RECORDED_CASE_H

#include "ops/op_harness.h"

// Of the largest of its inputs and outputs.
int64_t case_elements(const op_case *c);

// What refuses, needs files, has a name of our own that graphs may not give, stops at a limit or
// can be done but once a step is not.
bool case_can_be_driven(const op_case *c);

// An op of constants alone would run once, before the first step: the largest is fed then.
void case_feed_one(op_case *c);

// The variables get their values, and what comes first runs.
rheos_status *case_run_first_nodes(op_program *p, rheos_session *session);

// The case of [first, end) that can be driven, is not empty, and is nearest to that many elements;
// NULL: none is.
const op_case *case_nearest(const op_cases *cases, size_t first, size_t end, int64_t wanted);

#endif  // RHEOS_BENCH_RECORDED_CASE_H
