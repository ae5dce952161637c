// Candidate samplers: classes drawn for losses over many classes, and how often each was to be
// expected. Bit for bit TensorFlow's for the same seeds.
#include <float.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/hash.h"
#include "ops/kit/array_util.h"
#include "ops/kit/op_util.h"
#include "ops/kit/random_fill.h"

// ---- Whole numbers below a limit, none more likely than another: draws that would make the first
// ones so are thrown away.

static uint64_t next_wide(rheos__philox_singles *singles) {
  const uint64_t low = rheos__philox_next(singles);
  return low | (uint64_t)rheos__philox_next(singles) << 32;
}

static uint64_t below_64(rheos__philox_singles *singles, uint64_t limit) {
  uint64_t drawn = next_wide(singles);
  if ((limit & (limit - 1)) == 0) return drawn & (limit - 1);
  const uint64_t refused = UINT64_MAX % limit + 1;
  while (drawn < refused) drawn = next_wide(singles);
  return drawn % limit;
}

static uint32_t below_32(rheos__philox_singles *singles, uint32_t limit) {
  uint32_t drawn = rheos__philox_next(singles);
  if ((limit & (limit - 1)) == 0) return drawn & (limit - 1);
  const uint32_t refused = UINT32_MAX % limit + 1;
  while (drawn < refused) drawn = rheos__philox_next(singles);
  return drawn % limit;
}

// ---- Samplers with tables are resources of the session under the node's name

typedef struct sampler sampler;

// How a kind of sampler draws, and how likely it draws a class.
typedef struct sampler_kind {
  int64_t (*sample)(const sampler *s, rheos__philox_singles *singles);
  float (*probability)(const sampler *s, int64_t value);
} sampler_kind;

typedef struct unigram_table {
  rheos__resource base;
  pthread_mutex_t mutex;
  int64_t count;
  // Learned: 1 + how often each class was seen, as sums for a binary indexed tree.
  int32_t *counts, *tree;
  int32_t total;
  // Fixed: the weights, and for each class the part of its share that is its own and the class the
  // rest belongs to (Walker, 1977).
  float *weights, *own;
  int32_t *other;
  double total_weight;
  int64_t num_weighty;  // classes that can be drawn at all
} unigram_table;

struct sampler {
  const sampler_kind *kind;
  rheos__generator *generator;
  unigram_table *table;
  int64_t range, num_true, num_sampled;
  double log_range;
  bool unique, learns;
};

static int64_t sample_uniform(const sampler *s, rheos__philox_singles *singles) {
  return (int64_t)below_64(singles, (uint64_t)s->range);
}
static float probability_uniform(const sampler *s, int64_t value) {
  (void)value;
  return (float)(1.0 / (double)s->range);
}

static int64_t sample_log_uniform(const sampler *s, rheos__philox_singles *singles) {
  const double drawn = exp(rheos__philox_next_double(singles) * s->log_range);
  return ((int64_t)drawn - 1) % s->range;
}
static float probability_log_uniform(const sampler *s, int64_t value) {
  return (float)(log(((double)value + 2.0) / ((double)value + 1.0)) / s->log_range);
}

// The class at which the counts sum up to more than what is drawn.
static int64_t sample_learned(const sampler *s, rheos__philox_singles *singles) {
  const unigram_table *t = s->table;
  int32_t left = (int32_t)below_32(singles, (uint32_t)t->total);
  int64_t place = 0, step = 1;
  while (step * 2 <= t->count) step *= 2;
  for (; step > 0; step /= 2) {
    if (place + step > t->count || t->tree[place + step] > left) continue;
    place += step;
    left -= t->tree[place];
  }
  return place;
}
static float probability_learned(const sampler *s, int64_t value) {
  return (float)s->table->counts[value] / (float)s->table->total;
}

static int64_t sample_fixed(const sampler *s, rheos__philox_singles *singles) {
  const unigram_table *t = s->table;
  const float drawn = rheos__random_float(rheos__philox_next(singles));
  const uint32_t place = below_32(singles, (uint32_t)t->count);
  return drawn < t->own[place] ? (int64_t)place : t->other[place];
}
static float probability_fixed(const sampler *s, int64_t value) {
  return (float)(s->table->weights[value] / s->table->total_weight);
}

