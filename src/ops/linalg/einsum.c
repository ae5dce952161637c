// Einsum: sums of products over named dimensions. Every equation comes down to one batch of matrix
// products: dimensions are gathered by where they occur (batch, rows, columns, summed), operands
// are copied into that order where they are not in it, and the products are put in their places.
#include <string.h>

#include "ops/kit/op_util.h"
#include "ops/linalg/einsum_products.h"
#include "ops/linalg/einsum_terms.h"

// ---- Equations

static rheos_status *parse_term(const char *text, size_t length, rheos__einsum_term *out_term) {
  *out_term = (rheos__einsum_term){.ellipsis = -1};
  for (size_t i = 0; i < length; ++i) {
    if (text[i] == '.') {
      if (length - i < 3 || memcmp(text + i, "...", 3) != 0) {
        return RHEOS_INVALID("Periods in einsum subscripts '%.*s' are no ellipsis (...)",
                             (int)length, text);
      }
      if (out_term->ellipsis >= 0) {
        return RHEOS_INVALID("Expected at most one ellipsis (...) in einsum subscripts '%.*s'",
                             (int)length, text);
      }
      out_term->ellipsis = out_term->count;
      i += 2;
      continue;
    }
    if (out_term->count == RHEOS_MAX_RANK) {
      return RHEOS_INVALID("more than %d dimensions in einsum subscripts '%.*s'", RHEOS_MAX_RANK,
                           (int)length, text);
    }
    out_term->labels[out_term->count++] = (unsigned char)text[i];
  }
  return NULL;
}

bool rheos__einsum_has(const rheos__einsum_term *term, unsigned char label) {
  for (int32_t i = 0; i < term->count; ++i) {
    if (term->labels[i] == label) return true;
  }
  return false;
}

rheos_status *rheos__einsum_parse(const char *equation, int32_t num_inputs,
                                  rheos__einsum *out_einsum) {
  rheos__einsum *e = out_einsum;
  const char *arrow = strstr(equation, "->");
  if (arrow == NULL || strstr(arrow + 2, "->") != NULL) {
    return RHEOS_INVALID("Expecting exactly one '->' in einsum equation: %s", equation);
  }
  e->num_inputs = 0;
  for (const char *at = equation; at <= arrow;) {
    const char *end = memchr(at, ',', (size_t)(arrow - at));
    if (end == NULL) end = arrow;
    if (e->num_inputs == 2) {
      return RHEOS_INVALID("Expecting 1 or 2 input subscripts in equation '%s'", equation);
    }
    RHEOS_TRY(parse_term(at, (size_t)(end - at), &e->inputs[e->num_inputs++]));
    at = end + 1;
  }
  RHEOS_TRY(parse_term(arrow + 2, strlen(arrow + 2), &e->output));
  if (e->num_inputs != num_inputs) {
    return RHEOS_INVALID("Expected %d inputs for equation %s but got: %d", e->num_inputs, equation,
                         num_inputs);
  }
  for (int32_t i = 0; i < e->output.count; ++i) {
    const unsigned char label = e->output.labels[i];
    bool known = false;
    for (int32_t k = 0; k < e->num_inputs; ++k) {
      known = known || rheos__einsum_has(&e->inputs[k], label);
    }
    if (!known) {
      return RHEOS_INVALID(
          "Einsum output subscripts for equation '%s' has label '%c' which is not "
          "present in the input subscripts",
          equation, label);
    }
  }
  return NULL;
}

// ---- Dimensions by number: a label is its byte, the ones under an ellipsis follow, counted from
// the right.
enum { FIRST_BROADCAST = 256, NUM_IDS = FIRST_BROADCAST + RHEOS_MAX_RANK };

