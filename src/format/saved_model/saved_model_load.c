// SavedModels that run, in the order of TensorFlow's loader: graph, session, variables, init
// operation; then calls of signatures by the names of their arguments.
#include <rheos/saved_model.h>

#include <rheos/session.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/options.h"
#include "codec/buffer.h"
#include "format/saved_model/meta_graph.h"

static const char init_key[] = "__saved_model_init_op";

struct rheos_saved_model {
  rheos_saved_model_def *def;
  const rheos_meta_graph *meta_graph;
  rheos_graph *graph;
  rheos_session *session;
  rheos_saver saver;
};

// ---- Feeding paths

static rheos_status *string_tensor(const char *text, rheos_tensor **out_tensor) {
  RHEOS_TRY(rheos_tensor_new(RHEOS_STRING, RHEOS_SCALAR, out_tensor));
  rheos_status *status = rheos_tensor_set_string(*out_tensor, 0, text, strlen(text));
  if (status == NULL) return NULL;
  rheos_tensor_unref(*out_tensor);
  *out_tensor = NULL;
  return status;
}

// `folder`/`below`/`name`.
static char *path_below(const rheos_saved_model *model, const char *below, const char *name) {
  return rheos__text_format("%s/%s/%s", model->def->folder, below, name);
}

// A file of the model's folder "assets".
static rheos_status *asset_feed(const rheos_saved_model *model, const rheos_asset_def *asset,
                                rheos_feed *out_feed) {
  RHEOS_TRY(rheos_graph_output(model->graph, asset->tensor.name, &out_feed->output));
  char *path = path_below(model, "assets", asset->file_name);
  if (path == NULL) return rheos__out_of_memory();
  rheos_status *status = string_tensor(path, &out_feed->value);
  rheos__free(path);
  return status;
}

// ---- Restoring and initializing

static rheos_status *restore(const rheos_saved_model *model) {
  if (model->saver.filename.graph == NULL) return NULL;
  char *folder = rheos__path_join(model->def->folder, "variables");
  char *prefix = path_below(model, "variables", "variables");
  bool exists = false;
  rheos_status *status = folder != NULL && prefix != NULL ? rheos__file_exists(folder, &exists)
                                                          : rheos__out_of_memory();
  if (status == NULL && !exists) {
    status = RHEOS_NOTFOUND("the SavedModel has a saver, but no folder of variables: '%s'", folder);
  }
  if (status == NULL) status = rheos_saver_restore(model->saver, model->session, prefix);
  rheos__free(folder);
  rheos__free(prefix);
  return status;
}

// The name of the operation that the signature for it names, or one of the collections; NULL if
// there is nothing to initialize.
static rheos_status *init_name(const rheos_meta_graph *meta_graph, const char **out_name) {
  *out_name = NULL;
  const rheos_signature_def *signature = rheos_meta_graph_signature(meta_graph, init_key);
  for (size_t i = 0; signature != NULL && i < signature->num_outputs; i++) {
    if (strcmp(signature->outputs[i].key, init_key) == 0) *out_name = signature->outputs[i].name;
  }
  if (*out_name != NULL) return NULL;
  static const char *const keys[] = {"saved_model_main_op", "legacy_init_op"};
  for (int i = 0; i < 2; i++) {
    const rheos_collection_def *c = rheos_meta_graph_collection(meta_graph, keys[i]);
    if (c == NULL || c->kind != RHEOS_COLLECTION_NODES || c->count == 0) continue;
    if (c->count > 1) {
      return RHEOS_INVALID(
          "Expected exactly one SavedModel init op, found %zu in the collection "
          "'%s'",
          c->count, keys[i]);
    }
    *out_name = c->nodes[0];
    return NULL;
  }
  return NULL;
}

// The init operation is named as it is, or by an output.
static rheos_status *find_init(const rheos_saved_model *model, rheos_operation *out_operation) {
  *out_operation = (rheos_operation){NULL, 0};
  const char *name;
  RHEOS_TRY(init_name(model->meta_graph, &name));
  if (name == NULL || name[0] == '\0') return NULL;
  *out_operation = rheos_graph_operation(model->graph, name);
  if (out_operation->graph != NULL) return NULL;
  rheos_output output;
  RHEOS_TRY(rheos_graph_output(model->graph, name, &output));
  *out_operation = rheos_output_operation(output);
  return NULL;
}

static int compare_feeds(const void *a, const void *b) {
  const rheos_output *one = &((const rheos_feed *)a)->output;
  const rheos_output *other = &((const rheos_feed *)b)->output;
  if (one->id != other->id) return one->id < other->id ? -1 : 1;
  return (one->index > other->index) - (one->index < other->index);
}

