// The cross product of vectors of three elements.
#include "ops/kit/elementwise.h"
#include "ops/kit/op_util.h"

// `in` are a and b, `n` counts vectors.
#define CROSS_LOOP(S, unused)                                                                     \
  static void cross_##S(const void *va, const void *vb, void *vc, int64_t n) {                    \
    typedef rheos__wrapping_##S wrapping;                                                         \
    const rheos__stored_##S *a = va, *b = vb;                                                     \
    rheos__stored_##S *c = vc;                                                                    \
    for (int64_t i = 0; i < 3 * n; i += 3) {                                                      \
      for (int d = 0; d < 3; ++d) {                                                               \
        const int64_t e = i + (d + 1) % 3, f = i + (d + 2) % 3;                                   \
        const wrapping left = (wrapping)RHEOS__LOAD_##S(a[e]) * (wrapping)RHEOS__LOAD_##S(b[f]);  \
        const wrapping right = (wrapping)RHEOS__LOAD_##S(a[f]) * (wrapping)RHEOS__LOAD_##S(b[e]); \
        c[i + d] = RHEOS__STORE_##S(left - right);                                                \
      }                                                                                           \
    }                                                                                             \
  }
RHEOS__NUMBERS(CROSS_LOOP, 0)

typedef void (*cross_loop)(const void *a, const void *b, void *c, int64_t n);
#define CROSS_ENTRY(S, unused) [RHEOS__DTYPE_##S] = cross_##S,
static const cross_loop loops[RHEOS__NUM_DTYPES] = {RHEOS__NUMBERS(CROSS_ENTRY, 0)};

typedef struct cross_state {
  cross_loop loop;
  int64_t num_vectors;
} cross_state;

static rheos_status *run_cross(const void *state, const void *const *inputs, void *const *outputs,
                               void *scratch, int64_t first, int64_t last) {
  (void)scratch, (void)first, (void)last;
  const cross_state *s = state;
  s->loop(inputs[0], inputs[1], outputs[0], s->num_vectors);
  return NULL;
}

static rheos_status *prepare_cross(rheos__prepare *p) {
  cross_state *s = RHEOS_NEW_STATE(p, cross_state);
  if (s == NULL) return rheos__out_of_memory();
  s->loop = loops[p->input_dtypes[0]];
  if (s->loop == NULL) return rheos__no_kernel(p, p->input_dtypes[0]);
  s->num_vectors = rheos_shape_num_elements(&p->output_shapes[0]) / 3;
  p->run = run_cross;
  return NULL;
}

static rheos_status *shape_cross(rheos__infer *c) {
  RHEOS_TRY(rheos__shape_merge_2(c));
  rheos_shape *shape = &c->output_shapes[0];
  if (shape->rank < 0) return NULL;
  if (shape->rank == 0) return RHEOS_INVALID("Shape must be at least rank 1 but is rank 0");
  int64_t *last = &shape->dims[shape->rank - 1];
  if (*last >= 0 && *last != 3) {
    return RHEOS_INVALID("Dimension must be 3 but is %lld", (long long)*last);
  }
  *last = 3;
  return NULL;
}

static void gradient_cross(rheos__grad *g) {
  const rheos_output grad = rheos__grad_dense(g, 0);
  rheos__grad_set(g, 0, rheos__op_2(g->scope, "Cross", g->inputs[1], grad));
  rheos__grad_set(g, 1, rheos__op_2(g->scope, "Cross", grad, g->inputs[0]));
}

const rheos__op_def rheos__op_Cross = {
    .name = "Cross",
    .signature =
        "a: T, b: T -> product: T; T: {float, double, int32, uint8, int16, int8, int64, "
        "bfloat16, uint16, half, uint32, uint64}",
    .doc = "The cross products of the vectors of three elements in the last dimension.",
    .shape = shape_cross,
    .gradient = gradient_cross,
    .prepare = prepare_cross,
};
