"""`rheos debug` of traced functions: calls that are stopped before and within, and recorded."""

import os
import subprocess
import textwrap
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parent.parent
BUILD = Path(os.environ.get("RHEOS_BUILD", SOURCE / "build"))

PROGRAM = """
    import tensorflow as tf

    total = tf.Variable(0.0)

    @tf.function
    def inner(x):
        return tf.sqrt(x, name="root")

    @tf.function
    def step(x):
        for i in tf.range(2):
            x = tf.multiply(x, 2.0, name="twice")
        root = inner(x - 10.0)
        total.assign_add(tf.reduce_sum(x))
        return tf.reduce_sum(root, name="sum")

    for i in range(3):
        print("step %g, total %g" % (step(tf.constant([5.0 - i])), total), flush=True)
    zero = tf.constant([0.0])
    bad = tf.math.log(zero)
    print("the end")
"""

CALL = 'print("step %g, total %g" % (step(tf.constant([5.0 - i])), total), flush=True)'
OUTPUT = "step 3.16228, total 20\nstep 2.44949, total 36\nstep 1.41421, total 48\nthe end\n"


@pytest.fixture
def rheos(tmp_path):
    (tmp_path / "program.py").write_text(textwrap.dedent(PROGRAM))

    def run(*arguments, commands=()):
        (tmp_path / "commands").write_text("\n".join(commands) + "\n")
        done = subprocess.run(
            [BUILD / "bin" / "rheos", "debug", *arguments], cwd=tmp_path, capture_output=True,
            text=True, timeout=120,
        )  # fmt: skip
        assert "Traceback" not in done.stderr, done.stderr
        return done

    return run


@pytest.fixture
def debug(rheos):
    return lambda *commands: rheos("--commands", "commands", "program.py", commands=commands)


def told(done, command, place="in the step"):
    """What was said to the command, a line each."""
    _, _, rest = done.stderr.partition(f"({place}) {command}\n")
    lines = rest.splitlines()
    ends = [i for i, line in enumerate(lines) if line.startswith(("(in", "(before", "call "))]
    return lines[: ends[0]] if ends else lines


def test_it_stops_before_each_call(debug):
    done = debug("c", "p x", "c", "c")
    assert done.returncode == 0 and done.stdout == OUTPUT
    lines = [line for line in done.stderr.splitlines() if line.startswith("call ")]
    assert [line.split(":")[0] for line in lines] == ["call 1", "call 2", "call 3"]
    assert "program.py:19: " in lines[0] and lines[0].endswith(CALL)
    assert done.stderr.count("  step(x: float32 [1])\n") == 3
    assert told(done, "p x", "before the call") == ["[4.]"]


def test_it_steps_through_loops_and_functions(debug):
    done = debug("u twice", "u twice", "p", "u root", "stats", "w", "o", "c")
    assert done.stdout == OUTPUT
    first, second = told(done, "u twice", "before the call"), told(done, "u twice")
    assert first[-2].startswith("twice:0 (Mul) in inference_step_1;0;while;0: float32 [1], 10 ")
    assert first[-1].endswith('program.py:13: x = tf.multiply(x, 2.0, name="twice")')
    assert second[-2].startswith("twice:0 (Mul) in inference_step_1;0;while;1: float32 [1], 20 ")
    assert told(done, "p") == ["[20.]"]
    assert told(done, "u root")[-2].startswith(
        "root:0 (Sqrt) in inference_step_1;0;PartitionedCall;0: float32 [1], 3.16228 to 3.16228"
    )
    assert told(done, "w")[0].endswith(f"program.py:19: {CALL}")
    assert told(done, "o")[0].startswith("PartitionedCall:0 (PartitionedCall) in inference_step")


