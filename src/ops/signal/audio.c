// Sounds: as summaries, and as WAV files.
#include <math.h>
#include <string.h>

#include "codec/wav.h"
#include "ops/io/summary.h"
#include "ops/kit/op_util.h"
#include "ops/kit/string_util.h"

// ---- AudioSummary, AudioSummaryV2

typedef struct audio_state {
  int64_t max_outputs;
  float sample_rate;  // of the first version
} audio_state;

static rheos_status *check_audio(const rheos_tensor *tensor, float sample_rate) {
  if (tensor->shape.rank != 2 && tensor->shape.rank != 3) {
    rheos__shape_text text;
    return RHEOS_INVALID("Tensor must be 3-D or 2-D, got: %s",
                         rheos__shape_text_of(&tensor->shape, &text));
  }
  if (sample_rate > 0 && sample_rate < 4294967040.0f) return NULL;
  return RHEOS_INVALID("sample_rate must be positive, got %g", (double)sample_rate);
}

// Appends the value of one of the sounds.
static rheos_status *put_sound(rheos__buffer *summary, const rheos_string *tag,
                               const rheos_tensor *sounds, int64_t index, int64_t max_outputs,
                               float sample_rate) {
  const int64_t frames = sounds->shape.dims[1];
  const int64_t channels = sounds->shape.rank == 3 ? sounds->shape.dims[2] : 1;
  rheos__buffer value = {0}, audio = {0}, wav = {0};
  const int64_t hertz = llrintf(sample_rate);  // a file has whole ones, one at least
  rheos_status *status = rheos__wav_encode((const float *)sounds->data + index * frames * channels,
                                           frames, channels, hertz > 0 ? hertz : 1, &wav);
  if (status != NULL) {
    rheos__buffer_deinit(&wav);
    return status;
  }
  rheos__put_media_tag(&value, tag, "/audio", index, max_outputs);
  rheos__wire_put_float(&audio, 1, sample_rate);
  rheos__wire_put_varint(&audio, 2, (uint64_t)channels);
  if (frames > 0) rheos__wire_put_varint(&audio, 3, (uint64_t)frames);  // a 0 is left out
  rheos__wire_put_message(&audio, 4, &wav);
  rheos__wire_put_bytes(&audio, 5, "audio/wav", 9);
  rheos__wire_put_message(&value, RHEOS__VALUE_AUDIO, &audio);
  rheos__wire_put_message(summary, RHEOS__SUMMARY_VALUE, &value);
  return NULL;
}

rheos_status *rheos__put_sounds(const rheos_string *tag, const rheos_tensor *sounds,
                                float sample_rate, int64_t max_sounds, rheos__buffer *summary) {
  RHEOS_TRY(check_audio(sounds, sample_rate));
  const int64_t batch = sounds->shape.dims[0];
  const int64_t count = batch < max_sounds ? batch : max_sounds;
  for (int64_t i = 0; i < count; i++) {
    RHEOS_TRY(put_sound(summary, tag, sounds, i, max_sounds, sample_rate));
  }
  return NULL;
}

static rheos_status *summarize_audio(const audio_state *state, float sample_rate,
                                     rheos_tensor *const *inputs, rheos_tensor **outputs) {
  const rheos_string *tag;
  RHEOS_TRY(rheos__string_scalar(inputs[0], "tag", &tag));
  rheos__buffer summary = {0};
  rheos_status *status =
      rheos__put_sounds(tag, inputs[1], sample_rate, state->max_outputs, &summary);
  if (status == NULL) return rheos__give_summary(&summary, &outputs[0]);
  rheos__buffer_deinit(&summary);
  return status;
}

static rheos_status *compute_audio(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                   rheos_tensor **outputs) {
  (void)step;
  return summarize_audio(state, ((const audio_state *)state)->sample_rate, inputs, outputs);
}

static rheos_status *compute_audio_v2(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                      rheos_tensor **outputs) {
  (void)step;
  if (inputs[2]->num_elements != 1) return RHEOS_INVALID("sample_rate must be a scalar");
  return summarize_audio(state, *(const float *)inputs[2]->data, inputs, outputs);
}

static rheos_status *prepare_audio(rheos__prepare *p) {
  audio_state *state = RHEOS_NEW_STATE(p, audio_state);
  if (state == NULL) return rheos__out_of_memory();
  state->max_outputs = rheos__attr_int(p->attrs, "max_outputs");
  if (p->num_inputs == 2) state->sample_rate = rheos__attr_float(p->attrs, "sample_rate");
  p->compute = p->num_inputs == 2 ? compute_audio : compute_audio_v2;
  return NULL;
}

const rheos__op_def rheos__op_AudioSummary = {
    .name = "AudioSummary",
    .signature =
        "tag: string, tensor: float -> summary: string; sample_rate: float; "
        "max_outputs: int >= 1 = 3",
    .doc =
        "A summary of up to `max_outputs` pieces of sound [batch, frames, channels], each between "
        "-1 "
        "and 1.",
    .shape = rheos__shape_scalar,
    .gradient = rheos__no_gradient,
    .prepare = prepare_audio,
};

