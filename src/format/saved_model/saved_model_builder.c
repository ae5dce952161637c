// SavedModels are written in the order in which a reader could miss something: variables and assets
// as they are added, the file that names them last.
#include <rheos/saved_model.h>

#include "base/file.h"
#include "base/options.h"
#include "format/saved_model/meta_graph.h"

struct rheos_saved_model_builder {
  char *folder;
  rheos__buffer model;  // the SavedModel message so far
  bool has_variables;   // they are written
};

enum { SCHEMA_VERSION = 1, META_GRAPHS = 2 };
enum { COPY_BYTES = 1 << 16 };

// ---- The folder

static rheos_status *check_empty(const char *folder) {
  bool exists;
  RHEOS_TRY(rheos__file_exists(folder, &exists));
  if (!exists) return rheos__file_make_dirs(folder);
  char **names;
  size_t count;
  RHEOS_TRY(rheos__file_list(folder, &names, &count));
  rheos__file_list_free(names, count);
  if (count == 0) return NULL;
  return rheos_status_new(RHEOS_ALREADY_EXISTS,
                          "Export directory already exists, and isn't empty: '%s'", folder);
}

rheos_status *rheos_saved_model_builder_new(const char *folder,
                                            rheos_saved_model_builder **out_builder) {
  RHEOS_OUT(out_builder);
  RHEOS_NEED(folder);
  rheos_saved_model_builder *builder = rheos__alloc_zeroed(sizeof *builder);
  if (builder == NULL) return rheos__out_of_memory();
  builder->folder = rheos__strdup(folder);
  rheos_status *status = builder->folder != NULL ? check_empty(folder) : rheos__out_of_memory();
  if (status != NULL) {
    rheos_saved_model_builder_free(builder);
    return status;
  }
  rheos__wire_put_varint(&builder->model, SCHEMA_VERSION, 1);
  *out_builder = builder;
  return NULL;
}

void rheos_saved_model_builder_free(rheos_saved_model_builder *builder) {
  if (builder == NULL) return;
  rheos__buffer_deinit(&builder->model);
  rheos__free(builder->folder);
  rheos__free(builder);
}

// ---- Assets

static rheos_status *copy_bytes(rheos__file *from, rheos__file_writer *to) {
  char *block = rheos__alloc(COPY_BYTES);
  if (block == NULL) return rheos__out_of_memory();
  rheos_status *status = NULL;
  const uint64_t size = rheos__file_size(from);
  for (uint64_t at = 0; at < size && status == NULL; at += COPY_BYTES) {
    const size_t now = size - at < COPY_BYTES ? (size_t)(size - at) : COPY_BYTES;
    status = rheos__file_read_at(from, at, block, now);
    if (status == NULL) status = rheos__file_writer_write(to, block, now);
  }
  rheos__free(block);
  return status;
}

static rheos_status *copy_file(const char *from_path, const char *to_path) {
  rheos__file *from;
  rheos__file_writer *to;
  RHEOS_TRY(rheos__file_open(from_path, &from));
  rheos_status *status = rheos__file_writer_open(to_path, &to);
  if (status == NULL) {
    status = copy_bytes(from, to);
    if (status == NULL) {
      status = rheos__file_writer_close_take(to);
    } else {
      rheos__file_writer_abandon(to);
    }
  }
  rheos__file_close(from);
  return status;
}

static rheos_status *copy_asset(const rheos_saved_model_builder *builder,
                                const rheos_asset *asset) {
  char *folder = rheos__path_join(builder->folder, "assets");
  char *path = folder != NULL ? rheos__path_join(folder, rheos__path_base(asset->path)) : NULL;
  rheos_status *status = path != NULL ? rheos__file_make_dirs(folder) : rheos__out_of_memory();
  if (status == NULL) status = copy_file(asset->path, path);
  rheos__free(path);
  rheos__free(folder);
  return status;
}

// ---- Variables

static rheos_status *new_saver(rheos_graph *graph, rheos_saver *out_saver) {
  rheos_variable *variables;
  const size_t count =
      rheos_graph_collect_variables(graph, RHEOS_COLLECTION_GLOBAL_VARIABLES, &variables);
  if (variables == NULL) return rheos__out_of_memory();
  rheos__free(variables);
  if (count == 0) return NULL;
  rheos_scope *scope = rheos_scope_new(graph);
  if (scope == NULL) return rheos__out_of_memory();
  *out_saver = rheos_saver_new(scope, NULL, NULL, 0, NULL);
  rheos_status *status = rheos_scope_finish(scope);
  rheos_scope_free(scope);
  return status;
}

