"""AutoGraph gives what TensorFlow gives: values, or the class of the exception."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest
import rheos.v1 as tf

GOLDEN = Path(__file__).parents[2] / "golden"
sys.path.insert(0, str(GOLDEN))
import autograph_programs as programs  # noqa: E402

sys.path.remove(str(GOLDEN))
ANSWERS = json.loads((GOLDEN / "autograph.json").read_text())
# What TensorFlow refuses and is well defined: the values that Python gives.
MORE = {
    "return_nested": [4, 2, 2, 1],
    "while_else": [100, 101, 105],
    "conditional_nested": [1, 0, -1],
    "call_nonlocal": [2, 0, -2],
    "method_hidden": [6, 0, -4],
    "builtin_map_filter": [[1, 2, 2, 3]],
    "python_walrus": [4, -5],
    "binary_search": [3],
}
for name, values in MORE.items():
    flat = [value if isinstance(value, list) else [value] for value in values]
    ANSWERS[name] = [[["int32", value] for value in one] for one in flat]
# Where a graph of version 1 has no error of its own kind, or gives None.
OTHERS = {"list_append_in_loop_of_graph": "ValueError"}
CALLS = [
    pytest.param(function, args, ANSWERS[name][number], id=f"{name}-{number}")
    for name, (function, calls) in ((one[0].__name__, one) for one in programs.CASES)
    for number, args in enumerate(calls)
]


@pytest.fixture(autouse=True)
def names():
    """The programs use rheos.v1, each test in a graph of its own."""
    programs.tf = tf
    with tf.Graph().as_default():
        yield


def leaf(value):
    """A result as the golden file has it."""
    array = np.asarray(value)
    if array.dtype.kind in "SUO":
        return ["string", [x.decode() if isinstance(x, bytes) else x for x in [array.item()]]]
    return [array.dtype.name, array.tolist()]


def run(function, args):
    """The flattened result of a converted function, of tensors that are fed."""
    given, feeds = [], {}
    for arg in args:
        if isinstance(arg, np.ndarray):
            holder = tf.placeholder(tf.as_dtype(arg.dtype), arg.shape)
            feeds[holder] = arg
            arg = holder
        given.append(arg)
    flat = tf.nest.flatten(tf.autograph.to_graph(function)(*given))
    flat = [tf.convert_to_tensor(value) for value in flat if value is not None]
    if not flat:
        return []
    with tf.Session() as session:
        return session.run(flat, feeds)


@pytest.mark.parametrize(("function", "args", "wanted"), CALLS)
def test_a_function_gives_what_tensorflow_gives(function, args, wanted):
    if isinstance(wanted, str):
        with pytest.raises(Exception) as caught:
            run(function, args)
        wanted = OTHERS.get(function.__name__, wanted)
        assert wanted in [kind.__name__ for kind in caught.type.__mro__]
        return
    found = [leaf(value) for value in run(function, args)]
    assert [dtype for dtype, _ in found] == [dtype for dtype, _ in wanted]
    for (dtype, value), (_, other) in zip(found, wanted):
        if dtype.startswith("float"):
            np.testing.assert_allclose(value, other, rtol=1e-6)
        else:
            assert value == other


# ---- What Rheos has beyond TensorFlow's answers


def value_of(function, *args):
    """What a converted function gives for constants."""
    result = tf.autograph.to_graph(function)(*map(tf.constant, args))
    with tf.Session() as session:
        return session.run(result)


def first_above(items, limit):
    for item in items:
        if item > limit:
            return item
    return -1


@pytest.mark.parametrize(("limit", "wanted"), [(0, 3), (3, 9), (8, 9), (20, -1)])
def test_a_loop_of_the_graph_may_return(limit, wanted):
    assert value_of(first_above, [3, 9, 4], limit) == wanted


def test_an_assertion_about_a_tensor_is_one_of_the_graph():
    def checked(x):
        assert x > 3, "too small"
        with tf.control_dependencies(tf.get_default_graph().get_operations()[-1:]):
            return x + 1

    assert value_of(checked, 5) == 6
    with pytest.raises(tf.errors.InvalidArgumentError, match="too small"):
        value_of(checked, 2)


def together(x, y):
    total = 0
    for k, (a, c) in zip(range(3), [(1, 2), (3, 4)]):
        total += a * c + k
    for a, c in zip(x, y):
        total = total * 10 + a * c
    for k, a in enumerate(x):
        total += k * a
    return total


def test_enumerate_and_zip_go_over_tensors():
    assert value_of(together, [1, 2, 3], [4, 5]) == (15 * 10 + 4) * 10 + 10 + 8


def ordered(x):
    return sorted(x), sorted(x, reverse=True), max(x), min(x), sum(x), any(x > 2), all(x > 2)


def test_functions_of_python_take_tensors():
    up, down, *rest = value_of(ordered, [3, 1, 2])
    assert (up.tolist(), down.tolist(), rest) == ([1, 2, 3], [3, 2, 1], [3, 1, 6, True, False])


def over_array(x):
    total = 0
    for item in tf.TensorArray(tf.int32, 3).unstack(x):
        total = total * 10 + item
    return total


def test_a_loop_goes_over_an_array_of_tensors():
    assert value_of(over_array, [1, 2, 3]) == 123


def summed(items, limit):
    total = tf.constant(0, tf.int64)
    for item in items:
        if tf.equal(item, limit):
            continue
        if item > limit * 2:
            break
        total += item
    return total


@pytest.mark.parametrize(("limit", "wanted"), [(3, 18), (50, 4900)])
def test_a_loop_goes_over_a_dataset(limit, wanted):
    limit = tf.constant(limit, tf.int64)
    result = tf.autograph.to_graph(summed)(tf.data.Dataset.range(100), limit)
    with tf.Session() as session:
        assert session.run(result) == wanted


def pairs_summed(items):
    total, count = 0.0, 0
    for x, y in items:
        total += x * y
        count += 1
    return total, count


def test_a_loop_goes_over_a_dataset_of_pairs():
    data = tf.data.Dataset.from_tensor_slices(([1.0, 2.0, 3.0], [4.0, 5.0, 6.0]))
    result = tf.autograph.to_graph(pairs_summed)(data)
    with tf.Session() as session:
        assert session.run(result) == (32.0, 3)


def test_errors_are_at_the_program_s_line():
    def wrong(x):
        if x > 0:
            y = x + 1
            return y + tf.constant([1.0])
        return x

    with pytest.raises(TypeError) as caught:
        value_of(wrong, 3)
    lines = [(e.path.name, e.lineno + 1) for e in caught.traceback if e.name == "if_body"]
    assert lines == [("test_autograph.py", wrong.__code__.co_firstlineno + 3)]


def test_an_operation_has_the_program_s_line():
    def checked(x):
        while x < 10:
            x = tf.check_numerics(x / 0.0, "bad")
        return x

    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        value_of(checked, 1.0)
    assert f"test_autograph.py:{checked.__code__.co_firstlineno + 2}" in str(caught.value)


def test_a_debugger_sees_the_program_s_lines():
    def stepped(x):
        y = x + 1
        if y > 0:
            y = y * 2
        return y

    seen = set()

    def note(frame, event, _):
        if frame.f_code.co_filename == __file__ and event == "line":
            seen.add(frame.f_lineno - stepped.__code__.co_firstlineno)
        return note

    converted = tf.autograph.to_graph(stepped)
    sys.settrace(note)
    try:
        converted(3)
    finally:
        sys.settrace(None)
    assert {1, 2, 3, 4} <= seen


def test_closures_defaults_and_names_stay():
    scale = 2

    def scaled(x, plus=1, *, times=3):
        """Words."""
        if x > 0:
            return x * scale * times + plus
        return x

    converted = tf.autograph.to_graph(scaled)
    assert (converted.__name__, converted.__doc__) == ("tf__scaled", "Words.")
    assert converted(1) == 7
    scale = 5
    assert converted(1, times=1) == 6


def test_lambdas_of_one_line_are_told_apart():
    first, second = lambda x: 1 if x > 0 else 0, lambda x: 2 if x > 0 else 0
    assert (value_of(first, 3), value_of(second, 3)) == (1, 2)


def test_code_shows_the_operators():
    code = tf.autograph.to_code(first_above)
    assert "def tf__first_above(items, limit):" in code
    assert "ag__.for_stmt(" in code and "ag__.if_stmt(" in code


def generator(x):
    yield x


async def asynchronous(x):
    return x


@pytest.mark.parametrize("function", [generator, asynchronous])
def test_what_cannot_be_converted_says_so_with_its_line(function):
    line = function.__code__.co_firstlineno
    with pytest.raises(Exception, match=rf"test_autograph.py:{line}: function {function.__name__}"):
        tf.autograph.to_graph(function)


def test_a_function_without_source_says_so():
    namespace = {}
    exec("def hidden(x):\n  return x if x > 0 else -x", namespace)
    with pytest.raises(Exception, match="source of <string> cannot be read"):
        tf.autograph.to_graph(namespace["hidden"])

    def calls_hidden(x):
        return namespace["hidden"](x)

    assert tf.autograph.to_graph(calls_hidden)(-3) == 3
    with pytest.raises(tf.errors.OperatorNotAllowedInGraphError):
        value_of(calls_hidden, -3)


def test_a_long_chain_of_branches_is_converted_at_once(tmp_path, monkeypatch):
    lines = ["def chain(x):", "    if x == 0:", "        return 0"]
    for k in range(1, 60):
        lines += [f"    elif x == {k}:", f"        return {k * k}"]
    (tmp_path / "long_chain.py").write_text("\n".join([*lines, "    return -1", ""]))
    monkeypatch.syspath_prepend(tmp_path)
    import long_chain

    converted = tf.autograph.to_graph(long_chain.chain)
    assert [converted(k) for k in (0, 7, 59, 60)] == [0, 49, 3481, -1]
