"""tf.function where operations run at once: what TensorFlow 2 gives, as recorded from it."""

import gc
import json
import os
import sys
from pathlib import Path

import numpy as np
import pytest
import rheos as tf
from rheos.framework import defaults, eager, errors

GOLDEN = Path(__file__).parents[2] / "golden"
sys.path.insert(0, str(GOLDEN))
import autograph_programs  # noqa: E402
import tracing_programs  # noqa: E402

sys.path.remove(str(GOLDEN))
TRACING = json.loads((GOLDEN / "tracing.json").read_text())
AUTOGRAPH = json.loads((GOLDEN / "autograph.json").read_text())
# What TensorFlow refuses and is well defined.
MORE = frozenset(
    "return_nested while_else conditional_nested call_nonlocal method_hidden builtin_map_filter "
    "python_walrus binary_search".split()
)
CALLS = [
    pytest.param(function, args, AUTOGRAPH[name][number], id=f"{name}-{number}")
    for name, (function, calls) in ((one[0].__name__, one) for one in autograph_programs.CASES)
    for number, args in enumerate(calls)
    if name not in MORE
]


@pytest.fixture(autouse=True)
def run_at_once():
    """Operations run at once during the test."""
    before = defaults._eager_graph
    eager.enable_eager_execution()
    yield
    defaults.set_eager_graph(before)


@pytest.mark.parametrize("program", tracing_programs.PROGRAMS, ids=lambda one: one.__name__)
def test_a_program_gives_what_tensorflow_gives(program):
    tracing_programs.tf, tracing_programs.value = tf, lambda tensor: tensor.numpy()
    found = json.dumps(program()).replace("?", "None")
    assert json.loads(found) == TRACING[program.__name__]


def leaf(value):
    """A result as the golden file has it."""
    array = np.asarray(value)
    if array.dtype.kind in "SUO":
        return ["string", [x.decode() if isinstance(x, bytes) else x for x in [array.item()]]]
    return [array.dtype.name, array.tolist()]


@pytest.mark.parametrize(("function", "args", "wanted"), CALLS)
def test_a_traced_function_gives_what_tensorflow_gives(function, args, wanted):
    autograph_programs.tf = tf
    given = [tf.constant(a) if isinstance(a, np.ndarray) else a for a in args]
    if isinstance(wanted, str):
        with pytest.raises(Exception) as caught:
            tf.function(function)(*given)
        assert wanted in [kind.__name__ for kind in caught.type.__mro__]
        return
    flat = tf.nest.flatten(tf.function(function)(*given))
    found = [leaf(value) for value in flat if value is not None]
    assert [dtype for dtype, _ in found] == [dtype for dtype, _ in wanted]
    for (dtype, value), (_, other) in zip(found, wanted):
        if dtype.startswith("float"):
            np.testing.assert_allclose(value, other, rtol=1e-6)
        else:
            assert value == other


# ---- The guide to graphs and functions, by its calls


def test_a_function_is_called_as_python_is():
    def product(x, y, b):
        x = tf.matmul(x, y)
        x = x + b
        return x

    traced = tf.function(product)
    x, y, b = tf.constant([[1.0, 2.0]]), tf.constant([[2.0], [3.0]]), tf.constant(4.0)
    assert traced(x, y, b).numpy().tolist() == product(x, y, b).numpy().tolist() == [[12.0]]


def test_functions_inside_are_traced_too():
    def inner(x, y, b):
        return tf.matmul(x, y) + b

    @tf.function
    def outer(x):
        return inner(x, tf.constant([[2.0], [3.0]]), tf.constant(4.0))

    assert outer(tf.constant([[1.0, 2.0]])).numpy().tolist() == [[12.0]]


def test_branches_are_the_graph_s(capsys):
    def branching(x):
        if tf.reduce_sum(x) <= 1:
            return x * x
        else:
            return x - 1

    traced = tf.function(branching)
    print("first:", traced(tf.constant(1.0)).numpy())
    print("second:", traced(tf.constant([5.0, 5.0])).numpy())
    assert capsys.readouterr().out == "first: 1.0\nsecond: [4. 4.]\n"
    assert "ag__.if_stmt(" in tf.autograph.to_code(branching)


