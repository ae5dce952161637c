// Graphs, meta graphs and saved models: a summary as text or as JSON.
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "files.h"
#include "nesting.h"
#include "progress.h"
#include "show.h"
#include "status.h"

enum { MOST_LINES = 20, MOST_BODIES = 40, MOST_NODES = 3 };

typedef struct model {
  const source *source;
  const Tensorflow__MetaGraphDef *meta_graph;  // NULL: a plain graph
  view view;
} model;

// ---- Inputs and outputs

typedef bool (*choose)(const view *v, int32_t node);

// Whether a folder of the name, "save" in "save/Const", is the word, with or without a number.
static bool is_in(const char *name, const char *word) {
  const size_t bytes = strlen(word);
  for (const char *end; (end = strchr(name, '/')) != NULL; name = end + 1) {
    const char *at = name + bytes;
    if ((size_t)(end - name) < bytes || strncmp(name, word, bytes) != 0) continue;
    if (*at == '_') at++;
    while (*at >= '0' && *at <= '9') at++;
    if (at == end) return true;
  }
  return false;
}

static bool is_told_input(const view *v, int32_t node) {
  return view_is_input(v, node) && !is_in(v->def->node[node]->name, "save");
}

// Of what nobody waits for, most is left over from building: shapes and constants of checks, reads
// of slots, gradients that nothing needs, the saver's. What is left is what the graph is for.
static bool is_told_output(const view *v, int32_t node) {
  static const char *const scopes[] = {"save", "gradients", "assert_broadcastable"};
  static const char *const ops[] = {"Const", "Shape",          "Rank",
                                    "Size",  "ReadVariableOp", "VarIsInitializedOp"};
  if (!view_is_output(v, node)) return false;
  const char *name = v->def->node[node]->name, *op = v->def->node[node]->op;
  for (size_t i = 0; i < sizeof scopes / sizeof scopes[0]; i++) {
    if (is_in(name, scopes[i])) return false;
  }
  for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++) {
    if (strcmp(op, ops[i]) == 0) return false;
  }
  const char *last = strrchr(name, '/');
  return last == NULL || strcmp(last, "/read") != 0 || strcmp(op, "Identity") != 0;
}

static int count_ends(const view *v, choose is_chosen) {
  int count = 0;
  for (int32_t i = 0; i < v->num_nodes; i++) count += is_chosen(v, i);
  return count;
}

// Prints those that a person looks for, or all where these are none.
static void print_ends(const view *v, const char *title, choose is_told, choose is_one) {
  const int all = count_ends(v, is_one), told = count_ends(v, is_told);
  const choose is_chosen = told > 0 ? is_told : is_one;
  int width = 0, count = 0;
  for (int32_t i = 0; i < v->num_nodes; i++) {
    const int own = is_chosen(v, i) ? show_width(v->def->node[i]->name) : 0;
    if (own > width && own <= 40) width = own;
    count += is_chosen(v, i);
  }
  if (count == 0) return;
  printf("%s\n", title);
  int shown = 0;
  for (int32_t i = 0; i < v->num_nodes && shown < MOST_LINES; i++) {
    if (!is_chosen(v, i)) continue;
    rheos_dtype dtype;
    rheos_shape shape;
    view_output(v, i, 0, &dtype, &shape);
    fputs("  ", stdout);
    show_padded(v->def->node[i]->name, width);
    fputs("  ", stdout);
    show_name(v->def->node[i]->op);
    if (view_num_outputs(v, i) > 0 || v->graph == NULL) {
      fputs("  ", stdout);
      show_type(dtype, &shape);
    }
    putchar('\n');
    shown++;
  }
  if (count > shown) printf("  ... and %d more\n", count - shown);
  if (all > count) printf("  ... and %d of training and saving; --json lists them\n", all - count);
}

static void json_ends(json *j, const view *v, const char *key, choose is_chosen) {
  json_begin(j, key, '[');
  for (int32_t i = 0; i < v->num_nodes; i++) {
    if (!is_chosen(v, i)) continue;
    rheos_dtype dtype;
    rheos_shape shape;
    view_output(v, i, 0, &dtype, &shape);
    json_begin(j, NULL, '{');
    json_text(j, "name", v->def->node[i]->name);
    json_text(j, "op", v->def->node[i]->op);
    // What only runs, such as a NoOp, has no dtype and no shape.
    if (dtype != RHEOS_INVALID_DTYPE) show_json_type(j, dtype, &shape);
    json_end(j, '}');
  }
  json_end(j, ']');
}

// ---- Ops, and what cannot run

