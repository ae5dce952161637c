// The file "checkpoint" of a folder: a CheckpointState message as text,
//   model_checkpoint_path: "model-2"
//   all_model_checkpoint_paths: "model-1"
#include <rheos/format.h>

#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "bundle.pb-c.h"
#include "format/message/text_format.h"

static const size_t MAX_FILE_BYTES = (size_t)64 << 20;

static char *state_path(const char *folder, const char *file_name) {
  return rheos__path_join(folder, file_name != NULL ? file_name : "checkpoint");
}

// ---- Writing

// The part of `path` behind `folder`/, or NULL if it lies elsewhere.
static const char *behind_folder(const char *folder, const char *path) {
  size_t length = strlen(folder);
  while (length > 1 && folder[length - 1] == '/') length--;
  if (strncmp(path, folder, length) != 0 || path[length] != '/') return NULL;
  const char *rest = path + length;
  while (*rest == '/') rest++;
  return rest;
}

// The path as it is written: absolute ones as they are, others relative to the folder, unless that
// is absolute: then they are meant so already.
static char *written_path(const char *folder, const char *path) {
  if (path[0] == '/' || folder[0] == '/') return rheos__strdup(path);
  const char *rest =
      strcmp(folder, ".") == 0 || folder[0] == '\0' ? path : behind_folder(folder, path);
  if (rest != NULL) return rheos__strdup(rest);
  char *here = getcwd(NULL, 0);
  char *absolute = here != NULL ? rheos__path_join(here, path) : NULL;
  free(here);
  return absolute;
}

static rheos_status *fill_message(const char *folder, const rheos_checkpoint_state *state,
                                  rheos__arena *arena, Tensorflow__CheckpointState *message) {
  const size_t count = state->num_paths;
  char *const *all = state->all_model_checkpoint_paths;
  // The newest is always in the list, last.
  const bool is_listed = count > 0 && strcmp(all[count - 1], state->model_checkpoint_path) == 0;
  message->n_all_model_checkpoint_paths = count + !is_listed;
  message->all_model_checkpoint_paths = rheos__arena_alloc(arena, (count + 1) * sizeof(char *));
  if (message->all_model_checkpoint_paths == NULL) return rheos__out_of_memory();
  for (size_t i = 0; i <= count; i++) {
    char *path = written_path(folder, i < count ? all[i] : state->model_checkpoint_path);
    char *kept = path != NULL ? rheos__arena_strdup(arena, path) : NULL;
    rheos__free(path);
    if (kept == NULL) return rheos__out_of_memory();
    message->all_model_checkpoint_paths[i] = message->model_checkpoint_path = kept;
  }
  message->n_all_model_checkpoint_timestamps = state->num_timestamps;
  message->all_model_checkpoint_timestamps = state->all_model_checkpoint_timestamps;
  message->last_preserved_timestamp = state->last_preserved_timestamp;
  return NULL;
}

rheos_status *rheos_checkpoint_state_write_timed(const char *folder, const char *file_name,
                                                 const rheos_checkpoint_state *state) {
  RHEOS_NEED(folder, state);
  RHEOS_NEED(state->model_checkpoint_path);
  RHEOS_TRY(rheos__check_texts((const char *const *)state->all_model_checkpoint_paths,
                               state->num_paths, "all_model_checkpoint_paths"));
  RHEOS_NEED_LIST(state->all_model_checkpoint_timestamps, state->num_timestamps);
  rheos__arena arena;
  rheos__arena_init(&arena);
  rheos__buffer text = {0};
  Tensorflow__CheckpointState message = TENSORFLOW__CHECKPOINT_STATE__INIT;
  char *path = state_path(folder, file_name);
  rheos_status *status =
      path == NULL ? rheos__out_of_memory() : fill_message(folder, state, &arena, &message);
  if (status == NULL) status = rheos__text_print(&message.base, &text);
  if (status == NULL) status = rheos__file_replace(path, text.data, text.size_bytes);
  rheos__free(path);
  rheos__buffer_deinit(&text);
  rheos__arena_deinit(&arena);
  return status;
}

rheos_status *rheos_checkpoint_state_write(const char *folder, const char *file_name,
                                           const char *model_checkpoint_path,
                                           const char *const *all_model_checkpoint_paths,
                                           size_t num_paths) {
  RHEOS_NEED(folder, model_checkpoint_path);
  RHEOS_NEED_TEXTS(all_model_checkpoint_paths, num_paths);
  const rheos_checkpoint_state state = {
      .model_checkpoint_path = (char *)(uintptr_t)model_checkpoint_path,
      .all_model_checkpoint_paths = (char **)(uintptr_t)all_model_checkpoint_paths,
      .num_paths = num_paths};
  return rheos_checkpoint_state_write_timed(folder, file_name, &state);
}

// ---- Reading