// TensorFlow 1 lists an asset once for each collection that it is in.
static size_t drop_repeated(rheos_feed *feeds, size_t count) {
  if (count > 1) qsort(feeds, count, sizeof *feeds, compare_feeds);
  size_t kept = 0;
  for (size_t i = 0; i < count; i++) {
    if (kept > 0 && compare_feeds(&feeds[kept - 1], &feeds[i]) == 0) {
      rheos_tensor_unref(feeds[i].value);
    } else {
      feeds[kept++] = feeds[i];
    }
  }
  return kept;
}

static rheos_status *initialize(const rheos_saved_model *model) {
  rheos_operation init;
  RHEOS_TRY(find_init(model, &init));
  if (init.graph == NULL) return NULL;
  size_t count = model->meta_graph->num_assets;
  rheos_feed *feeds = rheos__alloc_array(count, sizeof *feeds);
  if (feeds == NULL) return rheos__out_of_memory();
  rheos_status *status = NULL;
  for (size_t i = 0; i < count && status == NULL; i++) {
    status = asset_feed(model, &model->meta_graph->assets[i], &feeds[i]);
  }
  if (status == NULL) {
    count = drop_repeated(feeds, count);
    status = rheos_session_run(model->session, feeds, count, NULL, 0, &init, 1, NULL);
  }
  for (size_t i = 0; i < count; i++) rheos_tensor_unref(feeds[i].value);
  rheos__free(feeds);
  return status;
}

// ---- Loading

static rheos_status *import_graph(rheos_saved_model *model) {
  model->graph = rheos_graph_new();
  rheos_scope *scope = model->graph != NULL ? rheos_scope_new(model->graph) : NULL;
  if (scope == NULL) return rheos__out_of_memory();
  const rheos_import_options options = {.keep_unknown_ops = true, .any_colocation = true};
  model->saver = rheos_import_meta_graph(scope, model->meta_graph, &options);
  rheos_status *status = rheos_scope_finish(scope);
  rheos_scope_free(scope);
  return status;
}

static rheos_status *load(rheos_saved_model *model, const char *folder, const char *const *tags,
                          size_t num_tags, const rheos_saved_model_options *options,
                          size_t session_options_bytes) {
  RHEOS_TRY(rheos_saved_model_read(folder, &model->def));
  RHEOS_TRY(rheos_saved_model_find(model->def, tags, num_tags, &model->meta_graph));
  RHEOS_TRY(import_graph(model));
  RHEOS_TRY(rheos_session_new_sized(model->graph, options->session, session_options_bytes,
                                    &model->session));
  if (options->graph_only) return NULL;
  RHEOS_TRY(restore(model));
  return initialize(model);
}

rheos_status *rheos_saved_model_load_sized(const char *folder, const char *const *tags,
                                           size_t num_tags,
                                           const rheos_saved_model_options *options,
                                           size_t options_bytes, size_t session_options_bytes,
                                           rheos_saved_model **out_model) {
  RHEOS_OUT(out_model);
  RHEOS_NEED(folder);
  RHEOS_NEED_TEXTS(tags, num_tags);
  rheos_saved_model_options known;
  RHEOS_TRY(RHEOS_READ_OPTIONS(rheos_saved_model_options, options, options_bytes, &known));
  rheos_saved_model *model = rheos__alloc_zeroed(sizeof *model);
  if (model == NULL) return rheos__out_of_memory();
  rheos_status *status = load(model, folder, tags, num_tags, &known, session_options_bytes);
  if (status != NULL) {
    rheos_saved_model_free(model);
    return status;
  }
  *out_model = model;
  return NULL;
}

void rheos_saved_model_free(rheos_saved_model *model) {
  if (model == NULL) return;
  rheos_session_free(model->session);
  rheos_graph_unref(model->graph);
  rheos_saved_model_def_free(model->def);
  rheos__free(model);
}

const rheos_meta_graph *rheos_saved_model_meta_graph(const rheos_saved_model *model) {
  return model != NULL ? model->meta_graph : NULL;
}

rheos_graph *rheos_saved_model_graph(const rheos_saved_model *model) {
  return model != NULL ? model->graph : NULL;
}

rheos_session *rheos_saved_model_session(const rheos_saved_model *model) {
  return model != NULL ? model->session : NULL;
}

// ---- Arguments of signatures

// "no X 'name'; there are 'a', 'b'". The list is taken.
static rheos_status *not_there(const char *what, const char *name, rheos__buffer *list) {
  rheos__buffer_put(list, "", 1);
  rheos_status *status = list->failed ? rheos__out_of_memory()
                                      : RHEOS_NOTFOUND("%s '%s'; there are %s", what, name,
                                                       list->size_bytes > 1 ? list->data : "none");
  rheos__buffer_deinit(list);
  return status;
}

