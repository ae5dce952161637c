// Lookup tables: making them, filling them, looking things up. Each op exists twice: for handles
// that are references (TensorFlow's first version) and for resources. The tables themselves are in
// resource/lookup_table.c.
#include <string.h>

#include "ops/kit/array_util.h"
#include "ops/kit/op_util.h"
#include "ops/state/lookup_util.h"

// ---- Making a table

typedef struct make_state {
  rheos__resource *table;
} make_state;

static rheos_status *check_spec(const rheos__table_spec *spec) {
  if (!rheos__table_takes_key(spec->key_dtype) || !rheos__table_takes_value(spec->value_dtype)) {
    return rheos_status_new(RHEOS_UNIMPLEMENTED, "there are no tables from %s to %s",
                            rheos_dtype_name(spec->key_dtype), rheos_dtype_name(spec->value_dtype));
  }
  return NULL;
}

static rheos_status *check_same_spec(const char *name, const rheos__table_spec *held,
                                     const rheos__table_spec *wanted) {
  if (held->is_fixed == wanted->is_fixed && held->key_dtype == wanted->key_dtype &&
      held->value_dtype == wanted->value_dtype &&
      rheos_shape_equal(&held->value_shape, &wanted->value_shape)) {
    return NULL;
  }
  return RHEOS_INVALID("Conflicting key/value dtypes %s->%s with %s-%s for table %s",
                       rheos_dtype_name(wanted->key_dtype), rheos_dtype_name(wanted->value_dtype),
                       rheos_dtype_name(held->key_dtype), rheos_dtype_name(held->value_dtype),
                       name);
}

static void unref_table(void *state) { rheos__resource_unref(((make_state *)state)->table); }

static rheos_status *make_table(rheos__prepare *p, bool is_fixed, rheos_shape value_shape) {
  const rheos__table_spec spec = {is_fixed, rheos__attr_type(p->attrs, "key_dtype"),
                                  rheos__attr_type(p->attrs, "value_dtype"), value_shape};
  RHEOS_TRY(check_spec(&spec));
  make_state *state = RHEOS_NEW_STATE(p, make_state);
  if (state == NULL) return rheos__out_of_memory();
  RHEOS_TRY(rheos__named_resource(p, &rheos__table_kind, &spec, &state->table));
  rheos_status *status = check_same_spec(state->table->name,
                                         rheos__table_spec_of((rheos__table *)state->table), &spec);
  if (status != NULL) {
    unref_table(state);
    return status;
  }
  p->release = unref_table;
  p->output_resource = state->table;
  return NULL;
}

static rheos_status *prepare_fixed(rheos__prepare *p) { return make_table(p, true, RHEOS_SCALAR); }

static rheos_status *prepare_mutable(rheos__prepare *p) {
  return make_table(p, false, RHEOS_SCALAR);
}

static rheos_status *check_value_shape(const rheos_shape *shape, bool scalar) {
  if (rheos_shape_is_known(shape) && (shape->rank == 1 || (scalar && shape->rank == 0))) {
    return NULL;
  }
  rheos__shape_text text;
  return RHEOS_INVALID("Default value must be a vector, got shape %s",
                       rheos__shape_text_of(shape, &text));
}

static rheos_status *prepare_of_tensors(rheos__prepare *p) {
  const rheos_shape shape = rheos__attr_shape(p->attrs, "value_shape");
  RHEOS_TRY(check_value_shape(&shape, false));
  return make_table(p, false, shape);
}

// A reference to a table has the shape of its two strings in TensorFlow's first version.
static rheos_status *shape_handle(rheos__infer *c) {
  if (rheos_dtype_is_ref(c->output_dtypes[0])) {
    c->output_shapes[0] = RHEOS_SHAPE(2);
    return NULL;
  }
  return rheos__shape_scalar(c);
}

// A key is one element, or a vector.
static rheos_status *shape_dense(rheos__infer *c) {
  RHEOS_TRY(rheos__infer_rank_at_most(c, 0, 1));
  return shape_handle(c);
}

static rheos_status *compute_reserve(void *argument, rheos__step *step, rheos_tensor *const *inputs,
                                     rheos_tensor **outputs) {
  (void)step, (void)outputs;
  const make_state *state = argument;
  return rheos__table_reserve((rheos__table *)state->table, inputs[0], inputs[1]);
}

static rheos_status *compute_reserve_one(void *argument, rheos__step *step,
                                         rheos_tensor *const *inputs, rheos_tensor **outputs) {
  (void)step, (void)outputs;
  const make_state *state = argument;
  return rheos__table_reserve((rheos__table *)state->table, inputs[0], NULL);
}

