// The file "checkpoint" of a folder: a CheckpointState message in protobuf's text form,
//   model_checkpoint_path: "model-2"
//   all_model_checkpoint_paths: "model-1"
// one field a line here; read more freely, other fields skipped.
#include <ctype.h>
#include <rheos/format.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "format/buffer.h"

static const size_t MAX_FILE_BYTES = (size_t)64 << 20;

static char *state_path(const char *folder, const char *file_name) {
  return rheos__path_join(folder, file_name != NULL ? file_name : "checkpoint");
}

// ---- Writing

static void put_text(rheos__buffer *buffer, const char *text) {
  rheos__buffer_put(buffer, text, strlen(text));
}

static void put_escaped(rheos__buffer *buffer, const char *text) {
  for (; *text != '\0'; text++) {
    unsigned char c = (unsigned char)*text;
    char octal[5] = {'\\', (char)('0' + (c >> 6)), (char)('0' + (c >> 3 & 7)),
                     (char)('0' + (c & 7)), '\0'};
    switch (c) {
      case '\n':
        put_text(buffer, "\\n");
        break;
      case '\r':
        put_text(buffer, "\\r");
        break;
      case '\t':
        put_text(buffer, "\\t");
        break;
      case '"':
        put_text(buffer, "\\\"");
        break;
      case '\'':
        put_text(buffer, "\\'");
        break;
      case '\\':
        put_text(buffer, "\\\\");
        break;
      default:
        if (c < 0x20 || c >= 0x7f)
          put_text(buffer, octal);
        else
          rheos__buffer_put(buffer, text, 1);
    }
  }
}

// The part of `path` behind `folder`/, or NULL if it lies elsewhere.
static const char *behind_folder(const char *folder, const char *path) {
  size_t length = strlen(folder);
  while (length > 1 && folder[length - 1] == '/') length--;
  if (strncmp(path, folder, length) != 0 || path[length] != '/') return NULL;
  const char *rest = path + length;
  while (*rest == '/') rest++;
  return rest;
}

// The path as it is written: absolute ones as they are, others relative to the folder, unless that is
// absolute: then they are meant so already.
static char *written_path(const char *folder, const char *path) {
  if (path[0] == '/' || folder[0] == '/') return rheos__strdup(path);
  const char *rest =
      strcmp(folder, ".") == 0 || folder[0] == '\0' ? path : behind_folder(folder, path);
  if (rest != NULL) return rheos__strdup(rest);
  char *here = getcwd(NULL, 0);
  char *absolute = here != NULL ? rheos__path_join(here, path) : NULL;
  free(here);
  return absolute;
}

static void put_field(rheos__buffer *buffer, const char *name, const char *folder,
                      const char *path) {
  char *text = written_path(folder, path);
  if (text == NULL) {
    buffer->failed = true;
    return;
  }
  put_text(buffer, name);
  put_text(buffer, ": \"");
  put_escaped(buffer, text);
  put_text(buffer, "\"\n");
  rheos__free(text);
}

static void put_number(rheos__buffer *buffer, const char *name, double number) {
  char text[40];
  // As few digits as tell it from all others, but never looking whole.
  for (int digits = 1; digits <= 17; digits++) {
    snprintf(text, sizeof text, "%.*g", digits, number);
    if (strtod(text, NULL) == number) break;
  }
  put_text(buffer, name);
  put_text(buffer, ": ");
  put_text(buffer, text);
  put_text(buffer, strpbrk(text, ".en") == NULL ? ".0\n" : "\n");
}

rheos_status *rheos_checkpoint_state_write_timed(const char *folder, const char *file_name,
                                                 const rheos_checkpoint_state *state) {
  rheos__buffer text = {0};
  const size_t count = state->num_paths;
  char *const *all = state->all_model_checkpoint_paths;
  put_field(&text, "model_checkpoint_path", folder, state->model_checkpoint_path);
  for (size_t i = 0; i < count; i++) {
    put_field(&text, "all_model_checkpoint_paths", folder, all[i]);
  }
  // The newest is always in the list, last.
  if (count == 0 || strcmp(all[count - 1], state->model_checkpoint_path) != 0) {
    put_field(&text, "all_model_checkpoint_paths", folder, state->model_checkpoint_path);
  }
  for (size_t i = 0; i < state->num_timestamps; i++) {
    put_number(&text, "all_model_checkpoint_timestamps",
               state->all_model_checkpoint_timestamps[i]);
  }
  if (state->last_preserved_timestamp != 0) {
    put_number(&text, "last_preserved_timestamp", state->last_preserved_timestamp);
  }
  char *path = state_path(folder, file_name);
  rheos_status *status = text.failed || path == NULL
                             ? rheos__out_of_memory()
                             : rheos__file_replace(path, text.data, text.size_bytes);
  rheos__free(path);
  rheos__buffer_deinit(&text);
  return status;
}

