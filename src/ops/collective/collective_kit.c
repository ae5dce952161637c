#include "ops/collective/collective_kit.h"

#include <string.h>

#include "ops/collective/collective_combine.h"
#include "ops/kit/elementwise.h"

static rheos__binary merge_of(const rheos__attrs *attrs) {
  const rheos_attr_value *version_3 = rheos__attrs_find(attrs, "reduction");
  const char *name = rheos__attr_string(attrs, version_3 != NULL ? "reduction" : "merge_op");
  if (strcmp(name, "Mul") == 0) return RHEOS__MUL;
  if (strcmp(name, "Min") == 0) return RHEOS__MINIMUM;
  return strcmp(name, "Max") == 0 ? RHEOS__MAXIMUM : RHEOS__ADD;
}

rheos__collective *rheos__prepare_member(rheos__prepare *p, rheos__collective_type type) {
  rheos__collective *what = RHEOS_NEW_STATE(p, rheos__collective);
  if (what == NULL) return NULL;
  *what = (rheos__collective){.type = type,
                              .device = rheos__arena_strdup(p->arena, p->device_name),
                              .rank = -1,
                              .combine = rheos__combine_for(type)};
  if (type != RHEOS__COLLECTIVE_MEETING) what->dtype = rheos__attr_type(p->attrs, "T");
  if (type == RHEOS__COLLECTIVE_REDUCE || type == RHEOS__COLLECTIVE_REDUCE_SCATTER) {
    what->merge = (int32_t)merge_of(p->attrs);
    what->divides = rheos__attrs_find(p->attrs, "final_op") != NULL &&
                    strcmp(rheos__attr_string(p->attrs, "final_op"), "Div") == 0;
  }
  what->timeout_s = rheos__attrs_find(p->attrs, "timeout_seconds") != NULL
                        ? rheos__attr_float(p->attrs, "timeout_seconds")
                        : 0;
  what->max_subdivisions = -1;
  if (rheos__attrs_find(p->attrs, "max_subdivs_per_device") != NULL) {
    what->max_subdivisions = (int32_t)rheos__attr_int(p->attrs, "max_subdivs_per_device");
  }
  return what->device != NULL ? what : NULL;
}

rheos_status *rheos__collective_scalar(const rheos_tensor *tensor, const char *name,
                                       int32_t *out_value) {
  const rheos_shape *shape = rheos_tensor_shape(tensor);
  if (shape->rank != 0) {
    char text[256];
    rheos_shape_format(shape, text, sizeof text);
    return RHEOS_INVALID("Unexpected dimensions on input %s, got %s", name, text);
  }
  memcpy(out_value, rheos_tensor_data(tensor), sizeof *out_value);
  return NULL;
}

static rheos_status *check_first_dim(const rheos__collective *what, const rheos_shape *shape) {
  const bool divides = what->type == RHEOS__COLLECTIVE_REDUCE_SCATTER;
  if (what->type != RHEOS__COLLECTIVE_GATHER && what->type != RHEOS__COLLECTIVE_ALL_TO_ALL &&
      !divides) {
    return NULL;
  }
  if (shape->rank < 1) {
    return RHEOS_INVALID("input should have rank > 0, received %d", (int)shape->rank);
  }
  if (what->type == RHEOS__COLLECTIVE_ALL_TO_ALL && shape->dims[0] != what->group_size) {
    return RHEOS_INVALID(
        "input to all-to-all first dimension size (%lld) must be the same as the group size (%d)",
        (long long)shape->dims[0], (int)what->group_size);
  }
  if (divides && shape->dims[0] % what->group_size != 0) {
    return RHEOS_INVALID(
        "input to reduce-scatter first dimension size (%lld) must be a multiple of the group size "
        "(%d)",
        (long long)shape->dims[0], (int)what->group_size);
  }
  return NULL;
}

// What all agree on is the shape of what comes out.
static rheos_status *agreed_shape(const rheos__collective *what, rheos_shape *shape) {
  if (what->type == RHEOS__COLLECTIVE_REDUCE_SCATTER) shape->dims[0] /= what->group_size;
  if (what->type != RHEOS__COLLECTIVE_GATHER) return NULL;
  if (__builtin_mul_overflow(shape->dims[0], (int64_t)what->group_size, &shape->dims[0])) {
    return RHEOS_INVALID("what %d members gather is too large", (int)what->group_size);
  }
  int64_t num_elements;
  size_t size_bytes;
  return rheos__shape_size(what->dtype, shape, &num_elements, &size_bytes);
}

static rheos_status *take_part(rheos__collective *what, rheos__step *step, rheos_tensor **outputs) {
  rheos__instances *instances = rheos__step_instances(step);
  rheos__attempt *attempt = NULL;
  if (instances == NULL) return rheos__out_of_memory();
  RHEOS_TRY(rheos__collective_join(instances, what, step, &attempt));
  return rheos__step_attempt_take(step, attempt, outputs);
}

rheos_status *rheos__take_part(const rheos__collective *what, rheos__step *step,
                               rheos_tensor *input, const rheos_shape *shape,
                               rheos_tensor **outputs) {
  rheos__collective mine = *what;
  const rheos__trip trip = rheos__step_trip(step);
  mine.frame = trip.frame;
  mine.trip = trip.number;
  mine.shape = input != NULL ? *rheos_tensor_shape(input) : *shape;
  if (mine.group_size <= 0) {
    return RHEOS_INVALID("group_size must be positive integer but got %d", (int)mine.group_size);
  }
  RHEOS_TRY(check_first_dim(&mine, &mine.shape));
  RHEOS_TRY(agreed_shape(&mine, &mine.shape));
  if (input != NULL) RHEOS_TRY(rheos__tensor_keep(input, &mine.input));
  rheos_status *status = take_part(&mine, step, outputs);
  rheos_tensor_unref(mine.input);
  return status;
}
