"""Watches of operations that run at once, and of what traced functions compute."""

import gc
import os
import re
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
import rheos as tf


def watched(run, names="*", what="values", of=lambda w: w):
    """What was told while it ran."""
    seen = []
    with tf.debugging.watch(names, lambda w: seen.append(of(w)), what):
        run()
    return seen


def line_of(text):
    lines = Path(__file__).read_text().splitlines()
    return next(i for i, line in enumerate(lines, 1) if text in line)


@tf.function
def inner(x):
    return tf.sqrt(x, name="root")


@tf.function
def loop(x):
    for _ in tf.range(2):
        x = tf.multiply(x, 2.0, name="twice")
        if tf.reduce_sum(x) > 10.0:
            x = tf.subtract(x, 100.0, name="less")
    return inner(x)


def test_what_runs_at_once_is_told_by_its_type_and_line():
    rows = tf.constant([[1.0, 2.0]])
    seen = watched(lambda: tf.matmul(rows, [[3.0], [4.0]]) + 1.0)
    assert [(w.name, w.op, w.place, w.step) for w in seen] == [
        ("MatMul:0", "MatMul", "", 0 + seen[0].step), ("AddV2:0", "AddV2", "", 1 + seen[0].step),
    ]  # fmt: skip
    np.testing.assert_array_equal(seen[0].value, [[11]])
    np.testing.assert_array_equal(seen[1].value, [[12]])
    assert seen[0].file == __file__ and seen[0].line == seen[1].line == line_of("tf.matmul(rows")


def test_functions_are_told_with_trips_and_what_they_call():
    x = tf.constant([3.0])
    plain = loop(x)
    seen = watched(lambda: loop(x), "twice,less,root")
    seen = [(w.name, w.place, w.value[0]) for w in seen if w.op != "Placeholder"]
    # The function is part of what calls it, or one more call where there are cards.
    name = re.split("[/;]", seen[0][1])[0]
    assert name.startswith("inference_loop_")
    assert [(n, p[p.index("while") :], v) for n, p, v in seen[:3]] == [
        ("twice:0", "while;0", 6), ("twice:0", "while;1", 12),
        ("less:0", "while;1;cond;0", -88),
    ]  # fmt: skip
    assert seen[3][0] == "root:0" and seen[3][1].startswith(name) and np.isnan(seen[3][2])
    np.testing.assert_array_equal(loop(x), plain)


def test_the_first_nan_of_a_call_is_named():
    x = tf.constant([3.0])
    seen = watched(lambda: [loop(x), loop(x), loop(tf.constant([1.0]))], what="first_nan")
    assert [w.name for w in seen] == ["root:0", "root:0"]  # each call is a step
    assert seen[0].line == line_of("tf.sqrt(x, name=") and seen[0].file == __file__
    assert [s.least for _, s in seen[0].inputs] == [-88]


def test_a_nan_is_told_where_it_is_made_not_where_it_goes():
    def run():
        bad = tf.math.log(tf.constant([-1.0]))
        return (bad + 1.0) * 2.0 + tf.sqrt(tf.constant([-2.0]))

    assert [w.name for w in watched(run, what="first_nan")] == ["Log:0", "Sqrt:0"]
    data = tf.constant([np.nan])
    seen = watched(lambda: (data + 1.0) * 2.0, what="first_nan")
    assert [w.name for w in seen] == ["AddV2:0"]  # which took it; nobody made it


def test_gradients_are_told():
    x = tf.Variable([3.0, 4.0])

    def run():
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(x * x)
        run.gradient = tape.gradient(y, x)

    seen = watched(run, "ReadVariableOp,Mul,gradients/*", of=lambda w: w.name)
    assert seen[:3] == ["ReadVariableOp:0"] * 2 + ["Mul:0"]
    assert any(name.startswith("gradients/Mul_grad/") for name in seen)
    np.testing.assert_array_equal(run.gradient, [6, 8])


def test_gradients_inside_functions_are_told():
    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(tf.sqrt(x))
        return tape.gradient(y, x)

    (seen,) = watched(lambda: step(tf.constant([0.0, 1.0])) * 0.0, what="first_nan")
    assert seen.name == "Mul:0" and seen.place == ""  # infinity by 0
    taken = dict(seen.inputs)
    assert [s.positive_infinite for s in taken.values()][0] == 1


def test_random_numbers_go_on_as_if_nobody_watched():
    @tf.function
    def draw():
        return tf.random.uniform([3], seed=5)

    def draws(watch_some):
        tf.random.set_seed(7)
        tf.keras.backend.clear_session()
        values = [draw().numpy()]
        with tf.debugging.watch(tell=lambda w: None) if watch_some else tf.device("cpu:0"):
            values.append(draw().numpy())
        return [*values, draw().numpy()]

    plain, others = draws(False), draws(True)
    assert len({v.tobytes() for v in others}) == 3
    assert len(plain) == 3


