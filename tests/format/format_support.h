// For tests of files: a folder of their own, whole files in memory, statuses that must be.
#ifndef RHEOS_TESTS_FORMAT_FORMAT_SUPPORT_H
#define RHEOS_TESTS_FORMAT_FORMAT_SUPPORT_H

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/status.h"

typedef struct bytes {
  char *data;
  size_t size_bytes;
} bytes;

static inline void expect_ok(rheos_status *status) {
  if (status != NULL) fail_msg("%s", rheos_status_message(status));
}

// The status has that code, and its message contains `part`.
static inline void expect_error(rheos_status *status, rheos_code code, const char *part) {
  if (rheos_status_code(status) != code || strstr(rheos_status_message(status), part) == NULL) {
    fail_msg("expected %s with '%s', got %s: %s", rheos_code_name(code), part,
             rheos_code_name(rheos_status_code(status)), rheos_status_message(status));
  }
  rheos_status_free(status);
}

static inline char *new_folder(void) {
  const char *parent = getenv("TMPDIR");
  char *path = rheos__text_format("%s/rheos-test-XXXXXX", parent != NULL ? parent : "/tmp");
  assert_non_null(mkdtemp(path));
  return path;
}

static inline void remove_folder(char *path) {
  char **names;
  size_t count;
  expect_ok(rheos__file_list(path, &names, &count));
  for (size_t i = 0; i < count; i++) {
    char *file = rheos__path_join(path, names[i]);
    if (rmdir(file) != 0) unlink(file);
    rheos__free(file);
  }
  rheos__file_list_free(names, count);
  rmdir(path);
  rheos__free(path);
}

static inline bytes read_bytes(const char *path) {
  bytes b;
  expect_ok(rheos__file_read_all(path, 1 << 24, &b.data, &b.size_bytes));
  return b;
}

static inline void write_bytes(const char *path, const void *data, size_t size_bytes) {
  rheos__file_writer *writer;
  expect_ok(rheos__file_writer_open(path, &writer));
  expect_ok(rheos__file_writer_write(writer, data, size_bytes));
  expect_ok(rheos__file_writer_close_take(writer));
}

static inline void expect_same_files(const char *a, const char *b) {
  bytes left = read_bytes(a), right = read_bytes(b);
  assert_int_equal(left.size_bytes, right.size_bytes);
  assert_memory_equal(left.data, right.data, left.size_bytes);
  rheos__free(left.data);
  rheos__free(right.data);
}

// Lets the first `remaining` system calls happen; the next fails with EIO, and with `then_all` all
// that follow: what the disk sees of a kill.
typedef struct io_failure {
  int remaining;
  bool then_all;
  bool has_failed;
} io_failure;

static inline int fail_io(void *user, const char *call, const char *path) {
  io_failure *f = user;
  (void)call;
  (void)path;
  if (f->remaining-- > 0) return 0;
  if (f->has_failed && !f->then_all) return 0;
  f->has_failed = true;
  return EIO;
}

static inline void fail_io_after(io_failure *f, int calls, bool then_all) {
  *f = (io_failure){calls, then_all, false};
  rheos__set_file_hook(&(rheos__file_hook){.before = fail_io, .user = f});
}

// Lets the first `remaining` allocations happen; the next one fails, later ones do not. Counts what
// is still held.
typedef struct alloc_failure {
  int remaining;
  bool has_failed;
  int held;
} alloc_failure;

static inline bool alloc_fails(alloc_failure *f) {
  if (f->has_failed || f->remaining-- > 0) return false;
  f->has_failed = true;
  return true;
}

static inline void *failing_allocate(void *user, size_t size_bytes) {
  alloc_failure *f = user;
  if (alloc_fails(f)) return NULL;
  f->held++;
  return malloc(size_bytes);
}

static inline void *failing_reallocate(void *user, void *memory, size_t size_bytes) {
  alloc_failure *f = user;
  if (alloc_fails(f)) return NULL;
  f->held += memory == NULL;
  return realloc(memory, size_bytes);
}

static inline void failing_release(void *user, void *memory) {
  ((alloc_failure *)user)->held--;
  free(memory);
}

// Runs `body` with the n-th allocation failing, for every n until none does. The body must answer
// with a status when one failed, and hold nothing afterwards.
static inline void sweep_allocations(rheos_status *(*body)(void *argument), void *argument) {
  for (int n = 0;; n++) {
    alloc_failure f = {.remaining = n};
    rheos_set_allocator(
        &(rheos_allocator){failing_allocate, failing_reallocate, failing_release, &f});
    rheos_status *status = body(argument);
    bool failed = status != NULL;
    rheos_code code = rheos_status_code(status);
    char message[200];
    snprintf(message, sizeof message, "%s", rheos_status_message(status));
    rheos_status_free(status);
    rheos_set_allocator(NULL);
    assert_int_equal(f.held, 0);
    if (failed && code != RHEOS_RESOURCE_EXHAUSTED) fail_msg("allocation %d: %s", n, message);
    assert_true(failed == f.has_failed);
    if (!f.has_failed) return;
  }
}

#endif  // RHEOS_TESTS_FORMAT_FORMAT_SUPPORT_H
