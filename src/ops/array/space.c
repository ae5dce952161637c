// Moving blocks of space into the batch or into the channels, and back.
//
// SpaceToBatch and BatchToSpace are the same moves in opposite directions: element o of the part
// for offset k in a block is element o * block + k of the padded space. For each offset that is one
// strided copy of a box, cut where the frame or the crop begins.
#include <string.h>

#include "graph/build.h"
#include "ops/kit/array_util.h"

// ---- Sizes

// The blocks of either form: of the ND ops from input 1, of the others from the attribute, twice.
typedef struct blocks {
  int32_t count;
  int64_t sizes[RHEOS_MAX_RANK], before[RHEOS_MAX_RANK], after[RHEOS_MAX_RANK];
  int64_t product;
} blocks;

static rheos_status *check_blocks(blocks *b) {
  b->product = 1;
  for (int32_t d = 0; d < b->count; ++d) {
    if (b->sizes[d] < 1) {
      return RHEOS_INVALID("block_shape[%d] = %lld must be positive", d, (long long)b->sizes[d]);
    }
    if (b->before[d] < 0 || b->after[d] < 0) {
      return RHEOS_INVALID("paddings and crops must be non-negative, got %lld and %lld",
                           (long long)b->before[d], (long long)b->after[d]);
    }
    if (__builtin_mul_overflow(b->product, b->sizes[d], &b->product)) {
      return RHEOS_INVALID("the product of block_shape is too large");
    }
  }
  return NULL;
}

// Space to batch: (batch, space...) becomes (batch * product, (space + paddings) / block...).
static rheos_status *to_batch(const blocks *b, const rheos_shape *in, rheos_shape *out) {
  *out = *in;
  if (in->dims[0] >= 0 && __builtin_mul_overflow(in->dims[0], b->product, &out->dims[0])) {
    return RHEOS_INVALID("the batch of %lld by %lld is too large", (long long)in->dims[0],
                         (long long)b->product);
  }
  for (int32_t d = 0; d < b->count; ++d) {
    int64_t size = in->dims[d + 1];
    if (size < 0) continue;
    RHEOS_TRY(rheos__dim_add(size, b->before[d], &size));
    RHEOS_TRY(rheos__dim_add(size, b->after[d], &size));
    if (size % b->sizes[d] != 0) {
      return RHEOS_INVALID("padded_shape[%d]=%lld is not divisible by block_shape[%d]=%lld", d,
                           (long long)size, d, (long long)b->sizes[d]);
    }
    out->dims[d + 1] = size / b->sizes[d];
  }
  return NULL;
}

static rheos_status *check_divisible(int64_t batch, int64_t product) {
  if (batch % product == 0) return NULL;
  return RHEOS_INVALID(
      "Input batch dimension (%lld) is not divisible by product of block sizes (%lld)",
      (long long)batch, (long long)product);
}

// Batch to space, the way back: (batch / product, space * block - crops...).
static rheos_status *to_space(const blocks *b, const rheos_shape *in, rheos_shape *out) {
  *out = *in;
  if (in->dims[0] >= 0) {
    RHEOS_TRY(check_divisible(in->dims[0], b->product));
    out->dims[0] = in->dims[0] / b->product;
  }
  for (int32_t d = 0; d < b->count; ++d) {
    int64_t size = in->dims[d + 1];
    if (size < 0) continue;
    if (__builtin_mul_overflow(size, b->sizes[d], &size)) {
      return RHEOS_INVALID("blocks of %lld are too large", (long long)b->sizes[d]);
    }
    if (b->before[d] > size || b->after[d] > size - b->before[d]) {
      return RHEOS_INVALID(
          "cropped_shape[%d] must be non-negative: crops of %lld and %lld, size "
          "%lld",
          d, (long long)b->before[d], (long long)b->after[d], (long long)size);
    }
    out->dims[d + 1] = size - b->before[d] - b->after[d];
  }
  return NULL;
}

// ---- Shape functions

// The rank of `table` is 2 and it has a row for each of `count` blocks (-1: not known).
static rheos_status *check_table(const rheos__infer *c, int32_t input, int64_t count) {
  rheos_shape table;
  rheos__shape_text text;
  RHEOS_TRY(rheos__infer_rank(c, input, 2, &table));
  if ((table.dims[1] >= 0 && table.dims[1] != 2) ||
      (count >= 0 && table.dims[0] >= 0 && table.dims[0] != count)) {
    return RHEOS_INVALID("expected paddings or crops of [%lld,2], got shape %s", (long long)count,
                         rheos__shape_text_of(&table, &text));
  }
  return NULL;
}

