// A matrix product or a convolution and what follows it, as one op: _FusedMatMul and _FusedConv2D
// with a bias or a normalization by given statistics, then a tensor added, then an activation. Each
// rule starts from one of these and asks what its input is: the bare product, or one that took in
// what comes before. The product must have no other reader; it is gone then. What could fail in the
// op that is taken in, a bias of another length, must be ruled out by shapes that the graph knows,
// so that errors stay those of the product, whose node the fused op stands for.
#include "plan/rules/rewrite.h"

#include <string.h>

enum { MAX_FUSED = 3, MAX_ARGS = 8, MAX_ATTRS = 20 };

// The order in which ops may be taken in.
typedef enum stage {
  STAGE_PRODUCT,
  STAGE_BIAS,  // or a normalization
  STAGE_SIDE,
  STAGE_ACTIVATION,
} stage;

static const struct {
  const char *name;
  stage at;
} stages[] = {{"BiasAdd", STAGE_BIAS}, {"FusedBatchNorm", STAGE_BIAS}, {"Add", STAGE_SIDE}};

// What is to be taken in.
typedef struct epilogue {
  const char *name;  // as in `fused_ops`
  stage at;
  int32_t args[4];
  int32_t num_args;
  const char *attr;  // and its number, if it has any
  float number;
} epilogue;

// ---- The product

static bool is_conv(const rheos__entry *product) {
  return product->signature->op == &rheos__op_Conv2D ||
         product->signature->op == &rheos__op__FusedConv2D;
}

static bool has_fused_kernel(const rheos__entry *product, rheos_dtype dtype) {
  if (dtype == RHEOS_FLOAT || dtype == RHEOS_HALF) return true;
  return dtype == (is_conv(product) ? RHEOS_DOUBLE : RHEOS_BFLOAT16);
}

static stage stage_of(const rheos__entry *product) {
  const rheos_attr_value *fused = rheos__attrs_find(product->attrs, "fused_ops");
  if (fused == NULL || fused->count == 0) return STAGE_PRODUCT;
  const char *last = fused->strings[fused->count - 1].data;
  for (size_t i = 0; i < sizeof stages / sizeof *stages; ++i) {
    if (strcmp(stages[i].name, last) == 0) return stages[i].at;
  }
  return STAGE_ACTIVATION;
}

// The product behind `value`, if `entry` may become it with one more op; else NULL.
static const rheos__entry *find_product(const rheos__rewriter *r, const rheos__entry *entry,
                                        int32_t value, int32_t num_uses, stage at) {
  static const rheos__op_def *const ops[] = {&rheos__op_MatMul, &rheos__op__FusedMatMul,
                                             &rheos__op_Conv2D, &rheos__op__FusedConv2D};
  const rheos__entry *product = rheos__rule_source(r, value, NULL);
  if (product == NULL || r->num_uses[value] != num_uses) return NULL;
  bool fits = false;
  for (size_t i = 0; i < sizeof ops / sizeof *ops; ++i) fits |= product->signature->op == ops[i];
  // At another level it would hold its operands across a write to their variables.
  if (!fits || product->level != entry->level || stage_of(product) >= at) return NULL;
  if (!has_fused_kernel(product, rheos__rule_dtype(r, value))) return NULL;
  const char *device = rheos__plan_node(r->plan, product->id)->device;
  return device == rheos__plan_node(r->plan, entry->id)->device ? product : NULL;
}

static const char *format_of(const rheos__entry *entry) {
  const rheos_attr_value *format = rheos__attrs_find(entry->attrs, "data_format");
  return format != NULL && format->kind == RHEOS_ATTR_STRING ? format->s.data : "NHWC";
}

static bool same_format(const rheos__entry *product, const rheos__entry *entry) {
  return !is_conv(product) || strcmp(format_of(product), format_of(entry)) == 0;
}

// How many channels the product has; -1: not known.
static int64_t channels_of(const rheos__rewriter *r, const rheos__entry *product) {
  const rheos_shape *shape = rheos__rule_shape(r, product->first_value);
  const int32_t rank = is_conv(product) ? 4 : 2;
  if (shape->rank != rank) return -1;
  return shape->dims[is_conv(product) && strcmp(format_of(product), "NCHW") == 0 ? 1 : rank - 1];
}

