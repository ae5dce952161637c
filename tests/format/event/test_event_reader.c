// Event files written and read again: every kind of event and of summary, damage, short memory.
#include <rheos/events.h>
#include <rheos/tensor.h>

#include "format/format_support.h"

static rheos_tensor *tensor_of(rheos_dtype dtype, rheos_shape shape, const void *values) {
  rheos_tensor *tensor;
  expect_ok(rheos_tensor_from_values(dtype, shape, values, &tensor));
  return tensor;
}

// Writes one of each; the path is the caller's.
static char *write_file(const char *folder) {
  const float numbers[] = {-1, 0.5f, 2, 2};
  rheos_tensor *vector = tensor_of(RHEOS_FLOAT, RHEOS_SHAPE(4), numbers);
  rheos_tensor *scalar = tensor_of(RHEOS_DOUBLE, RHEOS_SCALAR, &(double){2.5});
  rheos_tensor *sound = tensor_of(RHEOS_FLOAT, RHEOS_SHAPE(1, 4), numbers);
  rheos_event_writer *w;
  expect_ok(rheos_event_writer_open(folder, NULL, &w));
  expect_ok(rheos_event_writer_add_scalar(w, "loss", 0.25f, 3));
  char long_tag[301];
  memset(long_tag, 't', 300);
  long_tag[300] = '\0';
  expect_ok(rheos_event_writer_add_scalar(w, long_tag, 0, 0));
  expect_ok(rheos_event_writer_add_histogram(w, "weights", vector, 4));
  expect_ok(rheos_event_writer_add_audio(w, "noise", sound, 44100, 1, 5));
  expect_ok(rheos_event_writer_add_text(w, "note", "*words*", 6));
  expect_ok(rheos_event_writer_add_tensor(w, "accuracy", scalar, "scalars", 7));
  expect_ok(rheos_event_writer_add_graph_def(w, "graph", 5, 8));
  expect_ok(rheos_event_writer_add_run_metadata(w, "step_9", "meta", 4, 9));
  expect_ok(rheos_event_writer_add_meta_graph(w, "metagraph", 9, 10));
  expect_ok(rheos_event_writer_add_session_log(w, RHEOS_SESSION_CHECKPOINT, "model-1", NULL, 11));
  rheos_tensor *text;
  expect_ok(rheos_tensor_new(RHEOS_STRING, RHEOS_SCALAR, &text));
  expect_error(rheos_event_writer_add_histogram(w, "h", text, 0), RHEOS_INVALID_ARGUMENT,
               "histogram cannot be made of string");
  expect_error(rheos_event_writer_add_images(w, "i", text, 1, 0), RHEOS_INVALID_ARGUMENT,
               "image cannot be made of string");
  expect_error(rheos_event_writer_add_images(w, "i", vector, 1, 0), RHEOS_INVALID_ARGUMENT, "4-D");
  expect_error(rheos_event_writer_add_audio(w, "a", text, 1, 1, 0), RHEOS_INVALID_ARGUMENT,
               "sound cannot be made of string");
  rheos_tensor_unref(text);
  char *path = rheos__strdup(rheos_event_writer_path(w));
  expect_ok(rheos_event_writer_close(w));
  rheos_tensor_unref(vector);
  rheos_tensor_unref(scalar);
  rheos_tensor_unref(sound);
  return path;
}

static rheos_event next_of(rheos_event_reader *reader, rheos_event_kind kind, int64_t step) {
  rheos_event event;
  expect_ok(rheos_event_reader_next(reader, &event));
  assert_int_equal(event.kind, kind);
  assert_int_equal(event.step, step);
  assert_true(event.wall_time > 1.5e9);
  return event;
}

static void expect_content(const rheos_event *event, const char *content, size_t size_bytes) {
  assert_int_equal(event->content_bytes, size_bytes);
  assert_memory_equal(event->content, content, size_bytes);
}

static const rheos_summary_value *next_value(rheos_event_reader *reader, const char *tag,
                                             rheos_summary_kind kind, int64_t step) {
  next_of(reader, RHEOS_EVENT_SUMMARY, step);
  const rheos_summary_value *values;
  size_t count;
  expect_ok(rheos_event_reader_values(reader, &values, &count));
  assert_int_equal(count, 1);
  assert_string_equal(values->tag, tag);
  assert_int_equal(values->kind, kind);
  return values;
}

