"""Tensor arrays of all three versions: written, read, gathered, split, and their gradients' arrays.

Ops of versions 1 and 2 are refused in new graphs: theirs say that an older program made them.
"""
from .common import *  # noqa: F403

X = ramp(F32, (3, 2))
FLOW = Const(0.0, F32)
OLD = 15
VALUES = (("float", X), ("int", i([[1, 2], [3, 4], [5, 6]])),
          ("string", s([["a", ""], ["b", "c"], ["dd", "e"]])), ("double", wave(F64, (3, 2))),
          ("bool", b([[True, False], [False, False], [True, True]])))


def dtype(value):
    return "string" if value.dtype == object else value.dtype.type


class Version:
    """Nodes and cases of one version."""

    def __init__(self, t, suffix):
        self.t, self.suffix = t, suffix
        self.producer = 21 if suffix == "V3" else OLD

    def add(self, op, tag, *inputs, **options):
        self.t.add("TensorArray" + op + self.suffix, tag, *inputs, producer=self.producer,
                   **options)

    def node(self, op, *inputs, **attrs):
        return Node("TensorArray" + op + self.suffix, *inputs, **attrs)

    def array(self, size=3, kind=F32, **attrs):
        return self.node("", Const(size), dtype=kind, **attrs)

    def filled(self, array, value):
        """The flow after the rows are in the array."""
        return self.node("Scatter", array, Const(list(range(len(value)))), Const(value), FLOW)

    def write(self, array, index, value, flow=FLOW):
        return self.node("Write", array, Const(index), Const(value), flow)

    def read(self, array, index, flow, kind=F32):
        return self.node("Read", array, Const(index), flow, dtype=kind)

    def gather(self, array, flow, indices=(0, 1, 2), kind=F32):
        return self.node("Gather", array, Const(list(indices)), flow, dtype=kind)

    def size(self, array, flow=FLOW):
        return self.node("Size", array, flow)

    def grad(self, array, flow, source="gradients"):
        return self.node("Grad", array, flow, source=source)


def made(v):
    for tag, attrs in (("plain", {}), ("dynamic", {"dynamic_size": True}),
                       ("kept", {"clear_after_read": False}),
                       ("shaped", {"element_shape": [2, None]}),
                       ("named", {"tensor_array_name": "a"})):
        v.add("", tag, Const(2), dtype=F32, fetched=False, last=[v.size(OP)], **attrs)
    v.add("", "bad_negative", Const(-1), dtype=F32)
    v.add("", "bad_vector", Const([1, 2]), dtype=F32, fetched=False)
    for size in (0, 1, 7):
        v.add("Size", "of_%d" % size, v.array(size), FLOW)
    grown = v.array(0, dynamic_size=True)
    v.add("Size", "grown", grown, v.write(grown, 4, f(1)))
    array = v.array()
    v.add("Size", "fed", array, f(0))
    v.add("Size", "written", array, v.filled(array, X))


def written(v):
    for tag, value in VALUES:
        kind = dtype(value)
        array = v.array(3, kind)
        v.add("Write", tag, array, Const(1), value[1], FLOW, last=[v.read(array, 1, OP, kind)])
        v.add("Read", tag, array, Const(2), v.filled(array, value), dtype=kind)
        v.add("Scatter", tag, array, i([2, 0, 1]), value, FLOW,
              last=[v.gather(array, OP, kind=kind)])
        v.add("Gather", tag, array, i([1, 2]), v.filled(array, value), dtype=kind)
        lengths = v.node("Split", array, Const(value), Const([1, 0, 2], I64), FLOW)
        v.add("Split", tag, array, value, l([0, 2, 1]), FLOW, last=[v.read(array, 1, OP, kind)])
        v.add("Concat", tag, array, lengths, dtype=kind)


