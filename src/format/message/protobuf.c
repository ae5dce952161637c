// Protobuf at the border. protobuf-c descends into nested messages by recursion without a limit,
// and merges repeated singular messages in quadratic time, so bytes are walked over before they
// reach it.
#include "format/message/protobuf.h"

#include "format/message/function_maps.h"

// protobuf-c takes about 1.5 kB of stack a level: this fits the smallest threads.
enum { MAX_DEPTH = 64, MAX_MERGES = 16 };

void rheos__proto_pack(const ProtobufCMessage *message, rheos__buffer *buffer) {
  rheos__whole_maps *maps;
  rheos__arena arena;
  rheos__arena_init(&arena);
  if (rheos__whole_maps_begin(message, &arena, &maps)) {
    size_t size_bytes = protobuf_c_message_get_packed_size(message);
    char *to = rheos__buffer_extend(buffer, size_bytes);
    if (to != NULL) protobuf_c_message_pack(message, (uint8_t *)to);
    rheos__whole_maps_end(maps);
  } else {
    buffer->failed = true;
  }
  rheos__arena_deinit(&arena);
}

// protobuf-c does not say why it failed, so the allocator remembers whether it was the reason.
typedef struct source {
  rheos__arena *arena;
  bool failed;
} source;

static void *source_alloc(void *user, size_t size_bytes) {
  source *from = user;
  void *memory = rheos__arena_alloc(from->arena, size_bytes);
  if (memory == NULL) from->failed = true;
  return memory;
}

static void source_free(void *user, void *memory) {
  (void)user;
  (void)memory;
}

typedef struct frame {
  const ProtobufCMessageDescriptor *descriptor;
  const char *end;
  uint64_t seen;  // singular message fields met so far, by index
} frame;

typedef struct walk {
  frame frames[MAX_DEPTH];
  int depth;   // of the frames in use
  int merges;  // singular messages that came again
} walk;

static rheos_status *damaged(const walk *w, const char *what) {
  return rheos_status_new(RHEOS_DATA_LOSS, "not a valid %s message: %s",
                          w->frames[0].descriptor->short_name, what);
}

// The wire type that a field of such a type has, one by one.
static int wire_type_of(ProtobufCType type) {
  switch (type) {
    case PROTOBUF_C_TYPE_STRING:
    case PROTOBUF_C_TYPE_BYTES:
    case PROTOBUF_C_TYPE_MESSAGE: return 2;
    case PROTOBUF_C_TYPE_SFIXED32:
    case PROTOBUF_C_TYPE_FIXED32:
    case PROTOBUF_C_TYPE_FLOAT: return 5;
    case PROTOBUF_C_TYPE_SFIXED64:
    case PROTOBUF_C_TYPE_FIXED64:
    case PROTOBUF_C_TYPE_DOUBLE: return 1;
    default: return 0;
  }
}

// Numbers one behind the other.
static bool is_packed(int wire_type, const char *at, size_t size_bytes) {
  if (wire_type == 5) return size_bytes % 4 == 0;
  if (wire_type == 1) return size_bytes % 8 == 0;
  uint64_t unused;
  for (const char *end = at + size_bytes; at < end;) {
    if (!rheos__read_varint(&at, end, &unused)) return false;
  }
  return true;
}

// A field with its own length: text must be free of NULs, a message is entered.
static rheos_status *enter_field(walk *w, const ProtobufCFieldDescriptor *field, const char **at,
                                 size_t size_bytes) {
  frame *top = &w->frames[w->depth - 1];
  if (field != NULL && field->type == PROTOBUF_C_TYPE_STRING &&
      memchr(*at, '\0', size_bytes) != NULL) {
    return damaged(w, "a text holds a NUL byte");
  }
  if (field == NULL || field->type != PROTOBUF_C_TYPE_MESSAGE) {
    const int single = field != NULL ? wire_type_of(field->type) : 2;
    if (single != 2 && !is_packed(single, *at, size_bytes)) {
      return damaged(w, "bad packed numbers");
    }
    *at += size_bytes;
    return NULL;
  }
  if (field->label != PROTOBUF_C_LABEL_REPEATED) {
    uint64_t bit = (uint64_t)1 << ((field - top->descriptor->fields) & 63);
    if ((top->seen & bit) != 0 && ++w->merges > MAX_MERGES) {
      return damaged(w, "a field comes too often");
    }
    top->seen |= bit;
  }
  if (w->depth == MAX_DEPTH) return damaged(w, "nested too deep");
  w->frames[w->depth++] = (frame){field->descriptor, *at + size_bytes, 0};
  return NULL;
}

