"""Names from before TensorFlow 1.0, for programs that nobody has touched since.

They are found as attributes but not listed by dir(): a program that looks there for what its
TensorFlow has sees 1.x.
"""

from rheos.framework import dtypes
from rheos.framework.op_call import op1
from rheos.ops.array import array_ops, rearrange_ops
from rheos.ops.io import summary_ops
from rheos.ops.linalg import linalg_ops
from rheos.ops.math import math_ops
from rheos.training.optimizers import Optimizer


def mul(x, y, name=None):
    """x * y

    >>> print(tf.multiply([1, 2], [3, 4]).numpy())
    [3 8]
    """
    return op1("Mul", name, x, y)


def sub(x, y, name=None):
    """x - y

    >>> print(tf.subtract([5, 7], 2).numpy())
    [3 5]
    """
    return op1("Sub", name, x, y)


def neg(x, name=None):
    """-x"""
    return op1("Neg", name, x)


def inv(x, name=None):
    """1 / x"""
    return op1("Reciprocal", name, x)


def pack(values, axis=0, name="pack"):
    """The old name of stack."""
    return array_ops.stack(values, axis, name)


def unpack(value, num=None, axis=0, name="unpack"):
    """The old name of unstack."""
    return array_ops.unstack(value, num, axis, name)


def select(condition, t, e, name=None):
    """The old name of where with three arguments."""
    return array_ops.where(condition, t, e, name)


def batch_matmul(x, y, adj_x=False, adj_y=False, name=None):
    """The old name of matmul for batches of matrices; adj_x, adj_y: take their adjoints."""
    return math_ops.matmul(x, y, adjoint_a=adj_x, adjoint_b=adj_y, name=name)


def complex_abs(x, name=None):
    """The old name of abs for complex numbers."""
    return math_ops.abs(x, name)


def listdiff(x, y, out_idx=None, name=None):
    """The old name of setdiff1d."""
    return rearrange_ops.setdiff1d(x, y, out_idx or dtypes.int32, name)


def scalar_summary(tags, values, collections=None, name=None):
    """Numbers, each under its tag; tags are not made unique."""
    return summary_ops.raw("ScalarSummary", collections, name, tags, values)


def histogram_summary(tag, values, collections=None, name=None):
    """How values are distributed, under a tag that is not made unique."""
    return summary_ops.raw("HistogramSummary", collections, name, tag, values)


def image_summary(tag, tensor, max_images=3, collections=None, name=None):
    """Up to max_images images, under a tag that is not made unique."""
    return summary_ops.raw("ImageSummary", collections, name, tag, tensor, max_images=max_images)


def audio_summary(tag, tensor, sample_rate, max_outputs=3, collections=None, name=None):
    """Up to max_outputs pieces of sound, under a tag that is not made unique."""
    return summary_ops.raw(
        "AudioSummaryV2", collections, name, tag, tensor, sample_rate, max_outputs=max_outputs
    )


def merge_summary(inputs, collections=None, name=None):
    """The old name of summary.merge."""
    return summary_ops.merge(inputs, collections, name)


def merge_all_summaries(key="summaries"):
    """The old name of summary.merge_all."""
    return summary_ops.merge_all(key)


def concat_v2(values, axis, name="concat_v2"):
    """The name that concat had while its first argument was still the axis."""
    return array_ops.concat(values, axis, name)


NAMES = {
    "concat_v2": concat_v2,
    "scalar_summary": scalar_summary,
    "histogram_summary": histogram_summary,
    "image_summary": image_summary,
    "audio_summary": audio_summary,
    "merge_summary": merge_summary,
    "merge_all_summaries": merge_all_summaries,
    "mul": mul,
    "sub": sub,
    "neg": neg,
    "inv": inv,
    "pack": pack,
    "unpack": unpack,
    "select": select,
    "batch_matmul": batch_matmul,
    "batch_matrix_inverse": linalg_ops.matrix_inverse,
    "batch_cholesky": linalg_ops.cholesky,
    "complex_abs": complex_abs,
    "listdiff": listdiff,
    "Optimizer": Optimizer,
}
