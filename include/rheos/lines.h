// Source lines for what C programs add to a graph: with this header, part of <rheos/rheos.h>, the
// functions below note the line they are called from, so that errors can name it, as the wrappers
// of <rheos/ops.h> do. `scope` is evaluated twice.
#ifndef RHEOS_LINES_H
#define RHEOS_LINES_H

#include <rheos/train.h>

#define RHEOS_HERE(scope) rheos_scope_set_source((scope), __FILE__, __LINE__)

// A macro is not expanded inside itself: these call the functions of the same names.
#define rheos_op(scope, ...) (RHEOS_HERE(scope), rheos_op((scope), __VA_ARGS__))
#define rheos_constant(scope, ...) (RHEOS_HERE(scope), rheos_constant((scope), __VA_ARGS__))
#define rheos_constant_float(scope, ...) \
  (RHEOS_HERE(scope), rheos_constant_float((scope), __VA_ARGS__))
#define rheos_constant_int(scope, ...) (RHEOS_HERE(scope), rheos_constant_int((scope), __VA_ARGS__))
#define rheos_constant_values(scope, ...) \
  (RHEOS_HERE(scope), rheos_constant_values((scope), __VA_ARGS__))
#define rheos_constant_texts(scope, ...) \
  (RHEOS_HERE(scope), rheos_constant_texts((scope), __VA_ARGS__))
#define rheos_group(scope, ...) (RHEOS_HERE(scope), rheos_group((scope), __VA_ARGS__))
#define rheos_gradients(scope, ...) (RHEOS_HERE(scope), rheos_gradients((scope), __VA_ARGS__))

#define rheos_get_variable(scope, ...) (RHEOS_HERE(scope), rheos_get_variable((scope), __VA_ARGS__))
#define rheos_get_variable_record(scope, ...) \
  (RHEOS_HERE(scope), rheos_get_variable_record((scope), __VA_ARGS__))
#define rheos_variable_new(scope, ...) (RHEOS_HERE(scope), rheos_variable_new((scope), __VA_ARGS__))
#define rheos_variables_initializer(scope, ...) \
  (RHEOS_HERE(scope), rheos_variables_initializer((scope), __VA_ARGS__))
#define rheos_global_variables_initializer(scope) \
  (RHEOS_HERE(scope), rheos_global_variables_initializer(scope))

#define rheos_compute_gradients(scope, ...) \
  (RHEOS_HERE(scope), rheos_compute_gradients((scope), __VA_ARGS__))
#define rheos_apply_gradients(scope, ...) \
  (RHEOS_HERE(scope), rheos_apply_gradients((scope), __VA_ARGS__))
#define rheos_minimize(scope, ...) (RHEOS_HERE(scope), rheos_minimize((scope), __VA_ARGS__))
#define rheos_minimize_with(scope, ...) \
  (RHEOS_HERE(scope), rheos_minimize_with((scope), __VA_ARGS__))
#define rheos_optimizer_make_slot(scope, ...) \
  (RHEOS_HERE(scope), rheos_optimizer_make_slot((scope), __VA_ARGS__))
#define rheos_saver_new(scope, ...) (RHEOS_HERE(scope), rheos_saver_new((scope), __VA_ARGS__))

#endif  // RHEOS_LINES_H
