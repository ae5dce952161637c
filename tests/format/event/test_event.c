// Event files: the records, what is in them, and damage. And the list of checkpoints.
#include "codec/record.h"

#include <rheos/rheos.h>

#include "event.pb-c.h"
#include "format/format_support.h"
#include "format/graph/graph_def.h"

// ---- Records

static void test_record__comes_back(void **state) {
  (void)state;
  char *folder = new_folder(), *path = rheos__path_join(folder, "records");
  rheos__file_writer *writer;
  expect_ok(rheos__file_writer_open(path, &writer));
  char data[1000];
  memset(data, 'x', sizeof data);
  for (size_t size = 0; size < 1000; size += 333) {
    expect_ok(rheos__record_write(writer, data, size));
  }
  expect_ok(rheos__file_writer_close_take(writer));
  rheos__file *file;
  expect_ok(rheos__file_open(path, &file));
  uint64_t offset = 0;
  rheos__buffer buffer = {0};
  for (size_t size = 0; size < 1000; size += 333) {
    expect_ok(rheos__record_read(file, &offset, &buffer));
    assert_int_equal(buffer.size_bytes, size);
    assert_memory_equal(buffer.data, data, size);
  }
  expect_error(rheos__record_read(file, &offset, &buffer), RHEOS_OUT_OF_RANGE, "no more records");
  rheos__buffer_deinit(&buffer);
  rheos__file_close(file);
  rheos__free(path);
  remove_folder(folder);
}

// The bytes for "abc", made with TensorFlow's TFRecordWriter.
static void test_record__is_framed_as_tensorflow_does(void **state) {
  (void)state;
  static const char expected[] =
      "\x03\0\0\0\0\0\0\0\xb0\x99\x49\x0e"
      "abc"
      "\x6e\x57\xf1\x21";
  char *folder = new_folder(), *path = rheos__path_join(folder, "records");
  rheos__file_writer *writer;
  expect_ok(rheos__file_writer_open(path, &writer));
  expect_ok(rheos__record_write(writer, "abc", 3));
  expect_ok(rheos__file_writer_close_take(writer));
  bytes b = read_bytes(path);
  assert_int_equal(b.size_bytes, sizeof expected - 1);
  assert_memory_equal(b.data, expected, b.size_bytes);
  rheos__free(b.data);
  rheos__free(path);
  remove_folder(folder);
}

static void test_record__damage_is_data_loss(void **state) {
  (void)state;
  char *folder = new_folder(), *path = rheos__path_join(folder, "records");
  rheos__file_writer *writer;
  expect_ok(rheos__file_writer_open(path, &writer));
  expect_ok(rheos__record_write(writer, "some bytes", 10));
  expect_ok(rheos__file_writer_close_take(writer));
  bytes b = read_bytes(path);
  rheos__buffer buffer = {0};
  for (size_t at = 0; at < 2 * b.size_bytes; at++) {
    // First each cut, then each flipped bit.
    bool is_cut = at < b.size_bytes;
    if (is_cut && at == 0) continue;  // an empty file has no records
    if (!is_cut) b.data[at - b.size_bytes] ^= (char)(1 << (at & 7));
    write_bytes(path, b.data, is_cut ? at : b.size_bytes);
    if (!is_cut) b.data[at - b.size_bytes] ^= (char)(1 << (at & 7));
    rheos__file *file;
    expect_ok(rheos__file_open(path, &file));
    uint64_t offset = 0;
    expect_error(rheos__record_read(file, &offset, &buffer), RHEOS_DATA_LOSS, path);
    assert_int_equal(offset, 0);
    rheos__file_close(file);
  }
  rheos__buffer_deinit(&buffer);
  rheos__free(b.data);
  rheos__free(path);
  remove_folder(folder);
}

// ---- Event files

typedef struct events {
  rheos__arena arena;
  int count;
  Tensorflow__Event *list[8];
} events;

static events read_events(const char *path) {
  events e = {0};
  rheos__file *file;
  expect_ok(rheos__file_open(path, &file));
  uint64_t offset = 0;
  rheos__buffer buffer = {0};
  rheos_status *status;
  while ((status = rheos__record_read(file, &offset, &buffer)) == NULL) {
    assert_true(e.count < 8);
    expect_ok(
        RHEOS_PROTO_UNPACK(event, buffer.data, buffer.size_bytes, &e.arena, &e.list[e.count]));
    e.count++;
  }
  expect_error(status, RHEOS_OUT_OF_RANGE, "no more");
  rheos__buffer_deinit(&buffer);
  rheos__file_close(file);
  return e;
}

