// Buffers, the memory of descriptions, and protocol buffers' wire.
#include "handles.h"

#include <stdlib.h>
#include <string.h>

// ---- Buffers

static void free_bytes(void *data, size_t length) {
  (void)length;
  free(data);
}

static void free_rheos_bytes(void *data, size_t length) {
  (void)length;
  rheos_free(data);
}

TF_Buffer *TF_NewBuffer(void) { return calloc(1, sizeof(TF_Buffer)); }

TF_Buffer *TF_NewBufferFromString(const void *proto, size_t proto_len) {
  if (proto == NULL && proto_len > 0) return NULL;
  TF_Buffer *buffer = TF_NewBuffer();
  void *copy = malloc(proto_len == 0 ? 1 : proto_len);
  if (buffer == NULL || copy == NULL) {
    free(buffer);
    free(copy);
    return NULL;
  }
  if (proto_len > 0) memcpy(copy, proto, proto_len);
  *buffer = (TF_Buffer){.data = copy, .length = proto_len, .data_deallocator = free_bytes};
  return buffer;
}

void TF_DeleteBuffer(TF_Buffer *buffer) {
  if (buffer == NULL) return;
  if (buffer->data_deallocator != NULL) {
    buffer->data_deallocator((void *)(uintptr_t)buffer->data, buffer->length);
  }
  free(buffer);
}

TF_Buffer TF_GetBuffer(TF_Buffer *buffer) { return buffer == NULL ? (TF_Buffer){0} : *buffer; }

void capi_buffer_take(TF_Buffer *buffer, void *bytes, size_t size_bytes, TF_Status *status) {
  if (!capi_need(buffer, "the buffer", status)) {
    rheos_free(bytes);
  } else if (buffer->data != NULL) {
    capi_fail(status, TF_INVALID_ARGUMENT, "Passing non-empty TF_Buffer is invalid.");
    rheos_free(bytes);
  } else {
    *buffer =
        (TF_Buffer){.data = bytes, .length = size_bytes, .data_deallocator = free_rheos_bytes};
  }
}

void capi_buffer_copy(TF_Buffer *buffer, const void *bytes, size_t size_bytes, TF_Status *status) {
  if (!capi_need(buffer, "the buffer", status)) return;
  if (buffer->data != NULL) {
    capi_fail(status, TF_INVALID_ARGUMENT, "Passing non-empty TF_Buffer is invalid.");
    return;
  }
  void *copy = malloc(size_bytes == 0 ? 1 : size_bytes);
  if (copy == NULL) {
    capi_fail_for_memory(status);
    return;
  }
  if (size_bytes > 0) memcpy(copy, bytes, size_bytes);
  *buffer = (TF_Buffer){.data = copy, .length = size_bytes, .data_deallocator = free_bytes};
}

// ---- Memory that goes at once

struct capi_block {
  capi_block *next;
  max_align_t bytes[];
};

void *capi_pool_get(capi_pool *pool, size_t size_bytes) {
  capi_block *block = size_bytes < SIZE_MAX - sizeof *block
                          ? calloc(1, sizeof *block + (size_bytes == 0 ? 1 : size_bytes))
                          : NULL;
  if (block == NULL) return NULL;
  block->next = pool->blocks;
  pool->blocks = block;
  return block->bytes;
}

void *capi_pool_copy(capi_pool *pool, const void *bytes, size_t size_bytes) {
  void *copy = capi_pool_get(pool, size_bytes);
  if (copy != NULL && size_bytes > 0) memcpy(copy, bytes, size_bytes);
  return copy;
}

char *capi_pool_text(capi_pool *pool, const char *text, size_t length) {
  char *copy = capi_pool_get(pool, length + 1);
  if (copy != NULL && length > 0) memcpy(copy, text, length);
  return copy;
}

void capi_pool_free(capi_pool *pool) {
  while (pool->blocks != NULL) {
    capi_block *next = pool->blocks->next;
    free(pool->blocks);
    pool->blocks = next;
  }
}

