// Programs for cards, written as text: the prelude, and what dtypes are called in them.
#ifndef RHEOS_SRC_DEVICE_OPENCL_SOURCE_H
#define RHEOS_SRC_DEVICE_OPENCL_SOURCE_H

#include "base/text.h"
#include "device/opencl/card.h"
#include "ops/kit/elementwise.h"

// How a number of a dtype is stored, computed with, and brought from the one to the other.
typedef struct rheos__cl_dtype {
  const char *stored, *computed, *wrapping;
  const char *load, *store;  // the beginnings of expressions, closed by a parenthesis
  const char *lowest, *highest;
} rheos__cl_dtype;

// NULL if the card does not compute with it.
const rheos__cl_dtype *rheos__cl_dtype_of(const rheos__card *card, rheos_dtype dtype);

// The lowest finite number of a dtype, as text.
const char *rheos__cl_least_of(rheos_dtype dtype, const rheos__cl_dtype *written);

// Whether the text of a formula uses nothing that programs for cards lack.
bool rheos__cl_can_write(const char *formula);

// Whether it calls special functions, and nothing else of ours: these are for cards with doubles,
// and programs have them if they are added.
bool rheos__cl_is_special(const char *formula);
void rheos__cl_add_special(rheos__text *text);

void rheos__cl_add_prelude(rheos__text *text);
// As printf(), for short pieces.
void rheos__cl_add(rheos__text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

// The types of a formula over one dtype: C, and `wrapping`.
void rheos__cl_add_types(rheos__text *text, const rheos__cl_dtype *dtype);

// What holds the bits of an element of so many bytes; NULL: nothing does.
const char *rheos__cl_word_of(size_t size_bytes);
// The type of an index; NULL: it is none.
const char *rheos__cl_integer_of(rheos_dtype dtype);

// What a group makes together, RHEOS__GROUP work-items in one dimension: group.cl.
enum { RHEOS__GROUP = 128 };
void rheos__cl_add_group(rheos__text *text, const char *total);

// As macros, for kernels of whole files: STORED, COMPUTED, LOAD(v) and STORE(v).
void rheos__cl_add_macros(rheos__text *text, const rheos__cl_dtype *dtype);

// The index of element `index` (an unsigned variable `at`) of an operand that is broadcast: the
// dimensions of the whole are arguments PREFIXd0.., the steps PREFIXs0...; `steps` says which are
// 0. Declares `NAME` of type `place`.
void rheos__cl_add_index(rheos__text *text, const char *name, const char *prefix, int32_t rank,
                         const int64_t *steps);

#endif  // RHEOS_SRC_DEVICE_OPENCL_SOURCE_H
