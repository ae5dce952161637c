// Building operations, looking at them, graphs as messages. Answers are those that TensorFlow 2.21
// gives.
#include "capi/capi_fixture.h"

// An operation that cannot be made, with its code.
static void refuse(TF_OperationDescription *desc, TF_Code code, const char *part) {
  TF_Status *status = TF_NewStatus();
  assert_null(TF_FinishOperation(desc, status));
  failed(status, code, part);
  TF_DeleteStatus(status);
}

static void test_operation__is_what_was_described(void **state) {
  (void)state;
  TF_Graph *graph = TF_NewGraph();
  TF_Output feed = placeholder(graph, "feed", TF_INT32);
  TF_Output three = constant(graph, "scope/three", int_tensor(3));
  TF_OperationDescription *desc = TF_NewOperation(graph, "AddN", "add");
  TF_AddInputList(desc, (TF_Output[]){feed, three}, 2);
  TF_AddControlInput(desc, three.oper);
  TF_ColocateWith(desc, feed.oper);
  TF_SetDevice(desc, "/cpu:0");
  TF_Operation *add = finish(desc).oper;
  assert_string_equal(TF_OperationName(add), "add");
  assert_string_equal(TF_OperationOpType(add), "AddN");
  assert_string_equal(TF_OperationDevice(add), "/cpu:0");
  assert_int_equal(TF_OperationNumInputs(add), 2);
  assert_int_equal(TF_OperationNumOutputs(add), 1);
  assert_int_equal(TF_OperationOutputType((TF_Output){add, 0}), TF_INT32);
  assert_int_equal(TF_OperationOutputType((TF_Output){add, 1}), 0);
  assert_int_equal(TF_OperationInputType((TF_Input){add, 1}), TF_INT32);
  assert_int_equal(TF_OperationInputType((TF_Input){add, 2}), 0);
  TF_Output input = TF_OperationInput((TF_Input){add, 1});
  assert_ptr_equal(input.oper, three.oper);
  assert_null(TF_OperationInput((TF_Input){add, 2}).oper);
  TF_Status *status = TF_NewStatus();
  assert_int_equal(TF_OperationInputListLength(add, "inputs", status), 2);
  assert_int_equal(TF_OperationOutputListLength(add, "sum", status), 1);
  succeeded(status);
  assert_int_equal(TF_OperationOutputListLength(add, "none", status), -1);
  failed(status, TF_INVALID_ARGUMENT, "Output arg 'none' not found");
  TF_Input consumers[4];
  assert_int_equal(TF_OperationOutputNumConsumers(three), 1);
  assert_int_equal(TF_OperationOutputConsumers(three, consumers, 4), 1);
  assert_ptr_equal(consumers[0].oper, add);
  assert_int_equal(consumers[0].index, 1);
  TF_Operation *control[4];
  assert_int_equal(TF_OperationGetControlInputs(add, control, 4), 1);
  assert_ptr_equal(control[0], three.oper);
  assert_int_equal(TF_OperationGetControlOutputs(three.oper, control, 4), 1);
  assert_ptr_equal(control[0], add);
  assert_ptr_equal(TF_GraphOperationByName(graph, "add"), add);
  assert_null(TF_GraphOperationByName(graph, "none"));
  size_t position = 0, count = 0;
  while (TF_GraphNextOperation(graph, &position) != NULL) count++;
  assert_int_equal(count, 3);
  TF_DeleteStatus(status);
  TF_DeleteGraph(graph);
}

