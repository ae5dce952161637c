// What functions, branches and loops copy where their bodies run on a device with a memory of its
// own: inputs in once, results out once, and of a trip nothing but whether another one follows.
// What arrays and lists keep stays there.
#include "device/private_fixture.h"

enum { ROWS = 5, COLUMNS = 7, FEW = 3, MANY = 30 };

#define THERE "/device:TEST:0"
#define HERE "/cpu:0"

static rheos_tensor *numbers(int seed) {
  rheos_tensor *tensor = NULL;
  check(rheos_tensor_new(RHEOS_FLOAT, RHEOS_SHAPE(ROWS, COLUMNS), &tensor));
  float *data = rheos_tensor_data(tensor);
  for (int i = 0; i < ROWS * COLUMNS; ++i) data[i] = (float)((i * 37 + seed) % 64 - 31) / 16;
  return tensor;
}

static rheos_tensor *integer(int32_t value) {
  rheos_tensor *tensor = NULL;
  check(rheos_tensor_from_values(RHEOS_INT32, RHEOS_SCALAR, &value, &tensor));
  return tensor;
}

static void assert_same(const rheos_tensor *a, const rheos_tensor *b) {
  assert_true(rheos_shape_equal(rheos_tensor_shape(a), rheos_tensor_shape(b)));
  assert_memory_equal(rheos_tensor_data(a), rheos_tensor_data(b), rheos_tensor_size_bytes(a));
}

// ---- Programs

// A program on the device, or all of it on the CPU. What it is fed: two matrices and a number.
typedef struct program {
  const char *device;
  rheos_graph *graph;
  rheos_scope *s;
  rheos_session *session;
  rheos_output x, kept, number, result;
} program;

typedef void (*builder)(program *p);

static void make(const fixture *f, program *p, const char *device, builder build) {
  *p = (program){.device = device, .graph = rheos_graph_new()};
  p->s = rheos_scope_new(p->graph);
  const rheos_shape matrix = RHEOS_SHAPE(ROWS, COLUMNS);
  p->x = rheos_placeholder(p->s, RHEOS_FLOAT, .shape = &matrix);
  p->kept = rheos_placeholder(p->s, RHEOS_FLOAT, .shape = &matrix);
  p->number = rheos_placeholder(p->s, RHEOS_INT32, .shape = &RHEOS_SCALAR);
  build(p);
  check(rheos_scope_finish(p->s));
  check(rheos_session_new(p->graph, &(rheos_session_options){.host = f->host}, &p->session));
}

static void drop(program *p) {
  rheos_session_free(p->session);
  rheos_scope_free(p->s);
  rheos_graph_unref(p->graph);
}

static rheos_tensor *run(const program *p, int32_t number) {
  rheos_feed feeds[] = {{p->x, numbers(5)}, {p->kept, numbers(11)}, {p->number, integer(number)}};
  rheos_fetch fetch = {p->result, NULL};
  check(rheos_session_run(p->session, feeds, 3, &fetch, 1, NULL, 0, NULL));
  for (int i = 0; i < 3; ++i) rheos_tensor_unref(feeds[i].value);
  return fetch.value;
}

// Runs it on the device, where it gives the bits that it gives on the CPU, and counts.
static private_device_counts count_run(const fixture *f, const program *there, const program *here,
                                       int32_t number) {
  rheos_tensor *expected = run(here, number);
  rheos_tensor_unref(run(there, number));  // constants are there
  const private_device_counts before = private_device_count(&f->device);
  rheos_tensor *value = run(there, number);
  const private_device_counts after = private_device_count(&f->device);
  assert_same(value, expected);
  assert_string_equal(rheos_tensor_device(value), "");
  rheos_tensor_unref(value);
  rheos_tensor_unref(expected);
  return (private_device_counts){
      .num_kernels = after.num_kernels - before.num_kernels,
      .num_from_host = after.num_from_host - before.num_from_host,
      .num_to_host = after.num_to_host - before.num_to_host,
      .num_between = after.num_between - before.num_between,
      .num_within = after.num_within - before.num_within,
      .num_synchronized = after.num_synchronized - before.num_synchronized};
}

// ---- Bodies

static rheos_output one(rheos_scope *s) {
  rheos_tensor *tensor = integer(1);
  rheos_output output = rheos_constant(s, tensor, NULL);
  rheos_tensor_unref(tensor);
  return output;
}

