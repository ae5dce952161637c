// CLBlast, a library of tuned products for cards of all makers, from where the machine has it. It
// is opened when a product is first prepared; RHEOS_OPENCL_BLAS=off leaves it out, and on takes it
// for processors too, where its first use compiles for a minute.
#ifndef RHEOS_SRC_DEVICE_OPENCL_BLAST_H
#define RHEOS_SRC_DEVICE_OPENCL_BLAST_H

#include "device/opencl/card_memory.h"

// c (m, n) = a (m, k) b (k, n), rows one after another, for each place of a batch, along which
// operands move by so many elements. Half is left to kernels that sum up in float.
typedef struct rheos__blast_product {
  bool is_double, transpose_a, transpose_b;
  size_t m, n, k, count, a_step, b_step, c_step;
} rheos__blast_product;

// Whether products go through it. The first question about a card and a dtype multiplies matrices
// whose product is known: a card for which that is wrong is left to our own kernels, said once.
bool rheos__blast_can(rheos__card *card, bool is_double);

// Gives it to the card's queue; the card's lock is held. `event`: of its end; or NULL.
rheos_status *rheos__blast_run(rheos__card *card, const rheos__blast_product *product,
                               const rheos__card_place *a, const rheos__card_place *b,
                               const rheos__card_place *c, cl_event *event);

#endif  // RHEOS_SRC_DEVICE_OPENCL_BLAST_H
