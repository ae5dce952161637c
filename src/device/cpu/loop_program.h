// What a compiler of fused loops is given: members of a fused loop, one after the other, as data.
// Two programs are the same loop if their bytes are the same, so what is not used is zero.
//
// The compiler is a library of its own (jit/llvm_loops.c, librheos-jit.so), found at run time.
#ifndef RHEOS_SRC_DEVICE_CPU_LOOP_PROGRAM_H
#define RHEOS_SRC_DEVICE_CPU_LOOP_PROGRAM_H

#include <stdint.h>

enum { RHEOS__PROGRAM_STEPS = 32, RHEOS__PROGRAM_INPUTS = 3 };

// What the loop reads at a place for element e of the whole, or where else an operand comes from.
typedef enum rheos__loop_kind {
  RHEOS__LOOP_EACH,    // the place moves on with the loop: its next number
  RHEOS__LOOP_NUMBER,  // its one number
  RHEOS__LOOP_ROW,     // number e % inner
  RHEOS__LOOP_COLUMN,  // number e / inner
  RHEOS__LOOP_STEP,    // nothing: what an earlier step made
} rheos__loop_kind;

typedef struct rheos__loop_input {
  uint8_t kind, from;  // from: a place, or the number of a step
} rheos__loop_input;

typedef struct rheos__loop_step {
  uint8_t code, num_in;      // rheos__simple
  uint8_t dtype, out_dtype;  // of the last operand, and of the result
  rheos__loop_input in[RHEOS__PROGRAM_INPUTS];
  uint8_t is_stored, out;  // at place `out`
  double parameter;
} rheos__loop_step;

typedef struct rheos__loop_program {
  int32_t num_steps, has_rows;  // has_rows: something is a row or a column
  rheos__loop_step steps[RHEOS__PROGRAM_STEPS];
} rheos__loop_program;

// Elements [begin, begin + count). Places of kind RHEOS__LOOP_EACH and those that are stored to lie
// at element `begin`, the others at their start.
typedef void (*rheos__loop_fn)(char *const *places, int64_t begin, int64_t count, int64_t inner);

// What the library has under the name RHEOS__LOOP_COMPILER. `version`: that of the Rheos it belongs
// to. `compile` is called by one thread at a time, and gives NULL when it cannot; what it made
// stays.
typedef struct rheos__loop_compiler {
  const char *version;
  rheos__loop_fn (*compile)(const rheos__loop_program *program);
} rheos__loop_compiler;
#define RHEOS__LOOP_COMPILER "rheos__llvm_loops"
#define RHEOS__LOOP_COMPILER_FILE "librheos-jit.so"

#endif  // RHEOS_SRC_DEVICE_CPU_LOOP_PROGRAM_H
