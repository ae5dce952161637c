// Datasets and iterators. A dataset is a variant that never changes: what an op of it was given, in
// a kind that says how its elements are made. An iterator goes over the elements once, for one
// thread at a time; it runs in the step of whoever asks for the next element, functions of the
// program included.
#ifndef RHEOS_SRC_OPS_DATA_DATASET_H
#define RHEOS_SRC_OPS_DATA_DATASET_H

#include "graph/calls.h"
#include "tensor/variant.h"

typedef struct rheos__dataset rheos__dataset;
typedef struct rheos__iterator rheos__iterator;
typedef struct rheos__saved_state rheos__saved_state;
typedef struct rheos__stage_counts rheos__stage_counts;  // stage.h

// Cardinalities that are no numbers.
enum { RHEOS__CARDINALITY_INFINITE = -1, RHEOS__CARDINALITY_UNKNOWN = -2 };

// What an attribute `deterministic` says.
enum { RHEOS__ORDER_KEPT, RHEOS__ORDER_ANY };

typedef struct rheos__dataset_kind {
  const char *name;       // the op's without "Dataset", for messages
  size_t data_bytes;      // of what `init` makes of the op's inputs
  size_t iterator_bytes;  // of the struct that starts with a rheos__iterator; 0: that alone
  bool opens_input;       // a new iterator has one of the first input
  bool like_input;        // elements are those of the first input, as far as dtypes and number go
  bool is_live;           // the next element may take long to come, or never come
  bool takes_places;  // `element` of `next` may hold tensors to make components in, where they fit
  // Names of attributes (bool, int, or `deterministic`, a string) whose values are kept as
  // rheos__dataset_options(), NULL-terminated.
  const char *const *options;
  // Keeps what is needed of other attributes of the node, which may go before the dataset:
  // rheos__dataset_described(), which `forget` frees, also after a failure. NULL: there are none.
  rheos_status *(*describe)(const rheos__attrs *attrs, void **out_described);
  void (*forget)(void *described);
  // Fills in `data`, zeroed, from the inputs, and refuses what is wrong. `deinit` frees what it
  // holds, also after a failure. Each may be NULL.
  rheos_status *(*init)(rheos__dataset *dataset);
  void (*deinit)(rheos__dataset *dataset);
  rheos_status *(*start)(rheos__iterator *iterator, rheos__step *step);
  void (*finish)(rheos__iterator *iterator);
  // The next element: a tensor with a reference for each component, which are NULL before; or sets
  // `*out_end`, and again when asked again. A failure leaves no tensors and an iterator that goes
  // on behind what failed. Of a kind that takes places, these may be left at the end and after a
  // failure.
  rheos_status *(*next)(rheos__iterator *iterator, rheos__step *step, rheos_tensor **element,
                        bool *out_end);
  // The next elements, at most `most`, that lie in memory one after the other: borrowed until the
  // iterator is asked for another one or freed. How many; 0: the next one has to be asked for.
  // NULL: that always.
  int64_t (*held)(rheos__iterator *iterator, int64_t most, rheos_tensor *const **out_tensors);
  void (*pass)(rheos__iterator *iterator, int64_t count);  // goes on behind so many of these
  // Stops what goes on by itself until the next element is asked for; NULL: nothing does.
  rheos_status *(*pause)(rheos__iterator *iterator, rheos__step *step);
  // Told before the first element that every `size` of them will be put together; NULL: that is of
  // no use.
  void (*will_batch)(rheos__iterator *iterator, int64_t size);
  // What is buffered and under way, of a stage (stage.h); NULL: it is none.
  void (*count)(rheos__iterator *iterator, rheos__stage_counts *out_counts);
  // Writes what `start` does not give into the state, or takes it from there, in the same order.
  // The first input's own is written before. NULL with a struct of its own: cannot be saved.
  rheos_status *(*state)(rheos__iterator *iterator, rheos__saved_state *state, rheos__step *step);
  int64_t (*cardinality)(const rheos__dataset *dataset);  // NULL: the first input's if like_input
  // Element `index`, which is less than the cardinality, without going over those before it. NULL:
  // there is no such way. A failure leaves no tensors.
  rheos_status *(*at)(rheos__dataset *dataset, int64_t index, rheos__step *step,
                      rheos_tensor **element);
} rheos__dataset_kind;

// A function that a dataset calls, and where its captured arguments are among the op's inputs.
typedef struct rheos__data_function {
  rheos__site *site;
  rheos_dtype *arg_types, *result_types;
  int32_t num_args, num_results;
  int32_t first_captured, num_captured;
  bool has_effects;  // or state: how often and in what order it is called may be seen
  bool has_state;    // or reads variables
  bool draws;  // random numbers, perhaps: each iterator of a program has generators of its own
} rheos__data_function;

