// What a steady step leaves alone: the system's memory, and the processor once it is over. Both are
// counts, of page faults and of processor time, not timings.
#define _DEFAULT_SOURCE  // getrusage
#include <dirent.h>
#include <rheos/rheos.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include <cmocka.h>

#include "base/large_blocks.h"

enum { BATCH = 512, WIDTH = 1024, LAYERS = 6, WARM = 5, STEPS = 20 };

static void check(rheos_status *status) {
  if (status != NULL) fail_msg("%s", rheos_status_message(status));
}

typedef struct program {
  rheos_graph *graph;
  rheos_scope *s;
  rheos_session *session;
  rheos_callable *callable;
  rheos_tensor *x;
} program;

// Training, with tensors of 2 MiB in between and one of them fetched.
static program start(int32_t num_threads) {
  program p = {.graph = rheos_graph_new()};
  p.s = rheos_scope_new(p.graph);
  const rheos_output x = rheos_placeholder(p.s, RHEOS_FLOAT);
  const rheos_initializer small = rheos_random_uniform_initializer(-0.01, 0.01);
  rheos_output y = x;
  for (int i = 0; i < LAYERS; i++) {
    char name[16];
    snprintf(name, sizeof name, "scale%d", i);
    const rheos_output scale =
        rheos_get_variable(p.s, name, RHEOS_FLOAT, RHEOS_SHAPE(WIDTH), small);
    y = rheos_tanh(p.s, rheos_add(p.s, rheos_mul(p.s, y, scale), x));
  }
  const rheos_output fetches[] = {y, rheos_square(p.s, y)};
  const rheos_operation train =
      rheos_minimize(p.s, rheos_gradient_descent(0.1),
                     rheos_mean(p.s, fetches[1], rheos_constant_int(p.s, 0, NULL)));
  const rheos_operation init = rheos_global_variables_initializer(p.s);
  check(rheos_scope_finish(p.s));
  const rheos_session_options options = {.num_threads = num_threads};
  check(rheos_session_new(p.graph, &options, &p.session));
  check(rheos_session_run(p.session, NULL, 0, NULL, 0, &init, 1, NULL));
  check(rheos_callable_new(p.session, &x, 1, fetches, 2, &train, 1, &p.callable));
  check(rheos_tensor_new(RHEOS_FLOAT, RHEOS_SHAPE(BATCH, WIDTH), &p.x));
  for (int i = 0; i < BATCH * WIDTH; i++) {
    ((float *)rheos_tensor_data(p.x))[i] = (float)(i % 100) * 0.01f;
  }
  return p;
}

static void finish(program *p) {
  rheos_tensor_unref(p->x);
  rheos_callable_free(p->callable);
  rheos_session_free(p->session);
  rheos_scope_free(p->s);
  rheos_graph_unref(p->graph);
}

static void run(const program *p, int times) {
  for (int i = 0; i < times; i++) {
    rheos_tensor *out[2];
    check(rheos_callable_run(p->callable, &p->x, out, NULL));
    rheos_tensor_unref(out[0]);
    rheos_tensor_unref(out[1]);
  }
}

static long minor_faults(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_minflt;
}

static void test_steady__no_page_faults(void **state) {
  (void)state;
  if (!rheos__large_blocks_work()) skip();
  program p = start(2);
  run(&p, WARM);
  const long before = minor_faults();
  run(&p, STEPS);
  // One fetched tensor alone has 512 pages.
  assert_in_range(minor_faults() - before, 0, 2 * STEPS);
  finish(&p);
}

static double processor_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void test_steady__idle_threads_sleep(void **state) {
  (void)state;
  program p = start(4);
  run(&p, WARM);
  nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
  const double before = processor_seconds();
  nanosleep(&(struct timespec){.tv_nsec = 500000000}, NULL);
  assert_true(processor_seconds() - before < 0.05);  // a thread that spins takes 0.5 seconds
  finish(&p);
}

// How many threads there are, and a number that hardly stays when others take their place; 0 of
// them where the system does not tell.
static int list_threads(long *out_sum) {
  int count = 0;
  *out_sum = 0;
  DIR *folder = opendir("/proc/self/task");
  if (folder == NULL) return 0;
  for (const struct dirent *task; (task = readdir(folder)) != NULL;) {
    const long id = strtol(task->d_name, NULL, 10);
    count += id > 0;
    *out_sum += id * id;
  }
  closedir(folder);
  return count;
}

static void test_steady__no_thread_comes_or_goes(void **state) {
  (void)state;
  program p = start(3);
  run(&p, WARM);
  long before, after;
  const int count = list_threads(&before);
  run(&p, STEPS);
  assert_int_equal(list_threads(&after), count);
  assert_int_equal(after, before);
  finish(&p);
}

// Another size of the batch is planned without looking at the graph again.
static void test_steady__new_shapes_need_no_new_plan(void **state) {
  (void)state;
  program p = start(2);
  run(&p, 1);
  rheos_session_stats before, after;
  rheos_session_get_stats(p.session, &before);
  for (int64_t batch = 1; batch < 40; batch++) {
    rheos_tensor_unref(p.x);
    check(rheos_tensor_new(RHEOS_FLOAT, RHEOS_SHAPE(batch, WIDTH), &p.x));
    memset(rheos_tensor_data(p.x), 0, rheos_tensor_size_bytes(p.x));
    run(&p, 1);
  }
  rheos_session_get_stats(p.session, &after);
  assert_int_equal(after.num_plans, before.num_plans);
  finish(&p);
}

static void test_steady__ended_sessions_give_memory_back(void **state) {
  (void)state;
  program p = start(1);
  run(&p, WARM);
  finish(&p);
  assert_int_equal(rheos__large_kept_bytes(), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_steady__no_page_faults),
      cmocka_unit_test(test_steady__idle_threads_sleep),
      cmocka_unit_test(test_steady__no_thread_comes_or_goes),
      cmocka_unit_test(test_steady__new_shapes_need_no_new_plan),
      cmocka_unit_test(test_steady__ended_sessions_give_memory_back),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
