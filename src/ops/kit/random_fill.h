// What the random ops share: the generator that a node keeps, how Philox's bits become numbers, and
// filling a tensor with them, bit for bit as TensorFlow does.
#ifndef RHEOS_SRC_OPS_KIT_RANDOM_FILL_H
#define RHEOS_SRC_OPS_KIT_RANDOM_FILL_H

#include "graph/op_def.h"
#include "ops/kit/philox.h"

// ---- The generator of a node with the attributes `seed` and `seed2`: a resource of the session

typedef struct rheos__generator rheos__generator;

// The node's generator with a reference; for rheos__generator_unref().
rheos_status *rheos__generator_of_node(rheos__prepare *p, rheos__generator **out_generator);
void rheos__generator_unref(rheos__generator *generator);
// The generator as it stands, which then goes on by `steps`.
rheos__philox rheos__generator_reserve(rheos__generator *generator, uint64_t steps);

// ---- Generators without a state of their own

// The generator of the stateless ops for the two numbers of `seed`.
rheos__philox rheos__philox_of_seed(const rheos_tensor *seed);
// Fails unless `seed` has shape [2].
rheos_status *rheos__check_seed(const rheos_shape *seed);
// In shape functions: fails unless input 1 can be a generator's key, a vector of one.
rheos_status *rheos__check_key(const rheos__infer *c);
// The generator of ops with the inputs (.., key, counter, algorithm, ..) from input `first` on;
// fails if these are none.
rheos_status *rheos__philox_of_key(rheos_tensor *const *inputs, int first,
                                   rheos__philox *out_philox);
// Fails unless `algorithm` is one that there is: 1 is Philox, 3 whichever is the default.
rheos_status *rheos__check_rng_algorithm(int64_t algorithm);

// ---- Bits to numbers

double rheos__random_double(uint32_t x0, uint32_t x1);  // uniform in [0, 1)
float rheos__random_float(uint32_t x);
void rheos__normal_doubles(const uint32_t *x, double *out);  // two out of four numbers of 32 bits
static inline double rheos__philox_next_double(rheos__philox_singles *singles) {
  const uint32_t x0 = rheos__philox_next(singles), x1 = rheos__philox_next(singles);
  return rheos__random_double(x0, x1);
}

// The first place whose running sum is above `wanted`; `count` if there is none.
int64_t rheos__first_above(const double *sums, int64_t count, double wanted);

// ---- Distributions

typedef enum rheos__distribution_kind {
  RHEOS__UNIFORM,   // floats from 0 up to 1; integers of a range
  RHEOS__FULL_INT,  // all integers of the dtype
  RHEOS__NORMAL,
  RHEOS__TRUNCATED,
  RHEOS__NUM_DISTRIBUTIONS,
} rheos__distribution_kind;

// The integers low, low + 1, ..., low + width - 1.
typedef struct rheos__random_range {
  uint64_t low, width;
} rheos__random_range;

typedef struct rheos__distribution {
  int group_size;   // numbers that one call makes
  int group_steps;  // of the generator between one group and the next
  void (*fill)(rheos__philox philox, const rheos__random_range *range, void *out);
} rheos__distribution;

// NULL where there are no such numbers of that dtype.
const rheos__distribution *rheos__distribution_of(rheos__distribution_kind kind, rheos_dtype dtype);

// Fills `out`. Threads do not change the numbers.
rheos_status *rheos__random_fill(rheos__step *step, const rheos__distribution *distribution,
                                 rheos__philox philox, rheos__random_range range,
                                 rheos_tensor *out);

// Calls body(argument, first, last) for parts of [0, count) on the session's threads;
// looks between two whether to stop. `flops` is the work of one.
typedef rheos_status *(*rheos__random_body)(void *argument, int64_t first, int64_t last);
rheos_status *rheos__random_parallel(rheos__step *step, int64_t count, int64_t flops,
                                     rheos__random_body body, void *argument);

// ---- Inputs

// How the inputs of a stateless op tell its generator and its range.
typedef struct rheos__random_inputs {
  bool keyed;       // a key, a counter and an algorithm, not a seed
  int first_bound;  // the input `minval`; 0: there is no range
} rheos__random_inputs;
rheos__random_inputs rheos__random_inputs_of(const rheos__prepare *p);
// What they tell, for numbers of that shape.
rheos_status *rheos__random_inputs_read(const rheos__random_inputs *told,
                                        rheos_tensor *const *inputs, const rheos_shape *shape,
                                        rheos__philox *out_philox, rheos__random_range *out_range);

// The value of the input `shape`.
rheos_status *rheos__random_shape_of(const rheos_tensor *dims, rheos_shape *out_shape);
// The range of the inputs `minval` and `maxval`; an empty one is refused if there are elements.
rheos_status *rheos__random_range_of(const rheos_tensor *low, const rheos_tensor *high,
                                     const rheos_shape *shape, rheos__random_range *out_range);

// Words of signatures
#define RHEOS__RANDOM_SEEDS "seed: int = 0; seed2: int = 0; "
#define RHEOS__RANDOM_FLOATS "{half, bfloat16, float, double}"

#endif  // RHEOS_SRC_OPS_KIT_RANDOM_FILL_H
