// The step of the model's signature; without one, from all placeholders to all that no operation
// takes; or to what the options name.
// Its shapes are the graph's and those that the options tell.
#include "plan_view.h"

#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "request.h"
#include "runner.h"
#include "status.h"

typedef struct plan_view {
  runner runner;
  rheos_output *feeds, *fetches;
  rheos_operation *targets;
  rheos_shape *shapes;  // of the feeds
  int32_t num_feeds, num_fetches, num_targets;
  bool has_guesses;  // dimensions that nobody told
} plan_view;

static void reserve(plan_view *v, size_t num_feeds, size_t num_fetches) {
  v->feeds = command_alloc(num_feeds * sizeof *v->feeds);
  v->shapes = command_alloc(num_feeds * sizeof *v->shapes);
  v->fetches = command_alloc(num_fetches * sizeof *v->fetches);
}

static rheos_status *ends_of_signature(plan_view *v) {
  const rheos_signature_def *signature = v->runner.signature;
  reserve(v, signature->num_inputs, signature->num_outputs);
  for (size_t i = 0; i < signature->num_inputs; i++) {
    TRY(runner_input(&v->runner, signature->inputs[i].key, &v->feeds[v->num_feeds++]));
  }
  for (size_t i = 0; i < signature->num_outputs; i++) {
    TRY(runner_output(&v->runner, signature->outputs[i].key, &v->fetches[v->num_fetches++]));
  }
  return NULL;
}

static rheos_status *ends_of_graph(plan_view *v) {
  runner_ends(&v->runner, &v->feeds, &v->num_feeds, &v->fetches, &v->num_fetches);
  v->shapes = command_alloc((size_t)v->num_feeds * sizeof *v->shapes);
  return NULL;
}

// ---- What is asked for instead

// Of all operations whether what is asked for is computed from them; for free().
static bool *find_needed(const plan_view *v) {
  const int32_t count = rheos_graph_num_operations(v->runner.graph);
  bool *needed = command_alloc((size_t)count * sizeof *needed);
  int32_t *todo = command_alloc((size_t)count * sizeof *todo), num_todo = 0;
  const int32_t num_ends = v->num_fetches + v->num_targets;
  for (int32_t i = 0; i < num_ends; i++) {
    const bool is_fetch = i < v->num_fetches;
    const int32_t id = is_fetch ? v->fetches[i].id : v->targets[i - v->num_fetches].id;
    if (!needed[id]) todo[num_todo++] = id;
    needed[id] = true;
  }
  while (num_todo > 0) {
    const rheos_operation operation = {v->runner.graph, todo[--num_todo]};
    const int32_t num_inputs = rheos_operation_num_inputs(operation);
    const int32_t num_controls = rheos_operation_num_control_inputs(operation);
    for (int32_t i = 0; i < num_inputs + num_controls; i++) {
      const int32_t id = i < num_inputs
                             ? rheos_operation_input(operation, i).id
                             : rheos_operation_control_input(operation, i - num_inputs).id;
      if (!needed[id]) todo[num_todo++] = id;
      needed[id] = true;
    }
  }
  free(todo);
  return needed;
}

// Inputs that what is asked for does not need are not fed.
static void drop_feeds(plan_view *v) {
  bool *needed = find_needed(v);
  int32_t count = 0;
  for (int32_t i = 0; i < v->num_feeds; i++) {
    if (needed[v->feeds[i].id]) v->feeds[count++] = v->feeds[i];
  }
  v->num_feeds = count;
  free(needed);
}

static rheos_status *ask_for(plan_view *v, const text_list *names) {
  request r = {.fetches = *names, .runner = v->runner};
  rheos_status *status = request_find_fetches(&r);
  free(v->fetches);
  v->fetches = command_alloc(r.num_fetched * sizeof *v->fetches);
  v->num_fetches = (int32_t)r.num_fetched;
  for (size_t i = 0; i < r.num_fetched; i++) v->fetches[i] = r.fetched[i].output;
  v->targets = r.targets;
  v->num_targets = (int32_t)r.num_targets;
  free(r.fetched);
  free(r.fetched_names);
  if (status == NULL) drop_feeds(v);
  return status;
}

// ---- Shapes

// "2,28,28", or nothing for a scalar.
static rheos_status *parse_shape(const char *text, rheos_shape *out_shape) {
  *out_shape = RHEOS_SCALAR;
  for (const char *at = text; *at != '\0';) {
    char *end;
    const long long dim = strtoll(at, &end, 10);
    if (end == at || dim < 0 || (*end != '\0' && *end != ',') || (*end == ',' && end[1] == '\0') ||
        out_shape->rank == RHEOS_MAX_RANK) {
      return INVALID("'%s' is no shape: write 2,28,28", text);
    }
    out_shape->dims[out_shape->rank++] = dim;
    at = *end == ',' ? end + 1 : end;
  }
  return NULL;
}

