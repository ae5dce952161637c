"""Eager execution: tensors whose values are there, and the object that stands for a graph."""

import _random
import threading

import numpy as np

from rheos import _core
from rheos.framework import defaults
from rheos.framework.defaults import get_default_graph
from rheos.framework.devices import full_device
from rheos.framework.graph import Graph
from rheos.framework.operation import Tensor
from rheos.framework.tensor_shape import enable_v2_tensorshape
from rheos.framework.thread_state import inherited


class EagerTensor(_core.EagerTensorBase, Tensor):
    """A tensor that an operation gave at once."""

    _is_eager = True
    __hash__ = None  # in dicts, use ref()

    @property
    def device(self):
        """The name of the device that has the value."""
        return _core._device_of(self) or device_name()

    backing_device = device

    @property
    def ndim(self):
        """The number of dimensions."""
        return len(self._dims)

    def numpy(self):
        """A copy of the value as an array, or as a NumPy scalar or bytes."""
        value = self._numpy()
        return value.copy() if isinstance(value, np.ndarray) else value

    def __array__(self, dtype=None, copy=None):
        value = np.asarray(self._numpy())
        if dtype is not None and value.dtype != dtype:
            return value.astype(dtype)
        return value.copy() if copy or not value.flags.owndata else value

    def __iter__(self):
        if not get_default_graph()._is_eager:
            return super().__iter__()  # which says that it cannot be
        dims = self._dims
        if not dims:
            raise TypeError("Cannot iterate over a scalar tensor.")
        return (self[i] for i in range(dims[0]))

    def __complex__(self):
        return complex(self._numpy())

    def __format__(self, spec):
        return format(self._numpy(), spec)

    def __reduce__(self):
        return _restore, (self._numpy(), self.dtype.as_datatype_enum)

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    def cpu(self):
        """The tensor in the host's memory: itself where it lies there."""
        return _core._copy_to(self, "/device:CPU:0") if _core._device_of(self) else self

    def gpu(self, gpu_index=0):
        """The tensor in the memory of a graphics card; InvalidArgumentError if there is none of
        that number."""
        return _core._copy_to(self, f"/device:GPU:{gpu_index}")

    def eval(self, feed_dict=None, session=None):
        """Always a NotImplementedError: the value is there, by numpy()."""
        raise NotImplementedError(
            "eval is not supported when eager execution is enabled, is .numpy() what you're "
            "looking for?"
        )

    def consumers(self):
        """Always a NotImplementedError."""
        raise NotImplementedError("consumers is not supported when eager execution is enabled.")

    def __str__(self):
        return f"tf.Tensor({_text(self, False)}, shape={self.shape}, dtype={self.dtype.name})"

    def __repr__(self):
        return f"<tf.Tensor: shape={self.shape}, dtype={self.dtype.name}, {_text(self, True)}>"


def _text(tensor, is_repr):
    name = tensor.dtype.name
    if name == "resource":
        return "value=<Resource Tensor>" if is_repr else "<Resource Tensor>"
    if name == "variant":
        return "value=<Variant Tensor>" if is_repr else "<Variant Tensor>"
    value = tensor._numpy()
    if is_repr:
        # NumPy 2 names the types of its numbers.
        is_number = isinstance(value, np.generic) and not isinstance(value, bytes)
        text = str(value) if is_number else repr(value)
        return f"numpy=\n{text}" if "\n" in text else f"numpy={text}"
    text = str(value)
    return "\n" + text if "\n" in text else text


def _restore(value, dtype):
    return get_eager_graph()._constant(value, dtype, None, "Const")


_MOST_SCOPES = 4096  # whose texts are kept


class _Scopes(threading.local):
    def __init__(self):
        self.names = [""]
        self.devices = []


