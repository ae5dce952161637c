// Loops and conditionals that version 1's nodes make: which node lies in which. By the nodes alone,
// so also where the graph cannot be imported; hand-written control flow of another form has none.
#ifndef RHEOS_CLI_CONTEXTS_H
#define RHEOS_CLI_CONTEXTS_H

#include "view.h"

typedef struct context {
  int32_t parent;    // -1: it lies in none; parents come before their children
  bool is_loop;      // or a conditional
  int32_t depth;     // in others
  const char *name;  // of a loop its frame, else the node that tells which branch is taken
  int64_t num_nodes;
} context;

typedef struct contexts {
  context *items;
  int32_t count;
  size_t capacity;
  int32_t *of_node;  // -1: in none
} contexts;

void contexts_init(contexts *c, const view *v);
void contexts_deinit(contexts *c);

#endif  // RHEOS_CLI_CONTEXTS_H
