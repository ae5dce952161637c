"""Cells of recurrent layers: one step, (input, states) to (output, states)."""

from rheos.framework import nest, tensor_shape
from rheos.layers import values
from rheos.layers.layer import Layer
from rheos.models import initializers, objects, random_numbers
from rheos.models.layers.core import in_training, seed_generator
from rheos.models.layers.settings import config_of, resolved
from rheos.ops.array import array_ops
from rheos.ops.math import math_ops
from rheos.ops.nn import nn_ops

_layer = objects.known("layer")


def sizes_of(cell):
    """The sizes of a cell's states: one, or a list."""
    size = cell.state_size
    if isinstance(size, tensor_shape.TensorShape):
        return size
    return list(size) if isinstance(size, (list, tuple)) else size


class AbstractRNNCell(Layer):
    """What cells are: subclasses define `state_size`, `output_size` and `call(inputs, states)`."""

    def call(self, inputs, states):
        """(output, states) after a step."""
        raise NotImplementedError("Abstract method")

    @property
    def state_size(self):
        """The size of the state, or a list of sizes."""
        raise NotImplementedError("Abstract method")

    @property
    def output_size(self):
        """The size of the output."""
        raise NotImplementedError("Abstract method")

    def get_initial_state(self, inputs=None, batch_size=None, dtype=None):
        """Zeros for each state."""
        return zero_states(sizes_of(self), inputs, batch_size, dtype)


def zero_states(sizes, inputs, batch_size, dtype):
    """Zeros for states of these sizes: a tensor, or a list."""
    if isinstance(inputs, int) or inputs is not None and inputs.shape.ndims == 0:
        inputs, batch_size = None, inputs  # Keras 3's only argument
    if not values.runs_in_session():
        dtype = dtype or "float32"
    if inputs is not None:
        batch_size, dtype = array_ops.shape(inputs)[0], inputs.dtype
    if batch_size is None or dtype is None:
        raise ValueError(
            "batch_size and dtype must be provided while constructing initial state: "
            f"batch_size={batch_size}, dtype={dtype}"
        )

    def zeros(size):
        dims = tensor_shape.as_shape(size).as_list() if not isinstance(size, int) else [size]
        return array_ops.zeros(array_ops.stack([batch_size, *dims]), dtype)

    if isinstance(sizes, tensor_shape.TensorShape):
        return zeros(sizes)
    if isinstance(sizes, list):
        return [zeros(s) for s in sizes]
    return zeros(sizes) if values.runs_in_session() else [zeros(sizes)]


_SETTINGS = (
    "kernel_initializer", "recurrent_initializer", "bias_initializer", "kernel_regularizer",
    "recurrent_regularizer", "bias_regularizer", "kernel_constraint", "recurrent_constraint",
    "bias_constraint", "dropout", "recurrent_dropout",
)  # fmt: skip
_DEFAULTS = {
    "activation": "tanh",
    "recurrent_activation": "hard_sigmoid",
    "use_bias": True,
    "kernel_initializer": "glorot_uniform",
    "recurrent_initializer": "orthogonal",
    "bias_initializer": "zeros",
    "unit_forget_bias": True,
    "dropout": 0.0,
    "recurrent_dropout": 0.0,
    "reset_after": False,
    "implementation": 1,
}


# The defaults that differ in TensorFlow 2.
_DEFAULTS_LATER = {"recurrent_activation": "sigmoid", "reset_after": True, "implementation": 2}


