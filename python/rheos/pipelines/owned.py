"""Iterators that belong to the program: what `iter(dataset)` gives, eagerly and in functions."""

import numpy as np

from rheos import _core
from rheos.framework import dtypes, errors
from rheos.framework.defaults import get_default_graph
from rheos.framework.op_call import apply_op, op1
from rheos.framework.operation import Tensor
from rheos.framework.ragged import RaggedBase
from rheos.framework.sparse_tensor import SparseTensor, SparseTensorValue
from rheos.framework.tensor_spec import TensorSpec, TypeSpec, register_type_spec_from_value
from rheos.pipelines import functional, nest, structure
from rheos.pipelines.optional import get_next_as_optional
from rheos.pipelines.options import ExternalStatePolicy
from rheos.pipelines.traced import keep_called


def _types_and_shapes(spec):
    return {
        "output_types": structure.flat_types(spec),
        "output_shapes": structure.flat_shapes(spec),
    }


_TAKEN_IN_GRAPH = 32  # TensorFlow's bound


def _placed(tensors, device):
    """The tensors on a device."""
    with get_default_graph().device(device):
        return [op1("Identity", None, tensor) for tensor in tensors]


class OwnedIterator:
    """What gives the elements of a dataset one after the other.

    dataset: what it goes over. components, element_spec: instead of it, the handle of an iterator
    and the spec of the elements.
    """

    _attrs = None  # of the op that gives elements
    _device = None  # where they are put; None: they stay
    _taken_in_graph = 0  # elements that code which is not converted took in the body of a function

    def __init__(self, dataset=None, components=None, element_spec=None):
        if dataset is None:
            if components is None or element_spec is None:
                raise ValueError(
                    "When `dataset` is not provided, both `components` and `element_spec` must be "
                    "specified."
                )
            (self._iterator_resource,) = components
            self._element_spec = element_spec
            return
        if components is not None or element_spec is not None:
            raise ValueError(
                "When `dataset` is provided, `element_spec` and `components` must not be specified."
            )
        self._element_spec = spec = dataset.element_spec
        self._device = dataset._device if _core._eager_devices()[1:] else None
        self._dataset = dataset  # what its functions capture lives as long
        variant = dataset._apply_options()._variant_tensor
        self._iterator_resource = op1("AnonymousIteratorV3", None, **_types_and_shapes(spec))
        apply_op("MakeIterator", None, variant, self._iterator_resource)
        keep_called(self._iterator_resource, [variant], {})

    @property
    def element_spec(self):
        """The structure of the specs of an element's values."""
        return self._element_spec

    def get_next(self):
        """The next element; OutOfRangeError behind the last."""
        if self._attrs is None:
            self._attrs = _types_and_shapes(self._element_spec)
        outputs = apply_op("IteratorGetNext", None, self._iterator_resource, **self._attrs).outputs
        if self._device is not None:
            outputs = _placed(outputs, self._device)
        if type(self._element_spec) is TensorSpec:
            return outputs[0]
        return structure.from_tensor_list(self._element_spec, outputs)

    def explain(self):
        """Which stage of the pipeline has been slow so far, or whether the program is: a text."""
        return functional.as_text(op1("ExplainIterator", "explain", self._iterator_resource))

    def get_next_as_optional(self):
        """The next element, at the end an optional without a value."""
        return get_next_as_optional(self)

    def __iter__(self):
        return self

    def __next__(self):
        if not get_default_graph()._is_eager:
            self._count_in_graph()
        try:
            return self.get_next()
        except errors.OutOfRangeError:
            raise StopIteration from None

    def _count_in_graph(self):
        """A loop of Python in a function never sees the end: ValueError if this seems to be one."""
        self._taken_in_graph += 1
        if self._taken_in_graph > _TAKEN_IN_GRAPH:
            raise ValueError(
                "An unusually high number of `tf.data.Iterator.get_next()` calls was detected: "
                "a loop of Python over a dataset in a tf.function adds operations for ever. "
                "`for elem in dataset: ...` is a loop of the graph only where AutoGraph converts "
                "it: not with autograph=False, in a comprehension or in a generator."
            )

    def next(self):
        """The next element, as next() gives it."""
        return next(self)

    @property
    def _type_spec(self):
        return IteratorSpec(self._element_spec)

    # Checkpoints save where it is.

    _kept_as = dtypes.variant

    def _trackable_children(self, save_type="checkpoint", **kwargs):
        return {}

    def _serialize_to_tensors(self):
        dataset = getattr(self, "_dataset", None)
        policy = dataset and dataset.options().experimental_external_state_policy
        state = op1(
            "SerializeIterator",
            None,
            self._iterator_resource,
            external_state_policy=(policy or ExternalStatePolicy.FAIL).value,
        )
        return {"ITERATOR_STATE": state}

    def _restore_from_tensors(self, restored_tensors):
        state = restored_tensors["ITERATOR_STATE"]
        return apply_op("DeserializeIterator", None, self._iterator_resource, state)

    def _save(self):
        (state,) = self._serialize_to_tensors().values()
        return op1("SerializeTensor", None, state)

    def _restore(self, state):
        variant = op1("ParseTensor", None, state, out_type=dtypes.variant)
        return self._restore_from_tensors({"ITERATOR_STATE": variant})

    # Functions take it as its handle, and go by which iterator it is.

    _known_by_itself = True

    @property
    def _parts(self):
        return [self._iterator_resource]

    def _with_parts(self, parts):
        return OwnedIterator(components=parts, element_spec=self._element_spec)

    @property
    def _static_part(self):
        return repr(self._element_spec)


