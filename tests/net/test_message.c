// Messages with tensors go out as pieces and come in as chunks, cut anywhere.
#include "net/message.h"

#include <stdio.h>

#include "master.pb-c.h"
#include "ops/array_fixture.h"

static const rheos__message_form form = {
    .descriptor = &tensorflow__run_step_request__descriptor, .tensors = 2, .are_named = true};

// The bytes of the message, for free().
static char *bytes_of(rheos__message *message, size_t *out_size) {
  rheos__pieces pieces;
  char *bytes = NULL;
  *out_size = 0;
  check(rheos__message_pieces(message, &pieces));
  for (size_t i = 0; i < pieces.count; i++) {
    const rheos__piece *piece = &pieces.pieces[i];
    bytes = realloc(bytes, *out_size + piece->size_bytes);
    memcpy(bytes + *out_size, piece->data, piece->size_bytes);
    *out_size += piece->size_bytes;
    if (piece->release != NULL) piece->release(piece->owner);
  }
  rheos__message_deinit(message);
  return bytes;
}

static rheos_status *receive(const char *bytes, size_t size, size_t step,
                             rheos__received *received) {
  rheos__chunk *chunks = calloc(size / step + 1, sizeof *chunks);
  size_t count = 0;
  for (size_t at = 0; at < size; at += step) {
    chunks[count++] = (rheos__chunk){bytes + at, size - at < step ? size - at : step};
  }
  rheos_status *status = rheos__receive_message(&form, (rheos__chunks){chunks, count}, received);
  free(chunks);
  return status;
}

enum { NUM_TENSORS = 5, MANY = 3000 };

static void make_tensors(rheos_tensor **tensors) {
  static const float few[] = {1, 2, 3, 4, 5, 6};
  static const int64_t one = -7;
  check(rheos_tensor_from_values(RHEOS_FLOAT, RHEOS_SHAPE(2, 3), few, &tensors[0]));
  check(rheos_tensor_from_values(RHEOS_INT64, RHEOS_SCALAR, &one, &tensors[1]));
  check(rheos_tensor_new(RHEOS_FLOAT, RHEOS_SHAPE(0, 3), &tensors[2]));
  check(rheos_tensor_new(RHEOS_STRING, RHEOS_SHAPE(2), &tensors[3]));
  check(rheos_tensor_set_string(tensors[3], 1, "a\0b", 3));
  check(rheos_tensor_new(RHEOS_DOUBLE, RHEOS_SHAPE(MANY), &tensors[4]));
  for (int i = 0; i < MANY; i++) ((double *)rheos_tensor_data(tensors[4]))[i] = i;
}

static bool same(const rheos_tensor *a, const rheos_tensor *b) {
  if (a->dtype != b->dtype || !rheos_shape_equal(&a->shape, &b->shape)) return false;
  if (a->dtype != RHEOS_STRING) return memcmp(a->data, b->data, a->size_bytes) == 0;
  for (int64_t i = 0; i < a->num_elements; i++) {
    const rheos_string *x = &((const rheos_string *)a->data)[i];
    if (!rheos__string_equal(x, &((const rheos_string *)b->data)[i])) return false;
  }
  return true;
}

static char *make_message(rheos_tensor *const *tensors, size_t *out_size) {
  Tensorflow__RunStepRequest fields = TENSORFLOW__RUN_STEP_REQUEST__INIT;
  char *fetch = "y:0";
  rheos__message message = {0};
  fields.session_handle = "a session";
  fields.fetch = &fetch;
  fields.n_fetch = 1;
  for (int i = 0; i < NUM_TENSORS; i++) {
    char name[8];
    snprintf(name, sizeof name, "x%d:0", i);
    rheos__message_put_named(&message, 2, name, tensors[i]);
    if (i == 2) rheos__message_put(&message, &fields.base);
  }
  return bytes_of(&message, out_size);
}

static void test_message__comes_whole_however_it_is_cut(void **state) {
  (void)state;
  rheos_tensor *tensors[NUM_TENSORS];
  size_t size;
  make_tensors(tensors);
  char *bytes = make_message(tensors, &size);
  for (size_t step = 1; step <= 40; step++) {
    rheos__received received;
    check(receive(bytes, size, step < 40 ? step : size, &received));
    const Tensorflow__RunStepRequest *r = (const void *)received.message;
    assert_string_equal(r->session_handle, "a session");
    assert_int_equal(r->n_fetch, 1);
    assert_int_equal(received.num_tensors, NUM_TENSORS);
    for (int i = 0; i < NUM_TENSORS; i++) {
      char name[8];
      snprintf(name, sizeof name, "x%d:0", i);
      assert_string_equal(received.names[i], name);
      assert_true(same(received.tensors[i], tensors[i]));
    }
    rheos__received_deinit(&received);
  }
  for (int i = 0; i < NUM_TENSORS; i++) rheos_tensor_unref(tensors[i]);
  free(bytes);
}

static void test_message__cut_off_is_none(void **state) {
  (void)state;
  rheos_tensor *tensors[NUM_TENSORS];
  size_t size, num_refused = 0;
  make_tensors(tensors);
  char *bytes = make_message(tensors, &size);
  for (size_t kept = 1; kept < 300; kept++) {  // the end of a field is an end of a message too
    rheos__received received;
    rheos_status *status = receive(bytes, kept, 7, &received);
    if (status != NULL) {
      num_refused++;
      assert_int_equal(rheos_status_code(status), RHEOS_INVALID_ARGUMENT);
      assert_non_null(strstr(rheos_status_message(status), "RunStepRequest"));
    }
    rheos_status_free(status);
    rheos__received_deinit(&received);
  }
  assert_true(num_refused > 280);
  for (int i = 0; i < NUM_TENSORS; i++) rheos_tensor_unref(tensors[i]);
  free(bytes);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_message__comes_whole_however_it_is_cut),
      cmocka_unit_test(test_message__cut_off_is_none),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
