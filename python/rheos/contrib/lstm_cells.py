"""LSTM cells of tf.contrib.rnn: coupled, in groups, convolutional, normalized."""

from rheos.contrib.gated_cells import input_size_of
from rheos.contrib.layers_norm import layer_norm
from rheos.contrib.rnn_cells import Linear
from rheos.framework.defaults import get_default_graph
from rheos.framework.tensor_shape import TensorShape
from rheos.layers.rnn_cells import LSTMStateTuple, RNNCell
from rheos.ops.array import array_ops
from rheos.ops.math import clip_ops, math_ops
from rheos.ops.nn import nn_conv, nn_ops
from rheos.ops.state import init_ops
from rheos.ops.state.graph_keys import GraphKeys
from rheos.ops.state.variable_scope import get_variable, get_variable_scope, variable_scope


def _shards(name, shape, dtype, count):
    if count > shape[0]:
        raise ValueError(f"Too many shards: shape={shape}, num_shards={count}")
    least, rest = divmod(shape[0], count)
    sizes = [least + (i < rest) for i in range(count)]
    return [
        get_variable(f"{name}_{i}", [size, *shape[1:]], dtype=dtype) for i, size in enumerate(sizes)
    ]


def sharded_variable(name, shape, dtype, count):
    """A variable in `count` parts, joined; in a scope it is joined once."""
    parts = _shards(name, shape, dtype, count)
    if len(parts) == 1:
        return parts[0]
    graph = get_default_graph()
    full_name = f"{get_variable_scope().name}/{name}/concat:0"
    for tensor in graph.get_collection(GraphKeys.CONCATENATED_VARIABLES):
        if tensor.name == full_name:
            return tensor
    joint = array_ops.concat(parts, 0, name=f"{name}/concat")
    graph.add_to_collection(GraphKeys.CONCATENATED_VARIABLES, joint)
    return joint


def normed(gain, shift, x, scope):
    """Layer normalization with gamma and beta of a scope, which start as they are told."""
    shape = x.shape[-1:]
    gamma, beta = init_ops.constant_initializer(gain), init_ops.constant_initializer(shift)
    with variable_scope(scope):
        get_variable("gamma", shape=shape, initializer=gamma)
        get_variable("beta", shape=shape, initializer=beta)
    return layer_norm(x, reuse=True, scope=scope)


class _LSTM(RNNCell):
    """What LSTM cells share: a state of c (num_units) and h (num_proj, if given, or num_units)."""

    def __init__(self, num_units, num_proj, reuse=None, **kwargs):
        super().__init__(_reuse=reuse, **kwargs)
        self._num_units = num_units
        self._num_proj = num_proj

    @property
    def state_size(self):
        return LSTMStateTuple(self._num_units, self.output_size)

    @property
    def output_size(self):
        return self._num_proj or self._num_units


def _clipped(x, limit):
    return x if limit is None else clip_ops.clip_by_value(x, -limit, limit)


