// Brings a graph to the state in which it can be asked: imported, variables restored, initialized.
#include "runner.h"

#include <stdlib.h>
#include <string.h>

#include "checkpoint.h"
#include "command.h"
#include "files.h"
#include "near.h"
#include "status.h"

// What was made for a machine with other devices runs too.
static rheos_session_options session_options(const runner_options *options) {
  return (rheos_session_options){.num_threads = options->num_threads, .allow_soft_placement = true};
}

// ---- Graphs

static rheos_status *make_graph(runner *r, rheos_scope **out_scope) {
  r->graph = rheos_graph_new();
  *out_scope = r->graph != NULL ? rheos_scope_new(r->graph) : NULL;
  return *out_scope != NULL ? NULL : NO_MEMORY();
}

static rheos_status *open_graph(runner *r, const runner_options *options) {
  rheos_scope *scope;
  TRY(make_graph(r, &scope));
  const rheos_import_options import = {.keep_unknown_ops = true, .any_colocation = true};
  const rheos_session_options session = session_options(options);
  rheos_import_graph_def(scope, r->source.bytes, r->source.size_bytes, &import);
  rheos_status *status = rheos_scope_finish(scope);
  if (status == NULL) status = rheos_session_new(r->graph, &session, &r->session);
  if (status == NULL && options->checkpoint != NULL) {
    status = checkpoint_restore(scope, r->session, options->checkpoint);
  }
  rheos_scope_free(scope);
  return status;
}

// ---- Meta graphs

// The checkpoint that a meta graph was saved with: its name without ".meta".
static char *checkpoint_beside(const char *path) {
  const size_t size = strlen(path);
  if (size < 6 || strcmp(path + size - 5, ".meta") != 0) return NULL;
  char *prefix = command_format("%.*s", (int)(size - 5), path);
  char *index = command_format("%s.index", prefix);
  const bool exists = is_file(index) || is_file(prefix);
  free(index);
  if (exists) return prefix;
  free(prefix);
  return NULL;
}

static rheos_status *restore_beside(runner *r, rheos_scope *scope, const rheos_saver *saver,
                                    const char *named) {
  char *prefix = named != NULL ? NULL : checkpoint_beside(r->source.path);
  rheos_status *status = NULL;
  if (named != NULL) {
    status = checkpoint_restore_with(scope, r->session, saver, named);
  } else if (prefix != NULL) {
    status = checkpoint_restore_with(scope, r->session, saver, prefix);
  }
  free(prefix);
  return status;
}

static rheos_status *open_meta_graph(runner *r, const runner_options *options) {
  TRY(rheos_meta_graph_parse(r->source.bytes, r->source.size_bytes, &r->own_meta_graph));
  r->meta_graph = r->own_meta_graph;
  rheos_scope *scope;
  TRY(make_graph(r, &scope));
  const rheos_import_options import = {.keep_unknown_ops = true, .any_colocation = true};
  const rheos_session_options session = session_options(options);
  const rheos_saver saver = rheos_import_meta_graph(scope, r->meta_graph, &import);
  rheos_status *status = rheos_scope_finish(scope);
  if (status == NULL) status = rheos_session_new(r->graph, &session, &r->session);
  if (status == NULL) status = restore_beside(r, scope, &saver, options->checkpoint);
  rheos_scope_free(scope);
  return status;
}

// ---- Saved models

static void split_tags(char *text, text_list *tags) {
  for (char *tag = strtok(text, ","); tag != NULL; tag = strtok(NULL, ",")) {
    text_list_add(tags, tag);
  }
}

// The tags asked for, or those of the first graph.
static rheos_status *choose_tags(const source *s, char *text, text_list *tags) {
  if (text != NULL) {
    split_tags(text, tags);
    return NULL;
  }
  const Tensorflow__MetaGraphDef *first;
  TRY(source_meta_graph(s, NULL, &first));
  for (size_t i = 0; first->meta_info_def != NULL && i < first->meta_info_def->n_tags; i++) {
    text_list_add(tags, first->meta_info_def->tags[i]);
  }
  return NULL;
}

static rheos_status *open_saved_model(runner *r, const runner_options *options) {
  if (options->checkpoint != NULL) {
    return INVALID("a saved model has its variables with it: --checkpoint is for graphs");
  }
  const char *base = path_base(r->source.path);
  if (strcmp(base, "saved_model.pb") != 0 && strcmp(base, "saved_model.pbtxt") != 0) {
    return INVALID("a saved model runs from its folder, where saved_model.pb is");
  }
  const rheos_session_options session = session_options(options);
  const rheos_saved_model_options load = {.session = &session};
  text_list tags = {0};
  char *text = options->tags != NULL ? command_format("%s", options->tags) : NULL;
  char *folder = r->source.folder != NULL ? command_format("%s", r->source.folder) : NULL;
  char *parent = folder == NULL ? path_folder(r->source.path) : NULL;
  rheos_status *status = choose_tags(&r->source, text, &tags);
  if (status == NULL) {
    status = rheos_saved_model_load(folder != NULL ? folder : parent, tags.items, tags.count, &load,
                                    &r->model);
  }
  text_list_deinit(&tags);
  free(text);
  free(folder);
  free(parent);
  if (status != NULL) return status;
  r->graph = rheos_saved_model_graph(r->model);
  r->session = rheos_saved_model_session(r->model);
  r->meta_graph = rheos_saved_model_meta_graph(r->model);
  return NULL;
}

