#include "device/opencl/rearrange.h"

#include "device/opencl/origin.h"
#include "device/opencl/source.h"
#include "ops/image/patches.h"
#include "ops/kit/array_util.h"

static rheos_status *decline(rheos__prepare *p, const char *reason) {
  p->decline_reason = reason;
  return NULL;
}

static const char late[] = "it is known only when it runs what is moved where";

static bool is_known(const rheos__prepare *p, int32_t input) {
  return p->input_values != NULL && p->input_values[input] != NULL;
}

static int64_t int_of(const rheos__prepare *p, int32_t input, int64_t index) {
  return rheos__int_in(p->input_dtypes[input], p->input_values[input]->data, index);
}

// ---- Roll

// Turns dimension d by shift k, which may be known only when it runs.
static void add_turn(rheos__origins *o, int d, int k) {
  rheos__cl_add(&o->lines,
                "i%d = (i%d - (whole)((long)a0[%d] %% x%d)) %% (whole)x%d;\n"
                "if (i%d < 0) i%d += (whole)x%d;\n",
                d, d, k, d, d, d, d, d);
}

rheos_status *rheos__cl_prepare_roll(rheos__prepare *p) {
  const rheos_shape *shape = &p->input_shapes[0];
  const int64_t count = rheos_shape_num_elements(&p->input_shapes[2]);
  if (!is_known(p, 2)) return decline(p, late);
  rheos__origins o = {.num_indices = 1, .indices = {1}};
  rheos__origins_add_dims(&o, shape, shape, 0, shape->rank);
  for (int64_t k = 0; k < count; k++) {
    const int64_t axis = int_of(p, 2, k);
    if (axis < -(int64_t)shape->rank || axis >= shape->rank) {
      rheos__text_deinit(&o.lines);
      return decline(p, "there is no such dimension");
    }
    add_turn(&o, (int)(axis < 0 ? axis + shape->rank : axis), (int)k);
  }
  return rheos__origins_answer(p, &o);
}

// ---- ReverseSequence

rheos_status *rheos__cl_prepare_reverse_sequence(rheos__prepare *p) {
  const rheos_shape *shape = &p->input_shapes[0];
  const int32_t along = (int32_t)rheos__attr_int(p->attrs, "seq_dim");
  const int32_t batch = (int32_t)rheos__attr_int(p->attrs, "batch_dim");
  const int32_t first = along < batch ? along : batch, second = along < batch ? batch : along;
  const int64_t count = is_known(p, 1) ? rheos_shape_num_elements(&p->input_shapes[1]) : 0;
  for (int64_t i = 0; i < count; i++) {
    const int64_t length = int_of(p, 1, i);
    if (length < 0 || length > shape->dims[along]) return decline(p, "a sequence is too long");
  }
  rheos__origins o = {.num_indices = 1, .indices = {1}};
  rheos__origins_add_joined(&o, shape, 0, first);
  rheos__origins_add_dims(&o, shape, shape, first, first + 1);
  rheos__origins_add_joined(&o, shape, first + 1, second);
  rheos__origins_add_dims(&o, shape, shape, second, second + 1);
  rheos__origins_add_joined(&o, shape, second + 1, shape->rank);
  const int at = along < batch ? 1 : 3, row = along < batch ? 3 : 1;
  rheos__cl_add(&o.lines, "if (i%d < a0[i%d]) i%d = (whole)a0[i%d] - 1 - i%d;\n", at, row, at, row,
                at);
  return rheos__origins_answer(p, &o);
}

// ---- Space and batch: part o of the batch is what lies at offset o in each block

// Adds a row of numbers for each dimension of blocks: how large they are, and what is put before
// them or cropped.
static int32_t add_blocks(rheos__prepare *p, rheos__origins *o) {
  const rheos_attr_value *size = rheos__attrs_find(p->attrs, "block_size");
  const int32_t count = size != NULL ? 2 : (int32_t)p->input_shapes[1].dims[0];
  const int32_t table = size != NULL ? 1 : 2;
  for (int32_t d = 0; d < count; d++) {
    rheos__origins_add_number(o, size != NULL ? size->i : int_of(p, 1, d));
    rheos__origins_add_number(o, int_of(p, table, 2 * d));
  }
  return count;
}

static bool knows_blocks(const rheos__prepare *p) {
  return is_known(p, 1) && (p->num_inputs < 3 || is_known(p, 2));
}

static void add_space(rheos__prepare *p, rheos__origins *o, int32_t count) {
  rheos__origins_add_dims(o, &p->input_shapes[0], &p->output_shapes[0], 0, count + 1);
  rheos__origins_add_joined(o, &p->input_shapes[0], count + 1, p->input_shapes[0].rank);
}

rheos_status *rheos__cl_prepare_space_to_batch(rheos__prepare *p) {
  if (!knows_blocks(p)) return decline(p, late);
  rheos__origins o = {0};
  const int count = (int)add_blocks(p, &o);
  add_space(p, &o, count);
  rheos__text_add_string(&o.lines, "whole part = i0 / (whole)x0;\ni0 %= (whole)x0;\n");
  for (int d = count; d > 0; d--) {
    rheos__cl_add(&o.lines, "i%d = i%d * n%d + part %% n%d - n%d;\npart /= n%d;\n", d, d, 2 * d - 2,
                  2 * d - 2, 2 * d - 1, 2 * d - 2);
  }
  return rheos__origins_answer(p, &o);
}

rheos_status *rheos__cl_prepare_batch_to_space(rheos__prepare *p) {
  if (!knows_blocks(p)) return decline(p, late);
  rheos__origins o = {0};
  const int count = (int)add_blocks(p, &o);
  add_space(p, &o, count);
  rheos__text_add_string(&o.lines, "whole part = 0;\n");
  for (int d = 1; d <= count; d++) {
    rheos__cl_add(&o.lines, "i%d += n%d;\npart = part * n%d + i%d %% n%d;\ni%d /= n%d;\n", d,
                  2 * d - 1, 2 * d - 2, d, 2 * d - 2, d, 2 * d - 2);
  }
  rheos__text_add_string(&o.lines, "i0 += part * (whole)z0;\n");
  return rheos__origins_answer(p, &o);
}

// ---- Patches: what comes out has a place in the image and one in the window

rheos_status *rheos__cl_prepare_patches(rheos__prepare *p) {
  RHEOS_TRY(rheos__prepare_reference(p));
  const rheos__patches *s = p->state;
  const rheos__window *w = s->windows.dims;
  rheos__origins o = {.in_rank = 5,
                      .in = {s->batch, w[0].in, w[1].in, w[2].in, s->channels},
                      .out_rank = 8,
                      .out = {s->batch, w[0].out, w[1].out, w[2].out, w[0].kernel, w[1].kernel,
                              w[2].kernel, s->channels}};
  for (int d = 0; d < RHEOS__WINDOW_DIMS; d++) {
    rheos__origins_add_number(&o, w[d].stride);
    rheos__origins_add_number(&o, w[d].dilation);
    rheos__origins_add_number(&o, w[d].before);
    rheos__cl_add(&o.lines, "i%d = i%d * n%d + j%d * n%d - n%d;\n", d + 1, d + 1, 3 * d, d + 4,
                  3 * d + 1, 3 * d + 2);
  }
  rheos__text_add_string(&o.lines, "i4 = j7;\n");
  return rheos__origins_answer(p, &o);
}
