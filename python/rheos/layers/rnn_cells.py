"""Cells of recurrent networks: (inputs, state) -> (output, new state), with variables.

inputs: (batch, n), state: (batch, state_size), or a structure of such where `state_size` is one.
A cell makes its variables when it is first called, in the variable scope of that call.
"""

import collections

from rheos.framework import dtypes, nest, tensor_shape
from rheos.framework.constant_values import constant_value
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.graph import name_scope
from rheos.framework.operation import Tensor
from rheos.layers import base
from rheos.ops.array import array_ops
from rheos.ops.array.constant_op import constant
from rheos.ops.math import clip_ops, math_ops
from rheos.ops.nn import nn_ops
from rheos.ops.state import init_ops, variable_scope
from rheos.ops.state.partitioned_variables import fixed_size_partitioner


def _dims_and_static(value):
    """(vector or None, static dims or None) of a size, a shape, or a tensor of either."""
    if isinstance(value, Tensor):
        known = constant_value(value)
        if value.shape.ndims == 0:
            value = array_ops.expand_dims(value, 0)
            known = None if known is None else [known]
        elif value.shape.ndims != 1:
            raise ValueError(
                f"prefix tensor must be either a scalar or vector, but saw tensor: {value}"
            )
        return value, None if known is None else [int(d) for d in known]
    sizes = [value] if isinstance(value, int) else value
    shape = tensor_shape.as_shape(sizes)
    dims = None if shape.ndims is None else shape.as_list()
    if shape.is_fully_defined():
        return constant(dims, dtype=dtypes.int32), dims
    return None, dims


def joined(prefix, suffix, static=False):
    """A shape of two parts, each a size, a shape or a tensor: a vector, or static dims."""
    (first, known_first), (last, known_last) = _dims_and_static(prefix), _dims_and_static(suffix)
    if static:
        known = [known_first, known_last]
        whole = [tensor_shape.TensorShape(part) for part in known]
        return whole[0].concatenate(whole[1])
    if first is None or last is None:
        raise ValueError(f"Provided a prefix or suffix of None: {prefix} and {suffix}")
    return array_ops.concat((first, last), 0)


def zero_tensors(state_size, batch_size, dtype):
    """Zeros for each part of a structure of sizes, (batch_size, size)."""

    def zeros(size):
        result = array_ops.zeros(joined(batch_size, size), dtype=dtype)
        result.set_shape(joined(batch_size, size, static=True))
        return result

    if isinstance(state_size, tensor_shape.TensorShape):
        return zeros(state_size)
    return nest.map_leaves(zeros, state_size)


def assert_like_rnncell(cell_name, cell):
    """TypeError unless an object has what a cell needs."""
    lacking = [
        what
        for what, has in (
            ("'output_size' property is missing", hasattr(cell, "output_size")),
            ("'state_size' property is missing", hasattr(cell, "state_size")),
            (
                "either 'zero_state' or 'get_initial_state' method is required",
                hasattr(cell, "zero_state") or hasattr(cell, "get_initial_state"),
            ),
            ("is not callable", callable(cell)),
        )
        if not has
    ]
    if lacking:
        raise TypeError(
            f"The argument {cell_name!r} ({cell}) is not an RNNCell: {', '.join(lacking)}."
        )


def _check_dtypes(values):
    """ValueError for values that are not floating point or complex."""
    for value in nest.flatten(values):
        dtype = dtypes.as_dtype(value.dtype).base_dtype
        if not (dtype.is_floating or dtype.is_complex):
            raise ValueError(
                "RNN cell only supports floating point inputs, but saw dtype: %s" % dtype
            )


