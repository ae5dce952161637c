"""Test cases of programs that use the library."""

import atexit as _atexit
import contextlib as _contextlib
import os as _os
import shutil as _shutil
import sys as _sys
import tempfile as _tempfile
import threading as _threading
import unittest as _unittest

import numpy as _np

from rheos import _core
from rheos.framework import errors as _errors, messages as _messages, nest as _nest
from rheos.framework.absent import attribute_of as _attribute_of
from rheos.framework.defaults import (
    get_default_graph as _get_default_graph,
    get_default_session as _get_default_session,
    reset_default_graph as _reset_default_graph,
)
from rheos.framework.device_spec import DeviceSpec as _DeviceSpec
from rheos.framework.eager import executing_eagerly as _executing_eagerly
from rheos.framework.ragged import (
    RaggedBase as _RaggedBase,
    RaggedValueBase as _RaggedValueBase,
)
from rheos.ops.ragged.ragged_tensor import RaggedTensorValue as _RaggedTensorValue
from rheos.training.cluster import create_local_cluster  # noqa: F401
from rheos.training.gradient_check import compute_gradient, compute_gradient_error  # noqa: F401
from rheos.training.op_benchmark import Benchmark, run_benchmarks as _run_benchmarks
from rheos.training.session import Session as _Session
from rheos.v1.version import GRAPH_DEF_VERSION as _GRAPH_DEF_VERSION

_temp_dirs = []


def get_temp_dir():
    """A folder for the files of this process's tests; it is deleted at the end."""
    if not _temp_dirs:
        folder = _tempfile.mkdtemp(prefix="rheos-test-")
        _atexit.register(_shutil.rmtree, folder, True)
        _temp_dirs.append(folder)
    return _temp_dirs[0]


def is_gpu_available(cuda_only=False, min_cuda_compute_capability=None):
    """Whether there is a GPU that sessions can use; through OpenCL, so none by CUDA alone."""
    return not cuda_only and bool(_core.graphics_cards())


def is_built_with_cuda():
    """Whether there is support for NVIDIA's GPUs."""
    return False


def is_built_with_rocm():
    """Whether there is support for AMD's GPUs."""
    return False


def is_built_with_xla():
    """Whether XLA is there: it is not, though `jit_compile` is taken."""
    return False


def is_cpu_target_available(target):
    """Whether code can be compiled for a kind of processor when it runs: for this machine's."""
    here = {"x86_64": "x86", "arm64": "aarch64"}
    machine = _os.uname().machine
    return target == here.get(machine, machine)


def is_built_with_gpu_support():
    """Whether there is support for any GPUs: for those with OpenCL."""
    return True


def gpu_device_name():
    """The name of the first GPU; empty if there is none."""
    return "/device:GPU:0" if _core.graphics_cards() else ""


def _softly_placed(config, force_gpu):
    """The config of a test's session: what asks for a device that is missing gets another one."""
    made = _messages.ConfigProto()
    if config is None:
        made.allow_soft_placement = not force_gpu
        return made
    if not force_gpu:
        return config
    made.CopyFrom(config)
    made.allow_soft_placement = False
    return made


def _node_parts(node):
    """What two nodes of a name have to share; the order of control inputs is free."""
    data = [i for i in node.input if not i.startswith("^")]
    control = sorted(i for i in node.input if i.startswith("^"))
    attrs = {
        key: value.SerializeToString(deterministic=True)
        for key, value in node.attr.items()
        if not key.startswith("_")
    }
    return {"op": node.op, "device": node.device, "inputs": data, "control": control, **attrs}