bool capi_grow(void *array, size_t count, size_t element_bytes) {
  // At 0, 4, 8, 16, ... elements it is full.
  if (count != 0 && (count < 4 || (count & (count - 1)) != 0)) return true;
  void *old;
  memcpy(&old, array, sizeof old);
  void *grown = realloc(old, (count == 0 ? 4 : 2 * count) * element_bytes);
  if (grown == NULL) return false;
  memcpy(array, &grown, sizeof grown);
  return true;
}

// ---- The wire

bool capi_wire_varint(capi_wire *wire, uint64_t *out_value) {
  *out_value = 0;
  for (int shift = 0; shift < 64 && wire->at < wire->end; shift += 7) {
    uint8_t byte = *wire->at++;
    *out_value |= (uint64_t)(byte & 0x7f) << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

static bool read_bytes(capi_wire *wire, uint64_t count, capi_wire *out_bytes) {
  if (count > capi_wire_size(*wire)) return false;
  *out_bytes = (capi_wire){wire->at, wire->at + count};
  wire->at += count;
  return true;
}

bool capi_wire_next(capi_wire *wire, capi_field *out_field) {
  *out_field = (capi_field){0};
  uint64_t key, size;
  if (wire->at == NULL || wire->at >= wire->end || !capi_wire_varint(wire, &key)) return false;
  out_field->number = (int)(key >> 3 & 0x1fffffff);
  out_field->type = (int)(key & 7);
  switch (out_field->type) {
    case 0: return capi_wire_varint(wire, &out_field->value);
    case 2: return capi_wire_varint(wire, &size) && read_bytes(wire, size, &out_field->bytes);
    case 1:
    case 5:
      if (!read_bytes(wire, out_field->type == 1 ? 8 : 4, &out_field->bytes)) return false;
      memcpy(&out_field->value, out_field->bytes.at, capi_wire_size(out_field->bytes));
      return true;
    default: return false;
  }
}

bool capi_wire_find(capi_wire wire, int number, capi_wire *out_bytes) {
  bool found = false;
  for (capi_field field; capi_wire_next(&wire, &field);) {
    if (field.number != number || field.type != 2) continue;
    *out_bytes = field.bytes;
    found = true;
  }
  return found;
}

// ---- Writing messages

// Room for so many bytes more at the end; NULL when memory is short.
static uint8_t *make_room(capi_message *message, size_t more) {
  if (message->failed) return NULL;
  if (message->capacity - message->size < more) {
    size_t capacity = 2 * message->capacity + more + 64;
    uint8_t *grown = realloc(message->bytes, capacity);
    if (grown == NULL) {
      message->failed = true;
      return NULL;
    }
    message->bytes = grown;
    message->capacity = capacity;
  }
  return message->bytes + message->size;
}

static void write_varint(capi_message *message, uint64_t value) {
  uint8_t *at = make_room(message, 10);
  if (at == NULL) return;
  for (; value > 0x7f; value >>= 7) *at++ = (uint8_t)(value | 0x80);
  *at++ = (uint8_t)value;
  message->size = (size_t)(at - message->bytes);
}

void capi_write_fields(capi_message *message, const void *bytes, size_t size_bytes) {
  uint8_t *at = make_room(message, size_bytes);
  if (at == NULL || size_bytes == 0) return;
  memcpy(at, bytes, size_bytes);
  message->size += size_bytes;
}

void capi_write_bytes(capi_message *message, int field, const void *bytes, size_t size_bytes) {
  write_varint(message, (uint64_t)field << 3 | 2);
  write_varint(message, size_bytes);
  capi_write_fields(message, bytes, size_bytes);
}

void capi_write_text(capi_message *message, int field, const char *text) {
  capi_write_bytes(message, field, text, strlen(text));
}

void capi_write_number(capi_message *message, int field, uint64_t value) {
  write_varint(message, (uint64_t)field << 3);
  write_varint(message, value);
}

void capi_write_message(capi_message *message, int field, capi_message *part) {
  message->failed |= part->failed;
  capi_write_bytes(message, field, part->bytes, part->size);
  free(part->bytes);
  *part = (capi_message){0};
}
