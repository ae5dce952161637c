#include "device/opencl/loop.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "device/opencl/source.h"

#include "opencl/whole_formulas.inc"

bool rheos__loop_can(const rheos__card *card, const rheos__formula *formula) {
  if (formula == NULL) return false;
  const bool is_special = card->has_double && rheos__cl_is_special(formula->text);
  if (!is_special && !rheos__cl_can_write(formula->text)) return false;
  for (int32_t k = 0; k < formula->num_operands; k++) {
    if (rheos__cl_dtype_of(card, (rheos_dtype)formula->dtypes[k]) == NULL) return false;
  }
  return rheos__cl_dtype_of(card, (rheos_dtype)formula->out_dtype) != NULL;
}

void rheos__loop_read(const rheos__elementwise *e, int32_t k, rheos__loop_operand *out) {
  if (e->rank <= 1) {
    out->is_number = (e->repeated >> k & 1) != 0;
    return;
  }
  if (rheos__elementwise_is_full(e, k)) return;
  bool moves = false;
  for (int32_t d = 0; d < e->rank; d++) {
    out->dims[d] = e->dims[d];
    out->steps[d] = e->steps[k][d] / e->element_bytes[k];
    moves |= out->steps[d] != 0;
  }
  out->is_number = !moves;
  if (moves) out->rank = e->rank;
}

// ---- As text

static void add_arguments(rheos__text *text, const rheos__card_loop *loop, bool blocks) {
  rheos__text_add_string(text, "kernel void loop(");
  for (int32_t i = 0; i < loop->num_operands; i++) {
    rheos__cl_add(text, "global %schar *b%d, ulong o%d, ",
                  loop->operands[i].is_output ? "" : "const ", (int)i, (int)i);
  }
  rheos__cl_add(text, "long count%s", blocks ? ", long each" : "");
  for (int32_t i = 0; i < loop->num_operands; i++) {
    for (int32_t d = 0; d < loop->operands[i].rank; d++) {
      rheos__cl_add(text, ", long p%dd%d, long p%ds%d", (int)i, (int)d, (int)i, (int)d);
    }
  }
  rheos__text_add_string(text, ") {\n");
}

// A work-item of a card has one element; of a processor so many neighbours, in a loop that its
// compiler makes vectors of, which it does not where elements are left out.
static void begin_elements(rheos__text *text, bool blocks) {
  rheos__text_add_string(
      text, blocks ? "const size_t first = get_global_id(0) * (size_t)each;\n"
                     "const size_t end = min(first + (size_t)each, (size_t)count);\n"
                     "#pragma clang loop vectorize(assume_safety)\n"
                     "for (size_t at = first; at < end; at++) {\n"
                   : "const size_t at = get_global_id(0);\nif (at >= (size_t)count) return;\n{\n");
}

// Reads the inputs, i0, i1...: those that are one number, or the others.
static void add_loads(rheos__text *text, const rheos__card *card, const rheos__card_loop *loop,
                      bool numbers) {
  for (int32_t i = 0; i < loop->num_operands; i++) {
    const rheos__loop_operand *o = &loop->operands[i];
    char index[16] = "at", prefix[16];
    if (o->is_output || o->is_number != numbers) continue;
    const rheos__cl_dtype *dtype = rheos__cl_dtype_of(card, (rheos_dtype)o->dtype);
    if (o->is_number) {
      snprintf(index, sizeof index, "0");
    } else if (o->rank > 0) {
      snprintf(index, sizeof index, "at%d", (int)i);
      snprintf(prefix, sizeof prefix, "p%d", (int)i);
      rheos__cl_add_index(text, index, prefix, o->rank, o->steps);
    }
    rheos__cl_add(text, "const %s i%d = %s((global const %s *)(b%d + o%d))[%s]);\n",
                  dtype->computed, (int)i, dtype->load, dtype->stored, (int)i, (int)i, index);
  }
}

