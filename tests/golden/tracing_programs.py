"""Small programs with tf.function, which run on TensorFlow and on Rheos.

`tf` and `value`, a function that gives a tensor's value, are set from outside. Each program returns
plain values of Python.
"""

import collections

import numpy as np

tf = None
value = None
PROGRAMS = []


def program(function):
    """Notes a program."""
    PROGRAMS.append(function)
    return function


def counted(**options):
    """(a traced identity of one argument, the list of what it was traced with)."""
    seen = []

    @tf.function(**options)
    def identity(x):
        seen.append(x)
        return x

    return identity, seen


def error_of(function, *args, **kwargs):
    """The name of the class of what a call raises; None if it works."""
    try:
        function(*args, **kwargs)
    except Exception as error:  # noqa: BLE001
        return type(error).__name__
    return None


# ---- How often functions are traced


@program
def traces_of_numbers():
    identity, seen = counted()
    for x in (1, 1, 2, 1.0, True, "a", "a", None, None):
        identity(x)
    return len(seen), identity.experimental_get_tracing_count()


@program
def traces_of_tensors():
    identity, seen = counted()
    for x in (1, 2, [1], [2], [[1]], 1.0, [1.5, 2.5], "a"):
        identity(tf.constant(x))
    return len(seen), [(x.shape.as_list(), x.dtype.name) for x in seen]


@program
def traces_of_arrays():
    identity, seen = counted()
    for x in (np.float32(1), np.float32(2), np.ones(2), np.zeros(2), np.ones([2, 2], np.int64)):
        identity(x)
    return len(seen), [(x.shape.as_list(), x.dtype.name) for x in seen]


@program
def traces_of_structures():
    identity, seen = counted()
    pair = collections.namedtuple("pair", "a b")
    for x in ([1, 2], (1, 2), [1, 2], [1, 3], {"a": 1}, {"a": 2}, {"b": 1}, pair(1, 2), [[1], 2]):
        identity(x)
    return len(seen)


@program
def traces_of_structures_of_tensors():
    identity, seen = counted()
    for x in (1, 2, 3):
        identity({"a": tf.constant(x), "b": [tf.constant(x * 1.0)]})
        identity({"b": [tf.constant(x * 2.0)], "a": tf.constant(x)})
    identity({"a": tf.constant([1]), "b": [tf.constant(1.0)]})
    return len(seen)


@program
def traces_by_keyword_and_default():
    seen = []

    @tf.function
    def both(x, y=2, *, z=3):
        seen.append((x, y, z))
        return x + y + z

    both(1)
    both(x=1)
    both(1, 2)
    both(1, y=2, z=3)
    both(z=3, y=2, x=1)
    both(1, 3)
    return seen


@program
def traces_of_objects():
    identity, seen = counted()

    class Thing:
        pass

    one, other = Thing(), Thing()

    @tf.function
    def of_object(thing, x):
        seen.append(thing is one)
        return x

    for thing in (one, other, one, other):
        of_object(thing, tf.constant(1))
    return seen


@program
def traces_of_functions():
    seen = []

    @tf.function
    def apply(function, x):
        seen.append(1)
        return function(x)

    def double(x):
        return x * 2

    results = [value(apply(double, tf.constant(k))) for k in range(3)]
    return len(seen), [int(r) for r in results], int(value(apply(lambda x: x + 1, tf.constant(4))))


@program
def traces_of_methods():
    seen = []

    class Thing:
        def __init__(self, factor):
            self.factor = factor

        @tf.function
        def scaled(self, x):
            seen.append(self.factor)
            return x * self.factor

    one, other = Thing(2), Thing(3)
    results = [value(t.scaled(tf.constant(5))) for t in (one, one, other, one, other)]
    return seen, [int(r) for r in results]


@program
def traces_of_relaxed():
    identity, seen = counted(reduce_retracing=True)
    for n in range(1, 6):
        identity(tf.zeros([n]))
    for n in range(1, 4):
        identity(tf.zeros([2, n]))
    return [None if x.shape.rank is None else x.shape.as_list() for x in seen]


@program
def traces_with_signature():
    seen = []

    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
    def signed(x):
        seen.append(x.shape.as_list())
        return x * 2

    signed(tf.constant([1.0]))
    signed(tf.constant([1.0, 2.0]))
    signed([1.0, 2.0, 3.0])
    signed([1, 2])
    signed(np.ones(3, np.float32))
    return seen


@program
def traces_nested():
    seen = []

    @tf.function
    def inner(x):
        seen.append("inner")
        return x + 1

    @tf.function
    def outer(x):
        seen.append("outer")
        return inner(x) + inner(x * 2)

    results = [int(value(outer(tf.constant(k)))) for k in (1, 2)]
    inner(tf.constant(3))
    return seen, results


@program
def traces_after_failure():
    seen = []

    @tf.function
    def fails_first(x):
        seen.append(x)
        if len(seen) == 1:
            raise KeyError("first")
        return x

    return error_of(fails_first, 1), error_of(fails_first, 1), len(seen)


# ---- Errors


@program
def errors_of_signature():
    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
    def signed(x):
        return x

    return [
        error_of(signed, tf.constant([1])),
        error_of(signed, tf.constant(1.0)),
        error_of(signed),
        error_of(signed, tf.constant([1.0]), tf.constant([1.0])),
        error_of(signed, y=tf.constant([1.0])),
        error_of(signed, x=tf.constant([1.0])),
        error_of(signed, "text"),
    ]


