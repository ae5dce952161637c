"""Pictures: cut, padded, turned, resized. A picture is (height, width, channels), a batch of them
(batch, height, width, channels)."""

import numpy as np

from rheos.framework import dtypes, tensor_shape
from rheos.framework.constant_values import constant_value
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.graph import name_scope
from rheos.framework.op_call import op1
from rheos.framework.operation import Tensor, _VariableBase
from rheos.ops.array import array_ops
from rheos.ops.array.constant_op import constant
from rheos.ops.flow import control_flow_ops
from rheos.ops.math import check_ops, math_ops
from rheos.ops.nn import nn_conv
from rheos.ops.random import random_ops

# ---- What the functions check


def _is_tensor(x):
    return isinstance(x, (Tensor, _VariableBase))


def _check(condition, message):
    """Raises ValueError, or answers with an Assert if the condition is a tensor."""
    if _is_tensor(condition):
        return [control_flow_ops.Assert(condition, [message])]
    if not condition:
        raise ValueError(message)
    return []


def _checks_of_picture(image, rank=None, require_static=False):
    """Fails unless `image` has `rank` (None: at least 3) and no dimension is 0."""
    known = image.shape
    if rank is not None:
        if known.ndims not in (rank, None):
            raise ValueError(f"'image' (shape {known}) must be three-dimensional.")
        known = known.with_rank(rank)
    elif known.ndims is None:
        known = tensor_shape.unknown_shape(3)
    elif known.ndims < 3:
        raise ValueError(f"'image' (shape {known}) must be at least three-dimensional.")
    dims = known.as_list()
    if require_static and None in dims[-3:]:
        raise ValueError(f"'image' (shape {known}) must be fully defined.")
    if 0 in dims:
        raise ValueError(f"all dims of 'image.shape' must be > 0: {known}")
    if None not in dims[-3:]:
        return []
    message = "all dims of 'image.shape' must be > 0."
    checks = [check_ops.assert_positive(array_ops.shape(image), [message])]
    if rank is None:
        too_few = "'image' must be at least three-dimensional."
        checks.append(check_ops.assert_greater_equal(array_ops.rank(image), 3, message=too_few))
    return checks


def _checked_picture(image):
    """`image`, after what can only be checked while running."""
    return control_flow_ops.with_dependencies(_checks_of_picture(image), image)


def _dims(image, rank):
    """The dimensions of `image`: numbers where they are known, else scalars of the graph."""
    if image.shape.is_fully_defined():
        return image.shape.as_list()
    static = image.shape.with_rank(rank).as_list()
    dynamic = array_ops.unstack(array_ops.shape(image), rank)
    return [d if s is None else s for s, d in zip(static, dynamic)]


def _known(*dims):
    return [None if _is_tensor(d) else d for d in dims]


def _as_batch(image):
    """(batch of pictures, whether it was one already)."""
    ndims = image.shape.ndims
    if ndims == 4:
        return image, True
    if ndims not in (3, None):
        raise ValueError("'image' must have either 3 or 4 dimensions.")
    image = array_ops.expand_dims(image, 0)
    if ndims is None:
        image.set_shape([None] * 4)
    return image, False


# ---- Cutting and padding


def crop_to_bounding_box(image, offset_height, offset_width, target_height, target_width):
    """The part of a picture, or of each of a batch, from an offset on and of a target size.

    ValueError, or InvalidArgumentError while running, where the part does not lie inside.

    >>> print(tf.image.crop_to_bounding_box(tf.ones([8, 8, 3]), 2, 1, 4, 5).shape)
    (4, 5, 3)
    """
    with name_scope(None, "crop_to_bounding_box", [image]):
        image, is_batch = _as_batch(convert_to_tensor(image, name="image"))
        checks = _checks_of_picture(image)
        batch, height, width, depth = _dims(image, 4)
        checks += _check(offset_width >= 0, "offset_width must be >= 0.")
        checks += _check(offset_height >= 0, "offset_height must be >= 0.")
        checks += _check(target_width > 0, "target_width must be > 0.")
        checks += _check(target_height > 0, "target_height must be > 0.")
        checks += _check(
            width >= (target_width + offset_width), "width must be >= target + offset."
        )
        checks += _check(
            height >= (target_height + offset_height), "height must be >= target + offset."
        )
        image = control_flow_ops.with_dependencies(checks, image)
        cropped = array_ops.slice(
            image,
            array_ops.stack([0, offset_height, offset_width, 0]),
            array_ops.stack([-1, target_height, target_width, -1]),
        )
        cropped.set_shape(_known(batch, target_height, target_width, depth))
        return cropped if is_batch else array_ops.squeeze(cropped, axis=[0])


