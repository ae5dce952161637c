// `rheos lint`: mistakes in a graph, a saved model or a program, each one line as compilers write
// it. A program is run by Python, whose part of it is the package's.
#include <rheos/lint.h>
#include <rheos/saved_model.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "files.h"
#include "limit.h"
#include "mend.h"
#include "options.h"
#include "python.h"
#include "source.h"
#include "status.h"
#include "text.h"

const char command_lint_help[] =
    "usage: rheos lint [OPTIONS] GRAPH | SAVED_MODEL\n"
    "       rheos lint [OPTIONS] SCRIPT.py | -m MODULE | -c TEXT [ARGUMENTS]\n"
    "       rheos lint --rules [--json]\n"
    "\n"
    "Finds mistakes, each told in one line:\n"
    "  FILE:LINE: RULE: what was seen; what to write instead\n"
    "A graph (.pb, .pbtxt, .meta) or a saved model is looked at as it is; its nodes stand in\n"
    "the place of lines. A program is run to its end, on Rheos, and its runs are watched;\n"
    "what it prints goes to standard error. '# rheos: ignore=RULE' on a line keeps it quiet.\n"
    "The exit status is 0 if nothing was found, 1 if something was, 2 for wrong usage.\n"
    "\n"
    "  --notes            also what rules cannot be sure of\n"
    "  --json             as JSON: an array of findings\n"
    "  --rules            list the rules\n"
    "  --for 10s          end the program after that time (s, m, h)\n"
    "  --tf1, --tf2, --keras 2 or 3\n"
    "                     as 'rheos run' has them\n"
    "  --outputs A,B      what a graph is for; else all that nothing takes\n"
    "  --fix              write the file without nodes that compute what others compute, and\n"
    "                     without what the outputs, or a model that serves, do not need; what\n"
    "                     lies beside the graph stays as it is. Then tell what is left\n"
    "  -o FILE            where --fix writes, else in its place\n"
    "  --tags A,B         the graph of a saved model with these tags (else its first)\n"
    "  --memory-limit 8G  what reading it may take; none: all there is (else 1G and 64 times\n"
    "                     its size)\n";

typedef struct lint_options {
  bool notes, json, rules, fix, tf1, tf2;
  const char *time, *keras, *outputs, *out, *tags, *memory_limit;
} lint_options;

// A graph, and what is known of what it is for.
typedef struct subject {
  rheos_graph *graph;
  rheos_operation *asked;
  size_t num_asked;
  bool is_serving;
} subject;

// ---- Rules

static int print_rules(bool as_json) {
  const rheos_lint_rule *rule;
  json j = {.out = stdout};
  if (as_json) json_begin(&j, NULL, '[');
  for (size_t i = 0; (rule = rheos_lint_rule_at(i)) != NULL; i++) {
    if (!as_json) {
      printf("%-24s %s%s\n%-24s   %s\n", rule->name, rule->is_note ? "(note) " : "", rule->sign, "",
             rule->remedy);
      continue;
    }
    json_begin(&j, NULL, '{');
    json_text(&j, "name", rule->name);
    json_bool(&j, "note", rule->is_note);
    json_bool(&j, "wants_runs", rule->wants_runs);
    json_text(&j, "sign", rule->sign);
    json_text(&j, "remedy", rule->remedy);
    json_end(&j, '}');
  }
  if (as_json) json_end(&j, ']');
  return EXIT_SUCCESS;
}

// ---- Reading

static void ask_for(subject *s, const char *name) {
  char *node = command_format("%.*s", (int)strcspn(name, ":"), name);
  const rheos_operation operation = rheos_graph_operation(s->graph, node);
  free(node);
  if (operation.graph == NULL) return;
  s->asked = command_realloc(s->asked, (s->num_asked + 1) * sizeof *s->asked);
  s->asked[s->num_asked++] = operation;
}

