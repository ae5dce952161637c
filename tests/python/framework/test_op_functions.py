"""Functions that run one operation at once mean what their Python functions mean."""

import copy
import inspect
import pickle
import sys
import threading
from random import Random

import numpy as np
import pytest
import rheos as tf
from rheos import _core
from rheos.framework.op_call import runs_op

X = np.arange(24, dtype=np.float32).reshape(2, 3, 4)


def both(function, *args, **kwargs):
    """What the function gives at once, and what its Python function gives."""
    inner = function
    while type(inner).__name__ == "OpFunction":
        inner = inner.__wrapped__
    assert inner is not function
    return function(*args, **kwargs), inner(*args, **kwargs)


@pytest.mark.parametrize(
    "name, args, kwargs",
    [
        ("add", (X, 1.0), {}),
        ("add", (), {"y": X, "x": X, "name": "sum"}),
        ("math.subtract", (X, 2), {"name": None}),
        ("abs", (-X,), {}),
        ("abs", (X * (1 + 1j),), {}),
        ("round", (X + 0.5,), {}),
        ("round", (X.astype(np.int32),), {}),
        ("divide", (X.astype(np.int32), 3), {}),
        ("math.truediv", (X, 3.0), {}),
        ("reduce_sum", (X,), {}),
        ("reduce_sum", (X, 1), {}),
        ("reduce_mean", (X,), {"axis": [0, -1], "keepdims": True}),
        ("reduce_max", (X[0, 0, 0],), {}),
        ("matmul", (X[0], X[1]), {"transpose_b": True}),
        ("matmul", (X, X), {"transpose_b": True}),
        ("matmul", (X, X), {"adjoint_a": True}),
        ("transpose", (X,), {}),
        ("transpose", (X, [2, 0, 1]), {}),
        ("reshape", (X, (-1, 2)), {}),
        ("cast", (X, tf.int32), {}),
        ("cast", (X, "float64"), {}),
        ("cast", (X, tf.float32), {}),
        ("squeeze", (X[:1],), {}),
        ("squeeze", (X[:1], 0), {}),
        ("squeeze", (X[:, :1], [1]), {}),
        ("expand_dims", (X, -1), {}),
        ("argmax", (X,), {}),
        ("argmax", (X, 1, tf.int32), {}),
        ("zeros_like", (X,), {}),
        ("zeros_like", (X, tf.int32), {}),
        ("ones_like", (X,), {}),
        ("shape", (X,), {}),
        ("shape", (X, tf.int64), {}),
        ("size", (X,), {}),
        ("rank", (X,), {}),
        ("fill", ([2, 2], X[0, 0, 0]), {}),
        ("where", (X > 3, X, 0.0), {}),
        ("pad", (X, [[0, 0], [1, 1], [0, 2]]), {}),
        ("pad", (X, [[0, 0], [1, 1], [0, 2]]), {"mode": "REFLECT"}),
        ("gather", (X, [1, 0]), {}),
        ("gather", (X, [1, 0]), {"axis": 2}),
        ("cumsum", (X,), {"axis": 2, "exclusive": True}),
        ("nn.softmax", (X,), {}),
        ("nn.leaky_relu", (X - 5,), {"alpha": 0.3}),
        ("nn.bias_add", (X, X[0, 0]), {}),
        ("math.cumprod", (X + 1,), {"reverse": True}),
        ("concat", ([X, X], 1), {}),
        ("concat", ([X], 1), {}),
        ("stack", ([X, X],), {}),
        ("stack", ([X, X],), {"axis": -1}),
        ("tile", (X, [1, 2, 1]), {}),
    ],
)
def test_a_call_gives_what_the_python_function_gives(name, args, kwargs):
    function = tf
    for part in name.split("."):
        function = getattr(function, part)

    def tensors(value):
        if isinstance(value, (np.ndarray, np.generic)):
            return tf.constant(value)
        if isinstance(value, list) and any(isinstance(v, np.ndarray) for v in value):
            return [tensors(v) for v in value]
        return value

    args = tuple(map(tensors, args))
    kwargs = {key: tensors(value) for key, value in kwargs.items()}
    at_once, wanted = both(function, *args, **kwargs)
    assert at_once.dtype == wanted.dtype
    np.testing.assert_array_equal(at_once.numpy(), wanted.numpy(), strict=True)