class EagerGraph(Graph):
    """What stands for the graph where operations run as they are asked for.

    Its library has the functions that operations call. Names count for variables alone.
    """

    _is_eager = True
    control_flow_v2 = True

    def __init__(self, program_function=None, num_threads=0, gpu_devices=None):
        self._own_seed = None
        self._scopes = inherited(_Scopes())
        super().__init__()
        self._scope_texts = {}  # by the scope around and the name
        self._kept = {}
        self.seed = None
        self._become_eager(program_function, num_threads, None, gpu_devices)

    @property
    def seed(self):
        """The seed that operations without one of their own derive theirs from."""
        return self._own_seed

    @seed.setter
    def seed(self, value):
        self._own_seed = value
        self._numbers = _random.Random() if value is None else _random.Random(int(value))
        if _eager_graph is not None:
            _core._clear_kernels()

    @property
    def _last_id(self):
        while True:  # as random.randint(0, 2**31 - 1)
            number = self._numbers.getrandbits(32)
            if number < 2**31:
                return number

    def get_collection_ref(self, name):
        return []

    def _keep(self, name, value):
        """Puts a value in one of the few collections that there are."""
        self._kept.setdefault(name, []).append(value)

    def add_to_collection(self, name, value):
        """Nothing: who makes a variable keeps it."""

    def get_collection(self, name, scope=None):
        return list(self._kept.get(name, ()))

    def _push_name_scope(self, name):
        names = self._scopes.names
        if not name:
            text = ""
        else:
            text = name if name.endswith("/") else f"{names[-1]}{name}/"
        names.append(text)
        return text

    def _enter_scope(self, name):
        """Pushes a name that a program gives; ValueError unless it may be one."""
        names = self._scopes.names
        key = names[-1], name
        text = self._scope_texts.get(key)
        if text is None:
            self.check_scope_name(name)
            text = self._push_name_scope(name)
            if len(self._scope_texts) < _MOST_SCOPES:
                self._scope_texts[key] = text
        else:
            names.append(text)
        return text

    def _set_devices(self, devices):
        self._devices = devices
        text = full_device((d for d in devices if not callable(d)), "") if devices else None
        _core._ask_device(text)

    @property
    def _devices(self):
        """What contexts of this thread ask for, outermost first."""
        return self._scopes.devices

    @_devices.setter
    def _devices(self, devices):
        self._scopes.devices = devices

    def _push_unchanged(self, *unused):
        self._scopes.names.append(self._scopes.names[-1])

    _push_device = _push_control_dependencies = _push_colocation = _push_attr = _push_unchanged

    def _pop(self):
        names = self._scopes.names
        if len(names) > 1:
            names.pop()

    def _scope_name(self):
        return self._scopes.names[-1]

    def _unique_name(self, name, mark_as_used=True):
        return self._scopes.names[-1] + name

    def control_dependencies(self, control_inputs):
        """Nothing: operations run in the order of the program."""
        return _Nothing()

    def colocate_with(self, op, ignore_existing=False):
        """Nothing: there is one device."""
        return _Nothing()

    def _gradients(self, *args, **kwargs):
        raise RuntimeError(
            "tf.gradients is not supported when eager execution is enabled. Use tf.GradientTape "
            "instead."
        )

    def _capture(self, tensor, name=None):
        return tensor


class _Nothing:
    def __enter__(self):
        return self

    def __exit__(self, *exc_info):
        return None


_eager_graph = None
_program_function = None
_num_threads = 0
_gpu_devices = None  # pairs of a card and its bytes; None: all cards


def register_program_function(function):
    """Says what PyFunc calls: function(token, arrays, count of results)."""
    global _program_function
    _program_function = function


def _call_program_function(token, arrays, count):
    """Calls the function that is registered by then."""
    return _program_function(token, arrays, count)


def get_eager_graph():
    """The object that stands for eager execution, made when it is first wanted."""
    global _eager_graph
    if _eager_graph is None:
        _eager_graph = EagerGraph(_call_program_function, _num_threads, _gpu_devices)
    return _eager_graph


def is_set_up():
    """Whether the object that stands for eager execution has been made."""
    return _eager_graph is not None


def device_name():
    """The name of the device that operations run on, as its host has it."""
    get_eager_graph()
    return _core._eager_device()


def waiting():
    """What operations wait for that run at once: a text, if any does."""
    told = _core._eager_waiting()
    if told:
        lines = "".join(f"  {line}\n" for line in told.splitlines())
        yield f"Operations that run at once:\n{lines}"


def set_num_threads(number):
    """Says how many threads it will have; RuntimeError if it was used already."""
    global _num_threads
    if _core._eager_was_used():
        raise RuntimeError("the number of threads is said before the first operation runs")
    _num_threads = number
    _begin_anew()


def _begin_anew():
    if _eager_graph is not None:
        _eager_graph._become_eager(_call_program_function, _num_threads, None, _gpu_devices)


def set_gpu_devices(pairs):
    """Says which graphics cards it will have, as pairs of a card and the bytes it may give;
    RuntimeError if it was used already."""
    global _gpu_devices
    if _core._eager_was_used():
        raise RuntimeError("Visible devices cannot be modified after being initialized")
    _gpu_devices = pairs
    _begin_anew()


def join_server(server):
    """Has operations that run at once be run by a server's task, or by a rank, so that they take
    part in the collectives of its cluster; RuntimeError if one ran already."""
    if _core._eager_was_used():
        raise RuntimeError("Collective ops must be configured at program startup")
    get_eager_graph()._become_eager(_call_program_function, _num_threads, server)


def enable_eager_execution():
    """Has operations run at once where no graph is made default."""
    defaults.set_eager_graph(get_eager_graph())


def disable_eager_execution():
    """Has operations added to the graph of the process where no other is made default."""
    defaults.set_eager_graph(None)


_begins_version_2 = True


def keep_version_1():
    """Has the import of TensorFlow 2's names change nothing: the program is one of version 1.

    Such a program takes names from tf.compat.v2 and goes on building graphs.
    """
    global _begins_version_2
    _begins_version_2 = False


def begin_version_2():
    """Switches to eager execution and plain dimensions, unless the program is of version 1."""
    if _begins_version_2:
        enable_eager_execution()
        enable_v2_tensorshape()


def executing_eagerly():
    """Whether operations run at once here."""
    return get_default_graph()._is_eager


_core._register_eager(EagerTensor)
