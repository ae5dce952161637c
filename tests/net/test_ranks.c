// Collectives of ranks: of eager contexts on their hosts, by a link within this process.
#include "graph/counting_allocator.h"
#include "net/member_fixture.h"
#include "net/rank_fixture.h"

static member member_of(int32_t rank, const char *type, int32_t instance) {
  return (member){.eager = eager[rank],
                  .type = type,
                  .group = 1,
                  .instance = instance,
                  .size = world.count,
                  .num_rounds = 1,
                  .dtype = RHEOS_FLOAT};
}

static rheos_tensor *tensor_of(rheos_shape shape, const float *values) {
  rheos_tensor *tensor = NULL;
  check(rheos_tensor_from_values(RHEOS_FLOAT, shape, values, &tensor));
  return tensor;
}

// Values whose sum depends on the order.
static float value_of(int32_t rank, int64_t i) {
  static const float large[] = {1e8f, 1.25f, -1e8f, 0.3f};
  return large[rank] + (float)(i % 97) * 0.1f;
}

static rheos_tensor *values_of(int32_t rank, int64_t count) {
  rheos_tensor *tensor = NULL;
  check(rheos_tensor_new(RHEOS_FLOAT, RHEOS_SHAPE(count), &tensor));
  float *values = rheos_tensor_data(tensor);
  for (int64_t i = 0; i < count; i++) values[i] = value_of(rank, i);
  return tensor;
}

static void expect_sums_in_order(const rheos_tensor *sums, int64_t count) {
  const float *values = rheos_tensor_data(sums);
  assert_int_equal(rheos_tensor_num_elements(sums), count);
  for (int64_t i = 0; i < count; i++) {
    float sum = value_of(0, i);
    for (int32_t rank = 1; rank < world.count; rank++) sum += value_of(rank, i);
    if (values[i] != sum) fail_msg("%lld: %a, not %a", (long long)i, values[i], sum);
  }
}

// ---- What comes out

// Nothing, one element, each rank merging all, segments that end in the middle.
static void test_ranks__sums_are_in_the_order_of_ranks(void **state) {
  (void)state;
  static const int64_t counts[] = {0, 1, 3, 1000, 100003, 1000001};
  for (int32_t size = 2; size <= MAX_RANKS; size++) {
    start_ranks(size);
    for (int32_t k = 0; k < (int32_t)(sizeof counts / sizeof *counts); k++) {
      member m[MAX_RANKS];
      for (int32_t i = 0; i < size; i++) {
        m[i] = member_of(i, "CollectiveReduceV2", k);
        m[i].input = values_of(i, counts[k]);
        m[i].num_rounds = 2;
      }
      run_all(m, size);
      for (int32_t i = 0; i < size; i++) {
        check(m[i].status);
        expect_sums_in_order(m[i].output, counts[k]);
      }
      drop(m, size);
    }
    end_ranks();
  }
}

static void test_ranks__other_collectives_are_those_of_a_process(void **state) {
  (void)state;
  static const char *const types[] = {"CollectiveGatherV2", "CollectiveAllToAllV2",
                                      "CollectiveReduceScatterV2"};
  static const float parts[] = {33, 36, 39};
  start_ranks(3);
  for (int32_t k = 0; k < 3; k++) {
    member m[3];
    for (int32_t i = 0; i < 3; i++) {
      const float first = (float)(10 * i);
      m[i] = member_of(i, types[k], k);
      m[i].input = tensor_of(RHEOS_SHAPE(3), (const float[]){first + 1, first + 2, first + 3});
    }
    run_all(m, 3);
    for (int32_t i = 0; i < 3; i++) {
      const float from = (float)(i + 1);
      const float gathered[] = {1, 2, 3, 11, 12, 13, 21, 22, 23};
      const float dealt[] = {from, from + 10, from + 20};
      check(m[i].status);
      if (k == 0) expect_floats(m[i].output, RHEOS_SHAPE(9), gathered);
      if (k == 1) expect_floats(m[i].output, RHEOS_SHAPE(3), dealt);
      if (k == 2) expect_floats(m[i].output, RHEOS_SHAPE(1), &parts[i]);
      m[i].output = NULL;
    }
    drop(m, 3);
  }
  end_ranks();
}

static void test_ranks__any_rank_may_be_the_source(void **state) {
  (void)state;
  start_ranks(3);
  for (int32_t source = 0; source < 3; source++) {
    member m[3];
    const float values[] = {(float)source, 7};
    for (int32_t i = 0; i < 3; i++) {
      m[i] = member_of(i, i == source ? "CollectiveBcastSendV2" : "CollectiveBcastRecvV2", 1);
      m[i].shape = RHEOS_SHAPE(2);
      if (i == source) m[i].input = tensor_of(RHEOS_SHAPE(2), values);
    }
    run_all(m, 3);
    for (int32_t i = 0; i < 3; i++) {
      check(m[i].status);
      expect_floats(m[i].output, RHEOS_SHAPE(2), values);
      m[i].output = NULL;
    }
    drop(m, 3);
  }
  end_ranks();
}

