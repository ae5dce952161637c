#include "device/opencl/origin.h"

#include "device/opencl/move.h"
#include "device/opencl/source.h"

void rheos__origins_add_number(rheos__origins *o, int64_t number) {
  o->numbers[o->num_numbers++] = number;
}

static void add_sizes(rheos__origins *o, int64_t in, int64_t out) {
  o->in[o->in_rank++] = in;
  o->out[o->out_rank++] = out;
}

void rheos__origins_add_dims(rheos__origins *o, const rheos_shape *in, const rheos_shape *out,
                             int32_t first, int32_t last) {
  for (int32_t d = first; d < last; d++) add_sizes(o, in->dims[d], out->dims[d]);
}

void rheos__origins_add_joined(rheos__origins *o, const rheos_shape *shape, int32_t first,
                               int32_t last) {
  const int64_t size = rheos__shape_product(shape, first, last);
  add_sizes(o, size, size);
}

// Whether all that is counted fits an int, which cards divide much faster than a long.
static bool is_small(const rheos__prepare *p, const rheos__origins *o) {
  bool small = rheos_shape_num_elements(&p->input_shapes[0]) < INT32_MAX &&
               rheos_shape_num_elements(&p->output_shapes[0]) < INT32_MAX;
  for (int32_t k = 0; k < o->num_numbers; k++) {
    small &= o->numbers[k] > -INT32_MAX && o->numbers[k] < INT32_MAX;
  }
  return small;
}

static void add_parameters(rheos__text *text, const rheos__prepare *p, const rheos__origins *o) {
  rheos__text_add_string(text, "kernel void origin(global const char *bx, ulong ox");
  for (int32_t k = 0; k < o->num_indices; k++) {
    rheos__cl_add(text, ", global const char *b%d, ulong o%d", (int)k, (int)k);
  }
  rheos__text_add_string(text, ", global char *bz, ulong oz, long count");
  for (int32_t d = 0; d < o->out_rank; d++) rheos__cl_add(text, ", long z%d", (int)d);
  for (int32_t d = 0; d < o->in_rank; d++) rheos__cl_add(text, ", long x%d", (int)d);
  for (int32_t k = 0; k < o->num_numbers; k++) rheos__cl_add(text, ", long m%d", (int)k);
  rheos__text_add_string(text, ") {\nif (get_global_id(0) >= (ulong)count) return;\n");
  for (int32_t k = 0; k < o->num_indices; k++) {
    const char *index = rheos__cl_integer_of(p->input_dtypes[o->indices[k]]);
    rheos__cl_add(text, "global const %s *a%d = (global const %s *)(b%d + o%d);\n", index, (int)k,
                  index, (int)k, (int)k);
  }
  for (int32_t k = 0; k < o->num_numbers; k++) {
    rheos__cl_add(text, "const whole n%d = (whole)m%d;\n", (int)k, (int)k);
  }
}

static void add_program(rheos__text *text, const rheos__prepare *p, const rheos__origins *o,
                        const char *word) {
  rheos__cl_add(text, "typedef %s whole;\n", is_small(p, o) ? "int" : "long");
  add_parameters(text, p, o);
  rheos__text_add_string(text, "const whole at = (whole)get_global_id(0);\nwhole rest = at;\n");
  for (int32_t d = o->out_rank - 1; d >= 0; d--) {
    rheos__cl_add(text, "const whole j%d = rest %% (whole)z%d; rest /= (whole)z%d;\n", (int)d,
                  (int)d, (int)d);
  }
  for (int32_t d = 0; d < o->in_rank; d++) {
    rheos__cl_add(text, "whole i%d = j%d;\n", (int)d, (int)d);
  }
  rheos__text_add(text, o->lines.data, o->lines.size);
  rheos__text_add_string(text, "bool is_there = true;\nwhole from = 0;\n");
  for (int32_t d = 0; d < o->in_rank; d++) {
    rheos__cl_add(text,
                  "is_there &= i%d >= 0 && i%d < (whole)x%d;\nfrom = from * (whole)x%d + i%d;\n",
                  (int)d, (int)d, (int)d, (int)d, (int)d);
  }
  rheos__cl_add(text,
                "%s value = 0;\nif (is_there) value = ((global const %s *)(bx + ox))[from];\n"
                "((global %s *)(bz + oz))[at] = value;\n}\n",
                word, word, word);
}

static void add_kernel(rheos__launch *launch, const rheos__prepare *p, const rheos__origins *o,
                       const char *word, int64_t count) {
  rheos__stage_operand operands[RHEOS__ORIGIN_INDICES + 2] = {{0, 0}};
  const rheos__grid grid = {1, {(size_t)count}, {0}};
  rheos__text text = {0};
  for (int32_t k = 0; k < o->num_indices; k++) operands[1 + k].number = o->indices[k];
  operands[1 + o->num_indices].number = p->num_inputs;
  add_program(&text, p, o, word);
  text.failed |= o->lines.failed;
  rheos__launch_add_text(launch, &text, "origin", operands, o->num_indices + 2, &grid);
  rheos__launch_set_number(launch, count);
  for (int32_t d = 0; d < o->out_rank; d++) rheos__launch_set_number(launch, o->out[d]);
  for (int32_t d = 0; d < o->in_rank; d++) rheos__launch_set_number(launch, o->in[d]);
  for (int32_t k = 0; k < o->num_numbers; k++) rheos__launch_set_number(launch, o->numbers[k]);
}

rheos_status *rheos__origins_answer(rheos__prepare *p, rheos__origins *o) {
  const size_t size = rheos_dtype_size(p->output_dtypes[0]);
  const char *word = rheos__cl_word_of(size);
  const int64_t count = rheos_shape_num_elements(&p->output_shapes[0]);
  rheos__launch *launch =
      rheos__launch_begin(rheos__card_of(p->device), p->arena, p->num_inputs, 1);
  if (launch != NULL) {
    launch->cannot = word == NULL;
    if (rheos_shape_num_elements(&p->input_shapes[0]) == 0) {
      rheos__move_add_fill(launch, p->num_inputs, count, size, 0);
    } else if (count > 0 && word != NULL) {
      add_kernel(launch, p, o, word, count);
    }
  }
  rheos__text_deinit(&o->lines);
  return launch != NULL ? rheos__launch_end(launch, p, 0) : rheos__out_of_memory();
}