// The sizes of `count` blocks multiplied; 0 where they are not known or no sizes of blocks.
static int64_t known_product(const rheos__infer *c, int64_t count) {
  int64_t sizes[RHEOS_MAX_RANK], product = 1;
  int32_t found;
  if (!rheos__infer_ints(c, 1, sizes, RHEOS_MAX_RANK, &found) || found != count) return 0;
  for (int32_t d = 0; d < found; ++d) {
    if (sizes[d] < 1 || __builtin_mul_overflow(product, sizes[d], &product)) return 0;
  }
  return product;
}

// What is known of the blocks: false if not all is.
static bool known_blocks(const rheos__infer *c, bool nd, blocks *out) {
  int64_t table[2 * RHEOS_MAX_RANK];
  int32_t count;
  if (!rheos__infer_ints(c, nd ? 2 : 1, table, 2 * RHEOS_MAX_RANK, &count)) return false;
  out->count = count / 2;
  for (int32_t d = 0; d < out->count; ++d) {
    out->before[d] = table[2 * d];
    out->after[d] = table[2 * d + 1];
    if (!nd) out->sizes[d] = rheos__attr_int(c->attrs, "block_size");
  }
  if (!nd) return true;
  return rheos__infer_ints(c, 1, out->sizes, RHEOS_MAX_RANK, &count) && count == out->count;
}

// The batch, which the sizes of the blocks tell even if the paddings or crops are not known.
static rheos_status *batch_by_blocks(const rheos__infer *c, int64_t count, bool forward,
                                     int64_t *out_batch) {
  const int64_t batch = c->input_shapes[0].dims[0], product = known_product(c, count);
  if (batch < 0 || product == 0) return NULL;
  if (!forward) {
    RHEOS_TRY(check_divisible(batch, product));
    *out_batch = batch / product;
  } else if (__builtin_mul_overflow(batch, product, out_batch)) {
    return RHEOS_INVALID("the batch of %lld by %lld is too large", (long long)batch,
                         (long long)product);
  }
  return NULL;
}

static rheos_status *shape_space(rheos__infer *c, bool nd, bool forward) {
  const rheos_shape *in = &c->input_shapes[0];
  rheos_shape vector = RHEOS_SHAPE(2), checked;
  if (nd) RHEOS_TRY(rheos__infer_rank(c, 1, 1, &vector));
  RHEOS_TRY(check_table(c, nd ? 2 : 1, vector.dims[0]));
  if (!nd) RHEOS_TRY(rheos__infer_rank(c, 0, 4, &checked));
  RHEOS_TRY(rheos__infer_rank_at_least(c, 0, 1));
  if (in->rank < 0) {
    if (!nd) c->output_shapes[0] = rheos__shape_of_rank(4);
    return NULL;
  }
  if (vector.dims[0] > in->rank - 1) {
    return RHEOS_INVALID("Shape must be at least rank %lld but is rank %d",
                         (long long)vector.dims[0] + 1, in->rank);
  }
  blocks b;
  if (known_blocks(c, nd, &b)) {
    RHEOS_TRY(check_blocks(&b));
    return forward ? to_batch(&b, in, &c->output_shapes[0])
                   : to_space(&b, in, &c->output_shapes[0]);
  }
  c->output_shapes[0] = rheos__shape_of_rank(in->rank);
  if (!nd && !forward && in->dims[0] >= 0) {
    const int64_t size = rheos__attr_int(c->attrs, "block_size");
    int64_t blocks = 0;
    if (__builtin_mul_overflow(size, size, &blocks)) return RHEOS_INVALID("blocks are too large");
    RHEOS_TRY(check_divisible(in->dims[0], blocks));
  }
  if (vector.dims[0] < 0) return NULL;
  if (nd) RHEOS_TRY(batch_by_blocks(c, vector.dims[0], forward, &c->output_shapes[0].dims[0]));
  for (int32_t d = (int32_t)vector.dims[0] + 1; d < in->rank; ++d) {
    c->output_shapes[0].dims[d] = in->dims[d];
  }
  return NULL;
}

static rheos_status *shape_space_to_batch_nd(rheos__infer *c) { return shape_space(c, true, true); }
static rheos_status *shape_space_to_batch(rheos__infer *c) { return shape_space(c, false, true); }
static rheos_status *shape_batch_to_space_nd(rheos__infer *c) {
  return shape_space(c, true, false);
}
static rheos_status *shape_batch_to_space(rheos__infer *c) { return shape_space(c, false, false); }

// ---- Kernels

typedef struct space {
  const rheos__operands *operands;
  bool nd, forward;
} space;

