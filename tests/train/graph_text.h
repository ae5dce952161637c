// A graph as text, one line a node, in the form of tests/golden/make_training_graphs.py.
#ifndef RHEOS_TESTS_TRAIN_GRAPH_TEXT_H
#define RHEOS_TESTS_TRAIN_GRAPH_TEXT_H

#include <rheos/graph.h>

// Sorted lines; a fresh array of fresh strings for graph_text_free().
char **graph_text(rheos_graph *graph, size_t *out_count);
void graph_text_free(char **lines, size_t count);

// Compares a graph with the recorded tests/golden/training_graphs/NAME.tsv. Prints the differences
// and returns their number.
int graph_text_differences(rheos_graph *graph, const char *name);

#endif  // RHEOS_TESTS_TRAIN_GRAPH_TEXT_H
