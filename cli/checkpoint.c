// Restoring without a saver: what a graph alone says of its variables is their names, and those are
// the names in its checkpoints.
#include "checkpoint.h"

#include <rheos/format.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "source.h"
#include "status.h"

// The prefix of the checkpoint that a path names.
static rheos_status *find_prefix(const char *path, char **out_prefix) {
  source s;
  *out_prefix = NULL;
  rheos_status *status = source_open(path, &s);
  if (status == NULL && s.kind != SOURCE_CHECKPOINT) {
    status = INVALID("it holds %s, not a checkpoint", source_kind_name(s.kind));
  }
  if (status == NULL) *out_prefix = command_format("%s", s.path);
  source_close(&s);
  if (status == NULL) return NULL;
  rheos_status *named = rheos_status_new(rheos_status_code(status), "checkpoint '%s': %s", path,
                                         rheos_status_message(status));
  rheos_status_free(status);
  return named;
}

rheos_status *checkpoint_restore_with(rheos_scope *scope, rheos_session *session,
                                      const rheos_saver *saver, const char *path) {
  if (saver->filename.graph == NULL) return checkpoint_restore(scope, session, path);
  char *prefix;
  TRY(find_prefix(path, &prefix));
  rheos_status *status = rheos_saver_restore(*saver, session, prefix);
  free(prefix);
  return status;
}

// ---- By name

typedef struct restore {
  rheos_checkpoint_reader *reader;
  rheos_scope *scope;
  rheos_feed *feeds;  // placeholders with the values
  rheos_operation *assigns;
  size_t count;
  char missing[512];
  size_t missing_length;
} restore;

static bool is_variable(rheos_operation operation) {
  const char *type = rheos_operation_type(operation);
  return strcmp(type, "VariableV2") == 0 || strcmp(type, "Variable") == 0 ||
         strcmp(type, "VarHandleOp") == 0;
}

static char *name_of(rheos_operation operation) {
  const size_t length = rheos_operation_name(operation, NULL, 0);
  char *name = command_alloc(length + 1);
  rheos_operation_name(operation, name, length + 1);
  return name;
}

static bool find_tensor(const rheos_checkpoint_reader *reader, const char *name,
                        size_t *out_index) {
  size_t low = 0, high = rheos_checkpoint_reader_count(reader);
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    const int order = strcmp(rheos_checkpoint_reader_name(reader, middle), name);
    *out_index = middle;
    if (order == 0) return true;
    if (order < 0) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return false;
}

static void note_missing(restore *r, const char *name) {
  if (r->missing_length >= sizeof r->missing) return;
  r->missing_length +=
      (size_t)snprintf(r->missing + r->missing_length, sizeof r->missing - r->missing_length,
                       "%s'%s'", r->missing_length > 0 ? ", " : "", name);
}

static rheos_status *add_assign(restore *r, rheos_operation variable, const char *name) {
  size_t index;
  if (!find_tensor(r->reader, name, &index)) {
    note_missing(r, name);
    return NULL;
  }
  rheos_tensor *value;
  TRY(rheos_checkpoint_reader_read(r->reader, index, &value));
  const bool is_resource = strcmp(rheos_operation_type(variable), "VarHandleOp") == 0;
  const rheos_attr dtype = rheos_attr_type("dtype", rheos_tensor_dtype(value));
  const rheos_op_args feed = {.type = "Placeholder", .attrs = &dtype, .num_attrs = 1};
  const rheos_operation placeholder = rheos_op(r->scope, &feed);
  const rheos_output inputs[] = {rheos_operation_output(variable, 0),
                                 rheos_operation_output(placeholder, 0)};
  const rheos_op_args assign = {
      .type = is_resource ? "AssignVariableOp" : "Assign", .inputs = inputs, .num_inputs = 2};
  r->feeds[r->count] = (rheos_feed){inputs[1], value};
  r->assigns[r->count++] = rheos_op(r->scope, &assign);
  return NULL;
}

static rheos_status *add_assigns(restore *r, rheos_graph *graph) {
  const int32_t count = rheos_graph_num_operations(graph);
  r->feeds = command_alloc((size_t)count * sizeof *r->feeds);
  r->assigns = command_alloc((size_t)count * sizeof *r->assigns);
  for (int32_t i = 0; i < count; i++) {
    const rheos_operation operation = {graph, i};
    if (!is_variable(operation)) continue;
    char *name = name_of(operation);
    rheos_status *status = add_assign(r, operation, name);
    free(name);
    if (status != NULL) return status;
  }
  if (r->missing_length == 0) return rheos_scope_finish(r->scope);
  rheos_status_free(rheos_scope_finish(r->scope));
  return NOT_FOUND("the checkpoint has no values for %s", r->missing);
}

rheos_status *checkpoint_restore(rheos_scope *scope, rheos_session *session, const char *path) {
  char *prefix;
  TRY(find_prefix(path, &prefix));
  restore r = {.scope = scope};
  rheos_status *status = rheos_checkpoint_reader_open(prefix, &r.reader);
  free(prefix);
  if (status != NULL) return status;
  rheos_push_name_scope(scope, "restore");
  status = add_assigns(&r, rheos_scope_graph(scope));
  rheos_scope_pop(scope);
  if (status == NULL && r.count > 0) {
    status = rheos_session_run(session, r.feeds, r.count, NULL, 0, r.assigns, r.count, NULL);
  }
  for (size_t i = 0; i < r.count; i++) rheos_tensor_unref(r.feeds[i].value);
  free(r.feeds);
  free(r.assigns);
  rheos_checkpoint_reader_free(r.reader);
  return status;
}
