// What a plan runs, as text, and what it gives with and without rewriting.
#ifndef RHEOS_TESTS_PLAN_PLAN_TEXT_H
#define RHEOS_TESTS_PLAN_PLAN_TEXT_H

#include <rheos/rheos.h>

#include "plan/entries/plan.h"

// One line for each operation of the step but constants, "name = Op(inputs)".
// `fetches` and `feeds` are outputs of `graph`. For free().
char *plan_text(rheos_graph *graph, const rheos_rewrite_options *rewrites,
                const rheos_output *feeds, int num_feeds, const rheos_output *fetches,
                int num_fetches);

// Checks what the step runs with the options (NULL: the defaults) unless `expected` is NULL, and
// that all values have the same bits as without rules. The feeds get values made from their dtypes
// and shapes, unknown dimensions being all of one small size.
void check_plan(rheos_scope *s, const rheos_rewrite_options *rewrites, const rheos_output *feeds,
                int num_feeds, const rheos_output *fetches, int num_fetches, const char *expected);

// Feeds hold NaN, infinities, -0.0 and denormal numbers too.
extern bool feed_extremes;

// For one feed (or none, where `feed` is none) and one fetch.
void check_plan_of(rheos_scope *s, rheos_output feed, rheos_output fetch, const char *expected);

// A constant vector.
rheos_output int_vector(rheos_scope *s, int count, const int32_t *numbers);

// A CPU, of a program's life.
const rheos__device *const *plan_devices(void);

#endif  // RHEOS_TESTS_PLAN_PLAN_TEXT_H
