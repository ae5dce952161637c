"""Pictures from and to files: JPEG, PNG, GIF, BMP."""

from rheos.framework import dtypes
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.graph import name_scope
from rheos.framework.op_call import op1
from rheos.ops.math import math_ops
from rheos.ops.media.image_color import convert_image_dtype
from rheos.ops.random import random_ops


def decode_jpeg(
    contents,
    channels=0,
    ratio=1,
    fancy_upscaling=True,
    try_recover_truncated=False,
    acceptable_fraction=1,
    dct_method="",
    name=None,
):
    """The picture in a JPEG file, uint8 (height, width, channels).

    channels: 0 as in the file, 1 or 3. ratio: 1, 2, 4 or 8 times smaller. InvalidArgumentError for
    what is no picture.
    """
    return op1(
        "DecodeJpeg",
        name,
        contents,
        channels=channels,
        ratio=ratio,
        fancy_upscaling=fancy_upscaling,
        try_recover_truncated=try_recover_truncated,
        acceptable_fraction=acceptable_fraction,
        dct_method=dct_method,
    )


def decode_and_crop_jpeg(
    contents,
    crop_window,
    channels=0,
    ratio=1,
    fancy_upscaling=True,
    try_recover_truncated=False,
    acceptable_fraction=1,
    dct_method="",
    name=None,
):
    """The part of a JPEG in crop_window (y, x, height, width); the rest is not decoded."""
    return op1(
        "DecodeAndCropJpeg",
        name,
        contents,
        crop_window,
        channels=channels,
        ratio=ratio,
        fancy_upscaling=fancy_upscaling,
        try_recover_truncated=try_recover_truncated,
        acceptable_fraction=acceptable_fraction,
        dct_method=dct_method,
    )


def decode_png(contents, channels=0, dtype=dtypes.uint8, name=None):
    """The picture in a PNG file, uint8 or uint16 (height, width, channels)."""
    return op1("DecodePng", name, contents, channels=channels, dtype=dtypes.as_dtype(dtype))


def decode_gif(contents, name=None):
    """The pictures in a GIF file, uint8 (frames, height, width, 3)."""
    return op1("DecodeGif", name, contents)


def decode_bmp(contents, channels=0, name=None):
    """The picture in a BMP file, uint8 (height, width, channels)."""
    return op1("DecodeBmp", name, contents, channels=channels)


def decode_image(contents, channels=None, dtype=dtypes.uint8, name=None, expand_animations=True):
    """The picture in a JPEG, PNG, GIF or BMP file; its shape is not known beforehand.

    (height, width, channels), for a GIF with the frames in front unless expand_animations is false.
    dtype: other than uint8 it is converted by convert_image_dtype.
    """
    if channels not in (None, 0, 1, 3, 4):
        raise ValueError("channels must be in (None, 0, 1, 3, 4)")
    dtype = dtypes.as_dtype(dtype)
    with name_scope(name, "decode_image"):
        # The op knows how many bits a PNG file has.
        own = dtype in (dtypes.uint8, dtypes.uint16, dtypes.float32)
        image = op1(
            "DecodeImage",
            None,
            contents,
            channels=channels or 0,
            dtype=dtype if own else dtypes.uint8,
            expand_animations=expand_animations,
        )
        return image if own else convert_image_dtype(image, dtype)


def extract_jpeg_shape(contents, output_type=dtypes.int32, name=None):
    """(height, width, channels) of a JPEG, from its header alone."""
    return op1("ExtractJpegShape", name, contents, output_type=dtypes.as_dtype(output_type))


def is_jpeg(contents, name=None):
    """Whether a string begins as a JPEG file does."""
    with name_scope(name, "is_jpeg"):
        start = op1("Substr", None, contents, 0, 3)
        return math_ops.equal(start, b"\xff\xd8\xff", name=name)


def encode_jpeg(
    image,
    format="",
    quality=95,
    progressive=False,
    optimize_size=False,
    chroma_downsampling=True,
    density_unit="in",
    x_density=300,
    y_density=300,
    xmp_metadata="",
    name=None,
):
    """The JPEG file of a picture, uint8 (height, width, 1 or 3). quality: 0 to 100."""
    return op1(
        "EncodeJpeg",
        name,
        image,
        format=format,
        quality=quality,
        progressive=progressive,
        optimize_size=optimize_size,
        chroma_downsampling=chroma_downsampling,
        density_unit=density_unit,
        x_density=x_density,
        y_density=y_density,
        xmp_metadata=xmp_metadata,
    )


def encode_png(image, compression=-1, name=None):
    """The PNG file of a picture, uint8 or uint16 (height, width, 1 to 4)."""
    return op1("EncodePng", name, image, compression=compression)


def adjust_jpeg_quality(image, jpeg_quality, name=None):
    """A picture as it comes out of a JPEG file of that quality; its dtype is kept."""
    with name_scope(name, "adjust_jpeg_quality", [image]):
        image = convert_to_tensor(image, name="image")
        dtype, known = image.dtype, image.shape
        image = convert_image_dtype(image, dtypes.uint8)
        quality = jpeg_quality
        file = op1("EncodeJpegVariableQuality", None, image, quality)
        channels = known.as_list()[-1] if known.ndims is not None else None
        image = decode_jpeg(file, channels=channels or 0)
        if known.ndims is not None:
            image.set_shape(known)
        return convert_image_dtype(image, dtype)


def random_jpeg_quality(image, min_jpeg_quality, max_jpeg_quality, seed=None):
    """adjust_jpeg_quality with a quality from min_jpeg_quality up to max_jpeg_quality."""
    if min_jpeg_quality < 0 or max_jpeg_quality > 100:
        raise ValueError("jpeg encoding range must be between 0 and 100.")
    if min_jpeg_quality >= max_jpeg_quality:
        raise ValueError("`min_jpeg_quality` must be less than `max_jpeg_quality`.")
    quality = random_ops.random_uniform(
        [], min_jpeg_quality, max_jpeg_quality, seed=seed, dtype=dtypes.int32
    )
    return adjust_jpeg_quality(image, quality)
