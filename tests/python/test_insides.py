"""What programs import from TensorFlow's insides and examples."""

import gzip
import struct

import numpy as np
import pytest
import rheos.v1 as tf
from rheos.v1._insides import (
    file_io,
    freeze_graph,
    generated_ops,
    inspect_checkpoint,
    layers_utils,
    tensor_util,
)
from rheos.v1.examples.tutorials.mnist import input_data


def test_ops_are_functions_with_arguments_by_position(sess):
    x = tf.constant([[1.0, -2.0]])
    gradient = generated_ops.relu_grad(x, tf.nn.relu(x), name="g")
    assert gradient.op.type == "ReluGrad" and gradient.op.name == "g"
    assert sess.run(generated_ops._relu_grad(x, features=x)).tolist() == [[1.0, 0.0]]
    filters = tf.ones([1, 1, 2, 1])
    made = generated_ops.conv2d(tf.ones([1, 3, 3, 2]), filters, [1, 1, 1, 1], padding="SAME")
    assert made.shape == (1, 3, 3, 1)
    with pytest.raises(TypeError, match="several values"):
        generated_ops.relu_grad(x, x, gradients=x)
    with pytest.raises(AttributeError, match="no_such_op"):
        generated_ops.no_such_op


def test_every_op_has_one_name():
    types = generated_ops._types()
    assert len(types) == len(dir(tf.raw_ops))
    assert types["conv2d_backprop_input"] == "Conv2DBackpropInput"
    assert types["sparse_softmax_cross_entropy_with_logits"]


@pytest.mark.parametrize("use_resource", [False, True])
@pytest.mark.parametrize("whole", [False, True])
def test_a_graph_is_frozen_from_files(tmp_path, use_resource, whole):
    tf.set_random_seed(1)
    v = tf.get_variable("v", [2, 2], use_resource=use_resource)
    tf.matmul(tf.constant([[1.0, 2.0]]), v, name="out")
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        expected = session.run("out:0")
        path = tf.train.Saver().save(session, str(tmp_path / "model"))
        tf.train.write_graph(session.graph_def, str(tmp_path), "graph.pbtxt")
    graph = "" if whole else str(tmp_path / "graph.pbtxt")
    meta = path + ".meta" if whole else ""
    frozen = freeze_graph.freeze_graph(
        graph, "", whole, path, "out", "save/restore_all", "save/Const:0",
        str(tmp_path / "frozen.pb"), True, "", input_meta_graph=meta,
    )  # fmt: skip
    read = tf.GraphDef.FromString((tmp_path / "frozen.pb").read_bytes())
    assert read == frozen
    with tf.Graph().as_default(), tf.Session() as session:
        (out,) = tf.import_graph_def(read, return_elements=["out:0"])
        assert session.run(out).tolist() == expected.tolist()


def test_freezing_needs_a_checkpoint(tmp_path):
    tf.train.write_graph(tf.get_default_graph(), str(tmp_path), "graph.pbtxt")
    with pytest.raises(ValueError, match="doesn't exist"):
        freeze_graph.freeze_graph(
            str(tmp_path / "graph.pbtxt"), "", False, str(tmp_path / "none"), "out", "", "", "",
            True, "",
        )  # fmt: skip


def test_a_saver_takes_tensors_of_variables(tmp_path):
    tf.get_variable("plain", initializer=[1.0, 2.0])
    tf.get_variable("handle", initializer=[3], use_resource=True)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        path = tf.train.Saver().save(session, str(tmp_path / "model"))
        definition = session.graph_def
    with tf.Graph().as_default() as graph, tf.Session() as session:
        tf.import_graph_def(definition, name="")
        tensors = {n: graph.get_tensor_by_name(n + ":0") for n in ("plain", "handle")}
        saver = tf.train.Saver(tensors)
        saver.restore(session, path)
        assert session.run("plain:0").tolist() == [1.0, 2.0]
        again = saver.save(session, str(tmp_path / "again"))
        assert tf.train.load_variable(again, "handle").tolist() == [3]


def test_what_is_in_a_checkpoint_is_printed(tmp_path, capsys):
    tf.get_variable("b", initializer=[1.0, 2.0])
    tf.get_variable("a", initializer=[[3]])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        path = tf.train.Saver().save(session, str(tmp_path / "model"))
    show = inspect_checkpoint.print_tensors_in_checkpoint_file
    show(path, None, True)
    assert capsys.readouterr().out == (
        "tensor_name:  a\n[[3]]\ntensor_name:  b\n[1. 2.]\n# Total number of params: 3\n"
    )
    show(path, "b", False, count_exclude_pattern="a")
    assert capsys.readouterr().out == "tensor_name:  b\n[1. 2.]\n# Total number of params: 2\n"
    show(path, None, False)
    assert "b (DT_FLOAT) [2]" in capsys.readouterr().out


def test_the_variables_of_an_optimizer_may_be_a_view_of_a_dict(sess):
    weights = {"a": tf.Variable(1.0), "b": tf.Variable(2.0)}
    loss = weights["a"] * weights["b"]
    step = tf.train.GradientDescentOptimizer(0.5).minimize(loss, var_list=weights.values())
    sess.run(tf.global_variables_initializer())
    sess.run(step)
    assert sess.run(list(weights.values())) == [0.0, 1.5]
    assert tf.nest.flatten({"x": 1}.items()) == ["x", 1]


