// ParseSequenceExample and its like: SequenceExample messages as tensors. A message has features of
// the whole (the context) and features of each step (the feature lists): two groups of columns.
#include "ops/io/parse_columns.h"
#include "ops/kit/array_util.h"
#include "ops/kit/string_util.h"

// ---- Attributes

static const rheos__column_attrs CONTEXT = {.sparse_types = "context_sparse_types",
                                            .dense_types = "Tcontext_dense",
                                            .dense_shapes = "context_dense_shapes"};
static const rheos__column_attrs LISTS = {.sparse_types = "feature_list_sparse_types",
                                          .dense_types = "feature_list_dense_types",
                                          .dense_shapes = "feature_list_dense_shapes"};
static const rheos__column_attrs CONTEXT_V2 = {.sparse_types = "context_sparse_types",
                                               .dense_types = "Tcontext_dense",
                                               .dense_shapes = "context_dense_shapes",
                                               .ragged_types = "context_ragged_value_types",
                                               .split_types = "context_ragged_split_types"};
static const rheos__column_attrs LISTS_V2 = {.sparse_types = "feature_list_sparse_types",
                                             .dense_types = "feature_list_dense_types",
                                             .dense_shapes = "feature_list_dense_shapes",
                                             .ragged_types = "feature_list_ragged_value_types",
                                             .split_types = "feature_list_ragged_split_types"};

typedef struct sequence_state {
  rheos__column_group context, lists;
  const rheos_string *context_keys, *list_keys;  // of ParseSequenceExample, from its attributes
  const rheos_attr_value *may_be_missing;        // likewise
} sequence_state;

static rheos_status *check_number(const rheos__attrs *attrs, const char *name, int32_t count) {
  const rheos_attr_value *value = rheos__attrs_find(attrs, name);
  if (value == NULL || value->i == count) return NULL;
  return RHEOS_INVALID("%s is %lld, but there are %d dtypes", name, (long long)value->i,
                       (int)count);
}

static rheos_status *read_groups(const rheos__attrs *attrs,
                                 const rheos__column_attrs *context_names,
                                 const rheos__column_attrs *list_names, sequence_state *out) {
  const rheos__column_group *context = &out->context, *lists = &out->lists;
  RHEOS_TRY(rheos__column_group_of(attrs, context_names, &out->context));
  RHEOS_TRY(rheos__column_group_of(attrs, list_names, &out->lists));
  RHEOS_TRY(check_number(attrs, "Ncontext_sparse", context->num_sparse));
  RHEOS_TRY(check_number(attrs, "Ncontext_dense", context->num_dense));
  RHEOS_TRY(check_number(attrs, "Nfeature_list_sparse", lists->num_sparse));
  RHEOS_TRY(check_number(attrs, "Nfeature_list_dense", lists->num_dense));
  for (int32_t i = 0; i < lists->num_dense; i++) {
    if (rheos_shape_is_known(&lists->dense_shapes[i])) continue;
    rheos__shape_text text;
    return RHEOS_INVALID("feature_list_dense_shapes[%d] is not fully defined: %s", (int)i,
                         rheos__shape_text_of(&lists->dense_shapes[i], &text));
  }
  return NULL;
}

static rheos_status *prepare_with(rheos__prepare *p, const rheos__column_attrs *context,
                                  const rheos__column_attrs *lists, rheos__compute_fn compute) {
  sequence_state *state = RHEOS_NEW_STATE(p, sequence_state);
  if (state == NULL) return rheos__out_of_memory();
  p->compute = compute;
  return read_groups(p->attrs, context, lists, state);
}

// ---- Shapes

