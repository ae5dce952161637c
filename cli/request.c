// Names of feeds, fetches and initializers looked up in a graph or its signature, values read.
#include "request.h"

#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "deadline.h"
#include "feeds.h"
#include "status.h"

static rheos_status *named_take(const char *kind, const char *name, rheos_status *status) {
  if (status == NULL) return NULL;
  rheos_status *named = rheos_status_new(rheos_status_code(status), "%s '%s': %s", kind, name,
                                         rheos_status_message(status));
  rheos_status_free(status);
  return named;
}

static rheos_status *add_feed(request *r, const char *text) {
  const char *equals = strchr(text, '=');
  char *name = command_format("%.*s", (int)(equals - text), text);
  rheos_feed *feed = &r->fed[r->num_fed];
  rheos_status *status = runner_input(&r->runner, name, &feed->output);
  if (status == NULL) status = feed_read(name, equals + 1, feed->output, &feed->value);
  if (status == NULL) r->num_fed++;
  status = named_take("feed", name, status);
  free(name);
  return status;
}

rheos_status *request_read_feeds(request *r) {
  r->fed = command_alloc(r->feeds.count * sizeof *r->fed);
  for (size_t i = 0; i < r->feeds.count; i++) {
    TRY(add_feed(r, r->feeds.items[i]));
    for (size_t k = 0; k + 1 < r->num_fed; k++) {
      const rheos_output a = r->fed[k].output, b = r->fed[r->num_fed - 1].output;
      if (a.id == b.id && a.index == b.index) {
        return INVALID("'%s' feeds what was fed before", r->feeds.items[i]);
      }
    }
  }
  return NULL;
}

bool request_is_fed(const request *r, rheos_output output) {
  for (size_t i = 0; i < r->num_fed; i++) {
    if (r->fed[i].output.id == output.id && r->fed[i].output.index == output.index) return true;
  }
  return false;
}

rheos_status *request_add_defaults(request *r) {
  const rheos_signature_def *signature = r->runner.signature;
  if (signature == NULL || signature->num_defaults == 0) return NULL;
  r->fed = command_realloc(r->fed, (r->num_fed + signature->num_defaults) * sizeof *r->fed);
  for (size_t i = 0; i < signature->num_defaults; i++) {
    const rheos_default_value *value = &signature->defaults[i];
    rheos_feed *feed = &r->fed[r->num_fed];
    rheos_status *status = runner_input(&r->runner, value->key, &feed->output);
    if (status == NULL && request_is_fed(r, feed->output)) continue;
    if (status == NULL) status = rheos_default_value_tensor(value, &feed->value);
    if (status != NULL) return named_take("default", value->key, status);
    r->num_fed++;
  }
  return NULL;
}

// The signature's are named where it is looked into.
static rheos_status *with_outputs_take(const request *r, rheos_status *status) {
  char *names = runner_output_names(&r->runner);
  char *more = command_format("%s%s", names[0] != '\0' ? "; the graph ends in " : "", names);
  status = command_add_take(status, more);
  free(names);
  free(more);
  return status;
}

// An operation without outputs is something to run, not to fetch.
static rheos_status *add_fetch(request *r, const char *name) {
  const rheos_operation operation = rheos_graph_operation(r->runner.graph, name);
  if (operation.graph != NULL && rheos_operation_num_outputs(operation) == 0) {
    r->targets[r->num_targets++] = operation;
    return NULL;
  }
  r->fetched_names[r->num_fetched] = name;
  rheos_status *status = runner_output(&r->runner, name, &r->fetched[r->num_fetched++].output);
  if (status != NULL && r->runner.signature == NULL) status = with_outputs_take(r, status);
  return named_take("fetch", name, status);
}

rheos_status *request_find_fetches(request *r) {
  const rheos_signature_def *signature = r->runner.signature;
  const size_t most = r->fetches.count + (signature != NULL ? signature->num_outputs : 0);
  r->fetched = command_alloc(most * sizeof *r->fetched);
  r->fetched_names = command_alloc(most * sizeof *r->fetched_names);
  r->targets = command_alloc(most * sizeof *r->targets);
  for (size_t i = 0; i < r->fetches.count; i++) TRY(add_fetch(r, r->fetches.items[i]));
  if (r->fetches.count > 0) return NULL;
  if (signature == NULL) return with_outputs_take(r, INVALID("say what to fetch: --fetch NAME"));
  for (size_t i = 0; i < signature->num_outputs; i++) {
    TRY(add_fetch(r, signature->outputs[i].key));
  }
  return NULL;
}

rheos_status *request_run_inits(request *r) {
  for (size_t i = 0; i < r->inits.count; i++) {
    const char *name = r->inits.items[i];
    const rheos_operation operation = rheos_graph_operation(r->runner.graph, name);
    if (operation.graph == NULL) return NOT_FOUND("there is no operation '%s'", name);
    const rheos_run_options options = {.timeout_ms = deadline_of_step()};
    TRY(rheos_session_run(r->runner.session, NULL, 0, NULL, 0, &operation, 1, &options));
  }
  return NULL;
}

int request_check(const request *r, const char *command) {
  for (size_t i = 0; i < r->feeds.count; i++) {
    const char *equals = strchr(r->feeds.items[i], '=');
    if (equals == NULL || equals == r->feeds.items[i]) {
      return command_usage_error("%s: --feed wants NAME=VALUE, not '%s'", command,
                                 r->feeds.items[i]);
    }
  }
  return EXIT_SUCCESS;
}

void request_deinit(request *r) {
  for (size_t i = 0; i < r->num_fed; i++) rheos_tensor_unref(r->fed[i].value);
  for (size_t i = 0; i < r->num_fetched; i++) rheos_tensor_unref(r->fetched[i].value);
  free(r->fed);
  free(r->fetched);
  free(r->fetched_names);
  free(r->targets);
  runner_close(&r->runner);
  text_list_deinit(&r->feeds);
  text_list_deinit(&r->fetches);
  text_list_deinit(&r->inits);
}