static void test_operation__that_does_not_fit_is_refused(void **state) {
  (void)state;
  TF_Graph *graph = TF_NewGraph(), *other = TF_NewGraph();
  TF_Output feed = placeholder(graph, "feed", TF_INT32);
  TF_Output real = placeholder(graph, "real", TF_FLOAT);
  TF_Output foreign = placeholder(other, "foreign", TF_INT32);
  TF_OperationDescription *desc = TF_NewOperation(graph, "Placeholder", "feed");
  TF_SetAttrType(desc, "dtype", TF_INT32);
  refuse(desc, TF_INVALID_ARGUMENT, "Duplicate node name in graph: 'feed'");
  refuse(TF_NewOperation(graph, "NoSuchOp", "x"), TF_INVALID_ARGUMENT,
         "Op type not registered 'NoSuchOp'");
  refuse(TF_NewOperation(graph, "Placeholder", "x"), TF_INVALID_ARGUMENT, "dtype");
  refuse(TF_NewOperation(graph, "Neg", "x"), TF_INVALID_ARGUMENT, "inputs");
  desc = TF_NewOperation(graph, "AddN", "x");
  TF_AddInput(desc, feed);
  refuse(desc, TF_INVALID_ARGUMENT, "Single tensor passed to 'inputs', expected list");
  desc = TF_NewOperation(graph, "Neg", "x");
  TF_AddInputList(desc, &feed, 1);
  refuse(desc, TF_INVALID_ARGUMENT, "List provided to input 'x'");
  desc = TF_NewOperation(graph, "Add", "x");
  TF_AddInput(desc, feed);
  TF_AddInput(desc, real);
  refuse(desc, TF_INVALID_ARGUMENT, "int32");
  desc = TF_NewOperation(graph, "Neg", "x");
  TF_AddInput(desc, foreign);
  refuse(desc, TF_INVALID_ARGUMENT, "another graph");
  desc = TF_NewOperation(graph, "Neg", "x");
  TF_AddInput(desc, (TF_Output){feed.oper, 7});
  refuse(desc, TF_INVALID_ARGUMENT, "no output");
  desc = TF_NewOperation(graph, "Neg", "x");
  TF_AddInput(desc, (TF_Output){NULL, 0});
  TF_AddControlInput(desc, NULL);
  TF_SetAttrShape(desc, NULL, NULL, 3);
  refuse(desc, TF_INVALID_ARGUMENT, "no output");
  desc = TF_NewOperation(graph, "AddN", "x");
  TF_AddInputList(desc, (TF_Output[]){{NULL, 0}, {NULL, 0}, foreign}, 3);
  refuse(desc, TF_INVALID_ARGUMENT, "no output");
  refuse(NULL, TF_INVALID_ARGUMENT, "NULL");
  assert_null(TF_NewOperation(NULL, "Neg", "x"));
  TF_DeleteGraph(graph);
  TF_DeleteGraph(other);
}

static void check_metadata(TF_Operation *oper, const char *name, int64_t list_size,
                           TF_AttrType type, int64_t total_size) {
  TF_Status *status = TF_NewStatus();
  TF_AttrMetadata metadata = TF_OperationGetAttrMetadata(oper, name, status);
  succeeded(status);
  assert_int_equal(metadata.is_list, list_size >= 0);
  assert_int_equal(metadata.list_size, list_size);
  assert_int_equal(metadata.type, type);
  assert_int_equal(metadata.total_size, total_size);
  TF_DeleteStatus(status);
}

// An op with attributes of many kinds: any may begin with "_".
static TF_Operation *with_attributes(TF_Graph *graph) {
  static const void *const texts[] = {"bcd", "", "ef"};
  static const size_t lengths[] = {3, 0, 2};
  static const int64_t dims[] = {2, -1, 4};
  static const int64_t *const shapes[] = {dims, NULL, dims};
  TF_OperationDescription *desc = TF_NewOperation(graph, "NoOp", "attributes");
  TF_SetAttrString(desc, "_s", "a\0b", 3);
  TF_SetAttrStringList(desc, "_ss", texts, lengths, 3);
  TF_SetAttrInt(desc, "_i", -5);
  TF_SetAttrIntList(desc, "_is", dims, 3);
  TF_SetAttrFloat(desc, "_f", 0.5f);
  TF_SetAttrFloatList(desc, "_fs", (float[]){1, 2}, 2);
  TF_SetAttrBool(desc, "_b", 7);
  TF_SetAttrBoolList(desc, "_bs", (unsigned char[]){0, 3}, 2);
  TF_SetAttrType(desc, "_t", TF_HALF);
  TF_SetAttrTypeList(desc, "_ts", (TF_DataType[]){TF_INT8, TF_BOOL}, 2);
  TF_SetAttrShape(desc, "_h", dims, 3);
  TF_SetAttrShape(desc, "_u", NULL, -1);
  TF_SetAttrShapeList(desc, "_hs", shapes, (int[]){3, -1, 1}, 3);
  return finish(desc).oper;
}