static rheos_status *infer_groups(rheos__infer *c, const sequence_state *groups,
                                  const rheos_shape *batch, bool lengths) {
  const rheos__column_group *context = &groups->context, *lists = &groups->lists;
  const int64_t rank = batch->rank;
  int64_t rows = -1;
  if (rank == 1) RHEOS_TRY(rheos__dim_add(batch->dims[0], 1, &rows));
  const rheos_shape splits = rank < 0    ? RHEOS_UNKNOWN_SHAPE
                             : rank == 0 ? RHEOS_SCALAR
                                         : RHEOS_SHAPE(rows);
  int32_t at = 0;
  rheos__infer_sparse_columns(c, at, context->num_sparse, rank < 0 ? -1 : rank + 1);
  at += 3 * context->num_sparse;
  RHEOS_TRY(rheos__infer_dense_columns(c, at, context, batch));
  at += context->num_dense;
  for (int32_t i = 0; i < context->num_ragged; i++) {
    c->output_shapes[at + i] = RHEOS_SHAPE(-1);
    c->output_shapes[at + context->num_ragged + i] = splits;
  }
  at += 2 * context->num_ragged;
  rheos__infer_sparse_columns(c, at, lists->num_sparse, rank < 0 ? -1 : rank + 2);
  at += 3 * lists->num_sparse;
  rheos_shape steps = *batch;
  if (rank >= 0) RHEOS_TRY(rheos__shape_append(&steps, -1));
  RHEOS_TRY(rheos__infer_dense_columns(c, at, lists, &steps));
  at += lists->num_dense;
  for (int32_t i = 0; lengths && i < lists->num_dense; i++) c->output_shapes[at + i] = *batch;
  at += lengths ? lists->num_dense : 0;
  for (int32_t i = 0; i < lists->num_ragged; i++) {
    c->output_shapes[at + i] = RHEOS_SHAPE(-1);
    c->output_shapes[at + lists->num_ragged + i] = splits;
    c->output_shapes[at + 2 * lists->num_ragged + i] = RHEOS_SHAPE(-1);
  }
  return NULL;
}

static rheos_status *infer_with(rheos__infer *c, const rheos__column_attrs *context,
                                const rheos__column_attrs *lists) {
  sequence_state groups;
  RHEOS_TRY(read_groups(c->attrs, context, lists, &groups));
  const rheos_shape *serialized = &c->input_shapes[0];
  RHEOS_TRY(rheos__infer_rank_at_most(c, 1, 1));
  if (serialized->rank > 1) return rheos__check_serialized(serialized, true);
  return infer_groups(c, &groups, serialized, true);
}

// ---- The kernels' common part

// One call: what the messages are, and what is asked of them.
typedef struct sequence_call {
  const sequence_state *state;
  rheos__columns context, lists;  // as they are before rheos__columns_init()
  const rheos_string *context_keys, *list_keys;
  rheos_tensor *const *standbys;
  // Whether the dense feature list of that number and key may be missing.
  bool (*may_be_missing)(const struct sequence_call *call, int32_t number);
  const rheos_tensor *missing;
  bool lengths;
} sequence_call;

static rheos_status *parse_context(sequence_call *call, rheos__step *step, rheos_tensor **outputs) {
  rheos__columns *columns = &call->context;
  const rheos__column_group *group = &call->state->context;
  rheos_status *status = rheos__columns_init(columns, group, call->context_keys, call->standbys);
  if (status == NULL) {
    status = rheos__columns_parse_features(columns, RHEOS__SEQUENCE_CONTEXT, step);
  }
  if (status == NULL) status = rheos__columns_sparse(columns, outputs);
  outputs += 3 * (ptrdiff_t)group->num_sparse;
  if (status == NULL) status = rheos__columns_dense(columns, outputs);
  outputs += group->num_dense;
  if (status == NULL) status = rheos__columns_ragged(columns, outputs);
  rheos__columns_deinit(columns);
  return status;
}

static rheos_status *parse_lists(sequence_call *call, rheos_tensor **outputs) {
  rheos__columns *columns = &call->lists;
  const rheos__column_group *group = &call->state->lists;
  rheos_status *status = rheos__columns_init(columns, group, call->list_keys, NULL);
  for (int32_t i = 0; status == NULL && i < group->num_dense; i++) {
    columns->items[group->num_sparse + i].may_be_missing = call->may_be_missing(call, i);
  }
  if (status == NULL) status = rheos__columns_parse_lists(columns);
  if (status == NULL) status = rheos__columns_sparse(columns, outputs);
  outputs += 3 * (ptrdiff_t)group->num_sparse;
  if (status == NULL) status = rheos__columns_dense_lists(columns, call->lengths, outputs);
  outputs += (call->lengths ? 2 : 1) * (ptrdiff_t)group->num_dense;
  if (status == NULL) status = rheos__columns_ragged(columns, outputs);
  rheos__columns_deinit(columns);
  return status;
}

