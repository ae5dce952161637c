// Nodes that gradients of linear algebra are made of: all work on batches of any rank.
#include "ops/linalg/linalg_grad.h"

#include "ops/kit/array_grad.h"

rheos_output rheos__matmul_adj(rheos_scope *s, rheos_output a, bool adjoint_a, rheos_output b,
                               bool adjoint_b) {
  const rheos_output inputs[] = {a, b};
  const rheos_attr attrs[] = {rheos_attr_bool("adj_x", adjoint_a),
                              rheos_attr_bool("adj_y", adjoint_b)};
  return rheos__named_n(s, "BatchMatMulV2", "MatMul", inputs, 2, attrs, 2);
}

rheos_output rheos__adjoint(rheos_scope *s, rheos_output x) {
  if (!rheos__is_some(x)) return x;
  static const char equation[] = "...ij->...ji";
  const rheos_attr attr = rheos_attr_string("equation", equation, sizeof equation - 1);
  const rheos_output turned = rheos__named_n(s, "Einsum", "matrix_transpose", &x, 1, &attr, 1);
  const bool conjugates = rheos_dtype_is_complex(rheos_output_dtype(x));
  return conjugates ? rheos__op_1(s, "Conj", turned) : turned;
}

rheos_output rheos__band_part(rheos_scope *s, rheos_output x, int32_t lower, int32_t upper) {
  const rheos_output below = rheos__const_scalar(s, RHEOS_INT64, lower, "num_lower");
  return rheos__op_3(s, "MatrixBandPart", x, below,
                     rheos__const_scalar(s, RHEOS_INT64, upper, "num_upper"));
}

rheos_output rheos__lower_half_diagonal(rheos_scope *s, rheos_output x) {
  const rheos_output lower = rheos__band_part(s, x, -1, 0);
  const rheos_output half =
      rheos__op_with_number(s, "Mul", "mul", rheos__band_part(s, x, 0, 0), 0.5);
  return rheos__py_sub(s, lower, half);
}

rheos_output rheos__triangular_solve_node(rheos_scope *s, rheos_output matrix, rheos_output rhs,
                                          bool lower, bool adjoint) {
  const rheos_output inputs[] = {matrix, rhs};
  const rheos_attr attrs[] = {rheos_attr_bool("lower", lower), rheos_attr_bool("adjoint", adjoint)};
  return rheos__named_n(s, "MatrixTriangularSolve", NULL, inputs, 2, attrs, 2);
}

rheos_output rheos__negated(rheos_scope *s, rheos_output x) { return rheos__op_1(s, "Neg", x); }

rheos_output rheos__safe_reciprocal(rheos_scope *s, rheos_output x) {
  const rheos_output square = rheos__py_mul(s, x, x);
  return rheos__py_div(s, x, rheos__op_with_number(s, "AddV2", "add", square, 1e-20));
}

rheos_output rheos__columns(rheos_scope *s, rheos_output x, int32_t first, int32_t last) {
  const int32_t begin[] = {0, first}, end[] = {0, last}, ones[] = {1, 1};
  const rheos_output inputs[] = {x, rheos__const_ints(s, begin, 2, "stack"),
                                 rheos__const_ints(s, end, 2, "stack_1"),
                                 rheos__const_ints(s, ones, 2, "stack_2")};
  const rheos_attr masks[] = {rheos_attr_int("ellipsis_mask", 1),
                              rheos_attr_int("end_mask", last == 0 ? 2 : 0)};
  return rheos__named_n(s, "StridedSlice", "strided_slice", inputs, 4, masks, 2);
}
