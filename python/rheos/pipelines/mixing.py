"""Datasets that choose among datasets: by weights, by numbers, by classes."""

import numpy as np

from rheos.framework import dtypes
from rheos.framework.constant_values import constant_value
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.operation import Tensor
from rheos.framework.tensor_spec import TensorSpec
from rheos.ops.array import array_ops
from rheos.ops.math import math_ops
from rheos.ops.random import random_ops
from rheos.ops.random.stateless_random_ops import stateless_multinomial
from rheos.pipelines import functional
from rheos.pipelines.base import DatasetBase
from rheos.pipelines.structure import most_specific


def _directed(selector, datasets, stop_on_empty_dataset=False):
    first = datasets[0]
    spec = first.element_spec
    for dataset in datasets[1:]:
        try:
            spec = most_specific(spec, dataset.element_spec)
        except (TypeError, ValueError) as error:
            raise TypeError(
                f"The datasets to choose from must have elements of one type: {spec} and "
                f"{dataset.element_spec}"
            ) from error
    return first._make(
        "DirectedInterleaveDataset",
        selector._variant_tensor,
        [dataset._variant_tensor for dataset in datasets],
        spec=spec,
        inputs=(selector, *datasets),
        stop_on_empty_dataset=stop_on_empty_dataset,
    )


def choose_from_datasets(datasets, choice_dataset, stop_on_empty_dataset=False):
    """Elements of the datasets that the numbers of `choice_dataset`, int64, say."""
    if not datasets:
        raise ValueError("Invalid `datasets`: it must not be empty.")
    if not isinstance(choice_dataset, DatasetBase):
        raise TypeError(f"`choice_dataset` must be a Dataset, got {type(choice_dataset)}.")
    spec = choice_dataset.element_spec
    if not isinstance(spec, TensorSpec) or not spec.is_compatible_with(
        TensorSpec([], dtypes.int64)
    ):
        raise TypeError(f"Elements of `choice_dataset` must be int64 scalars, not {spec}.")
    return _directed(choice_dataset, datasets, stop_on_empty_dataset)


def _selected(logits, seed):
    return array_ops.squeeze(stateless_multinomial(logits, 1, seed=seed), axis=[0, 1])


def _that_may_come(datasets, weights):
    """Datasets and weights without those that are never chosen, if weights are known numbers.

    Where none is left, the first dataset without its elements stands for them: waiting until what
    is never chosen ends would last for ever.
    """
    known = constant_value(weights) if isinstance(weights, Tensor) else weights
    if not isinstance(known, (list, tuple, np.ndarray)):
        return datasets, weights
    if np.shape(known) != (len(datasets),) or np.asarray(known).dtype.kind not in "fiu":
        return datasets, weights
    chosen = [i for i, weight in enumerate(known) if weight > 0]
    if len(chosen) == len(datasets):
        return datasets, weights
    if not chosen:
        return [datasets[0].take(0)], None
    return [datasets[i] for i in chosen], array_ops.gather(weights, chosen)


def sample_from_datasets(
    datasets, weights=None, seed=None, stop_on_empty_dataset=False, rerandomize=None
):
    """Elements of datasets that are chosen at random.

    weights: how likely each dataset is: a list or tensor [n], or a dataset of such tensors. None:
    equally. rerandomize: whether each iterator chooses anew.
    """
    if not datasets:
        raise ValueError("Invalid `datasets`: it must not be empty.")
    datasets, weights = _that_may_come(datasets, weights)
    seeds = DatasetBase._face.random(seed, rerandomize).batch(2)
    if isinstance(weights, DatasetBase):
        logits = weights.map(lambda *p: math_ops.log(p[0] if len(p) == 1 else p, name="logits"))
        pairs = DatasetBase._face.zip((logits, seeds))
        return _directed(
            pairs.map(lambda p, s: _selected([p] if p.shape.ndims == 1 else p, s)),
            datasets,
            stop_on_empty_dataset,
        )
    if weights is None:
        logits = [[1.0] * len(datasets)]
    else:
        weights = convert_to_tensor(weights, name="weights")
        if weights.dtype not in (dtypes.float32, dtypes.float64):
            raise TypeError("`weights` must be convertible to a tensor of float32 or float64.")
        count = weights.shape.as_list()[0] if weights.shape.ndims == 1 else None
        if weights.shape.ndims not in (1, None) or count not in (None, len(datasets)):
            raise ValueError(
                f"`weights` must be a vector of length `len(datasets)`: {weights.shape} for "
                f"{len(datasets)} datasets."
            )
        logits = array_ops.expand_dims(math_ops.log(weights, name="logits"), 0)
    if len(datasets) == 1:
        return datasets[0]
    selector = functional.map_dataset(seeds, lambda s: _selected(logits, s))
    return _directed(selector, datasets, stop_on_empty_dataset)