// Three kernels.
static rheos_output mixed(rheos_scope *s, rheos_output x, rheos_output kept) {
  const rheos_output half = rheos_constant_float(s, 0.5F, NULL);
  return rheos_sub(s, rheos_abs(s, rheos_mul(s, x, half)), kept);
}

// Variables of a loop: how many trips there were, two that change, one that stays, the limit.
enum { COUNT, VALUE, OTHER, KEPT, LIMIT, NUM_VARIABLES };

static rheos_output goes_on(rheos_scope *s, void *argument, const rheos_output *v, size_t count) {
  (void)argument, (void)count;
  return rheos_less(s, v[COUNT], v[LIMIT]);
}

static void next_values(rheos_scope *s, void *argument, const rheos_output *v, rheos_output *next,
                        size_t count) {
  (void)argument, (void)count;
  next[COUNT] = rheos_add(s, v[COUNT], one(s));
  next[VALUE] = mixed(s, v[VALUE], v[KEPT]);
  next[OTHER] = rheos_add(s, v[OTHER], next[VALUE]);
  next[KEPT] = v[KEPT];
  next[LIMIT] = v[LIMIT];
}

static void first_values(program *p, rheos_output values[NUM_VARIABLES]) {
  rheos_tensor *zero = integer(0);
  values[COUNT] = rheos_constant(p->s, zero, NULL);
  rheos_tensor_unref(zero);
  values[VALUE] = p->x;
  values[OTHER] = p->x;
  values[KEPT] = p->kept;
  values[LIMIT] = p->number;
}

static void fetch_sum(program *p, rheos_output a, rheos_output b) {
  rheos_push_device(p->s, p->device);
  p->result = rheos_add(p->s, a, b);
  rheos_scope_pop(p->s);
}

static rheos_function *begin(program *p, const char *name, const rheos_output *like, size_t count,
                             rheos_output *arguments) {
  rheos_function *function = rheos_function_begin(p->s, name, NULL);
  rheos_push_device(rheos_function_scope(function), p->device);
  for (size_t i = 0; i < count; ++i) {
    arguments[i] = rheos_function_argument(function, NULL, rheos_output_dtype(like[i]),
                                           rheos_output_shape(like[i]));
  }
  return function;
}

static void finish(program *p, rheos_function *function) {
  rheos_scope_pop(rheos_function_scope(function));
  assert_true(rheos_function_finish(function, p->s));
}

static rheos_operation op_with(program *p, const char *type, const rheos_output *inputs,
                               size_t count, const rheos_attr *attrs, size_t num_attrs) {
  const rheos_op_args args = {
      .type = type, .inputs = inputs, .num_inputs = count, .attrs = attrs, .num_attrs = num_attrs};
  return rheos_op(p->s, &args);
}

// ---- Loops

static void build_functional_loop(program *p) {
  rheos_output first[NUM_VARIABLES], v[NUM_VARIABLES], next[NUM_VARIABLES];
  first_values(p, first);
  rheos_function *condition = begin(p, "condition", first, NUM_VARIABLES, v);
  rheos_function_result(condition, NULL,
                        goes_on(rheos_function_scope(condition), NULL, v, NUM_VARIABLES));
  finish(p, condition);
  rheos_function *body = begin(p, "body", first, NUM_VARIABLES, v);
  next_values(rheos_function_scope(body), NULL, v, next, NUM_VARIABLES);
  for (int i = 0; i < NUM_VARIABLES; ++i) rheos_function_result(body, NULL, next[i]);
  finish(p, body);
  const rheos_attr attrs[] = {rheos_attr_func("cond", rheos_function_func(condition)),
                              rheos_attr_func("body", rheos_function_func(body))};
  const rheos_operation loop = op_with(p, "While", first, NUM_VARIABLES, attrs, 2);
  fetch_sum(p, rheos_operation_output(loop, VALUE), rheos_operation_output(loop, OTHER));
  rheos_function_free(condition);
  rheos_function_free(body);
}

static void build_version_1_loop(program *p) {
  rheos_output first[NUM_VARIABLES], last[NUM_VARIABLES];
  first_values(p, first);
  rheos_push_device(p->s, p->device);
  rheos_while_loop(p->s, goes_on, next_values, NULL, first, NUM_VARIABLES, NULL, last);
  rheos_scope_pop(p->s);
  fetch_sum(p, last[VALUE], last[OTHER]);
}

