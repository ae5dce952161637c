// A step of a model that is planned, not run: for `rheos show --memory` and `--plan`.
#ifndef RHEOS_CLI_PLAN_VIEW_H
#define RHEOS_CLI_PLAN_VIEW_H

#include "runner.h"
#include "show.h"

typedef rheos_status *(*plan_text)(rheos_session *session, const rheos_output *feeds,
                                   const rheos_shape *shapes, size_t num_feeds,
                                   const rheos_output *fetches, size_t num_fetches,
                                   const rheos_operation *targets, size_t num_targets,
                                   char **out_text);

// Prints what the library tells of the step: lines, or the members of an object behind those of
// what it is
// of. Returns the exit status.
int plan_view_print(const char *path, const source *s, const show_options *options,
                    plan_text as_text, plan_text as_json);

// What a step becomes, as JSON for rheos_free(); of the options `tags` and `feed_shapes` are looked
// at.
rheos_status *plan_view_json(const char *path, const show_options *options, char **out_text);

#endif  // RHEOS_CLI_PLAN_VIEW_H
