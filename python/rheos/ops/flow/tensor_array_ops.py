"""Arrays of tensors that a step writes and reads one by one."""

import contextlib

from rheos.framework import dtypes, logging
from rheos.framework.constant_values import constant_value
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.defaults import uses_control_flow_v2
from rheos.framework.graph import (
    colocate_with,
    control_dependencies,
    device as in_device,
    name_scope,
)
from rheos.framework.op_call import apply_op, op1
from rheos.framework.operation import Tensor
from rheos.framework.tensor_shape import TensorShape, as_shape
from rheos.ops.array import array_ops
from rheos.ops.math import math_ops


def _check_array(handle, size, element_shape, dynamic_size, clear_after_read, name):
    """Raises unless the arguments say either what array to make or which one is there."""
    if handle is None:
        if size is None:
            raise ValueError("Size must be provided if handle is not provided")
        return
    if name:
        raise ValueError("Cannot construct with both handle and tensor_array_name")
    if not isinstance(handle, Tensor):
        raise TypeError("Handle must be a Tensor")
    given = (
        ("size", size),
        ("element_shape", element_shape),
        ("dynamic_size", dynamic_size),
        ("clear_after_read", clear_after_read),
    )
    for word, value in given:
        if value is not None:
            raise ValueError(f"Cannot provide both a handle and {word} at the same time")


