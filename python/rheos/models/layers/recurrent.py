"""Recurrent layers: cells run over the steps of sequences, with masks and states."""

from rheos.framework import nest, tensor_shape
from rheos.layers import values
from rheos.layers.input_spec import InputSpec
from rheos.layers.layer import Layer
from rheos.models import objects, regularizers
from rheos.models.layers.recurrent_cells import (
    GRUCell,
    LSTMCell,
    SimpleRNNCell,
    StackedRNNCells,
    sizes_of,
)
from rheos.models.layers.settings import config_of
from rheos.models.rnn_loop import rnn
from rheos.ops.array import array_ops
from rheos.ops.state.variables import Variable

_layer = objects.known("layer")


@_layer
class RNN(Layer):
    """A cell, or several, run over sequences (batch, time, ...).

    return_sequences: whether to give the output of each step instead of the last. return_state:
    whether to give the last states too. go_backwards: from the last step to the first. stateful:
    whether each batch goes on with the states of the one before. unroll: whether to write the steps
    out instead of a loop. time_major: whether sequences are (time, batch, ...).
    """

    _WHOLE_PRECISION = True

    def __init__(
        self,
        cell,
        return_sequences=False,
        return_state=False,
        go_backwards=False,
        stateful=False,
        unroll=False,
        time_major=False,
        **kwargs,
    ):
        if isinstance(cell, (list, tuple)):
            cell = StackedRNNCells(cell)
        if not callable(getattr(cell, "call", None)):
            raise ValueError(f"`cell` should have a `call` method. The RNN was passed: {cell}")
        if not hasattr(cell, "state_size"):
            raise ValueError(
                "The RNN cell should have an attribute `state_size` (tuple of integers, one "
                "integer per RNN state)."
            )
        self.zero_output_for_mask = kwargs.pop("zero_output_for_mask", False)
        if "input_shape" not in kwargs and ("input_dim" in kwargs or "input_length" in kwargs):
            length, size = kwargs.pop("input_length", None), kwargs.pop("input_dim", None)
            kwargs["input_shape"] = (length, size)
        super().__init__(**kwargs)
        self.cell = cell
        self.return_sequences = return_sequences
        self.return_state = return_state
        self.go_backwards = go_backwards
        self.stateful = stateful
        self.unroll = unroll
        self.time_major = time_major
        self.supports_masking = True
        self._states = None
        self._num_constants = 0

    # -- States

    @property
    def _state_sizes(self):
        """The sizes of the states, flat."""
        return nest.flatten(sizes_of(self.cell))

    @property
    def states(self):
        """What stateful layers keep between batches; None for each state before that."""
        if self._states is None:
            return [None] * len(self._state_sizes)
        return self._states

    def get_initial_state(self, inputs):
        """The states at the start, for a batch of inputs: a list."""
        batch = array_ops.shape(inputs)[1 if self.time_major else 0]
        maker = getattr(self.cell, "get_initial_state", None)
        if maker is not None:
            found = maker(**_known(maker, inputs=None, batch_size=batch, dtype=inputs.dtype))
        else:
            found = [zeros_of(batch, size, inputs.dtype) for size in self._state_sizes]
        return list(found) if isinstance(found, (list, tuple)) else [found]

    def _make_states(self, input_shape):
        batch = tensor_shape.as_shape(input_shape).size_at(1 if self.time_major else 0)
        if batch is None:
            raise ValueError(
                "If a RNN is stateful, it needs to know its batch size. Specify the batch size of "
                "your input tensors: - If using a Sequential model, specify the batch size by "
                "passing a `batch_input_shape` argument to your first layer. - If using the "
                "functional API, specify the batch size by passing a `batch_shape` argument to "
                "your Input layer."
            )
        dtype = self._dtype or "float32"
        self._states = [
            Variable(
                initial_value=lambda size=size: zeros_of(batch, size, dtype),
                trainable=False,
                use_resource=True,
                name="state",
            )
            for size in self._state_sizes
        ]

    def _own_variables(self):
        kept = set(map(id, self._states or ()))
        own, others = super()._own_variables()
        return own, [v for v in others if id(v) not in kept]

    def reset_states(self, states=None):
        """Sets the states of a stateful layer to zeros, or to arrays."""
        if not self.stateful:
            raise AttributeError("Layer must be stateful.")
        if self._states is None:
            if self._batch_of() is None:
                raise ValueError("a stateful layer has states when its batch size is known")
            self._make_states(self._batch_of())
        if states is None:
            found = values.get_values(self._states)
            values.set_values([(v, a * 0) for v, a in zip(self._states, found)])
            return
        states = list(states) if isinstance(states, (list, tuple)) else [states]
        if len(states) != len(self._states):
            raise ValueError(
                f"Layer {self.name} expects {len(self._states)} states, but it received "
                f"{len(states)} state values. Input received: {states}"
            )
        for variable, value in zip(self._states, states):
            if tuple(variable.shape.as_list()) != tuple(value.shape):
                raise ValueError(
                    f"State of layer {self.name} has shape {variable.shape}, but got {value.shape}"
                )
        values.set_values(zip(self._states, states))

    reset_state = reset_states

    def _batch_of(self):
        return getattr(self, "_batch_input_shape", None)

    # -- Building and calling

    def build(self, input_shape):
        shape = nest.flatten(input_shape)[0] if isinstance(input_shape, list) else input_shape
        shape = tensor_shape.as_shape(shape)
        step = shape[1:] if self.time_major else shape[:1].concatenate(shape[2:])
        if isinstance(self.cell, Layer) and not self.cell.built:
            self.cell.build(step)
            self.cell.built = True
        if self.stateful and self._states is None:
            self._make_states(shape)
        self.built = True

    def __call__(self, inputs, initial_state=None, constants=None, **kwargs):
        """The outputs for sequences, from states, with constants that each step sees."""
        inputs, initial_state, constants = _standard(
            inputs, initial_state, constants, self._num_constants
        )
        if constants is not None:
            self._num_constants = len(constants)
            kwargs["constants"] = constants
        if initial_state is not None:
            kwargs["initial_state"] = initial_state
        return super().__call__(inputs, **kwargs)

    def call(self, inputs, mask=None, training=None, initial_state=None, constants=None):
        if isinstance(mask, (list, tuple)):
            mask = mask[0]
        if isinstance(inputs, (list, tuple)):
            inputs = inputs[0]
        states = self._start(inputs, initial_state)
        steps = inputs.shape.size_at(0 if self.time_major else 1)
        if self.unroll and steps is None:
            raise ValueError(
                "Cannot unroll a RNN if the time dimension is undefined. - If using a Sequential "
                "model, specify the time dimension by passing an `input_shape` or "
                "`batch_input_shape` argument to your first layer."
            )
        self._begin_cell()
        is_nested = len(states) > 1 or isinstance(sizes_of(self.cell), (list, tuple))
        kwargs = {"training": training} if _takes(self.cell, "training") else {}
        if constants is not None:
            kwargs["constants"] = constants

        def step(x, states):
            given = nest.pack_sequence_as(sizes_of(self.cell), states) if is_nested else states
            output, after = self.cell.call(x, list(given), **kwargs)
            return output, nest.flatten(after)

        last, outputs, after = rnn(
            step,
            inputs,
            states,
            go_backwards=self.go_backwards,
            mask=mask,
            unroll=self.unroll or (values.runs_now() and bool(steps)),
            input_length=steps,
            time_major=self.time_major,
            zero_output_for_mask=self.zero_output_for_mask,
        )
        if self.stateful:
            for variable, value in zip(self._states, after):
                self.add_update(variable.assign(value))
        result = outputs if self.return_sequences else last
        if self.return_state:
            return several(result, *after)
        return result

    def _begin_cell(self):
        """Has cells draw new dropout masks."""
        for cell in [self.cell, *getattr(self.cell, "cells", ())]:
            if hasattr(cell, "reset_dropout_mask"):
                cell.reset_dropout_mask()
                cell.reset_recurrent_dropout_mask()

    def _start(self, inputs, initial_state):
        if initial_state is not None:
            states = nest.flatten(initial_state)
        elif self.stateful:
            states = [array_ops.identity(v) for v in self._states]
        else:
            states = nest.flatten(self.get_initial_state(inputs))
        if len(states) != len(self._state_sizes):
            raise ValueError(
                f"Layer has {len(self._state_sizes)} states but was passed {len(states)} initial "
                "states."
            )
        return states

    def compute_mask(self, inputs, mask=None):
        if isinstance(mask, (list, tuple)):
            mask = mask[0]
        output = mask if self.return_sequences else None
        if self.return_state:
            return several(output, *([None] * len(self._state_sizes)))
        return output

    def compute_output_shape(self, input_shape):
        if isinstance(input_shape, list):
            input_shape = input_shape[0]
        dims = tensor_shape.as_shape(input_shape).as_list()
        batch, time = (dims[1], dims[0]) if self.time_major else (dims[0], dims[1])
        size = _dims_of(getattr(self.cell, "output_size", None) or self._state_sizes[0])
        start = [time, batch] if self.time_major else [batch, time]
        shape = tensor_shape.TensorShape([*(start if self.return_sequences else [batch]), *size])
        if self.return_state:
            states = [tensor_shape.TensorShape([batch, *_dims_of(s)]) for s in self._state_sizes]
            return several(shape, *states)
        return shape

    def get_config(self):
        names = ("return_sequences", "return_state", "go_backwards", "stateful", "unroll",
                 "time_major")  # fmt: skip
        config = {**super().get_config(), **{n: getattr(self, n) for n in names}}
        if type(self) is RNN:
            config["cell"] = objects.serialize(self.cell)
        return config

    @classmethod
    def from_config(cls, config, custom_objects=None):
        config = dict(config)
        cell = objects.deserialize("layer", config.pop("cell"), custom_objects)
        return cls(cell, **config)


