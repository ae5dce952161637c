// Files by pattern: `*`, `?` and `[...]` in any part of a path.
#include "base/file.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"

enum { MAX_DEPTH = 64 };

typedef struct matches {
  char **paths;
  size_t count, capacity;
} matches;

static void matches_deinit(matches *m) {
  rheos__file_list_free(m->paths, m->count);
  *m = (matches){0};
}

// Takes the path.
static rheos_status *add_match(matches *m, char *path) {
  if (path == NULL || !RHEOS_RESERVE(m->paths, m->capacity, m->count + 1)) {
    rheos__free(path);
    return rheos__out_of_memory();
  }
  m->paths[m->count++] = path;
  return NULL;
}

// The files of `folder` ("" for the current one, else up to its last "/") that a part of a pattern
// describes. A folder that cannot be listed has none.
static rheos_status *match_folder(const char *folder, const char *part, bool is_last,
                                  matches *out) {
  char **names;
  size_t count;
  rheos_status *unreadable = rheos__file_list(folder[0] != '\0' ? folder : ".", &names, &count);
  if (unreadable != NULL) {
    rheos_status_free(unreadable);
    return NULL;
  }
  rheos_status *status = NULL;
  for (size_t i = 0; status == NULL && i < count; i++) {
    if (fnmatch(part, names[i], FNM_PATHNAME) != 0) continue;
    status = add_match(out, rheos__text_format("%s%s%s", folder, names[i], is_last ? "" : "/"));
  }
  rheos__file_list_free(names, count);
  return status;
}

// From the folders found so far to what the next part of the pattern describes in them.
static rheos_status *match_part(const matches *folders, const char *part, bool is_last,
                                matches *out) {
  const bool plain = strpbrk(part, "*?[\\") == NULL;
  for (size_t i = 0; i < folders->count; i++) {
    if (!plain) {
      RHEOS_TRY(match_folder(folders->paths[i], part, is_last, out));
      continue;
    }
    char *path = rheos__text_format("%s%s%s", folders->paths[i], part, is_last ? "" : "/");
    if (path == NULL) return rheos__out_of_memory();
    bool exists = false;
    rheos_status_free(rheos__file_exists(path, &exists));
    if (exists) {
      RHEOS_TRY(add_match(out, path));
    } else {
      rheos__free(path);
    }
  }
  return NULL;
}

// Goes down the pattern part by part; `pattern` is written to.
static rheos_status *match_pattern(char *pattern, matches *found) {
  matches folders = {0};
  rheos_status *status = add_match(&folders, rheos__strdup(pattern[0] == '/' ? "/" : ""));
  int depth = 0;
  char *at = pattern;
  while (status == NULL && *at != '\0') {
    while (*at == '/') at++;
    if (*at == '\0') break;
    char *end = strchr(at, '/');
    if (end != NULL) *end = '\0';
    matches next = {0};
    status = depth++ < MAX_DEPTH ? match_part(&folders, at, end == NULL, &next)
                                 : RHEOS_INVALID("the pattern has more than %d parts", MAX_DEPTH);
    matches_deinit(&folders);
    folders = next;
    if (end == NULL) break;
    at = end + 1;
  }
  for (size_t i = 0; status == NULL && i < folders.count; i++) {
    status = add_match(found, folders.paths[i]);
    folders.paths[i] = NULL;
  }
  matches_deinit(&folders);
  return status;
}

// Takes the matches; with a failure there are none.
static rheos_status *give_sorted(matches *found, rheos_status *status, char ***out_paths,
                                 size_t *out_count) {
  if (status != NULL) {
    matches_deinit(found);
    return status;
  }
  if (found->count > 1)
    qsort(found->paths, found->count, sizeof *found->paths, rheos__compare_texts);
  *out_paths = found->paths;
  *out_count = found->count;
  return NULL;
}

rheos_status *rheos__file_match(const char *pattern, char ***out_paths, size_t *out_count) {
  *out_paths = NULL;
  *out_count = 0;
  char *parts = rheos__strdup(pattern);
  if (parts == NULL) return rheos__out_of_memory();
  matches found = {0};
  rheos_status *status = match_pattern(parts, &found);
  rheos__free(parts);
  return give_sorted(&found, status, out_paths, out_count);
}

rheos_status *rheos__file_match_names(const char *pattern, char ***out_paths, size_t *out_count) {
  *out_paths = NULL;
  *out_count = 0;
  const char *name = rheos__path_base(pattern);
  matches folder = {0}, found = {0};
  rheos_status *status =
      add_match(&folder, rheos__text_format("%.*s", (int)(name - pattern), pattern));
  if (status == NULL) status = match_part(&folder, name, true, &found);
  matches_deinit(&folder);
  return give_sorted(&found, status, out_paths, out_count);
}
