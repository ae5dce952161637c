// What ops on variables share: their cells, and changes to them in place.
#ifndef RHEOS_SRC_OPS_KIT_VARIABLE_UTIL_H
#define RHEOS_SRC_OPS_KIT_VARIABLE_UTIL_H

#include "graph/op_def.h"

enum { RHEOS__MAX_CELLS = 4 };

// The cells an op works on, borrowed from their nodes' kernels.
typedef struct rheos__cells {
  int32_t count;
  rheos__variable_cell *items[RHEOS__MAX_CELLS];
  rheos__memory *memory;  // where the op changes them
} rheos__cells;

// The cells behind the first `count` inputs; a status if one of them is no variable, or if two are
// the same.
rheos_status *rheos__cells_of(const rheos__prepare *p, int32_t count, rheos__cells *out_cells);

// Locks all cells for writing, in an order that cannot deadlock. All or none.
rheos_status *rheos__cells_begin_write(const rheos__cells *cells,
                                       rheos_tensor *out_values[RHEOS__MAX_CELLS]);
void rheos__cells_end_write(const rheos__cells *cells);

// The reference that comes out is the one that went in.
static inline void rheos__pass_reference(rheos__prepare *p) {
  if (p->num_outputs > 0) p->output_resource = p->input_resources[0];
}

// Fails unless every index is in [0, limit).
rheos_status *rheos__check_indices(const rheos_tensor *indices, int64_t limit);

// ---- Changes: to[i] = to[i] OP from[i], or OP from[0] for all
typedef void (*rheos__change)(void *to, const void *from, int64_t n, bool repeated);

typedef enum rheos__change_kind {
  RHEOS__CHANGE_SET,
  RHEOS__CHANGE_ADD,
  RHEOS__CHANGE_SUB,
  RHEOS__CHANGE_MUL,
  RHEOS__CHANGE_DIV,
  RHEOS__CHANGE_MIN,  // NaN in `to` stays, in `from` is passed over
  RHEOS__CHANGE_MAX,
  RHEOS__CHANGE_NEWEST_MIN,  // NaN in `from` is taken, in `to` is replaced
  RHEOS__CHANGE_NEWEST_MAX,
} rheos__change_kind;

// NULL if the dtype has no such change. Integers are not divided by 0: call
// rheos__check_divisors() before.
rheos__change rheos__change_of(rheos__change_kind kind, rheos_dtype dtype);

// The formula of such a change as text, in x, which is there, and y, with the names of
// elementwise.h; NULL as above. Of complex numbers and what is only copied there is none.
const char *rheos__change_formula(rheos__change_kind kind, rheos_dtype dtype);

// A change that can fail: strings are copied, integers not divided by 0.
rheos_status *rheos__change_elements(rheos__change_kind kind, rheos_dtype dtype, void *to,
                                     const void *from, int64_t n, bool repeated);
// Fails if `kind` divides and one of the integers in `updates` is 0.
rheos_status *rheos__check_divisors(rheos__change_kind kind, const rheos_tensor *updates);
// "OP is not available for dtype T" unless there is such a change.
rheos_status *rheos__check_change(const rheos__prepare *p, rheos__change_kind kind,
                                  rheos_dtype dtype);

// ---- Handles of version 1: references to strings, in cells

// The cell behind input 0 if that is such a reference, borrowed; else NULL.
rheos_status *rheos__string_cell_of(const rheos__prepare *p, rheos__variable_cell **out_cell);
// The cell "FOLDER/NODE" for output 0 of a node, with a reference for the caller.
rheos_status *rheos__string_cell_new(const rheos__prepare *p, const char *folder,
                                     rheos__variable_cell **out_cell);

#endif  // RHEOS_SRC_OPS_KIT_VARIABLE_UTIL_H
