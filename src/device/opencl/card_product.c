#include "device/opencl/card_product.h"

#include <string.h>

#include "device/opencl/move.h"
#include "device/opencl/source.h"

#include "opencl/product.inc"

enum {
  SIDE = 16,
  GROUP = 128,
  NARROW = 12,
  BLOCK_ROWS = 4,
  BLOCK_COLUMNS = 16,
  FEW = 2048,
  DEEP = 1024,
  LEAST_PART = 256,
  MOST_PARTS = 64
};

// How a product is made: by which kernel, in how many parts of its depth.
typedef struct way {
  const char *name;
  int32_t each;  // rows and columns of a work-item, of the kernel with tiles; else 0
  int64_t parts;
  rheos__grid grid;
} way;

static int64_t tiles_of(const rheos__sizes *z, int32_t each) {
  const int64_t tile = SIDE * each;
  return (z->m + tile - 1) / tile * ((z->n + tile - 1) / tile) * z->count;
}

static int64_t numbers_of(const rheos__sizes *z) { return z->m * z->n * z->count; }

static rheos__grid groups_of(int64_t count, size_t group) {
  return (rheos__grid){1, {(size_t)count * group}, {group, 1, 1}};
}

// So many that a card has something to do everywhere, each of some depth.
static int64_t parts_of(const rheos__card *card, const rheos__sizes *z, int64_t num_groups) {
  const int64_t wanted = (int64_t)card->num_units * 2 / (num_groups > 0 ? num_groups : 1);
  int64_t parts = z->takes_scratch ? z->k / LEAST_PART : 1;
  if (parts > wanted) parts = wanted;
  if (parts > MOST_PARTS) parts = MOST_PARTS;
  return parts > 1 ? parts : 1;
}

// Large tiles read less, but there must be enough of them; numbers of 8 bytes have no room there.
static way by_tiles(const rheos__card *card, const rheos__sizes *z, size_t number_bytes) {
  enum { SMALL = 4, LARGE = 8 };
  const bool is_large = number_bytes <= 4 && tiles_of(z, LARGE) >= card->num_units;
  way w = {.name = "product", .each = is_large ? LARGE : SMALL};
  const int64_t tiles = tiles_of(z, w.each);
  w.parts = parts_of(card, z, tiles);
  w.grid = groups_of(tiles * w.parts, SIDE * SIDE);
  return w;
}

static way by_one_each(const rheos__card *card, const rheos__sizes *z) {
  way w = {.name = "each", .parts = 1};
  if (!card->wants_blocks) w.parts = parts_of(card, z, numbers_of(z) / GROUP);
  w.grid = (rheos__grid){1, {(size_t)(numbers_of(z) * w.parts)}, {0}};
  return w;
}

static way by_blocks(const rheos__sizes *z) {
  const size_t across = (size_t)(z->n + BLOCK_COLUMNS - 1) / BLOCK_COLUMNS;
  const size_t down = (size_t)(z->m + BLOCK_ROWS - 1) / BLOCK_ROWS;
  return (way){"block", 0, 1, {3, {across, down, (size_t)z->count}, {1, 1, 1}}};
}

static way way_of(const rheos__card *card, const rheos__sizes *z, size_t number_bytes) {
  const bool is_spread = z->batch_inside && z->count > 1 && !card->wants_blocks;
  if (numbers_of(z) <= FEW && z->k >= DEEP && !is_spread) {
    return (way){"group_each", 0, 1, groups_of(numbers_of(z), GROUP)};
  }
  if (z->m < NARROW || z->n < NARROW) return by_one_each(card, z);
  return card->wants_blocks ? by_blocks(z) : by_tiles(card, z, number_bytes);
}

static void add_arithmetic(rheos__text *text, rheos_dtype dtype, const char *computed) {
  const bool is_whole = rheos_dtype_is_integer(dtype);
  rheos__cl_add(text,
                "#define VECTOR %s4\n#define MULTIPLY_ADD(x, y, z) %s\n"
                "#define MULTIPLY_ADD_VECTOR(x, y, z) %s\n",
                computed, is_whole ? "((COMPUTED)((x) * (y) + (z)))" : "fma(x, y, z)",
                is_whole ? "((x) * (y) + (z))" : "fma(x, y, z)");
}

