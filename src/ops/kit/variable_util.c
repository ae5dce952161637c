// Cells and changes in place. The loops have the formulas of the elementwise rows of the same
// names.
#pragma GCC optimize("O3")
#include "ops/kit/variable_util.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "ops/kit/array_util.h"
#include "ops/kit/elementwise.h"

// The dtype that the op takes the variable behind input `i` to hold: a handle does not tell.
static rheos_dtype dtype_behind(const rheos__prepare *p, int32_t i) {
  if (p->input_dtypes[i] != RHEOS_RESOURCE) return p->input_dtypes[i];
  const rheos_attr_value *attr = rheos__attrs_find(p->attrs, "T");
  if (attr == NULL) attr = rheos__attrs_find(p->attrs, "dtype");
  return attr != NULL ? attr->type : RHEOS_INVALID_DTYPE;
}

rheos_status *rheos__cells_of(const rheos__prepare *p, int32_t count, rheos__cells *out_cells) {
  out_cells->count = count;
  out_cells->memory = p->memory;
  for (int32_t i = 0; i < count; ++i) {
    rheos__resource *resource = p->input_resources[i];
    if (resource == NULL || resource->kind != &rheos__variable_kind) {
      return RHEOS_INVALID("input %d is not a variable", (int)i);
    }
    out_cells->items[i] = (rheos__variable_cell *)resource;
    rheos_dtype held = out_cells->items[i]->dtype, wanted = dtype_behind(p, i);
    if (held != wanted && held != RHEOS_INVALID_DTYPE && wanted != RHEOS_INVALID_DTYPE) {
      return RHEOS_INVALID("variable %s holds %s, %s takes it for %s", resource->name,
                           rheos_dtype_name(held), p->op->name, rheos_dtype_name(wanted));
    }
    for (int32_t k = 0; k < i; ++k) {
      if (out_cells->items[k] == out_cells->items[i]) {
        return RHEOS_INVALID("inputs %d and %d are the same variable %s", (int)k, (int)i,
                             resource->name);
      }
    }
  }
  return NULL;
}

// Indices of the cells by address: everybody locks in this order.
static void lock_order(const rheos__cells *cells, int32_t order[RHEOS__MAX_CELLS]) {
  for (int32_t i = 0; i < cells->count; ++i) {
    int32_t at = i;
    for (; at > 0 && (uintptr_t)cells->items[order[at - 1]] > (uintptr_t)cells->items[i]; --at) {
      order[at] = order[at - 1];
    }
    order[at] = i;
  }
}

rheos_status *rheos__cells_begin_write(const rheos__cells *cells,
                                       rheos_tensor *out_values[RHEOS__MAX_CELLS]) {
  int32_t order[RHEOS__MAX_CELLS];
  lock_order(cells, order);
  for (int32_t i = 0; i < cells->count; ++i) {
    rheos_status *status =
        rheos__variable_begin_write(cells->items[order[i]], cells->memory, &out_values[order[i]]);
    if (status == NULL) continue;
    while (i > 0) rheos__variable_end_write(cells->items[order[--i]]);
    return status;
  }
  return NULL;
}

void rheos__cells_end_write(const rheos__cells *cells) {
  for (int32_t i = 0; i < cells->count; ++i) rheos__variable_end_write(cells->items[i]);
}

rheos_status *rheos__check_indices(const rheos_tensor *indices, int64_t limit) {
  for (int64_t i = 0; i < indices->num_elements; ++i) {
    int64_t index = rheos__tensor_int_at(indices, i);
    if (index < 0 || index >= limit) {
      return RHEOS_INVALID("indices[%lld] = %lld is not in [0, %lld)", (long long)i,
                           (long long)index, (long long)limit);
    }
  }
  return NULL;
}

// ---- Changes

#define CHANGE_LOOP(S, qualifier, name, formula)                                   \
  qualifier static void change_##name##_##S(void *to, const void *from, int64_t n, \
                                            bool repeated) {                       \
    typedef rheos__computed_##S C __attribute__((unused));                         \
    typedef rheos__wrapping_##S rheos__wrapping __attribute__((unused));           \
    rheos__stored_##S *xs = to;                                                    \
    const rheos__stored_##S *ys = from;                                            \
    if (repeated) {                                                                \
      const C y = RHEOS__LOAD_##S(ys[0]);                                          \
      for (int64_t i = 0; i < n; ++i) {                                            \
        const C x __attribute__((unused)) = RHEOS__LOAD_##S(xs[i]);                \
        xs[i] = RHEOS__STORE_##S(formula);                                         \
      }                                                                            \
    } else {                                                                       \
      RHEOS__INDEPENDENT for (int64_t i = 0; i < n; ++i) {                         \
        const C x __attribute__((unused)) = RHEOS__LOAD_##S(xs[i]);                \
        const C y = RHEOS__LOAD_##S(ys[i]);                                        \
        xs[i] = RHEOS__STORE_##S(formula);                                         \
      }                                                                            \
    }                                                                              \
  }