rheos_status *rheos_checkpoint_state_write(const char *folder, const char *file_name,
                                           const char *model_checkpoint_path,
                                           const char *const *all_model_checkpoint_paths,
                                           size_t num_paths) {
  const rheos_checkpoint_state state = {
      .model_checkpoint_path = (char *)(uintptr_t)model_checkpoint_path,
      .all_model_checkpoint_paths = (char **)(uintptr_t)all_model_checkpoint_paths,
      .num_paths = num_paths};
  return rheos_checkpoint_state_write_timed(folder, file_name, &state);
}

// ---- Reading

typedef struct parser {
  const char *at;  // NUL-terminated
  const char *path;
  const char *folder;
  rheos_checkpoint_state *state;
  size_t capacity, timestamps_capacity;
} parser;

static rheos_status *bad_text(const parser *p, const char *what) {
  return rheos_status_new(RHEOS_DATA_LOSS, "'%s' is not a list of checkpoints: %s at '%.20s'",
                          p->path, what, p->at);
}

static void skip_space(parser *p) {
  for (;; p->at++) {
    if (*p->at == '#') p->at += strcspn(p->at, "\n");
    if (*p->at == '\0' || !(isspace((unsigned char)*p->at) || *p->at == ',' || *p->at == ';')) {
      return;
    }
  }
}

static bool is_octal(char c) {
  return c >= '0' && c <= '7';
}

// The byte behind a "\"; moves behind it.
static rheos_status *parse_escape(parser *p, unsigned *out_byte) {
  char c = *p->at++;
  static const char names[] = "abfnrtv\\'\"?", bytes[] = "\a\b\f\n\r\t\v\\'\"?";
  const char *known = c != '\0' ? strchr(names, c) : NULL;
  if (known != NULL) {
    *out_byte = (unsigned char)bytes[known - names];
  } else if (is_octal(c)) {
    *out_byte = (unsigned)(c - '0');
    for (int i = 0; i < 2 && is_octal(*p->at); i++) *out_byte = *out_byte * 8 + (*p->at++ - '0');
  } else if ((c == 'x' || c == 'X') && isxdigit((unsigned char)*p->at)) {
    char digits[3] = {*p->at++, '\0', '\0'};
    if (isxdigit((unsigned char)*p->at)) digits[1] = *p->at++;
    *out_byte = (unsigned)strtoul(digits, NULL, 16);
  } else {
    p->at--;
    return bad_text(p, "a bad escape");
  }
  return *out_byte > 0 && *out_byte < 256 ? NULL : bad_text(p, "a bad escape");
}

// One quoted string, appended.
static rheos_status *parse_quoted(parser *p, rheos__buffer *text) {
  char quote = *p->at++;
  while (*p->at != quote) {
    unsigned byte = (unsigned char)*p->at;
    if (byte == '\0' || byte == '\n') return bad_text(p, "a string without an end");
    p->at++;
    if (byte == '\\') RHEOS_TRY(parse_escape(p, &byte));
    char c = (char)byte;
    rheos__buffer_put(text, &c, 1);
  }
  p->at++;
  return NULL;
}

// Strings one behind the other make one.
static rheos_status *parse_string(parser *p, rheos__buffer *text) {
  do {
    RHEOS_TRY(parse_quoted(p, text));
    skip_space(p);
  } while (*p->at == '"' || *p->at == '\'');
  return NULL;
}

static bool is_field(const char *field, size_t field_bytes, const char *name) {
  return field_bytes == strlen(name) && memcmp(field, name, field_bytes) == 0;
}

// Takes the text over as a path.
static rheos_status *set_path(parser *p, const char *field, size_t field_bytes, const char *text) {
  const bool is_newest = is_field(field, field_bytes, "model_checkpoint_path");
  const bool is_one_of_all = is_field(field, field_bytes, "all_model_checkpoint_paths");
  if (!is_newest && !is_one_of_all) return NULL;
  char *path = rheos__path_join(p->folder, text);
  rheos_checkpoint_state *state = p->state;
  if (path == NULL) return rheos__out_of_memory();
  if (is_newest) {
    rheos__free(state->model_checkpoint_path);
    state->model_checkpoint_path = path;
    return NULL;
  }
  if (!RHEOS_GROW(state->all_model_checkpoint_paths, p->capacity, state->num_paths + 1)) {
    rheos__free(path);
    return rheos__out_of_memory();
  }
  state->all_model_checkpoint_paths[state->num_paths++] = path;
  return NULL;
}

