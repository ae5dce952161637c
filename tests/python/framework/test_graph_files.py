"""Graphs as files, with large constants in files of their own."""

import os

import numpy as np
import pytest
import rheos
import rheos.v1 as tf


def test_large_constants_lie_beside_the_graph(tmp_path):
    path = tmp_path / "model.pb"
    x = tf.placeholder(tf.float32, [None, 100], name="x")
    w = tf.constant(np.arange(300, dtype=np.float32).reshape(100, 3), name="w")
    tf.matmul(x, w + 0.5, name="y")
    rheos.write_graph(path, side_file_bytes=1000)
    assert len(os.listdir(tmp_path / "model.pb.data")) == 1
    assert path.stat().st_size < 1000
    feeds = {"x:0": np.ones([1, 100], np.float32)}
    with tf.Session() as session:
        expected = session.run("y:0", feeds)
    with tf.Graph().as_default() as graph, tf.Session() as session:
        [y] = rheos.read_graph(path, return_elements=["y:0"], name="in")
        assert graph.get_operation_by_name("in/w").type == "ImmutableConst"
        assert graph.get_tensor_by_name("in/w:0").shape.as_list() == [100, 3]
        for _ in range(2):
            assert session.run(y, {"in/x:0": feeds["x:0"]}).tolist() == expected.tolist()


def test_a_graph_is_written_whole_by_default(tmp_path):
    tf.constant(np.zeros(1000), name="c")
    rheos.write_graph(tmp_path / "g.pb", tf.get_default_graph())
    assert os.listdir(tmp_path) == ["g.pb"]
    with tf.Graph().as_default(), tf.Session() as session:
        rheos.read_graph(tmp_path / "g.pb")
        assert session.run("c:0").shape == (1000,)


def test_what_cannot_be_read_is_named(tmp_path):
    with pytest.raises(tf.errors.NotFoundError, match="none.pb"):
        rheos.read_graph(tmp_path / "none.pb")
    (tmp_path / "bad.pb").write_bytes(b"ImmutableConst")
    with pytest.raises(tf.errors.DataLossError):
        rheos.read_graph(tmp_path / "bad.pb")
