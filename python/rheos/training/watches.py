"""Watches of a session, and of what runs at once: what they compute, told while they run."""

import sys
from collections import namedtuple

from rheos import _core
from rheos.framework import eager, logging
from rheos.framework.absent import near_names

_WHATS = {"values": 0, "statistics": 1, "first_nan": 2, "not_finite": 3, "histogram": 4}


class Statistics(
    namedtuple(
        "Statistics",
        "count nan negative zero positive negative_infinite positive_infinite least most mean norm",
    )
):
    """The numbers of a tensor. Complex ones count by their real and imaginary parts.

    count: of numbers, which nan, negative, zero and positive add up to; negative_infinite and
    positive_infinite are among the negative and positive ones. least, most, mean and norm (the
    square root of the sum of squares) are of the finite ones, and 0 where there are none.
    """

    __slots__ = ()

    def __str__(self):
        text = f"{self.least:.6g} to {self.most:.6g}, mean {self.mean:.6g}"
        infinite = self.negative_infinite + self.positive_infinite
        if self.nan or infinite:
            text += f", {self.nan} NaN and {infinite} infinite of {self.count}"
        return text


class Histogram(namedtuple("Histogram", "least most counts")):
    """How the finite numbers of a tensor are spread: counts of 32 buckets of equal width from the
    least to the most."""

    __slots__ = ()

    def __str__(self):
        width = (self.most - self.least) / len(self.counts)
        most = max(*self.counts, 1)
        return "\n".join(
            f"  {self.least + i * width:12.5g} {count:9} {'#' * (count * 40 // most)}".rstrip()
            for i, count in enumerate(self.counts)
        )


_FIELDS = "name op place step file line value statistics inputs dtype shape histogram"


class Watched(namedtuple("Watched", _FIELDS)):
    """A value that a step computed, or an operation that ran at once.

    name: the tensor's, "scope/op:0", or with the operation's type, "MatMul:0"; op: its operation's
    type. place: "" in the graph itself, else the calls and loops that it is in, each with the
    number of its trip: "while;3". step: among the watched ones, from 0 on; each operation that
    runs at once is one, and each call of a function. file, line: where the program made the
    operation, or runs it; None and 0 if that is not known. value: a NumPy array, where values are
    watched. statistics: Statistics, where these are, and the value has numbers. inputs: of the
    first NaN, what the operation took: [(name, Statistics or None)]. dtype: its name; shape: a
    tuple. histogram: a Histogram, where these are watched.
    """

    __slots__ = ()

    def __str__(self):
        text = f"step {self.step}: {self.name} ({self.op})"
        if self.place:
            text += f" in {self.place}"
        if self.file is not None:
            text += f", {self.file}:{self.line}"
        if self.value is not None:
            text += f": {self.value}"
        if self.statistics is not None:
            text += f": {self.statistics}"
        if self.histogram is not None:
            text += f"\n{self.histogram}"
        for name, statistics in self.inputs:
            text += f"\n  took {name}: {'not watched' if statistics is None else statistics}"
        return text


def _print(watched):
    print(watched, file=sys.stderr, flush=True)


def _numbers(told):
    return None if told is None else Statistics(*told)


def statistics_of(tensor):
    """The Statistics of a tensor with a value; InvalidArgumentError where it has no numbers."""
    return Statistics(*_core._statistics_of(tensor))


_of_eager = set()  # that are on


def _say_unmatched(names):
    """Warns that a watch of what runs at once met nothing that it names."""
    functions = eager.get_eager_graph().as_graph_def().library.function
    known = {node.name for function in functions for node in function.node_def}
    known.update(_core.op_types())
    near = [name for wanted in names.split(",") for name in near_names(wanted, known)]
    also = f"; near it are {', '.join(near[:3])}" if near else ""
    logging.warning("nothing that ran is called '%s', which was watched%s", names, also)


class Watch:
    """A watch that is on until end() is called, or the `with` block that it is in ends."""

    def __init__(self, session, names, tell, what):
        if what not in _WHATS:
            raise ValueError(f"what is to be told is one of {', '.join(_WHATS)}, not {what!r}")
        if tell is None:
            tell = _print

        def told(
            name, op, place, step, file, line, value, statistics, inputs, dtype, shape, spread
        ):
            inputs = [(taken, _numbers(numbers)) for taken, numbers in inputs]
            numbers = _numbers(statistics)
            spread = None if spread is None else Histogram(*spread)
            tell(
                Watched(
                    name, op, place, step, file, line, value, numbers, inputs, dtype, shape, spread
                )
            )

        make = _core._watch_eager if session is None else session._watch
        self._names = names
        self._watch = make(names, _WHATS[what], told)
        self._others = _of_eager if session is None else session._watches
        self._others.add(self)

    def end(self):
        """Ends the watch; nothing is told any more."""
        has_matched = self._watch.end()
        self._others.discard(self)
        if not has_matched and self._others is _of_eager and self._names not in ("", "*"):
            _say_unmatched(self._names)

    def graph(self):
        """While the function is told of a value: a number for the graph that the value is of."""
        return self._watch._graph()

    def nodes(self):
        """Of that graph: [(name of output 0, type, names of inputs, number of outputs, file or
        None, line)]."""
        return self._watch._nodes()

    def __enter__(self):
        return self

    def __exit__(self, *exc_info):
        self.end()


def watch(names="*", tell=None, what="statistics"):
    """From now on, tells of what operations give that run at once, and of what functions compute.

    Of traced functions what is inside is told of, in branches, loops (with the trip), functions
    that they call, and gradients; they stay compiled. names: of operations: the type of one that
    runs at once ("MatMul"), the name in the function of what is in one: "*" stands for any
    letters, "?" for one; several with "," in between. tell: a function of a Watched
    (training/watches.py); by default it is printed to standard error. What it runs itself is not
    told of; what it raises ends the call. what: "values" for arrays, "statistics" for their
    numbers, "first_nan" for the first operation of a call that made a NaN, and what it took,
    "not_finite" for the numbers of each value that has a NaN or an infinity, "histogram" for
    numbers and how they are spread.
    Returns a Watch, whose end() ends it, as the end of a `with` block does. Sessions have a
    watch() of their own. No graph is changed, and what nobody watches runs as before.
    """
    eager.get_eager_graph()
    return Watch(None, names, tell, what)
