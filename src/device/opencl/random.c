#include "device/opencl/random.h"

#include "device/opencl/source.h"
#include "ops/kit/random_fill.h"
#include "tensor/tensor.h"

#include "opencl/random.inc"

typedef struct random_work {
  rheos__generator *generator;
  rheos__launch *launch;
  rheos__memory *memory;
  rheos_shape shape;
} random_work;

static void release_work(void *state) {
  const random_work *w = state;
  rheos__launch_release(w->launch);
  rheos__generator_unref(w->generator);
}

static uint64_t joined(uint32_t low, uint32_t high) { return low | (uint64_t)high << 32; }

static rheos_status *compute(void *state, rheos__step *step, rheos_tensor *const *inputs,
                             rheos_tensor **outputs) {
  (void)step, (void)inputs;
  const random_work *w = state;
  RHEOS_TRY(rheos__tensor_new_in(w->memory, RHEOS_FLOAT, &w->shape, &outputs[0]));
  const int64_t count = outputs[0]->num_elements;
  if (count == 0) return NULL;
  const rheos__philox at = rheos__generator_reserve(w->generator, (uint64_t)count * 256);
  const uint64_t numbers[] = {joined(at.key[0], at.key[1]), joined(at.counter[0], at.counter[1]),
                              joined(at.counter[2], at.counter[3])};
  void *result[] = {outputs[0]->data};
  return rheos__launch_run_with(w->launch, NULL, result, NULL, numbers, 3);
}

static rheos_status *prepare(rheos__prepare *p, rheos__distribution_kind kind, const char *name) {
  rheos__card *card = rheos__card_of(p->device);
  const rheos__distribution *d = rheos__distribution_of(kind, RHEOS_FLOAT);
  const int64_t count = rheos_shape_num_elements(&p->output_shapes[0]);
  random_work *w = rheos__arena_alloc_zeroed(p->arena, sizeof *w);
  if (w == NULL) return rheos__out_of_memory();
  *w = (random_work){.memory = p->memory, .shape = p->output_shapes[0]};
  w->launch = rheos__launch_begin(card, p->arena, 0, 1);
  if (w->launch == NULL) return rheos__out_of_memory();
  if (count > 0) {
    const rheos__stage_operand operand = {0, 0};
    const rheos__grid grid = {1, {(size_t)((count + 3) / 4)}, {0}};
    rheos__text text = {0};
    rheos__cl_add_prelude(&text);
    rheos__cl_add(&text, "#define KIND %s\n", name);
    rheos__text_add_string(&text, rheos__cl_random);
    rheos__launch_add_text(w->launch, &text, "fill", &operand, 1, &grid);
    rheos__launch_set_number(w->launch, count);
    rheos__launch_set_number(w->launch, d->group_steps);
  }
  RHEOS_TRY(rheos__launch_end(w->launch, p, 0));
  if (p->decline_reason != NULL) return NULL;
  rheos_status *status = rheos__generator_of_node(p, &w->generator);
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

rheos_status *rheos__cl_prepare_uniform(rheos__prepare *p) {
  return prepare(p, RHEOS__UNIFORM, "uniform_group");
}
rheos_status *rheos__cl_prepare_normal(rheos__prepare *p) {
  return prepare(p, RHEOS__NORMAL, "normal_group");
}
rheos_status *rheos__cl_prepare_truncated(rheos__prepare *p) {
  return prepare(p, RHEOS__TRUNCATED, "truncated_group");
}