# ---- Rejection


def _acceptance(initial, target):
    """How likely elements of each class are to be kept, and how likely the original ones are to be
    taken, so that classes that come with `initial` are seen with `target`."""
    tiny = 1.1754944e-38
    ratios = target / math_ops.maximum(initial, tiny)
    kept = math_ops.reduce_min(ratios)  # as many as leave no class too often
    largest = math_ops.reduce_max(ratios)
    return (ratios - kept) / math_ops.maximum(largest - kept, tiny), kept


def _estimated(target, classes, smoothing=10):
    """A dataset of how often each class has come so far; at first as often as every other."""
    count = target.shape.as_list()[0] if target.shape.ndims else None
    count = array_ops.shape(target)[0] if count is None else count
    first = array_ops.fill(array_ops.reshape(count, [1]), math_ops.cast(smoothing, dtypes.int64))

    def counted(counts, number):
        counts = counts + array_ops.one_hot(number, count, dtype=dtypes.int64)
        wide = math_ops.cast(counts, dtypes.float32)
        return counts, wide / math_ops.reduce_sum(wide)

    return functional.scan(classes, first, counted)


def rejection_resample(dataset, class_func, target_dist, initial_dist=None, seed=None):
    """Pairs of a class and an element, of which so many are left out that classes come with
    `target_dist`.

    class_func: the class of an element, an int. target_dist, initial_dist: how often each class
    is to come and comes, floating-point tensors [classes]; None is estimated on the way.
    """
    target = math_ops.cast(convert_to_tensor(target_dist, name="target_dist"), dtypes.float32)

    def number_of(element):
        return class_func(*element) if type(element) is tuple else class_func(element)

    def with_class(*element):
        element = element if type(dataset.element_spec) is tuple else element[0]
        return number_of(element), element

    always = None  # the share of elements that are taken whatever their class, if it is known
    if initial_dist is not None:
        initial = math_ops.cast(
            convert_to_tensor(initial_dist, name="initial_dist"), dtypes.float32
        )
        acceptance = _acceptance(initial, target)
        always = constant_value(acceptance[1])
        chances = DatasetBase._face.from_tensors(acceptance).repeat()
    else:
        estimated = _estimated(target, dataset.map(class_func))
        chances = estimated.map(lambda found: _acceptance(found, target))
    whole = dataset.map(with_class)
    if always == 1:
        return whole

    def with_chance(chance, element):
        number = number_of(element)
        return number, array_ops.gather(chance, number), element

    wanted = chances.map(lambda chance, kept: chance)
    accepted = DatasetBase._face.zip((wanted, dataset)).map(with_chance)
    accepted = accepted.filter(lambda number, chance, element: random_ops.random_uniform(
        [], seed=seed) < chance)  # fmt: skip
    accepted = accepted.map(lambda number, chance, element: (number, element)).prefetch(3)
    if always == 0:
        return accepted
    weights = chances.map(lambda chance, kept: [(kept, 1.0 - kept)])
    return sample_from_datasets([whole, accepted], weights, seed, stop_on_empty_dataset=True)
