"""What TensorFlow's tests take from its `framework.test_util` and has no public name, for Rheos."""

import contextlib
import functools
import importlib

import tensorflow as tf

TensorFlowTestCase = tf.test.TestCase


def _same(function=None, *args, **kwargs):
    """A decorator, with or without arguments, that changes nothing."""
    if callable(function):
        return function
    return lambda decorated: decorated


disable_xla = no_xla_auto_jit = xla_allow_fallback = disable_all_xla = _same
disable_mlir_bridge = enable_tf_xla_constant_folding = _same
assert_no_new_tensors = assert_no_garbage_created = _same
assert_no_new_pyobjects_executing_eagerly = _same


def _for_methods(decorate, cls):
    for name, value in list(vars(cls).items()):
        if callable(value) and name.startswith("test"):
            setattr(cls, name, decorate(value))
    return cls


run_deprecated_v1 = deprecated_graph_mode_only = _same


def run_v1_only(reason=None, function=None):
    if callable(reason):
        return reason
    return function if function else lambda decorated: decorated


def run_v2_only(function=None):
    def skipping(decorated):
        @functools.wraps(decorated)
        def run(self, *args, **kwargs):
            self.skipTest("version 2 only")

        return run

    return skipping(function) if function else skipping


def run_in_graph_and_eager_modes(function=None, config=None, use_gpu=True, **others):
    """In a graph with a session, then eagerly after setUp() once more."""

    def decorate(decorated):
        if isinstance(decorated, type):
            raise ValueError("`run_in_graph_and_eager_modes` only supports test methods")

        @functools.wraps(decorated)
        def run(self, *args, **kwargs):
            with self.test_session(use_gpu=use_gpu, config=config):
                decorated(self, *args, **kwargs)
            context = importlib.import_module("tensorflow.python.eager.context")
            with context.eager_mode():
                self.tearDown()
                self._tempdir = None
                self.setUp()
                decorated(self, *args, **kwargs)

        return run

    return decorate(function) if function else decorate


def run_all_in_graph_and_eager_modes(cls):
    return _for_methods(run_in_graph_and_eager_modes, cls)


def for_all_test_methods(decorator, *args, **kwargs):
    return lambda cls: _for_methods(decorator(*args, **kwargs), cls)


def _skipping(why):
    def decorate(function=None):
        if isinstance(function, type):
            return _for_methods(decorate, function)
        if function is None:
            return decorate

        @functools.wraps(function)
        def run(self, *args, **kwargs):
            self.skipTest(why)

        return run

    return decorate


run_gpu_only = run_cuda_only = _skipping("needs a GPU")


def _control_flow_v2(on):
    def decorate(function):
        @functools.wraps(function)
        def run(self, *args, **kwargs):
            before = tf.compat.v1.control_flow_v2_enabled()
            switch(on)
            try:
                return function(self, *args, **kwargs)
            finally:
                switch(before)

        return run

    def switch(value):
        v1 = tf.compat.v1
        (v1.enable_control_flow_v2 if value else v1.disable_control_flow_v2)()

    return decorate


enable_control_flow_v2 = _control_flow_v2(True)


def disable_control_flow_v2(reason):
    """For tests that run with functions too, where `reason` says why not."""
    return lambda function: setattr(function, "_version_1_only", True) or function


def with_control_flow_v2(cls):
    """Each test once with version 1's nodes and once with functions."""
    for name, value in list(vars(cls).items()):
        if callable(value) and name.startswith("test") and not hasattr(value, "_version_1_only"):
            setattr(cls, name + "WithControlFlowV2", enable_control_flow_v2(value))
    return cls


def build_as_function_and_v1_graph(function):
    def run_both(self, *args, **kwargs):
        with tf.Graph().as_default():
            function(self, *args, **kwargs)
        tf.function(lambda: function(self, *args, **kwargs) and None, autograph=False)()

    return functools.wraps(function)(run_both)


def also_run_as_tf_function(function):
    @functools.wraps(function)
    def run(self, *args, **kwargs):
        function(self, *args, **kwargs)
        if tf.executing_eagerly():
            tf.function(lambda: function(self, *args, **kwargs) and None, autograph=False)()

    return run


@contextlib.contextmanager
def _nothing(*args, **kwargs):
    yield


use_gpu = force_gpu = device = fft_kernel_label_map = _nothing


@contextlib.contextmanager
def force_cpu():
    with tf.device("/device:CPU:0"):
        yield


def is_gpu_available(*args, **kwargs):
    return False


def IsMklEnabled():
    return False


def is_xla_enabled():
    return False


def CudaSupportsHalfMatMulAndConv():
    return False


GpuSupportsHalfMatMulAndConv = IsGoogleCudaEnabled = IsBuiltWithROCm = CudaSupportsHalfMatMulAndConv


def gpu_device_name():
    return ""


def gpu_device_type():
    return "GPU"


def device_name():
    return "/device:CPU:0"


def _permuted(value, order):
    if isinstance(value, tf.Tensor):
        return tf.transpose(value, order)
    return [value[axis] for axis in order]


def _rank(value):
    return value.shape.ndims if isinstance(value, tf.Tensor) else len(value)


def NHWCToNCHW(value):
    return _permuted(value, {4: [0, 3, 1, 2], 5: [0, 4, 1, 2, 3]}[_rank(value)])


def NCHWToNHWC(value):
    return _permuted(value, {4: [0, 2, 3, 1], 5: [0, 2, 3, 4, 1]}[_rank(value)])


def NHWCToNCHW_VECT_C(value):
    raise NotImplementedError("NCHW_VECT_C")


def create_local_cluster(*args, **kwargs):
    raise NotImplementedError("clusters")


def assert_ops_in_graph(expected, graph):
    found = {op.name: op.type for op in graph.get_operations()}
    missing = {name: kind for name, kind in expected.items() if found.get(name) != kind}
    if missing:
        raise ValueError("Not all expected ops are present: %s" % missing)
    return {node.name: node for node in graph.as_graph_def().node if node.name in expected}


def assert_equal_graph_def(actual, expected, **options):
    tf.test.assert_equal_graph_def(actual, expected, **options)


def assert_meta_graph_protos_equal(case, a, b):
    case.assertEqual(a, b)


def get_node_def_from_graph(name, graph_def):
    return next((node for node in graph_def.node if node.name == name), None)


@contextlib.contextmanager
def set_producer_version(graph, version):
    with graph.as_default():
        yield


def add_tests(cls):
    raise NotImplementedError("tests of linear operators are made by their own helper")


def generate_combinations_with_testcase_name(**kwargs):
    """Dictionaries of all combinations, each with a name made of its values."""
    combined = [{}]
    for key in sorted(kwargs):
        values = kwargs[key] if isinstance(kwargs[key], list) else [kwargs[key]]
        combined = [dict(one, **{key: value}) for one in combined for value in values]
    for one in combined:
        parts = ("_%s_%s" % (key, one[key]) for key in sorted(one))
        one["testcase_name"] = "".join(filter(str.isalnum, "".join(parts).replace("_", "")))
    return combined
