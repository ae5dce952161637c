// The harness that all op tests share: from a recorded case to a graph, a session and its answers.
#include "ops/op_harness.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "graph/op_def.h"
#include "ops/linalg/lapack.h"
#include "tensor/tensor.h"

// ---- Building

static rheos_operation add_op(rheos_scope *s, const char *type, const char *name,
                              const rheos_output *inputs, size_t num_inputs,
                              const rheos_attr *attrs, size_t num_attrs) {
  rheos_op_args args = {.type = type,
                        .name = name,
                        .inputs = inputs,
                        .num_inputs = num_inputs,
                        .attrs = attrs,
                        .num_attrs = num_attrs};
  return rheos_op(s, &args);
}

static rheos_output add_placeholder(op_program *p, const op_input *input, bool known_shape) {
  rheos_attr attrs[] = {rheos_attr_type("dtype", input->dtype),
                        rheos_attr_shape("shape", &input->shape)};
  rheos_operation op = add_op(p->scope, "Placeholder", NULL, NULL, 0, attrs, known_shape ? 2 : 1);
  rheos_output output = rheos_operation_output(op, 0);
  p->feeds[p->num_feeds++] = (rheos_feed){output, input->tensor};
  return output;
}

// An update is where its variable is.
static rheos_output add_cell(op_program *p, const char *type, rheos_attr *attrs, size_t num_attrs) {
  if (p->device) rheos_push_device(p->scope, p->device);
  const rheos_operation cell = add_op(p->scope, type, NULL, NULL, 0, attrs, num_attrs);
  if (p->device) rheos_scope_pop(p->scope);
  return rheos_operation_output(cell, 0);
}

static rheos_output add_variable(op_program *p, const op_input *input) {
  const rheos_shape shape = input->any_shape ? RHEOS_UNKNOWN_SHAPE : input->shape;
  rheos_attr attrs[] = {rheos_attr_shape("shape", &shape), rheos_attr_type("dtype", input->dtype)};
  rheos_output variable = add_cell(p, "VariableV2", attrs, 2);
  p->variables[p->num_variables++] = variable;
  if (input->kind == INPUT_VARIABLE) {
    rheos_output pair[] = {variable, rheos_constant(p->scope, input->tensor, NULL)};
    rheos_attr validate = rheos_attr_bool("validate_shape", !input->any_shape);
    p->initializers[p->num_initializers++] =
        add_op(p->scope, "Assign", NULL, pair, 2, &validate, 1);
  }
  return variable;
}

static rheos_output add_handle(op_program *p, int index, const op_input *input) {
  char shared_name[16];
  int length = snprintf(shared_name, sizeof shared_name, "in%d", index);
  rheos_attr attrs[] = {rheos_attr_type("dtype", input->dtype),
                        rheos_attr_shape("shape", &input->shape),
                        rheos_attr_string("shared_name", shared_name, (size_t)length)};
  rheos_output handle = add_cell(p, "VarHandleOp", attrs, 3);
  rheos_operation read = add_op(p->scope, "ReadVariableOp", NULL, &handle, 1, attrs, 1);
  p->variables[p->num_variables++] = rheos_operation_output(read, 0);
  if (input->kind == INPUT_VARIABLE) {
    rheos_output pair[] = {handle, rheos_constant(p->scope, input->tensor, NULL)};
    p->initializers[p->num_initializers++] =
        add_op(p->scope, "AssignVariableOp", NULL, pair, 2, NULL, 0);
  }
  return handle;
}

static rheos_output add_input(op_program *p, int index, const op_input *input, build_mode mode) {
  if (input->kind == INPUT_NODE) {
    return rheos_operation_output(input->node == THE_OP ? p->op : p->nodes[input->node], 0);
  }
  if (input->is_handle) return add_handle(p, index, input);
  if (input->kind == INPUT_VARIABLE || input->kind == INPUT_UNSET) return add_variable(p, input);
  bool constant =
      mode == BUILD_CONSTANT || (mode == BUILD_AS_RECORDED && input->kind == INPUT_CONST);
  if (constant) return rheos_constant(p->scope, input->tensor, NULL);
  return add_placeholder(p, input, mode != BUILD_UNKNOWN_SHAPES);
}

