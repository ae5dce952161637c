// Saves that end before their time: a process that is killed at any instant, a full disk, writes
// that move few bytes. What was there before, or what the save was to leave, is there then, whole.
//
// A child saves one value after the other and tells in shared memory which are done; the parent
// kills it after a random while and reads. So each save also meets what the one before left.
// RHEOS_KILLS says how many kills each kind of file gets, by default few.
#include <rheos/events.h>
#include <rheos/format.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>

#include "format/checkpoint/bundle.h"
#include "format/checkpoint/checkpoint_v1.h"
#include "format/format_support.h"
#include "tensor/tensor.h"

enum { QUICK_KILLS = 40, NUM_TENSORS = 4, ELEMENTS = 3000 };

static int kills_wanted(void) {
  const char *text = getenv("RHEOS_KILLS");
  return text != NULL ? atoi(text) : QUICK_KILLS;
}

// ---- What is saved: the value `n` everywhere, in tensors whose size depends on it too

static int64_t elements_of(int n) { return ELEMENTS + n % 7 * 100; }

static rheos_tensor *tensor_of(int n) {
  rheos_tensor *tensor;
  if (rheos_tensor_new(RHEOS_INT32, RHEOS_SHAPE(elements_of(n)), &tensor) != NULL) abort();
  for (int64_t i = 0; i < tensor->num_elements; i++) ((int32_t *)tensor->data)[i] = n;
  return tensor;
}

static int value_of(const rheos_tensor *tensor) {
  const int32_t *values = tensor->data;
  const int n = values[0];
  assert_int_equal(tensor->num_elements, elements_of(n));
  for (int64_t i = 0; i < tensor->num_elements; i++) assert_int_equal(values[i], n);
  return n;
}

// ---- Kinds of files: how they are saved, and the value that is found in them

typedef rheos_status *(*save_function)(const char *prefix, int n);
typedef int (*load_function)(const char *prefix);

static void name_of(int index, char name[2]) {
  name[0] = (char)('a' + index);
  name[1] = '\0';
}

static rheos_status *write_bundle(const char *prefix, int n, int first, int end) {
  rheos__bundle_writer *writer;
  RHEOS_TRY(rheos__bundle_writer_open(prefix, &writer));
  rheos_tensor *tensor = tensor_of(n);
  rheos_status *status = NULL;
  for (int i = first; i < end && status == NULL; i++) {
    char name[2];
    name_of(i, name);
    status = rheos__bundle_writer_add(writer, name, 1, tensor);
  }
  rheos_tensor_unref(tensor);
  if (status == NULL) return rheos__bundle_writer_finish_take(writer);
  rheos__bundle_writer_abandon(writer);
  return status;
}

static rheos_status *save_bundle(const char *prefix, int n) {
  return write_bundle(prefix, n, 0, NUM_TENSORS);
}

// Two shards, merged, as a sharded saver does it.
static rheos_status *save_shards(const char *prefix, int n) {
  char *parts[] = {rheos__text_format("%s_part0", prefix), rheos__text_format("%s_part1", prefix)};
  rheos_status *status = write_bundle(parts[0], n, 0, NUM_TENSORS / 2);
  if (status == NULL) status = write_bundle(parts[1], n, NUM_TENSORS / 2, NUM_TENSORS);
  if (status == NULL) status = rheos__bundle_merge((const char *const *)parts, 2, prefix);
  for (int i = 0; i < 2; i++) rheos__free(parts[i]);
  return status;
}

static rheos_status *save_v1(const char *prefix, int n) {
  rheos__v1_item items[NUM_TENSORS];
  char names[NUM_TENSORS][2];
  rheos_tensor *tensor = tensor_of(n);
  for (int i = 0; i < NUM_TENSORS; i++) {
    name_of(i, names[i]);
    items[i] = (rheos__v1_item){names[i], 1, tensor->shape, rheos__slice_whole(1), tensor};
  }
  rheos_status *status = rheos__v1_checkpoint_write(prefix, items, NUM_TENSORS);
  rheos_tensor_unref(tensor);
  return status;
}