def test_a_variable_that_functions_change_is_changed_once():
    v = tf.Variable(1.0)

    @tf.function
    def more():
        v.assign_add(2.0)
        return v.read_value()

    more()
    seen = watched(more, "*Read*", of=lambda w: float(w.value))
    assert seen[-1] == 5 and float(v) == 5


def test_watches_go_on_and_off_and_do_not_add_up():
    x = tf.constant([4.0])
    count = []
    for _ in range(3):
        count.append(len(watched(lambda: inner(x))))
        inner(x)
    assert count[0] > 0 and count == [count[0]] * 3
    first = tf.debugging.watch("Neg", lambda w: count.append(w.name))
    second = tf.debugging.watch("*", lambda w: count.append("also"))
    tf.negative(x)
    second.end()
    tf.negative(x)
    first.end()
    first.end()
    tf.negative(x)
    assert count[3:] == ["Neg:0", "also", "Neg:0"]


def test_what_a_function_of_a_watch_runs_is_not_told():
    x, seen = tf.constant([1.0, 2.0]), []

    def tell(w):
        seen.append(float(tf.reduce_sum(w.value) + inner(tf.constant(4.0))))

    with tf.debugging.watch("Square", tell, "values"):
        tf.square(x)
    with tf.debugging.watch("*", tell, "values"):
        tf.square(x)
    assert seen == [7, 7]


def test_errors_of_the_function_end_the_call():
    def tell(w):
        raise tf.errors.AbortedError(None, None, "seen enough")

    x = tf.constant([1.0])
    with tf.debugging.watch("root", tell, "values"):
        with pytest.raises(tf.errors.AbortedError, match="seen enough"):
            inner(x)
        tf.sqrt(x)
    with pytest.raises(ValueError, match="values, statistics, first_nan"):
        tf.debugging.watch("root", tell, "valeus")
    assert inner(x)[0] == 1


def test_functions_that_come_while_a_watch_is_on_are_told():
    seen = []
    with tf.debugging.watch("later", lambda w: seen.append(w.name)):

        @tf.function
        def later(x):
            return tf.square(x, name="later")

        later(tf.constant(2.0))
        later(tf.constant([2.0]))
    assert seen == ["later:0", "later:0"]


def test_threads_run_while_watches_come_and_go():
    x, failures, over = tf.constant([4.0]), [], threading.Event()

    def run():
        try:
            while not over.is_set():
                assert float(inner(x)[0] + tf.square(x)[0]) == 18
        except BaseException as e:
            failures.append(e)

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    told = 0
    for i in range(40):
        what = ("values", "statistics", "first_nan")[i % 3]
        told += len(watched(lambda: inner(x), "root,Square", what))
    over.set()
    for thread in threads:
        thread.join()
    assert failures == [] and told >= 26


def test_keras_training_is_told():
    model = tf.keras.Sequential([tf.keras.layers.Dense(1, kernel_initializer="ones")])
    model.compile("sgd", "mse")
    data = np.array([[1.0, 2.0], [3.0, np.nan]], np.float32)
    seen = watched(lambda: model.fit(data, [[1.0], [2.0]], verbose=0), what="first_nan")
    assert "MatMul" in {w.op for w in seen}
    assert all(w.place for w in seen if w.op == "MatMul")


PROGRAM = """
import rheos as tf
tf.config.threading.set_intra_op_parallelism_threads({threads})

@tf.function
def f(x):
    for i in tf.range(3):
        x = tf.matmul(x, x, name="product")
        x = tf.nn.relu(x - tf.reduce_mean(x), name="rest")
    return tf.reduce_sum(x)

x = tf.random.stateless_uniform([200, 200], seed=[1, 2])
f(x)
with tf.debugging.watch("product,rest,Sum", print):
    f(x)
"""


