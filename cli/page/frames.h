// Frames of version 1's loops: which nodes run once a trip, by Enter and Exit.
#ifndef RHEOS_CLI_PAGE_FRAMES_H
#define RHEOS_CLI_PAGE_FRAMES_H

#include "hierarchy.h"

enum { FRAME_NONE = 0, FRAMES_MOST_DEPTH = 16 };  // what is nested deeper counts as the last one's

typedef struct frame {
  const char *name;  // borrowed from the nodes
  int32_t parent, depth;
  int32_t num_nodes;  // with those of the frames in it
} frame;

typedef struct frames {
  int32_t *of_node;  // of Enter and Exit the loop that they belong to
  frame *rows;       // the first is FRAME_NONE
  int32_t count;
  size_t capacity;
} frames;

void frames_find(frames *f, const hierarchy_nodes *nodes);
void frames_deinit(frames *f);

#endif  // RHEOS_CLI_PAGE_FRAMES_H