static int load_checkpoint(const char *prefix) {
  rheos_checkpoint_reader *reader;
  expect_ok(rheos_checkpoint_reader_open(prefix, &reader));
  assert_int_equal(rheos_checkpoint_reader_count(reader), NUM_TENSORS);
  int found = -1;
  for (size_t i = 0; i < NUM_TENSORS; i++) {
    rheos_tensor *tensor;
    expect_ok(rheos_checkpoint_reader_read(reader, i, &tensor));
    const int n = value_of(tensor);
    rheos_tensor_unref(tensor);
    if (i > 0) assert_int_equal(n, found);  // never a mixture
    found = n;
  }
  rheos_checkpoint_reader_free(reader);
  return found;
}

// The list names the checkpoints up to `n`, of which there are many.
static rheos_status *save_list(const char *prefix, int n) {
  char *folder = rheos__path_folder(prefix);
  char *paths[200];
  const int count = 100 + n % 100;
  for (int i = 0; i < count; i++) {
    paths[i] = rheos__text_format("%s/model-%d", folder, n - count + 1 + i);
  }
  rheos_status *status =
      rheos_checkpoint_state_write(folder, rheos__path_base(prefix), paths[count - 1],
                                   (const char *const *)paths, (size_t)count);
  for (int i = 0; i < count; i++) rheos__free(paths[i]);
  rheos__free(folder);
  return status;
}

static int number_at_end(const char *path) { return atoi(strrchr(path, 'l') + 2); }

static int load_list(const char *prefix) {
  char *folder = rheos__path_folder(prefix);
  rheos_checkpoint_state state;
  expect_ok(rheos_checkpoint_state_read(folder, rheos__path_base(prefix), &state));
  const int n = number_at_end(state.model_checkpoint_path);
  assert_int_equal(state.num_paths, 100 + n % 100);
  assert_int_equal(number_at_end(state.all_model_checkpoint_paths[state.num_paths - 1]), n);
  rheos_checkpoint_state_deinit(&state);
  rheos__free(folder);
  return n;
}

// ---- Kills

static uint64_t random_state = 1;

static int64_t random_below(int64_t bound) {
  random_state = random_state * 6364136223846793005u + 1442695040888963407u;
  return (int64_t)((random_state >> 24) % (uint64_t)bound);
}

static void sleep_ns(int64_t ns) {
  struct timespec time = {ns / 1000000000, ns % 1000000000};
  nanosleep(&time, NULL);
}

// Memory that parent and child share.
static _Atomic int *new_shared(void) {
  void *shared =
      mmap(NULL, sizeof(_Atomic int), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  assert_true(shared != MAP_FAILED);
  return shared;
}

// Runs `work` in a child, which is killed up to `longest_ns` after it has begun to work.
static void run_and_kill(void (*work)(void *argument, _Atomic int *done), void *argument,
                         _Atomic int *done, int64_t longest_ns) {
  *done = -1;
  fflush(NULL);
  const pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    *done = 0;
    work(argument, done);
    _exit(3);  // it is to be killed before
  }
  while (*done < 0) sleep_ns(50000);
  sleep_ns(random_below(longest_ns));
  kill(child, SIGKILL);
  int how;
  assert_int_equal(waitpid(child, &how, 0), child);
  assert_true(WIFSIGNALED(how));
}

typedef struct saving {
  const char *prefix;
  save_function save;
  int first;
} saving;

// Saves first, first + 1, ...; `done` is how many are done.
static void save_for_ever(void *argument, _Atomic int *done) {
  const saving *s = argument;
  for (int n = s->first;; n++) {
    rheos_status *status = s->save(s->prefix, n);
    if (status != NULL) {
      fprintf(stderr, "%s\n", rheos_status_message(status));
      _exit(2);
    }
    ++*done;
  }
}