static rheos_status *prepare_dense(rheos__prepare *p) {
  const int64_t buckets = rheos__attr_int(p->attrs, "initial_num_buckets");
  if (buckets < 4 || (buckets & (buckets - 1)) != 0) {
    return RHEOS_INVALID("Number of buckets must be at least 4 and a power of 2, got: %lld",
                         (long long)buckets);
  }
  const float load = rheos__attr_float(p->attrs, "max_load_factor");
  if (!(load > 0 && load < 1)) {
    return RHEOS_INVALID("max_load_factor must be between 0 and 1, got: %g", (double)load);
  }
  for (int32_t i = 0; i < p->num_inputs; i++) {
    if (p->input_shapes[i].rank == 0) continue;
    return rheos_status_new(RHEOS_UNIMPLEMENTED,
                            "tables with keys that are tensors are not "
                            "supported");
  }
  const rheos_shape shape = rheos__attr_shape(p->attrs, "value_shape");
  RHEOS_TRY(check_value_shape(&shape, true));
  RHEOS_TRY(make_table(p, false, shape));
  p->compute = p->num_inputs == 2 ? compute_reserve : compute_reserve_one;
  return NULL;
}

#define NAMING                                                                           \
  "container: string = \"\"; shared_name: string = \"\"; use_node_name_sharing: bool = " \
  "false; key_dtype: type; value_dtype: type"

#define TABLE_OP(op_name, inputs_text, handle, more, text, prepare_fn) \
  TABLE_OP_OF(op_name, inputs_text, handle, more, text, shape_handle, prepare_fn)
#define TABLE_OP_OF(op_name, inputs_text, handle, more, text, shape_fn, prepare_fn) \
  const rheos__op_def rheos__op_##op_name = {                                       \
      .name = #op_name,                                                             \
      .signature = inputs_text "-> table_handle: " handle "; " NAMING more,         \
      .doc = text,                                                                  \
      .flags = RHEOS_OP_STATEFUL,                                                   \
      .shape = shape_fn,                                                            \
      .gradient = rheos__no_gradient,                                               \
      .prepare = prepare_fn,                                                        \
  };

#define VALUE_SHAPE "; value_shape: shape = {}"
#define BUCKETS VALUE_SHAPE "; initial_num_buckets: int = 131072; max_load_factor: float = 0.8"

TABLE_OP(HashTable, "", "Ref(string)", "", "A table that is filled once by an initializer.",
         prepare_fixed)
TABLE_OP(HashTableV2, "", "resource", "", "A table that is filled once by an initializer.",
         prepare_fixed)
TABLE_OP(MutableHashTable, "", "Ref(string)", "", "A table that entries can be put into.",
         prepare_mutable)
TABLE_OP(MutableHashTableV2, "", "resource", "", "A table that entries can be put into.",
         prepare_mutable)
TABLE_OP(MutableHashTableOfTensors, "", "Ref(string)", VALUE_SHAPE,
         "A table of vectors that entries can be put into.", prepare_of_tensors)
TABLE_OP(MutableHashTableOfTensorsV2, "", "resource", VALUE_SHAPE,
         "A table of vectors that entries can be put into.", prepare_of_tensors)
TABLE_OP_OF(MutableDenseHashTable, "empty_key: key_dtype ", "Ref(string)", BUCKETS,
            "A table that entries can be put into, except under `empty_key`.", shape_dense,
            prepare_dense)
TABLE_OP_OF(MutableDenseHashTableV2, "empty_key: key_dtype, deleted_key: key_dtype ", "resource",
            BUCKETS,
            "A table that entries can be put into, except under `empty_key` and `deleted_key`.",
            shape_dense, prepare_dense)

// ---- On a table

rheos_status *rheos__table_of(const rheos__prepare *p, rheos__table **out_table) {
  rheos__resource *resource = p->input_resources[0];
  *out_table = NULL;
  if (resource == NULL) return RHEOS_INVALID("input 0 is not a lookup table");
  if (resource->kind != &rheos__table_kind) {
    return RHEOS_INVALID("%s is a %s, not a lookup table", resource->name, resource->kind->name);
  }
  *out_table = (rheos__table *)resource;
  return NULL;
}

// Fails unless these are the dtypes of the table; an invalid one is not asked about.
static rheos_status *check_dtypes(const rheos__table *table, rheos_dtype key, rheos_dtype value) {
  const rheos__table_spec *spec = rheos__table_spec_of(table);
  if ((key == spec->key_dtype || key == RHEOS_INVALID_DTYPE) &&
      (value == spec->value_dtype || value == RHEOS_INVALID_DTYPE)) {
    return NULL;
  }
  return RHEOS_INVALID("Signature mismatch: the table is from %s to %s, asked for from %s to %s",
                       rheos_dtype_name(spec->key_dtype), rheos_dtype_name(spec->value_dtype),
                       rheos_dtype_name(key),
                       value != RHEOS_INVALID_DTYPE ? rheos_dtype_name(value) : "any");
}

