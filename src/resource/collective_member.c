#include "resource/collective_member.h"

#include <stdlib.h>

int rheos__compare_devices(const char *a, const char *b) {
  for (char before = 0; *a != 0 || *b != 0; before = *a, ++a, ++b) {
    if (before == ':' && *a >= '0' && *a <= '9' && *b >= '0' && *b <= '9') {
      const unsigned long x = strtoul(a, NULL, 10), y = strtoul(b, NULL, 10);
      if (x != y) return x < y ? -1 : 1;
    }
    if (*a != *b) return (unsigned char)*a < (unsigned char)*b ? -1 : 1;
  }
  return 0;
}

int rheos__compare_ranks(const void *a, const void *b) {
  const rheos__named_rank *x = a, *y = b;
  if (x->rank != y->rank) return x->rank < y->rank ? -1 : 1;
  return rheos__compare_devices(x->device, y->device);
}

rheos_status *rheos__collective_check_fits(const rheos__collective *first,
                                           const rheos__collective *what) {
  if (first->type != what->type || first->dtype != what->dtype) {
    return rheos_status_new(
        RHEOS_INTERNAL,
        "Collective instance %d expected type %d and data_type %d but got type %d and data_type %d "
        "from %s (group_key=%d)",
        (int)what->instance_key, (int)first->type, (int)first->dtype, (int)what->type,
        (int)what->dtype, what->device, (int)what->group_key);
  }
  if (rheos_shape_equal(&first->shape, &what->shape)) return NULL;
  char shapes[2][256];
  rheos_shape_format(&what->shape, shapes[0], sizeof shapes[0]);
  rheos_shape_format(&first->shape, shapes[1], sizeof shapes[1]);
  return RHEOS_INVALID(
      "Shape mismatch in the collective instance %d. Op at device %s expected shape %s but another "
      "member in the group expected shape %s (group_key=%d). This is likely due to different input "
      "shapes at different members of the collective op.",
      (int)what->instance_key, what->device, shapes[0], shapes[1], (int)what->group_key);
}

rheos_status *rheos__collective_second_source(const rheos__collective *what, int32_t first,
                                              int32_t second) {
  return rheos_status_new(
      RHEOS_INTERNAL,
      "Instance %d already has source %d, received second claim from %d (group_key=%d)",
      (int)what->instance_key, (int)first, (int)second, (int)what->group_key);
}

rheos_status *rheos__collective_no_source(const rheos__collective *what) {
  return rheos_status_new(RHEOS_INTERNAL,
                          "Instance %d found no source for broadcast. This could mean that there "
                          "were group_size=%d BcastRecvs but no BcastSend (group_key=%d).",
                          (int)what->instance_key, (int)what->group_size, (int)what->group_key);
}
