// The parts of `rheos show`: one function for each kind of file, one for each way of looking at a
// graph. All print on standard output and return the exit status.
#ifndef RHEOS_CLI_SHOW_H
#define RHEOS_CLI_SHOW_H

#include "options.h"
#include "source.h"
#include "text.h"
#include "view.h"

typedef struct show_options {
  bool json, ops, dot, memory, plan, placement, soft_placement;
  const char *node;
  const char *tags;
  const char *memory_limit;
  const char *cluster, *job, *task, *cpus, *gpus;  // of the placement
  text_list feed_shapes;                           // "NAME=2,3"
  text_list fetches;  // of the plan; none: the signature's, or all there are
} show_options;

int show_model(source *s, const show_options *options);  // graph, meta graph, saved model
int show_checkpoint(const source *s, const show_options *options);
int show_records(const source *s, const show_options *options);
int show_events(const source *s, const show_options *options);
int show_arrays(const source *s, const show_options *options);

// Of show_model().
int show_node(const view *v, const char *name, json *j);  // `j` NULL: as text
void show_dot(const view *v);
int show_placement(const source *s, const view *v, const show_options *options);
const Tensorflow__FunctionDef *show_find_function(const view *v, const char *name);  // or NULL
void show_function(const Tensorflow__FunctionDef *function, json *j);

// ---- Shared

void show_name(const char *name);               // on standard output, escaped
void show_padded(const char *name, int width);  // and filled up with spaces to that width
int show_width(const char *name);               // the columns it takes
// "float [2,?]"; dtype RHEOS_INVALID_DTYPE is left out.
void show_type(rheos_dtype dtype, const rheos_shape *shape);
void show_grouped(int64_t number);  // "1,234,567"
// "dtype": "float", "shape": [2, null]; the shape is null where its rank is not known.
void show_json_type(json *j, rheos_dtype dtype, const rheos_shape *shape);
// The head of every JSON answer: "kind", "path".
void show_json_head(json *j, const source *s);
// "tensors": those of a checkpoint.
void show_json_tensors(json *j, const rheos_checkpoint_reader *reader);

#endif  // RHEOS_CLI_SHOW_H
