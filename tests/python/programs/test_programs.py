"""Programs as people wrote them for TensorFlow 1; what they print was recorded from it."""

import enum

import numpy as np
import pytest
import rheos.v1 as tf


def names():
    return [op.name for op in tf.get_default_graph().get_operations()]


def test_a_variable_fetched_with_its_update_has_the_new_value(sess):
    x = tf.Variable(1.0)
    w = tf.Variable([1.0, 2.0])
    step = tf.Variable(0, trainable=False)
    train = tf.train.GradientDescentOptimizer(0.25).minimize(tf.reduce_sum(w * w), global_step=step)
    added = tf.assign_add(x, 1.0)
    sess.run(tf.global_variables_initializer())
    assert sess.run([x, added]) == [2, 2]
    assert sess.run([added, x]) == [3, 3]
    _, at, values = sess.run([train, step, w])
    assert at == 1
    np.testing.assert_array_equal(values, [0.5, 1.0])
    assert sess.run([x + 0, added]) == [3, 4]  # what is computed from it waits for no update


def test_an_open_end_of_strided_slice_is_known():
    t = tf.zeros([3, 4, 5])
    part = tf.strided_slice(t, [1, 1], [2, 3])
    assert part.name == "StridedSlice:0"
    assert part.shape.as_list() == [1, 2, 5]


def test_sums_over_variables_and_lists_have_known_gradients(sess):
    v = tf.get_variable("v", [2, 3], initializer=tf.ones_initializer())
    tf.reduce_sum(v)
    assert names()[-5:] == ["Rank", "range/start", "range/delta", "range", "Sum"]
    mean = tf.reduce_mean([v, v * 2])
    grad = tf.gradients(mean, v)[0]
    assert grad.shape.as_list() == [2, 3]
    sess.run(v.initializer)
    np.testing.assert_allclose(sess.run(grad), np.full([2, 3], 0.25))


def test_names_of_learning_rates():
    step = tf.Variable(0, trainable=False)
    tf.train.natural_exp_decay(0.1, step, 10, 0.5)
    assert names()[4:7] == ["Neg/x", "Neg", "Exp"]
    assert names()[-1] == "ExponentialDecay"
    tf.train.inverse_time_decay(0.1, step, 10, 0.5)
    assert names()[-5:] == [
        "InverseTimeDecay/Const",
        "InverseTimeDecay/Cast_3",
        "InverseTimeDecay/Mul",
        "InverseTimeDecay/Add",
        "InverseTimeDecay",
    ]
    tf.train.polynomial_decay(0.1, step, 7, 0.01)
    assert "PolynomialDecay/initial_learning_rate" in names()
    assert "PolynomialDecay/Minimum/y" in names()


def test_constants_of_odd_values(sess):
    assert sess.run(tf.constant(7.0, shape=[0])).shape == (0,)
    assert sess.run(tf.constant(range(3))).tolist() == [0, 1, 2]
    with pytest.raises(TypeError, match="object of type <class 'dict'> to Tensor. Contents: {}"):
        tf.constant({})


def test_reuse_has_to_be_one_of_four():
    with pytest.raises(ValueError, match="The reuse parameter must be True or False or None"):
        tf.variable_scope("x", reuse="yes")


def test_test_cases_may_leave_out_the_setup_of_the_base():
    class Case(tf.test.TestCase):
        def setUp(self):
            self.x = 3

        def runTest(self):
            with self.test_session():
                self.assertEqual(tf.constant(3).eval(), self.x)

    result = Case().defaultTestResult()
    Case()(result)
    assert not result.errors and not result.failures


def test_dimensions_are_stacked_by_an_operation():
    x = tf.placeholder(tf.float32, [1, 4, 5, 3], name="x")
    batch, rows, _, _ = x.shape
    shape = tf.stack([batch, 8, rows], name="sizes")
    assert names() == ["x", "sizes", *(f"sizes_1/values_{i}" for i in range(3)), "sizes_1"]
    assert shape.op.type == "Pack" and tf.zeros(shape).shape == (1, 8, 4)
    assert tf.stack([1, 8, 4], name="constant").op.type == "Const"


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


