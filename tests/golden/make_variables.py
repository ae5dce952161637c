#!/usr/bin/env python3
"""Records the nodes that TensorFlow 1.15 makes for variables, and what programs with them compute.

Usage: python make_variables.py      (a Python that has TensorFlow 1.15.5)

Writes variables.json; test_variable_programs.py runs the same programs, which are
here.
A program gets the module and returns what to fetch after the initializers; "init" then "fetches"
run in sessions of their own.
"""

import json
import os
import sys

PROGRAMS = {}
COMPUTED = set()  # programs of which only the values are recorded: TensorFlow's have tf.cond inside


def program(function):
    PROGRAMS[function.__name__] = function
    return function


def computed(function):
    COMPUTED.add(function.__name__)
    return program(function)


@program
def resource_constant(tf):
    v = tf.Variable([1.0, 2.0], use_resource=True, name="v")
    return [v, v.value(), v.read_value(), v.is_initialized(), v + 1.0, 2.0 - v, v * v, -v, abs(v)]


@program
def resource_function(tf):
    v = tf.Variable(lambda: tf.zeros([2], tf.float64), use_resource=True, name="v")
    w = tf.Variable(lambda: [1, 2], use_resource=True, shape=[None], trainable=False)
    return [v, w, tf.shape(w.value()), tf.cast(w, tf.float32), tf.trainable_variables()]


@program
def resource_shared(tf):
    with tf.variable_scope("s", use_resource=True):
        v = tf.get_variable("v", [2, 3], initializer=tf.ones_initializer())
        w = tf.get_variable("w", initializer=[1.0, 2.0])
        plain = tf.get_variable("plain", [], use_resource=False, initializer=tf.zeros_initializer())
    with tf.variable_scope("s", reuse=True):
        again = tf.get_variable("v")
    assert again is v
    rows = [v.sparse_read([1]), tf.gather(v, [0, 1]), tf.nn.embedding_lookup(v, [1, 0])]
    places = [v.gather_nd([[0, 1]]), tf.gather_nd(v, [[1, 2]])]
    return [v, w, plain, *rows, *places, tf.matmul(v, v, transpose_b=True), w[1], w[:1]]


@program
def resource_assignments(tf):
    v = tf.Variable([1.0, 2.0], use_resource=True, name="v")
    steps = [
        lambda: v.assign([3.0, 4.0]),
        lambda: v.assign_add([1.0, 1.0], name="more"),
        lambda: v.assign_sub([0.5, 0.5]),
        lambda: tf.assign(v, v * 2.0),
        lambda: tf.assign_add(v, [1.0, 0.0]),
        lambda: tf.assign_sub(v, [0.0, 1.0]),
        lambda: v.scatter_add(tf.IndexedSlices([10.0], [1])),
        lambda: v.scatter_sub(tf.IndexedSlices([1.0, 1.0], [0, 0])),
        lambda: v.scatter_update(tf.IndexedSlices([5.0], [0]), name="set"),
        lambda: tf.scatter_mul(v, [0], [2.0]),
        lambda: tf.scatter_div(v, [1], [4.0]),
        lambda: tf.scatter_min(v, [0], [9.0]),
        lambda: v.scatter_max(tf.IndexedSlices([100.0], [1])),
        lambda: v.scatter_nd_add([[0]], [1.0]),
        lambda: v.scatter_nd_sub([[1]], [1.0]),
        lambda: tf.scatter_nd_update(v, [[0]], [7.0]),
        lambda: v[1:].assign([8.0]),
    ]
    values = []
    before = []
    for step in steps:
        with tf.control_dependencies(before):
            changed = step()
            values.append(changed + 0.0)
            before = [values[-1]]
    with tf.control_dependencies(before):
        operation = v.assign([0.0, 0.0], read_value=False)
    with tf.control_dependencies([operation]):
        values.append(v.read_value())
    return values


@program
def resource_order(tf):
    """A read sees the writes that it waits for."""
    v = tf.Variable(1.0, use_resource=True, name="v")
    old = tf.identity(v)
    with tf.control_dependencies([old]):
        first = v.assign_add(1.0)
    with tf.control_dependencies([first]):
        between = v * 10.0
    with tf.control_dependencies([between]):
        second = v.assign(between + 1.0, read_value=False)
    with tf.control_dependencies([second]):
        new = tf.identity(v)
    with tf.control_dependencies([v]):
        waits_for_nothing = tf.no_op()
    return [old, between, new, waits_for_nothing]


