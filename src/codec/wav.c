// WAV files: "RIFF", the size of what follows, "WAVE", then chunks, each with a name, a size and
// its bytes; "fmt " comes first, "data" holds the samples.
#include "codec/wav.h"

#include <math.h>

enum { HEADER_BYTES = 44, FORMAT_BYTES = 16, LONG_FORMAT_BYTES = 18, SAMPLE_BYTES = 2, PCM = 1 };

// ---- Encoding

static void put_sample(rheos__buffer *buffer, float sample) {
  const float scaled = roundf(sample * 32768.0f);
  const int16_t value = (int16_t)(scaled < -32768.0f  ? -32768.0f
                                  : scaled > 32767.0f ? 32767.0f
                                  : isnan(scaled)     ? 0.0f
                                                      : scaled);
  rheos__buffer_put(buffer, &value, sizeof value);
}

rheos_status *rheos__wav_encode(const float *samples, int64_t frames, int64_t channels,
                                int64_t sample_rate, rheos__buffer *buffer) {
  if (sample_rate <= 0 || sample_rate > UINT32_MAX) {
    return RHEOS_INVALID("sample_rate must be in (0, 2^32), got: %lld", (long long)sample_rate);
  }
  if (channels <= 0 || channels > UINT16_MAX) {
    return RHEOS_INVALID("num_channels must be in (0, 2^16), got: %lld", (long long)channels);
  }
  if (frames < 0 || frames > (UINT32_MAX - HEADER_BYTES) / SAMPLE_BYTES / channels) {
    return RHEOS_INVALID("Provided channels and frames cannot be encoded as a WAV.");
  }
  const uint32_t data_bytes = (uint32_t)(frames * channels * SAMPLE_BYTES);
  const uint32_t frame_bytes = (uint32_t)(channels * SAMPLE_BYTES);
  const uint16_t formats[] = {PCM, (uint16_t)channels};
  const uint16_t sizes[] = {(uint16_t)frame_bytes, 8 * SAMPLE_BYTES};
  rheos__buffer_put(buffer, "RIFF", 4);
  rheos__buffer_put_32(buffer, data_bytes + HEADER_BYTES - 8);
  rheos__buffer_put(buffer, "WAVEfmt ", 8);
  rheos__buffer_put_32(buffer, FORMAT_BYTES);
  rheos__buffer_put(buffer, formats, sizeof formats);
  rheos__buffer_put_32(buffer, (uint32_t)sample_rate);
  rheos__buffer_put_32(buffer, (uint32_t)sample_rate * frame_bytes);
  rheos__buffer_put(buffer, sizes, sizeof sizes);
  rheos__buffer_put(buffer, "data", 4);
  rheos__buffer_put_32(buffer, data_bytes);
  for (int64_t i = 0; i < frames * channels && !buffer->failed; i++) {
    put_sample(buffer, samples[i]);
  }
  return buffer->failed ? rheos__out_of_memory() : NULL;
}

// ---- Decoding

typedef struct reader {
  const char *at, *end;
} reader;

static rheos_status *too_short(void) {
  return RHEOS_INVALID("Data too short when trying to read string");
}

static rheos_status *take(reader *r, void *to, size_t size_bytes) {
  if ((size_t)(r->end - r->at) < size_bytes) return too_short();
  memcpy(to, r->at, size_bytes);
  r->at += size_bytes;
  return NULL;
}

static rheos_status *expect_text(reader *r, const char *text) {
  char found[5] = {0};
  RHEOS_TRY(take(r, found, 4));
  if (memcmp(found, text, 4) == 0) return NULL;
  return RHEOS_INVALID("Header mismatch: Expected %s but found %s", text, found);
}

