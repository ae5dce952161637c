"""What datasets are: tensors of variants with the specs of their elements, made by operations."""

from rheos.framework import dtypes
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.op_call import op1
from rheos.framework.structured import register_spec
from rheos.framework.tensor_shape import TensorShape
from rheos.framework.tensor_spec import TensorSpec, TypeSpec, register_type_spec_from_value
from rheos.pipelines import options as options_module, structure
from rheos.pipelines.traced import keep_called

# Ops whose attribute for dtypes has another name.
_OF_TENSORS = ("TensorDataset", "TensorSliceDataset", "PaddedBatchDatasetV2")

# What TensorFlow's classes are called, where that is not an underscore and the op.
_SHOWN = {
    "BatchDatasetV2": "_BatchDataset",
    "CacheDataset": "CacheDataset",
    "FixedLengthRecordDatasetV2": "FixedLengthRecordDatasetV2",
    "PaddedBatchDatasetV2": "_PaddedBatchDataset",
    "ParallelInterleaveDatasetV2": "_ParallelInterleaveDataset",
    "RebatchDatasetV2": "_RebatchDataset",
    "TFRecordDatasetV2": "TFRecordDatasetV2",
    "TextLineDatasetV2": "TextLineDatasetV2",
}


class DatasetBase:
    """A pipeline: a variant tensor, and the spec of the elements that it will make."""

    # The class of datasets that are made of this one: DatasetV2 unless a face says otherwise.
    _face = None

    def __init__(self, variant_tensor):
        self._set(variant_tensor, getattr(self, "_element_spec", None), (), type(self).__name__)

    def _set(self, variant_tensor, spec, inputs, kind):
        self._variant_tensor = variant_tensor
        self._element_spec = spec
        self._input_datasets = tuple(inputs)
        self._kind = kind
        self._own_options = None

    _device = None  # where iterators of programs that run at once put elements; None: nowhere

    @classmethod
    def _make(cls, op_type, *op_inputs, spec, inputs=(), **attrs):
        """A dataset of a new operation, which has attributes for dtypes and shapes."""
        types = "Toutput_types" if op_type in _OF_TENSORS else "output_types"
        attrs[types] = structure.flat_types(spec)
        attrs["output_shapes"] = structure.flat_shapes(spec)
        variant = op1(op_type, None, *op_inputs, **attrs)
        keep_called(variant, op_inputs, attrs)
        if variant._is_eager:
            variant._made_by = op_type, op_inputs, attrs  # for saved models, which make it anew
        return cls._of_variant(variant, spec, inputs, op_type)

    @classmethod
    def _of_variant(cls, variant, spec, inputs=(), kind="VariantDataset"):
        dataset = cls._face.__new__(cls._face)
        dataset._set(variant, spec, inputs, kind)
        dataset._device = next((d._device for d in inputs if d._device), None)
        return dataset

    def _derive(self, op_type, *op_inputs, spec=None, **attrs):
        """A dataset of an operation on this one; elements have the same spec if none is given."""
        spec = self.element_spec if spec is None else spec
        return self._make(
            op_type, self._variant_tensor, *op_inputs, spec=spec, inputs=(self,), **attrs
        )

    def _derive_same(self, kind):
        """The same elements."""
        return self._of_variant(self._variant_tensor, self.element_spec, (self,), kind)

    # ---- What it is

    def _trackable_children(self, save_type="checkpoint", **kwargs):
        """Nothing: a saved model asks for more itself."""
        return {}

    def _inputs(self):
        """The datasets that it was made of."""
        return list(self._input_datasets)

    @property
    def element_spec(self):
        """The structure of the specs of an element's values."""
        return self._element_spec

    @property
    def _type_spec(self):
        return DatasetSpec(self.element_spec)

    @property
    def _graph(self):
        return self._variant_tensor.graph

    def options(self):
        """The options of this dataset and of those it was made of."""
        every = [dataset.options() for dataset in self._inputs()]
        if self._own_options is not None:
            every.append(self._own_options)
        return options_module.merge_options(*every) if every else options_module.Options()

    def with_options(self, options, name=None):
        """The same elements, with options that come before those it has."""
        dataset = self._derive_same("OptionsDataset")
        known = self.options()
        dataset._own_options = options_module.merge_options(known, options)
        return dataset

    @staticmethod
    def _put_together(datasets):
        return NestedVariant.of_list(datasets)

    def _apply_options(self):
        stats = self.options()._set.get("experimental_stats")
        if stats is None or stats.aggregator is None:
            return self
        return self._derive(
            "SetStatsAggregatorDataset",
            stats.aggregator._resource,
            convert_to_tensor(stats.prefix, dtypes.string, name="prefix"),
            convert_to_tensor(stats.counter_prefix, dtypes.string, name="counter_prefix"),
        )

    # Functions take it as its variant.

    @property
    def _parts(self):
        return [self._variant_tensor]

    def _with_parts(self, parts):
        return self._of_variant(parts[0], self.element_spec)

    @property
    def _static_part(self):
        return repr(self.element_spec)

    def __repr__(self):
        kind = _SHOWN.get(self._kind, f"_{self._kind}")
        return f"<{kind} element_spec={self.element_spec!r}>"

    __str__ = __repr__


