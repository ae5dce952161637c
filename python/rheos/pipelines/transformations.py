"""Transformations of datasets for `Dataset.apply`, and what else tf.data.experimental has."""

from rheos.framework import dtypes
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.graph import count_operations
from rheos.ops.math import check_ops
from rheos.pipelines import batching, functional, grouping, mixing, nest, structure, tables
from rheos.pipelines.random_seed import get_seed
from rheos.pipelines.traced import TracedFunction


def bucket_by_sequence_length(*args, **kwargs):
    """A transformation: batches of elements of similar length, see
    rheos.pipelines.grouping.bucket_by_sequence_length."""
    return lambda dataset: grouping.bucket_by_sequence_length(dataset, *args, **kwargs)


def group_by_window(key_func, reduce_func, window_size=None, window_size_func=None):
    """A transformation: see rheos.pipelines.grouping.group_by_window."""
    if (window_size is None) == (window_size_func is None):
        raise ValueError("Must pass either `window_size` or `window_size_func`, not both or none.")
    return lambda dataset: grouping.group_by_window(
        dataset, key_func, reduce_func, window_size, window_size_func
    )


def group_by_reducer(key_func, reducer):
    """A transformation: see rheos.pipelines.grouping.group_by_reducer."""
    return lambda dataset: grouping.group_by_reducer(dataset, key_func, reducer)


def rejection_resample(class_func, target_dist, initial_dist=None, seed=None):
    """A transformation: see rheos.pipelines.mixing.rejection_resample."""
    return lambda dataset: mixing.rejection_resample(
        dataset, class_func, target_dist, initial_dist, seed
    )


def dense_to_sparse_batch(batch_size, row_shape):
    """A transformation: batches as sparse tensors, of elements no larger than `row_shape`."""

    return lambda dataset: batching.sparse_batch(dataset, batch_size, row_shape)


def dense_to_ragged_batch(batch_size, drop_remainder=False, row_splits_dtype=dtypes.int64):
    """A transformation: the ragged_batch method."""
    return lambda dataset: batching.ragged_batch(
        dataset, batch_size, drop_remainder, row_splits_dtype
    )


def parse_example_dataset(features, num_parallel_calls=1, deterministic=None):
    """A transformation: what is in batches of serialized examples, as dicts of tensors."""
    return lambda dataset: tables.parse_example_dataset(
        dataset, features, num_parallel_calls, deterministic
    )


def map_and_batch(
    map_func,
    batch_size,
    num_parallel_batches=None,
    drop_remainder=False,
    num_parallel_calls=None,
):
    """A transformation: map, then batch, in one."""
    if num_parallel_batches is not None and num_parallel_calls is not None:
        raise ValueError(
            "The `num_parallel_batches` and `num_parallel_calls` arguments are mutually exclusive."
        )
    if num_parallel_calls is None:
        num_parallel_calls = batch_size * (num_parallel_batches or 1)

    def apply(dataset):
        function = TracedFunction(
            map_func, "tf.data.experimental.map_and_batch()", dataset.element_spec
        )
        size, drop, static = batching.sizes(batch_size, drop_remainder)
        return dataset._derive(
            "MapAndBatchDataset",
            function.captured,
            size,
            convert_to_tensor(num_parallel_calls, dtypes.int64, name="num_parallel_calls"),
            drop,
            spec=structure.batched(function.output_spec, static),
            **functional.call_attrs(function),
        )

    return apply


def shuffle_and_repeat(buffer_size, count=None, seed=None):
    """A transformation: shuffle, then repeat; the buffer stays full from one time to the next."""

    def apply(dataset):
        return dataset._derive(
            "ShuffleAndRepeatDataset",
            convert_to_tensor(buffer_size, dtypes.int64, name="buffer_size"),
            *get_seed(seed),
            convert_to_tensor(-1 if count is None else count, dtypes.int64, name="count"),
            **dataset._shuffle_and_repeat_attrs,
        )

    return apply


def parallel_interleave(
    map_func,
    cycle_length,
    block_length=1,
    sloppy=False,
    buffer_output_elements=None,
    prefetch_input_elements=None,
):
    """A transformation: elements of `cycle_length` datasets that a function makes, side by side.

    sloppy: whether a dataset that is slow may be passed over, so that the order changes.
    """
    return lambda dataset: functional.parallel_interleave(
        dataset,
        map_func,
        cycle_length,
        block_length,
        sloppy,
        buffer_output_elements,
        prefetch_input_elements,
    )


def unbatch():
    """A transformation: the unbatch method."""
    return batching.unbatch