static const sampler_kind uniform_kind = {sample_uniform, probability_uniform};
static const sampler_kind log_uniform_kind = {sample_log_uniform, probability_log_uniform};
static const sampler_kind learned_kind = {sample_learned, probability_learned};
static const sampler_kind fixed_kind = {sample_fixed, probability_fixed};

// ---- Tables

static void deinit_table(rheos__resource *resource) {
  unigram_table *t = (unigram_table *)resource;
  pthread_mutex_destroy(&t->mutex);
  rheos__free(t->counts);
  rheos__free(t->tree);
  rheos__free(t->weights);
  rheos__free(t->own);
  rheos__free(t->other);
}

static void add_count(unigram_table *t, int64_t value, int32_t more) {
  t->counts[value] += more;
  t->total += more;
  for (int64_t i = value + 1; i <= t->count; i += i & -i) t->tree[i] += more;
}

static rheos_status *fill_learned(unigram_table *t, const rheos__prepare *p) {
  const int64_t range = rheos__attr_int(p->attrs, "range_max");
  if (range >= INT32_MAX) return RHEOS_INVALID("range_max is too large: %lld", (long long)range);
  t->counts = rheos__alloc_array((size_t)range, sizeof *t->counts);
  t->tree = rheos__alloc_array((size_t)range + 1, sizeof *t->tree);
  if (t->counts == NULL || t->tree == NULL) return rheos__out_of_memory();
  t->count = range;
  t->total = (int32_t)range;
  for (int64_t i = 0; i < range; i++) t->counts[i] = 1;
  for (int64_t i = 1; i <= range; i++) t->tree[i] = (int32_t)(i & -i);
  return NULL;
}

// The weights of the classes of one shard, read one after the other.
typedef struct weight_reader {
  unigram_table *table;
  size_t capacity;
  int64_t id, num_shards, shard;
  float distortion;
} weight_reader;

static rheos_status *add_weight(weight_reader *r, float weight) {
  unigram_table *t = r->table;
  if (r->id++ % r->num_shards != r->shard) return NULL;
  if (t->count >= INT32_MAX || !RHEOS_RESERVE(t->weights, r->capacity, (size_t)t->count + 1)) {
    return rheos__out_of_memory();
  }
  const float distorted = (float)pow((double)weight, (double)r->distortion);
  if (!(distorted >= 0) || isinf(distorted)) {
    return RHEOS_INVALID("the weight of class %lld is no positive number", (long long)t->count);
  }
  t->total_weight += (double)distorted;
  t->num_weighty += distorted > 0;
  t->weights[t->count++] = distorted;
  return NULL;
}

// The last field of a line holds the weight; others before a comma name the class.
static rheos_status *read_line(weight_reader *r, const char *line) {
  const char *comma = strrchr(line, ','), *field = comma != NULL ? comma + 1 : line;
  char *end;
  const float weight = strtof(field, &end);
  if (end == field || end[strspn(end, " \t\r")] != '\0') {
    return RHEOS_INVALID("Wrong vocabulary format at line: %s", line);
  }
  return add_weight(r, weight);
}

static rheos_status *read_lines(weight_reader *r, char *text) {
  while (*text != '\0') {
    char *end = strchr(text, '\n');
    if (end != NULL) *end = '\0';
    RHEOS_TRY(read_line(r, text));
    if (end == NULL) break;
    text = end + 1;
  }
  return NULL;
}

static rheos_status *wrong_size(int64_t range, int64_t count) {
  return RHEOS_INVALID("range is %lld, must be equal to weights size %lld", (long long)range,
                       (long long)count);
}

// How many of the first `count` classes are in the shard.
static int64_t in_shard(const weight_reader *r, int64_t count) {
  return count > r->shard ? (count - r->shard - 1) / r->num_shards + 1 : 0;
}

