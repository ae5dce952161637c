"""Layers around layers: for each step, in both directions."""

from rheos.framework import nest, tensor_shape
from rheos.framework.graph import name_scope
from rheos.layers.layer import Layer
from rheos.models import objects
from rheos.models.layers.recurrent import several
from rheos.ops.array import array_ops, rearrange_ops

_layer = objects.known("layer")


@_layer
class Wrapper(Layer):
    """A layer around another one."""

    def __init__(self, layer, **kwargs):
        if not isinstance(layer, Layer):
            raise ValueError(f"a wrapper takes a layer, not {layer!r}")
        super().__init__(**kwargs)
        self.layer = layer

    def build(self, input_shape=None):
        if not self.layer.built:
            self.layer.build(input_shape)
            self.layer.built = True
        self.built = True

    def get_config(self):
        return {**super().get_config(), "layer": objects.serialize(self.layer)}

    @classmethod
    def from_config(cls, config, custom_objects=None):
        config = dict(config)
        layer = objects.deserialize("layer", config.pop("layer"), custom_objects)
        return cls(layer, **config)


@_layer
class TimeDistributed(Wrapper):
    """A layer for each step of sequences (batch, time, ...)."""

    def __init__(self, layer, **kwargs):
        super().__init__(layer, **kwargs)
        self.supports_masking = True

    def build(self, input_shape=None):
        shape = tensor_shape.as_shape(input_shape)
        if shape.ndims is None or shape.ndims < 3:
            raise ValueError(
                "`TimeDistributed` Layer should be passed an `input_shape ` with at least 3 "
                f"dimensions, received: {shape}"
            )
        super().build(shape[:1].concatenate(shape[2:]))

    def _kwargs(self, training):
        return {"training": training} if self.layer._takes("training") else {}

    def call(self, inputs, training=None, mask=None):
        dims = inputs.shape.as_list()
        kwargs = self._kwargs(training)
        shape = array_ops.shape(inputs)
        sizes = [shape[i] if d is None else d for i, d in enumerate(dims)]
        flat = array_ops.reshape(inputs, array_ops.stack([-1, *sizes[2:]]))
        flat.set_shape([None, *dims[2:]])
        if mask is not None and self.layer._takes("mask"):
            kwargs["mask"] = array_ops.reshape(mask, [-1])
        outputs = self.layer(flat, **kwargs)
        rest = outputs.shape.as_list()[1:]
        found = array_ops.shape(outputs)
        rest_sizes = [found[i + 1] if d is None else d for i, d in enumerate(rest)]
        result = array_ops.reshape(outputs, array_ops.stack([*sizes[:2], *rest_sizes]))
        result.set_shape([*dims[:2], *rest])
        return result

    def compute_output_shape(self, input_shape):
        shape = tensor_shape.as_shape(input_shape)
        inner = self.layer.compute_output_shape(shape[:1].concatenate(shape[2:]))
        return shape[:2].concatenate(tensor_shape.as_shape(inner)[1:])

    def compute_mask(self, inputs, mask=None):
        return mask


def _split_states(states):
    half = len(states) // 2
    return states[:half], states[half:]


