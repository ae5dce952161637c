// `rheos view`: a graph as a page, as JSON, for Graphviz.
#include <stdlib.h>
#include <string.h>

#include "../command.h"
#include "../files.h"
#include "../limit.h"
#include "../options.h"
#include "../progress.h"
#include "../status.h"
#include "graph_data.h"
#include "page.h"
#include "serve_page.h"
#include "shown.h"
#include "svg.h"

const char command_view_help[] =
    "usage: rheos view [OPTIONS] PATH [-o PAGE.html]\n"
    "\n"
    "Writes one HTML file that needs nothing else and draws a graph: scopes are boxes that\n"
    "open where they are clicked, edges tell dtype and shape. PATH is a graph (binary or\n"
    "text), a meta graph, a saved model, or events (a file, or a folder with all below it):\n"
    "then scalars, histograms, images and traces are beside the graph.\n"
    "\n"
    "  -o FILE        where to write it, - for the standard output (else PATH's last name\n"
    "                 with .html, in this folder)\n"
    "  --json         scopes, nodes and links as JSON instead of the page\n"
    "  --dot          what the page shows first, for Graphviz\n"
    "  --svg          that as a picture, by Graphviz's dot, where it is installed\n"
    "  --plan         what a step makes of each node: fused, folded, dropped, by which rule\n"
    "  --feed-shape NAME=2,28,28\n"
    "                 with --plan, the shape of an input; dimensions that are not known\n"
    "                 count as 1\n"
    "  --fetch NAME   with --plan, what the step is for: a tensor or an operation (else what\n"
    "                 the signature gives, or all outputs)\n"
    "  --trace FILE   what 'rheos bench --trace FILE' wrote of runs of the graph: a timeline,\n"
    "                 and colours by time and by the share of what this machine can do\n"
    "  --serve        the page at http://127.0.0.1:PORT/, for browsers of this machine, anew\n"
    "                 when what it shows has changed, until it is interrupted\n"
    "  --port N       that port (else one that is free)\n"
    "  --tags A,B     the graph of a saved model with these tags (else its first)\n"
    "  --memory-limit 8G\n"
    "                 what reading it may take; none: all there is (else 1G and 64 times its\n"
    "                 size)\n";

typedef struct view_options {
  bool json, dot, svg, serve;
  show_options plan;  // `plan`: it is asked for; its tags are those of the graph
  const char *port, *output, *trace, *memory_limit;
} view_options;

static void print_data(void *argument, FILE *out) { shown_json(argument, NULL, out); }

static void print_page(void *argument, FILE *out) { page_print(out, print_data, argument); }

static void print_dot(void *argument, FILE *out) {
  graph_data_dot(&((const shown *)argument)->view, out);
}

static rheos_status *picture_of(shown *s, char **out_bytes, size_t *out_size) {
  char *dot;
  size_t dot_bytes;
  rheos_status *status = page_text(print_dot, s, &dot, &dot_bytes);
  *out_bytes = NULL;
  if (status == NULL) status = svg_by_dot(dot, dot_bytes, out_bytes, out_size);
  free(dot);
  return status;
}

// Where the result goes, for free(); NULL: to the standard output.
static char *output_path(const shown *s, const view_options *options) {
  if (options->output != NULL) {
    return strcmp(options->output, "-") == 0 ? NULL : command_format("%s", options->output);
  }
  if (options->json || options->dot || options->svg) return NULL;
  size_t length = strlen(s->path);
  while (length > 1 && s->path[length - 1] == '/') length--;
  char *trimmed = command_format("%.*s", (int)length, s->path);
  char *path = command_format("%s.html", path_base(trimmed));
  free(trimmed);
  return path;
}

static int write_it(shown *s, const view_options *options) {
  const page_data print = options->json ? print_data : options->dot ? print_dot : print_page;
  char *path = output_path(s, options), *bytes;
  size_t size_bytes;
  rheos_status *status =
      options->svg ? picture_of(s, &bytes, &size_bytes) : page_text(print, s, &bytes, &size_bytes);
  if (status == NULL && path == NULL) {
    fwrite(bytes, 1, size_bytes, stdout);
  } else if (status == NULL) {
    status = file_replace(path, bytes, size_bytes);
  }
  int result = EXIT_SUCCESS;
  if (status != NULL) {
    result = command_fail_take(path != NULL ? path : s->path, status);
  } else if (options->output == NULL && path != NULL) {
    printf("wrote %s\n", path);
  }
  free(bytes);
  free(path);
  return result;
}

