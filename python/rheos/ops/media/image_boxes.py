"""Boxes on pictures: drawn, sampled, chosen. A box is (y1, x1, y2, x2)."""

from rheos.framework import dtypes
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.graph import name_scope
from rheos.framework.op_call import op1, op_list, op_results
from rheos.ops.random import random_ops


def draw_bounding_boxes(images, boxes, name=None, colors=None):
    """A batch of pictures with the outlines of boxes on them.

    boxes: (batch, n, 4), shares of height and width. colors: (m, channels), taken in turn.
    """
    if colors is None:
        return op1("DrawBoundingBoxes", name, images, boxes)
    return op1("DrawBoundingBoxesV2", name, images, boxes, colors)


def sample_distorted_bounding_box(
    image_size,
    bounding_boxes,
    seed=None,
    seed2=None,
    min_object_covered=0.1,
    aspect_ratio_range=None,
    area_range=None,
    max_attempts=None,
    use_image_if_no_bounding_boxes=None,
    name=None,
):
    """A random box that covers enough of one of the boxes given.

    image_size: (height, width, channels). bounding_boxes: (batch, n, 4), shares of it. Returns
    (begin, size, bboxes): two arguments for tf.slice, and the box as (1, 1, 4).
    """
    with name_scope(name, "sample_distorted_bounding_box"):
        seeds = (seed or 0, seed2 or 0)
        if seed2 is None and seed is not None:
            seeds = tuple(s or 0 for s in random_ops.get_seed(seed))
        elif seed is None and seed2 is None:
            seeds = tuple(s or 0 for s in random_ops.get_seed(None))
        return op_results(
            "SampleDistortedBoundingBoxV2",
            None,
            image_size,
            bounding_boxes,
            min_object_covered,
            seed=seeds[0],
            seed2=seeds[1],
            aspect_ratio_range=aspect_ratio_range or [0.75, 1.33],
            area_range=area_range or [0.05, 1.0],
            max_attempts=max_attempts or 100,
            use_image_if_no_bounding_boxes=bool(use_image_if_no_bounding_boxes),
        )


def _thresholds(iou_threshold, score_threshold):
    return (
        convert_to_tensor(iou_threshold, dtypes.float32, name="iou_threshold"),
        convert_to_tensor(score_threshold, dtypes.float32, name="score_threshold"),
    )


def non_max_suppression(
    boxes, scores, max_output_size, iou_threshold=0.5, score_threshold=float("-inf"), name=None
):
    """The boxes of the highest scores that overlap none chosen before by more than a threshold.

    boxes: (n, 4). scores: (n,). Returns their indices, int32 (at most max_output_size,).
    """
    with name_scope(name, "non_max_suppression"):
        thresholds = _thresholds(iou_threshold, score_threshold)
        return op1("NonMaxSuppressionV3", None, boxes, scores, max_output_size, *thresholds)


def non_max_suppression_with_scores(
    boxes,
    scores,
    max_output_size,
    iou_threshold=0.5,
    score_threshold=float("-inf"),
    soft_nms_sigma=0.0,
    name=None,
):
    """non_max_suppression that may lower scores by overlap; returns (indices, scores)."""
    with name_scope(name, "non_max_suppression_with_scores"):
        thresholds = _thresholds(iou_threshold, score_threshold)
        sigma = convert_to_tensor(soft_nms_sigma, dtypes.float32, name="soft_nms_sigma")
        outputs = op_list(
            "NonMaxSuppressionV5",
            None,
            boxes,
            scores,
            max_output_size,
            *thresholds,
            sigma,
            pad_to_max_output_size=False,
        )
        return outputs[0], outputs[1]


def non_max_suppression_padded(
    boxes,
    scores,
    max_output_size,
    iou_threshold=0.5,
    score_threshold=float("-inf"),
    pad_to_max_output_size=False,
    name=None,
):
    """non_max_suppression of a fixed length; returns (indices, how many of them count)."""
    with name_scope(name, "non_max_suppression_padded"):
        thresholds = _thresholds(iou_threshold, score_threshold)
        return op_results(
            "NonMaxSuppressionV4",
            None,
            boxes,
            scores,
            max_output_size,
            *thresholds,
            pad_to_max_output_size=pad_to_max_output_size,
        )


def non_max_suppression_overlaps(
    overlaps,
    scores,
    max_output_size,
    overlap_threshold=0.5,
    score_threshold=float("-inf"),
    name=None,
):
    """non_max_suppression by a matrix (n, n) of overlaps of your own."""
    with name_scope(name, "non_max_suppression_overlaps"):
        threshold = convert_to_tensor(overlap_threshold, dtypes.float32, name="overlap_threshold")
        return op1(
            "NonMaxSuppressionWithOverlaps",
            None,
            overlaps,
            scores,
            max_output_size,
            threshold,
            score_threshold,
        )


def combined_non_max_suppression(
    boxes,
    scores,
    max_output_size_per_class,
    max_total_size,
    iou_threshold=0.5,
    score_threshold=float("-inf"),
    pad_per_class=False,
    clip_boxes=True,
    name=None,
):
    """non_max_suppression for each picture of a batch and each class.

    boxes: (batch, n, classes or 1, 4). scores: (batch, n, classes). Returns (boxes, scores,
    classes, how many of each picture count), padded with zeros.
    """
    with name_scope(name, "combined_non_max_suppression"):
        thresholds = _thresholds(iou_threshold, score_threshold)
        return op_results(
            "CombinedNonMaxSuppression",
            None,
            boxes,
            scores,
            max_output_size_per_class,
            max_total_size,
            *thresholds,
            pad_per_class=pad_per_class,
            clip_boxes=clip_boxes,
        )
