"""Models: layers between inputs and outputs, or with a call() of their own, that can be trained."""

from rheos.framework import nest, tensor_shape
from rheos.framework.defaults import get_default_graph
from rheos.framework.func_graph import FuncGraph
from rheos.layers import nodes, values
from rheos.layers.layer import Layer, each_once, snake_case
from rheos.models import (
    archive,
    exporting,
    files,
    input_layer,
    objects,
    op_layers,
    saving,
    summary,
)
from rheos.models.network import Network
from rheos.models.training import Trainer
from rheos.ops.array import array_ops


class Model(Trainer, Layer):
    """A model: of `inputs` and `outputs`, or a subclass with call().

    inputs, outputs: tensors by Input() and layers, or lists or dicts of them.
    """

    _UNTRACKED = Layer._UNTRACKED | {
        "_network", "inputs", "outputs", "_compiled", "history", "optimizer", "input_names",
        "output_names", "loss", "_loss_means", "_metrics_of_outputs", "_losses_of_outputs",
        "_steps", "_data_structures", "_seen_outputs", "_open_held", "_open_parts",
    }  # fmt: skip

    _KEEPS_ARGUMENTS = True

    def __init__(self, *args, **kwargs):
        inputs = args[0] if args else kwargs.pop("inputs", None)
        outputs = args[1] if len(args) > 1 else kwargs.pop("outputs", None)
        if "input" in kwargs and "output" in kwargs:
            inputs, outputs = kwargs.pop("input"), kwargs.pop("output")
        name = args[2] if len(args) > 2 else kwargs.pop("name", None)
        is_functional = inputs is not None and outputs is not None
        if not is_functional and not issubclass(type(self), Model):
            raise ValueError("a model needs inputs and outputs")
        super().__init__(name=name, **kwargs)
        self._network = None
        self.inputs = self.outputs = None
        self.input_names = self.output_names = None
        self._init_training()
        if is_functional:
            self._connect(inputs, outputs)

    def _pick_name(self, name):
        return name or values.unique_name(layers_name(type(self)))

    def _connect(self, inputs, outputs):
        """Makes it the model between these tensors."""
        inputs = nest.map_leaves(_checked_input, inputs)
        if not values.runs_in_session():
            op_layers.connect_operations(nest.flatten(outputs))
        for x in nest.flatten(outputs):
            nodes.node_of(x)
        self._network = Network(inputs, outputs)
        others = [x.name for x in self._network.layers if getattr(x, "_has_scope", False)]
        if others:
            raise TypeError(
                f"the layers {others} are those of tf.layers, whose variables are of scopes: a "
                "model takes the layers of tf.keras.layers"
            )
        self.inputs = self._network.inputs
        self.outputs = self._network.outputs
        self._name_ends()
        self._inbound_nodes = []
        nodes.Node(self, (inputs,), {}, outputs, is_origin=False)
        self.built = True
        self.supports_masking = True

    def _name_ends(self):
        network = self._network
        self.input_names = [layer.name for layer in network.input_layers]
        self.output_names = []
        if isinstance(network.output_structure, dict) and not values.runs_in_session():
            self.output_names = sorted(network.output_structure)
            return
        for layer in network.output_layers:
            name, number = layer.name, 1
            while name in self.output_names:
                name, number = f"{layer.name}_{number}", number + 1
            self.output_names.append(name)

    @property
    def _is_graph_network(self):
        return self._network is not None

    # -- Layers

    @property
    def layers(self):
        """The layers of the model, not those inside them."""
        if self._network is None:
            return [x for x in super()._sublayers() if not _is_metric(x)]
        return list(self._network.layers)

    def _sublayers(self):
        inside = [] if self._network is None else self._network.layers
        return each_once([*inside, *super()._sublayers()])

    def _trackable_children(self, save_type="checkpoint", **kwargs):
        found, number = {}, 0
        if self._network is not None or hasattr(self, "_list"):
            for i, layer in enumerate(getattr(self, "_list", None) or self.layers):
                if layer.weights:
                    found[f"layer_with_weights-{number}"] = layer
                    number += 1
                found[f"layer-{i}"] = layer
        return {**found, **super()._trackable_children(save_type, **kwargs)}

    def get_layer(self, name=None, index=None):
        """The layer of that name or number; ValueError if there is none."""
        layers = self.layers
        if index is not None:
            if len(layers) <= index:
                raise ValueError(
                    f"Was asked to retrieve layer at index {index} but model only has "
                    f"{len(layers)} layers."
                )
            return layers[index]
        if not name:
            raise ValueError("Provide either a layer name or layer index.")
        for layer in layers:
            if layer.name == name:
                return layer
        raise ValueError(
            f"No such layer: {name}. Existing layers are: {[layer.name for layer in layers]}."
        )

    @property
    def input_layers(self):
        """The layers of the inputs."""
        return self._network.input_layers

    @property
    def output_layers(self):
        """The layers that make the outputs."""
        return self._network.output_layers

    @property
    def input(self):
        """The inputs: a tensor, or the structure that the model was made of."""
        if self._network is None:
            return super().input
        return self._network.input_structure

    @property
    def output(self):
        """The outputs: a tensor, or the structure that the model was made of."""
        if self._network is None:
            return super().output
        return self._network.output_structure

    @property
    def input_shape(self):
        """The shapes of the inputs, as tuples."""
        if self._network is None:
            return super().input_shape
        return _shapes(self.inputs)

    @property
    def output_shape(self):
        """The shapes of the outputs, as tuples."""
        if self._network is None:
            return super().output_shape
        return _shapes(self.outputs)

    @property
    def state_updates(self):
        """The updates of the layers that keep state between batches."""
        return [u for x in self._with_submodules() if x.stateful for u in x._updates]

    def get_weights(self):
        """The values of all variables, layer by layer."""
        return values.get_values(self._saved_variables())

    def set_weights(self, weights):
        """Sets all variables, layer by layer; ValueError if numbers or shapes do not fit."""
        weights = list(weights)
        mine = self._saved_variables()
        if len(mine) != len(weights):
            raise ValueError(
                f'You called `set_weights(weights)` on layer "{self.name}" with a  weight list of '
                f"length {len(weights)}, but the layer was expecting {len(mine)} weights."
            )
        for variable, value in zip(mine, weights):
            if variable.shape.as_list() != list(getattr(value, "shape", ())):
                raise ValueError(
                    f"Layer weight shape {variable.shape} not compatible with provided weight "
                    f"shape {getattr(value, 'shape', ())}"
                )
        values.set_values(zip(mine, weights))

    @property
    def weights(self):
        """All variables, layer by layer."""
        inside = [v for layer in self.layers for v in layer.weights]
        return each_once([*inside, *self.trainable_weights, *self.non_trainable_weights])

    def _saved_variables(self):
        self._check_built()
        return self.weights

    def _check_built(self):
        if not self.built and not self.weights:
            raise ValueError(
                f"Weights for model {self.name} have not yet been created. Weights are created "
                "when the Model is first called on inputs or `build()` is called with an "
                "`input_shape`."
            )

    def reset_states(self):
        """Forgets what the layers inside keep between batches."""
        for layer in self.layers:
            if hasattr(layer, "reset_states") and getattr(layer, "stateful", False):
                layer.reset_states()

    # -- Calling

    def call(self, inputs, training=None, mask=None):
        """The outputs for inputs; subclasses define it."""
        if self._network is None:
            raise NotImplementedError(
                "When subclassing the `Model` class, you should implement a `call` method."
            )
        if mask is not None:
            for x, m in zip(nest.flatten(inputs), nest.flatten(mask)):
                if m is not None and getattr(x, "_keras_mask", None) is None:
                    x._keras_mask = m
        return self._network.run(inputs, training=training)

    def _set_masks(self, inputs, outputs, masks):
        if self._network is None and type(self).compute_mask is not Model.compute_mask:
            super()._set_masks(inputs, outputs, masks)

    def compute_mask(self, inputs, mask=None):
        """The masks that the outputs have."""
        if self._network is None:
            return None
        found = [getattr(x, "_keras_mask", None) for x in nest.flatten(self.call(inputs))]
        return found[0] if len(found) == 1 else found

    def build(self, input_shape):
        """Makes the variables of a subclass, by calling it on placeholders of that shape."""
        if self._network is not None or self.built:
            self.built = True
            return
        if values.current_call() is not None and values.current_call().layer is self:
            self.built = True
            return
        graph = FuncGraph("build") if values.runs_now() else get_default_graph()
        with graph.as_default(), values.outermost_calls():
            with values.Call(self, None):
                self.call(_placeholders(input_shape))
        self.built = True

    def compute_output_shape(self, input_shape):
        """The shapes of the outputs for inputs of these shapes."""
        if self._network is None:
            raise NotImplementedError(f"compute_output_shape of {type(self).__name__}")
        with values.outermost_calls():
            outputs = self._network.run(_placeholders(input_shape))
        shapes = [x.shape for x in nest.flatten(outputs)]
        return shapes[0] if len(shapes) == 1 else shapes

    def summary(self, line_length=None, positions=None, print_fn=None, **kwargs):
        """Prints a table of the layers, their output shapes and numbers of parameters."""
        if not self.built and values.runs_in_session():
            raise ValueError(
                "This model has not yet been built. Build the model first by calling `build()` or "
                "calling `fit()` with some data, or specify an `input_shape` argument in the first "
                "layer(s) for automatic build."
            )
        summary.print_summary(self, line_length, positions, print_fn, **kwargs)

    # -- Configurations and files

    @property
    def _default_save_signature(self):
        """What servers call of a model that tf.saved_model.save() writes; None if not built."""
        return None if values.runs_in_session() else exporting.default_signature(self)

    def __reduce_ex__(self, protocol):
        """How a model of version 2 is pickled and copied: as a file .keras, where there is h5py."""
        if values.runs_in_session() or not archive.can_save():
            return super().__reduce_ex__(protocol)
        return archive.from_bytes, (archive.as_bytes(self),)

    def get_config(self):
        """What makes a model like this: layers and how they are connected."""
        if self._network is None and "_given" in vars(self):
            return self._config_of_arguments()
        if self._network is None:
            raise NotImplementedError
        return saving.network_config(self)

    @classmethod
    def from_config(cls, config, custom_objects=None):
        """A model like the one whose get_config() this was."""
        if "layers" not in config or "input_layers" not in config:
            return cls(**config)
        inputs, outputs = saving.tensors_of_config(config, custom_objects)
        return cls(inputs=inputs, outputs=outputs, name=config.get("name"))

    def to_json(self, **kwargs):
        """The configuration as JSON, for model_from_json()."""
        return saving.to_json(self, **kwargs)

    def to_yaml(self, **kwargs):
        """The configuration as YAML, for model_from_yaml()."""
        return saving.to_yaml(self, **kwargs)

    def save(self, filepath, overwrite=True, include_optimizer=True, save_format=None, **kwargs):
        """Saves model, variables and optimizer to a file."""
        files.save_model(self, filepath, overwrite, include_optimizer, save_format, **kwargs)

    def export(
        self, filepath, format="tf_saved_model", verbose=None, input_signature=None, **kwargs
    ):
        """Writes a SavedModel whose endpoint "serve" predicts."""
        exporting.export(self, filepath, format, verbose, input_signature, **kwargs)

    def save_weights(self, filepath, overwrite=True, save_format=None):
        """Saves the variables."""
        files.save_weights(self, filepath, overwrite, save_format)

    def load_weights(self, filepath, by_name=False, skip_mismatch=False):
        """Sets the variables as saved; by_name: only of layers of the same names."""
        return files.load_weights(self, filepath, by_name, skip_mismatch)


