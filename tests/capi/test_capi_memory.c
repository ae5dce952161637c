// Whatever allocation fails, in the library or in Rheos below it, programs get an error or nothing,
// and nothing is lost. The library's sources are part of this program, whose calls of malloc() and
// its like are wrapped by the linker.
#include "capi/eager_fixture.h"

#include "graph/counting_allocator.h"

#include <stdio.h>

static counting_allocator counter;

// ---- malloc() and its like

// Seen by other libraries, as a sanitizer's names these too.
#pragma GCC visibility push(default)
void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void __real_free(void *memory);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
void __wrap_free(void *memory);
char *__wrap_strdup(const char *text);
char *__wrap_strndup(const char *text, size_t length);
int __wrap_vasprintf(char **out, const char *format, va_list arguments);
int __wrap_asprintf(char **out, const char *format, ...);
#pragma GCC visibility pop

static bool fails(void) { return counting_fails(&counter, 0); }

static void *count(void *memory) {
  if (memory != NULL) atomic_fetch_add(&counter.alive, 1);
  return memory;
}

void *__wrap_malloc(size_t size) { return fails() ? NULL : count(__real_malloc(size)); }

void *__wrap_calloc(size_t number, size_t size) {
  return fails() ? NULL : count(__real_calloc(number, size));
}

void *__wrap_realloc(void *memory, size_t size) {
  if (fails()) return NULL;
  return memory == NULL ? count(__real_realloc(NULL, size)) : __real_realloc(memory, size);
}

void *__wrap_aligned_alloc(size_t alignment, size_t size) {
  return fails() ? NULL : count(__real_aligned_alloc(alignment, size));
}

void __wrap_free(void *memory) {
  if (memory != NULL) atomic_fetch_sub(&counter.alive, 1);
  __real_free(memory);
}

char *__wrap_strndup(const char *text, size_t length) {
  length = strnlen(text, length);
  char *copy = __wrap_malloc(length + 1);
  if (copy == NULL) return NULL;
  memcpy(copy, text, length);
  copy[length] = '\0';
  return copy;
}

char *__wrap_strdup(const char *text) { return __wrap_strndup(text, strlen(text)); }

int __wrap_vasprintf(char **out, const char *format, va_list arguments) {
  va_list again;
  va_copy(again, arguments);
  int length = vsnprintf(NULL, 0, format, again);
  va_end(again);
  *out = __wrap_malloc((size_t)length + 1);
  return *out == NULL ? -1 : vsnprintf(*out, (size_t)length + 1, format, arguments);
}

int __wrap_asprintf(char **out, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int length = __wrap_vasprintf(out, format, arguments);
  va_end(arguments);
  return length;
}

// ---- Programs, which go on after a failure as far as they can

static void build(TF_Graph *graph, TF_Status *status) {
  static const int64_t dims[] = {2, 2};
  static const void *const names[] = {"loc:@x", "loc:@y"};
  static const size_t lengths[] = {6, 6};
  TF_OperationDescription *desc = TF_NewOperation(graph, "Placeholder", "x");
  TF_SetAttrType(desc, "dtype", TF_FLOAT);
  TF_SetAttrShape(desc, "shape", dims, 2);
  TF_SetAttrStringList(desc, "_names", names, lengths, 2);
  TF_SetAttrValueProto(desc, "_list", "\x0a\x05\x1a\x03\x01\x02\x03", 7, status);
  TF_SetDevice(desc, "/device:CPU:0");
  TF_Operation *x = TF_FinishOperation(desc, status);
  if (x == NULL) return;
  desc = TF_NewOperation(graph, "AddN", "sum");
  TF_AddInputList(desc, (TF_Output[]){{x, 0}, {x, 0}}, 2);
  TF_AddControlInput(desc, x);
  TF_ColocateWith(desc, x);
  TF_Operation *sum = TF_FinishOperation(desc, status);
  TF_Tensor *value = TF_AllocateTensor(TF_STRING, NULL, 0, sizeof(TF_TString));
  if (value != NULL) TF_StringCopy(TF_TensorData(value), "a text that is not small at all", 31);
  desc = TF_NewOperation(graph, "Const", "text");
  TF_SetAttrTensor(desc, "value", value, status);
  TF_SetAttrType(desc, "dtype", TF_STRING);
  TF_FinishOperation(desc, status);
  if (value != NULL) TF_StringDealloc(TF_TensorData(value));
  TF_DeleteTensor(value);
  TF_Output y = {sum, 0}, by = {x, 0}, dy;
  if (sum != NULL) TF_AddGradients(graph, &y, 1, &by, 1, NULL, status, &dy);
}

