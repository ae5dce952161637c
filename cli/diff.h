// The parts of `rheos diff`: one function for each kind of file. All print on standard output what
// differs, a line each, and a last line with the counts; or JSON.
#ifndef RHEOS_CLI_DIFF_H
#define RHEOS_CLI_DIFF_H

#include <stdio.h>

#include "show.h"
#include "source.h"
#include "text.h"

typedef struct diff_options {
  bool json, all;    // all: every node by itself, where a scope would stand for many
  double tolerance;  // of numbers in checkpoints: by as much they may differ, relatively
  const char *tags;
  const char *page;   // where graphs are drawn, "-": on standard output; NULL: they are not
  show_options plan;  // `plan`: plans are compared, which are made so
} diff_options;

typedef struct diff_result {
  bool differs;
  const char *failed;  // the path that could not be read, borrowed; NULL: none by itself
} diff_result;

rheos_status *diff_models(source *a, source *b, const diff_options *options, diff_result *out);
rheos_status *diff_checkpoints(const source *a, const source *b, const diff_options *options,
                               diff_result *out);

// Of paths of graphs, models, or plans as JSON.
rheos_status *diff_plans(const char *a, const char *b, const diff_options *options,
                         diff_result *out);
// Both graphs on a page, instead of lines (page/compared.c).
rheos_status *diff_page(source *a, source *b, const diff_options *options, diff_result *out);
// What `--json` tells of two graphs; whether they differ.
bool diff_graphs_json(const Tensorflow__GraphDef *a, const Tensorflow__GraphDef *b, FILE *out);

#endif  // RHEOS_CLI_DIFF_H
