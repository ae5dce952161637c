// `rheos diff`: what differs between two graphs, saved models or checkpoints.
#include "diff.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "limit.h"
#include "options.h"

const char command_diff_help[] =
    "usage: rheos diff [OPTIONS] A B\n"
    "\n"
    "Says what differs between two graphs (also meta graphs and saved models), or between\n"
    "two checkpoints, a line each: '-' only in A, '+' only in B, '~' in both but not alike,\n"
    "'>' by another name in B. Nodes are the same by their names, else by what they are\n"
    "and take, so a renamed scope is one line. Of functions the bodies are compared too, of\n"
    "checkpoints the values. The exit status is 0 if nothing differs, 1 if something does, 2\n"
    "if they cannot be compared.\n"
    "\n"
    "  --all              each node by itself, where a scope would stand for many\n"
    "  --tolerance 1e-6   how much numbers in checkpoints may differ, relatively (else 0)\n"
    "  --json             as JSON; the man page lists the fields\n"
    "  -o PAGE.html       both graphs as one page: what is only in A, only in B, changed\n"
    "  --plan             what a step runs in each, and by which rule; A and B may also be what\n"
    "                     'rheos show --plan --json' printed (FILE.json)\n"
    "  --fetch NAME, --feed-shape NAME=2,3\n"
    "                     with --plan, as 'rheos show' has them\n"
    "  --tags A,B         the graphs of saved models with these tags (else their first)\n"
    "  --memory-limit 8G  what reading them may take; none: all there is (else 1G and 64\n"
    "                     times the size of A)\n";

static bool is_model(const source *s) { return (SOURCE_MODELS >> s->kind & 1) != 0; }

static int finish(const diff_result *result, rheos_status *status) {
  if (status == NULL) return result->differs ? EXIT_FAILURE : EXIT_SUCCESS;
  command_fail_take(result->failed, status);
  return EXIT_USAGE;
}

static int compare(source *a, source *b, const char *const *paths, const diff_options *options) {
  diff_result result = {0};
  rheos_status *status;
  if (is_model(a) && is_model(b)) {
    status = options->page != NULL ? diff_page(a, b, options, &result)
                                   : diff_models(a, b, options, &result);
  } else if (a->kind == SOURCE_CHECKPOINT && b->kind == SOURCE_CHECKPOINT) {
    status = diff_checkpoints(a, b, options, &result);
  } else {
    return command_usage_error(
        "diff: %s is a %s, %s a %s: only graphs and checkpoints are compared", paths[0],
        source_kind_name(a->kind), paths[1], source_kind_name(b->kind));
  }
  return finish(&result, status);
}

static int diff_paths(const char *const *paths, const diff_options *options, const option *rows,
                      size_t num_rows) {
  source a = {0}, b = {0};
  rheos_status *status = source_open(paths[0], &a);
  if (status != NULL) {
    command_fail_take(paths[0], status);
    return EXIT_USAGE;
  }
  int result = EXIT_USAGE;
  status = source_open(paths[1], &b);
  if (status != NULL) {
    command_fail_take(paths[1], status);
  } else {
    if (source_fits_options(&a, "diff", rows, num_rows) &&
        source_fits_options(&b, "diff", rows, num_rows)) {
      result = compare(&a, &b, paths, options);
    }
    source_close(&b);
  }
  source_close(&a);
  return result;
}

int command_diff(int argc, char **argv) {
  diff_options options = {0};
  text_list paths = {0};
  const char *tolerance = NULL, *memory_limit = NULL;
  const option rows[] = {
      {"--all", .flag = &options.all, .kinds = SOURCE_MODELS},
      {"--tolerance", .text = &tolerance, .kinds = 1 << SOURCE_CHECKPOINT},
      {"--json", .flag = &options.json},
      {"--plan", .flag = &options.plan.plan},
      {"--feed-shape", .list = &options.plan.feed_shapes},
      {"--fetch", .list = &options.plan.fetches},
      {"-o", .text = &options.page, .kinds = SOURCE_MODELS},
      {"--tags", .text = &options.tags, .kinds = SOURCE_TAGGED},
      {"--memory-limit", .text = &memory_limit},
  };
  const size_t num_rows = sizeof rows / sizeof rows[0];
  int result = EXIT_USAGE;
  if (!options_parse("diff", rows, num_rows, argc, argv, &paths)) {
    result = EXIT_USAGE;
  } else if (options.page != NULL && (options.json || options.all)) {
    command_usage_error("diff: --json and --all do not go with -o");
  } else if (options.plan.plan && (options.page != NULL || options.all || tolerance != NULL)) {
    command_usage_error("diff: -o, --all and --tolerance do not go with --plan");
  } else if (options.plan.feed_shapes.count + options.plan.fetches.count > 0 &&
             !options.plan.plan) {
    command_usage_error("diff: --feed-shape and --fetch go with --plan");
  } else if (paths.count != 2) {
    command_usage_error("diff: two paths are compared; see 'rheos help diff'");
  } else {
    char *end = NULL;
    if (tolerance != NULL) options.tolerance = strtod(tolerance, &end);
    if (tolerance != NULL && (*end != '\0' || end == tolerance || !(options.tolerance >= 0))) {
      command_usage_error("diff: --tolerance %s is no number from 0 on", tolerance);
    } else if (!limit_begin("diff", paths.items[0], memory_limit)) {
      result = EXIT_USAGE;
    } else if (options.plan.plan) {
      diff_result plans = {0};
      options.plan.tags = options.tags;
      result = finish(&plans, diff_plans(paths.items[0], paths.items[1], &options, &plans));
    } else {
      result = diff_paths(paths.items, &options, rows, num_rows);
    }
  }
  text_list_deinit(&paths);
  text_list_deinit(&options.plan.feed_shapes);
  text_list_deinit(&options.plan.fetches);
  return result;
}
