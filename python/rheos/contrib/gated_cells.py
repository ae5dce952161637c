"""Cells of tf.contrib.rnn with a state of one part, or with gates of their own kinds."""

from rheos.contrib.rnn_cells import Linear
from rheos.framework import dtypes
from rheos.framework.op_call import op1
from rheos.layers import base
from rheos.layers.rnn_cells import LayerRNNCell, LSTMStateTuple, RNNCell
from rheos.ops.array import array_ops
from rheos.ops.array.constant_op import constant
from rheos.ops.math import math_ops
from rheos.ops.nn import nn_ops
from rheos.ops.random import random_ops
from rheos.ops.state import init_ops
from rheos.ops.state.variable_scope import get_variable, get_variable_scope, variable_scope


def input_size_of(inputs):
    """The size of inputs (batch, size); ValueError if it is not known."""
    size = inputs.shape.with_rank(2).size_at(1)
    if size is None:
        raise ValueError("Could not infer input size from inputs.get_shape()[-1]")
    return size


class _OfUnits:
    """A cell whose state and output have `num_units` elements."""

    @property
    def state_size(self):
        return self._num_units

    @property
    def output_size(self):
        return self._num_units


class _PairOfUnits(_OfUnits):
    """A cell whose state is a pair (c, h) of `num_units` elements each."""

    @property
    def state_size(self):
        return LSTMStateTuple(self._num_units, self._num_units)


class UGRNNCell(_OfUnits, RNNCell):
    """The update gate network of Collins, Sohl-Dickstein and Sussillo, 2016.

    g, c = [inputs, state] @ kernel + bias; output = new state = g' * state + (1 - g') *
    activation(c), where g' = sigmoid(g + forget_bias).
    """

    def __init__(
        self,
        num_units,
        initializer=None,
        forget_bias=1.0,
        activation=math_ops.tanh,
        reuse=None,
    ):
        super().__init__(_reuse=reuse)
        self._num_units = num_units
        self._initializer = initializer
        self._forget_bias = forget_bias
        self._activation = activation
        self._linear = None

    def call(self, inputs, state):
        input_size_of(inputs)
        with variable_scope(get_variable_scope(), initializer=self._initializer):
            joint = array_ops.concat([inputs, state], 1)
            if self._linear is None:
                self._linear = Linear(joint, 2 * self._num_units, True)
            gate, candidate = array_ops.split(
                axis=1, num_or_size_splits=2, value=self._linear(joint)
            )
            candidate = self._activation(candidate)
            gate = math_ops.sigmoid(gate + self._forget_bias)
            new_state = gate * state + (1.0 - gate) * candidate
        return new_state, new_state


class IntersectionRNNCell(_OfUnits, RNNCell):
    """The intersection network of Collins, Sohl-Dickstein and Sussillo, 2016.

    One gate holds the state back, another one lets the inputs pass to the output, so both have
    `num_units` elements: ValueError for other inputs, unless num_in_proj asks for a projection.
    """

    def __init__(
        self,
        num_units,
        num_in_proj=None,
        initializer=None,
        forget_bias=1.0,
        y_activation=nn_ops.relu,
        reuse=None,
    ):
        super().__init__(_reuse=reuse)
        self._num_units = num_units
        self._initializer = initializer
        self._forget_bias = forget_bias
        self._projected = num_in_proj
        self._y_activation = y_activation
        self._projection = None
        self._linear = None

    def _project(self, inputs):
        if not self._projected:
            raise ValueError(
                "Must have input size == output size for Intersection RNN. To fix, num_in_proj "
                "should be set to num_units at cell init."
            )
        with variable_scope("in_projection"):
            if self._projection is None:
                self._projection = Linear(inputs, self._num_units, True)
            return self._projection(inputs)

    def call(self, inputs, state):
        size, units = input_size_of(inputs), self._num_units
        with variable_scope(get_variable_scope(), initializer=self._initializer):
            if size != units:
                inputs = self._project(inputs)
            joint = array_ops.concat([inputs, state], 1)
            if self._linear is None:
                self._linear = Linear(joint, 4 * units, True)
            made = self._linear(joint)
            parts = [made[:, :units]]
            parts += [made[:, n * units : (n + 1) * units] for n in (1, 2, 3)]
            state_gate, candidate, output_gate, passed = parts
            candidate = math_ops.tanh(candidate)
            passed = self._y_activation(passed)
            state_gate = math_ops.sigmoid(state_gate + self._forget_bias)
            output_gate = math_ops.sigmoid(output_gate + self._forget_bias)
            new_state = state_gate * state + (1.0 - state_gate) * candidate
            output = output_gate * inputs + (1.0 - output_gate) * passed
        return output, new_state


