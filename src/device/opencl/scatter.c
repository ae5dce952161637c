#include "device/opencl/scatter.h"

#include <string.h>

#include "device/opencl/move.h"
#include "device/opencl/sort.h"
#include "device/opencl/source.h"
#include "ops/math/segment.h"
#include "ops/state/scatter.h"

#include "opencl/scatter.inc"

// ---- Places as sorted keys

enum { NUMBER_LANES = 64 };

int64_t rheos__placing_keys(const rheos__placing *placing) {
  return rheos__sort_padded(placing->num_rows);
}

bool rheos__placing_can(const rheos__card *card, const rheos__placing *placing) {
  int64_t places = 1;
  for (int64_t d = 0; placing->dims != NULL && d < placing->depth; d++) {
    if (__builtin_mul_overflow(places, placing->dims[d], &places)) return false;
  }
  return rheos__cl_integer_of(placing->index_dtype) != NULL && card->max_group >= RHEOS__GROUP &&
         placing->depth <= RHEOS_MAX_RANK && placing->num_rows <= INT32_MAX && places < UINT32_MAX;
}

size_t rheos__placing_bytes(const rheos__placing *placing) {
  return ((size_t)rheos__placing_keys(placing) + 1) * sizeof(cl_ulong);
}

int32_t rheos__placing_stages(const rheos__placing *placing) {
  return 1 + rheos__sort_stages(rheos__placing_keys(placing));
}

void rheos__placing_add(rheos__launch *launch, const rheos__placing *placing) {
  const int64_t padded = rheos__placing_keys(placing);
  const rheos__stage_operand operands[] = {placing->indices, placing->keys};
  const rheos__grid grid = {1, {(size_t)padded}, {0}};
  rheos__text text = {0};
  rheos__cl_add_prelude(&text);
  rheos__cl_add(&text, "#define INDEX %s\n", rheos__cl_integer_of(placing->index_dtype));
  rheos__text_add_string(&text, rheos__cl_scatter);
  rheos__launch_add_text(launch, &text, "keys", operands, 2, &grid);
  rheos__launch_set_number(launch, placing->num_rows);
  rheos__launch_set_number(launch, padded);
  rheos__launch_set_number(launch, placing->depth);
  for (int32_t d = 0; placing->dims != NULL && d < RHEOS_MAX_RANK; d++) {
    rheos__launch_set_number(launch, d < placing->depth ? placing->dims[d] : 1);
  }
  if (placing->dims != NULL) rheos__launch_set_number(launch, placing->run);
  rheos__sort_add(launch, &placing->keys, 1, padded);
}

// ---- Joining

void rheos__joining_add(rheos__launch *launch, const rheos__joining *joining) {
  const rheos__placing *placing = joining->placing;
  const rheos__stage_operand operands[] = {placing->keys, joining->updates, joining->to};
  const rheos__grid grid = {1, {(size_t)(placing->num_rows * joining->lanes)}, {0}};
  const char *word = rheos__cl_word_of(rheos_dtype_size(joining->dtype));
  const rheos__cl_dtype as_words = {.stored = word, .computed = word, .load = "(", .store = "("};
  const rheos__cl_dtype *dtype =
      joining->formula != NULL ? rheos__cl_dtype_of(launch->card, joining->dtype) : &as_words;
  rheos__text text = {0};
  rheos__cl_add_prelude(&text);
  rheos__cl_add_macros(&text, dtype);
  if (joining->formula != NULL) rheos__cl_add_types(&text, dtype);
  const char *formula = joining->formula != NULL ? joining->formula : "y";
  // A quotient by the whole number 0 has all bits set.
  const bool may_fail = rheos_dtype_is_integer(joining->dtype) && strchr(formula, '/') != NULL;
  rheos__cl_add(&text, "\n#define FORMULA (%s(%s))\n", may_fail ? "y == 0 ? (C)-1 : " : "",
                formula);
  rheos__text_add_string(&text, rheos__cl_scatter);
  rheos__launch_add_text(launch, &text, "join", operands, 3, &grid);
  rheos__launch_set_number(launch, placing->num_rows);
  rheos__launch_set_number(launch, rheos__placing_keys(placing));
  rheos__launch_set_number(launch, joining->lanes);
  rheos__launch_set_number(launch, joining->from_row);
  rheos__launch_set_number(launch, joining->from_each);
}

// The text of a change; NULL: numbers are only copied. False if the card cannot.
static bool formula_of(const rheos__card *card, rheos__change_kind kind, rheos_dtype dtype,
                       const char **out_formula) {
  *out_formula = NULL;
  if (kind == RHEOS__CHANGE_SET) return rheos__cl_word_of(rheos_dtype_size(dtype)) != NULL;
  if (rheos__cl_dtype_of(card, dtype) == NULL) return false;
  *out_formula = rheos__change_formula(kind, dtype);
  return *out_formula != NULL;
}

static const char cannot[] = "the device does not scatter numbers of this dtype, or so many";

static rheos_status *decline(rheos__prepare *p) {
  if (p->release != NULL) p->release(p->state);
  p->decline_reason = cannot;
  return NULL;
}

