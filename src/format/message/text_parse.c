// Text to messages. The bytes are written as the text is read, so no message has to be built, and
// nesting costs a frame of a fixed stack.
#include "format/message/text_format.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>

enum { MAX_DEPTH = 64, MAX_FIELDS = 128 };

typedef struct frame {
  const ProtobufCMessageDescriptor *type;
  uint32_t number;                 // of the field that it is
  size_t start;                    // in the bytes, behind the tag
  char closer;                     // '}' or '>'
  bool in_list;                    // an element of "[{...}, {...}]"
  uint64_t seen[MAX_FIELDS / 64];  // singular fields met, by index
} frame;

typedef struct parser {
  const char *text, *at, *end;
  const char *name;
  rheos__buffer *bytes;
  frame frames[MAX_DEPTH];
  int depth;  // of the frames in use
} parser;

// ---- Errors

static rheos_status *bad(const parser *p, const char *at, const char *what) {
  int line = 1, column = 1;
  for (const char *c = p->text; c < at; c++) {
    column = *c == '\n' ? 1 : column + 1;
    line += *c == '\n';
  }
  size_t shown = 0;
  while (shown < 20 && at + shown < p->end && (unsigned char)at[shown] >= 0x20) shown++;
  return rheos_status_new(RHEOS_DATA_LOSS, "%s:%d:%d: not the text of a %s: %s at '%.*s'", p->name,
                          line, column, p->frames[0].type->short_name, what, (int)shown, at);
}

// ---- Tokens

static void skip_space(parser *p) {
  for (; p->at < p->end; p->at++) {
    if (*p->at == '#') {
      while (p->at < p->end && *p->at != '\n') p->at++;
      if (p->at == p->end) return;
    }
    if (!isspace((unsigned char)*p->at)) return;
  }
}

static char peek(const parser *p) { return p->at < p->end ? *p->at : '\0'; }

// The character, if it comes next; what is behind it is then next.
static bool take(parser *p, char c) {
  if (p->at == p->end || *p->at != c) return false;
  p->at++;
  skip_space(p);
  return true;
}

static bool is_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

// A name, and how long it is; the space behind it is skipped.
static const char *take_word(parser *p, size_t *out_length) {
  const char *start = p->at;
  while (p->at < p->end && is_word(*p->at)) p->at++;
  *out_length = (size_t)(p->at - start);
  skip_space(p);
  return start;
}

static bool is_text(const char *word, size_t length, const char *text) {
  return length == strlen(text) && memcmp(word, text, length) == 0;
}

// ---- Strings

static int digit_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  c = (char)tolower((unsigned char)c);
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 16;
}

// Up to `count` digits.
static unsigned take_digits(parser *p, int count, int base) {
  unsigned value = 0;
  for (; count > 0 && p->at < p->end && digit_value(*p->at) < base; count--) {
    value = value * (unsigned)base + (unsigned)digit_value(*p->at++);
  }
  return value;
}

static void put_utf8(rheos__buffer *bytes, unsigned c) {
  char out[4];
  int length = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
  static const unsigned char leads[] = {0, 0, 0xc0, 0xe0, 0xf0};
  for (int i = length - 1; i > 0; i--, c >>= 6) out[i] = (char)(0x80 | (c & 0x3f));
  out[0] = (char)(leads[length] | c);
  rheos__buffer_put(bytes, out, (size_t)length);
}

// What is behind a "\".
static rheos_status *take_escape(parser *p) {
  static const char names[] = "abfnrtv\\'\"?", values[] = "\a\b\f\n\r\t\v\\'\"?";
  const char *start = p->at - 1;
  const char c = peek(p);
  const char *known = c != '\0' ? strchr(names, c) : NULL;
  if (known != NULL) {
    p->at++;
    rheos__buffer_put(p->bytes, &values[known - names], 1);
    return NULL;
  }
  unsigned value;
  if (digit_value(c) < 8) {
    value = take_digits(p, 3, 8);
    if (value > 255) return bad(p, start, "an escape beyond a byte");
  } else if (c == 'x' || c == 'X') {
    p->at++;
    if (digit_value(peek(p)) > 15) return bad(p, start, "a bad escape");
    value = take_digits(p, 2, 16);
  } else if (c == 'u' || c == 'U') {
    const char *digits = ++p->at;
    const int count = c == 'u' ? 4 : 8;
    value = take_digits(p, count, 16);
    if (p->at != digits + count || value > 0x10ffff || (value >= 0xd800 && value < 0xe000)) {
      return bad(p, start, "a bad escape");
    }
    put_utf8(p->bytes, value);
    return NULL;
  } else {
    return bad(p, start, "a bad escape");
  }
  const char byte = (char)value;
  rheos__buffer_put(p->bytes, &byte, 1);
  return NULL;
}

