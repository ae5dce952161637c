"""Iterators saved and restored with a model's variables."""

from rheos.framework.op_call import apply_op, op1
from rheos.ops.state.saveables import SaveableObject, SaveSpec


class _IteratorSaveable(SaveableObject):
    """Where an iterator is, as one tensor."""

    def __init__(self, resource):
        name = resource.op.name
        state = op1("SerializeIterator", None, resource)
        super().__init__(resource, [SaveSpec(state, "", f"{name}-state")], name)

    def restore(self, restored_tensors, restored_shapes):
        """The operation that makes the iterator go on where it was."""
        return apply_op("DeserializeIterator", None, self.op, restored_tensors[0])


def make_saveable_from_iterator(iterator, external_state_policy=None):
    """What a Saver takes, by the collection SAVEABLE_OBJECTS, to save where an iterator is.

    The iterator has to be initialized before it is restored.
    """
    return _IteratorSaveable(iterator._iterator_resource)