class SRUCell(_OfUnits, LayerRNNCell):
    """The simple recurrent unit of Lei and Zhang, "Training RNNs as Fast as CNNs".

    The products with the kernel (n, 4 * num_units) need no state; bias: (2 * num_units,).
    """

    def __init__(self, num_units, activation=None, reuse=None, name=None, **kwargs):
        super().__init__(_reuse=reuse, name=name, **kwargs)
        self._num_units = num_units
        self._activation = activation or math_ops.tanh
        self.input_spec = base.InputSpec(ndim=2)

    def build(self, inputs_shape):
        self._kernel = self.add_variable(
            "kernel", shape=[self._depth(inputs_shape), 4 * self._num_units]
        )
        self._bias = self.add_variable(
            "bias", shape=[2 * self._num_units], initializer=init_ops.zeros_initializer
        )
        self.built = True

    def call(self, inputs, state):
        made = math_ops.matmul(inputs, self._kernel)
        candidate, f, r, passed = array_ops.split(value=made, num_or_size_splits=4, axis=1)
        gates = math_ops.sigmoid(nn_ops.bias_add(array_ops.concat([f, r], 1), self._bias))
        f, r = array_ops.split(value=gates, num_or_size_splits=2, axis=1)
        c = f * state + (1.0 - f) * candidate
        return r * self._activation(c) + (1.0 - r) * passed, c


class _Independent(LayerRNNCell):
    """A cell in which every element of the state sees only itself (Li and others, 2018)."""

    def __init__(
        self,
        num_units,
        activation=None,
        reuse=None,
        kernel_initializer=None,
        bias_initializer=None,
        name=None,
        dtype=None,
    ):
        super().__init__(_reuse=reuse, name=name, dtype=dtype)
        self.input_spec = base.InputSpec(ndim=2)
        self._num_units = num_units
        self._activation = activation or math_ops.tanh
        self._kernel_initializer = kernel_initializer
        self._bias_initializer = bias_initializer

    def _weights(self, inputs_shape, count, bias, kernel="kernel_w", prefix=""):
        """Kernels for inputs and state, and a bias, for `count` times the units."""
        width = count * self._num_units
        return (
            self.add_variable(
                prefix + kernel,
                shape=[self._depth(inputs_shape), width],
                initializer=self._kernel_initializer,
            ),
            self.add_variable(
                prefix + "kernel_u",
                shape=[1, width],
                initializer=init_ops.random_uniform_initializer(
                    minval=-1, maxval=1, dtype=self.dtype
                ),
            ),
            self.add_variable(
                prefix + "bias",
                shape=[width],
                initializer=bias if self._bias_initializer is None else self._bias_initializer,
            ),
        )


class IndRNNCell(_OfUnits, _Independent):
    """output = new state = activation(inputs @ kernel_w + state * kernel_u + bias)."""

    def __init__(self, num_units, activation=None, reuse=None, name=None, dtype=None):
        super().__init__(num_units, activation, reuse, name=name, dtype=dtype)

    def build(self, inputs_shape):
        zeros = init_ops.zeros_initializer(dtype=self.dtype)
        self._kernel_w, self._kernel_u, self._bias = self._weights(inputs_shape, 1, zeros)
        self.built = True

    def call(self, inputs, state):
        gates = math_ops.matmul(inputs, self._kernel_w) + state * self._kernel_u
        output = self._activation(nn_ops.bias_add(gates, self._bias))
        return output, output


class IndyGRUCell(_OfUnits, _Independent):
    """GRUCell whose products of the state with a matrix are products with a vector."""

    def build(self, inputs_shape):
        self._gates = self._weights(
            inputs_shape,
            2,
            init_ops.constant_initializer(1.0, dtype=self.dtype),
            prefix="gates/",
        )
        self._candidate = self._weights(
            inputs_shape,
            1,
            init_ops.zeros_initializer(dtype=self.dtype),
            kernel="kernel",
            prefix="candidate/",
        )
        self.built = True

    def call(self, inputs, state):
        kernel_w, kernel_u, bias = self._gates
        gates = math_ops.matmul(inputs, kernel_w) + op1("Tile", None, state, [1, 2]) * kernel_u
        gates = math_ops.sigmoid(nn_ops.bias_add(gates, bias))
        reset, update = array_ops.split(value=gates, num_or_size_splits=2, axis=1)
        kernel_w, kernel_u, bias = self._candidate
        kept = reset * state
        candidate = math_ops.matmul(inputs, kernel_w) + kept * kernel_u
        candidate = self._activation(nn_ops.bias_add(candidate, bias))
        new_state = update * state + (1 - update) * candidate
        return new_state, new_state


