// One op's kernel by itself: prepared as a plan would, then called in a loop on tensors that are
// there, with no session, plan or step around it. What a step takes longer is its overhead.
#ifndef RHEOS_BENCH_ONE_KERNEL_H
#define RHEOS_BENCH_ONE_KERNEL_H

#include "ops/op_harness.h"

typedef struct one_kernel one_kernel;

// The kernel of the program's op, its variables and tables filled and its inputs made.
rheos_status *one_kernel_new(const op_program *program, one_kernel **out_kernel);
void one_kernel_free(one_kernel *k);

// ns of a call: the least of some rounds of at least `round_ns`. Kernels that return tensors make
// them; what that takes, measured beside it, is taken off.
rheos_status *one_kernel_ns(one_kernel *k, double round_ns, double *out_ns);

#endif  // RHEOS_BENCH_ONE_KERNEL_H
