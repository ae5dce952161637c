"""Warnings of mistakes that runs show: to the logger, or to `rheos lint` where it runs the program.

A rule's name, a line of the program, and a text: src/lint/rules.c has the rules. The variable
RHEOS_LINT=0 turns warnings off, a comment on the line that of one rule there.
"""

import os

from rheos import _core
from rheos.framework import logging


class Watcher:
    """Hears of what a program does; `rheos lint` has one that keeps it."""

    def warned(self, rule, file, line, text):
        """Takes a warning that would go to the logger."""

    def session_opened(self, session):
        """Told of each session, before its first run."""

    def function_traced(self, function):
        """Told of each tf.function that is traced for the first time."""


class _State:
    watcher = None


def set_watcher(watcher):
    """From now on the Watcher hears of all; None: nobody does."""
    _State.watcher = watcher


def watcher():
    """The Watcher that hears of all, or None."""
    return _State.watcher


def are_on():
    """Whether warnings of runs are wanted."""
    return os.environ.get("RHEOS_LINT") != "0"


def warn(rule, file, line, text):
    """Tells of a mistake that `rule` found; file may be None, and line 0."""
    if _State.watcher is not None:
        _State.watcher.warned(rule, file, line, text)
    elif are_on() and not _core.lint_is_ignored(file, line, rule):
        logging.warning(
            "%s:%d: %s: %s. (RHEOS_LINT=0 turns such warnings off, "
            "'# rheos: ignore=%s' this one on its line.)",
            file or "?",
            line,
            rule,
            text,
            rule,
        )