@program
def errors_of_calls():
    @tf.function
    def one(x, *, y=1):
        return x

    return [error_of(one), error_of(one, 1, 2), error_of(one, 1, z=2), error_of(one, 1, y=2)]


@program
def errors_of_results():
    @tf.function
    def gives_object(x):
        return object()

    return error_of(gives_object, 1)


@program
def errors_of_bad_signatures():
    def one(x):
        return x

    def two(x, y):
        return x

    spec = tf.TensorSpec([], tf.float32)
    return [
        error_of(lambda: tf.function(one, input_signature=[spec, spec])(1.0)),
        error_of(lambda: tf.function(two, input_signature=[spec])(1.0)),
        error_of(lambda: tf.function(one, input_signature=spec)(1.0)),
    ]


@program
def errors_without_autograph():
    @tf.function(autograph=False)
    def branches(x):
        if x > 0:
            return 1
        return 2

    return error_of(branches, tf.constant(1))


@program
def errors_of_leaks():
    kept = []

    @tf.function
    def leaks(x):
        kept.append(x * 2)
        return x

    @tf.function
    def uses(x):
        return x + kept[0]

    leaks(tf.constant(1.0))
    return error_of(uses, tf.constant(1.0)) in ("TypeError", "InaccessibleTensorError")


@program
def errors_of_python_in_function():
    @tf.function
    def raises(x):
        if x is not None:
            raise ValueError("why not")
        return x

    return error_of(raises, tf.constant(1))


# ---- Concrete functions


@program
def signature_texts():
    @tf.function
    def several(x, y=2, *, z=None):
        return {"sum": x + tf.cast(y, x.dtype), "pair": (x, None), "list": [x]}

    concrete = several.get_concrete_function(tf.TensorSpec([None, 2], tf.float32))
    return str(concrete), str(concrete.structured_input_signature)


@program
def signature_text_of_tensors():
    @tf.function
    def several(a, b):
        return a["x"] + b[0], b[1]

    spec = tf.TensorSpec([3], tf.int32)
    concrete = several.get_concrete_function({"x": spec}, [spec, tf.TensorSpec(None, tf.string)])
    return concrete.pretty_printed_signature()


@program
def signature_text_of_signature():
    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32, name="given")])
    def signed(x):
        return x, x * 2

    concrete = signed.get_concrete_function()
    return str(concrete), str(concrete.structured_input_signature)


@program
def signature_text_of_nothing():
    @tf.function
    def nothing():
        return None

    return str(nothing.get_concrete_function())


@program
def concrete_calls():
    @tf.function
    def add(x, y=2):
        return x + tf.cast(y, tf.float32)

    spec = tf.TensorSpec([None], tf.float32)
    concrete = add.get_concrete_function(spec)
    both = add.get_concrete_function(spec, tf.TensorSpec([], tf.int32))
    x = tf.constant([1.0, 2.0])
    return (
        value(concrete(x)).tolist(),
        value(concrete(x=x)).tolist(),
        value(both(x, tf.constant(5))).tolist(),
        value(both(x, y=tf.constant(6))).tolist(),
        [t.shape.as_list() for t in concrete.outputs],
        [t.dtype.name for t in both.inputs],
        error_of(concrete),
        error_of(concrete, x, x, x),
    )


@program
def concrete_is_the_trace():
    identity, seen = counted()
    identity.get_concrete_function(tf.TensorSpec([2], tf.float32))
    identity(tf.zeros([2]))
    one = identity.get_concrete_function(tf.zeros([2]))
    return len(seen), one is identity.get_concrete_function(tf.TensorSpec([2], tf.float32))


# ---- Values


@program
def values_of_structures():
    @tf.function
    def gives(x):
        return {"a": x, "b": [x * 2, (x * 3, None)], "c": 4, "d": "text"}

    result = gives(tf.constant(1))
    return [
        sorted(result),
        int(value(result["b"][1][0])),
        result["b"][1][1],
        int(value(result["c"])),
        value(result["d"]) == b"text",
    ]


@program
def values_of_closures():
    scale = tf.constant(3.0)
    factor = 2.0

    @tf.function
    def scaled(x):
        return x * scale * factor

    before = float(value(scaled(tf.constant(1.0))))
    factor = 5.0
    again, other = scaled(tf.constant(1.0)), scaled(tf.constant([1.0]))
    return before, float(value(again)), float(value(other)[0])


@program
def values_of_recursion():
    @tf.function
    def power(x, n):
        if n == 0:
            return tf.ones_like(x)
        return x * power(x, n - 1)

    return float(value(power(tf.constant(2.0), 5)))


@program
def values_of_wrapped_method():
    class Thing:
        def __init__(self):
            self.factor = 3

        def call(self, x):
            return x * self.factor

    thing = Thing()
    thing.call = tf.function(thing.call)
    return int(value(thing.call(tf.constant(2)))), int(value(thing.call(x=tf.constant(4))))


@program
def values_of_lambdas():
    square = tf.function(lambda x: x * x)
    return int(value(square(tf.constant(3)))), int(value(square(4)))


@program
def values_of_control_flow():
    @tf.function
    def collatz(n):
        steps = 0
        while n > 1:
            if tf.equal(n % 2, 0):
                n = n // 2
            else:
                n = 3 * n + 1
            steps += 1
        return steps

    return [int(value(collatz(tf.constant(n)))) for n in (1, 6, 27)]


@program
def values_without_results():
    @tf.function
    def nothing(x):
        x + 1

    return nothing(tf.constant(1))


@program
def names_and_words():
    @tf.function
    def documented(x):
        """Words."""
        return x

    return documented.__name__, documented.__doc__, documented.python_function(3)
