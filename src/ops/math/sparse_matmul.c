// SparseMatMul: a product of two dense matrices that skips zeros of the first. Either may be
// bfloat16.
#include <string.h>

#include "ops/image/resize.h"
#include "ops/kit/array_util.h"
#include "ops/kit/op_util.h"

typedef struct product {
  int64_t rows, inner, columns;
  int64_t a_row, a_inner, b_inner, b_column;  // elements from one to the next
  rheos__load_floats_fn load_a, load_b;
} product;

// A unit is a row of the result.
static rheos_status *run_product(const void *state, const void *const *inputs, void *const *outputs,
                                 void *scratch, int64_t first, int64_t last) {
  const product *p = state;
  (void)scratch;
  if (p->rows == 0 || p->columns == 0) return NULL;
  for (int64_t i = first; i < last; ++i) {
    float *row = (float *)outputs[0] + i * p->columns;
    memset(row, 0, (size_t)p->columns * sizeof *row);
    for (int64_t k = 0; k < p->inner; ++k) {
      float a, b;
      p->load_a(inputs[0], i * p->a_row + k * p->a_inner, 1, &a);
      if (a == 0) continue;
      for (int64_t j = 0; j < p->columns; ++j) {
        p->load_b(inputs[1], k * p->b_inner + j * p->b_column, 1, &b);
        row[j] += a * b;
      }
    }
  }
  return NULL;
}

static rheos_status *prepare(rheos__prepare *p) {
  product *s = RHEOS_NEW_STATE(p, product);
  if (s == NULL) return rheos__out_of_memory();
  const bool turn_a = rheos__attr_bool(p->attrs, "transpose_a");
  const bool turn_b = rheos__attr_bool(p->attrs, "transpose_b");
  const rheos_shape *a = &p->input_shapes[0], *b = &p->input_shapes[1];
  *s = (product){
      .rows = a->dims[turn_a],
      .inner = a->dims[!turn_a],
      .columns = b->dims[!turn_b],
      .a_row = turn_a ? 1 : a->dims[1],
      .a_inner = turn_a ? a->dims[1] : 1,
      .b_inner = turn_b ? 1 : b->dims[1],
      .b_column = turn_b ? b->dims[1] : 1,
      .load_a = rheos__load_floats_of(p->input_dtypes[0]),
      .load_b = rheos__load_floats_of(p->input_dtypes[1]),
  };
  p->flops = rheos__flops(2.0 * (double)s->rows * (double)s->inner * (double)s->columns);
  rheos__resize_answer(p, run_product, s->rows);
  return NULL;
}

static rheos_status *shape(rheos__infer *c) {
  rheos_shape a, b;
  const bool turn_a = rheos__attr_bool(c->attrs, "transpose_a");
  const bool turn_b = rheos__attr_bool(c->attrs, "transpose_b");
  RHEOS_TRY(rheos__infer_rank(c, 0, 2, &a));
  RHEOS_TRY(rheos__infer_rank(c, 1, 2, &b));
  const int64_t inner_a = a.dims[!turn_a], inner_b = b.dims[turn_b];
  if (inner_a >= 0 && inner_b >= 0 && inner_a != inner_b) {
    return RHEOS_INVALID("Matrix size incompatible: inner dimensions %lld and %lld",
                         (long long)inner_a, (long long)inner_b);
  }
  c->output_shapes[0] = RHEOS_SHAPE(a.dims[turn_a], b.dims[!turn_b]);
  return NULL;
}

static rheos_output product_node(rheos_scope *s, rheos_output a, rheos_output b, bool turn_a,
                                 bool turn_b, bool a_is_sparse, bool b_is_sparse,
                                 rheos_dtype dtype) {
  const rheos_output inputs[] = {a, b};
  const rheos_attr attrs[] = {
      rheos_attr_bool("transpose_a", turn_a), rheos_attr_bool("transpose_b", turn_b),
      rheos_attr_bool("a_is_sparse", a_is_sparse), rheos_attr_bool("b_is_sparse", b_is_sparse)};
  const rheos_operation node = rheos__op_n(s, "SparseMatMul", NULL, inputs, 2, attrs, 4);
  if (node.graph == NULL) return (rheos_output){0};
  return rheos__cast_to(s, rheos_operation_output(node, 0), dtype);
}

static void gradient(rheos__grad *g) {
  rheos_scope *s = g->scope;
  const bool turn_a = rheos__attr_bool(g->attrs, "transpose_a");
  const bool turn_b = rheos__attr_bool(g->attrs, "transpose_b");
  const bool a_sparse = rheos__attr_bool(g->attrs, "a_is_sparse");
  const bool b_sparse = rheos__attr_bool(g->attrs, "b_is_sparse");
  const rheos_output grad = rheos__grad_dense(g, 0), a = g->inputs[0], b = g->inputs[1];
  if (!rheos__is_some(grad)) return;
  const rheos_dtype of_a = rheos_output_dtype(a), of_b = rheos_output_dtype(b);
  rheos__grad_set(g, 0,
                  turn_a ? product_node(s, b, grad, turn_b, true, b_sparse, false, of_a)
                         : product_node(s, grad, b, false, !turn_b, false, b_sparse, of_a));
  rheos__grad_set(g, 1,
                  turn_b ? product_node(s, grad, a, true, turn_a, false, a_sparse, of_b)
                         : product_node(s, a, grad, !turn_a, false, a_sparse, false, of_b));
}

const rheos__op_def rheos__op_SparseMatMul = {
    .name = "SparseMatMul",
    .signature =
        "a: Ta, b: Tb -> product: float; transpose_a: bool = false; transpose_b: bool = false; "
        "a_is_sparse: bool = false; b_is_sparse: bool = false; Ta: {float, bfloat16} = float; "
        "Tb: {float, bfloat16} = float",
    .doc = "The product of two dense matrices of which many elements are 0.",
    .shape = shape,
    .gradient = gradient,
    .prepare = prepare,
};
