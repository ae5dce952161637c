// <rheos/rheos.hpp>: values, graphs, sessions, errors as exceptions.
#include "cpp_test.hpp"

// ---- Lists and texts

static size_t count_of(rheos::Span<const int64_t> list) { return list.size(); }

static void test_span__takes_what_has_elements(void **) {
  const std::vector<int64_t> vector = {1, 2, 3};
  const int64_t array[] = {1, 2};
  assert_int_equal(count_of({}), 0);
  assert_int_equal(count_of({5}), 1);
  assert_int_equal(count_of(vector), 3);
  assert_int_equal(count_of(array), 2);
  assert_int_equal(count_of(std::vector<int64_t>(4)), 4);
  static_assert(!std::is_convertible_v<std::vector<int32_t>, rheos::Span<const int64_t>>);
  static_assert(!std::is_convertible_v<std::vector<rheos::Operation>, rheos::Outputs>);
  static_assert(std::is_convertible_v<std::vector<rheos::Output>, rheos::Outputs>);
}

// ---- Shapes and tensors

static void test_shape__is_written_as_a_list(void **) {
  const rheos::Shape shape = {2, -1, 3};
  assert_int_equal(shape.rank, 3);
  assert_false(shape.is_known());
  assert_string_equal(shape.format().c_str(), "[2,?,3]");
  assert_int_equal(rheos::Shape().num_elements(), 1);
  assert_true(rheos::Shape({2, 3}) == RHEOS_SHAPE(2, 3));
  assert_true(rheos::Shape({2, 3}) != rheos::Shape::unknown());
  assert_true(shape.is_compatible({2, 7, 3}));
  assert_throws(RHEOS_INVALID_ARGUMENT,
                [] { rheos::Tensor::make(RHEOS_FLOAT, {1, 1, 1, 1, 1, 1, 1, 1, 1}); });
}

static void test_tensor__has_the_values_it_is_made_of(void **) {
  const rheos::Tensor tensor = rheos::Tensor::from_values({2, 2}, {1.0, 2.0, 3.0, 4.0});
  assert_int_equal(tensor.dtype(), RHEOS_DOUBLE);
  assert_int_equal(tensor.size_bytes(), 32);
  assert_true(tensor.values<double>()[3] == 4);
  assert_int_equal(tensor.values<float>().size(), 0);
  assert_int_equal(rheos::Tensor().values<float>().size(), 0);
  assert_true(rheos::Tensor::of(true).scalar<bool>());
  assert_true(rheos::Tensor::of({1, 2, 3}).shape() == rheos::Shape({3}));
  const rheos::Tensor text = rheos::Tensor::of("ab");
  assert_string_equal(rheos::to_string(text.scalar<rheos_string>()).c_str(), "ab");
  const std::string message =
      assert_throws(RHEOS_INVALID_ARGUMENT, [] { rheos::Tensor::from_values<float>({3}, {1, 2}); });
  assert_string_equal(message.c_str(), "2 values for the shape [3]");
}

static void test_tensor__copies_share_and_moves_empty(void **) {
  rheos::Tensor a = rheos::Tensor::of({1.0F, 2.0F});
  rheos::Tensor b = a;
  assert_ptr_equal(a.data(), b.data());
  rheos::Tensor c = std::move(a);
  assert_false(static_cast<bool>(a));
  assert_ptr_equal(b.get(), c.get());
  a = c.copy();
  assert_ptr_not_equal(a.data(), c.data());
  b = b;
  assert_floats(b, {1, 2});
  assert_floats(b.reshaped({2, 1}), {1, 2});
  assert_floats(b.filled({4}), {1, 2, 2, 2});
  assert_true(b.statistics().mean == 1.5);
  assert_int_equal(b.histogram().counts[0], 1);
  const rheos::Bytes npy = b.npy_encode();
  assert_floats(rheos::Tensor::npy_decode(npy), {1, 2});
}

