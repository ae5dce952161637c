#include "device/opencl/index.h"

#include <string.h>

#include "device/opencl/move.h"
#include "device/opencl/source.h"
#include "ops/kit/array_util.h"

static const char late[] = "it is known only when it runs along which dimension";

// ---- Gather

static const char gather_source[] =
    "kernel void gather(global const char *bx, ulong ox, global const char *bi, ulong oi,\n"
    "                   global char *bz, ulong oz, long count, long outer, long limit, long each,\n"
    "                   long inner) {\n"
    "  const ulong at = get_global_id(0);\n"
    "  if (at >= (ulong)count) return;\n"
    "  const ulong slot = at / inner, block = slot / each, batch = block / outer;\n"
    "  const long index = ((global const INDEX *)(bi + oi))[batch * each + slot % each];\n"
    "  WORD value = 0;\n"
    "  if (index >= 0 && index < limit) {\n"
    "    value = ((global const WORD *)(bx + ox))[(block * limit + index) * inner + at % inner];\n"
    "  }\n"
    "  ((global WORD *)(bz + oz))[at] = value;\n"
    "}\n";

rheos_status *rheos__cl_prepare_gather(rheos__prepare *p) {
  const rheos_shape *params = &p->input_shapes[0], *indices = &p->input_shapes[1];
  const char *word = rheos__cl_word_of(rheos_dtype_size(p->output_dtypes[0]));
  const char *index = rheos__cl_integer_of(p->input_dtypes[1]);
  const int64_t count = rheos_shape_num_elements(&p->output_shapes[0]);
  int32_t axis;
  if (!rheos__cl_find_axis(p, 2, params->rank, &axis)) {
    p->decline_reason = late;
    return NULL;
  }
  RHEOS_TRY(p->op->prepare(p));  // which checks the shapes
  const rheos_attr_value *batch_dims = rheos__attrs_find(p->attrs, "batch_dims");
  int64_t batch = batch_dims != NULL ? batch_dims->i : 0;
  if (batch < 0) batch += indices->rank;
  if (word == NULL || index == NULL) {
    p->decline_reason = "the device does not gather numbers of this dtype";
    return NULL;
  }
  rheos__launch *launch =
      rheos__launch_begin(rheos__card_of(p->device), p->arena, p->num_inputs, 1);
  if (launch == NULL) return rheos__out_of_memory();
  if (count > 0) {
    const rheos__stage_operand operands[] = {{0, 0}, {1, 0}, {p->num_inputs, 0}};
    const rheos__grid grid = {1, {(size_t)count}, {0}};
    rheos__text text = {0};
    rheos__cl_add(&text, "#define WORD %s\n#define INDEX %s\n", word, index);
    rheos__text_add_string(&text, gather_source);
    rheos__launch_add_text(launch, &text, "gather", operands, 3, &grid);
    rheos__launch_set_number(launch, count);
    rheos__launch_set_number(launch, rheos__shape_product(params, (int32_t)batch, axis));
    rheos__launch_set_number(launch, params->dims[axis]);
    rheos__launch_set_number(launch, rheos__shape_product(indices, (int32_t)batch, indices->rank));
    rheos__launch_set_number(launch, rheos__shape_product(params, axis + 1, params->rank));
  }
  return rheos__launch_end(launch, p, 0);
}

// ---- OneHot

static const char one_hot_source[] =
    "kernel void one_hot(global const char *bi, ulong oi, global const char *bon, ulong oon,\n"
    "                    global const char *boff, ulong ooff, global char *bz, ulong oz,\n"
    "                    long count, long depth, long columns) {\n"
    "  const ulong at = get_global_id(0);\n"
    "  if (at >= (ulong)count) return;\n"
    "  const ulong row = at / columns / depth, place = at / columns % depth;\n"
    "  const long index = ((global const INDEX *)(bi + oi))[row * columns + at % columns];\n"
    "  ((global WORD *)(bz + oz))[at] = index == (long)place\n"
    "      ? *(global const WORD *)(bon + oon) : *(global const WORD *)(boff + ooff);\n"
    "}\n";

