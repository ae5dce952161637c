// Datasets: where elements come from, what is done with them on their way, and going over them.
//
// A dataset is an output of a graph, a scalar of dtype variant. The functions that make one add
// operations by a scope, and give none once the scope has an error. An element has one tensor for
// each component. What a dataset calls is a rheos_function, or a function of the program by its
// token (graph.h).
//
//   rheos_output d = rheos_dataset_records(scope, paths, num_paths, NULL);
//   d = rheos_dataset_shuffle(scope, d, 10000, 1);
//   d = rheos_dataset_map(scope, d, parse, RHEOS_DATASET_AUTOTUNE);
//   d = rheos_dataset_prefetch(scope, rheos_dataset_batch(scope, d, 32, false), 2);
//   rheos_dataset_iterator *it;
//   status = rheos_dataset_iterator_new(session, d, &it);
//   while (status == NULL && !end) status = rheos_dataset_iterator_next(it, element, &end, NULL);
//   rheos_dataset_iterator_free(it);
#ifndef RHEOS_DATASET_H
#define RHEOS_DATASET_H

#include <rheos/function.h>
#include <rheos/session.h>

#ifdef __cplusplus
extern "C" {
#endif

// A parallelism or a buffer that is chosen by measured times.
enum { RHEOS_DATASET_AUTOTUNE = -1 };

// ---- Sources

// One element: these components.
RHEOS_API rheos_output rheos_dataset_tensors(rheos_scope *scope, const rheos_output *components,
                                             size_t num_components);
// The rows of these, an element each.
RHEOS_API rheos_output rheos_dataset_slices(rheos_scope *scope, const rheos_output *components,
                                            size_t num_components);
// Scalars of int64 from `start` on by `step` up to `stop`, which is not one of them.
RHEOS_API rheos_output rheos_dataset_range(rheos_scope *scope, int64_t start, int64_t stop,
                                           int64_t step);
// Records of TFRecord files, or lines of text files, one after the other: strings. `compression`
// NULL: none, "GZIP" or "ZLIB".
RHEOS_API rheos_output rheos_dataset_records(rheos_scope *scope, const char *const *paths,
                                             size_t num_paths, const char *compression);
RHEOS_API rheos_output rheos_dataset_lines(rheos_scope *scope, const char *const *paths,
                                           size_t num_paths, const char *compression);
// What a function of the program gives for 0, 1, ... (int64), until it fails with
// RHEOS_OUT_OF_RANGE: components of these dtypes and shapes.
RHEOS_API rheos_output rheos_dataset_program(rheos_scope *scope, const char *token,
                                             const rheos_dtype *dtypes, const rheos_shape *shapes,
                                             size_t num_components);

// ---- What is made of a dataset

// Results of the function for each element, whose components are its arguments. Up to
// `num_parallel` calls at a time (0, 1: one); elements keep their order.
RHEOS_API rheos_output rheos_dataset_map(rheos_scope *scope, rheos_output dataset,
                                         const rheos_function *function, int64_t num_parallel);
// As rheos_dataset_map(), by a function of the program.
RHEOS_API rheos_output rheos_dataset_map_program(rheos_scope *scope, rheos_output dataset,
                                                 const char *token, const rheos_dtype *dtypes,
                                                 const rheos_shape *shapes, size_t num_components,
                                                 int64_t num_parallel);
// Elements for which the function gives true, a scalar.
RHEOS_API rheos_output rheos_dataset_filter(rheos_scope *scope, rheos_output dataset,
                                            const rheos_function *function);
// Elements of `cycle` datasets at a time that the function makes of elements, by turns of `block`.
RHEOS_API rheos_output rheos_dataset_interleave(rheos_scope *scope, rheos_output dataset,
                                                const rheos_function *function, int64_t cycle,
                                                int64_t block, int64_t num_parallel);
// In TensorFlow's pseudorandom order for the seed, out of a buffer of so many elements; 0: some
// seed.
RHEOS_API rheos_output rheos_dataset_shuffle(rheos_scope *scope, rheos_output dataset,
                                             int64_t buffer, int64_t seed);
RHEOS_API rheos_output rheos_dataset_repeat(rheos_scope *scope, rheos_output dataset,
                                            int64_t count);  // -1: for ever
RHEOS_API rheos_output rheos_dataset_take(rheos_scope *scope, rheos_output dataset, int64_t count);
RHEOS_API rheos_output rheos_dataset_skip(rheos_scope *scope, rheos_output dataset, int64_t count);
// Elements put together along a new first dimension.
RHEOS_API rheos_output rheos_dataset_batch(rheos_scope *scope, rheos_output dataset, int64_t size,
                                           bool drop_remainder);
// Up to `buffer` elements are made ahead, while the caller does other things.
RHEOS_API rheos_output rheos_dataset_prefetch(rheos_scope *scope, rheos_output dataset,
                                              int64_t buffer);
// Kept in memory when all were made once.
RHEOS_API rheos_output rheos_dataset_cache(rheos_scope *scope, rheos_output dataset);

// How many components an element has: 0 of what is no dataset. Their dtype and what is known of
// their shape.
RHEOS_API size_t rheos_dataset_num_components(rheos_output dataset);
RHEOS_API rheos_dtype rheos_dataset_dtype(rheos_output dataset, size_t component);
RHEOS_API rheos_shape rheos_dataset_shape(rheos_output dataset, size_t component);

// ---- Going over the elements

typedef struct rheos_dataset_iterator rheos_dataset_iterator;

// Runs what `dataset` needs in the session, and begins. The session has to stay until the iterator
// is freed; after it was closed there are no elements.
RHEOS_STATUS rheos_dataset_iterator_new(rheos_session *session, rheos_output dataset,
                                        rheos_dataset_iterator **out_iterator);
RHEOS_API void rheos_dataset_iterator_free(rheos_dataset_iterator *iterator);  // NULL: nothing

// The next element: a tensor of the caller's for each component; or sets `*out_end`, and the
// tensors are NULL, as after a failure. After most failures the next call goes on behind what
// failed. One thread at a time. `options` may be NULL.
static inline RHEOS_MUST_USE rheos_status *rheos_dataset_iterator_next(
    rheos_dataset_iterator *iterator, rheos_tensor **out_element, bool *out_end,
    const rheos_run_options *options);

// ---- Which stage is slow

// A text: for each stage its elements, how long it was busy and waited for its input and its
// consumer, its buffer, and in the last line which one binds, or the caller. Times are samples,
// since the iterator was made, of all that is asked of these datasets. The caller frees it by
// rheos_free().
RHEOS_STATUS rheos_dataset_explain(rheos_dataset_iterator *iterator, char **out_text);

// ---- How large a struct of options is in the program, the library is told (base.h, Options): what
// is declared above is inline over these

RHEOS_STATUS rheos_dataset_iterator_next_sized(rheos_dataset_iterator *iterator,
                                               rheos_tensor **out_element, bool *out_end,
                                               const rheos_run_options *options,
                                               size_t options_bytes);
static inline RHEOS_MUST_USE rheos_status *rheos_dataset_iterator_next(
    rheos_dataset_iterator *iterator, rheos_tensor **out_element, bool *out_end,
    const rheos_run_options *options) {
  return rheos_dataset_iterator_next_sized(iterator, out_element, out_end, options,
                                           sizeof *options);
}

#ifdef __cplusplus
}
#endif

#endif  // RHEOS_DATASET_H
