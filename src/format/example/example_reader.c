// Examples for those who have no graph: features by key, lists of features, tensors of described
// features. The walk over the bytes is that of the ops, and so are the rules.
#include <rheos/examples.h>

#include <stdlib.h>

#include "codec/example.h"
#include "ops/io/parse_columns.h"

// ---- The message

typedef struct item {
  rheos_string key;
  size_t place;  // in the message: of those with one key the last one counts
  rheos_feature feature;
  rheos__wire list;         // of features
  rheos_feature *features;  // of the list
  size_t num_features, capacity;
} item;

typedef struct item_map {
  item *items;  // sorted by key
  size_t count, capacity;
  bool failed;  // memory was short
} item_map;

struct rheos_example {
  item_map features, lists;
};

static void free_map(item_map *map) {
  for (size_t i = 0; i < map->count; i++) rheos__free(map->items[i].features);
  rheos__free(map->items);
}

void rheos_example_free(rheos_example *example) {
  if (example == NULL) return;
  free_map(&example->features);
  free_map(&example->lists);
  rheos__free(example);
}

static rheos_string string_of(rheos__wire wire) {
  return rheos__borrow_string(wire.at, rheos__wire_size(wire));
}

static void take_item(void *argument, rheos__wire key, rheos__wire value) {
  item_map *map = argument;
  if (map->failed || !RHEOS_RESERVE(map->items, map->capacity, map->count + 1)) {
    map->failed = true;
    return;
  }
  map->items[map->count] = (item){.key = string_of(key), .place = map->count, .list = value};
  map->count++;
}

static int compare_keys(const rheos_string *a, const char *key, size_t key_bytes) {
  const size_t common = a->size_bytes < key_bytes ? a->size_bytes : key_bytes;
  const int order = common > 0 ? memcmp(a->data, key, common) : 0;
  return order != 0 ? order : (a->size_bytes > key_bytes) - (a->size_bytes < key_bytes);
}

static int compare_items(const void *a, const void *b) {
  const item *x = a, *y = b;
  const int order = compare_keys(&x->key, y->key.data, y->key.size_bytes);
  return order != 0 ? order : (x->place > y->place) - (x->place < y->place);
}

static rheos_status *bad_feature(const rheos_string *key) {
  return rheos_status_new(RHEOS_DATA_LOSS, "feature '%.*s' cannot be read", (int)key->size_bytes,
                          key->data);
}

static rheos_status *read_feature(const rheos_string *key, rheos__wire bytes,
                                  rheos_feature *out_feature) {
  rheos__wire list;
  *out_feature = (rheos_feature){.key = *key};
  if (!rheos__feature_read(bytes, &out_feature->dtype, &list)) return bad_feature(key);
  out_feature->list_ = list.at;
  out_feature->list_bytes_ = rheos__wire_size(list);
  if (out_feature->dtype == RHEOS_INVALID_DTYPE) return NULL;
  rheos__feature_values(out_feature->dtype, list, NULL, 0, 0, &out_feature->count);
  return out_feature->count >= 0 ? NULL : bad_feature(key);
}

static rheos_status *read_list(item *it) {
  rheos__wire list = it->list, bytes;
  bool sound;
  while (rheos__feature_list_next(&list, &bytes, &sound)) {
    if (!RHEOS_RESERVE(it->features, it->capacity, it->num_features + 1)) {
      return rheos__out_of_memory();
    }
    RHEOS_TRY(read_feature(&it->key, bytes, &it->features[it->num_features]));
    it->num_features++;
  }
  return sound ? NULL : bad_feature(&it->key);
}

