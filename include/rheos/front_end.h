// For front ends of other languages, which keep registries of their own beside the library's, let
// go of a
// lock of theirs while a step runs, and make functions that nobody removes by hand. Not part of
// <rheos/rheos.h>.
#ifndef RHEOS_FRONT_END_H
#define RHEOS_FRONT_END_H

#include <rheos/eager.h>
#include <rheos/train.h>

#ifdef __cplusplus
extern "C" {
#endif

// ---- Variables

// Makes a variable of nodes that the graph has already, as an import leaves them: `nodes` has the
// handle
// (a reference or a resource), the value, and as far as they are known the initial value and the
// initializer (graph NULL: not known). A handle that a variable has already gives that variable. It
// joins
// no collection. Errors go to the scope.
RHEOS_API rheos_variable rheos_variable_from_nodes(rheos_scope *scope, rheos_variable nodes);

// Decides what rheos_get_variable() would do for the full name: finds the variable in
// `*out_variable`, or leaves it none if it shall be made, or sets the scope's error.
RHEOS_API void rheos_find_variable(rheos_scope *scope, const char *full_name, rheos_reuse reuse,
                                   rheos_dtype dtype, rheos_shape shape,
                                   rheos_variable *out_variable);
// Enters a variable under its full name, for rheos_find_variable().
RHEOS_API void rheos_share_variable(rheos_scope *scope, const char *full_name,
                                    rheos_variable variable);

// ---- Slots of optimizers

// rheos_optimizer_slot() of exactly this optimizer: its name and identity.
RHEOS_API rheos_variable rheos_optimizer_own_slot(rheos_graph *graph, rheos_optimizer optimizer,
                                                  rheos_variable variable, const char *slot_name);
// Enters a variable as a slot, for rheos_optimizer_own_slot().
RHEOS_API void rheos_optimizer_set_slot(rheos_scope *scope, rheos_optimizer optimizer,
                                        rheos_variable variable, const char *slot_name,
                                        rheos_variable slot);

// ---- How long a run takes: whether it is worth letting go of a lock

// A guess at the time of one run of the callable's latest plan in nanoseconds, 0 if it never ran.
RHEOS_API int64_t rheos_callable_cost_ns(const rheos_callable *callable);
// A guess at the time of the latest run in nanoseconds, 0 before the first; -1: it may have to
// wait, or
// calls functions.
RHEOS_API int64_t rheos_region_cost_ns(const rheos_region *region);

// ---- Functions that programs no longer use

// Takes a function, made by a program or read from a file, out of the library of
// rheos_eager_graph(), with what was prepared for
// calls of it; RHEOS_NOT_FOUND if there is none. One that a tape recorded a call of stays until the
// tape is
// gone and a function is removed again, or until rheos_eager_sweep() is called.
RHEOS_STATUS rheos_eager_remove_function(rheos_eager *eager, const char *name);
// As rheos_eager_remove_function() of several, which takes less time than one by one; after the
// first that is not there, none is removed.
RHEOS_STATUS rheos_eager_remove_functions(rheos_eager *eager, const char *const *names,
                                          size_t num_names);
// Lets go of removed functions that tapes held on to.
RHEOS_API void rheos_eager_sweep(rheos_eager *eager);

// ---- Eager operations

// An attribute of the operation that the region is; kind RHEOS_ATTR_NONE if it has no such
// attribute, or
// the region is no single operation.
RHEOS_API rheos_attr_value rheos_region_attr(const rheos_region *region, const char *name);

// Whether a tape that records on this thread watches one of the tensors.
RHEOS_API bool rheos_eager_is_watched(const rheos_eager *eager, rheos_tensor *const *tensors,
                                      size_t num_tensors);

#ifdef __cplusplus
}
#endif

#endif  // RHEOS_FRONT_END_H