# ---- Variables of functions


def test_a_function_changes_variables_and_tapes_see_it():
    class Scaled(tf.Module):
        def __init__(self):
            super().__init__()
            self.w = tf.Variable([[1.0, 2.0]])
            self.b = tf.Variable(3.0, trainable=False)

        @tf.function
        def __call__(self, x):
            self.b.assign_add(1.0)
            return x * self.w + self.b

    model = Scaled()
    for bias in (4.0, 5.0):  # the second call is no trace
        with tf.GradientTape() as tape:
            y = model(tf.constant(2.0))
        assert y.numpy().tolist() == [[2 + bias, 4 + bias]]
        assert tape.gradient(y, model.w).numpy().tolist() == [[2.0, 2.0]]
        assert tape.watched_variables() == (model.w,)


def test_a_function_inside_hands_its_variables_on():
    v = tf.Variable(2.0)
    inner = tf.function(lambda x: v * x)
    outer = tf.function(lambda x: inner(x) * v)
    for _ in range(2):
        with tf.GradientTape() as tape:
            y = outer(tf.constant(3.0))
        assert tape.gradient(y, v).numpy() == 12.0
    assert outer.get_concrete_function(tf.constant(3.0)).variables == (v,)


def test_a_tape_inside_a_function_gives_gradients_of_variables():
    v = tf.Variable(3.0)

    @tf.function
    def step(variable, x):
        with tf.GradientTape() as tape:
            loss = variable * variable * x
        variable.assign_sub(0.5 * tape.gradient(loss, variable))
        return loss

    assert [step(v, tf.constant(1.0)).numpy() for _ in range(2)] == [9.0, 0.0]


def test_variables_are_made_on_the_first_call_only():
    made = []

    @tf.function
    def count(x):
        if not made:
            made.append(tf.Variable(x * 3.0))
        return made[0].assign_add(x)

    assert [count(tf.constant(n)).numpy() for n in (2.0, 5.0)] == [8.0, 13.0]
    assert (made[0].numpy(), count.experimental_get_tracing_count()) == (13.0, 2)

    @tf.function
    def makes(x):
        return tf.Variable(1.0) + x

    for _ in range(2):
        with pytest.raises(ValueError, match="only created once"):
            makes(tf.constant(1.0))


def test_other_variables_take_the_same_trace():
    @tf.function
    def twice(one, other, x):
        one.assign_add(x)
        return other * 2.0

    a, b, c = (tf.Variable(n) for n in (1.0, 10.0, 100.0))
    assert twice(a, b, 1.0).numpy() == 20.0
    assert twice(b, c, 1.0).numpy() == 200.0
    assert (a.numpy(), b.numpy(), twice.experimental_get_tracing_count()) == (2.0, 11.0, 1)
    assert twice(c, c, 1.0).numpy() == 202.0  # the same one twice is another kind
    assert twice.experimental_get_tracing_count() == 2
    twice(a, tf.Variable([1.0]), 1.0)
    assert twice.experimental_get_tracing_count() == 3
    concrete = twice.get_concrete_function(a, b, 1.0)
    with pytest.raises(TypeError, match="Can not cast"):
        concrete(tf.Variable(1), b, 1.0)


# ---- Beyond recorded answers


def test_tapes_see_through_calls():
    @tf.function
    def cubed(x):
        return x * x * x

    x = tf.constant(2.0)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = cubed(x)
        first = tape.gradient(y, x)
    assert (y.numpy(), first.numpy(), outer.gradient(first, x).numpy()) == (8.0, 12.0, 12.0)


def test_tapes_see_variables_that_only_branches_and_loops_read():
    v = tf.Variable(2.0)
    x = tf.constant([1.0, 2.0, 3.0, 4.0])

    @tf.function
    def branch(a):
        if tf.reduce_sum(a) > 0:
            return a * v
        return -a

    @tf.function
    def loop(a):
        for _ in tf.range(2):
            a = a * v
        return a

    for function, wanted in ((branch, 10.0), (loop, 40.0)):
        for _ in range(2):  # traced in the first, found in the second
            with tf.GradientTape() as tape:
                y = tf.reduce_sum(function(x))
            assert tape.gradient(y, v).numpy() == wanted


