// Files over POSIX system calls. Interrupted calls are repeated, short reads and writes continued.
#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "base/text.h"

enum { BUFFER_BYTES = 64 * 1024 };
// Linux moves at most about this much in one call.
static const size_t MAX_TRANSFER_BYTES = (size_t)1 << 30;

static rheos__file_hook file_hook;

void rheos__set_file_hook(const rheos__file_hook *hook) {
  file_hook = hook != NULL ? *hook : (rheos__file_hook){0};
}

// Whether the hook lets the call happen; sets errno if not.
static bool allowed(const char *call, const char *path) {
  int error = file_hook.before != NULL ? file_hook.before(file_hook.user, call, path) : 0;
  if (error != 0) errno = error;
  return error == 0;
}

// What one call moves of so many bytes.
static size_t transfer_of(size_t size_bytes) {
  const size_t most = file_hook.most_bytes != 0 ? file_hook.most_bytes : MAX_TRANSFER_BYTES;
  return size_bytes < most ? size_bytes : most;
}

static rheos_code code_of_errno(int error) {
  switch (error) {
    case ENOENT: return RHEOS_NOT_FOUND;
    case EEXIST: return RHEOS_ALREADY_EXISTS;
    case EACCES:
    case EPERM:
    case EROFS: return RHEOS_PERMISSION_DENIED;
    case EINVAL:
    case ENAMETOOLONG: return RHEOS_INVALID_ARGUMENT;
    case EISDIR:
    case ENOTDIR:
    case ENOTEMPTY:
    case EBUSY: return RHEOS_FAILED_PRECONDITION;
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
    case EMFILE:
    case ENFILE:
    case ENOMEM: return RHEOS_RESOURCE_EXHAUSTED;
    default: return RHEOS_UNKNOWN;
  }
}

// What the system calls take of a path, which programs may write as a URL: "file:///tmp/x" is
// "/tmp/x".
static const char *local_path(const char *path) {
  static const char scheme[] = "file://";
  return strncmp(path, scheme, sizeof scheme - 1) == 0 ? path + sizeof scheme - 1 : path;
}

// "cannot open 'x': No such file or directory", for the errno that is set.
static rheos_status *failed(const char *verb, const char *path) {
  int error = errno;
  char text[128];
  return rheos_status_new(code_of_errno(error), "cannot %s '%s': %s", verb, path,
                          strerror_r(error, text, sizeof text));
}

// ---- Reading

struct rheos__file {
  int descriptor;
  uint64_t size_bytes;
  char path[];
};

static rheos_status *check_regular(rheos__file *file) {
  struct stat info;
  if (!allowed("stat", file->path) || fstat(file->descriptor, &info) != 0) {
    return failed("read", file->path);
  }
  if (S_ISDIR(info.st_mode)) {
    errno = EISDIR;
    return failed("read", file->path);
  }
  file->size_bytes = (uint64_t)info.st_size;
  return NULL;
}

rheos_status *rheos__file_open(const char *path, rheos__file **out_file) {
  *out_file = NULL;
  size_t path_bytes = strlen(path) + 1;
  rheos__file *file = rheos__alloc(sizeof *file + path_bytes);
  if (file == NULL) return rheos__out_of_memory();
  memcpy(file->path, path, path_bytes);
  file->descriptor = allowed("open", path) ? open(local_path(path), O_RDONLY | O_CLOEXEC) : -1;
  rheos_status *status = file->descriptor < 0 ? failed("open", path) : check_regular(file);
  if (status != NULL) {
    rheos__file_close(file);
    return status;
  }
  *out_file = file;
  return NULL;
}

void rheos__file_close(rheos__file *file) {
  if (file == NULL) return;
  if (file->descriptor >= 0) close(file->descriptor);
  rheos__free(file);
}

uint64_t rheos__file_size(const rheos__file *file) { return file->size_bytes; }
const char *rheos__file_path(const rheos__file *file) { return file->path; }

rheos_status *rheos__file_read_at(rheos__file *file, uint64_t offset, void *buffer,
                                  size_t size_bytes) {
  char *to = buffer;
  while (size_bytes > 0) {
    size_t wanted = transfer_of(size_bytes);
    ssize_t got =
        allowed("read", file->path) ? pread(file->descriptor, to, wanted, (off_t)offset) : -1;
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return failed("read", file->path);
    if (got == 0) {
      return rheos_status_new(RHEOS_DATA_LOSS, "'%s' ends at byte %llu, %zu bytes too early",
                              file->path, (unsigned long long)offset, size_bytes);
    }
    to += got;
    offset += (uint64_t)got;
    size_bytes -= (size_t)got;
  }
  return NULL;
}

