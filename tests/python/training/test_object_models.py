"""tf.saved_model where operations run at once: objects, functions and variables."""

import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest
import rheos.v2
from rheos.framework import defaults, eager
from tensorflow_process import INTERPRETER, is_tensorflow_1

tf = rheos.v2
GOLDEN = os.path.join(os.path.dirname(__file__), "../../golden/models/objects")


@pytest.fixture(autouse=True)
def run_at_once():
    """Operations run at once during the test."""
    before = defaults._eager_graph
    eager.enable_eager_execution()
    yield
    defaults.set_eager_graph(before)


class Scaled(tf.Module):
    def __init__(self):
        super().__init__()
        self.w = tf.Variable([[1.0, 2.0], [3.0, 4.0]], name="w")
        self.parts = [tf.Variable(5.0), {"a": tf.Variable(0, trainable=False)}]
        self.factor = tf.constant(3.0)

    @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32, name="x")])
    def __call__(self, x):
        self.parts[1]["a"].assign_add(1)
        return tf.matmul(x, self.w) * self.factor

    @tf.function
    def loop(self, x, n=2, training=False):
        for _ in tf.range(n):
            x = x * self.parts[0] if training else x + 1.0
        return {"y": x, "more": (n, x * 2.0)}


@pytest.fixture
def saved(tmp_path):
    """A folder with a model that was saved here."""
    model = Scaled()
    model.loop(tf.constant(1.0))
    model.loop(tf.constant(1.0), 3, training=True)
    tf.saved_model.save(model, str(tmp_path / "model"))
    return str(tmp_path / "model")


def check(model):
    """Whether a model is what was saved."""
    assert model(tf.constant([[1.0, 2.0]])).numpy().tolist() == [[21.0, 30.0]]
    assert model.parts[1]["a"].numpy() == 1
    assert model.loop(tf.constant(1.0))["y"].numpy() == 3.0
    assert model.loop(tf.constant(1.0), 3, training=True)["more"][1].numpy() == 250.0
    with tf.GradientTape() as tape:
        y = model.loop(tf.constant(1.0), 3, training=True)["y"]
    assert tape.gradient(y, model.parts[0]).numpy() == 75.0


def test_a_model_of_tensorflow_is_loaded():
    model = tf.saved_model.load(GOLDEN)
    x = tf.constant([[1.0, 2.0]])
    assert model(x).numpy().tolist() == [[10.0, 16.0]]
    assert model.signatures["serving_default"](x=x)["output_0"].numpy().tolist() == [[10.0, 16.0]]
    assert model.inner.calls.numpy() == 2
    assert model.loop(tf.constant(1.0))["y"].numpy() == 13.0
    assert model.loop(tf.constant(1.0), 3, training=True)["y"].numpy() == 125.0
    found = model.loop(tf.constant([1.0, 2.0]), tf.constant(2))
    assert found["more"][1].numpy().tolist() == [26.0, 28.0]
    assert model.look_up(tf.constant(["two", "none", "one"])).numpy().tolist() == [2, -1, 1]


def test_a_loaded_model_is_trained():
    model = tf.saved_model.load(GOLDEN)
    for _ in range(2):
        with tf.GradientTape() as tape:
            y = model(tf.ones([1, 2]))
        w, bias = tape.gradient(y, [model.w, model.inner.bias])
        assert (w.numpy().tolist(), bias.numpy().tolist()) == ([[1, 1], [1, 1]], [3, 3])
    model.w.assign_sub(w)
    assert model(tf.ones([1, 2])).numpy().tolist() == [[5.0, 10.0]]
    other = tf.saved_model.load(GOLDEN)  # has variables and functions of its own
    assert other(tf.ones([1, 2])).numpy().tolist() == [[7.0, 12.0]]
    doubled = tf.function(lambda x: model(x) * 2.0)
    assert doubled(tf.ones([1, 2])).numpy().tolist() == [[10.0, 20.0]]


def test_calls_that_no_trace_takes_say_so():
    model = tf.saved_model.load(GOLDEN)
    with pytest.raises(TypeError, match="Could not find matching concrete function"):
        model(tf.ones([3]))
    with pytest.raises(ValueError, match="Could not find matching concrete function"):
        model.loop(tf.constant(1.0), 4)
    with pytest.raises(TypeError):
        model.signatures["serving_default"](y=tf.ones([1, 2]))


