"""Cells of tf.contrib.rnn: projections and embeddings around cells, cells of one operation."""

import math

from rheos.contrib.layers_norm import layer_norm
from rheos.framework import dtypes, nest
from rheos.framework.graph import device, name_scope
from rheos.framework.op_call import op_list
from rheos.layers import base
from rheos.layers.rnn_cells import LayerRNNCell, LSTMStateTuple, RNNCell, assert_like_rnncell
from rheos.ops.array import array_ops, embedding_ops
from rheos.ops.array.constant_op import constant
from rheos.ops.math import math_ops
from rheos.ops.nn import nn_ops
from rheos.ops.state import init_ops
from rheos.ops.state.variable_scope import get_variable, get_variable_scope, variable_scope


class Linear:
    """args @ kernel + bias, with variables of the current scope; args: one tensor, or a list."""

    def __init__(self, args, output_size, build_bias, kernel_initializer=None):
        args = list(args) if nest.is_nested(args) else [args]
        sizes = [x.shape.with_rank(2).size_at(1) for x in args]
        if None in sizes:
            raise ValueError(
                "linear expects shape[1] to be provided for shape "
                f"{args[sizes.index(None)].shape}, but saw None"
            )
        dtype = args[0].dtype.base_dtype
        with variable_scope(get_variable_scope()) as outer:
            self._kernel = get_variable(
                "kernel", [sum(sizes), output_size], dtype=dtype, initializer=kernel_initializer
            )
            self._bias = None
            if build_bias:
                with variable_scope(outer) as inner:
                    inner.set_partitioner(None)
                    self._bias = get_variable(
                        "bias",
                        [output_size],
                        dtype=dtype,
                        initializer=init_ops.constant_initializer(0.0, dtype=dtype),
                    )

    def __call__(self, args):
        if not nest.is_nested(args):
            args = [args]
        if len(args) == 1:
            x = args[0]
        else:
            x = array_ops.concat(list(args), constant(1, dtype=dtypes.int32))
        result = math_ops.matmul(x, self._kernel)
        return result if self._bias is None else nn_ops.bias_add(result, self._bias)


class _Around(RNNCell):
    """A cell around another one that has variables of its own."""

    def __init__(self, cell, reuse=None):
        super().__init__(_reuse=reuse)
        assert_like_rnncell("cell", cell)
        self._cell = cell
        self._linear = None

    @property
    def state_size(self):
        return self._cell.state_size

    @property
    def output_size(self):
        return self._cell.output_size

    def zero_state(self, batch_size, dtype):
        with name_scope(type(self).__name__ + "ZeroState", values=[batch_size]):
            return self._cell.zero_state(batch_size, dtype)


class InputProjectionWrapper(_Around):
    """Projects the inputs of a cell: activation(inputs @ kernel + bias), (batch, num_proj)."""

    def __init__(self, cell, num_proj, activation=None, input_size=None, reuse=None):
        super().__init__(cell, reuse)
        self._num_proj = num_proj
        self._activation = activation

    def call(self, inputs, state):
        if self._linear is None:
            self._linear = Linear(inputs, self._num_proj, True)
        projected = self._linear(inputs)
        if self._activation:
            projected = self._activation(projected)
        return self._cell(projected, state)


class OutputProjectionWrapper(_Around):
    """Projects the outputs of a cell: activation(output @ kernel + bias), (batch, output_size)."""

    def __init__(self, cell, output_size, activation=None, reuse=None):
        super().__init__(cell, reuse)
        if output_size < 1:
            raise ValueError("Parameter output_size must be > 0: %d." % output_size)
        self._output_size = output_size
        self._activation = activation

    @property
    def output_size(self):
        return self._output_size

    def call(self, inputs, state):
        output, new_state = self._cell(inputs, state)
        if self._linear is None:
            self._linear = Linear(output, self._output_size, True)
        projected = self._linear(output)
        if self._activation:
            projected = self._activation(projected)
        return projected, new_state