static bool has_length(const rheos__rewriter *r, int32_t value, int64_t length) {
  const rheos_shape *shape = rheos__rule_shape(r, value);
  return length > 0 && shape->rank == 1 && shape->dims[0] == length;
}

// ---- Taking in

static rheos_status *copy_names(rheos__rewriter *r, const rheos__entry *product, const char *name,
                                rheos_attr_value *out) {
  const rheos_attr_value *fused = rheos__attrs_find(product->attrs, "fused_ops");
  const int32_t count = fused != NULL ? fused->count : 0;
  rheos_string *names = rheos__arena_alloc(&r->plan->arena, (size_t)(count + 1) * sizeof *names);
  if (names == NULL) return rheos__out_of_memory();
  for (int32_t i = 0; i < count; ++i) names[i] = fused->strings[i];
  names[count] = rheos__borrow_string(name, strlen(name));
  *out = (rheos_attr_value){.kind = RHEOS_ATTR_LIST_STRING, .count = count + 1, .strings = names};
  return NULL;
}

static void set_item(rheos_attr *items, int32_t *count, const char *name, rheos_attr_value value) {
  int32_t at = 0;
  while (at < *count && strcmp(items[at].name, name) != 0) ++at;
  items[at] = (rheos_attr){name, value};
  if (at == *count) ++*count;
}

// The attributes of the product with one op more.
static rheos_status *fused_attrs(rheos__rewriter *r, const rheos__entry *product,
                                 const rheos__op_def *op, const epilogue *e, int32_t num_args,
                                 const rheos__attrs **out_attrs) {
  rheos_attr items[MAX_ATTRS];
  int32_t count = 0;
  for (; count < product->attrs->count; ++count) items[count] = product->attrs->items[count];
  const rheos_dtype dtype = rheos__rule_dtype(r, product->first_value);
  rheos_dtype *types = rheos__arena_alloc(&r->plan->arena, MAX_ARGS * sizeof *types);
  if (types == NULL) return rheos__out_of_memory();
  for (int32_t i = 0; i < MAX_ARGS; ++i) types[i] = dtype;
  rheos_attr_value names;
  RHEOS_TRY(copy_names(r, product, e->name, &names));
  set_item(items, &count, "fused_ops", names);
  set_item(items, &count, "num_args", (rheos_attr_value){.kind = RHEOS_ATTR_INT, .i = num_args});
  set_item(items, &count, "TArgs",
           (rheos_attr_value){.kind = RHEOS_ATTR_LIST_TYPE, .count = num_args, .types = types});
  if (e->attr != NULL) {
    set_item(items, &count, e->attr, (rheos_attr_value){.kind = RHEOS_ATTR_FLOAT, .f = e->number});
  }
  return rheos__rule_attrs(r, op, items, count, out_attrs);
}

static const rheos__op_def *fused_op(const rheos__entry *product) {
  return is_conv(product) ? &rheos__op__FusedConv2D : &rheos__op__FusedMatMul;
}

// Whether `entry` may become the product with the epilogue.
static bool can_take_in(const rheos__rewriter *r, const rheos__entry *entry,
                        const rheos__entry *product, const epilogue *e) {
  enum { ADDED = 4 };  // attributes
  const int32_t num_inputs = product->num_inputs + e->num_args;
  if (num_inputs > 2 + MAX_ARGS || product->attrs->count + ADDED > MAX_ATTRS) return false;
  // TensorFlow's fused convolution takes at least one argument.
  if (is_conv(product) && num_inputs == 2) return false;
  return rheos__rule_can_become(r, entry, fused_op(product), product->attrs);
}

