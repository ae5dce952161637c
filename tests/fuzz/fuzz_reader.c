// The fuzz target: the reader of tests/format/readers.def that the program's name ends with
// (fuzz_png is a link to fuzz_readers). Beside what the sanitizers see, it stops where the reader
// asks for more memory than is stated there. With RHEOS_FUZZ_SEEDS=FOLDER it only writes the seeds
// there.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/readers.h"
#include "graph/counting_allocator.h"

typedef struct seeds {
  const char *folder;
  int count;
} seeds;

static void write_seed(void *argument, const void *data, size_t size_bytes) {
  seeds *s = argument;
  char path[1024];
  snprintf(path, sizeof path, "%s/seed-%03d", s->folder, s->count++);
  FILE *file = fopen(path, "wb");
  if (file == NULL || fwrite(data, 1, size_bytes, file) != size_bytes || fclose(file) != 0) {
    perror(path);
    exit(2);
  }
}

static counting_allocator counter;
static const file_reader *reader;

static const file_reader *reader_of_program(const char *path) {
  const char *name = strrchr(path, '/');
  name = name != NULL ? name + 1 : path;
  const size_t length = strlen("fuzz_");
  const file_reader *found = strlen(name) > length ? file_reader_named(name + length) : NULL;
  if (found != NULL) return found;
  fprintf(stderr, "%s: call it fuzz_NAME, where NAME is one of\n", path);
  for (size_t i = 0; i < num_file_readers; i++) fprintf(stderr, "%s\n", file_readers[i].name);
  exit(2);
}

static void end(void) { file_readers_end(); }

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerInitialize(int *argc, char ***argv) {
  (void)argc;
  reader = reader_of_program((*argv)[0]);
  seeds s = {getenv("RHEOS_FUZZ_SEEDS"), 0};
  if (s.folder != NULL) {
    file_reader_seeds(reader->name, write_seed, &s);
    exit(s.count > 0 ? 0 : 2);
  }
  op_reader_begin(reader->name);
  counting_allocator_install(&counter);
  atexit(end);
  return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes) {
  const int64_t limit = file_reader_limit(reader, size_bytes);
  counter.met_limit = false;
  counter.limit_bytes = counter.alive_bytes + limit;
  rheos_status_free(reader->read(data, size_bytes));
  if (counter.met_limit && !reader->repeats) {
    fprintf(stderr, "%s: more than %lld bytes for %zu\n", reader->name, (long long)limit,
            size_bytes);
    abort();
  }
  return 0;
}
