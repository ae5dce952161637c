// oneDNN runs its own OpenMP threads unless told otherwise. The session's pool owns the cores, so
// every call here is made with one thread, and the caller's setting is put back.
//
// The code oneDNN 2.6 generates for matrix products keeps data below the stack pointer, further down
// than the 128 bytes that a signal's frame leaves alone: a timer or Ctrl-C in the middle of a product
// corrupted the heap. So signals wait until the call is over; only those that tell of a fault do not.
#include "device/cpu/onednn.h"

#include <dnnl.h>
#include <pthread.h>
#include <signal.h>

// Of the OpenMP runtime; declared here because not every compiler ships its header.
extern int omp_get_max_threads(void);
extern void omp_set_num_threads(int num_threads);

static void hold_signals(sigset_t *out_before) {
  sigset_t held;
  sigfillset(&held);
  static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS};
  for (size_t i = 0; i < sizeof faults / sizeof faults[0]; ++i) sigdelset(&held, faults[i]);
  pthread_sigmask(SIG_BLOCK, &held, out_before);
}

rheos_status *rheos__sgemm(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k,
                           const float *a, int64_t lda, const float *b, int64_t ldb, float *c,
                           int64_t ldc) {
  int threads = omp_get_max_threads();
  if (threads != 1) omp_set_num_threads(1);
  sigset_t before;
  hold_signals(&before);
  dnnl_status_t result = dnnl_sgemm(transpose_a ? 'T' : 'N', transpose_b ? 'T' : 'N', m, n, k, 1.0f,
                                    a, lda, b, ldb, 0.0f, c, ldc);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (threads != 1) omp_set_num_threads(threads);
  if (result == dnnl_success) return NULL;
  if (result == dnnl_out_of_memory) return rheos__out_of_memory();
  return rheos_status_new(RHEOS_INTERNAL, "oneDNN's sgemm failed with status %d", (int)result);
}
