// What a graph looks like from afar: scopes by the names of nodes, series of alike ones, crowds
// where a scope holds too many boxes to be drawn, and the edges between what lies in one scope. In
// time of about the names' bytes and the edges times their depth, since graphs have 100,000 nodes.
//
// Items are numbered: first the nodes, then the groups, the first of which is the whole graph. What
// an item lies in is its parent.
#ifndef RHEOS_CLI_PAGE_HIERARCHY_H
#define RHEOS_CLI_PAGE_HIERARCHY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
  HIERARCHY_MISSING = -1,  // an edge's node: the graph has no such node
  HIERARCHY_CONTROL = -1,  // an edge's output
  HIERARCHY_MIXED = -1,    // a link's type: its edges are of several
  HIERARCHY_MOST_BOXES = 120,
  HIERARCHY_MOST_DEPTH = 64,  // of scopes by names; what is deeper is one label
};

// What a drawing can do without: it is kept apart until it is asked for.
typedef enum hierarchy_aside {
  ASIDE_NOT,
  ASIDE_CONSTANT,
  ASIDE_SUMMARY,
  ASIDE_SAVER,
  ASIDE_INITIALIZER,
} hierarchy_aside;

typedef enum hierarchy_kind {
  ITEM_NODE,
  ITEM_SCOPE,
  ITEM_SERIES,
  ITEM_CROWD,
  ITEM_LOOP,       // a frame of version 1 that is no scope by its names
  ITEM_ELSEWHERE,  // in a loop what names put elsewhere: names of members begin anew in it
} hierarchy_kind;

typedef struct hierarchy_edge {
  int32_t from, output;
  int32_t type;   // of the caller's: equal numbers are equal types
  int64_t bytes;  // of the tensor as far as its shape is known
} hierarchy_edge;

// Borrowed. The edges into node i are from first_edge[i] to before first_edge[i + 1].
typedef struct hierarchy_nodes {
  int32_t count;
  const char *const *names;
  const char *const *ops;
  const size_t *first_edge;
  const hierarchy_edge *edges;
  const char *const *frames;  // of an Enter its loop's, else NULL; NULL: there are no loops
} hierarchy_nodes;

typedef struct hierarchy_item {
  hierarchy_kind kind;
  hierarchy_aside aside;  // of a group: all in it is
  int32_t parent;         // -1: of the whole graph
  const char *label;      // borrowed from the names; not NUL-terminated
  size_t label_bytes;     // 0: a node named as the scope that it lies in, a crowd, the whole graph
  const char *loop;       // of a group that is a loop of version 1 its frame's name, else NULL
  int32_t num_nodes;
  uint64_t hash;  // equal for groups that hold the same ops, linked likewise
} hierarchy_item;

// What goes from one item to another of the same group.
typedef struct hierarchy_link {
  int32_t group, from, to;
  int32_t count, controls;  // edges with tensors, and without
  int32_t type;             // of those with tensors
  int64_t bytes;            // of all of them
} hierarchy_link;

typedef struct hierarchy {
  hierarchy_nodes nodes;
  hierarchy_item *items;
  int32_t count;
  size_t capacity;
  hierarchy_link *links;  // by group, then from, then to
  size_t num_links;
  int32_t *classes;  // of each item: equal for groups of one structure that are several, else 0
} hierarchy;

void hierarchy_init(hierarchy *h, const hierarchy_nodes *nodes);
void hierarchy_deinit(hierarchy *h);

// ---- The steps, in this order

// Scopes by the names and loops by their frames (scopes.c); h has only the nodes and the whole
// graph.
void hierarchy_scopes(hierarchy *h);
// Sets `aside` of nodes, then of groups.
void hierarchy_aside_nodes(hierarchy *h);
// Puts alike members of a scope whose names differ in a number into a series.
void hierarchy_series(hierarchy *h);
// Cuts groups of more than HIERARCHY_MOST_BOXES items into crowds of what is linked.
void hierarchy_crowds(hierarchy *h);
void hierarchy_links(hierarchy *h);

// ---- Shared by them

int32_t hierarchy_add(hierarchy *h, hierarchy_item item);
static inline int32_t hierarchy_root(const hierarchy *h) { return h->nodes.count; }
int32_t *hierarchy_depths(const hierarchy *h);  // of all items, for free()
// The items of one group that hold `*from` and `*to`, which are replaced by them; returns the
// group.
int32_t hierarchy_lift(const hierarchy *h, const int32_t *depths, int32_t *from, int32_t *to);
// The members of each group: those of item i are out_members[out_first[i] ...
// out_first[i + 1]), in their order. Both for free().
void hierarchy_members(const hierarchy *h, int32_t **out_first, int32_t **out_members);
uint64_t hierarchy_mix(uint64_t hash);

#endif  // RHEOS_CLI_PAGE_HIERARCHY_H
