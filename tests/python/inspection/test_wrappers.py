"""Sessions and hooks that dump runs."""

import threading

import pytest
import rheos.v1 as tf
from rheos.v1._insides import debug as tf_debug


@pytest.fixture
def doubled():
    """(placeholder, tensor)"""
    x = tf.placeholder(tf.float32, [2], name="x")
    return x, tf.multiply(x, 2.0, name="doubled")


def _folders(root):
    return sorted(root.iterdir(), key=lambda folder: int(folder.name.rpartition("_")[2]))


def test_each_run_has_a_folder(doubled, tmp_path):
    x, y = doubled
    with tf_debug.DumpingDebugWrapperSession(tf.Session(), str(tmp_path)) as sess:
        assert sess.run(y, {x: [1, 2]}).tolist() == [2, 4]
        assert y.eval({x: [3, 4]}).tolist() == [6, 8]
        assert sess.make_callable(y, [x])([5, 6]).tolist() == [10, 12]
        assert sess.run_call_count == 3 and sess.graph is y.graph
    dumps = [tf_debug.DebugDumpDir(str(folder)) for folder in _folders(tmp_path)]
    found = [d.get_tensors("doubled", 0, "DebugIdentity")[0].tolist() for d in dumps]
    assert found == [[2, 4], [6, 8], [10, 12]]
    assert "doubled:0" in dumps[0].run_fetches_info and "x:0" in dumps[0].run_feed_keys_info


@pytest.mark.parametrize(
    "told",
    [
        lambda: tf_debug.WatchOptions(["DebugNanCount"], node_name_regex_whitelist="doubled$"),
        lambda: (["DebugNanCount"], "doubled$"),
    ],
)
def test_a_function_says_what_is_watched(doubled, tmp_path, told):
    x, y = doubled
    asked = []

    def watch_fn(fetches, feeds):
        asked.append((fetches, feeds))
        return told()

    sess = tf_debug.DumpingDebugWrapperSession(tf.Session(), str(tmp_path), watch_fn)
    feeds = {x: [1, 2]}
    sess.run(y, feeds)
    assert asked == [(y, feeds)]
    (folder,) = _folders(tmp_path)
    dump = tf_debug.DebugDumpDir(str(folder))
    assert [d.watch_key for d in dump.dumped_tensor_data] == ["doubled:0:DebugNanCount"]


def test_threads_that_are_left_out(doubled, tmp_path):
    x, y = doubled
    sess = tf_debug.DumpingDebugWrapperSession(
        tf.Session(), str(tmp_path), thread_name_filter="Main"
    )
    thread = threading.Thread(target=lambda: sess.run(y, {x: [1, 2]}), name="other")
    thread.start()
    thread.join()
    assert _folders(tmp_path) == []
    sess.run(y, {x: [1, 2]})
    assert len(_folders(tmp_path)) == 1


def test_monitored_sessions_are_dumped_by_a_hook(doubled, tmp_path):
    x, y = doubled
    hook = tf_debug.DumpingDebugHook(str(tmp_path))
    with tf.train.MonitoredSession(hooks=[hook]) as sess:
        sess.run(y, {x: [1, 2]})
        sess.run(y, {x: [3, 4]})
    found = [
        tf_debug.DebugDumpDir(str(f)).get_tensors("doubled", 0, "DebugIdentity")[0].tolist()
        for f in _folders(tmp_path)
    ]
    assert found == [[2, 4], [6, 8]]


def test_roots_that_are_none(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ValueError, match="non-empty"):
        tf_debug.DumpingDebugWrapperSession(tf.Session(), str(tmp_path))
    with pytest.raises(ValueError, match="points to a file"):
        tf_debug.DumpingDebugWrapperSession(tf.Session(), str(tmp_path / "file"))
    with pytest.raises(TypeError, match="not callable"):
        tf_debug.DumpingDebugWrapperSession(tf.Session(), str(tmp_path / "new"), watch_fn=3)
    with pytest.raises(TypeError, match=r"tf\.Session"):
        tf_debug.DumpingDebugWrapperSession(3, str(tmp_path / "new"))
