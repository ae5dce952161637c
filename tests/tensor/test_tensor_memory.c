// Tensors in a memory of their own, whose addresses nobody may read: where they lie, copies,
// mirrors.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tensor/tensor.h"

// Addresses are those of blocks of the host, far away.
static const uintptr_t AWAY = (uintptr_t)1 << 60;

typedef struct far_memory {
  rheos__memory base;
  int num_blocks, num_copies;
  bool *is_gone;
} far_memory;

static char *block_of(const void *address) { return (char *)((uintptr_t)address - AWAY); }

static void *far_allocate(rheos__memory *memory, size_t size_bytes) {
  if (size_bytes > 1 << 20) return NULL;
  char *block = aligned_alloc(64, (size_bytes + 63) / 64 * 64);
  ++((far_memory *)memory)->num_blocks;
  return (void *)((uintptr_t)block + AWAY);
}

static void far_free(rheos__memory *memory, void *block) {
  --((far_memory *)memory)->num_blocks;
  free(block_of(block));
}

static rheos_status *far_copy(rheos__memory *to, void *to_bytes, rheos__memory *from,
                              const void *from_bytes, size_t size_bytes) {
  ++((far_memory *)(to != NULL ? to : from))->num_copies;
  memcpy(to != NULL ? block_of(to_bytes) : to_bytes,
         from != NULL ? block_of(from_bytes) : from_bytes, size_bytes);
  return NULL;
}

static void far_deinit(rheos__memory *memory) {
  *((far_memory *)memory)->is_gone = true;
  free(memory);
}

static const rheos__memory_kind kinds[2] = {
    {.allocate = far_allocate, .free = far_free, .copy = far_copy, .deinit = far_deinit},
    {.allocate = far_allocate, .free = far_free, .copy = far_copy, .deinit = far_deinit}};

static far_memory *memory_new(int kind, bool *is_gone) {
  far_memory *memory = calloc(1, sizeof *memory);
  memory->base.kind = &kinds[kind];
  atomic_init(&memory->base.references, 1);
  strcpy(memory->base.device, kind == 0 ? "/device:FAR:0" : "/device:FURTHER:0");
  memory->is_gone = is_gone;
  *is_gone = false;
  return memory;
}

static rheos_tensor *numbers(void) {
  const int32_t values[] = {1, 2, 3, 4};
  rheos_tensor *tensor = NULL;
  assert_null(rheos_tensor_from_values(RHEOS_INT32, RHEOS_SHAPE(4), values, &tensor));
  return tensor;
}

static void assert_numbers(const rheos_tensor *tensor) {
  const int32_t *data = rheos_tensor_data(tensor);
  assert_non_null(data);
  for (int i = 0; i < 4; ++i) assert_int_equal(data[i], i + 1);
}

static void test_tensor_memory__a_tensor_keeps_it(void **state) {
  (void)state;
  bool is_gone;
  far_memory *memory = memory_new(0, &is_gone);
  rheos_tensor *here = numbers(), *there = NULL;
  assert_null(rheos__tensor_copy_to(here, &memory->base, &there));
  assert_string_equal(rheos_tensor_device(here), "");
  assert_string_equal(rheos_tensor_device(there), "/device:FAR:0");
  assert_true(rheos__tensor_is_exclusive(there));
  rheos__memory_unref(&memory->base);
  assert_numbers(there);
  assert_int_equal(memory->num_blocks, 1);
  assert_false(is_gone);
  rheos_tensor_unref(there);
  assert_true(is_gone);
  rheos_tensor_unref(here);
}

static void test_tensor_memory__data_is_copied_to_the_host_once(void **state) {
  (void)state;
  bool is_gone;
  far_memory *memory = memory_new(0, &is_gone);
  rheos_tensor *here = numbers(), *there = NULL;
  assert_null(rheos__tensor_copy_to(here, &memory->base, &there));
  const void *data = rheos_tensor_data(there);
  assert_ptr_not_equal(data, rheos_tensor_data(here));
  assert_ptr_equal(rheos_tensor_data(there), data);
  assert_int_equal(memory->num_copies, 2);
  rheos_tensor_unref(there);
  rheos_tensor_unref(here);
  rheos__memory_unref(&memory->base);
  assert_true(is_gone);
}

// One of the host's keeps its copy until its bytes change.
static void test_tensor_memory__a_copy_is_kept_until_bytes_change(void **state) {
  (void)state;
  bool is_gone;
  far_memory *memory = memory_new(0, &is_gone);
  rheos_tensor *here = numbers(), *first = NULL, *second = NULL, *back = NULL;
  assert_null(rheos__tensor_in(here, &memory->base, &first));
  assert_null(rheos__tensor_in(here, &memory->base, &second));
  assert_ptr_equal(first, second);
  rheos_tensor_unref(first);
  rheos_tensor_unref(second);
  assert_int_equal(memory->num_copies, 1);
  assert_int_equal(memory->num_blocks, 1);
  ((int32_t *)rheos_tensor_data(here))[0] = 7;
  rheos__tensor_changed(here);
  assert_int_equal(memory->num_blocks, 0);
  assert_null(rheos__tensor_in(here, &memory->base, &first));
  assert_null(rheos__tensor_in(first, NULL, &back));
  assert_int_equal(*(const int32_t *)rheos_tensor_data(back), 7);
  assert_true(rheos__tensor_is_exclusive(back));
  rheos_tensor_unref(back);
  rheos_tensor_unref(first);
  rheos_tensor_unref(here);
  assert_int_equal(memory->num_blocks, 0);
  rheos__memory_unref(&memory->base);
}

