"""app, flags, gfile, logging, compat and test: what programs lean on besides graphs."""

import os
import subprocess
import sys
import textwrap
import unittest

import numpy as np
import pytest
import rheos.v1 as tf
from rheos.v1 import flags


def run_program(source, *arguments, **environment):
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(source), *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
        timeout=120,
    )


def test_app_run_parses_flags_and_runs_main():
    done = run_program(
        """
        import rheos.v1 as tf
        tf.app.flags.DEFINE_string("name", "nobody", "a name")
        tf.app.flags.DEFINE_integer("count", 1, "a number")
        tf.flags.DEFINE_boolean("loud", True, "a switch")
        FLAGS = tf.app.flags.FLAGS
        def main(argv):
            print(FLAGS.name, FLAGS.count + 1, FLAGS.loud, argv[1:])
            return 3
        if __name__ == "__main__":
            tf.app.run()
        """,
        "--name=Ada",
        "--count",
        "4",
        "--noloud",
        "rest",
    )
    assert done.stdout == "Ada 5 False ['rest']\n" and done.returncode == 3


def test_flags_are_parsed_when_first_read():
    done = run_program(
        """
        import rheos.v1 as tf
        tf.flags.DEFINE_float("rate", 0.5, "")
        FLAGS = tf.flags.FLAGS
        print(FLAGS.rate, sorted(FLAGS), FLAGS["rate"].value)
        """,
        "--rate=2",
    )
    assert done.stdout == "2.0 ['rate'] 2.0\n"


def test_flag_errors():
    values = flags.FlagValues()
    flags.DEFINE_integer("n", 1, "", lower_bound=0, flag_values=values)
    flags.DEFINE_list("l", "a,b", "", flag_values=values)
    flags.DEFINE_enum("e", "x", ["x", "y"], "", flag_values=values)
    assert values(["prog", "--l=c,d", "--", "--n"]) == ["prog", "--n"] and values.l == ["c", "d"]
    for arguments in (["--n=x"], ["--n=-1"], ["--nope"], ["--e=z"], ["--n"]):
        with pytest.raises(flags.Error):
            values(["prog", *arguments])
    with pytest.raises(AttributeError):
        values.nope


def test_gfile(tmp_path):
    folder = str(tmp_path / "a" / "b")
    tf.gfile.MakeDirs(folder)
    with tf.gfile.GFile(folder + "/f.txt", "w") as file:
        file.write("one\ntwo\n")
    assert list(tf.gfile.Open(folder + "/f.txt")) == ["one\n", "two\n"]
    with tf.gfile.FastGFile(folder + "/f.txt", "rb") as file:
        assert file.read() == b"one\ntwo\n" and file.size() == 8
    assert tf.gfile.Exists(folder) and tf.gfile.IsDirectory(folder)
    assert tf.gfile.ListDirectory(folder) == ["f.txt"]
    assert tf.gfile.Glob(folder + "/*.txt") == [folder + "/f.txt"]
    tf.gfile.Copy(folder + "/f.txt", folder + "/g.txt")
    tf.gfile.Rename(folder + "/g.txt", folder + "/h.txt")
    tf.gfile.Remove(folder + "/h.txt")
    for call in (
        lambda: tf.gfile.GFile(folder + "/none").read(),
        lambda: tf.gfile.Remove(folder + "/none"),
        lambda: tf.gfile.ListDirectory(folder + "/none"),
    ):
        with pytest.raises(tf.errors.NotFoundError):
            call()
    with pytest.raises(tf.errors.AlreadyExistsError):
        tf.gfile.Copy(folder + "/f.txt", folder + "/f.txt")
    tf.gfile.DeleteRecursively(folder)
    assert not tf.gfile.Exists(folder)


def test_gfile_reads_and_writes_as_its_mode_says(tmp_path):
    path = str(tmp_path / "f")

    def write(mode):
        (tmp_path / "f").write_text("hello world")
        with tf.gfile.GFile(path, mode) as file:
            file.write("xy")
            place = file.tell()
        return (tmp_path / "f").read_text(), place

    assert write("w") == ("xy", 2) and write("a") == ("hello worldxy", 13)
    assert write("w+") == write("r+") == write("rb+") == ("xy", 0)  # the place for reading
    assert write("a+") == ("hello worldxy", 0)
    for mode in ("r", "r+", "w+", "a+"):
        (tmp_path / "f").write_bytes(b"one\r\ntwo\n")
        with tf.gfile.GFile(path, mode) as file:
            assert file.read(2) == "on" and file.tell() == 2
            assert file.readline() == "e\n" and next(file) == "two\n"
            file.seek(-4, 2)
            assert file.readlines() == ["two\n"] and file.read() == ""
            file.seek(1)
            file.seek(1, 1)
            assert file.read(1) == "e" and file.seekable()
    with tf.gfile.GFile(path, "r+") as file:
        assert file.read(1) == "o"
        file.write(b"z")
        file.flush()
        assert (tmp_path / "f").read_text() == "z" and file.size() == 1


