// Late instructions. Whether a kernel depends on values is found out by asking: where the shape
// function says the same with the inputs' values and without, the kernel is prepared without them, as
// those of other instructions are, and stays good for the stretch. Else it is prepared with a copy of
// the values, and stays good while the inputs hold the same bytes.
#include "plan/late.h"

#include <string.h>

#include "plan/prepare.h"

enum { MAX_KEY_BYTES = 1024 };

struct rheos__late {
  int64_t serial;  // of the stretch that it was prepared for; 0: none
  bool any_values;
  bool keeps;          // the values fit into the key
  rheos__arena arena;  // the arrays of the prepare, the kernel's state, the key
  rheos__prepare p;
  rheos_tensor *copies;  // of the inputs, over the key; by input
};

static void forget(rheos__late *late) {
  if (late->p.release != NULL) late->p.release(late->p.state);
  late->p.release = NULL;
  late->serial = 0;
}

void rheos__lates_free(rheos__frame *frame) {
  for (int32_t i = 0; frame->lates != NULL && i < frame->num_entries; ++i) {
    if (frame->lates[i] == NULL) continue;
    forget(frame->lates[i]);
    rheos__arena_deinit(&frame->lates[i]->arena);
    rheos__free(frame->lates[i]);
  }
  rheos__free(frame->lates);
}

static rheos__late *late_of(rheos__frame *frame, int32_t entry) {
  if (frame->lates == NULL) {
    frame->lates = rheos__alloc_array((size_t)frame->num_entries, sizeof *frame->lates);
    if (frame->lates == NULL) return NULL;
  }
  if (frame->lates[entry] == NULL) {
    frame->lates[entry] = rheos__alloc_zeroed(sizeof **frame->lates);
  }
  return frame->lates[entry];
}

static bool has_bytes(const rheos_tensor *input) {
  return input != NULL && (input->data != NULL || input->size_bytes == 0);
}

// ---- Preparing

// Copies of what the inputs hold; false where they are too large, or no plain bytes.
static bool copy_values(rheos__late *late, rheos_tensor *const *inputs, int32_t count) {
  size_t bytes = 0;
  for (int32_t i = 0; i < count; ++i) {
    if (inputs[i] == NULL) continue;
    const rheos_dtype dtype = inputs[i]->dtype;
    if (!has_bytes(inputs[i]) || dtype == RHEOS_STRING || dtype == RHEOS_VARIANT ||
        dtype == RHEOS_RESOURCE || inputs[i]->size_bytes > MAX_KEY_BYTES - bytes) {
      return false;
    }
    bytes += inputs[i]->size_bytes;
  }
  late->copies = rheos__arena_alloc(&late->arena, ((size_t)count + 1) * sizeof *late->copies);
  if (late->copies == NULL) return false;
  for (int32_t i = 0; i < count; ++i) {
    if (inputs[i] == NULL) continue;
    void *copy = rheos__arena_copy(&late->arena, inputs[i]->data, inputs[i]->size_bytes);
    if (copy == NULL) return false;
    rheos__tensor_init_view(&late->copies[i], inputs[i]->dtype, &inputs[i]->shape, copy);
  }
  return true;
}

static void fill_inputs(rheos__prepare *p, rheos_tensor *const *inputs,
                        rheos__resource *const *cells) {
  for (int32_t i = 0; i < p->num_inputs; ++i) {
    ((rheos__resource **)(uintptr_t)p->input_resources)[i] = cells[i];
    if (inputs[i] == NULL) continue;
    ((rheos_dtype *)(uintptr_t)p->input_dtypes)[i] = inputs[i]->dtype;
    ((rheos_shape *)(uintptr_t)p->input_shapes)[i] = inputs[i]->shape;
  }
}

// The values that the stretch itself knows.
static void give_constants(rheos__prepare *p, const rheos__stretch *stretch,
                           const rheos__instruction *in) {
  for (int32_t i = 0; i < p->num_inputs; ++i) {
    const int32_t index = stretch->input_values[in->first_operand + i];
    const rheos__value *value = rheos__find_value(stretch, index);
    const bool constant = value->root == index && value->kind == RHEOS__VALUE_CONSTANT;
    ((rheos_tensor **)(uintptr_t)p->input_values)[i] = constant ? value->constant : NULL;
  }
}

static void give_values(const rheos__late *late, rheos__prepare *p, rheos_tensor *const *inputs) {
  for (int32_t i = 0; i < p->num_inputs; ++i) {
    rheos_tensor *value = has_bytes(inputs[i]) ? inputs[i] : NULL;
    if (late->keeps && value != NULL) value = &late->copies[i];
    ((rheos_tensor **)(uintptr_t)p->input_values)[i] = value;
  }
}