class RNNCell(base.Layer):
    """What cells are: subclasses define `state_size`, `output_size` and `call(inputs, state)`."""

    def __init__(self, trainable=True, name=None, dtype=None, **kwargs):
        super().__init__(trainable=trainable, name=name, dtype=dtype, **kwargs)
        self._getter_scope = None

    def __call__(self, inputs, state, scope=None):
        """(output, new state); `scope`: of the variables, by default the current one."""
        if scope is not None:
            with variable_scope.variable_scope(scope, custom_getter=self._kept) as scope:
                return super().__call__(inputs, state, scope=scope)
        if self._getter_scope is None:
            self._getter_scope = variable_scope.variable_scope(
                variable_scope.get_variable_scope(), custom_getter=self._kept
            )
        with self._getter_scope:
            return super().__call__(inputs, state)

    def _kept(self, getter, *args, **kwargs):
        """A custom getter: the variables made in a call are the cell's."""
        variable = getter(*args, **kwargs)
        trainable = getattr(variable, "trainable", True)
        kept = self._trainable_weights if trainable else self._non_trainable_weights
        if not any(v is variable for v in kept):
            kept.append(variable)
        return variable

    @property
    def state_size(self):
        """The size of the state, a TensorShape of it, or a structure of these."""
        raise NotImplementedError("Abstract method")

    @property
    def output_size(self):
        """The size of the output."""
        raise NotImplementedError("Abstract method")

    def get_initial_state(self, inputs=None, batch_size=None, dtype=None):
        """zero_state() for a batch as `inputs` (batch, ...), or of that size and dtype."""
        if inputs is not None:
            inputs = convert_to_tensor(inputs, name="inputs")
            if batch_size is None:
                known = inputs.shape.size_at(0)
                batch_size = array_ops.shape(inputs)[0] if known is None else known
            if dtype is None:
                dtype = inputs.dtype
        if batch_size is None or dtype is None:
            raise ValueError(
                "batch_size and dtype must be provided while constructing initial state: "
                f"batch_size={batch_size}, dtype={dtype}"
            )
        return self.zero_state(batch_size, dtype)

    def zero_state(self, batch_size, dtype):
        """The state at the start: zeros (batch_size, size), in the structure of state_size."""
        with name_scope(type(self).__name__ + "ZeroState", values=[batch_size]):
            return zero_tensors(self.state_size, batch_size, dtype)


class LayerRNNCell(RNNCell):
    """A cell that makes its variables in build()."""

    def __call__(self, inputs, state, scope=None, *args, **kwargs):
        """(output, new state); `scope`: of the variables, by default the cell's own."""
        _check_dtypes([x for x in nest.flatten([inputs, state]) if hasattr(x, "dtype")])
        return base.Layer.__call__(self, inputs, state, *args, scope=scope, **kwargs)

    def _depth(self, inputs_shape):
        """The size of the inputs; ValueError if it is not known."""
        shape = tensor_shape.as_shape(inputs_shape)
        if shape.size_at(-1) is None:
            raise ValueError(f"Expected inputs.shape[-1] to be known, saw shape: {shape}")
        return shape.size_at(-1)


class BasicRNNCell(LayerRNNCell):
    """output = new state = activation([inputs, state] @ kernel + bias).

    Variables: kernel (n + num_units, num_units), bias (num_units,). activation: tanh by default.
    """

    def __init__(self, num_units, activation=None, reuse=None, name=None, dtype=None, **kwargs):
        super().__init__(_reuse=reuse, name=name, dtype=dtype, **kwargs)
        self.input_spec = base.InputSpec(ndim=2)
        self._num_units = num_units
        self._activation = activation or math_ops.tanh

    @property
    def state_size(self):
        return self._num_units

    @property
    def output_size(self):
        return self._num_units

    def build(self, inputs_shape):
        depth = self._depth(inputs_shape)
        self._kernel = self.add_variable("kernel", shape=[depth + self._num_units, self._num_units])
        self._bias = self.add_variable(
            "bias",
            shape=[self._num_units],
            initializer=init_ops.zeros_initializer(dtype=self.dtype),
        )
        self.built = True

    def call(self, inputs, state):
        gates = math_ops.matmul(array_ops.concat([inputs, state], 1), self._kernel)
        output = self._activation(nn_ops.bias_add(gates, self._bias))
        return output, output


