// Messages of training data: Example (features by key) and SequenceExample (features of the whole,
// and lists of features, one a step), as TensorFlow has them in files of records. Built and read
// without protobuf.
#ifndef RHEOS_EXAMPLES_H
#define RHEOS_EXAMPLES_H

#include <rheos/tensor.h>

#ifdef __cplusplus
extern "C" {
#endif

// ---- Building

// Collects features, then gives the message. Where memory is short the functions that add do
// nothing, and the message cannot be had. One thread at a time.
typedef struct rheos_example_builder rheos_example_builder;

RHEOS_API rheos_example_builder *rheos_example_builder_new(void);  // NULL when memory is short
RHEOS_API void rheos_example_builder_free(rheos_example_builder *builder);
// Forgets all features and errors but keeps the memory, for the next message.
RHEOS_API void rheos_example_builder_clear(rheos_example_builder *builder);

// Adds values to the feature `key` of the Example, or of the SequenceExample's context, which is
// made if it is not there. Values are copied. A feature of another kind is an error, told when the
// message is asked for.
RHEOS_API void rheos_example_builder_add_bytes(rheos_example_builder *builder, const char *key,
                                               const rheos_string *values, size_t count);
RHEOS_API void rheos_example_builder_add_floats(rheos_example_builder *builder, const char *key,
                                                const float *values, size_t count);
RHEOS_API void rheos_example_builder_add_ints(rheos_example_builder *builder, const char *key,
                                              const int64_t *values, size_t count);
// One string, up to its NUL.
RHEOS_API void rheos_example_builder_add_text(rheos_example_builder *builder, const char *key,
                                              const char *text);

// Adds a step to the list of features `key` of a SequenceExample.
RHEOS_API void rheos_example_builder_step_bytes(rheos_example_builder *builder, const char *key,
                                                const rheos_string *values, size_t count);
RHEOS_API void rheos_example_builder_step_floats(rheos_example_builder *builder, const char *key,
                                                 const float *values, size_t count);
RHEOS_API void rheos_example_builder_step_ints(rheos_example_builder *builder, const char *key,
                                               const int64_t *values, size_t count);

// The message, valid until the builder is used again: an Example, which must not have lists of
// features, or a SequenceExample. Keys are sorted: the same features give the same bytes.
RHEOS_STATUS rheos_example_builder_example(rheos_example_builder *builder, const void **out_data,
                                           size_t *out_size_bytes);
RHEOS_STATUS rheos_example_builder_sequence(rheos_example_builder *builder, const void **out_data,
                                            size_t *out_size_bytes);

// ---- Reading

// The values of a feature, in the bytes of the message.
typedef struct rheos_feature {
  rheos_string key;   // not NUL-terminated
  rheos_dtype dtype;  // RHEOS_STRING, RHEOS_FLOAT, RHEOS_INT64; RHEOS_INVALID_DTYPE: no list at all
  int64_t count;      // of values
  const void *list_;
  size_t list_bytes_;
} rheos_feature;

typedef struct rheos_example rheos_example;

// Reads the message, which stays the caller's and must outlive the example. RHEOS_DATA_LOSS if the
// bytes are not such a message.
RHEOS_STATUS rheos_example_read(const void *data, size_t size_bytes, rheos_example **out_example);
RHEOS_STATUS rheos_sequence_example_read(const void *data, size_t size_bytes,
                                         rheos_example **out_example);
RHEOS_API void rheos_example_free(rheos_example *example);  // NULL is accepted

// The features of the Example, or of the context, sorted by key.
RHEOS_API size_t rheos_example_num_features(const rheos_example *example);
RHEOS_API rheos_feature rheos_example_feature(const rheos_example *example, size_t index);
// The feature of that key; false if there is none.
RHEOS_API bool rheos_example_find(const rheos_example *example, const char *key,
                                  rheos_feature *out_feature);

// The lists of features of a SequenceExample, sorted by key.
RHEOS_API size_t rheos_example_num_lists(const rheos_example *example);
RHEOS_API rheos_string rheos_example_list_key(const rheos_example *example, size_t list);
RHEOS_API size_t rheos_example_list_steps(const rheos_example *example, size_t list);
RHEOS_API rheos_feature rheos_example_list_feature(const rheos_example *example, size_t list,
                                                   size_t step);
RHEOS_API bool rheos_example_find_list(const rheos_example *example, const char *key,
                                       size_t *out_list);

// Copies all values of the feature, `count` of them; it must be of the dtype. Strings are borrowed
// from the message.
RHEOS_API void rheos_feature_strings(const rheos_feature *feature, rheos_string *out_values);
RHEOS_API void rheos_feature_floats(const rheos_feature *feature, float *out_values);
RHEOS_API void rheos_feature_ints(const rheos_feature *feature, int64_t *out_values);
// A vector of the values.
RHEOS_STATUS rheos_feature_tensor(const rheos_feature *feature, rheos_tensor **out_tensor);

// ---- Parsing: tensors of described features

typedef struct rheos_feature_spec {
  const char *key;    // the name of the feature
  rheos_dtype dtype;  // RHEOS_STRING, RHEOS_FLOAT, RHEOS_INT64
  // Known: as many values as the shape has, and the tensor has the shape. RHEOS_UNKNOWN_SHAPE: any
  // number of values, in a vector.
  rheos_shape shape;
  // Of a known shape: the value where the message lacks the feature; NULL: that is an error.
  rheos_tensor *default_value;
} rheos_feature_spec;

// Parses one Example. `out_tensors` has a place for each spec; the tensors are the caller's, all
// NULL after a failure.
RHEOS_STATUS rheos_example_parse(const void *data, size_t size_bytes,
                                 const rheos_feature_spec *specs, size_t num_specs,
                                 rheos_tensor **out_tensors);

#ifdef __cplusplus
}
#endif

#endif  // RHEOS_EXAMPLES_H
