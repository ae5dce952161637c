"""Steps of a model that the workers of a ParameterServerStrategy make."""

import collections

from rheos.framework import replicas
from rheos.models.data import Batches
from rheos.pipelines.base import DatasetBase
from rheos.replication.cluster_coordinator import ClusterCoordinator
from rheos.replication.input import DistributedDataset
from rheos.replication.options import InputContext
from rheos.replication.parameter_servers import ParameterServerStrategy
from rheos.tracing.function import function as traced

_WAITING_PER_WORKER = 16  # batches that wait for a worker, each with its data


def strategy_in_use():
    """The ParameterServerStrategy in whose scope this is; None: another one."""
    strategy = replicas.get_strategy() if replicas.has_strategy() else None
    return strategy if isinstance(strategy, ParameterServerStrategy) else None


class DatasetCreator:
    """What fit() takes to have each worker make its own dataset.

    dataset_fn: a function of a tf.distribute.InputContext that gives a dataset of batches.
    input_options: accepted. TypeError for what cannot be called.
    """

    def __init__(self, dataset_fn, input_options=None):
        if not callable(dataset_fn):
            raise TypeError(
                f"`dataset_fn` for `DatasetCreator` must be a `callable`. Received: {dataset_fn}"
            )
        self.dataset_fn = dataset_fn
        self.input_options = input_options

    def __call__(self, *args, **kwargs):
        """The dataset; TypeError if the function gives something else."""
        dataset = self.dataset_fn(*args, **kwargs)
        if not isinstance(dataset, (DatasetBase, DistributedDataset)):
            raise TypeError(
                "The `callable` provided to `DatasetCreator` must return a Dataset. Received: "
                f"{dataset}"
            )
        return dataset


def dataset_of(creator, strategy):
    """The dataset of a DatasetCreator where a strategy's replicas, or one process, read it."""
    if strategy is None:
        return creator(InputContext())
    return strategy.distribute_datasets_from_function(creator, creator.input_options)


class WorkerBatches(Batches):
    """Batches that each worker makes: items are the iterator, one for each step."""

    is_open = is_shared = True

    def __init__(self, model, creator, steps):
        super().__init__(model)
        if steps is None:
            raise ValueError(
                "When using a `tf.keras.utils.experimental.DatasetCreator`, `steps_per_epoch`, "
                "`validation_steps` or `steps` argument must be provided in `Model.fit`, "
                "`Model.evaluate`, or `Model.predict`."
            )
        strategy = model._served
        dataset = ClusterCoordinator(strategy).create_per_worker_dataset(
            lambda: strategy.distribute_datasets_from_function(creator)
        )
        self._iterator = iter(dataset)  # epochs go on where the last one ended
        self.num_batches = steps

    def __iter__(self):
        return iter([self._iterator] * self.num_batches)


class Steps:
    """Steps of one mode that workers make.

    step: a function of a batch. They are given to workers as they come, but not many more than
    these can make at a time.
    """

    def __init__(self, model, step, batches):
        self._coordinator = ClusterCoordinator(model._served)
        is_iterator = isinstance(batches, WorkerBatches)
        self._function = traced(
            (lambda iterator: step(next(iterator))) if is_iterator else step,
            reduce_retracing=True,
        )
        self._waiting = collections.deque()
        self._most = _WAITING_PER_WORKER * model._served.extended._cluster.num_workers

    def __call__(self, item):
        """Has a worker make a step; gives a RemoteValue."""
        if len(self._waiting) >= self._most:
            self._waiting.popleft().wait()
        value = self._coordinator.schedule(self._function, args=(item,))
        self._waiting.append(value)
        return value

    def join(self):
        """Waits until all are made; raises the first error."""
        self._waiting.clear()
        self._coordinator.join()
