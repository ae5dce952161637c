// The pool: every unit exactly once, whatever the threads do.
#include "runtime/threads/pool.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

enum { UNITS = 1000, ROUNDS = 200, PATIENCE_S = 60 };

typedef struct counts {
  _Atomic int units[UNITS];
  int64_t fail_at;  // -1: never
} counts;

static rheos_status *count(void *argument, int64_t first, int64_t last) {
  counts *c = argument;
  for (int64_t i = first; i < last; ++i) {
    if (i == c->fail_at) return rheos_status_new(RHEOS_ABORTED, "unit %lld", (long long)i);
    atomic_fetch_add(&c->units[i], 1);
  }
  return NULL;
}

static void expect_each_once(counts *c, int64_t units) {
  for (int64_t i = 0; i < UNITS; ++i) assert_int_equal(c->units[i], i < units ? 1 : 0);
}

static void test_pool__runs_every_unit_once(void **state) {
  (void)state;
  static counts c;
  for (int32_t threads = 1; threads <= 8; threads *= 2) {
    rheos__pool *pool = rheos__pool_new(threads);
    for (int round = 0; round < ROUNDS; ++round) {
      int64_t units = (round * 37) % UNITS;
      memset(&c, 0, sizeof c);
      c.fail_at = -1;
      assert_null(rheos__pool_run(pool, units, count, &c));
      expect_each_once(&c, units);
    }
    rheos__pool_free(pool);
  }
}

// The units so far, and the sum of the squares of what ends a share less those of what begins it.
typedef struct sums {
  _Atomic int64_t units;
  _Atomic uint64_t squares;
} sums;

static rheos_status *sum_up(void *argument, int64_t first, int64_t last) {
  sums *s = argument;
  atomic_fetch_add(&s->units, last - first);
  atomic_fetch_add(&s->squares,
                   (uint64_t)last * (uint64_t)last - (uint64_t)first * (uint64_t)first);
  return NULL;
}

static void test_pool__takes_any_number_of_units(void **state) {
  (void)state;
  static const int64_t numbers[] = {(1 << 30) - 1, 1 << 30,          (1 << 30) + 1,
                                    UINT32_MAX,    INT64_C(1) << 32, (INT64_C(1) << 40) + 3};
  rheos__pool *pool = rheos__pool_new(3);
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; ++i) {
    sums s = {0};
    assert_null(rheos__pool_run(pool, numbers[i], sum_up, &s));
    assert_int_equal(s.units, numbers[i]);
    assert_true(s.squares == (uint64_t)numbers[i] * (uint64_t)numbers[i]);
  }
  rheos__pool_free(pool);
}

static void test_pool__none_is_the_callers_thread(void **state) {
  (void)state;
  static counts c = {.fail_at = -1};
  assert_null(rheos__pool_run(NULL, UNITS, count, &c));
  expect_each_once(&c, UNITS);
}

static void test_pool__an_error_comes_back_and_the_pool_goes_on(void **state) {
  (void)state;
  static counts c;
  rheos__pool *pool = rheos__pool_new(4);
  for (int round = 0; round < ROUNDS; ++round) {
    c.fail_at = round;
    rheos_status *status = rheos__pool_run(pool, UNITS, count, &c);
    assert_int_equal(rheos_status_code(status), RHEOS_ABORTED);
    rheos_status_free(status);
  }
  memset(&c, 0, sizeof c);
  c.fail_at = -1;
  assert_null(rheos__pool_run(pool, UNITS, count, &c));
  expect_each_once(&c, UNITS);
  rheos__pool_free(pool);
}

static void *run_rounds(void *argument) {
  for (int round = 0; round < ROUNDS; ++round) {
    counts own = {.fail_at = -1};
    rheos_status *status = rheos__pool_run(argument, UNITS, count, &own);
    if (status != NULL) return status;
    for (int64_t i = 0; i < UNITS; ++i) {
      if (own.units[i] != 1) return argument;
    }
  }
  return NULL;
}

static void test_pool__callers_do_not_wait_for_each_other(void **state) {
  (void)state;
  rheos__pool *pool = rheos__pool_new(2);
  pthread_t callers[4];
  for (int i = 0; i < 4; ++i) pthread_create(&callers[i], NULL, run_rounds, pool);
  for (int i = 0; i < 4; ++i) {
    void *wrong = NULL;
    pthread_join(callers[i], &wrong);
    assert_null(wrong);
  }
  rheos__pool_free(pool);
}

// ---- Several jobs at once

// Waits until so many threads are in here at once; false if they do not come.
typedef struct meeting {
  int expected;
  _Atomic int there;
} meeting;

static bool all_come(meeting *m) {
  atomic_fetch_add(&m->there, 1);
  const int64_t end = rheos__clock_ns() + (int64_t)PATIENCE_S * 1000000000;
  while (atomic_load(&m->there) < m->expected) {
    if (rheos__clock_ns() > end) return false;
    nanosleep(&(struct timespec){0, 10000}, NULL);
  }
  return true;
}

