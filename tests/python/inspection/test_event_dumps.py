"""Dumps of debug events: what is in them is what TensorFlow 2.21 wrote for the same program, as
make_debug_events.py recorded it; where there is a TensorFlow (tensorflow_process.py), it reads
ours."""

import importlib.util
import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
import rheos as tf
from rheos.framework import messages
from rheos.training.records import tf_record_iterator
from tensorflow_process import INTERPRETER, is_tensorflow_1

GOLDEN = Path(__file__).parents[2] / "golden"
SPEC = importlib.util.spec_from_file_location(
    "debug_events_program", GOLDEN / "debug_events_program.py"
)
program = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(program)
RECORDED = (GOLDEN / "debug_events.txt").read_text().splitlines()

enable = tf.debugging.experimental.enable_dump_debug_info
disable = tf.debugging.experimental.disable_dump_debug_info


@pytest.fixture(autouse=True)
def ends():
    yield
    disable()


def events(folder, suffix):
    """The events of a file, in order."""
    (path,) = Path(folder).glob(f"tfdbg_events.*.{suffix}")
    return [messages.DebugEvent.FromString(one) for one in tf_record_iterator(str(path))]


def executions(folder):
    return [event.execution for event in events(folder, "execution")]


def traces(folder):
    return [event.graph_execution_trace for event in events(folder, "graph_execution_traces")]


def graphs(folder):
    """{id: DebuggedGraph}, {(graph's id, operation): GraphOpCreation}"""
    every = events(folder, "graphs")
    known = {e.debugged_graph.graph_id: e.debugged_graph for e in every}
    ops = [e.graph_op_creation for e in every if e.graph_op_creation.op_name]
    return known, {(op.graph_id, op.op_name): op for op in ops}


def flat(proto):
    if not proto.dtype:
        return None
    value = tf.make_ndarray(proto)
    return value.astype(np.float64).ravel().tolist() if value.dtype.kind in "fiub" else None


def lines_of(folder, mode):
    for one in executions(folder):
        op = "f" if one.op_type.startswith("__inference_f_") else one.op_type
        if op in program.EXECUTED:
            yield program.line("execution", mode, op, map(flat, one.tensor_protos))
    _, ops = graphs(folder)
    for one in traces(folder):
        op = ops[one.tfdbg_context_id, one.op_name].op_type
        value = flat(one.tensor_proto)
        if value and mode != "FULL_TENSOR":
            value = value[1:]
        if op in program.TRACED:
            yield program.line("trace", mode, op, [value] if mode != "NO_TENSOR" else [])


@pytest.mark.parametrize("mode", program.MODES)
def test_what_tensorflow_dumped_is_what_is_dumped_here(mode, tmp_path):
    program.run(tf, str(tmp_path), mode)
    recorded = [line for line in RECORDED if line.startswith(mode + " ")]
    assert list(lines_of(tmp_path, mode)) == recorded


def test_graphs_lie_in_each_other_and_have_lines(tmp_path):
    program.run(tf, str(tmp_path), "NO_TENSOR")
    known, ops = graphs(tmp_path)
    trace = next(t for t in traces(tmp_path) if t.op_name == "Sqrt")
    inner = known[trace.tfdbg_context_id]
    outer = known[inner.outer_context_id]
    assert outer.graph_name == "f" and known[outer.outer_context_id].outer_context_id == ""
    root = ops[inner.graph_id, "Sqrt"]
    assert root.input_names == ["x:0"] and root.num_outputs == len(root.output_tensor_ids) == 1
    frames = {e.stack_frame_with_id.id: e for e in events(tmp_path, "stack_frames")}
    (frame,) = root.code_location.stack_frame_ids
    place = frames[frame].stack_frame_with_id.file_line_col
    files = [event.source_file for event in events(tmp_path, "source_files")]
    source = files[place.file_index]
    assert source.file_path == str(GOLDEN / "debug_events_program.py")
    assert "return tf.sqrt(x)" in source.lines[place.line - 1]
    call = next(e for e in executions(tmp_path) if e.op_type.startswith("__inference_f_"))
    assert call.graph_id == outer.graph_id


def test_tensors_are_known_by_their_ids(tmp_path):
    enable(tmp_path, circular_buffer_size=0)
    x = tf.constant([1.0])
    y = x + x
    for _ in range(50):
        tf.square(tf.constant([2.0]))
    tf.negative(y)
    disable()
    done = executions(tmp_path)
    assert list(done[0].input_tensor_ids) == [done[0].input_tensor_ids[0]] * 2
    assert done[-1].input_tensor_ids == done[0].output_tensor_ids
    made = [e.output_tensor_ids[0] for e in done]
    assert len(set(made)) == len(made) == 52


