"""Every public function says what it does, is in the stubs, and every op can be asked for."""

import ast
import importlib.util
import inspect
import os
import re
import subprocess
import sys

import pytest
import rheos
import rheos.v1 as tf
from rheos import _core
from rheos.faces.same import SAME
from rheos.faces.tables import sources
from rheos.v1._own import OWN as OWN_1
from rheos.v2._keras import KERAS, WITHOUT_KERAS
from rheos.v2._own import OWN as OWN_2

PACKAGES = os.path.dirname(os.path.dirname(rheos.__file__))
TOOLS = os.path.join(os.path.dirname(__file__), "../..", "..", "tools")


@pytest.fixture(scope="module")
def generator():
    path = os.path.join(TOOLS, "generate_stubs.py")
    spec = importlib.util.spec_from_file_location("generate_stubs", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_public_function_has_a_docstring(generator):
    silent = [
        f"{module.__name__}.{name}"
        for module in generator.modules()
        for name, value in generator.public(module)
        if (inspect.isfunction(value) or inspect.isclass(value))
        and not (value.__doc__ or "").strip()
    ]
    assert silent == []


def test_every_member_of_a_public_class_has_a_docstring_or_its_base(generator):
    found = subprocess.run(
        [sys.executable, os.path.join(TOOLS, "site", "python_names.py"), PACKAGES, "--count"],
        capture_output=True, text=True, check=True, timeout=200,
    )  # fmt: skip
    counts = re.findall(r"(\d+) [a-z ]+: (\d+) without docstring", found.stdout)
    assert len(counts) == 2 and all(int(many) > 1500 for many, _ in counts)
    assert [without for _, without in counts] == ["0", "0"], found.stdout


def test_what_docstrings_of_ops_list_is_what_they_take(generator):
    for name, op in generator.public(tf.raw_ops):
        listed = re.findall(r"^ +(\w+): ", op.__doc__.partition("Returns:")[0], re.MULTILINE)
        assert set(listed) == set(inspect.signature(op).parameters), name


def test_every_public_name_is_in_the_stub_of_its_module(generator):
    for module in generator.modules():
        tree = ast.parse(generator.stub(module))
        found = set()
        for node in tree.body:
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                found.add(node.name)
            elif isinstance(node, ast.AnnAssign):
                found.add(node.target.id)
            elif isinstance(node, ast.Assign):
                found.add(node.targets[0].id)
            elif isinstance(node, ast.ImportFrom):
                found.update(a.asname or a.name for a in node.names)
        missing = {name for name, _ in generator.public(module)} - found
        assert not missing, module.__name__


def test_a_stub_shows_the_arguments(generator):
    stub = generator.stub(tf.nn)
    assert "def relu(features: Any, name: str | None = None) -> Any: ..." in stub
    spectral = ast.parse(generator.stub(tf.layers))
    dense = [n for n in spectral.body if getattr(n, "name", "") == "Dense"][0]
    assert [n.name for n in dense.body if isinstance(n, ast.FunctionDef)][0] == "__init__"
    assert "def Add(*, x: _Any, y: _Any, name" in generator.stub(tf.raw_ops)  # there is an op Any
    stub = generator.stub(tf.compat.v2)
    assert "\nfloat32: Any\n" in stub and "from rheos.v2 import keras as keras" in stub


def test_the_stubs_lie_beside_the_modules(generator):
    for module in generator.modules():
        assert os.path.exists(generator.path_of_stub(module)), module.__name__


def test_the_stubs_import_each_other(generator):
    stubs = {generator.name_of_stub(module): module for module in generator.modules()}
    assert stubs["rheos.v2.keras_layers"] is tf.compat.v2.keras.layers
    outermost = os.path.join(os.path.dirname(rheos.__file__), "__init__.pyi")
    for text in [generator.stub(module) for module in stubs.values()] + [open(outermost).read()]:
        for node in ast.parse(text).body:
            if isinstance(node, ast.ImportFrom) and node.module.startswith("rheos.v2"):
                for name in node.names:
                    whole = f"{node.module}.{name.name}".removesuffix(".*")
                    assert whole in stubs, whole


def test_every_op_has_a_function_that_says_its_arguments():
    assert rheos.raw_ops is tf.raw_ops
    for name in _core.op_types():
        if name.startswith("_"):  # of the library's own making
            continue
        function = getattr(tf.raw_ops, name)
        signature = inspect.signature(function)
        assert "name" in signature.parameters
        for parameter in signature.parameters:
            assert f"\n    {parameter}: " in function.__doc__, name
    text = tf.raw_ops.MatMul.__doc__
    assert "a: a tensor of dtype T." in text and "transpose_a: bool; by default False." in text
    assert list(inspect.signature(tf.raw_ops.Unpack).parameters) == [
        "value", "num", "axis", "name"]  # fmt: skip


def places(*tables):
    """{(namespace, name): where it is} of tables of names."""
    return {
        (namespace, name): place
        for table in tables
        for namespace in table
        for name, place in sources([table], namespace).items()
    }


def test_no_name_is_said_twice():
    same, first = places(SAME), places(OWN_1)
    second = places(OWN_2, KERAS)
    assert [name for name, place in same.items() if first.get(name) == place] == []
    assert [name for name, place in (same | first).items() if second.get(name) == place] == []


def test_what_both_faces_have_is_one_object():
    for namespace, name in places(SAME):
        if namespace in WITHOUT_KERAS and name in sources([SAME, KERAS], f"keras.{namespace}"):
            continue  # TensorFlow 2 has Keras's
        of_1, of_2 = tf, rheos
        for part in filter(None, [*namespace.split("."), name]):
            of_1, of_2 = getattr(of_1, part), getattr(of_2, part)
        assert of_1 is of_2, (namespace, name)


OLD = {
    "mul": lambda: tf.mul(3.0, 2.0),
    "sub": lambda: tf.sub(8.0, 2.0),
    "neg": lambda: tf.neg(-6.0),
    "pack": lambda: tf.reduce_sum(tf.pack([2.0, 4.0])),
    "unpack": lambda: tf.unpack([1.0, 6.0])[1],
    "select": lambda: tf.select(True, 6.0, 0.0),
    "concat": lambda: tf.reduce_sum(tf.concat(0, [[1.0], [5.0]])),
    "inv": lambda: tf.inv(1 / 6.0),
    "batch_matmul": lambda: tf.batch_matmul([[[2.0]]], [[[3.0]]])[0, 0, 0],
    "listdiff": lambda: tf.listdiff([6.0, 1.0], [1.0])[0][0],
}


@pytest.mark.parametrize("name", OLD)
def test_names_from_before_1_0(name, sess):
    assert sess.run(OLD[name]()) == pytest.approx(6)
    assert name == "concat" or name not in dir(tf)


def test_the_modules_are_what_programs_import():
    assert "tensorflow" not in sys.modules
    for name in ("nn", "math", "linalg", "layers", "losses", "bitwise", "manip", "debugging"):
        module = getattr(tf, name)
        assert module.__doc__ and module.__name__ == f"rheos.v1.{name}"


def test_raw_ops_return_their_outputs_by_name():
    with tf.Graph().as_default(), tf.Session() as session:
        found = tf.raw_ops.Unique(x=[5, 5, 7])
        assert (type(found).__name__, found._fields) == ("Unique", ("y", "idx"))
        assert session.run(found.y).tolist() == [5, 7]
        parsed = tf.raw_ops.ParseSingleExample(
            serialized=b"", dense_defaults=[[2.0], [b"x"]], num_sparse=0, sparse_keys=[],
            dense_keys=["a", "b"], sparse_types=[], dense_shapes=[[1], [1]],
        )  # fmt: skip
        assert [v.tolist() for v in session.run(parsed.dense_values)] == [[2.0], [b"x"]]
        assert parsed.sparse_indices == []
        assert [v.tolist() for v in session.run(tf.raw_ops.Unpack(value=[1, 2], num=2))] == [1, 2]
        drawn = tf.nn.log_uniform_candidate_sampler([[1]], 1, 2, True, 5)
        assert drawn._fields == (
            "sampled_candidates", "true_expected_count", "sampled_expected_count")  # fmt: skip


def test_raw_ops_take_the_names_of_their_functions():
    with tf.Graph().as_default(), tf.Session() as session:
        x = [[1.0, 2.0]]
        assert session.run(tf.raw_ops.Sum(input=x, axis=1)).tolist() == [3]
        assert session.run(tf.raw_ops.Sum(input=x, reduction_indices=1)).tolist() == [3]
        assert session.run(tf.raw_ops.Squeeze(input=x, axis=[0])).tolist() == [1, 2]
        assert session.run(tf.raw_ops.Select(condition=[True], x=[1], y=[2])).tolist() == [1]
        with pytest.raises(TypeError, match="several values for"):
            tf.raw_ops.Sum(input=x, axis=1, reduction_indices=1)
        with pytest.raises(TypeError, match="not known: .'axes'"):
            tf.raw_ops.Sum(input=x, axes=1)
