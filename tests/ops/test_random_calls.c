// Random calls of every op: built, run with its inputs known and fed, differentiated where it can
// be. The verdicts agree, and the bits; a gradient has its input's shape; nothing takes long. What
// it proves grows with the sanitizers. Usage: test_random_calls [op|all [call]]: the call of that
// number alone, told in full. RHEOS_RANDOM_CALLS calls are made in all, 2,000 by default, drawn
// from RHEOS_RANDOM_SEED.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "graph/op_def.h"
#include "ops/op_harness.h"
#include "ops/random_case.h"

enum { NUM_MODES = 3, MOST_SECONDS = 5, NO_END_SECONDS = 60 };

static uint64_t seed = 1;
static int calls_an_op;
static int only_call = -1;
static long num_calls, num_answers, num_gradients;

static const char *const mode_names[NUM_MODES] = {"fed", "fed with unknown shapes", "constant"};

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

// ---- Answers

// What memory was short for says nothing.
static bool says_nothing(const rheos_status *status) {
  return rheos_status_code(status) == RHEOS_RESOURCE_EXHAUSTED;
}

static bool has_own_state(const op_case *c) {
  const rheos__op_def *op = rheos__signature_by_name(c->op)->op;
  return (op->flags & RHEOS_OP_STATEFUL) != 0;
}

static void compare_answers(const op_case *c, rheos_status *const *verdicts,
                            const op_result *results) {
  for (int mode = 1; mode < NUM_MODES; mode++) {
    if (says_nothing(verdicts[0]) || says_nothing(verdicts[mode])) continue;
    if ((verdicts[0] == NULL) != (verdicts[mode] == NULL)) {
      char first[600];
      snprintf(first, sizeof first, "%s", op_status_text(verdicts[0]));
      op_wrong(c, "%s it is %s, %s %s", mode_names[0], first, mode_names[mode],
               op_status_text(verdicts[mode]));
    } else if (verdicts[0] == NULL && !has_own_state(c) &&
               !op_results_identical(&results[0], &results[mode])) {
      op_wrong(c, "other bits %s than %s", mode_names[0], mode_names[mode]);
    }
  }
}

static void check_status(const op_case *c, const rheos_status *status) {
  if (status == NULL) return;
  if (*rheos_status_message(status) == '\0') op_wrong(c, "an error without a message");
  // TensorFlow's code for a slice that is not there, and for an element of another dtype.
  static const char *const internal[] = {"Save", "Restore", "StackPop"};
  bool as_tensorflow = false;
  for (size_t i = 0; i < sizeof internal / sizeof *internal; i++) {
    as_tensorflow = as_tensorflow || strncmp(c->op, internal[i], strlen(internal[i])) == 0;
  }
  if (rheos_status_code(status) == RHEOS_INTERNAL && !as_tensorflow) {
    op_wrong(c, "an internal error: %s", op_status_text(status));
  }
}

// True if there is an answer.
static bool check_answers(const op_case *c) {
  rheos_status *verdicts[NUM_MODES];
  op_result results[NUM_MODES];
  for (int mode = 0; mode < NUM_MODES; mode++) {
    verdicts[mode] = op_case_run(c, (build_mode)mode, 1, &results[mode]);
    check_status(c, verdicts[mode]);
  }
  compare_answers(c, verdicts, results);
  const bool answered = verdicts[0] == NULL;
  for (int mode = 0; mode < NUM_MODES; mode++) {
    rheos_status_free(verdicts[mode]);
    op_result_free(&results[mode]);
  }
  return answered;
}

// ---- Shapes that no memory could hold

