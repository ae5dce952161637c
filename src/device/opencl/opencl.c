// The table of the device's functions, and its kernels for each op.
#include "device/opencl/opencl.h"

#include <stdio.h>
#include <string.h>

#include "device/opencl/along.h"
#include "device/opencl/bands.h"
#include "device/opencl/bisect.h"
#include "device/opencl/argmax_grad.h"
#include "device/opencl/check.h"
#include "device/opencl/color.h"
#include "device/opencl/conv.h"
#include "device/opencl/crop.h"
#include "device/opencl/cross.h"
#include "device/opencl/dilation.h"
#include "device/opencl/einsum.h"
#include "device/opencl/fake_quant.h"
#include "device/opencl/index.h"
#include "device/opencl/launch.h"
#include "device/opencl/loop.h"
#include "device/opencl/card_product.h"
#include "device/opencl/lrn.h"
#include "device/opencl/mirror.h"
#include "device/opencl/move.h"
#include "device/opencl/norm.h"
#include "device/opencl/overlay.h"
#include "device/opencl/pool.h"
#include "device/opencl/random.h"
#include "device/opencl/rearrange.h"
#include "device/opencl/recurrent.h"
#include "device/opencl/reduce.h"
#include "device/opencl/resize.h"
#include "device/opencl/rounding.h"
#include "device/opencl/scaling.h"
#include "device/opencl/scatter.h"
#include "device/opencl/segment.h"
#include "device/opencl/softmax.h"
#include "device/opencl/update.h"

#define RHEOS_OP(op) extern const rheos__op_def rheos__op_##op;
#include "ops/ops.def"
#undef RHEOS_OP

// Of ops that may give their input's bytes another shape.
static rheos_status *prepare_alias(rheos__prepare *p) {
  RHEOS_TRY(p->op->prepare(p));
  if (p->alias_input >= 0) return NULL;
  if (p->release != NULL) p->release(p->state);
  p->decline_reason = "it does more than give its input another shape";
  return NULL;
}

// Of ops that hand tensors on, whatever memory these lie in.
static rheos_status *prepare_own(rheos__prepare *p) { return p->op->prepare(p); }