// A body of version 1 with what it takes from around it: the same in each trip.
static rheos_output goes_on_around(rheos_scope *s, void *argument, const rheos_output *v,
                                   size_t count) {
  (void)count;
  return rheos_less(s, v[COUNT], ((const program *)argument)->number);
}

static void next_around(rheos_scope *s, void *argument, const rheos_output *v, rheos_output *next,
                        size_t count) {
  (void)count;
  next[COUNT] = rheos_add(s, v[COUNT], one(s));
  next[VALUE] = mixed(s, v[VALUE], ((const program *)argument)->kept);
}

static void build_loop_with_captures(program *p) {
  rheos_output first[NUM_VARIABLES], last[2];
  first_values(p, first);
  rheos_push_device(p->s, p->device);
  rheos_while_loop(p->s, goes_on_around, next_around, p, first, 2, NULL, last);
  rheos_scope_pop(p->s);
  fetch_sum(p, last[VALUE], last[VALUE]);
}

// A loop whose body is a call: it hands on what it is given.
static void build_loop_over_calls(program *p) {
  rheos_output first[NUM_VARIABLES], v[NUM_VARIABLES], a[2];
  first_values(p, first);
  const rheos_output pair[] = {p->x, p->kept};
  rheos_function *inner = begin(p, "inner", pair, 2, a);
  rheos_function_result(inner, NULL, mixed(rheos_function_scope(inner), a[0], a[1]));
  finish(p, inner);
  rheos_function *condition = begin(p, "condition", first, NUM_VARIABLES, v);
  rheos_function_result(condition, NULL,
                        goes_on(rheos_function_scope(condition), NULL, v, NUM_VARIABLES));
  finish(p, condition);
  rheos_function *body = begin(p, "body", first, NUM_VARIABLES, v);
  rheos_scope *s = rheos_function_scope(body);
  const rheos_output inputs[] = {v[VALUE], v[KEPT]};
  const rheos_operation call = rheos_function_call(s, inner, inputs, 2, NULL);
  v[COUNT] = rheos_add(s, v[COUNT], one(s));
  v[VALUE] = rheos_operation_output(call, 0);
  for (int i = 0; i < NUM_VARIABLES; ++i) rheos_function_result(body, NULL, v[i]);
  finish(p, body);
  const rheos_attr attrs[] = {rheos_attr_func("cond", rheos_function_func(condition)),
                              rheos_attr_func("body", rheos_function_func(body))};
  const rheos_operation loop = op_with(p, "While", first, NUM_VARIABLES, attrs, 2);
  fetch_sum(p, rheos_operation_output(loop, VALUE), rheos_operation_output(loop, KEPT));
  rheos_function_free(inner);
  rheos_function_free(condition);
  rheos_function_free(body);
}

// What a loop copies in does not grow with its trips: what it is fed, since the constant that it
// counts from is there. Out come the result, and what the condition says before each trip and at
// the end.
static void expect_loop(const fixture *f, builder build, int64_t num_inputs, bool has_calls) {
  program there, here;
  make(f, &there, THERE, build);
  make(f, &here, HERE, build);
  const int32_t trips[] = {FEW, MANY};
  for (int i = 0; i < 2; ++i) {
    const private_device_counts counts = count_run(f, &there, &here, trips[i]);
    assert_true(counts.num_kernels > 3 * trips[i]);
    assert_int_equal(counts.num_from_host, num_inputs);
    assert_int_equal(counts.num_to_host, trips[i] + 1 + 1);
    assert_int_equal(counts.num_within, 0);
    // Trips that are alike are not calls, unless their bodies call.
    assert_true(has_calls || counts.num_synchronized < MANY);
  }
  drop(&there);
  drop(&here);
}

static void test_device_calls__a_loop_of_functions_stays_there(void **state) {
  expect_loop(*state, build_functional_loop, NUM_VARIABLES - 1, false);
}

static void test_device_calls__a_loop_of_version_1_stays_there(void **state) {
  expect_loop(*state, build_version_1_loop, NUM_VARIABLES - 1, false);
}

static void test_device_calls__what_a_loop_captures_is_copied_once(void **state) {
  expect_loop(*state, build_loop_with_captures, 3, false);
}

static void test_device_calls__what_a_loop_hands_on_is_copied_once(void **state) {
  expect_loop(*state, build_loop_over_calls, NUM_VARIABLES - 2, true);
}