def assert_equal_graph_def(actual, expected, checkpoint_v2=False):
    """Two GraphDefs have the same nodes, in any order, whatever their internal attributes.

    AssertionError names the first node that differs. checkpoint_v2: the names of temporary
    checkpoints, which savers draw at random, are not compared.
    """
    for what, graph_def in ("actual", actual), ("expected", expected):
        if not isinstance(graph_def, _messages.GraphDef):
            raise TypeError(f"Expected tf.GraphDef for {what}, got {type(graph_def).__name__}")
    nodes = [{node.name: _node_parts(node) for node in g.node} for g in (actual, expected)]
    if checkpoint_v2:
        for parts in nodes:
            parts.update(
                {
                    name: {**node, "value": b""}
                    for name, node in parts.items()
                    if node["op"] == "Const" and b"_temp_" in node.get("value", b"")
                }
            )
    found, wanted = nodes
    for name in sorted(found.keys() | wanted.keys()):
        if name not in found:
            raise AssertionError(f"Did not find expected node '{name}'")
        if name not in wanted:
            raise AssertionError(f"Found unexpected node '{name}'")
        for part in sorted(found[name].keys() | wanted[name].keys()):
            if found[name].get(part) != wanted[name].get(part):
                raise AssertionError(
                    f"Node '{name}' differs in {part}: {found[name].get(part)!r}, expected "
                    f"{wanted[name].get(part)!r}"
                )


def _is_ragged(value):
    return isinstance(value, (_RaggedBase, _RaggedValueBase))


def _lists(value):
    """Rows as lists in each other, bytes in place of texts."""
    if _is_ragged(value):
        return value.to_list()
    if isinstance(value, (list, tuple)):
        return [_lists(part) for part in value]
    if hasattr(value, "numpy"):
        value = value.numpy()
    value = value.tolist() if hasattr(value, "tolist") else value
    return value.encode() if isinstance(value, str) else value


def _as_bytes(array):
    """The array with UTF-8 in place of texts."""
    flat = [x.encode() if isinstance(x, str) else x for x in array.ravel().tolist()]
    whole = _np.empty(len(flat), object)
    whole[:] = flat
    return whole.reshape(array.shape)


