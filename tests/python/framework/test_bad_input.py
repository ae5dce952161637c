"""Bad input from Python: an exception that names the fact, and a graph and session that work on."""

import gc
import os
import signal
import subprocess
import sys
import textwrap
import threading
import tracemalloc

import numpy as np
import pytest
import rheos.v1 as tf


class Place:
    """Placeholders of every kind, a session, and a proof that both still work."""

    def __init__(self):
        self.x = tf.placeholder(tf.float32, [2], name="x")
        self.doubled = self.x + self.x
        self.any = {
            dtype: tf.placeholder(dtype, None, name=dtype.name)
            for dtype in (tf.float32, tf.int32, tf.uint8, tf.string, tf.bool, tf.half)
        }
        self.same = {dtype: tf.identity(t) for dtype, t in self.any.items()}
        self.session = tf.Session()

    def feed(self, value):
        return self.session.run(self.doubled, {self.x: value})

    def through(self, dtype, value):
        return self.session.run(self.same[dtype], {self.any[dtype]: value})

    def check(self):
        assert self.feed([1, 2]).tolist() == [2, 4]
        assert self.session.run(tf.constant(1.0) * 3.0) == 3


@pytest.fixture
def place(fresh_graph):
    place = Place()
    yield place
    place.check()
    place.session.close()


class Raises:
    """An array-like that runs code when it is converted."""

    def __init__(self, body):
        self.body = body

    def __array__(self, *args, **kwargs):
        return self.body()


def nested(depth):
    value = []
    for _ in range(depth):
        value = [value]
    return value


# ---- Feeds


@pytest.mark.parametrize(
    "value",
    [
        [[1, 2], [3]],
        None,
        object(),
        [object(), 1],
        "abc",
        ["a", "b"],
        {1.0, 2.0},
        {1: 2},
        1.0,
        [1.0],
        np.zeros(0),
        np.zeros(2, [("a", "f4"), ("b", "i4")]),
        [1j, 2],
        nested(100000),
        np.zeros((1,) * 9),
        b"12345678",
        np.array([None, "a"], object),
        (i for i in [1, 2]),
    ],
    ids=lambda value: str(type(value).__name__),
)
def test_a_feed_that_does_not_fit_names_the_tensor(place, value):
    with pytest.raises((ValueError, TypeError), match="x:0"):
        place.feed(value)


def test_a_list_that_holds_itself_cannot_be_fed(place):
    value = []
    value.append(value)
    with pytest.raises(ValueError, match="x:0"):
        place.feed(value)


def test_tensors_variables_and_operations_cannot_be_fed(place):
    constant, variable = tf.constant([1.0, 2.0]), tf.Variable([1.0, 2.0])
    for value in (constant, variable):
        with pytest.raises(TypeError, match="cannot be a tf.Tensor"):
            place.feed(value)
    with pytest.raises(TypeError, match="x:0"):
        place.feed(constant.op)
    with pytest.raises(TypeError):
        place.feed(place.session)


@pytest.mark.parametrize(
    "dtype, value",
    [
        (tf.int32, 2**40),
        (tf.int32, [2**40]),
        (tf.int32, 2**70),
        (tf.int32, [[1], [2**70]]),
        (tf.uint8, -1),
        (tf.uint8, [300]),
    ],
)
def test_an_int_that_does_not_fit_its_dtype(place, dtype, value):
    with pytest.raises((TypeError, OverflowError), match="not compatible|out of bounds|too large"):
        place.through(dtype, value)


def test_huge_numbers_for_floats(place):
    with pytest.raises(OverflowError, match="float32:0"):
        place.through(tf.float32, 10**400)
    with pytest.raises(ValueError, match="int32:0"):
        place.through(tf.int32, float("nan"))
    with pytest.raises(OverflowError, match="int32:0"):
        place.through(tf.int32, float("inf"))


@pytest.mark.parametrize(
    "value", [5, None, ["a", None], [["a"], ["b", "c"]], np.zeros(2), object(), "\ud800"]
)
def test_what_is_no_string(place, value):
    with pytest.raises((TypeError, ValueError), match="string:0"):
        place.through(tf.string, value)


def test_strings_may_hold_anything(place):
    assert place.through(tf.string, ["a\0b", b"\xff"]).tolist() == [b"a\0b", b"\xff"]