// The reserved classes come first and weigh nothing. `listed` classes follow, or with -1 those of a
// file: a number that cannot be right is refused before there is memory for it.
static rheos_status *reserve(weight_reader *r, int64_t reserved, int64_t listed, int64_t range) {
  if (reserved < 0) return RHEOS_INVALID("num_reserved_ids is negative");
  const int64_t here = in_shard(r, reserved);
  if (here > range) return wrong_size(range, here);
  if (listed >= 0 && reserved <= INT64_MAX - listed && in_shard(r, reserved + listed) != range) {
    return wrong_size(range, in_shard(r, reserved + listed));
  }
  if (here > INT32_MAX || !RHEOS_RESERVE(r->table->weights, r->capacity, (size_t)here)) {
    return rheos__out_of_memory();
  }
  for (int64_t i = 0; i < here; i++) r->table->weights[i] = 0;
  r->table->count = here;
  r->id = reserved;
  return NULL;
}

static rheos_status *read_weights(unigram_table *t, const rheos__prepare *p) {
  weight_reader r = {
      .table = t,
      .num_shards = rheos__attr_int(p->attrs, "num_shards"),
      .shard = rheos__attr_int(p->attrs, "shard"),
      .distortion = rheos__attr_float(p->attrs, "distortion"),
  };
  const int64_t reserved = rheos__attr_int(p->attrs, "num_reserved_ids");
  const rheos_attr_value *list = rheos__attrs_find(p->attrs, "unigrams");
  const char *path = rheos__attr_string(p->attrs, "vocab_file");
  if ((path[0] != '\0') == (list->count > 0)) {
    return RHEOS_INVALID("Must provide only one of vocab_file and unigrams.");
  }
  RHEOS_TRY(reserve(&r, reserved, path[0] == '\0' ? list->count : -1,
                    rheos__attr_int(p->attrs, "range_max")));
  for (size_t i = 0; i < (size_t)list->count; i++) RHEOS_TRY(add_weight(&r, list->floats[i]));
  if (path[0] == '\0') return NULL;
  char *text;
  size_t size_bytes;
  RHEOS_TRY(rheos__file_read_all(path, (size_t)1 << 30, &text, &size_bytes));
  rheos_status *status = read_lines(&r, text);
  rheos__free(text);
  return status;
}

// Pairs classes that are less likely than the average with ones that are more likely, which fill up
// their shares. `share` and `stack` have room for one entry a class.
static void pair_classes(unigram_table *t, double *share, int32_t *stack) {
  const int64_t n = t->count;
  int64_t low = 0, high = n;  // less likely ones grow from the bottom, others from the top
  for (int64_t i = 0; i < n; i++) {
    share[i] = (double)(t->weights[i] * (float)n) / t->total_weight;
    stack[share[i] < 1.0 ? low++ : --high] = (int32_t)i;
  }
  while (low > 0 && high < n) {
    const int32_t small = stack[--low], large = stack[high++];
    t->other[small] = large;
    t->own[small] = (float)share[small];
    share[large] -= 1.0 - share[small];
    stack[share[large] < 1.0 ? low++ : --high] = large;
  }
  // What rounding left over is about as likely as the average.
  while (low > 0 || high < n) {
    const int32_t rest = low > 0 ? stack[--low] : stack[high++];
    t->own[rest] = 1;
    t->other[rest] = rest;
  }
}

static rheos_status *fill_fixed(unigram_table *t, const rheos__prepare *p) {
  RHEOS_TRY(read_weights(t, p));
  const int64_t range = rheos__attr_int(p->attrs, "range_max");
  if (t->count != range) return wrong_size(range, t->count);
  if (!(t->total_weight > 0)) return RHEOS_INVALID("all weights are 0");
  double *share = rheos__alloc_array((size_t)range, sizeof *share);
  int32_t *stack = rheos__alloc_array((size_t)range, sizeof *stack);
  t->own = rheos__alloc_array((size_t)range, sizeof *t->own);
  t->other = rheos__alloc_array((size_t)range, sizeof *t->other);
  const bool fits = share != NULL && stack != NULL && t->own != NULL && t->other != NULL;
  if (fits) pair_classes(t, share, stack);
  rheos__free(share);
  rheos__free(stack);
  return fits ? NULL : rheos__out_of_memory();
}