static rheos_status *run_call(sequence_call *call, rheos__step *step, rheos_tensor **outputs) {
  const rheos__column_group *context = &call->state->context;
  RHEOS_TRY(parse_context(call, step, outputs));
  outputs += 3 * (ptrdiff_t)context->num_sparse + context->num_dense + 2 * context->num_ragged;
  return parse_lists(call, outputs);
}

// The call of a kernel whose inputs begin with the messages and have their names at `names`.
static rheos_status *start_call(const sequence_state *state, rheos_tensor *const *inputs,
                                const rheos_tensor *names, rheos__parse_words context_words,
                                rheos__parse_words list_words, sequence_call *out_call) {
  const bool single = inputs[0]->shape.rank == 0;
  rheos__columns columns = {.words = context_words,
                            .single = single,
                            .batch = inputs[0]->num_elements,
                            .serialized = inputs[0]->data};
  RHEOS_TRY(rheos__check_serialized(&inputs[0]->shape, true));
  RHEOS_TRY(rheos__parse_names(names, inputs[0], &columns.names));
  *out_call = (sequence_call){.state = state, .context = columns, .lists = columns};
  out_call->lists.words = list_words;
  return NULL;
}

static bool is_among(const rheos_string *key, const rheos_string *keys, int64_t count) {
  for (int64_t i = 0; i < count; i++) {
    if (rheos__string_equal(key, &keys[i])) return true;
  }
  return false;
}

// ---- ParseSequenceExample

static bool missing_in_attr(const sequence_call *call, int32_t number) {
  const rheos_string *key = &call->list_keys[call->state->lists.num_sparse + number];
  return is_among(key, call->state->may_be_missing->strings, call->state->may_be_missing->count);
}

static rheos_status *compute_sequence(void *argument, rheos__step *step,
                                      rheos_tensor *const *inputs, rheos_tensor **outputs) {
  const sequence_state *state = argument;
  sequence_call call;
  RHEOS_TRY(start_call(state, inputs, inputs[1], RHEOS__WORDS_CONTEXTS, RHEOS__WORDS_LISTS, &call));
  call.context_keys = state->context_keys;
  call.list_keys = state->list_keys;
  call.standbys = inputs + 2;
  call.may_be_missing = missing_in_attr;
  call.lengths = true;
  return run_call(&call, step, outputs);
}

// The keys in two attributes, which are to be so many.
static rheos_status *attr_keys(rheos__prepare *p, const char *sparse_name, int32_t num_sparse,
                               const char *dense_name, int32_t num_dense,
                               const rheos_string **out_keys) {
  const rheos_attr_value *sparse = rheos__attrs_find(p->attrs, sparse_name);
  const rheos_attr_value *dense = rheos__attrs_find(p->attrs, dense_name);
  if (sparse->count != num_sparse || dense->count != num_dense) {
    return RHEOS_INVALID("%s and %s have %d and %d keys, but there are %d and %d dtypes",
                         sparse_name, dense_name, (int)sparse->count, (int)dense->count,
                         (int)num_sparse, (int)num_dense);
  }
  const size_t count = (size_t)num_sparse + (size_t)num_dense;
  rheos_string *keys = rheos__arena_alloc_zeroed(p->arena, (count + 1) * sizeof *keys);
  if (keys == NULL) return rheos__out_of_memory();
  for (int32_t i = 0; i < num_sparse; i++) keys[i] = sparse->strings[i];
  for (int32_t i = 0; i < num_dense; i++) keys[num_sparse + i] = dense->strings[i];
  *out_keys = keys;
  return NULL;
}

