// InitializeTableFromDataset: the elements of a dataset, pairs of a key and a value, in a lookup
// table.
#include "ops/data/dataset.h"
#include "ops/data/element.h"
#include "ops/kit/array_util.h"
#include "ops/kit/op_util.h"
#include "ops/state/lookup_util.h"

// Keys and values that are put into the table at once.
enum { AT_ONCE = 1024 };

static rheos_status *check_pairs(const rheos__dataset *d, const rheos__table *table) {
  const rheos__table_spec *spec = rheos__table_spec_of(table);
  if (d->num_components != 2) {
    return RHEOS_INVALID(
        "Initialization from dataset: dataset should produce two components, a key and a value, "
        "but has %d.",
        (int)d->num_components);
  }
  if (d->types[0] != spec->key_dtype) {
    return RHEOS_INVALID("Key dtype expected: %s but obtained: %s from the dataset",
                         rheos_dtype_name(spec->key_dtype), rheos_dtype_name(d->types[0]));
  }
  if (d->types[1] == spec->value_dtype) return NULL;
  return RHEOS_INVALID("Value dtype expected: %s but obtained: %s from the dataset",
                       rheos_dtype_name(spec->value_dtype), rheos_dtype_name(d->types[1]));
}

static rheos_status *add_scalar(rheos__stack *stack, const rheos_tensor *value, int32_t which) {
  return rheos__stack_add(stack, value, stack->count < AT_ONCE ? AT_ONCE : 2 * stack->count, which);
}

static rheos_status *add_all(rheos__stack *stack, const rheos_tensor *values, int32_t which) {
  if (values->shape.rank == 0) return add_scalar(stack, values, which);
  for (int64_t i = 0; i < values->num_elements; ++i) {
    rheos_tensor *row = NULL;
    RHEOS_TRY(rheos__tensor_row(values, i, &row));
    rheos_status *status = add_scalar(stack, row, which);
    rheos_tensor_unref(row);
    if (status != NULL) return status;
  }
  return NULL;
}

// Of an element, whose components may be vectors of keys and of as many values.
static rheos_status *add_pair(rheos__stack *stacks, rheos_tensor *const *pair) {
  if (pair[0]->shape.rank > 1 || pair[0]->num_elements != pair[1]->num_elements ||
      pair[0]->shape.rank != pair[1]->shape.rank) {
    rheos__shape_text keys, values;
    return RHEOS_INVALID(
        "a table takes scalars, or vectors of one length, for keys and values; "
        "the dataset gives keys of shape %s and values of shape %s",
        rheos__shape_text_of(&pair[0]->shape, &keys),
        rheos__shape_text_of(&pair[1]->shape, &values));
  }
  RHEOS_TRY(add_all(&stacks[0], pair[0], 0));
  return add_all(&stacks[1], pair[1], 1);
}

static rheos_status *collect(rheos__iterator *iterator, rheos__step *step, rheos__stack *stacks) {
  for (bool end = false;;) {
    rheos_tensor *pair[2] = {NULL, NULL};
    RHEOS_TRY(rheos__iterator_next(iterator, step, pair, &end));
    if (end) return NULL;
    rheos_status *status = add_pair(stacks, pair);
    rheos__element_clear(pair, 2);
    if (status == NULL && rheos__step_should_stop(step)) {
      status = rheos_status_new(RHEOS_CANCELLED, "the step was stopped");
    }
    if (status != NULL) return status;
  }
}

static rheos_status *collect_all(rheos__dataset *d, rheos__step *step, rheos__stack *stacks) {
  rheos__iterator *iterator = NULL;
  RHEOS_TRY(rheos__iterator_new_outer(d, step, &iterator));
  rheos__call_states *before = rheos__iterator_enter(iterator, step);
  rheos_status *status = collect(iterator, step, stacks);
  rheos__iterator_leave(step, before);
  rheos__iterator_free(iterator);
  return status;
}

static rheos_status *compute_fill(void *table, rheos__step *step, rheos_tensor *const *inputs,
                                  rheos_tensor **outputs) {
  (void)outputs;
  rheos__dataset *d = NULL;
  rheos__stack stacks[2] = {0};
  rheos_tensor *entries[2] = {NULL, NULL};
  RHEOS_TRY(rheos__dataset_of(inputs[1], "InitializeTableFromDataset", &d));
  RHEOS_TRY(check_pairs(d, table));
  rheos_status *status = collect_all(d, step, stacks);
  if (status == NULL && stacks[0].count == 0) {
    status =
        rheos_status_new(RHEOS_OUT_OF_RANGE, "a table is filled by a dataset without elements");
  }
  for (int i = 0; status == NULL && i < 2; ++i) {
    status = rheos__stack_take(&stacks[i], &entries[i]);
  }
  if (status == NULL) {
    status = rheos__table_initialize(table, entries[0], entries[1], rheos__is_stopping);
  }
  for (int i = 0; i < 2; ++i) {
    rheos__stack_deinit(&stacks[i]);
    rheos_tensor_unref(entries[i]);
  }
  return status;
}

static rheos_status *prepare_fill(rheos__prepare *p) {
  rheos__table *table;
  RHEOS_TRY(rheos__table_of(p, &table));
  p->state = table;
  p->compute = compute_fill;
  return NULL;
}

static rheos_status *shape_fill(rheos__infer *c) {
  rheos_shape scalar;
  RHEOS_TRY(rheos__infer_handle(c, 0));
  return rheos__infer_rank(c, 1, 0, &scalar);
}

const rheos__op_def rheos__op_InitializeTableFromDataset = {
    .name = "InitializeTableFromDataset",
    .signature = "table_handle: resource, dataset: variant ->",
    .doc = "Fills a HashTable with the elements of a dataset: pairs of a key and a value.",
    .flags = RHEOS_OP_STATEFUL | RHEOS_OP_WRITES | RHEOS_OP_TAKES_VARIANTS,
    .shape = shape_fill,
    .gradient = rheos__no_gradient,
    .prepare = prepare_fill,
};
