// What the node of a dataset's op says, the same for all datasets that it makes: what its inputs
// are, the types and shapes of its elements, its options, the functions that it calls.
#ifndef RHEOS_SRC_OPS_DATA_DATASET_SPEC_H
#define RHEOS_SRC_OPS_DATA_DATASET_SPEC_H

#include "ops/data/dataset.h"

struct rheos__dataset_spec {
  _Atomic int32_t references;
  const rheos__dataset_kind *kind;
  const char *op;  // of the table of ops
  int32_t num_inputs, num_components, num_functions;
  bool *is_dataset;  // by input
  rheos__resource **cells;
  rheos_dtype *types;
  rheos_shape *shapes;
  rheos__data_function *functions;
  int64_t *options;
  void *described;
  uint64_t hash;
};

// The spec of the node that is being prepared. `kind` may be that of another op that calls
// functions.
rheos_status *rheos__dataset_spec_new(const rheos__prepare *p, const rheos__dataset_kind *kind,
                                      rheos__dataset_spec **out_spec);
void rheos__dataset_spec_unref(rheos__dataset_spec *spec);

#endif  // RHEOS_SRC_OPS_DATA_DATASET_SPEC_H