// What is added until the pop waits for these nodes.
static void push_waits(op_program *p, const int *waits, int count) {
  rheos_operation operations[CASE_MAX_WAITS];
  for (int i = 0; i < count; i++) {
    operations[i] = waits[i] == THE_OP ? p->op : p->nodes[waits[i]];
  }
  rheos_push_control_dependencies(p->scope, operations, (size_t)count);
}

// The nodes beside the op: those it needs, or those that need it.
static void add_nodes(op_program *p, const op_case *c, bool after_op) {
  for (int i = 0; i < c->num_nodes; i++) {
    const op_node *node = &c->nodes[i];
    rheos_output inputs[CASE_MAX_INPUTS];
    if (node->after_op != after_op || rheos_scope_status(p->scope)) continue;
    for (int k = 0; k < node->num_inputs; k++) {
      inputs[k] = add_input(p, k, &node->inputs[k], BUILD_AS_RECORDED);
    }
    push_waits(p, node->waits, node->num_waits);
    p->nodes[i] = add_op(p->scope, node->op, NULL, inputs, (size_t)node->num_inputs, node->attrs,
                         (size_t)node->num_attrs);
    rheos_scope_pop(p->scope);
  }
}

rheos_status *op_program_build(op_program *p, const op_case *c, build_mode mode) {
  return op_program_build_on(p, c, mode, NULL);
}

rheos_status *op_program_build_on(op_program *p, const op_case *c, build_mode mode,
                                  const char *device) {
  memset(p, 0, sizeof *p);
  p->c = c;
  p->device = device;
  p->graph = rheos_graph_new();
  p->scope = p->graph ? rheos_scope_new(p->graph) : NULL;
  if (!p->scope) return rheos_status_new(RHEOS_RESOURCE_EXHAUSTED, "no memory for a graph");
  add_nodes(p, c, false);
  for (int i = 0; i < c->num_inputs; i++) p->inputs[i] = add_input(p, i, &c->inputs[i], mode);
  if (device) rheos_push_device(p->scope, device);
  push_waits(p, c->waits, c->num_waits);
  p->op = add_op(p->scope, c->op, "op", p->inputs, (size_t)c->num_inputs, c->attrs,
                 (size_t)c->num_attrs);
  rheos_scope_pop(p->scope);
  if (device) rheos_scope_pop(p->scope);
  add_nodes(p, c, true);
  return rheos_scope_finish(p->scope);
}

void op_program_free(op_program *p) {
  rheos_scope_free(p->scope);
  rheos_graph_unref(p->graph);
  memset(p, 0, sizeof *p);
}

// ---- Running

int op_value_outputs(rheos_operation op, rheos_output outputs[CASE_MAX_OUTPUTS]) {
  int count = 0;
  for (int32_t i = 0; i < rheos_operation_num_outputs(op) && count < CASE_MAX_OUTPUTS; i++) {
    rheos_output output = rheos_operation_output(op, i);
    rheos_dtype dtype = rheos_dtype_base(rheos_output_dtype(output));
    if (dtype != RHEOS_RESOURCE && dtype != RHEOS_VARIANT) outputs[count++] = output;
  }
  return count;
}

