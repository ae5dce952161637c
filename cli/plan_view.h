// The plan of a step of a model that is looked at, not run: for `rheos show --memory` and `--plan`.
#ifndef RHEOS_CLI_PLAN_VIEW_H
#define RHEOS_CLI_PLAN_VIEW_H

#include "plan/segment.h"
#include "runner.h"
#include "runtime/called.h"
#include "show.h"

typedef struct plan_view {
  runner runner;
  rheos_output *feeds, *fetches;
  rheos_shape *shapes;  // of the feeds
  int32_t num_feeds, num_fetches;
  bool has_guesses;  // dimensions that nobody told
  rheos__plan *plan;
  const rheos__segment *segment;  // the first, for these shapes; NULL: the plan runs on tokens
} plan_view;

// The step of the model's signature; without one, from all placeholders to all that no operation
// takes. After a failure, which was told, the view holds nothing and the status to exit with is given.
int plan_view_open(const char *path, const show_options *options, plan_view *out_view);
void plan_view_close(plan_view *v);

// "e3 while, body: while_body_12": the entry that calls, its node and what it calls, for free().
char *plan_view_called(const rheos__called *called);

// The same as members: "depth", "node", "entry", "role", "function", "again".
void plan_view_json_called(const rheos__called *called, json *j);

// For rheos__free(); never NULL.
char *plan_view_name(const plan_view *v, int32_t id);
// "feeds": the inputs with their shapes.
void plan_view_json_feeds(const plan_view *v, json *j);

#endif  // RHEOS_CLI_PLAN_VIEW_H
