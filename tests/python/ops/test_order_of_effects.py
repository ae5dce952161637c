"""In functions effects happen in the order of the program, around failures and in pipelines too."""

import pathlib

import pytest
import rheos as tf

Dataset = tf.data.Dataset


def counted(tmp_path):
    """Kinds of effects: for each a function that has it, and one that counts them."""
    variable, calls = tf.Variable(0), []
    table = tf.lookup.experimental.MutableHashTable(tf.int64, tf.int64, -1)
    queue = tf.queue.FIFOQueue(100, [tf.int32], shapes=[[]])
    file = pathlib.Path(tmp_path / "printed")
    file.write_text("")
    generator = tf.random.Generator.from_seed(1)
    before = int(generator.state[0])
    draw = 256
    return {
        "assign": (lambda: variable.assign_add(1), lambda: int(variable)),
        "program": (lambda: tf.py_function(lambda: calls.append(1), [], []), lambda: len(calls)),
        "table": (lambda: table.insert(table.size(), table.size()), lambda: int(table.size())),
        "queue": (lambda: queue.enqueue(1), lambda: int(queue.size())),
        "print": (
            lambda: tf.print("x", output_stream=f"file://{file}"),
            lambda: len(file.read_text().split()),
        ),
        "draw": (
            lambda: generator.normal([]),
            lambda: (int(generator.state[0]) - before) // draw,
        ),
    }


FAILURES = {
    "assert": lambda x: tf.debugging.assert_positive(x),
    "check": lambda x: tf.debugging.check_numerics(tf.sqrt(tf.cast(x, tf.float32)), "no"),
    "program": lambda x: tf.py_function(lambda y: [1][0 if y > 0 else 3], [x], tf.int32),
}


@pytest.mark.parametrize("failure", FAILURES.values(), ids=FAILURES)
@pytest.mark.parametrize("kind", ["assign", "program", "table", "queue", "print", "draw"])
def test_what_stands_before_a_failure_has_happened_and_what_stands_behind_has_not(
    kind, failure, tmp_path
):
    effect, count = counted(tmp_path)[kind]

    @tf.function
    def called():
        effect()

    def before(x):
        effect()
        failure(x)

    def by_a_call(x):
        called()
        failure(x)

    def in_a_branch(x):
        if x < 5:
            effect()
            failure(x)

    def in_a_loop(x):
        for _ in tf.range(3):
            effect()
            failure(x)

    def behind(x):
        failure(x)
        effect()

    def before_a_call(x):
        @tf.function
        def fails():
            failure(x)

        effect()
        fails()

    expected = 0
    for function in [before, by_a_call, in_a_branch, in_a_loop, before_a_call]:
        with pytest.raises((tf.errors.InvalidArgumentError, tf.errors.UnknownError)):
            tf.function(function)(tf.constant(-1))
        expected += 1
        assert count() == expected, function.__name__
    with pytest.raises((tf.errors.InvalidArgumentError, tf.errors.UnknownError)):
        tf.function(behind)(tf.constant(-1))
    assert count() == expected


def loop(v, dataset):
    for x in dataset:
        v.assign_add(x)
    return v + 1


def loop_over_an_iterator(v, dataset):
    for x in iter(dataset):
        v.assign_add(x)
    return v + 1


def loop_with_a_break(v, dataset):
    for x in dataset:
        v.assign_add(x)
        if x > 2:
            break
    return v + 1


def mapped(v, dataset):
    zero = tf.constant(0, tf.int64)
    dataset.map(v.assign_add).batch(2).reduce(zero, lambda a, b: a + b[0])
    return v + 1


def mapped_in_a_branch(v, dataset):
    made = dataset.map(v.assign_add)
    if tf.reduce_all(True):
        for _ in made:
            pass
    return v + 1


def elements_of_an_iterator(v, dataset):
    iterator = iter(dataset.map(v.assign_add))
    for _ in range(4):
        next(iterator)
    return v + 1


@pytest.mark.parametrize("function", [
    loop, loop_over_an_iterator, loop_with_a_break, mapped, mapped_in_a_branch,
    elements_of_an_iterator,
])  # fmt: skip
def test_a_read_behind_a_pipeline_sees_what_its_functions_wrote(function):
    v = tf.Variable(0, dtype=tf.int64)

    @tf.function
    def traced():
        before = v.read_value()
        after = function(v, Dataset.range(4))
        v.assign(50)
        return before, after

    for _ in range(2):
        v.assign(0)
        assert [int(x) for x in traced()] == [0, 7] and int(v) == 50
