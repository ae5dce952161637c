"""Tables in TensorFlow 2's form."""

from rheos.ops.state import lookup_ops


class MutableHashTable(lookup_ops.MutableHashTable):
    """A table whose entries can change; values are of the shape of default_value."""

    def __init__(
        self,
        key_dtype,
        value_dtype,
        default_value,
        name="MutableHashTable",
        checkpoint=True,
        experimental_is_anonymous=False,
    ):
        super().__init__(key_dtype, value_dtype, default_value, None, name, checkpoint)


class DenseHashTable(lookup_ops.DenseHashTable):
    """A table whose entries can change; empty_key and deleted_key are keys that nobody uses."""

    def __init__(
        self,
        key_dtype,
        value_dtype,
        default_value,
        empty_key,
        deleted_key,
        initial_num_buckets=None,
        name="MutableDenseHashTable",
        checkpoint=True,
        experimental_is_anonymous=False,
    ):
        super().__init__(
            key_dtype,
            value_dtype,
            default_value,
            empty_key,
            deleted_key,
            initial_num_buckets,
            name,
            checkpoint,
        )
