"""Programs that import `tensorflow`, run with the launcher of `rheos run` on the package itself."""

import importlib.util
import os
import signal
import subprocess
import sys
import textwrap
import time

import pytest
import rheos

LAUNCHER = os.path.join(os.path.dirname(rheos.__file__), "_launch.py")


@pytest.fixture
def launch(tmp_path):
    """launch(source, mode): what the program prints."""

    def run(source, mode="auto"):
        path = tmp_path / "program.py"
        path.write_text(textwrap.dedent(source))
        done = subprocess.run(
            [sys.executable, LAUNCHER, mode, path], capture_output=True, text=True, timeout=120
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


def test_a_program_of_tensorflow_2_runs_eagerly(launch):
    shown = launch(
        """
        import tensorflow as tf

        weights = tf.Variable([1.0, 2.0])

        @tf.function
        def loss(x):
            return tf.reduce_sum(weights * x)

        with tf.GradientTape() as tape:
            value = loss(tf.constant([3.0, 4.0]))
        print(value.numpy(), tape.gradient(value, weights).numpy(), tf.__version__[0])
        print(tf.executing_eagerly(), tf.compat.v1.executing_eagerly())
        with tf.compat.v1.Session(graph=tf.Graph()) as sess:
            print(sess.run(tf.constant(2) * 3))
        """
    )
    assert shown.split() == "11.0 [3. 4.] 2 True True 6".split()


def test_tfdbg_is_there_and_loaded_when_it_is_asked_for(launch):
    shown = launch(
        """
        import sys
        import tensorflow as tf

        placeholder = tf.placeholder
        print([name for name in sys.modules if name.startswith("rheos.inspection")])
        from tensorflow.python import debug as tf_debug
        from tensorflow.python.debug.lib.debug_data import DebugDumpDir
        from tensorflow.python.debug.wrappers.hooks import LocalCLIDebugHook

        print(tf_debug.DebugDumpDir is DebugDumpDir, callable(LocalCLIDebugHook))
        """
    )
    assert shown.split() == "[] True True".split()


def test_what_both_versions_have_means_version_2(launch):
    source = "import tensorflow as tf\nprint((tf.constant([1, 2]) + 1).numpy())"
    assert launch(source) == "[2 3]\n"


def test_version_1_below_compat_makes_graphs(launch):
    shown = launch(
        """
        import tensorflow.compat.v1 as tf
        tf.disable_v2_behavior()
        x = tf.placeholder(tf.float32)
        with tf.Session() as sess:
            print(sess.run(x * 2, {x: 3}), tf.executing_eagerly())
        """
    )
    assert shown == "6.0 False\n"


@pytest.mark.parametrize(
    "imports",
    [
        "import tensorflow.compat.v1 as tf",
        "from tensorflow.compat import v1 as tf",
        "from tensorflow import compat; tf = compat.v1",
        "import tensorflow.compat.v1.keras.layers, tensorflow.compat.v1 as tf",
        "import tensorflow.compat.v2 as v2, tensorflow as tf",
        "import tensorflow as tf; from tensorflow.compat import v2; tf.compat.v2.reduce_sum",
        "import tensorflow.compat.v2.keras.layers, tensorflow as tf",
    ],
)
@pytest.mark.parametrize("mode", ["auto", "tf1"])
def test_no_name_of_version_1_makes_it_eager(launch, imports, mode):
    shown = launch(
        f"""
        {imports}
        x = tf.placeholder(tf.float32, [2])
        y = tf.compat.v2.reduce_sum(x * x, axis=0, keepdims=True)
        w = tf.compat.v2.Variable([3.0])
        print(tf.executing_eagerly(), tf.__version__[:2], type(x.shape[0]).__name__)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            print(session.run([y, tf.gradients(y * w, x)[0], w], {{x: [1, 2]}}))
        assert tf.compat.v2.compat.v1.Session is tf.Session
        """,
        mode,
    )
    assert shown.split()[:3] == ["False", "1.", "Dimension"]
    assert "array([5.]" in shown and "array([ 6., 12.]" in shown


def test_version_2_of_version_1_is_eager_where_it_is_asked_for(launch):
    shown = launch(
        """
        import tensorflow.compat.v2 as tf
        before = tf.executing_eagerly()
        tf.enable_v2_behavior()
        print(before, tf.executing_eagerly(), tf.constant([1, 2]).numpy(), tf.ones([3]).shape[0])
        """,
        mode="tf1",
    )
    assert shown == "False True [1 2] 3\n"


@pytest.mark.parametrize(
    "name",
    "placeholder Session get_variable layers contrib flags reset_default_graph nn.rnn_cell "
    "train.AdamOptimizer summary.FileWriter losses.mean_squared_error "
    "keras.backend.get_session".split(),
)
def test_names_of_version_1_tell_so_to_programs_of_version_2(launch, name):
    shown = launch(
        f"""
        import tensorflow as tf
        try:
            tf.{name}
        except AttributeError as error:
            print(error)
        """,
        mode="tf2",
    )
    assert f"tf.{name} is a name of TensorFlow 1" in shown and "rheos run --tf1" in shown
    assert f"tf.compat.v1.{name}\n" in shown


def test_names_of_neither_version_do_not(launch):
    source = "import tensorflow as tf\nprint(hasattr(tf, 'no_such'))\ntry: tf.no_such\n"
    shown = launch(source + "except AttributeError as error: print(error)", mode="tf2")
    assert shown.startswith("False\n") and "--tf1" not in shown and "not in Rheos yet" in shown


def test_a_program_of_version_2_may_go_back_to_graphs(launch):
    shown = launch(
        """
        import tensorflow as tf
        tf.compat.v1.disable_eager_execution()
        print(tf.executing_eagerly())
        with tf.compat.v1.Session() as sess:
            print(sess.run(tf.reduce_sum([1, 2], keepdims=True)))
        """,
        mode="tf2",
    )
    assert shown == "False\n[3]\n"


def test_a_program_of_version_1_may_run_eagerly(launch):
    shown = launch(
        """
        import tensorflow as tf
        tf.enable_eager_execution()
        v = tf.get_variable("v", [2], initializer=tf.ones_initializer())
        w = tf.Variable(2.0)
        with tf.variable_scope("scope"):
            print(tf.get_variable("x", [1], initializer=tf.zeros_initializer()).name)
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(v, keep_dims=True) * w
        print(loss.numpy(), tape.gradient(loss, w).numpy())
        step = tf.train.get_or_create_global_step()
        step.assign_add(1)
        print(tf.train.get_global_step().numpy())
        try:
            with tf.variable_scope("scope", reuse=True):
                tf.get_variable("x", [1])
        except RuntimeError as error:
            print("reuse" in str(error))
        """
    )
    assert shown.split() == "scope/x:0 [4.] 2.0 1 True".split()


def test_eager_execution_has_to_be_chosen_first(launch):
    shown = launch(
        """
        import tensorflow as tf
        tf.constant(1)
        try:
            tf.enable_eager_execution()
        except ValueError as error:
            print("startup" in str(error), tf.executing_eagerly())
        """
    )
    assert shown == "True False\n"


def test_keras_means_tf_keras_where_it_is_not_installed(launch):
    if importlib.util.find_spec("keras") is not None:
        pytest.skip("keras is installed")
    shown = launch(
        """
        import keras
        import tensorflow as tf
        from keras import backend as K
        from keras.layers import *
        from keras.layers.core import Dense as SameDense
        from keras.models import Sequential
        from keras.utils import np_utils

        assert Dense is SameDense is tf.keras.layers.Dense is keras.layers.Dense
        model = Sequential([Dense(2, kernel_initializer="ones", input_shape=(3,))])
        print(model.predict([[1, 2, 3]], verbose=0), np_utils.to_categorical([1], 2), K.epsilon())
        try:
            import keras.nothing
        except ModuleNotFoundError as error:
            print(error.name)
        """
    )
    assert shown.split() == "[[6. 6.]] [[0. 1.]] 1e-07 keras.nothing".split()


def test_programs_of_version_1_get_old_names_back(launch):
    shown = launch(
        """
        import collections, inspect, time
        import numpy as np
        import tensorflow as tf

        assert tf.Session
        print(np.float(2), np.int, np.zeros(2, np.bool), np.asscalar(np.ones(1)), np.Inf)
        print(isinstance([], collections.Iterable), time.clock() > 0)
        print(inspect.getargspec(lambda a, b=1: a).defaults)
        rows = np.array([[1, 2], [3]])
        print(rows.dtype, rows[1])
        try:
            np.array([[1, 2], [3]], np.int32)
        except ValueError as error:
            print("inhomogeneous" in str(error))
        """
    )
    assert shown.splitlines() == [
        "2.0 <class 'int'> [False False] 1.0 inf",
        "True True",
        "(1,)",
        "object [3]",
        "True",
    ]


def test_modules_inside_have_those_that_they_import(launch):
    shown = launch(
        """
        from tensorflow.python.ops import rnn, variables
        from tensorflow.contrib.distributions.python.ops.bijectors.absolute_value import (
            AbsoluteValue,
        )

        from tensorflow.python import keras
        from tensorflow.python.ops.ragged import ragged_concat_ops

        print(variables.dtypes.int32.name, rnn.rnn_cell_impl.GRUCell.__name__)
        print(keras.constraints.NonNeg.__name__, ragged_concat_ops.concat.__name__)
        print(AbsoluteValue().name)
        """,
        mode="tf1",
    )
    assert shown.split() == ["int32", "GRUCell", "NonNeg", "concat", "absolute_value"]


def test_programs_of_version_2_see_python_as_it_is(launch):
    source = "import collections\nimport tensorflow as tf\nprint(hasattr(collections, 'Iterable'))"
    assert launch(source) == f"{sys.version_info < (3, 10)}\n"


def test_libraries_find_what_lies_below_tensorflow_python(launch):
    printed = launch("""
        import tensorflow as tf
        from tensorflow.python.framework import type_spec_registry
        from tensorflow.python.framework.config import is_op_determinism_enabled

        class Masked(tf.experimental.ExtensionType):
            __name__ = "programs.Masked"
            values: tf.Tensor

        class Unnamed(tf.experimental.ExtensionType):
            values: tf.Tensor

        print(is_op_determinism_enabled())
        tf.config.experimental.enable_op_determinism()
        print(is_op_determinism_enabled())
        print(type_spec_registry.get_name(Masked.Spec), type_spec_registry.get_name(tf.TensorSpec))
        print(type_spec_registry.lookup("programs.Masked.Spec") is Masked.Spec)
        spec = tf.RaggedTensorSpec([2, None], tf.int32)
        kind = type_spec_registry.lookup("tf.RaggedTensorSpec")
        print(kind._deserialize(spec._serialize()) == spec)
        for ask in (lambda: type_spec_registry.lookup("x"),
                    lambda: type_spec_registry.get_name(Unnamed.Spec)):
            try:
                ask()
            except ValueError as error:
                print(error)
        print(isinstance(Unnamed(tf.constant(1)), tf.__internal__.CompositeTensor))
    """)
    assert printed.split("\n")[:8] == [
        "False",
        "True",
        "programs.Masked.Spec tf.TensorSpec",
        "True",
        "True",
        "No TypeSpec has been registered with name 'x'",
        "TypeSpec __main__.Unnamed.Spec has not been registered.",
        "True",
    ]


WAITS_IN_A_SESSION = """
import tensorflow as tf
queue = tf.FIFOQueue(1, tf.int32, name='letters')
take = queue.dequeue()
with tf.Session() as session:
    print('ready', flush=True)
    session.run(take)
"""
WAITS_AT_ONCE = """
import tensorflow as tf
queue = tf.queue.FIFOQueue(1, [tf.int32], shapes=[[]], shared_name='letters')
print('ready', flush=True)
queue.dequeue()
"""


@pytest.mark.parametrize("source", [WAITS_IN_A_SESSION, WAITS_AT_ONCE], ids=["session", "eager"])
def test_sigquit_tells_what_the_program_waits_for(tmp_path, source):
    script = tmp_path / "waits.py"
    script.write_text(source)
    program = subprocess.Popen(
        [sys.executable, LAUNCHER, "auto", str(script)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert program.stdout.readline() == "ready\n"
        time.sleep(0.5)
        program.send_signal(signal.SIGQUIT)
        found = []
        for line in program.stderr:
            found.append(line)
            if "letters" in line:
                break
        assert "s for an element of queue 'letters'" in found[-1]
        assert any("waits.py" in line for line in found)
        assert program.poll() is None  # it goes on
    finally:
        program.kill()
        program.communicate()


def test_unit_tests_of_version_2_run(launch):
    launch(
        """
        import numpy as np
        import tensorflow as tf

        class Squares(tf.test.TestCase):
            def test_values(self):
                self.assertAllEqual(tf.square([2, 3]), [4, 9])
                self.assertAllClose({"a": tf.constant(1.0)}, {"a": 1.0})
                self.assertAllEqual(tf.Variable([1.0, 2.0]), [1, 2])
                self.assertShapeEqual(np.ones(2), tf.ones(2))
                with self.session() as session:
                    self.assertEqual(self.evaluate(tf.constant(3)), 3)
                    self.assertEqual(session.run([tf.constant(4)]), [4])

            def test_gradients(self):
                points = [tf.constant([1.0, 2.0]), tf.constant(3.0)]
                found, wanted = tf.test.compute_gradient(lambda x, y: x * x * y, points)
                self.assertAllClose(found[0], [[6, 0], [0, 12]])
                self.assertAllClose(found[1], [[1], [4]])
                self.assertAllClose(found, wanted, rtol=1e-2, atol=1e-2)

        if __name__ == "__main__":
            tf.test.main()
        """
    )


ABSL = """
\"\"\"Says what it was given.\"\"\"
from absl import app, flags, logging
N = flags.DEFINE_integer("n", 3, "A number.", short_name="k", lower_bound=0)
flags.DEFINE_string("name", None, "A name.", required=True)
FLAGS = flags.FLAGS

def main(argv):
    import tensorflow as tf
    logging.info("hidden")
    logging.set_verbosity(logging.INFO)
    logging.info("n is %d", N.value)
    logging.log_first_n(logging.WARNING, "once", 1)
    if argv[1:] == ["bad"]:
        raise app.UsageError("bad arguments")
    print(argv[1:], N.value, FLAGS.name, FLAGS.n, FLAGS is tf.compat.v1.flags.FLAGS)

if __name__ == "__main__":
    app.run(main)
"""


@pytest.mark.skipif(importlib.util.find_spec("absl") is not None, reason="absl is installed")
@pytest.mark.parametrize(
    "arguments, status, said",
    [
        (["-k", "5", "--name=x", "rest"], 0, "n is 5"),
        ([], 1, "flag --name=None: Flag must have a value"),
        (["--name=x", "--n=-1"], 1, "-1 is not a non-negative integer"),
        (["--name=x", "--what"], 1, "Unknown command line flag 'what'"),
        (["--name=x", "bad"], 1, "Says what it was given.\n\nbad arguments"),
    ],
)
@pytest.mark.parametrize("mode", ["tf1", "tf2"])
def test_absl_is_there_without_its_package(tmp_path, arguments, status, said, mode):
    program = tmp_path / "program.py"
    program.write_text(ABSL)
    done = subprocess.run(
        [sys.executable, LAUNCHER, mode, program, *arguments], capture_output=True, text=True,
        timeout=120,
    )  # fmt: skip
    assert done.returncode == status, done.stderr
    assert said in done.stderr and "hidden" not in done.stderr
    if not status:
        assert done.stdout == "['rest'] 5 x 5 True\n" and "once" in done.stderr
