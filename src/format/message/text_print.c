// Messages as text. The struct that protobuf-c unpacks is read by its descriptor, so one function
// serves every type.
#include "format/message/text_format.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct printer {
  rheos__buffer *text;
  rheos__arena arena;    // for sorting maps and opening Anys
  rheos_status *status;  // the first failure
} printer;

static void put(printer *p, const char *text) { rheos__buffer_put(p->text, text, strlen(text)); }

static void put_indent(printer *p, int depth) {
  char *to = rheos__buffer_extend(p->text, (size_t)depth * 2);
  if (to != NULL) memset(to, ' ', (size_t)depth * 2);
}

// ---- Scalars

static void put_quoted(printer *p, const void *data, size_t size_bytes) {
  static const char special[] = "\n\r\t\"'\\", names[] = "nrt\"'\\";
  const unsigned char *from = data;
  rheos__buffer *text = p->text;
  put(p, "\"");
  for (size_t i = 0; i < size_bytes;) {
    const size_t start = i;
    while (i < size_bytes && from[i] >= 0x20 && from[i] < 0x7f && from[i] != '"' &&
           from[i] != '\'' && from[i] != '\\') {
      i++;
    }
    rheos__buffer_put(text, from + start, i - start);
    if (i == size_bytes) break;
    const unsigned char c = from[i++];
    const char *known = c != '\0' ? strchr(special, c) : NULL;
    char escape[4] = {'\\', (char)('0' + (c >> 6)), (char)('0' + (c >> 3 & 7)),
                      (char)('0' + (c & 7))};
    if (known != NULL) escape[1] = names[known - special];
    rheos__buffer_put(text, escape, known != NULL ? 2 : 4);
  }
  put(p, "\"");
}

