// Variants are counted: every tensor that holds one counts for it, copies too, and the last frees
// it.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tensor/tensor.h"
#include "tensor/variant.h"

static int num_freed;

static void count_freed(rheos__variant *variant) {
  (void)variant;
  num_freed++;
}

static const rheos__variant_kind counted = {.name = "Counted", .free = count_freed};

static rheos_tensor *tensor_of(rheos__variant *variant) {
  rheos_tensor *tensor = NULL;
  num_freed = 0;
  variant->kind = &counted;
  atomic_init(&variant->references, 1);
  assert_null(rheos__variant_tensor_take(variant, &tensor));
  return tensor;
}

static void test_variant__a_copy_counts(void **state) {
  (void)state;
  rheos__variant variant;
  rheos_tensor *tensor = tensor_of(&variant), *copy = NULL;
  assert_null(rheos_tensor_copy(tensor, &copy));
  assert_int_equal(atomic_load(&variant.references), 2);
  rheos_tensor_unref(tensor);
  assert_int_equal(num_freed, 0);
  rheos_tensor_unref(copy);
  assert_int_equal(num_freed, 1);
}

static void test_variant__a_view_that_is_kept_counts(void **state) {
  (void)state;
  rheos__variant variant;
  rheos_tensor *tensor = tensor_of(&variant), view, *kept = NULL;
  rheos__tensor_init_view(&view, RHEOS_VARIANT, &RHEOS_SHAPE(1), tensor->data);
  assert_null(rheos__tensor_keep(&view, &kept));
  rheos_tensor_unref(kept);
  assert_int_equal(num_freed, 0);
  rheos_tensor_unref(tensor);
  assert_int_equal(num_freed, 1);
}

static void test_variant__another_kind_is_refused(void **state) {
  (void)state;
  static const rheos__variant_kind other = {.name = "Other", .free = count_freed};
  rheos__variant variant, *found = NULL;
  rheos_tensor *tensor = tensor_of(&variant);
  assert_null(rheos__variant_of(tensor, &counted, "Op", &found));
  assert_ptr_equal(found, &variant);
  rheos_status *status = rheos__variant_of(tensor, &other, "Op", &found);
  assert_int_equal(rheos_status_code(status), RHEOS_INVALID_ARGUMENT);
  rheos_status_free(status);
  rheos_tensor_unref(tensor);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_variant__a_copy_counts),
      cmocka_unit_test(test_variant__a_view_that_is_kept_counts),
      cmocka_unit_test(test_variant__another_kind_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
