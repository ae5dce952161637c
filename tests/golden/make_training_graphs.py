"""Records the graphs that TensorFlow 1.15.5 builds for gradients, optimizers and savers.

Run with the Python of a TensorFlow 1.15.5 installation:  python make_training_graphs.py
One file a case in training_graphs/: a line a node, sorted by name, with tabs between
    name, op, inputs, _class, device, attributes, value of a constant
Inputs are "node:output", then control inputs "^node" sorted by name.
tests/train/test_golden_graphs.c builds the same graphs and compares.
"""

import os
import warnings

warnings.filterwarnings("ignore")
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import numpy as np
import tensorflow as tf
from tensorflow.python.framework import tensor_util

tf.compat.v1.logging.set_verbosity(tf.compat.v1.logging.ERROR)

CASES = {}


def case(function):
    CASES[function.__name__] = function
    return function


def shape_text(proto):
    if proto.unknown_rank:
        return "<unknown>"
    return "[" + ",".join("?" if d.size < 0 else str(d.size) for d in proto.dim) + "]"


def dtype_text(number):
    names = {"float32": "float", "float64": "double", "float16": "half"}
    name = tf.as_dtype(number).name
    return names.get(name, name)


def attr_text(value):
    """The scalar kinds, and lists of types; None for what is not compared."""
    kind = value.WhichOneof("value")
    if kind == "type":
        return dtype_text(value.type)
    if kind == "b":
        return "true" if value.b else "false"
    if kind == "i":
        return str(value.i)
    if kind == "f":
        return "%.9g" % value.f
    if kind == "s":
        return value.s.decode()
    if kind == "shape":
        return shape_text(value.shape)
    if kind == "list" and value.list.type:
        return "[" + ",".join(dtype_text(t) for t in value.list.type) + "]"
    return None


def value_text(op):
    if op.type != "Const":
        return ""
    array = tensor_util.MakeNdarray(op.node_def.attr["value"].tensor)
    if array.dtype == object:
        items = [v.decode() for v in array.ravel()]
    elif array.dtype == np.float64:
        items = ["%.17g" % v for v in array.ravel()]
    elif array.dtype.kind == "f":
        items = ["%.9g" % v for v in array.ravel()]
    else:
        items = [str(int(v)) for v in array.ravel()]
    return "[%s] %s" % (",".join(str(d) for d in array.shape), " ".join(items))


def line(op):
    controls = sorted("^" + c.name for c in op.control_inputs)
    inputs = " ".join([i.name for i in op.inputs] + controls)
    attrs = op.node_def.attr
    classes = " ".join(s.decode() for s in attrs["_class"].list.s) if "_class" in attrs else ""
    texts = {k: attr_text(attrs[k]) for k in attrs if k not in ("_class", "value")}
    shown = " ".join("%s=%s" % (k, texts[k]) for k in sorted(texts) if texts[k] is not None)
    return "\t".join([op.name, op.type, inputs, classes, op.device, shown, value_text(op)])


@case
def linear_regression():
    m = tf.get_variable("m", [], initializer=tf.constant_initializer(0.0))
    b = tf.get_variable("b", [], initializer=tf.constant_initializer(0.0))
    tf.global_variables_initializer()
    x = tf.placeholder(tf.float32)
    y = tf.placeholder(tf.float32)
    loss = tf.square(y - (m * x + b))
    tf.train.GradientDescentOptimizer(1e-3).minimize(loss)


@case
def perceptron():
    """Two layers, all optimizers, a step counter, a saver."""
    tf.set_random_seed(7)
    x = tf.placeholder(tf.float32, [None, 4], name="x")
    y = tf.placeholder(tf.float32, [None, 3], name="y")
    w1 = tf.get_variable("w1", [4, 5])
    b1 = tf.get_variable("b1", [5], initializer=tf.zeros_initializer())
    w2 = tf.get_variable("w2", [5, 3], initializer=tf.truncated_normal_initializer(stddev=0.1))
    b2 = tf.get_variable("b2", [3], initializer=tf.ones_initializer())
    step = tf.get_variable("step", [], tf.int64, tf.zeros_initializer(), trainable=False)
    hidden = tf.nn.relu(tf.matmul(x, w1) + b1)
    logits = tf.matmul(hidden, w2) + b2
    each = tf.raw_ops.SoftmaxCrossEntropyWithLogits(features=logits, labels=y, name="xent").loss
    loss = tf.reduce_mean(each, axis=[0], name="loss")
    tf.train.AdamOptimizer(0.01).minimize(loss, global_step=step)
    tf.train.MomentumOptimizer(0.01, 0.9).minimize(loss)
    tf.train.AdagradOptimizer(0.01).minimize(loss)
    tf.train.Saver()