// As few digits as tell the number from all others of its kind, laid out as Python does.
static void put_real(printer *p, double value, bool is_float) {
  if (isnan(value) || isinf(value)) {
    put(p, isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
    return;
  }
  char digits[32], out[48];
  double shown = value;  // what the digits say
  for (int count = is_float ? 6 : 15; count <= 17; count++) {
    snprintf(digits, sizeof digits, "%.*e", count - 1, value);
    shown = strtod(digits, NULL);
    if (is_float ? (float)shown == (float)value : shown == value) break;
  }
  char *end = strchr(digits, 'e');
  const int exponent = atoi(end + 1);
  while (end[-1] == '0') end--;
  if (end[-1] == '.') end--;
  *end = '\0';
  const char *point = strchr(digits, '.');
  if (exponent < -4 || exponent >= 16) {
    snprintf(out, sizeof out, "%se%+03d", digits, exponent);
  } else {
    const int decimals = (point != NULL ? (int)strlen(point + 1) : 0) - exponent;
    snprintf(out, sizeof out, "%.*f", decimals > 0 ? decimals : 1, shown);
  }
  put(p, out);
}

static void put_enum(printer *p, const ProtobufCEnumDescriptor *descriptor, int number) {
  const ProtobufCEnumValue *value = protobuf_c_enum_descriptor_get_value(descriptor, number);
  char digits[16];
  snprintf(digits, sizeof digits, "%d", number);
  put(p, value != NULL ? value->name : digits);
}

static void put_scalar(printer *p, const ProtobufCFieldDescriptor *field, const void *at) {
  char digits[24];
  const ProtobufCBinaryData *data = at;
  switch (field->type) {
    case PROTOBUF_C_TYPE_INT32:
    case PROTOBUF_C_TYPE_SINT32:
    case PROTOBUF_C_TYPE_SFIXED32:
      snprintf(digits, sizeof digits, "%d", *(const int32_t *)at);
      break;
    case PROTOBUF_C_TYPE_UINT32:
    case PROTOBUF_C_TYPE_FIXED32:
      snprintf(digits, sizeof digits, "%u", *(const uint32_t *)at);
      break;
    case PROTOBUF_C_TYPE_INT64:
    case PROTOBUF_C_TYPE_SINT64:
    case PROTOBUF_C_TYPE_SFIXED64:
      snprintf(digits, sizeof digits, "%lld", (long long)*(const int64_t *)at);
      break;
    case PROTOBUF_C_TYPE_UINT64:
    case PROTOBUF_C_TYPE_FIXED64:
      snprintf(digits, sizeof digits, "%llu", (unsigned long long)*(const uint64_t *)at);
      break;
    case PROTOBUF_C_TYPE_BOOL:
      snprintf(digits, sizeof digits, "%s", *(const protobuf_c_boolean *)at ? "true" : "false");
      break;
    case PROTOBUF_C_TYPE_FLOAT: put_real(p, (double)*(const float *)at, true); return;
    case PROTOBUF_C_TYPE_DOUBLE: put_real(p, *(const double *)at, false); return;
    case PROTOBUF_C_TYPE_ENUM: put_enum(p, field->descriptor, *(const int *)at); return;
    case PROTOBUF_C_TYPE_STRING:
      put_quoted(p, *(char *const *)at, strlen(*(char *const *)at));
      return;
    default: put_quoted(p, data->data, data->len); return;
  }
  put(p, digits);
}

// ---- Messages

static void put_message(printer *p, const ProtobufCMessage *message, int depth);

static void put_field(printer *p, const ProtobufCFieldDescriptor *field, const void *at,
                      int depth) {
  put_indent(p, depth);
  put(p, field->name);
  if (field->type != PROTOBUF_C_TYPE_MESSAGE) {
    put(p, ": ");
    put_scalar(p, field, at);
    put(p, "\n");
    return;
  }
  put(p, " {\n");
  put_message(p, *(ProtobufCMessage *const *)at, depth + 1);
  put_indent(p, depth);
  put(p, "}\n");
}

static size_t element_bytes(ProtobufCType type) {
  switch (type) {
    case PROTOBUF_C_TYPE_INT64:
    case PROTOBUF_C_TYPE_SINT64:
    case PROTOBUF_C_TYPE_SFIXED64:
    case PROTOBUF_C_TYPE_UINT64:
    case PROTOBUF_C_TYPE_FIXED64:
    case PROTOBUF_C_TYPE_DOUBLE: return 8;
    case PROTOBUF_C_TYPE_STRING:
    case PROTOBUF_C_TYPE_MESSAGE: return sizeof(void *);
    case PROTOBUF_C_TYPE_BYTES: return sizeof(ProtobufCBinaryData);
    default: return 4;
  }
}

// protobuf-c keeps a map as a list of messages that protoc names so.
static bool is_map_entry(const ProtobufCMessageDescriptor *type) {
  const size_t length = strlen(type->name);
  return type->n_fields == 2 && length > 5 && strcmp(type->name + length - 5, "Entry") == 0 &&
         strcmp(type->fields[0].name, "key") == 0 && strcmp(type->fields[1].name, "value") == 0;
}

static const void *member(const ProtobufCMessage *message, unsigned offset) {
  return (const char *)message + offset;
}

static int by_key(const void *a, const void *b) {
  const ProtobufCMessage *left = *(ProtobufCMessage *const *)a;
  const ProtobufCMessage *right = *(ProtobufCMessage *const *)b;
  const ProtobufCFieldDescriptor *key = &left->descriptor->fields[0];
  const void *x = member(left, key->offset), *y = member(right, key->offset);
  if (key->type == PROTOBUF_C_TYPE_STRING) return strcmp(*(char *const *)x, *(char *const *)y);
  int64_t i, j;
  if (element_bytes(key->type) == 8) {
    i = *(const int64_t *)x, j = *(const int64_t *)y;
  } else {
    i = *(const int32_t *)x, j = *(const int32_t *)y;
  }
  return (i > j) - (i < j);
}

static void put_repeated(printer *p, const ProtobufCFieldDescriptor *field,
                         const ProtobufCMessage *message, int depth) {
  const size_t count = *(const size_t *)member(message, field->quantifier_offset);
  const char *elements = *(char *const *)member(message, field->offset);
  const size_t size = element_bytes(field->type);
  if (count > 1 && field->type == PROTOBUF_C_TYPE_MESSAGE && is_map_entry(field->descriptor)) {
    char *sorted = rheos__arena_copy(&p->arena, elements, count * size);
    if (sorted == NULL) {
      p->text->failed = true;
      return;
    }
    qsort(sorted, count, size, by_key);
    elements = sorted;
  }
  for (size_t i = 0; i < count; i++) put_field(p, field, elements + i * size, depth);
}

// Whether a field that is not repeated has been given a value.
static bool is_set(const ProtobufCFieldDescriptor *field, const ProtobufCMessage *message) {
  const void *at = member(message, field->offset);
  const void *quantifier = member(message, field->quantifier_offset);
  if ((field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) != 0) {
    return *(const uint32_t *)quantifier == field->id;
  }
  static const char zeros[sizeof(uint64_t)];
  switch (field->type) {
    case PROTOBUF_C_TYPE_MESSAGE: return *(ProtobufCMessage *const *)at != NULL;
    case PROTOBUF_C_TYPE_STRING:
      if (field->label == PROTOBUF_C_LABEL_NONE) {
        return *(char *const *)at != NULL && **(char *const *)at != '\0';
      }
      return *(char *const *)at != NULL && *(const void *const *)at != field->default_value;
    case PROTOBUF_C_TYPE_BYTES:
      if (field->label == PROTOBUF_C_LABEL_NONE) return ((const ProtobufCBinaryData *)at)->len > 0;
      break;
    default:
      if (field->label == PROTOBUF_C_LABEL_NONE) {
        return memcmp(at, zeros, element_bytes(field->type)) != 0;
      }
  }
  return *(const protobuf_c_boolean *)quantifier != 0;
}

// An Any as the message in it; false if that cannot be read here.
static bool put_any(printer *p, const ProtobufCMessage *any, int depth) {
  if (strcmp(any->descriptor->name, "google.protobuf.Any") != 0) return false;
  const char *url = *(char *const *)member(any, any->descriptor->fields[0].offset);
  const ProtobufCBinaryData *value = member(any, any->descriptor->fields[1].offset);
  const ProtobufCMessageDescriptor *type = rheos__any_type(url, strlen(url));
  ProtobufCMessage *inside;
  if (type == NULL) return false;
  rheos_status *status = rheos__proto_unpack(type, value->data, value->len, &p->arena, &inside);
  rheos_status_free(status);
  if (status != NULL) return false;
  put_indent(p, depth);
  put(p, "[");
  put(p, url);
  put(p, "] {\n");
  put_message(p, inside, depth + 1);
  put_indent(p, depth);
  put(p, "}\n");
  return true;
}

// As deep as the message, which rheos__proto_unpack() bounds; Anys within Anys add to that.
static void put_message(printer *p, const ProtobufCMessage *message, int depth) {
  enum { MAX_DEPTH = 256 };
  if (depth > MAX_DEPTH && p->status == NULL) {
    p->status = rheos_status_new(RHEOS_INVALID_ARGUMENT, "the message is nested too deep");
  }
  if (p->status != NULL || put_any(p, message, depth)) return;
  const ProtobufCMessageDescriptor *type = message->descriptor;
  for (unsigned i = 0; i < type->n_fields; i++) {
    const ProtobufCFieldDescriptor *field = &type->fields[i];
    if (field->label == PROTOBUF_C_LABEL_REPEATED) {
      put_repeated(p, field, message, depth);
    } else if (is_set(field, message)) {
      put_field(p, field, member(message, field->offset), depth);
    }
  }
}

rheos_status *rheos__text_print(const ProtobufCMessage *message, rheos__buffer *text) {
  printer p = {.text = text};
  rheos__arena_init(&p.arena);
  put_message(&p, message, 0);
  rheos__arena_deinit(&p.arena);
  if (p.status == NULL && text->failed) return rheos__out_of_memory();
  return p.status;
}
