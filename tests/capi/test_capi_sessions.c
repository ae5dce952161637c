// Sessions: runs, runs in parts, options, saved models, gradients, how long things live.
#include "capi/capi_fixture.h"

#include <pthread.h>
#include <stdio.h>

static void test_run__computes(void **state) {
  (void)state;
  TF_Graph *graph = TF_NewGraph();
  TF_Output feed = placeholder(graph, "feed", TF_INT32);
  TF_Output sum = binary(graph, "AddV2", "sum", feed, constant(graph, "two", int_tensor(2)));
  TF_Session *session = new_session(graph);
  assert_int_equal(run_ints(session, &feed, (int32_t[]){3}, 1, sum), 5);
  // A session sees what the graph gets.
  TF_Output neg = unary(graph, "Neg", "neg", sum);
  TF_DeleteGraph(graph);  // delayed until the session is deleted
  assert_int_equal(run_ints(session, &feed, (int32_t[]){3}, 1, neg), -5);
  end_session(session);
}

static void test_run__tells_what_is_wrong(void **state) {
  (void)state;
  float one = 1;
  TF_Graph *graph = TF_NewGraph(), *other = TF_NewGraph();
  TF_Status *status = TF_NewStatus();
  TF_Output feed = placeholder(graph, "feed", TF_INT32), foreign;
  TF_Output neg = unary(graph, "Neg", "neg", feed), bad = {neg.oper, 3}, none = {NULL, 0};
  foreign = placeholder(other, "feed", TF_INT32);
  TF_Session *session = new_session(graph);
  TF_Tensor *value = int_tensor(1), *real = float_tensor(NULL, 0, &one);
  TF_Tensor *got = value, *twice[] = {value, value};
  TF_SessionRun(session, NULL, NULL, NULL, 0, &neg, &got, 1, NULL, 0, NULL, status);
  failed(status, TF_INVALID_ARGUMENT, "You must feed a value for placeholder tensor 'feed'");
  assert_null(got);
  TF_SessionRun(session, NULL, &feed, &real, 1, &neg, &got, 1, NULL, 0, NULL, status);
  assert_int_equal(TF_GetCode(status), TF_INVALID_ARGUMENT);
  TF_SessionRun(session, NULL, (TF_Output[]){feed, feed}, twice, 2, &neg, &got, 1, NULL, 0, NULL,
                status);
  assert_int_equal(TF_GetCode(status), TF_INVALID_ARGUMENT);
  TF_SessionRun(session, NULL, NULL, NULL, 0, NULL, NULL, 0, NULL, 0, NULL, status);
  failed(status, TF_INVALID_ARGUMENT, "Must specify at least one target to fetch or execute.");
  TF_SessionRun(session, NULL, &feed, &value, 1, &bad, &got, 1, NULL, 0, NULL, status);
  failed(status, TF_OUT_OF_RANGE, "does not have output 3");
  TF_SessionRun(session, NULL, &feed, &value, 1, &none, &got, 1, NULL, 0, NULL, status);
  failed(status, TF_INVALID_ARGUMENT, "no operation");
  TF_SessionRun(session, NULL, &feed, &value, 1, &foreign, &got, 1, NULL, 0, NULL, status);
  failed(status, TF_INVALID_ARGUMENT, "another graph");
  TF_SessionRun(session, NULL, &feed, NULL, 1, &neg, &got, 1, NULL, 0, NULL, status);
  failed(status, TF_INVALID_ARGUMENT, "NULL");
  TF_SessionRun(session, NULL, &feed, (TF_Tensor *[]){NULL}, 1, &neg, &got, 1, NULL, 0, NULL,
                status);
  failed(status, TF_INVALID_ARGUMENT, "NULL");
  TF_SessionRun(session, NULL, &feed, &value, -1, &neg, &got, 1, NULL, 0, NULL, status);
  failed(status, TF_INVALID_ARGUMENT, "-1 inputs");
  TF_SessionRun(NULL, NULL, &feed, &value, 1, &neg, &got, 1, NULL, 0, NULL, status);
  failed(status, TF_INVALID_ARGUMENT, "NULL");
  TF_SessionRun(session, NULL, &feed, &value, 1, &neg, &got, 1, (const TF_Operation *[]){NULL}, 1,
                NULL, NULL);
  assert_null(got);
  TF_CloseSession(session, status);
  TF_SessionRun(session, NULL, &feed, &value, 1, &neg, &got, 1, NULL, 0, NULL, status);
  failed(status, TF_CANCELLED, "Session has been closed.");
  end_session(session);
  TF_DeleteTensor(value);
  TF_DeleteTensor(real);
  TF_DeleteStatus(status);
  TF_DeleteGraph(graph);
  TF_DeleteGraph(other);
}

