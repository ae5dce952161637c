// AddN and AccumulateNV2: the sum of a list of tensors of one shape, in the order of the list.
// Of two or three, as gradients mostly have, it is an elementwise op; of more it is made in tiles
// that stay in the cache.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3")
#endif
#include "ops/kit/elementwise.h"
#include "tensor/variant.h"
#include "ops/kit/op_util.h"

enum { TILE_ELEMENTS = 2048 };

typedef struct add_n {
  rheos__loop add;
  int32_t count;
  int64_t num_elements;
  int64_t element_bytes;
} add_n;

static rheos_status *run(const void *state, const void *const *inputs, void *const *outputs,
                         void *scratch, int64_t first_unit, int64_t last_unit) {
  const add_n *a = state;
  (void)scratch;
  int64_t end = last_unit * RHEOS__UNIT_ELEMENTS;
  if (end > a->num_elements) end = a->num_elements;
  for (int64_t i = first_unit * RHEOS__UNIT_ELEMENTS; i < end; i += TILE_ELEMENTS) {
    const int64_t n = end - i < TILE_ELEMENTS ? end - i : TILE_ELEMENTS;
    const int64_t at = i * a->element_bytes;
    char *out = (char *)outputs[0] + at;
    const void *in[] = {(const char *)inputs[0] + at, (const char *)inputs[1] + at};
    a->add(in, out, n, 0, 0);
    for (int32_t k = 2; k < a->count; k++) {
      in[0] = out;
      in[1] = (const char *)inputs[k] + at;
      a->add(in, out, n, 0, 0);
    }
  }
  return NULL;
}

// Three numbers, rounded after each sum like two by two.
#define ADD_3(S, qualifier)                                                                      \
  qualifier static int add_3_##S(const void *const *in, void *out, int64_t n, unsigned repeated, \
                                 double parameter) {                                             \
    RHEOS__LOOP_TYPES(S);                                                                        \
    const rheos__stored_##S *xs = in[0], *ys = in[1], *ws = in[2];                               \
    rheos__stored_##S *zs = out;                                                                 \
    RHEOS__INDEPENDENT for (int64_t i = 0; i < n; i++) {                                         \
      const C x = RHEOS__LOAD_##S(xs[i]), y = RHEOS__LOAD_##S(ys[i]);                            \
      const rheos__stored_##S two = RHEOS__STORE_##S(W(x) + W(y));                               \
      const C sum = RHEOS__LOAD_##S(two), w = RHEOS__LOAD_##S(ws[i]);                            \
      zs[i] = RHEOS__STORE_##S(W(sum) + W(w));                                                   \
    }                                                                                            \
    return 0;                                                                                    \
  }
RHEOS__FLOATS(ADD_3, RHEOS__WIDE)
RHEOS__INTEGERS(ADD_3, )
RHEOS__COMPLEXES(ADD_3, )

#define ADD_3_ENTRY(S, unused) [RHEOS__DTYPE_##S] = add_3_##S,
static const rheos__loop add_3[RHEOS__NUM_DTYPES] = {RHEOS__NUMBERS(ADD_3_ENTRY, )
                                                         RHEOS__COMPLEXES(ADD_3_ENTRY, )};

static rheos_status *compute_variants(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                      rheos_tensor **outputs) {
  (void)step;
  const int32_t count = *(const int32_t *)state;
  rheos_tensor *sum = NULL;
  RHEOS_TRY(rheos__variants_add(inputs[0], inputs[1], 0, &sum));
  for (int32_t k = 2; k < count; k++) {
    rheos_tensor *so_far = sum;
    rheos_status *status = rheos__variants_add(so_far, inputs[k], 0, &sum);
    rheos_tensor_unref(so_far);
    if (status != NULL) return status;
  }
  outputs[0] = sum;
  return NULL;
}

static rheos_status *prepare_variants(rheos__prepare *p) {
  int32_t *count = RHEOS_NEW_STATE(p, int32_t);
  if (count == NULL) return rheos__out_of_memory();
  *count = p->num_inputs;
  p->compute = compute_variants;
  return NULL;
}

static rheos_status *prepare_AddN(rheos__prepare *p) {
  if (p->num_inputs == 1) {
    p->alias_input = 0;
    return NULL;
  }
  if (p->input_dtypes[0] == RHEOS_VARIANT) return prepare_variants(p);
  const rheos__loop add = rheos__binary_loop(RHEOS__ADD, p->input_dtypes[0]);
  if (add == NULL) return rheos__no_kernel(p, p->input_dtypes[0]);
  if (p->num_inputs == 2) return rheos__prepare_elementwise(p, add, 1, 0, NULL);
  if (p->num_inputs == 3 && add_3[p->input_dtypes[0]] != NULL) {
    return rheos__prepare_elementwise(p, add_3[p->input_dtypes[0]], 2, 0, NULL);
  }
  add_n *a = RHEOS_NEW_STATE(p, add_n);
  if (a == NULL) return rheos__out_of_memory();
  a->add = add;
  a->count = p->num_inputs;
  a->num_elements = rheos_shape_num_elements(&p->output_shapes[0]);
  a->element_bytes = (int64_t)rheos_dtype_size(p->output_dtypes[0]);
  p->run = run;
  p->num_units = (a->num_elements + RHEOS__UNIT_ELEMENTS - 1) / RHEOS__UNIT_ELEMENTS;
  if (p->num_units == 0) p->num_units = 1;
  // A later operand could be the same tensor as the first.
  p->reuse_input = -1;
  p->flops = rheos__flops((double)a->num_elements * (p->num_inputs - 1));
  return NULL;
}

static rheos_status *add_n_shape(rheos__infer *c) {
  rheos_shape *out = &c->output_shapes[0];
  *out = c->input_shapes[0];
  for (int32_t k = 1; k < c->num_inputs; k++) {
    const rheos_shape so_far = *out;
    RHEOS_TRY(rheos__shape_merge(&so_far, &c->input_shapes[k], out));
  }
  return NULL;
}

static void grad_add_n(rheos__grad *g) {
  const rheos_output dz = rheos__grad_dense(g, 0);
  for (int32_t k = 0; k < g->num_inputs; k++) rheos__grad_set(g, k, dz);
}

const rheos__op_def rheos__op_AddN = {
    .name = "AddN",
    .signature = "inputs: N * T -> sum: T; N: int >= 1; T: {number, variant}",
    .doc = "The sum of all `inputs`, which have one shape.",
    .flags = RHEOS_OP_COMMUTATIVE | RHEOS_OP_AGGREGATE | RHEOS_OP_TAKES_VARIANTS,
    .shape = add_n_shape,
    .gradient = grad_add_n,
    .prepare = prepare_AddN,
};

// The attribute says the shape beforehand; the inputs must agree with it.
static rheos_status *accumulate_n_shape(rheos__infer *c) {
  const rheos_shape declared = rheos__attr_shape(c->attrs, "shape");
  RHEOS_TRY(add_n_shape(c));
  const rheos_shape sum = c->output_shapes[0];
  return rheos__shape_merge(&declared, &sum, &c->output_shapes[0]);
}

const rheos__op_def rheos__op_AccumulateNV2 = {
    .name = "AccumulateNV2",
    .signature = "inputs: N * T -> sum: T; N: int >= 1; T: number; shape: shape",
    .doc = "The sum of all `inputs`, which have the shape `shape`.",
    .flags = RHEOS_OP_COMMUTATIVE | RHEOS_OP_AGGREGATE,
    .shape = accumulate_n_shape,
    .gradient = grad_add_n,
    .prepare = prepare_AddN,
};