def test_what_is_told_does_not_depend_on_threads(tmp_path):
    told = []
    for threads in (1, 8):
        script = tmp_path / "program.py"
        script.write_text(PROGRAM.format(threads=threads))
        done = subprocess.run([sys.executable, script], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        told.append(done.stdout)
    assert told[0].count("\n") == 7 and told[0] == told[1]


def test_histograms_are_told(capfd):
    x = tf.constant([0.0, 1.0, 1.0, 8.0, np.nan])
    (seen,) = watched(lambda: x * 2.0, what="histogram")
    assert (seen.histogram.least, seen.histogram.most) == (0, 16)
    assert [(i, n) for i, n in enumerate(seen.histogram.counts) if n] == [(0, 1), (4, 2), (31, 1)]
    assert seen.statistics.nan == 1 and seen.dtype == "float32" and seen.shape == (5,)
    with tf.debugging.watch(what="histogram"):
        tf.square(x)
        tf.strings.as_string(x)
    told = capfd.readouterr().err
    assert "\n             0         3 ########################################\n" in told


def test_names_that_meet_nothing_are_said(caplog, capfd):
    watched(lambda: inner(tf.constant([4.0])), "rooot")
    watched(lambda: inner(tf.constant([4.0])), "Sqaure")
    watched(lambda: inner(tf.constant([4.0])), "ro?t,nothing")
    watched(lambda: None)
    told = caplog.text + capfd.readouterr().err
    assert "nothing that ran is called 'rooot', which was watched; near it are root" in told
    assert "near it are Square" in told and told.count("nothing that ran") == 2


# ---- Datasets


def roots(count, **options):
    def function(x):
        return tf.sqrt(tf.cast(x, tf.float32) - 1.0, name="data_root")

    return tf.data.Dataset.range(count).map(function, **options)


@pytest.mark.parametrize("parallel", [None, 4])
def test_functions_of_datasets_are_told_whoever_made_them(parallel):
    made_before = roots(4, num_parallel_calls=parallel)
    made_within = []

    def make():
        made_within.append(roots(4, num_parallel_calls=parallel))
        list(made_within[0])

    for run in (lambda: list(made_before), make):
        seen = watched(run, "data_root")
        numbers = sorted(w.value for w in seen if not np.isnan(w.value))
        assert numbers == pytest.approx([0, 1, 2**0.5])
        assert len({w.step for w in seen}) == 4
        assert all("Dataset_map_function" in w.place for w in seen)
    assert len(list(made_before.batch(2).prefetch(1))) == 2


def test_a_nan_of_a_dataset_is_named():
    seen = watched(lambda: list(roots(3).batch(3).prefetch(2)), what="first_nan")
    assert seen[0].name == "data_root:0" and seen[0].op == "Sqrt" and len(seen) == 1
    ((_, taken),) = seen[0].inputs
    assert taken.most == -1


def test_datasets_inside_functions_are_told():
    @tf.function
    def total(data):
        result = 0.0
        for x in data:
            result = tf.add(result, x, name="sum_of_roots")
        return result

    data = roots(4).skip(1)
    seen = watched(lambda: total(data), "data_root,sum_of_roots", of=lambda w: w.name)
    assert seen.count("data_root:0") == 4 and seen.count("sum_of_roots:0") == 3


def test_random_numbers_of_datasets_go_on_as_if_nobody_watched():
    def drawn(is_watched):
        tf.random.set_seed(3)
        data = tf.data.Dataset.range(6).map(lambda x: tf.random.uniform([], seed=9))
        iterator = iter(data)
        values = [next(iterator).numpy() for _ in range(2)]
        if is_watched:
            watched(lambda: values.extend(next(iterator).numpy() for _ in range(2)))
        return [*values, *(one.numpy() for one in iterator)]

    assert drawn(True) == drawn(False)


def test_an_error_of_the_function_ends_the_dataset():
    def tell(w):
        raise tf.errors.AbortedError(None, None, "seen enough")

    with tf.debugging.watch("data_root", tell, "values"):
        with pytest.raises(tf.errors.AbortedError, match="seen enough"):
            list(roots(4))
    assert len(list(roots(4))) == 4


def test_datasets_of_sessions_are_told():
    v1, seen = tf.compat.v1, []
    with tf.Graph().as_default(), v1.Session() as session:
        get_next = v1.data.make_one_shot_iterator(roots(3)).get_next()
        session.run(get_next)
        with session.watch("*", seen.append, "values"):
            session.run(get_next)
            session.run(get_next)
        with pytest.raises(tf.errors.OutOfRangeError):
            session.run(get_next)
    told = [float(w.value) for w in seen if w.name == "data_root:0"]
    assert told == [0, 1]


def test_functions_and_datasets_that_go_leave_nothing_behind():
    def resident():
        gc.collect()
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def run():
        @tf.function
        def f(x):
            for _ in tf.range(2):
                if x > 0.0:
                    x = tf.sin(x) + 1.0
            return x

        x = tf.constant(1.0)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        tape.gradient(y, x)
        data = tf.data.Dataset.range(3).map(lambda x: tf.cast(x, tf.float32) * 2.0)
        assert [float(one) for one in data.batch(2).unbatch()] == [0, 2, 4]

    with tf.debugging.watch("*", lambda w: None, "statistics"):
        for _ in range(60):
            run()
        before = resident()
        for _ in range(60):
            run()
        assert resident() - before < 60 * 64 * 1024


def test_threads_are_said_before_a_watch(tmp_path):
    script = tmp_path / "program.py"
    script.write_text(
        "import rheos as tf\n"
        "watch = tf.debugging.watch('Square')\n"
        "try:\n"
        "    tf.config.threading.set_intra_op_parallelism_threads(2)\n"
        "except RuntimeError as error:\n"
        "    print(error)\n"
        "tf.square(2.0)\n"
    )
    done = subprocess.run([sys.executable, script], capture_output=True, text=True)
    assert "is watched: say threads" in done.stdout and "Square:0" in done.stderr
