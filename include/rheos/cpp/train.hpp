// Training in C++: variables, optimizers, learning rates, clipped gradients, savers. Initializers
// and optimizers are values: rheos::adam(1e-3) is a rheos_optimizer, whose fields may be set.
#ifndef RHEOS_CPP_TRAIN_HPP
#define RHEOS_CPP_TRAIN_HPP

#include <rheos/cpp/scope.hpp>
#include <rheos/cpp/session.hpp>

RHEOS_CPP_BEGIN

// ---- Initializers and variables

inline rheos_initializer zeros() { return rheos_zeros(); }
inline rheos_initializer ones() { return rheos_ones(); }
inline rheos_initializer constant_initializer(double value) {
  return rheos_constant_initializer(value);
}
inline rheos_initializer random_uniform_initializer(double minimum, double maximum) {
  return rheos_random_uniform_initializer(minimum, maximum);
}
inline rheos_initializer random_normal_initializer(double mean, double stddev) {
  return rheos_random_normal_initializer(mean, stddev);
}
inline rheos_initializer truncated_normal_initializer(double mean, double stddev) {
  return rheos_truncated_normal_initializer(mean, stddev);
}
inline rheos_initializer glorot_uniform_initializer() { return rheos_glorot_uniform_initializer(); }
inline rheos_initializer glorot_normal_initializer() { return rheos_glorot_normal_initializer(); }

inline Variable get_variable_record(At s, Text name, rheos_dtype dtype, const Shape &shape,
                                    const rheos_initializer &initializer = {},
                                    bool trainable = true) {
  return (rheos_get_variable_record)(s, name, dtype, shape, initializer, trainable);
}
// The value to compute with.
inline Output get_variable(At s, Text name, rheos_dtype dtype, const Shape &shape,
                           const rheos_initializer &initializer = {}) {
  return (rheos_get_variable)(s, name, dtype, shape, initializer);
}
inline Variable variable_new(At s, const rheos_output &initial_value,
                             const rheos_variable_options &options = {}) {
  return (rheos_variable_new)(s, initial_value, &options);
}
inline Output variable_read(At s, const rheos_variable &variable) {
  return rheos_variable_read(s, variable);
}
inline Operation variable_assign(At s, const rheos_variable &variable, const rheos_output &value) {
  return rheos_variable_assign(s, variable, value);
}
inline Operation variable_assign_add(At s, const rheos_variable &variable,
                                     const rheos_output &value) {
  return rheos_variable_assign_add(s, variable, value);
}
inline Operation variable_assign_sub(At s, const rheos_variable &variable,
                                     const rheos_output &value) {
  return rheos_variable_assign_sub(s, variable, value);
}
inline void variable_set_slice(At s, const rheos_variable &variable, Text full_name,
                               Text shape_and_slice) {
  rheos_variable_set_slice(s, variable, full_name, shape_and_slice);
}
inline Operation variables_initializer(At s, Variables variables, Text name = {}) {
  return (rheos_variables_initializer)(s, variables.data(), variables.size(), name);
}
inline Operation global_variables_initializer(At s) {
  return (rheos_global_variables_initializer)(s);
}

// ---- Optimizers

inline rheos_optimizer gradient_descent(double learning_rate) {
  return rheos_gradient_descent(learning_rate);
}
inline rheos_optimizer momentum(double learning_rate, double momentum) {
  return rheos_momentum(learning_rate, momentum);
}
inline rheos_optimizer adagrad(double learning_rate) { return rheos_adagrad(learning_rate); }
inline rheos_optimizer adam(double learning_rate) { return rheos_adam(learning_rate); }
inline rheos_optimizer rmsprop(double learning_rate) { return rheos_rmsprop(learning_rate); }
inline rheos_optimizer adadelta(double learning_rate) { return rheos_adadelta(learning_rate); }
inline rheos_optimizer ftrl(double learning_rate) { return rheos_ftrl(learning_rate); }
inline rheos_optimizer proximal_gradient_descent(double learning_rate) {
  return rheos_proximal_gradient_descent(learning_rate);
}
inline rheos_optimizer proximal_adagrad(double learning_rate) {
  return rheos_proximal_adagrad(learning_rate);
}
inline rheos_optimizer adagrad_da(double learning_rate, const rheos_variable &global_step) {
  return rheos_adagrad_da(learning_rate, global_step);
}
inline rheos_optimizer_parts optimizer_describe(const rheos_optimizer &optimizer) {
  return rheos_optimizer_describe(optimizer);
}

