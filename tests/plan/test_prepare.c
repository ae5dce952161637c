// From a node to a kernel: who is asked, in which order, and what is refused.
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "device/device.h"
#include "plan/entries/prepare.h"

enum { STATE_BYTES = 64, UNITS = 8 };

// One letter for each kernel that was asked.
static char asked[8];
static int num_released;

static void note(char letter) {
  const size_t length = strlen(asked);
  assert_true(length + 1 < sizeof asked);
  asked[length] = letter;
}

static rheos_status *run_nothing(const void *state, const void *const *inputs, void *const *outputs,
                                 void *scratch, int64_t first, int64_t last) {
  (void)state, (void)inputs, (void)outputs, (void)scratch, (void)first, (void)last;
  return NULL;
}

static rheos_status *compute_nothing(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                     rheos_tensor **outputs) {
  (void)state, (void)step, (void)inputs, (void)outputs;
  return NULL;
}

static void release(void *state) {
  (void)state;
  ++num_released;
}

// ---- Kernels

static rheos_status *answer(rheos__prepare *p, char letter) {
  note(letter);
  p->run = run_nothing;
  p->num_units = UNITS;
  return NULL;
}

static rheos_status *fast(rheos__prepare *p) { return answer(p, 'f'); }

static rheos_status *slow(rheos__prepare *p) { return answer(p, 's'); }

static rheos_status *reference(rheos__prepare *p) { return answer(p, 'r'); }

static rheos_status *holding(rheos__prepare *p) {
  p->release = release;
  return answer(p, 'h');
}

static rheos_status *passing_on(rheos__prepare *p) {
  p->alias_input = 0;
  note('a');
  return NULL;
}

static rheos_status *failing(rheos__prepare *p) {
  (void)p;
  note('x');
  return rheos_status_new(RHEOS_INVALID_ARGUMENT, "the axis is wrong");
}

static rheos_status *declining(rheos__prepare *p) {
  note('d');
  p->decline_reason = "the rows are too short";
  return NULL;
}

// Declines once it has filled in all that it may answer.
static rheos_status *declining_late(rheos__prepare *p) {
  static const rheos__grouped_update *const some = (const rheos__grouped_update *)asked;
  static rheos__resource cell;
  note('l');
  p->state = rheos__arena_alloc(p->arena, STATE_BYTES);
  p->release = release;
  p->run = run_nothing;
  p->compute = compute_nothing;
  p->grouped = some;
  p->scratch_bytes = STATE_BYTES;
  p->num_units = p->unit_elements = UNITS;
  p->alias_input = p->reuse_input = 0;
  p->flops = p->bytes = UNITS;
  p->output_resource = &cell;
  p->packing = (rheos__packing_request){.bytes = STATE_BYTES, .key = asked, .key_bytes = 1};
  p->decline_reason = "it is late";
  return NULL;
}

// Answers nothing of its own, so that all that is found afterwards was left behind.
static rheos_status *answering_nothing(rheos__prepare *p) {
  (void)p;
  note('n');
  return NULL;
}

// ---- A node of one input and one output

static const rheos__device_kind host_kind = {.name = "CPU"};
static const rheos__device_kind other_kind = {.name = "TEST"};
static rheos__memory other_memory;

static const rheos__prepare_fn *variants_of(const rheos__op_def *op) { return op->family; }

typedef struct node {
  rheos__op_def op;  // its family is the list of variants
  rheos__device device;
  rheos__arena arena;
  rheos_dtype dtypes[2];
  rheos_shape shapes[2];
  rheos__prepare p;
} node;

// Fills in what is given, for a device of the kind.
static void begin(node *n, const rheos__device_kind *kind, const rheos__prepare_fn *variants,
                  rheos__prepare_fn ref) {
  memset(asked, 0, sizeof asked);
  num_released = 0;
  *n = (node){.op = {.name = "Frobnicate", .prepare = ref, .family = variants},
              .device = {.kind = kind, .memory = kind == &other_kind ? &other_memory : NULL},
              .dtypes = {RHEOS_FLOAT, RHEOS_FLOAT},
              .shapes = {RHEOS_SHAPE(2, 3), RHEOS_SHAPE(2, 3)}};
  rheos__arena_init(&n->arena);
  n->p = (rheos__prepare){.device = &n->device,
                          .variants = variants_of,
                          .op = &n->op,
                          .num_inputs = 1,
                          .num_outputs = 1,
                          .input_dtypes = &n->dtypes[0],
                          .input_shapes = &n->shapes[0],
                          .output_dtypes = &n->dtypes[1],
                          .output_shapes = &n->shapes[1],
                          .arena = &n->arena,
                          .alias_input = -1,
                          .reuse_input = -1};
}

