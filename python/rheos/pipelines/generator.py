"""Datasets of what a program's generator yields."""

import itertools

import numpy as np

from rheos.framework import dtypes, nest as composites
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.graph import count_operations
from rheos.framework.ragged import RaggedValueBase
from rheos.framework.sparse_tensor import SparseTensor, SparseTensorValue
from rheos.framework.tensor_spec import TensorSpec
from rheos.ops.flow.script_ops import py_func
from rheos.pipelines import nest, structure
from rheos.pipelines.optional import Optional, OptionalSpec
from rheos.pipelines.traced import TracedFunction


class _Running:
    """The generators that are under way, by number: each iterator has one."""

    def __init__(self, function):
        self._function, self._numbers, self._running = function, itertools.count(), {}

    def begin(self, *args):
        """Makes ready to call the function; the number by which `next` asks."""
        number = next(self._numbers)
        self._running[number] = args, None
        return np.int64(number)

    def next(self, number):
        """What the generator of that number yields; StopIteration behind the last."""
        args, iterator = self._running[number]
        if iterator is None:
            iterator = iter(self._function(*args))
            self._running[number] = args, iterator
        return next(iterator)

    def end(self, number):
        """Forgets a generator, which is closed then."""
        self._running.pop(int(number), None)
        return np.int64(0)


def _as_array(value, spec):
    """A part of what was yielded as an array of the dtype; TypeError."""
    if spec.dtype == dtypes.string:
        array = np.asarray(value, dtype=object)
        if any(not isinstance(item, (str, bytes)) for item in array.flat):
            raise TypeError(
                f"`generator` yielded an element that could not be converted to the expected type: "
                f"string; the element was {value}."
            )
    else:
        try:
            array = np.asarray(value, dtype=spec.dtype.as_numpy_dtype)
        except (TypeError, ValueError) as error:
            raise TypeError(
                "`generator` yielded an element that could not be converted to the expected type. "
                f"The expected type was {spec.dtype.name}, but the yielded element was {value}."
            ) from error
    if not spec.shape.is_compatible_with(array.shape):
        raise TypeError(
            f"`generator` yielded an element of shape {array.shape} where an element of shape "
            f"{spec.shape} was expected."
        )
    return array


def _checked(spec, values):
    """The leaves of what was yielded, as arrays."""
    try:
        parts = nest.flatten_up_to(spec, values)
    except (TypeError, ValueError) as error:
        raise TypeError(
            "`generator` yielded an element that did not match the expected structure. The "
            f"expected structure was {structure.legacy_types(spec)}, but the yielded element was "
            f"{values!r}."
        ) from error
    given = zip(parts, nest.flatten(spec))
    return [array for value, leaf in given for array in _arrays_of(value, leaf)]


def _parts_of(leaf):
    """What is in the place of a leaf: TensorSpecs of the arrays that are yielded for it."""
    if isinstance(leaf, OptionalSpec) and leaf._serialize() == (None,):
        return Optional.empty(None)  # which there is no more to say of
    parts = leaf._of_specs()
    is_composite = composites.is_composite(parts) and not isinstance(parts, Optional)
    if isinstance(parts, TensorSpec) or is_composite:
        return parts
    raise NotImplementedError(f"from_generator yields tensors; {leaf} is of no kind that it takes")


def _arrays_of(value, leaf):
    """The arrays that stand for a leaf of what was yielded."""
    if isinstance(leaf, TensorSpec):
        return [_as_array(value, leaf)]
    if isinstance(leaf, OptionalSpec):
        return []
    if not leaf.is_compatible_with(value):
        raise TypeError(
            f"`generator` yielded an element of {value!r} where an element of {leaf} was expected."
        )
    kind = _parts_of(leaf)
    specs = composites.flatten(kind, expand_composites=True)
    parts = composites.flatten(value, expand_composites=True)
    if isinstance(value, SparseTensorValue):
        parts = list(value)
    elif isinstance(value, RaggedValueBase):
        parts = [value.flat_values, *value.nested_row_splits]
    return [_as_array(part, spec) for part, spec in zip(parts, specs)]


