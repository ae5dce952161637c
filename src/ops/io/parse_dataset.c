// ParseExampleDataset: batches of serialized examples as the columns in them, by key. A sparse
// column is a vector of three variants, a ragged one a variant, as datasets have them.
#include "ops/data/stage.h"
#include "ops/io/parse_columns.h"
#include "ops/kit/op_util.h"
#include "ops/kit/packed_tensors.h"
#include "ops/sparse/sparse_serialize.h"

// ---- What the node asks for, kept for datasets that outlive it

typedef struct request {
  rheos__column_group group;
  rheos_string *keys;  // sparse, dense, ragged
  int32_t *places;     // of each column among the components, which are in the order of their keys
  int32_t num_keys;
} request;

static void free_request(void *described) {
  request *r = described;
  if (r == NULL) return;
  for (int32_t i = 0; r->keys != NULL && i < r->num_keys; ++i) rheos__free((char *)r->keys[i].data);
  rheos__free(r->keys);
  rheos__free(r->places);
  rheos__free((void *)r->group.sparse_types);
  rheos__free((void *)r->group.dense_types);
  rheos__free((void *)r->group.ragged_types);
  rheos__free((void *)r->group.split_types);
  rheos__free((void *)r->group.dense_shapes);
  rheos__free(r);
}

static const rheos__column_attrs ATTRS = {.sparse_types = "sparse_types",
                                          .dense_types = "Tdense",
                                          .dense_shapes = "dense_shapes",
                                          .ragged_types = "ragged_value_types",
                                          .split_types = "ragged_split_types"};

static rheos_status *copy_list(const void **list, int32_t count, size_t each_bytes) {
  void *copy = rheos__alloc_array((size_t)count, each_bytes);
  if (copy != NULL && count > 0) memcpy(copy, *list, (size_t)count * each_bytes);
  *list = copy;
  return copy != NULL ? NULL : rheos__out_of_memory();
}

// Every list becomes the request's own, also after a failure, when it may be NULL.
static rheos_status *own_lists(rheos__column_group *g) {
  rheos_status *all[] = {
      copy_list((const void **)&g->sparse_types, g->num_sparse, sizeof *g->sparse_types),
      copy_list((const void **)&g->dense_types, g->num_dense, sizeof *g->dense_types),
      copy_list((const void **)&g->ragged_types, g->num_ragged, sizeof *g->ragged_types),
      copy_list((const void **)&g->split_types, g->num_ragged, sizeof *g->split_types),
      copy_list((const void **)&g->dense_shapes, g->num_dense, sizeof *g->dense_shapes)};
  rheos_status *first = NULL;
  for (size_t i = 0; i < sizeof all / sizeof *all; ++i) {
    if (first == NULL)
      first = all[i];
    else
      rheos_status_free(all[i]);
  }
  return first;
}

static rheos_status *copy_keys(const rheos__attrs *attrs, const char *name, int32_t wanted,
                               request *r) {
  const rheos_attr_value *keys = rheos__attrs_find(attrs, name);
  const int32_t count = keys != NULL ? keys->count : 0;
  if (count != wanted) {
    return RHEOS_INVALID("%s has %d keys, but there are %d dtypes for them", name, (int)count,
                         (int)wanted);
  }
  for (int32_t i = 0; i < count; ++i) {
    char *copy = rheos__strndup(keys->strings[i].data, keys->strings[i].size_bytes);
    if (copy == NULL) return rheos__out_of_memory();
    r->keys[r->num_keys++] = (rheos_string){copy, keys->strings[i].size_bytes};
  }
  return NULL;
}

static bool is_before(const rheos_string *a, const rheos_string *b) {
  const size_t least = a->size_bytes < b->size_bytes ? a->size_bytes : b->size_bytes;
  const int order = least > 0 ? memcmp(a->data, b->data, least) : 0;
  return order != 0 ? order < 0 : a->size_bytes < b->size_bytes;
}

static rheos_status *place_keys(request *r) {
  for (int32_t i = 0; i < r->num_keys; ++i) {
    for (int32_t k = 0; k < r->num_keys; ++k) {
      r->places[i] += is_before(&r->keys[k], &r->keys[i]);
      if (k >= i || !rheos__string_equal(&r->keys[k], &r->keys[i])) continue;
      return RHEOS_INVALID("the key '%.*s' is asked for twice", (int)r->keys[i].size_bytes,
                           r->keys[i].data);
    }
  }
  return NULL;
}

static rheos_status *fill_request(const rheos__attrs *attrs, request *r) {
  rheos_status *status = rheos__column_group_of(attrs, &ATTRS, &r->group);
  if (status != NULL) {
    r->group = (rheos__column_group){0};
    return status;
  }
  RHEOS_TRY(own_lists(&r->group));
  const size_t count =
      (size_t)r->group.num_sparse + (size_t)r->group.num_dense + (size_t)r->group.num_ragged;
  r->keys = rheos__alloc_array(count, sizeof *r->keys);
  r->places = rheos__alloc_array(count, sizeof *r->places);
  if (r->keys == NULL || r->places == NULL) return rheos__out_of_memory();
  RHEOS_TRY(copy_keys(attrs, "sparse_keys", r->group.num_sparse, r));
  RHEOS_TRY(copy_keys(attrs, "dense_keys", r->group.num_dense, r));
  RHEOS_TRY(copy_keys(attrs, "ragged_keys", r->group.num_ragged, r));
  return place_keys(r);
}

