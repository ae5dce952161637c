"""Iterators of graphs: what steps get the elements of datasets from."""

import itertools

import numpy as np

from rheos.framework import dtypes, messages, signatures
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.defaults import get_default_graph
from rheos.framework.func_graph import FuncGraph
from rheos.framework.graph import colocate_with, count_operations
from rheos.framework.logging import warning
from rheos.framework.op_call import apply_op, op1
from rheos.framework.op_defs import op_def_message
from rheos.pipelines import nest, structure
from rheos.pipelines.base import DatasetBase

GET_NEXT_CALL_WARNING_THRESHOLD = 32
_factories = itertools.count()

# Operations that give the same whenever they are run, as far as TensorFlow minds.
_ONLY_READ_FILES = ("MatchingFiles", "ReadFile")

# Dtypes of which an array says all.
_PLAIN = (np.float32, np.float64, np.int32, np.int64, np.uint8, np.int8, np.int16, np.bool_)


def _types_and_shapes(spec):
    return {
        "output_types": structure.flat_types(spec),
        "output_shapes": structure.flat_shapes(spec),
    }


class Iterator:
    """What a step gets the next element of a dataset from.

    iterator_resource: its handle. initializer: the operation that makes it go over its dataset from
    the beginning, None if it has several or needs none. output_types, output_shapes,
    output_classes: of the elements, as TensorFlow 1 says them.
    """

    def __init__(
        self, iterator_resource, initializer, output_types, output_shapes=None, output_classes=None
    ):
        spec = structure.from_legacy(output_types, output_shapes, output_classes)
        self._set(iterator_resource, initializer, spec)

    def _set(self, resource, initializer, spec):
        self._iterator_resource = resource
        self._initializer = initializer
        self._element_spec = spec
        self._string_handle = op1("IteratorToStringHandle", None, resource)
        self._get_next_count = 0

    @classmethod
    def _of(cls, resource, initializer, spec):
        iterator = cls.__new__(cls)
        iterator._set(resource, initializer, spec)
        return iterator

    @staticmethod
    def from_structure(output_types, output_shapes=None, shared_name=None, output_classes=None):
        """An iterator without a dataset: `make_initializer` gives operations that choose one.

        output_types, output_shapes, output_classes: of the elements of every dataset. shared_name:
        iterators of that name are one, in all steps of a session.
        """
        spec = structure.from_legacy(output_types, output_shapes, output_classes)
        return Iterator._of(_new_resource(spec, shared_name), None, spec)

    @staticmethod
    def from_string_handle(string_handle, output_types, output_shapes=None, output_classes=None):
        """The iterator, among those of the session, whose `string_handle()` has this value."""
        spec = structure.from_legacy(output_types, output_shapes, output_classes)
        handle = convert_to_tensor(string_handle, dtypes.string)
        resource = op1("IteratorFromStringHandleV2", None, handle, **_types_and_shapes(spec))
        return Iterator._of(resource, None, spec)

    @property
    def initializer(self):
        """The operation that makes it go from the beginning; ValueError if there is none."""
        if self._initializer is None:
            raise ValueError(
                "Iterator does not have an initializer: it is a one-shot one, or made without a "
                "dataset, then make_initializer() gives one."
            )
        return self._initializer

    def make_initializer(self, dataset, name=None):
        """An operation that makes it go over `dataset`, from the beginning.

        TypeError if the elements have other dtypes or structures than the iterator's, ValueError
        if they have other shapes.
        """
        mine, other = self._element_spec, dataset.element_spec
        nest.assert_same_structure(mine, other)
        for one, two in zip(nest.flatten(mine), nest.flatten_up_to(mine, other)):
            if type(one) is not type(two) or (
                one._to_legacy_output_types() != two._to_legacy_output_types()
            ):
                raise TypeError(
                    f"Expected output types {structure.legacy_types(mine)!r} but got dataset with "
                    f"output types {structure.legacy_types(other)!r}."
                )
            if not one.is_compatible_with(two):
                raise TypeError(
                    f"Expected output shapes compatible with {structure.legacy_shapes(mine)!r} "
                    f"but got dataset with output shapes {structure.legacy_shapes(other)!r}."
                )
        return _initializer(dataset, self._iterator_resource, name or "make_initializer")

    def get_next(self, name=None):
        """The next element: tensors that have another value in each step.

        A step that asks behind the last element fails with OutOfRangeError.
        """
        self._get_next_count += 1
        if self._get_next_count == GET_NEXT_CALL_WARNING_THRESHOLD + 1:
            warning(
                "Iterator.get_next() was called more than %d times: each call adds operations to "
                "the graph. Call it once, outside the loop of steps, and run what it gave.",
                GET_NEXT_CALL_WARNING_THRESHOLD,
            )
        spec = self._element_spec
        operation = apply_op(
            "IteratorGetNext", name, self._iterator_resource, **_types_and_shapes(spec)
        )
        return structure.from_tensor_list(spec, operation.outputs)

    def string_handle(self, name=None):
        """A string tensor by which the session knows the iterator."""
        if name is None:
            return self._string_handle
        return op1("IteratorToStringHandle", name, self._iterator_resource)

    @property
    def element_spec(self):
        """The structure of the specs of an element's values."""
        return self._element_spec

    @property
    def output_classes(self):
        """The classes of an element's values."""
        return structure.legacy_classes(self._element_spec)

    @property
    def output_shapes(self):
        """The shapes of an element's values."""
        return structure.legacy_shapes(self._element_spec)

    @property
    def output_types(self):
        """The dtypes of an element's values."""
        return structure.legacy_types(self._element_spec)


