// Clusters as the CPU runs them, tile by tile (fused_loop.h). A tile is computed by the very loops
// of the ops, and added up by the functions of the reduction in their order: the bits are those of
// the instructions by themselves.
#ifndef RHEOS_SRC_DEVICE_CPU_FUSED_CLUSTER_H
#define RHEOS_SRC_DEVICE_CPU_FUSED_CLUSTER_H

#include "device/fuse.h"

extern const rheos__fusing rheos__cpu_fusing;

#endif  // RHEOS_SRC_DEVICE_CPU_FUSED_CLUSTER_H
