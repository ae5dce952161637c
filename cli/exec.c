// `rheos exec`: one step of a graph, from files to files.
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "command.h"
#include "feeds.h"
#include "options.h"
#include "outputs.h"
#include "progress.h"
#include "runner.h"

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
    "  --init NAME          an operation to run before; may come several times\n";

typedef struct exec {
  runner_options runner_options;
  text_list feeds, fetches, inits;
  const char *out, *format_name;
  output_format format;
  runner runner;
  rheos_feed *fed;
  size_t num_fed;
  rheos_fetch *fetched;
  const char **fetched_names;
  size_t num_fetched;
  rheos_operation *targets;
  size_t num_targets;
} exec;

static rheos_status *named_take(const char *kind, const char *name, rheos_status *status) {
  if (status == NULL) return NULL;
  rheos_status *named = rheos_status_new(rheos_status_code(status), "%s '%s': %s", kind, name,
                                         rheos_status_message(status));
  rheos_status_free(status);
  return named;
}

// ---- Before the run

static rheos_status *add_feed(exec *e, const char *text) {
  const char *equals = strchr(text, '=');
  char *name = command_format("%.*s", (int)(equals - text), text);
  rheos_feed *feed = &e->fed[e->num_fed];
  rheos_status *status = runner_input(&e->runner, name, &feed->output);
  if (status == NULL) status = feed_read(name, equals + 1, feed->output, &feed->value);
  if (status == NULL) e->num_fed++;
  status = named_take("feed", name, status);
  free(name);
  return status;
}

static rheos_status *read_feeds(exec *e) {
  e->fed = command_alloc(e->feeds.count * sizeof *e->fed);
  for (size_t i = 0; i < e->feeds.count; i++) {
    RHEOS_TRY(add_feed(e, e->feeds.items[i]));
    for (size_t k = 0; k + 1 < e->num_fed; k++) {
      const rheos_output a = e->fed[k].output, b = e->fed[e->num_fed - 1].output;
      if (a.id == b.id && a.index == b.index) {
        return RHEOS_INVALID("'%s' feeds what was fed before", e->feeds.items[i]);
      }
    }
  }
  return NULL;
}

// An operation without outputs is something to run, not to fetch.
static rheos_status *add_fetch(exec *e, const char *name) {
  const rheos_operation operation = rheos_graph_operation(e->runner.graph, name);
  if (operation.graph != NULL && rheos_operation_num_outputs(operation) == 0) {
    e->targets[e->num_targets++] = operation;
    return NULL;
  }
  e->fetched_names[e->num_fetched] = name;
  return named_take("fetch", name,
                    runner_output(&e->runner, name, &e->fetched[e->num_fetched++].output));
}

static rheos_status *find_fetches(exec *e) {
  const rheos_signature_def *signature = e->runner.signature;
  const size_t most =
      e->fetches.count + (signature != NULL ? signature->num_outputs : 0);
  e->fetched = command_alloc(most * sizeof *e->fetched);
  e->fetched_names = command_alloc(most * sizeof *e->fetched_names);
  e->targets = command_alloc(most * sizeof *e->targets);
  for (size_t i = 0; i < e->fetches.count; i++) RHEOS_TRY(add_fetch(e, e->fetches.items[i]));
  if (e->fetches.count > 0) return NULL;
  if (signature == NULL) return RHEOS_INVALID("say what to fetch: --fetch NAME");
  for (size_t i = 0; i < signature->num_outputs; i++) {
    RHEOS_TRY(add_fetch(e, signature->outputs[i].key));
  }
  return NULL;
}

static rheos_status *run_inits(exec *e) {
  for (size_t i = 0; i < e->inits.count; i++) {
    const char *name = e->inits.items[i];
    const rheos_operation operation = rheos_graph_operation(e->runner.graph, name);
    if (operation.graph == NULL) return RHEOS_NOTFOUND("there is no operation '%s'", name);
    RHEOS_TRY(rheos_session_run(e->runner.session, NULL, 0, NULL, 0, &operation, 1, NULL));
  }
  return NULL;
}

// ---- The run, and after it

static rheos_status *write_outputs(exec *e) {
  output_value *values = command_alloc(e->num_fetched * sizeof *values);
  for (size_t i = 0; i < e->num_fetched; i++) {
    values[i] = (output_value){e->fetched_names[i], e->fetched[i].value};
  }
  rheos_status *status = NULL;
  if (e->out != NULL) {
    status = outputs_write(values, e->num_fetched, e->format, e->out);
  } else {
    outputs_print(values, e->num_fetched, e->format);
  }
  free(values);
  return status;
}

static rheos_status *run(exec *e, const char *path) {
  progress_begin("loading", 0);
  RHEOS_TRY(runner_open(path, &e->runner_options, &e->runner));
  progress_begin("reading the inputs", 0);
  RHEOS_TRY(find_fetches(e));
  RHEOS_TRY(read_feeds(e));
  progress_begin("running", 0);
  RHEOS_TRY(run_inits(e));
  RHEOS_TRY(rheos_session_run(e->runner.session, e->fed, e->num_fed, e->fetched, e->num_fetched,
                              e->targets, e->num_targets, NULL));
  progress_end();
  return write_outputs(e);
}

static void clean_up(exec *e) {
  for (size_t i = 0; i < e->num_fed; i++) rheos_tensor_unref(e->fed[i].value);
  for (size_t i = 0; i < e->num_fetched; i++) rheos_tensor_unref(e->fetched[i].value);
  free(e->fed);
  free(e->fetched);
  free(e->fetched_names);
  free(e->targets);
  runner_close(&e->runner);
}

// ---- The command

static int check(exec *e, const text_list *paths) {
  if (paths->count == 0) {
    return command_usage_error("exec: a path is missing; see 'rheos help exec'");
  }
  if (paths->count > 1) return command_usage_error("exec: one path at a time");
  for (size_t i = 0; i < e->feeds.count; i++) {
    const char *equals = strchr(e->feeds.items[i], '=');
    if (equals == NULL || equals == e->feeds.items[i]) {
      return command_usage_error("exec: --feed wants NAME=VALUE, not '%s'", e->feeds.items[i]);
    }
  }
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
      {.name = "--feed", .list = &e.feeds},
      {.name = "--fetch", .list = &e.fetches},
      {.name = "--init", .list = &e.inits},
      {.name = "--out", .text = &e.out},
      {.name = "--format", .text = &e.format_name},
      {.name = "--signature", .text = &e.runner_options.signature},
      {.name = "--tags", .text = &e.runner_options.tags},
      {.name = "--checkpoint", .text = &e.runner_options.checkpoint},
  };
  int result = EXIT_USAGE;
  if (options_parse("exec", rows, sizeof rows / sizeof rows[0], argc, argv, &paths)) {
    result = check(&e, &paths);
    if (result == EXIT_SUCCESS) {
      rheos_status *status = run(&e, paths.items[0]);
      progress_end();
      if (status != NULL) result = command_fail_take(paths.items[0], status);
      clean_up(&e);
      if (result == EXIT_SUCCESS) result = command_finish_output();
    }
  }
  text_list_deinit(&paths);
  text_list_deinit(&e.feeds);
  text_list_deinit(&e.fetches);
  text_list_deinit(&e.inits);
  return result;
}