static rheos_status *read_blocks(const space *k, const void *const *inputs, blocks *out) {
  const rheos__operands *o = k->operands;
  const int32_t table = k->nd ? 2 : 1;
  const rheos_shape *in = &o->input_shapes[0];
  rheos_shape expected;
  out->count = k->nd ? (int32_t)o->input_shapes[1].dims[0] : 2;
  for (int32_t d = 0; d < out->count; ++d) {
    out->sizes[d] =
        k->nd ? rheos__operand_int(o, inputs, 1, d) : rheos__attr_int(o->attrs, "block_size");
    out->before[d] = rheos__operand_int(o, inputs, table, 2 * d);
    out->after[d] = rheos__operand_int(o, inputs, table, 2 * d + 1);
  }
  RHEOS_TRY(check_blocks(out));
  RHEOS_TRY(k->forward ? to_batch(out, in, &expected) : to_space(out, in, &expected));
  if (rheos_shape_equal(&expected, &o->output_shapes[0])) return NULL;
  return RHEOS_INVALID("block_shape does not lead to the expected shape");
}

// The box of one offset in each block. `at` is the part's place in the batch.
static rheos_status *move_box(const space *k, const blocks *b, const int64_t *offset, int64_t at,
                              const void *in, void *out) {
  const rheos__operands *o = k->operands;
  const rheos_shape *wide = k->forward ? &o->input_shapes[0] : &o->output_shapes[0];
  const rheos_shape *deep = k->forward ? &o->output_shapes[0] : &o->input_shapes[0];
  int64_t wide_steps[RHEOS_MAX_RANK], deep_steps[RHEOS_MAX_RANK];
  rheos__row_major_steps(wide, wide_steps);
  rheos__row_major_steps(deep, deep_steps);
  rheos__copy copy;
  rheos__copy_init(&copy, o->output_dtypes[0]);
  int64_t wide_start = 0, deep_start = at * wide->dims[0] * deep_steps[0];
  rheos__copy_add(&copy, wide->dims[0], k->forward ? wide_steps[0] : deep_steps[0],
                  k->forward ? deep_steps[0] : wide_steps[0]);
  for (int32_t d = 1; d < wide->rank; ++d) {
    const bool spatial = d <= b->count;
    const int64_t block = spatial ? b->sizes[d - 1] : 1;
    const int64_t shift =
        spatial ? offset[d - 1] - b->before[d - 1] : 0;  // wide = deep * block + shift
    const int64_t first = shift < 0 ? (-shift + block - 1) / block : 0;
    int64_t last = wide->dims[d] > shift ? (wide->dims[d] - shift + block - 1) / block : 0;
    if (last > deep->dims[d]) last = deep->dims[d];
    if (last <= first) return NULL;
    wide_start += (first * block + shift) * wide_steps[d];
    deep_start += first * deep_steps[d];
    const int64_t wide_step = block * wide_steps[d];
    rheos__copy_add(&copy, last - first, k->forward ? wide_step : deep_steps[d],
                    k->forward ? deep_steps[d] : wide_step);
  }
  copy.in_start = k->forward ? wide_start : deep_start;
  copy.out_start = k->forward ? deep_start : wide_start;
  return rheos__copy_all(&copy, in, out);
}

static rheos_status *run_space(const void *state, const void *const *inputs, void *const *outputs,
                               void *scratch, int64_t first_unit, int64_t last_unit) {
  (void)scratch, (void)first_unit, (void)last_unit;
  static const char zero[16];
  const space *k = state;
  const rheos__operands *o = k->operands;
  blocks b;
  RHEOS_TRY(read_blocks(k, inputs, &b));
  const int64_t count = rheos_shape_num_elements(&o->output_shapes[0]);
  if (count == 0) return NULL;
  if (k->forward && o->output_dtypes[0] != RHEOS_STRING) {
    RHEOS_TRY(rheos__fill_elements(o->output_dtypes[0], outputs[0], zero, count));
  }
  if (rheos_shape_num_elements(&o->input_shapes[0]) == 0) return NULL;
  int64_t offset[RHEOS_MAX_RANK] = {0};
  for (int64_t at = 0; at < b.product; ++at) {
    RHEOS_TRY(move_box(k, &b, offset, at, inputs[0], outputs[0]));
    for (int32_t d = b.count - 1; d >= 0 && ++offset[d] == b.sizes[d]; --d) offset[d] = 0;
  }
  return NULL;
}

static rheos_status *prepare_space(rheos__prepare *p, bool nd, bool forward) {
  space *k = RHEOS_NEW_STATE(p, space);
  if (k == NULL) return rheos__out_of_memory();
  k->operands = rheos__keep_operands(p);
  if (k->operands == NULL) return rheos__out_of_memory();
  k->nd = nd;
  k->forward = forward;
  return rheos__answer_run(p, run_space, 1);
}