class _Cell(Layer):
    """A cell of dense gates: kernel (n, gates * units), recurrent kernel, bias."""

    _ARGUMENTS = ()
    _SEEDS_FIRST = False  # whether Keras 3 draws the seed before those of the initializers
    _GATES = 1

    def __init__(self, units, *args, **kwargs):
        given = {name: _DEFAULTS.get(name) for name in self._ARGUMENTS[1:]}
        if not values.runs_in_session():
            given.update({k: v for k, v in _DEFAULTS_LATER.items() if k in given})
        given.update(zip(self._ARGUMENTS[1:], args))
        given.update({name: kwargs.pop(name) for name in self._ARGUMENTS[1:] if name in kwargs})
        seed = kwargs.pop("seed", None)
        super().__init__(**kwargs)
        values.check_positive("units", units)
        self.units = int(units)
        if self.units <= 0:
            raise ValueError(f"`units` is a positive number, not {units}")
        self.seed = seed
        if self._SEEDS_FIRST:
            self.seed_generator = seed_generator(seed)
        for name, value in resolved(given).items():
            setattr(self, name, value)
        if not self._SEEDS_FIRST:
            self.seed_generator = seed_generator(seed)
        self.dropout = min(1.0, max(0.0, self.dropout))
        self.recurrent_dropout = min(1.0, max(0.0, self.recurrent_dropout))
        self._masks = {}

    @property
    def state_size(self):
        """The size of the state."""
        return self.units

    @property
    def output_size(self):
        """The size of the output."""
        return self.units

    def _bias_shape(self):
        return (self.units * self._GATES,)

    def _bias_initializer(self):
        return self.bias_initializer

    def build(self, input_shape):
        size = tensor_shape.as_shape(input_shape).size_at(-1)
        if size is None:
            raise ValueError(f"the last dimension of the inputs has to be known: {input_shape}")
        for attribute, name, rows, kind in (
            ("kernel", "kernel", size, "kernel"),
            ("recurrent_kernel", "recurrent_kernel", self.units, "recurrent"),
        ):
            variable = self.add_weight(
                name,
                shape=(rows, self.units * self._GATES),
                initializer=getattr(self, f"{kind}_initializer"),
                regularizer=getattr(self, f"{kind}_regularizer"),
                constraint=getattr(self, f"{kind}_constraint"),
            )
            setattr(self, attribute, variable)
        self.bias = None
        if self.use_bias:
            self.bias = self.add_weight(
                "bias",
                shape=self._bias_shape(),
                initializer=self._bias_initializer(),
                regularizer=self.bias_regularizer,
                constraint=self.bias_constraint,
            )
        self.built = True

    # -- Dropout: the same masks for all steps of a sequence

    def reset_dropout_mask(self):
        """Forgets the mask of the inputs, for the next sequence."""
        self._masks.pop("input", None)

    def reset_recurrent_dropout_mask(self):
        """Forgets the mask of the states, for the next sequence."""
        self._masks.pop("state", None)

    def _dropped(self, kind, rate, like, training):
        """A mask for each gate, None if nothing is dropped."""
        if not rate:
            return None
        if kind not in self._masks:
            ones = array_ops.ones_like(like)

            def mask():
                return in_training(
                    training,
                    lambda: self._drawn(ones, rate),
                    lambda: array_ops.identity(ones),
                )

            self._masks[kind] = [mask() for _ in range(self._GATES)]
        return self._masks[kind]

    def _drawn(self, ones, rate):
        if self.seed_generator is None:
            return nn_ops.dropout(ones, rate=rate, seed=self.seed)
        return random_numbers.dropout(ones, rate, seed=self.seed_generator)

    def begin_sequence(self, like, state, training):
        """Draws the masks outside of the loop over steps."""
        self._dropped("input", self.dropout, like, training)
        self._dropped("state", self.recurrent_dropout, state, training)

    def _columns(self, variable, gate):
        return variable[..., gate * self.units : (gate + 1) * self.units]

    def _products(self, x, kernel, masks):
        """x @ the kernel of each gate, with its mask."""
        if masks is None:
            whole = math_ops.matmul(x, kernel)
            if self._GATES == 1:
                return [whole]
            return array_ops.split(whole, num_or_size_splits=self._GATES, axis=1)
        return [math_ops.matmul(x * mask, self._columns(kernel, i)) for i, mask in enumerate(masks)]

    def get_initial_state(self, inputs=None, batch_size=None, dtype=None):
        """Zeros for each state."""
        return zero_states(sizes_of(self), inputs, batch_size, dtype)

    def get_config(self):
        return {**super().get_config(), **config_of(self, self._ARGUMENTS)}