static void ask_for_infos(subject *s, const rheos_tensor_info *infos, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (infos[i].is_sparse) {
      ask_for(s, infos[i].values_name);
      ask_for(s, infos[i].indices_name);
      ask_for(s, infos[i].dense_shape_name);
    } else {
      ask_for(s, infos[i].name);
    }
    ask_for_infos(s, infos[i].components, infos[i].num_components);
  }
}

static bool has_tag(const rheos_meta_graph *meta_graph, const char *tag) {
  for (size_t i = 0; i < meta_graph->num_tags; i++) {
    if (strcmp(meta_graph->tags[i], tag) == 0) return true;
  }
  return false;
}

// What a meta graph with signatures is for: these, and how its variables come and go.
static void ask_for_signatures(subject *s, const rheos_meta_graph *meta_graph) {
  if (meta_graph->num_signatures == 0) return;
  s->is_serving = has_tag(meta_graph, "serve") && !has_tag(meta_graph, "train");
  for (size_t i = 0; i < meta_graph->num_signatures; i++) {
    const rheos_signature_def *signature = &meta_graph->signatures[i];
    ask_for_infos(s, signature->inputs, signature->num_inputs);
    ask_for_infos(s, signature->outputs, signature->num_outputs);
  }
  if (meta_graph->saver != NULL) {
    ask_for(s, meta_graph->saver->save_tensor_name);
    ask_for(s, meta_graph->saver->restore_op_name);
  }
  for (size_t i = 0; i < meta_graph->num_collections; i++) {
    const rheos_collection_def *collection = &meta_graph->collections[i];
    for (size_t k = 0; collection->nodes != NULL && k < collection->count; k++) {
      ask_for(s, collection->nodes[k]);
    }
  }
}

static rheos_status *import_meta_graph(subject *s, rheos_scope *scope,
                                       const rheos_meta_graph *meta_graph) {
  const rheos_import_options options = {.keep_unknown_ops = true, .any_colocation = true};
  rheos_import_meta_graph(scope, meta_graph, &options);
  TRY(rheos_scope_finish(scope));
  ask_for_signatures(s, meta_graph);
  return NULL;
}

static rheos_status *find_meta_graph(const rheos_saved_model_def *def, const char *tags,
                                     const rheos_meta_graph **out_meta_graph) {
  *out_meta_graph = def->num_meta_graphs > 0 ? def->meta_graphs[0] : NULL;
  if (*out_meta_graph == NULL) return INVALID("the saved model has no meta graph");
  if (tags == NULL) return NULL;
  char *text = command_format("%s", tags), *rest = NULL;
  text_list list = {0};
  for (char *tag = strtok_r(text, ",", &rest); tag != NULL; tag = strtok_r(NULL, ",", &rest)) {
    text_list_add(&list, tag);
  }
  rheos_status *status = rheos_saved_model_find(def, list.items, list.count, out_meta_graph);
  text_list_deinit(&list);
  free(text);
  return status;
}

static rheos_status *read_saved_model(subject *s, rheos_scope *scope, const source *from,
                                      const char *tags) {
  rheos_saved_model_def *def;
  const rheos_meta_graph *meta_graph;
  char *folder = from->folder != NULL ? NULL : path_folder(from->path);
  rheos_status *status = rheos_saved_model_read(from->folder != NULL ? from->folder : folder, &def);
  free(folder);
  if (status != NULL) return status;
  status = find_meta_graph(def, tags, &meta_graph);
  if (status == NULL) status = import_meta_graph(s, scope, meta_graph);
  rheos_saved_model_def_free(def);
  return status;
}

static rheos_status *read_into(subject *s, rheos_scope *scope, source *from, const char *tags) {
  if (from->kind == SOURCE_SAVED_MODEL) return read_saved_model(s, scope, from, tags);
  TRY(source_read_message(from));
  if (from->kind == SOURCE_META_GRAPH) {
    rheos_meta_graph *meta_graph;
    TRY(rheos_meta_graph_parse(from->bytes, from->size_bytes, &meta_graph));
    rheos_status *status = import_meta_graph(s, scope, meta_graph);
    rheos_meta_graph_free(meta_graph);
    return status;
  }
  const rheos_import_options options = {.keep_unknown_ops = true, .any_colocation = true};
  rheos_import_graph_def(scope, from->bytes, from->size_bytes, &options);
  return rheos_scope_finish(scope);
}

