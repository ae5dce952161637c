// Ops fed with nonsense: wrong ranks and dtypes, huge and negative numbers, empty tensors, odd
// attributes, inputs left out. Each may succeed or give a status; none may crash. What it proves
// grows with the sanitizers. Usage: test_op_mutations [op|all [rounds [seed]]]
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "graph/op_def.h"
#include "ops/op_harness.h"
#include "ops/random_case.h"

enum { CASES_AN_OP = 6, MUTATIONS_AN_OP = 12 };

static int num_mutations;     // of the op that is being checked
static int num_tangles = 40;  // an op: mutations of several things at once
static uint64_t seed = 1;

// The code that TensorFlow gives a slice that is not there, a stack of another dtype.
static bool may_be_internal(const char *op) {
  return strncmp(op, "Save", 4) == 0 || strncmp(op, "Restore", 7) == 0 ||
         strncmp(op, "StackPop", 8) == 0;
}

// A status must say something. The three ways to build take turns: what goes wrong in
// one alone meets it in another of the op's cases.
static void try_case(const op_case *c) {
  op_result result;
  build_mode mode = (build_mode)(num_mutations++ % 3);
  rheos_status *status = op_case_run(c, mode, 1, &result);
  if (status) {
    const char *message = rheos_status_message(status);
    if (*message == 0) op_wrong(c, "an error without a message");
    if (rheos_status_code(status) == RHEOS_INTERNAL && !may_be_internal(c->op)) {
      op_wrong(c, "an internal error: %s", op_status_text(status));
    }
  }
  rheos_status_free(status);
  op_result_free(&result);
}

// The case with input `index` replaced by a zeroed tensor of that dtype and shape.
static void try_replaced(const op_case *c, int index, rheos_dtype dtype, rheos_shape shape) {
  op_case copy;
  rheos_tensor *tensor = NULL;
  rheos_status *status = rheos_tensor_new(dtype, shape, &tensor);
  if (status) {
    rheos_status_free(status);
    return;
  }
  if (dtype != RHEOS_STRING) memset(rheos_tensor_data(tensor), 0, rheos_tensor_size_bytes(tensor));
  op_case_copy(c, &copy);
  op_input *input = &copy.inputs[index];
  rheos_tensor_unref(input->tensor);
  input->tensor = tensor;
  input->dtype = dtype;
  input->shape = shape;
  if (input->kind == INPUT_UNSET) input->kind = INPUT_VARIABLE;
  try_case(&copy);
  op_case_free(&copy);
}

// The case with one element, or all, of an input changed to `value`.
static void try_value(const op_case *c, int index, int64_t element, int64_t value) {
  op_case copy;
  rheos_tensor *tensor = NULL;
  rheos_status *status = rheos_tensor_copy(c->inputs[index].tensor, &tensor);
  if (status) {
    rheos_status_free(status);
    return;
  }
  int64_t count = rheos_tensor_num_elements(tensor);
  for (int64_t i = element < 0 ? 0 : element; i < count; i++) {
    random_case_store_integer(tensor, i, value);
    if (element >= 0) break;
  }
  op_case_copy(c, &copy);
  rheos_tensor_unref(copy.inputs[index].tensor);
  copy.inputs[index].tensor = tensor;
  try_case(&copy);
  op_case_free(&copy);
}

static void try_values(const op_case *c, int index, int64_t value) {
  int64_t last = rheos_shape_num_elements(&c->inputs[index].shape) - 1;
  try_value(c, index, -1, value);
  if (last > 0) {
    try_value(c, index, 0, value);
    try_value(c, index, last, value);
  }
}

// Integers are sizes, indices and axes; a floating-point scalar is a rate or a limit.
static void mutate_values(const op_case *c, int index) {
  const op_input *input = &c->inputs[index];
  if (!input->tensor || input->shape.rank > 2 || input->dtype == RHEOS_STRING) return;
  if (rheos_dtype_is_integer(input->dtype)) {
    for (int i = 0; i < random_case_num_odd_integers; i++)
      try_values(c, index, random_case_odd_integers[i]);
  } else if (input->shape.rank == 0) {
    for (int i = 0; i < random_case_num_odd_integers; i += 4)
      try_value(c, index, -1, random_case_odd_integers[i]);
  }
}

