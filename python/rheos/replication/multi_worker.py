"""Strategies of replicas in several tasks."""

from rheos.replication.strategy import Strategy


class MultiWorkerMirroredStrategy(Strategy):
    """Replicas in several tasks: not in Rheos yet, so making one is an error."""

    def __init__(self, cluster_resolver=None, communication_options=None):
        raise NotImplementedError(
            "Rheos has no collectives on clusters yet, which MultiWorkerMirroredStrategy needs. "
            "tf.distribute.MirroredStrategy() runs the same program in one"
        )


class ParameterServerStrategy(Strategy):
    """Variables in tasks of their own, with a coordinator: making one is an error."""

    def __init__(self, cluster_resolver=None, variable_partitioner=None):
        raise NotImplementedError(
            "Rheos has no coordinator of clusters: ParameterServerStrategy needs one. "
            "Sessions on clusters with tf.train.replica_device_setter train on parameter servers"
        )