class TestCase(_unittest.TestCase):
    """A unit test with sessions and comparisons of arrays."""

    _cached_session = None  # also for a test whose setUp() does not call this one

    def setUp(self):
        """Begins with an empty default graph and fixed seeds; also of NumPy."""
        super().setUp()
        _reset_default_graph()
        _get_default_graph().seed = 87654321
        _np.random.seed(0)

    def tearDown(self):
        """Closes the session of cached_session()."""
        if self._cached_session is not None:
            self._cached_session.close()
            self._cached_session = None
        super().tearDown()

    def get_temp_dir(self):
        """A folder for the files of this test."""
        folder = _os.path.join(get_temp_dir(), self.id().rsplit(".", 1)[-1])
        _os.makedirs(folder, exist_ok=True)
        return folder

    def session(self, graph=None, config=None, use_gpu=False, force_gpu=False):
        """A context with a new session."""
        if graph is None and _executing_eagerly():
            return _RunsAtOnce(self)
        config = _softly_placed(config, force_gpu)
        return _Session(graph=graph or _get_default_graph(), config=config)

    def test_session(self, graph=None, config=None, use_gpu=False, force_gpu=False):
        """A context with a session that stays open until the test ends."""
        if self._testMethodName == "test_session":
            self.skipTest("Not a test.")  # unittest takes it for one, because of its name
        if graph is not None:
            return self.session(graph, config, use_gpu, force_gpu)
        return self.cached_session(None, config, use_gpu, force_gpu)

    def cached_session(self, graph=None, config=None, use_gpu=False, force_gpu=False):
        """A context with a session that stays open until the test ends."""
        if graph is None and _executing_eagerly():
            return _RunsAtOnce(self)
        if self._cached_session is None:
            config = _softly_placed(config, force_gpu)
            self._cached_session = _Session(graph=graph or _get_default_graph(), config=config)
        return _StaysOpen(self._cached_session)

    def evaluate(self, tensors):
        """The values of tensors in the default session, or that are there."""
        if _executing_eagerly():
            return _nest.map_structure(_value_of, tensors)
        session = _get_default_session()
        if session is not None:
            return session.run(tensors)
        with self.test_session() as session:
            return session.run(tensors)

    def _array(self, value):
        if hasattr(value, "_as_graph_element"):
            value = self.evaluate(value)
        return value if isinstance(value, _np.ndarray) else _np.array(value)

    def assertAllClose(self, a, b, rtol=1e-6, atol=1e-6, msg=None):
        """The values are nearly equal; nested lists, tuples and dicts are compared by parts."""
        if isinstance(a, dict):
            self.assertEqual(sorted(a), sorted(b), msg)
            for key in a:
                self.assertAllClose(a[key], b[key], rtol, atol, f"{msg or ''} [{key}]")
            return
        if isinstance(a, (list, tuple)):
            try:
                a_array = self._array(a)
                self._array(b)
            except ValueError:
                a_array = None
            if a_array is None or a_array.dtype == object:
                self.assertEqual(len(a), len(b), msg)
                for x, y in zip(a, b):
                    self.assertAllClose(x, y, rtol, atol, msg)
                return
        _np.testing.assert_allclose(
            self._array(a), self._array(b), rtol=rtol, atol=atol, err_msg=msg or "", equal_nan=True
        )

    def assertNotAllClose(self, a, b, **kwargs):
        """Some values differ."""
        try:
            self.assertAllClose(a, b, **kwargs)
        except AssertionError:
            return
        raise AssertionError("The two values are close at all elements")

    def assertAllCloseAccordingToType(self, a, b, rtol=1e-6, atol=1e-6, msg=None, **kwargs):
        """The values are as equal as their dtype allows."""
        a, b = self._array(a), self._array(b)
        if _np.float16 in (a.dtype, b.dtype):
            rtol, atol = max(rtol, 1e-3), max(atol, 1e-3)
        self.assertAllClose(a, b, rtol, atol, msg)

    def assertAllEqual(self, a, b, msg=None):
        """The values are equal."""
        if _is_ragged(a) or _is_ragged(b):
            a, b = (self.evaluate(x) if isinstance(x, _RaggedBase) else x for x in (a, b))
            self.assertEqual(_lists(a), _lists(b), msg)
            return
        a, b = self._array(a), self._array(b)
        self.assertEqual(a.shape, b.shape, msg)
        if a.dtype.kind != b.dtype.kind and {a.dtype.kind, b.dtype.kind} <= set("USO"):
            a, b = _as_bytes(a), _as_bytes(b)  # a text is equal to its bytes
        _np.testing.assert_array_equal(a, b, err_msg=msg or "")

    def assertArrayNear(self, farray1, farray2, err, msg=None):
        """The numbers differ by at most `err`."""
        self.assertEqual(len(farray1), len(farray2), msg)
        for x, y in zip(farray1, farray2):
            self.assertTrue(abs(float(x) - float(y)) <= err, msg)

    def assertNear(self, f1, f2, err, msg=None):
        """Fails unless two numbers differ by `err` at most."""
        self.assertTrue(f1 == f2 or abs(f1 - f2) <= err, msg or f"{f1!r} != {f2!r} +/- {err!r}")

    def assertNDArrayNear(self, ndarray1, ndarray2, err, msg=None):
        """Fails unless the norm of the difference of two arrays is below `err`."""
        self.assertTrue(_np.linalg.norm(_np.subtract(ndarray1, ndarray2)) < err, msg)

    def assertShapeEqual(self, np_array, tf_tensor, msg=None):
        """The tensor's static shape is the array's."""
        self.assertEqual(np_array.shape, tuple(tf_tensor.get_shape().as_list()), msg)

    def assertDTypeEqual(self, target, expected_dtype):
        """Fails unless the value, as an array, has the dtype."""
        self.assertEqual(self._array(target).dtype, expected_dtype)

    def assertRaisesOpError(self, expected_err_re_or_predicate):
        """A context that fails with an OpError whose message matches."""
        return self.assertRaisesWithPredicateMatch(_errors.OpError, expected_err_re_or_predicate)

    @_contextlib.contextmanager
    def assertRaisesWithPredicateMatch(self, exception_type, expected_err_re_or_predicate):
        """A context that fails with such an exception.

        expected_err_re_or_predicate: a regular expression for its message, or a function of it.
        """
        try:
            yield
        except exception_type as error:
            matches = expected_err_re_or_predicate
            if not callable(matches):
                self.assertRegex(_message_of(error), matches)
            elif not matches(error):
                raise AssertionError(f"the predicate is false for {error!r}") from error
            return
        self.fail(f"{getattr(exception_type, '__name__', exception_type)} not raised")

    def assertProtoEquals(self, expected_message_maybe_ascii, message, msg=None):
        """The messages are equal; the expected one may be text."""
        expected = expected_message_maybe_ascii
        if isinstance(expected, str):
            expected = _messages.from_text(expected, type(message)())
        self.assertIs(type(expected), type(message), msg)
        if expected != message:
            self.assertMultiLineEqual(str(expected), str(message), msg)

    def assertProtoEqualsVersion(
        self, expected, actual, producer=_GRAPH_DEF_VERSION, min_consumer=0, msg=None
    ):
        """The graph messages are equal, the expected one, as text, with these versions."""
        versions = f"versions {{ producer: {producer} min_consumer: {min_consumer} }};"
        self.assertProtoEquals(f"{versions}\n{expected}", actual, msg)

    def assertDeviceEqual(self, device1, device2, msg=None):
        """Names or specs of devices mean the same device."""
        self.assertEqual(_canonical_name(device1), _canonical_name(device2), msg)

    @_contextlib.contextmanager
    def captureWritesToStream(self, stream):
        """A context with what is written to a stream of a file descriptor: `.contents()`."""
        stream.flush()
        kept = _os.dup(stream.fileno())
        with _tempfile.TemporaryFile() as file:
            _os.dup2(file.fileno(), stream.fileno())
            try:
                yield _Captured(stream, file)
            finally:
                stream.flush()
                _os.dup2(kept, stream.fileno())
                _os.close(kept)

    def checkedThread(self, target, args=None, kwargs=None):
        """A thread for `target(*args, **kwargs)`; its join() fails the test if that raised."""
        return _CheckedThread(self, target, args or (), kwargs or {})

    def assertStartsWith(self, actual, expected_start, msg=None):
        """Fails unless a text begins with another."""
        self.assertTrue(actual.startswith(expected_start), msg or f"{actual!r}")

    def assertEndsWith(self, actual, expected_end, msg=None):
        """Fails unless a text ends with another."""
        self.assertTrue(actual.endswith(expected_end), msg or f"{actual!r}")

    def assertLen(self, container, expected_len, msg=None):
        """Fails unless a container has that many items."""
        self.assertEqual(len(container), expected_len, msg)

    def assertEmpty(self, container, msg=None):
        """Fails unless a container has no item."""
        self.assertEqual(len(container), 0, msg)

    def assertNotEmpty(self, container, msg=None):
        """Fails unless a container has an item."""
        self.assertNotEqual(len(container), 0, msg)

    def assertBetween(self, value, minv, maxv, msg=None):
        """Fails unless minv <= value <= maxv."""
        self.assertTrue(minv <= value <= maxv, msg or f"{value!r} not in [{minv}, {maxv}]")

    def assertNotAllEqual(self, a, b, msg=None):
        """Some values differ."""
        self.assertFalse(_np.array_equal(self._array(a), self._array(b)), msg)

    def assertAllGreater(self, a, comparison_target):
        """Fails unless all elements are above the target."""
        self.assertTrue((self._array(a) > comparison_target).all())

    def assertAllGreaterEqual(self, a, comparison_target):
        """Fails unless all elements are at the target or above."""
        self.assertTrue((self._array(a) >= comparison_target).all())

    def assertAllLess(self, a, comparison_target):
        """Fails unless all elements are below the target."""
        self.assertTrue((self._array(a) < comparison_target).all())

    def assertAllLessEqual(self, a, comparison_target):
        """Fails unless all elements are at the target or below."""
        self.assertTrue((self._array(a) <= comparison_target).all())

    def assertAllInRange(
        self, target, lower_bound, upper_bound, open_lower_bound=False, open_upper_bound=False
    ):
        """All values lie between the bounds."""
        array = self._array(target)
        low = array > lower_bound if open_lower_bound else array >= lower_bound
        high = array < upper_bound if open_upper_bound else array <= upper_bound
        self.assertTrue((low & high).all(), f"{array}")

    def assertAllInSet(self, target, expected_set):
        """Fails unless all elements are in the set."""
        self.assertTrue(set(self._array(target).ravel().tolist()) <= set(expected_set))