class EmbeddingWrapper(_Around):
    """Gives a cell rows of the variable `embedding` (classes, size) for ids (batch,) or (batch, 1).

    initializer: by default uniform numbers of variance 1. ValueError for sizes below 1.
    """

    def __init__(self, cell, embedding_classes, embedding_size, initializer=None, reuse=None):
        super().__init__(cell, reuse)
        if embedding_classes <= 0 or embedding_size <= 0:
            raise ValueError(
                "Both embedding_classes and embedding_size must be > 0: "
                f"{embedding_classes}, {embedding_size}."
            )
        self._classes = embedding_classes
        self._size = embedding_size
        self._initializer = initializer

    def call(self, inputs, state):
        with device("/cpu:0"):
            initializer = self._initializer or get_variable_scope().initializer
            if not initializer:
                limit = math.sqrt(3)
                initializer = init_ops.random_uniform_initializer(-limit, limit)
            first = state[0] if isinstance(state, tuple) else state
            embedding = get_variable(
                "embedding",
                [self._classes, self._size],
                initializer=initializer,
                dtype=first.dtype,
            )
            rows = embedding_ops.embedding_lookup(embedding, array_ops.reshape(inputs, [-1]))
            return self._cell(rows, state)


class LayerNormBasicLSTMCell(RNNCell):
    """BasicLSTMCell with layer normalization of its gates and state, and dropout of its input j.

    layer_norm: whether to normalize; norm_gain, norm_shift: what gamma and beta start with.
    dropout_keep_prob: with what probability elements of j are kept.
    """

    def __init__(
        self,
        num_units,
        forget_bias=1.0,
        input_size=None,
        activation=math_ops.tanh,
        layer_norm=True,
        norm_gain=1.0,
        norm_shift=0.0,
        dropout_keep_prob=1.0,
        dropout_prob_seed=None,
        reuse=None,
    ):
        super().__init__(_reuse=reuse)
        self._num_units = num_units
        self._activation = activation
        self._forget_bias = forget_bias
        self._keep_prob = dropout_keep_prob
        self._seed = dropout_prob_seed
        self._layer_norm = layer_norm
        self._norm_gain = norm_gain
        self._norm_shift = norm_shift

    @property
    def state_size(self):
        return LSTMStateTuple(self._num_units, self._num_units)

    @property
    def output_size(self):
        return self._num_units

    def _norm(self, x, scope):
        with variable_scope(scope):
            for name, value in (("gamma", self._norm_gain), ("beta", self._norm_shift)):
                get_variable(
                    name,
                    shape=x.shape[-1:],
                    initializer=init_ops.constant_initializer(value),
                    dtype=x.dtype,
                )
        return layer_norm(x, reuse=True, scope=scope)

    def _gates(self, x):
        dtype = x.dtype
        weights = get_variable("kernel", [x.shape.size_at(-1), 4 * self._num_units], dtype=dtype)
        result = math_ops.matmul(x, weights)
        if not self._layer_norm:
            bias = get_variable("bias", [4 * self._num_units], dtype=dtype)
            result = nn_ops.bias_add(result, bias)
        return result

    def call(self, inputs, state):
        c, h = state
        gates = self._gates(array_ops.concat([inputs, h], 1))
        parts = array_ops.split(value=gates, num_or_size_splits=4, axis=1)
        if self._layer_norm:
            names = ("input", "transform", "forget", "output")
            parts = [self._norm(part, name) for part, name in zip(parts, names)]
        i, j, f, o = parts
        g = self._activation(j)
        if not isinstance(self._keep_prob, float) or self._keep_prob < 1:
            g = nn_ops.dropout(g, self._keep_prob, seed=self._seed)
        sigmoid = math_ops.sigmoid
        new_c = c * sigmoid(f + self._forget_bias) + sigmoid(i) * g
        if self._layer_norm:
            new_c = self._norm(new_c, "state")
        new_h = self._activation(new_c) * sigmoid(o)
        return new_h, LSTMStateTuple(new_c, new_h)


