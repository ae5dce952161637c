// Square roots by Newton's steps, in a graph with a loop and a conditional; roots.c in C++:
//
//   roots_cpp [NUMBER ...]
//
// The loop runs until a step changes next to nothing, or for 50 steps; negative numbers have no
// root, and for them the other branch, without a loop, is taken.
#include <rheos/rheos.hpp>

#include <cmath>
#include <cstdio>
#include <cstdlib>

struct Problem {
  rheos::Output number, root;
};

static Problem build(rheos::Scope &s) {
  rheos::placeholder_options scalar;
  scalar.shape = rheos::Shape();
  const auto number = rheos::placeholder(s, RHEOS_FLOAT, scalar);
  const auto half = rheos::constant(s, 0.5F);
  const auto enough = rheos::constant(s, 1e-6F);

  // Of the guess, and of how far the step before moved it.
  auto root = [&](rheos::ScopeRef in) {
    rheos_while_options options;
    options.max_iterations = rheos::constant(in, 50);
    const auto after = rheos::while_loop(
        in, {rheos::add(in, number, half), half},
        [&](rheos::ScopeRef on, rheos::Outputs v) { return rheos::greater(on, v[1], enough); },
        [&](rheos::ScopeRef on, rheos::Outputs v) {
          const auto sum = rheos::add(on, v[0], rheos::realdiv(on, number, v[0]));
          const auto next = rheos::mul(on, half, sum);
          return std::vector<rheos::Output>{next, rheos::abs(on, rheos::sub(on, next, v[0]))};
        },
        options);
    return after[0];
  };
  const auto has_root = rheos::greater_equal(s, number, rheos::constant(s, 0.0F));
  const auto chosen = rheos::cond(s, has_root, root, [](rheos::ScopeRef in) {
    return rheos::constant(in, static_cast<float>(NAN));
  });
  s.finish();
  return {number, chosen};
}

int main(int argc, char **argv) try {
  rheos::Graph graph;
  rheos::Scope scope(graph);
  const Problem problem = build(scope);
  const rheos::Session session(graph);
  std::vector<float> numbers;
  for (int i = 1; i < argc; i++) numbers.push_back(std::strtof(argv[i], nullptr));
  if (argc == 1) numbers = {2};
  for (const float number : numbers) {
    const auto root =
        session.fetch(problem.root, {{problem.number, rheos::Tensor::of(number)}}).scalar<float>();
    std::printf("%g: %g\n", static_cast<double>(number), static_cast<double>(root));
  }
} catch (const rheos::Error &error) {
  std::fprintf(stderr, "roots: %s\n", error.what());
  return 1;
}