# Names that programs of the time use and unittest has dropped since.
for _old, _new in {
    "assertEquals": "assertEqual",
    "assertNotEquals": "assertNotEqual",
    "assertAlmostEquals": "assertAlmostEqual",
    "assertItemsEqual": "assertCountEqual",
    "assertRaisesRegexp": "assertRaisesRegex",
    "assertRegexpMatches": "assertRegex",
    "assert_": "assertTrue",
}.items():
    setattr(TestCase, _old, getattr(_unittest.TestCase, _new))


def _canonical_name(device):
    if isinstance(device, str) and device:
        device = _DeviceSpec.from_string(device)
    return device.to_string() if hasattr(device, "to_string") else device or ""


def _message_of(error):
    """What the message of an error is compared by: with those of the ops that it comes from."""
    return error.message if isinstance(error, _errors.OpError) else str(error)


class _Captured:
    """What has been written to a stream so far."""

    def __init__(self, stream, file):
        self._stream, self._file = stream, file

    def contents(self):
        """All of it, as text."""
        self._stream.flush()
        self._file.seek(0)
        return self._file.read().decode("utf-8", "replace")


class _CheckedThread:
    """A thread whose failure is that of a test."""

    def __init__(self, case, target, args, kwargs):
        self._case, self._target, self._args, self._kwargs = case, target, args, kwargs
        self._error = None
        self._thread = _threading.Thread(target=self._run)

    def _run(self):
        try:
            self._target(*self._args, **self._kwargs)
        except Exception as error:
            self._error = error

    def start(self):
        """Starts the thread."""
        self._thread.start()

    def join(self):
        """Waits for the thread; the test fails if it raised an exception."""
        self._thread.join()
        if self._error is not None:
            self._case.fail(f"Error in checkedThread: {self._error}")

    def is_alive(self):
        """Whether it still runs."""
        return self._thread.is_alive()


