// WAV files: what is written comes back, and files that are cut or lie do no harm.
#include "codec/wav.h"
#include "format/format_support.h"

static void test_wav__what_is_written_comes_back(void **state) {
  (void)state;
  const float samples[] = {0, 0.5f, -1, 1, 0.25f, -2};
  const float expected[] = {0, 0.5f, -1, 32767.0f / 32768.0f, 0.25f, -1};
  rheos__buffer file = {0};
  expect_ok(rheos__wav_encode(samples, 2, 3, 44100, &file));
  assert_int_equal(file.size_bytes, 44 + 12);
  rheos__wav wav;
  expect_ok(rheos__wav_decode(file.data, file.size_bytes, &wav));
  assert_int_equal(wav.frames, 2);
  assert_int_equal(wav.channels, 3);
  assert_int_equal(wav.sample_rate, 44100);
  for (int i = 0; i < 6; i++) assert_true(rheos__wav_sample(&wav, i / 3, i % 3) == expected[i]);
  rheos__buffer_deinit(&file);
}

static void test_wav__what_does_not_fit_is_refused(void **state) {
  (void)state;
  rheos__buffer file = {0};
  const float sample = 0;
  expect_error(rheos__wav_encode(&sample, 1, 1, (int64_t)1 << 32, &file), RHEOS_INVALID_ARGUMENT,
               "sample_rate must be in (0, 2^32)");
  expect_error(rheos__wav_encode(&sample, 1, 1 << 16, 1, &file), RHEOS_INVALID_ARGUMENT,
               "num_channels must be in (0, 2^16), got: 65536");
  expect_error(rheos__wav_encode(&sample, (int64_t)1 << 31, 1, 1, &file), RHEOS_INVALID_ARGUMENT,
               "cannot be encoded as a WAV");
  assert_int_equal(file.size_bytes, 0);
}

static void test_wav__cut_and_lying_files_are_refused(void **state) {
  (void)state;
  const float samples[8] = {0};
  rheos__buffer file = {0};
  rheos__wav wav;
  expect_ok(rheos__wav_encode(samples, 4, 2, 8000, &file));
  for (size_t size = 0; size < file.size_bytes; size++) {
    char *cut = rheos__alloc(size);  // of exactly that size, so that reading beyond is noticed
    memcpy(cut, file.data, size);
    rheos_status *status = rheos__wav_decode(cut, size, &wav);
    assert_int_equal(rheos_status_code(status), RHEOS_INVALID_ARGUMENT);
    rheos_status_free(status);
    rheos__free(cut);
  }
  for (size_t at = 0; at < file.size_bytes; at++) {
    for (int bit = 0; bit < 8; bit++) {
      file.data[at] ^= (char)(1 << bit);
      rheos_status *status = rheos__wav_decode(file.data, file.size_bytes, &wav);
      if (status == NULL) assert_true(wav.frames * wav.channels <= 8);
      rheos_status_free(status);
      file.data[at] ^= (char)(1 << bit);
    }
  }
  rheos__buffer_deinit(&file);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_wav__what_is_written_comes_back),
      cmocka_unit_test(test_wav__what_does_not_fit_is_refused),
      cmocka_unit_test(test_wav__cut_and_lying_files_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
