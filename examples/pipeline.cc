// Trains a network on records from files that a pipeline reads, parses, shuffles and batches while
// the model learns; pipeline.c in C++:
//
//   pipeline_cpp FILE.tfrecord ...
//
// A record is an Example with two floats "point" and an integer "class"; files that are not there
// are written first: points that are of class 1 inside of a ring. A lambda parses the records, on
// threads.
#include <rheos/rheos.hpp>

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <random>
#include <stdexcept>

constexpr int RECORDS = 5000, BATCH = 64, EPOCHS = 3, HIDDEN = 32;

static void write_file(const char *path, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> uniform(-1, 1);
  auto writer = rheos::RecordWriter::open(path);
  rheos::ExampleBuilder builder;
  for (int i = 0; i < RECORDS; i++) {
    const float point[] = {uniform(random), uniform(random)};
    const float radius = std::hypot(point[0], point[1]);
    builder.clear();
    builder.add_floats("point", point);
    builder.add_ints("class", {radius > 0.3F && radius < 0.8F});
    writer.write(builder.example());
  }
  writer.close();
}

// "parse": a record's point and class.
static void parse(const char *, rheos::Tensors inputs, rheos::Span<rheos::Tensor> outputs) {
  const auto record = inputs[0].scalar<rheos_string>();
  const auto example = rheos::Example::read({record.data, record.size_bytes});
  const auto point = example.find("point"), label = example.find("class");
  if (!point || point->floats().size() != 2 || !label || label->ints().size() != 1) {
    throw std::invalid_argument("a record has no \"point\" of 2 floats or no \"class\"");
  }
  outputs[0] = point->tensor();
  outputs[1] = rheos::Tensor::of(label->ints()[0]);
}

struct Network {
  rheos::Output points, classes;  // (batch, 2), (batch)
  rheos::Output scores, loss;     // (batch, 2), a scalar
};

static rheos::Output dense(rheos::Scope &s, const char *name, rheos::Output x, int from, int to) {
  const auto layer = rheos::variable_scope(s, name);
  const auto weights = rheos::get_variable(s, "weights", RHEOS_FLOAT, {from, to},
                                           rheos::glorot_uniform_initializer());
  const auto offsets = rheos::get_variable(s, "offsets", RHEOS_FLOAT, {to}, rheos::zeros());
  return rheos::bias_add(s, rheos::matmul(s, x, weights), offsets);
}

static Network build(rheos::Scope &s) {
  Network n;
  rheos::placeholder_options points, classes;
  points.shape = rheos::Shape{-1, 2};
  classes.shape = rheos::Shape{-1};
  n.points = rheos::placeholder(s, RHEOS_FLOAT, points);
  n.classes = rheos::placeholder(s, RHEOS_INT64, classes);
  const auto first = rheos::relu(s, dense(s, "first", n.points, 2, HIDDEN));
  const auto second = rheos::relu(s, dense(s, "second", first, HIDDEN, HIDDEN));
  n.scores = dense(s, "scores", second, HIDDEN, 2);
  const auto each = rheos::sparse_softmax_cross_entropy_with_logits(s, n.scores, n.classes).loss;
  n.loss = rheos::mean(s, each, rheos::constant(s, {0}));
  return n;
}

static void learn(rheos::Texts paths) {
  rheos::Graph graph;
  rheos::Scope s(graph);
  graph.set_seed(true, 1);
  const Network n = build(s);
  const auto step_op = rheos::minimize(s, rheos::adam(5e-3), n.loss);
  const auto init = rheos::global_variables_initializer(s);
  const auto records =
      rheos::Dataset::records(s, paths)
          .map_program(s, "parse", {{RHEOS_FLOAT, {2}}, {RHEOS_INT64, {}}}, RHEOS_DATASET_AUTOTUNE)
          .shuffle(s, 2 * RECORDS, 1)
          .repeat(s, EPOCHS)
          .batch(s, BATCH)
          .prefetch(s);
  s.finish();

  rheos_session_options options;
  rheos::set_program_function(options, parse);
  const rheos::Session session(graph, options);
  session.run_target(init);
  const auto step = session.callable({n.points, n.classes}, {n.loss}, {step_op});
  auto batches = records.iterate(session);
  double average = 0;
  int steps = 0;
  while (const auto batch = batches.next()) {
    const double loss = static_cast<double>(step.run(*batch, 1)[0].scalar<float>());
    average = steps++ == 0 ? loss : average + 0.02 * (loss - average);
    if (steps % 200 == 0) std::printf("step %4d   loss %.3f\n", steps, average);
  }
  std::printf("\n%s\n\n%d steps, loss %.3f\n", batches.explain().c_str(), steps, average);
}

int main(int argc, char **argv) try {
  if (argc < 2) {
    std::fprintf(stderr, "usage: pipeline_cpp FILE.tfrecord ...\n");
    return 2;
  }
  for (int i = 1; i < argc; i++) {
    if (!std::filesystem::exists(argv[i])) write_file(argv[i], static_cast<unsigned>(i));
  }
  learn({argv + 1, static_cast<size_t>(argc) - 1});
} catch (const std::exception &error) {
  std::fprintf(stderr, "pipeline: %s\n", error.what());
  return 1;
}
