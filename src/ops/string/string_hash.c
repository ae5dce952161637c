// Strings and other data to numbers: buckets and fingerprints.
#include <string.h>

#include "base/fingerprint.h"
#include "ops/kit/op_util.h"
#include "ops/kit/string_util.h"

// ---- Buckets

typedef uint64_t (*hash_fn)(const uint64_t key[2], const void *data, size_t size_bytes);

typedef struct bucket_family {
  hash_fn hash;
} bucket_family;

typedef struct bucket_state {
  rheos__string_units units;
  hash_fn hash;
  uint64_t key[2], num_buckets;
} bucket_state;

static uint64_t fast_hash(const uint64_t key[2], const void *data, size_t size_bytes) {
  (void)key;
  return rheos__fingerprint(data, size_bytes);
}

static uint64_t old_hash(const uint64_t key[2], const void *data, size_t size_bytes) {
  (void)key;
  return rheos__murmur_hash(data, size_bytes);
}

static rheos_status *run_buckets(const void *argument, const void *const *inputs,
                                 void *const *outputs, void *scratch, int64_t first, int64_t last) {
  (void)scratch;
  const bucket_state *state = argument;
  const rheos_string *strings = inputs[0];
  int64_t *buckets = outputs[0];
  last = rheos__last_unit(state, last);
  for (int64_t i = first; i < last; i++) {
    const uint64_t hash = state->hash(state->key, strings[i].data, strings[i].size_bytes);
    buckets[i] = (int64_t)(hash % state->num_buckets);
  }
  return NULL;
}

static const bucket_family old = {old_hash}, fast = {fast_hash}, strong = {rheos__sip_hash};

static rheos_status *prepare_buckets(rheos__prepare *p) {
  bucket_state *state = RHEOS_NEW_STATE(p, bucket_state);
  if (state == NULL) return rheos__out_of_memory();
  state->num_buckets = (uint64_t)rheos__attr_int(p->attrs, "num_buckets");
  const bucket_family *family = p->op->family;
  state->hash = family->hash;
  const rheos_attr_value *key = rheos__attrs_find(p->attrs, "key");
  if (key != NULL) {
    if (key->count != 2) return RHEOS_INVALID("Key must have 2 elements");
    for (int k = 0; k < 2; k++) state->key[k] = (uint64_t)key->ints[k];
  }
  rheos__answer_string_units(p, run_buckets);
  return NULL;
}

const rheos__op_def rheos__op_StringToHashBucket = {
    .name = "StringToHashBucket",
    .signature = "string_tensor: string -> output: int64; num_buckets: int >= 1",
    .doc = "A bucket of [0, `num_buckets`) for each string, by a hash that is kept for old graphs.",
    .shape = rheos__shape_unchanged,
    .gradient = rheos__no_gradient,
    .prepare = prepare_buckets,
    .family = &old,
};

const rheos__op_def rheos__op_StringToHashBucketFast = {
    .name = "StringToHashBucketFast",
    .signature = "input: string -> output: int64; num_buckets: int >= 1",
    .doc = "A bucket of [0, `num_buckets`) for each string, by FarmHash's Fingerprint64.",
    .shape = rheos__shape_unchanged,
    .gradient = rheos__no_gradient,
    .prepare = prepare_buckets,
    .family = &fast,
};

const rheos__op_def rheos__op_StringToHashBucketStrong = {
    .name = "StringToHashBucketStrong",
    .signature = "input: string -> output: int64; num_buckets: int >= 1; key: list(int)",
    .doc =
        "A bucket of [0, `num_buckets`) for each string, by SipHash-2-4 under the `key` of two "
        "numbers.",
    .shape = rheos__shape_unchanged,
    .gradient = rheos__no_gradient,
    .prepare = prepare_buckets,
    .family = &strong,
};

// ---- Fingerprint

enum { FINGERPRINT_BYTES = 8 };

