// Names in the items of a collection, where the graph is imported below a prefix, or written
// without the scope it is below. Of the messages that TensorFlow keeps in collections (beside
// variables) every text is a name.
#include "format/saved_model/meta_graph.h"

#include "format/graph/graph_scope.h"
#include "format/message/protobuf.h"
#include "meta_graph.pb-c.h"

static const struct {
  const char *key;
  const ProtobufCMessageDescriptor *descriptor;
  const char *name_field;  // which tells where the item is
} kinds[] = {{"savers", &tensorflow__saver_def__descriptor, "filename_tensor_name"},
             {"queue_runners", &tensorflow__queue_runner_def__descriptor, "queue_name"},
             {"cond_context", &tensorflow__cond_context_def__descriptor, "context_name"},
             {"while_context", &tensorflow__while_context_def__descriptor, "context_name"}};
enum { NUM_KINDS = sizeof kinds / sizeof *kinds };

// NUM_KINDS if its items are no messages that are known.
static size_t kind_of(const char *key) {
  size_t i = 0;
  while (i < NUM_KINDS && strcmp(kinds[i].key, key) != 0) i++;
  return i;
}

// How a name becomes another one, in the arena.
typedef rheos_status *(*rename_fn)(const char *scope, rheos_string name, rheos__arena *arena,
                                   rheos_string *out);

// Where the name itself begins in "x", "^x" and "loc:@x".
static size_t start_of_name(rheos_string name) {
  static const char colocation[] = "loc:@";
  const size_t colocation_bytes = sizeof colocation - 1;
  if (name.size_bytes >= colocation_bytes && memcmp(name.data, colocation, colocation_bytes) == 0) {
    return colocation_bytes;
  }
  return name.size_bytes > 0 && name.data[0] == '^';
}

// The name below the prefix.
static rheos_status *prefix_name(const char *prefix, rheos_string name, rheos__arena *arena,
                                 rheos_string *out) {
  const size_t start = start_of_name(name), prefix_bytes = strlen(prefix);
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

// The name as it is inside the scope.
static rheos_status *strip_name(const char *scope, rheos_string name, rheos__arena *arena,
                                rheos_string *out) {
  char *text = rheos__arena_alloc(arena, name.size_bytes + 1);
  if (text == NULL) return rheos__out_of_memory();
  memcpy(text, name.data, name.size_bytes);
  text[name.size_bytes] = '\0';
  const size_t start = start_of_name(name);
  const char *rest = rheos__without_scope(text + start, scope);
  const size_t rest_bytes = strlen(rest);
  memmove(text + start, rest, rest_bytes + 1);
  *out = (rheos_string){text, start + rest_bytes};
  return NULL;
}

static rheos_status *rename_field(const char *scope, rename_fn rename, char **text,
                                  rheos__arena *arena) {
  if (*text == NULL || (*text)[0] == '\0') return NULL;
  rheos_string renamed;
  RHEOS_TRY(rename(scope, (rheos_string){*text, strlen(*text)}, arena, &renamed));
  *text = renamed.data;
  return NULL;
}

// The depth is that of the message, which is bounded.
static rheos_status *rename_message(const char *scope, rename_fn rename, ProtobufCMessage *message,
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
        RHEOS_TRY(rename_field(scope, rename, (char **)item, arena));
      } else if (*item != NULL) {
        RHEOS_TRY(rename_message(scope, rename, *item, arena));
      }
    }
  }
  return NULL;
}

// A message of a kind that is known, with other names.
static rheos_status *rename_bytes(const char *scope, rename_fn rename,
                                  const ProtobufCMessageDescriptor *descriptor, rheos_string bytes,
                                  rheos__arena *arena, rheos_string *out_bytes) {
  ProtobufCMessage *message;
  RHEOS_TRY(rheos__proto_unpack(descriptor, bytes.data, bytes.size_bytes, arena, &message));
  RHEOS_TRY(rename_message(scope, rename, message, arena));
  const size_t size_bytes = protobuf_c_message_get_packed_size(message);
  char *packed = rheos__arena_alloc(arena, size_bytes);
  if (packed == NULL) return rheos__out_of_memory();
  protobuf_c_message_pack(message, (uint8_t *)packed);
  *out_bytes = (rheos_string){packed, size_bytes};
  return NULL;
}

rheos_status *rheos__collection_bytes_below(const char *key, const char *prefix, rheos_string bytes,
                                            rheos__arena *arena, rheos_string *out_bytes) {
  *out_bytes = bytes;
  if (prefix[0] == '\0') return NULL;
  const size_t kind = kind_of(key);
  if (kind == NUM_KINDS) return prefix_name(prefix, bytes, arena, out_bytes);
  return rename_bytes(prefix, prefix_name, kinds[kind].descriptor, bytes, arena, out_bytes);
}

rheos_status *rheos__collection_bytes_are_within(const char *key, const char *scope,
                                                 rheos_string bytes, rheos__arena *arena,
                                                 bool *out_are_within) {
  const size_t kind = kind_of(key), scope_bytes = strlen(scope);
  if (kind == NUM_KINDS) {
    *out_are_within =
        !rheos__is_text(bytes.data, bytes.size_bytes) ||
        (bytes.size_bytes >= scope_bytes && memcmp(bytes.data, scope, scope_bytes) == 0);
    return NULL;
  }
  ProtobufCMessage *message;
  RHEOS_TRY(
      rheos__proto_unpack(kinds[kind].descriptor, bytes.data, bytes.size_bytes, arena, &message));
  const ProtobufCFieldDescriptor *field = protobuf_c_message_descriptor_get_field_by_name(
      kinds[kind].descriptor, kinds[kind].name_field);
  const char *name = *(char **)((char *)message + field->offset);
  *out_are_within = rheos__is_below(name, scope);
  return NULL;
}

rheos_status *rheos__collection_bytes_within(const char *key, const char *scope, rheos_string bytes,
                                             rheos__arena *arena, rheos_string *out_bytes) {
  const size_t kind = kind_of(key);
  *out_bytes = bytes;
  if (scope[0] == '\0' || kind == NUM_KINDS) return NULL;
  return rename_bytes(scope, strip_name, kinds[kind].descriptor, bytes, arena, out_bytes);
}
