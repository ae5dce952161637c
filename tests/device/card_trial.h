// One op by itself on a graphics card, which gives the CPU's answer: in both kinds of kernels, and
// the same bits each time.
#ifndef RHEOS_TESTS_DEVICE_CARD_TRIAL_H
#define RHEOS_TESTS_DEVICE_CARD_TRIAL_H

#include <rheos/rheos.h>

enum { CARD_TRIAL_INPUTS = 6, CARD_TRIAL_ATTRS = 8 };

// Floating-point inputs are fed, whole numbers are constants. Takes the tensors.
typedef struct card_trial {
  const char *op;
  int first_constant;  // this input and what follows are constants, whatever they are; 0: none is
  int num_outputs, num_inputs, num_attrs;
  rheos_tensor *inputs[CARD_TRIAL_INPUTS];
  rheos_attr attrs[CARD_TRIAL_ATTRS];
  double tolerance;  // of the largest number of an output and 1; 0: the CPU's bits
} card_trial;

void card_trial_add(card_trial *t, rheos_tensor *input);
void card_trial_add_attr(card_trial *t, rheos_attr attr);
// Frees its tensors. Fails unless a kernel of the card has run, where there is anything to compute.
void card_trial_check(card_trial *t);

// Of whole numbers from -20 to 20 by eighths, by `seed`; a vector of integers.
rheos_tensor *card_trial_numbers(rheos_dtype dtype, rheos_shape shape, uint32_t seed);
rheos_tensor *card_trial_ints(const int32_t *values, int64_t count);

#endif  // RHEOS_TESTS_DEVICE_CARD_TRIAL_H