def _value_of(tensor):
    if callable(tensor) and not hasattr(tensor, "numpy"):  # such as a learning rate that decays
        return _nest.map_structure(_value_of, tensor())
    if isinstance(tensor, _RaggedBase):
        return _RaggedTensorValue(_value_of(tensor.values), tensor.row_splits.numpy())
    return tensor.numpy() if hasattr(tensor, "numpy") else tensor


class _RunsAtOnce:
    """What tests get for a session where operations run at once."""

    def __init__(self, test):
        self._test = test
        self.graph = _get_default_graph()

    def __enter__(self):
        return self

    def __exit__(self, *exc_info):
        pass

    def run(self, fetches, feed_dict=None):
        """The values of tensors, which nothing can be fed to."""
        if feed_dict:
            raise RuntimeError("nothing can be fed where operations run at once")
        return self._test.evaluate(fetches)


class _StaysOpen:
    """Makes a session and its graph the default, without closing it."""

    def __init__(self, session):
        self._session = session
        self._contexts = []

    def __enter__(self):
        self._contexts = [self._session.graph.as_default(), self._session.as_default()]
        for context in self._contexts:
            context.__enter__()
        return self._session

    def __exit__(self, *exc_info):
        for context in reversed(self._contexts):
            context.__exit__(*exc_info)


def main(argv=None):
    """Runs the tests of the program, or what it measures if it was given `--benchmarks=PATTERN`."""
    argv = _sys.argv if argv is None else argv
    chosen = [word for word in argv if word.startswith("--benchmarks=")]
    if chosen:
        return _run_benchmarks(chosen[-1].partition("=")[2])
    _unittest.main(argv=argv)


_absent = _attribute_of("tensorflow.test")


def __getattr__(name):
    if name == "mock":  # slow to import
        from unittest import mock

        return mock
    return _absent(name)
