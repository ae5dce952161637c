// Ops fed with nonsense: wrong ranks and dtypes, huge and negative numbers, empty tensors, odd
// attributes, inputs left out. Each may succeed or give a status; none may crash. What it proves
// grows with the sanitizers. Usage: test_op_mutations [op]
#include <stdlib.h>
#include <string.h>

#include "ops/op_harness.h"

// A mutated size can ask for terabytes: a cap keeps the machine out of it.
enum { LARGEST_ALLOCATION = 16 << 20, CASES_AN_OP = 6 };

static void *capped_allocate(void *user, size_t size_bytes) {
  (void)user;
  return size_bytes > LARGEST_ALLOCATION ? NULL : malloc(size_bytes);
}
static void *capped_reallocate(void *user, void *memory, size_t size_bytes) {
  (void)user;
  return size_bytes > LARGEST_ALLOCATION ? NULL : realloc(memory, size_bytes);
}
static void plain_release(void *user, void *memory) {
  (void)user;
  free(memory);
}

// A status must say something, on one line.
static void try_case(const op_case *c) {
  for (int mode = BUILD_AS_RECORDED; mode <= BUILD_CONSTANT; mode++) {
    op_result result;
    rheos_status *status = op_case_run(c, (build_mode)mode, 1, &result);
    if (status) {
      const char *message = rheos_status_message(status);
      if (*message == 0) op_wrong(c, "an error without a message");
      if (rheos_status_code(status) == RHEOS_INTERNAL) {
        op_wrong(c, "an internal error: %s", op_status_text(status));
      }
    }
    rheos_status_free(status);
    op_result_free(&result);
  }
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

static void store_integer(rheos_tensor *tensor, int64_t index, int64_t value) {
  void *data = rheos_tensor_data(tensor);
  switch (rheos_tensor_dtype(tensor)) {
    case RHEOS_INT32:
      ((int32_t *)data)[index] = (int32_t)value;
      break;
    case RHEOS_INT64:
      ((int64_t *)data)[index] = value;
      break;
    case RHEOS_FLOAT:
      ((float *)data)[index] = (float)value;
      break;
    case RHEOS_DOUBLE:
      ((double *)data)[index] = (double)value;
      break;
    default:
      break;
  }
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
    store_integer(tensor, i, value);
    if (element >= 0) break;
  }
  op_case_copy(c, &copy);
  rheos_tensor_unref(copy.inputs[index].tensor);
  copy.inputs[index].tensor = tensor;
  try_case(&copy);
  op_case_free(&copy);
}

static const int64_t odd_values[] = {
    -1, -2, 0, 1, 7, 1000000, INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN, (int64_t)1 << 40};
static const int num_odd_values = sizeof odd_values / sizeof *odd_values;

static void mutate_values(const op_case *c, int index) {
  const op_input *input = &c->inputs[index];
  if (!input->tensor || input->shape.rank > 2) return;
  bool integer = input->dtype == RHEOS_INT32 || input->dtype == RHEOS_INT64;
  if (!integer) return;
  for (int i = 0; i < num_odd_values; i++) {
    try_value(c, index, -1, odd_values[i]);
    try_value(c, index, 0, odd_values[i]);
    int64_t last = rheos_shape_num_elements(&input->shape) - 1;
    if (last > 0) try_value(c, index, last, odd_values[i]);
  }
}

static void mutate_input(const op_case *c, int index) {
  const op_input *input = &c->inputs[index];
  rheos_shape shape = input->shape;
  static const rheos_dtype dtypes[] = {RHEOS_FLOAT, RHEOS_INT32,  RHEOS_INT64,
                                       RHEOS_BOOL,  RHEOS_STRING, RHEOS_HALF};
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
  if (shape.rank > 0) {
    shape.dims[shape.rank - 1]++;
    try_replaced(c, index, input->dtype, shape);
    shape.dims[0] = 0;
    try_replaced(c, index, input->dtype, shape);
  }
  mutate_values(c, index);
}

static void mutate_attr(const op_case *c, int index) {
  op_case copy;
  op_case_copy(c, &copy);
  rheos_attr_value *value = &copy.attrs[index].value;
  if (value->kind == RHEOS_ATTR_INT) {
    for (int i = 0; i < num_odd_values; i++) {
      value->i = odd_values[i];
      try_case(&copy);
    }
  } else if (value->kind == RHEOS_ATTR_TYPE) {
    for (int dtype = 0; dtype <= 24; dtype++) {
      value->type = (rheos_dtype)dtype;
      try_case(&copy);
    }
  } else if (value->kind == RHEOS_ATTR_LIST_INT && value->count > 0) {
    for (int i = 0; i < num_odd_values; i++) {
      ((int64_t *)(uintptr_t)value->ints)[0] = odd_values[i];
      try_case(&copy);
    }
  }
  op_case_free(&copy);
}

// Too few and too many inputs, attributes of the wrong kind.
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
  for (int i = 0; i < num_attrs; i++) {
    rheos_attr kept = copy.attrs[i];
    copy.attrs[i] = rheos_attr_string(kept.name, "nonsense", 8);
    try_case(&copy);
    copy.attrs[i] = kept;
  }
  op_case_free(&copy);
}

static bool is_wanted(const op_case *c) {
  return c->error == RHEOS_OK;
}

// Cases spread over all of the op's.
static void check_cases(const op_cases *cases, size_t first, size_t end) {
  size_t stride = (end - first + CASES_AN_OP - 1) / CASES_AN_OP;
  for (size_t i = first; i < end; i += stride) {
    const op_case *c = &cases->items[i];
    for (int k = 0; k < c->num_inputs && k < 4; k++) mutate_input(c, k);
    for (int k = 0; k < c->num_attrs; k++) mutate_attr(c, k);
    mutate_form(c);
  }
}

int main(int argc, char **argv) {
  const rheos_allocator capped = {capped_allocate, capped_reallocate, plain_release, NULL};
  rheos_set_allocator(&capped);
  int failed = op_tests_run("op_mutations", check_cases, is_wanted, argc, argv);
  rheos_set_allocator(NULL);
  return failed;
}
