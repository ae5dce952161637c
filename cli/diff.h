// The parts of `rheos diff`: one function for each kind of file. All print on standard output what
// differs, a line each, and a last line with the counts; or JSON.
#ifndef RHEOS_CLI_DIFF_H
#define RHEOS_CLI_DIFF_H

#include "source.h"
#include "text.h"

typedef struct diff_options {
  bool json, all;    // all: every node by itself, where a scope would stand for many
  double tolerance;  // of numbers in checkpoints: by as much they may differ, relatively
  const char *tags;
} diff_options;

typedef struct diff_result {
  bool differs;
  const char *failed;  // the path that could not be read, borrowed; NULL: none by itself
} diff_result;

rheos_status *diff_models(source *a, source *b, const diff_options *options, diff_result *out);
rheos_status *diff_checkpoints(const source *a, const source *b, const diff_options *options,
                               diff_result *out);

#endif  // RHEOS_CLI_DIFF_H
