// What saves that were killed have left in a folder of checkpoints: files under names of their own
// until they were whole. Of the same series (model-5 and model-7 are), so that no other program's
// is touched.
#include "format/checkpoint/bundle_files.h"

#include <ctype.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"

// Files without a hold (those of shards on their way) are left alone for so long after their last
// change.
enum { MAY_BE_AT_WORK_SECONDS = 600, RANDOM_DIGITS = 32 };
static const char STATE_FILE[] = "checkpoint.new";  // and the number of a process

static bool all_are(int (*is)(int), const char *text, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (!is((unsigned char)text[i])) return false;
  }
  return count > 0;
}

// The bytes of a name without "-123".
static size_t stem_bytes(const char *name, size_t name_bytes) {
  size_t at = name_bytes;
  while (at > 0 && isdigit((unsigned char)name[at - 1])) at--;
  return at > 1 && at < name_bytes && name[at - 1] == '-' ? at - 1 : name_bytes;
}

typedef struct series {
  const char *base;  // the prefix's name in its folder
  size_t stem_bytes;
  char *folder;
} series;

static bool is_of_series(const series *s, const char *name, size_t name_bytes) {
  return stem_bytes(name, name_bytes) == s->stem_bytes && memcmp(name, s->base, s->stem_bytes) == 0;
}

// Whether `name` up to `name_bytes` is a checkpoint of the series but not the one being saved.
static bool is_another(const series *s, const char *name, size_t name_bytes) {
  const bool is_it = name_bytes == strlen(s->base) && memcmp(name, s->base, name_bytes) == 0;
  return is_of_series(s, name, name_bytes) && !is_it;
}

// Somebody else was faster, or it is somebody else's: nothing to be done.
static rheos_status *unless_others_take(rheos_status *status) {
  const rheos_code code = rheos_status_code(status);
  if (code != RHEOS_NOT_FOUND && code != RHEOS_PERMISSION_DENIED) return status;
  rheos_status_free(status);
  return NULL;
}

static rheos_status *remove_undecided(const char *prefix, const char *path) {
  char *undecided = rheos__bundle_index_path(prefix, ".tmp");
  if (undecided == NULL) return rheos__out_of_memory();
  rheos_status *status = rheos__file_remove(path);
  if (status == NULL) status = rheos__file_remove(undecided);
  rheos__free(undecided);
  return status;
}

// A save that was decided is brought to its end; of another what is there is removed.
static rheos_status *settle_prefix(const char *prefix, const char *path) {
  char *decided = rheos__bundle_index_path(prefix, ".new");
  if (decided == NULL) return rheos__out_of_memory();
  bool is_decided;
  rheos_status *status = rheos__file_exists(decided, &is_decided);
  rheos__free(decided);
  if (status != NULL) return status;
  return is_decided ? rheos__bundle_finish_interrupted(prefix) : remove_undecided(prefix, path);
}

static rheos_status *settle(const series *s, const char *name, size_t name_bytes,
                            const char *path) {
  char *prefix = rheos__text_format("%s/%.*s", s->folder, (int)name_bytes, name);
  if (prefix == NULL) return rheos__out_of_memory();
  rheos_status *status = settle_prefix(prefix, path);
  rheos__free(prefix);
  return status;
}

static rheos_status *remove_files(const char *folder, char *const *names, size_t count) {
  for (int removing = 0; removing < 2; removing++) {
    for (size_t i = 0; i < count; i++) {
      char *file = rheos__path_join(folder, names[i]);
      if (file == NULL) return rheos__out_of_memory();
      const bool is_old = rheos__file_is_older(file, MAY_BE_AT_WORK_SECONDS);
      rheos_status *status = removing && is_old ? rheos__file_remove(file) : NULL;
      rheos__free(file);
      if (status != NULL || !is_old) return status;
    }
  }
  return rheos__file_remove_dir(folder);
}

// The folder in which the shards of a save were made, if nothing in it has changed for long.
static rheos_status *remove_folder(const char *path) {
  char **names;
  size_t count;
  if (!rheos__file_is_older(path, MAY_BE_AT_WORK_SECONDS)) return NULL;
  RHEOS_TRY(rheos__file_list(path, &names, &count));
  rheos_status *status = remove_files(path, names, count);
  rheos__file_list_free(names, count);
  return status;
}

static bool ends_with(const char *name, const char *end) {
  const size_t name_bytes = strlen(name), end_bytes = strlen(end);
  return name_bytes > end_bytes && strcmp(name + name_bytes - end_bytes, end) == 0;
}

// One file is written by one writer, which holds it; others have been moved here.
static bool is_given_up(const char *path, const char *behind_prefix) {
  return strcmp(behind_prefix, ".data-00000-of-00001.new") == 0
             ? !rheos__file_is_held(path)
             : rheos__file_is_older(path, MAY_BE_AT_WORK_SECONDS);
}

static rheos_status *look_at_path(const series *s, const char *name, const char *path) {
  const char *data = strstr(name, ".data-"), *folder = strstr(name, "_temp_");
  if (data != NULL && ends_with(name, ".new") && is_another(s, name, (size_t)(data - name))) {
    return is_given_up(path, data) ? settle(s, name, (size_t)(data - name), path) : NULL;
  }
  if (folder != NULL && strlen(folder) == strlen("_temp_") + RANDOM_DIGITS &&
      all_are(isxdigit, folder + strlen("_temp_"), RANDOM_DIGITS) &&
      is_of_series(s, name, (size_t)(folder - name))) {
    return remove_folder(path);
  }
  if (strncmp(name, STATE_FILE, strlen(STATE_FILE)) == 0 &&
      all_are(isdigit, name + strlen(STATE_FILE), strlen(name) - strlen(STATE_FILE)) &&
      rheos__file_is_older(path, MAY_BE_AT_WORK_SECONDS)) {
    return rheos__file_remove(path);
  }
  return NULL;
}

static rheos_status *look_at(const series *s, const char *name) {
  char *path = rheos__path_join(s->folder, name);
  if (path == NULL) return rheos__out_of_memory();
  rheos_status *status = unless_others_take(look_at_path(s, name, path));
  rheos__free(path);
  return status;
}

static rheos_status *sweep(const series *s) {
  char **names;
  size_t count;
  rheos_status *status = rheos__file_list(s->folder, &names, &count);
  if (status != NULL) return unless_others_take(status);
  for (size_t i = 0; i < count && status == NULL; i++) status = look_at(s, names[i]);
  rheos__file_list_free(names, count);
  return status;
}

rheos_status *rheos__checkpoint_sweep(const char *prefix) {
  series s = {.base = rheos__path_base(prefix), .folder = rheos__path_folder(prefix)};
  if (s.folder == NULL) return rheos__out_of_memory();
  s.stem_bytes = stem_bytes(s.base, strlen(s.base));
  rheos_status *status = s.stem_bytes > 0 ? sweep(&s) : NULL;
  rheos__free(s.folder);
  return status;
}