static rheos_status *describe(const rheos__attrs *attrs, void **out_described) {
  request *r = rheos__alloc_zeroed(sizeof *r);
  *out_described = r;
  return r != NULL ? fill_request(attrs, r) : rheos__out_of_memory();
}

// ---- Parsing

static rheos_status *pack(rheos_tensor *const *parts, int32_t count, rheos_tensor **out_tensor) {
  rheos_tensor *kept[2] = {parts[1], parts[0]};  // the splits, then the values
  rheos__variant *packed = NULL;
  for (int32_t i = 0; i < count; ++i) rheos_tensor_ref(kept[i]);
  RHEOS_TRY(rheos__packed_tensors_take(RHEOS__PACKED_RAGGED, kept, count, &packed));
  return rheos__variant_tensor_take(packed, out_tensor);
}

// Columns, as the op that parses has them, become components.
static rheos_status *place_columns(const request *r, rheos_tensor **columns,
                                   rheos_tensor **element) {
  const rheos__column_group *g = &r->group;
  rheos_tensor **dense = columns + 3 * (ptrdiff_t)g->num_sparse, **ragged = dense + g->num_dense;
  for (int32_t i = 0; i < g->num_sparse; ++i) {
    rheos_tensor *parts[] = {columns[i], columns[g->num_sparse + i],
                             columns[2 * g->num_sparse + i]};
    RHEOS_TRY(rheos__serialize_sparse(parts, RHEOS_VARIANT, &element[r->places[i]]));
  }
  for (int32_t i = 0; i < g->num_dense; ++i) {
    element[r->places[g->num_sparse + i]] = rheos_tensor_ref(dense[i]);
  }
  for (int32_t i = 0; i < g->num_ragged; ++i) {
    rheos_tensor *parts[] = {ragged[i], ragged[g->num_ragged + i]};
    RHEOS_TRY(pack(parts, 2, &element[r->places[g->num_sparse + g->num_dense + i]]));
  }
  return NULL;
}

static rheos_status *parse_columns(const rheos__dataset *d, const rheos_tensor *texts,
                                   rheos__step *step, rheos_tensor **outputs) {
  const request *r = rheos__dataset_described(d);
  rheos__columns columns = {
      .words = RHEOS__WORDS_EXAMPLES, .batch = texts->num_elements, .serialized = texts->data};
  rheos_status *status = rheos__columns_init(&columns, &r->group, r->keys, d->args + 2);
  if (status == NULL) {
    status = rheos__columns_parse_features(&columns, RHEOS__EXAMPLE_FEATURES, step);
  }
  if (status == NULL) status = rheos__columns_sparse(&columns, outputs);
  outputs += 3 * (ptrdiff_t)r->group.num_sparse;
  if (status == NULL) status = rheos__columns_dense(&columns, outputs);
  if (status == NULL) status = rheos__columns_ragged(&columns, outputs + r->group.num_dense);
  rheos__columns_deinit(&columns);
  return status;
}

static rheos_status *parse_texts(const rheos__dataset *d, const rheos_tensor *texts,
                                 rheos_tensor **element, rheos__step *step) {
  const request *r = rheos__dataset_described(d);
  const int32_t count = 3 * r->group.num_sparse + r->group.num_dense + 2 * r->group.num_ragged;
  RHEOS_TRY(rheos__check_serialized(&texts->shape, false));
  rheos_tensor **columns = rheos__alloc_array((size_t)count, sizeof *columns);
  if (columns == NULL) return rheos__out_of_memory();
  rheos_status *status = parse_columns(d, texts, step, columns);
  if (status == NULL) status = place_columns(r, columns, element);
  rheos__element_clear(columns, count);
  rheos__free(columns);
  if (status != NULL) rheos__element_clear(element, d->num_components);
  return status;
}

static rheos_status *work(const rheos__dataset *d, rheos_tensor **raw, rheos_tensor **element,
                          rheos__step *step) {
  rheos_status *status = parse_texts(d, raw[0], element, step);
  rheos__element_clear(raw, 1);
  return status;
}

// ---- The dataset

typedef struct parse_data {
  int64_t num_calls;
  bool any_order;
} parse_data;

typedef struct parsed {
  rheos__iterator base;
  rheos__stage *stage;
} parsed;

static rheos_status *check_defaults(const rheos__dataset *d, const rheos__column_group *g) {
  for (int32_t i = 0; i < g->num_dense; ++i) {
    const rheos_tensor *given = d->args[2 + i];
    if (given != NULL && given->dtype == g->dense_types[i]) continue;
    return RHEOS_INVALID("dense_defaults[%d] must be a tensor of %s", (int)i,
                         rheos_dtype_name(g->dense_types[i]));
  }
  return NULL;
}