class TensorArray:
    """An array of tensors of one dtype, made anew in each step.

    What changes it gives the array as it is afterwards, by another `flow`; only operations on that
    one come after the change. dtype: of the elements. size: an int32 scalar. dynamic_size: whether
    writes behind the end make it longer. clear_after_read: whether an element can be read once
    (the default). handle, flow: of an array that is there, instead of a size. infer_shape: whether
    all elements have one shape. element_shape: of the elements, as far as it is known.
    colocate_with_first_write_call: whether it goes to the device of what is written first.

    >>> squares = tf.TensorArray(tf.int32, size=3)
    >>> for i in range(3):
    ...     squares = squares.write(i, i * i)
    >>> print(squares.stack().numpy())
    [0 1 4]
    """

    def __new__(cls, dtype=None, *values, **arguments):
        if cls is TensorArray and uses_control_flow_v2() and arguments.get("handle") is None:
            cls = _ListArray
        return object.__new__(cls)

    def __init__(
        self,
        dtype,
        size=None,
        dynamic_size=None,
        clear_after_read=None,
        tensor_array_name=None,
        handle=None,
        flow=None,
        infer_shape=True,
        element_shape=None,
        colocate_with_first_write_call=True,
        name=None,
    ):
        _check_array(handle, size, element_shape, dynamic_size, clear_after_read, tensor_array_name)
        self._dtype = dtypes.as_dtype(dtype).base_dtype
        self._dynamic_size = dynamic_size or False
        self._colocates = colocate_with_first_write_call
        self._written = []  # what was written first; shared with the array as it is later
        self._element_shapes = [as_shape(element_shape)]  # one, that writes refine; shared too
        self._infer_shape = infer_shape
        with name_scope(name, "TensorArray", [handle, size, flow]) as scope:
            if handle is not None:
                if flow is None:
                    raise ValueError("flow must not be None if handle is not None.")
                self._handle, self._flow = handle, flow
                return
            with contextlib.ExitStack() as contexts:
                if colocate_with_first_write_call:
                    contexts.enter_context(in_device(None))
                    contexts.enter_context(colocate_with(None, ignore_existing=True))
                made = apply_op(
                    "TensorArrayV3",
                    scope,
                    size,
                    dtype=self._dtype,
                    element_shape=element_shape,
                    identical_element_shapes=infer_shape,
                    dynamic_size=self._dynamic_size,
                    clear_after_read=True if clear_after_read is None else clear_after_read,
                    tensor_array_name=tensor_array_name,
                )
            self._handle, self._flow = made.outputs

    @property
    def flow(self):
        """A float scalar that operations on the array, as it is now, wait for."""
        return self._flow

    @property
    def dtype(self):
        """The dtype of the elements."""
        return self._dtype

    @property
    def handle(self):
        """The handle of the array, a resource."""
        return self._handle

    @property
    def element_shape(self):
        """The TensorShape of the elements, as far as it is known."""
        return self._element_shapes[0]

    @property
    def dynamic_size(self):
        """Whether writing beyond the end makes it larger."""
        return self._dynamic_size

    def with_flow(self, flow):
        """The same array at another time."""
        array = TensorArray(
            dtype=self._dtype,
            handle=self._handle,
            flow=flow,
            infer_shape=self._infer_shape,
            colocate_with_first_write_call=self._colocates,
        )
        array._dynamic_size = self._dynamic_size
        array._written = self._written
        array._element_shapes = self._element_shapes
        return array

    def _refine_shape(self, shape):
        if not shape.is_compatible_with(self.element_shape):
            raise ValueError(f"Inconsistent shapes: saw {shape} but expected {self.element_shape} ")
        if self._infer_shape:
            self._element_shapes[0] = self.element_shape.merge_with(shape)

    def _beside(self, value):
        """A context whose operations go where what was written first is."""
        if not self._colocates:
            return contextlib.nullcontext()
        if not self._written:
            self._written.append(value)
        return colocate_with(self._written[0])

    def _to_write(self, value):
        value = convert_to_tensor(value, preferred_dtype=self._dtype, name="value")
        if value.dtype.base_dtype != self._dtype:
            logging.error(
                "Error: Input value %s has dtype %s, but expected dtype %s.",
                value,
                value.dtype,
                self._dtype,
            )
        return value

    def identity(self):
        """The array as it is now, with a flow of its own."""
        return self.with_flow(array_ops.identity(self._flow))

    def grad(self, source, flow=None, name=None):
        """The array of the gradients of the elements.

        source: a string that tells apart gradients that are not to be added to each other.
        """
        flow = self.flow if flow is None else flow
        with name_scope(name, "TensorArrayGrad", [self._handle]), colocate_with(self._handle):
            handle, _ = apply_op(
                "TensorArrayGradV3", name, self._handle, flow, source=source
            ).outputs
            with control_dependencies([handle]):
                flow = array_ops.identity(flow, name="gradient_flow")
            array = TensorArray(
                dtype=self._dtype,
                handle=handle,
                flow=flow,
                infer_shape=self._infer_shape,
                colocate_with_first_write_call=False,
            )
            array._element_shapes = self._element_shapes
            return array

    def read(self, index, name=None):
        """The element at `index`, an int32 scalar."""
        value = op1("TensorArrayReadV3", name, self._handle, index, self._flow, dtype=self._dtype)
        value.set_shape(self.element_shape)
        return value

    def write(self, index, value, name=None):
        """The array with `value` at `index`."""
        with name_scope(name, "TensorArrayWrite", [self._handle, index, value]):
            value = self._to_write(value)
            self._refine_shape(value.shape)
            with self._beside(value):
                flow = op1("TensorArrayWriteV3", name, self._handle, index, value, self._flow)
            return self.with_flow(flow)

    def stack(self, name=None):
        """All elements, along a new first dimension."""
        with colocate_with(self._handle), name_scope(name, "TensorArrayStack", [self._handle]):
            return self.gather(math_ops.range(0, self.size()), name=name)

    def gather(self, indices, name=None):
        """The elements at `indices`, an int32 vector, along a new first dimension."""
        value = op1(
            "TensorArrayGatherV3",
            name,
            self._handle,
            indices,
            self._flow,
            dtype=self._dtype,
            element_shape=self.element_shape,
        )
        if self.element_shape:
            value.set_shape([None, *self.element_shape.dims])
        return value

    def concat(self, name=None):
        """All elements one behind another, along their first dimension."""
        value = apply_op(
            "TensorArrayConcatV3",
            name,
            self._handle,
            self._flow,
            dtype=self._dtype,
            element_shape_except0=self.element_shape[1:],
        ).outputs[0]
        if self.element_shape:
            value.set_shape([None, *self.element_shape.dims[1:]])
        return value

    def unstack(self, value, name=None):
        """The array with the rows of `value` as elements."""
        with name_scope(name, "TensorArrayUnstack", [self._handle, value]):
            count = array_ops.shape(value)[0]
            return self.scatter(indices=math_ops.range(0, count), value=value, name=name)

    def scatter(self, indices, value, name=None):
        """The array with the rows of `value` at `indices`, an int32 vector."""
        with name_scope(name, "TensorArrayScatter", [self._handle, value, indices]):
            value = self._to_write(value)
            self._refine_shape(value.shape[1:])
            with self._beside(value):
                flow = op1("TensorArrayScatterV3", name, self._handle, indices, value, self._flow)
            return self.with_flow(flow)

    def split(self, value, lengths, name=None):
        """The array with parts of `value`, of `lengths` rows, as elements."""
        with name_scope(name, "TensorArraySplit", [self._handle, value, lengths]):
            value = convert_to_tensor(value, dtype=self._dtype, name="value")
            with self._beside(value):
                lengths = math_ops.cast(lengths, dtypes.int64)
                known = constant_value(lengths)
                if value.shape.dims is not None and known is not None and known.size:
                    if known.max() == known.min():
                        rows = TensorShape([int(known[0])])
                        self._refine_shape(rows.concatenate(value.shape[1:]))
                flow = op1("TensorArraySplitV3", name, self._handle, value, lengths, self._flow)
            return self.with_flow(flow)

    def size(self, name=None):
        """How many elements there are, an int32 scalar."""
        return op1("TensorArraySizeV3", name, self._handle, self._flow)

    def close(self, name=None):
        """An operation that lets go of the elements before the step is over."""
        return apply_op("TensorArrayCloseV3", name, self._handle)


