"""`rheos debug`: a program that is stopped before its runs and within them."""

import os
import subprocess
import textwrap
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parent.parent
BUILD = Path(os.environ.get("RHEOS_BUILD", SOURCE / "build"))

PROGRAM = """
    import tensorflow as tf
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    with tf.variable_scope("layer"):
        w = tf.get_variable("w", [2, 3], initializer=tf.ones_initializer())
        y = tf.nn.relu(tf.matmul(x, w, name="product"), name="out")
    z = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * 2), [0, y])[1]
    loss = tf.log(tf.reduce_sum(z), name="loss")
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for i in range(3):
            print("loss %g" % session.run(loss, {x: [[1, 2]]}), flush=True)
    print("the end")
"""


RUN = 'print("loss %g" % session.run(loss, {x: [[1, 2]]}), flush=True)'


@pytest.fixture
def debug(tmp_path):
    script = tmp_path / "program.py"
    script.write_text(textwrap.dedent(PROGRAM))

    def run(*commands, as_input=False):
        lines = "\n".join(commands) + "\n"
        arguments = [BUILD / "bin" / "rheos", "debug"]
        if not as_input:
            (tmp_path / "commands").write_text(lines)
            arguments += ["--commands", tmp_path / "commands"]
        done = subprocess.run(
            [*arguments, script],
            capture_output=True,
            text=True,
            timeout=120,
            input=lines if as_input else "",
        )
        assert "Traceback" not in done.stderr, done.stderr
        return done

    return run


def told(done, command, place="in the step"):
    """What was said to the command, a line each."""
    _, _, rest = done.stderr.partition(f"({place}) {command}\n")
    lines = rest.splitlines()
    ends = [i for i, line in enumerate(lines) if line.startswith(("(in", "(before", "run "))]
    return lines[: ends[0]] if ends else lines


def test_it_stops_before_each_run(debug):
    done = debug("c", "c", "c", "c")
    assert done.returncode == 0
    assert done.stdout == "loss 4.27667\n" * 3 + "the end\n"
    lines = [line for line in done.stderr.splitlines() if line.startswith("run ")]
    assert [line.split(":")[0] for line in lines] == ["run 1", "run 2", "run 3", "run 4"]
    assert "program.py:12: " in lines[1] and lines[1].endswith(RUN)
    assert "  fetches loss:0, feeds [x:0]\n" in done.stderr


def test_commands_come_from_standard_input_too(debug):
    done = debug("c", "b loss", "c", "p loss", "q", as_input=True)
    assert done.returncode == 0 and done.stdout == ""
    assert told(done, "p loss") == ["4.276666"]


def test_it_goes_to_an_operation_and_shows_values(debug):
    done = debug(
        "c", "until layer/out", "p layer/product", "p layer/product[0, 1:]", "stats layer/out",
        "hist layer/out", "inputs", "outputs layer/out", "info layer/product", "w", "c",
    )  # fmt: skip
    assert "layer/out:0 (Relu): float32 [1, 3], 3 to 3, mean 3, 0 zeros\n" in done.stderr
    assert told(done, "p layer/product") == ["[[3. 3. 3.]]"]
    assert told(done, "p layer/product[0, 1:]") == ["[3. 3.]"]
    assert told(done, "stats layer/out") == ["float32 [1, 3], 3 to 3, mean 3, 0 zeros"]
    assert len(told(done, "hist layer/out")) == 10
    assert told(done, "inputs") == ["  layer/product:0 (MatMul)"]
    assert told(done, "outputs layer/out") == ["  layer/out:0 to while/Enter_1 (Enter)"]
    info = told(done, "info layer/product")
    assert info[0] == "layer/product (MatMul)" and "  transpose_a: b: false" in info
    assert info[-1].endswith('y = tf.nn.relu(tf.matmul(x, w, name="product"), name="out")')
    assert told(done, "w")[0].endswith(RUN)


