// <rheos/rheos.hpp>: training, branches, loops, functions, checkpoints, saved models.
#include "cpp_test.hpp"

// ---- A model: y = w x, of which w is to become 3

struct Model {
  rheos::Output x, t, loss;
  rheos::Operation step, init;
};

static Model build(rheos::Scope &s) {
  Model m;
  m.x = rheos::placeholder(s, RHEOS_FLOAT);
  m.t = rheos::placeholder(s, RHEOS_FLOAT);
  const auto scope = rheos::variable_scope(s, "line");
  const auto w = rheos::get_variable(s, "w", RHEOS_FLOAT, {}, rheos::zeros());
  m.loss = rheos::square(s, rheos::sub(s, rheos::mul(s, w, m.x), m.t));
  m.step = rheos::minimize(s, rheos::gradient_descent(0.1), m.loss);
  m.init = rheos::global_variables_initializer(s);
  return m;
}

static void train(const rheos::Session &session, const Model &m) {
  session.run_target(m.init);
  const rheos::Tensor x = rheos::Tensor::of(1.0F), t = rheos::Tensor::of(3.0F);
  for (int i = 0; i < 100; i++) session.run({{m.x, x}, {m.t, t}}, {}, {m.step});
}

static void test_training__finds_the_slope(void **) {
  rheos::Graph graph;
  rheos::Scope s(graph);
  const Model m = build(s);
  s.finish();
  rheos::Session session(graph);
  train(session, m);
  const rheos::Variable w = graph.variable(0);
  assert_string_equal(w.handle.graph == nullptr ? "" : "w", "w");
  assert_floats(session.fetch(w.value), {3});
  assert_int_equal(graph.collect_variables("trainable_variables").size(), 1);
  assert_false(w.is_resource());
  assert_true(rheos::Output(w.value).variable().index == w.index);
}

static void test_training__by_parts_and_slots(void **) {
  rheos::Graph graph;
  rheos::Scope s(graph);
  const Model m = build(s);
  const rheos_optimizer adam = rheos::adam(0.1);
  auto computed = rheos::compute_gradients(s, adam, m.loss);
  assert_int_equal(computed.gradients.size(), 1);
  const auto norm = rheos::clip_gradients_by_global_norm(s, computed.gradients, 1);
  const auto apply = rheos::apply_gradients(s, adam, computed.variables, computed.gradients);
  const auto init = rheos::global_variables_initializer(s);
  s.finish();
  assert_string_equal(rheos::optimizer_describe(adam).kind, "Adam");
  assert_true(static_cast<bool>(graph.optimizer_slot(computed.variables[0], "Adam", "m")));
  rheos::Session session(graph);
  session.run_target(init);
  const rheos::Tensor x = rheos::Tensor::of(1.0F), t = rheos::Tensor::of(3.0F);
  assert_floats(session.run({{m.x, x}, {m.t, t}}, {norm}, {apply})[0], {6});
  assert_floats(session.fetch(computed.variables[0].value), {0.1F});

  rheos::apply_gradients(s, adam, computed.variables, {});
  assert_throws(RHEOS_INVALID_ARGUMENT, [&] { s.finish(); });
}

static void test_rates__change_with_the_step(void **) {
  rheos::Graph graph;
  rheos::Scope s(graph);
  const auto step = rheos::constant(s, int64_t{10});
  const auto rate = rheos::exponential_decay(s, 1, step, 10, 0.5);
  const auto piece = rheos::piecewise_constant(s, step, {5, 20}, {1, 2, 3});
  s.finish();
  rheos::Session session(graph);
  assert_floats(session.fetch(rate), {0.5F});
  assert_floats(session.fetch(piece), {2});
  rheos::piecewise_constant(s, step, {5, 20}, {1, 2});
  assert_throws(RHEOS_INVALID_ARGUMENT, [&] { s.finish(); });
}

// ---- Branches and loops