static rheos_output constant(program *p, int32_t value) {
  rheos_tensor *tensor = integer(value);
  const rheos_output output = rheos_constant(p->s, tensor, NULL);
  rheos_tensor_unref(tensor);
  return output;
}

// A loop whose body takes the number of the trip on the device too.
static void build_for(program *p) {
  const rheos_output inputs[] = {constant(p, 0), p->number, constant(p, 1), p->x, p->kept};
  rheos_output a[3];
  rheos_function *body = begin(p, "body", inputs + 2, 3, a);
  rheos_scope *s = rheos_function_scope(body);
  const rheos_output scaled = rheos_mul(s, a[1], rheos_cast(s, a[0], RHEOS_FLOAT));
  rheos_function_result(body, NULL, mixed(s, scaled, a[2]));
  rheos_function_result(body, NULL, a[2]);
  finish(p, body);
  const rheos_attr attr = rheos_attr_func("body", rheos_function_func(body));
  const rheos_operation loop = op_with(p, "For", inputs, 5, &attr, 1);
  fetch_sum(p, rheos_operation_output(loop, 0), rheos_operation_output(loop, 1));
  rheos_function_free(body);
}

static void test_device_calls__for_copies_its_numbers(void **state) {
  program there, here;
  make(*state, &there, THERE, build_for);
  make(*state, &here, HERE, build_for);
  const int32_t trips[] = {FEW, MANY};
  for (int i = 0; i < 2; ++i) {
    const private_device_counts counts = count_run(*state, &there, &here, trips[i]);
    assert_int_equal(counts.num_from_host, 2 + trips[i]);
    assert_int_equal(counts.num_to_host, 1);
    assert_int_equal(counts.num_within, 0);
  }
  drop(&there);
  drop(&here);
}

// ---- Calls and branches

static void build_calls(program *p) {
  const rheos_output inputs[] = {p->x, p->kept};
  rheos_output a[2];
  rheos_function *function = begin(p, "body", inputs, 2, a);
  rheos_function_result(function, NULL, mixed(rheos_function_scope(function), a[0], a[1]));
  rheos_function_result(function, NULL, rheos_square(rheos_function_scope(function), a[0]));
  finish(p, function);
  rheos_operation call = rheos_function_call(p->s, function, inputs, 2, NULL);
  for (int i = 0; i < FEW; ++i) {
    const rheos_output results[] = {rheos_operation_output(call, 0),
                                    rheos_operation_output(call, 1)};
    call = rheos_function_call(p->s, function, results, 2, NULL);
  }
  fetch_sum(p, rheos_operation_output(call, 0), rheos_operation_output(call, 1));
  rheos_function_free(function);
}

static void test_device_calls__results_of_calls_stay_there(void **state) {
  program there, here;
  make(*state, &there, THERE, build_calls);
  make(*state, &here, HERE, build_calls);
  const private_device_counts counts = count_run(*state, &there, &here, 1);
  assert_int_equal(counts.num_from_host, 2);
  assert_int_equal(counts.num_to_host, 1);
  assert_int_equal(counts.num_within, 0);
  drop(&there);
  drop(&here);
}

static rheos_function *branch(program *p, const char *name, bool swaps) {
  const rheos_output inputs[] = {p->x, p->kept};
  rheos_output a[2];
  rheos_function *function = begin(p, name, inputs, 2, a);
  rheos_function_result(function, NULL, mixed(rheos_function_scope(function), a[swaps], a[!swaps]));
  rheos_function_result(function, NULL, a[1]);
  finish(p, function);
  return function;
}

static void build_functional_branches(program *p) {
  rheos_function *yes = branch(p, "yes", false), *no = branch(p, "no", true);
  const rheos_output inputs[] = {p->number, p->x, p->kept};
  const rheos_dtype types[] = {RHEOS_FLOAT, RHEOS_FLOAT};
  const rheos_attr attrs[] = {rheos_attr_func("then_branch", rheos_function_func(yes)),
                              rheos_attr_func("else_branch", rheos_function_func(no)),
                              {"Tout", {.kind = RHEOS_ATTR_LIST_TYPE, .count = 2, .types = types}}};
  const rheos_operation choice = op_with(p, "If", inputs, 3, attrs, 3);
  fetch_sum(p, rheos_operation_output(choice, 0), rheos_operation_output(choice, 1));
  rheos_function_free(yes);
  rheos_function_free(no);
}