rheos_status *rheos__file_read_all(const char *path, size_t max_bytes, char **out_data,
                                   size_t *out_size_bytes) {
  *out_data = NULL;
  *out_size_bytes = 0;
  rheos__file *file;
  RHEOS_TRY(rheos__file_open(path, &file));
  rheos_status *status = NULL;
  char *data = NULL;
  size_t size_bytes = (size_t)file->size_bytes;
  if (file->size_bytes > max_bytes) {
    status = rheos_status_new(RHEOS_RESOURCE_EXHAUSTED,
                              "'%s' has %llu bytes, more than the limit of %zu", path,
                              (unsigned long long)file->size_bytes, max_bytes);
  } else if ((data = rheos__alloc(size_bytes + 1)) == NULL) {
    status = rheos__out_of_memory();
  } else {
    status = rheos__file_read_at(file, 0, data, size_bytes);
  }
  rheos__file_close(file);
  if (status != NULL) {
    rheos__free(data);
    return status;
  }
  data[size_bytes] = '\0';
  *out_data = data;
  *out_size_bytes = size_bytes;
  return NULL;
}

rheos_status *rheos__file_map(const char *path, void **out_data, size_t *out_size_bytes) {
  *out_data = NULL;
  *out_size_bytes = 0;
  rheos__file *file;
  RHEOS_TRY(rheos__file_open(path, &file));
  rheos_status *status = NULL;
  const size_t size_bytes = (size_t)file->size_bytes;
  if (size_bytes > 0) {
    void *data = !allowed("mmap", path) ? MAP_FAILED
                                        : mmap(NULL, size_bytes, PROT_READ | PROT_WRITE,
                                               MAP_PRIVATE | MAP_NORESERVE, file->descriptor, 0);
    if (data == MAP_FAILED) {
      status = failed("map", path);
    } else {
      *out_data = data;
      *out_size_bytes = size_bytes;
    }
  }
  rheos__file_close(file);
  return status;
}

void rheos__file_unmap(void *data, size_t size_bytes) {
  if (data != NULL) munmap(data, size_bytes);
}

// ---- Writing

struct rheos__file_writer {
  int descriptor;
  uint64_t position;
  size_t used;  // of the buffer
  char *path;   // behind the buffer
  char buffer[BUFFER_BYTES];
};

rheos_status *rheos__file_writer_open(const char *path, rheos__file_writer **out_writer) {
  *out_writer = NULL;
  size_t path_bytes = strlen(path) + 1;
  rheos__file_writer *writer = rheos__alloc(sizeof *writer + path_bytes);
  if (writer == NULL) return rheos__out_of_memory();
  writer->path = memcpy((char *)(writer + 1), path, path_bytes);
  writer->position = 0;
  writer->used = 0;
  writer->descriptor = allowed("open", path)
                           ? open(local_path(path), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)
                           : -1;
  if (writer->descriptor < 0) {
    rheos_status *status = failed("create", path);
    rheos__free(writer);
    return status;
  }
  *out_writer = writer;
  return NULL;
}

rheos_status *rheos__file_writer_write_at(rheos__file_writer *writer, uint64_t offset,
                                          const void *data, size_t size_bytes) {
  const char *from = data;
  while (size_bytes > 0) {
    const size_t wanted = transfer_of(size_bytes);
    ssize_t done = allowed("write", writer->path)
                       ? pwrite(writer->descriptor, from, wanted, (off_t)offset)
                       : -1;
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return failed("write", writer->path);
    from += done;
    offset += (uint64_t)done;
    size_bytes -= (size_t)done;
  }
  return NULL;
}

void rheos__file_writer_start_sync(rheos__file_writer *writer, uint64_t offset, size_t size_bytes) {
#if defined(__linux__)
  (void)!sync_file_range(writer->descriptor, (off_t)offset, (off_t)size_bytes,
                         SYNC_FILE_RANGE_WRITE);
#else
  (void)writer, (void)offset, (void)size_bytes;
#endif
}

static rheos_status *write_out(rheos__file_writer *writer, const char *data, size_t size_bytes) {
  while (size_bytes > 0) {
    size_t wanted = transfer_of(size_bytes);
    ssize_t done = allowed("write", writer->path) ? write(writer->descriptor, data, wanted) : -1;
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return failed("write", writer->path);
    data += done;
    size_bytes -= (size_t)done;
  }
  return NULL;
}

rheos_status *rheos__file_writer_flush(rheos__file_writer *writer) {
  size_t used = writer->used;
  writer->used = 0;
  return write_out(writer, writer->buffer, used);
}

