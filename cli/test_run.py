"""`rheos run`: a program behaves as under python, and `import tensorflow` finds Rheos.

Programs are run by the built command in a copied tree, build/bin beside python/, whose `rheos`
package is a stand-in of a few names, so that what is tested is the launcher alone.
"""

import ast
import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parent.parent
BUILD = Path(os.environ.get("RHEOS_BUILD", SOURCE / "build"))

sys.path.insert(0, str(SOURCE / "python" / "rheos"))
import _launch  # noqa: E402

sys.path.pop(0)

PACKAGE = {
    "__init__.py": "",
    "_old_names.py": "def give_back(): pass\n",
    "framework/__init__.py": "",
    "framework/eager.py": "def keep_version_1(): pass\n",
    "v2/_insides/__init__.py": "",
    "v2/_insides/known_modules.py": "def name_them(): pass\n",
    "v2/__init__.py": "front = 'v2'\ndef function(f): return f\n",
    "v2/compat.py": "import rheos.v1 as v1\nimport rheos.v2 as v2\n",
    "v2/keras/__init__.py": "",
    "v2/keras/layers.py": "Dense = 'dense'\n",
    "v1/__init__.py": "front = 'v1'\nfrom rheos.v1 import train, compat\ndef matmul(): pass\n",
    "v1/train.py": "Saver = 'saver'\n",
    "v1/compat.py": "import rheos.v1 as v1\nas_text = str\n",
    "v1/flags.py": "FLAGS = 'flags'\n",
    "v1/_insides/__init__.py": "",
    "v1/_insides/inside_module.py": "PLACES = {}\ndef is_known(name): return name in PLACES\n",
    "v1/broken.py": "import a_module_that_is_missing\n",
}


@pytest.fixture(scope="session")
def tree(tmp_path_factory):
    """The command beside a stand-in package."""
    root = tmp_path_factory.mktemp("tree with a space")
    (root / "bin").mkdir()
    shutil.copy(BUILD / "bin" / "rheos", root / "bin")
    (root / "lib").symlink_to(BUILD / "lib")
    package = root / "python" / "rheos"
    for name, text in PACKAGE.items():
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        (package / name).write_text(text)
    shutil.copy(SOURCE / "python" / "rheos" / "_launch.py", package)
    return root


@pytest.fixture
def run(tree, tmp_path):
    """run(source, *arguments, options=(), files={}) runs a program; gives the finished process."""

    def run_program(
        source, *arguments, options=(), files=None, program=None, given=None, **environment
    ):
        for name, text in {"main.py": source, **(files or {})}.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(textwrap.dedent(text))
        program = program or [tmp_path / "main.py"]
        command = [tree / "bin" / "rheos", "run", *options, *program, *arguments]
        # The package under test is the stand-in, not the one that this test runs beside.
        chosen = {"PYTHONPATH", "VIRTUAL_ENV", "CONDA_PREFIX", "RHEOS_PYTHON"}
        clean = {k: v for k, v in os.environ.items() if k not in chosen}
        return subprocess.run(
            command, capture_output=True, text=True, env={**clean, **environment}, timeout=60,
            cwd=tmp_path, input=given,
        )  # fmt: skip

    return run_program


def command(*arguments):
    return subprocess.run(
        [BUILD / "bin" / "rheos", *arguments], capture_output=True, text=True, timeout=60
    )


# ---- The command


def test_version_and_help():
    assert command("--version").stdout.startswith("rheos ")
    assert "run" in command("--help").stdout
    assert "--tf1" in command("help", "run").stdout
    assert command("run", "--help").stdout == command("help", "run").stdout


@pytest.mark.parametrize("name", ["show", "exec", "bench", "convert"])
def test_help_may_stand_behind_other_arguments(name):
    for arguments in (["--help"], ["-h"], ["missing.pb", "--help"], ["--json", "x", "y", "-h"]):
        done = command(name, *arguments)
        assert done.returncode == 0 and done.stderr == ""
        assert done.stdout == command("help", name).stdout
    assert command(name, "--", "--help").returncode in (1, 2)  # now it is a path


