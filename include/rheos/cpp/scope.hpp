// Scopes of C++: adding operations to a graph, gradients, branches, loops, arrays, functions.
//
// What adds operations takes an At: a scope, and by itself the line of the program that the call
// stands on, which errors name. It does not throw; Scope::finish() tells the first error.
#ifndef RHEOS_CPP_SCOPE_HPP
#define RHEOS_CPP_SCOPE_HPP

#include <rheos/cpp/graph.hpp>

#include <array>
#include <tuple>

RHEOS_CPP_BEGIN

// ---- Scopes

class ScopeRef : public Handle<rheos_scope> {
 public:
  using Handle::Handle;

  Graph graph() const { return Graph::borrow(rheos_scope_graph(handle_)); }
  const rheos_status *status() const { return rheos_scope_status(handle_); }
  Result<void> finish() { return detail::done(rheos_scope_finish(handle_)); }
  void fail(Status &&status) { rheos_scope_fail_take(handle_, status.release()); }

  void push_name_scope(Text name) { rheos_push_name_scope(handle_, name); }
  void push_device(Text device) { rheos_push_device(handle_, device); }
  void push_control_dependencies(Operations operations) {
    rheos_push_control_dependencies(handle_, operations.data(), operations.size());
  }
  void push_colocation(const rheos_operation &operation) {
    rheos_push_colocation(handle_, operation);
  }
  void push_attr(const rheos_attr &attr) { rheos_push_attr(handle_, attr); }
  void push_attr_of_type(Text op_type, const rheos_attr &attr) {
    rheos_push_attr_of_type(handle_, op_type, attr);
  }
  void push_variable_scope(Text name, rheos_reuse reuse = RHEOS_REUSE_INHERIT) {
    rheos_push_variable_scope(handle_, name, reuse);
  }
  void pop() { rheos_scope_pop(handle_); }

  std::string name() const {
    return detail::written(
        [this](char *text, size_t size) { return rheos_scope_name(handle_, text, size); });
  }
  std::string unique_name(Text name, bool mark_as_used = true) {
    std::string unique = detail::written([&](char *text, size_t size) {
      return rheos_scope_unique_name(handle_, name, mark_as_used && text != nullptr, text, size);
    });
    return unique;
  }
  void take_any_name(bool takes) { rheos_scope_take_any_name(handle_, takes); }
  void set_source(Text file, int32_t line) { rheos_scope_set_source(handle_, file, line); }
};

class Scope : public Owned<ScopeRef, rheos_scope_free> {
 public:
  using Owned::Owned;
  explicit Scope(const GraphRef &graph) : Owned(detail::there(rheos_scope_new(graph.get()))) {}
};

// A scope at the line of a program that the call with it stands on.
class At {
 public:
  At(const ScopeRef &scope, const char *file = __builtin_FILE(), int line = __builtin_LINE())
      : scope_(scope.get()) {
    rheos_scope_set_source(scope_, file, line);
  }
  operator rheos_scope *() const { return scope_; }

 private:
  rheos_scope *scope_;
};

// Pushes, and pops at its end:  const Within layer(s, &rheos::ScopeRef::push_name_scope, "layer");
class Within {
 public:
  template <class... Parameters, class... Arguments>
  Within(ScopeRef scope, void (ScopeRef::*push)(Parameters...), Arguments &&...arguments)
      : scope_(scope) {
    (scope_.*push)(std::forward<Arguments>(arguments)...);
  }
  Within(const Within &) = delete;
  Within &operator=(const Within &) = delete;
  ~Within() { scope_.pop(); }

 private:
  ScopeRef scope_;
};
inline Within name_scope(ScopeRef scope, Text name) {
  return {scope, &ScopeRef::push_name_scope, name};
}
inline Within device(ScopeRef scope, Text name) { return {scope, &ScopeRef::push_device, name}; }
inline Within control_dependencies(ScopeRef scope, Operations operations) {
  return {scope, &ScopeRef::push_control_dependencies, operations};
}
inline Within colocation(ScopeRef scope, const rheos_operation &operation) {
  return {scope, &ScopeRef::push_colocation, operation};
}
inline Within variable_scope(ScopeRef scope, Text name, rheos_reuse reuse = RHEOS_REUSE_INHERIT) {
  return {scope, &ScopeRef::push_variable_scope, name, reuse};
}

// ---- Operations by name, constants