static rheos_status *ask_for_outputs(subject *s, const char *outputs) {
  char *text = command_format("%s", outputs), *rest = NULL;
  rheos_status *status = NULL;
  s->num_asked = 0;
  for (char *name = strtok_r(text, ",", &rest); name != NULL && status == NULL;
       name = strtok_r(NULL, ",", &rest)) {
    const size_t before = s->num_asked;
    ask_for(s, name);
    if (s->num_asked == before) status = NOT_FOUND("the graph has no '%s'", name);
  }
  free(text);
  return status;
}

static rheos_status *read_subject(subject *s, source *from, const lint_options *options) {
  rheos_graph *graph = rheos_graph_new();
  rheos_scope *scope = graph != NULL ? rheos_scope_new(graph) : NULL;
  s->graph = graph;
  if (scope == NULL) return NO_MEMORY();
  rheos_status *status = read_into(s, scope, from, options->tags);
  rheos_scope_free(scope);
  if (status == NULL && options->outputs != NULL) status = ask_for_outputs(s, options->outputs);
  return status;
}

// ---- Mending

// Where the result goes, for free(): of a folder the file in it.
static char *mended_path(const source *from, const char *path, const lint_options *options) {
  const char *out = options->out != NULL ? options->out : path;
  if (from->kind != SOURCE_SAVED_MODEL || !is_folder(out)) return command_format("%s", out);
  return command_format("%s/saved_model.pb%s", out, from->is_text ? "txt" : "");
}

static rheos_status *write_mended(const source *from, const char *out, const char *bytes,
                                  size_t size_bytes) {
  if (from->is_text ? !ends_with(out, "txt") : !ends_with(out, ".pbtxt")) {
    return file_replace(out, bytes, size_bytes);
  }
  char *text = NULL;
  TRY(rheos_message_to_text(source_message_type(from->kind), bytes, size_bytes, &text,
                            &size_bytes));
  rheos_status *status = file_replace(out, text, size_bytes);
  rheos_free(text);
  return status;
}

// What serves is what its signatures need.
static bool is_served(const source *from, const char *tags) {
  const Tensorflow__MetaGraphDef *meta_graph;
  rheos_status *status = source_meta_graph(from, tags, &meta_graph);
  bool serves = false, trains = false;
  if (status != NULL || meta_graph == NULL || meta_graph->meta_info_def == NULL) {
    rheos_status_free(status);
    return false;
  }
  for (size_t i = 0; i < meta_graph->meta_info_def->n_tags; i++) {
    serves = serves || strcmp(meta_graph->meta_info_def->tags[i], "serve") == 0;
    trains = trains || strcmp(meta_graph->meta_info_def->tags[i], "train") == 0;
  }
  return serves && !trains && meta_graph->n_signature_def > 0;
}

static rheos_status *mend(source *from, const char *path, const lint_options *options) {
  char *text = command_format("%s", options->outputs != NULL ? options->outputs : ""), *rest = NULL;
  mend_options how = {.tags = options->tags};
  for (char *name = strtok_r(text, ",", &rest); name != NULL; name = strtok_r(NULL, ",", &rest)) {
    text_list_add(&how.outputs, name);
  }
  char *bytes = NULL, *out = mended_path(from, path, options);
  size_t size_bytes;
  int32_t num_removed;
  rheos_status *status = source_read_message(from);
  if (status == NULL) {
    how.is_serving = is_served(from, options->tags);
    status = mend_source(from, &how, &bytes, &size_bytes, &num_removed);
  }
  if (status == NULL) status = write_mended(from, out, bytes, size_bytes);
  if (status == NULL) {
    fprintf(stderr, "rheos: %d nodes went, '%s' is written\n", (int)num_removed, out);
  }
  free(bytes);
  free(out);
  text_list_deinit(&how.outputs);
  free(text);
  return status;
}