objects.table("layer")["Model"] = Model
objects.table("layer")["Functional"] = Model


def layers_name(kind):
    """The name of models of a class: of Keras 3 "functional" for Model itself."""
    if kind is Model and not values.runs_in_session():
        return "functional"
    return snake_case(kind.__name__)


def _is_metric(x):
    return hasattr(x, "update_state")


def _checked_input(x):
    if not values.is_tensor(x):
        raise ValueError(f"an input of a model is a tensor by Input(), not {x!r}")
    return input_layer.as_symbolic(x)


def _shapes(tensors):
    shapes = [None if x.shape.ndims is None else tuple(x.shape.as_list()) for x in tensors]
    return shapes[0] if len(shapes) == 1 else shapes


def _placeholders(input_shape):
    """Placeholders of a shape, or of a list or dict of shapes."""
    if isinstance(input_shape, dict):
        return {key: _placeholders(shape) for key, shape in input_shape.items()}
    if isinstance(input_shape, (list, tuple)) and any(
        isinstance(x, (list, tuple, tensor_shape.TensorShape)) for x in input_shape
    ):
        return [_placeholders(shape) for shape in input_shape]
    shape = tensor_shape.as_shape(input_shape)
    return array_ops.placeholder("float32", shape=shape)


class Sequential(Model):
    """Layers one after the other.

    >>> layers = [tf.keras.layers.Dense(4, activation="relu"), tf.keras.layers.Dense(1)]
    >>> model = tf.keras.Sequential(layers)
    >>> print(model(tf.ones([2, 3])).shape, model.count_params())
    (2, 1) 21
    """

    def __init__(self, layers=None, name=None, trainable=True):
        super().__init__(name=name, trainable=trainable)
        self._list = []
        self.supports_masking = True
        for layer in layers or ():
            self.add(layer)

    @property
    def layers(self):
        """The layers, without that of the inputs."""
        kept = list(self._list)
        return kept[1:] if kept and isinstance(kept[0], input_layer.InputLayer) else kept

    def _sublayers(self):
        return list(self._list)

    def add(self, layer):
        """Adds a layer at the end; the first one may say the shape of the inputs."""
        history = getattr(layer, "_keras_history", None)
        if history is not None and isinstance(history.layer, input_layer.InputLayer):
            layer = history.layer
        if not isinstance(layer, Layer):
            raise TypeError(f"The added layer must be an instance of class Layer. Found: {layer}")
        if not self._list and not isinstance(layer, input_layer.InputLayer):
            self._start(layer)
        elif self._list and self.outputs is not None:
            outputs = layer(self.outputs[0])
            if len(nest.flatten(outputs)) != 1:
                raise TypeError(
                    "All layers in a Sequential model should have a single output tensor. For "
                    "multi-output layers, use the functional API."
                )
            self.outputs = [outputs]
        elif isinstance(layer, input_layer.InputLayer):
            self.outputs = [layer._inbound_nodes[-1].output_tensors[0]]
        self._list.append(layer)
        self._reconnect()

    def _start(self, layer):
        """Puts inputs before the first layer, if their shape is known."""
        shape = getattr(layer, "_batch_input_shape", None)
        first = layer
        while shape is None and isinstance(first, Model) and first.layers:
            first = first.layers[0]
            shape = getattr(first, "_batch_input_shape", None)
        if shape is None and isinstance(layer, Model) and layer.inputs:
            shape = tuple(layer.inputs[0].shape.as_list())
        if shape is None:
            return
        dtype = first.dtype or "float32"
        x = input_layer.Input(batch_shape=shape, dtype=dtype, name=f"{layer.name}_input")
        self._list.append(x._keras_history.layer)
        self.outputs = [layer(x)]

    def _reconnect(self):
        if self.outputs is None or not self._list:
            return
        first = self._list[0]
        if not isinstance(first, input_layer.InputLayer):
            return
        outputs = self.outputs[0]
        self._connect(first._inbound_nodes[-1].output_tensors[0], outputs)
        self._forget_functions()

    def pop(self):
        """Takes the last layer away; TypeError if there is none."""
        if not self.layers:
            raise TypeError("There are no layers in the model.")
        layer = self._list.pop()
        self.built = False
        self._network = None
        if not self.layers:
            self.outputs = self.inputs = None
            self._list = []
        elif self.outputs is not None:
            layer._inbound_nodes = layer._inbound_nodes[:-1]
            self.outputs = [self._list[-1]._inbound_nodes[-1].outputs]
            self._reconnect()

    def call(self, inputs, training=None, mask=None):
        """The output of the last layer."""
        if self._network is not None:
            return super().call(inputs, training, mask)
        outputs = inputs
        for layer in self.layers:
            kwargs = {}
            if layer._takes("mask"):
                kwargs["mask"] = mask
            if training is not None and layer._takes("training"):
                kwargs["training"] = training
            outputs = layer(outputs, **kwargs)
            mask = getattr(outputs, "_keras_mask", None)
        return outputs

    def build(self, input_shape=None):
        """Makes the variables for inputs of that shape, with the batch."""
        call = values.current_call()
        if self._network is not None or call is not None and call.layer is self:
            self.built = True
            return
        if input_shape is None:
            raise ValueError("You must provide an `input_shape` argument.")
        self._batch_input_shape = tuple(tensor_shape.as_shape(input_shape).as_list())
        super().build(input_shape)

    def _set_masks(self, inputs, outputs, masks):
        """Nothing to do: the last layer has given its outputs their masks."""

    def compute_mask(self, inputs, mask=None):
        """The mask of the last output."""
        if self._network is not None:
            return super().compute_mask(inputs, mask)
        return getattr(self.call(inputs, mask=mask), "_keras_mask", None)

    def get_config(self):
        """What makes a model like this: the layers."""
        config = {"name": self.name, "layers": [objects.serialize(x) for x in self.layers]}
        if not values.runs_in_session():
            config["layers"] = [objects.serialize(x) for x in self._list]
        shape = self._shape_built_for()
        if not self._is_graph_network and shape is not None:
            config["build_input_shape"] = list(shape)
        return config

    def _shape_built_for(self):
        """The shape for which it was built, by its caller or by its first input; or None."""
        shape = getattr(self, "_batch_input_shape", None)
        built = getattr(self, "_built_for", None)
        if shape is None and hasattr(built, "ndims") and built.ndims is not None:
            shape = built.as_list()
        return shape

    @classmethod
    def from_config(cls, config, custom_objects=None):
        """A model like the one whose get_config() this was."""
        name, shape, layers = None, None, config
        if isinstance(config, dict):
            name, shape = config.get("name"), config.get("build_input_shape")
            layers = config["layers"]
        model = cls(name=name)
        for layer in layers:
            model.add(objects.deserialize("layer", layer, custom_objects))
        if not model.inputs and shape:
            model.build(shape)
        return model

    def predict_classes(self, x, batch_size=32, verbose=0):
        """The number of the largest prediction of each sample, or whether it is above 0.5."""
        found = self.predict(x, batch_size=batch_size, verbose=verbose)
        return found.argmax(-1) if found.shape[-1] > 1 else (found > 0.5).astype("int32")

    def predict_proba(self, x, batch_size=32, verbose=0):
        """The predictions."""
        return self.predict(x, batch_size=batch_size, verbose=verbose)


objects.table("layer")["Sequential"] = Sequential