// The number that member m made, whose bits may be read as those of another dtype: Select's are.
static void add_earlier(rheos__text *text, const rheos__card *card, const rheos__loop_member *made,
                        int m, const rheos__cl_dtype *as) {
  const rheos__cl_dtype *dtype = rheos__cl_dtype_of(card, (rheos_dtype)made->formula->out_dtype);
  if (strcmp(dtype->stored, as->stored) == 0) {
    rheos__cl_add(text, "%sv%d);", as->load, m);
  } else {
    rheos__cl_add(text, "%sas_%s(v%d));", as->load, as->stored, m);
  }
}

// Of whole numbers: where the CPU reports an error the card gives -1, all bits of which are set.
static bool may_fail(const rheos__formula *formula) {
  return strstr(formula->text, "failed") != NULL;
}

// Declares v<m>, stores it where it is to be.
static void add_member(rheos__text *text, const rheos__card *card, const rheos__card_loop *loop,
                       int32_t m) {
  static const char names[] = "xyz";
  const rheos__loop_member *member = &loop->members[m];
  const rheos__formula *f = member->formula;
  const rheos__cl_dtype *from = rheos__cl_dtype_of(card, (rheos_dtype)f->dtypes[0]);
  const rheos__cl_dtype *to = rheos__cl_dtype_of(card, (rheos_dtype)f->out_dtype);
  rheos__cl_add(text, "%s v%d; { ", to->stored, (int)m);
  rheos__cl_add_types(text, from);
  if (strstr(f->text, "parameter") != NULL) {
    rheos__cl_add(text, " const double parameter = %a;", member->parameter);
  }
  if (may_fail(f)) rheos__text_add_string(text, " int failed = 0;");
  for (int32_t k = 0; k < f->num_operands; k++) {
    const rheos__cl_dtype *in = rheos__cl_dtype_of(card, (rheos_dtype)f->dtypes[k]);
    const int32_t input = member->inputs[k];
    rheos__cl_add(text, " const %s %c = ", in->computed, names[k]);
    if (input >= 0) {
      add_earlier(text, card, &loop->members[input], (int)input, in);
    } else {
      rheos__cl_add(text, "i%d;", (int)(-1 - input));
    }
  }
  rheos__cl_add(text, " v%d = %s", (int)m, to->store);
  rheos__text_add_string(text, f->text);
  rheos__text_add_string(text, ");");
  if (may_fail(f)) rheos__cl_add(text, " if (failed) v%d = -1;", (int)m);
  rheos__text_add_string(text, " }\n");
  if (member->output >= 0) {
    const int o = (int)member->output;
    rheos__cl_add(text, "((global %s *)(b%d + o%d))[at] = v%d;\n", to->stored, o, o, (int)m);
  }
}

static void add_source(rheos__text *text, const rheos__card *card, const rheos__card_loop *loop) {
  rheos__cl_add_prelude(text);
  bool fails = false, is_special = false;
  for (int32_t m = 0; m < loop->num_members; m++) {
    fails |= may_fail(loop->members[m].formula);
    is_special |= rheos__cl_is_special(loop->members[m].formula->text);
  }
  if (fails) rheos__text_add_string(text, rheos__cl_whole_formulas);
  if (is_special) rheos__cl_add_special(text);
  rheos__cl_add(text, "typedef %s place;\n", loop->num_elements < INT32_MAX ? "uint" : "ulong");
  add_arguments(text, loop, card->wants_blocks);
  add_loads(text, card, loop, true);
  begin_elements(text, card->wants_blocks);
  add_loads(text, card, loop, false);
  for (int32_t m = 0; m < loop->num_members; m++) add_member(text, card, loop, m);
  rheos__text_add_string(text, "}\n}\n");
}

// Of a processor's: so that there are some for each thread, and none has little to do.
static int64_t elements_of_item(int64_t num_elements) {
  const int64_t each = num_elements / 64;
  return each < 256 ? 256 : each > 4096 ? 4096 : each;
}

