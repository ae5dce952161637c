#include "device/opencl/pool.h"

#include <string.h>

#include "device/opencl/source.h"
#include "device/opencl/windows.h"
#include "ops/nn/pool.h"

#include "opencl/pool.inc"

// As pool.cl has it.
typedef struct card_pool {
  rheos__card_windows w;
  cl_int channels, depth, batch_in_index;
} card_pool;

static card_pool pool_for_card(const rheos__pool *p) {
  return (card_pool){rheos__windows_for_card(&p->windows, p->batch, &p->in, &p->out),
                     (cl_int)p->channels, (cl_int)p->depth, p->batch_in_index};
}

static const char *macros_of(rheos__pool_kind kind) {
  switch (kind) {
    case RHEOS__POOL_MAX: return "#define POOL_FORWARD 1\n#define POOL_MAX 1\n";
    case RHEOS__POOL_MAX_3D: return "#define POOL_FORWARD 1\n#define POOL_MAX_3D 1\n";
    case RHEOS__POOL_ARGMAX: return "#define POOL_FORWARD 1\n#define POOL_ARGMAX 1\n";
    case RHEOS__POOL_AVERAGE: return "#define POOL_FORWARD 1\n";
    case RHEOS__POOL_MAX_GRAD: return "#define POOL_MAX 1\n";
    case RHEOS__POOL_MAX_3D_GRAD: return "#define POOL_MAX_3D 1\n";
    case RHEOS__POOL_AVERAGE_GRAD: return "#define POOL_AVERAGE 1\n";
    case RHEOS__POOL_MAX_GRAD_GRAD: return "#define POOL_GRAD_GRAD 1\n";
    default: return NULL;
  }
}

rheos_status *rheos__cl_prepare_pool(rheos__prepare *p) {
  rheos__card *card = rheos__card_of(p->device);
  RHEOS_TRY(rheos__prepare_reference(p));
  const rheos__pool_state *s = p->state;
  const rheos__cl_dtype *dtype = rheos__cl_dtype_of(card, p->output_dtypes[0]);
  const char *macros = macros_of(s->op->kind);
  const int64_t count = rheos_shape_num_elements(&p->output_shapes[0]);
  int64_t largest = count;
  for (int32_t i = 0; i < p->num_inputs; i++) {
    const int64_t elements = rheos_shape_num_elements(&p->input_shapes[i]);
    if (elements > largest) largest = elements;
  }
  const bool is_forward = macros != NULL && strstr(macros, "FORWARD") != NULL;
  if (dtype == NULL || macros == NULL || s->late || largest >= INT32_MAX ||
      (!is_forward && s->pool.depth != 1)) {
    p->decline_reason = "the device does not pool so";
    return NULL;
  }
  rheos__launch *launch = rheos__launch_begin(card, p->arena, p->num_inputs, 1);
  if (launch == NULL) return rheos__out_of_memory();
  if (count > 0) {
    const int32_t out = p->num_inputs, index = p->num_outputs > 1 ? out + 1 : out;
    const bool averages = s->op->kind == RHEOS__POOL_AVERAGE_GRAD;
    const rheos__stage_operand forward[] = {{0, 0}, {out, 0}, {index, 0}};
    const rheos__stage_operand backward[] = {
        {averages ? 1 : 0, 0}, {1, 0}, {averages ? 1 : 2, 0}, {out, 0}};
    const rheos__grid grid = {1, {(size_t)count}, {0}};
    const card_pool k = pool_for_card(&s->pool);
    rheos__text text = {0};
    rheos__cl_add_prelude(&text);
    rheos__cl_add_macros(&text, dtype);
    rheos__cl_add(&text, "%s#define LOWEST %s\n#define INDEX %s\ntypedef double TOTAL;\n", macros,
                  rheos__cl_least_of(p->output_dtypes[0], dtype), s->wide_index ? "long" : "int");
    rheos__windows_add_text(&text);
    rheos__text_add_string(&text, rheos__cl_pool);
    rheos__launch_add_text(launch, &text, "run", is_forward ? forward : backward,
                           is_forward ? 3 : 4, &grid);
    rheos__launch_set(launch, &k, sizeof k);
    rheos__launch_set_number(launch, count);
  }
  return rheos__launch_end(launch, p, 0);
}