@_layer
class SimpleRNNCell(_Cell):
    """output = activation(input @ kernel + state @ recurrent kernel + bias)."""

    _ARGUMENTS = ("units", "activation", "use_bias", *_SETTINGS)
    _SEEDS_FIRST = True

    def call(self, inputs, states, training=None):
        before = states[0] if isinstance(states, (list, tuple)) else states
        masks = self._dropped("input", self.dropout, inputs, training)
        kept = self._dropped("state", self.recurrent_dropout, before, training)
        h = math_ops.matmul(inputs if masks is None else inputs * masks[0], self.kernel)
        if self.bias is not None:
            h = nn_ops.bias_add(h, self.bias)
        before = before if kept is None else before * kept[0]
        output = h + math_ops.matmul(before, self.recurrent_kernel)
        if self.activation is not None:
            output = self.activation(output)
        return output, [output]


@_layer
class GRUCell(_Cell):
    """Gates z, r and candidate h; output = z * state + (1 - z) * h."""

    _ARGUMENTS = ("units", "activation", "recurrent_activation", "use_bias", *_SETTINGS,
                  "implementation", "reset_after")  # fmt: skip
    _GATES = 3

    def _bias_shape(self):
        return (2, 3 * self.units) if self.reset_after else (3 * self.units,)

    def call(self, inputs, states, training=None):
        before = states[0] if isinstance(states, (list, tuple)) else states
        masks = self._dropped("input", self.dropout, inputs, training)
        kept = self._dropped("state", self.recurrent_dropout, before, training)
        bias = recurrent_bias = None
        if self.bias is not None:
            bias = self.bias
            if self.reset_after:
                bias, recurrent_bias = array_ops.unstack(self.bias)
        x_z, x_r, x_h = self._gates(inputs, masks, bias)
        kernel = self.recurrent_kernel
        own = [before] * 3 if kept is None else [before * mask for mask in kept]
        h_z = math_ops.matmul(own[0], self._columns(kernel, 0))
        h_r = math_ops.matmul(own[1], self._columns(kernel, 1))
        if recurrent_bias is not None:
            h_z = nn_ops.bias_add(h_z, self._columns(recurrent_bias, 0))
            h_r = nn_ops.bias_add(h_r, self._columns(recurrent_bias, 1))
        z = self.recurrent_activation(x_z + h_z)
        r = self.recurrent_activation(x_r + h_r)
        if self.reset_after:
            h_h = math_ops.matmul(own[2], self._columns(kernel, 2))
            if recurrent_bias is not None:
                h_h = nn_ops.bias_add(h_h, self._columns(recurrent_bias, 2))
            h_h = r * h_h
        else:
            h_h = math_ops.matmul(r * own[2], self._columns(kernel, 2))
        candidate = self.activation(x_h + h_h)
        output = z * before + (1 - z) * candidate
        return output, [output]

    def _gates(self, inputs, masks, bias):
        parts = self._products(inputs, self.kernel, masks)
        if bias is None:
            return parts
        return [nn_ops.bias_add(p, self._columns(bias, i)) for i, p in enumerate(parts)]


@_layer
class LSTMCell(_Cell):
    """Gates i, f, c, o; memory c = f * c + i * activation(c'); output = o * activation(c)."""

    _ARGUMENTS = ("units", "activation", "recurrent_activation", "use_bias",
                  "kernel_initializer", "recurrent_initializer", "bias_initializer",
                  "unit_forget_bias", *_SETTINGS[3:], "implementation")  # fmt: skip
    _GATES = 4

    @property
    def state_size(self):
        """The sizes of the output and of the memory."""
        return [self.units, self.units]

    def _bias_initializer(self):
        if not self.unit_forget_bias:
            return self.bias_initializer

        def start(shape, dtype=None, **kwargs):
            first = self.bias_initializer((self.units,), dtype=dtype)
            ones = initializers.Ones()((self.units,), dtype=dtype)
            rest = self.bias_initializer((self.units * 2,), dtype=dtype)
            return array_ops.concat([first, ones, rest], axis=0)

        return start

    def call(self, inputs, states, training=None):
        before, memory = states
        masks = self._dropped("input", self.dropout, inputs, training)
        kept = self._dropped("state", self.recurrent_dropout, before, training)
        if masks is None and kept is None:
            z = math_ops.matmul(inputs, self.kernel)
            z += math_ops.matmul(before, self.recurrent_kernel)
            if self.bias is not None:
                z = nn_ops.bias_add(z, self.bias)
            gates = array_ops.split(z, num_or_size_splits=4, axis=1)
        else:
            gates = self._products(inputs, self.kernel, masks)
            if self.bias is not None:
                gates = [
                    nn_ops.bias_add(g, self._columns(self.bias, i)) for i, g in enumerate(gates)
                ]
            own = self._products(before, self.recurrent_kernel, kept)
            gates = [a + b for a, b in zip(gates, own)]
        i, f, c, o = gates
        memory = self.recurrent_activation(f) * memory + self.recurrent_activation(
            i
        ) * self.activation(c)
        output = self.recurrent_activation(o) * self.activation(memory)
        return output, [output, memory]