// Adds the operation of a step: rheos_minimize_with().
inline Operation minimize(At s, const rheos_optimizer &optimizer, const rheos_output &loss,
                          const rheos_minimize_options &options = {}) {
  return (rheos_minimize_with)(s, optimizer, loss, &options);
}
struct ComputedGradients {
  Array<rheos_variable> variables;
  Array<rheos_gradient> gradients;
};
// For all trainable variables, or those given.
inline ComputedGradients compute_gradients(At s, const rheos_optimizer &optimizer,
                                           const rheos_output &loss) {
  rheos_variable *variables = nullptr;
  rheos_gradient *gradients = nullptr;
  const size_t count =
      (rheos_compute_gradients)(s, optimizer, loss, nullptr, 0, &variables, &gradients);
  return {{variables, count}, {gradients, count}};
}
inline Array<rheos_gradient> compute_gradients(At s, const rheos_optimizer &optimizer,
                                               const rheos_output &loss, Variables variables) {
  rheos_gradient *gradients = nullptr;
  const size_t count = (rheos_compute_gradients)(s, optimizer, loss, variables.data(),
                                                 variables.size(), nullptr, &gradients);
  return {gradients, count};
}

namespace detail {
// Of two lists that belong together how many there are; none, and an error, if they differ.
inline size_t count_of_both(rheos_scope *scope, size_t first, size_t second) {
  if (first == second) return first;
  rheos_scope_fail_take(scope, rheos_status_new(RHEOS_INVALID_ARGUMENT,
                                                "two lists that belong together have %zu and %zu "
                                                "elements",
                                                first, second));
  return 0;
}
}  // namespace detail
inline Operation apply_gradients(At s, const rheos_optimizer &optimizer, Variables variables,
                                 Gradients gradients, const rheos_variable *global_step = nullptr,
                                 Text name = {}) {
  const size_t count = detail::count_of_both(s, variables.size(), gradients.size());
  return (rheos_apply_gradients)(s, optimizer, variables.data(), gradients.data(), count,
                                 global_step, name);
}
inline void optimizer_make_slots(At s, const rheos_optimizer &optimizer, Variables variables) {
  rheos_optimizer_make_slots(s, optimizer, variables.data(), variables.size());
}
inline void optimizer_prepare(At s, rheos_optimizer &optimizer) {
  rheos_optimizer_prepare(s, &optimizer);
}
inline Operation optimizer_update(At s, const rheos_optimizer &optimizer,
                                  const rheos_variable &variable, const rheos_gradient &gradient) {
  return rheos_optimizer_update(s, optimizer, variable, gradient);
}
inline Operation optimizer_finish(At s, const rheos_optimizer &optimizer, Operations updates,
                                  Text name = {}) {
  return rheos_optimizer_finish(s, optimizer, updates.data(), updates.size(), name);
}
inline rheos_gradient unique_rows(At s, const rheos_gradient &gradient) {
  return rheos_unique_rows(s, gradient);
}
inline Variable optimizer_make_slot(At s, const rheos_optimizer &optimizer,
                                    const rheos_variable &primary, Text slot_name,
                                    const rheos_initializer &initializer, Text name = {}) {
  return (rheos_optimizer_make_slot)(s, optimizer, primary, slot_name, initializer, name);
}

// ---- Learning rates that change with the step

inline Output exponential_decay(At s, double learning_rate, const rheos_output &global_step,
                                int32_t decay_steps, double decay_rate, bool staircase = false,
                                Text name = {}) {
  return rheos_exponential_decay(s, learning_rate, global_step, decay_steps, decay_rate, staircase,
                                 name);
}
inline Output natural_exp_decay(At s, double learning_rate, const rheos_output &global_step,
                                int32_t decay_steps, double decay_rate, bool staircase = false,
                                Text name = {}) {
  return rheos_natural_exp_decay(s, learning_rate, global_step, decay_steps, decay_rate, staircase,
                                 name);
}
inline Output inverse_time_decay(At s, double learning_rate, const rheos_output &global_step,
                                 int32_t decay_steps, double decay_rate, bool staircase = false,
                                 Text name = {}) {
  return rheos_inverse_time_decay(s, learning_rate, global_step, decay_steps, decay_rate, staircase,
                                  name);
}
inline Output polynomial_decay(At s, double learning_rate, const rheos_output &global_step,
                               int32_t decay_steps, double end_learning_rate = 1e-4,
                               double power = 1, bool cycle = false, Text name = {}) {
  return rheos_polynomial_decay(s, learning_rate, global_step, decay_steps, end_learning_rate,
                                power, cycle, name);
}
inline Output cosine_decay(At s, double learning_rate, const rheos_output &global_step,
                           int32_t decay_steps, double alpha = 0, Text name = {}) {
  return rheos_cosine_decay(s, learning_rate, global_step, decay_steps, alpha, name);
}
inline Output cosine_decay_restarts(At s, double learning_rate, const rheos_output &global_step,
                                    int32_t first_decay_steps, double t_mul = 2, double m_mul = 1,
                                    double alpha = 0, Text name = {}) {
  return rheos_cosine_decay_restarts(s, learning_rate, global_step, first_decay_steps, t_mul, m_mul,
                                     alpha, name);
}
inline Output linear_cosine_decay(At s, double learning_rate, const rheos_output &global_step,
                                  int32_t decay_steps, double num_periods = 0.5, double alpha = 0,
                                  double beta = 1e-3, Text name = {}) {
  return rheos_linear_cosine_decay(s, learning_rate, global_step, decay_steps, num_periods, alpha,
                                   beta, name);
}
// One value more than boundaries.
inline Output piecewise_constant(At s, const rheos_output &global_step,
                                 Span<const double> boundaries, Span<const double> values,
                                 Text name = {}) {
  const size_t count = detail::count_of_both(s, boundaries.size() + 1, values.size());
  if (count == 0) return {};
  return rheos_piecewise_constant(s, global_step, boundaries.data(), values.data(), count - 1,
                                  name);
}