rheos_status *rheos__cl_prepare_one_hot(rheos__prepare *p) {
  const rheos_shape *indices = &p->input_shapes[0], *out = &p->output_shapes[0];
  const char *word = rheos__cl_word_of(rheos_dtype_size(p->output_dtypes[0]));
  const char *index = rheos__cl_integer_of(p->input_dtypes[0]);
  const int64_t count = rheos_shape_num_elements(out);
  int32_t axis;
  if (word == NULL || index == NULL || !rheos__cl_find_axis(p, -1, out->rank, &axis)) {
    p->decline_reason = "the device does not make numbers of this dtype";
    return NULL;
  }
  rheos__launch *launch =
      rheos__launch_begin(rheos__card_of(p->device), p->arena, p->num_inputs, 1);
  if (launch == NULL) return rheos__out_of_memory();
  if (count > 0) {
    const rheos__stage_operand operands[] = {{0, 0}, {2, 0}, {3, 0}, {p->num_inputs, 0}};
    const rheos__grid grid = {1, {(size_t)count}, {0}};
    rheos__text text = {0};
    rheos__cl_add(&text, "#define WORD %s\n#define INDEX %s\n", word, index);
    rheos__text_add_string(&text, one_hot_source);
    rheos__launch_add_text(launch, &text, "one_hot", operands, 4, &grid);
    rheos__launch_set_number(launch, count);
    rheos__launch_set_number(launch, out->dims[axis]);
    rheos__launch_set_number(launch, rheos__shape_product(indices, axis, indices->rank));
  }
  return rheos__launch_end(launch, p, 0);
}

// ---- ArgMax, ArgMin: the first of several; NaN is never it

static const char arg_source[] =
    "kernel void extreme(global const char *bx, ulong ox, global char *bz, ulong oz, long count,\n"
    "                    long depth, long inner) {\n"
    "  const ulong at = get_global_id(0);\n"
    "  if (at >= (ulong)count) return;\n"
    "  global const STORED *x = (global const STORED *)(bx + ox) + at / inner * depth * inner +\n"
    "                           at % inner;\n"
    "  COMPUTED best = FIRST;\n"
    "  long found = 0;\n"
    "  for (long i = 0; i < depth; i++) {\n"
    "    const COMPUTED v = LOAD(x[i * inner]);\n"
    "    if (v ORDER best) best = v, found = i;\n"
    "  }\n"
    "  ((global INDEX *)(bz + oz))[at] = (INDEX)found;\n"
    "}\n";

rheos_status *rheos__cl_prepare_arg_extreme(rheos__prepare *p) {
  rheos__card *card = rheos__card_of(p->device);
  const rheos__cl_dtype *dtype = rheos__cl_dtype_of(card, p->input_dtypes[0]);
  const rheos_shape *in = &p->input_shapes[0];
  const char *index = rheos__cl_integer_of(p->output_dtypes[0]);
  const bool is_max = strcmp(p->op->name, "ArgMax") == 0;
  const int64_t count = rheos_shape_num_elements(&p->output_shapes[0]);
  int32_t axis;
  RHEOS_TRY(p->op->prepare(p));  // which checks the shapes
  if (!rheos__cl_find_axis(p, 1, in->rank, &axis) || dtype == NULL || index == NULL) {
    if (p->release != NULL) p->release(p->state);
    p->decline_reason = dtype == NULL ? "the device does not compare numbers of this dtype" : late;
    return NULL;
  }
  rheos__launch *launch = rheos__launch_begin(card, p->arena, p->num_inputs, 1);
  if (launch == NULL) return rheos__out_of_memory();
  if (count > 0) {
    const rheos__stage_operand operands[] = {{0, 0}, {p->num_inputs, 0}};
    const rheos__grid grid = {1, {(size_t)count}, {0}};
    rheos__text text = {0};
    rheos__cl_add_prelude(&text);
    rheos__cl_add_macros(&text, dtype);
    rheos__cl_add(&text, "#define INDEX %s\n#define ORDER %s\n#define FIRST %s\n", index,
                  is_max ? ">" : "<", is_max ? dtype->lowest : dtype->highest);
    rheos__text_add_string(&text, arg_source);
    rheos__launch_add_text(launch, &text, "extreme", operands, 2, &grid);
    rheos__launch_set_number(launch, count);
    rheos__launch_set_number(launch, in->dims[axis]);
    rheos__launch_set_number(launch, rheos__shape_product(in, axis + 1, in->rank));
  }
  return rheos__launch_end(launch, p, 0);
}