static rheos_status *prepare_sequence(rheos__prepare *p) {
  RHEOS_TRY(prepare_with(p, &CONTEXT, &LISTS, compute_sequence));
  sequence_state *state = p->state;
  state->may_be_missing = rheos__attrs_find(p->attrs, "feature_list_dense_missing_assumed_empty");
  RHEOS_TRY(attr_keys(p, "context_sparse_keys", state->context.num_sparse, "context_dense_keys",
                      state->context.num_dense, &state->context_keys));
  return attr_keys(p, "feature_list_sparse_keys", state->lists.num_sparse,
                   "feature_list_dense_keys", state->lists.num_dense, &state->list_keys);
}

static rheos_status *shape_sequence(rheos__infer *c) { return infer_with(c, &CONTEXT, &LISTS); }

#define EXAMPLE_TYPES "list({float, int64, string}) >= 0 = []; "

const rheos__op_def rheos__op_ParseSequenceExample = {
    .name = "ParseSequenceExample",
    .signature =
        "serialized: string, debug_name: string, context_dense_defaults: Tcontext_dense -> "
        "context_sparse_indices: Ncontext_sparse * int64, "
        "context_sparse_values: context_sparse_types, "
        "context_sparse_shapes: Ncontext_sparse * int64, context_dense_values: Tcontext_dense, "
        "feature_list_sparse_indices: Nfeature_list_sparse * int64, "
        "feature_list_sparse_values: feature_list_sparse_types, "
        "feature_list_sparse_shapes: Nfeature_list_sparse * int64, "
        "feature_list_dense_values: feature_list_dense_types, "
        "feature_list_dense_lengths: Nfeature_list_dense * int64; "
        "feature_list_dense_missing_assumed_empty: list(string) >= 0; "
        "context_sparse_keys: list(string) >= 0; context_dense_keys: list(string) >= 0; "
        "feature_list_sparse_keys: list(string) >= 0; feature_list_dense_keys: list(string) >= 0; "
        "Ncontext_sparse: int >= 0 = 0; Ncontext_dense: int >= 0 = 0; "
        "Nfeature_list_sparse: int >= 0 = 0; Nfeature_list_dense: int >= 0 = 0; "
        "context_sparse_types: " EXAMPLE_TYPES "Tcontext_dense: " EXAMPLE_TYPES
        "feature_list_dense_types: " EXAMPLE_TYPES
        "context_dense_shapes: list(shape) >= 0 = []; "
        "feature_list_sparse_types: " EXAMPLE_TYPES
        "feature_list_dense_shapes: list(shape) >= 0 = []",
    .doc = "The context and the feature lists of a vector of SequenceExample messages.",
    .shape = shape_sequence,
    .prepare = prepare_sequence,
};

// ---- ParseSequenceExampleV2

static bool missing_in_flags(const sequence_call *call, int32_t number) {
  return ((const bool *)call->missing->data)[number];
}

// The keys in three inputs, for rheos__free().
static rheos_status *input_keys(rheos_tensor *const *inputs, const rheos__column_group *group,
                                rheos_string **out_keys) {
  const int32_t count = group->num_sparse + group->num_dense + group->num_ragged;
  int32_t at = 0;
  rheos_string *keys = *out_keys = rheos__alloc_array((size_t)count, sizeof *keys);
  if (keys == NULL) return rheos__out_of_memory();
  RHEOS_TRY(rheos__parse_keys(keys, &at, inputs[0], group->num_sparse, "sparse_keys",
                              "len(sparse_types)"));
  RHEOS_TRY(
      rheos__parse_keys(keys, &at, inputs[1], group->num_dense, "dense_keys", "len(dense_types)"));
  return rheos__parse_keys(keys, &at, inputs[2], group->num_ragged, "ragged_keys",
                           "len(ragged_value_types)");
}

