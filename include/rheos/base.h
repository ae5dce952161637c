// Rheos: the rules every header follows, errors, memory, version.
//
// Ownership is in the verb: `_new`/`_free` unique, `_ref`/`_unref` counted, `_init`/`_deinit` in
// the caller's storage; a noun borrows; `_take` consumes its argument. Every free and unref accepts
// NULL. Strings are UTF-8 and NUL-terminated; the library copies the strings it is given. Strings
// and pointers that a function returns without a verb of ownership are borrowed and live as long as
// the object they came from. Outputs come last, are called `out_x`, and are NULL or zero after a
// failure. Handles (`rheos_operation`, `rheos_output`) are small values; the graph they name must
// be alive.
//
// Threads: distinct objects may be used from distinct threads at the same time. A graph may grow in
// one thread while sessions on it run in others; one scope belongs to one thread at a time. A
// session's `run` may be called from any number of threads at once.
//
// Errors: a function that can fail returns `rheos_status *`: NULL is success, anything else is an
// error that the caller owns and frees with rheos_status_free(). The library never aborts, prints
// or exits on bad input.
#ifndef RHEOS_BASE_H
#define RHEOS_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The one place that says the version; CMake, the wheel and the packages read it here.
#define RHEOS_VERSION_MAJOR 0
#define RHEOS_VERSION_MINOR 1
#define RHEOS_VERSION_PATCH 0
#define RHEOS__TEXT(number) #number
#define RHEOS__NUMBER_TEXT(number) RHEOS__TEXT(number)
#define RHEOS_VERSION_STRING              \
  RHEOS__NUMBER_TEXT(RHEOS_VERSION_MAJOR) \
  "." RHEOS__NUMBER_TEXT(RHEOS_VERSION_MINOR) "." RHEOS__NUMBER_TEXT(RHEOS_VERSION_PATCH)

#if defined(__GNUC__)
#define RHEOS_API __attribute__((visibility("default")))
#define RHEOS_MUST_USE __attribute__((warn_unused_result))
#define RHEOS_PRINTF(format_index, first_index) \
  __attribute__((format(printf, format_index, first_index)))
#else
#define RHEOS_API
#define RHEOS_MUST_USE
#define RHEOS_PRINTF(format_index, first_index)
#endif

// Before the name of a function that returns a status, which must be used.
#define RHEOS_STATUS RHEOS_API RHEOS_MUST_USE rheos_status *

// Behind a field that is zero where it is not given: C++ compilers warn of others that are left
// out.
#ifdef __cplusplus
#define RHEOS_LEFT_OUT = {}
#else
#define RHEOS_LEFT_OUT
#endif

#ifdef __cplusplus
extern "C" {
#endif

// The version of the library in use, "major.minor.patch".
RHEOS_API const char *rheos_version(void);

// ---- Errors

// TensorFlow's error codes, which are gRPC's.
typedef enum rheos_code {
  RHEOS_OK = 0,
  RHEOS_CANCELLED = 1,
  RHEOS_UNKNOWN = 2,
  RHEOS_INVALID_ARGUMENT = 3,
  RHEOS_DEADLINE_EXCEEDED = 4,
  RHEOS_NOT_FOUND = 5,
  RHEOS_ALREADY_EXISTS = 6,
  RHEOS_PERMISSION_DENIED = 7,
  RHEOS_RESOURCE_EXHAUSTED = 8,
  RHEOS_FAILED_PRECONDITION = 9,
  RHEOS_ABORTED = 10,
  RHEOS_OUT_OF_RANGE = 11,
  RHEOS_UNIMPLEMENTED = 12,
  RHEOS_INTERNAL = 13,
  RHEOS_UNAVAILABLE = 14,
  RHEOS_DATA_LOSS = 15,
  RHEOS_UNAUTHENTICATED = 16,
} rheos_code;

// An error: a code, one line of facts, and where it is known the name of the node it happened in.
typedef struct rheos_status rheos_status;

// A new error with a printf-style message. When memory is short, a static "out of memory" error
// comes back instead, so reporting cannot fail. `code` must not be RHEOS_OK.
RHEOS_STATUS rheos_status_new(rheos_code code, const char *format, ...) RHEOS_PRINTF(2, 3);

// RHEOS_OK for NULL.
RHEOS_API rheos_code rheos_status_code(const rheos_status *status);

// The message, "" for NULL. It names the node and the line of the program that made it, if known.
RHEOS_API const char *rheos_status_message(const rheos_status *status);

// The name of the node the error happened in, or NULL.
RHEOS_API const char *rheos_status_node(const rheos_status *status);

RHEOS_API void rheos_status_free(rheos_status *status);

// "INVALID_ARGUMENT" and so on.
RHEOS_API const char *rheos_code_name(rheos_code code);

// ---- Options
//
// Structs of options and of an op's arguments are filled in by name, `{.num_threads = 2}`; what is
// left out is zero, and zero is the default. What is on by default is turned off by a field that
// says so,
// `.not_sorted = true`. Where the default is a number other than 0 the field is optional: `.alpha =
// rheos_float(0)`, and left out it is the default.
//
// The structs grow at their ends from version to version. Functions that take one are inline and
// tell the library the size that it had when the program was compiled: an older program gets the
// defaults of what came later, and a newer one the error RHEOS_FAILED_PRECONDITION if it sets what
// the library does not know.

// A number that may be left out. One other than 0 counts even if `given` is not set.
typedef struct rheos_optional_int {
  int64_t value;  // counts if it is not 0
  bool given;
} rheos_optional_int;

typedef struct rheos_optional_float {
  float value;  // counts if it is not 0
  bool given;   // so that a 0 counts too
} rheos_optional_float;

static inline rheos_optional_int rheos_int(int64_t value) {
  rheos_optional_int number = {value, true};
  return number;
}
static inline rheos_optional_float rheos_float(float value) {
  rheos_optional_float number = {value, true};
  return number;
}

// ---- Memory

// Where all of the library's heap memory comes from. `allocate` and `reallocate` return NULL when
// they cannot serve; memory must be aligned for any C type. `user` is passed through.
typedef struct rheos_allocator {
  void *(*allocate)(void *user, size_t size_bytes);
  void *(*reallocate)(void *user, void *memory, size_t size_bytes);
  void (*release)(void *user, void *memory);  // takes what the others gave, never NULL
  void *user;
} rheos_allocator;

// Replaces the allocator of the process; NULL brings malloc back. Call it while nothing made by the
// library is alive. It is the one setting that belongs to the process, because memory may be freed
// by another object than the one that asked for it.
RHEOS_API void rheos_set_allocator(const rheos_allocator *allocator);

// Memory for strings and arrays that the caller owns ends with rheos_free().
RHEOS_API void rheos_free(void *memory);

#ifdef __cplusplus
}
#endif

#endif  // RHEOS_BASE_H
