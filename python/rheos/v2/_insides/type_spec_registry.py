"""tensorflow.python.framework.type_spec_registry: classes of specs by their names."""

from rheos.framework import structured
from rheos.framework.sparse_tensor_spec import SparseTensorSpec
from rheos.framework.tensor_spec import TensorSpec
from rheos.ops.flow.tensor_array_spec import TensorArraySpec
from rheos.ops.ragged.ragged_tensor_spec import RaggedTensorSpec
from rheos.pipelines.structure import NoneTensorSpec

_OWN = {
    f"tf.{kind.__name__}": kind
    for kind in (NoneTensorSpec, RaggedTensorSpec, SparseTensorSpec, TensorArraySpec, TensorSpec)
}


def lookup(name):
    """The class of specs of that name; ValueError if there is none."""
    if not isinstance(name, str):
        raise TypeError(f"Expected `name` to be a string; got {name!r}")
    found = _OWN.get(name) or structured.named_specs().get(name)
    if found is None:
        raise ValueError(f"No TypeSpec has been registered with name {name!r}")
    return found


def get_name(cls):
    """The name of a class of specs; ValueError if it has none."""
    for names in (_OWN, structured.named_specs()):
        for name, kind in names.items():
            if kind is cls:
                return name
    raise ValueError(f"TypeSpec {cls.__module__}.{cls.__qualname__} has not been registered.")