def test_wrong_arguments_are_the_python_functions_errors():
    x = tf.constant([1.0])
    with pytest.raises(TypeError, match="argument"):
        tf.add(x)
    with pytest.raises(TypeError, match="argument"):
        tf.add(x, x, None, x)
    with pytest.raises(TypeError, match="unexpected keyword"):
        tf.add(x, z=x)
    with pytest.raises(TypeError, match="multiple values"):
        tf.add(x, x, x=x)
    with pytest.raises((TypeError, ValueError, tf.errors.InvalidArgumentError)):
        tf.add(x, "text")
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"\[Op:MatMul\]|Matrix size"):
        tf.matmul(tf.ones([2, 3]), tf.ones([2, 3]))


def test_it_looks_like_the_function_it_is_made_of():
    assert tf.reduce_sum.__name__ == "reduce_sum" and tf.reduce_sum.__doc__
    assert inspect.isfunction(tf.matmul)
    assert list(inspect.signature(tf.add).parameters) == ["x", "y", "name"]
    assert pickle.loads(pickle.dumps(tf.matmul)) is tf.matmul
    assert copy.deepcopy(tf.matmul) is tf.matmul
    assert repr(tf.matmul).startswith("<function")


def test_in_a_class_it_is_a_method():
    class Squares:
        square = tf.square

    with pytest.raises((TypeError, ValueError)):
        Squares().square()


def test_a_function_whose_op_takes_something_else_is_refused():
    @runs_op("Add", "x")
    def wrong(x):
        return x

    with pytest.raises(TypeError, match="inputs"):
        wrong(tf.constant(1.0))


def test_functions_trace_too():
    @tf.function
    def program(x):
        return tf.reduce_sum(tf.matmul(x, tf.transpose(x)))

    x = tf.constant(X[0])
    assert program(x).numpy() == (X[0] @ X[0].T).sum()


def test_a_list_that_changes_while_it_is_converted_is_no_harm():
    values = [tf.constant([1.0])]

    class Shrinking:
        def __array__(self, dtype=None, copy=None):
            del values[:]
            return np.array([1.0], np.float32)

    values.append(Shrinking())
    try:
        result = tf.concat(values, 0)
    except (TypeError, ValueError):
        return
    assert result.numpy().tolist() == [1, 1]


@pytest.mark.parametrize(
    "key",
    [
        0,
        -1,
        (1, 2),
        slice(1, None),
        slice(None, None, -1),
        (slice(None), slice(0, 2), 3),
        (Ellipsis, 1),
        (Ellipsis, None),
        (None, 1, Ellipsis, slice(3, 0, -2)),
        (slice(None), None, 0),
    ],
)
def test_a_slice_is_numpys(key):
    np.testing.assert_array_equal(tf.constant(X)[key].numpy(), X[key])


def test_other_keys_are_the_packages():
    x = tf.constant(X)
    np.testing.assert_array_equal(x[tf.constant(1)].numpy(), X[1])
    np.testing.assert_array_equal(x[np.int64(1)].numpy(), X[1])
    np.testing.assert_array_equal(x[x > 3].numpy(), X[X > 3])
    with pytest.raises(TypeError, match="valid indices"):
        x["a"]
    with pytest.raises(tf.errors.InvalidArgumentError):
        x[5]


def test_variables_are_read_where_they_are_used():
    v, x = tf.Variable([1.0, 2.0]), tf.constant([3.0, 4.0])
    results = [x * v, v * x, v + 1, 1 - v, -v, abs(v), tf.add(v, x), v / 2.0, v**2, v > 1]
    wanted = [[3, 8], [3, 8], [2, 3], [0, -1], [-1, -2], [1, 2], [4, 6], [0.5, 1], [1, 4], [0, 1]]
    for result, want in zip(results, wanted):
        np.testing.assert_array_equal(result.numpy(), want)
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(x * v + tf.square(v))
    np.testing.assert_array_equal(tape.gradient(loss, v).numpy(), [5, 8])
    assert tape.watched_variables() == (v,)