// The numbers of the dimensions of a term that has `broadcast` dimensions under its ellipsis.
static int32_t ids_of(const rheos__einsum_term *term, int32_t broadcast, int32_t *ids) {
  int32_t count = 0;
  for (int32_t i = 0; i <= term->count; ++i) {
    for (int32_t b = broadcast; i == term->ellipsis && b > 0; --b) {
      ids[count++] = FIRST_BROADCAST + b - 1;
    }
    if (i < term->count) ids[count++] = term->labels[i];
  }
  return count;
}

// The dimensions under the ellipsis of an operand of that rank.
static rheos_status *broadcast_rank(const rheos__einsum_term *term, int32_t input, int32_t rank,
                                    int32_t *out_count) {
  *out_count = rank - term->count;
  if (term->ellipsis < 0 && *out_count != 0) {
    return RHEOS_INVALID("Expected input %d to have rank %d but got: %d", input, term->count, rank);
  }
  if (*out_count < 0) {
    return RHEOS_INVALID("Expected input %d to have rank at least %d but got: %d", input,
                         term->count, rank);
  }
  return NULL;
}

enum { UNKNOWN = -1, ABSENT = -2 };

// Merges one more size into what is known of a dimension; those under an ellipsis broadcast.
static rheos_status *note_size(int64_t *sizes, int32_t id, int64_t size) {
  const int64_t known = sizes[id];
  const bool broadcasts = id >= FIRST_BROADCAST;
  if (known == ABSENT || (broadcasts && known == 1) || (known == UNKNOWN && !broadcasts)) {
    sizes[id] = size;
  } else if (known == UNKNOWN) {
    if (size > 1 || size == 0) sizes[id] = size;
  } else if (size != UNKNOWN && size != known && !(broadcasts && size == 1)) {
    return RHEOS_INVALID("Dimensions must be equal, but are %lld and %lld", (long long)known,
                         (long long)size);
  }
  return NULL;
}

// The sizes of all dimensions, as far as the shapes tell; `*out_broadcast` is the number of those
// under the ellipsis of the result, -1 if it is not known.
static rheos_status *find_sizes(const rheos__einsum *e, const rheos_shape *shapes, int64_t *sizes,
                                int32_t *out_broadcast) {
  int32_t broadcast = 0;
  for (int32_t id = 0; id < NUM_IDS; ++id) sizes[id] = ABSENT;
  for (int32_t k = 0; k < e->num_inputs; ++k) {
    const rheos__einsum_term *term = &e->inputs[k];
    if (shapes[k].rank < 0) {
      for (int32_t i = 0; i < term->count; ++i) {
        RHEOS_TRY(note_size(sizes, term->labels[i], UNKNOWN));
      }
      if (term->ellipsis >= 0) broadcast = -1;
      continue;
    }
    int32_t ids[RHEOS_MAX_RANK], own;
    RHEOS_TRY(broadcast_rank(term, k, shapes[k].rank, &own));
    ids_of(term, own, ids);
    for (int32_t d = 0; d < shapes[k].rank; ++d) {
      RHEOS_TRY(note_size(sizes, ids[d], shapes[k].dims[d]));
    }
    if (broadcast >= 0 && own > broadcast) broadcast = own;
  }
  if (broadcast > 0 && e->output.ellipsis < 0) {
    return RHEOS_INVALID(
        "Output contains %d broadcasting dimension(s) but no ellipsis (...) was found in the "
        "output "
        "subscripts.",
        broadcast);
  }
  *out_broadcast = broadcast;
  return NULL;
}

static rheos_status *shape_einsum(rheos__infer *c) {
  rheos__einsum e;
  RHEOS_TRY(rheos__einsum_parse(rheos__attr_string(c->attrs, "equation"), c->num_inputs, &e));
  int64_t sizes[NUM_IDS];
  int32_t broadcast, ids[2 * RHEOS_MAX_RANK];
  RHEOS_TRY(find_sizes(&e, c->input_shapes, sizes, &broadcast));
  if (e.output.ellipsis < 0) broadcast = 0;
  if (broadcast < 0) return NULL;
  const int32_t rank = ids_of(&e.output, broadcast, ids);
  rheos_shape *out = &c->output_shapes[0];
  *out = RHEOS_SCALAR;
  for (int32_t d = 0; d < rank; ++d) RHEOS_TRY(rheos__shape_append(out, sizes[ids[d]]));
  return NULL;
}

