// SavedModel folders: the file with the MetaGraphDefs, and which of them has which tags.
#include <rheos/saved_model.h>

#include "base/file.h"
#include "format/saved_model/meta_graph.h"
#include "meta_graph.pb-c.h"

// Fields of SavedModel.
enum { SCHEMA_VERSION = 1, META_GRAPHS = 2 };

typedef struct held_model {
  rheos_saved_model_def description;  // first: this is what the caller has
  char *folder;
  char *data;  // the file
  rheos_meta_graph **meta_graphs;
  size_t count, capacity;
} held_model;

// ---- Reading

// Reads the file of that name if the folder has it.
static rheos_status *read_file(held_model *held, const char *name, size_t *out_size_bytes,
                               bool *out_exists) {
  *out_exists = false;
  char *path = rheos__path_join(held->folder, name);
  if (path == NULL) return rheos__out_of_memory();
  rheos_status *status = rheos__file_exists(path, out_exists);
  if (status == NULL && *out_exists) {
    status = rheos__read_message(&tensorflow__saved_model__descriptor, path, &held->data,
                                 out_size_bytes);
  }
  rheos__free(path);
  return status;
}

static rheos_status *read_either(held_model *held, size_t *out_size_bytes) {
  bool exists;
  RHEOS_TRY(read_file(held, "saved_model.pb", out_size_bytes, &exists));
  if (exists) return NULL;
  RHEOS_TRY(read_file(held, "saved_model.pbtxt", out_size_bytes, &exists));
  if (exists) return NULL;
  return RHEOS_NOTFOUND("SavedModel file does not exist at: %s/{saved_model.pbtxt|saved_model.pb}",
                        held->folder);
}

static rheos_status *add_meta_graph(held_model *held, rheos__wire bytes) {
  if (!RHEOS_RESERVE(held->meta_graphs, held->capacity, held->count + 1)) {
    return rheos__out_of_memory();
  }
  RHEOS_TRY(rheos__meta_graph_of(bytes, NULL, &held->meta_graphs[held->count]));
  held->count++;
  return NULL;
}

static rheos_status *read_model(held_model *held) {
  size_t size_bytes = 0;
  RHEOS_TRY(read_either(held, &size_bytes));
  rheos__wire bytes = rheos__wire_of(held->data, size_bytes);
  rheos__wire_field field;
  bool sound;
  while (rheos__wire_next(&bytes, &field, &sound)) {
    if (field.number == SCHEMA_VERSION && field.type == RHEOS__WIRE_VARINT) {
      held->description.schema_version = (int64_t)field.value;
    } else if (field.number == META_GRAPHS && field.type == RHEOS__WIRE_BYTES) {
      RHEOS_TRY(add_meta_graph(held, field.data));
    }
  }
  if (!sound) {
    return rheos_status_new(RHEOS_DATA_LOSS, "'%s': not a valid SavedModel message", held->folder);
  }
  held->description.meta_graphs = (const rheos_meta_graph *const *)held->meta_graphs;
  held->description.num_meta_graphs = held->count;
  return NULL;
}

rheos_status *rheos_saved_model_read(const char *folder, rheos_saved_model_def **out_def) {
  RHEOS_OUT(out_def);
  RHEOS_NEED(folder);
  held_model *held = rheos__alloc_zeroed(sizeof *held);
  if (held == NULL) return rheos__out_of_memory();
  held->folder = rheos__strdup(folder[0] != '\0' ? folder : ".");
  held->description.folder = held->folder;
  rheos_status *status = held->folder != NULL ? read_model(held) : rheos__out_of_memory();
  if (status != NULL) {
    rheos_saved_model_def_free(&held->description);
    return status;
  }
  *out_def = &held->description;
  return NULL;
}

void rheos_saved_model_def_free(rheos_saved_model_def *def) {
  if (def == NULL) return;
  held_model *held = (held_model *)def;
  for (size_t i = 0; i < held->count; i++) rheos_meta_graph_free(held->meta_graphs[i]);
  rheos__free(held->meta_graphs);
  rheos__free(held->data);
  rheos__free(held->folder);
  rheos__free(held);
}

// ---- Tags

static bool has_tag(const char *const *tags, size_t count, const char *tag) {
  for (size_t i = 0; i < count; i++) {
    if (strcmp(tags[i], tag) == 0) return true;
  }
  return false;
}

static bool is_subset(const char *const *tags, size_t count, const char *const *of,
                      size_t of_count) {
  for (size_t i = 0; i < count; i++) {
    if (!has_tag(of, of_count, tags[i])) return false;
  }
  return true;
}

// {'serve', 'gpu'}
static void put_tags(rheos__buffer *text, const char *const *tags, size_t count) {
  rheos__buffer_put(text, "{", 1);
  for (size_t i = 0; i < count; i++) {
    rheos__buffer_put(text, i == 0 ? "'" : ", '", i == 0 ? 1 : 3);
    rheos__buffer_put(text, tags[i], strlen(tags[i]));
    rheos__buffer_put(text, "'", 1);
  }
  rheos__buffer_put(text, "}", 1);
}

static rheos_status *no_such_tags(const rheos_saved_model_def *def, const char *const *tags,
                                  size_t num_tags) {
  rheos__buffer wanted = {0}, there = {0};
  put_tags(&wanted, tags, num_tags);
  for (size_t i = 0; i < def->num_meta_graphs; i++) {
    if (i > 0) rheos__buffer_put(&there, ", ", 2);
    put_tags(&there, def->meta_graphs[i]->tags, def->meta_graphs[i]->num_tags);
  }
  rheos__buffer_put(&wanted, "", 1);
  rheos__buffer_put(&there, "", 1);
  rheos_status *status =
      wanted.failed || there.failed
          ? rheos__out_of_memory()
          : RHEOS_NOTFOUND(
                "the SavedModel '%s' has no MetaGraphDef with exactly the tags %s; "
                "there are %s",
                def->folder, wanted.data, there.size_bytes > 1 ? there.data : "none");
  rheos__buffer_deinit(&wanted);
  rheos__buffer_deinit(&there);
  return status;
}

rheos_status *rheos_saved_model_find(const rheos_saved_model_def *def, const char *const *tags,
                                     size_t num_tags, const rheos_meta_graph **out_meta_graph) {
  RHEOS_OUT(out_meta_graph);
  RHEOS_NEED(def);
  RHEOS_NEED_TEXTS(tags, num_tags);
  for (size_t i = 0; i < def->num_meta_graphs; i++) {
    const rheos_meta_graph *meta_graph = def->meta_graphs[i];
    if (!is_subset(tags, num_tags, meta_graph->tags, meta_graph->num_tags)) continue;
    if (!is_subset(meta_graph->tags, meta_graph->num_tags, tags, num_tags)) continue;
    *out_meta_graph = meta_graph;
    return NULL;
  }
  return no_such_tags(def, tags, num_tags);
}