static rheos_status *compute_sequence_v2(void *argument, rheos__step *step,
                                         rheos_tensor *const *inputs, rheos_tensor **outputs) {
  const sequence_state *state = argument;
  sequence_call call;
  RHEOS_TRY(start_call(state, inputs, inputs[1], RHEOS__WORDS_CONTEXTS, RHEOS__WORDS_LISTS, &call));
  if (inputs[8]->num_elements != state->lists.num_dense) {
    return RHEOS_INVALID(
        "Expected len(feature_list_dense_keys) == "
        "len(feature_list_dense_missing_assumed_empty) but got: %d vs. %lld",
        (int)state->lists.num_dense, (long long)inputs[8]->num_elements);
  }
  call.standbys = inputs + 9;
  call.missing = inputs[8];
  call.may_be_missing = missing_in_flags;
  call.lengths = true;
  rheos_string *context_keys = NULL, *list_keys = NULL;
  rheos_status *status = input_keys(inputs + 2, &state->context, &context_keys);
  if (status == NULL) status = input_keys(inputs + 5, &state->lists, &list_keys);
  call.context_keys = context_keys;
  call.list_keys = list_keys;
  if (status == NULL) status = run_call(&call, step, outputs);
  rheos__free(context_keys);
  rheos__free(list_keys);
  return status;
}

static rheos_status *prepare_sequence_v2(rheos__prepare *p) {
  return prepare_with(p, &CONTEXT_V2, &LISTS_V2, compute_sequence_v2);
}

static rheos_status *shape_sequence_v2(rheos__infer *c) {
  return infer_with(c, &CONTEXT_V2, &LISTS_V2);
}

const rheos__op_def rheos__op_ParseSequenceExampleV2 = {
    .name = "ParseSequenceExampleV2",
    .signature =
        "serialized: string, debug_name: string, context_sparse_keys: string, "
        "context_dense_keys: string, context_ragged_keys: string, "
        "feature_list_sparse_keys: string, feature_list_dense_keys: string, "
        "feature_list_ragged_keys: string, feature_list_dense_missing_assumed_empty: bool, "
        "context_dense_defaults: Tcontext_dense -> "
        "context_sparse_indices: Ncontext_sparse * int64, "
        "context_sparse_values: context_sparse_types, "
        "context_sparse_shapes: Ncontext_sparse * int64, context_dense_values: Tcontext_dense, "
        "context_ragged_values: context_ragged_value_types, "
        "context_ragged_row_splits: context_ragged_split_types, "
        "feature_list_sparse_indices: Nfeature_list_sparse * int64, "
        "feature_list_sparse_values: feature_list_sparse_types, "
        "feature_list_sparse_shapes: Nfeature_list_sparse * int64, "
        "feature_list_dense_values: feature_list_dense_types, "
        "feature_list_dense_lengths: Nfeature_list_dense * int64, "
        "feature_list_ragged_values: feature_list_ragged_value_types, "
        "feature_list_ragged_outer_splits: feature_list_ragged_split_types, "
        "feature_list_ragged_inner_splits: feature_list_ragged_split_types; "
        "Ncontext_sparse: int >= 0 = 0; Tcontext_dense: " EXAMPLE_TYPES
        "context_sparse_types: " EXAMPLE_TYPES "context_ragged_value_types: " EXAMPLE_TYPES
        "context_ragged_split_types: list(index) >= 0 = []; "
        "context_dense_shapes: list(shape) >= 0 = []; Nfeature_list_sparse: int >= 0 = 0; "
        "Nfeature_list_dense: int >= 0 = 0; feature_list_dense_types: " EXAMPLE_TYPES
        "feature_list_sparse_types: " EXAMPLE_TYPES
        "feature_list_ragged_value_types: " EXAMPLE_TYPES
        "feature_list_ragged_split_types: list(index) >= 0 = []; "
        "feature_list_dense_shapes: list(shape) >= 0 = []",
    .doc =
        "The context and the feature lists of a vector of SequenceExample messages, or of one; "
        "ragged tensors too.",
    .shape = shape_sequence_v2,
    .prepare = prepare_sequence_v2,
};

// ---- ParseSingleSequenceExample