def test_flags_of_several_values_and_of_enums():
    define, flags = tf.app.flags, tf.app.flags.FlagValues()
    define.DEFINE_enum_class("first", Colour.RED, Colour, "", flag_values=flags)
    define.DEFINE_enum_class("second", "BLUE", Colour, "", flag_values=flags)
    define.DEFINE_multi_string("text", "x", "", flag_values=flags)
    define.DEFINE_multi_integer("whole", [1, 2], "", lower_bound=1, flag_values=flags)
    define.DEFINE_multi_float("number", None, "", flag_values=flags)
    define.DEFINE_multi_enum("some", ["a"], ["a", "b"], "", flag_values=flags)
    flags(["program"])
    assert flags.flag_values_dict() == {
        "first": Colour.RED,
        "second": Colour.BLUE,
        "text": ["x"],
        "whole": [1, 2],
        "number": None,
        "some": ["a"],
    }
    flags(["program", "--first=BLUE", "--text", "u", "--text=v", "--whole=7", "--number=2"])
    assert (flags.first, flags.text, flags.whole) == (Colour.BLUE, ["u", "v"], [7])
    assert flags.number == [2.0]
    for bad in ("--first=GREEN", "--some=c", "--whole=0", "--number=x"):
        with pytest.raises(tf.app.flags.IllegalFlagValueError):
            flags(["program", bad])


def test_flags_can_be_parsed_again():
    flags = tf.app.flags.FlagValues()
    tf.app.flags.DEFINE_integer("n", 3, "a number", flag_values=flags)
    assert flags(["program", "--n=4"]) == ["program"] and flags.n == 4
    flags.unparse_flags()
    assert not flags.is_parsed()
    flags(["program", "--n=5"])
    assert flags.n == 5


def test_default_seeds_count_the_nodes_of_gradients(sess):
    tf.set_random_seed(1)
    x = tf.placeholder(tf.float32, [4, 3])
    w = tf.get_variable("w", [3, 2])
    b = tf.get_variable("b", [2], initializer=tf.zeros_initializer())
    tf.gradients(tf.reduce_mean([tf.matmul(x, w) + b, tf.matmul(x, 2 * w) + b]), [w, b])
    pairs = [n for n in names() if n.endswith("BroadcastGradientArgs")]
    assert pairs == [
        "gradients/add_grad/BroadcastGradientArgs",
        "gradients/mul_grad/BroadcastGradientArgs",
    ]
    assert tf.random_normal([1]).op.inputs[0].op.inputs[0].op.get_attr("seed2") == 67


def test_a_graph_def_can_be_read():
    tf.placeholder(tf.float32, [None, 2], name="x")
    graph_def = tf.get_default_graph().as_graph_def()
    tf.constant([0.5, 1.0], name="later")
    assert [n.name for n in graph_def.node] == ["x"]
    assert graph_def.versions.producer == 134
    assert str(graph_def).startswith('node {\n  name: "x"\n  op: "Placeholder"\n  attr {\n')
    other = type(graph_def)()
    other.ParseFromString(tf.get_default_graph().as_graph_def().SerializeToString())
    assert [n.op for n in other.node] == ["Placeholder", "Const"]


@pytest.mark.parametrize(
    "value, line",
    [
        (2.5, "float_val: 2.5"),
        (7, "int_val: 7"),
        (0.1, "float_val: 0.10000000149011612"),
        ([1.0, 2.0], r'tensor_content: "\000\000\200?\000\000\000@"'),
        (np.float16(1), "half_val: 15360"),
        ('q"\n', r'string_val: "q\"\n"'),
        (True, "bool_val: true"),
        (np.int64(3), "int64_val: 3"),
    ],
)
def test_the_text_of_a_constant_holds_its_value(debians_protobuf, value, line):
    text = str(tf.constant(value).op.node_def)
    assert "      " + line + "\n" in text