static void put_quoted(rheos__buffer *list, const char *name, const char *part) {
  rheos__buffer_put_text(list, list->size_bytes > 0 ? ", '" : "'");
  rheos__buffer_put_text(list, name);
  rheos__buffer_put_text(list, part);
  rheos__buffer_put_text(list, "'");
}

static rheos_status *find_signature(const rheos_saved_model *model, const char *key,
                                    const rheos_signature_def **out_signature) {
  if (key == NULL) key = "serving_default";
  *out_signature = rheos_meta_graph_signature(model->meta_graph, key);
  if (*out_signature != NULL) return NULL;
  rheos__buffer list = {0};
  for (size_t i = 0; i < model->meta_graph->num_signatures; i++) {
    put_quoted(&list, model->meta_graph->signatures[i].key, "");
  }
  return not_there("the SavedModel has no signature", key, &list);
}

static const struct {
  const char *suffix;
  size_t offset;  // of the name, in the rheos_tensor_info
} sparse_parts[] = {{"/indices", offsetof(rheos_tensor_info, indices_name)},
                    {"/values", offsetof(rheos_tensor_info, values_name)},
                    {"/dense_shape", offsetof(rheos_tensor_info, dense_shape_name)}};

static const char *sparse_name(const rheos_tensor_info *info, int part) {
  return *(const char *const *)((const char *)info + sparse_parts[part].offset);
}

// The name in the graph of the part of `info` that `rest` says, which stands behind the argument's
// key; NULL if there is no such part. `rest` moves down the components one by one.
static const char *tensor_of(const rheos_tensor_info *info, const char *rest) {
  while (rest[0] != '\0' && info->num_components > 0) {
    char *end;
    if (rest[0] != '/' || rest[1] < '0' || rest[1] > '9') return NULL;
    const unsigned long index = strtoul(rest + 1, &end, 10);
    if (index >= info->num_components) return NULL;
    info = &info->components[index];
    rest = end;
  }
  if (rest[0] == '\0') return info->name[0] != '\0' ? info->name : NULL;
  for (int i = 0; i < 3 && info->is_sparse; i++) {
    if (strcmp(rest, sparse_parts[i].suffix) == 0) return sparse_name(info, i);
  }
  return NULL;
}

static void put_argument(rheos__buffer *list, const rheos_tensor_info *info) {
  if (!info->is_sparse) {
    put_quoted(list, info->key, info->num_components > 0 ? "/0" : "");
    return;
  }
  for (int i = 0; i < 3; i++) put_quoted(list, info->key, sparse_parts[i].suffix);
}

static rheos_status *find_argument(const rheos_saved_model *model, const char *what,
                                   const rheos_tensor_info *infos, size_t count, const char *name,
                                   rheos_output *out_output) {
  for (size_t i = 0; i < count; i++) {
    const size_t length = strlen(infos[i].key);
    if (strncmp(name, infos[i].key, length) != 0) continue;
    const char *tensor = tensor_of(&infos[i], name + length);
    if (tensor != NULL) return rheos_graph_output(model->graph, tensor, out_output);
  }
  rheos__buffer list = {0};
  for (size_t i = 0; i < count; i++) put_argument(&list, &infos[i]);
  return not_there(what, name, &list);
}

rheos_status *rheos_saved_model_input(const rheos_saved_model *model, const char *signature,
                                      const char *name, rheos_output *out_output) {
  RHEOS_OUT(out_output);
  RHEOS_NEED(model, name);
  const rheos_signature_def *def;
  RHEOS_TRY(find_signature(model, signature, &def));
  return find_argument(model, "the signature has no input", def->inputs, def->num_inputs, name,
                       out_output);
}

rheos_status *rheos_saved_model_output(const rheos_saved_model *model, const char *signature,
                                       const char *name, rheos_output *out_output) {
  RHEOS_OUT(out_output);
  RHEOS_NEED(model, name);
  const rheos_signature_def *def;
  RHEOS_TRY(find_signature(model, signature, &def));
  return find_argument(model, "the signature has no output", def->outputs, def->num_outputs, name,
                       out_output);
}

// ---- Calls

static rheos_status *make_callable(const rheos_saved_model *model, const char *signature,
                                   const char *const *inputs, size_t num_inputs,
                                   const char *const *outputs, size_t num_outputs,
                                   rheos_output *found, rheos_callable **out_callable) {
  for (size_t i = 0; i < num_inputs; i++) {
    RHEOS_TRY(rheos_saved_model_input(model, signature, inputs[i], &found[i]));
  }
  for (size_t i = 0; i < num_outputs; i++) {
    RHEOS_TRY(rheos_saved_model_output(model, signature, outputs[i], &found[num_inputs + i]));
  }
  return rheos_callable_new(model->session, found, num_inputs, found + num_inputs, num_outputs,
                            NULL, 0, out_callable);
}

