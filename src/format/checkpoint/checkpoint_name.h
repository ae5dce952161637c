// What people name a checkpoint by: the prefix a saver was given, or one of its files
// (PREFIX.index, PREFIX.data-00000-of-00001), or its folder, whose newest one is meant; of the
// first kind the file, or a pattern of several (export-?????-of-00002).
#ifndef RHEOS_SRC_FORMAT_CHECKPOINT_CHECKPOINT_NAME_H
#define RHEOS_SRC_FORMAT_CHECKPOINT_CHECKPOINT_NAME_H

#include "format/checkpoint/bundle.h"
#include "format/checkpoint/checkpoint_v1.h"

// Opens what the name means: one of the two comes back, the other is NULL. RHEOS_NOT_FOUND if there
// is no such checkpoint.
rheos_status *rheos__checkpoint_open(const char *name, rheos__bundle **out_bundle,
                                     rheos__v1_checkpoint **out_v1);

// The name that TensorFlow knows it by too, for rheos__free(): of a folder the newest prefix, of a
// file of the second kind its prefix, anything else as it is.
rheos_status *rheos__checkpoint_prefix(const char *name, char **out_prefix);

#endif  // RHEOS_SRC_FORMAT_CHECKPOINT_CHECKPOINT_NAME_H
