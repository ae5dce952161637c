#include "device/opencl/along.h"

#include <string.h>

#include "device/opencl/move.h"
#include "device/opencl/sort.h"
#include "device/opencl/source.h"

#include "opencl/along.inc"

static rheos_status *decline(rheos__prepare *p, const char *reason) {
  if (p->release != NULL) p->release(p->state);
  p->decline_reason = reason;
  return NULL;
}

// ---- Running totals

// Columns for which a work-item each is enough, and rows that are few.
enum { MANY = 4096, FEW = 64 };

typedef struct scan_rule {
  const char *op, *start, *step, *join;
} scan_rule;

static const scan_rule rules[] = {
    {"Cumsum", "0", "before + VALUE", "(a) + (b)"},
    {"Cumprod", "1", "before * VALUE", "(a) * (b)"},
    {"CumulativeLogsumexp", "-INFINITY", "log_sum(before, (TOTAL)value)", "log_sum(a, b)"},
};

static const scan_rule *rule_of(const char *op) {
  const scan_rule *rule = rules;
  while (strcmp(rule->op, op) != 0) rule++;
  return rule;
}

rheos_status *rheos__cl_prepare_scan(rheos__prepare *p) {
  rheos__card *card = rheos__card_of(p->device);
  const rheos_dtype of = p->input_dtypes[0];
  const rheos__cl_dtype *dtype = rheos__cl_dtype_of(card, of);
  const scan_rule *rule = rule_of(p->op->name);
  const rheos_shape *in = &p->input_shapes[0];
  int32_t axis;
  RHEOS_TRY(p->op->prepare(p));
  if (!rheos__cl_find_axis(p, 1, in->rank, &axis) || dtype == NULL ||
      card->max_group < RHEOS__GROUP) {
    return decline(p, "it is known only when it runs along which dimension, or of other numbers");
  }
  const int64_t rows = in->dims[axis], inner = rheos__shape_product(in, axis + 1, in->rank);
  const int64_t columns = rheos__shape_product(in, 0, axis) * inner;
  rheos__launch *launch = rheos__launch_begin(card, p->arena, p->num_inputs, 1);
  if (launch == NULL) return rheos__out_of_memory();
  if (rows > 0 && columns > 0) {
    const bool each = columns >= MANY || rows <= FEW, whole = rheos_dtype_is_integer(of);
    const rheos__stage_operand operands[] = {{0, 0}, {p->num_inputs, 0}};
    rheos__grid grid = {1, {(size_t)columns}, {0}};
    if (!each) {
      grid = (rheos__grid){1, {(size_t)columns * RHEOS__GROUP}, {RHEOS__GROUP, 1, 1}};
    }
    rheos__text text = {0};
    rheos__cl_add_prelude(&text);
    rheos__cl_add_macros(&text, dtype);
    rheos__cl_add(&text, "typedef %s TOTAL;\n#define GROUP %d\n#define START %s\n",
                  whole ? "ulong" : "double", (int)RHEOS__GROUP, rule->start);
    rheos__cl_add(&text, "#define VALUE %s\n#define STEP (%s)\n#define JOIN(a, b) (%s)\n",
                  whole ? "WIDEN(value)" : "value", rule->step, rule->join);
    if (!whole) rheos__text_add_string(&text, "#define FLOATING 1\n");
    rheos__text_add_string(&text, rheos__cl_along);
    rheos__launch_add_text(launch, &text, each ? "scan_each" : "scan_parts", operands, 2, &grid);
    const int64_t numbers[] = {columns, rows, inner, rheos__attr_bool(p->attrs, "reverse"),
                               rheos__attr_bool(p->attrs, "exclusive")};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
      rheos__launch_set_number(launch, numbers[i]);
    }
  }
  return rheos__launch_end(launch, p, 0);
}

// ---- The largest

// How many are found one after the other.
enum { TURNS = 48 };

// A number of 32 bits that rises with one of the dtype; NULL: there is none.
static const char *rising_of(rheos_dtype dtype) {
  switch (dtype) {
    case RHEOS_FLOAT:
    case RHEOS_HALF:
    case RHEOS_BFLOAT16:
      return "(v == 0 ? 0x80000000u : as_uint(v) ^ (v < 0 ? 0xffffffffu : 0x80000000u))";
    case RHEOS_INT8:
    case RHEOS_INT16:
    case RHEOS_INT32: return "((uint)(int)v ^ 0x80000000u)";
    case RHEOS_UINT8:
    case RHEOS_UINT16:
    case RHEOS_UINT32: return "((uint)v)";
    default: return NULL;
  }
}

