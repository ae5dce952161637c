// Functions made of graphs, and loops.
#include "capi/capi_fixture.h"

// a + b, as a function of both.
static TF_Function *make_add(TF_Graph *body, const char *name) {
  TF_Status *status = TF_NewStatus();
  TF_Output inputs[] = {placeholder(body, "Feed", TF_INT32), placeholder(body, "x/feed", TF_INT32)};
  TF_Output sum = binary(body, "AddV2", "sum", inputs[0], inputs[1]);
  TF_Function *function =
      TF_GraphToFunction(body, name, 0, -1, NULL, 2, inputs, 1, &sum, NULL, NULL, "adds", status);
  succeeded(status);
  TF_DeleteStatus(status);
  return function;
}

static void test_function__is_called_as_an_op(void **state) {
  (void)state;
  TF_Graph *body = TF_NewGraph(), *graph = TF_NewGraph();
  TF_Status *status = TF_NewStatus();
  TF_Function *function = make_add(body, "Add2"), *got[2] = {0};
  assert_string_equal(TF_FunctionName(function), "Add2");
  TF_DeleteGraph(body);
  TF_GraphCopyFunction(graph, function, NULL, status);
  succeeded(status);
  TF_GraphCopyFunction(graph, function, NULL, status);
  succeeded(status);
  assert_int_equal(TF_GraphNumFunctions(graph), 1);
  assert_int_equal(TF_GraphGetFunctions(graph, got, 2, status), 1);
  assert_string_equal(TF_FunctionName(got[0]), "Add2");
  TF_Output x = placeholder(graph, "x", TF_INT32);
  TF_Output call = binary(graph, "Add2", "call", x, constant(graph, "two", int_tensor(2)));
  TF_Session *session = new_session(graph);
  assert_int_equal(run_ints(session, &x, (int32_t[]){5}, 1, call), 7);
  end_session(session);
  TF_DeleteFunction(got[0]);
  TF_DeleteFunction(function);
  TF_DeleteStatus(status);
  TF_DeleteGraph(graph);
}

static void test_function__names_are_tensorflows(void **state) {
  (void)state;
  TF_Graph *body = TF_NewGraph();
  size_t length;
  TF_Function *function = make_add(body, "Add2");
  char *text = TF_FunctionDebugString(function, &length);
  assert_int_equal(strlen(text), length);
  assert_non_null(strstr(text, "name: \"feed\""));
  assert_non_null(strstr(text, "name: \"x_feed\""));
  assert_non_null(strstr(text, "name: \"sum_0\""));  // the node, as the result is called "sum"
  assert_non_null(strstr(text, "value: \"sum_0:z:0\""));
  free(text);
  TF_DeleteFunction(function);
  TF_DeleteGraph(body);
}

static void test_function__names_results_before_arguments(void **state) {
  (void)state;
  TF_Graph *body = TF_NewGraph();
  TF_Status *status = TF_NewStatus();
  size_t length;
  TF_Output x = placeholder(body, "x", TF_INT32);
  TF_Function *function =
      TF_GraphToFunction(body, "F", 0, -1, NULL, 1, &x, 1, &x, NULL, NULL, NULL, status);
  succeeded(status);
  char *text = TF_FunctionDebugString(function, &length);
  assert_non_null(strstr(text, "input_arg {\n    name: \"x_0\""));
  assert_non_null(strstr(text, "key: \"x\"\n  value: \"x_0\""));
  free(text);
  TF_DeleteFunction(function);
  TF_DeleteStatus(status);
  TF_DeleteGraph(body);
}

static void test_function__keeps_attributes_of_inputs(void **state) {
  (void)state;
  TF_Graph *body = TF_NewGraph();
  TF_Status *status = TF_NewStatus();
  size_t length;
  TF_OperationDescription *desc = TF_NewOperation(body, "Placeholder", "x");
  TF_SetAttrType(desc, "dtype", TF_FLOAT);
  TF_SetAttrString(desc, "_mine", "value", 5);
  TF_Output x = finish(desc);
  desc = TF_NewOperation(body, "LeakyRelu", "y");
  TF_AddInput(desc, x);
  TF_AddControlInput(desc, x.oper);
  TF_Output y = finish(desc);
  TF_Function *function =
      TF_GraphToFunction(body, "F", 0, -1, NULL, 1, &x, 1, &y, NULL, NULL, NULL, status);
  succeeded(status);
  char *text = TF_FunctionDebugString(function, &length);
  assert_non_null(strstr(text, "arg_attr {"));
  assert_non_null(strstr(text, "key: \"_mine\""));
  assert_non_null(strstr(text, "input: \"^x\""));
  free(text);
  TF_DeleteFunction(function);
  TF_DeleteStatus(status);
  TF_DeleteGraph(body);
}