static void test_event_reader__gives_what_was_written(void **state) {
  (void)state;
  char *folder = new_folder(), *path = write_file(folder);
  rheos_event_reader *reader;
  expect_ok(rheos_event_reader_open(path, &reader));
  rheos_event event = next_of(reader, RHEOS_EVENT_FILE_VERSION, 0);
  expect_content(&event, "brain.Event:2", 13);
  const rheos_summary_value *value;
  size_t count = 1;
  expect_ok(rheos_event_reader_values(reader, &value, &count));
  assert_int_equal(count, 0);
  assert_true(next_value(reader, "loss", RHEOS_SUMMARY_SCALAR, 3)->scalar == 0.25);
  next_of(reader, RHEOS_EVENT_SUMMARY, 0);
  value = next_value(reader, "weights", RHEOS_SUMMARY_HISTOGRAM, 4);
  assert_true(value->histogram.min == -1 && value->histogram.max == 2);
  assert_true(value->histogram.num == 4 && value->histogram.sum == 3.5);
  assert_true(value->histogram.sum_squares == 9.25);
  double total = 0;
  for (size_t i = 0; i < value->histogram.num_buckets; i++) total += value->histogram.buckets[i];
  assert_true(total == 4);
  value = next_value(reader, "noise/audio", RHEOS_SUMMARY_AUDIO, 5);
  assert_true(value->audio.sample_rate == 44100 && value->audio.num_frames == 4);
  assert_string_equal(value->audio.content_type, "audio/wav");
  assert_memory_equal(value->audio.encoded, "RIFF", 4);
  value = next_value(reader, "note", RHEOS_SUMMARY_TENSOR, 6);
  assert_string_equal(value->plugin_name, "text");
  rheos_tensor *tensor;
  expect_ok(rheos_summary_value_tensor(value, &tensor));
  assert_memory_equal(((rheos_string *)rheos_tensor_data(tensor))->data, "*words*", 7);
  rheos_tensor_unref(tensor);
  value = next_value(reader, "accuracy", RHEOS_SUMMARY_TENSOR, 7);
  assert_string_equal(value->plugin_name, "scalars");
  assert_true(value->scalar == 2.5);
  event = next_of(reader, RHEOS_EVENT_GRAPH_DEF, 8);
  expect_content(&event, "graph", 5);
  event = next_of(reader, RHEOS_EVENT_TAGGED_RUN_METADATA, 9);
  expect_content(&event, "\x0a\x06step_9\x12\x04meta", 14);
  event = next_of(reader, RHEOS_EVENT_META_GRAPH_DEF, 10);
  expect_content(&event, "metagraph", 9);
  event = next_of(reader, RHEOS_EVENT_SESSION_LOG, 11);
  expect_content(&event, "\x08\x03\x12\x07model-1", 11);
  expect_error(rheos_event_reader_next(reader, &event), RHEOS_OUT_OF_RANGE, "no more");
  rheos_event_reader_close(reader);
  rheos_event_reader_close(NULL);
  rheos__free(path);
  remove_folder(folder);
}

static void test_event_reader__gives_images(void **state) {
  (void)state;
  char *folder = new_folder();
  rheos_event_writer *w;
  expect_ok(rheos_event_writer_open(folder, NULL, &w));
  rheos_tensor *images = tensor_of(RHEOS_UINT8, RHEOS_SHAPE(2, 1, 2, 1), (uint8_t[]){1, 2, 3, 4});
  rheos_status *status = rheos_event_writer_add_images(w, "i", images, 2, 1);
  rheos_tensor_unref(images);
  if (rheos_status_code(status) == RHEOS_UNIMPLEMENTED) {
    rheos_status_free(status);
    expect_ok(rheos_event_writer_close(w));
    remove_folder(folder);
    skip();  // built without PNG
  }
  expect_ok(status);
  expect_ok(rheos_event_writer_flush(w));
  rheos_event_reader *reader;
  expect_ok(rheos_event_reader_open(rheos_event_writer_path(w), &reader));
  next_of(reader, RHEOS_EVENT_FILE_VERSION, 0);
  next_of(reader, RHEOS_EVENT_SUMMARY, 1);
  const rheos_summary_value *values;
  size_t count;
  expect_ok(rheos_event_reader_values(reader, &values, &count));
  assert_int_equal(count, 2);
  assert_string_equal(values[1].tag, "i/image/1");
  assert_int_equal(values[1].image.width, 2);
  assert_int_equal(values[1].image.channels, 1);
  assert_memory_equal(values[1].image.encoded, "\x89PNG", 4);
  rheos_event_reader_close(reader);
  expect_ok(rheos_event_writer_close(w));
  remove_folder(folder);
}

static rheos_status *read_file(void *path) {
  rheos_event_reader *reader;
  RHEOS_TRY(rheos_event_reader_open(path, &reader));
  rheos_status *status = NULL;
  while (status == NULL) {
    rheos_event event;
    const rheos_summary_value *values;
    size_t count = 0;
    status = rheos_event_reader_next(reader, &event);
    if (status == NULL) status = rheos_event_reader_values(reader, &values, &count);
    for (size_t i = 0; status == NULL && i < count; i++) {
      if (values[i].kind != RHEOS_SUMMARY_TENSOR) continue;
      rheos_tensor *tensor;
      status = rheos_summary_value_tensor(&values[i], &tensor);
      rheos_tensor_unref(tensor);
    }
  }
  rheos_event_reader_close(reader);
  if (rheos_status_code(status) != RHEOS_OUT_OF_RANGE) return status;
  rheos_status_free(status);
  return NULL;
}

static void test_event_reader__survives_damage_and_short_memory(void **state) {
  (void)state;
  char *folder = new_folder(), *path = write_file(folder);
  sweep_allocations(read_file, path);
  bytes b = read_bytes(path);
  for (size_t size = 0; size < b.size_bytes; size++) {
    write_bytes(path, b.data, size);
    rheos_status *status = read_file(path);
    if (status != NULL) assert_int_equal(rheos_status_code(status), RHEOS_DATA_LOSS);
    rheos_status_free(status);
  }
  rheos__free(b.data);
  rheos__free(path);
  remove_folder(folder);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_event_reader__gives_what_was_written),
      cmocka_unit_test(test_event_reader__gives_images),
      cmocka_unit_test(test_event_reader__survives_damage_and_short_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
