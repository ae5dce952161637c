// Over POSIX system calls.
#include "files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command.h"
#include "status.h"

// "cannot open 'x': No such file or directory", for the errno that is set.
static rheos_status *failed(const char *verb, const char *path) {
  const int error = errno;
  const rheos_code code = error == ENOENT                      ? RHEOS_NOT_FOUND
                          : error == EACCES || error == EPERM  ? RHEOS_PERMISSION_DENIED
                          : error == ENOMEM || error == ENOSPC ? RHEOS_RESOURCE_EXHAUSTED
                                                               : RHEOS_FAILED_PRECONDITION;
  return rheos_status_new(code, "cannot %s '%s': %s", verb, path, strerror(error));
}

// ---- Names

bool is_file(const char *path) {
  struct stat info;
  return stat(path, &info) == 0 && !S_ISDIR(info.st_mode);
}

bool is_folder(const char *path) {
  struct stat info;
  return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

const char *path_base(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash != NULL ? slash + 1 : path;
}

char *path_folder(const char *path) {
  const char *slash = strrchr(path, '/');
  if (slash == NULL) return command_format(".");
  return command_format("%.*s", slash == path ? 1 : (int)(slash - path), path);
}

bool ends_with(const char *text, const char *end) {
  const size_t size = strlen(text), end_size = strlen(end);
  return size >= end_size && strcmp(text + size - end_size, end) == 0;
}

// ---- Reading

static rheos_status *open_file(const char *path, int *out_descriptor, uint64_t *out_size_bytes) {
  struct stat info;
  *out_descriptor = open(path, O_RDONLY | O_CLOEXEC);
  if (*out_descriptor < 0) return failed("open", path);
  const bool known = fstat(*out_descriptor, &info) == 0;
  if (known && !S_ISDIR(info.st_mode)) {
    *out_size_bytes = (uint64_t)info.st_size;
    return NULL;
  }
  if (known) errno = EISDIR;
  rheos_status *status = failed("read", path);
  close(*out_descriptor);
  return status;
}

static rheos_status *read_at(int descriptor, const char *path, uint64_t offset, void *to,
                             size_t size_bytes) {
  for (size_t done = 0; done < size_bytes;) {
    const ssize_t got =
        pread(descriptor, (char *)to + done, size_bytes - done, (off_t)(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return failed("read", path);
    if (got == 0) return rheos_status_new(RHEOS_DATA_LOSS, "'%s' is shorter than it was", path);
    done += (size_t)got;
  }
  return NULL;
}

rheos_status *file_read(const char *path, char **out_bytes, size_t *out_size_bytes) {
  int descriptor;
  uint64_t size_bytes;
  *out_bytes = NULL;
  *out_size_bytes = 0;
  TRY(open_file(path, &descriptor, &size_bytes));
  char *bytes = size_bytes < SIZE_MAX ? malloc((size_t)size_bytes + 1) : NULL;
  rheos_status *status =
      bytes != NULL ? read_at(descriptor, path, 0, bytes, (size_t)size_bytes) : NO_MEMORY();
  close(descriptor);
  if (status != NULL) {
    free(bytes);
    return status;
  }
  bytes[size_bytes] = '\0';
  *out_bytes = bytes;
  *out_size_bytes = (size_t)size_bytes;
  return NULL;
}

rheos_status *file_read_ends(const char *path, char *head, size_t most, size_t *out_head_bytes,
                             uint64_t *out_tail, uint64_t *out_size_bytes) {
  int descriptor;
  *out_tail = 0;
  TRY(open_file(path, &descriptor, out_size_bytes));
  *out_head_bytes = *out_size_bytes < most ? (size_t)*out_size_bytes : most;
  rheos_status *status = read_at(descriptor, path, 0, head, *out_head_bytes);
  if (status == NULL && *out_size_bytes >= sizeof *out_tail) {
    status =
        read_at(descriptor, path, *out_size_bytes - sizeof *out_tail, out_tail, sizeof *out_tail);
  }
  close(descriptor);
  return status;
}

// ---- Writing

static rheos_status *write_all(int descriptor, const char *path, const char *bytes,
                               size_t size_bytes) {
  while (size_bytes > 0) {
    const ssize_t put = write(descriptor, bytes, size_bytes);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return failed("write", path);
    bytes += put;
    size_bytes -= (size_t)put;
  }
  return fsync(descriptor) == 0 || errno == EINVAL ? NULL : failed("write", path);
}

// Under a name of its own, which fits wherever the file's fits.
rheos_status *file_replace(const char *path, const void *bytes, size_t size_bytes) {
  char *folder = path_folder(path);
  char *unfinished = command_format("%s/.rheos.new%ld", folder, (long)getpid());
  const int descriptor = open(unfinished, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  rheos_status *status =
      descriptor < 0 ? failed("create", path) : write_all(descriptor, path, bytes, size_bytes);
  if (descriptor >= 0 && close(descriptor) != 0 && status == NULL) status = failed("write", path);
  if (status == NULL && rename(unfinished, path) != 0) status = failed("write", path);
  if (status != NULL) unlink(unfinished);
  free(unfinished);
  free(folder);
  return status;
}

// ---- Folders

static rheos_status *make_one(const char *path) {
  return mkdir(path, 0777) == 0 || (errno == EEXIST && is_folder(path)) ? NULL
                                                                        : failed("create", path);
}

rheos_status *folder_make(const char *path) {
  char *part = command_format("%s", path);
  rheos_status *status = NULL;
  for (char *slash = strchr(part + (part[0] != '\0'), '/'); slash != NULL && status == NULL;
       slash = strchr(slash + 1, '/')) {
    *slash = '\0';
    if (!is_folder(part)) status = make_one(part);
    *slash = '/';
  }
  free(part);
  return status != NULL ? status : make_one(path);
}

static int compare_names(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

rheos_status *folder_list(const char *path, char ***out_names, size_t *out_count) {
  *out_names = NULL;
  *out_count = 0;
  DIR *folder = opendir(path);
  if (folder == NULL) return failed("list", path);
  for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
    if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
    *out_names = command_realloc(*out_names, (*out_count + 1) * sizeof **out_names);
    (*out_names)[(*out_count)++] = command_format("%s", entry->d_name);
  }
  closedir(folder);
  if (*out_count > 1) qsort(*out_names, *out_count, sizeof **out_names, compare_names);
  return NULL;
}

void folder_list_free(char **names, size_t count) {
  for (size_t i = 0; i < count; i++) free(names[i]);
  free(names);
}
