"""Models that version 1 saved, loaded by tf.saved_model.load(): their signatures as functions."""

import numpy as np
import pytest
import rheos.v1 as v1
import rheos.v2 as tf


def save(folder, build, checkpoint=None):
    """Saves what `build` gives, (inputs, outputs), and loads it."""
    with v1.Graph().as_default(), v1.Session() as session:
        inputs, outputs = build()
        session.run(v1.global_variables_initializer())
        v1.saved_model.simple_save(session, str(folder), inputs, outputs)
        if checkpoint is not None:
            session.run([v.assign_add(v + 1.0) for v in v1.global_variables()])
            v1.train.Saver().save(session, str(checkpoint))
    return tf.saved_model.load(str(folder))


def sparse():
    x = v1.sparse_placeholder(tf.int64, [2, 2])
    return {"start": x}, {"output": v1.SparseTensor(x.indices, x.values, x.dense_shape) * 2}


def ragged():
    x = v1.ragged.placeholder(tf.float32, 1, [])
    return {"x": x}, {"y": x * 2}


def two():
    a = v1.placeholder(tf.float32, [None], name="in_b")
    b = v1.placeholder(tf.float32, [None], name="in_a")
    return {"a": a, "b": b}, {"output": a * v1.Variable(21.0, use_resource=True) - b}


def in_parts():
    v = v1.get_variable(
        "a", [6], initializer=v1.constant_initializer(13),
        partitioner=v1.fixed_size_partitioner(2), use_resource=True,
    )  # fmt: skip
    x = v1.placeholder(tf.float32, [])
    return {"x": x}, {"y": x * v}


def test_parts_of_a_sparse_input_are_arguments(tmp_path):
    f = save(tmp_path / "m", sparse).signatures["serving_default"]
    names = ["start_indices", "start_values", "start_dense_shape"]
    assert list(f.structured_input_signature[1]) == names
    values = [[[0, 0], [0, 1], [1, 1]], [42, 43, 44], [2, 2]]
    given = {name: tf.constant(value, tf.int64) for name, value in zip(names, values)}
    found = f(**given)["output"]
    assert isinstance(found, tf.SparseTensor)
    assert found.values.numpy().tolist() == [84, 86, 88]
    assert f(*given.values())["output"].values.numpy().tolist() == [84, 86, 88]


def test_components_of_a_ragged_input_are_arguments(tmp_path):
    f = save(tmp_path / "m", ragged).signatures["serving_default"]
    x = tf.ragged.constant([[10.0, 20.0], [30.0]])
    found = f(x_component_0=x.values, x_component_1=x.row_splits)["y"]
    assert found.to_list() == [[20.0, 40.0], [60.0]]


def test_a_ragged_tensor_has_its_place_in_a_signature():
    with v1.Graph().as_default():
        x = v1.ragged.placeholder(tf.float32, 1, [])
        info = v1.saved_model.build_tensor_info(x)
        assert len(info.composite_tensor.components) == 2
        again = v1.saved_model.get_tensor_from_tensor_info(info)
        assert again.flat_values is x.flat_values or again.flat_values.name == x.flat_values.name


def test_inputs_are_given_by_position_and_by_name(tmp_path):
    f = save(tmp_path / "m", two).signatures["serving_default"]
    a, b = tf.constant([2.0]), tf.constant([3.0])
    assert [i.name for i in f.inputs[:2]] == ["in_b:0", "in_a:0"]
    assert f(a, b)["output"].numpy() == f(b=b, a=a)["output"].numpy() == [39.0]
    assert f(a[0], b[0])["output"].numpy() == 39.0  # the shape of a tensor is not looked at
    with pytest.raises(TypeError):
        f(a, b, a)
    with pytest.raises(TypeError):
        f(a)
    with pytest.raises(tf.errors.InvalidArgumentError, match="expected to be a float"):
        f(a, tf.constant([3]))


def test_a_model_saved_again_takes_names_alone(tmp_path):
    model = save(tmp_path / "m", two)
    tf.saved_model.save(model, str(tmp_path / "again"), model.signatures)
    f = tf.saved_model.load(str(tmp_path / "again")).signatures["serving_default"]
    a, b = tf.constant([2.0]), tf.constant([3.0])
    assert f(b=b, a=a)["output"].numpy() == [39.0]
    with pytest.raises(TypeError, match="positional"):
        f(a, b)


def test_variables_are_restored_from_a_checkpoint_of_version_1(tmp_path):
    model = save(tmp_path / "m", in_parts, tmp_path / "other")
    assert np.all([v.numpy() == 13.0 for v in model.variables])
    with pytest.raises(tf.errors.NotFoundError):
        model.restore(str(tmp_path / "absent"))
    model.restore(str(tmp_path / "other"))
    assert np.all([v.numpy() == 27.0 for v in model.variables])
    found = model.signatures["serving_default"](tf.constant(2.0))["y"]
    assert found.numpy().tolist() == [54.0] * 6


def test_a_checkpoint_without_a_variable_sets_none(tmp_path):
    model = save(tmp_path / "m", in_parts)
    save(tmp_path / "n", two, tmp_path / "other")
    with pytest.raises(tf.errors.NotFoundError, match="not found in checkpoint"):
        model.restore(str(tmp_path / "other"))
    assert np.all([v.numpy() == 13.0 for v in model.variables])


def test_a_model_of_several_graphs_is_refused_without_tags(tmp_path):
    with v1.Graph().as_default(), v1.Session() as session:
        builder = v1.saved_model.Builder(str(tmp_path / "m"))
        builder.add_meta_graph_and_variables(session, ["a"])
        builder.add_meta_graph(["b"])
        builder.save()
    with pytest.raises(ValueError, match=r"2 MetaGraphs, with the tags \[\['a'\], \['b'\]\]"):
        tf.saved_model.load(str(tmp_path / "m"))


def test_a_placeholder_that_nobody_feeds_is_named(tmp_path):
    def build():
        x = v1.placeholder(tf.float32, [], name="x")
        return {"other": v1.placeholder(tf.float32, [])}, {"v": x * 2.0}

    with pytest.raises(ValueError, match="'x', which is no input of the signature"):
        save(tmp_path / "m", build)
