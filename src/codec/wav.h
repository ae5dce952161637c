// Sound as WAV files of 16 bits a sample, the one kind that TensorFlow reads and writes.
#ifndef RHEOS_SRC_CODEC_WAV_H
#define RHEOS_SRC_CODEC_WAV_H

#include "codec/buffer.h"

// Appends the file of `samples`, [frames, channels] with values from -1 to 1 (what is outside is
// clipped). RHEOS_INVALID_ARGUMENT for what such a file cannot hold.
rheos_status *rheos__wav_encode(const float *samples, int64_t frames, int64_t channels,
                                int64_t sample_rate, rheos__buffer *buffer);

// What is in a file: the samples stay in its bytes.
typedef struct rheos__wav {
  int64_t frames, channels;
  uint32_t sample_rate;
  const char *samples;  // int16 each, little-endian, not aligned
} rheos__wav;

// Takes chunks other than the format and the samples for what they are: skipped.
rheos_status *rheos__wav_decode(const void *data, size_t size_bytes, rheos__wav *out_wav);

static inline float rheos__wav_sample(const rheos__wav *wav, int64_t frame, int64_t channel) {
  int16_t sample;
  memcpy(&sample, wav->samples + (frame * wav->channels + channel) * (int64_t)sizeof sample,
         sizeof sample);
  return (float)sample * (1.0f / 32768.0f);
}

#endif  // RHEOS_SRC_CODEC_WAV_H
