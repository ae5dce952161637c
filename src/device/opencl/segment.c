#include "device/opencl/segment.h"

#include "device/opencl/source.h"
#include "ops/math/segment.h"

#include "opencl/segment.inc"

// What the joined rows are divided by, which the CPU does in double.
static const char *divided(rheos__segment_kind kind, rheos_dtype dtype) {
  const bool is_whole = rheos_dtype_is_integer(dtype);
  switch (kind) {
    case RHEOS__SEGMENT_MEAN: return is_whole ? "x / (C)joined" : "(double)x / (double)joined";
    case RHEOS__SEGMENT_SQRT_N: return "(double)x / sqrt((double)joined)";
    default: return "x";
  }
}

// `indices`: the input that picks rows; 0: there is none.
static rheos_status *prepare(rheos__prepare *p, int32_t indices) {
  rheos__card *card = rheos__card_of(p->device);
  const int32_t ids = indices + 1;
  const rheos_shape *data = &p->input_shapes[0];
  const rheos_dtype dtype = p->output_dtypes[0];
  const rheos__segment_kind kind = rheos__segment_kind_named(p->op->name);
  const char *formula = rheos__change_formula(rheos__segment_change(kind), dtype);
  const rheos__cl_dtype *numbers = rheos__cl_dtype_of(card, dtype);
  const int64_t count = rheos_shape_num_elements(&p->output_shapes[0]);
  if (numbers == NULL || formula == NULL || count < 0) {
    p->decline_reason =
        "the device does not join numbers of this dtype, or of ids that it must see";
    return NULL;
  }
  rheos__launch *launch = rheos__launch_begin(card, p->arena, p->num_inputs, 1);
  if (launch == NULL) return rheos__out_of_memory();
  if (count > 0) {
    const int64_t rows = rheos_shape_num_elements(&p->input_shapes[ids]);
    // No rows, or no data, have no address that could be a kernel's.
    const int32_t out = p->num_inputs;
    const bool is_empty = rows == 0 || rheos_shape_num_elements(data) == 0;
    const rheos__stage_operand operands[] = {{is_empty ? out : 0, 0},
                                             {is_empty ? out : indices, 0},
                                             {is_empty ? out : ids, 0},
                                             {out, 0}};
    const rheos__grid grid = {1, {(size_t)count}, {0}};
    rheos__text text = {0};
    rheos__cl_add_prelude(&text);
    rheos__cl_add_macros(&text, numbers);
    rheos__cl_add_types(&text, numbers);
    rheos__cl_add(&text, "\n#define ID %s\n", rheos__cl_integer_of(p->input_dtypes[ids]));
    if (indices > 0) {
      rheos__cl_add(&text, "#define INDEX %s\n", rheos__cl_integer_of(p->input_dtypes[indices]));
    }
    rheos__cl_add(&text, "#define START %d\n#define FORMULA (%s)\n#define DIVIDED %s\n",
                  kind == RHEOS__SEGMENT_PROD, formula, divided(kind, dtype));
    rheos__text_add_string(&text, rheos__cl_segment);
    rheos__launch_add_text(launch, &text, "segments", operands, 4, &grid);
    rheos__launch_set_number(launch, count);
    rheos__launch_set_number(launch, is_empty ? 0 : rows);
    rheos__launch_set_number(launch, rheos__shape_product(data, 1, data->rank));
    rheos__launch_set_number(launch, data->dims[0]);
  }
  return rheos__launch_end(launch, p, 0);
}

rheos_status *rheos__cl_prepare_segment(rheos__prepare *p) { return prepare(p, 0); }
rheos_status *rheos__cl_prepare_sparse_segment(rheos__prepare *p) { return prepare(p, 1); }
