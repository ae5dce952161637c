// Errors inside the library.
#ifndef RHEOS_SRC_BASE_STATUS_H
#define RHEOS_SRC_BASE_STATUS_H

#include <rheos/base.h>
#include <stdarg.h>
#include <string.h>

// The static status for "out of memory".
RHEOS_MUST_USE rheos_status *rheos__out_of_memory(void);

// The static status for what is asked of a scope that is NULL.
RHEOS_MUST_USE rheos_status *rheos__no_scope(void);

RHEOS_MUST_USE rheos_status *rheos__status_newv(rheos_code code, const char *format, va_list args);

// Adds the node and its source line to the error, once: an error that names a node keeps it. `file`
// may be NULL. Takes `status` and returns the error to go on with.
RHEOS_MUST_USE rheos_status *rheos__status_at_node_take(rheos_status *status, const char *node,
                                                        const char *file, int line);

// An error that is known by a node, which its message tells already.
RHEOS_MUST_USE rheos_status *rheos__status_of_node(rheos_code code, const char *node,
                                                   const char *message);

// The error of a call's body: adds the function. The node that calls is added next, and is the one
// that the error is known by. Takes `status` likewise.
RHEOS_MUST_USE rheos_status *rheos__status_in_function_take(rheos_status *status,
                                                            const char *function);

// Short forms for the common codes.
#define RHEOS_INVALID(...) rheos_status_new(RHEOS_INVALID_ARGUMENT, __VA_ARGS__)
#define RHEOS_NOTFOUND(...) rheos_status_new(RHEOS_NOT_FOUND, __VA_ARGS__)

// Returns the error of `expression` from the function. Only where nothing is held.
#define RHEOS_TRY(expression)                                         \
  do {                                                                \
    rheos_status *try_status_ = (expression);                         \
    if (__builtin_expect(try_status_ != NULL, 0)) return try_status_; \
  } while (0)

// ---- What public functions are given: each begins with what it needs

// "rheos_tensor_new() needs out_tensor": `function` as __func__ has it.
RHEOS_MUST_USE rheos_status *rheos__not_given(const char *function, const char *names);

// Fails if one of the pointers is NULL.
#define RHEOS_NEED(...)                                                            \
  do {                                                                             \
    const void *const needed_[] = {__VA_ARGS__};                                   \
    for (size_t need_ = 0; need_ < sizeof needed_ / sizeof needed_[0]; need_++) {  \
      if (needed_[need_] == NULL) return rheos__not_given(__func__, #__VA_ARGS__); \
    }                                                                              \
  } while (0)

// Fails if there is no place for what comes out, and makes it zero.
#define RHEOS_OUT(out)                                          \
  do {                                                          \
    if ((out) == NULL) return rheos__not_given(__func__, #out); \
    memset((out), 0, sizeof *(out));                            \
  } while (0)

// Whether `count` elements can lie at `list`.
static inline bool rheos__is_list(const void *list, size_t count, size_t element_bytes) {
  return (list != NULL || count == 0) && count <= PTRDIFF_MAX / element_bytes;
}

// Fails if `count` elements, or bytes, cannot lie there.
#define RHEOS_LIST_STATUS(list, count) \
  (rheos__is_list((list), (count), sizeof *(list)) ? NULL : rheos__no_list(#list, (count)))
#define RHEOS_NEED_LIST(list, count) RHEOS_TRY(RHEOS_LIST_STATUS(list, count))
#define RHEOS_NEED_BYTES(bytes, count) \
  RHEOS_TRY(rheos__is_list((bytes), (count), 1) ? NULL : rheos__no_list(#bytes, (count)))
// Fails if `count` texts cannot lie there, or one of them is NULL.
#define RHEOS_NEED_TEXTS(texts, count) RHEOS_TRY(rheos__check_texts((texts), (count), #texts))
RHEOS_MUST_USE rheos_status *rheos__check_texts(const char *const *texts, size_t count,
                                                const char *name);
RHEOS_MUST_USE rheos_status *rheos__no_list(const char *name, size_t count);

#endif  // RHEOS_SRC_BASE_STATUS_H
