// Seeds, keys and bounds are read on the host: see takes_on_host() of this device.
#include "device/opencl/random.h"

#include "device/opencl/source.h"
#include "ops/kit/op_util.h"
#include "ops/kit/random_fill.h"
#include "tensor/tensor.h"

#include "opencl/random.inc"

typedef struct random_work {
  rheos__generator *generator;  // NULL: inputs tell it
  rheos__random_inputs told;
  rheos__launch *launch;
  rheos__memory *memory;
  rheos_shape shape;
  rheos_dtype dtype;
} random_work;

static void release_work(void *state) {
  const random_work *w = state;
  rheos__launch_release(w->launch);
  if (w->generator != NULL) rheos__generator_unref(w->generator);
}

static uint64_t joined(uint32_t low, uint32_t high) { return low | (uint64_t)high << 32; }

static rheos_status *fill(const random_work *w, const rheos__philox *at,
                          const rheos__random_range *range, const rheos_tensor *out) {
  const uint64_t numbers[] = {joined(at->key[0], at->key[1]),
                              joined(at->counter[0], at->counter[1]),
                              joined(at->counter[2], at->counter[3]), range->low, range->width};
  void *result[] = {out->data};
  return rheos__launch_run_with(w->launch, NULL, result, NULL, numbers, 5);
}

static rheos_status *compute(void *state, rheos__step *step, rheos_tensor *const *inputs,
                             rheos_tensor **outputs) {
  (void)step;
  const random_work *w = state;
  rheos__philox at = {0};
  rheos__random_range range = {0};
  if (w->generator == NULL) {
    RHEOS_TRY(rheos__random_inputs_read(&w->told, inputs, &w->shape, &at, &range));
  } else if (w->told.first_bound > 0) {
    RHEOS_TRY(rheos__random_range_of(inputs[1], inputs[2], &w->shape, &range));
  }
  RHEOS_TRY(rheos__tensor_new_in(w->memory, w->dtype, &w->shape, &outputs[0]));
  const int64_t count = outputs[0]->num_elements;
  if (count == 0) return NULL;
  if (w->generator != NULL) at = rheos__generator_reserve(w->generator, (uint64_t)count * 256);
  return fill(w, &at, &range, outputs[0]);
}

// What the bits of a number of 32 are of the dtype: a fraction, or they themselves.
static const char *uniform_of(rheos_dtype dtype) {
  switch (dtype) {
    case RHEOS_FLOAT: return "fraction(x)";
    case RHEOS_HALF: return "(half_to_float((ushort)(0x3c00u | ((x) & 0x3ffu))) - 1.0f)";
    case RHEOS_BFLOAT16: return "(as_float(0x3f800000u | ((x) & 0x7fu) << 16) - 1.0f)";
    default: return "((COMPUTED)(x))";
  }
}

static void add_fill(random_work *w, const char *name, int64_t count,
                     const rheos__distribution *d) {
  const rheos__stage_operand operand = {0, 0};
  const rheos__grid grid = {1, {(size_t)((count + d->group_size - 1) / d->group_size)}, {0}};
  rheos__text text = {0};
  rheos__cl_add_prelude(&text);
  rheos__cl_add_macros(&text, rheos__cl_dtype_of(w->launch->card, w->dtype));
  rheos__cl_add(&text, "#define KIND %s\n#define EACH %d\n#define UNIFORM(x) %s\n", name,
                d->group_size, uniform_of(w->dtype));
  if (w->dtype == RHEOS_DOUBLE) rheos__cl_add(&text, "#define IS_DOUBLE\n");
  rheos__text_add_string(&text, rheos__cl_random);
  rheos__launch_add_text(w->launch, &text, "fill", &operand, 1, &grid);
  rheos__launch_set_number(w->launch, count);
  rheos__launch_set_number(w->launch, d->group_steps);
}

// As the answer, with the work as its state.
static rheos_status *answer(rheos__prepare *p, random_work *w, bool has_state) {
  RHEOS_TRY(rheos__launch_end(w->launch, p, 0));
  if (p->decline_reason != NULL) return NULL;
  rheos_status *status = has_state ? rheos__generator_of_node(p, &w->generator) : NULL;
  if (status != NULL) {
    rheos__launch_release(w->launch);
    return status;
  }
  p->run = NULL;
  p->compute = compute;
  p->state = w;
  p->release = release_work;
  return NULL;
}

static rheos_status *prepare(rheos__prepare *p, rheos__distribution_kind kind, const char *name) {
  rheos__card *card = rheos__card_of(p->device);
  const bool has_state = (p->op->flags & RHEOS_OP_STATEFUL) != 0;
  const rheos_dtype dtype = p->output_dtypes[0];
  const rheos__distribution *d = rheos__distribution_of(kind, dtype);
  const int64_t count = rheos_shape_num_elements(&p->output_shapes[0]);
  if (d == NULL) return rheos__no_kernel(p, dtype);
  random_work *w = rheos__arena_alloc_zeroed(p->arena, sizeof *w);
  if (w == NULL) return rheos__out_of_memory();
  *w = (random_work){.memory = p->memory, .shape = p->output_shapes[0], .dtype = dtype};
  w->told = rheos__random_inputs_of(p);
  if (has_state) w->told.first_bound = p->num_inputs > 2;
  w->launch = rheos__launch_begin(card, p->arena, 0, 1);
  if (w->launch == NULL) return rheos__out_of_memory();
  const bool has_range = w->told.first_bound > 0;
  if (count > 0) add_fill(w, has_range ? "range_group" : name, count, d);
  return answer(p, w, has_state);
}

rheos_status *rheos__cl_prepare_uniform(rheos__prepare *p) {
  return prepare(p, RHEOS__UNIFORM, "uniform_group");
}
rheos_status *rheos__cl_prepare_full_int(rheos__prepare *p) {
  return prepare(p, RHEOS__FULL_INT, "uniform_group");
}
rheos_status *rheos__cl_prepare_normal(rheos__prepare *p) {
  return prepare(p, RHEOS__NORMAL, "normal_group");
}
rheos_status *rheos__cl_prepare_truncated(rheos__prepare *p) {
  return prepare(p, RHEOS__TRUNCATED, "truncated_group");
}