// ---- The kernel

typedef rheos__einsum_operand operand;
typedef rheos__einsum_products einsum_state;

// What is needed of a term with its dimensions: the steps in its tensor of each number.
typedef struct placed_term {
  int32_t count;
  int32_t ids[RHEOS_MAX_RANK];  // every number once
  int64_t steps[NUM_IDS];       // 0: not there, or repeated
  bool has[NUM_IDS];
} placed_term;

static void place(const rheos__einsum_term *term, const rheos_shape *shape, bool is_output,
                  placed_term *out_placed) {
  int32_t ids[2 * RHEOS_MAX_RANK];
  int64_t steps[RHEOS_MAX_RANK];
  memset(out_placed, 0, sizeof *out_placed);
  ids_of(term, shape->rank - term->count, ids);
  rheos__row_major_steps(shape, steps);
  for (int32_t d = 0; d < shape->rank; ++d) {
    const int32_t id = ids[d];
    // An operand whose dimension broadcasts does not have it.
    if (id >= FIRST_BROADCAST && shape->dims[d] == 1 && !is_output) continue;
    if (!out_placed->has[id]) out_placed->ids[out_placed->count++] = id;
    out_placed->has[id] = true;
    out_placed->steps[id] += steps[d];
  }
}

// Steps of a dense layout in the order of `ids`.
static void dense_steps(const int32_t *ids, int32_t count, const int64_t *sizes, int64_t *steps) {
  uint64_t step = 1;  // may wrap beside a dimension of 0
  for (int32_t i = count - 1; i >= 0; --i) {
    steps[ids[i]] = (int64_t)step;
    step *= (uint64_t)sizes[ids[i]];
  }
}

static int64_t product_of(const int32_t *ids, int32_t count, const int64_t *sizes) {
  uint64_t product = 1;  // may wrap beside a dimension of 0
  for (int32_t i = 0; i < count; ++i) product *= (uint64_t)sizes[ids[i]];
  return (int64_t)product;
}

// Groups of dimensions one after the other.
typedef struct id_list {
  int32_t count;
  int32_t ids[4 * RHEOS_MAX_RANK];
} id_list;

static void append(id_list *list, const id_list *more) {
  memcpy(list->ids + list->count, more->ids, (size_t)more->count * sizeof *more->ids);
  list->count += more->count;
}

// The numbers of `from` that are (or are not) in the two others.
static id_list select_ids(const placed_term *from, const placed_term *in, bool is_in,
                          const placed_term *also, bool is_also) {
  id_list list = {0};
  for (int32_t i = 0; i < from->count; ++i) {
    const int32_t id = from->ids[i];
    if (in->has[id] == is_in && also->has[id] == is_also) list.ids[list.count++] = id;
  }
  return list;
}

// A copy between a tensor and its dimensions in `order`, densely.
static void describe_copy(rheos__copy *copy, rheos_dtype dtype, const id_list *order,
                          const int64_t *sizes, const placed_term *tensor, bool from_tensor) {
  int64_t dense[NUM_IDS];
  dense_steps(order->ids, order->count, sizes, dense);
  rheos__copy_init(copy, dtype);
  for (int32_t i = 0; i < order->count; ++i) {
    const int32_t id = order->ids[i];
    const int64_t in = from_tensor ? tensor->steps[id] : dense[id];
    rheos__copy_add(copy, sizes[id], in, from_tensor ? dense[id] : tensor->steps[id]);
  }
}

