// A node is in the innermost frame of what it takes. One goes from the Enters along the edges; a
// node that is met again in a deeper frame is gone from once more.
#include "frames.h"

#include <stdlib.h>
#include <string.h>

#include "../command.h"
#include "../table.h"

typedef struct search {
  frames *f;
  const hierarchy_nodes *nodes;
  name_table children;  // the parent's number and a name; `least` is the frame's number
  size_t *first_use;    // of each node those that take from it
  int32_t *uses;
  int32_t *queue;  // a ring: each node is in it once at most
  int32_t begin, count;
  bool *is_queued;
} search;

static int32_t add_frame(frames *f, frame row) {
  if ((size_t)f->count == f->capacity) {
    f->capacity = 2 * f->capacity + 16;
    f->rows = command_realloc(f->rows, f->capacity * sizeof *f->rows);
  }
  f->rows[f->count] = row;
  return f->count++;
}

static int32_t frame_in(search *s, int32_t parent, const char *name) {
  if (s->f->rows[parent].depth == FRAMES_MOST_DEPTH) return parent;
  const size_t length = strlen(name);
  char *key = command_alloc(sizeof parent + length);
  memcpy(key, &parent, sizeof parent);
  memcpy(key + sizeof parent, name, length);
  name_row *row = name_table_row(&s->children, key, sizeof parent + length);
  free(key);
  if (row->count++ == 0) {
    row->least = add_frame(
        s->f, (frame){.name = name, .parent = parent, .depth = s->f->rows[parent].depth + 1});
  }
  return (int32_t)row->least;
}

static void find_uses(search *s) {
  const hierarchy_nodes *n = s->nodes;
  s->first_use = command_alloc(((size_t)n->count + 2) * sizeof *s->first_use);
  s->uses = command_alloc(n->first_edge[n->count] * sizeof *s->uses);
  for (size_t at = 0; at < n->first_edge[n->count]; at++) {
    if (n->edges[at].from != HIERARCHY_MISSING) s->first_use[n->edges[at].from + 2]++;
  }
  for (int32_t i = 1; i <= n->count; i++) s->first_use[i + 1] += s->first_use[i];
  for (int32_t i = 0; i < n->count; i++) {
    for (size_t at = n->first_edge[i]; at < n->first_edge[i + 1]; at++) {
      const int32_t from = n->edges[at].from;
      if (from != HIERARCHY_MISSING) s->uses[s->first_use[from + 1]++] = i;
    }
  }
}

// Notes that a node is in a frame, if it is deeper than what was known.
static void meet(search *s, int32_t node, int32_t frame) {
  frames *f = s->f;
  if (f->rows[frame].depth <= f->rows[f->of_node[node]].depth) return;
  f->of_node[node] = frame;
  if (s->is_queued[node]) return;
  s->is_queued[node] = true;
  s->queue[(s->begin + s->count++) % s->nodes->count] = node;
}

static bool is_exit(const char *op) {
  return strcmp(op, "Exit") == 0 || strcmp(op, "RefExit") == 0;
}

static void go(search *s) {
  const hierarchy_nodes *n = s->nodes;
  for (int32_t i = 0; i < n->count; i++) {
    if (n->frames[i] != NULL) meet(s, i, frame_in(s, FRAME_NONE, n->frames[i]));
  }
  while (s->count > 0) {
    const int32_t node = s->queue[s->begin];
    s->begin = (s->begin + 1) % n->count;
    s->count--;
    s->is_queued[node] = false;
    int32_t out = s->f->of_node[node];
    if (is_exit(n->ops[node])) out = s->f->rows[out].parent;
    for (size_t at = s->first_use[node]; at < s->first_use[node + 1]; at++) {
      const int32_t to = s->uses[at];
      meet(s, to, n->frames[to] != NULL ? frame_in(s, out, n->frames[to]) : out);
    }
  }
}

void frames_find(frames *f, const hierarchy_nodes *nodes) {
  *f = (frames){.of_node = command_alloc((size_t)nodes->count * sizeof *f->of_node)};
  add_frame(f, (frame){.name = ""});
  bool has_loops = false;
  for (int32_t i = 0; nodes->frames != NULL && i < nodes->count && !has_loops; i++) {
    has_loops = nodes->frames[i] != NULL;
  }
  if (!has_loops) return;
  search s = {.f = f, .nodes = nodes};
  s.queue = command_alloc((size_t)nodes->count * sizeof *s.queue);
  s.is_queued = command_alloc((size_t)nodes->count * sizeof *s.is_queued);
  find_uses(&s);
  go(&s);
  for (int32_t i = 0; i < nodes->count; i++) f->rows[f->of_node[i]].num_nodes++;
  for (int32_t i = f->count - 1; i > 0; i--)
    f->rows[f->rows[i].parent].num_nodes += f->rows[i].num_nodes;
  name_table_deinit(&s.children);
  free(s.first_use);
  free(s.uses);
  free(s.queue);
  free(s.is_queued);
}

void frames_deinit(frames *f) {
  free(f->of_node);
  free(f->rows);
}
