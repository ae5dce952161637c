// Values for the parameters of public functions, by type and choice: 0 is a value as it should be,
// the others are wrong or strange. What is made lives until things_free().
#ifndef RHEOS_TESTS_INTERFACE_GIVEN_H
#define RHEOS_TESTS_INTERFACE_GIVEN_H

#include <rheos/control_context.h>
#include <rheos/front_end.h>
#include <rheos/rheos.h>

// A piece of memory with these bytes, until things_free().
void *kept(const void *bytes, size_t size_bytes);

// Frees what was made for a call, and its files.
void things_free(void);

// The handle is gone: the function that was called has taken it.
void let_go(const void *handle);

// Frees each of the handles that a call put into `out` by `release`, but not those that were given.
void drop_out(void *out, void (*release)(void *));
void drop_rheos_fetch(rheos_fetch *fetches);
void drop_rheos_named_tensor(rheos_named_tensor *outputs);
void drop_event_writer(void *writer);
void drop_record_writer(void *writer);

// Looks at what came back: an error has a code and a message.
void see_status(rheos_status *status);
void see_text(const char *text);

// ---- Plain values

enum {
  CHOICES_text = 5,
  CHOICES_out = 2,
  CHOICES_bool = 2,
  CHOICES_count = 5,
  CHOICES_bytes = 4,
  CHOICES_room = 3,
  CHOICES_index = 4,
  CHOICES_length = 4,
  CHOICES_int = 5,
  CHOICES_int32_t = 5,
  CHOICES_uint16_t = 5,
  CHOICES_uint32_t = 5,
  CHOICES_int64_t = 5,
  CHOICES_float = 5,
  CHOICES_double = 5,
  CHOICES_enum = 4,
  CHOICES_memory = 3,
  CHOICES_rheos_dtype = 7,
  CHOICES_rheos_shape = 8,
  CHOICES_rheos_string = 3,
};

// `usual` "golden NAME" is the path of a file in tests/golden/.
const char *given_text(int choice, const char *usual);
void *given_out(int choice);  // room for anything that comes back, zeros
bool given_bool(int choice);
size_t given_count(int choice, size_t element_bytes);
size_t given_bytes(int choice);
size_t given_room(int choice);  // in given_out()
size_t given_index(int choice);
int32_t given_length(int choice);  // of lists in structs: what is there, or a number that cannot be
int given_int(int choice);
int32_t given_int32_t(int choice);
uint16_t given_uint16_t(int choice);
uint32_t given_uint32_t(int choice);
int64_t given_int64_t(int choice);
float given_float(int choice);
double given_double(int choice);
int given_enum(int choice, int usual);
void *given_memory(int choice, const char *name);  // of given_bytes(0) bytes
rheos_dtype given_rheos_dtype(int choice);
rheos_shape given_rheos_shape(int choice);
rheos_string given_rheos_string(int choice);

// ---- Handles and structs of them

enum {
  CHOICES_rheos_output = 11,
  CHOICES_rheos_operation = 6,
  CHOICES_rheos_variable = 9,
  CHOICES_rheos_optimizer = 12,
  CHOICES_rheos_saver = 5,
  CHOICES_rheos_attr = 8,
  CHOICES_rheos_item = 8,
  CHOICES_rheos_func = 3,
  CHOICES_rheos_fetch = CHOICES_rheos_output,
  CHOICES_rheos_checkpoint_state = 3,
  CHOICES_rheos_branch_function = 3,
  CHOICES_rheos_condition_function = 3,
  CHOICES_rheos_body_function = 3,
  CHOICES_rheos_row_function = 3,
  CHOICES_rheos_array = 4,
};
rheos_output given_rheos_output(int choice);
rheos_operation given_rheos_operation(int choice);
rheos_variable given_rheos_variable(int choice);
rheos_optimizer given_rheos_optimizer(int choice);
rheos_saver given_rheos_saver(int choice);
rheos_attr given_rheos_attr(int choice);
rheos_item given_rheos_item(int choice);
rheos_func given_rheos_func(int choice);
rheos_fetch given_rheos_fetch(int choice);
rheos_checkpoint_state given_rheos_checkpoint_state(int choice);
rheos_branch_function given_rheos_branch_function(int choice);
rheos_condition_function given_rheos_condition_function(int choice);
rheos_body_function given_rheos_body_function(int choice);
rheos_row_function given_rheos_row_function(int choice);
rheos_array given_rheos_array(int choice);

// X(type, number of choices); choice 1 is NULL.
#define HANDLES(X)                \
  X(rheos_graph, 3)               \
  X(rheos_scope, 4)               \
  X(rheos_session, 4)             \
  X(rheos_tensor, 7)              \
  X(rheos_status, 2)              \
  X(rheos_host, 2)                \
  X(rheos_server, 2)              \
  X(rheos_ranks, 2)               \
  X(rheos_eager, 2)               \
  X(rheos_op_def, 2)              \
  X(rheos_region, 3)              \
  X(rheos_tape, 3)                \
  X(rheos_trace, 2)               \
  X(rheos_profile, 2)             \
  X(rheos_cancellation, 2)        \
  X(rheos_watch, 2)               \
  X(rheos_run_log, 2)             \
  X(rheos_growth, 2)              \
  X(rheos_lint, 2)                \
  X(rheos_callable, 2)            \
  X(rheos_event_writer, 2)        \
  X(rheos_event_writer_cache, 2)  \
  X(rheos_event_reader, 2)        \
  X(rheos_dataset_iterator, 2)    \
  X(rheos_summary_value, 2)       \
  X(rheos_example_builder, 2)     \
  X(rheos_example, 2)             \
  X(rheos_feature, 3)             \
  X(rheos_record_writer, 2)       \
  X(rheos_record_reader, 2)       \
  X(rheos_checkpoint_reader, 2)   \
  X(rheos_checkpoint_writer, 2)   \
  X(rheos_checkpoint_keeper, 2)   \
  X(rheos_npz, 2)                 \
  X(rheos_meta_graph, 2)          \
  X(rheos_saved_model_def, 2)     \
  X(rheos_saved_model, 2)         \
  X(rheos_saved_model_builder, 2) \
  X(rheos_default_value, 2)       \
  X(rheos_control_context, 5)     \
  X(rheos_function, 4)
#define DECLARE(type, choices)                \
  enum { CHOICES_##type##_handle = choices }; \
  type *given_##type##_handle(int choice);
HANDLES(DECLARE)
#undef DECLARE

#endif  // RHEOS_TESTS_INTERFACE_GIVEN_H
