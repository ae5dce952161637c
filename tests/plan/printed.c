#include "plan/printed.h"

#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/text.h"
#include "plan/show/print.h"

static void check(rheos_status *status) {
  if (status != NULL) fail_msg("%s", rheos_status_message(status));
}

static bool begins(const char *text, const char *with) {
  return strncmp(text, with, strlen(with)) == 0;
}

// Without what is the kernel's.
static void add_line(rheos__text *out, const char *line, const char *end) {
  static const char *const of_kernels[] = {"; units ", "; parallel", "; scratch of "};
  while (line < end) {
    const char *next = memchr(line + 1, ';', (size_t)(end - line - 1));
    if (next == NULL) next = end;
    bool is_shown = true;
    for (int i = 0; i < 3; i++) is_shown = is_shown && !begins(line, of_kernels[i]);
    if (is_shown) rheos__text_add(out, line, (size_t)(next - line));
    line = next;
  }
  rheos__text_add_string(out, "\n");
}

// Whether the word that the line begins with is among the parts.
static bool is_named(const char *line, const char *parts) {
  size_t length = 0;
  while (isalpha((unsigned char)line[length])) length++;
  for (const char *at = parts; *at != '\0';) {
    const size_t word = strcspn(at, " ");
    if (word == length && strncmp(at, line, word) == 0) return true;
    at += word + strspn(at + word, " ");
  }
  return false;
}

// A part is a line at the margin and what is indented behind it.
static void take_parts(rheos__text *out, const char *printed, const char *parts) {
  bool is_part = false;
  for (const char *line = printed, *end; *line != '\0'; line = end + 1) {
    end = strchr(line, '\n');
    if (line[0] != ' ') is_part = is_named(line, parts);
    if (is_part) add_line(out, line, end);
  }
}

void expect_printed(rheos_session *session, const rheos__step_ends *ends, const rheos_shape *shapes,
                    const char *parts, const char *expected) {
  rheos__plan *plan = NULL;
  const rheos__segment *segment = NULL;
  check(rheos__session_plan(session, ends, shapes, &plan, &segment));
  rheos__plan_check(plan);
  rheos__text printed = {0}, shown = {0};
  check(rheos__plan_print(plan, &printed));
  if (segment != NULL) check(rheos__segment_print(segment, &printed));
  take_parts(&shown, printed.data, parts);
  assert_string_equal(shown.data != NULL ? shown.data : "", expected);
  rheos__text_deinit(&printed);
  rheos__text_deinit(&shown);
  rheos__plan_free(plan);
}