static void test_tensor__borrows_and_releases(void **) {
  float bytes[] = {1, 2};
  int released = 0;
  {
    const rheos::Tensor tensor = rheos::Tensor::borrow_data(
        RHEOS_FLOAT, {2}, bytes, [](void *count) { ++*static_cast<int *>(count); }, &released);
    assert_ptr_equal(tensor.data(), bytes);
  }
  assert_int_equal(released, 1);
}

// ---- Graphs

static void test_graph__is_built_and_run(void **) {
  rheos::Graph graph;
  rheos::Scope s(graph);
  const auto x = rheos::placeholder(s, RHEOS_FLOAT);
  const auto w = rheos::constant(s, {2, 2}, {1.0F, 2.0F, 3.0F, 4.0F}, "w");
  rheos::matmul_options options;
  options.transpose_b = true;
  options.name = "y";
  const auto y = rheos::matmul(s, x, w, options);
  const auto top = rheos::top_k(s, y, 1);
  s.finish();
  assert_string_equal(y.operation().name().c_str(), "y");
  assert_true(graph.operation("y").attr("transpose_b").b);
  assert_int_equal(y.operation().num_inputs(), 2);
  assert_int_equal(w.consumers().size(), 1);
  assert_string_equal(rheos::OpDef::find("MatMul").input(0).name, "a");
  assert_int_equal(y.operation().source().second, __LINE__ - 8);

  rheos::Session session(graph);
  const rheos::Tensor row = rheos::Tensor::from_values<float>({1, 2}, {1, 1});
  assert_floats(session.fetch(y, {{x, row}}), {3, 7});
  const std::vector<rheos::Tensor> both = session.run({{x, row}}, {y, top.values});
  assert_floats(both[1], {7});
  assert_floats(session.run_named({{"Placeholder", row}}, {"y"})[0], {3, 7});
  const rheos::Callable callable = session.callable({x}, {y, w});
  assert_floats(callable.run({row}, 2)[0], {3, 7});
  assert_int_equal(session.stats().num_runs, 4);
  const int64_t handle = session.partial_setup({x}, {y});
  assert_floats(session.partial_run(handle, {{x, row}}, {y})[0], {3, 7});
  assert_non_null(strstr(session.plan_text({x}, {{1, 2}}, {y}).c_str(), "MatMul"));
  assert_throws(RHEOS_INVALID_ARGUMENT, [&] { session.plan_text({x}, {}, {y}); });
}

static void test_errors__name_the_line_of_the_program(void **) {
  rheos::Graph graph;
  rheos::Scope s(graph);
  const auto x = rheos::constant(s, 1.0F);
  rheos::matmul(s, x, x);
  const std::string message = assert_throws(RHEOS_INVALID_ARGUMENT, [&] { s.finish(); });
  const std::string line = "test_cpp_graph.cc:" + std::to_string(__LINE__ - 2);
  assert_non_null(strstr(message.c_str(), line.c_str()));
  s.finish();  // the scope goes on
  rheos::constant_values<float>(s, {3}, {1, 2});
  assert_throws(RHEOS_INVALID_ARGUMENT, [&] { s.finish(); });

  rheos::Session session(graph);
  session.close();
  try {
    session.fetch(x);
    fail();
  } catch (const std::exception &error) {
    assert_non_null(strstr(error.what(), "closed"));
  }
  rheos::SessionRef none;
  assert_throws(RHEOS_INVALID_ARGUMENT, [&] { none.fetch(x); });
}

