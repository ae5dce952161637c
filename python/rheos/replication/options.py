"""What a program says of how a strategy reads, runs and exchanges values."""

import enum


class InputReplicationMode(enum.Enum):
    """Whether each worker or each replica makes its input."""

    PER_WORKER = "PER_WORKER"
    PER_REPLICA = "PER_REPLICA"


class InputContext:
    """What a function that makes a dataset is told of who will read it."""

    def __init__(self, num_input_pipelines=1, input_pipeline_id=0, num_replicas_in_sync=1):
        self._num_input_pipelines = num_input_pipelines
        self._input_pipeline_id = input_pipeline_id
        self._num_replicas_in_sync = num_replicas_in_sync

    num_input_pipelines = property(
        lambda self: self._num_input_pipelines, doc="How many pipelines there are."
    )
    input_pipeline_id = property(
        lambda self: self._input_pipeline_id, doc="Which of the pipelines it is, from 0."
    )
    num_replicas_in_sync = property(
        lambda self: self._num_replicas_in_sync, doc="How many replicas share a step."
    )

    def get_per_replica_batch_size(self, global_batch_size):
        """The rows of a batch that each replica gets; ValueError if they cannot be shared."""
        if global_batch_size % self._num_replicas_in_sync:
            raise ValueError(
                f"The `global_batch_size` {global_batch_size} is not divisible by "
                f"`num_replicas_in_sync` {self._num_replicas_in_sync}"
            )
        return global_batch_size // self._num_replicas_in_sync

    def __str__(self):
        return (
            f"tf.distribute.InputContext(input pipeline id {self._input_pipeline_id}, "
            f"total: {self._num_input_pipelines})"
        )


class ValueContext:
    """What a function that makes a value for a replica is told of that."""

    def __init__(self, replica_id_in_sync_group=0, num_replicas_in_sync=1):
        self._replica_id_in_sync_group = replica_id_in_sync_group
        self._num_replicas_in_sync = num_replicas_in_sync

    num_replicas_in_sync = property(
        lambda self: self._num_replicas_in_sync, doc="How many replicas share a step."
    )
    replica_id_in_sync_group = property(
        lambda self: self._replica_id_in_sync_group, doc="Which of the replicas it is, from 0."
    )

    def __str__(self):
        return (
            "tf.distribute.ValueContext(replica id "
            f"{self._replica_id_in_sync_group}, total replicas in sync: "
            f"{self._num_replicas_in_sync})"
        )


class InputOptions:
    """How a strategy reads its input; on CPUs, which share memory, nothing depends on them but
    whether each replica has a dataset of its own."""

    def __init__(
        self,
        experimental_fetch_to_device=None,
        experimental_replication_mode=InputReplicationMode.PER_WORKER,
        experimental_place_dataset_on_device=False,
        experimental_per_replica_buffer_size=1,
    ):
        self.experimental_fetch_to_device = experimental_fetch_to_device
        self.experimental_replication_mode = experimental_replication_mode
        self.experimental_place_dataset_on_device = experimental_place_dataset_on_device
        self.experimental_per_replica_buffer_size = experimental_per_replica_buffer_size


class RunOptions:
    """How a strategy runs a step; on CPUs nothing depends on them."""

    def __init__(
        self,
        experimental_enable_dynamic_batch_size=True,
        experimental_bucketizing_dynamic_shape=False,
        experimental_xla_options=None,
    ):
        self.experimental_enable_dynamic_batch_size = experimental_enable_dynamic_batch_size
        self.experimental_bucketizing_dynamic_shape = experimental_bucketizing_dynamic_shape
        self.experimental_xla_options = experimental_xla_options


class CommunicationImplementation(enum.Enum):
    """What exchanges the values of workers."""

    AUTO = "AUTO"
    RING = "RING"
    NCCL = "NCCL"


class CommunicationOptions:
    """How replicas exchange values.

    bytes_per_pack: the size to which values are packed together, 0: as it seems best.
    timeout_seconds: how long an exchange may last. implementation: a CommunicationImplementation.
    """

    def __init__(
        self,
        bytes_per_pack=0,
        timeout_seconds=None,
        implementation=CommunicationImplementation.AUTO,
    ):
        if bytes_per_pack < 0:
            raise ValueError(f"`bytes_per_pack` must be >=0. Received {bytes_per_pack}.")
        if isinstance(implementation, str):
            implementation = CommunicationImplementation(implementation.upper())
        if not isinstance(implementation, CommunicationImplementation):
            raise ValueError(
                "implementation should be either `tf.distribute.experimental."
                f"CommunicationImplementation` or its name, not {implementation!r}"
            )
        self.bytes_per_pack = bytes_per_pack
        self.timeout_seconds = timeout_seconds
        self.implementation = implementation


class CollectiveHints:
    """How replicas exchange values, by an older name: CommunicationOptions."""

    def __new__(cls, bytes_per_pack=0, timeout_seconds=None):
        return CommunicationOptions(bytes_per_pack, timeout_seconds)
