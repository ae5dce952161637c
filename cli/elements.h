// Elements of tensors, one by one: as text, as JSON, from another dtype.
#ifndef RHEOS_CLI_ELEMENTS_H
#define RHEOS_CLI_ELEMENTS_H

#include <rheos/tensor.h>

#include "text.h"

typedef enum element_kind {
  ELEMENT_SIGNED,
  ELEMENT_UNSIGNED,
  ELEMENT_REAL,
  ELEMENT_COMPLEX,
  ELEMENT_TRUTH,
  ELEMENT_BYTES,
  ELEMENT_OTHER,
} element_kind;

typedef struct element {
  element_kind kind;
  bool is_float;  // of a real or complex one: single precision is enough to tell it
  int64_t i;
  uint64_t u;  // also of a truth value
  double re, im;
  rheos_string bytes;  // borrowed
} element;

element element_at(const rheos_tensor *tensor, int64_t index);
// RHEOS_INVALID_ARGUMENT where the dtype cannot hold it: a fraction in an integer, a number that
// is too large, a text for a number. Floating numbers are rounded.
rheos_status *element_set(rheos_tensor *tensor, int64_t index, const element *e);
// The tensor's values in another dtype; a reference to the tensor itself if it has that already.
// Elements of two bytes become bfloat16 as they are, as NumPy keeps them.
rheos_status *elements_convert(rheos_tensor *tensor, rheos_dtype dtype, rheos_tensor **out_tensor);

// As a program would write it: 1.5, true, (1+2j), "text".
void element_print(FILE *out, const rheos_tensor *tensor, int64_t index);
// The first `most` elements, "1 2 3 ...".
void elements_print(FILE *out, const rheos_tensor *tensor, int64_t most);
// A complex number is a list of two; a string that is no UTF-8 is {"b64": "..."}.
void element_json(json *j, const rheos_tensor *tensor, int64_t index);
// All elements, nested as the shape is.
void elements_json(json *j, const char *key, const rheos_tensor *tensor);

#endif  // RHEOS_CLI_ELEMENTS_H