static rheos_status *run_once(op_program *p, rheos_session *session, op_result *result) {
  rheos_fetch fetches[CASE_MAX_OUTPUTS] = {0};
  rheos_output values[CASE_MAX_OUTPUTS];
  int n = p->c->unfetched ? 0 : op_value_outputs(p->op, values);
  if (result->num_outputs + n > CASE_MAX_OUTPUTS) {
    return rheos_status_new(RHEOS_INTERNAL, "more outputs than a case can hold");
  }
  for (int i = 0; i < n; i++) fetches[i].output = values[i];
  rheos_status *status =
      rheos_session_run(session, p->feeds, p->num_feeds, fetches, (size_t)n, &p->op, 1, NULL);
  if (status) return status;
  for (int i = 0; i < n; i++) result->outputs[result->num_outputs++] = fetches[i].value;
  return NULL;
}

// What is not there has no value.
static rheos_status *read_after(op_program *p, rheos_session *session, rheos_output output,
                                op_result *result) {
  rheos_fetch fetch = {output, NULL};
  if (result->num_after == CASE_MAX_INPUTS) {
    return rheos_status_new(RHEOS_INTERNAL, "more to read than a case can hold");
  }
  rheos_status *status =
      rheos_session_run(session, p->feeds, p->num_feeds, &fetch, 1, NULL, 0, NULL);
  rheos_code code = rheos_status_code(status);
  if (status && code != RHEOS_FAILED_PRECONDITION && code != RHEOS_NOT_FOUND) return status;
  rheos_status_free(status);
  result->after[result->num_after++] = fetch.value;
  return NULL;
}

static rheos_status *read_all_after(op_program *p, rheos_session *session, op_result *result) {
  rheos_status *status = NULL;
  for (size_t i = 0; i < p->num_variables && !status; i++) {
    status = read_after(p, session, p->variables[i], result);
  }
  for (int i = 0; i < p->c->num_nodes; i++) {
    rheos_output outputs[CASE_MAX_OUTPUTS];
    if (p->c->nodes[i].role != NODE_LAST) continue;
    int n = op_value_outputs(p->nodes[i], outputs);
    for (int k = 0; k < n && !status; k++) status = read_after(p, session, outputs[k], result);
  }
  return status;
}

static rheos_status *run_first(op_program *p, rheos_session *session) {
  rheos_status *status = NULL;
  if (p->num_initializers > 0) {
    status =
        rheos_session_run(session, NULL, 0, NULL, 0, p->initializers, p->num_initializers, NULL);
  }
  for (int i = 0; i < p->c->num_nodes && !status; i++) {
    if (p->c->nodes[i].role != NODE_FIRST) continue;
    status = rheos_session_run(session, p->feeds, p->num_feeds, NULL, 0, &p->nodes[i], 1, NULL);
  }
  return status;
}

rheos_status *op_program_run(op_program *p, rheos_session *session, int num_runs,
                             op_result *result) {
  memset(result, 0, sizeof *result);
  if (p->c->has_files) op_cases_clear_folder(true);
  rheos_status *status = run_first(p, session);
  for (int run = 0; run < num_runs && !status; run++) status = run_once(p, session, result);
  if (!status) status = read_all_after(p, session, result);
  if (status) op_result_free(result);
  return status;
}

void op_result_free(op_result *result) {
  for (int i = 0; i < result->num_outputs; i++) rheos_tensor_unref(result->outputs[i]);
  for (int i = 0; i < result->num_after; i++) rheos_tensor_unref(result->after[i]);
  memset(result, 0, sizeof *result);
}

rheos_status *op_case_run(const op_case *c, build_mode mode, int num_threads, op_result *result) {
  const rheos_session_options options = {.num_threads = num_threads};
  return op_case_run_on(c, mode, &options, NULL, result);
}

rheos_status *op_case_run_on(const op_case *c, build_mode mode,
                             const rheos_session_options *options, const char *device,
                             op_result *result) {
  op_program program;
  rheos_session *session = NULL;
  memset(result, 0, sizeof *result);
  rheos_status *status = op_program_build_on(&program, c, mode, device);
  if (!status) status = rheos_session_new(program.graph, options, &session);
  if (!status) status = op_program_run(&program, session, c->num_runs, result);
  rheos_session_free(session);
  op_program_free(&program);
  return status;
}

