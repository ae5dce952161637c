"""Where data come into a model."""

from rheos.framework import dtypes, tensor_shape
from rheos.framework.defaults import get_default_graph
from rheos.framework.func_graph import FuncGraph
from rheos.framework.graph import name_scope
from rheos.layers import nodes, values
from rheos.layers.layer import Layer
from rheos.models import objects
from rheos.ops.array import array_ops, sparse_ops


class InputLayer(Layer):
    """The layer of a tensor that data are fed to: of a shape, or one that is given."""

    _gives_list = True  # as the table of a model shows its shape

    def __init__(
        self,
        input_shape=None,
        batch_size=None,
        dtype=None,
        input_tensor=None,
        sparse=False,
        name=None,
        ragged=False,
        batch_input_shape=None,
        shape=None,
        batch_shape=None,
        optional=False,
        **kwargs,
    ):
        batch_input_shape = batch_input_shape or batch_shape
        input_shape = shape if input_shape is None else input_shape
        if sparse and ragged:
            raise ValueError("Cannot set both sparse and ragged to True in a Keras input.")
        if name is None:
            name = _next_name()
        if dtype is None:
            dtype = "float32" if input_tensor is None else input_tensor.dtype
        super().__init__(name=name, dtype=dtype)
        if batch_input_shape is None:
            if input_shape is None and input_tensor is not None:
                dims = input_tensor.shape.as_list()
                batch_input_shape = tuple(dims)
            else:
                rest = tensor_shape.as_shape(input_shape).as_list()
                batch_input_shape = (batch_size, *rest)
        self._batch_input_shape = tuple(batch_input_shape)
        self.batch_size = self._batch_input_shape[0] if self._batch_input_shape else None
        self.sparse, self.ragged = sparse, ragged
        self.built = True
        self.is_placeholder = input_tensor is None
        if input_tensor is None:
            with _graph_of_layers().as_default(), name_scope(None):
                make = sparse_ops.sparse_placeholder if sparse else array_ops.placeholder
                input_tensor = make(
                    dtypes.as_dtype(self.dtype), shape=list(self._batch_input_shape), name=name
                )
        nodes.Node(self, (), {}, input_tensor)

    @property
    def batch_shape(self):
        """The shape of the tensor, as a tuple."""
        return self._batch_input_shape

    def get_config(self):
        if not values.runs_in_session():
            names = ("batch_shape", "dtype", "sparse", "ragged", "name")
            return {**{name: getattr(self, name) for name in names}, "optional": False}
        return {
            "batch_input_shape": self._batch_input_shape,
            "dtype": self.dtype,
            "sparse": self.sparse,
            "ragged": self.ragged,
            "name": self.name,
        }


objects.table("layer")["InputLayer"] = InputLayer


def _next_name():
    """input_1, input_2 and so on; of Keras 3 input_layer, input_layer_1 and so on."""
    if not values.runs_in_session():
        return values.unique_name("input_layer")
    counts = get_default_graph().__dict__.setdefault("_input_counts", {})
    counts["input"] = counts.get("input", 0) + 1
    return f"input_{counts['input']}"


def _graph_of_layers():
    """The graph that connected layers are in: a function's, where operations run at once."""
    if values.runs_in_session() or not values.runs_now():
        return get_default_graph()
    held = values.root_graph().__dict__
    if "_graph_of_layers" not in held:
        held["_graph_of_layers"] = FuncGraph("keras_graph")
    return held["_graph_of_layers"]


def Input(
    shape=None,
    batch_size=None,
    name=None,
    dtype=None,
    sparse=False,
    tensor=None,
    ragged=False,
    batch_shape=None,
    batch_input_shape=None,
    optional=False,
):
    """A tensor that data are fed to: `shape` without the batch, or `batch_shape` with it.

    dtype: float32 by default. tensor: one that there is, to use instead. ValueError without any.
    """
    batch_shape = batch_shape or batch_input_shape
    if batch_shape is not None and shape is not None:
        raise ValueError(
            "Only provide the `shape` OR `batch_input_shape` argument to Input, not both at the "
            "same time."
        )
    if shape is None and tensor is None and batch_shape is None:
        raise ValueError(
            "Please provide to Input either a `shape` or a `tensor` argument. Note that `shape` "
            "does not include the batch dimension."
        )
    layer = InputLayer(
        input_shape=shape,
        batch_size=batch_size,
        name=name,
        dtype=dtype,
        sparse=sparse,
        ragged=ragged,
        input_tensor=tensor,
        batch_input_shape=batch_shape,
    )
    outputs = layer._inbound_nodes[0].output_tensors
    return outputs[0] if len(outputs) == 1 else outputs


def as_symbolic(x):
    """A tensor that layers are connected by, for one that is not."""
    return x if nodes.is_connected(x) or not values.is_tensor(x) else Input(tensor=x)
