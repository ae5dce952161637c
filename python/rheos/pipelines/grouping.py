"""Datasets of groups of elements: by a key, by length, by what a function makes of each group."""

import numpy as np

from rheos.framework import dtypes
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.operation import Tensor
from rheos.framework.tensor_shape import TensorShape
from rheos.framework.tensor_spec import TensorSpec
from rheos.ops.array import array_ops
from rheos.ops.array.constant_op import constant
from rheos.ops.math import check_ops, math_ops
from rheos.pipelines import functional, nest
from rheos.pipelines.base import DatasetSpec
from rheos.pipelines.traced import TracedFunction

_KEY = TensorSpec([], dtypes.int64)


def _as_int64(function):
    return lambda *args: math_ops.cast(convert_to_tensor(function(*args)), dtypes.int64)


def _key_function(key_func, transformation, spec):
    def key(*args):
        value = key_func(*args)
        return value if isinstance(value, Tensor) else convert_to_tensor(value, dtypes.int64)

    function = TracedFunction(key, transformation, spec)
    if not function.returns_scalar(dtypes.int64):
        raise ValueError(
            f"`key_func` of {transformation} must return a single tf.int64 tensor, it returns "
            f"{function.output_spec}."
        )
    return function


def _others(**functions):
    """The attributes of an operation that calls several functions."""
    attrs = {}
    for name, function in functions.items():
        attrs[name] = function.name
        attrs[f"T{name}_other_arguments"] = [tensor.dtype for tensor in function.captured]
    return attrs


def group_by_window(dataset, key_func, reduce_func, window_size=None, window_size_func=None):
    """Elements with one key, `window_size` of them at a time, made a dataset by a function.

    key_func: gives the key, an int64. reduce_func(key, window): a dataset made of the dataset of
    the window's elements. window_size_func(key): the size, instead of `window_size`.
    """
    if (window_size is None) == (window_size_func is None):
        raise ValueError("Must pass either `window_size` or `window_size_func`, not both or none.")
    if window_size_func is None:

        def window_size_func(unused_key):
            return convert_to_tensor(window_size, dtypes.int64)

    what = "tf.data.experimental.group_by_window()"
    key = _key_function(key_func, what, dataset.element_spec)
    size = TracedFunction(_as_int64(window_size_func), what, _KEY)
    if not size.returns_scalar(dtypes.int64):
        raise ValueError("`window_size_func` must return a single tf.int64 scalar tensor.")
    reducer = TracedFunction(reduce_func, what, (_KEY, DatasetSpec(dataset.element_spec)))
    if not isinstance(reducer.output_spec, DatasetSpec):
        raise TypeError(
            f"`reduce_func` must return a Dataset object, it returned {reducer.output_spec}."
        )
    return dataset._derive(
        "GroupByWindowDataset",
        key.captured,
        reducer.captured,
        size.captured,
        spec=reducer.output_spec.element_spec,
        **_others(key_func=key, reduce_func=reducer, window_size_func=size),
    )


class Reducer:
    """How elements with one key become one: see group_by_reducer.

    init_func(key): the first state. reduce_func(state, element): the next one.
    finalize_func(state): what the last one becomes.
    """

    def __init__(self, init_func, reduce_func, finalize_func):
        self._init_func, self._reduce_func = init_func, reduce_func
        self._finalize_func = finalize_func

    @property
    def init_func(self):
        """The function of a key that gives the first state."""
        return self._init_func

    @property
    def reduce_func(self):
        """The function of a state and an element that gives the next state."""
        return self._reduce_func

    @property
    def finalize_func(self):
        """The function of the last state that gives an element."""
        return self._finalize_func


def group_by_reducer(dataset, key_func, reducer):
    """What a Reducer makes of the elements with each key, in the order in which keys came first."""
    what = "tf.data.experimental.group_by_reducer()"
    key = _key_function(key_func, what, dataset.element_spec)
    first = TracedFunction(reducer.init_func, what, _KEY)
    following, state = functional.trace_with_state(
        reducer.reduce_func, what, first.output_spec, dataset.element_spec, lambda spec: spec
    )
    last = TracedFunction(reducer.finalize_func, what, state)
    return dataset._derive(
        "ExperimentalGroupByReducerDataset",
        key.captured,
        first.captured,
        following.captured,
        last.captured,
        spec=last.output_spec,
        **_others(key_func=key, init_func=first, reduce_func=following, finalize_func=last),
    )


def bucket_by_sequence_length(
    dataset,
    element_length_func,
    bucket_boundaries,
    bucket_batch_sizes,
    padded_shapes=None,
    padding_values=None,
    pad_to_bucket_boundary=False,
    no_padding=False,
    drop_remainder=False,
):
    """Batches of elements whose lengths are in the same bucket.

    element_length_func: the length of an element, an int32. bucket_boundaries: the lengths at which
    the next bucket begins. bucket_batch_sizes: of the batches, one more than boundaries.
    padded_shapes, padding_values: as padded_batch has them. pad_to_bucket_boundary: whether to fill
    up to the bucket's boundary less one. no_padding: whether there is none, as of sparse tensors.
    """
    if len(bucket_batch_sizes) != len(bucket_boundaries) + 1:
        raise ValueError(
            f"`len(bucket_batch_sizes)` must equal `len(bucket_boundaries) + 1` but "
            f"`len(bucket_batch_sizes)={len(bucket_batch_sizes)}` and "
            f"`len(bucket_boundaries)={len(bucket_boundaries)}`."
        )
    sizes = constant(bucket_batch_sizes, dtype=dtypes.int64)

    def bucket_of(*args):
        length = element_length_func(*args)
        lows = constant([np.iinfo(np.int32).min, *bucket_boundaries])
        highs = constant([*bucket_boundaries, np.iinfo(np.int32).max])
        inside = math_ops.logical_and(
            math_ops.less_equal(lows, length), math_ops.less(length, highs)
        )
        return math_ops.reduce_min(array_ops.where(inside))

    def window_size(bucket):
        return sizes[bucket]

    def batch(bucket, group):
        if no_padding:
            return group.batch(window_size(bucket), drop_remainder=drop_remainder)
        spec = group.element_spec
        shapes = padded_shapes
        if shapes is None:
            shapes = nest.map_up_to(spec, lambda leaf: leaf.shape, spec)
        if pad_to_bucket_boundary:
            message = (
                "When pad_to_bucket_boundary=True, elements must have length < "
                "max(bucket_boundaries)."
            )
            check = check_ops.assert_less(
                bucket, constant(len(bucket_batch_sizes) - 1, dtypes.int64), message=message
            )
            bounds = constant([*bucket_boundaries, -1], dtypes.int64)
            with bucket.graph.control_dependencies([check]):
                boundary = bounds[bucket]
            shapes = _filled(shapes, spec, boundary)
        return group.padded_batch(
            window_size(bucket), shapes, padding_values, drop_remainder=drop_remainder
        )

    return group_by_window(dataset, bucket_of, batch, window_size_func=window_size)


def _filled(shapes, spec, boundary):
    def fill(_, shape):
        dims = [boundary - 1 if d is None else np.int64(d) for d in TensorShape(shape).as_list()]
        return array_ops.stack(dims) if dims else constant([], dtypes.int64)

    return nest.map_up_to(spec, fill, spec, shapes)
