// Which ranks and dimensions of its inputs each op takes when it is built, and what it then knows
// of its outputs' ranks: as recorded from TensorFlow in tests/golden/shape_verdicts.txt. Usage:
// test_shape_verdicts [op]
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ops/op_harness.h"
#include "tensor/tensor.h"

// After the unknown shape, those of unknown dimensions.
enum { NUM_RANKS = 6, MAX_RANKS_TEXT = CASE_MAX_OUTPUTS + 1 };

typedef struct verdict_input {
  char kind;  // '&' a reference to a variable, '*' its handle, 0 a tensor
  rheos_dtype dtype;
  rheos_shape shape;  // as recorded, or unknown
} verdict_input;

typedef struct verdict_case {
  const op_case *c;
  verdict_input inputs[CASE_MAX_INPUTS];
} verdict_case;

static char *recorded;  // all of the file

// ---- Building

static rheos_output add_input(rheos_scope *scope, const verdict_input *input) {
  const rheos_attr attrs[] = {rheos_attr_type("dtype", input->dtype),
                              rheos_attr_shape("shape", &input->shape)};
  const rheos_op_args args = {
      .type = input->kind == '&'   ? "VariableV2"
              : input->kind == '*' ? "VarHandleOp"
                                   : "Placeholder",
      .attrs = attrs,
      .num_attrs = 2,
  };
  return rheos_operation_output(rheos_op(scope, &args), 0);
}

static void ranks_text(rheos_operation op, char text[MAX_RANKS_TEXT]) {
  const int32_t count = rheos_operation_num_outputs(op);
  for (int32_t i = 0; i < count; i++) {
    const int32_t rank = rheos_output_shape(rheos_operation_output(op, i)).rank;
    text[i] = rank < 0 ? 'u' : (char)('0' + rank);
  }
  if (count == 0) text[0] = '-';
  text[count == 0 ? 1 : count] = '\0';
}

// "x" where the op is refused.
static void build(const verdict_case *v, char text[MAX_RANKS_TEXT]) {
  rheos_graph *graph = rheos_graph_new();
  rheos_scope *scope = graph ? rheos_scope_new(graph) : NULL;
  if (!scope) exit(2);
  rheos_output inputs[CASE_MAX_INPUTS];
  for (int i = 0; i < v->c->num_inputs; i++) inputs[i] = add_input(scope, &v->inputs[i]);
  const rheos_op_args args = {.type = v->c->op,
                              .inputs = inputs,
                              .num_inputs = (size_t)v->c->num_inputs,
                              .attrs = v->c->attrs,
                              .num_attrs = (size_t)v->c->num_attrs};
  const rheos_operation op = rheos_op(scope, &args);
  rheos_status *status = rheos_scope_finish(scope);
  if (status) {
    strcpy(text, "x");
  } else {
    ranks_text(op, text);
  }
  rheos_status_free(status);
  rheos_scope_free(scope);
  rheos_graph_unref(graph);
}

// ---- Comparing

typedef struct exception {
  const char *op, *why;
} exception;
static const char scalar_shape[] =
    "a scalar that is fed may be the -1 that stands for any shape, which the kernel sees";
static const char one_band[] =
    "TensorFlow takes an index of diagonals that is not known for that of a single one";
static const char when_it_comes[] =
    "what TensorFlow wants to know here is looked at when it is there";
static const exception exceptions[] = {
    {"BatchToSpaceND", when_it_comes},
    {"SpaceToBatchND", when_it_comes},
    {"FusedPadConv2D", when_it_comes},
    {"FusedResizeAndPadConv2D", when_it_comes},
    {"ParallelConcat", when_it_comes},
    {"MatrixSetDiagV2", one_band},
    {"MatrixSetDiagV3", one_band},
    {"ExtractVolumePatches", "TensorFlow says 4 dimensions where nothing is known; there are 5"},
    {"MaxPoolWithArgmax", "images without channels, of which nothing is left to find"},
    {"EmptyTensorList", scalar_shape},
    {"TensorListConcatV2", scalar_shape},
    {"TensorListFromTensor", scalar_shape},
    {"TensorListGather", scalar_shape},
    {"TensorListGetItem", scalar_shape},
    {"TensorListReserve", scalar_shape},
    {"TensorListScatter", scalar_shape},
    {"TensorListScatterV2", scalar_shape},
    {"TensorListSplit", scalar_shape},
    {"TensorListStack", scalar_shape},
    {"RaggedTensorToTensor", scalar_shape},
};

static bool is_exception(const op_case *c) {
  for (size_t i = 0; i < sizeof exceptions / sizeof *exceptions; i++) {
    if (strcmp(exceptions[i].op, c->op) == 0) return true;
  }
  return false;
}

// Whether it is refused as TensorFlow refuses it, or nothing contradicts: an op may refuse before
// the step what TensorFlow's kernel refuses in it, and know ranks that TensorFlow does not.
static bool agree(const char *actual, const char *expected) {
  if (*expected == 'x' || *actual == 'x') return *actual == 'x';
  if (strlen(actual) != strlen(expected)) return false;
  for (; *actual != '\0'; actual++, expected++) {
    if (*actual != *expected && *expected != 'u') return false;
  }
  return true;
}