static void test_branches__are_built_by_lambdas(void **) {
  rheos::Graph graph;
  rheos::Scope s(graph);
  const auto x = rheos::placeholder(s, RHEOS_FLOAT);
  const auto positive = rheos::greater(s, x, rheos::constant(s, 0.0F));
  const auto y = rheos::cond(
      s, positive, [&](rheos::ScopeRef in) { return rheos::square(in, x); },
      [&](rheos::ScopeRef in) { return rheos::neg(in, x); });
  const auto two = rheos::cond(
      s, positive, 2,
      [&](rheos::ScopeRef in, rheos::Span<rheos_output> outputs) {
        outputs[0] = rheos::identity(in, x);
        outputs[1] = rheos::constant(in, 1.0F);
      },
      [&](rheos::ScopeRef in, rheos::Span<rheos_output> outputs) {
        outputs[0] = outputs[1] = rheos::constant(in, 0.0F);
      });
  const auto big = rheos::greater(s, x, rheos::constant(s, 10.0F));
  const auto chosen = rheos::case_of(
      s, 1, [](rheos::ScopeRef in) { return rheos::constant(in, 1.0F); },
      rheos::when(big, [](rheos::ScopeRef in) { return rheos::constant(in, 3.0F); }),
      rheos::when(positive, [](rheos::ScopeRef in) { return rheos::constant(in, 2.0F); }));
  s.finish();
  rheos::Session session(graph);
  assert_floats(session.fetch(y, {{x, rheos::Tensor::of(3.0F)}}), {9});
  assert_floats(session.fetch(y, {{x, rheos::Tensor::of(-3.0F)}}), {3});
  assert_floats(session.fetch(two[1], {{x, rheos::Tensor::of(-3.0F)}}), {0});
  assert_floats(session.fetch(chosen[0], {{x, rheos::Tensor::of(11.0F)}}), {3});
  assert_floats(session.fetch(chosen[0], {{x, rheos::Tensor::of(1.0F)}}), {2});
  assert_floats(session.fetch(chosen[0], {{x, rheos::Tensor::of(-1.0F)}}), {1});
}

static void test_loops__are_built_by_lambdas(void **) {
  rheos::Graph graph;
  rheos::Scope s(graph);
  const auto limit = rheos::constant(s, 5);
  const auto ends = rheos::while_loop(
      s, {rheos::constant(s, 0), rheos::constant(s, 1.0F)},
      [&](rheos::ScopeRef in, rheos::Outputs v) { return rheos::less(in, v[0], limit); },
      [](rheos::ScopeRef in, rheos::Outputs v) {
        return std::vector<rheos::Output>{rheos::add(in, v[0], rheos::constant(in, 1)),
                                          rheos::mul(in, v[1], rheos::constant(in, 2.0F))};
      });
  const auto rows = rheos::constant(s, {2, 2}, {1.0F, 2.0F, 3.0F, 4.0F});
  const auto mapped = rheos::map(
      s, {rows}, [](rheos::ScopeRef in, rheos::Outputs row, rheos::Span<rheos_output> out) {
        out[0] = rheos::square(in, row[0]);
      });
  const rheos::TensorArray array(s, RHEOS_FLOAT, rheos::constant(s, 2));
  const auto stacked = array.unstack(s, rheos::constant(s, {5.0F, 6.0F})).stack(s);
  s.finish();
  rheos::Session session(graph);
  assert_floats(session.fetch(ends[1]), {32});
  assert_floats(session.fetch(mapped[0]), {1, 4, 9, 16});
  assert_floats(session.fetch(stacked), {5, 6});
}

static void test_builders__may_throw(void **) {
  rheos::Graph graph;
  rheos::Scope s(graph);
  const auto yes = rheos::constant(s, true);
  rheos::cond(
      s, yes, [](rheos::ScopeRef) -> rheos::Output { throw std::runtime_error("no such branch"); },
      [](rheos::ScopeRef in) { return rheos::constant(in, 1.0F); });
  assert_string_equal(assert_throws(RHEOS_UNKNOWN, [&] { s.finish(); }).c_str(), "no such branch");
  rheos::while_loop(
      s, {yes}, [](rheos::ScopeRef, rheos::Outputs v) -> rheos::Output { return v[0]; },
      [](rheos::ScopeRef, rheos::Outputs) -> std::vector<rheos::Output> { throw 5; });
  assert_throws(RHEOS_UNKNOWN, [&] { s.finish(); });
}

// ---- Functions