void rheos__loop_add(rheos__launch *launch, const rheos__card_loop *loop) {
  rheos__text text = {0};
  rheos__stage_operand operands[RHEOS__LOOP_OPERANDS];
  add_source(&text, launch->card, loop);
  for (int32_t i = 0; i < loop->num_operands; i++) {
    operands[i] = (rheos__stage_operand){loop->operands[i].number, 0};
  }
  rheos__grid grid = {1, {(size_t)loop->num_elements}, {0}};
  const int64_t each = elements_of_item(loop->num_elements);
  const bool blocks = launch->card->wants_blocks;
  if (blocks) {
    grid = (rheos__grid){1, {(size_t)((loop->num_elements + each - 1) / each)}, {1, 1, 1}};
  }
  rheos__launch_add_text(launch, &text, "loop", operands, loop->num_operands, &grid);
  rheos__launch_set_number(launch, loop->num_elements);
  if (blocks) rheos__launch_set_number(launch, each);
  for (int32_t i = 0; i < loop->num_operands; i++) {
    for (int32_t d = 0; d < loop->operands[i].rank; d++) {
      rheos__launch_set_number(launch, loop->operands[i].dims[d]);
      rheos__launch_set_number(launch, loop->operands[i].steps[d]);
    }
  }
}

// ---- The kernel of one op

typedef struct row_kernel {
  rheos__card *card;
  rheos__memory *memory;
  const rheos__elementwise *row;
  const rheos__formula *formula;
  rheos__launch *launch;  // NULL: it is not compiled
  double work;
} row_kernel;

static void release_row(void *state) {
  const row_kernel *r = state;
  if (r->launch != NULL) rheos__launch_release(r->launch);
}

// How far an operand of the row reaches.
static size_t extent_of(const rheos__elementwise *e, int32_t k) {
  if (e->rank <= 1) {
    const int64_t count = (e->repeated >> k & 1) != 0 ? 1 : e->num_elements;
    return (size_t)(count * e->element_bytes[k]);
  }
  int64_t bytes = e->element_bytes[k];
  for (int32_t d = 0; d < e->rank; d++) bytes += (e->dims[d] - 1) * e->steps[k][d];
  return (size_t)bytes;
}

static rheos_status *compute_on_host(const row_kernel *r, const void *const *inputs, void *output,
                                     void **copies, void *result) {
  const rheos__elementwise *e = r->row;
  for (int32_t k = 0; k < e->num_operands; k++) {
    const size_t size = extent_of(e, k);
    copies[k] = rheos__alloc(size);
    if (copies[k] == NULL) return rheos__out_of_memory();
    RHEOS_TRY(rheos__memory_copy(NULL, copies[k], r->memory, inputs[k], size));
  }
  rheos__elementwise_range(e, (const void *const *)copies, result, 0, e->num_elements);
  return rheos__memory_copy(r->memory, output, NULL, result,
                            (size_t)(e->num_elements * e->out_bytes));
}

// Of a row whose kernel does not compile.
static rheos_status *run_on_host(const void *state, const void *const *inputs, void *const *outputs,
                                 void *scratch, int64_t first_unit, int64_t last_unit) {
  (void)scratch, (void)first_unit, (void)last_unit;
  const row_kernel *r = state;
  void *copies[RHEOS__MAX_OPERANDS] = {NULL};
  if (r->row->num_elements == 0) return NULL;
  void *result = rheos__alloc((size_t)(r->row->num_elements * r->row->out_bytes));
  if (result == NULL) return rheos__out_of_memory();
  rheos_status *status = compute_on_host(r, inputs, outputs[0], copies, result);
  for (int32_t k = 0; k < RHEOS__MAX_OPERANDS; k++) rheos__free(copies[k]);
  rheos__free(result);
  return status;
}

// In place of a launch that was not made: with `launch->cannot`, the card cannot.
static rheos_status *make_launch(row_kernel *r, rheos__arena *arena) {
  const rheos__elementwise *e = r->row;
  rheos__card_loop loop = {
      .num_elements = e->num_elements, .num_operands = e->num_operands + 1, .num_members = 1};
  loop.members[0] = (rheos__loop_member){
      .formula = r->formula, .parameter = e->parameter, .output = e->num_operands};
  for (int32_t k = 0; k < e->num_operands; k++) {
    loop.operands[k].number = k;
    loop.operands[k].dtype = r->formula->dtypes[k];
    rheos__loop_read(e, k, &loop.operands[k]);
    loop.members[0].inputs[k] = -1 - k;
  }
  loop.operands[e->num_operands] =
      (rheos__loop_operand){e->num_operands, r->formula->out_dtype, .is_output = true};
  r->launch = rheos__launch_begin(r->card, arena, e->num_operands, 1);
  if (r->launch == NULL) return rheos__out_of_memory();
  r->launch->work = r->work;
  if (loop.num_elements > 0) rheos__loop_add(r->launch, &loop);
  return NULL;
}