@pytest.mark.parametrize(
    "make",
    [
        lambda a: np.repeat(a, 2)[::2],
        lambda a: a[::-1].copy()[::-1],
        lambda a: a.astype(">f4"),
        lambda a: np.frombuffer(b"\0" + a.tobytes(), np.float32, 2, 1),
        lambda a: a.astype(object),
        lambda a: np.ma.array(a, mask=[True, False]),
        lambda a: memoryview(a),
        lambda a: a.astype("g"),
        lambda a: np.asfortranarray(a),
        lambda a: range(1, 3),
        list,
    ],
)
def test_arrays_of_every_layout(place, make):
    assert place.feed(make(np.array([1, 2], np.float32))).tolist() == [2, 4]


def test_an_array_that_is_read_only_stays_what_it_is(place):
    value = np.array([1, 2], np.float32)
    value.flags.writeable = False
    assert place.feed(value).tolist() == [2, 4]
    assert value.tolist() == [1, 2]


def test_empty_and_scalar_values(place):
    assert place.through(tf.float32, np.zeros((0, 3))).shape == (0, 3)
    assert place.through(tf.float32, np.float64(2)) == 2


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt, SystemExit, MemoryError])
def test_an_exception_of_a_conversion_comes_through(place, error):
    def fail():
        raise error("in __array__")

    with pytest.raises(error, match="in __array__"):
        place.feed(Raises(fail))


def test_a_conversion_may_change_the_feeds(place):
    other = tf.placeholder(tf.float32, [2])
    total = place.x + other
    feeds = {}

    def clear():
        feeds.clear()
        gc.collect()
        return np.ones(2, np.float32)

    feeds[place.x] = Raises(clear)
    feeds[other] = np.full(2, 3, np.float32)
    assert place.session.run(total, feeds).tolist() == [4, 4]


def test_a_conversion_may_run_or_close_the_session(place):
    session = tf.Session()
    inner = Raises(lambda: session.run(place.doubled, {place.x: [1, 2]}))
    assert session.run(place.doubled, {place.x: inner}).tolist() == [4, 8]

    def close():
        session.close()
        return [1, 2]

    with pytest.raises((RuntimeError, ValueError, tf.errors.FailedPreconditionError)):
        session.run(place.doubled, {place.x: Raises(close)})


@pytest.mark.parametrize("key", [3, None, "x", "nope:0", np.float32(1), tf.float32])
def test_a_key_that_is_no_tensor(place, key):
    with pytest.raises(TypeError, match="Cannot interpret feed_dict key as Tensor"):
        place.session.run(place.doubled, {key: [1, 2]})


def test_keys_of_the_wrong_kind(place):
    for key in (place.x.op, foreign_tensor()):
        with pytest.raises(TypeError, match="Cannot interpret feed_dict key as Tensor"):
            place.session.run(place.doubled, {key: [1, 2]})
    with pytest.raises(ValueError, match="fed twice"):
        place.session.run(place.doubled, {place.x: [1, 2], "x:0": [1, 2]})
    with pytest.raises(ValueError, match="1 values were fed for 2 tensors"):
        place.session.run(place.doubled, {(place.x, place.x): ([1, 2],)})
    for feeds in ([place.x], 5, "abc"):
        with pytest.raises(TypeError, match="feed_dict must be a dictionary"):
            place.session.run(place.doubled, feeds)


def foreign_tensor():
    with tf.Graph().as_default():
        return tf.constant([1.0, 2.0], name="foreign")


# ---- Fetches


@pytest.mark.parametrize(
    "fetch",
    [3, 1.5, None, [None], True, tf.float32, np.array([1]), (i for i in [1])],
    ids=lambda f: type(f).__name__,
)
def test_fetches_of_the_wrong_type(place, fetch):
    with pytest.raises(TypeError, match="has invalid type"):
        place.session.run(fetch)


@pytest.mark.parametrize(
    "name", ["nope", "nope:0", "x:5", "x:", ":0", "", "^x", "x\0y", "\ud800", "x" * 100000]
)
def test_fetches_that_do_not_exist(place, name):
    with pytest.raises(ValueError, match="cannot be interpreted as a Tensor"):
        place.session.run(name)