class GRUCell(LayerRNNCell):
    """A gated recurrent unit.

    reset, update = sigmoid([inputs, state] @ gates/kernel + gates/bias), candidate =
    activation([inputs, reset * state] @ candidate/kernel + candidate/bias); output = new state =
    update * state + (1 - update) * candidate. The gates' bias starts with ones.
    """

    def __init__(
        self,
        num_units,
        activation=None,
        reuse=None,
        kernel_initializer=None,
        bias_initializer=None,
        name=None,
        dtype=None,
        **kwargs,
    ):
        super().__init__(_reuse=reuse, name=name, dtype=dtype, **kwargs)
        self.input_spec = base.InputSpec(ndim=2)
        self._num_units = num_units
        self._activation = activation or math_ops.tanh
        self._kernel_initializer = kernel_initializer
        self._bias_initializer = bias_initializer

    @property
    def state_size(self):
        return self._num_units

    @property
    def output_size(self):
        return self._num_units

    def build(self, inputs_shape):
        depth, units = self._depth(inputs_shape), self._num_units
        given = self._bias_initializer

        def make(name, count, bias):
            kernel = self.add_variable(
                f"{name}/kernel", shape=[depth + units, count], initializer=self._kernel_initializer
            )
            return kernel, self.add_variable(
                f"{name}/bias", shape=[count], initializer=bias if given is None else given
            )

        self._gate_kernel, self._gate_bias = make(
            "gates", 2 * units, init_ops.constant_initializer(1.0, dtype=self.dtype)
        )
        self._candidate_kernel, self._candidate_bias = make(
            "candidate", units, init_ops.zeros_initializer(dtype=self.dtype)
        )
        self.built = True

    def call(self, inputs, state):
        gates = math_ops.matmul(array_ops.concat([inputs, state], 1), self._gate_kernel)
        gates = math_ops.sigmoid(nn_ops.bias_add(gates, self._gate_bias))
        reset, update = array_ops.split(value=gates, num_or_size_splits=2, axis=1)
        candidate = math_ops.matmul(
            array_ops.concat([inputs, reset * state], 1), self._candidate_kernel
        )
        candidate = self._activation(nn_ops.bias_add(candidate, self._candidate_bias))
        new_state = update * state + (1 - update) * candidate
        return new_state, new_state


class LSTMStateTuple(collections.namedtuple("LSTMStateTuple", ("c", "h"))):
    """The state of LSTM cells: the cell state c and the output h."""

    __slots__ = ()

    @property
    def dtype(self):
        """The dtype of both; TypeError if they differ."""
        if self.c.dtype != self.h.dtype:
            raise TypeError(f"Inconsistent internal state: {self.c.dtype} vs {self.h.dtype}")
        return self.c.dtype


class BasicLSTMCell(LayerRNNCell):
    """A cell with long short-term memory.

    i, j, f, o = [inputs, h] @ kernel + bias; new c = sigmoid(f + forget_bias) * c + sigmoid(i) *
    activation(j); new h = output = sigmoid(o) * activation(new c). state_is_tuple: whether the
    state is an LSTMStateTuple instead of c and h joined.
    """

    def __init__(
        self,
        num_units,
        forget_bias=1.0,
        state_is_tuple=True,
        activation=None,
        reuse=None,
        name=None,
        dtype=None,
        **kwargs,
    ):
        super().__init__(_reuse=reuse, name=name, dtype=dtype, **kwargs)
        self.input_spec = base.InputSpec(ndim=2)
        self._num_units = num_units
        self._forget_bias = forget_bias
        self._state_is_tuple = state_is_tuple
        self._activation = activation or math_ops.tanh

    @property
    def state_size(self):
        if self._state_is_tuple:
            return LSTMStateTuple(self._num_units, self._num_units)
        return 2 * self._num_units

    @property
    def output_size(self):
        return self._num_units

    def build(self, inputs_shape):
        depth, units = self._depth(inputs_shape), self._num_units
        self._kernel = self.add_variable("kernel", shape=[depth + units, 4 * units])
        self._bias = self.add_variable(
            "bias", shape=[4 * units], initializer=init_ops.zeros_initializer(dtype=self.dtype)
        )
        self.built = True

    def call(self, inputs, state):
        one = constant(1, dtype=dtypes.int32)
        if self._state_is_tuple:
            c, h = state
        else:
            c, h = array_ops.split(value=state, num_or_size_splits=2, axis=one)
        gates = math_ops.matmul(array_ops.concat([inputs, h], 1), self._kernel)
        gates = nn_ops.bias_add(gates, self._bias)
        i, j, f, o = array_ops.split(value=gates, num_or_size_splits=4, axis=one)
        forget_bias = constant(self._forget_bias, dtype=f.dtype)
        kept = math_ops.multiply(c, math_ops.sigmoid(math_ops.add(f, forget_bias)))
        added = math_ops.multiply(math_ops.sigmoid(i), self._activation(j))
        new_c = math_ops.add(kept, added)
        new_h = math_ops.multiply(self._activation(new_c), math_ops.sigmoid(o))
        if self._state_is_tuple:
            return new_h, LSTMStateTuple(new_c, new_h)
        return new_h, array_ops.concat([new_c, new_h], 1)


