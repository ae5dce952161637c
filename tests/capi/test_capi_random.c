// Random sequences of calls, made from the interface's own description by generate_random_calls.py:
// NULLs, handles of other graphs and contexts, wrong counts, strings that are none. Whatever a
// function says of them, nothing crashes and nothing is left. What no library can know does not
// occur: handles that were freed, pointers to less memory than a count says.
//
// RHEOS_RANDOM_CALLS is the number of sequences. `test_capi_random SEED` runs one and tells its
// calls.
#include "capi/capi_fixture.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "capi_random_calls.inc"

// Sizes may be more than there is: a sanitizer is to say so by NULL, as malloc() does.
#define SHOWN __attribute__((visibility("default")))
SHOWN const char *__asan_default_options(void);
SHOWN const char *__tsan_default_options(void);
const char *__asan_default_options(void) { return "allocator_may_return_null=1"; }
const char *__tsan_default_options(void) { return "allocator_may_return_null=1"; }

enum { MOST = 256, FEW = 8, LONG = 64, TEXT_BYTES = 320 };

typedef struct entry {
  void *handle, *owner;
  int kind;
  bool is_owned;
} entry;

typedef struct fuzz {
  uint64_t random;
  bool tells;
  TF_Status *status, *own_status;
  entry entries[MOST];
  int count, num_names;
  // What arguments point to.
  void *handles[FEW], *results[FEW], *pointers[LONG];
  TF_Output outputs[FEW];
  TF_Input inputs[FEW];
  const char *texts[FEW], *text[1];
  int64_t dims[LONG];
  const int64_t *dim_lists[FEW];
  int ints[LONG];
  size_t sizes[LONG];
  float floats[LONG];
  unsigned char bools[LONG];
  TF_DataType types[LONG];
  TF_TString string[1];
  TFE_CancelCallback callback;
  _Alignas(64) char data[4096];
  char storage[4096];
} fuzz;

// ---- Random choices

static uint64_t next(fuzz *z) {
  z->random = z->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return z->random >> 33;
}

static int below(fuzz *z, int end) { return (int)(next(z) % (uint64_t)end); }

static const char *draw_text(fuzz *z) {
  static const char texts[][TEXT_BYTES] = {
      "",
      "a",
      "b",
      "c",
      "a:0",
      "b:1",
      "^a",
      "x/y",
      "Placeholder",
      "Const",
      "Neg",
      "AddN",
      "MatMul",
      "Identity",
      "NoOp",
      "Split",
      "Switch",
      "VarHandleOp",
      "Reshape",
      "F",
      "dtype",
      "T",
      "N",
      "value",
      "shape",
      "_class",
      "loc:@a",
      "Tshape",
      "inputs",
      "output",
      "CPU",
      "CPU:0",
      "TPU:7",
      "/job:w/task:1",
      "\xff\xfe",
      "serve",
      "num_split",
      "keep_dims",
      "container",
      "shared_name",
      "While",
      "/job:localhost/replica:0/task:0/device:CPU:0",
      "op { graph_op_name: \"Neg\" summary: <<E\nx\nE\n }",
      "cluster { job { name: \"w\" tasks { key: 0 value: \"h:1\" } } }",
      "a name that is much longer than any that a program gives to an operation of its graph, and "
      "on "
      "and on, and on and on, and on and on, and on and on, and on and on, and on and on, and on",
  };
  int which = below(z, (int)(sizeof texts / sizeof *texts) + 2);
  return which < (int)(sizeof texts / sizeof *texts) ? texts[which] : NULL;
}

