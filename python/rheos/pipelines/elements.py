"""Elements of datasets by number, in lists, and as many as are wanted."""

from rheos.framework import dtypes
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.eager import executing_eagerly
from rheos.framework.op_call import apply_op
from rheos.ops.array import array_ops
from rheos.pipelines import nest, structure


def at(dataset, index):
    """Element number `index`, without those before it, of a dataset that can tell it.

    OutOfRangeError if there is none, FailedPreconditionError if it is not known how many there are,
    UnimplementedError where a stage has to make all elements before it.
    """
    spec = dataset.element_spec
    outputs = apply_op(
        "GetElementAtIndex",
        None,
        dataset._variant_tensor,
        convert_to_tensor(index, dtypes.int64, name="index"),
        output_types=structure.flat_types(spec),
        output_shapes=structure.flat_shapes(spec),
    ).outputs
    return structure.from_tensor_list(spec, outputs)


def from_list(cls, elements):
    """The elements of a list, which have one structure; shapes may differ.

    cls: the class of the dataset.
    """
    if not elements:
        raise ValueError("Invalid `elements`. `elements` should not be empty.")
    if not isinstance(elements, list):
        raise ValueError("Invalid `elements`. `elements` must be a list.")
    elements = [structure.normalize_element(element) for element in elements]
    specs = [structure.element_spec(element) for element in elements]
    whole = specs[0]
    for spec in specs[1:]:
        nest.assert_same_structure(whole, spec)
        try:
            whole = structure.most_specific(whole, spec)
        except ValueError as error:
            raise TypeError(f"The elements of a list differ: {whole} and {spec}") from error
    tensors = [
        tensor
        for spec, element in zip(specs, elements)
        for tensor in structure.to_tensor_list(spec, element)
    ]
    return cls._make(
        "ListDataset", tensors, spec=whole, Tinput_types=[tensor.dtype for tensor in tensors]
    )


def pad_to_cardinality(cardinality, mask_key="valid"):
    """A transformation: dicts, and behind them zeros, up to `cardinality` elements.

    Each element says under `mask_key` whether it was there before.
    """

    def apply(dataset):
        spec = dataset.element_spec
        if not isinstance(spec, dict):
            raise ValueError(
                "`pad_to_cardinality` requires its input dataset to be a dictionary, got "
                f"elements of {spec}."
            )
        if mask_key in spec:
            raise ValueError(f"The key {mask_key!r} of the mask is one of the elements: {spec}.")
        count = dataset.cardinality()
        if executing_eagerly():
            _check_count(int(count), cardinality)

        def valid(element):
            return {**element, mask_key: convert_to_tensor(True)}

        zeros = nest.map_up_to(spec, lambda leaf: array_ops.zeros(leaf.shape, leaf.dtype), spec)
        filler = type(dataset).from_tensors({**zeros, mask_key: convert_to_tensor(False)})
        return dataset.map(valid).concatenate(filler.repeat(cardinality - count))

    return apply


def _check_count(count, wanted):
    if count < 0:
        raise ValueError(
            "The dataset passed into `pad_to_cardinality` must have a known cardinality, but has "
            f"cardinality {count}"
        )
    if count > wanted:
        raise ValueError(
            "The dataset passed into `pad_to_cardinality` must have a cardinality less than the "
            f"target cardinality ({wanted}), but has cardinality {count}"
        )