class IndyLSTMCell(_PairOfUnits, _Independent):
    """BasicLSTMCell whose product of the state with a matrix is a product with a vector."""

    def __init__(
        self,
        num_units,
        forget_bias=1.0,
        activation=None,
        reuse=None,
        kernel_initializer=None,
        bias_initializer=None,
        name=None,
        dtype=None,
    ):
        super().__init__(
            num_units, activation, reuse, kernel_initializer, bias_initializer, name, dtype
        )
        self._forget_bias = forget_bias

    def build(self, inputs_shape):
        zeros = init_ops.zeros_initializer(dtype=self.dtype)
        self._kernel_w, self._kernel_u, self._bias = self._weights(inputs_shape, 4, zeros)
        self.built = True

    def call(self, inputs, state):
        axis = constant(1, dtype=dtypes.int32)
        c, h = state
        gates = math_ops.matmul(inputs, self._kernel_w)
        gates += op1("Tile", None, h, [1, 4]) * self._kernel_u
        gates = nn_ops.bias_add(gates, self._bias)
        i, j, f, o = array_ops.split(value=gates, num_or_size_splits=4, axis=axis)
        forget_bias = constant(self._forget_bias, dtype=f.dtype)
        add, multiply, sigmoid = math_ops.add, math_ops.multiply, math_ops.sigmoid
        kept = multiply(c, sigmoid(add(f, forget_bias)))
        new_c = add(kept, multiply(sigmoid(i), self._activation(j)))
        new_h = multiply(self._activation(new_c), sigmoid(o))
        return new_h, LSTMStateTuple(new_c, new_h)


def _exponential_initializer(minval, maxval):
    """Numbers whose logarithms are uniform."""

    def initializer(shape, dtype=dtypes.float32, partition_info=None):
        least, most = math_ops.log(minval), math_ops.log(maxval)
        return math_ops.exp(random_ops.random_uniform(shape, least, most, dtype))

    return initializer


class PhasedLSTMCell(_PairOfUnits, RNNCell):
    """The cell of Neil, Pfeiffer and Liu, "Phased LSTM": every unit is open a part of its period.

    inputs: (time, x), of which time is (batch, 1) and x (batch, n). leak: how much passes while a
    unit is closed. ratio_on: what part of its period it is open. period_init_min and _max: between
    which the periods start.
    """

    def __init__(
        self,
        num_units,
        use_peepholes=False,
        leak=0.001,
        ratio_on=0.1,
        trainable_ratio_on=True,
        period_init_min=1.0,
        period_init_max=1000.0,
        reuse=None,
    ):
        super().__init__(_reuse=reuse)
        self._num_units = num_units
        self._use_peepholes = use_peepholes
        self._leak = leak
        self._ratio_on = ratio_on
        self._trainable_ratio_on = trainable_ratio_on
        self._period_range = period_init_min, period_init_max
        self._linear = {}

    def _gates(self, scope, parts, count):
        with variable_scope(scope):
            if scope not in self._linear:
                self._linear[scope] = Linear(parts, count * self._num_units, True)
            activation = math_ops.tanh if scope == "new_input" else math_ops.sigmoid
            made = activation(self._linear[scope](parts))
            if count == 1:
                return made
            return array_ops.split(axis=1, num_or_size_splits=count, value=made)

    def _cycle(self, time, phase, period):
        """How far into its period each unit is, from 0 to 1."""
        phase = math_ops.cast(phase, dtype=time.dtype)
        period = math_ops.cast(period, dtype=time.dtype)
        shifted = time - phase
        # A remainder whose derivative by the time is 1 and by the period 0.
        rest = array_ops.stop_gradient(math_ops.mod(shifted, period) - shifted) + shifted
        return math_ops.cast(rest / period, dtype=dtypes.float32)

    def _openness(self, time):
        units = [self._num_units]
        period = get_variable(
            "period", units, initializer=_exponential_initializer(*self._period_range)
        )
        phase = get_variable(
            "phase",
            units,
            initializer=init_ops.random_uniform_initializer(0.0, period.initial_value),
        )
        ratio_on = get_variable(
            "ratio_on",
            units,
            initializer=init_ops.constant_initializer(self._ratio_on),
            trainable=self._trainable_ratio_on,
        )
        cycle = self._cycle(time, phase, period)
        opening = 2 * cycle / ratio_on
        closing = 2 - opening
        closed = self._leak * cycle
        k = array_ops.where(cycle < ratio_on, closing, closed)
        return array_ops.where(cycle < 0.5 * ratio_on, opening, k)

    def call(self, inputs, state):
        c, h = state
        time, x = inputs
        seen = [x, h]
        if self._use_peepholes:
            seen.append(c)
        input_gate, forget_gate = self._gates("mask_gates", seen, 2)
        new_input = self._gates("new_input", [x, h], 1)
        new_c = c * forget_gate + input_gate * new_input
        seen = [x, h]
        if self._use_peepholes:
            seen.append(new_c)
        output_gate = self._gates("output_gate", seen, 1)
        new_h = math_ops.tanh(new_c) * output_gate
        k = self._openness(time)
        new_c = k * new_c + (1 - k) * c
        new_h = k * new_h + (1 - k) * h
        return new_h, LSTMStateTuple(new_c, new_h)
