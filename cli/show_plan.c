// `rheos show --plan`: what a step would run, entry by entry and instruction by instruction.
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "plan_view.h"

static void print_text(const plan_view *v, const char *text) {
  for (const char *line = text; *line != '\0';) {
    const size_t length = strcspn(line, "\n");
    text_print(stdout, line, length);
    putchar('\n');
    line += length + (line[length] == '\n');
  }
  if (v->has_guesses) puts("dimensions that nobody told are 1: --feed-shape");
}

static void print_json(const plan_view *v, const source *s, const char *plan) {
  json j = {.out = stdout};
  show_json_head(&j, s);
  plan_view_json_feeds(v, &j);
  json_members(&j, plan);
  json_end(&j, '}');
}

int show_plan(const char *path, const source *s, const show_options *options) {
  plan_view v;
  int result = plan_view_open(path, options, &v);
  if (result != EXIT_SUCCESS) return result;
  char *text;
  rheos_status *status = (options->json ? rheos_session_plan_json : rheos_session_plan_text)(
      v.runner.session, v.feeds, v.shapes, (size_t)v.num_feeds, v.fetches, (size_t)v.num_fetches,
      NULL, 0, &text);
  if (status != NULL) {
    result = command_fail_take(path, status);
  } else if (options->json) {
    print_json(&v, s, text);
  } else {
    print_text(&v, text);
  }
  rheos_free(text);
  plan_view_close(&v);
  return result;
}