// What was damaged is said, and shown up to there.
static void say_problems(const shown *s) {
  for (size_t i = 0; s->has_logs && i < s->logs.num_problems; i++) {
    command_fail_take(NULL, rheos_status_new(RHEOS_DATA_LOSS, "%s", s->logs.problems[i]));
  }
}

static int check(const view_options *options, const text_list *paths) {
  if (paths->count == 0) {
    return command_usage_error("view: a path is missing; see 'rheos help view'");
  }
  if (paths->count > 1) return command_usage_error("view: one path at a time");
  if (options->json + options->dot + options->svg + options->serve > 1) {
    return command_usage_error("view: --json, --dot, --svg and --serve do not go together");
  }
  if (options->serve && options->output != NULL) {
    return command_usage_error("view: -o does not go with --serve");
  }
  if (options->plan.feed_shapes.count + options->plan.fetches.count > 0 && !options->plan.plan) {
    return command_usage_error("view: --feed-shape and --fetch go with --plan");
  }
  if (options->trace != NULL && options->serve) {
    return command_usage_error("view: --trace does not go with --serve");
  }
  if (options->port != NULL && !options->serve) {
    return command_usage_error("view: --port goes with --serve");
  }
  return EXIT_SUCCESS;
}

static int serve(const char *path, const view_options *options, const option *rows,
                 size_t num_rows) {
  const serve_page page = {path, &options->plan, rows, num_rows};
  char *end = NULL;
  const long port = options->port != NULL ? strtol(options->port, &end, 10) : 0;
  if (options->port != NULL && (*end != '\0' || end == options->port || port < 0 || port > 65535)) {
    return command_usage_error("view: --port is a number up to 65535, not '%s'", options->port);
  }
  rheos_status *status = serve_page_run(&page, (int32_t)port);
  return status == NULL ? EXIT_SUCCESS : command_fail_take(path, status);
}

static int view_path(const char *path, const view_options *options, const option *rows,
                     size_t num_rows) {
  shown s;
  bool is_misuse;
  if (options->serve) return serve(path, options, rows, num_rows);
  if (!limit_begin("view", path, options->memory_limit)) return EXIT_USAGE;
  progress_begin("reading the graph", 0);
  rheos_status *status = shown_load(&s, path, options->plan.tags, rows, num_rows, &is_misuse);
  progress_end();
  if (is_misuse) rheos_status_free(status);
  if (is_misuse) return EXIT_USAGE;
  if (status != NULL) return command_fail_take(path, status);
  say_problems(&s);
  const char *failed = path;
  if (options->plan.plan) status = shown_plan(&s, &options->plan);
  if (status == NULL && options->trace != NULL) {
    failed = options->trace;
    status = shown_trace(&s, options->trace);
  }
  const int result = status != NULL ? command_fail_take(failed, status) : write_it(&s, options);
  shown_free(&s);
  return result;
}

int command_view(int argc, char **argv) {
  view_options options = {0};
  text_list paths = {0};
  const option rows[] = {
      {"-o", .text = &options.output},
      {"--json", .flag = &options.json},
      {"--dot", .flag = &options.dot},
      {"--svg", .flag = &options.svg},
      {"--plan", .flag = &options.plan.plan},
      {"--feed-shape", .list = &options.plan.feed_shapes},
      {"--fetch", .list = &options.plan.fetches},
      {"--trace", .text = &options.trace},
      {"--serve", .flag = &options.serve},
      {"--port", .text = &options.port},
      {"--tags", .text = &options.plan.tags, .kinds = SOURCE_TAGGED},
      {"--memory-limit", .text = &options.memory_limit},
  };
  const size_t num_rows = sizeof rows / sizeof rows[0];
  int result = EXIT_USAGE;
  if (options_parse("view", rows, num_rows, argc, argv, &paths)) {
    result = check(&options, &paths);
    if (result == EXIT_SUCCESS) result = view_path(paths.items[0], &options, rows, num_rows);
  }
  text_list_deinit(&paths);
  text_list_deinit(&options.plan.feed_shapes);
  text_list_deinit(&options.plan.fetches);
  return result;
}