static void test_run__has_options_and_metadata(void **state) {
  (void)state;
  TF_Graph *graph = TF_NewGraph();
  TF_Status *status = TF_NewStatus();
  TF_Output feed = placeholder(graph, "feed", TF_INT32), neg = unary(graph, "Neg", "neg", feed);
  TF_Session *session = new_session(graph);
  TF_Tensor *value = int_tensor(1), *got = NULL;
  TF_Buffer *traced = TF_NewBufferFromString("\x08\x03", 2);  // trace_level: FULL_TRACE
  TF_Buffer *wrong = TF_NewBufferFromString("\xff", 1), *metadata = TF_NewBuffer();
  TF_SessionRun(session, wrong, &feed, &value, 1, &neg, &got, 1, NULL, 0, NULL, status);
  failed(status, TF_INVALID_ARGUMENT, "Unparseable RunOptions");
  TF_SessionRun(session, traced, &feed, &value, 1, &neg, &got, 1, NULL, 0, metadata, status);
  succeeded(status);
  assert_non_null(memmem(metadata->data, metadata->length, "Neg", 3));
  TF_DeleteTensor(got);
  TF_SessionRun(session, traced, &feed, &value, 1, &neg, &got, 1, NULL, 0, metadata, status);
  failed(status, TF_INVALID_ARGUMENT, "Passing non-empty run_metadata is invalid.");
  TF_DeleteBuffer(traced);
  TF_DeleteBuffer(wrong);
  TF_DeleteBuffer(metadata);
  TF_DeleteTensor(value);
  end_session(session);
  TF_DeleteStatus(status);
  TF_DeleteGraph(graph);
}

static void test_config__is_read_when_it_is_set(void **state) {
  (void)state;
  static const char three_cpus[] =
      "\x0a\x07\x0a\x03"
      "CPU"
      "\x10\x03";
  TF_Graph *graph = TF_NewGraph();
  TF_Status *status = TF_NewStatus();
  TF_SessionOptions *options = TF_NewSessionOptions();
  TF_SetConfig(options, "\xff\xff", 2, status);
  failed(status, TF_INVALID_ARGUMENT, "Unparseable ConfigProto");
  TF_SetConfig(options, three_cpus, sizeof three_cpus - 1, status);
  succeeded(status);
  TF_Session *session = TF_NewSession(graph, options, status);
  succeeded(status);
  TF_DeviceList *list = TF_SessionListDevices(session, status);
  assert_int_equal(TF_DeviceListCount(list), 3);
  assert_string_equal(TF_DeviceListName(list, 2, status),
                      "/job:localhost/replica:0/task:0/device:CPU:2");
  assert_string_equal(TF_DeviceListType(list, 0, status), "CPU");
  assert_true(TF_DeviceListMemoryBytes(list, 0, status) > 0);
  assert_null(TF_DeviceListName(list, 3, status));
  failed(status, TF_INVALID_ARGUMENT, "index out of bounds");
  TF_DeleteDeviceList(list);
  end_session(session);
  TF_SetTarget(options, "nonsense");
  assert_null(TF_NewSession(graph, options, status));
  assert_int_not_equal(TF_GetCode(status), TF_OK);
  TF_DeleteSessionOptions(options);
  TF_DeleteStatus(status);
  TF_DeleteGraph(graph);
}