// A copy of all elements of a tensor in the order they have.
static bool is_in_order(const rheos__copy *copy, const rheos_shape *shape) {
  if (copy->num_elements != rheos_shape_num_elements(shape)) return false;
  return copy->rank == 0 || (copy->rank == 1 && copy->in_steps[0] == 1 && copy->out_steps[0] == 1);
}

// A copy of [batch, first, second, own] out of the operand; in its own order where it has that.
static void describe_operand(operand *o, rheos_dtype dtype, const rheos_shape *shape,
                             const placed_term *term, const id_list *batch, const id_list *first,
                             const id_list *second, const id_list *own, const int64_t *sizes) {
  id_list order = *batch;
  append(&order, first);
  append(&order, second);
  o->num_elements = product_of(order.ids, order.count, sizes);
  append(&order, own);
  o->own = product_of(own->ids, own->count, sizes);
  describe_copy(&o->copy, dtype, &order, sizes, term, true);
  o->is_in_order = own->count == 0 && is_in_order(&o->copy, shape);
}

// As describe_operand(), or with the matrices transposed if that leaves nothing to gather.
static void describe_matrices(operand *o, rheos_dtype dtype, const rheos_shape *shape,
                              const placed_term *term, const id_list *batch, const id_list *rows,
                              const id_list *columns, const id_list *own, const int64_t *sizes) {
  describe_operand(o, dtype, shape, term, batch, rows, columns, own, sizes);
  if (o->is_in_order) return;
  operand transposed = {.input = o->input, .is_transposed = true};
  describe_operand(&transposed, dtype, shape, term, batch, columns, rows, own, sizes);
  if (transposed.is_in_order) *o = transposed;
}

static void describe_product(einsum_state *s, int64_t m, int64_t n, int64_t k) {
  const bool turns_a = s->operands[0].is_transposed, turns_b = s->operands[1].is_transposed;
  s->products.product = (rheos__product){.m = m,
                                         .n = n,
                                         .k = k,
                                         .a_row = turns_a ? 1 : k,
                                         .a_column = turns_a ? m : 1,
                                         .b_row = turns_b ? 1 : n,
                                         .b_column = turns_b ? k : 1};
}

// Sorts the dimensions: in both operands and the result (batch), in one operand and the result
// (rows, columns), in both operands only (summed), in one operand only (own). `first`: the input
// that has the rows.
static void describe(einsum_state *s, const rheos__einsum *e, const rheos_shape *shapes,
                     const int64_t *sizes, int32_t first) {
  const int32_t second = 1 - first;
  placed_term x, y = {0}, z;
  place(&e->inputs[first], &shapes[first], false, &x);
  if (e->num_inputs == 2) place(&e->inputs[second], &shapes[second], false, &y);
  place(&e->output, &s->output_shape, true, &z);
  const id_list batch = select_ids(&z, &x, true, &y, true);
  const id_list rows = select_ids(&z, &x, true, &y, false);
  const id_list columns = select_ids(&z, &x, false, &y, true);
  const id_list summed = select_ids(&x, &y, true, &z, false);
  const id_list own_x = select_ids(&x, &y, false, &z, false);
  const id_list own_y = select_ids(&y, &x, false, &z, false);
  memset(s->operands, 0, sizeof s->operands);
  s->operands[0].input = first;
  s->operands[1].input = second;
  if (e->num_inputs == 1) {
    describe_operand(&s->operands[0], s->dtype, &shapes[0], &x, &batch, &rows, &summed, &own_x,
                     sizes);
  } else {
    describe_matrices(&s->operands[0], s->dtype, &shapes[first], &x, &batch, &rows, &summed, &own_x,
                      sizes);
    describe_matrices(&s->operands[1], s->dtype, &shapes[second], &y, &batch, &summed, &columns,
                      &own_y, sizes);
  }
  s->products.count = product_of(batch.ids, batch.count, sizes);
  describe_product(s, product_of(rows.ids, rows.count, sizes),
                   product_of(columns.ids, columns.count, sizes),
                   product_of(summed.ids, summed.count, sizes));
  id_list order = batch;
  append(&order, &rows);
  append(&order, &columns);
  describe_copy(&s->to_output, s->dtype, &order, sizes, &z, false);
  s->fills_output = s->to_output.num_elements == rheos_shape_num_elements(&s->output_shape);
  s->is_output_in_order = is_in_order(&s->to_output, &s->output_shape);
}

