// Device strings: parts "key:value" between slashes, as lenient in reading as TensorFlow is, and in
// one canonical form in writing.
#include "graph/device_name.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static rheos_status *malformed(const char *text, const char *part, size_t length) {
  return RHEOS_INVALID("malformed device specification '%s': cannot read '%.*s'", text, (int)length,
                       part);
}

// A number below 2^31, or "*" for "any".
static bool read_number(const char *text, size_t length, int32_t *out_number) {
  *out_number = -1;
  if (length == 1 && text[0] == '*') return true;
  if (length == 0 || length > 9) return false;
  int32_t number = 0;
  for (size_t i = 0; i < length; i++) {
    if (text[i] < '0' || text[i] > '9') return false;
    number = number * 10 + (text[i] - '0');
  }
  *out_number = number;
  return true;
}

// An identifier of letters, digits and underscores that starts with a letter.
static bool read_word(const char *text, size_t length, bool upper, char *out_word) {
  if (length == 0 || length > 63 || !isalpha((unsigned char)text[0])) return false;
  for (size_t i = 0; i < length; i++) {
    unsigned char c = (unsigned char)text[i];
    if (!isalnum(c) && c != '_') return false;
    out_word[i] = upper ? (char)toupper(c) : (char)c;
  }
  out_word[length] = '\0';
  return true;
}

static bool is_key(const char *part, size_t length, const char *key) {
  return length == strlen(key) && strncasecmp(part, key, length) == 0;
}

// "CPU", "CPU:0" or "CPU:*".
static bool read_device(const char *text, size_t length, rheos__device_name *name) {
  const char *colon = memchr(text, ':', length);
  size_t type_length = colon != NULL ? (size_t)(colon - text) : length;
  name->id = -1;
  if (!read_word(text, type_length, true, name->type)) return false;
  return colon == NULL || read_number(colon + 1, length - type_length - 1, &name->id);
}

static bool read_part(const char *part, size_t length, rheos__device_name *name) {
  const char *colon = memchr(part, ':', length);
  size_t key_length = colon != NULL ? (size_t)(colon - part) : length;
  if (is_key(part, key_length, "cpu") || is_key(part, key_length, "gpu")) {
    return name->type[0] == '\0' && read_device(part, length, name);
  }
  if (colon == NULL) return false;
  const char *value = colon + 1;
  size_t value_length = length - key_length - 1;
  if (is_key(part, key_length, "device")) {
    return name->type[0] == '\0' && read_device(value, value_length, name);
  }
  if (is_key(part, key_length, "job")) return read_word(value, value_length, false, name->job);
  if (is_key(part, key_length, "replica")) {
    return read_number(value, value_length, &name->replica);
  }
  if (is_key(part, key_length, "task")) return read_number(value, value_length, &name->task);
  return false;
}

rheos_status *rheos__device_name_parse(const char *text, rheos__device_name *out_name) {
  const rheos__device_name nothing = {.replica = -1, .task = -1, .id = -1};
  rheos__device_name name = nothing;
  *out_name = nothing;
  for (const char *part = text; *part != '\0';) {
    size_t length = strcspn(part, "/");
    if (length != 0 && !read_part(part, length, &name)) return malformed(text, part, length);
    part += length;
    if (*part == '/') part++;
  }
  *out_name = name;
  return NULL;
}

rheos__device_name rheos__device_name_merge(const rheos__device_name *outer,
                                            const rheos__device_name *inner) {
  rheos__device_name merged = *outer;
  if (inner->job[0] != '\0') memcpy(merged.job, inner->job, sizeof merged.job);
  if (inner->replica >= 0) merged.replica = inner->replica;
  if (inner->task >= 0) merged.task = inner->task;
  if (inner->type[0] != '\0') {
    memcpy(merged.type, inner->type, sizeof merged.type);
    merged.id = inner->id >= 0 ? inner->id : merged.id;
  }
  return merged;
}

size_t rheos__device_name_format(const rheos__device_name *name, char *buffer, size_t size_bytes) {
  char text[256];
  int length = 0;
  text[0] = '\0';
  if (name->job[0] != '\0') {
    length += snprintf(text + length, sizeof text - (size_t)length, "/job:%s", name->job);
  }
  if (name->replica >= 0) {
    length += snprintf(text + length, sizeof text - (size_t)length, "/replica:%d", name->replica);
  }
  if (name->task >= 0) {
    length += snprintf(text + length, sizeof text - (size_t)length, "/task:%d", name->task);
  }
  if (name->type[0] != '\0') {
    length += snprintf(text + length, sizeof text - (size_t)length, "/device:%s:", name->type);
    length += name->id >= 0 ? snprintf(text + length, sizeof text - (size_t)length, "%d", name->id)
                            : snprintf(text + length, sizeof text - (size_t)length, "*");
  }
  if (size_bytes > 0) {
    size_t kept = (size_t)length < size_bytes ? (size_t)length : size_bytes - 1;
    memcpy(buffer, text, kept);
    buffer[kept] = '\0';
  }
  return (size_t)length;
}

bool rheos__device_name_matches(const rheos__device_name *wanted,
                                const rheos__device_name *device) {
  return (wanted->job[0] == '\0' || strcmp(wanted->job, device->job) == 0) &&
         (wanted->replica < 0 || wanted->replica == device->replica) &&
         (wanted->task < 0 || wanted->task == device->task) &&
         (wanted->type[0] == '\0' || strcmp(wanted->type, device->type) == 0) &&
         (wanted->id < 0 || wanted->id == device->id);
}