static bool is_of_numbers(rheos_dtype dtype) {
  return dtype != RHEOS_STRING && dtype != RHEOS_RESOURCE && dtype != RHEOS_VARIANT;
}

bool op_case_runs_on(const op_case *c, const rheos__device *device) {
  const rheos__signature *signature = rheos__signature_by_name(c->op);
  if (!signature || !rheos__device_has_kernel(device, signature->op, NULL)) return false;
  if (signature->op->flags & RHEOS_OP_CONSTANT || c->num_nodes > 0) return false;
  for (int i = 0; i < c->num_inputs; i++) {
    if (c->inputs[i].kind == INPUT_NODE || !is_of_numbers(c->inputs[i].dtype)) return false;
  }
  for (int i = 0; i < c->num_outputs; i++) {
    if (!is_of_numbers(rheos_tensor_dtype(c->outputs[i].tensor))) return false;
  }
  return true;
}

// ---- Comparing

double op_number_at(const rheos_tensor *tensor, int64_t index) {
  const void *data = rheos_tensor_data(tensor);
  switch (rheos_tensor_dtype(tensor)) {
    case RHEOS_FLOAT: return ((const float *)data)[index];
    case RHEOS_DOUBLE: return ((const double *)data)[index];
    case RHEOS_HALF: return rheos__half_to_float(((const uint16_t *)data)[index]);
    case RHEOS_BFLOAT16: return rheos__bfloat16_to_float(((const uint16_t *)data)[index]);
    case RHEOS_COMPLEX64: return ((const float *)data)[2 * index];
    case RHEOS_COMPLEX128: return ((const double *)data)[2 * index];
    case RHEOS_QINT8: return ((const int8_t *)data)[index];
    case RHEOS_QUINT8: return ((const uint8_t *)data)[index];
    case RHEOS_QINT16: return ((const int16_t *)data)[index];
    case RHEOS_QUINT16: return ((const uint16_t *)data)[index];
    case RHEOS_QINT32: return ((const int32_t *)data)[index];
    default: return (double)rheos__tensor_int_at(tensor, index);
  }
}

// The imaginary part; 0 for other numbers.
static double imaginary_at(const rheos_tensor *tensor, int64_t index) {
  const void *data = rheos_tensor_data(tensor);
  rheos_dtype dtype = rheos_tensor_dtype(tensor);
  if (dtype == RHEOS_COMPLEX64) return ((const float *)data)[2 * index + 1];
  return dtype == RHEOS_COMPLEX128 ? ((const double *)data)[2 * index + 1] : 0;
}

static bool numbers_agree(double expected, double actual, op_tolerance tolerance) {
  if (isnan(expected) || isnan(actual)) return isnan(expected) && isnan(actual);
  if (isinf(expected) || isinf(actual)) return expected == actual;
  return fabs(expected - actual) <= tolerance.absolute + tolerance.relative * fabs(expected);
}

static bool strings_agree(const rheos_tensor *a, const rheos_tensor *b, int64_t index) {
  const rheos_string *x = (const rheos_string *)rheos_tensor_data(a) + index;
  const rheos_string *y = (const rheos_string *)rheos_tensor_data(b) + index;
  if (x->size_bytes != y->size_bytes) return false;
  return x->size_bytes == 0 || memcmp(x->data, y->data, x->size_bytes) == 0;
}

static bool elements_agree(const rheos_tensor *expected, const rheos_tensor *actual, int64_t i,
                           op_tolerance tolerance) {
  rheos_dtype dtype = rheos_tensor_dtype(expected);
  size_t size = rheos_dtype_size(dtype);
  if (dtype == RHEOS_STRING) return strings_agree(expected, actual, i);
  if (!rheos_dtype_is_floating(dtype) && !rheos_dtype_is_complex(dtype)) {
    return memcmp((const char *)rheos_tensor_data(expected) + (size_t)i * size,
                  (const char *)rheos_tensor_data(actual) + (size_t)i * size, size) == 0;
  }
  // The parts of a complex number are as far off as the number is large.
  double x = op_number_at(expected, i), y = imaginary_at(expected, i);
  if (y != 0) tolerance.absolute += tolerance.relative * hypot(x, y);
  return numbers_agree(x, op_number_at(actual, i), tolerance) &&
         numbers_agree(y, imaginary_at(actual, i), tolerance);
}