static void mutate_input(const op_case *c, int index) {
  const op_input *input = &c->inputs[index];
  rheos_shape shape = input->shape;
  if (input->kind == INPUT_NODE) return;
  static const rheos_dtype dtypes[] = {RHEOS_FLOAT,  RHEOS_INT32, RHEOS_INT64,    RHEOS_BOOL,
                                       RHEOS_STRING, RHEOS_HALF,  RHEOS_COMPLEX64};
  for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++) {
    if (dtypes[i] != input->dtype) try_replaced(c, index, dtypes[i], shape);
  }
  try_replaced(c, index, input->dtype, RHEOS_SCALAR);
  try_replaced(c, index, input->dtype, RHEOS_SHAPE(0));
  try_replaced(c, index, input->dtype, RHEOS_SHAPE(1));
  try_replaced(c, index, input->dtype, RHEOS_SHAPE(7));
  try_replaced(c, index, input->dtype, RHEOS_SHAPE(0, 3));
  try_replaced(c, index, input->dtype, RHEOS_SHAPE(3, 5));
  try_replaced(c, index, input->dtype, RHEOS_SHAPE(2, 3, 4));
  try_replaced(c, index, input->dtype, RHEOS_SHAPE(1, 1, 1, 1, 1, 1, 1, 1));
  try_replaced(c, index, input->dtype, RHEOS_SHAPE(0, INT32_MAX, 3));
  try_replaced(c, index, input->dtype, RHEOS_SHAPE((int64_t)1 << 40, 0, (int64_t)1 << 22));
  if (shape.rank > 0) {
    shape.dims[shape.rank - 1]++;
    try_replaced(c, index, input->dtype, shape);
    shape.dims[0] = 0;
    try_replaced(c, index, input->dtype, shape);
  }
  mutate_values(c, index);
}

// An int, a list of them and shapes take the odd values.
static void mutate_integers(const op_case *copy, int64_t *at) {
  for (int i = 0; i < random_case_num_odd_integers; i++) {
    *at = random_case_odd_integers[i];
    try_case(copy);
  }
}

static void mutate_number(const op_case *copy, float *at) {
  static const float odd[] = {0, -1, 1e30F, NAN, INFINITY};
  for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
    *at = odd[i];
    try_case(copy);
  }
}

static void mutate_shape(const op_case *copy, rheos_shape *shape) {
  const rheos_shape odd[] = {
      RHEOS_SCALAR,    RHEOS_UNKNOWN_SHAPE,       RHEOS_SHAPE(-1),
      RHEOS_SHAPE(-2), RHEOS_SHAPE(0, INT64_MAX), RHEOS_SHAPE(1LL << 40, 1LL << 40)};
  for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
    *shape = odd[i];
    try_case(copy);
  }
}

static void mutate_list(const op_case *copy, rheos_attr_value *value) {
  void *first = (void *)(uintptr_t)value->ints;
  int32_t count = value->count;
  if (value->kind == RHEOS_ATTR_LIST_INT) mutate_integers(copy, first);
  if (value->kind == RHEOS_ATTR_LIST_FLOAT) mutate_number(copy, first);
  if (value->kind == RHEOS_ATTR_LIST_SHAPE) mutate_shape(copy, first);
  for (value->count = 0; value->count < count; value->count++) try_case(copy);
}

static void mutate_attr(const op_case *c, int index) {
  op_case copy;
  op_case_copy(c, &copy);
  rheos_attr_value *value = &copy.attrs[index].value;
  if (value->kind == RHEOS_ATTR_INT) {
    mutate_integers(&copy, &value->i);
  } else if (value->kind == RHEOS_ATTR_FLOAT) {
    mutate_number(&copy, &value->f);
  } else if (value->kind == RHEOS_ATTR_BOOL) {
    value->b = !value->b;
    try_case(&copy);
  } else if (value->kind == RHEOS_ATTR_TYPE) {
    for (int dtype = 0; dtype <= 24; dtype++) {
      value->type = (rheos_dtype)dtype;
      try_case(&copy);
    }
  } else if (value->kind == RHEOS_ATTR_SHAPE) {
    mutate_shape(&copy, (rheos_shape *)(uintptr_t)value->shape);
  } else if (value->kind == RHEOS_ATTR_STRING) {
    value->s.size_bytes = 0;
    try_case(&copy);
  } else if (value->kind >= RHEOS_ATTR_LIST_STRING && value->count > 0) {
    mutate_list(&copy, value);
  }
  op_case_free(&copy);
}

