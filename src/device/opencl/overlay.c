#include "device/opencl/overlay.h"

#include <string.h>

#include "device/opencl/move.h"
#include "device/opencl/source.h"

static rheos_status *decline(rheos__prepare *p, const char *reason) {
  if (p->release != NULL) p->release(p->state);
  p->decline_reason = reason;
  return NULL;
}

static const char late[] = "it is known only when it runs what is moved where";

// ---- One copy over zeros or another input

rheos_status *rheos__cl_prepare_spread(rheos__prepare *p) {
  RHEOS_TRY(p->op->prepare(p));
  const rheos__spread *spread = p->run != NULL ? rheos__spread_of(p->run, p->state) : NULL;
  if (spread == NULL) return decline(p, late);
  rheos__launch *launch =
      rheos__launch_begin(rheos__card_of(p->device), p->arena, p->num_inputs, 2);
  if (launch == NULL) return rheos__out_of_memory();
  const int64_t count = rheos_shape_num_elements(&p->output_shapes[0]);
  if (spread->base_input < 0) {
    rheos__move_add_fill(launch, p->num_inputs, count, rheos_dtype_size(p->output_dtypes[0]), 0);
  } else {
    rheos__copy whole;
    rheos__copy_init(&whole, p->output_dtypes[0]);
    rheos__copy_add(&whole, count, 1, 1);
    rheos__move_add(launch, &whole, spread->base_input, p->num_inputs);
  }
  rheos__move_add(launch, &spread->copy, spread->data_input, p->num_inputs);
  return rheos__launch_end(launch, p, 0);
}

// ---- MatrixBandPart

static const char band_source[] =
    "kernel void band(global const char *bx, ulong ox, global const char *bl, ulong ol,\n"
    "                 global const char *bu, ulong ou, global char *bz, ulong oz, long count,\n"
    "                 long rows, long columns) {\n"
    "  const long at = get_global_id(0);\n"
    "  if (at >= count) return;\n"
    "  const long lower = *(global const INDEX *)(bl + ol), column = at % columns;\n"
    "  const long upper = *(global const INDEX *)(bu + ou), row = at / columns % rows;\n"
    "  const bool is_in = (lower < 0 || row - column <= lower) &&\n"
    "                     (upper < 0 || column - row <= upper);\n"
    "  const WORD none = 0;\n"
    "  ((global WORD *)(bz + oz))[at] = is_in ? ((global const WORD *)(bx + ox))[at] : none;\n"
    "}\n";

rheos_status *rheos__cl_prepare_band(rheos__prepare *p) {
  const rheos_shape *shape = &p->input_shapes[0];
  const char *word = rheos__cl_word_of(rheos_dtype_size(p->output_dtypes[0]));
  const char *index = rheos__cl_integer_of(p->input_dtypes[1]);
  RHEOS_TRY(p->op->prepare(p));
  if (word == NULL || index == NULL) return decline(p, "the device does not move such elements");
  rheos__launch *launch =
      rheos__launch_begin(rheos__card_of(p->device), p->arena, p->num_inputs, 1);
  if (launch == NULL) return rheos__out_of_memory();
  const int64_t count = rheos_shape_num_elements(shape);
  if (count > 0) {
    const rheos__stage_operand operands[] = {{0, 0}, {1, 0}, {2, 0}, {3, 0}};
    const rheos__grid grid = {1, {(size_t)count}, {0}};
    rheos__text text = {0};
    rheos__cl_add(&text, "#define WORD %s\n#define INDEX %s\n", word, index);
    rheos__text_add_string(&text, band_source);
    rheos__launch_add_text(launch, &text, "band", operands, 4, &grid);
    rheos__launch_set_number(launch, count);
    rheos__launch_set_number(launch, shape->dims[shape->rank - 2]);
    rheos__launch_set_number(launch, shape->dims[shape->rank - 1]);
  }
  return rheos__launch_end(launch, p, 0);
}

// ---- MirrorPad: `framed` has `inner` with its mirror image around it
//
// Numbers of dimension d: fd, nd: the sizes of both; bd: what comes before.