static void print_ops(const view *v, size_t most) {
  for (size_t i = 0; i < v->num_ops && i < most; i++) {
    printf("  %8lld  ", (long long)v->ops[i].count);
    show_name(v->ops[i].name);
    if (v->ops[i].reason != VIEW_RUNS) printf("  (%s)", view_reason_text(v->ops[i].reason));
    putchar('\n');
  }
  if (v->num_ops > most) printf("  ... and %zu more; --ops lists them\n", v->num_ops - most);
}

static void json_ops(json *j, const view *v) {
  json_begin(j, "ops", '{');
  for (size_t i = 0; i < v->num_ops; i++) json_int(j, v->ops[i].name, v->ops[i].count);
  json_end(j, '}');
}

// The obstacles from `first` on that are of one op; returns where they end.
static size_t same_op(const view *v, size_t first) {
  const view_obstacle *o = v->obstacles;
  size_t end = first + 1;
  while (end < v->num_obstacles && strcmp(o[end].op, o[first].op) == 0 &&
         o[end].function == o[first].function) {
    end++;
  }
  return end;
}

static void print_obstacles(const view *v) {
  if (v->problem != NULL) {
    fputs("cannot be imported: ", stdout);
    show_name(v->problem);
    putchar('\n');
  }
  if (v->num_obstacles > 0) puts("cannot run");
  for (size_t i = 0; i < v->num_obstacles;) {
    const size_t end = same_op(v, i);
    printf("  %8zu  ", end - i);
    show_name(v->obstacles[i].op);
    printf("  (%s", view_reason_text(v->obstacles[i].reason));
    if (v->obstacles[i].function != NULL) {
      fputs(", in function ", stdout);
      show_name(v->obstacles[i].function);
    }
    fputs("): ", stdout);
    for (size_t k = i; k < end && k < i + MOST_NODES; k++) {
      if (k > i) fputs(", ", stdout);
      show_name(v->obstacles[k].node);
    }
    puts(end - i > MOST_NODES ? ", ..." : "");
    i = end;
  }
}

static void json_obstacles(json *j, const view *v) {
  json_begin(j, "cannot_run", '[');
  for (size_t i = 0; i < v->num_obstacles;) {
    const size_t end = same_op(v, i);
    json_begin(j, NULL, '{');
    json_text(j, "op", v->obstacles[i].op);
    json_int(j, "count", (int64_t)(end - i));
    json_text(j, "reason", view_reason_text(v->obstacles[i].reason));
    if (v->obstacles[i].function != NULL) json_text(j, "function", v->obstacles[i].function);
    json_begin(j, "nodes", '[');
    for (; i < end; i++) json_text(j, NULL, v->obstacles[i].node);
    json_end(j, ']');
    json_end(j, '}');
  }
  json_end(j, ']');
  if (v->problem != NULL) json_text(j, "problem", v->problem);
}

// ---- Functions

static void print_functions(const Tensorflow__FunctionDefLibrary *library) {
  if (library == NULL || library->n_function == 0) return;
  puts("functions");
  for (size_t i = 0; i < library->n_function && i < MOST_LINES; i++) {
    const Tensorflow__FunctionDef *function = library->function[i];
    if (function->signature == NULL) continue;
    fputs("  ", stdout);
    show_name(function->signature->name);
    printf("  %zu inputs, %zu outputs, %zu nodes\n", function->signature->n_input_arg,
           function->signature->n_output_arg, function->n_node_def);
  }
  if (library->n_function > MOST_LINES) {
    printf("  ... and %zu more\n", library->n_function - MOST_LINES);
  }
}

static void json_functions(json *j, const Tensorflow__FunctionDefLibrary *library) {
  json_begin(j, "functions", '[');
  for (size_t i = 0; library != NULL && i < library->n_function; i++) {
    const Tensorflow__FunctionDef *function = library->function[i];
    if (function->signature == NULL) continue;
    json_begin(j, NULL, '{');
    json_text(j, "name", function->signature->name);
    json_int(j, "inputs", (int64_t)function->signature->n_input_arg);
    json_int(j, "outputs", (int64_t)function->signature->n_output_arg);
    json_int(j, "nodes", (int64_t)function->n_node_def);
    json_end(j, '}');
  }
  json_end(j, ']');
}

// ---- What a meta graph says

static const char *tensor_name_of(const Tensorflow__TensorInfo *info) {
  switch (info->encoding_case) {
    case TENSORFLOW__TENSOR_INFO__ENCODING_NAME: return info->name;
    case TENSORFLOW__TENSOR_INFO__ENCODING_COO_SPARSE: return info->coo_sparse->values_tensor_name;
    default: return "";
  }
}