@_layer
class Bidirectional(Wrapper):
    """A recurrent layer in both directions; what it gives is joined.

    merge_mode: "concat", "sum", "mul", "ave", or None for a list of both. backward_layer: that of
    the other direction, by default like the first.
    """

    def __init__(self, layer, merge_mode="concat", weights=None, backward_layer=None, **kwargs):
        if not isinstance(layer, Layer):
            raise ValueError(
                "Please initialize `Bidirectional` layer with a `Layer` instance. You passed: "
                f"{layer}"
            )
        if merge_mode not in ("sum", "mul", "ave", "concat", None):
            raise ValueError(
                'Invalid merge mode. Merge mode should be one of {"sum", "mul", "ave", "concat", '
                "None}"
            )
        super().__init__(layer, **kwargs)
        self.forward_layer = _again(layer, f"forward_{layer.name}", layer.go_backwards)
        if backward_layer is None:
            backward_layer = _again(layer, f"backward_{layer.name}", not layer.go_backwards)
            self._given_backward = None
        else:
            self._given_backward = objects.serialize(backward_layer)
            if backward_layer.go_backwards == layer.go_backwards:
                raise ValueError(
                    "Forward layer and backward layer should have different `go_backwards` value."
                )
        self.backward_layer = backward_layer
        self.merge_mode = merge_mode
        self.stateful = layer.stateful
        self.return_sequences = layer.return_sequences
        self.return_state = layer.return_state
        self.supports_masking = True
        self.input_spec = layer.input_spec
        if weights:
            half = len(weights) // 2
            self.forward_layer._initial_weights = weights[:half]
            self.backward_layer._initial_weights = weights[half:]

    def _sublayers(self):
        return [self.forward_layer, self.backward_layer]

    def build(self, input_shape=None):
        for layer in (self.forward_layer, self.backward_layer):
            if not layer.built:
                with name_scope(layer.name):
                    layer.build(input_shape)
                layer.built = True
                if layer._initial_weights is not None:
                    layer.set_weights(layer._initial_weights)
        self.built = True

    def __call__(self, inputs, initial_state=None, constants=None, **kwargs):
        """The outputs of both directions; initial_state: those of the first, then the other."""
        if isinstance(inputs, (list, tuple)) and initial_state is None and len(inputs) > 1:
            inputs, initial_state = inputs[0], list(inputs[1:])
        if initial_state is not None:
            if len(nest.flatten(initial_state)) % 2:
                raise ValueError(
                    "When passing `initial_state` to a Bidirectional RNN, the state should be a "
                    f"list containing the states of the underlying RNNs. Found: {initial_state}"
                )
            kwargs["initial_state"] = initial_state
        if constants is not None:
            kwargs["constants"] = constants
        return super().__call__(inputs, **kwargs)

    def call(self, inputs, training=None, mask=None, initial_state=None, constants=None):
        kwargs = {}
        for name, value in (("training", training), ("mask", mask), ("constants", constants)):
            if self.forward_layer._takes(name) and value is not None:
                kwargs[name] = value
        first, second = (None, None)
        if initial_state is not None:
            first, second = _split_states(nest.flatten(initial_state))
        states = []
        y = self.forward_layer(inputs, initial_state=first, **kwargs)
        back = self.backward_layer(inputs, initial_state=second, **kwargs)
        if self.return_state:
            states = list(y[1:]) + list(back[1:])
            y, back = y[0], back[0]
        if self.return_sequences:
            axis = 0 if getattr(self.forward_layer, "time_major", False) else 1
            back = rearrange_ops.reverse_v2(back, [axis])
        output = self._merged(y, back)
        if self.return_state:
            return several(*(output if self.merge_mode is None else [output]), *states)
        return output

    def _merged(self, y, back):
        if self.merge_mode == "concat":
            return array_ops.concat([y, back], axis=-1)
        if self.merge_mode == "sum":
            return y + back
        if self.merge_mode == "ave":
            return (y + back) / 2
        return y * back if self.merge_mode == "mul" else several(y, back)

    def reset_states(self):
        """Forgets the states of both directions."""
        self.forward_layer.reset_states()
        self.backward_layer.reset_states()

    def compute_output_shape(self, input_shape):
        shape = self.forward_layer.compute_output_shape(input_shape)
        states = []
        if self.return_state:
            shape, states = shape[0], shape[1:]
        if self.merge_mode == "concat":
            shape = shape[:-1].concatenate([shape.size_at(-1) * 2])
        found = [shape, shape] if self.merge_mode is None else [shape]
        if self.return_state:
            return several(*found, *states, *states)
        return several(*found) if self.merge_mode is None else shape

    def compute_mask(self, inputs, mask=None):
        if isinstance(mask, (list, tuple)):
            mask = mask[0]
        output = mask if self.return_sequences else None
        outputs = [output] if self.merge_mode else [output, output]
        if self.return_state:
            return several(*outputs, *([None] * len(self.forward_layer._state_sizes) * 2))
        return output if self.merge_mode else several(*outputs)

    def get_config(self):
        config = {**super().get_config(), "merge_mode": self.merge_mode}
        if self._given_backward is not None:
            config["backward_layer"] = self._given_backward
        return config

    @classmethod
    def from_config(cls, config, custom_objects=None):
        config = dict(config)
        layer = objects.deserialize("layer", config.pop("layer"), custom_objects)
        back = config.pop("backward_layer", None)
        if back is not None:
            back = objects.deserialize("layer", back, custom_objects)
        return cls(layer, backward_layer=back, **config)


def _again(layer, name, go_backwards):
    """A layer like another one, under a name and in a direction."""
    config = layer.get_config()
    config["name"] = name
    config["go_backwards"] = go_backwards
    return type(layer).from_config(config)
