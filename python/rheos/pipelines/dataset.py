"""Datasets: elements that a pipeline of operations makes, one after the other."""

import numpy as np

from rheos.framework import dtypes
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.graph import control_dependencies
from rheos.framework.op_call import op1
from rheos.framework.sparse_tensor import SparseTensor
from rheos.framework.tensor_spec import TensorSpec
from rheos.ops.array import array_ops
from rheos.ops.flow.control_flow_ops import Assert
from rheos.ops.io import io_ops, string_ops
from rheos.ops.math import math_ops
from rheos.pipelines import (
    batching,
    files,
    functional,
    generator as generators,
    grouping,
    loops,  # noqa: F401  `for` of converted functions knows datasets by it
    mixing,
    nest,
    owned,
    structure,
)
from rheos.pipelines.base import DatasetBase, DatasetSpec
from rheos.pipelines.random_seed import get_seed

AUTOTUNE = -1
INFINITE_CARDINALITY = -1
UNKNOWN_CARDINALITY = -2


def _int64(value, name):
    return convert_to_tensor(value, dtypes.int64, name=name)


def _check_same_length(rows):
    """ValueError if tensors are known to have different first dimensions."""
    sizes = {row.shape.as_list()[0] for row in rows if row.shape.ndims} - {None}
    if len(sizes) > 1:
        raise ValueError(
            f"Dimensions {' and '.join(map(str, sorted(sizes)))} are not compatible: the "
            "components of from_tensor_slices have different first dimensions"
        )


