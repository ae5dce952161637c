"""A layer that calls what a SavedModel has."""

from rheos.framework import nest
from rheos.layers import values
from rheos.layers.layer import Layer
from rheos.models import objects
from rheos.training import object_loading

_layer = objects.known("layer")


@_layer
class TFSMLayer(Layer):
    """A SavedModel's endpoint as a layer: its outputs are those of the function."""

    def __init__(
        self,
        filepath,
        call_endpoint="serve",
        call_training_endpoint=None,
        trainable=True,
        name=None,
        dtype=None,
    ):
        super().__init__(trainable=trainable, name=name, dtype=dtype or "float32")
        self.filepath = str(filepath)
        self.call_endpoint, self.call_training_endpoint = call_endpoint, call_training_endpoint
        self._loaded = object_loading.load(self.filepath)
        self._function = self._endpoint(call_endpoint)
        given = call_training_endpoint
        self._training_function = None if given is None else self._endpoint(given)
        self._kept = [v for v in getattr(self._loaded, "variables", ()) if values.is_variable(v)]
        self.built = True

    def _endpoint(self, name):
        found = getattr(self._loaded, name, None)
        if found is None and name in self._loaded.signatures:
            found = self._loaded.signatures[name]
        if found is None:
            raise ValueError(
                f"The endpoint '{name}' is neither an attribute of the reloaded SavedModel, nor an "
                "entry in the `signatures` field of the reloaded SavedModel."
            )
        return found

    def call(self, inputs, training=False):
        function = self._function
        if training and self._training_function is not None:
            function = self._training_function
        return (
            function(*nest.flatten(inputs))
            if isinstance(inputs, (list, tuple))
            else function(inputs)
        )

    def get_config(self):
        return {
            **super().get_config(),
            "filepath": self.filepath,
            "call_endpoint": self.call_endpoint,
            "call_training_endpoint": self.call_training_endpoint,
        }
