// What ops on iterators are declared to give, held against what there is.
#include "ops/data/components.h"

#include "ops/kit/op_util.h"

rheos_status *rheos__components_of(const rheos__attrs *attrs, rheos__components *out_components) {
  const rheos_attr_value *types = rheos__attrs_find(attrs, "output_types");
  const rheos_attr_value *shapes = rheos__attrs_find(attrs, "output_shapes");
  if (types->count != shapes->count && shapes->count > 0) {
    return RHEOS_INVALID("`output_shapes` must be the same length as `output_types` (%d vs. %d)",
                         (int)shapes->count, (int)types->count);
  }
  *out_components =
      (rheos__components){types->count, types->types, shapes->count > 0 ? shapes->shapes : NULL};
  return NULL;
}

rheos_status *rheos__components_check(const rheos__components *wanted,
                                      const rheos__components *got) {
  if (wanted->count != got->count) {
    return RHEOS_INVALID("Number of components does not match: expected %d types but got %d.",
                         (int)wanted->count, (int)got->count);
  }
  for (int32_t i = 0; i < wanted->count; ++i) {
    if (wanted->types[i] != got->types[i]) {
      return RHEOS_INVALID("Data type mismatch at component %d: expected %s but got %s.", (int)i,
                           rheos_dtype_name(wanted->types[i]), rheos_dtype_name(got->types[i]));
    }
    if (wanted->shapes == NULL || got->shapes == NULL ||
        rheos_shape_compatible(&wanted->shapes[i], &got->shapes[i])) {
      continue;
    }
    rheos__shape_text a, b;
    return RHEOS_INVALID("Incompatible shapes at component %d: expected %s but got %s.", (int)i,
                         rheos__shape_text_of(&wanted->shapes[i], &a),
                         rheos__shape_text_of(&got->shapes[i], &b));
  }
  return NULL;
}