static void test_scopes__nest(void **) {
  rheos::Graph graph;
  rheos::Scope s(graph);
  rheos::Output inner, outer;
  {
    const auto layer = rheos::name_scope(s, "layer");
    const auto on = rheos::device(s, "/cpu:0");
    inner = rheos::constant(s, 1);
    assert_string_equal(s.name().c_str(), "layer");
  }
  {
    const auto after = rheos::control_dependencies(s, {inner.operation()});
    outer = rheos::no_op(s).output(0);
  }
  assert_string_equal(s.unique_name("layer").c_str(), "layer_1");
  s.finish();
  assert_string_equal(inner.operation().name().c_str(), "layer/Const");
  assert_string_equal(inner.operation().device(), "/device:CPU:0");
  assert_int_equal(outer.operation().num_control_inputs(), 1);
  assert_int_equal(inner.operation().control_outputs().size(), 1);
}

static void test_operations__are_made_by_name(void **) {
  rheos::Graph graph;
  rheos::Scope s(graph);
  const rheos_output inputs[] = {rheos::constant(s, {1.0F, 2.0F}), rheos::constant(s, {0})};
  const rheos_attr attrs[] = {rheos::attr_bool("keep_dims", true)};
  rheos_op_args args = {};
  args.type = "Sum";
  args.inputs = inputs;
  args.num_inputs = 2;
  args.attrs = attrs;
  args.num_attrs = 1;
  const rheos::Operation sum = rheos::op(s, args);
  const rheos::Operation all = rheos::group(s, {sum});
  s.finish();
  assert_int_equal(all.num_control_inputs(), 1);
  assert_floats(rheos::Session(graph).fetch(sum.output(0)), {3});
}

static void test_texts__are_constants(void **) {
  rheos::Graph graph;
  rheos::Scope s(graph);
  const auto joined =
      rheos::string_join(s, {rheos::constant(s, "a"), rheos::constant_texts(s, {"b", "c"})});
  s.finish();
  const rheos::Tensor tensor = rheos::Session(graph).fetch(joined);
  assert_string_equal(rheos::to_string(tensor.values<rheos_string>()[1]).c_str(), "ac");
}

static void test_gradients__of_a_square(void **) {
  rheos::Graph graph;
  rheos::Scope s(graph);
  const auto x = rheos::constant(s, 3.0F);
  const auto y = rheos::square(s, x);
  const std::vector<rheos_gradient> by = rheos::gradients(s, {y}, {x});
  s.finish();
  assert_floats(rheos::Session(graph).fetch(by[0].values), {6});
}

static void test_files__of_graphs(void **) {
  const Folder folder;
  rheos::Graph graph;
  rheos::Scope s(graph);
  rheos::constant(s, 3.0F, "three");
  s.finish();
  graph.write(folder / "graph.pb");
  const rheos::Graph read = rheos::Graph::read(folder / "graph.pb");
  assert_int_equal(read.num_operations(), 1);
  const rheos::Bytes graph_def = graph.to_graph_def();
  assert_non_null(strstr(rheos::message_to_text("GraphDef", graph_def).c_str(), "three"));
  rheos::import_graph_def(s, graph_def, {"again"});
  s.finish();
  assert_true(static_cast<bool>(graph.operation("again/three")));
  assert_throws(RHEOS_NOT_FOUND, [&] { rheos::Graph::read(folder / "none"); });
  assert_throws(RHEOS_DATA_LOSS, [&] {
    rheos::import_graph_def(s, std::string("no graph"));
    s.finish();
  });
}

int main() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(test_span__takes_what_has_elements),
      cmocka_unit_test(test_shape__is_written_as_a_list),
      cmocka_unit_test(test_tensor__has_the_values_it_is_made_of),
      cmocka_unit_test(test_tensor__copies_share_and_moves_empty),
      cmocka_unit_test(test_tensor__borrows_and_releases),
      cmocka_unit_test(test_graph__is_built_and_run),
      cmocka_unit_test(test_errors__name_the_line_of_the_program),
      cmocka_unit_test(test_scopes__nest),
      cmocka_unit_test(test_operations__are_made_by_name),
      cmocka_unit_test(test_texts__are_constants),
      cmocka_unit_test(test_gradients__of_a_square),
      cmocka_unit_test(test_files__of_graphs),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
