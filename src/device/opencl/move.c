#include "device/opencl/move.h"

#include <stdlib.h>
#include <string.h>

#include "device/opencl/source.h"
#include "device/opencl/transpose.h"

static void add_kernel(rheos__launch *launch, rheos__text *text, const char *name,
                       const rheos__stage_operand *operands, int32_t num_operands,
                       int64_t num_items) {
  const rheos__grid grid = {1, {(size_t)num_items}, {0}};
  rheos__launch_add_text(launch, text, name, operands, num_operands, &grid);
}

void rheos__move_add_loops(rheos__text *text, int32_t rank) {
  for (int32_t d = 0; d < rank; d++) {
    rheos__cl_add(text, ", long d%d, long f%d, long t%d", (int)d, (int)d, (int)d);
  }
}

void rheos__move_add_walk(rheos__text *text, int32_t rank, const char *place) {
  rheos__cl_add(text, "number rest = at; %s from = from_start, to = to_start;\n", place);
  for (int32_t d = rank - 1; d >= 0; d--) {
    const char *digit = d > 0 ? "rest % (number)d" : "rest";
    rheos__cl_add(text, "{ const %s digit = (%s)(%s", place, place, digit);
    if (d > 0) rheos__cl_add(text, "%d", (int)d);
    rheos__cl_add(text, "); from += digit * (%s)f%d; to += digit * (%s)t%d; }\n", place, (int)d,
                  place, (int)d);
    if (d > 0) rheos__cl_add(text, "rest /= (number)d%d;\n", (int)d);
  }
}

// Whether all that is counted fits an int, with which cards divide several times as fast.
static bool is_short(const rheos__copy *copy) {
  double from = llabs(copy->in_start), to = llabs(copy->out_start);
  for (int32_t d = 0; d < copy->rank; d++) {
    from += (double)copy->dims[d] * (double)llabs(copy->in_steps[d]);
    to += (double)copy->dims[d] * (double)llabs(copy->out_steps[d]);
  }
  return copy->num_elements < INT32_MAX && from < INT32_MAX && to < INT32_MAX;
}

void rheos__move_add(rheos__launch *launch, const rheos__copy *copy, int32_t from, int32_t to) {
  const rheos__stage_operand operands[] = {{from, 0}, {to, 0}};
  const char *word = rheos__cl_word_of(rheos_dtype_size(copy->dtype));
  const bool short_numbers = is_short(copy);
  rheos__text text = {0};
  if (copy->num_elements == 0 || rheos__transpose_add(launch, copy, from, to)) return;
  if (word == NULL) launch->cannot = true;
  rheos__cl_add(&text,
                "typedef %s number;\nkernel void move(global const char *bx, ulong ox, "
                "global char *bz, ulong oz, long count, long from_start, long to_start",
                short_numbers ? "uint" : "ulong");
  rheos__move_add_loops(&text, copy->rank);
  rheos__cl_add(&text,
                ") {\nconst number at = get_global_id(0);\nif (at >= (number)count) return;\n");
  rheos__move_add_walk(&text, copy->rank, short_numbers ? "int" : "long");
  rheos__cl_add(&text, "((global %s *)(bz + oz))[to] = ((global const %s *)(bx + ox))[from];\n}\n",
                word != NULL ? word : "", word != NULL ? word : "");
  add_kernel(launch, &text, "move", operands, 2, copy->num_elements);
  rheos__launch_set_number(launch, copy->num_elements);
  rheos__launch_set_number(launch, copy->in_start);
  rheos__launch_set_number(launch, copy->out_start);
  for (int32_t d = 0; d < copy->rank; d++) {
    rheos__launch_set_number(launch, copy->dims[d]);
    rheos__launch_set_number(launch, copy->in_steps[d]);
    rheos__launch_set_number(launch, copy->out_steps[d]);
  }
}

void rheos__move_add_fill(rheos__launch *launch, int32_t to, int64_t count, size_t size,
                          uint64_t bits) {
  const rheos__stage_operand operand = {to, 0};
  const bool is_pair = size == 16;
  const char *word = rheos__cl_word_of(is_pair ? 8 : size);
  rheos__text text = {0};
  if (count == 0) return;
  if (word == NULL) launch->cannot = true;
  rheos__cl_add(&text,
                "kernel void fill(global char *bz, ulong oz, long count, long bits) {\n"
                "const ulong at = get_global_id(0);\nif (at >= (ulong)count) return;\n");
  if (word != NULL) {
    rheos__cl_add(&text, "((global %s *)(bz + oz))[at] = %s(%s)bits;\n}\n", word,
                  is_pair ? "at & 1 ? 0 : " : "", word);
  }
  add_kernel(launch, &text, "fill", &operand, 1, is_pair ? 2 * count : count);
  rheos__launch_set_number(launch, is_pair ? 2 * count : count);
  rheos__launch_set_number(launch, (int64_t)bits);
}