static void end(node *n) { rheos__arena_deinit(&n->arena); }

// Asks, and checks who was asked.
static void asks(node *n, const char *letters) {
  rheos_status *status = rheos__prepare_kernel(&n->p);
  if (status != NULL) fail_msg("%s", rheos_status_message(status));
  assert_string_equal(asked, letters);
}

static void asks_and_fails(node *n, const char *letters, rheos_code code, const char *message) {
  rheos_status *status = rheos__prepare_kernel(&n->p);
  assert_non_null(status);
  assert_string_equal(rheos_status_message(status), message);
  assert_int_equal(rheos_status_code(status), code);
  rheos_status_free(status);
  assert_string_equal(asked, letters);
}

#define VARIANTS(...) ((const rheos__prepare_fn[]){__VA_ARGS__, NULL})

// ---- Who is asked

static void test_prepare__the_first_variant_that_does_not_decline_is_taken(void **state) {
  (void)state;
  node n;
  begin(&n, &host_kind, VARIANTS(fast, slow), reference);
  asks(&n, "f");
  assert_int_equal(n.p.num_units, UNITS);
  end(&n);
  begin(&n, &host_kind, VARIANTS(declining, slow, fast), reference);
  asks(&n, "ds");
  end(&n);
}

static void test_prepare__the_reference_comes_last(void **state) {
  (void)state;
  node n;
  begin(&n, &host_kind, VARIANTS(declining, declining_late), reference);
  asks(&n, "dlr");
  assert_true(n.p.run == run_nothing);
  end(&n);
  begin(&n, &host_kind, NULL, reference);
  asks(&n, "r");
  end(&n);
}

static void test_prepare__a_failure_ends_the_search(void **state) {
  (void)state;
  node n;
  begin(&n, &host_kind, VARIANTS(failing, fast), reference);
  asks_and_fails(&n, "x", RHEOS_INVALID_ARGUMENT, "the axis is wrong");
  end(&n);
}

static void test_prepare__a_variant_that_declines_leaves_nothing_behind(void **state) {
  (void)state;
  node n;
  begin(&n, &host_kind, VARIANTS(declining_late, answering_nothing), reference);
  asks(&n, "ln");
  assert_null(n.p.decline_reason);
  assert_null(n.p.state);
  assert_true(n.p.release == NULL && n.p.run == NULL && n.p.compute == NULL);
  assert_null(n.p.grouped);
  assert_int_equal(n.p.scratch_bytes, 0);
  assert_int_equal(n.p.num_units, 0);
  assert_int_equal(n.p.unit_elements, 0);
  assert_int_equal(n.p.alias_input, -1);
  assert_int_equal(n.p.reuse_input, -1);
  assert_int_equal(n.p.flops, 0);
  assert_int_equal(n.p.bytes, 0);
  assert_null(n.p.output_resource);
  assert_int_equal(n.p.packing.bytes, 0);
  assert_null(n.p.packing.key);
  end(&n);
}

// ---- No kernel

static void test_prepare__no_kernel_on_the_cpu(void **state) {
  (void)state;
  node n;
  begin(&n, &host_kind, VARIANTS(declining), NULL);
  asks_and_fails(&n, "d", RHEOS_UNIMPLEMENTED, "no kernel for Frobnicate");
  end(&n);
  begin(&n, &host_kind, NULL, declining);  // a reference may decline too
  asks_and_fails(&n, "d", RHEOS_UNIMPLEMENTED, "no kernel for Frobnicate: the rows are too short");
  end(&n);
}

static void test_prepare__other_devices_never_run_the_reference(void **state) {
  (void)state;
  node n;
  begin(&n, &other_kind, VARIANTS(declining_late, declining), reference);
  asks_and_fails(&n, "ld", RHEOS_UNIMPLEMENTED,
                 "no kernel for Frobnicate on TEST: the rows are too short");
  end(&n);
  begin(&n, &other_kind, NULL, reference);
  asks_and_fails(&n, "", RHEOS_UNIMPLEMENTED, "no kernel for Frobnicate on TEST");
  end(&n);
}

// ---- Units of empty outputs