@program
def resource_counter(tf):
    v = tf.Variable(3, use_resource=True, name="v")
    return [tf.count_up_to(v, 5)]


@program
def resource_caching(tf):
    v = tf.Variable([1.0, 2.0], use_resource=True, name="v", caching_device="/cpu:0")
    w = tf.Variable([1.0, 2.0], name="w", caching_device="/cpu:0")
    return [v * 2.0, w * 2.0]


@program
def resource_gradients(tf):
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0]], use_resource=True, name="v")
    rows = tf.gather(v, [1, 1])
    dense = tf.reduce_sum(v * v, axis=[0, 1], name="dense")
    whole = tf.gradients(tf.reduce_sum(rows, axis=[0, 1]) + dense, v)
    sparse = tf.gradients(tf.reduce_sum(rows, axis=[0, 1]), v)[0]
    nd = tf.gradients(tf.reduce_sum(v.gather_nd([[0, 1]]), axis=[0]), v)
    return [whole, sparse.values, sparse.indices, nd]


@program
def resource_devices(tf):
    with tf.device("/cpu:0"):
        v = tf.get_variable("v", [2], use_resource=True, initializer=tf.zeros_initializer())
    with tf.device("/job:localhost"), tf.name_scope("n"):
        v + 1.0
    with tf.name_scope("m"), tf.colocate_with(v):
        other = tf.Variable(1.0, use_resource=True, name="other")
    return [v, other]


@program
def resource_saver(tf):
    v = tf.Variable([1.0, 2.0], use_resource=True, name="v")
    w = tf.Variable(1.0, name="w")
    tf.train.Saver()
    return [v, w, tf.report_uninitialized_variables(name="report")]


@program
def resource_constraint(tf):
    def clip(value):
        return tf.clip_by_value(value, 0.0, 1.0)

    v = tf.Variable([1.0, 2.0], use_resource=True, name="v", constraint=clip)
    loss = tf.reduce_sum(v, axis=[0])
    step = tf.train.GradientDescentOptimizer(0.25).minimize(loss)
    with tf.control_dependencies([step]):
        return [v.read_value()]


@program
def partitioned(tf):
    """Parts of variables as tensors, tables, in optimizers and savers."""
    with tf.variable_scope("s", partitioner=tf.fixed_size_partitioner(2)):
        v = tf.get_variable("v", [5, 2], initializer=tf.ones_initializer())
        scalar = tf.get_variable("scalar", [], initializer=tf.zeros_initializer())
    w = tf.get_variable(
        "w",
        initializer=tf.constant([[1.0, 2.0, 3.0]], name="start"),
        partitioner=tf.fixed_size_partitioner(3, axis=1),
        use_resource=True,
    )
    with tf.variable_scope("s", reuse=True):
        assert tf.get_variable("v", [5, 2]) is v
    total = tf.matmul(v, tf.reshape(w, [3, 1])[:2], name="total")
    loss = tf.reduce_sum(total, axis=[0, 1]) + scalar
    tf.train.MomentumOptimizer(0.1, 0.9).minimize(loss)
    tf.train.Saver([v, scalar])
    rows = tf.nn.embedding_lookup(v, [0, 4, 3], partition_strategy="div")
    return [list(v), list(w), rows, total, tf.gradients(loss, list(v)), v.assign(tf.zeros([5, 2]))]


@computed
def partitioners(tf):
    counts = []
    for shape in ([7, 5], [100, 3], [1]):
        for partitioner in (
            tf.fixed_size_partitioner(3),
            tf.fixed_size_partitioner(2, axis=-1),
            tf.variable_axis_size_partitioner(64),
            tf.variable_axis_size_partitioner(64, max_shards=2),
            tf.min_max_variable_partitioner(max_partitions=4, min_slice_size=16),
        ):
            for dtype in (tf.float32, tf.string):
                counts.append(partitioner(shape=tf.TensorShape(shape), dtype=dtype))
    sliced = tf.create_partitioned_variables([4, 2], [2, 1], tf.ones_initializer(), name="c")
    return [tf.constant(c) for c in counts] + sliced


