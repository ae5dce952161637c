// The event file of tests/golden/make_events.py, written again from C: the same bytes but for the
// times, the name of the writing program, and how pictures are compressed.
#include <math.h>
#include <rheos/events.h>
#include <rheos/tensor.h>

#include "codec/image.h"
#include "format/format_support.h"

static char *golden_path(void) {
  return rheos__text_format("%s/tests/golden/events/all.tfevents", RHEOS_SOURCE_DIR);
}

static void add_histogram(rheos_event_writer *writer, const char *tag, rheos_dtype dtype,
                          rheos_shape shape, const void *values, int64_t step) {
  rheos_tensor *tensor;
  expect_ok(rheos_tensor_from_values(dtype, shape, values, &tensor));
  expect_ok(rheos_event_writer_add_histogram(writer, tag, tensor, step));
  rheos_tensor_unref(tensor);
}

// Two pictures of 2 by 3: 0, 5, 10, ...
static void add_pictures(rheos_event_writer *writer, const char *tag, rheos_dtype dtype,
                         int64_t channels, int64_t max_images, int64_t step) {
  rheos_tensor *tensor;
  expect_ok(rheos_tensor_new(dtype, RHEOS_SHAPE(2, 2, 3, channels), &tensor));
  for (int64_t i = 0; i < 12 * channels; i++) {
    const uint8_t value = (uint8_t)(i * 5);
    if (dtype == RHEOS_UINT8)
      ((uint8_t *)rheos_tensor_data(tensor))[i] = value;
    else
      ((float *)rheos_tensor_data(tensor))[i] = (float)value / 64.0f - 0.5f;
  }
  expect_ok(rheos_event_writer_add_images(writer, tag, tensor, max_images, step));
  rheos_tensor_unref(tensor);
}

// Two sounds of 4 frames from -1 to 1.
static void add_sound(rheos_event_writer *writer, const char *tag, rheos_shape shape, float rate,
                      int64_t max_sounds, int64_t step) {
  rheos_tensor *tensor;
  expect_ok(rheos_tensor_new(RHEOS_FLOAT, shape, &tensor));
  const int64_t last = rheos_tensor_num_elements(tensor) - 1;
  for (int64_t i = 0; i <= last; i++) {
    ((float *)rheos_tensor_data(tensor))[i] = (float)(-1 + (double)i * (2.0 / (double)last));
  }
  expect_ok(rheos_event_writer_add_audio(writer, tag, tensor, rate, max_sounds, step));
  rheos_tensor_unref(tensor);
}

static void add_summaries(rheos_event_writer *w) {
  expect_ok(rheos_event_writer_add_scalar(w, "scalar", 0.5f, 0));
  expect_ok(rheos_event_writer_add_scalar(w, "infinite", -INFINITY, 1));
  expect_ok(rheos_event_writer_add_scalar(w, "not_a_number", NAN, 2));
  add_histogram(w, "floats", RHEOS_FLOAT, RHEOS_SHAPE(7),
                (float[]){-2.5f, -1e-3f, 0, 0.25f, 0.5f, 7, 1e9f}, 3);
  int64_t ints[25];
  for (int i = 0; i < 25; i++) ints[i] = i - 5;
  add_histogram(w, "ints", RHEOS_INT64, RHEOS_SHAPE(25), ints, 4);
  add_histogram(w, "same", RHEOS_DOUBLE, RHEOS_SHAPE(3, 3), (double[]){1, 1, 1, 1, 1, 1, 1, 1, 1},
                5);
  add_pictures(w, "grey", RHEOS_UINT8, 1, 3, 6);
  add_pictures(w, "colour", RHEOS_UINT8, 3, 1, 7);
  add_pictures(w, "clear", RHEOS_UINT8, 4, 3, 8);
  add_pictures(w, "float", RHEOS_FLOAT, 3, 3, 9);
  add_sound(w, "mono", RHEOS_SHAPE(2, 4), 8000, 3, 10);
  add_sound(w, "stereo", RHEOS_SHAPE(2, 4, 2), 44100, 1, 11);
  expect_ok(rheos_event_writer_add_text(w, "text", "*one* \u03c1", 12));
  rheos_tensor *matrix, *words;
  expect_ok(
      rheos_tensor_from_values(RHEOS_FLOAT, RHEOS_SHAPE(2, 2), (float[]){1, 2, 3, 4}, &matrix));
  expect_ok(rheos_tensor_new(RHEOS_STRING, RHEOS_SHAPE(3), &words));
  expect_ok(rheos_tensor_set_string(words, 0, "a", 1));
  expect_ok(rheos_tensor_set_string(words, 2, "b c", 3));
  expect_ok(rheos_event_writer_add_tensor(w, "matrix", matrix, NULL, 13));
  expect_ok(rheos_event_writer_add_tensor(w, "words", words, NULL, 14));
  rheos_tensor_unref(matrix);
  rheos_tensor_unref(words);
}

// ---- All events of a file

enum { MAX_EVENTS = 32 };

typedef struct recorded_event {
  rheos_event_kind kind;
  int64_t step;
  bytes content;
} recorded_event;

typedef struct recorded_events {
  recorded_event list[MAX_EVENTS];
  size_t count;
} recorded_events;

static void read_all(const char *path, recorded_events *out_events) {
  rheos_event_reader *reader;
  rheos_event event;
  rheos_status *status;
  expect_ok(rheos_event_reader_open(path, &reader));
  out_events->count = 0;
  while ((status = rheos_event_reader_next(reader, &event)) == NULL) {
    assert_true(out_events->count < MAX_EVENTS);
    bytes content = {malloc(event.content_bytes + 1), event.content_bytes};
    memcpy(content.data, event.content, event.content_bytes);
    out_events->list[out_events->count++] = (recorded_event){event.kind, event.step, content};
  }
  expect_error(status, RHEOS_OUT_OF_RANGE, "no more");
  rheos_event_reader_close(reader);
}

