#include "device/opencl/scaling.h"

#include <string.h>

#include "device/opencl/source.h"
#include "ops/image/scale_and_translate.h"

#include "opencl/scaling.inc"

// As scaling.cl has it.
typedef struct card_spans {
  cl_long outer, from, to, inner;
} card_spans;

enum { HEIGHT, WIDTH, NUM_SIDES };

// Which pixels are summed, and by which weights: on the card, inputs 1 and 2 of the launch.
typedef struct tables {
  void *sides[NUM_SIDES];
} tables;

typedef struct scaling {
  rheos__launch *launch;
  rheos__memory *memory;
  const rheos__attrs *attrs;
  int64_t in[NUM_SIDES], out[NUM_SIDES];
  bool is_constant;
  tables constant;  // if so, made once
} scaling;

static void free_tables(const scaling *s, const tables *t) {
  for (int side = 0; side < NUM_SIDES; side++) {
    if (t->sides[side] != NULL) rheos__memory_free(s->memory, t->sides[side]);
  }
}

static rheos_status *copy_to_card(const scaling *s, const rheos__spans *spans, void **out_table) {
  const size_t out = (size_t)spans->out, weights = out * (size_t)spans->width;
  const size_t size = (1 + 2 * out) * sizeof(cl_int) + weights * sizeof(cl_float);
  cl_int *table = rheos__alloc(size);
  rheos_status *status = NULL;
  *out_table = rheos__memory_allocate(s->memory, size);
  if (table == NULL || *out_table == NULL) {
    status = rheos__out_of_memory();
  } else {
    table[0] = (cl_int)spans->width;
    for (size_t i = 0; i < out; i++) {
      table[1 + i] = (cl_int)spans->starts[i];
      table[1 + out + i] = (cl_int)spans->counts[i];
    }
    memcpy(table + 1 + 2 * out, spans->weights, weights * sizeof(cl_float));
    status = rheos__memory_copy(s->memory, *out_table, NULL, table, size);
  }
  rheos__free(table);
  return status;
}

// Nothing is left of them after a failure.
static rheos_status *make_tables(const scaling *s, const float *scales, const float *moves,
                                 tables *out) {
  rheos_status *status = NULL;
  *out = (tables){{NULL}};
  for (int side = 0; side < NUM_SIDES && status == NULL; side++) {
    rheos__spans spans;
    status =
        rheos__spans_init(&spans, s->attrs, s->in[side], s->out[side], scales[side], moves[side]);
    if (status == NULL) status = copy_to_card(s, &spans, &out->sides[side]);
    rheos__spans_deinit(&spans);
  }
  if (status != NULL) free_tables(s, out);
  return status;
}

static rheos_status *run_by(const scaling *s, const tables *t, const void *image,
                            void *const *outputs, void *scratch) {
  const void *given[] = {image, t->sides[HEIGHT], t->sides[WIDTH]};
  return rheos__launch_run(s->launch, given, outputs, scratch, 0, 1);
}

// Waits for the card where it is no constant how pictures are scaled and moved.
static rheos_status *run_scaling(const void *state, const void *const *inputs, void *const *outputs,
                                 void *scratch, int64_t first_unit, int64_t last_unit) {
  (void)first_unit, (void)last_unit;
  const scaling *s = state;
  float scales[NUM_SIDES], moves[NUM_SIDES];
  tables made;
  if (s->is_constant) return run_by(s, &s->constant, inputs[0], outputs, scratch);
  RHEOS_TRY(rheos__memory_copy(NULL, scales, s->memory, inputs[2], sizeof scales));
  RHEOS_TRY(rheos__memory_copy(NULL, moves, s->memory, inputs[3], sizeof moves));
  RHEOS_TRY(make_tables(s, scales, moves, &made));
  rheos_status *status = run_by(s, &made, inputs[0], outputs, scratch);
  free_tables(s, &made);
  return status;
}

static void release_scaling(void *state) {
  const scaling *s = state;
  rheos__launch_release(s->launch);
  free_tables(s, &s->constant);
}

