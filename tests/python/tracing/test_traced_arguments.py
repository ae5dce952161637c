"""What a traced function is given: structures of the program's own, names, numbers, lists."""

import collections
import dataclasses
import gc
import pickle
import weakref

import numpy as np
import pytest
import rheos as tf
import rheos.v1 as v1


@dataclasses.dataclass
class Masked:
    """A tensor with a mark, which is no tensor."""

    mark: bool
    value: object

    def __tf_flatten__(self):
        return (self.mark,), (self.value,)

    @classmethod
    def __tf_unflatten__(cls, static, parts):
        return cls(*static, *parts)


def test_an_object_that_tells_its_parts_is_a_structure():
    doubled = tf.nest.map_structure(lambda x: x * 2, [Masked(True, 3), 4])
    assert doubled == [Masked(True, 6), 8]
    assert tf.nest.flatten(Masked(False, (1, 2))) == [1, 2]

    @tf.function
    def double(masked):
        return Masked(masked.mark, masked.value * 2)

    made = double(Masked(True, tf.constant(3.0)))
    assert made.mark and made.value.numpy() == 6.0
    double(Masked(True, tf.constant(4.0)))
    assert double.experimental_get_tracing_count() == 1
    double(Masked(False, tf.constant(4.0)))
    assert double.experimental_get_tracing_count() == 2


def plus_one(x):
    return x + 1


def test_a_traced_function_can_be_pickled():
    spec = [tf.TensorSpec([], tf.int32)]
    copied = pickle.loads(pickle.dumps(tf.function(plus_one, input_signature=spec)))
    assert copied(tf.constant(1)).numpy() == 2 and copied.input_signature == tuple(spec)


def test_what_is_no_function_or_spec_is_refused_at_once():
    with pytest.raises(TypeError, match="is not a callable object"):
        tf.function(1)
    with pytest.raises(TypeError, match="input_signature"):
        tf.function(plus_one, input_signature=[(2, 3)])


@pytest.mark.parametrize(
    "change",
    [
        lambda x: x[0].append(tf.constant(1)),
        lambda x: x[0].__setitem__(0, tf.constant(1)),
        lambda x: x[1].update(b=tf.constant(1)),
    ],
)
def test_a_function_that_changes_what_it_is_given_is_refused(change):
    def changes(x):
        change(x)
        return x[0][0]

    with pytest.raises(ValueError, match="should not modify its Python input arguments"):
        tf.function(changes, autograph=False)([[tf.constant(1)], {"a": tf.constant(2)}])


def test_a_concrete_function_takes_numbers_and_the_names_of_its_inputs():
    @tf.function
    def add(x, **more):
        return x[0] + x[1] + more["d"]

    spec = tf.TensorSpec(None, tf.float32)
    concrete = add.get_concrete_function((spec, spec), d=spec)
    one = tf.constant(1.0)
    assert concrete(x=one, x_1=one, d=tf.constant(3.0)).numpy() == 5.0
    named = tf.function(plus_one).get_concrete_function(tf.TensorSpec(None, tf.float32, "y"))
    assert named(y=one).numpy() == 2.0 and named(1.5).numpy() == 2.5
    with pytest.raises(TypeError, match="Binding inputs"):
        named(z=one)


def test_a_parameter_may_be_called_underscore():
    assert tf.function(lambda _: _ + 1)(tf.constant(1)).numpy() == 2


def test_a_queue_that_a_trace_makes_outlives_it():
    made = []

    @tf.function
    def through(x):
        if not made:
            made.append(tf.queue.FIFOQueue(10, [tf.int32], shapes=[()]))
        made[0].enqueue(x)
        made[0].enqueue(x + 3)
        return made[0].dequeue()

    assert through(tf.constant(2)).numpy() == 2 and made[0].dequeue().numpy() == 5
    del made[:]
    with v1.Graph().as_default(), v1.Session() as session:
        result = through(tf.constant(4))
        assert session.run(result) == 4 and session.run(made[0].dequeue()) == 7


def test_queues_work_at_once():
    first, second = (tf.queue.FIFOQueue(3, [tf.int32], shapes=[()]) for _ in range(2))
    first.enqueue(5)
    assert (first.size().numpy(), second.size().numpy()) == (1, 0)
    assert tf.function(first.dequeue)().numpy() == 5


Pair = collections.namedtuple("Pair", "a b")


