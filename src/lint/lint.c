// The look at a graph and the functions that it calls: every rule of the table on each of them,
// then what was found in order, without what the program's lines say to ignore.
#include <rheos/lint.h>

#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/options.h"
#include "graph/handles.h"
#include "graph/library.h"
#include "lint/lint.h"
#include "lint/run_log.h"

struct rheos_lint {
  rheos_graph *graph;
  rheos__arena arena;
  rheos__lint_findings found;
};

// ---- Telling

// Whether one like it was told: then it counts there.
static bool is_told(rheos__lint_findings *found, const rheos_finding *finding) {
  for (size_t i = found->count; finding->file != NULL && i-- > 0;) {
    const rheos_finding *other = &found->items[i];
    if (other->rule == finding->rule && other->line == finding->line && other->file != NULL &&
        strcmp(other->file, finding->file) == 0) {
      found->times[i]++;
      return true;
    }
  }
  return false;
}

static void add_finding(rheos__lint_findings *found, rheos_finding finding, const char *format,
                        va_list args) {
  if (found->is_short || is_told(found, &finding)) return;
  char seen[1024];
  vsnprintf(seen, sizeof seen, format, args);
  for (char *at = seen; *at != '\0'; at++) {
    if (*at == '\n') *at = ' ';
  }
  finding.text = rheos__arena_strdup(found->arena, seen);
  if (finding.text == NULL || !RHEOS_RESERVE(found->items, found->capacity, found->count + 1) ||
      !RHEOS_RESERVE(found->times, found->times_capacity, found->count + 1)) {
    found->is_short = true;
    return;
  }
  found->times[found->count] = 1;
  found->items[found->count++] = finding;
}

void rheos__lint_tell(rheos__lint_findings *found, const rheos__lint_graph *g, int32_t id,
                      const char *format, ...) {
  rheos_finding finding = {.rule = found->rule, .node = "", .function = g->function};
  if (id >= 0) {
    finding.operation = (rheos_operation){g->graph, id};
    finding.node = rheos__lint_name(found, g, id);
    rheos_operation_source(finding.operation, &finding.file, &finding.line);
  }
  va_list args;
  va_start(args, format);
  add_finding(found, finding, format, args);
  va_end(args);
}

void rheos__lint_tell_line(rheos__lint_findings *found, const char *file, int32_t line,
                           const char *format, ...) {
  const rheos_finding finding = {
      .rule = found->rule, .node = "", .function = "", .file = file, .line = line};
  va_list args;
  va_start(args, format);
  add_finding(found, finding, format, args);
  va_end(args);
}

// ---- Lines that say what to ignore

// The line of a text, from 1 on; its length goes to `out_length`. NULL past the last.
static const char *line_of_text(const char *text, int32_t line, size_t *out_length) {
  for (; line > 1 && text != NULL; line--) {
    text = strchr(text, '\n');
    if (text != NULL) text++;
  }
  if (text != NULL) *out_length = strcspn(text, "\r\n");
  return text;
}

static bool is_name_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
}

static bool line_ignores(const char *at, size_t length, const char *rule) {
  static const char mark[] = "rheos: ignore";
  const char *end = at + length;
  for (; at + sizeof mark - 1 <= end; at++) {
    if (memcmp(at, mark, sizeof mark - 1) == 0) break;
  }
  if (at + sizeof mark - 1 > end) return false;
  at += sizeof mark - 1;
  if (at == end || *at != '=') return true;
  do {
    at++;
    while (at < end && *at == ' ') at++;
    const char *name = at;
    while (at < end && is_name_char(*at)) at++;
    if ((size_t)(at - name) == strlen(rule) && memcmp(name, rule, strlen(rule)) == 0) return true;
  } while (at < end && *at == ',');
  return false;
}

enum { LARGEST_SOURCE_BYTES = 16 << 20 };

// A program's file, the latest that was read.
typedef struct source_text {
  const char *file;
  char *text;  // NULL: it cannot be read
  bool is_short;
} source_text;

static bool is_ignored(source_text *source, const char *file, int32_t line, const char *rule) {
  size_t size_bytes, length;
  if (source->file == NULL || strcmp(source->file, file) != 0) {
    rheos__free(source->text);
    *source = (source_text){.file = file, .is_short = source->is_short};
    rheos_status *status =
        rheos__file_read_all(file, LARGEST_SOURCE_BYTES, &source->text, &size_bytes);
    source->is_short |= status == rheos__out_of_memory();
    rheos_status_free(status);
  }
  if (source->text == NULL) return false;
  const char *at = line_of_text(source->text, line, &length);
  return at != NULL && line_ignores(at, length, rule);
}