static rheos_status *init_table(rheos__resource *resource, const void *argument) {
  unigram_table *t = (unigram_table *)resource;
  const rheos__prepare *p = argument;
  if (pthread_mutex_init(&t->mutex, NULL) != 0) return rheos__out_of_memory();
  rheos_status *status = p->op->family == &fixed_kind ? fill_fixed(t, p) : fill_learned(t, p);
  if (status != NULL) deinit_table(resource);
  return status;
}

static const rheos__resource_kind table_kind = {
    "table of class frequencies",
    sizeof(unigram_table),
    init_table,
    deinit_table,
};

// ---- Drawing

// The classes drawn so far, each but once: a hash table of twice their number.
typedef struct seen_classes {
  int64_t *slots;  // a class + 1; 0: empty
  uint64_t num_slots;
} seen_classes;

static bool add_class(seen_classes *seen, int64_t value) {
  uint64_t slot = rheos__hash_mix(0, (uint64_t)value) & (seen->num_slots - 1);
  while (seen->slots[slot] != 0) {
    if (seen->slots[slot] == value + 1) return false;
    slot = (slot + 1) & (seen->num_slots - 1);
  }
  seen->slots[slot] = value + 1;
  return true;
}

static rheos_status *draw_unique(const sampler *s, rheos__step *step,
                                 rheos__philox_singles *singles, int64_t *out, int64_t *out_tries) {
  if (s->kind == &fixed_kind && s->num_sampled > s->table->num_weighty) {
    return rheos_status_new(RHEOS_RESOURCE_EXHAUSTED,
                            "only %lld classes have a weight, %lld distinct ones were asked for",
                            (long long)s->table->num_weighty, (long long)s->num_sampled);
  }
  seen_classes seen = {.num_slots = 16};
  while (seen.num_slots < 2 * (uint64_t)s->num_sampled) seen.num_slots *= 2;
  seen.slots = rheos__alloc_array(seen.num_slots, sizeof *seen.slots);
  if (seen.slots == NULL) return rheos__out_of_memory();
  int64_t count = 0, tries = 0;
  while (count < s->num_sampled && tries < INT32_MAX) {
    if (++tries % 65536 == 0 && rheos__step_should_stop(step)) break;
    const int64_t value = s->kind->sample(s, singles);
    if (add_class(&seen, value)) out[count++] = value;
  }
  rheos__free(seen.slots);
  *out_tries = tries;
  if (count == s->num_sampled) return NULL;
  return rheos_status_new(RHEOS_RESOURCE_EXHAUSTED,
                          "%lld draws gave only %lld of the %lld distinct classes asked for",
                          (long long)tries, (long long)count, (long long)s->num_sampled);
}

static rheos_status *draw(const sampler *s, rheos__step *step, int64_t *out, int64_t *out_tries) {
  // As many numbers are set aside as TensorFlow thinks enough.
  rheos__philox_singles singles = rheos__philox_singles_of(
      rheos__generator_reserve(s->generator, (2048 * (uint64_t)s->num_sampled + 3) / 4));
  if (s->unique) return draw_unique(s, step, &singles, out, out_tries);
  for (int64_t i = 0; i < s->num_sampled; i++) out[i] = s->kind->sample(s, &singles);
  *out_tries = s->num_sampled;
  return NULL;
}

static void expect_counts(const sampler *s, const rheos_tensor *values, int64_t tries,
                          rheos_tensor *out) {
  float *counts = out->data;
  for (int64_t i = 0; i < values->num_elements; i++) {
    const float p = s->kind->probability(s, ((const int64_t *)values->data)[i]);
    counts[i] =
        tries == s->num_sampled ? p * (float)s->num_sampled : -expm1f((float)tries * log1pf(-p));
  }
}

