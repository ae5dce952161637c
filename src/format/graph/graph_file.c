// Graphs as files, with large constants in files of their own beside them. Such a file is named
// after its bytes: equal constants share one, a graph that is written again finds it there, and
// none is ever changed, so that what another graph maps stays as it is.
#include <rheos/format.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "base/hash.h"
#include "format/graph/graph_def.h"

static const char IMMUTABLE[] = "ImmutableConst", REGION[] = "memory_region_name";

// ---- Writing

typedef struct side_folder {
  char *path;        // of the folder
  const char *name;  // of it, as nodes say it
} side_folder;

static rheos_status *write_elements(const rheos_tensor *tensor, const char *path) {
  rheos__file_writer *writer;
  RHEOS_TRY(rheos__file_writer_open(path, &writer));
  rheos_status *status = rheos__file_writer_write(writer, tensor->data, tensor->size_bytes);
  if (status == NULL) status = rheos__file_writer_sync(writer);
  if (status == NULL) return rheos__file_writer_close_take(writer);
  rheos__file_writer_abandon(writer);
  return status;
}

// Under another name first: a file with its own name is whole.
static rheos_status *write_once(const rheos_tensor *tensor, const char *path) {
  bool exists;
  RHEOS_TRY(rheos__file_exists(path, &exists));
  if (exists) return NULL;
  char *unfinished = rheos__text_format("%s.tmp%ld", path, (long)getpid());
  if (unfinished == NULL) return rheos__out_of_memory();
  rheos_status *status = write_elements(tensor, unfinished);
  if (status == NULL) status = rheos__file_rename(unfinished, path);
  if (status != NULL) rheos_status_free(rheos__file_remove(unfinished));
  rheos__free(unfinished);
  return status;
}

static rheos_status *write_beside(void *user, const rheos_tensor *tensor, rheos__arena *arena,
                                  char **out_name) {
  const side_folder *folder = user;
  char file[64];
  snprintf(file, sizeof file, "%016llx-%zu",
           (unsigned long long)rheos__hash_bytes(0, tensor->data, tensor->size_bytes),
           tensor->size_bytes);
  const size_t name_bytes = strlen(folder->name) + strlen(file) + 2;
  *out_name = rheos__arena_alloc(arena, name_bytes);
  char *path = rheos__path_join(folder->path, file);
  rheos_status *status = NULL;
  if (*out_name == NULL || path == NULL) status = rheos__out_of_memory();
  if (status == NULL) status = rheos__file_make_dirs(folder->path);
  if (status == NULL) status = write_once(tensor, path);
  if (status == NULL) snprintf(*out_name, name_bytes, "%s/%s", folder->name, file);
  rheos__free(path);
  return status;
}

static rheos_status *graph_bytes(rheos_graph *graph, const char *path, size_t side_file_bytes,
                                 void **out_bytes, size_t *out_size_bytes) {
  if (side_file_bytes == 0) return rheos_graph_to_graph_def(graph, out_bytes, out_size_bytes);
  side_folder folder = {.path = rheos__text_format("%s.data", path)};
  if (folder.path == NULL) return rheos__out_of_memory();
  folder.name = rheos__path_base(folder.path);
  const rheos__side_files side = {side_file_bytes, write_beside, &folder};
  rheos_status *status = rheos__graph_to_bytes_beside(graph, &side, out_bytes, out_size_bytes);
  rheos__free(folder.path);
  return status;
}

rheos_status *rheos_graph_write(rheos_graph *graph, const char *path, size_t side_file_bytes) {
  RHEOS_NEED(graph);
  RHEOS_NEED_BYTES(path, side_file_bytes);
  void *data;
  size_t size_bytes;
  RHEOS_TRY(graph_bytes(graph, path, side_file_bytes, &data, &size_bytes));
  rheos_status *status = rheos__file_replace(path, data, size_bytes);
  rheos_free(data);
  return status;
}

// ---- Reading