static rheos_status *check_format(uint16_t format, uint16_t channels, uint32_t sample_rate,
                                  uint32_t second_bytes, uint16_t frame_bytes, uint16_t bits) {
  if (format != PCM) {
    return RHEOS_INVALID("Bad audio format for WAV: Expected 1 (PCM), but got%d", format);
  }
  if (channels < 1) {
    return RHEOS_INVALID("Bad number of channels for WAV: Expected at least 1, but got %d",
                         channels);
  }
  if (bits != 8 * SAMPLE_BYTES) {
    return RHEOS_INVALID("Can only read 16-bit WAV files, but received %d", bits);
  }
  if (frame_bytes != SAMPLE_BYTES * (uint32_t)channels) {
    return RHEOS_INVALID("Bad bytes per sample in WAV header: Expected %d but got %d",
                         SAMPLE_BYTES * channels, frame_bytes);
  }
  const uint64_t expected = (uint64_t)frame_bytes * sample_rate;
  // The field has 32 bits, so it holds what is left of a rate that is beyond them.
  if (second_bytes == (uint32_t)expected) return NULL;
  return RHEOS_INVALID(
      "Bad bytes per second in WAV header: Expected %llu but got %u "
      "(sample_rate=%u, bytes_per_sample=%d)",
      (unsigned long long)expected, second_bytes, sample_rate, frame_bytes);
}

static rheos_status *read_format(reader *r, rheos__wav *wav) {
  uint32_t file_bytes, format_bytes = 0, second_bytes = 0;
  uint16_t format = 0, channels = 0, frame_bytes = 0, bits = 0, unused;
  RHEOS_TRY(expect_text(r, "RIFF"));
  RHEOS_TRY(take(r, &file_bytes, 4));
  RHEOS_TRY(expect_text(r, "WAVE"));
  RHEOS_TRY(expect_text(r, "fmt "));
  RHEOS_TRY(take(r, &format_bytes, 4));
  if (format_bytes != FORMAT_BYTES && format_bytes != LONG_FORMAT_BYTES) {
    return RHEOS_INVALID("Bad file size for WAV: Expected 16 or 18, but got%u", format_bytes);
  }
  RHEOS_TRY(take(r, &format, 2));
  RHEOS_TRY(take(r, &channels, 2));
  RHEOS_TRY(take(r, &wav->sample_rate, 4));
  RHEOS_TRY(take(r, &second_bytes, 4));
  RHEOS_TRY(take(r, &frame_bytes, 2));
  RHEOS_TRY(take(r, &bits, 2));
  RHEOS_TRY(check_format(format, channels, wav->sample_rate, second_bytes, frame_bytes, bits));
  wav->channels = channels;
  return format_bytes == LONG_FORMAT_BYTES ? take(r, &unused, 2) : NULL;
}

// What is behind the last whole frame of the samples is read as the next chunk, as in TensorFlow.
static rheos_status *read_chunk(reader *r, rheos__wav *wav) {
  char name[5] = {0};
  uint32_t size_bytes = 0;
  RHEOS_TRY(take(r, name, 4));
  RHEOS_TRY(take(r, &size_bytes, 4));
  const size_t left = (size_t)(r->end - r->at);
  if (size_bytes > INT32_MAX) {
    return RHEOS_INVALID("WAV data chunk '%s' is too large: %u bytes, but the limit is %d", name,
                         size_bytes, INT32_MAX);
  }
  if (memcmp(name, "data", 4) != 0) {
    r->at += size_bytes < left ? size_bytes : left;
    return NULL;
  }
  if (wav->samples != NULL) return RHEOS_INVALID("More than one data chunk found in WAV");
  const size_t frame_bytes = (size_t)wav->channels * SAMPLE_BYTES;
  wav->frames = (int64_t)(size_bytes / frame_bytes);
  if ((size_t)wav->frames * frame_bytes > left) return too_short();
  wav->samples = r->at;
  r->at += (size_t)wav->frames * frame_bytes;
  return NULL;
}

rheos_status *rheos__wav_decode(const void *data, size_t size_bytes, rheos__wav *out_wav) {
  *out_wav = (rheos__wav){0};
  reader r = {.at = size_bytes > 0 ? data : ""};
  r.end = r.at + size_bytes;
  RHEOS_TRY(read_format(&r, out_wav));
  while (r.at < r.end) RHEOS_TRY(read_chunk(&r, out_wav));
  return out_wav->samples != NULL ? NULL : RHEOS_INVALID("No data chunk found in WAV");
}
