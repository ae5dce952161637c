// The generator in a variable, for ops in other files that draw by it.
#ifndef RHEOS_SRC_OPS_RANDOM_RNG_VARIABLE_H
#define RHEOS_SRC_OPS_RANDOM_RNG_VARIABLE_H

#include "ops/kit/philox.h"
#include "ops/kit/variable_util.h"

// The variable behind input 0.
rheos_status *rheos__rng_of(const rheos__prepare *p, rheos__cells *out_cells);
// The variable's generator as it is, which then goes on by `steps`; fails where the variable holds
// none or `algorithm` is none that there is.
rheos_status *rheos__rng_reserve(const rheos__cells *cells, const rheos_tensor *algorithm,
                                 uint64_t steps, rheos__philox *out_philox);

#endif  // RHEOS_SRC_OPS_RANDOM_RNG_VARIABLE_H
