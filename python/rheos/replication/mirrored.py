"""Strategies of several replicas in one process."""

from rheos.replication import devices as device_names
from rheos.replication.reductions import CrossDeviceOps
from rheos.replication.strategy import Strategy, StrategyExtended
from rheos.replication.variables import AggregatingVariable, check_arguments


class OneDeviceStrategy(Strategy):
    """One replica, on the device that is named."""

    def __init__(self, device):
        names = device_names.full_names([device])
        super().__init__(StrategyExtended(self, names))


class MirroredStrategy(Strategy):
    """Replicas on several devices, which all have copies of the variables.

    devices: their names, by default all CPUs. cross_device_ops: how values of replicas become one.
    """

    def __init__(self, devices=None, cross_device_ops=None):
        if cross_device_ops is not None and not isinstance(cross_device_ops, CrossDeviceOps):
            raise ValueError(f"cross_device_ops is a tf.distribute.CrossDeviceOps, not "
                             f"{cross_device_ops!r}")  # fmt: skip
        names = device_names.full_names(devices)
        super().__init__(StrategyExtended(self, names, cross_device_ops))


class _CentralExtended(StrategyExtended):
    """Variables are on one device."""

    @property
    def parameter_devices(self):
        """The device that has the variables."""
        return self.worker_devices[:1]

    def _make_copies(self, make, arguments):
        synchronization, aggregation, trainable = check_arguments(arguments)
        value = make(**dict(arguments, trainable=trainable))
        values = [value] * self._num_copies
        kind = AggregatingVariable
        return type.__call__(kind, self._strategy, values, aggregation, synchronization)


class CentralStorageStrategy(Strategy):
    """Replicas on several devices, and variables on one.

    compute_devices: by default all CPUs. parameter_device: accepted; what devices share a memory is
    no matter of.
    """

    def __init__(self, compute_devices=None, parameter_device=None):
        super().__init__(_CentralExtended(self, device_names.full_names(compute_devices)))


class TPUStrategy(Strategy):
    """Replicas on TPUs, which Rheos does not have, so making one is an error."""

    def __init__(self, tpu_cluster_resolver=None, experimental_device_assignment=None):
        raise NotImplementedError("Rheos runs on CPUs: tf.distribute.TPUStrategy needs TPUs")