static const rheos__prepare_fn elementwise[] = {rheos__cl_prepare_elementwise, NULL};
static const rheos__prepare_fn reduction[] = {rheos__cl_prepare_reduction, NULL};
static const rheos__prepare_fn copy[] = {rheos__cl_prepare_copy, NULL};
static const rheos__prepare_fn join[] = {rheos__cl_prepare_join, NULL};
static const rheos__prepare_fn take_apart[] = {rheos__cl_prepare_take_apart, NULL};
static const rheos__prepare_fn pad[] = {rheos__cl_prepare_pad, NULL};
static const rheos__prepare_fn fill[] = {rheos__cl_prepare_fill, NULL};
static const rheos__prepare_fn constant_fill[] = {rheos__cl_prepare_constant_fill, NULL};
static const rheos__prepare_fn matmul[] = {rheos__cl_prepare_matmul, NULL};
static const rheos__prepare_fn batch_matmul[] = {rheos__cl_prepare_batch_matmul, NULL};
static const rheos__prepare_fn einsum[] = {rheos__cl_prepare_einsum, NULL};
static const rheos__prepare_fn apply[] = {rheos__cl_prepare_apply, NULL};
static const rheos__prepare_fn assign_add[] = {rheos__cl_prepare_assign_add, NULL};
static const rheos__prepare_fn assign_sub[] = {rheos__cl_prepare_assign_sub, NULL};
static const rheos__prepare_fn own[] = {prepare_own, NULL};
static const rheos__prepare_fn conv[] = {rheos__cl_prepare_conv, NULL};
static const rheos__prepare_fn conv_by_input[] = {rheos__cl_prepare_conv_by_input, NULL};
static const rheos__prepare_fn conv_by_filter[] = {rheos__cl_prepare_conv_by_filter, NULL};
static const rheos__prepare_fn softmax[] = {rheos__cl_prepare_softmax, NULL};
static const rheos__prepare_fn batch_norm[] = {rheos__cl_prepare_batch_norm, NULL};
static const rheos__prepare_fn batch_norm_grad[] = {rheos__cl_prepare_batch_norm_grad, NULL};
static const rheos__prepare_fn pool[] = {rheos__cl_prepare_pool, NULL};
static const rheos__prepare_fn gather[] = {rheos__cl_prepare_gather, NULL};
static const rheos__prepare_fn one_hot[] = {rheos__cl_prepare_one_hot, NULL};
static const rheos__prepare_fn arg_extreme[] = {rheos__cl_prepare_arg_extreme, NULL};
static const rheos__prepare_fn uniform[] = {rheos__cl_prepare_uniform, NULL};
static const rheos__prepare_fn full_int[] = {rheos__cl_prepare_full_int, NULL};
static const rheos__prepare_fn normal[] = {rheos__cl_prepare_normal, NULL};
static const rheos__prepare_fn truncated[] = {rheos__cl_prepare_truncated, NULL};
static const rheos__prepare_fn scatter[] = {rheos__cl_prepare_scatter, NULL};
static const rheos__prepare_fn scatter_nd[] = {rheos__cl_prepare_scatter_nd, NULL};
static const rheos__prepare_fn tensor_scatter[] = {rheos__cl_prepare_tensor_scatter, NULL};
static const rheos__prepare_fn segment[] = {rheos__cl_prepare_segment, NULL};
static const rheos__prepare_fn sparse_segment[] = {rheos__cl_prepare_sparse_segment, NULL};
static const rheos__prepare_fn unsorted_segment[] = {rheos__cl_prepare_unsorted_segment, NULL};
static const rheos__prepare_fn gather_nd[] = {rheos__cl_prepare_gather_nd, NULL};
static const rheos__prepare_fn variable_gather[] = {rheos__cl_prepare_variable_gather, NULL};
static const rheos__prepare_fn scan[] = {rheos__cl_prepare_scan, NULL};
static const rheos__prepare_fn top_k[] = {rheos__cl_prepare_top_k, NULL};
static const rheos__prepare_fn spread[] = {rheos__cl_prepare_spread, NULL};
static const rheos__prepare_fn slice_assign[] = {rheos__cl_prepare_slice_assign, NULL};
static const rheos__prepare_fn bands[] = {rheos__cl_prepare_bands, NULL};
static const rheos__prepare_fn bands_part[] = {rheos__cl_prepare_bands_part, NULL};
static const rheos__prepare_fn bands_set[] = {rheos__cl_prepare_bands_set, NULL};
static const rheos__prepare_fn lower_bound[] = {rheos__cl_prepare_lower_bound, NULL};
static const rheos__prepare_fn upper_bound[] = {rheos__cl_prepare_upper_bound, NULL};
static const rheos__prepare_fn bucketize[] = {rheos__cl_prepare_bucketize, NULL};
static const rheos__prepare_fn cross[] = {rheos__cl_prepare_cross, NULL};
static const rheos__prepare_fn band[] = {rheos__cl_prepare_band, NULL};
static const rheos__prepare_fn mirror_pad[] = {rheos__cl_prepare_mirror_pad, NULL};
static const rheos__prepare_fn mirror_pad_grad[] = {rheos__cl_prepare_mirror_pad_grad, NULL};
static const rheos__prepare_fn roll[] = {rheos__cl_prepare_roll, NULL};
static const rheos__prepare_fn reverse_sequence[] = {rheos__cl_prepare_reverse_sequence, NULL};
static const rheos__prepare_fn space_to_batch[] = {rheos__cl_prepare_space_to_batch, NULL};
static const rheos__prepare_fn batch_to_space[] = {rheos__cl_prepare_batch_to_space, NULL};
static const rheos__prepare_fn patches[] = {rheos__cl_prepare_patches, NULL};
static const rheos__prepare_fn resize[] = {rheos__cl_prepare_resize, NULL};
static const rheos__prepare_fn resize_grad[] = {rheos__cl_prepare_resize_grad, NULL};
static const rheos__prepare_fn color[] = {rheos__cl_prepare_color, NULL};
static const rheos__prepare_fn contrast[] = {rheos__cl_prepare_contrast, NULL};
static const rheos__prepare_fn crop[] = {rheos__cl_prepare_crop, NULL};
static const rheos__prepare_fn crop_grad_image[] = {rheos__cl_prepare_crop_grad_image, NULL};
static const rheos__prepare_fn crop_grad_boxes[] = {rheos__cl_prepare_crop_grad_boxes, NULL};
static const rheos__prepare_fn lrn[] = {rheos__cl_prepare_lrn, NULL};
static const rheos__prepare_fn lrn_grad[] = {rheos__cl_prepare_lrn_grad, NULL};
static const rheos__prepare_fn dilation[] = {rheos__cl_prepare_dilation, NULL};
static const rheos__prepare_fn dilation_by_input[] = {rheos__cl_prepare_dilation_by_input, NULL};
static const rheos__prepare_fn dilation_by_filter[] = {rheos__cl_prepare_dilation_by_filter, NULL};
static const rheos__prepare_fn check_numerics[] = {rheos__cl_prepare_check_numerics, NULL};
static const rheos__prepare_fn fake_quant[] = {rheos__cl_prepare_fake_quant, NULL};
static const rheos__prepare_fn rounding[] = {rheos__cl_prepare_rounding, NULL};
static const rheos__prepare_fn rounding_grad[] = {rheos__cl_prepare_rounding_grad, NULL};
static const rheos__prepare_fn argmax_grad[] = {rheos__cl_prepare_argmax_grad, NULL};
static const rheos__prepare_fn scaling[] = {rheos__cl_prepare_scaling, NULL};
static const rheos__prepare_fn scaling_grad[] = {rheos__cl_prepare_scaling_grad, NULL};
static const rheos__prepare_fn add_n[] = {rheos__cl_prepare_add_n, NULL};
static const rheos__prepare_fn lstm[] = {rheos__cl_prepare_lstm, NULL};
static const rheos__prepare_fn lstm_cell_grad[] = {rheos__cl_prepare_lstm_cell_grad, NULL};
static const rheos__prepare_fn lstm_grad[] = {rheos__cl_prepare_lstm_grad, NULL};
static const rheos__prepare_fn gru[] = {rheos__cl_prepare_gru, NULL};
static const rheos__prepare_fn gru_grad[] = {rheos__cl_prepare_gru_grad, NULL};
static const rheos__prepare_fn aliases[] = {prepare_alias, NULL};

