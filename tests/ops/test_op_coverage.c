// Every op has recorded cases, and enough of them.
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "graph/op_def.h"
#include "ops/op_harness.h"

enum { ENOUGH_CASES = 5 };

// Ops without an answer that could be recorded, and what tests them instead.
static const char *const elsewhere[][2] = {
    {"Abort", "tests/runtime/test_flow.c"},
    {"ControlTrigger", "tests/runtime/test_flow.c"},
    {"_Arg", "tests/runtime/test_functions.c"},
    {"_Retval", "tests/runtime/test_functions.c"},
    {"Case", "tests/runtime/test_functions.c"},
    {"For", "tests/runtime/test_functions.c"},
    {"If", "tests/runtime/test_functions.c"},
    {"PartitionedCall", "tests/runtime/test_functions.c"},
    {"StatefulPartitionedCall", "tests/runtime/test_functions.c"},
    {"SymbolicGradient", "tests/python/test_func_graph.py"},
    {"StatelessCase", "tests/runtime/test_functions.c"},
    {"StatelessIf", "tests/runtime/test_functions.c"},
    {"StatelessWhile", "tests/runtime/test_functions.c"},
    {"While", "tests/runtime/test_functions.c"},
    {"AnonymousIterator", "tests/ops/test_datasets.c"},
    {"AnonymousIteratorV2", "tests/ops/test_datasets.c"},
    {"AnonymousIteratorV3", "tests/ops/test_datasets.c"},
    {"AnonymousMemoryCache", "tests/ops/test_datasets.c"},
    {"AnonymousRandomSeedGenerator", "tests/ops/test_datasets.c"},
    {"AnonymousSeedGenerator", "tests/ops/test_datasets.c"},
    {"AssertCardinalityDataset", "tests/ops/test_datasets.c"},
    {"AssertNextDataset", "tests/ops/test_datasets.c"},
    {"AssertPrevDataset", "tests/ops/test_datasets.c"},
    {"AutoShardDataset", "tests/ops/test_datasets.c"},
    {"BatchDataset", "tests/ops/test_datasets.c"},
    {"BatchDatasetV2", "tests/ops/test_datasets.c"},
    {"BytesProducedStatsDataset", "tests/ops/test_datasets.c"},
    {"CacheDataset", "tests/ops/test_datasets.c"},
    {"CacheDatasetV2", "tests/ops/test_datasets.c"},
    {"ConcatenateDataset", "tests/ops/test_datasets.c"},
    {"DatasetCardinality", "tests/ops/test_datasets.c"},
    {"DatasetToSingleElement", "tests/ops/test_datasets.c"},
    {"DeleteIterator", "tests/ops/test_datasets.c"},
    {"DeleteMemoryCache", "tests/ops/test_datasets.c"},
    {"DeleteRandomSeedGenerator", "tests/ops/test_datasets.c"},
    {"DeleteSeedGenerator", "tests/ops/test_datasets.c"},
    {"DeserializeIterator", "tests/ops/test_datasets.c"},
    {"DirectedInterleaveDataset", "tests/ops/test_datasets.c"},
    {"DummyMemoryCache", "tests/ops/test_datasets.c"},
    {"DummySeedGenerator", "tests/ops/test_datasets.c"},
    {"ExperimentalAssertNextDataset", "tests/ops/test_datasets.c"},
    {"ExperimentalAutoShardDataset", "tests/ops/test_datasets.c"},
    {"ExperimentalBytesProducedStatsDataset", "tests/ops/test_datasets.c"},
    {"ExperimentalDatasetCardinality", "tests/ops/test_datasets.c"},
    {"ExperimentalDirectedInterleaveDataset", "tests/ops/test_datasets.c"},
    {"ExperimentalGroupByReducerDataset", "tests/ops/test_datasets.c"},
    {"ExperimentalGroupByWindowDataset", "tests/ops/test_datasets.c"},
    {"ExperimentalIgnoreErrorsDataset", "tests/ops/test_datasets.c"},
    {"ExperimentalLatencyStatsDataset", "tests/ops/test_datasets.c"},
    {"ExperimentalMapAndBatchDataset", "tests/ops/test_datasets.c"},
    {"ExperimentalMapDataset", "tests/ops/test_datasets.c"},
    {"ExperimentalMatchingFilesDataset", "tests/ops/test_datasets.c"},
    {"ExperimentalMaxIntraOpParallelismDataset", "tests/ops/test_datasets.c"},
    {"ExperimentalNonSerializableDataset", "tests/ops/test_datasets.c"},
    {"ExperimentalParallelInterleaveDataset", "tests/ops/test_datasets.c"},
    {"ExperimentalPrivateThreadPoolDataset", "tests/ops/test_datasets.c"},
    {"ExperimentalRandomDataset", "tests/ops/test_datasets.c"},
    {"ExperimentalScanDataset", "tests/ops/test_datasets.c"},
    {"ExperimentalSleepDataset", "tests/ops/test_datasets.c"},
    {"ExperimentalTakeWhileDataset", "tests/ops/test_datasets.c"},
    {"ExperimentalUnbatchDataset", "tests/ops/test_datasets.c"},
    {"ExperimentalUniqueDataset", "tests/ops/test_datasets.c"},
    {"FilterByLastComponentDataset", "tests/ops/test_datasets.c"},
    {"FilterDataset", "tests/ops/test_datasets.c"},
    {"FinalizeDataset", "tests/ops/test_datasets.c"},
    {"FixedLengthRecordDataset", "tests/ops/test_datasets.c"},
    {"FixedLengthRecordDatasetV2", "tests/ops/test_datasets.c"},
    {"FlatMapDataset", "tests/ops/test_datasets.c"},
    {"GeneratorDataset", "tests/ops/test_datasets.c"},
    {"GroupByReducerDataset", "tests/ops/test_datasets.c"},
    {"GroupByWindowDataset", "tests/ops/test_datasets.c"},
    {"IgnoreErrorsDataset", "tests/ops/test_datasets.c"},
    {"InterleaveDataset", "tests/ops/test_datasets.c"},
    {"Iterator", "tests/ops/test_datasets.c"},
    {"IteratorFromStringHandle", "tests/ops/test_datasets.c"},
    {"IteratorFromStringHandleV2", "tests/ops/test_datasets.c"},
    {"IteratorGetNext", "tests/ops/test_datasets.c"},
    {"IteratorGetNextAsOptional", "tests/ops/test_datasets.c"},
    {"IteratorGetNextSync", "tests/ops/test_datasets.c"},
    {"IteratorToStringHandle", "tests/ops/test_datasets.c"},
    {"IteratorV2", "tests/ops/test_datasets.c"},
    {"LatencyStatsDataset", "tests/ops/test_datasets.c"},
    {"LegacyParallelInterleaveDatasetV2", "tests/ops/test_datasets.c"},
    {"ListDataset", "tests/ops/test_datasets.c"},
    {"MakeIterator", "tests/ops/test_datasets.c"},
    {"MapAndBatchDataset", "tests/ops/test_datasets.c"},
    {"MapDataset", "tests/ops/test_datasets.c"},
    {"MatchingFilesDataset", "tests/ops/test_datasets.c"},
    {"MaxIntraOpParallelismDataset", "tests/ops/test_datasets.c"},
    {"ModelDataset", "tests/ops/test_datasets.c"},
    {"NonSerializableDataset", "tests/ops/test_datasets.c"},
    {"OneShotIterator", "tests/ops/test_datasets.c"},
    {"OptimizeDataset", "tests/ops/test_datasets.c"},
    {"OptimizeDatasetV2", "tests/ops/test_datasets.c"},
    {"OptionsDataset", "tests/ops/test_datasets.c"},
    {"PaddedBatchDataset", "tests/ops/test_datasets.c"},
    {"PaddedBatchDatasetV2", "tests/ops/test_datasets.c"},
    {"ParallelBatchDataset", "tests/ops/test_datasets.c"},
    {"ParallelFilterDataset", "tests/ops/test_datasets.c"},
    {"ParallelInterleaveDataset", "tests/ops/test_datasets.c"},
    {"ParallelInterleaveDatasetV2", "tests/ops/test_datasets.c"},
    {"ParallelInterleaveDatasetV3", "tests/ops/test_datasets.c"},
    {"ParallelInterleaveDatasetV4", "tests/ops/test_datasets.c"},
    {"ParallelMapDataset", "tests/ops/test_datasets.c"},
    {"ParallelMapDatasetV2", "tests/ops/test_datasets.c"},
    {"PrefetchDataset", "tests/ops/test_datasets.c"},
    {"PrivateThreadPoolDataset", "tests/ops/test_datasets.c"},
    {"RandomDataset", "tests/ops/test_datasets.c"},
    {"RangeDataset", "tests/ops/test_datasets.c"},
    {"ReduceDataset", "tests/ops/test_datasets.c"},
    {"RepeatDataset", "tests/ops/test_datasets.c"},
    {"RewriteDataset", "tests/ops/test_datasets.c"},
    {"SamplingDataset", "tests/ops/test_datasets.c"},
    {"ScanDataset", "tests/ops/test_datasets.c"},
    {"SerializeIterator", "tests/ops/test_datasets.c"},
    {"ShardDataset", "tests/ops/test_datasets.c"},
    {"ShuffleAndRepeatDataset", "tests/ops/test_datasets.c"},
    {"ShuffleAndRepeatDatasetV2", "tests/ops/test_datasets.c"},
    {"ShuffleDataset", "tests/ops/test_datasets.c"},
    {"ShuffleDatasetV2", "tests/ops/test_datasets.c"},
    {"ShuffleDatasetV3", "tests/ops/test_datasets.c"},
    {"SkipDataset", "tests/ops/test_datasets.c"},
    {"SleepDataset", "tests/ops/test_datasets.c"},
    {"SlidingWindowDataset", "tests/ops/test_datasets.c"},
    {"SparseTensorSliceDataset", "tests/ops/test_datasets.c"},
    {"TFRecordDataset", "tests/ops/test_datasets.c"},
    {"TFRecordDatasetV2", "tests/ops/test_datasets.c"},
    {"TakeDataset", "tests/ops/test_datasets.c"},
    {"TakeWhileDataset", "tests/ops/test_datasets.c"},
    {"TensorDataset", "tests/ops/test_datasets.c"},
    {"TensorSliceDataset", "tests/ops/test_datasets.c"},
    {"TextLineDataset", "tests/ops/test_datasets.c"},
    {"UnbatchDataset", "tests/ops/test_datasets.c"},
    {"UniqueDataset", "tests/ops/test_datasets.c"},
    {"UnwrapDatasetVariant", "tests/ops/test_datasets.c"},
    {"WindowDataset", "tests/ops/test_datasets.c"},
    {"WrapDatasetVariant", "tests/ops/test_datasets.c"},
    {"ZipDataset", "tests/ops/test_datasets.c"},
    {"DeleteSessionTensor", "tests/python/test_session_tensors.py"},
    {"Enter", "tests/runtime/test_flow.c"},
    {"Exit", "tests/runtime/test_flow.c"},
    {"GetSessionHandle", "tests/python/test_session_tensors.py"},
    {"GetSessionTensor", "tests/python/test_session_tensors.py"},
    {"ImmutableConst", "tests/format/graph/test_graph_file.c"},
    {"LoopCond", "tests/runtime/test_flow.c"},
    {"Merge", "tests/runtime/test_flow.c"},
    {"NextIteration", "tests/runtime/test_flow.c"},
    {"Placeholder", "every op test"},
    {"PlaceholderV2", "test_plumbing"},
    {"PyFunc", "tests/python/test_py_func.py"},
    {"PyFuncStateless", "tests/python/test_py_func.py"},
    {"RefEnter", "tests/runtime/test_flow.c"},
    {"RefExit", "tests/runtime/test_flow.c"},
    {"RefMerge", "tests/runtime/test_flow.c"},
    {"RefNextIteration", "tests/runtime/test_flow.c"},
    {"RefSelect", "tests/runtime/test_flow.c"},
    {"RefSwitch", "tests/runtime/test_flow.c"},
    {"Switch", "tests/runtime/test_flow.c"},
    {"Timestamp", "tests/python/test_summary.py"},
    {"_RaisedConditional", "tests/runtime/test_flow.c"},
    {"_RaisedLoop", "tests/runtime/test_flow.c"},
    {"_RaisedStatefulConditional", "tests/runtime/test_flow.c"},
    {"_RaisedStatefulLoop", "tests/runtime/test_flow.c"},
    {"_RaisedStatelessConditional", "tests/runtime/test_flow.c"},
    {"_RaisedStatelessLoop", "tests/runtime/test_flow.c"},
    {"_SwitchN", "tests/runtime/test_flow.c"},
    {"FIFOQueue", "tests/runtime/test_queues.c"},
    {"FIFOQueueV2", "tests/runtime/test_queues.c"},
    {"PaddingFIFOQueue", "tests/runtime/test_queues.c"},
    {"PaddingFIFOQueueV2", "tests/runtime/test_queues.c"},
    {"PriorityQueue", "tests/runtime/test_queues.c"},
    {"PriorityQueueV2", "tests/runtime/test_queues.c"},
    {"QueueClose", "tests/runtime/test_queues.c"},
    {"QueueCloseV2", "tests/runtime/test_queues.c"},
    {"QueueDequeue", "tests/runtime/test_queues.c"},
    {"QueueDequeueV2", "tests/runtime/test_queues.c"},
    {"QueueDequeueMany", "tests/runtime/test_queues.c"},
    {"QueueDequeueManyV2", "tests/runtime/test_queues.c"},
    {"QueueDequeueUpTo", "tests/runtime/test_queues.c"},
    {"QueueDequeueUpToV2", "tests/runtime/test_queues.c"},
    {"QueueEnqueue", "tests/runtime/test_queues.c"},
    {"QueueEnqueueV2", "tests/runtime/test_queues.c"},
    {"QueueEnqueueMany", "tests/runtime/test_queues.c"},
    {"QueueEnqueueManyV2", "tests/runtime/test_queues.c"},
    {"QueueIsClosed", "tests/runtime/test_queues.c"},
    {"QueueIsClosedV2", "tests/runtime/test_queues.c"},
    {"QueueSize", "tests/runtime/test_queues.c"},
    {"QueueSizeV2", "tests/runtime/test_queues.c"},
    {"RandomShuffleQueue", "tests/runtime/test_queues.c"},
    {"RandomShuffleQueueV2", "tests/runtime/test_queues.c"},
    {"IdentityReader", "tests/python/test_golden_queues.py"},
    {"IdentityReaderV2", "tests/python/test_golden_queues.py"},
    {"WholeFileReader", "tests/python/test_golden_queues.py"},
    {"WholeFileReaderV2", "tests/python/test_golden_queues.py"},
    {"TextLineReader", "tests/python/test_golden_queues.py"},
    {"TextLineReaderV2", "tests/python/test_golden_queues.py"},
    {"TFRecordReader", "tests/python/test_golden_queues.py"},
    {"TFRecordReaderV2", "tests/python/test_golden_queues.py"},
    {"FixedLengthRecordReader", "tests/python/test_golden_queues.py"},
    {"FixedLengthRecordReaderV2", "tests/python/test_golden_queues.py"},
    {"ReaderRead", "tests/python/test_golden_queues.py"},
    {"ReaderReadV2", "tests/python/test_golden_queues.py"},
    {"ReaderReadUpTo", "tests/python/test_golden_queues.py"},
    {"ReaderReadUpToV2", "tests/python/test_golden_queues.py"},
    {"ReaderNumRecordsProduced", "tests/python/test_golden_queues.py"},
    {"ReaderNumRecordsProducedV2", "tests/python/test_golden_queues.py"},
    {"ReaderNumWorkUnitsCompleted", "tests/python/test_golden_queues.py"},
    {"ReaderNumWorkUnitsCompletedV2", "tests/python/test_golden_queues.py"},
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
  assert_int_equal(num_few, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_ops__have_cases)};
  return cmocka_run_group_tests_name("op_coverage", tests, NULL, NULL);
}