static void free_all(recorded_events *events) {
  for (size_t i = 0; i < events->count; i++) free(events->list[i].content.data);
}

// What programs have as messages is taken from the recorded file; all else is made anew.
static void add_all(rheos_event_writer *w, const recorded_events *expected) {
  const recorded_event *graph = &expected->list[1], *meta_graph = &expected->list[2],
                       *again = &expected->list[18], *tagged = &expected->list[19];
  expect_ok(rheos_event_writer_add_graph_def(w, graph->content.data, graph->content.size_bytes, 0));
  expect_ok(rheos_event_writer_add_meta_graph(w, meta_graph->content.data,
                                              meta_graph->content.size_bytes, 0));
  add_summaries(w);
  expect_ok(rheos_event_writer_add_summary(w, again->content.data, again->content.size_bytes,
                                           INT64_C(1) << 40));
  // The message starts with the tag: field 1, "a step", then field 2.
  assert_memory_equal(tagged->content.data,
                      "\x0a\x06"
                      "a step\x12",
                      9);
  expect_ok(rheos_event_writer_add_run_metadata(w, "a step", tagged->content.data + 10,
                                                tagged->content.size_bytes - 10, 21));
  expect_ok(rheos_event_writer_add_session_log(w, RHEOS_SESSION_START, NULL, NULL, 22));
  expect_ok(rheos_event_writer_add_session_log(w, RHEOS_SESSION_CHECKPOINT, "/model-23", NULL, 23));
  expect_ok(rheos_event_writer_add_session_log(w, RHEOS_SESSION_STOP, NULL, "the end", 24));
}

static void expect_same_picture(const rheos_summary_value *got,
                                const rheos_summary_value *expected) {
  assert_string_equal(got->tag, expected->tag);
  assert_int_equal(got->kind, expected->kind);
  assert_int_equal(got->image.height, expected->image.height);
  assert_int_equal(got->image.width, expected->image.width);
  assert_int_equal(got->image.channels, expected->image.channels);
  rheos_tensor *pixels, *expected_pixels;
  expect_ok(
      rheos__png_decode(got->image.encoded, got->image.encoded_bytes, 0, RHEOS_UINT8, &pixels));
  expect_ok(rheos__png_decode(expected->image.encoded, expected->image.encoded_bytes, 0,
                              RHEOS_UINT8, &expected_pixels));
  assert_true(rheos_shape_equal(rheos_tensor_shape(pixels), rheos_tensor_shape(expected_pixels)));
  assert_memory_equal(rheos_tensor_data(pixels), rheos_tensor_data(expected_pixels),
                      rheos_tensor_size_bytes(pixels));
  rheos_tensor_unref(pixels);
  rheos_tensor_unref(expected_pixels);
}

// Of the events that hold pictures the pixels, as libraries compress in ways of their own.
static size_t expect_same_pictures(const char *path, const char *expected_path) {
  rheos_event_reader *reader, *expected_reader;
  rheos_event event;
  rheos_status *status;
  size_t pictures = 0;
  expect_ok(rheos_event_reader_open(path, &reader));
  expect_ok(rheos_event_reader_open(expected_path, &expected_reader));
  while ((status = rheos_event_reader_next(reader, &event)) == NULL) {
    const rheos_summary_value *values, *expected;
    size_t count, expected_count;
    expect_ok(rheos_event_reader_next(expected_reader, &event));
    expect_ok(rheos_event_reader_values(reader, &values, &count));
    expect_ok(rheos_event_reader_values(expected_reader, &expected, &expected_count));
    assert_int_equal(count, expected_count);
    for (size_t i = 0; i < count; i++) {
      if (expected[i].kind != RHEOS_SUMMARY_IMAGE) continue;
      expect_same_picture(&values[i], &expected[i]);
      pictures++;
    }
  }
  expect_error(status, RHEOS_OUT_OF_RANGE, "no more");
  rheos_event_reader_close(reader);
  rheos_event_reader_close(expected_reader);
  return pictures;
}

static bool has_pictures(const recorded_event *event) {
  return event->kind == RHEOS_EVENT_SUMMARY && event->step >= 6 && event->step <= 9;
}

static void test_event_golden__is_written_again(void **state) {
  (void)state;
#ifndef RHEOS_WITH_IMAGES
  skip();
#endif
  char *golden = golden_path(), *folder = new_folder();
  recorded_events expected, got;
  read_all(golden, &expected);
  rheos_event_writer *writer;
  expect_ok(rheos_event_writer_open(folder, NULL, &writer));
  add_all(writer, &expected);
  expect_ok(rheos_event_writer_flush(writer));
  read_all(rheos_event_writer_path(writer), &got);
  assert_int_equal(got.count, expected.count);
  for (size_t i = 0; i < got.count; i++) {
    const recorded_event *a = &got.list[i], *b = &expected.list[i];
    assert_int_equal(a->kind, b->kind);
    assert_int_equal(a->step, b->step);
    if (has_pictures(b)) continue;
    assert_int_equal(a->content.size_bytes, b->content.size_bytes);
    assert_memory_equal(a->content.data, b->content.data, b->content.size_bytes);
  }
  assert_int_equal(expect_same_pictures(rheos_event_writer_path(writer), golden), 7);
  expect_ok(rheos_event_writer_close(writer));
  free_all(&expected);
  free_all(&got);
  rheos__free(golden);
  remove_folder(folder);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_event_golden__is_written_again),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