static rheos_status *save_variables(rheos_saved_model_builder *builder, rheos_session *session,
                                    const rheos_saver *saver) {
  builder->has_variables = true;
  char *folder = rheos__path_join(builder->folder, "variables");
  char *prefix = folder != NULL ? rheos__path_join(folder, "variables") : NULL;
  rheos_status *status = prefix != NULL ? rheos__file_make_dirs(folder) : rheos__out_of_memory();
  if (status == NULL) status = rheos_saver_save(*saver, session, prefix);
  rheos__free(prefix);
  rheos__free(folder);
  return status;
}

// ---- Graphs

static rheos_status *add(rheos_saved_model_builder *builder, rheos_session *session,
                         rheos_meta_graph_options *options) {
  rheos_graph *graph = rheos_session_graph(session);
  RHEOS_TRY(rheos__check_meta_graph_options(graph, options));
  rheos_saver saver = {.filename = {NULL, 0, 0}};
  if (options->saver != NULL) {
    saver = *options->saver;
  } else {
    RHEOS_TRY(new_saver(graph, &saver));
  }
  options->saver = &saver;
  if (saver.filename.graph != NULL && !builder->has_variables) {
    RHEOS_TRY(save_variables(builder, session, &saver));
  }
  for (size_t i = 0; i < options->num_assets; i++) {
    RHEOS_TRY(copy_asset(builder, &options->assets[i]));
  }
  void *bytes;
  size_t size_bytes;
  RHEOS_TRY(rheos_graph_to_meta_graph_def(graph, options, &bytes, &size_bytes));
  rheos__wire_put_bytes(&builder->model, META_GRAPHS, bytes, size_bytes);
  rheos_free(bytes);
  return builder->model.failed ? rheos__out_of_memory() : NULL;
}

rheos_status *rheos_saved_model_builder_add_sized(rheos_saved_model_builder *builder,
                                                  rheos_session *session,
                                                  const rheos_meta_graph_options *options,
                                                  size_t options_bytes) {
  RHEOS_NEED(builder, session);
  rheos_meta_graph_options with;
  RHEOS_TRY(RHEOS_READ_OPTIONS(rheos_meta_graph_options, options, options_bytes, &with));
  return add(builder, session, &with);
}

rheos_status *rheos_saved_model_builder_save(rheos_saved_model_builder *builder, bool as_text) {
  RHEOS_NEED(builder);
  if (builder->model.failed) return rheos__out_of_memory();
  char *path = rheos__path_join(builder->folder, as_text ? "saved_model.pbtxt" : "saved_model.pb");
  if (path == NULL) return rheos__out_of_memory();
  rheos_status *status = rheos__write_message("SavedModel", path, builder->model.data,
                                              builder->model.size_bytes, as_text);
  rheos__free(path);
  return status;
}

rheos_status *rheos_saved_model_simple_save(rheos_session *session, const char *folder,
                                            const rheos_argument *inputs, size_t num_inputs,
                                            const rheos_argument *outputs, size_t num_outputs) {
  RHEOS_NEED(session, folder);
  RHEOS_NEED_LIST(inputs, num_inputs);
  RHEOS_NEED_LIST(outputs, num_outputs);
  const char *tag = "serve";
  const rheos_signature signature = {
      .inputs = inputs, .num_inputs = num_inputs, .outputs = outputs, .num_outputs = num_outputs};
  const rheos_meta_graph_options options = {.tags = &tag,
                                            .num_tags = 1,
                                            .signatures = &signature,
                                            .num_signatures = 1,
                                            .clear_devices = true};
  rheos_saved_model_builder *builder;
  RHEOS_TRY(rheos_saved_model_builder_new(folder, &builder));
  rheos_status *status = rheos_saved_model_builder_add(builder, session, &options);
  if (status == NULL) status = rheos_saved_model_builder_save(builder, false);
  rheos_saved_model_builder_free(builder);
  return status;
}
