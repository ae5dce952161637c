// What memory a step needs, as text and as JSON, for programs that look at plans.
#include <rheos/session.h>

#include <inttypes.h>
#include <stdio.h>

#include "base/status.h"
#include "plan/entries/inline.h"
#include "plan/segment/memory_report.h"
#include "runtime/session/planned.h"

// For rheos__free().
static rheos_status *name_of(const rheos__plan *plan, int32_t id, char **out_name) {
  *out_name = rheos__inlined_name(plan->inlined, plan->graph, id);
  return *out_name != NULL ? NULL : rheos__out_of_memory();
}

static void source_line(const rheos__plan *plan, int32_t id, const char **out_file,
                        int32_t *out_line) {
  const rheos_graph *graph = rheos__inlined_place(plan->inlined, plan->graph, id, &id);
  rheos_operation_source((rheos_operation){(rheos_graph *)(uintptr_t)graph, id}, out_file,
                         out_line);
}

// ---- As text

static void add(rheos__text *text, const char *string) { rheos__text_add_string(text, string); }

static void add_spaces(rheos__text *text, int count) {
  for (int i = 0; i < count; i++) add(text, " ");
}

static void add_number(rheos__text *text, int64_t number) {
  char digits[32];
  snprintf(digits, sizeof digits, "%" PRId64, number);
  add(text, digits);
}

// "1,234,567"
static void add_grouped(rheos__text *text, size_t number) {
  char digits[32];
  const int length = snprintf(digits, sizeof digits, "%zu", number);
  for (int i = 0; i < length; i++) {
    if (i > 0 && (length - i) % 3 == 0) add(text, ",");
    rheos__text_add(text, &digits[i], 1);
  }
}

// "float [2,3]"
static void add_type(rheos__text *text, rheos_dtype dtype, const rheos_shape *shape) {
  rheos__shape_text buffer;
  add(text, rheos_dtype_name(dtype));
  add(text, " ");
  add(text, rheos__shape_text_of(shape, &buffer));
}

static void add_bytes(rheos__text *text, const rheos__memory_report *report) {
  add_grouped(text, rheos__memory_peak(report));
  add(text, " bytes: ");
  add_grouped(text, report->shared_bytes);
  add(text, " for intermediate values (");
  add_grouped(text, report->separate_bytes);
  add(text, " side by side), ");
  if (report->kernel_bytes > 0) {
    add_grouped(text, report->kernel_bytes);
    add(text, " for what kernels make, ");
  }
  add_grouped(text, report->fetched_bytes);
  add(text, " for its results\n");
}

static rheos_status *add_unknown(rheos__text *text, const rheos__plan *plan,
                                 const rheos__memory_report *report, int indent) {
  if (report->waits_for < 0) return NULL;
  char *name;
  RHEOS_TRY(name_of(plan, report->waits_for, &name));
  add_spaces(text, indent);
  add(text, "what follows ");
  add(text, name);
  add(text, " is not counted: its shapes depend on values\n");
  rheos__free(name);
  return NULL;
}

// "1,024 bytes: x:0 float [256] at model.py:3"
static rheos_status *add_large(rheos__text *text, const rheos__plan *plan,
                               const rheos__large_tensor *tensor) {
  char *name;
  RHEOS_TRY(name_of(plan, tensor->origin.id, &name));
  add_grouped(text, tensor->bytes);
  add(text, " bytes: ");
  add(text, name);
  rheos__free(name);
  add(text, ":");
  add_number(text, tensor->origin.index);
  add(text, " ");
  add_type(text, tensor->dtype, tensor->shape);
  if (tensor->is_variable) add(text, " of a variable");
  const char *file;
  int32_t line;
  source_line(plan, tensor->origin.id, &file, &line);
  if (file != NULL) {
    add(text, " at ");
    add(text, file);
    add(text, ":");
    add_number(text, line);
  }
  add(text, "\n");
  return NULL;
}

