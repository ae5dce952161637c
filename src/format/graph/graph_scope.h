// Names below a name scope, as a part of a graph has them when it is written without the rest.
#ifndef RHEOS_SRC_FORMAT_GRAPH_GRAPH_SCOPE_H
#define RHEOS_SRC_FORMAT_GRAPH_GRAPH_SCOPE_H

#include <stdbool.h>

// What stands before the name of an input that comes from elsewhere.
#define RHEOS__UNBOUND_PREFIX "$unbound_inputs_"
// The collection of these, where a part of a graph is written.
#define RHEOS__UNBOUND_KEY "unbound_inputs"

// Whether a name belongs to the scope; as in TensorFlow it need only begin with its text.
bool rheos__is_below(const char *name, const char *scope);

// The name without the scope and the "/" behind it, where it has both; it points into `name`.
const char *rheos__without_scope(const char *name, const char *scope);

#endif  // RHEOS_SRC_FORMAT_GRAPH_GRAPH_SCOPE_H
