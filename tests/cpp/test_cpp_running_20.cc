// <rheos/rheos.hpp> as C++20: options by name, datasets, files, eager execution, what looks on,
// servers.
#include "cpp_test.hpp"

#include <atomic>
#include <span>
#include <thread>

static void test_options__are_given_by_name(void **) {
  rheos::Graph graph;
  rheos::Scope s(graph);
  const auto x = rheos::placeholder(s, RHEOS_FLOAT, {.shape = rheos::Shape{-1, 2}, .name = "x"});
  const auto y = rheos::matmul(s, x, x, {.transpose_b = true});
  const auto leaky = rheos::leaky_relu(s, rheos::constant(s, -1.0F), {.alpha = 0.5F});
  const auto strided =
      rheos::squeeze(s, rheos::constant(s, {1, 2}, {1.0F, 2.0F}), {.squeeze_dims = {0}});
  s.finish();
  assert_string_equal(x.shape().format().c_str(), "[?,2]");
  rheos::Session session(graph, {.num_threads = 2});
  const std::vector<float> values = {1, 2};
  const rheos::Tensor row =
      rheos::Tensor::from_values<float>({1, 2}, std::span<const float>(values));
  assert_floats(session.fetch(y, {{x, row}}, {.timeout_ms = 60000}), {5});
  assert_floats(session.fetch(leaky), {-0.5F});
  assert_true(session.fetch(strided).shape() == rheos::Shape({2}));
}

// ---- Datasets, records, events

static void test_datasets__map_and_batch(void **) {
  rheos::Graph graph;
  rheos::Scope s(graph);
  rheos::Function twice(s, "twice");
  const auto number = twice.argument("x", RHEOS_INT64, {});
  twice.result("y", rheos::add(twice.scope(), number, number));
  assert_true(twice.finish(s));
  const auto d = rheos::Dataset::range(s, 0, 5).map(s, twice).skip(s, 1).batch(s, 2).prefetch(s, 1);
  s.finish();
  assert_int_equal(d.num_components(), 1);
  rheos::Session session(graph);
  auto batches = d.iterate(session);
  std::vector<int64_t> seen;
  while (auto batch = batches.next()) {
    for (const int64_t value : (*batch)[0].values<int64_t>()) seen.push_back(value);
  }
  assert_true(seen == (std::vector<int64_t>{2, 4, 6, 8}));
  assert_true(!batches.explain().empty());
}

static void test_datasets__call_the_program(void **) {
  rheos::Graph graph;
  rheos::Scope s(graph);
  const auto d = rheos::Dataset::range(s, 0, 3).map_program(s, "half", {{RHEOS_FLOAT, {}}});
  s.finish();
  auto half = [](const char *, rheos::Tensors in, rheos::Span<rheos::Tensor> out) {
    if (in[0].scalar<int64_t>() == 2) throw std::runtime_error("two has no half");
    out[0] = rheos::Tensor::of(0.5F * static_cast<float>(in[0].scalar<int64_t>()));
  };
  rheos_session_options options;
  rheos::set_program_function(options, half);
  rheos::Session session(graph, options);
  auto halves = d.iterate(session);
  assert_floats((*halves.next())[0], {0});
  assert_floats((*halves.next())[0], {0.5F});
  const std::string message = assert_throws(RHEOS_UNKNOWN, [&] { halves.next(); });
  assert_non_null(strstr(message.c_str(), "two has no half"));
}

static void test_records__hold_examples(void **) {
  const Folder folder;
  const std::string path = folder / "a.tfrecord";
  auto writer = rheos::RecordWriter::open(path);
  rheos::ExampleBuilder builder;
  for (int64_t i = 0; i < 3; i++) {
    builder.clear();
    builder.add_ints("i", {i});
    builder.add_floats("f", {1.5F, 2.5F});
    builder.add_text("t", "text");
    writer.write(builder.example());
  }
  writer.close();
  auto reader = rheos::RecordReader::open(path);
  const auto example = rheos::Example::read(reader.next());
  assert_int_equal(example.num_features(), 3);
  assert_true(example.find("f")->floats()[1] == 2.5F);
  assert_int_equal(example.find("f")->ints().size(), 0);
  assert_string_equal(rheos::to_string(example.find("t")->strings()[0]).c_str(), "text");
  assert_false(example.find("g").has_value());
  const std::vector<rheos_feature_spec> specs = {{"i", RHEOS_INT64, rheos::Shape(), nullptr}};
  assert_int_equal(rheos::example_parse(reader.next(), specs)[0].scalar<int64_t>(), 1);
  reader.next();
  assert_throws(RHEOS_OUT_OF_RANGE, [&] { reader.next(); });
}