static void graphs(TF_Status *status) {
  TF_Graph *graph = TF_NewGraph(), *other = TF_NewGraph();
  TF_Buffer *buffer = TF_NewBuffer();
  size_t position = 0, length;
  build(graph, status);
  while (TF_GraphNextOperation(graph, &position) != NULL) continue;
  TF_GraphToGraphDef(graph, buffer, status);
  TF_ImportGraphDefOptions *options = TF_NewImportGraphDefOptions();
  TF_ImportGraphDefOptionsSetPrefix(options, "p");
  TF_ImportGraphDefOptionsAddReturnOutput(options, "sum", 0);
  TF_ImportGraphDefOptionsAddReturnOperation(options, "x");
  TF_DeleteImportGraphDefResults(TF_GraphImportGraphDefWithResults(other, buffer, options, status));
  TF_DeleteImportGraphDefOptions(options);
  free((void *)(uintptr_t)TF_GraphDebugString(graph, &length));
  TF_Operation *x = TF_GraphOperationByName(graph, "x");
  TF_Output input = {x, 0}, output = {TF_GraphOperationByName(graph, "sum"), 0};
  TF_Function *function = TF_GraphToFunction(graph, "F", 1, -1, NULL, 1, &input, 1, &output, NULL,
                                             NULL, "a function", status);
  TF_GraphCopyFunction(other, function, NULL, status);
  TF_DeleteFunction(function);
  TF_Tensor *text = NULL;
  TF_OperationGetAttrTensor(TF_GraphOperationByName(graph, "text"), "value", &text, status);
  TF_DeleteTensor(text);
  TF_DeleteBuffer(buffer);
  TF_DeleteGraph(graph);
  TF_DeleteGraph(other);
}

static void loops(TF_Status *status) {
  TF_Graph *graph = TF_NewGraph();
  TF_OperationDescription *desc = TF_NewOperation(graph, "Placeholder", "flag");
  TF_SetAttrType(desc, "dtype", TF_BOOL);
  TF_Output flag = {TF_FinishOperation(desc, status), 0}, after;
  TF_WhileParams loop = TF_NewWhile(graph, &flag, 1, status);
  if (loop.ninputs > 0) {
    loop.name = "loop";
    loop.cond_output = loop.cond_inputs[0];
    desc = TF_NewOperation(loop.body_graph, "LogicalNot", "not");
    TF_AddInput(desc, loop.body_inputs[0]);
    loop.body_outputs[0] = (TF_Output){TF_FinishOperation(desc, status), 0};
    TF_FinishWhile(&loop, status, &after);
  }
  TF_DeleteGraph(graph);
}

static void sessions(TF_Status *status) {
  static const int64_t dims[] = {2, 2};
  TF_Graph *graph = TF_NewGraph();
  build(graph, status);
  TF_SessionOptions *options = TF_NewSessionOptions();
  TF_SetConfig(options, "\x10\x01\x28\x01", 4, status);
  TF_Session *session = TF_NewSession(graph, options, status);
  TF_DeleteSessionOptions(options);
  TF_Tensor *value = TF_AllocateTensor(TF_FLOAT, dims, 2, 16), *got[2] = {NULL};
  if (value != NULL) memset(TF_TensorData(value), 0, 16);
  TF_Output x = {TF_GraphOperationByName(graph, "x"), 0};
  TF_Output wanted[] = {{TF_GraphOperationByName(graph, "sum"), 0},
                        {TF_GraphOperationByName(graph, "text"), 0}};
  TF_SessionRun(session, NULL, &x, &value, 1, wanted, got, 2, NULL, 0, NULL, status);
  const char *handle = NULL;
  TF_SessionPRunSetup(session, &x, 1, wanted, 1, NULL, 0, &handle, status);
  TF_DeletePRunHandle(handle);
  TF_DeleteDeviceList(TF_SessionListDevices(session, status));
  TF_DeleteTensor(got[0]);
  TF_DeleteTensor(got[1]);
  TF_DeleteTensor(value);
  TF_DeleteSession(session, status);
  TF_DeleteGraph(graph);
}

