"""Models as SavedModels, to be served: their predictions as functions, and the variables."""

from rheos.framework import nest
from rheos.framework.tensor_spec import TensorSpec
from rheos.ops.state.module import Module
from rheos.tracing.function import function as traced
from rheos.training import object_saving

_DEFAULT = "serving_default"


def _specs_of(model):
    """What the model takes: the shapes and dtypes of its inputs, of any number of rows."""
    if model.inputs is not None and model._is_graph_network:
        return nest.map_leaves(_any_rows, model._network.input_structure)
    shape = getattr(model, "_built_for", None)
    if shape is None:
        raise ValueError(
            "The layer provided has not yet been built. It must be built before export: call it "
            "on data, or pass `input_signature`."
        )
    specs = nest.map_leaves(lambda s: TensorSpec([None, *s.as_list()[1:]], "float32"), shape)
    return specs


def default_signature(model):
    """The predictions of a model as a function of tensors `inputs`, `inputs_1` ...

    None for a model whose inputs are not known yet.
    """
    try:
        structure = _specs_of(model)
    except ValueError:
        return None
    specs = [
        TensorSpec(spec.shape, spec.dtype, name=f"inputs_{i}" if i else "inputs")
        for i, spec in enumerate(nest.flatten(structure))
    ]

    def serving_default(*inputs):
        return model(nest.pack_sequence_as(structure, list(inputs)), training=False)

    return traced(serving_default, input_signature=specs)


def _any_rows(x):
    name = x._keras_history.layer.name
    return TensorSpec([None, *x.shape.as_list()[1:]], x.dtype.base_dtype, name=name)


class ExportArchive:
    """A SavedModel that is put together of endpoints: functions under names."""

    def __init__(self):
        self._root = Module()
        self._root.kept = []
        self._endpoints = {}

    def track(self, resource):
        """Keeps the variables of a layer or model with the functions."""
        self._root.kept = [*self._root.kept, resource]

    def add_endpoint(self, name, fn, input_signature=None, **kwargs):
        """Adds a function under a name; input_signature: TensorSpecs, or else it was traced."""
        if name in self._endpoints:
            raise ValueError(f"Endpoint name '{name}' is already taken.")
        if hasattr(fn, "get_concrete_function") and input_signature is None:
            made = fn
        else:
            made = traced(fn, input_signature=input_signature)
        setattr(self._root, name, made)
        self._endpoints[name] = made
        return made

    def write_out(self, filepath, options=None, verbose=True):
        """Writes the SavedModel into a folder."""
        if not self._endpoints:
            raise ValueError("No endpoints have been set yet. Call add_endpoint().")
        first = next(iter(self._endpoints.values()))
        object_saving.save(self._root, filepath, signatures={_DEFAULT: first, **self._endpoints})
        if verbose:
            names = "\n".join(f"* Endpoint '{name}'" for name in self._endpoints)
            print(f"Saved artifact at '{filepath}'. The following endpoints are available:\n")
            print(names)


def export(model, filepath, format="tf_saved_model", verbose=None, input_signature=None, **kwargs):
    """Writes a model as a SavedModel whose endpoint "serve" predicts."""
    if format != "tf_saved_model":
        raise NotImplementedError(
            f'exporting a model as {format!r}: only "tf_saved_model" can be written'
        )
    specs = _specs_of(model) if input_signature is None else input_signature
    is_list = isinstance(specs, (list, tuple))
    archive = ExportArchive()
    archive.track(model)

    def serve(*inputs):
        return model(list(inputs) if is_list and len(inputs) > 1 else inputs[0], training=False)

    archive.add_endpoint("serve", serve, list(specs) if is_list else [specs])
    archive.write_out(filepath, verbose=verbose is None or verbose)
