"""tools/try-again: what downloads is run three times; one line says what failed."""

import os
import subprocess
from pathlib import Path

TOOL = Path(__file__).resolve().parents[3] / "tools" / "try-again"


def try_again(tmp_path, command):
    environment = {**os.environ, "RHEOS_PAUSES": "0 0 end", "TMPDIR": str(tmp_path)}
    return subprocess.run([TOOL, "the download", "sh", "-c", command], cwd=tmp_path, text=True,
                          capture_output=True, env=environment, timeout=60)  # fmt: skip


def test_what_works_at_the_third_time_is_done(tmp_path):
    done = try_again(tmp_path, "echo noise; echo x >>tries; [ $(wc -l <tries) = 3 ]")
    assert done.returncode == 0 and done.stdout == ""
    assert done.stderr == 2 * "the download failed, once more in 0 s\n"
    assert os.listdir(tmp_path) == ["tries"]  # no log is left


def test_what_does_not_work_is_said_in_a_line_with_the_reason(tmp_path):
    for said, reason in (
        ("echo start; echo 'E: no such package'; echo 'E: later'; false", "E: no such package"),
        ("echo 'ERROR: first'; echo 'ERROR: no route'; echo hint; false", "ERROR: no route"),
        ("echo some words; echo last words; exit 3", "last words"),
        ("exit 1", "it said nothing"),
    ):
        done = try_again(tmp_path, f"echo x >>tries; {said}")
        lines = done.stderr.splitlines()
        assert done.returncode == 1 and len(lines) == 3
        assert lines[2].startswith(f"the download failed three times: {reason} (all of it: ")
        log = Path(lines[2].split("all of it: ")[1].rstrip(")"))
        assert reason in log.read_text() or reason == "it said nothing"
    assert (tmp_path / "tries").read_text() == "x\n" * 12