static rheos_status *add_largest(rheos__text *text, const rheos__plan *plan,
                                 const rheos__memory_report *report, int indent) {
  if (report->num_largest == 0) return NULL;
  add_spaces(text, indent);
  add(text, "largest:\n");
  for (int32_t i = 0; i < report->num_largest; i++) {
    add_spaces(text, indent + 2);
    RHEOS_TRY(add_large(text, plan, &report->largest[i]));
  }
  return NULL;
}

// As far as the graph tells shapes.
static rheos_status *add_tokens(rheos__text *text, const rheos__plan *plan, int indent) {
  rheos__memory_report report;
  RHEOS_TRY(rheos__memory_report_of_tokens(plan, &report));
  add(text, "runs on tokens: ");
  add_grouped(text, report.kernel_bytes);
  add(text, " bytes for what a trip holds");
  if (report.num_unknown > 0) {
    add(text, ", without ");
    add_number(text, report.num_unknown);
    add(text, " values whose shapes the graph does not tell");
  }
  add(text, "\n");
  return add_largest(text, plan, &report, indent);
}

static rheos_status *add_body(void *argument, const rheos__called *called) {
  rheos__text *text = argument;
  const int indent = 2 * (int)called->depth;
  const rheos__plan *plan = called->plan;
  add_spaces(text, indent);
  add(text, "body of ");
  RHEOS_TRY(rheos__called_print(called, text));
  add(text, ": ");
  if (called->is_again) {
    add(text, "as above\n");
  } else if (plan == NULL) {
    add(text, rheos_status_message(called->problem));
    add(text, "\n");
  } else if (plan->flow != NULL) {
    return add_tokens(text, plan, indent + 2);
  } else if (plan->roots == NULL) {
    add(text, "known when it runs\n");
  } else {
    rheos__memory_report report;
    rheos__memory_report_of(plan->roots, &report);
    add_bytes(text, &report);
    RHEOS_TRY(add_unknown(text, plan, &report, indent + 2));
    return add_largest(text, plan, &report, indent + 2);
  }
  return NULL;
}

static rheos_status *add_feeds(rheos__text *text, const rheos__planned *planned) {
  for (size_t i = 0; i < planned->ends->num_feeds; i++) {
    const rheos_output feed = planned->ends->feeds[i];
    char *name;
    RHEOS_TRY(name_of(planned->plan, feed.id, &name));
    add(text, "fed: ");
    add(text, name);
    rheos__free(name);
    add(text, " ");
    add_type(text, rheos_output_dtype(feed), &planned->shapes[i]);
    add(text, "\n");
  }
  return NULL;
}

static rheos_status *write_segment(const rheos__planned *planned, rheos__text *text) {
  rheos__memory_report report;
  rheos__memory_report_of(planned->segment, &report);
  add(text, "a step needs ");
  add_bytes(text, &report);
  if (report.packed_bytes > 0) {
    add(text, "between steps ");
    add_grouped(text, report.packed_bytes);
    add(text, " bytes are kept: operands laid out for their kernels\n");
  }
  RHEOS_TRY(add_feeds(text, planned));
  RHEOS_TRY(add_unknown(text, planned->plan, &report, 0));
  return add_largest(text, planned->plan, &report, 0);
}

static rheos_status *write_text(const rheos__planned *planned, rheos__text *text) {
  if (planned->segment != NULL) {
    RHEOS_TRY(write_segment(planned, text));
  } else {
    add(text, "a step ");
    RHEOS_TRY(add_tokens(text, planned->plan, 0));
    RHEOS_TRY(add_feeds(text, planned));
  }
  return rheos__visit_called(planned->plan, add_body, text);
}

// ---- As JSON

static rheos_status *print_large(rheos__json_text *j, const rheos__plan *plan,
                                 const rheos__large_tensor *tensor) {
  char *name;
  RHEOS_TRY(name_of(plan, tensor->origin.id, &name));
  rheos__json_begin(j, NULL, '{');
  rheos__json_add_text(j, "node", name);
  rheos__free(name);
  rheos__json_add_int(j, "output", tensor->origin.index);
  rheos__json_add_type(j, tensor->dtype, tensor->shape);
  rheos__json_add_unsigned(j, "bytes", tensor->bytes);
  rheos__json_add_bool(j, "variable", tensor->is_variable);
  const char *file;
  int32_t line;
  source_line(plan, tensor->origin.id, &file, &line);
  if (file != NULL) {
    rheos__json_add_text(j, "file", file);
    rheos__json_add_int(j, "line", line);
  }
  rheos__json_end(j, '}');
  return NULL;
}