bool rheos_lint_is_ignored(const char *file, int32_t line, const char *rule) {
  if (file == NULL || rule == NULL || line < 1) return false;
  source_text source = {0};
  const bool ignored = is_ignored(&source, file, line, rule);
  rheos__free(source.text);
  return ignored;
}

// ---- What was found, in order

static int compare_findings(const void *a, const void *b) {
  const rheos_finding *one = a, *other = b;
  if ((one->file == NULL) != (other->file == NULL)) return one->file == NULL ? 1 : -1;
  int order = one->file != NULL ? strcmp(one->file, other->file) : 0;
  if (order == 0) order = (one->line > other->line) - (one->line < other->line);
  if (order == 0) order = strcmp(one->function, other->function);
  if (order == 0) {
    order = (one->operation.id > other->operation.id) - (one->operation.id < other->operation.id);
  }
  return order != 0 ? order : strcmp(one->rule->name, other->rule->name);
}

// "SEEN; REMEDY", with the number of times before the remedy.
static const char *whole_text(rheos__lint_findings *found, const rheos_finding *finding,
                              int32_t times) {
  char count[64] = "";
  if (times > 1) snprintf(count, sizeof count, " (%d times at this line)", (int)times);
  char *text = rheos__text_format("%s%s; %s", finding->text, count, finding->rule->remedy);
  const char *kept = text != NULL ? rheos__arena_strdup(found->arena, text) : NULL;
  rheos__free(text);
  if (kept == NULL) found->is_short = true;
  return kept != NULL ? kept : "";
}

static void finish_findings(rheos__lint_findings *found) {
  source_text source = {0};
  size_t kept = 0;
  for (size_t i = 0; i < found->count; i++) {
    rheos_finding *finding = &found->items[i];
    finding->text = whole_text(found, finding, found->times[i]);
  }
  if (found->count > 0) {
    qsort(found->items, found->count, sizeof *found->items, compare_findings);
  }
  for (size_t i = 0; i < found->count; i++) {
    const rheos_finding *finding = &found->items[i];
    const bool ignored = finding->file != NULL &&
                         is_ignored(&source, finding->file, finding->line, finding->rule->name);
    if (!ignored) found->items[kept++] = *finding;
  }
  found->count = kept;
  found->is_short |= source.is_short;
  rheos__free(source.text);
}

// ---- Graphs and the functions that they call

enum { MOST_BODIES = 10000 };

typedef struct bodies {
  rheos_graph **graphs;
  const char **names;
  bool *is_serving;  // whether what serves calls it
  size_t count, graph_capacity, name_capacity, serving_capacity;
} bodies;

static void add_body(rheos__lint_findings *found, bodies *to, const rheos_func *func,
                     rheos_graph *graph, bool is_serving) {
  const rheos__function *function;
  rheos_status *status = rheos__graph_function(graph, func, &function);
  if (status != NULL) {  // what is not there, calls say
    found->is_short |= status == rheos__out_of_memory();
    rheos_status_free(status);
    return;
  }
  for (size_t i = 0; i < to->count; i++) {
    if (to->graphs[i] == function->graph) return;
  }
  if (to->count == MOST_BODIES) return;
  const size_t count = to->count + 1;
  if (!RHEOS_RESERVE(to->graphs, to->graph_capacity, count) ||
      !RHEOS_RESERVE(to->names, to->name_capacity, count) ||
      !RHEOS_RESERVE(to->is_serving, to->serving_capacity, count)) {
    found->is_short = true;
    return;
  }
  to->graphs[to->count] = function->graph;
  to->names[to->count] = function->name;
  to->is_serving[to->count++] = is_serving;
}

static void add_bodies_of(rheos__lint_findings *found, bodies *to, const rheos__lint_graph *g) {
  for (int32_t id = 0; id < g->num_nodes; id++) {
    const rheos__attrs *attrs = g->nodes[id]->attrs;
    const bool serves = g->is_serving && (!g->has_asked || g->reached[id]);
    for (int32_t i = 0; i < attrs->count && !found->is_short; i++) {
      const rheos_attr_value *value = &attrs->items[i].value;
      if (value->kind == RHEOS_ATTR_FUNC) add_body(found, to, value->func, g->graph, serves);
      for (int32_t f = 0; value->kind == RHEOS_ATTR_LIST_FUNC && f < value->count; f++) {
        add_body(found, to, &value->funcs[f], g->graph, serves);
      }
    }
  }
}