def _list_shape(shape):
    """The shape of a list's elements as its ops take it."""
    return -1 if shape.ndims is None else [-1 if d is None else d for d in shape.as_list()]


class _ListArray(TensorArray):
    """A TensorArray of version 2: the flow is a list of tensors, which is all there is."""

    def __init__(
        self,
        dtype,
        size=None,
        dynamic_size=None,
        clear_after_read=None,
        tensor_array_name=None,
        handle=None,
        flow=None,
        infer_shape=True,
        element_shape=None,
        colocate_with_first_write_call=True,
        name=None,
    ):
        if flow is None and size is None:
            raise ValueError("Size must be provided if flow is not provided")
        if flow is not None and size is not None:
            raise ValueError("Cannot provide both a flow and size at the same time")
        self._dtype = dtypes.as_dtype(dtype).base_dtype
        self._dynamic_size = dynamic_size or False
        self._size, self._flow = size, flow
        self._handle, self._colocates, self._written = None, False, []
        self._element_shapes = [as_shape(element_shape)]
        self._infer_shape = infer_shape
        if flow is None:
            with name_scope(name, "TensorArrayV2", [size]) as scope:
                self._flow = op1(
                    "TensorListReserve",
                    scope,
                    _list_shape(self.element_shape),
                    size,
                    element_dtype=self._dtype,
                    shape_type=dtypes.int32,
                )

    def with_flow(self, flow):
        array = _ListArray(self._dtype, flow=flow, infer_shape=self._infer_shape)
        array._dynamic_size, array._size = self._dynamic_size, self._size
        array._element_shapes = self._element_shapes
        return array

    def grad(self, source, flow=None, name=None):
        raise NotImplementedError("arrays of version 2 have no arrays of gradients")

    def _on_list(self, op_type, name, *inputs, **attrs):
        return op1(op_type, name, *inputs, element_dtype=self._dtype, **attrs)

    def _known_size(self):
        if self._dynamic_size or self._size is None:
            return None
        return self._size if isinstance(self._size, int) else constant_value(self._size)

    def _typed(self, value):
        value = convert_to_tensor(value, preferred_dtype=self._dtype, name="value")
        if value.dtype.base_dtype != self._dtype:
            raise ValueError(
                f"Invalid dtype. The array is of {self._dtype!r}, the value of {value.dtype!r}"
            )
        return value

    def read(self, index, name=None):
        shape = self.element_shape
        value = self._on_list("TensorListGetItem", name, self._flow, index, _list_shape(shape))
        value.set_shape(shape)
        return value

    def write(self, index, value, name=None):
        with name_scope(name, "TensorArrayV2Write", [self._flow, index, value]):
            value = self._typed(value)
            self._refine_shape(value.shape)
            flow = self._on_list(
                "TensorListSetItem",
                name,
                self._flow,
                index,
                value,
                resize_if_index_out_of_bounds=self._dynamic_size or None,
            )
            return self.with_flow(flow)

    def stack(self, name=None):
        with name_scope(name, "TensorArrayV2Stack", [self._flow]):
            count, shape = self._known_size(), self.element_shape
            count = None if count is None else int(count)
            value = self._on_list(
                "TensorListStack", name, self._flow, _list_shape(shape), num_elements=count
            )
            value.set_shape(TensorShape([count]).concatenate(shape))
            return value

    def gather(self, indices, name=None):
        shape = self.element_shape
        value = self._on_list("TensorListGather", name, self._flow, indices, _list_shape(shape))
        value.set_shape(TensorShape([None]).concatenate(shape))
        return value

    def concat(self, name=None):
        shape = self.element_shape
        if shape.ndims is not None:
            shape = TensorShape([None]).concatenate(shape[1:])
        value = apply_op(
            "TensorListConcatV2",
            name,
            self._flow,
            _list_shape(shape),
            [],
            element_dtype=self._dtype,
            shape_type=dtypes.int32,
        ).outputs[0]
        value.set_shape(shape)
        return value

    def unstack(self, value, name=None):
        with name_scope(name, "TensorArrayUnstack", [self._flow, value]):
            value = self._typed(value)
            self._refine_shape(value.shape[1:])
            shape = _list_shape(value.shape[1:])
            flow = self._on_list(
                "TensorListFromTensor", name, value, shape, shape_type=dtypes.int32
            )
            return self.with_flow(flow)

    def scatter(self, indices, value, name=None):
        with name_scope(name, "TensorArrayScatter", [self._flow, value, indices]):
            value = self._typed(value)
            self._refine_shape(value.shape[1:])
            flow = self._on_list(
                "TensorListScatterIntoExistingList", name, self._flow, value, indices
            )
            return self.with_flow(flow)

    def split(self, value, lengths, name=None):
        with name_scope(name, "TensorArraySplit", [self._flow, value, lengths]):
            value = self._typed(value)
            lengths = math_ops.cast(lengths, dtypes.int64)
            known, shape = constant_value(lengths), value.shape
            if shape.ndims is not None:
                rows = None
                if known is not None and known.size and known.max() == known.min():
                    rows = int(known[0])
                shape = TensorShape([rows]).concatenate(shape[1:])
                self._refine_shape(shape)
            flow = self._on_list(
                "TensorListSplit",
                name,
                value,
                _list_shape(shape),
                lengths,
                shape_type=dtypes.int32,
            )
            return self.with_flow(flow)

    def size(self, name=None):
        if not self._dynamic_size and self._size is not None:
            return convert_to_tensor(self._size, dtypes.int32)
        return op1("TensorListLength", name, self._flow)

    def close(self, name=None):
        return apply_op("NoOp", name)


def build_ta_with_new_flow(old_ta, flow):
    """The same array at another time."""
    return old_ta.with_flow(flow)