def test_gfile_refuses_what_the_mode_does_not_allow(tmp_path):
    path = str(tmp_path / "f")
    for mode in ("w", "a", "wb"):
        with pytest.raises(tf.errors.PermissionDeniedError, match="isn't open for reading"):
            tf.gfile.GFile(path, mode).read()
    with pytest.raises(tf.errors.PermissionDeniedError, match="isn't open for writing"):
        tf.gfile.GFile(path).write("a")
    for mode in ("x", "rt", "rw"):
        with pytest.raises(tf.errors.InvalidArgumentError, match="mode is not 'r'"):
            tf.gfile.GFile(path, mode)
    with pytest.raises(tf.errors.FailedPreconditionError, match="Is a directory"):
        tf.gfile.GFile(str(tmp_path)).read()
    with pytest.raises(tf.errors.NotFoundError):
        tf.gfile.GFile(path).size()
    with tf.gfile.GFile(path, "w+") as file:
        with pytest.raises(TypeError, match="Expected binary or unicode string, got 3"):
            file.write(3)
        file.write("abc")
        with pytest.raises(TypeError, match="offset argument required"):
            file.seek()
        with pytest.raises(TypeError, match="may not be set simultaneously"):
            file.seek(offset=0, position=0)
        with pytest.raises(tf.errors.InvalidArgumentError, match="Invalid whence argument: 7"):
            file.seek(1, 7)
        with pytest.raises(tf.errors.InvalidArgumentError, match="negative"):
            file.seek(-1)