static rheos__placing placing_of(const rheos__prepare *p, int32_t input, rheos__named_places named,
                                 const int64_t *dims) {
  return (rheos__placing){.indices = {input, 0},
                          .keys = {RHEOS__SCRATCH, 0},
                          .index_dtype = p->input_dtypes[input],
                          .num_rows = named.rows,
                          .depth = named.depth,
                          .dims = dims};
}

// Of numbers of rows.
static rheos__placing placing_of_rows(const rheos__prepare *p, int32_t input, const int64_t *dims) {
  const int64_t count = rheos_shape_num_elements(&p->input_shapes[input]);
  return placing_of(p, input, (rheos__named_places){1, count}, dims);
}

static rheos__placing placing_of_coordinates(const rheos__prepare *p, int32_t input,
                                             const int64_t *dims) {
  return placing_of(p, input, rheos__places_of(&p->input_shapes[input]), dims);
}

static rheos__change_kind change_named(const char *op) {
  static const struct {
    const char *name;
    rheos__change_kind kind;
  } changes[] = {{"Update", RHEOS__CHANGE_SET}, {"Sub", RHEOS__CHANGE_SUB},
                 {"Min", RHEOS__CHANGE_MIN},    {"Max", RHEOS__CHANGE_MAX},
                 {"Mul", RHEOS__CHANGE_MUL},    {"Div", RHEOS__CHANGE_DIV}};
  for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
    const size_t size = strlen(op), own = strlen(changes[i].name);
    if (size >= own && strcmp(op + size - own, changes[i].name) == 0) return changes[i].kind;
  }
  return RHEOS__CHANGE_ADD;
}

// ---- Into tensors: what is there to begin with, then the changes

typedef struct begun {
  rheos__placing placing;
  rheos__joining joining;
  rheos__launch *launch;
} begun;

// Of rows of input `updates` that lie one after the other, to the output.
static void set_joining(const rheos__prepare *p, begun *b, int32_t updates, int64_t run) {
  b->placing.run = run;
  b->joining = (rheos__joining){.placing = &b->placing,
                                .updates = {updates, 0},
                                .to = {p->num_inputs, 0},
                                .dtype = p->output_dtypes[0],
                                .lanes = run,
                                .from_row = run,
                                .from_each = 1};
}

// A launch for one kernel before the changes; NULL where it declines.
static rheos_status *begin(rheos__prepare *p, begun *b, rheos__change_kind kind) {
  rheos__card *card = rheos__card_of(p->device);
  b->launch = NULL;
  if (!rheos__placing_can(card, &b->placing) ||
      !formula_of(card, kind, p->output_dtypes[0], &b->joining.formula)) {
    return decline(p);
  }
  b->launch =
      rheos__launch_begin(card, p->arena, p->num_inputs, rheos__placing_stages(&b->placing) + 2);
  return b->launch != NULL ? NULL : rheos__out_of_memory();
}

static rheos_status *end(rheos__prepare *p, const begun *b) {
  const bool changes = b->placing.num_rows > 0 && b->placing.run > 0 &&
                       rheos_shape_num_elements(&p->output_shapes[0]) > 0;
  if (changes) {
    rheos__placing_add(b->launch, &b->placing);
    rheos__joining_add(b->launch, &b->joining);
  }
  return rheos__launch_end(b->launch, p, changes ? rheos__placing_bytes(&b->placing) : 0);
}

rheos_status *rheos__cl_prepare_scatter_nd(rheos__prepare *p) {
  const rheos_shape *out = &p->output_shapes[0];
  RHEOS_TRY(p->op->prepare(p));
  begun b = {.placing = placing_of_coordinates(p, 0, out->dims)};
  set_joining(p, &b, 1, rheos__shape_product(out, (int32_t)b.placing.depth, out->rank));
  RHEOS_TRY(begin(p, &b, RHEOS__CHANGE_ADD));
  if (b.launch == NULL) return NULL;
  rheos__move_add_fill(b.launch, p->num_inputs, rheos_shape_num_elements(out),
                       rheos_dtype_size(p->output_dtypes[0]), 0);
  return end(p, &b);
}

rheos_status *rheos__cl_prepare_tensor_scatter(rheos__prepare *p) {
  const rheos_shape *out = &p->output_shapes[0];
  RHEOS_TRY(p->op->prepare(p));
  begun b = {.placing = placing_of_coordinates(p, 1, out->dims)};
  set_joining(p, &b, 2, rheos__shape_product(out, (int32_t)b.placing.depth, out->rank));
  RHEOS_TRY(begin(p, &b, change_named(p->op->name)));
  if (b.launch == NULL) return NULL;
  rheos__copy copy;
  rheos__copy_init(&copy, p->output_dtypes[0]);
  rheos__copy_add(&copy, rheos_shape_num_elements(out), 1, 1);
  rheos__move_add(b.launch, &copy, 0, p->num_inputs);
  return end(p, &b);
}

