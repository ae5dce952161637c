"""Datasets whose elements are shared by replicas.

A distributed dataset is one whose elements are PerReplicas: a batch is cut into a part for each
replica, or each replica gets the next batch.
"""

from rheos.autograph.loops import register_for_loop
from rheos.autograph.state import filled_like
from rheos.framework import nest
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.defaults import get_default_graph
from rheos.framework.operation import Tensor
from rheos.framework.tensor_spec import register_type_spec_from_value
from rheos.ops.array import array_ops
from rheos.pipelines import nest as element_nest
from rheos.pipelines.dataset import DatasetV2
from rheos.pipelines.loops import loop_over
from rheos.pipelines.owned import IteratorSpec, OwnedIterator
from rheos.replication.options import InputReplicationMode
from rheos.replication.values import PerReplica


def is_per_replica(options):
    """Whether InputOptions ask for a dataset for each replica."""
    mode = getattr(options, "experimental_replication_mode", None)
    return mode is InputReplicationMode.PER_REPLICA


class DistributedIterator(OwnedIterator):
    """What gives the elements of a distributed dataset one after the other."""

    def _with_parts(self, parts):
        return DistributedIterator(components=parts, element_spec=self._element_spec)

    @property
    def _type_spec(self):
        return DistributedIteratorSpec(self._element_spec)


class DistributedIteratorSpec(IteratorSpec):
    """What is said of an iterator over a distributed dataset: the spec of its elements."""

    __slots__ = ()

    @property
    def value_type(self):
        """DistributedIterator."""
        return DistributedIterator


register_type_spec_from_value((DistributedIterator,), lambda value: value._type_spec)


class DistributedDataset:
    """A dataset that is shared by replicas: its elements have a value for each."""

    def __init__(self, dataset):
        self._dataset = dataset

    @property
    def element_spec(self):
        """The structure of the specs of an element's values, PerReplicaSpecs."""
        return self._dataset.element_spec

    def reduce(self, initial_state, reduce_func):
        """What a function makes of a state and each element, one after the other."""
        return self._dataset.reduce(initial_state, reduce_func)

    def cardinality(self):
        """The number of elements, or tf.data.INFINITE_CARDINALITY or UNKNOWN_CARDINALITY."""
        return self._dataset.cardinality()

    def __iter__(self):
        graph = get_default_graph()
        if not graph._is_eager and not graph.building_function:
            raise RuntimeError(
                "__iter__() is only supported inside of tf.function or when eager execution is "
                "enabled."
            )
        return DistributedIterator(self._dataset)

    def __repr__(self):
        return f"<DistributedDataset element_spec={self.element_spec!r}>"


def _is_distributed(value):
    return isinstance(value, DistributedDataset) and not get_default_graph()._is_eager


def _for_distributed(value, goes_on, body, loop):
    specs = nest.map_leaves(lambda spec: spec._of_specs(), value.element_spec)
    element = nest.map_leaves(filled_like, specs, expand_composites=True)
    loop_over(value._dataset, element, goes_on, body, loop)


register_for_loop(_is_distributed, _for_distributed)


# ---- A batch in parts


def split_batches(dataset, count):
    """The distributed dataset of the parts of each batch for so many replicas: of as many rows, but
    that the last ones may have fewer or none."""

    def split(*element):
        element = element if len(element) > 1 or is_tuple else element[0]
        leaves = element_nest.flatten(element)
        parts = [[_part(leaf, i, count) for i in range(count)] for leaf in leaves]
        return element_nest.pack_sequence_as(element, [PerReplica(part) for part in parts])

    is_tuple = type(dataset.element_spec) is tuple
    return DistributedDataset(dataset.map(split))


def share_of(dataset, number, count):
    """The dataset of one worker's part of each batch."""

    def cut(*element):
        element = element if len(element) > 1 or is_tuple else element[0]
        leaves = [_part(leaf, number, count) for leaf in element_nest.flatten(element)]
        return element_nest.pack_sequence_as(element, leaves)

    is_tuple = type(dataset.element_spec) is tuple
    return dataset.map(cut)


def one_after_the_other(dataset):
    """The dataset of the parts of PerReplicas, one after the other."""

    def parts(*element):
        element = element if len(element) > 1 or is_tuple else element[0]
        leaves = element_nest.flatten(element)
        every = [
            element_nest.pack_sequence_as(element, list(part))
            for part in zip(*(leaf.values for leaf in leaves))
        ]
        found = [DatasetV2.from_tensors(one) for one in every]
        whole = found[0]
        for one in found[1:]:
            whole = whole.concatenate(one)
        return whole

    is_tuple = type(dataset.element_spec) is tuple
    return dataset.flat_map(parts)


def parts_of(value, extended):
    """A batch in parts, one for each of a strategy's replicas of this process: a PerReplica, or the
    part itself where there is one."""
    tensor = value if nest.is_composite(value) else convert_to_tensor(value)
    count, total = extended._num_copies, extended._num_replicas_in_sync
    first = extended._first_replica
    parts = [_part(tensor, first + i, total) for i in range(count)]
    return parts[0] if count == 1 else PerReplica(parts)


def _part(value, number, count):
    if value.shape.rank == 0:
        raise ValueError(
            "a dataset that is shared by replicas needs batches, not scalars: call batch() first, "
            "with the size of the batch for all replicas"
        )
    known = value.shape[0] if value.shape.rank else None
    known = getattr(known, "value", known)
    if known is not None and known % count == 0:
        share = known // count
    else:
        rows = array_ops.shape(value)[0] if isinstance(value, Tensor) else value.nrows()
        share = -(-rows // count)
    return value[number * share : (number + 1) * share]


# ---- Batches in turn


def dealt_out(dataset, count):
    """The distributed dataset in which each replica gets the next of a dataset's elements.

    At the end, replicas for which there is none get batches without rows; where batches have a size
    that is known, elements that are left over are not used.
    """
    spec = dataset.element_spec
    specs = element_nest.flatten(spec)
    is_known = all(one.shape.is_fully_defined() for one in specs)

    def deal(*windows):
        windows = windows if len(windows) > 1 or is_tuple else windows[0]
        whole = DatasetV2.zip(windows) if element_nest.is_nested(windows) else windows
        elements = [_nth(whole, i, spec, is_known) for i in range(count)]
        return _side_by_side(elements)

    is_tuple = type(spec) is tuple
    return DistributedDataset(dataset.window(count, drop_remainder=is_known).map(deal))


def _nth(window, number, spec, is_known):
    there = window.skip(number).take(1)
    if is_known:
        return there.get_single_element()
    nothing = element_nest.map_up_to(spec, _without_rows, spec)
    return there.reduce(nothing, lambda before, *found: _one_or_all(found))


def _one_or_all(found):
    return found[0] if len(found) == 1 else found


def _without_rows(spec):
    dims = [dim or 0 for dim in spec.shape.as_list()[1:]]
    return array_ops.zeros([0, *dims], spec.dtype)


def _side_by_side(elements):
    leaves = zip(*map(element_nest.flatten, elements))
    return element_nest.pack_sequence_as(elements[0], [PerReplica(part) for part in leaves])


def side_by_side(datasets):
    """The distributed dataset in which each replica has a dataset of its own."""
    return DistributedDataset(
        DatasetV2.zip(tuple(datasets)).map(lambda *elements: _side_by_side(elements))
    )