// ---- Signatures

static rheos_status *find_signature(runner *r, const char *key) {
  if (r->meta_graph != NULL) {
    r->signature = rheos_meta_graph_signature(r->meta_graph, key != NULL ? key : "serving_default");
  }
  if (r->signature != NULL || key == NULL) return NULL;
  char known[512] = "";
  size_t length = 0;
  for (size_t i = 0; r->meta_graph != NULL && i < r->meta_graph->num_signatures; i++) {
    length += (size_t)snprintf(known + length, sizeof known - length, "%s'%s'", i > 0 ? ", " : "",
                               r->meta_graph->signatures[i].key);
    if (length >= sizeof known) break;
  }
  return NOT_FOUND("there is no signature '%s'; there are %s", key, length > 0 ? known : "none");
}

static const rheos_tensor_info *find_info(const rheos_tensor_info *infos, size_t count,
                                          const char *name) {
  for (size_t i = 0; i < count; i++) {
    if (strcmp(infos[i].key, name) == 0) return &infos[i];
  }
  return NULL;
}

// As a signature calls a tensor; a sparse one has parts, "x/indices".
static const char *tensor_name(const rheos_tensor_info *infos, size_t count, const char *name) {
  const rheos_tensor_info *info = find_info(infos, count, name);
  if (info != NULL) return info->name[0] != '\0' ? info->name : NULL;
  const char *slash = strrchr(name, '/');
  if (slash == NULL) return NULL;
  char *start = command_format("%.*s", (int)(slash - name), name);
  info = find_info(infos, count, start);
  free(start);
  if (info == NULL || !info->is_sparse) return NULL;
  if (strcmp(slash, "/indices") == 0) return info->indices_name;
  if (strcmp(slash, "/values") == 0) return info->values_name;
  return strcmp(slash, "/dense_shape") == 0 ? info->dense_shape_name : NULL;
}

// ---- Ends

static bool is_placeholder(rheos_operation operation) {
  const char *op = rheos_operation_type(operation);
  return strcmp(op, "Placeholder") == 0 || strcmp(op, "PlaceholderV2") == 0;
}

// Variables and what only sets them up are no results.
static bool is_result(rheos_operation operation) {
  size_t num_consumers = 0;
  if (rheos_operation_num_outputs(operation) == 0 || rheos_operation_num_inputs(operation) == 0 ||
      is_placeholder(operation)) {
    return false;
  }
  for (int32_t i = 0; i < rheos_operation_num_outputs(operation) && num_consumers == 0; i++) {
    rheos_status *status =
        rheos_output_consumers(rheos_operation_output(operation, i), NULL, 0, &num_consumers);
    if (status == NULL) continue;
    command_fail_take("graph", status);
    exit(EXIT_FAILURE);
  }
  const rheos_dtype dtype = rheos_output_dtype(rheos_operation_output(operation, 0));
  return num_consumers == 0 && !rheos_dtype_is_ref(dtype) && dtype != RHEOS_RESOURCE &&
         dtype != RHEOS_VARIANT;
}

// Whether it is that op of version 1's control flow, of values or of references.
static bool is_flow(rheos_operation operation, const char *name) {
  const char *op = rheos_operation_type(operation);
  return strcmp(strncmp(op, "Ref", 3) == 0 ? op + 3 : op, name) == 0;
}

// How many of version 1's loops and branches a node's outputs lie in, given that of what it takes.
static int32_t level_behind(rheos_operation operation, int32_t level, bool takes_enter) {
  if (is_flow(operation, "Enter") || is_flow(operation, "Switch") ||
      is_flow(operation, "_SwitchN")) {
    return level + 1;
  }
  if (is_flow(operation, "Exit")) return level - 2;
  return is_flow(operation, "Merge") && !takes_enter ? level - 1 : level;
}

// By node, for free(): what is computed in some trips or branches only is nothing that a graph ends
// in.
static int32_t *levels_of(rheos_graph *graph) {
  const int32_t count = rheos_graph_num_operations(graph);
  int32_t *levels = command_alloc((size_t)count * sizeof *levels);
  for (int32_t id = 0; id < count; id++) {
    const rheos_operation operation = {graph, id};
    int32_t level = 0;
    bool takes_enter = false;
    for (int32_t i = 0; i < rheos_operation_num_inputs(operation); i++) {
      const rheos_operation from = rheos_output_operation(rheos_operation_input(operation, i));
      if (from.id >= id) continue;  // the way back of a loop
      if (levels[from.id] > level) level = levels[from.id];
      takes_enter |= is_flow(from, "Enter");
    }
    levels[id] = level_behind(operation, level, takes_enter);
  }
  return levels;
}