const rheos__op_def rheos__op_AudioSummaryV2 = {
    .name = "AudioSummaryV2",
    .signature =
        "tag: string, tensor: float, sample_rate: float -> summary: string; "
        "max_outputs: int >= 1 = 3",
    .doc =
        "A summary of up to `max_outputs` pieces of sound [batch, frames, channels], each between "
        "-1 "
        "and 1.",
    .shape = rheos__shape_scalar,
    .gradient = rheos__no_gradient,
    .prepare = prepare_audio,
};

// ---- EncodeWav

static rheos_status *encode_shape(rheos__infer *c) {
  rheos_shape unused;
  RHEOS_TRY(rheos__infer_rank(c, 0, 2, &unused));
  RHEOS_TRY(rheos__infer_rank(c, 1, 0, &unused));
  return rheos__shape_scalar(c);
}

static rheos_status *compute_encode(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                    rheos_tensor **outputs) {
  (void)state, (void)step;
  const rheos_tensor *audio = inputs[0];
  rheos__shape_text text;
  if (audio->shape.rank != 2) {
    return RHEOS_INVALID("audio must be 2-dimensional%s",
                         rheos__shape_text_of(&audio->shape, &text));
  }
  if (inputs[1]->shape.rank != 0) {
    return RHEOS_INVALID("Input sample_rate should be a scalar tensor, got %s instead.",
                         rheos__shape_text_of(&inputs[1]->shape, &text));
  }
  rheos__buffer wav = {0};
  rheos_status *status = rheos__wav_encode(audio->data, audio->shape.dims[0], audio->shape.dims[1],
                                           *(const int32_t *)inputs[1]->data, &wav);
  if (status == NULL) return rheos__give_summary(&wav, &outputs[0]);
  rheos__buffer_deinit(&wav);
  return status;
}

const rheos__op_def rheos__op_EncodeWav = {
    .name = "EncodeWav",
    .signature = "audio: float, sample_rate: int32 -> contents: string",
    .doc = "The WAV file, of 16 bits a sample, of sound [frames, channels] between -1 and 1.",
    .shape = encode_shape,
    .compute = compute_encode,
};

// ---- DecodeWav

typedef struct decode_state {
  int64_t channels, frames;  // -1: as in the file
} decode_state;

static rheos_status *decode_shape(rheos__infer *c) {
  rheos_shape unused;
  RHEOS_TRY(rheos__infer_rank(c, 0, 0, &unused));
  const int64_t channels = rheos__attr_int(c->attrs, "desired_channels");
  const int64_t frames = rheos__attr_int(c->attrs, "desired_samples");
  if (channels < -1) {
    return RHEOS_INVALID("channels must be non-negative, got %lld", (long long)channels);
  }
  if (frames < -1) {
    return RHEOS_INVALID("samples must be non-negative, got %lld", (long long)frames);
  }
  c->output_shapes[0] = RHEOS_SHAPE(frames, channels);
  c->output_shapes[1] = RHEOS_SCALAR;
  return NULL;
}

// Frames past the end are silent; channels past the last are like it.
static void fill_sound(const rheos__wav *wav, rheos_tensor *sound) {
  const int64_t frames = sound->shape.dims[0], channels = sound->shape.dims[1];
  float *to = sound->data;
  if (channels == 0) return;  // however many frames
  for (int64_t i = 0; i < frames; i++) {
    for (int64_t k = 0; k < channels; k++) {
      const int64_t from = k < wav->channels ? k : wav->channels - 1;
      *to++ = i < wav->frames ? rheos__wav_sample(wav, i, from) : 0;
    }
  }
}

static rheos_status *compute_decode(void *argument, rheos__step *step, rheos_tensor *const *inputs,
                                    rheos_tensor **outputs) {
  (void)step;
  const decode_state *state = argument;
  const rheos_string *contents;
  rheos__wav wav;
  RHEOS_TRY(rheos__string_scalar(inputs[0], "contents", &contents));
  RHEOS_TRY(rheos__wav_decode(contents->data, contents->size_bytes, &wav));
  const rheos_shape shape = RHEOS_SHAPE(state->frames == -1 ? wav.frames : state->frames,
                                        state->channels == -1 ? wav.channels : state->channels);
  const int32_t rate = (int32_t)wav.sample_rate;
  RHEOS_TRY(rheos__tensor_new(RHEOS_FLOAT, &shape, &outputs[0]));
  fill_sound(&wav, outputs[0]);
  return rheos_tensor_from_values(RHEOS_INT32, RHEOS_SCALAR, &rate, &outputs[1]);
}

static rheos_status *prepare_decode(rheos__prepare *p) {
  decode_state *state = RHEOS_NEW_STATE(p, decode_state);
  if (state == NULL) return rheos__out_of_memory();
  state->channels = rheos__attr_int(p->attrs, "desired_channels");
  state->frames = rheos__attr_int(p->attrs, "desired_samples");
  p->compute = compute_decode;
  return NULL;
}

const rheos__op_def rheos__op_DecodeWav = {
    .name = "DecodeWav",
    .signature =
        "contents: string -> audio: float, sample_rate: int32; "
        "desired_channels: int = -1; desired_samples: int = -1",
    .doc = "The sound [frames, channels], between -1 and 1, of a WAV file of 16 bits a sample.",
    .shape = decode_shape,
    .prepare = prepare_decode,
};
