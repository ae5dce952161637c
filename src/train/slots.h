// Slots: the variables an optimizer keeps beside those it trains.
#ifndef RHEOS_SRC_TRAIN_SLOTS_H
#define RHEOS_SRC_TRAIN_SLOTS_H

#include "train/variables.h"

// "GradientDescent" and so on unless the optimizer has a name of its own; NULL if it has none.
const char *rheos__optimizer_name(const rheos_optimizer *optimizer);

// rheos_optimizer_own_slot() with the scope's error where memory is short. The optimizer has a
// name.
rheos_variable rheos__optimizer_find_slot(rheos_scope *s, const rheos_optimizer *optimizer,
                                          rheos_variable variable, const char *slot_name);

// A float number of the optimizer for all its variables ("beta1_power"), made beside `beside` in
// the name scope that is open; found again later.
rheos_variable rheos__optimizer_make_scalar(rheos_scope *s, const rheos_optimizer *optimizer,
                                            const char *slot_name, double initial_value,
                                            rheos_variable beside);

#endif  // RHEOS_SRC_TRAIN_SLOTS_H