// At least 64 bytes: messages, and what is none.
static const void *draw_bytes(fuzz *z) {
  static const char bytes[][LONG] = {
      "",
      "\x30\x01",
      "\x18\x05",
      "\x28\x01",
      "\x12\x01x",
      "\x0a\x02\x12\x00",
      "\x3a\x04\x12\x02\x08\x02",
      "\x08\x03",
      "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff",
      "\x0a\x14\x0a\x01q\x12\x0bPlaceholder\x2a\x02\x0a\x00",  // a GraphDef with half a node
      "\x12\x08\x0a\x06\x0a\x04\x0a\x02G1",                    // one with a function
      "\x0a\x05\x0a\x03CPU\x10\x02",
  };
  int which = below(z, (int)(sizeof bytes / sizeof *bytes) + 1);
  return which < (int)(sizeof bytes / sizeof *bytes) ? bytes[which] : NULL;
}

static int draw_number(fuzz *z) { return below(z, FEW + 2) - 1; }

static size_t draw_size(fuzz *z) { return (size_t)below(z, LONG + 1); }

static double draw_double(fuzz *z) {
  static const double numbers[] = {0, 1, -1, 0.5, 2, 1e30, -1e30, NAN, INFINITY};
  return numbers[below(z, 9)];
}

static TF_DataType draw_type(fuzz *z) {
  static const int types[] = {TF_FLOAT, TF_FLOAT,    TF_INT32,   TF_INT64, TF_BOOL, TF_STRING,
                              TF_HALF,  TF_RESOURCE, TF_VARIANT, 0,        -3,      99,
                              101,      TF_DOUBLE,   TF_UINT8,   24};
  return (TF_DataType)types[below(z, 16)];
}

static int64_t draw_dim(fuzz *z) {
  static const int64_t dims[] = {0, 1, 1, 2, 2, 3, -1, -2, INT64_MAX, (int64_t)1 << 40};
  return dims[below(z, below(z, 4) == 0 ? 10 : 6)];
}

static int64_t *draw_dims(fuzz *z) {
  for (int i = 0; i < LONG; i++) z->dims[i] = draw_dim(z);
  return below(z, 16) == 0 ? NULL : z->dims;
}

static const int64_t **draw_dim_lists(fuzz *z) {
  draw_dims(z);
  for (int i = 0; i < FEW; i++) z->dim_lists[i] = below(z, 8) == 0 ? NULL : z->dims;
  return z->dim_lists;
}

static int *draw_ints(fuzz *z) {
  for (int i = 0; i < LONG; i++) z->ints[i] = draw_number(z);
  return below(z, 16) == 0 ? NULL : z->ints;
}

static size_t *draw_lengths(fuzz *z) {
  for (int i = 0; i < LONG; i++) z->sizes[i] = draw_size(z);
  return below(z, 16) == 0 ? NULL : z->sizes;
}

static TF_DataType *draw_types(fuzz *z) {
  for (int i = 0; i < LONG; i++) z->types[i] = draw_type(z);
  return z->types;
}

static void *draw_texts(fuzz *z) {
  for (int i = 0; i < FEW; i++) z->texts[i] = draw_text(z);
  return below(z, 16) == 0 ? NULL : (void *)z->texts;
}

// ---- Handles

static void *draw(fuzz *z, int kind) {
  int first = z->count == 0 ? 0 : below(z, z->count);
  if (below(z, 24) == 0) return NULL;
  for (int i = 0; i < z->count; i++) {
    const entry *e = &z->entries[(first + i) % z->count];
    if (e->kind == kind) return e->handle;
  }
  return NULL;
}

static void *draw_handles(fuzz *z, int kind) {
  for (int i = 0; i < FEW; i++) z->handles[i] = draw(z, kind);
  return below(z, 16) == 0 ? NULL : z->handles;
}

static TF_Output draw_output(fuzz *z) {
  return (TF_Output){draw(z, KIND_TF_Operation), below(z, 5) == 0 ? draw_number(z) : 0};
}

static TF_Input draw_input(fuzz *z) {
  TF_Output output = draw_output(z);
  return (TF_Input){output.oper, output.index};
}

static TF_Output *draw_outputs(fuzz *z) {
  for (int i = 0; i < FEW; i++) z->outputs[i] = draw_output(z);
  return below(z, 16) == 0 ? NULL : z->outputs;
}

