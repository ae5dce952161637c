// What a run of a graph is asked for on the command line, for `rheos exec` and `rheos bench`.
#ifndef RHEOS_CLI_REQUEST_H
#define RHEOS_CLI_REQUEST_H

#include "options.h"
#include "runner.h"

typedef struct request {
  runner_options runner_options;
  text_list feeds, fetches, inits;  // as they were written
  runner runner;
  rheos_feed *fed;  // by request_read_feeds() and request_add_defaults()
  size_t num_fed;
  rheos_fetch *fetched;
  const char **fetched_names;
  size_t num_fetched;
  rheos_operation *targets;
  size_t num_targets;
} request;

// Whether every feed is NAME=VALUE; EXIT_USAGE after a message for `command` if not.
int request_check(const request *r, const char *command);
// After the runner was opened. Without any --fetch all outputs of the signature are fetched.
rheos_status *request_read_feeds(request *r);
bool request_is_fed(const request *r, rheos_output output);
// For inputs of the signature that were not fed, the values that it has for them.
rheos_status *request_add_defaults(request *r);
rheos_status *request_find_fetches(request *r);
rheos_status *request_run_inits(request *r);
// Closes the runner too.
void request_deinit(request *r);

#endif  // RHEOS_CLI_REQUEST_H
