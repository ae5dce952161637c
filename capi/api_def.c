// How code generators are to show ops: what an OpDef says, with what texts of ApiDefs say instead.
#include "handles.h"

#include <stdlib.h>
#include <string.h>

// Fields of an ApiDef.
enum {
  OP_NAME = 1,
  VISIBILITY = 2,
  ENDPOINT = 3,
  IN_ARG = 4,
  OUT_ARG = 5,
  ATTR = 6,
  SUMMARY = 7,
  DESCRIPTION = 8,
  PREFIX = 9,
  SUFFIX = 10,
  ARG_ORDER = 11,
  NUM_FIELDS = 14,
};
enum { VISIBLE = 1, DESCRIPTION_OF_ATTR = 4 };

typedef struct api_def {
  char *name;
  capi_message bytes;  // an ApiDef
} api_def;

struct TF_ApiDefMap {
  pthread_mutex_t lock;
  api_def *defs;
  size_t count;
};

void TF_DeleteApiDefMap(TF_ApiDefMap *apimap) {
  if (apimap == NULL) return;
  for (size_t i = 0; i < apimap->count; i++) {
    free(apimap->defs[i].name);
    free(apimap->defs[i].bytes.bytes);
  }
  free(apimap->defs);
  pthread_mutex_destroy(&apimap->lock);
  free(apimap);
}

static api_def *find(TF_ApiDefMap *map, const char *name, size_t length) {
  for (size_t i = 0; i < map->count; i++) {
    if (strlen(map->defs[i].name) == length && memcmp(map->defs[i].name, name, length) == 0) {
      return &map->defs[i];
    }
  }
  return NULL;
}

static void write_wire(capi_message *to, int field, capi_wire wire) {
  capi_write_bytes(to, field, wire.at, capi_wire_size(wire));
}

// ---- What an OpDef says

// An ArgDef: field 1 is the name, 2 the description. It is called what it is called.
static void write_arg(capi_message *to, int field, capi_wire arg) {
  capi_wire name = {0}, description = {0};
  capi_message made = {0};
  capi_wire_find(arg, 1, &name);
  write_wire(&made, 1, name);
  write_wire(&made, 2, name);
  if (capi_wire_find(arg, 2, &description)) write_wire(&made, 3, description);
  capi_write_message(to, field, &made);
}

// An AttrDef: field 1 is the name, 3 the default, 4 the description.
static void write_attr(capi_message *to, capi_wire attr) {
  capi_wire name = {0}, part = {0};
  capi_message made = {0};
  capi_wire_find(attr, 1, &name);
  write_wire(&made, 1, name);
  write_wire(&made, 2, name);
  if (capi_wire_find(attr, 3, &part)) write_wire(&made, 3, part);
  if (capi_wire_find(attr, 4, &part)) write_wire(&made, DESCRIPTION_OF_ATTR, part);
  capi_write_message(to, ATTR, &made);
}

// An OpDef: field 1 is the name, 2 and 3 inputs and outputs, 4 attributes, 5 and 6 texts.
static capi_message from_op_def(capi_wire op) {
  capi_message made = {0}, endpoint = {0};
  capi_wire name = {0}, args = op;
  capi_wire_find(op, 1, &name);
  write_wire(&made, OP_NAME, name);
  capi_write_number(&made, VISIBILITY, VISIBLE);
  write_wire(&endpoint, 1, name);
  capi_write_message(&made, ENDPOINT, &endpoint);
  for (capi_field field; capi_wire_next(&op, &field);) {
    switch (field.type == 2 ? field.number : 0) {
      case 2: write_arg(&made, IN_ARG, field.bytes); break;
      case 3: write_arg(&made, OUT_ARG, field.bytes); break;
      case 4: write_attr(&made, field.bytes); break;
      case 5: write_wire(&made, SUMMARY, field.bytes); break;
      case 6: write_wire(&made, DESCRIPTION, field.bytes); break;
      default: break;
    }
  }
  for (capi_field field; capi_wire_next(&args, &field);) {
    if (field.number == 2 && capi_wire_find(field.bytes, 1, &name)) {
      write_wire(&made, ARG_ORDER, name);
    }
  }
  return made;
}

TF_ApiDefMap *TF_NewApiDefMap(TF_Buffer *op_list_buffer, TF_Status *status) {
  capi_succeed(status);
  if (!capi_need(op_list_buffer, "the list of ops", status)) return NULL;
  rheos_status *error = rheos_message_check("OpList", op_list_buffer->data, op_list_buffer->length);
  if (error != NULL) {
    rheos_status_free(error);
    capi_fail(status, TF_INVALID_ARGUMENT, "Unparseable OpList");
    return NULL;
  }
  TF_ApiDefMap *map = calloc(1, sizeof *map);
  bool is_whole = map != NULL;
  if (map != NULL) pthread_mutex_init(&map->lock, NULL);
  capi_wire list = capi_wire_of(op_list_buffer->data, op_list_buffer->length);
  for (capi_field field; is_whole && capi_wire_next(&list, &field);) {
    capi_wire name = {0};
    if (field.number != 1 || !capi_wire_find(field.bytes, 1, &name)) continue;
    is_whole = capi_grow(&map->defs, map->count, sizeof *map->defs);
    if (!is_whole) break;
    api_def *def = &map->defs[map->count++];
    def->name = strndup((const char *)name.at, capi_wire_size(name));
    def->bytes = from_op_def(field.bytes);
    is_whole = def->name != NULL && !def->bytes.failed;
  }
  if (is_whole) return map;
  if (map != NULL && map->count > 0 && map->defs[map->count - 1].name == NULL) {
    free(map->defs[--map->count].bytes.bytes);
  }
  TF_DeleteApiDefMap(map);
  capi_fail_for_memory(status);
  return NULL;
}

