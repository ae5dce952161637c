// From sound to what speech recognition looks at: AudioSpectrogram, the strength of frequencies
// over time, and Mfcc, a few numbers a moment that tell the shape of a spectrum as the ear hears
// it. Both compute in double, as TensorFlow does.
#include <math.h>
#include <string.h>

#include "ops/kit/array_util.h"
#include "ops/kit/op_util.h"
#include "ops/signal/fft_plan.h"

static const double PI = 3.14159265358979323846;

// ---- AudioSpectrogram

typedef struct spectrogram_state {
  rheos__fft_plan *plan;  // NULL if there is nothing to transform
  double *window;         // periodic Hann
  int64_t window_size, stride, samples, channels, slices, frequencies;
  bool squared;
} spectrogram_state;

static int64_t fft_length(int64_t window_size) {
  int64_t length = 1;
  while (length < window_size) length *= 2;
  return length;
}

static int64_t slices_of(int64_t samples, int64_t window_size, int64_t stride) {
  return samples < window_size ? 0 : 1 + (samples - window_size) / stride;
}

static rheos_status *spectrogram_shape(rheos__infer *c) {
  rheos_shape in;
  RHEOS_TRY(rheos__infer_rank(c, 0, 2, &in));
  const int64_t window_size = rheos__attr_int(c->attrs, "window_size");
  const int64_t stride = rheos__attr_int(c->attrs, "stride");
  if (window_size < 2 || window_size > INT32_MAX || stride < 1) {
    return RHEOS_INVALID("Spectrogram initialization failed for window size %lld and stride %lld",
                         (long long)window_size, (long long)stride);
  }
  const int64_t slices = in.dims[0] < 0 ? -1 : slices_of(in.dims[0], window_size, stride);
  c->output_shapes[0] = RHEOS_SHAPE(in.dims[1], slices, 1 + fft_length(window_size) / 2);
  return NULL;
}

// Units are slices of channels.
static rheos_status *run_spectrogram(const void *argument, const void *const *inputs,
                                     void *const *outputs, void *scratch, int64_t first_unit,
                                     int64_t last_unit) {
  const spectrogram_state *s = argument;
  if (s->plan == NULL) return NULL;
  const float *in = inputs[0];
  double complex *data = scratch, *work = data + s->plan->n;
  for (int64_t unit = first_unit; unit < last_unit; unit++) {
    const int64_t channel = unit / s->slices, start = unit % s->slices * s->stride;
    for (int64_t i = 0; i < s->plan->n; i++) {
      const bool inside = i < s->window_size;
      data[i] = inside ? s->window[i] * (double)in[(start + i) * s->channels + channel] : 0;
    }
    rheos__fft_run(s->plan, false, data, work);
    float *out = (float *)outputs[0] + unit * s->frequencies;
    for (int64_t i = 0; i < s->frequencies; i++) {
      const double re = creal(data[i]), im = cimag(data[i]);
      const float square = (float)(re * re + im * im);
      out[i] = s->squared ? square : sqrtf(square);
    }
  }
  return NULL;
}

static rheos_status *make_plan(rheos__prepare *p, spectrogram_state *s) {
  s->plan = rheos__fft_plan_new(p->arena, fft_length(s->window_size));
  s->window = rheos__arena_alloc(p->arena, (size_t)s->window_size * sizeof *s->window);
  if (s->plan == NULL || s->window == NULL) return rheos__out_of_memory();
  for (int64_t i = 0; i < s->window_size; i++) {
    s->window[i] = 0.5 - 0.5 * cos(2 * PI * (double)i / (double)s->window_size);
  }
  p->scratch_bytes = (size_t)(s->plan->n + rheos__fft_work(s->plan)) * sizeof(double complex);
  return NULL;
}

static rheos_status *prepare_spectrogram(rheos__prepare *p) {
  spectrogram_state *s = RHEOS_NEW_STATE(p, spectrogram_state);
  if (s == NULL) return rheos__out_of_memory();
  const int64_t *out = p->output_shapes[0].dims;
  s->window_size = rheos__attr_int(p->attrs, "window_size");
  s->stride = rheos__attr_int(p->attrs, "stride");
  s->squared = rheos__attr_bool(p->attrs, "magnitude_squared");
  s->samples = p->input_shapes[0].dims[0];
  s->channels = out[0];
  s->slices = out[1];
  s->frequencies = out[2];
  p->run = run_spectrogram;
  p->num_units = s->channels * s->slices;
  p->flops = rheos__flops(10.0 * (double)p->num_units * (double)s->frequencies *
                          log2((double)s->frequencies + 1));
  // A window fits into the sound where there is a slice, so it is not larger than memory.
  return p->num_units > 0 ? make_plan(p, s) : NULL;
}

