"""As much of TensorFlow 1's names as bench/models.py uses, over a list of what was called: the same
model then runs in a library that has other names for it. A peer says how each kind of node is
computed and replays the list.
"""

import numpy as np

float32, int32 = np.float32, np.int32
NODES = []


class Node:
    """A value to be: `kind` is what computes it, of `args` (nodes, or numbers)."""

    def __init__(self, kind, *args, **attrs):
        self.kind, self.args, self.attrs, self.id = kind, args, attrs, len(NODES)
        NODES.append(self)

    def __add__(self, other):
        return Node("add", self, other)

    def __radd__(self, other):
        return Node("add", other, self)

    def __sub__(self, other):
        return Node("sub", self, other)

    def __mul__(self, other):
        return Node("mul", self, other)

    __rmul__ = __mul__

    def __neg__(self):
        return Node("neg", self)


def reset_default_graph():
    NODES.clear()


def placeholder(dtype, shape):
    node = Node("input", dtype=dtype)
    node.shape = shape
    return node


def get_variable(name, initializer):
    return Node("variable", value=np.asarray(initializer))


def constant(value):
    return Node("constant", value=np.asarray(value))


def _unary(kind):
    return lambda x: Node(kind, x)


exp, tanh, sigmoid, erf, rsqrt = map(_unary, ("exp", "tanh", "sigmoid", "erf", "rsqrt"))
square = _unary("square")
globals()["abs"] = _unary("abs")


def add(x, y):
    return Node("add", x, y)


def add_n(values):
    total = values[0]
    for value in values[1:]:
        total = total + value
    return total


def matmul(x, y, transpose_b=False):
    return Node("matmul", x, y, transpose_b=transpose_b)


def reduce_mean(x, axes=None):
    return Node("mean", x, axes=axes, keepdims=False)


def reshape(x, shape):
    return Node("reshape", x, shape=shape)


def transpose(x, order):
    return Node("transpose", x, order=order)


class nn:
    relu, softmax = staticmethod(_unary("relu")), staticmethod(_unary("softmax"))

    @staticmethod
    def conv2d(x, weights, strides, padding):
        return Node("conv", x, weights, stride=strides[1])

    @staticmethod
    def max_pool(x, size, strides, padding):
        return Node("max_pool", x, size=size[1], stride=strides[1])

    @staticmethod
    def fused_batch_norm(x, scale, offset, mean=None, variance=None, is_training=True):
        values = (scale, offset) if is_training else (scale, offset, mean, variance)
        return [Node("batch_norm", x, *values, is_training=is_training)]

    @staticmethod
    def moments(x, axes, keepdims):
        mean = Node("mean", x, axes=axes, keepdims=keepdims)
        return mean, Node("mean", square(x - mean), axes=axes, keepdims=keepdims)

    @staticmethod
    def sparse_softmax_cross_entropy_with_logits(labels, logits):
        return Node("cross_entropy", logits, labels)


class train:
    class _Optimizer:
        def __init__(self, rate):
            self._rate = rate

        def minimize(self, loss):
            return Node("train", loss, optimizer=type(self).__name__, rate=self._rate)

    class GradientDescentOptimizer(_Optimizer):
        pass

    class AdamOptimizer(_Optimizer):
        pass


class Peer:
    """A library that replays the nodes. A subclass has a method for each kind of node; `step`
    returns a function of the feeds' values.
    """

    name = ""
    left_out = ()  # texts of rows that it cannot do in a useful time

    def __init__(self, threads):
        self.threads = threads

    def evaluate(self, values, fetches):
        """`values`, by a node's number, are those of inputs and variables; all others are added."""
        values, needed = dict(values), self._needed(fetches)
        for node in NODES:
            if node.id in needed and node.id not in values:
                args = [values[a.id] if isinstance(a, Node) else a for a in node.args]
                values[node.id] = getattr(self, node.kind)(*args, **node.attrs)
        return [values[node.id] for node in fetches]

    @staticmethod
    def _needed(fetches):
        needed, stack = set(), list(fetches)
        while stack:
            node = stack.pop()
            if isinstance(node, Node) and node.id not in needed:
                needed.add(node.id)
                stack.extend(node.args)
        return needed

    @staticmethod
    def variables():
        return [node for node in NODES if node.kind == "variable"]

    @staticmethod
    def trained(fetches):
        """The node that trains, if there is one, and the other fetches."""
        trains = [node for node in fetches if node.kind == "train"]
        return (trains[0] if trains else None), [n for n in fetches if n.kind != "train"]
