"""Pictures."""

from rheos.framework.absent import attribute_of as _attribute_of
from rheos.ops.image_boxes import (
    combined_non_max_suppression,
    draw_bounding_boxes,
    non_max_suppression,
    non_max_suppression_overlaps,
    non_max_suppression_padded,
    non_max_suppression_with_scores,
    sample_distorted_bounding_box,
)
from rheos.ops.image_color import (
    adjust_brightness,
    adjust_contrast,
    adjust_gamma,
    adjust_hue,
    adjust_saturation,
    convert_image_dtype,
    grayscale_to_rgb,
    hsv_to_rgb,
    per_image_standardization,
    per_image_standardization as per_image_whitening,
    random_brightness,
    random_contrast,
    random_hue,
    random_saturation,
    rgb_to_grayscale,
    rgb_to_hsv,
    rgb_to_yiq,
    rgb_to_yuv,
    yiq_to_rgb,
    yuv_to_rgb,
)
from rheos.ops.image_files import (
    adjust_jpeg_quality,
    decode_and_crop_jpeg,
    decode_bmp,
    decode_gif,
    decode_image,
    decode_jpeg,
    decode_png,
    encode_jpeg,
    encode_png,
    extract_jpeg_shape,
    is_jpeg,
    random_jpeg_quality,
)
from rheos.ops.image_ops import (
    ResizeMethod,
    central_crop,
    crop_and_resize,
    crop_to_bounding_box,
    extract_glimpse,
    flip_left_right,
    flip_up_down,
    image_gradients,
    pad_to_bounding_box,
    random_flip_left_right,
    random_flip_up_down,
    resize,
    resize_area,
    resize_bicubic,
    resize_bilinear,
    resize_image_with_crop_or_pad,
    resize_image_with_crop_or_pad as resize_with_crop_or_pad,
    resize_image_with_pad,
    resize_images,
    resize_nearest_neighbor,
    rot90,
    sobel_edges,
    total_variation,
    transpose,
    transpose_image,
)
from rheos.ops.image_quality import psnr, ssim, ssim_multiscale
from rheos.ops.random_ops import random_crop
from rheos.ops.rearrange_ops import extract_image_patches, extract_image_patches as extract_patches

__getattr__ = _attribute_of("tensorflow.image")