// ---- Gradients kept within bounds

inline rheos_gradient clip_gradient_by_value(At s, const rheos_gradient &gradient, double minimum,
                                             double maximum, Text name = {}) {
  return rheos_clip_gradient_by_value(s, gradient, minimum, maximum, name);
}
inline rheos_gradient clip_gradient_by_norm(At s, const rheos_gradient &gradient, double clip_norm,
                                            Text name = {}) {
  return rheos_clip_gradient_by_norm(s, gradient, clip_norm, name);
}
inline rheos_gradient clip_gradient_by_average_norm(At s, const rheos_gradient &gradient,
                                                    double clip_norm, Text name = {}) {
  return rheos_clip_gradient_by_average_norm(s, gradient, clip_norm, name);
}
inline Output global_norm(At s, Gradients gradients, Text name = {}) {
  return rheos_global_norm(s, gradients.data(), gradients.size(), name);
}
// Clips them where they are, and gives the norm that they had.
inline Output clip_gradients_by_global_norm(At s, Span<rheos_gradient> gradients, double clip_norm,
                                            Text name = {}) {
  return rheos_clip_gradients_by_global_norm(s, gradients.data(), gradients.size(), clip_norm, name,
                                             gradients.data());
}

// ---- Savers

class Saver : public rheos_saver {
 public:
  Saver(const rheos_saver &saver) : rheos_saver(saver) {}
  // Of the graph's collection "variables", under their own names.
  explicit Saver(At s, const rheos_saver_options &options = {})
      : rheos_saver((rheos_saver_new_with)(s, nullptr, nullptr, 0, &options)) {}
  // Of these, under names (none: their own).
  Saver(At s, Variables variables, Texts names = {}, const rheos_saver_options &options = {})
      : rheos_saver(
            (rheos_saver_new_with)(s, variables.data(), names.empty() ? nullptr : names.data(),
                                   names.empty()
                                       ? variables.size()
                                       : detail::count_of_both(s, variables.size(), names.size()),
                                   &options)) {}

  Result<void> save(const SessionRef &session, Text prefix) const {
    return detail::done(rheos_saver_save(*this, session.get(), prefix));
  }
  Result<void> restore_from(const SessionRef &session, Text prefix) const {
    return detail::done(rheos_saver_restore(*this, session.get(), prefix));
  }
};

class CheckpointKeeper
    : public Owned<Handle<rheos_checkpoint_keeper>, rheos_checkpoint_keeper_free> {
 public:
  using Owned::Owned;
  static Result<CheckpointKeeper> make(const rheos_saver &saver,
                                       const rheos_checkpoint_keeper_options &options = {}) {
    return detail::handle_of<CheckpointKeeper>([&](rheos_checkpoint_keeper **out) {
      return rheos_checkpoint_keeper_new(saver, &options, out);
    });
  }
  Result<void> save(const SessionRef &session, Text path, int64_t step) {
    return detail::done(rheos_checkpoint_keeper_save(handle_, session.get(), path, step));
  }
  Result<void> recover(Texts prefixes) {
    return detail::done(rheos_checkpoint_keeper_recover(handle_, prefixes.data(), prefixes.size()));
  }
};

inline void init_from_checkpoint(At s, Text checkpoint,
                                 Span<const rheos_checkpoint_assignment> assignments) {
  rheos_init_from_checkpoint(s, checkpoint, assignments.data(), assignments.size());
}
inline Result<void> restore_check(const rheos_operation &restore, Text checkpoint) {
  return detail::done(rheos_restore_check(restore, checkpoint));
}

RHEOS_CPP_END

#endif  // RHEOS_CPP_TRAIN_HPP
