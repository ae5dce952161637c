"""`python -m rheos`: the rheos command, with this interpreter for the programs that it runs.

`python -m rheos --prefix` prints the folder of bin/, lib/ and include/, for C programs.
"""

import os
import shutil
import sys

from rheos._launch import PACKAGE


def _command():
    """The path of the command: in a wheel's package, beside a built or installed one, on PATH.

    A wheel's launcher has the command's name, and is not it.
    """
    own = os.path.realpath(sys.argv[0])
    for place in ("bin", "../../bin", "../../../../bin"):
        path = os.path.normpath(os.path.join(PACKAGE, place, "rheos"))
        is_there = os.access(path, os.X_OK) and not os.path.isdir(path)
        if is_there and os.path.realpath(path) != own:
            return path
    found = shutil.which("rheos")
    return None if found is None or os.path.realpath(found) == own else found


def main():
    """Becomes the command, whose status it ends with."""
    command = _command()
    if command is None:
        sys.exit("rheos: the command is not installed with this package")
    if sys.argv[1:] == ["--prefix"]:
        print(os.path.dirname(os.path.dirname(os.path.realpath(command))))
        return
    os.environ["RHEOS_PYTHON"] = sys.executable
    os.execv(command, [command, *sys.argv[1:]])


if __name__ == "__main__":
    main()