static rheos_status *check_true_classes(const sampler *s, const rheos_tensor *classes) {
  if (classes->shape.rank != 2) return RHEOS_INVALID("true_classes must be a matrix");
  if (classes->shape.dims[1] != s->num_true) {
    return RHEOS_INVALID("true_classes must have num_true columns, expected: %lld was: %lld",
                         (long long)classes->shape.dims[1], (long long)s->num_true);
  }
  if (s->unique && s->num_sampled > s->range) return RHEOS_INVALID("Sampler's range is too small.");
  for (int64_t i = 0; i < classes->num_elements; i++) {
    const int64_t value = ((const int64_t *)classes->data)[i];
    if (value < 0 || value >= s->range) {
      return RHEOS_INVALID("`true_candidate` out of range [0, %lld), received %lld",
                           (long long)s->range, (long long)value);
    }
  }
  return NULL;
}

static void learn(unigram_table *t, const rheos_tensor *classes) {
  for (int64_t i = 0; i < classes->num_elements && t->total < INT32_MAX; i++) {
    add_count(t, ((const int64_t *)classes->data)[i], 1);
  }
}

static rheos_status *new_outputs(const sampler *s, const rheos_tensor *classes,
                                 rheos_tensor **outputs) {
  RHEOS_TRY(check_true_classes(s, classes));
  RHEOS_TRY(rheos__tensor_new(RHEOS_INT64, &RHEOS_SHAPE(s->num_sampled), &outputs[0]));
  RHEOS_TRY(rheos__tensor_new(RHEOS_FLOAT, &classes->shape, &outputs[1]));
  return rheos__tensor_new(RHEOS_FLOAT, &RHEOS_SHAPE(s->num_sampled), &outputs[2]);
}

static rheos_status *compute(void *state, rheos__step *step, rheos_tensor *const *inputs,
                             rheos_tensor **outputs) {
  const sampler *s = state;
  RHEOS_TRY(new_outputs(s, inputs[0], outputs));
  if (s->learns) pthread_mutex_lock(&s->table->mutex);
  int64_t tries = 0;
  rheos_status *status = draw(s, step, outputs[0]->data, &tries);
  if (status == NULL) {
    expect_counts(s, outputs[0], tries, outputs[2]);
    expect_counts(s, inputs[0], tries, outputs[1]);
    if (s->learns) learn(s->table, inputs[0]);
  }
  if (s->learns) pthread_mutex_unlock(&s->table->mutex);
  return status;
}

static rheos_status *compute_all(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                 rheos_tensor **outputs) {
  const sampler *s = state;
  const float one = 1;
  (void)step;
  RHEOS_TRY(new_outputs(s, inputs[0], outputs));
  for (int64_t i = 0; i < s->num_sampled; i++) ((int64_t *)outputs[0]->data)[i] = i;
  RHEOS_TRY(rheos__fill_elements(RHEOS_FLOAT, outputs[1]->data, &one, outputs[1]->num_elements));
  return rheos__fill_elements(RHEOS_FLOAT, outputs[2]->data, &one, s->num_sampled);
}

static void release(void *state) {
  const sampler *s = state;
  if (s->generator != NULL) rheos__generator_unref(s->generator);
  if (s->table != NULL) rheos__resource_unref(&s->table->base);
}

static rheos_status *prepare(rheos__prepare *p) {
  const sampler_kind *kind = p->op->family;  // NULL: all classes
  sampler *s = RHEOS_NEW_STATE(p, sampler);
  if (s == NULL) return rheos__out_of_memory();
  s->kind = kind;
  s->num_true = rheos__attr_int(p->attrs, "num_true");
  s->num_sampled = rheos__attr_int(p->attrs, "num_sampled");
  s->unique = rheos__attr_bool(p->attrs, "unique");
  s->range = kind != NULL ? rheos__attr_int(p->attrs, "range_max") : s->num_sampled;
  s->log_range = log1p((double)s->range);
  s->learns = kind == &learned_kind;
  p->release = release;
  p->compute = kind != NULL ? compute : compute_all;
  RHEOS_TRY(rheos__generator_of_node(p, &s->generator));
  if (kind != &learned_kind && kind != &fixed_kind) return NULL;
  rheos__resource *table;
  rheos_status *status = rheos__resources_get(p->resources, &table_kind, p->node_name, p, &table);
  if (status != NULL) {
    release(s);
    return status;
  }
  s->table = (unigram_table *)table;
  return NULL;
}