def test_help_behind_a_script_is_the_scripts(tmp_path):
    script = tmp_path / "script.py"
    script.write_text("import sys; print(sys.argv[1:])")
    assert command("run", script, "--help", "-h").stdout == "['--help', '-h']\n"


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("fly",),
        ("help", "fly"),
        ("run",),
        ("run", "--tf3", "x.py"),
        ("run", "missing.py"),
        ("run", "--keras=4", "x.py"),
    ],
)
def test_usage_errors_are_on_standard_error_with_status_2(arguments):
    done = command(*arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("rheos: ") and done.stderr.count("\n") == 1


def test_another_interpreter_can_be_named(run):
    done = run("print(1)", RHEOS_PYTHON="/no/such/python")
    assert done.returncode == 2 and "/no/such/python" in done.stderr


def test_the_interpreter_of_the_active_environment_is_taken(run, tmp_path):
    for variable in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        python = tmp_path / variable / "bin" / "python"
        python.parent.mkdir(parents=True)
        python.write_text(f"#!/bin/sh\necho python of {variable}\n")
        python.chmod(0o755)
        folder = str(python.parent.parent)
        assert run("print(1)", **{variable: folder}).stdout == f"python of {variable}\n"
        named = run("print(1)", RHEOS_PYTHON="/bin/echo", **{variable: folder})
        assert named.stdout.endswith("main.py\n")
        # One that is gone is not missed.
        assert run("print(1)", **{variable: folder + "/no"}).stdout == "1\n"


def test_python_2_shows_what_is_needed():
    source = (SOURCE / "python" / "rheos" / "_launch.py").read_text(encoding="ascii")
    with pytest.raises(SyntaxError) as error:
        ast.parse(source, feature_version=(3, 5))
    assert "Rheos needs Python 3.9 or a later one" in source.splitlines()[error.value.lineno - 1]


# ---- As python does it


def test_argv_path_and_main_are_the_programs(run, tmp_path):
    done = run(
        """
        import sys, __main__
        assert __name__ == "__main__" and __main__.__dict__ is globals()
        print(__file__, sys.argv[1:], sys.path[0], sep="|")
        print(sorted(n for n in globals() if not n.startswith("__")))
        """,
        "a b",
        "--flag",
    )
    main = tmp_path / "main.py"
    assert done.stdout == f"{main}|['a b', '--flag']|{tmp_path}\n['sys']\n"


def test_pythonpath_is_kept_and_the_package_shadows_nothing(run, tmp_path):
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "helper.py").write_text("where = 'other'\n")
    done = run(
        "import helper, train; print(helper.where, train.where)",
        files={"train.py": "where = 'own'\n"},
        PYTHONPATH=str(tmp_path / "other"),
    )
    assert done.stdout == "other own\n"


@pytest.mark.parametrize(
    "statement, status",
    [("pass", 0), ("import sys; sys.exit(7)", 7), ("raise SystemExit('text')", 1), ("1/0", 1)],
)
def test_the_exit_status_is_the_programs(run, statement, status):
    assert run(statement).returncode == status


def test_an_interrupt_ends_it_as_it_ends_python(run):
    assert run("raise KeyboardInterrupt").returncode == -2


PACKAGE_OF_OURS = {
    "ours/__init__.py": "made = 'ours'\n",
    "ours/helper.py": "import tensorflow as tf\nfront = tf.front\nif 0: tf.placeholder\n",
    "ours/train.py": """
        import sys
        from . import made, helper
        print(__name__, __package__, __spec__.name, made, helper.front, sys.argv[1:])
        print(sys.argv[0] == __file__, sys.path[0] == __import__("os").getcwd())
        """,
    "ours/deep/__init__.py": "",
    "ours/deep/__main__.py": "from ..helper import front\nprint(front)\nraise KeyError('k')\n",
}


def test_modules_run_as_python_runs_them(run, tmp_path):
    done = run("", "a", "-b", program=["-m", "ours.train"], files=PACKAGE_OF_OURS)
    assert done.stderr == "" and done.stdout.splitlines() == [
        "__main__ ours ours.train ours v1 ['a', '-b']",
        "True True",
    ]
    done = run("", program=["-m", "ours.deep"], files=PACKAGE_OF_OURS, options=["--tf2"])
    assert done.returncode == 1 and done.stdout == "v2\n"
    first = f'  File "{tmp_path}/ours/deep/__main__.py", line 3'
    assert done.stderr.splitlines()[1].startswith(first)