// `count`: of what the kernel makes.
static void set_sizes_of(rheos__launch *launch, const rheos__sizes *z, int64_t parts,
                         int64_t count) {
  rheos__launch_set_number(launch, z->m);
  rheos__launch_set_number(launch, z->n);
  rheos__launch_set_number(launch, z->k);
  rheos__launch_set_number(launch, parts);
  rheos__launch_set_number(launch, count);
}

size_t rheos__product_add_text(rheos__launch *launch, rheos__text *text, rheos_dtype dtype,
                               const rheos__stage_operand *operands, const rheos__sizes *sizes,
                               void (*set)(rheos__launch *launch, const void *more),
                               const void *more) {
  const size_t number_bytes = rheos_dtype_size(dtype) > 4 ? 8 : 4;
  const way w = way_of(launch->card, sizes, number_bytes);
  const rheos__stage_operand scratch = {RHEOS__SCRATCH, sizes->scratch_offset};
  const rheos__stage_operand first[] = {operands[0], operands[1],
                                        w.parts > 1 ? scratch : operands[2]};
  const rheos__stage_operand second[] = {scratch, scratch, operands[2]};
  const int64_t numbers = numbers_of(sizes) * w.parts;
  rheos__text whole = {0};
  rheos__cl_add(&whole, "typedef %s number;\n", numbers < INT32_MAX ? "uint" : "ulong");
  add_arithmetic(&whole, dtype, rheos__cl_dtype_of(launch->card, dtype)->computed);
  if (w.each > 0) rheos__cl_add(&whole, "#define EACH %d\n", (int)w.each);
  rheos__cl_add(&whole, "#define BATCH_INSIDE %d\n", sizes->batch_inside);
  rheos__text_add(&whole, text->data, text->size);
  whole.failed |= text->failed;
  rheos__text_add_string(&whole, rheos__cl_product);
  rheos__text_deinit(text);
  if (!whole.failed) {
    rheos__launch_add(launch, whole.data, w.name, first, 3, &w.grid);
    set_sizes_of(launch, sizes, w.parts, numbers);
    set(launch, more);
  }
  if (!whole.failed && w.parts > 1) {
    const rheos__grid grid = {1, {(size_t)numbers_of(sizes)}, {0}};
    rheos__launch_add(launch, whole.data, "join_parts", second, 3, &grid);
    set_sizes_of(launch, sizes, w.parts, numbers_of(sizes));
    set(launch, more);
  }
  if (whole.failed && launch->status == NULL) launch->status = rheos__out_of_memory();
  rheos__text_deinit(&whole);
  return w.parts > 1 ? (size_t)numbers * number_bytes : 0;
}

static void add_batch(rheos__text *text, const rheos__card_product *product) {
  rheos__text_add_string(text, "#define PARAMETERS");
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
      "#define C_ROW(row) ((row) * (place)n)\n#define C_COLUMN(column) (column)\n"
      "#define C_AT(row, column) c[(row) + (column)]\n");
}

