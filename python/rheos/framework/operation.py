"""Operations and tensors: handles on the nodes of a graph and on their outputs."""

from rheos import _core
from rheos.framework import errors, messages, signatures, tensor_shape
from rheos.framework.control_contexts import context_numbered
from rheos.framework.defaults import get_default_session
from rheos.framework.from_ops import from_ops
from rheos.framework.marks import TensorLike
from rheos.framework.op_defs import op_def_message
from rheos.framework.references import Reference

_VariableBase = _core.VariableBase


class Tensor(_core.TensorBase, TensorLike):
    """A value that an operation will compute: a handle on one of its outputs."""

    OVERLOADABLE_OPERATORS = frozenset(
        "__add__ __radd__ __sub__ __rsub__ __mul__ __rmul__ __div__ __rdiv__ __truediv__ "
        "__rtruediv__ __floordiv__ __rfloordiv__ __mod__ __rmod__ __lt__ __le__ __gt__ __ge__ "
        "__and__ __rand__ __or__ __ror__ __xor__ __rxor__ __getitem__ __pow__ __rpow__ "
        "__invert__ __neg__ __abs__ __matmul__ __rmatmul__".split()
    )
    __array_priority__ = 100
    _is_eager = False  # the value is there: EagerTensor

    # What programs of version 1 read of a tensor's insides.

    _op = property(lambda self: self.op)
    _dtype = property(lambda self: self.dtype)
    _shape = _shape_val = property(lambda self: self.shape)
    _value_index = property(lambda self: self.value_index)
    _name = None

    @property
    def _id(self):
        """A number that no other tensor of the graph has."""
        return self.op._id << 32 | self.value_index

    @property
    def _consumers(self):
        return self.consumers()

    def _shape_tuple(self):
        dims = self._dims
        return None if dims is None else tuple(dims)

    def get_shape(self):
        """What is known about the shape, a TensorShape."""
        return self.shape

    def set_shape(self, shape):
        """Adds to what is known about the shape; ValueError if it contradicts that."""
        self._set_shape(tensor_shape.as_shape(shape))

    def _shape_as_list(self):
        dims = self._dims
        return None if dims is None else list(dims)

    def _rank(self):
        dims = self._dims
        return None if dims is None else len(dims)

    @property
    def device(self):
        """The device asked for."""
        return self.op.device

    @property
    def ndim(self):
        """The number of dimensions; None if it is not known."""
        return self._rank()

    def ref(self):
        """A hashable object that stands for this tensor."""
        return Reference(self)

    def experimental_ref(self):
        """The same as ref()."""
        return Reference(self)

    def consumers(self):
        """The operations that read this tensor."""
        return self.graph._consumers(self)

    def eval(self, feed_dict=None, session=None):
        """Runs what this tensor needs in `session`, by default the default one."""
        return _session_for(self, session, "eval").run(self, feed_dict)

    def _as_graph_element(self):
        return self

    def __iter__(self):
        raise errors.OperatorNotAllowedInGraphError(
            "Tensor objects are only iterable when eager execution is enabled: iterating over "
            "`tf.Tensor` is not allowed in Graph execution. To iterate over this tensor use "
            "tf.map_fn, tf.unstack or tf.split."
        )

    def __bool__(self):
        raise errors.OperatorNotAllowedInGraphError(
            "using a `tf.Tensor` as a Python `bool` is not allowed in Graph execution. Use "
            "`if t is not None:` instead of `if t:` to test if a tensor is defined, and tf.cond "
            "to execute subgraphs conditioned on the value of a tensor."
        )

    def __len__(self):
        raise TypeError(
            f"len is not well defined for symbolic Tensors. ({self.name}) Please call `x.shape` "
            "rather than `len(x)` for shape information."
        )

    def __array__(self, dtype=None, copy=None):
        raise NotImplementedError(
            f"Cannot convert a symbolic Tensor ({self.name}) to a numpy array."
        )

    def __getitem__(self, key):
        return from_ops.slice_helper(self, key)

    def __matmul__(self, other):
        return from_ops.operator_matmul(self, other)

    def __rmatmul__(self, other):
        return from_ops.operator_rmatmul(other, self)

    def __xor__(self, other):
        return from_ops.operator_xor(self, other)

    def __rxor__(self, other):
        return from_ops.operator_rxor(other, self)

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    def __str__(self):
        dims = self._dims
        shape = "" if dims is None else f", shape={tensor_shape.from_dims(dims)}"
        device = self.device
        return 'Tensor("%s"%s, dtype=%s%s)' % (
            self.name,
            shape,
            self._dtype_name(),
            f", device={device}" if device else "",
        )

    def __repr__(self):
        return "<tf.Tensor '%s' shape=%s dtype=%s>" % (self.name, self.shape, self._dtype_name())

    def _dtype_name(self):
        try:
            return self.dtype.name
        except TypeError:  # of an imported node of an op that is not known
            return "<unknown>"