// What all datasets of one prepared op share; counted.
typedef struct rheos__dataset_spec rheos__dataset_spec;

// What was seen of the elements of a dataset, by all of its iterators: the first of each iterator
// are timed, from asking to having, with what the inputs take, and some of the others, which stand
// for these.
typedef struct rheos__dataset_times {
  _Atomic int64_t asked, first, first_ns, timed, timed_ns;
  // Of a stage: its threads worked, and waited for the input; who asked waited; the buffer was
  // full.
  _Atomic int64_t worked_ns, pulled_ns, waited_ns, held_ns;
} rheos__dataset_times;

struct rheos__dataset {
  rheos__variant variant;
  const rheos__dataset_kind *kind;
  rheos__dataset_spec *spec;
  int32_t num_components;
  const rheos_dtype *types;  // by component
  const rheos_shape *shapes;
  int32_t num_args;
  rheos_tensor **args;  // the op's inputs; NULL of a cell
  int32_t num_inputs;
  rheos__dataset **inputs;  // those of them that are datasets, borrowed
  void *data;
  bool is_live;    // it, or an input, or what a function of one of them does
  bool has_state;  // a function of it, or of an input: more than is saved of an iterator
  rheos__dataset_times times;
};

struct rheos__iterator {
  rheos__dataset *dataset;  // counted
  rheos__iterator *input;
  uint32_t asked, told;        // elements; those that the dataset knows of
  uint32_t mask;               // one is timed where these bits of `asked` are 0
  rheos__call_states *states;  // owned: of one that rheos__iterator_new_outer() made; else NULL
};

// ---- Datasets

// The dataset that a scalar tensor holds, borrowed; RHEOS_INVALID_ARGUMENT naming `op` if there is
// none.
rheos_status *rheos__dataset_of(const rheos_tensor *tensor, const char *op,
                                rheos__dataset **out_dataset);
static inline void rheos__dataset_unref(rheos__dataset *dataset) {
  rheos__variant_unref((rheos__variant *)dataset);
}
int64_t rheos__dataset_cardinality(const rheos__dataset *dataset);
// For kinds of which no more is known than that endless input gives endless elements.
int64_t rheos__cardinality_endless(const rheos__dataset *dataset);
// The attributes that the kind names.
const int64_t *rheos__dataset_options(const rheos__dataset *dataset);
const void *rheos__dataset_described(const rheos__dataset *dataset);
// The functions of the op, in the order of its attributes.
const rheos__data_function *rheos__dataset_function(const rheos__dataset *dataset, int32_t index);

// Elements in memory: `count` times `num_components` tensors, one element after the other.
typedef struct rheos__elements {
  int64_t count;
  int32_t num_components;
  const rheos_dtype *types;  // by component
  const rheos_shape *shapes;
  rheos_tensor **tensors;
} rheos__elements;
// A dataset of them, whose references it takes also on failure; and the elements, borrowed, of such
// a dataset: false if the tensor holds something else.
rheos_status *rheos__elements_take(const rheos__elements *elements, rheos_tensor **out_tensor);
bool rheos__elements_of(const rheos_tensor *tensor, rheos__elements *out_elements);
// A dataset of these elements, each of `num_components` tensors, whose references it takes also on
// failure; the components are those of `like` from `first` on.
rheos_status *rheos__dataset_of_elements_take(const rheos__dataset *like, int32_t first,
                                              int32_t num_components, rheos_tensor **elements,
                                              int64_t count, rheos_tensor **out_tensor);
// The elements of `input`, made ahead by the session's threads.
rheos_status *rheos__dataset_ahead(rheos__dataset *input, rheos__dataset **out_dataset);
// A dataset that no op was asked for, with zeros for data.
rheos_status *rheos__dataset_new_of_kind(const rheos__dataset_kind *kind, int32_t num_components,
                                         rheos__dataset **out_dataset);

// ---- The op's inputs: `arg` by place, `name` for messages

rheos_status *rheos__dataset_int(const rheos__dataset *dataset, int32_t arg, const char *name,
                                 int64_t *out_value);
rheos_status *rheos__dataset_bool(const rheos__dataset *dataset, int32_t arg, const char *name,
                                  bool *out_value);
// A scalar string, borrowed.
rheos_status *rheos__dataset_string(const rheos__dataset *dataset, int32_t arg, const char *name,
                                    const rheos_string **out_value);
// Fails unless the components of `input` are those of this dataset.
rheos_status *rheos__dataset_same_types(const rheos__dataset *dataset, const rheos__dataset *input);
// Fails unless the function's first arguments have these dtypes, and the captured ones are the
// rest.
rheos_status *rheos__dataset_takes(const rheos__dataset *dataset, int32_t function,
                                   const rheos_dtype *types, int32_t count);