// ---- Telling

static void print_plain(const char *text) { text_print(stdout, text, strlen(text)); }

static void print_finding(const char *path, const rheos_finding *finding) {
  if (finding->file != NULL) {
    print_plain(finding->file);
    printf(":%d: ", (int)finding->line);
  } else {
    print_plain(path);
    if (finding->node[0] != '\0') {
      putchar(':');
      print_plain(finding->node);
    }
    if (finding->function[0] != '\0') {
      fputs(" in ", stdout);
      print_plain(finding->function);
    }
    fputs(": ", stdout);
  }
  printf("%s: ", finding->rule->name);
  print_plain(finding->text);
  putchar('\n');
}

static void json_finding(json *j, const char *path, const rheos_finding *finding) {
  json_begin(j, NULL, '{');
  json_text(j, "file", finding->file != NULL ? finding->file : path);
  if (finding->file != NULL) {
    json_int(j, "line", finding->line);
  } else {
    json_null(j, "line");
  }
  json_text(j, "rule", finding->rule->name);
  json_bool(j, "note", finding->rule->is_note);
  json_text(j, "text", finding->text);
  json_text(j, "node", finding->node);
  json_text(j, "function", finding->function);
  json_end(j, '}');
}

static int print_findings(const char *path, const rheos_lint *lint, bool as_json) {
  const rheos_finding *finding;
  json j = {.out = stdout};
  if (as_json) json_begin(&j, NULL, '[');
  for (size_t i = 0; (finding = rheos_lint_finding_at(lint, i)) != NULL; i++) {
    if (as_json) {
      json_finding(&j, path, finding);
    } else {
      print_finding(path, finding);
    }
  }
  if (as_json) json_end(&j, ']');
  return rheos_lint_num_findings(lint) > 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

// ---- The command

static rheos_status *lint_source(source *from, const lint_options *options, rheos_lint **out_lint) {
  subject s = {0};
  rheos_status *status = read_subject(&s, from, options);
  const rheos_lint_options how = {.notes = options->notes,
                                  .is_serving = s.is_serving,
                                  .asked = s.asked,
                                  .num_asked = s.num_asked};
  if (status == NULL) status = rheos_graph_lint(s.graph, &how, out_lint);
  rheos_graph_unref(s.graph);
  free(s.asked);
  return status;
}

static int failed(const char *path, rheos_status *status) {
  command_fail_take(path, status);
  return EXIT_USAGE;
}

static int lint_path(const char *path, const lint_options *options, const option *rows,
                     size_t num_rows) {
  source from;
  rheos_lint *lint = NULL;
  if (!limit_begin("lint", path, options->memory_limit)) return EXIT_USAGE;
  rheos_status *status = source_open(path, &from);
  if (status != NULL) {
    source_close(&from);
    return failed(path, status);
  }
  int result = EXIT_USAGE;
  if ((1u << from.kind & SOURCE_MODELS) == 0) {
    command_usage_error("lint: '%s' holds no graph: %s", path, source_kind_name(from.kind));
  } else if (source_fits_options(&from, "lint", rows, num_rows)) {
    status = options->fix ? mend(&from, path, options) : NULL;
    if (options->fix) {
      source_close(&from);
      from = (source){0};
      if (status == NULL) status = source_open(options->out ? options->out : path, &from);
    }
    if (status == NULL) status = lint_source(&from, options, &lint);
    result = status != NULL ? failed(path, status) : print_findings(path, lint, options->json);
    rheos_lint_free(lint);
  }
  source_close(&from);
  return result;
}

// "10s", "2m", "1h", "10"; false if it is none.
static bool read_time(const char *text, double *out_seconds) {
  char *end;
  *out_seconds = strtod(text, &end);
  if (end == text || !(*out_seconds > 0) || *out_seconds > 1e7) return false;
  if (*end == 'm') *out_seconds *= 60;
  if (*end == 'h') *out_seconds *= 3600;
  return *end == '\0' || (strchr("smh", *end) != NULL && end[1] == '\0');
}

// The program is told how it is looked at by a variable, which the launcher takes out.
static int lint_script(const lint_options *options, int argc, char **argv) {
  double seconds = 0;
  if (options->fix || options->outputs != NULL || options->tags != NULL || options->out != NULL) {
    return command_usage_error("lint: --fix, -o, --outputs and --tags go with a graph");
  }
  if (options->tf1 && options->tf2) return command_usage_error("lint: --tf1 or --tf2, not both");
  if (options->time != NULL && !read_time(options->time, &seconds)) {
    return command_usage_error("lint: '%s' is no time; for example 10s", options->time);
  }
  const char *mode = options->tf1 ? "tf1" : options->tf2 ? "tf2" : "auto";
  if (options->keras != NULL) {
    char *keras = command_format("--keras=%s", options->keras);
    const bool taken = python_take_option(keras, &mode);
    free(keras);
    if (!taken) return command_usage_error("lint: --keras is 2 or 3");
  }
  char *how = command_format("%s %s %g", options->notes ? "notes" : "sure",
                             options->json ? "json" : "text", seconds);
  const bool told = setenv("RHEOS_LINT_SCRIPT", how, 1) == 0;
  free(how);
  if (!told) return command_usage_error("lint: out of memory");
  return python_run("lint", mode, argc, argv);
}

static int check(const lint_options *options, const text_list *paths) {
  if (paths->count == 0) {
    return command_usage_error("lint: a path is missing; see 'rheos help lint'");
  }
  if (paths->count > 1) return command_usage_error("lint: one path at a time");
  if (options->time != NULL || options->tf1 || options->tf2 || options->keras != NULL) {
    return command_usage_error("lint: --for, --tf1, --tf2 and --keras go with a script");
  }
  if (options->out != NULL && !options->fix) return command_usage_error("lint: -o goes with --fix");
  return EXIT_SUCCESS;
}

// Whether a program begins there: a script, -m MODULE, -c TEXT.
static bool is_program(const char *argument) {
  return ends_with(argument, ".py") || strcmp(argument, "-m") == 0 || strcmp(argument, "-c") == 0;
}

int command_lint(int argc, char **argv) {
  lint_options options = {0};
  text_list paths = {0};
  const option rows[] = {
      {"--notes", .flag = &options.notes},
      {"--json", .flag = &options.json},
      {"--rules", .flag = &options.rules},
      {"--for", .text = &options.time},
      {"--tf1", .flag = &options.tf1},
      {"--tf2", .flag = &options.tf2},
      {"--keras", .text = &options.keras},
      {"--outputs", .text = &options.outputs, .kinds = SOURCE_MODELS},
      {"--fix", .flag = &options.fix, .kinds = SOURCE_MODELS},
      {"-o", .text = &options.out, .kinds = SOURCE_MODELS},
      {"--tags", .text = &options.tags, .kinds = SOURCE_TAGGED},
      {"--memory-limit", .text = &options.memory_limit},
  };
  const size_t num_rows = sizeof rows / sizeof rows[0];
  int script = 1;  // where it stands among the arguments; argc: there is none
  while (script < argc && !is_program(argv[script])) script++;
  int result = EXIT_USAGE;
  if (options_parse("lint", rows, num_rows, script, argv, &paths)) {
    if (options.rules && paths.count == 0 && script == argc) {
      result = print_rules(options.json);
    } else if (script < argc && paths.count == 0) {
      result = lint_script(&options, argc - script, argv + script);
    } else {
      result = check(&options, &paths);
      if (result == EXIT_SUCCESS) result = lint_path(paths.items[0], &options, rows, num_rows);
    }
  }
  text_list_deinit(&paths);
  return result;
}