// Each rank comes to many instances, in an order of its own.
static void test_ranks__who_comes_when_does_not_matter(void **state) {
  (void)state;
  enum { INSTANCES = 12, SIZE = 3 };
  start_ranks(SIZE);
  member m[SIZE * INSTANCES];
  for (int32_t rank = 0; rank < SIZE; rank++) {
    for (int32_t i = 0; i < INSTANCES; i++) {
      member *one = &m[rank * INSTANCES + i];
      *one = member_of(rank, "CollectiveReduceV2", i);
      one->input = values_of(rank, 10 + 1000 * (i % 5));
      one->delay_us = (rank == 1 ? INSTANCES - i : rank == 2 ? i * 5 % INSTANCES : i) * 2000;
    }
  }
  run_all(m, SIZE * INSTANCES);
  for (int32_t i = 0; i < SIZE * INSTANCES; i++) {
    check(m[i].status);
    expect_sums_in_order(m[i].output, 10 + 1000 * (i % INSTANCES % 5));
  }
  drop(m, SIZE * INSTANCES);
  end_ranks();
}

// ---- What goes wrong

static void test_ranks__what_does_not_fit_ends_a_round_for_all(void **state) {
  (void)state;
  start_ranks(2);
  for (int32_t round = 0; round < 2; round++) {
    member m[2];
    for (int32_t i = 0; i < 2; i++) {
      m[i] = member_of(i, "CollectiveReduceV2", 1);
      m[i].input = values_of(i, round == 0 ? 2 + i : 2);
    }
    run_all(m, 2);
    for (int32_t i = 0; i < 2; i++) {
      if (round == 0) expect_error(m[i].status, RHEOS_INVALID_ARGUMENT, "Shape mismatch");
      if (round == 1) check(m[i].status);
      if (round == 1) expect_sums_in_order(m[i].output, 2);
    }
    drop(m, 2);
  }
  end_ranks();
}

static void test_ranks__a_group_is_of_all_ranks(void **state) {
  (void)state;
  start_ranks(3);
  member m = member_of(1, "CollectiveReduceV2", 1);
  m.size = 2;
  m.input = values_of(1, 2);
  run_member(&m);
  expect_error(m.status, RHEOS_INVALID_ARGUMENT, "has to be of all 3 ranks");
  drop(&m, 1);
  end_ranks();
}

static void test_ranks__a_broadcast_has_one_source(void **state) {
  (void)state;
  start_ranks(2);
  for (int32_t sources = 0; sources <= 2; sources += 2) {
    member m[2];
    for (int32_t i = 0; i < 2; i++) {
      m[i] = member_of(i, sources > 0 ? "CollectiveBcastSendV2" : "CollectiveBcastRecvV2", sources);
      m[i].shape = RHEOS_SHAPE(2);
      if (sources > 0) m[i].input = values_of(i, 2);
    }
    run_all(m, 2);
    for (int32_t i = 0; i < 2; i++) {
      expect_error(m[i].status, RHEOS_INTERNAL, sources > 0 ? "second claim" : "no source");
    }
    drop(m, 2);
  }
  end_ranks();
}

static void test_ranks__who_is_stopped_ends_it_for_others(void **state) {
  (void)state;
  start_ranks(3);
  member m[3];
  for (int32_t i = 0; i < 3; i++) {
    m[i] = member_of(i, "CollectiveReduceV2", 1);
    m[i].input = values_of(i, 2);
  }
  m[1].timeout_ms = 50;
  m[2].delay_us = 200000;  // comes when it is over
  run_all(m, 3);
  expect_error(m[0].status, RHEOS_CANCELLED, "task:1 has left");
  expect_error(m[1].status, RHEOS_DEADLINE_EXCEEDED, "group 1, instance 1");
  expect_error(m[2].status, RHEOS_CANCELLED, "task:1 has left");
  m[0].status = m[1].status = m[2].status = NULL;
  m[1].timeout_ms = 0;
  run_all(m, 3);
  for (int32_t i = 0; i < 3; i++) {
    check(m[i].status);
    expect_sums_in_order(m[i].output, 2);
  }
  drop(m, 3);
  end_ranks();
}

static void test_ranks__an_op_may_wait_so_long_only(void **state) {
  (void)state;
  start_ranks(2);
  member m = member_of(0, "CollectiveReduceV2", 1);
  m.input = values_of(0, 2);
  m.timeout_s = 0.05f;
  run_member(&m);
  expect_error(m.status, RHEOS_DEADLINE_EXCEEDED, "task:0/device:CPU:0 waited 0.05 s in group 1");
  drop(&m, 1);
  end_ranks();
}

