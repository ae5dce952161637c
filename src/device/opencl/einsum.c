#include "device/opencl/einsum.h"

#include "device/opencl/card_product.h"
#include "device/opencl/move.h"
#include "ops/linalg/einsum_products.h"

// Kernels: two to gather each operand and sum it, those of a product, two for the output, ones.
enum { MOST_STAGES = 2 * 2 + RHEOS__PRODUCT_STAGES + 2 + 1, ALIGNMENT = 64 };

// An Einsum as it becomes kernels. Scratch: ones, where something is summed alone, then what is
// gathered and summed, the products, and what these take.
typedef struct making {
  rheos__launch *launch;
  const rheos__einsum_products *of;
  size_t size;  // of an element
  size_t scratch_bytes;
} making;

static rheos__stage_operand take(making *m, int64_t count) {
  const rheos__stage_operand taken = {RHEOS__SCRATCH, m->scratch_bytes};
  m->scratch_bytes += ((size_t)count * m->size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  return taken;
}

static int64_t place_of(const making *m, rheos__stage_operand operand) {
  return (int64_t)(operand.offset_bytes / m->size);
}

// Ones at the beginning of scratch, for the longest sum of dimensions that one operand has alone.
static void add_ones(making *m) {
  int64_t most = 1;
  for (int32_t i = 0; i < m->of->num_inputs; i++) {
    if (m->of->operands[i].own > most) most = m->of->operands[i].own;
  }
  if (most == 1) return;
  take(m, most);
  rheos__move_add_fill(m->launch, RHEOS__SCRATCH, most, m->size, rheos__move_one_of(m->of->dtype));
}

// The operand as a batch of matrices: where it is, or in scratch.
static rheos__stage_operand add_matrices(making *m, const rheos__einsum_operand *o) {
  if (o->is_in_order) return (rheos__stage_operand){o->input, 0};
  const rheos__stage_operand gathered = take(m, o->num_elements * o->own);
  rheos__copy copy = o->copy;
  copy.out_start = place_of(m, gathered);
  rheos__move_add(m->launch, &copy, o->input, RHEOS__SCRATCH);
  if (o->own == 1) return gathered;
  const rheos__stage_operand sums = take(m, o->num_elements);
  const rheos__card_product sum = {.dtype = m->of->dtype,
                                   .a = gathered,
                                   .b = {RHEOS__SCRATCH, 0},
                                   .c = sums,
                                   .m = o->num_elements,
                                   .n = 1,
                                   .k = o->own};
  rheos__product_add(m->launch, &sum);
  return sums;
}

static void add_products(making *m, rheos__stage_operand a, rheos__stage_operand b,
                         rheos__stage_operand c) {
  const rheos__products *s = &m->of->products;
  const rheos__card_product product = {.dtype = m->of->dtype,
                                       .a = a,
                                       .b = b,
                                       .c = c,
                                       .m = s->product.m,
                                       .n = s->product.n,
                                       .k = s->product.k,
                                       .transpose_a = m->of->operands[0].is_transposed,
                                       .transpose_b = m->of->operands[1].is_transposed,
                                       .takes_scratch = true,
                                       .scratch_offset = m->scratch_bytes,
                                       .rank = 1,
                                       .dims = {s->count},
                                       .a_steps = {1},
                                       .b_steps = {1}};
  m->scratch_bytes += rheos__product_add(m->launch, &product);
}

static void put_in_place(making *m, rheos__stage_operand from, int64_t num_elements) {
  const int32_t output = m->launch->num_inputs;
  rheos__copy copy = m->of->to_output;
  copy.in_start = place_of(m, from);
  if (!m->of->fills_output) rheos__move_add_fill(m->launch, output, num_elements, m->size, 0);
  rheos__move_add(m->launch, &copy, from.number, output);
}

static void add_kernels(making *m, int64_t num_elements) {
  const rheos__einsum_products *s = m->of;
  add_ones(m);
  const rheos__stage_operand a = add_matrices(m, &s->operands[0]);
  if (s->num_inputs == 1) {
    put_in_place(m, a, num_elements);
    return;
  }
  const rheos__stage_operand b = add_matrices(m, &s->operands[1]);
  if (s->is_output_in_order) {
    add_products(m, a, b, (rheos__stage_operand){m->launch->num_inputs, 0});
  } else {
    const rheos__stage_operand c = take(m, s->to_output.num_elements);
    add_products(m, a, b, c);
    put_in_place(m, c, num_elements);
  }
}

static bool is_empty(const rheos__einsum_products *s) {
  for (int32_t i = 0; i < s->num_inputs; i++) {
    if (s->operands[i].num_elements == 0 || s->operands[i].own == 0) return true;
  }
  return false;
}

rheos_status *rheos__cl_prepare_einsum(rheos__prepare *p) {
  rheos__card *card = rheos__card_of(p->device);
  RHEOS_TRY(p->op->prepare(p));
  const rheos__einsum_products *s = p->state;
  if (!rheos__product_can(card, s->dtype)) {
    if (p->release != NULL) p->release(p->state);
    p->decline_reason = "the device has no products of this dtype";
    return NULL;
  }
  making m = {.of = s, .size = rheos_dtype_size(s->dtype)};
  m.launch = rheos__launch_begin(card, p->arena, p->num_inputs, MOST_STAGES);
  if (m.launch == NULL) return rheos__out_of_memory();
  const int64_t num_elements = rheos_shape_num_elements(&s->output_shape);
  if (num_elements > 0 && is_empty(s)) {
    rheos__move_add_fill(m.launch, p->num_inputs, num_elements, m.size, 0);
  } else if (num_elements > 0) {
    add_kernels(&m, num_elements);
  }
  if (s->num_inputs == 2) {
    p->flops =
        rheos__flops(2.0 * (double)s->to_output.num_elements * (double)s->products.product.k);
  }
  return rheos__launch_end(m.launch, p, m.scratch_bytes);
}