class IteratorSpec(TypeSpec):
    """What is said of an iterator: the spec of its elements."""

    __slots__ = ("_element_spec",)

    def __init__(self, element_spec):
        self._element_spec = element_spec

    @property
    def value_type(self):
        """The class of iterators."""
        return OwnedIterator

    @property
    def element_spec(self):
        """The spec of the elements."""
        return self._element_spec

    def _serialize(self):
        return (self._element_spec,)

    @staticmethod
    def from_value(value):
        """That of an iterator."""
        return IteratorSpec(value.element_spec)

    @property
    def _flat_tensor_specs(self):
        return [TensorSpec([], dtypes.resource)]

    def _to_tensor_list(self, value):
        return [value._iterator_resource]

    def _from_tensor_list(self, tensors):
        return OwnedIterator(components=tensors, element_spec=self._element_spec)


register_type_spec_from_value(OwnedIterator, lambda value: value._type_spec)


# ---- As Python has them


def iterate(dataset):
    """What `iter(dataset)` gives; RuntimeError in a graph that is not a function's."""
    graph = get_default_graph()
    if not (graph._is_eager or graph.building_function):
        raise RuntimeError(
            "`tf.data.Dataset` only supports Python-style iteration in eager mode or within "
            "tf.function."
        )
    return OwnedIterator(dataset)


def length(dataset):
    """What `len(dataset)` is; TypeError if that is not known, or no number."""
    if not get_default_graph()._is_eager:
        raise TypeError(
            "`tf.data.Dataset` only supports `len` in eager mode. Use "
            "`tf.data.Dataset.cardinality()` instead."
        )
    number = int(dataset.cardinality())
    if number < 0:
        known = "is infinite" if number == -1 else "length is unknown"
        raise TypeError(f"The dataset {known}.")
    return number


_ARRAYS = (Tensor, SparseTensor, RaggedBase)


def _array(value):
    if isinstance(value, SparseTensor):
        parts = value.indices, value.values, value.dense_shape
        return SparseTensorValue(*(part.numpy() for part in parts))
    if isinstance(value, RaggedBase):
        return value.numpy()
    array = value if value is None else value.numpy()
    if isinstance(array, np.ndarray):
        array.setflags(write=False)  # it may be the tensor's own memory
    return array


class NumpyIterator:
    """The elements of a dataset as arrays, one after the other."""

    def __init__(self, dataset):
        self._iterator = iter(dataset)

    def __iter__(self):
        return self

    def __next__(self):
        element = next(self._iterator)
        return nest.map_up_to(element, _array, element)

    def next(self):
        """The next element."""
        return self.__next__()

    def save(self):
        """Where it is, as a string for restore()."""
        return self._iterator._save()

    def restore(self, state):
        """Goes on where an iterator over such a dataset was when it was saved."""
        return self._iterator._restore(state)

    def _trackable_children(self, save_type="checkpoint", **kwargs):
        return {}

    _kept_as = dtypes.variant

    def _serialize_to_tensors(self):
        return self._iterator._serialize_to_tensors()

    def _restore_from_tensors(self, restored_tensors):
        return self._iterator._restore_from_tensors(restored_tensors)

    def __repr__(self):
        return f"NumpyIterator over elements of {self._iterator.element_spec}"


def numpy_iterator(dataset):
    """Dataset.as_numpy_iterator."""
    if not get_default_graph()._is_eager:
        raise RuntimeError("`tf.data.Dataset.as_numpy_iterator()` is only supported in eager mode.")
    for leaf in nest.flatten(dataset.element_spec):
        if not issubclass(leaf.value_type, (*_ARRAYS, type(None))):
            raise TypeError(
                "`tf.data.Dataset.as_numpy_iterator()` is not supported for datasets that produce "
                f"values of type {leaf.value_type}."
            )
    return NumpyIterator(dataset)
