// Names in the items of a collection, where the graph is imported below a prefix. Of the messages
// that TensorFlow keeps in collections (beside variables) every text is a name.
#include "format/meta_graph.h"
#include "format/protobuf.h"
#include "meta_graph.pb-c.h"

static const struct {
  const char *key;
  const ProtobufCMessageDescriptor *descriptor;
} kinds[] = {{"savers", &tensorflow__saver_def__descriptor},
             {"queue_runners", &tensorflow__queue_runner_def__descriptor},
             {"cond_context", &tensorflow__cond_context_def__descriptor},
             {"while_context", &tensorflow__while_context_def__descriptor}};

static const ProtobufCMessageDescriptor *descriptor_of(const char *key) {
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    if (strcmp(kinds[i].key, key) == 0) return kinds[i].descriptor;
  }
  return NULL;
}

// "x", "^x" and "loc:@x" below the prefix.
static rheos_status *prefix_name(const char *prefix, rheos_string name, rheos__arena *arena,
                                 rheos_string *out) {
  static const char colocation[] = "loc:@";
  const size_t colocation_bytes = sizeof colocation - 1, prefix_bytes = strlen(prefix);
  size_t start = 0;
  if (name.size_bytes > 0 && name.data[0] == '^') start = 1;
  if (name.size_bytes >= colocation_bytes && memcmp(name.data, colocation, colocation_bytes) == 0) {
    start = colocation_bytes;
  }
  const size_t size_bytes = name.size_bytes + prefix_bytes + 1;
  char *text = rheos__arena_alloc(arena, size_bytes + 1);
  if (text == NULL) return rheos__out_of_memory();
  if (start > 0) memcpy(text, name.data, start);
  memcpy(text + start, prefix, prefix_bytes);
  text[start + prefix_bytes] = '/';
  if (name.size_bytes > start) {
    memcpy(text + start + prefix_bytes + 1, name.data + start, name.size_bytes - start);
  }
  text[size_bytes] = '\0';
  *out = (rheos_string){text, size_bytes};
  return NULL;
}

static rheos_status *prefix_field(const char *prefix, char **text, rheos__arena *arena) {
  if (*text == NULL || (*text)[0] == '\0') return NULL;
  rheos_string longer;
  RHEOS_TRY(prefix_name(prefix, (rheos_string){*text, strlen(*text)}, arena, &longer));
  *text = longer.data;
  return NULL;
}

// The depth is that of the message, which is bounded.
static rheos_status *prefix_message(const char *prefix, ProtobufCMessage *message,
                                    rheos__arena *arena) {
  const ProtobufCMessageDescriptor *descriptor = message->descriptor;
  for (unsigned i = 0; i < descriptor->n_fields; i++) {
    const ProtobufCFieldDescriptor *field = &descriptor->fields[i];
    const bool is_text = field->type == PROTOBUF_C_TYPE_STRING;
    if (!is_text && field->type != PROTOBUF_C_TYPE_MESSAGE) continue;
    char *at = (char *)message + field->offset;
    size_t count = 1;
    if (field->label == PROTOBUF_C_LABEL_REPEATED) {
      count = *(size_t *)((char *)message + field->quantifier_offset);
      at = *(char **)at;
    } else if ((field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) != 0 &&
               *(uint32_t *)((char *)message + field->quantifier_offset) != field->id) {
      continue;
    }
    for (size_t k = 0; k < count; k++) {
      void **item = (void **)at + k;
      if (is_text) {
        RHEOS_TRY(prefix_field(prefix, (char **)item, arena));
      } else if (*item != NULL) {
        RHEOS_TRY(prefix_message(prefix, *item, arena));
      }
    }
  }
  return NULL;
}

rheos_status *rheos__collection_bytes_below(const char *key, const char *prefix,
                                            rheos_string bytes, rheos__arena *arena,
                                            rheos_string *out_bytes) {
  *out_bytes = bytes;
  if (prefix[0] == '\0') return NULL;
  const ProtobufCMessageDescriptor *descriptor = descriptor_of(key);
  if (descriptor == NULL) return prefix_name(prefix, bytes, arena, out_bytes);
  ProtobufCMessage *message;
  RHEOS_TRY(rheos__proto_unpack(descriptor, bytes.data, bytes.size_bytes, arena, &message));
  RHEOS_TRY(prefix_message(prefix, message, arena));
  const size_t size_bytes = protobuf_c_message_get_packed_size(message);
  char *packed = rheos__arena_alloc(arena, size_bytes);
  if (packed == NULL) return rheos__out_of_memory();
  protobuf_c_message_pack(message, (uint8_t *)packed);
  *out_bytes = (rheos_string){packed, size_bytes};
  return NULL;
}
