// What the ops of both kinds of checkpoints share.
#ifndef RHEOS_SRC_OPS_IO_SAVE_H
#define RHEOS_SRC_OPS_IO_SAVE_H

#include "format/checkpoint/checkpoint_v1.h"
#include "graph/op_def.h"

// Reads a tensor, or the part of it that `shape_and_slice` (NULL or "": all) tells.
rheos_status *rheos__restore_v1(rheos__v1_checkpoint *checkpoint, const char *pattern,
                                const rheos_string *name, const rheos_string *shape_and_slice,
                                rheos_dtype dtype, rheos_tensor **out_tensor);

// The shape of what is restored, as far as the texts in input 2 are known.
rheos_status *rheos__shape_of_slices(rheos__infer *c);

// "OP was cancelled" if the step shall stop.
rheos_status *rheos__check_step(rheos__step *step, const char *what);

#endif  // RHEOS_SRC_OPS_IO_SAVE_H