rheos_status *rheos_saved_model_callable(const rheos_saved_model *model, const char *signature,
                                         const char *const *inputs, size_t num_inputs,
                                         const char *const *outputs, size_t num_outputs,
                                         rheos_callable **out_callable) {
  RHEOS_OUT(out_callable);
  RHEOS_NEED(model);
  RHEOS_NEED_TEXTS(inputs, num_inputs);
  RHEOS_NEED_TEXTS(outputs, num_outputs);
  size_t count;
  rheos_output *found = rheos__add_size(num_inputs, num_outputs, &count)
                            ? rheos__alloc_array(count, sizeof *found)
                            : NULL;
  if (found == NULL) return rheos__out_of_memory();
  rheos_status *status = make_callable(model, signature, inputs, num_inputs, outputs, num_outputs,
                                       found, out_callable);
  rheos__free(found);
  return status;
}

static bool is_given(const char *name, const rheos_named_tensor *inputs, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (strcmp(inputs[i].name, name) == 0) return true;
  }
  return false;
}

// Behind the first `*count` feeds those of inputs that are not given but have a default; `*count`
// grows as values are to be given back.
static rheos_status *feed_defaults(const rheos_saved_model *model, const char *key,
                                   const rheos_signature_def *signature,
                                   const rheos_named_tensor *inputs, size_t num_inputs,
                                   rheos_feed *feeds, size_t *count) {
  for (size_t i = 0; i < signature->num_defaults; i++) {
    const rheos_default_value *value = &signature->defaults[i];
    if (is_given(value->key, inputs, num_inputs)) continue;
    rheos_feed *feed = &feeds[*count];
    RHEOS_TRY(rheos_saved_model_input(model, key, value->key, &feed->output));
    RHEOS_TRY(rheos_default_value_tensor(value, &feed->value));
    (*count)++;
  }
  return NULL;
}

static rheos_status *call(const rheos_saved_model *model, const char *key,
                          const rheos_signature_def *signature, const rheos_named_tensor *inputs,
                          size_t num_inputs, rheos_feed *feeds, size_t *num_feeds,
                          rheos_named_tensor *outputs, rheos_fetch *fetches, size_t num_outputs,
                          const rheos_run_options *options, size_t options_bytes) {
  for (size_t i = 0; i < num_inputs; i++) {
    RHEOS_TRY(rheos_saved_model_input(model, key, inputs[i].name, &feeds[i].output));
    feeds[i].value = inputs[i].value;
  }
  RHEOS_TRY(feed_defaults(model, key, signature, inputs, num_inputs, feeds, num_feeds));
  for (size_t i = 0; i < num_outputs; i++) {
    RHEOS_TRY(rheos_saved_model_output(model, key, outputs[i].name, &fetches[i].output));
  }
  RHEOS_TRY(rheos_session_run_sized(model->session, feeds, *num_feeds, fetches, num_outputs, NULL,
                                    0, options, options_bytes));
  for (size_t i = 0; i < num_outputs; i++) outputs[i].value = fetches[i].value;
  return NULL;
}

rheos_status *rheos_saved_model_call_sized(const rheos_saved_model *model, const char *signature,
                                           const rheos_named_tensor *inputs, size_t num_inputs,
                                           rheos_named_tensor *outputs, size_t num_outputs,
                                           const rheos_run_options *options, size_t options_bytes) {
  RHEOS_NEED(model);
  RHEOS_NEED_LIST(inputs, num_inputs);
  RHEOS_NEED_LIST(outputs, num_outputs);
  for (size_t i = 0; i < num_outputs; i++) outputs[i].value = NULL;
  const rheos_signature_def *def;
  RHEOS_TRY(find_signature(model, signature, &def));
  size_t num_feeds = num_inputs, most;
  rheos_feed *feeds = rheos__add_size(num_inputs, def->num_defaults, &most)
                          ? rheos__alloc_array(most, sizeof *feeds)
                          : NULL;
  rheos_fetch *fetches = rheos__alloc_array(num_outputs, sizeof *fetches);
  rheos_status *status = feeds != NULL && fetches != NULL
                             ? call(model, signature, def, inputs, num_inputs, feeds, &num_feeds,
                                    outputs, fetches, num_outputs, options, options_bytes)
                             : rheos__out_of_memory();
  for (size_t i = num_inputs; i < num_feeds; i++) rheos_tensor_unref(feeds[i].value);
  rheos__free(feeds);
  rheos__free(fetches);
  return status;
}