static void run_rules(rheos__lint_findings *found, const rheos__lint_graph *g) {
  size_t count;
  const rheos__lint_row *rows = rheos__lint_rows(&count);
  for (size_t i = 0; i < count; i++) {
    const rheos_lint_rule *rule = &rows[i].rule;
    if (rows[i].look == NULL || (rule->is_note && !found->notes)) continue;
    if (rule->wants_runs && g->runs == NULL) continue;
    found->rule = rule;
    rows[i].look(found, g);
  }
}

static void mark_asked(rheos__lint_graph *g, const rheos_lint_options *options) {
  for (size_t i = 0; i < options->num_asked; i++) {
    if (options->asked[i].id >= g->num_nodes) continue;
    g->asked[options->asked[i].id] = g->has_asked = true;
  }
  if (options->runs != NULL) g->has_asked |= rheos__run_log_mark(options->runs, g);
}

static void look_at(rheos__lint_findings *found, bodies *to, rheos__lint_graph *g) {
  memcpy(g->reached, g->asked, (size_t)g->num_nodes * sizeof *g->reached);
  if (!rheos__lint_mark_needed(g, g->reached)) {
    found->is_short = true;
    return;
  }
  add_bodies_of(found, to, g);
  run_rules(found, g);
}

static void look_at_all(rheos_lint *lint, const rheos_lint_options *options) {
  rheos__lint_findings *found = &lint->found;
  bodies all = {0};
  rheos__lint_graph g;
  const bool is_body = rheos__library_graph(lint->graph) != lint->graph;
  if (!rheos__lint_graph_init(&g, lint->graph, is_body ? "function" : "")) {
    found->is_short = true;
    return;
  }
  g.is_serving = options->is_serving;
  g.runs = options->runs;
  mark_asked(&g, options);
  look_at(found, &all, &g);
  rheos__lint_graph_deinit(&g);
  for (size_t i = 0; i < all.count && !found->is_short; i++) {
    if (!rheos__lint_graph_init(&g, all.graphs[i], all.names[i])) {
      found->is_short = true;
      break;
    }
    g.is_serving = all.is_serving[i];
    look_at(found, &all, &g);
    rheos__lint_graph_deinit(&g);
  }
  rheos__free(all.graphs);
  rheos__free(all.names);
  rheos__free(all.is_serving);
}

static rheos_status *check(rheos_graph *graph, const rheos_lint_options *options) {
  RHEOS_NEED_LIST(options->asked, options->num_asked);
  for (size_t i = 0; i < options->num_asked; i++) {
    RHEOS_TRY(rheos__check_operation(graph, options->asked[i], "what is asked for"));
  }
  if (options->runs != NULL && rheos__run_log_graph(options->runs) != graph) {
    return RHEOS_INVALID("the runs are of another graph");
  }
  return NULL;
}

rheos_status *rheos_graph_lint_sized(rheos_graph *graph, const rheos_lint_options *given,
                                     size_t options_bytes, rheos_lint **out_lint) {
  rheos_lint_options options;
  RHEOS_OUT(out_lint);
  RHEOS_NEED(graph);
  RHEOS_TRY(RHEOS_READ_OPTIONS(rheos_lint_options, given, options_bytes, &options));
  RHEOS_TRY(check(graph, &options));
  rheos_lint *lint = rheos__alloc_zeroed(sizeof *lint);
  if (lint == NULL) return rheos__out_of_memory();
  rheos__arena_init(&lint->arena);
  lint->graph = rheos_graph_ref(graph);
  lint->found = (rheos__lint_findings){.arena = &lint->arena, .notes = options.notes};
  rheos__graph_begin_reading(graph);
  look_at_all(lint, &options);
  rheos__graph_end_reading(graph);
  if (!lint->found.is_short) finish_findings(&lint->found);
  if (lint->found.is_short) {
    rheos_lint_free(lint);
    return rheos__out_of_memory();
  }
  *out_lint = lint;
  return NULL;
}

void rheos_lint_free(rheos_lint *lint) {
  if (lint == NULL) return;
  rheos__free(lint->found.items);
  rheos__free(lint->found.times);
  rheos__arena_deinit(&lint->arena);
  rheos_graph_unref(lint->graph);
  rheos__free(lint);
}

size_t rheos_lint_num_findings(const rheos_lint *lint) {
  return lint != NULL ? lint->found.count : 0;
}

const rheos_finding *rheos_lint_finding_at(const rheos_lint *lint, size_t index) {
  return index < rheos_lint_num_findings(lint) ? &lint->found.items[index] : NULL;
}
