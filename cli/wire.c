// The bytes may be hostile: nothing is taken that is not there.
#include "wire.h"

wire wire_of(const void *data, size_t size_bytes) {
  const char *at = size_bytes > 0 ? data : "";
  return (wire){at, at + size_bytes};
}

static bool take_varint(wire *w, uint64_t *out_value) {
  *out_value = 0;
  for (int shift = 0; shift < 64 && w->at < w->end; shift += 7) {
    const unsigned char byte = (unsigned char)*w->at++;
    *out_value |= (uint64_t)(byte & 127) << shift;
    if (byte < 128) return true;
  }
  return false;
}

static bool take_bytes(wire *w, uint64_t size_bytes, wire *out_data) {
  if (size_bytes > wire_size(*w)) return false;
  *out_data = (wire){w->at, w->at + size_bytes};
  w->at += size_bytes;
  return true;
}

static bool take_value(wire *w, wire_field *field) {
  uint64_t value;
  switch (field->type) {
    case WIRE_VARINT: return take_varint(w, &field->value);
    case WIRE_64: return take_bytes(w, 8, &field->data);
    case WIRE_32: return take_bytes(w, 4, &field->data);
    case WIRE_BYTES: return take_varint(w, &value) && take_bytes(w, value, &field->data);
  }
  return false;
}

bool wire_next(wire *w, wire_field *out_field, bool *out_sound) {
  uint64_t key;
  *out_sound = w->at == w->end;
  if (*out_sound) return false;
  if (!take_varint(w, &key) || key >> 3 == 0 || key >> 32 != 0) return false;
  *out_field = (wire_field){.number = (uint32_t)(key >> 3), .type = (wire_type)(key & 7)};
  *out_sound = take_value(w, out_field);
  return *out_sound;
}
