#include "net/message.h"

#include "codec/wire.h"
#include "format/message/tensor_proto.h"
#include "format/message/variant_proto.h"

// Fields of NamedTensorProto and TensorProto.
enum { NAMED_NAME = 1, NAMED_TENSOR = 2 };
enum { TENSOR_DTYPE = 1, TENSOR_SHAPE = 2, TENSOR_VERSION = 3, TENSOR_CONTENT = 4 };

// ---- Going over chunks

typedef struct cursor {
  const rheos__chunk *chunk;
  const char *at;  // in the chunk
  size_t left;     // of what is read, in this chunk and later ones
} cursor;

static cursor cursor_of(rheos__chunks chunks) {
  cursor c = {.chunk = chunks.chunks};
  for (size_t i = 0; i < chunks.count; i++) c.left += chunks.chunks[i].size_bytes;
  c.at = chunks.count > 0 ? c.chunk->data : NULL;
  return c;
}

// How many bytes lie side by side; never 0 if any is left.
static size_t side_by_side(cursor *c) {
  if (c->left == 0) return 0;
  size_t here = (size_t)(c->chunk->data + c->chunk->size_bytes - c->at);
  while (here == 0) {
    c->chunk++;
    c->at = c->chunk->data;
    here = c->chunk->size_bytes;
  }
  return here < c->left ? here : c->left;
}

// Copies the next bytes, which are there; `to` NULL: passes them.
static void take(cursor *c, char *to, size_t size_bytes) {
  while (size_bytes > 0) {
    const size_t here = side_by_side(c), part = here < size_bytes ? here : size_bytes;
    if (to != NULL) {
      memcpy(to, c->at, part);
      to += part;
    }
    c->at += part;
    c->left -= part;
    size_bytes -= part;
  }
}

// The next `size_bytes` as a message of their own.
static cursor inside(const cursor *c, size_t size_bytes) {
  cursor part = *c;
  part.left = size_bytes;
  return part;
}

static bool take_varint(cursor *c, uint64_t *out_value) {
  *out_value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    if (side_by_side(c) == 0) return false;
    const unsigned char byte = (unsigned char)*c->at++;
    c->left--;
    *out_value |= (uint64_t)(byte & 127) << shift;
    if (byte < 128) return true;
  }
  return false;
}

typedef struct field {
  uint32_t number;
  rheos__wire_type type;
  uint64_t value;     // of a varint
  size_t size_bytes;  // of what follows, which is not taken
} field;

static bool take_key(cursor *c, field *out_field) {
  uint64_t key;
  if (!take_varint(c, &key) || key >> 3 == 0 || key > UINT32_MAX) return false;
  *out_field = (field){.number = (uint32_t)(key >> 3), .type = (rheos__wire_type)(key & 7)};
  return true;
}

// False at the end, and where the bytes are no message: then `*out_sound` is false.
static bool next_field(cursor *c, field *out_field, bool *out_sound) {
  uint64_t size = 0;
  *out_sound = true;
  if (c->left == 0) return false;
  bool sound = take_key(c, out_field);
  if (sound) {
    switch (out_field->type) {
      case RHEOS__WIRE_VARINT: sound = take_varint(c, &out_field->value); break;
      case RHEOS__WIRE_64: size = 8; break;
      case RHEOS__WIRE_32: size = 4; break;
      case RHEOS__WIRE_BYTES: sound = take_varint(c, &size); break;
      default: sound = false;
    }
  }
  *out_sound = sound && size <= c->left;
  out_field->size_bytes = *out_sound ? (size_t)size : 0;
  return *out_sound;
}

static rheos_status *no_message(const rheos__message_form *form) {
  return RHEOS_INVALID("the bytes are no %s", form->descriptor->short_name);
}

static rheos_status *take_bytes(cursor *c, size_t size_bytes, rheos__arena *arena,
                                const char **out_bytes) {
  *out_bytes = "";
  if (side_by_side(c) >= size_bytes && size_bytes > 0) {
    *out_bytes = c->at;
    take(c, NULL, size_bytes);
    return NULL;
  }
  if (size_bytes == 0) return NULL;
  char *copy = rheos__arena_alloc(arena, size_bytes);
  if (copy == NULL) return rheos__out_of_memory();
  take(c, copy, size_bytes);
  *out_bytes = copy;
  return NULL;
}

// ---- Tensors

// What comes before the bytes of a tensor.
typedef struct tensor_head {
  rheos_dtype dtype;
  rheos_shape shape;
  bool has_shape;
} tensor_head;

static bool is_plain(rheos_dtype dtype) {
  return dtype != RHEOS_INVALID_DTYPE && dtype != RHEOS_STRING && dtype != RHEOS_RESOURCE &&
         dtype != RHEOS_VARIANT && rheos_dtype_size(dtype) > 0;
}

