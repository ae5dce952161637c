#include "plan/plan_text.h"

#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "device/cpu/cpu.h"
#include "plan/show/show.h"

enum { MOST = 8, UNKNOWN_DIMENSION = 3 };

static void check(rheos_status *status) {
  if (status != NULL) fail_msg("%s", rheos_status_message(status));
}

static rheos__device cpu;

static void init_cpu(void) { rheos__device_init(&cpu, &rheos__cpu_kind, 0, NULL, NULL); }

const rheos__device *const *plan_devices(void) {
  static const rheos__device *const devices[] = {&cpu};
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, init_cpu);
  return devices;
}

static rheos_status *print_line(void *argument, const rheos__shown *shown) {
  if (strcmp(shown->op, "Const") == 0) return NULL;
  FILE *file = argument;
  fprintf(file, "%s = %s(", shown->name, shown->op);
  for (int32_t i = 0; i < shown->num_inputs; ++i) {
    fprintf(file, "%s%s", i > 0 ? ", " : "", shown->inputs[i]);
  }
  const rheos_attr_value *fused = rheos__attrs_find(shown->attrs, "fused_ops");
  for (int32_t i = 0; fused != NULL && i < fused->count; ++i) {
    fprintf(file, "%s%s", i > 0 ? "+" : "; ", fused->strings[i].data);
  }
  static const char *const flags[] = {"transpose_a", "transpose_b", "adj_x", "adj_y"};
  for (size_t i = 0; i < sizeof flags / sizeof *flags; ++i) {
    const rheos_attr_value *flag = rheos__attrs_find(shown->attrs, flags[i]);
    if (flag != NULL && flag->b) fprintf(file, "; %s", flags[i]);
  }
  fprintf(file, ")\n");
  return NULL;
}

char *plan_text(rheos_graph *graph, const rheos_rewrite_options *rewrites,
                const rheos_output *feeds, int num_feeds, const rheos_output *fetches,
                int num_fetches) {
  rheos__edge fed[MOST], fetched[MOST];
  for (int i = 0; i < num_feeds; ++i) fed[i] = (rheos__edge){feeds[i].id, feeds[i].index};
  for (int i = 0; i < num_fetches; ++i) fetched[i] = (rheos__edge){fetches[i].id, fetches[i].index};
  rheos__plan_context context = {.devices = plan_devices(), .num_devices = 1};
  if (rewrites != NULL) context.rewrites = *rewrites;
  rheos__plan *plan = NULL;
  check(rheos__plan_new(graph, &context, fed, num_feeds, fetched, num_fetches, NULL, 0, &plan));
  char *text = NULL;
  size_t size = 0;
  FILE *file = open_memstream(&text, &size);
  check(rheos__plan_show(plan, print_line, file));
  fclose(file);
  rheos__plan_free(plan);
  return text;
}

// ---- Values

bool feed_extremes = false;

static double element(int feed, int64_t i) {
  static const double odd[] = {-0.0, 0.0, INFINITY, -INFINITY, NAN, 1e-42, -1.0};
  if (feed_extremes && i % 2 == 0) return odd[i / 2 % 7];
  const int64_t mixed = (i * 37 + feed * 11 + 5) % 64 - 31;
  return (double)mixed / 16;
}

static rheos_tensor *value_for(rheos_output output, int feed) {
  rheos_shape shape = rheos_output_shape(output);
  if (shape.rank < 0) shape = RHEOS_SHAPE(UNKNOWN_DIMENSION, UNKNOWN_DIMENSION);
  for (int32_t i = 0; i < shape.rank; ++i) {
    if (shape.dims[i] < 0) shape.dims[i] = UNKNOWN_DIMENSION;
  }
  rheos_tensor *tensor = NULL;
  check(rheos_tensor_new(rheos_output_dtype(output), shape, &tensor));
  void *data = rheos_tensor_data(tensor);
  for (int64_t i = 0; i < rheos_tensor_num_elements(tensor); ++i) {
    const double number = element(feed, i);
    switch (rheos_tensor_dtype(tensor)) {
      case RHEOS_FLOAT: ((float *)data)[i] = (float)number; break;
      case RHEOS_DOUBLE: ((double *)data)[i] = number; break;
      case RHEOS_INT32: ((int32_t *)data)[i] = (int32_t)((i * 37 + feed) % 64); break;
      case RHEOS_BOOL: ((bool *)data)[i] = i % 3 == 0; break;
      default: fail_msg("no values for %s", rheos_dtype_name(rheos_tensor_dtype(tensor)));
    }
  }
  return tensor;
}

