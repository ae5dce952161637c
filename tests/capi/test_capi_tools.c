// What tools use: metrics, descriptions of ops for code generators, libraries of ops.
#include "capi/capi_fixture.h"

// ---- Metrics

static void test_metrics__have_a_cell_for_labels(void **state) {
  (void)state;
  TF_Status *status = TF_NewStatus();
  TFE_MonitoringCounter2 *counter =
      TFE_MonitoringNewCounter2("c", status, "counts", "first", "second");
  succeeded(status);
  TFE_MonitoringCounterCell *cell = TFE_MonitoringGetCellCounter2(counter, "a", "bc");
  TFE_MonitoringCounterCellIncrementBy(cell, 2);
  TFE_MonitoringCounterCellIncrementBy(TFE_MonitoringGetCellCounter2(counter, "a", "bc"), 3);
  TFE_MonitoringCounterCellIncrementBy(TFE_MonitoringGetCellCounter2(counter, "ab", "c"), 9);
  assert_int_equal(TFE_MonitoringCounterCellValue(cell), 5);
  TFE_MonitoringDeleteCounter2(counter);
  TFE_MonitoringBoolGauge0 *flag = TFE_MonitoringNewBoolGauge0("b", status, "");
  TFE_MonitoringBoolGaugeCellSet(TFE_MonitoringGetCellBoolGauge0(flag), true);
  assert_true(TFE_MonitoringBoolGaugeCellValue(TFE_MonitoringGetCellBoolGauge0(flag)));
  TFE_MonitoringDeleteBoolGauge0(flag);
  TFE_MonitoringStringGauge1 *text = TFE_MonitoringNewStringGauge1("s", status, "", "label");
  TFE_MonitoringStringGaugeCellSet(TFE_MonitoringGetCellStringGauge1(text, "x"), "value");
  TF_Buffer *buffer = TF_NewBuffer();
  TFE_MonitoringStringGaugeCellValue(TFE_MonitoringGetCellStringGauge1(text, "x"), buffer);
  assert_int_equal(buffer->length, 5);
  assert_memory_equal(buffer->data, "value", 5);
  TF_DeleteBuffer(buffer);
  TFE_MonitoringDeleteStringGauge1(text);
  assert_null(TFE_MonitoringNewIntGauge0(NULL, status, ""));
  failed(status, TF_INVALID_ARGUMENT, "NULL");
  TF_DeleteStatus(status);
}

// The double of a message's field, which is behind its key.
static double double_at(const TF_Buffer *buffer, char key) {
  double value = NAN;
  const char *found = memchr(buffer->data, key, buffer->length);
  assert_non_null(found);
  memcpy(&value, found + 1, sizeof value);
  return value;
}

static void test_sampler__makes_a_histogram(void **state) {
  (void)state;
  TF_Status *status = TF_NewStatus();
  TFE_MonitoringBuckets *buckets = TFE_MonitoringNewExponentialBuckets(1, 2, 3);
  TFE_MonitoringSampler0 *sampler = TFE_MonitoringNewSampler0("s", buckets, status, "");
  succeeded(status);
  TFE_MonitoringDeleteBuckets(buckets);
  TFE_MonitoringSamplerCell *cell = TFE_MonitoringGetCellSampler0(sampler);
  TFE_MonitoringSamplerCellAdd(cell, 0.5);
  TFE_MonitoringSamplerCellAdd(cell, 3);
  TF_Buffer *buffer = TF_NewBuffer();
  TFE_MonitoringSamplerCellValue(cell, buffer);
  assert_float_equal(double_at(buffer, 1 << 3 | 1), 0.5, 0);
  assert_float_equal(double_at(buffer, 4 << 3 | 1), 3.5, 0);
  const double counts[] = {1, 0, 1, 0};
  assert_non_null(memmem(buffer->data, buffer->length, counts, sizeof counts));
  assert_null(TFE_MonitoringNewExponentialBuckets(1, 1, 3));
  assert_null(TFE_MonitoringNewExponentialBuckets(1, 2, -1));
  TF_DeleteBuffer(buffer);
  TFE_MonitoringDeleteSampler0(sampler);
  TF_DeleteStatus(status);
}

// ---- How ops are shown

static void check_has(TF_ApiDefMap *map, const char *op, const char *bytes, size_t size, bool has) {
  TF_Status *status = TF_NewStatus();
  TF_Buffer *def = TF_ApiDefMapGet(map, op, strlen(op), status);
  succeeded(status);
  assert_int_equal(memmem(def->data, def->length, bytes, size) != NULL, has);
  TF_DeleteBuffer(def);
  TF_DeleteStatus(status);
}

