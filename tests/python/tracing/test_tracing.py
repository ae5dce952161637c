"""tf.function: traces, signatures, values and errors are TensorFlow's."""

import json
import sys
from pathlib import Path

import pytest
import rheos.v1 as tf

GOLDEN = Path(__file__).parents[2] / "golden"
sys.path.insert(0, str(GOLDEN))
import tracing_programs as programs  # noqa: E402

sys.path.remove(str(GOLDEN))
ANSWERS = json.loads((GOLDEN / "tracing.json").read_text())


@pytest.fixture(autouse=True)
def graph():
    """Each test has a graph of its own."""
    with tf.Graph().as_default() as graph:
        yield graph


def value(tensor):
    """What a tensor is in a session of the default graph."""
    with tf.Session() as session:
        return session.run(tensor)


@pytest.mark.parametrize("program", programs.PROGRAMS, ids=lambda program: program.__name__)
def test_a_program_gives_what_tensorflow_gives(program):
    programs.tf, programs.value = tf, value
    found = json.dumps(program()).replace("?", "None")  # what version 1 shows of such dimensions
    assert json.loads(found) == ANSWERS[program.__name__]


# ---- Beyond TensorFlow's answers


@pytest.fixture
def warnings(monkeypatch):
    """The warnings that are given."""
    given = []
    monkeypatch.setattr(
        "rheos.framework.logging.warning", lambda text, *args: given.append(text % args)
    )
    return given


def test_a_warning_says_which_argument_makes_functions_be_traced(warnings):
    @tf.function
    def several(x, table):
        return x

    for n in range(30):
        several(tf.constant(1.0), {"a": n, "b": 0})
        assert len(warnings) == (n >= 5)  # the sixth call, then never again
    line = test_a_warning_says_which_argument_makes_functions_be_traced.__code__.co_firstlineno + 6
    said = "5 out of the last 5 calls triggered retracing of the tf.function several"
    assert f"test_tracing.py:{line}: retracing: {said}" in warnings[0]
    assert "'table['a']' was the Python value 4 and is now the Python value 5" in warnings[0]
    assert "pass it as a tensor" in warnings[0]


def test_a_warning_counts_the_calls_without_traces(warnings):
    @tf.function
    def one(x):
        return x

    for n in range(12):
        one(n)
        one(0)
    assert not warnings  # half of ten calls
    for n in range(12, 20):
        one(n)
    assert len(warnings) == 1 and "5 out of the last" in warnings[0]


def test_a_warning_names_a_function_that_is_made_again_and_again(warnings):
    for n in range(16):

        @tf.function
        def again(x):
            return x

        again(n)
    (said,) = warnings
    line = again.python_function.__code__.co_firstlineno
    assert "again was made and traced 5 times" in said
    assert f"make the tf.function at {__file__}:{line} once" in said


def test_clones_have_their_own_traces_and_may_have_another_function():
    @tf.function(reduce_retracing=True, jit_compile=False)
    def one(x):
        return x + 1

    assert value(one(1.0)) == 2.0
    like, other = one._clone(), one._clone(python_function=lambda x: x * 5)
    assert like.experimental_get_tracing_count() == 0
    assert like.python_function is one.python_function
    assert value([like(2.0), other(2.0)]) == [3.0, 10.0]
    with pytest.raises(ValueError, match="cannot be decorated after they have been traced"):
        other._decorate(lambda f: f)
    fresh = one._clone()
    fresh._decorate(lambda f: lambda x: f(x) * 100)
    assert value(fresh(1.0)) == 200.0


def test_a_warning_tells_how_to_trace_once_for_shapes(warnings):
    @tf.function
    def one(x):
        return x

    for n in range(7):
        one(tf.zeros([n]))
    assert "shape (4,) and is now a tensor of float32 and shape (5,)" in warnings[-1]
    assert "reduce_retracing=True" in warnings[-1]


def test_the_number_of_traces_that_are_kept_is_bounded(warnings):
    @tf.function
    def one(x):
        return x

    for n in range(300):
        one(n)
    assert one.experimental_get_tracing_count() == 300
    assert len(one._list_all_concrete_functions()) == 256


def test_effects_are_in_the_order_of_the_program():
    v = tf.get_variable("v", initializer=1.0, use_resource=True)

    @tf.function
    def changes(x):
        v.assign_add(x)
        v.assign(v * 2)
        return v.read_value()

    result = changes(3.0)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert [session.run(result) for _ in range(2)] == [8.0, 22.0]


def test_variables_are_made_on_the_first_call_alone():
    class Model:
        def __init__(self):
            self.v = None

        @tf.function
        def scaled(self, x):
            if self.v is None:
                self.v = tf.Variable(tf.constant(2.0) + 3.0, use_resource=True)
            return self.v * x

    model = Model()
    results = model.scaled(2.0), model.scaled(tf.constant([1.0, 3.0]))
    with tf.Session() as session:
        session.run(model.v.initializer)
        assert session.run(results[0]) == 10.0
        assert session.run(results[1]).tolist() == [5.0, 15.0]

    @tf.function
    def makes(x):
        return tf.Variable(1.0, use_resource=True) * x

    # As TensorFlow, which traces such a function twice at once.
    with pytest.raises(ValueError, match="created on the first call"):
        makes(1.0)


def test_a_method_does_not_keep_its_object():
    import gc
    import weakref

    class Thing:
        @tf.function
        def call(self, x):
            return x + 1

    thing = Thing()
    thing.call(1)
    gone = weakref.ref(thing)
    del thing
    gc.collect()
    assert gone() is None


def test_functions_may_run_as_python():
    from rheos.tracing.function import functions_run_eagerly, run_functions_eagerly

    seen = []

    @tf.function
    def one(x):
        seen.append(x)
        return x

    run_functions_eagerly(True)
    try:
        assert functions_run_eagerly()
        assert (one(1), one(1), seen) == (1, 1, [1, 1])
    finally:
        run_functions_eagerly(False)


def test_gradients_go_through_calls():
    @tf.function
    def cubed(x):
        return x * x * x

    x = tf.constant(2.0)
    y = cubed(x)
    first = tf.gradients(y, x)[0]
    assert value([y, first, tf.gradients(first, x)[0]]) == [8.0, 12.0, 12.0]