static void run(rheos_graph *graph, rheos_operation init, const rheos_rewrite_options *rewrites,
                rheos_feed *feeds, int num_feeds, rheos_fetch *fetches, int num_fetches) {
  rheos_session *session = NULL;
  rheos_session_options options = {.num_threads = 1, .rewrites = *rewrites};
  check(rheos_session_new(graph, &options, &session));
  check(rheos_session_run(session, NULL, 0, NULL, 0, &init, 1, NULL));
  check(rheos_session_run(session, feeds, (size_t)num_feeds, fetches, (size_t)num_fetches, NULL, 0,
                          NULL));
  rheos_session_free(session);
}

static void check_same(const rheos_tensor *actual, const rheos_tensor *expected) {
  assert_int_equal(rheos_tensor_dtype(actual), rheos_tensor_dtype(expected));
  assert_true(rheos_shape_equal(rheos_tensor_shape(actual), rheos_tensor_shape(expected)));
  assert_memory_equal(rheos_tensor_data(actual), rheos_tensor_data(expected),
                      rheos_tensor_size_bytes(actual));
}

void check_plan(rheos_scope *s, const rheos_rewrite_options *rewrites, const rheos_output *feeds,
                int num_feeds, const rheos_output *fetches, int num_fetches, const char *expected) {
  static const rheos_rewrite_options defaults = {0};
  if (rewrites == NULL) rewrites = &defaults;
  rheos_graph *graph = rheos_scope_graph(s);
  rheos_operation init = rheos_global_variables_initializer(s);
  check(rheos_scope_finish(s));
  if (expected != NULL) {
    char *text = plan_text(graph, rewrites, feeds, num_feeds, fetches, num_fetches);
    assert_string_equal(text, expected);
    free(text);
  }
  rheos_feed fed[MOST];
  rheos_fetch fetched[2][MOST];
  for (int i = 0; i < num_feeds; ++i) fed[i] = (rheos_feed){feeds[i], value_for(feeds[i], i)};
  for (int i = 0; i < num_fetches; ++i) {
    fetched[0][i] = fetched[1][i] = (rheos_fetch){fetches[i], NULL};
  }
  const rheos_rewrite_options none = {.disable_meta_optimizer = true};
  run(graph, init, &none, fed, num_feeds, fetched[0], num_fetches);
  run(graph, init, rewrites, fed, num_feeds, fetched[1], num_fetches);
  for (int i = 0; i < num_fetches; ++i) {
    check_same(fetched[1][i].value, fetched[0][i].value);
    rheos_tensor_unref(fetched[0][i].value);
    rheos_tensor_unref(fetched[1][i].value);
  }
  for (int i = 0; i < num_feeds; ++i) rheos_tensor_unref(fed[i].value);
}

void check_plan_of(rheos_scope *s, rheos_output feed, rheos_output fetch, const char *expected) {
  check_plan(s, NULL, &feed, feed.graph != NULL, &fetch, 1, expected);
}

rheos_output int_vector(rheos_scope *s, int count, const int32_t *numbers) {
  rheos_tensor *tensor = NULL;
  assert_null(rheos_tensor_from_values(RHEOS_INT32, RHEOS_SHAPE(count), numbers, &tensor));
  rheos_output vector = rheos_constant(s, tensor, NULL);
  rheos_tensor_unref(tensor);
  return vector;
}