inline Operation op(At s, const rheos_op_args &args) { return (rheos_op)(s, &args); }
// With the arguments in the op's own struct of <rheos/ops.h>.
template <class Args>
Operation op_from_struct(At s, Text type, const Args &args) {
  return rheos_op_from_struct(s, type, &args, sizeof args);
}
inline Operation group(At s, Operations operations, Text name = {}) {
  return (rheos_group)(s, operations.data(), operations.size(), name);
}

inline Output constant(At s, const TensorRef &value, Text name = {}) {
  return (rheos_constant)(s, value.get(), name);
}
inline Output constant_float(At s, float value, Text name = {}) {
  return (rheos_constant_float)(s, value, name);
}
inline Output constant_int(At s, int32_t value, Text name = {}) {
  return (rheos_constant_int)(s, value, name);
}
// Of as many values as the shape has; another number of them is the scope's error.
template <class T>
Output constant_values(At s, const Shape &shape, Span<const T> values, Text name = {}) {
  static_assert(dtype_of<T> != RHEOS_INVALID_DTYPE, "no dtype has such elements");
  if (static_cast<uint64_t>(shape.num_elements()) != values.size()) {
    rheos_scope_fail_take(s, rheos_status_new(RHEOS_INVALID_ARGUMENT, "%zu values for the shape %s",
                                              values.size(), shape.format().c_str()));
    return {};
  }
  return (rheos_constant_values)(s, dtype_of<T>, shape, values.data(), name);
}
// A scalar of one value; a vector, or another shape, of a list.
template <class T, class = std::enable_if_t<dtype_of<T> != RHEOS_INVALID_DTYPE>>
Output constant(At s, T value, Text name = {}) {
  return constant_values<T>(s, {}, Span<const T>(&value, 1), name);
}
template <class T, class = std::enable_if_t<dtype_of<T> != RHEOS_INVALID_DTYPE>>
Output constant(At s, std::initializer_list<T> values, Text name = {}) {
  return constant_values<T>(s, {static_cast<int64_t>(values.size())}, values, name);
}
template <class T, class = std::enable_if_t<dtype_of<T> != RHEOS_INVALID_DTYPE>>
Output constant(At s, const Shape &shape, std::initializer_list<T> values, Text name = {}) {
  return constant_values<T>(s, shape, values, name);
}
inline Output constant(At s, const char *text, Text name = {}) {
  return (rheos_constant_texts)(s, &text, 1, name);
}
inline Output constant_texts(At s, Texts texts, Text name = {}) {
  return (rheos_constant_texts)(s, texts.data(), texts.size(), name);
}

// ---- Gradients

using Gradients = Span<const rheos_gradient>;

// Of sum(ys) by each x; none where ys do not depend on it.
inline std::vector<rheos_gradient> gradients(At s, Outputs ys, Outputs xs,
                                             const rheos_gradients_options &options = {}) {
  std::vector<rheos_gradient> found(xs.size());
  (rheos_gradients)(s, ys.data(), ys.size(), xs.data(), xs.size(), &options, found.data());
  return found;
}

// ---- Branches and loops. What builds them is called at once, with the scope. A function that
// throws gives the scope its error.

namespace detail {
// Calls what builds something, with its error going to the scope.
template <class Build>
void build(rheos_scope *scope, Build &&build) {
  rheos_status *status = status_of([&] { static_cast<void>(build()); });
  if (status != nullptr) rheos_scope_fail_take(scope, status);
}
// Sets the outputs of a branch by a function of (scope) that gives one, or of (scope, outputs).
template <class Function>
void build_branch(rheos_scope *scope, Function &function, rheos_output *outputs, size_t count) {
  if constexpr (std::is_invocable_v<Function &, ScopeRef, Span<rheos_output>>) {
    build(scope, [&] { function(ScopeRef(scope), Span<rheos_output>(outputs, count)); });
  } else {
    build(scope, [&] { outputs[0] = function(ScopeRef(scope)); });
  }
}
template <size_t index, class Functions>
void nth_branch(rheos_scope *scope, void *argument, rheos_output *outputs, size_t count) {
  build_branch(scope, std::get<index>(*static_cast<Functions *>(argument)), outputs, count);
}
}  // namespace detail

// Functions are called as if_true(ScopeRef, Span<rheos_output> outputs); for one output they may be
// called as if_true(ScopeRef) and give it.
template <class IfTrue, class IfFalse>
std::vector<Output> cond(At s, const rheos_output &pred, size_t num_outputs, IfTrue &&if_true,
                         IfFalse &&if_false, Text name = {}) {
  using Functions = std::tuple<IfTrue &, IfFalse &>;
  Functions functions(if_true, if_false);
  std::vector<rheos_output> outputs(num_outputs);
  rheos_cond(s, pred, detail::nth_branch<0, Functions>, detail::nth_branch<1, Functions>,
             &functions, name, outputs.data(), num_outputs);
  return {outputs.begin(), outputs.end()};
}
template <class IfTrue, class IfFalse>
Output cond(At s, const rheos_output &pred, IfTrue &&if_true, IfFalse &&if_false, Text name = {}) {
  return cond(s, pred, 1, if_true, if_false, name)[0];
}

