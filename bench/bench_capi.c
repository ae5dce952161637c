// What loading costs a program of TensorFlow's C interface, a run of one operation, a training
// step: processor time of all threads. A process of its own loads each library: Rheos's, and
// TensorFlow's where RHEOS_TENSORFLOW_LIBRARIES names its files, with a colon between them, what
// others need first. One JSON object a line.
#include <dlfcn.h>
#include <elf.h>
#include <string.h>

#include <tensorflow/c/c_api.h>

#define BENCH_CLOCK CLOCK_PROCESS_CPUTIME_ID
#include "bench.h"

enum { ROWS = 32, INPUTS = 64, HIDDEN = 32, CLASSES = 10, MOST_FILES = 4 };

// ---- In the process of one library

static void *loaded[MOST_FILES];
static int num_loaded;

typedef void (*function)(void);

static function find(const char *name) {
  for (int i = 0; i < num_loaded; i++) {
    void *found = dlsym(loaded[i], name);
    function result;
    memcpy(&result, &found, sizeof result);
    if (found != NULL) return result;
  }
  fprintf(stderr, "there is no %s\n", name);
  exit(1);
}

// Every call goes by the address that the library has it at.
#define CALL(name) ((__typeof__(&name))find(#name))

static TF_Graph *graph;
static TF_Status *status;

static void check_status(void) {
  if (CALL(TF_GetCode)(status) == TF_OK) return;
  fprintf(stderr, "benchmark: %s\n", CALL(TF_Message)(status));
  exit(1);
}

static TF_Output finish(TF_OperationDescription *desc) {
  TF_Operation *oper = CALL(TF_FinishOperation)(desc, status);
  check_status();
  return (TF_Output){oper, 0};
}

static TF_Output op_2(const char *type, const char *name, TF_Output a, TF_Output b) {
  TF_OperationDescription *desc = CALL(TF_NewOperation)(graph, type, name);
  CALL(TF_AddInput)(desc, a);
  if (b.oper != NULL) CALL(TF_AddInput)(desc, b);
  return finish(desc);
}

static TF_Output op_1(const char *type, const char *name, TF_Output a) {
  return op_2(type, name, a, (TF_Output){NULL, 0});
}

static TF_Tensor *new_tensor(TF_DataType type, const int64_t *dims, int num_dims) {
  size_t count = 1;
  for (int i = 0; i < num_dims; i++) count *= (size_t)dims[i];
  TF_Tensor *tensor = CALL(TF_AllocateTensor)(type, dims, num_dims, count * 4);
  for (size_t i = 0; i < count; i++) {
    if (type == TF_FLOAT) ((float *)CALL(TF_TensorData)(tensor))[i] = (float)(i % 7) * 0.01f;
    if (type == TF_INT32) ((int32_t *)CALL(TF_TensorData)(tensor))[i] = (int32_t)i;
  }
  return tensor;
}

static TF_Output constant(const char *name, TF_Tensor *value) {
  TF_OperationDescription *desc = CALL(TF_NewOperation)(graph, "Const", name);
  CALL(TF_SetAttrTensor)(desc, "value", value, status);
  CALL(TF_SetAttrType)(desc, "dtype", CALL(TF_TensorType)(value));
  CALL(TF_DeleteTensor)(value);
  return finish(desc);
}

static TF_Output typed(const char *type, const char *name, const int64_t *dims, int num_dims) {
  TF_OperationDescription *desc = CALL(TF_NewOperation)(graph, type, name);
  CALL(TF_SetAttrType)(desc, "dtype", TF_FLOAT);
  CALL(TF_SetAttrShape)(desc, "shape", dims, num_dims);
  return finish(desc);
}

typedef struct running {
  __typeof__(&TF_SessionRun) run;
  __typeof__(&TF_DeleteTensor) delete_tensor;
  TF_Session *session;
  TF_Output input, output;
  TF_Tensor *value;
  const TF_Operation *targets[2];
  int num_targets;
} running;

static void run_once(void *argument) {
  running *r = argument;
  TF_Tensor *got = NULL;
  r->run(r->session, NULL, &r->input, &r->value, 1, &r->output, &got, r->output.oper != NULL,
         r->targets, r->num_targets, NULL, status);
  r->delete_tensor(got);
}

static running begin(TF_Output input, TF_Output output, TF_Tensor *value) {
  TF_SessionOptions *options = CALL(TF_NewSessionOptions)();
  running r = {.run = CALL(TF_SessionRun),
               .delete_tensor = CALL(TF_DeleteTensor),
               .session = CALL(TF_NewSession)(graph, options, status),
               .input = input,
               .output = output,
               .value = value};
  check_status();
  CALL(TF_DeleteSessionOptions)(options);
  return r;
}

static double time_one_op(void) {
  TF_Output x = typed("Placeholder", "x", NULL, 0);
  running r = begin(x, op_1("Neg", "neg", x), new_tensor(TF_FLOAT, NULL, 0));
  double ns = time_calls(run_once, &r, 20000);
  check_status();
  return ns;
}

// A variable with its first value.
static TF_Output variable(const char *name, int64_t rows, int64_t columns,
                          const TF_Operation **init) {
  char text[40];
  const int64_t dims[] = {rows, columns};
  TF_Output var = typed("VariableV2", name, dims, 2);
  snprintf(text, sizeof text, "%s_value", name);
  TF_Output value = constant(text, new_tensor(TF_FLOAT, dims, 2));
  snprintf(text, sizeof text, "%s_assign", name);
  *init = op_2("Assign", text, var, value).oper;
  return var;
}

