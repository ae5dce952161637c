// Calls of ops drawn at random: new ones from a signature, and recorded ones with something
// changed. What is drawn follows from the seed alone.
#ifndef RHEOS_TESTS_OPS_RANDOM_CASE_H
#define RHEOS_TESTS_OPS_RANDOM_CASE_H

#include "ops/op_cases.h"

// A drawn size can ask for terabytes: while this is the library's allocator, no block is larger
// than 16 MiB.
void random_case_cap_memory(bool cap);

void random_case_seed(uint64_t seed);
uint64_t random_case_draw(uint64_t below);

// Integers that sizes, indices and axes are seldom: very large, very small, -1.
extern const int64_t random_case_odd_integers[];
extern const int random_case_num_odd_integers;

// Element `index` of a tensor of numbers becomes the integer, cut to the dtype.
void random_case_store_integer(rheos_tensor *tensor, int64_t index, int64_t value);

// A copy with the attributes that `from` leaves at their defaults written out.
void random_case_spell_defaults(const op_case *from, op_case *out);

// Changes an input, or an attribute, of a copy: nonsense more often than not.
void random_case_tangle_input(op_input *input);
void random_case_tangle_attr(op_case *c, rheos_attr *attr);

// A call of the op of cases [first, end), which fits its signature and is plausible more often than
// not. All of its inputs that can be fed are of the kinds INPUT_FEED and INPUT_CONST.
void random_case_new(const op_cases *cases, size_t first, size_t end, op_case *out);

// Writes the call as a case file would have it, for a message.
void random_case_print(const op_case *c);

#endif  // RHEOS_TESTS_OPS_RANDOM_CASE_H