class CoupledInputForgetGateLSTMCell(_LSTM):
    """An LSTM cell that takes in as much as it forgets (Greff and others, 2015).

    j, f, o = [inputs, m] @ W + B; new c = f' * c + (1 - f') * activation(j), where f' = sigmoid(f +
    forget_bias). The other arguments are those of LSTMCell and LayerNormBasicLSTMCell.
    """

    def __init__(
        self,
        num_units,
        use_peepholes=False,
        initializer=None,
        num_proj=None,
        proj_clip=None,
        num_unit_shards=1,
        num_proj_shards=1,
        forget_bias=1.0,
        state_is_tuple=True,
        activation=math_ops.tanh,
        reuse=None,
        layer_norm=False,
        norm_gain=1.0,
        norm_shift=0.0,
    ):
        super().__init__(num_units, num_proj, reuse)
        self._use_peepholes = use_peepholes
        self._initializer = initializer
        self._proj_clip = proj_clip
        self._num_unit_shards = num_unit_shards
        self._num_proj_shards = num_proj_shards
        self._forget_bias = forget_bias
        self._state_is_tuple = state_is_tuple
        self._activation = activation
        self._layer_norm = layer_norm
        self._norm = norm_gain, norm_shift

    @property
    def state_size(self):
        sizes = super().state_size
        return sizes if self._state_is_tuple else sum(sizes)

    def _parts(self, state):
        if self._state_is_tuple:
            return state
        c = array_ops.slice(state, [0, 0], [-1, self._num_units])
        return c, array_ops.slice(state, [0, self._num_units], [-1, self.output_size])

    def _gates(self, inputs, m):
        units, dtype = self._num_units, inputs.dtype
        rows = input_size_of(inputs) + self.output_size
        weights = sharded_variable("W", [rows, 3 * units], dtype, self._num_unit_shards)
        bias = get_variable(
            "B", shape=[3 * units], initializer=init_ops.zeros_initializer(), dtype=dtype
        )
        made = math_ops.matmul(array_ops.concat([inputs, m], 1), weights)
        if not self._layer_norm:
            made = nn_ops.bias_add(made, bias)
        parts = array_ops.split(value=made, num_or_size_splits=3, axis=1)
        if self._layer_norm:
            names = ("transform", "forget", "output")
            parts = [normed(*self._norm, part, name) for part, name in zip(parts, names)]
        return parts

    def call(self, inputs, state):
        sigmoid, dtype, units = math_ops.sigmoid, inputs.dtype, [self._num_units]
        c, m = self._parts(state)
        j, f, o = self._gates(inputs, m)
        peepholes = self._use_peepholes
        if peepholes:
            w_f = get_variable("W_F_diag", shape=units, dtype=dtype)
            w_o = get_variable("W_O_diag", shape=units, dtype=dtype)
        f = f + self._forget_bias
        f = sigmoid(f + w_f * c if peepholes else f)
        new_c = f * c + (1 - f) * self._activation(j)
        if self._layer_norm:
            new_c = normed(*self._norm, new_c, "state")
        new_m = sigmoid(o + w_o * new_c if peepholes else o) * self._activation(new_c)
        if self._num_proj is not None:
            projection = sharded_variable(
                "W_P", [self._num_units, self._num_proj], dtype, self._num_proj_shards
            )
            new_m = _clipped(math_ops.matmul(new_m, projection), self._proj_clip)
        if self._state_is_tuple:
            return new_m, LSTMStateTuple(new_c, new_m)
        return new_m, array_ops.concat([new_c, new_m], 1)