static rheos_status *take_in(rheos__rewriter *r, rheos__entry *entry, const rheos__entry *product,
                             const epilogue *e) {
  int32_t inputs[2 + MAX_ARGS];
  const int32_t num_inputs = product->num_inputs + e->num_args;
  if (!can_take_in(r, entry, product, e)) return NULL;
  for (int32_t i = 0; i < product->num_inputs; ++i) inputs[i] = rheos__rule_input(r, product, i);
  for (int32_t i = 0; i < e->num_args; ++i) inputs[product->num_inputs + i] = e->args[i];
  const rheos__op_def *op = fused_op(product);
  const rheos__attrs *attrs;
  RHEOS_TRY(fused_attrs(r, product, op, e, num_inputs - 2, &attrs));
  entry->id = product->id;
  return rheos__rule_become(r, entry, op, attrs, inputs, num_inputs);
}

// ---- Behind a Reshape
//
// A dense layer on more than two dimensions is a product of matrices, a Reshape, then the bias and
// the activation. These can as well come before the Reshape, which moves to the place of the last.

// The Reshape of a matrix product that `value` is, if nothing else reads the one or the other.
static rheos__entry *find_reshape(rheos__rewriter *r, const rheos__entry *entry, int32_t value,
                                  stage at, const rheos__entry **out_product) {
  rheos__entry *reshape = rheos__rule_source(r, value, &rheos__op_Reshape);
  *out_product = NULL;
  if (reshape == NULL || !rheos__rule_used_once(r, value)) return NULL;
  *out_product = find_product(r, entry, rheos__rule_input(r, reshape, 0), 1, at);
  if (*out_product != NULL && (is_conv(*out_product) || reshape->level != entry->level)) {
    *out_product = NULL;
  }
  return *out_product != NULL ? reshape : NULL;
}

static rheos_status *take_in_before(rheos__rewriter *r, rheos__entry *entry, rheos__entry *reshape,
                                    const rheos__entry *product, const epilogue *e) {
  const int32_t place = (int32_t)(reshape - r->plan->entries);
  if (!can_take_in(r, reshape, product, e) ||
      !rheos__rule_can_become(r, entry, &rheos__op_Reshape, reshape->attrs)) {
    return NULL;
  }
  for (int32_t i = 0; i < e->num_args; ++i) {
    if (r->producers[e->args[i]] >= place) return NULL;  // not there yet
  }
  const int32_t inputs[] = {reshape->first_value, rheos__rule_input(r, reshape, 1)};
  for (int32_t i = 0; i < e->num_args; ++i) ++r->num_uses[e->args[i]];  // while nobody holds them
  entry->id = reshape->id;
  RHEOS_TRY(rheos__rule_become(r, entry, &rheos__op_Reshape, reshape->attrs, inputs, 2));
  r->plan->origins[reshape->first_value] = r->plan->origins[product->first_value];
  RHEOS_TRY(take_in(r, reshape, product, e));
  for (int32_t i = 0; i < e->num_args; ++i) --r->num_uses[e->args[i]];
  return NULL;
}

static rheos_status *take_bias_before(rheos__rewriter *r, rheos__entry *entry) {
  const int32_t value = rheos__rule_input(r, entry, 0), bias = rheos__rule_input(r, entry, 1);
  const rheos__entry *product;
  rheos__entry *reshape = find_reshape(r, entry, value, STAGE_BIAS, &product);
  if (reshape == NULL || strcmp(format_of(entry), "NHWC") != 0) return NULL;
  const rheos_shape *shape = rheos__rule_shape(r, value);
  const int64_t channels = channels_of(r, product);
  if (shape->rank < 2 || shape->dims[shape->rank - 1] != channels ||
      !has_length(r, bias, channels)) {
    return NULL;
  }
  const epilogue e = {.name = "BiasAdd", .at = STAGE_BIAS, .args = {bias}, .num_args = 1};
  return take_in_before(r, entry, reshape, product, &e);
}

// ---- Biases and normalizations

static rheos_status *take_bias(rheos__rewriter *r, rheos__entry *entry) {
  const int32_t value = rheos__rule_input(r, entry, 0), bias = rheos__rule_input(r, entry, 1);
  const rheos__entry *product = find_product(r, entry, value, 1, STAGE_BIAS);
  if (product == NULL) return take_bias_before(r, entry);
  if (!same_format(product, entry) || !has_length(r, bias, channels_of(r, product))) return NULL;
  const epilogue e = {.name = "BiasAdd", .at = STAGE_BIAS, .args = {bias}, .num_args = 1};
  return take_in(r, entry, product, &e);
}