// Prepares a kernel with the table as its state; the second and third input are keys and values.
static rheos_status *prepare_on(rheos__prepare *p, rheos__compute_fn compute) {
  rheos__table *table;
  RHEOS_TRY(rheos__table_of(p, &table));
  const rheos_dtype key = p->num_inputs > 1 ? p->input_dtypes[1] : RHEOS_INVALID_DTYPE;
  const rheos_dtype value = p->num_inputs > 2 ? p->input_dtypes[2] : RHEOS_INVALID_DTYPE;
  RHEOS_TRY(check_dtypes(table, key, value));
  p->state = table;
  p->compute = compute;
  return NULL;
}

static rheos_status *compute_initialize(void *table, rheos__step *step, rheos_tensor *const *inputs,
                                        rheos_tensor **outputs) {
  (void)step, (void)outputs;
  if (inputs[1]->num_elements == 0) {
    return RHEOS_INVALID("keys and values cannot be empty tensors");
  }
  return rheos__table_initialize(table, inputs[1], inputs[2], rheos__is_stopping);
}

static rheos_status *compute_find(void *table, rheos__step *step, rheos_tensor *const *inputs,
                                  rheos_tensor **outputs) {
  (void)step;
  return rheos__table_find(table, inputs[1], inputs[2], rheos__is_stopping, &outputs[0]);
}

static rheos_status *compute_insert(void *table, rheos__step *step, rheos_tensor *const *inputs,
                                    rheos_tensor **outputs) {
  (void)step, (void)outputs;
  return rheos__table_insert(table, inputs[1], inputs[2], rheos__is_stopping);
}

static rheos_status *compute_import(void *table, rheos__step *step, rheos_tensor *const *inputs,
                                    rheos_tensor **outputs) {
  (void)step, (void)outputs;
  return rheos__table_import(table, inputs[1], inputs[2], rheos__is_stopping);
}

static rheos_status *compute_remove(void *table, rheos__step *step, rheos_tensor *const *inputs,
                                    rheos_tensor **outputs) {
  (void)step, (void)outputs;
  return rheos__table_remove(table, inputs[1]);
}

static rheos_status *compute_export(void *table, rheos__step *step, rheos_tensor *const *inputs,
                                    rheos_tensor **outputs) {
  (void)step, (void)inputs;
  return rheos__table_export(table, &outputs[0], &outputs[1]);
}

static rheos_status *compute_size(void *table, rheos__step *step, rheos_tensor *const *inputs,
                                  rheos_tensor **outputs) {
  (void)step, (void)inputs;
  const int64_t size = rheos__table_size(table);
  return rheos_tensor_from_values(RHEOS_INT64, RHEOS_SCALAR, &size, &outputs[0]);
}

static rheos_status *prepare_initialize(rheos__prepare *p) {
  return prepare_on(p, compute_initialize);
}
static rheos_status *prepare_find(rheos__prepare *p) { return prepare_on(p, compute_find); }
static rheos_status *prepare_insert(rheos__prepare *p) { return prepare_on(p, compute_insert); }
static rheos_status *prepare_import(rheos__prepare *p) { return prepare_on(p, compute_import); }
static rheos_status *prepare_remove(rheos__prepare *p) { return prepare_on(p, compute_remove); }
static rheos_status *prepare_size(rheos__prepare *p) { return prepare_on(p, compute_size); }

static rheos_status *prepare_export(rheos__prepare *p) {
  RHEOS_TRY(prepare_on(p, compute_export));
  return check_dtypes(p->state, p->output_dtypes[0], p->output_dtypes[1]);
}

// The keys' shape and that of a value: the table's, if it is known what the table is; with a scalar
// for the default, each value is a scalar.
static rheos_status *shape_find(rheos__infer *c) {
  RHEOS_TRY(rheos__infer_handle(c, 0));
  if (c->input_dtypes[0] != RHEOS_RESOURCE) RHEOS_TRY(rheos__infer_rank_at_most(c, 2, 1));
  rheos_shape found = c->input_shapes[1];
  rheos_shape value = RHEOS_UNKNOWN_SHAPE;
  if (c->input_shapes[2].rank == 0) {
    value = RHEOS_SCALAR;
  } else if (c->input_dtypes[0] == RHEOS_RESOURCE) {
    value = rheos__infer_variable_shape(c, 0);
  }
  if (found.rank < 0 || value.rank < 0) return NULL;
  for (int32_t i = 0; i < value.rank; i++) {
    RHEOS_TRY(rheos__shape_append(&found, value.dims[i]));
  }
  c->output_shapes[0] = found;
  return NULL;
}

