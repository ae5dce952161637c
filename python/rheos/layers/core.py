"""Dense layers, dropout, flattening."""

from rheos.framework import tensor_shape
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.op_call import op1
from rheos.layers import base, values
from rheos.ops.array import array_ops
from rheos.ops.flow.smart_cond import known_flag, smart_cond
from rheos.ops.math import math_ops
from rheos.ops.nn import nn_ops
from rheos.ops.state import init_ops


class DenseBody:
    """activation(inputs @ kernel + bias): inputs (..., n), outputs (..., units).

    Variables: kernel (n, units), bias (units,). ValueError if n is not known.
    """

    def __init__(
        self,
        units,
        activation=None,
        use_bias=True,
        kernel_initializer=None,
        bias_initializer=None,
        kernel_regularizer=None,
        bias_regularizer=None,
        activity_regularizer=None,
        kernel_constraint=None,
        bias_constraint=None,
        trainable=True,
        name=None,
        **kwargs,
    ):
        super().__init__(trainable, name, activity_regularizer=activity_regularizer, **kwargs)
        values.check_positive("units", units)
        self.units = int(units)
        self.activation = activation
        self.use_bias = use_bias
        self.kernel_initializer = kernel_initializer
        self.bias_initializer = bias_initializer or init_ops.zeros_initializer()
        self.kernel_regularizer = kernel_regularizer
        self.bias_regularizer = bias_regularizer
        self.kernel_constraint = kernel_constraint
        self.bias_constraint = bias_constraint
        self.kernel = None
        self.bias = None
        self.input_spec = base.InputSpec(min_ndim=2)

    def build(self, input_shape):
        last = tensor_shape.as_shape(input_shape).size_at(-1)
        if last is None:
            raise ValueError(
                "The last dimension of the inputs to `Dense` should be defined. Found `None`."
            )
        self.input_spec = base.InputSpec(min_ndim=2, axes={-1: last})
        self.kernel = self.add_weight(
            "kernel",
            shape=[last, self.units],
            initializer=self.kernel_initializer,
            regularizer=self.kernel_regularizer,
            constraint=self.kernel_constraint,
        )
        if self.use_bias:
            self.bias = self.add_weight(
                "bias",
                shape=[self.units],
                initializer=self.bias_initializer,
                regularizer=self.bias_regularizer,
                constraint=self.bias_constraint,
            )
        self.built = True

    def call(self, inputs):
        rank = inputs.shape.ndims
        if inputs.dtype.is_integer:
            inputs = math_ops.cast(inputs, self.kernel.dtype)
        if rank is not None and rank > 2:
            outputs = math_ops.tensordot(inputs, self.kernel, [[rank - 1], [0]])
            outputs.set_shape(inputs.shape[:-1].concatenate(self.units))
        else:
            outputs = op1("MatMul", None, inputs, self.kernel)
        if self.use_bias:
            outputs = nn_ops.bias_add(outputs, self.bias)
        return outputs if self.activation is None else self.activation(outputs)

    def compute_output_shape(self, input_shape):
        input_shape = tensor_shape.as_shape(input_shape).with_rank_at_least(2)
        if input_shape.ndims is None or input_shape.size_at(-1) is None:
            raise ValueError(
                f"The innermost dimension of input_shape must be defined, but saw: {input_shape}"
            )
        return input_shape[:-1].concatenate(self.units)


class Dense(DenseBody, base.Layer):
    """A dense layer with variables of a variable scope."""


def dense(
    inputs,
    units,
    activation=None,
    use_bias=True,
    kernel_initializer=None,
    bias_initializer=None,
    kernel_regularizer=None,
    bias_regularizer=None,
    activity_regularizer=None,
    kernel_constraint=None,
    bias_constraint=None,
    trainable=True,
    name=None,
    reuse=None,
):
    """activation(inputs @ kernel + bias): inputs (..., n), returns (..., units).

    name: of the variable scope with `kernel` (n, units) and `bias` (units,). reuse: whether they
    have to exist already. ValueError if n is not known.

    >>> y = tf.layers.dense(tf.ones([1, 3]), 2, kernel_initializer=tf.ones_initializer())
    >>> with tf.Session() as session:
    ...     session.run(tf.global_variables_initializer())
    ...     print(session.run(y))
    [[3. 3.]]
    """
    return base.apply_once(Dense, locals())


class DropoutBody:
    """In training sets elements to 0 with probability `rate`, and scales the others up."""

    def __init__(self, rate=0.5, noise_shape=None, seed=None, name=None, **kwargs):
        super().__init__(name=name, **kwargs)
        self.rate = rate
        self.noise_shape = noise_shape
        self.seed = seed

    def call(self, inputs, training=False):
        def dropped():
            return nn_ops.dropout(
                inputs, noise_shape=self._noise_shape(inputs), seed=self.seed, rate=self.rate
            )

        return smart_cond(known_flag(training), dropped, lambda: array_ops.identity(inputs))

    def _noise_shape(self, inputs):
        """The noise's shape, with the inputs' sizes for None."""
        if not isinstance(self.noise_shape, (list, tuple)):
            return self.noise_shape
        shape = array_ops.shape(inputs)
        sizes = [shape[i] if size is None else size for i, size in enumerate(self.noise_shape)]
        return convert_to_tensor(sizes)

    def compute_output_shape(self, input_shape):
        return tensor_shape.as_shape(input_shape)


class Dropout(DropoutBody, base.Layer):
    """Dropout, among the layers that have variable scopes."""


def dropout(inputs, rate=0.5, noise_shape=None, seed=None, training=False, name=None):
    """In training sets elements to 0 with probability `rate`, and scales the others up.

    training: a bool, or a scalar bool tensor. noise_shape: which dimensions are dropped together
    (1). Returns the shape of the inputs.
    """
    layer = Dropout(rate, noise_shape=noise_shape, seed=seed, name=name)
    return layer.apply(inputs, training=training)


class FlattenBody:
    """Makes a matrix (batch, rest) of its inputs."""

    def __init__(self, data_format=None, **kwargs):
        super().__init__(**kwargs)
        self.data_format = data_format or "channels_last"
        if self.data_format not in ("channels_first", "channels_last"):
            raise ValueError(
                f"`data_format` is channels_first or channels_last, not {data_format!r}"
            )
        self.input_spec = base.InputSpec(min_ndim=1)

    def call(self, inputs):
        rank = inputs.shape.ndims
        if self.data_format == "channels_first" and rank is not None and rank > 1:
            inputs = array_ops.transpose(inputs, perm=[0, *range(2, rank), 1])
        batch = inputs.shape.size_at(0)
        rows = batch if batch else array_ops.shape(inputs)[0]
        outputs = array_ops.reshape(inputs, (rows, -1))
        outputs.set_shape(self.compute_output_shape(inputs.shape))
        return outputs

    def compute_output_shape(self, input_shape):
        input_shape = tensor_shape.as_shape(input_shape)
        rest = input_shape[1:]
        size = rest.num_elements() if rest.is_fully_defined() else None
        return tensor_shape.TensorShape([input_shape.size_at(0), size])


class Flatten(FlattenBody, base.Layer):
    """Makes a matrix (batch, rest) of its inputs."""


def flatten(inputs, name=None, data_format="channels_last"):
    """Makes a matrix (batch, rest) of its inputs, in the order of the data format."""
    return Flatten(name=name, data_format=data_format).apply(inputs)