static void kill_saves(const char *file_name, save_function save, load_function load) {
  char *folder = new_folder(), *prefix = rheos__path_join(folder, file_name);
  _Atomic int *done = new_shared();
  expect_ok(save(prefix, 0));
  int value = 0, while_saving = 0;
  int64_t longest_ns = 1000000;
  for (int i = 0; i < kills_wanted(); i++) {
    saving s = {prefix, save, value + 1};
    run_and_kill(save_for_ever, &s, done, longest_ns);
    // So long that about every other child is killed in its first save.
    longest_ns = *done == 0 ? longest_ns * 3 / 2 : longest_ns * 2 / 3;
    const int last = value + *done, found = load(prefix);
    // What was done is there, or the one that was being saved.
    if (found != last && found != last + 1) fail_msg("%d is there after %d", found, last);
    while_saving += found != last;
    value = found;
  }
  print_message("%s: %d kills, %d saves; %d were cut off and count\n", file_name, kills_wanted(),
                value, while_saving);
  expect_ok(save(prefix, value + 1));
  assert_int_equal(load(prefix), value + 1);
  munmap((void *)done, sizeof *done);
  rheos__free(prefix);
  remove_folder(folder);
}

static void test_kills__leave_a_checkpoint(void **state) {
  (void)state;
  kill_saves("model", save_bundle, load_checkpoint);
}

static void test_kills__leave_a_checkpoint_of_shards(void **state) {
  (void)state;
  kill_saves("sharded", save_shards, load_checkpoint);
}

static void test_kills__leave_a_checkpoint_of_the_first_kind(void **state) {
  (void)state;
  kill_saves("v1", save_v1, load_checkpoint);
}

static void test_kills__leave_the_list_of_checkpoints(void **state) {
  (void)state;
  kill_saves("checkpoint", save_list, load_list);
}

// ---- Records and events: what was flushed stays

typedef struct record_text {
  char text[3000];
} record_text;

static size_t record_of(int n, record_text *out) {
  const size_t size = 10 + (size_t)(n * 37 % 2900);
  memset(out->text, 'a' + n % 26, size);
  snprintf(out->text, sizeof out->text, "%9d", n);
  out->text[9] = ' ';
  return size;
}

static void write_records(void *path, _Atomic int *done) {
  rheos_record_writer *writer;
  record_text record;
  if (rheos_record_writer_open(path, RHEOS_NO_COMPRESSION, -1, &writer) != NULL) _exit(2);
  for (int n = 0;; n++) {
    const size_t size = record_of(n, &record);
    if (rheos_record_writer_write(writer, record.text, size) != NULL) _exit(2);
    if (n % 3 != 0) continue;
    if (rheos_record_writer_flush(writer) != NULL) _exit(2);
    *done = n + 1;
  }
}

static void test_kills__leave_flushed_records(void **state) {
  (void)state;
  char *folder = new_folder(), *path = rheos__path_join(folder, "records");
  _Atomic int *done = new_shared();
  for (int i = 0; i < kills_wanted(); i++) {
    run_and_kill(write_records, path, done, 2000000);
    if (access(path, F_OK) != 0) {
      assert_int_equal(*done, 0);  // killed before it had a file
      continue;
    }
    rheos_record_reader *reader;
    expect_ok(rheos_record_reader_open(path, RHEOS_NO_COMPRESSION, &reader));
    int found = 0;
    for (rheos_status *status = NULL; status == NULL;) {
      const void *data;
      size_t size;
      record_text record;
      status = rheos_record_reader_next(reader, &data, &size);
      if (status == NULL) {
        assert_int_equal(size, record_of(found, &record));
        assert_memory_equal(data, record.text, size);
        found++;
        continue;
      }
      const rheos_code code = rheos_status_code(status);
      assert_true(code == RHEOS_OUT_OF_RANGE || code == RHEOS_DATA_LOSS);
      rheos_status_free(status);
      break;
    }
    assert_true(found >= *done);
    rheos_record_reader_close(reader);
    unlink(path);
  }
  munmap((void *)done, sizeof *done);
  rheos__free(path);
  remove_folder(folder);
}

static void write_events(void *folder, _Atomic int *done) {
  rheos_event_writer *writer;
  if (rheos_event_writer_open(folder, NULL, &writer) != NULL) _exit(2);
  for (int n = 0;; n++) {
    if (rheos_event_writer_add_scalar(writer, "loss", (float)n, n) != NULL) _exit(2);
    if (n % 3 != 0) continue;
    if (rheos_event_writer_flush(writer) != NULL) _exit(2);
    *done = n + 1;
  }
}