// Appends what one pair of quotes holds.
static rheos_status *take_quoted(parser *p) {
  const char *start = p->at;
  const char quote = *p->at++;
  for (;;) {
    const char *run = p->at;
    while (p->at < p->end && *p->at != quote && *p->at != '\\' && *p->at != '\n') p->at++;
    rheos__buffer_put(p->bytes, run, (size_t)(p->at - run));
    if (p->at == p->end || *p->at == '\n') return bad(p, start, "a string without an end");
    if (*p->at++ == quote) return NULL;
    RHEOS_TRY(take_escape(p));
  }
}

// ---- The wire

static void put_tag(parser *p, uint32_t number, int wire_type) {
  rheos__buffer_put_varint(p->bytes, (uint64_t)number << 3 | (unsigned)wire_type);
}

// Puts the length in front of what follows `start`.
static void put_length(parser *p, size_t start) {
  rheos__buffer *bytes = p->bytes;
  if (bytes->failed) return;
  const size_t size = bytes->size_bytes - start;
  rheos__buffer_put_varint(bytes, size);
  if (bytes->failed) return;
  char length[10];
  const size_t length_bytes = bytes->size_bytes - start - size;
  memcpy(length, bytes->data + start + size, length_bytes);
  memmove(bytes->data + start + length_bytes, bytes->data + start, size);
  memcpy(bytes->data + start, length, length_bytes);
}

// ---- Scalars

// Strings one behind the other make one.
static rheos_status *take_string(parser *p, uint32_t number) {
  if (peek(p) != '"' && peek(p) != '\'') return bad(p, p->at, "a missing string");
  put_tag(p, number, 2);
  const size_t start = p->bytes->size_bytes;
  do {
    RHEOS_TRY(take_quoted(p));
    skip_space(p);
  } while (peek(p) == '"' || peek(p) == '\'');
  put_length(p, start);
  return NULL;
}

typedef struct integer {
  uint64_t magnitude;
  bool is_negative;
} integer;

// A decimal, hexadecimal or octal number of at most `largest` and at least -`largest` - 1, or 0 if
// `is_unsigned`.
static rheos_status *take_integer(parser *p, uint64_t largest, bool is_unsigned,
                                  integer *out_value) {
  const char *start = p->at;
  const bool is_negative = take(p, '-');
  size_t length;
  const char *word = take_word(p, &length);
  int base = 10;
  if (length > 1 && word[0] == '0') {
    const bool is_hexadecimal = (word[1] | 0x20) == 'x';
    base = is_hexadecimal ? 16 : 8;
    word += is_hexadecimal ? 2 : 1;
    length -= is_hexadecimal ? 2 : 1;
  }
  if (length == 0 || peek(p) == '.') return bad(p, start, "a missing whole number");
  uint64_t value = 0;
  for (size_t i = 0; i < length; i++) {
    const int digit = digit_value(word[i]);
    if (digit >= base) return bad(p, start, "a missing whole number");
    if (__builtin_mul_overflow(value, (uint64_t)base, &value) ||
        __builtin_add_overflow(value, (uint64_t)digit, &value)) {
      return bad(p, start, "a number out of range");
    }
  }
  if (value > largest + (is_negative ? 1 : 0) || (is_negative && is_unsigned && value > 0)) {
    return bad(p, start, "a number out of range");
  }
  *out_value = (integer){value, is_negative};
  return NULL;
}