def test_a_saved_function_takes_structures_as_the_first_one_did(tmp_path):
    root = tf.Module()
    root.pair = tf.function(lambda p: p.a - p.b)
    root.pair(Pair(tf.constant(3.0), tf.constant(1.0)))
    root.rows = tf.function(lambda x: x + 1, input_signature=[tf.TensorSpec(None, tf.int32)])
    root.parts = [tf.Variable(1.0), "text", tf.Variable(3.0)]
    both = tf.TensorSpec(None, tf.float32)
    add = tf.function(lambda x, y: x + y).get_concrete_function(both, both)
    tf.saved_model.save(root, str(tmp_path), signatures={"add": add})
    loaded = tf.saved_model.load(str(tmp_path))
    assert loaded.pair(Pair(tf.constant(4.0), tf.constant(1.0))).numpy() == 3.0
    assert loaded.rows([1, 2]).numpy().tolist() == [2, 3]
    assert loaded.parts[1] is None and loaded.parts[2].numpy() == 3.0
    one = tf.constant(1.0)
    assert loaded.signatures["add"](x=one, y=one)["output_0"].numpy() == 2.0
    with pytest.raises(TypeError, match="keyword"):
        loaded.signatures["add"](one, y=one)
    with pytest.raises(TypeError, match="cannot be changed"):
        loaded.signatures["more"] = add


def test_tapes_pass_over_texts_and_check_batches():
    x, text = tf.constant([[3.0]]), tf.constant("text")
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    assert tape.gradient([y, text], [x, text])[1] is None
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x[0]
    with pytest.raises(ValueError, match="rank at least 2"):
        tape.batch_jacobian(y, x)
    empty = tf.zeros([1, 0])
    with tf.GradientTape() as tape:
        tape.watch(empty)
        y = empty * 2
    assert tape.batch_jacobian(y, empty).shape == (1, 0, 0)


def test_a_variable_is_an_argument_of_a_custom_gradient():
    x = tf.Variable(2.0)

    def gradient(of_x):
        same = tf.custom_gradient(lambda x: (x, of_x))
        with tf.GradientTape() as tape:
            y = same(x)
        return tape.gradient(y, x)

    assert gradient(lambda dy: dy * 5).numpy() == 5.0
    with pytest.raises(ValueError, match="expected to return 1 gradients"):
        gradient(lambda dy: [])


def test_each_call_in_a_function_draws_by_itself():
    @tf.function
    def draw():
        return tf.random.uniform([2], seed=3)

    @tf.function
    def twice():
        return draw(), draw()

    tf.random.set_seed(7)
    rounds = [[one.numpy().tolist() for one in twice()] for _ in range(2)]
    alone = [draw().numpy().tolist() for _ in range(2)]
    assert [[one, one] for one in alone] == rounds and alone[0] != alone[1]


def test_a_saved_function_takes_ragged_and_sparse_tensors(tmp_path):
    class Model(tf.Module):
        @tf.function(input_signature=[tf.RaggedTensorSpec([None, None], tf.float32)])
        def grow(self, x):
            return x * 10.0

        @tf.function(input_signature=[tf.SparseTensorSpec([None, 3], tf.float32)])
        def rows(self, x):
            return {"sums": tf.sparse.reduce_sum(x, axis=1), "same": x}

    tf.saved_model.save(Model(), str(tmp_path))
    loaded = tf.saved_model.load(str(tmp_path))
    assert loaded.grow(tf.ragged.constant([[1.0, 2.0], [3.0]])).to_list() == [[10.0, 20.0], [30.0]]
    made = loaded.rows(tf.SparseTensor([[0, 1], [1, 2]], [2.0, 3.0], [2, 3]))
    assert made["sums"].numpy().tolist() == [2.0, 3.0]
    assert made["same"].dense_shape.numpy().tolist() == [2, 3]


def test_map_fn_goes_over_ragged_rows():
    rows = tf.ragged.constant([[3, 1], [], [5]])
    assert tf.map_fn(tf.math.square, rows).to_list() == [[9, 1], [], [25]]
    sums = tf.map_fn(tf.reduce_sum, rows, fn_output_signature=tf.int32)
    assert sums.numpy().tolist() == [4, 0, 5]
    made = tf.map_fn(tf.range, tf.constant([2, 0, 1]),
                     fn_output_signature=tf.RaggedTensorSpec([None], tf.int32))  # fmt: skip
    assert made.to_list() == [[0, 1], [], [0]]


# ---- Which trace serves


