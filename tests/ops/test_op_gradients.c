// Gradients against central differences, at the recorded points that are smooth, once with known
// and once with unknown shapes: in double where the op has it, else in float. Usage:
// test_op_gradients [op]
#include <math.h>
#include <string.h>

#include "graph/op_def.h"
#include "ops/op_harness.h"

enum { MAX_ELEMENTS = 64 };

// Inputs (-1: none) and outputs (-1: none) that no gradient goes through, as in TensorFlow.
typedef struct exception {
  const char *op;
  int input, output;
  const char *why;
} exception;
static const exception exceptions[] = {
    {"CTCLoss", -1, 1, "the op's own derivative"},
    {"PadV2", 2, -1, "none is defined for the value that is padded with"},
    {"SoftmaxCrossEntropyWithLogits", -1, 1, "the op's own derivative, not complete for labels"},
    {"SparseSoftmaxCrossEntropyWithLogits", -1, 1, "the op's own derivative"},
};

static const exception *exception_of(const char *op) {
  for (size_t i = 0; i < sizeof exceptions / sizeof *exceptions; i++) {
    if (strcmp(exceptions[i].op, op) == 0) return &exceptions[i];
  }
  return NULL;
}

typedef struct gradient_check {
  const op_case *c;
  op_program program;
  rheos_session *session;
  int num_ys, num_xs;
  rheos_output ys[CASE_MAX_OUTPUTS];
  int xs[CASE_MAX_INPUTS];  // indices of the inputs
  double weights[CASE_MAX_OUTPUTS][MAX_ELEMENTS];
  rheos_output grad_ys[CASE_MAX_OUTPUTS];
  rheos_gradient gradients[CASE_MAX_INPUTS];
} gradient_check;

// Complex numbers count as pairs of numbers: a gradient's parts are the derivatives by the parts.
static bool is_differentiable(rheos_dtype dtype) {
  return dtype == RHEOS_DOUBLE || dtype == RHEOS_COMPLEX128 || dtype == RHEOS_FLOAT ||
         dtype == RHEOS_COMPLEX64;
}
static bool is_single(rheos_dtype dtype) {
  return dtype == RHEOS_FLOAT || dtype == RHEOS_COMPLEX64;
}
static int64_t num_parts(const rheos_tensor *tensor) {
  const bool pairs = rheos_dtype_is_complex(rheos_tensor_dtype(tensor));
  return rheos_tensor_num_elements(tensor) * (pairs ? 2 : 1);
}
static double part_at(const rheos_tensor *tensor, int64_t k) {
  const void *data = rheos_tensor_data(tensor);
  return is_single(rheos_tensor_dtype(tensor)) ? ((const float *)data)[k]
                                               : ((const double *)data)[k];
}
static void set_part(rheos_tensor *tensor, int64_t k, double part) {
  void *data = rheos_tensor_data(tensor);
  if (is_single(rheos_tensor_dtype(tensor))) {
    ((float *)data)[k] = (float)part;
  } else {
    ((double *)data)[k] = part;
  }
}

// Weights of the outputs' elements: fixed, of both signs, no two alike.
static void choose_ys(gradient_check *g) {
  const op_case *c = g->c;
  const exception *but = exception_of(c->op);
  for (int i = 0; i < c->num_outputs; i++) {
    rheos_tensor *value = c->outputs[i].tensor;
    if (!is_differentiable(rheos_tensor_dtype(value)) || (but && but->output == i)) continue;
    int64_t count = num_parts(value);
    if (count > MAX_ELEMENTS) op_wrong(c, "too many elements for a gradient check");
    for (int64_t k = 0; k < count && k < MAX_ELEMENTS; k++) {
      g->weights[g->num_ys][k] = cos(1.0 + 2.1 * (double)k) + 0.3;
    }
    rheos_tensor *weights = NULL;
    rheos_status_free(
        rheos_tensor_new(rheos_tensor_dtype(value), *rheos_tensor_shape(value), &weights));
    for (int64_t k = 0; k < count && k < MAX_ELEMENTS; k++) {
      set_part(weights, k, g->weights[g->num_ys][k]);
    }
    g->grad_ys[g->num_ys] = rheos_constant(g->program.scope, weights, NULL);
    rheos_tensor_unref(weights);
    g->ys[g->num_ys++] = rheos_operation_output(g->program.op, i);
  }
}

static rheos_status *add_gradients(gradient_check *g) {
  rheos_output xs[CASE_MAX_INPUTS];
  const exception *but = exception_of(g->c->op);
  for (int i = 0; i < g->c->num_inputs; i++) {
    const op_input *input = &g->c->inputs[i];
    if (input->kind != INPUT_FEED || !is_differentiable(input->dtype)) continue;
    if (but && but->input == i) continue;
    xs[g->num_xs] = g->program.inputs[i];
    g->xs[g->num_xs++] = i;
  }
  choose_ys(g);
  rheos_gradients_options options = {.grad_ys = g->grad_ys};
  rheos_gradients(g->program.scope, g->ys, (size_t)g->num_ys, xs, (size_t)g->num_xs, &options,
                  g->gradients);
  return rheos_scope_finish(g->program.scope);
}