static void branch_of_version_1(rheos_scope *s, void *argument, rheos_output *outputs,
                                size_t count) {
  const program *p = argument;
  (void)count;
  outputs[0] = mixed(s, p->x, p->kept);
  outputs[1] = rheos_square(s, outputs[0]);
}

static void other_of_version_1(rheos_scope *s, void *argument, rheos_output *outputs,
                               size_t count) {
  const program *p = argument;
  (void)count;
  outputs[0] = rheos_abs(s, p->kept);
  outputs[1] = mixed(s, outputs[0], p->x);
}

static void build_version_1_branches(program *p) {
  rheos_output outputs[2];
  const rheos_output holds = rheos_cast(p->s, p->number, RHEOS_BOOL);
  rheos_push_device(p->s, p->device);
  rheos_cond(p->s, holds, branch_of_version_1, other_of_version_1, p, NULL, outputs, 2);
  rheos_scope_pop(p->s);
  fetch_sum(p, outputs[0], outputs[1]);
}

// The one that is taken copies its inputs, and what both give is copied once.
static void expect_branches(const fixture *f, builder build) {
  program there, here;
  make(f, &there, THERE, build);
  make(f, &here, HERE, build);
  for (int32_t number = 0; number < 2; ++number) {
    const private_device_counts counts = count_run(f, &there, &here, number);
    assert_int_equal(counts.num_from_host, 2);
    assert_int_equal(counts.num_to_host, 1);
    assert_int_equal(counts.num_within, 0);
  }
  drop(&there);
  drop(&here);
}

static void test_device_calls__branches_of_functions_stay_there(void **state) {
  expect_branches(*state, build_functional_branches);
}

static void test_device_calls__branches_of_version_1_stay_there(void **state) {
  expect_branches(*state, build_version_1_branches);
}

// ---- What arrays and lists keep

static rheos_operation node(program *p, const char *type, const rheos_output *inputs, size_t count,
                            const char *attr) {
  const rheos_attr dtype = {attr, {.kind = RHEOS_ATTR_TYPE, .type = RHEOS_FLOAT}};
  return op_with(p, type, inputs, count, &dtype, attr != NULL);
}

static rheos_output op_of(program *p, const char *type, const rheos_output *inputs, size_t count,
                          const char *attr) {
  return rheos_operation_output(node(p, type, inputs, count, attr), 0);
}

static rheos_output integers(program *p, const int32_t *values, int64_t count) {
  rheos_tensor *tensor = NULL;
  check(rheos_tensor_from_values(RHEOS_INT32, RHEOS_SHAPE(count), values, &tensor));
  const rheos_output output = rheos_constant(p->s, tensor, NULL);
  rheos_tensor_unref(tensor);
  return output;
}

typedef struct kept {
  program *p;
  rheos_output rows, results;  // arrays
} kept;

enum { TRIP, STATE, FLOW, NUM_KEPT };

static rheos_output goes_on_kept(rheos_scope *s, void *argument, const rheos_output *v,
                                 size_t count) {
  (void)count;
  rheos_push_device(s, HERE);
  const rheos_output goes_on = rheos_less(s, v[TRIP], ((const kept *)argument)->p->number);
  rheos_scope_pop(s);
  return goes_on;
}

// Reads a row of x, and writes the state.
static void next_kept(rheos_scope *s, void *argument, const rheos_output *v, rheos_output *next,
                      size_t count) {
  const kept *k = argument;
  program inside = {.s = s};
  (void)count;
  const rheos_output read[] = {k->rows, v[TRIP], v[FLOW]};
  const rheos_output row = op_of(&inside, "TensorArrayReadV3", read, 3, "dtype");
  rheos_push_device(s, HERE);
  next[TRIP] = rheos_add(s, v[TRIP], one(s));
  rheos_scope_pop(s);
  next[STATE] = mixed(s, rheos_mul(s, v[STATE], row), k->p->kept);
  const rheos_output write[] = {k->results, v[TRIP], next[STATE], v[FLOW]};
  next[FLOW] = op_of(&inside, "TensorArrayWriteV3", write, 4, "T");
}

