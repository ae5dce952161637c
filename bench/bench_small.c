// What an op costs in a step beside its arithmetic. A step runs COPIES of an op; their time at two
// sizes gives a line, whose value at no elements is the overhead. Processor time of the one thread.
// One JSON object a line.
#include <string.h>

#include <rheos/ops.h>
#include <rheos/scope.h>
#include <rheos/session.h>
#include <rheos/train.h>

#define BENCH_CLOCK CLOCK_THREAD_CPUTIME_ID
#include "bench.h"

// Sizes in elements; the larger still fits into the first-level cache.
enum { COPIES = 200, ROWS = 8, SMALL = 64, LARGE = 1024, GOAL_NS = 150 };

// Operands of all rows: vectors [n], matrices [ROWS, n / ROWS], what is constant.
typedef struct operands {
  rheos_output a, b, m, row, column, condition;
  rheos_output indices, depth, zero, one, rows, permutation, paddings, begin, end, strides, shape;
  rheos_output images, filter;
} operands;

typedef rheos_output (*op_row)(rheos_scope *s, const operands *o);

#define ROW(function, expression) \
  static rheos_output function(rheos_scope *s, const operands *o) { return expression; }
ROW(add, rheos_add(s, o->a, o->b))
ROW(add_row, rheos_add(s, o->m, o->row))
ROW(add_column, rheos_add(s, o->m, o->column))
ROW(relu, rheos_relu(s, o->a))
ROW(tanh_op, rheos_tanh(s, o->a))
ROW(less, rheos_less(s, o->a, o->b))
ROW(where, rheos_select(s, o->condition, o->a, o->b))
ROW(cast, rheos_cast(s, o->a, RHEOS_INT32))
ROW(identity, rheos_identity(s, o->a))
ROW(reshape, rheos_reshape(s, o->a, o->shape))
ROW(sum_all, rheos_sum(s, o->a, o->zero))
ROW(sum_rows, rheos_sum(s, o->m, o->one))
ROW(sum_columns, rheos_sum(s, o->m, o->zero))
ROW(arg_max, rheos_argmax(s, o->m, o->one))
ROW(cumsum, rheos_cumsum(s, o->m, o->one))
ROW(softmax, rheos_softmax(s, o->m))
ROW(transpose, rheos_transpose(s, o->m, o->permutation))
ROW(gather, rheos_gather_v2(s, o->m, o->indices, o->zero))
ROW(one_hot, rheos_one_hot(s, o->indices, o->depth, rheos_constant_float(s, 1, NULL),
                           rheos_constant_float(s, 0, NULL)))
ROW(pad, rheos_pad(s, o->m, o->paddings))
ROW(slice, rheos_strided_slice(s, o->m, o->begin, o->end, o->strides))
ROW(tile, rheos_tile(s, o->a, o->rows))
ROW(bias_add, rheos_bias_add(s, o->m, o->row))
ROW(concat, rheos_concat_v2(s, (rheos_output[]){o->m, o->m}, 2, o->zero))
ROW(pack, rheos_pack(s, (rheos_output[]){o->a, o->b}, 2))
ROW(mat_mul, rheos_matmul(s, o->m, o->m, .transpose_b = true))
#undef ROW

static rheos_output constant_ints(rheos_scope *s, rheos_shape shape, const int32_t *values) {
  rheos_tensor *tensor = NULL;
  check(rheos_tensor_from_values(RHEOS_INT32, shape, values, &tensor));
  const rheos_output output = rheos_constant(s, tensor, NULL);
  rheos_tensor_unref(tensor);
  return output;
}

