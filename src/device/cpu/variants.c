// The CPU's faster kernels, best first, for the ops that have any.
#include "device/cpu/cpu.h"

#include "device/cpu/batch_norm_float.h"
#include "device/cpu/conv_float.h"
#include "device/cpu/conv_onednn.h"
#include "device/cpu/dense.h"
#include "device/cpu/matmul.h"
#include "device/cpu/pool_float.h"
#include "device/cpu/products.h"
#include "device/cpu/softmax_float.h"
#include "ops/nn/fused.h"

#define RHEOS_OP(op) extern const rheos__op_def rheos__op_##op;
#include "ops/ops.def"
#undef RHEOS_OP

typedef struct op_variants {
  const rheos__op_def *op;
  const rheos__prepare_fn *kernels;  // NULL-terminated
} op_variants;

static const rheos__prepare_fn matmul[] = {rheos__dense_prepare_matmul, rheos__matmul_prepare_blas,
                                           rheos__products_prepare_library, NULL};
static const rheos__prepare_fn products[] = {rheos__products_prepare_library, NULL};

static const rheos__prepare_fn fused_matmul[] = {rheos__dense_prepare_fused_matmul,
                                                 rheos__matmul_prepare_fused_blas,
                                                 rheos__prepare_fused_matmul_by_variants, NULL};
static const rheos__prepare_fn fused_conv[] = {rheos__conv_prepare_fused_float,
                                               rheos__prepare_fused_conv_by_variants, NULL};

static const rheos__prepare_fn conv[] = {rheos__conv_prepare_onednn, NULL};
static const rheos__prepare_fn conv_2d[] = {rheos__conv_prepare_float, rheos__conv_prepare_onednn,
                                            NULL};
static const rheos__prepare_fn conv_by_input[] = {rheos__conv_prepare_onednn_by_input, NULL};
static const rheos__prepare_fn conv_2d_by_input[] = {rheos__conv_prepare_float_by_input,
                                                     rheos__conv_prepare_onednn_by_input, NULL};
static const rheos__prepare_fn conv_by_filter[] = {rheos__conv_prepare_onednn_by_filter, NULL};

static const rheos__prepare_fn batch_norm[] = {rheos__batch_norm_prepare_float, NULL};
static const rheos__prepare_fn pool[] = {rheos__pool_prepare_float, NULL};
static const rheos__prepare_fn softmax[] = {rheos__softmax_prepare_float, NULL};

static const op_variants table[] = {
    {&rheos__op_AvgPool, pool},
    {&rheos__op_AvgPool3D, pool},
    {&rheos__op_AvgPool3DGrad, pool},
    {&rheos__op_AvgPoolGrad, pool},
    {&rheos__op_BatchMatMul, products},
    {&rheos__op_BatchMatMulV2, products},
    {&rheos__op_Conv2D, conv_2d},
    {&rheos__op_Conv2DBackpropFilter, conv_by_filter},
    {&rheos__op_Conv2DBackpropInput, conv_2d_by_input},
    {&rheos__op_Conv3D, conv},
    {&rheos__op_Conv3DBackpropFilterV2, conv_by_filter},
    {&rheos__op_Conv3DBackpropInputV2, conv_by_input},
    {&rheos__op_DepthwiseConv2dNative, conv},
    {&rheos__op_DepthwiseConv2dNativeBackpropFilter, conv_by_filter},
    {&rheos__op_DepthwiseConv2dNativeBackpropInput, conv_by_input},
    {&rheos__op_Einsum, products},
    {&rheos__op_FusedBatchNorm, batch_norm},
    {&rheos__op_FusedBatchNormGrad, batch_norm},
    {&rheos__op_FusedBatchNormGradV2, batch_norm},
    {&rheos__op_FusedBatchNormGradV3, batch_norm},
    {&rheos__op_FusedBatchNormV2, batch_norm},
    {&rheos__op_FusedBatchNormV3, batch_norm},
    {&rheos__op_LogSoftmax, softmax},
    {&rheos__op_MatMul, matmul},
    {&rheos__op_MaxPool, pool},
    {&rheos__op_MaxPool3D, pool},
    {&rheos__op_MaxPool3DGrad, pool},
    {&rheos__op_MaxPoolGrad, pool},
    {&rheos__op_MaxPoolGradV2, pool},
    {&rheos__op_MaxPoolV2, pool},
    {&rheos__op_Softmax, softmax},
    {&rheos__op_SoftmaxCrossEntropyWithLogits, softmax},
    {&rheos__op_SparseSoftmaxCrossEntropyWithLogits, softmax},
    {&rheos__op__FusedConv2D, fused_conv},
    {&rheos__op__FusedMatMul, fused_matmul},
};

const rheos__prepare_fn *rheos__cpu_variants(const rheos__op_def *op) {
  for (size_t i = 0; i < sizeof table / sizeof table[0]; ++i) {
    if (table[i].op == op) return table[i].kernels;
  }
  return NULL;
}