typedef struct top {
  rheos__launch *launch;
  const rheos__cl_dtype *dtype;
  const char *index, *rising;
  int64_t rows, n, k;
} top;

static void add_top(const top *t, const char *name, const rheos__stage_operand *operands,
                    int32_t num_operands, const rheos__grid *grid) {
  rheos__text text = {0};
  rheos__cl_add_prelude(&text);
  rheos__cl_add_macros(&text, t->dtype);
  rheos__cl_add(&text, "#define INDEX %s\n#define GROUP %d\n", t->index, (int)RHEOS__GROUP);
  if (t->rising != NULL) rheos__cl_add(&text, "#define RISING(v) %s\n", t->rising);
  rheos__text_add_string(&text, rheos__cl_along);
  rheos__launch_add_text(t->launch, &text, name, operands, num_operands, grid);
  rheos__launch_set_number(t->launch, t->n);
}

static void add_turns(const top *t, int32_t out) {
  const rheos__stage_operand operands[] = {{0, 0}, {out, 0}, {out + 1, 0}};
  const rheos__grid grid = {1, {(size_t)t->rows * RHEOS__GROUP}, {RHEOS__GROUP, 1, 1}};
  add_top(t, "top_by_turns", operands, 3, &grid);
  rheos__launch_set_number(t->launch, t->k);
}

static size_t add_sorted(const top *t, int32_t out) {
  const int64_t padded = rheos__sort_padded(t->n), count = t->rows * padded;
  const rheos__stage_operand keys = {RHEOS__SCRATCH, 0};
  const rheos__stage_operand made[] = {{0, 0}, keys},
                             taken[] = {{0, 0}, keys, {out, 0}, {out + 1, 0}};
  const rheos__grid all = {1, {(size_t)count}, {0}}, best = {1, {(size_t)(t->rows * t->k)}, {0}};
  add_top(t, "top_keys", made, 2, &all);
  rheos__launch_set_number(t->launch, padded);
  rheos__launch_set_number(t->launch, count);
  rheos__sort_add(t->launch, &keys, t->rows, padded);
  add_top(t, "top_taken", taken, 4, &best);
  rheos__launch_set_number(t->launch, padded);
  rheos__launch_set_number(t->launch, t->k);
  rheos__launch_set_number(t->launch, t->rows * t->k);
  return (size_t)count * sizeof(cl_ulong);
}

rheos_status *rheos__cl_prepare_top_k(rheos__prepare *p) {
  rheos__card *card = rheos__card_of(p->device);
  const rheos_shape *in = &p->input_shapes[0], *out = &p->output_shapes[0];
  top t = {.dtype = rheos__cl_dtype_of(card, p->input_dtypes[0]),
           .index = rheos__cl_integer_of(p->output_dtypes[1]),
           .rising = rising_of(p->input_dtypes[0]),
           .n = in->dims[in->rank - 1],
           .k = out->dims[out->rank - 1]};
  RHEOS_TRY(p->op->prepare(p));
  t.rows = rheos__shape_product(in, 0, in->rank - 1);
  if (t.dtype == NULL || t.index == NULL || card->max_group < RHEOS__GROUP || t.n >= INT32_MAX) {
    return decline(p, "the device does not sort numbers of this dtype, or so many");
  }
  const bool by_turns = t.k <= TURNS || t.rising == NULL;
  t.launch = rheos__launch_begin(card, p->arena, p->num_inputs,
                                 by_turns ? 1 : rheos__sort_stages(rheos__sort_padded(t.n)) + 2);
  if (t.launch == NULL) return rheos__out_of_memory();
  size_t scratch_bytes = 0;
  if (t.rows > 0 && t.k > 0 && by_turns) {
    add_turns(&t, p->num_inputs);
  } else if (t.rows > 0 && t.k > 0) {
    scratch_bytes = add_sorted(&t, p->num_inputs);
  }
  return rheos__launch_end(t.launch, p, scratch_bytes);
}
