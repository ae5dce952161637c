// Lint: mistakes that a graph shows, or the runs that a program made of it, each with the line of
// the program and what to write instead. Nothing is changed, and nothing is run.
#ifndef RHEOS_LINT_H
#define RHEOS_LINT_H

#include <rheos/session.h>

#ifdef __cplusplus
extern "C" {
#endif

// ---- Rules

typedef struct rheos_lint_rule {
  const char *name;    // "double-softmax"
  const char *sign;    // what is found, in a few words
  const char *remedy;  // what to write instead, one sentence
  bool is_note;        // not sure enough to be told unless notes are asked for
  bool wants_runs;     // nothing is found without runs of the program
} rheos_lint_rule;

// The rules, by name; NULL past the last.
RHEOS_API const rheos_lint_rule *rheos_lint_rule_at(size_t index);
// NULL if there is none of that name.
RHEOS_API const rheos_lint_rule *rheos_lint_rule_named(const char *name);

// Whether the line of a source file says `rheos: ignore=NAME` of this rule (several with "," in
// between), or `rheos: ignore` of all. False for what cannot be read.
RHEOS_API bool rheos_lint_is_ignored(const char *file, int32_t line, const char *rule);

// ---- Runs of a program: facts that rules look at beside the graph

typedef struct rheos_run_log rheos_run_log;

// A log of the runs of one graph, which it holds on to. NULL when memory is short.
RHEOS_API rheos_run_log *rheos_run_log_new(rheos_graph *graph);
RHEOS_API void rheos_run_log_free(rheos_run_log *log);

// A run that is about to begin. All of it is borrowed for the call.
typedef struct rheos_logged_run {
  const rheos_feed *feeds;  // what it is given
  size_t num_feeds;
  const rheos_output *fetches;  // what it gives
  size_t num_fetches;
  const rheos_operation *targets;  // what runs for its effect
  size_t num_targets;
  const char *file;  // of the program that asks for the run; NULL: not known
  int32_t line;      // in `file`, from 1; 0: not known
} rheos_logged_run;

// Notes a run: what it asks for, the shapes of its feeds, the numbers of the first ones, and what
// was added to the graph since the run before. RHEOS_INVALID_ARGUMENT for what is of another graph.
// From one thread at a time.
RHEOS_STATUS rheos_run_log_add(rheos_run_log *log, const rheos_logged_run *run);

// ---- Graphs that grow between runs: what a program may look at before each run

typedef struct rheos_growth rheos_growth;
RHEOS_API rheos_growth *rheos_growth_new(void);  // NULL when memory is short
RHEOS_API void rheos_growth_free(rheos_growth *growth);

// Notes a run of the graph that is about to begin, always the same one. True once, when one line of
// the program has added nodes between runs ten times: such a program gets slower and larger from
// run to run. Where nothing was added it takes nanoseconds.
RHEOS_API bool rheos_growth_note(rheos_growth *growth, rheos_graph *graph);
// What to tell then, for rheos_free(): what that line has added, and what to write instead. `file`
// is the graph's, NULL if it is not known; `out_text` is NULL if there is nothing to tell.
RHEOS_STATUS rheos_growth_text(const rheos_growth *growth, const char **out_file, int32_t *out_line,
                               char **out_text);

// ---- Looking

typedef struct rheos_finding {
  const rheos_lint_rule *rule;  // that found it
  const char *text;             // what was seen, and what to write instead; one line
  const char *file;             // of the program; NULL: not known
  int32_t line;                 // in `file`, from 1; 0: not known
  const char *node;             // the node's name; "" if it is about the whole graph
  const char *function;         // whose body the node is in; "": the graph itself
  rheos_operation operation;    // none if it is about the whole graph
} rheos_finding;

typedef struct rheos_lint_options {
  bool notes RHEOS_LEFT_OUT;         // also what rules are not sure of
  bool is_serving RHEOS_LEFT_OUT;    // what is asked for serves; it is not for training
  char reserved_[6] RHEOS_LEFT_OUT;  // zeros
  // What the graph is for: operations that are fetched, run or fed. None: not known.
  const rheos_operation *asked RHEOS_LEFT_OUT;
  size_t num_asked RHEOS_LEFT_OUT;
  const rheos_run_log *runs RHEOS_LEFT_OUT;  // of this graph; NULL: none are known
} rheos_lint_options;

// What was found; everything in it lives as long as it does, and the graph as well.
typedef struct rheos_lint rheos_lint;

// Looks at the graph and at the functions that its nodes call. `options` may be NULL.
// RHEOS_INVALID_ARGUMENT for operations of another graph.
RHEOS_MUST_USE static inline rheos_status *rheos_graph_lint(rheos_graph *graph,
                                                            const rheos_lint_options *options,
                                                            rheos_lint **out_lint);
RHEOS_API void rheos_lint_free(rheos_lint *lint);

RHEOS_API size_t rheos_lint_num_findings(const rheos_lint *lint);
// By file, line and node; NULL past the last.
RHEOS_API const rheos_finding *rheos_lint_finding_at(const rheos_lint *lint, size_t index);

// ---- Mending

// The bytes of a GraphDef without what can go, for rheos_free(): nodes without effects that compute
// what others compute, whose consumers take these, and, if `outputs` ("y", "y:0") are given, what
// they do not need. What else it is stays. `out_num_removed` gets the number of nodes that went.
// Errors are those of rheos_import_graph_def() and rheos_graph_def_strip().
RHEOS_STATUS rheos_graph_def_mend(const void *bytes, size_t size_bytes, const char *const *outputs,
                                  size_t num_outputs, void **out_bytes, size_t *out_size_bytes,
                                  int32_t *out_num_removed);

// ---- How large a struct of options is in the program, the library is told (base.h, Options): what
// is declared above is inline over this

RHEOS_STATUS rheos_graph_lint_sized(rheos_graph *graph, const rheos_lint_options *options,
                                    size_t options_bytes, rheos_lint **out_lint);
RHEOS_MUST_USE static inline rheos_status *rheos_graph_lint(rheos_graph *graph,
                                                            const rheos_lint_options *options,
                                                            rheos_lint **out_lint) {
  return rheos_graph_lint_sized(graph, options, sizeof *options, out_lint);
}

#ifdef __cplusplus
}
#endif

#endif  // RHEOS_LINT_H