static rheos_status *prepare_space_to_batch_nd(rheos__prepare *p) {
  return prepare_space(p, true, true);
}
static rheos_status *prepare_space_to_batch(rheos__prepare *p) {
  return prepare_space(p, false, true);
}
static rheos_status *prepare_batch_to_space_nd(rheos__prepare *p) {
  return prepare_space(p, true, false);
}
static rheos_status *prepare_batch_to_space(rheos__prepare *p) {
  return prepare_space(p, false, false);
}

// The gradient is the opposite op.
static void grad_opposite(rheos__grad *g, const char *type) {
  rheos_output inputs[3] = {rheos__grad_dense(g, 0)};
  for (int32_t i = 1; i < g->num_inputs; ++i) inputs[i] = g->inputs[i];
  rheos_attr attrs[2];
  size_t num_attrs = 0;
  const rheos_attr_value *format = rheos__attrs_find(g->attrs, "data_format");
  if (rheos__attrs_find(g->attrs, "block_size") != NULL) {
    attrs[num_attrs++] = rheos_attr_int("block_size", rheos__attr_int(g->attrs, "block_size"));
  }
  if (format != NULL) {
    attrs[num_attrs++] = rheos_attr_string("data_format", format->s.data, format->s.size_bytes);
  }
  const rheos_operation node =
      rheos__op_n(g->scope, type, NULL, inputs, (size_t)g->num_inputs, attrs, num_attrs);
  if (node.graph != NULL) rheos__grad_set(g, 0, rheos_operation_output(node, 0));
}
static void grad_space_to_batch_nd(rheos__grad *g) { grad_opposite(g, "BatchToSpaceND"); }
static void grad_batch_to_space_nd(rheos__grad *g) { grad_opposite(g, "SpaceToBatchND"); }
static void grad_space_to_batch(rheos__grad *g) { grad_opposite(g, "BatchToSpace"); }
static void grad_batch_to_space(rheos__grad *g) { grad_opposite(g, "SpaceToBatch"); }
static void grad_space_to_depth(rheos__grad *g) { grad_opposite(g, "DepthToSpace"); }
static void grad_depth_to_space(rheos__grad *g) { grad_opposite(g, "SpaceToDepth"); }

// ---- SpaceToDepth, DepthToSpace: (batch, height, width, channels), or with the channels second

typedef struct image_dims {
  int32_t height, width, channels;  // which dimension is which
} image_dims;

static rheos_status *image_dims_of(const rheos__attrs *attrs, image_dims *out) {
  const char *format = rheos__attr_string(attrs, "data_format");
  *out = (image_dims){1, 2, 3};
  if (strcmp(format, "NCHW") == 0) *out = (image_dims){2, 3, 1};
  if (strcmp(format, "NCHW_VECT_C") != 0) return NULL;
  return RHEOS_INVALID("data_format NCHW_VECT_C is for GPUs only");
}

static rheos_status *shape_depth(rheos__infer *c, bool to_depth) {
  const int64_t block = rheos__attr_int(c->attrs, "block_size");
  rheos_shape in, *out = &c->output_shapes[0];
  image_dims at;
  int64_t area;
  RHEOS_TRY(image_dims_of(c->attrs, &at));
  RHEOS_TRY(rheos__infer_rank(c, 0, 4, &in));
  if (__builtin_mul_overflow(block, block, &area)) {
    return RHEOS_INVALID("a block_size of %lld is too large", (long long)block);
  }
  *out = in;
  const int32_t grown[] = {at.height, at.width, at.channels};
  for (int k = 0; k < 3; ++k) {
    const int32_t d = grown[k];
    const bool divided = (d == at.channels) != to_depth;
    const int64_t by = d == at.channels ? area : block;
    if (in.dims[d] < 0) continue;
    if (divided && in.dims[d] % by != 0) {
      return RHEOS_INVALID("dimension %d of %lld should be divisible by %lld", d,
                           (long long)in.dims[d], (long long)by);
    }
    if (divided) {
      out->dims[d] = in.dims[d] / by;
    } else if (__builtin_mul_overflow(in.dims[d], by, &out->dims[d])) {
      return RHEOS_INVALID("dimension %d of %lld is too large", d, (long long)in.dims[d]);
    }
  }
  return NULL;
}

static rheos_status *shape_space_to_depth(rheos__infer *c) { return shape_depth(c, true); }
static rheos_status *shape_depth_to_space(rheos__infer *c) { return shape_depth(c, false); }