static void put(TF_ApiDefMap *map, const char *text, TF_Code code, const char *part) {
  TF_Status *status = TF_NewStatus();
  TF_ApiDefMapPut(map, text, strlen(text), status);
  failed(status, code, part);
  TF_DeleteStatus(status);
}

static void test_api_defs__are_put_over_ops(void **state) {
  (void)state;
  TF_Status *status = TF_NewStatus();
  TF_Buffer *list = TF_GetAllOpList();
  TF_ApiDefMap *map = TF_NewApiDefMap(list, status);
  succeeded(status);
  check_has(map, "MatMul", "\x0a\x06MatMul\x10\x01\x1a\x08\x0a\x06MatMul", 20, true);
  check_has(map, "MatMul",
            "\x22\x06\x0a\x01"
            "a\x12\x01"
            "a",
            8, true);  // an argument
  check_has(map, "MatMul",
            "\x5a\x01"
            "a\x5a\x01"
            "b",
            6, true);  // their order
  put(map,
      "op { graph_op_name: \"MatMul\" summary: \"new\" visibility: HIDDEN\n"
      "  in_arg { name: \"a\" rename_to: \"left\" description: <<END\ntwo\n\"lines\"\nEND\n }\n"
      "  arg_order: \"b\" arg_order: \"a\" }",
      TF_OK, "");
  check_has(map, "MatMul", "\x3a\x03new", 5, true);
  check_has(map, "MatMul", "\x10\x03", 2, true);
  check_has(map, "MatMul", "\x12\x04left\x1a\x0btwo\n\"lines\"", 19, true);
  check_has(map, "MatMul",
            "\x5a\x01"
            "b\x5a\x01"
            "a",
            6, true);
  check_has(map, "MatMul",
            "\x5a\x01"
            "a\x5a\x01"
            "b",
            6, false);
  put(map, "op { graph_op_name: \"MatMul\" in_arg { name: \"none\" } }", TF_FAILED_PRECONDITION,
      "Argument none not found in MatMul");
  put(map, "op { graph_op_name: \"MatMul\" arg_order: \"a\" }", TF_FAILED_PRECONDITION,
      "1 arguments of 2");
  put(map, "op { no_field: 1 }", TF_INVALID_ARGUMENT, "no_field");
  put(map, "op { summary: <<END\nnever", TF_INVALID_ARGUMENT, "");
  put(map, "op { graph_op_name: \"NoSuchOp\" }", TF_OK, "");
  assert_null(TF_ApiDefMapGet(map, "NoSuchOp", 8, status));
  succeeded(status);
  TF_DeleteApiDefMap(map);
  TF_Buffer *wrong = TF_NewBufferFromString("\xff", 1);
  assert_null(TF_NewApiDefMap(wrong, status));
  failed(status, TF_INVALID_ARGUMENT, "OpList");
  TF_DeleteBuffer(wrong);
  TF_DeleteBuffer(list);
  TF_DeleteStatus(status);
}

static void test_ops__have_a_summary(void **state) {
  (void)state;
  TF_Buffer *list = TF_GetAllOpList();
  TF_Status *status = TF_NewStatus();
  TF_ApiDefMap *map = TF_NewApiDefMap(list, status);
  TF_Buffer *def = TF_ApiDefMapGet(map, "Abs", 3, status);
  assert_non_null(memchr(def->data, 7 << 3 | 2, def->length));
  TF_DeleteBuffer(def);
  TF_DeleteApiDefMap(map);
  TF_DeleteBuffer(list);
  TF_DeleteStatus(status);
}

// ---- Libraries

static void test_library__that_is_not_there_is_not_found(void **state) {
  (void)state;
  TF_Status *status = TF_NewStatus();
  assert_null(TF_LoadLibrary("/nowhere/libnone.so", status));
  failed(status, TF_NOT_FOUND, "/nowhere/libnone.so");
  TF_Library *library = TF_LoadLibrary("libm.so.6", status);
  succeeded(status);
  assert_int_equal(TF_GetOpList(library).length, 0);
  TF_DeleteLibraryHandle(library);
  TF_DeleteStatus(status);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_metrics__have_a_cell_for_labels),
      cmocka_unit_test(test_sampler__makes_a_histogram),
      cmocka_unit_test(test_api_defs__are_put_over_ops),
      cmocka_unit_test(test_ops__have_a_summary),
      cmocka_unit_test(test_library__that_is_not_there_is_not_found),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
