"""What programs make, use and drop is gone afterwards, and works for as long as it is held."""

import gc
import os
import weakref
from pathlib import Path

import numpy as np
import pytest
import rheos as tf

X = np.ones(10, np.float32)


class Data:
    """What functions of the program close over; py() is one that knows its object."""

    def __init__(self):
        self.values = np.full(300000, 2.0, np.float32)

    def py(self, x):
        return x * self.values[0]


class Scale(tf.Module):
    def __init__(self):
        super().__init__()
        self.v = tf.Variable(tf.ones([500, 500]))

    @tf.function(input_signature=[tf.TensorSpec([None, 500], tf.float32, "x")])
    def f(self, x):
        return tf.matmul(x, self.v)


def loaded():
    model = tf.saved_model.load(loaded.folder)
    return model, tf.ones([1, 500])


@pytest.fixture(scope="module", autouse=True)
def folder(tmp_path_factory):
    loaded.folder = str(tmp_path_factory.mktemp("saved"))


def in_function(make):
    def kind():
        data = Data()
        function = tf.function(lambda x: make(data, x))
        np.testing.assert_array_equal(function(tf.constant(X)), 2 * X)
        return data, function

    return kind


def differentiated(make):
    def kind():
        data, x = Data(), tf.constant(X)
        function = tf.function(lambda x: make(data, x))
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = function(x)
        kept = weakref.ref(function)
        del function
        gc.collect()
        for _ in range(2):
            np.testing.assert_array_equal(tape.gradient(y, x), 2 * X)
        return data, tape, kept

    return kind


def in_dataset(make):
    def kind():
        data = Data()
        iterator = iter(make(data, tf.data.Dataset.from_tensors(X).repeat(2)))
        gc.collect()  # the iterator alone holds on to the dataset and its functions
        for element in iterator:
            np.testing.assert_array_equal(element, 2 * X)
        return data, iterator

    return kind


def numpy_function(data, x):
    return tf.numpy_function(data.py, [x], tf.float32)


def py_function(data, x):
    return tf.py_function(data.py, [x], tf.float32)


def looped(data, x):
    shapes = [tf.TensorShape([]), tf.TensorShape(None)]
    return tf.while_loop(
        lambda i, a: i < 1, lambda i, a: (i + 1, py_function(data, a)), [0, x], shapes
    )[1]


def own_gradient(data, x):
    return tf.custom_gradient(lambda a: (data.py(a), data.py))(x)


def own_gradient_that_fails(data, x):
    def fail(grad):
        raise ValueError(data)

    return tf.custom_gradient(lambda a: (data.py(a), fail))(x)


def mapped(data, dataset):
    return dataset.map(lambda x: py_function(data, x)).batch(1).unbatch().prefetch(1)


def flat_mapped(data, dataset):
    return dataset.flat_map(lambda x: tf.data.Dataset.from_tensors(numpy_function(data, x)))


def generated(data, dataset):
    def yields():
        for x in dataset:
            yield data.py(x.numpy())

    return tf.data.Dataset.from_generator(yields, output_signature=tf.TensorSpec(None))


def dataset_in_function():
    data = Data()
    dataset = mapped(data, tf.data.Dataset.from_tensors(X))

    def last(dataset):
        @tf.function
        def called():
            result = tf.zeros([10])
            for element in dataset:
                result = tf.ensure_shape(element, [10])
            return result

        return called.get_concrete_function()

    concrete, dataset = last(dataset), None  # only its variant is left, captured
    gc.collect()
    np.testing.assert_array_equal(concrete(), 2 * X)
    return data, concrete


def object_of_its_functions():
    data = Data()
    data.function = tf.function(lambda x: py_function(data, x))
    data.dataset = tf.data.Dataset.from_tensors(X).map(lambda x: py_function(data, x))
    data.function(X)
    list(data.dataset)
    return (data,)


def saved_model():
    model, x = loaded()
    with tf.GradientTape() as tape:
        y = model.f(x)
    assert tape.gradient(y, model.v) is not None
    return model, model.v, tape