_USES = {"eval": ("evaluate", "tensor"), "run": ("execute", "operation")}


def _session_for(element, session, method):
    if session is None:
        session = get_default_session()
        if session is None:
            if method == "eval":
                raise ValueError(
                    "Cannot evaluate tensor using `eval()`: No default session is registered. "
                    "Use `with sess.as_default()` or pass an explicit session to "
                    "`eval(session=sess)`"
                )
            raise ValueError(
                "Cannot execute operation using `run()`: No default session is registered. Use "
                "`with sess.as_default():` or pass an explicit session to `run(session=sess)`"
            )
        kind, hint = "default", f" Pass an explicit session to `{method}(session=sess)`."
    else:
        kind, hint = "given", ""
    if session.graph is not element.graph:
        verb, noun = _USES[method]
        raise ValueError(
            f"Cannot use the {kind} session to {verb} {noun}: the {noun}'s graph is different "
            f"from the session's graph.{hint}"
        )
    return session


class Operation(_core.OperationBase):
    """A node of a graph."""

    _is_eager = False

    @property
    def inputs(self):
        """The tensors it reads, in order."""
        return self._input_tuple

    @property
    def _inputs(self):
        return list(self._input_tuple)

    @property
    def _outputs(self):
        return self.outputs

    @property
    def _control_inputs(self):
        return self.control_inputs

    @property
    def _control_outputs(self):
        """The operations that wait for it."""
        return self.graph._waiting(self._id)

    _original_op = None
    _graph = property(lambda self: self.graph)
    _inputs_val = property(lambda self: self._inputs)
    _traceback = property(lambda self: self.traceback)
    _op_def = property(lambda self: self.op_def)
    _node_def = property(lambda self: self.node_def)
    _id_value = property(lambda self: self._id)

    @property
    def _is_stateful(self):
        return self.op_def is not None and self.op_def.is_stateful

    @property
    def _input_types(self):
        return [tensor.dtype for tensor in self.inputs]

    @property
    def _output_types(self):
        """The numbers of the outputs' dtypes."""
        return [int(tensor.dtype.as_datatype_enum) for tensor in self.outputs]

    @property
    def op_def(self):
        """The definition of its op as an OpDef message; None for ops that only the graph has."""
        return op_def_message(self.type)

    @property
    def node_def(self):
        """Name, op, inputs, device and attributes, in the form of TensorFlow's NodeDef."""
        return messages.NodeDef.FromString(self.graph._node_def_bytes(self._id))

    @property
    def traceback(self):
        """Where the program made it: a list of one (file, line, function, text)."""
        source = self._source
        return [] if source is None else [(source[0], source[1], "", None)]

    def get_attr(self, name):
        """The value of an attribute; ValueError if the operation has none of that name."""
        kind, value = self._attr(name)
        if kind == 0:
            raise ValueError(f"Operation '{self.name}' has no attr named '{name}'.")
        single = kind if kind < 10 else kind - 9
        if single not in (signatures.SHAPE, signatures.TENSOR, signatures.FUNC):
            return value
        field = {signatures.SHAPE: "shape", signatures.TENSOR: "tensor"}.get(single, "func")
        message = self.node_def.attr[name]
        return getattr(message, field) if kind == single else list(getattr(message.list, field))

    def _get_control_flow_context(self):
        """The branch or loop that it was made in, or None."""
        return context_numbered(self.graph, self.graph._context_of(self._id))

    _control_flow_context = property(_get_control_flow_context)

    def _set_control_flow_context(self, context):
        self.graph._set_context_of(self._id, 0 if context is None else context._number)

    def _set_device(self, device):
        device = device.to_string() if hasattr(device, "to_string") else device
        self.graph._set_operation_device(self._id, device)

    def _add_control_inputs(self, ops):
        """Has this operation wait for others too, which were made before it."""
        for op in ops:
            self._add_control_input(op)

    def _add_control_input(self, op):
        if not isinstance(op, Operation):
            raise TypeError(f"op must be an Operation: {op}")
        if op.graph is not self.graph:
            raise ValueError(f"{op} is not of the graph of {self}")
        self.graph._add_control_input(self._id, op._id)

    def values(self):
        """The outputs, as a tuple."""
        return tuple(self.outputs)

    def colocation_groups(self):
        """The names of the operations it has to share a device with, as b"loc:@name"."""
        kind, groups = self._attr("_class")
        mine = [g for g in groups if g.startswith(b"loc:@")] if kind else []
        return mine or [b"loc:@" + self.name.encode()]

    def run(self, feed_dict=None, session=None):
        """Runs it in `session`, by default the default one."""
        _session_for(self, session, "run").run(self, feed_dict)

    def _as_graph_element(self):
        return self

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    def __str__(self):
        return messages.to_text(self.node_def)

    def __repr__(self):
        return "<tf.Operation '%s' type=%s>" % (self.name, self.type)