static void test_attributes__tell_what_they_hold(void **state) {
  (void)state;
  TF_Graph *graph = TF_NewGraph();
  TF_Operation *oper = with_attributes(graph);
  check_metadata(oper, "_s", -1, TF_ATTR_STRING, 3);
  check_metadata(oper, "_ss", 3, TF_ATTR_STRING, 5);
  check_metadata(oper, "_i", -1, TF_ATTR_INT, -1);
  check_metadata(oper, "_is", 3, TF_ATTR_INT, -1);
  check_metadata(oper, "_fs", 2, TF_ATTR_FLOAT, -1);
  check_metadata(oper, "_bs", 2, TF_ATTR_BOOL, -1);
  check_metadata(oper, "_ts", 2, TF_ATTR_TYPE, -1);
  check_metadata(oper, "_h", -1, TF_ATTR_SHAPE, 3);
  check_metadata(oper, "_u", -1, TF_ATTR_SHAPE, -1);
  check_metadata(oper, "_hs", 3, TF_ATTR_SHAPE, 4);
  TF_DeleteGraph(graph);
}

static void test_attributes__are_read_as_they_were_set(void **state) {
  (void)state;
  TF_Graph *graph = TF_NewGraph();
  TF_Operation *oper = with_attributes(graph);
  TF_Status *status = TF_NewStatus();
  char text[8] = "";
  void *texts[3];
  size_t lengths[3];
  int64_t numbers[3], storage[8], *shapes[3];
  int ranks[3];
  float real, reals[2];
  unsigned char flag, flags[2];
  TF_DataType type, types[2];
  TF_OperationGetAttrString(oper, "_s", text, 8, status);
  assert_memory_equal(text, "a\0b", 3);
  TF_OperationGetAttrStringList(oper, "_ss", texts, lengths, 3, text, 8, status);
  succeeded(status);
  assert_memory_equal(text, "bcdef", 5);
  assert_ptr_equal(texts[2], text + 3);
  assert_int_equal(lengths[1], 0);
  TF_OperationGetAttrStringList(oper, "_ss", texts, lengths, 3, text, 4, status);
  failed(status, TF_INVALID_ARGUMENT, "Not enough storage");
  TF_OperationGetAttrInt(oper, "_i", numbers, status);
  assert_int_equal(numbers[0], -5);
  TF_OperationGetAttrIntList(oper, "_is", numbers, 2, status);
  assert_int_equal(numbers[1], -1);
  TF_OperationGetAttrFloat(oper, "_f", &real, status);
  TF_OperationGetAttrFloatList(oper, "_fs", reals, 2, status);
  assert_true(real == 0.5f && reals[1] == 2);
  TF_OperationGetAttrBool(oper, "_b", &flag, status);
  TF_OperationGetAttrBoolList(oper, "_bs", flags, 2, status);
  assert_true(flag == 1 && flags[0] == 0 && flags[1] == 1);
  TF_OperationGetAttrType(oper, "_t", &type, status);
  TF_OperationGetAttrTypeList(oper, "_ts", types, 2, status);
  assert_true(type == TF_HALF && types[1] == TF_BOOL);
  TF_OperationGetAttrShape(oper, "_h", numbers, 3, status);
  assert_int_equal(numbers[2], 4);
  TF_OperationGetAttrShapeList(oper, "_hs", shapes, ranks, 3, storage, 8, status);
  succeeded(status);
  assert_true(ranks[0] == 3 && ranks[1] == -1 && ranks[2] == 1 && shapes[2][0] == 2);
  TF_OperationGetAttrShapeList(oper, "_hs", shapes, ranks, 3, storage, 3, status);
  failed(status, TF_INVALID_ARGUMENT, "Not enough storage");
  TF_OperationGetAttrInt(oper, "_t", numbers, status);
  failed(status, TF_INVALID_ARGUMENT, "AttrValue had value with type 'type' when 'int' expected");
  TF_OperationGetAttrInt(oper, "none", numbers, status);
  failed(status, TF_NOT_FOUND, "No attr named 'none' in NodeDef");
  TF_OperationGetAttrInt(NULL, "_i", numbers, status);
  failed(status, TF_INVALID_ARGUMENT, "NULL");
  TF_OperationGetAttrInt(oper, "_i", NULL, status);
  failed(status, TF_INVALID_ARGUMENT, "NULL");
  TF_DeleteStatus(status);
  TF_DeleteGraph(graph);
}

