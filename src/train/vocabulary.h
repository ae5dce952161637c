// Rows of a variable that stand for the entries of a vocabulary: where they come from when the
// vocabulary has changed since a checkpoint was written.
#ifndef RHEOS_SRC_TRAIN_VOCABULARY_H
#define RHEOS_SRC_TRAIN_VOCABULARY_H

#include <rheos/train.h>

// For each entry now, with those for unknown ones, where it was; -1: nowhere. The array is for
// rheos__free(). RHEOS_INVALID_ARGUMENT if the variable, or the whole that it is a part of, has not
// as many rows.
rheos_status *rheos__vocabulary_positions(const rheos_vocabulary *vocabulary,
                                          rheos_variable variable, int32_t **out_positions);

// What the variable, or the part of one, starts with: rows of `old`, the whole tensor of the
// checkpoint, and what the initializer gives.
rheos_output rheos__vocabulary_value(rheos_scope *scope, const rheos_vocabulary *vocabulary,
                                     const int32_t *positions, rheos_output old,
                                     rheos_variable variable);

#endif  // RHEOS_SRC_TRAIN_VOCABULARY_H