static rheos_status *decline(rheos__prepare *p, const char *reason) {
  if (p->release != NULL) p->release(p->state);
  p->decline_reason = reason;
  return NULL;
}

static const char late[] = "it is known only when it runs what is moved where";

// ---- One copy

rheos_status *rheos__cl_prepare_copy(rheos__prepare *p) {
  int32_t from = 0;
  RHEOS_TRY(p->op->prepare(p));
  if (p->alias_input >= 0) return NULL;
  const rheos__copy *copy = p->run != NULL ? rheos__copy_of(p->run, p->state, &from) : NULL;
  if (copy == NULL) return decline(p, late);
  rheos__launch *launch =
      rheos__launch_begin(rheos__card_of(p->device), p->arena, p->num_inputs, 1);
  if (launch == NULL) return rheos__out_of_memory();
  rheos__move_add(launch, copy, from, p->num_inputs);
  return rheos__launch_end(launch, p, 0);
}

// ---- Joining and taking apart

bool rheos__cl_find_axis(const rheos__prepare *p, int32_t input, int32_t rank, int32_t *out_axis) {
  int64_t axis = 0;
  if (input < 0) {
    axis = rheos__attr_int(p->attrs, "axis");
  } else if (input < p->num_inputs) {
    if (p->input_values == NULL || p->input_values[input] == NULL) return false;
    axis = rheos__int_in(p->input_dtypes[input], p->input_values[input]->data, 0);
  }
  rheos_status *status = rheos__normal_axis(axis, rank, out_axis);
  const bool is_fine = status == NULL;
  rheos_status_free(status);
  return is_fine;
}

static rheos__copy copy_of_part(rheos_dtype dtype, int64_t rows, int64_t own, int64_t whole,
                                int64_t offset, bool joins) {
  rheos__copy copy;
  rheos__copy_init(&copy, dtype);
  *(joins ? &copy.out_start : &copy.in_start) = offset;
  rheos__copy_add(&copy, rows, joins ? own : whole, joins ? whole : own);
  rheos__copy_add(&copy, own, 1, 1);
  return copy;
}

rheos_status *rheos__cl_prepare_join(rheos__prepare *p) {
  const bool packs = strcmp(p->op->name, "Pack") == 0, is_v1 = strcmp(p->op->name, "Concat") == 0;
  const rheos_shape *out = &p->output_shapes[0];
  const int32_t first = is_v1, count = p->num_inputs - !packs;
  int32_t axis;
  if (!rheos__cl_find_axis(p, packs ? -1 : is_v1 ? 0 : p->num_inputs - 1, out->rank, &axis)) {
    return decline(p, late);
  }
  rheos__launch *launch =
      rheos__launch_begin(rheos__card_of(p->device), p->arena, p->num_inputs, count);
  if (launch == NULL) return rheos__out_of_memory();
  const int64_t rows = rheos__shape_product(out, 0, axis);
  const int64_t whole = rheos__shape_product(out, axis, out->rank);
  int64_t offset = 0;
  for (int32_t i = first; i < first + count && rows > 0 && whole > 0; i++) {
    const rheos_shape *in = &p->input_shapes[i];
    const int64_t own = rheos__shape_product(in, axis, in->rank);
    const rheos__copy copy = copy_of_part(p->output_dtypes[0], rows, own, whole, offset, true);
    rheos__move_add(launch, &copy, i, p->num_inputs);
    offset += own;
  }
  return rheos__launch_end(launch, p, 0);
}