// Copies what the message says; what was copied before a failure stays in the state.
static rheos_status *take_message(const Tensorflow__CheckpointState *message, const char *folder,
                                  rheos_checkpoint_state *state) {
  const size_t num_paths = message->n_all_model_checkpoint_paths;
  const size_t num_timestamps = message->n_all_model_checkpoint_timestamps;
  state->last_preserved_timestamp = message->last_preserved_timestamp;
  if (*message->model_checkpoint_path != '\0') {
    state->model_checkpoint_path = rheos__path_join(folder, message->model_checkpoint_path);
    if (state->model_checkpoint_path == NULL) return rheos__out_of_memory();
  }
  state->all_model_checkpoint_paths = rheos__alloc_array(num_paths, sizeof(char *));
  state->all_model_checkpoint_timestamps = rheos__alloc_array(num_timestamps, sizeof(double));
  if (state->all_model_checkpoint_paths == NULL || state->all_model_checkpoint_timestamps == NULL) {
    return rheos__out_of_memory();
  }
  for (size_t i = 0; i < num_paths; i++, state->num_paths++) {
    char *path = rheos__path_join(folder, message->all_model_checkpoint_paths[i]);
    if (path == NULL) return rheos__out_of_memory();
    state->all_model_checkpoint_paths[i] = path;
  }
  for (size_t i = 0; i < num_timestamps; i++, state->num_timestamps++) {
    state->all_model_checkpoint_timestamps[i] = message->all_model_checkpoint_timestamps[i];
  }
  return NULL;
}

static rheos_status *read_text(const char *path, const char *folder,
                               rheos_checkpoint_state *state) {
  char *text;
  size_t size_bytes;
  RHEOS_TRY(rheos__file_read_all(path, MAX_FILE_BYTES, &text, &size_bytes));
  rheos__arena arena;
  rheos__arena_init(&arena);
  rheos__buffer bytes = {0};
  Tensorflow__CheckpointState *message;
  rheos_status *status =
      rheos__text_parse(&tensorflow__checkpoint_state__descriptor, text, size_bytes, path, &bytes);
  rheos__free(text);
  if (status == NULL) {
    status = RHEOS_PROTO_UNPACK(checkpoint_state, bytes.data, bytes.size_bytes, &arena, &message);
  }
  if (status == NULL) status = take_message(message, folder, state);
  rheos__buffer_deinit(&bytes);
  rheos__arena_deinit(&arena);
  return status;
}

rheos_status *rheos_checkpoint_state_read(const char *folder, const char *file_name,
                                          rheos_checkpoint_state *out_state) {
  RHEOS_OUT(out_state);
  RHEOS_NEED(folder);
  char *path = state_path(folder, file_name);
  if (path == NULL) return rheos__out_of_memory();
  rheos_status *status = read_text(path, folder, out_state);
  rheos__free(path);
  if (status != NULL) rheos_checkpoint_state_deinit(out_state);
  return status;
}

void rheos_checkpoint_state_deinit(rheos_checkpoint_state *state) {
  if (state == NULL) return;
  rheos__free(state->model_checkpoint_path);
  for (size_t i = 0; i < state->num_paths; i++) rheos__free(state->all_model_checkpoint_paths[i]);
  rheos__free(state->all_model_checkpoint_paths);
  rheos__free(state->all_model_checkpoint_timestamps);
  *state = (rheos_checkpoint_state){0};
}

static rheos_status *checkpoint_exists(const char *prefix, bool *out_exists) {
  static const char *const suffixes[] = {".index", ".index.new"};
  *out_exists = false;
  for (int i = 0; i < 2 && !*out_exists; i++) {
    char *path = rheos__text_format("%s%s", prefix, suffixes[i]);
    if (path == NULL) return rheos__out_of_memory();
    rheos_status *status = rheos__file_exists(path, out_exists);
    rheos__free(path);
    if (status != NULL) return status;
  }
  if (*out_exists) return NULL;
  // Of the first kind: a file, or a pattern for the names of several.
  char **files;
  size_t count;
  RHEOS_TRY(rheos__file_match_names(prefix, &files, &count));
  rheos__file_list_free(files, count);
  *out_exists = count > 0;
  return NULL;
}

rheos_status *rheos_latest_checkpoint(const char *folder, const char *file_name,
                                      char **out_prefix) {
  RHEOS_OUT(out_prefix);
  RHEOS_NEED(folder);
  rheos_checkpoint_state state;
  rheos_status *status = rheos_checkpoint_state_read(folder, file_name, &state);
  if (rheos_status_code(status) == RHEOS_NOT_FOUND) {
    rheos_status_free(status);
    return NULL;
  }
  if (status != NULL) return status;
  bool exists = false;
  if (state.model_checkpoint_path != NULL) {
    status = checkpoint_exists(state.model_checkpoint_path, &exists);
  }
  if (exists) {
    *out_prefix = state.model_checkpoint_path;
    state.model_checkpoint_path = NULL;
  }
  rheos_checkpoint_state_deinit(&state);
  return status;
}