rheos_status *rheos__cl_prepare_unsorted_segment(rheos__prepare *p) {
  const rheos_shape *data = &p->input_shapes[0], *ids = &p->input_shapes[1];
  const rheos_shape *out = &p->output_shapes[0];
  const rheos__segment_kind kind = rheos__segment_kind_named(p->op->name);
  RHEOS_TRY(p->op->prepare(p));
  begun b = {.placing = placing_of_rows(p, 1, out->dims)};
  set_joining(p, &b, 0, rheos__shape_product(data, ids->rank, data->rank));
  RHEOS_TRY(begin(p, &b, rheos__segment_change(kind)));
  if (b.launch == NULL) return NULL;
  _Alignas(16) char start[16] = {0};
  uint64_t bits;
  rheos__segment_start(kind, p->output_dtypes[0], false, start);
  memcpy(&bits, start, sizeof bits);
  rheos__move_add_fill(b.launch, p->num_inputs, rheos_shape_num_elements(out),
                       rheos_dtype_size(p->output_dtypes[0]), bits);
  return end(p, &b);
}

// ---- Into variables

typedef struct variable_scatter {
  const rheos__launch *launch;
  const rheos__scatter *inner;
  size_t scratch_bytes;
  int64_t depth;
} variable_scatter;

static rheos_status *run_on(const variable_scatter *s, const rheos_tensor *variable,
                            rheos_tensor *const *inputs) {
  uint64_t dims[RHEOS_MAX_RANK + 1], places = 1;
  for (int32_t d = 0; d < RHEOS_MAX_RANK; d++) {
    dims[d] = d < s->depth ? (uint64_t)variable->shape.dims[d] : 1;
    places *= dims[d];
  }
  dims[RHEOS_MAX_RANK] = (uint64_t)variable->num_elements / places;
  if (places >= UINT32_MAX) {
    return rheos_status_new(RHEOS_UNIMPLEMENTED, "the variable has too many rows for the device");
  }
  rheos__memory *memory = s->inner->cells.memory;
  void *scratch = rheos__memory_allocate(memory, s->scratch_bytes);
  if (scratch == NULL) return rheos__out_of_memory();
  const void *operands[] = {variable->data, inputs[1]->data, inputs[2]->data};
  void *result[] = {variable->data};
  rheos_status *status =
      rheos__launch_run_with(s->launch, operands, result, scratch, dims, RHEOS_MAX_RANK + 1);
  rheos__memory_free(memory, scratch);
  return status;
}

static rheos_status *compute_scatter(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                     rheos_tensor **outputs) {
  (void)step, (void)outputs;
  const variable_scatter *s = state;
  rheos_tensor *values[RHEOS__MAX_CELLS];
  RHEOS_TRY(rheos__cells_begin_write(&s->inner->cells, values));
  rheos_status *status = s->inner->check(&values[0]->shape, &inputs[1]->shape, &inputs[2]->shape);
  if (status == NULL && values[0]->num_elements > 0 && inputs[1]->num_elements > 0) {
    status = run_on(s, values[0], inputs);
  }
  rheos__cells_end_write(&s->inner->cells);
  return status;
}

static void release_scatter(void *state) {
  const variable_scatter *s = state;
  rheos__launch_release((void *)(uintptr_t)s->launch);
}

rheos_status *rheos__cl_prepare_scatter(rheos__prepare *p) {
  rheos__card *card = rheos__card_of(p->device);
  const rheos_dtype dtype = p->input_dtypes[2];
  const int64_t count = rheos_shape_num_elements(&p->input_shapes[2]);
  const char *formula;
  RHEOS_TRY(p->op->prepare(p));
  const rheos__scatter *inner = p->state;
  const rheos__placing placing =
      inner->by_coordinates ? placing_of_coordinates(p, 1, NULL) : placing_of_rows(p, 1, NULL);
  // One number for all rows does not tell how long they are.
  const bool is_number = !inner->by_coordinates && p->input_shapes[2].rank == 0;
  if (!rheos__placing_can(card, &placing) || !formula_of(card, inner->change, dtype, &formula)) {
    return decline(p);
  }
  variable_scatter *s = rheos__arena_alloc_zeroed(p->arena, sizeof *s);
  rheos__launch *launch =
      rheos__launch_begin(card, p->arena, 3, rheos__placing_stages(&placing) + 1);
  if (s == NULL || launch == NULL) return rheos__out_of_memory();
  if (count > 0 && placing.num_rows > 0) {
    const int64_t run = is_number ? 0 : count / placing.num_rows;
    const rheos__joining joining = {.placing = &placing,
                                    .updates = {2, 0},
                                    .to = {3, 0},
                                    .dtype = dtype,
                                    .formula = formula,
                                    .lanes = is_number ? NUMBER_LANES : run,
                                    .from_row = run,
                                    .from_each = !is_number};
    rheos__placing_add(launch, &placing);
    rheos__joining_add(launch, &joining);
  }
  *s = (variable_scatter){launch, inner, rheos__placing_bytes(&placing), placing.depth};
  RHEOS_TRY(rheos__launch_end(launch, p, 0));
  if (p->decline_reason != NULL) return NULL;
  p->run = NULL;
  p->compute = compute_scatter;
  p->state = s;
  p->release = release_scatter;
  rheos__pass_reference(p);
  return NULL;
}