@case
def embedding():
    """Rows of a table, read twice: sparse gradients, one after the other, in all optimizers."""
    table = tf.get_variable("table", [10, 4], initializer=tf.random_normal_initializer(seed=3))
    ids = tf.placeholder(tf.int32, [2, 3], name="ids")
    first = tf.gather(table, ids, name="first")
    second = tf.gather(table, ids, name="second")
    loss = tf.reduce_sum(first * second, axis=[0, 1, 2], name="loss")
    tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    tf.train.MomentumOptimizer(0.1, 0.9, use_nesterov=True).minimize(loss)
    tf.train.AdagradOptimizer(0.1).minimize(loss)
    tf.train.AdamOptimizer(0.1).minimize(loss)


@case
def dense_and_sparse():
    """One table read by rows and as a whole, in double."""
    table = tf.get_variable("table", [10, 4], tf.float64)
    ids = tf.placeholder(tf.int64, [2], name="ids")
    rows = tf.reduce_sum(tf.gather(table, ids, name="rows"), axis=[0, 1], name="rows_sum")
    whole = tf.reduce_sum(tf.square(table), axis=[0, 1], name="whole_sum")
    loss = rows + whole
    tf.train.AdamOptimizer(0.1).minimize(loss)
    tf.train.AdagradOptimizer(0.1).minimize(loss)


def all_kinds(step):
    return [
        tf.train.GradientDescentOptimizer(0.1),
        tf.train.MomentumOptimizer(0.1, 0.9),
        tf.train.AdagradOptimizer(0.1),
        tf.train.AdamOptimizer(0.1),
        tf.train.RMSPropOptimizer(0.1),
        tf.train.RMSPropOptimizer(0.1, centered=True),
        tf.train.AdadeltaOptimizer(0.1),
        tf.train.FtrlOptimizer(0.1),
        tf.train.FtrlOptimizer(0.1, l2_shrinkage_regularization_strength=0.5),
        tf.train.ProximalGradientDescentOptimizer(0.1),
        tf.train.ProximalAdagradOptimizer(0.1),
        tf.train.AdagradDAOptimizer(0.1, step),
    ]


def dense_and_rows(table, bias, step):
    """All optimizers on one variable as a whole and another one by rows."""
    rows = tf.gather(table, tf.placeholder(tf.int32, [2], name="ids"), name="rows")
    loss = tf.reduce_sum(rows * bias, axis=[0, 1], name="loss")
    for optimizer in all_kinds(step):
        # Of doubles only those that cast in ways of their own; some do not cast at all.
        is_double = table.dtype.base_dtype == tf.float64
        if is_double and optimizer.get_name() not in ("Adam", "AdagradDA"):
            continue
        optimizer.minimize(loss, global_step=step)


@case
def reference_kinds():
    table = tf.get_variable("table", [10, 4])
    bias = tf.get_variable("bias", [4], initializer=tf.zeros_initializer())
    step = tf.get_variable("step", [], tf.int64, tf.zeros_initializer(), trainable=False)
    dense_and_rows(table, bias, step)


@case
def resource_kinds():
    """Resource variables: their nodes, reads, all optimizers, initialization, a saver."""
    with tf.variable_scope("", use_resource=True):
        table = tf.get_variable("table", [10, 4], initializer=tf.ones_initializer())
        bias = tf.get_variable("bias", [4], initializer=tf.zeros_initializer())
        step = tf.get_variable("step", [], tf.int64, tf.zeros_initializer(), trainable=False)
    dense_and_rows(table, bias, step)
    tf.global_variables_initializer()
    tf.train.Saver([table, bias])


@case
def resource_doubles():
    """Numbers have to be cast."""
    with tf.variable_scope("", use_resource=True):
        table = tf.get_variable("table", [10, 4], tf.float64, tf.ones_initializer())
        bias = tf.get_variable("bias", [4], tf.float64, tf.zeros_initializer())
        step = tf.get_variable("step", [], tf.int64, tf.zeros_initializer(), trainable=False)
    dense_and_rows(table, bias, step)