static void test_attributes__are_messages_too(void **state) {
  (void)state;
  TF_Graph *graph = TF_NewGraph();
  TF_Operation *oper = with_attributes(graph);
  TF_Status *status = TF_NewStatus();
  TF_Buffer *buffer = TF_NewBuffer(), *shape = TF_NewBuffer(), *shapes[3] = {0};
  TF_OperationGetAttrValueProto(oper, "_b", buffer, status);
  succeeded(status);
  assert_int_equal(buffer->length, 2);
  assert_memory_equal(buffer->data, "\x28\x01", 2);
  TF_OperationGetAttrValueProto(oper, "_b", buffer, status);
  failed(status, TF_INVALID_ARGUMENT, "non-empty");
  TF_OperationGetAttrTensorShapeProto(oper, "_h", shape, status);
  succeeded(status);
  TF_OperationGetAttrTensorShapeProtoList(oper, "_hs", shapes, 3, status);
  succeeded(status);
  TF_OperationDescription *desc = TF_NewOperation(graph, "NoOp", "second");
  TF_SetAttrTensorShapeProto(desc, "_h", shape->data, shape->length, status);
  succeeded(status);
  TF_SetAttrTensorShapeProtoList(
      desc, "_hs", (const void *[]){shapes[0]->data, shapes[1]->data, shapes[2]->data},
      (size_t[]){shapes[0]->length, shapes[1]->length, shapes[2]->length}, 3, status);
  succeeded(status);
  TF_SetAttrTensorShapeProto(desc, "_x", "\xff", 1, status);
  failed(status, TF_INVALID_ARGUMENT, "Unparseable TensorShapeProto");
  TF_Operation *second = finish(desc).oper;
  check_metadata(second, "_h", -1, TF_ATTR_SHAPE, 3);
  check_metadata(second, "_hs", 3, TF_ATTR_SHAPE, 4);
  for (int i = 0; i < 3; i++) TF_DeleteBuffer(shapes[i]);
  TF_DeleteBuffer(shape);
  TF_DeleteBuffer(buffer);
  TF_DeleteStatus(status);
  TF_DeleteGraph(graph);
}

static void set_proto(TF_OperationDescription *desc, const char *name, const char *bytes,
                      size_t size) {
  TF_Status *status = TF_NewStatus();
  TF_SetAttrValueProto(desc, name, bytes, size, status);
  succeeded(status);
  TF_DeleteStatus(status);
}