def test_tapes_see_through_loops():
    @tf.function
    def power(x, n):
        result = 1.0
        while n > 0:
            result = result * x
            n -= 1
        return result

    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = power(x, tf.constant(4))
    assert (y.numpy(), tape.gradient(y, x).numpy()) == (81.0, 108.0)


def functions_of_the_library():
    graph = eager.get_eager_graph()
    graph._sweep_functions()
    return len(graph.as_graph_def().library.function)


def traced_and_dropped(x):
    """Calls and differentiates a function with a branch, a loop and a gradient of its own."""

    @tf.custom_gradient
    def own(x):
        return x * 2.0, lambda d: d * x

    @tf.function
    def one(x):
        if x > 0.0:
            x = x * x
        for _ in tf.range(2):
            x = own(x) + x
        return x

    with tf.GradientTape() as tape:
        tape.watch(x)
        y = one(x)
    return tape.gradient(y, x)


@tf.custom_gradient
def fails_backwards(x):
    def gradient(upstream):
        raise KeyError("mine")

    return x * x, gradient


def by_a_call(x):
    function = tf.function(lambda x: fails_backwards(x) + 1.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = function(x)
    return tape.gradient(y, x)


def by_a_call_of_a_call(x):
    return by_a_call(tf.function(by_a_call)(x))


def by_a_graph(x):
    return tf.function(lambda x: tf.gradients(fails_backwards(x), x))(x)


@pytest.mark.parametrize("ask", [by_a_call, by_a_call_of_a_call, by_a_graph])
def test_errors_of_a_gradient_come_out_when_it_is_asked_for(ask):
    assert float(tf.function(fails_backwards)(tf.constant(3.0))) == 9.0
    for _ in range(2):
        with pytest.raises(KeyError, match="mine") as caught:
            ask(tf.constant(2.0))
        assert caught.traceback[-1].name == "gradient"


def test_functions_that_are_dropped_leave_the_library():
    gc.collect()
    before = functions_of_the_library()
    for _ in range(20):
        traced_and_dropped(tf.constant(1.0))
    gc.collect()
    assert functions_of_the_library() == before


def test_functions_that_were_never_called_leave_the_library():
    @tf.function
    def outer(x):
        return inner(x) + 1

    @tf.function
    def inner(x):
        return x * 2

    gc.collect()
    before = functions_of_the_library()
    assert float(outer(tf.constant(2.0))) == 5
    for _ in range(400):
        tf.function(lambda x: tf.sin(x) + 1).get_concrete_function(tf.TensorSpec([None]))
    gc.collect()
    graph = eager.get_eager_graph()
    assert len(graph.as_graph_def().library.function) - before < 200  # without being asked to
    assert float(outer(tf.constant(3.0))) == 7
    assert outer(tf.constant([3.0, 4.0])).numpy().tolist() == [7, 9]


def test_functions_that_are_dropped_leave_no_memory_behind():
    def resident_bytes():
        gc.collect()
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")

    x = tf.constant(1.0)
    for _ in range(200):
        traced_and_dropped(x)
    before = resident_bytes()
    for _ in range(200):
        traced_and_dropped(x)
    assert resident_bytes() - before < 200 * 24 * 1024


def test_what_is_printed_is_printed_in_each_call_and_in_order(capfd):
    @tf.function
    def prints(x):
        tf.print("value", x, output_stream=sys.stdout)
        if x > 3:
            tf.print("large", output_stream=sys.stdout)
        for k in tf.range(2):
            tf.print("loop", k, output_stream=sys.stdout)
        return x

    prints(tf.constant(3))
    prints(tf.constant(4))
    lines = capfd.readouterr().out.split("\n")
    assert lines == [
        *("value 3", "loop 0", "loop 1"),
        *("value 4", "large", "loop 0", "loop 1", ""),
    ]


def test_python_prints_while_it_is_traced(capsys):
    @tf.function
    def prints(x):
        print("Tracing with", x)
        return x

    prints(tf.constant(3))
    prints(tf.constant(4))
    assert capsys.readouterr().out == 'Tracing with Tensor("x:0", shape=(), dtype=int32)\n'


def test_an_assertion_fails_the_call():
    @tf.function
    def checked(x):
        assert x > 0, "must be positive"
        return x

    assert checked(tf.constant(1)).numpy() == 1
    with pytest.raises(errors.InvalidArgumentError, match="must be positive"):
        checked(tf.constant(-1))
    assert checked(tf.constant(2)).numpy() == 2


def test_threads_share_a_trace():
    import threading

    @tf.function
    def doubled(x):
        return x * 2

    found = []

    def work():
        found.extend(doubled(tf.constant(k)).numpy() for k in range(30))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == sorted(4 * [2 * k for k in range(30)])
    assert doubled.experimental_get_tracing_count() == 1


def test_endless_recursion_is_python_s_error():
    @tf.function
    def endless(x):
        if x <= 0.0:
            return x
        return endless(x - 1)

    with pytest.raises(RecursionError):
        endless(tf.constant(3.0))


def test_functions_of_datasets_stay_while_an_iterator_is_there():
    def pipeline():
        @tf.function
        def doubled(x):
            if x > 1:
                return x * 2
            return x

        numbers = tf.data.Dataset.range(5)
        return numbers.map(lambda v: tf.cond(v > 2, lambda: v * 10, lambda: v)).map(doubled)

    iterator = iter(pipeline())
    inner = iter(tf.data.Dataset.range(3).flat_map(lambda v: tf.data.Dataset.range(v)))
    for _ in range(3):
        gc.collect()
        traced_and_dropped(tf.constant(1.0))
    assert [int(v) for v in iterator] == [0, 1, 4, 60, 80]
    assert [int(v) for v in inner] == [0, 0, 1]


def test_a_call_without_gradient_can_be_recorded():
    @tf.custom_gradient
    def refuses(x):
        def gradient(_):
            raise NotImplementedError

        return x * 2.0, gradient

    @tf.function
    def both(x):
        return refuses(x), x * 3.0

    x = tf.constant(1.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        without, product = both(x)
    assert tape.gradient(product, x).numpy() == 3.0
    with pytest.raises(NotImplementedError):
        tape.gradient(without, x)


@pytest.mark.parametrize("kind", ["SGD", "Adam", "RMSprop", "Nadam", "Adafactor"])
@pytest.mark.parametrize("is_built", [True, False])
def test_variables_that_are_arguments_are_trained_like_others(kind, is_built):
    def trained(decorate):
        optimizer = getattr(tf.keras.optimizers, kind)(0.1)
        weights = [tf.Variable([1.0, 2.0]), tf.Variable([[3.0]])]
        if is_built:
            optimizer.build(weights)

        @decorate
        def step(variables, scale):
            gradients = [scale * tf.ones_like(v) for v in variables]
            optimizer.apply_gradients(zip(gradients, variables))

        for scale in (1.0, 2.0, 3.0):
            step(weights, tf.constant(scale))
        return [v.numpy().tolist() for v in (*weights, *optimizer.variables)]

    assert trained(tf.function) == trained(lambda function: function)


@pytest.mark.parametrize("of", [tf.compat.v1.shape, tf.compat.v1.size])
def test_sizes_are_of_int32_if_no_type_is_said(of):
    known, open_ended = tf.constant([1.0]), tf.TensorSpec([None])
    for value in (known, [1.0], np.ones(1), tf.sparse.from_dense([1.0])):
        assert of(value, None, None).dtype == of(value, out_type=None).dtype == tf.int32
    traced = tf.function(lambda x: of(x, out_type=None), input_signature=[open_ended])
    assert traced(known).dtype == tf.int32
    assert of(known, out_type=tf.int64).dtype == tf.int64