def saved_model_called_elsewhere():
    model, x = loaded()
    variable, function = model.v, tf.function(lambda x: model.f(x)).get_concrete_function(x)
    dataset = tf.data.Dataset.from_tensors(x).map(lambda x: model.f(x))
    model = None
    gc.collect()
    assert function(x).shape == next(iter(dataset)).shape == [1, 500]
    return variable, function, dataset


def saved_model_saved_again():
    model, x = loaded()
    folder = loaded.folder + "_again"
    tf.saved_model.save(model, folder)
    again = tf.saved_model.load(folder)
    assert again.f(x).shape == [1, 500]
    return model, again, again.v


def graph_of_py_func():
    graph, data = tf.Graph(), Data()
    data.graph = graph
    with graph.as_default():
        y = tf.compat.v1.py_func(data.py, [X], tf.float32)
        dataset = tf.data.Dataset.from_tensors(X).map(lambda x: numpy_function(data, x))
        element = tf.compat.v1.data.make_one_shot_iterator(dataset).get_next()
        with tf.compat.v1.Session() as session:
            np.testing.assert_array_equal(session.run([y, element]), [2 * X, 2 * X])
    return data, graph, session


def graph_of_own_gradient():
    graph, data = tf.Graph(), Data()
    with graph.as_default():
        x = tf.constant(X)
        (gradient,) = tf.gradients(own_gradient(data, x), x)
        with tf.compat.v1.Session() as session:
            np.testing.assert_array_equal(session.run(gradient), 2 * X)
    return data, graph


KINDS = {
    "function": in_function(lambda data, x: data.py(x)),
    "numpy_function": in_function(numpy_function),
    "py_function": in_function(py_function),
    "py_function in a loop": in_function(looped),
    "custom gradient": in_function(own_gradient),
    "failing custom gradient": in_function(own_gradient_that_fails),
    "gradient of a function": differentiated(lambda data, x: data.py(x)),
    "gradient of py_function": differentiated(py_function),
    "gradient of py_function in a loop": differentiated(looped),
    "gradient of custom gradient": differentiated(own_gradient),
    "map": in_dataset(mapped),
    "flat_map": in_dataset(flat_mapped),
    "from_generator": in_dataset(generated),
    "dataset in a function": dataset_in_function,
    "object of its functions": object_of_its_functions,
    "saved model": saved_model,
    "saved model called elsewhere": saved_model_called_elsewhere,
    "saved model saved again": saved_model_saved_again,
    "graph of py_func": graph_of_py_func,
    "graph of custom gradient": graph_of_own_gradient,
}


def resident_bytes():
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_nothing_is_left_of(kind):
    if not os.listdir(loaded.folder):
        tf.saved_model.save(Scale(), loaded.folder)
    left = [one if isinstance(one, weakref.ref) else weakref.ref(one) for one in kind()]
    gc.collect()
    gc.collect()
    assert [one() for one in left] == [None] * len(left)
    sizes = []
    for _ in range(9):
        kind()
        sizes.append(resident_bytes())
    assert sizes[-1] - sizes[2] < 3 * Data().values.nbytes


def test_a_graph_that_was_imported_keeps_no_function_of_another():
    with tf.Graph().as_default() as graph:
        tf.compat.v1.py_func(lambda: np.float32(3), [], tf.float32, name="y")
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        (y,) = tf.graph_util.import_graph_def(graph.as_graph_def(), return_elements=["y:0"])
        assert session.run(y) == 3
        del graph
        gc.collect()
        with pytest.raises(tf.errors.InvalidArgumentError, match="callback pyfunc_.* is not found"):
            session.run(y)


def test_calls_of_py_function_that_wait_for_their_gradients_are_told_apart():
    seen = []

    def square(x):
        seen.append(float(x))
        return x * x

    @tf.function
    def total(x):
        return tf.add_n([tf.py_function(square, [x * i], tf.float32) for i in (1.0, 2.0, 3.0)])

    x = tf.constant(2.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        calls = [total(x) for _ in range(40)]
    for y in reversed(calls):
        assert float(tape.gradient(y, x)) == 2 * 2 * (1 + 4 + 9)
    assert len(seen) == 3 * 40  # no call was made again
