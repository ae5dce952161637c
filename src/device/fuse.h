// Elementwise fusion: clusters of elementwise instructions become one that goes over their elements
// once, tile by tile (device/cpu/fused_loop.h).
//
// A cluster is made of instructions over the same number of elements, each the reader of an earlier
// one; operands that are broadcast come from outside. It runs where its last member stood, so it
// only grows while nothing outside has read any of its values, and an instruction that may fail is
// never part of one. A reduction that is the first outside to read one of its values ends it. A
// tile is computed by the very loops of the ops, and added up by the functions of the reduction in
// their order: the bits are those of the instructions by themselves.
#ifndef RHEOS_SRC_DEVICE_CPU_FUSE_H
#define RHEOS_SRC_DEVICE_CPU_FUSE_H

#include "plan/segment/segment.h"

// Whether the session wants it.
bool rheos__fuses(const rheos__plan *plan);

// Replaces clusters among the instructions of the segment, before its memory is placed. A value
// that only the cluster needs is gone; of those needed outside, the last is the output of the new
// instruction, and the others stay outputs of RHEOS__HOLD instructions and are operands of the new
// one. An instruction has RHEOS__FUSED_OPERANDS at most.
rheos_status *rheos__fuse(rheos__segment *segment);

#endif  // RHEOS_SRC_DEVICE_CPU_FUSE_H