def test_what_is_no_model_says_so(tmp_path):
    with pytest.raises(OSError, match="does not exist"):
        tf.saved_model.load(str(tmp_path))
    with pytest.raises(RuntimeError, match="could not be found"):
        tf.saved_model.load(GOLDEN, tags=["train"])
    (tmp_path / "saved_model.pb").write_bytes(Path(GOLDEN, "saved_model.pb").read_bytes()[:-9])
    with pytest.raises(OSError, match="Cannot parse"):
        tf.saved_model.load(str(tmp_path))


def test_a_model_comes_back(saved):
    check(tf.saved_model.load(saved))


def test_a_loaded_model_is_saved_again(saved, tmp_path):
    model = tf.saved_model.load(saved)
    tf.saved_model.save(model, str(tmp_path / "again"))
    check(tf.saved_model.load(str(tmp_path / "again")))


def test_a_custom_gradient_is_saved(tmp_path):
    @tf.custom_gradient
    def doubled(x):
        return x * 2.0, lambda dy: dy * 100.0

    model = tf.Module()
    model.f = tf.function(doubled, input_signature=[tf.TensorSpec([], tf.float32)])
    tf.saved_model.save(model, str(tmp_path / "model"))
    loaded = tf.saved_model.load(str(tmp_path / "model"))
    x = tf.constant(1.0)
    assert loaded.f(x).numpy() == 2.0
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = loaded.f(x)
    assert tape.gradient(y, x).numpy() == 100.0


def test_a_custom_gradient_that_is_not_saved_is_never_another_one(tmp_path):
    @tf.custom_gradient
    def doubled(x):
        return x * 2.0, lambda dy: dy * 100.0

    model = tf.Module()
    model.f = tf.function(doubled, input_signature=[tf.TensorSpec([], tf.float32)])
    tf.saved_model.save(model, str(tmp_path / "model"))
    path = tmp_path / "model" / "saved_model.pb"
    data = path.read_bytes()
    assert b"CustomGradient-" in data
    data = data.replace(b"CustomGradient-", b"ForeignOneOnce-")  # of another program
    path.write_bytes(data.replace(b"_custom_gradient", b"_forgotten_thing"))
    loaded = tf.saved_model.load(str(tmp_path / "model"))
    x = tf.constant(1.0)
    assert loaded.f(x).numpy() == 2.0
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = loaded.f(x)
    with pytest.raises(LookupError, match="No gradient defined"):
        tape.gradient(y, x)


def test_the_command_runs_it(saved):
    command = Path(rheos.__file__).parents[2] / "bin" / "rheos"
    if not command.exists():
        pytest.skip("the command is not built")
    done = subprocess.run([command, "exec", saved, "--feed", "x=[[1, 2]]"],
                          capture_output=True, text=True, check=True)  # fmt: skip
    assert [float(word) for word in done.stdout.split()[-2:]] == [21.0, 30.0]


def test_what_cannot_be_saved_says_so(tmp_path):
    outside = tf.Variable(1.0)
    model = tf.Module()
    model.f = tf.function(lambda x: x * outside, input_signature=[tf.TensorSpec([], tf.float32)])
    with pytest.raises(AssertionError, match="untracked"):
        tf.saved_model.save(model, str(tmp_path / "a"))
    model.f = tf.function(lambda x: x)
    with pytest.raises(ValueError, match="generate a signature"):
        tf.saved_model.save(model, str(tmp_path / "b"), signatures=model.f)
    with pytest.raises(ValueError, match="Trackable"):
        tf.saved_model.save(3, str(tmp_path / "c"))


@pytest.mark.skipif(
    INTERPRETER is None or is_tensorflow_1(), reason="there is no TensorFlow 2 to compare with"
)
def test_tensorflow_loads_what_is_saved_here(saved):
    script = f"""
import json
import tensorflow as tf
m = tf.saved_model.load({saved!r})
with tf.GradientTape() as tape:
    y = m.loop(tf.constant(1.0), 3, training=True)["y"]
x = tf.constant([[1., 2.]])
print(json.dumps([m(x).numpy().tolist(), float(tape.gradient(y, m.parts[0])),
                  m.signatures["serving_default"](x)["output_0"].numpy().tolist()]))
"""
    environment = dict(os.environ, TF_CPP_MIN_LOG_LEVEL="3")
    environment.pop("PYTHONPATH", None)
    done = subprocess.run([INTERPRETER, "-c", script], env=environment, capture_output=True,
                          text=True, check=False)  # fmt: skip
    assert done.returncode == 0, done.stderr
    wanted = [[[21.0, 30.0]], 75.0, [[21.0, 30.0]]]
    np.testing.assert_equal(json.loads(done.stdout.splitlines()[-1]), wanted)


