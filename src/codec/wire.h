// Protobuf's wire format by hand, for messages that are read or written element by element in
// kernels: summaries and examples. Messages with structure go through protobuf.h.
#ifndef RHEOS_SRC_CODEC_WIRE_H
#define RHEOS_SRC_CODEC_WIRE_H

#include "codec/buffer.h"
#include "tensor/tensor.h"

typedef enum rheos__wire_type {
  RHEOS__WIRE_VARINT = 0,
  RHEOS__WIRE_64 = 1,
  RHEOS__WIRE_BYTES = 2,
  RHEOS__WIRE_32 = 5,
} rheos__wire_type;

// ---- Writing; what protobuf leaves out because it is 0 is for the caller to leave out

void rheos__wire_put_varint(rheos__buffer *buffer, int field, uint64_t value);
static inline void rheos__wire_put_unless_0(rheos__buffer *buffer, int field, int64_t value) {
  if (value != 0) rheos__wire_put_varint(buffer, field, (uint64_t)value);
}
void rheos__wire_put_float(rheos__buffer *buffer, int field, float value);
void rheos__wire_put_double(rheos__buffer *buffer, int field, double value);
void rheos__wire_put_bytes(rheos__buffer *buffer, int field, const void *data, size_t size_bytes);
// As a field: the bytes of `message`, which is emptied.
void rheos__wire_put_message(rheos__buffer *buffer, int field, rheos__buffer *message);
// A TensorShapeProto, as a field.
void rheos__wire_put_shape(rheos__buffer *buffer, int field, const rheos_shape *shape);
// A TensorProto as TensorFlow's kernels write it: numbers as `tensor_content`, strings one by one.
void rheos__wire_put_tensor(rheos__buffer *buffer, const rheos_tensor *tensor);

// ---- Reading, from bytes that may be hostile

typedef struct rheos__wire {
  const char *at, *end;
} rheos__wire;

typedef struct rheos__wire_field {
  uint32_t number;
  rheos__wire_type type;
  uint64_t value;    // of a varint or a fixed one
  rheos__wire data;  // of bytes
} rheos__wire_field;

static inline rheos__wire rheos__wire_of(const void *data, size_t size_bytes) {
  const char *at = size_bytes > 0 ? data : "";
  return (rheos__wire){at, at + size_bytes};
}
static inline size_t rheos__wire_size(rheos__wire wire) { return (size_t)(wire.end - wire.at); }

// Takes the next field if it has this tag (of one byte, of bytes) and a length of up to four bytes:
// the common case, inlined. Else false, and nothing is taken: rheos__wire_next() knows what there
// is.
static inline bool rheos__wire_take(rheos__wire *wire, unsigned char tag, rheos__wire *out_data) {
  const char *at = wire->at, *const end = wire->end;
  if (end - at < 2 || (unsigned char)at[0] != tag) return false;
  size_t size = (unsigned char)at[1];
  at += 2;
  if (size >= 128) {
    size &= 127;
    for (int shift = 7;; shift += 7) {
      if (at == end || shift > 21) return false;
      const unsigned char byte = (unsigned char)*at++;
      size |= (size_t)(byte & 127) << shift;
      if (byte < 128) break;
    }
  }
  if ((size_t)(end - at) < size) return false;
  *out_data = (rheos__wire){at, at + size};
  wire->at = at + size;
  return true;
}

// The next field. False at the end, with *out_sound, or where the bytes are no message, without.
bool rheos__wire_next(rheos__wire *wire, rheos__wire_field *out_field, bool *out_sound);

#endif  // RHEOS_SRC_CODEC_WIRE_H
