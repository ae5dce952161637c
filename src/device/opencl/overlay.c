#include "device/opencl/overlay.h"

#include <string.h>

#include "device/opencl/move.h"
#include "device/opencl/source.h"
#include "ops/array/slice.h"
#include "ops/kit/variable_util.h"

static rheos_status *decline(rheos__prepare *p, const char *reason) {
  if (p->release != NULL) p->release(p->state);
  p->decline_reason = reason;
  return NULL;
}

static const char late[] = "it is known only when it runs what is moved where";

// ---- One copy over zeros or another input

rheos_status *rheos__cl_prepare_spread(rheos__prepare *p) {
  RHEOS_TRY(p->op->prepare(p));
  const rheos__spread *spread = p->run != NULL ? rheos__spread_of(p->run, p->state) : NULL;
  if (spread == NULL) return decline(p, late);
  rheos__launch *launch =
      rheos__launch_begin(rheos__card_of(p->device), p->arena, p->num_inputs, 2);
  if (launch == NULL) return rheos__out_of_memory();
  const int64_t count = rheos_shape_num_elements(&p->output_shapes[0]);
  if (spread->base_input < 0) {
    rheos__move_add_fill(launch, p->num_inputs, count, rheos_dtype_size(p->output_dtypes[0]), 0);
  } else {
    rheos__copy whole;
    rheos__copy_init(&whole, p->output_dtypes[0]);
    rheos__copy_add(&whole, count, 1, 1);
    rheos__move_add(launch, &whole, spread->base_input, p->num_inputs);
  }
  rheos__move_add(launch, &spread->copy, spread->data_input, p->num_inputs);
  return rheos__launch_end(launch, p, 0);
}

// ---- Over a slice of a variable, whose shape, as the bounds where they are no constants, a run
// tells

// Work-items there are at least: a value may be repeated.
enum { MANY = 16384, BOUNDS = 3, MAX_BOUNDS = 2 * RHEOS_MAX_RANK };

static const char assign_source[] =
    "kernel void assign(global const char *bx, ulong ox, global char *bz, ulong oz,\n"
    "                   ulong count, long from_start, long to_start";
static const char assign_walk[] =
    "for (ulong at = get_global_id(0); at < count; at += get_global_size(0)) {\n"
    "ulong rest = at; long from = from_start, to = to_start;\n";

typedef struct slice_assign {
  const rheos__launch *launch;
  rheos__cells cells;
  const rheos__operands *operands;
  const void *bounds[BOUNDS];  // where they are constants
} slice_assign;

static void add_assign(rheos__launch *launch, const char *word, int64_t num_items) {
  const rheos__stage_operand operands[] = {{4, 0}, {5, 0}};
  const rheos__grid grid = {1, {(size_t)(num_items > MANY ? num_items : MANY)}, {0}};
  rheos__text text = {0};
  rheos__text_add_string(&text, assign_source);
  for (int d = 0; d < RHEOS_MAX_RANK; d++) {
    rheos__cl_add(&text, ", ulong d%d, long f%d, long t%d", d, d, d);
  }
  rheos__cl_add(&text, ") {\n%s", assign_walk);
  for (int d = RHEOS_MAX_RANK - 1; d >= 0; d--) {
    rheos__cl_add(&text,
                  "if (d%d > 1) { const long digit = (long)(rest %% d%d); rest /= d%d;\n"
                  "from += digit * f%d; to += digit * t%d; }\n",
                  d, d, d, d, d);
  }
  rheos__cl_add(&text,
                "((global %s *)(bz + oz))[to] = ((global const %s *)(bx + ox))[from];\n}\n}\n",
                word, word);
  rheos__launch_add_text(launch, &text, "assign", operands, 2, &grid);
}

// What the bounds of this run are, wherever they lie.
static rheos_status *read_bounds(const slice_assign *s, rheos_tensor *const *inputs,
                                 char (*room)[MAX_BOUNDS * sizeof(int64_t)], const void **out) {
  for (int k = 0; k < BOUNDS; k++) {
    const rheos_tensor *bound = inputs[k + 1];
    out[k + 1] = s->bounds[k];
    if (s->bounds[k] != NULL) continue;
    RHEOS_TRY(rheos__memory_copy(NULL, room[k], bound->memory, bound->data, bound->size_bytes));
    out[k + 1] = room[k];
  }
  return NULL;
}

static rheos_status *assign(const slice_assign *s, rheos_tensor *variable,
                            rheos_tensor *const *inputs) {
  enum { NUMBERS = 3 + 3 * RHEOS_MAX_RANK };
  char room[BOUNDS][MAX_BOUNDS * sizeof(int64_t)];
  const void *bounds[BOUNDS + 1];
  rheos_shape shapes[5];
  rheos__operands operands = *s->operands;
  rheos__copy copy;
  memcpy(shapes, s->operands->input_shapes, sizeof shapes);
  shapes[0] = variable->shape;
  operands.input_shapes = shapes;
  RHEOS_TRY(read_bounds(s, inputs, room, bounds));
  RHEOS_TRY(rheos__assigned_slice(&operands, bounds, &copy));
  if (copy.num_elements == 0) return NULL;
  uint64_t numbers[NUMBERS] = {(uint64_t)copy.num_elements, (uint64_t)copy.in_start,
                               (uint64_t)copy.out_start};
  for (int32_t d = 0; d < copy.rank; d++) {
    numbers[3 + 3 * d] = (uint64_t)copy.dims[d];
    numbers[4 + 3 * d] = (uint64_t)copy.in_steps[d];
    numbers[5 + 3 * d] = (uint64_t)copy.out_steps[d];
  }
  const void *given[] = {NULL, NULL, NULL, NULL, inputs[4]->data};
  void *result[] = {variable->data};
  return rheos__launch_run_with(s->launch, given, result, NULL, numbers, NUMBERS);
}

