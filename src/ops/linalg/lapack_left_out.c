// What a build without LAPACK answers.
#include "ops/linalg/lapack.h"

void rheos__lapack_begin(void) {}
void rheos__lapack_end(void) {}

int64_t rheos__schur(int n, void *a, void *w, void *vs, void *work, int64_t work_count,
                     double *real_work) {
  (void)n, (void)a, (void)w, (void)vs, (void)work, (void)work_count, (void)real_work;
  return 1;  // not reached: rheos__lapack_missing() is asked first
}

const rheos__lapack *rheos__lapack_of(rheos_dtype dtype) { return rheos__lapack_plain(dtype); }

bool rheos__lapack_is_there(void) { return false; }

rheos_status *rheos__lapack_missing(const char *op) {
  return rheos_status_new(RHEOS_UNIMPLEMENTED,
                          "%s is not available: Rheos was built without LAPACK "
                          "(RHEOS_WITH_LAPACK)",
                          op);
}