// Moves behind the number, which is kept if the field is wanted.
static rheos_status *parse_number(parser *p, const char *field, size_t field_bytes) {
  const size_t length = strcspn(p->at, " \t\r\n,;#\"'{}");
  if (length == 0) return bad_text(p, "a missing value");
  const double number = strtod(p->at, NULL);
  p->at += length;
  rheos_checkpoint_state *state = p->state;
  if (is_field(field, field_bytes, "last_preserved_timestamp")) {
    state->last_preserved_timestamp = number;
  }
  if (!is_field(field, field_bytes, "all_model_checkpoint_timestamps")) return NULL;
  if (!RHEOS_GROW(state->all_model_checkpoint_timestamps, p->timestamps_capacity,
                  state->num_timestamps + 1)) {
    return rheos__out_of_memory();
  }
  state->all_model_checkpoint_timestamps[state->num_timestamps++] = number;
  return NULL;
}

static rheos_status *parse_value(parser *p, const char *field, size_t field_bytes) {
  if (*p->at != '"' && *p->at != '\'') return parse_number(p, field, field_bytes);
  rheos__buffer text = {0};
  rheos_status *status = parse_string(p, &text);
  rheos__buffer_put(&text, "", 1);
  if (status == NULL && text.failed) status = rheos__out_of_memory();
  if (status == NULL) status = set_path(p, field, field_bytes, text.data);
  rheos__buffer_deinit(&text);
  return status;
}

static rheos_status *parse_fields(parser *p) {
  for (skip_space(p); *p->at != '\0'; skip_space(p)) {
    const char *field = p->at;
    while (isalnum((unsigned char)*p->at) || *p->at == '_') p->at++;
    size_t field_bytes = (size_t)(p->at - field);
    skip_space(p);
    if (field_bytes == 0 || *p->at != ':') return bad_text(p, "a missing 'name:'");
    p->at++;
    skip_space(p);
    RHEOS_TRY(parse_value(p, field, field_bytes));
  }
  return NULL;
}

rheos_status *rheos_checkpoint_state_read(const char *folder, const char *file_name,
                                          rheos_checkpoint_state *out_state) {
  *out_state = (rheos_checkpoint_state){0};
  char *path = state_path(folder, file_name);
  if (path == NULL) return rheos__out_of_memory();
  char *text;
  size_t size_bytes;
  rheos_status *status = rheos__file_read_all(path, MAX_FILE_BYTES, &text, &size_bytes);
  if (status == NULL) {
    parser p = {.at = text, .path = path, .folder = folder, .state = out_state};
    status = strlen(text) == size_bytes ? parse_fields(&p) : bad_text(&p, "a NUL byte");
    rheos__free(text);
  }
  rheos__free(path);
  if (status != NULL) rheos_checkpoint_state_deinit(out_state);
  return status;
}

void rheos_checkpoint_state_deinit(rheos_checkpoint_state *state) {
  rheos__free(state->model_checkpoint_path);
  for (size_t i = 0; i < state->num_paths; i++) rheos__free(state->all_model_checkpoint_paths[i]);
  rheos__free(state->all_model_checkpoint_paths);
  rheos__free(state->all_model_checkpoint_timestamps);
  *state = (rheos_checkpoint_state){0};
}

static rheos_status *checkpoint_exists(const char *prefix, bool *out_exists) {
  static const char *const suffixes[] = {".index", ".index.new", ""};  // "": the first kind
  *out_exists = false;
  for (int i = 0; i < 3 && !*out_exists; i++) {
    char *path = rheos__text_format("%s%s", prefix, suffixes[i]);
    if (path == NULL) return rheos__out_of_memory();
    rheos_status *status = rheos__file_exists(path, out_exists);
    rheos__free(path);
    if (status != NULL) return status;
  }
  return NULL;
}

rheos_status *rheos_latest_checkpoint(const char *folder, const char *file_name,
                                      char **out_prefix) {
  *out_prefix = NULL;
  rheos_checkpoint_state state;
  rheos_status *status = rheos_checkpoint_state_read(folder, file_name, &state);
  if (rheos_status_code(status) == RHEOS_NOT_FOUND) {
    rheos_status_free(status);
    return NULL;
  }
  if (status != NULL) return status;
  bool exists = false;
  if (state.model_checkpoint_path != NULL) {
    status = checkpoint_exists(state.model_checkpoint_path, &exists);
  }
  if (exists) {
    *out_prefix = state.model_checkpoint_path;
    state.model_checkpoint_path = NULL;
  }
  rheos_checkpoint_state_deinit(&state);
  return status;
}
