// The device's kernels for each op.
#include "device/opencl/kernels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/opencl/along.h"
#include "device/opencl/argmax_grad.h"
#include "device/opencl/bands.h"
#include "device/opencl/bisect.h"
#include "device/opencl/card_product.h"
#include "device/opencl/check.h"
#include "device/opencl/color.h"
#include "device/opencl/conv.h"
#include "device/opencl/crop.h"
#include "device/opencl/cross.h"
#include "device/opencl/dilation.h"
#include "device/opencl/einsum.h"
#include "device/opencl/fake_quant.h"
#include "device/opencl/index.h"
#include "device/opencl/loop.h"
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
  const char *name;
  const rheos__op_def *op;
  const rheos__prepare_fn *kernels;  // NULL-terminated; NULL: they are absent
} op_kernels;

static const op_kernels table[] = {
#define KERNELS(op, kernels) {#op, &rheos__op_##op, kernels},
#define ABSENT(op) {#op, &rheos__op_##op, NULL},
#include "device/opencl/kernels.def"
#undef KERNELS
#undef ABSENT
};

static int by_name(const void *name, const void *entry) {
  return strcmp(name, ((const op_kernels *)entry)->name);
}

static const op_kernels *find(const rheos__op_def *op) {
  const op_kernels *found =
      bsearch(op->name, table, sizeof table / sizeof *table, sizeof *table, by_name);
  return found != NULL && found->op == op ? found : NULL;
}

const rheos__prepare_fn *rheos__cl_kernels_of(const rheos__op_def *op) {
  const op_kernels *found = find(op);
  return found != NULL ? found->kernels : NULL;
}

bool rheos__cl_knows(const rheos__op_def *op) { return find(op) != NULL; }

// What says how much is computed of what, along which dimensions, and from which seed: of
// TensorFlow's arguments that are called so no kernel here reads anything on the card, but two.
bool rheos__cl_takes_on_host(const rheos__device *device, const rheos__op_def *op,
                             const rheos__arg *arg) {
  static const char names[] =
      " alg axis begin concat_dim counter depth dim dimension dims end filter_sizes "
      "input_sizes k key ksize maxval minval multiples num_segments orig_input_shape "
      "paddings perm reduction_indices seed shape size size_splits split_dim strides ";
  char name[32];
  (void)device;
  const rheos__prepare_fn *kernels = rheos__cl_kernels_of(op);
  if (kernels == roll || kernels == slice_assign) return false;
  const int size = snprintf(name, sizeof name, " %s ", arg->name);
  return size < (int)sizeof name && strstr(names, name) != NULL;
}