@pytest.mark.parametrize(
    "name, status, said",
    [
        (["ours.missing"], 1, "No module named ours.missing"),
        (["main.missing"], 1, "No module named main.missing"),
        (["ours"], 1, "No module named ours.__main__; ours is a package"),
        ([], 2, "-m wants a module"),
    ],
)
def test_modules_that_cannot_run_are_named(run, name, status, said):
    done = run("", program=["-m", *name], files=PACKAGE_OF_OURS)
    assert done.returncode == status and said in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_programs_that_lie_in_no_file_run_as_python_runs_them(run):
    source = "import sys, tensorflow as tf\nprint(tf.front, sys.argv, [sys.path[0]], __name__)\n"
    source += "import inspect\ndef f(): pass\nprint(inspect.getsource(f))\ntf.Session\n"
    done = run("", "a", "-b", program=["-"], given=source)
    assert done.stdout == "v1 ['-', 'a', '-b'] [''] __main__\ndef f(): pass\n\n"
    assert "no attribute 'Session'" in done.stderr.splitlines()[-1]
    assert run("", "a", program=["-c", source]).stdout.startswith("v1 ['-c', 'a'] [''] __main__\n")
    chosen = run("", program=["-c", source], options=["--tf2"])
    assert chosen.stdout.startswith("v2") and chosen.returncode == 1
    done = run("", program=["-c"])
    assert done.returncode == 2 and done.stderr.count("\n") == 1


def test_tracebacks_and_syntax_errors_are_pythons(run, tmp_path):
    for source in ("def f():\n  raise ValueError('x')\nf()\n", "print 'x'\n"):
        done = run(source)
        expected = subprocess.run(
            [sys.executable, tmp_path / "main.py"], capture_output=True, text=True
        )
        assert done.stderr == expected.stderr
        assert done.returncode == expected.returncode == 1


def test_unittest_finds_the_programs_tests(run):
    done = run(
        """
        import unittest
        class T(unittest.TestCase):
            def test_it(self): pass
        unittest.main()
        """
    )
    assert "Ran 1 test" in done.stderr and done.returncode == 0


# ---- What tensorflow means


@pytest.mark.parametrize(
    "imports, shows",
    [
        ("import tensorflow.compat.v1 as tf", "tf.front"),
        ("from tensorflow.compat import v1 as tf", "tf.front"),
        ("import tensorflow as tf; tf.placeholder", None),
        ("import tensorflow as tf\nif 0: tf.Session()", "tf.front"),
        ("import tensorflow\nif 0: tensorflow.train.AdamOptimizer", "tensorflow.front"),
        ("import tensorflow as tf\nif 0: tf.compat.v1.Session()", "tf.front"),
        ("from tensorflow import compat\nif 0: compat.v1.placeholder", "compat.v1.front"),
        ("from tensorflow import compat\ntf = compat.v1\nif 0: tf.placeholder", "tf.front"),
        ("import tensorflow as tf2\ntf = tf2.compat.v1\nif 0: tf.Session", "tf.front"),
        ("import tensorflow as f, tensorflow.compat.v1.train as t\nif 0: t.Saver", "f.front"),
        (
            "import tensorflow.compat.v1 as tf\nif 0: tf.disable_v2_behavior()\nimport tensorflow",
            "tensorflow.front",
        ),
        ("import tensorflow as tf\nif 0: tf.enable_eager_execution()", "tf.front"),
    ],
)
def test_programs_of_tensorflow_1(run, imports, shows):
    done = run(f"{imports}\nprint({shows})")
    assert done.stdout == "v1\n" if shows else "rheos.v1" in done.stderr