static rheos_dtype component_dtype(const request *r, int32_t column) {
  const int32_t dense = column - r->group.num_sparse;
  return dense >= 0 && dense < r->group.num_dense ? r->group.dense_types[dense] : RHEOS_VARIANT;
}

static rheos_status *init(rheos__dataset *d) {
  parse_data *data = d->data;
  const request *r = rheos__dataset_described(d);
  const int64_t *options = rheos__dataset_options(d);
  RHEOS_TRY(rheos__dataset_int(d, 1, "num_parallel_calls", &data->num_calls));
  if (data->num_calls < 1 && data->num_calls != -1) {
    return RHEOS_INVALID("num_parallel_calls must be greater than zero.");
  }
  data->any_order = options[0] != 0 || options[1] == RHEOS__ORDER_ANY;
  if (d->inputs[0]->num_components != 1 || d->inputs[0]->types[0] != RHEOS_STRING) {
    return RHEOS_INVALID(
        "Input elements must be a single component of strings, serialized examples");
  }
  if (d->num_components != r->num_keys) {
    return RHEOS_INVALID("there are %d keys, but %d components", (int)r->num_keys,
                         (int)d->num_components);
  }
  for (int32_t i = 0; i < r->num_keys; ++i) {
    if (component_dtype(r, i) == d->types[r->places[i]]) continue;
    return RHEOS_INVALID("Data type mismatch at component %d: expected %s but got %s.",
                         (int)r->places[i], rheos_dtype_name(component_dtype(r, i)),
                         rheos_dtype_name(d->types[r->places[i]]));
  }
  return check_defaults(d, &r->group);
}

static rheos_status *start(rheos__iterator *iterator, rheos__step *step) {
  const parse_data *data = iterator->dataset->data;
  const rheos__stage_options options = {.buffer = data->num_calls,
                                        .parallelism = data->num_calls,
                                        .any_order = data->any_order,
                                        .work = work};
  return rheos__stage_new(iterator, &options, step, &((parsed *)iterator)->stage);
}

static void finish(rheos__iterator *iterator) {
  rheos__stage_leave(((parsed *)iterator)->stage, iterator);
}

static rheos_status *next(rheos__iterator *iterator, rheos__step *step, rheos_tensor **element,
                          bool *out_end) {
  return rheos__stage_next(((parsed *)iterator)->stage, step, element, out_end);
}

static rheos_status *pause_parsing(rheos__iterator *iterator, rheos__step *step) {
  return rheos__stage_pause(((parsed *)iterator)->stage, step);
}

static void count_parsed(rheos__iterator *iterator, rheos__stage_counts *out_counts) {
  rheos__stage_count(((parsed *)iterator)->stage, out_counts);
}

static rheos_status *transfer(rheos__iterator *iterator, rheos__saved_state *state,
                              rheos__step *step) {
  (void)step;
  return rheos__stage_transfer(((parsed *)iterator)->stage, state);
}

static int64_t cardinality(const rheos__dataset *d) {
  return rheos__dataset_cardinality(d->inputs[0]);
}

static const char *const options[] = {"sloppy", "deterministic", NULL};
static const rheos__dataset_kind parse_kind = {.name = "ParseExample",
                                               .data_bytes = sizeof(parse_data),
                                               .iterator_bytes = sizeof(parsed),
                                               .opens_input = true,
                                               .options = options,
                                               .describe = describe,
                                               .forget = free_request,
                                               .init = init,
                                               .start = start,
                                               .finish = finish,
                                               .next = next,
                                               .pause = pause_parsing,
                                               .count = count_parsed,
                                               .state = transfer,
                                               .cardinality = cardinality};

#define PARSED "{float, int64, string}"
#define PARSE(op, attrs)                                                                           \
  RHEOS_DATASET_OP(                                                                                \
      op, parse_kind, "input_dataset: variant, num_parallel_calls: int64, dense_defaults: Tdense", \
      "; sparse_keys: list(string) >= 0; dense_keys: list(string) >= 0; sparse_types: "            \
      "list(" PARSED ") >= 0; Tdense: list(" PARSED                                                \
      ") >= 0; dense_shapes: list(shape) >= 0" RHEOS_DATASET_TYPES attrs,                          \
      "What is in batches of Example messages, a component for each key.")
#define RAGGED                                                              \
  "; ragged_keys: list(string) >= 0 = []; ragged_value_types: list(" PARSED \
  ") >= 0 = []; ragged_split_types: list({int32, int64}) >= 0 = []"
PARSE(ExperimentalParseExampleDataset, "; sloppy: bool = false")
PARSE(ParseExampleDataset, "; sloppy: bool = false" RAGGED)
PARSE(ParseExampleDatasetV2, "; deterministic: string = \"default\"" RAGGED)
