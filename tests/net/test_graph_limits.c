// What a server takes of graphs: ops that use files are found in the graph and in functions.
#include "net/graph_limits.h"

#include <rheos/format.h>
#include <rheos/function.h>

#include <stdlib.h>

#include "graph/counting_allocator.h"
#include "ops/array_fixture.h"

static rheos_status *check_graph(fixture *f, const rheos__graph_limits *limits, int64_t num_nodes) {
  void *bytes;
  size_t size;
  check(rheos_scope_finish(f->scope));
  check(rheos_graph_to_graph_def(f->graph, &bytes, &size));
  rheos_status *status = rheos__graph_limits_check(limits, num_nodes, bytes, size);
  rheos_free(bytes);
  return status;
}

static rheos_output text(fixture *f, const char *value) { return strings(f, RHEOS_SCALAR, &value); }

static void test_graph_limits__files_are_found(void **state) {
  fixture *f = *state;
  const rheos__graph_limits none = {0}, no_files = {.refuses_files = true};
  const rheos_output name = text(f, "/etc/passwd");
  check(check_graph(f, &no_files, 0));
  add(f, "ReadFile", &name, 1, NULL, 0);
  check(check_graph(f, &none, 0));
  expect_error(check_graph(f, &no_files, 0), RHEOS_PERMISSION_DENIED,
               "node 'ReadFile' (ReadFile) uses files");
}

static void test_graph_limits__functions_of_the_program_are_found(void **state) {
  fixture *f = *state;
  const rheos__graph_limits no_files = {.refuses_files = true};
  const rheos_dtype dtype = RHEOS_FLOAT;
  const rheos_attr attrs[] = {rheos_attr_string("token", "t", 1), rheos_attr_types("Tin", NULL, 0),
                              rheos_attr_types("Tout", &dtype, 1)};
  add(f, "PyFunc", NULL, 0, attrs, 3);
  expect_error(check_graph(f, &no_files, 0), RHEOS_PERMISSION_DENIED,
               "calls a function of the program");
}

static void test_graph_limits__an_op_may_be_told_no_file(void **state) {
  fixture *f = *state;
  const rheos__graph_limits no_files = {.refuses_files = true};
  const rheos_output message = text(f, "hello");
  add(f, "PrintV2", &message, 1, NULL, 0);
  check(check_graph(f, &no_files, 0));
  const rheos_attr to_file = rheos_attr_string("output_stream", "file:///tmp/x", 13);
  add(f, "PrintV2", &message, 1, &to_file, 1);
  expect_error(check_graph(f, &no_files, 0), RHEOS_PERMISSION_DENIED, "(PrintV2) uses files");
}

static void cache_in(fixture *f, rheos_output filename) {
  const rheos_dtype dtype = RHEOS_INT64;
  const rheos_shape shape = RHEOS_SCALAR;
  const rheos_attr attrs[] = {
      rheos_attr_types("output_types", &dtype, 1),
      {.name = "output_shapes",
       .value = {.kind = RHEOS_ATTR_LIST_SHAPE, .shapes = &shape, .count = 1}}};
  rheos_output numbers[3];
  for (int64_t i = 0; i < 3; i++) {
    const int64_t number = i + 1;
    numbers[i] = constant(f, RHEOS_INT64, RHEOS_SCALAR, &number);
  }
  const rheos_output range =
      rheos_operation_output(add(f, "RangeDataset", numbers, 3, attrs, 2), 0);
  const rheos_output inputs[] = {range, filename};
  add(f, "CacheDataset", inputs, 2, attrs, 2);
}

static void test_graph_limits__a_cache_may_be_in_memory(void **state) {
  fixture *f = *state;
  const rheos__graph_limits no_files = {.refuses_files = true};
  cache_in(f, text(f, ""));
  check(check_graph(f, &no_files, 0));
  cache_in(f, text(f, "/tmp/cache"));
  expect_error(check_graph(f, &no_files, 0), RHEOS_PERMISSION_DENIED, "(CacheDataset) uses files");
}

static void test_graph_limits__sizes_are_held(void **state) {
  fixture *f = *state;
  const rheos__graph_limits nodes = {.max_nodes = 3}, bytes = {.max_bytes = 20};
  text(f, "a");
  text(f, "b");
  check(check_graph(f, &nodes, 1));
  expect_error(check_graph(f, &nodes, 2), RHEOS_RESOURCE_EXHAUSTED,
               "a graph of 4 nodes is more than the 3");
  expect_error(check_graph(f, &bytes, 0), RHEOS_RESOURCE_EXHAUSTED, "--max-graph-bytes");
}

static void test_graph_limits__what_is_no_graph_is_an_error(void **state) {
  (void)state;
  const rheos__graph_limits no_files = {.refuses_files = true};
  rheos_status *status = rheos__graph_limits_check(&no_files, 0, "\xff\xff\xff", 3);
  assert_non_null(status);
  rheos_status_free(status);
}

// Each allocation fails in turn; what is refused is never taken for want of memory.
static void test_graph_limits__short_memory_is_an_error(void **state) {
  fixture *f = *state;
  const rheos__graph_limits no_files = {.refuses_files = true};
  counting_allocator counter = {0};
  const rheos_allocator counting = {counting_allocate, counting_reallocate, counting_release,
                                    &counter};
  const rheos_output name = text(f, "/etc/passwd");
  void *bytes;
  size_t size;
  add(f, "ReadFile", &name, 1, NULL, 0);
  check(rheos_scope_finish(f->scope));
  check(rheos_graph_to_graph_def(f->graph, &bytes, &size));
  char *copy = malloc(size);
  memcpy(copy, bytes, size);
  rheos_free(bytes);
  rheos_code code = RHEOS_RESOURCE_EXHAUSTED;
  for (int64_t failing = 1; code == RHEOS_RESOURCE_EXHAUSTED; failing++) {
    counter.requests = 0;
    counter.fail_at = failing;
    rheos_set_allocator(&counting);
    rheos_status *status = rheos__graph_limits_check(&no_files, 0, copy, size);
    code = rheos_status_code(status);
    rheos_status_free(status);
    rheos_set_allocator(NULL);
    assert_int_equal(counter.alive, 0);
  }
  assert_int_equal(code, RHEOS_PERMISSION_DENIED);
  free(copy);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
  const struct CMUnitTest tests[] = {
      TEST(test_graph_limits__files_are_found),
      TEST(test_graph_limits__functions_of_the_program_are_found),
      TEST(test_graph_limits__an_op_may_be_told_no_file),
      TEST(test_graph_limits__a_cache_may_be_in_memory),
      TEST(test_graph_limits__sizes_are_held),
      TEST(test_graph_limits__what_is_no_graph_is_an_error),
      TEST(test_graph_limits__short_memory_is_an_error),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