// A double as C reads it, a float with an "f" behind it, or a name for what is not finite.
static rheos_status *take_real(parser *p, double *out_value) {
  enum { MAX_LENGTH = 400 };
  char digits[MAX_LENGTH + 1];
  const char *start = p->at;
  const bool is_negative = take(p, '-');
  const char *word = p->at;
  while (p->at < p->end &&
         (is_word(*p->at) || *p->at == '.' ||
          ((*p->at == '-' || *p->at == '+') && p->at > word && (p->at[-1] | 0x20) == 'e'))) {
    p->at++;
  }
  size_t length = (size_t)(p->at - word);
  if (length == 0 || length > MAX_LENGTH) return bad(p, start, "a missing number");
  for (size_t i = 0; i < length; i++) digits[i] = (char)tolower((unsigned char)word[i]);
  skip_space(p);
  const bool is_number = isdigit((unsigned char)digits[0]) || digits[0] == '.';
  if (is_number && digits[1] != 'x' && length > 1 && digits[length - 1] == 'f') length--;
  digits[length] = '\0';
  double value;
  if (is_number) {
    char *end;
    value = strtod(digits, &end);
    if (*end != '\0') return bad(p, start, "a missing number");
  } else if (is_text(digits, length, "inf") || is_text(digits, length, "infinity")) {
    value = (double)INFINITY;
  } else if (is_text(digits, length, "nan")) {
    value = (double)NAN;
  } else {
    return bad(p, start, "a missing number");
  }
  *out_value = is_negative ? -value : value;
  return NULL;
}

static rheos_status *take_enum(parser *p, const ProtobufCEnumDescriptor *type, integer *out_value) {
  if (peek(p) == '-' || isdigit((unsigned char)peek(p))) {
    return take_integer(p, INT32_MAX, false, out_value);
  }
  size_t length;
  const char *word = take_word(p, &length);
  for (unsigned i = 0; i < type->n_value_names; i++) {
    const ProtobufCEnumValueIndex *known = &type->values_by_name[i];
    if (!is_text(word, length, known->name)) continue;
    const int64_t number = type->values[known->index].value;
    *out_value = (integer){(uint64_t)(number < 0 ? -number : number), number < 0};
    return NULL;
  }
  return bad(p, word, "an unknown name of a value");
}

static rheos_status *take_bool(parser *p, integer *out_value) {
  static const char *const names[] = {"false", "False", "f", "0", "true", "True", "t", "1"};
  size_t length;
  const char *word = take_word(p, &length);
  for (int i = 0; i < 8; i++) {
    if (!is_text(word, length, names[i])) continue;
    *out_value = (integer){i >= 4, false};
    return NULL;
  }
  return bad(p, word, "a missing true or false");
}

static rheos_status *take_number(parser *p, const ProtobufCFieldDescriptor *field) {
  integer value = {0};
  double real = 0;
  switch (field->type) {
    case PROTOBUF_C_TYPE_FLOAT:
    case PROTOBUF_C_TYPE_DOUBLE: RHEOS_TRY(take_real(p, &real)); break;
    case PROTOBUF_C_TYPE_BOOL: RHEOS_TRY(take_bool(p, &value)); break;
    case PROTOBUF_C_TYPE_ENUM: RHEOS_TRY(take_enum(p, field->descriptor, &value)); break;
    case PROTOBUF_C_TYPE_UINT32:
    case PROTOBUF_C_TYPE_FIXED32: RHEOS_TRY(take_integer(p, UINT32_MAX, true, &value)); break;
    case PROTOBUF_C_TYPE_UINT64:
    case PROTOBUF_C_TYPE_FIXED64: RHEOS_TRY(take_integer(p, UINT64_MAX, true, &value)); break;
    case PROTOBUF_C_TYPE_INT64:
    case PROTOBUF_C_TYPE_SINT64:
    case PROTOBUF_C_TYPE_SFIXED64: RHEOS_TRY(take_integer(p, INT64_MAX, false, &value)); break;
    default: RHEOS_TRY(take_integer(p, INT32_MAX, false, &value));
  }
  const uint64_t whole = value.is_negative ? 0 - value.magnitude : value.magnitude;
  const float narrow = (float)real;
  switch (field->type) {
    case PROTOBUF_C_TYPE_FLOAT:
      put_tag(p, field->id, 5);
      rheos__buffer_put(p->bytes, &narrow, 4);
      return NULL;
    case PROTOBUF_C_TYPE_DOUBLE:
      put_tag(p, field->id, 1);
      rheos__buffer_put(p->bytes, &real, 8);
      return NULL;
    case PROTOBUF_C_TYPE_FIXED32:
    case PROTOBUF_C_TYPE_SFIXED32:
      put_tag(p, field->id, 5);
      rheos__buffer_put_32(p->bytes, (uint32_t)whole);
      return NULL;
    case PROTOBUF_C_TYPE_FIXED64:
    case PROTOBUF_C_TYPE_SFIXED64:
      put_tag(p, field->id, 1);
      rheos__buffer_put_64(p->bytes, whole);
      return NULL;
    case PROTOBUF_C_TYPE_SINT32:
    case PROTOBUF_C_TYPE_SINT64:
      put_tag(p, field->id, 0);
      rheos__buffer_put_varint(p->bytes, whole << 1 ^ (value.is_negative ? UINT64_MAX : 0));
      return NULL;
    default:
      put_tag(p, field->id, 0);
      rheos__buffer_put_varint(p->bytes, whole);
      return NULL;
  }
}