static void test_events__are_written_and_read(void **) {
  const Folder folder;
  auto writer = rheos::EventWriter::open(folder / "logs");
  const std::string path = writer.path();
  writer.add_scalar("loss", 0.5F, 7);
  writer.add_histogram("w", rheos::Tensor::of({1.0F, 2.0F}), 7);
  writer.close();
  auto reader = rheos::EventReader::open(path);
  assert_int_equal(reader.next().kind, RHEOS_EVENT_FILE_VERSION);
  assert_int_equal(reader.next().step, 7);
  assert_string_equal(reader.values()[0].tag, "loss");
}

static void test_npz__holds_named_arrays(void **) {
  const rheos::Bytes bytes = rheos::npz_encode({"a"}, {rheos::Tensor::of({1.0F, 2.0F})});
  const auto npz = rheos::Npz::open(bytes);
  assert_string_equal(npz.name(0), "a");
  assert_floats(npz.read(0), {1, 2});
  assert_throws(RHEOS_INVALID_ARGUMENT, [] { rheos::npz_encode({"a", "b"}, {}); });
}

// ---- Eager execution

static void test_eager__runs_and_differentiates(void **) {
  const auto eager = rheos::Eager::make();
  const rheos::Tensor x = rheos::Tensor::of(3.0F);
  auto tape = rheos::Tape::make(eager);
  tape.watch(x);
  tape.record();
  const rheos::Tensor y = eager.execute_one("Square", {x});
  tape.stop();
  assert_floats(y, {9});
  assert_true(tape.is_watched(x));
  assert_floats(tape.gradient({y}, {x})[0].values, {6});
  assert_true(eager.copy(y, "/device:CPU:0").get() == y.get());  // it lies there
  const rheos::Region sum = eager.region("AddV2", {x, x});
  assert_floats(sum.run({x, y})[0], {12});
  assert_throws(RHEOS_INVALID_ARGUMENT, [&] { sum.run({x}); });
  assert_throws(RHEOS_INVALID_ARGUMENT, [&] { tape.gradient({y}, {x}, {x, x}); });
}

static void test_eager__is_watched(void **) {
  const auto eager = rheos::Eager::make();
  std::vector<std::string> names;
  auto note = [&](const rheos_seen &seen) { names.push_back(seen.name); };
  rheos_watch_options options = {.what = RHEOS_WATCH_STATISTICS};
  rheos::set_seen_function(options, note);
  {
    const rheos::Watch watch = eager.watch(options);
    eager.execute_one("Square", {rheos::Tensor::of(3.0F)});
    assert_true(watch.has_matched());
  }
  eager.execute_one("Square", {rheos::Tensor::of(3.0F)});
  assert_true(names == std::vector<std::string>{"Square:0"});
}

static void test_eager__has_gradients_of_the_program(void **) {
  const auto eager = rheos::Eager::make();
  const rheos::Tensor x = rheos::Tensor::of(3.0F), y = rheos::Tensor::of(100.0F);
  auto counted = std::make_shared<int>(0);
  {
    auto tape = rheos::Tape::make(eager);
    tape.watch(x);
    tape.record();
    eager.record({x}, {y}, [counted](rheos::Tensors out, rheos::Span<rheos_tensor_gradient> in) {
      in[0].values = rheos::Tensor(out[0]).release();
      ++*counted;
    });
    tape.stop();
    assert_floats(tape.gradient({y}, {x}, {rheos::Tensor::of(7.0F)})[0].values, {7});
  }
  assert_int_equal(*counted, 1);
  assert_int_equal(counted.use_count(), 1);
}

// ---- Threads, deadlines, what looks on

static void test_threads__share_a_session(void **) {
  rheos::Graph graph;
  rheos::Scope s(graph);
  const auto x = rheos::placeholder(s, RHEOS_FLOAT);
  const auto y = rheos::square(s, x);
  s.finish();
  const rheos::Session session(graph);
  std::atomic<int> right{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; i++) {
    threads.emplace_back([&, i] {
      const float value = static_cast<float>(i);
      for (int run = 0; run < 50; run++) {
        const rheos::Tensor fetched = session.fetch(y, {{x, rheos::Tensor::of(value)}});
        right += fetched.scalar<float>() == value * value;
      }
    });
  }
  for (std::thread &thread : threads) thread.join();
  assert_int_equal(right, 200);
}