static rheos_status *meet(void *argument, int64_t first, int64_t last) {
  for (int64_t i = first; i < last; ++i) {
    if (!all_come(argument)) return rheos_status_new(RHEOS_ABORTED, "nobody came");
  }
  return NULL;
}

// A job that takes until another one is done.
typedef struct long_job {
  rheos__pool *pool;
  _Atomic bool begun, ends;
} long_job;

static rheos_status *wait_for_end(void *argument, int64_t first, int64_t last) {
  long_job *l = argument;
  for (int64_t i = first; i < last && !atomic_load(&l->ends); ++i) {
    if (rheos__pool_thread() != 0) atomic_store(&l->begun, true);
    nanosleep(&(struct timespec){0, 1000000}, NULL);
  }
  return NULL;
}

static void *run_long_job(void *argument) {
  long_job *l = argument;
  return rheos__pool_run(l->pool, 2000, wait_for_end, l);
}

// All workers are at the long job when the short one comes, which needs two threads at once.
static void test_pool__a_second_job_gets_its_share_of_the_threads(void **state) {
  (void)state;
  for (int32_t threads = 2; threads <= 4; ++threads) {
    long_job l = {.pool = rheos__pool_new(threads)};
    pthread_t caller;
    pthread_create(&caller, NULL, run_long_job, &l);
    while (!atomic_load(&l.begun)) nanosleep(&(struct timespec){0, 1000000}, NULL);
    meeting m = {.expected = 2};
    assert_null(rheos__pool_run(l.pool, 2, meet, &m));
    atomic_store(&l.ends, true);
    void *wrong = NULL;
    pthread_join(caller, &wrong);
    assert_null(wrong);
    rheos__pool_free(l.pool);
  }
}

typedef struct failing_caller {
  rheos__pool *pool;
  char name[8];
  int wrong;
} failing_caller;

static rheos_status *fail_by_name(void *argument, int64_t first, int64_t last) {
  const failing_caller *c = argument;
  if (first <= UNITS / 2 && UNITS / 2 < last) return rheos_status_new(RHEOS_ABORTED, "%s", c->name);
  return NULL;
}

static void *fail_in_rounds(void *argument) {
  failing_caller *c = argument;
  for (int round = 0; round < ROUNDS; ++round) {
    rheos_status *status = rheos__pool_run(c->pool, UNITS, fail_by_name, c);
    c->wrong += status == NULL || strcmp(rheos_status_message(status), c->name) != 0;
    rheos_status_free(status);
  }
  return NULL;
}

static void test_pool__each_caller_gets_its_own_error(void **state) {
  (void)state;
  rheos__pool *pool = rheos__pool_new(3);
  pthread_t threads[4];
  failing_caller callers[4];
  for (int i = 0; i < 4; ++i) {
    callers[i] = (failing_caller){.pool = pool, .name = {'c', (char)('0' + i), '\0'}};
    pthread_create(&threads[i], NULL, fail_in_rounds, &callers[i]);
  }
  for (int i = 0; i < 4; ++i) {
    pthread_join(threads[i], NULL);
    assert_int_equal(callers[i].wrong, 0);
  }
  rheos__pool_free(pool);
}

// ---- Jobs inside jobs

typedef struct inner_meeting {
  rheos__pool *pool;
  meeting outer, inner;
} inner_meeting;

// The unit that the caller does not have hands out a job that needs all threads: also the caller's,
// which has nothing left to do but to wait.
static rheos_status *meet_inside(void *argument, int64_t first, int64_t last) {
  inner_meeting *m = argument;
  RHEOS_TRY(meet(&m->outer, first, last));
  return rheos__pool_thread() != 0 ? rheos__pool_run(m->pool, 3, meet, &m->inner) : NULL;
}

static void test_pool__who_waits_helps_with_inner_jobs(void **state) {
  (void)state;
  for (int round = 0; round < 20; ++round) {
    inner_meeting m = {rheos__pool_new(3), {.expected = 2}, {.expected = 3}};
    assert_null(rheos__pool_run(m.pool, 2, meet_inside, &m));
    rheos__pool_free(m.pool);
  }
}

typedef struct tree {
  rheos__pool *pool;
  int depth;
  int64_t fail_at;  // leaf; -1: none
  _Atomic int64_t *leaves;
  int64_t first_leaf;
} tree;

enum { FAN = 5, DEPTH = 4, LEAVES = FAN * FAN * FAN * FAN };

static rheos_status *grow(void *argument, int64_t first, int64_t last) {
  const tree *t = argument;
  for (int64_t i = first; i < last; ++i) {
    tree branch = *t;
    branch.first_leaf = t->first_leaf * FAN + i;
    branch.depth = t->depth + 1;
    if (branch.depth < DEPTH) {
      RHEOS_TRY(rheos__pool_run(t->pool, FAN, grow, &branch));
    } else if (branch.first_leaf == t->fail_at) {
      return rheos_status_new(RHEOS_ABORTED, "leaf %lld", (long long)t->fail_at);
    } else {
      atomic_fetch_add(&t->leaves[branch.first_leaf], 1);
    }
  }
  return NULL;
}