static void test_prepare__empty_outputs_run_one_unit(void **state) {
  (void)state;
  node n;
  begin(&n, &host_kind, VARIANTS(fast), NULL);
  n.shapes[1] = RHEOS_SHAPE(INT64_C(1) << 40, 0);
  asks(&n, "f");
  assert_int_equal(n.p.num_units, 1);
  end(&n);
}

static void test_prepare__units_stay_unless_all_outputs_are_empty(void **state) {
  (void)state;
  const rheos_shape some_empty[] = {RHEOS_SHAPE(0), RHEOS_SHAPE(1)};
  const rheos_dtype dtypes[] = {RHEOS_FLOAT, RHEOS_FLOAT};
  node n;
  begin(&n, &host_kind, VARIANTS(fast), NULL);
  n.p.num_outputs = 2;
  n.p.output_shapes = some_empty;
  n.p.output_dtypes = dtypes;
  asks(&n, "f");
  assert_int_equal(n.p.num_units, UNITS);
  end(&n);
  begin(&n, &host_kind, VARIANTS(fast), NULL);
  n.p.num_outputs = 0;
  asks(&n, "f");
  assert_int_equal(n.p.num_units, UNITS);
  end(&n);
}

// ---- Variants and handles

static void test_prepare__variants_need_a_kernel_that_counts_them(void **state) {
  (void)state;
  for (int i = 0; i < 2; ++i) {  // of the input, of the output
    node n;
    begin(&n, &host_kind, VARIANTS(holding), NULL);
    n.dtypes[i] = RHEOS_VARIANT;
    asks_and_fails(&n, "h", RHEOS_UNIMPLEMENTED, "Frobnicate of dtype variant is not supported");
    assert_int_equal(num_released, 1);
    end(&n);
  }
}

static void test_prepare__variants_may_be_counted_passed_on_or_ignored(void **state) {
  (void)state;
  const unsigned harmless[] = {RHEOS_OP_TAKES_VARIANTS, RHEOS_OP_READS_SHAPES};
  node n;
  for (int i = 0; i < 2; ++i) {
    begin(&n, &host_kind, VARIANTS(holding), NULL);
    n.op.flags = harmless[i];
    n.dtypes[0] = RHEOS_VARIANT;
    asks(&n, "h");
    assert_int_equal(num_released, 0);
    end(&n);
  }
  begin(&n, &host_kind, VARIANTS(passing_on), NULL);
  n.dtypes[0] = n.dtypes[1] = RHEOS_VARIANT;
  asks(&n, "a");
  end(&n);
}

// The status of a handle at the input of an op of the library.
static rheos_status *check_handle(node *n, const char *type) {
  const rheos__entry entry = {.signature = rheos__signature_by_name(type), .num_inputs = 1};
  assert_non_null(entry.signature);
  n->dtypes[0] = RHEOS_RESOURCE;
  return rheos__check_handles(&entry, &n->p);
}

static void test_prepare__handles_at_arguments_of_any_dtype_are_refused(void **state) {
  (void)state;
  node n;
  begin(&n, &host_kind, VARIANTS(fast), NULL);
  rheos_status *status = check_handle(&n, "Identity");
  assert_non_null(status);
  assert_string_equal(rheos_status_message(status),
                      "input 0 of Frobnicate is a handle, not a value");
  assert_int_equal(rheos_status_code(status), RHEOS_UNIMPLEMENTED);
  rheos_status_free(status);
  n.p.alias_input = 0;  // it is passed on, and not looked at
  assert_null(check_handle(&n, "Identity"));
  n.p.alias_input = -1;
  assert_null(check_handle(&n, "ReadVariableOp"));
  end(&n);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_prepare__the_first_variant_that_does_not_decline_is_taken),
      cmocka_unit_test(test_prepare__the_reference_comes_last),
      cmocka_unit_test(test_prepare__a_failure_ends_the_search),
      cmocka_unit_test(test_prepare__a_variant_that_declines_leaves_nothing_behind),
      cmocka_unit_test(test_prepare__no_kernel_on_the_cpu),
      cmocka_unit_test(test_prepare__other_devices_never_run_the_reference),
      cmocka_unit_test(test_prepare__empty_outputs_run_one_unit),
      cmocka_unit_test(test_prepare__units_stay_unless_all_outputs_are_empty),
      cmocka_unit_test(test_prepare__variants_need_a_kernel_that_counts_them),
      cmocka_unit_test(test_prepare__variants_may_be_counted_passed_on_or_ignored),
      cmocka_unit_test(test_prepare__handles_at_arguments_of_any_dtype_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
