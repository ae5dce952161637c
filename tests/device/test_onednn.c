// Matrix products under a rain of signals: what oneDNN generates does not bear them by itself.
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/time.h>

#include <cmocka.h>

#include "device/cpu/onednn.h"

enum { SIZE = 384, ROUNDS = 40 };

// Atomic: the signals reach whichever thread takes them, and OpenBLAS has some of its own.
static atomic_int num_signals;

static void count_signal(int signal_number) {
  (void)signal_number;
  atomic_fetch_add(&num_signals, 1);
}

static void rain(long every_us) {
  struct itimerval timer = {{0, every_us}, {0, every_us}};
  assert_int_equal(setitimer(ITIMER_REAL, &timer, NULL), 0);
}

static void test_sgemm__bears_signals(void **unused) {
  (void)unused;
  struct sigaction action = {.sa_handler = count_signal};
  assert_int_equal(sigaction(SIGALRM, &action, NULL), 0);
  float *a = calloc(SIZE * SIZE, sizeof *a), *c = calloc(SIZE * SIZE, sizeof *c);
  assert_non_null(a);
  assert_non_null(c);
  for (size_t i = 0; i < SIZE * SIZE; ++i) a[i] = 1;
  rain(50);
  for (int round = 0; round < ROUNDS; ++round) {
    assert_null(rheos__sgemm(false, false, SIZE / 3, SIZE, SIZE, a, SIZE, a, SIZE, c, SIZE));
    for (size_t i = 0; i < SIZE / 3 * SIZE; ++i) assert_true(c[i] == SIZE);
  }
  rain(0);
  assert_true(atomic_load(&num_signals) > 0);
  free(a);
  free(c);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_sgemm__bears_signals)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
