#include "device/opencl/index.h"

#include <string.h>

#include "device/opencl/move.h"
#include "device/opencl/source.h"
#include "ops/kit/array_util.h"
#include "ops/kit/variable_util.h"

static const char late[] = "it is known only when it runs along which dimension";

// ---- Gather

static const char gather_source[] =
    "kernel void gather(global const char *bx, ulong ox, global const char *bi, ulong oi,\n"
    "                   global char *bz, ulong oz, long count, long outer, long each, long inner,\n"
    "                   ulong limit) {\n"
    "  const number at = get_global_id(0);\n"
    "  if (at >= (number)count) return;\n"
    "  const number slot = at / (number)inner, block = slot / (number)each;\n"
    "  const number batch = block / (number)outer, item = slot % (number)each;\n"
    "  const long index = ((global const INDEX *)(bi + oi))[(long)batch * each + item];\n"
    "  WORD value = 0;\n"
    "  if (index >= 0 && (ulong)index < limit) {\n"
    "    value = ((global const WORD *)(bx + ox))[(block * limit + index) * inner + at % "
    "(number)inner];\n"
    "  }\n"
    "  ((global WORD *)(bz + oz))[at] = value;\n"
    "}\n";

// d0 to d7: as many sizes as an index has coordinates.
static const char gather_nd_source[] =
    "kernel void gather(global const char *bx, ulong ox, global const char *bi, ulong oi,\n"
    "                   global char *bz, ulong oz, long count, long run, long depth, ulong d0,\n"
    "                   ulong d1, ulong d2, ulong d3, ulong d4, ulong d5, ulong d6, ulong d7) {\n"
    "  const number at = get_global_id(0);\n"
    "  if (at >= (number)count) return;\n"
    "  const ulong sizes[8] = {d0, d1, d2, d3, d4, d5, d6, d7};\n"
    "  global const INDEX *index = (global const INDEX *)(bi + oi) + at / (number)run * depth;\n"
    "  ulong place = 0;\n"
    "  bool is_there = true;\n"
    "  for (long d = 0; d < depth && is_there; d++) {\n"
    "    is_there = index[d] >= 0 && (ulong)index[d] < sizes[d];\n"
    "    place = place * sizes[d] + (ulong)index[d];\n"
    "  }\n"
    "  WORD value = 0;\n"
    "  if (is_there) value = ((global const WORD *)(bx + ox))[place * run + at % (number)run];\n"
    "  ((global WORD *)(bz + oz))[at] = value;\n"
    "}\n";

// What is gathered of `params`; the indices are input 1.
typedef struct gathering {
  const rheos_shape *params;
  bool by_coordinates;
  int32_t axis, batch_dims;
  bool tells_sizes;  // else they are numbers of a run
} gathering;

static rheos_status *add_gather(rheos__prepare *p, const gathering *g, rheos__launch **out_launch) {
  const rheos_shape *params = g->params, *indices = &p->input_shapes[1];
  const char *word = rheos__cl_word_of(rheos_dtype_size(p->output_dtypes[0]));
  const char *index = rheos__cl_integer_of(p->input_dtypes[1]);
  const int64_t count = rheos_shape_num_elements(&p->output_shapes[0]);
  rheos__launch *launch =
      rheos__launch_begin(rheos__card_of(p->device), p->arena, p->num_inputs, 1);
  *out_launch = launch;
  if (launch == NULL) return rheos__out_of_memory();
  launch->cannot = word == NULL || index == NULL;
  if (count == 0 || launch->cannot) return NULL;
  const rheos__stage_operand operands[] = {{0, 0}, {1, 0}, {p->num_inputs, 0}};
  const rheos__grid grid = {1, {(size_t)count}, {0}};
  rheos__text text = {0};
  rheos__cl_add(&text, "#define WORD %s\n#define INDEX %s\ntypedef %s number;\n", word, index,
                count < INT32_MAX ? "uint" : "ulong");
  rheos__text_add_string(&text, g->by_coordinates ? gather_nd_source : gather_source);
  rheos__launch_add_text(launch, &text, "gather", operands, 3, &grid);
  rheos__launch_set_number(launch, count);
  if (g->by_coordinates) {
    const int32_t depth = (int32_t)indices->dims[indices->rank - 1];
    rheos__launch_set_number(launch, rheos__shape_product(params, depth, params->rank));
    rheos__launch_set_number(launch, depth);
    for (int32_t d = 0; d < RHEOS_MAX_RANK && g->tells_sizes; d++) {
      rheos__launch_set_number(launch, d < depth ? params->dims[d] : 1);
    }
    return NULL;
  }
  rheos__launch_set_number(launch, rheos__shape_product(params, g->batch_dims, g->axis));
  rheos__launch_set_number(launch, rheos__shape_product(indices, g->batch_dims, indices->rank));
  rheos__launch_set_number(launch, rheos__shape_product(params, g->axis + 1, params->rank));
  if (g->tells_sizes) rheos__launch_set_number(launch, params->dims[g->axis]);
  return NULL;
}

