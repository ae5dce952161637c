"""Resources of other processes, which handles here stand for."""


class Elsewhere:
    """What the handle of a variable, or of another resource, stands for: one that a cluster has.

    The handle, an eager tensor, has it as its attribute `_elsewhere`. cluster: what has the
    resource, and runs functions that use it by `call(graph, tensors)`.
    """

    def __init__(self, cluster):
        self.cluster = cluster

    def tensor_in(self, session):
        """The handle of the resource in the default graph, which is that of a RemoteSession."""
        raise NotImplementedError


def elsewhere(tensor):
    """The Elsewhere that a handle stands for; None: it is of this process."""
    return getattr(tensor, "_elsewhere", None)


def elsewhere_of(tensors):
    """The Elsewhere of the first handle that has one; None: all are of this process."""
    for tensor in tensors:
        found = elsewhere(tensor)
        if found is not None:
            return found
    return None