def _in_parts(count):
    return None if count is None else fixed_size_partitioner(count)


class LSTMCell(LayerRNNCell):
    """BasicLSTMCell with an initializer, peepholes from c to the gates, clipping, a projection.

    use_peepholes: the gates see c, by the variables w_f_diag, w_i_diag and w_o_diag (num_units,).
    cell_clip: c is kept within it. num_proj: the size that the output is projected to, by the
    variable projection/kernel; proj_clip: what that is kept within. num_unit_shards,
    num_proj_shards: how many parts the kernel, or that of the projection, is made in.
    """

    def __init__(
        self,
        num_units,
        use_peepholes=False,
        cell_clip=None,
        initializer=None,
        num_proj=None,
        proj_clip=None,
        num_unit_shards=None,
        num_proj_shards=None,
        forget_bias=1.0,
        state_is_tuple=True,
        activation=None,
        reuse=None,
        name=None,
        dtype=None,
        **kwargs,
    ):
        super().__init__(_reuse=reuse, name=name, dtype=dtype, **kwargs)
        self.input_spec = base.InputSpec(ndim=2)
        self._num_units = num_units
        self._use_peepholes = use_peepholes
        self._cell_clip = cell_clip
        self._initializer = initializer
        self._num_proj = num_proj
        self._proj_clip = proj_clip
        self._num_unit_shards = num_unit_shards
        self._num_proj_shards = num_proj_shards
        self._forget_bias = forget_bias
        self._state_is_tuple = state_is_tuple
        self._activation = activation or math_ops.tanh

    @property
    def state_size(self):
        if self._state_is_tuple:
            return LSTMStateTuple(self._num_units, self.output_size)
        return self._num_units + self.output_size

    @property
    def output_size(self):
        return self._num_proj or self._num_units

    def build(self, inputs_shape):
        depth, units = self._depth(inputs_shape), self._num_units
        self._kernel = self.add_variable(
            "kernel",
            shape=[depth + self.output_size, 4 * units],
            initializer=self._initializer,
            partitioner=_in_parts(self._num_unit_shards),
        )
        dtype = None if self.dtype is None else dtypes.as_dtype(self.dtype)
        self._bias = self.add_variable(
            "bias",
            shape=[4 * units],
            initializer=init_ops.zeros_initializer(dtype=dtype or dtypes.float32),
        )
        if self._use_peepholes:
            self._w_f, self._w_i, self._w_o = [
                self.add_variable(f"w_{gate}_diag", shape=[units], initializer=self._initializer)
                for gate in "fio"
            ]
        if self._num_proj is not None:
            self._projection = self.add_variable(
                "projection/kernel",
                shape=[units, self._num_proj],
                initializer=self._initializer,
                partitioner=_in_parts(self._num_proj_shards),
            )
        self.built = True

    def _parts(self, state):
        if self._state_is_tuple:
            return state
        c = array_ops.slice(state, [0, 0], [-1, self._num_units])
        return c, array_ops.slice(state, [0, self._num_units], [-1, self.output_size])

    def call(self, inputs, state):
        sigmoid, activation = math_ops.sigmoid, self._activation
        c, h = self._parts(state)
        if inputs.shape.with_rank(2).size_at(1) is None:
            raise ValueError("Could not infer input size from inputs.get_shape()[-1]")
        gates = math_ops.matmul(array_ops.concat([inputs, h], 1), self._kernel)
        gates = nn_ops.bias_add(gates, self._bias)
        i, j, f, o = array_ops.split(value=gates, num_or_size_splits=4, axis=1)
        if self._use_peepholes:
            kept = sigmoid(f + self._forget_bias + self._w_f * c) * c
            new_c = kept + sigmoid(i + self._w_i * c) * activation(j)
        else:
            new_c = sigmoid(f + self._forget_bias) * c + sigmoid(i) * activation(j)
        if self._cell_clip is not None:
            new_c = clip_ops.clip_by_value(new_c, -self._cell_clip, self._cell_clip)
        if self._use_peepholes:
            new_h = sigmoid(o + self._w_o * new_c) * activation(new_c)
        else:
            new_h = sigmoid(o) * activation(new_c)
        if self._num_proj is not None:
            new_h = math_ops.matmul(new_h, self._projection)
            if self._proj_clip is not None:
                new_h = clip_ops.clip_by_value(new_h, -self._proj_clip, self._proj_clip)
        if self._state_is_tuple:
            return new_h, LSTMStateTuple(new_c, new_h)
        return new_h, array_ops.concat([new_c, new_h], 1)