// A branch of case_of().
template <class Function>
struct When {
  rheos_output pred;
  Function function;
};
template <class Function>
When<Function> when(const rheos_output &pred, Function function) {
  return {pred, std::move(function)};
}
namespace detail {
template <size_t index, class Branches>
void nth_case(rheos_scope *scope, void *argument, rheos_output *outputs, size_t count) {
  build_branch(scope, std::get<index>(*static_cast<Branches *>(argument)).function, outputs, count);
}
template <class Branches, size_t... index>
void build_case(rheos_scope *scope, Branches &branches, Text name, Span<rheos_output> outputs,
                std::index_sequence<index...>) {
  const rheos_case_branch list[] = {{std::get<index>(branches).pred, nth_case<index, Branches>}...};
  constexpr size_t otherwise = sizeof...(index);
  rheos_case(scope, list, otherwise, nth_case<otherwise, Branches>, &branches, name, outputs.data(),
             outputs.size());
}
}  // namespace detail
// case_of(s, 1, otherwise, when(a, f), when(b, g)): what the first one gives whose predicate holds.
template <class Otherwise, class... Functions>
std::vector<Output> case_of(At s, size_t num_outputs, Otherwise otherwise,
                            When<Functions>... branches) {
  std::vector<rheos_output> outputs(num_outputs);
  auto all = std::make_tuple(std::move(branches)..., When<Otherwise>{{}, std::move(otherwise)});
  detail::build_case(s, all, {}, outputs, std::index_sequence_for<Functions...>{});
  return {outputs.begin(), outputs.end()};
}

// condition(ScopeRef, Outputs variables) gives a boolean scalar; body(ScopeRef, Outputs variables,
// Span<rheos_output> next) sets the next ones, or gives a list of as many.
template <class Condition, class Body>
std::vector<Output> while_loop(At s, Outputs variables, Condition &&condition, Body &&body,
                               const rheos_while_options &options = {}) {
  using Functions = std::pair<Condition &, Body &>;
  Functions functions(condition, body);
  std::vector<rheos_output> outputs(variables.size());
  rheos_while_loop(
      s,
      [](rheos_scope *scope, void *argument, const rheos_output *values, size_t count) {
        rheos_output result = {};
        detail::build(scope, [&] {
          result =
              static_cast<Functions *>(argument)->first(ScopeRef(scope), Outputs(values, count));
        });
        return result;
      },
      [](rheos_scope *scope, void *argument, const rheos_output *values, rheos_output *next,
         size_t count) {
        detail::build(scope, [&] {
          Body &build_next = static_cast<Functions *>(argument)->second;
          if constexpr (std::is_invocable_v<Body &, ScopeRef, Outputs, Span<rheos_output>>) {
            build_next(ScopeRef(scope), Outputs(values, count), Span<rheos_output>(next, count));
          } else {
            const auto list = build_next(ScopeRef(scope), Outputs(values, count));
            for (size_t i = 0; i < count && i < list.size(); i++) next[i] = list[i];
          }
        });
      },
      &functions, variables.data(), variables.size(), &options, outputs.data());
  return {outputs.begin(), outputs.end()};
}

// ---- Arrays of tensors

class TensorArray : public rheos_array {
 public:
  TensorArray(const rheos_array &array) : rheos_array(array) {}
  TensorArray(At s, rheos_dtype dtype, const rheos_output &size,
              const rheos_array_options &options = {})
      : rheos_array(rheos_array_new(s, dtype, size, &options)) {}

  TensorArray with_flow(const rheos_output &other) const {
    return rheos_array_with_flow(*this, other);
  }
  TensorArray write(At s, const rheos_output &index, const rheos_output &value) const {
    return rheos_array_write(s, *this, index, value);
  }
  Output read(At s, const rheos_output &index) const { return rheos_array_read(s, *this, index); }
  Output size(At s) const { return rheos_array_size(s, *this); }
  Output gather(At s, const rheos_output &indices) const {
    return rheos_array_gather(s, *this, indices);
  }
  TensorArray scatter(At s, const rheos_output &indices, const rheos_output &value) const {
    return rheos_array_scatter(s, *this, indices, value);
  }
  Output stack(At s) const { return rheos_array_stack(s, *this); }
  TensorArray unstack(At s, const rheos_output &value) const {
    return rheos_array_unstack(s, *this, value);
  }
  Output concat(At s) const { return rheos_array_concat(s, *this); }
  TensorArray split(At s, const rheos_output &value, const rheos_output &lengths) const {
    return rheos_array_split(s, *this, value, lengths);
  }
};