// Blocks of rows of products, spread over the threads.
typedef struct block_work {
  const rheos__products *products;
  int64_t a_step, b_step, c_step;  // bytes of one matrix
  const char *a, *b;
  char *c;
} block_work;

static rheos_status *run_blocks(void *argument, int64_t first, int64_t last) {
  const block_work *w = argument;
  const int64_t blocks = rheos__products_blocks(w->products);
  void *scratch = NULL;
  if (w->products->scratch_bytes > 0) {
    scratch = rheos__alloc_aligned(w->products->scratch_bytes);
    if (scratch == NULL) return rheos__out_of_memory();
  }
  rheos_status *status = NULL;
  for (int64_t unit = first; unit < last && status == NULL; ++unit) {
    const int64_t batch = unit / blocks;
    status = rheos__products_run(w->products, w->a + batch * w->a_step, w->b + batch * w->b_step,
                                 w->c + batch * w->c_step, unit % blocks, scratch);
  }
  rheos__free_aligned(scratch);
  return status;
}

static rheos_status *multiply(const rheos__products *products, rheos__step *step, const void *a,
                              const void *b, void *c) {
  const rheos__product *p = &products->product;
  const int64_t size = (int64_t)rheos_dtype_size(products->dtype);
  block_work work = {.products = products,
                     .a_step = p->m * p->k * size,
                     .b_step = p->k * p->n * size,
                     .c_step = p->m * p->n * size,
                     .a = a,
                     .b = b,
                     .c = c};
  const double flops = 2.0 * (double)products->count * (double)p->m * (double)p->k * (double)p->n;
  return rheos__step_parallel(step, products->count * rheos__products_blocks(products),
                              rheos__flops(flops), run_blocks, &work);
}

// Sums `own` elements that follow each other: a product with a vector of ones.
static rheos_status *sum_own(const einsum_state *s, rheos__step *step, const operand *o,
                             const void *from, void *to) {
  static const uint64_t ones[][2] = {
      [RHEOS_HALF] = {0x3c00},
      [RHEOS_BFLOAT16] = {0x3f80},
      [RHEOS_FLOAT] = {0x3f800000},
      [RHEOS_DOUBLE] = {0x3ff0000000000000},
      [RHEOS_INT32] = {1},
      [RHEOS_INT64] = {1},
      [RHEOS_COMPLEX64] = {0x3f800000},
      [RHEOS_COMPLEX128] = {0x3ff0000000000000},
  };
  const rheos__products sum = {
      .dtype = s->dtype,
      .product = {.m = o->num_elements, .k = o->own, .n = 1, .a_row = o->own, .a_column = 1},
      .count = 1,
      .loop = s->products.loop,
      .block_rows = 1};
  return multiply(&sum, step, from, ones[s->dtype], to);
}

// The operand as a batch of matrices: its own bytes, or memory that is put in `*out_memory`.
static rheos_status *gather(const einsum_state *s, rheos__step *step, const operand *o,
                            const void *data, const void **out_matrix, void **out_memory) {
  *out_matrix = data;
  if (o->is_in_order) return NULL;
  const size_t size = rheos_dtype_size(s->dtype), count = (size_t)o->num_elements;
  const size_t own = (size_t)o->own;
  // Both counts are no larger than the operand's, except beside a dimension of 0.
  const size_t gathered = count * own;
  char *memory = rheos__alloc_aligned((gathered + (own == 1 ? 0 : count)) * size);
  if (memory == NULL) return rheos__out_of_memory();
  *out_memory = memory;
  *out_matrix = memory;
  RHEOS_TRY(rheos__copy_all(&o->copy, data, memory));
  if (own == 1) return NULL;
  *out_matrix = memory + gathered * size;
  return sum_own(s, step, o, memory, memory + gathered * size);
}

