// Files and their names.
#ifndef RHEOS_CLI_FILES_H
#define RHEOS_CLI_FILES_H

#include <rheos/base.h>

bool is_file(const char *path);  // or anything else that is there and no folder
bool is_folder(const char *path);

// The part behind the last '/', and the part before it ("." if there is none), for free().
const char *path_base(const char *path);
char *path_folder(const char *path);
bool ends_with(const char *text, const char *end);

// The bytes of a file, with a NUL behind them that does not count, for free().
rheos_status *file_read(const char *path, char **out_bytes, size_t *out_size_bytes);
// The first bytes of a file, up to `most`, its last eight (zeros if it has fewer), and how many it
// has.
rheos_status *file_read_ends(const char *path, char *head, size_t most, size_t *out_head_bytes,
                             uint64_t *out_tail, uint64_t *out_size_bytes);
// Puts a file in the place of an old one: a kill leaves the old or the new.
rheos_status *file_replace(const char *path, const void *bytes, size_t size_bytes);

// Makes a folder and those that it is in, where they are missing.
rheos_status *folder_make(const char *path);
// The names in a folder, sorted.
rheos_status *folder_list(const char *path, char ***out_names, size_t *out_count);
void folder_list_free(char **names, size_t count);

#endif  // RHEOS_CLI_FILES_H