rheos_status *rheos__cl_prepare_elementwise(rheos__prepare *p) {
  rheos__card *card = rheos__card_of(p->device);
  RHEOS_TRY(p->op->prepare(p));
  if (p->alias_input >= 0) return NULL;
  const rheos__elementwise *e = p->run != NULL ? rheos__elementwise_of(p->run, p->state) : NULL;
  const rheos__formula *formula = e != NULL ? rheos__formula_of(e->loop) : NULL;
  if (formula == NULL || !rheos__loop_can(card, formula)) {
    if (p->release != NULL) p->release(p->state);
    p->decline_reason = "its formula cannot be written for the device";
    return NULL;
  }
  row_kernel *r = rheos__arena_alloc_zeroed(p->arena, sizeof *r);
  if (r == NULL) return rheos__out_of_memory();
  *r = (row_kernel){card, p->memory, e, formula, .work = rheos__launch_work(p)};
  if (!p->is_finished) {
    RHEOS_TRY(make_launch(r, p->arena));
    return rheos__launch_end(r->launch, p, 0);
  }
  p->state = r;
  p->run = run_on_host;
  p->compute = NULL;
  p->release = release_row;
  p->scratch_bytes = 0;
  p->num_units = 1;
  p->unit_elements = 0;
  return NULL;
}

static row_kernel *kernel_of(const rheos__instruction *in) {
  return in->kind == RHEOS__RUN && in->run == run_on_host ? in->state : NULL;
}

rheos_status *rheos__cl_finish_loops(rheos__segment *segment) {
  for (int32_t i = 0; i < segment->num_instructions; i++) {
    rheos__instruction *in = &segment->instructions[i];
    row_kernel *r = kernel_of(in);
    if (r == NULL) continue;
    RHEOS_TRY(make_launch(r, &segment->arena));
    if (r->launch->status != NULL) return r->launch->status;
    if (r->launch->cannot) continue;
    in->run = rheos__launch_run;
    in->state = r->launch;
  }
  return NULL;
}

// ---- Sums of lists, in their order

// Adds inputs [first, last) to each other, and to the output if there is a sum in it.
static void add_sum(rheos__launch *launch, const rheos__formula *formula, int64_t num_elements,
                    int32_t first, int32_t last) {
  rheos__card_loop loop = {.num_elements = num_elements};
  const int32_t output = launch->num_inputs;
  for (int32_t i = first > 0 ? first - 1 : 0; i < last; i++) {
    loop.operands[loop.num_operands++] =
        (rheos__loop_operand){.number = i < first ? output : i, .dtype = formula->out_dtype};
  }
  for (int32_t m = 0; m + 1 < loop.num_operands; m++) {
    loop.members[loop.num_members++] = (rheos__loop_member){
        .formula = formula, .inputs = {m == 0 ? -1 : m - 1, -2 - m}, .output = -1};
  }
  loop.members[loop.num_members - 1].output = loop.num_operands;
  loop.operands[loop.num_operands++] =
      (rheos__loop_operand){.number = output, .dtype = formula->out_dtype, .is_output = true};
  rheos__loop_add(launch, &loop);
}

rheos_status *rheos__cl_prepare_add_n(rheos__prepare *p) {
  enum { EACH = RHEOS__LOOP_OPERANDS - 2 };
  rheos__card *card = rheos__card_of(p->device);
  if (p->num_inputs <= 2) return rheos__cl_prepare_elementwise(p);
  RHEOS_TRY(p->op->prepare(p));
  const rheos__formula *formula =
      rheos__formula_of(rheos__binary_loop(RHEOS__ADD, p->output_dtypes[0]));
  if (!rheos__loop_can(card, formula)) {
    if (p->release != NULL) p->release(p->state);
    p->decline_reason = "the device does not add numbers of this dtype";
    return NULL;
  }
  const int64_t count = rheos_shape_num_elements(&p->output_shapes[0]);
  rheos__launch *launch =
      rheos__launch_begin(card, p->arena, p->num_inputs, (p->num_inputs + EACH - 1) / EACH);
  if (launch == NULL) return rheos__out_of_memory();
  for (int32_t first = 0; first < p->num_inputs && count > 0; first += EACH) {
    const int32_t last = first + EACH < p->num_inputs ? first + EACH : p->num_inputs;
    add_sum(launch, formula, count, first, last);
  }
  p->reuse_input = -1;
  return rheos__launch_end(launch, p, 0);
}