static rheos_status *take_scalar(parser *p, const ProtobufCFieldDescriptor *field) {
  const bool is_string =
      field->type == PROTOBUF_C_TYPE_STRING || field->type == PROTOBUF_C_TYPE_BYTES;
  return is_string ? take_string(p, field->id) : take_number(p, field);
}

// ---- Messages

// Goes into the message that starts here.
static rheos_status *open_message(parser *p, const ProtobufCMessageDescriptor *type,
                                  uint32_t number, bool in_list) {
  const char *start = p->at;
  const char closer = peek(p) == '<' ? '>' : '}';
  if (!take(p, '{') && !take(p, '<')) return bad(p, start, "a missing '{'");
  if (p->depth == MAX_DEPTH) return bad(p, start, "messages nested too deep");
  put_tag(p, number, 2);
  p->frames[p->depth++] = (frame){type, number, p->bytes->size_bytes, closer, in_list, {0}};
  return NULL;
}

static void take_separator(parser *p) {
  if (!take(p, ',')) take(p, ';');
}

// Behind the closing bracket of a message: its length, and what comes next in a list.
static rheos_status *close_message(parser *p) {
  const frame done = p->frames[--p->depth];
  put_length(p, done.start);
  if (done.in_list && take(p, ',')) return open_message(p, done.type, done.number, true);
  if (done.in_list && !take(p, ']')) return bad(p, p->at, "a missing ']'");
  take_separator(p);
  return NULL;
}

// Notes that the field came; a second value for it, or for another of its oneof, is an error.
static rheos_status *note_field(parser *p, const ProtobufCFieldDescriptor *field,
                                const char *start) {
  frame *top = &p->frames[p->depth - 1];
  if (field->label == PROTOBUF_C_LABEL_REPEATED) return NULL;
  const bool is_oneof = (field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) != 0;
  for (unsigned i = 0; i < top->type->n_fields && i < MAX_FIELDS; i++) {
    const ProtobufCFieldDescriptor *other = &top->type->fields[i];
    const bool excludes =
        other == field || (is_oneof && (other->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) != 0 &&
                           other->quantifier_offset == field->quantifier_offset);
    if (excludes && (top->seen[i / 64] >> i % 64 & 1) != 0) {
      return bad(p, start, "a second value of a field");
    }
    if (other == field) top->seen[i / 64] |= (uint64_t)1 << i % 64;
  }
  return NULL;
}