def _known(function, **arguments):
    """Those of some arguments that a function takes: Keras 3's cells want the batch size alone."""
    import inspect

    parameters = inspect.signature(function).parameters
    if any(p.kind == p.VAR_KEYWORD for p in parameters.values()):
        return arguments
    return {name: value for name, value in arguments.items() if name in parameters}


def several(*outputs):
    """The outputs of a layer that has many: a tuple, as in Keras 3, or TensorFlow 1's list."""
    return list(outputs) if values.runs_in_session() else outputs


def zeros_of(batch, size, dtype):
    """Zeros (batch, size...)."""
    return array_ops.zeros(array_ops.stack([batch, *_dims_of(size)]), dtype)


def _dims_of(size):
    if isinstance(size, (list, tuple, tensor_shape.TensorShape)):
        return tensor_shape.as_shape(size).as_list()
    return [size]


def _takes(cell, name):
    return isinstance(cell, Layer) and cell._takes(name)


def _standard(inputs, initial_state, constants, num_constants):
    """Inputs, states and constants, of which the latter may come in one list with the inputs."""
    if isinstance(inputs, (list, tuple)):
        inputs = list(inputs)
        if initial_state is None:
            if num_constants:
                constants = inputs[-num_constants:]
                inputs = inputs[:-num_constants]
            if len(inputs) > 1:
                initial_state = inputs[1:]
        inputs = inputs[0]
    if initial_state is not None and not isinstance(initial_state, (list, tuple)):
        initial_state = [initial_state]
    if constants is not None and not isinstance(constants, (list, tuple)):
        constants = [constants]
    return inputs, initial_state, constants