def _whole(leaf, tensors):
    """A leaf of its tensors, which it takes from the front of a list."""
    kind = _parts_of(leaf)
    if isinstance(kind, Optional):
        return kind
    specs = composites.flatten(kind, expand_composites=True)
    taken = tensors[: len(specs)]
    del tensors[: len(specs)]
    for tensor, spec in zip(taken, specs):
        tensor.set_shape(spec.shape)
    whole = composites.pack_sequence_as(kind, taken, expand_composites=True)
    return whole._with_shape(leaf.shape) if isinstance(whole, SparseTensor) else whole


def _spec(output_types, output_shapes, output_signature):
    if output_signature is not None:
        if output_types is not None or output_shapes is not None:
            raise TypeError(
                "The `output_types` and `output_shapes` arguments can not be used together with "
                "`output_signature`."
            )
        for leaf in nest.flatten(output_signature):
            if not hasattr(leaf, "_flat_tensor_specs"):
                raise TypeError(
                    f"`output_signature` must contain objects that are subclass of `tf.TypeSpec` "
                    f"but found {type(leaf)}."
                )
        return output_signature
    if output_types is None:
        raise TypeError("Either `output_signature` or `output_types` must be specified.")
    return structure.from_legacy(output_types, output_shapes)


def _list_as_tuple(value):
    return tuple(value) if isinstance(value, list) else value


def from_generator(
    cls, generator, output_types=None, output_shapes=None, args=None, output_signature=None
):
    """Dataset.from_generator, for datasets of class `cls`."""
    if not callable(generator):
        raise TypeError("`generator` must be a Python callable.")
    spec = _spec(output_types, output_shapes, output_signature)
    leaves = nest.flatten(spec)
    kinds = [_parts_of(leaf) for leaf in leaves]
    types = [
        part.dtype
        for kind in kinds
        if not isinstance(kind, Optional)
        for part in composites.flatten(kind, expand_composites=True)
    ]
    args = tuple(args) if args is not None else ()
    running = _Running(generator)

    def begin(*given):
        return py_func(running.begin, given, dtypes.int64)

    def go_on(number):
        def call(number):
            return _checked(spec, _list_as_tuple(running.next(int(number))))

        tensors = list(py_func(call, [number], types))
        return nest.pack_sequence_as(spec, [_whole(leaf, tensors) for leaf in leaves])

    def end(number):
        return py_func(running.end, [number], dtypes.int64)

    # One element, of which a dataset is made for each iterator: so each has a generator.
    args = tuple(convert_to_tensor(arg, name=f"args_{i}") for i, arg in enumerate(args))
    count_operations(1 if args else 0)  # the number that TensorFlow gives each generator
    start = cls.from_tensors(args if args else np.int64(0))
    return start.flat_map(lambda *given: _of_functions(cls, spec, given if args else (), begin,
                                                       go_on, end))  # fmt: skip


def _of_functions(cls, spec, given, begin, go_on, end):
    number = TensorSpec([], dtypes.int64)
    first = TracedFunction(
        lambda *values: _scalar(begin(*values)),
        "GeneratorDataset.init",
        structure.element_spec(given),
    )
    following = TracedFunction(go_on, "GeneratorDataset.next", number)
    last = TracedFunction(lambda n: _scalar(end(n)), "GeneratorDataset.finalize", number)
    inputs = structure.to_tensor_list(structure.element_spec(given), given)
    attrs = {}
    for name, function in (("init", first), ("next", following), ("finalize", last)):
        attrs[f"{name}_func"] = function.name
        arguments = inputs + function.captured if name == "init" else function.captured
        attrs[f"T{name}_func_args"] = [tensor.dtype for tensor in arguments]
    return cls._make(
        "GeneratorDataset",
        inputs + first.captured,
        following.captured,
        last.captured,
        spec=following.output_spec,
        **attrs,
    )


def _scalar(tensor):
    tensor.set_shape([])
    return tensor
