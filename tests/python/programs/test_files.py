"""Files and records in graphs, from Python."""

import numpy as np
import pytest
import rheos.v1 as tf


@pytest.fixture(autouse=True)
def fresh_graph():
    tf.reset_default_graph()


def run(fetches, feed_dict=None):
    with tf.Session() as session:
        return session.run(fetches, feed_dict)


def test_files__written_and_read(tmp_path):
    path = str(tmp_path / "a" / "b.bin")
    data = b"x\x00y\n\xff"
    content = tf.placeholder(tf.string, [])
    write, read = tf.write_file(path, content), tf.read_file(path)
    with tf.Session() as session:
        with pytest.raises(tf.errors.NotFoundError):
            session.run(read)
        session.run(write, {content: np.array(data, object)})
        assert session.run(read) == data
        session.run(write, {content: np.array(b"", object)})  # not kept from the step before
        assert session.run(read) == b""


@pytest.mark.parametrize("name", ["", "a\x00b", "."])
def test_files__bad_names(name):
    with pytest.raises(tf.errors.OpError):
        run(tf.read_file(tf.constant(name)))
    with pytest.raises(tf.errors.OpError):
        run(tf.write_file(tf.constant(name), "x"))


def test_files__matching(tmp_path):
    for name in ("b1.txt", "a2.txt", "c.bin", "d/e1.txt", "d/e2.txt", "[x].txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("")
    found = run(
        [
            tf.matching_files(f"{tmp_path}/*.txt"),
            tf.matching_files([f"{tmp_path}/d/e?.txt", f"{tmp_path}/c.bin"]),
            tf.matching_files(f"{tmp_path}/*/e[12].txt"),
            tf.matching_files(f"{tmp_path}/none*"),
            tf.matching_files(f"{tmp_path}/nowhere/x.txt"),
        ]
    )
    names = [[p.decode().replace(f"{tmp_path}/", "") for p in files] for files in found]
    assert names == [
        ["[x].txt", "a2.txt", "b1.txt"],
        ["c.bin", "d/e1.txt", "d/e2.txt"],
        ["d/e1.txt", "d/e2.txt"],
        [],
        [],
    ]


def test_records__csv():
    number, text = tf.decode_csv(["1,a", '2,"b,""c"'], [[0], [""]])
    assert number.dtype == tf.int32 and number.shape.as_list() == [2]
    assert [x.tolist() for x in run([number, text])] == [[1, 2], [b"a", b'b,"c']]
    with pytest.raises(tf.errors.InvalidArgumentError, match="Expect 2 fields but have 1"):
        run(tf.decode_csv(["1"], [[0], [0]]))
    with pytest.raises(ValueError, match="strictly increasing"):
        tf.decode_csv(["1"], [[0], [0]], select_cols=[1, 0])


def test_tensors__as_bytes():
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    assert np.array_equal(run(tf.io.parse_tensor(tf.io.serialize_tensor(x), tf.float32)), x)
    raw = tf.decode_raw([x.tobytes()], tf.float32)
    assert raw.shape.as_list() == [1, None]
    assert np.array_equal(run(raw), x.reshape(1, 6))


def test_files_that_match_are_kept_in_a_local_variable(tmp_path):
    for name in "a.txt", "b.txt", "c.bin":
        (tmp_path / name).write_text(name)
    with tf.Graph().as_default(), tf.Session() as session:
        files = tf.train.match_filenames_once(str(tmp_path / "*.txt"))
        assert tf.local_variables() == [files] and not tf.trainable_variables()
        session.run(tf.local_variables_initializer())
        (tmp_path / "late.txt").write_text("")
        assert [f.decode()[-5:] for f in session.run(files)] == ["a.txt", "b.txt"]
        assert tf.io.match_filenames_once is tf.train.match_filenames_once


def test_paths_may_be_urls_of_files(tmp_path, sess, monkeypatch):
    monkeypatch.chdir(tmp_path)
    url = f"file://{tmp_path}"
    with tf.gfile.GFile(f"{url}/a.txt", "w") as file:
        file.write("one\n")
    assert (tmp_path / "a.txt").read_text() == tf.gfile.GFile(f"{url}/a.txt").read() == "one\n"
    assert tf.gfile.Exists(f"{url}/a.txt") and tf.gfile.IsDirectory(url)
    assert tf.gfile.Glob(f"{url}/*.txt") == [f"{url}/a.txt"]
    assert tf.gfile.ListDirectory(url) == ["a.txt"] and tf.gfile.Stat(f"{url}/a.txt").length == 4
    tf.gfile.MakeDirs(f"{url}/b/c")
    tf.gfile.Copy(f"{url}/a.txt", f"{url}/b/d")
    with pytest.raises(tf.errors.AlreadyExistsError):
        tf.gfile.Copy(f"{url}/a.txt", f"{url}/b/d")
    assert [folder for folder, _, _ in tf.gfile.Walk(f"{url}/b")] == [f"{url}/b", f"{url}/b/c"]
    tf.gfile.Rename(f"{url}/b/d", f"{url}/b/e")
    tf.gfile.Remove(f"{url}/b/e")
    tf.gfile.DeleteRecursively(f"{url}/b")
    assert sess.run(tf.read_file(f"{url}/a.txt")) == b"one\n"
    line = tf.data.TextLineDataset(f"{url}/a.txt").make_one_shot_iterator().get_next()
    assert sess.run(line) == b"one"
    sess.run(tf.write_file(f"{url}/w.txt", "two"))
    assert (tmp_path / "w.txt").read_text() == "two"
    v = tf.Variable(3.0, name="v")
    saver = tf.train.Saver([v])
    sess.run(v.initializer)
    assert saver.save(sess, f"{url}/m") == tf.train.latest_checkpoint(url) == f"{url}/m"
    sess.run(v.assign(4.0))
    saver.restore(sess, f"{url}/m")
    assert sess.run(v) == 3 and tf.train.list_variables(f"{url}/m") == [("v", [])]
    with pytest.raises(tf.errors.NotFoundError):
        tf.gfile.GFile(f"{url}/none").read()
    assert not (tmp_path / "file:").exists()
