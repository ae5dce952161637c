// A node while it is being added: what build.c, which adds it, and node_signature.c, which fits it
// to its op's signature, both know.
#ifndef RHEOS_SRC_GRAPH_NODE_BUILD_H
#define RHEOS_SRC_GRAPH_NODE_BUILD_H

#include "graph/graph_impl.h"

enum { RHEOS__BUILD_INLINE_BYTES = 3072, RHEOS__MAX_NODE_OUTPUTS = 1 << 20 };

typedef struct rheos__work_block {
  struct rheos__work_block *next;
  int64_t keeps_alignment;
} rheos__work_block;

typedef struct rheos__node_build {
  rheos_scope *scope;
  rheos_graph *graph;
  const rheos_op_args *args;
  const rheos__signature *signature;
  bool keeps_attrs;  // those that the signature does not have
  // The name asked for: inside `parent`, or, if it ended in "/", exactly this.
  const char *name;
  size_t name_length;
  uint32_t parent;
  bool name_is_exact;
  // Attributes in the order of the signature; kind NONE until known. The argument that told the
  // value stands beside it, -1 for the caller.
  rheos_attr_value *values;
  int32_t *told_by;
  rheos_attr *items;  // the final list
  int32_t num_items;
  const rheos__attrs *attrs;
  int32_t num_inputs, num_outputs;
  const rheos__node_output **inputs;
  rheos_dtype *input_dtypes, *output_dtypes;
  rheos_shape *output_shapes;
  int32_t *controls;
  size_t num_controls;
  const char *device;
  bool no_memory;                      // for a value that shape inference asked for
  const rheos__node_output *recalled;  // the only output, if a node before had the same inputs
  // Work space
  rheos__work_block *blocks;
  size_t used;
  _Alignas(16) char inline_bytes[RHEOS__BUILD_INLINE_BYTES];
} rheos__node_build;

// 16-byte aligned, not initialised; freed with the build. NULL when memory is short.
void *rheos__build_work(rheos__node_build *b, size_t count, size_t element_bytes);

static inline const char *rheos__op_name_of(const rheos__node_build *b) {
  return b->signature->op->name;
}

// Fits inputs to arguments: the lengths and types that they tell become attributes.
rheos_status *rheos__bind_inputs(rheos__node_build *b);
// Defaults for what nobody told; all attributes are checked.
rheos_status *rheos__complete_attrs(rheos__node_build *b);
// The length of an argument as far as attributes say it, else -1.
int64_t rheos__known_length(const rheos__node_build *b, const rheos__arg *arg);

bool rheos__attr_kind_is_list(rheos_attr_kind kind);

// ---- Words for messages

const char *rheos__attr_kind_name(rheos_attr_kind kind);

typedef struct rheos__words {
  char text[512];
  size_t length;
} rheos__words;

// Append what fits; an item after a comma.
void rheos__words_add(rheos__words *buffer, const char *text);
void rheos__words_add_item(rheos__words *buffer, const char *text);

#endif  // RHEOS_SRC_GRAPH_NODE_BUILD_H