const rheos__op_def rheos__op_AudioSpectrogram = {
    .name = "AudioSpectrogram",
    .signature =
        "input: float -> spectrogram: float; window_size: int; stride: int; "
        "magnitude_squared: bool = false",
    .doc =
        "The magnitudes [channels, slices, frequencies] of the sound [samples, channels], in "
        "windows "
        "of `window_size` every `stride` samples.",
    .shape = spectrogram_shape,
    .prepare = prepare_spectrogram,
};

// ---- Mfcc

// Larger tables than anybody's speech needs are refused.
enum { MAX_TABLE = 1 << 24 };

typedef struct mfcc_state {
  float lower, upper;  // limits in Hz
  int64_t bands, coefficients;
} mfcc_state;

// Bands are triangles over frequencies whose mel numbers are evenly apart, each from the centre of
// the band before to that of the next. An input frequency counts to the band before it by `weight`
// and to the one after by what is left.
typedef struct mel_bands {
  int64_t inputs, first, last;  // inputs that count
  int64_t bands, coefficients;
  int64_t *band;     // before each input; -1: none
  double *weight;    // of each input
  double *cosines;   // [coefficients, bands]
  double *energies;  // work space of `bands`
  bool is_silent;    // the limit is above what the spectrum has: all is 0
} mel_bands;

static void free_bands(mel_bands *m) {
  rheos__free(m->band);
  rheos__free(m->weight);
  rheos__free(m->cosines);
  rheos__free(m->energies);
}

static double mel_of(double frequency) { return 1127.0 * log1p(frequency / 700.0); }

static void weigh_inputs(mel_bands *m, const mfcc_state *state, double input_hz) {
  const double low = mel_of((double)state->lower), high = mel_of((double)state->upper);
  const double spacing = (high - low) / (double)(m->bands + 1);
  int64_t next = 0;  // the first band whose centre is not below the input
  for (int64_t i = m->first; i <= m->last; i++) {
    const double mel = mel_of((double)i * input_hz);
    while (next < m->bands && low + spacing * (double)(next + 1) < mel) next++;
    const double before = next == 0 ? low : low + spacing * (double)next;
    const double after = low + spacing * (double)(next + 1);
    m->band[i] = next - 1;
    m->weight[i] = (after - mel) / (after - before);
  }
}

static void fill_cosines(mel_bands *m) {
  const double norm = sqrt(2.0 / (double)m->bands), angle = PI / (double)m->bands;
  for (int64_t i = 0; i < m->coefficients; i++) {
    for (int64_t k = 0; k < m->bands; k++) {
      m->cosines[i * m->bands + k] = norm * cos((double)i * angle * ((double)k + 0.5));
    }
  }
}

static rheos_status *make_bands(const mfcc_state *state, int64_t inputs, int64_t sample_rate,
                                mel_bands *m) {
  *m = (mel_bands){.inputs = inputs, .bands = state->bands, .coefficients = state->coefficients};
  // Written so that limits that are no numbers fail too, but for the upper one, as in TensorFlow.
  if (m->bands < 1 || sample_rate <= 0 || inputs < 2 || !(state->lower >= 0) ||
      state->upper <= state->lower || m->coefficients < 1 || m->coefficients > m->bands) {
    return RHEOS_INVALID("Mfcc initialization failed for channel count %lld and sample rate %lld",
                         (long long)inputs, (long long)sample_rate);
  }
  if (m->bands > MAX_TABLE / m->coefficients) {
    return rheos_status_new(RHEOS_RESOURCE_EXHAUSTED, "%lld coefficients of %lld channels",
                            (long long)m->coefficients, (long long)m->bands);
  }
  const double input_hz = 0.5 * (double)sample_rate / (double)(inputs - 1);
  m->is_silent = !((double)state->upper / input_hz < (double)inputs);
  if (m->is_silent) return NULL;
  m->first = (int64_t)(1.5 + (double)state->lower / input_hz);
  m->last = (int64_t)((double)state->upper / input_hz);
  m->band = rheos__alloc_array((size_t)inputs, sizeof *m->band);
  m->weight = rheos__alloc_array((size_t)inputs, sizeof *m->weight);
  m->cosines = rheos__alloc_array((size_t)(m->bands * m->coefficients), sizeof *m->cosines);
  m->energies = rheos__alloc_array((size_t)m->bands, sizeof *m->energies);
  if (m->band == NULL || m->weight == NULL || m->cosines == NULL || m->energies == NULL) {
    return rheos__out_of_memory();
  }
  weigh_inputs(m, state, input_hz);
  fill_cosines(m);
  return NULL;
}