def test_foreign_fetches(place):
    for fetch in (foreign_tensor(), foreign_tensor().op, [place.x, foreign_tensor()]):
        with pytest.raises(ValueError, match="not an element of this graph"):
            place.session.run(fetch)


def test_fetches_that_hold_themselves(place):
    fetches, mapping = [], {}
    fetches.append(fetches)
    mapping["a"] = mapping
    for fetch in (fetches, mapping, nested(100000)):
        with pytest.raises((RecursionError, ValueError, TypeError)):
            place.session.run(fetch)


def test_a_placeholder_that_is_not_fed(place):
    with pytest.raises(tf.errors.InvalidArgumentError, match="You must feed a value"):
        place.session.run(place.doubled)


def test_arguments_of_run(place):
    for call in (
        lambda s: s.run(),
        lambda s: s.run(1, 2, 3, 4, 5),
        lambda s: s.run(place.x, feed=1),
        lambda s: s.run(place.x, fetches=1),
        lambda s: s.run(place.x, options=5),
        lambda s: s.run(place.x, run_metadata=5),
    ):
        with pytest.raises(TypeError):
            call(place.session)


def test_closed_and_unopened_sessions(place):
    session = tf.Session()
    session.close()
    session.close()
    for closed in (session, tf.Session.__new__(tf.Session)):
        with pytest.raises(RuntimeError, match="closed Session"):
            closed.run(place.doubled, {place.x: [1, 2]})


# ---- Building


@pytest.mark.parametrize(
    "shape, errors",
    [
        ([2**20, 2**20], (tf.errors.ResourceExhaustedError,)),
        (
            [2**31 - 1, 2**31 - 1],
            (tf.errors.ResourceExhaustedError, tf.errors.InvalidArgumentError),
        ),
        ([2**40, 2**40], (ValueError, tf.errors.OpError)),
        ([2**64], (ValueError, TypeError, OverflowError)),
        ([-5], (ValueError,)),
        (-5, (ValueError,)),
        ([1] * 9, (ValueError,)),
    ],
)
def test_shapes_that_cannot_be(place, shape, errors):
    with pytest.raises(errors):
        place.session.run(tf.zeros(shape))
    with pytest.raises(errors):
        place.session.run(tf.reduce_sum(tf.zeros(shape)) + 1.0)
    with pytest.raises(errors + (tf.errors.ResourceExhaustedError,)):
        place.session.run(tf.constant(1.0, shape=shape))


@pytest.mark.parametrize("shape", [[-5], -5, -1, [-1], [1] * 9, [2**70], [1.5], "abc", object()])
def test_shapes_of_placeholders(place, shape):
    with pytest.raises((ValueError, TypeError)):
        tf.placeholder(tf.float32, shape)


@pytest.mark.parametrize("dtype", [None, 999, -1, 2**40, "nope", object()])
def test_dtypes_that_do_not_exist(place, dtype):
    with pytest.raises(TypeError):
        tf.placeholder(dtype)


@pytest.mark.parametrize(
    "value, dtype",
    [
        (None, None),
        ([None], None),
        (object(), None),
        ([[1], [2, 3]], None),
        (1.5, tf.int32),
        ("a", tf.float32),
        (2**70, None),
        (2**63, tf.int64),
        ([[2**64]], tf.int32),
        (np.array(["2020"], "M8[Y]"), None),
        (np.zeros(2, [("a", "f4")]), None),
        ({1}, None),
        (np.array([1, None], object), None),
        ("\ud800", None),
        (nested(100000), None),
    ],
    ids=lambda part: type(part).__name__,
)
def test_constants_that_cannot_be(place, value, dtype):
    with pytest.raises((ValueError, TypeError, OverflowError, RecursionError)):
        tf.constant(value, dtype)


def test_constants_in_foreign_byte_order(place):
    for dtype in (">f4", ">i8", ">f8"):
        assert place.session.run(tf.constant(np.array([1, 2], dtype))).tolist() == [1, 2]


@pytest.mark.parametrize("name", ["a\0b", "é", "a b", "-a", "\ud800", "a\nb"])
def test_names_that_cannot_be(place, name):
    for call in (
        lambda: tf.constant(1.0, name=name),
        lambda: tf.name_scope(name).__enter__(),
        lambda: tf.variable_scope(name).__enter__(),
        lambda: tf.get_variable(name, [1]),
    ):
        with pytest.raises(ValueError):
            call()
    assert tf.constant(1.0, name="after").name == "after:0"


