"""What TensorFlow 1's contributors made for eager programs, before the rest of it had names."""

import functools
import inspect

from rheos.framework import nest
from rheos.framework.config import list_device_names, list_logical_devices
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.defaults import get_default_graph
from rheos.models.model import Model as _Model
from rheos.ops.differentiation.gradient_tape import GradientTape
from rheos.pipelines.owned import OwnedIterator
from rheos.training.saver import Saver as _Saver

# ---- Gradients of functions


def _places(f, params, count):
    names = None
    for param in range(count) if params is None else params:
        if isinstance(param, str):
            names = names or inspect.getfullargspec(f).args
            yield names.index(param)
        else:
            yield param


def value_and_gradients_function(f, params=None):
    """A function of f's arguments that gives (its results, the list of its gradients).

    params: names or places of the arguments to differentiate by; all without it. The function's
    own `dy` weighs the results.
    """

    def differentiated(*args, dy=None, **kwargs):
        if kwargs:
            raise ValueError("Functions to be differentiated cannot receive keyword arguments.")
        args = [convert_to_tensor(a) for a in args]
        sources = [args[i] for i in _places(f, params, len(args))]
        with GradientTape() as tape:
            tape.watch(sources)
            value = f(*args)
        if value is None:
            raise ValueError(
                "Cannot differentiate a function that returns None; did you forget to return a "
                f"value from {f.__name__}?"
            )
        targets = nest.flatten(value)
        weights = None if dy is None else nest.flatten(dy)
        return value, tape.gradient(targets, sources, weights)

    return differentiated


def gradients_function(f, params=None):
    """The same, giving the gradients only."""
    both = value_and_gradients_function(f, params)
    return lambda *args, **kwargs: both(*args, **kwargs)[1]


def implicit_value_and_gradients(f):
    """A function of f's arguments that gives (its result, [(gradient, variable), ...]) of all the
    trainable variables that it reads."""

    @functools.wraps(f)
    def differentiated(*args, **kwargs):
        with GradientTape() as tape:
            value = f(*args, **kwargs)
        if value is None:
            raise ValueError(
                "Cannot differentiate a function that returns None; did you forget to return a "
                f"value from {getattr(f, '__name__', f)}?"
            )
        variables = list(tape.watched_variables())
        if not variables:
            raise ValueError(
                "No trainable variables were accessed while the function was being computed."
            )
        return value, list(zip(tape.gradient(nest.flatten(value), variables), variables))

    return differentiated


def implicit_gradients(f):
    """The same, giving the pairs only, as apply_gradients() of an optimizer takes them."""
    both = implicit_value_and_gradients(f)
    return lambda *args, **kwargs: both(*args, **kwargs)[1]


# ---- Iterators, checkpoints


class Iterator:
    """The elements of a dataset, one after the other."""

    def __init__(self, dataset):
        self._iterator = OwnedIterator(dataset)
        self.output_types = dataset.output_types
        self.output_shapes = dataset.output_shapes
        self.output_classes = dataset.output_classes

    def __iter__(self):
        return self

    def __next__(self):
        """The next element; StopIteration behind the last."""
        return next(self._iterator)

    next = __next__

    def get_next(self, name=None):
        """The next element; OutOfRangeError behind the last."""
        return self._iterator.get_next()


class Saver:
    """Saves and restores variables by name; tf.train.Checkpoint goes by objects."""

    def __init__(self, var_list):
        self._saver = _Saver(var_list=var_list)

    def save(self, file_prefix, global_step=None):
        """Writes the variables, and gives the prefix of the files."""
        return self._saver.save(None, file_prefix, global_step=global_step)

    def restore(self, file_prefix):
        """Sets the variables."""
        self._saver.restore(None, file_prefix)


def get_optimizer_variables(optimizer):
    """The variables that an optimizer of TensorFlow 1 keeps."""
    return list(optimizer.variables())


# ---- Networks


class Network(_Model):
    """A model whose layers are those that it was told of by track_layer()."""

    def __init__(self, name=None):
        super().__init__(name=name)
        self._told = []

    def track_layer(self, layer):
        """Counts a layer's variables among the network's, and gives the layer."""
        if all(layer is not t for t in self._told):
            self._told.append(layer)
        return layer

    def get_layer(self, name=None, index=None):
        """The layer of a name, or at a place."""
        if (name is None) == (index is None):
            raise ValueError("Exactly one of name and index must be given.")
        if index is not None:
            return self.layers[index]
        for layer in self.layers:
            if layer.name == name:
                return layer
        raise ValueError(f"No such layer: {name}.")


class Sequential(Network):
    """Layers and functions, one behind the other."""

    def __init__(self, layers_funcs=None, name=None):
        super().__init__(name=name)
        self._in_order = []
        for item in layers_funcs or ():
            self.add(item)

    def add(self, layer_func):
        """Appends a layer or a function of one tensor."""
        if hasattr(layer_func, "trainable_variables"):
            layer_func = self.track_layer(layer_func)
        if not callable(layer_func):
            raise TypeError(f"Sequential.add() takes layers and functions, not {layer_func!r}")
        self._in_order.append(layer_func)

    def call(self, inputs, training=None):
        for item in self._in_order:
            takes = training is not None and "training" in _arguments_of(item)
            inputs = item(inputs, training=training) if takes else item(inputs)
        return inputs


def _arguments_of(item):
    return inspect.signature(getattr(item, "call", item)).parameters


# ---- Devices


def list_devices():
    """The names of the devices, as Session.list_devices() has them."""
    return list_device_names()


def num_gpus():
    """How many GPUs operations run on."""
    return len(list_logical_devices("GPU"))


def in_eager_mode():
    """Whether operations run at once."""
    return get_default_graph()._is_eager
