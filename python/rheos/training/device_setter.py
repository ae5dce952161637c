"""Where the operations of replicas go: variables to parameter servers, the rest to workers."""

import itertools

import numpy as np

from rheos.framework import logging, tensor_shape
from rheos.framework.device_spec import DeviceSpec
from rheos.framework.messages import is_message
from rheos.training.cluster import ClusterSpec

# What parameter servers hold if nothing else is said.
STANDARD_PS_OPS = (
    "Variable",
    "VariableV2",
    "AutoReloadVariable",
    "MutableHashTable",
    "MutableHashTableV2",
    "MutableHashTableOfTensors",
    "MutableHashTableOfTensorsV2",
    "MutableDenseHashTable",
    "MutableDenseHashTableV2",
    "VarHandleOp",
    "BoostedTreesEnsembleResourceHandleOp",
    "BoostedTreesQuantileStreamResourceHandleOp",
    "ResourceConditionalAccumulator",
)


class _DeviceChooser:
    """Says where an operation goes, for `tf.device`."""

    def __init__(self, ps_device, worker_device, merge_devices, ps_ops, ps_strategy):
        self._ps_device = DeviceSpec.from_string(ps_device or "")
        self._worker_device = DeviceSpec.from_string(worker_device or "")
        self._merge_devices = merge_devices
        self._ps_ops = ps_ops if ps_device else ()
        self._ps_strategy = ps_strategy

    def device_function(self, op):
        """The device of an operation, or of a NodeDef: what it says itself counts."""
        if op.device and not self._merge_devices:
            return op.device
        own = DeviceSpec.from_string(op.device or "")
        return self._around(op, own).make_merged_spec(own).to_string()

    def _around(self, op, own):
        op_type = op.op if is_message(op, "NodeDef") else op.type
        if op_type not in self._ps_ops:
            return self._worker_device
        job = self._ps_device.job
        if job and own.job in (None, "", job):
            return self._ps_device.replace(task=self._ps_strategy(op))
        return self._ps_device


def _num_ps_tasks(cluster, ps_device):
    job = DeviceSpec.from_string(ps_device).job
    spec = cluster if isinstance(cluster, ClusterSpec) else ClusterSpec(cluster)
    return spec.num_tasks(job) if job in spec.jobs else 0


def replica_device_setter(
    ps_tasks=0,
    ps_device="/job:ps",
    worker_device="/job:worker",
    merge_devices=True,
    cluster=None,
    ps_ops=None,
    ps_strategy=None,
):
    """A function for `tf.device` that puts variables on parameter servers, the rest on workers.

    ps_tasks: how many parameter servers there are; cluster, a ClusterSpec or what makes one, says
    it too. merge_devices: whether operations that ask for a part of a device get the rest.
    ps_ops: the types of operations that go to parameter servers. ps_strategy: a function from such
    an operation to the number of its task, by default one after the other. Returns None where there
    are no parameter servers. TypeError for a strategy that cannot be called.
    """
    if cluster is not None:
        ps_tasks = _num_ps_tasks(cluster, ps_device)
    if ps_tasks == 0:
        return None
    if ps_strategy is None:
        tasks = itertools.cycle(range(ps_tasks))
        ps_strategy = lambda op: next(tasks)  # noqa: E731
    if not callable(ps_strategy):
        raise TypeError("ps_strategy must be callable")
    if not merge_devices:
        logging.warning(
            "DEPRECATION: It is recommended to set merge_devices=true in replica_device_setter"
        )
    ps_ops = STANDARD_PS_OPS if ps_ops is None else ps_ops
    chooser = _DeviceChooser(ps_device, worker_device, merge_devices, ps_ops, ps_strategy)
    return chooser.device_function


# ---- Strategies of tf.contrib.training


class RandomStrategy:
    """The task of an operation by a hash of its name and a seed: the same in every run."""

    def __init__(self, num_ps_tasks, seed=0):
        self._num_tasks = num_ps_tasks
        self._seed = seed

    def __call__(self, op):
        import hashlib

        key = f"{op.name}_{self._seed}".encode()
        return int(hashlib.md5(key).hexdigest(), 16) % self._num_tasks


class GreedyLoadBalancingStrategy:
    """The task with the least load so far; load_fn: from an operation to its load, a number."""

    def __init__(self, num_tasks, load_fn):
        self._load_fn = load_fn
        self._ps_loads = np.zeros(num_tasks)

    def __call__(self, op):
        task = int(np.argmin(self._ps_loads))
        self._ps_loads[task] += self._load_fn(op)
        return task


def byte_size_load_fn(op):
    """The bytes of the output of an operation, as of a variable.

    ValueError if it has not one output, or one whose shape is not known.
    """
    if len(op.outputs) != 1:
        raise ValueError(f"Op {op} must have a single output")
    output = op.outputs[0]
    shape = output.get_shape()
    if not shape.is_fully_defined():
        shape = tensor_shape.TensorShape(op.get_attr("shape"))
    shape.assert_is_fully_defined()
    return shape.num_elements() * output.dtype.size