static rheos_status *put_in_place(const einsum_state *s, const void *from, rheos_tensor *output) {
  if (!s->fills_output) memset(output->data, 0, output->size_bytes);
  return rheos__copy_all(&s->to_output, from, output->data);
}

static rheos_status *compute_with(const einsum_state *s, rheos__step *step,
                                  rheos_tensor *const *inputs, rheos_tensor *output,
                                  void **memory) {
  const void *matrices[2] = {NULL, NULL};
  for (int32_t i = 0; i < s->num_inputs; ++i) {
    const operand *o = &s->operands[i];
    RHEOS_TRY(gather(s, step, o, inputs[o->input]->data, &matrices[i], &memory[i]));
  }
  if (s->num_inputs == 1) return put_in_place(s, matrices[0], output);
  if (s->is_output_in_order) {
    return multiply(&s->products, step, matrices[0], matrices[1], output->data);
  }
  const size_t count = (size_t)s->to_output.num_elements;
  memory[2] = rheos__alloc_aligned(count * rheos_dtype_size(s->dtype));
  if (memory[2] == NULL) return rheos__out_of_memory();
  RHEOS_TRY(multiply(&s->products, step, matrices[0], matrices[1], memory[2]));
  return put_in_place(s, memory[2], output);
}

static rheos_status *compute_einsum(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                    rheos_tensor **outputs) {
  const einsum_state *s = state;
  RHEOS_TRY(rheos__tensor_new(s->dtype, &s->output_shape, &outputs[0]));
  if (outputs[0]->num_elements == 0) return NULL;
  void *memory[3] = {NULL, NULL, NULL};
  rheos_status *status = compute_with(s, step, inputs, outputs[0], memory);
  for (int i = 0; i < 3; ++i) rheos__free_aligned(memory[i]);
  return status;
}

static rheos_status *prepare_einsum(rheos__prepare *p) {
  einsum_state *s = RHEOS_NEW_STATE(p, einsum_state);
  if (s == NULL) return rheos__out_of_memory();
  s->dtype = p->input_dtypes[0];
  s->products.dtype = s->dtype;
  s->products.block_rows = 1;
  s->products.loop = rheos__row_loop_of(s->dtype);
  if (s->products.loop == NULL) return rheos__no_kernel(p, s->dtype);
  rheos__einsum e;
  RHEOS_TRY(rheos__einsum_parse(rheos__attr_string(p->attrs, "equation"), p->num_inputs, &e));
  int64_t sizes[NUM_IDS];
  int32_t broadcast;
  RHEOS_TRY(find_sizes(&e, p->input_shapes, sizes, &broadcast));
  s->num_inputs = p->num_inputs;
  s->output_shape = p->output_shapes[0];
  describe(s, &e, p->input_shapes, sizes, 0);
  // The product of the transposed matrices may be what stands in order.
  if (s->num_inputs == 2 && !s->is_output_in_order) {
    describe(s, &e, p->input_shapes, sizes, 1);
    if (!s->is_output_in_order) describe(s, &e, p->input_shapes, sizes, 0);
  }
  p->compute = compute_einsum;
  return NULL;
}

const rheos__op_def rheos__op_Einsum = {
    .name = "Einsum",
    .signature = "inputs: N * T -> output: T; equation: string; N: int >= 1; T: type",
    .doc =
        "Sums of products of one or two `inputs` over the dimensions that `equation` names, "
        "such as \"bij,bjk->bik\".",
    .shape = shape_einsum,
    .gradient = rheos__gradient_einsum,
    .prepare = prepare_einsum,
};