static bool is_sparse(const Tensorflow__TensorInfo *info) {
  return info->encoding_case == TENSORFLOW__TENSOR_INFO__ENCODING_COO_SPARSE;
}

// Whether calls may leave the input out.
static bool has_default(const Tensorflow__SignatureDef *signature, const char *key) {
  for (size_t i = 0; i < signature->n_defaults; i++) {
    if (strcmp(signature->defaults[i]->key, key) == 0) return true;
  }
  return false;
}

static void print_tensor_info(const char *sign, const char *key, const Tensorflow__TensorInfo *info,
                              bool is_optional) {
  printf("    %s ", sign);
  show_name(key);
  const rheos_shape shape = message_shape(info->tensor_shape);
  printf("  %s ", view_dtype_name(info->dtype));
  show_type(RHEOS_INVALID_DTYPE, info->tensor_shape != NULL ? &shape : &RHEOS_UNKNOWN_SHAPE);
  fputs(is_sparse(info) ? "  sparse, values " : "  ", stdout);
  show_name(tensor_name_of(info));
  puts(is_optional ? "  has a default" : "");
}

static void json_tensor_info(json *j, const char *key, const Tensorflow__TensorInfo *info,
                             bool is_optional) {
  const rheos_shape shape =
      info->tensor_shape != NULL ? message_shape(info->tensor_shape) : RHEOS_UNKNOWN_SHAPE;
  json_begin(j, key, '{');
  json_text(j, "name", tensor_name_of(info));
  if (is_sparse(info)) {
    json_text(j, "indices", info->coo_sparse->indices_tensor_name);
    json_text(j, "dense_shape", info->coo_sparse->dense_shape_tensor_name);
  }
  json_text(j, "dtype", view_dtype_name(info->dtype));
  show_json_type(j, RHEOS_INVALID_DTYPE, &shape);
  if (is_optional) json_bool(j, "has_default", true);
  json_end(j, '}');
}

static void print_signatures(const Tensorflow__MetaGraphDef *meta_graph) {
  if (meta_graph->n_signature_def > 0) puts("signatures");
  for (size_t i = 0; i < meta_graph->n_signature_def; i++) {
    const Tensorflow__SignatureDef *signature = meta_graph->signature_def[i]->value;
    if (signature == NULL) continue;
    fputs("  ", stdout);
    show_name(meta_graph->signature_def[i]->key);
    fputs("  ", stdout);
    show_name(signature->method_name);
    putchar('\n');
    for (size_t k = 0; k < signature->n_inputs; k++) {
      if (signature->inputs[k]->value == NULL) continue;
      print_tensor_info("<-", signature->inputs[k]->key, signature->inputs[k]->value,
                        has_default(signature, signature->inputs[k]->key));
    }
    for (size_t k = 0; k < signature->n_outputs; k++) {
      if (signature->outputs[k]->value == NULL) continue;
      print_tensor_info("->", signature->outputs[k]->key, signature->outputs[k]->value, false);
    }
  }
}

static void json_signatures(json *j, const Tensorflow__MetaGraphDef *meta_graph) {
  json_begin(j, "signatures", '{');
  for (size_t i = 0; i < meta_graph->n_signature_def; i++) {
    const Tensorflow__SignatureDef *signature = meta_graph->signature_def[i]->value;
    if (signature == NULL) continue;
    json_begin(j, meta_graph->signature_def[i]->key, '{');
    json_text(j, "method", signature->method_name);
    json_begin(j, "inputs", '{');
    for (size_t k = 0; k < signature->n_inputs; k++) {
      if (signature->inputs[k]->value == NULL) continue;
      json_tensor_info(j, signature->inputs[k]->key, signature->inputs[k]->value,
                       has_default(signature, signature->inputs[k]->key));
    }
    json_end(j, '}');
    json_begin(j, "outputs", '{');
    for (size_t k = 0; k < signature->n_outputs; k++) {
      if (signature->outputs[k]->value == NULL) continue;
      json_tensor_info(j, signature->outputs[k]->key, signature->outputs[k]->value, false);
    }
    json_end(j, '}');
    json_end(j, '}');
  }
  json_end(j, '}');
}

