// What a description makes of what it is told: colocations, types, and the names of gradients.
#include "capi/capi_fixture.h"

// ---- Colocations

// The attribute `_class` of the operation that a description makes, "a b"; "" if there is none.
static void check_class(TF_OperationDescription *desc, const char *expected) {
  TF_Status *status = TF_NewStatus();
  void *values[4];
  size_t lengths[4];
  char storage[64], text[64] = "";
  TF_Operation *oper = finish(desc).oper;
  TF_AttrMetadata metadata = TF_OperationGetAttrMetadata(oper, "_class", status);
  if (expected[0] == '\0') {
    failed(status, TF_INVALID_ARGUMENT, "has no attr named '_class'.");
    metadata.list_size = 0;
  } else {
    succeeded(status);
    TF_OperationGetAttrStringList(oper, "_class", values, lengths, 4, storage, sizeof storage,
                                  status);
    succeeded(status);
  }
  for (int64_t i = 0; i < metadata.list_size; i++) {
    if (i > 0) strcat(text, " ");
    strncat(text, values[i], lengths[i]);
  }
  assert_string_equal(text, expected);
  TF_DeleteStatus(status);
}

static void set_class(TF_OperationDescription *desc, const char *name) {
  size_t length = name == NULL ? 0 : strlen(name);
  TF_SetAttrStringList(desc, "_class", (const void *const *)&name, &length, name == NULL ? 0 : 1);
}

static void test_colocations__are_a_set_in_order(void **state) {
  (void)state;
  TF_Graph *graph = TF_NewGraph();
  TF_Operation *a = placeholder(graph, "a", TF_INT32).oper;
  TF_Operation *b = placeholder(graph, "b", TF_INT32).oper;
  TF_OperationDescription *desc = TF_NewOperation(graph, "NoOp", "both");
  TF_ColocateWith(desc, b);
  TF_ColocateWith(desc, a);
  TF_ColocateWith(desc, b);
  check_class(desc, "loc:@a loc:@b");
  desc = TF_NewOperation(graph, "NoOp", "added");
  set_class(desc, "loc:@b");
  TF_ColocateWith(desc, a);
  check_class(desc, "loc:@a loc:@b");
  desc = TF_NewOperation(graph, "NoOp", "replaced");
  TF_ColocateWith(desc, a);
  set_class(desc, "loc:@b");
  check_class(desc, "loc:@b");
  desc = TF_NewOperation(graph, "NoOp", "cleared");
  TF_ColocateWith(desc, a);
  set_class(desc, NULL);
  check_class(desc, "");
  TF_DeleteGraph(graph);
}

static void test_colocations__are_replaced_by_messages(void **state) {
  (void)state;
  TF_Graph *graph = TF_NewGraph();
  TF_Status *status = TF_NewStatus();
  TF_Operation *a = placeholder(graph, "a", TF_INT32).oper;
  TF_OperationDescription *desc = TF_NewOperation(graph, "NoOp", "replaced");
  TF_ColocateWith(desc, a);
  TF_SetAttrValueProto(desc, "_class", "\x0a\x09\x12\x07loc:@bc", 11, status);
  succeeded(status);
  check_class(desc, "loc:@bc");
  desc = TF_NewOperation(graph, "NoOp", "cleared");
  TF_ColocateWith(desc, a);
  TF_SetAttrValueProto(desc, "_class", "\x0a\x00", 2, status);
  succeeded(status);
  check_class(desc, "");
  TF_DeleteStatus(status);
  TF_DeleteGraph(graph);
}

// ---- Types

static void test_input__of_one_type_takes_no_other(void **state) {
  (void)state;
  TF_Graph *graph = TF_NewGraph();
  TF_Status *status = TF_NewStatus();
  TF_OperationDescription *desc = TF_NewOperation(graph, "LogicalNot", "not");
  TF_AddInput(desc, placeholder(graph, "x", TF_INT32));
  assert_null(TF_FinishOperation(desc, status));
  failed(status, TF_INVALID_ARGUMENT,
         "Input 'x' passed int32 expected bool while building NodeDef 'not'");
  TF_DeleteStatus(status);
  TF_DeleteGraph(graph);
}

// ---- Gradients

static void check_there(TF_Graph *graph, const char *name, const char *type) {
  TF_Operation *oper = TF_GraphOperationByName(graph, name);
  if (oper == NULL) fail_msg("no operation %s", name);
  assert_string_equal(TF_OperationOpType(oper), type);
}

static void test_gradients__have_tensorflows_names(void **state) {
  (void)state;
  TF_Graph *graph = TF_NewGraph();
  TF_Status *status = TF_NewStatus();
  static const int64_t dims[] = {1, 1};
  TF_Output xs[] = {constant(graph, "a", float_tensor(dims, 2, (float[]){2})),
                    constant(graph, "b", float_tensor(dims, 2, (float[]){3}))};
  TF_Output y = binary(graph, "MatMul", "MatMul", xs[0], xs[1]), dys[2];
  TF_AddGradients(graph, &y, 1, xs, 2, NULL, status, dys);
  succeeded(status);
  check_there(graph, "gradients/OnesLike", "OnesLike");
  check_there(graph, "gradients/MatMul", "MatMul");
  check_there(graph, "gradients/MatMul_1", "MatMul");
  assert_int_equal(TF_GraphNextOperation(graph, &(size_t){6}) == NULL, 1);
  // What the ys' gradients begin with is taken as it is.
  TF_Output given = constant(graph, "given", float_tensor(dims, 2, (float[]){1}));
  TF_AddGradientsWithPrefix(graph, "more", &y, 1, xs, 2, &given, status, dys);
  succeeded(status);
  check_there(graph, "more/MatMul_1", "MatMul");
  assert_ptr_equal(TF_OperationInput((TF_Input){dys[0].oper, 0}).oper, given.oper);
  TF_AddGradientsWithPrefix(graph, "gradients/MatMul", &y, 1, xs, 2, NULL, status, dys);
  failed(status, TF_INVALID_ARGUMENT, "conflicts with existing node");
  TF_DeleteStatus(status);
  TF_DeleteGraph(graph);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_colocations__are_a_set_in_order),
      cmocka_unit_test(test_colocations__are_replaced_by_messages),
      cmocka_unit_test(test_input__of_one_type_takes_no_other),
      cmocka_unit_test(test_gradients__have_tensorflows_names),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
