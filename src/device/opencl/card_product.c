#include "device/opencl/card_product.h"

#include <string.h>

#include "device/opencl/move.h"
#include "device/opencl/source.h"

#include "opencl/product.inc"

enum {
  TILE = 64,
  SIDE = 16,
  GROUP = 128,
  NARROW = 12,
  BLOCK_ROWS = 4,
  BLOCK_COLUMNS = 16,
  FEW = 2048,
  DEEP = 1024
};

static size_t tiles_of(int64_t size) { return (size_t)((size + TILE - 1) / TILE * SIDE); }

void rheos__product_add_text(rheos__launch *launch, rheos__text *text,
                             const rheos__stage_operand *operands, const rheos__sizes *sizes) {
  const int64_t m = sizes->m, n = sizes->n, k = sizes->k, count = sizes->count;
  const char *name = "product";
  rheos__grid grid = {3, {tiles_of(n), tiles_of(m), (size_t)count}, {SIDE, SIDE, 1}};
  if (m * n * count <= FEW && k >= DEEP) {
    name = "group_each";
    grid = (rheos__grid){3, {(size_t)n * GROUP, (size_t)m, (size_t)count}, {GROUP, 1, 1}};
  } else if (m < NARROW || n < NARROW) {
    name = "each";
    const size_t wide = n < NARROW ? 4 : 64;
    grid = (rheos__grid){3, {(size_t)n, (size_t)m, (size_t)count}, {wide, 128 / wide, 1}};
  } else if (launch->card->wants_blocks) {
    name = "block";
    grid = (rheos__grid){3,
                         {(size_t)((n + BLOCK_COLUMNS - 1) / BLOCK_COLUMNS),
                          (size_t)((m + BLOCK_ROWS - 1) / BLOCK_ROWS), (size_t)count},
                         {1, 1, 1}};
  }
  rheos__text_add_string(text, rheos__cl_product);
  rheos__launch_add_text(launch, text, name, operands, 3, &grid);
  rheos__launch_set_number(launch, m);
  rheos__launch_set_number(launch, n);
  rheos__launch_set_number(launch, k);
}

void rheos__product_add_arithmetic(rheos__text *text, rheos_dtype dtype) {
  rheos__cl_add(text, "#define MULTIPLY_ADD(x, y, z) %s\n",
                rheos_dtype_is_integer(dtype) ? "((COMPUTED)((x) * (y) + (z)))" : "fma(x, y, z)");
}

static void add_batch(rheos__text *text, const rheos__product *product) {
  rheos__text_add_string(text, "typedef ulong place;\n#define PARAMETERS");
  for (int32_t d = 0; d < product->rank; d++) {
    rheos__cl_add(text, ", long ad%d, long as%d, long bd%d, long bs%d", (int)d, (int)d, (int)d,
                  (int)d);
  }
  rheos__text index = {0};
  rheos__cl_add_index(&index, "a_batch", "a", product->rank, product->a_steps);
  rheos__cl_add_index(&index, "b_batch", "b", product->rank, product->b_steps);
  for (size_t i = 0; i < index.size; i++) {
    if (index.data[i] == '\n') index.data[i] = ' ';  // it is a macro
  }
  rheos__text_add_string(text, "\n#define SET_UP ");
  rheos__text_add(text, index.data, index.size);
  text->failed |= index.failed;
  rheos__text_deinit(&index);
  rheos__text_add_string(
      text,
      " global const STORED *a = (global const STORED *)(ba + oa) + a_batch * (ulong)(m * k);"
      " global const STORED *b = (global const STORED *)(bb + ob) + b_batch * (ulong)(k * n);"
      " global STORED *c = (global STORED *)(bc + oc) + at * (ulong)(m * n);\n"
      "#define C(row, column) c[(row) * n + (column)]\n");
}

// How far an operand moves from one place of the batch to the next; false: not always as far.
static bool has_one_step(const rheos__product *p, const int64_t *steps, int64_t *out_step) {
  int64_t places = 1;
  bool is_first = true;
  *out_step = 0;
  for (int32_t d = p->rank - 1; d >= 0; d--) {
    if (p->dims[d] == 1) continue;
    if (is_first) *out_step = steps[d];
    is_first = false;
    if (steps[d] != *out_step * places) return false;
    places *= p->dims[d];
  }
  return true;
}

// Adds it as one of CLBlast, where that is worth the copies that it makes.
static bool add_to_blast(rheos__launch *launch, const rheos__product *p, int64_t count,
                         const rheos__stage_operand *operands) {
  enum { LEAST = 16 };
  int64_t a_step, b_step;
  const bool is_double = p->dtype == RHEOS_DOUBLE;
  if ((!is_double && p->dtype != RHEOS_FLOAT) || p->m < LEAST || p->n < LEAST || p->k < LEAST ||
      !has_one_step(p, p->a_steps, &a_step) || !has_one_step(p, p->b_steps, &b_step) ||
      !rheos__blast_can(launch->card, is_double)) {
    return false;
  }
  const rheos__blast_product product = {.is_double = is_double,
                                        .transpose_a = p->transpose_a,
                                        .transpose_b = p->transpose_b,
                                        .m = (size_t)p->m,
                                        .n = (size_t)p->n,
                                        .k = (size_t)p->k,
                                        .count = (size_t)count,
                                        .a_step = (size_t)(a_step * p->m * p->k),
                                        .b_step = (size_t)(b_step * p->k * p->n),
                                        .c_step = (size_t)(p->m * p->n)};
  rheos__launch_add_product(launch, &product, operands);
  return true;
}