static int32_t batch_dims_of(const rheos__prepare *p) {
  const rheos_attr_value *batch_dims = rheos__attrs_find(p->attrs, "batch_dims");
  const int64_t count = batch_dims != NULL ? batch_dims->i : 0;
  return (int32_t)(count < 0 ? count + p->input_shapes[1].rank : count);
}

static rheos_status *answer_gather(rheos__prepare *p, const gathering *g) {
  rheos__launch *launch;
  RHEOS_TRY(p->op->prepare(p));  // which checks the shapes
  RHEOS_TRY(add_gather(p, g, &launch));
  return rheos__launch_end(launch, p, 0);
}

rheos_status *rheos__cl_prepare_gather(rheos__prepare *p) {
  gathering g = {.params = &p->input_shapes[0], .tells_sizes = true};
  if (!rheos__cl_find_axis(p, 2, g.params->rank, &g.axis)) {
    p->decline_reason = late;
    return NULL;
  }
  g.batch_dims = batch_dims_of(p);
  return answer_gather(p, &g);
}

rheos_status *rheos__cl_prepare_gather_nd(rheos__prepare *p) {
  const gathering g = {.params = &p->input_shapes[0], .by_coordinates = true, .tells_sizes = true};
  return answer_gather(p, &g);
}

// ---- From variables behind handles

typedef struct variable_gather {
  const rheos__launch *launch;
  rheos__cells cells;
  gathering what;
  rheos_shape params, out;
  rheos_dtype dtype;
} variable_gather;

static void release_gather(void *state) {
  const variable_gather *g = state;
  rheos__launch_release((void *)(uintptr_t)g->launch);
}

static rheos_status *gather_from(const variable_gather *g, const rheos_tensor *variable,
                                 const rheos_tensor *indices, rheos_tensor **output) {
  uint64_t sizes[RHEOS_MAX_RANK];
  if (!rheos_shape_compatible(&g->params, &variable->shape)) {
    rheos__shape_text is, was;
    return rheos_status_new(RHEOS_INVALID_ARGUMENT, "the variable has shape %s, not %s",
                            rheos__shape_text_of(&variable->shape, &is),
                            rheos__shape_text_of(&g->params, &was));
  }
  for (int32_t d = 0; d < RHEOS_MAX_RANK; d++) {
    sizes[d] = d < variable->shape.rank ? (uint64_t)variable->shape.dims[d] : 1;
  }
  RHEOS_TRY(rheos__tensor_new_in(g->cells.memory, g->dtype, &g->out, output));
  const void *inputs[] = {variable->data, indices->data};
  void *outputs[] = {(*output)->data};
  return rheos__launch_run_with(g->launch, inputs, outputs, NULL,
                                g->what.by_coordinates ? sizes : &sizes[g->what.axis],
                                g->what.by_coordinates ? RHEOS_MAX_RANK : 1);
}

static rheos_status *compute_gather(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                    rheos_tensor **outputs) {
  (void)step;
  const variable_gather *g = state;
  rheos_tensor *variable = NULL;
  RHEOS_TRY(rheos__variable_read_in(g->cells.items[0], g->cells.memory, &variable));
  rheos_status *status = gather_from(g, variable, inputs[1], &outputs[0]);
  rheos_tensor_unref(variable);
  return status;
}

rheos_status *rheos__cl_prepare_variable_gather(rheos__prepare *p) {
  variable_gather *g = rheos__arena_alloc_zeroed(p->arena, sizeof *g);
  rheos__launch *launch;
  if (g == NULL) return rheos__out_of_memory();
  RHEOS_TRY(rheos__cells_of(p, 1, &g->cells));
  g->params = p->handle_shapes[0] != NULL ? *p->handle_shapes[0] : RHEOS_UNKNOWN_SHAPE;
  g->out = p->output_shapes[0];
  g->dtype = p->output_dtypes[0];
  g->what = (gathering){.params = &g->params,
                        .by_coordinates = strcmp(p->op->name, "ResourceGatherNd") == 0};
  g->what.batch_dims = g->what.axis = g->what.by_coordinates ? 0 : batch_dims_of(p);
  RHEOS_TRY(add_gather(p, &g->what, &launch));
  RHEOS_TRY(rheos__launch_end(launch, p, 0));
  if (p->decline_reason != NULL) return NULL;
  g->launch = launch;
  p->run = NULL;
  p->compute = compute_gather;
  p->state = g;
  p->release = release_gather;
  return NULL;
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