// The node is only built, with dimensions near the largest integer and unknown ones: shape
// functions add and multiply these.
static void check_large_shapes(const op_case *c) {
  static const int64_t dims[] = {
      INT64_MAX, INT64_MAX - 1, INT64_MAX / 2 + 1, INT64_C(1) << 40, -1, 0, 1, 3};
  op_case copy;
  op_case_copy(c, &copy);
  for (int i = 0; i < copy.num_inputs; i++) {
    op_input *input = &copy.inputs[i];
    if (input->kind != INPUT_FEED || random_case_draw(4) == 0) continue;
    if (random_case_draw(8) == 0) input->shape.rank = (int32_t)random_case_draw(5);
    for (int32_t k = 0; k < input->shape.rank; k++) {
      if (random_case_draw(2) == 0) {
        input->shape.dims[k] = dims[random_case_draw(sizeof dims / sizeof *dims)];
      }
    }
  }
  op_program program;
  rheos_status *status = op_program_build(&program, &copy, BUILD_AS_RECORDED);
  check_status(&copy, status);
  for (int32_t i = 0; status == NULL && i < rheos_operation_num_outputs(program.op); i++) {
    const rheos_shape shape = rheos_output_shape(rheos_operation_output(program.op, i));
    for (int32_t k = 0; k < shape.rank; k++) {
      if (shape.dims[k] < -1) op_wrong(c, "output %d has a negative dimension", i);
    }
  }
  rheos_status_free(status);
  op_program_free(&program);
  op_case_free(&copy);
}

// ---- Gradients

// Gradients that fail, or have another shape, where the op has an answer.
typedef struct exception {
  const char *op, *part;  // of the message
  const char *why;
} exception;
static const char other_shape[] = "has another shape than the input";
static const char as_tensorflow[] =
    "so it is in TensorFlow: an op of its gradient has fewer dtypes";
static const char singular[] = "the gradient needs the inverse";
static const char negative_axes[] = "InvertPermutation takes none, in TensorFlow too";
static const exception exceptions[] = {
    {"ClipByValue", "has DataType complex", as_tensorflow},
    {"Digamma", "list of allowed values", as_tensorflow},
    {"Igamma", "list of allowed values", as_tensorflow},
    {"Igammac", "list of allowed values", as_tensorflow},
    {"MaxPool3DGradGrad", "list of allowed values", as_tensorflow},
    {"FusedBatchNormV3", "list of allowed values", as_tensorflow},
    {"RandomGamma", "list of allowed values", as_tensorflow},
    {"StatelessRandomGammaV2", "list of allowed values", as_tensorflow},
    {"StatelessRandomGammaV3", "list of allowed values", as_tensorflow},
    {"MaxPoolGrad", "EXPLICIT", "MaxPoolGradGrad has no such padding"},
    {"Transpose", "is not between", negative_axes},
    {"ConjugateTranspose", "is not between", negative_axes},
    {"LogMatrixDeterminant", "not invertible", singular},
    {"MatrixDeterminant", "not invertible", singular},
    {"ImageProjectiveTransformV2", "not invertible", singular},
    {"ImageProjectiveTransformV3", "not invertible", singular},
    {"ImageProjectiveTransformV2", "must be positive", "the image has no rows or columns"},
    {"ImageProjectiveTransformV3", "must be positive", "the image has no rows or columns"},
    {"Tile", "cannot reshape", "no elements, of more dimensions than TensorFlow's gradient counts"},
    {"Conv2DBackpropFilter", "Negative dimension size", "images without rows, as in graphs there"},
    {"FractionalAvgPool", "must be positive", "the gradient takes no empty images"},
    {"FusedBatchNormGrad", "", "second derivatives of what is empty, or of another rank"},
    {"FusedBatchNormGradV2", "", "second derivatives of what is empty, or of another rank"},
    {"FusedBatchNormGradV3", "", "second derivatives of what is empty, or of another rank"},
    {"GatherNd", "at least rank 1 but is rank 0", "one place of unknown rank"},
    {"GatherV2", "is out of range", "no elements, and so no index that was looked at"},
    {"GatherV2", "does not start with", "batches without elements"},
    {"MatrixDiagV2", "is out of bound", "diagonals that lie outside of the matrix"},
    {"MatrixDiagV3", "is out of bound", "diagonals that lie outside of the matrix"},
    {"Qr", "Dimensions must be equal", "matrices without elements"},
    {"Svd", "Dimensions must be equal", "matrices without elements"},
    {"SparseSoftmax", "", "the op looks neither at its indices nor at its shape"},
    {"SparseToDense", "indices must be at least a vector", "an index of unknown rank"},
    {"SparseToDense", "innermost dimension", "indices of unknown rank"},
    {"SparseToDense", other_shape, "a value of unknown rank"},
    {"SparseReduceSum", "", "the op looks neither at its indices nor at its shape"},
    {"SparseReduceSumSparse", "", "the op looks neither at its indices nor at its shape"},
    {"TensorScatterUpdate", "has DataType uint16", as_tensorflow},
    {"TopK", "delta != 0", "rows without elements"},
    {"TopKV2", "delta != 0", "rows without elements"},
    {"UnsortedSegmentProd", "is not in [0, 0)", "no segments, all rows left out"},
    {"UnsortedSegmentSum", "is not in [0, 0)", "no segments, all rows left out"},
    {"UnsortedSegmentMax", "is not in [0, 0)", "no segments, all rows left out"},
    {"UnsortedSegmentMin", "is not in [0, 0)", "no segments, all rows left out"},
};