static void test_tensor_memory__who_shares_bytes_shares_their_copy(void **state) {
  (void)state;
  bool is_gone;
  far_memory *memory = memory_new(0, &is_gone);
  rheos_tensor *here = numbers(), *square = NULL, *again = NULL, *first = NULL, *second = NULL;
  const rheos_shape shape = RHEOS_SHAPE(2, 2);
  assert_null(rheos_tensor_reshaped(here, shape, &square));
  assert_null(rheos_tensor_reshaped(here, *rheos_tensor_shape(here), &again));
  assert_null(rheos__tensor_in(square, &memory->base, &first));
  assert_true(rheos_shape_equal(rheos_tensor_shape(first), &shape));
  rheos_tensor_unref(square);
  assert_null(rheos__tensor_in(again, &memory->base, &second));
  assert_numbers(second);
  rheos_tensor_unref(again);
  rheos_tensor_unref(first);
  rheos_tensor_unref(second);
  assert_null(rheos__tensor_in(here, &memory->base, &first));
  rheos_tensor_unref(first);
  assert_int_equal(memory->num_blocks, 1);
  rheos_tensor_unref(here);
  assert_int_equal(memory->num_blocks, 0);
  rheos__memory_unref(&memory->base);
}

static void test_tensor_memory__other_shapes_and_copies_lie_there_too(void **state) {
  (void)state;
  bool is_gone;
  far_memory *memory = memory_new(0, &is_gone);
  rheos_tensor *here = numbers(), *there = NULL, *square = NULL, *copy = NULL;
  assert_null(rheos__tensor_copy_to(here, &memory->base, &there));
  rheos_tensor_unref(here);
  assert_null(rheos_tensor_reshaped(there, RHEOS_SHAPE(2, 2), &square));
  rheos_tensor_unref(there);
  assert_string_equal(rheos_tensor_device(square), "/device:FAR:0");
  assert_null(rheos_tensor_copy(square, &copy));
  assert_string_equal(rheos_tensor_device(copy), "/device:FAR:0");
  assert_numbers(square);
  assert_numbers(copy);
  rheos_tensor_unref(square);
  rheos_tensor_unref(copy);
  rheos__memory_unref(&memory->base);
  assert_true(is_gone);
}

static void test_tensor_memory__between_kinds_it_goes_by_the_host(void **state) {
  (void)state;
  bool is_gone[2];
  far_memory *first = memory_new(0, &is_gone[0]), *second = memory_new(1, &is_gone[1]);
  rheos_tensor *here = numbers(), *there = NULL, *further = NULL;
  assert_null(rheos__tensor_copy_to(here, &first->base, &there));
  assert_null(rheos__tensor_in(there, &second->base, &further));
  assert_string_equal(rheos_tensor_device(further), "/device:FURTHER:0");
  assert_int_equal(first->num_copies, 2);
  assert_int_equal(second->num_copies, 1);
  assert_numbers(further);
  assert_numbers(there);  // whose mirror is further away
  rheos_tensor_unref(here);
  rheos_tensor_unref(there);
  rheos_tensor_unref(further);
  rheos__memory_unref(&first->base);
  rheos__memory_unref(&second->base);
  assert_true(is_gone[0] && is_gone[1]);
}

static void test_tensor_memory__short_memory_is_a_status(void **state) {
  (void)state;
  bool is_gone;
  far_memory *memory = memory_new(0, &is_gone);
  rheos_tensor *large = NULL, *there = NULL;
  assert_null(rheos_tensor_new(RHEOS_INT8, RHEOS_SHAPE(1 << 21), &large));
  rheos_status *status = rheos__tensor_in(large, &memory->base, &there);
  assert_int_equal(rheos_status_code(status), RHEOS_RESOURCE_EXHAUSTED);
  assert_null(there);
  rheos_status_free(status);
  rheos_tensor_unref(large);
  rheos__memory_unref(&memory->base);
  assert_true(is_gone);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_tensor_memory__a_tensor_keeps_it),
      cmocka_unit_test(test_tensor_memory__data_is_copied_to_the_host_once),
      cmocka_unit_test(test_tensor_memory__a_copy_is_kept_until_bytes_change),
      cmocka_unit_test(test_tensor_memory__who_shares_bytes_shares_their_copy),
      cmocka_unit_test(test_tensor_memory__other_shapes_and_copies_lie_there_too),
      cmocka_unit_test(test_tensor_memory__between_kinds_it_goes_by_the_host),
      cmocka_unit_test(test_tensor_memory__short_memory_is_a_status),
  };
  return cmocka_run_group_tests_name("tensor_memory", tests, NULL, NULL);
}