#define CHANGES(ROW)                                              \
  ROW(SET, RHEOS__NUMBERS, , y)                                   \
  ROW(ADD, RHEOS__NUMBERS, RHEOS__WIDE, W(x) + W(y))              \
  ROW(ADD, RHEOS__BOOLS, , x || y)                                \
  ROW(SUB, RHEOS__NUMBERS, RHEOS__WIDE, W(x) - W(y))              \
  ROW(MUL, RHEOS__NUMBERS, , W(x) * W(y))                         \
  ROW(DIV, RHEOS__FLOATS, , x / y)                                \
  ROW(SET, RHEOS__COMPLEXES, , y)                                 \
  ROW(ADD, RHEOS__COMPLEXES, , x + y)                             \
  ROW(SUB, RHEOS__COMPLEXES, , x - y)                             \
  ROW(MUL, RHEOS__COMPLEXES, , x *y)                              \
  ROW(DIV, RHEOS__COMPLEXES, , x / y)                             \
  ROW(DIV, RHEOS__UNSIGNED, , x / y)                              \
  ROW(DIV, RHEOS__SIGNED, , y == -1 ? (C)(0 - W(x)) : (C)(x / y)) \
  ROW(MIN, RHEOS__NUMBERS, , y < x ? y : x)                       \
  ROW(MAX, RHEOS__NUMBERS, , y > x ? y : x)                       \
  ROW(NEWEST_MIN, RHEOS__NUMBERS, , x < y ? x : y)                \
  ROW(NEWEST_MAX, RHEOS__NUMBERS, , x > y ? x : y)

#define ROW_LOOPS(name, DTYPES, qualifier, formula) DTYPES(CHANGE_LOOP, qualifier, name, formula)
CHANGES(ROW_LOOPS)

#define CHANGE_ENTRY(S, name) [RHEOS__CHANGE_##name][RHEOS__DTYPE_##S] = change_##name##_##S,
#define ROW_ENTRIES(name, DTYPES, qualifier, formula) DTYPES(CHANGE_ENTRY, name)

static const rheos__change changes[][RHEOS__NUM_DTYPES] = {CHANGES(ROW_ENTRIES)};

rheos__change rheos__change_of(rheos__change_kind kind, rheos_dtype dtype) {
  if ((int)dtype >= RHEOS__NUM_DTYPES) return NULL;
  if (kind == RHEOS__CHANGE_SET && dtype == RHEOS_BOOL) dtype = RHEOS_UINT8;
  return changes[kind][dtype];
}

#define FORMULA_ENTRY(S, name, text) [RHEOS__CHANGE_##name][RHEOS__DTYPE_##S] = text,
#define ROW_FORMULAS(name, DTYPES, qualifier, formula) DTYPES(FORMULA_ENTRY, name, #formula)

static const char *const change_formulas[][RHEOS__NUM_DTYPES] = {CHANGES(ROW_FORMULAS)};

const char *rheos__change_formula(rheos__change_kind kind, rheos_dtype dtype) {
  return (int)dtype < RHEOS__NUM_DTYPES ? change_formulas[kind][dtype] : NULL;
}

rheos_status *rheos__change_elements(rheos__change_kind kind, rheos_dtype dtype, void *to,
                                     const void *from, int64_t n, bool repeated) {
  if (dtype != RHEOS_STRING) {
    const rheos__change change = rheos__change_of(kind, dtype);
    assert(change != NULL);  // rheos__check_change() has refused the others
    change(to, from, n, repeated);
    return NULL;
  }
  if (!repeated) return rheos__copy_elements(dtype, to, from, n);
  return rheos__fill_elements(dtype, to, from, n);
}

rheos_status *rheos__check_divisors(rheos__change_kind kind, const rheos_tensor *updates) {
  if (kind != RHEOS__CHANGE_DIV || !rheos_dtype_is_integer(updates->dtype)) return NULL;
  for (int64_t i = 0; i < updates->num_elements; ++i) {
    if (rheos__tensor_int_at(updates, i) == 0) return RHEOS_INVALID("Integer division by zero");
  }
  return NULL;
}

rheos_status *rheos__check_change(const rheos__prepare *p, rheos__change_kind kind,
                                  rheos_dtype dtype) {
  bool sets_string = kind == RHEOS__CHANGE_SET && dtype == RHEOS_STRING;
  if (sets_string || rheos__change_of(kind, dtype) != NULL) return NULL;
  return rheos_status_new(RHEOS_UNIMPLEMENTED, "%s is not available for dtype %s", p->op->name,
                          rheos_dtype_name(dtype));
}

// ---- Handles of version 1

rheos_status *rheos__string_cell_of(const rheos__prepare *p, rheos__variable_cell **out_cell) {
  *out_cell = NULL;
  rheos__resource *cell = p->num_inputs > 0 ? p->input_resources[0] : NULL;
  if (cell == NULL || p->input_dtypes[0] != RHEOS_STRING) return NULL;
  if (cell->kind != &rheos__variable_kind) {
    return RHEOS_INVALID("the handle refers to a %s", cell->kind->name);
  }
  *out_cell = (rheos__variable_cell *)cell;
  return NULL;
}

rheos_status *rheos__string_cell_new(const rheos__prepare *p, const char *folder,
                                     rheos__variable_cell **out_cell) {
  const size_t size = strlen(folder) + strlen(p->node_name) + 2;
  char *name = rheos__arena_alloc(p->arena, size);
  if (name == NULL) return rheos__out_of_memory();
  snprintf(name, size, "%s/%s", folder, p->node_name);
  rheos_dtype dtype = RHEOS_STRING;
  rheos__resource *cell = NULL;
  RHEOS_TRY(rheos__resources_get(p->resources, &rheos__variable_kind, name, &dtype, &cell));
  *out_cell = (rheos__variable_cell *)cell;
  return NULL;
}
