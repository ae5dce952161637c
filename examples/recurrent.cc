// A recurrent net that is trained through a loop over time; recurrent.c in C++:
//
//   recurrent_cpp [STEPS]
//
// It reads sequences of random numbers one by one, and learns to tell the difference between the
// sums of their first and of their second halves. The loop runs as often as the sequence that is
// fed is long; gradients go back through it.
#include <rheos/rheos.hpp>

#include <cstdio>
#include <cstdlib>

constexpr int BATCH = 32, UNITS = 16, TIME = 10;

struct Model {
  rheos::Output inputs, wanted, loss;
  rheos::Operation init, train;
};

static rheos::Output weights(rheos::Scope &s, const char *name, int64_t rows, int64_t columns) {
  return rheos::get_variable(s, name, RHEOS_FLOAT, {rows, columns},
                             rheos::glorot_uniform_initializer());
}

static Model build(rheos::Scope &s) {
  Model m;
  const rheos::Shape rows = {BATCH, 1};
  rheos::placeholder_options sequences, scalars;
  sequences.shape = rheos::Shape{-1, BATCH, 1};
  scalars.shape = rows;
  m.inputs = rheos::placeholder(s, RHEOS_FLOAT, sequences);
  m.wanted = rheos::placeholder(s, RHEOS_FLOAT, scalars);
  const auto time = rheos::gather(s, rheos::shape_op(s, m.inputs), rheos::constant(s, 0));
  rheos_array_options each;
  each.element_shape = &rows;
  const auto inputs = rheos::TensorArray(s, RHEOS_FLOAT, time, each).unstack(s, m.inputs);
  const auto from_input = weights(s, "from_input", 1, UNITS);
  const auto from_state = weights(s, "from_state", UNITS, UNITS);
  const auto bias = rheos::get_variable(s, "bias", RHEOS_FLOAT, {UNITS}, rheos::zeros());

  const auto start = rheos::matmul(s, rheos::zeros_like(s, m.wanted), from_input);
  const auto after = rheos::while_loop(  // of the time, and of the state [batch, units]
      s, {rheos::constant(s, 0), start},
      [&](rheos::ScopeRef in, rheos::Outputs v) { return rheos::less(in, v[0], time); },
      [&](rheos::ScopeRef in, rheos::Outputs v) {
        const auto sum = rheos::add(in, rheos::matmul(in, inputs.read(in, v[0]), from_input),
                                    rheos::matmul(in, v[1], from_state));
        return std::vector<rheos::Output>{rheos::add(in, v[0], rheos::constant(in, 1)),
                                          rheos::tanh(in, rheos::add(in, sum, bias))};
      });
  const auto guess = rheos::matmul(s, after[1], weights(s, "to_output", UNITS, 1));
  const auto error = rheos::square(s, rheos::sub(s, guess, m.wanted));
  m.loss = rheos::mean(s, error, rheos::constant(s, {0, 1}));
  m.train = rheos::minimize(s, rheos::adam(0.01), m.loss);
  m.init = rheos::global_variables_initializer(s);
  s.finish();
  return m;
}

static void draw(rheos::Span<float> x, rheos::Span<float> y) {
  for (float &sum : y) sum = 0;
  for (size_t t = 0; t < TIME; t++) {
    for (size_t b = 0; b < BATCH; b++) {
      const float value = static_cast<float>(std::rand()) / static_cast<float>(RAND_MAX) - 0.5F;
      x[t * BATCH + b] = value;
      y[b] += t < TIME / 2 ? value : -value;
    }
  }
}

int main(int argc, char **argv) try {
  rheos::Graph graph;
  graph.set_seed(true, 1);
  rheos::Scope scope(graph);
  const Model m = build(scope);
  const rheos::Session session(graph);
  session.run_target(m.init);
  const auto inputs = rheos::Tensor::make(RHEOS_FLOAT, {TIME, BATCH, 1});
  const auto wanted = rheos::Tensor::make(RHEOS_FLOAT, {BATCH, 1});
  const int num_steps = argc > 1 ? std::atoi(argv[1]) : 500;
  for (int i = 1; i <= num_steps; i++) {
    draw(inputs.values<float>(), wanted.values<float>());
    const auto fetched = session.run({{m.inputs, inputs}, {m.wanted, wanted}}, {m.loss}, {m.train});
    if (i == 1 || i % 100 == 0) {
      std::printf("step %d: loss %.4f\n", i, static_cast<double>(fetched[0].scalar<float>()));
    }
  }
} catch (const rheos::Error &error) {
  std::fprintf(stderr, "recurrent: %s\n", error.what());
  return 1;
}