@_layer
class StackedRNNCells(Layer):
    """Cells of which each takes what the one before gives, as one cell."""

    def __init__(self, cells, **kwargs):
        for cell in cells:
            if not hasattr(cell, "call"):
                raise ValueError(f"All cells must have a `call` method. received cells: {cells}")
            if not hasattr(cell, "state_size"):
                raise ValueError(
                    f"All cells must have a `state_size` attribute. received cells: {cells}"
                )
        self.reverse_state_order = kwargs.pop("reverse_state_order", False)
        super().__init__(**kwargs)
        self.cells = list(cells)

    @property
    def _in_order(self):
        return self.cells[::-1] if self.reverse_state_order else self.cells

    @property
    def state_size(self):
        """The sizes of the states, cell by cell."""
        return tuple(c.state_size for c in self._in_order)

    @property
    def output_size(self):
        """The size of the last cell's output."""
        last = self.cells[-1]
        if getattr(last, "output_size", None) is not None:
            return last.output_size
        return nest.flatten(sizes_of(last))[0]

    def get_initial_state(self, inputs=None, batch_size=None, dtype=None):
        """Zeros for each state, cell by cell."""
        found = []
        for cell in self._in_order:
            maker = getattr(cell, "get_initial_state", None)
            if maker is not None:
                found.append(maker(inputs=inputs, batch_size=batch_size, dtype=dtype))
            else:
                found.append(zero_states(sizes_of(cell), inputs, batch_size, dtype))
        return tuple(found)

    def build(self, input_shape):
        shape = tensor_shape.as_shape(input_shape)
        for cell in self.cells:
            if isinstance(cell, Layer) and not cell.built:
                cell.build(shape)
                cell.built = True
            size = getattr(cell, "output_size", None) or nest.flatten(sizes_of(cell))[0]
            dims = [size] if isinstance(size, int) else tensor_shape.as_shape(size).as_list()
            shape = tensor_shape.TensorShape([shape[0], *dims])
        self.built = True

    def call(self, inputs, states, training=None, constants=None):
        sizes = [sizes_of(c) for c in self._in_order]
        flat, groups = nest.flatten(list(states)), []
        for size in sizes:
            count = len(nest.flatten(size))
            groups.append(flat[:count])
            flat = flat[count:]
        groups = groups[::-1] if self.reverse_state_order else groups
        after = []
        for cell, group in zip(self.cells, groups):
            kwargs = {}
            if isinstance(cell, Layer) and cell._takes("training"):
                kwargs["training"] = training
            if constants is not None and isinstance(cell, Layer) and cell._takes("constants"):
                kwargs["constants"] = constants
            inputs, new = cell.call(inputs, group, **kwargs)
            after.append(nest.flatten(new))
        after = after[::-1] if self.reverse_state_order else after
        return inputs, nest.flatten(after)

    def get_config(self):
        return {**super().get_config(), "cells": [objects.serialize(c) for c in self.cells]}

    @classmethod
    def from_config(cls, config, custom_objects=None):
        config = dict(config)
        cells = [objects.deserialize("layer", c, custom_objects) for c in config.pop("cells")]
        return cls(cells, **config)
