"""Dense layers over axes that an equation names."""

from rheos.framework import tensor_shape
from rheos.layers.layer import Layer
from rheos.models import objects
from rheos.models.drawn_initializers import VarianceScaling
from rheos.models.layers.settings import config_of, resolved
from rheos.ops.array import array_ops
from rheos.ops.linalg import linalg_ops

_layer = objects.known("layer")


def _parted(equation):
    """(letters of inputs, kernel, outputs) of an equation, "..." as 0; ValueError for others."""
    plain = equation.replace(" ", "").replace("...", "0")
    sides = plain.split("->")
    parts = sides[0].split(",")
    if len(sides) != 2 or len(parts) != 2:
        raise ValueError(
            f"Invalid einsum equation '{equation}'. Equations must be in the form "
            "[X],[Y]->[Z], ...[X],[Y]->...[Z], or [X]...,[Y]->[Z]...."
        )
    return (*parts, sides[1])


@_layer
class EinsumDense(Layer):
    """activation(einsum(equation, inputs, kernel) + bias).

    output_shape: of the outputs, without the batch; None where a size is the inputs'. bias_axes:
    the letters of the outputs that the bias has, None for no bias.
    """

    def __init__(
        self,
        equation,
        output_shape,
        activation=None,
        bias_axes=None,
        kernel_initializer="glorot_uniform",
        bias_initializer="zeros",
        kernel_regularizer=None,
        bias_regularizer=None,
        activity_regularizer=None,
        kernel_constraint=None,
        bias_constraint=None,
        **kwargs,
    ):
        super().__init__(**resolved({"activity_regularizer": activity_regularizer}), **kwargs)
        self.equation = equation
        self.partial_output_shape = (
            (output_shape,) if isinstance(output_shape, int) else tuple(output_shape)
        )
        self.bias_axes = bias_axes
        settings = {
            "activation": activation,
            "kernel_initializer": kernel_initializer,
            "bias_initializer": bias_initializer,
            "kernel_regularizer": kernel_regularizer,
            "bias_regularizer": bias_regularizer,
            "kernel_constraint": kernel_constraint,
            "bias_constraint": bias_constraint,
        }
        for key, value in resolved(settings).items():
            setattr(self, key, value)

    def _sizes(self, dims):
        """{letter: size} of the kernel's and outputs' letters, and the outputs' dimensions."""
        x, kernel, out = _parted(self.equation)
        is_left = not out.startswith("0")  # "..." stands for dimensions behind the first
        given = list(self.partial_output_shape)
        letters = out.replace("0", "")
        if "0" in out and not is_left:
            dims_of_x = dict(zip(reversed(x.replace("0", "")), reversed(dims)))
            wanted = dict(zip(reversed(letters), reversed(given)))
        else:
            dims_of_x = dict(zip(x.replace("0", ""), dims))
            wanted = dict(zip(letters, [dims[0], *given]))
        sizes = dict(dims_of_x)
        for letter, size in wanted.items():
            if size is not None:
                sizes[letter] = size
        for letter in out.replace("0", ""):
            if letter not in x and letter not in kernel:
                raise ValueError(
                    f"Dimension '{letter}' was specified in the output '{out}' but has no "
                    f"corresponding dim in the input spec '{x}' or weight spec '{kernel}'"
                )
        more = len(dims) - len(x.replace("0", ""))
        at = x.find("0")
        dots = dims[at : at + more] if "0" in x else []
        shape = []
        for letter in out:
            shape += dots if letter == "0" else [sizes.get(letter)]
        return sizes, shape

    def build(self, input_shape):
        dims = tensor_shape.as_shape(input_shape).as_list()
        _, kernel, out = _parted(self.equation)
        sizes, shape = self._sizes(dims)
        unknown = [letter for letter in kernel if sizes.get(letter) is None]
        if unknown:
            raise ValueError(
                f"Weight dimension '{unknown[0]}' did not have a match in either the input shape "
                f"'{dims}' or the output shape '{self.partial_output_shape}' with a known size."
            )
        self.kernel = self.add_weight(
            "kernel",
            shape=[sizes[letter] for letter in kernel],
            initializer=self._initializer_of(kernel, out),
            regularizer=self.kernel_regularizer,
            constraint=self.kernel_constraint,
        )
        self.bias = None
        if self.bias_axes is not None:
            letters = out.replace("0", "")
            first = min(letters.index(letter) for letter in self.bias_axes)
            self.bias = self.add_weight(
                "bias",
                shape=[sizes[c] if c in self.bias_axes else 1 for c in letters[first:]],
                initializer=self.bias_initializer,
                regularizer=self.bias_regularizer,
                constraint=self.bias_constraint,
            )
        self.built = True

    def _initializer_of(self, kernel, out):
        """The kernel's initializer, told which axes are those of inputs and outputs."""
        first = self.kernel_initializer
        if not isinstance(first, VarianceScaling) or first.input_axes is not None:
            return first
        outputs = [i for i, letter in enumerate(kernel) if letter in out]
        inputs = [i for i, letter in enumerate(kernel) if letter not in out]
        config = {**first.get_config(), "seed": first.seed}
        return type(first).from_config({**config, "input_axes": inputs, "output_axes": outputs})

    def call(self, inputs, training=None):
        outputs = linalg_ops.einsum(self.equation, inputs, self.kernel)
        shape = self._sizes(inputs.shape.as_list())[1]
        if outputs.shape.ndims is None:
            outputs = array_ops.ensure_shape(outputs, shape)
        if self.bias is not None:
            outputs = outputs + self.bias
        return outputs if self.activation is None else self.activation(outputs)

    def compute_output_shape(self, input_shape):
        dims = tensor_shape.as_shape(input_shape).as_list()
        return tensor_shape.TensorShape(self._sizes(dims)[1])

    def get_config(self):
        names = (
            "equation", "activation", "bias_axes", "kernel_initializer", "bias_initializer",
            "kernel_regularizer", "bias_regularizer", "activity_regularizer", "kernel_constraint",
            "bias_constraint",
        )  # fmt: skip
        config = {**super().get_config(), **config_of(self, names)}
        return {**config, "output_shape": self.partial_output_shape}
