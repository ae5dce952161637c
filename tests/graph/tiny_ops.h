// A small op table of this folder's own, so that the graph is tested without the ops: a program
// that includes this is linked with this table instead of the library's.
#ifndef RHEOS_TESTS_GRAPH_TINY_OPS_H
#define RHEOS_TESTS_GRAPH_TINY_OPS_H

#include "graph/op_def.h"

static rheos_status *tiny_const_shape(rheos__infer *c) {
  c->output_shapes[0] = rheos__attrs_find(c->attrs, "value")->tensor->shape;
  return NULL;
}

static rheos_status *tiny_attr_shape(rheos__infer *c) {
  c->output_shapes[0] = rheos__attr_shape(c->attrs, "shape");
  return NULL;
}

static rheos_status *tiny_value_shape(rheos__infer *c) {
  return rheos__infer_shape_value(c, c->num_inputs - 1, &c->output_shapes[0]);
}

static rheos_status *tiny_shape_shape(rheos__infer *c) {
  for (int32_t i = 0; i < c->num_outputs; i++) {
    c->output_shapes[i] = (rheos_shape){.rank = 1, .dims = {c->input_shapes[i].rank}};
  }
  return NULL;
}

static rheos_status *tiny_pack_shape(rheos__infer *c) {
  if (c->input_shapes[0].rank == 0) {
    c->output_shapes[0] = (rheos_shape){.rank = 1, .dims = {c->num_inputs}};
  }
  return NULL;
}

static rheos_status *tiny_matrix_shape(rheos__infer *c) {
  rheos_shape a;
  RHEOS_TRY(rheos__infer_rank(c, 0, 2, &a));
  c->output_shapes[0] = a;
  return NULL;
}

#define TINY_OPS(OP)                                                                              \
  OP(Const, "-> output: dtype; value: tensor; dtype: type", tiny_const_shape)                     \
  OP(Placeholder, "-> output: dtype; dtype: type; shape: shape = ?", tiny_attr_shape)             \
  OP(Add, "x: T, y: T -> z: T; T: {float, double, int32}", rheos__shape_broadcast_2)              \
  OP(Identity, "input: T -> output: T; T: type", rheos__shape_unchanged)                          \
  OP(Cast, "x: SrcT -> y: DstT; SrcT: type; DstT: type", rheos__shape_unchanged)                  \
  OP(NoOp, "->", NULL)                                                                            \
  OP(Transpose, "a: T -> b: T; T: number", tiny_matrix_shape)                                     \
  OP(Shape, "input: T -> output: out_type; T: type; out_type: index = int32", tiny_shape_shape)   \
  OP(Pack, "values: N * T -> output: T; N: int >= 1; T: type; axis: int = 0", tiny_pack_shape)    \
  OP(ConcatV2,                                                                                    \
     "values: N * T, axis: Tidx -> output: T; N: int >= 2; T: type; "                             \
     "Tidx: index = int32",                                                                       \
     NULL)                                                                                        \
  OP(Slice, "input: T, begin: Index, size: Index -> output: T; T: type; Index: index", NULL)      \
  OP(StridedSlice,                                                                                \
     "input: T, begin: Index, end: Index, strides: Index -> output: T; T: type; "                 \
     "Index: index; begin_mask: int = 0; end_mask: int = 0; "                                     \
     "ellipsis_mask: int = 0; new_axis_mask: int = 0; shrink_axis_mask: int = 0",                 \
     NULL)                                                                                        \
  OP(Reshape, "tensor: T, shape: Tshape -> output: T; T: type; Tshape: index = int32",            \
     tiny_value_shape)                                                                            \
  OP(RandomStandardNormal, "shape: T -> output: dtype; seed: int = 0; dtype: floating; T: index", \
     tiny_value_shape)                                                                            \
  OP(VariableV2, "-> ref: Ref(dtype); shape: shape; dtype: type; container: string = \"\"",       \
     tiny_attr_shape)                                                                             \
  OP(Assign,                                                                                      \
     "ref: Ref(T), value: T -> output_ref: Ref(T); T: type; "                                     \
     "validate_shape: bool = true",                                                               \
     rheos__shape_unchanged)                                                                      \
  OP(Split, "split_dim: int32, value: T -> output: num_split * T; num_split: int >= 1; T: type",  \
     NULL)                                                                                        \
  OP(IdentityN, "input: T -> output: T; T: list(type) >= 1", NULL)                                \
  OP(Merge2, "a: N * float, b: N * float -> c: N * float; N: int", NULL)                          \
  OP(Pair, "a: Ta, b: Tb -> ; Ta: list(type); Tb: list(type)", NULL)                              \
  OP(Pool,                                                                                        \
     "x: T -> y: T; T: floating = float; ksize: list(int) >= 4; "                                 \
     "padding: {\"SAME\", \"VALID\"}; rate: float = 1.5; "                                        \
     "names: list(string) = [\"a\", \"b\"]; "                                                     \
     "dims: list(int) = [1, -2]; none: list(type) = []; area: shape = {2, -1}; "                  \
     "ends: string = \"\\t\\n\\\"",                                                               \
     NULL)

#define TINY_DEF(op, text, shape_fn)       \
  static const rheos__op_def tiny_##op = { \
      .name = #op,                         \
      .signature = text,                   \
      .doc = "",                           \
      .shape = shape_fn,                   \
  };
TINY_OPS(TINY_DEF)
#undef TINY_DEF

#define TINY_ENTRY(name, signature, shape) &tiny_##name,
const rheos__op_def *const rheos__op_table[] = {TINY_OPS(TINY_ENTRY) NULL};
#undef TINY_ENTRY
const int32_t rheos__op_table_size =
    (int32_t)(sizeof rheos__op_table / sizeof rheos__op_table[0]) - 1;

#endif  // RHEOS_TESTS_GRAPH_TINY_OPS_H