// ---- What a text says

static bool same_name(capi_wire a, capi_wire b) {
  capi_wire x = {0}, y = {0};
  capi_wire_find(a, 1, &x);
  capi_wire_find(b, 1, &y);
  return capi_wire_size(x) == capi_wire_size(y) &&
         (x.at == y.at || memcmp(x.at, y.at, capi_wire_size(x)) == 0);
}

// The part of `wire` with that field and the name that `like` has; false if there is none.
static bool find_named(capi_wire wire, int number, capi_wire like, capi_wire *out_part) {
  for (capi_field field; capi_wire_next(&wire, &field);) {
    if (field.number != number || field.type != 2 || !same_name(field.bytes, like)) continue;
    *out_part = field.bytes;
    return true;
  }
  return false;
}

static bool has_field(capi_wire wire, int number) {
  for (capi_field field; capi_wire_next(&wire, &field);) {
    if (field.number == number) return true;
  }
  return false;
}

// An argument or attribute: what is behind counts, as protocol buffers are read. A default is
// replaced as a whole.
static void write_merged(capi_message *to, int number, capi_wire old, capi_wire by) {
  capi_message made = {0};
  for (capi_field field; capi_wire_next(&old, &field);) {
    if (field.type == 2 && !(field.number > 1 && has_field(by, field.number))) {
      write_wire(&made, field.number, field.bytes);
    }
  }
  for (capi_field field; capi_wire_next(&by, &field);) {
    if (field.type == 2 && field.number > 1) write_wire(&made, field.number, field.bytes);
  }
  capi_write_message(to, number, &made);
}

// What a text says is about an argument or attribute that is there.
static bool check_named(capi_wire old, capi_wire by, const char *op, TF_Status *status) {
  for (capi_field field; capi_wire_next(&by, &field);) {
    capi_wire part, name = {0};
    if (field.number < IN_ARG || field.number > ATTR) continue;
    if (find_named(old, field.number, field.bytes, &part)) continue;
    capi_wire_find(field.bytes, 1, &name);
    capi_fail(status, TF_FAILED_PRECONDITION, "%s %.*s not found in %s",
              field.number == ATTR ? "Attribute" : "Argument", (int)capi_wire_size(name),
              name.at == NULL ? "" : (const char *)name.at, op);
    return false;
  }
  return true;
}

static size_t count_field(capi_wire wire, int number) {
  size_t count = 0;
  for (capi_field field; capi_wire_next(&wire, &field);) count += field.number == number;
  return count;
}

static void write_field(capi_message *to, const capi_field *field) {
  if (field->type == 2) {
    write_wire(to, field->number, field->bytes);
  } else {
    capi_write_number(to, field->number, field->value);
  }
}

// The description, between what a text puts before and behind it, a line each.
static void write_description(capi_message *to, capi_wire old, capi_wire by) {
  static const int parts[] = {PREFIX, DESCRIPTION, SUFFIX};
  capi_wire text = {0};
  capi_message made = {0};
  for (size_t i = 0; i < 3; i++) {
    bool is_there = capi_wire_find(by, parts[i], &text) ||
                    (parts[i] == DESCRIPTION && capi_wire_find(old, DESCRIPTION, &text));
    if (!is_there || capi_wire_size(text) == 0) continue;
    if (made.size > 0) capi_write_fields(&made, "\n", 1);
    capi_write_fields(&made, text.at, capi_wire_size(text));
  }
  if (made.size > 0) capi_write_message(to, DESCRIPTION, &made);
  to->failed |= made.failed;
  free(made.bytes);
}

static capi_message merge(capi_wire old, capi_wire by) {
  capi_message made = {0};
  bool replaced[NUM_FIELDS] = {false};
  for (int number = 0; number < NUM_FIELDS; number++) {
    bool is_named = number >= IN_ARG && number <= ATTR;
    replaced[number] = number == DESCRIPTION || (!is_named && has_field(by, number));
  }
  for (capi_wire at = old; at.at < at.end;) {
    capi_field field;
    capi_wire part = {0};
    if (!capi_wire_next(&at, &field)) break;
    bool is_named = field.number >= IN_ARG && field.number <= ATTR;
    if (is_named && find_named(by, field.number, field.bytes, &part)) {
      write_merged(&made, field.number, field.bytes, part);
    } else if (field.number >= NUM_FIELDS || !replaced[field.number]) {
      write_field(&made, &field);
    }
  }
  for (capi_wire at = by; at.at < at.end;) {
    capi_field field;
    if (!capi_wire_next(&at, &field)) break;
    bool is_text = field.number >= DESCRIPTION && field.number <= SUFFIX;
    bool is_named = field.number >= IN_ARG && field.number <= ATTR;
    if (!is_text && !is_named) write_field(&made, &field);
  }
  write_description(&made, old, by);
  return made;
}