static void *clear_results(fuzz *z) {
  memset(z->results, 0, sizeof z->results);
  return below(z, 24) == 0 ? NULL : z->results;
}

// What a handle ends with: of an operation its graph; else itself.
static void *owner_of(fuzz *z, const void *handle) {
  for (int i = 0; i < z->count; i++) {
    const entry *e = &z->entries[i];
    if (e->handle == handle) return e->owner != NULL ? e->owner : e->handle;
  }
  return NULL;
}

static void delete_handle(int kind, void *handle, TF_Status *status);
static void take_out(fuzz *z, void *handle);

static void remove_at(fuzz *z, int at, bool ends) {
  entry e = z->entries[at];
  z->entries[at] = z->entries[--z->count];
  if (!ends) return;
  take_out(z, e.handle);  // what ends with it
  if (e.kind == KIND_TF_OperationDescription) {
    TF_FinishOperation(e.handle, z->own_status);  // nothing else ends one
  } else if (e.is_owned) {
    delete_handle(e.kind, e.handle, z->own_status);
  }
}

// Whether an entry may not outlive a handle of that kind, which it does not name as its owner.
static bool is_tied(int kind, int to) {
  return (to == KIND_TF_Graph && kind == KIND_TF_ImportGraphDefOptions) ||
         (to == KIND_TFE_CancellationManager && kind == KIND_TFE_Op);
}

// Takes a handle out of the pool, which somebody else ends, and ends what may not outlive it.
static void take_out(fuzz *z, void *handle) {
  int kind = -1;
  if (handle == NULL) return;
  for (int i = z->count - 1; i >= 0; i--) {
    if (z->entries[i].handle != handle) continue;
    kind = z->entries[i].kind;
    remove_at(z, i, false);
  }
  for (int i = 0; i < z->count;) {
    const entry *e = &z->entries[i];
    if (e->owner == handle || is_tied(e->kind, kind)) {
      remove_at(z, i, true);
      i = 0;
    } else {
      i++;
    }
  }
}

static void keep(fuzz *z, int kind, void *handle, void *owner, bool is_owned) {
  if (handle == NULL) return;
  for (int i = 0; i < z->count; i++) {
    if (z->entries[i].handle != handle || z->entries[i].kind != kind) continue;
    if (kind == KIND_TFE_Executor) TFE_DeleteExecutor(handle);  // one reference more
    return;
  }
  while (z->count >= MOST - 1) remove_at(z, below(z, z->count), true);
  // What it may not outlive is gone to make room for it.
  bool has_owner = owner == NULL;
  for (int i = 0; i < z->count; i++) has_owner |= z->entries[i].handle == owner;
  z->entries[z->count++] = (entry){handle, owner, kind, is_owned};
  if (!has_owner) remove_at(z, z->count - 1, true);
}

static void keep_results(fuzz *z, int kind) {
  for (int i = 0; i < FEW; i++) {
    void *result = z->results[i];
    z->results[i] = NULL;
    keep(z, kind, result, NULL, true);
  }
}

static void ignore_release(void *data, size_t length, void *argument) {
  (void)data;
  (void)length;
  (void)argument;
}

static void ignore_callback(void *context) { (void)context; }

#define WITH_CALLS
#include "capi_random_calls.inc"
enum { NUM_CALLS = (int)(sizeof CALLS / sizeof *CALLS) };

// ---- Calls that go together, so that sequences come further than to the first error

static void *some_graph(fuzz *z) {
  void *graph = draw(z, KIND_TF_Graph);
  if (graph != NULL) return graph;
  graph = TF_NewGraph();
  keep(z, KIND_TF_Graph, graph, NULL, true);
  return graph;
}

static const char *fresh_name(fuzz *z) {
  snprintf(z->storage, 32, "n%d", z->num_names++ - (below(z, 16) == 0));
  return z->storage;
}