def test_logging():
    program = """
import rheos.v1 as tf
tf.logging.set_verbosity(tf.logging.INFO)
tf.logging.info("step %d", 3)
tf.logging.debug("hidden")
tf.logging.log_every_n(tf.logging.WARN, "often", 2)
tf.logging.log_every_n(tf.logging.WARN, "often", 2)
tf.logging.set_verbosity(tf.logging.WARN)
tf.logging.info("hidden")
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stderr == "INFO:tensorflow:step 3\nWARNING:tensorflow:often\n"


def test_messages_go_to_the_logger_of_that_name():
    import logging

    kept = []
    handler = logging.Handler()
    handler.emit = kept.append
    logger = logging.getLogger("tensorflow")
    before = logger.level
    logger.addHandler(handler)
    try:
        logger.setLevel(logging.ERROR)
        assert tf.logging.get_verbosity() == tf.logging.ERROR
        tf.logging.warning("hidden")
        tf.logging.set_verbosity("WARNING")
        tf.logging.warn("%s is shown", "this")
    finally:
        logger.removeHandler(handler)
        logger.setLevel(before)
    assert [r.getMessage() for r in kept] == ["this is shown"]


def test_compat():
    assert tf.compat.as_bytes("é") == "é".encode() and tf.compat.as_str(b"a") == "a"
    assert tf.compat.v1 is tf and tf.compat.as_str_any(3) == "3"
    with pytest.raises(TypeError):
        tf.compat.as_text(3)


def test_test_cases():
    class Inner(tf.test.TestCase):
        def test_arrays(self):
            with self.test_session() as session:
                self.assertAllClose(session.run(tf.constant([1.0, 2.0])), [1.0, 2.0 + 1e-7])
                self.assertAllEqual(tf.constant([1, 2]).eval(), [1, 2])
                self.assertAllClose({"a": 1.0, "b": [2.0]}, {"a": 1.0, "b": [2.0]})
                with self.assertRaises(AssertionError):
                    self.assertAllClose([1.0], [1.1])
                with self.assertRaises(AssertionError):
                    self.assertAllEqual([1], [1, 1])
                with self.assertRaisesOpError("must feed"):
                    session.run(tf.placeholder(tf.float32))

        def test_folder(self):
            assert os.path.isdir(self.get_temp_dir()) and os.path.isdir(tf.test.get_temp_dir())

    result = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromTestCase(Inner).run(result)
    assert result.testsRun >= 2 and not result.failures and not result.errors, result


def test_importing_takes_few_modules():
    done = run_program(
        """
        import importlib, sys, threading, numpy
        numpy_1 = "dis fnmatch glob hashlib inspect json ntpath opcode pathlib token tokenize"
        for name in numpy_1.split():
            sys.modules.pop(name, None)  # NumPy 2 does not bring them
        before = set(sys.modules)
        import rheos.v1
        known = before.union(sys.builtin_module_names)
        print(sorted(m for m in set(sys.modules) - known if not m.startswith("rheos")))
        """
    )
    assert done.stdout == "[]\n", done.stdout + done.stderr


def test_error_classes():
    error = tf.errors.InvalidArgumentError(None, None, "text")
    assert str(error) == error.message == "text" and error.error_code == 3
    assert error.op is None and error.node_def is None and isinstance(error, tf.OpError)
    assert tf.errors.exception_type_from_error_code(11) is tf.errors.OutOfRangeError


def test_values_known_before_a_step():
    with tf.Graph().as_default():
        value = tf.contrib.util.constant_value(tf.fill([2], 3))
        assert value.tolist() == [3, 3]
        assert tf.contrib.util.constant_value(tf.placeholder(tf.float32)) is None
        proto = tf.contrib.util.make_tensor_proto([1, 2])
        assert tf.contrib.util.make_ndarray(proto).tolist() == [1, 2]


def test_shapes_known_in_part():
    from rheos.framework.constant_values import constant_value_as_shape

    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [16, None])
        size = tf.placeholder(tf.int32, [])
        unknown = tf.placeholder(tf.int32, [2])
        assert constant_value_as_shape(tf.shape(x)).as_list() == [16, None]
        assert constant_value_as_shape(tf.stack([16, size, -1])).as_list() == [16, None, None]
        joined = tf.concat([tf.shape(x), [7], unknown], 0)
        assert constant_value_as_shape(joined).as_list() == [16, None, 7, None, None]
        assert constant_value_as_shape(tf.placeholder(tf.int32, [None])).ndims is None


def test_tensor_specs():
    import pickle

    spec = tf.TensorSpec([None, 3], tf.float32, "x")
    same = tf.TensorSpec((None, 3), np.float32, "x")
    assert repr(spec) == "TensorSpec(shape=(?, 3), dtype=tf.float32, name='x')"
    assert spec == same == pickle.loads(pickle.dumps(spec)) and {spec: 1}[same] == 1
    assert spec != tf.TensorSpec([None, 3]) and spec != 3 and isinstance(spec, tf.TypeSpec)
    assert tf.TensorSpec(3).shape == [3] and tf.TensorSpec(None).shape.ndims is None
    assert tf.TensorSpec.from_spec(spec, "y").name == "y"
    assert tf.TensorSpec.from_spec(spec) == spec
    made = tf.TensorSpec.from_tensor(tf.constant([1], name="c"))
    assert (made.shape, made.dtype, made.name) == ([1], tf.int32, "c")
    assert spec.is_compatible_with(tf.zeros([2, 3]))
    assert spec.is_compatible_with(tf.TensorSpec([5, 3]))
    for other in (tf.zeros([2, 4]), tf.zeros([2, 3], tf.int32), np.zeros([2, 3], np.float32)):
        assert not spec.is_compatible_with(other)
    with pytest.raises(ValueError, match="should be a tf.Tensor"):
        tf.TensorSpec.from_tensor([1.0])
    with pytest.raises(TypeError):
        tf.TensorSpec([1], "float99")


def test_cards_are_those_of_opencl():
    assert not tf.test.is_built_with_cuda() and not tf.test.is_built_with_rocm()
    assert tf.test.is_built_with_gpu_support()
    assert not tf.test.is_gpu_available(cuda_only=True)


def test_assert_equal_graph_def():
    def graph_def(value, names=("a", "b")):
        with tf.Graph().as_default() as graph:
            for name in names:
                tf.constant(value, name=name)
        return graph.as_graph_def()

    tf.test.assert_equal_graph_def(graph_def(1), graph_def(1, ("b", "a")))
    for other in graph_def(2), graph_def(1, ("a",)), graph_def(1, ("a", "b", "c")):
        with pytest.raises(AssertionError, match="[Nn]ode"):
            tf.test.assert_equal_graph_def(graph_def(1), other)
    with pytest.raises(TypeError, match="Expected tf.GraphDef"):
        tf.test.assert_equal_graph_def(graph_def(1), "a")
    assert tf.test.mock.Mock is not None


class _Case(tf.test.TestCase):
    def runTest(self):
        """Only the assertions are used."""


def test_a_test_case_compares_messages_and_devices():
    case = _Case()
    graph_def = tf.GraphDef(node=[tf.NodeDef(name="x", op="NoOp")])
    case.assertProtoEquals("node { name: 'x' op: 'NoOp' }", graph_def)
    case.assertProtoEquals(graph_def, graph_def)
    with pytest.raises(AssertionError):
        case.assertProtoEquals("node { name: 'y' op: 'NoOp' }", graph_def)
    graph_def.versions.producer = tf.GRAPH_DEF_VERSION
    case.assertProtoEqualsVersion("node { name: 'x' op: 'NoOp' }", graph_def)
    case.assertDeviceEqual("/cpu:0", "/device:CPU:0")
    with pytest.raises(AssertionError):
        case.assertDeviceEqual("/cpu:0", "/cpu:1")


def test_a_test_case_looks_at_errors_by_a_function():
    case = _Case()
    with case.assertRaisesWithPredicateMatch(ValueError, lambda e: "bad" in str(e)):
        raise ValueError("a bad one")
    with case.assertRaisesOpError("no such"):
        raise tf.errors.NotFoundError(None, None, "no such thing")
    for wrong in ("good", lambda e: False):
        with pytest.raises(AssertionError):
            with case.assertRaisesWithPredicateMatch(ValueError, wrong):
                raise ValueError("bad")
    with pytest.raises(AssertionError, match="ValueError not raised"):
        with case.assertRaisesWithPredicateMatch(ValueError, "bad"):
            pass


def test_a_checked_thread_fails_its_test():
    case = _Case()
    done = []
    thread = case.checkedThread(done.append, args=(1,))
    thread.start()
    thread.join()
    assert done == [1] and not thread.is_alive()
    thread = case.checkedThread(lambda: 1 / 0)
    thread.start()
    with pytest.raises(AssertionError, match="division by zero"):
        thread.join()


def test_what_is_written_to_a_stream_is_captured(tmp_path):
    with open(tmp_path / "out", "w") as stream:
        with _Case().captureWritesToStream(stream) as captured:
            stream.write("seen")
            assert captured.contents() == "seen"
        stream.write("kept")
    assert (tmp_path / "out").read_text() == "kept"


def test_flags_are_checked_when_they_are_parsed():
    values = flags.FlagValues()
    holder = flags.DEFINE_integer("n", 3, "", flag_values=values, short_name="k")
    flags.DEFINE_string("a", None, "", flag_values=values)
    flags.DEFINE_string("b", None, "", flag_values=values)
    flags.DEFINE_spaceseplist("words", "x y", "", flag_values=values)
    flags.DEFINE_alias("number", "n", flag_values=values)
    flags.register_validator("n", lambda n: n % 2, "odd ones", flag_values=values)
    flags.mark_flags_as_mutual_exclusive(["a", "b"], flag_values=values)
    values(["program", "-k", "5", "--words", "p q r"])
    assert (holder.value, holder.name, holder.default, holder.present) == (5, "n", 3, 1)
    assert values.words == ["p", "q", "r"]
    values(["program", "--number=7"])
    assert holder.value == 7
    for bad in (["--n=2"], ["--n=1", "--a=1", "--b=2"]):
        with pytest.raises(flags.ValidationError):
            values(["program", *bad])
    values.set_default("b", "z")
    assert values["b"].default == "z" and "--words=p,q,r" in values.flags_into_string()
    with pytest.raises(flags.UnrecognizedFlagError):
        flags.register_validator("nothing", bool, flag_values=values)


def test_required_flags_have_to_be_given():
    values = flags.FlagValues()
    flags.DEFINE_string("a", None, "", flag_values=values, required=True)
    flags.DEFINE_bool("x", False, "", flag_values=values)
    flags.DEFINE_bool("y", False, "", flag_values=values)
    flags.mark_bool_flags_as_mutual_exclusive(["x", "y"], required=True, flag_values=values)
    with pytest.raises(flags.ValidationError, match="--a"):
        values(["program", "--x"])
    with pytest.raises(flags.ValidationError, match="Exactly one"):
        values(["program", "--a=1", "--y", "--x"])
    assert values(["program", "--a=1", "--nox", "--y", "rest"]) == ["program", "rest"]