// How far an operand moves from one place of the batch to the next; false: not always as far.
static bool has_one_step(const rheos__card_product *p, const int64_t *steps, int64_t *out_step) {
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
static bool add_to_blast(rheos__launch *launch, const rheos__card_product *p, int64_t count,
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

// Where the numbers of operand `name` lie: those of one side follow each other, and of the other
// are `step` apart.
static void add_places(rheos__text *text, const char *name, const char *side, bool along_deep,
                       const char *step) {
  rheos__cl_add(text, "#define %s_PLACE place\n#define %s_AT(x, y) LOAD(%s[(x) + (y)])\n", name,
                name, name[0] == 'A' ? "a" : "b");
  rheos__cl_add(text, "#define %s_%s(x) ((x) * (place)%s)\n#define %s_DEEP(x) ((x) * (place)%s)\n",
                name, side, along_deep ? step : "1", name, along_deep ? "1" : step);
}

static void set_batch(rheos__launch *launch, const void *more) {
  const rheos__card_product *product = more;
  for (int32_t d = 0; d < product->rank; d++) {
    rheos__launch_set_number(launch, product->dims[d]);
    rheos__launch_set_number(launch, product->a_steps[d]);
    rheos__launch_set_number(launch, product->dims[d]);
    rheos__launch_set_number(launch, product->b_steps[d]);
  }
}

size_t rheos__product_add(rheos__launch *launch, const rheos__card_product *p) {
  const rheos__stage_operand operands[] = {p->a, p->b, p->c};
  rheos__sizes sizes = {.m = p->m,
                        .n = p->n,
                        .k = p->k,
                        .count = 1,
                        .takes_scratch = p->takes_scratch,
                        .scratch_offset = p->scratch_offset};
  for (int32_t d = 0; d < p->rank; d++) sizes.count *= p->dims[d];
  if (add_to_blast(launch, p, sizes.count, operands)) return 0;
  // Short numbers are for cards: compilers for processors do not see that they count up.
  const bool is_small = p->m * p->k < INT32_MAX && p->k * p->n < INT32_MAX &&
                        p->m * p->n < INT32_MAX && sizes.count < INT32_MAX;
  const bool is_short = is_small && !launch->card->wants_blocks;
  rheos__text text = {0};
  rheos__cl_add_prelude(&text);
  rheos__cl_add(&text, "typedef %s place;\n", is_short ? "uint" : "ulong");
  rheos__cl_add_macros(&text, rheos__cl_dtype_of(launch->card, p->dtype));
  add_batch(&text, p);
  rheos__cl_add(&text, "#define A_ALONG_DEEP %d\n#define B_ALONG_COLUMN %d\n", !p->transpose_a,
                !p->transpose_b);
  add_places(&text, "A", "ROW", !p->transpose_a, p->transpose_a ? "m" : "k");
  add_places(&text, "B", "COLUMN", p->transpose_b, p->transpose_b ? "k" : "n");
  return rheos__product_add_text(launch, &text, p->dtype, operands, &sizes, set_batch, p);
}

// ---- The kernels of ops

bool rheos__product_can(const rheos__card *card, rheos_dtype dtype) {
  return rheos__cl_dtype_of(card, dtype) != NULL && dtype != RHEOS_BOOL &&
         card->max_group >= SIDE * SIDE;
}

static rheos_status *answer(rheos__prepare *p, const rheos__card_product *product) {
  rheos__card *card = rheos__card_of(p->device);
  if (!rheos__product_can(card, product->dtype)) {
    p->decline_reason = "the device has no products of this dtype";
    return NULL;
  }
  rheos__launch *launch = rheos__launch_begin(card, p->arena, p->num_inputs, RHEOS__PRODUCT_STAGES);
  if (launch == NULL) return rheos__out_of_memory();
  const int64_t count = rheos_shape_num_elements(&p->output_shapes[0]);
  size_t scratch_bytes = 0;
  if (count > 0 && product->k > 0) {
    scratch_bytes = rheos__product_add(launch, product);
  } else {
    rheos__move_add_fill(launch, p->num_inputs, count, rheos_dtype_size(product->dtype), 0);
  }
  p->flops = rheos__flops(2.0 * (double)count * (double)product->k);
  return rheos__launch_end(launch, p, scratch_bytes);
}

static void set_sizes(rheos__card_product *product, const rheos_shape *a, const rheos_shape *b) {
  const int64_t *a_dims = a->dims + a->rank - 2, *b_dims = b->dims + b->rank - 2;
  product->m = a_dims[product->transpose_a ? 1 : 0];
  product->k = a_dims[product->transpose_a ? 0 : 1];
  product->n = b_dims[product->transpose_b ? 0 : 1];
}

rheos_status *rheos__cl_prepare_matmul(rheos__prepare *p) {
  rheos__card_product product = {.dtype = p->input_dtypes[0],
                                 .takes_scratch = true,
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
  rheos__card_product product = {.dtype = p->input_dtypes[0],
                                 .takes_scratch = true,
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
