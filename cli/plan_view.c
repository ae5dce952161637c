// From where to where a step is planned, and for which shapes.
#include "plan_view.h"

#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "runtime/session_plan.h"
#include "show.h"

static void reserve(plan_view *v, size_t num_feeds, size_t num_fetches) {
  v->feeds = command_alloc(num_feeds * sizeof *v->feeds);
  v->shapes = command_alloc(num_feeds * sizeof *v->shapes);
  v->fetches = command_alloc(num_fetches * sizeof *v->fetches);
}

static rheos_status *ends_of_signature(plan_view *v) {
  const rheos_signature_def *signature = v->runner.signature;
  reserve(v, signature->num_inputs, signature->num_outputs);
  for (size_t i = 0; i < signature->num_inputs; i++) {
    RHEOS_TRY(runner_input(&v->runner, signature->inputs[i].key, &v->feeds[v->num_feeds++]));
  }
  for (size_t i = 0; i < signature->num_outputs; i++) {
    RHEOS_TRY(runner_output(&v->runner, signature->outputs[i].key, &v->fetches[v->num_fetches++]));
  }
  return NULL;
}

// Without a signature: the placeholders, and the first outputs of what nobody takes.
static rheos_status *ends_of_graph(plan_view *v) {
  runner_ends(&v->runner, &v->feeds, &v->num_feeds, &v->fetches, &v->num_fetches);
  v->shapes = command_alloc((size_t)v->num_feeds * sizeof *v->shapes);
  if (v->num_fetches == 0) return RHEOS_INVALID("the graph has no outputs");
  return NULL;
}

// "2,28,28", or nothing for a scalar.
static rheos_status *parse_shape(const char *text, rheos_shape *out_shape) {
  *out_shape = RHEOS_SCALAR;
  for (const char *at = text; *at != '\0';) {
    char *end;
    const long long dim = strtoll(at, &end, 10);
    if (end == at || dim < 0 || (*end != '\0' && *end != ',') || (*end == ',' && end[1] == '\0') ||
        out_shape->rank == RHEOS_MAX_RANK) {
      return RHEOS_INVALID("'%s' is no shape: write 2,28,28", text);
    }
    out_shape->dims[out_shape->rank++] = dim;
    at = *end == ',' ? end + 1 : end;
  }
  return NULL;
}

static rheos_status *told_shape(plan_view *v, const char *text) {
  const char *equals = strrchr(text, '=');
  if (equals == NULL) return RHEOS_INVALID("'%s' has no shape: write NAME=2,28,28", text);
  char *name = command_format("%.*s", (int)(equals - text), text);
  rheos_output input;
  rheos_status *status = runner_input(&v->runner, name, &input);
  free(name);
  RHEOS_TRY(status);
  int32_t feed = 0;
  while (feed < v->num_feeds &&
         (v->feeds[feed].id != input.id || v->feeds[feed].index != input.index)) {
    feed++;
  }
  if (feed == v->num_feeds) return RHEOS_INVALID("'%s' is none of the inputs", text);
  rheos_shape shape, declared = rheos_output_shape(input);
  RHEOS_TRY(parse_shape(equals + 1, &shape));
  if (!rheos_shape_compatible(&declared, &shape)) {
    rheos__shape_text is, was;
    return RHEOS_INVALID("%.*s has shape %s, not %s", (int)(equals - text), text,
                         rheos__shape_text_of(&declared, &was), rheos__shape_text_of(&shape, &is));
  }
  v->shapes[feed] = shape;
  return NULL;
}

char *plan_view_name(const plan_view *v, int32_t id) {
  char *name = rheos__inlined_name(v->plan != NULL ? v->plan->inlined : NULL, v->runner.graph, id);
  if (name != NULL) return name;
  command_fail_take("show", rheos__out_of_memory());
  exit(EXIT_FAILURE);
}

