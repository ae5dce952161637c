"""Functions of graphs in version 1's style: tf.compat.v1.wrap_function(), and parts of them."""

import itertools
import weakref

from rheos.framework import importer, messages, nest
from rheos.framework.defaults import get_default_graph
from rheos.framework.func_graph import FuncGraph, func_graph_from_py_func
from rheos.framework.operation import Operation, Tensor
from rheos.framework.tensor_spec import TensorSpec
from rheos.framework.watchers import stop_recording
from rheos.tracing import kinds, lifting
from rheos.tracing.concrete import ConcreteFunction

_numbers = itertools.count()


class WrappedFunction(ConcreteFunction):
    """A function of a graph that a program made in version 1's style.

    Its variables were made once, when it was wrapped; prune() gives functions of parts of it.
    """

    def prune(self, feeds, fetches, name=None, input_signature=None):
        """A function of a part of the graph.

        feeds: what becomes its arguments, tensors of the graph or their names, in a structure.
        fetches: what it returns; operations are run for their effects. input_signature: in place
        of the shapes and dtypes of the feeds. ValueError and KeyError for what the graph has not.
        """
        graph = self.graph
        feeds = nest.flatten(nest.map_leaves(self._element, feeds), expand_composites=True)
        wanted = nest.map_leaves(self._element, fetches)
        for feed in feeds:
            if not isinstance(feed, Tensor):
                raise ValueError(f"All members of argument `feeds` must be tensors. Got {feed}.")
        captured = {id(inside) for inside in graph.internal_captures}
        feeds = [feed for feed in feeds if id(feed) not in captured]
        specs = [TensorSpec(t.shape, t.dtype.base_dtype, t.op.name) for t in feeds]
        if input_signature is not None:
            given = nest.flatten(input_signature, expand_composites=True)
            specs = [TensorSpec(s.shape, s.dtype, f.name) for s, f in zip(given, specs)]

        def part(*args):
            inner = get_default_graph()
            fed = {id(t): arg for t, arg in zip(feeds, args)}
            for outside, inside in graph.captures:
                if id(inside) not in fed:
                    fed[id(inside)] = inner.capture(outside)
            found = copied(graph, fed, wanted)
            return nest.map_leaves(
                lambda one: None if one is None else found[id(one)], wanted, expand_composites=True
            )

        label = name or f"pruned_{graph.name.strip('_')}_{next(_numbers)}"
        return wrapped(part, specs, label, graph.outer_graph, self.variables)

    def take_by_name(self, names, specs):
        """Has its arguments, all tensors, be given by these names, or by position."""
        self._arg_keywords, self._positional = list(names), len(names)
        self._args, self._kwargs = tuple(specs), {}

    @property
    def structured_input_signature(self):
        """(args, kwargs) with TensorSpecs: by name, if that is how it is called."""
        if self._arg_keywords is None:
            return super().structured_input_signature
        return (), dict(zip(self._arg_keywords, self._args))

    def _element(self, item):
        """A tensor or operation of the graph, by itself or by its name."""
        if nest.is_composite(item) or item is None:
            return item
        if messages.is_message(item, "TensorInfo"):
            item = item.name
        return self.graph.as_graph_element(item)


def _needed(leaves, fed):
    """The operations that tensors and operations need, and the fed tensors that those take."""
    operations, used = set(), {}
    todo = list(leaves)
    while todo:
        one = todo.pop()
        if id(one) in fed:
            used[one.name] = fed[id(one)]
            continue
        operation = one.op if isinstance(one, Tensor) else one
        if operation.name in operations:
            continue
        operations.add(operation.name)
        todo += [*operation.inputs, *operation.control_inputs]
    return operations, used


def copied(graph, fed, wanted):
    """{id of a tensor or operation: what stands for it in the default graph, a copy}.

    fed: {id of a tensor: what takes its place}.
    """
    leaves = [one for one in nest.flatten(wanted, expand_composites=True) if one is not None]
    operations, used = _needed(leaves, fed)
    definition = graph.as_graph_def()
    nodes = [node for node in definition.node if node.name in operations]
    for node in nodes:
        node.attr.pop("_class", None)  # what it was beside may be left out
    definition = messages.GraphDef(versions=definition.versions)  # the library is there
    definition.node.extend(nodes)
    rest = [one for one in leaves if id(one) not in fed]
    among = {name: value for name, value in used.items() if _is_taken(nodes, name)}
    made = importer.import_graph_def(definition, among, [one.name for one in rest], name="")
    found = {id(one): copy for one, copy in zip(rest, made)}
    found.update((id(one), fed[id(one)]) for one in leaves if id(one) in fed)
    return found


def _is_taken(nodes, name):
    """Whether a node takes the tensor of that name."""
    written = {name, name.removesuffix(":0")}
    return any(one in written for node in nodes for one in node.input)


def wrapped(function, specs, name, outer_graph, variables=()):
    """A WrappedFunction of what `function` adds to a graph, given placeholders like `specs`.

    variables: those that the graph uses, beside what the function makes.
    """
    made = []
    leaves = nest.flatten(specs, expand_composites=True)
    with stop_recording():
        graph = FuncGraph(f"{name}_{next(_numbers)}", collections={}, outer_graph=outer_graph)
        with graph.as_default(), lifting.lifted_variables(made, may_create=True):
            func_graph_from_py_func(
                graph.name,
                function,
                specs,
                func_graph=graph,
                argument_names=[getattr(leaf, "name", None) for leaf in leaves],
                add_control_dependencies=False,  # in version 1 only what is asked for runs
            )
        for one in nest.flatten(graph.structured_outputs):
            if isinstance(one, Operation):
                graph.add_control_output(one)
    for one in (*variables, *(m.variable for m in made)):
        graph.watch_variable(one)
    graph.finish()
    args = tuple(specs)
    graph.structured_input_signature = (args, {})
    concrete = WrappedFunction(graph, None, args, {}, (args, {}), name)
    concrete.root = weakref.ref(graph._root)
    concrete.made = made
    return concrete


def wrap_function(fn, signature, name=None):
    """A function of a graph in version 1's style: fn() runs once, which makes the graph.

    signature: a structure of TensorSpecs, for each of which fn takes a placeholder. Variables
    that fn makes are kept; calls find them. Branches and loops of Python are not converted.
    """
    structure = list(signature) if isinstance(signature, (list, tuple)) else [signature]
    specs = nest.map_leaves(kinds.of_its_spec, structure)
    label = name or getattr(fn, "__name__", "function").strip("<>")
    return wrapped(fn, specs, f"wrapped_{label}", get_default_graph()._root)