static rheos_status *told_shape(plan_view *v, const char *text) {
  const char *equals = strrchr(text, '=');
  if (equals == NULL) return INVALID("'%s' has no shape: write NAME=2,28,28", text);
  char *name = command_format("%.*s", (int)(equals - text), text);
  rheos_output input;
  rheos_status *status = runner_input(&v->runner, name, &input);
  free(name);
  TRY(status);
  int32_t feed = 0;
  while (feed < v->num_feeds &&
         (v->feeds[feed].id != input.id || v->feeds[feed].index != input.index)) {
    feed++;
  }
  if (feed == v->num_feeds) return INVALID("'%s' is none of the inputs", text);
  rheos_shape shape, declared = rheos_output_shape(input);
  TRY(parse_shape(equals + 1, &shape));
  if (!rheos_shape_compatible(&declared, &shape)) {
    char is[192], was[192];
    rheos_shape_format(&shape, is, sizeof is);
    rheos_shape_format(&declared, was, sizeof was);
    return INVALID("%.*s has shape %s, not %s", (int)(equals - text), text, was, is);
  }
  v->shapes[feed] = shape;
  return NULL;
}

// For free().
static char *name_of(rheos_output output) {
  const rheos_operation operation = rheos_output_operation(output);
  const size_t length = rheos_operation_name(operation, NULL, 0);
  char *name = command_alloc(length + 1);
  rheos_operation_name(operation, name, length + 1);
  return name;
}

static rheos_status *fill_shapes(plan_view *v, const text_list *told) {
  for (int32_t i = 0; i < v->num_feeds; i++) v->shapes[i] = rheos_output_shape(v->feeds[i]);
  for (size_t i = 0; i < told->count; i++) TRY(told_shape(v, told->items[i]));
  for (int32_t i = 0; i < v->num_feeds; i++) {
    if (v->shapes[i].rank < 0) {
      char *name = name_of(v->feeds[i]);
      rheos_status *error =
          INVALID("the graph does not tell the shape of %s: --feed-shape %s=...", name, name);
      free(name);
      return error;
    }
    for (int32_t d = 0; d < v->shapes[i].rank; d++) {
      if (v->shapes[i].dims[d] >= 0) continue;
      v->shapes[i].dims[d] = 1;
      v->has_guesses = true;
    }
  }
  return NULL;
}

static rheos_status *make_view(plan_view *v, const char *path, const show_options *options) {
  const runner_options how = {.tags = options->tags};
  TRY(runner_open(path, &how, &v->runner));
  const bool is_asked = options->fetches.count > 0;
  TRY(v->runner.signature != NULL && !is_asked ? ends_of_signature(v) : ends_of_graph(v));
  if (is_asked) TRY(ask_for(v, &options->fetches));
  if (v->num_fetches + v->num_targets == 0) return INVALID("the graph has no outputs");
  return fill_shapes(v, &options->feed_shapes);
}

static void close_view(plan_view *v) {
  free(v->feeds);
  free(v->shapes);
  free(v->fetches);
  free(v->targets);
  runner_close(&v->runner);
}

static void print_text(const plan_view *v, const source *s, const char *text) {
  (void)s;
  for (const char *line = text; *line != '\0';) {
    const size_t length = strcspn(line, "\n");
    text_print(stdout, line, length);
    putchar('\n');
    line += length + (line[length] == '\n');
  }
  if (v->has_guesses) puts("dimensions that nobody told are 1: --feed-shape");
}

static void print_json(const plan_view *v, const source *s, const char *object) {
  json j = {.out = stdout};
  show_json_head(&j, s);
  json_begin(&j, "feeds", '[');
  for (int32_t i = 0; i < v->num_feeds; i++) {
    char *name = name_of(v->feeds[i]);
    json_begin(&j, NULL, '{');
    json_text(&j, "name", name);
    show_json_type(&j, rheos_output_dtype(v->feeds[i]), &v->shapes[i]);
    json_end(&j, '}');
    free(name);
  }
  json_end(&j, ']');
  json_members(&j, object);
  json_end(&j, '}');
}

static rheos_status *text_of(plan_view *v, const char *path, const show_options *options,
                             plan_text how, char **out_text) {
  TRY(make_view(v, path, options));
  return how(v->runner.session, v->feeds, v->shapes, (size_t)v->num_feeds, v->fetches,
             (size_t)v->num_fetches, v->targets, (size_t)v->num_targets, out_text);
}

rheos_status *plan_view_json(const char *path, const show_options *options, char **out_text) {
  plan_view v = {.num_feeds = 0};
  *out_text = NULL;
  rheos_status *status = text_of(&v, path, options, rheos_session_plan_json, out_text);
  close_view(&v);
  return status;
}

int plan_view_print(const char *path, const source *s, const show_options *options,
                    plan_text as_text, plan_text as_json) {
  plan_view v = {.num_feeds = 0};
  char *text = NULL;
  rheos_status *status = text_of(&v, path, options, options->json ? as_json : as_text, &text);
  if (status == NULL) (options->json ? print_json : print_text)(&v, s, text);
  rheos_free(text);
  close_view(&v);
  return status == NULL ? EXIT_SUCCESS : command_fail_take(path, status);
}