static void finish_kept(fuzz *z, TF_Graph *graph, TF_OperationDescription *desc) {
  keep(z, KIND_TF_Operation, TF_FinishOperation(desc, z->status), graph, false);
}

static void add_placeholder(fuzz *z) {
  static const TF_DataType types[] = {TF_FLOAT, TF_FLOAT, TF_INT32, TF_BOOL, TF_STRING};
  TF_Graph *graph = some_graph(z);
  TF_OperationDescription *desc = TF_NewOperation(graph, "Placeholder", fresh_name(z));
  TF_SetAttrType(desc, "dtype", types[below(z, 5)]);
  if (below(z, 2) == 0) TF_SetAttrShape(desc, "shape", draw_dims(z), below(z, 3));
  finish_kept(z, graph, desc);
}

static TF_Tensor *new_tensor(fuzz *z) {
  static const TF_DataType types[] = {TF_FLOAT, TF_FLOAT, TF_INT32, TF_BOOL, TF_STRING};
  static const int64_t dims[] = {2, 2};
  TF_DataType type = types[below(z, 5)];
  int rank = below(z, 3);
  size_t size = type == TF_STRING ? sizeof(TF_TString) : TF_DataTypeSize(type);
  TF_Tensor *tensor = TF_AllocateTensor(type, dims, rank, size << rank);
  char *bytes = TF_TensorData(tensor);
  for (size_t i = 0; i < TF_TensorByteSize(tensor); i++) bytes[i] = (char)(next(z) & 1);
  if (type != TF_STRING) return tensor;
  for (int i = 0; i < 1 << rank; i++) {
    TF_TString *element = (TF_TString *)bytes + i;
    TF_TString_Init(element);
    // Layouts that are none: too long for its place, no pointer, past the end.
    switch (below(z, 8)) {
      case 0: element->u.smll.size = 200; break;
      case 1: element->u.large.size = 100 << 2 | TF_TSTR_LARGE; break;
      case 2: element->u.offset.size = 100 << 2 | TF_TSTR_OFFSET; break;
      case 3: TF_StringAssignView(element, "a view", 6); break;
      default: element->u.smll.size = 2 << 2; break;
    }
  }
  return tensor;
}

static void add_tensor(fuzz *z) { keep(z, KIND_TF_Tensor, new_tensor(z), NULL, true); }

static void add_constant(fuzz *z) {
  TF_Graph *graph = some_graph(z);
  TF_Tensor *value = new_tensor(z);
  TF_OperationDescription *desc = TF_NewOperation(graph, "Const", fresh_name(z));
  TF_SetAttrTensor(desc, "value", value, z->status);
  TF_SetAttrType(desc, "dtype", TF_TensorType(value));
  TF_DeleteTensor(value);
  finish_kept(z, graph, desc);
}

static void add_operation(fuzz *z) {
  static const char *const types[] = {"Neg", "Identity", "AddV2", "MatMul", "Mul", "Less", "Shape"};
  static const int counts[] = {1, 1, 2, 2, 2, 2, 1};
  int which = below(z, 7);
  TF_Output first = draw_output(z);
  TF_Graph *graph = owner_of(z, first.oper);
  if (graph == NULL) return;
  TF_OperationDescription *desc = TF_NewOperation(graph, types[which], fresh_name(z));
  TF_AddInput(desc, first);
  if (counts[which] > 1) TF_AddInput(desc, below(z, 2) ? first : draw_output(z));
  finish_kept(z, graph, desc);
}

static void add_session(fuzz *z) {
  TF_SessionOptions *options = TF_NewSessionOptions();
  keep(z, KIND_TF_Session, TF_NewSession(some_graph(z), options, z->status), NULL, true);
  TF_DeleteSessionOptions(options);
}