static void add_kernel(rheos__launch *launch, const char *name, rheos_dtype dtype,
                       const int32_t *numbers, const card_spans *k) {
  const int64_t length = name[0] == 'f' ? k->to : k->from;
  const rheos__grid grid = {1, {(size_t)(k->outer * length * k->inner)}, {0}};
  rheos__stage_operand operands[3];
  rheos__text text = {0};
  for (int i = 0; i < 3; i++) operands[i] = (rheos__stage_operand){numbers[i], 0};
  rheos__cl_add_prelude(&text);
  rheos__cl_add_macros(&text, rheos__cl_dtype_of(launch->card, dtype));
  rheos__text_add_string(&text, rheos__cl_scaling);
  rheos__launch_add_text(launch, &text, name, operands, 3, &grid);
  rheos__launch_set(launch, k, sizeof *k);
}

// Whether the card can, of a picture from `in` to `out`; the CPU reports what is wrong with sizes.
static bool can_scale(const rheos__prepare *p, const rheos_shape *in, const rheos_shape *out) {
  bool can = rheos__cl_dtype_of(rheos__card_of(p->device), p->input_dtypes[0]) != NULL;
  for (int d = 1; d < 4; d++) {
    can &=
        in->dims[d] > 0 && out->dims[d] > 0 && in->dims[d] < INT32_MAX && out->dims[d] < INT32_MAX;
  }
  return can;
}

// Returns the bytes of what lies between the two kernels.
static size_t add_kernels(rheos__launch *launch, rheos_dtype dtype, const rheos_shape *in,
                          const rheos_shape *out, bool is_gradient) {
  const card_spans rows = {in->dims[0], in->dims[1], out->dims[1], out->dims[2] * out->dims[3]};
  const card_spans columns = {in->dims[0] * in->dims[1], in->dims[2], out->dims[2], out->dims[3]};
  if (in->dims[0] == 0) return 0;
  if (is_gradient) {
    add_kernel(launch, "backward", dtype, (const int32_t[]){0, 1, RHEOS__SCRATCH}, &rows);
    add_kernel(launch, "backward", dtype, (const int32_t[]){RHEOS__SCRATCH, 2, 3}, &columns);
  } else {
    add_kernel(launch, "forward", dtype, (const int32_t[]){0, 2, RHEOS__SCRATCH}, &columns);
    add_kernel(launch, "forward", RHEOS_FLOAT, (const int32_t[]){RHEOS__SCRATCH, 1, 3}, &rows);
  }
  return (size_t)(columns.outer * columns.to * columns.inner) * sizeof(cl_float);
}

// With the launch made, which goes with it after a failure.
static rheos_status *answer_by(rheos__prepare *p, scaling *s) {
  s->is_constant =
      p->input_values != NULL && p->input_values[2] != NULL && p->input_values[3] != NULL;
  if (s->is_constant) {
    rheos_status *status =
        make_tables(s, p->input_values[2]->data, p->input_values[3]->data, &s->constant);
    if (status != NULL) rheos__launch_release(s->launch);
    if (status != NULL) return status;
  }
  p->run = run_scaling;
  p->state = s;
  p->release = release_scaling;
  return NULL;
}

static rheos_status *answer(rheos__prepare *p, bool is_gradient) {
  const rheos_shape *in = &p->input_shapes[is_gradient];
  const rheos_shape *out = is_gradient ? &p->input_shapes[0] : &p->output_shapes[0];
  RHEOS_TRY(rheos__prepare_reference(p));
  if (!can_scale(p, in, out)) {
    p->decline_reason = "the device does not scale pictures of this dtype or size";
    return NULL;
  }
  scaling *s = rheos__arena_alloc_zeroed(p->arena, sizeof *s);
  rheos__launch *launch = rheos__launch_begin(rheos__card_of(p->device), p->arena, 3, 2);
  if (s == NULL || launch == NULL) return rheos__out_of_memory();
  *s = (scaling){.launch = launch, .memory = p->memory, .attrs = p->attrs};
  for (int side = 0; side < NUM_SIDES; side++) {
    s->in[side] = in->dims[1 + side];
    s->out[side] = out->dims[1 + side];
  }
  const size_t middle = add_kernels(launch, p->input_dtypes[0], in, out, is_gradient);
  RHEOS_TRY(rheos__launch_end(launch, p, middle));
  return p->decline_reason != NULL ? NULL : answer_by(p, s);
}

rheos_status *rheos__cl_prepare_scaling(rheos__prepare *p) { return answer(p, false); }
rheos_status *rheos__cl_prepare_scaling_grad(rheos__prepare *p) { return answer(p, true); }