def pad_to_bounding_box(image, offset_height, offset_width, target_height, target_width):
    """A picture, or each of a batch, in a frame of zeros of a target size, from an offset on.

    ValueError, or InvalidArgumentError while running, where it does not fit.
    """
    with name_scope(None, "pad_to_bounding_box", [image]):
        image, is_batch = _as_batch(convert_to_tensor(image, name="image"))
        checks = _checks_of_picture(image)
        batch, height, width, depth = _dims(image, 4)
        right = target_width - offset_width - width
        below = target_height - offset_height - height
        checks += _check(offset_height >= 0, "offset_height must be >= 0")
        checks += _check(offset_width >= 0, "offset_width must be >= 0")
        checks += _check(right >= 0, "width must be <= target - offset")
        checks += _check(below >= 0, "height must be <= target - offset")
        image = control_flow_ops.with_dependencies(checks, image)
        sides = array_ops.stack([0, 0, offset_height, below, offset_width, right, 0, 0])
        padded = array_ops.pad(image, array_ops.reshape(sides, [4, 2]))
        padded.set_shape(_known(batch, target_height, target_width, depth))
        return padded if is_batch else array_ops.squeeze(padded, axis=[0])


def _larger(x, y):
    return math_ops.maximum(x, y) if _is_tensor(x) or _is_tensor(y) else max(x, y)


def _smaller(x, y):
    return math_ops.minimum(x, y) if _is_tensor(x) or _is_tensor(y) else min(x, y)


