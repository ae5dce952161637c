// Clusters as JSON.
#include "net/cluster.h"

#include "ops/array_fixture.h"

static rheos_status *read(const char *text, rheos__cluster *cluster) {
  return rheos__cluster_from_json(text, strlen(text), cluster);
}

static void test_cluster__lists_tasks(void **state) {
  (void)state;
  rheos__cluster cluster;
  check(read("{\"ps\": [\"a:1\", \"b:2\"], \"worker\": {\"0\": \"c:3\", \"7\": \"[::1]:4\"}}",
             &cluster));
  static const char *const names[] = {"/job:ps/replica:0/task:0", "/job:ps/replica:0/task:1",
                                      "/job:worker/replica:0/task:0",
                                      "/job:worker/replica:0/task:7"};
  static const char *const addresses[] = {"a:1", "b:2", "c:3", "[::1]:4"};
  assert_int_equal(cluster.num_tasks, 4);
  for (int i = 0; i < 4; i++) {
    assert_string_equal(cluster.tasks[i].name, names[i]);
    assert_string_equal(cluster.tasks[i].address, addresses[i]);
  }
  int32_t index;
  check(rheos__cluster_find(&cluster, "worker", 7, &index));
  assert_int_equal(index, 3);
  expect_error(rheos__cluster_find(&cluster, "worker", 1, &index), RHEOS_NOT_FOUND,
               "no task 1 of job 'worker', only [/job:ps/replica:0/task:0, ");
  assert_int_equal(rheos__cluster_task_of(&cluster, "/job:ps/replica:0/task:1/device:CPU:0"), 1);
  assert_int_equal(rheos__cluster_task_of(&cluster, "/job:ps/replica:0/task:11/device:CPU:0"), -1);
  rheos__cluster_deinit(&cluster);
}

static void test_cluster__refuses_what_cannot_be(void **state) {
  (void)state;
  static const struct {
    const char *text, *error;
  } cases[] = {
      {"", "the cluster is no JSON"},
      {"[]", "the cluster is no JSON"},
      {"{\"ps\": \"a:1\"}", "the cluster is no JSON"},
      {"{\"ps\": [\"a:1\"]} x", "the cluster is no JSON"},
      {"{\"ps\": [\"a:1\",]}", "the cluster is no JSON"},
      {"{\"1ps\": [\"a:1\"]}", "'1ps' is no name of a job"},
      {"{\"\": [\"a:1\"]}", "'' is no name of a job"},
      {"{\"ps\": [\"a\"]}", "'a' is no address of a task: it is to be host:port"},
      {"{\"ps\": [\":1\"]}", "':1' is no address of a task"},
      {"{\"ps\": {\"0\": \"a:1\", \"0\": \"b:2\"}}", "/job:ps/replica:0/task:0 is listed twice"},
      {"{\"ps\": {\"-1\": \"a:1\"}}", "-1 is no number of a task"},
      {"{\"ps\": {\"1.5\": \"a:1\"}}", "the cluster is no JSON"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    rheos__cluster cluster;
    expect_error(read(cases[i].text, &cluster), RHEOS_INVALID_ARGUMENT, cases[i].error);
    rheos__cluster_deinit(&cluster);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_cluster__lists_tasks),
      cmocka_unit_test(test_cluster__refuses_what_cannot_be),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