static void test_parts__run_one_after_the_other(void **state) {
  (void)state;
  TF_Graph *graph = TF_NewGraph();
  TF_Status *status = TF_NewStatus();
  TF_Output a = placeholder(graph, "a", TF_INT32), b = placeholder(graph, "b", TF_INT32);
  TF_Output neg = unary(graph, "Neg", "neg", a), sum = binary(graph, "AddV2", "sum", neg, b);
  TF_Session *session = new_session(graph);
  const char *handle = NULL;
  TF_Tensor *value = int_tensor(4), *got = NULL;
  TF_SessionPRunSetup(session, (TF_Output[]){a, b}, 2, (TF_Output[]){neg, sum}, 2, NULL, 0, &handle,
                      status);
  succeeded(status);
  TF_SessionPRun(session, handle, &a, &value, 1, &neg, &got, 1, NULL, 0, status);
  succeeded(status);
  assert_int_equal(*(int32_t *)TF_TensorData(got), -4);
  TF_DeleteTensor(got);
  TF_SessionPRun(session, handle, &a, &value, 1, &sum, &got, 1, NULL, 0, status);
  failed(status, TF_INVALID_ARGUMENT, "has already been fed");
  TF_SessionPRun(session, handle, &b, &value, 1, &sum, &got, 1, NULL, 0, status);
  succeeded(status);
  assert_int_equal(*(int32_t *)TF_TensorData(got), 0);
  TF_DeleteTensor(got);
  TF_SessionPRun(session, "no handle", &b, &value, 1, &sum, &got, 1, NULL, 0, status);
  failed(status, TF_INVALID_ARGUMENT, "Must run 'setup' before performing partial runs!");
  TF_DeletePRunHandle(handle);
  TF_DeleteTensor(value);
  end_session(session);
  TF_DeleteStatus(status);
  TF_DeleteGraph(graph);
}

// As TensorFlow's sessions of C take it: only Python's front end compares shapes.
static void test_run__takes_feeds_of_any_shape(void **state) {
  (void)state;
  static const int64_t declared[] = {2, 2}, fed[] = {3};
  TF_Graph *graph = TF_NewGraph();
  TF_Status *status = TF_NewStatus();
  TF_OperationDescription *desc = TF_NewOperation(graph, "Placeholder", "feed");
  TF_SetAttrType(desc, "dtype", TF_FLOAT);
  TF_SetAttrShape(desc, "shape", declared, 2);
  TF_Output feed = finish(desc), neg = unary(graph, "Neg", "neg", feed);
  TF_Session *session = new_session(graph);
  TF_Tensor *value = float_tensor(fed, 1, (float[]){1, 2, 3}), *got = NULL;
  TF_SessionRun(session, NULL, &feed, &value, 1, &neg, &got, 1, NULL, 0, NULL, status);
  succeeded(status);
  assert_int_equal(TF_Dim(got, 0), 3);
  assert_true(((float *)TF_TensorData(got))[2] == -3);
  TF_DeleteTensor(got);
  TF_DeleteTensor(value);
  end_session(session);
  TF_DeleteStatus(status);
  TF_DeleteGraph(graph);
}

static void test_strings__go_in_and_come_out(void **state) {
  (void)state;
  static const char text[] = "a text of more than twenty-two bytes";
  int64_t dims[] = {2};
  TF_Graph *graph = TF_NewGraph();
  TF_Status *status = TF_NewStatus();
  TF_Output feed = placeholder(graph, "feed", TF_STRING);
  TF_OperationDescription *desc = TF_NewOperation(graph, "StringJoin", "join");
  TF_AddInputList(desc, (TF_Output[]){feed, feed}, 2);
  TF_Output join = finish(desc);
  TF_Session *session = new_session(graph);
  TF_Tensor *value = TF_AllocateTensor(TF_STRING, dims, 1, 2 * sizeof(TF_TString)), *got = NULL;
  TF_TString *strings = TF_TensorData(value);
  TF_StringInit(&strings[0]);
  TF_StringInit(&strings[1]);
  TF_StringCopy(&strings[0], "ab", 2);
  TF_StringAssignView(&strings[1], text, strlen(text));
  TF_SessionRun(session, NULL, &feed, &value, 1, &join, &got, 1, NULL, 0, NULL, status);
  succeeded(status);
  const TF_TString *joined = TF_TensorData(got);
  assert_int_equal(TF_TensorByteSize(got), 2 * sizeof(TF_TString));
  assert_int_equal(TF_StringGetSize(&joined[1]), 2 * strlen(text));
  assert_memory_equal(TF_StringGetDataPointer(&joined[0]), "abab", 4);
  assert_memory_equal(TF_StringGetDataPointer(&joined[1]), text, strlen(text));
  TF_DeleteTensor(got);
  strings[1].u.raw.raw[0] = 63 << 2;  // a small string of 63 bytes
  TF_SessionRun(session, NULL, &feed, &value, 1, &join, &got, 1, NULL, 0, NULL, status);
  failed(status, TF_INVALID_ARGUMENT, "element 1 of a string tensor is no TF_TString");
  TF_DeleteTensor(value);
  end_session(session);
  TF_DeleteStatus(status);
  TF_DeleteGraph(graph);
}

