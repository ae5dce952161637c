// <rheos/rheos.hpp> without exceptions: functions give a Result or a Status.
#include "cpp_test.hpp"

static void test_results__hold_what_was_made(void **) {
  rheos::Graph graph;
  rheos::Scope s(graph);
  const auto x = rheos::placeholder(s, RHEOS_FLOAT);
  const auto y = rheos::square(s, x);
  assert_true(s.finish().ok());
  rheos::Result<rheos::Session> session = rheos::Session::make(graph);
  assert_true(session.ok());
  const rheos::Result<rheos::Tensor> three = rheos::Tensor::of(3.0F);
  rheos::Result<rheos::Tensor> nine = session->fetch(y, {{x, *three}});
  assert_true(static_cast<bool>(nine));
  assert_floats(*nine, {9});
  const auto both = session->run({{x, *three}}, {y, x});
  assert_int_equal(both->size(), 2);
}

static void test_results__hold_the_error(void **) {
  rheos::Graph graph;
  rheos::Scope s(graph);
  const auto x = rheos::placeholder(s, RHEOS_FLOAT);
  rheos::matmul(s, rheos::constant(s, 1.0F), x);
  rheos::Status status = s.finish();
  assert_int_equal(status.code(), RHEOS_INVALID_ARGUMENT);
  assert_non_null(strstr(status.message(), "test_results_cpp.cc:"));
  const rheos::Status moved = std::move(status);
  assert_true(status.ok());
  assert_false(moved.ok());

  rheos::Result<rheos::Session> session = rheos::Session::make(graph);
  rheos::Result<rheos::Tensor> fetched = session->fetch(x);
  assert_false(fetched.ok());
  assert_string_equal(fetched.status().node(), "Placeholder");
  const rheos::Status taken = fetched.take_status();
  assert_int_equal(taken.code(), RHEOS_INVALID_ARGUMENT);
  assert_int_equal(rheos::Graph::read("/nowhere").status().code(), RHEOS_NOT_FOUND);
  assert_int_equal(rheos::Session::make(rheos::GraphRef()).status().code(), RHEOS_INVALID_ARGUMENT);
}

static void test_results__of_what_a_program_calls(void **) {
  rheos::Graph graph;
  rheos::Scope s(graph);
  const auto d = rheos::Dataset::program(s, "numbers", {{RHEOS_INT64, {}}});
  assert_true(s.finish().ok());
  auto numbers = [](const char *, rheos::Tensors inputs, rheos::Span<rheos::Tensor> outputs) {
    const int64_t number = inputs[0].scalar<int64_t>();
    if (number == 2) return rheos::Status(RHEOS_OUT_OF_RANGE, "there are two");
    rheos::Result<rheos::Tensor> made = rheos::Tensor::of(10 * number);
    if (!made) return made.take_status();
    outputs[0] = std::move(*made);
    return rheos::Status();
  };
  rheos_session_options options;
  rheos::set_program_function(options, numbers);
  rheos::Result<rheos::Session> session = rheos::Session::make(graph, options);
  rheos::Result<rheos::DatasetIterator> iterator = d.iterate(*session);
  int64_t sum = 0, count = 0;
  for (auto next = iterator->next(); next.ok() && *next; next = iterator->next()) {
    sum += (**next)[0].scalar<int64_t>();
    count++;
  }
  assert_int_equal(sum, 10);
  assert_int_equal(count, 2);
}

int main() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(test_results__hold_what_was_made),
      cmocka_unit_test(test_results__hold_the_error),
      cmocka_unit_test(test_results__of_what_a_program_calls),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
