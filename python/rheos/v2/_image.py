"""Pictures in TensorFlow 2's form: at another size, counting from the centres of pixels."""

from rheos.framework import dtypes
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.op_call import op1
from rheos.ops import array_ops, image_ops, image_quality, math_ops
from rheos.v2._forms import form

ssim = form(
    image_quality.ssim,
    "img1, img2, max_val, filter_size=11, filter_sigma=1.5, k1=0.01, k2=0.03, "
    "return_index_map=False",
    return_index_map=None,
)


class ResizeMethod:
    """How resize() computes a pixel."""

    BILINEAR = "bilinear"
    NEAREST_NEIGHBOR = "nearest"
    BICUBIC = "bicubic"
    AREA = "area"
    LANCZOS3 = "lanczos3"
    LANCZOS5 = "lanczos5"
    GAUSSIAN = "gaussian"
    MITCHELLCUBIC = "mitchellcubic"


def _scaled(kind, antialias):
    """A resizer by a kernel of its own; with antialias one that is wider for smaller pictures."""

    def resize(images, size, **unused):
        images = math_ops.cast(images, dtypes.float32)
        old = math_ops.cast(array_ops.shape(images)[1:3], dtypes.float32)
        scale = math_ops.cast(size, dtypes.float32) / old
        nothing = array_ops.zeros([2], dtypes.float32)
        return op1(
            "ScaleAndTranslate", None, images, size, scale, nothing, kernel_type=kind,
            antialias=antialias,
        )  # fmt: skip

    return resize


def _centred(function):
    def resize(images, size, **unused):
        return function(images, size, half_pixel_centers=True)

    return resize


def _area(images, size, **unused):
    return image_ops.resize_area(images, size)


_PLAIN = {
    "bilinear": _centred(image_ops.resize_bilinear),
    "nearest": _centred(image_ops.resize_nearest_neighbor),
    "bicubic": _centred(image_ops.resize_bicubic),
    "area": _area,
}
_SCALED = {
    "bilinear": "triangle",
    "bicubic": "keyscubic",
    "lanczos3": "lanczos3",
    "lanczos5": "lanczos5",
    "gaussian": "gaussian",
    "mitchellcubic": "mitchellcubic",
}


def _resizer(method, antialias):
    if method in _PLAIN and (not antialias or method not in _SCALED):
        return _PLAIN[method]
    if method in _SCALED:
        return _scaled(_SCALED[method], antialias)
    raise ValueError(f"Resize method {method!r} is not implemented.")


def resize(
    images,
    size,
    method=ResizeMethod.BILINEAR,
    preserve_aspect_ratio=False,
    antialias=False,
    name=None,
):
    """A picture, or each of a batch, at another size (height, width).

    antialias: whether a smaller picture is computed of all pixels of the larger one. Returns
    float32, except for the nearest pixel and where nothing is to be done.
    """
    size = convert_to_tensor(size, dtypes.int32) if not hasattr(size, "dtype") else size
    return image_ops.resize_by(
        images, size, _resizer(method, antialias), preserve_aspect_ratio, name
    )


def resize_with_pad(
    image, target_height, target_width, method=ResizeMethod.BILINEAR, antialias=False
):
    """A picture, or each of a batch, as large as it can be in a target size, padded with zeros."""

    def resizer(images, new_size):
        return resize(images, new_size, method, antialias=antialias)

    return image_ops.resize_and_pad(image, target_height, target_width, resizer)