bool op_tensors_agree(const rheos_tensor *expected, const rheos_tensor *actual,
                      op_tolerance tolerance, char *message, size_t size_bytes) {
  rheos_dtype dtype = rheos_tensor_dtype(expected);
  if (rheos_tensor_dtype(actual) != dtype) {
    snprintf(message, size_bytes, "dtype %s, expected %s",
             rheos_dtype_name(rheos_tensor_dtype(actual)), rheos_dtype_name(dtype));
    return false;
  }
  const rheos_shape *shape = rheos_tensor_shape(expected);
  if (!rheos_shape_equal(rheos_tensor_shape(actual), shape)) {
    rheos__shape_text x, y;
    snprintf(message, size_bytes, "shape %s, expected %s",
             rheos__shape_text_of(rheos_tensor_shape(actual), &x), rheos__shape_text_of(shape, &y));
    return false;
  }
  for (int64_t i = 0; i < rheos_tensor_num_elements(expected); i++) {
    if (elements_agree(expected, actual, i, tolerance)) continue;
    if (dtype == RHEOS_STRING) {
      snprintf(message, size_bytes, "another string in element %lld", (long long)i);
    } else if (rheos_dtype_is_complex(dtype)) {
      snprintf(message, size_bytes, "%.17g%+.17gi in element %lld, expected %.17g%+.17gi",
               op_number_at(actual, i), imaginary_at(actual, i), (long long)i,
               op_number_at(expected, i), imaginary_at(expected, i));
    } else {
      snprintf(message, size_bytes, "%.17g in element %lld, expected %.17g",
               op_number_at(actual, i), (long long)i, op_number_at(expected, i));
    }
    return false;
  }
  return true;
}

static bool tensors_identical(const rheos_tensor *a, const rheos_tensor *b) {
  if (!a || !b) return a == b;
  char message[8];
  if (rheos_tensor_dtype(a) == RHEOS_STRING) {
    return op_tensors_agree(a, b, (op_tolerance){0, 0}, message, sizeof message);
  }
  return rheos_tensor_dtype(a) == rheos_tensor_dtype(b) &&
         rheos_shape_equal(rheos_tensor_shape(a), rheos_tensor_shape(b)) &&
         memcmp(rheos_tensor_data(a), rheos_tensor_data(b), rheos_tensor_size_bytes(a)) == 0;
}

bool op_results_identical(const op_result *a, const op_result *b) {
  bool same = a->num_outputs == b->num_outputs && a->num_after == b->num_after;
  for (int i = 0; same && i < a->num_outputs; i++) {
    same = tensors_identical(a->outputs[i], b->outputs[i]);
  }
  for (int i = 0; same && i < a->num_after; i++) same = tensors_identical(a->after[i], b->after[i]);
  return same;
}

const char *op_status_text(const rheos_status *status) {
  static _Thread_local char text[600];
  if (!status) return "OK";
  snprintf(text, sizeof text, "%s: %s", rheos_code_name(rheos_status_code(status)),
           rheos_status_message(status));
  return text;
}

// ---- One test an op

typedef struct op_group {
  const op_cases *cases;
  size_t first, end;
  op_check check;
} op_group;

static int wrong_count;

void op_wrong(const op_case *c, const char *format, ...) {
  wrong_count++;
  if (wrong_count > 12) return;
  fprintf(stderr, "  %s %s: ", c->op, c->tag);
  va_list args;
  va_start(args, format);
  vfprintf(stderr, format, args);
  va_end(args);
  fputc('\n', stderr);
}