// One moment: the spectrum's strength in each band, its logarithm, and its cosine transform.
static void transform(const mel_bands *m, const float *spectrum, float *out) {
  const double least = 1e-12;
  memset(m->energies, 0, (size_t)m->bands * sizeof *m->energies);
  for (int64_t i = m->first; i <= m->last; i++) {
    const double value = sqrt((double)spectrum[i]);
    const double before = value * m->weight[i];
    const int64_t band = m->band[i];
    if (band >= 0) m->energies[band] += before;
    if (band + 1 < m->bands) m->energies[band + 1] += value - before;
  }
  for (int64_t k = 0; k < m->bands; k++) {
    m->energies[k] = log(m->energies[k] < least ? least : m->energies[k]);
  }
  for (int64_t i = 0; i < m->coefficients; i++) {
    double sum = 0;
    for (int64_t k = 0; k < m->bands; k++) sum += m->cosines[i * m->bands + k] * m->energies[k];
    out[i] = (float)sum;
  }
}

static rheos_status *mfcc_shape(rheos__infer *c) {
  rheos_shape in, unused;
  RHEOS_TRY(rheos__infer_rank(c, 0, 3, &in));
  RHEOS_TRY(rheos__infer_rank(c, 1, 0, &unused));
  const int64_t coefficients = rheos__attr_int(c->attrs, "dct_coefficient_count");
  if (coefficients < 1) {
    return RHEOS_INVALID("Mfcc initialization failed for %lld coefficients",
                         (long long)coefficients);
  }
  c->output_shapes[0] = RHEOS_SHAPE(in.dims[0], in.dims[1], coefficients);
  return NULL;
}

static rheos_status *fill_mfcc(const mel_bands *m, rheos__step *step, const rheos_tensor *in,
                               rheos_tensor *out) {
  const int64_t moments = in->shape.dims[0] * in->shape.dims[1];
  if (m->is_silent) {
    if (out->size_bytes > 0) memset(out->data, 0, out->size_bytes);
    return NULL;
  }
  for (int64_t i = 0; i < moments; i++) {
    if (rheos__step_should_stop(step)) {
      return rheos_status_new(RHEOS_CANCELLED, "Step was cancelled.");
    }
    transform(m, (const float *)in->data + i * m->inputs, (float *)out->data + i * m->coefficients);
  }
  return NULL;
}

static rheos_status *compute_mfcc(void *argument, rheos__step *step, rheos_tensor *const *inputs,
                                  rheos_tensor **outputs) {
  const mfcc_state *state = argument;
  const rheos_shape *in = &inputs[0]->shape;
  mel_bands m;
  rheos_status *status = make_bands(state, in->dims[2], *(const int32_t *)inputs[1]->data, &m);
  if (status == NULL) {
    status = rheos__tensor_new(RHEOS_FLOAT, &RHEOS_SHAPE(in->dims[0], in->dims[1], m.coefficients),
                               &outputs[0]);
  }
  if (status == NULL) status = fill_mfcc(&m, step, inputs[0], outputs[0]);
  free_bands(&m);
  return status;
}

static rheos_status *prepare_mfcc(rheos__prepare *p) {
  mfcc_state *state = RHEOS_NEW_STATE(p, mfcc_state);
  if (state == NULL) return rheos__out_of_memory();
  state->lower = rheos__attr_float(p->attrs, "lower_frequency_limit");
  state->upper = rheos__attr_float(p->attrs, "upper_frequency_limit");
  state->bands = rheos__attr_int(p->attrs, "filterbank_channel_count");
  state->coefficients = rheos__attr_int(p->attrs, "dct_coefficient_count");
  p->compute = compute_mfcc;
  return NULL;
}

const rheos__op_def rheos__op_Mfcc = {
    .name = "Mfcc",
    .signature =
        "spectrogram: float, sample_rate: int32 -> output: float; "
        "upper_frequency_limit: float = 4000; lower_frequency_limit: float = 20; "
        "filterbank_channel_count: int = 40; dct_coefficient_count: int = 13",
    .doc =
        "The mel frequency cepstral coefficients of squared magnitudes as AudioSpectrogram gives "
        "them.",
    .shape = mfcc_shape,
    .prepare = prepare_mfcc,
};