class GLSTMCell(_LSTM):
    """The cell of Kuchaiev and Ginsburg, "Factorization Tricks for LSTM Networks": in groups.

    Inputs, state and output are cut into number_of_groups parts that do not see each other.
    ValueError where that does not divide num_units, num_proj or the size of the inputs.
    """

    def __init__(
        self,
        num_units,
        initializer=None,
        num_proj=None,
        number_of_groups=1,
        forget_bias=1.0,
        activation=math_ops.tanh,
        reuse=None,
    ):
        super().__init__(num_units, num_proj, reuse)
        self._initializer = initializer
        self._forget_bias = forget_bias
        self._activation = activation
        self._groups = number_of_groups
        for what, size in (("num_units", num_units), ("num_proj", num_proj)):
            if size and size % number_of_groups:
                raise ValueError(f"{what} must be divisible by number_of_groups")
        self._linear = [None] * number_of_groups
        self._projection = None

    def _of_group(self, values, group, size, batch_size):
        return array_ops.slice(
            input_=values,
            begin=[0, group * size],
            size=[batch_size, size],
            name="GLSTM_group%d_input_generation" % group,
        )

    def _gates_of(self, inputs, m, group, batch_size):
        with variable_scope("group%d" % group):
            size = inputs.shape.size_at(1) // self._groups
            joint = array_ops.concat(
                [
                    self._of_group(inputs, group, size, batch_size),
                    self._of_group(m, group, self.output_size // self._groups, batch_size),
                ],
                axis=1,
            )
            if self._linear[group] is None:
                self._linear[group] = Linear(joint, 4 * (self._num_units // self._groups), False)
            return array_ops.split(self._linear[group](joint), 4, 1)

    def call(self, inputs, state):
        c, m = state
        batch_size = inputs.shape.size_at(0) or array_ops.shape(inputs)[0]
        size = inputs.shape.size_at(1)
        if size is None:
            raise ValueError("input size must be statically known")
        if size % self._groups:
            raise ValueError(
                f"input size ({size}) must be divisible by number_of_groups ({self._groups})"
            )
        with variable_scope(get_variable_scope(), initializer=self._initializer):
            groups = range(self._groups)
            parts = zip(*[self._gates_of(inputs, m, group, batch_size) for group in groups])
            biases = [
                get_variable(
                    name=f"bias_{gate}",
                    shape=[self._num_units],
                    dtype=inputs.dtype,
                    initializer=init_ops.constant_initializer(0.0, dtype=inputs.dtype),
                )
                for gate in "ijfo"
            ]
            i, j, f, o = [
                nn_ops.bias_add(array_ops.concat(part, axis=1), bias)
                for part, bias in zip(parts, biases)
            ]
        sigmoid = math_ops.sigmoid
        new_c = sigmoid(f + self._forget_bias) * c + sigmoid(i) * math_ops.tanh(j)
        new_m = sigmoid(o) * self._activation(new_c)
        if self._num_proj is not None:
            with variable_scope("projection"):
                if self._projection is None:
                    self._projection = Linear(new_m, self._num_proj, False)
                new_m = self._projection(new_m)
        return new_m, LSTMStateTuple(new_c, new_m)


class ConvLSTMCell(RNNCell):
    """An LSTM cell whose products are convolutions (Shi and others, 2015).

    conv_ndims: 1 to 3 spatial dimensions. input_shape: of the inputs, without the batch.
    kernel_shape: of the convolutions. skip_connection: joins the inputs to the outputs. ValueError
    where conv_ndims and input_shape do not fit.
    """

    def __init__(
        self,
        conv_ndims,
        input_shape,
        output_channels,
        kernel_shape,
        use_bias=True,
        skip_connection=False,
        forget_bias=1.0,
        initializers=None,
        name="conv_lstm_cell",
    ):
        super().__init__(name=name)
        if conv_ndims != len(input_shape) - 1:
            raise ValueError(f"Invalid input_shape {input_shape} for conv_ndims={conv_ndims}.")
        self._ndims = conv_ndims
        self._channels = output_channels
        self._kernel_shape = list(kernel_shape)
        self._use_bias = use_bias
        self._forget_bias = forget_bias
        self._skip_connection = skip_connection
        place = list(input_shape[:-1])
        size = TensorShape([*place, output_channels])
        self._state_size = LSTMStateTuple(size, size)
        skipped = input_shape[-1] if skip_connection else 0
        self._output_size = TensorShape([*place, output_channels + skipped])

    @property
    def state_size(self):
        return self._state_size

    @property
    def output_size(self):
        return self._output_size

    def call(self, inputs, state, scope=None):
        c, h = state
        made = _convolved([inputs, h], self._kernel_shape, 4 * self._channels, self._use_bias)
        i, j, f, o = array_ops.split(value=made, num_or_size_splits=4, axis=self._ndims + 1)
        new_c = math_ops.sigmoid(f + self._forget_bias) * c
        new_c += math_ops.sigmoid(i) * math_ops.tanh(j)
        output = math_ops.tanh(new_c) * math_ops.sigmoid(o)
        if self._skip_connection:
            output = array_ops.concat([output, inputs], axis=-1)
        return output, LSTMStateTuple(new_c, output)


_CONVOLUTIONS = {3: nn_conv.conv1d, 4: nn_conv.conv2d, 5: nn_conv.conv3d}


def _convolved(args, kernel_shape, channels, use_bias):
    """A convolution of tensors that are joined along their channels."""
    shapes = [x.shape.as_list() for x in args]
    rank = len(shapes[0])
    if any(len(shape) not in _CONVOLUTIONS for shape in shapes):
        raise ValueError(f"Conv Linear expects 3D, 4D or 5D arguments: {shapes}")
    if any(len(shape) != rank for shape in shapes):
        raise ValueError(f"Conv Linear expects all args to be of same Dimension: {shapes}")
    dtype = args[0].dtype
    depth = sum(shape[-1] for shape in shapes)
    kernel = get_variable("kernel", [*kernel_shape, depth, channels], dtype=dtype)
    joint = array_ops.concat(axis=rank - 1, values=args)
    strides = 1 if rank == 3 else rank * [1]
    made = _CONVOLUTIONS[rank](joint, kernel, strides, padding="SAME")
    if not use_bias:
        return made
    initializer = init_ops.constant_initializer(0.0, dtype=dtype)
    return made + get_variable("biases", [channels], dtype=dtype, initializer=initializer)


class Conv1DLSTMCell(ConvLSTMCell):
    """ConvLSTMCell over one dimension."""

    def __init__(self, name="conv_1d_lstm_cell", **kwargs):
        super().__init__(conv_ndims=1, name=name, **kwargs)


class Conv2DLSTMCell(ConvLSTMCell):
    """ConvLSTMCell over two dimensions."""

    def __init__(self, name="conv_2d_lstm_cell", **kwargs):
        super().__init__(conv_ndims=2, name=name, **kwargs)


class Conv3DLSTMCell(ConvLSTMCell):
    """ConvLSTMCell over three dimensions."""

    def __init__(self, name="conv_3d_lstm_cell", **kwargs):
        super().__init__(conv_ndims=3, name=name, **kwargs)