typedef struct op_kernels {
  const rheos__op_def *op;
  const rheos__prepare_fn *kernels;  // NULL-terminated
} op_kernels;

static const op_kernels table[] = {
    {&rheos__op_Abs, elementwise},
    {&rheos__op_Acos, elementwise},
    {&rheos__op_Acosh, elementwise},
    {&rheos__op_Add, elementwise},
    {&rheos__op_AddN, add_n},
    {&rheos__op_AddV2, elementwise},
    {&rheos__op_AdjustContrast, contrast},
    {&rheos__op_AdjustContrastv2, contrast},
    {&rheos__op_AdjustHue, color},
    {&rheos__op_AdjustSaturation, color},
    {&rheos__op_All, reduction},
    {&rheos__op_Any, reduction},
    {&rheos__op_ApplyAdaMax, apply},
    {&rheos__op_ApplyAdadelta, apply},
    {&rheos__op_ApplyAdagrad, apply},
    {&rheos__op_ApplyAdagradDA, apply},
    {&rheos__op_ApplyAdagradV2, apply},
    {&rheos__op_ApplyAdam, apply},
    {&rheos__op_ApplyAddSign, apply},
    {&rheos__op_ApplyCenteredRMSProp, apply},
    {&rheos__op_ApplyFtrl, apply},
    {&rheos__op_ApplyFtrlV2, apply},
    {&rheos__op_ApplyGradientDescent, apply},
    {&rheos__op_ApplyMomentum, apply},
    {&rheos__op_ApplyPowerSign, apply},
    {&rheos__op_ApplyProximalAdagrad, apply},
    {&rheos__op_ApplyProximalGradientDescent, apply},
    {&rheos__op_ApplyRMSProp, apply},
    {&rheos__op_ApproximateEqual, elementwise},
    {&rheos__op_ArgMax, arg_extreme},
    {&rheos__op_ArgMin, arg_extreme},
    {&rheos__op_Asin, elementwise},
    {&rheos__op_Asinh, elementwise},
    {&rheos__op_Assign, own},
    {&rheos__op_AssignAdd, assign_add},
    {&rheos__op_AssignAddVariableOp, assign_add},
    {&rheos__op_AssignSub, assign_sub},
    {&rheos__op_AssignSubVariableOp, assign_sub},
    {&rheos__op_AssignVariableOp, own},
    {&rheos__op_Atan, elementwise},
    {&rheos__op_Atan2, elementwise},
    {&rheos__op_Atanh, elementwise},
    {&rheos__op_AvgPool, pool},
    {&rheos__op_AvgPool3D, pool},
    {&rheos__op_AvgPool3DGrad, pool},
    {&rheos__op_AvgPoolGrad, pool},
    {&rheos__op_BatchMatMul, batch_matmul},
    {&rheos__op_BatchMatMulV2, batch_matmul},
    {&rheos__op_BatchMatrixBandPart, band},
    {&rheos__op_BatchMatrixDiag, spread},
    {&rheos__op_BatchMatrixDiagPart, copy},
    {&rheos__op_BatchMatrixSetDiag, spread},
    {&rheos__op_BatchToSpace, batch_to_space},
    {&rheos__op_BatchToSpaceND, batch_to_space},
    {&rheos__op_BesselI0, elementwise},
    {&rheos__op_BesselI0e, elementwise},
    {&rheos__op_BesselI1, elementwise},
    {&rheos__op_BesselI1e, elementwise},
    {&rheos__op_BesselK0, elementwise},
    {&rheos__op_BesselK0e, elementwise},
    {&rheos__op_BesselK1, elementwise},
    {&rheos__op_BesselK1e, elementwise},
    {&rheos__op_Betainc, elementwise},
    {&rheos__op_BiasAdd, elementwise},
    {&rheos__op_BiasAddGrad, reduction},
    {&rheos__op_BiasAddV1, elementwise},
    {&rheos__op_Bitcast, aliases},
    {&rheos__op_BitwiseAnd, elementwise},
    {&rheos__op_BitwiseOr, elementwise},
    {&rheos__op_BitwiseXor, elementwise},
    {&rheos__op_BlockLSTM, lstm},
    {&rheos__op_BlockLSTMGrad, lstm_grad},
    {&rheos__op_BlockLSTMGradV2, lstm_grad},
    {&rheos__op_BlockLSTMV2, lstm},
    {&rheos__op_BroadcastTo, copy},
    {&rheos__op_Bucketize, bucketize},
    {&rheos__op_Cast, elementwise},
    {&rheos__op_Ceil, elementwise},
    {&rheos__op_CheckNumerics, check_numerics},
    {&rheos__op_CheckNumericsV2, check_numerics},
    {&rheos__op_ClipByValue, elementwise},
    {&rheos__op_Concat, join},
    {&rheos__op_ConcatV2, join},
    {&rheos__op_Conv2D, conv},
    {&rheos__op_Conv2DBackpropFilter, conv_by_filter},
    {&rheos__op_Conv2DBackpropInput, conv_by_input},
    {&rheos__op_Conv3D, conv},
    {&rheos__op_Conv3DBackpropFilter, conv_by_filter},
    {&rheos__op_Conv3DBackpropFilterV2, conv_by_filter},
    {&rheos__op_Conv3DBackpropInput, conv_by_input},
    {&rheos__op_Conv3DBackpropInputV2, conv_by_input},
    {&rheos__op_Cos, elementwise},
    {&rheos__op_Cosh, elementwise},
    {&rheos__op_CropAndResize, crop},
    {&rheos__op_CropAndResizeGradBoxes, crop_grad_boxes},
    {&rheos__op_CropAndResizeGradImage, crop_grad_image},
    {&rheos__op_Cross, cross},
    {&rheos__op_Cumprod, scan},
    {&rheos__op_Cumsum, scan},
    {&rheos__op_CumulativeLogsumexp, scan},
    {&rheos__op_Dawsn, elementwise},
    {&rheos__op_DeepCopy, aliases},
    {&rheos__op_DepthToSpace, copy},
    {&rheos__op_DepthwiseConv2dNative, conv},
    {&rheos__op_DepthwiseConv2dNativeBackpropFilter, conv_by_filter},
    {&rheos__op_DepthwiseConv2dNativeBackpropInput, conv_by_input},
    {&rheos__op_Diag, spread},
    {&rheos__op_DiagPart, copy},
    {&rheos__op_Digamma, elementwise},
    {&rheos__op_Dilation2D, dilation},
    {&rheos__op_Dilation2DBackpropFilter, dilation_by_filter},
    {&rheos__op_Dilation2DBackpropInput, dilation_by_input},
    {&rheos__op_Div, elementwise},
    {&rheos__op_DivNoNan, elementwise},
    {&rheos__op_Einsum, einsum},
    {&rheos__op_Elu, elementwise},
    {&rheos__op_EluGrad, elementwise},
    {&rheos__op_EnsureShape, aliases},
    {&rheos__op_Equal, elementwise},
    {&rheos__op_Erf, elementwise},
    {&rheos__op_Erfc, elementwise},
    {&rheos__op_Erfinv, elementwise},
    {&rheos__op_EuclideanNorm, reduction},
    {&rheos__op_Exp, elementwise},
    {&rheos__op_ExpandDims, aliases},
    {&rheos__op_Expint, elementwise},
    {&rheos__op_Expm1, elementwise},
    {&rheos__op_ExtractImagePatches, patches},
    {&rheos__op_ExtractVolumePatches, patches},
    {&rheos__op_FakeQuantWithMinMaxArgs, fake_quant},
    {&rheos__op_FakeQuantWithMinMaxArgsGradient, fake_quant},
    {&rheos__op_FakeQuantWithMinMaxVars, fake_quant},
    {&rheos__op_FakeQuantWithMinMaxVarsGradient, fake_quant},
    {&rheos__op_FakeQuantWithMinMaxVarsPerChannel, fake_quant},
    {&rheos__op_FakeQuantWithMinMaxVarsPerChannelGradient, fake_quant},
    {&rheos__op_Fill, fill},
    {&rheos__op_Floor, elementwise},
    {&rheos__op_FloorDiv, elementwise},
    {&rheos__op_FloorMod, elementwise},
    {&rheos__op_FresnelCos, elementwise},
    {&rheos__op_FresnelSin, elementwise},
    {&rheos__op_FusedBatchNorm, batch_norm},
    {&rheos__op_FusedBatchNormGrad, batch_norm_grad},
    {&rheos__op_FusedBatchNormGradV2, batch_norm_grad},
    {&rheos__op_FusedBatchNormGradV3, batch_norm_grad},
    {&rheos__op_FusedBatchNormV2, batch_norm},
    {&rheos__op_FusedBatchNormV3, batch_norm},
    {&rheos__op_GRUBlockCell, gru},
    {&rheos__op_GRUBlockCellGrad, gru_grad},
    {&rheos__op_Gather, gather},
    {&rheos__op_GatherNd, gather_nd},
    {&rheos__op_GatherV2, gather},
    {&rheos__op_Greater, elementwise},
    {&rheos__op_GreaterEqual, elementwise},
    {&rheos__op_GuaranteeConst, aliases},
    {&rheos__op_HSVToRGB, color},
    {&rheos__op_Identity, aliases},
    {&rheos__op_Igamma, elementwise},
    {&rheos__op_IgammaGradA, elementwise},
    {&rheos__op_Igammac, elementwise},
    {&rheos__op_Inv, elementwise},
    {&rheos__op_InvGrad, elementwise},
    {&rheos__op_Invert, elementwise},
    {&rheos__op_IsFinite, elementwise},
    {&rheos__op_IsInf, elementwise},
    {&rheos__op_IsNan, elementwise},
    {&rheos__op_L2Loss, reduction},
    {&rheos__op_LRN, lrn},
    {&rheos__op_LRNGrad, lrn_grad},
    {&rheos__op_LSTMBlockCell, lstm},
    {&rheos__op_LSTMBlockCellGrad, lstm_cell_grad},
    {&rheos__op_LeakyRelu, elementwise},
    {&rheos__op_LeakyReluGrad, elementwise},
    {&rheos__op_LeftShift, elementwise},
    {&rheos__op_Less, elementwise},
    {&rheos__op_LessEqual, elementwise},
    {&rheos__op_Lgamma, elementwise},
    {&rheos__op_Log, elementwise},
    {&rheos__op_Log1p, elementwise},
    {&rheos__op_LogSoftmax, softmax},
    {&rheos__op_LogicalAnd, elementwise},
    {&rheos__op_LogicalNot, elementwise},
    {&rheos__op_LogicalOr, elementwise},
    {&rheos__op_LowerBound, lower_bound},
    {&rheos__op_MatMul, matmul},
    {&rheos__op_MatrixBandPart, band},
    {&rheos__op_MatrixDiag, spread},
    {&rheos__op_MatrixDiagPart, copy},
    {&rheos__op_MatrixDiagPartV2, bands_part},
    {&rheos__op_MatrixDiagPartV3, bands_part},
    {&rheos__op_MatrixDiagV2, bands},
    {&rheos__op_MatrixDiagV3, bands},
    {&rheos__op_MatrixSetDiag, spread},
    {&rheos__op_MatrixSetDiagV2, bands_set},
    {&rheos__op_MatrixSetDiagV3, bands_set},
    {&rheos__op_Max, reduction},
    {&rheos__op_MaxPool, pool},
    {&rheos__op_MaxPool3D, pool},
    {&rheos__op_MaxPool3DGrad, pool},
    {&rheos__op_MaxPool3DGradGrad, pool},
    {&rheos__op_MaxPoolGrad, pool},
    {&rheos__op_MaxPoolGradGrad, pool},
    {&rheos__op_MaxPoolGradGradV2, pool},
    {&rheos__op_MaxPoolGradV2, pool},
    {&rheos__op_MaxPoolGradWithArgmax, argmax_grad},
    {&rheos__op_MaxPoolV2, pool},
    {&rheos__op_MaxPoolWithArgmax, pool},
    {&rheos__op_Maximum, elementwise},
    {&rheos__op_Mean, reduction},
    {&rheos__op_Min, reduction},
    {&rheos__op_Minimum, elementwise},
    {&rheos__op_MirrorPad, mirror_pad},
    {&rheos__op_MirrorPadGrad, mirror_pad_grad},
    {&rheos__op_Mod, elementwise},
    {&rheos__op_Mul, elementwise},
    {&rheos__op_MulNoNan, elementwise},
    {&rheos__op_Ndtri, elementwise},
    {&rheos__op_Neg, elementwise},
    {&rheos__op_NextAfter, elementwise},
    {&rheos__op_NotEqual, elementwise},
    {&rheos__op_OneHot, one_hot},
    {&rheos__op_OnesLike, constant_fill},
    {&rheos__op_Pack, join},
    {&rheos__op_Pad, pad},
    {&rheos__op_PadV2, pad},
    {&rheos__op_Polygamma, elementwise},
    {&rheos__op_PopulationCount, elementwise},
    {&rheos__op_Pow, elementwise},
    {&rheos__op_PreventGradient, aliases},
    {&rheos__op_Prod, reduction},
    {&rheos__op_QuantizeAndDequantize, rounding},
    {&rheos__op_QuantizeAndDequantizeV2, rounding},
    {&rheos__op_QuantizeAndDequantizeV3, rounding},
    {&rheos__op_QuantizeAndDequantizeV4, rounding},
    {&rheos__op_QuantizeAndDequantizeV4Grad, rounding_grad},
    {&rheos__op_RGBToHSV, color},
    {&rheos__op_RandomStandardNormal, normal},
    {&rheos__op_RandomUniform, uniform},
    {&rheos__op_RandomUniformInt, uniform},
    {&rheos__op_RealDiv, elementwise},
    {&rheos__op_Reciprocal, elementwise},
    {&rheos__op_ReciprocalGrad, elementwise},
    {&rheos__op_Relu, elementwise},
    {&rheos__op_Relu6, elementwise},
    {&rheos__op_Relu6Grad, elementwise},
    {&rheos__op_ReluGrad, elementwise},
    {&rheos__op_Reshape, aliases},
    {&rheos__op_ResizeArea, resize},
    {&rheos__op_ResizeBicubic, resize},
    {&rheos__op_ResizeBicubicGrad, resize_grad},
    {&rheos__op_ResizeBilinear, resize},
    {&rheos__op_ResizeBilinearGrad, resize_grad},
    {&rheos__op_ResizeNearestNeighbor, resize},
    {&rheos__op_ResizeNearestNeighborGrad, resize_grad},
    {&rheos__op_ResourceApplyAdaMax, apply},
    {&rheos__op_ResourceApplyAdadelta, apply},
    {&rheos__op_ResourceApplyAdagrad, apply},
    {&rheos__op_ResourceApplyAdagradDA, apply},
    {&rheos__op_ResourceApplyAdagradV2, apply},
    {&rheos__op_ResourceApplyAdam, apply},
    {&rheos__op_ResourceApplyAdamWithAmsgrad, apply},
    {&rheos__op_ResourceApplyAddSign, apply},
    {&rheos__op_ResourceApplyCenteredRMSProp, apply},
    {&rheos__op_ResourceApplyFtrl, apply},
    {&rheos__op_ResourceApplyFtrlV2, apply},
    {&rheos__op_ResourceApplyGradientDescent, apply},
    {&rheos__op_ResourceApplyKerasMomentum, apply},
    {&rheos__op_ResourceApplyMomentum, apply},
    {&rheos__op_ResourceApplyPowerSign, apply},
    {&rheos__op_ResourceApplyProximalAdagrad, apply},
    {&rheos__op_ResourceApplyProximalGradientDescent, apply},
    {&rheos__op_ResourceApplyRMSProp, apply},
    {&rheos__op_ResourceGather, variable_gather},
    {&rheos__op_ResourceGatherNd, variable_gather},
    {&rheos__op_ResourceScatterAdd, scatter},
    {&rheos__op_ResourceScatterDiv, scatter},
    {&rheos__op_ResourceScatterMax, scatter},
    {&rheos__op_ResourceScatterMin, scatter},
    {&rheos__op_ResourceScatterMul, scatter},
    {&rheos__op_ResourceScatterNdAdd, scatter},
    {&rheos__op_ResourceScatterNdMax, scatter},
    {&rheos__op_ResourceScatterNdMin, scatter},
    {&rheos__op_ResourceScatterNdSub, scatter},
    {&rheos__op_ResourceScatterNdUpdate, scatter},
    {&rheos__op_ResourceScatterSub, scatter},
    {&rheos__op_ResourceScatterUpdate, scatter},
    {&rheos__op_ResourceSparseApplyAdadelta, apply},
    {&rheos__op_ResourceSparseApplyAdagrad, apply},
    {&rheos__op_ResourceSparseApplyAdagradDA, apply},
    {&rheos__op_ResourceSparseApplyAdagradV2, apply},
    {&rheos__op_ResourceSparseApplyCenteredRMSProp, apply},
    {&rheos__op_ResourceSparseApplyFtrl, apply},
    {&rheos__op_ResourceSparseApplyFtrlV2, apply},
    {&rheos__op_ResourceSparseApplyKerasMomentum, apply},
    {&rheos__op_ResourceSparseApplyMomentum, apply},
    {&rheos__op_ResourceSparseApplyProximalAdagrad, apply},
    {&rheos__op_ResourceSparseApplyProximalGradientDescent, apply},
    {&rheos__op_ResourceSparseApplyRMSProp, apply},
    {&rheos__op_ResourceStridedSliceAssign, slice_assign},
    {&rheos__op_Reverse, copy},
    {&rheos__op_ReverseSequence, reverse_sequence},
    {&rheos__op_ReverseV2, copy},
    {&rheos__op_RightShift, elementwise},
    {&rheos__op_Rint, elementwise},
    {&rheos__op_Roll, roll},
    {&rheos__op_Round, elementwise},
    {&rheos__op_Rsqrt, elementwise},
    {&rheos__op_RsqrtGrad, elementwise},
    {&rheos__op_ScaleAndTranslate, scaling},
    {&rheos__op_ScaleAndTranslateGrad, scaling_grad},
    {&rheos__op_ScatterAdd, scatter},
    {&rheos__op_ScatterDiv, scatter},
    {&rheos__op_ScatterMax, scatter},
    {&rheos__op_ScatterMin, scatter},
    {&rheos__op_ScatterMul, scatter},
    {&rheos__op_ScatterNd, scatter_nd},
    {&rheos__op_ScatterNdAdd, scatter},
    {&rheos__op_ScatterNdMax, scatter},
    {&rheos__op_ScatterNdMin, scatter},
    {&rheos__op_ScatterNdNonAliasingAdd, tensor_scatter},
    {&rheos__op_ScatterNdSub, scatter},
    {&rheos__op_ScatterNdUpdate, scatter},
    {&rheos__op_ScatterSub, scatter},
    {&rheos__op_ScatterUpdate, scatter},
    {&rheos__op_SegmentMax, segment},
    {&rheos__op_SegmentMean, segment},
    {&rheos__op_SegmentMin, segment},
    {&rheos__op_SegmentProd, segment},
    {&rheos__op_SegmentSum, segment},
    {&rheos__op_Select, elementwise},
    {&rheos__op_SelectV2, elementwise},
    {&rheos__op_Selu, elementwise},
    {&rheos__op_SeluGrad, elementwise},
    {&rheos__op_Sigmoid, elementwise},
    {&rheos__op_SigmoidGrad, elementwise},
    {&rheos__op_Sign, elementwise},
    {&rheos__op_Sin, elementwise},
    {&rheos__op_Sinh, elementwise},
    {&rheos__op_Slice, copy},
    {&rheos__op_Snapshot, aliases},
    {&rheos__op_Softmax, softmax},
    {&rheos__op_SoftmaxCrossEntropyWithLogits, softmax},
    {&rheos__op_Softplus, elementwise},
    {&rheos__op_SoftplusGrad, elementwise},
    {&rheos__op_Softsign, elementwise},
    {&rheos__op_SoftsignGrad, elementwise},
    {&rheos__op_SpaceToBatch, space_to_batch},
    {&rheos__op_SpaceToBatchND, space_to_batch},
    {&rheos__op_SpaceToDepth, copy},
    {&rheos__op_SparseApplyAdadelta, apply},
    {&rheos__op_SparseApplyAdagrad, apply},
    {&rheos__op_SparseApplyAdagradDA, apply},
    {&rheos__op_SparseApplyAdagradV2, apply},
    {&rheos__op_SparseApplyCenteredRMSProp, apply},
    {&rheos__op_SparseApplyFtrl, apply},
    {&rheos__op_SparseApplyFtrlV2, apply},
    {&rheos__op_SparseApplyMomentum, apply},
    {&rheos__op_SparseApplyProximalAdagrad, apply},
    {&rheos__op_SparseApplyProximalGradientDescent, apply},
    {&rheos__op_SparseApplyRMSProp, apply},
    {&rheos__op_SparseSegmentMeanWithNumSegments, sparse_segment},
    {&rheos__op_SparseSegmentSqrtNWithNumSegments, sparse_segment},
    {&rheos__op_SparseSegmentSumWithNumSegments, sparse_segment},
    {&rheos__op_SparseSoftmaxCrossEntropyWithLogits, softmax},
    {&rheos__op_Spence, elementwise},
    {&rheos__op_Split, take_apart},
    {&rheos__op_SplitV, take_apart},
    {&rheos__op_Sqrt, elementwise},
    {&rheos__op_SqrtGrad, elementwise},
    {&rheos__op_Square, elementwise},
    {&rheos__op_SquaredDifference, elementwise},
    {&rheos__op_Squeeze, aliases},
    {&rheos__op_StatelessRandomNormal, normal},
    {&rheos__op_StatelessRandomNormalV2, normal},
    {&rheos__op_StatelessRandomUniform, uniform},
    {&rheos__op_StatelessRandomUniformFullInt, full_int},
    {&rheos__op_StatelessRandomUniformFullIntV2, full_int},
    {&rheos__op_StatelessRandomUniformInt, uniform},
    {&rheos__op_StatelessRandomUniformIntV2, uniform},
    {&rheos__op_StatelessRandomUniformV2, uniform},
    {&rheos__op_StatelessTruncatedNormal, truncated},
    {&rheos__op_StatelessTruncatedNormalV2, truncated},
    {&rheos__op_StopGradient, aliases},
    {&rheos__op_StridedSlice, copy},
    {&rheos__op_StridedSliceAssign, slice_assign},
    {&rheos__op_StridedSliceGrad, spread},
    {&rheos__op_Sub, elementwise},
    {&rheos__op_Sum, reduction},
    {&rheos__op_Tan, elementwise},
    {&rheos__op_Tanh, elementwise},
    {&rheos__op_TanhGrad, elementwise},
    {&rheos__op_TensorScatterAdd, tensor_scatter},
    {&rheos__op_TensorScatterMax, tensor_scatter},
    {&rheos__op_TensorScatterMin, tensor_scatter},
    {&rheos__op_TensorScatterSub, tensor_scatter},
    {&rheos__op_TensorScatterUpdate, tensor_scatter},
    {&rheos__op_Tile, copy},
    {&rheos__op_TopK, top_k},
    {&rheos__op_TopKV2, top_k},
    {&rheos__op_Transpose, copy},
    {&rheos__op_TruncateDiv, elementwise},
    {&rheos__op_TruncateMod, elementwise},
    {&rheos__op_TruncatedNormal, truncated},
    {&rheos__op_Unpack, take_apart},
    {&rheos__op_UnsortedSegmentMax, unsorted_segment},
    {&rheos__op_UnsortedSegmentMin, unsorted_segment},
    {&rheos__op_UnsortedSegmentProd, unsorted_segment},
    {&rheos__op_UnsortedSegmentSum, unsorted_segment},
    {&rheos__op_UpperBound, upper_bound},
    {&rheos__op_VarHandleOp, own},
    {&rheos__op_Variable, own},
    {&rheos__op_VariableV2, own},
    {&rheos__op_Xdivy, elementwise},
    {&rheos__op_Xlog1py, elementwise},
    {&rheos__op_Xlogy, elementwise},
    {&rheos__op_ZerosLike, constant_fill},
    {&rheos__op_Zeta, elementwise},
};

