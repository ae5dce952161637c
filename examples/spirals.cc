// A classifier of points that lie on three spirals: trained, kept as a checkpoint, and used in a
// session of its own, which only restores it.
//
//   spirals_cpp [STEPS]
//
// It draws the plane as it sees it, a letter a class. Your own points go where spirals() makes its.
#include <rheos/rheos.hpp>

#include <cmath>
#include <cstdio>
#include <cstdlib>

constexpr int CLASSES = 3, EACH = 100, POINTS = CLASSES * EACH, UNITS = 32;

struct Model {
  rheos::Output points, labels, classes, loss, right;  // (n, 2), (n), (n), scalars
};

// x of (n, in); returns (n, out)
static rheos::Output dense(rheos::Scope &s, const char *name, rheos::Output x, int in, int out) {
  const auto inside = rheos::variable_scope(s, name);  // until the function ends
  const auto kernel =
      rheos::get_variable(s, "kernel", RHEOS_FLOAT, {in, out}, rheos::glorot_uniform_initializer());
  const auto bias = rheos::get_variable(s, "bias", RHEOS_FLOAT, {out}, rheos::zeros());
  return rheos::bias_add(s, rheos::matmul(s, x, kernel), bias);
}

static Model build(rheos::Scope &s) {
  Model m;
  rheos::placeholder_options rows, row;
  rows.shape = rheos::Shape{-1, 2};
  row.shape = rheos::Shape{-1};
  m.points = rheos::placeholder(s, RHEOS_FLOAT, rows);
  m.labels = rheos::placeholder(s, RHEOS_INT32, row);
  const auto one = rheos::tanh(s, dense(s, "one", m.points, 2, UNITS));
  const auto two = rheos::tanh(s, dense(s, "two", one, UNITS, UNITS));
  const auto logits = dense(s, "logits", two, UNITS, CLASSES);
  rheos::argmax_options as_labels;
  as_labels.output_type = RHEOS_INT32;
  m.classes = rheos::argmax(s, logits, rheos::constant(s, 1), as_labels);
  const auto losses = rheos::sparse_softmax_cross_entropy_with_logits(s, logits, m.labels).loss;
  m.loss = rheos::mean(s, losses, rheos::constant(s, 0));
  const auto is_right = rheos::cast(s, rheos::equal(s, m.classes, m.labels), RHEOS_FLOAT);
  m.right = rheos::mean(s, is_right, rheos::constant(s, 0));
  return m;
}

static void spirals(rheos::Span<float> points, rheos::Span<int32_t> labels) {
  for (size_t i = 0; i < POINTS; i++) {
    const float along = static_cast<float>(i % EACH) / EACH;
    const float noise = static_cast<float>(std::rand()) / static_cast<float>(RAND_MAX);
    labels[i] = static_cast<int32_t>(i / EACH);
    const float angle = 4.2F * static_cast<float>(labels[i]) + 4 * along + 0.4F * noise;
    points[2 * i] = along * std::sin(angle);
    points[2 * i + 1] = along * std::cos(angle);
  }
}

static void train(const char *checkpoint, int num_steps) {
  rheos::Graph graph;
  graph.set_seed(true, 1);
  rheos::Scope s(graph);
  const Model m = build(s);
  const auto step = rheos::minimize(s, rheos::adam(0.01), m.loss);
  const rheos::Saver saver(s);
  const auto init = rheos::global_variables_initializer(s);
  s.finish();

  const auto points = rheos::Tensor::make(RHEOS_FLOAT, {POINTS, 2});
  const auto labels = rheos::Tensor::make(RHEOS_INT32, {POINTS});
  spirals(points.values<float>(), labels.values<int32_t>());
  const rheos::Session session(graph);
  session.run_target(init);
  for (int i = 0; i <= num_steps; i++) {
    const auto out =
        session.run({{m.points, points}, {m.labels, labels}}, {m.loss, m.right}, {step});
    if (i % 100 == 0) {
      std::printf("step %3d: loss %.3f, right %.2f\n", i,
                  static_cast<double>(out[0].scalar<float>()),
                  static_cast<double>(out[1].scalar<float>()));
    }
  }
  saver.save(session, checkpoint);
}

// Without an optimizer: a saver restores the variables that its own graph has.
static void draw(const char *checkpoint) {
  constexpr int HEIGHT = 17, WIDTH = 35;
  rheos::Graph graph;
  rheos::Scope s(graph);
  const Model m = build(s);
  const rheos::Saver saver(s);
  s.finish();
  const rheos::Session session(graph);
  saver.restore_from(session, checkpoint);

  const auto points = rheos::Tensor::make(RHEOS_FLOAT, {HEIGHT * WIDTH, 2});
  const auto at = points.values<float>();
  for (size_t i = 0; i < HEIGHT * WIDTH; i++) {
    at[2 * i] = static_cast<float>(i % WIDTH) * 2 / (WIDTH - 1) - 1;
    at[2 * i + 1] = 1 - static_cast<float>(i / WIDTH) * 2 / (HEIGHT - 1);
  }
  const auto out = session.run({{m.points, points}}, {m.classes});
  const auto classes = out[0].values<int32_t>();
  for (size_t i = 0; i < HEIGHT * WIDTH; i++) {
    std::printf("%c%s", ".o#"[classes[i]], i % WIDTH == WIDTH - 1 ? "\n" : "");
  }
}

int main(int argc, char **argv) try {
  train("spirals.checkpoint", argc > 1 ? std::atoi(argv[1]) : 400);
  draw("spirals.checkpoint");
} catch (const rheos::Error &error) {
  std::fprintf(stderr, "spirals: %s\n", error.what());
  return 1;
}
