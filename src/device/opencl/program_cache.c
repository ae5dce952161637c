#include "device/opencl/program_cache.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/sha256.h"

enum { FORMAT = 1, WRITES_A_LOOK = 64 };

static const size_t MOST_BYTES = (size_t)256 << 20, MOST_FILE_BYTES = (size_t)64 << 20;
static const char SUFFIX[] = ".program";

// What a file begins with.
typedef struct header {
  char magic[8];
  uint64_t size_bytes;                   // of what follows
  uint8_t digest[RHEOS__SHA256_BYTES];   // of what follows
  uint8_t made_of[RHEOS__SHA256_BYTES];  // as the name of the file
} header;

static const char MAGIC[sizeof((header *)0)->magic] = {'R', 'H', 'E', 'O', 'S', 'C', 'L', FORMAT};

// ---- Names

// The folder, for rheos__free(); NULL: there is none. Drivers of processors keep what they compiled
// themselves, and take as long as compiling once more to hand it out: only when asked.
static char *find_folder(const rheos__card *card) {
  const char *own = getenv("RHEOS_CACHE_DIR"), *caches = getenv("XDG_CACHE_HOME");
  const char *home = getenv("HOME");
  if (own != NULL) return own[0] != '\0' ? rheos__path_join(own, "opencl") : NULL;
  if (card->is_processor) return NULL;
  if (caches != NULL && caches[0] == '/') return rheos__path_join(caches, "rheos/opencl");
  return home != NULL && home[0] == '/' ? rheos__path_join(home, ".cache/rheos/opencl") : NULL;
}

static void add_text(rheos__sha256 *sha, const char *text) {
  rheos__sha256_add(sha, text, strlen(text) + 1);
}

static void digest_of(const rheos__card *card, const char *source, const char *options,
                      uint8_t *out) {
  rheos__sha256 sha;
  rheos__sha256_init(&sha);
  rheos__sha256_add(&sha, MAGIC, sizeof MAGIC);
  add_text(&sha, card->name);
  add_text(&sha, card->driver);
  add_text(&sha, card->platform);
  add_text(&sha, options);
  add_text(&sha, source);
  rheos__sha256_finish(&sha, out);
}

static char *path_of(const char *folder, const uint8_t *made_of) {
  char text[RHEOS__SHA256_TEXT];
  rheos__sha256_text(made_of, text);
  return rheos__text_format("%s/%s%s", folder, text, SUFFIX);
}

// ---- Reading

static bool is_sound(const char *data, size_t size_bytes, const uint8_t *made_of) {
  header h;
  uint8_t digest[RHEOS__SHA256_BYTES];
  rheos__sha256 sha;
  if (size_bytes <= sizeof h) return false;
  memcpy(&h, data, sizeof h);
  if (memcmp(h.magic, MAGIC, sizeof MAGIC) != 0 || h.size_bytes != size_bytes - sizeof h ||
      memcmp(h.made_of, made_of, sizeof h.made_of) != 0) {
    return false;
  }
  rheos__sha256_init(&sha);
  rheos__sha256_add(&sha, data + sizeof h, size_bytes - sizeof h);
  rheos__sha256_finish(&sha, digest);
  return memcmp(digest, h.digest, sizeof digest) == 0;
}

static bool take_program(const rheos__card *card, const char *data, size_t size_bytes,
                         const char *options, cl_program *out_program) {
  const rheos__cl *cl = card->cl;
  const unsigned char *binary = (const unsigned char *)data + sizeof(header);
  const size_t binary_bytes = size_bytes - sizeof(header);
  cl_int taken = CL_SUCCESS, code;
  cl_program program = cl->clCreateProgramWithBinary(card->context, 1, &card->id, &binary_bytes,
                                                     &binary, &taken, &code);
  if (code == CL_SUCCESS && taken == CL_SUCCESS &&
      cl->clBuildProgram(program, 1, &card->id, options, NULL, NULL) == CL_SUCCESS) {
    *out_program = program;
    return true;
  }
  if (code == CL_SUCCESS) cl->clReleaseProgram(program);
  return false;
}

bool rheos__program_cache_read(const rheos__card *card, const char *source, const char *options,
                               cl_program *out_program) {
  uint8_t made_of[RHEOS__SHA256_BYTES];
  char *folder = find_folder(card), *path = NULL, *data = NULL;
  size_t size_bytes = 0;
  bool found = false;
  if (folder != NULL) {
    digest_of(card, source, options, made_of);
    path = path_of(folder, made_of);
  }
  if (path != NULL) {
    rheos_status *status = rheos__file_read_all(path, MOST_FILE_BYTES, &data, &size_bytes);
    found = status == NULL && is_sound(data, size_bytes, made_of) &&
            take_program(card, data, size_bytes, options, out_program);
    rheos_status_free(status);
  }
  rheos__free(data);
  rheos__free(path);
  rheos__free(folder);
  return found;
}

// ---- Keeping the folder small