static void refuse(TF_Graph *body, int num_opers, const TF_Operation *const *opers, int ninputs,
                   const TF_Output *inputs, int noutputs, const TF_Output *outputs, TF_Code code,
                   const char *part) {
  TF_Status *status = TF_NewStatus();
  assert_null(TF_GraphToFunction(body, "F", 0, num_opers, opers, ninputs, inputs, noutputs, outputs,
                                 NULL, NULL, NULL, status));
  failed(status, code, part);
  TF_DeleteStatus(status);
}

static void test_function__errors_name_the_place(void **state) {
  (void)state;
  TF_Graph *body = TF_NewGraph();
  TF_Output a = placeholder(body, "a", TF_INT32), b = placeholder(body, "b", TF_INT32);
  TF_OperationDescription *desc = TF_NewOperation(body, "AddV2", "sum");
  TF_AddInput(desc, a);
  TF_AddInput(desc, b);
  TF_AddControlInput(desc, constant(body, "c", int_tensor(1)).oper);
  TF_Output sum = finish(desc), other = constant(body, "d", int_tensor(1));
  const TF_Operation *only = sum.oper;
  refuse(body, -1, NULL, 2, (TF_Output[]){a, a}, 1, &sum, TF_INVALID_ARGUMENT,
         "TF_Output a:0 appears more than once in the input list");
  refuse(body, -1, NULL, 2, (TF_Output[]){a, {b.oper, 2}}, 1, &sum, TF_OUT_OF_RANGE,
         "does not have output 2\n\tEncountered while processing input 1 into function 'F'");
  refuse(body, -1, NULL, 1, &a, 1, &(TF_Output){NULL, 0}, TF_INVALID_ARGUMENT,
         "Node is null\n\tEncountered while processing output 0 from function 'F'");
  refuse(body, 1, &only, 2, (TF_Output[]){a, b}, 1, &sum, TF_INVALID_ARGUMENT,
         "The source of control edge [id=3 c:-1 -> sum:-1] is not in the body.");
  TF_Output neg = unary(body, "Neg", "neg", a);
  only = neg.oper;
  refuse(body, 1, &only, 1, &a, 1, &other, TF_INVALID_ARGUMENT,
         "TF_Output d:0 is neither in the function body nor among function inputs.");
  TF_OperationDescription *unique = TF_NewOperation(body, "Unique", "unique");
  TF_AddInput(unique, a);
  TF_Output two = finish(unique);
  refuse(body, -1, NULL, 1, &two, 1, &neg, TF_INVALID_ARGUMENT,
         "must have a single output. Node unique has 2 outputs.");
  TF_DeleteGraph(body);
}

static void test_function__that_cannot_be_made_is_refused(void **state) {
  (void)state;
  TF_Graph *body = TF_NewGraph();
  TF_Status *status = TF_NewStatus();
  TF_Output inputs[] = {placeholder(body, "a", TF_INT32), placeholder(body, "b", TF_INT32)};
  TF_Output sum = binary(body, "AddV2", "sum", inputs[0], inputs[1]), both[] = {sum, sum};
  const TF_Operation *only = sum.oper;
  const char *names[] = {"x", "x"};
  assert_null(
      TF_GraphToFunction(body, "F", 0, 1, &only, 1, inputs, 1, &sum, NULL, NULL, NULL, status));
  failed(status, TF_INVALID_ARGUMENT,
         "Input 1, 'b:0', of node 'sum' in function 'F' is not available.");
  assert_null(
      TF_GraphToFunction(body, "F", 0, -1, NULL, 2, inputs, 2, both, names, NULL, NULL, status));
  failed(status, TF_INVALID_ARGUMENT, "Cannot have duplicate output names.");
  assert_null(
      TF_GraphToFunction(body, NULL, 0, -1, NULL, 0, NULL, 0, NULL, NULL, NULL, NULL, status));
  failed(status, TF_INVALID_ARGUMENT, "NULL");
  assert_null(TF_FunctionImportFunctionDef("\xff", 1, status));
  failed(status, TF_INVALID_ARGUMENT, "Invalid FunctionDef");
  TF_DeleteStatus(status);
  TF_DeleteGraph(body);
}

static void test_function__has_attributes_and_a_hash(void **state) {
  (void)state;
  TF_Graph *body = TF_NewGraph();
  TF_Status *status = TF_NewStatus();
  TF_Function *function = make_add(body, "Add2");
  TF_FunctionSetAttrValueProto(function, "_noinline", "\x28\x01", 2, status);
  succeeded(status);
  TF_Buffer *value = TF_NewBuffer(), *def = TF_NewBuffer();
  TF_FunctionGetAttrValueProto(function, "_noinline", value, status);
  succeeded(status);
  assert_memory_equal(value->data, "\x28\x01", 2);
  TF_FunctionToFunctionDef(function, def, status);
  TF_Function *copy = TF_FunctionImportFunctionDef(def->data, def->length, status);
  succeeded(status);
  assert_string_equal(TF_FunctionName(copy), "Add2");
  TF_Function *hashed =
      TF_GraphToFunction(body, "H", 1, 0, NULL, 0, NULL, 0, NULL, NULL, NULL, NULL, status);
  succeeded(status);
  assert_memory_equal(TF_FunctionName(hashed), "H_", 2);
  TF_DeleteFunction(hashed);
  TF_DeleteFunction(copy);
  TF_DeleteFunction(function);
  TF_DeleteBuffer(value);
  TF_DeleteBuffer(def);
  TF_DeleteStatus(status);
  TF_DeleteGraph(body);
}