def test_the_last_ones_are_kept_until_they_are_flushed(tmp_path):
    writer = enable(tmp_path, "CURT_HEALTH", circular_buffer_size=3)
    for i in range(10):
        tf.constant(float(i)) * 2.0
    assert executions(tmp_path) == []
    writer.FlushExecutionFiles()
    assert len(executions(tmp_path)) == 3
    tf.square(tf.constant(1.0))
    disable()
    assert [e.op_type for e in executions(tmp_path)] == ["Mul"] * 3 + ["Square"]


def test_operations_and_dtypes_are_chosen(tmp_path):
    enable(tmp_path, "FULL_TENSOR", 0, op_regex="Mul|Sq", tensor_dtypes=[tf.float32])
    x, y = tf.constant(3.0), tf.constant(3)
    x + x
    x * x
    y * y
    tf.square(x)
    disable()
    assert [(e.op_type, flat(e.tensor_protos[0])) for e in executions(tmp_path)] == [
        ("Mul", [9]), ("Mul", None), ("Square", [9]),
    ]  # fmt: skip


def test_it_is_on_once(tmp_path):
    first = enable(tmp_path / "a", "SHAPE")
    assert enable(tmp_path / "a", "SHAPE") is first
    with pytest.raises(ValueError, match="SHAPE"):
        enable(tmp_path / "a", "FULL_HEALTH")
    with pytest.raises(ValueError, match="circular_buffer_size of 1000"):
        enable(tmp_path / "a", "SHAPE", 5)
    tf.square(2.0)
    enable(tmp_path / "b", "SHAPE")
    tf.square(2.0)
    disable()
    disable()
    tf.square(2.0)
    assert len(executions(tmp_path / "a")) == len(executions(tmp_path / "b")) == 1


def test_misuse_is_an_error(tmp_path):
    with pytest.raises(ValueError, match="Invalid value in tensor_debug_mode"):
        enable(tmp_path, "EVERYTHING")
    with pytest.raises(NotImplementedError, match="FULL_NUMERICS"):
        enable(tmp_path, "FULL_NUMERICS")
    with pytest.raises(ValueError, match="tensor_dtypes is expected to be a list"):
        enable(tmp_path, tensor_dtypes="float32")
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError):
        enable(tmp_path / "file")
    assert tf.square(2.0).numpy() == 4


def test_threads_write_whole_events(tmp_path):
    enable(tmp_path, "CONCISE_HEALTH", 0)

    @tf.function
    def f(x):
        return tf.sqrt(x) * 2.0

    x = tf.constant([4.0])

    def run():
        for _ in range(20):
            f(x)
            tf.square(x)

    workers = [threading.Thread(target=run) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    disable()
    done = executions(tmp_path)
    assert len(done) == 160
    assert sum(t.op_name == "Sqrt" for t in traces(tmp_path)) == 80


def test_a_program_that_ends_has_whole_files(tmp_path):
    script = tmp_path / "program.py"
    script.write_text(
        "import rheos as tf\n"
        f"tf.debugging.experimental.enable_dump_debug_info({str(tmp_path)!r})\n"
        "tf.square(tf.constant(3.0))\n"
    )
    subprocess.run([sys.executable, script], check=True)
    assert [e.op_type for e in executions(tmp_path)] == ["Square"]


READER = """
import sys
from tensorflow.python.debug.lib.debug_events_reader import DebugDataReader
with DebugDataReader(sys.argv[1]) as reader:
    reader.update()
    for one in reader.executions():
        print(one.op_type.rstrip("0123456789"), reader.execution_to_tensor_values(one))
    for one in reader.graph_execution_traces():
        value = reader.graph_execution_trace_to_tensor_value(one)
        print([reader.graph_by_id(g).name for g in one.graph_ids], one.op_name, value)
"""


@pytest.mark.skipif(INTERPRETER is None, reason="there is no TensorFlow")
def test_tensorflow_reads_it(tmp_path):
    if is_tensorflow_1():
        pytest.skip("TensorFlow 1 has no such files")
    enable(tmp_path, "FULL_TENSOR", 0)

    @tf.function
    def f(x):
        for _ in tf.range(2):
            x = x * 3.0
        return x

    f(tf.constant([1.0, 2.0]))
    disable()
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    done = subprocess.run(
        [INTERPRETER, "-c", READER, tmp_path], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "__inference_f_ [array([ 9., 18.], dtype=float32)]" in done.stdout
    assert "[None, 'f', 'while'] mul [3. 6.]" in done.stdout