static rheos_status *shape(rheos__infer *c) {
  rheos_shape classes;
  RHEOS_TRY(rheos__infer_rank(c, 0, 2, &classes));
  const int64_t num_sampled = rheos__attr_int(c->attrs, "num_sampled");
  c->output_shapes[0] = c->output_shapes[2] = RHEOS_SHAPE(num_sampled);
  c->output_shapes[1] = RHEOS_SHAPE(classes.dims[0], rheos__attr_int(c->attrs, "num_true"));
  return NULL;
}

#define SAMPLED                                                                    \
  "true_classes: int64 -> sampled_candidates: int64, true_expected_count: float, " \
  "sampled_expected_count: float; num_true: int >= 1; num_sampled: int >= 1; unique: bool; "
#define RANGE "range_max: int >= 1; "
#define SEEDS "seed: int = 0; seed2: int = 0"
#define SAMPLER(op, attributes, about, kind) SAMPLER_OF(op, attributes, about, kind, 0, NULL)
#define SAMPLER_OF(op, attributes, about, kind, more_flags, file_name) \
  const rheos__op_def rheos__op_##op = {                               \
      .name = #op,                                                     \
      .signature = SAMPLED attributes SEEDS,                           \
      .doc = about,                                                    \
      .flags = RHEOS_OP_STATEFUL | (more_flags),                       \
      .shape = shape,                                                  \
      .gradient = rheos__no_gradient,                                  \
      .prepare = prepare,                                              \
      .family = kind,                                                  \
      .file_argument = file_name,                                      \
  }

SAMPLER(UniformCandidateSampler, RANGE,
        "Classes below `range_max`, each as likely as another, and how often each is expected.",
        &uniform_kind);
SAMPLER(LogUniformCandidateSampler, RANGE,
        "Classes below `range_max`, lower ones more likely as words by their rank are, and how "
        "often each is expected.",
        &log_uniform_kind);
SAMPLER(LearnedUnigramCandidateSampler, RANGE,
        "Classes below `range_max`, as likely as they were seen in `true_classes` so far, and how "
        "often each is expected.",
        &learned_kind);
SAMPLER(ThreadUnsafeUnigramCandidateSampler, RANGE,
        "Classes below `range_max`, as likely as they were seen in `true_classes` so far, and how "
        "often each is expected.",
        &learned_kind);
SAMPLER_OF(FixedUnigramCandidateSampler,
           RANGE
           "vocab_file: string = \"\"; distortion: float = 1.0; num_reserved_ids: int = 0; "
           "num_shards: int >= 1 = 1; shard: int >= 0 = 0; unigrams: list(float) = []; ",
           "Classes below `range_max`, as likely as `unigrams` or the last fields of the lines of "
           "`vocab_file` say, and how often each is expected.",
           &fixed_kind, RHEOS_OP_USES_FILES, "vocab_file");
SAMPLER(AllCandidateSampler, "", "All the classes below `num_sampled`, each expected once.", NULL);

// ---- ComputeAccidentalHits

// Where each sampled class stands last; the pairs of `slots` are a class + 1 and a place.
static rheos_status *place_classes(const rheos_tensor *sampled, seen_classes *out_seen,
                                   int64_t **out_places) {
  seen_classes seen = {.num_slots = 16};
  while (seen.num_slots < 2 * (uint64_t)sampled->num_elements) seen.num_slots *= 2;
  seen.slots = rheos__alloc_array(seen.num_slots, sizeof *seen.slots);
  *out_places = rheos__alloc_array(seen.num_slots, sizeof **out_places);
  *out_seen = seen;
  if (seen.slots == NULL || *out_places == NULL) return rheos__out_of_memory();
  for (int64_t i = 0; i < sampled->num_elements; i++) {
    const int64_t value = ((const int64_t *)sampled->data)[i];
    uint64_t slot = rheos__hash_mix(0, (uint64_t)value) & (seen.num_slots - 1);
    while ((*out_places)[slot] != 0 && seen.slots[slot] != value) {
      slot = (slot + 1) & (seen.num_slots - 1);
    }
    seen.slots[slot] = value;
    (*out_places)[slot] = i + 1;
  }
  return NULL;
}

