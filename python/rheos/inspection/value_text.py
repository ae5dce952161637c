"""What is said of arrays: a line of statistics, and histograms."""

import numpy as np


def is_numeric(value):
    return isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind in "fiucb"


def _numbers(value):
    return np.abs(value) if value.dtype.kind == "c" else value.astype(np.float64)


def describe(value):
    """A line about an array: dtype, shape, least, most, mean, NaN, infinities and zeros."""
    value = np.asarray(value)
    text = f"{value.dtype} {list(value.shape)}"
    if not is_numeric(value) or value.size == 0:
        return text
    numbers = _numbers(value)
    finite = numbers[np.isfinite(numbers)]
    if finite.size:
        text += f", {finite.min():.6g} to {finite.max():.6g}, mean {finite.mean():.6g}"
    text += f", {int((numbers == 0).sum())} zeros"
    nan, infinite = int(np.isnan(numbers).sum()), int(np.isinf(numbers).sum())
    return text + (f", {nan} NaN, {infinite} infinite" if nan or infinite else "")


def histogram(value, bins=10, width=40):
    """Lines of a histogram of the finite numbers of an array."""
    numbers = _numbers(np.asarray(value)).ravel()
    numbers = numbers[np.isfinite(numbers)]
    if not numbers.size:
        return ["there are no finite numbers"]
    counts, edges = np.histogram(numbers, bins)
    most = max(int(counts.max()), 1)
    return [
        f"{edges[i]:12.5g} to {edges[i + 1]:12.5g} {count:8} {'#' * (count * width // most)}"
        for i, count in enumerate(counts)
    ]