@pytest.mark.parametrize(
    "source",
    [
        "import tensorflow as tf\nprint(tf.front)",  # nothing decides
        "import tensorflow as tf\nif 0: tf.keras\nprint(tf.front)",
        "import tensorflow as tf\nif 0: tf.optimizers.SGD, tf.compat.v1.gfile\nprint(tf.front)",
        "import tensorflow as tf\n@tf.function\ndef f(): tf.compat.v1.placeholder\nprint(tf.front)",
        "import tensorflow as tf\nif 0: tf.compat.v1.logging, tf.function\nprint(tf.front)",
        "import tensorflow as tf\nimport tensorflow.compat.v2 as t2\nprint(t2.front)",
    ],
)
def test_programs_of_tensorflow_2(run, source):
    assert run(source).stdout == "v2\n"


def test_the_option_decides(run):
    source = "import tensorflow as tf; print(tf.front)"
    assert run(source, options=["--tf1"]).stdout == "v1\n"
    assert run(source + "\nif 0: tf.Session", options=["--tf2"]).stdout == "v2\n"


def test_own_modules_decide_too(run):
    model = "import tensorflow as tf\ndef build(): return tf.get_variable('x')\n"
    source = "from nets.deep import model\nimport tensorflow as tf; print(tf.front)"
    files = {"nets/__init__.py": "", "nets/deep/__init__.py": "", "nets/deep/model.py": model}
    assert run(source, files=files).stdout == "v1\n"
    files["nets/deep/__init__.py"] = "from . import model"
    assert (
        run(source.replace("from nets.deep import model", "import nets.deep"), files=files).stdout
        == "v1\n"
    )


def test_modules_below_tensorflow(run):
    done = run(
        """
        import tensorflow as tf
        import tensorflow.train
        from tensorflow.python.platform import flags
        from tensorflow.train import Saver
        assert tf is tensorflow and tensorflow.train is tf.train
        print(flags.FLAGS, Saver, tf.train.Saver, tf.compat.as_text)
        from tensorflow.keras.layers import Dense
        """,
        options=["--tf1"],
    )
    assert done.stdout.startswith("flags saver saver")
    assert done.stderr.endswith("ModuleNotFoundError: No module named 'tensorflow.keras'\n")
    keras = "from tensorflow.keras.layers import Dense\n"
    keras += "import tensorflow as t; print(t.front, Dense)"
    assert run(keras).stdout == "v2 dense\n"


@pytest.mark.parametrize(
    "name", ["tensorflow.contrib", "tensorflow.contrib.slim", "tensorflow.matmul"]
)
def test_what_is_missing_is_named(run, name):
    done = run(f"import {name}", options=["--tf1"])
    first = ".".join(name.split(".")[:2])
    assert done.stderr.endswith(f"ModuleNotFoundError: No module named '{first}'\n")


def test_tensorflows_insides(run):
    done = run(
        """
        import tensorflow as tf
        import tensorflow.python.training.saver
        from tensorflow.python.framework import ops
        from tensorflow.python.platform import flags
        if 0: ops.get_default_graph()
        assert ops is tf and tf.python.platform.flags is flags
        print(ops.front, flags.FLAGS, tensorflow.python.training.saver.Saver)
        from tensorflow.python.debug import cli
        """
    )
    assert done.stdout == "v1 flags saver\n"
    assert done.stderr.endswith("ModuleNotFoundError: No module named 'tensorflow.python.debug'\n")
    assert _launch.choose_front({"python.framework.ops.get_default_graph"}) == _launch.V1