class Tables(tf.Module):
    """Tables of all kinds, one of a file, and the file itself."""

    def __init__(self, path):
        lines = tf.lookup.TextFileInitializer(
            path, tf.string, tf.lookup.TextFileIndex.WHOLE_LINE,
            tf.int64, tf.lookup.TextFileIndex.LINE_NUMBER,
        )  # fmt: skip
        pairs = tf.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2])
        self.table = tf.lookup.StaticHashTable(pairs, -1)
        self.vocabulary = tf.lookup.StaticVocabularyTable(lines, 2)
        self.changing = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -5)
        self.changing.insert(["x"], [7])
        self.asset = tf.saved_model.Asset(path)

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
    def look_up(self, x):
        return self.table.lookup(x), self.vocabulary.lookup(x), self.changing.lookup(x)

    @tf.function(input_signature=[])
    def text(self):
        return tf.io.read_file(self.asset)


def test_tables_and_files_go_with_a_model(tmp_path):
    path = tmp_path / "words.txt"
    path.write_text("p\nq\na\n")
    tf.saved_model.save(Tables(str(path)), str(tmp_path / "model"))
    path.unlink()
    assert [one.name for one in (tmp_path / "model" / "assets").iterdir()] == ["words.txt"]
    model = tf.saved_model.load(str(tmp_path / "model"))
    tf.saved_model.save(model, str(tmp_path / "again"))
    for one in (model, tf.saved_model.load(str(tmp_path / "again"))):
        found = [t.numpy().tolist() for t in one.look_up(tf.constant(["a", "q", "x"]))]
        assert found[0] == [1, -1, -1] and found[2] == [-5, -5, 7]
        assert found[1][:2] == [2, 1] and found[1][2] in (3, 4)
        assert one.text().numpy() == b"p\nq\na\n"


def test_signatures_name_the_tensors_of_lists_and_dicts_by_their_argument(tmp_path):
    module = tf.Module()
    one, two = tf.TensorSpec([1]), tf.TensorSpec([2], name="two")
    module.f = tf.function(
        lambda inputs, other: {"sum": inputs["a"][0] + inputs["a"][1] + other},
        input_signature=[{"b": two, "a": [one, one]}, one],
    )
    assert module.f.get_concrete_function().structured_input_signature[0] == (
        {"b": two, "a": [tf.TensorSpec([1], name="inputs_a_0"),
                         tf.TensorSpec([1], name="inputs_a_1")]},
        tf.TensorSpec([1], name="other"),
    )  # fmt: skip
    tf.saved_model.save(module, str(tmp_path), signatures=module.f)
    serve = tf.saved_model.load(str(tmp_path)).signatures["serving_default"]
    assert sorted(serve.structured_input_signature[1]) == ["inputs", "inputs_1", "other", "two"]
    found = serve(
        inputs=tf.constant([1.0]), inputs_1=tf.constant([2.0]), two=tf.zeros([2]),
        other=tf.constant([4.0]),
    )  # fmt: skip
    assert found["sum"].numpy().tolist() == [7.0]


def test_functions_are_loaded_by_their_aliases(tmp_path):
    module = tf.Module()
    module.f = tf.function(lambda x: x * 2, input_signature=[tf.TensorSpec([None])])
    options = tf.saved_model.SaveOptions(function_aliases={"twice": module.f})
    tf.saved_model.save(module, str(tmp_path), options=options)
    wish = tf.saved_model.LoadOptions(experimental_load_function_aliases=True)
    loaded = tf.saved_model.load(str(tmp_path), options=wish)
    assert loaded.function_aliases["twice"](tf.constant([3.0])).numpy().tolist() == [6.0]
    assert not hasattr(tf.saved_model.load(str(tmp_path)), "function_aliases")


def test_a_function_without_traces_says_that_none_was_restored(tmp_path):
    module = tf.Module()
    module.f = tf.function(lambda x: x)
    tf.saved_model.save(module, str(tmp_path))
    with pytest.raises(ValueError, match="zero restored functions"):
        tf.saved_model.load(str(tmp_path)).f("a")


def test_numbers_of_lines_have_an_offset_and_tables_are_resources(tmp_path):
    (tmp_path / "words").write_text("a\nb\nc\n")
    index = tf.lookup.TextFileIndex
    start = tf.lookup.TextFileInitializer(
        str(tmp_path / "words"), tf.string, index.WHOLE_LINE, tf.int64, index.LINE_NUMBER,
        value_index_offset=2,
    )  # fmt: skip
    table = tf.lookup.StaticHashTable(start, -1)
    assert table.lookup(tf.constant(["a", "c", "?"])).numpy().tolist() == [2, 4, -1]
    assert isinstance(table, tf.saved_model.experimental.TrackableResource)