static void add_mirror_arguments(rheos__text *text, int32_t rank) {
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

// The inner element that each framed one shows.
static void add_mirror(rheos__text *text, int32_t rank, const char *word) {
  rheos__text_add_string(text, "long from = 0, step = 1;\n");
  for (int32_t d = rank - 1; d >= 0; d--) {
    const int k = (int)d;
    rheos__cl_add(text,
                  "{ const long i = rest %% f%d - b%d;\n"
                  "from += step * (i < 0 ? -i - edge : i >= n%d ? 2 * n%d - 2 - i + edge : i);\n"
                  "rest /= f%d; step *= n%d; }\n",
                  k, k, k, k, k, k);
  }
  rheos__cl_add(text, "((global %s *)(bz + oz))[at] = ((global const %s *)(bx + ox))[from];\n}\n",
                word, word);
}

// The sum of all framed elements that show an inner one, in their order: along each dimension
// that before the tensor, the one itself, and that behind it.
static void add_mirror_grad(rheos__text *text, int32_t rank) {
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

// Whether all of the frame shows something inside, without which the CPU reports an error.
static bool shows_inside(const rheos__prepare *p, const rheos_shape *inner, bool symmetric) {
  for (int32_t i = 0; i < 2 * inner->rank; i++) {
    const int64_t size = rheos__int_in(p->input_dtypes[1], p->input_values[1]->data, i);
    if (size < 0 || size > inner->dims[i / 2] - !symmetric) return false;
  }
  return true;
}

static rheos_status *prepare_mirror(rheos__prepare *p, bool folds) {
  const rheos_shape *out = &p->output_shapes[0];
  const rheos_shape *inner = folds ? out : &p->input_shapes[0];
  const rheos_shape *framed = folds ? &p->input_shapes[0] : out;
  rheos__card *card = rheos__card_of(p->device);
  const char *word = rheos__cl_word_of(rheos_dtype_size(p->output_dtypes[0]));
  const rheos__cl_dtype *dtype = rheos__cl_dtype_of(card, p->output_dtypes[0]);
  RHEOS_TRY(p->op->prepare(p));
  const bool symmetric = strcmp(rheos__attr_string(p->attrs, "mode"), "SYMMETRIC") == 0;
  if (p->input_values == NULL || p->input_values[1] == NULL) return decline(p, late);
  if (!shows_inside(p, inner, symmetric)) return decline(p, "the frame is larger than its image");
  if (folds ? dtype == NULL : word == NULL) {
    return decline(p, "the device does not move such elements");
  }
  rheos__launch *launch = rheos__launch_begin(card, p->arena, p->num_inputs, 1);
  if (launch == NULL) return rheos__out_of_memory();
  const int64_t count = rheos_shape_num_elements(out);
  if (count > 0) {
    const rheos__stage_operand operands[] = {{0, 0}, {p->num_inputs, 0}};
    const rheos__grid grid = {1, {(size_t)count}, {0}};
    rheos__text text = {0};
    rheos__cl_add_prelude(&text);
    if (folds) {
      rheos__cl_add_macros(&text, dtype);
      rheos__cl_add_types(&text, dtype);
    }
    add_mirror_arguments(&text, inner->rank);
    if (folds) {
      add_mirror_grad(&text, inner->rank);
    } else {
      add_mirror(&text, inner->rank, word);
    }
    rheos__launch_add_text(launch, &text, "mirror", operands, 2, &grid);
    rheos__launch_set_number(launch, count);
    rheos__launch_set_number(launch, symmetric);
    for (int32_t d = 0; d < inner->rank; d++) {
      rheos__launch_set_number(launch, framed->dims[d]);
      rheos__launch_set_number(launch, inner->dims[d]);
      rheos__launch_set_number(launch,
                               rheos__int_in(p->input_dtypes[1], p->input_values[1]->data, 2 * d));
    }
  }
  return rheos__launch_end(launch, p, 0);
}

rheos_status *rheos__cl_prepare_mirror_pad(rheos__prepare *p) { return prepare_mirror(p, false); }
rheos_status *rheos__cl_prepare_mirror_pad_grad(rheos__prepare *p) {
  return prepare_mirror(p, true);
}
