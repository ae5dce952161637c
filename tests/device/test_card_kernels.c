// Which of the kernels that TensorFlow has for graphics cards Rheos has too, by op and dtype, as
// recorded in tests/golden/card_kernels.txt. No card is needed. `test_card_kernels missing` prints
// what Rheos lacks, `test_card_kernels more` the ops that TensorFlow's cards have no kernel for.
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "device/opencl/opencl.h"

enum { MAX_PAIRS = 8192, MAX_LINE = 4096, MAX_WORDS = 16 };

// An op with the dtype of what it computes with: the first attribute of a row; RHEOS_INVALID_DTYPE:
// nothing tells it, as of All.
typedef struct pair {
  const rheos__op_def *op;
  char attr[32];
  rheos_dtype dtype;
  bool is_on_host;  // TensorFlow has it in the host's memory, though the device is a card
  bool computes;    // is counted
} pair;

static pair pairs[MAX_PAIRS];
static size_t num_pairs;
static rheos__device card;

// ---- What is recorded

// What moves values, calls functions or looks at shapes only computes nothing.
static bool computes(const rheos__op_def *op) {
  const unsigned others = RHEOS_OP_CALLS | RHEOS_OP_CONSTANT | RHEOS_OP_PLACEHOLDER |
                          RHEOS_OP_READS_SHAPES | RHEOS_OP_READS_VARIABLE | RHEOS_OP_ARG |
                          RHEOS_OP_RETVAL;
  return op->flow == RHEOS__FLOW_NONE && (op->flags & others) == 0;
}

static void add(const rheos__op_def *op, const char *attr, rheos_dtype dtype, bool is_on_host) {
  for (size_t i = num_pairs; i-- > 0 && pairs[i].op == op;) {
    if (strcmp(pairs[i].attr, attr) != 0 || pairs[i].dtype != dtype) continue;
    pairs[i].is_on_host = pairs[i].is_on_host && is_on_host;
    return;
  }
  assert_true(num_pairs < MAX_PAIRS);
  pair *one = &pairs[num_pairs++];
  *one = (pair){.op = op, .dtype = dtype, .is_on_host = is_on_host, .computes = computes(op)};
  snprintf(one->attr, sizeof one->attr, "%s", attr);
}

static bool is_of_numbers(rheos_dtype dtype) {
  return dtype == RHEOS_BOOL || rheos_dtype_is_integer(dtype) || rheos_dtype_is_floating(dtype) ||
         rheos_dtype_is_complex(dtype);
}

// "T=float,half": a pair for each dtype of numbers that Rheos has.
static void add_dtypes(const rheos__op_def *op, char *word, bool is_on_host) {
  char *rest = strchr(word, '=');
  *rest++ = '\0';
  for (char *at = NULL, *name = strtok_r(rest, ",", &at); name; name = strtok_r(NULL, ",", &at)) {
    const rheos_dtype dtype = rheos_dtype_from_name(name);
    if (is_of_numbers(dtype)) add(op, word, dtype, is_on_host);
  }
}

static void read_line(char *line) {
  char *words[MAX_WORDS] = {NULL}, *at = NULL;
  int count = 0;
  for (char *word = strtok_r(line, " \n", &at); word; word = strtok_r(NULL, " \n", &at)) {
    assert_true(count < MAX_WORDS);
    words[count++] = word;
  }
  const rheos__signature *signature = rheos__signature_by_name(words[0]);
  if (signature == NULL) return;
  const bool is_on_host = strcmp(words[count - 1], "host=*") == 0;
  if (count == 1 || strncmp(words[1], "host=", 5) == 0) {
    add(signature->op, "", RHEOS_INVALID_DTYPE, is_on_host);
  } else {
    add_dtypes(signature->op, words[1], is_on_host);
  }
}

static int read_pairs(void **unused) {
  (void)unused;
  static char line[MAX_LINE];
  FILE *file = fopen(RHEOS_SOURCE_DIR "/tests/golden/card_kernels.txt", "r");
  if (file == NULL) return 1;
  while (fgets(line, sizeof line, file) != NULL) {
    if (line[0] != '#') read_line(line);
  }
  fclose(file);
  card = (rheos__device){.kind = &rheos__opencl_kind};
  return 0;
}

// ---- What Rheos has

typedef bool (*question)(const rheos__device *device, const rheos__op_def *op,
                         const rheos__attrs *attrs);

static bool ask(question answer, const pair *one) {
  rheos__attrs *attrs = calloc(1, sizeof *attrs + sizeof attrs->items[0]);
  assert_non_null(attrs);
  if (one->dtype != RHEOS_INVALID_DTYPE) {
    attrs->items[attrs->count++] = rheos_attr_type(one->attr, one->dtype);
  }
  const bool is_so = answer(&card, one->op, attrs);
  free(attrs);
  return is_so;
}

static bool is_missing(const pair *one) {
  return one->computes && !one->is_on_host && !ask(rheos__device_has_kernel, one);
}

// The floor rises as kernels are added: what there was once stays.
static void test_most_are_there(void **unused) {
  (void)unused;
  enum { FLOOR = 2260 };
  int count = 0, missing = 0;
  for (size_t i = 0; i < num_pairs; i++) {
    count += pairs[i].computes && !pairs[i].is_on_host;
    missing += is_missing(&pairs[i]);
  }
  printf("of %d (op, dtype) pairs with a GPU kernel in TensorFlow 2.21, the card has %d\n", count,
         count - missing);
  assert_true(count > 2000);  // all was read
  assert_true(count - missing >= FLOOR);
}

// What programs may ask a card for in TensorFlow is no error here.
static void test_others_are_owed(void **unused) {
  (void)unused;
  for (size_t i = 0; i < num_pairs; i++) {
    const pair *one = &pairs[i];
    if (ask(rheos__device_has_kernel, one) || ask(card.kind->owes_kernel, one)) continue;
    fail_msg("%s of %s", one->op->name, rheos_dtype_name(one->dtype));
  }
  assert_false(card.kind->owes_kernel(&card, rheos__signature_by_name("StringJoin")->op, NULL));
}

// ---- Lists for people

static void print_missing(void) {
  const rheos__op_def *op = NULL;
  for (size_t i = 0; i < num_pairs; i++) {
    if (!is_missing(&pairs[i])) continue;
    if (op != pairs[i].op) printf("%s%s:", op != NULL ? "\n" : "", pairs[i].op->name);
    op = pairs[i].op;
    const bool is_told = pairs[i].dtype != RHEOS_INVALID_DTYPE;
    printf(" %s", is_told ? rheos_dtype_name(pairs[i].dtype) : "all");
  }
  printf("\n");
}

static bool is_recorded(const rheos__op_def *op) {
  for (size_t i = 0; i < num_pairs; i++) {
    if (pairs[i].op == op && !pairs[i].is_on_host) return true;
  }
  return false;
}

static void print_more(void) {
  for (int32_t i = 0; i < rheos__op_table_size; i++) {
    const rheos__op_def *op = rheos__op_table[i];
    if (computes(op) && rheos__device_has_kernel(&card, op, NULL) && !is_recorded(op)) {
      printf("%s\n", op->name);
    }
  }
}

int main(int argc, char **argv) {
  if (argc > 1) {
    if (read_pairs(NULL) != 0) return 1;
    if (strcmp(argv[1], "missing") == 0) print_missing();
    if (strcmp(argv[1], "more") == 0) print_more();
    return 0;
  }
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_most_are_there),
                                     cmocka_unit_test(test_others_are_owed)};
  return cmocka_run_group_tests_name("card_kernels", tests, read_pairs, NULL);
}
