// Short float32 rows of a fused loop as a program on vector registers: what one row hands to the
// next stays in registers, where calling the loops of the rows would store and load it. Names for
// these rows and for others that a compiler of loops knows (compiled_loop.h).
#ifndef RHEOS_SRC_DEVICE_CPU_FUSED_FLOAT_H
#define RHEOS_SRC_DEVICE_CPU_FUSED_FLOAT_H

#include <stdint.h>

// Rows of little arithmetic. The table in fused_float.c has the formulas of those that there are
// instructions for, which are those of the ops.
typedef enum rheos__simple {
  RHEOS__NOT_SIMPLE,
  RHEOS__SIMPLE_ADD,
  RHEOS__SIMPLE_SUB,
  RHEOS__SIMPLE_MUL,
  RHEOS__SIMPLE_DIV,
  RHEOS__SIMPLE_MAXIMUM,
  RHEOS__SIMPLE_MINIMUM,
  RHEOS__SIMPLE_SQUARED_DIFFERENCE,
  RHEOS__SIMPLE_TANH_GRAD,
  RHEOS__SIMPLE_SIGMOID_GRAD,
  RHEOS__SIMPLE_RELU_GRAD,
  RHEOS__SIMPLE_NEG,
  RHEOS__SIMPLE_ABS,
  RHEOS__SIMPLE_SQUARE,
  RHEOS__SIMPLE_RELU,
  RHEOS__SIMPLE_RECIPROCAL,
  RHEOS__LAST_IN_REGISTERS = RHEOS__SIMPLE_RECIPROCAL,  // those below only a compiler knows
  RHEOS__SIMPLE_DIV_NO_NAN,
  RHEOS__SIMPLE_MUL_NO_NAN,
  RHEOS__SIMPLE_SQRT,
  RHEOS__SIMPLE_RSQRT,
  RHEOS__SIMPLE_FLOOR,
  RHEOS__SIMPLE_CEIL,
  RHEOS__SIMPLE_RINT,
  RHEOS__SIMPLE_SIGN,
  RHEOS__SIMPLE_RELU6,
  RHEOS__SIMPLE_LEAKY_RELU,
  RHEOS__SIMPLE_SQRT_GRAD,
  RHEOS__SIMPLE_RSQRT_GRAD,
  RHEOS__SIMPLE_RECIPROCAL_GRAD,
  RHEOS__SIMPLE_GREATER,
  RHEOS__SIMPLE_GREATER_EQUAL,
  RHEOS__SIMPLE_LESS,
  RHEOS__SIMPLE_LESS_EQUAL,
  RHEOS__SIMPLE_EQUAL,
  RHEOS__SIMPLE_NOT_EQUAL,
  RHEOS__SIMPLE_LOGICAL_AND,
  RHEOS__SIMPLE_LOGICAL_OR,
  RHEOS__SIMPLE_LOGICAL_NOT,
  RHEOS__SIMPLE_SELECT,
  RHEOS__SIMPLE_CAST,
} rheos__simple;

// What the kernel of an op is.
rheos__simple rheos__simple_of(const char *op);

// Where the operands of an instruction are: in the registers, which also get the result, or at a
// place, which has a vector for each vector or one number for all.
typedef enum rheos__register_form {
  RHEOS__FORM_PLACE,           // x in the registers, y at the place
  RHEOS__FORM_NUMBER,          // x in the registers, y the number at the place
  RHEOS__FORM_REVERSED_PLACE,  // the other way round
  RHEOS__FORM_REVERSED_NUMBER,
  RHEOS__FORM_BOTH,  // x and y in the registers; and ops of one number
  RHEOS__NUM_FORMS,
} rheos__register_form;

typedef struct rheos__register_step {
  uint8_t code, place;
} rheos__register_step;

enum {
  RHEOS__FLOAT_BLOCK = 128,  // elements that the registers hold
  RHEOS__LOAD_PLACE = 0,     // codes below the first op's: the registers from a place,
  RHEOS__LOAD_NUMBER = 1,    // or all from one number,
  RHEOS__STORE_PLACE = 2,    // or to a place
};

static inline uint8_t rheos__register_code(rheos__simple simple, rheos__register_form form) {
  return (uint8_t)((int)simple * RHEOS__NUM_FORMS + (int)form);
}

// Runs the steps on `num_blocks` blocks of RHEOS__FLOAT_BLOCK elements.
void rheos__run_registers(const rheos__register_step *steps, int32_t num_steps, char *const *places,
                          int64_t num_blocks);

#endif  // RHEOS_SRC_DEVICE_CPU_FUSED_FLOAT_H
