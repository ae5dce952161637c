// Functions that programs made, as FunctionDef messages.
#ifndef RHEOS_SRC_FORMAT_GRAPH_FUNCTION_EXPORT_H
#define RHEOS_SRC_FORMAT_GRAPH_FUNCTION_EXPORT_H

#include "format/graph/graph_def.h"
#include "graph/library.h"

// Appends the message: the body node for node, but for arguments and results.
rheos_status *rheos__made_function_to_bytes(const rheos__made_function *made,
                                            rheos__buffer *buffer);

#endif  // RHEOS_SRC_FORMAT_GRAPH_FUNCTION_EXPORT_H
