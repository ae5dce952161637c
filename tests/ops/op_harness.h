// Builds and runs the program of one op case, and compares tensors.
#ifndef RHEOS_TESTS_OPS_OP_HARNESS_H
#define RHEOS_TESTS_OPS_OP_HARNESS_H

#include "device/device.h"
#include "ops/op_cases.h"

typedef enum build_mode {
  BUILD_AS_RECORDED,     // fed inputs are placeholders of known shape, constants are constants
  BUILD_UNKNOWN_SHAPES,  // everything is fed, nothing is known about shapes
  BUILD_CONSTANT,        // every input is a constant: the op is folded when it can be
} build_mode;

// One op in a graph of its own, with what it needs around it.
typedef struct op_program {
  rheos_graph *graph;
  rheos_scope *scope;
  rheos_operation op;
  rheos_output inputs[CASE_MAX_INPUTS];
  rheos_feed feeds[CASE_MAX_INPUTS];
  size_t num_feeds;
  rheos_operation initializers[CASE_MAX_INPUTS];
  size_t num_initializers;
  rheos_output variables[CASE_MAX_INPUTS];
  size_t num_variables;
  const op_case *c;
  const char *device;  // of the op and its variables; NULL: none
  rheos_operation nodes[CASE_MAX_NODES];
} op_program;

// After a failure the program is still to be freed.
rheos_status *op_program_build(op_program *program, const op_case *c, build_mode mode);
// With the op and its variables, and nothing around them, on a device; NULL: on none.
rheos_status *op_program_build_on(op_program *program, const op_case *c, build_mode mode,
                                  const char *device);
void op_program_free(op_program *program);

typedef struct op_result {
  rheos_tensor *outputs[CASE_MAX_OUTPUTS];  // of all runs, one after the other
  int num_outputs;
  rheos_tensor *after[CASE_MAX_INPUTS];  // NULL: there is no value
  int num_after;
} op_result;

// The outputs that can be fetched: handles and variants cannot. Returns how many.
int op_value_outputs(rheos_operation op, rheos_output outputs[CASE_MAX_OUTPUTS]);

// Initialises the variables, runs the first nodes, the op `num_runs` times, reads the variables and
// the last nodes. After a failure the
// result is empty.
rheos_status *op_program_run(op_program *program, rheos_session *session, int num_runs,
                             op_result *result);
void op_result_free(op_result *result);

// Builds and runs in a fresh graph and session.
rheos_status *op_case_run(const op_case *c, build_mode mode, int num_threads, op_result *result);
// As op_case_run(), with the op on a device of a session with these options.
rheos_status *op_case_run_on(const op_case *c, build_mode mode,
                             const rheos_session_options *options, const char *device,
                             op_result *result);

// Whether the device has a kernel for the op, and may be asked for the case: numbers and
// variables of them in, numbers out, all from outside.
bool op_case_runs_on(const op_case *c, const rheos__device *device);

// How near an answer has to be: |x - y| <= absolute + relative * |y|; both 0: equal. NaN equals
// NaN, infinities equal themselves.
typedef struct op_tolerance {
  double relative, absolute;
} op_tolerance;
op_tolerance op_tolerance_of(const op_case *c, rheos_dtype dtype);

// True if dtype, shape and values agree; else says in `message` what does not.
bool op_tensors_agree(const rheos_tensor *expected, const rheos_tensor *actual,
                      op_tolerance tolerance, char *message, size_t size_bytes);
bool op_results_identical(const op_result *a, const op_result *b);

// Element `index` of a numeric tensor.
double op_number_at(const rheos_tensor *tensor, int64_t index);

// "OK" or "INVALID_ARGUMENT: message" in a static buffer.
const char *op_status_text(const rheos_status *status);

// ---- One cmocka test for each op that has cases and passes `wanted` (NULL: all)

// Checks the cases [first, end) of one op; counts what is wrong by calling op_wrong().
typedef void (*op_check)(const op_cases *cases, size_t first, size_t end);
void op_wrong(const op_case *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
// Runs the program: `argv[1]`, if given, is the one op to check. Returns what main returns.
int op_tests_run(const char *name, op_check check, bool (*wanted)(const op_case *c), int argc,
                 char **argv);

#endif  // RHEOS_TESTS_OPS_OP_HARNESS_H
