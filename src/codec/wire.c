// Protobuf's wire format: a field is a number and a type in a varint, then what the type says.
#include "codec/wire.h"

#include <assert.h>

static void put_key(rheos__buffer *buffer, int field, rheos__wire_type type) {
  rheos__buffer_put_varint(buffer, (uint64_t)field << 3 | (uint64_t)type);
}

void rheos__wire_put_varint(rheos__buffer *buffer, int field, uint64_t value) {
  put_key(buffer, field, RHEOS__WIRE_VARINT);
  rheos__buffer_put_varint(buffer, value);
}

void rheos__wire_put_float(rheos__buffer *buffer, int field, float value) {
  put_key(buffer, field, RHEOS__WIRE_32);
  rheos__buffer_put(buffer, &value, sizeof value);
}

void rheos__wire_put_double(rheos__buffer *buffer, int field, double value) {
  put_key(buffer, field, RHEOS__WIRE_64);
  rheos__buffer_put(buffer, &value, sizeof value);
}

void rheos__wire_put_bytes(rheos__buffer *buffer, int field, const void *data, size_t size_bytes) {
  put_key(buffer, field, RHEOS__WIRE_BYTES);
  rheos__buffer_put_varint(buffer, size_bytes);
  rheos__buffer_put(buffer, data, size_bytes);
}

void rheos__wire_put_message(rheos__buffer *buffer, int field, rheos__buffer *message) {
  if (message->failed) buffer->failed = true;
  rheos__wire_put_bytes(buffer, field, message->data, message->size_bytes);
  rheos__buffer_deinit(message);
}

// Fields of TensorProto and TensorShapeProto.
enum { TENSOR_DTYPE = 1, TENSOR_SHAPE = 2, TENSOR_CONTENT = 4, TENSOR_STRINGS = 8 };
enum { SHAPE_DIM = 2, SHAPE_UNKNOWN_RANK = 3, DIM_SIZE = 1 };

void rheos__wire_put_shape(rheos__buffer *buffer, int field, const rheos_shape *shape) {
  rheos__buffer dims = {0};
  if (shape->rank < 0) rheos__wire_put_varint(&dims, SHAPE_UNKNOWN_RANK, 1);
  for (int32_t d = 0; d < shape->rank; d++) {
    rheos__buffer dim = {0};
    if (shape->dims[d] != 0) rheos__wire_put_varint(&dim, DIM_SIZE, (uint64_t)shape->dims[d]);
    rheos__wire_put_message(&dims, SHAPE_DIM, &dim);
  }
  rheos__wire_put_message(buffer, field, &dims);
}

void rheos__wire_put_tensor(rheos__buffer *buffer, const rheos_tensor *tensor) {
  rheos__wire_put_varint(buffer, TENSOR_DTYPE, (uint64_t)tensor->dtype);
  rheos__wire_put_shape(buffer, TENSOR_SHAPE, &tensor->shape);
  if (tensor->dtype == RHEOS_STRING) {
    const rheos_string *strings = tensor->data;
    for (int64_t i = 0; i < tensor->num_elements; i++) {
      rheos__wire_put_bytes(buffer, TENSOR_STRINGS, strings[i].data, strings[i].size_bytes);
    }
  } else if (tensor->size_bytes > 0) {
    rheos__wire_put_bytes(buffer, TENSOR_CONTENT, tensor->data, tensor->size_bytes);
  }
}

// ---- Reading

static bool take_fixed(rheos__wire *wire, size_t size_bytes, uint64_t *out_value) {
  if (rheos__wire_size(*wire) < size_bytes) return false;
  *out_value = 0;
  memcpy(out_value, wire->at, size_bytes);
  wire->at += size_bytes;
  return true;
}

static bool take_value(rheos__wire *wire, rheos__wire_field *field) {
  switch (field->type) {
    case RHEOS__WIRE_VARINT: return rheos__read_varint(&wire->at, wire->end, &field->value);
    case RHEOS__WIRE_64: return take_fixed(wire, 8, &field->value);
    case RHEOS__WIRE_32: return take_fixed(wire, 4, &field->value);
    case RHEOS__WIRE_BYTES: {
      uint64_t size;
      if (!rheos__read_varint(&wire->at, wire->end, &size)) return false;
      if (size > rheos__wire_size(*wire)) return false;
      field->data = (rheos__wire){wire->at, wire->at + size};
      wire->at += size;
      return true;
    }
  }
  return false;
}

bool rheos__wire_next(rheos__wire *wire, rheos__wire_field *out_field, bool *out_sound) {
  *out_sound = true;
  assert(wire->at <= wire->end);
  if (wire->at == wire->end) return false;
  *out_sound = false;
  uint64_t key;
  if (!rheos__read_varint(&wire->at, wire->end, &key)) return false;
  if (key >> 3 == 0 || key >> 32 != 0) return false;
  *out_field =
      (rheos__wire_field){.number = (uint32_t)(key >> 3), .type = (rheos__wire_type)(key & 7)};
  *out_sound = take_value(wire, out_field);
  return *out_sound;
}