static void *grow_in_rounds(void *pool) {
  for (int round = 0; round < ROUNDS / 4; ++round) {
    _Atomic int64_t leaves[LEAVES] = {0};
    const tree t = {.pool = pool, .fail_at = -1, .leaves = leaves};
    rheos_status *status = rheos__pool_run(pool, FAN, grow, (void *)(uintptr_t)&t);
    if (status != NULL) return status;
    for (int i = 0; i < LEAVES; ++i) {
      if (leaves[i] != 1) return pool;
    }
  }
  return NULL;
}

static void test_pool__jobs_may_hand_out_jobs(void **state) {
  (void)state;
  for (int32_t threads = 1; threads <= 4; ++threads) {
    rheos__pool *pool = rheos__pool_new(threads);
    pthread_t callers[3];
    for (int i = 0; i < 3; ++i) pthread_create(&callers[i], NULL, grow_in_rounds, pool);
    for (int i = 0; i < 3; ++i) {
      void *wrong = NULL;
      pthread_join(callers[i], &wrong);
      assert_null(wrong);
    }
    rheos__pool_free(pool);
  }
}

static void test_pool__an_inner_error_comes_out(void **state) {
  (void)state;
  rheos__pool *pool = rheos__pool_new(3);
  for (int64_t leaf = 0; leaf < LEAVES; leaf += 7) {
    _Atomic int64_t leaves[LEAVES] = {0};
    tree t = {.pool = pool, .fail_at = leaf, .leaves = leaves};
    rheos_status *status = rheos__pool_run(pool, FAN, grow, &t);
    assert_int_equal(rheos_status_code(status), RHEOS_ABORTED);
    rheos_status_free(status);
    assert_int_equal(leaves[leaf], 0);
  }
  rheos__pool_free(pool);
}

// ---- Watches

enum { WATCHED_THREADS = 4 };

typedef struct notes {
  _Atomic bool is_noting;  // one call at a time
  bool overlap;
  int64_t ends[WATCHED_THREADS];
  tree tree;
  _Atomic bool worked[WATCHED_THREADS];
} notes;

static void note(void *argument, uint32_t thread, int64_t start_ns, int64_t end_ns) {
  notes *n = argument;
  if (atomic_exchange(&n->is_noting, true) || thread == 0 || thread >= WATCHED_THREADS ||
      start_ns < n->ends[thread] || end_ns < start_ns) {
    n->overlap = true;
  } else {
    n->ends[thread] = end_ns;
  }
  atomic_store(&n->is_noting, false);
}

static rheos_status *grow_watched(void *argument, int64_t first, int64_t last) {
  notes *n = argument;
  atomic_store(&n->worked[rheos__pool_thread()], true);
  return grow(&n->tree, first, last);
}

// Jobs inside are watched as the one around them is; those of other callers are not.
static void test_pool__a_watch_is_told_of_its_own_jobs(void **state) {
  (void)state;
  rheos__pool *pool = rheos__pool_new(WATCHED_THREADS);
  pthread_t other;
  pthread_create(&other, NULL, grow_in_rounds, pool);
  for (int round = 0; round < ROUNDS / 4; ++round) {
    _Atomic int64_t leaves[LEAVES] = {0};
    notes n = {.tree = {.pool = pool, .fail_at = -1, .leaves = leaves}};
    const rheos__pool_watch watch = {note, &n};
    rheos__pool_set_watch(&watch);
    assert_null(rheos__pool_run(pool, FAN, grow_watched, &n));
    rheos__pool_set_watch(NULL);
    assert_false(n.overlap);
    for (int i = 1; i < WATCHED_THREADS; ++i) {
      if (n.worked[i]) assert_true(n.ends[i] > 0);
    }
  }
  void *wrong = NULL;
  pthread_join(other, &wrong);
  assert_null(wrong);
  rheos__pool_free(pool);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_pool__runs_every_unit_once),
      cmocka_unit_test(test_pool__takes_any_number_of_units),
      cmocka_unit_test(test_pool__none_is_the_callers_thread),
      cmocka_unit_test(test_pool__an_error_comes_back_and_the_pool_goes_on),
      cmocka_unit_test(test_pool__callers_do_not_wait_for_each_other),
      cmocka_unit_test(test_pool__a_second_job_gets_its_share_of_the_threads),
      cmocka_unit_test(test_pool__each_caller_gets_its_own_error),
      cmocka_unit_test(test_pool__who_waits_helps_with_inner_jobs),
      cmocka_unit_test(test_pool__jobs_may_hand_out_jobs),
      cmocka_unit_test(test_pool__an_inner_error_comes_out),
      cmocka_unit_test(test_pool__a_watch_is_told_of_its_own_jobs),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