static void test_attributes__are_set_by_messages(void **state) {
  (void)state;
  TF_Graph *graph = TF_NewGraph();
  TF_Status *status = TF_NewStatus();
  TF_OperationDescription *desc = TF_NewOperation(graph, "NoOp", "set");
  set_proto(desc, "_s", "\x12\x02hi", 4);
  set_proto(desc, "_i", "\x18\xfb\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11);
  set_proto(desc, "_f", "\x25\x00\x00\x00\x3f", 5);
  set_proto(desc, "_t", "\x30\x13", 2);
  set_proto(desc, "_is", "\x0a\x05\x1a\x03\x01\x02\x03", 7);  // together, as proto3 writes
  set_proto(desc, "_js", "\x0a\x04\x18\x01\x18\x02", 6);      // one by one
  set_proto(desc, "_fs", "\x0a\x06\x22\x04\x00\x00\x00\x3f", 8);
  set_proto(desc, "_ss", "\x0a\x06\x12\x01x\x12\x01y", 8);
  set_proto(desc, "_empty", "\x0a\x00", 2);
  TF_SetAttrValueProto(desc, "_bad", "\xff", 1, status);
  failed(status, TF_INVALID_ARGUMENT, "Unparseable AttrValue proto");
  TF_SetAttrValueProto(desc, "_mixed", "\x0a\x05\x18\x01\x12\x01x", 7, status);
  failed(status, TF_INVALID_ARGUMENT, "Unparseable AttrValue proto");
  TF_SetAttrValueProto(desc, NULL, "", 0, status);
  failed(status, TF_INVALID_ARGUMENT, "NULL");
  TF_Operation *oper = finish(desc).oper;
  int64_t number, numbers[3];
  float real;
  check_metadata(oper, "_s", -1, TF_ATTR_STRING, 2);
  check_metadata(oper, "_is", 3, TF_ATTR_INT, -1);
  check_metadata(oper, "_js", 2, TF_ATTR_INT, -1);
  check_metadata(oper, "_fs", 1, TF_ATTR_FLOAT, -1);
  check_metadata(oper, "_ss", 2, TF_ATTR_STRING, 2);
  check_metadata(oper, "_t", -1, TF_ATTR_TYPE, -1);
  TF_OperationGetAttrInt(oper, "_i", &number, status);
  assert_int_equal(number, -5);
  TF_OperationGetAttrFloat(oper, "_f", &real, status);
  assert_true(real == 0.5f);
  TF_OperationGetAttrIntList(oper, "_is", numbers, 3, status);
  assert_int_equal(numbers[2], 3);
  TF_OperationGetAttrIntList(oper, "_empty", numbers, 3, status);
  succeeded(status);
  TF_DeleteStatus(status);
  TF_DeleteGraph(graph);
}

static void test_shapes__are_refined(void **state) {
  (void)state;
  TF_Graph *graph = TF_NewGraph();
  TF_Status *status = TF_NewStatus();
  TF_Output feed = placeholder(graph, "feed", TF_INT32);
  int64_t dims[2], known[] = {2, -1}, wrong[] = {3, -1};
  assert_int_equal(TF_GraphGetTensorNumDims(graph, feed, status), -1);
  TF_GraphGetTensorShape(graph, feed, dims, 2, status);
  failed(status, TF_INVALID_ARGUMENT, "Expected rank is 2 but actual rank is -1");
  TF_GraphSetTensorShape(graph, feed, known, 2, status);
  succeeded(status);
  assert_int_equal(TF_GraphGetTensorNumDims(graph, feed, status), 2);
  TF_GraphGetTensorShape(graph, feed, dims, 2, status);
  succeeded(status);
  assert_true(dims[0] == 2 && dims[1] == -1);
  TF_GraphSetTensorShape(graph, feed, wrong, 2, status);
  assert_int_equal(TF_GetCode(status), TF_INVALID_ARGUMENT);
  TF_GraphSetTensorShape(graph, (TF_Output){feed.oper, 1}, known, 2, status);
  failed(status, TF_OUT_OF_RANGE, "does not have output 1");
  TF_DeleteStatus(status);
  TF_DeleteGraph(graph);
}

static void test_constants__are_evaluated(void **state) {
  (void)state;
  TF_Graph *graph = TF_NewGraph();
  TF_Status *status = TF_NewStatus();
  TF_Tensor *result = NULL;
  TF_Output three = constant(graph, "three", int_tensor(3));
  TF_Output neg = unary(graph, "Neg", "neg", three);
  TF_Output feed = placeholder(graph, "feed", TF_INT32);
  TF_Output sum = binary(graph, "AddV2", "sum", neg, feed);
  assert_int_equal(TF_TryEvaluateConstant(graph, neg, &result, status), 1);
  succeeded(status);
  assert_int_equal(*(int32_t *)TF_TensorData(result), -3);
  TF_DeleteTensor(result);
  assert_int_equal(TF_TryEvaluateConstant(graph, sum, &result, status), 0);
  succeeded(status);
  assert_null(result);
  assert_int_equal(TF_TryEvaluateConstant(graph, (TF_Output){NULL, 0}, &result, status), 0);
  assert_int_equal(TF_GetCode(status), TF_INVALID_ARGUMENT);
  TF_DeleteStatus(status);
  TF_DeleteGraph(graph);
}

// Neither is looked at before a step needs it.
static void test_operation__names_and_devices_may_be_any(void **state) {
  (void)state;
  TF_Graph *graph = TF_NewGraph();
  TF_OperationDescription *desc = TF_NewOperation(graph, "NoOp", "const/0/[1 2 3]");
  TF_SetDevice(desc, "no such device");
  TF_Operation *oper = finish(desc).oper;
  assert_string_equal(TF_OperationName(oper), "const/0/[1 2 3]");
  assert_string_equal(TF_OperationDevice(oper), "no such device");
  TF_SetRequestedDevice(graph, oper, "/cpu:1");
  assert_string_equal(TF_OperationDevice(oper), "/cpu:1");
  refuse(TF_NewOperation(graph, "NoOp", "a:0"), TF_INVALID_ARGUMENT, "not a valid node name");
  TF_DeleteGraph(graph);
}

static void test_operations__of_a_graph_change(void **state) {
  (void)state;
  TF_Graph *graph = TF_NewGraph();
  TF_Output three = constant(graph, "three", int_tensor(3));
  TF_Output neg = unary(graph, "Neg", "neg", three);
  TF_SetRequestedDevice(graph, neg.oper, "/device:CPU:1");
  assert_string_equal(TF_OperationDevice(neg.oper), "/device:CPU:1");
  TF_AddOperationControlInput(graph, neg.oper, three.oper);
  assert_int_equal(TF_OperationNumControlInputs(neg.oper), 1);
  TF_SetRequestedDevice(NULL, NULL, NULL);
  TF_AddOperationControlInput(graph, neg.oper, NULL);
  TF_RemoveAllControlInputs(graph, neg.oper);
  assert_int_equal(TF_OperationNumControlInputs(neg.oper), 0);
  TF_Status *status = TF_NewStatus();
  TF_Output five = constant(graph, "five", int_tensor(5)), abs = unary(graph, "Abs", "abs", five);
  TF_UpdateEdge(graph, three, (TF_Input){abs.oper, 0}, status);
  succeeded(status);
  assert_ptr_equal(TF_OperationInput((TF_Input){abs.oper, 0}).oper, three.oper);
  TF_Session *session = new_session(graph);
  assert_int_equal(run_ints(session, NULL, NULL, 0, abs), 3);
  end_session(session);
  // What was known of shapes is forgotten where it does not follow any more.
  TF_Output any = placeholder(graph, "any", TF_INT32), of = unary(graph, "Neg", "of", three);
  TF_Output behind = unary(graph, "Neg", "behind", of);
  assert_int_equal(TF_GraphGetTensorNumDims(graph, behind, status), 0);
  TF_UpdateEdge(graph, any, (TF_Input){of.oper, 0}, status);
  succeeded(status);
  assert_int_equal(TF_GraphGetTensorNumDims(graph, behind, status), -1);
  TF_UpdateEdge(graph, abs, (TF_Input){neg.oper, 0}, status);
  failed(status, TF_INVALID_ARGUMENT, "made before it");
  TF_UpdateEdge(graph, three, (TF_Input){neg.oper, 1}, status);
  failed(status, TF_OUT_OF_RANGE, "does not have input 1");
  TF_UpdateEdge(graph, (TF_Output){NULL, 0}, (TF_Input){NULL, 0}, status);
  failed(status, TF_INVALID_ARGUMENT, "no operation");
  TF_DeleteStatus(status);
  TF_DeleteGraph(graph);
}

static TF_Buffer *graph_def(TF_Graph *graph) {
  TF_Status *status = TF_NewStatus();
  TF_Buffer *buffer = TF_NewBuffer();
  TF_GraphToGraphDef(graph, buffer, status);
  succeeded(status);
  TF_GraphToGraphDef(graph, buffer, status);
  failed(status, TF_INVALID_ARGUMENT, "Passing non-empty TF_Buffer is invalid.");
  TF_DeleteStatus(status);
  return buffer;
}

static void test_import__maps_inputs_and_tells_what_it_made(void **state) {
  (void)state;
  TF_Graph *from = TF_NewGraph(), *graph = TF_NewGraph();
  TF_Status *status = TF_NewStatus();
  TF_Output feed = placeholder(from, "feed", TF_INT32);
  unary(from, "Neg", "neg", feed);
  TF_Buffer *def = graph_def(from);
  TF_Output mine = placeholder(graph, "mine", TF_INT32);
  TF_ImportGraphDefOptions *options = TF_NewImportGraphDefOptions();
  TF_ImportGraphDefOptionsSetPrefix(options, "imported");
  TF_ImportGraphDefOptionsAddInputMapping(options, "feed", 0, mine);
  TF_ImportGraphDefOptionsAddInputMapping(options, "none", 2, mine);
  TF_ImportGraphDefOptionsAddControlDependency(options, mine.oper);
  TF_ImportGraphDefOptionsAddReturnOutput(options, "neg", 0);
  TF_ImportGraphDefOptionsAddReturnOutput(options, "feed", 0);
  TF_ImportGraphDefOptionsAddReturnOperation(options, "feed");
  assert_int_equal(TF_ImportGraphDefOptionsNumReturnOutputs(options), 2);
  assert_int_equal(TF_ImportGraphDefOptionsNumReturnOperations(options), 1);
  TF_ImportGraphDefResults *results =
      TF_GraphImportGraphDefWithResults(graph, def, options, status);
  succeeded(status);
  int count, *indexes;
  TF_Output *outputs;
  TF_Operation **operations;
  const char **names;
  TF_ImportGraphDefResultsReturnOutputs(results, &count, &outputs);
  assert_int_equal(count, 2);
  assert_string_equal(TF_OperationName(outputs[0].oper), "imported/neg");
  assert_ptr_equal(outputs[1].oper, mine.oper);
  assert_ptr_equal(TF_OperationInput((TF_Input){outputs[0].oper, 0}).oper, mine.oper);
  TF_ImportGraphDefResultsReturnOperations(results, &count, &operations);
  assert_string_equal(TF_OperationName(operations[0]), "imported/feed");
  assert_int_equal(TF_OperationNumControlInputs(operations[0]), 1);
  TF_ImportGraphDefResultsMissingUnusedInputMappings(results, &count, &names, &indexes);
  assert_int_equal(count, 1);
  assert_string_equal(names[0], "none");
  assert_int_equal(indexes[0], 2);
  TF_DeleteImportGraphDefResults(results);
  // Once more, under another prefix.
  TF_ImportGraphDefOptionsSetUniquifyPrefix(options, 1);
  TF_Output two[2];
  TF_GraphImportGraphDefWithReturnOutputs(graph, def, options, two, 1, status);
  failed(status, TF_INVALID_ARGUMENT, "Expected 'num_return_outputs' to be 2, got 1");
  TF_GraphImportGraphDefWithReturnOutputs(graph, def, options, two, 2, status);
  succeeded(status);
  assert_string_equal(TF_OperationName(two[0].oper), "imported_1/neg");
  TF_ImportGraphDefOptionsAddReturnOperation(options, "none");
  TF_GraphImportGraphDef(graph, def, options, status);
  failed(status, TF_INVALID_ARGUMENT, "Requested return node 'none' not found in graph def");
  TF_DeleteImportGraphDefOptions(options);
  TF_Buffer *wrong = TF_NewBufferFromString("\xff\xff", 2);
  TF_GraphImportGraphDef(graph, wrong, NULL, status);
  failed(status, TF_INVALID_ARGUMENT, "Invalid GraphDef");
  TF_DeleteBuffer(wrong);
  TF_DeleteBuffer(def);
  TF_DeleteStatus(status);
  TF_DeleteGraph(graph);
  TF_DeleteGraph(from);
}

static void test_ops__are_all_listed(void **state) {
  (void)state;
  TF_Graph *graph = TF_NewGraph();
  TF_Status *status = TF_NewStatus();
  TF_Buffer *all = TF_GetAllOpList(), *one = TF_NewBuffer(), *none = TF_NewBuffer();
  TF_GraphGetOpDef(graph, "AddN", one, status);
  succeeded(status);
  assert_non_null(memmem(all->data, all->length, one->data, one->length));
  TF_GraphGetOpDef(graph, "NoSuchOp", none, status);
  failed(status, TF_NOT_FOUND, "NoSuchOp");
  assert_null(none->data);
  assert_true(TF_OpIsStateful("VariableV2", status));
  assert_false(TF_OpIsStateful("Neg", status));
  assert_string_equal(TF_GetNumberAttrForOpListInput("AddN", 0, status), "N");
  assert_null(TF_GetNumberAttrForOpListInput("AddN", 1, status));
  failed(status, TF_INVALID_ARGUMENT, "no input 1");
  TF_Buffer *kernels = TF_GetAllRegisteredKernels(status);
  TF_Buffer *of_one = TF_GetRegisteredKernelsForOp("AddN", status);
  succeeded(status);
  assert_non_null(memmem(kernels->data, kernels->length, of_one->data, of_one->length));
  TF_DeleteBuffer(kernels);
  TF_DeleteBuffer(of_one);
  TF_DeleteBuffer(all);
  TF_DeleteBuffer(one);
  TF_DeleteBuffer(none);
  TF_DeleteStatus(status);
  TF_DeleteGraph(graph);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_operation__is_what_was_described),
      cmocka_unit_test(test_operation__that_does_not_fit_is_refused),
      cmocka_unit_test(test_attributes__tell_what_they_hold),
      cmocka_unit_test(test_attributes__are_read_as_they_were_set),
      cmocka_unit_test(test_attributes__are_messages_too),
      cmocka_unit_test(test_attributes__are_set_by_messages),
      cmocka_unit_test(test_shapes__are_refined),
      cmocka_unit_test(test_constants__are_evaluated),
      cmocka_unit_test(test_operation__names_and_devices_may_be_any),
      cmocka_unit_test(test_operations__of_a_graph_change),
      cmocka_unit_test(test_import__maps_inputs_and_tells_what_it_made),
      cmocka_unit_test(test_ops__are_all_listed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