def _new_resource(spec, shared_name):
    return op1(
        "IteratorV2",
        None,
        container="",
        shared_name=shared_name or "",
        **_types_and_shapes(spec),
    )


def _initializer(dataset, resource, name=None):
    with colocate_with(resource):
        return apply_op("MakeIterator", name, dataset._apply_options()._variant_tensor, resource)


def _check_graph(dataset):
    if not isinstance(dataset, DatasetBase):
        raise TypeError(f"Expected a Dataset, got {dataset!r} of type {type(dataset)}.")
    current = get_default_graph()
    if dataset._graph is not current and not current.building_function:
        raise ValueError(
            "The iterator of a dataset has to be made in the graph of the dataset: the dataset "
            f"{dataset} is of {dataset._graph}, the default graph is {current}."
        )


def _optimizers_of(options):
    """How many operations of TensorFlow 1.15 optimize and tune a pipeline, which Rheos does without
    any."""
    threads = options._set.get("threading")
    limits = threads._set if threads is not None else {}
    chosen = options._set.get("experimental_optimization")
    chosen = chosen._set if chosen is not None else {}
    rewrites = chosen.get("apply_default_optimizations") is not False
    tuned = chosen.get("autotune") is not False
    return 2 * sum(value is not None for value in limits.values()) + 2 * rewrites + tuned


def make_initializable_iterator(dataset, shared_name=None):
    """An iterator that goes over `dataset` from the beginning whenever its initializer is run.

    shared_name: iterators of that name are one, in all steps of a session.
    """
    _check_graph(dataset)
    spec = dataset.element_spec
    applied = dataset._apply_options()
    count_operations(_optimizers_of(dataset.options()))
    resource = _new_resource(spec, shared_name)
    with colocate_with(resource):
        initializer = apply_op("MakeIterator", None, applied._variant_tensor, resource)
    return Iterator._of(resource, initializer, spec)


# ---- One shot: the dataset is made anew by a function that takes nothing


def _sources(tensor):
    """The operations that a tensor needs, in an order in which they can be made; ValueError where a
    copy would not have the same value."""
    found, todo, through_variants = {}, [(tensor.op, True)], set()
    while todo:
        op, is_variant = todo.pop()
        if op._id in found and (not is_variant or op._id in through_variants):
            continue
        found[op._id] = op
        if is_variant:
            through_variants.add(op._id)
        todo += [
            (one.op, is_variant and one.dtype.base_dtype == dtypes.variant) for one in op.inputs
        ]
    for number, op in found.items():
        definition = op_def_message(op.type)
        if op.type in ("Placeholder", "PlaceholderV2"):
            raise ValueError(
                f"Cannot capture a placeholder (name:{op.name}, type:{op.type}) by value."
            )
        is_stateful = definition is None or definition.is_stateful
        if number not in through_variants and is_stateful and op.type not in _ONLY_READ_FILES:
            raise ValueError(
                f"Cannot capture a stateful node (name:{op.name}, type:{op.type}) by value."
            )
    return [found[number] for number in sorted(found)]