class _OfCell(RNN):
    """A recurrent layer whose cell it makes itself, of its own arguments."""

    _CELL = None
    _ARGUMENTS = ()

    def __init__(self, units, *args, **kwargs):
        own = {}
        for name, value in zip(self._ARGUMENTS[1:], args):
            own[name] = value
        if len(args) > len(self._ARGUMENTS) - 1:
            raise TypeError(f"too many arguments for {type(self).__name__}()")
        for name in self._ARGUMENTS[1:]:
            if name in kwargs:
                own[name] = kwargs.pop(name)
        activity = kwargs.pop("activity_regularizer", None)
        rnn = {
            name: kwargs.pop(name)
            for name in ("return_sequences", "return_state", "go_backwards", "stateful", "unroll",
                         "time_major", "zero_output_for_mask")
            if name in kwargs
        }  # fmt: skip
        kwargs.pop("use_cudnn", None)
        cell_dtype = {"dtype": kwargs["dtype"]} if kwargs.get("dtype") else {}
        if "seed" in kwargs:
            own["seed"] = kwargs.pop("seed")
        cell = self._CELL(units, **own, **cell_dtype)
        super().__init__(cell, **rnn, **kwargs)
        self.activity_regularizer = regularizers.get(activity)
        self.input_spec = InputSpec(ndim=3)

    def __getattr__(self, name):
        if name in type(self)._ARGUMENTS and "cell" in self.__dict__:
            return getattr(self.cell, name)
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def get_config(self):
        config = super().get_config()
        config.update(config_of(self.cell, self._ARGUMENTS))
        config["activity_regularizer"] = objects.serialize(self.activity_regularizer)
        if not values.runs_in_session():
            config["seed"] = self.cell.seed
        return config

    @classmethod
    def from_config(cls, config, custom_objects=None):
        config = dict(config)
        if "implementation" in config and config["implementation"] == 0:
            config["implementation"] = 1
        return cls(**config)


@_layer
class SimpleRNN(_OfCell):
    """output = activation(input @ kernel + output before @ recurrent kernel + bias)."""

    _CELL = SimpleRNNCell
    _ARGUMENTS = SimpleRNNCell._ARGUMENTS


@_layer("GRUV1", "GRUV2")
class GRU(_OfCell):
    """Gated recurrent units."""

    _CELL = GRUCell
    _ARGUMENTS = GRUCell._ARGUMENTS


@_layer("LSTMV1", "LSTMV2")
class LSTM(_OfCell):
    """Long short-term memory.

    >>> print(tf.keras.layers.LSTM(4)(tf.ones([2, 7, 3])).shape)
    (2, 4)
    """

    _CELL = LSTMCell
    _ARGUMENTS = LSTMCell._ARGUMENTS


class _OfGraphicsCard(_OfCell):
    """A layer that TensorFlow runs on graphics cards alone, by a cell of the same arithmetic."""

    def __init__(self, units, **kwargs):
        for name, value in self._FIXED.items():
            kwargs[name] = value
        super().__init__(units, **kwargs)


@_layer
class CuDNNLSTM(_OfGraphicsCard):
    """Long short-term memory with sigmoid and tanh."""

    _CELL = LSTMCell
    _ARGUMENTS = LSTMCell._ARGUMENTS
    _FIXED = {"recurrent_activation": "sigmoid", "activation": "tanh"}


@_layer
class CuDNNGRU(_OfGraphicsCard):
    """Gated recurrent units with sigmoid and tanh, reset after the product."""

    _CELL = GRUCell
    _ARGUMENTS = GRUCell._ARGUMENTS
    _FIXED = {"recurrent_activation": "sigmoid", "activation": "tanh", "reset_after": True}