static bool is_exception(const op_case *c, const char *message) {
  for (size_t i = 0; i < sizeof exceptions / sizeof *exceptions; i++) {
    const exception *e = &exceptions[i];
    if (strcmp(e->op, c->op) == 0 && strstr(message, e->part) != NULL) return true;
  }
  return false;
}

typedef struct gradient_run {
  op_program program;
  rheos_session *session;
  rheos_gradient gradients[CASE_MAX_INPUTS];
} gradient_run;

static bool is_differentiable(rheos_dtype dtype) {
  return rheos_dtype_is_floating(dtype) || rheos_dtype_is_complex(dtype);
}

// Gradients of the sum of all outputs for all inputs. Complex sums are the program's to write.
static rheos_status *add_gradients(gradient_run *run, const op_case *c) {
  rheos_output ys[CASE_MAX_OUTPUTS], ones[CASE_MAX_OUTPUTS], xs[CASE_MAX_INPUTS];
  const int n = op_value_outputs(run->program.op, ys);
  size_t num_ys = 0;
  for (int i = 0; i < n; i++) {
    if (!is_differentiable(rheos_output_dtype(ys[i]))) continue;
    const rheos_op_args args = {.type = "OnesLike", .inputs = &ys[i], .num_inputs = 1};
    ones[num_ys] = rheos_operation_output(rheos_op(run->program.scope, &args), 0);
    ys[num_ys++] = ys[i];
  }
  for (int i = 0; i < c->num_inputs; i++) xs[i] = run->program.inputs[i];
  const rheos_gradients_options options = {.grad_ys = ones};
  rheos_gradients(run->program.scope, ys, num_ys, xs, (size_t)c->num_inputs, &options,
                  run->gradients);
  return rheos_scope_finish(run->program.scope);
}

static rheos_status *run_gradient(gradient_run *run, const op_case *c, int index) {
  rheos_fetch fetch = {run->gradients[index].values, NULL};
  const bool dense = run->gradients[index].indices.graph == NULL;
  const op_input *input = &c->inputs[index];
  rheos_status *status = rheos_session_run(run->session, run->program.feeds, run->program.num_feeds,
                                           &fetch, 1, NULL, 0, NULL);
  if (status == NULL && dense && !input->is_handle && input->kind != INPUT_NODE &&
      !rheos_shape_equal(rheos_tensor_shape(fetch.value), &input->shape) &&
      !is_exception(c, other_shape)) {
    op_wrong(c, "the gradient of input %d %s", index, other_shape);
  }
  rheos_tensor_unref(fetch.value);
  return status;
}