static void compare(const verdict_case *v, int index, const char *others, const char *expected) {
  char actual[MAX_RANKS_TEXT];
  build(v, actual);
  if (agree(actual, expected) || is_exception(v->c)) return;
  rheos__shape_text text;
  op_wrong(v->c, "input %d of shape %s, the others %s: '%s', in TensorFlow '%s'", index,
           rheos__shape_text_of(&v->inputs[index].shape, &text), others, actual, expected);
}

static char *next_word(void) {
  char *word = strtok(NULL, " \n");
  if (!word) {
    fprintf(stderr, "a line ends too early\n");
    exit(2);
  }
  return word;
}

static void compare_ranks(verdict_case *v, int index, const char *others) {
  const rheos_shape recorded = v->inputs[index].shape;
  for (int rank = -1; rank < NUM_RANKS; rank++) {
    rheos_shape *shape = &v->inputs[index].shape;
    *shape = rank < 0 ? RHEOS_UNKNOWN_SHAPE : RHEOS_SCALAR;
    if (rank >= 0) shape->rank = rank;
    for (int k = 0; k < rank; k++) shape->dims[k] = -1;
    compare(v, index, others, next_word());
  }
  v->inputs[index].shape = recorded;
}

static void compare_dimensions(verdict_case *v, int index) {
  const rheos_shape recorded = v->inputs[index].shape;
  for (int k = 0; k < recorded.rank; k++) {
    v->inputs[index].shape.dims[k] = recorded.dims[k] + 1;
    compare(v, index, "as recorded", next_word());
    v->inputs[index].shape.dims[k] = 0;
    compare(v, index, "as recorded", next_word());
    v->inputs[index].shape = recorded;
  }
}

// The line of an input: its dtype, then verdicts in three parts.
static void check_line(verdict_case *v, int index, char *line) {
  strtok(line, " \n");
  verdict_case unknown = *v;
  for (int i = 0; i < v->c->num_inputs; i++) unknown.inputs[i].shape = RHEOS_UNKNOWN_SHAPE;
  compare_ranks(&unknown, index, "unknown");
  next_word();
  compare_ranks(v, index, "as recorded");
  next_word();
  compare_dimensions(v, index);
}

// ---- Reading

static void read_file(const char *path) {
  FILE *file = fopen(path, "r");
  long size = -1;
  if (file && fseek(file, 0, SEEK_END) == 0) size = ftell(file);
  recorded = size < 0 ? NULL : calloc((size_t)size + 1, 1);
  if (!recorded || fseek(file, 0, SEEK_SET) != 0 ||
      fread(recorded, 1, (size_t)size, file) != (size_t)size) {
    perror(path);
    exit(2);
  }
  fclose(file);
}

// The lines of the op's inputs; NULL if the op has none.
static char *lines_of(const char *op, char tag[64]) {
  char start[80];
  snprintf(start, sizeof start, "\n%s ", op);
  char *at = strstr(recorded, start);
  if (!at) return NULL;
  at += strlen(start);
  const size_t length = strcspn(at, "\n");
  snprintf(tag, 64, "%.*s", (int)length, at);
  return at + length + 1;
}

static const op_case *case_of(const op_cases *cases, size_t first, size_t end, const char *tag) {
  for (size_t i = first; i < end; i++) {
    if (strcmp(cases->items[i].tag, tag) == 0) return &cases->items[i];
  }
  return NULL;
}

// From how the input's line begins: "&float ...".
static verdict_input input_of(const op_input *input, const char *line) {
  char name[32];
  const char kind = *line == '&' || *line == '*' ? *line : 0;
  snprintf(name, sizeof name, "%.*s", (int)strcspn(line + (kind != 0), " "), line + (kind != 0));
  const rheos_dtype dtype = rheos_dtype_from_name(name);
  return (verdict_input){kind, dtype,
                         input->kind == INPUT_NODE ? RHEOS_UNKNOWN_SHAPE : input->shape};
}

static void check(const op_cases *cases, size_t first, size_t end) {
  char tag[64], *lines = lines_of(cases->items[first].op, tag);
  if (!lines) return;
  verdict_case v = {.c = case_of(cases, first, end, tag)};
  if (!v.c) {
    op_wrong(&cases->items[first], "there is no case %s", tag);
    return;
  }
  const char *line = lines;
  for (int i = 0; i < v.c->num_inputs; i++, line = strchr(line, '\n') + 1) {
    v.inputs[i] = input_of(&v.c->inputs[i], line);
  }
  char *copy = strndup(lines, (size_t)(line - lines));
  if (!copy) exit(2);
  char *next = copy;
  for (int i = 0; i < v.c->num_inputs; i++) {
    char *this_line = next;
    next = strchr(next, '\n');
    *next++ = '\0';
    check_line(&v, i, this_line);
  }
  free(copy);
}

int main(int argc, char **argv) {
  read_file(RHEOS_SOURCE_DIR "/tests/golden/shape_verdicts.txt");
  const int failed = op_tests_run("shape_verdicts", check, NULL, argc, argv);
  free(recorded);
  return failed;
}
