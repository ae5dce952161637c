// What the ops that parse examples share. An op asks for columns: features by key, each as a dense,
// a sparse or a ragged tensor over all examples. Parsing finds for each example the list of each
// column (a cell), still as bytes; the tensors are made of the cells, so that their sizes are known
// before.
#ifndef RHEOS_SRC_OPS_IO_PARSE_COLUMNS_H
#define RHEOS_SRC_OPS_IO_PARSE_COLUMNS_H

#include "codec/example.h"
#include "graph/op_def.h"

// ---- What an op's attributes say about the columns of one map: features, context or feature lists

typedef struct rheos__column_group {
  int32_t num_sparse, num_dense, num_ragged;
  const rheos_dtype *sparse_types, *dense_types, *ragged_types, *split_types;
  const rheos_shape *dense_shapes;
} rheos__column_group;

// The names of these attributes; NULL for what the op does not have.
typedef struct rheos__column_attrs {
  const char *sparse_types, *dense_types, *dense_shapes, *ragged_types, *split_types;
} rheos__column_attrs;
rheos_status *rheos__column_group_of(const rheos__attrs *attrs, const rheos__column_attrs *names,
                                     rheos__column_group *out_group);
// The number of values in a dense row: all of them, or those behind a first dimension that varies.
rheos_status *rheos__dense_stride(const rheos_shape *shape, bool *out_varies, int64_t *out_stride);

// Shape functions: the three outputs of `count` sparse columns, of that rank (-1: not known), and
// those of the dense columns, whose shapes stand behind `prefix`.
void rheos__infer_sparse_columns(rheos__infer *c, int32_t first, int32_t count, int64_t rank);
rheos_status *rheos__infer_dense_columns(rheos__infer *c, int32_t first,
                                         const rheos__column_group *group,
                                         const rheos_shape *prefix);

// ---- Inputs

// The messages: a vector, or perhaps one.
rheos_status *rheos__check_serialized(const rheos_shape *shape, bool may_be_scalar);
// Their names, NULL where there are none; else as many as messages.
rheos_status *rheos__parse_names(const rheos_tensor *names, const rheos_tensor *serialized,
                                 const rheos_string **out_names);
// The one key in a tensor of `what`, of any shape.
rheos_status *rheos__parse_key(const rheos_tensor *tensor, const char *what, rheos_string *out_key);
// Puts the keys in a tensor, which are to be `count`, behind `*at` others.
rheos_status *rheos__parse_keys(rheos_string *keys, int32_t *at, const rheos_tensor *tensor,
                                int32_t count, const char *what, const char *expected);

// ---- Columns

typedef struct rheos__cell {
  rheos__wire list;
  int64_t count;  // of values
  bool packed;    // `list` is the data of its one field
} rheos__cell;

typedef enum rheos__column_kind {
  RHEOS__COLUMN_DENSE,    // a fixed number of values in each row
  RHEOS__COLUMN_VARYING,  // dense with any number of rows of a fixed size, padded
  RHEOS__COLUMN_SPARSE,
  RHEOS__COLUMN_RAGGED,
} rheos__column_kind;

typedef struct rheos__column {
  rheos__column_kind kind;
  rheos_string key;  // borrowed
  rheos_dtype dtype, split_dtype;
  rheos_shape shape;            // of dense values, as the attribute has it
  int64_t stride;               // number of values in a dense row
  const rheos_tensor *standby;  // the value for a missing or padded one; may be NULL
  bool may_be_missing;          // of dense feature lists
  rheos__cell *cells;  // one for each example; of feature lists for each step of each example
  size_t num_cells, capacity;
  int64_t *steps;       // of feature lists: for each example how many
  rheos_tensor *dense;  // filled while parsing, of kind DENSE
} rheos__column;

// How errors are worded, and what a Feature without a list means.
typedef enum rheos__parse_words {
  RHEOS__WORDS_EXAMPLES,
  RHEOS__WORDS_EXAMPLE,
  RHEOS__WORDS_CONTEXTS,  // of ParseSequenceExample
  RHEOS__WORDS_CONTEXT,   // of ParseSingleSequenceExample
  RHEOS__WORDS_LISTS,
  RHEOS__WORDS_LIST,
} rheos__parse_words;

typedef struct rheos__key {
  rheos_string key;
  int32_t column;
} rheos__key;

typedef struct rheos__columns {
  rheos__parse_words words;
  bool single;                             // the outputs have no dimension for the examples
  int64_t batch;                           // number of examples
  const rheos_string *serialized, *names;  // of the examples; names may be NULL
  rheos__column *items;                    // sparse ones, dense ones, ragged ones
  int32_t count;
  const rheos__column_group *group;
  rheos__key *by_key;  // the columns in the order of their keys
} rheos__columns;

// Columns of a group with these keys: sparse, dense and ragged ones. The standbys are those of the
// dense ones, or NULL. What precedes `items` is set already. To be freed by deinit, also after a
// failure.
rheos_status *rheos__columns_init(rheos__columns *columns, const rheos__column_group *group,
                                  const rheos_string *keys, rheos_tensor *const *standbys);
void rheos__columns_deinit(rheos__columns *columns);
// The first place in by_key that does not stand before the key.
int32_t rheos__columns_find(const rheos__columns *columns, rheos__wire key);
static inline bool rheos__column_is_dense(const rheos__column *column) {
  return column->kind == RHEOS__COLUMN_DENSE || column->kind == RHEOS__COLUMN_VARYING;
}

// [batch, inner...], or the inner shape alone where there is a single example.
rheos_status *rheos__columns_batch_shape(const rheos__columns *columns, const rheos_shape *inner,
                                         rheos_shape *out_shape);

// Finds the cells of all examples in the maps in field `field` of the messages.
rheos_status *rheos__columns_parse_features(rheos__columns *columns, uint32_t field,
                                            rheos__step *step);
// As rheos__columns_parse_features(), in FeatureLists.
rheos_status *rheos__columns_parse_lists(rheos__columns *columns);

// ---- Outputs, `outputs` pointing to the first one of each kind

// indices[num], values[num], shapes[num]
rheos_status *rheos__columns_sparse(const rheos__columns *columns, rheos_tensor **outputs);
rheos_status *rheos__columns_dense(rheos__columns *columns, rheos_tensor **outputs);
// Dense feature lists: values[num], lengths[num] (unless there are to be none).
rheos_status *rheos__columns_dense_lists(rheos__columns *columns, bool lengths,
                                         rheos_tensor **outputs);
// values[num], splits[num]; of feature lists values[num], outer_splits[num], inner_splits[num].
rheos_status *rheos__columns_ragged(const rheos__columns *columns, rheos_tensor **outputs);

// ---- Errors

typedef enum rheos__parse_failure {
  RHEOS__FAILURE_MALFORMED,    // the whole message
  RHEOS__FAILURE_UNPARSED,     // a list
  RHEOS__FAILURE_UNSUPPORTED,  // a list of another kind
  RHEOS__FAILURE_TYPE,
  RHEOS__FAILURE_COUNT,
  RHEOS__FAILURE_MULTIPLE,
  RHEOS__FAILURE_MISSING,
} rheos__parse_failure;

typedef struct rheos__parse_place {
  const rheos__columns *columns;
  const rheos__column *column;  // NULL: the message
  int64_t example, step;
  int64_t count;      // of values
  rheos_dtype dtype;  // of values
} rheos__parse_place;
// In the words that TensorFlow's op has for it.
rheos_status *rheos__parse_failed(const rheos__parse_place *place, rheos__parse_failure failure);

#endif  // RHEOS_SRC_OPS_IO_PARSE_COLUMNS_H