def test_gradients_can_be_checked_by_differences(sess):
    x = tf.Variable([1.0, 2.0])
    sess.run(x.initializer)
    start = np.array([1.0, 2.0], np.float32)
    analytic, numeric = tf.test.compute_gradient(x, [2], x * x, [2], x_init_value=start)
    np.testing.assert_array_equal(analytic, [[2, 0], [0, 4]])
    np.testing.assert_allclose(numeric, analytic, atol=1e-2)
    assert tf.test.compute_gradient_error(x, [2], x * x, [2], x_init_value=start) < 1e-2


def test_flags_tell_what_they_take():
    flags = tf.app.flags.FlagValues()
    tf.app.flags.DEFINE_integer("n", 3, "a number", lower_bound=0, flag_values=flags)
    with pytest.raises(Exception, match="flag --n=-4: -4 is not a non-negative integer"):
        flags(["program", "--n=-4"])
    with pytest.raises(Exception, match="invalid literal for int.. with base 10: 'x'"):
        flags(["program", "--n=x"])
    flags(["program", "--n=0x10"])
    assert flags.n == 16


def test_default_seeds_count_the_nodes_of_sums(sess):
    x = tf.placeholder(tf.float32, [3, 4])
    tf.gradients(tf.nn.l2_normalize(x, 1), x)
    left = [n for n in names() if n.startswith("gradients/l2_normalize/Sum_grad/")]
    assert left[:3] == [
        "gradients/l2_normalize/Sum_grad/Cast/x",
        "gradients/l2_normalize/Sum_grad/Cast_1/x",
        "gradients/l2_normalize/Sum_grad/Size",
    ]
    assert len(left) == 21
    before = len(names())
    tf.gradients(tf.reduce_sum(x, 1), x)  # of the same shape and axes
    assert len(names()) - before == 9


def test_slots_are_named_by_the_variable_scope_around():
    w = tf.get_variable("net/w", [2])
    loss = tf.reduce_sum(w * w)
    with tf.variable_scope("train"):
        optimizer = tf.train.AdamOptimizer()
        optimizer.minimize(loss)
        with tf.variable_scope("inner"):
            tf.train.MomentumOptimizer(0.1, 0.9).minimize(loss)
    assert optimizer.get_slot(w, "m").name == "train/net/w/Adam:0"
    assert [v.name for v in tf.global_variables()] == [
        "net/w:0",
        "train/beta1_power:0",
        "train/beta2_power:0",
        "train/net/w/Adam:0",
        "train/net/w/Adam_1:0",
        "train/inner/net/w/Momentum:0",
    ]


def test_div_no_nan_has_the_name_of_its_function(sess):
    quotient = tf.div_no_nan([1.0, 2.0], [0.0, 4.0])
    assert quotient.name == "div_no_nan:0"
    np.testing.assert_array_equal(sess.run(quotient), [0, 0.5])


def test_gradients_are_checked_for_lists_and_complex_numbers():
    with tf.Graph().as_default(), tf.Session():
        a, b = tf.ones([2, 3]), tf.ones([3, 1])
        error = tf.test.compute_gradient_error([a, b], [[2, 3], [3, 1]], a @ b, [2, 1])
        assert error < 1e-2
        z = tf.constant([1 + 2j, -1j], tf.complex128)
        (analytic, numeric) = tf.test.compute_gradient(z, [2], z * z, [2], delta=1e-5)
        assert analytic.shape == (4, 4)
        np.testing.assert_allclose(analytic, numeric, atol=1e-6)
        table = tf.ones([3, 2])
        rows = tf.gather(table, [2, 0, 2])
        assert tf.test.compute_gradient_error(table, [3, 2], rows, [3, 2]) < 1e-2