static const rheos__prepare_fn *kernels_of(const rheos__op_def *op) {
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
    if (table[i].op == op) return table[i].kernels;
  }
  return NULL;
}

// Whether the card computes with the values, or may hold them at least. NULL: one that is only
// spoken of, where graphs are placed without it; it has all dtypes.
static bool is_of_numbers(const rheos__card *card, const rheos__attrs *attrs) {
  for (int32_t i = 0; attrs != NULL && i < attrs->count; i++) {
    const rheos_attr_value *value = &attrs->items[i].value;
    if (value->kind != RHEOS_ATTR_TYPE) continue;
    if (value->type == RHEOS_STRING || value->type == RHEOS_VARIANT ||
        value->type == RHEOS_RESOURCE || rheos_dtype_is_complex(value->type) ||
        (value->type == RHEOS_DOUBLE && card != NULL && !card->has_double)) {
      return false;
    }
  }
  return true;
}

static bool has_kernel(const rheos__device *device, const rheos__op_def *op,
                       const rheos__attrs *attrs) {
  // What keeps tensors needs no kernel.
  const unsigned kinds = RHEOS_OP_ANY_MEMORY | RHEOS_OP_CALLS;
  return ((op->flags & kinds) == RHEOS_OP_ANY_MEMORY || kernels_of(op) != NULL) &&
         is_of_numbers(rheos__card_of(device), attrs);
}

