// For front ends of other languages that are written in C++: what <rheos/front_end.h> and
// <rheos/control_context.h> have. Not part of <rheos/rheos.hpp>.
#ifndef RHEOS_CPP_FRONT_END_HPP
#define RHEOS_CPP_FRONT_END_HPP

#include <rheos/control_context.h>
#include <rheos/front_end.h>

#include <rheos/rheos.hpp>

RHEOS_CPP_BEGIN

// ---- Variables, slots, costs, functions that are no longer used

inline Variable variable_from_nodes(At s, const rheos_variable &nodes) {
  return rheos_variable_from_nodes(s, nodes);
}
inline Variable find_variable(At s, Text full_name, rheos_reuse reuse, rheos_dtype dtype,
                              const Shape &shape) {
  Variable variable;
  rheos_find_variable(s, full_name, reuse, dtype, shape, &variable);
  return variable;
}
inline void share_variable(At s, Text full_name, const rheos_variable &variable) {
  rheos_share_variable(s, full_name, variable);
}
inline Variable optimizer_own_slot(const GraphRef &graph, const rheos_optimizer &optimizer,
                                   const rheos_variable &variable, Text slot_name) {
  return rheos_optimizer_own_slot(graph.get(), optimizer, variable, slot_name);
}
inline void optimizer_set_slot(At s, const rheos_optimizer &optimizer,
                               const rheos_variable &variable, Text slot_name,
                               const rheos_variable &slot) {
  rheos_optimizer_set_slot(s, optimizer, variable, slot_name, slot);
}
inline int64_t CallableRef::cost_ns() const { return rheos_callable_cost_ns(handle_); }
inline int64_t RegionRef::cost_ns() const { return rheos_region_cost_ns(handle_); }
inline rheos_attr_value RegionRef::attr(Text name) const {
  return rheos_region_attr(handle_, name);
}
inline Result<void> EagerRef::remove_function(Text name) {
  return detail::done(rheos_eager_remove_function(handle_, name));
}
inline Result<void> EagerRef::remove_functions(Texts names) {
  return detail::done(rheos_eager_remove_functions(handle_, names.data(), names.size()));
}
inline void EagerRef::sweep() { rheos_eager_sweep(handle_); }
inline bool EagerRef::is_watched(Tensors tensors) const {
  return rheos_eager_is_watched(handle_, detail::pointers(tensors), tensors.size());
}

// ---- Branches and loops, step by step

// It lives as long as its graph.
class ControlContext : public Handle<rheos_control_context> {
 public:
  using Handle::Handle;
  rheos_control_context_info describe() const { return rheos_control_context_describe(handle_); }
  Output enter(int32_t index) const { return rheos_control_context_enter(handle_, index); }
  Output exit(int32_t index) const { return rheos_control_context_exit(handle_, index); }
  size_t num_values() const { return rheos_control_context_num_values(handle_); }
  // A value, and what stands for it inside.
  std::pair<Output, Output> value_at(size_t index) const {
    Output inside;
    const Output value = rheos_control_context_value_at(handle_, index, &inside);
    return {value, inside};
  }
  Output value(At s, const rheos_output &of) const {
    return rheos_control_context_value(s, handle_, of);
  }
};

inline void push_control_context(ScopeRef scope, ControlContext context) {
  rheos_push_control_context(scope.get(), context.get());
}
inline ControlContext scope_control_context(ScopeRef scope) {
  return rheos_scope_control_context(scope.get());
}
// That for false first; both empty after an error.
inline std::array<ControlContext, 2> cond_begin(At s, const rheos_output &pred) {
  rheos_control_context *branches[2] = {nullptr, nullptr};
  if (!rheos_cond_begin(s, pred, branches)) return {};
  return {branches[0], branches[1]};
}
inline Output cond_result(At s, const rheos_output &value) { return rheos_cond_result(s, value); }
inline Output cond_result_after(At s, const rheos_operation &operation) {
  return rheos_cond_result_after(s, operation);
}
inline Output cond_merge(At s, const rheos_output &if_false, const rheos_output &if_true) {
  return rheos_cond_merge(s, if_false, if_true);
}
// The variables' places are set as C sets them: one for each.
inline ControlContext while_begin(At s, Outputs variables, Span<rheos_output> out_variables,
                                  const rheos_while_options &options = {}) {
  const size_t count = detail::count_of_both(s, variables.size(), out_variables.size());
  return rheos_while_begin(s, variables.data(), count, &options, out_variables.data());
}
inline void while_body(At s, const rheos_output &condition, rheos_output *out_variables) {
  rheos_while_body(s, condition, out_variables);
}
inline void while_end(At s, const rheos_output *next, rheos_output *out_variables) {
  rheos_while_end(s, next, out_variables);
}
inline ControlContext operation_control_context(const rheos_operation &operation) {
  return rheos_operation_control_context(operation);
}
inline Result<void> operation_set_control_context(const rheos_operation &operation,
                                                  ControlContext context) {
  return detail::done(rheos_operation_set_control_context(operation, context.get()));
}
inline ControlContext graph_control_context(const GraphRef &graph, int32_t number) {
  return rheos_graph_control_context(graph.get(), number);
}
inline ControlContext control_context_restore(At s, const rheos_control_context_info &info,
                                              Outputs enters, Outputs exits, Outputs values,
                                              Outputs insides) {
  const size_t count = detail::count_of_both(s, values.size(), insides.size());
  return rheos_control_context_restore(s, &info, enters.data(), exits.data(), values.data(),
                                       insides.data(), count);
}

RHEOS_CPP_END

#endif  // RHEOS_CPP_FRONT_END_HPP
