// The checkpoints that a training run leaves: written, listed in their folder, and deleted when
// there are too many.
#include <rheos/train.h>

#include <rheos/saved_model.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/options.h"
#include "base/status.h"

enum { MAX_TO_KEEP = 5, KEEP_EVERY_N_HOURS = 10000 };  // TensorFlow's

typedef struct kept {
  char *prefix;
  double when;  // in seconds
} kept;

struct rheos_checkpoint_keeper {
  rheos_saver saver;
  int64_t max_to_keep;  // 0: all of them
  double keep_every_n_hours;
  bool no_meta_graph;
  char *latest_filename;
  kept *items;  // oldest first, one more than are kept while saving
  size_t count, capacity;
  double next_preserved;
};

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

rheos_status *rheos_checkpoint_keeper_new_sized(rheos_saver saver,
                                                const rheos_checkpoint_keeper_options *options,
                                                size_t options_bytes,
                                                rheos_checkpoint_keeper **out_keeper) {
  RHEOS_OUT(out_keeper);
  rheos_checkpoint_keeper_options known;
  RHEOS_TRY(RHEOS_READ_OPTIONS(rheos_checkpoint_keeper_options, options, options_bytes, &known));
  rheos_checkpoint_keeper *keeper = rheos__alloc_zeroed(sizeof *keeper);
  if (keeper == NULL) return rheos__out_of_memory();
  keeper->saver = saver;
  keeper->no_meta_graph = known.no_meta_graph;
  keeper->max_to_keep = rheos__int_or(known.max_to_keep, MAX_TO_KEEP);
  keeper->keep_every_n_hours = rheos__float_or(known.keep_every_n_hours, KEEP_EVERY_N_HOURS);
  const char *latest = known.latest_filename != NULL ? known.latest_filename : "checkpoint";
  if (latest[0] == '\0' || strchr(latest, '/') != NULL) {
    rheos__free(keeper);
    return RHEOS_INVALID("'%s' is not the name of a file of checkpoints: no folder is to be in it",
                         latest);
  }
  keeper->latest_filename = rheos__strndup(latest, strlen(latest));
  if (keeper->latest_filename == NULL) {
    rheos__free(keeper);
    return rheos__out_of_memory();
  }
  keeper->next_preserved = now() + keeper->keep_every_n_hours * 3600;
  *out_keeper = keeper;
  return NULL;
}

void rheos_checkpoint_keeper_free(rheos_checkpoint_keeper *keeper) {
  if (keeper == NULL) return;
  for (size_t i = 0; i < keeper->count; i++) rheos__free(keeper->items[i].prefix);
  rheos__free(keeper->items);
  rheos__free(keeper->latest_filename);
  rheos__free(keeper);
}

static char *prefix_of(const char *path, int64_t step) {
  return step >= 0 ? rheos__text_format("%s-%lld", path, (long long)step)
                   : rheos__text_format("%s", path);
}

// ---- Deleting

// What a file of the checkpoint has behind its prefix; "-00000-of-00002" is a shard of version 1.
static bool is_of_checkpoint(const char *rest) {
  int end = 0;
  if (rest[0] == '\0' || strcmp(rest, ".index") == 0 || strcmp(rest, ".meta") == 0) return true;
  if (sscanf(rest, ".data-%*5[0-9]-of-%*5[0-9]%n", &end) == 0 && end > 0) return rest[end] == '\0';
  return sscanf(rest, "-%*5[0-9]-of-%*5[0-9]%n", &end) == 0 && end > 0 && rest[end] == '\0';
}

static rheos_status *remove_files(const char *folder, const char *base, char *const *names,
                                  size_t count) {
  const size_t length = strlen(base);
  for (size_t i = 0; i < count; i++) {
    if (strncmp(names[i], base, length) != 0 || !is_of_checkpoint(names[i] + length)) continue;
    char *path = rheos__path_join(folder, names[i]);
    if (path == NULL) return rheos__out_of_memory();
    rheos_status *status = rheos__file_remove(path);
    rheos__free(path);
    if (status != NULL) return status;
  }
  return NULL;
}

static rheos_status *remove_checkpoint(const char *prefix) {
  char *folder = rheos__path_folder(prefix), **names;
  size_t count;
  if (folder == NULL) return rheos__out_of_memory();
  rheos_status *status = rheos__file_list(folder, &names, &count);
  if (status == NULL) {
    status = remove_files(folder, rheos__path_base(prefix), names, count);
    rheos__file_list_free(names, count);
  }
  rheos__free(folder);
  return status;
}

// ---- Saving

// Takes out item `i`, whose prefix is the caller's then.
static kept take_out(rheos_checkpoint_keeper *keeper, size_t i) {
  const kept item = keeper->items[i];
  keeper->count--;
  memmove(&keeper->items[i], &keeper->items[i + 1], (keeper->count - i) * sizeof item);
  return item;
}