@computed
def averages(tf):
    """Each line of the fetches is a step: the averages after it."""
    v = tf.Variable([1.0, 2.0], name="v")
    w = tf.Variable(3.0, name="w", use_resource=True, dtype=tf.float64)
    count = tf.Variable(0, name="count", trainable=False)
    shifted = tf.add(v, 1.0, name="shifted")
    plain = tf.train.ExponentialMovingAverage(0.5)
    keeps = [plain.apply(), plain.apply([shifted])]
    fast = tf.train.ExponentialMovingAverage(0.9, count, zero_debias=True, name="Fast")
    with tf.control_dependencies([tf.assign_add(count, 1)]):
        keeps.append(fast.apply([v, w, shifted]))
    with tf.control_dependencies(keeps):
        change = tf.group(tf.assign(v, v * 2.0), w.assign_add(tf.constant(1.0, tf.float64)))
    averages = [e.average(x) for e in (plain, fast) for x in (v, w, shifted)]
    names = [plain.average_name(x) for x in (v, w, shifted, count)]
    restored = sorted((name, x.name) for name, x in fast.variables_to_restore().items())
    return [[change, *averages] * 3, tf.constant(names), tf.constant(restored)]


@computed
def learning_rates(tf):
    rates = []
    for step in (0, 1, 9, 10, 11, 25, 100):
        count = tf.constant(step, tf.int64)
        train = tf.train
        rates += [
            train.exponential_decay(0.1, count, 10, 0.5),
            train.exponential_decay(0.1, count, 10, 0.5, staircase=True),
            train.natural_exp_decay(0.1, count, 10, 0.5),
            train.inverse_time_decay(0.1, count, 10, 0.5),
            train.inverse_time_decay(0.1, count, 10, 0.5, staircase=True),
            train.polynomial_decay(0.1, count, 10, 0.01, power=2.0),
            train.polynomial_decay(0.1, count, 10, 0.01, cycle=True),
            train.piecewise_constant(count, [1, 10], [1.0, 0.5, 0.25]),
            train.piecewise_constant_decay(tf.cast(count, tf.float32), [1.0], [1, 2]),
            train.cosine_decay(0.1, count, 10, alpha=0.1),
            train.cosine_decay_restarts(0.1, count, 10),
            train.cosine_decay_restarts(0.1, count, 10, t_mul=1.0, m_mul=0.5, alpha=0.2),
            train.cosine_decay_restarts(0.1, count, 10, t_mul=tf.constant(1.5), m_mul=0.9),
            train.linear_cosine_decay(0.1, count, 10),
            train.linear_cosine_decay(0.1, count, 10, num_periods=1.5, alpha=0.1, beta=0.01),
            train.noisy_linear_cosine_decay(0.1, count, 10, initial_variance=0.0),
        ]
    return rates


def record(tf, name):
    """{"nodes": [[name, op, inputs, controls, device, _class]], "values": list} of one program."""
    with tf.Graph().as_default() as graph:
        fetches = PROGRAMS[name](tf)
        nodes = [node(op) for op in graph.get_operations()]
        init = [tf.global_variables_initializer(), tf.local_variables_initializer()]
        with tf.Session() as session:
            session.run(init)
            values = [to_list(session.run(fetch)) for fetch in flat(fetches)]
    return {"nodes": [] if name in COMPUTED else sorted(nodes), "values": values}


def flat(fetches):
    for fetch in fetches:
        if isinstance(fetch, (list, tuple)):
            yield from flat(fetch)
        else:
            yield fetch


def node(op):
    try:
        classes = [c.decode() for c in op.get_attr("_class")]
    except ValueError:
        classes = []
    inputs = [i.name for i in op.inputs]
    return [op.name, op.type, inputs, sorted(c.name for c in op.control_inputs), op.device, classes]


def to_list(value):
    if isinstance(value, bytes):
        return value.decode()
    value = value.tolist() if hasattr(value, "tolist") else value
    return [to_list(v) for v in value] if isinstance(value, list) else value


def main():
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    import tensorflow as tf

    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "variables.json")
    with open(path, "w") as file:
        json.dump({name: record(tf, name) for name in PROGRAMS}, file, indent=None, sort_keys=True)
        file.write("\n")


if __name__ == "__main__":
    sys.exit(main())