def misused(v):
    array = v.array()
    x = f([1, 2])
    v.add("Write", "bad_behind", array, Const(3), x, FLOW)
    v.add("Write", "bad_negative", array, Const(-1), x, FLOW)
    v.add("Write", "bad_dtype", array, Const(0), i([1, 2]), FLOW)
    v.add("Write", "bad_shape", v.array(element_shape=[3]), Const(0), x, FLOW)
    v.add("Write", "bad_twice", array, Const(0), x, v.write(array, 0, x))
    v.add("Write", "bad_index", array, Const([0]), x, FLOW)
    grown = v.array(0, dynamic_size=True)
    v.add("Write", "grows", grown, Const(3), x, FLOW, last=[v.size(grown, OP)])
    v.add("Read", "bad_behind", array, Const(3), v.filled(array, X), dtype=F32)
    v.add("Read", "bad_negative", array, Const(-1), v.filled(array, X), dtype=F32)
    v.add("Read", "bad_dtype", array, Const(0), v.filled(array, X), dtype=F64)
    v.add("Read", "bad_unwritten", array, Const(0), FLOW, dtype=F32)
    v.add("Read", "unwritten_zeros", v.array(element_shape=[2]), Const(0), FLOW, dtype=F32)
    once = v.node("Read", array, Const(0), v.filled(array, X), dtype=F32)
    v.add("Read", "bad_twice", array, Const(0), FLOW, dtype=F32, waits=[once])
    kept = v.array(clear_after_read=False)
    v.add("Read", "twice", kept, Const(0), FLOW, dtype=F32,
          waits=[v.node("Read", kept, Const(0), v.filled(kept, X), dtype=F32)])
    v.add("Write", "bad_read", array, Const(0), x, FLOW, waits=[once])
    v.add("Gather", "bad_behind", array, i([0, 3]), v.filled(array, X), dtype=F32)
    v.add("Gather", "bad_dtype", array, i([0]), v.filled(array, X), dtype=I32)
    v.add("Gather", "bad_shape", array, i([0]), v.filled(array, X), dtype=F32, element_shape=[3])
    ragged = v.write(array, 1, f([3]), v.write(array, 0, x))
    v.add("Gather", "bad_ragged", array, i([0, 1]), ragged, dtype=F32)
    v.add("Gather", "none", array, i([]), FLOW, dtype=F32, element_shape=[2])
    v.add("Gather", "bad_none", array, i([]), FLOW, dtype=F32)
    v.add("Scatter", "bad_behind", array, i([0, 3, 1]), X, FLOW)
    v.add("Scatter", "bad_count", array, i([0, 1]), X, FLOW)
    v.add("Scatter", "bad_dtype", array, i([0]), i([[1, 2]]), FLOW)
    v.add("Scatter", "bad_scalar", array, i([0]), f(1), FLOW)
    v.add("Scatter", "grows", grown, i([4, 0]), X[:2], FLOW, last=[v.size(grown, OP)])
    v.add("Split", "bad_sum", array, X, l([1, 1, 2]), FLOW)
    v.add("Split", "bad_count", array, X, l([1, 2]), FLOW)
    v.add("Split", "bad_dtype", array, i([1, 2, 3]), l([1, 1, 1]), FLOW)
    v.add("Split", "bad_scalar", array, f(1), l([1]), FLOW)
    v.add("Split", "grows", grown, X, l([1, 2]), FLOW, last=[v.size(grown, OP)])
    v.add("Concat", "bad_scalars", array, v.filled(array, f([1, 2, 3])), dtype=F32)
    v.add("Concat", "bad_ragged", v.array(2), v.write(array, 0, x), dtype=F32)
    v.add("Concat", "bad_dtype", array, v.filled(array, X), dtype=F64)
    v.add("Concat", "rows", array, v.filled(array, X), dtype=F32)
    v.add("Concat", "none", v.array(0), FLOW, dtype=F32, element_shape_except0=[2])
    v.add("Concat", "bad_none", v.array(0), FLOW, dtype=F32)


def closed(v):
    array = v.array()
    v.add("Close", "plain", array)
    for tag, node in (("filled", v.filled(array, X)), ("written", v.write(array, 0, f(1))),
                      ("sized", v.size(array))):
        v.add("Close", tag, array, waits=[node])
    close = v.node("Close", array)
    v.add("Close", "twice", array, waits=[close])
    v.add("Size", "bad_closed", array, FLOW, waits=[close])
    v.add("Write", "bad_closed", array, Const(0), f(1), FLOW, waits=[close])
    v.add("Read", "bad_closed", array, Const(0), FLOW, dtype=F32, waits=[close])