static bool has_floats(const rheos__arg *args, int32_t count) {
  for (int32_t i = 0; i < count; i++) {
    if (rheos_dtype_is_floating(args[i].dtype)) return true;
  }
  return false;
}

static bool is_of_floats(const rheos__op_def *op, const rheos__attrs *attrs) {
  for (int32_t i = 0; attrs != NULL && i < attrs->count; i++) {
    const rheos_attr_value *value = &attrs->items[i].value;
    if (value->kind == RHEOS_ATTR_TYPE && rheos_dtype_is_floating(value->type)) return true;
  }
  if ((op->flags & RHEOS_OP_ANY_MEMORY) != 0) return false;  // the flow of an array is no number
  const rheos__signature *s = rheos__signature_by_name(op->name);
  return s != NULL &&
         (has_floats(s->inputs, s->num_inputs) || has_floats(s->outputs, s->num_outputs));
}

// Of floats: whole numbers are mostly shapes and indices, which the host reads.
static bool prefers(const rheos__device *device, const rheos__op_def *op,
                    const rheos__attrs *attrs) {
  return has_kernel(device, op, attrs) && is_of_floats(op, attrs);
}

// What says how much is computed of what, along which dimensions, and from which seed: of
// TensorFlow's arguments that are called so no kernel here reads anything on the card, but two.
static bool takes_on_host(const rheos__device *device, const rheos__op_def *op,
                          const rheos__arg *arg) {
  static const char names[] =
      " alg axis begin concat_dim counter depth dim dimension dims end filter_sizes "
      "input_sizes k key ksize maxval minval multiples num_segments orig_input_shape "
      "paddings perm reduction_indices seed shape size size_splits split_dim strides ";
  char name[32];
  (void)device;
  const rheos__prepare_fn *kernels = kernels_of(op);
  if (kernels == roll || kernels == slice_assign) return false;
  const int size = snprintf(name, sizeof name, " %s ", arg->name);
  return size < (int)sizeof name && strstr(names, name) != NULL;
}

static rheos_status *finish(const rheos__device *device, rheos__segment *segment) {
  (void)device;
  if (rheos__fuses(segment->plan)) RHEOS_TRY(rheos__fuse(segment, &rheos__cl_fusing));
  return rheos__cl_finish_loops(segment);
}

static rheos_status *synchronize(const rheos__device *device) {
  rheos__card *card = rheos__card_of(device);
  RHEOS_TRY(rheos__card_check(card));
  return rheos__card_status(card, card->cl->clFinish(card->queue), "finishing a step");
}

// Drivers may keep what they are given until they are asked. Who fails here fails again where it
// is waited for.
static void flush(const rheos__device *device) {
  rheos__card *card = rheos__card_of(device);
  rheos_status *status = rheos__card_check(card);
  if (status == NULL) card->cl->clFlush(card->queue);
  rheos_status_free(status);
}

const rheos__device_kind rheos__opencl_kind = {
    .name = "GPU",
    .max_operands = RHEOS__LOOP_OPERANDS,
    .has_kernel = has_kernel,
    .prefers = prefers,
    .takes_on_host = takes_on_host,
    .variants = kernels_of,
    .finish = finish,
    .synchronize = synchronize,
    .flush = flush,
};