static void test_event__file_holds_graph_and_scalars(void **state) {
  (void)state;
  char *folder = new_folder(), *logdir = rheos__path_join(folder, "logs");
  rheos_event_writer *writer;
  expect_ok(rheos_event_writer_open(logdir, ".suffix", &writer));
  char *path = rheos__strdup(rheos_event_writer_path(writer));
  assert_memory_equal(rheos__path_base(path), "events.out.tfevents.", 20);
  assert_string_equal(path + strlen(path) - 7, ".suffix");
  rheos_graph *graph = rheos_graph_new();
  rheos_scope *scope = rheos_scope_new(graph);
  rheos_op(scope, &(rheos_op_args){.type = "NoOp"});
  expect_ok(rheos_scope_finish(scope));
  expect_ok(rheos_event_writer_add_graph(writer, graph));
  expect_ok(rheos_event_writer_add_scalar(writer, "loss", 0.5f, 7));
  expect_ok(rheos_event_writer_flush(writer));
  events e = read_events(path);
  assert_int_equal(e.count, 3);
  assert_int_equal(e.list[0]->what_case, TENSORFLOW__EVENT__WHAT_FILE_VERSION);
  assert_string_equal(e.list[0]->file_version, "brain.Event:2");
  assert_true(e.list[0]->wall_time > 1.6e9);
  assert_int_equal(e.list[1]->what_case, TENSORFLOW__EVENT__WHAT_GRAPH_DEF);
  Tensorflow__GraphDef *def;
  expect_ok(RHEOS_PROTO_UNPACK(graph_def, e.list[1]->graph_def.data, e.list[1]->graph_def.len,
                               &e.arena, &def));
  assert_string_equal(def->node[0]->name, "NoOp");
  assert_int_equal(e.list[2]->step, 7);
  assert_string_equal(e.list[2]->summary->value[0]->tag, "loss");
  assert_true(e.list[2]->summary->value[0]->simple_value == 0.5f);
  rheos__arena_deinit(&e.arena);
  expect_ok(rheos_event_writer_close(writer));
  expect_ok(rheos_event_writer_close(NULL));
  unlink(path);
  rheos__free(path);
  rheos__free(logdir);
  rheos_scope_free(scope);
  rheos_graph_unref(graph);
  remove_folder(folder);
}

// As TensorFlow's merge_all() does.
static void test_event__summaries_of_a_graph_are_merged(void **state) {
  (void)state;
  rheos_graph *graph = rheos_graph_new(), *other = rheos_graph_new();
  rheos_scope *scope = rheos_scope_new(graph);
  assert_null(rheos_merge_all_summaries(scope, NULL).graph);
  const char *tags[] = {"loss", "rate"};
  for (int i = 0; i < 2; i++) {
    rheos_tensor *text;
    expect_ok(rheos_tensor_new(RHEOS_STRING, RHEOS_SCALAR, &text));
    expect_ok(rheos_tensor_set_string(text, 0, tags[i], strlen(tags[i])));
    const rheos_output tag = rheos_constant(scope, text, NULL);
    rheos_tensor_unref(text);
    const rheos_output value = rheos_constant_float(scope, (float)i + 0.5f, NULL);
    rheos_collect_summary(scope, rheos_scalar_summary(scope, tag, value));
  }
  const rheos_output all = rheos_merge_all_summaries(scope, NULL);
  expect_ok(rheos_scope_finish(scope));
  char name[32];
  rheos_operation_name(rheos_output_operation(all), name, sizeof name);
  assert_string_equal(name, "Merge/MergeSummary");
  rheos_session *session;
  rheos_fetch fetch = {.output = all};
  expect_ok(rheos_session_new(graph, NULL, &session));
  expect_ok(rheos_session_run(session, NULL, 0, &fetch, 1, NULL, 0, NULL));
  const rheos_string summary = *(rheos_string *)rheos_tensor_data(fetch.value);

  char *folder = new_folder();
  rheos_event_writer *writer;
  expect_ok(rheos_event_writer_open(folder, NULL, &writer));
  expect_ok(rheos_event_writer_add_summary(writer, summary.data, summary.size_bytes, 7));
  expect_ok(rheos_event_writer_flush(writer));
  rheos_event_reader *reader;
  rheos_event event;
  expect_ok(rheos_event_reader_open(rheos_event_writer_path(writer), &reader));
  expect_ok(rheos_event_reader_next(reader, &event));
  expect_ok(rheos_event_reader_next(reader, &event));
  const rheos_summary_value *values;
  size_t count;
  expect_ok(rheos_event_reader_values(reader, &values, &count));
  assert_int_equal(event.step, 7);
  assert_int_equal(count, 2);
  for (int i = 0; i < 2; i++) {
    assert_string_equal(values[i].tag, tags[i]);
    assert_float_equal(values[i].scalar, i + 0.5, 0);
  }
  rheos_event_reader_close(reader);
  expect_ok(rheos_event_writer_close(writer));
  remove_folder(folder);

  rheos_scope *elsewhere = rheos_scope_new(other);
  rheos_collect_summary(elsewhere, all);
  expect_error(rheos_scope_finish(elsewhere), RHEOS_INVALID_ARGUMENT, "of another graph");
  rheos_scope_free(elsewhere);
  rheos_graph_unref(other);
  rheos_tensor_unref(fetch.value);
  rheos_session_free(session);
  rheos_scope_free(scope);
  rheos_graph_unref(graph);
}

