"""The program whose dumps of debug events are compared; make_debug_events.py has TensorFlow's."""

MODES = ("NO_TENSOR", "CURT_HEALTH", "CONCISE_HEALTH", "FULL_HEALTH", "SHAPE", "FULL_TENSOR")

# What both name alike; handles, constants and what hands on values are made differently.
EXECUTED = frozenset("AddV2 StringJoin Mul Greater AssignVariableOp Split f".split())
TRACED = frozenset("Log Mul Sub Sqrt".split())


def run(tf, root, mode):
    """Dumps what the program does to the folder."""
    enable = tf.debugging.experimental.enable_dump_debug_info
    enable(root, tensor_debug_mode=mode, circular_buffer_size=-1)

    @tf.function
    def inner(x):
        return tf.sqrt(x) * tf.constant([1.0, 2.0, 3.0], tf.float32)

    @tf.function
    def f(x):
        return tf.math.log(inner(x - 1.0))

    f(tf.constant([[1.0, 0.0, 10.0]]))
    tf.constant([1, 2]) + tf.constant(1)
    tf.strings.join([tf.constant("a"), tf.constant("b")])
    tf.constant([1.0, float("-inf"), -2.0], tf.float16) * tf.constant(2.0, tf.float16)
    tf.constant([1 + 2j]) * tf.constant(1j, tf.complex128)
    tf.greater(tf.constant([[1, 0]]), tf.constant(0))
    v = tf.Variable(3.0)
    v.assign(4.0)
    tf.split(tf.constant([1.0, 0.0, -3.0, float("nan")], tf.float64), 2)
    f(tf.constant([[2.0, 5.0, 17.0]]))
    tf.debugging.experimental.disable_dump_debug_info()


def line(kind, mode, op, values):
    """One line of the recording: values, a list of lists of numbers or of None."""
    told = ["-" if v is None else ",".join(f"{x:g}" for x in v) for v in values]
    return " ".join([mode, kind, op, *told])
