// What the string families share: kernels that make strings, and their values.
#ifndef RHEOS_SRC_OPS_KIT_STRING_UTIL_H
#define RHEOS_SRC_OPS_KIT_STRING_UTIL_H

#include "base/text.h"
#include "graph/op_def.h"

// ---- Kernels that make one string of each string of input 0
//
// The state of such a kernel starts with this.
typedef struct rheos__string_map rheos__string_map;
struct rheos__string_map {
  // Appends the result for `in` to `out`, which is empty. `in->data` may be NULL if it is empty.
  rheos_status *(*make)(const rheos__string_map *map, const rheos_string *in, rheos__text *out);
};
// Answers with p->state, a rheos__string_map, over all elements of input 0.
rheos_status *rheos__answer_string_map(rheos__prepare *p);
// Maps the strings of a tensor, for kernels whose map depends on values: makes *out_tensor.
rheos_status *rheos__map_strings(const rheos__string_map *map, const rheos_tensor *input,
                                 rheos_tensor **out_tensor);

// A kernel `run` over the elements of input 0, each a unit. The state starts with their number:
// where there are none, a kernel is still called for one unit.
typedef struct rheos__string_units {
  int64_t count;
} rheos__string_units;
void rheos__answer_string_units(rheos__prepare *p, rheos__run_fn run);
static inline int64_t rheos__last_unit(const void *state, int64_t last) {
  const rheos__string_units *units = state;
  return last < units->count ? last : units->count;
}

// ---- Values

// The scalar string in `tensor`; a status naming it `what` for another shape.
rheos_status *rheos__string_scalar(const rheos_tensor *tensor, const char *what,
                                   const rheos_string **out_string);
// A string as a path: without NULs, in a fresh NUL-terminated string for rheos__free().
rheos_status *rheos__string_path(const rheos_string *string, char **out_path);
// Puts text into element `index`; a status if the text had failed for want of memory, or the step
// is to stop: it is asked each thousand elements.
rheos_status *rheos__set_text(rheos_tensor *tensor, int64_t index, const rheos__text *text);
// A fresh scalar of that text, which is freed in any case.
rheos_status *rheos__text_tensor_take(rheos__text *text, rheos_tensor **out_tensor);

// The number of dtype float, double, int32, int64, uint32 or uint64 that the string is the text of,
// white space around it allowed; false if it is none.
bool rheos__parse_number(const rheos_string *in, rheos_dtype dtype, void *out);

#endif  // RHEOS_SRC_OPS_KIT_STRING_UTIL_H