rheos_status *rheos__file_writer_write(rheos__file_writer *writer, const void *data,
                                       size_t size_bytes) {
  writer->position += size_bytes;
  if (size_bytes > BUFFER_BYTES - writer->used) RHEOS_TRY(rheos__file_writer_flush(writer));
  if (size_bytes >= BUFFER_BYTES) return write_out(writer, data, size_bytes);
  if (size_bytes > 0) memcpy(writer->buffer + writer->used, data, size_bytes);
  writer->used += size_bytes;
  return NULL;
}

uint64_t rheos__file_writer_position(const rheos__file_writer *writer) { return writer->position; }

rheos_status *rheos__file_writer_reserve(rheos__file_writer *writer, size_t size_bytes,
                                         uint64_t *out_offset) {
  *out_offset = writer->position;
  RHEOS_TRY(rheos__file_writer_flush(writer));
  if (lseek(writer->descriptor, (off_t)size_bytes, SEEK_CUR) < 0) {
    return failed("write", writer->path);
  }
  writer->position += size_bytes;
  return NULL;
}

rheos_status *rheos__file_writer_sync(rheos__file_writer *writer) {
  RHEOS_TRY(rheos__file_writer_flush(writer));
  if (!allowed("fsync", writer->path) || fsync(writer->descriptor) != 0) {
    return failed("sync", writer->path);
  }
  return NULL;
}

rheos_status *rheos__file_writer_close_take(rheos__file_writer *writer) {
  if (writer == NULL) return NULL;
  rheos_status *status = rheos__file_writer_flush(writer);
  bool may_close = allowed("close", writer->path);
  int error = may_close ? 0 : errno;
  if (close(writer->descriptor) != 0 && error == 0) error = errno;
  if (status == NULL && error != 0) {
    errno = error;
    status = failed("close", writer->path);
  }
  rheos__free(writer);
  return status;
}

void rheos__file_writer_abandon(rheos__file_writer *writer) {
  if (writer == NULL) return;
  close(writer->descriptor);
  rheos__free(writer);
}

static rheos_status *write_synced(const char *path, const void *data, size_t size_bytes) {
  rheos__file_writer *writer;
  RHEOS_TRY(rheos__file_writer_open(path, &writer));
  rheos_status *status = rheos__file_writer_write(writer, data, size_bytes);
  if (status == NULL) status = rheos__file_writer_sync(writer);
  if (status == NULL) return rheos__file_writer_close_take(writer);
  rheos__file_writer_abandon(writer);
  return status;
}

rheos_status *rheos__file_replace(const char *path, const void *data, size_t size_bytes) {
  char suffix[32];
  snprintf(suffix, sizeof suffix, ".new%ld", (long)getpid());
  char *temporary = rheos__path_unfinished(path, suffix);
  if (temporary == NULL) return rheos__out_of_memory();
  rheos_status *status = write_synced(temporary, data, size_bytes);
  if (status == NULL) status = rheos__file_rename(temporary, path);
  if (status != NULL) {
    rheos_status_free(rheos__file_remove(temporary));
  } else {
    status = rheos__file_sync_dir_of(path);
  }
  rheos__free(temporary);
  return status;
}

rheos_status *rheos__file_make_new(const char *path) {
  const int flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC;
  const int descriptor = allowed("open", path) ? open(local_path(path), flags, 0666) : -1;
  if (descriptor < 0) return failed("create", path);
  close(descriptor);
  return NULL;
}

// ---- Names

static rheos_status *look_at(const char *path, bool *out_exists, bool *out_is_folder) {
  *out_exists = *out_is_folder = false;
  struct stat info;
  if (allowed("stat", path) && stat(local_path(path), &info) == 0) {
    *out_exists = true;
    *out_is_folder = S_ISDIR(info.st_mode);
    return NULL;
  }
  return errno == ENOENT || errno == ENOTDIR ? NULL : failed("look at", path);
}

rheos_status *rheos__file_exists(const char *path, bool *out_exists) {
  bool is_folder;
  return look_at(path, out_exists, &is_folder);
}

rheos_status *rheos__file_is_folder(const char *path, bool *out_is_folder) {
  bool exists;
  return look_at(path, &exists, out_is_folder);
}

rheos_status *rheos__file_rename(const char *from, const char *to) {
  if (allowed("rename", from) && rename(local_path(from), local_path(to)) == 0) return NULL;
  int error = errno;
  char *both = rheos__text_format("%s' to '%s", from, to);
  if (both == NULL) return rheos__out_of_memory();
  errno = error;
  rheos_status *status = failed("rename", both);
  rheos__free(both);
  return status;
}

rheos_status *rheos__file_remove(const char *path) {
  if (allowed("unlink", path) && unlink(local_path(path)) == 0) return NULL;
  return errno == ENOENT ? NULL : failed("remove", path);
}

rheos_status *rheos__file_remove_dir(const char *path) {
  if (allowed("rmdir", path) && rmdir(local_path(path)) == 0) return NULL;
  return failed("remove", path);
}