@case
def second_order():
    """Several paths, then the gradient of the gradient, gated and colocated."""
    x = tf.placeholder(tf.float32, [], name="x")
    z = x * x + tf.sin(x) * x + tf.exp(x)
    first = tf.gradients(z, x)[0]
    tf.gradients(first, x, name="again", gate_gradients=True, colocate_gradients_with_ops=True)


@case
def unused_outputs():
    """An output without a gradient counts as zero; gradients can start and stop anywhere."""
    x = tf.placeholder(tf.float32, [3], name="x")
    a, b, c = tf.split(x, 3)
    tf.gradients([a, c], [x], grad_ys=[tf.ones([1], name="given"), None])
    tf.gradients(a * b, [x, b], stop_gradients=[b])


@case
def scopes_and_devices():
    """Name scopes, variable scopes, control dependencies and two devices."""
    outside = tf.no_op("outside")
    with tf.device("/cpu:0"):
        a = tf.get_variable("a", [2], initializer=tf.zeros_initializer())
    with tf.device("/cpu:1"):
        b = tf.get_variable("b", [2], initializer=tf.zeros_initializer())
    with tf.control_dependencies([outside]), tf.name_scope("names"), tf.variable_scope("vars"):
        c = tf.get_variable("c", [2], initializer=tf.zeros_initializer())
        loss = tf.reduce_sum(a * b * c, axis=[0], name="loss")
        tf.train.AdamOptimizer(0.1).minimize(loss)
        tf.train.AdamOptimizer(0.1).minimize(loss)
    tf.global_variables_initializer()


@case
def large_initializers():
    """Fills of 1000 elements or more are computed."""
    tf.set_random_seed(11)
    tf.get_variable("zeros", [40, 40], tf.float64, tf.zeros_initializer())
    tf.get_variable("ones", [1000], initializer=tf.ones_initializer())
    tf.get_variable("small", [999], tf.int32, tf.zeros_initializer())
    tf.get_variable("constant", [2, 2], tf.int32, tf.constant_initializer(3))
    tf.get_variable("uniform", [3], tf.float64, tf.random_uniform_initializer(-1, 2))
    tf.get_variable("normal", [3], initializer=tf.random_normal_initializer(1, 2, seed=5))
    tf.get_variable("glorot_normal", [3, 4], initializer=tf.glorot_normal_initializer())
    tf.get_variable("glorot_uniform", [3, 4, 5])
    tf.get_variable("flag", [2], tf.bool)


@case
def learning_rates():
    """The learning rates that are a formula of the step, without conditionals."""
    train = tf.train
    step = tf.get_variable("step", [], tf.int64, tf.zeros_initializer(), trainable=False)
    train.exponential_decay(0.1, step, 100, 0.9)
    train.exponential_decay(0.1, step, 100, 0.9, staircase=True, name="stairs")
    train.natural_exp_decay(0.1, step, 100, 0.9)
    train.natural_exp_decay(0.1, step, 100, 0.9, staircase=True)
    train.inverse_time_decay(0.1, step, 100, 0.9)
    train.inverse_time_decay(0.1, step, 100, 0.9, staircase=True)
    train.polynomial_decay(0.1, step, 100)
    train.cosine_decay(0.1, step, 100)
    train.cosine_decay(0.1, step, 100, alpha=0.25)
    train.linear_cosine_decay(0.1, step, 100)


@case
def clipping():
    """Gradients kept within bounds, dense and by rows."""
    x = tf.placeholder(tf.float32, [3, 2], "x")
    y = tf.placeholder(tf.float64, None, "y")
    rows = tf.IndexedSlices(tf.placeholder(tf.float32, [2, 2], "values"),
                            tf.placeholder(tf.int32, [2], "indices"),
                            tf.constant([3, 2], name="of"))
    tf.clip_by_value(x, -1.0, 2.0)
    tf.clip_by_value(rows, -1.0, 2.0, name="between")
    tf.clip_by_norm(x, 5.0)
    tf.clip_by_norm(y, 5.0)
    tf.clip_by_norm(rows, 5.0, name="short")
    tf.global_norm([x, None, rows])
    tf.clip_by_global_norm([x, None, rows], 5.0)
    tf.clip_by_average_norm(x, 5.0)


def main():
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "training_graphs")
    os.makedirs(folder, exist_ok=True)
    for name, function in CASES.items():
        with tf.Graph().as_default() as graph:
            function()
            lines = sorted(line(op) for op in graph.get_operations())
        with open(os.path.join(folder, name + ".tsv"), "w") as file:
            file.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
