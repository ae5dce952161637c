// Owned errors. Out of memory is one static status, so that reporting it cannot fail.
#include "base/status.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/status_within.h"

struct rheos_status {
  rheos_code code;
  const char *node;  // points behind the message, or NULL
  char message[];
};

enum { LONG_MESSAGE = 4000 };  // of calls in calls: what is further out is left out

static const struct {
  rheos_code code;
  const char *node;
  char message[18];
} out_of_memory = {RHEOS_RESOURCE_EXHAUSTED, NULL, "out of memory"},
  no_scope = {RHEOS_INVALID_ARGUMENT, NULL, "the scope is NULL"};

rheos_status *rheos__out_of_memory(void) { return (rheos_status *)(uintptr_t)&out_of_memory; }
rheos_status *rheos__no_scope(void) { return (rheos_status *)(uintptr_t)&no_scope; }

static bool is_static(const rheos_status *status) {
  return status == rheos__out_of_memory() || status == rheos__no_scope();
}

// A status with room for a message and a node name (may be NULL).
static rheos_status *new_status(rheos_code code, size_t message_bytes, const char *node) {
  size_t node_bytes = node != NULL ? strlen(node) + 1 : 0;
  rheos_status *status = rheos__alloc(sizeof *status + message_bytes + 1 + node_bytes);
  if (status == NULL) return NULL;
  status->code = code;
  status->node = NULL;
  status->message[0] = '\0';
  if (node != NULL) {
    status->node = memcpy(status->message + message_bytes + 1, node, node_bytes);
  }
  return status;
}

rheos_status *rheos__status_newv(rheos_code code, const char *format, va_list args) {
  va_list again;
  va_copy(again, args);
  int length = vsnprintf(NULL, 0, format, args);
  rheos_status *status = length >= 0 ? new_status(code, (size_t)length, NULL) : NULL;
  if (status != NULL) vsnprintf(status->message, (size_t)length + 1, format, again);
  va_end(again);
  return status != NULL ? status : rheos__out_of_memory();
}

rheos_status *rheos_status_new(rheos_code code, const char *format, ...) {
  va_list args;
  va_start(args, format);
  rheos_status *status = rheos__status_newv(code, format, args);
  va_end(args);
  return status;
}

rheos_status *rheos__status_at_node_take(rheos_status *status, const char *node, const char *file,
                                         int line) {
  if (status == NULL || is_static(status) || status->node != NULL) return status;
  size_t size = strlen(status->message) + strlen(node) + (file != NULL ? strlen(file) : 0) + 64;
  rheos_status *located = new_status(status->code, size, node);
  if (located == NULL) return status;
  if (file != NULL) {
    snprintf(located->message, size, "%s\n\t [[node %s (defined at %s:%d)]]", status->message, node,
             file, line);
  } else {
    snprintf(located->message, size, "%s\n\t [[node %s]]", status->message, node);
  }
  rheos_status_free(status);
  return located;
}

rheos_status *rheos__status_of_node(rheos_code code, const char *node, const char *message) {
  const size_t size = strlen(message);
  rheos_status *status = new_status(code, size, node);
  if (status == NULL) return rheos__out_of_memory();
  memcpy(status->message, message, size + 1);
  return status;
}

rheos_status *rheos__status_in_function_take(rheos_status *status, const char *function) {
  if (status == NULL || is_static(status)) return status;
  const size_t length = strlen(status->message);
  const bool is_long = length > LONG_MESSAGE;
  const size_t size = length + strlen(function) + 32;
  rheos_status *located = new_status(status->code, size, NULL);
  if (located == NULL) return status;
  if (is_long) {
    snprintf(located->message, size, "%s", status->message);
  } else {
    snprintf(located->message, size, "%s in function %s", status->message, function);
  }
  rheos_status_free(status);
  return located;
}

rheos_status *rheos__status_within_take(rheos_status *status, const char *role, const char *node,
                                        const char *file, int line) {
  if (status == NULL || is_static(status) || status->node == NULL) return status;
  const size_t length = strlen(status->message);
  if (length > LONG_MESSAGE) return status;
  const size_t size = length + strlen(role) + strlen(node) + (file != NULL ? strlen(file) : 0) + 80;
  rheos_status *located = new_status(status->code, size, status->node);
  if (located == NULL) return status;
  if (file != NULL) {
    snprintf(located->message, size, "%s in the %s of [[node %s (defined at %s:%d)]]",
             status->message, role, node, file, line);
  } else {
    snprintf(located->message, size, "%s in the %s of [[node %s]]", status->message, role, node);
  }
  rheos_status_free(status);
  return located;
}

// Without the "_sized" that the inline functions of the headers hide.
static int length_of_name(const char *function) {
  size_t length = strlen(function);
  const bool is_sized = length > 6 && strcmp(function + length - 6, "_sized") == 0;
  return (int)(is_sized ? length - 6 : length);
}

rheos_status *rheos__not_given(const char *function, const char *names) {
  return RHEOS_INVALID("%.*s() needs %s, got NULL", length_of_name(function), function, names);
}

// Without the struct that the member is in.
static const char *member_of(const char *name) {
  const char *arrow = strrchr(name, '>'), *dot = strrchr(name, '.');
  if (arrow == NULL && dot == NULL) return name;
  return (dot == NULL || (arrow != NULL && arrow > dot) ? arrow : dot) + 1;
}

rheos_status *rheos__no_list(const char *name, size_t count) {
  return RHEOS_INVALID("there cannot be %zu elements at %s", count, member_of(name));
}

rheos_status *rheos__check_texts(const char *const *texts, size_t count, const char *name) {
  RHEOS_TRY(rheos__is_list(texts, count, sizeof *texts) ? NULL : rheos__no_list(name, count));
  for (size_t i = 0; i < count; i++) {
    if (texts[i] == NULL) return RHEOS_INVALID("%s[%zu] is NULL", member_of(name), i);
  }
  return NULL;
}

rheos_code rheos_status_code(const rheos_status *status) {
  return status != NULL ? status->code : RHEOS_OK;
}

const char *rheos_status_message(const rheos_status *status) {
  return status != NULL ? status->message : "";
}

const char *rheos_status_node(const rheos_status *status) {
  return status != NULL ? status->node : NULL;
}

void rheos_status_free(rheos_status *status) {
  if (!is_static(status)) rheos__free(status);
}

const char *rheos_code_name(rheos_code code) {
  static const char *const names[] = {"OK",
                                      "CANCELLED",
                                      "UNKNOWN",
                                      "INVALID_ARGUMENT",
                                      "DEADLINE_EXCEEDED",
                                      "NOT_FOUND",
                                      "ALREADY_EXISTS",
                                      "PERMISSION_DENIED",
                                      "RESOURCE_EXHAUSTED",
                                      "FAILED_PRECONDITION",
                                      "ABORTED",
                                      "OUT_OF_RANGE",
                                      "UNIMPLEMENTED",
                                      "INTERNAL",
                                      "UNAVAILABLE",
                                      "DATA_LOSS",
                                      "UNAUTHENTICATED"};
  return (unsigned)code < sizeof names / sizeof names[0] ? names[code] : "UNKNOWN";
}

const char *rheos_version(void) { return RHEOS_VERSION_STRING; }