def test_it_steps_into_loops_and_over_them(debug):
    done = debug("c", "until layer/out", "n", "s", "s", "o", "c")
    stops = [line for line in done.stderr.splitlines() if " (" in line and line[:1].isalpha()]
    assert any(" in while/LoopCond;0: " in line for line in stops)
    after = told(done, "o")
    assert " in " not in after[0].partition(": ")[0]


def test_conditions_and_numbers_that_are_none(debug):
    done = debug(
        "c", "b layer/out if value.max() > 5", "b layer/product if value.max() < 5", "b nan",
        "breaks", "c", "delete 2", "c", "set layer/out = np.zeros((1, 3))", "c", "w", "c", "c",
    )  # fmt: skip
    assert told(done, "breaks", "before the run") == [
        "break 1: layer/out if value.max() > 5",
        "break 2: layer/product if value.max() < 5",
        "break 3: nan",
    ]
    assert "break 2: layer/product:0 (MatMul): " in done.stderr
    assert "break 1: layer/out:0" not in done.stderr
    assert "break 3: NaN or infinity: loss:0 (Log): float32 []" in done.stderr
    assert done.stdout == "loss 4.27667\nloss -inf\nloss 4.27667\nthe end\n"


def test_runs_are_passed(debug):
    done = debug("runs 3", "p loss", "q")
    assert done.stdout == "loss 4.27667\n" * 2
    assert "run 4: " in done.stderr and "run 2: " not in done.stderr
    assert "has not been computed yet in a step that was watched" in done.stderr


def test_quitting_in_a_step_ends_the_program(debug):
    done = debug("c", "u layer/out", "q")
    assert done.returncode == 0 and done.stdout == ""


def test_mistakes_are_answered_and_the_program_goes_on(debug):
    done = debug(
        "c", "stap", "p nothing", "b laye", "until", "set loss", "b loss if value >", "delete 7",
        "explain", "u loss", "explain", "set loss = 1", "p loss[9, 9]", "eval 1/0", "c",
    )  # fmt: skip
    assert done.stdout.endswith("the end\n")
    for words in (
        "there is no command 'stap'",
        "there is no operation 'nothing'",
        "did you mean layer/",
        "which operation?",
        "set NAME = EXPR",
        "SyntaxError",
        "there is no break 7",
        "explain is for before it",
        "values are set before a run",
        "IndexError",
        "ZeroDivisionError",
    ):
        assert words in done.stderr, words


def test_a_run_is_recorded_and_replayed(tmp_path):
    script, path = tmp_path / "program.py", tmp_path / "run.rec"
    script.write_text(textwrap.dedent(PROGRAM))
    command = [BUILD / "bin" / "rheos", "debug"]
    done = subprocess.run(
        [*command, "--record", path, "--run", "3", script],
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0 and done.stdout == "loss 4.27667\n" * 3 + "the end\n"
    assert done.stderr.startswith(f"run 3 is in {path}: ")
    for options in ([], ["--threads", "1", "--no-rewriting", "--whole"]):
        done = subprocess.run(
            [*command, "--replay", path, *options], capture_output=True, text=True, timeout=120
        )
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.endswith(" values are the same\n")
    path.write_bytes(b"x")
    done = subprocess.run(
        [*command, "--replay", path], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 2 and "it is no recording of a step" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "script"),
        (["--commands"], "needs a value"),
        (["--commands", "/nowhere/at/all", "x.py"], "cannot be read"),
        (["-"], "standard input has the commands"),
        (["--comands=x", "x.py"], "--commands"),
        (["--run", "2", "x.py"], "goes with --record"),
        (["--record", "r", "--run", "0", "x.py"], "a number from 1 on"),
        (["--record", "r", "--commands", "c", "x.py"], "do not go together"),
        (["--replay"], "the file of a recording"),
    ],
)
def test_wrong_usage(arguments, words):
    done = subprocess.run(
        [BUILD / "bin" / "rheos", "debug", *arguments], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 2 and done.stdout == "" and words in done.stderr