void rheos__product_add(rheos__launch *launch, const rheos__product *product) {
  const rheos__stage_operand operands[] = {product->a, product->b, product->c};
  rheos__sizes sizes = {product->m, product->n, product->k, 1};
  for (int32_t d = 0; d < product->rank; d++) sizes.count *= product->dims[d];
  if (add_to_blast(launch, product, sizes.count, operands)) return;
  rheos__text text = {0};
  rheos__cl_add_prelude(&text);
  rheos__cl_add_macros(&text, rheos__cl_dtype_of(launch->card, product->dtype));
  rheos__product_add_arithmetic(&text, product->dtype);
  add_batch(&text, product);
  rheos__cl_add(&text, "#define A_DEEP %d\n#define B_COLUMN %d\n", !product->transpose_a,
                !product->transpose_b);
  rheos__cl_add(&text, "#define A(row, deep) LOAD(a[%s])\n#define B(deep, column) LOAD(b[%s])\n",
                product->transpose_a ? "(deep) * m + (row)" : "(row) * k + (deep)",
                product->transpose_b ? "(column) * k + (deep)" : "(deep) * n + (column)");
  rheos__product_add_text(launch, &text, operands, &sizes);
  for (int32_t d = 0; d < product->rank; d++) {
    rheos__launch_set_number(launch, product->dims[d]);
    rheos__launch_set_number(launch, product->a_steps[d]);
    rheos__launch_set_number(launch, product->dims[d]);
    rheos__launch_set_number(launch, product->b_steps[d]);
  }
}

// ---- The kernels of ops

bool rheos__product_can(const rheos__card *card, rheos_dtype dtype) {
  return rheos__cl_dtype_of(card, dtype) != NULL && dtype != RHEOS_BOOL &&
         card->max_group >= SIDE * SIDE;
}

static rheos_status *answer(rheos__prepare *p, const rheos__product *product) {
  rheos__card *card = rheos__card_of(p->device);
  if (!rheos__product_can(card, product->dtype)) {
    p->decline_reason = "the device has no products of this dtype";
    return NULL;
  }
  rheos__launch *launch = rheos__launch_begin(card, p->arena, p->num_inputs, 1);
  if (launch == NULL) return rheos__out_of_memory();
  const int64_t count = rheos_shape_num_elements(&p->output_shapes[0]);
  if (count > 0 && product->k > 0) {
    rheos__product_add(launch, product);
  } else {
    rheos__move_add_fill(launch, p->num_inputs, count, rheos_dtype_size(product->dtype), 0);
  }
  p->flops = rheos__flops(2.0 * (double)count * (double)product->k);
  return rheos__launch_end(launch, p, 0);
}

static void set_sizes(rheos__product *product, const rheos_shape *a, const rheos_shape *b) {
  const int64_t *a_dims = a->dims + a->rank - 2, *b_dims = b->dims + b->rank - 2;
  product->m = a_dims[product->transpose_a ? 1 : 0];
  product->k = a_dims[product->transpose_a ? 0 : 1];
  product->n = b_dims[product->transpose_b ? 0 : 1];
}

rheos_status *rheos__cl_prepare_matmul(rheos__prepare *p) {
  rheos__product product = {.dtype = p->input_dtypes[0],
                            .a = {0, 0},
                            .b = {1, 0},
                            .c = {p->num_inputs, 0},
                            .transpose_a = rheos__attr_bool(p->attrs, "transpose_a"),
                            .transpose_b = rheos__attr_bool(p->attrs, "transpose_b")};
  set_sizes(&product, &p->input_shapes[0], &p->input_shapes[1]);
  return answer(p, &product);
}

// How many matrices an operand moves along each dimension of the batch.
static void batch_steps(const rheos_shape *operand, const rheos_shape *out, int64_t *steps) {
  const int32_t shift = out->rank - operand->rank;
  int64_t step = 1;
  for (int32_t d = out->rank - 3; d >= 0; d--) {
    const int64_t dim = d >= shift ? operand->dims[d - shift] : 1;
    steps[d] = dim == 1 ? 0 : step;
    step *= dim;
  }
}

rheos_status *rheos__cl_prepare_batch_matmul(rheos__prepare *p) {
  const rheos_shape *out = &p->output_shapes[0];
  rheos__product product = {.dtype = p->input_dtypes[0],
                            .a = {0, 0},
                            .b = {1, 0},
                            .c = {p->num_inputs, 0},
                            .transpose_a = rheos__attr_bool(p->attrs, "adj_x"),
                            .transpose_b = rheos__attr_bool(p->attrs, "adj_y"),
                            .rank = out->rank - 2};
  if (p->output_dtypes[0] != p->input_dtypes[0] || p->input_dtypes[1] != p->input_dtypes[0]) {
    p->decline_reason = "the device multiplies numbers of one dtype";
    return NULL;
  }
  set_sizes(&product, &p->input_shapes[0], &p->input_shapes[1]);
  memcpy(product.dims, out->dims, (size_t)product.rank * sizeof *product.dims);
  batch_steps(&p->input_shapes[0], out, product.a_steps);
  batch_steps(&p->input_shapes[1], out, product.b_steps);
  return answer(p, &product);
}
