"""The tensors of what branches and loops pass: structures, with arrays of tensors in them."""

from rheos.framework import nest
from rheos.ops.flow.tensor_array_ops import TensorArray


def _flow_of_array(leaf):
    return leaf.flow if isinstance(leaf, TensorArray) else leaf


def flatten(structure):
    """The tensors that a structure is made of; of an array of tensors, its flow."""
    leaves = nest.flatten(structure, expand_composites=True)
    return [_flow_of_array(leaf) for leaf in leaves]


def pack_as(structure, parts):
    """The structure with other tensors, of arrays with other flows."""
    leaves = nest.flatten(structure, expand_composites=True)
    if len(leaves) == len(parts):
        parts = [
            leaf.with_flow(part) if isinstance(leaf, TensorArray) else part
            for leaf, part in zip(leaves, parts)
        ]
    return nest.pack_sequence_as(structure, parts, expand_composites=True)


def without_arrays(structure):
    """The structure with flows for its arrays of tensors."""
    return nest.map_leaves(_flow_of_array, structure)


def with_arrays(structure, flows):
    """What without_arrays() gave, with the arrays of `structure` again around their flows."""

    def array(leaf, flow):
        return leaf.with_flow(flow) if isinstance(leaf, TensorArray) else flow

    return nest.map_structure_up_to(structure, array, structure, flows)


def assert_same(one, other):
    """Raises unless the structures are the same."""
    nest.assert_same_structure(one, other, expand_composites=True)
