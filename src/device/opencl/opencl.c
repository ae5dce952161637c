// The table of the device's functions.
#include "device/opencl/opencl.h"

#include <stdio.h>
#include <string.h>

#include "device/opencl/kernels.h"
#include "device/opencl/launch.h"
#include "device/opencl/loop.h"

// Whether the card computes with the values, or may hold them at least. NULL: one that is only
// spoken of, where graphs are placed without it; it has all dtypes.
static bool is_of_numbers(const rheos__card *card, const rheos__attrs *attrs) {
  for (int32_t i = 0; attrs != NULL && i < attrs->count; i++) {
    const rheos_attr_value *value = &attrs->items[i].value;
    if (value->kind != RHEOS_ATTR_TYPE) continue;
    if (value->type == RHEOS_STRING || value->type == RHEOS_VARIANT ||
        value->type == RHEOS_RESOURCE || rheos_dtype_is_complex(value->type) ||
        (value->type == RHEOS_DOUBLE && card != NULL && !card->has_double)) {
      return false;
    }
  }
  return true;
}

// What keeps tensors needs no kernel.
static bool is_here(const rheos__op_def *op) {
  const unsigned kinds = RHEOS_OP_ANY_MEMORY | RHEOS_OP_CALLS;
  return (op->flags & kinds) == RHEOS_OP_ANY_MEMORY || rheos__cl_kernels_of(op) != NULL;
}

static bool has_kernel(const rheos__device *device, const rheos__op_def *op,
                       const rheos__attrs *attrs) {
  return is_here(op) && is_of_numbers(rheos__card_of(device), attrs);
}

// Complex numbers, and doubles where the card has none, are numbers of TensorFlow's cards.
static bool owes_kernel(const rheos__device *device, const rheos__op_def *op,
                        const rheos__attrs *attrs) {
  (void)device;
  if (!is_here(op)) return rheos__cl_knows(op);
  for (int32_t i = 0; attrs != NULL && i < attrs->count; i++) {
    const rheos_attr_value *value = &attrs->items[i].value;
    if (value->kind == RHEOS_ATTR_TYPE &&
        (value->type == RHEOS_DOUBLE || rheos_dtype_is_complex(value->type))) {
      return true;
    }
  }
  return false;
}

static bool has_floats(const rheos__arg *args, int32_t count) {
  for (int32_t i = 0; i < count; i++) {
    if (rheos_dtype_is_floating(args[i].dtype)) return true;
  }
  return false;
}

static bool is_of_floats(const rheos__op_def *op, const rheos__attrs *attrs) {
  for (int32_t i = 0; attrs != NULL && i < attrs->count; i++) {
    const rheos_attr_value *value = &attrs->items[i].value;
    if (value->kind == RHEOS_ATTR_TYPE && rheos_dtype_is_floating(value->type)) return true;
  }
  if ((op->flags & RHEOS_OP_ANY_MEMORY) != 0) return false;  // the flow of an array is no number
  const rheos__signature *s = rheos__signature_by_name(op->name);
  return s != NULL &&
         (has_floats(s->inputs, s->num_inputs) || has_floats(s->outputs, s->num_outputs));
}

// Of floats: whole numbers are mostly shapes and indices, which the host reads.
static bool prefers(const rheos__device *device, const rheos__op_def *op,
                    const rheos__attrs *attrs) {
  return has_kernel(device, op, attrs) && is_of_floats(op, attrs);
}

static rheos_status *finish(const rheos__device *device, rheos__segment *segment) {
  (void)device;
  if (rheos__fuses(segment->plan)) RHEOS_TRY(rheos__fuse(segment, &rheos__cl_fusing));
  return rheos__cl_finish_loops(segment);
}

static rheos_status *synchronize(const rheos__device *device) {
  rheos__card *card = rheos__card_of(device);
  RHEOS_TRY(rheos__card_check(card));
  return rheos__card_status(card, card->cl->clFinish(card->queue), "finishing a step");
}

// Drivers may keep what they are given until they are asked. Who fails here fails again where it
// is waited for.
static void flush(const rheos__device *device) {
  rheos__card *card = rheos__card_of(device);
  rheos_status *status = rheos__card_check(card);
  if (status == NULL) card->cl->clFlush(card->queue);
  rheos_status_free(status);
}

const rheos__device_kind rheos__opencl_kind = {
    .name = "GPU",
    .max_operands = RHEOS__LOOP_OPERANDS,
    .has_kernel = has_kernel,
    .prefers = prefers,
    .owes_kernel = owes_kernel,
    .takes_on_host = rheos__cl_takes_on_host,
    .variants = rheos__cl_kernels_of,
    .finish = finish,
    .synchronize = synchronize,
    .flush = flush,
};