static void test_group(void **state) {
  const op_group *group = *state;
  wrong_count = 0;
  const op_case *first = &group->cases->items[group->first];
  if (!rheos__signature_by_name(first->op)) {
    fail_msg("%s is missing from the table of ops", first->op);
  }
  group->check(group->cases, group->first, group->end);
  if (wrong_count > 0) fail_msg("%s: %d wrong", first->op, wrong_count);
}

static bool is_among(const char *op, const char *const *names) {
  while (*names != NULL && strcmp(op, *names) != 0) names++;
  return *names != NULL;
}

// Ops that need libraries which this build leaves out or this processor cannot run, be it for their
// gradients: of pictures, of linear algebra.
static bool is_left_out(const char *op) {
  static const char *const pictures[] = {
      "DecodeAndCropJpeg", "DecodeGif",    "DecodeImage", "DecodeJpeg",
      "DecodePng",         "EncodeJpeg",   "EncodePng",   "EncodeJpegVariableQuality",
      "ExtractJpegShape",  "ImageSummary", NULL,
  };
  static const char *const linear_algebra[] = {
      "BatchCholesky",
      "BatchCholeskyGrad",
      "BatchMatrixDeterminant",
      "BatchMatrixInverse",
      "BatchMatrixSolve",
      "BatchMatrixSolveLs",
      "BatchMatrixTriangularSolve",
      "BatchSelfAdjointEig",
      "BatchSelfAdjointEigV2",
      "BatchSvd",
      "Cholesky",
      "CholeskyGrad",
      "Eig",
      "LogMatrixDeterminant",
      "Lu",
      "MatrixDeterminant",
      "MatrixInverse",
      "MatrixLogarithm",
      "MatrixSolve",
      "MatrixSolveLs",
      "MatrixSquareRoot",
      "MatrixTriangularSolve",
      "Qr",
      "SelfAdjointEig",
      "SelfAdjointEigV2",
      "Svd",
      "ImageProjectiveTransformV2",
      "ImageProjectiveTransformV3",
      NULL,
  };
#ifdef RHEOS_WITH_IMAGES
  const bool has_pictures = true;
#else
  const bool has_pictures = false;
#endif
  return (!has_pictures && is_among(op, pictures)) ||
         (!rheos__lapack_is_there() && is_among(op, linear_algebra));
}

static size_t make_tests(const op_cases *cases, op_check check, bool (*wanted)(const op_case *c),
                         const char *only, op_group *groups, struct CMUnitTest *tests) {
  size_t n = 0;
  for (size_t i = 0, end; i < cases->count; i = end) {
    end = op_cases_end(cases, i);
    const char *op = cases->items[i].op;
    bool any = !wanted;
    for (size_t j = i; !any && j < end; j++) any = wanted(&cases->items[j]);
    if (!any || is_left_out(op) || (only && strcmp(only, op) != 0)) continue;
    groups[n] = (op_group){cases, i, end, check};
    tests[n] = (struct CMUnitTest){op, test_group, NULL, NULL, &groups[n]};
    n++;
  }
  return n;
}

int op_tests_run(const char *name, op_check check, bool (*wanted)(const op_case *c), int argc,
                 char **argv) {
  op_cases cases;
  op_cases_load(&cases);
  op_group *groups = calloc(cases.count, sizeof *groups);
  struct CMUnitTest *tests = calloc(cases.count, sizeof *tests);
  int failed = 1;
  if (groups && tests) {
    size_t n = make_tests(&cases, check, wanted, argc > 1 ? argv[1] : NULL, groups, tests);
    failed = _cmocka_run_group_tests(name, tests, n, NULL, NULL);
  }
  free(tests);
  free(groups);
  op_cases_free(&cases);
  op_cases_clear_folder(false);
  return failed;
}
