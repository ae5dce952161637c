"""What a killed save leaves in a folder of checkpoints is swept by the next save."""

import fcntl
import os
import shutil

import pytest
import rheos.v1 as tf


@pytest.fixture
def save(tmp_path):
    with tf.Graph().as_default(), tf.Session() as session:
        tf.get_variable("v", initializer=1.0)
        session.run(tf.global_variables_initializer())
        saver = tf.train.Saver()
        yield lambda step: saver.save(session, str(tmp_path / "model"), global_step=step)


def leave(folder, *names):
    for name in names:
        (folder / name).write_bytes(b"unfinished")


def test_what_was_not_decided_goes(tmp_path, save):
    leave(tmp_path, "model-1.data-00000-of-00001.new", "model-1.index.tmp")
    leave(tmp_path, "other-1.data-00000-of-00001.new", "model-x.data-00000-of-00001.new")
    save(2)
    left = {name for name in os.listdir(tmp_path) if name.endswith((".new", ".tmp"))}
    assert left == {"other-1.data-00000-of-00001.new", "model-x.data-00000-of-00001.new"}
    assert (tmp_path / "model-2.index").exists()


def test_what_was_decided_is_brought_to_its_end(tmp_path, save):
    prefix = save(1)
    shutil.move(prefix + ".index", prefix + ".index.new")
    shutil.move(prefix + ".data-00000-of-00001", prefix + ".data-00000-of-00001.new")
    save(2)
    assert sorted(os.listdir(tmp_path))[1:3] == ["model-1.data-00000-of-00001", "model-1.index"]
    assert tf.train.load_checkpoint(prefix).get_tensor("v") == 1


def test_who_is_still_at_work_is_left_alone(tmp_path, save):
    leave(tmp_path, "model-1.data-00000-of-00001.new", "model-1.index.tmp")
    shards = "model-1_temp_" + "0123456789abcdef" * 2
    (tmp_path / shards).mkdir()
    leave(tmp_path, shards + "/part-00000-of-00002.data-00000-of-00001")
    with open(tmp_path / "model-1.data-00000-of-00001.new") as held:
        fcntl.flock(held, fcntl.LOCK_SH)
        save(2)
    names = os.listdir(tmp_path)
    assert {"model-1.data-00000-of-00001.new", "model-1.index.tmp", shards} <= set(names)
    save(3)
    names = os.listdir(tmp_path)
    assert "model-1.index.tmp" not in names and shards in names