// Fails unless the function's results have these dtypes.
rheos_status *rheos__dataset_gives(const rheos__dataset *dataset, int32_t function,
                                   const rheos_dtype *types, int32_t count);
// Fails unless the function gives one scalar of that dtype (as far as dtypes go).
rheos_status *rheos__dataset_gives_one(const rheos__dataset *dataset, int32_t function,
                                       rheos_dtype type);

// Calls a function with `leading` arguments, whose references are taken also on failure; then come
// the captured ones. `results`: as many as the function has, NULL before and after a failure.
rheos_status *rheos__dataset_call_take(const rheos__dataset *dataset, int32_t function,
                                       rheos_tensor **leading, int32_t num_leading,
                                       rheos__step *step, rheos_tensor **results);
// As rheos__dataset_call_take(), of a function that gives one bool or int64.
rheos_status *rheos__dataset_test_take(const rheos__dataset *dataset, int32_t function,
                                       rheos_tensor **leading, int32_t num_leading,
                                       rheos__step *step, bool *out_value);
// As rheos__dataset_call_take(), of a function that gives a dataset, of which an iterator is made;
// with `is_ahead` one whose elements are made ahead.
rheos_status *rheos__dataset_open_take(const rheos__dataset *dataset, int32_t function,
                                       rheos_tensor **leading, int32_t num_leading, bool is_ahead,
                                       rheos__step *step, rheos__iterator **out_iterator);

// ---- Iterators

rheos_status *rheos__iterator_new(rheos__dataset *dataset, rheos__step *step,
                                  rheos__iterator **out_iterator);
// One that no other iterator asks: functions keep for it what they keep. Whoever uses it does so
// between rheos__iterator_enter() and rheos__iterator_leave().
rheos_status *rheos__iterator_new_outer(rheos__dataset *dataset, rheos__step *step,
                                        rheos__iterator **out_iterator);
static inline rheos__call_states *rheos__iterator_enter(rheos__iterator *iterator,
                                                        rheos__step *step) {
  return rheos__step_set_states(step, iterator->states);
}
static inline void rheos__iterator_leave(rheos__step *step, rheos__call_states *before) {
  rheos__step_set_states(step, before);
}
void rheos__iterator_free(rheos__iterator *iterator);  // NULL: nothing
rheos_status *rheos__iterator_next_timed(rheos__iterator *iterator, rheos__step *step,
                                         rheos_tensor **element, bool *out_end);
static inline rheos_status *rheos__iterator_next(rheos__iterator *iterator, rheos__step *step,
                                                 rheos_tensor **element, bool *out_end) {
  if ((++iterator->asked & iterator->mask) == 0) {
    return rheos__iterator_next_timed(iterator, step, element, out_end);
  }
  return iterator->dataset->kind->next(iterator, step, element, out_end);
}
// Elements that need not be asked for one by one; then rheos__iterator_pass() says how many were
// used. Of those that are to be timed there are none.
static inline int64_t rheos__iterator_held(rheos__iterator *iterator, int64_t most,
                                           rheos_tensor *const **out_tensors) {
  const rheos__dataset_kind *kind = iterator->dataset->kind;
  const int64_t untimed = iterator->mask - (iterator->asked & iterator->mask);
  if (kind->held == NULL || untimed == 0) return 0;
  return kind->held(iterator, most < untimed ? most : untimed, out_tensors);
}
static inline void rheos__iterator_pass(rheos__iterator *iterator, int64_t count) {
  if (count == 0) return;
  iterator->asked += (uint32_t)count;
  iterator->dataset->kind->pass(iterator, count);
}
// What the datasets of an iterator have noted so far, for rheos__free(): explanations are of what
// came then.
typedef struct rheos__explain_since rheos__explain_since;
rheos_status *rheos__explain_since_new(rheos__iterator *iterator, rheos__explain_since **out_since);
// Before an element is asked for: where the step is traced, every stage on its way is noted.
void rheos__iterator_watch(rheos__iterator *iterator, const rheos__step *step);
// Which stage is slow, as a text for rheos__free(): rheos_dataset_explain().
rheos_status *rheos__iterator_explain(rheos__iterator *iterator, const rheos__explain_since *since,
                                      char **out_text);
// As rheos__iterator_explain() to stderr, of an iterator that goes and was asked for something,
// where RHEOS_EXPLAIN is "on" in the environment.
void rheos__iterator_tell(rheos__iterator *iterator, const rheos__explain_since *since);
// As rheos__iterator_explain(), of the iterator behind a handle, since it was initialized.
rheos_status *rheos__iterator_handle_explain(const rheos_tensor *handle, char **out_text);
int64_t rheos__now_ns(void);
// Skips an element.
rheos_status *rheos__iterator_skip(rheos__iterator *iterator, rheos__step *step, bool *out_end);

