"""Resources of other processes, which handles here stand for."""


class Elsewhere:
    """What the handle of a variable, or of another resource, stands for: one that a cluster has.

    The handle, an eager tensor, has it as its attribute `_elsewhere`. cluster: what has the
    resource, and runs what uses it: `call_for_tapes(graph, tensors, call_here)` a function, where
    tapes look on; `run_op(op_type, inputs, attrs)` an operation, which gives a Ran.
    """

    is_used = False  # whether any handle is of one

    def __init__(self, cluster):
        Elsewhere.is_used = True
        self.cluster = cluster

    def variable(self):
        """The variable of this process that stands for the resource; None: it is none."""
        return None

    def tensor_in(self, session):
        """The handle of the resource in the default graph, which is that of a RemoteSession."""
        raise NotImplementedError


class Ran:
    """What stands for an operation that ran elsewhere: its outputs."""

    def __init__(self, outputs):
        self.outputs = outputs

    def _output(self, index):
        return self.outputs[index]


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