// The map in that field of the message: sorted, each key once.
static rheos_status *read_map(rheos__wire message, uint32_t field, bool is_list, item_map *map) {
  const bool sound = rheos__example_entries(message, field, take_item, map);
  if (map->failed) return rheos__out_of_memory();
  if (!sound) {
    return rheos_status_new(RHEOS_DATA_LOSS, "the bytes are not a valid %s message",
                            is_list ? "SequenceExample" : "Example");
  }
  if (map->count > 1) qsort(map->items, map->count, sizeof *map->items, compare_items);
  size_t kept = 0;
  for (size_t i = 0; i < map->count; i++) {
    const item *next = &map->items[i + 1];
    const rheos_string *key = &map->items[i].key;
    if (i + 1 < map->count && compare_keys(key, next->key.data, next->key.size_bytes) == 0)
      continue;
    map->items[kept++] = map->items[i];
  }
  map->count = kept;
  for (size_t i = 0; i < map->count; i++) {
    item *it = &map->items[i];
    RHEOS_TRY(is_list ? read_list(it) : read_feature(&it->key, it->list, &it->feature));
  }
  return NULL;
}

static rheos_status *read_message(const void *data, size_t size_bytes, bool is_sequence,
                                  rheos_example **out_example) {
  *out_example = NULL;
  rheos_example *example = rheos__alloc_zeroed(sizeof *example);
  if (example == NULL) return rheos__out_of_memory();
  const rheos__wire wire = rheos__wire_of(data, size_bytes);
  rheos_status *status = read_map(wire, RHEOS__EXAMPLE_FEATURES, false, &example->features);
  if (status == NULL && is_sequence) {
    status = read_map(wire, RHEOS__SEQUENCE_FEATURE_LISTS, true, &example->lists);
  }
  if (status != NULL) {
    rheos_example_free(example);
    return status;
  }
  *out_example = example;
  return NULL;
}

rheos_status *rheos_example_read(const void *data, size_t size_bytes, rheos_example **out_example) {
  RHEOS_OUT(out_example);
  RHEOS_NEED_BYTES(data, size_bytes);
  return read_message(data, size_bytes, false, out_example);
}

rheos_status *rheos_sequence_example_read(const void *data, size_t size_bytes,
                                          rheos_example **out_example) {
  RHEOS_OUT(out_example);
  RHEOS_NEED_BYTES(data, size_bytes);
  return read_message(data, size_bytes, true, out_example);
}

// ---- What is in it

static const item *find_item(const item_map *map, const char *key) {
  const size_t key_bytes = strlen(key);
  size_t low = 0, high = map->count;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    const int order = compare_keys(&map->items[middle].key, key, key_bytes);
    if (order == 0) return &map->items[middle];
    if (order < 0) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return NULL;
}

size_t rheos_example_num_features(const rheos_example *example) {
  return example != NULL ? example->features.count : 0;
}

// The feature, or list of features, of that number; NULL if there is none.
static const item *item_at(const rheos_example *example, size_t index, bool is_list) {
  if (example == NULL) return NULL;
  const item_map *map = is_list ? &example->lists : &example->features;
  return index < map->count ? &map->items[index] : NULL;
}

rheos_feature rheos_example_feature(const rheos_example *example, size_t index) {
  const item *found = item_at(example, index, false);
  return found != NULL ? found->feature : (rheos_feature){0};
}

bool rheos_example_find(const rheos_example *example, const char *key, rheos_feature *out_feature) {
  if (example == NULL || key == NULL || out_feature == NULL) return false;
  const item *found = find_item(&example->features, key);
  if (found != NULL) *out_feature = found->feature;
  return found != NULL;
}

size_t rheos_example_num_lists(const rheos_example *example) {
  return example != NULL ? example->lists.count : 0;
}

rheos_string rheos_example_list_key(const rheos_example *example, size_t list) {
  const item *found = item_at(example, list, true);
  return found != NULL ? found->key : (rheos_string){0};
}

size_t rheos_example_list_steps(const rheos_example *example, size_t list) {
  const item *found = item_at(example, list, true);
  return found != NULL ? found->num_features : 0;
}

rheos_feature rheos_example_list_feature(const rheos_example *example, size_t list, size_t step) {
  const item *found = item_at(example, list, true);
  return found != NULL && step < found->num_features ? found->features[step] : (rheos_feature){0};
}

bool rheos_example_find_list(const rheos_example *example, const char *key, size_t *out_list) {
  if (example == NULL || key == NULL || out_list == NULL) return false;
  const item *found = find_item(&example->lists, key);
  if (found != NULL) *out_list = (size_t)(found - example->lists.items);
  return found != NULL;
}