static int64_t collection_size(const Tensorflow__CollectionDef *collection) {
  switch (collection != NULL ? collection->kind_case : 0) {
    case TENSORFLOW__COLLECTION_DEF__KIND_NODE_LIST: return (int64_t)collection->node_list->n_value;
    case TENSORFLOW__COLLECTION_DEF__KIND_BYTES_LIST:
      return (int64_t)collection->bytes_list->n_value;
    case TENSORFLOW__COLLECTION_DEF__KIND_INT64_LIST:
      return (int64_t)collection->int64_list->n_value;
    case TENSORFLOW__COLLECTION_DEF__KIND_FLOAT_LIST:
      return (int64_t)collection->float_list->n_value;
    case TENSORFLOW__COLLECTION_DEF__KIND_ANY_LIST: return (int64_t)collection->any_list->n_value;
    default: return 0;
  }
}

static void print_tags(const Tensorflow__MetaGraphDef *meta_graph) {
  const Tensorflow__MetaGraphDef__MetaInfoDef *info = meta_graph->meta_info_def;
  for (size_t i = 0; info != NULL && i < info->n_tags; i++) {
    if (i > 0) putchar(',');
    show_name(info->tags[i]);
  }
}

static void print_meta_graph(const model *m) {
  const Tensorflow__MetaGraphDef *meta_graph = m->meta_graph;
  const Tensorflow__SavedModel *all = m->source->saved_model;
  if (all != NULL) {
    fputs("  tags: ", stdout);
    print_tags(meta_graph);
    if (all->n_meta_graphs > 1) {
      printf("; of %zu graphs with the tags", all->n_meta_graphs);
      for (size_t i = 0; i < all->n_meta_graphs; i++) {
        putchar(' ');
        print_tags(all->meta_graphs[i]);
      }
    }
    putchar('\n');
  }
  if (meta_graph->meta_info_def != NULL &&
      meta_graph->meta_info_def->tensorflow_version[0] != '\0') {
    fputs("  version of TensorFlow: ", stdout);
    show_name(meta_graph->meta_info_def->tensorflow_version);
    putchar('\n');
  }
  for (size_t i = 0; i < meta_graph->n_asset_file_def; i++) {
    fputs("  asset: ", stdout);
    show_name(meta_graph->asset_file_def[i]->filename);
    putchar('\n');
  }
  print_signatures(meta_graph);
  if (meta_graph->n_collection_def > 0) puts("collections");
  for (size_t i = 0; i < meta_graph->n_collection_def; i++) {
    printf("  %8lld  ", (long long)collection_size(meta_graph->collection_def[i]->value));
    show_name(meta_graph->collection_def[i]->key);
    putchar('\n');
  }
}

static void json_tags(json *j, const char *key, const Tensorflow__MetaGraphDef *meta_graph) {
  const Tensorflow__MetaGraphDef__MetaInfoDef *info = meta_graph->meta_info_def;
  json_begin(j, key, '[');
  for (size_t i = 0; info != NULL && i < info->n_tags; i++) json_text(j, NULL, info->tags[i]);
  json_end(j, ']');
}

static void json_meta_graph(json *j, const model *m) {
  const Tensorflow__MetaGraphDef *meta_graph = m->meta_graph;
  const Tensorflow__SavedModel *all = m->source->saved_model;
  json_tags(j, "tags", meta_graph);
  if (all != NULL) {
    json_begin(j, "meta_graphs", '[');
    for (size_t i = 0; i < all->n_meta_graphs; i++) json_tags(j, NULL, all->meta_graphs[i]);
    json_end(j, ']');
  }
  if (meta_graph->meta_info_def != NULL) {
    json_text(j, "tensorflow_version", meta_graph->meta_info_def->tensorflow_version);
  }
  json_signatures(j, meta_graph);
  json_begin(j, "collections", '{');
  for (size_t i = 0; i < meta_graph->n_collection_def; i++) {
    json_int(j, meta_graph->collection_def[i]->key,
             collection_size(meta_graph->collection_def[i]->value));
  }
  json_end(j, '}');
  json_begin(j, "assets", '[');
  for (size_t i = 0; i < meta_graph->n_asset_file_def; i++) {
    json_text(j, NULL, meta_graph->asset_file_def[i]->filename);
  }
  json_end(j, ']');
}

// ---- The variables that lie beside a saved model

static rheos_status *open_variables(const model *m, rheos_checkpoint_reader **out_reader) {
  *out_reader = NULL;
  if (m->source->folder == NULL) return NULL;
  char *prefix = command_format("%s/variables/variables", m->source->folder);
  char *index = command_format("%s.index", prefix);
  rheos_status *status = is_file(index) ? rheos_checkpoint_reader_open(prefix, out_reader) : NULL;
  free(prefix);
  free(index);
  return status;
}

