"""Datasets of which each worker of a coordinator has its own, and what else is each worker's."""

import uuid

from rheos.framework import dtypes
from rheos.framework.eager import executing_eagerly
from rheos.framework.elsewhere import Elsewhere
from rheos.framework.errors import InvalidArgumentError
from rheos.framework.func_graph import func_graph_from_py_func
from rheos.framework.op_call import apply_op, op1
from rheos.framework.tensor_shape import TensorShape
from rheos.ops.array.constant_op import constant
from rheos.ops.state.eager_variables import _new_handle
from rheos.ops.state.variables import variable_creator_scope
from rheos.pipelines.base import DatasetBase
from rheos.pipelines.owned import OwnedIterator, _types_and_shapes
from rheos.replication.input import DistributedDataset


class OnWorker(Elsewhere):
    """A resource of which each worker has its own."""

    def _check(self, session):
        if session.worker is None:
            raise InvalidArgumentError(
                None, None,
                f"{self.what} is used by functions that a ClusterCoordinator schedules: each "
                "worker has its own",
            )  # fmt: skip


class _Iterator(OnWorker):
    """An iterator over the dataset of a function, whose body is `graph`."""

    what = "an iterator of create_per_worker_dataset()"

    def __init__(self, cluster, name, graph, element_spec):
        super().__init__(cluster)
        self._name, self._graph, self._element_spec = name, graph, element_spec

    def tensor_in(self, session):
        """A new iterator, at the start."""
        self._check(session)
        (variant,) = session.added(self._graph, self._graph.external_captures)
        types = _types_and_shapes(self._element_spec)
        iterator = op1("IteratorV2", None, shared_name=self._name, container="", **types)
        session.run(apply_op("MakeIterator", None, variant, iterator))
        return iterator


class _WorkerIndex(OnWorker):
    """A variable that holds the number of the worker."""

    what = "the index of the current worker"

    def tensor_in(self, session):
        """Its handle."""
        self._check(session)
        name = f"worker_index_{uuid.uuid4().hex[:12]}"
        handle = op1("VarHandleOp", None, dtype=dtypes.int64, shape=[], shared_name=name)
        number = constant(session.worker, dtypes.int64)
        session.run(apply_op("AssignVariableOp", None, handle, number))
        return handle


def _stand_in(resource):
    """A handle of this process that stands for a resource elsewhere."""
    handle = _new_handle(dtypes.float32, TensorShape([]), "on_workers")
    handle._elsewhere = resource
    return handle


def worker_index(cluster):
    """A tensor that is the number of the worker, in a function that is traced."""
    handle = _stand_in(_WorkerIndex(cluster))
    return op1("ReadVariableOp", None, handle, dtype=dtypes.int64)


class PerWorkerIterator(OwnedIterator):
    """An iterator on each worker: functions that a coordinator schedules take elements of the
    worker's own."""

    def get_next(self):
        """The next element, in a function that is traced."""
        if executing_eagerly():
            raise NotImplementedError(
                "each worker has its own iterator: elements are taken in a function that a "
                "ClusterCoordinator schedules"
            )
        return super().get_next()

    def _with_parts(self, parts):
        return PerWorkerIterator(components=parts, element_spec=self._element_spec)


class PerWorkerDataset:
    """A dataset on each worker, made there by a function.

    dataset_fn: a function, traced or not, that gives a dataset. TypeError if it gives something
    else, ValueError if it makes variables, NotImplementedError for a dataset itself.
    """

    def __init__(self, dataset_fn, cluster):
        self._cluster = cluster
        if isinstance(dataset_fn, (DatasetBase, DistributedDataset)):
            raise NotImplementedError(
                "create_per_worker_dataset() takes a function that makes the dataset, as each "
                "worker does by itself: a dataset that is there cannot be sent to them"
            )
        made = []

        def variant():
            dataset = dataset_fn()
            if isinstance(dataset, DistributedDataset):
                dataset = dataset._dataset
            if not isinstance(dataset, DatasetBase):
                raise TypeError(f"dataset_fn has to give a dataset, not {dataset!r}")
            made.append(dataset)
            return dataset._apply_options()._variant_tensor

        with variable_creator_scope(_no_variables):
            self._graph = func_graph_from_py_func(f"dataset_fn_{uuid.uuid4().hex[:12]}", variant)
        self._graph.finish()
        self._element_spec = made[0].element_spec

    @property
    def element_spec(self):
        """The structure of the specs of an element."""
        return self._element_spec

    def __iter__(self):
        if not executing_eagerly():
            raise RuntimeError(
                "__iter__() is not supported inside of tf.function or in graph mode."
            )
        name = f"iterator_{uuid.uuid4().hex[:12]}"
        resource = _Iterator(self._cluster, name, self._graph, self._element_spec)
        return PerWorkerIterator(components=[_stand_in(resource)], element_spec=self._element_spec)


def _no_variables(next_creator, **arguments):
    raise ValueError("Creating variables in `dataset_fn` is not allowed.")
