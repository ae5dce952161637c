"""Why the extension cannot be loaded, in a sentence that says what to do."""

import os
import signal
import sys


def try_numpy():
    """Fails with ImportError where importing NumPy would kill this process.

    NumPys of today want SSE4.2 of every processor and ask none whether it has that: the extension
    calls this on processors without, and a copy of the process finds out.
    """
    if "numpy" in sys.modules:
        return
    child = os.fork()
    if child == 0:
        try:
            import numpy  # noqa: F401
        finally:
            os._exit(0)  # what it raises, it raises here too
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        raise ImportError(f"importing numpy ends in {signal.Signals(os.WTERMSIG(status)).name}")


def _about_numpy(text):
    python = sys.executable
    if "ends in" not in text:
        try:
            import numpy
        except Exception as error:
            text = " ".join(str(error).split()).rstrip(".")
        else:
            return (
                f"({text}): it was built with another NumPy than the {numpy.__version__} of "
                f"{python}: install Rheos's wheel, which goes with all from 1.22 on, or a NumPy as "
                "old as the one it was built with"
            )
    return (
        f"with the NumPy of {python} ({text}): install another, for a processor without SSE4.2 an "
        f"older one: '{python} -m pip install \"numpy<2\"'"
    )


def explained(error):
    """What this error of the system means, and what to do about it."""
    text = str(error)
    if "cannot open shared object file" in text:
        advice = "install that library, or Rheos's wheel, which brings all it needs along"
    elif "numpy" in text:
        advice = None
    elif "undefined symbol" in text or "version `" in text:
        advice = "another librheos.so is found before its own: see LD_LIBRARY_PATH"
    else:
        advice = "install the library that this names anew, or Rheos"
    folder = os.path.dirname(os.path.abspath(__file__))
    why = f"({text}): {advice}" if advice else _about_numpy(text)
    return f"Rheos in {folder} cannot be loaded {why}"