def gradients(v):
    array = v.array()
    full = v.filled(array, X)
    value = f([10, 20])
    grad = v.grad(array, full)
    for tag, source in (("plain", "gradients"), ("other", "gradients_1"),
                        ("long", "a/b/gradients")):
        v.add("Grad", tag, array, full, source=source, fetched=False, last=[v.size(OP)])
    v.add("Grad", "bad_closed", array, FLOW, source="gradients",
          waits=[v.node("Close", array)])
    v.add("Grad", "twice", array, full, source="gradients", fetched=False,
          waits=[v.write(grad, 0, value)], last=[v.read(OP, 0, FLOW)])
    v.add("Read", "gradient_zeros", grad, Const(1), FLOW, dtype=F32)
    v.add("Read", "gradient", grad, Const(1), v.write(grad, 1, value), dtype=F32)
    v.add("Read", "gradient_sum", grad, Const(1),
          v.write(grad, 1, value, v.write(grad, 1, value, v.write(grad, 1, f([1, 2])))), dtype=F32)
    v.add("Read", "bad_gradient_twice", grad, Const(1), FLOW, dtype=F32,
          waits=[v.read(grad, 1, FLOW)])
    v.add("Write", "bad_gradient_shape", grad, Const(1), f([1]), FLOW)
    v.add("Gather", "gradient", grad, i([0, 1, 2]), v.write(grad, 1, value), dtype=F32)
    parts = v.node("Split", array, Const(X), Const([1, 0, 2], I64), FLOW)
    v.add("Concat", "gradient", v.grad(array, parts), FLOW, dtype=F32)
    grown = v.array(1, dynamic_size=True)
    after = v.grad(grown, v.write(grown, 0, value))
    v.add("Write", "bad_no_longer_grows", grown, Const(1), value, FLOW, waits=[after])


def only_first(v):
    t = v.t
    for tag, value in VALUES:
        kind = dtype(value)
        array = v.array(3, kind)
        t.add("TensorArrayPack", tag, array, v.filled(array, value), dtype=kind, producer=OLD)
        t.add("TensorArrayUnpack", tag, array, value, FLOW, producer=OLD,
              last=[v.gather(array, OP, kind=kind)])
    array = v.array()
    t.add("TensorArrayPack", "bad_unwritten", array, v.write(array, 0, X[0]), dtype=F32,
          producer=OLD)
    t.add("TensorArrayUnpack", "bad_size", array, X[:2], FLOW, producer=OLD)


def only_third(v):
    array = v.array(identical_element_shapes=True)
    t = v.t
    v.add("Write", "identical", array, Const(0), f([1, 2]), FLOW, last=[v.read(array, 0, OP)])
    v.add("Write", "bad_not_identical", array, Const(1), f([1]), v.write(array, 0, f([1, 2])))
    v.add("", "identical", Const(2), dtype=F32, fetched=False, identical_element_shapes=True,
          last=[v.size(OP)])
    array = v.array()
    full = v.filled(array, X)
    for tag, shape in (("none", []), ("one", [2]), ("two", [2, 3]), ("zero", [0]),
                       ("long", [1, 1, 1])):
        value = ramp(F32, (*shape, 2))
        grad = Node("TensorArrayGradWithShape", array, full, Const(np.array(shape, I32)),
                    source="gradients")
        t.add("TensorArrayGradWithShape", tag, array, full, Const(np.array(shape, I32)),
              source="gradients", fetched=False,
              last=[v.read(OP, 2, FLOW), v.read(OP, 0, v.write(OP, 0, value))])
        v.add("Size", "gradient_" + tag, grad, FLOW)


def cases():
    t = Table()
    for suffix in ("", "V2", "V3"):
        v = Version(t, suffix)
        for add in (made, written, misused, closed, gradients):
            add(v)
    only_first(Version(t, ""))
    only_third(Version(t, "V3"))
    return t.cases
