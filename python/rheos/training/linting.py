"""tf.lint: mistakes that a graph shows, each with the line of the program."""

from collections import namedtuple

from rheos import _core
from rheos.framework.defaults import get_default_graph


class Finding(namedtuple("Finding", "rule file line text node function")):
    """A mistake.

    rule: its name, as `rheos lint --rules` lists them. file, line: where the program made the
    node; None and 0 if that is not known. text: what was seen, and what to write instead. node: the
    node's name, "" if it is about more. function: whose body the node is in, "" for the graph.
    """

    __slots__ = ()

    def __str__(self):
        place = f"{self.file}:{self.line}" if self.file else self.node or "graph"
        return f"{place}: {self.rule}: {self.text}"


def lint(graph=None, fetches=(), notes=False, serving=False):
    """Looks for mistakes in a graph, without running it. A list of Finding, by file and line.

    graph: a tf.Graph, by default the default one; or what has one as `graph`, such as a concrete
    function. fetches: the tensors and operations that the program runs and feeds, where only some
    are; what these do not need is said to be unreached then. notes: also what rules cannot be sure
    of. serving: the fetches serve, so that dropout is a mistake there. ValueError for fetches of
    another graph.
    """
    graph = get_default_graph() if graph is None else graph
    graph = graph if isinstance(graph, _core.GraphBase) else graph.graph
    elements = [graph.as_graph_element(fetch) for fetch in fetches]
    asked = [getattr(element, "op", element)._id for element in elements]
    return [Finding(*found) for found in _core.lint(graph, notes, serving, asked, None)]