static void check_gradient(const op_case *c, build_mode mode) {
  gradient_run run;
  memset(&run, 0, sizeof run);
  rheos_status *status = op_program_build(&run.program, c, mode);
  if (status == NULL) status = add_gradients(&run, c);
  const rheos_session_options options = {.num_threads = 1};
  if (status == NULL) status = rheos_session_new(run.program.graph, &options, &run.session);
  if (status == NULL && run.program.num_initializers > 0) {
    status = rheos_session_run(run.session, NULL, 0, NULL, 0, run.program.initializers,
                               run.program.num_initializers, NULL);
  }
  for (int i = 0; i < c->num_inputs && status == NULL; i++) {
    if (run.gradients[i].values.graph != NULL) status = run_gradient(&run, c, i);
  }
  const rheos_code code = rheos_status_code(status);
  if (status != NULL && code != RHEOS_NOT_FOUND && code != RHEOS_UNIMPLEMENTED &&
      !says_nothing(status) && !is_exception(c, rheos_status_message(status))) {
    op_wrong(c, "the gradient (%s): %s", mode_names[mode], op_status_text(status));
  }
  num_gradients += status == NULL;
  rheos_status_free(status);
  rheos_session_free(run.session);
  op_program_free(&run.program);
}

// ---- Calls

static bool has_gradient(const op_case *c) {
  const rheos__op_def *op = rheos__signature_by_name(c->op)->op;
  return op->gradient != NULL && op->gradient != rheos__no_gradient && c->num_nodes == 0 &&
         !c->unfetched;
}

static char running[160];  // the call

static void give_up(int signal_number) {
  (void)signal_number;
  static const char text[] = "does not end: ";
  if (write(STDERR_FILENO, text, sizeof text - 1) > 0 &&
      write(STDERR_FILENO, running, strlen(running)) > 0) {
    _exit(1);
  }
  _exit(2);
}

static void check_call(const op_case *c) {
  const double start = now();
  snprintf(running, sizeof running, "%s %s\n", c->op, c->tag);
  alarm(NO_END_SECONDS);
  num_calls++;
  check_large_shapes(c);
  if (check_answers(c)) {
    num_answers++;
    if (has_gradient(c)) {
      check_gradient(c, BUILD_AS_RECORDED);
      check_gradient(c, BUILD_UNKNOWN_SHAPES);
    }
  }
  alarm(0);
  if (now() - start > MOST_SECONDS) op_wrong(c, "it took %.1f s", now() - start);
}

// Numbers the calls of an op from 0, whatever else is drawn.
static void check_cases(const op_cases *cases, size_t first, size_t end) {
  const char *op = cases->items[first].op;
  uint64_t name = seed;
  for (const char *at = op; *at; at++) name = (name ^ (unsigned char)*at) * 0x100000001b3u;
  for (int call = 0; call < calls_an_op; call++) {
    op_case c;
    if (only_call >= 0 && call != only_call) continue;
    random_case_seed(name + (uint64_t)call * UINT64_C(0x9e3779b97f4a7c15));
    random_case_new(cases, first, end, &c);
    snprintf(c.tag, sizeof c.tag, "call %d", call);
    if (only_call >= 0) random_case_print(&c);
    check_call(&c);
    op_case_free(&c);
  }
}

static uint64_t setting(const char *name, uint64_t otherwise) {
  const char *text = getenv(name);
  return text ? strtoull(text, NULL, 10) : otherwise;
}

int main(int argc, char **argv) {
  // Files that get other names are not to lie where the test was started.
  op_cases_clear_folder(true);
  if (chdir(op_cases_folder()) != 0) return 1;
  seed = setting("RHEOS_RANDOM_SEED", 1);
  calls_an_op = 1 + (int)(setting("RHEOS_RANDOM_CALLS", 2000) / (uint64_t)rheos__op_table_size);
  if (argc > 2) only_call = atoi(argv[2]);
  if (only_call >= calls_an_op) calls_an_op = only_call + 1;
  if (argc > 1 && strcmp(argv[1], "all") == 0) argc = 1;
  signal(SIGALRM, give_up);
  random_case_cap_memory(true);
  const int failed = op_tests_run("random_calls", check_cases, NULL, argc, argv);
  random_case_cap_memory(false);
  fprintf(stderr, "  %ld calls, %ld answered, %ld gradients\n", num_calls, num_answers,
          num_gradients);
  return failed;
}