static rheos_status *take_shape(cursor *c, size_t size_bytes, rheos__arena *arena,
                                tensor_head *head) {
  const char *bytes;
  Tensorflow__TensorShapeProto *proto;
  RHEOS_TRY(take_bytes(c, size_bytes, arena, &bytes));
  RHEOS_TRY(RHEOS_PROTO_UNPACK(tensor_shape_proto, bytes, size_bytes, arena, &proto));
  head->has_shape = true;
  return rheos__shape_from_proto(proto, &head->shape);
}

// Whether a tensor with that head has so many bytes.
static bool fits(const tensor_head *head, size_t size_bytes) {
  if (!head->has_shape || !is_plain(head->dtype) || !rheos_shape_is_known(&head->shape)) {
    return false;
  }
  const int64_t count = rheos_shape_num_elements(&head->shape);
  const size_t size = rheos_dtype_size(head->dtype);
  return count > 0 && size_bytes % size == 0 && (uint64_t)count == size_bytes / size;
}

// The way most tensors come: a dtype, a shape, then bytes. `*out_tensor` NULL: some other way.
static rheos_status *take_in_order(cursor c, rheos__arena *arena, rheos_tensor **out_tensor) {
  tensor_head head = {.dtype = RHEOS_INVALID_DTYPE};
  field f;
  bool sound;
  while (*out_tensor == NULL && next_field(&c, &f, &sound)) {
    if (f.number == TENSOR_DTYPE && f.type == RHEOS__WIRE_VARINT) {
      RHEOS_TRY(rheos__dtype_from_proto((int64_t)f.value, &head.dtype));
    } else if (f.number == TENSOR_SHAPE && f.type == RHEOS__WIRE_BYTES) {
      RHEOS_TRY(take_shape(&c, f.size_bytes, arena, &head));
    } else if (f.number == TENSOR_CONTENT && fits(&head, f.size_bytes)) {
      RHEOS_TRY(rheos_tensor_new(head.dtype, head.shape, out_tensor));
      take(&c, (*out_tensor)->data, f.size_bytes);
    } else if (f.number != TENSOR_VERSION) {
      return NULL;
    }
  }
  return NULL;
}

static rheos_status *take_tensor(cursor *c, size_t size_bytes, rheos__arena *arena,
                                 rheos_tensor **out_tensor) {
  const char *bytes;
  *out_tensor = NULL;
  RHEOS_TRY(take_in_order(inside(c, size_bytes), arena, out_tensor));
  if (*out_tensor != NULL) {
    take(c, NULL, size_bytes);
    return NULL;
  }
  RHEOS_TRY(take_bytes(c, size_bytes, arena, &bytes));
  return rheos__tensor_message_parse(bytes, size_bytes, out_tensor);
}

static rheos_status *take_name(cursor *c, size_t size_bytes, rheos__arena *arena, char **out_name) {
  char *name = rheos__arena_alloc(arena, size_bytes + 1);
  if (name == NULL) return rheos__out_of_memory();
  take(c, name, size_bytes);
  name[size_bytes] = '\0';
  *out_name = name;
  return NULL;
}

// A NamedTensorProto; without a tensor it is no message.
static rheos_status *take_named(const rheos__message_form *form, cursor *c, size_t size_bytes,
                                rheos__arena *arena, char **out_name, rheos_tensor **out_tensor) {
  cursor part = inside(c, size_bytes);
  field f;
  bool sound;
  take(c, NULL, size_bytes);
  while (next_field(&part, &f, &sound)) {
    if (f.number == NAMED_NAME && f.type == RHEOS__WIRE_BYTES) {
      RHEOS_TRY(take_name(&part, f.size_bytes, arena, out_name));
    } else if (f.number == NAMED_TENSOR && f.type == RHEOS__WIRE_BYTES && *out_tensor == NULL) {
      RHEOS_TRY(take_tensor(&part, f.size_bytes, arena, out_tensor));
    } else {
      take(&part, NULL, f.size_bytes);
    }
  }
  return sound && *out_tensor != NULL ? NULL : no_message(form);
}

static rheos_status *make_room(rheos__received *r) {
  if (r->num_tensors < r->capacity) return NULL;
  const size_t capacity = r->capacity > 0 ? 2 * r->capacity : 8;
  rheos_tensor **tensors = rheos__realloc(r->tensors, capacity * sizeof *tensors);
  if (tensors == NULL) return rheos__out_of_memory();
  r->tensors = tensors;
  char **names = rheos__realloc(r->names, capacity * sizeof *names);
  if (names == NULL) return rheos__out_of_memory();
  r->names = names;
  r->capacity = capacity;
  return NULL;
}