def test_assignments_check_shape_and_dtype():
    v = tf.Variable([1.0, 2.0])
    assert v.assign([3, 4]).numpy().tolist() == [3, 4]
    assert v.assign_add(tf.constant([1.0, 1.0])).numpy().tolist() == [4, 5]
    assert v.assign_sub(v).numpy().tolist() == [0, 0]
    with pytest.raises(ValueError, match="[Ss]hape"):
        v.assign([1.0])
    with pytest.raises((ValueError, TypeError, tf.errors.InvalidArgumentError)):
        v.assign(tf.constant([1, 2]))
    open_variable = tf.Variable([1.0], shape=tf.TensorShape([None]))
    assert open_variable.assign([1.0, 2.0, 3.0]).numpy().tolist() == [1, 2, 3]


def test_only_the_threads_own_tapes_watch():
    v = tf.Variable(2.0)
    seen = []

    def other():
        with tf.GradientTape() as tape:
            v * 3.0
        seen.append(tape.watched_variables())

    with tf.GradientTape() as tape:
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
        assert tape.watched_variables() == ()
        tf.square(v)
    assert seen == [(v,)] and tape.watched_variables() == (v,)


def test_nested_tapes_and_variables_that_are_not_trained():
    v, fixed = tf.Variable(3.0), tf.Variable(2.0, trainable=False)
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = v * v * v * fixed
        first = inner.gradient(y, v)
    assert first.numpy() == 54 and outer.gradient(first, v).numpy() == 36
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        y = v * v
    assert tape.gradient(y, v) is None


def test_a_cast_to_the_same_dtype_is_the_tensor_itself():
    x, v = tf.constant([1.0, 2.0]), tf.Variable([1.0])
    assert tf.cast(x, tf.float32) is x and tf.cast(x, "float32") is x
    assert tf.cast(v, tf.float32) is v
    assert tf.cast([1.0], "float32").numpy().tolist() == [1]
    assert tf.cast(x, "int32").numpy().tolist() == [1, 2] and tf.cast(x, "half").dtype == tf.float16
    with pytest.raises(TypeError):
        tf.cast(x, "no dtype")


def op_functions():
    """{name: function} of all modules that are imported."""
    found = {}
    for name, module in list(sys.modules.items()):
        for key, value in list(vars(module).items()) if name.startswith("rheos.") else ():
            if type(value) is _core.OpFunction:
                found.setdefault(f"{name}.{key}", value)
    return found


def drawn(random):
    """A value that may be an argument, sound or not."""
    if random.random() < 0.45:
        dims = random.choice([(), (1,), (2,), (2, 2), (2, 3), (3, 2), (2, 2, 2), (0,), (1, 2, 3)])
        dtype = random.choice(["float32"] * 4 + "float64 int32 int64 bool complex64 half".split())
        values = np.random.RandomState(random.randrange(99)).randn(*dims) * 3
        return tf.constant(np.asarray(values).astype(dtype))
    values = [1, -1, 0.5, [0], [0, 1], True, (1, -1), "abc", tf.float32, tf.int32, [], 2**40]
    makers = [
        lambda: tf.Variable(drawn_tensor(random)),
        lambda: [drawn_tensor(random), drawn_tensor(random)],
        lambda: np.ones((2, 2), np.float32),
        object,
    ]
    return random.choice([*[lambda v=v: v for v in values], *makers])()


def drawn_tensor(random):
    return tf.constant(np.full(random.choice([(), (2,), (2, 2)]), random.random(), np.float32))


def outcome(function, args, kwargs):
    try:
        result = function(*args, **kwargs)
    except Exception as error:  # noqa: BLE001
        return type(error)
    if not isinstance(result, tf.Tensor):
        return type(result)
    return result.dtype, result.shape.as_list(), np.asarray(result.numpy()).tobytes()


@pytest.mark.parametrize("seed", range(4))
def test_any_arguments_mean_what_they_mean_to_the_python_function(seed):
    random, functions = Random(seed), op_functions()
    assert len(functions) > 100
    with np.errstate(all="ignore"):
        for _ in range(1000):
            name, function = random.choice(sorted(functions.items()))
            inner = function
            while type(inner) is _core.OpFunction:
                inner = inner.__wrapped__
            names = list(inspect.signature(inner).parameters)
            args = [drawn(random) for _ in range(random.choice([1, 1, 2, 2, 2, 3]))]
            kwargs = {key: drawn(random) for key in names[len(args) :] if random.random() < 0.15}
            kwargs.pop("name", None)
            said = outcome(function, args, kwargs), outcome(inner, args, kwargs)
            assert said[0] == said[1], (name, args, kwargs)
