// Readers that are ops. What an op is told beside the bytes it reads (keys, dtypes, channels) comes
// from the recorded cases of tests/golden/ops: the first byte of the input chooses one.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "format/readers.h"
#include "ops/op_harness.h"
#include "tensor/tensor.h"

enum { MAX_OPS = 4, MAX_CASES = 256 };

typedef struct op_reader {
  const char *name;
  const char *ops[MAX_OPS];
} op_reader;

static const op_reader op_readers[] = {
    {"parse_tensor", {"ParseTensor"}},
    {"example", {"ParseExample", "ParseExampleV2", "ParseSingleExample"}},
    {"sequence_example",
     {"ParseSequenceExample", "ParseSequenceExampleV2", "ParseSingleSequenceExample"}},
    {"csv", {"DecodeCSV"}},
    {"json_example", {"DecodeJSONExample"}},
    {"raw", {"DecodeRaw", "DecodePaddedRaw"}},
    {"base64", {"DecodeBase64"}},
    {"compressed", {"DecodeCompressed"}},
    {"jpeg", {"DecodeJpeg", "DecodeAndCropJpeg", "ExtractJpegShape"}},
    {"png", {"DecodePng"}},
    {"gif", {"DecodeGif"}},
    {"bmp", {"DecodeBmp", "DecodeImage"}},
    {"wav", {"DecodeWav"}},
};

static op_cases all_cases;
static const char *loaded;  // the reader whose cases these are
static const op_case *cases[MAX_CASES];
static size_t num_cases;
// The program of the case that was used last.
static const op_case *current;
static op_program program;
static rheos_session *session;

static bool takes_a_string(const op_case *c) {
  return c->num_inputs > 0 && c->inputs[0].tensor != NULL && c->inputs[0].dtype == RHEOS_STRING &&
         c->inputs[0].tensor->num_elements > 0;
}

void op_reader_begin(const char *reader) {
  const op_reader *r = NULL;
  for (size_t i = 0; i < sizeof op_readers / sizeof *op_readers; i++) {
    if (strcmp(op_readers[i].name, reader) == 0) r = &op_readers[i];
  }
  if (r == NULL || loaded == r->name) return;
  if (all_cases.count == 0) op_cases_load(&all_cases);
  loaded = r->name;
  num_cases = 0;
  for (int op = 0; op < MAX_OPS && r->ops[op] != NULL; op++) {
    for (size_t i = 0; i < all_cases.count && num_cases < MAX_CASES; i++) {
      const op_case *c = &all_cases.items[i];
      if (strcmp(c->op, r->ops[op]) == 0 && takes_a_string(c)) cases[num_cases++] = c;
    }
  }
}

void op_readers_end(void) {
  if (current == NULL) return;
  rheos_session_free(session);
  op_program_free(&program);
  session = NULL;
  current = NULL;
}

static rheos_status *use_case(const op_case *c) {
  if (c == current) return NULL;
  op_readers_end();
  current = c;
  RHEOS_TRY(op_program_build(&program, c, BUILD_UNKNOWN_SHAPES));
  return rheos_session_new(program.graph, &(rheos_session_options){.num_threads = 1}, &session);
}

// The longest string of the first input.
static int64_t longest(const op_case *c) {
  const rheos_string *strings = c->inputs[0].tensor->data;
  int64_t best = 0;
  for (int64_t i = 1; i < c->inputs[0].tensor->num_elements; i++) {
    if (strings[i].size_bytes > strings[best].size_bytes) best = i;
  }
  return best;
}

// A copy of the first input in which that string is another one.
static rheos_status *changed_input(const op_case *c, const void *data, size_t size_bytes,
                                   rheos_tensor **out_tensor) {
  const rheos_tensor *from = c->inputs[0].tensor;
  const rheos_string *strings = from->data;
  const int64_t changed = longest(c);
  RHEOS_TRY(rheos_tensor_new(RHEOS_STRING, from->shape, out_tensor));
  for (int64_t i = 0; i < from->num_elements; i++) {
    const bool is_it = i == changed;
    RHEOS_TRY(rheos_tensor_set_string(*out_tensor, i, is_it ? data : strings[i].data,
                                      is_it ? size_bytes : strings[i].size_bytes));
  }
  return NULL;
}

rheos_status *read_by_op(const char *reader, const void *data, size_t size_bytes) {
  op_reader_begin(reader);
  if (size_bytes == 0 || num_cases == 0) return RHEOS_INVALID("no case");
  const op_case *c = cases[*(const unsigned char *)data % num_cases];
  rheos_status *status = use_case(c);
  rheos_tensor *input = NULL;
  op_result result = {0};
  if (status == NULL) status = changed_input(c, (const char *)data + 1, size_bytes - 1, &input);
  if (status == NULL) {
    program.feeds[0].value = input;
    status = op_program_run(&program, session, 1, &result);
    op_result_free(&result);
  }
  rheos_tensor_unref(input);
  if (session == NULL) op_readers_end();
  return status;
}

void op_reader_seeds(const char *reader, take_seed take, void *argument) {
  op_reader_begin(reader);
  for (size_t i = 0; i < num_cases; i++) {
    const rheos_string *s =
        (const rheos_string *)cases[i]->inputs[0].tensor->data + longest(cases[i]);
    char *seed = malloc(s->size_bytes + 1);
    if (seed == NULL) exit(2);
    seed[0] = (char)i;
    if (s->size_bytes > 0) memcpy(seed + 1, s->data, s->size_bytes);
    take(argument, seed, s->size_bytes + 1);
    free(seed);
  }
}