// ---- Clusters

// So that operands of any kind fit, and stay far below what drivers take as arguments.
enum { MOST_ROWS = 8, MOST_INPUTS = 12 };

static const rheos__elementwise *row_of(const rheos__instruction *in) {
  const row_kernel *r = kernel_of(in);
  return r != NULL ? r->row : NULL;
}

static const rheos__reduction *reduction_of(const rheos__instruction *in) {
  (void)in;
  return NULL;
}

static bool same_operand(const rheos__loop_operand *a, const rheos__loop_operand *b) {
  return memcmp(a, b, sizeof *a) == 0;
}

// An operand of the loop, one for each way in which one of the cluster is read.
static int32_t operand_for(rheos__card_loop *loop, const rheos__loop_operand *wanted) {
  for (int32_t i = 0; i < loop->num_operands; i++) {
    if (same_operand(&loop->operands[i], wanted)) return i;
  }
  assert(loop->num_operands < RHEOS__LOOP_OPERANDS);
  loop->operands[loop->num_operands] = *wanted;
  return loop->num_operands++;
}

static void add_row(const rheos__segment *segment, const rheos__fused_cluster *cluster,
                    const rheos__fused_row *row, rheos__card_loop *loop) {
  const rheos__formula *formula = kernel_of(&segment->instructions[row->instruction])->formula;
  rheos__loop_member member = {.formula = formula, .parameter = row->row->parameter, .output = -1};
  rheos__loop_operand operand;
  for (int32_t k = 0; k < row->row->num_operands; k++) {
    if (row->inputs[k] < 0) {
      member.inputs[k] = -1 - row->inputs[k];
      continue;
    }
    memset(&operand, 0, sizeof operand);  // what lies between the fields too
    operand.number = row->inputs[k];
    operand.dtype = formula->dtypes[k];
    rheos__loop_read(row->row, k, &operand);
    member.inputs[k] = -1 - operand_for(loop, &operand);
  }
  if (row->output != RHEOS__IN_SLOT) {
    memset(&operand, 0, sizeof operand);
    operand.number = row->output == RHEOS__TO_OUTPUT ? cluster->num_operands : row->output;
    operand.dtype = formula->out_dtype;
    operand.is_output = true;
    member.output = operand_for(loop, &operand);
  }
  loop->members[loop->num_members++] = member;
}

static rheos_status *make(rheos__segment *segment, const rheos__fused_cluster *cluster,
                          rheos__instruction *in, bool *out_made) {
  rheos__card *card = rheos__card_of(segment->device);
  rheos__card_loop loop = {.num_elements = cluster->num_elements};
  for (int32_t m = 0; m < cluster->num_rows; m++) {
    add_row(segment, cluster, &cluster->rows[m], &loop);
  }
  rheos__launch *launch = rheos__launch_begin(card, &segment->arena, cluster->num_operands, 1);
  if (launch == NULL) return rheos__out_of_memory();
  rheos__loop_add(launch, &loop);
  launch->work = (double)in->flops + (double)in->bytes;
  *out_made = launch->status == NULL && !launch->cannot;
  if (!*out_made) {
    rheos__launch_release(launch);
    return launch->status;
  }
  in->run = rheos__launch_run;
  in->state = launch;
  in->num_units = 1;
  in->scratch_bytes = 0;
  return rheos__segment_add_release(segment, rheos__launch_release, launch);
}

const rheos__fusing rheos__cl_fusing = {.max_rows = MOST_ROWS,
                                        .max_inputs = MOST_INPUTS,
                                        .row_of = row_of,
                                        .reduction_of = reduction_of,
                                        .make = make};
