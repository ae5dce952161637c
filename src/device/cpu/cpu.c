// The table of the CPU's functions.
#include "device/cpu/cpu.h"

#include "device/cpu/fused_cluster.h"

bool rheos__cpu_has_kernel(const rheos__op_def *op) {
  return rheos__runs_by_itself(op) || rheos__cpu_variants(op) != NULL;
}

static bool has_kernel(const rheos__device *device, const rheos__op_def *op,
                       const rheos__attrs *attrs) {
  (void)device, (void)attrs;
  return rheos__cpu_has_kernel(op);
}

static rheos_status *finish(const rheos__device *device, rheos__segment *segment) {
  (void)device;
  return rheos__fuses(segment->plan) ? rheos__fuse(segment, &rheos__cpu_fusing) : NULL;
}

const rheos__device_kind rheos__cpu_kind = {
    .name = "CPU",
    .max_operands = RHEOS__FUSED_OPERANDS,
    .has_kernel = has_kernel,
    .variants = rheos__cpu_variants,
    .finish = finish,
};