@pytest.mark.parametrize("device", ["/nonsense", "/cpu:0\0", "/device:CPU:x", 5])
def test_devices_that_cannot_be(place, device):
    with tf.device("/device:CPU:1"):
        with pytest.raises(ValueError), tf.device(device):
            pass
        with pytest.raises((ValueError, TypeError)), tf.device(lambda op: device):
            tf.constant(1.0)
        assert tf.constant(1.0).device == "/device:CPU:1"
    assert tf.constant(1.0).device == ""  # what failed to open was closed all the same


@pytest.mark.parametrize("other", [None, object(), {}, {1}, "a", [1, 2, 3], 10**400, tf.float32])
def test_operands_that_cannot_be(place, other):
    for call in (lambda: place.x + other, lambda: other - place.x, lambda: place.x < other):
        with pytest.raises((TypeError, ValueError, OverflowError)):
            call()


def test_an_operand_that_is_too_large_for_the_other(place):
    with pytest.raises((TypeError, OverflowError)):
        tf.constant(1) + 2**70


def test_exceptions_in_conversion_functions(place):
    class Odd:
        pass

    def convert(value, dtype=None, name=None, as_ref=False):
        raise RuntimeError("in a conversion function")

    tf.register_tensor_conversion_function(Odd, convert)
    with pytest.raises(RuntimeError, match="in a conversion function"):
        place.x + Odd()


def test_objects_that_were_never_set_up(place):
    for make in (lambda: tf.Tensor(), lambda: tf.Tensor.__new__(tf.Tensor), lambda: tf.Operation()):
        with pytest.raises(TypeError):
            make()
    empty = tf.Variable.__new__(tf.Variable)
    with pytest.raises(RuntimeError, match="was not set up"):
        empty.initializer
    with pytest.raises(TypeError):
        empty + 1.0


def test_a_sequence_that_changes_while_it_is_read(place):
    class Clears:
        def __init__(self, sequence):
            self.sequence = sequence

        def __index__(self):
            self.sequence.clear()
            gc.collect()
            return 2

    for read in (place.x._set_shape, lambda s: tf.squeeze(place.x, s)):
        dims = []
        dims.extend([Clears(dims), 2, object(), 2])
        with pytest.raises((ValueError, TypeError)):
            read(dims)


# ---- Leaks


def test_errors_do_not_leak(place):
    odd = np.zeros(100)
    calls = [
        lambda: place.feed([[1, 2], [3]]),
        lambda: place.feed(None),
        lambda: place.feed(odd),
        lambda: place.feed(Raises(lambda: 1 / 0)),
        lambda: place.through(tf.string, ["a", 5]),
        lambda: place.through(tf.int32, [2**40]),
        lambda: place.session.run(place.doubled),
        lambda: place.session.run("nope"),
        lambda: place.session.run([place.x, 5]),
        lambda: tf.constant(object()),
        lambda: tf.constant(2**70, tf.int8),
        lambda: tf.name_scope("a b").__enter__(),
        lambda: tf.device("/nonsense").__enter__(),
        lambda: place.x + None,
        lambda: place.x + [1, 2, 3],
        lambda: tf.Graph().get_tensor_by_name("x\0:0"),
    ]

    def all_of_them(times):
        for _ in range(times):
            for call in calls:
                try:
                    call()
                except Exception:
                    continue
                raise AssertionError("no error")
        gc.collect()

    all_of_them(20)
    tracemalloc.start()
    all_of_them(20)
    before = tracemalloc.get_traced_memory()[0]
    resident = resident_bytes()
    all_of_them(300)
    assert tracemalloc.get_traced_memory()[0] - before < 200_000
    assert resident_bytes() - resident < 20_000_000
    tracemalloc.stop()


def resident_bytes():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_sessions_and_graphs_do_not_leak():
    def one():
        with tf.Graph().as_default() as graph, tf.Session(graph=graph) as session:
            value = tf.Variable(np.zeros(10000, np.float32))
            session.run(value.initializer)
            session.run(value + 1.0)

    def many_of_them():
        for _ in range(300):
            one()
        gc.collect()
        return resident_bytes()

    many_of_them()  # what the allocator keeps for later is there now
    before = many_of_them()
    assert many_of_them() - before < 4_000_000  # the variables of 100 graphs