static operands make_operands(rheos_scope *s, int32_t n) {
  const int32_t columns = n / ROWS;
  const rheos_initializer random = rheos_random_uniform_initializer(-1, 1);
#define VARIABLE(name, ...) \
  rheos_get_variable(s, name, RHEOS_FLOAT, RHEOS_SHAPE(__VA_ARGS__), random)
  operands o = {
      .a = VARIABLE("a", n),
      .b = VARIABLE("b", n),
      .m = VARIABLE("m", ROWS, columns),
      .row = VARIABLE("row", columns),
      .column = VARIABLE("column", ROWS, 1),
      // In variables, or their ops would run once, before the first step.
      .indices = rheos_get_variable(s, "indices", RHEOS_INT32, RHEOS_SHAPE(ROWS), rheos_zeros()),
      .zero = rheos_constant_int(s, 0, NULL),
      .one = rheos_constant_int(s, 1, NULL),
      .depth = rheos_constant_int(s, columns, NULL)};
#undef VARIABLE
  rheos_tensor *condition = NULL;
  check(rheos_tensor_new(RHEOS_BOOL, RHEOS_SHAPE(n), &condition));
  for (int32_t i = 0; i < n; i++) ((bool *)rheos_tensor_data(condition))[i] = i % 3 == 0;
  o.condition = rheos_constant(s, condition, NULL);
  rheos_tensor_unref(condition);
  o.permutation = constant_ints(s, RHEOS_SHAPE(2), (int32_t[]){1, 0});
  o.paddings = constant_ints(s, RHEOS_SHAPE(2, 2), (int32_t[]){1, 1, 1, 1});
  o.begin = constant_ints(s, RHEOS_SHAPE(2), (int32_t[]){0, 1});
  o.end = constant_ints(s, RHEOS_SHAPE(2), (int32_t[]){ROWS, columns});
  o.strides = constant_ints(s, RHEOS_SHAPE(2), (int32_t[]){1, 1});
  o.shape = constant_ints(s, RHEOS_SHAPE(2), (int32_t[]){columns, ROWS});
  o.rows = constant_ints(s, RHEOS_SHAPE(1), (int32_t[]){2});
  return o;
}

static void run(void *argument) { check(rheos_callable_run(argument, NULL, NULL, NULL)); }

// ns of one of `copies` in a step, with what the step itself costs.
static double step_ns(op_row row, int32_t n, int copies) {
  rheos_graph *graph = rheos_graph_new();
  rheos_scope *s = rheos_scope_new(graph);
  const operands o = make_operands(s, n);
  const rheos_operation init = rheos_global_variables_initializer(s);
  rheos_operation targets[COPIES];
  for (int i = 0; i < copies; i++) targets[i] = rheos_output_operation(row(s, &o));
  check(rheos_scope_finish(s));
  rheos_session *session = NULL;
  // Or the copies become one.
  const rheos_session_options options = {.num_threads = 1,
                                         .rewrites = {.disable_meta_optimizer = true}};
  check(rheos_session_new(graph, &options, &session));
  check(rheos_session_run(session, NULL, 0, NULL, 0, &init, 1, NULL));
  rheos_callable *callable = NULL;
  check(rheos_callable_new(session, NULL, 0, NULL, 0, targets, (size_t)copies, &callable));
  const double result = time_calls(run, callable, 300);
  rheos_callable_free(callable);
  rheos_session_free(session);
  rheos_scope_free(s);
  rheos_graph_unref(graph);
  return result;
}

static void bench(const char *name, op_row row) {
  const double small = (step_ns(row, SMALL, COPIES) - step_ns(row, SMALL, 1)) / (COPIES - 1);
  const double large = (step_ns(row, LARGE, COPIES) - step_ns(row, LARGE, 1)) / (COPIES - 1);
  const double element = (large - small) / (LARGE - SMALL);
  char text[120];
  snprintf(text, sizeof text, "%s, %d elements: overhead", name, SMALL);
  report(text, "ns", small - SMALL * element, GOAL_NS, "op with its arithmetic", small);
}

int main(void) {
  static const struct {
    const char *name;
    op_row row;
  } rows[] = {{"Add", add},
              {"Add a row", add_row},
              {"Add a column", add_column},
              {"Relu", relu},
              {"Tanh", tanh_op},
              {"Less", less},
              {"Select", where},
              {"Cast", cast},
              {"Identity", identity},
              {"Reshape", reshape},
              {"Sum of all", sum_all},
              {"Sum of rows", sum_rows},
              {"Sum of columns", sum_columns},
              {"ArgMax", arg_max},
              {"Cumsum", cumsum},
              {"Softmax", softmax},
              {"Transpose", transpose},
              {"GatherV2", gather},
              {"OneHot", one_hot},
              {"Pad", pad},
              {"StridedSlice", slice},
              {"Tile", tile},
              {"BiasAdd", bias_add},
              {"ConcatV2", concat},
              {"Pack", pack},
              {"MatMul [8, n] by [n, 8]", mat_mul}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) bench(rows[i].name, rows[i].row);
  return 0;
}