def unique():
    """A transformation: the unique method."""
    return lambda dataset: dataset.unique()


def ignore_errors(log_warning=False):
    """A transformation: the elements that can be computed."""
    return lambda dataset: dataset.ignore_errors(log_warning)


def enumerate_dataset(start=0):
    """A transformation: the enumerate method."""
    return lambda dataset: dataset.enumerate(start)


def scan(initial_state, scan_func):
    """A transformation: the scan method."""
    return lambda dataset: functional.scan(dataset, initial_state, scan_func)


def take_while(predicate):
    """A transformation: the take_while method."""
    return lambda dataset: dataset.take_while(predicate)


def assert_cardinality(expected_cardinality):
    """A transformation: it is an error if there are not as many elements."""
    return lambda dataset: dataset.assert_cardinality(expected_cardinality)


_OF_A_COPY = 3  # operations by which TensorFlow 1.15 copies elements between devices


def _on_device(dataset, device):
    dataset._device = device.to_string() if hasattr(device, "to_string") else device
    return dataset


def copy_to_device(target_device, source_device="/cpu:0"):
    """A transformation: the elements, which what runs at once gets in the memory of the device.

    Sessions copy elements when they are taken on a card.
    """

    def apply(dataset):
        count_operations(_OF_A_COPY)
        return _on_device(dataset._derive_same("CopyToDevice"), target_device)

    return apply


def prefetch_to_device(device, buffer_size=None):
    """A transformation: the elements, some of them made ahead of time, as copy_to_device() puts
    them on the device."""

    def apply(dataset):
        count_operations(_OF_A_COPY)
        return _on_device(dataset.prefetch(buffer_size), device)

    return apply


def _with_tag(op_type):
    def make(tag):
        def apply(dataset):
            return dataset._derive(op_type, convert_to_tensor(tag, dtypes.string, name="tag"))

        return apply

    return make


def latency_stats(tag):
    """A transformation: the elements; how long each takes is told where statistics go."""
    return _with_tag("LatencyStatsDataset")(tag)


def bytes_produced_stats(tag):
    """A transformation: the elements; how large they are is told where statistics go."""
    return _with_tag("BytesProducedStatsDataset")(tag)


def cardinality(dataset):
    """How many elements there are: the cardinality method."""
    return dataset.cardinality()


def get_single_element(dataset):
    """The only element of a dataset; running it fails if there are more or none."""
    return functional.single_element(dataset)


def counter(dataset_class, start=0, step=1, dtype=dtypes.int64):
    """The counter method of a class of datasets."""
    return dataset_class.counter(start, step, dtype)


# ---- Older names


def batch_and_drop_remainder(batch_size):
    """A transformation: batches, without a last one that is short."""
    return lambda dataset: dataset.batch(batch_size, drop_remainder=True)


def padded_batch_and_drop_remainder(batch_size, padded_shapes, padding_values=None):
    """A transformation: padded batches, without a last one that is short."""
    return lambda dataset: dataset.padded_batch(
        batch_size, padded_shapes, padding_values, drop_remainder=True
    )


def sloppy_interleave(map_func, cycle_length, block_length=1):
    """A transformation: parallel_interleave in whatever order elements are ready."""
    return parallel_interleave(map_func, cycle_length, block_length, sloppy=True)


def sliding_window_batch(window_size, stride=None, window_shift=None, window_stride=1):
    """A transformation: batches of `window_size` elements, `window_stride` apart, every
    `window_shift` (or `stride`) elements."""
    if stride is not None and window_shift is not None:
        raise ValueError("Cannot specify both `stride` and `window_shift`.")
    shift = window_shift if window_shift is not None else 1 if stride is None else stride

    def batches(*windows):
        parts = nest.map_up_to(windows, lambda window: window.batch(window_size), windows)
        return type(nest.flatten(parts)[0]).zip(parts if len(parts) > 1 else parts[0])

    return lambda dataset: dataset.window(
        window_size, shift, window_stride, drop_remainder=True
    ).flat_map(batches)


def assert_element_shape(expected_shapes):
    """A transformation: the elements, known to have these shapes; ValueError if they cannot."""

    def apply(dataset):
        spec = dataset.element_spec

        def shaped(*element):
            element = element if type(spec) is tuple else element[0]
            return nest.map_up_to(spec, _with_shape, element, expected_shapes)

        return dataset.map(shaped)

    return apply


def _with_shape(value, shape):
    value = check_ops.ensure_shape(value, shape)
    value.set_shape(shape)
    return value
