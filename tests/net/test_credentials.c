// Which credentials can be used, and where a token may go. What they do is
// tests/python/training/test_cluster_credentials.py.
#include "net/credentials.h"

#include <stdlib.h>
#include <unistd.h>

#include "graph/counting_allocator.h"
#include "graph/graph_fixture.h"

#define PEM "-----BEGIN CERTIFICATE-----\n"
#define KEY "-----BEGIN PRIVATE KEY-----\n"

static void expect_refused(rheos_credentials given, const char *fact) {
  rheos__credentials c;
  expect_status_take(rheos__credentials_init(&c, &given), RHEOS_INVALID_ARGUMENT, fact);
  rheos__credentials_deinit(&c);
}

static void test_credentials__what_cannot_be_used_is_named(void **state) {
  (void)state;
  expect_refused((rheos_credentials){.token = ""}, "empty");
  expect_refused((rheos_credentials){.token = "a b"}, "without spaces");
  expect_refused((rheos_credentials){.token = "a\n"}, "without spaces");
  expect_refused((rheos_credentials){.tls_ca = "ca.pem"}, "the CA");
  expect_refused((rheos_credentials){.tls_certificate = PEM}, "its private key");
  expect_refused((rheos_credentials){.tls_private_key = KEY}, "its certificate");
}

static void test_credentials__those_of_the_environment_are_read(void **state) {
  (void)state;
  char path[] = "/tmp/rheos-token-XXXXXX";
  const int fd = mkstemp(path);
  assert_int_equal(write(fd, "secret\n", 7), 7);
  close(fd);
  setenv("RHEOS_TOKEN_FILE", path, 1);
  rheos__credentials c;
  assert_ok(rheos__credentials_init(&c, NULL));
  assert_string_equal(c.token, "secret");
  rheos__credentials_deinit(&c);
  const rheos_credentials given = {.token = "other"};
  assert_ok(rheos__credentials_init(&c, &given));
  assert_string_equal(c.token, "other");
  rheos__credentials_deinit(&c);
  unlink(path);
  expect_status_take(rheos__credentials_init(&c, NULL), RHEOS_NOT_FOUND, "RHEOS_TOKEN_FILE");
  rheos__credentials_deinit(&c);
  unsetenv("RHEOS_TOKEN_FILE");
}

static void test_credentials__loopback_is_this_machine(void **state) {
  (void)state;
  static const char *const here[] = {"localhost:1", "localhost", "127.0.0.1:1", "127.1.2.3:4",
                                     "[::1]:5"};
  static const char *const elsewhere[] = {
      "0.0.0.0:1", "localhost.example:1", "10.0.0.1:1", "[::]:1", "", "host:127"};
  for (size_t i = 0; i < sizeof here / sizeof *here; i++) {
    assert_true(rheos__is_loopback(here[i]));
  }
  for (size_t i = 0; i < sizeof elsewhere / sizeof *elsewhere; i++) {
    assert_false(rheos__is_loopback(elsewhere[i]));
  }
}

static bool connect_to(const rheos__connect *options, rheos__channel **out_channel, char *error) {
  (void)out_channel;
  snprintf(error, RHEOS__TRANSPORT_ERROR_BYTES, "%s, %s", options->keys != NULL ? "TLS" : "open",
           options->token != NULL ? options->token : "no token");
  return false;
}

static void expect_sent(rheos_credentials given, const char *address, rheos_code code,
                        const char *fact) {
  const rheos__transport transport = {.connect = connect_to};
  rheos__credentials c;
  rheos__channel *channel;
  assert_ok(rheos__credentials_init(&c, &given));
  expect_status_take(rheos__credentials_connect(&c, &transport, "the server", address, &channel),
                     code, fact);
  rheos__credentials_deinit(&c);
}

static void test_credentials__a_token_is_not_sent_in_the_open(void **state) {
  (void)state;
  const rheos_credentials open = {.token = "secret"}, safe = {.token = "secret", .tls_ca = PEM};
  expect_sent(open, "localhost:1", RHEOS_UNAVAILABLE, "open, secret");
  expect_sent(open, "host:1", RHEOS_UNAUTHENTICATED, "the server at host:1");
  expect_sent(safe, "host:1", RHEOS_UNAVAILABLE, "TLS, secret");
}

static void test_credentials__a_token_is_not_asked_for_in_the_open(void **state) {
  (void)state;
  const rheos_credentials given = {.token = "secret"};
  rheos__credentials c;
  rheos__listen listen = {.address = "0.0.0.0:1"};
  assert_ok(rheos__credentials_init(&c, &given));
  expect_status_take(rheos__credentials_listen(&c, false, &listen), RHEOS_INVALID_ARGUMENT,
                     "needs a certificate");
  listen.address = "127.0.0.1:1";
  assert_ok(rheos__credentials_listen(&c, false, &listen));
  assert_string_equal(listen.token, "secret");
  rheos__credentials_deinit(&c);
}

// Each allocation fails in turn.
static void test_credentials__short_memory_is_an_error(void **state) {
  (void)state;
  counting_allocator counter = {0};
  const rheos_allocator counting = {counting_allocate, counting_reallocate, counting_release,
                                    &counter};
  const rheos_credentials given = {
      .tls_ca = PEM, .tls_certificate = PEM, .tls_private_key = KEY, .token = "secret"};
  int64_t num_failed = 0;
  rheos_set_allocator(&counting);
  for (rheos_code code = RHEOS_RESOURCE_EXHAUSTED; code != RHEOS_OK; num_failed++) {
    rheos__credentials c;
    counter.requests = 0;
    counter.fail_at = num_failed + 1;
    rheos_status *status = rheos__credentials_init(&c, &given);
    code = rheos_status_code(status);
    assert_true(code == RHEOS_OK || code == RHEOS_RESOURCE_EXHAUSTED);
    rheos_status_free(status);
    rheos__credentials_deinit(&c);
    assert_int_equal(counter.alive, 0);
  }
  rheos_set_allocator(NULL);
  assert_int_equal(num_failed, 5);  // four texts, and none
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_credentials__what_cannot_be_used_is_named),
      cmocka_unit_test(test_credentials__those_of_the_environment_are_read),
      cmocka_unit_test(test_credentials__loopback_is_this_machine),
      cmocka_unit_test(test_credentials__a_token_is_not_sent_in_the_open),
      cmocka_unit_test(test_credentials__a_token_is_not_asked_for_in_the_open),
      cmocka_unit_test(test_credentials__short_memory_is_an_error),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