static bool missing_in_keys(const sequence_call *call, int32_t number) {
  const rheos_string *key = &call->list_keys[call->state->lists.num_sparse + number];
  return is_among(key, call->missing->data, call->missing->num_elements);
}

static rheos_status *compute_single_sequence(void *argument, rheos__step *step,
                                             rheos_tensor *const *inputs, rheos_tensor **outputs) {
  const sequence_state *state = argument;
  const rheos__column_group *context = &state->context, *lists = &state->lists;
  const int32_t num_context = context->num_sparse + context->num_dense;
  const int32_t num_keys = num_context + lists->num_sparse + lists->num_dense;
  rheos_tensor *const *standbys = inputs + 2 + num_keys;
  const rheos_string *unused;
  sequence_call call;
  RHEOS_TRY(rheos__string_scalar(inputs[0], "serialized", &unused));
  RHEOS_TRY(start_call(state, inputs, standbys[context->num_dense], RHEOS__WORDS_CONTEXT,
                       RHEOS__WORDS_LIST, &call));
  rheos_string *keys = rheos__alloc_array((size_t)num_keys, sizeof *keys);
  if (keys == NULL) return rheos__out_of_memory();
  call.context_keys = keys;
  call.list_keys = keys + num_context;
  call.standbys = standbys;
  call.missing = inputs[1];
  call.may_be_missing = missing_in_keys;
  rheos_status *status = NULL;
  for (int32_t i = 0; status == NULL && i < num_keys; i++) {
    status = rheos__parse_key(inputs[2 + i], "the keys", &keys[i]);
  }
  if (status == NULL) status = run_call(&call, step, outputs);
  rheos__free(keys);
  return status;
}

static rheos_status *prepare_single_sequence(rheos__prepare *p) {
  return prepare_with(p, &CONTEXT, &LISTS, compute_single_sequence);
}

static rheos_status *shape_single_sequence(rheos__infer *c) {
  sequence_state groups;
  rheos_shape serialized, unused;
  RHEOS_TRY(read_groups(c->attrs, &CONTEXT, &LISTS, &groups));
  RHEOS_TRY(rheos__infer_rank(c, 0, 0, &serialized));
  RHEOS_TRY(rheos__infer_rank(c, 1, 1, &unused));
  return infer_groups(c, &groups, &serialized, false);
}

const rheos__op_def rheos__op_ParseSingleSequenceExample = {
    .name = "ParseSingleSequenceExample",
    .signature =
        "serialized: string, feature_list_dense_missing_assumed_empty: string, "
        "context_sparse_keys: Ncontext_sparse * string, "
        "context_dense_keys: Ncontext_dense * string, "
        "feature_list_sparse_keys: Nfeature_list_sparse * string, "
        "feature_list_dense_keys: Nfeature_list_dense * string, "
        "context_dense_defaults: Tcontext_dense, debug_name: string -> "
        "context_sparse_indices: Ncontext_sparse * int64, "
        "context_sparse_values: context_sparse_types, "
        "context_sparse_shapes: Ncontext_sparse * int64, context_dense_values: Tcontext_dense, "
        "feature_list_sparse_indices: Nfeature_list_sparse * int64, "
        "feature_list_sparse_values: feature_list_sparse_types, "
        "feature_list_sparse_shapes: Nfeature_list_sparse * int64, "
        "feature_list_dense_values: feature_list_dense_types; "
        "Ncontext_sparse: int >= 0 = 0; Ncontext_dense: int >= 0 = 0; "
        "Nfeature_list_sparse: int >= 0 = 0; Nfeature_list_dense: int >= 0 = 0; "
        "context_sparse_types: " EXAMPLE_TYPES "Tcontext_dense: " EXAMPLE_TYPES
        "feature_list_dense_types: " EXAMPLE_TYPES
        "context_dense_shapes: list(shape) >= 0 = []; "
        "feature_list_sparse_types: " EXAMPLE_TYPES
        "feature_list_dense_shapes: list(shape) >= 0 = []",
    .doc = "The context and the feature lists of one SequenceExample message.",
    .shape = shape_single_sequence,
    .prepare = prepare_single_sequence,
};
