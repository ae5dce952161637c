// Checkpoints without a graph, sessions as they were first, servers.
#include "capi/capi_fixture.h"

static const char CHECKPOINT[] =
    RHEOS_SOURCE_DIR "/tests/golden/keras_saved_models/keras3_lstm/variables/variables";

static void test_checkpoint__is_read(void **state) {
  (void)state;
  TF_Status *status = TF_NewStatus();
  TF_CheckpointReader *reader = TF_NewCheckpointReader(CHECKPOINT, status);
  succeeded(status);
  int count = TF_CheckpointReaderSize(reader), floats = 0;
  assert_true(count > 1);
  for (int i = 0; i < count; i++) {
    const char *name = TF_CheckpointReaderGetVariable(reader, i);
    int64_t dims[8] = {0};
    int rank = TF_CheckpointReaderGetVariableNumDims(reader, name);
    assert_int_equal(TF_CheckpointReaderHasTensor(reader, name), 1);
    TF_CheckpointReaderGetVariableShape(reader, name, dims, rank, status);
    succeeded(status);
    TF_Tensor *tensor = TF_CheckpointReaderGetTensor(reader, name, status);
    succeeded(status);
    assert_int_equal(TF_NumDims(tensor), rank);
    assert_int_equal(TF_TensorType(tensor), TF_CheckpointReaderGetVariableDataType(reader, name));
    if (rank > 0) assert_int_equal(TF_Dim(tensor, 0), dims[0]);
    floats += TF_TensorType(tensor) == TF_FLOAT;
    TF_DeleteTensor(tensor);
  }
  assert_true(floats > 0);
  assert_null(TF_CheckpointReaderGetVariable(reader, count));
  assert_int_equal(TF_CheckpointReaderHasTensor(reader, "none"), 0);
  assert_int_equal(TF_CheckpointReaderGetVariableNumDims(reader, "none"), -1);
  assert_null(TF_CheckpointReaderGetTensor(reader, "none", status));
  failed(status, TF_NOT_FOUND, "none");
  TF_CheckpointReaderGetVariableShape(reader, "none", NULL, 0, status);
  failed(status, TF_NOT_FOUND, "none");
  TF_DeleteCheckpointReader(reader);
  assert_null(TF_NewCheckpointReader("/none", status));
  assert_int_equal(TF_GetCode(status), TF_NOT_FOUND);
  TF_DeleteStatus(status);
}

// The bytes of a graph with feed and neg = -feed.
static TF_Buffer *negation(void) {
  TF_Graph *graph = TF_NewGraph();
  TF_Status *status = TF_NewStatus();
  TF_Buffer *buffer = TF_NewBuffer();
  unary(graph, "Neg", "neg", placeholder(graph, "feed", TF_INT32));
  TF_GraphToGraphDef(graph, buffer, status);
  succeeded(status);
  TF_DeleteStatus(status);
  TF_DeleteGraph(graph);
  return buffer;
}

static void test_deprecated_session__runs_by_names(void **state) {
  (void)state;
  TF_Status *status = TF_NewStatus();
  TF_SessionOptions *options = TF_NewSessionOptions();
  TF_DeprecatedSession *session = TF_NewDeprecatedSession(options, status);
  succeeded(status);
  TF_Buffer *def = negation();
  TF_ExtendGraph(session, def->data, def->length, status);
  succeeded(status);
  TF_Tensor *value = int_tensor(3), *got = NULL;
  const char *feed = "feed:0", *neg = "neg", *none = "none";
  TF_Run(session, NULL, &feed, &value, 1, &neg, &got, 1, &neg, 1, NULL, status);
  succeeded(status);
  assert_int_equal(*(int32_t *)TF_TensorData(got), -3);
  TF_DeleteTensor(got);
  TF_Run(session, NULL, &feed, &value, 1, &none, &got, 1, NULL, 0, NULL, status);
  failed(status, TF_NOT_FOUND, "none");
  TF_Run(session, NULL, &feed, &value, 1, &neg, &got, 1, &none, 1, NULL, status);
  failed(status, TF_NOT_FOUND, "none");
  const char *handle;
  TF_PRunSetup(session, &feed, 1, &neg, 1, NULL, 0, &handle, status);
  succeeded(status);
  TF_PRun(session, handle, &feed, &value, 1, &neg, &got, 1, NULL, 0, status);
  succeeded(status);
  assert_int_equal(*(int32_t *)TF_TensorData(got), -3);
  TF_DeletePRunHandle(handle);
  TF_DeleteTensor(got);
  TF_DeleteTensor(value);
  TF_CloseDeprecatedSession(session, status);
  TF_DeleteDeprecatedSession(session, status);
  succeeded(status);
  TF_DeleteSessionOptions(options);
  TF_DeleteBuffer(def);
  TF_DeleteStatus(status);
}

static void test_server__that_cannot_be_made_is_refused(void **state) {
  (void)state;
  TF_Status *status = TF_NewStatus();
  assert_null(TF_NewServer("\xff", 1, status));
  failed(status, TF_INVALID_ARGUMENT,
         "Could not parse provided bytes into a ServerDef protocol buffer");
  assert_null(TF_NewServer(NULL, 0, status));
  assert_null(TF_NewServer("\x12\x01x", 3, status));  // a job without a cluster
  assert_int_not_equal(TF_GetCode(status), TF_OK);
  assert_null(TF_ServerTarget(NULL));
  TF_DeleteStatus(status);
}

static void test_messages__are_read_back(void **state) {
  (void)state;
  TF_Graph *graph = TF_NewGraph();
  TF_Status *status = TF_NewStatus();
  TF_SessionOptions *options = TF_NewSessionOptions();
  TF_Buffer *config = TF_CreateConfig(0, 0, 2), *run = TF_CreateRunOptions(1);
  TF_SetConfig(options, config->data, config->length, status);
  succeeded(status);
  TF_Session *session = TF_NewSession(graph, options, status);
  TF_DeviceList *list = TF_SessionListDevices(session, status);
  assert_int_equal(TF_DeviceListCount(list), 2);
  TF_Operation *oper = constant(graph, "three", int_tensor(3)).oper;
  TF_SessionRun(session, run, NULL, NULL, 0, NULL, NULL, 0, (const TF_Operation *[]){oper}, 1, NULL,
                status);
  succeeded(status);
  TF_DeleteDeviceList(list);
  TF_DeleteBuffer(config);
  TF_DeleteBuffer(run);
  end_session(session);
  TF_DeleteSessionOptions(options);
  TF_DeleteStatus(status);
  TF_DeleteGraph(graph);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_checkpoint__is_read),
      cmocka_unit_test(test_deprecated_session__runs_by_names),
      cmocka_unit_test(test_server__that_cannot_be_made_is_refused),
      cmocka_unit_test(test_messages__are_read_back),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