static void test_queues__hand_elements_between_threads(void **) {
  rheos::Graph graph;
  rheos::Scope s(graph);
  const auto queue = rheos::fifo_queue_v2(s, {RHEOS_FLOAT}, {.capacity = 2});
  const auto x = rheos::placeholder(s, RHEOS_FLOAT, {.shape = rheos::Shape()});
  const auto enqueue = rheos::queue_enqueue_v2(s, queue, {x});
  const auto dequeue = rheos::queue_dequeue_v2(s, queue, {RHEOS_FLOAT});
  const auto close = rheos::queue_close_v2(s, queue);
  s.finish();
  const rheos::Session session(graph);
  std::thread producer([&] {
    for (int i = 1; i <= 10; i++) {
      session.run_target(enqueue, {{x, rheos::Tensor::of(static_cast<float>(i))}});
    }
    session.run_target(close);
  });
  float sum = 0;
  for (int i = 0; i < 10; i++) sum += session.fetch(dequeue.output(0)).scalar<float>();
  producer.join();
  assert_true(sum == 55);
  assert_throws(RHEOS_OUT_OF_RANGE, [&] { session.fetch(dequeue.output(0)); });
}

static void test_runs__are_cancelled(void **) {
  rheos::Graph graph;
  rheos::Scope s(graph);
  const auto x = rheos::constant(s, 1.0F);
  s.finish();
  const rheos::Session session(graph);
  rheos::Cancellation cancellation;
  cancellation.cancel();
  assert_throws(RHEOS_CANCELLED,
                [&] { session.fetch(x, {}, {.cancellation = cancellation.get()}); });
}

static void test_traces__profiles_and_watches(void **) {
  rheos::Graph graph;
  rheos::Scope s(graph);
  const auto x = rheos::placeholder(s, RHEOS_FLOAT);
  const auto y = rheos::log(s, x, {.name = "y"});
  s.finish();
  rheos::Session session(graph);
  std::vector<std::string> names;
  auto note = [&](const rheos_seen &seen) { names.push_back(seen.name); };
  rheos_watch_options options = {.names = "y", .what = RHEOS_WATCH_STATISTICS};
  rheos::set_seen_function(options, note);
  rheos::Trace trace;
  {
    const rheos::Watch watch = session.watch(options);
    session.fetch(y, {{x, rheos::Tensor::of(1.0F)}}, {.trace = trace.get()});
  }
  session.fetch(y, {{x, rheos::Tensor::of(1.0F)}});
  assert_true(names == std::vector<std::string>{"y:0"});
  assert_non_null(strstr(trace.to_chrome().c_str(), "\"y\""));
  assert_true(trace.to_run_metadata().size() > 0);
  rheos::Profile profile;
  assert_true(profile.add(trace) > 0);
  assert_true(profile.num_ops() > 0);
}

static void test_lint__finds_a_mistake(void **) {
  rheos::Graph graph;
  rheos::Scope s(graph);
  const auto logits = rheos::placeholder(s, RHEOS_FLOAT);
  const auto labels = rheos::placeholder(s, RHEOS_FLOAT);
  rheos::softmax_cross_entropy_with_logits(s, rheos::softmax(s, logits), labels);
  s.finish();
  const rheos::Lint lint = rheos::Lint::look(graph);
  assert_int_equal(lint.num_findings(), 1);
  assert_string_equal(lint.finding_at(0)->rule->name, "double-softmax");
}

static void test_server__takes_steps(void **) {
  rheos::Server server;
  try {
    server = rheos::Server::make({.cluster = "{\"local\": [\"localhost:0\"]}", .job = "local"});
  } catch (const rheos::Error &error) {
    assert_int_equal(error.code(), RHEOS_UNIMPLEMENTED);
    skip_this_test();
  }
  rheos::Graph graph;
  rheos::Scope s(graph);
  const auto y = rheos::square(s, rheos::constant(s, 3.0F));
  s.finish();
  {
    const rheos::Session session(graph, {.target = server.target()});
    assert_floats(session.fetch(y), {9});
  }
  server.stop();
}

int main() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(test_options__are_given_by_name),
      cmocka_unit_test(test_datasets__map_and_batch),
      cmocka_unit_test(test_datasets__call_the_program),
      cmocka_unit_test(test_records__hold_examples),
      cmocka_unit_test(test_events__are_written_and_read),
      cmocka_unit_test(test_npz__holds_named_arrays),
      cmocka_unit_test(test_eager__runs_and_differentiates),
      cmocka_unit_test(test_eager__is_watched),
      cmocka_unit_test(test_eager__has_gradients_of_the_program),
      cmocka_unit_test(test_threads__share_a_session),
      cmocka_unit_test(test_queues__hand_elements_between_threads),
      cmocka_unit_test(test_runs__are_cancelled),
      cmocka_unit_test(test_traces__profiles_and_watches),
      cmocka_unit_test(test_lint__finds_a_mistake),
      cmocka_unit_test(test_server__takes_steps),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