// ---- Values

void rheos_feature_strings(const rheos_feature *feature, rheos_string *out_values) {
  if (feature == NULL || out_values == NULL) return;
  rheos__wire list = rheos__wire_of(feature->list_, feature->list_bytes_);
  rheos__wire_field field;
  bool sound;
  for (int64_t i = 0; i < feature->count && rheos__wire_next(&list, &field, &sound); i++) {
    out_values[i] = string_of(field.data);
  }
}

static void copy_numbers(const rheos_feature *feature, rheos_dtype dtype, void *to) {
  // The count was read off the same bytes.
  rheos_tensor view;
  rheos__tensor_init_view(&view, dtype, &RHEOS_SHAPE(feature->count), to);
  int64_t unused;
  rheos__feature_values(dtype, rheos__wire_of(feature->list_, feature->list_bytes_), &view, 0,
                        feature->count, &unused);
}

void rheos_feature_floats(const rheos_feature *feature, float *out_values) {
  if (feature == NULL || out_values == NULL) return;
  if (feature->dtype == RHEOS_FLOAT) copy_numbers(feature, RHEOS_FLOAT, out_values);
}

void rheos_feature_ints(const rheos_feature *feature, int64_t *out_values) {
  if (feature == NULL || out_values == NULL) return;
  if (feature->dtype == RHEOS_INT64) copy_numbers(feature, RHEOS_INT64, out_values);
}

rheos_status *rheos_feature_tensor(const rheos_feature *feature, rheos_tensor **out_tensor) {
  RHEOS_OUT(out_tensor);
  RHEOS_NEED(feature);
  if (feature->dtype == RHEOS_INVALID_DTYPE) {
    return RHEOS_INVALID("feature '%.*s' holds no list", (int)feature->key.size_bytes,
                         feature->key.data);
  }
  rheos_tensor *tensor;
  RHEOS_TRY(rheos_tensor_new(feature->dtype, RHEOS_SHAPE(feature->count), &tensor));
  int64_t unused;
  rheos__feature_values(feature->dtype, rheos__wire_of(feature->list_, feature->list_bytes_),
                        tensor, 0, feature->count, &unused);
  rheos_status *status = feature->dtype == RHEOS_STRING ? rheos__tensor_own_strings(tensor) : NULL;
  if (status != NULL) {
    rheos_tensor_unref(tensor);
    return status;
  }
  *out_tensor = tensor;
  return NULL;
}

// ---- Described features

// The specs as columns: those of a known shape dense, the others ragged, of which only the values
// are taken.
typedef struct parse {
  rheos__column_group group;
  rheos_string *keys;
  rheos_dtype *dtypes, *split_dtypes;
  rheos_shape *shapes;
  rheos_tensor **standbys;
  rheos_tensor **outputs;
  int32_t *columns;  // of the specs
} parse;

static bool is_dense(const rheos_feature_spec *spec) { return spec->shape.rank >= 0; }

static rheos_status *check_spec(const rheos_feature_spec *spec) {
  const rheos_dtype dtype = spec->dtype;
  if (dtype != RHEOS_STRING && dtype != RHEOS_FLOAT && dtype != RHEOS_INT64) {
    return RHEOS_INVALID("feature '%s': an Example has no values of dtype %s", spec->key,
                         rheos_dtype_name(dtype));
  }
  if (is_dense(spec) && !rheos_shape_is_known(&spec->shape)) {
    rheos__shape_text text;
    return RHEOS_INVALID("feature '%s': the shape %s is not known in all dimensions", spec->key,
                         rheos__shape_text_of(&spec->shape, &text));
  }
  if (spec->default_value == NULL || spec->default_value->dtype == dtype) return NULL;
  return RHEOS_INVALID("feature '%s' is of dtype %s, its default value of %s", spec->key,
                       rheos_dtype_name(dtype), rheos_dtype_name(spec->default_value->dtype));
}