// A name that is found beside the graph gets its whole path.
static rheos_status *locate(Tensorflow__NodeDef *node, const char *folder, rheos__arena *arena) {
  for (size_t i = 0; i < node->n_attr; i++) {
    Tensorflow__AttrValue *value = node->attr[i]->value;
    if (strcmp(node->attr[i]->key, REGION) != 0 || value == NULL) continue;
    if (value->value_case != TENSORFLOW__ATTR_VALUE__VALUE_S || value->s.len == 0) continue;
    if (value->s.data[0] == '/') continue;
    char *path = rheos__text_format("%s/%.*s", folder, (int)(value->s.len & INT32_MAX),
                                    (const char *)value->s.data);
    if (path == NULL) return rheos__out_of_memory();
    bool exists = false;
    rheos_status_free(rheos__file_exists(path, &exists));
    char *copy = exists ? rheos__arena_copy(arena, path, strlen(path) + 1) : NULL;
    rheos__free(path);
    if (!exists) continue;
    if (copy == NULL) return rheos__out_of_memory();
    value->s = (ProtobufCBinaryData){strlen(copy), (uint8_t *)copy};
  }
  return NULL;
}

static rheos_status *locate_all(const char *folder, char **data, size_t *size_bytes) {
  rheos__arena arena;
  rheos__arena_init(&arena);
  rheos__buffer buffer = {0};
  Tensorflow__GraphDef *def;
  rheos_status *status = RHEOS_PROTO_UNPACK(graph_def, *data, *size_bytes, &arena, &def);
  for (size_t i = 0; status == NULL && i < def->n_node; i++) {
    if (strcmp(def->node[i]->op, IMMUTABLE) == 0) status = locate(def->node[i], folder, &arena);
  }
  if (status == NULL) rheos__proto_pack(&def->base, &buffer);
  rheos__arena_deinit(&arena);
  if (status == NULL && buffer.failed) status = rheos__out_of_memory();
  if (status != NULL) {
    rheos__buffer_deinit(&buffer);
    return status;
  }
  rheos__free(*data);
  *data = buffer.data;
  *size_bytes = buffer.size_bytes;
  return NULL;
}

static rheos_status *whole_folder(const char *path, char **out_folder) {
  char *folder = rheos__path_folder(path);
  if (folder == NULL) return rheos__out_of_memory();
  char *whole = realpath(folder, NULL);
  *out_folder = rheos__strdup(whole != NULL ? whole : folder);
  free(whole);
  rheos__free(folder);
  return *out_folder != NULL ? NULL : rheos__out_of_memory();
}

static bool has_text(const char *data, size_t size_bytes, const char *text) {
  const size_t length = strlen(text);
  for (const char *at = data; (size_t)(data + size_bytes - at) >= length; at++) {
    at = memchr(at, text[0], (size_t)(data + size_bytes - at) - length + 1);
    if (at == NULL) return false;
    if (memcmp(at, text, length) == 0) return true;
  }
  return false;
}

rheos_status *rheos_graph_def_read(const char *path, void **out_bytes, size_t *out_size_bytes) {
  RHEOS_OUT(out_bytes);
  RHEOS_OUT(out_size_bytes);
  RHEOS_NEED(path);
  char *data, *folder;
  size_t size_bytes;
  RHEOS_TRY(rheos__file_read_all(path, RHEOS__MAX_MESSAGE_BYTES, &data, &size_bytes));
  rheos_status *status = NULL;
  if (has_text(data, size_bytes, IMMUTABLE)) {
    status = whole_folder(path, &folder);
    if (status == NULL) {
      status = locate_all(folder, &data, &size_bytes);
      rheos__free(folder);
    }
  }
  if (status != NULL) {
    rheos__free(data);
    return status;
  }
  *out_bytes = data;
  *out_size_bytes = size_bytes;
  return NULL;
}

rheos_status *rheos_graph_read(const char *path, rheos_graph **out_graph) {
  RHEOS_OUT(out_graph);
  void *bytes;
  size_t size_bytes;
  RHEOS_TRY(rheos_graph_def_read(path, &bytes, &size_bytes));
  rheos_graph *graph = rheos_graph_new();
  rheos_scope *scope = graph != NULL ? rheos_scope_new(graph) : NULL;
  rheos_status *status = scope != NULL ? NULL : rheos__out_of_memory();
  if (status == NULL) {
    const rheos_import_options options = {.keep_unknown_ops = true, .any_colocation = true};
    rheos_import_graph_def(scope, bytes, size_bytes, &options);
    status = rheos_scope_finish(scope);
  }
  rheos_scope_free(scope);
  rheos_free(bytes);
  if (status == NULL) {
    *out_graph = graph;
  } else {
    rheos_graph_unref(graph);
  }
  return status;
}