static void run_session(fuzz *z) {
  TF_Session *session = draw(z, KIND_TF_Session);
  if (session == NULL && below(z, 8) != 0) add_session(z);
  if (session == NULL) session = draw(z, KIND_TF_Session);
  int num_inputs = below(z, 3), num_outputs = below(z, 3);
  void *values = draw_handles(z, KIND_TF_Tensor);
  TF_Output inputs[FEW];
  draw_outputs(z);
  memcpy(inputs, z->outputs, sizeof inputs);
  draw_outputs(z);
  memset(z->results, 0, sizeof z->results);
  TF_SessionRun(session, NULL, inputs, values, num_inputs, z->outputs, (TF_Tensor **)z->results,
                num_outputs, NULL, 0, NULL, z->status);
  keep_results(z, KIND_TF_Tensor);
}

static void import_graph(fuzz *z) {
  TF_Buffer *buffer = TF_NewBuffer();
  TF_GraphToGraphDef(some_graph(z), buffer, z->status);
  TF_GraphImportGraphDef(some_graph(z), buffer, draw(z, KIND_TF_ImportGraphDefOptions), z->status);
  keep(z, KIND_TF_Buffer, buffer, NULL, true);
}

static void add_loop(fuzz *z) {
  TF_Output inputs[2] = {draw_output(z), draw_output(z)}, outputs[2];
  TF_Graph *graph = owner_of(z, inputs[0].oper);
  if (graph == NULL) return;
  TF_WhileParams loop = TF_NewWhile(graph, inputs, 1 + below(z, 2), z->status);
  if (loop.ninputs == 0 || below(z, 8) == 0) {
    TF_AbortWhile(&loop);
    return;
  }
  loop.cond_output = below(z, 4) == 0 ? draw_output(z) : loop.cond_inputs[0];
  for (int i = 0; i < loop.ninputs; i++) {
    loop.body_outputs[i] = below(z, 4) == 0 ? draw_output(z) : loop.body_inputs[i];
  }
  loop.name = below(z, 8) == 0 ? NULL : fresh_name(z);
  TF_FinishWhile(&loop, z->status, outputs);
}

static void add_context(fuzz *z) {
  TFE_ContextOptions *options = TFE_NewContextOptions();
  TFE_ContextOptionsSetAsync(options, (unsigned char)below(z, 2));
  keep(z, KIND_TFE_Context, TFE_NewContext(options, z->status), NULL, true);
  TFE_DeleteContextOptions(options);
}

static void execute(fuzz *z) {
  static const char *const types[] = {"Neg", "Identity", "AddV2", "MatMul", "IdentityN", "Shape"};
  TFE_Context *context = draw(z, KIND_TFE_Context);
  TFE_Op *op = TFE_NewOp(context, types[below(z, 6)], z->status);
  TF_Tensor *tensor = draw(z, KIND_TF_Tensor);
  if (tensor != NULL) {
    keep(z, KIND_TFE_TensorHandle, TFE_NewTensorHandle(tensor, z->status), NULL, true);
  }
  for (int i = below(z, 3); i > 0; i--) {
    TFE_OpAddInput(op, draw(z, KIND_TFE_TensorHandle), z->status);
  }
  int count = below(z, FEW);
  memset(z->results, 0, sizeof z->results);
  TFE_Execute(op, (TFE_TensorHandle **)z->results, &count, z->status);
  keep_results(z, KIND_TFE_TensorHandle);
  TFE_DeleteOp(op);
}

static void (*const TOGETHER[])(fuzz *z) = {
    add_placeholder, add_constant, add_operation, add_tensor, add_session, run_session,
    run_session,     import_graph, add_loop,      execute,    execute,
};

// ---- Sequences

// What a crash is of.
static _Thread_local uint64_t running_seed;
static _Thread_local const char *running_call = "";

static void tell_crash(int number) {
  char text[160];
  int length = snprintf(text, sizeof text, "\nsignal %d: test_capi_random %llu, in %s\n", number,
                        (unsigned long long)running_seed, running_call);
  if (write(2, text, (size_t)length) < 0) _exit(3);
  signal(number, SIG_DFL);
  raise(number);
}

