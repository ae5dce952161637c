// `rheos show --memory`: what a step needs, known from its plan; nothing is run.
#include <stdlib.h>

#include "command.h"
#include "plan/memory_report.h"
#include "plan_view.h"

// ---- As text

static void print_bytes(const rheos__memory_report *report) {
  show_grouped((int64_t)rheos__memory_peak(report));
  fputs(" bytes: ", stdout);
  show_grouped((int64_t)report->shared_bytes);
  fputs(" for intermediate values (", stdout);
  show_grouped((int64_t)report->separate_bytes);
  fputs(" side by side), ", stdout);
  if (report->kernel_bytes > 0) {
    show_grouped((int64_t)report->kernel_bytes);
    fputs(" for what kernels make, ", stdout);
  }
  show_grouped((int64_t)report->fetched_bytes);
  fputs(" for its results\n", stdout);
}

static char *name_of(const rheos__plan *plan, int32_t id) {
  char *name = rheos__inlined_name(plan->inlined, plan->graph, id);
  if (name != NULL) return name;
  command_fail_take("show", rheos__out_of_memory());
  exit(EXIT_FAILURE);
}

static void source_line(const rheos__plan *plan, int32_t id, const char **out_file,
                        int32_t *out_line) {
  const rheos_graph *graph = rheos__inlined_place(plan->inlined, plan->graph, id, &id);
  rheos_operation_source((rheos_operation){(rheos_graph *)(uintptr_t)graph, id}, out_file,
                         out_line);
}

static void print_unknown(const rheos__plan *plan, const rheos__memory_report *report,
                          int32_t indent) {
  if (report->waits_for < 0) return;
  char *name = name_of(plan, report->waits_for);
  printf("%*swhat follows ", (int)indent, "");
  show_name(name);
  puts(" is not counted: its shapes depend on values");
  rheos__free(name);
}

static void print_largest(const rheos__plan *plan, const rheos__memory_report *report,
                          int32_t indent) {
  if (report->num_largest > 0) printf("%*slargest:\n", (int)indent, "");
  for (int32_t i = 0; i < report->num_largest; i++) {
    const rheos__large_tensor *tensor = &report->largest[i];
    char *name = name_of(plan, tensor->origin.id);
    const char *file;
    int32_t line;
    source_line(plan, tensor->origin.id, &file, &line);
    printf("%*s  ", (int)indent, "");
    show_grouped((int64_t)tensor->bytes);
    fputs(" bytes: ", stdout);
    show_name(name);
    printf(":%d ", (int)tensor->origin.index);
    show_type(tensor->dtype, tensor->shape);
    if (tensor->is_variable) fputs(" of a variable", stdout);
    if (file != NULL) {
      fputs(" at ", stdout);
      show_name(file);
      printf(":%d", (int)line);
    }
    putchar('\n');
    rheos__free(name);
  }
}

// As far as the graph tells shapes.
static rheos_status *print_tokens(const rheos__plan *plan, int32_t indent) {
  rheos__memory_report report;
  RHEOS_TRY(rheos__memory_report_of_tokens(plan, &report));
  fputs("runs on tokens: ", stdout);
  show_grouped((int64_t)report.kernel_bytes);
  fputs(" bytes for what a trip holds", stdout);
  if (report.num_unknown > 0) {
    printf(", without %d values whose shapes the graph does not tell", (int)report.num_unknown);
  }
  putchar('\n');
  print_largest(plan, &report, indent);
  return NULL;
}

static void print_step(const plan_view *v) {
  rheos__memory_report report;
  rheos__memory_report_of(v->segment, &report);
  fputs("a step needs ", stdout);
  print_bytes(&report);
  if (report.packed_bytes > 0) {
    fputs("between steps ", stdout);
    show_grouped((int64_t)report.packed_bytes);
    puts(" bytes are kept: operands laid out for their kernels");
  }
}

static rheos_status *print_body(void *argument, const rheos__called *called) {
  (void)argument;
  const int indent = 2 * (int)called->depth;
  char *name = plan_view_called(called);
  printf("%*sbody of ", indent, "");
  show_name(name);
  free(name);
  if (called->is_again) {
    puts(": as above");
  } else if (called->plan == NULL) {
    printf(": %s\n", rheos_status_message(called->problem));
  } else if (called->plan->flow != NULL) {
    fputs(": ", stdout);
    return print_tokens(called->plan, indent + 2);
  } else if (called->plan->roots == NULL) {
    puts(": known when it runs");
  } else {
    rheos__memory_report report;
    rheos__memory_report_of(called->plan->roots, &report);
    fputs(": ", stdout);
    print_bytes(&report);
    print_unknown(called->plan, &report, indent + 2);
    print_largest(called->plan, &report, indent + 2);
  }
  return NULL;
}