static void test_gradients__are_operations_of_the_graph(void **state) {
  (void)state;
  float three = 3;
  TF_Graph *graph = TF_NewGraph();
  TF_Status *status = TF_NewStatus();
  TF_Output x = placeholder(graph, "x", TF_FLOAT), y = unary(graph, "Square", "y", x), dy, none;
  TF_AddGradients(graph, &y, 1, &x, 1, NULL, status, &dy);
  succeeded(status);
  assert_memory_equal(TF_OperationName(dy.oper), "gradients/", 10);
  TF_AddGradientsWithPrefix(graph, "again", &y, 1, &x, 1, &y, status, &none);
  succeeded(status);
  assert_memory_equal(TF_OperationName(none.oper), "again/", 6);
  TF_Session *session = new_session(graph);
  TF_Tensor *value = float_tensor(NULL, 0, &three), *got[2];
  TF_SessionRun(session, NULL, &x, &value, 1, (TF_Output[]){dy, none}, got, 2, NULL, 0, NULL,
                status);
  succeeded(status);
  assert_true(*(float *)TF_TensorData(got[0]) == 6);
  assert_true(*(float *)TF_TensorData(got[1]) == 54);
  TF_AddGradients(graph, &y, -1, &x, 1, NULL, status, &none);
  assert_int_equal(TF_GetCode(status), TF_INVALID_ARGUMENT);
  TF_AddGradientsWithPrefix(graph, "again", &y, 1, &x, 1, NULL, status, &none);
  failed(status, TF_INVALID_ARGUMENT, "prefix [again] conflicts with existing node in the graph.");
  TF_AddGradients(graph, &x, 1, &y, 1, NULL, status, &none);
  failed(status, TF_INVALID_ARGUMENT,
         "Cannot compute the partial derivative for node 'y' as it's unreachable");
  TF_DeleteTensor(got[0]);
  TF_DeleteTensor(got[1]);
  TF_DeleteTensor(value);
  end_session(session);
  TF_DeleteStatus(status);
  TF_DeleteGraph(graph);
}

static void test_gradients__that_there_are_none_of(void **state) {
  (void)state;
  TF_Graph *graph = TF_NewGraph();
  TF_Status *status = TF_NewStatus();
  TF_Output x = placeholder(graph, "x", TF_FLOAT), dx = {x.oper, 0};
  TF_Output largest = binary(graph, "ArgMax", "largest", x, constant(graph, "zero", int_tensor(0)));
  TF_AddGradients(graph, &largest, 1, &x, 1, NULL, status, &dx);
  failed(status, TF_NOT_FOUND, "No gradient defined for");
  assert_null(dx.oper);
  TF_Output stopped = unary(graph, "StopGradient", "stopped", x);
  TF_AddGradients(graph, &stopped, 1, &x, 1, NULL, status, &dx);
  succeeded(status);
  assert_null(dx.oper);
  TF_DeleteStatus(status);
  TF_DeleteGraph(graph);
}

// Of rows that a gather took: TensorFlow's C interface gives them dense.
static void test_gradients__of_rows_are_dense(void **state) {
  (void)state;
  int64_t dims[] = {3, 2};
  float values[] = {1, 2, 3, 4, 5, 6};
  TF_Graph *graph = TF_NewGraph();
  TF_Status *status = TF_NewStatus();
  TF_Output table = constant(graph, "table", float_tensor(dims, 2, values));
  TF_Output row = binary(graph, "Gather", "row", table, constant(graph, "one", int_tensor(1))), dx;
  TF_AddGradients(graph, &row, 1, &table, 1, NULL, status, &dx);
  succeeded(status);
  TF_Session *session = new_session(graph);
  TF_Tensor *got = NULL;
  TF_SessionRun(session, NULL, NULL, NULL, 0, &dx, &got, 1, NULL, 0, NULL, status);
  succeeded(status);
  assert_int_equal(TF_TensorByteSize(got), sizeof values);
  assert_memory_equal(TF_TensorData(got), ((float[]){0, 0, 1, 1, 0, 0}), sizeof values);
  TF_DeleteTensor(got);
  end_session(session);
  TF_DeleteStatus(status);
  TF_DeleteGraph(graph);
}