// Behind "name:" or "name"; a message may be left open.
static rheos_status *take_values(parser *p, const ProtobufCFieldDescriptor *field) {
  const bool is_message = field->type == PROTOBUF_C_TYPE_MESSAGE;
  const char *start = p->at;
  const bool in_list = take(p, '[');
  if (in_list && field->label != PROTOBUF_C_LABEL_REPEATED) {
    return bad(p, start, "a list for a field that takes one value");
  }
  if (in_list && take(p, ']')) {
    take_separator(p);
    return NULL;
  }
  if (is_message) return open_message(p, field->descriptor, field->id, in_list);
  do {
    RHEOS_TRY(take_scalar(p, field));
  } while (in_list && take(p, ','));
  if (in_list && !take(p, ']')) return bad(p, p->at, "a missing ']'");
  take_separator(p);
  return NULL;
}

// "[type.googleapis.com/tensorflow.X] {...}" in an Any.
static rheos_status *take_any(parser *p) {
  const char *start = p->at++;
  const char *url = p->at;
  while (p->at < p->end && (is_word(*p->at) || strchr("./-", *p->at) != NULL)) p->at++;
  const size_t length = (size_t)(p->at - url);
  const ProtobufCMessageDescriptor *type = rheos__any_type(url, length);
  const ProtobufCMessageDescriptor *here = p->frames[p->depth - 1].type;
  if (!take(p, ']') || strcmp(here->name, "google.protobuf.Any") != 0 || type == NULL) {
    return bad(p, start, "a name in brackets that is not known here");
  }
  put_tag(p, 1, 2);
  rheos__buffer_put_varint(p->bytes, length);
  rheos__buffer_put(p->bytes, url, length);
  take(p, ':');
  return open_message(p, type, 2, false);
}

static rheos_status *take_field(parser *p) {
  if (peek(p) == '[') return take_any(p);
  const char *start = p->at;
  size_t length;
  const char *word = take_word(p, &length);
  if (length == 0) return bad(p, start, "a missing name of a field");
  const ProtobufCMessageDescriptor *type = p->frames[p->depth - 1].type;
  const ProtobufCFieldDescriptor *field = NULL;
  for (unsigned i = 0; i < type->n_fields && field == NULL; i++) {
    if (is_text(word, length, type->fields[i].name)) field = &type->fields[i];
  }
  if (field == NULL) return bad(p, start, "an unknown field");
  RHEOS_TRY(note_field(p, field, start));
  const bool has_colon = take(p, ':');
  if (!has_colon && field->type != PROTOBUF_C_TYPE_MESSAGE) {
    return bad(p, p->at, "a missing ':'");
  }
  return take_values(p, field);
}

static rheos_status *take_message(parser *p) {
  skip_space(p);
  while (p->at < p->end || p->depth > 1) {
    if (p->at == p->end) return bad(p, p->at, "a message without an end");
    if (p->depth > 1 && take(p, p->frames[p->depth - 1].closer)) {
      RHEOS_TRY(close_message(p));
    } else {
      RHEOS_TRY(take_field(p));
    }
  }
  return NULL;
}

// Once through the message: fields come in their order, lists are packed, maps have their keys.
static rheos_status *normalize(const ProtobufCMessageDescriptor *descriptor,
                               const rheos__buffer *parsed, rheos__buffer *bytes) {
  rheos__arena arena;
  rheos__arena_init(&arena);
  ProtobufCMessage *message;
  rheos_status *status =
      rheos__proto_unpack(descriptor, parsed->data, parsed->size_bytes, &arena, &message);
  if (status == NULL) rheos__proto_pack(message, bytes);
  rheos__arena_deinit(&arena);
  return status == NULL && bytes->failed ? rheos__out_of_memory() : status;
}

rheos_status *rheos__text_parse(const ProtobufCMessageDescriptor *descriptor, const char *text,
                                size_t text_bytes, const char *name, rheos__buffer *bytes) {
  if (text_bytes == 0) text = "";
  rheos__buffer parsed = {0};
  parser p = {.text = text, .at = text, .end = text + text_bytes, .name = name, .bytes = &parsed};
  p.frames[0] = (frame){.type = descriptor};
  p.depth = 1;
  rheos_status *status = take_message(&p);
  if (status == NULL && parsed.failed) status = rheos__out_of_memory();
  if (status == NULL) status = normalize(descriptor, &parsed, bytes);
  rheos__buffer_deinit(&parsed);
  return status;
}
