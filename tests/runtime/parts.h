// Parts of a step, each in a session of its own, run at the same time.
#ifndef RHEOS_TESTS_RUNTIME_PARTS_H
#define RHEOS_TESTS_RUNTIME_PARTS_H

#include <pthread.h>
#include <rheos/session.h>

#include "resource/rendezvous.h"
#include "runtime/session/direct_callable.h"

enum { MOST_RESULTS = 32 };

typedef struct part_run {
  rheos_callable *callable;
  rheos_tensor *const *values;  // of its feeds
  rheos_tensor *results[MOST_RESULTS];
  const rheos_run_options *options;
  rheos__rendezvous *rendezvous;
  rheos_status *status;
  pthread_t thread;
} part_run;

static inline void *run_part(void *argument) {
  part_run *part = argument;
  part->status = rheos__direct_run_part(part->callable, part->values, part->results, part->options,
                                        part->rendezvous);
  return NULL;
}

// Runs them to their ends.
static inline void run_parts(part_run *parts, int count, rheos__rendezvous *rendezvous) {
  for (int i = 0; i < count; i++) {
    parts[i].rendezvous = rendezvous;
    pthread_create(&parts[i].thread, NULL, run_part, &parts[i]);
  }
  for (int i = 0; i < count; i++) pthread_join(parts[i].thread, NULL);
}

#endif  // RHEOS_TESTS_RUNTIME_PARTS_H
