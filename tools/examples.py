"""What tools that try the examples of pages share: an installed tree, commands, fenced blocks."""

import os
import re
import subprocess
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent
# A fenced block: its info string, and what is in it.
BLOCK = re.compile(r"^```([^\n`]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)

# The first line of a block that is a file, or with the last words more of one.
FILE_OF_BLOCK = re.compile(r"(?://|#) ([\w./-]+\.\w+)(, continued)?\n")


def quietly(*command, **environment):
    """Runs a command, whose words are shown only if it fails; returns what it printed."""
    done = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300,
        env={**os.environ, **environment},
    )
    if done.returncode:
        raise SystemExit(f"{done.stdout}\nstatus {done.returncode}: {' '.join(map(str, command))}")
    return done.stdout


def install(build, prefix):
    """Installs a built tree; returns the folder of its libraries."""
    quietly("cmake", "--install", build, "--prefix", prefix, DESTDIR="")
    return next(prefix.rglob("librheos.so")).parent