# ---- Threads, signals, processes: programs of their own

PRELUDE = """
import gc, os, signal, sys, threading, time, weakref
import numpy as np
import rheos.v1 as tf

def long_graph(length):
    v = tf.placeholder(tf.float32, [300, 300])
    y = v
    for _ in range(length):
        y = tf.matmul(y, v) * 0.001
    return y, {v: np.ones((300, 300), np.float32)}

def alarm(seconds, handler):
    signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, seconds)

# One kernel of a card ends before anything else happens, and a child has no card.
ON_CPU = dict(device_count={"GPU": 0})

def works(session):
    assert session.run(tf.constant([1.0, 2.0]) * 2.0).tolist() == [2, 4]
"""


def run_program(body, status=0):
    program = PRELUDE + textwrap.dedent(body)
    command = [sys.executable, "-X", "dev", "-X", "faulthandler", "-W", "ignore", "-c", program]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
    )
    try:
        output, _ = process.communicate(timeout=120)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)  # children that were forked too
        pytest.fail("the program hangs: " + process.communicate()[0])
    assert process.returncode == status, output
    return output


@pytest.mark.parametrize(
    "fetch",
    [
        "long_graph(100000)[0]",
        "tf.matmul(tf.ones([9000, 9000]), tf.ones([9000, 9000]))",
        "tf.reduce_sum(tf.exp(tf.ones([10000, 10000])))",
        "tf.reduce_sum(tf.sqrt(tf.cast(tf.range(10**8), tf.float32)))",
        "tf.reduce_sum(tf.random_normal([200000, 1000]))",
    ],
    ids=["chain", "one kernel", "fused", "folded", "random"],
)
def test_ctrl_c_ends_a_step_and_nothing_else(fetch):
    output = run_program(f"""
        y = {fetch}
        feeds = {{t: np.ones((300, 300), np.float32) for t in [o.outputs[0] for o in
                 y.graph.get_operations() if o.type == "Placeholder"]}}
        session = tf.Session(config=tf.ConfigProto(**ON_CPU))
        threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        try:
            while True:
                session.run(y, feeds)
        except KeyboardInterrupt:
            print("interrupted")
        works(session)
        """)
    assert output == "interrupted\n"


def test_a_signal_handler_may_close_the_session():
    run_program("""
        y, feeds = long_graph(100000)
        session = tf.Session()
        alarm(0.3, lambda *_: session.close())
        try:
            session.run(y, feeds)
            assert False
        except tf.errors.CancelledError:
            pass
        works(tf.Session())
        """)


def test_a_signal_handler_may_run_the_same_step():
    output = run_program("""
        y, feeds = long_graph(3000)
        folded = tf.reduce_sum(tf.sqrt(tf.cast(tf.range(3 * 10**7), tf.float32)))
        session = tf.Session()
        results = []
        for fetch in (y, folded):
            alarm(0.05, lambda *_: results.append(session.run(fetch, feeds)))
            session.run(fetch, feeds)
            signal.setitimer(signal.ITIMER_REAL, 0)
        works(session)
        print("done")
        """)
    assert output == "done\n"


def test_a_signal_handler_may_raise():
    output = run_program("""
        y, feeds = long_graph(100000)
        def handler(*_):
            raise ValueError("from the handler")
        session = tf.Session()
        alarm(0.3, handler)
        try:
            session.run(y, feeds)
        except ValueError as error:
            print(error)
        works(session)
        """)
    assert output == "from the handler\n"


def test_sys_exit_inside_with_blocks():
    run_program(
        """
        with tf.Graph().as_default(), tf.device("/cpu:0"), tf.name_scope("a"):
            with tf.Session() as session:
                works(session)
                sys.exit(3)
        """,
        status=3,
    )


def test_the_interpreter_may_end_with_steps_under_way():
    output = run_program("""
        y, feeds = long_graph(100000)
        x = tf.placeholder(tf.float32, [None])
        short = tf.reduce_sum(x * 2.0)
        session = tf.Session()
        def again_and_again():
            while True:
                session.run(short, {x: np.ones(10000, np.float32)})
        threading.Thread(target=lambda: session.run(y, feeds), daemon=True).start()
        threading.Thread(target=again_and_again, daemon=True).start()
        time.sleep(0.3)
        print("end")
        """)
    assert output == "end\n"


