// ParseExample and its like: Example messages as tensors.
#include "ops/io/parse_columns.h"
#include "ops/kit/array_util.h"
#include "ops/kit/string_util.h"

// ---- Kernels

typedef struct example_state {
  rheos__column_group group;
  const rheos_string *keys;  // of ParseSingleExample, from its attributes
} example_state;

static rheos_status *parse(rheos__columns *columns, const rheos__column_group *group,
                           const rheos_string *keys, rheos_tensor *const *standbys,
                           rheos__step *step, rheos_tensor **outputs) {
  rheos_status *status = rheos__columns_init(columns, group, keys, standbys);
  if (status == NULL) {
    status = rheos__columns_parse_features(columns, RHEOS__EXAMPLE_FEATURES, step);
  }
  if (status == NULL) status = rheos__columns_sparse(columns, outputs);
  outputs += 3 * (ptrdiff_t)group->num_sparse;
  if (status == NULL) status = rheos__columns_dense(columns, outputs);
  outputs += group->num_dense;
  if (status == NULL) status = rheos__columns_ragged(columns, outputs);
  rheos__columns_deinit(columns);
  return status;
}

static rheos_status *prepare_with(rheos__prepare *p, const rheos__column_attrs *names,
                                  rheos__compute_fn compute, example_state **out_state) {
  example_state *state = RHEOS_NEW_STATE(p, example_state);
  *out_state = state;
  if (state == NULL) return rheos__out_of_memory();
  p->compute = compute;
  return rheos__column_group_of(p->attrs, names, &state->group);
}

// ---- ParseExample

static const rheos__column_attrs EXAMPLE_ATTRS = {
    .sparse_types = "sparse_types", .dense_types = "Tdense", .dense_shapes = "dense_shapes"};

static rheos_status *check_counts(const rheos__attrs *attrs, const rheos__column_group *group,
                                  const char *num_sparse, const char *num_dense) {
  if (rheos__attr_int(attrs, num_sparse) != group->num_sparse) {
    return RHEOS_INVALID("len(sparse_keys) != len(sparse_types)");
  }
  if (num_dense != NULL && rheos__attr_int(attrs, num_dense) != group->num_dense) {
    return RHEOS_INVALID("len(dense_keys) != len(dense_types)");
  }
  return NULL;
}

static rheos_status *shape_example(rheos__infer *c) {
  rheos__column_group group;
  rheos_shape serialized, unused;
  RHEOS_TRY(rheos__column_group_of(c->attrs, &EXAMPLE_ATTRS, &group));
  RHEOS_TRY(check_counts(c->attrs, &group, "Nsparse", "Ndense"));
  RHEOS_TRY(rheos__infer_rank(c, 0, 1, &serialized));
  RHEOS_TRY(rheos__infer_rank(c, 1, 1, &unused));
  rheos__infer_sparse_columns(c, 0, group.num_sparse, 2);
  return rheos__infer_dense_columns(c, 3 * group.num_sparse, &group, &serialized);
}

static rheos_status *compute_example(void *argument, rheos__step *step, rheos_tensor *const *inputs,
                                     rheos_tensor **outputs) {
  const example_state *state = argument;
  const rheos__column_group *group = &state->group;
  rheos__columns columns = {.words = RHEOS__WORDS_EXAMPLES,
                            .batch = inputs[0]->num_elements,
                            .serialized = inputs[0]->data};
  RHEOS_TRY(rheos__check_serialized(&inputs[0]->shape, false));
  RHEOS_TRY(rheos__parse_names(inputs[1], inputs[0], &columns.names));
  const int32_t num_keys = group->num_sparse + group->num_dense;
  rheos_string *keys = rheos__alloc_array((size_t)num_keys, sizeof *keys);
  if (keys == NULL) return rheos__out_of_memory();
  rheos_status *status = NULL;
  for (int32_t i = 0; status == NULL && i < num_keys; i++) {
    status = rheos__parse_key(inputs[2 + i], i < group->num_sparse ? "sparse_keys" : "dense_keys",
                              &keys[i]);
  }
  if (status == NULL) status = parse(&columns, group, keys, inputs + 2 + num_keys, step, outputs);
  rheos__free(keys);
  return status;
}

static rheos_status *prepare_example(rheos__prepare *p) {
  example_state *state;
  RHEOS_TRY(prepare_with(p, &EXAMPLE_ATTRS, compute_example, &state));
  return check_counts(p->attrs, &state->group, "Nsparse", "Ndense");
}

