"""absl.app: starting a program with its flags parsed."""

import sys

from rheos.framework import flags


class Error(Exception):
    """What goes wrong in this module."""


class UsageError(Error):
    """Arguments that make no sense to the program; raised in main() it shows the usage.

    exitcode: of the program.
    """

    def __init__(self, message, exitcode=1):
        super().__init__(message)
        self.exitcode = exitcode


def usage(shorthelp=False, writeto_stdout=False, detailed_error=None, exitcode=None):
    """Writes the program's docstring, its flags and what is wrong; ends it if there is a status."""
    to = sys.stdout if writeto_stdout else sys.stderr
    text = sys.modules["__main__"].__doc__ or f"USAGE: {sys.argv[0]} [flags]"
    print(text.strip(), file=to)
    if not shorthelp:
        print(f"\nflags:\n{flags.FLAGS.get_help()}", file=to)
    if detailed_error is not None:
        print(f"\n{detailed_error}", file=to)
    if exitcode is not None:
        sys.exit(exitcode)


def parse_flags_with_usage(args):
    """Parses the flags; gives the other arguments. Ends the program where that fails."""
    try:
        return flags.FLAGS(args)
    except flags.Error as error:
        print(f"FATAL Flags parsing error: {error}", file=sys.stderr)
        print("Pass --help to see help on flags.", file=sys.stderr)
        sys.exit(1)


_after_init = []


def call_after_init(callback):
    """Calls a function when the flags are parsed: by run(), before main."""
    if flags.FLAGS.is_parsed():
        callback()
    else:
        _after_init.append(callback)


def run(main, argv=None, flags_parser=parse_flags_with_usage):
    """Parses the flags and ends the program with what `main(arguments)` returns."""
    rest = flags_parser(sys.argv if argv is None else argv)
    while _after_init:
        _after_init.pop(0)()
    try:
        sys.exit(main(rest))
    except UsageError as error:
        usage(shorthelp=True, detailed_error=error, exitcode=error.exitcode)
