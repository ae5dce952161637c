"""What steps of several replicas do in tests."""

import rheos as tf


def replica():
    """The number of the replica whose step this is, as a float32."""
    context = tf.distribute.get_replica_context()
    return tf.cast(context.replica_id_in_sync_group, tf.float32)


def numbers(value):
    """The values of the replicas as plain numbers and lists."""
    return [one.numpy().tolist() for one in value.values]
