// Base64 in its web-safe alphabet (RFC 4648, section 5), as ops.
#include "codec/base64.h"
#include "ops/kit/string_util.h"

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

// ---- EncodeBase64

typedef struct encode_state {
  rheos__string_map map;
  bool pad;
} encode_state;

static rheos_status *encode(const rheos__string_map *map, const rheos_string *in,
                            rheos__text *out) {
  const encode_state *state = (const encode_state *)map;
  const unsigned char *s = (const unsigned char *)in->data;
  for (size_t i = 0; i < in->size_bytes; i += 3) {
    const size_t left = in->size_bytes - i < 3 ? in->size_bytes - i : 3;
    uint32_t group = 0;
    for (size_t k = 0; k < 3; k++) group = group << 8 | (k < left ? s[i + k] : 0);
    char letters[4];
    for (int k = 0; k < 4; k++) letters[k] = alphabet[group >> (18 - 6 * k) & 63];
    rheos__text_add(out, letters, left + 1);
    if (state->pad && left < 3) rheos__text_add(out, "==", 3 - left);
  }
  return NULL;
}

static rheos_status *prepare_encode(rheos__prepare *p) {
  encode_state *state = RHEOS_NEW_STATE(p, encode_state);
  if (state == NULL) return rheos__out_of_memory();
  state->map.make = encode;
  state->pad = rheos__attr_bool(p->attrs, "pad");
  return rheos__answer_string_map(p);
}

const rheos__op_def rheos__op_EncodeBase64 = {
    .name = "EncodeBase64",
    .signature = "input: string -> output: string; pad: bool = false",
    .doc = "The strings in web-safe base64; `pad` adds \"=\" up to whole groups.",
    .shape = rheos__shape_unchanged,
    .gradient = rheos__no_gradient,
    .prepare = prepare_encode,
};

// ---- DecodeBase64

static rheos_status *decode(const rheos__string_map *map, const rheos_string *in,
                            rheos__text *out) {
  (void)map;
  return rheos__base64_decode(in, out);
}

static rheos_status *prepare_decode(rheos__prepare *p) {
  rheos__string_map *map = RHEOS_NEW_STATE(p, rheos__string_map);
  if (map == NULL) return rheos__out_of_memory();
  map->make = decode;
  return rheos__answer_string_map(p);
}

const rheos__op_def rheos__op_DecodeBase64 = {
    .name = "DecodeBase64",
    .signature = "input: string -> output: string",
    .doc = "The bytes that strings of web-safe base64 stand for, padded or not.",
    .shape = rheos__shape_unchanged,
    .gradient = rheos__no_gradient,
    .prepare = prepare_decode,
};