// function(ScopeRef, Outputs rows, Span<rheos_output> outputs) builds what is made of a row of
// each; `dtypes` are those of its outputs, empty: as the elems have.
template <class Function>
std::vector<Output> map(At s, Outputs elems, Function &&function,
                        Span<const rheos_dtype> dtypes = {}, Text name = {}) {
  using Called = std::remove_reference_t<Function>;
  std::vector<rheos_output> outputs(dtypes.empty() ? elems.size() : dtypes.size());
  Called *called = &function;
  rheos_map(
      s,
      [](rheos_scope *scope, void *argument, const rheos_output *rows, size_t num_rows,
         rheos_output *results, size_t count) {
        detail::build(scope, [&] {
          (**static_cast<Called **>(argument))(ScopeRef(scope), Outputs(rows, num_rows),
                                               Span<rheos_output>(results, count));
        });
      },
      &called, elems.data(), elems.size(), dtypes.empty() ? nullptr : dtypes.data(), name,
      outputs.data(), outputs.size());
  return {outputs.begin(), outputs.end()};
}

// ---- Functions of a graph's library

class FunctionRef : public Handle<rheos_function> {
 public:
  using Handle::Handle;

  const char *name() const { return rheos_function_name(handle_); }
  void rename(Text name) { rheos_function_rename(handle_, name); }
  ScopeRef scope() const { return rheos_function_scope(handle_); }
  Output argument(Text name, rheos_dtype dtype, const Shape &shape) {
    return rheos_function_argument(handle_, name, dtype, shape);
  }
  Output stand_in(Text name, const rheos_output &value) {
    return rheos_function_stand_in(handle_, name, value);
  }
  void adopt_argument(Text name, const rheos_output &placeholder) {
    rheos_function_adopt_argument(handle_, name, placeholder);
  }
  Output capture(const rheos_output &value) { return rheos_function_capture(handle_, value); }
  void result(Text name, const rheos_output &value) { rheos_function_result(handle_, name, value); }
  void control_output(Text name, const rheos_operation &operation) {
    rheos_function_control_output(handle_, name, operation);
  }
  void order_effects(int32_t first = 0) { rheos_function_order_effects(handle_, first); }
  bool finish(ScopeRef around) { return rheos_function_finish(handle_, around.get()); }
  Operation call(At s, Outputs inputs, Text name = {}) const {
    return rheos_function_call(s, handle_, inputs.data(), inputs.size(), name);
  }
  const rheos_func *func() const { return rheos_function_func(handle_); }

  size_t num_arguments() const { return rheos_function_num_arguments(handle_); }
  Output argument_at(size_t index) const { return rheos_function_argument_at(handle_, index); }
  size_t num_captures() const { return rheos_function_num_captures(handle_); }
  // The tensor around the body, and the argument that stands for it.
  std::pair<Output, Output> capture_at(size_t index) const {
    Output inside;
    const Output around = rheos_function_capture_at(handle_, index, &inside);
    return {around, inside};
  }
  size_t num_control_outputs() const { return rheos_function_num_control_outputs(handle_); }
  Operation control_output_at(size_t index) const {
    return rheos_function_control_output_at(handle_, index);
  }
  size_t num_results() const { return rheos_function_num_results(handle_); }
  Output result_at(size_t index) const { return rheos_function_result_at(handle_, index); }
  bool is_stateful() const { return rheos_function_is_stateful(handle_); }
};

class Function : public Owned<FunctionRef, rheos_function_free> {
 public:
  using Owned::Owned;
  // rheos_function_begin(): empty after an error, which is in the scope.
  Function(ScopeRef around, Text name, const rheos_function_options &options = {})
      : Owned(rheos_function_begin(around.get(), name, &options)) {}
};

inline Result<void> function_infer_call(const rheos_operation &call) {
  return detail::done(rheos_function_infer_call(call));
}

// ---- Graphs of files

inline void import_graph_def(At s, BytesView graph_def, const rheos_import_options &options = {}) {
  rheos_import_graph_def(s, graph_def.data(), graph_def.size(), &options);
}

RHEOS_CPP_END

#endif  // RHEOS_CPP_SCOPE_HPP
