#include "device/opencl/mirror.h"

#include <string.h>

#include "device/opencl/origin.h"
#include "device/opencl/source.h"
#include "ops/kit/array_util.h"

static bool is_symmetric(const rheos__prepare *p) {
  return strcmp(rheos__attr_string(p->attrs, "mode"), "SYMMETRIC") == 0;
}

static int64_t padding_of(const rheos__prepare *p, int32_t at) {
  return rheos__int_in(p->input_dtypes[1], p->input_values[1]->data, at);
}

// Whether all of the frame shows something inside, without which the CPU reports an error.
static bool shows_inside(const rheos__prepare *p, const rheos_shape *inner) {
  for (int32_t i = 0; i < 2 * inner->rank; i++) {
    const int64_t size = padding_of(p, i);
    if (size < 0 || size > inner->dims[i / 2] - !is_symmetric(p)) return false;
  }
  return true;
}

// Declines what the card does not do.
static void check(rheos__prepare *p, const rheos_shape *inner) {
  if (p->input_values == NULL || p->input_values[1] == NULL) {
    p->decline_reason = "it is known only when it runs how large the frame is";
  } else if (!shows_inside(p, inner)) {
    p->decline_reason = "the frame is larger than its image";
  }
}

rheos_status *rheos__cl_prepare_mirror_pad(rheos__prepare *p) {
  const rheos_shape *inner = &p->input_shapes[0];
  check(p, inner);
  if (p->decline_reason != NULL) return NULL;
  rheos__origins o = {0};
  rheos__origins_add_dims(&o, inner, &p->output_shapes[0], 0, inner->rank);
  for (int d = 0; d < inner->rank; d++) {
    rheos__origins_add_number(&o, padding_of(p, 2 * d));
    rheos__cl_add(&o.lines,
                  "i%d -= n%d;\ni%d = i%d < 0 ? -i%d - %d : i%d >= (whole)x%d ? "
                  "2 * (whole)x%d - 2 - i%d + %d : i%d;\n",
                  d, d, d, d, d, is_symmetric(p), d, d, d, d, is_symmetric(p), d);
  }
  return rheos__origins_answer(p, &o);
}

// ---- MirrorPadGrad: `framed` has `inner` with its mirror image around it
//
// Numbers of dimension d: fd, nd: the sizes of both; bd: what comes before.

static void add_arguments(rheos__text *text, int32_t rank) {
  rheos__text_add_string(text,
                         "kernel void mirror(global const char *bx, ulong ox, global char *bz, "
                         "ulong oz, long count, long edge");
  for (int32_t d = 0; d < rank; d++) {
    rheos__cl_add(text, ", long f%d, long n%d, long b%d", (int)d, (int)d, (int)d);
  }
  rheos__text_add_string(text,
                         ") {\nlong rest = get_global_id(0);\nif (rest >= count) return;\n"
                         "const long at = rest;\n");
}

// The sum of all framed elements that show an inner one, in their order: along each dimension
// that before the tensor, the one itself, and that behind it.
static void add_sum(rheos__text *text, int32_t rank) {
  for (int32_t d = rank - 1; d >= 0; d--) {
    rheos__cl_add(text, "const long i%d = rest %% n%d; rest /= n%d;\n", (int)d, (int)d, (int)d);
  }
  rheos__text_add_string(text, "COMPUTED x = 0;\n");
  for (int32_t d = 0; d < rank; d++) {
    const int k = (int)d;
    rheos__cl_add(text,
                  "for (int k%d = 0; k%d < 3; k%d++) {\n"
                  "const long c%d = k%d == 0 ? b%d - i%d - edge : k%d == 1 ? b%d + i%d\n"
                  "  : b%d + 2 * n%d - 2 + edge - i%d;\n",
                  k, k, k, k, k, k, k, k, k, k, k, k, k);
    rheos__cl_add(text,
                  "if (c%d < 0 || c%d >= f%d || (k%d == 0 && c%d >= b%d) ||\n"
                  "    (k%d == 2 && c%d < b%d + n%d)) continue;\n",
                  k, k, k, k, k, k, k, k, k, k);
  }
  rheos__text_add_string(text, "long from = 0;\n");
  for (int32_t d = 0; d < rank; d++) {
    rheos__cl_add(text, "from = from * f%d + c%d;\n", (int)d, (int)d);
  }
  rheos__text_add_string(text,
                         "const COMPUTED y = LOAD(((global const STORED *)(bx + ox))[from]);\n"
                         "x = (COMPUTED)LOAD(STORE((wrapping)(x) + (wrapping)(y)));\n");
  for (int32_t d = 0; d < rank; d++) rheos__text_add_string(text, "}\n");
  rheos__text_add_string(text, "((global STORED *)(bz + oz))[at] = STORE(x);\n}\n");
}

static void add_kernel(rheos__launch *launch, const rheos__prepare *p, const rheos__cl_dtype *dtype,
                       const rheos_shape *framed, const rheos_shape *inner) {
  const int64_t count = rheos_shape_num_elements(inner);
  const rheos__stage_operand operands[] = {{0, 0}, {p->num_inputs, 0}};
  const rheos__grid grid = {1, {(size_t)count}, {0}};
  rheos__text text = {0};
  if (count == 0) return;
  rheos__cl_add_prelude(&text);
  rheos__cl_add_macros(&text, dtype);
  rheos__cl_add_types(&text, dtype);
  add_arguments(&text, inner->rank);
  add_sum(&text, inner->rank);
  rheos__launch_add_text(launch, &text, "mirror", operands, 2, &grid);
  rheos__launch_set_number(launch, count);
  rheos__launch_set_number(launch, is_symmetric(p));
  for (int32_t d = 0; d < inner->rank; d++) {
    rheos__launch_set_number(launch, framed->dims[d]);
    rheos__launch_set_number(launch, inner->dims[d]);
    rheos__launch_set_number(launch, padding_of(p, 2 * d));
  }
}

rheos_status *rheos__cl_prepare_mirror_pad_grad(rheos__prepare *p) {
  const rheos_shape *framed = &p->input_shapes[0], *inner = &p->output_shapes[0];
  rheos__card *card = rheos__card_of(p->device);
  const rheos__cl_dtype *dtype = rheos__cl_dtype_of(card, p->output_dtypes[0]);
  RHEOS_TRY(rheos__prepare_reference(p));
  check(p, inner);
  if (dtype == NULL) p->decline_reason = "the device does not add numbers of this dtype";
  if (p->decline_reason != NULL) return NULL;
  rheos__launch *launch = rheos__launch_begin(card, p->arena, p->num_inputs, 1);
  if (launch == NULL) return rheos__out_of_memory();
  add_kernel(launch, p, dtype, framed, inner);
  return rheos__launch_end(launch, p, 0);
}