// Makes one folder; `path` may be an existing one.
static rheos_status *make_dir(const char *path) {
  if (allowed("mkdir", path) && mkdir(local_path(path), 0777) == 0) return NULL;
  if (errno != EEXIST) return failed("make folder", path);
  struct stat info;
  if (stat(local_path(path), &info) == 0 && S_ISDIR(info.st_mode)) return NULL;
  errno = ENOTDIR;
  return failed("make folder", path);
}

rheos_status *rheos__file_make_dirs(const char *path) {
  bool exists;
  RHEOS_TRY(rheos__file_exists(path, &exists));
  if (exists) return make_dir(path);
  char *partial = rheos__strdup(path);
  if (partial == NULL) return rheos__out_of_memory();
  rheos_status *status = NULL;
  char *const start = partial + (local_path(path) - path);
  for (char *slash = strchr(start + (start[0] != '\0'), '/'); slash != NULL && status == NULL;
       slash = strchr(slash + 1, '/')) {
    *slash = '\0';
    status = make_dir(partial);
    *slash = '/';
  }
  rheos__free(partial);
  return status != NULL ? status : make_dir(path);
}

rheos_status *rheos__file_sync_dir_of(const char *path) {
  char *folder = rheos__path_folder(path);
  if (folder == NULL) return rheos__out_of_memory();
  rheos_status *status = NULL;
  int descriptor =
      allowed("open", folder) ? open(local_path(folder), O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
  if (descriptor < 0) {
    status = failed("open", folder);
  } else {
    // Some file systems cannot sync a folder and say so with EINVAL.
    bool synced = allowed("fsync", folder) && fsync(descriptor) == 0;
    if (!synced && errno != EINVAL) status = failed("sync", folder);
    close(descriptor);
  }
  rheos__free(folder);
  return status;
}

rheos_status *rheos__file_list(const char *path, char ***out_names, size_t *out_count) {
  *out_names = NULL;
  *out_count = 0;
  DIR *folder = allowed("opendir", path) ? opendir(local_path(path)) : NULL;
  if (folder == NULL) return failed("list", path);
  char **names = NULL;
  size_t count = 0, capacity = 0;
  rheos_status *status = NULL;
  for (struct dirent *entry; status == NULL && (entry = readdir(folder)) != NULL;) {
    if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
    char *name = rheos__strdup(entry->d_name);
    if (name == NULL || !RHEOS_RESERVE(names, capacity, count + 1)) {
      rheos__free(name);
      status = rheos__out_of_memory();
    } else {
      names[count++] = name;
    }
  }
  closedir(folder);
  if (status != NULL) {
    rheos__file_list_free(names, count);
    return status;
  }
  if (count > 0) qsort(names, count, sizeof *names, rheos__compare_texts);
  *out_names = names;
  *out_count = count;
  return NULL;
}

void rheos__file_list_free(char **names, size_t count) {
  for (size_t i = 0; i < count; i++) rheos__free(names[i]);
  rheos__free(names);
}

// ---- Paths

char *rheos__path_join(const char *folder, const char *name) {
  if (name[0] == '/' || folder[0] == '\0') return rheos__strdup(name);
  bool has_slash = folder[strlen(folder) - 1] == '/';
  return rheos__text_format("%s%s%s", folder, has_slash ? "" : "/", name);
}

char *rheos__path_unfinished(const char *path, const char *suffix) {
  const char *base = rheos__path_base(path);
  const size_t base_bytes = strlen(base), suffix_bytes = strlen(suffix);
  if (base_bytes + suffix_bytes <= NAME_MAX) return rheos__text_format("%s%s", path, suffix);
  enum { HASH_BYTES = 17 };
  const size_t kept_bytes = (size_t)(base - path) + NAME_MAX - HASH_BYTES - suffix_bytes;
  return rheos__text_format("%.*s~%016llx%s", (int)kept_bytes, path,
                            (unsigned long long)rheos__hash_bytes(0, base, base_bytes), suffix);
}

char *rheos__path_folder(const char *path) {
  const char *slash = strrchr(path, '/');
  if (slash == NULL) return rheos__strdup(".");
  return rheos__strndup(path, slash == path ? 1 : (size_t)(slash - path));
}

const char *rheos__path_base(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash == NULL ? path : slash + 1;
}

char *rheos__text_format(const char *format, ...) {
  va_list args, again;
  va_start(args, format);
  va_copy(again, args);
  int length = vsnprintf(NULL, 0, format, args);
  char *text = length >= 0 ? rheos__alloc((size_t)length + 1) : NULL;
  if (text != NULL) vsnprintf(text, (size_t)length + 1, format, again);
  va_end(again);
  va_end(args);
  return text;
}