char *plan_view_called(const rheos__called *called) {
  const rheos__plan *plan = called->caller;
  const int32_t id = plan->entries[called->entry].id;
  char *name = rheos__inlined_name(plan->inlined, plan->graph, id);
  const char *function = called->function;
  char *text =
      called->number < 0
          ? command_format("e%d %s, %s%s%s", (int)called->entry, name != NULL ? name : "?",
                           called->role, function != NULL ? ": " : "",
                           function != NULL ? function : "")
          : command_format("e%d %s, %s %d: %s", (int)called->entry, name != NULL ? name : "?",
                           called->role, (int)called->number, function);
  rheos__free(name);
  if (called->trips < 0) return text;
  char *with_trips = command_format("%s, %lld trips", text, (long long)called->trips);
  free(text);
  return with_trips;
}

void plan_view_json_called(const rheos__called *called, json *j) {
  const rheos__plan *plan = called->caller;
  const int32_t id = plan->entries[called->entry].id;
  char *name = rheos__inlined_name(plan->inlined, plan->graph, id);
  json_int(j, "depth", called->depth);
  json_text(j, "node", name != NULL ? name : "?");
  json_int(j, "called_by", called->entry);
  json_text(j, "role", called->role);
  if (called->number >= 0) json_int(j, "number", called->number);
  if (called->function != NULL) json_text(j, "function", called->function);
  if (called->trips >= 0) json_int(j, "trips", called->trips);
  json_bool(j, "again", called->is_again);
  if (called->problem != NULL) json_text(j, "problem", rheos_status_message(called->problem));
  rheos__free(name);
}

static rheos_status *fill_shapes(plan_view *v, const text_list *told) {
  for (int32_t i = 0; i < v->num_feeds; i++) v->shapes[i] = rheos_output_shape(v->feeds[i]);
  for (size_t i = 0; i < told->count; i++) RHEOS_TRY(told_shape(v, told->items[i]));
  for (int32_t i = 0; i < v->num_feeds; i++) {
    if (v->shapes[i].rank < 0) {
      char *name = plan_view_name(v, v->feeds[i].id);
      rheos_status *error =
          RHEOS_INVALID("the graph does not tell the shape of %s: --feed-shape %s=...", name, name);
      rheos__free(name);
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

static rheos_status *make_view(plan_view *v, const show_options *options) {
  RHEOS_TRY(v->runner.signature != NULL ? ends_of_signature(v) : ends_of_graph(v));
  RHEOS_TRY(fill_shapes(v, &options->feed_shapes));
  if (!options->memory) return NULL;
  const rheos__step_ends ends = {
      v->feeds, (size_t)v->num_feeds, v->fetches, (size_t)v->num_fetches, NULL, 0,
  };
  return rheos__session_plan(v->runner.session, &ends, v->shapes, &v->plan, &v->segment);
}

int plan_view_open(const char *path, const show_options *options, plan_view *out_view) {
  *out_view = (plan_view){0};
  const runner_options how = {.tags = options->tags};
  rheos_status *status = runner_open(path, &how, &out_view->runner);
  if (status != NULL) return command_fail_take(path, status);
  status = make_view(out_view, options);
  if (status == NULL) return EXIT_SUCCESS;
  plan_view_close(out_view);
  return command_fail_take(path, status);
}

void plan_view_json_feeds(const plan_view *v, json *j) {
  json_begin(j, "feeds", '[');
  for (int32_t i = 0; i < v->num_feeds; i++) {
    char *name = plan_view_name(v, v->feeds[i].id);
    json_begin(j, NULL, '{');
    json_text(j, "name", name);
    show_json_type(j, rheos_output_dtype(v->feeds[i]), &v->shapes[i]);
    json_end(j, '}');
    rheos__free(name);
  }
  json_end(j, ']');
}

void plan_view_close(plan_view *v) {
  rheos__plan_free(v->plan);
  free(v->feeds);
  free(v->shapes);
  free(v->fetches);
  runner_close(&v->runner);
}
