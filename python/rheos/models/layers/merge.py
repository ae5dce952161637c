"""Layers of several inputs: sums, products, joined, dot products."""

from rheos.framework import tensor_shape
from rheos.layers.layer import Layer
from rheos.models import objects
from rheos.ops.array import array_ops
from rheos.ops.math import math_ops
from rheos.ops.nn import nn_ops

_layer = objects.known("layer")


def _joined_shape(one, other):
    """The shape of two broadcast samples, as lists; ValueError if they do not fit."""
    if one is None or other is None:
        return None
    if len(one) < len(other):
        one, other = other, one
    if not other:
        return one
    result = list(one[: len(one) - len(other)])
    for i, j in zip(one[len(one) - len(other) :], other):
        if i is None or j is None:
            result.append(None if 1 not in (i, j) or i == j else j if i == 1 else i)
        elif i == 1:
            result.append(j)
        elif j == 1 or i == j:
            result.append(i)
        else:
            raise ValueError(
                f"Operands could not be broadcast together with shapes {tuple(one)} {tuple(other)}"
            )
    return result


class _Merge(Layer):
    """A function of inputs that are broadcast to each other, the batch aside."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True

    def _merge(self, inputs):
        raise NotImplementedError

    def build(self, input_shape):
        shapes = _shape_list(input_shape)
        if len(shapes) < 2 and values_are_wanted(self):
            raise ValueError(
                "A merge layer should be called on a list of at least 2 inputs. Got "
                f"{len(shapes)} inputs."
            )
        sizes = {s[0] for s in shapes if s} - {None}
        if len(sizes) > 1:
            raise ValueError(f"Can not merge tensors with different batch sizes. Got {shapes}")
        rest = None if not shapes or shapes[0] is None else shapes[0][1:]
        for shape in shapes[1:]:
            rest = _joined_shape(rest, None if shape is None else shape[1:])
        self.built = True

    def call(self, inputs):
        if not isinstance(inputs, (list, tuple)):
            raise ValueError("A merge layer should be called on a list of inputs.")
        ranks = [x.shape.ndims for x in inputs]
        if None not in ranks and len(set(ranks)) > 1:
            most = max(ranks)
            inputs = [_with_rank(x, most) for x in inputs]
        return self._merge(list(inputs))

    def compute_output_shape(self, input_shape):
        shapes = _shape_list(input_shape)
        rest = None if shapes[0] is None else shapes[0][1:]
        for shape in shapes[1:]:
            rest = _joined_shape(rest, None if shape is None else shape[1:])
        sizes = {s[0] for s in shapes if s} - {None}
        return tensor_shape.TensorShape([sizes.pop() if len(sizes) == 1 else None, *rest])

    def compute_mask(self, inputs, mask=None):
        if mask is None or all(m is None for m in mask):
            return None
        if not isinstance(mask, (list, tuple)) or len(mask) != len(inputs):
            raise ValueError("`mask` and `inputs` are lists of the same length")
        known = [m for m in mask if m is not None]
        result = known[0]
        for m in known[1:]:
            result = math_ops.logical_and(result, m)
        return result


def values_are_wanted(layer):
    """Whether a layer needs at least two inputs."""
    return not isinstance(layer, Concatenate)


def _with_rank(x, rank):
    for _ in range(rank - x.shape.ndims):
        x = array_ops.expand_dims(x, 1)
    return x


def _shape_list(input_shape):
    if not isinstance(input_shape, (list, tuple)):
        raise ValueError("A merge layer should be called on a list of inputs.")
    shapes = [tensor_shape.as_shape(s) for s in input_shape]
    return [None if s.ndims is None else s.as_list() for s in shapes]


@_layer
class Add(_Merge):
    """The sum of its inputs."""

    def _merge(self, inputs):
        output = inputs[0]
        for x in inputs[1:]:
            output = output + x
        return output


@_layer
class Subtract(_Merge):
    """The first of two inputs less the second."""

    def build(self, input_shape):
        super().build(input_shape)
        if len(input_shape) != 2:
            raise ValueError("A `Subtract` layer should be called on exactly 2 inputs")

    def _merge(self, inputs):
        if len(inputs) != 2:
            raise ValueError("A `Subtract` layer should be called on exactly 2 inputs")
        return inputs[0] - inputs[1]


@_layer
class Multiply(_Merge):
    """The product of its inputs."""

    def _merge(self, inputs):
        output = inputs[0]
        for x in inputs[1:]:
            output = output * x
        return output


@_layer
class Average(_Merge):
    """The mean of its inputs."""

    def _merge(self, inputs):
        output = inputs[0]
        for x in inputs[1:]:
            output = output + x
        return output / len(inputs)


@_layer
class Maximum(_Merge):
    """The largest of its inputs, element by element."""

    def _merge(self, inputs):
        output = inputs[0]
        for x in inputs[1:]:
            output = math_ops.maximum(output, x)
        return output


@_layer
class Minimum(_Merge):
    """The smallest of its inputs, element by element."""

    def _merge(self, inputs):
        output = inputs[0]
        for x in inputs[1:]:
            output = math_ops.minimum(output, x)
        return output


@_layer
class Concatenate(_Merge):
    """Its inputs joined along an axis."""

    def __init__(self, axis=-1, **kwargs):
        super().__init__(**kwargs)
        self.axis = axis

    def build(self, input_shape):
        shapes = _shape_list(input_shape)
        if not shapes:
            raise ValueError("A `Concatenate` layer should be called on a list of inputs")
        known = [s for s in shapes if s is not None]
        rests = []
        for shape in known:
            rest = list(shape)
            del rest[self.axis]
            rests.append(rest)
        for rest in rests[1:]:
            fits = len(rest) == len(rests[0]) and all(
                a is None or b is None or a == b for a, b in zip(rest, rests[0])
            )
            if not fits:
                raise ValueError(
                    "A `Concatenate` layer requires inputs with matching shapes except for the "
                    f"concat axis. Got inputs shapes: {[tuple(s) for s in known]}"
                )
        self.built = True

    def call(self, inputs):
        return array_ops.concat(list(inputs), axis=self.axis)

    def compute_output_shape(self, input_shape):
        shapes = _shape_list(input_shape)
        result = list(shapes[0])
        for shape in shapes[1:]:
            if result[self.axis] is None or shape[self.axis] is None:
                result[self.axis] = None
                break
            result[self.axis] += shape[self.axis]
        return tensor_shape.TensorShape(result)

    def compute_mask(self, inputs, mask=None):
        if mask is None or all(m is None for m in mask):
            return None
        masks = []
        for x, m in zip(inputs, mask):
            if m is None:
                masks.append(math_ops.cast(array_ops.ones_like(x), "bool"))
            elif m.shape.ndims < x.shape.ndims:
                masks.append(array_ops.expand_dims(m, -1))
            else:
                masks.append(m)
        return math_ops.reduce_all(array_ops.concat(masks, axis=self.axis), axis=-1)

    def get_config(self):
        return {**super().get_config(), "axis": self.axis}


@_layer
class Dot(_Merge):
    """The dot products of the samples of two inputs along an axis of each, or of both.

    normalize: whether to normalize these first, which gives cosines.
    """

    def __init__(self, axes, normalize=False, **kwargs):
        super().__init__(**kwargs)
        if not isinstance(axes, int):
            if not isinstance(axes, (list, tuple)) or len(axes) != 2:
                raise ValueError(f"Invalid type for `axes` - should be two integers: {axes}")
        self.axes = axes
        self.normalize = normalize

    def _places(self, shapes):
        axes = [self.axes] * 2 if isinstance(self.axes, int) else self.axes
        return [a % len(s) for a, s in zip(axes, shapes)]

    def build(self, input_shape):
        shapes = _shape_list(input_shape)
        if len(shapes) != 2:
            raise ValueError("A `Dot` layer should be called on a list of 2 inputs.")
        a, b = self._places(shapes)
        one, other = shapes[0][a], shapes[1][b]
        if one is not None and other is not None and one != other:
            raise ValueError(
                f"Dimension incompatibility {one} != {other}. Layer shapes: {shapes[0]}, "
                f"{shapes[1]}"
            )
        self.built = True

    def call(self, inputs):
        return self._merge(list(inputs))

    def _merge(self, inputs):
        x, y = inputs
        a, b = self._places([x.shape.as_list(), y.shape.as_list()])
        if self.normalize:
            x, y = nn_ops.l2_normalize(x, axis=a), nn_ops.l2_normalize(y, axis=b)
        return batch_dot(x, y, (a, b))

    def compute_output_shape(self, input_shape):
        shapes = _shape_list(input_shape)
        a, b = self._places(shapes)
        one = [d for i, d in enumerate(shapes[0]) if i != a]
        other = [d for i, d in enumerate(shapes[1]) if i not in (0, b)]
        result = one + other
        return tensor_shape.TensorShape(result if len(result) > 1 else [*result, 1])

    def compute_mask(self, inputs, mask=None):
        return None

    def get_config(self):
        return {**super().get_config(), "axes": self.axes, "normalize": self.normalize}


def batch_dot(x, y, axes):
    """The dot products of samples along an axis of each: (batch, rest of x..., rest of y...)."""
    a, b = axes
    x_rank, y_rank = x.shape.ndims, y.shape.ndims
    x_rest = [i for i in range(1, x_rank) if i != a]
    y_rest = [i for i in range(1, y_rank) if i != b]
    x_shape, y_shape = array_ops.shape(x), array_ops.shape(y)
    one = array_ops.transpose(x, [0, *x_rest, a]) if x_rest != list(range(1, x_rank - 1)) else x
    other = array_ops.transpose(y, [0, b, *y_rest])
    if x_rank != 3:
        one = array_ops.reshape(one, array_ops.stack([x_shape[0], -1, x_shape[a]]))
    if y_rank != 3:
        other = array_ops.reshape(other, array_ops.stack([y_shape[0], y_shape[b], -1]))
    result = math_ops.matmul(one, other)
    sizes = [x_shape[0], *(x_shape[i] for i in x_rest), *(y_shape[i] for i in y_rest)]
    static = [x.shape.as_list()[0], *(x.shape.as_list()[i] for i in x_rest)]
    static += [y.shape.as_list()[i] for i in y_rest]
    if len(sizes) == 1:
        sizes.append(1)
        static.append(1)
    if len(sizes) != 3 or x_rank != 3 or y_rank != 3:
        result = array_ops.reshape(result, array_ops.stack(sizes))
    result.set_shape(static)
    return result


def add(inputs, **kwargs):
    """The sum of a list of tensors."""
    return Add(**kwargs)(inputs)


def subtract(inputs, **kwargs):
    """The first of two tensors less the second."""
    return Subtract(**kwargs)(inputs)


def multiply(inputs, **kwargs):
    """The product of a list of tensors."""
    return Multiply(**kwargs)(inputs)


def average(inputs, **kwargs):
    """The mean of a list of tensors."""
    return Average(**kwargs)(inputs)


def maximum(inputs, **kwargs):
    """The largest of a list of tensors, element by element."""
    return Maximum(**kwargs)(inputs)


def minimum(inputs, **kwargs):
    """The smallest of a list of tensors, element by element."""
    return Minimum(**kwargs)(inputs)


def concatenate(inputs, axis=-1, **kwargs):
    """A list of tensors joined along an axis."""
    return Concatenate(axis=axis, **kwargs)(inputs)


def dot(inputs, axes, normalize=False, **kwargs):
    """The dot products of the samples of two tensors."""
    return Dot(axes=axes, normalize=normalize, **kwargs)(inputs)