// What the message says of a field; NULL if nothing.
static const ProtobufCFieldDescriptor *field_of(const walk *w, uint64_t number) {
  const ProtobufCMessageDescriptor *message = w->frames[w->depth - 1].descriptor;
  if (number > UINT32_MAX) return NULL;
  // Numbers mostly begin with 1 and leave none out.
  if (number <= message->n_fields && message->fields[number - 1].id == number) {
    return &message->fields[number - 1];
  }
  return protobuf_c_message_descriptor_get_field(message, (unsigned)number);
}

static bool has_wire_type(const ProtobufCFieldDescriptor *field, int wire_type) {
  const int single = wire_type_of(field->type);
  return wire_type == single || (wire_type == 2 && field->label == PROTOBUF_C_LABEL_REPEATED);
}

static rheos_status *walk_field(walk *w, const char **at) {
  const char *end = w->frames[w->depth - 1].end;
  uint64_t tag, value;
  if (!rheos__read_varint(at, end, &tag) || tag >> 3 == 0 || tag >> 32 != 0) {
    return damaged(w, "a bad tag");
  }
  const ProtobufCFieldDescriptor *field = field_of(w, tag >> 3);
  const int wire_type = (int)(tag & 7);
  if (field != NULL && !has_wire_type(field, wire_type)) return damaged(w, "a bad wire type");
  switch (wire_type) {
    case 0:
      if (!rheos__read_varint(at, end, &value)) return damaged(w, "a bad number");
      return NULL;
    case 1:
    case 5:
      value = wire_type == 1 ? 8 : 4;
      if (value > (size_t)(end - *at)) return damaged(w, "it is cut short");
      *at += value;
      return NULL;
    case 2:
      if (!rheos__read_varint(at, end, &value)) return damaged(w, "a bad length");
      if (value > (size_t)(end - *at)) return damaged(w, "it is cut short");
      return enter_field(w, field, at, (size_t)value);
    default: return damaged(w, "a bad wire type");
  }
}

rheos_status *rheos__proto_check(const ProtobufCMessageDescriptor *descriptor, const char *bytes,
                                 size_t size_bytes) {
  walk w;
  w.frames[0] = (frame){descriptor, bytes + size_bytes, 0};
  w.depth = 1;
  w.merges = 0;
  const char *at = bytes;
  while (w.depth > 0) {
    if (at == w.frames[w.depth - 1].end) {
      w.depth--;
    } else {
      RHEOS_TRY(walk_field(&w, &at));
    }
  }
  return NULL;
}

rheos_status *rheos__proto_unpack(const ProtobufCMessageDescriptor *descriptor, const void *bytes,
                                  size_t size_bytes, rheos__arena *arena,
                                  ProtobufCMessage **out_message) {
  *out_message = NULL;
  if (size_bytes == 0) bytes = "";
  RHEOS_TRY(rheos__proto_check(descriptor, bytes, size_bytes));
  return rheos__proto_unpack_checked(descriptor, bytes, size_bytes, arena, out_message);
}

rheos_status *rheos__proto_unpack_checked(const ProtobufCMessageDescriptor *descriptor,
                                          const void *bytes, size_t size_bytes, rheos__arena *arena,
                                          ProtobufCMessage **out_message) {
  *out_message = NULL;
  source from = {arena, false};
  ProtobufCAllocator allocator = {source_alloc, source_free, &from};
  *out_message = protobuf_c_message_unpack(descriptor, &allocator, size_bytes, bytes);
  if (*out_message != NULL) return NULL;
  if (from.failed) return rheos__out_of_memory();
  return rheos_status_new(RHEOS_DATA_LOSS, "not a valid %s message", descriptor->short_name);
}