class MultiRNNCell(RNNCell):
    """Cells one after the other: the output of one is the input of the next.

    The state is a tuple of theirs, or these joined if not `state_is_tuple`. The variables are in
    the scopes cell_0, cell_1 and so on.
    """

    def __init__(self, cells, state_is_tuple=True):
        super().__init__()
        if not cells:
            raise ValueError("Must specify at least one cell for MultiRNNCell.")
        if not nest.is_nested(cells):
            raise TypeError(f"cells must be a list or tuple, but saw: {cells}.")
        self._cells = cells
        self._state_is_tuple = state_is_tuple
        if not state_is_tuple and any(nest.is_nested(c.state_size) for c in cells):
            raise ValueError(
                "Some cells return tuples of states, but the flag state_is_tuple is not set.  "
                f"State sizes are: {[c.state_size for c in cells]}"
            )

    @property
    def state_size(self):
        sizes = tuple(cell.state_size for cell in self._cells)
        return sizes if self._state_is_tuple else sum(sizes)

    @property
    def output_size(self):
        return self._cells[-1].output_size

    @property
    def trainable_weights(self):
        if not self.trainable:
            return []
        return [w for cell in self._cells for w in cell.trainable_weights]

    @property
    def non_trainable_weights(self):
        weights = [w for cell in self._cells for w in cell.non_trainable_weights]
        if self.trainable:
            return weights
        return [w for cell in self._cells for w in cell.trainable_weights] + weights

    def zero_state(self, batch_size, dtype):
        with name_scope(type(self).__name__ + "ZeroState", values=[batch_size]):
            if self._state_is_tuple:
                return tuple(cell.zero_state(batch_size, dtype) for cell in self._cells)
            return super().zero_state(batch_size, dtype)

    def call(self, inputs, state):
        if self._state_is_tuple:
            if not nest.is_nested(state):
                raise ValueError(
                    f"Expected state to be a tuple of length {len(self.state_size)}, but received: "
                    f"{state}"
                )
        start, current, states = 0, inputs, []
        for i, cell in enumerate(self._cells):
            with variable_scope.variable_scope("cell_%d" % i):
                if self._state_is_tuple:
                    its_state = state[i]
                else:
                    its_state = array_ops.slice(state, [0, start], [-1, cell.state_size])
                    start += cell.state_size
                current, new_state = cell(current, its_state)
                states.append(new_state)
        return current, tuple(states) if self._state_is_tuple else array_ops.concat(states, 1)