class LSTMBlockCell(LayerRNNCell):
    """BasicLSTMCell in one operation, with clipping of c and peepholes."""

    def __init__(
        self,
        num_units,
        forget_bias=1.0,
        cell_clip=None,
        use_peephole=False,
        dtype=None,
        reuse=None,
        name="lstm_cell",
    ):
        super().__init__(_reuse=reuse, dtype=dtype, name=name)
        self._num_units = num_units
        self._forget_bias = forget_bias
        self._use_peephole = use_peephole
        self._cell_clip = -1 if cell_clip is None else cell_clip
        self.input_spec = base.InputSpec(ndim=2)

    @property
    def state_size(self):
        return LSTMStateTuple(self._num_units, self._num_units)

    @property
    def output_size(self):
        return self._num_units

    def build(self, inputs_shape):
        units = self._num_units
        depth = self._depth(inputs_shape)
        self._kernel = self.add_variable("kernel", [depth + units, 4 * units])
        self._bias = self.add_variable(
            "bias", [4 * units], initializer=init_ops.constant_initializer(0.0)
        )
        self._peepholes = None
        if self._use_peephole:
            self._peepholes = [self.add_variable(f"w_{gate}_diag", [units]) for gate in "ifo"]
        self.built = True

    def call(self, inputs, state):
        if len(state) != 2:
            raise ValueError("Expecting state to be a tuple with length 2.")
        c, h = state
        peepholes = self._peepholes
        if peepholes is None:
            zeros = array_ops.zeros([self._num_units], dtype=self.dtype)
            peepholes = [zeros, zeros, zeros]
        outputs = op_list(
            "LSTMBlockCell",
            None,
            inputs,
            c,
            h,
            self._kernel,
            *peepholes,
            self._bias,
            forget_bias=self._forget_bias,
            cell_clip=self._cell_clip,
            use_peephole=self._use_peephole,
        )
        return outputs[6], LSTMStateTuple(outputs[1], outputs[6])


class GRUBlockCell(LayerRNNCell):
    """GRUCell in one operation. Variables: w_ru, b_ru, w_c and b_c."""

    _NAMES = ("w_ru", "b_ru", "w_c", "b_c")

    def __init__(self, num_units=None, cell_size=None, reuse=None, name="gru_cell"):
        super().__init__(_reuse=reuse, name=name)
        if (cell_size is None) == (num_units is None):
            raise ValueError("Exactly one of num_units or cell_size must be provided.")
        self._cell_size = cell_size if num_units is None else num_units
        self.input_spec = base.InputSpec(ndim=2)

    @property
    def state_size(self):
        return self._cell_size

    @property
    def output_size(self):
        return self._cell_size

    def build(self, input_shape):
        units = self._cell_size
        rows = self._depth(input_shape) + units
        names = self._NAMES
        self._gate_kernel = self.add_variable(names[0], [rows, 2 * units])
        self._gate_bias = self.add_variable(
            names[1], [2 * units], initializer=init_ops.constant_initializer(1.0)
        )
        self._candidate_kernel = self.add_variable(names[2], [rows, units])
        self._candidate_bias = self.add_variable(
            names[3], [units], initializer=init_ops.constant_initializer(0.0)
        )
        self.built = True

    def call(self, inputs, h_prev):
        if nest.is_nested(h_prev):
            h_prev = h_prev[0]
        output = op_list(
            "GRUBlockCell",
            None,
            inputs,
            h_prev,
            self._gate_kernel,
            self._candidate_kernel,
            self._gate_bias,
            self._candidate_bias,
        )[3]
        return output, output


class GRUBlockCellV2(GRUBlockCell):
    """GRUBlockCell with the names of variables that GRUCell has."""

    _NAMES = ("gates/kernel", "gates/bias", "candidate/kernel", "candidate/bias")
