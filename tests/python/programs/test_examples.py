"""The programs in examples/, as they are built beside the package."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
import rheos

BIN = Path(rheos.__file__).resolve().parents[2] / "bin"


@pytest.mark.parametrize("name", ["recurrent", "recurrent_cpp"])
def test_a_recurrent_net_learns_through_a_loop(name):
    program = BIN / name
    if not program.exists():
        pytest.skip("the examples are not built")
    run = subprocess.run([program, "200"], capture_output=True, text=True, timeout=120, check=True)
    losses = [float(line.split()[-1]) for line in run.stdout.splitlines()]
    assert len(losses) == 3 and losses[0] > 0.5 and losses[-1] < 0.05


def test_a_graph_gives_what_its_layers_give_one_by_one():
    example = Path(__file__).resolve().parents[3] / "examples" / "layers.py"
    command = [BIN / "rheos", "run", example, "2"]
    run = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    times, difference = run.stdout.splitlines()
    assert re.fullmatch(r"eager: [\d.]+ ms a call, graph: [\d.]+ ms", times)
    assert float(difference.split()[-1]) <= 1e-6


def test_a_net_learns_on_a_cluster(grpc):
    example = Path(__file__).resolve().parents[3] / "examples" / "cluster.py"
    command = [BIN / "rheos", "run", example]
    run = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    losses = {"0": [], "1": []}
    for line in run.stdout.splitlines():
        match = re.fullmatch(r"worker ([01]): step +\d+, loss ([\d.]+)", line)
        losses[match[1]].append(float(match[2]))
    assert [len(some) for some in losses.values()] == [4, 4]
    # The second worker may have begun when the first had done most.
    assert losses["0"][0] > 0.5 and min(losses["0"][-1], losses["1"][-1]) < 0.25, losses


def test_a_net_learns_on_two_replicas():
    example = Path(__file__).resolve().parents[3] / "examples" / "mirrored.py"
    command = [BIN / "rheos", "run", example]
    run = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    lines = run.stdout.splitlines()
    assert lines[0] == "2 replicas" and float(lines[-1].removeprefix("accuracy ")) > 0.85
    for start in ("by hand", "fit"):
        losses = [float(line.split()[-1]) for line in lines if line.startswith(start)]
        assert len(losses) == 3 and losses[0] > losses[1] > losses[2]


def test_a_net_learns_on_parameter_servers_by_a_coordinator(grpc):
    example = Path(__file__).resolve().parents[3] / "examples" / "parameter_servers.py"
    command = [BIN / "rheos", "run", example]
    run = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    lines = run.stdout.splitlines()
    losses = [float(re.search("loss ([0-9.]+)", line)[1]) for line in lines[:4]]
    assert losses[-1] < 0.5 * losses[0] and len(lines) == 8
    assert {line.split()[-1] for line in lines[4:]} == {
        f"/job:ps/replica:0/task:{i}/device:CPU:0" for i in range(2)
    }


def test_a_pipeline_of_files_and_functions_of_a_program_trains_a_net():
    program = BIN / "pipeline"
    if not program.exists():
        pytest.skip("the examples are not built")
    run = subprocess.run([program], capture_output=True, text=True, timeout=120, check=True)
    lines = run.stdout.splitlines()
    assert sum("loss" in line for line in lines) == 4
    assert [line.split(":")[0].strip() for line in lines if "elements, " in line] == [
        "Prefetch",
        "Batch",
        "Repeat",
        "Shuffle",
        "ParallelMap",
        "TFRecord",
    ]
    assert sum(" binds: " in line for line in lines) == 1
    assert float(lines[-1].split()[2]) > 90


def test_a_pipeline_says_which_file_and_what_record_it_cannot_read(tmp_path):
    program = BIN / "pipeline"
    if not program.exists():
        pytest.skip("the examples are not built")
    limits = {"capture_output": True, "text": True, "timeout": 60}
    missing = subprocess.run([program, tmp_path / "none"], **limits)
    assert missing.returncode == 1 and "none" in missing.stderr
    path = tmp_path / "short.tfrecord"
    with rheos.io.TFRecordWriter(str(path)) as writer:
        example = rheos.train.Example()
        example.features.feature["point"].float_list.value.extend([1, 2, 3])
        writer.write(example.SerializeToString())
    other = subprocess.run([program, path], **limits)
    assert other.returncode == 1 and 'no "point" of 2 float' in other.stderr


@pytest.mark.parametrize("name", ["roots", "roots_cpp"])
def test_roots_are_found_by_a_loop_and_a_branch(name):
    program = BIN / name
    if not program.exists():
        pytest.skip("the examples are not built")
    run = subprocess.run([program, "2", "9", "-1"], capture_output=True, text=True, timeout=60)
    assert run.stdout.splitlines()[:2] == ["2: 1.41421", "9: 3"] and "nan" in run.stdout


def test_spirals_are_told_apart_by_a_restored_net(tmp_path):
    program = BIN / "spirals_cpp"
    if not program.exists():
        pytest.skip("the examples are not built")
    limits = {"capture_output": True, "text": True, "timeout": 60, "cwd": tmp_path}
    lines = subprocess.run([program, "200"], **limits, check=True).stdout.splitlines()
    assert float(lines[2].split()[-1]) > 0.9
    assert len(lines) == 20 and set("".join(lines[3:])) == set(".o#")


def test_a_pipeline_in_cpp_trains_on_files_that_it_wrote(tmp_path):
    program = BIN / "pipeline_cpp"
    if not program.exists():
        pytest.skip("the examples are not built")
    path = tmp_path / "a.tfrecord"
    run = subprocess.run([program, path], capture_output=True, text=True, timeout=120, check=True)
    assert float(run.stdout.split()[-1]) < 0.5
    path.write_bytes(b"no records")
    other = subprocess.run([program, path], capture_output=True, text=True, timeout=60)
    assert other.returncode == 1 and "a.tfrecord" in other.stderr


def test_a_model_is_called_in_cpp(tmp_path):
    program = BIN / "call_model_cpp"
    if not program.exists():
        pytest.skip("the examples are not built")
    save = """
import sys
import rheos

module = rheos.Module()
module.slope = rheos.Variable(2.0)
signature = [rheos.TensorSpec([None], rheos.float32, name="x")]
module.call = rheos.function(lambda x: {"y": module.slope * x}, input_signature=signature)
rheos.saved_model.save(module, sys.argv[1], signatures=module.call)
"""
    subprocess.run([sys.executable, "-c", save, tmp_path / "m"], check=True)
    run = subprocess.run([program, tmp_path / "m"], capture_output=True, text=True, timeout=60)
    assert run.stdout == "y: float[1] 2\n"
    missing = subprocess.run([program, tmp_path / "n"], capture_output=True, text=True, timeout=60)
    assert missing.returncode == 1 and missing.stderr.startswith("call_model: ")