class DatasetSpec(TypeSpec):
    """What is said of a dataset as a component of an element: the spec of its elements."""

    __slots__ = ("_element_spec", "_dataset_shape")

    def __init__(self, element_spec, dataset_shape=()):
        self._element_spec = element_spec
        self._dataset_shape = TensorShape(dataset_shape)

    @property
    def value_type(self):
        """The class of datasets."""
        return DatasetBase

    @property
    def element_spec(self):
        """The spec of the elements."""
        return self._element_spec

    def _serialize(self):
        return self._element_spec, self._dataset_shape

    @staticmethod
    def from_value(value):
        """That of a dataset."""
        return DatasetSpec(value.element_spec)

    @property
    def _flat_tensor_specs(self):
        return [TensorSpec(self._dataset_shape, dtypes.variant)]

    def _to_tensor_list(self, value):
        return [getattr(value, "_variant_tensor", value)]

    def _to_batched_tensor_list(self, value):
        (tensor,) = self._to_tensor_list(value)
        if tensor.shape.ndims == 0:
            raise ValueError("A dataset has no rows to unbatch")
        return [tensor]

    def _from_tensor_list(self, tensors):
        (tensor,) = tensors
        if self._dataset_shape.ndims == 0:
            return DatasetBase._face._of_variant(tensor, self._element_spec)
        return NestedVariant(tensor, self._element_spec, self._dataset_shape)

    def _of_specs(self):
        return self._from_tensor_list(self._flat_tensor_specs)

    def _batch(self, batch_size):
        return DatasetSpec(
            self._element_spec, TensorShape([batch_size]).concatenate(self._dataset_shape)
        )

    def _unbatch(self):
        if self._dataset_shape.ndims == 0:
            raise ValueError("Slicing dataset elements is not supported for rank 0.")
        return DatasetSpec(self._element_spec, self._dataset_shape[1:])

    def _to_legacy_output_types(self):
        return self

    _to_legacy_output_shapes = _to_legacy_output_classes = _to_legacy_output_types

    def is_compatible_with(self, spec_or_value):
        """Whether its elements may be elements of the other one."""
        other = spec_or_value
        if isinstance(other, DatasetBase):
            other = DatasetSpec.from_value(other)
        return (
            isinstance(other, DatasetSpec)
            and structure.are_compatible(self._element_spec, other._element_spec)
            and self._dataset_shape.is_compatible_with(other._dataset_shape)
        )

    def most_specific_compatible_type(self, other):
        """The narrowest spec that both fit; ValueError if there is none."""
        if not isinstance(other, DatasetSpec):
            raise ValueError(f"No TypeSpec is compatible with both {self} and {other}")
        return DatasetSpec(
            structure.most_specific(self._element_spec, other._element_spec), self._dataset_shape
        )


class NestedVariant:
    """Datasets put together by a batch: only `unbatch` makes elements of them."""

    def __init__(self, variant_tensor, element_spec, dataset_shape):
        self._variant_tensor = variant_tensor
        self._type_spec = DatasetSpec(element_spec, dataset_shape)

    @classmethod
    def of_list(cls, datasets):
        """A list of datasets whose elements are alike, put together."""
        spec = datasets[0].element_spec
        for dataset in datasets[1:]:
            spec = structure.most_specific(spec, dataset.element_spec)
        variants = op1("Pack", None, [dataset._variant_tensor for dataset in datasets])
        return cls(variants, spec, [len(datasets)])


register_spec(5, DatasetSpec)
register_type_spec_from_value((DatasetBase, NestedVariant), lambda value: value._type_spec)


def from_variant(variant, structure):
    """The dataset that a variant tensor holds; structure: the spec of its elements."""
    return DatasetBase._face._of_variant(variant, structure)


def to_variant(dataset):
    """The variant tensor of a dataset."""
    return dataset._variant_tensor