def test_sizes_of_convolutions():
    assert layers_utils.normalize_tuple(2, 3, "k") == (2, 2, 2)
    with pytest.raises(ValueError, match="tuple of 2 integers"):
        layers_utils.normalize_tuple([1, 2, 3], 2, "k")
    assert layers_utils.conv_output_length(7, 3, "valid", 2) == 3
    assert layers_utils.deconv_output_length(3, 3, "valid", 2) == 7
    assert layers_utils.convert_data_format("channels_first", 4) == "NCHW"


def test_values_that_a_graph_tells():
    known = tensor_util.constant_value
    assert known(tf.constant(3)) == 3 and known(tf.range(1, 7, 2)).tolist() == [1, 3, 5]
    assert known(tf.range(0.0, 1.0, 0.5)).dtype == np.float32
    assert known(tf.stack([1, 2])).tolist() == [1, 2] and known(tf.stack([[1], [2]], 1)) is None
    assert known(tf.identity(tf.constant(3))) is None and known(tf.Variable(1.0)) is None
    shape = tf.shape(tf.placeholder(tf.float32, [2, None, 4]))
    part = tf.ones(tf.concat([shape[:-1], [5]], 0))
    assert part.shape.as_list() == [2, None, 5]
    table = tf.sparse.reset_shape(tf.sparse_placeholder(tf.float32, [2, None, 4]))
    assert table.shape.ndims == 3


def test_files_by_other_names(tmp_path):
    path = str(tmp_path / "a")
    file_io.atomic_write_string_to_file(path, b"\x00text")
    assert file_io.read_file_to_string(path, binary_mode=True) == b"\x00text"
    assert file_io.list_directory(str(tmp_path)) == ["a"]


def write_digits(folder, counts=(("train", 60), ("t10k", 10))):
    random = np.random.RandomState(0)
    for name, n in counts:
        images = random.randint(0, 256, (n, 4, 5)).astype(np.uint8)
        labels = random.randint(0, 10, n).astype(np.uint8)
        with gzip.open(folder / f"{name}-images-idx3-ubyte.gz", "wb") as file:
            file.write(struct.pack(">4I", 2051, n, 4, 5) + images.tobytes())
        with gzip.open(folder / f"{name}-labels-idx1-ubyte.gz", "wb") as file:
            file.write(struct.pack(">2I", 2049, n) + labels.tobytes())


def test_digits_come_in_batches(tmp_path):
    write_digits(tmp_path)
    tf.set_random_seed(4)
    digits = input_data.read_data_sets(str(tmp_path), one_hot=True, validation_size=20)
    assert digits.train.num_examples == 40 and digits.validation.images.shape == (20, 20)
    assert digits.test.labels.shape == (10, 10) and digits.test.images.dtype == np.float32
    seen = [digits.train.next_batch(17)[0] for _ in range(5)]
    assert digits.train.epochs_completed == 2
    whole = np.concatenate(seen)[:40]
    assert sorted(whole.sum(1)) == sorted(digits.train.images.sum(1))
    again = input_data.read_data_sets(str(tmp_path), one_hot=True, validation_size=20)
    assert (again.train.next_batch(17)[0] == seen[0]).all()  # the graph's seed shuffles


def test_digits_as_they_are(tmp_path):
    write_digits(tmp_path)
    digits = input_data.read_data_sets(
        str(tmp_path), reshape=False, validation_size=0, dtype=tf.uint8, seed=3
    )
    images, labels = digits.train.next_batch(5, shuffle=False)
    assert images.shape == (5, 4, 5, 1) and images.dtype == np.uint8 and labels.dtype == np.uint8
    with pytest.raises(ValueError, match="between 0 and 60"):
        input_data.read_data_sets(str(tmp_path))
    fakes = input_data.read_data_sets("", fake_data=True, one_hot=True)
    assert fakes.train.next_batch(2, fake_data=True)[1] == [[1] + [0] * 9] * 2


def test_files_that_are_not_digits(tmp_path):
    write_digits(tmp_path)
    with gzip.open(tmp_path / "train-images-idx3-ubyte.gz", "wb") as file:
        file.write(b"\0" * 40)
    with pytest.raises(ValueError, match="Invalid magic number 0"):
        input_data.read_data_sets(str(tmp_path))
    with gzip.open(tmp_path / "train-images-idx3-ubyte.gz", "wb") as file:
        file.write(struct.pack(">4I", 2051, 60, 4000, 5))
    with pytest.raises(ValueError, match="ends after 0 of 1200000"):
        input_data.read_data_sets(str(tmp_path))


def test_digits_that_can_not_be_fetched(tmp_path):
    source = (tmp_path / "nowhere").as_uri() + "/"
    with pytest.raises(OSError, match="could not be fetched"):
        input_data.read_data_sets(str(tmp_path / "digits"), source_url=source)
    source = (tmp_path / "here").as_uri() + "/"
    (tmp_path / "here").mkdir()
    write_digits(tmp_path / "here")
    digits = input_data.read_data_sets(str(tmp_path / "d"), source_url=source, validation_size=0)
    assert digits.train.num_examples == 60


def test_names_from_before_and_at_two_places(sess):
    assert sess.run(tf.concat_v2([[1], [2]], axis=0)).tolist() == [1, 2]
    assert tf.saved_model.main_op.main_op is tf.saved_model.main_op
    with_restore = tf.saved_model.main_op_with_restore
    assert tf.saved_model.main_op.main_op_with_restore is with_restore