// sum(weights * ys) at the values that are fed now.
static rheos_status *evaluate(gradient_check *g, double *out_sum) {
  rheos_fetch fetches[CASE_MAX_OUTPUTS] = {0};
  for (int i = 0; i < g->num_ys; i++) fetches[i].output = g->ys[i];
  rheos_status *status = rheos_session_run(g->session, g->program.feeds, g->program.num_feeds,
                                           fetches, (size_t)g->num_ys, NULL, 0, NULL);
  *out_sum = 0;
  for (int i = 0; i < g->num_ys && !status; i++) {
    for (int64_t k = 0; k < num_parts(fetches[i].value); k++) {
      *out_sum += g->weights[i][k] * part_at(fetches[i].value, k);
    }
  }
  for (int i = 0; i < g->num_ys; i++) rheos_tensor_unref(fetches[i].value);
  return status;
}

// The analytic gradient for x number `x` in `values`; rows of sparse ones are added up.
static rheos_status *analytic(gradient_check *g, int x, double *values) {
  rheos_gradient *gradient = &g->gradients[x];
  rheos_fetch fetches[2] = {{gradient->values, NULL}, {gradient->indices, NULL}};
  size_t num_fetches = gradient->indices.graph ? 2 : 1;
  memset(values, 0, MAX_ELEMENTS * sizeof *values);
  if (!gradient->values.graph) return NULL;
  rheos_status *status = rheos_session_run(g->session, g->program.feeds, g->program.num_feeds,
                                           fetches, num_fetches, NULL, 0, NULL);
  if (status) return status;
  rheos_tensor *rows = fetches[0].value;
  int64_t count = num_parts(rows);
  const rheos_tensor *input = g->c->inputs[g->xs[x]].tensor;
  if (num_fetches == 1) {
    if (!rheos_shape_equal(rheos_tensor_shape(rows), rheos_tensor_shape(input))) {
      op_wrong(g->c, "the gradient of input %d has another shape than the input", g->xs[x]);
      count = 0;
    }
    for (int64_t k = 0; k < count; k++) values[k] = part_at(rows, k);
  } else {
    int64_t num_rows = rheos_tensor_num_elements(fetches[1].value);
    int64_t width = num_rows ? count / num_rows : 0;
    for (int64_t k = 0; k < count; k++) {
      int64_t row = (int64_t)op_number_at(fetches[1].value, k / width);
      values[row * width + k % width] += part_at(rows, k);
    }
  }
  rheos_tensor_unref(rows);
  rheos_tensor_unref(fetches[1].value);
  return NULL;
}

// Cholesky reads one triangle only, and its gradient is that of symmetric matrices: the element
// that moves together with element k.
static int64_t mirror_of(const gradient_check *g, const rheos_tensor *input, int64_t k) {
  if (strcmp(g->c->op, "Cholesky") != 0) return k;
  const rheos_shape *shape = rheos_tensor_shape(input);
  const int64_t n = shape->dims[shape->rank - 1], at = k % (n * n);
  return k - at + at % n * n + at / n;
}

static rheos_status *check_x(gradient_check *g, int x) {
  double values[MAX_ELEMENTS];
  rheos_status *status = analytic(g, x, values);
  if (status) return status;
  rheos_tensor *input = g->c->inputs[g->xs[x]].tensor;
  const bool single = is_single(rheos_tensor_dtype(input));
  const double step = single ? 0x1p-7 : 1e-5, most = single ? 4e-3 : 1e-6;
  for (int64_t k = 0; k < num_parts(input) && !status; k++) {
    const int64_t mirror = mirror_of(g, input, k);
    const double here = part_at(input, k), there = part_at(input, mirror);
    double above = 0, below = 0;
    set_part(input, k, here + step);
    set_part(input, mirror, here + step);
    status = evaluate(g, &above);
    set_part(input, k, here - step);
    set_part(input, mirror, here - step);
    if (!status) status = evaluate(g, &below);
    set_part(input, mirror, there);
    set_part(input, k, here);
    double numeric = (above - below) / (2 * step);
    double exact = values[k] + (mirror == k ? 0 : values[mirror]);
    if (!status && !(fabs(numeric - exact) <= most + most * fabs(numeric))) {
      op_wrong(g->c, "gradient of input %d, element %lld: %.10g, by differences %.10g", g->xs[x],
               (long long)k, exact, numeric);
    }
  }
  return status;
}

static void check_case(const op_case *c, build_mode mode) {
  gradient_check g = {.c = c};
  rheos_status *status = op_program_build(&g.program, c, mode);
  if (!status) status = add_gradients(&g);
  rheos_session_options options = {.num_threads = 1};
  if (!status) status = rheos_session_new(g.program.graph, &options, &g.session);
  for (int x = 0; x < g.num_xs && !status; x++) status = check_x(&g, x);
  if (status) op_wrong(c, "gradient (mode %d): %s", mode, op_status_text(status));
  rheos_status_free(status);
  rheos_session_free(g.session);
  op_program_free(&g.program);
}

static bool is_wanted(const op_case *c) { return c->check_gradient; }

// Ops whose gradient is another one for matrices that are not square.
static bool needs_shapes(const char *op) {
  static const char *const ops[] = {"MatrixDiagPart", "Qr", "Svd"};
  for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
    if (strcmp(ops[i], op) == 0) return true;
  }
  return false;
}

static void check_cases(const op_cases *cases, size_t first, size_t end) {
  for (size_t i = first; i < end; i++) {
    if (!is_wanted(&cases->items[i])) continue;
    check_case(&cases->items[i], BUILD_AS_RECORDED);
    if (needs_shapes(cases->items[i].op)) continue;
    check_case(&cases->items[i], BUILD_UNKNOWN_SHAPES);
  }
}

int main(int argc, char **argv) {
  return op_tests_run("op_gradients", check_cases, is_wanted, argc, argv);
}
