// Plays the executor for one kernel.
#include "ops/kernel_fixture.h"

#include <stdio.h>

static const rheos__op_def *find_op(const char *name) {
  for (int32_t i = 0; i < rheos__op_table_size; i++) {
    if (strcmp(rheos__op_table[i]->name, name) == 0) return rheos__op_table[i];
  }
  fail_msg("no op %s", name);
  return NULL;
}

// The attributes given, in the form that kernels get them.
static rheos__attrs *attrs_of(const kernel *k, rheos__arena *arena) {
  rheos__attrs *attrs =
      rheos__arena_alloc_zeroed(arena, sizeof *attrs + KERNEL_MAX_ATTRS * sizeof attrs->items[0]);
  assert_non_null(attrs);
  while (attrs->count < KERNEL_MAX_ATTRS && k->attrs[attrs->count].name != NULL) {
    attrs->items[attrs->count] = k->attrs[attrs->count];
    attrs->count++;
  }
  return attrs;
}

static rheos_status *run_units(kernel *k, const rheos__prepare *p) {
  const void *inputs[KERNEL_MAX] = {0};
  void *outputs[KERNEL_MAX] = {0};
  for (int32_t i = 0; i < p->num_inputs; i++) inputs[i] = k->inputs[i]->data;
  for (int32_t i = 0; i < p->num_outputs; i++) {
    if (i == 0 && k->in_place && p->reuse_input >= 0) {
      k->outputs[0] = rheos_tensor_ref(k->inputs[p->reuse_input]);
    } else {
      RHEOS_TRY(rheos_tensor_new(p->output_dtypes[i], p->output_shapes[i], &k->outputs[i]));
    }
    outputs[i] = k->outputs[i]->data;
  }
  void *scratch = rheos__alloc_aligned(p->scratch_bytes);
  assert_non_null(scratch);
  const int64_t units = p->num_units > 1 ? p->num_units : 1;
  rheos_status *status = NULL;
  if (!k->unit_by_unit) status = p->run(p->state, inputs, outputs, scratch, 0, units);
  for (int64_t u = units - 1; k->unit_by_unit && status == NULL && u >= 0; u--) {
    status = p->run(p->state, inputs, outputs, scratch, u, u + 1);
  }
  rheos__free_aligned(scratch);
  return status;
}

static rheos_status *run_prepared(kernel *k, rheos__prepare *p) {
  RHEOS_TRY(rheos__prepare_reference(p));
  if (p->decline_reason != NULL) return RHEOS_INVALID("declined: %s", p->decline_reason);
  if (p->alias_input >= 0) {
    return rheos_tensor_reshaped(k->inputs[p->alias_input], p->output_shapes[0], &k->outputs[0]);
  }
  rheos_status *status =
      p->run != NULL ? run_units(k, p) : p->compute(p->state, NULL, k->inputs, k->outputs);
  if (p->release != NULL) p->release(p->state);
  return status;
}