static rheos_status *check_fingerprint(const rheos_shape *data, const rheos_string *method) {
  static const char only[] = "farmhash64";
  if (data->rank == 0) return RHEOS_INVALID("`data` should have at least one dimension: []");
  if (method == NULL) return NULL;
  if (method->size_bytes == strlen(only) && memcmp(method->data, only, strlen(only)) == 0) {
    return NULL;
  }
  return RHEOS_INVALID("Unsupported fingerprint method: %.*s", (int)method->size_bytes,
                       method->size_bytes > 0 ? method->data : "");
}

static rheos_status *shape_fingerprint(rheos__infer *c) {
  rheos_shape unused;
  RHEOS_TRY(rheos__infer_rank(c, 1, 0, &unused));
  const rheos_tensor *method = rheos__infer_value(c, 1);
  RHEOS_TRY(check_fingerprint(&c->input_shapes[0], method != NULL ? method->data : NULL));
  c->output_shapes[0] = RHEOS_SHAPE(-1, FINGERPRINT_BYTES);
  if (c->input_shapes[0].rank > 0) c->output_shapes[0].dims[0] = c->input_shapes[0].dims[0];
  return NULL;
}

static void put_fingerprint(unsigned char *at, uint64_t value) {
  memcpy(at, &value, sizeof value);  // little-endian, as every machine Rheos runs on
}

// A row of several strings: the fingerprint of their fingerprints.
static rheos_status *fingerprint_strings(const rheos_string *strings, int64_t rows, int64_t width,
                                         unsigned char *out) {
  if (width == 1) {
    for (int64_t i = 0; i < rows; i++) {
      put_fingerprint(out + i * FINGERPRINT_BYTES,
                      rheos__fingerprint(strings[i].data, strings[i].size_bytes));
    }
    return NULL;
  }
  uint64_t *each = rheos__alloc_array((size_t)width, sizeof *each);
  if (each == NULL) return rheos__out_of_memory();
  for (int64_t i = 0; i < rows; i++) {
    for (int64_t k = 0; k < width; k++) {
      const rheos_string *string = &strings[i * width + k];
      each[k] = rheos__fingerprint(string->data, string->size_bytes);
    }
    put_fingerprint(out + i * FINGERPRINT_BYTES,
                    rheos__fingerprint(each, (size_t)width * sizeof *each));
  }
  rheos__free(each);
  return NULL;
}

static rheos_status *compute_fingerprint(void *state, rheos__step *step,
                                         rheos_tensor *const *inputs, rheos_tensor **outputs) {
  (void)state, (void)step;
  const rheos_tensor *data = inputs[0];
  RHEOS_TRY(check_fingerprint(&data->shape, inputs[1]->data));
  const int64_t rows = data->shape.dims[0];
  RHEOS_TRY(rheos__tensor_new(RHEOS_UINT8, &RHEOS_SHAPE(rows, FINGERPRINT_BYTES), &outputs[0]));
  if (rows == 0) return NULL;
  unsigned char *out = outputs[0]->data;
  const int64_t width = data->num_elements / rows;
  if (data->dtype == RHEOS_STRING) return fingerprint_strings(data->data, rows, width, out);
  const size_t row_bytes = (size_t)width * rheos_dtype_size(data->dtype);
  for (int64_t i = 0; i < rows; i++) {
    put_fingerprint(
        out + i * FINGERPRINT_BYTES,
        rheos__fingerprint((const char *)data->data + (size_t)i * row_bytes, row_bytes));
  }
  return NULL;
}

static rheos_status *prepare_fingerprint(rheos__prepare *p) {
  if (p->input_dtypes[0] == RHEOS_RESOURCE || p->input_dtypes[0] == RHEOS_VARIANT) {
    return rheos__no_kernel(p, p->input_dtypes[0]);
  }
  p->compute = compute_fingerprint;
  return NULL;
}

const rheos__op_def rheos__op_Fingerprint = {
    .name = "Fingerprint",
    .signature = "data: T, method: string -> fingerprint: uint8; T: type",
    .doc = "The fingerprint of each row of `data` in 8 bytes; `method` is \"farmhash64\".",
    .shape = shape_fingerprint,
    .prepare = prepare_fingerprint,
};
