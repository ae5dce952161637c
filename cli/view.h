// A graph for looking at: who takes whose outputs, what goes in and comes out, what cannot run. The
// nodes are those of the message, so that a graph that cannot be imported is shown all the same;
// dtypes and shapes come from the graph it becomes where that is possible.
#ifndef RHEOS_CLI_VIEW_H
#define RHEOS_CLI_VIEW_H

#include <rheos/format.h>

#include "graph.pb-c.h"
#include "source.h"

enum { VIEW_CONTROL = -1, VIEW_MISSING = -1 };

typedef struct view_edge {
  int32_t node;   // where it comes from, VIEW_MISSING: the graph has no such node
  int32_t index;  // of the output, or VIEW_CONTROL
} view_edge;

typedef struct view_use {
  int32_t node, input;  // who takes it, as which input
  int32_t index;        // of the output, or VIEW_CONTROL
} view_use;

typedef enum view_reason {
  VIEW_RUNS,
  VIEW_UNKNOWN_OP,  // Rheos has no such op, the graph no such function
  VIEW_NO_KERNEL,   // known, but it cannot be run
  VIEW_FUNCTION,    // a function of the library, which cannot be called
} view_reason;

typedef struct view_op {
  const char *name;
  int64_t count;
  view_reason reason;
} view_op;

// A node that cannot run.
typedef struct view_obstacle {
  const char *op;
  const char *function;  // whose body holds it, NULL: the graph itself
  const char *node;
  view_reason reason;
} view_obstacle;

typedef struct view {
  const Tensorflow__GraphDef *def;
  int32_t num_nodes;
  rheos_graph *graph;  // NULL: see `problem`
  rheos_graph *other;  // borrowed: where operations are that the graph lacks; NULL: nowhere
  char *problem;       // why the graph cannot be imported
  int32_t *by_name;    // nodes, sorted by name
  size_t *first_edge;  // of each node, and one more
  view_edge *edges;    // as many as inputs
  size_t *first_use;   // likewise
  view_use *uses;
  view_op *ops;  // the most frequent first
  size_t num_ops;
  view_obstacle *obstacles;  // by op, the most frequent first
  size_t num_obstacles, obstacle_capacity;
  int64_t num_variables, variable_elements, num_constants, constant_elements;
} view;

void view_init(view *v, const Tensorflow__GraphDef *def, const void *bytes, size_t size_bytes);
// Of what a source holds: of a meta graph, or of a saved model the one with these tags (NULL: its
// first). Also gives the meta graph, NULL for a plain graph. After a failure there is no view.
rheos_status *view_open(view *v, source *s, const char *tags,
                        const Tensorflow__MetaGraphDef **out_meta_graph);
void view_deinit(view *v);

int32_t view_find(const view *v, const char *name, size_t name_bytes);  // VIEW_MISSING: none
bool view_is_input(const view *v, int32_t node);                        // something to feed
bool view_is_output(const view *v, int32_t node);                       // nobody waits for it
// The operation of the imported graph; none if there is no such graph.
rheos_operation view_operation(const view *v, int32_t node);
// What is known of an output; RHEOS_INVALID_DTYPE and an unknown shape if nothing is.
void view_output(const view *v, int32_t node, int32_t index, rheos_dtype *out_dtype,
                 rheos_shape *out_shape);
int32_t view_num_outputs(const view *v, int32_t node);

const Tensorflow__AttrValue *view_attr(const Tensorflow__NodeDef *node, const char *name);
const char *view_reason_text(view_reason reason);  // "unknown op"
const char *view_dtype_name(int64_t number);       // "float"; "?" for none

#endif  // RHEOS_CLI_VIEW_H