static void eager(TF_Status *status) {
  TFE_ContextOptions *options = TFE_NewContextOptions();
  TFE_ContextOptionsSetConfig(options, "\x10\x01\x28\x01", 4, status);
  TFE_ContextOptionsSetAsync(options, 1);
  TFE_Context *context = TFE_NewContext(options, status);
  TFE_DeleteContextOptions(options);
  TF_DeleteDeviceList(TFE_ContextListDevices(context, status));
  float number = 2;
  TFE_TensorHandle *handle = TFE_NewTensorHandleFromScalar(TF_FLOAT, &number, 4, status);
  TFE_Op *op = TFE_NewOp(context, "AddN", status), *copy = TFE_NewOp(context, "AddN", status);
  TFE_TensorHandle *inputs[] = {handle, handle}, *result = NULL;
  TFE_OpAddInputList(op, inputs, 2, status);
  TFE_OpSetDevice(op, "CPU:0", status);
  int length = 1;
  TFE_Execute(op, &result, &length, status);
  TF_DeleteTensor(TFE_TensorHandleResolve(result, status));
  TFE_DeleteTensorHandle(result);
  TFE_OpAddAttrs(copy, TFE_OpGetAttrs(op));
  TF_Buffer *buffer = TF_NewBuffer();
  TFE_OpAttrsSerialize(TFE_OpGetAttrs(op), buffer, status);
  TF_DeleteBuffer(buffer);
  TF_ShapeAndTypeList *shapes = TF_NewShapeAndTypeList(2), *inferred = NULL;
  TFE_InferShapes(copy, shapes, NULL, NULL, NULL, &inferred, NULL, status);
  TF_DeleteShapeAndTypeList(shapes);
  TF_DeleteShapeAndTypeList(inferred);
  TFE_DeleteTensorHandle(handle);
  TFE_DeleteOp(op);
  TFE_DeleteOp(copy);
  TFE_DeleteExecutor(TFE_ContextGetExecutorForThread(context));
  TFE_DeleteContext(context);
}

static void tools(TF_Status *status) {
  static const char text[] =
      "op { graph_op_name: \"Neg\" summary: <<E\nx\nE\n in_arg { name: \"x\" } }";
  // An OpList of one op with an argument.
  TF_Buffer *list = TF_NewBufferFromString("\x0a\x0a\x0a\x03Neg\x12\x03\x0a\x01x", 12);
  TF_ApiDefMap *map = TF_NewApiDefMap(list, status);
  TF_ApiDefMapPut(map, text, sizeof text - 1, status);
  TF_DeleteBuffer(TF_ApiDefMapGet(map, "Neg", 3, status));
  TF_DeleteApiDefMap(map);
  TF_DeleteBuffer(list);
  TFE_MonitoringBuckets *buckets = TFE_MonitoringNewExponentialBuckets(1, 2, 3);
  TFE_MonitoringSampler1 *sampler = TFE_MonitoringNewSampler1("s", buckets, status, "", "label");
  TFE_MonitoringSamplerCell *cell = TFE_MonitoringGetCellSampler1(sampler, "a");
  TFE_MonitoringSamplerCellAdd(cell, 1);
  TF_Buffer *buffer = TF_NewBuffer();
  TFE_MonitoringSamplerCellValue(cell, buffer);
  TF_DeleteBuffer(buffer);
  TFE_MonitoringDeleteSampler1(sampler);
  TFE_MonitoringDeleteBuckets(buckets);
  TF_DeleteBuffer(TFE_GetServerDef("job_name: \"w\"", status));
  TF_SetStatus(status, TF_INTERNAL, "text");
  TF_SetPayload(status, "key", "value");
}

// ---- Failing each allocation in turn

static void fail_each(void (*program)(TF_Status *status)) {
  TF_Status *status = TF_NewStatus();
  int64_t requests = 1;
  program(status);  // what is made once and stays
  assert_int_equal(TF_GetCode(status) == TF_OK || TF_GetCode(status) == TF_INTERNAL, true);
  for (int64_t n = 1; n <= requests; n++) {
    TF_SetStatus(status, TF_OK, "");
    int64_t before = counter.alive, begun = counter.requests;
    counter.fail_at = begun + n;
    program(status);
    counter.fail_at = 0;
    requests = counter.requests - begun;
    TF_SetStatus(status, TF_OK, "");
    if (counter.alive != before) {
      fail_msg("%lld of %lld: %lld are left", (long long)n, (long long)requests,
               (long long)(counter.alive - before));
    }
  }
  print_message("%lld allocations\n", (long long)requests);
  TF_DeleteStatus(status);
}

static int install(void **state) {
  (void)state;
  counting_allocator_install(&counter);
  return 0;
}

static void test_memory__of_graphs(void **state) {
  (void)state;
  fail_each(graphs);
}

static void test_memory__of_loops(void **state) {
  (void)state;
  fail_each(loops);
}

static void test_memory__of_sessions(void **state) {
  (void)state;
  fail_each(sessions);
}

static void test_memory__of_eager_operations(void **state) {
  (void)state;
  fail_each(eager);
}

static void test_memory__of_tools(void **state) {
  (void)state;
  fail_each(tools);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_memory__of_graphs),
      cmocka_unit_test(test_memory__of_loops),
      cmocka_unit_test(test_memory__of_sessions),
      cmocka_unit_test(test_memory__of_eager_operations),
      cmocka_unit_test(test_memory__of_tools),
  };
  return cmocka_run_group_tests(tests, install, NULL);
}