typedef struct kept {
  char *path;
  int64_t changed, size_bytes;
} kept;

static int by_age(const void *a, const void *b) {
  const int64_t x = ((const kept *)a)->changed, y = ((const kept *)b)->changed;
  return (x > y) - (x < y);
}

// Removes the oldest until a quarter is free again.
static void remove_oldest(kept *files, size_t count, int64_t total) {
  qsort(files, count, sizeof *files, by_age);
  for (size_t i = 0; i < count && total > (int64_t)(MOST_BYTES / 4 * 3); i++) {
    if (unlink(files[i].path) == 0) total -= files[i].size_bytes;
  }
}

static void look_after(const char *folder) {
  char **names = NULL;
  size_t count = 0, known = 0;
  int64_t total = 0;
  rheos_status *status = rheos__file_list(folder, &names, &count);
  kept *files = status == NULL ? rheos__alloc_array(count + 1, sizeof *files) : NULL;
  for (size_t i = 0; files != NULL && i < count; i++) {
    struct stat about;
    char *path = rheos__path_join(folder, names[i]);
    if (path == NULL || stat(path, &about) != 0 || !S_ISREG(about.st_mode)) {
      rheos__free(path);
      continue;
    }
    files[known++] = (kept){path, about.st_mtime, about.st_size};
    total += about.st_size;
  }
  if (total > (int64_t)MOST_BYTES) remove_oldest(files, known, total);
  for (size_t i = 0; i < known; i++) rheos__free(files[i].path);
  rheos__free(files);
  if (status == NULL) rheos__file_list_free(names, count);
  rheos_status_free(status);
}

// ---- Writing

// The header and the compiled program; NULL where the driver gives none.
static char *read_program(const rheos__card *card, cl_program program, size_t *out_size_bytes) {
  size_t size = 0;
  const rheos__cl *cl = card->cl;
  if (cl->clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, NULL) !=
          CL_SUCCESS ||
      size == 0 || size > MOST_FILE_BYTES - sizeof(header)) {
    return NULL;
  }
  char *data = rheos__alloc(sizeof(header) + size);
  if (data == NULL) return NULL;
  unsigned char *binary = (unsigned char *)data + sizeof(header);
  if (cl->clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof binary, (void *)&binary, NULL) !=
      CL_SUCCESS) {
    rheos__free(data);
    return NULL;
  }
  *out_size_bytes = sizeof(header) + size;
  return data;
}

static void complete_header(char *data, size_t size_bytes, const uint8_t *made_of) {
  rheos__sha256 sha;
  header h = {.size_bytes = size_bytes - sizeof h};
  memcpy(h.magic, MAGIC, sizeof MAGIC);
  memcpy(h.made_of, made_of, sizeof h.made_of);
  rheos__sha256_init(&sha);
  rheos__sha256_add(&sha, data + sizeof h, size_bytes - sizeof h);
  rheos__sha256_finish(&sha, h.digest);
  memcpy(data, &h, sizeof h);
}

// Not synced: who finds half of it after a power cut compiles anew.
static rheos_status *write_file(const char *path, const char *data, size_t size_bytes) {
  rheos__file_writer *writer;
  RHEOS_TRY(rheos__file_writer_open(path, &writer));
  rheos_status *status = rheos__file_writer_write(writer, data, size_bytes);
  if (status == NULL) return rheos__file_writer_close_take(writer);
  rheos__file_writer_abandon(writer);
  return status;
}

static rheos_status *write_renamed(const char *folder, const uint8_t *made_of, const char *data,
                                   size_t size_bytes) {
  static _Atomic unsigned number;
  RHEOS_TRY(rheos__file_make_dirs(folder));
  char *path = path_of(folder, made_of);
  char *unfinished =
      path != NULL ? rheos__text_format("%s.%ld.%u.new", path, (long)getpid(), number++) : NULL;
  rheos_status *status =
      unfinished != NULL ? write_file(unfinished, data, size_bytes) : rheos__out_of_memory();
  if (status == NULL) status = rheos__file_rename(unfinished, path);
  if (status != NULL && unfinished != NULL) unlink(unfinished);
  rheos__free(unfinished);
  rheos__free(path);
  return status;
}

void rheos__program_cache_write(const rheos__card *card, const char *source, const char *options,
                                cl_program program) {
  static _Atomic unsigned num_writes;
  uint8_t made_of[RHEOS__SHA256_BYTES];
  char *folder = find_folder(card), *data = NULL;
  size_t size_bytes = 0;
  if (folder != NULL) data = read_program(card, program, &size_bytes);
  if (data != NULL) {
    digest_of(card, source, options, made_of);
    complete_header(data, size_bytes, made_of);
    rheos_status *status = write_renamed(folder, made_of, data, size_bytes);
    if (status == NULL && num_writes++ % WRITES_A_LOOK == 0) look_after(folder);
    rheos_status_free(status);
  }
  rheos__free(data);
  rheos__free(folder);
}
