// All of Rheos that C++17 programs use, over <rheos/rheos.h>: owners instead of frees, lists and
// texts of C++, exceptions or results. How errors are told and who owns what, <rheos/cpp/base.hpp>
// says.
//
//   rheos::Graph graph;
//   rheos::Scope s(graph);
//   auto x = rheos::placeholder(s, RHEOS_FLOAT, {.name = "x"});
//   auto y = rheos::add(s, rheos::mul(s, x, rheos::constant(s, 2.0F)), rheos::constant(s, 1.0F));
//   s.finish();
//   rheos::Session session(graph);
//   float seven = session.fetch(y, {{x, rheos::Tensor::of(3.0F)}}).scalar<float>();
#ifndef RHEOS_RHEOS_HPP
#define RHEOS_RHEOS_HPP

#include <rheos/cpp/base.hpp>
#include <rheos/cpp/cluster.hpp>
#include <rheos/cpp/dataset.hpp>
#include <rheos/cpp/eager.hpp>
#include <rheos/cpp/files.hpp>
#include <rheos/cpp/graph.hpp>
#include <rheos/cpp/ops.hpp>
#include <rheos/cpp/saved_model.hpp>
#include <rheos/cpp/scope.hpp>
#include <rheos/cpp/session.hpp>
#include <rheos/cpp/tensor.hpp>
#include <rheos/cpp/train.hpp>

#endif  // RHEOS_RHEOS_HPP