static int64_t count_elements(const rheos_checkpoint_reader *reader) {
  int64_t sum = 0;
  for (size_t i = 0; i < rheos_checkpoint_reader_count(reader); i++) {
    const rheos_shape shape = rheos_checkpoint_reader_shape(reader, i);
    const int64_t count = rheos_shape_num_elements(&shape);
    if (rheos_checkpoint_reader_dtype(reader, i) != RHEOS_STRING && count > 0 &&
        __builtin_add_overflow(sum, count, &sum)) {
      return INT64_MAX;
    }
  }
  return sum;
}

// ---- The whole

static int32_t producer_of(const Tensorflow__GraphDef *def) {
  return def->versions != NULL ? def->versions->producer : def->version;
}

static void print_parameters(const view *v) {
  const bool has_variables = v->num_variables > 0;
  fputs("  parameters: ", stdout);
  show_grouped(has_variables ? v->variable_elements : v->constant_elements);
  fputs(" in ", stdout);
  show_grouped(has_variables ? v->num_variables : v->num_constants);
  puts(has_variables ? " variables" : " constants");
}

static void print_model(const model *m, const rheos_checkpoint_reader *variables) {
  static const char *const kinds[] = {"graph", "meta graph", "saved model"};
  const view *v = &m->view;
  printf("%s ", kinds[m->source->kind]);
  show_name(m->source->folder != NULL ? m->source->folder : m->source->path);
  puts(m->source->is_text ? " (text)" : "");
  fputs("  nodes: ", stdout);
  show_grouped(v->num_nodes);
  printf(" of %zu ops; graph version %d\n", v->num_ops, producer_of(v->def));
  print_parameters(v);
  if (variables != NULL) {
    fputs("  beside it: ", stdout);
    show_grouped(count_elements(variables));
    printf(" elements in %zu variables\n", rheos_checkpoint_reader_count(variables));
  }
  if (m->meta_graph != NULL) print_meta_graph(m);
  print_ends(v, "inputs", is_told_input, view_is_input);
  print_ends(v, "outputs", is_told_output, view_is_output);
  puts("ops");
  print_ops(v, MOST_LINES);
  print_functions(v->def->library);
  nesting n;
  nesting_init(&n, v);
  show_nesting(&n, MOST_BODIES);
  nesting_deinit(&n);
  print_obstacles(v);
}

static void json_model(json *j, const model *m, const rheos_checkpoint_reader *variables,
                       bool only_ops) {
  const view *v = &m->view;
  show_json_head(j, m->source);
  json_bool(j, "text", m->source->is_text);
  json_int(j, "nodes", v->num_nodes);
  json_ops(j, v);
  if (!only_ops) {
    json_int(j, "version", producer_of(v->def));
    json_ends(j, v, "inputs", view_is_input);
    json_ends(j, v, "outputs", view_is_output);
    json_int(j, "parameters", v->num_variables > 0 ? v->variable_elements : v->constant_elements);
    json_int(j, "variables", v->num_variables);
    json_int(j, "constants", v->num_constants);
    json_functions(j, v->def->library);
    nesting n;
    nesting_init(&n, v);
    show_nesting_json(&n, j);
    nesting_deinit(&n);
    if (m->meta_graph != NULL) json_meta_graph(j, m);
    if (variables != NULL) show_json_tensors(j, variables);
  }
  json_obstacles(j, v);
  json_end(j, '}');
}

static int print_all(const model *m, const show_options *options) {
  rheos_checkpoint_reader *variables = NULL;
  rheos_status *status = open_variables(m, &variables);
  if (status != NULL) return command_fail_take(m->source->path, status);
  json j = {.out = stdout};
  if (options->json) {
    json_model(&j, m, variables, options->ops);
  } else if (options->ops) {
    print_ops(&m->view, SIZE_MAX);
  } else {
    print_model(m, variables);
  }
  rheos_checkpoint_reader_free(variables);
  return EXIT_SUCCESS;
}

static int show_view(const model *m, const show_options *options) {
  json j = {.out = stdout};
  if (options->node != NULL) return show_node(&m->view, options->node, options->json ? &j : NULL);
  if (options->dot) {
    show_dot(&m->view);
    return EXIT_SUCCESS;
  }
  if (options->placement) return show_placement(m->source, &m->view, options);
  return print_all(m, options);
}

int show_model(source *s, const show_options *options) {
  model m = {.source = s};
  progress_begin("reading the graph", 0);
  rheos_status *status = view_open(&m.view, s, options->tags, &m.meta_graph);
  progress_end();
  if (status != NULL) return command_fail_take(s->path, status);
  const int result = show_view(&m, options);
  view_deinit(&m.view);
  return result;
}
