"""Strategies as TensorFlow 1 has them: with iterators of their own, and in graphs."""

import contextlib

from rheos.framework.eager import executing_eagerly
from rheos.framework.graph import device
from rheos.ops.flow.control_flow_ops import group as grouped
from rheos.pipelines.dataset import DatasetV2
from rheos.pipelines.iterators import make_initializable_iterator
from rheos.replication import mirrored, multi_worker, strategy as strategies
from rheos.replication.input import DistributedDataset, dealt_out
from rheos.replication.options import InputReplicationMode
from rheos.training.cluster_resolver import TFConfigClusterResolver
from rheos.training.device_setter import replica_device_setter


class InputIterator:
    """What gives the elements of a dataset that replicas share, in a graph."""

    def __init__(self, dataset):
        dataset = dataset._dataset if isinstance(dataset, DistributedDataset) else dataset
        self._iterator = make_initializable_iterator(dataset)

    @property
    def initializer(self):
        """The operation that begins with the first element."""
        return self._iterator.initializer

    def initialize(self):
        """A list of the operations that begin with the first element."""
        return [self._iterator.initializer]

    def get_next(self):
        """The next element, with a value for each replica."""
        return self._iterator.get_next()


class StrategyV1(strategies.Strategy):
    """How a program of TensorFlow 1 is shared by replicas."""

    def make_dataset_iterator(self, dataset):
        """An iterator over a dataset, each batch of which the replicas share."""
        return InputIterator(self.experimental_distribute_dataset(dataset))

    def make_input_fn_iterator(self, input_fn, replication_mode=InputReplicationMode.PER_WORKER):
        """An iterator over the dataset, or what the function, that input_fn(InputContext) gives:
        each replica gets the next of its elements."""
        if replication_mode is not InputReplicationMode.PER_WORKER:
            raise ValueError(f"Input replication mode not supported: {replication_mode}")
        made = input_fn(self.extended._input_context())
        count = self.extended._num_copies
        return InputIterator(dealt_out(made, count) if count > 1 else made)

    def experimental_make_numpy_dataset(self, numpy_input, session=None):
        """A dataset of the rows of arrays, which a step may share after batch()."""
        return DatasetV2.from_tensor_slices(numpy_input)

    def experimental_run(self, fn, input_iterator=None):
        """Runs a step on each replica, with its share of the iterator's next element."""
        args = () if input_iterator is None else (input_iterator.get_next(),)
        return self.run(fn, args=args)

    def experimental_run_v2(self, fn, args=(), kwargs=None):
        """Runs a step on each replica."""
        return self.run(fn, args=args, kwargs=kwargs)

    def reduce(self, reduce_op, value, axis=None):
        """The sum or mean of a value over the replicas, and over an axis unless that is None."""
        return super().reduce(reduce_op, value, axis)

    def unwrap(self, value):
        """The values of the replicas, as a list."""
        return list(self.experimental_local_results(value))

    def group(self, value, name=None):
        """One operation of the operations of all replicas."""
        return grouped(*self.unwrap(value), name=name)


class OneDeviceStrategy(StrategyV1, mirrored.OneDeviceStrategy):
    """One replica, on the device that is named."""


class MirroredStrategy(StrategyV1, mirrored.MirroredStrategy):
    """Replicas on several devices, which all have copies of the variables."""


class CentralStorageStrategy(StrategyV1, mirrored.CentralStorageStrategy):
    """Replicas on several devices, and variables on one."""


class MultiWorkerMirroredStrategy(StrategyV1, multi_worker.MultiWorkerMirroredStrategy):
    """Replicas in several tasks, where operations run at once."""

    def __init__(self, cluster_resolver=None, communication_options=None):
        resolver = cluster_resolver or TFConfigClusterResolver()
        is_of_several = resolver.cluster_spec() or multi_worker.is_of_ranks(cluster_resolver)
        if is_of_several and not executing_eagerly():
            raise NotImplementedError(
                "Rheos has MultiWorkerMirroredStrategy of several tasks only where operations run "
                "at once: call tf.compat.v1.enable_eager_execution(), or train by "
                "tf.train.SyncReplicasOptimizer"
            )
        super().__init__(cluster_resolver, communication_options)


class ParameterServerStrategy(StrategyV1):
    """Variables on the parameter servers of a cluster, in turn, which each worker changes when it
    has gradients: a worker has one replica.

    cluster_resolver: which task this is, by default as TF_CONFIG says; without a cluster all is in
    this process. ValueError for a cluster without parameter servers.
    """

    def __init__(self, cluster_resolver=None):
        super().__init__()
        resolver = cluster_resolver or TFConfigClusterResolver()
        spec, job = resolver.cluster_spec(), resolver.task_type
        self._extended._cluster_resolver = resolver
        self._extended.experimental_between_graph = True
        self._placement = None
        if spec and job != "evaluator":
            if "ps" not in spec.jobs:
                raise ValueError("ParameterServerStrategy needs tasks of the job ps")
            worker = f"/job:{job}/task:{resolver.task_id}"
            self._placement = replica_device_setter(cluster=spec, worker_device=worker)
            is_chief = job in ("chief", "master") or (
                "chief" not in spec.jobs and (job, resolver.task_id) == ("worker", 0)
            )
            self._extended.experimental_should_init = is_chief
            self._extended.should_checkpoint = self._extended.should_save_summary = is_chief

    @contextlib.contextmanager
    def scope(self):
        """A context in which the strategy is the one in use, and variables are on the servers."""
        placed = device(self._placement) if self._placement else contextlib.nullcontext()
        with super().scope(), placed:
            yield self


# ---- tf.contrib.distribute


class ContribMirroredStrategy(MirroredStrategy):
    """Replicas on several devices.

    num_gpus_per_worker, auto_shard_dataset: accepted. num_gpus: of which there are none, so that
    any but 0 is a RuntimeError.
    """

    def __init__(
        self,
        devices=None,
        num_gpus=None,
        num_gpus_per_worker=None,
        cross_device_ops=None,
        auto_shard_dataset=False,
        cross_tower_ops=None,
    ):
        if devices is None and (num_gpus or num_gpus_per_worker):
            devices = [f"/gpu:{i}" for i in range(num_gpus or num_gpus_per_worker)]
        super().__init__(devices, cross_device_ops or cross_tower_ops)

    def make_dataset_iterator(self, dataset):
        """An iterator over a dataset: each replica gets the next of its elements."""
        count = self.extended._num_copies
        return InputIterator(dealt_out(dataset, count) if count > 1 else dataset)