static rheos_status *shape_initialize(rheos__infer *c) {
  rheos_shape keys, values;
  RHEOS_TRY(rheos__infer_handle(c, 0));
  RHEOS_TRY(rheos__infer_rank(c, 1, 1, &keys));
  RHEOS_TRY(rheos__infer_rank(c, 2, 1, &values));
  return rheos__shape_merge(&keys, &values, &keys);
}

static rheos_status *shape_on_table(rheos__infer *c) { return rheos__infer_handle(c, 0); }

// The newer version wants a vector of keys.
static rheos_status *shape_import(rheos__infer *c) {
  RHEOS_TRY(rheos__infer_handle(c, 0));
  if (c->input_dtypes[0] != RHEOS_RESOURCE) return NULL;
  rheos_shape keys;
  RHEOS_TRY(rheos__infer_rank(c, 1, 1, &keys));
  RHEOS_TRY(rheos__infer_rank_at_least(c, 2, 1));
  return rheos__infer_same_rows(c, 1, 2);
}

static rheos_status *shape_remove(rheos__infer *c) {
  RHEOS_TRY(rheos__infer_handle(c, 0));
  return rheos__infer_rank_at_least(c, 1, 1);
}

static rheos_status *shape_size(rheos__infer *c) {
  RHEOS_TRY(rheos__infer_handle(c, 0));
  return rheos__shape_scalar(c);
}

static rheos_status *shape_export(rheos__infer *c) {
  RHEOS_TRY(rheos__infer_handle(c, 0));
  c->output_shapes[0] = RHEOS_SHAPE(-1);
  return NULL;
}

#define HANDLE "table_handle: "

// An op for both kinds of handles.
#define ON_TABLE(v1, v2, rest, text, flags_, shape_fn, gradient_fn, prepare_fn)        \
  ON_TABLE_1(v1, "Ref(string)", rest, text, flags_, shape_fn, gradient_fn, prepare_fn) \
  ON_TABLE_1(v2, "resource", rest, text, flags_, shape_fn, gradient_fn, prepare_fn)
#define ON_TABLE_1(op_name, handle, rest, text, flags_, shape_fn, gradient_fn, prepare_fn) \
  const rheos__op_def rheos__op_##op_name = {                                              \
      .name = #op_name,                                                                    \
      .signature = HANDLE handle rest,                                                     \
      .doc = text,                                                                         \
      .flags = RHEOS_OP_STATEFUL | (flags_),                                               \
      .shape = shape_fn,                                                                   \
      .gradient = gradient_fn,                                                             \
      .prepare = prepare_fn,                                                               \
  };

ON_TABLE(InitializeTable, InitializeTableV2,
         ", keys: Tkey, values: Tval ->; Tkey: type; Tval: type",
         "Fills a HashTable with `values` under `keys`.", RHEOS_OP_WRITES, shape_initialize,
         rheos__no_gradient, prepare_initialize)
ON_TABLE(LookupTableExport, LookupTableExportV2,
         " -> keys: Tkeys, values: Tvalues; Tkeys: type; Tvalues: type",
         "All keys of the table and their values.", 0, shape_export, NULL, prepare_export)
ON_TABLE(LookupTableFind, LookupTableFindV2,
         ", keys: Tin, default_value: Tout -> values: Tout; Tin: type; Tout: type",
         "The value of each key, `default_value` for those that are not in the table.", 0,
         shape_find, rheos__no_gradient, prepare_find)
ON_TABLE(LookupTableImport, LookupTableImportV2,
         ", keys: Tin, values: Tout ->; Tin: type; Tout: type",
         "Replaces all that is in the table by `values` under `keys`.", RHEOS_OP_WRITES,
         shape_import, NULL, prepare_import)
ON_TABLE(LookupTableInsert, LookupTableInsertV2,
         ", keys: Tin, values: Tout ->; Tin: type; Tout: type",
         "Puts `values` under `keys` into the table.", RHEOS_OP_WRITES, shape_on_table,
         rheos__no_gradient, prepare_insert)
ON_TABLE(LookupTableSize, LookupTableSizeV2, " -> size: int64", "How many keys the table has.", 0,
         shape_size, rheos__no_gradient, prepare_size)
ON_TABLE_1(LookupTableRemoveV2, "resource", ", keys: Tin ->; Tin: type",
           "Takes `keys` and their values out of the table.", RHEOS_OP_WRITES, shape_remove, NULL,
           prepare_remove)