static void test_saved_model__fills_an_empty_graph(void **state) {
  (void)state;
  static const char folder[] = RHEOS_SOURCE_DIR "/tests/golden/keras_saved_models/keras3_lstm";
  const char *serve = "serve", *none = "none";
  TF_Graph *graph = TF_NewGraph(), *empty = TF_NewGraph();
  TF_Status *status = TF_NewStatus();
  TF_SessionOptions *options = TF_NewSessionOptions();
  TF_Buffer *meta_graph = TF_NewBuffer();
  TF_Session *session =
      TF_LoadSessionFromSavedModel(options, NULL, folder, &serve, 1, graph, meta_graph, status);
  succeeded(status);
  assert_non_null(memmem(meta_graph->data, meta_graph->length, "serving_default", 15));
  assert_non_null(TF_GraphOperationByName(graph, "StatefulPartitionedCall"));
  assert_null(TF_LoadSessionFromSavedModel(options, NULL, folder, &serve, 1, graph, NULL, status));
  failed(status, TF_INVALID_ARGUMENT, "Graph is non-empty.");
  assert_null(TF_LoadSessionFromSavedModel(options, NULL, folder, &none, 1, empty, NULL, status));
  assert_int_equal(TF_GetCode(status), TF_NOT_FOUND);
  assert_null(TF_LoadSessionFromSavedModel(options, NULL, "/none", &serve, 1, empty, NULL, status));
  failed(status, TF_NOT_FOUND,
         "Could not find SavedModel .pb or .pbtxt at supplied export directory path: /none");
  end_session(session);
  TF_DeleteBuffer(meta_graph);
  TF_DeleteSessionOptions(options);
  TF_DeleteStatus(status);
  TF_DeleteGraph(graph);
  TF_DeleteGraph(empty);
}

typedef struct crowd {
  TF_Graph *graph;
  TF_Session *session;
  TF_Output feed, neg;
  int number;
} crowd;

static void *run_and_grow(void *argument) {
  crowd *c = argument;
  char name[40];
  for (int i = 0; i < 50; i++) {
    snprintf(name, sizeof name, "neg_%d_%d", c->number, i);
    TF_Output neg = unary(c->graph, "Neg", name, c->feed);
    assert_int_equal(run_ints(c->session, &c->feed, &i, 1, neg), -i);
  }
  return NULL;
}

static void test_threads__grow_a_graph_and_run_it(void **state) {
  (void)state;
  enum { COUNT = 4 };
  pthread_t threads[COUNT];
  crowd crowds[COUNT];
  TF_Graph *graph = TF_NewGraph();
  TF_Output feed = placeholder(graph, "feed", TF_INT32);
  TF_Session *session = new_session(graph);
  for (int i = 0; i < COUNT; i++) {
    crowds[i] = (crowd){.graph = graph, .session = session, .feed = feed, .number = i};
    assert_int_equal(pthread_create(&threads[i], NULL, run_and_grow, &crowds[i]), 0);
  }
  for (int i = 0; i < COUNT; i++) pthread_join(threads[i], NULL);
  end_session(session);
  TF_DeleteGraph(graph);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_run__computes),
      cmocka_unit_test(test_run__tells_what_is_wrong),
      cmocka_unit_test(test_run__has_options_and_metadata),
      cmocka_unit_test(test_config__is_read_when_it_is_set),
      cmocka_unit_test(test_parts__run_one_after_the_other),
      cmocka_unit_test(test_run__takes_feeds_of_any_shape),
      cmocka_unit_test(test_strings__go_in_and_come_out),
      cmocka_unit_test(test_gradients__are_operations_of_the_graph),
      cmocka_unit_test(test_gradients__that_there_are_none_of),
      cmocka_unit_test(test_gradients__of_rows_are_dense),
      cmocka_unit_test(test_saved_model__fills_an_empty_graph),
      cmocka_unit_test(test_threads__grow_a_graph_and_run_it),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