static void test_event__two_writers_have_two_files(void **state) {
  (void)state;
  char *folder = new_folder();
  rheos_event_writer *a, *b;
  expect_ok(rheos_event_writer_open(folder, NULL, &a));
  expect_ok(rheos_event_writer_open(folder, NULL, &b));
  assert_string_not_equal(rheos_event_writer_path(a), rheos_event_writer_path(b));
  expect_ok(rheos_event_writer_close(a));
  expect_ok(rheos_event_writer_close(b));
  remove_folder(folder);
}

static void test_event__a_folder_has_one_writer(void **state) {
  (void)state;
  char *folder = new_folder(), *other = rheos__path_join(folder, "other");
  rheos_event_writer_cache *cache = rheos_event_writer_cache_new();
  rheos_graph *graph = rheos_graph_new();
  rheos_event_writer *first, *again, *elsewhere;
  expect_ok(rheos_event_writer_cache_get(cache, folder, graph, &first));
  expect_ok(rheos_event_writer_cache_get(cache, other, NULL, &elsewhere));
  expect_ok(rheos_event_writer_cache_get(cache, folder, graph, &again));
  assert_ptr_equal(first, again);
  assert_ptr_not_equal(first, elsewhere);
  expect_ok(rheos_event_writer_add_scalar(again, "loss", 0.5f, 7));
  char *paths[] = {rheos__strdup(rheos_event_writer_path(first)),
                   rheos__strdup(rheos_event_writer_path(elsewhere))};
  expect_ok(rheos_event_writer_cache_clear(cache));
  events e = read_events(paths[0]);
  assert_int_equal(e.count, 3);
  assert_int_equal(e.list[1]->what_case, TENSORFLOW__EVENT__WHAT_GRAPH_DEF);
  assert_string_equal(e.list[2]->summary->value[0]->tag, "loss");
  rheos__arena_deinit(&e.arena);
  e = read_events(paths[1]);
  assert_int_equal(e.count, 1);
  rheos__arena_deinit(&e.arena);
  // The next one writes a file of its own.
  expect_ok(rheos_event_writer_cache_get(cache, folder, NULL, &again));
  assert_string_not_equal(rheos_event_writer_path(again), paths[0]);
  expect_error(rheos_event_writer_cache_get(cache, paths[0], NULL, &first),
               RHEOS_FAILED_PRECONDITION, "");
  assert_null(first);
  rheos_event_writer_cache_free(cache);
  rheos_event_writer_cache_free(NULL);
  for (int i = 0; i < 2; i++) rheos__free(paths[i]);
  rheos_graph_unref(graph);
  remove_folder(other);
  remove_folder(folder);
}

