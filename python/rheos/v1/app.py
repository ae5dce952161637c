"""Starting a program: flags are parsed, then its main function runs."""

import sys as _sys

from rheos.framework.absent import attribute_of as _attribute_of
from rheos.v1 import flags


def run(main=None, argv=None):
    """Parses the flags and exits with what `main(arguments)` returns."""
    rest = flags.FLAGS(_sys.argv if argv is None else argv, known_only=True)
    if main is None:
        main = _sys.modules["__main__"].main
    _sys.exit(main(rest))


__getattr__ = _attribute_of("tensorflow.app")
