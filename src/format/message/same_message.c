#include "format/message/same_message.h"

// A map is a list of messages that the compiler calls "...Entry", of a key and a value.
static const ProtobufCFieldDescriptor *key_of(const ProtobufCFieldDescriptor *field) {
  static const char end[] = "Entry";
  const ProtobufCMessageDescriptor *entry = field->descriptor;
  const size_t size = strlen(entry->short_name), end_size = strlen(end);
  if (size < end_size || strcmp(entry->short_name + size - end_size, end) != 0) return NULL;
  if (entry->n_fields != 2 || strcmp(entry->fields[0].name, "key") != 0) return NULL;
  return strcmp(entry->fields[1].name, "value") == 0 ? &entry->fields[0] : NULL;
}

static const void *member(const void *message, unsigned offset) {
  return (const char *)message + offset;
}

static int compare_texts(const void *a, const void *b, unsigned offset) {
  const char *const *x = member(*(void *const *)a, offset);
  const char *const *y = member(*(void *const *)b, offset);
  return strcmp(*x, *y);
}

static int compare_numbers(const void *a, const void *b, unsigned offset) {
  const uint32_t x = *(const uint32_t *)member(*(void *const *)a, offset);
  const uint32_t y = *(const uint32_t *)member(*(void *const *)b, offset);
  return (x > y) - (x < y);
}

// Insertion: maps are short, and are mostly in order.
static void sort_map(ProtobufCMessage **entries, size_t count,
                     const ProtobufCFieldDescriptor *key) {
  const bool is_text = key->type == PROTOBUF_C_TYPE_STRING;
  for (size_t i = 1; i < count; i++) {
    for (size_t k = i; k > 0; k--) {
      const int order = is_text ? compare_texts(&entries[k - 1], &entries[k], key->offset)
                                : compare_numbers(&entries[k - 1], &entries[k], key->offset);
      if (order <= 0) break;
      ProtobufCMessage *moved = entries[k];
      entries[k] = entries[k - 1];
      entries[k - 1] = moved;
    }
  }
}

static void sort_maps(ProtobufCMessage *message);

static void sort_maps_of(ProtobufCMessage *message, const ProtobufCFieldDescriptor *field) {
  if (field->label != PROTOBUF_C_LABEL_REPEATED) {
    ProtobufCMessage *inner = *(ProtobufCMessage *const *)member(message, field->offset);
    const bool is_set = (field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) == 0 ||
                        *(const uint32_t *)member(message, field->quantifier_offset) == field->id;
    if (inner != NULL && is_set) sort_maps(inner);
    return;
  }
  const size_t count = *(const size_t *)member(message, field->quantifier_offset);
  ProtobufCMessage **all = *(ProtobufCMessage * *const *)member(message, field->offset);
  const ProtobufCFieldDescriptor *key = key_of(field);
  for (size_t i = 0; i < count; i++) sort_maps(all[i]);
  if (key != NULL) sort_map(all, count, key);
}

// Messages nest no deeper than their reader allows.
static void sort_maps(ProtobufCMessage *message) {
  for (unsigned i = 0; i < message->descriptor->n_fields; i++) {
    const ProtobufCFieldDescriptor *field = &message->descriptor->fields[i];
    if (field->type == PROTOBUF_C_TYPE_MESSAGE) sort_maps_of(message, field);
  }
}

static rheos_status *in_order(const ProtobufCMessageDescriptor *descriptor, rheos_string bytes,
                              rheos__arena *arena, rheos__buffer *buffer) {
  ProtobufCMessage *message;
  RHEOS_TRY(rheos__proto_unpack(descriptor, bytes.data, bytes.size_bytes, arena, &message));
  sort_maps(message);
  rheos__proto_pack(message, buffer);
  return buffer->failed ? rheos__out_of_memory() : NULL;
}

rheos_status *rheos__is_same_message(const ProtobufCMessageDescriptor *descriptor, rheos_string a,
                                     rheos_string b, bool *out_same) {
  *out_same = a.size_bytes == b.size_bytes && memcmp(a.data, b.data, a.size_bytes) == 0;
  if (*out_same) return NULL;
  rheos__arena arena;
  rheos__buffer x = {0}, y = {0};
  rheos__arena_init(&arena);
  rheos_status *status = in_order(descriptor, a, &arena, &x);
  if (status == NULL) status = in_order(descriptor, b, &arena, &y);
  if (status == NULL) {
    *out_same = x.size_bytes == y.size_bytes && memcmp(x.data, y.data, x.size_bytes) == 0;
  }
  rheos__buffer_deinit(&x);
  rheos__buffer_deinit(&y);
  rheos__arena_deinit(&arena);
  return status;
}
