// How near the answers of an op have to be to the recorded ones: the one place that says so, but
// for the cases that carry a `tolerance` of their own.
#include <string.h>

#include "ops/op_harness.h"

// What one rounding of a result may cost. `least` stands for an absolute error where nothing
// cancels.
typedef struct dtype_tolerance {
  double relative, least;
} dtype_tolerance;

static dtype_tolerance tolerance_of_dtype(rheos_dtype dtype) {
  switch (dtype) {
    case RHEOS_FLOAT:
    case RHEOS_COMPLEX64: return (dtype_tolerance){2e-6, 1e-36};
    case RHEOS_DOUBLE:
    case RHEOS_COMPLEX128: return (dtype_tolerance){1e-13, 1e-300};
    case RHEOS_HALF: return (dtype_tolerance){2e-3, 1e-7};
    case RHEOS_BFLOAT16: return (dtype_tolerance){1.6e-2, 1e-36};
    default: return (dtype_tolerance){0, 0};
  }
}

// Ops whose floating-point answer is the correctly rounded one, or no arithmetic at all.
static const char *const exact_ops[] = {
    "Abs",
    "Add",
    "AddV2",
    "ArgMax",
    "ArgMin",
    "Assign",
    "AssignAdd",
    "AssignSub",
    "BiasAdd",
    "BroadcastTo",
    "Cast",
    "Ceil",
    "ClipByValue",
    "Concat",
    "ConcatV2",
    "Div",
    "DivNoNan",
    "DynamicPartition",
    "DynamicStitch",
    "ExpandDims",
    "Fill",
    "Floor",
    "Gather",
    "GatherNd",
    "GatherV2",
    "Identity",
    "InvertPermutation",
    "MatrixBandPart",
    "Max",
    "Maximum",
    "Min",
    "Minimum",
    "Mul",
    "Neg",
    "OneHot",
    "OnesLike",
    "Pack",
    "Pad",
    "PadV2",
    "RandomShuffle",
    "RandomUniform",
    "RealDiv",
    "Relu",
    "Relu6",
    "ReluGrad",
    "Relu6Grad",
    "Reshape",
    "ReverseV2",
    "Round",
    "ScatterAdd",
    "ScatterNd",
    "ScatterSub",
    "ScatterUpdate",
    "Select",
    "SelectV2",
    "Sign",
    "Slice",
    "Split",
    "SplitV",
    "Square",
    "SquaredDifference",
    "Squeeze",
    "StridedSlice",
    "StridedSliceGrad",
    "Sub",
    "Tile",
    "TopKV2",
    "Transpose",
    "Unique",
    "Unpack",
    "Where",
    "ZerosLike",
};

// Ops that add up terms which may cancel, or whose answer passes through 0.
static const char *const cancelling_ops[] = {
    "AddN",
    "AdjustContrastv2",
    "ApplyAdadelta",
    "ApplyAdagrad",
    "ApplyAdam",
    "ApplyMomentum",
    "ApplyRMSProp",
    "BatchMatMul",
    "BatchMatMulV2",
    "BiasAddGrad",
    "Cos",
    "Cross",
    "Cumsum",
    "Einsum",
    "LogSoftmax",
    "MatMul",
    "Mean",
    "RandomStandardNormal",
    "RsqrtGrad",
    "SegmentSum",
    "Sin",
    "SoftmaxCrossEntropyWithLogits",
    "SparseSoftmaxCrossEntropyWithLogits",
    "Sum",
    "Tan",
    "TruncatedNormal",
    "UnsortedSegmentSum",
};

static bool listed(const char *op, const char *const *list, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (strcmp(list[i], op) == 0) return true;
  }
  return false;
}
#define LISTED(op, list) listed(op, list, sizeof(list) / sizeof *(list))

op_tolerance op_tolerance_of(const op_case *c, rheos_dtype dtype) {
  dtype_tolerance base = tolerance_of_dtype(dtype);
  if (c->tolerance >= 0) {
    return (op_tolerance){base.relative * c->tolerance, base.relative * c->tolerance};
  }
  if (LISTED(c->op, exact_ops)) return (op_tolerance){0, 0};
  return (op_tolerance){base.relative, LISTED(c->op, cancelling_ops) ? base.relative : base.least};
}