TEXTS, NUMBERS = np.array(["a", "b"]), np.array([[3]])


class Mixed(tf.Module):
    """Signatures with results of several tensors each, and defaults that are arrays."""

    @tf.function(input_signature=[tf.TensorSpec([2, 2], tf.float32, "x")])
    def several(self, x):
        return tf.RaggedTensor.from_tensor(x), x, tf.sparse.from_dense(x)

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string, "s")])
    def split(self, s):
        return {"words": tf.strings.split(s), "lengths": tf.strings.length(s)}

    @tf.function
    def defaults(self, x, k=tf.constant([1.0, 2.0]), texts=TEXTS, *, z=NUMBERS):  # noqa: B008
        return x * k, texts, z


def test_signatures_give_ragged_and_sparse_tensors(tmp_path):
    model = Mixed()
    signatures = {"several": model.several, "split": model.split}
    tf.saved_model.save(model, str(tmp_path), signatures=signatures)
    loaded = tf.saved_model.load(str(tmp_path)).signatures
    dense = [[1.0, 0.0], [0.0, 2.0]]
    found = loaded["several"](x=tf.constant(dense))
    assert sorted(found) == ["output_0", "output_1", "output_2"]
    assert found["output_0"].to_list() == found["output_1"].numpy().tolist() == dense
    assert tf.sparse.to_dense(found["output_2"]).numpy().tolist() == dense
    found = loaded["split"](s=tf.constant(["a b", "c"]))
    assert found["words"].to_list() == [[b"a", b"b"], [b"c"]]
    assert found["lengths"].numpy().tolist() == [3, 1]
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:  # what servers do
        graph = tf.compat.v1.saved_model.load(session, ["serve"], str(tmp_path))
        named = graph.signature_def["split"]
        words = tf.compat.v1.saved_model.utils.get_tensor_from_tensor_info(named.outputs["words"])
        given = {named.inputs["s"].name: ["d e f"]}
        assert session.run(words, given).to_list() == [[b"d", b"e", b"f"]]


def test_arguments_may_have_arrays_and_tensors_as_defaults(tmp_path):
    model = Mixed()
    model.defaults(tf.ones([2]))
    tf.saved_model.save(model, str(tmp_path))
    product, texts, z = tf.saved_model.load(str(tmp_path)).defaults(tf.ones([2]))
    assert product.numpy().tolist() == [1.0, 2.0]
    assert texts.numpy().tolist() == [b"a", b"b"] and z.numpy().tolist() == [[3]]


class Pipelines(tf.Module):
    """Functions that go over datasets which the object holds; one uses a table of it."""

    def __init__(self):
        super().__init__()
        numbers, k = tf.data.Dataset.range(4), tf.constant(10, tf.int64)
        fives = tf.constant([5], tf.int64)
        self.table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a"], fives), 0)
        looked_up = tf.data.Dataset.from_tensor_slices(["a", "b"]).map(self.table.lookup)
        self.held = {
            "map": numbers.map(lambda x: x * k),
            "branch": numbers.map(lambda x: tf.cond(x > 1, lambda: x, lambda: -x)),
            "nested": [numbers.flat_map(tf.data.Dataset.range), looked_up],
            "zip": tf.data.Dataset.zip((numbers, numbers.skip(1))).map(lambda a, b: a * b),
        }
        datasets = [self.held["map"], self.held["branch"], *self.held["nested"], self.held["zip"]]
        self.totals = [self.total_of(dataset) for dataset in datasets]

    @staticmethod
    def total_of(dataset):
        @tf.function(input_signature=[])
        def total():
            result = tf.zeros([], tf.int64)
            for element in dataset:
                result += element
            return result

        return total


def test_datasets_that_functions_use_are_saved(tmp_path):
    for folder in "once", "again":
        model = Pipelines()
        tf.saved_model.save(model, str(tmp_path / folder))
        loaded = tf.saved_model.load(str(tmp_path / folder))
        assert [int(total()) for total in loaded.totals] == [60, 4, 4, 5, 8]
    checkpoint = tf.train.Checkpoint(model=model)  # datasets are nothing to save there
    checkpoint.read(checkpoint.write(str(tmp_path / "values"))).assert_consumed()
