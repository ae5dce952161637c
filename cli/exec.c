// `rheos exec`: one step of a graph, from files to files.
#include <stdlib.h>

#include "command.h"
#include "deadline.h"
#include "limit.h"
#include "options.h"
#include "outputs.h"
#include "progress.h"
#include "request.h"
#include "status.h"

const char command_exec_help[] =
    "usage: rheos exec [OPTIONS] PATH\n"
    "\n"
    "Runs a graph, a meta graph with its checkpoint, or a saved model: feeds inputs from\n"
    "files, fetches outputs into files. Inputs and outputs have the names of the signature\n"
    "or those of the graph (x, x:0, scope/y).\n"
    "\n"
    "  --feed NAME=VALUE    FILE.npy; FILE.npz or FILE.npz:ARRAY; FILE.json; a PNG, JPEG, GIF\n"
    "                       or BMP picture; FILE or FILE:DTYPE:2,3 of raw numbers; @FILE, its\n"
    "                       bytes as a string; or a value: 1.5, [[1, 2], [3, 4]], true, text\n"
    "  --fetch NAME         an output, or an operation to run; may come several times\n"
    "                       (without it, all outputs of the signature)\n"
    "  --out DIR            write the outputs into this folder (else print them)\n"
    "  --format FORMAT      npy (the default), npz, json, raw, png, jpeg\n"
    "  --signature NAME     of a saved model or meta graph; serving_default if it has one\n"
    "  --tags A,B           which graph of a saved model (else its first)\n"
    "  --checkpoint PATH    the variables' values for a graph or a meta graph\n"
    "  --init NAME          an operation to run before; may come several times\n"
    "  --memory-limit 8G    what reading model and inputs may take; none: all there is\n"
    "                       (else 1G and 64 times the model's size)\n"
    "  --time-limit S       how many seconds reading and running may take; else as many as\n"
    "                       they need\n";

typedef struct exec {
  request request;
  const char *out, *format_name, *memory_limit, *time_limit;
  output_format format;
} exec;

static rheos_status *write_outputs(const exec *e) {
  const request *r = &e->request;
  output_value *values = command_alloc(r->num_fetched * sizeof *values);
  for (size_t i = 0; i < r->num_fetched; i++) {
    values[i] = (output_value){r->fetched_names[i], r->fetched[i].value};
  }
  rheos_status *status = NULL;
  if (e->out != NULL) {
    status = outputs_write(values, r->num_fetched, e->format, e->out);
  } else {
    outputs_print(values, r->num_fetched, e->format);
  }
  free(values);
  return status;
}

static rheos_status *run(exec *e, const char *path) {
  request *r = &e->request;
  progress_begin("loading", 0);
  TRY(runner_open(path, &r->runner_options, &r->runner));
  progress_begin("reading the inputs", 0);
  TRY(request_find_fetches(r));
  TRY(request_read_feeds(r));
  TRY(request_add_defaults(r));
  limit_end();
  progress_begin("running", 0);
  TRY(request_run_inits(r));
  const rheos_run_options options = {.timeout_ms = deadline_of_step()};
  TRY(rheos_session_run(r->runner.session, r->fed, r->num_fed, r->fetched, r->num_fetched,
                        r->targets, r->num_targets, &options));
  deadline_end();
  progress_end();
  return write_outputs(e);
}

// ---- The command

static int check(exec *e, const text_list *paths) {
  if (paths->count == 0) {
    return command_usage_error("exec: a path is missing; see 'rheos help exec'");
  }
  if (paths->count > 1) return command_usage_error("exec: one path at a time");
  if (request_check(&e->request, "exec") != EXIT_SUCCESS) return EXIT_USAGE;
  e->format = e->out != NULL ? OUTPUT_NPY : OUTPUT_TEXT;
  if (e->format_name != NULL && !output_format_of(e->format_name, &e->format)) {
    return command_usage_error("exec: there is no format '%s'; npy, npz, json, raw, png, jpeg",
                               e->format_name);
  }
  if (e->out == NULL && e->format != OUTPUT_TEXT && e->format != OUTPUT_JSON) {
    return command_usage_error("exec: --format %s needs --out", e->format_name);
  }
  return EXIT_SUCCESS;
}

int command_exec(int argc, char **argv) {
  exec e = {.out = NULL};
  text_list paths = {0};
  const option rows[] = {
      {"--feed", .list = &e.request.feeds},
      {"--fetch", .list = &e.request.fetches},
      {"--init", .list = &e.request.inits},
      {"--out", .text = &e.out},
      {"--memory-limit", .text = &e.memory_limit},
      {"--time-limit", .text = &e.time_limit},
      {"--format", .text = &e.format_name},
      {"--signature", .text = &e.request.runner_options.signature, .kinds = SOURCE_SIGNED},
      {"--tags", .text = &e.request.runner_options.tags, .kinds = SOURCE_TAGGED},
      {"--checkpoint", .text = &e.request.runner_options.checkpoint, .kinds = SOURCE_RESTORED},
  };
  const size_t num_rows = sizeof rows / sizeof rows[0];
  int result = EXIT_USAGE;
  if (options_parse("exec", rows, num_rows, argc, argv, &paths)) {
    result = check(&e, &paths);
    if (result == EXIT_SUCCESS && !deadline_begin("exec", e.time_limit)) result = EXIT_USAGE;
    if (result == EXIT_SUCCESS && !path_fits_options(paths.items[0], "exec", rows, num_rows)) {
      result = EXIT_USAGE;
    }
    if (result == EXIT_SUCCESS && !limit_begin("exec", paths.items[0], e.memory_limit)) {
      result = EXIT_USAGE;
    }
    if (result == EXIT_SUCCESS) {
      rheos_status *status = run(&e, paths.items[0]);
      status = deadline_explain_take(status);
      deadline_end();
      progress_end();
      if (status != NULL) result = command_fail_take(paths.items[0], status);
    }
  }
  text_list_deinit(&paths);
  request_deinit(&e.request);
  return result;
}
