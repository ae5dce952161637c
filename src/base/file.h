// Files, over POSIX. Every error names the path and what the system said. Every system call passes
// one hook, so that a test can make the n-th one fail.
#ifndef RHEOS_SRC_BASE_FILE_H
#define RHEOS_SRC_BASE_FILE_H

#include "base/status.h"

// Asked before each system call ("open", "read", "mmap", "write", "fsync", "close", "stat",
// "rename", "unlink", "mkdir", "opendir"): an errno makes the call fail with it, 0 lets it happen.
// A failing "close" still closes. A read or write that happens moves at most so many bytes, if that
// is not 0.
typedef struct rheos__file_hook {
  int (*before)(void *user, const char *call, const char *path);
  void *user;
  size_t most_bytes;
} rheos__file_hook;
// For the whole process; NULL takes the hook away. Not while other threads use files.
void rheos__set_file_hook(const rheos__file_hook *hook);

// ---- Reading

typedef struct rheos__file rheos__file;

rheos_status *rheos__file_open(const char *path, rheos__file **out_file);
void rheos__file_close(rheos__file *file);
uint64_t rheos__file_size(const rheos__file *file);  // when it was opened
const char *rheos__file_path(const rheos__file *file);
// Reads exactly these bytes; RHEOS_DATA_LOSS if the file ends before.
rheos_status *rheos__file_read_at(rheos__file *file, uint64_t offset, void *buffer,
                                  size_t size_bytes);

// The whole file and a NUL behind it, for rheos__free(). RHEOS_RESOURCE_EXHAUSTED if it is larger
// than `max_bytes`.
rheos_status *rheos__file_read_all(const char *path, size_t max_bytes, char **out_data,
                                   size_t *out_size_bytes);

// The whole file in memory without reading it: its pages come when they are touched, and writing to
// them changes private copies. The file must stay as long as it is mapped. NULL for an empty file.
rheos_status *rheos__file_map(const char *path, void **out_data, size_t *out_size_bytes);
void rheos__file_unmap(void *data, size_t size_bytes);

// ---- Writing, buffered

typedef struct rheos__file_writer rheos__file_writer;

// Makes the file, or empties it.
rheos_status *rheos__file_writer_open(const char *path, rheos__file_writer **out_writer);
rheos_status *rheos__file_writer_write(rheos__file_writer *writer, const void *data,
                                       size_t size_bytes);
uint64_t rheos__file_writer_position(const rheos__file_writer *writer);  // bytes written so far
// Room for so many bytes at the position, which moves behind them: to be filled by write_at, from
// several threads if they like. Nothing else may be called meanwhile.
rheos_status *rheos__file_writer_reserve(rheos__file_writer *writer, size_t size_bytes,
                                         uint64_t *out_offset);
rheos_status *rheos__file_writer_write_at(rheos__file_writer *writer, uint64_t offset,
                                          const void *data, size_t size_bytes);
// Tells the system that it may start to put these bytes on the disk: a hint, so that a later sync
// has less to wait for.
void rheos__file_writer_start_sync(rheos__file_writer *writer, uint64_t offset, size_t size_bytes);
rheos_status *rheos__file_writer_flush(rheos__file_writer *writer);  // to the system
rheos_status *rheos__file_writer_sync(rheos__file_writer *writer);   // to the disk
// Flushes and closes; the writer is freed in any case.
rheos_status *rheos__file_writer_close_take(rheos__file_writer *writer);
// Closes without flushing: for a file that is given up.
void rheos__file_writer_abandon(rheos__file_writer *writer);

// Writes a small file so that a kill leaves the old or the new one: under a temporary name in the
// same folder, synced, then renamed.
rheos_status *rheos__file_replace(const char *path, const void *data, size_t size_bytes);

// Makes an empty file; RHEOS_ALREADY_EXISTS if there is one.
rheos_status *rheos__file_make_new(const char *path);

// ---- Work in progress

// Holds a file that is being written until rheos__file_let_go(), or the end of the process; -1 if
// that cannot be, or the file was just taken away.
int rheos__file_hold(const char *path);
void rheos__file_let_go(int hold);  // may be -1
bool rheos__file_is_held(const char *path);
// Whether it is there and was not changed, or renamed, for so many seconds.
bool rheos__file_is_older(const char *path, int64_t seconds);

// ---- Names

rheos_status *rheos__file_exists(const char *path, bool *out_exists);
rheos_status *rheos__file_is_folder(const char *path, bool *out_is_folder);
rheos_status *rheos__file_rename(const char *from, const char *to);
rheos_status *rheos__file_remove(const char *path);       // a missing file is no error
rheos_status *rheos__file_remove_dir(const char *path);   // an empty folder
rheos_status *rheos__file_make_dirs(const char *path);    // and those above; existing ones are fine
rheos_status *rheos__file_sync_dir_of(const char *path);  // so that a rename survives a power cut
// Names in a folder, sorted, without "." and ".."; free with rheos__file_list_free().
rheos_status *rheos__file_list(const char *path, char ***out_names, size_t *out_count);
void rheos__file_list_free(char **names, size_t count);
// The paths that exist and fit a pattern with `*`, `?` and `[...]`, sorted; to be freed likewise.
rheos_status *rheos__file_match(const char *pattern, char ***out_paths, size_t *out_count);
// As rheos__file_match(), but only what is behind the last "/" is a pattern: a name read from a
// file may not send anyone through the whole file system.
rheos_status *rheos__file_match_names(const char *pattern, char ***out_paths, size_t *out_count);

// ---- Paths, in fresh strings for rheos__free(); NULL when memory is short

char *rheos__path_join(const char *folder, const char *name);  // `name` itself if it is absolute
// For a file that is to be renamed to `path`: the path with the suffix, or, where that is too long
// for the name of a file, the beginning of the name, a hash of it, and the suffix.
char *rheos__path_unfinished(const char *path, const char *suffix);
char *rheos__path_folder(const char *path);      // "." if it has none
const char *rheos__path_base(const char *path);  // behind the last "/"; borrowed
char *rheos__text_format(const char *format, ...) RHEOS_PRINTF(1, 2);

#endif  // RHEOS_SRC_BASE_FILE_H