static rheos_status *take_norm(rheos__rewriter *r, rheos__entry *entry) {
  const int32_t value = rheos__rule_input(r, entry, 0);
  const rheos__entry *product = find_product(r, entry, value, 1, STAGE_BIAS);
  if (product == NULL || !is_conv(product) || !same_format(product, entry) ||
      rheos__attr_bool(entry->attrs, "is_training") || rheos__rule_dtype(r, value) != RHEOS_FLOAT) {
    return NULL;
  }
  for (int32_t i = 1; i < entry->num_outputs; ++i) {
    if (r->num_uses[entry->first_value + i] > 0) return NULL;
  }
  epilogue e = {.name = "FusedBatchNorm",
                .at = STAGE_BIAS,
                .num_args = 4,
                .attr = "epsilon",
                .number = rheos__attr_float(entry->attrs, "epsilon")};
  if (!(e.number >= 0)) return NULL;
  for (int32_t i = 0; i < e.num_args; ++i) {
    e.args[i] = rheos__rule_input(r, entry, i + 1);
    if (!has_length(r, e.args[i], channels_of(r, product)) ||
        rheos__rule_dtype(r, e.args[i]) != RHEOS_FLOAT) {
      return NULL;
    }
  }
  return take_in(r, entry, product, &e);
}

// A sum is a bias if one side is a vector for the last dimension, else the tensor beside a product.
static rheos_status *take_sum(rheos__rewriter *r, rheos__entry *entry) {
  for (int32_t side = 0; side < 2; ++side) {
    const int32_t value = rheos__rule_input(r, entry, side);
    const int32_t other = rheos__rule_input(r, entry, 1 - side);
    const rheos__entry *product = find_product(r, entry, value, 1, STAGE_SIDE);
    if (product == NULL) continue;
    const rheos_shape *shape = rheos__rule_shape(r, value);
    epilogue e = {.name = "Add", .at = STAGE_SIDE, .args = {other}, .num_args = 1};
    if (stage_of(product) < STAGE_BIAS && strcmp(format_of(product), "NHWC") == 0 &&
        has_length(r, other, channels_of(r, product))) {
      e.name = "BiasAdd";
    } else if (!rheos_shape_is_known(shape) ||
               !rheos_shape_equal(shape, rheos__rule_shape(r, other))) {
      continue;
    }
    return take_in(r, entry, product, &e);
  }
  return NULL;
}

// ---- Activations

static rheos_status *take_activation(rheos__rewriter *r, rheos__entry *entry) {
  const int32_t value = rheos__rule_input(r, entry, 0);
  const rheos__entry *product = find_product(r, entry, value, 1, STAGE_ACTIVATION);
  rheos__entry *reshape = NULL;
  if (product == NULL) reshape = find_reshape(r, entry, value, STAGE_ACTIVATION, &product);
  if (product == NULL) return NULL;
  epilogue e = {.name = entry->signature->op->name, .at = STAGE_ACTIVATION};
  if (entry->signature->op == &rheos__op_LeakyRelu) {
    e.attr = "leakyrelu_alpha";
    e.number = rheos__attr_float(entry->attrs, "alpha");
  }
  if (reshape != NULL) return take_in_before(r, entry, reshape, product, &e);
  return take_in(r, entry, product, &e);
}

static bool is_float(const rheos__rewriter *r, int32_t value, float number) {
  const rheos_tensor *t = rheos__rule_constant(r, value);
  return t != NULL && t->dtype == RHEOS_FLOAT && t->shape.rank == 0 &&
         *(const float *)t->data == number;
}