static rheos_status *add_tensor(const rheos__message_form *form, cursor *c, size_t size_bytes,
                                rheos__received *r) {
  RHEOS_TRY(make_room(r));
  char **name = &r->names[r->num_tensors];
  rheos_tensor **tensor = &r->tensors[r->num_tensors];
  *name = "";
  *tensor = NULL;
  rheos_status *status = form->are_named ? take_named(form, c, size_bytes, &r->arena, name, tensor)
                                         : take_tensor(c, size_bytes, &r->arena, tensor);
  if (*tensor != NULL) r->num_tensors++;
  return status;
}

// ---- Messages

// Takes the fields that the form names; what lies between goes to `rest`.
static rheos_status *split(const rheos__message_form *form, cursor *c, rheos__received *r,
                           rheos__buffer *rest) {
  field f;
  bool sound;
  cursor before = *c;
  while (next_field(c, &f, &sound)) {
    const int number = (int)f.number;
    if (number == form->tensors && f.type == RHEOS__WIRE_BYTES) {
      RHEOS_TRY(add_tensor(form, c, f.size_bytes, r));
    } else if (number == form->bytes && f.type == RHEOS__WIRE_BYTES) {
      r->size_bytes = f.size_bytes;
      RHEOS_TRY(take_bytes(c, f.size_bytes, &r->arena, &r->bytes));
    } else {
      take(c, NULL, f.size_bytes);
      const size_t whole = before.left - c->left;
      char *to = rheos__buffer_extend(rest, whole);
      if (to == NULL) return rheos__out_of_memory();
      take(&before, to, whole);
    }
    before = *c;
  }
  return sound ? NULL : no_message(form);
}

static rheos_status *read_rest(const rheos__message_form *form, const char *bytes,
                               size_t size_bytes, rheos__received *r) {
  rheos_status *status =
      rheos__proto_unpack(form->descriptor, bytes, size_bytes, &r->arena, &r->message);
  if (status == NULL || rheos_status_code(status) != RHEOS_DATA_LOSS) return status;
  rheos_status_free(status);
  return no_message(form);
}

rheos_status *rheos__receive_message(const rheos__message_form *form, rheos__chunks chunks,
                                     rheos__received *out_received) {
  rheos__received *r = out_received;
  *r = (rheos__received){.bytes = ""};
  rheos__arena_init(&r->arena);
  cursor c = cursor_of(chunks);
  if (form->tensors == 0 && form->bytes == 0) {
    const char *bytes;
    const size_t size = c.left;
    RHEOS_TRY(take_bytes(&c, size, &r->arena, &bytes));
    return read_rest(form, bytes, size, r);
  }
  rheos__buffer rest = {0};
  rheos_status *status = split(form, &c, r, &rest);
  if (status == NULL) status = read_rest(form, rest.data, rest.size_bytes, r);
  rheos__buffer_deinit(&rest);
  return status;
}

void rheos__received_deinit(rheos__received *received) {
  for (size_t i = 0; i < received->num_tensors; i++) rheos_tensor_unref(received->tensors[i]);
  rheos__free(received->tensors);
  rheos__free(received->names);
  rheos__arena_deinit(&received->arena);
}

// ---- Buffers

// The first run of bytes in the message under that number.
static bool find_bytes(rheos__wire wire, uint32_t number, rheos__wire *out_data) {
  rheos__wire_field field;
  bool is_sound;
  while (rheos__wire_next(&wire, &field, &is_sound)) {
    if (field.number != number || field.type != RHEOS__WIRE_BYTES) continue;
    *out_data = field.data;
    return true;
  }
  return false;
}

// The bytes may come in several runs.
static size_t copy_runs(rheos__wire wire, char *to, bool *out_sound) {
  rheos__wire_field field;
  size_t size = 0;
  while (rheos__wire_next(&wire, &field, out_sound)) {
    if (field.number != 1 || field.type != RHEOS__WIRE_BYTES) continue;
    const size_t run = rheos__wire_size(field.data);
    if (to != NULL && run > 0) memcpy(to + size, field.data.at, run);
    size += run;
  }
  return size;
}

rheos_status *rheos__read_buffer(const char *bytes, size_t size_bytes, rheos_tensor **out_tensor) {
  rheos__wire extra = rheos__wire_of(NULL, 0);
  bool is_sound = true;
  const bool is_there = find_bytes(rheos__wire_of(bytes, size_bytes), 2, &extra);
  const size_t size = copy_runs(extra, NULL, &is_sound);
  if (!is_there || !is_sound) return RHEOS_INVALID("a RecvBufResponse has no bytes of a tensor");
  const rheos_shape shape = RHEOS_SHAPE((int64_t)size);
  RHEOS_TRY(rheos__tensor_new(RHEOS_UINT8, &shape, out_tensor));
  copy_runs(extra, rheos_tensor_data(*out_tensor), &is_sound);
  return NULL;
}