// Where `value` stands; -1 if it was not sampled.
static int64_t find_place(const seen_classes *seen, const int64_t *places, int64_t value) {
  uint64_t slot = rheos__hash_mix(0, (uint64_t)value) & (seen->num_slots - 1);
  for (; places[slot] != 0; slot = (slot + 1) & (seen->num_slots - 1)) {
    if (seen->slots[slot] == value) return places[slot] - 1;
  }
  return -1;
}

static rheos_status *write_hits(const rheos_tensor *classes, const seen_classes *seen,
                                const int64_t *places, rheos_tensor **outputs) {
  const int64_t *values = classes->data, num_true = classes->shape.dims[1];
  int64_t count = 0;
  for (int64_t i = 0; i < classes->num_elements; i++) {
    count += find_place(seen, places, values[i]) >= 0;
  }
  RHEOS_TRY(rheos__tensor_new(RHEOS_INT32, &RHEOS_SHAPE(count), &outputs[0]));
  RHEOS_TRY(rheos__tensor_new(RHEOS_INT64, &RHEOS_SHAPE(count), &outputs[1]));
  RHEOS_TRY(rheos__tensor_new(RHEOS_FLOAT, &RHEOS_SHAPE(count), &outputs[2]));
  for (int64_t i = 0, hit = 0; i < classes->num_elements; i++) {
    const int64_t place = find_place(seen, places, values[i]);
    if (place < 0) continue;
    ((int32_t *)outputs[0]->data)[hit] = (int32_t)(i / num_true);
    ((int64_t *)outputs[1]->data)[hit] = place;
    ((float *)outputs[2]->data)[hit++] = -FLT_MAX;
  }
  return NULL;
}

static rheos_status *compute_hits(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                  rheos_tensor **outputs) {
  const rheos__operands *o = state;
  const int64_t num_true = rheos__attr_int(o->attrs, "num_true");
  (void)step;
  if (inputs[0]->shape.rank != 2 || inputs[0]->shape.dims[1] != num_true) {
    return RHEOS_INVALID("true_candidates must be a batch_size * num_true matrix");
  }
  if (inputs[1]->shape.rank != 1) {
    return RHEOS_INVALID(
        "sampled_candidates must be a vector, which is typically an output from "
        "CandidateSampler");
  }
  seen_classes seen;
  int64_t *places;
  rheos_status *status = place_classes(inputs[1], &seen, &places);
  if (status == NULL) status = write_hits(inputs[0], &seen, places, outputs);
  rheos__free(seen.slots);
  rheos__free(places);
  return status;
}

static rheos_status *prepare_hits(rheos__prepare *p) {
  p->state = rheos__keep_operands(p);
  if (p->state == NULL) return rheos__out_of_memory();
  p->compute = compute_hits;
  return NULL;
}

static rheos_status *shape_hits(rheos__infer *c) {
  rheos_shape classes;
  RHEOS_TRY(rheos__infer_rank(c, 1, 1, &classes));
  RHEOS_TRY(rheos__infer_rank(c, 0, 2, &classes));
  const int64_t num_true = rheos__attr_int(c->attrs, "num_true");
  if (classes.dims[1] >= 0 && classes.dims[1] != num_true) {
    return RHEOS_INVALID("Dimension must be %lld but is %lld", (long long)num_true,
                         (long long)classes.dims[1]);
  }
  for (int k = 0; k < 3; k++) c->output_shapes[k] = RHEOS_SHAPE(-1);
  return NULL;
}

const rheos__op_def rheos__op_ComputeAccidentalHits = {
    .name = "ComputeAccidentalHits",
    .signature =
        "true_classes: int64, sampled_candidates: int64 -> indices: int32, ids: int64, "
        "weights: float; num_true: int; " SEEDS,
    .doc =
        "Which of `sampled_candidates` are among `true_classes`: the row, the place, and the "
        "lowest "
        "number there is.",
    .shape = shape_hits,
    .gradient = rheos__no_gradient,
    .prepare = prepare_hits,
};
