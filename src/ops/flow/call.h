// What the ops that call functions share.
#ifndef RHEOS_SRC_OPS_FLOW_CALL_H
#define RHEOS_SRC_OPS_FLOW_CALL_H

#include "graph/calls.h"

// Gradients of what calls functions, by functions made of these (autodiff).
void rheos__gradient_call(rheos__grad *g);
void rheos__gradient_branches(rheos__grad *g);
void rheos__gradient_loop(rheos__grad *g);

// The arguments of a kernel's bodies: its inputs from `first` on.
typedef struct rheos__call_args {
  int32_t first, count;
  rheos__resource **cells;  // by argument; NULL: none is a cell
} rheos__call_args;
rheos_status *rheos__call_args_init(const rheos__prepare *p, int32_t first,
                                    rheos__call_args *out_args);

// An op that stands for a structure in the plan of a step. `inputs` come before the arguments of
// its bodies.
#define RHEOS__RAISED(op, inputs, more_flags, prepare_it, text)                             \
  const rheos__op_def rheos__op_##op = {                                                    \
      .name = #op,                                                                          \
      .signature =                                                                          \
          inputs "input: Tin -> output: Tout; Tin: list(type) >= 0; Tout: list(type) >= 0", \
      .doc = text,                                                                          \
      .flags = RHEOS_OP_CALLS | RHEOS_OP_ANY_MEMORY | (more_flags),                         \
      .shape = rheos__shape_none,                                                           \
      .prepare = prepare_it,                                                                \
  };

// A site for the function in an attribute, or in a list of them. `results` NULL: the kernel's
// outputs.
rheos_status *rheos__call_site(const rheos__prepare *p, const rheos_func *func,
                               const rheos__call_args *args, const rheos_dtype *results,
                               int32_t num_results, rheos__site **out_site);

// What the kernel's outputs are if they are the results of all of `sites`, any of which a step may
// call: shapes on which they agree, and cells. `prepare` calls it last.
rheos_status *rheos__infer_called(rheos__prepare *p, const rheos__call_args *args,
                                  rheos__site *const *sites, int32_t num_sites);

// Enters, runs with the kernel's inputs, leaves.
rheos_status *rheos__call_once(rheos__site *site, const rheos__call_args *args, rheos__step *step,
                               rheos_tensor *const *inputs, rheos_tensor **outputs);

// Whether a condition holds, as TensorFlow has it: a number that is not 0, a string that is not
// empty; of another shape than a scalar's: whether there is any element. A handle (NULL too) and a
// variant are neither: an error.
rheos_status *rheos__is_true(const rheos_tensor *tensor, bool *out_true);

#endif  // RHEOS_SRC_OPS_FLOW_CALL_H