static void test_event__messages_made_elsewhere_are_checked(void **state) {
  (void)state;
  char *folder = new_folder();
  rheos_event_writer *writer;
  expect_ok(rheos_event_writer_open(folder, NULL, &writer));
  // Summary { value { tag: "a" simple_value: 1 } }
  static const char summary[] =
      "\x0a\x08\x0a\x01"
      "a"
      "\x15\0\0\x80\x3f";
  expect_ok(rheos_event_writer_add_summary(writer, summary, 10, 3));
  expect_error(rheos_event_writer_add_summary(writer, summary, 9, 3), RHEOS_DATA_LOSS, "Summary");
  expect_error(rheos_event_writer_add_event(writer, "\xff", 1), RHEOS_DATA_LOSS, "Event");
  expect_ok(rheos_event_writer_flush(writer));
  events e = read_events(rheos_event_writer_path(writer));
  assert_int_equal(e.count, 2);
  assert_int_equal(e.list[1]->step, 3);
  assert_true(e.list[1]->summary->value[0]->simple_value == 1);
  rheos__arena_deinit(&e.arena);
  expect_ok(rheos_event_writer_close(writer));
  remove_folder(folder);
}

static void test_event__any_failing_call_is_an_error(void **state) {
  (void)state;
  char *folder = new_folder();
  for (int n = 0;; n++) {
    io_failure failure;
    fail_io_after(&failure, n, true);
    rheos_event_writer *writer;
    rheos_status *status = rheos_event_writer_open(folder, NULL, &writer);
    if (status == NULL) status = rheos_event_writer_add_scalar(writer, "a", 1, 1);
    rheos_status *closed = rheos_event_writer_close(writer);
    rheos__set_file_hook(NULL);
    assert_true(failure.has_failed == (status != NULL || closed != NULL));
    rheos_status_free(status);
    rheos_status_free(closed);
    if (!failure.has_failed) break;
  }
  remove_folder(folder);
}

// ---- The list of checkpoints

static char *file_text(const char *folder, const char *name) {
  char *path = rheos__path_join(folder, name);
  bytes b = read_bytes(path);
  rheos__free(path);
  return b.data;
}

static void test_checkpoint_state__comes_back(void **state) {
  (void)state;
  char *folder = new_folder(), *old = rheos__path_join(folder, "m-1");
  char *strange = rheos__path_join(folder, "a\"b\\c\n\xcf\x81-2");
  const char *all[] = {old, strange};
  expect_ok(rheos_checkpoint_state_write(folder, NULL, strange, all, 2));
  rheos_checkpoint_state s;
  expect_ok(rheos_checkpoint_state_read(folder, NULL, &s));
  assert_string_equal(s.model_checkpoint_path, strange);
  assert_int_equal(s.num_paths, 2);
  assert_string_equal(s.all_model_checkpoint_paths[0], old);
  assert_string_equal(s.all_model_checkpoint_paths[1], strange);
  rheos_checkpoint_state_deinit(&s);
  // The newest joins the list.
  expect_ok(rheos_checkpoint_state_write(folder, "latest", strange, all, 1));
  expect_ok(rheos_checkpoint_state_read(folder, "latest", &s));
  assert_int_equal(s.num_paths, 2);
  rheos_checkpoint_state_deinit(&s);
  rheos__free(old);
  rheos__free(strange);
  remove_folder(folder);
}

static void test_checkpoint_state__paths_in_the_folder_are_relative(void **state) {
  (void)state;
  char *folder = new_folder(), *here = getcwd(NULL, 0);
  assert_int_equal(chdir(folder), 0);
  assert_int_equal(mkdir("logs", 0777), 0);
  const char *all[] = {"logs/m-1", "/elsewhere/m-2", "other/m-3"};
  expect_ok(rheos_checkpoint_state_write("logs", NULL, all[2], all, 3));
  char *text = file_text("logs", "checkpoint");
  assert_non_null(strstr(text, "all_model_checkpoint_paths: \"m-1\"\n"));
  assert_non_null(strstr(text, "all_model_checkpoint_paths: \"/elsewhere/m-2\"\n"));
  // A relative path would be taken as one inside the folder.
  char *absolute = rheos__text_format("\"%s/other/m-3\"", folder);
  assert_non_null(strstr(text, absolute));
  rheos_checkpoint_state s;
  expect_ok(rheos_checkpoint_state_read("logs", NULL, &s));
  assert_string_equal(s.all_model_checkpoint_paths[0], "logs/m-1");
  rheos_checkpoint_state_deinit(&s);
  unlink("logs/checkpoint");
  assert_int_equal(chdir(here), 0);
  free(here);
  rheos__free(absolute);
  rheos__free(text);
  remove_folder(folder);
}