def test_sessions_may_outlive_the_program():
    output = run_program("""
        class Last:
            def __del__(self):
                try:
                    self.session.run(self.y)
                except BaseException:
                    pass
        last = Last()
        last.session, last.y, last.itself = tf.Session(), tf.constant(1.0) * 2.0, last
        last.session.run(last.y)
        sys.modules["kept until the end"] = last
        import atexit
        atexit.register(lambda: print(last.session.run(last.y)))
        """)
    assert output == "2.0\n"


def test_a_session_closed_under_other_threads():
    run_program("""
        x = tf.placeholder(tf.float32, [None])
        y = tf.reduce_sum(x * 2.0)
        wrong = []
        def run(session, size):
            try:
                while True:
                    session.run(y, {x: np.ones(size, np.float32)})
            except (RuntimeError, tf.errors.CancelledError, tf.errors.FailedPreconditionError):
                pass
            except BaseException as error:
                wrong.append(error)
        for _ in range(20):
            session = tf.Session()
            threads = [threading.Thread(target=run, args=(session, size))
                       for size in (1, 10, 100000, 300000)]
            for thread in threads: thread.start()
            time.sleep(0.02)
            session.close()
            for thread in threads: thread.join()
        assert not wrong, wrong
        """)


def test_short_and_folding_steps_in_threads():
    run_program("""
        x = tf.placeholder(tf.float32, [None])
        y = tf.reduce_sum(tf.sqrt(tf.cast(tf.range(tf.size(x)), tf.float32)))
        session = tf.Session()
        def run(size, times):
            for i in range(times):
                session.run(y, {x: np.ones(size + i % 40, np.float32)})
        threads = [threading.Thread(target=run, args=a)
                   for a in ((1, 3000), (2, 3000), (3000000, 8), (5000000, 8))]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        """)


def test_graphs_are_freed_while_sessions_run():
    run_program("""
        def run():
            for _ in range(100):
                graph = tf.Graph()
                with graph.as_default():
                    total = tf.reduce_sum(tf.constant(np.ones(50000, np.float32)) * 2.0)
                session = tf.Session(graph=graph)
                del graph
                assert session.run(total) == 100000
                del session, total
        threads = [threading.Thread(target=run) for _ in range(3)]
        for thread in threads: thread.start()
        while any(thread.is_alive() for thread in threads): gc.collect()
        """)


def test_a_tensor_may_be_asked_for_while_it_is_freed():
    run_program("""
        constant = tf.constant(1.0)
        operation, found = constant.op, []
        reference = weakref.ref(constant, lambda _: found.append(operation.outputs[0]))
        del constant
        gc.collect()
        assert found[0].dtype == tf.float32 and found[0] is operation.outputs[0]
        """)


def test_forked_children():
    output = run_program("""
        long, feeds = long_graph(2000)
        x = tf.placeholder_with_default(np.ones((300, 300), np.float32), [300, 300])
        y = tf.reduce_sum(tf.matmul(x, x))
        config = tf.ConfigProto(intra_op_parallelism_threads=3, **ON_CPU)
        session = tf.Session(config=config)
        value = session.run(y)
        if os.fork() == 0:
            assert session.run(y) == value
            session.close()
            del session
            with tf.Session(config=config) as session:
                assert session.run(y) == value
            del session
            gc.collect()
            sys.exit(0)
        assert os.wait()[1] == 0
        assert session.run(y) == value
        thread = threading.Thread(target=lambda: session.run(long, feeds))
        thread.start()
        time.sleep(0.1)
        if os.fork() == 0:
            session.close()
            os._exit(0)
        assert os.wait()[1] == 0
        thread.join()
        print("done")
        """)
    assert output == "done\n"


def test_threads_build_one_graph():
    graph, errors = tf.Graph(), []

    def build(number):
        try:
            with graph.as_default(), tf.name_scope(f"thread{number}"), tf.device("/cpu:0"):
                y = tf.constant(1.0)
                for _ in range(200):
                    y = y + 1.0
                with tf.Session(graph=graph) as session:
                    assert session.run(y) == 201
                assert y.name == f"thread{number}/add_199:0"
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=build, args=(i,)) for i in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors, errors