def counted(function, **options):
    """(a function that is traced, the list that each trace makes longer)."""
    traces = []

    def traced(*args, **kwargs):
        traces.append(None)
        return function(*args, **kwargs)

    return tf.function(traced, **options), traces


def served():
    """The specs that are traced for, calls, and how many traces there are in the end."""
    sparse, ragged = tf.sparse.from_dense([[1.0, 0]]), tf.ragged.constant([[1.0], []])
    vector, any_sparse = tf.TensorSpec([None]), tf.SparseTensorSpec([None, None])
    return [
        ([[vector]], [[[2.0, 1.0]], [[1.0]], [1.0], [[[1.0]]]], 3),
        ([[tf.TensorSpec(None)], [tf.TensorSpec([None, 2])]], [[[[1.0, 2.0]]], [[[1.0]]]], 1),
        ([[tf.TensorSpec([2])], [vector]], [[[2.0, 1.0]], [[1.0]], [[1.0] * 3]], 2),
        ([[vector, 3]], [[[1.0], 3], [[1.0], 4], [[1.0, 1.0], 3]], 2),
        ([[tf.RaggedTensorSpec([None, None])]], [[ragged], [ragged[:1]]], 1),
        ([[any_sparse]], [[sparse], [tf.sparse.from_dense([[1.0]])]], 1),
        ([[tf.SparseTensorSpec([None, 3])]], [[sparse]], 2),
    ]


@pytest.mark.parametrize("case", range(7))
def test_calls_take_the_narrowest_trace_that_takes_them(case):
    specs, calls, count = served()[case]
    function, traces = counted(lambda x, *rest: tf.identity(getattr(x, "values", x)))
    for spec in specs:
        function.get_concrete_function(*spec)
    for args in calls:
        args = [tf.constant(a) if isinstance(a, (list, float)) else a for a in args]
        function(*args)
        function(*args)
    assert len(traces) == count


def test_a_trace_takes_lists_numbers_and_arrays_for_tensors():
    vector, scalar = tf.TensorSpec([None], tf.float32), tf.TensorSpec([], tf.float32)
    two = tf.function(lambda a, b: a - b).get_concrete_function(vector, scalar)
    for args in ([1], 2), ((1.0,), 2.0), (np.array([1.0]), np.float64(2)), ([tf.constant(1.0)], 2):
        assert two(*args).numpy().tolist() == [-1.0]
    assert two(a=[1.0, 3.0], b=2).numpy().tolist() == [-1.0, 1.0]
    for args in ([[1.0]], 2.0), ([1.0], [2.0]), ("a", 2.0), ([1.0], tf.constant(2)), ([1.0],):
        with pytest.raises(TypeError, match="Binding inputs to tf.function failed"):
            two(*args)
    pair = tf.function(lambda x: x[0] - x[1]).get_concrete_function([vector, scalar])
    assert pair([[1.0], 2.0]).numpy().tolist() == [-1.0]
    for args in ([1.0], 2.0), (([1.0], 2.0),):
        with pytest.raises(TypeError, match="Binding inputs to tf.function failed"):
            pair(*args)
    named = tf.function(lambda d: d["a"]).get_concrete_function({"a": scalar})
    assert float(named({"a": 3})) == 3
    for wrong in {"b": 3}, [3], {"a": [3]}:
        with pytest.raises(TypeError, match="Binding inputs to tf.function failed"):
            named(wrong)


class Scale:
    def __init__(self, factor):
        self.factor = factor

    @tf.function
    def times(self, x):
        return x * self.factor


def test_methods_of_objects_that_nobody_holds():
    x = tf.constant(3)
    assert int(Scale(2).times(x)) == 6 and int([Scale(4)][0].times(x)) == 12
    method = Scale(5).times
    gc.collect()
    assert int(method(x)) == 15
    gone = weakref.ref(method)
    del method
    gc.collect()
    assert gone() is None
    held = Scale(7)
    assert held.times is held.times and int(held.times(x)) == 21


@pytest.mark.parametrize("name", ["/nothing:9", "nonsense", "/CPU:x", "/device:CPU:0/foo"])
def test_what_names_no_device_is_refused_where_operations_run_at_once(name):
    with pytest.raises(ValueError), tf.device(name):
        tf.constant(1)


@pytest.mark.parametrize("name", ["/cpu:0", "CPU:0", "", None, "/device:CPU:*"])
def test_devices_that_are_there_are_taken(name):
    with tf.device(name):
        assert int(tf.constant(1) + 1) == 2
