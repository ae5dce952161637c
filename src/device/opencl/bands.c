#include "device/opencl/bands.h"

#include "device/opencl/launch.h"
#include "device/opencl/source.h"
#include "ops/array/bands.h"
#include "ops/kit/array_util.h"

#include "opencl/band_formulas.inc"
#include "opencl/bands.inc"

// Inputs; `other`: what stands where no diagonal is.
typedef struct band_operands {
  int32_t data, k, other;
  bool to_matrix;
  bool has_matrix;  // of others, an element for each place; else there is one for all
} band_operands;

static void add_kernel(rheos__launch *launch, const rheos__prepare *p, const band_operands *o,
                       const char *word) {
  const rheos_shape *in = &p->input_shapes[o->data], *out = &p->output_shapes[0];
  const rheos_shape *matrices = o->to_matrix ? out : in, *packed = o->to_matrix ? in : out;
  const int64_t rows = matrices->dims[matrices->rank - 2];
  const int64_t columns = matrices->dims[matrices->rank - 1];
  const int64_t longest = packed->dims[packed->rank - 1];
  const int64_t batch = rheos__shape_product(matrices, 0, matrices->rank - 2);
  const int64_t num_packed = rheos_shape_num_elements(packed);
  const int64_t count = rheos_shape_num_elements(out);
  const int64_t num_k = rheos_shape_num_elements(&p->input_shapes[o->k]);
  const void *k = p->input_values[o->k]->data;
  // Nothing is read of what is empty.
  const int32_t data = rheos_shape_num_elements(in) > 0 ? o->data : o->other;
  const rheos__stage_operand operands[] = {{data, 0}, {o->other, 0}, {p->num_inputs, 0}};
  const rheos__grid grid = {1, {(size_t)count}, {0}};
  bool upper_left, lower_left;
  rheos__text text = {0};
  rheos__band_align(p->attrs, &upper_left, &lower_left);
  rheos__cl_add_prelude(&text);
  rheos__text_add_string(&text, rheos__cl_band_formulas);
  rheos__cl_add(&text,
                "#define WORD %s\n#define TO_MATRIX %d\n#define HAS_MATRIX %d\n"
                "#define UPPER_LEFT %d\n#define LOWER_LEFT %d\n",
                word, o->to_matrix, o->has_matrix, upper_left, lower_left);
  rheos__text_add_string(&text, rheos__cl_bands);
  rheos__launch_add_text(launch, &text, "bands", operands, 3, &grid);
  rheos__launch_set_number(launch, count);
  rheos__launch_set_number(launch, rheos__int_in(RHEOS_INT32, k, 0));
  rheos__launch_set_number(launch, rheos__int_in(RHEOS_INT32, k, num_k - 1));
  rheos__launch_set_number(launch, rows);
  rheos__launch_set_number(launch, columns);
  rheos__launch_set_number(launch, num_packed > 0 ? num_packed / longest / batch : 0);
  rheos__launch_set_number(launch, longest);
}

static rheos_status *answer(rheos__prepare *p, const band_operands *o) {
  const char *word = rheos__cl_word_of(rheos_dtype_size(p->output_dtypes[0]));
  RHEOS_TRY(p->op->prepare(p));
  if (p->input_values == NULL || p->input_values[o->k] == NULL) {
    if (p->release != NULL) p->release(p->state);
    p->decline_reason = "it is known only when it runs which diagonals are meant";
    return NULL;
  }
  rheos__launch *launch =
      rheos__launch_begin(rheos__card_of(p->device), p->arena, p->num_inputs, 1);
  if (launch == NULL) return rheos__out_of_memory();
  launch->cannot = word == NULL;
  if (word != NULL && rheos_shape_num_elements(&p->output_shapes[0]) > 0) {
    add_kernel(launch, p, o, word);
  }
  return rheos__launch_end(launch, p, 0);
}

rheos_status *rheos__cl_prepare_bands_part(rheos__prepare *p) {
  return answer(p, &(band_operands){.data = 0, .k = 1, .other = 2});
}

rheos_status *rheos__cl_prepare_bands(rheos__prepare *p) {
  return answer(p, &(band_operands){.data = 0, .k = 1, .other = 4, .to_matrix = true});
}

rheos_status *rheos__cl_prepare_bands_set(rheos__prepare *p) {
  return answer(
      p, &(band_operands){.data = 1, .k = 2, .other = 0, .to_matrix = true, .has_matrix = true});
}