const rheos__op_def rheos__op_ParseExample = {
    .name = "ParseExample",
    .signature =
        "serialized: string, names: string, sparse_keys: Nsparse * string, "
        "dense_keys: Ndense * string, dense_defaults: Tdense -> "
        "sparse_indices: Nsparse * int64, sparse_values: sparse_types, "
        "sparse_shapes: Nsparse * int64, dense_values: Tdense; "
        "Nsparse: int >= 0; Ndense: int >= 0; "
        "sparse_types: list({float, int64, string}) >= 0; "
        "Tdense: list({float, int64, string}) >= 0; dense_shapes: list(shape) >= 0",
    .doc = "The features of a vector of Example messages, as sparse and dense tensors.",
    .shape = shape_example,
    .prepare = prepare_example,
};

// ---- ParseExampleV2

static const rheos__column_attrs EXAMPLE_V2_ATTRS = {.sparse_types = "sparse_types",
                                                     .dense_types = "Tdense",
                                                     .dense_shapes = "dense_shapes",
                                                     .ragged_types = "ragged_value_types",
                                                     .split_types = "ragged_split_types"};

static rheos_status *shape_example_v2(rheos__infer *c) {
  rheos__column_group group;
  RHEOS_TRY(rheos__column_group_of(c->attrs, &EXAMPLE_V2_ATTRS, &group));
  RHEOS_TRY(check_counts(c->attrs, &group, "num_sparse", NULL));
  const rheos_shape *serialized = &c->input_shapes[0];
  RHEOS_TRY(rheos__infer_rank_at_most(c, 1, 1));
  if (serialized->rank > 1) return rheos__check_serialized(serialized, true);
  const int32_t num_ragged = group.num_ragged, ragged = 3 * group.num_sparse + group.num_dense;
  for (int32_t i = 0; i < num_ragged; i++) {
    c->output_shapes[ragged + i] = RHEOS_SHAPE(-1);
    if (serialized->rank < 0) continue;
    int64_t rows = 0;
    if (serialized->rank == 1) RHEOS_TRY(rheos__dim_add(serialized->dims[0], 1, &rows));
    c->output_shapes[ragged + num_ragged + i] = RHEOS_SHAPE(rows);
  }
  rheos__infer_sparse_columns(c, 0, group.num_sparse,
                              serialized->rank < 0 ? -1 : serialized->rank + 1);
  return rheos__infer_dense_columns(c, 3 * group.num_sparse, &group, serialized);
}

static rheos_status *compute_example_v2(void *argument, rheos__step *step,
                                        rheos_tensor *const *inputs, rheos_tensor **outputs) {
  const example_state *state = argument;
  const rheos__column_group *group = &state->group;
  RHEOS_TRY(rheos__check_serialized(&inputs[0]->shape, true));
  const bool single = inputs[0]->shape.rank == 0;
  rheos__columns columns = {.words = single ? RHEOS__WORDS_EXAMPLE : RHEOS__WORDS_EXAMPLES,
                            .single = single,
                            .batch = inputs[0]->num_elements,
                            .serialized = inputs[0]->data};
  RHEOS_TRY(rheos__parse_names(inputs[1], inputs[0], &columns.names));
  const int32_t num_keys = group->num_sparse + group->num_dense + group->num_ragged;
  rheos_string *keys = rheos__alloc_array((size_t)num_keys, sizeof *keys);
  if (keys == NULL) return rheos__out_of_memory();
  int32_t at = 0;
  rheos_status *status =
      rheos__parse_keys(keys, &at, inputs[2], group->num_sparse, "sparse_keys", "num_sparse");
  if (status == NULL) {
    status =
        rheos__parse_keys(keys, &at, inputs[3], group->num_dense, "dense_keys", "len(dense_types)");
  }
  if (status == NULL) {
    status = rheos__parse_keys(keys, &at, inputs[4], group->num_ragged, "ragged_keys",
                               "len(ragged_value_types)");
  }
  if (status == NULL) status = parse(&columns, group, keys, inputs + 5, step, outputs);
  rheos__free(keys);
  return status;
}

static rheos_status *prepare_example_v2(rheos__prepare *p) {
  example_state *state;
  RHEOS_TRY(prepare_with(p, &EXAMPLE_V2_ATTRS, compute_example_v2, &state));
  return check_counts(p->attrs, &state->group, "num_sparse", NULL);
}

