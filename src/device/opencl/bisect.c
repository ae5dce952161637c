#include "device/opencl/bisect.h"

#include <math.h>

#include "device/opencl/launch.h"
#include "device/opencl/source.h"

enum { MOST_BOUNDARIES = 4096 };

// For each value y how many of the sorted numbers x of its row are left of it; NaN is left of none.
static const char source[] =
    "kernel void bisect(global const char *bs, ulong os, global const char *bv, ulong ov,\n"
    "                   global char *bz, ulong oz, long count, long values, long numbers) {\n"
    "  const ulong at = get_global_id(0);\n"
    "  if (at >= (ulong)count) return;\n"
    "  const COMPUTED y = LOAD(((global const STORED *)(bv + ov))[at]);\n"
    "  SORTED\n"
    "  long low = 0, high = numbers;\n"
    "  while (low < high) {\n"
    "    const long middle = low + (high - low) / 2;\n"
    "    if (IS_LEFT(NUMBER(middle), y)) low = middle + 1;\n"
    "    else high = middle;\n"
    "  }\n"
    "  ((global OUT *)(bz + oz))[at] = (OUT)low;\n"
    "}\n";
static const char of_input[] =
    "#define SORTED global const STORED *sorted = (global const STORED *)(bs + os) + "
    "at / (ulong)values * (ulong)numbers;\n"
    "#define NUMBER(i) LOAD(sorted[i])\n";
static const char of_program[] = "#define SORTED\n#define NUMBER(i) boundaries[i]\n";

typedef struct bisection {
  bool upper;
  int32_t sorted, values;  // inputs; nothing is read of the first if there are boundaries
  const rheos_attr_value *boundaries;
  int64_t num_values, num_numbers;  // of a row
} bisection;

static void add_boundaries(rheos__text *text, const rheos_attr_value *boundaries) {
  rheos__text_add_string(text, "constant float boundaries[] = {");
  for (int32_t i = 0; i < boundaries->count; i++) {
    rheos__cl_add(text, "%af,", (double)boundaries->floats[i]);
  }
  rheos__text_add_string(text, "0};\n");
  rheos__text_add_string(text, of_program);
}

static void add_kernel(rheos__launch *launch, const rheos__prepare *p, const bisection *b,
                       const rheos__cl_dtype *dtype, int64_t count) {
  const bool is_empty = rheos_shape_num_elements(&p->input_shapes[b->sorted]) == 0;
  const rheos__stage_operand operands[] = {
      {is_empty ? b->values : b->sorted, 0}, {b->values, 0}, {p->num_inputs, 0}};
  const rheos__grid grid = {1, {(size_t)count}, {0}};
  rheos__text text = {0};
  rheos__cl_add_prelude(&text);
  rheos__cl_add_macros(&text, dtype);
  rheos__cl_add(&text, "#define OUT %s\n#define IS_LEFT(x, y) %s\n",
                rheos__cl_integer_of(p->output_dtypes[0]), b->upper ? "!((y) < (x))" : "(x) < (y)");
  if (b->boundaries != NULL) add_boundaries(&text, b->boundaries);
  if (b->boundaries == NULL) rheos__text_add_string(&text, of_input);
  rheos__text_add_string(&text, source);
  rheos__launch_add_text(launch, &text, "bisect", operands, 3, &grid);
  rheos__launch_set_number(launch, count);
  rheos__launch_set_number(launch, b->num_values);
  rheos__launch_set_number(launch, b->num_numbers);
}

static rheos_status *answer(rheos__prepare *p, const bisection *b) {
  rheos__card *card = rheos__card_of(p->device);
  const rheos__cl_dtype *dtype = rheos__cl_dtype_of(card, p->input_dtypes[b->values]);
  rheos__launch *launch = rheos__launch_begin(card, p->arena, p->num_inputs, 1);
  if (launch == NULL) return rheos__out_of_memory();
  launch->cannot = dtype == NULL;
  const int64_t count = rheos_shape_num_elements(&p->output_shapes[0]);
  if (dtype != NULL && count > 0) add_kernel(launch, p, b, dtype, count);
  return rheos__launch_end(launch, p, 0);
}

static rheos_status *among_rows(rheos__prepare *p, bool upper) {
  RHEOS_TRY(p->op->prepare(p));
  return answer(p, &(bisection){.upper = upper,
                                .sorted = 0,
                                .values = 1,
                                .num_values = p->input_shapes[1].dims[1],
                                .num_numbers = p->input_shapes[0].dims[1]});
}

rheos_status *rheos__cl_prepare_lower_bound(rheos__prepare *p) { return among_rows(p, false); }
rheos_status *rheos__cl_prepare_upper_bound(rheos__prepare *p) { return among_rows(p, true); }

static bool can_be_written(const rheos_attr_value *boundaries) {
  bool can = boundaries->count <= MOST_BOUNDARIES;
  for (int32_t i = 0; can && i < boundaries->count; i++) can = isfinite(boundaries->floats[i]);
  return can;
}

rheos_status *rheos__cl_prepare_bucketize(rheos__prepare *p) {
  const rheos_attr_value *boundaries = rheos__attrs_find(p->attrs, "boundaries");
  RHEOS_TRY(p->op->prepare(p));
  if (!can_be_written(boundaries)) {
    if (p->release != NULL) p->release(p->state);
    p->decline_reason = "its boundaries are too many for a program, or not finite";
    return NULL;
  }
  return answer(p, &(bisection){.upper = true,
                                .boundaries = boundaries,
                                .num_values = 1,
                                .num_numbers = boundaries->count});
}
