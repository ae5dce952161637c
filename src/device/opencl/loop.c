#include "device/opencl/loop.h"

#include <stdio.h>
#include <string.h>

#include "device/opencl/source.h"

bool rheos__loop_can(const rheos__card *card, const rheos__formula *formula) {
  if (formula == NULL || !rheos__cl_can_write(formula->text)) return false;
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

static void add_arguments(rheos__text *text, const rheos__card_loop *loop) {
  rheos__text_add_string(text, "kernel void loop(");
  for (int32_t i = 0; i < loop->num_operands; i++) {
    rheos__cl_add(text, "global %schar *b%d, ulong o%d, ",
                  loop->operands[i].is_output ? "" : "const ", (int)i, (int)i);
  }
  rheos__text_add_string(text, "long count");
  for (int32_t i = 0; i < loop->num_operands; i++) {
    for (int32_t d = 0; d < loop->operands[i].rank; d++) {
      rheos__cl_add(text, ", long p%dd%d, long p%ds%d", (int)i, (int)d, (int)i, (int)d);
    }
  }
  rheos__text_add_string(text,
                         ") {\nconst place at = (place)get_global_id(0);\n"
                         "if (at >= (place)count) return;\n");
}

// Reads the inputs: i0, i1...
static void add_loads(rheos__text *text, const rheos__card *card, const rheos__card_loop *loop) {
  for (int32_t i = 0; i < loop->num_operands; i++) {
    const rheos__loop_operand *o = &loop->operands[i];
    char index[16] = "at", prefix[16];
    if (o->is_output) continue;
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
  for (int32_t k = 0; k < f->num_operands; k++) {
    const rheos__cl_dtype *in = rheos__cl_dtype_of(card, (rheos_dtype)f->dtypes[k]);
    const int32_t input = member->inputs[k];
    rheos__cl_add(text, " const %s %c = ", in->computed, names[k]);
    if (input >= 0) {
      rheos__cl_add(text, "%sv%d);", in->load, (int)input);
    } else {
      rheos__cl_add(text, "i%d;", (int)(-1 - input));
    }
  }
  rheos__cl_add(text, " v%d = %s", (int)m, to->store);
  rheos__text_add_string(text, f->text);
  rheos__text_add_string(text, "); }\n");
  if (member->output >= 0) {
    const int o = (int)member->output;
    rheos__cl_add(text, "((global %s *)(b%d + o%d))[at] = v%d;\n", to->stored, o, o, (int)m);
  }
}

static void add_source(rheos__text *text, const rheos__card *card, const rheos__card_loop *loop) {
  rheos__cl_add_prelude(text);
  rheos__cl_add(text, "typedef %s place;\n", loop->num_elements < INT32_MAX ? "uint" : "ulong");
  add_arguments(text, loop);
  add_loads(text, card, loop);
  for (int32_t m = 0; m < loop->num_members; m++) add_member(text, card, loop, m);
  rheos__text_add_string(text, "}\n");
}

void rheos__loop_add(rheos__launch *launch, const rheos__card_loop *loop) {
  rheos__text text = {0};
  rheos__stage_operand operands[RHEOS__LOOP_OPERANDS];
  add_source(&text, launch->card, loop);
  for (int32_t i = 0; i < loop->num_operands; i++) operands[i] = (rheos__stage_operand){i, 0};
  const rheos__grid grid = {1, {(size_t)loop->num_elements}, {0}};
  rheos__launch_add_text(launch, &text, "loop", operands, loop->num_operands, &grid);
  rheos__launch_set_number(launch, loop->num_elements);
  for (int32_t i = 0; i < loop->num_operands; i++) {
    for (int32_t d = 0; d < loop->operands[i].rank; d++) {
      rheos__launch_set_number(launch, loop->operands[i].dims[d]);
      rheos__launch_set_number(launch, loop->operands[i].steps[d]);
    }
  }
}

// ---- The kernel of one op

rheos_status *rheos__cl_prepare_elementwise(rheos__prepare *p) {
  rheos__card *card = rheos__card_of(p->device);
  RHEOS_TRY(p->op->prepare(p));
  if (p->alias_input >= 0) return NULL;
  const rheos__elementwise *e = p->run != NULL ? rheos__elementwise_of(p->run, p->state) : NULL;
  const rheos__formula *formula = e != NULL ? rheos__formula_of(e->loop) : NULL;
  if (formula == NULL || e->can_fail || !rheos__loop_can(card, formula)) {
    if (p->release != NULL) p->release(p->state);
    p->decline_reason = "its formula cannot be written for the device";
    return NULL;
  }
  rheos__card_loop loop = {
      .num_elements = e->num_elements, .num_operands = e->num_operands + 1, .num_members = 1};
  loop.members[0] = (rheos__loop_member){
      .formula = formula, .parameter = e->parameter, .output = e->num_operands};
  for (int32_t k = 0; k < e->num_operands; k++) {
    loop.operands[k].dtype = formula->dtypes[k];
    rheos__loop_read(e, k, &loop.operands[k]);
    loop.members[0].inputs[k] = -1 - k;
  }
  loop.operands[e->num_operands] =
      (rheos__loop_operand){.dtype = formula->out_dtype, .is_output = true};
  rheos__launch *launch = rheos__launch_begin(card, p->arena, p->num_inputs, 1);
  if (launch == NULL) return rheos__out_of_memory();
  if (loop.num_elements > 0) rheos__loop_add(launch, &loop);
  return rheos__launch_end(launch, p, 0);
}
