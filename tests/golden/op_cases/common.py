"""The vocabulary of the op cases: how inputs are given and what a case holds."""
import numpy as np

try:
    import ml_dtypes

    BFLOAT16 = ml_dtypes.bfloat16
except ImportError:
    BFLOAT16 = None

F32, F64, F16 = np.float32, np.float64, np.float16
I8, I16, I32, I64 = np.int8, np.int16, np.int32, np.int64
U8, U16, U32, U64 = np.uint8, np.uint16, np.uint32, np.uint64
C64, C128 = np.complex64, np.complex128
# Quantized dtypes: TensorFlow's are integers in a field of that name.
QI8, QU8, QI16, QU16, QI32 = (np.dtype([(name, base)]) for name, base in (
    ("qint8", I8), ("quint8", U8), ("qint16", I16), ("quint16", U16), ("qint32", I32)))
INF, NAN = float("inf"), float("nan")


class Const:
    """An input that is a constant of the graph; everything else is fed."""

    def __init__(self, value, dtype=np.int32):
        self.value = np.asarray(value, dtype) if not isinstance(value, np.ndarray) else value


class Variable:
    """An input that is a reference to a variable holding `value`, of its shape or of any."""

    def __init__(self, value, any_shape=False):
        self.value, self.any_shape = value, any_shape


class Uninitialized:
    """A reference to a variable that nothing was assigned to."""

    def __init__(self, dtype, shape):
        self.dtype, self.shape = dtype, shape


class Handle(Variable):
    """An input that is the handle of a variable holding `value`: a resource."""


class UninitializedHandle(Uninitialized):
    """The handle of a variable that nothing was assigned to."""


class Node:
    """A node beside the op of the case: its output 0 is an input of the op, or of other nodes.

    `waits`: Nodes that run before it.
    """

    def __init__(self, op, *inputs, waits=(), **attrs):
        self.op, self.inputs, self.waits = op, inputs, waits
        self.attrs = {k.rstrip("_"): v for k, v in attrs.items()}


# Stands for the op of the case among the inputs of a Node: its output 0.
OP = Node(None)


class Case:
    def __init__(self, op, tag, inputs, attrs, gradient, runs, producer, tolerance,
                 images, instead, first, last, fetched, waits):
        self.first, self.last, self.fetched, self.waits = first, last, fetched, waits
        self.op, self.tag, self.inputs, self.attrs = op, tag, inputs, attrs
        self.gradient, self.runs, self.producer = gradient, runs, producer
        self.tolerance, self.images, self.instead = tolerance, images, instead


class Table:
    """Collects cases: add("Add", "broadcast", a, b, T="float", g=True).

    A tag that starts with "bad_" says that TensorFlow is expected to refuse. `g` asks for the
    gradient to be checked against differences at this point; `runs` records several runs of one
    session; `producer` is the version of the graph for ops that newer versions refuse; `tol` says
    how many of the dtype's tolerances the answers may be off, relatively and absolutely (0: exact).

    `images`, for a case whose data_format has the channels second, which TensorFlow refuses on CPU:
    the inputs that are images, those that are shapes of images, and the outputs that are images.
    TensorFlow is asked with the channels last, and these are transposed.

    `instead`, {output: answer}, for outputs that TensorFlow leaves uninitialised.

    A case can be a small program: `first`, Nodes that are run one after the other before the op,
    and `last`, Nodes whose outputs are recorded afterwards. Nodes that are only inputs run with
    what they are inputs of. `waits`: Nodes that run before the op in the same step.
    `fetched=False`: the op is run for its effect, its outputs are left alone.
    "$TMP" in a string is a folder that is empty when the program starts.
    """

    def __init__(self):
        self.cases = []

    def add(self, op, tag, *inputs, **options):
        gradient = options.pop("g", False)
        runs = options.pop("runs", 1)
        producer = options.pop("producer", 21)
        tolerance = options.pop("tol", None)
        images = options.pop("images", None)
        instead = options.pop("instead", {})
        first, last = options.pop("first", []), options.pop("last", [])
        fetched, waits = options.pop("fetched", True), options.pop("waits", ())
        attrs = {k.rstrip("_"): v for k, v in options.items()}
        self.cases.append(Case(op, tag, list(inputs), attrs, gradient, runs, producer,
                               tolerance, images, instead, first, last, fetched, waits))


def a(dtype, values, shape=None):
    array = np.asarray(values, dtype)
    return array if shape is None else array.reshape(shape)


def f(values, shape=None):
    return a(F32, values, shape)


def d(values, shape=None):
    return a(F64, values, shape)


def h(values, shape=None):
    return a(F16, values, shape)


def i(values, shape=None):
    return a(I32, values, shape)


def l(values, shape=None):
    return a(I64, values, shape)


def b(values, shape=None):
    return a(np.bool_, values, shape)


def s(values, shape=None):
    array = np.empty(np.shape(values), object)
    array[...] = values
    return array if shape is None else array.reshape(shape)


def ramp(dtype, shape, start=1, step=1):
    """start, start + step, ... in row-major order."""
    count = int(np.prod(shape, dtype=int))
    return (start + step * np.arange(count)).astype(dtype).reshape(shape)


def wave(dtype, shape, scale=2.0, phase=0.3):
    """Smooth numbers of both signs, no two alike, none at a corner."""
    count = int(np.prod(shape, dtype=int))
    x = scale * np.sin(phase + 1.7 * np.arange(count)) + 0.01 * np.arange(count)
    return x.round(4).astype(dtype).reshape(shape)


def q(dtype, values, shape=None):
    """A quantized array: q(QU8, [0, 255])."""
    array = np.asarray(values, dtype[0]).view(dtype)
    return array if shape is None else array.reshape(shape)


def empty(dtype, shape):
    return np.zeros(shape, dtype)
