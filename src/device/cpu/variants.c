// The CPU's faster kernels, best first, for the ops that have any.
#include <string.h>

#include "device/cpu/batch_norm_float.h"
#include "device/cpu/conv_float.h"
#include "device/cpu/conv_onednn.h"
#include "device/cpu/cpu.h"
#include "device/cpu/dense.h"
#include "device/cpu/matmul.h"
#include "device/cpu/pool_float.h"
#include "device/cpu/products.h"
#include "device/cpu/softmax_float.h"
#include "ops/nn/fused.h"

typedef struct op_variants {
  const char *op;
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
    {"AvgPool", pool},
    {"AvgPool3D", pool},
    {"AvgPool3DGrad", pool},
    {"AvgPoolGrad", pool},
    {"BatchMatMul", products},
    {"BatchMatMulV2", products},
    {"Conv2D", conv_2d},
    {"Conv2DBackpropFilter", conv_by_filter},
    {"Conv2DBackpropInput", conv_2d_by_input},
    {"Conv3D", conv},
    {"Conv3DBackpropFilterV2", conv_by_filter},
    {"Conv3DBackpropInputV2", conv_by_input},
    {"DepthwiseConv2dNative", conv},
    {"DepthwiseConv2dNativeBackpropFilter", conv_by_filter},
    {"DepthwiseConv2dNativeBackpropInput", conv_by_input},
    {"Einsum", products},
    {"FusedBatchNorm", batch_norm},
    {"FusedBatchNormGrad", batch_norm},
    {"FusedBatchNormGradV2", batch_norm},
    {"FusedBatchNormGradV3", batch_norm},
    {"FusedBatchNormV2", batch_norm},
    {"FusedBatchNormV3", batch_norm},
    {"LogSoftmax", softmax},
    {"MatMul", matmul},
    {"MaxPool", pool},
    {"MaxPool3D", pool},
    {"MaxPool3DGrad", pool},
    {"MaxPoolGrad", pool},
    {"MaxPoolGradV2", pool},
    {"MaxPoolV2", pool},
    {"Softmax", softmax},
    {"SoftmaxCrossEntropyWithLogits", softmax},
    {"SparseSoftmaxCrossEntropyWithLogits", softmax},
    {"_FusedConv2D", fused_conv},
    {"_FusedMatMul", fused_matmul},
};

const rheos__prepare_fn *rheos__cpu_variants(const rheos__op_def *op) {
  for (size_t i = 0; i < sizeof table / sizeof table[0]; ++i) {
    if (op->name[0] == table[i].op[0] && strcmp(op->name, table[i].op) == 0) {
      return table[i].kernels;
    }
  }
  return NULL;
}
