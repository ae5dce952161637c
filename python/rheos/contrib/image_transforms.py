"""Images moved and turned: tf.contrib.image.

A projective transform is 8 numbers a0..b2, c0, c1: the output's pixel (x, y) is the input's at
((a0 x + a1 y + a2) / k, (b0 x + b1 y + b2) / k), k = c0 x + c1 y + 1.
"""

from rheos.framework import dtypes
from rheos.framework.constant_values import constant_value
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.graph import name_scope
from rheos.framework.op_call import op1
from rheos.ops.array import array_ops
from rheos.ops.array.constant_op import constant
from rheos.ops.math import math_ops

_DTYPES = frozenset(
    (dtypes.uint8, dtypes.int32, dtypes.int64, dtypes.float16, dtypes.float32, dtypes.float64)
)


def _batch(images):
    """The images as (batch, rows, columns, channels), and a function that undoes that."""
    if images.dtype.base_dtype not in _DTYPES:
        raise TypeError(f"Invalid dtype {images.dtype}.")
    rank = images.shape.ndims
    if rank is None:
        raise TypeError("image_or_images rank must be statically known")
    if rank == 2:
        return images[None, :, :, None], lambda result: result[0, :, :, 0]
    if rank == 3:
        return images[None], lambda result: result[0]
    if rank == 4:
        return images, lambda result: result
    raise TypeError("Images should have rank between 2 and 4.")


def _rows(value, name, what):
    """A tensor of one item or of many as a tensor of many."""
    tensor = convert_to_tensor(value, dtype=dtypes.float32, name=name)
    ranks = {"angles": (0, 1), "translations": (1, 2), "transforms": (1, 2)}[name]
    if tensor.shape.ndims is None:
        raise TypeError(f"{what} rank must be statically known")
    if tensor.shape.ndims not in ranks:
        raise TypeError(f"{name.capitalize()} should have rank {ranks[0]} or {ranks[1]}.")
    return tensor[None] if tensor.shape.ndims == ranks[0] else tensor


def rotate(images, angles, interpolation="NEAREST", name=None):
    """Images turned counterclockwise by angles in radians; black where there was no pixel.

    images: (batch, rows, columns, channels), or one image with or without channels. angles: one, or
    one an image. interpolation: "NEAREST" or "BILINEAR".
    """
    with name_scope(name, "rotate"):
        images = convert_to_tensor(images)
        batch, undo = _batch(images)
        sizes = math_ops.cast(array_ops.shape(batch)[1:3], dtypes.float32)
        transforms = angles_to_projective_transforms(angles, sizes[0:1], sizes[1:2])
        return undo(transform(batch, transforms, interpolation))


def translate(images, translations, interpolation="NEAREST", name=None):
    """Images moved by (dx, dy), one for all or one an image; the rest is as for rotate()."""
    with name_scope(name, "translate"):
        transforms = translations_to_projective_transforms(translations)
        return transform(images, transforms, interpolation)


def angles_to_projective_transforms(angles, image_height, image_width, name=None):
    """The transforms (n, 8) that turn images of a size about their centers."""
    with name_scope(name, "angles_to_projective_transforms"):
        angles = _rows(angles, "angles", "angle_or_angles")
        cos, sin = math_ops.cos(angles), math_ops.sin(angles)
        right, down = image_width - 1, image_height - 1
        x = (right - (cos * right - sin * down)) / 2.0
        y = (down - (sin * right + cos * down)) / 2.0
        zeros = array_ops.zeros_like(cos)
        return array_ops.stack([cos, -sin, x, sin, cos, y, zeros, zeros], axis=1)


def translations_to_projective_transforms(translations, name=None):
    """The transforms (n, 8) that move images by (dx, dy)."""
    with name_scope(name, "translations_to_projective_transforms"):
        moves = _rows(translations, "translations", "translation_or_translations")
        x, y = -moves[:, 0], -moves[:, 1]
        zeros, ones = array_ops.zeros_like(x), array_ops.ones_like(x)
        return array_ops.stack([ones, zeros, x, zeros, ones, y, zeros, zeros], axis=1)


def transform(images, transforms, interpolation="NEAREST", output_shape=None, name=None):
    """Images under projective transforms (8,) or (n, 8); output_shape: rows and columns."""
    with name_scope(name, "transform"):
        images = convert_to_tensor(images, name="images")
        batch, undo = _batch(images)
        transforms = _rows(transforms, "transforms", "transform_or_transforms")
        if output_shape is None:
            sizes = array_ops.shape(batch)[1:3]
            known = constant_value(sizes)
            output_shape = sizes if known is None else known
        output_shape = convert_to_tensor(output_shape, dtypes.int32, name="output_shape")
        if not output_shape.shape.is_compatible_with([2]):
            raise ValueError(
                "output_shape must be a 1-D Tensor of 2 elements: new_height, new_width"
            )
        result = op1(
            "ImageProjectiveTransformV2",
            None,
            batch,
            transforms,
            output_shape,
            interpolation=interpolation.upper(),
        )
        return undo(result)


def flat_transforms_to_matrices(transforms):
    """Transforms (8,) or (n, 8) as matrices (n, 3, 3)."""
    with name_scope("flat_transforms_to_matrices"):
        transforms = convert_to_tensor(transforms, name="transforms")
        if transforms.shape.ndims not in (1, 2):
            raise ValueError(f"Transforms should be 1D or 2D, got: {transforms}")
        transforms = array_ops.reshape(transforms, constant([-1, 8]))
        ones = array_ops.ones([array_ops.shape(transforms)[0], 1])
        return array_ops.reshape(array_ops.concat([transforms, ones], axis=1), [-1, 3, 3])


def matrices_to_flat_transforms(transform_matrices):
    """Matrices (3, 3) or (n, 3, 3) as transforms (n, 8)."""
    with name_scope("matrices_to_flat_transforms"):
        matrices = convert_to_tensor(transform_matrices, name="transform_matrices")
        if matrices.shape.ndims not in (2, 3):
            raise ValueError(f"Matrices should be 2D or 3D, got: {matrices}")
        flat = array_ops.reshape(matrices, [-1, 9])
        return (flat / flat[:, 8:9])[:, :8]


def compose_transforms(*transforms):
    """The transform that is all of them, the first one applied last."""
    if not transforms:
        raise ValueError("transforms cannot be empty")
    with name_scope("compose_transforms"):
        composed = flat_transforms_to_matrices(transforms[0])
        for following in transforms[1:]:
            composed = math_ops.matmul(composed, flat_transforms_to_matrices(following))
        return matrices_to_flat_transforms(composed)
