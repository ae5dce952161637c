// Numbers that stand for what makes the elements of a dataset.
#ifndef RHEOS_SRC_OPS_DATA_DATASET_HASH_H
#define RHEOS_SRC_OPS_DATA_DATASET_HASH_H

#include "ops/data/dataset.h"

// Of an op with its attributes, whose functions are the graph's.
uint64_t rheos__dataset_op_hash(rheos_graph *graph, const char *op, const rheos__attrs *attrs);
// As rheos__dataset_op_hash(), of the op that the dataset is of, remembered.
uint64_t rheos__dataset_spec_hash(const rheos__dataset *dataset);
// Of the dataset with all that it is made of.
rheos_status *rheos__dataset_hash(const rheos__dataset *dataset, uint64_t *out_hash);

#endif  // RHEOS_SRC_OPS_DATA_DATASET_HASH_H
