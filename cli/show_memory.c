// `rheos show --memory`: what a step needs, known from its plan; nothing is run.
#include <stdlib.h>

#include "plan/memory_report.h"
#include "plan_view.h"

static void print_text(const plan_view *v, const rheos__memory_report *report) {
  fputs("a step needs ", stdout);
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
  if (report->packed_bytes > 0) {
    fputs("between steps ", stdout);
    show_grouped((int64_t)report->packed_bytes);
    puts(" bytes are kept: operands laid out for their kernels");
  }
  for (int32_t i = 0; i < v->num_feeds; i++) {
    char *name = plan_view_name(v, v->feeds[i].id);
    fputs("fed: ", stdout);
    show_name(name);
    putchar(' ');
    show_type(rheos_output_dtype(v->feeds[i]), &v->shapes[i]);
    putchar('\n');
    rheos__free(name);
  }
  if (v->has_guesses) puts("dimensions that nobody told are 1: --feed-shape");
  if (report->waits_for >= 0) {
    char *name = plan_view_name(v, report->waits_for);
    fputs("what follows ", stdout);
    show_name(name);
    puts(" is not counted: its shapes depend on values");
    rheos__free(name);
  }
  if (report->num_largest > 0) puts("largest:");
  for (int32_t i = 0; i < report->num_largest; i++) {
    const rheos__large_tensor *tensor = &report->largest[i];
    char *name = plan_view_name(v, tensor->origin.id);
    const char *file;
    int32_t line;
    rheos_operation_source((rheos_operation){v->runner.graph, tensor->origin.id}, &file, &line);
    fputs("  ", stdout);
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

static void print_json(const plan_view *v, const source *s, const rheos__memory_report *report) {
  json j = {.out = stdout};
  show_json_head(&j, s);
  json_unsigned(&j, "peak_bytes", rheos__memory_peak(report));
  json_unsigned(&j, "intermediate_bytes", report->shared_bytes);
  json_unsigned(&j, "separate_bytes", report->separate_bytes);
  json_unsigned(&j, "kernel_bytes", report->kernel_bytes);
  json_unsigned(&j, "result_bytes", report->fetched_bytes);
  json_unsigned(&j, "packed_bytes", report->packed_bytes);
  plan_view_json_feeds(v, &j);
  if (report->waits_for >= 0) {
    char *name = plan_view_name(v, report->waits_for);
    json_text(&j, "waits_for", name);
    rheos__free(name);
  } else {
    json_null(&j, "waits_for");
  }
  json_begin(&j, "largest", '[');
  for (int32_t i = 0; i < report->num_largest; i++) {
    const rheos__large_tensor *tensor = &report->largest[i];
    char *name = plan_view_name(v, tensor->origin.id);
    const char *file;
    int32_t line;
    rheos_operation_source((rheos_operation){v->runner.graph, tensor->origin.id}, &file, &line);
    json_begin(&j, NULL, '{');
    json_text(&j, "node", name);
    json_int(&j, "output", tensor->origin.index);
    show_json_type(&j, tensor->dtype, tensor->shape);
    json_unsigned(&j, "bytes", tensor->bytes);
    json_bool(&j, "variable", tensor->is_variable);
    if (file != NULL) {
      json_text(&j, "file", file);
      json_int(&j, "line", line);
    }
    json_end(&j, '}');
    rheos__free(name);
  }
  json_end(&j, ']');
  json_end(&j, '}');
}

int show_memory(const char *path, const source *s, const show_options *options) {
  plan_view v;
  const int result = plan_view_open(path, options, &v);
  if (result != EXIT_SUCCESS) return result;
  rheos__memory_report report;
  rheos__memory_report_of(v.segment, &report);
  if (options->json) {
    print_json(&v, s, &report);
  } else {
    print_text(&v, &report);
  }
  plan_view_close(&v);
  return result;
}