void runner_ends(const runner *r, rheos_output **out_inputs, int32_t *out_num_inputs,
                 rheos_output **out_results, int32_t *out_num_results) {
  const int32_t count = rheos_graph_num_operations(r->graph);
  *out_inputs = command_alloc((size_t)count * sizeof **out_inputs);
  *out_results = command_alloc((size_t)count * sizeof **out_results);
  *out_num_inputs = *out_num_results = 0;
  int32_t *levels = levels_of(r->graph);
  for (int32_t id = 0; id < count; id++) {
    const rheos_operation operation = {r->graph, id};
    const rheos_output output = rheos_operation_output(operation, 0);
    if (is_placeholder(operation)) (*out_inputs)[(*out_num_inputs)++] = output;
    if (levels[id] <= 0 && is_result(operation)) (*out_results)[(*out_num_results)++] = output;
  }
  free(levels);
}

// ---- Names, and messages that tell them

enum { MOST_NAMES = 8, NAME_BYTES = 256 };

static void add_name(char **names, size_t index, const char *name) {
  if (index > MOST_NAMES) return;
  char *longer = index == MOST_NAMES
                     ? command_format("%s, ...", *names)
                     : command_format("%s%s'%s'", *names, index > 0 ? ", " : "", name);
  free(*names);
  *names = longer;
}

char *runner_output_names(const runner *r) {
  char *names = command_format("%s", "");
  if (r->signature != NULL) {
    for (size_t i = 0; i < r->signature->num_outputs; i++) {
      add_name(&names, i, r->signature->outputs[i].key);
    }
    return names;
  }
  rheos_output *inputs, *results;
  int32_t num_inputs, num_results;
  runner_ends(r, &inputs, &num_inputs, &results, &num_results);
  for (int32_t i = 0; i < num_results; i++) {
    char name[NAME_BYTES];
    rheos_operation_name((rheos_operation){r->graph, results[i].id}, name, sizeof name);
    add_name(&names, (size_t)i, name);
  }
  free(inputs);
  free(results);
  return names;
}

static char *near_text(const runner *r, const rheos_tensor_info *infos, size_t count,
                       const char *name) {
  near_names near = {.wanted = name};
  for (size_t i = 0; i < count; i++) near_offer(&near, infos[i].key);
  for (int32_t id = 0; id < rheos_graph_num_operations(r->graph); id++) {
    char own[NAME_BYTES];
    rheos_operation_name((rheos_operation){r->graph, id}, own, sizeof own);
    near_offer(&near, own);
  }
  return near_take_text(&near);
}

static rheos_status *find_tensor(const runner *r, const rheos_tensor_info *infos, size_t count,
                                 const char *name, rheos_output *out_output) {
  const char *meant = r->signature != NULL ? tensor_name(infos, count, name) : NULL;
  rheos_status *status = rheos_graph_output(r->graph, meant != NULL ? meant : name, out_output);
  if (status == NULL) return NULL;
  char *near = near_text(r, infos, count, name), *known = command_format("%s", "");
  for (size_t i = 0; i < count; i++) add_name(&known, i, infos[i].key);
  char *more = count > 0
                   ? command_format("; the signature '%s' has %s%s", r->signature->key, known, near)
                   : command_format("%s", near);
  status = command_add_take(status, more);
  free(near);
  free(known);
  free(more);
  return status;
}

rheos_status *runner_input(const runner *r, const char *name, rheos_output *out_output) {
  const rheos_signature_def *s = r->signature;
  return find_tensor(r, s != NULL ? s->inputs : NULL, s != NULL ? s->num_inputs : 0, name,
                     out_output);
}

rheos_status *runner_output(const runner *r, const char *name, rheos_output *out_output) {
  const rheos_signature_def *s = r->signature;
  return find_tensor(r, s != NULL ? s->outputs : NULL, s != NULL ? s->num_outputs : 0, name,
                     out_output);
}

// ---- The whole

static rheos_status *open_source(runner *r, const runner_options *options) {
  switch (r->source.kind) {
    case SOURCE_GRAPH:
    case SOURCE_META_GRAPH:
    case SOURCE_SAVED_MODEL: break;
    default: return INVALID("this holds %s, which cannot be run", source_kind_name(r->source.kind));
  }
  TRY(source_read_message(&r->source));
  TRY(r->source.kind == SOURCE_GRAPH        ? open_graph(r, options)
      : r->source.kind == SOURCE_META_GRAPH ? open_meta_graph(r, options)
                                            : open_saved_model(r, options));
  return find_signature(r, options->signature);
}

rheos_status *runner_open(const char *path, const runner_options *options, runner *out_runner) {
  *out_runner = (runner){.graph = NULL};
  rheos_status *status = source_open(path, &out_runner->source);
  if (status == NULL) status = open_source(out_runner, options);
  if (status != NULL) runner_close(out_runner);
  return status;
}

void runner_close(runner *r) {
  if (r->model == NULL) {
    rheos_session_free(r->session);
    rheos_graph_unref(r->graph);
  }
  rheos_saved_model_free(r->model);
  rheos_meta_graph_free(r->own_meta_graph);
  source_close(&r->source);
  *r = (runner){.graph = NULL};
}
