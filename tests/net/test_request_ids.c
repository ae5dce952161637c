// Ids that were seen lately.
#include "net/request_ids.h"

#include "ops/array_fixture.h"

static void expect_seen(rheos__request_ids *ids, uint64_t id) {
  expect_error(rheos__request_ids_add(ids, id, "RunGraph"), RHEOS_ABORTED,
               "The same RunGraph request was received twice");
}

static void test_request_ids__knows_the_last_ones(void **state) {
  (void)state;
  rheos__request_ids ids;
  rheos__request_ids_init(&ids);
  const uint64_t count = 5 * RHEOS__REQUEST_IDS_MOST / 2;
  for (uint64_t i = 1; i <= count; i++) {
    check(rheos__request_ids_add(&ids, i * 0x100000001u, "RunGraph"));
    expect_seen(&ids, i * 0x100000001u);
    const uint64_t early = i > RHEOS__REQUEST_IDS_MOST ? i - RHEOS__REQUEST_IDS_MOST + 1 : 1;
    expect_seen(&ids, early * 0x100000001u);
  }
  check(rheos__request_ids_add(&ids, 0x100000001u, "RunGraph"));  // it is long ago
  check(rheos__request_ids_add(&ids, 0, "RunGraph"));
  check(rheos__request_ids_add(&ids, 0, "RunGraph"));
  rheos__request_ids_deinit(&ids);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_request_ids__knows_the_last_ones),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