static void test_functions__are_called(void **) {
  rheos::Graph graph;
  rheos::Scope s(graph);
  const auto outside = rheos::constant(s, 2.0F);
  rheos::Function scale(s, "scale");
  const auto x = scale.argument("x", RHEOS_FLOAT, {});
  scale.result("y", rheos::mul(scale.scope(), x, outside));
  assert_true(scale.finish(s));
  const auto call = scale.call(s, {rheos::constant(s, 4.0F)});
  s.finish();
  assert_int_equal(scale.num_captures(), 1);
  assert_true(scale.capture_at(0).first.id == outside.id);
  assert_string_equal(graph.function_name(0), "scale");
  assert_floats(rheos::Session(graph).fetch(call.output(0)), {8});
  assert_throws(RHEOS_NOT_FOUND, [&] { graph.remove_function("other"); });
}

// ---- Files

static void test_savers__keep_and_restore(void **) {
  const Folder folder;
  rheos::Graph graph;
  rheos::Scope s(graph);
  const Model m = build(s);
  const rheos::Saver saver(s);
  s.finish();
  rheos::Session session(graph);
  train(session, m);
  saver.save(session, folder / "model");
  session.run_target(m.init);
  saver.restore_from(session, folder / "model");
  assert_floats(session.fetch(graph.variable(0).value), {3});

  rheos_checkpoint_keeper_options options;
  options.max_to_keep = rheos::given(1);
  auto keeper = rheos::CheckpointKeeper::make(saver, options);
  for (int64_t step = 1; step <= 2; step++) keeper.save(session, folder / "kept", step);
  const rheos::CheckpointState state = rheos::CheckpointState::read(folder / "");
  assert_int_equal(state->num_paths, 1);
  assert_non_null(strstr(rheos::latest_checkpoint(folder / "").c_str(), "kept-2"));
  auto reader = rheos::CheckpointReader::open(folder / "model");
  assert_int_equal(reader.count(), 1);
  assert_floats(reader.read_named("line/w"), {3});
  assert_false(reader.find("other").has_value());
  assert_throws(RHEOS_NOT_FOUND, [&] { saver.restore_from(session, folder / "none"); });
}

static void test_saved_models__are_written_and_called(void **) {
  const Folder folder;
  {
    rheos::Graph graph;
    rheos::Scope s(graph);
    const auto x = rheos::placeholder(s, RHEOS_FLOAT);
    const auto w = rheos::get_variable(s, "w", RHEOS_FLOAT, {}, rheos::constant_initializer(2));
    const auto y = rheos::mul(s, x, w);
    const auto init = rheos::global_variables_initializer(s);
    s.finish();
    rheos::Session session(graph);
    session.run_target(init);
    rheos::simple_save(session, folder / "saved", {{"x", x}}, {{"y", y}});
    const rheos::Bytes frozen = session.freeze(graph.to_graph_def(), {"Mul"});
    assert_true(frozen.size() > 0);
  }
  const auto model = rheos::SavedModel::load(folder / "saved");
  const rheos::Tensor four = rheos::Tensor::of(4.0F);
  assert_floats(model.call({}, {{"x", four}}, {"y"})[0], {8});
  const rheos::Callable callable = model.callable("serving_default", {"x"}, {"y"});
  assert_floats(callable.run({four}, 1)[0], {8});
  assert_string_equal(model.meta_graph().signature("serving_default")->inputs[0].key, "x");
  assert_floats(model.session().fetch(model.output({}, "y"), {{model.input({}, "x"), four}}), {8});
  const auto def = rheos::SavedModelDef::read(folder / "saved");
  assert_int_equal(def->num_meta_graphs, 1);
  assert_throws(RHEOS_NOT_FOUND, [&] { def.find({"train"}); });
  assert_throws(RHEOS_NOT_FOUND, [&] { model.call("other", {}, {"y"}); });
}

int main() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(test_training__finds_the_slope),
      cmocka_unit_test(test_training__by_parts_and_slots),
      cmocka_unit_test(test_rates__change_with_the_step),
      cmocka_unit_test(test_branches__are_built_by_lambdas),
      cmocka_unit_test(test_loops__are_built_by_lambdas),
      cmocka_unit_test(test_builders__may_throw),
      cmocka_unit_test(test_functions__are_called),
      cmocka_unit_test(test_savers__keep_and_restore),
      cmocka_unit_test(test_saved_models__are_written_and_called),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
