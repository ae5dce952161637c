"""Functions of the program over elements, as functions of the graph that datasets call."""

import itertools
import weakref

from rheos.autograph.api import tf_convert
from rheos.framework.auto_control_deps import AutomaticControlDependencies
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.func_graph import FuncGraph
from rheos.framework.operation import _VariableBase
from rheos.framework.tensor_spec import TensorSpec
from rheos.pipelines import nest, structure

_numbers = itertools.count()
_by_name = weakref.WeakValueDictionary()  # the TracedFunctions that there are


def keep_called(made, inputs, attrs):
    """Has an eager tensor of a dataset or an iterator keep the functions that its elements come to:
    what `inputs`, tensors and lists of them, keep, and what `attrs` name."""
    if not made._is_eager:
        return
    functions = (_by_name.get(value) for value in attrs.values() if isinstance(value, str))
    kept = [function.graph for function in functions if function is not None]
    for given in inputs:
        for tensor in given if isinstance(given, (list, tuple)) else (given,):
            kept += filter(None, [getattr(tensor, "_called_by_elements", None)])
    if kept:
        made._called_by_elements = kept


def _called(func, element):
    """What the function returns for an element, variables read; a list is a tuple of components."""
    value = func(*element) if type(element) is tuple else func(element)
    value = tuple(value) if isinstance(value, list) else value
    return nest.map_up_to(
        value, lambda v: convert_to_tensor(v) if isinstance(v, _VariableBase) else v, value
    )


def _normalized(value, transformation):
    try:
        return structure.normalize_element(value)
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"Unsupported return value from function passed to {transformation}: {value}. {error}"
        ) from error


class TracedFunction:
    """A function of the program, called once with an element that stands for all.

    transformation: what it is given to, for messages and its name. spec: of the element; a tuple is
    its arguments.
    name: of it in the library. captured: the tensors around it that it needs, which come behind its
    arguments. output_spec: of what it returns. finish: whether it goes into the library at once.
    """

    def __init__(self, func, transformation, spec, finish=True):
        if not callable(func):
            raise TypeError(f"The function for {transformation} cannot be called: {func!r}")
        told = getattr(func, "__name__", type(func).__name__)
        name = f"__inference_{transformation.replace('.', '_')}_{told}_{next(_numbers)}"
        self.graph = graph = FuncGraph(name, attrs=())
        with graph.as_default(), AutomaticControlDependencies():
            arguments = [
                graph.add_argument(one.dtype, one.shape, f"args_{i}")
                for i, one in enumerate(structure.flat_specs(spec))
            ]
            element = structure.from_tensor_list(spec, arguments)
            result = _normalized(_called(tf_convert(func), element), transformation)
            self.output_spec = structure.element_spec(result)
            tensors = structure.to_tensor_list(self.output_spec, result)
            graph.outputs = [graph.capture(tensor) for tensor in tensors]
        self.name = graph.name
        _by_name[self.name] = self
        self.captured = list(graph.external_captures)
        if finish:
            self.finish()

    def finish(self):
        """Puts it into the library."""
        self.graph.finish()

    def returns_scalar(self, dtype):
        """Whether it returns a scalar of that dtype."""
        spec = self.output_spec
        return isinstance(spec, TensorSpec) and spec.is_compatible_with(TensorSpec([], dtype))