// Element `index` of a dataset whose kind can tell it.
rheos_status *rheos__dataset_at(rheos__dataset *dataset, int64_t index, rheos__step *step,
                                rheos_tensor **element);
// For kinds whose elements are those of the first input, in the same order.
rheos_status *rheos__dataset_at_input(rheos__dataset *dataset, int64_t index, rheos__step *step,
                                      rheos_tensor **element);

// Gives back the tensors and makes them NULL.
static inline void rheos__element_clear(rheos_tensor **element, int32_t count) {
  for (int32_t i = 0; i < count; ++i) {
    rheos_tensor_unref(element[i]);
    element[i] = NULL;
  }
}

// An optional that holds these tensors, whose references it takes also on failure; `count` -1:
// none.
rheos_status *rheos__optional_take(rheos_tensor **components, int32_t count,
                                   rheos_tensor **out_tensor);
// The tensors of an optional, borrowed, -1 for none. False: the variant is of another kind, or
// NULL.
bool rheos__optional_parts(const rheos__variant *variant, rheos_tensor *const **out_components,
                           int32_t *out_count);

// ---- What is saved of an iterator: a list of tensors

struct rheos__saved_state {
  bool is_restoring;
  rheos_tensor **items;
  int32_t count, at;
  size_t capacity;
};
void rheos__saved_state_deinit(rheos__saved_state *state);
// The whole iterator, with its inputs'.
rheos_status *rheos__iterator_transfer(rheos__iterator *iterator, rheos__saved_state *state,
                                       rheos__step *step);
rheos_status *rheos__state_ints(rheos__saved_state *state, int64_t *values, int32_t count);
// Elements that may be NULL; what `tensors` held before restoring is given back.
rheos_status *rheos__state_tensors(rheos__saved_state *state, rheos_tensor **tensors,
                                   int32_t count);

// What SerializeIterator gives, a variant with a state, which it takes also on failure; and the
// state in one.
rheos_status *rheos__saved_state_tensor_take(rheos__saved_state *state, rheos_tensor **out_tensor);
rheos_status *rheos__saved_state_of(const rheos_tensor *tensor, const char *op,
                                    const rheos__saved_state **out_state);
// What SerializeIterator gave as a vector of strings, for files, and back. A state that is damaged,
// or holds what has no message, is refused.
rheos_status *rheos__iterator_state_to_strings(const rheos_tensor *state,
                                               rheos_tensor **out_strings);
rheos_status *rheos__iterator_state_of_strings(const rheos_tensor *strings,
                                               rheos_tensor **out_state);

// ---- Ops that make datasets

// Of an op whose `family` is the kind.
rheos_status *rheos__prepare_dataset(rheos__prepare *p);
// A dataset of the spec's kind; other ops that call functions make one of theirs
// (dataset_spec.h).
rheos_status *rheos__dataset_new(rheos__dataset_spec *spec, rheos_tensor *const *inputs,
                                 rheos__dataset **out_dataset);

// A handle, of inputs whose names say that they are scalars or, of files, vectors at most.
rheos_status *rheos__shape_dataset(rheos__infer *c);

#define RHEOS_DATASET_TYPES "; output_types: list(type) >= 1; output_shapes: list(shape) >= 1"

#define RHEOS_DATASET_OP(op_name, kind, inputs, attrs, text) \
  RHEOS_DATASET_OP_OF(op_name, kind, inputs, attrs, text, 0, NULL)
// A dataset of what files hold; with `file_name`, the input that may name one, where it does.
#define RHEOS_FILE_DATASET_OP(op_name, kind, inputs, attrs, text, file_name) \
  RHEOS_DATASET_OP_OF(op_name, kind, inputs, attrs, text, RHEOS_OP_USES_FILES, file_name)
#define RHEOS_DATASET_OP_OF(op_name, kind, inputs, attrs, text, more_flags, file_name)      \
  const rheos__op_def rheos__op_##op_name = {                                               \
      .name = #op_name,                                                                     \
      .signature = inputs " -> handle: variant" attrs,                                      \
      .doc = text,                                                                          \
      .flags = RHEOS_OP_STATEFUL | RHEOS_OP_TAKES_VARIANTS | RHEOS_OP_CALLS | (more_flags), \
      .shape = rheos__shape_dataset,                                                        \
      .gradient = rheos__no_gradient,                                                       \
      .prepare = rheos__prepare_dataset,                                                    \
      .family = &(kind),                                                                    \
      .file_argument = (file_name),                                                         \
  };

#endif  // RHEOS_SRC_OPS_DATA_DATASET_H