static void clear_shapes(rheos__prepare *p) {
  for (int32_t i = 0; i < p->num_outputs; ++i) {
    ((rheos_shape *)(uintptr_t)p->output_shapes)[i] = RHEOS_UNKNOWN_SHAPE;
  }
}

// What the shape function says with the values: also whether it says the same without.
static rheos_status *infer(rheos__late *late, const rheos__stretch *stretch,
                           const rheos__instruction *in, rheos_tensor *const *inputs,
                           bool *out_same) {
  rheos__prepare *p = &late->p;
  const size_t bytes = (size_t)p->num_outputs * sizeof *p->output_shapes;
  give_constants(p, stretch, in);
  RHEOS_TRY(rheos__prepare_shapes(p));
  const rheos_shape *without = rheos__arena_copy(&late->arena, p->output_shapes, bytes);
  if (without == NULL) return rheos__out_of_memory();
  clear_shapes(p);
  give_values(late, p, inputs);
  RHEOS_TRY(rheos__prepare_shapes(p));
  *out_same = true;
  for (int32_t i = 0; i < p->num_outputs; ++i) {
    *out_same = *out_same && rheos_shape_equal(&without[i], &p->output_shapes[i]);
  }
  return NULL;
}

static rheos_status *prepare(rheos__late *late, const rheos__stretch *stretch,
                             const rheos__instruction *in, rheos_tensor *const *inputs,
                             rheos__resource *const *cells) {
  const rheos__entry *entry = &stretch->plan->entries[in->entry];
  forget(late);
  rheos__arena_reset(&late->arena);
  rheos__prepare *p = &late->p;
  RHEOS_TRY(rheos__prepare_init(p, stretch->plan, entry, &late->arena));
  fill_inputs(p, inputs, cells);
  late->keeps = copy_values(late, inputs, p->num_inputs);
  bool same = false;
  RHEOS_TRY(infer(late, stretch, in, inputs, &same));
  if (same) give_constants(p, stretch, in);
  rheos_status *status = rheos__prepare_kernel(p);
  late->any_values = status == NULL && same && p->compute != NULL;
  if (same && !late->any_values) {  // the kernel has to know values after all
    if (status == NULL) forget(late);
    rheos_status_free(status);
    rheos__prepare_clear(p);
    give_values(late, p, inputs);
    status = rheos__prepare_kernel(p);
  }
  if (status != NULL) {
    p->release = NULL;
    return status;
  }
  RHEOS_TRY(rheos__check_handles(entry, p));
  if (p->alias_input < 0 && p->compute == NULL &&
      !rheos__all_known(p->output_shapes, p->num_outputs)) {
    return rheos_status_new(RHEOS_INTERNAL, "the shape of an output of %s could not be inferred",
                            p->op->name);
  }
  // A cell that a kernel makes may be another one the next time.
  if ((late->any_values || late->keeps) && p->output_resource == NULL) {
    late->serial = stretch->serial;
  }
  return NULL;
}

// Inputs of a stretch have the dtypes and shapes that they had before.
static bool is_prepared(const rheos__late *late, const rheos__stretch *stretch,
                        rheos_tensor *const *inputs) {
  if (late->serial != stretch->serial) return false;
  for (int32_t i = 0; !late->any_values && i < late->p.num_inputs; ++i) {
    if (inputs[i] != NULL && inputs[i]->size_bytes > 0 &&
        memcmp(inputs[i]->data, late->copies[i].data, inputs[i]->size_bytes) != 0) {
      return false;
    }
  }
  return true;
}

rheos_status *rheos__run_late(const rheos__stretch *stretch, const rheos__instruction *in,
                              rheos__frame *frame, rheos__step *step) {
  rheos__late *late = late_of(frame, in->entry);
  if (late == NULL) return rheos__out_of_memory();
  rheos_tensor *const *inputs = rheos__take_tensors(frame, stretch, in);
  for (int32_t i = 0; i < in->num_outputs; ++i) frame->results[i] = NULL;
  rheos_status *status = NULL;
  if (!is_prepared(late, stretch, inputs)) {
    status = prepare(late, stretch, in, inputs, rheos__take_cells(frame, stretch, in));
  }
  if (status == NULL) {
    status =
        rheos__run_prepared(&late->p, inputs, step, frame->inputs, frame->outputs, frame->results);
  }
  if (status == NULL) return NULL;
  for (int32_t i = 0; i < in->num_outputs; ++i) {
    rheos_tensor_unref(frame->results[i]);
    frame->results[i] = NULL;
  }
  return status;
}
