// Every op has recorded cases. Says which have few.
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "graph/op_def.h"
#include "ops/op_harness.h"

enum { ENOUGH_CASES = 5 };

// Ops that one node in one graph cannot show, and what tests them instead.
static const char *const elsewhere[][2] = {
    {"Const", "test_build, test_graph_def"},
    {"DestroyTemporaryVariable", "test_variable"},
    {"HashTable", "test_lookup_table, tests/python/test_text.py"},
    {"HashTableV2", "test_lookup_table, tests/python/test_text.py"},
    {"InitializeTable", "test_lookup_table, tests/python/test_text.py"},
    {"InitializeTableFromTextFile", "test_lookup_table, tests/python/test_text.py"},
    {"InitializeTableFromTextFileV2", "test_lookup_table, tests/python/test_text.py"},
    {"InitializeTableV2", "test_lookup_table, tests/python/test_text.py"},
    {"LookupTableExport", "test_lookup_table, tests/python/test_text.py"},
    {"LookupTableExportV2", "test_lookup_table, tests/python/test_text.py"},
    {"LookupTableFind", "test_lookup_table, tests/python/test_text.py"},
    {"LookupTableFindV2", "test_lookup_table, tests/python/test_text.py"},
    {"LookupTableImport", "test_lookup_table, tests/python/test_text.py"},
    {"LookupTableImportV2", "test_lookup_table, tests/python/test_text.py"},
    {"LookupTableInsert", "test_lookup_table, tests/python/test_text.py"},
    {"LookupTableInsertV2", "test_lookup_table, tests/python/test_text.py"},
    {"LookupTableRemoveV2", "test_lookup_table, tests/python/test_text.py"},
    {"LookupTableSize", "test_lookup_table, tests/python/test_text.py"},
    {"LookupTableSizeV2", "test_lookup_table, tests/python/test_text.py"},
    {"MatchingFiles", "tests/python/test_files.py"},
    {"MergeV2Checkpoints", "test_save"},
    {"MutableDenseHashTable", "test_lookup_table, tests/python/test_text.py"},
    {"MutableDenseHashTableV2", "test_lookup_table, tests/python/test_text.py"},
    {"MutableHashTable", "test_lookup_table, tests/python/test_text.py"},
    {"MutableHashTableOfTensors", "test_lookup_table, tests/python/test_text.py"},
    {"MutableHashTableOfTensorsV2", "test_lookup_table, tests/python/test_text.py"},
    {"MutableHashTableV2", "test_lookup_table, tests/python/test_text.py"},
    {"Placeholder", "every op test"},
    {"PlaceholderV2", "test_plumbing"},
    {"Print", "test_check"},
    {"PrintV2", "test_check"},
    {"ReadFile", "tests/python/test_files.py"},
    {"Restore", "test_save"},
    {"RestoreSlice", "test_save"},
    {"RestoreV2", "test_save"},
    {"Save", "test_save"},
    {"SaveSlices", "test_save"},
    {"SaveV2", "test_save"},
    {"ShardedFilename", "test_save"},
    {"TemporaryVariable", "test_variable"},
    {"Timestamp", "tests/python/test_summary.py"},
    {"VarHandleOp", "every case with a handle"},
    {"Variable", "test_session"},
    {"VariableV2", "every case with a reference"},
    {"WriteFile", "tests/python/test_files.py"},
};

static bool is_elsewhere(const char *op) {
  for (size_t i = 0; i < sizeof elsewhere / sizeof *elsewhere; i++) {
    if (strcmp(elsewhere[i][0], op) == 0) return true;
  }
  return false;
}

static int cases_of(const op_cases *cases, const char *op) {
  for (size_t i = 0; i < cases->count; i = op_cases_end(cases, i)) {
    if (strcmp(cases->items[i].op, op) == 0) return (int)(op_cases_end(cases, i) - i);
  }
  return 0;
}

static void test_ops__have_cases(void **state) {
  (void)state;
  op_cases cases;
  int num_without = 0, num_few = 0;
  op_cases_load(&cases);
  for (int32_t i = 0; i < rheos__op_table_size; i++) {
    const char *op = rheos__op_table[i]->name;
    int count = cases_of(&cases, op);
    if (count >= ENOUGH_CASES || is_elsewhere(op)) continue;
    fprintf(stderr, "  %s has %d case%s\n", op, count, count == 1 ? "" : "s");
    num_without += count == 0;
    num_few++;
  }
  fprintf(stderr, "  %d of %d ops have fewer than %d cases, %d none\n", num_few,
          (int)rheos__op_table_size, ENOUGH_CASES, num_without);
  op_cases_free(&cases);
  assert_int_equal(num_without, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_ops__have_cases)};
  return cmocka_run_group_tests_name("op_coverage", tests, NULL, NULL);
}