static rheos_status *print_text(const plan_view *v) {
  if (v->segment != NULL) {
    print_step(v);
  } else {
    fputs("a step ", stdout);
    RHEOS_TRY(print_tokens(v->plan, 0));
  }
  for (int32_t i = 0; i < v->num_feeds; i++) {
    char *name = name_of(v->plan, v->feeds[i].id);
    fputs("fed: ", stdout);
    show_name(name);
    putchar(' ');
    show_type(rheos_output_dtype(v->feeds[i]), &v->shapes[i]);
    putchar('\n');
    rheos__free(name);
  }
  if (v->has_guesses) puts("dimensions that nobody told are 1: --feed-shape");
  if (v->segment != NULL) {
    rheos__memory_report report;
    rheos__memory_report_of(v->segment, &report);
    print_unknown(v->plan, &report, 0);
    print_largest(v->plan, &report, 0);
  }
  return rheos__visit_called(v->plan, print_body, NULL);
}

// ---- As JSON

static void print_largest_json(json *j, const rheos__plan *plan,
                               const rheos__memory_report *report) {
  json_begin(j, "largest", '[');
  for (int32_t i = 0; i < report->num_largest; i++) {
    const rheos__large_tensor *tensor = &report->largest[i];
    char *name = name_of(plan, tensor->origin.id);
    const char *file;
    int32_t line;
    source_line(plan, tensor->origin.id, &file, &line);
    json_begin(j, NULL, '{');
    json_text(j, "node", name);
    json_int(j, "output", tensor->origin.index);
    show_json_type(j, tensor->dtype, tensor->shape);
    json_unsigned(j, "bytes", tensor->bytes);
    json_bool(j, "variable", tensor->is_variable);
    if (file != NULL) {
      json_text(j, "file", file);
      json_int(j, "line", line);
    }
    json_end(j, '}');
    rheos__free(name);
  }
  json_end(j, ']');
}

static rheos_status *print_bytes_json(json *j, const rheos__plan *plan,
                                      const rheos__segment *segment) {
  rheos__memory_report report = {.waits_for = -1};
  if (segment != NULL) rheos__memory_report_of(segment, &report);
  if (plan->flow != NULL) RHEOS_TRY(rheos__memory_report_of_tokens(plan, &report));
  json_unsigned(j, "peak_bytes", rheos__memory_peak(&report));
  json_unsigned(j, "intermediate_bytes", report.shared_bytes);
  json_unsigned(j, "separate_bytes", report.separate_bytes);
  json_unsigned(j, "kernel_bytes", report.kernel_bytes);
  json_unsigned(j, "result_bytes", report.fetched_bytes);
  json_unsigned(j, "packed_bytes", report.packed_bytes);
  json_bool(j, "on_tokens", plan->flow != NULL);
  if (plan->flow != NULL) json_int(j, "unknown_values", report.num_unknown);
  if (report.waits_for >= 0) {
    char *name = name_of(plan, report.waits_for);
    json_text(j, "waits_for", name);
    rheos__free(name);
  } else {
    json_null(j, "waits_for");
  }
  print_largest_json(j, plan, &report);
  return NULL;
}

static rheos_status *print_body_json(void *argument, const rheos__called *called) {
  json *j = argument;
  json_begin(j, NULL, '{');
  plan_view_json_called(called, j);
  if (called->plan != NULL && !called->is_again) {
    RHEOS_TRY(print_bytes_json(j, called->plan, called->plan->roots));
  }
  json_end(j, '}');
  return NULL;
}

static rheos_status *print_json(const plan_view *v, const source *s) {
  json j = {.out = stdout};
  show_json_head(&j, s);
  plan_view_json_feeds(v, &j);
  RHEOS_TRY(print_bytes_json(&j, v->plan, v->segment));
  json_begin(&j, "bodies", '[');
  RHEOS_TRY(rheos__visit_called(v->plan, print_body_json, &j));
  json_end(&j, ']');
  json_end(&j, '}');
  return NULL;
}

int show_memory(const char *path, const source *s, const show_options *options) {
  plan_view v;
  int result = plan_view_open(path, options, &v);
  if (result != EXIT_SUCCESS) return result;
  rheos_status *status = options->json ? print_json(&v, s) : print_text(&v);
  if (status != NULL) result = command_fail_take(path, status);
  plan_view_close(&v);
  return result;
}
