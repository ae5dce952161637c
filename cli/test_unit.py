"""The unit for systemd is one, and what it starts knows the options that it gives."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parent.parent
UNIT = SOURCE / "packaging" / "rheos-serve@.service"


def test_systemd_takes_the_unit(tmp_path):
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd-analyze is not installed")
    unit = tmp_path / "rheos-serve@ps.service"  # a program that is there, whatever is installed
    unit.write_text(UNIT.read_text().replace("/usr/bin/rheos", shutil.which("true")))
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", unit], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0 and done.stderr == ""


def test_its_options_are_those_of_the_command():
    page = (SOURCE / "docs" / "rheos.1").read_text().replace("\\-", "-")
    options = re.findall(r"--[a-z-]+", UNIT.read_text())
    assert options and all(option in page for option in options)