const rheos__op_def rheos__op_ParseExampleV2 = {
    .name = "ParseExampleV2",
    .signature =
        "serialized: string, names: string, sparse_keys: string, dense_keys: string, "
        "ragged_keys: string, dense_defaults: Tdense -> "
        "sparse_indices: num_sparse * int64, sparse_values: sparse_types, "
        "sparse_shapes: num_sparse * int64, dense_values: Tdense, "
        "ragged_values: ragged_value_types, ragged_row_splits: ragged_split_types; "
        "Tdense: list({float, int64, string}) >= 0; num_sparse: int >= 0; "
        "sparse_types: list({float, int64, string}) >= 0; "
        "ragged_value_types: list({float, int64, string}) >= 0; "
        "ragged_split_types: list(index) >= 0; dense_shapes: list(shape) >= 0",
    .doc =
        "The features of a vector of Example messages, or of one, as sparse, dense and ragged "
        "tensors.",
    .shape = shape_example_v2,
    .prepare = prepare_example_v2,
};

// ---- ParseSingleExample

static rheos_status *shape_single_example(rheos__infer *c) {
  rheos__column_group group;
  rheos_shape serialized;
  RHEOS_TRY(rheos__column_group_of(c->attrs, &EXAMPLE_ATTRS, &group));
  RHEOS_TRY(check_counts(c->attrs, &group, "num_sparse", NULL));
  RHEOS_TRY(rheos__infer_rank(c, 0, 0, &serialized));
  rheos__infer_sparse_columns(c, 0, group.num_sparse, 1);
  return rheos__infer_dense_columns(c, 3 * group.num_sparse, &group, &serialized);
}

static rheos_status *compute_single_example(void *argument, rheos__step *step,
                                            rheos_tensor *const *inputs, rheos_tensor **outputs) {
  const example_state *state = argument;
  const rheos_string *serialized;
  RHEOS_TRY(rheos__string_scalar(inputs[0], "serialized", &serialized));
  rheos__columns columns = {
      .words = RHEOS__WORDS_EXAMPLE, .single = true, .batch = 1, .serialized = serialized};
  return parse(&columns, &state->group, state->keys, inputs + 1, step, outputs);
}

static rheos_status *prepare_single_example(rheos__prepare *p) {
  example_state *state;
  RHEOS_TRY(prepare_with(p, &EXAMPLE_ATTRS, compute_single_example, &state));
  RHEOS_TRY(check_counts(p->attrs, &state->group, "num_sparse", NULL));
  const rheos_attr_value *sparse = rheos__attrs_find(p->attrs, "sparse_keys");
  const rheos_attr_value *dense = rheos__attrs_find(p->attrs, "dense_keys");
  if (sparse->count != state->group.num_sparse) {
    return RHEOS_INVALID("num_sparse (%d) must match the size of sparse_keys (%d)",
                         (int)state->group.num_sparse, (int)sparse->count);
  }
  if (dense->count != state->group.num_dense) {
    return RHEOS_INVALID("len(dense_keys) (%d) must match len(Tdense) (%d)", (int)dense->count,
                         (int)state->group.num_dense);
  }
  const size_t num_keys = (size_t)sparse->count + (size_t)dense->count;
  rheos_string *keys = rheos__arena_alloc_zeroed(p->arena, (num_keys + 1) * sizeof *keys);
  if (keys == NULL) return rheos__out_of_memory();
  for (int32_t i = 0; i < sparse->count; i++) keys[i] = sparse->strings[i];
  for (int32_t i = 0; i < dense->count; i++) keys[sparse->count + i] = dense->strings[i];
  state->keys = keys;
  return NULL;
}

const rheos__op_def rheos__op_ParseSingleExample = {
    .name = "ParseSingleExample",
    .signature =
        "serialized: string, dense_defaults: Tdense -> "
        "sparse_indices: num_sparse * int64, sparse_values: sparse_types, "
        "sparse_shapes: num_sparse * int64, dense_values: Tdense; "
        "num_sparse: int >= 0; sparse_keys: list(string) >= 0; "
        "dense_keys: list(string) >= 0; "
        "sparse_types: list({float, int64, string}) >= 0; "
        "Tdense: list({float, int64, string}) >= 0; dense_shapes: list(shape) >= 0",
    .doc = "The features of one Example message, as sparse and dense tensors.",
    .shape = shape_single_example,
    .prepare = prepare_single_example,
};