def resize_image_with_crop_or_pad(image, target_height, target_width):
    """A picture, or each of a batch, cut or padded with zeros about its middle to a target size."""
    with name_scope(None, "resize_image_with_crop_or_pad", [image]):
        image, is_batch = _as_batch(convert_to_tensor(image, name="image"))
        checks = _checks_of_picture(image)
        checks += _check(target_width > 0, "target_width must be > 0.")
        checks += _check(target_height > 0, "target_height must be > 0.")
        image = control_flow_ops.with_dependencies(checks, image)
        if _is_tensor(target_height):
            target_height = control_flow_ops.with_dependencies(checks, target_height)
        if _is_tensor(target_width):
            target_width = control_flow_ops.with_dependencies(checks, target_width)
        _, height, width, _ = _dims(image, 4)
        wider, higher = target_width - width, target_height - height
        cropped = crop_to_bounding_box(
            image,
            _larger(-higher // 2, 0),
            _larger(-wider // 2, 0),
            _smaller(target_height, height),
            _smaller(target_width, width),
        )
        resized = pad_to_bounding_box(
            cropped, _larger(higher // 2, 0), _larger(wider // 2, 0), target_height, target_width
        )
        if resized.shape.ndims is None:
            raise ValueError("resized contains no shape.")
        _, new_height, new_width, _ = _dims(resized, 4)
        checks = _check(
            math_ops.equal(new_height, target_height)
            if _is_tensor(new_height) or _is_tensor(target_height)
            else new_height == target_height,
            "resized height is not correct.",
        )
        checks += _check(
            math_ops.equal(new_width, target_width)
            if _is_tensor(new_width) or _is_tensor(target_width)
            else new_width == target_width,
            "resized width is not correct.",
        )
        resized = control_flow_ops.with_dependencies(checks, resized)
        return resized if is_batch else array_ops.squeeze(resized, axis=[0])


def central_crop(image, central_fraction):
    """The middle of a picture, or of each of a batch; central_fraction: of height and width."""
    with name_scope(None, "central_crop", [image]):
        image = convert_to_tensor(image, name="image")
        if not 0 < central_fraction <= 1:
            raise ValueError("central_fraction must be within (0, 1]")
        if central_fraction == 1:
            return image
        _checked_picture(image)
        ndims = image.shape.ndims
        if ndims not in (3, 4):
            raise ValueError(
                f"`image` should either be a Tensor with rank = 3 or rank = 4. Had rank = {ndims}."
            )
        starts, sizes = [], []
        for axis in (ndims - 3, ndims - 2):
            length = image.shape.as_list()[axis]
            if length is None:
                length = array_ops.shape(image)[axis]
                wide = math_ops.cast(length, dtypes.float64)
                start = math_ops.cast((wide - wide * central_fraction) / 2, dtypes.int32)
            else:
                start = int((float(length) - float(length) * central_fraction) / 2)
            starts.append(start)
            sizes.append(length - start * 2)
        front = ndims - 3
        begin = array_ops.stack([0] * front + starts + [0])
        cropped = array_ops.slice(image, begin, array_ops.stack([-1] * front + sizes + [-1]))
        static = image.shape.as_list()
        cropped.set_shape(static[:front] + _known(*sizes) + static[-1:])
        return cropped


# ---- Turning


def _flip(image, axis, scope_name):
    with name_scope(None, scope_name, [image]):
        image = _checked_picture(convert_to_tensor(image, name="image"))
        known = image.shape
        if known.ndims not in (3, 4, None):
            raise ValueError("'image' must have either 3 or 4 dimensions.")
        flipped = array_ops.reverse(image, [axis + 1 if known.ndims == 4 else axis])
        flipped.set_shape(known if known.ndims is not None else [None] * 3)
        return flipped


def flip_left_right(image):
    """A picture, or each of a batch, with its columns backwards.

    >>> print(tf.image.flip_left_right([[[1], [2], [3]]])[..., 0].numpy())
    [[3 2 1]]
    """
    return _flip(image, 1, "flip_left_right")


def flip_up_down(image):
    """A picture, or each of a batch, with its rows backwards."""
    return _flip(image, 0, "flip_up_down")


def _random_flip(image, axis, seed, scope_name):
    with name_scope(None, scope_name, [image]) as scope:
        image = _checked_picture(convert_to_tensor(image, name="image"))
        known = image.shape
        if known.ndims in (3, None):
            drawn = random_ops.random_uniform([], 0, 1.0, seed=seed)
            turned = math_ops.less(drawn, 0.5)
            result = control_flow_ops.cond(
                turned, lambda: array_ops.reverse(image, [axis]), lambda: image, name=scope
            )
            result.set_shape(known if known.ndims is not None else [None] * 3)
            return result
        if known.ndims != 4:
            raise ValueError("'image' must have either 3 or 4 dimensions.")
        batch = array_ops.shape(image)[0]
        drawn = random_ops.random_uniform([batch], 0, 1.0, seed=seed)
        turned = math_ops.round(array_ops.reshape(drawn, [batch, 1, 1, 1]))
        turned = math_ops.cast(turned, image.dtype)
        flipped = array_ops.reverse(image, [axis + 1])
        return turned * flipped + (1 - turned) * image


def random_flip_left_right(image, seed=None):
    """A picture, or each of a batch, with its columns backwards in one of two cases."""
    return _random_flip(image, 1, seed, "random_flip_left_right")


def random_flip_up_down(image, seed=None):
    """A picture, or each of a batch, with its rows backwards in one of two cases."""
    return _random_flip(image, 0, seed, "random_flip_up_down")


def rot90(image, k=1, name=None):
    """A picture, or each of a batch, turned `k` times by 90 degrees against the clock."""
    with name_scope(name, "rot90", [image, k]) as scope:
        image = _checked_picture(convert_to_tensor(image, name="image"))
        turns = constant_value(k) if _is_tensor(k) else k
        if image.shape.ndims is None:
            image.set_shape([None] * 3)
        ndims = image.shape.ndims
        if ndims not in (3, 4):
            raise ValueError("'image' must have either 3 or 4 dimensions.")
        rows = ndims - 3
        swapped = [1, 0, 2] if ndims == 3 else [0, 2, 1, 3]

        def turn():
            return array_ops.transpose(array_ops.reverse(image, [rows + 1]), swapped)

        def turn_twice():
            return array_ops.reverse(image, [rows, rows + 1])

        def turn_back():
            return array_ops.reverse(array_ops.transpose(image, swapped), [rows + 1])

        functions = [turn, turn_twice, turn_back]
        if turns is None:
            return _turned_by(convert_to_tensor(k, dtypes.int32), image, functions, scope)
        turns = int(turns) % 4
        return functions[turns - 1]() if turns else image


def _turned_by(k, image, functions, scope):
    """What function k gives, counted from 1 and round again; for 0 the picture itself."""
    k.shape.assert_has_rank(0)
    k = math_ops.mod(k, 4)
    pairs = [(math_ops.equal(k, i), function) for i, function in enumerate(functions, 1)]
    turned = control_flow_ops.case(pairs, default=lambda: image, exclusive=True, name=scope)
    dims = image.shape.as_list()
    turned.set_shape([*dims[:-3], None, None, dims[-1]])
    return turned


def transpose_image(image, name=None):
    """A picture, or each of a batch, with rows and columns exchanged."""
    with name_scope(name, "transpose", [image]):
        image = _checked_picture(convert_to_tensor(image, name="image"))
        ndims = image.shape.ndims
        if ndims in (3, None):
            return array_ops.transpose(image, [1, 0, 2], name=name)
        if ndims == 4:
            return array_ops.transpose(image, [0, 2, 1, 3], name=name)
        raise ValueError("'image' must have either 3 or 4 dimensions.")


transpose = transpose_image


# ---- Resizing


class ResizeMethod:
    """How resize_images computes a pixel."""

    BILINEAR = 0
    NEAREST_NEIGHBOR = 1
    BICUBIC = 2
    AREA = 3


def resize_bilinear(images, size, align_corners=False, name=None, half_pixel_centers=False):
    """A batch of pictures at `size` (height, width), by interpolation of 2 by 2 pixels; float32."""
    return op1(
        "ResizeBilinear",
        name,
        images,
        size,
        align_corners=align_corners,
        half_pixel_centers=half_pixel_centers,
    )


def resize_nearest_neighbor(images, size, align_corners=False, name=None, half_pixel_centers=False):
    """A batch of pictures at `size` (height, width), each pixel the nearest one."""
    return op1(
        "ResizeNearestNeighbor",
        name,
        images,
        size,
        align_corners=align_corners,
        half_pixel_centers=half_pixel_centers,
    )


def resize_bicubic(images, size, align_corners=False, name=None, half_pixel_centers=False):
    """A batch of pictures at `size` (height, width), by a cubic of 4 by 4 pixels; float32."""
    return op1(
        "ResizeBicubic",
        name,
        images,
        size,
        align_corners=align_corners,
        half_pixel_centers=half_pixel_centers,
    )


def resize_area(images, size, align_corners=False, name=None):
    """A batch of pictures at `size` (height, width), each pixel the mean of its area; float32."""
    return op1("ResizeArea", name, images, size, align_corners=align_corners)


_RESIZERS = {
    ResizeMethod.BILINEAR: resize_bilinear,
    ResizeMethod.NEAREST_NEIGHBOR: resize_nearest_neighbor,
    ResizeMethod.BICUBIC: resize_bicubic,
    ResizeMethod.AREA: resize_area,
    "bilinear": resize_bilinear,
    "nearest": resize_nearest_neighbor,
    "bicubic": resize_bicubic,
    "area": resize_area,
}


def _size_within(size, height, width):
    """The largest size of the proportions of height and width within `size`."""

    def as_float(x):
        return math_ops.cast(x, dtypes.float32)

    scale = math_ops.minimum(
        as_float(size[0]) / as_float(height), as_float(size[1]) / as_float(width)
    )
    scaled = [
        math_ops.cast(math_ops.round(scale * as_float(d)), dtypes.int32) for d in (height, width)
    ]
    if not any(_is_tensor(d) for d in (*size, height, width)):
        scale = min(np.float32(a) / np.float32(b) for a, b in zip(size, (height, width)))
        scaled = [int(np.round(scale * np.float32(d))) for d in (height, width)]
    return convert_to_tensor(scaled, dtypes.int32, name="size")


def resize_images(
    images,
    size,
    method=ResizeMethod.BILINEAR,
    align_corners=False,
    preserve_aspect_ratio=False,
    name=None,
):
    """A picture, or each of a batch, at another size.

    size: (height, width). method: of ResizeMethod. Returns float32, except for the nearest pixel
    and where nothing is to be done: then the dtype of `images`. ValueError for wrong shapes.
    """

    def resizer(images, size):
        if method not in _RESIZERS:
            raise ValueError("Resize method is not implemented.")
        return _RESIZERS[method](images, size, align_corners=align_corners)

    return resize_by(images, size, resizer, preserve_aspect_ratio, name)


def resize_by(images, size, resizer, preserve_aspect_ratio=False, name=None):
    """A picture, or each of a batch, by resizer(batch, size); see resize_images()."""
    with name_scope(name, "resize", [images, size]):
        images = convert_to_tensor(images, name="images")
        if images.shape.ndims is None:
            raise ValueError("'images' contains no shape.")
        if images.shape.ndims not in (3, 4):
            raise ValueError("'images' must have either 3 or 4 dimensions.")
        images, is_batch = _as_batch(images)
        _, height, width, _ = images.shape.as_list()
        try:
            size = convert_to_tensor(size, dtypes.int32, name="size")
        except (TypeError, ValueError):
            raise ValueError("'size' must be a 1-D int32 Tensor") from None
        if not size.shape.is_compatible_with([2]):
            raise ValueError("'size' must be a 1-D Tensor of 2 elements: new_height, new_width")
        if preserve_aspect_ratio:
            wanted = constant_value(size)
            wanted = [size[0], size[1]] if wanted is None else wanted.tolist()
            size = _size_within(wanted, *_dims(images, 4)[1:3])
        known = constant_value(size)
        new_height, new_width = (None, None) if known is None else known.tolist()
        if new_height is not None and (new_height, new_width) == (height, width):
            return images if is_batch else array_ops.squeeze(images, axis=[0])
        images = resizer(images, size)
        images.set_shape([None, new_height, new_width, None])
        return images if is_batch else array_ops.squeeze(images, axis=[0])


resize = resize_images


def resize_image_with_pad(
    image, target_height, target_width, method=ResizeMethod.BILINEAR, align_corners=False
):
    """A picture, or each of a batch, as large as it can be in a target size, padded with zeros."""

    def resizer(images, size):
        return resize_images(images, size, method, align_corners=align_corners)

    return resize_and_pad(image, target_height, target_width, resizer)


def resize_and_pad(image, target_height, target_width, resizer):
    """What resize_image_with_pad() does, by resizer(batch, size)."""
    with name_scope(None, "resize_image_with_pad", [image]):
        image, is_batch = _as_batch(convert_to_tensor(image, name="image"))
        checks = _checks_of_picture(image)
        checks += _check(target_width > 0, "target_width must be > 0.")
        checks += _check(target_height > 0, "target_height must be > 0.")
        image = control_flow_ops.with_dependencies(checks, image)
        _, height, width, _ = _dims(image, 4)
        height, width, high, wide = (
            math_ops.cast(d, dtypes.float64) for d in (height, width, target_height, target_width)
        )
        ratio = math_ops.maximum(width / wide, height / high)

        def whole(x):
            return math_ops.cast(math_ops.floor(x), dtypes.int32)

        new_height, new_width = whole(height / ratio), whole(width / ratio)
        above = math_ops.maximum(0, whole((high - height / ratio) / 2))
        left = math_ops.maximum(0, whole((wide - width / ratio) / 2))
        resized = resizer(image, array_ops.stack([new_height, new_width]))
        padded = pad_to_bounding_box(resized, above, left, target_height, target_width)
        if padded.shape.ndims is None:
            raise ValueError("padded contains no shape.")
        return padded if is_batch else array_ops.squeeze(padded, axis=[0])


def crop_and_resize(
    image,
    boxes,
    box_ind=None,
    crop_size=None,
    method="bilinear",
    extrapolation_value=0,
    name=None,
    box_indices=None,
):
    """Boxes cut out of a batch of pictures and resized to one size.

    image: (batch, height, width, channels). boxes: (n, 4) of y1, x1, y2, x2 between 0 and 1.
    box_ind: (n,), the picture of each. crop_size: (height, width). Returns float32 (n, height,
    width, channels), with `extrapolation_value` where a box lies outside.
    """
    return op1(
        "CropAndResize",
        name,
        image,
        boxes,
        box_ind if box_indices is None else box_indices,
        crop_size,
        method=method,
        extrapolation_value=extrapolation_value,
    )


def extract_glimpse(
    input, size, offsets, centered=True, normalized=True, uniform_noise=True, name=None
):
    """Windows of `size` (height, width) of a batch of pictures, about `offsets` (batch, 2)."""
    return op1(
        "ExtractGlimpse",
        name,
        input,
        size,
        offsets,
        centered=centered,
        normalized=normalized,
        uniform_noise=uniform_noise,
    )


# ---- What pictures look like


def total_variation(images, name=None):
    """The sum of absolute differences of neighbouring pixels, of a picture or each of a batch."""
    with name_scope(name, "total_variation"):
        ndims = images.shape.ndims
        if ndims not in (3, 4):
            raise ValueError("'images' must be either 3 or 4-dimensional.")
        if ndims == 3:
            down = images[1:, :, :] - images[:-1, :, :]
            across = images[:, 1:, :] - images[:, :-1, :]
            axes = None
        else:
            down = images[:, 1:, :, :] - images[:, :-1, :, :]
            across = images[:, :, 1:, :] - images[:, :, :-1, :]
            axes = [1, 2, 3]
        return math_ops.reduce_sum(math_ops.abs(down), axis=axes) + math_ops.reduce_sum(
            math_ops.abs(across), axis=axes
        )


def image_gradients(image):
    """Differences to the pixel below and to the right, 0 in the last row and column.

    image: (batch, height, width, channels). Returns (dy, dx), both of its shape.
    """
    if image.shape.ndims != 4:
        raise ValueError(
            "image_gradients expects a 4D tensor [batch_size, h, w, d], not one of shape "
            f"{image.shape}"
        )
    shape = array_ops.shape(image)
    batch, height, width, depth = array_ops.unstack(shape)
    dy = image[:, 1:, :, :] - image[:, :-1, :, :]
    dx = image[:, :, 1:, :] - image[:, :, :-1, :]
    row = array_ops.zeros(array_ops.stack([batch, 1, width, depth]), image.dtype)
    column = array_ops.zeros(array_ops.stack([batch, height, 1, depth]), image.dtype)
    dy = array_ops.reshape(array_ops.concat([dy, row], 1), shape)
    dx = array_ops.reshape(array_ops.concat([dx, column], 2), shape)
    return dy, dx


def sobel_edges(image):
    """Sobel's edges: (batch, height, width, channels, 2), the last dimension dy and dx."""
    static = image.shape
    shape = array_ops.shape(image)
    down = [[-1, -2, -1], [0, 0, 0], [1, 2, 1]]
    across = [[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]]
    kernels = constant(
        [[[[down[i][j], across[i][j]]] for j in range(3)] for i in range(3)], dtypes.float32
    )
    kernels = array_ops.tile(kernels, [1, 1, shape[-1], 1], name="sobel_filters")
    padded = array_ops.pad(image, [[0, 0], [1, 1], [1, 1], [0, 0]], mode="REFLECT")
    edges = nn_conv.depthwise_conv2d(padded, kernels, [1, 1, 1, 1], "VALID")
    edges = array_ops.reshape(edges, array_ops.concat([shape, [2]], 0))
    edges.set_shape(static.concatenate([2]))
    return edges