def test_insides_that_programs_import(tmp_path):
    script = tmp_path / "main.py"
    script.write_text(
        "import tensorflow as tf\n"
        "from tensorflow.contrib.framework.python.ops import add_arg_scope, audio_ops\n"
        "from tensorflow.contrib.learn.python.learn.datasets.mnist import read_data_sets\n"
        "from tensorflow.contrib.slim.python.slim.model_analyzer import analyze_vars\n"
        "from tensorflow.python.ops.control_flow_ops import group, with_dependencies\n"
        "from tensorflow.contrib.layers.python.layers import initializers\n"
        "from tensorflow.examples.tutorials.mnist import input_data\n"
        "from tensorflow.python import pywrap_tensorflow\n"
        "from tensorflow.python.client import device_lib\n"
        "from tensorflow.python.framework import ops, tensor_util\n"
        "from tensorflow.python.ops import gen_nn_ops, rnn_cell_impl\n"
        "from tensorflow.python.platform import resource_loader\n"
        "from tensorflow.python.tools import freeze_graph, inspect_checkpoint\n"
        "from tensorflow.python.training import moving_averages, training_ops\n"
        "from tensorflow.python.ops import array_ops, io_ops, resources\n"
        "import tensorflow.contrib.slim as slim\n"
        "assert add_arg_scope is tf.contrib.framework.add_arg_scope\n"
        "assert initializers.xavier_initializer is slim.xavier_initializer\n"
        "assert rnn_cell_impl.LSTMCell is tf.nn.rnn_cell.LSTMCell\n"
        "print(audio_ops.decode_wav.__name__, pywrap_tensorflow.NewCheckpointReader.__name__)\n"
        "assert array_ops.concat is tf.concat and not hasattr(array_ops, 'no_such_name')\n"
        "assert [io_ops.save_v2.__name__, training_ops.apply_adam.__name__] == "
        "['save_v2', 'apply_adam']\n"
        "assert 'concat' in dir(array_ops) and 'Session' not in dir(array_ops)\n"
        "print([d.name for d in device_lib.list_local_devices()][0])\n"
        "print(resource_loader.get_path_to_datafile('a') == __file__[:-7] + 'a')\n"
    )
    done = command("run", script)
    assert done.stdout == "decode_wav NewCheckpointReader\n/device:CPU:0\nTrue\n", done.stderr


def test_modules_of_messages(tmp_path):
    script = tmp_path / "main.py"
    script.write_text(
        "import tensorflow as tf\n"
        "from tensorflow.core.framework import graph_pb2, types_pb2\n"
        "import tensorflow.core.protobuf.config_pb2 as config_pb2\n"
        "from tensorflow.python.training import checkpoint_state_pb2\n"
        "assert graph_pb2.GraphDef is tf.GraphDef and types_pb2.DT_FLOAT == tf.float32\n"
        "tf.Session(config=config_pb2.ConfigProto(allow_soft_placement=True)).close()\n"
        "print(checkpoint_state_pb2.CheckpointState(model_checkpoint_path='m'))\n"
    )
    done = command("run", "--tf1", script)
    assert done.stdout == 'model_checkpoint_path: "m"\n\n', done.stderr


def test_an_error_inside_rheos_is_not_hidden(run):
    done = run("import tensorflow.broken", options=["--tf1"])
    assert "a_module_that_is_missing" in done.stderr


# ---- Which names a source uses


def names(text):
    return _launch.names_in_text(text)[0]


def test_python_2_sources_are_read_as_text():
    text = "import tensorflow as tf\nprint 'x'\nsess = tf . Session()\n# tf.comment\n"
    assert "Session" in names(text) and "comment" not in names(text)
    assert "contrib.layers" in names("from tensorflow.contrib import layers as l\nexec 'x'\n")
    assert "compat.v1.Session" in names("import tensorflow.compat.v1 as tf\ntf.Session()\n")
    assert _launch.choose_front(names(text)) == _launch.V1


def test_other_modules_attributes_decide_nothing(tmp_path):
    source = tmp_path / "main.py"
    source.write_text("import tensorflow as tf, requests\nrequests.Session()\nx.tf.Session()\n")
    used = _launch.names_in_program(str(source), [str(tmp_path)])
    assert _launch.choose_front(used) == _launch.EITHER
    assert not any("Session" in name for name in used)


def test_star_imports(tmp_path):
    source = tmp_path / "main.py"
    source.write_text("from tensorflow import *\ns = Session()\n")
    used = _launch.names_in_program(str(source), [str(tmp_path)])
    assert _launch.choose_front(used) == _launch.V1


def test_modules_that_import_each_other_end(tmp_path):
    (tmp_path / "a.py").write_text("import b\n")
    (tmp_path / "b.py").write_text("import a\nfrom . import a\nfrom .. import c\n")
    assert _launch.names_in_program(str(tmp_path / "a.py"), [str(tmp_path)]) == set()