static rheos_status *compute_assign(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                    rheos_tensor **outputs) {
  (void)step, (void)outputs;
  const slice_assign *s = state;
  rheos_tensor *values[RHEOS__MAX_CELLS];
  RHEOS_TRY(rheos__cells_begin_write(&s->cells, values));
  rheos_status *status = assign(s, values[0], inputs);
  rheos__cells_end_write(&s->cells);
  return status;
}

static void release_assign(void *state) {
  const slice_assign *s = state;
  rheos__launch_release((void *)(uintptr_t)s->launch);
}

// Keeps the bounds that are constants; false where there are too many.
static rheos_status *keep_bounds(const rheos__prepare *p, slice_assign *s, bool *out_few) {
  *out_few = true;
  for (int k = 0; k < BOUNDS; k++) {
    const rheos_tensor *value = p->input_values != NULL ? p->input_values[k + 1] : NULL;
    *out_few &= rheos_shape_num_elements(&p->input_shapes[k + 1]) <= MAX_BOUNDS;
    if (value == NULL) continue;
    s->bounds[k] = rheos__arena_copy(p->arena, value->data, value->size_bytes);
    if (s->bounds[k] == NULL) return rheos__out_of_memory();
  }
  return NULL;
}

rheos_status *rheos__cl_prepare_slice_assign(rheos__prepare *p) {
  const char *word = rheos__cl_word_of(rheos_dtype_size(p->input_dtypes[4]));
  slice_assign *s = rheos__arena_alloc_zeroed(p->arena, sizeof *s);
  rheos__launch *launch = rheos__launch_begin(rheos__card_of(p->device), p->arena, 5, 1);
  bool few;
  if (s == NULL || launch == NULL) return rheos__out_of_memory();
  RHEOS_TRY(rheos__cells_of(p, 1, &s->cells));
  RHEOS_TRY(keep_bounds(p, s, &few));
  s->operands = rheos__keep_operands(p);
  if (s->operands == NULL) return rheos__out_of_memory();
  launch->cannot = word == NULL || !few;
  if (!launch->cannot) add_assign(launch, word, rheos_shape_num_elements(&p->input_shapes[4]));
  RHEOS_TRY(rheos__launch_end(launch, p, 0));
  if (p->decline_reason != NULL) return NULL;
  s->launch = launch;
  p->run = NULL;
  p->compute = compute_assign;
  p->state = s;
  p->release = release_assign;
  rheos__pass_reference(p);
  return NULL;
}

// ---- MatrixBandPart

static const char band_source[] =
    "kernel void band(global const char *bx, ulong ox, global const char *bl, ulong ol,\n"
    "                 global const char *bu, ulong ou, global char *bz, ulong oz, long count,\n"
    "                 long rows, long columns) {\n"
    "  const long at = get_global_id(0);\n"
    "  if (at >= count) return;\n"
    "  const long lower = *(global const INDEX *)(bl + ol), column = at % columns;\n"
    "  const long upper = *(global const INDEX *)(bu + ou), row = at / columns % rows;\n"
    "  const bool is_in = (lower < 0 || row - column <= lower) &&\n"
    "                     (upper < 0 || column - row <= upper);\n"
    "  const WORD none = 0;\n"
    "  ((global WORD *)(bz + oz))[at] = is_in ? ((global const WORD *)(bx + ox))[at] : none;\n"
    "}\n";

rheos_status *rheos__cl_prepare_band(rheos__prepare *p) {
  const rheos_shape *shape = &p->input_shapes[0];
  const char *word = rheos__cl_word_of(rheos_dtype_size(p->output_dtypes[0]));
  const char *index = rheos__cl_integer_of(p->input_dtypes[1]);
  RHEOS_TRY(p->op->prepare(p));
  if (word == NULL || index == NULL) return decline(p, "the device does not move such elements");
  rheos__launch *launch =
      rheos__launch_begin(rheos__card_of(p->device), p->arena, p->num_inputs, 1);
  if (launch == NULL) return rheos__out_of_memory();
  const int64_t count = rheos_shape_num_elements(shape);
  if (count > 0) {
    const rheos__stage_operand operands[] = {{0, 0}, {1, 0}, {2, 0}, {3, 0}};
    const rheos__grid grid = {1, {(size_t)count}, {0}};
    rheos__text text = {0};
    rheos__cl_add(&text, "#define WORD %s\n#define INDEX %s\n", word, index);
    rheos__text_add_string(&text, band_source);
    rheos__launch_add_text(launch, &text, "band", operands, 4, &grid);
    rheos__launch_set_number(launch, count);
    rheos__launch_set_number(launch, shape->dims[shape->rank - 2]);
    rheos__launch_set_number(launch, shape->dims[shape->rank - 1]);
  }
  return rheos__launch_end(launch, p, 0);
}