static void test_ranks__a_rank_that_has_ended_is_named(void **state) {
  (void)state;
  start_ranks(2);
  pthread_t ending;
  assert_int_equal(pthread_create(&ending, NULL, end_rank, &ranks[1]), 0);
  member m = member_of(0, "CollectiveReduceV2", 1);
  m.input = values_of(0, 2);
  for (int round = 0; round < 2; round++) {
    run_member(&m);
    expect_error(m.status, RHEOS_UNAVAILABLE, "/job:worker/task:1 has ended");
    m.status = NULL;
  }
  drop(&m, 1);
  end_rank(&ranks[0]);
  pthread_join(ending, NULL);
}

// ---- Want of memory

static counting_allocator counter;

// A sum that has been planned, so that only taking part in it is left.
typedef struct planned {
  pthread_t thread;
  rheos_region *region;
  rheos_tensor *inputs[4], *output;
  rheos_status *status;
} planned;

static void plan_sum(planned *p, int32_t rank) {
  const int32_t size = world.count, key = 1;
  const rheos_attr merged[] = {rheos_attr_string("merge_op", "Add", 3),
                               rheos_attr_string("final_op", "Id", 2)};
  *p = (planned){.inputs = {values_of(rank, 1000), ints_tensor(RHEOS_SCALAR, &size),
                            ints_tensor(RHEOS_SCALAR, &key), ints_tensor(RHEOS_SCALAR, &key)}};
  const rheos_eager_op op = {.type = "CollectiveReduceV2",
                             .inputs = p->inputs,
                             .num_inputs = 4,
                             .attrs = merged,
                             .num_attrs = 2};
  check(rheos_eager_region(eager[rank], &op, &p->region));
}

static void *run_planned(void *argument) {
  planned *p = argument;
  const rheos_run_options options = {.timeout_ms = 25};
  p->status = rheos_region_run(p->region, p->inputs, &p->output, &options);
  return NULL;
}

static void drop_planned(planned *p) {
  for (int i = 0; i < 4; i++) rheos_tensor_unref(p->inputs[i]);
  rheos_tensor_unref(p->output);
  rheos_region_unref(p->region);
  rheos_status_free(p->status);
}

// Each allocation fails in turn: a rank that has no memory says so, the other one is told, and
// who gets a sum gets the right one.
static void test_ranks__want_of_memory_ends_the_wait(void **state) {
  (void)state;
  int num_failed = 0;
  bool has_failed = true;
  for (int64_t at = 1; has_failed; at++) {
    counter = (counting_allocator){0};
    counting_allocator_install(&counter);
    planned p[2];
    start_ranks(2);
    for (int32_t i = 0; i < 2; i++) plan_sum(&p[i], i);
    counter.requests = 0;
    counter.fail_at = at;
    for (int32_t i = 0; i < 2; i++) {
      assert_int_equal(pthread_create(&p[i].thread, NULL, run_planned, &p[i]), 0);
    }
    for (int32_t i = 0; i < 2; i++) pthread_join(p[i].thread, NULL);
    counter.fail_at = 0;
    has_failed = counter.requests >= at;
    for (int32_t i = 0; i < 2; i++) {
      num_failed += rheos_status_code(p[i].status) == RHEOS_RESOURCE_EXHAUSTED;
      if (p[i].status == NULL) expect_sums_in_order(p[i].output, 1000);
      drop_planned(&p[i]);
    }
    end_ranks();
    assert_int_equal(counter.alive, 0);
    rheos_set_allocator(NULL);
  }
  assert_true(num_failed > 1);
}

static void test_ranks__there_are_none_without_mpirun(void **state) {
  (void)state;
  rheos_ranks *none;
  unsetenv("OMPI_COMM_WORLD_SIZE");
  unsetenv("PMI_SIZE");
  unsetenv("PMIX_RANK");
  assert_false(rheos_ranks_are_there());
  expect_error(rheos_ranks_join(&none), RHEOS_FAILED_PRECONDITION, "mpirun has not started it");
  assert_null(none);
  setenv("PMI_SIZE", "1", 1);
  assert_false(rheos_ranks_are_there());
  setenv("PMI_SIZE", "2", 1);
  assert_true(rheos_ranks_are_there());
  unsetenv("PMI_SIZE");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_ranks__sums_are_in_the_order_of_ranks),
      cmocka_unit_test(test_ranks__other_collectives_are_those_of_a_process),
      cmocka_unit_test(test_ranks__any_rank_may_be_the_source),
      cmocka_unit_test(test_ranks__who_comes_when_does_not_matter),
      cmocka_unit_test(test_ranks__what_does_not_fit_ends_a_round_for_all),
      cmocka_unit_test(test_ranks__a_group_is_of_all_ranks),
      cmocka_unit_test(test_ranks__a_broadcast_has_one_source),
      cmocka_unit_test(test_ranks__who_is_stopped_ends_it_for_others),
      cmocka_unit_test(test_ranks__an_op_may_wait_so_long_only),
      cmocka_unit_test(test_ranks__a_rank_that_has_ended_is_named),
      cmocka_unit_test(test_ranks__want_of_memory_ends_the_wait),
      cmocka_unit_test(test_ranks__there_are_none_without_mpirun),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