class DatasetV2(DatasetBase):
    """A pipeline. Each method that transforms makes another one; nothing runs before an iterator
    asks for elements.

    >>> numbers = tf.data.Dataset.range(5).map(lambda x: x * x).batch(2)
    >>> [batch.tolist() for batch in numbers.as_numpy_iterator()]
    [[0, 1], [4, 9], [16]]
    """

    # Whether the end of what a mapped function reads is an error, and not the end of the dataset.
    _map_preserves_cardinality = True
    # TensorFlow 1.15 has the same seeds each time here.
    _shuffle_and_repeat_attrs = {"reshuffle_each_iteration": True}

    # ---- As Python has it

    def __iter__(self):
        return owned.iterate(self)

    def __bool__(self):
        return True  # and not whether there are elements

    def __len__(self):
        return owned.length(self)

    def as_numpy_iterator(self):
        """The elements as arrays, one after the other; eagerly only."""
        return owned.numpy_iterator(self)

    # ---- Sources

    @classmethod
    def from_tensors(cls, tensors, name=None):
        """One element: `tensors`."""
        element = structure.normalize_element(tensors)
        spec = structure.element_spec(element)
        return cls._make("TensorDataset", structure.to_tensor_list(spec, element), spec=spec)

    @classmethod
    def from_tensor_slices(cls, tensors, name=None):
        """The rows of `tensors`, a structure whose first dimensions are equal.

        >>> rows = tf.data.Dataset.from_tensor_slices({"x": [1, 2], "y": [3, 4]})
        >>> [(row["x"].item(), row["y"].item()) for row in rows.as_numpy_iterator()]
        [(1, 3), (2, 4)]
        """
        element = structure.normalize_element(tensors)
        whole = structure.element_spec(element)
        rows = structure.to_batched_tensor_list(whole, element)
        if not rows:
            raise ValueError("from_tensor_slices needs at least one tensor, there is none.")
        spec = structure.unbatched(whole)
        _check_same_length(rows)
        return cls._make("TensorSliceDataset", rows, spec=spec)

    @classmethod
    def from_sparse_tensor_slices(cls, sparse_tensor):
        """The slices of a sparse tensor along its first dimension: indices, values and shape."""
        if not isinstance(sparse_tensor, SparseTensor):
            raise TypeError(f"`sparse_tensor` must be a `tf.SparseTensor` object, not "
                            f"{sparse_tensor!r}.")  # fmt: skip
        shape = sparse_tensor.dense_shape.shape
        rank = None if shape.ndims is None else shape.as_list()[0]
        rest = None if rank is None else rank - 1
        spec = (
            TensorSpec([None, rest], dtypes.int64),
            TensorSpec([None], sparse_tensor.dtype),
            TensorSpec([rest], dtypes.int64),
        )
        variant = op1(
            "SparseTensorSliceDataset",
            None,
            sparse_tensor.indices,
            sparse_tensor.values,
            sparse_tensor.dense_shape,
        )
        return cls._of_variant(variant, spec, (), "SparseTensorSliceDataset")

    @classmethod
    def range(cls, *args, output_type=dtypes.int64, name=None):
        """Numbers: range(stop), range(start, stop) or range(start, stop, step).

        >>> [x.item() for x in tf.data.Dataset.range(1, 8, 3).as_numpy_iterator()]
        [1, 4, 7]
        """
        if not 1 <= len(args) <= 3:
            raise ValueError(
                f"Dataset.range takes one, two or three numbers, got {len(args)}: {args}"
            )
        start, stop, step = (0, args[0], 1) if len(args) == 1 else (*args, 1)[:3]
        return cls._make(
            "RangeDataset",
            _int64(start, "start"),
            _int64(stop, "stop"),
            _int64(step, "step"),
            spec=TensorSpec([], output_type),
        )

    @classmethod
    def from_generator(
        cls,
        generator,
        output_types=None,
        output_shapes=None,
        args=None,
        output_signature=None,
        name=None,
    ):
        """What the iterator that `generator(*args)` returns yields, anew for each iterator.

        output_types, output_shapes: structures of the elements' dtypes and shapes, or
        output_signature: of their specs. args: tensors, which the function gets as arrays.

        >>> spec = tf.TensorSpec([], tf.int32)
        >>> squares = tf.data.Dataset.from_generator(
        ...     lambda: (i * i for i in range(3)), output_signature=spec)
        >>> [x.item() for x in squares.as_numpy_iterator()]
        [0, 1, 4]
        """
        return generators.from_generator(
            cls, generator, output_types, output_shapes, args, output_signature
        )

    @classmethod
    def random(cls, seed=None, rerandomize_each_iteration=None, name=None):
        """Pseudorandom integers from 0 up to 2^32, without an end.

        rerandomize_each_iteration: whether each iterator gets others.
        """
        spec = TensorSpec([], dtypes.int64)
        if not rerandomize_each_iteration:
            return cls._make("RandomDataset", *get_seed(seed), spec=spec)
        return cls._make(
            "RandomDatasetV2",
            *get_seed(seed),
            op1("DummySeedGenerator", None),
            spec=spec,
            rerandomize_each_iteration=True,
        )

    @classmethod
    def zip(cls, *args, datasets=None, name=None):
        """Elements that are structures of the elements of datasets, side by side.

        args: one structure of datasets, or several datasets, which are a tuple then.

        >>> both = tf.data.Dataset.zip((tf.data.Dataset.range(2), tf.data.Dataset.range(7, 9)))
        >>> [(a.item(), b.item()) for a, b in both.as_numpy_iterator()]
        [(0, 7), (1, 8)]
        """
        if args and datasets is not None:
            raise TypeError("Dataset.zip takes its datasets by one way: `args` or `datasets`.")
        if datasets is None:
            if not args:
                raise TypeError("Dataset.zip needs datasets.")
            datasets = args[0] if len(args) == 1 else tuple(args)
        flat = nest.flatten(datasets)
        for dataset in flat:
            if isinstance(dataset, list):
                raise TypeError(
                    "The argument of `zip` must be a (nested) structure of `Dataset` objects; a "
                    "list is not one. Use a tuple instead."
                )
            if not isinstance(dataset, DatasetBase):
                raise TypeError(
                    "The argument of `zip` must be a (nested) structure of `Dataset` objects, not "
                    f"{type(dataset)}."
                )
        spec = nest.map_up_to(datasets, lambda dataset: dataset.element_spec, datasets)
        variants = [dataset._variant_tensor for dataset in flat]
        return cls._make("ZipDataset", variants, spec=spec, inputs=flat)

    @classmethod
    def list_files(cls, file_pattern, shuffle=None, seed=None, name=None):
        """The names of the files that fit patterns, shuffled unless `shuffle` is False."""
        file_pattern = convert_to_tensor(file_pattern, dtypes.string, name="file_pattern")
        files = io_ops.matching_files(file_pattern)
        is_something = math_ops.greater(array_ops.shape(files)[0], 0, name="match_not_empty")
        message = math_ops.add(
            "No files matched pattern: ",
            string_ops.reduce_join(file_pattern, separator=", "),
            name="message",
        )
        check = Assert(is_something, [message], summarize=1, name="assert_not_empty")
        with control_dependencies([check]):
            files = array_ops.identity(files)
        dataset = cls.from_tensor_slices(files)
        if shuffle is None or shuffle:
            count = array_ops.shape(files, out_type=dtypes.int64)[0]
            dataset = dataset.shuffle(math_ops.maximum(count, np.int64(1)), seed=seed)
        return dataset

    # ---- Order and number

    def concatenate(self, dataset, name=None):
        """The elements of this one, then those of another.

        >>> more = tf.data.Dataset.range(2).concatenate(tf.data.Dataset.range(8, 10))
        >>> [x.item() for x in more.as_numpy_iterator()]
        [0, 1, 8, 9]
        """
        mine, other = self.element_spec, dataset.element_spec
        try:
            same = [
                type(a) is type(b) and a._to_legacy_output_types() == b._to_legacy_output_types()
                for a, b in zip(nest.flatten(mine), nest.flatten_up_to(mine, other))
            ]
            nest.assert_same_structure(mine, other)
            if not all(same):
                raise TypeError(f"{mine} and {other}")
            spec = structure.most_specific(mine, other)
        except (TypeError, ValueError) as error:
            raise TypeError(
                f"Two datasets to concatenate have different types: {mine} and {other}"
            ) from error
        return self._make(
            "ConcatenateDataset",
            self._variant_tensor,
            dataset._variant_tensor,
            spec=spec,
            inputs=(self, dataset),
        )

    def repeat(self, count=None, name=None):
        """The elements `count` times; without an end if it is None or -1.

        >>> [x.item() for x in tf.data.Dataset.range(2).repeat(2).as_numpy_iterator()]
        [0, 1, 0, 1]
        """
        return self._derive("RepeatDataset", _int64(-1 if count is None else count, "count"))

    def take(self, count, name=None):
        """The first `count` elements; all if it is -1.

        >>> [x.item() for x in tf.data.Dataset.range(9).take(2).as_numpy_iterator()]
        [0, 1]
        """
        return self._derive("TakeDataset", _int64(count, "count"))

    def skip(self, count, name=None):
        """What follows the first `count` elements; nothing if it is -1.

        >>> [x.item() for x in tf.data.Dataset.range(4).skip(2).as_numpy_iterator()]
        [2, 3]
        """
        return self._derive("SkipDataset", _int64(count, "count"))

    def shard(self, num_shards, index, name=None):
        """Every `num_shards`th element, from number `index` on."""
        count = _int64(num_shards, "num_shards")
        return self._derive("ShardDataset", count, _int64(index, "index"))

    def enumerate(self, start=0, name=None):
        """Pairs of a number, from `start` on, and an element.

        >>> counted = tf.data.Dataset.range(7, 9).enumerate()
        >>> [(i.item(), x.item()) for i, x in counted.as_numpy_iterator()]
        [(0, 7), (1, 8)]
        """
        numbers = self._face.range(start, np.iinfo(np.int64).max)
        return self._face.zip((numbers, self))

    def shuffle(self, buffer_size, seed=None, reshuffle_each_iteration=None, name=None):
        """The elements in another order: each is drawn from the next `buffer_size` ones.

        seed: of the order. reshuffle_each_iteration: whether each repetition has another order
        (the default).

        >>> mixed = tf.data.Dataset.range(4).shuffle(4, seed=1)
        >>> sorted(x.item() for x in mixed.as_numpy_iterator())
        [0, 1, 2, 3]
        """
        again = True if reshuffle_each_iteration is None else bool(reshuffle_each_iteration)
        return self._derive(
            "ShuffleDataset",
            _int64(buffer_size, "buffer_size"),
            *get_seed(seed),
            reshuffle_each_iteration=again,
        )

    def prefetch(self, buffer_size=None, name=None):
        """The elements, up to `buffer_size` of them made ahead of time.

        >>> ahead = tf.data.Dataset.range(2).prefetch(tf.data.AUTOTUNE)
        >>> [x.item() for x in ahead.as_numpy_iterator()]
        [0, 1]
        """
        size = AUTOTUNE if buffer_size is None else buffer_size
        return self._derive("PrefetchDataset", _int64(size, "buffer_size"))

    def cache(self, filename="", name=None):
        """The elements, kept from the first time on: in memory, or in files of that name."""
        return self._derive(
            "CacheDataset", convert_to_tensor(filename, dtypes.string, name="filename")
        )

    def save(self, path, compression=None, shard_func=None, checkpoint_args=None):
        """Writes the elements to files in a folder, for load().

        compression: None or "GZIP". shard_func: of an element, the number of the file it goes to.
        """
        return files.save(self, path, compression, shard_func, checkpoint_args)

    @classmethod
    def load(cls, path, element_spec=None, compression=None, reader_func=None, wait=False):
        """The elements that save() wrote to a folder.

        element_spec: what is written there by default. compression: as when they were saved.
        reader_func: makes a dataset of one of datasets, those of the files.
        """
        if wait:
            raise NotImplementedError("wait of Dataset.load() is not supported")
        return files.load(cls, path, element_spec, compression, reader_func)

    def snapshot(self, path, compression="AUTO", reader_func=None, shard_func=None, name=None):
        """The elements, kept in files in a folder from the first time that all have been made.

        compression: "AUTO", "SNAPPY", "GZIP" or None. reader_func: makes a dataset of one of
        datasets, those of the files. shard_func: of an element, the number of the file it goes to.
        What makes the elements, if it changes, is made anew: each has a folder of its own inside.
        """
        return files.snapshot(self, path, compression, reader_func, shard_func)

    def unique(self, name=None):
        """Each element once."""
        return self._derive("UniqueDataset")

    def ignore_errors(self, log_warning=False, name=None):
        """The elements that can be computed."""
        return self._derive("IgnoreErrorsDataset", log_warning=log_warning)

    def fingerprint(self):
        """A number, uint64, that stands for what makes the elements; not TensorFlow's."""
        return op1("DatasetFingerprint", None, self._variant_tensor)

    def cardinality(self, name=None):
        """How many elements there are: INFINITE_CARDINALITY if there is no end,
        UNKNOWN_CARDINALITY if that cannot be told without making them."""
        return op1("DatasetCardinality", None, self._variant_tensor)

    def assert_cardinality(self, cardinality):
        """The elements; it is an error if there are not as many."""
        return self._derive("AssertCardinalityDataset", _int64(cardinality, "cardinality"))

    def explain(self, elements=None, seconds=2.0):
        """Which stage of the pipeline is slow: goes over it, and tells for each stage how many
        elements it made, how long one took, how full its buffer was, and which stage binds.

        elements, seconds: when to stop. The answer is a text; in a graph a tensor that gives one.
        """
        return functional.explain(self, -1 if elements is None else elements, seconds)

    def get_single_element(self, name=None):
        """The only element; running it fails if there are more or none."""
        return functional.single_element(self, name)

    def apply(self, transformation_func):
        """What a function makes of the dataset."""
        dataset = transformation_func(self)
        if not isinstance(dataset, DatasetBase):
            raise TypeError(
                f"`transformation_func` must return a `Dataset` object, got {type(dataset)}."
            )
        return dataset

    # ---- Functions of elements

    def map(
        self,
        map_func,
        num_parallel_calls=None,
        deterministic=None,
        synchronous=None,
        use_unbounded_threadpool=None,
        name=None,
    ):
        """What a function makes of each element.

        map_func: takes the components of a tuple as its arguments. num_parallel_calls: how many
        calls may run at once, AUTOTUNE for as many as it pays. deterministic: whether the order
        stays (the default).

        >>> doubled = tf.data.Dataset.range(3).map(lambda x: 2 * x)
        >>> [x.item() for x in doubled.as_numpy_iterator()]
        [0, 2, 4]
        """
        return functional.map_dataset(self, map_func, num_parallel_calls, deterministic)

    def flat_map(self, map_func, name=None):
        """The elements of the datasets that a function makes of elements, one after the other."""
        return functional.flat_map(self, map_func)

    def interleave(
        self,
        map_func,
        cycle_length=None,
        block_length=None,
        num_parallel_calls=None,
        deterministic=None,
        name=None,
    ):
        """Elements of `cycle_length` datasets that a function makes, by turns of `block_length`.

        >>> twos = tf.data.Dataset.range(2).interleave(
        ...     lambda i: tf.data.Dataset.from_tensors(i).repeat(2), cycle_length=2)
        >>> [x.item() for x in twos.as_numpy_iterator()]
        [0, 1, 0, 1]
        """
        return functional.interleave(
            self, map_func, cycle_length, block_length, num_parallel_calls, deterministic
        )

    def filter(self, predicate, name=None):
        """The elements for which a function gives true.

        >>> odd = tf.data.Dataset.range(6).filter(lambda x: x % 2 == 1)
        >>> [x.item() for x in odd.as_numpy_iterator()]
        [1, 3, 5]
        """
        return functional.filter_dataset(self, predicate)

    def take_while(self, predicate, name=None):
        """The elements before the first for which a function does not give true."""
        return functional.filter_dataset(self, predicate, "TakeWhileDataset", "take_while")

    def scan(self, initial_state, scan_func, name=None):
        """What a function of a state and an element gives beside the next state."""
        return functional.scan(self, initial_state, scan_func)

    def reduce(self, initial_state, reduce_func, name=None):
        """The last state, made of the first one by a function of a state and each element.

        >>> tf.data.Dataset.range(5).reduce(np.int64(0), lambda total, x: total + x).numpy().item()
        10
        """
        return functional.reduce(self, initial_state, reduce_func)

    # ---- Several datasets

    @staticmethod
    def choose_from_datasets(datasets, choice_dataset, stop_on_empty_dataset=True):
        """Elements of the datasets that the numbers of `choice_dataset`, int64, say."""
        return mixing.choose_from_datasets(datasets, choice_dataset, stop_on_empty_dataset)

    @staticmethod
    def sample_from_datasets(
        datasets,
        weights=None,
        seed=None,
        stop_on_empty_dataset=False,
        rerandomize_each_iteration=None,
    ):
        """Elements of datasets that are chosen at random: see rheos.pipelines.mixing."""
        return mixing.sample_from_datasets(
            datasets, weights, seed, stop_on_empty_dataset, rerandomize_each_iteration
        )

    def rejection_resample(self, class_func, target_dist, initial_dist=None, seed=None, name=None):
        """Pairs of a class and an element, so that classes come with `target_dist`: see
        rheos.pipelines.mixing."""
        return mixing.rejection_resample(self, class_func, target_dist, initial_dist, seed)

    @classmethod
    def counter(cls, start=0, step=1, dtype=dtypes.int64, name=None):
        """The numbers from `start` on by `step`, without an end."""
        dtype = dtypes.as_dtype(dtype)
        start = convert_to_tensor(start, dtype, name="start")
        step = convert_to_tensor(step, dtype, name="step")
        endless = cls.from_tensors(np.int64(0)).repeat()
        return functional.scan(endless, start, lambda state, _: (state + step, state))

    # ---- Groups

    def group_by_window(
        self, key_func, reduce_func, window_size=None, window_size_func=None, name=None
    ):
        """Elements with one key, made a dataset by a function: see rheos.pipelines.grouping."""
        return grouping.group_by_window(self, key_func, reduce_func, window_size, window_size_func)

    def bucket_by_sequence_length(
        self,
        element_length_func,
        bucket_boundaries,
        bucket_batch_sizes,
        padded_shapes=None,
        padding_values=None,
        pad_to_bucket_boundary=False,
        no_padding=False,
        drop_remainder=False,
        name=None,
    ):
        """Batches of elements of similar length: see rheos.pipelines.grouping."""
        return grouping.bucket_by_sequence_length(
            self,
            element_length_func,
            bucket_boundaries,
            bucket_batch_sizes,
            padded_shapes,
            padding_values,
            pad_to_bucket_boundary,
            no_padding,
            drop_remainder,
        )

    # ---- Batches

    def batch(
        self,
        batch_size,
        drop_remainder=False,
        num_parallel_calls=None,
        deterministic=None,
        name=None,
    ):
        """Every `batch_size` elements put together along a new first dimension.

        num_parallel_calls: how many batches are made ahead, AUTOTUNE for as many as it pays.

        >>> pairs = tf.data.Dataset.range(5).batch(2, drop_remainder=True)
        >>> [x.tolist() for x in pairs.as_numpy_iterator()]
        [[0, 1], [2, 3]]
        """
        return batching.batch(self, batch_size, drop_remainder, num_parallel_calls)

    def padded_batch(
        self, batch_size, padded_shapes=None, padding_values=None, drop_remainder=False, name=None
    ):
        """Batches of tensors of several shapes, each padded to `padded_shapes`, or where that is
        None or -1 to the longest of the batch.

        >>> rows = tf.data.Dataset.range(1, 4).map(lambda n: tf.fill([n], n)).padded_batch(3)
        >>> print(next(rows.as_numpy_iterator()))
        [[1 0 0]
         [2 2 0]
         [3 3 3]]
        """
        return batching.padded_batch(
            self, batch_size, padded_shapes, padding_values, drop_remainder
        )

    def ragged_batch(
        self, batch_size, drop_remainder=False, row_splits_dtype=dtypes.int64, name=None
    ):
        """Batches of tensors of several shapes, as ragged tensors where the shapes differ."""
        return batching.ragged_batch(self, batch_size, drop_remainder, row_splits_dtype)

    def rebatch(self, batch_size, drop_remainder=False, name=None):
        """The rows of batches in batches of another size, or of several in turn."""
        return batching.rebatch(self, batch_size, drop_remainder)

    def sparse_batch(self, batch_size, row_shape, name=None):
        """Batches as sparse tensors, of elements no larger than `row_shape`."""
        return batching.sparse_batch(self, batch_size, row_shape)

    def unbatch(self, name=None):
        """The rows of each element."""
        return batching.unbatch(self)

    def window(self, size, shift=None, stride=1, drop_remainder=False, name=None):
        """Datasets of `size` elements, `stride` apart, every `shift` elements."""
        shift = size if shift is None else shift
        spec = nest.map_up_to(self.element_spec, DatasetSpec, self.element_spec)
        return self._derive(
            "WindowDataset",
            _int64(size, "size"),
            _int64(shift, "shift"),
            _int64(stride, "stride"),
            convert_to_tensor(drop_remainder, dtypes.bool, name="drop_remainder"),
            spec=spec,
        )


DatasetBase._face = DatasetV2
