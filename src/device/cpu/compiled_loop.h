// Fused loops as machine code, where the optional library for it is found (jit/llvm_loops.c).
// Without it, or until a loop is compiled, the rows run as they always do, with the same bits.
//
// There is one loop for each program in the whole process, for as long as it lasts: a bounded
// number. Not one for each host: LLVM's library, what it does when the process ends or forks, and
// the machine code are the process's, and a loop depends on nothing but its program, so that
// sessions notice each other by nothing but time.
//
// A loop is compiled once it has taken as long as compiling takes, if that was a hundredth of the
// time that passed meanwhile: by a thread that ends when there is nothing to compile, and no step
// waits for it. A fork and exit() wait for the loop that is being compiled; a child finds no lock
// taken. Where address space is limited (ulimit -v) nothing is compiled: LLVM would end the process
// if that were short.
#ifndef RHEOS_SRC_DEVICE_CPU_COMPILED_LOOP_H
#define RHEOS_SRC_DEVICE_CPU_COMPILED_LOOP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "device/cpu/loop_program.h"

typedef struct rheos__compiled_loop {
  _Atomic(rheos__loop_fn) run;  // NULL: not compiled
  _Atomic(int64_t) work_left;   // before it shall be compiled
  _Atomic(bool) is_used;
  int64_t since_ns;  // when it began to count
  uint64_t hash;
  rheos__loop_program program;
} rheos__compiled_loop;

// Whether a step can be compiled, by its code and dtypes; `dtypes` are those of the inputs.
bool rheos__can_compile(int code, const uint8_t *dtypes, int32_t num_in, int out_dtype);

// The loop of a program; NULL if there are too many, or if RHEOS_JIT=off in the environment.
rheos__compiled_loop *rheos__compiled_loop_of(const rheos__loop_program *program);

// Tells that it has done its work.
void rheos__compiled_loop_want(rheos__compiled_loop *loop);

// NULL if it is not compiled: then it is about to run so many elements as it is.
static inline rheos__loop_fn rheos__compiled_loop_fn(rheos__compiled_loop *loop, int64_t elements) {
  const rheos__loop_fn run = atomic_load_explicit(&loop->run, memory_order_acquire);
  if (__builtin_expect(run != NULL, 1)) return run;
  // Threads may overwrite each other's count, which only has to be about right.
  const int64_t left = atomic_load_explicit(&loop->work_left, memory_order_relaxed);
  if (left < 0) return NULL;
  const int64_t work = elements * loop->program.num_steps;
  atomic_store_explicit(&loop->work_left, left - work, memory_order_relaxed);
  if (left < work) rheos__compiled_loop_want(loop);
  return NULL;
}

// ---- For tests and benchmarks

// Whether loops that are new from now on are compiled as soon as they run.
void rheos__compile_at_once(bool at_once);
// Waits until all that should be compiled is; false if there is no compiler.
bool rheos__compiled_loops_wait(void);
// How many loops there are, and how many of them are compiled.
void rheos__compiled_loops_count(int64_t *out_loops, int64_t *out_compiled);
// The file to take the compiler from, before the first is compiled; NULL: the one beside the
// library.
void rheos__compiled_loops_from(const char *path);

#endif  // RHEOS_SRC_DEVICE_CPU_COMPILED_LOOP_H