// The newest comes last, and what was written over is there once. Owns the prefix in any case.
static rheos_status *note(rheos_checkpoint_keeper *keeper, char *prefix, double when) {
  for (size_t i = 0; i < keeper->count; i++) {
    if (strcmp(keeper->items[i].prefix, prefix) != 0) continue;
    rheos__free(take_out(keeper, i).prefix);
    break;
  }
  if (!RHEOS_RESERVE(keeper->items, keeper->capacity, keeper->count + 1)) {
    rheos__free(prefix);
    return rheos__out_of_memory();
  }
  keeper->items[keeper->count++] = (kept){prefix, when};
  return NULL;
}

// When the checkpoint was written; negative if it is not there.
static rheos_status *written_at(const char *prefix, double *out_when) {
  char *index = rheos__text_format("%s.index", prefix);
  if (index == NULL) return rheos__out_of_memory();
  struct stat info;
  const bool exists = stat(index, &info) == 0 || stat(prefix, &info) == 0;
  *out_when = exists ? (double)info.st_mtime : -1;
  rheos__free(index);
  return NULL;
}

rheos_status *rheos_checkpoint_keeper_recover(rheos_checkpoint_keeper *keeper,
                                              const char *const *prefixes, size_t count) {
  RHEOS_NEED(keeper);
  RHEOS_NEED_TEXTS(prefixes, count);
  for (size_t i = 0; i < count; i++) {
    double when = -1;
    RHEOS_TRY(written_at(prefixes[i], &when));
    if (when < 0) continue;
    char *prefix = rheos__strndup(prefixes[i], strlen(prefixes[i]));
    if (prefix == NULL) return rheos__out_of_memory();
    RHEOS_TRY(note(keeper, prefix, when));
  }
  return NULL;
}

// The list of the folder, of `count` items from `first` on.
static rheos_status *write_list(const rheos_checkpoint_keeper *keeper, const char *folder,
                                size_t first, size_t count) {
  const char **paths = rheos__alloc_array(count, sizeof *paths);
  if (paths == NULL) return rheos__out_of_memory();
  for (size_t i = 0; i < count; i++) paths[i] = keeper->items[first + i].prefix;
  rheos_status *status =
      rheos_checkpoint_state_write(folder, keeper->latest_filename, paths[count - 1], paths, count);
  rheos__free(paths);
  return status;
}

// Deletes what is too many, after the list was written: one that names what is gone would leave
// nothing to go on from.
static rheos_status *forget(rheos_checkpoint_keeper *keeper, size_t most) {
  rheos_status *status = NULL;
  while (keeper->count > most) {
    const kept old = take_out(keeper, 0);
    if (old.when > keeper->next_preserved) {
      keeper->next_preserved += keeper->keep_every_n_hours * 3600;
    } else if (keeper->max_to_keep > 0 && status == NULL) {
      status = remove_checkpoint(old.prefix);
    }
    rheos__free(old.prefix);
  }
  return status;
}

static rheos_status *write_meta_graph(const rheos_checkpoint_keeper *keeper, const char *prefix) {
  char *path = rheos__text_format("%s.meta", prefix);
  if (path == NULL) return rheos__out_of_memory();
  const rheos_meta_graph_options options = {.saver = &keeper->saver,
                                            .max_to_keep = rheos_int(keeper->max_to_keep)};
  rheos_status *status =
      rheos_graph_write_meta_graph(keeper->saver.filename.graph, &options, path, false);
  rheos__free(path);
  return status;
}

rheos_status *rheos_checkpoint_keeper_save(rheos_checkpoint_keeper *keeper, rheos_session *session,
                                           const char *path, int64_t step) {
  RHEOS_NEED(keeper, session, path);
  char *prefix = prefix_of(path, step);
  if (prefix == NULL) return rheos__out_of_memory();
  rheos_status *status = rheos_saver_save(keeper->saver, session, prefix);
  if (status == NULL && !keeper->no_meta_graph) status = write_meta_graph(keeper, prefix);
  if (status != NULL) {
    rheos__free(prefix);
    return status;
  }
  RHEOS_TRY(note(keeper, prefix, now()));
  char *folder = rheos__path_folder(prefix);
  if (folder == NULL) return rheos__out_of_memory();
  const size_t most = keeper->max_to_keep > 0 ? (size_t)keeper->max_to_keep : 1;
  const size_t listed = keeper->count < most ? keeper->count : most;
  status = write_list(keeper, folder, keeper->count - listed, listed);
  if (status == NULL) status = forget(keeper, most);
  rheos__free(folder);
  return status;
}