static void test_loop__counts(void **state) {
  (void)state;
  TF_Graph *graph = TF_NewGraph();
  TF_Status *status = TF_NewStatus();
  TF_Output inputs[] = {placeholder(graph, "i", TF_INT32), placeholder(graph, "x", TF_INT32)};
  TF_Output outputs[2];
  TF_WhileParams loop = TF_NewWhile(graph, inputs, 2, status);
  succeeded(status);
  assert_int_equal(loop.ninputs, 2);
  loop.name = "loop";
  loop.cond_output = binary(loop.cond_graph, "Less", "less", loop.cond_inputs[0],
                            constant(loop.cond_graph, "ten", int_tensor(10)));
  loop.body_outputs[0] = binary(loop.body_graph, "AddV2", "next", loop.body_inputs[0],
                                constant(loop.body_graph, "one", int_tensor(1)));
  loop.body_outputs[1] =
      binary(loop.body_graph, "AddV2", "sum", loop.body_inputs[1], loop.body_inputs[0]);
  TF_FinishWhile(&loop, status, outputs);
  succeeded(status);
  assert_string_equal(TF_OperationOpType(outputs[1].oper), "Exit");
  assert_non_null(TF_GraphOperationByName(graph, "loop/body/next"));
  TF_Session *session = new_session(graph);
  assert_int_equal(run_ints(session, inputs, (int32_t[]){7, 100}, 2, outputs[0]), 10);
  assert_int_equal(run_ints(session, inputs, (int32_t[]){7, 100}, 2, outputs[1]), 124);
  end_session(session);
  TF_DeleteStatus(status);
  TF_DeleteGraph(graph);
}

static void test_loop__that_is_not_complete_is_refused(void **state) {
  (void)state;
  TF_Graph *graph = TF_NewGraph();
  TF_Status *status = TF_NewStatus();
  TF_Output input = placeholder(graph, "i", TF_INT32), output;
  TF_WhileParams none = TF_NewWhile(graph, &input, 0, status);
  failed(status, TF_INVALID_ARGUMENT, "TF_NewWhile() must be passed at least one input");
  TF_AbortWhile(&none);
  TF_WhileParams first = TF_NewWhile(graph, &input, 1, status);
  TF_FinishWhile(&first, status, &output);
  failed(status, TF_INVALID_ARGUMENT, "TF_WhileParams `cond_output` field isn't set");
  TF_WhileParams second = TF_NewWhile(graph, &input, 1, status);
  second.cond_output = second.cond_inputs[0];
  TF_FinishWhile(&second, status, &output);
  failed(status, TF_INVALID_ARGUMENT, "TF_WhileParams `body_outputs[0]` field isn't set");
  TF_WhileParams third = TF_NewWhile(graph, &input, 1, status);
  TF_AbortWhile(&third);
  TF_WhileParams fourth = TF_NewWhile(graph, &input, 1, status);
  fourth.cond_output = fourth.cond_inputs[0];
  fourth.body_outputs[0] = fourth.body_inputs[0];
  fourth.name = "loop";
  TF_FinishWhile(&fourth, status, &output);
  failed(status, TF_INVALID_ARGUMENT, "'cond' argument must return a boolean output, got int32");
  TF_WhileParams fifth = TF_NewWhile(graph, &input, 1, status);
  fifth.cond_output = input;
  fifth.body_outputs[0] = fifth.body_inputs[0];
  fifth.name = "loop";
  TF_FinishWhile(&fifth, status, &output);
  failed(status, TF_INVALID_ARGUMENT, "not found in graph def");
  TF_WhileParams sixth = TF_NewWhile(graph, &input, 1, status);
  sixth.cond_output = (TF_Output){sixth.cond_inputs[0].oper, 100};
  sixth.body_outputs[0] = sixth.body_inputs[0];
  sixth.name = "loop";
  TF_FinishWhile(&sixth, status, &output);
  failed(status, TF_INVALID_ARGUMENT, "Invalid return output 100 of node 'cond_input0'");
  TF_DeleteStatus(status);
  TF_DeleteGraph(graph);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_function__is_called_as_an_op),
      cmocka_unit_test(test_function__names_are_tensorflows),
      cmocka_unit_test(test_function__names_results_before_arguments),
      cmocka_unit_test(test_function__keeps_attributes_of_inputs),
      cmocka_unit_test(test_function__errors_name_the_place),
      cmocka_unit_test(test_function__that_cannot_be_made_is_refused),
      cmocka_unit_test(test_function__has_attributes_and_a_hash),
      cmocka_unit_test(test_loop__counts),
      cmocka_unit_test(test_loop__that_is_not_complete_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
