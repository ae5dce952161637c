// Lookup tables: a kind of resource that maps keys to values, each value one element or a vector.
// Every function here may be called from any thread; none changes a table partly when it refuses
// its arguments.
#ifndef RHEOS_SRC_RESOURCE_LOOKUP_TABLE_H
#define RHEOS_SRC_RESOURCE_LOOKUP_TABLE_H

#include "resource/resource.h"

// What a table is made for; the argument of a new one.
typedef struct rheos__table_spec {
  bool
      is_fixed;  // filled once by an initializer, and not to be read before; else it can be changed
  rheos_dtype key_dtype, value_dtype;
  rheos_shape value_shape;  // of each value: a scalar or a vector
} rheos__table_spec;

typedef struct rheos__table rheos__table;

extern const rheos__resource_kind rheos__table_kind;

// Whether keys or values can be of that dtype.
bool rheos__table_takes_key(rheos_dtype dtype);
bool rheos__table_takes_value(rheos_dtype dtype);

const rheos__table_spec *rheos__table_spec_of(const rheos__table *table);
int64_t rheos__table_size(rheos__table *table);

// Keys that mean "none", of a dense table: nobody may look them up or insert them. Sets them once;
// a status if there are others already.
rheos_status *rheos__table_reserve(rheos__table *table, const rheos_tensor *empty_key,
                                   const rheos_tensor *deleted_key);

// Says whether to stop, which is asked between some thousands of keys; NULL: never. What was put in
// until then stays.
typedef bool (*rheos__table_stops)(void);

// Fills a fixed table from vectors of keys and values. A table that is filled already stays as it
// is: a status unless the number of keys is the same.
rheos_status *rheos__table_initialize(rheos__table *table, const rheos_tensor *keys,
                                      const rheos_tensor *values, rheos__table_stops stops);
// The values of keys, `default_value` (of a value's shape, or one for each key) for those not
// there.
rheos_status *rheos__table_find(rheos__table *table, const rheos_tensor *keys,
                                const rheos_tensor *default_value, rheos__table_stops stops,
                                rheos_tensor **out_values);
rheos_status *rheos__table_insert(rheos__table *table, const rheos_tensor *keys,
                                  const rheos_tensor *values, rheos__table_stops stops);
rheos_status *rheos__table_remove(rheos__table *table, const rheos_tensor *keys);
// Replaces all that is in the table; a fixed one is initialized.
rheos_status *rheos__table_import(rheos__table *table, const rheos_tensor *keys,
                                  const rheos_tensor *values, rheos__table_stops stops);
// All keys and values, in the order they came in unless some were removed.
rheos_status *rheos__table_export(rheos__table *table, rheos_tensor **out_keys,
                                  rheos_tensor **out_values);

#endif  // RHEOS_SRC_RESOURCE_LOOKUP_TABLE_H