static void step(fuzz *z) {
  int which = below(z, 2 * NUM_CALLS);
  z->status = below(z, 12) == 0 ? NULL : z->own_status;
  if (which < NUM_CALLS) {
    running_call = CALLS[which].name;
    if (z->tells) fprintf(stderr, "%s\n", running_call);
    CALLS[which].call(z);
  } else {
    int together = which % (int)(sizeof TOGETHER / sizeof *TOGETHER);
    running_call = "calls that go together";
    if (z->tells) fprintf(stderr, "together %d\n", together);
    TOGETHER[together](z);
  }
  if (z->tells && TF_GetCode(z->own_status) != TF_OK) {
    fprintf(stderr, "    %s\n", TF_Message(z->own_status));
  }
}

static void run_sequence(uint64_t seed, bool tells) {
  fuzz *z = aligned_alloc(64, (sizeof *z + 63) / 64 * 64);
  memset(z, 0, sizeof *z);
  running_seed = seed;
  z->random = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
  z->tells = tells;
  z->own_status = TF_NewStatus();
  z->callback.callback = ignore_callback;
  TF_StringInit(z->string);
  if (below(z, 4) == 0) add_context(z);
  for (int steps = 5 + below(z, 60); steps > 0; steps--) step(z);
  while (z->count > 0) remove_at(z, 0, true);
  TF_StringDealloc(z->string);
  TF_DeleteStatus(z->own_status);
  free(z);
}

// Here, as cmocka has handlers of its own, which tell no more than that there was a crash.
static void watch_crashes(void) {
  signal(SIGABRT, tell_crash);
#ifndef __SANITIZE_ADDRESS__
  signal(SIGSEGV, tell_crash);
  signal(SIGFPE, tell_crash);
#endif
}

static uint64_t number_asked(const char *name, uint64_t otherwise) {
  const char *asked = getenv(name);
  return asked == NULL ? otherwise : strtoull(asked, NULL, 10);
}

static void test_random_calls__crash_nothing(void **state) {
  (void)state;
  watch_crashes();
  uint64_t count = number_asked("RHEOS_RANDOM_CALLS", 500);
  uint64_t first = number_asked("RHEOS_RANDOM_SEED", 1);
  print_message("seeds %llu to %llu\n", (unsigned long long)first,
                (unsigned long long)(first + count - 1));
  for (uint64_t i = 0; i < count; i++) run_sequence(first + i, false);
}

enum { NUM_THREADS = 4 };

static void *run_part(void *argument) {
  uint64_t *seeds = argument;
  for (uint64_t seed = seeds[0]; seed < seeds[1]; seed++) run_sequence(seed, false);
  return NULL;
}

// Each thread has its own handles: what they share is the library.
static void test_random_calls__of_threads_crash_nothing(void **state) {
  (void)state;
  watch_crashes();
  uint64_t each = number_asked("RHEOS_RANDOM_CALLS", 500) / 10 + 1;
  uint64_t first = number_asked("RHEOS_RANDOM_SEED", 1) + 1000000000;
  uint64_t seeds[NUM_THREADS][2];
  pthread_t threads[NUM_THREADS];
  print_message("seeds %llu to %llu\n", (unsigned long long)first,
                (unsigned long long)(first + NUM_THREADS * each - 1));
  for (uint64_t i = 0; i < NUM_THREADS; i++) {
    seeds[i][0] = first + i * each;
    seeds[i][1] = seeds[i][0] + each;
    assert_int_equal(pthread_create(&threads[i], NULL, run_part, seeds[i]), 0);
  }
  for (int i = 0; i < NUM_THREADS; i++) pthread_join(threads[i], NULL);
}

int main(int argc, char **argv) {
  if (argc > 1) {
    run_sequence(strtoull(argv[1], NULL, 10), true);
    return 0;
  }
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_calls__crash_nothing),
                                     cmocka_unit_test(test_random_calls__of_threads_crash_nothing)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
