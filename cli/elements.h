// Elements of tensors, one by one, as text and as JSON.
#ifndef RHEOS_CLI_ELEMENTS_H
#define RHEOS_CLI_ELEMENTS_H

#include <rheos/tensor.h>

#include "text.h"

// As a program would write it: 1.5, true, (1+2j), "text".
void element_print(FILE *out, const rheos_tensor *tensor, int64_t index);
// A complex number is a list of two; a string that is no UTF-8 is {"b64": "..."}.
void element_json(json *j, const rheos_tensor *tensor, int64_t index);
// All elements, nested as the shape is.
void elements_json(json *j, const char *key, const rheos_tensor *tensor);

#endif  // RHEOS_CLI_ELEMENTS_H