static void test_kills__leave_flushed_events(void **state) {
  (void)state;
  _Atomic int *done = new_shared();
  for (int i = 0; i < kills_wanted() / 4; i++) {
    char *folder = new_folder();
    run_and_kill(write_events, folder, done, 2000000);
    char **names;
    size_t count;
    expect_ok(rheos__file_list(folder, &names, &count));
    assert_true(count <= 1);
    int found = -1;  // the first event is the version
    if (count == 1) {
      char *path = rheos__path_join(folder, names[0]);
      rheos_record_reader *reader;
      expect_ok(rheos_record_reader_open(path, RHEOS_NO_COMPRESSION, &reader));
      rheos_status *status = NULL;
      for (;; found++) {
        const void *data;
        size_t size;
        status = rheos_record_reader_next(reader, &data, &size);
        if (status != NULL) break;
      }
      rheos_status_free(status);
      rheos_record_reader_close(reader);
      rheos__free(path);
    }
    assert_true(found >= *done || *done == 0);
    rheos__file_list_free(names, count);
    remove_folder(folder);
  }
  munmap((void *)done, sizeof *done);
}

// ---- Full disks and short writes

typedef struct full_disk {
  int remaining;  // writes that still find room
  bool was_full;
} full_disk;

static int disk_is_full(void *user, const char *call, const char *path) {
  full_disk *disk = user;
  (void)path;
  if (strcmp(call, "write") != 0 || disk->remaining-- > 0) return 0;
  disk->was_full = true;
  return ENOSPC;
}

static void fill_disk(const char *file_name, save_function save, load_function load) {
  char *folder = new_folder(), *prefix = rheos__path_join(folder, file_name);
  expect_ok(save(prefix, 1));
  for (int room = 0;; room++) {
    full_disk disk = {.remaining = room};
    rheos__set_file_hook(&(rheos__file_hook){disk_is_full, &disk, 5000});
    rheos_status *status = save(prefix, 2);
    rheos__set_file_hook(NULL);
    if (!disk.was_full) {
      expect_ok(status);
      break;
    }
    expect_error(status, RHEOS_RESOURCE_EXHAUSTED, "No space left on device");
    assert_int_equal(load(prefix), 1);
  }
  assert_int_equal(load(prefix), 2);
  rheos__free(prefix);
  remove_folder(folder);
}

static void test_full_disks__leave_what_was_there(void **state) {
  (void)state;
  fill_disk("model", save_bundle, load_checkpoint);
  fill_disk("sharded", save_shards, load_checkpoint);
  fill_disk("v1", save_v1, load_checkpoint);
  fill_disk("checkpoint", save_list, load_list);
}

static int always(void *user, const char *call, const char *path) {
  (void)user, (void)call, (void)path;
  return 0;
}

static void test_short_transfers__are_continued(void **state) {
  (void)state;
  static const struct {
    const char *file_name;
    save_function save;
    load_function load;
  } kinds[] = {{"model", save_bundle, load_checkpoint},
               {"sharded", save_shards, load_checkpoint},
               {"v1", save_v1, load_checkpoint},
               {"checkpoint", save_list, load_list}};
  for (int i = 0; i < 4; i++) {
    char *folder = new_folder(), *prefix = rheos__path_join(folder, kinds[i].file_name);
    rheos__set_file_hook(&(rheos__file_hook){always, NULL, 97});
    expect_ok(kinds[i].save(prefix, 5));
    assert_int_equal(kinds[i].load(prefix), 5);
    rheos__set_file_hook(NULL);
    assert_int_equal(kinds[i].load(prefix), 5);
    rheos__free(prefix);
    remove_folder(folder);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_kills__leave_a_checkpoint),
      cmocka_unit_test(test_kills__leave_a_checkpoint_of_shards),
      cmocka_unit_test(test_kills__leave_a_checkpoint_of_the_first_kind),
      cmocka_unit_test(test_kills__leave_the_list_of_checkpoints),
      cmocka_unit_test(test_kills__leave_flushed_records),
      cmocka_unit_test(test_kills__leave_flushed_events),
      cmocka_unit_test(test_full_disks__leave_what_was_there),
      cmocka_unit_test(test_short_transfers__are_continued),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
