"""Which Python runs a peer: where none has it, the peer is left out, and that is said."""

import os
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent
BUILD = Path(os.environ.get("RHEOS_BUILD", FOLDER.parent / "build"))


def _has(interpreter, package):
    question = f"import importlib.util as u, sys; sys.exit(u.find_spec({package!r}) is None)"
    try:
        return subprocess.run([interpreter, "-c", question], stderr=subprocess.DEVNULL,
                              check=False).returncode == 0
    except OSError:
        return False


def interpreter_of(package, first=None):
    """The first interpreter that has the package, or None, which is said.

    Asked are `first`, those that RHEOS_BENCH_PEERS names (with : between), what `make bench-peers`
    installed, and the one that runs this.
    """
    named = [first, *os.environ.get("RHEOS_BENCH_PEERS", "").split(os.pathsep)]
    others = [str(BUILD / "bench-peers/bin/python"), sys.executable]
    for interpreter in [*filter(None, named), *others]:
        if _has(interpreter, package):
            return interpreter
    print(f"{package} is left out: it is not installed (RHEOS_BENCH_PEERS, make bench-peers)",
          file=sys.stderr)
    return None