rheos_status *kernel_run(kernel *k) {
  rheos__arena arena;
  rheos__arena_init(&arena);
  rheos_dtype dtypes[KERNEL_MAX];
  rheos_shape shapes[KERNEL_MAX], output_shapes[KERNEL_MAX];
  rheos_tensor *values[KERNEL_MAX] = {0};
  rheos__resource *resources[KERNEL_MAX] = {0};
  rheos__prepare p = {.op = find_op(k->op), .node_name = k->node_name};
  for (; p.num_inputs < KERNEL_MAX && k->inputs[p.num_inputs] != NULL; p.num_inputs++) {
    dtypes[p.num_inputs] = k->inputs[p.num_inputs]->dtype;
    shapes[p.num_inputs] = k->inputs[p.num_inputs]->shape;
    if (k->is_constant[p.num_inputs]) values[p.num_inputs] = k->inputs[p.num_inputs];
  }
  for (; p.num_outputs < KERNEL_MAX && k->output_dtypes[p.num_outputs] != 0; p.num_outputs++) {
    output_shapes[p.num_outputs] = RHEOS_UNKNOWN_SHAPE;
  }
  p.attrs = attrs_of(k, &arena);
  rheos__infer infer = {.op = p.op,
                        .attrs = p.attrs,
                        .num_inputs = p.num_inputs,
                        .num_outputs = p.num_outputs,
                        .input_dtypes = dtypes,
                        .input_shapes = shapes,
                        .input_values = values,
                        .output_dtypes = k->output_dtypes,
                        .output_shapes = output_shapes};
  rheos_status *status = p.op->shape(&infer);
  p.input_dtypes = dtypes;
  p.input_shapes = shapes;
  p.input_values = values;
  p.input_resources = resources;
  p.output_dtypes = k->output_dtypes;
  p.output_shapes = output_shapes;
  p.resources = k->resources;
  p.arena = &arena;
  p.alias_input = p.reuse_input = -1;
  if (status == NULL) status = run_prepared(k, &p);
  k->prepared = p;
  rheos__arena_deinit(&arena);
  return status;
}

void kernel_run_ok(kernel *k) {
  rheos_status *status = kernel_run(k);
  if (status != NULL) fail_msg("%s: %s", k->op, rheos_status_message(status));
}

void kernel_run_fails(kernel *k, rheos_code code, const char *text) {
  rheos_status *status = kernel_run(k);
  if (strstr(rheos_status_message(status), text) == NULL) {
    fail_msg("%s: expected '%s', got '%s'", k->op, text, rheos_status_message(status));
  }
  assert_int_equal(rheos_status_code(status), code);
  rheos_status_free(status);
  kernel_clear(k);
}

void kernel_clear(kernel *k) {
  for (int i = 0; i < KERNEL_MAX; i++) {
    rheos_tensor_unref(k->outputs[i]);
    k->outputs[i] = NULL;
  }
}

void kernel_free_inputs(kernel *k) {
  for (int i = 0; i < KERNEL_MAX; i++) {
    rheos_tensor_unref(k->inputs[i]);
    k->inputs[i] = NULL;
  }
}

static rheos_tensor *tensor_of(rheos_dtype dtype, rheos_shape shape, const void *values) {
  rheos_tensor *tensor = NULL;
  rheos_status *status = rheos_tensor_from_values(dtype, shape, values, &tensor);
  if (status != NULL) fail_msg("%s", rheos_status_message(status));
  return tensor;
}

rheos_tensor *floats_of(rheos_shape shape, const float *values) {
  return tensor_of(RHEOS_FLOAT, shape, values);
}

rheos_tensor *ints_of(rheos_shape shape, const int32_t *values) {
  return tensor_of(RHEOS_INT32, shape, values);
}

rheos_tensor *noise_of(rheos_shape shape, uint32_t seed) {
  rheos_tensor *tensor = NULL;
  rheos_status *status = rheos_tensor_new(RHEOS_FLOAT, shape, &tensor);
  if (status != NULL) fail_msg("%s", rheos_status_message(status));
  for (int64_t i = 0; i < tensor->num_elements; i++) {
    seed = seed * 1664525u + 1013904223u;
    ((float *)tensor->data)[i] = (float)(seed >> 8) * 0x1p-21f - 4.0f;
  }
  return tensor;
}

void assert_floats(const kernel *k, int index, const float *values, int64_t count) {
  const rheos_tensor *out = k->outputs[index];
  assert_int_equal(out->dtype, RHEOS_FLOAT);
  assert_int_equal(out->num_elements, count);
  assert_memory_equal(out->data, values, (size_t)count * sizeof *values);
}

void assert_same_tensor(const rheos_tensor *a, const rheos_tensor *b) {
  assert_int_equal(a->dtype, b->dtype);
  assert_true(rheos_shape_equal(&a->shape, &b->shape));
  if (a->size_bytes > 0) assert_memory_equal(a->data, b->data, a->size_bytes);
}