// All states of the loop, stacked.
static void build_arrays(program *p) {
  static const int32_t all[] = {0, 1, 2, 3, 4};
  rheos_output last[NUM_KEPT];
  rheos_push_device(p->s, p->device);
  const rheos_output sizes[] = {constant(p, ROWS)};
  const rheos_operation rows = node(p, "TensorArrayV3", sizes, 1, "dtype");
  const rheos_operation results = node(p, "TensorArrayV3", &p->number, 1, "dtype");
  kept k = {p, rheos_operation_output(rows, 0), rheos_operation_output(results, 0)};
  const rheos_output x = rheos_abs(p->s, p->x);
  const rheos_output scatter[] = {k.rows, integers(p, all, ROWS), x,
                                  rheos_operation_output(rows, 1)};
  const rheos_output first[] = {constant(p, 0), x,
                                op_of(p, "TensorArrayScatterV3", scatter, 4, "T")};
  const rheos_shape shapes[] = {RHEOS_SCALAR, RHEOS_UNKNOWN_SHAPE, RHEOS_SCALAR};
  const rheos_while_options options = {.shapes = shapes};
  rheos_while_loop(p->s, goes_on_kept, next_kept, &k, first, NUM_KEPT, &options, last);
  const rheos_output range[] = {constant(p, 0), p->number, constant(p, 1)};
  rheos_push_device(p->s, HERE);
  const rheos_output indices = op_of(p, "Range", range, 3, NULL);
  rheos_scope_pop(p->s);
  const rheos_output gather[] = {k.results, indices, last[FLOW]};
  p->result = op_of(p, "TensorArrayGatherV3", gather, 3, "dtype");
  rheos_scope_pop(p->s);
}

static void test_device_calls__arrays_keep_what_is_there(void **state) {
  program there, here;
  make(*state, &there, THERE, build_arrays);
  make(*state, &here, HERE, build_arrays);
  for (int32_t trips = 2; trips <= ROWS; trips += 3) {
    const private_device_counts counts = count_run(*state, &there, &here, trips);
    assert_true(counts.num_kernels > 3 * trips);
    assert_int_equal(counts.num_from_host, 2);
    assert_int_equal(counts.num_to_host, 1);
    assert_int_equal(counts.num_within, ROWS + trips);  // rows taken apart, states put together
  }
  drop(&there);
  drop(&here);
}

// Rows of x as a list, with the states pushed behind, then stacked.
static void build_lists(program *p) {
  rheos_push_device(p->s, p->device);
  const int32_t dims[] = {COLUMNS};
  const rheos_output shape = integers(p, dims, 1);
  const rheos_output rows[] = {rheos_abs(p->s, p->x), shape};
  rheos_output list = op_of(p, "TensorListFromTensor", rows, 2, "element_dtype");
  const rheos_output get[] = {list, constant(p, 1), shape};
  const rheos_output row = op_of(p, "TensorListGetItem", get, 3, "element_dtype");
  const rheos_output push[] = {list, rheos_mul(p->s, row, row)};
  list = op_of(p, "TensorListPushBack", push, 2, "element_dtype");
  const rheos_output set[] = {list, constant(p, 0), rheos_add(p->s, row, row)};
  const rheos_output changed[] = {op_of(p, "TensorListSetItem", set, 3, "element_dtype"), shape};
  p->result = rheos_abs(p->s, op_of(p, "TensorListStack", changed, 2, "element_dtype"));
  rheos_scope_pop(p->s);
}

static void test_device_calls__lists_keep_what_is_there(void **state) {
  program there, here;
  make(*state, &there, THERE, build_lists);
  make(*state, &here, HERE, build_lists);
  const private_device_counts counts = count_run(*state, &there, &here, 1);
  assert_int_equal(counts.num_from_host, 1);
  assert_int_equal(counts.num_to_host, 1);
  drop(&there);
  drop(&here);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
  const struct CMUnitTest tests[] = {
      TEST(test_device_calls__a_loop_of_functions_stays_there),
      TEST(test_device_calls__a_loop_of_version_1_stays_there),
      TEST(test_device_calls__what_a_loop_captures_is_copied_once),
      TEST(test_device_calls__what_a_loop_hands_on_is_copied_once),
      TEST(test_device_calls__for_copies_its_numbers),
      TEST(test_device_calls__results_of_calls_stay_there),
      TEST(test_device_calls__branches_of_functions_stay_there),
      TEST(test_device_calls__branches_of_version_1_stay_there),
      TEST(test_device_calls__arrays_keep_what_is_there),
      TEST(test_device_calls__lists_keep_what_is_there),
  };
  return cmocka_run_group_tests_name("device_calls", tests, NULL, NULL);
}