def test_bodies_tell_of_their_operations(debug):
    done = debug("u twice", "info", "inputs", "outputs", "info nothing", "u root", "inputs", "c")
    assert done.stdout == OUTPUT
    assert told(done, "info")[0] == "twice (Mul)"
    assert told(done, "info")[1].endswith('x = tf.multiply(x, 2.0, name="twice")')
    assert told(done, "inputs") == ["  x:0 (Placeholder)", "  twice/y:0 (Const)"]
    assert told(done, "outputs") == ["  twice:0 to Identity_3 (Identity)"]
    assert "no operation 'nothing' in inference_step_1;0;while;0" in told(done, "info nothing")[0]


def test_a_body_is_stepped_over(debug):
    done = debug("n", *["n"] * 30, "c")
    assert done.stdout == OUTPUT
    steps = [line for line in done.stderr.splitlines() if " in inference_step_1" in line]
    assert any(line.startswith("while:3 (StatelessWhile)") for line in steps)
    assert all(" in inference_step_1;0:" in line for line in steps if not line[0].isspace())


def test_breaks_are_in_functions_and_of_what_runs_at_once(debug):
    done = debug("b twice if value[0] > 15", "break nan", "c", "p", *["c"] * 3, "delete 1", *"cpc")
    assert done.stdout == OUTPUT
    assert "break 1: twice:0 (Mul) in inference_step_1;0;while;1: float32 [1], 20 " in done.stderr
    where = "break 2: NaN or infinity: Log:0 (Log): float32 [1], 0 zeros, 0 NaN, 1 infinite\n"
    assert where in done.stderr
    assert done.stderr.partition(where)[2].splitlines()[0].endswith(
        "program.py:21: bad = tf.math.log(zero)"
    )


def test_values_are_set_before_a_call(debug):
    done = debug("set x = [25.]", "c", "set PartitionedCall = [7.]", "c", "c")
    assert done.stdout.splitlines() == [
        "step 9.48683, total 100", "step 7, total 116", "step 1.41421, total 128", "the end",
    ]  # fmt: skip


def test_commands_that_mean_nothing_are_said(debug):
    done = debug("p nothing", "set nothing = 3", "explain", "info root", "b nothing", "delete 7")
    assert done.returncode == 0 and done.stdout == OUTPUT
    assert told(done, "p nothing", "before the call") == [
        "ValueError: there is no operation 'nothing'"
    ]
    assert "explain is for runs of sessions" in told(done, "explain", "before the call")[0]
    assert "may have one" in told(done, "b nothing", "before the call")[0]


def test_it_goes_on_and_ends(debug):
    done = debug("runs 2", "q")
    assert done.returncode == 0 and done.stdout.count("step") == 2


def test_a_call_is_recorded_and_replayed(rheos, tmp_path):
    done = rheos("--record", "call.rec", "--run", "2", "program.py")
    assert done.returncode == 0 and done.stdout == OUTPUT
    assert "run 2 is in call.rec: " in done.stderr
    for more in ("", "--whole --threads 1", "--whole --threads 8 --no-rewriting"):
        done = rheos("--replay", "call.rec", *more.split())
        assert done.returncode == 0, done.stdout + done.stderr
        assert " values are the same\n" in done.stdout
    assert rheos("--replay", "program.py").returncode == 2


def test_a_replay_finds_what_differs(rheos, tmp_path, monkeypatch):
    assert rheos("--record", "call.rec", "program.py").returncode == 0
    script = tmp_path / "other.py"
    script.write_text(
        textwrap.dedent("""
        import rheos, sys
        from rheos.inspection import recording
        told = recording.read("call.rec")
        told.values["sub:0"] = told.values["sub:0"] + 1
        recording.write("other.rec", told)
        """)
    )
    python = (BUILD / "python-interpreter").read_text().strip()
    environment = {**os.environ, "PYTHONPATH": str(BUILD / "python")}
    subprocess.run([python, script], cwd=tmp_path, env=environment, check=True)
    done = rheos("--replay", "other.rec", "--whole")
    assert done.returncode == 1
    assert "not the same: sub:0 (Sub)" in done.stdout and "takes while:3" in done.stdout