def _nodes_of(operations):
    graph_def = messages.GraphDef()
    for op in operations:
        node = graph_def.node.add()
        node.CopyFrom(op.node_def)
        node.device = ""
        inputs = [one for one in node.input if not one.startswith("^")]
        del node.input[:]
        node.input.extend(inputs)
        if "_class" in node.attr:
            del node.attr["_class"]
    return graph_def


def _is_large(op):
    """Whether it is a constant that is not to go through a message."""
    if op.type != "Const" or op.outputs[0].dtype.as_numpy_dtype not in _PLAIN:
        return False
    return op.outputs[0].shape.num_elements() >= 1024


def _copied(graph, op):
    """The number of the copy of a constant in another graph, of the same name."""
    value = ("value", signatures.TENSOR, op._attr("value")[1])
    dtype = ("dtype", signatures.TYPE, op.outputs[0].dtype)
    return graph._node("Const", f"{op.name}/", (), [dtype, value])._id


def _factory(dataset):
    """The name of a function that makes the dataset of nothing."""
    variant = dataset._apply_options()._variant_tensor
    try:
        operations = _sources(variant)
    except ValueError as error:
        raise ValueError(
            "Failed to create a one-shot iterator for a dataset: `Dataset.make_one_shot_iterator()`"
            " does not support datasets that capture stateful objects, such as a `Variable` or "
            "`LookupTable`. In these cases, use `Dataset.make_initializable_iterator()`. (Original "
            f"error: {error})"
        ) from None
    attrs = [("_disable_call_shape_inference", signatures.BOOL, True)]
    graph = FuncGraph(f"_make_dataset_{next(_factories)}", collections={}, attrs=attrs)
    large = [op for op in operations if _is_large(op)]
    rest = [op for op in operations if not _is_large(op)]
    entries = [(f"{op.name}:0", _copied(graph, op), 0) for op in large]
    graph._import_graph_def(_nodes_of(rest).SerializeToString(), None, entries)
    made = graph._find_operation(variant.op.name).outputs[variant.value_index]
    graph.outputs = [made]
    graph.finish()
    return graph.name


def make_one_shot_iterator(dataset):
    """An iterator that goes over `dataset` once and needs no initializer.

    ValueError for a dataset that depends on placeholders, variables or tables. Where operations run
    at once, an iterator as `iter(dataset)` makes it.

    >>> following = tf.data.make_one_shot_iterator(tf.data.Dataset.range(3)).get_next()
    >>> with tf.Session() as session:
    ...     print([int(session.run(following)) for _ in range(3)])
    [0, 1, 2]
    """
    if get_default_graph()._is_eager and isinstance(dataset, DatasetBase):
        return iter(dataset)
    _check_graph(dataset)
    spec = dataset.element_spec
    resource = op1(
        "OneShotIterator", None, dataset_factory=_factory(dataset), **_types_and_shapes(spec)
    )
    return Iterator._of(resource, None, spec)


# ---- Of datasets and iterators


def get_structure(dataset_or_iterator):
    """The spec of the elements; TypeError for what is neither a dataset nor an iterator."""
    try:
        return dataset_or_iterator.element_spec
    except AttributeError:
        raise TypeError(
            "`dataset_or_iterator` must be a Dataset or Iterator object, but got "
            f"{type(dataset_or_iterator)}."
        ) from None


def get_output_types(dataset_or_iterator):
    """The dtypes of the elements, as TensorFlow 1 says them."""
    return structure.legacy_types(get_structure(dataset_or_iterator))


def get_output_shapes(dataset_or_iterator):
    """The shapes of the elements, as TensorFlow 1 says them."""
    return structure.legacy_shapes(get_structure(dataset_or_iterator))


def get_output_classes(dataset_or_iterator):
    """The classes of the elements, as TensorFlow 1 says them."""
    return structure.legacy_classes(get_structure(dataset_or_iterator))