static rheos_status *describe(const rheos_feature_spec *specs, int32_t count, rheos__arena *arena,
                              parse *p) {
  const size_t n = (size_t)count;
  p->keys = rheos__arena_alloc(arena, n * sizeof *p->keys);
  p->dtypes = rheos__arena_alloc(arena, n * sizeof *p->dtypes);
  p->split_dtypes = rheos__arena_alloc(arena, n * sizeof *p->split_dtypes);
  p->shapes = rheos__arena_alloc(arena, n * sizeof *p->shapes);
  p->standbys = rheos__arena_alloc(arena, n * sizeof *p->standbys);
  p->outputs = rheos__arena_alloc_zeroed(arena, 2 * n * sizeof *p->outputs);
  p->columns = rheos__arena_alloc(arena, n * sizeof *p->columns);
  if (p->keys == NULL || p->dtypes == NULL || p->split_dtypes == NULL || p->shapes == NULL ||
      p->standbys == NULL || p->outputs == NULL || p->columns == NULL) {
    return rheos__out_of_memory();
  }
  int32_t at = 0;
  for (int dense = 1; dense >= 0; dense--) {
    for (int32_t i = 0; i < count; i++) {
      if (is_dense(&specs[i]) != (bool)dense) continue;
      RHEOS_TRY(check_spec(&specs[i]));
      p->keys[at] = rheos__borrow_string(specs[i].key, strlen(specs[i].key));
      p->dtypes[at] = specs[i].dtype;
      p->split_dtypes[at] = RHEOS_INT64;
      p->shapes[at] = specs[i].shape;
      p->standbys[at] = specs[i].default_value;
      p->columns[i] = at++;
    }
    if (dense) p->group.num_dense = at;
  }
  p->group.num_ragged = count - p->group.num_dense;
  p->group.dense_types = p->dtypes;
  p->group.dense_shapes = p->shapes;
  p->group.ragged_types = p->dtypes + p->group.num_dense;
  p->group.split_types = p->split_dtypes;
  return NULL;
}

static rheos_status *run(parse *p, const rheos_string *message) {
  rheos__columns columns = {
      .words = RHEOS__WORDS_EXAMPLE, .single = true, .batch = 1, .serialized = message};
  rheos_status *status = rheos__columns_init(&columns, &p->group, p->keys, p->standbys);
  if (status == NULL) {
    status = rheos__columns_parse_features(&columns, RHEOS__EXAMPLE_FEATURES, NULL);
  }
  if (status == NULL) status = rheos__columns_dense(&columns, p->outputs);
  if (status == NULL) status = rheos__columns_ragged(&columns, p->outputs + p->group.num_dense);
  rheos__columns_deinit(&columns);
  return status;
}

rheos_status *rheos_example_parse(const void *data, size_t size_bytes,
                                  const rheos_feature_spec *specs, size_t num_specs,
                                  rheos_tensor **out_tensors) {
  RHEOS_NEED_BYTES(data, size_bytes);
  RHEOS_NEED_LIST(specs, num_specs);
  RHEOS_NEED_LIST(out_tensors, num_specs);
  for (size_t i = 0; i < num_specs; i++) out_tensors[i] = NULL;
  for (size_t i = 0; i < num_specs; i++) RHEOS_NEED(specs[i].key);
  if (num_specs > INT32_MAX / 4) return RHEOS_INVALID("%zu features are too many", num_specs);
  rheos__arena arena;
  rheos__arena_init(&arena);
  parse p = {0};
  const rheos_string message = string_of(rheos__wire_of(data, size_bytes));
  rheos_status *status = describe(specs, (int32_t)num_specs, &arena, &p);
  if (status == NULL) status = run(&p, &message);
  for (size_t i = 0; p.outputs != NULL && i < 2 * num_specs; i++) {
    // The splits of ragged columns, and everything after a failure.
    if (status != NULL || i >= num_specs) rheos_tensor_unref(p.outputs[i]);
  }
  for (size_t i = 0; status == NULL && i < num_specs; i++) {
    out_tensors[i] = p.outputs[p.columns[i]];
  }
  rheos__arena_deinit(&arena);
  return status;
}