// `wide` is the image, `deep` the one with more channels. In the order of the output.
static rheos_status *make_depth(const rheos__operands *o, const rheos_shape *wide,
                                const rheos_shape *deep, bool to_depth, rheos__copy *out_copy) {
  const int64_t block = rheos__attr_int(o->attrs, "block_size");
  int64_t w[RHEOS_MAX_RANK], d[RHEOS_MAX_RANK];
  image_dims at;
  RHEOS_TRY(image_dims_of(o->attrs, &at));
  rheos__row_major_steps(wide, w);
  rheos__row_major_steps(deep, d);
  rheos__copy_init(out_copy, o->output_dtypes[0]);
  const int64_t channels = wide->dims[at.channels], depth = d[at.channels] * channels;
  const bool last = at.channels == 3;
  // Loops over batch, rows, columns, offsets in the block, channels: size, step wide, step deep
  const int64_t batch[] = {wide->dims[0], w[0], d[0]};
  const int64_t row[] = {deep->dims[at.height], block * w[at.height], d[at.height]};
  const int64_t column[] = {deep->dims[at.width], block * w[at.width], d[at.width]};
  const int64_t down[] = {block, w[at.height], block * depth};
  const int64_t right[] = {block, w[at.width], depth};
  const int64_t channel[] = {channels, w[at.channels], d[at.channels]};
  const int64_t *to_deep[2][6] = {{batch, down, right, channel, row, column},
                                  {batch, row, column, down, right, channel}};
  const int64_t *to_wide[2][6] = {{batch, channel, row, down, column, right},
                                  {batch, row, down, column, right, channel}};
  for (int k = 0; k < 6; ++k) {
    const int64_t *loop = to_depth ? to_deep[last][k] : to_wide[last][k];
    rheos__copy_add(out_copy, loop[0], to_depth ? loop[1] : loop[2], to_depth ? loop[2] : loop[1]);
  }
  return NULL;
}

static rheos_status *make_space_to_depth(const rheos__operands *o, const void *const *inputs,
                                         rheos__copy *out_copy) {
  (void)inputs;
  return make_depth(o, &o->input_shapes[0], &o->output_shapes[0], true, out_copy);
}

static rheos_status *make_depth_to_space(const rheos__operands *o, const void *const *inputs,
                                         rheos__copy *out_copy) {
  (void)inputs;
  return make_depth(o, &o->output_shapes[0], &o->input_shapes[0], false, out_copy);
}

static rheos_status *prepare_space_to_depth(rheos__prepare *p) {
  return rheos__answer_copy(p, 0, make_space_to_depth);
}
static rheos_status *prepare_depth_to_space(rheos__prepare *p) {
  return rheos__answer_copy(p, 0, make_depth_to_space);
}

// ---- The definitions

#define ND(table)                                           \
  "input: T, block_shape: Tblock_shape, " table ": T" table \
  " -> output: T; T: type; "                                \
  "Tblock_shape: {int32, int64} = int32; T" table ": {int32, int64} = int32"
#define IMAGE                                              \
  "input: T -> output: T; T: type; block_size: int >= 2; " \
  "data_format: {\"NHWC\", \"NCHW\", \"NCHW_VECT_C\"} = \"NHWC\""
#define DEFINE(op, unit, text, about)    \
  const rheos__op_def rheos__op_##op = { \
      .name = #op,                       \
      .signature = text,                 \
      .doc = about,                      \
      .shape = shape_##unit,             \
      .gradient = grad_##unit,           \
      .prepare = prepare_##unit,         \
  };
DEFINE(SpaceToBatchND, space_to_batch_nd, ND("paddings"),
       "Blocks of `block_shape` of the padded `input` taken apart into the batch.")
DEFINE(BatchToSpaceND, batch_to_space_nd, ND("crops"),
       "Parts of the batch put together to blocks of `block_shape`, and cropped.")
DEFINE(SpaceToBatch, space_to_batch,
       "input: T, paddings: Tpaddings -> output: T; T: type; "
       "Tpaddings: {int32, int64} = int32; block_size: int >= 2",
       "Square blocks of the padded `input` taken apart into the batch.")
DEFINE(BatchToSpace, batch_to_space,
       "input: T, crops: Tidx -> output: T; T: type; block_size: int >= 2; "
       "Tidx: {int32, int64} = int32",
       "Parts of the batch put together to square blocks, and cropped.")
DEFINE(SpaceToDepth, space_to_depth, IMAGE, "Square blocks of `input` moved into the channels.")
DEFINE(DepthToSpace, depth_to_space, IMAGE, "Channels of `input` laid out as square blocks.")
