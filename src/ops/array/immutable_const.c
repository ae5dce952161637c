// Constants that lie in files of their own: for weights that do not fit into a GraphDef. The file
// is mapped when a step is planned, and read as far as it is used.
#include "ops/kit/op_util.h"

static rheos_status *compute_mapped(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                    rheos_tensor **outputs) {
  (void)step, (void)inputs;
  rheos_tensor **mapped = state;
  outputs[0] = rheos_tensor_ref(*mapped);
  return NULL;
}

static void release_mapped(void *state) {
  rheos_tensor **mapped = state;
  rheos_tensor_unref(*mapped);
}

static rheos_status *prepare_immutable(rheos__prepare *p) {
  const rheos_shape shape = rheos__attr_shape(p->attrs, "shape");
  const char *path = rheos__attr_string(p->attrs, "memory_region_name");
  rheos_tensor **mapped = RHEOS_NEW_STATE(p, rheos_tensor *);
  if (mapped == NULL) return rheos__out_of_memory();
  RHEOS_TRY(rheos__tensor_map(p->output_dtypes[0], shape, path, mapped));
  p->release = release_mapped;
  p->compute = compute_mapped;
  return NULL;
}

const rheos__op_def rheos__op_ImmutableConst = {
    .name = "ImmutableConst",
    .signature = "-> tensor: dtype; dtype: type; shape: shape; memory_region_name: string",
    .doc = "The first bytes of the file that `memory_region_name` names, mapped into memory.",
    .shape = rheos__shape_of_attr,
    .gradient = rheos__no_gradient,
    .prepare = prepare_immutable,
};