static rheos_status *print_bytes(rheos__json_text *j, const rheos__plan *plan,
                                 const rheos__segment *segment) {
  rheos__memory_report report = {.waits_for = -1};
  if (segment != NULL) rheos__memory_report_of(segment, &report);
  if (plan->flow != NULL) RHEOS_TRY(rheos__memory_report_of_tokens(plan, &report));
  rheos__json_add_unsigned(j, "peak_bytes", rheos__memory_peak(&report));
  rheos__json_add_unsigned(j, "intermediate_bytes", report.shared_bytes);
  rheos__json_add_unsigned(j, "separate_bytes", report.separate_bytes);
  rheos__json_add_unsigned(j, "kernel_bytes", report.kernel_bytes);
  rheos__json_add_unsigned(j, "result_bytes", report.fetched_bytes);
  rheos__json_add_unsigned(j, "packed_bytes", report.packed_bytes);
  rheos__json_add_bool(j, "on_tokens", plan->flow != NULL);
  if (plan->flow != NULL) rheos__json_add_int(j, "unknown_values", report.num_unknown);
  if (report.waits_for >= 0) {
    char *name;
    RHEOS_TRY(name_of(plan, report.waits_for, &name));
    rheos__json_add_text(j, "waits_for", name);
    rheos__free(name);
  } else {
    rheos__json_add_null(j, "waits_for");
  }
  rheos__json_begin(j, "largest", '[');
  for (int32_t i = 0; i < report.num_largest; i++) {
    RHEOS_TRY(print_large(j, plan, &report.largest[i]));
  }
  rheos__json_end(j, ']');
  return NULL;
}

static rheos_status *print_body(void *argument, const rheos__called *called) {
  rheos__json_text *j = argument;
  rheos__json_begin(j, NULL, '{');
  RHEOS_TRY(rheos__called_print_json(called, j));
  if (called->plan != NULL && !called->is_again) {
    RHEOS_TRY(print_bytes(j, called->plan, called->plan->roots));
  }
  rheos__json_end(j, '}');
  return NULL;
}

static rheos_status *write_json(const rheos__planned *planned, rheos__text *text) {
  rheos__json_text j = {.text = *text};
  rheos__json_begin(&j, NULL, '{');
  rheos_status *status = print_bytes(&j, planned->plan, planned->segment);
  rheos__json_begin(&j, "bodies", '[');
  if (status == NULL) status = rheos__visit_called(planned->plan, print_body, &j);
  rheos__json_end(&j, ']');
  rheos__json_end(&j, '}');
  *text = j.text;
  return status;
}

// ---- What programs ask for

rheos_status *rheos_session_memory_text(rheos_session *session, const rheos_output *feeds,
                                        const rheos_shape *shapes, size_t num_feeds,
                                        const rheos_output *fetches, size_t num_fetches,
                                        const rheos_operation *targets, size_t num_targets,
                                        char **out_text) {
  RHEOS_OUT(out_text);
  RHEOS_NEED(session);
  const rheos__step_ends ends = {feeds, num_feeds, fetches, num_fetches, targets, num_targets};
  return rheos__planned_print(session, &ends, shapes, write_text, out_text);
}

rheos_status *rheos_session_memory_json(rheos_session *session, const rheos_output *feeds,
                                        const rheos_shape *shapes, size_t num_feeds,
                                        const rheos_output *fetches, size_t num_fetches,
                                        const rheos_operation *targets, size_t num_targets,
                                        char **out_text) {
  RHEOS_OUT(out_text);
  RHEOS_NEED(session);
  const rheos__step_ends ends = {feeds, num_feeds, fetches, num_fetches, targets, num_targets};
  return rheos__planned_print(session, &ends, shapes, write_json, out_text);
}