static const TF_Operation *descend(const char *name, TF_Output var, TF_Output rate, TF_Output by) {
  TF_OperationDescription *desc = CALL(TF_NewOperation)(graph, "ApplyGradientDescent", name);
  CALL(TF_AddInput)(desc, var);
  CALL(TF_AddInput)(desc, rate);
  CALL(TF_AddInput)(desc, by);
  return finish(desc).oper;
}

// x [32, 64] through 32 hidden units to 10 numbers, the mean of whose squares is to be small.
static double time_training(void) {
  static const int64_t input_dims[] = {ROWS, INPUTS}, two[] = {2};
  const TF_Operation *inits[2];
  TF_Output x = typed("Placeholder", "images", input_dims, 2);
  TF_Output vars[] = {variable("w1", INPUTS, HIDDEN, &inits[0]),
                      variable("w2", HIDDEN, CLASSES, &inits[1])};
  TF_Output reads[] = {op_1("Identity", "read1", vars[0]), op_1("Identity", "read2", vars[1])};
  TF_Output hidden = op_1("Relu", "relu", op_2("MatMul", "mul1", x, reads[0]));
  TF_Output square = op_1("Square", "square", op_2("MatMul", "mul2", hidden, reads[1]));
  TF_Output loss = op_2("Mean", "loss", square, constant("axes", new_tensor(TF_INT32, two, 1)));
  TF_Output rate = constant("rate", new_tensor(TF_FLOAT, NULL, 0)), grads[2];
  CALL(TF_AddGradients)(graph, &loss, 1, reads, 2, NULL, status, grads);
  check_status();
  running r = begin(x, (TF_Output){NULL, 0}, new_tensor(TF_FLOAT, input_dims, 2));
  r.run(r.session, NULL, NULL, NULL, 0, NULL, NULL, 0, inits, 2, NULL, status);
  check_status();
  r.targets[0] = descend("descend1", vars[0], rate, grads[0]);
  r.targets[1] = descend("descend2", vars[1], rate, grads[1]);
  r.num_targets = 2;
  double ns = time_calls(run_once, &r, 2000);
  check_status();
  return ns;
}

static int measure(char **files, int count) {
  double start = now_ns();
  for (int i = 0; i < count; i++) {
    loaded[num_loaded] = dlopen(files[i], RTLD_NOW | RTLD_GLOBAL);
    if (loaded[num_loaded++] == NULL) {
      fprintf(stderr, "benchmark: %s\n", dlerror());
      return 1;
    }
  }
  CALL(TF_Version)();
  double load_ns = now_ns() - start;
  graph = CALL(TF_NewGraph)();
  status = CALL(TF_NewStatus)();
  double run_ns = time_one_op();
  printf("%.9g %.9g %.9g\n", load_ns, run_ns, time_training());
  return 0;
}

// ---- Around the processes

typedef struct measured {
  double load_ns, run_ns, step_ns, bytes;
} measured;

// What is loaded of a library's file.
static double size_of(const char *path) {
  FILE *file = fopen(path, "rb");
  Elf64_Ehdr header;
  double bytes = 0;
  if (file == NULL || fread(&header, sizeof header, 1, file) != 1) return 0;
  for (int i = 0; i < header.e_phnum; i++) {
    Elf64_Phdr part;
    fseek(file, (long)(header.e_phoff + (size_t)i * sizeof part), SEEK_SET);
    if (fread(&part, sizeof part, 1, file) == 1 && part.p_type == PT_LOAD) {
      bytes += (double)part.p_filesz;
    }
  }
  fclose(file);
  return bytes;
}

static measured measure_apart(const char *self, const char *files) {
  measured m = {0};
  char command[4096], each[2048];
  snprintf(each, sizeof each, "%s", files);
  int length = snprintf(command, sizeof command, "TF_CPP_MIN_LOG_LEVEL=3 '%s' --measure", self);
  for (char *file = strtok(each, ":"); file != NULL; file = strtok(NULL, ":")) {
    length += snprintf(command + length, sizeof command - (size_t)length, " '%s'", file);
    m.bytes += size_of(file);
  }
  FILE *child = popen(command, "r");
  if (child == NULL || fscanf(child, "%lf %lf %lf", &m.load_ns, &m.run_ns, &m.step_ns) != 3) {
    m = (measured){0};
  }
  if (child != NULL) pclose(child);
  return m;
}

int main(int argc, char **argv) {
  if (argc > 2 && strcmp(argv[1], "--measure") == 0) return measure(argv + 2, argc - 2);
  const char *others = getenv("RHEOS_TENSORFLOW_LIBRARIES");
  measured ours = measure_apart(argv[0], RHEOS_LIBRARIES);
  measured theirs = {0};
  if (ours.run_ns == 0) return 1;
  if (others != NULL) theirs = measure_apart(argv[0], others);
  report("libtensorflow: TF_SessionRun of one op", "us", ours.run_ns / 1e3, 0.5, "TensorFlow",
         theirs.run_ns / 1e3);
  report("libtensorflow: a training step, 64-32-10, batch of 32", "us", ours.step_ns / 1e3, 0,
         "TensorFlow", theirs.step_ns / 1e3);
  report("libtensorflow: load", "ms", ours.load_ns / 1e6, 20, "TensorFlow", theirs.load_ns / 1e6);
  report("libtensorflow: size of what is loaded", "MB", ours.bytes / 1e6, 8, "TensorFlow",
         theirs.bytes / 1e6);
  return 0;
}
