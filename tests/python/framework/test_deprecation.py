"""Functions and arguments that are marked as going."""

import logging

import pytest
import rheos.v1 as tf
from rheos.v1.contrib import framework

DATE, INSTEAD = "2017-01-01", "Use other."


@pytest.fixture
def warned(monkeypatch):
    """The warnings given so far."""
    tf.logging.get_verbosity()  # makes the logger
    found = []
    handler = logging.Handler()
    handler.emit = lambda record: found.append(record.getMessage())
    logger = logging.getLogger("tensorflow")
    logger.addHandler(handler)
    yield found
    logger.removeHandler(handler)


def test_a_function(warned):
    @framework.deprecated(DATE, INSTEAD)
    def old(x):
        """Doubles x.

        Args:
          x: a number
        """
        return 2 * x

    assert old.__name__ == "old"
    assert old.__doc__ == (
        "Doubles x. (deprecated)\n\n"
        "Warning: THIS FUNCTION IS DEPRECATED. It will be removed after 2017-01-01.\n"
        "Instructions for updating:\nUse other.\n\nArgs:\n  x: a number"
    )
    assert [old(1), old(2)] == [2, 4]
    (message,) = warned
    assert f"{__file__}:" in message and "old (from" in message
    assert message.endswith(
        "is deprecated and will be removed after 2017-01-01.\n"
        "Instructions for updating:\nUse other."
    )


def test_methods_properties_and_classes(warned):
    class Kept:
        @framework.deprecated(None, INSTEAD, warn_once=False)
        def method(self):
            return 1

        @property
        @framework.deprecated(DATE, INSTEAD)
        def value(self):
            return 2

    @framework.deprecated(DATE, INSTEAD)
    class Gone:
        def __init__(self, x):
            self.x = x

    kept = Kept()
    assert [kept.method(), kept.method(), kept.value, Gone(3).x] == [1, 1, 2, 3]
    assert len(warned) == 4 and "in a future version" in warned[0]
    assert Kept.method.__doc__.startswith("DEPRECATED FUNCTION\n\nWarning: ")


def test_arguments(warned):
    @framework.deprecated_args(DATE, INSTEAD, "a", ("c", 3), "rest", warn_once=False)
    def old(a=None, b=2, c=3, *rest):
        """One line."""
        return b

    assert old.__doc__.startswith(
        "One line. (deprecated arguments)\n\n"
        "Warning: SOME ARGUMENTS ARE DEPRECATED: `(a, c, rest)`. They will be removed after "
    )
    for call, count in (((), 0), ((1,), 1), ((1, 2, 3), 1), ((1, 2, 4), 2), ((1, 2, 3, 4), 2)):
        warned.clear()
        old(*call)
        assert len(warned) == count
    assert old(c=3) == old(b=2) == 2 and len(warned) == 2
    old(c=4)
    assert " with c is deprecated" in warned[-1]


def test_values_of_arguments(warned):
    @framework.deprecated_arg_values(DATE, INSTEAD, a=True)
    def old(a, b=2):
        return b

    assert "SOME ARGUMENT VALUES ARE DEPRECATED: `(a=True)`" in old.__doc__
    assert old(False) == 2 and not warned
    assert old(True) == old(a=True) == 2
    assert len(warned) == 1 and " with a=True is deprecated" in warned[0]


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: framework.deprecated("1.1.2017", INSTEAD), "YYYY-MM-DD"),
        (lambda: framework.deprecated(DATE, ""), "without conversion instructions"),
        (lambda: framework.deprecated(DATE, INSTEAD)(property()), "make sure @property appears"),
        (lambda: framework.deprecated_args(DATE, INSTEAD), "which argument is deprecated"),
        (
            lambda: framework.deprecated_args(DATE, INSTEAD, "b")(lambda a: a),
            r"not present.*\['b'\]",
        ),
        (lambda: framework.deprecated_arg_values(DATE, INSTEAD), "argument values are deprecated"),
    ],
)
def test_marks_that_say_too_little(make, message):
    with pytest.raises(ValueError, match=message):
        make()
