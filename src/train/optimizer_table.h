// What each kind of optimizer keeps and hands to its op: one row each.
#ifndef RHEOS_SRC_TRAIN_OPTIMIZER_TABLE_H
#define RHEOS_SRC_TRAIN_OPTIMIZER_TABLE_H

#include <stddef.h>

#include "train/slots.h"

// What a slot starts as.
typedef enum rheos__slot_start {
  RHEOS__SLOT_ZEROS,
  RHEOS__SLOT_ONES,
  RHEOS__SLOT_ACCUMULATOR,           // filled with initial_accumulator_value
  RHEOS__SLOT_CONSTANT_ZEROS,        // the same as constants beside the variable, as TensorFlow has
  RHEOS__SLOT_CONSTANT_ACCUMULATOR,  // them for some kinds
} rheos__slot_start;

typedef struct rheos__slot_row {
  const char *name;
  rheos__slot_start start;
  size_t
      own_name;  // offset of a name in rheos_optimizer that the slot's variable may have; 0: none
} rheos__slot_row;

// A number of the optimizer: the name of its node, and where rheos_optimizer has it.
typedef struct rheos__number_row {
  const char *name, *field;
  size_t number, tensor;
  double value;  // by default
} rheos__number_row;

// The letters of `inputs` are those of rheos_optimizer_parts.
typedef struct rheos__optimizer_row {
  const char *name;
  const char *op;  // ApplyOP, SparseApplyOP, ResourceApplyOP, ResourceSparseApplyOP
  const char *inputs;
  rheos__slot_row slots[RHEOS_OPTIMIZER_MAX_SLOTS];        // up to a name of NULL
  rheos__number_row numbers[RHEOS_OPTIMIZER_MAX_NUMBERS];  // the same
} rheos__optimizer_row;

// NULL if the kind is unknown.
const rheos__optimizer_row *rheos__optimizer_row_of(const rheos_optimizer *optimizer);

#endif  // RHEOS_SRC_TRAIN_OPTIMIZER_TABLE_H