static bool put(TF_ApiDefMap *map, capi_wire by, TF_Status *status) {
  capi_wire name = {0};
  capi_wire_find(by, OP_NAME, &name);
  api_def *def = find(map, name.at == NULL ? "" : (const char *)name.at, capi_wire_size(name));
  if (def == NULL) return true;  // of an op that is not there
  capi_wire old = capi_wire_of(def->bytes.bytes, def->bytes.size);
  if (!check_named(old, by, def->name, status)) return false;
  size_t order = count_field(by, ARG_ORDER);
  if (order > 0 && order != count_field(old, IN_ARG)) {
    capi_fail(status, TF_FAILED_PRECONDITION, "ApiDef arg_order of %s has %zu arguments of %zu",
              def->name, order, count_field(old, IN_ARG));
    return false;
  }
  capi_message made = merge(old, by);
  if (made.failed) {
    free(made.bytes);
    capi_fail_for_memory(status);
    return false;
  }
  free(def->bytes.bytes);
  def->bytes = made;
  return true;
}

// ---- Texts of several lines: "<<END", lines, "END", which protocol buffers' text does not have

static void write_char(capi_message *to, char c) {
  if (c == '"' || c == '\\') capi_write_fields(to, "\\", 1);
  if (c == '\n') {
    capi_write_fields(to, "\\n", 2);
  } else {
    capi_write_fields(to, &c, 1);
  }
}

// The text with these as strings in quotes; what has no end stays as it is.
static capi_message quote_lines(const char *text, size_t length) {
  capi_message made = {0};
  const char *end = text + length;
  while (text < end) {
    const char *opened = memmem(text, (size_t)(end - text), "<<", 2);
    const char *line = opened == NULL ? NULL : memchr(opened, '\n', (size_t)(end - opened));
    const char *stop = NULL;
    size_t word = line == NULL ? 0 : (size_t)(line - opened) - 2;
    for (const char *at = line; word > 0 && at != NULL && stop == NULL;) {
      if ((size_t)(end - at) > word && memcmp(at + 1, opened + 2, word) == 0) stop = at;
      at = memchr(at + 1, '\n', (size_t)(end - at - 1));
    }
    if (stop == NULL) break;
    capi_write_fields(&made, text, (size_t)(opened - text));
    capi_write_fields(&made, "\"", 1);
    for (const char *c = line + 1; c < stop; c++) write_char(&made, *c);
    capi_write_fields(&made, "\"", 1);
    text = stop + 1 + word;
  }
  capi_write_fields(&made, text, (size_t)(end - text));
  return made;
}

void TF_ApiDefMapPut(TF_ApiDefMap *api_def_map, const char *text, size_t text_len,
                     TF_Status *status) {
  void *bytes = NULL;
  size_t size = 0;
  capi_succeed(status);
  if (!capi_need(api_def_map, "the map", status) || !capi_need(text, "the text", status)) return;
  capi_message quoted = quote_lines(text, text_len);
  rheos_status *error =
      quoted.failed
          ? rheos_status_new(RHEOS_RESOURCE_EXHAUSTED, "out of memory")
          : rheos_message_from_text("ApiDefs", quoted.bytes == NULL ? "" : (char *)quoted.bytes,
                                    quoted.size, &bytes, &size);
  free(quoted.bytes);
  if (rheos_status_code(error) == RHEOS_DATA_LOSS) {
    capi_fail(status, TF_INVALID_ARGUMENT, "Failed to parse ApiDefs text: %s",
              rheos_status_message(error));
    rheos_status_free(error);
    return;
  }
  if (!capi_take(status, error)) return;
  capi_wire defs = capi_wire_of(bytes, size);
  pthread_mutex_lock(&api_def_map->lock);
  for (capi_field field; capi_wire_next(&defs, &field);) {
    if (field.number == 1 && !put(api_def_map, field.bytes, status)) break;
  }
  pthread_mutex_unlock(&api_def_map->lock);
  rheos_free(bytes);
}

TF_Buffer *TF_ApiDefMapGet(TF_ApiDefMap *api_def_map, const char *name, size_t name_len,
                           TF_Status *status) {
  TF_Buffer *buffer = NULL;
  capi_succeed(status);
  if (!capi_need(api_def_map, "the map", status) || !capi_need(name, "the name", status)) {
    return NULL;
  }
  pthread_mutex_lock(&api_def_map->lock);
  const api_def *def = find(api_def_map, name, name_len);
  if (def != NULL) buffer = TF_NewBufferFromString(def->bytes.bytes, def->bytes.size);
  pthread_mutex_unlock(&api_def_map->lock);
  if (def != NULL && buffer == NULL) capi_fail_for_memory(status);
  return buffer;
}
