// Finds programs that build nodes in their loops, for so little that it can be on for all.
#include <rheos/lint.h>

#include "base/alloc.h"
#include "base/file.h"

enum { GROWTHS = 10, KEPT_LINES = 4 };

// A line that added nodes. Files are the graph's own texts, so that pointers tell them apart.
typedef struct growing_line {
  const char *file;
  int32_t line;
  int32_t num_growths;
  int64_t num_nodes;
} growing_line;

struct rheos_growth {
  int32_t num_nodes;  // before the latest run; -1: there was none
  growing_line lines[KEPT_LINES];
  int32_t told;  // the line that was told of; -1: none
};

rheos_growth *rheos_growth_new(void) {
  rheos_growth *growth = rheos__alloc_zeroed(sizeof *growth);
  if (growth != NULL) growth->num_nodes = growth->told = -1;
  return growth;
}

void rheos_growth_free(rheos_growth *growth) { rheos__free(growth); }

// The place of the line; that of the line which grew least, if it is new.
static growing_line *place_of(rheos_growth *growth, const char *file, int32_t line) {
  growing_line *least = &growth->lines[0];
  for (int i = 0; i < KEPT_LINES; i++) {
    growing_line *known = &growth->lines[i];
    if (known->num_growths > 0 && known->line == line && known->file == file) return known;
    if (known->num_growths < least->num_growths) least = known;
  }
  *least = (growing_line){.file = file, .line = line};
  return least;
}

// The line of the newest node has grown the graph; how many nodes are its own.
static void note_line(rheos_growth *growth, rheos_graph *graph, int32_t first, int32_t num_nodes) {
  const char *file, *other;
  int32_t line, other_line;
  rheos_operation_source((rheos_operation){graph, num_nodes - 1}, &file, &line);
  growing_line *place = place_of(growth, file, line);
  place->num_growths++;
  for (int32_t id = first; id < num_nodes; id++) {
    rheos_operation_source((rheos_operation){graph, id}, &other, &other_line);
    place->num_nodes += other == file && other_line == line;
  }
  if (place->num_growths >= GROWTHS && file != NULL)
    growth->told = (int32_t)(place - growth->lines);
}

bool rheos_growth_note(rheos_growth *growth, rheos_graph *graph) {
  if (growth == NULL || graph == NULL) return false;
  const int32_t num_nodes = rheos_graph_num_operations(graph), before = growth->num_nodes;
  if (num_nodes == before) return false;
  growth->num_nodes = num_nodes;
  if (before < 0 || num_nodes < before || growth->told >= 0) return false;
  note_line(growth, graph, before, num_nodes);
  return growth->told >= 0;
}

rheos_status *rheos_growth_text(const rheos_growth *growth, const char **out_file,
                                int32_t *out_line, char **out_text) {
  RHEOS_OUT(out_file);
  RHEOS_OUT(out_line);
  RHEOS_OUT(out_text);
  RHEOS_NEED(growth);
  if (growth->told < 0) return NULL;
  const growing_line *line = &growth->lines[growth->told];
  *out_file = line->file;
  *out_line = line->line;
  *out_text = rheos__text_format("line %d added %lld nodes in %d runs; %s", (int)line->line,
                                 (long long)line->num_nodes, (int)line->num_growths,
                                 rheos_lint_rule_named("growing-graph")->remedy);
  return *out_text != NULL ? NULL : rheos__out_of_memory();
}