static void read_text(const char *folder, const char *text, rheos_code code) {
  char *path = rheos__path_join(folder, "checkpoint");
  write_bytes(path, text, strlen(text));
  rheos_checkpoint_state s;
  rheos_status *status = rheos_checkpoint_state_read(folder, NULL, &s);
  assert_int_equal(rheos_status_code(status), code);
  rheos_status_free(status);
  if (code == RHEOS_OK) {
    assert_string_equal(rheos__path_base(s.model_checkpoint_path), "model");
    rheos_checkpoint_state_deinit(&s);
  }
  rheos__free(path);
}

static void test_checkpoint_state__reads_text_freely(void **state) {
  (void)state;
  char *folder = new_folder();
  read_text(folder, "model_checkpoint_path: \"model\"\r\nlast_preserved_timestamp: 1.5e9\r\n",
            RHEOS_OK);
  read_text(folder, "# a comment\nmodel_checkpoint_path : 'mo' \"d\\145\\x6c\",", RHEOS_OK);
  read_text(folder, "model_checkpoint_path: \"model\" other: true", RHEOS_DATA_LOSS);
  read_text(folder, "model_checkpoint_path: \"model", RHEOS_DATA_LOSS);
  read_text(folder, "model_checkpoint_path: \"model\\q\"", RHEOS_DATA_LOSS);
  read_text(folder, "model_checkpoint_path", RHEOS_DATA_LOSS);
  read_text(folder, "model_checkpoint_path:", RHEOS_DATA_LOSS);
  read_text(folder, "\xff\xfe", RHEOS_DATA_LOSS);
  remove_folder(folder);
}

static void test_checkpoint_state__latest_is_one_that_exists(void **state) {
  (void)state;
  char *folder = new_folder(), *prefix = rheos__path_join(folder, "m-1"), *latest;
  expect_ok(rheos_latest_checkpoint(folder, NULL, &latest));
  assert_null(latest);
  expect_ok(rheos_checkpoint_state_write(folder, NULL, prefix, NULL, 0));
  expect_ok(rheos_latest_checkpoint(folder, NULL, &latest));
  assert_null(latest);
  char *index = rheos__text_format("%s.index", prefix);
  write_bytes(index, "", 0);
  expect_ok(rheos_latest_checkpoint(folder, NULL, &latest));
  assert_string_equal(latest, prefix);
  rheos__free(latest);
  rheos__free(index);
  rheos__free(prefix);
  remove_folder(folder);
}

// ---- Short memory

static rheos_status *write_everything(void *folder) {
  rheos_event_writer *writer;
  char *latest = NULL;
  rheos_status *status = rheos_event_writer_open(folder, NULL, &writer);
  if (status != NULL) return status;
  unlink(rheos_event_writer_path(writer));
  status = rheos_event_writer_add_scalar(writer, "a", 1, 1);
  rheos_status *closed = rheos_event_writer_close(writer);
  if (status == NULL)
    status = closed;
  else
    rheos_status_free(closed);
  if (status == NULL) status = rheos_checkpoint_state_write(folder, NULL, "m-1", NULL, 0);
  if (status == NULL) status = rheos_latest_checkpoint(folder, NULL, &latest);
  rheos_free(latest);
  return status;
}

static void test_event__any_allocation_may_fail(void **state) {
  (void)state;
  char *folder = new_folder();
  sweep_allocations(write_everything, folder);
  remove_folder(folder);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_record__comes_back),
      cmocka_unit_test(test_record__is_framed_as_tensorflow_does),
      cmocka_unit_test(test_record__damage_is_data_loss),
      cmocka_unit_test(test_event__file_holds_graph_and_scalars),
      cmocka_unit_test(test_event__summaries_of_a_graph_are_merged),
      cmocka_unit_test(test_event__two_writers_have_two_files),
      cmocka_unit_test(test_event__a_folder_has_one_writer),
      cmocka_unit_test(test_event__messages_made_elsewhere_are_checked),
      cmocka_unit_test(test_event__any_failing_call_is_an_error),
      cmocka_unit_test(test_event__any_allocation_may_fail),
      cmocka_unit_test(test_checkpoint_state__comes_back),
      cmocka_unit_test(test_checkpoint_state__paths_in_the_folder_are_relative),
      cmocka_unit_test(test_checkpoint_state__reads_text_freely),
      cmocka_unit_test(test_checkpoint_state__latest_is_one_that_exists),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