rheos_status *rheos__cl_prepare_take_apart(rheos__prepare *p) {
  const bool unpacks = strcmp(p->op->name, "Unpack") == 0,
             is_v = strcmp(p->op->name, "SplitV") == 0;
  const int32_t data = unpacks || is_v ? 0 : 1;
  const rheos_shape *in = &p->input_shapes[data];
  int32_t axis;
  if (!rheos__cl_find_axis(p, unpacks ? -1 : is_v ? 2 : 0, in->rank, &axis))
    return decline(p, late);
  rheos__launch *launch =
      rheos__launch_begin(rheos__card_of(p->device), p->arena, p->num_inputs, p->num_outputs);
  if (launch == NULL) return rheos__out_of_memory();
  const int64_t rows = rheos__shape_product(in, 0, axis);
  const int64_t whole = rheos__shape_product(in, axis, in->rank);
  int64_t offset = 0;
  for (int32_t i = 0; i < p->num_outputs && rows > 0 && whole > 0; i++) {
    const rheos_shape *out = &p->output_shapes[i];
    const int64_t own = rheos__shape_product(out, axis, out->rank);
    const rheos__copy copy = copy_of_part(p->output_dtypes[i], rows, own, whole, offset, false);
    rheos__move_add(launch, &copy, data, p->num_inputs + i);
    offset += own;
  }
  return rheos__launch_end(launch, p, 0);
}

// ---- Padding, and the same value everywhere

static void fill_from(rheos__launch *launch, rheos_dtype dtype, int32_t value, int32_t to,
                      int64_t count) {
  rheos__copy copy;
  rheos__copy_init(&copy, dtype);
  rheos__copy_add(&copy, count, 0, 1);
  rheos__move_add(launch, &copy, value, to);
}

rheos_status *rheos__cl_prepare_pad(rheos__prepare *p) {
  const rheos_shape *in = &p->input_shapes[0], *out = &p->output_shapes[0];
  const rheos_dtype dtype = p->output_dtypes[0];
  if (p->input_values == NULL || p->input_values[1] == NULL) return decline(p, late);
  rheos__launch *launch =
      rheos__launch_begin(rheos__card_of(p->device), p->arena, p->num_inputs, 2);
  if (launch == NULL) return rheos__out_of_memory();
  const int64_t count = rheos_shape_num_elements(out);
  if (p->num_inputs > 2) {
    fill_from(launch, dtype, 2, p->num_inputs, count);
  } else {
    rheos__move_add_fill(launch, p->num_inputs, count, rheos_dtype_size(dtype), 0);
  }
  rheos__copy copy;
  rheos__copy_init(&copy, dtype);
  int64_t in_step = rheos_shape_num_elements(in), out_step = count;
  for (int32_t d = 0; d < in->rank && in_step > 0 && out_step > 0; d++) {
    const int64_t before = rheos__int_in(p->input_dtypes[1], p->input_values[1]->data, 2 * d);
    in_step /= in->dims[d];
    out_step /= out->dims[d];
    copy.out_start += before * out_step;
    rheos__copy_add(&copy, in->dims[d], in_step, out_step);
  }
  if (rheos_shape_num_elements(in) > 0) rheos__move_add(launch, &copy, 0, p->num_inputs);
  return rheos__launch_end(launch, p, 0);
}

rheos_status *rheos__cl_prepare_fill(rheos__prepare *p) {
  rheos__launch *launch =
      rheos__launch_begin(rheos__card_of(p->device), p->arena, p->num_inputs, 1);
  if (launch == NULL) return rheos__out_of_memory();
  fill_from(launch, p->output_dtypes[0], 1, p->num_inputs,
            rheos_shape_num_elements(&p->output_shapes[0]));
  return rheos__launch_end(launch, p, 0);
}

uint64_t rheos__move_one_of(rheos_dtype dtype) {
  switch (dtype) {
    case RHEOS_FLOAT: return 0x3f800000;
    case RHEOS_DOUBLE: return 0x3ff0000000000000;
    case RHEOS_HALF: return 0x3c00;
    case RHEOS_BFLOAT16: return 0x3f80;
    default: return 1;
  }
}

rheos_status *rheos__cl_prepare_constant_fill(rheos__prepare *p) {
  const rheos_dtype dtype = p->output_dtypes[0];
  const bool ones = strcmp(p->op->name, "OnesLike") == 0;
  rheos__launch *launch =
      rheos__launch_begin(rheos__card_of(p->device), p->arena, p->num_inputs, 1);
  if (launch == NULL) return rheos__out_of_memory();
  rheos__move_add_fill(launch, p->num_inputs, rheos_shape_num_elements(&p->output_shapes[0]),
                       rheos_dtype_size(dtype), ones ? rheos__move_one_of(dtype) : 0);
  return rheos__launch_end(launch, p, 0);
}