// The value that entry `value` puts together with the number, -1 if it is no such thing or others
// need it too.
static int32_t with_number(rheos__rewriter *r, int32_t value, const rheos__op_def *op,
                           const rheos__op_def *or_op, float number, int32_t side) {
  const rheos__entry *entry = rheos__rule_source(r, value, op);
  if (entry == NULL) entry = rheos__rule_source(r, value, or_op);
  if (entry == NULL || !rheos__rule_used_once(r, value)) return -1;
  if (!is_float(r, rheos__rule_input(r, entry, side), number)) return -1;
  return rheos__rule_input(r, entry, 1 - side);
}

// The x of 1 + f(...), -1 if `value` is no such thing.
static int32_t inside(rheos__rewriter *r, int32_t value, const rheos__op_def *f) {
  const int32_t call = with_number(r, value, &rheos__op_Add, &rheos__op_AddV2, 1, 0);
  const rheos__entry *entry = call >= 0 ? rheos__rule_source(r, call, f) : NULL;
  return entry != NULL && rheos__rule_used_once(r, call) ? rheos__rule_input(r, entry, 0) : -1;
}

static bool is_exact_gelu(rheos__rewriter *r, int32_t x, int32_t factor) {
  const int32_t scaled = inside(r, factor, &rheos__op_Erf);
  if (scaled < 0) return false;
  return with_number(r, scaled, &rheos__op_RealDiv, &rheos__op_Div, 1.4142135623730951F, 1) == x;
}

static bool is_approximate_gelu(rheos__rewriter *r, int32_t x, int32_t factor) {
  const int32_t scaled = inside(r, factor, &rheos__op_Tanh);
  if (scaled < 0) return false;
  const int32_t sum =
      with_number(r, scaled, &rheos__op_Mul, &rheos__op_Mul, 0.7978845608028654F, 0);
  const rheos__entry *entry = sum >= 0 ? rheos__rule_source(r, sum, &rheos__op_AddV2) : NULL;
  if (sum >= 0 && entry == NULL) entry = rheos__rule_source(r, sum, &rheos__op_Add);
  if (entry == NULL || !rheos__rule_used_once(r, sum) || rheos__rule_input(r, entry, 0) != x) {
    return false;
  }
  const int32_t cube =
      with_number(r, rheos__rule_input(r, entry, 1), &rheos__op_Mul, &rheos__op_Mul, 0.044715F, 0);
  return cube >= 0 && with_number(r, cube, &rheos__op_Pow, &rheos__op_Pow, 3, 1) == x;
}

// tf.nn.gelu: (0.5 x) (1 + erf(x / sqrt(2))), or with tanh.
static rheos_status *take_gelu(rheos__rewriter *r, rheos__entry *entry) {
  const int32_t half = rheos__rule_input(r, entry, 0), factor = rheos__rule_input(r, entry, 1);
  const int32_t x = with_number(r, half, &rheos__op_Mul, &rheos__op_Mul, 0.5F, 0);
  if (x < 0) return NULL;
  epilogue e = {.name = "GeluExact", .at = STAGE_ACTIVATION};
  const rheos__entry *product = find_product(r, entry, x, 2, STAGE_ACTIVATION);
  if (product != NULL && is_exact_gelu(r, x, factor)) return take_in(r, entry, product, &e);
  product = find_product(r, entry, x, 3, STAGE_ACTIVATION);
  if (product == NULL || !is_approximate_gelu(r, x, factor)) return NULL;
  e.name = "GeluApproximate";
  return take_in(r, entry, product, &e);
}

#define RULE(op, function) {&rheos__op_##op, #function, function, RHEOS__RULES_REMAPPING, false}

const rheos__rule rheos__fused_rules[] = {
    RULE(Add, take_sum),
    RULE(AddV2, take_sum),
    RULE(BiasAdd, take_bias),
    RULE(BiasAddV1, take_bias),
    RULE(Elu, take_activation),
    RULE(FusedBatchNorm, take_norm),
    RULE(FusedBatchNormV2, take_norm),
    RULE(FusedBatchNormV3, take_norm),
    RULE(LeakyRelu, take_activation),
    RULE(Mul, take_gelu),
    RULE(Relu, take_activation),
    RULE(Relu6, take_activation),
    RULE(Sigmoid, take_activation),
    RULE(Tanh, take_activation),
    {0},
};