// Too few inputs and one too many, attributes left out and of the wrong kind.
static void mutate_form(const op_case *c) {
  op_case copy;
  op_case_copy(c, &copy);
  int num_inputs = copy.num_inputs, num_attrs = copy.num_attrs;
  for (int n = 0; n < num_inputs; n++) {
    copy.num_inputs = n;
    try_case(&copy);
  }
  copy.num_inputs = num_inputs;
  for (int n = 0; n < num_attrs; n++) {
    copy.num_attrs = n;
    try_case(&copy);
  }
  copy.num_attrs = num_attrs;
  if (num_inputs > 0 && num_inputs < CASE_MAX_INPUTS) {
    op_input *inputs = copy.inputs, more[CASE_MAX_INPUTS];
    memcpy(more, inputs, (size_t)num_inputs * sizeof *inputs);
    more[num_inputs] = inputs[num_inputs - 1];
    copy.inputs = more;
    copy.num_inputs++;
    try_case(&copy);
    copy.inputs = inputs;
    copy.num_inputs--;
  }
  for (int i = 0; i < num_attrs; i++) {
    rheos_attr kept = copy.attrs[i];
    copy.attrs[i] = rheos_attr_string(kept.name, "nonsense", 8);
    try_case(&copy);
    copy.attrs[i] = kept;
  }
  op_case_free(&copy);
}

// ---- Several things wrong at once: what one check refuses hides what the next would let through

static void try_tangle(const op_case *c) {
  op_case copy;
  op_case_copy(c, &copy);
  for (uint64_t n = random_case_draw(3) + 1; n > 0; n--) {
    uint64_t which = random_case_draw((uint64_t)(copy.num_inputs + copy.num_attrs));
    if (which < (uint64_t)copy.num_inputs && copy.inputs[which].kind == INPUT_NODE) {
      continue;
    } else if (which < (uint64_t)copy.num_inputs) {
      random_case_tangle_input(&copy.inputs[which]);
    } else {
      random_case_tangle_attr(&copy, &copy.attrs[which - (uint64_t)copy.num_inputs]);
    }
  }
  try_case(&copy);
  op_case_free(&copy);
}

static void tangle_cases(const op_cases *cases, size_t first, size_t end) {
  random_case_seed(seed * UINT64_C(0x9e3779b97f4a7c15) + first + 1);
  for (int n = 0; n < num_tangles; n++) {
    op_case spelled;
    random_case_spell_defaults(&cases->items[first + random_case_draw(end - first)], &spelled);
    if (spelled.num_inputs + spelled.num_attrs > 0) try_tangle(&spelled);
    op_case_free(&spelled);
  }
}

static bool is_wanted(const op_case *c) { return c->num_inputs + c->num_attrs > 0; }

// Cases spread over all of the op's.
static void check_cases(const op_cases *cases, size_t first, size_t end) {
  size_t stride = (end - first + CASES_AN_OP - 1) / CASES_AN_OP;
  num_mutations = 0;
  for (size_t i = first; i < end; i += stride) {
    op_case c;
    random_case_spell_defaults(&cases->items[i], &c);
    for (int k = 0; k < c.num_inputs && k < 12; k++) mutate_input(&c, k);
    for (int k = 0; k < c.num_attrs; k++) mutate_attr(&c, k);
    mutate_form(&c);
    op_case_free(&c);
  }
  tangle_cases(cases, first, end);
  if (num_mutations < MUTATIONS_AN_OP) {
    op_wrong(&cases->items[first], "only %d mutations: it needs more cases", num_mutations);
  }
}

int main(int argc, char **argv) {
  // Files that have got other names are not to lie where the test was started.
  op_cases_clear_folder(true);
  if (chdir(op_cases_folder()) != 0) return 1;
  random_case_cap_memory(true);
  if (argc > 2) num_tangles = atoi(argv[2]);
  if (argc > 3) seed = strtoull(argv[3], NULL, 10);
  if (argc > 1 && strcmp(argv[1], "all") == 0) argc = 1;
  int failed = op_tests_run("op_mutations", check_cases, is_wanted, argc, argv);
  random_case_cap_memory(false);
  return failed;
}
