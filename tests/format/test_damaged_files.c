// Damaged files: each golden file, and a file of each other kind, cut at every byte and with bits
// flipped. A reader answers, with a status or with what it read, gives back all it took, and never
// holds more memory than readers.def states for the size of the file (what libjpeg and giflib ask
// for themselves does not count; fuzzing limits that).
//
// By default few bits are flipped; RHEOS_FLIPS=100000 flips that many in each file.
#include "format/format_support.h"
#include "format/readers.h"
#include "graph/counting_allocator.h"

// Files up to this size are cut at every byte; longer ones at the first and last so many, and at
// every 61st byte between.
enum { EVERY_CUT = 2048, CUT_STEP = 61, QUICK_FLIPS = 200, MAX_FLIPS_AT_ONCE = 3 };

static uint64_t random_state;

static uint64_t random_below(uint64_t bound) {
  random_state = random_state * 6364136223846793005u + 1442695040888963407u;
  return (random_state >> 24) % bound;
}

static long flips_wanted(void) {
  const char *text = getenv("RHEOS_FLIPS");
  return text != NULL ? atol(text) : QUICK_FLIPS;
}

// What is damaged, and who reads it: a reader its bytes, or all tensors of a checkpoint of which
// the bytes are one file.
typedef struct subject {
  const file_reader *reader;
  const char *prefix, *path;  // of the checkpoint and its file
  counting_allocator *counter;
  int64_t answers, refusals;
} subject;

static void read_damaged(subject *s, const void *data, size_t size_bytes, size_t file_bytes) {
  if (s->path != NULL) {
    rheos_set_allocator(NULL);
    write_bytes(s->path, data, size_bytes);
    counting_allocator_install(s->counter);
  }
  s->counter->met_limit = false;
  s->counter->limit_bytes = s->counter->alive_bytes + file_reader_limit(s->reader, file_bytes);
  rheos_status *status =
      s->path != NULL ? read_checkpoint_files(s->prefix) : s->reader->read(data, size_bytes);
  s->counter->limit_bytes = 0;
  if (status == NULL)
    s->answers++;
  else
    s->refusals++;
  rheos_status_free(status);
  if (s->counter->met_limit && !s->reader->repeats) {
    fail_msg("%s: more memory than stated for %zu bytes", s->reader->name, file_bytes);
  }
}

static void cut(subject *s, const char *data, size_t size_bytes) {
  size_t size = 0;
  while (size < size_bytes) {
    // A copy of that very size, so that the address sanitizer sees where it ends.
    char *copy = malloc(size > 0 ? size : 1);
    memcpy(copy, data, size);
    read_damaged(s, copy, size, size_bytes);
    free(copy);
    const bool in_the_middle = size >= EVERY_CUT && size + EVERY_CUT + CUT_STEP < size_bytes;
    size += in_the_middle ? CUT_STEP : 1;
  }
}

static void flip(subject *s, const char *data, size_t size_bytes, long flips) {
  char *copy = malloc(size_bytes);
  random_state = size_bytes;
  for (long done = 0; done < flips && size_bytes > 0;) {
    memcpy(copy, data, size_bytes);
    for (uint64_t n = 1 + random_below(MAX_FLIPS_AT_ONCE); n > 0; n--, done++) {
      const uint64_t bit = random_below(size_bytes * 8);
      copy[bit / 8] ^= (char)(1 << bit % 8);
    }
    read_damaged(s, copy, size_bytes, size_bytes);
  }
  free(copy);
}

static void damage(subject *s, const char *data, size_t size_bytes, long flips) {
  counting_allocator counter = {0};
  s->counter = &counter;
  op_reader_begin(s->reader->name);
  counting_allocator_install(&counter);
  read_damaged(s, data, size_bytes, size_bytes);
  cut(s, data, size_bytes);
  flip(s, data, size_bytes, flips);
  file_readers_end();
  rheos_set_allocator(NULL);
  assert_int_equal(counter.alive, 0);
}

// ---- Files of every reader

typedef struct seeds {
  const file_reader *reader;
  int count, sound;
  size_t total_bytes;
} seeds;

static void measure_seed(void *argument, const void *data, size_t size_bytes) {
  seeds *all = argument;
  (void)data;
  all->count++;
  all->total_bytes += size_bytes;
}

static void damage_seed(void *argument, const void *data, size_t size_bytes) {
  seeds *all = argument;
  subject s = {.reader = all->reader};
  rheos_status *status = all->reader->read(data, size_bytes);
  all->sound += status == NULL;
  rheos_status_free(status);
  file_readers_end();
  damage(&s, data, size_bytes, flips_wanted());
}

static void test_damaged_files__of(void **state) {
  seeds all = {.reader = *state};
  file_reader_seeds(all.reader->name, measure_seed, &all);
  assert_true(all.count > 0);
  file_reader_seeds(all.reader->name, damage_seed, &all);
  print_message("%s: %d files, %d sound, %zu bytes\n", all.reader->name, all.count, all.sound,
                all.total_bytes);
  assert_true(all.sound > 0);
}

// ---- Checkpoints, one of their files after the other

static void damage_file_of(const char *prefix, const char *path) {
  subject s = {.reader = file_reader_named("checkpoint"), .prefix = prefix, .path = path};
  bytes sound = read_bytes(path);
  damage(&s, sound.data, sound.size_bytes, flips_wanted());
  write_bytes(path, sound.data, sound.size_bytes);
  assert_true(s.refusals > 0);
  assert_true(s.answers > 0);
  rheos__free(sound.data);
}

static void test_damaged_files__of_checkpoints(void **state) {
  (void)state;
  static const char *const names[] = {"dtypes", "many",          "shapes", "sharded",
                                      "sliced", "sliced_shards", "snappy", "strings"};
  static const char *const suffixes[] = {".index", ".data-00000-of-00001", ".data-00000-of-00002",
                                         ".data-00001-of-00002"};
  char *folder = new_folder();
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    char *prefix = rheos__path_join(folder, names[i]);
    char *paths[4] = {NULL};
    for (int j = 0; j < 4; j++) {
      char *from = rheos__text_format("%s/tests/golden/checkpoints/%s%s", RHEOS_SOURCE_DIR,
                                      names[i], suffixes[j]);
      bool exists;
      expect_ok(rheos__file_exists(from, &exists));
      if (exists) {
        bytes file = read_bytes(from);
        paths[j] = rheos__text_format("%s%s", prefix, suffixes[j]);
        write_bytes(paths[j], file.data, file.size_bytes);
        rheos__free(file.data);
      }
      rheos__free(from);
    }
    for (int j = 0; j < 4; j++) {
      if (paths[j] != NULL) damage_file_of(prefix, paths[j]);
      rheos__free(paths[j]);
    }
    rheos__free(prefix);
  }
  remove_folder(folder);
}

int main(int argc, char **argv) {
  struct CMUnitTest tests[64];
  size_t count = 0;
  for (size_t i = 0; i < num_file_readers; i++) {
    if (argc > 1 && strcmp(argv[1], file_readers[i].name) != 0) continue;
    tests[count++] = (struct CMUnitTest){file_readers[i].name, test_damaged_files__of, NULL, NULL,
                                         (void *)(uintptr_t)&file_readers[i]};
  }
  if (argc == 1 || strcmp(argv[1], "checkpoints") == 0) {
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(test_damaged_files__of_checkpoints);
  }
  return _cmocka_run_group_tests("damaged_files", tests, count, NULL, NULL);
}
